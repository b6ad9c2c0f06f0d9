# SPDX-License-Identifier: MIT
#
# generate.py: random gathers, each described by a small value (Case) that can be printed in one line and made smaller.
"""Random cases."""
from __future__ import annotations

import random
from dataclasses import dataclass, replace

import elements
import libgather_ctypes as g
import views

OPS = g.all_ops()
TYPES = g.all_types()
INDEX_TYPES = [t for t in TYPES if t.kind in (g.KIND_INT, g.KIND_UINT) and not elements.is_packed(t)]
POLICIES = (g.BAD_DEFAULT, g.BAD_ERROR, g.BAD_CLAMP, g.BAD_WRAP, g.BAD_ZERO, g.BAD_FILL, g.BAD_PROMISE)
RUNNERS = ("apply", "apply", "plan", "executor", "pool")


@dataclass(frozen=True)
class Case:
    """One gather. The numbers in memory follow from `seed`, so the same case is the same test."""

    op: int
    type: int
    item: int
    index_type: int
    data_shape: tuple
    index_shape: tuple
    axis: int = 0
    batch_dims: int = 0
    on_bad: int = 0
    negative: int = 0
    layouts: tuple = ("null", "null", "null")
    swapped: bool = False
    bad: float = 0.0
    runner: str = "apply"
    seed: int = 0

    def line(self) -> str:
        """One line from which the case can be made again."""
        op = g.op_label(OPS[self.op])
        names = TYPES[self.type].name.decode(), INDEX_TYPES[self.index_type].name.decode()
        return f"{op} {names[0]} by {names[1]}: {self!r}"


def small_shape(rng: random.Random, rank: int, limit: int) -> tuple:
    """A shape of at most `limit` elements, now and then with a length of 0 or 1."""
    shape, room = [], limit
    for _ in range(rank):
        n = min(rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7)) if rng.random() < 0.97 else 9, room)
        if n == 0 and rng.random() < 0.7:
            n = 1
        shape.append(n)
        room //= max(n, 1)
    rng.shuffle(shape)
    return tuple(shape)


def item_size(rng: random.Random, info: g.TypeInfo) -> int:
    if info.kind == g.KIND_OPAQUE:
        return rng.choice((rng.randrange(41), rng.randrange(41), 48, 64, 100, 128, 513))
    return 0 if elements.is_packed(info) else elements.item_bytes(info, 0)


def gather_shapes(rng: random.Random, op: g.Op) -> tuple[tuple, tuple, int, int]:
    """Shapes, axis and batch_dims of a Gather."""
    kind = rng.random()
    if kind < 0.15:  # one long axis and many indices: what vector kernels and table lookups are made for
        return (rng.randrange(1, 300),), (rng.randrange(1, 200),), rng.choice((0, -1)), 0
    if kind < 0.30:  # a table of rows of every length
        width = rng.randrange(1, 71) if rng.random() < 0.5 else 8 * rng.randrange(1, 9)
        return (rng.randrange(1, 6), width), (rng.randrange(1, 9),), 0, 0
    rank = rng.choice((1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8))
    data = small_shape(rng, rank, 200)
    axis = rng.randrange(rank)
    indices = small_shape(rng, rng.choice((0, 1, 1, 1, 2, 2, 3, 4)), 12)
    b = 0
    if op.batch_dims and rng.random() < 0.6:
        b = rng.randrange(axis + 1)
        indices = data[:b] + (indices if rng.random() < 0.8 else ())
    written = b if rng.random() < 0.6 or not indices or b == len(indices) else b - len(indices)
    if not op.batch_dims or (written < 0 and -written > min(rank, len(indices))):
        written = b
    return data, indices, axis - rank * rng.randrange(2), written


