# SPDX-License-Identifier: MIT
#
# shapes.py: what the operators return without computing it: for torch.compile, torch.export and tensors of the device "meta". Lengths may be
# symbols.
"""Fake kernels of libgather's operators."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from libgather.errors import refuse

__all__ = ["register", "values_shape"]

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64)


def _check(data: Tensor, indices: Tensor, fill_value: Tensor | None = None) -> None:
    for name, tensor in (("data", data), ("indices", indices), ("fill_value", fill_value)):
        device = "cpu" if tensor is None else tensor.device.type
        if device != "cpu" and (device != "meta" or data.device != indices.device):
            refuse("unsupported", f"{name} is on the device {device}, but libgather's operators run on the CPU", name)
    if indices.dtype not in INTEGERS:
        refuse("type_unsupported", f"indices must be integers, not {indices.dtype}", "indices")
    if fill_value is not None and fill_value.dtype != data.dtype:
        refuse("type_mismatch", "fill_value and data have different dtypes", "fill_value")


def whole_axis(axis: int, rank: int) -> int:
    """The axis counted from 0."""
    if not -rank <= axis < rank:
        refuse("axis_out_of_range", f"axis {axis} is outside [{-rank}, {rank - 1}]", "axis")
    return axis % rank


def _equal(data: Tensor, indices: Tensor, batch_dims: int) -> None:
    for d in range(batch_dims):
        torch._check(data.shape[d] == indices.shape[d], lambda: f"data and indices have different lengths on batch dimension {d}")


def whole_batch_dims(batch_dims: int, rank: int) -> int:
    """The number of batch dimensions; below 0 it counts from the rank of the indices."""
    if not -rank <= batch_dims <= rank:
        refuse("batch_dims_out_of_range", f"batch_dims {batch_dims} is outside [{-rank}, {rank}]", "indices")
    return batch_dims + rank if batch_dims < 0 else batch_dims


def _take_shape(shape: Any, data: Tensor, indices: Tensor, axis: int, batch_dims: int) -> list[Any]:
    axis = whole_axis(axis, len(shape))
    batch_dims = whole_batch_dims(batch_dims, indices.dim())
    if batch_dims > axis:
        refuse("batch_dims_out_of_range", f"batch_dims {batch_dims} is above the axis {axis}", "indices")
    return [*shape[:axis], *indices.shape[batch_dims:], *shape[axis + 1 :]]


def _take(
    data: Tensor, indices: Tensor, axis: int = 0, batch_dims: int = 0, mode: str = "raise", negative: bool = True, fill_value: Tensor | None = None
) -> Tensor:
    _check(data, indices, fill_value)
    shape = _take_shape(data.shape, data, indices, axis, batch_dims)
    _equal(data, indices, whole_batch_dims(batch_dims, indices.dim()))
    return data.new_empty(shape)


def _elements(data: Tensor, indices: Tensor, axis: int = 0, mode: str = "raise", negative: bool = True, fill_value: Tensor | None = None) -> Tensor:
    _check(data, indices, fill_value)
    if data.dim() != indices.dim():
        refuse("rank_mismatch", f"data has rank {data.dim()} and indices rank {indices.dim()}", "indices")
    axis = whole_axis(axis, data.dim())
    for d in range(data.dim()):
        if d != axis:
            torch._check(indices.shape[d] <= data.shape[d], lambda: f"indices are longer than data on dimension {d}")
    return data.new_empty(indices.shape)


def _nd(data: Tensor, indices: Tensor, batch_dims: int = 0, mode: str = "raise", negative: bool = True, fill_value: Tensor | None = None) -> Tensor:
    _check(data, indices, fill_value)
    if indices.dim() == 0 or data.dim() == 0:
        refuse("rank_mismatch", "gather_nd needs data and indices of rank 1 or more", "indices")
    count = int(indices.shape[-1])
    if not 0 <= batch_dims < indices.dim():
        refuse("batch_dims_out_of_range", f"batch_dims {batch_dims} is outside [0, {indices.dim() - 1}]", "indices")
    if batch_dims + count > data.dim():
        refuse("shape_mismatch", f"tuples of {count} numbers do not fit data of rank {data.dim()} with {batch_dims} batch dimensions", "indices")
    _equal(data, indices, batch_dims)
    return data.new_empty([*indices.shape[:-1], *data.shape[batch_dims + count :]])


def _tree(
    step_ids: Tensor, parent_ids: Tensor, max_seq_len: Tensor, end_token: Tensor, mode: str = "raise", negative: bool = False, fill_value: Tensor | None = None
) -> Tensor:
    if step_ids.dim() != 3 or parent_ids.dim() != 3:
        refuse("rank_mismatch", "step_ids and parent_ids must have rank 3", "step_ids")
    for d in range(3):
        torch._check(step_ids.shape[d] == parent_ids.shape[d], lambda: "step_ids and parent_ids have different shapes")
    return step_ids.new_empty(step_ids.shape)


def _out(kernel: Any) -> Any:
    """The fake kernel of the variant that writes `out`."""

    def fake(*args: Any, out: Tensor, **options: Any) -> Tensor:
        wanted = kernel(*args, **options)
        torch._check(wanted.dim() == out.dim(), lambda: f"output has rank {out.dim()}, not {wanted.dim()}")
        for d in range(wanted.dim()):
            torch._check(wanted.shape[d] == out.shape[d], lambda: f"output must have length {wanted.shape[d]} on dimension {d}")
        return out

    return fake


def values_shape(data: Tensor, codec: str, *layout: Any, **options: Any) -> tuple[int, ...]:
    """The shape of the values of a quantised tensor, whose lengths must be known. The tensors may be fake: only their shapes count."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    def real(value: Any) -> Any:
        # memory that nobody touches
        return torch.empty([int(n) for n in value.shape], dtype=value.dtype) if isinstance(value, Tensor) else value

    with unset_fake_temporarily():
        shape = torch.ops.libgather.quantized_shape(
            real(data), codec, *(real(value) for value in layout), **{name: real(value) for name, value in options.items()}
        )
        return tuple(shape.tolist())


