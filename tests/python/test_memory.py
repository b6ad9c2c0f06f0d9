# SPDX-License-Identifier: MIT
#
# test_memory.py: no call keeps or loses a reference or memory, whatever way it goes and however it ends.
"""Leaks."""
from __future__ import annotations

import gc
import os
import sys
import tracemalloc

import numpy as np
import pytest

import libgather
from capsules import Old, Producer
from libgather import Plan, gather_elements, take, take_along_axis
from support.refusal import refuses
from support.skip import skip_test

DTYPE = np.dtype([("a", "i4"), ("b", "f8")])
X = np.zeros((4, 3), DTYPE)
IDS = np.array([[1, 2, 0]])
BAD = np.array([[1, 2, 9]])
OUT = np.zeros((1, 3), DTYPE)
WRONG = np.zeros((1, 3))
OBJECTS = np.array(["a", None, 5], object)
MASKED = np.ma.array([1, 2, 3], mask=[0, 1, 0])
PLAN = Plan.gather_elements(X, IDS)
FLOAT = np.zeros((4, 3))
SCATTER = libgather.ScatterPlan("scatter", FLOAT, IDS[0], FLOAT[:3], reduction="add")
FILL = np.array((1, 2.0), DTYPE)[()]


class Sub(np.ndarray):
    pass


SUB = np.zeros((4, 3)).view(Sub)


def interface():
    class Interface:
        __array_interface__ = X.__array_interface__

    return Interface


INTERFACE = interface()()


def forgetful(kind, array):
    """A producer that does not remember its capsules. It is made once: ctypes keeps something of every callback."""
    class Forgetful(kind):
        def __dlpack__(self, **keywords):
            capsule = super().__dlpack__(**keywords)
            self.capsules.clear()
            return capsule

    return Forgetful(array)


FOREIGN, OLD, FLOATS = forgetful(Producer, np.array([1])), forgetful(Old, np.arange(3)), forgetful(Producer, np.array([0.5]))

CALLS = {
    "take": lambda: take(X, IDS, axis=0),
    "take into": lambda: take(X, IDS[0], axis=0, out=np.zeros((3, 3), DTYPE)),
    "scalar": lambda: take(X[0], 1),
    "along": lambda: take_along_axis(X, IDS, axis=0),
    "along flat": lambda: take_along_axis(X, IDS[0], axis=None),
    "elements into": lambda: gather_elements(X, IDS, out=OUT),
    "fill": lambda: gather_elements(X, BAD, mode="fill", fill_value=FILL),
    "fill wrong": lambda: gather_elements(X, BAD, mode="fill", fill_value="nine"),
    "bad index": lambda: gather_elements(X, BAD, out=OUT),
    "bad axis": lambda: take(X, IDS, axis=7),
    "bad type of indices": lambda: take(X, WRONG, axis=0),
    "bad out": lambda: gather_elements(X, IDS, out=WRONG),
    "no out": lambda: gather_elements(X, IDS, out=5),
    "bad shape": lambda: take(X, IDS, axis=0, out=OUT),
    "no broadcast": lambda: take_along_axis(X, np.zeros((2, 2), int), axis=0),
    "bad keyword": lambda: take(X, IDS, foo=IDS),
    "bad mode": lambda: take(X, IDS, axis=0, mode="modus"),
    "bad rules": lambda: take(X, IDS, axis=0, rules="rules"),
    "list": lambda: take([1, 2, 3], [0, 1]),
    "list of floats": lambda: take([1, 2, 3], [0.5]),
    "bytes": lambda: take(b"abc", b"\x01"),
    "interface": lambda: take(INTERFACE, IDS, axis=0),
    "subclass": lambda: take(SUB, IDS, axis=0),
    "objects": lambda: take(OBJECTS, [0, 2]),
    "objects, bad": lambda: take(OBJECTS, [7]),
    "masked": lambda: take(MASKED, [0, 1]),
    "plan": lambda: PLAN(X, IDS),
    "plan into": lambda: PLAN(X, IDS, out=OUT),
    "plan, bad": lambda: PLAN(X, BAD, out=OUT),
    "plan, other x": lambda: PLAN(X[:2], IDS),
    "plan, other indices": lambda: PLAN(X, IDS.T),
    "plan, check": lambda: PLAN.check(IDS),
    "plan, bad check": lambda: PLAN.check(BAD),
    "make a plan": lambda: Plan.gather_elements(X, BAD, mode="fill", fill_value=FILL),
    "make a plan of a subclass": lambda: Plan.take(SUB, IDS, axis=0)(SUB, IDS),
    "make no plan": lambda: Plan.take(X, WRONG, axis=0),
    "plan text": lambda: (repr(PLAN), PLAN.shape, PLAN.text),
    "dlpack": lambda: take(np.arange(3), FOREIGN),
    "dlpack, old": lambda: take(OLD, [1], out=np.zeros(1, int)),
    "dlpack, bad": lambda: take(np.arange(3), FLOATS),
    "scatter": lambda: libgather.scatter(FLOAT, IDS[0], FLOAT[:3], reduction="add", accumulate="wide"),
    "scatter into": lambda: libgather.scatter(X, IDS[0], X[:3], out=np.zeros((4, 3), DTYPE)),
    "scatter, bad index": lambda: libgather.scatter(FLOAT, BAD[0], FLOAT[:3], out=FLOAT),
    "scatter, repeated": lambda: libgather.scatter(FLOAT, [1, 1], FLOAT[:2], unique=True),
    "scatter, bad updates": lambda: libgather.scatter(FLOAT, IDS[0], WRONG[:, :1]),
    "scatter, number": lambda: libgather.scatter_elements(FLOAT, IDS, 2.5),
    "scatter, foreign": lambda: libgather.scatter(np.arange(3), FOREIGN, np.array([7])),
    "scatter, objects": lambda: libgather.scatter(OBJECTS, [0, 2], ["b", None]),
    "scatter, masked": lambda: libgather.scatter(MASKED, [0, 1], MASKED[:2]),
    "put": lambda: libgather.put_along_axis(FLOAT, [[1]], 7, axis=0),
    "scatter plan": lambda: SCATTER(FLOAT, IDS[0], FLOAT[:3]),
    "scatter plan, keep": lambda: (SCATTER.keep(IDS[0]), SCATTER(FLOAT, None, FLOAT[:3])),
    "scatter plan, bad": lambda: SCATTER.keep(BAD[0]),
    "make a scatter plan": lambda: libgather.ScatterPlan("scatter_nd", FLOAT, IDS.T, FLOAT[:3]),
    "make no scatter plan": lambda: libgather.ScatterPlan("scatter", FLOAT, IDS, X),
    "backward": lambda: libgather.gather_backward(FLOAT[:3], IDS[0], (4, 3)),
    "backward, sparse": lambda: libgather.gather_backward(FLOAT[:3], IDS[0], (4, 3), sparse=True),
    "backward, bad": lambda: libgather.gather_backward(FLOAT[:3], BAD[0], (4, 3), sparse=True),
    "unique rows": lambda: libgather.unique_rows_sum(IDS[0], FLOAT[:3]),
    "bag": lambda: libgather.embedding_bag(FLOAT, IDS, per_sample_weights=[[1.0, 2, 3]]),
    "bag, bad offsets": lambda: libgather.embedding_bag(FLOAT, IDS[0], [0, 9]),
    "stablehlo": lambda: libgather.stablehlo_scatter(FLOAT, IDS, FLOAT[:1], update_window_dims=[1], inserted_window_dims=[0],
                                                     scatter_dims_to_operand_dims=[0], index_vector_dim=0),  # fmt: skip
    "infer": lambda: libgather.infer_shape((1, "n", (2, 5), None), ("k",), axis=0),
    "infer, bad": lambda: libgather.infer_shape((1, (5, 2)), ("k",), axis=0),
    "tables": lambda: (libgather.ops(), libgather.types(), libgather.info()),
    "threads": lambda: (libgather.set_threads(2), libgather.get_threads(), libgather.set_threads(None)),
}
WATCHED = (X, FLOAT, SCATTER, IDS, BAD, OUT, WRONG, DTYPE, OBJECTS, MASKED, PLAN, SUB, Sub, INTERFACE, FILL, np.dtype("i8"), np.dtype("f8"), None,
           libgather.GatherIndexError, libgather.GatherTypeError, "take")


