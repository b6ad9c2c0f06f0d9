# SPDX-License-Identifier: MIT
#
# test_differential.py: random calls against NumPy, byte by byte: results, errors with all their fields, and every byte round an
# output. A failure prints the smallest call found. Settings: arrays.py.
"""take, take_along_axis, gather_elements and gather_nd against NumPy, at random."""
from __future__ import annotations

import contextlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import expected
import libgather
from arrays import DTYPES, index_values, lying, often, raw, shapes
from support.refusal import refuses

MODES = st.sampled_from([None, "raise", "wrap", "clip", "zero", "fill", "promise"])
FIELDS = ("position", "value", "low", "high", "axis", "bad_count")


def run(data, name: str, x: np.ndarray, indices: np.ndarray, keywords: dict, out) -> np.ndarray:
    """The call: by a plan, or directly, where one like it may have left its plan behind."""
    for _ in range(data.draw(st.sampled_from([0, 0, 3]), label="calls before")):
        with contextlib.suppress(libgather.GatherIndexError):
            getattr(libgather, name)(x, indices, **keywords)
    if data.draw(st.booleans(), label="plan"):
        plan = getattr(libgather.Plan, name)(x, indices, **keywords)
        return plan(x, indices, out=out)
    return getattr(libgather, name)(x, indices, out=out, **keywords)


def compare(data, name: str, x: np.ndarray, indices: np.ndarray, keywords: dict, found, where_of) -> None:
    """One call against what is expected: `found`, the rows or the error; `where_of`, the positions of rows."""
    zeros = bytes(x.itemsize)
    fill = zeros
    if keywords["mode"] == "fill":
        keywords["fill_value"] = fill_of(x.dtype)
        fill = np.array(keywords["fill_value"]).astype(x.dtype).tobytes()
    bad = isinstance(found, expected.Bad)
    shape = where_of(np.zeros(indices_shape(name, x, indices, keywords), np.int64)).shape
    given_out = data.draw(st.none() | lying(shape, x.dtype, steps=(1, 1, 2, -1, -2)), label="out")
    before = given_out.memory.copy() if given_out else None
    source = raw(x).tobytes()
    out = given_out.array if given_out else None
    if bad:
        error = refuses(libgather.GatherIndexError, run, data, name, x, indices, keywords, out)
        assert expected.Bad(*(getattr(error, field) for field in FIELDS)) == found
        assert error.op == name and error.status == "index_out_of_range"
    else:
        result = run(data, name, x, indices, keywords, out)
        wanted = expected.elements(raw(x), where_of(found), fill)
        assert np.shape(result) == shape
        got = np.asarray(result).astype(x.dtype, copy=False)  # a scalar has the machine's byte order, as NumPy's
        if has_gaps(x.dtype) and (keywords["mode"] == "fill" or isinstance(result, np.generic)):
            assert repr(got.tolist()) == repr(np.frombuffer(wanted, x.dtype).reshape(shape).tolist())
            wanted = raw(got).tobytes()
        assert raw(got).tobytes() == wanted
        if given_out:
            assert result is out
            if wanted:
                raw(given_out.again(before))[...] = np.frombuffer(wanted, raw(out).dtype).reshape(shape)
        else:
            assert isinstance(result, np.ndarray) == bool(shape) and got.flags.c_contiguous and (not shape or result.dtype == x.dtype)
    if given_out:
        assert np.array_equal(given_out.memory, before), "bytes outside the result, or of a failed one, were written"
    assert raw(x).tobytes() == source


def has_gaps(dtype: np.dtype) -> bool:
    """Whether an element has bytes without a meaning, which NumPy leaves out where it copies elements one by one."""
    return dtype.isalignedstruct or dtype.char in "gG"


def fill_of(dtype: np.dtype) -> np.generic:
    """A value that each dtype can hold and that is not all zero bits."""
    if dtype.kind in "Mm":
        return np.ones((), "i8").astype(dtype.newbyteorder("="))[()]
    if dtype.type is np.void and not dtype.names:
        return np.frombuffer(bytes(range(1, dtype.itemsize + 1)), dtype)[0]
    return np.ones((), dtype.newbyteorder("="))[()]


def indices_shape(name: str, x: np.ndarray, indices: np.ndarray, keywords: dict) -> tuple:
    if name == "gather_nd":
        return indices.shape[:-1]
    return expected.broadcast_off(keywords["axis"] % x.ndim, x, indices)[1].shape if name == "take_along_axis" else indices.shape


def policy(data) -> tuple[dict, str, bool]:
    mode, negative = data.draw(MODES, label="mode"), data.draw(st.sampled_from([None, True, False]), label="negative")
    threads = data.draw(st.sampled_from([None, 1, 2]), label="threads")
    return {"mode": mode, "negative": negative, "threads": threads}, mode or "raise", negative is not False


