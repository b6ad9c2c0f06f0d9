# SPDX-License-Identifier: MIT
#
# test_jax_take.py: libgather.jax against NumPy and jax.numpy: values, every dtype, policies, errors.
"""take, take_along_axis, gather_elements and gather_nd under JAX."""

from __future__ import annotations

import os

import numpy as np
import pytest

import libgather
from jax_support import along, jax, needs_jax, rows_of, same, taken, x64  # noqa: F401

if jax is not None:
    import jax.numpy as jnp

    import libgather.jax as lj

X = np.arange(60, dtype=np.float32).reshape(10, 3, 2)
SEED = int(os.environ.get("GATHER_TEST_SEED", 16))
MODES = ("raise", "clip", "wrap", "zero", "fill", "promise")


# ---- NumPy's own cases (numpy/_core/tests/test_item_selection.py, as facts) ----


@pytest.mark.parametrize("mode, ids, wanted", [("wrap", [-7, -1, 0, 4, 12], [3, 4, 0, 4, 2]), ("clip", [-7, 4, 12, -1], [0, 4, 4, 0]), ("raise", [-1, 0], [4, 0])])
@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64", "bool", "uint8"])
def test_simple(mode, ids, wanted, dtype):
    """Both ranks, both axes, empty and scalar indices."""
    row = np.arange(5).astype(dtype)
    negative = mode != "clip"
    assert same(lj.take(row, ids, mode=mode, negative=negative), row[wanted])
    both = np.stack([row, row[::-1]])
    assert same(lj.take(both, ids, axis=1, mode=mode, negative=negative), both[:, wanted])
    assert same(lj.take(both.T, ids, 0, mode=mode, negative=negative), both.T[wanted])
    assert same(lj.take(row, [], mode=mode), row[:0]) and same(lj.take(row, 3, mode=mode), row[3])
    assert same(lj.take(row, np.zeros((2, 0), int), mode=mode), row[np.zeros((2, 0), int)])


@pytest.mark.parametrize("shape, ids", [((0,), 0), ((0, 2), [0]), ((3,), 3), ((3,), -4), ((3, 1), [[0], [3]])])
def test_out_of_range(shape, ids):
    """Under jit and outside: the same error. clip and wrap have no row to take where the axis is empty."""
    x = np.zeros(shape, np.float32)
    for function in (lambda x, i: lj.take(x, i, axis=0), jax.jit(lambda x, i: lj.take(x, i, axis=0))):
        with pytest.raises(lj.RUN_ERRORS, match=r"OUT_OF_RANGE: indices.* is outside|OUT_OF_RANGE: .*length 0|OUT_OF_RANGE: .*no index"):
            np.asarray(function(x, jnp.asarray(ids)))


# ---- random cases ----


def random_case(random: np.random.Generator):
    """Shapes, an axis, a policy: what a program is compiled for."""
    rank = int(random.integers(1, 5))
    shape = tuple(int(n) for n in random.integers(1, 6, rank))
    axis, mode = int(random.integers(-rank, rank)), str(random.choice(MODES))
    dtype = random.choice(["float32", "int32", "int8", "uint16", "bool", "complex64", "float16", "bfloat16", "uint8"])
    dtype = jnp.dtype(str(dtype))
    index = np.dtype(str(random.choice(["int32", "int8", "uint8", "int16", "uint32", "uint16"])))
    return shape, axis, mode, dtype, index, bool(random.integers(2))


def random_indices(random: np.random.Generator, shape, length: int, index: np.dtype, mode: str, negative: bool) -> np.ndarray:
    """In range where the policy needs that, else around it and at the ends of the type."""
    low = -length if negative and index.kind == "i" else 0
    if mode in ("raise", "promise"):
        return random.integers(low, length, shape).astype(index)
    wide = random.integers(-2 * length if index.kind == "i" else 0, 3 * length, shape).astype(index)
    ends = random.choice([np.iinfo(index).min, np.iinfo(index).max], shape)
    return np.where(random.random(shape) < 0.05, ends, wide).astype(index)


