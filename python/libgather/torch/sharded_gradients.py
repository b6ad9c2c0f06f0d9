# SPDX-License-Identifier: MIT
#
# sharded_gradients.py: the gradient of a ShardedTable's rows: the exchange backwards, and a sum in the process that has the row.
"""Gradients of rows of a ShardedTable."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from libgather.torch.sharded_exchange import Request, Route

__all__ = ["recorded"]


class _Take(torch.autograd.Function):
    """take() with a gradient. `mine` is an argument, so that autograd knows it."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor, table: Any, request: Request) -> Tensor:
        rows, route = table.exchange(request, True)
        ctx.table, ctx.route, ctx.mine_shape, ctx.mine_dtype = table, route, mine.shape, mine.dtype
        return rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return _returned(ctx.table._group, ctx.route, gradient, ctx.mine_shape, ctx.mine_dtype), None, None


def _returned(group: Any, route: Route, gradient: Tensor, shape: torch.Size, dtype: torch.dtype) -> Tensor:
    """For each row of this process, the sum of all processes' gradients of it."""
    row = shape[1:]
    remote = sum(route.sent)
    sums = _summed(gradient.reshape(-1, *row), route.inverse.reshape(-1), (remote + route.own.numel(), *row))
    found = torch.empty(sum(route.arrived), *row, dtype=dtype)
    width = row.numel() * dtype.itemsize
    if width:
        group.all_to_all(_bytes(found, width), _bytes(sums[:remote], width), route.arrived, route.sent)
    return _summed(torch.cat([sums[remote:], found]), torch.cat([route.own, route.wanted.to(torch.int64)]), tuple(shape))


def _summed(rows: Tensor, ids: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Adds rows by number. float16 and bfloat16 are added in float32, and rounded once."""
    return torch.ops.libgather.gather_backward.default(rows, ids, shape, "take", 0, 0, "raise", False)


def _bytes(rows: Tensor, width: int) -> Tensor:
    return rows.contiguous().reshape(-1).view(torch.uint8).view(rows.shape[0], width)


def recorded(table: Any, request: Request) -> Tensor:
    """take(), recorded for backward(). A process without rows takes part with a tensor of no rows."""
    source = table._source
    mine = getattr(source, "data", None)
    if mine is None:
        mine = torch.empty(0, *table._layout.row.shape, dtype=table.dtype, requires_grad=True)
    return _Take.apply(mine, table, request)
