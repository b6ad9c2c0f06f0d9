# SPDX-License-Identifier: MIT
#
# writing.py: the functions that write, with gradients, which are gathers: scatters, and bags of rows. What torch.compile traces is an operator
# for each; calls that nobody traces go without it, since an operator whose kernel is Python takes longer than a small scatter.
"""Scatters and embedding bags of PyTorch's tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

import libgather
from libgather.errors import refuse
from libgather.table import Table
from libgather.torch import operators, shapes

__all__ = ["embedding_bag", "index_add", "scatter", "scatter_add", "scatter_elements", "scatter_nd"]

_GATHERS = {"scatter": operators.take, "scatter_elements": operators.gather_elements, "scatter_nd": operators.gather_nd}


# ---- scatters


def _numbers(name: str, axis: int) -> dict[str, int]:
    return {} if name == "scatter_nd" else {"axis": axis}


def _read(name: str, data: Tensor, indices: Tensor, axis: int, mode: str, negative: bool) -> Tensor:
    """The elements that the gather reads at the places that the scatter writes; zeros where it writes nothing."""
    return _GATHERS[name](data, indices, **_numbers(name, axis), mode="zero" if mode == "skip" else mode, negative=negative)


def _write(name: str, data: Tensor, indices: Tensor, updates: Tensor, axis: int, mode: str, negative: bool, **options: Any) -> Tensor:
    given = (t.detach().resolve_conj().resolve_neg() for t in (data, updates))
    data, updates = given
    options.setdefault("threads", torch.get_num_threads())
    return getattr(libgather, name)(data, indices, updates, **_numbers(name, axis), mode=mode, negative=negative, **options)


def _scatter_backward(ctx: Any, grad: Tensor, read: Any, write: Any) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of data and updates."""
    (indices,) = ctx.saved_tensors
    to_data, to_updates = grad, read(ctx.call[0], grad, indices, *ctx.call[1:]) if ctx.needs_input_grad[2] else None
    if ctx.reduction == "none":
        # each place has the number of the update that was left; 0: none has written there
        numbers = torch.arange(1, ctx.shapes[1].numel() + 1, device=grad.device).reshape(ctx.shapes[1])
        nothing = torch.zeros(ctx.shapes[0], dtype=torch.int64, device=grad.device)
        left = write(ctx.call[0], nothing, indices, numbers, *ctx.call[1:])
        to_data = torch.where(left == 0, grad, 0)
        if to_updates is not None:
            to_updates = torch.where(read(ctx.call[0], left, indices, *ctx.call[1:]) == numbers, to_updates, 0)
    return to_data if ctx.needs_input_grad[0] else None, to_updates


class _Scatter(torch.autograd.Function):
    """apply(data, indices, updates, name, axis, mode, negative, reduction, options)"""

    @staticmethod
    def forward(ctx: Any, data: Tensor, indices: Tensor, updates: Tensor, *rest: Any) -> Tensor:
        *ctx.call, ctx.reduction, options = rest
        ctx.save_for_backward(indices)
        ctx.shapes = data.shape, updates.shape
        return _write(rest[0], data, indices, updates, *rest[1:4], reduction=ctx.reduction, **options)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        to_data, to_updates = _scatter_backward(ctx, grad, _read, _write)
        return to_data, None, to_updates, *[None] * 6


# The operator that is traced. Behind `negative` are what _write has as options.
_SCATTER_SCHEMA = (
    "scatter(Tensor data, Tensor indices, Tensor updates, str op, int axis=0, str mode='raise', bool negative=True, str reduction='none', "
    "str? rules=None, str? accumulate=None, bool unique=False, bool use_init_val=True, int? threads=None) -> Tensor"
)


def _scatter_kernel(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    op: str,
    axis: int = 0,
    mode: str = "raise",
    negative: bool = True,
    reduction: str = "none",
    rules: str | None = None,
    accumulate: str | None = None,
    unique: bool = False,
    use_init_val: bool = True,
    threads: int | None = None,
) -> Tensor:
    options = {} if use_init_val else {"use_init_val": False}  # which only elements have
    if threads is not None:
        options["threads"] = threads
    return _write(op, data, indices, updates, axis, mode, negative, reduction=reduction, rules=rules, accumulate=accumulate, unique=unique, **options)


