# SPDX-License-Identifier: MIT
"""Runs the grid: ours, each peer and the limits of the machine in one process, in turns, and writes JSON. script/bench calls it."""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path

import gather_bench_native as native
import grid
import limits
import machine
import numpy as np
import peers
import report
import summary
from cases import Arenas, Memory
from contender import Contender

CLEAR = 0xEE  # what stands in an output that nobody has written
SLOW = 2.0  # a form that is this much slower than another one of its peer is not measured again
FEWEST = 3  # rounds, however late it is
REST = 0.005  # seconds after which spinning threads of others have gone to sleep


def check(contender: Contender, memory: Memory, expected: np.ndarray) -> str:
    """Runs a contender once and compares: "" where every bit is right."""
    memory.out.reshape(-1).view(np.uint8)[:] = CLEAR
    try:
        contender.setup()
        contender.time_once()
        return "" if same(contender.result(memory.out), expected) else "wrong rows"
    except Exception as error:  # noqa: BLE001  a peer may refuse in any way it likes
        return f"failed: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"


def same(result: np.ndarray, expected: np.ndarray) -> bool:
    """Bit for bit."""
    if result.nbytes != expected.nbytes:
        return False
    return np.array_equal(np.ascontiguousarray(result).reshape(-1).view(np.uint8), expected.reshape(-1).view(np.uint8))


def collect(memory: Memory, everybody) -> tuple[list[Contender], list[dict]]:
    """The contenders that give the right rows, and what became of the others."""
    right, wrong = [], []
    expected = memory.expected()
    for peer in everybody:
        made = []
        try:
            made = list(peer.contenders(memory))
        except Exception as error:  # noqa: BLE001
            wrong.append({"peer": peer.name, "form": "", "why": f"failed: {type(error).__name__}: {str(error)[:120]}"})
        for contender in made:
            why = check(contender, memory, expected)
            if why:
                wrong.append({"peer": contender.peer, "form": contender.form, "why": why})
            else:
                right.append(contender)
    return right, wrong


def block(contender: Contender, memory: Memory, rounds: int) -> float:
    """One measurement. A cached case is run once before, which warms the caches and wakes the threads."""
    contender.setup()
    memory.prepare((*contender.own_memory(), *contender.also_flush))
    if memory.case.state == grid.CACHED:
        contender.time_once()
    elapsed = contender.time_once(rounds)
    if contender.pool:
        time.sleep(REST)
    return elapsed


def rounds_for(contender: Contender, memory: Memory, least_ns: float) -> int:
    """Calls per measurement: one where the buffers have to be flushed in between."""
    return 1 if memory.case.state == grid.STREAMED else max(1, int(least_ns / max(contender.probe, 1.0)))


def compete(contenders: list[Contender], memory: Memory, settings) -> None:
    """Measures everybody in turns, each time in another order. A quick run that is late measures less often."""
    shuffle = np.random.default_rng(3).permutation
    streamed = memory.case.state == grid.STREAMED
    for contender in contenders:
        contender.probe = block(contender, memory, 1 if streamed else 8)
    best = {}
    for contender in contenders:
        best[contender.peer] = min(best.get(contender.peer, float("inf")), contender.probe)
    kept = [c for c in contenders if c.peer == "ours" or c.probe <= SLOW * best[c.peer]]
    counts = {id(c): rounds_for(c, memory, settings.block_ns) for c in kept}
    if streamed:  # the probe is a measurement like all others
        for contender in kept:
            contender.times.append(contender.probe)
    for done in range(streamed, settings.rounds):
        if done >= FEWEST and time.monotonic() > settings.until:
            return
        for i in shuffle(len(kept)):
            kept[i].times.append(block(kept[i], memory, counts[id(kept[i])]))


def run_case(case: grid.Case, arenas: Arenas, everybody, settings) -> dict:
    memory = Memory(case, arenas)
    contenders, wrong = collect(memory, everybody)
    if any(found["peer"] == "ours" for found in wrong):
        raise SystemExit(f"bench: libgather is wrong: {case.name}: {wrong}")
    bounds = list(limits.limits(memory))
    compete(contenders + bounds, memory, settings)
    plan = peers.Ours().plan(memory)
    return summary.row(case, contenders, bounds, wrong, str(plan))


