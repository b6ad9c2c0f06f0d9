# SPDX-License-Identifier: MIT
"""Memory over time: rows by Zipf's law out of a cold file, batch after batch, with a ceiling and without; and rows
per second against the number of reads in flight."""

from __future__ import annotations

import mmap
import time
from pathlib import Path

import numpy as np
import tables_cases
import tables_child
from tables_cases import BLOCK, Case
from tables_child import Child
from tables_measure import Bench, disk, per_second
from tables_peers import MEMMAP, OURS, Native, Way, memmap, pread_pool

BATCH = 4096  # rows
STEP = 0.05  # seconds between samples
MIB = 1 << 20
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def resident(pid: int) -> dict[str, int]:
    """Bytes: private memory, and pages of files that are mapped. The output, shared with the parent, is neither."""
    found = {}
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(("RssAnon:", "RssFile:")):
            found[line[3:7].lower()] = int(line.split()[1]) * 1024
    return found


def long_take(way: Way, path: Path, case: Case, memory: np.ndarray, board: np.ndarray, batch: int, seconds: float):
    """The work of a process. On the board it writes how many rows it has had, and what the table says of its memory."""

    def work(talk) -> None:
        out = tables_child.shaped(memory, batch, case.row_bytes)
        out.view(np.uint8)[...] = tables_child.CLEAR
        talk.send({})
        talk.receive()  # the parent has seen what there is before
        take = way.open(path, case.row_bytes)
        end, seed = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            ids = tables_cases.draw(case, batch, seed)
            for part in range(0, batch, batch if way.whole else tables_child.FIRST):
                piece = slice(part, part + (batch if way.whole else tables_child.FIRST))
                take(ids[piece], out[piece])
                board[0] += ids[piece].size
                if said := tables_child.statistics(way):
                    board[1], board[2] = said["memory_bytes"], said["memory_peak"]
                if time.monotonic() > end:
                    break
            seed += 1
        bad = tables_child.wrong(out, ids, min(batch, piece.stop))
        talk.send({"wrong": bad, "statistics": tables_child.statistics(way)})

    return work


def over_time(bench: Bench, limit, way: Way, case: Case, ceiling: int, seconds: float) -> dict:
    board = np.frombuffer(mmap.mmap(-1, BLOCK), np.int64)
    batch = max(64, min(BATCH, bench.memory.size // case.row_bytes))
    bench.file.become(way.form, case.row_bytes)
    bench.file.drop()
    child = Child(long_take(way, bench.file.path, case, bench.memory, board, batch, seconds))
    child.hear(60)
    before, group_before = resident(child.pid), limit.number("now")
    samples, start, said = [], time.monotonic(), None
    child.talk.send({})
    while said is None and time.monotonic() < start + 10 * seconds + 60:
        try:
            now = resident(child.pid)
        except OSError:
            now = before
        if len(now) == 2:
            samples.append(
                [
                    round(time.monotonic() - start, 3),
                    (now["anon"] - before["anon"]) / MIB,
                    (now["file"] - before["file"]) / MIB,
                    (limit.number("now") - group_before) / MIB if limit.folder else 0,
                    int(board[1]) / MIB,
                    int(board[0]),
                ]
            )
        try:
            said = child.talk.receive(STEP)
        except tables_child.Ended:
            break
    ended = child.reap() if said is None and not child.gone and time.monotonic() < start + 10 * seconds + 60 else ""
    if said and said.get("wrong", -1) >= 0 and way.kind == OURS:
        raise SystemExit(f"bench: libgather is wrong: {way.name}, over time: row {said['wrong']}")
    child.end()
    most = max((anon + file for _, anon, file, *_ in samples), default=0)
    return {
        "way": way.name,
        "kind": way.kind,
        "ceiling_mib": ceiling / MIB,
        "seconds": seconds,
        "row_bytes": case.row_bytes,
        "batch": batch,
        "rows": int(board[0]),
        "most_mib": most,
        "group_mib": max((sample[3] for sample in samples), default=0),
        "says_mib": int(board[2]) / MIB,
        "held": bool(ceiling) and most <= ceiling / MIB,
        "error": (said or {}).get("error", ended),
        "samples": samples,
    }


def memory(bench: Bench, limit, ceiling: int, seconds: float) -> list[dict]:
    """Ours under a ceiling, each engine that maps or does not; ours without one, and NumPy's memmap, which has none."""
    case = Case(BLOCK, "zipf", bench.file.bytes // BLOCK, BLOCK)
    name = tables_cases.size_name(ceiling)
    ways = [(Way(f"libgather {engine}, memory={name}", Native(engine, ceiling), OURS), ceiling) for engine in ("auto", "mmap", "uring")]
    ways += [(Way("libgather mmap, no limit", Native("mmap"), OURS), 0), (Way(MEMMAP, memmap(), whole=False), 0)]
    return [over_time(bench, limit, way, case, most, seconds) for way, most in ways]


def depths(bench: Bench, wanted: tuple[int, ...]) -> list[dict]:
    """Rows of a block, at random, with so many reads in flight at most."""
    found = []
    case = Case(BLOCK, "random", bench.file.bytes // BLOCK, BLOCK)
    ways = [("the disk", lambda depth: disk(depth)), ("pread pool, O_DIRECT", lambda depth: Way("pool", pread_pool(depth, BLOCK)))]
    ways += [
        (f"libgather {engine}", lambda depth, engine=engine: Way(engine, Native(engine, 0, depth), OURS))
        for engine in ("uring", "pread", "mmap")
    ]
    rate = 10000.0
    for depth in wanted:
        count = int(min(bench.blocks_of(BLOCK), max(1024, rate * 0.6)))
        for name, make in ways:
            way = make(depth)
            taken = (
                bench.read_blocks(way, BLOCK, count, depth)
                if way.kind == "limit"
                else bench.cold_once(way, BLOCK, tables_cases.draw(case, count, depth))
            )
            line = {"way": name, "depth": depth}
            found.append(line | ({"error": taken["error"]} if "error" in taken else {"rows_s": per_second(taken)}))
            if name == "the disk" and "error" not in taken:
                rate = 2 * per_second(taken)
    return found