def _scatter_fake(data: Tensor, indices: Tensor, updates: Tensor, op: str, axis: int = 0, *rest: Any, **options: Any) -> Tensor:
    read = shapes.FAKE[{"scatter": "take", "scatter_elements": "gather_elements", "scatter_nd": "gather_nd"}[op]]
    wanted = read(data, indices, **_numbers(op, axis)).shape
    if updates.dtype != data.dtype:
        refuse("type_mismatch", f"updates are {updates.dtype}, but data is {data.dtype}", "updates")
    if updates.dim() != len(wanted):
        refuse("shape_mismatch", f"updates have rank {updates.dim()}, not {len(wanted)}", "updates")
    for d, length in enumerate(wanted):
        torch._check(updates.shape[d] == length, lambda: f"updates must have length {length} on dimension {d}")
    return data.new_empty(data.shape)


def _scatter_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    data, indices, updates, *ctx.call = inputs[:7]
    ctx.reduction = _differentiable(inputs[7], use_init_val=inputs[11])
    ctx.save_for_backward(indices)
    ctx.shapes = data.shape, updates.shape


def _read_traced(name: str, data: Tensor, indices: Tensor, axis: int, mode: str, negative: bool) -> Tensor:
    mode = "zero" if mode == "skip" else mode
    if name == "scatter":
        return torch.ops.libgather.take.default(data, indices, axis, 0, mode, negative)
    if name == "scatter_elements":
        return torch.ops.libgather.gather_elements.default(data, indices, axis, mode, negative)
    return torch.ops.libgather.gather_nd.default(data, indices, 0, mode, negative)


def _write_traced(name: str, data: Tensor, indices: Tensor, updates: Tensor, *call: Any) -> Tensor:
    return torch.ops.libgather.scatter.default(data, indices, updates, name, *call)


def _scatter_backward_traced(ctx: Any, grad: Tensor) -> tuple:
    to_data, to_updates = _scatter_backward(ctx, grad, _read_traced, _write_traced)
    return to_data, None, to_updates, *[None] * 10


def _differentiable(reduction: str, use_init_val: bool = True) -> str:
    """The reduction, if it has a gradient."""
    reduction = {"sum": "add"}.get(reduction, reduction)
    if reduction not in ("none", "add") or not use_init_val:
        refuse("unsupported", f"a gradient of reduction {reduction!r} is not supported: only 'none' and 'add', on top of data", "data")
    return reduction


def _trace(name: str, data: Tensor, indices: Tensor, updates: Tensor, *call: Any, out: Tensor | None = None, **options: Any) -> Tensor:
    made = _SCATTER(data, indices, updates, name, *call, **options)
    return made if out is None else out.copy_(made)  # PyTorch traces no operator of others whose result is one of its arguments


def _call(name: str, data: Tensor, indices: Tensor, updates: Tensor, axis: int, reduction: str, mode: str, negative: bool, options: dict) -> Tensor:
    wanted = torch.is_grad_enabled() and (data.requires_grad or updates.requires_grad)
    if wanted and options.get("out") is not None:
        refuse("unsupported", "out= has no gradient: call it under torch.no_grad(), or without out=", "output")
    if wanted:
        reduction = _differentiable(reduction, options.get("use_init_val") is not False)
    if is_compiling():
        return _trace(name, data, indices, updates, axis, mode, negative, reduction, **options)
    if not wanted:
        return _write(name, data, indices, updates, axis, mode, negative, reduction=reduction, **options)
    return _Scatter.apply(data, indices, updates, name, axis, mode, negative, reduction, options)


def scatter(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, *, reduction: str = "none", mode: str = "raise", negative: bool = True, **options: Any
) -> Tensor:
    """Writes rows along an axis, where take() reads: libgather.scatter() with gradients.

    Parameters
    ----------
    data, updates : Tensor
        updates have the shape of take(data, indices, axis).
    reduction : {'none', 'add', 'sub', 'mul', 'min', 'max', 'mean'}
        'none' and 'add' have gradients, of any order. If several updates replace one element, only the last has a gradient.
    options
        out, accumulate, unique, threads (default: PyTorch's): as for libgather.scatter().

    float16 and bfloat16 are added in float32, and rounded once. The result does not depend on the number of threads.
    """
    return _call("scatter", data, indices, updates, axis, reduction, mode, negative, options)


