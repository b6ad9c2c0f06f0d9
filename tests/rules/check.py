# SPDX-License-Identifier: MIT
#
# check.py: runs one random case on the library and says what is wrong, in words; None where all is as the oracle says.
"""One case against the oracle."""
from __future__ import annotations

import ctypes as c
import math
import random
from dataclasses import replace

import numpy as np

import elements
import libgather_ctypes as g
import oracle
import views
from generate import INDEX_TYPES, OPS, TYPES, Case


def index_values(rng: random.Random, case: Case, info: g.TypeInfo, n: int, negative: bool) -> np.ndarray:
    """Index values that fit the index type: valid ones, and with probability case.bad nasty ones."""
    bits = info.bits
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if info.kind == g.KIND_INT else (0, (1 << bits) - 1)
    nasty = (-1, -n - 1, n, n + 1, -2 * n, 2 * n + 1, lowest, lowest + 1, highest, highest - 1, 1 << 31, 1 << 32, -n)
    nasty = [v for v in nasty if lowest <= v <= highest]
    values = np.zeros(math.prod(case.index_shape), dtype=object)
    for i in range(values.size):
        if n == 0 or (rng.random() < case.bad and case.on_bad != g.BAD_PROMISE):
            values[i] = rng.choice(nasty)
        else:
            values[i] = max(lowest, min(highest, rng.randrange(-n if negative else 0, n)))
    return values.reshape(case.index_shape)


def reversed_executor(calls: list[int]) -> g.Executor:
    """An executor that runs the tasks backwards in the calling thread."""

    def parallel_for(_context, count, task, argument):
        calls.append(count)
        for i in reversed(range(count)):
            task(argument, i)

    return g.Executor(None, g.PARALLEL_FOR(parallel_for), 3)


