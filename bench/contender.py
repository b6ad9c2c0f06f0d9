# SPDX-License-Identifier: MIT
"""What runs against what: a contender is one way of calling one library on one case."""

from __future__ import annotations

from itertools import repeat
from time import perf_counter_ns, process_time_ns
from typing import Callable

import numpy as np


class LeftOut(Exception):
    """Raised by a peer that must not be given a case, with the reason."""


class Contender:
    """call() gathers. Its result is in the case's output, or is what call() returned (`own` memory, kept until the next call)."""

    def __init__(self, peer: str, form: str, call: Callable, *, own: bool = False, array: Callable = np.asarray,
                 setup: Callable = lambda: None, pool: bool = False, also_flush=(), clock: bool = False):
        self.peer, self.form, self.call, self.own, self.array = peer, form, call, own, array
        self.setup = setup  # before a block of calls, e.g. the number of threads
        self.pool = pool  # has threads that may spin after a call
        self.also_flush = also_flush
        self.clock = clock  # call(rounds) returns nanoseconds itself
        self.kept = None
        self.value = None  # of the tuning parameter that it is measured at, see tuned.py
        self.times: list[float] = []
        self.cpu: list[float] = []  # what `spent` was at each of them
        self.spent = 0.0
        self.probe = float("nan")
        self.refused = ""  # why it does not count, although its results are right here
        self.disturbed = 0  # measurements in which other programs had the CPU, however often they were repeated

    def result(self, out: np.ndarray) -> np.ndarray:
        """What the last call of time_once gave."""
        return self.array(self.kept) if self.own else out

    def own_memory(self):
        """The memory of the last result, to be flushed: an allocator gives the same lines again, still in the cache."""
        if not self.own or self.kept is None:
            return ()
        array = self.array(self.kept)
        return ((array.ctypes.data, array.nbytes),)

    def time_once(self, rounds: int = 1) -> float:
        """Nanoseconds per call. `spent` is then the CPU time per call, of all threads, which other programs do not stretch."""
        call = self.call
        if self.own:
            self.kept = None
        used = process_time_ns()
        if self.clock:
            elapsed = call(rounds)
        elif rounds == 1:
            start = perf_counter_ns()
            kept = call()
            elapsed = perf_counter_ns() - start
            self.kept = kept if self.own else None
        else:
            start = perf_counter_ns()
            for _ in repeat(None, rounds):
                call()
            elapsed = perf_counter_ns() - start
        self.spent = (process_time_ns() - used) / rounds
        return elapsed / rounds
