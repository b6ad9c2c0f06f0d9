# SPDX-License-Identifier: MIT
"""The rows of the benchmark: one table of cases, the full list and the quick one in it.

A case is one gather on one number of threads. `cached`: indices and output are small and stay in the core's cache. `streamed`:
both come from memory and go to it (they are flushed before every call), as in a program that does something else in between.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

import spatter

END, OPS = "", ("take", "elements")  # of the name of the results' file
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
LEVELS = {"L1": 16 * KIB, "L2": 512 * KIB, "L3": 16 * MIB, "DRAM": 1 * GIB}
TYPES = {1: "uint8", 2: "float16", 4: "float32", 8: "float64"}
TYPE_BYTES = {"uint8": 1, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8, "int4": 0.5}
CACHED, STREAMED = "cached", "streamed"
SHORT = 16 * KIB  # indices of a cached case
BY_TABLE, BY_COUNT, BY_THREADS = (f"growth: {what}" for what in ("table", "indices", "threads"))  # curves, outside of all means


@dataclass(frozen=True)
class Case:
    regime: str
    what: str  # its name without threads
    op: str  # take, elements
    dtype: str
    shape: tuple[int, ...]
    index_shape: tuple[int, ...]
    index: str
    state: str
    axis: int = 0
    batch_dims: int = 0
    order: str = "random"
    threads: int = 1
    quick: bool = False
    spatter: str = ""

    @property
    def name(self) -> str:
        return f"{self.what} {self.threads}T"

    @property
    def out_shape(self) -> tuple[int, ...]:
        if self.op == "elements":
            return self.index_shape
        return self.shape[: self.axis] + self.index_shape[self.batch_dims :] + self.shape[self.axis + 1 :]

    @property
    def row_len(self) -> int:
        """Elements that one index moves."""
        return 1 if self.op == "elements" else prod(self.shape[self.axis + 1 :])

    @property
    def rows(self) -> int:
        """Rows that are moved: what times are divided by."""
        return prod(self.out_shape) // max(1, self.row_len)

    def bytes_of(self, shape: tuple[int, ...], dtype: str) -> int:
        return int(prod(shape) * TYPE_BYTES[dtype] + 0.5)

    @property
    def table_bytes(self) -> int:
        return self.bytes_of(self.shape, self.dtype)

    @property
    def index_bytes(self) -> int:
        return self.bytes_of(self.index_shape, "uint8" if self.index == "uint8" else self.index)

    @property
    def out_bytes(self) -> int:
        return self.bytes_of(self.out_shape, self.dtype)

    @property
    def moved_bytes(self) -> int:
        """Of the rows."""
        return self.out_bytes


def take(regime, what, dtype, shape, index_shape, index, state, **more) -> Case:
    return Case(regime, what, "take", dtype, tuple(shape), tuple(index_shape), index, state, **more)


def elements_of_one_byte_to_eight():
    """1-D tables in every level of the memory, elements of 1 to 8 bytes."""
    quick = {(4, "L1", "int64", CACHED), (4, "L2", "int64", STREAMED), (4, "L3", "int32", STREAMED),
             (4, "DRAM", "int64", STREAMED), (8, "DRAM", "int32", STREAMED), (1, "L2", "int32", CACHED),
             (8, "L1", "int64", STREAMED)}
    for size, dtype in TYPES.items():
        for level, table in LEVELS.items():
            for index in ("int32", "int64") if size >= 4 else ("int32",):
                for state in (CACHED, STREAMED) if level != "DRAM" else (STREAMED,):
                    # With fewer indices their lines would all lie in L2.
                    n = (4 * SHORT if level == "L3" else SHORT) if state == CACHED else 4 * MIB
                    yield take(f"elements, table in {level}, {state}", f"take {size} B {level} {index} {state}", dtype,
                               (table // size,), (n,), index, state, quick=(size, level, index, state) in quick)
    yield take("elements, table in DRAM, streamed", "take 4 B DRAM int64 streamed 16 Mi", "float32", (GIB // 4,),
               (16 * MIB,), "int64", STREAMED)


def rows():
    """Rows of 3 bytes to 16 KiB: an embedding, a record, a picture."""
    quick = {(12, "L2", CACHED), (64, "L2", STREAMED), (64, "DRAM", STREAMED), (256, "L2", CACHED), (1000, "DRAM", STREAMED),
             (4096, "DRAM", STREAMED), (3, "L2", STREAMED)}
    for size in (3, 6, 12, 16, 24, 64, 256, 1000, 4096, 16384):
        dtype, width = ("float32", size // 4) if size % 4 == 0 else ("uint8", size)
        for level, state in (("L2", CACHED), ("L2", STREAMED), ("DRAM", STREAMED)):
            total = 128 * KIB if state == CACHED else 64 * MIB
            n = max(8, min(total // size, SHORT if state == CACHED else 2 * MIB))
            table = (LEVELS[level] // 2 if state == CACHED else LEVELS[level]) // size
            yield take(f"rows, table in {level}, {state}", f"rows {size} B {level} int64 {state}", dtype, (table, width), (n,),
                       "int64", state, quick=(size, level, state) in quick)
    for size in (64, 256):
        yield take("rows, table in DRAM, streamed", f"rows {size} B DRAM int32 streamed", "float32", (GIB // size, size // 4),
                   (64 * MIB // size,), "int32", STREAMED)


def cached_rows():
    """Rows of whole vectors and of others, table and output in L1 or L2, by indices in several orders."""
    for size in (3, 12):
        dtype, width = ("float32", 3) if size == 12 else ("uint8", 3)
        yield take("rows, all in cache", f"rows {size} B in L1 cached random", dtype, (LEVELS["L1"] // 2 // size, width), (128 * KIB // 12,),
                   "int64", CACHED)
    for size in (64, 68, 100, 128, 160, 252):
        for level in ("L1", "L2"):
            for order in ("random", "sorted", "zipf"):
                n = 128 * KIB // size
                yield take("rows, all in cache", f"rows {size} B in {level} cached {order}", "float32", (LEVELS[level] // 2 // size, size // 4),
                           (n,), "int64", CACHED, order=order)


def axes():
    """Take along another axis than the first, and tables of a batch."""
    regime = "take along other axes"
    yield take(regime, "take axis 1 of (256,1000,3) u8, 4096", "uint8", (256, 1000, 3), (4096,), "int64", STREAMED, axis=1, quick=True)
    yield take(regime, "take axis 1 of (64,512,16) f32, 256", "float32", (64, 512, 16), (256,), "int64", STREAMED, axis=1)
    yield take(regime, "take axis 1 of (4096,1024) f32, 256", "float32", (4096, 1024), (256,), "int64", STREAMED, axis=1)
    yield take(regime, "take axis 1 of (1Mi,8) f32, 3", "float32", (MIB, 8), (3,), "int64", STREAMED, axis=1, quick=True)
    yield take(regime, "take axis 1 of (16,64) f32, 64", "float32", (16, 64), (64,), "int64", CACHED, axis=1)
    yield take(regime, "take axis 2 of (8,128,4096) u8, 2048", "uint8", (8, 128, 4096), (2048,), "int32", STREAMED, axis=2)
    batched = "batched take"
    yield take(batched, "batch (64,4096,16) f32, (64,4096)", "float32", (64, 4096, 16), (64, 4096), "int64", STREAMED, axis=1,
               batch_dims=1, quick=True)
    yield take(batched, "batch (256,4096) f32, (256,1024)", "float32", (256, 4096), (256, 1024), "int32", STREAMED, axis=1, batch_dims=1)
    yield take(batched, "batch (8,64,64) f32, (8,32)", "float32", (8, 64, 64), (8, 32), "int64", CACHED, axis=1, batch_dims=1)


def gather_elements():
    """GatherElements along each axis."""
    regime = "GatherElements"
    shape = (512, 1024, 8)
    for dtype, name in (("float32", "f32"), ("uint8", "u8")):
        for axis in range(3):
            yield Case(regime, f"elements (512,1024,8) axis {axis} {name}", "elements", dtype, shape, shape, "int64", STREAMED,
                       axis=axis, quick=dtype == "float32")
    yield Case(regime, "elements (4096,1024) axis 1 f32 int32", "elements", "float32", (4096, 1024), (4096, 1024), "int32",
               STREAMED, axis=1)
    yield Case(regime, "elements (1Mi,16) axis 1 f32, (1Mi,1)", "elements", "float32", (MIB, 16), (MIB, 1), "int64", STREAMED, axis=1)
    yield Case(regime, "elements (1Mi,1) axis 0 f32", "elements", "float32", (MIB, 1), (MIB, 1), "int64", STREAMED)
    yield Case(regime, "elements (16,1024) axis 1 f32", "elements", "float32", (16, 1024), (16, 1024), "int64", CACHED, axis=1)


def small_tables():
    """Tables of 16, 64 and 256 bytes: palettes, code pages, quantisation levels."""
    for table in (16, 64, 256):
        for index in ("uint8", "int32", "int64"):
            for state, n in ((CACHED, SHORT), (STREAMED, 16 * MIB)):
                if (index == "int64" or table == 16) and state == CACHED:
                    continue
                yield take("small tables", f"table {table} x 1 B {index} {state}", "uint8", (table,), (n,), index, state,
                           quick=table == 256 and (index, state) in {("uint8", STREAMED), ("int32", CACHED)})
    for size, count, index in ((4, 16, "int32"), (4, 64, "int32"), (8, 16, "int64"), (2, 64, "int32")):
        yield take("small tables", f"table {count} x {size} B {index} cached", TYPES[size], (count,), (SHORT,), index, CACHED)


def orders():
    """Indices in other orders than at random."""
    for order in ("sorted", "zipf", "block"):
        for size, n in ((4, 4 * MIB), (64, MIB)):
            dtype, shape = "float32", (GIB // size,) if size == 4 else (GIB // size, size // 4)
            yield take(f"order: {order}", f"{order} {size} B DRAM int64", dtype, shape, (n,), "int64", STREAMED, order=order,
                       quick=size == 4 and order != "block")
    yield take("order: sorted", "sorted 4 B L3 int64", "float32", (16 * MIB // 4,), (4 * MIB,), "int64", STREAMED, order="sorted")


def packed():
    """Four-bit elements: no peer gathers them, so there is the naive loop only."""
    regime = "packed int4"
    yield take(regime, "int4 elements L2 int64 cached", "int4", (MIB,), (SHORT,), "int64", CACHED)
    yield take(regime, "int4 elements L2 int32 streamed", "int4", (MIB,), (4 * MIB,), "int32", STREAMED)
    yield take(regime, "int4 rows of 33 L2 int64 streamed", "int4", (16 * KIB, 33), (256 * KIB,), "int64", STREAMED)
    yield take(regime, "int4 rows of 4096 DRAM int64", "int4", (128 * KIB, 4096), (8 * KIB,), "int64", STREAMED)


def tiny():
    """What a call costs."""
    yield take("tiny calls", "tiny take 8 of 8 f32", "float32", (8,), (8,), "int64", CACHED, quick=True)
    yield take("tiny calls", "tiny rows 4 of (100,16) f32", "float32", (100, 16), (4,), "int64", CACHED)
    yield Case("tiny calls", "tiny elements (2,4) f32", "elements", "float32", (2, 4), (2, 4), "int64", CACHED, axis=1)


def patterns():
    """Spatter's gathers with every index written out: 8 bytes of a table of doubles per index of 4 bytes."""
    for pattern in spatter.PATTERNS:
        yield take("Spatter patterns", f"spatter {pattern.name}", "float64", (pattern.table_len(),), (pattern.len(),), "int32",
                   STREAMED, spatter=pattern.name, order=f"{pattern.name}", quick=pattern.quick)


