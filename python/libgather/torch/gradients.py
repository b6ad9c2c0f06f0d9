# SPDX-License-Identifier: MIT
#
# gradients.py: gradients of the operators with respect to data and fill_value: sums of the output's gradient, by PyTorch's own operators, so
# that they have gradients too. Transforms of torch.func and forward mode go through an autograd.Function, which PyTorch's gradients of
# operators do not support.
"""Gradients of libgather's operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from libgather.torch import batching
from libgather.torch.shapes import whole_axis, whole_batch_dims

__all__ = ["Transformed", "register"]


def places(indices: Tensor, n: Any, mode: str, negative: bool) -> tuple[Tensor, Tensor | None]:
    """Where indices of an axis of length n read: int64 in [0, n), and which of them are in range, where others read nothing (None: all
    read something)."""
    where = indices.to(torch.int64)
    huge = where < 0 if indices.dtype == torch.uint64 else None  # 2^63 and above
    if negative and huge is None:
        where = torch.where((where < 0) & (where >= -n), where + n, where)
    if mode == "raise":
        return where, None
    if mode == "clip":
        return (where if huge is None else where.masked_fill(huge, n)).clamp(max=n - 1).clamp(min=0), None
    if mode == "wrap":
        rest = torch.remainder(where, max(n, 1))
        return (rest if huge is None else torch.where(huge, torch.remainder(rest + 2**64 % max(n, 1), max(n, 1)), rest)), None
    inside = (where >= 0) & (where < n)
    return torch.where(inside, where, 0), inside


def _masked(grad: Tensor, inside: Tensor | None, before: int) -> Tensor:
    """The gradient without the rows of indices out of range. before: dimensions of grad ahead of those of `inside`."""
    return grad if inside is None else torch.where(_spread(inside, grad.dim(), before), grad, 0)


def _spread(inside: Tensor, rank: int, before: int) -> Tensor:
    return inside.reshape((1,) * before + tuple(inside.shape) + (1,) * (rank - before - inside.dim()))


def _product(lengths: Sequence[Any]) -> Any:
    return math.prod(lengths)


def _take_backward(ctx: Any, grad: Tensor) -> tuple:
    (indices,) = ctx.saved_tensors
    shape, axis, batch, mode, negative = ctx.shape, ctx.axis, ctx.batch_dims, ctx.mode, ctx.negative
    where, inside = places(indices, shape[axis], mode, negative)
    # [batch, outer, indices, inner], whatever the ranks
    sizes = [_product(part) for part in (shape[:batch], shape[batch:axis], indices.shape[batch:], shape[axis + 1 :])]
    full = grad.reshape(sizes)
    where = where.reshape(sizes[0], sizes[2])
    mask = None if inside is None else inside.reshape(sizes[0], 1, sizes[2], 1)
    data = None
    if ctx.needs_input_grad[0]:
        given = full if mask is None else torch.where(mask, full, 0)
        rows = where + torch.arange(sizes[0], device=grad.device).unsqueeze(1) * shape[axis]
        data = grad.new_zeros((sizes[0] * shape[axis], sizes[1], sizes[3]))
        data = data.index_add(0, rows.reshape(-1), given.permute(0, 2, 1, 3).reshape(sizes[0] * sizes[2], sizes[1], sizes[3]))
        data = data.reshape(sizes[0], shape[axis], sizes[1], sizes[3]).permute(0, 2, 1, 3).reshape(shape)
    return data, None, None, None, None, None, _fill(ctx, 6, full, mask)


def _fill(ctx: Any, argument: int, grad: Tensor, mask: Tensor | None) -> Tensor | None:
    """The gradient of fill_value: the sum over what it filled."""
    if ctx.fill_shape is None or not ctx.needs_input_grad[argument]:
        return None
    return torch.where(mask, 0, grad).sum().reshape(ctx.fill_shape)


def _save(ctx: Any, data: Tensor, indices: Tensor, mode: str, negative: bool, fill_value: Tensor | None) -> None:
    ctx.save_for_backward(indices)
    ctx.shape, ctx.mode, ctx.negative = tuple(data.shape), mode, negative
    ctx.fill_shape = None if fill_value is None else tuple(fill_value.shape)


def _take_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    data, indices, axis, batch_dims, mode, negative, fill_value = inputs
    _save(ctx, data, indices, mode, negative, fill_value)
    ctx.axis, ctx.batch_dims = whole_axis(axis, data.dim()), whole_batch_dims(batch_dims, indices.dim())


def _elements_backward(ctx: Any, grad: Tensor) -> tuple:
    (indices,) = ctx.saved_tensors
    where, inside = places(indices, ctx.shape[ctx.axis], ctx.mode, ctx.negative)
    data = None
    if ctx.needs_input_grad[0]:
        data = grad.new_zeros(ctx.shape).scatter_add(ctx.axis, where, _masked(grad, inside, 0))
    return data, None, None, None, None, _fill(ctx, 5, grad, inside)


def _elements_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    data, indices, axis, mode, negative, fill_value = inputs
    _save(ctx, data, indices, mode, negative, fill_value)
    ctx.axis = whole_axis(axis, data.dim())


def _nd_backward(ctx: Any, grad: Tensor) -> tuple:
    (indices,) = ctx.saved_tensors
    shape, batch, count = ctx.shape, ctx.batch_dims, int(indices.shape[-1])
    keys, inside = [], None
    for d in range(batch):  # every tuple of a batch reads from that batch
        lengths = [1] * (indices.dim() - 1)
        lengths[d] = shape[d]
        keys.append(torch.arange(shape[d], device=grad.device).reshape(lengths))
    for k in range(count):
        where, ok = places(indices[..., k], shape[batch + k], ctx.mode, ctx.negative)
        keys.append(where)
        inside = ok if inside is None else inside & ok
    mask = None if inside is None else _spread(inside, grad.dim(), 0)
    if ctx.fill_shape is not None and mask is None:  # tuples without numbers are always in range
        mask = torch.ones((), dtype=torch.bool, device=grad.device)
    data = None
    if ctx.needs_input_grad[0]:
        given = grad if mask is None else torch.where(mask, grad, 0)
        if keys:
            data = grad.new_zeros(shape).index_put(tuple(keys), given, accumulate=True)
        else:
            data = given.sum(tuple(range(indices.dim() - 1))) if indices.dim() > 1 else given
    return data, None, None, None, None, _fill(ctx, 5, grad, mask)


def _nd_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    data, indices, batch_dims, mode, negative, fill_value = inputs
    _save(ctx, data, indices, mode, negative, fill_value)
    ctx.batch_dims = batch_dims


RULES = {
    "take": (_take_backward, _take_setup),
    "gather_elements": (_elements_backward, _elements_setup),
    "gather_nd": (_nd_backward, _nd_setup),
}


class Transformed(torch.autograd.Function):
    """An operator under torch.func's transforms and in forward mode: apply(name, data, indices, numbers, mode, negative, fill_value), where
    numbers are the axis and batch_dims as the operator has them."""

    @staticmethod
    def forward(name: str, data: Tensor, indices: Tensor, numbers: tuple, mode: str, negative: bool, fill_value: Tensor | None) -> Tensor:
        return getattr(torch.ops.libgather, name).default(data, indices, *numbers, mode, negative, fill_value)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:
        ctx.inputs = inputs[0], inputs[3:6]
        ctx.fill_shape = None if inputs[6] is None else tuple(inputs[6].shape)
        ctx.data = inputs[1].dtype, tuple(inputs[1].shape)
        ctx.save_for_backward(inputs[2])
        ctx.save_for_forward(inputs[2])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        name, (numbers, mode, negative) = ctx.inputs
        back, setup = RULES[name]
        context = SimpleNamespace(saved_tensors=ctx.saved_tensors, save_for_backward=lambda *tensors: None)
        shapes = (SimpleNamespace(shape=shape, dim=lambda n=len(shape): n) for shape in (ctx.data[1], ctx.fill_shape) if shape is not None)
        data, fill = [*shapes, None][:2]
        setup(context, (data, ctx.saved_tensors[0], *numbers, mode, negative, fill), None)
        needs = [False] * (5 + len(numbers))
        needs[0], needs[-1] = ctx.needs_input_grad[1], ctx.needs_input_grad[6]
        context.needs_input_grad = needs
        grads = back(context, grad)
        return None, grads[0], None, None, None, None, grads[-1]

    @staticmethod
    def jvp(ctx: Any, name: Any, data: Tensor | None, indices: Any, numbers: Any, mode: Any, negative: Any, fill: Tensor | None) -> Tensor:
        name, (numbers, mode, negative) = ctx.inputs
        (where,) = ctx.saved_tensors
        dtype, shape = ctx.data
        device = where.device
        data = torch.zeros(shape, dtype=dtype, device=device) if data is None else data
        if mode == "fill" and fill is None:
            fill = torch.zeros(ctx.fill_shape, dtype=dtype, device=device)
        return Transformed.apply(name, data, where, numbers, mode, negative, fill)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, name: str, data: Tensor, indices: Tensor, numbers: tuple, mode: str, negative: bool, fill: Any) -> tuple:
        dims = (*in_dims[1:3], *(None for _ in numbers), None, None, in_dims[6])
        return batching.RULES[name](info, dims, data, indices, *numbers, mode, negative, fill, call=_transformed)


def _transformed(name: str, data: Tensor, indices: Tensor, *rest: Any) -> Tensor:
    return Transformed.apply(name, data, indices, tuple(rest[:-3]), *rest[-3:])


def register(library: torch.library.Library) -> None:
    """Tells PyTorch."""
    for name, (backward, setup) in RULES.items():
        torch.library.register_autograd(f"libgather::{name}", backward, setup_context=setup, lib=library)
