# SPDX-License-Identifier: MIT
#
# writing.py: the functions that write, with gradients, which are gathers: scatters, and bags of rows. torch.compile calls them as they are.
"""Scatters and embedding bags of PyTorch's tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import libgather
from libgather.errors import refuse
from libgather.table import Table
from libgather.torch import operators

__all__ = ["embedding_bag", "index_add", "scatter", "scatter_add", "scatter_elements", "scatter_nd"]

_GATHERS = {"scatter": operators.take, "scatter_elements": operators.gather_elements, "scatter_nd": operators.gather_nd}


def _read(name: str, data: Tensor, indices: Tensor, axis: int, mode: str, negative: bool) -> Tensor:
    """What the gather reads where the scatter writes; zeros where that writes nothing."""
    numbers = {} if name == "scatter_nd" else {"axis": axis}
    return _GATHERS[name](data, indices, **numbers, mode="zero" if mode == "skip" else mode, negative=negative)


def _write(name: str, data: Tensor, indices: Tensor, updates: Tensor, axis: int, mode: str, negative: bool, **options: Any) -> Tensor:
    numbers = {} if name == "scatter_nd" else {"axis": axis}
    given = (t.detach().resolve_conj().resolve_neg() for t in (data, updates))
    data, updates = given
    options.setdefault("threads", torch.get_num_threads())
    return getattr(libgather, name)(data, indices, updates, **numbers, mode=mode, negative=negative, **options)


class _Scatter(torch.autograd.Function):
    """apply(data, indices, updates, name, axis, mode, negative, reduction, options)"""

    @staticmethod
    def forward(ctx: Any, data: Tensor, indices: Tensor, updates: Tensor, *rest: Any) -> Tensor:
        *ctx.rest, ctx.reduction, options = rest
        ctx.save_for_backward(indices)
        ctx.shapes = data.shape, updates.shape
        return _write(rest[0], data, indices, updates, *rest[1:4], reduction=ctx.reduction, **options)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        (indices,) = ctx.saved_tensors
        to_data, to_updates = grad, _read(ctx.rest[0], grad, indices, *ctx.rest[1:]) if ctx.needs_input_grad[2] else None
        if ctx.reduction == "none":
            # each place has the number of the update that was left; 0: none has written there
            numbers = torch.arange(1, ctx.shapes[1].numel() + 1).reshape(ctx.shapes[1])
            left = _write(ctx.rest[0], torch.zeros(ctx.shapes[0], dtype=torch.int64), indices, numbers, *ctx.rest[1:])
            to_data = torch.where(left == 0, grad, 0)
            if to_updates is not None:
                to_updates = torch.where(_read(ctx.rest[0], left, indices, *ctx.rest[1:]) == numbers, to_updates, 0)
        return to_data if ctx.needs_input_grad[0] else None, None, to_updates, *[None] * 6


def _call(name: str, data: Tensor, indices: Tensor, updates: Tensor, axis: int, reduction: str, mode: str, negative: bool, options: dict) -> Tensor:
    wanted = torch.is_grad_enabled() and (data.requires_grad or updates.requires_grad)
    if not wanted:
        return _write(name, data, indices, updates, axis, mode, negative, reduction=reduction, **options)
    if options.get("out") is not None:
        refuse("unsupported", "out= has no gradient: call it under torch.no_grad(), or without out=", "output")
    reduction = {"sum": "add"}.get(reduction, reduction)
    if reduction not in ("none", "add") or options.get("use_init_val") is False:
        refuse("unsupported", f"a gradient of reduction {reduction!r} is not supported: only 'none' and 'add', on top of data", "data")
    return _Scatter.apply(data, indices, updates, name, axis, mode, negative, reduction, options)


@torch.compiler.disable
def scatter(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, *, reduction: str = "none", mode: str = "raise", negative: bool = True, **options: Any
) -> Tensor:
    """Writes rows along an axis, where take() reads: libgather.scatter(), with gradients.

    Parameters
    ----------
    data, updates : Tensor
        updates have the shape of take(data, indices, axis).
    reduction : {'none', 'add', 'sub', 'mul', 'min', 'max', 'mean'}
        'none' and 'add' have gradients, of any order: of several updates of one element only the last that is left has one.
    options
        out, accumulate, unique, threads (default: PyTorch's): as for libgather.scatter().

    float16 and bfloat16 are added in float32, and rounded once. The result does not depend on the number of threads.
    """
    return _call("scatter", data, indices, updates, axis, reduction, mode, negative, options)


@torch.compiler.disable
def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, *, reduction: str = "none", mode: str = "raise", negative: bool = True, **options: Any
) -> Tensor:
    """Writes elements along an axis, where gather_elements() reads: torch.scatter and torch.scatter_reduce with exact errors. The
    parameters are those of scatter(); use_init_val is one of the options.
    """
    return _call("scatter_elements", data, indices, updates, axis, reduction, mode, negative, options)


@torch.compiler.disable
def scatter_nd(
    data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none", mode: str = "raise", negative: bool = True, **options: Any
) -> Tensor:
    """Writes slices by tuples of indices, where gather_nd() reads. The parameters are those of scatter()."""
    return _call("scatter_nd", data, indices, updates, 0, reduction, mode, negative, options)


def scatter_add(data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, **options: Any) -> Tensor:
    """Adds rows: scatter() with reduction='add'. (torch.scatter_add adds elements: scatter_elements().)"""
    return scatter(data, indices, updates, axis, reduction="add", **options)


def index_add(data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, **options: Any) -> Tensor:
    """torch.index_add with exact errors: scatter_add() for indices of one dimension."""
    if indices.dim() > 1:
        refuse("rank_mismatch", "indices of index_add have at most one dimension; scatter_add() has no limit", "indices")
    return scatter_add(data, indices, updates, axis, **options)


def _owners(indices: Tensor, offsets: Tensor | None, segment_ids: Tensor | None, last_offset: bool) -> Tensor:
    """The bag of each index, in one dimension."""
    if segment_ids is not None:
        return segment_ids.to(torch.int64)
    if offsets is None:
        return torch.arange(indices.shape[0]).repeat_interleave(indices.shape[1])
    begins = (offsets[:-1] if last_offset else offsets).to(torch.int64)
    return torch.searchsorted(begins, torch.arange(indices.numel()), right=True) - 1


def _spread(numbers: Tensor, rank: int) -> Tensor:
    return numbers.reshape(-1, *[1] * (rank - 1))


class _Bag(torch.autograd.Function):
    """Sums and means: apply(table, weights, indices, keywords)"""

    @staticmethod
    def forward(ctx: Any, table: Tensor, weights: Tensor | None, indices: Tensor, keywords: dict) -> Tensor:
        given = None if weights is None else weights.detach()
        out = libgather.embedding_bag(table.detach(), indices, per_sample_weights=given, **keywords)
        owners = _owners(indices, keywords["offsets"], keywords["segment_ids"], keywords["include_last_offset"])
        counts = torch.bincount(owners, minlength=out.shape[0]).clamp(min=1) if keywords["reduction"] == "mean" else None
        ctx.save_for_backward(table, weights, indices, owners, counts)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        table, weights, indices, owners, counts = ctx.saved_tensors
        ids = indices.reshape(-1)
        rows = operators.take(grad if counts is None else grad / _spread(counts, grad.dim()), owners)
        given = rows if weights is None else rows * _spread(weights, grad.dim())
        to_table = None
        if ctx.needs_input_grad[0]:
            to_table = torch.ops.libgather.gather_backward.default(given, ids, table.shape, "take", 0, 0, "raise", False)
        to_weights = None
        if weights is not None and ctx.needs_input_grad[1]:
            to_weights = (operators.take(table, ids) * rows).reshape(len(ids), -1).sum(1).reshape(weights.shape)
        return to_table, to_weights, None, None


@torch.compiler.disable
def embedding_bag(
    table: Any,
    indices: Tensor,
    offsets: Tensor | None = None,
    *,
    segment_ids: Tensor | None = None,
    num_segments: int | None = None,
    per_sample_weights: Tensor | None = None,
    reduction: str = "sum",
    include_last_offset: bool = False,
    threads: int | None = None,
    **options: Any,
) -> Tensor:
    """The sum, mean or maximum of the rows of each bag: libgather.embedding_bag(), which has the other parameters.

    Gradients: of 'sum', with regard to a table in memory and to the weights, and of 'mean', with regard to the table. Empty bags are
    zeros then.
    """
    keywords = {"segment_ids": segment_ids, "num_segments": num_segments, "reduction": reduction, "include_last_offset": include_last_offset}
    keywords["threads"] = torch.get_num_threads() if threads is None else threads
    if isinstance(table, Table):
        given = None if per_sample_weights is None else per_sample_weights.numpy()
        arrays = {name: value.numpy() if isinstance(value, Tensor) else value for name, value in {"indices": indices, "offsets": offsets}.items()}
        return torch.from_numpy(libgather.embedding_bag(table, **arrays, per_sample_weights=given, **keywords, **options))
    wanted = any(t is not None and t.requires_grad for t in (table, per_sample_weights))
    if not (wanted and torch.is_grad_enabled()):
        return libgather.embedding_bag(table, indices, offsets, per_sample_weights=per_sample_weights, **keywords, **options)
    if reduction not in ("sum", "mean") or options:
        refuse("unsupported", "a gradient of 'max', or with out, mode, rules or default_index, is not supported", "data")
    return _Bag.apply(table, per_sample_weights, indices, {"offsets": offsets, **keywords})
