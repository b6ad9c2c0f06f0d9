# SPDX-License-Identifier: MIT
"""The hardware's limits of a row of scatter_grid.py: `stream` reads indices and updates and writes what they change, in order; `touch`
reads a word of every line that they change, in their order. The first is a limit of everybody (bytes over bandwidth), the second of who
takes the updates one after the other (misses over parallelism): who sorts them first can be faster."""

from __future__ import annotations

from grid import CACHED, STREAMED
from limits import AHEAD, timed


def limits(memory):
    case = memory.case
    for threads in sorted({case.threads, 1} if case.state == CACHED else {case.threads}, reverse=True):
        note = "" if threads == case.threads else ", one thread"
        for past in (0, 1) if case.state == STREAMED else (0,):
            yield timed("stream", "stream, non-temporal stores" if past else "stream", memory.stream_job(past), (), threads, note)
        for form, job in touches(memory):
            yield timed(form.split(" ahead")[0].replace(" ", "_"), form, job, (), threads, note)


def touches(memory):
    row, job = memory.row_bytes, memory.flat_job()
    near = ((64, 2), (128, 2)) if row <= 64 else ((max(1, 8192 // row), 4), (max(1, 16384 // row), 8), (max(1, 8192 // row), 1024))
    yield "touch by vector", job
    yield "touch", job
    for distance, lines in near if memory.case.state == STREAMED else ():
        yield f"touch ahead {distance}, {lines} lines", (*job[:AHEAD], distance, lines, *job[AHEAD + 2 :])
