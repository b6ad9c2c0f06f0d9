# SPDX-License-Identifier: MIT
"""The functions that write by index, beside loops from the documents, NumPy's own functions, and tables of what must be refused."""
from __future__ import annotations

import os
import threading

import ml_dtypes
import numpy as np
import pytest

import libgather
from arrays import DTYPES, raw
from capsules import READ_ONLY, Producer
from libgather import GatherAxisError, GatherIndexError, GatherNotSupportedError, GatherTypeError, GatherValueError
from scatter_cases import KINDS, NUMBERS, TYPES, draw, same, strided
from support import scatter_loops
from support.refusal import refuses
from support.sample import STEP

# GATHER_TEST_EXAMPLES=N: so many cases of each function and type.
ROUNDS = int(os.environ.get("GATHER_TEST_EXAMPLES", "60" if STEP == 1 else "20"))


def told(error: GatherIndexError) -> scatter_loops.Bad:
    return scatter_loops.Bad(error.position, error.value, error.axis, error.low, error.high, error.bad_count, error.first_position)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_random(kind, dtype):
    """Every reduction, policy, layout and way to add; in place or not; errors with their fields, and the output as it was."""
    rng = np.random.default_rng(31 + 100 * KINDS.index(kind) + TYPES.index(dtype))
    function, errors = getattr(libgather, kind), 0
    for number in range(ROUNDS):
        case = draw(rng, dtype, kind, number % 6 == 5)
        want = scatter_loops.scatter(kind, case.data, case.indices, case.updates, axis=case.axis, **case.options)
        data, indices, updates = (strided(rng, a) for a in (case.data, case.indices, case.updates))
        out = [None, data, np.full_like(data, 1)][number % 3]
        before = None if out is None else out.copy()
        call = (data, indices, updates)
        if isinstance(want, scatter_loops.Bad):
            error = refuses(GatherIndexError, function, *call, out=out, **case.keywords)
            assert told(error) == want, case
            assert error.status == ("index_repeated" if want.first_position else "index_out_of_range") and error.input == "indices"
            assert out is None or same(out, before)
            errors += 1
            continue
        got = function(*call, out=out, **case.keywords)
        assert (out is None or got is out) and type(got) is np.ndarray
        assert same(got, want), (case, got, want)
        assert out is data or same(data, case.data)
    assert errors > ROUNDS // 30


