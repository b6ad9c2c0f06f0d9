# SPDX-License-Identifier: MIT
#
# model_types.py: converts elements between NumPy and the library: types without a NumPy dtype, types smaller than a byte,
# strings.
"""Values of models as NumPy arrays."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from libgather.errors import refuse

Item = tuple[str, Any, str | None, tuple[int, ...] | None]


class _Packing(NamedTuple):
    """How elements smaller than a byte are packed."""

    bits: int
    order: str
    codes: bool = False  # neither NumPy nor ml_dtypes has a dtype for it: its elements are exchanged as their bits, in uint8


_PACKED = {
    "int2": _Packing(2, "low"),
    "uint2": _Packing(2, "low"),
    "int4": _Packing(4, "low"),
    "uint4": _Packing(4, "low"),
    "float4_e2m1fn": _Packing(4, "low"),
    "float6_e2m3fn": _Packing(6, "stream"),
    "float6_e3m2fn": _Packing(6, "stream"),
    "uint1": _Packing(1, "high", True),
    "uint3": _Packing(3, "split", True),
    "uint6": _Packing(6, "split", True),
    "nf4": _Packing(4, "low", True),
}
_OF_NUMPY = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"} | {
    "float16", "float32", "float64", "complex64", "complex128"
}  # fmt: skip


def dtype_of(name: str, what: str = "a value") -> np.dtype:
    """The dtype of arrays of that type, one element per byte or more; object for strings."""
    if name in _OF_NUMPY:
        return np.dtype(name)
    if name == "string":
        return np.dtype(object)
    if name in _PACKED and _PACKED[name].codes:
        return np.dtype(np.uint8)
    try:
        import ml_dtypes
    except ImportError:
        refuse("type_unsupported", f"{what} is {name}, for which NumPy has no dtype: install ml_dtypes")
    kind = getattr(ml_dtypes, name, None)
    if kind is None:
        refuse(
            "type_unsupported", f"{what} is {name}, which ml_dtypes {ml_dtypes.__version__} does not have: update it"
        )
    return np.dtype(kind)


def is_of_numpy(name: str) -> bool:
    """Whether NumPy itself has a dtype for that type."""
    return name in _OF_NUMPY


def is_packed(name: str) -> bool:
    """Whether elements of that type are smaller than a byte."""
    return name in _PACKED


# ---- packed elements -------------------------------------------------------------------------------------------------


def _groups(codes: np.ndarray, length: int) -> np.ndarray:
    """The codes in rows of `length`, padded with zeros."""
    filled = np.zeros(-(-codes.size // length) * length, np.uint8)
    filled[: codes.size] = codes
    return filled.reshape(-1, length)


def _pack_plane(codes: np.ndarray, bits: int, first_on_top: bool) -> np.ndarray:
    """Rows of codes of 1, 2 or 4 bits, 8 / bits to a byte."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    if first_on_top:
        shifts = shifts[::-1]
    return np.bitwise_or.reduce(codes.reshape(len(codes), codes.shape[1] * bits // 8, 8 // bits) << shifts, axis=2)


def _unpack_plane(packed: np.ndarray, bits: int, first_on_top: bool) -> np.ndarray:
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    if first_on_top:
        shifts = shifts[::-1]
    return ((packed[:, :, None] >> shifts) & np.uint8((1 << bits) - 1)).reshape(
        len(packed), packed.shape[1] * 8 // bits
    )


def _pack(codes: np.ndarray, packing: _Packing) -> np.ndarray:
    """uint8 with one element each in their low bits -> the bytes as the library stores them."""
    bits = packing.bits
    if packing.order in ("low", "high"):
        return _pack_plane(_groups(codes, 8 // bits), bits, packing.order == "high").reshape(-1)
    if packing.order == "stream":
        four = _groups(codes, 4).astype(np.uint32)
        numbers = four[:, 0] | four[:, 1] << 6 | four[:, 2] << 12 | four[:, 3] << 18
        return numbers.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3].reshape(-1)
    low, high, length = (2, 1, 8) if bits == 3 else (4, 2, 4)
    rows = _groups(codes, length)
    planes = _pack_plane(rows & np.uint8((1 << low) - 1), low, True), _pack_plane(rows >> np.uint8(low), high, True)
    return np.concatenate(planes, axis=1).reshape(-1)


def _unpack(packed: np.ndarray, packing: _Packing, count: int) -> np.ndarray:
    bits = packing.bits
    if packing.order in ("low", "high"):
        return _unpack_plane(packed.reshape(-1, 1), bits, packing.order == "high").reshape(-1)[:count]
    rows = packed.reshape(-1, 3)
    if packing.order == "stream":
        numbers = rows[:, 0] | rows[:, 1].astype(np.uint32) << 8 | rows[:, 2].astype(np.uint32) << 16
        return ((numbers[:, None] >> np.arange(0, 24, 6, dtype=np.uint32)) & 63).astype(np.uint8).reshape(-1)[:count]
    low, high = (2, 1) if bits == 3 else (4, 2)
    codes = _unpack_plane(rows[:, :2], low, True) | _unpack_plane(rows[:, 2:], high, True) << np.uint8(low)
    return codes.reshape(-1)[:count]


def pack(array: np.ndarray, name: str) -> np.ndarray:
    """The elements of a packed type, one per byte, as the bytes that the library reads."""
    packing = _PACKED[name]
    codes = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
    mask = np.uint8((1 << packing.bits) - 1)
    if packing.codes and codes.size and codes.max() > mask:
        refuse("type_mismatch", f"{codes.max()} does not fit {name}, whose elements have {packing.bits} bits")
    return _pack(codes & mask, packing)


def unpack(packed: np.ndarray, name: str, shape: tuple[int, ...], what: str = "a value") -> np.ndarray:
    """The bytes of a packed type as an array with one element per byte."""
    packing = _PACKED[name]
    codes = _unpack(packed, packing, int(np.prod(shape, dtype=np.int64)))
    dtype = dtype_of(name, what)
    if name.startswith("int"):  # ml_dtypes' signed types are sign-extended to the byte
        sign = np.uint8(1 << (packing.bits - 1))
        codes = (codes ^ sign) - sign
    return codes.view(dtype).reshape(shape)


# ---- strings ---------------------------------------------------------------------------------------------------------


def _text(element: Any, name: str) -> bytes:
    if isinstance(element, bytes):
        return bytes(element)
    if isinstance(element, str):
        return element.encode()
    refuse(
        "type_unsupported",
        f"input '{name}': elements of arrays of objects must be str or bytes, not {type(element).__name__}",
    )


def _is_text(array: np.ndarray) -> bool:
    return array.dtype.kind in "SUOT"


def _from_text(name: str, array: np.ndarray) -> Item:
    return name, [_text(element, name) for element in array.reshape(-1).tolist()], "string", array.shape


# ---- whole values ----------------------------------------------------------------------------------------------------


def _is_tensor(value: Any) -> bool:
    """Whether it has its own dtype. Numbers and lists take the type that the model declares."""
    return isinstance(value, np.ndarray | np.generic) or not isinstance(
        value, int | float | complex | str | bytes | list | tuple
    )


def _typed(name: str, value: Any, declared: str | None) -> np.ndarray:
    """Numbers and lists as the type that the model declares; a value that does not fit is an error."""
    if declared == "string":
        return np.array(value, object)
    array = np.asarray(value)
    if declared is None:
        return array.astype(np.int64) if array.size == 0 and array.dtype == np.float64 else array
    dtype = dtype_of(declared, f"input '{name}'")
    if array.dtype.kind == "O":
        refuse("type_mismatch", f"input '{name}': these elements are not {declared}, which the model declares")
    if _is_text(array):
        return array
    if array.dtype.kind == "c" and dtype.kind != "c":
        refuse("type_mismatch", f"input '{name}': these elements are complex, but the model declares {declared}")
    with np.errstate(all="ignore"):
        converted = array.astype(dtype)
    exact = dtype.kind in "biu" or (declared in _PACKED and "int" in declared)
    if (
        exact
        and array.size
        and not (array.dtype.kind in "biu" and np.array_equal(converted.astype(array.dtype), array))
    ):
        refuse("type_mismatch", f"input '{name}': these elements do not all fit {declared}, which the model declares")
    return converted


def to_item(name: str, value: Any, declared: str | None) -> Item:
    """A value for the input `name` as the extension takes it. declared: the type in the model; None = none."""
    if not _is_tensor(value):
        value = _typed(name, value, declared)
    if not isinstance(value, np.ndarray | np.generic):
        return name, value, None, None  # another library's: the extension reads it in place
    masked = sys.modules.get("numpy.ma")
    if masked and isinstance(value, masked.MaskedArray):
        refuse("type_unsupported", f"input '{name}' has a mask: fill or compress it first")
    array = np.asarray(value)
    if _is_text(array):
        if declared == "string" or array.dtype.kind != "O":
            return _from_text(name, array)
        array = _typed(name, array.tolist(), declared)
        if _is_text(array):
            return _from_text(name, array)
    packed = array.dtype.name if array.dtype.name in _PACKED and array.dtype.itemsize == 1 else None
    if packed is None and array.dtype == np.uint8 and declared in _PACKED and _PACKED[declared].codes:
        packed = declared
    if packed is not None:
        return name, pack(array, packed), packed, array.shape
    return name, array, None, None


def from_item(name: str, kind: str, swapped: bool, shape: tuple[int, ...], elements: Any) -> np.ndarray:
    """An output of the extension as an array."""
    what = f"output '{name}'"
    if kind == "string":
        array = np.empty(len(elements), object)
        array[:] = elements
        return array.reshape(shape)
    if kind in _PACKED:
        return unpack(elements, kind, shape, what)
    dtype = dtype_of(kind, what)
    return elements.view(dtype.newbyteorder() if swapped else dtype).reshape(shape)
