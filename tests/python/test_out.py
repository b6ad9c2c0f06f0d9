# SPDX-License-Identifier: MIT
#
# test_out.py: out=: written where it lies, returned, and left alone after an error.
"""Outputs that the caller brings."""
from __future__ import annotations

import array
import tracemalloc

import numpy as np
import pytest

import libgather
from libgather import gather_elements, take, take_along_axis
from support.refusal import refuses

ROW = np.arange(10.0, 20.0)


def plan_into(name):
    def call(x, indices, /, *, out=None, **keywords):
        return getattr(libgather.Plan, name)(x, indices, **keywords)(x, indices, out=out)

    call.__name__ = f"Plan.{name}"
    return call


CALLS = [take, take_along_axis, gather_elements, plan_into("take"), plan_into("take_along_axis"), plan_into("gather_elements")]
ALL = pytest.mark.parametrize("call", CALLS, ids=lambda f: f.__name__)


@ALL
def test_the_same_object_comes_back(call):
    out = np.full(3, 7.0)
    assert call(ROW, [1, 1, -1], out=out) is out and out.tolist() == [11, 11, 19]
    assert call(ROW, [2, 1, 0], out=None) is not None


@ALL
def test_untouched_on_error(call):
    out = np.full(3, 7.0)
    refuses(libgather.GatherIndexError, call, ROW, [1, 2, 10], out=out)
    assert out.tolist() == [7, 7, 7]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_untouched_on_error_when_large(threads):
    """The last index of a large call is bad: nothing of it was moved before that was known."""
    x = np.arange(60_000, dtype=np.float32).reshape(-1, 6)
    indices = np.arange(400_000) % 10_000
    indices[-1] = 10_000
    out = np.full((400_000, 6), -1, np.float32)
    error = refuses(libgather.GatherIndexError, take, x, indices, axis=0, out=out, threads=threads)
    assert error.position == (399_999,) and (out == -1).all()


@ALL
@pytest.mark.parametrize("dtype", ["f4", ">f8", "i8", "c16", "M8[s]", object, "S8", "V8", [("a", "f8")]], ids=str)
def test_another_dtype(call, dtype):
    """No conversion, not even one that loses nothing: the byte order counts too."""
    out = np.zeros(2, dtype)
    error = refuses(libgather.GatherTypeError, call, ROW, [0, 1], out=out)
    assert error.input == "output"


def test_units_count():
    days = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    refuses(libgather.GatherTypeError, take, days, [0], out=np.zeros(1, "M8[h]"))
    out = np.zeros(1, "M8[D]")
    assert take(days, [1], out=out)[0] == days[1]


@ALL
@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1), (1, 3), (), (0,)], ids=str)
def test_another_shape(call, shape):
    out = np.full(shape, 7.0)
    refuses(libgather.GatherValueError, call, ROW, [0, 1, 2], out=out)
    assert (out == 7).all()


@ALL
def test_read_only(call):
    out = np.zeros(1)
    out.flags.writeable = False
    refuses(libgather.GatherValueError, call, ROW, [0], out=out, says="out is read-only")
    refuses(libgather.GatherValueError, call, np.frombuffer(b"abc", np.uint8), [0], out=b"z", says="out is read-only")


@ALL
@pytest.mark.parametrize("out", [[0.0], (0.0,), 0.0, "text", {}, object(), np.float64(0), np.zeros(1)[0]], ids=repr)
def test_no_array(call, out):
    """A result that nobody would see is an error."""
    indices = 0 if np.ndim(out) == 0 and call.__name__.endswith("take") else [0]  # a result of out's shape
    refuses(libgather.GatherTypeError, call, ROW, indices, out=out, says="out")


