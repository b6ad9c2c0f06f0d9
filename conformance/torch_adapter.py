# SPDX-License-Identifier: MIT
"""PyTorch's functions by their names and arguments, answered by libgather. What is translated stands in
docs/measured/conformance.md.
"""

from __future__ import annotations

import libgather
import torch
from torch_writing import OURS as WRITING
from torch_writing import STRICT, with_axis


def gather(x, dim, index, *, sparse_grad=False, out=None):
    """torch.gather: data and indices of rank 0 count as lists of one."""
    if x.dim() == 0 and index.dim() <= 1:
        got = libgather.gather_elements(with_axis(x), with_axis(index), axis=dim, out=None if out is None else with_axis(out), **STRICT)
        return out if out is not None else got.reshape(index.shape)
    return libgather.gather_elements(x, index, axis=dim, out=out, **STRICT)


def index_select(x, dim, index, *, out=None):
    """torch.index_select: an index of rank 0 counts as a list of one."""
    rank_0 = x.dim() == 0
    target = with_axis(out) if rank_0 and out is not None else out
    got = libgather.take(with_axis(x), with_axis(index), axis=dim, out=target, **STRICT)
    return out if out is not None else got.reshape(()) if rank_0 else got


def take(x, index, *, out=None):
    """torch.take: from the flat tensor."""
    return libgather.take(x.reshape(-1), index, axis=0, out=out)


def take_along_dim(x, indices, dim=None, *, out=None):
    """torch.take_along_dim: without a dim both are flat."""
    if dim is None:
        x, indices = x.reshape(-1), indices.reshape(-1)
    return libgather.take_along_axis(x, indices, axis=0 if dim is None else dim, out=out)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """torch.nn.functional.embedding. Scaling the rows to max_norm, in place, is PyTorch's own; the rest is about
    gradients.
    """
    if max_norm is not None:
        torch.embedding_renorm_(weight.detach(), input.contiguous(), max_norm, norm_type)
    return libgather.take(weight, input, axis=0, **STRICT)


def getitem(x, key):
    """`x[key]`."""
    return libgather.index(x, key)


OURS = {
    "__getitem__": getitem,
    "gather": gather,
    "index_select": index_select,
    "take": take,
    "take_along_dim": take_along_dim,
    "nn.functional.embedding": lambda weight, input, **options: embedding(input, weight, **options),
    **WRITING,
}
