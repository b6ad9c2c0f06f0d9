# SPDX-License-Identifier: MIT
#
# test_errors.py: the exceptions: their classes, what each is a case of, their fields, their words.
"""Errors."""
from __future__ import annotations

import copy
import errno
import pickle
import re

import numpy as np
import pytest

import libgather
from libgather import errors
from support.refusal import refuses

IS_A = [
    (libgather.GatherIndexError, (IndexError,)),
    (libgather.GatherAxisError, (np.exceptions.AxisError, ValueError, IndexError)),
    (libgather.GatherValueError, (ValueError,)),
    (libgather.GatherTypeError, (TypeError,)),
    (libgather.GatherNotSupportedError, (NotImplementedError,)),
    (libgather.GatherMemoryError, (MemoryError,)),
    (libgather.GatherNameError, (LookupError,)),
    (libgather.GatherCancelledError, ()),
    (libgather.GatherFileError, (OSError,)),
    (libgather.GatherFileNotFoundError, (libgather.GatherFileError, FileNotFoundError)),
    (libgather.GatherFileFormatError, (libgather.GatherFileError, ValueError)),
]
TABLE = np.arange(12.0).reshape(4, 3)

# A call for each error that a gather can raise: what it raises, and the fields that are not None.
CALLS = {
    "index": (lambda: libgather.take(TABLE, [[0, 1], [4, -9]], axis=0), libgather.GatherIndexError, "index_out_of_range", 5,
              {"op": "take", "input": "indices", "position": (1, 0), "value": 4, "low": -4, "high": 3, "axis": 0, "bad_count": 2},
              "indices[1, 0] = 4 is outside [-4, 3] of axis 0 (take); 2 of 4 indices are bad"),
    "index by rules": (lambda: libgather.take(TABLE, [[3], [-1]], axis=-1, rules="onnx-1"), libgather.GatherIndexError,
                       "index_out_of_range", 5,
                       {"op": "Gather", "rules": "onnx-1", "input": "indices", "position": (0, 0), "value": 3, "low": 0, "high": 2,
                        "axis": 1, "bad_count": 2},
                       "indices[0, 0] = 3 is outside [0, 2] of axis 1 (Gather onnx-1); 2 of 2 indices are bad"),
    "unsigned index": (lambda: libgather.take(TABLE, np.uint64(2**64 - 1), axis=0), libgather.GatherIndexError,
                       "index_out_of_range", 5,
                       {"op": "take", "input": "indices", "position": (), "value": 2**64 - 1, "low": -4, "high": 3, "axis": 0,
                        "bad_count": 1}, None),
    "elements": (lambda: libgather.gather_elements(TABLE, [[0, 0, 7]], axis=0), libgather.GatherIndexError, "index_out_of_range", 5,
                 {"op": "gather_elements", "input": "indices", "position": (0, 2), "value": 7, "low": -4, "high": 3, "axis": 0,
                  "bad_count": 1}, None),
    "axis": (lambda: libgather.take(TABLE, [0], axis=2), libgather.GatherAxisError, "axis_out_of_range", 3,
             {"op": "take", "input": "axis"}, "axis 2 is outside [-2, 1] (take of data of rank 2)"),
    "batch_dims": (lambda: libgather.take(TABLE, [0], axis=0, batch_dims=1), libgather.GatherValueError, "batch_dims_out_of_range", 4,
                   {"op": "take"}, None),
    "rank": (lambda: libgather.gather_elements(TABLE, [0], axis=0), libgather.GatherValueError, "rank_mismatch", 2,
             {"op": "gather_elements", "input": "indices"}, None),
    "shape": (lambda: libgather.take_along_axis(TABLE, np.zeros((3, 1), int), axis=1), libgather.GatherValueError, "shape_mismatch", 1,
              {"input": "indices"}, "dimension 0 of x has length 4 and of indices 3: they do not broadcast"),
    "type": (lambda: libgather.take(TABLE, [0.5], axis=0), libgather.GatherTypeError, "type_unsupported", 6, {"input": "indices"}, None),
    "out": (lambda: libgather.take(TABLE, [0], axis=0, out=np.zeros((1, 3), "f4")), libgather.GatherTypeError, "type_mismatch", 7,
            {"input": "output"}, "out has a different dtype than the data: elements are never converted"),
}


@pytest.mark.parametrize("kind, bases", IS_A, ids=lambda value: getattr(value, "__name__", ""))
def test_classes(kind, bases):
    """What a user of NumPy would catch catches it."""
    for base in (libgather.GatherError, *bases):
        assert issubclass(kind, base)
    assert not issubclass(kind, IndexError) or kind in (libgather.GatherIndexError, libgather.GatherAxisError)
    assert getattr(libgather, kind.__name__) is getattr(errors, kind.__name__) is kind and kind.__name__ in libgather.__all__


