# SPDX-License-Identifier: MIT
"""Scenarios of torch_sharded.py: rows, gradients, what is counted, groups of some of the processes."""

from __future__ import annotations

import numpy as np
import torch
import torch.distributed as dist

import libgather
from libgather.torch import ShardedTable
from torch_sharded_data import fails, me, part_of, rows_of, same, table_of


IDS = (torch.int64, torch.int32, torch.int16, torch.uint16, torch.uint32, torch.uint64)


def random_cases(rounds: int = 60) -> None:
    common = np.random.default_rng(me.size)  # the same in every process
    mine = np.random.default_rng(1000 * me.size + me.rank)
    dtypes = (torch.float32, torch.uint8, torch.bfloat16, torch.int64, torch.float8_e4m3fn)
    for case in range(rounds):
        placement = ("blocks", "stripes", "points")[case % 3]
        lengths = [int(n) * int(common.integers(0, 4) > 0) for n in common.integers(0, 40, me.size)]
        lengths[int(common.integers(me.size))] += 1
        row = ((), (3,), (2, 0), (5, 4), (700,))[int(common.integers(5))]
        full = table_of(sum(lengths), row, dtypes[int(common.integers(5))], case)
        part = part_of(full, placement, lengths)
        if case % 4 == 1 and part.dim() > 1:  # not row-major
            part = part.transpose(0, -1).contiguous().transpose(0, -1)
        given = np.cumsum([0, *lengths]).tolist() if placement == "points" else placement
        table = ShardedTable(None, None if len(part) == 0 and case % 2 else part, placement=given)
        assert tuple(table.shape) == tuple(full.shape) and table.dtype == full.dtype and not table.shared and len(table) == len(full)
        for call in range(3):
            kind = IDS[int(mine.integers(len(IDS)))]
            low = -len(full) if kind.is_signed else 0
            shape = ((), (0,), (7,), (3, 4), (50,))[int(mine.integers(5))]
            ids = torch.from_numpy(mine.integers(low, len(full), shape)).to(kind) if shape else torch.tensor(int(mine.integers(low, len(full))), dtype=kind)
            wanted = rows_of(full, torch.where(ids.to(torch.int64) < 0, ids.to(torch.int64) + len(full), ids.to(torch.int64)))
            if call == 2 and row:  # with strides
                out = torch.zeros((*wanted.shape[:-1], 2 * wanted.shape[-1]), dtype=full.dtype)[..., ::2]
                assert table.take(ids, out=out) is out and same(out.contiguous(), wanted)
            else:
                assert same(table[ids], wanted), f"case {case}, {placement}, {row}, {kind}, {shape}"
        whole = torch.arange(len(full))
        owners = table.owner(whole)
        if placement == "stripes":
            assert torch.equal(owners, whole % me.size)
        else:
            assert torch.equal(owners, torch.repeat_interleave(torch.arange(me.size), torch.tensor(lengths)))


def dtypes() -> None:
    seen = 0
    kinds = {kind for kind in vars(torch).values() if isinstance(kind, torch.dtype)}
    for kind in sorted(kinds, key=str):
        if str(kind).startswith(("torch.q", "torch.bits", "torch.uint1", "torch.uint2", "torch.uint3", "torch.uint4", "torch.uint5",
                                 "torch.uint6", "torch.uint7", "torch.int1", "torch.int2", "torch.int3", "torch.int4", "torch.int5",
                                 "torch.int6", "torch.int7", "torch.float4")) and kind not in (torch.uint16, torch.uint32, torch.int16, torch.int32):  # fmt: skip
            continue  # no elements of whole bytes of their own
        full = table_of(20, (3,), kind, 1)
        table = ShardedTable(None, part_of(full, "stripes", []), placement="stripes")
        ids = torch.tensor([19, 0, -1, 7 + me.rank])
        assert same(table.take(ids), rows_of(full, ids % 20)), kind
        seen += 1
    assert seen >= 18, seen


