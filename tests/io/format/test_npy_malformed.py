# SPDX-License-Identifier: MIT
"""Files that lie: cut at every byte, every length changed, every kind of wrong header. Each is an error that says where."""
import io
import re
import struct

import numpy as np
import pytest
from gather_files import GatherError, opened_bytes
from test_npy_read import saved, with_header


def failure(content: bytes) -> GatherError:
    with pytest.raises(GatherError) as caught, opened_bytes(content, "the file"):
        pass
    assert caught.value.file == "the file"
    return caught.value


def test_cut_at_every_byte() -> None:
    content = saved(np.arange(10, dtype="<i4"))
    for end in range(len(content)):
        error = failure(content[:end])
        assert error.status == "file_malformed", end
        assert error.offset == end
        if end > 0:
            assert f"{end} bytes in all" in error.message or f"the file has {end}" in error.message


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_length_of_the_header(version) -> None:
    text = "{'descr': '<i4', 'fortran_order': False, 'shape': (10,), }"
    good = with_header(text, bytes(40), version)
    largest = len(good) - (10 if version == 1 else 12)
    for length in list(range(largest + 10)) + [65535]:
        field = struct.pack("<H" if version == 1 else "<I", length)
        content = good[:8] + field + good[8 + len(field):]
        if length == len(text):
            with opened_bytes(content) as t:
                assert t.shape == (10,)
        else:
            assert failure(content).status == "file_malformed", length


# A header, and the part of it that is wrong.
WRONG = [
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "-1"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "9223372036854775808"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "(9223372036854775807"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "(4294967296"),
    ("{'descr': '|V0', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "(4294967296"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3)}", ")}"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': [3]}", "[3]"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3.0,)}", ".0"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3 4)}", "4)"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (,)}", ",)"),
    ("{'descr': '<i4', 'fortran_order': 0, 'shape': (3,)}", "0,"),
    ("{'descr': '<i4', 'fortran_order': Falsey, 'shape': (3,)}", "Falsey"),
    ("{'descr': '<i4' 'fortran_order': False, 'shape': (3,)}", "'fortran_order'"),
    ("{'descr': '<i4', 'fortran_order': False}", "}"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'more': 1}", "'more'"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} x", "x"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}\0", "\0"),
    ("{'descr': ('<i4', (2,)), 'fortran_order': False, 'shape': (3,)}", "('<i4'"),
    ("{'descr': 4, 'fortran_order': False, 'shape': (3,)}", "4,"),
    ("{'descr': [('a')], 'fortran_order': False, 'shape': (3,)}", ")],"),
    ("{'descr': [('a', '<i4', -1)], 'fortran_order': False, 'shape': (3,)}", "-1"),
    ("{'descr': [('a', '<i4', (-1,))], 'fortran_order': False, 'shape': (3,)}", "-1"),
    ("{'descr': [('a', '<i4', (9223372036854775807,))], 'fortran_order': False, 'shape': (3,)}", "(9223372036854775807"),
    ("{'descr': [('a', 'V9223372036854775807'), ('b', '<i4')], 'fortran_order': False, 'shape': ()}", "('b'"),
    ("{'descr': [('a\n', '<i4')], 'fortran_order': False, 'shape': (3,)}", "\n"),
    ("['descr']", "["),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (03,)}", "03"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (-03,)}", "-03"),
    ("{'descr': '<i4', # \0\n 'fortran_order': False, 'shape': (3,)}", "\0"),
    ("{'descr': [('\\x4', '<i4')], 'fortran_order': False, 'shape': (3,)}", "\\x4"),
    ("{'descr': [('\\U00110000', '<i4')], 'fortran_order': False, 'shape': (3,)}", "\\U"),
    ("{'descr': [('\\", "\\"),
]


@pytest.mark.parametrize("header, part", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_wrong_headers_say_where(header, part) -> None:
    with pytest.raises(Exception):  # of several kinds
        np.load(io.BytesIO(with_header(header)), allow_pickle=False)
    at = 10 + header.index(part)
    failure(with_header(header)).must_be("file_malformed", f"(at byte {at})", at)


UNKNOWN = ["<i3", "<f5", "<b2", "", "<", "x", "<i4x", "<M8[", "<M8[q]", "|T16", "<U9223372036854775807", "<i99999999999999999999",
           "i4,f4", "<float32"]
GOOD = saved(np.arange(10, dtype="<i4"))
MICRO = with_header("{'descr': [('\u00b5', '<i4')], 'fortran_order': False, 'shape': (1,)}", version=3)


def of_type(descr: str) -> bytes:
    return with_header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}")


REFUSED = [  # a file, its status, words of the message, and the byte
    (b"", "file_malformed", "", 0),
    (GOOD[:-1], "file_malformed", "40 bytes are needed at byte 128, it has 167 bytes", 167),
    (b"\x93NUMPY\2\0" + b"\xff\xff\xff\xff" + b"{" * 100, "file_malformed", "4294967307", None),
    (MICRO.replace(b"\xc2\xb5", b"\xb5\xb5"), "file_malformed", "", MICRO.index(b"\xc2")),
    *((GOOD[:6] + version + GOOD[8:], "unsupported", "", None) for version in (b"\0\0", b"\4\0", b"\1\1")),
    *((of_type(f"'{descr}'"), "unsupported", "", 20) for descr in UNKNOWN),
    (of_type("[('a', " * 5000 + "'<i4'" + ")]" * 5000), "unsupported", "", None),
    (of_type("[('a', '<V', 2)]"), "unsupported", "", 10 + 23), (of_type("[('\\N{BULLET}', '<i4')]"), "unsupported", "", 10 + 13),
    *((content, "unsupported", words, None) for content, words in (
        (b"\x80\x04\x95\0\0\0\0", "pickle"), (b"PAR1\x15\4", "Parquet"), (b"\x89HDF\r\n\x1a\n..", "HDF5"),
        (b"<?xml version", "OpenVINO"), (b"FEA1" + bytes(8), "Feather"), (b"\x1f\x8b\x08\0", "gzip"), (b"1 2 3\n", "type and a shape"))),
]


@pytest.mark.parametrize("content, status, words, offset", REFUSED, ids=lambda value: str(value)[:40])
def test_refused(content, status, words, offset) -> None:
    failure(content).must_be(status, words, offset)


def test_ranks() -> None:
    header = "{{'descr': '|u1', 'fortran_order': False, 'shape': ({})}}"
    with opened_bytes(with_header(header.format("1, " * 64))) as t:
        assert t.shape == (1,) * 64
    assert failure(with_header(header.format("1, " * 65))).status == "unsupported"


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bytes_never_read_beyond_the_file(seed) -> None:
    content = bytearray(saved(np.arange(10, dtype="<i4")))
    rng = np.random.default_rng(seed)
    for _ in range(300):
        changed = bytearray(content)
        for at in rng.integers(0, 128, 3):
            changed[at] = rng.integers(0, 256)
        try:
            with opened_bytes(bytes(changed)) as t:
                assert 0 <= t.offset and t.offset + t.bytes <= len(changed)
        except GatherError as error:
            assert error.status in ("file_malformed", "unsupported")
            assert re.search("the file|memory", error.message)