@pytest.mark.parametrize("call, kind, status, code, fields, message", CALLS.values(), ids=CALLS)
def test_fields(call, kind, status, code, fields, message):
    with pytest.raises(libgather.GatherError) as caught:
        call()
    error = caught.value
    assert type(error) is kind and (error.status, error.code) == (status, code)
    said = {name: getattr(error, name) for name in errors.FIELDS if getattr(error, name) is not None}
    said = {name: value for name, value in said.items() if name not in ("status", "code")}
    assert {name: said.get(name) for name in fields} == fields
    if kind is libgather.GatherIndexError:
        assert said == fields
        assert all(type(said[name]) is int for name in ("value", "low", "high", "axis", "bad_count"))
    assert str(error) == error.message and error.message
    assert message is None or error.message == message


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, *(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in range(6))])
@pytest.mark.parametrize("call", [value[0] for value in CALLS.values()], ids=CALLS)
def test_copies(call, copied):
    """Nothing of an error is lost on its way from another process."""
    with pytest.raises(libgather.GatherError) as caught:
        call()
    error, other = caught.value, copied(caught.value)
    assert other is not error and type(other) is type(error) and str(other) == str(error) and other.args == error.args
    assert [getattr(other, name) for name in errors.FIELDS] == [getattr(error, name) for name in errors.FIELDS]


@pytest.mark.parametrize("kind", [kind for kind, _ in IS_A] + [libgather.GatherError], ids=lambda kind: kind.__name__)
def test_made_by_hand(kind):
    """Programs make them too, in tests for example."""
    error = kind("nothing there", status="usage", code=11, position=(1, 2))
    assert str(error) == "nothing there" == error.message and error.position == (1, 2) and error.bad_count is None
    assert str(pickle.loads(pickle.dumps(error))) == "nothing there" and "nothing there" in repr(error)
    assert str(kind()) == ""
    refuses(TypeError, kind, "x", colour=1, says="no such field: colour")


def test_every_status_has_its_class(gather_source):
    """No status of the library comes as a bare GatherError, and the numbers are those of its table."""
    table = (gather_source / "include/gather/status.def").read_text(encoding="utf-8")
    rows = re.findall(r'^GATHER_STATUS\(\w+, (\d+), "(\w+)"', table, flags=re.M)
    assert len(rows) > 10
    for number, name in rows[1:]:
        made = errors.make(name, int(number), "words", None, None, None, None, None, -1)
        assert type(made) is not libgather.GatherError, name
        assert (made.status, made.code, made.message, made.offset) == (name, int(number), "words", None)
    assert type(errors.make("file_not_found", 12, "", None, None, None, None, "a.onnx", 5)) is libgather.GatherFileNotFoundError


def test_the_first_bad_index_is_the_first():
    """In row-major order, whatever the order in memory and however many threads look."""
    indices = np.zeros((300, 400), np.int64)
    indices[17, 311] = indices[200, 3] = 99
    for view, first in ((indices, (17, 311)), (np.asfortranarray(indices), (17, 311)), (indices.T, (3, 200)), (indices[::-1], (99, 3))):
        for threads in (1, 2, 5):
            error = refuses(libgather.GatherIndexError, libgather.take, TABLE, view, axis=0, threads=threads)
            assert (error.position, error.bad_count) == (first, 2)


def test_the_number_of_the_system(tmp_path):
    """What the system refused has its errno, as an OSError has; other errors have none."""
    np.save(tmp_path / "x.npy", TABLE)
    (tmp_path / "bad.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-8])
    (tmp_path / "link.npy").symlink_to("link.npy")
    (tmp_path / "folder.npy").mkdir()
    cases = [
        (lambda: libgather.open(tmp_path / "none.npy"), errno.ENOENT),
        (lambda: libgather.open(tmp_path / "x.npy/y.npy"), errno.ENOTDIR),
        (lambda: libgather.open(tmp_path / "link.npy"), errno.ELOOP),
        (lambda: libgather.open(tmp_path / ("n" * 300)), errno.ENAMETOOLONG),
        (lambda: libgather.open(tmp_path / "folder.npy"), errno.EISDIR),
        (lambda: libgather.open(tmp_path / "bad.npy"), None),
        (lambda: libgather.shuffle(tmp_path / "x.npy", tmp_path / "none/y.npy"), errno.ENOENT),
        (lambda: libgather.shuffle(tmp_path / "x.npy", tmp_path / "x.npy/y.npy"), errno.ENOTDIR),
        (lambda: libgather.shuffle(tmp_path / "x.npy", tmp_path / "folder.npy", replace=True), errno.EISDIR),
    ]
    for call, number in cases:
        error = refuses(libgather.GatherFileError, call)
        assert error.errno == number, error
        assert pickle.loads(pickle.dumps(error)).errno == number


NASTY = "\x1b[31m \x9b31m \u202eabc \u2066x \u200e \u061c \u2028 \x7f\n"


def test_names_that_play_with_a_terminal(tmp_path):
    """They are shown, not sent."""
    path = tmp_path / NASTY / "x.npy"
    error = refuses(FileNotFoundError, libgather.open, path)
    path.parent.mkdir()
    np.save(path, np.zeros((2, 3)))
    with libgather.open(path) as table:
        shown = [str(error), repr(table)]
    for text in shown:
        assert not any(c in text for c in "\x1b\x9b\u202e\u2066\u200e\u061c\u2028\x7f\n"), text
        assert r"\x1b[31m \u009b31m \u202eabc \u2066x \u200e \u061c \u2028 \x7f\x0a" in text
    assert error.file.endswith(NASTY + "/x.npy")  # the field is exact
