# SPDX-License-Identifier: MIT
#
# test_infer.py: shape inference with unknowns against brute force: every concrete pair of shapes inside the intervals is tried
# by the oracle, and the inferred shape must be exactly the hull of the legal answers; an error means there is none.
"""gather_infer_shape as a property."""
import itertools
import random

import pytest

import libgather_ctypes as g
import numpy_call
import oracle

SEED = 7
ROUNDS = 1200


def infer(op, data: g.Shape, indices: g.Shape, **settings) -> tuple[str, g.Shape]:
    out, error = g.Shape(), g.Error()
    status = g.lib.gather_infer_shape(op, data, indices, g.options(**settings), out, error)
    if status != g.OK:
        assert error.status == status and error.message
    return g.STATUSES[status], out


def choices(dims) -> list[tuple]:
    """Every concrete shape inside the intervals."""
    return list(itertools.product(*[range(low, high + 1) for low, high in dims]))


def random_dims(rng: random.Random, rank: int) -> list[tuple[int, int]]:
    dims = []
    for _ in range(rank):
        low = rng.randrange(4)
        dims.append((low, low + rng.choice((0, 0, 1, 2))))
    return dims


def random_tuples(rng: random.Random, op: g.Op, data):
    """The same for GatherND: the length of the tuples is mostly known, and now and then the axis is given, which it has not."""
    b = rng.randrange(-1, len(data) + 1) if rng.random() < 0.2 else rng.randrange(len(data)) if op.batch_dims else 0
    shared = [data[d] if rng.random() < 0.5 else random_dims(rng, 1)[0] for d in range(max(0, min(b, 2)))]
    low = rng.randrange(4)
    last = (low, low + rng.choice((0, 0, 0, 1, 2)))
    return data, shared + random_dims(rng, rng.randrange(2)) + [last], rng.choice((0,) * 9 + (1,)), b


def random_case(rng: random.Random, op: g.Op):
    """Two interval shapes that have a fair chance to be legal, and the attributes."""
    rank = rng.randrange(1, 4)
    data = random_dims(rng, rank)
    axis, b = rng.randrange(-rank, rank), 0
    if op.family == g.FAMILY_ND:
        return random_tuples(rng, op, data)
    if op.family == g.FAMILY_ELEMENTS:
        indices = random_dims(rng, rank if rng.random() < 0.95 else rank + 1)
    else:
        indices = random_dims(rng, rng.randrange(0, 3))
        if op.batch_dims and indices and rng.random() < 0.7:
            b = rng.randrange(-min(len(indices), rank), min(len(indices), rank) + 1)
    if rng.random() < 0.4:  # unrelated intervals rarely meet
        indices = [data[d] if d < rank and rng.random() < 0.7 else dim for d, dim in enumerate(indices)]
    return data, indices, rng.choice((axis, axis, axis, axis, rank)), b


def hull(shapes: list[tuple]) -> list[tuple[int, int]]:
    return [(min(lengths), max(lengths)) for lengths in zip(*shapes)]


def brute_force(op: g.Op, data, indices, axis: int, b: int) -> tuple[list[tuple], set[str]]:
    """All legal output shapes, and the complaints of the others."""
    legal, complaints = [], set()
    for d, i in itertools.product(choices(data), choices(indices)):
        status, shape = oracle.output_shape(op, d, i, axis, b)
        if status == "ok":
            legal.append(shape)
        else:
            complaints.add(status)
    return legal, complaints


def intervals(dims) -> g.Shape:
    return g.shape_of(*[tuple(d) for d in dims])


