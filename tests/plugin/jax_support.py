# SPDX-License-Identifier: MIT
"""What the tests of libgather.jax share: JAX where it is installed, and NumPy's answer for every policy."""

from __future__ import annotations

import numpy as np
import pytest

from support.skip import needs

try:
    import jax
except ImportError:
    jax = None

needs_jax = needs("jax", jax)


@pytest.fixture
def x64():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        yield


def rows_of(indices: np.ndarray, length: int, mode: str, negative: bool) -> tuple[np.ndarray, np.ndarray]:
    """The row of each index and whether it was in range, in Python's own integers."""
    rows, valid = np.zeros(indices.shape, np.int64), np.ones(indices.shape, bool)
    for where, value in np.ndenumerate(indices):
        row = int(value)
        if mode == "wrap":
            row %= max(length, 1)
        row += length if negative and row < 0 else 0
        if mode == "clip":
            row = min(max(row, 0), length - 1)
        valid[where] = 0 <= row < length
        rows[where] = row if valid[where] else 0
    return rows, valid


def taken(x: np.ndarray, indices: np.ndarray, axis: int, mode: str, fill, negative: bool) -> np.ndarray:
    """What take returns."""
    rows, valid = rows_of(indices, x.shape[axis], mode, negative)
    if x.shape[axis] == 0:
        x = np.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    axis %= x.ndim
    out = np.array(np.take(x, rows, axis=axis))
    out[(slice(None),) * axis + (~valid,)] = fill
    return out


def along(x: np.ndarray, indices: np.ndarray, axis: int, mode: str, fill, negative: bool) -> np.ndarray:
    """What take_along_axis returns."""
    rows, valid = rows_of(indices, x.shape[axis], mode, negative)
    out = np.take_along_axis(x, rows, axis)
    return np.where(np.broadcast_to(valid, out.shape), out, np.asarray(fill).astype(x.dtype))


def same(result, wanted) -> bool:
    """Type, shape and every byte."""
    result = np.asarray(result)
    return result.dtype == wanted.dtype and result.shape == wanted.shape and result.tobytes() == np.ascontiguousarray(wanted).tobytes()
