# SPDX-License-Identifier: MIT
"""The hardware's limits of a sibling's case, as limits.py has them: reading indices and packed rows and writing the output, all in
order; and reading one word of every line of the rows, in the order of the gather."""

from __future__ import annotations

from cases import WARM
from grid import CACHED, STREAMED
from limits import AHEAD, timed
from siblings_memory import Quantised, Tree, Tuples

WRITE = "limit: write"  # what writing the output takes by itself


def limits(memory):
    case = memory.case
    for threads in sorted({case.threads, 1} if case.state == CACHED else {case.threads}, reverse=True):
        note = "" if threads == case.threads else ", one thread"
        for limit in (*streams(memory), *touches(memory)):
            made = timed(*limit, threads, note)
            if limit[0] == "stream" and memory.fresh:  # rows come from memory, and so does what is read in their place
                made.also_flush += ((memory.data.ctypes.data, memory.packed_bytes()),) if isinstance(memory, Quantised) else ()
            yield made
        for past in (0, 1) if case.state == STREAMED else (0,):
            written = timed("stream", "non-temporal stores" if past else "stores", memory.stream_job(past, 0, 0, 0), (), threads, note)
            written.peer = WRITE
            yield written


def add_bandwidth(case, copies: list[dict], row: dict) -> None:
    """The time that the bytes of packed rows, ids and output take at the bandwidth of this run's copies, which read and write; for
    rows that come from memory and go to it."""
    if case.op != "quantised" or case.state != STREAMED or case.table_bytes <= WARM:
        return
    best = max((c["gb_per_s"] for c in copies if c["threads"] == case.threads), default=0)
    if best:
        ns = (case.packed_row_bytes + (case.index_bytes + case.out_bytes) / case.rows) / (2 * best)
        row["bandwidth"] = {"ns": ns, "share": ns / row["ours"]["median"]}


def streams(memory):
    table = memory.packed_bytes() if isinstance(memory, Quantised) else memory.case.table_bytes if isinstance(memory, Tree) else 0
    for form, past in (("stream", 0), ("stream, non-temporal stores", 1)) if memory.case.state == STREAMED else (("stream", 0),):
        yield "stream", form, memory.stream_job(past, 1, table), ()
        if table:
            yield "stream", f"{form}, the table not prefetched", memory.stream_job(past, 0, table), ()


def touches(memory):
    if isinstance(memory, Tree):
        return
    row = memory.row_bytes
    near = ((64, 2), (128, 2)) if row <= 64 else ((max(1, 8192 // row), 4), (max(1, 16384 // row), 8), (max(1, 8192 // row), 1024))
    job = memory.flat_job(memory.flat, row)
    buffers = (memory.flat_buffer,) if isinstance(memory, Tuples) else ()
    yield "touch_by_vector", "touch by vector", job, buffers
    for distance, lines in ((0, 1), *(near if memory.case.state == STREAMED else ())):
        form = f"touch ahead {distance}, {lines} lines" if distance else "touch"
        yield "touch", form, (*job[:AHEAD], distance, lines, *job[AHEAD + 2 :]), buffers
