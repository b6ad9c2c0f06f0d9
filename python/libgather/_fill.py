# SPDX-License-Identifier: MIT
#
# _fill.py: fill_value as one element of the data's type. What the type cannot represent is refused, where NumPy would truncate, wrap
# or reinterpret it; only floats are rounded, to the nearest value of the type.
"""fill_value as one element."""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from libgather.errors import refuse

_REGISTERED = 256  # dtypes of other packages have numbers from this one on


def _misfit(dtype: Any, value: Any, why: object = None) -> NoReturn:
    refuse("type_mismatch", f"fill_value {value!r} does not fit {dtype}{f': {why}' if why else ''}", "data")


def fill_array(dtype: np.dtype, value: Any) -> np.ndarray:
    """Makes an array without dimensions."""
    return _element(dtype, _plain(dtype, value))


def _plain(dtype: Any, value: Any) -> Any:
    """The value of a scalar of another library, or of an array without dimensions."""
    if isinstance(value, np.generic | str | bytes | bool | int | float | complex | tuple):
        return value
    if getattr(value, "ndim", 0) != 0 or isinstance(value, list):
        _misfit(dtype, value, "it must be one value")
    if isinstance(value, np.ndarray):
        return value[()]
    if callable(getattr(value, "item", None)):
        return value.item()
    if hasattr(type(value), "__array__"):
        return _plain(dtype, np.asarray(value))
    return operator.index(value) if hasattr(type(value), "__index__") else value


def _element(dtype: np.dtype, value: Any) -> np.ndarray:
    if isinstance(value, np.generic) and value.dtype.newbyteorder("=") == dtype.newbyteorder("="):
        return np.array(value).astype(dtype)
    if dtype.names is not None:
        return _structure(dtype, value)
    if dtype.num < _REGISTERED and dtype.kind in "MmSUV":
        return {"M": _time, "m": _time, "S": _text, "U": _text, "V": _opaque}[dtype.kind](dtype, value)
    return _number(dtype, value)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _as_number(dtype: Any, value: Any) -> Any:
    """A number, without an imaginary part if the type has none; Decimal and Fraction are kept."""
    if isinstance(value, str | bytes | tuple | np.flexible | np.datetime64 | np.timedelta64):
        _misfit(dtype, value, "it is not a number")
    if isinstance(value, np.generic) and not isinstance(value, np.number | np.bool_):
        value = float(value)  # of ml_dtypes, whose values are all float64's too
    if not hasattr(value, "real"):
        try:
            value = complex(value) if hasattr(type(value), "__complex__") else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            _misfit(dtype, value, error)
    return value


def _without_imaginary(dtype: Any, value: Any) -> Any:
    if value.imag != 0:
        _misfit(dtype, value, "it has an imaginary part")
    return value.real


def _part_fits(got: Any, value: Any, largest: Callable[[], float]) -> bool:
    """Whether a float was only rounded: range, sign and NaN were kept. largest: of the types without infinity."""
    if value != value:
        return got != got
    if got != got or (abs(value) == math.inf) != (abs(got) == math.inf):
        return False
    if got == value:
        return True
    return value != 0 and (got == 0 or (got > 0) == (value > 0)) and not abs(value) > largest()


def _largest(dtype: np.dtype) -> float:
    """Beyond it, rounding gives infinity, or, in ml_dtypes' types without one, an ordinary value."""
    if dtype.num < _REGISTERED or np.isinf(np.array(np.inf).astype(dtype).astype(float)):
        return math.inf
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).max)


def _number(dtype: np.dtype, value: Any) -> np.ndarray:
    number = _as_number(dtype, value)
    whole = dtype.kind in "biu" or dtype.name.lstrip("u").startswith("int")
    if dtype.kind != "c":
        number = _without_imaginary(dtype, number)
    try:
        known: Any = number  # to NumPy
        if not isinstance(number, np.generic | int | float | complex):
            known = int(number) if whole else float(number)
        with np.errstate(all="ignore"):
            element = np.array(known).astype(dtype) if isinstance(known, np.generic) else np.array(known, dtype)
    except (OverflowError, ValueError, TypeError) as error:
        _misfit(dtype, value, error)
    if whole:
        fits = int(element) == number
    else:  # float64 holds every value of a registered type
        got = element.astype(float)[()] if dtype.num >= _REGISTERED else element[()]
        parts = [(got.real, number.real)] + ([(got.imag, number.imag)] if dtype.kind == "c" else [])
        fits = all(_part_fits(have, want, lambda: _largest(dtype)) for have, want in parts)
    if not fits:
        _misfit(dtype, value)
    return element


# ---- everything else -------------------------------------------------------------------------------------------------


