# SPDX-License-Identifier: MIT
"""StableHLO's gather once more, from its specification, one element of the result at a time; and random dimension numbers."""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Numbers:
    offset_dims: list[int] = field(default_factory=list)
    collapsed_slice_dims: list[int] = field(default_factory=list)
    operand_batching_dims: list[int] = field(default_factory=list)
    start_indices_batching_dims: list[int] = field(default_factory=list)
    start_index_map: list[int] = field(default_factory=list)
    index_vector_dim: int = 0
    slice_sizes: list[int] = field(default_factory=list)

    @property
    def dropped(self) -> set[int]:
        return {*self.collapsed_slice_dims, *self.operand_batching_dims}


def result_shape(shape, indices_shape, n: Numbers) -> tuple[int, ...]:
    batch = [length for d, length in enumerate(indices_shape) if d != n.index_vector_dim]
    window = [length for d, length in enumerate(n.slice_sizes) if d not in n.dropped]
    rank = len(batch) + len(window)
    return tuple(window.pop(0) if d in n.offset_dims else batch.pop(0) for d in range(rank))


def place(number: int, places: int, policy: str, negative: bool) -> tuple[int | None, bool]:
    """Where a window begins (None: filled), and whether the number is out of range."""
    if negative and -places <= number < 0:
        number += places
    if 0 <= number < places:
        return number, False
    if policy in ("zero", "fill"):
        return None, True
    return (number % places if policy == "wrap" else min(max(number, 0), places - 1)), True


def gather(operand, indices, n: Numbers, policy="clip", negative=False, fill=0):
    """The result, and the places in start_indices of numbers out of range, tuple by tuple."""
    shape = result_shape(operand.shape, indices.shape, n)
    result, bad = np.empty(shape, operand.dtype), []
    k, plain = len(n.start_index_map), n.index_vector_dim == indices.ndim
    batch_shape = [length for d, length in enumerate(indices.shape) if d != n.index_vector_dim]
    starts = {}
    for b in np.ndindex(*batch_shape):
        starts[b] = []
        for j in range(k):
            spot = b if plain else (*b[: n.index_vector_dim], j, *b[n.index_vector_dim :])
            d = n.start_index_map[j]
            start, out_of_range = place(int(indices[spot]), operand.shape[d] - n.slice_sizes[d] + 1, policy, negative)
            starts[b].append(start)
            if out_of_range:
                bad.append((spot, d))
    for r in np.ndindex(*shape):
        b = tuple(i for d, i in enumerate(r) if d not in n.offset_dims)
        offsets = [r[d] for d in n.offset_dims]
        if None in starts[b]:
            result[r] = fill
            continue
        at = []
        for d in range(operand.ndim):
            full = starts[b][n.start_index_map.index(d)] if d in n.start_index_map else 0
            if d in n.operand_batching_dims:
                of_indices = n.start_indices_batching_dims[n.operand_batching_dims.index(d)]
                full += b[of_indices - (of_indices >= n.index_vector_dim)]
            at.append(full + (0 if d in n.dropped else offsets.pop(0)))
        result[r] = operand[tuple(at)]
    return result, bad


def destinations(shape, indices, updates_shape, n: Numbers, whole_windows: bool):
    """Of a scatter, (position in updates, coordinates in inputs) of each update that is in bounds, in row-major order. n: as a gather has them,
    slice_sizes being the windows' lengths."""
    plain = n.index_vector_dim == indices.ndim
    inner = [d for d in range(len(shape)) if d not in n.dropped]
    for at in np.ndindex(*updates_shape):
        batch = tuple(i for d, i in enumerate(at) if d not in n.offset_dims)
        start, window = [0] * len(shape), [0] * len(shape)
        for j, d in enumerate(n.start_index_map):
            start[d] = int(indices[batch if plain else (*batch[: n.index_vector_dim], j, *batch[n.index_vector_dim :])])
        for d, b in zip(n.operand_batching_dims, n.start_indices_batching_dims):
            start[d] = batch[b - (b >= n.index_vector_dim)]
        for d, o in zip(inner, n.offset_dims):
            window[d] = at[o]
        fits = all(0 <= s <= length - size for s, length, size in zip(start, shape, n.slice_sizes))
        where = tuple(s + w for s, w in zip(start, window))
        if all(0 <= i < length for i, length in zip(where, shape)) and (fits or not whole_windows):
            yield at, where


def draw(rng) -> tuple[tuple[int, ...], tuple[int, ...], Numbers]:
    """The shapes of operand and start_indices, and dimension numbers that fit."""
    n = Numbers()
    batch = [int(rng.integers(1, 4)) if rng.integers(20) else 0 for _ in range(rng.integers(0, 4))]
    free = [int(b) for b in rng.permutation(len(batch))]
    shape, paired = [], []
    for d in range(rng.integers(0, 5)):
        role = rng.integers(5)
        if role == 0 and free:
            paired.append(free.pop())
            n.operand_batching_dims.append(d)
            shape.append(batch[paired[-1]])
            n.slice_sizes.append(min(1, shape[-1]))
            continue
        shape.append(int(rng.integers(1, 6)))
        if role <= 2:
            n.collapsed_slice_dims.append(d)
            n.slice_sizes.append(1)
        else:
            n.slice_sizes.append(int(rng.integers(1, shape[-1] + 1)) if rng.integers(15) else 0)
    others = [d for d in range(len(shape)) if d not in n.operand_batching_dims]
    count = int(rng.integers(0 if rng.integers(10) == 0 else min(1, len(others)), len(others) + 1))
    n.start_index_map = [int(d) for d in rng.permutation(others)[:count]]
    plain = count == 1 and rng.integers(2) == 0
    n.index_vector_dim = len(batch) if plain else int(rng.integers(len(batch) + 1))
    indices_shape = batch if plain else [*batch[: n.index_vector_dim], count, *batch[n.index_vector_dim :]]
    n.start_indices_batching_dims = [b + (not plain and b >= n.index_vector_dim) for b in paired]
    windows = len(shape) - len(n.dropped)
    n.offset_dims = sorted(int(d) for d in rng.permutation(len(batch) + windows)[:windows])
    return tuple(shape), tuple(indices_shape), n
