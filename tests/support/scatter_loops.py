# SPDX-License-Identifier: MIT
#
# scatter_loops.py: what the operators that write mean: one loop over the updates, written from include/gather/scatter.h and the documents and
# not from the engine. Slow, element by element.
"""The oracle of scatters, gradients and bags."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

HALVES = ("float16", "bfloat16")
REDUCTIONS = ("none", "add", "sub", "mul", "min", "max", "mean")


@dataclass(frozen=True)
class Bad:
    """The fields of an error about an index: out of range, or repeated."""

    position: tuple[int, ...]
    value: int
    axis: int
    low: int | None = None
    high: int | None = None
    bad_count: int | None = None
    first_position: tuple[int, ...] | None = None


# ---- which place an index selects ------------------------------------------------------------------------------------


def place_of(value: int, n: int, mode: str, negative: bool) -> tuple[int | None, bool]:
    """The place (None: nothing is written) and whether the index is out of range."""
    if 0 <= value < n:
        return value, False
    if negative and -n <= value < 0:
        return value + n, False
    if mode == "clip" and n:
        return (0 if value < 0 else n - 1), True
    if mode == "wrap" and n:
        return value % n, True
    return None, True


def resolve(indices: np.ndarray, axis_of: Callable[[tuple], int], shape: tuple, mode: str, negative: bool) -> np.ndarray | Bad:
    """Each number as a place; -1: nothing is written. axis_of: the axis that the number at a position selects on."""
    found = np.full(indices.shape, -1, np.int64)
    wrong, count = [], 0
    for at in np.ndindex(indices.shape):
        n = shape[axis_of(at)]
        place, out = place_of(int(indices[at]), n, mode, negative)
        found[at] = -1 if place is None else place
        count += out
        if out and (mode == "raise" or (mode != "skip" and n == 0)):
            wrong.append(at)
    if not wrong:
        return found
    at, axis = wrong[0], axis_of(wrong[0])
    low = -shape[axis] if negative else 0
    return Bad(at, int(indices[at]), axis, low, shape[axis] - 1, count)


def destinations(kind: str, shape: tuple, places: np.ndarray, updates_shape: tuple, axis: int) -> Iterator[tuple[tuple, tuple, tuple]]:
    """(position in updates, coordinates in data, position in indices) of each update in row-major order; without what is skipped."""
    for at in np.ndindex(updates_shape):
        if kind == "scatter":
            ids = at[axis : axis + places.ndim]
            place, where = (int(places[ids]),), None
            where = at[:axis] + place + at[axis + places.ndim :]
        elif kind == "scatter_elements":
            ids, place = at, (int(places[at]),)
            where = at[:axis] + place + at[axis + 1 :]
        else:
            ids = at[: places.ndim - 1]
            place = tuple(int(n) for n in places[ids])
            where = place + at[places.ndim - 1 :]
        if -1 not in place:
            yield at, where, ids


def updates_shape(kind: str, shape: tuple, indices_shape: tuple, axis: int) -> tuple:
    if kind == "scatter":
        return shape[:axis] + indices_shape + shape[axis + 1 :]
    return indices_shape if kind == "scatter_elements" else indices_shape[:-1] + shape[indices_shape[-1] :]


def repeated(kind: str, indices: np.ndarray, places: np.ndarray, axis: int) -> Bad | None:
    """The first index that selects the same place as an earlier one."""
    seen: dict[tuple, tuple] = {}
    for at in np.ndindex(places.shape[:-1] if kind == "scatter_nd" else places.shape):
        place = tuple(np.atleast_1d(places[at]).tolist())
        if -1 in place:
            continue
        key = at[:axis] + place + at[axis + 1 :] if kind == "scatter_elements" else place
        if key in seen:
            more = (0,) if kind == "scatter_nd" else ()
            value = int(indices[at + more]) if places.shape[-1:] != (0,) else 0
            return Bad(at + more, value, 0 if kind == "scatter_nd" else axis, first_position=seen[key] + more)
        seen[key] = at
    return None


# ---- what an update does ----------------------------------------------------------------------------------------------


def wide_type(dtype: np.dtype, accumulate: str | None) -> np.dtype:
    """In which sums are computed."""
    if accumulate != "steps" and dtype.name in HALVES:
        return np.dtype(np.float32)
    return np.dtype(np.float64) if accumulate == "wide" and dtype.name == "float32" else dtype


def neutral(reduction: str, dtype: np.dtype) -> Any:
    if reduction in ("add", "sub", "mean"):
        return dtype.type(0)
    if reduction == "mul":
        return dtype.type(1)
    if dtype.kind == "b":
        return reduction == "min"
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max if reduction == "min" else np.iinfo(dtype).min)
    return dtype.type(np.inf if reduction == "min" else -np.inf)


def _least(a: Any, b: Any) -> Any:
    return a if a != a else b if b != b or b < a else a


def _most(a: Any, b: Any) -> Any:
    return a if a != a else b if b != b or b > a else a


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "min": _least, "max": _most, "mean": lambda a, b: a + b,
}  # fmt: skip
LOGIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a | b, "max": lambda a, b: a | b, "mul": lambda a, b: a & b, "min": lambda a, b: a & b, "sub": lambda a, b: a ^ b,
}  # fmt: skip


def divide(value: Any, count: int, wide: np.dtype) -> Any:
    """Integers are rounded down; complex numbers are divided by parts."""
    if wide.kind in "iu":
        return value // wide.type(count)
    if wide.kind != "c":
        return wide.type(value / wide.type(count))
    part = value.real.dtype.type
    return wide.type(complex(value.real / part(count), value.imag / part(count)))


def combine(old: Any, news: list, reduction: str, dtype: np.dtype, accumulate: str | None, use_init_val: bool) -> Any:
    """An element after its updates, in order."""
    if reduction == "none":
        return news[-1]
    step = (LOGIC if dtype.kind == "b" else STEPS)[reduction]
    exact = reduction in ("min", "max")
    wide = dtype if exact else wide_type(dtype, accumulate)
    value = wide.type(old if use_init_val else neutral(reduction, dtype))
    with np.errstate(all="ignore"):
        for new in news:
            value = wide.type(step(value, wide.type(new)))
        if reduction == "mean":
            value = divide(value, len(news) + use_init_val, wide)
        return np.asarray(value).astype(dtype)[()]


# ---- the operators ----------------------------------------------------------------------------------------------------


def scatter(
    kind: str, data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, axis: int = 0, reduction: str = "none", mode: str = "raise",
    negative: bool = True, unique: bool = False, use_init_val: bool = True, accumulate: str | None = None,
) -> np.ndarray | Bad:  # fmt: skip
    """kind: 'scatter', 'scatter_elements' or 'scatter_nd'."""
    axis = axis + data.ndim if axis < 0 else axis
    axis_of = (lambda at: at[-1]) if kind == "scatter_nd" else (lambda at: axis)
    places = resolve(indices, axis_of, data.shape, mode, negative)
    if isinstance(places, Bad):
        return places
    again = repeated(kind, indices, places, axis) if unique else None
    if again is not None:
        return again
    news: dict[tuple, list] = {}
    for at, where, _ in destinations(kind, data.shape, places, updates.shape, axis):
        news.setdefault(where, []).append(updates[at])
    out = data.copy()
    for where, mine in news.items():
        out[where] = combine(data[where], mine, reduction, data.dtype, accumulate, use_init_val)
    return out


def backward(op: str, grad: np.ndarray, indices: np.ndarray, shape: tuple, axis: int, mode: str, negative: bool, start: Any = None) -> Any:
    """The gradient of a gather without batch dimensions, which writes what it has read. op: 'take', 'elements' or 'nd'."""
    kind = {"take": "scatter", "elements": "scatter_elements", "nd": "scatter_nd"}[op]
    start = np.zeros(shape, grad.dtype) if start is None else start
    return scatter(kind, start, indices, grad, axis=axis, reduction="add", mode="skip" if mode in ("zero", "fill") else mode, negative=negative)


def bag(
    table: np.ndarray, ids: np.ndarray, bounds: list, *, weights: np.ndarray | None = None, reduction: str = "sum", default_index: int = -1,
    accumulate: str | None = None,
) -> np.ndarray:  # fmt: skip
    """Bag i has ids[bounds[i]:bounds[i + 1]], which are in range, or -1: left out."""
    out = np.zeros((len(bounds) - 1, *table.shape[1:]), table.dtype)
    name = {"sum": "add", "mean": "mean", "max": "max"}[reduction]
    wide = wide_type(table.dtype, accumulate)
    for i, (first, last) in enumerate(zip(bounds, bounds[1:])):
        mine = [j for j in range(first, last) if ids[j] >= 0]
        if not mine and first == last and default_index >= 0:
            out[i] = table[default_index]
        for at in np.ndindex(table.shape[1:]) if mine else ():
            news = [wide.type(table[(ids[j], *at)]) for j in mine]
            if weights is not None:
                news = [wide.type(new * wide.type(weights[j])) for new, j in zip(news, mine)]
            out[(i, *at)] = fold(news, name, wide).astype(table.dtype)[()]
    return out


def fold(news: list, name: str, wide: np.dtype) -> np.ndarray:
    """A bag's element: the first row, and the others in order."""
    value = news[0]
    with np.errstate(all="ignore"):
        for new in news[1:]:
            value = wide.type(STEPS[name](value, new))
        if name == "mean":
            value = divide(value, len(news), wide)
    return np.asarray(value, wide)
