# SPDX-License-Identifier: MIT
"""Measures everybody in turns: cold, each time from a file whose pages are gone; warm, with rows that everybody has
had before."""

from __future__ import annotations

import mmap
import os
import time
from dataclasses import replace
from statistics import median

import gather_bench_native as native
import numpy as np
import tables_cases
import tables_child
from tables_cases import BLOCK, Case
from tables_child import Child
from tables_file import HEAD, DataFile
from tables_peers import LIMIT, MEMCPY, MEMMAP, OURS, Native, Way, memcpy, pools

DEPTHS = (32, 128, 256)
DISK = "the disk"
OWN_CACHE = "libgather auto, own cache only"
FEWEST = 5  # warm rounds, however late it is
LONGEST = 60  # seconds, then a process is ended
LEFT = 16 * BLOCK  # of a file, when it counts as gone from the page cache


class Settings:
    def __init__(self, minutes: float, quick: bool, memory: int):
        self.quick, self.minutes = quick, minutes
        self.rounds, self.warm_rounds = (2, 5) if quick else (3, 9)
        self.blocks = min(4096 if quick else 32768, max(64, memory // 16 // BLOCK))  # different ones that a cold take names
        self.most_out = memory // 6
        self.cold_ns, self.warm_ns = (4e8, 2e7) if quick else (1.2e9, 5e7)  # what a slow way may use of a measurement
        self.working_set = memory // 32
        self.start = time.monotonic()
        self.end = self.start + 60 * minutes

    def spent(self) -> float:
        return time.monotonic() - self.start

    def until(self, share: float) -> float:
        """When a part of the run that may have this share of what is left has to end."""
        now = time.monotonic()
        return now + max(0.0, self.end - now) * share

    def by(self, share: float) -> float:
        """When that share of the whole run is over."""
        return self.start + (self.end - self.start) * share


def spread(values: list[float]) -> dict:
    return {"median": median(values), "low": min(values), "high": max(values), "rounds": len(values)}


class Bench:
    def __init__(self, file: DataFile, small: DataFile, ways: list[Way], settings: Settings, out_bytes: int):
        self.file, self.small, self.ways, self.settings = file, small, ways, settings
        self.memory = np.frombuffer(mmap.mmap(-1, out_bytes), np.uint8)  # shared with the processes
        self.disk: dict[int, Way] = {}  # by block: the disk at its best depth
        self.pool: dict[int, Way] = {}  # by row: the best pool of threads

    def cold_once(self, way: Way, row_bytes: int, ids: np.ndarray, checked: bool = True) -> dict:
        """In a process of its own; {"error": why} where it cannot."""
        if way.kind != LIMIT and (why := prepared(self.file, way, row_bytes)):  # the disk has no format
            return {"error": why}
        left = self.file.drop()
        if left > LEFT:
            return {"error": f"{left} bytes of the file stayed in the page cache"}
        child = Child(tables_child.cold(way, self.file.path, row_bytes, ids, self.memory, self.settings.cold_ns, checked))
        found = child.hear(LONGEST)
        child.end()
        return judged(way, found)

    def read_blocks(self, way: Way, block: int, count: int, seed: int) -> dict:
        """Different blocks of the file at random, past the page cache."""
        total = self.file.bytes // block
        random = np.random.default_rng(seed)
        ids = random.choice(total, min(count, total), replace=False) if total < 1 << 22 else random.integers(0, total, count)
        return self.cold_once(way, block, ids.astype(np.int64), checked=False)

    def find_disk(self, block: int) -> list[dict]:
        """The disk at each depth; the best one is the limit from then on."""
        found = []
        for depth in DEPTHS:
            way = disk(depth)
            rates = [per_second(self.read_blocks(way, block, self.blocks_of(block), seed)) for seed in range(2)]
            found.append({"block": block, "depth": depth, "blocks_s": max(rates), "way": way})
        best = max(found, key=lambda one: one["blocks_s"])
        if best["blocks_s"] == 0:
            raise SystemExit("bench: the disk's limit cannot be measured")
        self.disk[block] = replace(best["way"], how=f"depth {best['depth']}")
        return [{key: value for key, value in one.items() if key != "way"} for one in found]

    def find_pool(self, case: Case) -> list[dict]:
        ids = self.ids(case, 0)
        found = [(way, self.cold_once(way, case.row_bytes, ids)) for way in pools()]
        best = max(found, key=lambda pair: per_second(pair[1]))[0]
        self.pool[case.row_bytes] = replace(best, name="pread pool", how=best.name.removeprefix("pread pool, "))
        return [{"row_bytes": case.row_bytes, "pool": way.name, "rows_s": per_second(one)} for way, one in found]

    def blocks_of(self, block: int) -> int:
        return max(64, min(self.settings.blocks, self.settings.most_out // block))

    def ids(self, case: Case, seed: int) -> np.ndarray:
        return tables_cases.ids_for(case, self.blocks_of(case.block), self.settings.most_out // case.row_bytes, seed)

    def cold(self, case: Case, until: float) -> dict:
        """Every way in turns, in another order each time, the disk among them."""
        ways = [self.disk[case.block], self.pool[case.row_bytes], *self.ways]
        taken: dict[str, list[dict]] = {way.name: [] for way in ways}
        blocks = []
        for done in range(self.settings.rounds):
            if done >= 2 and time.monotonic() > until:
                break
            ids = self.ids(case, done)
            blocks.append(tables_cases.blocks(case, ids))
            for i in (*np.random.default_rng(done).permutation(len(ways)), 0):  # the disk, against which all are held, twice
                way = ways[i]
                if taken[way.name] and "error" in taken[way.name][-1]:
                    continue  # it will not be better
                taken[way.name].append(
                    self.read_blocks(way, case.block, self.blocks_of(case.block), done)
                    if way.kind == LIMIT
                    else self.cold_once(way, case.row_bytes, ids)
                )
        about = {"ids": int(ids.size), "blocks": int(median(blocks)), "block": case.block}
        return row_of(case, "cold", about, ways, taken)

    def warm(self, case: Case, file: DataFile, state: str, until: float) -> dict:
        """The same rows again and again, in new orders."""
        wanted = max(64, self.settings.working_set // case.block)
        ids = tables_cases.ids_for(case, wanted, self.settings.working_set * 2 // case.row_bytes, 7)
        if file is self.small:  # all of it is in memory: rows from everywhere
            ids = tables_cases.draw(case, min(4 * wanted, self.settings.most_out // case.row_bytes), 7)
            file.read_all()
            ways = [Way(MEMCPY, memcpy, LIMIT), *(way for way in self.ways if way.name == MEMMAP or way.kind == OURS)]
        else:
            file.drop()
            file.fill_cache(case.row_bytes, np.unique(ids))
            ways = [Way(MEMCPY, memcpy, LIMIT), self.pool[case.row_bytes], *self.ways]
        taken = self.warm_rounds(case, file, ways, ids, until)
        if file is self.file:  # what it has kept itself, with nothing in the page cache
            alone = Way(OWN_CACHE, Native("auto"), OURS, how="as auto, but no row is in the page cache when it begins")
            file.drop()
            taken |= self.warm_rounds(case, file, [alone], ids, until)
            ways.append(alone)
        return row_of(case, state, {"ids": int(ids.size), "blocks": tables_cases.blocks(case, ids), "block": case.block}, ways, taken)

    def warm_rounds(self, case: Case, file: DataFile, ways: list[Way], ids: np.ndarray, until: float) -> dict[str, list[dict]]:
        children, taken = {}, {}
        for way in ways:
            if why := prepared(file, way, case.row_bytes):
                taken[way.name] = [{"error": why}]
                continue
            child = Child(
                tables_child.warm(way, file.path, case.row_bytes, ids, self.memory, self.settings.warm_ns, lambda some,
                                  seed: tables_cases.again(case, some, seed))
            )
            first = judged(way, child.hear(LONGEST))
            taken[way.name] = [first] if "error" in first else []
            children[way.name] = child
        for done in range(self.settings.warm_rounds):
            if done >= FEWEST and time.monotonic() > until:
                break
            for i in np.random.default_rng(done).permutation(len(ways)):
                way = ways[i]
                if not taken[way.name] or "error" not in taken[way.name][-1]:
                    taken[way.name].append(judged(way, children[way.name].ask({"seed": done + 3}, LONGEST)))
        for child in children.values():
            child.end()
        return taken


def prepared(file: DataFile, way: Way, row_bytes: int) -> str:
    """Makes the file one of the way's format; why not, where its library does not write as it is thought to."""
    try:
        file.become(way.form, row_bytes)
    except Exception as error:  # noqa: BLE001  a peer may be broken in any way it likes
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def disk(depth: int) -> Way:
    """Blocks by io_uring, past the page cache; where the system has none, by as many threads."""

    def opened(path, block):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT)

        def take(ids, out):
            offsets = HEAD + ids * block
            try:
                return native.uring(fd, offsets.ctypes.data, ids.size, block, depth)
            except OSError:
                fits = max(1, out.size // block)
                parts = [ids[at : at + fits] for at in range(0, ids.size, fits)]
                return sum(native.pread(fd, HEAD, block, part.ctypes.data, part.size, out.ctypes.data, depth, BLOCK) for part in parts)

        return take

    return Way(DISK, opened, LIMIT, how=f"depth {depth}")


def judged(way: Way, found: dict) -> dict:
    """Wrong rows are no result; ours end the run."""
    if "error" in found or found["wrong"] < 0:
        return found
    if way.kind == OURS:
        raise SystemExit(f"bench: libgather is wrong: {way.name}: row {found['wrong']} of a take")
    return {"error": f"wrong rows, the first at {found['wrong']}"}


def per_second(found: dict) -> float:
    return 0.0 if "error" in found else found["rows"] / max(found["ns"], 1) * 1e9


def row_of(case: Case, state: str, about: dict, ways: list[Way], taken: dict[str, list[dict]]) -> dict:
    """A row of the results."""
    every = []
    for way in ways:
        found = taken[way.name]
        good = [one for one in found if "error" not in one]
        line = {"way": way.name, "kind": way.kind}
        if way.name in (DISK, "pread pool"):
            line["form"] = way.how
        if not good or "error" in found[-1]:
            every.append({**line, "error": found[-1]["error"]})
            continue
        line |= {"rows": good[-1]["rows"], "rows_s": spread([per_second(one) for one in good])}
        if useful := sum(one["rows"] for one in good if "read_bytes" in one) * case.row_bytes:
            line["read"] = sum(one["read_bytes"] for one in good) / useful
        if said := good[-1].get("statistics"):
            line |= {key: said[key] for key in ("engine", "direct", "depth", "why")}
        if sources := good[-1].get("sources"):
            line["sources"] = sources
        every.append(line)
    return {"name": case.name(), "state": state, "row_bytes": case.row_bytes, "order": case.order, **about, "ways": every}
