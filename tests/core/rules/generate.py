# SPDX-License-Identifier: MIT
#
# generate.py: random gathers, each described by a small value (Case) that can be printed in one line and made smaller. The numbers in
# memory follow from its seed.
"""Random cases."""
import math
import random
from dataclasses import dataclass, replace

import elements
import tables as g
import tuples
import views
from tables import INDEX_TYPES, OPS, TYPES

POLICIES = (g.BAD_DEFAULT, g.BAD_ERROR, g.BAD_CLAMP, g.BAD_WRAP, g.BAD_ZERO, g.BAD_FILL, g.BAD_PROMISE)
ORDERS = ("random", "random", "sorted", "runs", "near")
LARGE = 24  # cases of each version in a round
LIKELY = [i for i, t in enumerate(TYPES) if elements.is_packed(t) or t.name in ("uint8", "uint16", "float32", "float64")]
FAULTS = ("read_only", "type", "byte_order")  # of the output


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
    swapped: bool = False  # the indices
    swapped_data: bool = False
    shared: bool = False  # the indices
    fault: str = ""
    order: str = "random"  # of the indices
    bad: float = 0.0
    seed: int = 0

    def line(self) -> str:
        """One line from which the case can be made again."""
        op = f"{OPS[self.op].name}/{OPS[self.op].rules}"
        return f"{op} {TYPES[self.type].name} by {INDEX_TYPES[self.index_type].name}: {self!r}"


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


def item_size(rng: random.Random, info: g.Type, pointer_bytes: int) -> int:
    if info.kind == g.KIND_OPAQUE:
        return rng.choice((rng.randrange(41), rng.randrange(41), 48, 64, 100, 128, 513))
    return 0 if elements.is_packed(info) else elements.item_bytes(info, 0, pointer_bytes)


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


def tuples_shapes(rng: random.Random, op: g.Op) -> tuple[tuple, tuple, int, int]:
    """Shapes and batch_dims of a GatherND."""
    return tuples.small(rng, op, small_shape)


def many_dims(rng: random.Random, op: g.Op) -> tuple[tuple, tuple, int, int]:
    """Ranks up to 64, of the output too."""
    rank = rng.randrange(9, 65)
    data = [1] * rank
    for d in rng.sample(range(rank), 4):
        data[d] = rng.randrange(1, 5)
    if op.family == g.FAMILY_ND:
        return tuples.many_dims(rng, data, rank)
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