def gradients() -> None:
    full = torch.randn(30, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    for placement in ("blocks", "stripes"):
        lengths = [30 // me.size + (i < 30 % me.size) for i in range(me.size)]
        mine = part_of(full, placement, lengths).clone().requires_grad_()
        table = ShardedTable(None, mine, placement=placement)
        ids = torch.randint(0, 30, (40 * (me.rank % 2) + 5,), generator=torch.Generator().manual_seed(me.rank))
        weight = torch.randn(ids.numel(), 3, generator=torch.Generator().manual_seed(50 + me.rank), dtype=torch.float64)
        rows = table.take(ids)
        assert rows.requires_grad and torch.equal(rows.detach(), full[ids])
        (rows * weight).sum().backward()
        every: list = [None] * me.size
        dist.all_gather_object(every, (ids, weight))
        dense = full.clone().requires_grad_()
        sum((dense[i] * w).sum() for i, w in every).backward()
        assert torch.allclose(mine.grad, part_of(dense.grad, placement, lengths), rtol=1e-13, atol=0)
        with torch.no_grad():
            assert not table.take(ids).requires_grad
            mine.mul_(2)  # the table's rows are the tensor's
            assert torch.equal(table.take(ids), 2 * full[ids])
        fails(libgather.GatherNotSupportedError, "rank 0: rows with gradients cannot be written into out=", table.take, [1], out=torch.zeros(1, 3, dtype=torch.float64))
        (first,) = torch.autograd.grad(table.take(ids), mine, weight.clone().requires_grad_(), create_graph=True)
        fails(RuntimeError, "differentiate twice", first.sum().backward)
        if me.size > 1:
            with torch.set_grad_enabled(me.rank == 0):
                fails(libgather.GatherValueError, "use torch.no_grad() in all ranks or in none", table.take, ids)
        # A process without rows takes part.
        alone = ShardedTable(None, full.clone().requires_grad_() if me.rank == 0 else None)
        alone.take(ids).sum().backward()
        if me.rank == 0:
            counts = torch.bincount(torch.cat([i for i, _ in every]), minlength=30)
            assert torch.equal(alone._source.data.grad, counts[:, None].expand(30, 3).double())


def counts() -> None:
    """Duplicates travel once, own rows not at all, buffers stay."""
    full = table_of(1000 * me.size, (16,), torch.int32, 6)
    table = ShardedTable(None, full[1000 * me.rank : 1000 * (me.rank + 1)])
    ids = torch.full((5000,), 1000 * ((me.rank + 1) % me.size) + 5)
    assert same(table.take(ids), rows_of(full, ids))
    done = table.stats()
    remote = int(me.size > 1)
    assert (done.takes, done.ids, done.unique, done.remote) == (1, 5000, 1, remote)
    assert done.sent_bytes == done.received_bytes == remote * (4 + 64)
    own = torch.arange(1000 * me.rank, 1000 * (me.rank + 1))
    table.take(own)
    assert table.stats().remote == remote and table.stats().buffer_bytes > 0
    kept = table.stats().buffer_bytes
    for _ in range(5):
        table.take(own)
    assert table.stats().buffer_bytes == kept
    table.release()
    assert table.stats().buffer_bytes == 0 and same(table.take(own), full[own])


def groups() -> None:
    """A group of some of the processes, in another order of the table."""
    chosen = list(range(0, me.size, 2))
    group = dist.new_group(chosen)
    if me.rank in chosen:
        full = table_of(10 * len(chosen), (2,), torch.float32, 7)
        at = chosen.index(me.rank)
        table = ShardedTable(group, full[10 * at : 10 * at + 10])
        ids = torch.arange(10 * len(chosen)).flip(0)
        assert same(table.take(ids), full.flip(0)) and table.process_group is group
    else:
        fails(libgather.GatherValueError, "not in the process group", ShardedTable, group, torch.zeros(1))