@pytest.fixture(scope="module", autouse=True)
def few_objects():
    """Collecting is quick where what was there before is left out of it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def repeat(call, times: int) -> None:
    for _ in range(times):
        try:
            call()
        except Exception:  # noqa: BLE001  (how each ends is other tests' matter)
            pass


@pytest.mark.parametrize("call", [call for name, call in CALLS.items() if name != "interface"], ids=[n for n in CALLS if n != "interface"])
def test_references(call):
    """Nothing that goes in has more owners afterwards, nor fewer. (Of None, NumPy's asarray itself keeps one for each interface.)"""
    repeat(call, 5)
    gc.collect()
    before = [sys.getrefcount(value) for value in WATCHED]
    repeat(call, 200)
    gc.collect()
    after = [sys.getrefcount(value) for value in WATCHED]
    moved = [(value, new - old) for value, old, new in zip(WATCHED, before, after) if abs(new - old) > 100]
    assert not moved


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_memory(call):
    """No object is left behind: 400 calls take no more than one. What is lost is lost every time; a Python without the GIL may be
    late with what it frees, so there are some tries.
    """
    repeat(call, 50)
    tracemalloc.start()
    try:
        grown = [growth(call)]
        while grown[-1] >= 400 * 16 and len(grown) < 10:
            grown.append(growth(call))
    finally:
        tracemalloc.stop()
    assert grown[-1] < 400 * 16, f"{grown} bytes in 400 calls each"


def growth(call) -> int:
    """Of the memory that Python knows of, by 400 calls."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    repeat(call, 400)
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def test_a_leak_would_be_seen():
    kept = []
    refuses(AssertionError, test_memory, lambda: kept.append(bytes(100)))
    refuses(AssertionError, test_references, lambda: kept.append(X))


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_that_python_does_not_count():
    """Plans and errors of the library itself: megabytes in all, if they were kept."""
    if "address" in os.environ.get("GATHER_SANITIZE", ""):
        skip_test("resident", "AddressSanitizer keeps freed memory")
    wide = np.zeros((1,) * 30 + (2,))
    ids = np.zeros((1,) * 31, int)

    def work():
        for _ in range(3000):
            Plan.take_along_axis(wide, ids)
            refuses(libgather.GatherIndexError, take, X, BAD, axis=0)

    work()
    before = resident()
    work()
    assert resident() - before < 6 << 20