TABLE = np.arange(6.0).reshape(3, 2)
EXACT = {
    "rows": ("scatter", TABLE, [2, 0], [[8, 9], [6, 7]], {}, [[6, 7], [2, 3], [8, 9]]),
    "columns": ("scatter", TABLE, [1], [[7], [8], [9]], {"axis": 1}, [[0, 7], [2, 8], [4, 9]]),
    "one row": ("scatter", TABLE, -1, [8, 9], {}, [[0, 1], [2, 3], [8, 9]]),
    "the last is left": ("scatter", [0, 0], [1, 1, 1], [5, 6, 7], {}, [0, 7]),
    "a number": ("scatter", TABLE, [[0, 1]], 5, {}, [[5, 5], [5, 5], [4, 5]]),
    "no index": ("scatter", TABLE, np.zeros(0, int), np.zeros((0, 2)), {}, TABLE.tolist()),
    "floor": ("scatter", np.array([-3, 1]), [0, 0], [-2, -3], {"reduction": "mean"}, [-3, 1]),
    "wraps": ("scatter", np.array([250], np.uint8), [0], np.array([10], np.uint8), {"reduction": "add"}, [4]),
    "or": ("scatter", np.array([False]), [0, 0], np.array([True, False]), {"reduction": "sum"}, [True]),
    "NaN": ("scatter", np.array([1.0, 2.0]), [0, 0], [np.nan, 5], {"reduction": "amax"}, [np.nan, 2]),
    "skip": ("scatter", [1, 2], [0, 9, -3, 1], [5, 6, 7, 8], {"mode": "skip"}, [5, 8]),
    "clip": ("scatter", [1, 2], [9, -9], [5, 6], {"mode": "clip"}, [6, 5]),
    "wrap": ("scatter", [1, 2], [5, -3], [5, 6], {"mode": "wrap"}, [1, 6]),
    "not negative": ("scatter", [1, 2], [-1, 0], [5, 6], {"mode": "skip", "negative": False}, [6, 2]),
    "elements": ("scatter_elements", TABLE, [[2, 0]], [[8, 9]], {}, [[0, 9], [2, 3], [8, 5]]),
    "neutral": ("scatter_elements", [7, 7, 7], [0, 0, 2], [1, 2, 3], {"reduction": "add", "use_init_val": False}, [3, 7, 3]),
    "tuples": ("scatter_nd", TABLE, [[2, 1], [0, 0]], [8, 9], {}, [[9, 1], [2, 3], [4, 8]]),
    "rows of tuples": ("scatter_nd", TABLE, [[1]], [[8, 9]], {"reduction": "mul"}, [[0, 1], [16, 27], [4, 5]]),
    "empty tuple": ("scatter_nd", TABLE, np.zeros((1, 0), int), TABLE[None] + 1, {}, (TABLE + 1).tolist()),
    "put": ("put_along_axis", TABLE, [[1], [0], [1]], [[7], [8], [9]], {}, [[0, 7], [8, 3], [4, 9]]),
    "put one": ("put_along_axis", TABLE, [[2]], 7, {"axis": 0}, [[0, 1], [2, 3], [7, 7]]),
    "put wide": ("put_along_axis", np.zeros((2, 1)), np.array([[0, 1, 0]]), [[5, 6, 7]], {"axis": 0}, [[7], [6]]),
    "put wide, skip": ("put_along_axis", np.zeros((2, 1)), np.array([[0, 1, 9]]), 1, {"axis": 0, "reduction": "add", "mode": "skip"}, [[1], [1]]),
    "put flat": ("put_along_axis", TABLE, [5, 0], [7, 8], {"axis": None}, [[8, 1], [2, 3], [4, 7]]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    function, data, indices, updates, options, want = EXACT[name]
    got = getattr(libgather, function)(data, indices, updates, **options)
    assert got.dtype == np.asarray(data).dtype and np.array_equal(got, np.asarray(want, got.dtype), equal_nan=got.dtype.kind == "f")


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "u1"])
def test_numpy(dtype):
    """ufunc.at and put_along_axis."""
    rng = np.random.default_rng(32)
    data, ids = rng.integers(0, 50, (40, 3)).astype(dtype), rng.integers(-40, 40, 500)
    updates = rng.integers(0, 50, (500, 3)).astype(dtype)
    for reduction, ufunc in (("add", np.add), ("sub", np.subtract), ("min", np.minimum), ("max", np.maximum), ("mul", np.multiply)):
        want = data.copy()
        ufunc.at(want, ids, updates)
        assert same(libgather.scatter(data, ids, updates, reduction=reduction), want)
    assert same(libgather.scatter_add(data, ids, updates), libgather.index_add(data, ids, updates))
    assert same(libgather.scatter_reduce(data, ids, updates, "amax"), libgather.scatter(data, ids, updates, reduction="max"))
    for axis in (0, 1, -1):
        n = data.shape[axis]
        where = rng.integers(-n, n, (7, 3) if axis == 0 else (40, 7))
        want = data.copy()
        np.put_along_axis(want, where, updates[: where.shape[0], :1], axis)
        got = libgather.put_along_axis(data, where, updates[: where.shape[0], :1], axis=axis)
        assert same(got, want)


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("kind", KINDS)
def test_one_cell(kind, dtype):
    """Duplicates of one cell, of every number of threads: none is lost."""
    count = 1 << 20 if dtype.itemsize > 2 else 4096 if dtype.itemsize > 1 else 4120
    ids = np.full((count, 1) if kind == "scatter_nd" else count, 2)
    ones, want = np.ones(count, dtype), np.zeros(3, dtype)
    want[2] = count % 2 ** (8 * dtype.itemsize) if dtype.kind in "iu" else count
    for threads in (1, 2, 3, 8):
        assert same(getattr(libgather, kind)(np.zeros(3, dtype), ids, ones, reduction="add", threads=threads), want)


@pytest.mark.parametrize("reduction", scatter_loops.REDUCTIONS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "i4"])
def test_threads(dtype, reduction):
    """The same bytes for any number of threads, whatever the method: few and many rows, wide and narrow ones."""
    rng = np.random.default_rng(33)
    for rows, width, count in ((5, 2000, 400), (50_000, 8, 40_000), (200_000, 1, 300_000)):
        data, updates = (rng.standard_normal((n, width)).astype(dtype) for n in (rows, count))
        ids = rng.integers(-rows, rows, count)
        results = [libgather.scatter(data, ids, updates, reduction=reduction, threads=threads) for threads in (1, 2, 3, 8)]
        assert all(raw(results[0]).tobytes() == raw(r).tobytes() for r in results[1:])
        inside = data.copy()
        assert raw(libgather.scatter(inside, ids, updates, reduction=reduction, threads=2, out=inside)).tobytes() == raw(results[0]).tobytes()


