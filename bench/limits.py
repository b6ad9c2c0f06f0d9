# SPDX-License-Identifier: MIT
"""What no gather can beat by much: the ceilings of a case, and those of the machine."""

from __future__ import annotations

from math import prod
from statistics import median

import gather_bench_native as native
from cases import Arenas, Memory
from contender import Contender
from grid import GIB, MIB, STREAMED

LINE = 64
IN_REGISTERS = 512  # bytes of tables that need not be read from memory at all


def limits(memory: Memory):
    """Contenders that do a part of the work of every gather: `stream` reads the indices and writes the output in order,
    `touch` reads a word of every line that the indices name. The best form of each counts, and the slower of the two."""
    case = memory.case
    if case.dtype == "int4" or case.regime == "tiny calls":
        return
    flat = case.axis == 0 and not case.batch_dims and (case.op == "take" or prod(case.index_shape) == case.index_shape[0])
    # Tables that are read by several runs of indices are read in order at best.
    table = 0 if flat else min(case.table_bytes, case.rows * max(LINE, case.out_bytes // max(1, case.rows)))
    for form, past in (("stream", 0), ("stream past caches", 1)) if case.state == STREAMED else (("stream", 0),):
        yield timed("stream", form, case.threads, memory.job(past_caches=past, table_bytes=table))
    if not flat or case.table_bytes <= IN_REGISTERS:
        return
    row = case.out_bytes // max(1, case.rows)
    yield timed("touch", "touch", case.threads, memory.job())
    if case.state != STREAMED:
        return
    ways = ((64, 2), (128, 2)) if row <= LINE else ((max(1, 8192 // row), 4), (max(1, 16384 // row), 8), (max(1, 8192 // row), 1024))
    for ahead, lines in ways:
        yield timed("touch", f"touch ahead {ahead}, {lines} lines", case.threads, memory.job(ahead=ahead, lines=lines))


def timed(work: str, form: str, threads: int, job: tuple) -> Contender:
    return Contender(f"limit: {work}", form, lambda rounds: native.timed(work, threads, rounds, job), clock=True)


def copies(arenas: Arenas, threads: tuple[int, ...], rounds: int) -> list[dict]:
    """GB/s of a copy and of random reads on this machine, beyond the caches, for the head of the report."""
    found = []
    table, out = (len(memoryview(buffer)) for buffer in (arenas.table, arenas.out))
    size = min(table, out, 64 * MIB) // 4096 * 4096
    if size < 4 * MIB:
        return found
    for count in threads:
        for name, past in (("memcpy", 0), ("copy past the caches", 1)):
            times = []
            for _ in range(rounds):
                native.flush(arenas.table.address, size)
                native.flush(arenas.out.address, size)
                job = (arenas.table.address, arenas.index.address, arenas.out.address, 1, 0, 1, 0, 0, 0, 0, 1, 8, 0, 0, past, size, 0, 0)
                times.append(native.timed("copy", count, 1, job))
            found.append({"what": name, "bytes": size, "threads": count, "gb_per_s": size / median(times),
                          "low": size / max(times), "high": size / min(times)})
    return found


def random_reads(rows: list[dict]) -> list[dict]:
    """The random-read limit by size of table, taken from the rows: lines of 64 bytes per second, 4-byte elements."""
    found = {}
    for row in rows:
        touch = row["ceiling"].get("touch_ns")
        if touch and row["row_bytes"] == 4 and row["order"] == "random" and row["op"] == "take" and row["state"] == STREAMED:
            found.setdefault((row["table_bytes"], row["threads"]), []).append(touch)
    return [{"what": f"random reads, table of {size / MIB if size < GIB else size / GIB:g} {'MiB' if size < GIB else 'GiB'}",
             "threads": count, "ns": min(times)} for (size, count), times in sorted(found.items())]
