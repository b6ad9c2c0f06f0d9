# SPDX-License-Identifier: MIT
#
# scatter_cases.py: scatters by chance: shapes, indices, values of every type and layout, for the loops of support/scatter_loops.py.
"""Random cases of scatters, gradients and bags."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from support.scatter_loops import updates_shape

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NUMBERS = [np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", BFLOAT16, "f4", "f8")]
TYPES = [np.dtype("?"), *NUMBERS, np.dtype("c8"), np.dtype("c16")]
INDEX_TYPES = [np.dtype(t) for t in ("i8", "i4", "i2", "i1", ">i4", ">i8")]
KINDS = ("scatter", "scatter_elements", "scatter_nd")


def reductions(dtype: np.dtype) -> list[str]:
    """Those that the type has."""
    if dtype.kind == "c":
        return ["none", "add", "sub", "mul", "mean"]
    return ["none", "add", "sub", "mul", "min", "max"] + (["mean"] if dtype.kind != "b" else [])


def values(rng: np.random.Generator, dtype: np.dtype, shape: tuple) -> np.ndarray:
    """Elements of every kind: large ones, NaN and infinities of floats; whole ones of complex types, so that products are exact."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        return (rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True) if rng.integers(2) else rng.integers(0, 9, shape).astype(dtype)
    made = rng.standard_normal(shape) * rng.choice([1, 100, 0.001])
    odd = rng.random(shape)
    made = np.where(odd < 0.02, np.nan, np.where(odd < 0.04, np.inf, np.where(odd < 0.05, -0.0, made)))
    return made.astype(dtype)


def strided(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """The same elements in another layout."""
    kind = int(rng.integers(4)) if array.ndim else 0
    if kind == 1:
        return np.asfortranarray(array)
    if kind == 2:
        return array[::-1].copy()[::-1]
    if kind == 3:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        wide[..., 1::2] = array
        return wide[..., 1::2]
    return array


@dataclass
class Case:
    kind: str
    axis: int
    data: np.ndarray
    indices: np.ndarray
    updates: np.ndarray
    options: dict[str, Any]

    @property
    def keywords(self) -> dict[str, Any]:
        """Of the library's function."""
        return self.options if self.kind == "scatter_nd" else {"axis": self.axis, **self.options}


def _indices(rng: np.random.Generator, shape: tuple, lengths: Any, negative: bool, faults: float) -> np.ndarray:
    """lengths: of the axes that the numbers select on, which broadcasts to the shape."""
    n = np.broadcast_to(lengths, shape)
    made = np.floor(rng.random(shape) * n).astype(np.int64)
    if negative:
        made = np.where(rng.random(shape) < 0.3, made - n, made)
    return np.where(rng.random(shape) < faults, n + rng.integers(0, 3, shape), made)


def draw(rng: np.random.Generator, dtype: np.dtype, kind: str | None = None, bad: bool = False) -> Case:
    """bad: with indices out of range, which are an error; unless there are none."""
    kind = kind or KINDS[int(rng.integers(3))]
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4))))
    if rng.integers(12) == 0:
        shape = (*shape[:-1], 0)
    axis = int(rng.integers(-len(shape), len(shape)))
    on = axis % len(shape)
    negative, faults = bool(rng.integers(3)), 0.5 if bad else float(rng.choice([0, 0, 0.3]))
    lengths: Any = shape[on]
    if kind == "scatter":
        size = tuple(int(n) for n in rng.integers(0, 6, int(rng.integers(0, 3))))
    elif kind == "scatter_elements":
        size = tuple(int(rng.integers(0, 7)) if d == on else int(rng.integers(0, n + 1)) for d, n in enumerate(shape))
    else:
        k = int(rng.integers(0, len(shape) + 1))
        size, lengths, axis, on = (*(int(n) for n in rng.integers(0, 6, int(rng.integers(0, 3)))), k), np.array(shape[:k], int), 0, 0
    indices = _indices(rng, size, lengths, negative, faults).astype(INDEX_TYPES[int(rng.integers(len(INDEX_TYPES)))])
    reduction = reductions(dtype)[int(rng.integers(len(reductions(dtype))))]
    options: dict[str, Any] = {"reduction": reduction, "mode": str(rng.choice(["raise", "raise", "clip", "wrap", "skip"])), "negative": negative}
    options["mode"] = "raise" if bad else options["mode"]
    options["unique"] = bool(rng.integers(4) == 0)
    options["accumulate"] = [None, "steps", "halves", "wide"][int(rng.integers(4))]
    if kind == "scatter_elements" and reduction != "none":
        options["use_init_val"] = bool(rng.integers(3))
    data, updates = values(rng, dtype, shape), values(rng, dtype, updates_shape(kind, shape, size, on))
    return Case(kind, axis, data, indices, updates, options)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    """Bit for bit, but for the payload of NaN."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind == "c":
        return same(got.real, want.real) and same(got.imag, want.imag)
    bits = np.dtype(f"u{got.itemsize}")
    equal = np.ascontiguousarray(got).reshape(-1).view(bits) == np.ascontiguousarray(want).reshape(-1).view(bits)
    if got.dtype.kind in "fV" or got.dtype == BFLOAT16:
        equal |= ((got != got) & (want != want)).reshape(-1)
    return bool(equal.all())
