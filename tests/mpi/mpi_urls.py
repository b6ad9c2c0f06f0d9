# SPDX-License-Identifier: MIT
"""mpi_urls.py URL ROWS WIDTH BAD SAYS: a table whose part is, on each rank, the file at URL with the rank in the place of RANK. Its server does
not give row BAD of rank 1."""

import re
import sys

import numpy as np
from mpi4py import MPI

import libgather
import libgather.mpi
from libgather import errors

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
URL, SAYS = sys.argv[1], sys.argv[5]
ROWS, WIDTH, BAD = map(int, sys.argv[2:5])
BAD += ROWS  # of the whole table


def expected(ids: np.ndarray) -> np.ndarray:
    return ids[:, None] * WIDTH + np.arange(WIDTH)


def right(plan: libgather.mpi.Plan, seed: int) -> None:
    ids = np.random.default_rng(seed + RANK).integers(0, ROWS * RANKS, 60)
    ids[ids == BAD] += 1
    assert np.array_equal(plan.take(ids), expected(ids))


# Blocks, not "auto": each rank has another file. A gap of 0, so that the row is a request of its own.
part = libgather.open(URL.replace("RANK", str(RANK)), cache=0, remote={"connections": 4, "timeout": 6, "retries": 2, "gap": 0})
with part, libgather.mpi.Plan(COMM, part, seconds=120) as plan:
    assert plan.layout == "blocks" and plan.shape == (ROWS * RANKS, WIDTH)
    right(plan, 0)
    ids = np.array([3, BAD] if RANK == 0 else [5], np.int64)  # only rank 0 asks for it
    try:
        plan.take(ids)
    except errors.GatherError as error:
        text = str(error)
        assert error.rank == 1 and error.status == "io_error", (error.rank, error.status, text)
        assert text.startswith("rank 1: ") and "/part1.npy" in text and re.search(SAYS, text), text
    else:
        raise AssertionError("rows in spite of the fault")
    right(plan, 100)
print(f"as expected on rank {RANK}")
