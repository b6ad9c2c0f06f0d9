# SPDX-License-Identifier: MIT
"""The memory of a case: the same buffers for everybody, filled with a table and with indices in the order of the case."""

from __future__ import annotations

from math import prod

import gather_bench_native as native
import numpy as np
import spatter
from grid import STREAMED, Case

LINE = 64
BLOCK = 256  # indices of the block that is repeated
CLEAR = 0xEE  # what stands in an output that nobody has written
WARM = 64 << 20  # tables up to this size are read once before a streamed call: whoever ran before must not matter


class Arenas:
    """Three buffers that all cases use one after another, so that the pages are the same in all of them."""

    def __init__(self, cases: list[Case], huge: bool = True):
        slack = 4096
        self.table = native.Buffer(max(case.table_bytes for case in cases) + slack, huge)
        self.index = native.Buffer(max(case.index_bytes for case in cases) + slack, huge)
        self.out = native.Buffer(max(case.out_bytes for case in cases) + slack, huge)
        native.fill(self.table.address, len(memoryview(self.table)), 1)

    def huge_share(self) -> float:
        """How much of the table really stands on huge pages."""
        return huge_share(self.table.address, len(memoryview(self.table)))


def huge_share(address: int, size: int) -> float:
    """From the kernel's list of this process's mappings; 0 where there is none."""
    inside, huge = False, 0
    try:
        with open("/proc/self/smaps", encoding="ascii", errors="replace") as lines:
            for line in lines:
                first = line.split(" ", 1)[0]
                if "-" in first:
                    low, high = (int(part, 16) for part in first.split("-"))
                    inside = low < address + size and high > address
                elif inside and first == "AnonHugePages:":
                    huge += int(line.split()[1]) * 1024
    except OSError:
        return 0.0
    return min(1.0, huge / size)


def make_indices(case: Case, count: int, rows: int) -> np.ndarray:
    """`count` indices below `rows` in the order of the case. The same for everybody, in every run."""
    random = np.random.default_rng(42)
    if case.spatter:
        return next(p for p in spatter.PATTERNS if p.name == case.spatter).indices(case.index)
    if case.order == "zipf":
        # The i-th most frequent row is drawn in proportion to 1 / i; which row that is, is random.
        ranks = np.exp(random.random(count) * np.log(rows)).astype(np.int64) - 1
        return ((ranks * 2654435761 + 12345) % rows).astype(case.index)
    if case.order == "block":
        return np.resize(random.integers(0, rows, BLOCK), count).astype(case.index)
    indices = random.integers(0, rows, count)
    return (np.sort(indices) if case.order == "sorted" else indices).astype(case.index)


def same(result: np.ndarray, expected: np.ndarray) -> bool:
    """Bit for bit."""
    if result.nbytes != expected.nbytes:
        return False
    return np.array_equal(np.ascontiguousarray(result).reshape(-1).view(np.uint8), expected.reshape(-1).view(np.uint8))


class Memory:
    """Arrays of a case in the arenas."""

    checks = 1  # runs of a peer that are compared, on several threads

    def __init__(self, case: Case, arenas: Arenas):
        self.case = case
        self.rows = case.shape[case.axis]
        packed = case.dtype == "int4"
        view = np.uint8 if packed else case.dtype
        self.data = np.frombuffer(arenas.table, view, (case.table_bytes if packed else prod(case.shape)))
        self.out = np.frombuffer(arenas.out, view, (case.out_bytes if packed else prod(case.out_shape)))
        if not packed:
            self.data, self.out = self.data.reshape(case.shape), self.out.reshape(case.out_shape)
        self.index = np.frombuffer(arenas.index, case.index, prod(case.index_shape)).reshape(case.index_shape)
        self.index[...] = make_indices(case, self.index.size, self.rows).reshape(case.index_shape)
        self.fresh = case.state == STREAMED and case.table_bytes > WARM and case.order != "block"
        self.random = np.random.default_rng(7)

    def prepare(self, others=()) -> None:
        """The state before a streamed call: other indices where the table is large, indices and output in memory, a small
        table in the cache. others: further buffers, as (address, bytes)."""
        case = self.case
        if case.state != STREAMED:
            return
        if self.fresh:
            self.shift()
        if case.table_bytes <= WARM:
            native.timed("stream", 1, 1, self.job(out_bytes=LINE, in_bytes=0, table_bytes=case.table_bytes, past_caches=0))
        for address, size in ((self.index.ctypes.data, case.index_bytes), (self.out.ctypes.data, case.out_bytes), *others):
            native.flush(address, size)

    def clear(self) -> None:
        """The state before a run whose result is looked at."""
        self.out.reshape(-1).view(np.uint8)[:] = CLEAR

    def shift(self) -> None:
        """Other rows, in the same order: a large cache would remember those of the last call."""
        by = int(self.random.integers(1, self.rows))
        native.shift(self.index.ctypes.data, self.index.size, self.index.itemsize, by, self.rows)

    def expected(self) -> np.ndarray:
        """NumPy's answer for the indices as they are. NumPy has no four-bit elements: they are unpacked and packed again."""
        case = self.case
        if case.dtype == "int4":
            single = np.stack([self.data & 15, self.data >> 4], -1).reshape(-1)[: prod(case.shape)].reshape(case.shape)
            taken = np.take(single, self.index, 0).reshape(-1)
            pairs = np.resize(np.append(taken, np.uint8(0)), (taken.size + 1) // 2 * 2).reshape(-1, 2)
            return pairs[:, 0] | pairs[:, 1] << 4
        if case.op == "elements":
            return np.take_along_axis(self.data, self.index.astype(np.int64), case.axis)
        if case.batch_dims:
            return batched(self.data, self.index)
        return np.take(self.data, self.index, case.axis)

    def accepts(self, result: np.ndarray, expected: np.ndarray, peer: str) -> bool:
        """Whether a result is right: bit for bit, for every peer."""
        return same(result, expected)

    def job(self, ahead=0, lines=1, past_caches=0, in_bytes=None, out_bytes=None, table_bytes=0) -> tuple:
        """The case as native.h wants it."""
        case = self.case
        size = self.data.itemsize
        inner_table = prod(case.shape[case.axis + 1 :])
        outer = prod(case.shape[: case.axis])
        take = case.op == "take"
        count = prod(case.index_shape[case.batch_dims :]) if take else case.index_shape[case.axis]
        inner = 1 if take else prod(case.index_shape[case.axis + 1 :])
        return (
            self.data.ctypes.data, self.index.ctypes.data, self.out.ctypes.data,
            outer, count, inner,
            case.shape[case.axis] * inner_table * size, inner_table * size, 0 if take else size,
            count * inner if case.batch_dims or not take else 0,
            inner_table * size if take else size,
            self.index.itemsize, ahead, lines, past_caches,
            case.index_bytes if in_bytes is None else in_bytes,
            case.out_bytes if out_bytes is None else out_bytes,
            table_bytes,
        )  # fmt: skip

    def int4_job(self) -> tuple:
        """Rows of four-bit elements: steps and rows count elements."""
        job = list(self.job())
        job[10] = self.case.row_len
        return tuple(job)


def batched(data: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Take along axis 1 with one table per row of the indices."""
    return data[np.arange(data.shape[0])[:, None], index]