@pytest.mark.parametrize("reduction", ["none", "add", "mean", "max"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "i8"])
def test_rows_as_elements(dtype, reduction):
    """Indices that are equal along rows, by strides of 0 or not, scatter as rows do; elements and tuples give the same for any threads."""
    rng = np.random.default_rng(37)
    rows, width, count = 3000, 40, 8000
    data, updates = ((rng.standard_normal((n, width)) * 9).astype(dtype) for n in (rows, count))
    ids = rng.integers(-rows, rows, count)
    want = libgather.scatter(data, ids, updates, reduction=reduction, threads=1)
    wide = np.broadcast_to(ids[:, None], (count, width))
    for threads in (1, 2, 3, 8):
        options = {"reduction": reduction, "threads": threads}
        for indices in (wide, np.ascontiguousarray(wide), np.asfortranarray(wide)):
            assert same(libgather.scatter_elements(data, indices, updates, **options), want)
        assert same(libgather.scatter_nd(data, ids[:, None], updates, **options), want)
        turned = libgather.scatter(data.T, ids, updates.T, axis=1, **options)
        assert same(turned.T.copy(), want)
    each = rng.integers(-rows, rows, (count, width))
    results = [libgather.scatter_elements(data, each, updates, reduction=reduction, threads=threads) for threads in (1, 2, 3, 8)]
    assert all(raw(results[0]).tobytes() == raw(r).tobytes() for r in results[1:])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_any_dtype_is_replaced(dtype):
    rng = np.random.default_rng(34)
    memory = rng.integers(0, 2, 7 * dtype.itemsize, dtype=np.uint8)
    data, updates = memory[: 4 * dtype.itemsize].view(dtype), memory[4 * dtype.itemsize :].view(dtype)
    want = raw(data).copy()
    want[[3, 0, 1]] = raw(updates)
    assert np.array_equal(raw(libgather.scatter(data, [-1, 0, 1], updates)), want)
    if dtype not in TYPES:
        refuses((GatherTypeError, GatherNotSupportedError), libgather.scatter_add, data, [0], updates[:1])


OBJECTS = {
    "objects": (np.array([1, "a", None, 2.5], object), np.array([[], {}, ()][:2] + ["b"], object)),
    "strings": (np.array(["a", "bc", "", "d"]), np.array(["x", "yz", "q"], "<U2")),
    "masked": (np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]), np.ma.array([7, 8, 9], mask=[0, 0, 1])),
}
if hasattr(np.dtypes, "StringDType"):
    OBJECTS["variable strings"] = tuple(np.array(words, np.dtypes.StringDType()) for words in (["a", "b" * 50, "", "d"], ["x" * 30, "y", "z"]))


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name):
    """What is more than its bytes: replaced, with the same checks."""
    data, updates = OBJECTS[name]
    want = data.copy()
    for i, new in zip([2, 0, 2], updates if name != "masked" else range(3)):
        want[i] = updates[new] if name == "masked" else new
    got = libgather.scatter(data, [2, 0, 2], updates)
    assert type(got) is type(data) and got.dtype == data.dtype and got.tolist() == want.tolist()
    error = refuses(GatherIndexError, libgather.scatter, data, [2, 4, 0], updates)
    assert told(error) == scatter_loops.Bad((1,), 4, 0, -4, 3, 1)
    if name != "strings":
        refuses(GatherTypeError, libgather.scatter, data, [2, 0, 2], updates, reduction="add")
    inside = data.copy()
    if name != "masked":
        assert libgather.scatter(inside, [2, 0, 2], updates, out=inside) is inside and inside.tolist() == want.tolist()


def test_strings_of_lists():
    assert libgather.scatter(np.array(["abc", "d"]), [1], ["xy"]).tolist() == ["abc", "xy"]
    refuses(GatherTypeError, libgather.scatter, np.array(["abc", "d"]), [1], ["too long"])