@pytest.mark.parametrize("number", range(len(g.all_ops())), ids=[g.op_label(op) for op in g.all_ops()])
def test_tightest_shape(number):
    rng, op = random.Random(SEED + number), g.all_ops()[number]
    seen = {"ok": 0, "error": 0}
    for _ in range(ROUNDS):
        data, indices, axis, b = random_case(rng, op)
        legal, complaints = brute_force(op, data, indices, axis, b)
        status, out = infer(op, intervals(data), intervals(indices), axis=axis, batch_dims=b)
        line = f"seed {SEED + number}: data {data} indices {indices} axis {axis} batch_dims {b}: {status}"
        if not legal:
            assert status != "ok", f"{line} {g.dims_of(out)}, but no input is legal"
            assert status in complaints, f"{line}, not one of {complaints}"
            seen["error"] += 1
            continue
        assert status == "ok", f"{line}, but {legal[0]} is legal"
        if len({len(shape) for shape in legal}) > 1:  # the tuples' length decides
            assert out.rank == -1, f"{line} {g.dims_of(out)}, but the rank is not known"
        else:
            assert out.rank >= 0 and g.dims_of(out) == hull(legal), f"{line} {g.dims_of(out)}, the hull is {hull(legal)}"
        seen["ok"] += 1
    assert min(seen.values()) > 20, seen


@pytest.mark.parametrize("number", range(len(g.all_ops())), ids=[g.op_label(op) for op in g.all_ops()])
def test_known_shapes_agree_with_output_shape(number):
    rng, op = random.Random(100 + number), g.all_ops()[number]
    for _ in range(500):
        data, indices, axis, b = random_case(rng, op)
        data, indices = (tuple(low for low, _ in dims) for dims in (data, indices))
        want = oracle.output_shape(op, data, indices, axis, b)
        status, out = infer(op, g.shape_of(*data), g.shape_of(*indices), axis=axis, batch_dims=b)
        line = f"data {data} indices {indices} axis {axis} batch_dims {b}"
        assert status == want[0], line
        if status == "ok":
            assert g.dims_of(out) == [(n, n) for n in want[1]], line


@pytest.mark.parametrize("number", range(len(g.all_ops())), ids=[g.op_label(op) for op in g.all_ops()])
def test_unknown_axis_is_sound(number):
    """Each axis that may be meant gives an answer inside the inferred shape."""
    rng, op = random.Random(200 + number), g.all_ops()[number]
    for _ in range(300):
        data, indices, _, b = random_case(rng, op)
        legal = []
        for axis in range(len(data)):
            legal += brute_force(op, data, indices, axis, b)[0]
        status, out = infer(op, intervals(data), intervals(indices), axis=g.AXIS_UNKNOWN, batch_dims=b)
        line = f"data {data} indices {indices} batch_dims {b}: {status} {g.dims_of(out)}"
        if not legal:
            continue  # an answer that is too wide is allowed here
        assert status == "ok", f"{line}, but {legal[0]} is legal"
        if out.rank < 0:
            continue
        assert {len(shape) for shape in legal} == {out.rank}, line
        for shape in legal:
            assert all(low <= n <= high for n, (low, high) in zip(shape, g.dims_of(out))), f"{line} lacks {shape}"


@pytest.mark.parametrize("number", range(len(g.all_ops())), ids=[g.op_label(op) for op in g.all_ops()])
def test_unknown_ranks_are_sound(number):
    rng, op = random.Random(300 + number), g.all_ops()[number]
    answers = 0
    for _ in range(400):
        data, indices, axis, b = random_case(rng, op)
        d, i = choices(data)[-1], choices(indices)[-1]
        status, shape = oracle.output_shape(op, d, i, axis, b)
        if status != "ok":
            continue
        for pair in ((g.unknown_rank(), intervals(indices)), (intervals(data), g.unknown_rank()), (g.unknown_rank(), g.unknown_rank())):
            status, out = infer(op, *pair, axis=axis, batch_dims=b)
            line = f"data {data} indices {indices} axis {axis} batch_dims {b}: {status} {g.dims_of(out)}, not {shape}"
            assert status == "ok", line
            answers += 1
            if out.rank >= 0:
                assert out.rank == len(shape), line
                assert all(low <= n <= high for n, (low, high) in zip(shape, g.dims_of(out))), line
    assert answers > 100


def test_openvino_axis_unknown():
    """Three dimensions, of which nothing more than the hull over the axes can be known."""
    op = numpy_call.find("Gather", "openvino-8")
    status, out = infer(op, g.shape_of(3, 4, 5), g.shape_of(2), axis=g.AXIS_UNKNOWN)
    assert status == "ok" and out.rank == 3
    for (low, high), (hull_low, hull_high) in zip(g.dims_of(out), [(2, 3), (2, 4), (2, 5)]):
        assert low <= hull_low and high >= hull_high
