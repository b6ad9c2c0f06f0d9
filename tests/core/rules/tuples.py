# SPDX-License-Identifier: MIT
#
# tuples.py: what the documents say of GatherND, as loops, from the documents and not from the engine; and its random shapes.
"""GatherND: the oracle and the generator."""
import math
import random

import numpy as np

from tables import MAX_RANK, TUPLES_ANY, Op


def batch_dims_of(op: Op, data_rank: int, index_rank: int, batch_dims: int) -> int | None:
    """None where it is illegal: it is a number of dimensions, and both tensors have one more."""
    if not op.batch_dims:
        return 0 if batch_dims == 0 else None
    return batch_dims if 0 <= batch_dims < min(data_rank, index_rank) else None


def output_shape(op: Op, data: tuple, indices: tuple, axis: int, batch_dims: int) -> tuple[str, tuple]:
    """The status and the shape, with complaints in the documented order."""
    r, q = len(data), len(indices)
    if r == 0 or q == 0:
        return "rank_mismatch", ()
    if axis != 0:  # the operator has no axis
        return "axis_out_of_range", ()
    b = batch_dims_of(op, r, q, batch_dims)
    if b is None:
        return "batch_dims_out_of_range", ()
    k = indices[-1]
    if not (0 if op.tuples == TUPLES_ANY else 1) <= k <= r - b or data[:b] != indices[:b]:
        return "shape_mismatch", ()
    batch = (math.prod(indices[:b]),) if op.fused_batch and b else indices[:b]
    shape = batch + indices[b:-1] + data[b + k :]
    # libgather's own limit: no document has one.
    if len(shape) > MAX_RANK or (k > 1 and r + q - 1 - b > MAX_RANK):
        return "unsupported", ()
    return "ok", shape


def positions_of(op: Op, positions: np.ndarray, rows: np.ndarray, b: int) -> np.ndarray:
    """out[t, ...] = data[t[:b], rows[t, 0], .., rows[t, k-1], ...], with -1 for every element of a tuple with a -1."""
    k = rows.shape[-1]
    result = np.full(rows.shape[:-1] + positions.shape[b + k :], -1, dtype=np.int64)
    for t in np.ndindex(rows.shape[:-1]):
        chosen = tuple(int(row) for row in rows[t])
        if result.size and min(chosen, default=0) >= 0:
            result[t] = positions[t[:b] + chosen]
    if op.fused_batch and b:
        result = result.reshape((math.prod(rows.shape[:b]),) + result.shape[b:])
    return result


# ---- shapes


def small(rng: random.Random, op: Op, small_shape) -> tuple[tuple, tuple, int, int]:
    """Shapes, axis and batch_dims of a GatherND. small_shape: the generator's."""
    kind = rng.random()
    if kind < 0.15:  # what plain index kernels are made for
        return (rng.randrange(1, 300),), (rng.randrange(1, 200), 1), 0, 0
    if kind < 0.35:  # rows of every length by pairs
        data = rng.randrange(1, 6), rng.randrange(1, 6), rng.randrange(1, 20)
        return data, (rng.randrange(1, 12), 2), 0, 0
    rank = rng.choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7))
    data = small_shape(rng, rank, 200)
    middle = small_shape(rng, rng.choice((0, 1, 1, 1, 2, 3)), 12)
    b = rng.randrange(rank) if op.batch_dims and rng.random() < 0.6 else 0
    least = 0 if op.tuples == TUPLES_ANY and rng.random() < 0.2 else 1
    indices = data[:b] + middle + (rng.randrange(least, rank - b + 1),)
    wrong = rng.random() < 0.02  # two more ways to be illegal
    return data, indices, 0, rng.choice((-1, rank)) if wrong else b


def large(rng: random.Random, packed: bool) -> tuple[tuple, tuple, int, int]:
    """Shapes of a GatherND whose work is divided, into tasks and into blocks of tuples."""
    kind = rng.randrange(4)
    if kind == 0 and not packed:
        return (rng.randrange(1, 60), rng.randrange(1, 60)), (rng.randrange(600, 4000), 2), 0, 0
    if kind == 1:
        return (rng.randrange(1, 9), rng.randrange(1, 9), rng.randrange(1, 34)), (rng.randrange(65, 400), 2), 0, 0
    if kind == 2:
        return (rng.randrange(2, 7),) * 3, (rng.randrange(9, 40), rng.randrange(2, 20), 3), 0, 0
    return (rng.randrange(2, 300), rng.randrange(1, 4)), (rng.randrange(65, 400), 1), 0, 0


def many_dims(rng: random.Random, data: list, rank: int) -> tuple[tuple, tuple, int, int]:
    """Ranks up to 64, of the output and the tuples too."""
    k = rng.randrange(1, rank + 1)
    q = rng.randrange(1, max(2, MAX_RANK + 3 - rank))
    return tuple(data), tuple(rng.choice((1, 1, 2)) if d < 3 else 1 for d in range(q - 1)) + (k,), 0, 0
