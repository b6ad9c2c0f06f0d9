# SPDX-License-Identifier: MIT
"""The memory of a sibling's case in the arenas: tables, indices, output, and what is expected there."""

from __future__ import annotations

from math import prod

import codecs_numpy
import gather_bench_native as native
import numpy as np
from cases import WARM, Arenas, Memory
from codecs_numpy import CODECS, round_to
from grid import STREAMED
from siblings_grid import Sibling

VIEWS = {"bfloat16": np.uint16}


def memory_of(case: Sibling, arenas: Arenas) -> Memory:
    return {"nd": Tuples, "tree": Tree, "quantised": Quantised}[case.op](case, arenas)


class SiblingMemory(Memory):
    """Memory's interface; `flat`: the row of each index as one number, and the bytes of a row."""

    def __init__(self, case: Sibling, arenas: Arenas):
        self.case, self.random = case, np.random.default_rng(7)
        self.followers: list[np.ndarray] = []  # copies of the indices in other types, which are shifted with them
        view = VIEWS.get(case.dtype, case.dtype)
        self.out = np.frombuffer(arenas.out, view, prod(case.out_shape)).reshape(case.out_shape)
        self.index = np.frombuffer(arenas.index, case.index, prod(case.index_shape)).reshape(case.index_shape)
        self.fresh = case.state == STREAMED and case.table_bytes > WARM

    def accepts(self, result: np.ndarray, expected: np.ndarray, peer: str) -> bool:
        return np.array_equal(bytes_of(result), bytes_of(expected))

    def flat_job(self, ids: np.ndarray, row_bytes: int, ahead=0, lines=1) -> tuple:
        """A job of plain rows by these numbers."""
        return (self.data.ctypes.data, ids.ctypes.data, self.out.ctypes.data, 1, ids.size, 1, 0, row_bytes, 0, 0, row_bytes,
                ids.itemsize, ahead, lines, 0, ids.nbytes, self.case.out_bytes, 0)

    def stream_job(self, past: int, lines: int, table_bytes: int, in_bytes=None) -> tuple:
        """Reads the indices, and so many bytes of the table, and writes the output, all in order."""
        case = self.case
        return (self.data.ctypes.data, self.index.ctypes.data, self.out.ctypes.data, 1, 0, 1, 0, 0, 0, 0, 1, self.index.itemsize, 0, lines,
                past, case.index_bytes if in_bytes is None else in_bytes, case.out_bytes, table_bytes)

    def shift(self) -> None:
        by = int(self.random.integers(1, self.rows))
        for array in (self.index, *self.followers):
            native.shift(array.ctypes.data, array.size, array.itemsize, by, self.rows)

    def prepare(self, others=()) -> None:
        case = self.case
        if case.state != STREAMED:
            return
        if self.fresh:
            self.shift()
        if case.table_bytes <= WARM:
            read = list(self.stream_job(0, 0, case.table_bytes // 8 * 8, 0))
            read[16] = codecs_numpy.LINE  # bytes of the output
            native.timed("stream", 1, 1, tuple(read))
        for address, size in ((self.index.ctypes.data, case.index_bytes), (self.out.ctypes.data, case.out_bytes), *others):
            native.flush(address, size)


def bytes_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class Tuples(SiblingMemory):
    """GatherND. `flat` are the same rows for Gather: libgather's own and the hardware's limit."""

    def __init__(self, case: Sibling, arenas: Arenas):
        super().__init__(case, arenas)
        random = np.random.default_rng(42)
        self.data = np.frombuffer(arenas.table, case.dtype, prod(case.shape)).reshape(case.shape)
        lengths = case.shape[case.batch_dims : case.selected]
        if self.fresh and len(set(lengths)) > 1:
            raise ValueError(f"{case.name}: the axes of tables beyond the caches are equally long: indices of all are shifted alike")
        self.rows = lengths[0]
        for column, length in enumerate(lengths):
            self.index[..., column] = random.integers(0, length, case.index_shape[:-1])
        steps = np.array([prod(lengths[i + 1 :]) for i in range(len(lengths))], np.int64)
        batches = np.arange(prod(case.shape[: case.batch_dims])).reshape(case.shape[: case.batch_dims] + (1,) * (len(case.index_shape) - 1 - case.batch_dims))
        flat = self.index.astype(np.int64) @ steps + batches * prod(lengths)
        self.flat_buffer = native.Buffer(max(64, flat.size * 8))
        self.flat = np.frombuffer(self.flat_buffer, np.int64, flat.size)
        self.flat[...] = flat.reshape(-1)
        self.flat_rows = prod(case.shape[: case.selected])
        self.row_bytes = case.row_len * self.data.itemsize

    def shift(self) -> None:
        super().shift()
        native.shift(self.flat.ctypes.data, self.flat.size, 8, int(self.random.integers(1, self.flat_rows)), self.flat_rows)

    def picked(self) -> tuple[np.ndarray, ...]:
        """x[picked] by NumPy or PyTorch."""
        case = self.case
        batches = tuple(np.arange(n).reshape(tuple(n if i == j else 1 for j in range(len(case.index_shape) - 1)))
                        for i, n in enumerate(case.shape[: case.batch_dims]))
        return batches + tuple(self.index[..., column] for column in range(case.tuple_len))

    def expected(self) -> np.ndarray:
        return self.data[self.picked()]


class Tree(SiblingMemory):
    """GatherTree: parents lead to beams of the same batch; some sequences end early."""

    def __init__(self, case: Sibling, arenas: Arenas):
        super().__init__(case, arenas)
        random = np.random.default_rng(42)
        steps, batch, beams = case.shape
        self.data = np.frombuffer(arenas.table, np.int32, prod(case.shape)).reshape(case.shape)
        self.data[...] = random.integers(0, 50000, case.shape)
        self.index[...] = random.integers(0, beams, case.shape)
        self.lengths = random.integers(steps // 2, steps + 1, batch).astype(np.int32)
        self.end = np.array(3, np.int32)
        self.rows, self.row_bytes, self.fresh = beams, 4, False

    def expected(self) -> np.ndarray:
        steps, batch, beams = self.case.shape
        out = np.full(self.case.shape, self.end, np.int32)
        every, beam = np.arange(batch)[:, None], np.tile(np.arange(beams), (batch, 1))
        last = np.minimum(self.lengths, steps)[:, None] - 1
        for step in range(steps - 1, -1, -1):
            live = step <= last
            out[step] = np.where(live, self.data[step][every, beam], out[step])
            beam = np.where(live, self.index[step][every, beam], beam)
        ended = np.cumsum(out == self.end, 0) - (out == self.end) > 0
        return np.where(ended, self.end, out)


class Quantised(SiblingMemory):
    def __init__(self, case: Sibling, arenas: Arenas):
        super().__init__(case, arenas)
        self.codec = CODECS[case.codec]
        self.rows = case.shape[0]
        self.data = np.frombuffer(arenas.table, np.uint8, case.table_bytes)
        self.codec.settle(self.data, *case.shape)
        self.index[...] = np.random.default_rng(42).integers(0, self.rows, case.index_shape)
        self.flat, self.row_bytes = self.index, self.codec.row_bytes(case.shape[1])

    def packed_bytes(self) -> int:
        """Of the rows that are read, side tensors included."""
        return self.index.size * self.case.packed_row_bytes // 8 * 8

    def expected(self) -> np.ndarray:
        return round_to(self.codec.decode(self.data, *self.case.shape, self.index), self.case.dtype)

    def accepts(self, result: np.ndarray, expected: np.ndarray, peer: str) -> bool:
        """Bit for bit; but peers may fuse the multiplication and the addition of `q * scale + bias`: a few units in the last place of
        the largest term."""
        if super().accepts(result, expected, peer):
            return True
        if peer == "ours" or not self.case.codec.endswith("rows") or result.shape != expected.shape:
            return False
        return bool(np.allclose(result, expected, rtol=3e-7, atol=4e-7 * float(np.abs(expected).max())))
