# SPDX-License-Identifier: MIT
"""PyTorch's functions that write by index, by their names and arguments, answered by libgather. What is translated stands in
docs/measured/conformance.md.
"""

from __future__ import annotations

from typing import Any

import libgather
import torch

STRICT = {"negative": False}  # PyTorch's scatter, index_add and embedding_bag take no negative index
REDUCTIONS = {"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "mean": "mean", "amin": "min", "amax": "max"}


def with_axis(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of rank 0 counts as one element."""
    return tensor.reshape(1) if tensor.dim() == 0 else tensor


def given_back(x: torch.Tensor, got: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    return out if out is not None else got.reshape(x.shape)


def elements(x, dim, index, src, out=None, **options):
    """src may be longer than the index: the rest is ignored."""
    target = None if out is None else with_axis(out)
    if isinstance(src, torch.Tensor) and src.dim():
        src = src[tuple(slice(0, n) for n in index.shape)] if src.dim() == index.dim() else src
    got = libgather.scatter_elements(with_axis(x), with_axis(index), src, axis=dim, out=target, **STRICT, **options)
    return given_back(x, got, out)


def scatter(x, dim, index, src=None, *, value=None, reduce=None, out=None):
    """torch.scatter: reduce is None, 'add' or 'multiply', and rounds each step."""
    return elements(x, dim, index, src if value is None else value, out, reduction=REDUCTIONS.get(reduce, "none"), accumulate="steps")


def scatter_add(x, dim, index, src, *, out=None):
    """torch.scatter_add."""
    return elements(x, dim, index, src, out, reduction="add")


def scatter_reduce(x, dim, index, src, reduce, *, include_self=True, out=None):
    """torch.scatter_reduce."""
    return elements(x, dim, index, src, out, reduction=REDUCTIONS[reduce], use_init_val=include_self)


def rows(x, dim, index, source, out=None, **options):
    """Of rank 0 everything counts as a list of one."""
    target = None if out is None else with_axis(out)
    got = libgather.scatter(with_axis(x), with_axis(index), with_axis(source), axis=dim, out=target, **STRICT, **options)
    return given_back(x, got, out)


def index_add(x, dim, index, source, *, alpha=1, out=None):
    """torch.index_add: alpha multiplies the source first; each step is rounded."""
    return rows(x, dim, index, source * torch.tensor(alpha, dtype=source.dtype), out, reduction="add", accumulate="steps")


def index_copy(x, dim, index, source, *, out=None):
    """torch.index_copy."""
    return rows(x, dim, index, source, out)


def index_fill(x, dim, index, value):
    """torch.index_fill."""
    got = libgather.scatter(with_axis(x), with_axis(index), x.new_tensor(value), axis=dim)
    return got.reshape(x.shape)


def index_reduce(x, dim, index, source, reduce, *, include_self=True, out=None):
    """torch.index_reduce: elements, by the index of their row."""
    data, given = with_axis(x), with_axis(source)
    shape = [1] * data.dim()
    shape[dim] = -1
    wide = with_axis(index).reshape(shape).expand(given.shape)
    target = None if out is None else with_axis(out)
    options = {"reduction": REDUCTIONS[reduce], "use_init_val": include_self, "accumulate": "steps"}
    return given_back(x, libgather.scatter_elements(data, wide, given, axis=dim, out=target, **STRICT, **options), out)


def index_put(x, key, values, accumulate=False):
    """torch.index_put: the places that the key reads."""
    places = libgather.index(torch.arange(x.numel()).reshape(x.shape), tuple(key))
    new = values.expand(places.shape).reshape(-1)
    got = libgather.scatter(x.reshape(-1), places.reshape(-1), new, reduction="add" if accumulate else "none", accumulate="steps")
    return got.reshape(x.shape)


def put(x, index, source, accumulate=False):
    """torch.put: into the flat tensor."""
    got = libgather.scatter(x.reshape(-1), index.reshape(-1), source.reshape(-1), reduction="add" if accumulate else "none", accumulate="steps")
    return got.reshape(x.shape)


def embedding_bag(weight, input, offsets=None, *, mode="mean", per_sample_weights=None, include_last_offset=False, padding_idx=None, max_norm=None,
                  norm_type=2.0, scale_grad_by_freq=False, sparse=False):  # fmt: skip
    """torch.nn.functional.embedding_bag: the padding is left out. Scaling the rows to max_norm, in place, is PyTorch's own; the rest is about
    gradients.
    """
    if max_norm is not None:
        torch.embedding_renorm_(weight.detach(), input.contiguous().reshape(-1), max_norm, norm_type)
    options: dict[str, Any] = {"reduction": mode, "per_sample_weights": per_sample_weights, "include_last_offset": include_last_offset}
    if padding_idx is not None:
        input = torch.where(input == padding_idx % weight.shape[0], -1, input)
        options["mode"] = "skip"
    return libgather.embedding_bag(weight, input, offsets, **options, **STRICT)


OURS = {
    "index_add": index_add,
    "index_copy": index_copy,
    "index_fill": index_fill,
    "index_put": index_put,
    "index_reduce": index_reduce,
    "nn.functional.embedding_bag": embedding_bag,
    "put": put,
    "scatter": scatter,
    "scatter_add": scatter_add,
    "scatter_reduce": scatter_reduce,
}
