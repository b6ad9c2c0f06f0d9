# SPDX-License-Identifier: MIT
"""Scenarios of torch_sharded.py: parts in files, quantised ones, and behind URLs."""

from __future__ import annotations

import os
import urllib.request

import numpy as np
import torch
import torch.distributed as dist

import libgather
from libgather.torch import ShardedTable
from torch_sharded_data import fails, gguf, me, same


def files() -> None:
    full = np.random.default_rng(3).standard_normal((50, 6)).astype(np.float32)
    path = me.folder / f"part{me.rank}.npy"
    bounds = [50 * i // me.size for i in range(me.size + 1)]
    np.save(path, full[bounds[me.rank] : bounds[me.rank + 1]])
    if me.rank == 0:
        np.save(me.folder / "whole.npy", full)
    dist.barrier()
    ids = torch.tensor([[49, 0], [-1 - me.rank, 25]])
    wanted = torch.from_numpy(full)[ids]
    parts = ShardedTable(None, path, memory="16MiB")
    assert parts.shared is False and torch.equal(parts.take(ids), wanted)
    mixed = ShardedTable(None, path if me.rank else torch.from_numpy(full[: bounds[1]]))  # files and memory
    assert torch.equal(mixed.take(ids), wanted)
    swapped = me.folder / f"big{me.rank}.npy"  # the other byte order
    np.save(swapped, full[bounds[me.rank] : bounds[me.rank + 1]].astype(">f4"))
    assert torch.equal(ShardedTable(None, swapped).take(ids), wanted)
    # All have the same file: nothing is exchanged, and a call is no matter of the others.
    whole = ShardedTable(None, me.folder / "whole.npy")
    assert whole.shared is (me.size > 1) and len(whole) == 50
    if me.size > 1:
        assert f"the same rows in each of {me.size} processes: each reads its own" in repr(whole)
        if me.rank == 0:
            assert torch.equal(whole.take(ids), wanted) and whole.stats().sent_bytes == 0
            out = torch.zeros(2, 2, 12)[..., ::2]
            assert torch.equal(whole.take(ids, out=out), wanted) and torch.equal(whole.owner(ids), torch.zeros(2, 2, dtype=torch.int64))
            fails(libgather.GatherIndexError, "indices[0] = 50 is outside [-50, 49]", whole.take, [50])
        several = ShardedTable(None, me.folder / "whole.npy", same_files=False)
        assert len(several) == 50 * me.size and torch.equal(several.take(ids % 50 + 50), torch.from_numpy(full)[ids % 50])
        fails(libgather.GatherValueError, "same_files=True, but the files of rank 1 differ from those of rank 0", ShardedTable, None, path, same_files=True)
    # A file that cannot be read when its rows are wanted: an error in all.
    torn = me.folder / f"torn{me.rank}.npy"
    np.save(torn, np.zeros((4096, 64), np.float32))
    table = ShardedTable(None, torn, engine="pread", buffered=True, cache=0, keep_signals=True)
    if me.rank == me.size - 1:
        os.truncate(torn, 1000)
    error = fails(libgather.GatherFileError, f"rank {me.size - 1}: ", table.take, [4096 * me.size - 1])
    assert error.rank == me.size - 1
    assert torch.equal(parts.take(ids), wanted)


def quantised() -> None:
    """Blocks travel as they are stored, and are decoded by the process that asked."""
    rng = np.random.default_rng(4)
    blocks = rng.integers(0, 256, (30, 4, 34), dtype=np.uint8)
    blocks[..., :2] = rng.uniform(0.1, 2, (30, 4)).astype(np.float16)[..., None].view(np.uint8)
    values = blocks[..., :2].copy().view(np.float16).astype(np.float32) * blocks[..., 2:].view(np.int8).astype(np.float32)
    wanted = torch.from_numpy(values.reshape(30, 128))
    bounds = [30 * i // me.size for i in range(me.size + 1)]
    path = me.folder / f"q{me.rank}.gguf"
    path.write_bytes(gguf(blocks[bounds[me.rank] : bounds[me.rank + 1]]))
    ids = torch.tensor([29, 0, 15, 15, -1])
    for dtype in ("float32", "bfloat16"):
        table = ShardedTable(None, path, decode_as=dtype)
        before = table.stats()
        assert str(table.dtype) == f"torch.{dtype}" and same(table.take(ids), wanted[ids].to(table.dtype))
        done = table.stats()
        asked = done.remote - before.remote
        assert done.received_bytes - before.received_bytes <= asked * 4 * 34 + 4 * 3 * me.size, "the numbers travelled"
        assert (asked > 0) == (me.size > 1)
    raw = ShardedTable(None, path)
    assert raw.dtype == torch.uint8 and torch.equal(raw.take(ids), torch.from_numpy(blocks)[ids])


def urls() -> None:
    """The same URL in all processes: each takes its own rows by ranges, without the others. Other URLs are parts, and errors are everybody's."""
    address = os.environ["GATHER_TEST_URL"]
    full = torch.arange(39_999 * 16, dtype=torch.float32).reshape(-1, 16)
    whole = ShardedTable(None, f"{address}/whole.npy")
    assert whole.shared is (me.size > 1) and tuple(whole.shape) == (39_999, 16)
    ids = torch.tensor([[39_998, 0], [-1 - me.rank, 30]])
    if me.rank == 0 or me.size == 1:
        assert torch.equal(whole.take(ids), full[ids])
        fails(libgather.GatherIndexError, "indices[0] = 40000 is outside [-39999, 39998]", whole.take, [40_000])
    assert whole.stats().sent_bytes == 0
    parts = ShardedTable(None, f"{address}/part{me.rank}.npy")
    assert parts.shared is False and torch.equal(parts.take(ids), full[ids])
    last = me.size - 1
    error = fails(libgather.GatherFileError, f"rank {last}: ", ShardedTable, None, f"{address}/{'missing' if me.rank == last else 'part0'}.npy?key=secret")
    assert "404" in str(error) and "secret" not in str(error)
    parts = ShardedTable(None, f"{address}/part{me.rank}.npy")
    if me.rank == 0:
        urllib.request.urlopen(f"{address}/gone/{last}").read()  # the server forgets the last part
    dist.barrier()
    error = fails(libgather.GatherFileError, f"rank {last}: ", parts.take, [39_998 - me.rank])
    assert error.rank == last and "410" in str(error)
