# SPDX-License-Identifier: MIT
#
# batching.py: torch.vmap of the operators: one call of the same operator with a dimension more, never a loop.
"""vmap rules of libgather's operators."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from libgather.errors import refuse
from libgather.torch.shapes import whole_axis, whole_batch_dims

__all__ = ["register"]


def _operator(name: str, *arguments: Any) -> Tensor:
    return getattr(torch.ops.libgather, name).default(*arguments)


def _no_fill(d: int | None) -> None:
    if d is not None:
        refuse("unsupported", "vmap over fill_value is not supported", "fill_value")


def _front(tensor: Tensor, d: int | None, size: int) -> Tensor:
    """The tensor with the mapped dimension first. A tensor without one is repeated, without copying."""
    return tensor.unsqueeze(0).expand(size, *tensor.shape) if d is None else tensor.movedim(d, 0)


def _take(
    info: Any,
    in_dims: tuple,
    data: Tensor,
    indices: Tensor,
    axis: int = 0,
    batch_dims: int = 0,
    mode: str = "raise",
    negative: bool = True,
    fill_value: Tensor | None = None,
    call: Any = _operator,
) -> tuple[Tensor, int]:
    _no_fill(in_dims[6] if len(in_dims) > 6 else None)
    d, i = in_dims[:2]
    axis = whole_axis(axis, data.dim() - (d is not None))
    batch_dims = whole_batch_dims(batch_dims, indices.dim() - (i is not None))
    rest = (mode, negative, fill_value)
    if d is not None and i is not None:
        return call("take", data.movedim(d, 0), indices.movedim(i, 0), axis + 1, batch_dims + 1, *rest), 0
    if d is not None:  # an outer dimension between the batch dimensions and the axis
        return call("take", data.movedim(d, batch_dims), indices, axis + 1, batch_dims, *rest), batch_dims
    return call("take", data, indices.movedim(i, batch_dims), axis, batch_dims, *rest), axis


def _elements(
    info: Any,
    in_dims: tuple,
    data: Tensor,
    indices: Tensor,
    axis: int = 0,
    mode: str = "raise",
    negative: bool = True,
    fill_value: Tensor | None = None,
    call: Any = _operator,
) -> tuple[Tensor, int]:
    _no_fill(in_dims[5] if len(in_dims) > 5 else None)
    axis = whole_axis(axis, data.dim() - (in_dims[0] is not None))
    data, indices = (_front(t, d, info.batch_size) for t, d in zip((data, indices), in_dims))
    return call("gather_elements", data, indices, axis + 1, mode, negative, fill_value), 0


def _nd(
    info: Any,
    in_dims: tuple,
    data: Tensor,
    indices: Tensor,
    batch_dims: int = 0,
    mode: str = "raise",
    negative: bool = True,
    fill_value: Tensor | None = None,
    call: Any = _operator,
) -> tuple[Tensor, int]:
    _no_fill(in_dims[5] if len(in_dims) > 5 else None)
    if in_dims[0] is None and batch_dims == 0:
        return call("gather_nd", data, indices.movedim(in_dims[1], 0), 0, mode, negative, fill_value), 0
    data, indices = (_front(t, d, info.batch_size) for t, d in zip((data, indices), in_dims))
    return call("gather_nd", data, indices, batch_dims + 1, mode, negative, fill_value), 0


def _tree(
    info: Any,
    in_dims: tuple,
    step_ids: Tensor,
    parent_ids: Tensor,
    max_seq_len: Tensor,
    end_token: Tensor,
    mode: str = "raise",
    negative: bool = False,
    fill_value: Tensor | None = None,
) -> tuple[Tensor, int]:
    _no_fill(in_dims[6] if len(in_dims) > 6 else None)
    if in_dims[3] is not None:
        refuse("unsupported", "vmap over end_token is not supported", "end_token")
    size = info.batch_size  # [size, time, batch, width] as [time, size * batch, width]
    steps, parents = (_front(t, d, size).movedim(0, 1) for t, d in zip((step_ids, parent_ids), in_dims))
    time, _, batch, width = steps.shape
    steps, parents = (t.reshape(time, size * batch, width) for t in (steps, parents))
    lengths = _front(max_seq_len, in_dims[2], size).reshape(size * batch)
    out = torch.ops.libgather.gather_tree(steps, parents, lengths, end_token, mode, negative, fill_value)
    return out.reshape(time, size, batch, width), 1


def _take_quantized(
    info: Any, in_dims: tuple, data: Tensor, indices: Tensor, codec: str, dtype: str = "float32", axis: int = 0, batch_dims: int = 0, *rest: Any
) -> tuple[Tensor, int]:
    if any(d is not None for i, d in enumerate(in_dims) if i != 1):
        refuse("unsupported", "vmap of take_quantized is supported over the indices only", "data")
    i = in_dims[1]
    batch_dims = whole_batch_dims(batch_dims, indices.dim() - 1)
    out = torch.ops.libgather.take_quantized(data, indices.movedim(i, batch_dims), codec, dtype, axis, batch_dims, *rest)
    # the axis counts from 0 in a tensor of values, of the rank of the result without the indices
    rank = out.dim() - (indices.dim() - batch_dims) + 1
    return out, whole_axis(axis, rank)


def _apply_backward(*arguments: Any) -> Tensor:
    return torch.ops.libgather.gather_backward.default(*arguments)


def backward(
    info: Any, in_dims: tuple, grad: Tensor, indices: Tensor, shape: Any, op: str, axis: int, batch_dims: int, *policy: Any, call: Any = _apply_backward
) -> tuple[Tensor, int]:
    """Of gather_backward, whose axis and batch_dims count from 0."""
    size, shape = info.batch_size, tuple(shape)
    if op == "take" and in_dims[1] is None:  # an outer dimension between the batch dimensions and the axis
        shape = (*shape[:batch_dims], size, *shape[batch_dims:])
        return call(grad.movedim(in_dims[0], batch_dims), indices, shape, op, axis + 1, batch_dims, *policy), batch_dims
    grad, indices = (_front(t, d, size) for t, d in zip((grad, indices), in_dims))
    batch_dims = batch_dims if op == "gather_elements" else batch_dims + 1
    return call(grad, indices, (size, *shape), op, axis + (op != "gather_nd"), batch_dims, *policy), 0


RULES = {"take": _take, "gather_elements": _elements, "gather_nd": _nd, "gather_tree": _tree, "take_quantized": _take_quantized}


def register(library: torch.library.Library) -> None:
    """Tells PyTorch."""
    for name, rule in RULES.items():
        torch.library.register_vmap(f"libgather::{name}", rule, lib=library)