@pytest.mark.parametrize("out", [array.array("d", [0]), bytearray(8), memoryview(bytearray(8)).cast("d")], ids=lambda o: type(o).__name__)
def test_buffers(out):
    x = ROW if not isinstance(out, bytearray) else np.arange(10, dtype=np.uint8)
    indices = [3] if not isinstance(out, bytearray) else [3] * 8
    assert take(x, indices, out=out) is out
    assert list(out) == [x[i] for i in indices]


@ALL
def test_overlap_with_x(call):
    x = np.arange(10.0)
    for out in (x[:3], x[7:], x[::-4], x[2:8:2]):
        before = x.copy()
        refuses(libgather.GatherValueError, call, x, [0, 1, 2], out=out, says="overlaps")
        assert (x == before).all()


@ALL
def test_overlap_with_indices(call):
    indices = np.arange(4)
    refuses(libgather.GatherValueError, call, np.arange(9), indices, out=indices, says="overlaps")
    assert indices.tolist() == [0, 1, 2, 3]


@ALL
def test_neighbours_do_not_overlap(call):
    """Halves of one memory; the ends are where a wrong comparison shows."""
    memory = np.arange(20.0)
    for x, out in ((memory[:10], memory[10:13]), (memory[10:], memory[7:10])):
        assert call(x, [9, 0, 1], out=out) is out and out.tolist() == [x[9], x[0], x[1]]


@ALL
def test_an_output_over_itself(call):
    cell = np.zeros(1)
    out = np.lib.stride_tricks.as_strided(cell, (3,), (0,), writeable=True)
    refuses(libgather.GatherValueError, call, ROW, [0, 1, 2], out=out, says="overlap")
    assert cell[0] == 0


@ALL
def test_odd_layouts(call):
    """Strided, backwards, unaligned: written there, and nothing beside it."""
    memory = np.zeros(100, np.uint8)
    odd = np.ndarray(3, np.float64, memory, 3)
    assert call(ROW, [5, 6, 7], out=odd) is odd and odd.tolist() == [15, 16, 17] and not memory[:3].any() and not memory[27:].any()
    wide = np.full(9, -1.0)
    call(ROW, [5, 6, 7], out=wide[::-4])
    assert wide.tolist() == [17, -1, -1, -1, 16, -1, -1, -1, 15]


def test_columns_of_a_larger_table():
    table = np.zeros((3, 4, 2), order="F")
    out = table[:, ::2]
    x = np.arange(10.0).reshape(5, 2)
    indices = np.array([[0, 4], [3, 3], [-1, 1]])
    assert take(x, indices, axis=0, out=out) is out
    assert (table[:, ::2] == x[indices]).all() and not table[:, 1::2].any()


def test_scalars():
    out = np.zeros(())
    assert take(ROW, 4, out=out) is out and out == 14


class Tagged(np.ndarray):
    pass


def test_a_subclass_as_output():
    out = np.zeros(2).view(Tagged)
    assert take(ROW, [1, 2], out=out) is out and out.tolist() == [11, 12]


def test_masked_output_is_refused():
    refuses(libgather.GatherTypeError, take, ROW, [0], out=np.ma.array([0.0], mask=[True]), says="mask")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["take", "Plan.take"])
def test_never_buffered(order, name):
    """A call with out= takes no memory worth mentioning; np.take with mode='raise' takes a copy of the output."""
    x = np.ones((1000, 1000), np.float32)
    indices = np.arange(4000) % 1000
    out = np.empty((4000, 1000), np.float32, order)
    call = take if name == "take" else libgather.Plan.take(x, indices, axis=0)
    keywords = {"axis": 0} if name == "take" else {}
    call(x, indices, out=out, **keywords)
    tracemalloc.start()
    call(x, indices, out=out, **keywords)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 64 << 10, f"{used} bytes for an output of {out.nbytes}"


def test_the_memory_of_that_test_is_seen():
    """tracemalloc sees NumPy's memory, so that the test above can fail."""
    tracemalloc.start()
    take(np.ones((100, 1000)), [0] * 10, axis=0)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used >= 80_000
