# SPDX-License-Identifier: MIT
#
# torch_sharded.py SCENARIO PROCESSES FOLDER: what test_torch_sharded.py runs: a scenario in a gloo group of forked processes. Every process
# knows the whole table, and compares.
"""Scenarios of ShardedTable."""

from __future__ import annotations

import datetime
import os
import sys
import traceback
import warnings
from pathlib import Path

os.environ["GLOO_SOCKET_IFNAME"] = "lo"

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import libgather  # noqa: E402
from libgather.torch import ShardedTable  # noqa: E402
from torch_sharded_data import fails, gguf, rows_of, same, table_of  # noqa: E402

RANK, SIZE, FOLDER = 0, 1, Path()
IDS = (torch.int64, torch.int32, torch.int16, torch.uint16, torch.uint32, torch.uint64)


def part_of(full: torch.Tensor, placement: str, lengths: list[int]) -> torch.Tensor:
    if placement == "stripes":
        return full[RANK::SIZE]
    first = sum(lengths[:RANK])
    return full[first : first + lengths[RANK]]


# ---- scenarios ----


def random_cases(rounds: int = 60) -> None:
    common = np.random.default_rng(SIZE)  # the same in every process
    mine = np.random.default_rng(1000 * SIZE + RANK)
    dtypes = (torch.float32, torch.uint8, torch.bfloat16, torch.int64, torch.float8_e4m3fn)
    for case in range(rounds):
        placement = ("blocks", "stripes", "points")[case % 3]
        lengths = [int(n) * int(common.integers(0, 4) > 0) for n in common.integers(0, 40, SIZE)]
        lengths[int(common.integers(SIZE))] += 1
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
            assert torch.equal(owners, whole % SIZE)
        else:
            assert torch.equal(owners, torch.repeat_interleave(torch.arange(SIZE), torch.tensor(lengths)))


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
        ids = torch.tensor([19, 0, -1, 7 + RANK])
        assert same(table.take(ids), rows_of(full, ids % 20)), kind
        seen += 1
    assert seen >= 18, seen


def no_memory(*_) -> torch.Tensor:
    raise RuntimeError("DefaultCPUAllocator: can't allocate memory")