@pytest.mark.parametrize("kind", KINDS)
def test_unique(kind):
    data, more = np.zeros((4, 2), np.float32), {"unique": True}
    ids = {"scatter": np.array([[3, 1], [-1, 0]]), "scatter_elements": np.array([[3, 1], [-1, 0]]), "scatter_nd": np.array([[[3], [1]], [[-1], [0]]])}[kind]
    updates = np.ones({"scatter": (2, 2, 2), "scatter_elements": (2, 2), "scatter_nd": (2, 2, 2)}[kind], np.float32)
    last = (0,) if kind == "scatter_nd" else ()
    out = np.full_like(data, 5)
    error = refuses(GatherIndexError, getattr(libgather, kind), data, ids, updates, out=out, **more)
    assert (error.status, error.position, error.first_position, error.value) == ("index_repeated", (1, 0, *last), (0, 0, *last), -1)
    assert error.low is error.high is error.bad_count is None and (out == 5).all()
    assert "[1, 0" in str(error) and "[0, 0" in str(error)
    getattr(libgather, kind)(data, ids[:1], updates[:1], **more)


def test_dlpack():
    data, ids, updates = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 0]), np.array([[7, 7], [8, 8]], np.float32)
    want = libgather.scatter(data, ids, updates)
    producers = Producer(data), Producer(ids), Producer(updates)
    assert np.array_equal(np.asarray(libgather.scatter(*producers)), want)
    assert all(p.deleted == p.asked for p in producers) and data[2, 0] == 4
    inside = Producer(data)
    assert libgather.scatter(inside, ids, updates, out=inside) is inside and np.array_equal(data, want)
    refuses(GatherValueError, libgather.scatter, data, ids, updates, out=Producer(data, flags=READ_ONLY))


