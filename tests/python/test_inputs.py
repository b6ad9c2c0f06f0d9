# SPDX-License-Identifier: MIT
#
# test_inputs.py: what x and indices may be besides plain arrays, and what the result then is.
"""Inputs of every kind."""
from __future__ import annotations

import array
import ctypes
import mmap

import numpy as np
import pytest

import libgather
from libgather import gather_elements, take, take_along_axis
from support.refusal import refuses

BYTES = bytes(range(10, 20))


def same(result, wanted) -> None:
    """As NumPy's: class, dtype, shape, values."""
    assert type(result) is type(wanted) and result.dtype == wanted.dtype and np.shape(result) == np.shape(wanted)
    assert np.asarray(result).tolist() == np.asarray(wanted).tolist()


# ---- memory that others show ----


@pytest.mark.parametrize("x", [BYTES, bytearray(BYTES), memoryview(BYTES), array.array("B", BYTES), (ctypes.c_uint8 * 10)(*BYTES)],
                         ids=lambda x: type(x).__name__)
def test_bytes_are_memory(x):
    """Not text: NumPy would make one S10 of bytes."""
    same(take(x, [9, 0, -3]), np.array([19, 10, 17], np.uint8))
    same(take_along_axis(x, [1]), np.array([11], np.uint8))


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_arrays_of_the_standard_library(code):
    x = array.array(code, [3, 1, 2])
    same(take(x, [2, 0]), np.array([2, 3], code))
    if code not in "fd":
        assert take([10, 20, 30, 40], x).tolist() == [40, 20, 30]


def test_memoryview_with_strides():
    view = memoryview(np.arange(24.0).reshape(4, 6)[::-2, ::3])
    same(take(view, [[1, 0]], axis=1), np.take(np.asarray(view), [[1, 0]], axis=1))


