# SPDX-License-Identifier: MIT
#
# _fallback.py: what the extension leaves to NumPy: elements that are more than their bytes, masks, fill values, and results for
# libraries that take tensors through from_dlpack alone.
"""Gathers of Python objects, strings of variable size and masked arrays; fill values; DLPack results."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from libgather import _core
from libgather.errors import GatherTypeError


def _is_masked(x: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(x, masked.MaskedArray)


def _by_position(function: Any, x: np.ndarray, indices: Any, out: Any, mode: str | None, fill_value: Any, options: dict) -> Any:
    """The engine says which element goes where; NumPy moves it, since it knows what an element owns."""
    positions = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    where = np.asarray(function(positions, indices, mode=mode, fill_value=None if fill_value is None else -1, **options))
    if mode is None and (options.get("rules") or "").startswith("openvino-8"):
        raise GatherTypeError(f"{options['rules']} gives zeros for bad indices, which dtype {x.dtype} has none of", input="data")
    if mode == "zero":
        raise GatherTypeError(f"mode='zero' has no meaning for dtype {x.dtype}: use mode='fill'", input="data")
    filled = where < 0
    result = x.reshape(-1)[np.where(filled, 0, where)] if x.size else np.empty(where.shape, x.dtype)
    if filled.any():
        result[filled] = fill_value
    if out is None:
        return result if result.ndim else result[()]
    _write(out, result)
    return out


def _write(out: Any, result: np.ndarray) -> None:
    if not isinstance(out, np.ndarray) or out.dtype != result.dtype or out.shape != result.shape:
        raise GatherTypeError(f"out must be an array of dtype {result.dtype} and shape {result.shape}", input="output")
    out[...] = result


def _masked(function: Any, x: Any, indices: Any, out: Any, options: dict) -> Any:
    """Data and mask, each gathered. A filled element is not masked."""
    if out is not None:
        raise GatherTypeError("out= does not go with a masked array", input="output")
    data = function(x.data, indices, **options)
    if x.mask is np.ma.nomask:
        return x.__array_wrap__(np.asarray(data)) if np.ndim(data) else data
    if options.get("mode") == "fill":
        options = {**options, "fill_value": False}
    mask = function(np.ma.getmaskarray(x), indices, **options)
    if np.ndim(data) == 0:
        return np.ma.masked if mask else data
    return np.ma.MaskedArray(data, mask=mask, fill_value=x.fill_value)


def _call(function: Any, x: Any, indices: Any, options: dict) -> Any:
    out = options.pop("out", None)
    if _is_masked(x):
        return _masked(function, x, indices, out, options)
    mode, fill_value = options.pop("mode", None), options.pop("fill_value", None)
    return _by_position(function, np.asarray(x), indices, out, mode, fill_value, options)


def take(x: Any, indices: Any, /, **options: Any) -> Any:
    return _call(_core.take, x, indices, options)


def take_along_axis(x: Any, indices: Any, /, **options: Any) -> Any:
    return _call(_core.take_along_axis, x, indices, options)


def gather_elements(x: Any, indices: Any, /, **options: Any) -> Any:
    return _call(_core.gather_elements, x, indices, options)


# ---- fill values -------------------------------------------------------------------------------------------------------


def fill_array(dtype: np.dtype, value: Any) -> np.ndarray:
    """fill_value as one element. What the dtype cannot hold is an error, where NumPy would cut it off."""
    try:
        with np.errstate(all="ignore"):
            element = np.array(value).astype(dtype) if isinstance(value, np.ndarray | np.generic) else np.array(value, dtype)
    except (OverflowError, ValueError, TypeError) as error:
        raise GatherTypeError(f"fill_value {value!r} is no {dtype}: {error}", status="type_mismatch", input="data") from None
    if element.ndim or not _holds(element, value):
        raise GatherTypeError(f"fill_value {value!r} is no {dtype}", status="type_mismatch", input="data")
    return element


def _holds(element: np.ndarray, value: Any) -> bool:
    """Whether the value came through whole, where that is a question: rounding to a coarser float is none."""
    kind = element.dtype.kind
    if kind in "SU":
        return element[()] == value or not isinstance(value, str | bytes)
    if kind not in "biu" or not isinstance(value, int | float | complex | np.generic):
        return True
    return bool(element[()] == value)


def fill_tensor(x: Any, value: Any) -> Any:
    """fill_value as one element of x's library."""
    full = getattr(x, "new_full", None)
    if full is None:
        like = np.asarray(x[:0]) if hasattr(x, "__array__") else None
        if like is None:
            raise GatherTypeError(f"no fill_value for {type(x).__name__}", status="type_unsupported", input="data")
        return fill_array(like.dtype, value)
    try:
        element = full((1,), value)
    except (RuntimeError, OverflowError, ValueError, TypeError) as error:
        raise GatherTypeError(f"fill_value {value!r} is no {x.dtype}: {error}", status="type_mismatch", input="data") from None
    if not (element.is_floating_point() or element.is_complex()) and element.item() != value:
        raise GatherTypeError(f"fill_value {value!r} is no {x.dtype}", status="type_mismatch", input="data")
    return element


# ---- results for other libraries ---------------------------------------------------------------------------------------


class _Exported:
    """Memory of ours that another library takes over through from_dlpack."""

    def __init__(self, array: np.ndarray, shape: tuple[int, ...], code: int, bits: int, lanes: int) -> None:
        self._arguments = (array, shape, code, bits, lanes)

    def __dlpack__(self, **_: Any) -> Any:
        return _core._capsule(*self._arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def _importer(x: Any) -> Any:
    """The from_dlpack of x's library; None where it has none that can be found."""
    namespace = getattr(x, "__array_namespace__", None)
    if namespace is not None:
        return getattr(namespace(), "from_dlpack", None)
    module = sys.modules.get(type(x).__module__.partition(".")[0])
    return getattr(module, "from_dlpack", None)


def hand_over(x: Any, array: np.ndarray, shape: tuple[int, ...], code: int, bits: int, lanes: int) -> Any:
    importer = _importer(x)
    if importer is None:
        raise GatherTypeError(
            f"the library of {type(x).__name__} has no from_dlpack to make a result with: pass out=", input="data"
        )
    return importer(_Exported(array, shape, code, bits, lanes))
