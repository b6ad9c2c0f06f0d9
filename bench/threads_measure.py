# SPDX-License-Identifier: MIT
"""The constants of threads_model.py, and the runs beside it, on this machine. Others may use it: medians of rounds in turns."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median

import gather_bench_native as native
import machine
import numpy as np

KIB, MIB = 1024, 1024 * 1024
TABLE = 512 * MIB
NEAR = 0.25  # microseconds there and back: less is within one L3, more between two
TRIES = 5  # a hypervisor may move the CPUs during one
THREADS = (1, 2, 4, 8)


class Gather:
    """Plans of one gather, by threads. Rows are in random order."""

    def __init__(self, table: native.Buffer, table_bytes: int, row_bytes: int, rows: int):
        self.index, self.out = native.Buffer(rows * 4), native.Buffer(rows * row_bytes)
        self.table, self.row_bytes, self.rows = table, row_bytes, rows
        np.frombuffer(self.index, np.int32)[:rows] = np.random.default_rng(1).integers(0, table_bytes // row_bytes, rows, np.int32)
        tail = () if row_bytes == 4 else (row_bytes // 4,)
        tensors = ((table.address, "float32", (table_bytes // row_bytes, *tail)), (self.index.address, "int32", (rows,)),
                   (self.out.address, "float32", (rows, *tail)))  # fmt: skip
        self.plans = {p: native.Plan("Gather", "onnx-13", *tensors, 0, 0, p, False) for p in THREADS}

    def touch_ns(self, threads: int) -> float:
        """Of a line: the best of some prefetch distances, nothing is written."""
        lines = max(1, self.row_bytes // 64)
        found = []
        ahead_of_long = max(1, 8192 // self.row_bytes)
        for ahead, fetched in ((0, 1), (64, 1)) if lines == 1 else ((0, 1), (ahead_of_long, 4), (ahead_of_long, 1024)):
            job = (self.table.address, self.index.address, self.out.address, 1, self.rows, 1, 0, self.row_bytes, 0, 0, self.row_bytes, 4,
                   ahead, fetched, 0, 0, 0, 0)  # fmt: skip
            found.append(native.timed("touch", threads, 1, job))
        return min(found) * threads / (self.rows * lines)


def copy_gb(table: native.Buffer, out: native.Buffer, threads: int) -> float:
    """Bytes read and written, with non-temporal stores."""
    job = (table.address, 0, out.address, 1, 0, 1, 0, 0, 0, 0, 1, 8, 0, 0, 1, len(memoryview(out)), 0, 0)
    return 2 * len(memoryview(out)) / native.timed("copy", threads, 1, job)


def in_turns(calls: dict, rounds: int) -> dict:
    found = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            found[name].append(call())
    return {name: median(values) for name, values in found.items()}


def handover(quick: bool) -> dict:
    program = Path(native.__file__).with_name("handover")
    for _ in range(1 if quick else TRIES):
        ran = subprocess.run([str(program), *(["--quick"] if quick else [])], capture_output=True, text=True, check=True, timeout=300)
        found = json.loads(ran.stdout)
        if (found["round_trip"] < NEAR) == (found["round_trip_after"] < NEAR):
            break
    return found


def memory(quick: bool) -> dict:
    rounds, table = 1 if quick else 21, native.Buffer(TABLE // (8 if quick else 1))
    size = len(memoryview(table)) // MIB * MIB
    gathers = {"elements, DRAM": Gather(table, size, 4, 4 * MIB), "rows of 256 B, DRAM": Gather(table, size, 256, 128 * KIB),
               "rows of 4 KiB, DRAM": Gather(table, size, 4096, 8 * KIB), "elements, table in L3": Gather(table, 8 * MIB, 4, MIB),
               "16 Ki elements, cached": Gather(table, 64 * KIB, 4, 16 * KIB)}  # fmt: skip
    taken = {}
    for name, gather in gathers.items():
        calls = 200 if gather.rows == 16 * KIB else 1
        ways = {p: lambda g=gather, p=p, n=calls: g.plans[p].run_loop(n) / n / 1e3 for p in THREADS}
        taken[name] = {str(p): us for p, us in in_turns(ways, rounds).items()}
    lines = {}
    for name, key in zip(gathers, ("4", "256", "4096", "L3")):
        found = in_turns({p: lambda g=gathers[name], p=p: g.touch_ns(p) for p in (1, 2)}, rounds)
        lines[key] = [round(found[p], 3) for p in (1, 2)]
    small = {str(row): Gather(table, 128 * KIB if row > 4 else 64 * KIB, row, max(16, 64 * KIB // row)) for row in (4, 256, 4096)}
    sizes = {"L1": 16 * KIB, "L2": 512 * KIB, "L3": 8 * MIB, "DRAM": size}
    levels = {name: Gather(table, bytes_, 4, 64 * KIB) for name, bytes_ in sizes.items()}
    one = lambda g: (g.plans[1].run_loop(3), g.plans[1].run_loop(10))[1] / 10 / g.rows  # noqa: E731
    rows = in_turns({name: lambda g=gather: one(g) for name, gather in (*small.items(), *levels.items())}, rounds)
    out = native.Buffer(min(size, 128 * MIB))
    copies = in_turns({p: lambda p=p: copy_gb(table, out, p) for p in (1, 2)}, rounds)
    return {"copy_gb": [round(copies[p], 2) for p in (1, 2)], "line_ns": lines, "row_ns": {name: round(rows[name], 3) for name in small},
            "levels_ns": {name: round(rows[name], 3) for name in levels},
            "regimes": {name: {p: round(us, 2) for p, us in times.items()} for name, times in taken.items()}}  # fmt: skip


def into(path: Path, quick: bool) -> None:
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    pair = handover(quick)
    name = "one L3" if pair["round_trip"] < NEAR else "two L3s"
    pair["date"] = time.strftime("%Y-%m-%d", time.gmtime())
    pairs = {**old.get("pairs", {}), name: pair}
    found = {"date": pair["date"], "cpu": f"{machine.cpu()}, {machine.model()}", "cpus": len(os.sched_getaffinity(0)),
             "caches": machine.caches(), "pairs": dict(sorted(pairs.items())), "measured_as": name, **memory(quick)}  # fmt: skip
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
