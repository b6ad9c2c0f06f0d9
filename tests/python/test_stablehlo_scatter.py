# SPDX-License-Identifier: MIT
"""libgather.stablehlo_scatter beside a loop from the specification, and the specification's own example."""
from __future__ import annotations

import os

import numpy as np
import pytest

import libgather
from libgather import GatherAxisError, GatherIndexError, GatherTypeError, GatherValueError
from scatter_cases import TYPES, reductions, same, strided, values
from support import scatter_loops
from support.refusal import refuses
from support.sample import STEP
from support.stablehlo import Numbers, destinations, draw, result_shape

ROUNDS = int(os.environ.get("GATHER_TEST_EXAMPLES", "60" if STEP == 1 else "20"))


def call(inputs, indices, updates, n: Numbers, **options):
    return libgather.stablehlo_scatter(
        inputs, indices, updates, update_window_dims=n.offset_dims, inserted_window_dims=n.collapsed_slice_dims,
        input_batching_dims=n.operand_batching_dims, scatter_indices_batching_dims=n.start_indices_batching_dims,
        scatter_dims_to_operand_dims=n.start_index_map, index_vector_dim=n.index_vector_dim, **options)  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_random(dtype):
    rng = np.random.default_rng(61 + TYPES.index(dtype))
    skipped = written = 0
    for number in range(ROUNDS):
        shape, size, n = draw(rng)
        if any(shape[d] == 0 for d in n.dropped):
            continue  # a window has one element there
        updates_shape = result_shape(shape, size, n)
        inputs, updates = (np.asarray(values(rng, dtype, lengths), dtype) for lengths in (shape, updates_shape))
        indices = rng.integers(-1, max([1, *shape]) + 1, size) if number % 2 else rng.integers(0, 2, size)
        names = [name for name in reductions(dtype) if name != "mean"]
        reduction, whole = names[number % len(names)], number % 3 == 0
        news: dict[tuple, list] = {}
        for at, where in destinations(shape, indices, updates_shape, n, whole):
            news.setdefault(where, []).append(updates[at])
        want = inputs.copy()
        for where, mine in news.items():
            want[where] = scatter_loops.combine(inputs[where], mine, reduction, dtype, "steps", True)
        out = strided(rng, inputs) if number % 4 == 0 else None
        got = call(out if out is not None else inputs, indices, strided(rng, updates), n, reduction=reduction, whole_windows=whole, out=out,
                   accumulate="steps", threads=1 + number % 3)  # fmt: skip
        assert same(got, want), (inputs, indices, updates, n, reduction, whole, got, want)
        count = sum(map(len, news.values()))
        skipped, written = skipped + updates.size - count, written + count
    assert skipped and written


def test_the_example_of_the_specification():
    inputs = np.arange(1, 25, dtype=np.int64).reshape(3, 4, 2)
    indices = np.array([[[0, 2], [1, 0], [2, 1]], [[0, 1], [1, 0], [0, 9]]])
    numbers = Numbers([2, 3], [0], [], [], [1, 0], 2, [1, 2, 2])
    got = call(inputs, indices, np.ones((2, 3, 2, 2), np.int64), numbers, reduction="add")
    want = [[[1, 2], [5, 6], [7, 8], [7, 8]], [[10, 11], [12, 13], [14, 15], [16, 17]], [[18, 19], [20, 21], [21, 22], [23, 24]]]
    assert got.tolist() == want


def test_policies():
    numbers = Numbers([], [0], [], [], [0], 1, [1])
    zeros, more = np.zeros(3, int), [5, 6]
    assert call(zeros, [[7], [-1]], more, numbers).tolist() == [0, 0, 0]
    assert call(zeros, [[7], [-1]], more, numbers, mode="clip").tolist() == [6, 0, 5]
    assert call(zeros, [[7], [-1]], more, numbers, negative=True).tolist() == [0, 0, 6]
    error = refuses(GatherIndexError, call, zeros, [[1], [7]], more, numbers, mode="raise")
    assert (error.position, error.value, error.low, error.high) == ((1, 0), 7, 0, 2) and error.rules == "stablehlo-1"


def test_refused():
    numbers = Numbers([], [0], [], [], [0], 1, [1])
    refuses(GatherValueError, call, np.zeros(3), [[0]], np.zeros(2), numbers)
    refuses(GatherAxisError, call, np.zeros(3), [[0]], np.zeros(1), Numbers([], [1], [], [], [0], 1, [1]))
    refuses(GatherTypeError, call, np.zeros(3), [[0]], np.zeros(1, np.float32), numbers)
    refuses(GatherTypeError, call, np.zeros(3, object), [[0]], np.zeros(1, object), numbers)
