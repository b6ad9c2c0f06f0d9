# SPDX-License-Identifier: MIT
#
# quantised.py: quantised arrays in memory: rows are gathered as they are and decoded; the decoded array never exists.
"""Rows of quantised arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather._fallback import dtype_of
from libgather.errors import refuse
from libgather.table import decoded_type

_Out = TypeVar("_Out")
_ORDERS = {"low": False, "high": True}


def _lengths(lengths: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if lengths is None:
        return None
    return tuple(int(length) for length in lengths) if isinstance(lengths, Sequence) else (int(lengths),)


def _like(dtype: Any) -> np.ndarray:
    """An array without elements, of the dtype of the result."""
    return np.empty(0, dtype_of(decoded_type(dtype), "the result"))


class Quantized:
    """A quantised array in memory, whose rows are decoded when they are taken.

    Parameters
    ----------
    codec : str
        A name of libgather.codecs(), such as 'Q4_K', 'affine', 'float', 'nf4' or 'rowwise8'.
    data : array
        The codes or blocks: NumPy arrays, PyTorch tensors, or anything that supports DLPack. Bytes of blocks are uint8.
    scale, zero_point, bias, table : array, optional
        One number for each group; table: the values of the codes.
    code_type : str, optional
        The type of a code, if each element of data contains several: 'uint4', 'int4', 'float4_e2m1fn', ...
    code_bits : int
        Bits of a code, if fewer than code_type has.
    order : {'low', 'high'}
        Whether the first code of a byte is in its lowest or in its highest bits.
    shape : tuple, optional
        Shape of the values, if data is flat or has padded rows.
    group_len, group_axis : int
        The number of elements along an axis that share a scale; 0: the whole axis.
    groups : tuple, optional
        The same for each axis: (128, 128) for blocks of 128 x 128.
    flat_groups : bool
        Groups are counted through the whole array (bitsandbytes).
    scale2, scale2_divides : array, bool
        A second scale, which multiplies or divides the scale.
    scale_type, zero_point_type : str, optional
        The type of scale or zero_point, if the array has another one: 'float8_e8m0fnu' in uint8.
    code_offset : int
        Subtracted from each code.
    scale_table, scale_scale, scale_group_len, scale_offset
        Scales that are quantised: scale_table[scale] * scale_scale + scale_offset (bitsandbytes' nested scales).

    The arrays are not copied. They must not change while rows are taken. docs/use/quantised.md has examples of each layout.
    """

    def __init__(
        self,
        codec: str,
        data: Any,
        *,
        scale: Any = None,
        zero_point: Any = None,
        bias: Any = None,
        table: Any = None,
        scale2: Any = None,
        scale2_divides: bool = False,
        code_type: str | None = None,
        code_bits: int = 0,
        order: str = "low",
        shape: int | Sequence[int] | None = None,
        groups: Sequence[int] | None = None,
        group_axis: int = -1,
        group_len: int = 0,
        flat_groups: bool = False,
        scale_type: str | None = None,
        zero_point_type: str | None = None,
        code_offset: int = 0,
        scale_table: Any = None,
        scale_scale: Any = None,
        scale_group_len: int = 0,
        scale_offset: float = 0.0,
    ) -> None:
        if not isinstance(codec, str):
            raise TypeError(f"codec must be a str, not {type(codec).__name__}")
        if order not in _ORDERS:
            raise ValueError(f"order must be 'low' or 'high', not {order!r}")
        for name, what in (("code_type", code_type), ("scale_type", scale_type), ("zero_point_type", zero_point_type)):
            if what is not None and what not in _core.types():
                refuse("type_unsupported", f"{name}: unknown type {what!r}", "data")
        self._codec = codec
        self._spec = (
            codec,
            code_type,
            int(code_bits),
            _ORDERS[order],
            _lengths(shape),
            _lengths(groups),
            int(group_axis),
            int(group_len),
            bool(flat_groups),
            bool(scale2_divides),
            scale_type,
            zero_point_type,
            int(code_offset),
            int(scale_group_len),
            float(scale_offset),
            data,
            scale,
            zero_point,
            bias,
            table,
            scale2,
            scale_table,
            scale_scale,
        )
        self._shape = _core._quantized_shape(self._spec)

    @property
    def codec(self) -> str:
        """The name of the codec."""
        return self._codec

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of dimensions of the values."""
        return len(self._shape)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without dimensions")
        return self._shape[0]

    @overload
    def take(
        self,
        indices: Any,
        *,
        axis: int = 0,
        dtype: npt.DTypeLike = "float32",
        out: _Out,
        mode: str | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> _Out: ...

    @overload
    def take(
        self,
        indices: Any,
        *,
        axis: int = 0,
        dtype: npt.DTypeLike = "float32",
        out: None = None,
        mode: str | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> npt.NDArray[Any]: ...

    def take(
        self,
        indices: Any,
        *,
        axis: int = 0,
        dtype: npt.DTypeLike = "float32",
        out: Any = None,
        mode: str | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> Any:
        """Decoded rows: libgather.take() of the values, of which only these rows are decoded.

        dtype is 'float32', 'float16' or 'bfloat16'. The other arguments, and the errors, are those of libgather.take().
        """
        return _core._take_quantized(
            self._spec,
            _like(dtype),
            indices,
            axis=axis,
            out=out,
            mode=mode,
            fill_value=fill_value,
            negative=negative,
            threads=threads,
        )

    def __getitem__(self, indices: Any) -> npt.NDArray[Any]:
        """take(indices) along the first axis, as float32."""
        return self.take(indices)

    @overload
    def dequantize(self, dtype: npt.DTypeLike = "float32", *, out: _Out, threads: int | None = None) -> _Out: ...

    @overload
    def dequantize(self, dtype: npt.DTypeLike = "float32", *, out: None = None, threads: int | None = None) -> npt.NDArray[Any]: ...

    def dequantize(self, dtype: npt.DTypeLike = "float32", *, out: Any = None, threads: int | None = None) -> Any:
        """All values: an array of 'float32', 'float16' or 'bfloat16'."""
        return _core._dequantize(self._spec, _like(dtype), out, threads)

    def __repr__(self) -> str:
        return f"<libgather.Quantized {self._codec}, {self._shape}>"
