# SPDX-License-Identifier: MIT
"""libgather.stablehlo_gather beside a loop from the specification, its example, StableHLO's own test cases, and JAX."""

import dataclasses
import importlib.util

import libgather
import numpy as np
import pytest
from libgather import GatherAxisError, GatherIndexError, GatherTypeError, GatherValueError

from support.refusal import refuses
from support.skip import skip_test
from support.stablehlo import Numbers, draw, gather, result_shape

DTYPES = ["f4", "i1", ">i4", "f8", "c16", "?", "u2", "M8[s]", "S3", ">f2"]
INDEX_DTYPES = ["i1", "i2", ">i4", "i8", "u1", ">u2", "u4", "u8"]
MODES = [None, None, "clip", "raise", "wrap", "zero", "fill"]


def call(operand, indices, n: Numbers, **options):
    return libgather.stablehlo_gather(operand, indices, **dataclasses.asdict(n), **options)


def some(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "MS":
        return rng.integers(0, 99, shape).astype("i8").astype(dtype)
    return rng.integers(0, 99, shape).astype(dtype)


def layout(rng, array):
    """The same elements with other strides."""
    kind = rng.integers(4)
    if kind == 0 or array.ndim == 0:
        return array
    if kind == 1:
        return np.asfortranarray(array)
    if kind == 2:
        return array[::-1].copy()[::-1]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


@pytest.mark.parametrize("block", range(10))
def test_random_cases(block):
    """22,000 cases: dimension numbers, dtypes, index types, layouts, policies; errors with their position, value and count."""
    rng = np.random.default_rng(500 + block)
    failed = moved = nonempty = 0
    for number in range(2200):
        shape, indices_shape, n = draw(rng)
        operand = some(rng, DTYPES[number % len(DTYPES)], shape)
        kind = np.dtype(INDEX_DTYPES[int(rng.integers(8))])
        indices = rng.integers(-4 if kind.kind == "i" else 0, 7, indices_shape).astype(kind)
        mode = MODES[int(rng.integers(len(MODES)))]
        if mode == "fill" and operand.dtype.kind in "MSb":
            mode = None
        negative = bool(rng.integers(4) == 0)
        want, bad = gather(operand, indices, n, mode or "clip", negative, 7 if mode == "fill" else np.zeros((), operand.dtype)[()])
        options = {"mode": mode, "negative": negative or None, "fill_value": 7 if mode == "fill" else None}
        inputs = layout(rng, operand), layout(rng, indices)
        if mode == "raise" and bad:
            failed += 1
            with pytest.raises(GatherIndexError) as caught:
                call(*inputs, n, **options)
            error, (spot, d) = caught.value, bad[0]
            high = shape[d] - n.slice_sizes[d]
            assert (error.position, error.value, error.axis, error.bad_count) == (spot, indices[spot], d, len(bad))
            assert (error.low, error.high) == (-high - 1 if negative else 0, high)
            continue
        out = np.empty_like(want) if number % 6 == 0 else None
        got = call(*inputs, n, out=out, **options)
        assert out is None or got is out
        assert np.shape(got) == want.shape and np.asarray(got, want.dtype).tobytes() == want.tobytes(), (n, shape, indices)
        moved += bool(bad) and mode is None
        nonempty += want.size > 1
    assert failed > 60 and moved > 250 and nonempty > 1000


EXAMPLE = Numbers([3, 4], [1], [0], [1], [2, 1], 3, [1, 1, 2, 2])
EXAMPLE_IDS = [[[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]], [[[0, 0], [2, 1], [2, 2]], [[1, 2], [0, 1], [1, 0]]]]
EXAMPLE_FIRST = [1, 3, 13, 33, 35, 41, 1, 13, 21, 43, 33, 27]  # of each window of four numbers in a row


def test_the_example_of_the_specification():
    operand = np.arange(1, 49, dtype=np.int32).reshape(2, 3, 4, 2)
    got = call(operand, EXAMPLE_IDS, EXAMPLE)
    assert got.shape == (2, 2, 3, 2, 2)
    assert got.reshape(12, 4).tolist() == [[first, first + 1, first + 2, first + 3] for first in EXAMPLE_FIRST]
    with pytest.raises(GatherIndexError, match=r"indices\[0, 1, 2, 1\] = 9, component 1 of tuple \[0, 1, 2\]"):
        call(operand, EXAMPLE_IDS, EXAMPLE, mode="raise")


# From StableHLO's own cases (Apache-2.0): operand, start_indices and dimension numbers of jax2tf's lax.gather tests, as shapes.
CASES = [
    ((5,), (2, 1), Numbers([], [0], [], [], [0], 1, [1])),
    ((10,), (3, 1), Numbers([1], [], [], [], [0], 1, [2])),
    ((10, 5), (3, 1), Numbers([1], [0], [], [], [0], 1, [1, 3])),
    ((10, 6), (3, 2), Numbers([1], [0], [], [], [0, 1], 1, [1, 3])),
    ((4, 6), (2, 2), Numbers([1], [1], [], [], [0, 1], 1, [3, 1])),
    ((2, 5, 6), (1, 2), Numbers([1, 2, 3], [], [], [], [0, 2], 1, [1, 3, 1])),
    ((1000,), (1, 1), Numbers([], [0], [], [], [0], 1, [1])),
    ((8, 2), (1,), Numbers([0, 1], [], [], [], [0], 0, [4, 2])),
    ((2, 3, 10), (2, 3, 1), Numbers([2], [], [0, 1], [0, 1], [2], 2, [1, 1, 5])),
    ((2, 3, 10), (3, 2, 1), Numbers([], [2], [0, 1], [1, 0], [2], 2, [1, 1, 1])),
    ((1, 3, 4, 2), (1,), Numbers([0, 1, 2], [0], [], [], [0], 0, [1, 3, 4, 2])),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_shapes_of_stablehlos_own_cases(case):
    """The clamp far outside, too."""
    shape, indices_shape, n = case
    rng = np.random.default_rng(1)
    operand = rng.integers(0, 999, shape).astype(np.float32)
    for spread in (3, 40):
        indices = rng.integers(-spread, spread, indices_shape).astype(np.int32)
        np.testing.assert_array_equal(call(operand, indices, n), gather(operand, indices, n)[0])


def test_beside_jax():
    """lax.gather with mode="clip", which is StableHLO's; its negative numbers are clamped too."""
    if importlib.util.find_spec("jax") is None:
        skip_test("jax", "the package is not installed")
    import jax

    rng = np.random.default_rng(3)
    compared = 0
    for case in [*CASES, *(draw(rng) for _ in range(250))]:
        shape, indices_shape, n = case
        if n.index_vector_dim == len(indices_shape):  # JAX has it as the last dimension only
            indices_shape, n = (*indices_shape, 1), dataclasses.replace(n)
        if n.index_vector_dim != len(indices_shape) - 1 or 0 in result_shape(shape, indices_shape, n) or not shape:
            continue
        operand = rng.integers(0, 999, shape).astype(np.int32)
        indices = rng.integers(-9, 9, indices_shape).astype(np.int32)
        numbers = jax.lax.GatherDimensionNumbers(
            tuple(n.offset_dims), tuple(n.collapsed_slice_dims), tuple(n.start_index_map),
            tuple(n.operand_batching_dims), tuple(n.start_indices_batching_dims))
        theirs = jax.lax.gather(operand, indices, numbers, tuple(n.slice_sizes), mode="clip")
        np.testing.assert_array_equal(call(operand, indices, n), theirs)
        compared += 1
    assert compared > 60


def test_what_does_not_fit():
    operand = np.arange(12).reshape(3, 4)
    good = Numbers([1], [0], [], [], [0, 1], 1, [1, 2])
    assert call(operand, [[1, 1]], good).tolist() == [[5, 6]]

    def refused(kind, words, indices=((1, 1),), **changes):
        refuses(kind, call, operand, indices, dataclasses.replace(good, **changes), says=words)

    refused(GatherValueError, "slice_sizes has 3 lengths", slice_sizes=[1, 2, 3])
    refused(GatherValueError, r"slice_sizes\[1\] is 5, but this dimension of data has length 4", slice_sizes=[1, 5])
    refused(GatherAxisError, r"start_index_map\[1\] = 2 is outside \[0, 1\]", start_index_map=[0, 2])
    refused(GatherAxisError, r"index_vector_dim 3 is outside \[0, 2\]", index_vector_dim=3)
    refused(GatherValueError, "is 1; start_index_map has 2", indices=[[1]])
    refused(ValueError, "offset_dims has 70 dimensions", offset_dims=range(70))
    refused(TypeError, "offset_dims", offset_dims=[1.5])
    refused(GatherTypeError, "indices must be integers", indices=[[1.0, 2.0]])
    refuses(GatherTypeError, call, np.array([None, 1]), [[0]], Numbers([], [0], [], [], [0], 1, [1]))
    refuses(TypeError, libgather.stablehlo_gather, operand, [[1, 1]])
    refuses(ValueError, call, operand, [[0, 0]], good, out=operand[:1, :2], says="overlaps")
    refuses(ValueError, call, operand, [[0, 0]], good, mode="fill", says="mode='fill' needs fill_value")


def test_scalars_and_promises():
    assert call(np.float32(3), np.zeros(0, int), Numbers()) == 3
    got = call(np.arange(5), 2, Numbers([], [0], [], [], [0], 0, [1]))
    assert got == 2 and np.ndim(got) == 0
    assert call(np.arange(5), [4, 0, 2], Numbers([], [0], [], [], [0], 1, [1]), indices_are_sorted=True).tolist() == [4, 0, 2]


def test_large_with_threads():
    rng = np.random.default_rng(4)
    operand = rng.integers(0, 255, (300, 80), dtype=np.uint8)
    indices = rng.integers(-5, 310, (4000, 2))
    n = Numbers([1, 2], [], [], [], [0, 1], 1, [2, 16])
    rows = np.clip(indices[:, 0], 0, 298)[:, None, None] + np.arange(2)[:, None]
    want = operand[rows, np.clip(indices[:, 1], 0, 64)[:, None, None] + np.arange(16)]
    for threads in (1, 3):
        np.testing.assert_array_equal(call(operand, indices, n, threads=threads), want)