def smaller(case: Case):
    """Simpler variants of a failing case, the boldest first."""
    for name, plain in (("swapped", False), ("swapped_data", False), ("shared", False), ("on_bad", 0), ("negative", 0), ("bad", 0.0)):
        if getattr(case, name) != plain:
            yield replace(case, **{name: plain})
    for i, layout in enumerate(case.layouts):
        if layout != "null":
            yield replace(case, layouts=case.layouts[:i] + ("null",) + case.layouts[i + 1 :])
    for name in ("data_shape", "index_shape"):
        shape = getattr(case, name)
        for d, n in enumerate(shape):
            for m in {1, n // 2, n - 1} - {n, -1}:
                yield replace(case, **{name: shape[:d] + (m,) + shape[d + 1 :]})
    if TYPES[case.type].kind == g.KIND_OPAQUE and case.item > 1:
        yield replace(case, item=case.item // 2)


def large_gather(rng: random.Random, packed: bool) -> tuple[tuple, tuple, int, int]:
    """Shapes of a Gather whose work is divided: into tasks, into blocks of indices, by radix partitioning."""
    kind = rng.randrange(5)
    if kind == 0 and not packed:  # more indices than are validated at a time
        return (rng.randrange(1, 3000),), (rng.randrange(1025, 9000),), 0, 0
    if kind == 1:
        return (rng.randrange(1, 40), rng.randrange(1, 34)), (rng.randrange(65, 400),), 0, 0
    if kind == 2:  # many short rounds
        return (rng.randrange(2, 40), rng.randrange(2, 9)), (rng.randrange(1, 17),), 1, 0
    if kind == 3:
        return (rng.randrange(2, 5), rng.randrange(2, 20), 5), (rng.randrange(2, 6), rng.randrange(17, 50)), 1, 0
    return (rng.randrange(2, 300),), (rng.randrange(2, 30), rng.randrange(9, 40)), 0, 0


def large_elements(rng: random.Random, packed: bool) -> tuple[tuple, tuple, int, int]:
    """Shapes of a GatherElements, likewise."""
    rows, long = rng.randrange(2, 40), rng.randrange(17, 60)
    if rng.random() < 0.2 and not packed:
        return (rng.randrange(1, 3000),), (rng.randrange(1025, 9000),), 0, 0
    if rng.random() < 0.3:
        shape = rng.randrange(2, 12), rng.randrange(2, 12), rng.randrange(2, 12)
        return shape, shape, rng.randrange(3), 0
    axis = rng.randrange(2)
    return (rows, long), (rows, rng.randrange(9, 50)) if axis else (rng.randrange(9, 50), long), axis, 0


def choose_shapes(rng: random.Random, row: g.Op, info: g.Type, large: bool) -> tuple[tuple, tuple, int, int]:
    if large:
        make = {g.FAMILY_GATHER: large_gather, g.FAMILY_ELEMENTS: large_elements, g.FAMILY_ND: tuples.large}[row.family]
        return make(rng, elements.is_packed(info))
    shapes = {g.FAMILY_GATHER: gather_shapes, g.FAMILY_ELEMENTS: elements_shapes, g.FAMILY_ND: tuples_shapes}[row.family](rng, row)
    if rng.random() < 0.03:
        shapes = many_dims(rng, row)
    return spoil(rng, shapes) if rng.random() < 0.05 else shapes


def choose_layouts(rng: random.Random) -> tuple:
    if rng.random() < 0.4:
        return ("null",) * 3
    return rng.choice(views.LAYOUTS_IN), rng.choice(views.LAYOUTS_IN), rng.choice(views.LAYOUTS_OUT)


def make_case(seed: int, op: int, type_: int, index_type: int, pointer_bytes: int, large: bool = False) -> Case:
    """The case of that seed for a row, an element type and an index type."""
    rng = random.Random(seed)
    row, info = OPS[op], TYPES[type_]
    shapes = choose_shapes(rng, row, info, large)
    item = item_size(rng, info, pointer_bytes)
    if info.kind == g.KIND_OPAQUE:  # the case file stays small
        item = min(item, 4096 // max(math.prod(shapes[0]), math.prod(shapes[1]), 8))
    return Case(
        op=op,
        type=type_,
        item=item,
        index_type=index_type,
        data_shape=shapes[0],
        index_shape=shapes[1],
        axis=shapes[2],
        batch_dims=shapes[3],
        on_bad=rng.choice(POLICIES),
        negative=rng.choice((0, 0, g.NEGATIVE_ON, g.NEGATIVE_OFF)),
        layouts=choose_layouts(rng),
        swapped=rng.random() < 0.15,
        swapped_data=rng.random() < 0.15,
        shared=rng.random() < 0.15,
        fault=rng.choice(FAULTS) if rng.random() < 0.02 else "",
        order=rng.choice(ORDERS),
        bad=rng.choice((0.0, 0.0, 0.001, 0.02) if large else (0.0, 0.0, 0.1, 0.5)),
        seed=seed,
    )


def all_cases(seed: int, rounds: int, pointer_bytes: int) -> list[Case]:
    """In each round every operator version meets every element type and every index type; and LARGE large cases for each version."""
    found = []
    for op in range(len(OPS)):
        for _ in range(rounds):
            for type_ in range(len(TYPES)):
                for index_type in range(len(INDEX_TYPES)):
                    number = seed + 1_000_003 * op + len(found)
                    found.append(make_case(number, op, type_, index_type, pointer_bytes))
            for n in range(LARGE):
                number = seed + 1_000_003 * op + len(found)
                # Every second one is of a packed type or of elements for which there are the most kernels.
                likely = LIKELY if n % 2 else range(len(TYPES))
                rng = random.Random(number)
                type_, index_type = rng.choice(likely), rng.randrange(len(INDEX_TYPES))
                found.append(make_case(number, op, type_, index_type, pointer_bytes, large=True))
    return found
