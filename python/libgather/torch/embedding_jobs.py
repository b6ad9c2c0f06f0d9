# SPDX-License-Identifier: MIT
#
# embedding_jobs.py: rows that a DiskEmbedding reads ahead, in jobs of its table.
"""Prefetched rows."""

from __future__ import annotations

import os
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from libgather._core import TableJob
from libgather.table import Table

AT_ONCE = 4  # batches on their way


@dataclass(frozen=True, eq=False)  # compared by identity
class _Batch:
    ids: np.ndarray
    job: TableJob


def _ids_of(ids: Any, copy: bool = True) -> np.ndarray:
    array = np.array(ids) if copy else np.asarray(ids)
    return array.astype(np.int64) if array.size == 0 and isinstance(ids, list | tuple) else array


class Ahead:
    """The batches that are being read for a table, and how often calls used them. Any number of threads may use it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._batches: deque[_Batch] = deque()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self.prefetched = self.missed = self.dropped = 0

    def _after_fork(self) -> None:
        """A child has neither its parent's jobs nor the thread that held the lock."""
        if self._process != os.getpid():
            self._batches, self._lock, self._process = deque(), threading.Lock(), os.getpid()

    def begin(self, ids: Any) -> None:
        """Starts reading the rows of these ids, and keeps a copy of the ids."""
        self._after_fork()
        copy = _ids_of(ids)
        batch = _Batch(copy, self._table.submit(copy, negative=False))
        with self._lock:
            self._batches.append(batch)
            oldest = self._batches.popleft() if len(self._batches) > AT_ONCE else None
            self.dropped += oldest is not None
        if oldest is not None:
            oldest.job.cancel()

    def take(self, ids: Any) -> Any:
        """Removes the batch with these ids and returns its rows; None if there is none."""
        if not self._batches:
            return None
        self._after_fork()
        wanted = _ids_of(ids, copy=False)
        with self._lock:
            found = next((batch for batch in self._batches if np.array_equal(batch.ids, wanted)), None)
            if found is not None:
                self._batches.remove(found)
                self.prefetched += 1
            elif self._batches:
                self.missed += 1
        return None if found is None else found.job.wait()
