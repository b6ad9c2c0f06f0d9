# SPDX-License-Identifier: MIT
"""What no gather can beat by much: the ceilings of a case, and those of the machine."""

from __future__ import annotations

from math import prod
from statistics import median

import gather_bench_native as native
import numpy as np
import summary
from cases import Arenas, Memory
from contender import Contender
from grid import CACHED, GIB, MIB, STREAMED, Case

LINE = 64
INNER, AHEAD = 5, 12  # where these stand in a job
COPY_BLOCK = 4096  # of bench_copy_rows
IN_REGISTERS = 512  # bytes of tables that need not be read from memory at all


def limits(memory: Memory):
    """Contenders that do a part of the work of every gather: `stream` reads the indices and writes the output in order, `touch` reads
    a word of every line that the indices name, in their order, and `copy` moves long rows from
    cache to cache, in order.
    The best form of each counts, and the slowest of the three. A call of few indices may be best on one thread, whatever it was given.
    `read` reads the indices once more: what the transactional form needs besides, which may not write before all are validated."""
    case = memory.case
    if case.dtype == "int4" or case.regime == "tiny calls":
        return
    for threads in sorted({case.threads, 1} if case.state == CACHED else {case.threads}, reverse=True):
        for limit in (*streams(memory), *touches(memory), *copies_of_rows(memory), *reads(memory)):
            yield timed(*limit, threads, "" if threads == case.threads else ", one thread")


def is_flat(case: Case) -> bool:
    """One run of indices over one table."""
    return case.axis == 0 and not case.batch_dims and (case.op == "take" or prod(case.index_shape) == case.index_shape[0])


def streams(memory: Memory):
    """(work, form, job, buffers to flush)"""
    case = memory.case
    # What several runs of indices name of a table is read too, in order at best.
    row = max(LINE, case.out_bytes // max(1, case.rows))
    table = 0 if is_flat(case) else min(case.table_bytes // 8 * 8, different(lines_of(memory)) * row)
    past_caches = case.state == STREAMED or case.out_bytes > MIB
    for form, past in (("stream", 0), ("stream, non-temporal stores", 1)) if past_caches else (("stream", 0),):
        yield "stream", form, memory.job(past_caches=past, table_bytes=table), ()
        if table:
            yield "stream", f"{form}, the table not prefetched", memory.job(past_caches=past, table_bytes=table, lines=0), ()


def touches(memory: Memory):
    """The rows in the order of the gather, by its own indices; and where these name places of more than one run, or neighbours
    share a line, by a list of the lines."""
    case = memory.case
    if case.table_bytes <= IN_REGISTERS:
        return
    row = case.out_bytes // max(1, case.rows)
    near = ((64, 2), (128, 2)) if row <= LINE else ((max(1, 8192 // row), 4), (max(1, 16384 // row), 8), (max(1, 8192 // row), 1024))
    ways = [(0, 1), *(near if case.state == STREAMED else ())]
    job = memory.job()
    if job[INNER] == 1:
        yield from ahead("touch", job, ways)
    if not is_flat(case) and row <= LINE:
        yield from ahead("touch by a list of lines", *line_list(memory), ways)


def copies_of_rows(memory: Memory):
    """Reading a line and writing one take the same way between two caches, so long rows cost more than the slower of the two."""
    case = memory.case
    if case.op != "take" or case.state != CACHED or case.out_bytes // max(1, case.rows) < LINE or case.table_bytes < COPY_BLOCK:
        return
    table = case.table_bytes // COPY_BLOCK * COPY_BLOCK
    for form, vectors in (("copy", 1), ("copy by memcpy", 0)):
        yield "copy_rows", form, memory.job(lines=vectors, table_bytes=table), ()


def reads(memory: Memory):
    for form, past in (("read", 0), ("read, prefetched", 1)):
        yield "read", form, memory.job(past_caches=past), ()


def ahead(name: str, job: tuple, *more):
    """A limit for each way of fetching ahead. more: the list's memory, if any, and the ways."""
    *memory, ways = more
    yield "touch_by_vector", f"{name} by vector", job, tuple(memory)
    for distance, lines in ways:
        form = f"{name} ahead {distance}, {lines} lines" if distance else name
        yield "touch", form, (*job[:AHEAD], distance, lines, *job[AHEAD + 2 :]), tuple(memory)


def different(lines: np.ndarray) -> int:
    seen = np.zeros(int(lines.max()) + 1, bool)
    seen[lines] = True
    return int(np.count_nonzero(seen))


def lines_of(memory: Memory) -> np.ndarray:
    """The number of the line in which each row begins, in the order of the gather. A line that follows itself is read once."""
    _, _, _, outer, count, inner, outer_step, axis_step, inner_step, index_outer, _, *_ = memory.job()
    index = memory.index.reshape(-1, count, inner) if index_outer else memory.index.reshape(1, count, inner)
    places = index.astype(np.int64) * axis_step + np.arange(inner) * inner_step
    places = (places + np.arange(outer).reshape(-1, 1, 1) * outer_step).reshape(-1)
    lines = (memory.data.ctypes.data % LINE + places) // LINE
    return lines[np.append(True, lines[1:] != lines[:-1])].astype(np.uint32)


def line_list(memory: Memory) -> tuple[tuple, native.Buffer]:
    """A touch of these lines. Four bytes for a line are no more than a gather reads of indices, where each index is used once."""
    lines = lines_of(memory)
    buffer = native.Buffer(lines.nbytes)
    np.frombuffer(buffer, np.uint32)[: lines.size] = lines
    table = memory.data.ctypes.data // LINE * LINE
    return (table, buffer.address, 0, 1, lines.size, 1, 0, LINE, 0, 0, 1, 4, 0, 1, 0, 0, 0, 0), buffer


def timed(work: str, form: str, job: tuple, buffers: tuple, threads: int, note: str) -> Contender:
    """The buffers are kept as long as the contender."""
    flushed = tuple((buffer.address, len(memoryview(buffer))) for buffer in buffers)
    return Contender(f"limit: {work.split('_')[0]}", form + note, lambda rounds, kept=buffers: native.timed(work, threads, rounds, job),
                     clock=True, also_flush=flushed)


def copies(arenas: Arenas, threads: tuple[int, ...], rounds: int) -> list[dict]:
    """GB/s of a copy and of random reads on this machine, beyond the caches, for the head of the report."""
    found = []
    table, out = (len(memoryview(buffer)) for buffer in (arenas.table, arenas.out))
    size = min(table, out, 64 * MIB) // 4096 * 4096
    if size < 4 * MIB:
        return found
    for count in threads:
        for name, past in (("memcpy", 0), ("copy, non-temporal stores", 1)):
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
        if touch and not summary.is_curve(row) and row["row_bytes"] == 4 and row["order"] == "random" and row["op"] == "take" and row["state"] == STREAMED:
            found.setdefault((row["table_bytes"], row["threads"]), []).append(touch)
    return [{"what": f"random reads, table of {size / MIB if size < GIB else size / GIB:g} {'MiB' if size < GIB else 'GiB'}",
             "threads": count, "ns": min(times)} for (size, count), times in sorted(found.items())]