READ = np.arange(6.0).reshape(3, 2)
READ.flags.writeable = False
REFUSED = {
    "axis": (GatherAxisError, (TABLE, [0], [[1, 2]]), {"axis": 2}),
    "no dimension": (GatherValueError, (np.float32(1), [0], [np.float32(1)]), {}),
    "shape of updates": (GatherValueError, (TABLE, [0], [1.0, 2.0]), {}),
    "dtype of updates": (GatherTypeError, (TABLE, [0], np.ones((1, 2), np.float32)), {}),
    "half updates": (GatherTypeError, (np.zeros(2, int), [0], [1.5]), {}),
    "large updates": (GatherTypeError, (np.zeros(2, np.int8), [0], [300]), {}),
    "negative updates": (GatherTypeError, (np.zeros(2, np.uint8), [0], [-1]), {}),
    "float indices": (GatherTypeError, (TABLE, [0.5], [[1, 2]]), {}),
    "None": (GatherTypeError, (TABLE, None, [[1, 2]]), {}),
    "reduction": (ValueError, (TABLE, [0], [[1, 2]]), {"reduction": "median"}),
    "mode": (ValueError, (TABLE, [0], [[1, 2]]), {"mode": "promise"}),
    "accumulate": (ValueError, (TABLE, [0], [[1, 2]]), {"accumulate": "double"}),
    "rules": (ValueError, (TABLE, [0], [[1, 2]]), {"rules": "onnx-18"}),
    "reduction of rules": (NotImplementedError, (TABLE, [0], [[1, 2]]), {"rules": "openvino-3", "reduction": "add"}),
    "mean of bool": (GatherTypeError, (np.array([True]), [0], np.array([True])), {"reduction": "mean"}),
    "min of complex": (GatherTypeError, (np.array([1j]), [0], np.array([1j])), {"reduction": "min"}),
    "out is read-only": (GatherValueError, (READ, [0], [[1, 2]]), {"out": READ}),
    "shape of out": (GatherValueError, (TABLE, [0], [[1, 2]]), {"out": np.zeros((2, 3))}),
    "dtype of out": (GatherTypeError, (TABLE, [0], [[1, 2]]), {"out": np.zeros((3, 2), np.float32)}),
    "threads": (ValueError, (TABLE, [0], [[1, 2]]), {"threads": 0}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    kind, arguments, options = REFUSED[name]
    refuses(kind, libgather.scatter, *arguments, **options)


def test_out_overlaps():
    memory = np.arange(12.0)
    refuses(GatherValueError, libgather.scatter, memory[:6], [0], memory[8:9], out=memory[1:7])
    refuses(GatherValueError, libgather.scatter, memory[:6], [0], memory[5:6], out=memory[:6])
    assert memory.tolist() == list(range(12))


RULES = {
    "scatter": {"openvino-3": ["none"]},
    "scatter_elements": {"onnx-9": ["none"], "onnx-11": ["none"], "onnx-13": ["none"], "onnx-16": ["none", "add", "mul"],
                         "onnx-18": ["none", "add", "mul", "min", "max"], "openvino-3": ["none"],
                         "openvino-12": ["none", "add", "mul", "min", "max", "mean"]},
    "scatter_nd": {"onnx-11": ["none"], "onnx-13": ["none"], "onnx-16": ["none", "add", "mul"], "onnx-18": ["none", "add", "mul", "min", "max"],
                   "openvino-3": ["none"], "openvino-15": ["none", "add", "sub", "mul", "min", "max"]},
}  # fmt: skip


@pytest.mark.parametrize("kind, rules", [(kind, rules) for kind in RULES for rules in RULES[kind]])
def test_rules(kind, rules):
    """Which reductions a document has."""
    data, ids, updates = np.zeros(3, np.float32), np.array([[1]] if kind == "scatter_nd" else [1]), np.ones(1, np.float32)
    for reduction in scatter_loops.REDUCTIONS:
        call = (data, ids, updates)
        if reduction in RULES[kind][rules]:
            assert same(getattr(libgather, kind)(*call, rules=rules, reduction=reduction), getattr(libgather, kind)(*call, reduction=reduction))
        else:
            error = refuses(GatherNotSupportedError, getattr(libgather, kind), *call, rules=rules, reduction=reduction)
            assert error.rules == rules


def test_rules_add_each_step():
    """ONNX's loop rounds each step; ours does not."""
    data, ids, ones = np.zeros(1, ml_dtypes.bfloat16), np.zeros(4096, int), np.ones(4096, ml_dtypes.bfloat16)
    assert libgather.scatter_elements(data, ids, ones, reduction="add")[0] == 4096
    assert libgather.scatter_elements(data, ids, ones, reduction="add", rules="onnx-18")[0] == 256
    assert libgather.scatter_elements(data, ids, ones, reduction="add", accumulate="steps")[0] == 256


def test_many_dimensions():
    data = np.zeros((1,) * 31 + (3,), np.int16)
    got = libgather.scatter(data, 2, np.ones((1,) * 31, np.int16), axis=-1)
    assert got.reshape(-1).tolist() == [0, 0, 1] and got.shape == data.shape


@pytest.mark.parametrize("name", [*KINDS, "put_along_axis"])
def test_plan(name):
    """A plan does what the function does, also with indices that it keeps."""
    rng = np.random.default_rng(35)
    data = rng.standard_normal((30, 4)).astype(np.float32)
    ids = rng.integers(-4, 4, (30, 4) if name in ("scatter_elements", "put_along_axis") else (25, 2) if name == "scatter_nd" else 25)
    updates = rng.standard_normal((25, 4) if name == "scatter" else (30, 4) if ids.shape == (30, 4) else 25).astype(np.float32)
    plan = libgather.ScatterPlan(name, data, ids, updates, reduction="add")
    want = getattr(libgather, name)(data, ids, updates, reduction="add")
    assert same(plan(data, ids, updates), want) and "ScatterPlan" in repr(plan)
    refuses(TypeError, plan, data, None, updates)
    plan.keep(ids)
    assert same(plan(data, None, updates), want) and same(plan(data, np.zeros_like(ids), updates), want)
    inside = data.copy()
    assert plan(inside, None, updates, out=inside) is inside and same(inside, want)
    bad = ids.copy()
    bad.reshape(-1)[3] = 99
    assert refuses(GatherIndexError, plan.check, bad).value == refuses(GatherIndexError, plan.keep, bad).value == 99
    assert same(plan(data, None, updates), want)
    refuses(GatherValueError, plan, data[:5], ids, updates)
    refuses(GatherTypeError, plan, data.astype(float), ids, updates.astype(float))
    refuses(GatherValueError, plan.keep, ids[:2])


def test_plan_in_threads():
    """Calls and keep() exclude each other: each call is right, or refused."""
    rows, count = 20_000, 60_000
    rng = np.random.default_rng(36)
    data, ids, updates = np.zeros((rows, 4), np.float32), rng.integers(0, rows, count), rng.integers(0, 9, (count, 4)).astype(np.float32)
    plan = libgather.ScatterPlan("scatter", data, ids, updates, reduction="add")
    plan.keep(ids)
    want, wrong, done = plan(data, None, updates), [], []

    def work(keeps):
        for _ in range(10):
            try:
                if keeps:
                    plan.keep(ids)
                elif not same(plan(data, None, updates), want):
                    wrong.append(1)
                done.append(keeps)
            except GatherValueError as error:
                assert "in use by another thread" in str(error)

    threads = [threading.Thread(target=work, args=(number == 0,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and done and same(plan(data, ids, updates), want)


def test_index_add_has_one_dimension():
    refuses(GatherValueError, libgather.index_add, [1, 2], [[0]], [[1]])
    assert libgather.index_add([1, 2], 1, 5).tolist() == [1, 7]