def expected_memory(on_bad: int, answer: oracle.Answer, data: views.View, out: views.View, fill: bytes):
    """What the output's memory must be afterwards. A packed row-major output that begins at a byte has zeros behind its last
    element, up to the end of the group; in every other view all neighbours are kept."""
    memory = out.memory.copy()
    packed = elements.is_packed(out.info)
    uses_fill = on_bad == g.BAD_FILL
    for i, position in enumerate(answer.positions.ravel()):
        if position >= 0:
            value = data.get(position) if packed else data.bytes_at(position)
        elif packed:
            value = fill[0] if uses_fill else 0
        else:
            value = fill if uses_fill else bytes(out.item)
        out.put(memory, i, value)
    if packed and answer.positions.size and out.packed_offset == 0 and views.is_row_major(out):
        length, _ = elements.group(out.info)
        for i in range(answer.positions.size, -(-answer.positions.size // length) * length):
            elements.put(out.info, memory, out.base, i, 0)
    return memory


def elements_mask(view: views.View) -> np.ndarray:
    """The bits of a view's memory that belong to its elements."""
    mask = np.zeros_like(view.memory)
    packed = elements.is_packed(view.info)
    for i in range(view.offsets.size):
        view.put(mask, i, (1 << view.info.bits) - 1 if packed else b"\xff" * view.item)
    return mask


def error_complaint(case: Case, answer: oracle.Answer, error: g.Error) -> str | None:
    """What is wrong with the error that came back."""
    message = error.message.decode()
    if g.STATUSES[error.status] != answer.status:
        return f"error.status {g.STATUSES[error.status]}, not {answer.status}"
    if not message or "\n" in message:
        return f"a message that is no single line: {message!r}"
    row = OPS[case.op]
    if (error.op, error.rules) != (row.name, row.rules):
        return f"error names {error.op} {error.rules}"
    if answer.status != "index_out_of_range":
        return None
    bits = 1 << 64
    value = error.value % bits if error.value_is_unsigned else error.value
    unsigned = INDEX_TYPES[case.index_type].kind == g.KIND_UINT
    got = (
        tuple(error.position[: max(error.position_rank, 0)]),
        value,
        error.value_is_unsigned,
        error.low,
        error.high,
        error.bad_count,
        error.axis,
    )
    a = oracle.normal_axis(row, len(case.data_shape), case.axis)
    want = answer.first, answer.value, unsigned, answer.low, answer.high, answer.bad_count, a
    return None if got == want else f"(position, value, unsigned, low, high, count, axis) = {got}, not {want}"


class Prepared:
    """A case's memory, its answer and the C structures."""

    def __init__(self, case: Case):
        rng = random.Random(case.seed ^ 0x5EED)
        self.case, row, info = case, OPS[case.op], TYPES[case.type]
        index_info = INDEX_TYPES[case.index_type]
        a = oracle.normal_axis(row, len(case.data_shape), case.axis)
        negative = bool(row.negative) if case.negative == 0 else case.negative == g.NEGATIVE_ON
        n = case.data_shape[a] if a is not None else 1
        if n == 0 and case.on_bad == g.BAD_PROMISE:  # a promise that nobody could keep
            case = self.case = replace(case, on_bad=g.BAD_DEFAULT)
        self.data = views.make_view(rng, info, case.item, case.data_shape, case.layouts[0])
        self.indices = views.make_view(rng, index_info, index_info.bits // 8, case.index_shape, case.layouts[1])
        values = index_values(rng, case, index_info, n, negative)
        self.values = views.put_indices(rng, self.indices, values, case.swapped)
        self.answer = oracle.gather(
            row, case.data_shape, self.values, case.axis, case.batch_dims, case.on_bad, case.negative
        )
        self.shape = oracle.output_shape(row, case.data_shape, case.index_shape, case.axis, case.batch_dims)[1]
        self.out = views.make_view(rng, info, case.item, self.shape, case.layouts[2])
        width = 1 if elements.is_packed(info) else max(case.item, 1)
        self.fill = rng.randbytes(width)
        self.fill_memory = c.create_string_buffer(self.fill, len(self.fill))
        if elements.is_packed(info):  # the value stands in the low bits; what is above them does not count
            self.fill = bytes([self.fill[0] & ((1 << info.bits) - 1)])
        self.fill = self.fill[: case.item] if not elements.is_packed(info) else self.fill
        self.bad_count = c.c_int64(-99)
        self.calls: list[int] = []
        self.executor = reversed_executor(self.calls)
        self.options = g.options(
            case.axis, case.batch_dims, case.on_bad, case.negative, c.addressof(self.fill_memory)
        )
        self.options.fresh_output = self.fresh = rng.random() < 0.5
        self.tensors = [v.describe() for v in (self.data, self.indices, self.out)]
        self.error = g.Error()

    def chosen_executor(self, pool):
        if self.case.runner == "executor":
            return c.pointer(self.executor)
        return pool if self.case.runner == "pool" else None

    def apply(self, pool) -> int:
        self.options.executor = self.chosen_executor(pool)
        self.options.bad_count = c.pointer(self.bad_count)
        return g.lib.gather_apply(OPS[self.case.op], *self.tensors, self.options, self.error)

    def plan(self, pool) -> int:
        """The same through a plan that was made without the data pointers."""
        bare = [v.describe(with_data=False) for v in (self.data, self.indices, self.out)]
        plan = c.c_void_p()
        out = None if self.out.strides is None and self.out.packed_offset == 0 and self.case.seed % 2 else bare[2]
        status = g.lib.gather_plan_create(OPS[self.case.op], *bare[:2], out, self.options, plan, self.error)
        if status != g.OK:
            return status
        pointers = [t.data for t in self.tensors]
        run = g.Run(c.sizeof(g.Run), *pointers, self.chosen_executor(pool), c.pointer(self.bad_count), self.fresh)
        checked = g.lib.gather_plan_check(plan, run, None)
        before = self.out.memory.copy()
        status = g.lib.gather_plan_run(plan, run, self.error)
        assert checked == status, f"check said {g.STATUSES[checked]}, run {g.STATUSES[status]}"
        shape = (c.c_int64 * g.MAX_RANK)()
        rank = g.lib.gather_plan_shape(plan, shape)
        assert tuple(shape[:rank]) == self.shape
        assert status == g.OK or self.fresh or (before == self.out.memory).all()
        g.lib.gather_plan_destroy(plan)
        return status


# Every number that decides how a gather runs, and values that make small gathers run as large ones do.
MACHINES = {
    b"isa": (0, 1, 2, 4, 99),
    b"way": (-1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    b"cache_bytes": (1, 1 << 20),
    b"ahead_rows": (3, 128),
    b"ahead_bytes": (1, 8192),
    b"stream_bytes": (1, 1 << 20),
    b"race_bytes": (1, 1 << 20),
    b"task_bytes": (64, 1 << 18),
    b"late_indices": (1, 1, 8192),
    b"radix_bytes": (1, 1 << 28),
    b"radix_block": (1, 2, 3),
    b"radix_ps": (-1, 4000),
    b"scratch_bytes": (0, 1 << 20, 1 << 20),
}


def tune(case: Case) -> None:
    """Makes the library run this case as some machine might. The answer must not depend on it."""
    rng = random.Random(case.seed ^ 0x7A1E)
    for name, values in MACHINES.items():
        assert g.lib.gather_tuning_set(name, rng.choice(values), None) == g.OK


def complaint(case: Case, pool=None) -> str | None:
    """Runs the case; None where the library does what the oracle says, else what is wrong."""
    tune(case)
    p = Prepared(case)
    before = p.data.memory.copy(), p.indices.memory.copy(), p.out.memory.copy()
    if p.answer.status == "ok":
        want = expected_memory(case.on_bad, p.answer, p.data, p.out, p.fill)
    status = p.apply(pool) if case.runner in ("apply", "executor") else p.plan(pool)
    if g.STATUSES[status] != p.answer.status:
        return f"returned {g.STATUSES[status]} ({p.error.message.decode()!r}), not {p.answer.status}"
    if not (before[0] == p.data.memory).all() or not (before[1] == p.indices.memory).all():
        return "an input was written"
    if p.answer.status != "ok":
        written = before[2] != p.out.memory
        if p.fresh:  # its elements may hold anything, its neighbours may not
            written = (before[2] ^ p.out.memory) & ~elements_mask(p.out) != 0
        if written.any():
            return "the output was written although the call failed"
        return error_complaint(case, p.answer, p.error)
    repaired = p.answer.bad_count if p.answer.positions.size else 0  # an output without elements reads no index
    if p.bad_count.value != repaired:
        return f"bad_count {p.bad_count.value}, not {repaired}"
    wrong = np.nonzero(p.out.memory ^ want)[0]
    if wrong.size:
        at = int(wrong[0])
        return f"{wrong.size} wrong bytes, the first at {at - p.out.base} from the output's data: {p.out.memory[at]:#x}, not {want[at]:#x}"
    return None