def test_memory_map(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(BYTES)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        same(take(memory, [4]), np.array([14], np.uint8))
        out = memoryview(memory)[2:3]
        take(b"z", [0], out=out)
        out.release()
        memory.flush()
        assert path.read_bytes()[2:3] == b"z"
    stored = np.memmap(path, np.uint8, "r", shape=(5, 2))
    result = take(stored, [4, 0], axis=0)
    same(np.asarray(result), np.array([[18, 19], [10, 11]], np.uint8))
    assert type(result) is type(np.take(stored, [4, 0], axis=0))


def test_memory_is_not_copied():
    """x is read where it lies: a table of 400 MB of which one row is wanted takes no second one."""
    import tracemalloc

    x = memoryview(bytearray(1 << 26)).cast("B", (1 << 16, 1 << 10))
    tracemalloc.start()
    take(x, [5], axis=0)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 1 << 16


class Interface:
    """An object that knows nothing but __array_interface__."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__


class Struct:
    def __init__(self, array: np.ndarray) -> None:
        self.__array_struct__ = array.__array_struct__
        self._array = array


class Method:
    """An object that NumPy can make an array of, by a method."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("kind", [Interface, Struct, Method])
def test_interfaces(kind):
    table = np.arange(12.0).reshape(3, 4)[:, ::-1]
    same(take(kind(table), [2, 0], axis=0), np.take(table, [2, 0], axis=0))
    same(take(table, kind(np.array([1, -1])), axis=1), np.take(table, [1, -1], axis=1))
    same(gather_elements(kind(table), kind(np.array([[2, 1, 0, -1]]))), np.take_along_axis(table, np.array([[2, 1, 0, -1]]), 0))


def test_interface_as_output():
    memory = np.zeros(2)
    out = Interface(memory)
    assert take(np.arange(5.0), [4, 3], out=out) is out and memory.tolist() == [4, 3]
    with pytest.raises(libgather.GatherTypeError):
        take(np.arange(5.0), [4, 3], out=Method(memory))  # might be a copy: nobody would see it written


@pytest.mark.parametrize("broken", [ValueError, KeyError, ZeroDivisionError])
def test_errors_of_others_come_through(broken):
    class Raises:
        def __array__(self, dtype=None, copy=None):
            raise broken("not today")

    for x, indices in ((Raises(), [0]), (np.arange(3), Raises())):
        refuses(broken, take, x, indices, says="not today")


# ---- lists, numbers, scalars ----


@pytest.mark.parametrize("x", [[1, 2, 3], (1.5, 2.5, 3.5), [[1, 2], [3, 4], [5, 6]], [True, False, True], ["a", "bb", "c"], [b"a", b"b", b"c"],
                               [1j, 2, 3], range(3)], ids=repr)
def test_lists_are_arrays(x):
    same(take(x, [2, 0], axis=0), np.take(x, [2, 0], axis=0))
    same(take(x, -1, axis=0), np.take(x, -1, axis=0))


SCALARS = [np.arange(3), np.arange(3.0), np.arange(3, dtype="f2"), np.array([True, False]), np.arange(3, dtype="c8"), np.array(["a", "bb"]),
           np.array([b"a", b"bb"]), np.array(["2020-01-01"] * 2, "M8[D]"), np.arange(3, dtype="m8[s]"), np.arange(3, dtype=">i4"),
           np.array([(1, 2.0), (3, 4.0)], "i4,f8"), np.array([b"abcde"] * 2, "V5"), np.arange(3, dtype="g")]


@pytest.mark.parametrize("x", SCALARS, ids=lambda x: x.dtype.str)
def test_one_element_is_a_scalar(x):
    result, wanted = take(x, 1), np.take(x, 1)
    assert type(result) is type(wanted) and result == wanted and not isinstance(result, np.ndarray)


def test_rows_of_0_d_indices_are_arrays():
    assert isinstance(take(np.ones((2, 3)), 1, axis=0), np.ndarray)


# ---- subclasses ----


class Tagged(np.ndarray):
    """A subclass with something of its own."""

    def __array_finalize__(self, source) -> None:
        self.tag = getattr(source, "tag", None)


def test_subclasses_and_what_is_their_own():
    x = np.arange(6.0).reshape(3, 2).view(Tagged)
    x.tag = "kept"
    for result in (take(x, [2, 0], axis=0), take_along_axis(x, np.array([[0]]), axis=0), gather_elements(x, [[1, 1]]),
                   libgather.Plan.take(x, [2, 0], axis=0)(x, [2, 0])):
        assert type(result) is Tagged and result.tag == "kept"
    assert type(take(x[:, 0], 1)) is np.float64


def test_recarray():
    x = np.rec.array([(1, "a"), (2, "b")], dtype=[("n", "i4"), ("s", "U1")])
    same(take(x, [1, 0]), np.take(x, [1, 0]))
    assert take(x, [1]).s[0] == "b"


OLD_MATRIX = pytest.mark.filterwarnings("ignore:the matrix subclass")


@OLD_MATRIX
@pytest.mark.parametrize("indices", [[1], 1, [0, 1, 0]], ids=repr)
def test_matrix(indices):
    x = np.matrix([[1, 2], [3, 4]])
    same(take(x, indices, axis=0), np.take(x, indices, axis=0))


@OLD_MATRIX
def test_subclasses_of_indices_do_not_matter():
    assert type(take(np.arange(3), np.array([1]).view(Tagged))) is np.ndarray
    same(take(np.arange(3), np.matrix([1, 0])), np.take(np.arange(3), [[1, 0]]))


# ---- masks ----


MASKED = np.ma.array([[1, 2, 3], [4, 5, 6]], mask=[[0, 1, 0], [0, 0, 1]], fill_value=-9)


@pytest.mark.parametrize("indices", [[2, 1], [[0], [-1]], 1], ids=repr)
def test_masks_are_gathered_too(indices):
    result, wanted = take(MASKED, indices, axis=1), np.ma.take(MASKED, indices, axis=1)
    assert type(result) is type(wanted) and result.tolist() == wanted.tolist() and result.fill_value == -9
    assert np.ma.getmaskarray(result).tolist() == np.ma.getmaskarray(wanted).tolist()


def test_masked_elements():
    assert take(MASKED[0], 1) is np.ma.masked and take(MASKED[0], 0) == 1
    result = gather_elements(MASKED, [[1, 1, 0]])
    assert result.tolist() == [[4, 5, 3]]
    assert take_along_axis(MASKED, [5, 0], axis=None).tolist() == [None, 1]
    assert take(np.ma.array([1, 2]), [1]).tolist() == [2] and isinstance(take(np.ma.array([1, 2]), [1]), np.ma.MaskedArray)


def test_a_filled_element_is_not_masked():
    assert take(MASKED[0], [9, 1], mode="fill", fill_value=7).tolist() == [7, None]
    assert take(MASKED[0], [9, 1], mode="zero").tolist() == [0, None]
    assert take(MASKED[0], [9, 4], mode="wrap").tolist() == [1, None]


def test_masked_errors():
    refuses(libgather.GatherIndexError, take, MASKED, [7], axis=0)
    refuses(libgather.GatherTypeError, take, np.arange(3), np.ma.array([0, 1], mask=[0, 1]), says="mask")
    refuses(libgather.GatherTypeError, take, MASKED, [0], axis=0, out=np.empty((1, 3), int), says="mask")


# ---- elements that are more than their bytes ----


def objects() -> np.ndarray:
    found = np.empty((3, 2), object)
    found[...] = [["a", None], [(1, 2), {"k": 1}], [2.5, ValueError]]
    return found


@pytest.mark.parametrize("x", [objects(), objects().T, objects()[::-1], np.array([["a", "long " * 9], ["", "ü"], ["x", "y"]], "T") if
                               np.__version__ >= "2" else objects()], ids=["objects", "transposed", "backwards", "StringDType"])
def test_slow_elements(x):
    """Objects and strings of variable size: slower, and the same."""
    same(take(x, [1, -1, 0], axis=0), np.take(x, [1, -1, 0], axis=0))
    same(take(x, [[1], [0]], axis=1), np.take(x, [[1], [0]], axis=1))
    indices = np.zeros((1, x.shape[1]), int)
    same(take_along_axis(x, indices, axis=0), np.take_along_axis(x, indices, axis=0))
    same(gather_elements(x, indices), np.take_along_axis(x, indices, axis=0))
    assert take(x[:, 0], 1) == x[1, 0] and take(x[:0], [], axis=0).shape == (0, x.shape[1])
    out = np.empty((2, x.shape[1]), x.dtype)
    assert take(x, [1, 1], axis=0, out=out) is out and out.tolist() == [x[1].tolist()] * 2


@pytest.mark.parametrize("dtype", [object, pytest.param("T", marks=pytest.mark.skipif(np.__version__ < "2", reason="numpy: before 2.0"))])
def test_slow_errors(dtype):
    x = np.array(["a", "b", "c"], dtype)
    out = np.array(["x", "y"], dtype)
    error = refuses(libgather.GatherIndexError, take, x, [1, 3], out=out)
    assert (error.position, error.value, error.high) == ((1,), 3, 2) and out.tolist() == ["x", "y"]
    assert take(x, [5, -1], mode="clip").tolist() == ["c", "c"] and take(x, [4], mode="wrap").tolist() == ["b"]
    assert take(x, [9, 0], mode="fill", fill_value="zz").tolist() == ["zz", "a"]
    refuses(libgather.GatherError, take, x, [0], out=np.empty(2, dtype))
    refuses(libgather.GatherError, take, x, [0], out=np.empty(1, "U1"))
    refuses(libgather.GatherTypeError, libgather.Plan.take, x, [0])


def test_objects_are_the_same_objects():
    x = objects()
    assert take(x, [1], axis=0)[0, 1] is x[1, 1]


def test_structured_with_objects():
    x = np.array([(1, "a"), (2, None)], [("n", "i4"), ("o", object)])
    same(take(x, [1, 0, 1]), np.take(x, [1, 0, 1]))


def test_no_bytes_in_an_element():
    x = np.zeros(3, np.dtype([]))
    assert take(x, [2, 0]).shape == (2,) and take(x, [2, 0]).dtype == x.dtype


# ---- shapes at the border ----


def test_rank_64():
    x = np.arange(2.0).reshape((1,) * (63 if np.__version__ >= "2" else 31) + (2,))
    assert take(x, [1, 0], axis=-1).ravel().tolist() == [1, 0]
    refuses((libgather.GatherNotSupportedError, libgather.GatherValueError), take, x, [[[1, 0]]], axis=-1)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty(shape):
    x = np.empty(shape)
    assert take(x, [], axis=0).shape == (0, shape[1])
    assert take(x, np.empty((2, 0), int), axis=1).shape == (shape[0], 2, 0)
    if shape[0]:
        assert take(x, [2, 1], axis=0).shape == (2, 0)
        with pytest.raises(libgather.GatherIndexError):  # nothing would be moved, and yet it is wrong
            take(x, [3], axis=0)


def test_results_are_new():
    x = np.arange(3)
    result = take(x, [0, 1, 2])
    assert not np.shares_memory(result, x) and result.flags.owndata and result.flags.writeable and result.flags.c_contiguous
