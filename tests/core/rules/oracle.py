# SPDX-License-Identifier: MIT
#
# oracle.py: what the documents say, written with NumPy and plain loops, from the documents and not from the engine.
# It works on positions: the answer of gather() says for each output element which data element it is, or -1 for "filled".
"""The independent oracle."""
from dataclasses import dataclass, field

import numpy as np

import tuples
from tables import (
    BAD_CLAMP,
    BAD_DEFAULT,
    BAD_ERROR,
    BAD_FILL,
    BAD_WRAP,
    BAD_ZERO,
    FAMILY_GATHER,
    FAMILY_ND,
    NEGATIVE_DEFAULT,
    NEGATIVE_ON,
    OFF_AXIS_AT_MOST,
    OFF_AXIS_EQUAL,
    Op,
)


@dataclass
class Answer:
    """What a call must do."""

    status: str = "ok"
    positions: np.ndarray | None = None  # of data elements, -1 = filled; in the output's shape
    bad_count: int = 0
    first: tuple[int, ...] = ()
    value: int = 0
    axis: int = -1  # on which that value selects
    low: int = 0
    high: int = 0
    extra: dict = field(default_factory=dict)


def normal_axis(op: Op, rank: int, axis: int) -> int | None:
    return axis + rank if -rank <= axis < 0 else axis if 0 <= axis < rank else None


def normal_batch_dims(op: Op, data_rank: int, index_rank: int, axis: int, batch_dims: int) -> int | None:
    """batch_dims counted from 0, None where it is illegal. Below 0 it counts from the rank of the indices."""
    if not op.batch_dims:
        return 0 if batch_dims == 0 else None
    b = batch_dims + index_rank if batch_dims < 0 else batch_dims
    return b if 0 <= b <= min(data_rank, index_rank) and b <= axis else None


def output_shape(op: Op, data: tuple, indices: tuple, axis: int, batch_dims: int) -> tuple[str, tuple]:
    """The status and the shape, with complaints in the documented order: ranks, axis, batch_dims, shapes."""
    r, q = len(data), len(indices)
    if op.family == FAMILY_ND:
        return tuples.output_shape(op, data, indices, axis, batch_dims)
    if r == 0 or (op.family != FAMILY_GATHER and q != r):
        return "rank_mismatch", ()
    a = normal_axis(op, r, axis)
    if a is None:
        return "axis_out_of_range", ()
    b = normal_batch_dims(op, r, q, a, batch_dims)
    if b is None:
        return "batch_dims_out_of_range", ()
    if op.family == FAMILY_GATHER:
        if data[:b] != indices[:b]:
            return "shape_mismatch", ()
        shape = data[:a] + indices[b:] + data[a + 1 :]
        return ("unsupported", ()) if len(shape) > 64 else ("ok", shape)
    for d in range(r):
        if d == a:
            continue
        if op.off_axis == OFF_AXIS_EQUAL and indices[d] != data[d]:
            return "shape_mismatch", ()
        if op.off_axis == OFF_AXIS_AT_MOST and indices[d] > data[d]:
            return "shape_mismatch", ()
    return "ok", indices


def selected_axes(op: Op, data: tuple, indices: tuple, axis: int, batch_dims: int) -> list[int]:
    """The axes on which the numbers of an index select, in turn; [] where the shapes are illegal."""
    if op.family != FAMILY_ND:
        a = normal_axis(op, len(data), axis)
        return [] if a is None else [a]
    if tuples.output_shape(op, data, indices, axis, batch_dims)[0] != "ok":
        return []
    return [batch_dims + component for component in range(indices[-1])]


def resolve_one(value: int, n: int, negative: bool, policy: int) -> tuple[int, bool]:
    """The row an index means (-1 = filled) and whether it was out of range."""
    if negative and -n <= value < 0:
        return value + n, False
    if 0 <= value < n:
        return value, False
    if policy == BAD_CLAMP and n > 0:
        return (0 if value < 0 else n - 1), True
    if policy == BAD_WRAP and n > 0:
        return value % n, True
    return -1, True


def coordinates(i: int, shape: tuple) -> tuple[int, ...]:
    """Position i in row-major order as coordinates."""
    found = []
    for n in reversed(shape):
        found.append(i % n)
        i //= n
    return tuple(found[::-1])


