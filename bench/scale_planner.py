# SPDX-License-Identifier: MIT
"""The planner of libgather_mpi itself, compiled from mpi/ and called by ctypes: which rank asks which for how many rows, in which round."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "bench/native/scale_planner.c", *(ROOT / "mpi" / name for name in ("schedule.c", "distinct.c", "spread.c")))


@dataclass(frozen=True)
class Asked:
    """One rank's plan. counts[p, r]: the rows that it asks of rank p in round r; hot: distinct rows that it has already."""

    counts: np.ndarray
    unique: int
    hot: int
    ids: int


def build(folder: Path) -> Path:
    """Compiles it, without MPI."""
    library = folder / "scale_planner.so"
    compiler = os.environ.get("GATHER_CC", "cc")
    subprocess.run([compiler, "-std=c11", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'mpi'}", *map(str, SOURCES), "-o", str(library)], check=True)
    return library


class Planner:
    """The planner, with its memory kept between plans. `hot`: rows that every rank has."""

    def __init__(self, hot: np.ndarray | None = None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self._library = ctypes.CDLL(str(build(Path(folder))))
        self._library.scale_open.restype = ctypes.c_void_p
        for name in ("scale_hot", "scale_plan"):
            getattr(self._library, name).restype = ctypes.c_bool
        self._library.scale_rounds.argtypes = [ctypes.c_int64]
        self._planner = ctypes.c_void_p(self._library.scale_open())
        self.set_hot(np.empty(0, np.int64) if hot is None else hot)

    def set_hot(self, rows: np.ndarray) -> None:
        rows = np.ascontiguousarray(rows, np.int64)
        if not self._library.scale_hot(self._planner, _pointer(rows), ctypes.c_int64(rows.size)):
            raise MemoryError("the hot rows")

    def rounds(self, bytes_of_rows: int) -> int:
        """How many rounds libgather_mpi makes of a take of so many bytes."""
        return self._library.scale_rounds(bytes_of_rows)

    def plan(self, ids: np.ndarray, ranks: int, rows: int, splits: np.ndarray | None, rounds: int) -> Asked:
        """One rank's plan. splits: ranks + 1 split points; None: stripes."""
        ids = np.ascontiguousarray(ids, np.int64)
        counts, totals = np.empty((ranks, rounds), np.int64), np.empty(2, np.int64)
        points = None if splits is None else _pointer(np.ascontiguousarray(splits, np.int64))
        done = self._library.scale_plan(self._planner, ctypes.c_int32(ranks), ctypes.c_int64(rows), points, _pointer(ids),
                                        ctypes.c_int64(ids.size), ctypes.c_int32(rounds), _pointer(counts), _pointer(totals))  # fmt: skip
        if not done:
            raise RuntimeError("the planner has no memory, or its plan is not one")
        return Asked(counts, int(totals[0]), int(totals[1]), ids.size)

    def __del__(self) -> None:
        if getattr(self, "_planner", None):
            self._library.scale_close(self._planner)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def even_splits(ranks: int, rows: int) -> np.ndarray:
    """Blocks of equal length, the last one shorter."""
    block = -(-rows // ranks)
    return np.minimum(np.arange(ranks + 1, dtype=np.int64) * block, rows)