def values(random: np.random.Generator, shape, dtype) -> np.ndarray:
    return random.integers(0, 2 if dtype == bool else 100, shape).astype(dtype)


def test_random_takes():
    """5,000 gathers in 100 programs, jitted, with NumPy; jnp.take too where it knows the policy."""
    random, cases, compared = np.random.default_rng(SEED), 0, 0
    for _ in range(100):
        shape, axis, mode, dtype, index, negative = random_case(random)
        ids_shape = tuple(int(n) for n in random.integers(0, 4, random.integers(0, 3)))
        length, fill = shape[axis], 1 if dtype == bool else 7
        keywords = {"fill_value": fill} if mode == "fill" else {}
        function = jax.jit(lambda x, i: lj.take(x, i, axis, mode=mode, negative=negative, **keywords))
        theirs = jax.jit(lambda x, i: jnp.take(x, i, axis, mode=mode, **keywords))
        for _ in range(50):
            x = values(random, shape, dtype)
            ids = random_indices(random, ids_shape, length, index, mode, negative)
            result = function(x, ids)
            assert same(result, taken(x, ids, axis, mode, fill if mode == "fill" else 0, negative)), (shape, axis, mode, dtype, ids)
            if mode == "fill" and negative and ids.dtype == np.int32 or mode == "clip" and not negative:
                assert same(result, np.asarray(theirs(x, ids)))
                compared += 1
            cases += 1
    assert cases >= 5000 and compared > 50


def test_random_elements():
    """take_along_axis broadcasts, gather_elements may be shorter."""
    random, cases = np.random.default_rng(SEED + 1), 0
    for _ in range(40):
        shape, axis, mode, dtype, index, negative = random_case(random)
        wide = [int(random.choice([1, n])) for n in shape]
        wide[axis] = int(random.integers(0, 5))
        data = [n if random.random() < 0.7 or d == axis % len(shape) else 1 for d, n in enumerate(shape)]
        short = [int(random.integers(0, n + 1)) for n in shape]
        short[axis] = wide[axis]
        fill = 1 if dtype == bool else 7
        keywords = {"fill_value": fill} if mode == "fill" else {}
        first = jax.jit(lambda x, i: lj.take_along_axis(x, i, axis, mode=mode, negative=negative, **keywords))
        second = jax.jit(lambda x, i: lj.gather_elements(x, i, axis=axis, mode=mode, negative=negative, **keywords))
        for _ in range(15):
            fill = fill if mode == "fill" else 0
            x, ids = values(random, data, dtype), random_indices(random, wide, shape[axis], index, mode, negative)
            assert same(first(x, ids), along(x, ids, axis, mode, fill, negative))
            x, ids = values(random, shape, dtype), random_indices(random, short, shape[axis], index, mode, negative)
            cut = x[tuple(slice(None) if d == axis % len(shape) else slice(n) for d, n in enumerate(short))]
            assert same(second(x, ids), along(cut, ids, axis, mode, fill, negative))
            cases += 2
    assert cases >= 1200


def test_random_batches_and_tuples():
    """batch_dims of take, and gather_nd, against libgather on NumPy arrays, whose tests have an oracle."""
    random = np.random.default_rng(SEED + 2)
    for _ in range(40):
        shape, axis, mode, dtype, index, negative = random_case(random)
        batch = int(random.integers(0, len(shape)))
        axis = int(random.integers(batch, len(shape)))
        options = {"mode": mode, "negative": negative} | ({"fill_value": 1} if mode == "fill" else {})
        ids = random_indices(random, (*shape[:batch], 2, 3), shape[axis], index, mode, negative)
        x = values(random, shape, dtype)
        assert same(lj.take(x, ids, axis, batch_dims=batch, **options), libgather.take(x, ids, axis=axis, batch_dims=batch, **options))
        count = int(random.integers(0, len(shape) - batch + 1))
        low = min(shape[batch : batch + count], default=1)
        tuples = random_indices(random, (*shape[:batch], 4, count), low, index, mode, negative)
        assert same(lj.gather_nd(x, tuples, batch_dims=batch, **options), libgather.gather_nd(x, tuples, batch_dims=batch, **options))


