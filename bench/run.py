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
import measure
import peers
import report
import siblings_grid
import siblings_limits
import siblings_page
import siblings_peers
import summary
from cases import Arenas
from results import written


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measures libgather and its peers, in one process, in turns.")
    parser.add_argument("--quick", action="store_true", help="some rows, few repetitions: under two minutes")
    parser.add_argument("--minutes", type=float, default=0, metavar="N", help="all in about so long, with fewer repetitions of rows that are late")
    parser.add_argument("--every", action="store_true", help="with --quick: all rows, few repetitions")
    parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name or regime it is found in")
    parser.add_argument("--peers", default="", metavar="NAMES", help="these peers only, with commas between them")
    parser.add_argument("--threads", default="", metavar="LIST", help="numbers of threads (default: 1 and 2, or 1 on one CPU)")
    parser.add_argument("--json", default="build/bench.json", metavar="FILE", help="where the results go (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="make the pages in docs/ from that file, no measuring")
    parser.add_argument("--isa", type=int, default=-1, metavar="N", help="libgather's strongest instruction set: 0 portable, 1 avx2, 2 avx512 ...")
    parser.add_argument("--list", action="store_true", help="print the rows' names and end")
    return parser.parse_args()


def run(cases, everybody, siblings, absent, settings, threads) -> dict:
    """everybody: who gathers; siblings: who takes part in the rows of siblings_grid.py."""
    start = time.monotonic()
    gc.disable()  # collected between the rows instead: in a timed call it would be one contender's misfortune
    arenas = Arenas(cases)
    flushes = native.flush(arenas.out.address, 64)
    about = machine.describe(arenas.huge_share(), [*everybody, *siblings], absent, flushes)
    if not flushes:
        print("bench: this CPU's caches cannot be flushed: streamed rows show whatever the caches kept", flush=True)
    copies = limits.copies(arenas, threads, settings.rounds)
    rows = []
    for i, case in enumerate(cases):
        settings.share(len(cases) - i)
        gc.collect()
        rows.append(measure.run_case(case, arenas, siblings if isinstance(case, siblings_grid.Sibling) else everybody, settings))
        siblings_limits.add_bandwidth(case, copies, rows[-1])
        print(f"{i + 1:4}/{len(cases)} {summary.line(rows[-1])}", flush=True)
    machine_limits = copies + limits.random_reads(rows)
    return {"machine": about, "settings": settings.describe(time.monotonic() - start), "limits": machine_limits, "rows": rows}


def make_pages(results: dict) -> int:
    """Gather and its siblings have a page each."""
    for page, chosen in ((report, False), (siblings_page, True)):
        rows = [row for row in results["rows"] if (row["op"] in siblings_grid.OPS) == chosen]
        if rows:
            page.write({**results, "rows": rows}, machine.ROOT)
    return 0


def main() -> int:
    asked = arguments()
    path = Path(asked.json)
    if asked.report:
        return make_pages(json.loads(path.read_text(encoding="utf-8")))
    if asked.isa >= 0:
        native.tune("isa", asked.isa)
    cpus = native.library()["cpus"]
    threads = tuple(int(t) for t in asked.threads.split(",")) if asked.threads else (1, 2)[: max(1, min(2, cpus))]
    cases = grid.cases(threads, asked.quick, asked.only, asked.every, () if asked.threads else grid.up_to(cpus))
    cases += siblings_grid.cases(threads, asked.quick, asked.only, asked.every)
    if asked.list or not cases:
        print("\n".join(case.name for case in cases) or "bench: no row has such a name")
        return 0 if cases else 2
    cases, left_out = grid.affordable(cases, machine.free_bytes())
    for left in left_out:
        print(f"bench: left out: {left['row']}: {left['why']}")
    if not cases:
        return 2
    names = tuple(name for name in asked.peers.split(",") if name)
    plain, siblings = ([case for case in cases if isinstance(case, siblings_grid.Sibling) == sibling] for sibling in (False, True))
    found, absent = peers.load(names) if plain else ([], {})
    more, missing = siblings_peers.load(names) if siblings else ([], {})
    absent |= missing
    for name, why in absent.items():
        print(f"bench: absent: {name}: {why}")
    results = run(cases, [peers.Ours(), *found], [siblings_peers.Ours(), *more], absent, measure.Settings(asked.quick, asked.minutes), threads)
    results["left_out"] = left_out
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(results, ("machine", "settings", "limits", "left_out"), ("rows",)), encoding="utf-8")
    print(summary.closing(results))
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
