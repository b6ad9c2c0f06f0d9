# SPDX-License-Identifier: MIT
"""The memory of a row of scatter_grid.py in the arenas: what is written stands in the output's, what is read beside the indices in the
table's. Before every measurement what is written is as it was before the first one: for everybody, outside of the time."""

from __future__ import annotations

from math import prod

import gather_bench_native as native
import numpy as np
from cases import WARM, Arenas, Memory
from codecs_numpy import LINE, round_to
from grid import STREAMED
from scatter_grid import BACKWARD, BACKWARD_ELEMENTS, BAG, ELEMENTS, ND, Written

BFLOAT16 = "bfloat16"
INTO_ZEROS = (BACKWARD, BACKWARD_ELEMENTS)
UFUNCS = {"add": np.add, "max": np.maximum, "min": np.minimum}


def array_of(buffer, dtype: str, shape) -> np.ndarray:
    return np.frombuffer(buffer, np.uint16 if dtype == BFLOAT16 else dtype, prod(shape)).reshape(shape)


def widened(array: np.ndarray, dtype: str) -> np.ndarray:
    """float32 of 16-bit floats."""
    if dtype == BFLOAT16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if dtype == "float16" else array


def narrowed(array: np.ndarray, dtype: str) -> np.ndarray:
    return round_to(array, dtype) if dtype in (BFLOAT16, "float16") else array