def errors() -> None:
    full = table_of(40, (4,), torch.float32, 2)
    lengths = [40 // SIZE] * (SIZE - 1) + [40 - 40 // SIZE * (SIZE - 1)]
    table = ShardedTable(None, part_of(full, "blocks", lengths))
    last = SIZE - 1
    before = table.stats()
    good = torch.tensor([1, 2])
    bad = torch.tensor([[1, 40], [-41, 3]], dtype=torch.int32)
    out = torch.full((2, 4), 7.0)
    error = fails(libgather.GatherIndexError, f"rank {last}: indices[0, 1] = 40 is outside [-40, 39] of axis 0 (take); 2 of 4 indices are bad",
                  table.take, bad if RANK == last else good, out=None if RANK == last else out)  # fmt: skip
    assert (error.rank, error.position, error.value, error.low, error.high, error.axis, error.bad_count) == (last, (0, 1), 40, -40, 39, 0, 2)
    assert isinstance(error, IndexError) and error.status == "index_out_of_range" and bool((out == 7).all())
    fails(libgather.GatherIndexError, "rank 0: ", table.take, [99])  # in all: the first
    fails(libgather.GatherIndexError, "rank 0: indices[0] = -1 is outside [0, 39]", table.take, [-1] if RANK == 0 else [], negative=False)
    fails(libgather.GatherIndexError, "18446744073709551615 is outside [0, 39]", table.take, torch.tensor([2**64 - 1], dtype=torch.uint64))
    fails(libgather.GatherTypeError, "rank 0: ids must be integers, not float32", table.take, [0.5] if RANK == 0 else [1])
    fails(libgather.GatherTypeError, "rank 0: ids must be integers, not bool", table.take, torch.tensor([True]))
    fails(libgather.GatherTypeError, "out is torch.int32", table.take, [1, 2], out=torch.zeros(2, 4, dtype=torch.int32))
    fails(libgather.GatherValueError, f"rank {last}: out has the shape [2, 5]", table.take, [1, 2], out=torch.zeros(2, 4 + (RANK == last)))
    fails(TypeError, "rank 0: out must be a tensor", table.take, [1, 2], out=np.zeros((2, 4)))
    fails(libgather.GatherNotSupportedError, "rank 0: ids must be a plain tensor", table.take, torch.zeros(2, dtype=torch.int64, device="meta"))
    assert table.stats() == before, "something moved"
    rows, table._buffers.rows = table._buffers.rows, no_memory if RANK == last else table._buffers.rows
    fails(MemoryError, f"rank {last}: no memory for the rows of", table.take, [0, 39])
    table._buffers.rows = rows
    assert same(table.take([3, 39]), full[[3, 39]])
    fails(libgather.GatherNotSupportedError, "belongs to the processes of its group", __import__("pickle").dumps, table)
    empty = ShardedTable(None, torch.zeros(0, 3))
    assert empty.take([]).shape == (0, 3)
    fails(libgather.GatherIndexError, "is outside an empty range", empty.take, [0])


def construction() -> None:
    x = torch.zeros(3, 2)
    last = SIZE - 1
    fails(libgather.GatherFileNotFoundError, f"rank {last}: ", ShardedTable, None, "/nonexistent.npy" if RANK == last else x)
    fails(libgather.GatherValueError, "no rank has rows", ShardedTable)
    fails(libgather.GatherValueError, "'blocks', 'stripes' or", ShardedTable, None, x, placement="cyclic")
    fails(libgather.GatherValueError, "split points for", ShardedTable, None, x, placement=[0])
    fails(libgather.GatherValueError, "split point 1 is 5, and the ranks before it have 3 rows", ShardedTable, None, x, placement=[0, 5, *[0] * (SIZE - 1)])
    fails(libgather.GatherNotSupportedError, "rank 0: the rows must be a plain tensor in the CPU's memory, not one on meta", ShardedTable, None, x.to("meta"))
    fails(libgather.GatherNotSupportedError, "conjugated", ShardedTable, None, torch.zeros(3, dtype=torch.complex64).conj())
    fails(libgather.GatherValueError, "rank 1 or more", ShardedTable, None, torch.tensor(1.0))
    fails(TypeError, "memory need a path", ShardedTable, None, x, memory="1MiB")
    if SIZE > 1:
        other = torch.zeros(3, 3) if RANK == 1 else x
        fails(libgather.GatherValueError, "a row of rank 1 is float32 [3], and one of rank 0 is float32 [2]", ShardedTable, None, other)
        fails(libgather.GatherTypeError, "a row of rank 1 is int64 [2]", ShardedTable, None, x.long() if RANK == 1 else x)
        fails(libgather.GatherValueError, "rank 0 has 4 rows; in stripes of", ShardedTable, None, torch.zeros(4 if RANK == 0 else 2, 2), placement="stripes")
        fails(libgather.GatherValueError, "placement is 'stripes' in rank 1", ShardedTable, None, x, placement="stripes" if RANK == 1 else "blocks")
        fails(libgather.GatherValueError, "require no gradient", ShardedTable, None, x.clone().requires_grad_(RANK == 1))


def files() -> None:
    full = np.random.default_rng(3).standard_normal((50, 6)).astype(np.float32)
    path = FOLDER / f"part{RANK}.npy"
    bounds = [50 * i // SIZE for i in range(SIZE + 1)]
    np.save(path, full[bounds[RANK] : bounds[RANK + 1]])
    if RANK == 0:
        np.save(FOLDER / "whole.npy", full)
    dist.barrier()
    ids = torch.tensor([[49, 0], [-1 - RANK, 25]])
    wanted = torch.from_numpy(full)[ids]
    parts = ShardedTable(None, path, memory="16MiB")
    assert parts.shared is False and torch.equal(parts.take(ids), wanted)
    mixed = ShardedTable(None, path if RANK else torch.from_numpy(full[: bounds[1]]))  # files and memory
    assert torch.equal(mixed.take(ids), wanted)
    swapped = FOLDER / f"big{RANK}.npy"  # the other byte order
    np.save(swapped, full[bounds[RANK] : bounds[RANK + 1]].astype(">f4"))
    assert torch.equal(ShardedTable(None, swapped).take(ids), wanted)
    # All have the same file: nothing is exchanged, and a call is no matter of the others.
    whole = ShardedTable(None, FOLDER / "whole.npy")
    assert whole.shared is (SIZE > 1) and len(whole) == 50
    if SIZE > 1:
        assert f"the same rows in each of {SIZE} processes: each reads its own" in repr(whole)
        if RANK == 0:
            assert torch.equal(whole.take(ids), wanted) and whole.stats().sent_bytes == 0
            out = torch.zeros(2, 2, 12)[..., ::2]
            assert torch.equal(whole.take(ids, out=out), wanted) and torch.equal(whole.owner(ids), torch.zeros(2, 2, dtype=torch.int64))
            fails(libgather.GatherIndexError, "indices[0] = 50 is outside [-50, 49]", whole.take, [50])
        several = ShardedTable(None, FOLDER / "whole.npy", same_files=False)
        assert len(several) == 50 * SIZE and torch.equal(several.take(ids % 50 + 50), torch.from_numpy(full)[ids % 50])
        fails(libgather.GatherValueError, "same_files=True, and rank 1 has other files than rank 0", ShardedTable, None, path, same_files=True)
    # A file that cannot be read when its rows are wanted: an error in all.
    torn = FOLDER / f"torn{RANK}.npy"
    np.save(torn, np.zeros((4096, 64), np.float32))
    table = ShardedTable(None, torn, engine="pread", buffered=True, cache=0, keep_signals=True)
    if RANK == SIZE - 1:
        os.truncate(torn, 1000)
    error = fails(libgather.GatherFileError, f"rank {SIZE - 1}: ", table.take, [4096 * SIZE - 1])
    assert error.rank == SIZE - 1
    assert torch.equal(parts.take(ids), wanted)


def quantised() -> None:
    """Blocks travel as they are stored, and are decoded by the process that asked."""
    rng = np.random.default_rng(4)
    blocks = rng.integers(0, 256, (30, 4, 34), dtype=np.uint8)
    blocks[..., :2] = rng.uniform(0.1, 2, (30, 4)).astype(np.float16)[..., None].view(np.uint8)
    values = blocks[..., :2].copy().view(np.float16).astype(np.float32) * blocks[..., 2:].view(np.int8).astype(np.float32)
    wanted = torch.from_numpy(values.reshape(30, 128))
    bounds = [30 * i // SIZE for i in range(SIZE + 1)]
    path = FOLDER / f"q{RANK}.gguf"
    path.write_bytes(gguf(blocks[bounds[RANK] : bounds[RANK + 1]]))
    ids = torch.tensor([29, 0, 15, 15, -1])
    for dtype in ("float32", "bfloat16"):
        table = ShardedTable(None, path, decode_as=dtype)
        before = table.stats()
        assert str(table.dtype) == f"torch.{dtype}" and same(table.take(ids), wanted[ids].to(table.dtype))
        done = table.stats()
        asked = done.remote - before.remote
        assert done.received_bytes - before.received_bytes <= asked * 4 * 34 + 4 * 3 * SIZE, "the numbers travelled"
        assert (asked > 0) == (SIZE > 1)
    raw = ShardedTable(None, path)
    assert raw.dtype == torch.uint8 and torch.equal(raw.take(ids), torch.from_numpy(blocks)[ids])


def gradients() -> None:
    full = torch.randn(30, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    for placement in ("blocks", "stripes"):
        lengths = [30 // SIZE + (i < 30 % SIZE) for i in range(SIZE)]
        mine = part_of(full, placement, lengths).clone().requires_grad_()
        table = ShardedTable(None, mine, placement=placement)
        ids = torch.randint(0, 30, (40 * (RANK % 2) + 5,), generator=torch.Generator().manual_seed(RANK))
        weight = torch.randn(ids.numel(), 3, generator=torch.Generator().manual_seed(50 + RANK), dtype=torch.float64)
        rows = table.take(ids)
        assert rows.requires_grad and torch.equal(rows.detach(), full[ids])
        (rows * weight).sum().backward()
        every: list = [None] * SIZE
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
        if SIZE > 1:
            with torch.set_grad_enabled(RANK == 0):
                fails(libgather.GatherValueError, "torch.no_grad() is for all or for none", table.take, ids)
        # A process without rows takes part.
        alone = ShardedTable(None, full.clone().requires_grad_() if RANK == 0 else None)
        alone.take(ids).sum().backward()
        if RANK == 0:
            counts = torch.bincount(torch.cat([i for i, _ in every]), minlength=30)
            assert torch.equal(alone._source.data.grad, counts[:, None].expand(30, 3).double())


def counts() -> None:
    """Duplicates travel once, own rows not at all, buffers stay."""
    full = table_of(1000 * SIZE, (16,), torch.int32, 6)
    table = ShardedTable(None, full[1000 * RANK : 1000 * (RANK + 1)])
    ids = torch.full((5000,), 1000 * ((RANK + 1) % SIZE) + 5)
    assert same(table.take(ids), rows_of(full, ids))
    done = table.stats()
    remote = int(SIZE > 1)
    assert (done.takes, done.ids, done.unique, done.remote) == (1, 5000, 1, remote)
    assert done.sent_bytes == done.received_bytes == remote * (4 + 64)
    own = torch.arange(1000 * RANK, 1000 * (RANK + 1))
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
    chosen = list(range(0, SIZE, 2))
    group = dist.new_group(chosen)
    if RANK in chosen:
        full = table_of(10 * len(chosen), (2,), torch.float32, 7)
        at = chosen.index(RANK)
        table = ShardedTable(group, full[10 * at : 10 * at + 10])
        ids = torch.arange(10 * len(chosen)).flip(0)
        assert same(table.take(ids), full.flip(0)) and table.process_group is group
    else:
        fails(libgather.GatherValueError, "not in the process group", ShardedTable, group, torch.zeros(1))


def lost() -> None:
    """A process that goes is an error in the others, in time."""
    table = ShardedTable(None, torch.zeros(100, 8))
    if RANK == SIZE - 1:
        os._exit(0)
    try:
        while True:
            table.take([100 * SIZE - 1])
    except RuntimeError:
        os._exit(0)


def run(scenario: str, rank: int, size: int, folder: str) -> None:
    global RANK, SIZE, FOLDER
    RANK, SIZE, FOLDER = rank, size, Path(folder)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of complex32
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous-{scenario}", rank=rank, world_size=size, timeout=datetime.timedelta(seconds=60))
    for name in scenario.split(","):
        globals()[name]()
        dist.barrier()
    dist.destroy_process_group()


def main(scenario: str, size: int, folder: str) -> int:
    """Forks: PyTorch is imported once."""
    children = {}
    for rank in range(size):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                run(scenario, rank, size, folder)
                code = 0
            except BaseException:  # noqa: BLE001
                sys.stderr.write(f"rank {rank} of {size}: {traceback.format_exc()}")
            finally:
                sys.stderr.flush()
                os._exit(code)
        children[child] = rank
    failed = 0
    while children:
        pid, status = os.wait()
        children.pop(pid)
        if status and not failed:
            failed = 1
            for other in children:  # which would wait for it
                os.kill(other, 9)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
