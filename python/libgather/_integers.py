# SPDX-License-Identifier: MIT
#
# _integers.py: ids that NumPy makes no array of integers of: integers of more than 64 bits, columns with nulls, sets, dates. They become
# integers if they are, else the error says what they are, and where.
"""Ids of all kinds as integers."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Mapping, Set, ValuesView
from typing import Any, NoReturn

import numpy as np

from libgather.errors import GatherError, refuse

_KINDS = {"U": "strings", "S": "bytes", "M": "dates", "m": "time spans"}
_MAX = {np.int64: 2**63 - 1, np.uint64: 2**64 - 1}


def _refuse(message: str, position: tuple[int, ...] | None = None, value: int | None = None) -> NoReturn:
    try:
        refuse("type_unsupported", message, "indices")
    except GatherError as error:
        error.position, error.value = position, value
        raise
    raise AssertionError("unreachable")


def _at(position: tuple[int, ...]) -> str:
    """'indices[1, 2]'."""
    return f"indices[{', '.join(map(str, position))}]" if position else "indices"


def _refuse_null(position: tuple[int, ...], count: int) -> NoReturn:
    where = f" at position {', '.join(map(str, position))}" if position else ""
    what, them = (f"and {count} are null, the first", "them") if count > 1 else ("and one is null", "it")
    _refuse(f"indices must be integers, {what}{where}: fill {them} in or drop {them}", position)


def _kind(value: Any) -> str:
    """'a datetime.date', 'an int': the type of an object, as it is imported."""
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def is_masked(array: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


def refuse_masked(ids: Any) -> None:
    if is_masked(ids):
        _refuse("indices have a mask: fill or compress them first")


def _refuse_container(ids: Any) -> None:
    """Objects that NumPy takes for a single element."""
    if isinstance(ids, Mapping):
        _refuse(f"indices must be integers, not {_kind(ids)}: pass a list of its keys or of its values")
    if isinstance(ids, Set):
        _refuse(f"indices must be integers, not {_kind(ids)}, whose order is not defined: pass sorted(...) or list(...) of it")
    if isinstance(ids, ValuesView):
        _refuse(f"indices must be integers, not {_kind(ids)}: pass list(...) of it")
    if isinstance(ids, Iterator):
        _refuse(f"indices must be integers, not {_kind(ids)}, which can be read only once: pass list(...) of it")


# ---- nulls -----------------------------------------------------------------------------------------------------------


def _nulls(ids: Any) -> np.ndarray | None:
    """Which of them are null, for columns of pandas, polars and Arrow. None: it has no such notion."""
    try:
        count = getattr(ids, "null_count", None)
        if count is not None:
            if not (count() if callable(count) else count):
                return None
            return np.asarray(ids.is_null(), bool)
        isna = getattr(ids, "isna", None)
        return None if isna is None else np.asarray(isna(), bool)
    except (TypeError, ValueError, AttributeError, NotImplementedError):
        return None


def _is_null(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))


def _check_nulls(ids: Any) -> None:
    nulls = None if isinstance(ids, list | tuple | np.ndarray) else _nulls(ids)
    if nulls is not None and nulls.any():
        first = np.unravel_index(int(nulls.argmax()), nulls.shape)
        _refuse_null(tuple(map(int, first)), int(nulls.sum()))


# ---- Python's objects ------------------------------------------------------------------------------------------------


def _whole(value: Any) -> int | None:
    """The integer that an object is; None for others."""
    if isinstance(value, bool | np.bool_):
        return None
    if hasattr(value, "as_py"):  # a scalar of pyarrow
        return _whole(value.as_py())
    try:
        return operator.index(value)
    except TypeError:
        return None


def _objects_of(ids: Any) -> np.ndarray:
    """An array of the objects in it."""
    if isinstance(ids, list | tuple | np.ndarray):
        return np.array(ids, object)
    objects = np.empty((), object)
    objects[()] = ids
    return objects


def _refuse_object(position: tuple[int, ...], value: Any, flat: np.ndarray) -> NoReturn:
    plain = value.as_py() if hasattr(value, "as_py") else value
    if _is_null(plain):
        _refuse_null(position, sum(map(_is_null, flat)))
    shown = repr(float(plain)) if isinstance(plain, float | np.floating) else _kind(plain)
    _refuse(f"indices must be integers, but {_at(position)} is {shown}", position)


def _from_objects(ids: Any) -> np.ndarray:
    """Python's integers as int64, or as uint64 if they are too large for that."""
    objects = _objects_of(ids)
    flat = objects.reshape(-1)
    numbers = []
    for i, value in enumerate(flat):
        number = _whole(value)
        if number is None:
            _refuse_object(tuple(map(int, np.unravel_index(i, objects.shape))), value, flat)
        numbers.append(number)
    if isinstance(ids, np.ndarray):
        _refuse("indices must be integers, not Python objects: .astype(numpy.int64) makes integers of them")
    kind = np.int64 if min(numbers) < 0 or max(numbers) <= _MAX[np.int64] else np.uint64
    for i, number in enumerate(numbers):
        if not -(2**63) <= number <= _MAX[kind]:
            others = ", and others are negative" if 0 < number < 2**64 else ""
            position = tuple(map(int, np.unravel_index(i, objects.shape)))
            _refuse(f"indices must be integers of 64 bits, but {_at(position)} is {number}{others}", position)
    return np.array(numbers, kind).reshape(objects.shape)


def _refuse_ragged(ids: Any, depth: tuple[int, ...] = ()) -> None:
    """Lists of different lengths."""
    if not isinstance(ids, list | tuple):
        return
    lengths = [len(item) if hasattr(item, "__len__") and not isinstance(item, str | bytes) else None for item in ids]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            have = ["is a number" if count is None else f"has {count} item{'s' * (count != 1)}" for count in (length, lengths[0])]
            message = f"indices are ragged: {_at((*depth, i))} {have[0]}, and {_at((*depth, 0))} {have[1]}"
            refuse("shape_mismatch", message, "indices")
    for i, item in enumerate(ids):
        _refuse_ragged(item, (*depth, i))


# ---- all of them -----------------------------------------------------------------------------------------------------


def _name(dtype: np.dtype) -> str:
    kind = _KINDS.get(dtype.kind)
    return f"{kind} ({dtype})" if kind else str(dtype)


def integers_of(ids: Any) -> np.ndarray:
    """The ids of any container as an array of integers.

    Raises GatherTypeError with the position of the first item that is not an integer, GatherValueError for ragged lists.
    """
    found = read_integers(ids, False)
    assert found is not None
    return found


def read_integers(ids: Any, failed: bool) -> np.ndarray | None:
    """The same. failed: reading them as a tensor has raised; None = that error is the better one."""
    if failed and not isinstance(ids, list | tuple) and not hasattr(ids, "null_count"):
        return None
    _refuse_container(ids)
    refuse_masked(ids)
    _check_nulls(ids)
    try:
        array = np.asarray(ids)
    except ValueError:
        _refuse_ragged(ids)
        if failed:
            return None
        raise
    if array.dtype.kind in "iu":
        return array
    if array.size == 0 and isinstance(ids, list | tuple):
        return array.astype(np.int64)
    if array.dtype.kind != "O" and not (array.dtype.kind == "f" and isinstance(ids, list | tuple)):
        _refuse(f"indices must be integers, not {_name(array.dtype)}")
    if array.size == 0:
        _refuse("indices must be integers, not Python objects")
    return _from_objects(ids if array.ndim == 0 or isinstance(ids, list | tuple | np.ndarray) else array.tolist())
