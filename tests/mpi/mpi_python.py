# SPDX-License-Identifier: MIT
"""mpi_python.py FOLDER: libgather.mpi on the ranks of mpirun, compared with NumPy's indexing of the whole table."""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import libgather
import libgather.mpi
from libgather import errors
from libgather._mpi_agree import gather_facts

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
FOLDER = Path(sys.argv[1])
WHOLE = np.random.default_rng(5).random((100 * RANKS, 7)).astype(np.float32)
MINE = WHOLE[100 * RANK : 100 * RANK + 100]
IDS = np.random.default_rng(RANK).integers(-100 * RANKS, 100 * RANKS, (5, RANK))


def refused(kind: type, call, **fields) -> errors.GatherError:
    try:
        call()
    except kind as error:
        for name, value in fields.items():
            assert getattr(error, name) == value, (name, getattr(error, name), value, str(error))
        return error
    raise AssertionError(f"no {kind.__name__}")


def arrays() -> None:
    assert np.array_equal(libgather.mpi.take(COMM, MINE, IDS), WHOLE[IDS])
    for dtype in ("int8", "<M8[s]", "complex128", [("a", "i4"), ("b", "f8")]):
        table = np.zeros((RANKS * 10, 3), dtype)
        table.view(np.uint8)[:] = np.random.default_rng(1).integers(0, 99, table.view(np.uint8).shape)
        rows = libgather.mpi.take(COMM, table[10 * RANK : 10 * RANK + 10], [3, 0, RANKS * 10 - 1])
        assert rows.dtype == table.dtype and rows.tobytes() == table[[3, 0, -1]].tobytes()
    splits = [0, *(100 * rank + 30 for rank in range(1, RANKS)), 100 * RANKS]
    with libgather.mpi.Plan(COMM, WHOLE[splits[RANK] : splits[RANK + 1]], layout="splits", splits=splits) as plan:
        assert np.array_equal(plan.take(IDS), WHOLE[IDS]) and plan.shape == WHOLE.shape


def plans() -> None:
    with libgather.mpi.Plan(COMM, WHOLE[RANK::RANKS], layout="stripes", rounds=3) as plan:
        for kind in (np.int8, np.uint16, np.uint64):
            ids = np.array([1, 2, 3], kind)
            assert np.array_equal(plan.take(ids), WHOLE[ids])
        out = np.empty((3, 7), np.float32)
        for _ in range(3):
            assert plan.take([5, 6, 7], out=out) is out and np.array_equal(out, WHOLE[5:8])
        assert plan.take([]).shape == (0, 7)
        last = RANKS - 1
        index = refused(errors.GatherIndexError, lambda: plan.take([0, 1, 10**6 if RANK == last else 3]), rank=last, position=(2,), value=10**6, bad_count=1)
        assert RANKS == 1 or str(index).startswith(f"rank {last}: ")
        refused(errors.GatherTypeError, lambda: plan.take(np.array([0.5])), rank=0)
        refused(errors.GatherValueError, lambda: plan.take([1], out=np.empty((1, 7)) if RANK == 0 else None), rank=0)
        counts = plan.statistics()
        assert counts.takes == 7 and counts.takes_kept == 3 and plan.layout == "stripes"
    refused(ValueError, lambda: plan.take([1]))
    with libgather.mpi.Plan(COMM, MINE, mode="fill", fill_value=-1, negative=False) as plan:
        assert np.array_equal(plan.take([-1, 3]), np.stack([np.full(7, -1, np.float32), WHOLE[3]]))


def tables() -> None:
    part, shared = FOLDER / f"{RANK}.npy", FOLDER / "all.npy"
    np.save(part, MINE)
    if RANK == 0:
        np.save(shared, WHOLE)
    COMM.Barrier()
    with libgather.open(part) as table, libgather.mpi.Plan(COMM, table) as plan:
        assert plan.layout == "blocks" and np.array_equal(plan.take(IDS), WHOLE[IDS])
    with libgather.open(shared) as table, libgather.mpi.Plan(COMM, table) as plan:
        assert plan.layout == ("same" if RANKS > 1 else "blocks") and np.array_equal(plan.take(IDS), WHOLE[IDS])
        COMM.Barrier()
    table = libgather.open(part)
    with libgather.mpi.Plan(COMM, table) as plan:
        if RANK == RANKS - 1:
            table.close()
        error = refused(errors.GatherError, lambda: plan.take(np.arange(100 * RANKS)), rank=RANKS - 1)
        assert (error.__cause__ is not None) == (RANK == RANKS - 1)


def differences() -> None:
    if RANKS > 1:
        refused(errors.GatherTypeError, lambda: libgather.mpi.Plan(COMM, MINE.astype(np.int32) if RANK == 1 else MINE), rank=1)
        refused(errors.GatherValueError, lambda: libgather.mpi.Plan(COMM, MINE[:, :2] if RANK == 1 else MINE), rank=1)
        refused(errors.GatherValueError, lambda: libgather.mpi.Plan(COMM, MINE, rounds=1 + RANK % 2), rank=1, status="mismatch")
    refused(ValueError, lambda: libgather.mpi.Plan(COMM, MINE, layout="rows"))
    refused(ValueError, lambda: libgather.mpi.Plan(COMM, MINE.T))


def faults() -> None:
    """What fails on one rank alone, before the library is called, is an error on all."""
    last = RANKS - 1
    path = FOLDER / f"mine{RANK}.npy"
    np.save(path, MINE)
    with libgather.mpi.Plan(COMM, path) as plan:
        assert np.array_equal(plan.take(IDS), WHOLE[IDS])
        kind = ValueError if RANK == last else errors.GatherTypeError
        error = refused(kind, lambda: plan.take([[1], [2, 3]] if RANK == last else [1]))
        assert RANK == last or error.rank == last
        error = refused(TypeError if RANK == last else errors.GatherValueError, lambda: plan.take([1], out=[] if RANK == last else None))
        assert np.array_equal(plan.take(IDS), WHOLE[IDS])
    (FOLDER / "bad.npy").write_bytes(b"no array")
    for name, kind in (("missing.npy", errors.GatherFileNotFoundError), ("bad.npy", errors.GatherError)):
        error = refused(kind, lambda: libgather.mpi.Plan(COMM, FOLDER / name if RANK == last else path))  # noqa: B023
        assert (RANK == last or (error.rank == last and str(error).startswith(f"rank {last}: "))) and name in str(error), str(error)
    refused(ValueError, lambda: libgather.mpi.Plan(COMM, MINE.T if RANK == last else MINE))
    refused(TypeError, lambda: libgather.mpi.Plan(COMM, MINE.astype(object) if RANK == last else MINE))
    if RANKS > 1:
        refused(errors.GatherValueError, lambda: libgather.mpi.Plan(COMM, MINE, layout="stripes" if RANK else "blocks"), rank=1, status="mismatch")


def late() -> None:
    """A rank that does not come: the others do not wait for ever."""
    comm = COMM.Dup()
    if RANK == RANKS - 1 and RANKS > 1:
        for rank in range(RANKS - 1):
            comm.recv(source=rank)
        gather_facts(comm, {}, 60)
    elif RANKS > 1:
        refused(errors.GatherFileError, lambda: libgather.mpi.Plan(comm, MINE, seconds=1), status="io_error")
        comm.send(None, dest=RANKS - 1)
    COMM.Barrier()


for part in (arrays, plans, tables, differences, faults, late):
    part()
print(f"equal on rank {RANK}")