def _dtype(name: str) -> torch.dtype:
    if name not in ("float32", "float16", "bfloat16"):
        refuse("type_unsupported", f"dtype must be 'float32', 'float16' or 'bfloat16', not {name!r}", "output")
    return getattr(torch, name)


def _take_quantized(
    data: Tensor,
    indices: Tensor,
    codec: str,
    dtype: str = "float32",
    axis: int = 0,
    batch_dims: int = 0,
    mode: str = "raise",
    negative: bool = True,
    *layout: Any,
    **options: Any,
) -> Tensor:
    _check(data, indices)
    shape = _take_shape(values_shape(data, codec, *layout, **options), data, indices, axis, batch_dims)
    return data.new_empty(shape, dtype=_dtype(dtype))


def _dequantize(data: Tensor, codec: str, dtype: str = "float32", *layout: Any, **options: Any) -> Tensor:
    return data.new_empty(values_shape(data, codec, *layout, **options), dtype=_dtype(dtype))


def _quantized_shape(data: Tensor, codec: str, *layout: Any, **options: Any) -> Tensor:
    return data.new_empty([len(values_shape(data, codec, *layout, **options))], dtype=torch.int64)


FAKE = {
    "take": _take,
    "gather_elements": _elements,
    "gather_nd": _nd,
    "gather_tree": _tree,
    "take_quantized": _take_quantized,
    "dequantize": _dequantize,
    "quantized_shape": _quantized_shape,
    "take.no_grad": _take,
    "gather_elements.no_grad": _elements,
    "gather_nd.no_grad": _nd,
    "take.out": _out(_take),
    "gather_elements.out": _out(_elements),
    "gather_nd.out": _out(_nd),
}


def register(library: torch.library.Library) -> None:
    """Tells PyTorch."""
    for name, kernel in FAKE.items():
        torch.library.register_fake(f"libgather::{name}", kernel, lib=library)
