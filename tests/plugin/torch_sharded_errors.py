# SPDX-License-Identifier: MIT
"""Scenarios of torch_sharded.py: what fails in one process fails in all."""

from __future__ import annotations

import os
import pickle

import numpy as np
import torch

import libgather
from libgather.torch import ShardedTable
from torch_sharded_data import fails, me, part_of, same, table_of


def no_memory(*_) -> torch.Tensor:
    raise RuntimeError("DefaultCPUAllocator: can't allocate memory")


def errors() -> None:
    full = table_of(40, (4,), torch.float32, 2)
    lengths = [40 // me.size] * (me.size - 1) + [40 - 40 // me.size * (me.size - 1)]
    table = ShardedTable(None, part_of(full, "blocks", lengths))
    last = me.size - 1
    before = table.stats()
    good = torch.tensor([1, 2])
    bad = torch.tensor([[1, 40], [-41, 3]], dtype=torch.int32)
    out = torch.full((2, 4), 7.0)
    error = fails(libgather.GatherIndexError, f"rank {last}: indices[0, 1] = 40 is outside [-40, 39] of axis 0 (take); 2 of 4 indices are bad",
                  table.take, bad if me.rank == last else good, out=None if me.rank == last else out)  # fmt: skip
    assert (error.rank, error.position, error.value, error.low, error.high, error.axis, error.bad_count) == (last, (0, 1), 40, -40, 39, 0, 2)
    assert isinstance(error, IndexError) and error.status == "index_out_of_range" and bool((out == 7).all())
    fails(libgather.GatherIndexError, "rank 0: ", table.take, [99])  # in all: the first
    fails(libgather.GatherIndexError, "rank 0: indices[0] = -1 is outside [0, 39]", table.take, [-1] if me.rank == 0 else [], negative=False)
    fails(libgather.GatherIndexError, "18446744073709551615 is outside [0, 39]", table.take, torch.tensor([2**64 - 1], dtype=torch.uint64))
    fails(libgather.GatherTypeError, "rank 0: ids must be integers, not float32", table.take, [0.5] if me.rank == 0 else [1])
    fails(libgather.GatherTypeError, "rank 0: ids must be integers, not bool", table.take, torch.tensor([True]))
    fails(libgather.GatherTypeError, "out is torch.int32", table.take, [1, 2], out=torch.zeros(2, 4, dtype=torch.int32))
    fails(libgather.GatherValueError, f"rank {last}: out has the shape [2, 5]", table.take, [1, 2], out=torch.zeros(2, 4 + (me.rank == last)))
    fails(TypeError, "rank 0: out must be a tensor", table.take, [1, 2], out=np.zeros((2, 4)))
    fails(libgather.GatherNotSupportedError, "rank 0: ids must be a plain CPU tensor", table.take, torch.zeros(2, dtype=torch.int64, device="meta"))
    assert table.stats() == before, "something moved"
    rows, table._buffers.rows = table._buffers.rows, no_memory if me.rank == last else table._buffers.rows
    fails(MemoryError, f"rank {last}: out of memory for the rows of", table.take, [0, 39])
    table._buffers.rows = rows
    assert same(table.take([3, 39]), full[[3, 39]])
    fails(libgather.GatherNotSupportedError, "belongs to the processes of its group", pickle.dumps, table)
    empty = ShardedTable(None, torch.zeros(0, 3))
    assert empty.take([]).shape == (0, 3)
    fails(libgather.GatherIndexError, "is outside an empty range", empty.take, [0])


def construction() -> None:
    x = torch.zeros(3, 2)
    last = me.size - 1
    fails(libgather.GatherFileNotFoundError, f"rank {last}: ", ShardedTable, None, "/nonexistent.npy" if me.rank == last else x)
    fails(libgather.GatherValueError, "no rank has rows", ShardedTable)
    fails(libgather.GatherValueError, "'blocks', 'stripes' or", ShardedTable, None, x, placement="cyclic")
    fails(libgather.GatherValueError, "split points for", ShardedTable, None, x, placement=[0])
    fails(libgather.GatherValueError, "split point 1 is 5, but the ranks before it have 3 rows", ShardedTable, None, x, placement=[0, 5, *[0] * (me.size - 1)])
    fails(libgather.GatherNotSupportedError, "rank 0: the rows must be a plain CPU tensor, not one on meta", ShardedTable, None, x.to("meta"))
    fails(libgather.GatherNotSupportedError, "conjugated", ShardedTable, None, torch.zeros(3, dtype=torch.complex64).conj())
    fails(libgather.GatherValueError, "rank 1 or more", ShardedTable, None, torch.tensor(1.0))
    fails(TypeError, "memory need a path", ShardedTable, None, x, memory="1MiB")
    if me.size > 1:
        other = torch.zeros(3, 3) if me.rank == 1 else x
        fails(libgather.GatherValueError, "a row of rank 1 is float32 [3], but one of rank 0 is float32 [2]", ShardedTable, None, other)
        fails(libgather.GatherTypeError, "a row of rank 1 is int64 [2]", ShardedTable, None, x.long() if me.rank == 1 else x)
        fails(libgather.GatherValueError, "rank 0 has 4 rows; in stripes of", ShardedTable, None, torch.zeros(4 if me.rank == 0 else 2, 2), placement="stripes")
        fails(libgather.GatherValueError, "placement is 'stripes' in rank 1", ShardedTable, None, x, placement="stripes" if me.rank == 1 else "blocks")
        fails(libgather.GatherValueError, "require no gradient", ShardedTable, None, x.clone().requires_grad_(me.rank == 1))


def lost() -> None:
    """A process that goes is an error in the others, in time."""
    table = ShardedTable(None, torch.zeros(100, 8))
    if me.rank == me.size - 1:
        os._exit(0)
    try:
        while True:
            table.take([100 * me.size - 1])
    except RuntimeError:
        os._exit(0)