def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, *, reduction: str = "none", mode: str = "raise", negative: bool = True, **options: Any
) -> Tensor:
    """Writes elements along an axis, where gather_elements() reads: torch.scatter and torch.scatter_reduce with exact errors.

    The parameters are those of scatter(); use_init_val is one of the options.
    """
    return _call("scatter_elements", data, indices, updates, axis, reduction, mode, negative, options)


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


# ---- bags


def _owners(indices: Tensor, offsets: Tensor | None, segment_ids: Tensor | None, last_offset: bool) -> Tensor:
    """The bag of each index, in one dimension."""
    if segment_ids is not None:
        return segment_ids.to(torch.int64)
    if offsets is None:
        return torch.arange(indices.shape[0], device=indices.device).repeat_interleave(indices.shape[1])
    begins = (offsets[:-1] if last_offset else offsets).to(torch.int64)
    return torch.searchsorted(begins, torch.arange(indices.numel(), device=indices.device), right=True) - 1


def _spread(numbers: Tensor, rank: int) -> Tensor:
    return numbers.reshape(-1, *[1] * (rank - 1))


def _bag_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of the table and the weights."""
    table, weights, indices, offsets, segment_ids = ctx.saved_tensors
    ids, owners = indices.reshape(-1), _owners(indices, offsets, segment_ids, ctx.last_offset)
    if ctx.reduction == "mean":
        lengths = torch.zeros(grad.shape[0], dtype=torch.int64, device=grad.device).index_add(0, owners, torch.ones_like(owners))
        grad = grad / _spread(lengths.clamp(min=1), grad.dim())
    take = torch.ops.libgather.take.default
    rows = take(grad, owners)
    given = rows if weights is None else rows * _spread(weights, grad.dim())
    to_table = to_weights = None
    if ctx.needs_input_grad[0]:
        to_table = torch.ops.libgather.gather_backward.default(given, ids, table.shape, "take", 0, 0, "raise", False)
    if weights is not None and ctx.needs_input_grad[1]:
        to_weights = (take(table, ids) * rows).reshape(ids.numel(), -1).sum(1).reshape(weights.shape)
    return to_table, to_weights


def _bag(table: Tensor, weights: Tensor | None, *arguments: Any, **options: Any) -> Tensor:
    """A call of tensors that may require gradients."""
    return libgather.embedding_bag(table.detach(), *arguments, per_sample_weights=None if weights is None else weights.detach(), **options)


class _Bag(torch.autograd.Function):
    """Sums and means: apply(table, weights, indices, offsets, segment_ids, keywords)"""

    @staticmethod
    def forward(ctx: Any, table: Tensor, weights: Tensor | None, indices: Tensor, offsets: Tensor | None, segment_ids: Tensor | None, keywords: dict) -> Tensor:
        ctx.reduction, ctx.last_offset = keywords["reduction"], keywords["include_last_offset"]
        ctx.save_for_backward(table, weights, indices, offsets, segment_ids)
        return _bag(table, weights, indices, offsets, segment_ids=segment_ids, **keywords)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return *_bag_backward(ctx, grad), None, None, None, None


_BAG_SCHEMA = (
    "embedding_bag(Tensor table, Tensor? per_sample_weights, Tensor indices, Tensor? offsets, Tensor? segment_ids, SymInt? num_segments=None, "
    "str reduction='sum', bool include_last_offset=False, int? threads=None, int default_index=-1, str? rules=None, str mode='raise', "
    "bool? negative=None, str? accumulate=None) -> Tensor"
)
_BAG_NAMES = ("num_segments", "reduction", "include_last_offset", "threads", "default_index", "rules", "mode", "negative", "accumulate")


def _bag_kernel(
    table: Tensor, weights: Tensor | None, indices: Tensor, offsets: Tensor | None, segment_ids: Tensor | None, *rest: Any, **named: Any
) -> Tensor:
    options = {**dict(zip(_BAG_NAMES, rest)), **named}
    if options.get("threads") is None:
        options["threads"] = torch.get_num_threads()
    return _bag(table, weights, indices, offsets, segment_ids=segment_ids, **options)


def _bag_fake(
    table: Tensor,
    weights: Tensor | None,
    indices: Tensor,
    offsets: Tensor | None,
    segment_ids: Tensor | None,
    num_segments: Any = None,
    reduction: str = "sum",
    include_last_offset: bool = False,
    *rest: Any,
    **options: Any,
) -> Tensor:
    count = num_segments
    if segment_ids is not None and count is None:
        count = torch.library.get_ctx().new_dynamic_size()  # one more than the largest of them
    elif segment_ids is None:
        count = indices.shape[0] if offsets is None else offsets.shape[0] - include_last_offset
    return table.new_empty((count, *table.shape[1:]))


def _bag_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.reduction, ctx.last_offset = inputs[6:8]
    _bag_is_differentiable(ctx.reduction, inputs[9] != -1 or inputs[10] is not None or inputs[11] != "raise" or bool(inputs[12]) or inputs[13] is not None)
    ctx.save_for_backward(*inputs[:5])


def _bag_backward_traced(ctx: Any, grad: Tensor) -> tuple:
    return *_bag_backward(ctx, grad), *[None] * 12


def _bag_is_differentiable(reduction: str, has_options: bool) -> None:
    if reduction not in ("sum", "mean") or has_options:
        refuse("unsupported", "a gradient of 'max', or with out, mode, rules or default_index, is not supported", "data")


def _trace_bag(*tensors: Any, out: Tensor | None = None, **options: Any) -> Tensor:
    made = _BAG(*tensors, **options)
    return made if out is None else out.copy_(made)


@torch.compiler.disable
def _bag_of_file(table: Table, indices: Tensor, offsets: Tensor | None, weights: Tensor | None, **options: Any) -> Tensor:
    """Rows of a file. A table cannot be a value of a graph, so torch.compile does not trace this function."""
    given = None if weights is None else weights.numpy()
    arrays = {name: value.numpy() if isinstance(value, Tensor) else value for name, value in {"indices": indices, "offsets": offsets}.items()}
    return torch.from_numpy(libgather.embedding_bag(table, **arrays, per_sample_weights=given, **options))


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

    'sum' has gradients with respect to a table in memory and to the weights, 'mean' with respect to the table. Empty bags are then
    zeros.
    """
    keywords = {"num_segments": num_segments, "reduction": reduction, "include_last_offset": include_last_offset}
    if not is_compiling():
        keywords["threads"] = torch.get_num_threads() if threads is None else threads
    if isinstance(table, Table):
        return _bag_of_file(table, indices, offsets, per_sample_weights, segment_ids=segment_ids, **keywords, **options)
    wanted = torch.is_grad_enabled() and (table.requires_grad or (per_sample_weights is not None and per_sample_weights.requires_grad))
    if wanted:
        _bag_is_differentiable(reduction, bool(options))
    if is_compiling():
        return _trace_bag(table, per_sample_weights, indices, offsets, segment_ids, **keywords, threads=threads, **options)
    if not wanted:
        return libgather.embedding_bag(table, indices, offsets, segment_ids=segment_ids, per_sample_weights=per_sample_weights, **keywords, **options)
    return _Bag.apply(table, per_sample_weights, indices, offsets, segment_ids, keywords)


# ---- PyTorch's side


def _register(library: torch.library.Library | None) -> None:
    """Tells PyTorch."""
    if library is None:
        return
    for schema, kernel, fake, backward, setup in (
        (_SCATTER_SCHEMA, _scatter_kernel, _scatter_fake, _scatter_backward_traced, _scatter_setup),
        (_BAG_SCHEMA, _bag_kernel, _bag_fake, _bag_backward_traced, _bag_setup),
    ):
        name = schema.partition("(")[0]
        library.define(schema)
        library.impl(name, kernel, "CPU")
        torch.library.register_fake(f"libgather::{name}", fake, lib=library)
        torch.library.register_autograd(f"libgather::{name}", backward, setup_context=setup, lib=library)


_register(operators._FRAGMENT)
_SCATTER, _BAG = operators._operator("scatter"), operators._operator("embedding_bag")