def size_name(size: int) -> str:
    unit, name = next((unit, name) for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1, "B")) if size >= unit)
    return f"{size / unit:g} {name}"


def growth():
    """Elements of 4 bytes by indices of 8: time against the size of the table, the number of indices, and the threads."""
    for size in (*(16 * KIB << 2 * i for i in range(9)), 4 * GIB, 8 * GIB):
        yield take(BY_TABLE, f"growth: table {size_name(size)}", "float32", (size // 4,), (MIB,), "int64", STREAMED)
    for i in range(8):  # call after call with the same buffers
        yield take(BY_COUNT, f"growth: indices {8 << 3 * i}", "float32", (16 * KIB,), (8 << 3 * i,), "int64", CACHED)
    for size in (256 * KIB, GIB):
        yield take(BY_THREADS, f"growth: threads, table {size_name(size)}", "float32", (size // 4,), (4 * MIB,), "int64", STREAMED)


def up_to(cpus: int) -> tuple[int, ...]:
    """Numbers of threads to draw a curve through: powers of two, and all."""
    return tuple(sorted({1 << i for i in range(cpus.bit_length()) if 1 << i <= cpus} | {cpus}))


def shorter(case: Case) -> Case:
    """The same with a quarter of the indices, for a quick run: what is beyond the caches stays beyond them."""
    if case.state == CACHED or case.op != "take" or case.axis or case.spatter:
        return case
    return replace(case, index_shape=(case.index_shape[0] // 4,))


GROUPS = (tiny, elements_of_one_byte_to_eight, rows, cached_rows, axes, gather_elements, small_tables, orders, packed, patterns, growth)


def threads_of(case: Case, threads: tuple[int, ...], curve: tuple[int, ...]) -> tuple[int, ...]:
    if case.regime == BY_THREADS:
        return curve
    # A call of some hundred bytes has nothing to share out.
    return threads[:1] if case.regime == "tiny calls" else threads


def affordable(found: list[Case], free: int) -> tuple[list[Case], list[dict]]:
    """The rows that fit into so many bytes of free memory, twice the table in case a peer copies it, and why the others do not."""
    left = []
    for case in found:
        need = 2 * case.table_bytes + case.index_bytes + 2 * case.out_bytes + GIB
        if need > free:
            left.append({"row": case.name, "why": f"needs {need / GIB:.0f} GiB of free memory; there are {free / GIB:.1f}"})
    names = {row["row"] for row in left}
    return [case for case in found if case.name not in names], left


def cases(threads: tuple[int, ...], quick: bool = False, only: str = "", every: bool = False, curve: tuple[int, ...] = ()) -> list[Case]:
    """The rows of a run, in order. every: those of a full run, with the few indices of a quick one. curve: the numbers of threads
    of the rows that show their growth, if not the same."""
    found = []
    for group in GROUPS:
        for case in group():
            if quick and not (case.quick or every):
                continue
            case = shorter(case) if quick else case
            for count in threads_of(case, threads, curve or threads):
                found.append(replace(case, threads=count))
    return [case for case in found if re.search(only, case.name) or re.search(only, case.regime)]
