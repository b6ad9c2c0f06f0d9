# SPDX-License-Identifier: MIT
"""libgather.mpi and torch.distributed's all_to_all_single (gloo) on the same rows and ids, in one process, in turn. Run by mpirun:
ROWS BYTES IDS TAKES ZIPF as bench/mpi_peers.c. Rank 0 prints one line of JSON with the seconds of each take, of the slowest rank."""

import json
import os
import sys
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
from mpi4py import MPI

import libgather.mpi

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()


class Exchange:
    """What a program writes: unique ids, sorted, so by owner; counts; ids; rows; each by all_to_all_single. Kept: only the rows."""

    def __init__(self, table: torch.Tensor, ids: torch.Tensor):
        count = table.shape[0]
        unique, self.inverse = torch.unique(ids, return_inverse=True)
        self.asked = torch.bincount(unique // count, minlength=RANKS).tolist()
        given = torch.empty(RANKS, dtype=torch.int64)
        dist.all_to_all_single(given, torch.tensor(self.asked))
        self.given = given.tolist()
        self.wanted = torch.empty(sum(self.given), dtype=torch.int64)
        dist.all_to_all_single(self.wanted, unique % count, self.given, self.asked)
        self.leaving = torch.empty((len(self.wanted), table.shape[1]), dtype=table.dtype)
        self.arriving = torch.empty((len(unique), table.shape[1]), dtype=table.dtype)

    def take(self, table: torch.Tensor, out: torch.Tensor) -> None:
        torch.index_select(table, 0, self.wanted, out=self.leaving)
        dist.all_to_all_single(self.arriving, self.leaving, self.asked, self.given)
        torch.index_select(self.arriving, 0, self.inverse, out=out)


def timed(call) -> float:
    COMM.Barrier()
    start = time.perf_counter()
    call()
    return COMM.allreduce(time.perf_counter() - start, MPI.MAX)


def draw(rng: np.random.Generator, total: int, length: int, zipf: bool) -> np.ndarray:
    if not zipf:
        return rng.integers(0, total, length)
    numbers = np.minimum(np.power(total + 1.0, rng.random(length)).astype(np.int64) - 1, total - 1)
    return numbers * 2654435761 % total


def main() -> None:
    rows, width, length, takes, zipf = (int(word) for word in sys.argv[1:6])
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        store = dist.FileStore(COMM.bcast(os.path.join(folder, "store")), RANKS)
        dist.init_process_group("gloo", store=store, rank=RANK, world_size=RANKS)
        mine = np.random.default_rng(RANK).random((rows, width // 4)).astype(np.float32)
        table, rng = torch.from_numpy(mine), np.random.default_rng(100 + RANK)
        ids = draw(rng, rows * RANKS, length, bool(zipf))
        ours, theirs = np.zeros((length, width // 4), np.float32), torch.zeros((length, width // 4))
        times: dict[str, list[float]] = {name: [] for name in ("libgather kept", "torch kept", "libgather fresh", "torch fresh")}
        with libgather.mpi.Plan(COMM, mine) as plan:
            exchange = Exchange(table, torch.from_numpy(ids))
            for step in range(takes + 1):
                one = timed(lambda: plan.take(ids, out=ours))
                other = timed(lambda: exchange.take(table, theirs))
                if step:
                    times["libgather kept"].append(one)
                    times["torch kept"].append(other)
            assert np.array_equal(ours, theirs.numpy())
            for _ in range(takes):
                ids = draw(rng, rows * RANKS, length, bool(zipf))
                numbers = torch.from_numpy(ids)
                times["libgather fresh"].append(timed(lambda: plan.take(ids, out=ours)))
                times["torch fresh"].append(timed(lambda: Exchange(table, numbers).take(table, theirs)))
            assert np.array_equal(ours, theirs.numpy())
        COMM.Barrier()
        dist.destroy_process_group()
        if RANK == 0:
            print(json.dumps(times | {"ranks": RANKS}))


if __name__ == "__main__":
    main()
