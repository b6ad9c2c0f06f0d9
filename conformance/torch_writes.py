# SPDX-License-Identifier: MIT
"""PyTorch's functions that write, and its embedding_bag, by their names and arguments, answered by libgather; and calls of them with bad
indices. What is translated stands in docs/conformance.md.
"""

from __future__ import annotations

import libgather
import torch
from torch_adapter import STRICT, with_axis

REDUCTIONS = {None: "none", "add": "add", "multiply": "mul"}


def filled(x, index, source):
    """A number is repeated; of a source that is longer than the indices its beginning counts."""
    if not isinstance(source, torch.Tensor):
        return torch.full(index.shape, source, dtype=x.dtype)
    return source if source.dim() != index.dim() else source[tuple(slice(0, length) for length in index.shape)]


def elements(x, dim, index, source, out=None, **options):
    """ScatterElements. Data, indices and updates of rank 0 count as lists of one."""
    if index.numel() == 0:
        return x.clone() if out is None else out.copy_(x)
    target = None if out is None else with_axis(out)
    got = libgather.scatter_elements(with_axis(x), with_axis(index), with_axis(filled(x, index, source)), axis=dim, out=target, **STRICT, **options)
    return out if out is not None else got.reshape(x.shape)


def scatter(x, dim, index, src=None, *, value=None, reduce=None, out=None):
    return elements(x, dim, index, value if src is None else src, out, reduction=REDUCTIONS[reduce], accumulate="steps" if reduce else None)


def scatter_add(x, dim, index, src, *, out=None):
    return elements(x, dim, index, src, out, reduction="add")


def scatter_reduce(x, dim, index, src, reduce, *, include_self=True, out=None):
    return elements(x, dim, index, src, out, reduction=reduce, use_init_val=include_self)


def rows(x, dim, index, source, out=None, **options):
    """A number of rank 0 counts as one row."""
    target = None if out is None else with_axis(out)
    source = source.reshape(index.numel(), *source.shape[1:]) if x.dim() <= 1 else source
    got = libgather.scatter(with_axis(x), with_axis(index), with_axis(source), axis=dim, out=target, **STRICT, **options)
    return out if out is not None else got.reshape(x.shape)


def index_add(x, dim, index, source, *, alpha=1, out=None):
    return rows(x, dim, index, source if alpha == 1 else source * alpha, out, reduction="add", accumulate="steps")


def index_copy(x, dim, index, source, *, out=None):
    return rows(x, dim, index, source, out)


def index_put(x, indices, values, accumulate=False):
    """Tuples of the first dimensions; a mask is the places where it is true."""
    places = [at for index in indices for at in (index.nonzero(as_tuple=True) if index.dtype in (torch.bool, torch.uint8) else (index,))]
    tuples = torch.stack(torch.broadcast_tensors(*places), -1)
    values = values.expand(*tuples.shape[:-1], *x.shape[tuples.shape[-1] :]).contiguous()
    return libgather.scatter_nd(x, tuples, values, reduction="add" if accumulate else "none", accumulate="steps")


def put(x, index, source, accumulate=False):
    """Into the flat tensor."""
    flat = libgather.scatter(x.reshape(-1), index.reshape(-1), source.reshape(-1), reduction="add" if accumulate else "none", accumulate="steps")
    return flat.reshape(x.shape)


def embedding_bag(weight, input, offsets=None, *, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Scaling the rows to max_norm, in place, is PyTorch's own. Rows of the padding index are left out."""
    if max_norm is not None:
        torch.embedding_renorm_(weight.detach(), input.contiguous(), max_norm, norm_type)
    options = {}
    if padding_idx is not None:
        length = weight.shape[0]
        if int(input.min(initial=0) if input.numel() == 0 else input.min()) < 0 or int(input.max()) >= length:
            raise libgather.GatherIndexError("out of range")
        input = torch.where(input == padding_idx % length, length, input)
        options = {"mode": "skip"}
    return libgather.embedding_bag(weight, input, offsets, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset,
                                   reduction=mode, **options)


WRITES = {
    "scatter": scatter,
    "scatter_add": scatter_add,
    "scatter_reduce": scatter_reduce,
    "index_add": index_add,
    "index_copy": index_copy,
    "index_put": index_put,
    "put": put,
    "nn.functional.embedding_bag": embedding_bag,
}