def elements_shapes(rng: random.Random, op: g.Op) -> tuple[tuple, tuple, int, int]:
    """Shapes and axis of a GatherElements."""
    if rng.random() < 0.2:
        rows, long = rng.randrange(1, 5), rng.randrange(1, 60)
        axis = rng.randrange(2)
        data = (rows, long) if axis else (long, rows)
        indices = (rows, rng.randrange(1, 50)) if axis else (rng.randrange(1, 50), rows)
        return data, indices, axis, 0
    rank = rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8))
    data = small_shape(rng, rank, 200)
    axis = rng.randrange(rank)
    indices = list(data)
    indices[axis] = rng.randrange(0, 6)
    if op.off_axis == g.OFF_AXIS_AT_MOST and rng.random() < 0.6:
        indices = [n if d == axis else rng.randrange(n + 1) or n for d, n in enumerate(indices)]
    return data, tuple(indices), axis - rank * rng.randrange(2), 0


def many_dims(rng: random.Random, op: g.Op) -> tuple[tuple, tuple, int, int]:
    """Ranks up to 64, of the output too."""
    rank = rng.randrange(9, 65)
    data = [1] * rank
    for d in rng.sample(range(rank), 4):
        data[d] = rng.randrange(1, 5)
    axis = rng.randrange(rank)
    if op.family == g.FAMILY_ELEMENTS:
        indices = list(data)
        indices[axis] = rng.randrange(1, 5)
        return tuple(data), tuple(indices), axis, 0
    q = rng.randrange(0, 64 - rank + 2)
    return tuple(data), tuple(rng.choice((1, 1, 2)) if d < 3 else 1 for d in range(q)), axis, 0


def spoil(rng: random.Random, shapes: tuple) -> tuple:
    """Makes a case illegal, perhaps: the oracle knows."""
    data, indices, axis, b = shapes
    what = rng.randrange(4)
    if what == 0:
        return data, indices, rng.choice((len(data), -len(data) - 1, 2**63 - 1, -(2**63) + 1)), b
    if what == 1:
        return data, indices + (2,), axis, b
    if what == 2 and indices:
        d = rng.randrange(len(indices))
        return data, indices[:d] + (indices[d] + 1,) + indices[d + 1 :], axis, b
    return data, indices, axis, rng.choice((len(data) + 1, len(indices) + 1, 2**40))


def make_case(seed: int, op: int, type_: int, index_type: int) -> Case:
    """The case of that seed for a row, an element type and an index type."""
    rng = random.Random(seed)
    row, info = OPS[op], TYPES[type_]
    shapes = elements_shapes(rng, row) if row.family == g.FAMILY_ELEMENTS else gather_shapes(rng, row)
    if rng.random() < 0.03:
        shapes = many_dims(rng, row)
    if rng.random() < 0.04:
        shapes = spoil(rng, shapes)
    plain = rng.random() < 0.4
    return Case(
        op=op,
        type=type_,
        item=item_size(rng, info),
        index_type=index_type,
        data_shape=shapes[0],
        index_shape=shapes[1],
        axis=shapes[2],
        batch_dims=shapes[3],
        on_bad=rng.choice(POLICIES),
        negative=rng.choice((0, 0, g.NEGATIVE_ON, g.NEGATIVE_OFF)),
        layouts=("null",) * 3
        if plain
        else (rng.choice(views.LAYOUTS_IN), rng.choice(views.LAYOUTS_IN), rng.choice(views.LAYOUTS_OUT)),
        swapped=rng.random() < 0.15,
        bad=rng.choice((0.0, 0.0, 0.1, 0.5)),
        runner=rng.choice(RUNNERS),
        seed=seed,
    )


def smaller(case: Case):
    """Simpler variants of a failing case, the boldest first."""
    if case.runner != "apply":
        yield replace(case, runner="apply")
    if case.swapped:
        yield replace(case, swapped=False)
    for i, layout in enumerate(case.layouts):
        if layout != "null":
            yield replace(case, layouts=case.layouts[:i] + ("null",) + case.layouts[i + 1 :])
    if case.on_bad:
        yield replace(case, on_bad=0)
    if case.negative:
        yield replace(case, negative=0)
    if case.bad:
        yield replace(case, bad=0.0)
    for name in ("data_shape", "index_shape"):
        shape = getattr(case, name)
        for d, n in enumerate(shape):
            for m in {1, n // 2, n - 1} - {n, -1}:
                yield replace(case, **{name: shape[:d] + (m,) + shape[d + 1 :]})
    if TYPES[case.type].kind == g.KIND_OPAQUE and case.item > 1:
        yield replace(case, item=case.item // 2)