def test_large_takes_use_threads():
    """Enough work for XLA's pool, many times: the same bytes as NumPy's; and an error out of it."""
    random = np.random.default_rng(SEED)
    x = random.standard_normal((1 << 16, 16), np.float32)
    ids = random.integers(-len(x), len(x), 1 << 18).astype(np.int32)
    function = jax.jit(lambda x, i: lj.take(x, i, 0))
    wanted = x[ids]
    for _ in range(5):
        assert same(function(x, ids), wanted)
    ids[200_001] = 1 << 20
    with pytest.raises(lj.RUN_ERRORS, match=r"indices\[200001\] = 1048576 is outside \[-65536, 65535\] of axis 0"):
        function(x, ids).block_until_ready()


# ---- types ----

BYTES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 float8_e4m3fn float8_e4m3fnuz "
    "float8_e5m2 float8_e5m2fnuz float8_e4m3b11fnuz float8_e3m4 float8_e4m3 float8_e8m0fnu int4 uint4 int2 uint2 float4_e2m1fn"
).split()


@pytest.mark.parametrize("name", BYTES)
def test_dtypes(x64, name):
    """Every dtype of JAX's, all elements that it has."""
    if not hasattr(jnp, name):
        pytest.skip(f"dtype: this JAX has no {name}")
    dtype = np.dtype(getattr(jnp, name))
    bits = 4 if "4" in name and name.lstrip("u").startswith(("int4", "float4")) else 2 if name.endswith("int2") else 8 * dtype.itemsize
    codes = np.arange(96, dtype=np.uint8) % (2 if name == "bool" else 1 << min(bits, 7))
    x = codes.astype(dtype) if bits < 8 or name == "bool" else np.resize(codes, 96 * dtype.itemsize).view(dtype)  # no NaN among them
    x = x.reshape(8, 12)[:, :11]  # of less than a byte: rows begin within one
    try:
        jnp.asarray(x).block_until_ready()
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"dtype: this JAX cannot hold {name}: {error}")
    ids = np.array([[7, 0, -1], [3, 3, -8]])
    for axis in (0, 1):
        try:
            result = np.asarray(jax.jit(lambda x, i: lj.take(x, i, axis))(x, ids))
        except lj.RUN_ERRORS as error:  # XLA 0.5 and 0.6 do so for types of less than a byte
            assert bits < 8 and "passes data without its type" in str(error)
            pytest.skip(f"dtype: this JAX passes {name} without its type")
        assert same(result, np.take(x, ids, axis))
    assert same(lj.take_along_axis(x, ids[:1, :1] * np.ones((8, 1), int), 1), np.take_along_axis(x, ids[:1, :1] * np.ones((8, 1), int), 1))
    one = 0 if name == "bool" else 1
    filled = np.asarray(lj.take(x, [0, 99], 0, mode="fill", fill_value=one))
    assert same(filled[0], x[0]) and same(filled[1], np.full(x.shape[1], one).astype(dtype))


@pytest.mark.parametrize("index", "int8 int16 int32 int64 uint8 uint16 uint32 uint64 int4 uint4".split())
def test_index_dtypes(x64, index):
    ids = np.array([3, 0, 7]).astype(getattr(jnp, index))
    assert same(jax.jit(lambda i: lj.take(X, i, 0))(ids), X[[3, 0, 7]])
    top = int(jnp.iinfo(ids.dtype).max)
    with pytest.raises(lj.RUN_ERRORS, match=rf"indices\[1\] = {top} is outside \[-7, 6\] of axis 0"):
        np.asarray(lj.take(X[:7], np.array([0, top], np.uint64).astype(ids.dtype), 0))


