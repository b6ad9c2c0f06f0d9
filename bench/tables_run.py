# SPDX-License-Identifier: MIT
"""Measures rows taken from a file that is larger than the memory that the run is allowed. `script/bench tables` calls
it."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from datetime import date
from pathlib import Path

import machine
import results as results_folder
import tables_cases
import tables_child
import tables_limit
import tables_machine
import tables_memory
import tables_peers
import tables_summary
from results import written
from tables_cases import BLOCK, Case
from tables_file import DataFile
from tables_measure import Bench, Settings

MIB, GIB = 1 << 20, 1 << 30
UNITS = {"KiB": 1 << 10, "MiB": MIB, "GiB": GIB, "B": 1}
KIND = "tables"
HEADS = ("machine", "limit", "settings", "limits", "pools", "peers")
LISTS = ("rows", "depths", "memory")


def size(text: str) -> int:
    """ "2GiB", "64"."""
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


def sizes(text: str) -> tuple[int, ...]:
    found = tuple(size(part) for part in text.split(","))
    if any(one < 1 or one & (one - 1) for one in found):
        raise argparse.ArgumentTypeError("powers of two are wanted")
    return found


def rows(text: str) -> tuple[int, ...]:
    found = sizes(text)
    if min(found) < 8:
        raise argparse.ArgumentTypeError("rows have 8 bytes at least")
    return found


def orders(text: str) -> tuple[str, ...]:
    found = tuple(text.split(","))
    if set(found) - set(tables_cases.ORDERS):
        raise argparse.ArgumentTypeError(f"orders are {', '.join(tables_cases.ORDERS)}")
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench tables", description="Measures rows out of a file that is larger than memory.")
    parser.add_argument("--quick", action="store_true", help="a smaller file, two sizes of rows, few rounds: under two minutes")
    parser.add_argument("--memory", type=size, default=0, metavar="BYTES", help="what the run is allowed (default: 2GiB; --quick: 512MiB)")
    parser.add_argument("--bytes", type=size, default=0, metavar="BYTES", help="of the file (default: four times the memory)")
    parser.add_argument("--ceiling", type=size, default=0, metavar="BYTES",
                        help="of a table of ours, for memory over time (default: an eighth of the memory)")
    parser.add_argument("--rows", type=rows, default=None, metavar="LIST", help="bytes of a row (default: 64,4KiB,64KiB)")
    parser.add_argument(
        "--orders", type=orders, default=tables_cases.ORDERS, metavar="LIST", help=f"of ids (default: {','.join(tables_cases.ORDERS)})"
    )
    parser.add_argument("--peers", default="", metavar="NAMES", help="these peers only, with commas between them")
    parser.add_argument("--minutes", type=float, default=0, metavar="N", help="all in about so long (default: 15; --quick: 1.5)")
    parser.add_argument("--depths", type=sizes, default=tables_memory.DEPTHS, metavar="LIST", help="reads in flight (default: 1 to 256)")
    parser.add_argument("--seconds", type=float, default=0, metavar="N", help="of each curve of memory over time (default: 12; --quick: 3)")
    parser.add_argument("--folder", default="build/bench-tables", metavar="DIR", help="where the file is made (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the file, and use it if it is there already")
    parser.add_argument("--no-limit", action="store_true", help="for a try where no limit of memory can be made; the page says so")
    parser.add_argument("--json", default="", metavar="FILE",
                        help="write the results to this file (default: by the name of the machine to build/results)")
    asked = parser.parse_args()
    asked.memory = asked.memory or (512 * MIB if asked.quick else 2 * GIB)
    asked.bytes = (asked.bytes or 4 * asked.memory) // MIB * MIB
    asked.ceiling = asked.ceiling or asked.memory // 8
    asked.rows = asked.rows or ((64, 4096) if asked.quick else tables_cases.SIZES)
    asked.seconds = asked.seconds or (3 if asked.quick else 12)
    asked.minutes = asked.minutes or (1.5 if asked.quick else 15)
    return asked


def files(asked: argparse.Namespace) -> tuple[DataFile, DataFile]:
    """The one that is larger than memory, and one that is a quarter of it."""
    folder = Path(asked.folder)
    folder.mkdir(parents=True, exist_ok=True)
    return DataFile(folder / "table.data", asked.bytes), DataFile(folder / "small.data", max(MIB, asked.memory // 4 // MIB * MIB))


def describe(asked: argparse.Namespace, versions: dict, absent: dict, path: Path) -> dict:
    about = machine.describe(0.0, [], absent, False)
    del about["huge_pages"], about["flush"]
    command = ["script/bench", "tables", *(f"--{name.replace('_', '-')}" for name in ("quick", "no_limit") if getattr(asked, name))]
    return {"date": date.today().isoformat(), **about, **tables_machine.disk(path), "versions": versions, "command": " ".join(command)}


def sequential(bench: Bench) -> dict:
    """The file in order, 1 MiB at a time, 8 in flight, past the page cache."""
    import numpy as np
    from tables_measure import disk

    count = min(bench.file.bytes // MIB, 1024)
    found = bench.cold_once(disk(8), MIB, np.arange(count), checked=False)
    return {"what": "sequential read", "bytes_s": 0 if "error" in found else found["rows"] * MIB / found["ns"] * 1e9}


def measure(asked: argparse.Namespace, bench: Bench, limit) -> dict:
    """Everything; what comes last, the cold rows, within what is left of the time."""

    def say(what: str) -> None:
        print(f"{bench.settings.spent():4.0f} s  {what}", flush=True)

    cases = tables_cases.cases(asked.rows, asked.orders, bench.file.bytes)
    say("the disk")
    limits = [sequential(bench)]
    for block in sorted({case.block for case in cases} | {BLOCK}):
        limits += bench.find_disk(block)
    say("pools of threads")
    pools = [one for row in asked.rows for one in bench.find_pool(Case(row, "random", bench.file.bytes // row, max(row, BLOCK)))]
    rows: list[dict] = []

    def add(row: dict) -> None:
        rows.append(row)
        say(tables_summary.line(row))

    small = tables_cases.cases(asked.rows, asked.orders, bench.small.bytes)
    say("memory over time")
    memory = tables_memory.memory(bench, limit, asked.ceiling, asked.seconds)
    say("reads in flight")
    depths = tables_memory.depths(bench, asked.depths)
    for i, case in enumerate(small):
        add(bench.warm(case, bench.small, tables_summary.RESIDENT, bench.settings.by(0.15 + 0.1 * (i + 1) / len(small))))
    for i, case in enumerate(cases):
        add(bench.warm(case, bench.file, tables_summary.WARM, bench.settings.by(0.25 + 0.2 * (i + 1) / len(cases))))
    for i, case in enumerate(cases):
        add(bench.cold(case, bench.settings.until(1 / (len(cases) - i))))
    return {"limits": limits, "pools": pools, "rows": rows, "memory": memory, "depths": depths}


def run(asked: argparse.Namespace) -> dict:
    start = time.monotonic()
    settings = Settings(asked.minutes, asked.quick, asked.memory)
    ways, versions, absent = tables_peers.load(tuple(name for name in asked.peers.split(",") if name))
    for name, why in absent.items():
        print(f"bench: absent: {name}: {why}", flush=True)
    # In its limit first: a file that is made outside would be charged to others.
    limit = tables_limit.Nothing() if asked.no_limit else tables_limit.enter(asked.memory, asked.bytes)
    try:
        proof = tables_limit.proof(limit, asked.memory)
        if not proof["in_force"] and not asked.no_limit:
            raise tables_limit.Refused(f"the limit is not in force: {proof}")
        file, small = files(asked)
        try:
            for one in (small, file):
                speed = 0.0 if asked.keep and one.is_made() else one.make()
            bench = Bench(file, small, ways, settings, max(settings.most_out, settings.working_set * 2, MIB))
            about = describe(asked, versions, absent, file.path)
            found = measure(asked, bench, limit)
        finally:
            tables_child.end_all()
            if not asked.keep:
                for made in (file, small):
                    made.path.unlink(missing_ok=True)
                Path(asked.folder).rmdir()
        proof["peak"] = limit.number("peak")
    finally:
        limit.leave()
    told = {
        "quick": asked.quick, "memory": asked.memory, "bytes": asked.bytes, "small_bytes": small.bytes, "ceiling": asked.ceiling,
        "rounds": settings.rounds, "warm_rounds": settings.warm_rounds, "working_set": settings.working_set,
        "slow_seconds": settings.cold_ns / 1e9, "seconds": round(time.monotonic() - start, 1), "write_bytes_s": speed,
    }
    peers = [{"way": way.name, "kind": way.kind, "how": way.how} for way in ways]
    return {"machine": about, "limit": proof, "settings": told, "peers": peers, **found}


def main() -> int:
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the file and the limit go away then too
    try:
        results = run(asked)
    except tables_limit.Refused as why:
        print(f"bench: {why}", file=sys.stderr)
        return 2
    text = written(results, HEADS, LISTS)
    found = json.loads(text)
    print(tables_summary.closing(found))
    path = results_folder.keep(asked.json, results_folder.name_of(KIND, found), text)
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