class Writes(Memory):
    """Memory's interface. `data`: the updates, or the table of bags; `flat`: the number of the row of each update."""

    checks = 3  # with several threads: who loses an update does so now and then

    def __init__(self, case: Written, arenas: Arenas):
        self.case, self.random = case, np.random.default_rng(7)
        self.data = array_of(arenas.table, case.dtype, case.shape if case.op == BAG else case.updates_shape)
        self.out = array_of(arenas.out, case.dtype, case.out_shape)
        self.index = array_of(arenas.index, case.index, case.index_shape)
        random = np.random.default_rng(42)
        self.settle_indices(random)
        self.data[...] = numbers(random, self.data.shape, case.dtype)
        self.offsets = self.weights = self.base = None
        self.rows = case.shape[0]
        self.fresh = case.op == BAG and case.table_bytes > WARM
        if case.op == BAG:
            self.offsets = np.arange(case.bags, dtype=np.int64) * (self.index.size // case.bags)
            self.weights = numbers(random, self.index.shape, case.dtype) if case.weighted else None
        elif case.op not in INTO_ZEROS:
            self.base_buffer = native.Buffer(max(LINE, case.out_bytes))
            self.base = array_of(self.base_buffer, case.dtype, case.shape)
            self.base[...] = numbers(random, case.shape, case.dtype)
        self.row_bytes = case.row_len * self.out.itemsize
        self.settle_flat()

    def settle_indices(self, random) -> None:
        case = self.case
        if case.op == ND:
            for column in range(case.tuple_len):
                self.index[..., column] = random.integers(0, case.shape[column], case.index_shape[:-1])
        elif case.order == "expanded":
            self.index[...] = random.integers(0, case.shape[0], (case.index_shape[0], *(1,) * (len(case.index_shape) - 1)))
        else:
            self.index[...] = random.integers(0, case.shape[case.axis], case.index_shape)

    def settle_flat(self) -> None:
        """What the hardware's limits read by."""
        case = self.case
        if case.op == ND:
            steps = np.array([prod(case.shape[i + 1 : case.tuple_len]) for i in range(case.tuple_len)], np.int64)
            flat = self.index @ steps
        elif case.order == "expanded":
            flat, self.row_bytes = self.index[:, 0], case.shape[1] * self.out.itemsize
        elif case.op in (ELEMENTS, BACKWARD_ELEMENTS):
            flat = np.ravel_multi_index(self.places(), case.shape)
        else:
            self.flat = self.index
            return
        self.flat_buffer = native.Buffer(max(LINE, flat.size * 8))
        self.flat = array_of(self.flat_buffer, "int64", (flat.size,))
        self.flat[...] = flat.reshape(-1)

    def places(self) -> tuple[np.ndarray, ...]:
        """out[places] = updates, by NumPy."""
        case = self.case
        if case.op == ND:
            return tuple(self.index[..., column] for column in range(case.tuple_len))
        if case.op in (ELEMENTS, BACKWARD_ELEMENTS):
            every = np.ogrid[tuple(slice(0, length) for length in case.index_shape)]
            return tuple(self.index if axis == case.axis else np.broadcast_to(at, case.index_shape) for axis, at in enumerate(every))
        return (*(slice(None),) * case.axis, self.index)

    def restore(self) -> None:
        if self.base is not None:
            np.copyto(self.out, self.base)

    def clear(self) -> None:
        super().clear()
        self.restore()

    def prepare(self, others=()) -> None:
        case = self.case
        self.restore()
        if case.state != STREAMED:
            return
        if self.fresh:
            native.shift(self.index.ctypes.data, self.index.size, 8, int(self.random.integers(1, self.rows)), self.rows)
        warm, cold = (self.data, self.out) if case.op == BAG else (self.out, self.data)
        if warm.nbytes < WARM:
            warm.reshape(-1).view(np.uint8)[::LINE].max()  # reads each line
        elif case.op != BAG:
            native.flush(warm.ctypes.data, warm.nbytes)
        for array in (self.index, cold, *(a for a in (self.offsets, self.weights) if a is not None)):
            native.flush(array.ctypes.data, array.nbytes)
        for address, size in others:
            native.flush(address, size)

    def stream_job(self, past=0, lines=1) -> tuple:
        """Reads the indices, and the updates or rows, and writes what is written, all in order."""
        return (self.data.ctypes.data, self.index.ctypes.data, self.out.ctypes.data, 1, 0, 1, 0, 0, 0, 0, 1, 8, 0, lines, past,
                self.case.index_bytes, touched_bytes(self), min(self.case.moved_bytes, self.data.nbytes) // 8 * 8)  # fmt: skip

    def flat_job(self, ahead=0, lines=1) -> tuple:
        """For `touch`: reads the rows that the indices name."""
        table = self.data if self.case.op == BAG else self.out
        return (table.ctypes.data, self.flat.ctypes.data, self.out.ctypes.data, 1, self.flat.size, 1, 0, self.row_bytes, 0, 0, self.row_bytes, 8,
                ahead, lines, 0, self.flat.nbytes, self.case.out_bytes, 0)  # fmt: skip

    def expected(self) -> tuple[np.ndarray, ...]:
        """What the serial loop gives; of 16-bit floats summed in float32, then those that are rounded at each step."""
        case = self.case
        if case.op == BAG:
            return (self.expected_bags(),)
        start = np.zeros(case.shape, self.out.dtype) if self.base is None else self.base
        if case.reduction == "none":
            out = start.copy()
            out[self.places()] = self.data
            return (out,)
        out = widened(start, case.dtype).copy()
        UFUNCS[case.reduction].at(out, self.places(), widened(self.data, case.dtype))
        return (narrowed(out, case.dtype), *((self.by_steps(start),) if self.out.itemsize == 2 else ()))

    def by_steps(self, start: np.ndarray) -> np.ndarray:
        """The first update of each row, then the second of each: no turn has a row twice."""
        out, order = widened(start, self.case.dtype).reshape(-1, self.case.row_len).copy(), np.argsort(self.flat.reshape(-1), kind="stable")
        ids, updates = self.flat.reshape(-1)[order], widened(self.data, self.case.dtype).reshape(-1, self.case.row_len)
        first = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
        turn = np.arange(ids.size) - np.repeat(first, np.diff(np.append(first, ids.size)))
        for at in range(int(turn.max()) + 1):
            now = turn == at
            summed = narrowed(out[ids[now]] + updates[order[now]], self.case.dtype)
            out[ids[now]] = widened(summed, self.case.dtype)
        return narrowed(out, self.case.dtype).reshape(start.shape)

    def expected_bags(self) -> np.ndarray:
        case = self.case
        count = self.index.size // case.bags
        ids = self.index.reshape(case.bags, count)
        weights = None if self.weights is None else self.weights.reshape(case.bags, count)
        out = np.zeros(case.out_shape, np.float32)
        for at in range(count):
            row = self.data[ids[:, at]]
            out += row if weights is None else row * weights[:, at : at + 1]
        return out / np.float32(count) if case.reduction == "mean" else out

    def accepts(self, result: np.ndarray, expected: tuple[np.ndarray, ...], peer: str) -> bool:
        """Bit for bit. Peers may round 16-bit floats at each step, and multiply and add, or divide by a count, in another way."""
        every = expected[:1] if peer == "ours" else expected
        if any(result.nbytes == one.nbytes and np.array_equal(bytes_of(result), bytes_of(one)) for one in every):
            return True
        if peer == "ours" or self.case.op != BAG or (self.case.reduction == "add" and not self.case.weighted):
            return False
        return result.size == expected[0].size and bool(np.allclose(result.reshape(-1), expected[0].reshape(-1), rtol=1e-5, atol=1e-5))


def numbers(random, shape, dtype: str) -> np.ndarray:
    """Of both signs: sums stay small, however often they are made."""
    if dtype == "int32":
        return random.integers(-1000, 1000, shape, dtype=np.int32)
    return narrowed(random.standard_normal(shape, dtype=np.float32), dtype)


def bytes_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def touched_bytes(memory: Writes) -> int:
    """Of what is written, at least: rows that no update names stay, but gradients are zeros there."""
    case = memory.case
    whole = case.out_bytes
    return whole if case.op in (BAG, *INTO_ZEROS) else min(whole, memory.flat.size * memory.row_bytes)