def resolve(answer: Answer, values: np.ndarray, shape: tuple, axes: list[int], negative: bool, policy: int) -> np.ndarray:
    """Rows for every index, in row-major order, with the complaint about the bad ones. axes: of data's shape, for the numbers of
    an index in turn."""
    rows = np.zeros(values.size, dtype=np.int64)
    cannot_repair = 0 in [shape[axis] for axis in axes] and policy in (BAD_CLAMP, BAD_WRAP)
    named = False
    for i, value in enumerate(values.ravel()):
        axis = axes[i % len(axes)]
        rows[i], bad = resolve_one(int(value), shape[axis], negative, policy)
        if bad and not named and (shape[axis] == 0 or not cannot_repair):  # of a policy that repairs, the first that it cannot
            named = True
            answer.first, answer.value, answer.axis = coordinates(i, values.shape), int(value), axis
            answer.low, answer.high = (-shape[axis] if negative else 0), shape[axis] - 1
        answer.bad_count += bad
    if answer.bad_count and (policy == BAD_ERROR or cannot_repair):
        answer.status = "index_out_of_range"
    return rows.reshape(values.shape)


def take(positions: np.ndarray, rows: np.ndarray, axis: int) -> np.ndarray:
    """numpy.take with -1 for filled rows, also along an axis without elements."""
    shape = positions.shape[:axis] + rows.shape + positions.shape[axis + 1 :]
    if positions.shape[axis] == 0 or 0 in shape:
        return np.full(shape, -1, dtype=np.int64)
    picked = np.take(positions, np.maximum(rows, 0), axis=axis)
    filled = np.broadcast_to((rows < 0).reshape((1,) * axis + rows.shape + (1,) * (positions.ndim - axis - 1)), picked.shape)
    return np.where(filled, -1, picked)


def gather_positions(positions: np.ndarray, rows: np.ndarray, axis: int, b: int) -> np.ndarray:
    """Gather: the batch dimensions are looped over, the rest is numpy.take."""
    shape = positions.shape[:axis] + rows.shape[b:] + positions.shape[axis + 1 :]
    result = np.empty(shape, dtype=np.int64)
    for batch in np.ndindex(positions.shape[:b]):
        result[batch] = take(positions[batch], rows[batch], axis - b)
    return result


def element_positions(positions: np.ndarray, rows: np.ndarray, axis: int) -> np.ndarray:
    """GatherElements: numpy.take_along_axis on the data cropped to the indices' sizes off the axis."""
    if 0 in rows.shape or positions.shape[axis] == 0:
        return np.full(rows.shape, -1, dtype=np.int64)
    # NumPy's take_along_axis stops at 63 dimensions: those of length 1 need not take part.
    kept = [d for d in range(positions.ndim) if d == axis or positions.shape[d] != 1]
    shape, axis = rows.shape, kept.index(axis)
    positions = positions.reshape([positions.shape[d] for d in kept])
    rows = rows.reshape([rows.shape[d] for d in kept])
    crop = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(rows.shape))
    picked = np.take_along_axis(positions[crop], np.maximum(rows, 0), axis=axis)
    return np.where(rows < 0, -1, picked).reshape(shape)


def gather(op: Op, data_shape, values: np.ndarray, axis=0, batch_dims=0, on_bad=0, negative=0) -> Answer:
    """What `op` does with data of that shape and these index values (an object or integer array)."""
    data_shape = tuple(data_shape)
    status, shape = output_shape(op, data_shape, tuple(values.shape), axis, batch_dims)
    answer = Answer(status=status)
    if status != "ok":
        return answer
    axes = selected_axes(op, data_shape, tuple(values.shape), axis, batch_dims)
    policy = op.on_bad if on_bad == BAD_DEFAULT else on_bad
    uses_negative = bool(op.negative) if negative == NEGATIVE_DEFAULT else negative == NEGATIVE_ON
    rows = resolve(answer, values, data_shape, axes, uses_negative, policy)
    if answer.status != "ok":
        return answer
    assert policy in (BAD_ERROR, BAD_CLAMP, BAD_WRAP, BAD_ZERO, BAD_FILL) or answer.bad_count == 0
    positions = np.arange(int(np.prod(data_shape, dtype=np.int64)), dtype=np.int64).reshape(data_shape)
    if op.family == FAMILY_ND:
        answer.positions = tuples.positions_of(op, positions, rows, batch_dims)
    elif op.family == FAMILY_GATHER:
        b = normal_batch_dims(op, len(data_shape), values.ndim, axes[0], batch_dims)
        answer.positions = gather_positions(positions, rows, axes[0], b)
    else:
        answer.positions = element_positions(positions, rows, axes[0])
    assert answer.positions.shape == shape
    return answer