class Settings:
    def __init__(self, quick: bool):
        self.quick = quick
        self.rounds = 5 if quick else 9
        self.block_ns = 5e5 if quick else 2e6
        self.end = time.monotonic() + 95 if quick else float("inf")
        self.until = float("inf")  # when the case at hand has had its share of the time

    def share(self, cases_left: int) -> None:
        now = time.monotonic()
        self.until = now + max(0.0, self.end - now) / cases_left

    def describe(self, seconds: float) -> dict:
        return {"quick": self.quick, "rounds": self.rounds, "seconds": round(seconds, 1)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measures libgather and its peers, in one process, in turns.")
    parser.add_argument("--quick", action="store_true", help="some rows, few repetitions: under two minutes")
    parser.add_argument("--every", action="store_true", help="with --quick: all rows, few repetitions")
    parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name or regime it is found in")
    parser.add_argument("--peers", default="", metavar="NAMES", help="these peers only, with commas between them")
    parser.add_argument("--threads", default="", metavar="LIST", help="numbers of threads (default: 1 and 2, or 1 on one CPU)")
    parser.add_argument("--json", default="build/bench.json", metavar="FILE", help="where the results go (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="make docs/benchmarks.md and its pictures from that file, no measuring")
    parser.add_argument("--list", action="store_true", help="print the rows' names and end")
    return parser.parse_args()


def measure(cases, everybody, absent, settings, threads) -> dict:
    start = time.monotonic()
    gc.disable()  # collected between the rows instead: in a timed call it would be one contender's misfortune
    arenas = Arenas(cases)
    flushes = native.flush(arenas.out.address, 64)
    about = machine.describe(arenas.huge_share(), everybody, absent, flushes)
    if not flushes:
        print("bench: this CPU's caches cannot be flushed: streamed rows show whatever the caches kept", flush=True)
    copies = limits.copies(arenas, threads, settings.rounds)
    rows = []
    for i, case in enumerate(cases):
        settings.share(len(cases) - i)
        gc.collect()
        rows.append(run_case(case, arenas, everybody, settings))
        print(f"{i + 1:4}/{len(cases)} {summary.line(rows[-1])}", flush=True)
    machine_limits = copies + limits.random_reads(rows)
    return {"machine": about, "settings": settings.describe(time.monotonic() - start), "limits": machine_limits, "rows": rows}


def written(results: dict) -> str:
    """JSON with one row to a line, four digits to a number."""
    def short(value):
        if isinstance(value, float):
            return float(f"{value:.4g}")
        if isinstance(value, dict):
            return {key: short(item) for key, item in value.items()}
        return [short(item) for item in value] if isinstance(value, (list, tuple)) else value

    head = ",\n".join(f"{json.dumps(key)}: {json.dumps(short(results[key]))}" for key in ("machine", "settings", "limits"))
    rows = ",\n".join(json.dumps(short(row)) for row in results["rows"])
    return f'{{{head},\n"rows": [\n{rows}\n]}}\n'


def main() -> int:
    asked = arguments()
    path = Path(asked.json)
    if asked.report:
        report.write(json.loads(path.read_text(encoding="utf-8")), machine.ROOT)
        return 0
    cpus = native.library()["cpus"]
    threads = tuple(int(t) for t in asked.threads.split(",")) if asked.threads else (1, 2)[: max(1, min(2, cpus))]
    cases = grid.cases(threads, asked.quick, asked.only, asked.every)
    if asked.list or not cases:
        print("\n".join(case.name for case in cases) or "bench: no row has such a name")
        return 0 if cases else 2
    found, absent = peers.load(tuple(name for name in asked.peers.split(",") if name))
    for name, why in absent.items():
        print(f"bench: absent: {name}: {why}")
    results = measure(cases, [peers.Ours(), *found], absent, Settings(asked.quick), threads)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(results), encoding="utf-8")
    print(summary.closing(results))
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
