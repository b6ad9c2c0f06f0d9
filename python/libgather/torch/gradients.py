# SPDX-License-Identifier: MIT
#
# gradients.py: gradients of the operators with respect to data and fill_value. That of data is an operator, gather_backward, whose own
# gradient is the gather again; that of fill_value is a sum by PyTorch's operators. Transforms of torch.func and forward mode go through an
# autograd.Function, which PyTorch's gradients of operators do not support.
"""Gradients of libgather's operators."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from libgather.backward import gather_backward
from libgather.torch import batching
from libgather.torch.shapes import whole_axis, whole_batch_dims

__all__ = ["Transformed", "register"]


def places(indices: Tensor, n: Any, mode: str, negative: bool) -> tuple[Tensor, Tensor | None]:
    """The places that indices read on an axis of length n: int64 in [0, n), and which of them are in range, if others read nothing
    (None: all of them read something)."""
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


def _spread(inside: Tensor, rank: int, before: int) -> Tensor:
    return inside.reshape((1,) * before + tuple(inside.shape) + (1,) * (rank - before - inside.dim()))


def _transforms() -> bool:
    return torch._C._functorch.peek_interpreter_stack() is not None or forward_ad._current_level >= 0


def _sum(ctx: Any, op: str, grad: Tensor, indices: Tensor, axis: int, batch_dims: int) -> Tensor | None:
    """The gradient of data: each element of grad is added to the element that the gather read."""
    if not ctx.needs_input_grad[0]:
        return None
    mode = "zero" if ctx.mode == "fill" else ctx.mode
    arguments = (grad, indices, tuple(ctx.shape), op, axis, batch_dims, mode, ctx.negative)
    return TransformedBackward.apply(*arguments) if _transforms() else torch.ops.libgather.gather_backward.default(*arguments)


def _take_backward(ctx: Any, grad: Tensor) -> tuple:
    (indices,) = ctx.saved_tensors
    fill = None
    if ctx.fill_shape is not None:
        inside = places(indices, ctx.shape[ctx.axis], ctx.mode, ctx.negative)[1]
        assert inside is not None
        batch = ctx.batch_dims
        spread = inside.reshape(*inside.shape[:batch], *[1] * (ctx.axis - batch), *inside.shape[batch:])
        fill = _fill(ctx, 6, grad, _spread(spread, grad.dim(), 0))
    return _sum(ctx, "take", grad, indices, ctx.axis, ctx.batch_dims), None, None, None, None, None, fill


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
    inside = None if ctx.fill_shape is None else places(indices, ctx.shape[ctx.axis], ctx.mode, ctx.negative)[1]
    return _sum(ctx, "gather_elements", grad, indices, ctx.axis, 0), None, None, None, None, _fill(ctx, 5, grad, inside)


def _elements_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    data, indices, axis, mode, negative, fill_value = inputs
    _save(ctx, data, indices, mode, negative, fill_value)
    ctx.axis = whole_axis(axis, data.dim())


def _nd_inside(ctx: Any, indices: Tensor, rank: int) -> Tensor:
    """Which tuples are in range; tuples without numbers always are."""
    inside = torch.ones((), dtype=torch.bool, device=indices.device)
    for k in range(int(indices.shape[-1])):
        ok = places(indices[..., k], ctx.shape[ctx.batch_dims + k], ctx.mode, ctx.negative)[1]
        assert ok is not None
        inside = inside & ok
    return _spread(inside, rank, 0)


def _nd_backward(ctx: Any, grad: Tensor) -> tuple:
    (indices,) = ctx.saved_tensors
    mask = None if ctx.fill_shape is None else _nd_inside(ctx, indices, grad.dim())
    return _sum(ctx, "gather_nd", grad, indices, 0, ctx.batch_dims), None, None, None, None, _fill(ctx, 5, grad, mask)


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


def _numbers(op: str, axis: int, batch_dims: int) -> tuple:
    """As the operator has them after data and indices."""
    return {"take": (axis, batch_dims), "gather_elements": (axis,), "gather_nd": (batch_dims,)}[op]


class TransformedBackward(torch.autograd.Function):
    """gather_backward under torch.func's transforms and in forward mode."""

    @staticmethod
    def forward(grad: Tensor, indices: Tensor, shape: tuple, op: str, axis: int, batch_dims: int, mode: str, negative: bool) -> Tensor:
        return torch.ops.libgather.gather_backward.default(grad, indices, shape, op, axis, batch_dims, mode, negative)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])
        ctx.save_for_forward(inputs[1])
        ctx.inputs = inputs[2:]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        _, op, axis, batch_dims, mode, negative = ctx.inputs
        (indices,) = ctx.saved_tensors
        return Transformed.apply(op, grad, indices, _numbers(op, axis, batch_dims), mode, negative, None), *[None] * 7

    @staticmethod
    def jvp(ctx: Any, grad: Tensor, *rest: Any) -> Tensor:
        return TransformedBackward.apply(grad, ctx.saved_tensors[0], *ctx.inputs)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, *arguments: Any) -> tuple:
        return batching.backward(info, in_dims, *arguments, call=TransformedBackward.apply)


SCHEMA = "gather_backward(Tensor grad, Tensor indices, SymInt[] shape, str op, int axis, int batch_dims, str mode, bool negative) -> Tensor"


def _backward(grad: Tensor, indices: Tensor, shape: Sequence[int], op: str, axis: int, batch_dims: int, mode: str, negative: bool) -> Tensor:
    """The kernel: float16 and bfloat16 are added in float32, which PyTorch's own gradient of an embedding does not do."""
    given = grad.detach().resolve_conj().resolve_neg()
    if given.dtype == torch.complex32:  # which only PyTorch has: sums by parts
        wide = indices.unsqueeze(-1).expand(*indices.shape, 2) if op == "gather_elements" else indices
        return torch.view_as_complex(_backward(torch.view_as_real(given), wide, (*shape, 2), op, axis, batch_dims, mode, negative))
    options = {"axis": axis, "batch_dims": batch_dims, "mode": mode, "negative": negative, "threads": torch.get_num_threads()}
    return gather_backward(given, indices, shape, op=op, **options)


def _backward_fake(grad: Tensor, indices: Tensor, shape: Sequence[Any], *rest: Any) -> Tensor:
    return grad.new_empty(shape)


def _backward_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(inputs[1])
    ctx.inputs = inputs[3:]


def _backward_backward(ctx: Any, grad: Tensor) -> tuple:
    """The gradient of the gradient is the gather."""
    op, axis, batch_dims, mode, negative = ctx.inputs
    (indices,) = ctx.saved_tensors
    given = getattr(torch.ops.libgather, op).default(grad, indices, *_numbers(op, axis, batch_dims), mode, negative)
    return given, *[None] * 7


def register(library: torch.library.Library) -> None:
    """Tells PyTorch."""
    library.define(SCHEMA)
    library.impl("gather_backward", _backward, "CPU")
    torch.library.register_fake("libgather::gather_backward", _backward_fake, lib=library)
    torch.library.register_autograd("libgather::gather_backward", _backward_backward, setup_context=_backward_setup, lib=library)
    torch.library.register_vmap("libgather::gather_backward", batching.backward, lib=library)
    for name, (backward, setup) in RULES.items():
        torch.library.register_autograd(f"libgather::{name}", backward, setup_context=setup, lib=library)
