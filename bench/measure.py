# SPDX-License-Identifier: MIT
"""Measures one row: who is right, then everybody in turns."""

from __future__ import annotations

import resource
import time

import grid
import numpy as np
import summary
from cases import Arenas, Memory
from contender import Contender, LeftOut
from kinds import kind_of

SLOW = 2.0  # a form that is this much slower than another one of its peer is not measured again
FEWEST = 3  # rounds, however late it is
ATTEMPTS = 6  # at one measurement
STEP, LONGEST = 0.003, 0.3  # seconds between two looks whether threads still spin, and at most in all


def check(contender: Contender, memory: Memory, expected: np.ndarray) -> str:
    """Runs a contender, once or a few times, and compares: "" where every bit is right."""
    try:
        contender.setup()
        for _ in range(memory.checks if memory.case.threads > 1 else 1):
            memory.clear()
            contender.time_once()
            if not memory.accepts(contender.result(memory.out), expected, contender.peer):
                return "wrong rows"
        return contender.refused
    except Exception as error:  # noqa: BLE001  a peer may refuse in any way it likes
        return f"failed: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"


def collect(memory: Memory, everybody) -> tuple[list[Contender], list[dict]]:
    """The contenders that give the right rows, and what became of the others."""
    right, wrong = [], []
    expected = memory.expected()
    for peer in everybody:
        made = []
        try:
            made = list(peer.contenders(memory))
        except LeftOut as why:
            wrong.append({"peer": peer.name, "form": "", "why": f"left out: {why}"})
        except Exception as error:  # noqa: BLE001
            wrong.append({"peer": peer.name, "form": "", "why": f"failed: {type(error).__name__}: {str(error)[:120]}"})
        for contender in made:
            why = check(contender, memory, expected)
            if why:
                wrong.append({"peer": contender.peer, "form": contender.form, "why": why})
            else:
                right.append(contender)
    return right, wrong


def block(contender: Contender, memory: Memory, rounds: int, attempts: int) -> float:
    """One measurement. Where the system gave the CPU to another program meanwhile, it is taken again, a few times."""
    best, spent = float("inf"), float("inf")
    for _ in range(attempts):
        elapsed, during = attempt(contender, memory, rounds)
        best, spent = min(best, elapsed), min(spent, contender.spent)
        if contender.pool:
            rest()
        if not during:
            return elapsed
        time.sleep(STEP)  # who has slept is not the first to be interrupted
    contender.disturbed += 1
    contender.spent = spent
    return best


def attempt(contender: Contender, memory: Memory, rounds: int) -> tuple[float, int]:
    """Nanoseconds per call, and how often another program got a CPU in that time. A cached case is run once before, which warms
    the caches and wakes the threads."""
    contender.setup()
    memory.prepare((*contender.own_memory(), *contender.also_flush))
    if memory.case.state == grid.CACHED:
        contender.time_once()
    before = switches()
    elapsed = contender.time_once(rounds)
    return elapsed, switches() - before


def switches() -> int:
    """How often this process, all its threads, lost a CPU to another program."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def rest() -> None:
    """Waits until the process uses no CPU while it sleeps: some pools spin for 60 ms after a call, on the next one's CPU."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        used = time.process_time()
        time.sleep(STEP)
        if time.process_time() - used < STEP / 10:
            return


def rounds_for(contender: Contender, memory: Memory, least_ns: float) -> int:
    """Calls per measurement: one where the buffers have to be flushed in between."""
    return 1 if memory.case.state == grid.STREAMED else max(1, int(least_ns / max(contender.probe, 1.0)))


def compete(contenders: list[Contender], memory: Memory, settings) -> None:
    """Measures everybody in turns, each time in another order. A quick run that is late measures less often."""
    shuffle = np.random.default_rng(3).permutation
    streamed = memory.case.state == grid.STREAMED
    for contender in contenders:
        contender.probe = block(contender, memory, 8 if not streamed and memory.case.out_bytes <= grid.MIB else 1, settings.attempts())
    best = {}
    for contender in contenders:
        best[contender.peer] = min(best.get(contender.peer, float("inf")), contender.probe)
    kept = [c for c in contenders if c.peer == "ours" or c.probe <= SLOW * best[c.peer]]
    counts = {id(c): rounds_for(c, memory, settings.block_ns) for c in kept}
    if streamed:  # the probe is a measurement like all others
        for contender in kept:
            contender.times.append(contender.probe)
            contender.cpu.append(contender.spent)
    for done in range(streamed, settings.rounds):
        if done >= FEWEST and time.monotonic() > settings.until:
            return
        for i in shuffle(len(kept)):
            kept[i].times.append(block(kept[i], memory, counts[id(kept[i])], settings.attempts()))
            kept[i].cpu.append(kept[i].spent)


def run_case(case: grid.Case, arenas: Arenas, everybody, settings) -> list[dict]:
    """A row for each of libgather's forms in everybody that has a value of its own (tuned.py), all measured in turns."""
    kind = kind_of(case)
    memory = kind.memory(case, arenas)
    contenders, wrong = collect(memory, everybody)
    if any(found["peer"] == "ours" for found in wrong):
        raise SystemExit(f"bench: libgather is wrong: {case.name}: {wrong}")
    bounds = list(kind.limits(memory))
    compete(contenders + bounds, memory, settings)
    rows = []
    for ours in (peer for peer in everybody if peer.name == "ours"):
        here = [c for c in contenders if c.value in (None, getattr(ours, "value", None))]
        rows.append(summary.row(case, here, bounds, wrong, ours.way(memory)))
    return rows


class Settings:
    def __init__(self, quick: bool, minutes: float = 0):
        """minutes: how long a run should take about; 0 = as long as it does. Rows that are late are measured less often."""
        self.quick = quick
        self.rounds = 5 if quick else 9
        self.block_ns = 5e5 if quick else 2e6
        self.minutes = minutes or (85 / 60 if quick else 0)
        self.end = time.monotonic() + 60 * self.minutes if self.minutes else float("inf")
        self.until = float("inf")  # when the case at hand has had its share of the time

    def share(self, cases_left: int) -> None:
        now = time.monotonic()
        self.until = now + max(0.0, self.end - now) / cases_left

    def attempts(self) -> int:
        return 1 if time.monotonic() > self.until else ATTEMPTS

    def describe(self, seconds: float) -> dict:
        return {"quick": self.quick, "rounds": self.rounds, "seconds": round(seconds, 1)}
