# SPDX-License-Identifier: MIT
"""Runs the grid: ours, each peer and the limits of the machine in one process, in turns, and writes JSON. script/bench calls it."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

import compare
import gather_bench_native as native
import grid
import kinds
import limits
import machine
import machines
import measure
import siblings_limits
import summary
from cases import Arenas
from results import HEADS, LISTS, write, written
from tuned import Tuned

UNHELD = 99  # the default of the tuning parameter isa


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measures libgather and its peers, in one process, in turns.")
    parser.add_argument("--quick", action="store_true", help="some rows, few repetitions: under two minutes")
    parser.add_argument("--minutes", type=float, default=0, metavar="N", help="all in about so long, with fewer repetitions of rows that are late")
    parser.add_argument("--every", action="store_true", help="with --quick: all rows, few repetitions")
    parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name or regime it is found in")
    parser.add_argument("--peers", default="", metavar="NAMES", help="these peers only, with commas between them")
    parser.add_argument("--threads", default="", metavar="LIST", help="numbers of threads (default: 1 and 2, or 1 on one CPU)")
    parser.add_argument("--json", default="", metavar="FILE", help="write the results to this file (default: by the name of the machine to build/results)")
    parser.add_argument("--against", default="", metavar="OLD", help="compare with the results in this file, of which the same rows are measured")
    parser.add_argument("--isa", default="", metavar="LIST", help="libgather's strongest instruction set: 0 portable, 1 avx2, 2 avx512 ...; of "
                        "several, all are measured in turns, and all but the first one have files of their own (FILE-avx2.json)")
    parser.add_argument("--list", action="store_true", help="print the rows' names and end")
    return parser.parse_args()


def run(cases, arenas, crowd, isas, about, settings, threads) -> list[dict]:
    """about: describe()'s, one for each libgather. Returns the results of each."""
    start = time.monotonic()
    gc.disable()  # collected between the rows instead: in a timed call it would be one contender's misfortune
    copies = limits.copies(arenas, threads, settings.rounds)
    rows = [[] for _ in about]
    for i, case in enumerate(cases):
        settings.share(len(cases) - i)
        gc.collect()
        found = measure.run_case(case, arenas, crowd.of(case, lambda made: ours_of(isas, made)), settings)
        for one, row, mine in zip(about, found, rows):
            siblings_limits.add_bandwidth(case, copies, row)
            mine.append(row)
            print(f"{i + 1:4}/{len(cases)} {summary.line(row, machines.isa(one) if len(about) > 1 else '')}", flush=True)
    described = settings.describe(time.monotonic() - start)
    return [{"machine": one, "settings": described, "limits": copies + limits.random_reads(mine), "rows": mine} for one, mine in zip(about, rows)]


def names_of(isas: list[int]) -> list[str]:
    """The instruction sets that these numbers stand for on this CPU."""
    found = []
    for isa in isas:
        native.tune("isa", isa)
        found.append(native.library()["isa"])
    native.tune("isa", UNHELD)
    return found


def describe(isas: list[int], everybody, absent: dict[str, str], arenas: Arenas) -> list[dict]:
    """The machine as each libgather has it."""
    flushes = native.flush(arenas.out.address, 64)
    if not flushes:
        print("bench: this CPU's caches cannot be flushed: streamed rows show whatever the caches kept", flush=True)
    about = machine.describe(arenas.huge_share(), everybody, absent, flushes)
    strongest, _, features = about["isa"].partition(" ")
    return [{**about, "isa": f"{isa} {features}", "held": isa != strongest} for isa in names_of(isas) or [strongest]]


def files(path: Path, isas: list[int]) -> list[Path]:
    """Where the results of each go."""
    names = names_of(isas)
    if len(set(names)) < len(names):
        raise SystemExit(f"bench: on this CPU --isa is {', '.join(names)}: each may be given once")
    return [path, *(path.with_stem(f"{path.stem}-{name}") for name in names[1:])]


def ours_of(isas: list[int], made) -> list:
    return [Tuned(made, "isa", isa) for isa in isas] or [made]


def main() -> int:
    asked = arguments()
    isas = [int(isa) for isa in asked.isa.split(",") if isa]
    old = compare.read(asked.against) if asked.against else None
    paths = files(Path(asked.json), isas) if asked.json else []
    cpus = native.library()["cpus"]
    threads = tuple(int(t) for t in asked.threads.split(",")) if asked.threads else (1, 2)[: max(1, min(2, cpus))]
    cases = kinds.cases(threads, asked.quick, asked.only, asked.every, () if asked.threads else grid.up_to(cpus))
    if old:
        names = {row["name"] for row in old["rows"]}
        cases = [case for case in cases if case.name in names]
    if asked.list or not cases:
        print("\n".join(case.name for case in cases) or "bench: no row has such a name")
        return 0 if cases else 2
    cases, left_out = grid.affordable(cases, machine.free_bytes())
    for left in left_out:
        print(f"bench: left out: {left['row']}: {left['why']}")
    if not cases:
        return 2
    names = tuple(name for name in asked.peers.split(",") if name)
    crowd = kinds.Crowd(cases, names, threads)
    for name, why in crowd.absent.items():
        print(f"bench: absent: {name}: {why}")
    arenas = Arenas(cases)
    about = describe(isas, crowd.everybody(), crowd.absent, arenas)
    runs = run(cases, arenas, crowd, isas, about, measure.Settings(asked.quick, asked.minutes), threads)
    for results in runs:
        results["left_out"] = left_out
        print(summary.closing(results, machines.isa(results["machine"]) if len(runs) > 1 else ""))
    for path in [write(path, written(results, HEADS, LISTS)) for results, path in zip(runs, paths)] or [
            path for results in runs for path in machines.store(results, machine.ROOT)]:
        print(f"written: {path}")
    if old:
        print(compare.told(old, runs[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
