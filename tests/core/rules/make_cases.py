# SPDX-License-Identifier: MIT
#
# make_cases.py FILE POINTER_BYTES BYTE_ORDER: writes random gathers, each with the answer of the oracle, for test_rules_replay, which runs
# them in every build and on every machine. GATHER_TEST_SEED makes other cases, GATHER_TEST_ROUNDS more of them.
#
# make_cases.py --show NUMBER POINTER_BYTES BYTE_ORDER: prints the case of that number in one line.
#
# The file is a sequence of 8-byte integers in the byte order of the machine that will read it; bytes follow their number and are padded
# to a multiple of 8. What comes in which order: `head` and `record` below, and tests/core/rules/replay_file.c.
"""Cases and their answers, in a file."""
import math
import os
import random
import sys
from dataclasses import replace

import numpy as np

import elements
import oracle
import tables as g
import views
from generate import Case, all_cases
from tables import INDEX_TYPES, OPS, STATUS, TYPES

MAGIC, VERSION = 0x6761746865722E63, 1
SEED = int(os.environ.get("GATHER_TEST_SEED", "20240611"))
ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", "2" if os.environ.get("GATHER_TEST_CASES", "1") == "1" else "1"))


def next_index(rng: random.Random, order: str, low: int, high: int, last: int) -> int:
    """A valid index in [low, high], in the order of the case."""
    if order == "sorted":
        return min(high, last + rng.choice((0, 0, 1)))
    if order == "runs" and rng.random() < 0.95:
        return last + 1 if last < high else low
    if order == "near":
        return max(low, min(high, last + rng.randrange(-3, 4)))
    return rng.randint(low, high)


def numbers_of(rng: random.Random, case: Case, info: g.Type, n: int, negative: bool, count: int) -> np.ndarray:
    """Numbers for an axis of length n that fit the index type: valid ones, and with probability case.bad nasty ones."""
    bits = info.bits
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if info.kind == g.KIND_INT else (0, (1 << bits) - 1)
    nasty = (-1, -n - 1, n, n + 1, -2 * n, 2 * n + 1, lowest, lowest + 1, highest, highest - 1, 1 << 31, 1 << 32, -n)
    nasty = [v for v in nasty if lowest <= v <= highest]
    low, high = max(lowest, -n if negative else 0), min(highest, n - 1)
    values, last = np.zeros(count, dtype=object), low
    for i in range(values.size):
        if n == 0 or rng.random() < case.bad:
            values[i] = rng.choice(nasty)
        else:
            values[i] = last = next_index(rng, case.order, low, high, last)
    return values


def index_values(rng: random.Random, case: Case, info: g.Type, lens: list[int], negative: bool) -> np.ndarray:
    """Index values; lens: the lengths of the axes on which the numbers of an index select, in turn."""
    values = np.zeros(math.prod(case.index_shape), dtype=object)
    for component, n in enumerate(lens):
        count = len(values[component :: len(lens)])
        values[component :: len(lens)] = numbers_of(rng, case, info, n, negative, count)
    return values.reshape(case.index_shape)


def pattern(size: int, mark: int) -> np.ndarray:
    """What an output's memory holds before a call; its byte number i from the first that the tensor spans."""
    return ((mark + 73 * np.arange(size)) & 255).astype(np.uint8)


