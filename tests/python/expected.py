# SPDX-License-Identifier: MIT
#
# expected.py: what a call must give, in plain Python over NumPy's own take and take_along_axis, written from the guide
# (docs/use/python.md) and not from the engine.
"""The oracle of the differential tests: the position in x of every element of the result, -1 where it is filled."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Bad:
    """The fields of the error."""

    position: tuple[int, ...]
    value: int
    low: int
    high: int
    axis: int
    bad_count: int


def one_row(value: int, n: int, negative: bool, mode: str) -> tuple[int, bool]:
    """The row that an index means (-1 = filled), and whether it was out of range."""
    if 0 <= value < n:
        return value, False
    if negative and -n <= value < 0:
        return value + n, False
    if mode == "clip" and n:
        return (0 if value < 0 else n - 1), True
    if mode == "wrap" and n:
        return value % n, True
    return -1, True


def rows(indices: np.ndarray, n: int, negative: bool, mode: str, axis: int) -> np.ndarray | Bad:
    """Every index as a row, or the error."""
    found = np.empty(indices.shape, np.int64)
    wrong = []
    for at in np.ndindex(indices.shape):
        found[at], bad = one_row(int(indices[at]), n, negative, mode)
        if bad:
            wrong.append(at)
    if wrong and (mode in ("raise", "promise") or (n == 0 and mode in ("clip", "wrap"))):
        return Bad(wrong[0], int(indices[wrong[0]]), -n if negative else 0, n - 1, axis, len(wrong))
    return found


def positions_of(shape: tuple) -> np.ndarray:
    return np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(shape)


def take(positions: np.ndarray, found: np.ndarray, axis: int, batch_dims: int) -> np.ndarray:
    """np.take, for each batch by itself."""
    if batch_dims:
        shape = positions.shape[:axis] + found.shape[batch_dims:] + positions.shape[axis + 1:]
        parts = [take(p, f, axis - 1, batch_dims - 1) for p, f in zip(positions, found)]
        return np.stack(parts) if parts else np.empty(shape, np.int64)
    if positions.shape[axis] == 0:
        return np.full(positions.shape[:axis] + found.shape + positions.shape[axis + 1:], -1)
    filled = np.zeros(positions.shape, bool).take(np.maximum(found, 0), axis)
    filled |= (found < 0).reshape((1,) * axis + found.shape + (1,) * (positions.ndim - axis - 1))
    return np.where(filled, -1, positions.take(np.maximum(found, 0), axis))


def along(positions: np.ndarray, found: np.ndarray, axis: int) -> np.ndarray:
    """np.take_along_axis; positions and rows have the same lengths off the axis."""
    if positions.shape[axis] == 0:
        return np.full(found.shape, -1)
    return np.where(found < 0, -1, np.take_along_axis(positions, np.maximum(found, 0), axis))


def broadcast_off(axis: int, x: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both with the lengths that they have in common off the axis."""
    common = list(np.broadcast_shapes(*((*a.shape[:axis], 1, *a.shape[axis + 1:]) for a in (x, indices))))
    return tuple(np.broadcast_to(a, [*common[:axis], a.shape[axis], *common[axis + 1:]]) for a in (x, indices))


def elements(x: np.ndarray, where: np.ndarray, fill: bytes) -> bytes:
    """The bytes of the result."""
    flat = x.reshape(-1)  # a copy where it has to be one; x has elements that are bytes (arrays.raw)
    return b"".join(fill if at < 0 else flat[at].tobytes() for at in where.reshape(-1))


def tuples(indices: np.ndarray, lengths: tuple, negative: bool, mode: str, batch_dims: int) -> np.ndarray | Bad:
    """Every tuple as a position in the axes that it selects on, counted through; or the error."""
    found = np.zeros(indices.shape[:-1], np.int64)
    filled = np.zeros(indices.shape[:-1], bool)
    wrong = []
    for at in np.ndindex(indices.shape):
        row, bad = one_row(int(indices[at]), lengths[at[-1]], negative, mode)
        if bad:
            wrong.append(at)
        filled[at[:-1]] |= row < 0
        found[at[:-1]] = found[at[:-1]] * lengths[at[-1]] + max(row, 0)
    stays = any(lengths[at[-1]] == 0 for at in wrong) and mode in ("clip", "wrap")
    if wrong and (mode in ("raise", "promise") or stays):
        at, n = wrong[0], lengths[wrong[0][-1]]
        return Bad(at, int(indices[at]), -n if negative else 0, n - 1, batch_dims + at[-1], len(wrong))
    return np.where(filled, -1, found)


def nd(positions: np.ndarray, found: np.ndarray, count: int, batch_dims: int) -> np.ndarray:
    """The first `count` axes after the batch dimensions as one, by the tuples' positions in it."""
    shape = positions.shape
    length = int(np.prod(shape[batch_dims : batch_dims + count], dtype=np.int64))
    return take(positions.reshape(*shape[:batch_dims], length, *shape[batch_dims + count :]), found, batch_dims, batch_dims)