@often
@given(data=st.data())
def test_take(data):
    dtype = data.draw(st.sampled_from(DTYPES), label="dtype")
    shape = data.draw(shapes(), label="shape")
    axis = data.draw(st.integers(0, len(shape) - 1), label="axis")
    tail = data.draw(shapes(0, 3), label="tail of the indices")
    batch_dims = data.draw(st.integers(0, axis), label="batch_dims")
    keywords, mode, negative = policy(data)
    x = data.draw(lying(shape, dtype), label="x").array
    indices = data.draw(index_values(shape[:batch_dims] + tail, shape[axis], negative, mode != "promise"), label="indices")
    found = expected.rows(indices, shape[axis], negative, mode, axis)
    if mode == "promise" and isinstance(found, expected.Bad):
        return  # an axis of length 0 has no index that could be promised
    keywords["axis"] = data.draw(st.sampled_from([axis, axis - len(shape)]), label="axis as written")
    below_0 = [b for b in [batch_dims - indices.ndim] if -min(x.ndim, indices.ndim) <= b < 0]  # from the rank of indices
    keywords["batch_dims"] = data.draw(st.sampled_from([batch_dims, *below_0]), label="batch_dims as written")
    compare(data, "take", x, indices, keywords, found, lambda rows: expected.take(expected.positions_of(shape), rows, axis, batch_dims))


@often
@given(data=st.data())
def test_take_along_axis(data):
    dtype = data.draw(st.sampled_from(DTYPES), label="dtype")
    shape = data.draw(shapes(), label="shape")
    axis = data.draw(st.integers(0, len(shape) - 1), label="axis")
    pairs = [data.draw(st.sampled_from([(n, n), (n, n), (n, 1), (1, n)])) for n in shape]
    x_shape = tuple(shape[d] if d == axis else pair[0] for d, pair in enumerate(pairs))
    length = data.draw(st.integers(0, 5), label="indices on the axis")
    i_shape = tuple(length if d == axis else pair[1] for d, pair in enumerate(pairs))
    keywords, mode, negative = policy(data)
    x = data.draw(lying(x_shape, dtype), label="x").array
    indices = data.draw(index_values(i_shape, x_shape[axis], negative, mode != "promise"), label="indices")
    positions, wide = expected.broadcast_off(axis, expected.positions_of(x_shape), indices)
    found = expected.rows(wide, x_shape[axis], negative, mode, axis)
    if mode == "promise" and isinstance(found, expected.Bad):
        return
    keywords["axis"] = data.draw(st.sampled_from([axis, axis - len(shape)]), label="axis as written")
    compare(data, "take_along_axis", x, indices, keywords, found, lambda rows: expected.along(positions, rows, axis))


@often
@given(data=st.data())
def test_gather_elements(data):
    dtype = data.draw(st.sampled_from(DTYPES), label="dtype")
    shape = data.draw(shapes(), label="shape")
    axis = data.draw(st.integers(0, len(shape) - 1), label="axis")
    i_shape = tuple(data.draw(st.integers(0, 5 if d == axis else n)) for d, n in enumerate(shape))
    keywords, mode, negative = policy(data)
    x = data.draw(lying(shape, dtype), label="x").array
    indices = data.draw(index_values(i_shape, shape[axis], negative, mode != "promise"), label="indices")
    found = expected.rows(indices, shape[axis], negative, mode, axis)
    if mode == "promise" and isinstance(found, expected.Bad):
        return
    cropped = expected.positions_of(shape)[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(i_shape))]
    keywords["axis"] = data.draw(st.sampled_from([axis, axis - len(shape)]), label="axis as written")
    compare(data, "gather_elements", x, indices, keywords, found, lambda rows: expected.along(cropped, rows, axis))


@often
@given(data=st.data())
def test_gather_nd(data):
    dtype = data.draw(st.sampled_from(DTYPES), label="dtype")
    shape = data.draw(shapes(), label="shape")
    batch_dims = data.draw(st.integers(0, len(shape) - 1), label="batch_dims")
    count = data.draw(st.integers(0, len(shape) - batch_dims), label="numbers of a tuple")
    tail = data.draw(shapes(0, 2), label="tuples")
    keywords, mode, negative = policy(data)
    x = data.draw(lying(shape, dtype), label="x").array
    lengths = shape[batch_dims : batch_dims + count]
    drawn = [data.draw(index_values(shape[:batch_dims] + tail, n, negative, mode != "promise"), label="indices") for n in lengths]
    wide = np.stack([part.astype(np.int64) for part in drawn], -1) if drawn else np.empty((*shape[:batch_dims], *tail, 0), np.int64)
    indices = wide.astype(drawn[0].dtype if drawn else np.int64)
    if data.draw(st.booleans(), label="planes"):
        indices = np.moveaxis(np.ascontiguousarray(np.moveaxis(indices, -1, 0)), 0, -1)
    found = expected.tuples(indices, lengths, negative, mode, batch_dims)
    if mode == "promise" and isinstance(found, expected.Bad):
        return
    keywords["batch_dims"] = batch_dims
    compare(data, "gather_nd", x, indices, keywords, found,
            lambda tuples: expected.nd(expected.positions_of(shape), tuples, count, batch_dims))


@often
@given(data=st.data())
def test_flat(data):
    """axis=None takes x as one row. (No dtypes with gaps: NumPy's reshape, where it copies, leaves them out.)"""
    shape = data.draw(shapes(0), label="shape")
    dtype = data.draw(st.sampled_from([dtype for dtype in DTYPES if not dtype.isalignedstruct]), label="dtype")
    x = data.draw(lying(shape, dtype), label="x").array
    indices = data.draw(index_values((data.draw(st.integers(0, 4)),), x.size, True, False), label="indices")
    if x.size == 0 and indices.size:
        refuses(libgather.GatherIndexError, libgather.take_along_axis, x, indices, axis=None)
        return
    result = libgather.take_along_axis(x, indices, axis=None)
    wanted = np.take_along_axis(raw(x), indices.astype(np.int64), axis=None)
    assert result.dtype == x.dtype and raw(result).tobytes() == wanted.tobytes()