def expected_memory(on_bad: int, answer: oracle.Answer, data: views.View, out: views.View, fill: bytes) -> np.ndarray:
    """What the output's memory must be afterwards. A packed row-major output that begins at a byte has zeros behind its last
    element, up to the end of the group; in every other view all neighbours are kept."""
    memory, positions = out.memory.copy(), answer.positions.ravel()
    if not elements.is_packed(out.info):
        taken, filled = np.nonzero(positions >= 0)[0], np.nonzero(positions < 0)[0]
        memory[out.places(taken)] = data.bytes_of(positions[taken])
        memory[out.places(filled)] = np.frombuffer(fill if on_bad == g.BAD_FILL else bytes(out.item), dtype=np.uint8)
        return memory
    for i, position in enumerate(positions):
        out.put(memory, i, data.get(position) if position >= 0 else fill[0] if on_bad == g.BAD_FILL else 0)
    if positions.size and out.packed_offset == 0 and views.is_row_major(out):
        length, _ = elements.group(out.info)
        for i in range(positions.size, -(-positions.size // length) * length):
            elements.put(out.info, memory, out.base, i, 0)
    return memory


def elements_mask(view: views.View) -> np.ndarray:
    """The bits of a view's memory that belong to its elements."""
    mask = np.zeros_like(view.memory)
    if not elements.is_packed(view.info):
        mask[view.places(np.arange(view.offsets.size))] = 255
        return mask
    for i in range(view.offsets.size):
        view.put(mask, i, (1 << view.info.bits) - 1)
    return mask


class Prepared:
    """A case's memory and its answer."""

    def __init__(self, case: Case, byte_order: str):
        rng = random.Random(case.seed ^ 0x5EED)
        row, info, index_info = OPS[case.op], TYPES[case.type], INDEX_TYPES[case.index_type]
        arguments = case.data_shape, case.index_shape, case.axis, case.batch_dims
        self.axes = oracle.selected_axes(row, *arguments)
        negative = bool(row.negative) if case.negative == 0 else case.negative == g.NEGATIVE_ON
        lens = [case.data_shape[axis] for axis in self.axes] or [1]
        policy = case.on_bad
        if policy == g.BAD_PROMISE and case.shared:  # others may write them: no promise is relied on
            policy = g.BAD_CLAMP
        elif policy == g.BAD_PROMISE and 0 in lens:  # a promise that nobody could keep
            policy, case = g.BAD_DEFAULT, replace(case, on_bad=g.BAD_DEFAULT)
        elif policy == g.BAD_PROMISE:
            case = replace(case, bad=0.0)
            if case.layouts[1] == "broadcast":  # the numbers of a tuple may be one number in memory
                lens = [min(lens)] * len(lens)
        self.case = case
        self.data = views.make_view(rng, info, case.item, case.data_shape, case.layouts[0])
        self.indices = views.make_view(rng, index_info, index_info.bits // 8, case.index_shape, case.layouts[1])
        values = index_values(rng, case, index_info, lens, negative)
        values = views.put_indices(self.indices, values, byte_order, case.swapped)
        self.answer = oracle.gather(row, case.data_shape, values, case.axis, case.batch_dims, policy, case.negative)
        self.shape_status, self.shape = oracle.output_shape(row, *arguments)
        self.out = views.make_view(rng, info, case.item, self.shape, case.layouts[2])
        self.mark = rng.randrange(256)
        self.out.memory = pattern(self.out.memory.size, self.mark)
        self.fill = rng.randbytes(1 if elements.is_packed(info) else max(case.item, 1))
        self.set_flags(case)

    def set_flags(self, case: Case) -> None:
        self.data.flags |= g.READ_ONLY * (case.seed % 2)
        self.indices.flags |= g.SHARED * case.shared
        if case.swapped_data:
            self.data.flags |= g.BYTE_SWAPPED
            self.out.flags |= g.BYTE_SWAPPED
        if self.shape_status != "ok":
            return
        if case.fault == "read_only":
            self.out.flags |= g.READ_ONLY
            self.answer = oracle.Answer("usage")
        elif case.fault == "byte_order" and TYPES[case.type].bits > 8 and not elements.is_packed(TYPES[case.type]):
            self.out.flags ^= g.BYTE_SWAPPED
            self.answer = oracle.Answer("type_mismatch")
        elif case.fault == "type":
            self.out.info = TYPES[(case.type + 1) % len(TYPES)]
            self.answer = oracle.Answer("type_mismatch")

    def wanted(self) -> np.ndarray:
        """The memory of the output afterwards; where an index is out of range, the bits that a fresh output may lose."""
        if self.answer.status == "ok":
            packed, bits = elements.is_packed(self.out.info), self.out.info.bits
            fill = bytes([self.fill[0] & ((1 << bits) - 1)]) if packed else self.fill[: self.case.item]
            return expected_memory(self.case.on_bad, self.answer, self.data, self.out, fill)
        return elements_mask(self.out) if self.answer.status == "index_out_of_range" else np.zeros(0, np.uint8)

    def is_table(self) -> bool:
        """Whether gather_table_take takes these rows, from a file that holds just the bytes of the data."""
        op, info = OPS[self.case.op], self.data.info
        if op.family != g.FAMILY_GATHER or self.shape_status != "ok" or self.axes != [0] or self.case.batch_dims != 0:
            return False
        if self.answer.status not in ("ok", "index_out_of_range") or info.kind == g.KIND_STRING or self.case.swapped_data:
            return False
        for view in (self.data, self.out):
            if view.offsets.size == 0 or view.packed_offset or not views.is_row_major(view):
                return False
        if not elements.is_packed(info):
            return self.case.item > 0
        return math.prod(self.case.data_shape[1:]) % elements.group(info)[0] == 0


class Writer:
    """Integers of 8 bytes, in the byte order of the machine that will read them."""

    def __init__(self, byte_order: str):
        self.byte_order, self.parts = byte_order, []

    def numbers(self, *values: int) -> None:
        for value in values:
            self.parts.append((int(value) % 2**64).to_bytes(8, self.byte_order))

    def bytes(self, content: bytes) -> None:
        self.numbers(len(content))
        self.parts.append(content + bytes(-len(content) % 8))

    def tensor(self, view: views.View, with_bytes: bool) -> None:
        strides = view.strides
        item = view.item if view.info.kind == g.KIND_OPAQUE else 0
        self.numbers(view.info.type, len(view.shape), item, view.packed_offset, view.flags, *view.shape)
        self.numbers(strides is not None, *(strides or ()))
        self.numbers(view.base)
        if with_bytes:
            self.bytes(view.memory.tobytes())
        else:
            self.numbers(view.memory.size)

    def head(self, pointer_bytes: int, count: int) -> None:
        self.numbers(MAGIC, VERSION, pointer_bytes, SEED, count)

    def record(self, p: Prepared) -> None:
        case, answer, op = p.case, p.answer, OPS[p.case.op]
        self.bytes(op.name.encode() + b"\0")
        self.bytes(op.rules.encode() + b"\0")
        self.numbers(case.axis, case.batch_dims, case.on_bad, case.negative)
        self.bytes(p.fill)
        self.tensor(p.data, True)
        self.tensor(p.indices, True)
        self.tensor(p.out, False)
        self.numbers(p.mark, STATUS[p.shape_status], len(p.shape), *p.shape)
        repaired = answer.bad_count if p.out.offsets.size else 0  # an output without elements reads no index
        count = repaired if answer.status == "ok" else answer.bad_count
        self.numbers(STATUS[answer.status], answer.axis, len(answer.first), *answer.first)
        self.numbers(answer.value, answer.low, answer.high, count, p.is_table())
        self.bytes(p.wanted().tobytes())


def write(path: str, cases: list[Case], pointer_bytes: int, byte_order: str) -> int:
    """Writes the cases with their answers; returns the size of the file."""
    writer = Writer(byte_order)
    writer.head(pointer_bytes, len(cases))
    for case in cases:
        writer.record(Prepared(case, byte_order))
    content = b"".join(writer.parts)
    with open(path, "wb") as file:
        file.write(content)
    return len(content)


def main() -> None:
    what, pointer_bytes, byte_order = sys.argv[-3], int(sys.argv[-2]), sys.argv[-1]
    cases = all_cases(SEED, ROUNDS, pointer_bytes)
    if "--show" in sys.argv:
        print(cases[int(what)].line())
        return
    size = write(what, cases, pointer_bytes, byte_order)
    print(f"{len(cases)} cases, {size} bytes, seed {SEED}")


if __name__ == "__main__":
    main()