def test_default_fill():
    """jax.numpy's."""
    for dtype in ("float32", "int32", "uint8", "bool", "complex64", "bfloat16"):
        x = jnp.arange(3).astype(dtype)
        assert same(lj.take(x, [1, 9], mode="fill"), np.asarray(jnp.take(x, jnp.array([1, 9]), mode="fill")))


def test_without_x64():
    """int64 indices become int32 there: what that cannot represent is refused, not truncated."""
    assert not jax.config.jax_enable_x64
    assert same(lj.take(X, np.array([1, -1]), 0), X[[1, -1]])
    with pytest.raises(OverflowError, match=r"indices\[1\] = 4294967296 does not fit int32"):
        lj.take(X, np.array([1, 1 << 32]), 0)
    with pytest.raises(OverflowError):
        lj.take(X, [1 << 40], 0, mode="wrap")


# ---- errors, when a function is traced and when it runs ----


@pytest.mark.parametrize("call, error", [
    (lambda: lj.take(X, [0]), TypeError), (lambda: lj.take(X, [0], 3), libgather.GatherAxisError), (lambda: lj.take(X, [0.5], 0), libgather.GatherTypeError),
    (lambda: lj.take(X, [True], 0), libgather.GatherTypeError), (lambda: lj.take(X, [0], 0, mode="reflect"), ValueError),
    (lambda: lj.take(X, [0], 0, fill_value=1), TypeError), (lambda: lj.take(X, [0], 0, mode="fill", fill_value="a"), libgather.GatherTypeError),
    (lambda: lj.take(X.astype(np.int8), [0], 0, mode="fill", fill_value=300), libgather.GatherTypeError),
    (lambda: lj.take(X, np.zeros((9, 1), int), 1, batch_dims=1), libgather.GatherValueError),
    (lambda: lj.take(X, np.zeros((10, 1), int), 0, batch_dims=1), libgather.GatherValueError),
    (lambda: lj.take_along_axis(X, np.zeros((10, 2, 2), int), 0), libgather.GatherValueError),
    (lambda: lj.take_along_axis(X, np.zeros((10, 2), int), 0), libgather.GatherValueError),
    (lambda: lj.gather_elements(X, np.zeros((1, 4, 2), int)), libgather.GatherValueError),
    (lambda: lj.gather_nd(X, np.zeros((2, 4), int)), libgather.GatherValueError),
    (lambda: lj.take(jax.random.key(0)[None], [0]), libgather.GatherTypeError), (lambda: lj.take(["a"], [0]), TypeError)])  # fmt: skip
def test_refusals(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("call, text", [
    (lambda i: lj.take(X, i, 0), r"indices\[1, 0\] = 10 is outside \[-10, 9\] of axis 0"),
    (lambda i: lj.take(X, i, 0, negative=False), r"indices\[0, 1\] = -1 is outside \[0, 9\] of axis 0"),
    (lambda i: lj.take_along_axis(X[..., 0], jnp.tile(i, (5, 1))[:, :1], 0), r"indices\[1, 0\] = 10 is outside \[-10, 9\] of axis 0"),
    (lambda i: lj.gather_nd(X, i), r"indices\[1, 0\] = 10.* is outside \[-10, 9\] of axis 0"),
    (lambda i: lj.gather_elements(X[..., 0], i), r"indices\[1, 0\] = 10 is outside \[-10, 9\] of axis 0")])  # fmt: skip
def test_messages(call, text):
    """Position, value, range; and the program can be run again with valid indices."""
    function = jax.jit(call)
    with pytest.raises(lj.RUN_ERRORS, match=text):
        np.asarray(function(jnp.array([[2, -1], [10, 0]])))
    np.asarray(function(jnp.array([[2, 1], [3, 0]])))
    with pytest.raises(lj.RUN_ERRORS, match=text):
        np.asarray(function(jnp.array([[2, -1], [10, 0]])))