def _text(dtype: np.dtype, value: Any) -> np.ndarray:
    """str and bytes, converted to each other if ASCII. An element is padded with null characters, which are ignored."""
    if not isinstance(value, str | bytes):
        _misfit(dtype, value, "it is not text")
    try:
        if dtype.kind == "S":
            text: Any = (value.encode("ascii") if isinstance(value, str) else bytes(value)).rstrip(b"\0")
        else:
            text = (value.decode("ascii") if isinstance(value, bytes) else str(value)).rstrip("\0")
    except UnicodeError as error:
        _misfit(dtype, value, error)
    if len(text) > dtype.itemsize // (1 if dtype.kind == "S" else 4):
        _misfit(dtype, value, "it is too long")
    return np.array(text, dtype)


def _as_time(dtype: np.dtype, value: Any) -> Any:
    """A datetime64 or timedelta64 in its own unit; an integer counts the units of the type."""
    if isinstance(value, np.datetime64 if dtype.kind == "M" else np.timedelta64):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return np.array(value, np.int64).view(dtype.newbyteorder("="))[()]
    if dtype.kind == "M" and isinstance(value, str | datetime.date):
        return np.datetime64(value)
    if dtype.kind == "m" and isinstance(value, datetime.timedelta):
        return np.timedelta64(value)
    _misfit(dtype, value, f"it is not a {'date' if dtype.kind == 'M' else 'time span'}")


def _time(dtype: np.dtype, value: Any) -> np.ndarray:
    """A coarser unit must not truncate, and a finer one not overflow: converting back must give the same value."""
    try:
        time = _as_time(dtype, value)
        element = np.array(time).astype(dtype)
        back = element.astype(time.dtype)[()]
    except (OverflowError, ValueError, TypeError) as error:
        _misfit(dtype, value, error)
    if not (np.isnat(time) and np.isnat(element)) and back != time:
        _misfit(dtype, value, "its unit would truncate it, or cannot represent it")
    return element


def _opaque(dtype: np.dtype, value: Any) -> np.ndarray:
    if not isinstance(value, bytes | bytearray | memoryview | np.void) or getattr(value, "dtype", dtype).names is not None:
        _misfit(dtype, value, "it must be bytes")
    memory = bytes(value)
    if len(memory) != dtype.itemsize:
        _misfit(dtype, value, f"it has {len(memory)} bytes, an element has {dtype.itemsize}")
    return np.frombuffer(memory, dtype)[0:1].reshape(())


def _structure(dtype: np.dtype, value: Any) -> np.ndarray:
    """A tuple or another structure, field by field; one value for all of them."""
    assert dtype.names is not None and dtype.fields is not None
    if isinstance(value, np.void) and value.dtype.names is not None:
        parts: tuple = tuple(value[i] for i in range(len(value.dtype.names)))
    else:
        parts = value if isinstance(value, tuple) else (value,) * len(dtype.names)
    if len(parts) != len(dtype.names):
        _misfit(dtype, value, f"it has {len(parts)} fields, the type has {len(dtype.names)}")
    element = np.zeros((), dtype)
    for name, part in zip(dtype.names, parts):
        kind = dtype.fields[name][0]
        base, shape = kind.subdtype if kind.subdtype is not None else (kind, ())
        element[name] = _spread(base, shape, part)
    return element


def _spread(dtype: np.dtype, shape: tuple[int, ...], value: Any) -> np.ndarray:
    """A field that is an array: from an array or nested lists of that shape, or one value for all of it."""
    if not shape or not isinstance(value, list | np.ndarray):
        return np.broadcast_to(_element(dtype, _plain(dtype, value)), shape)
    if len(value) != shape[0]:
        _misfit(dtype, value, f"it has length {len(value)}, the field has {shape[0]}")
    return np.stack([_spread(dtype, shape[1:], part) for part in value])


# ---- other libraries -------------------------------------------------------------------------------------------------


def fill_tensor(x: Any, value: Any) -> Any:
    """One element of x's library."""
    full = getattr(x, "new_full", None)
    if full is None:
        like = np.asarray(x[:0]) if hasattr(x, "__array__") else None
        if like is None:
            refuse("type_unsupported", f"fill_value is not supported for {type(x).__name__}", "data")
        return fill_array(like.dtype, value)
    number = _as_number(x.dtype, _plain(x.dtype, value))
    is_complex, is_float = x.dtype.is_complex, x.dtype.is_floating_point
    if not is_complex:
        number = _without_imaginary(x.dtype, number)
    try:
        element = full((1,), number.item() if isinstance(number, np.generic) else number)
        got = element.to(float).item() if is_float else element.item()
        infinite = is_float and abs(full((1,), math.inf).to(float).item()) == math.inf
    except (RuntimeError, OverflowError, ValueError, TypeError) as error:
        _misfit(x.dtype, value, error)
    if is_float or is_complex:
        import torch

        largest = math.inf if infinite or is_complex else torch.finfo(x.dtype).max
        parts = [(got.real, number.real)] + ([(got.imag, number.imag)] if is_complex else [])
        fits = all(_part_fits(have, want, lambda: largest) for have, want in parts)
    else:
        fits = got == number
    if not fits:
        _misfit(x.dtype, value)
    return element
