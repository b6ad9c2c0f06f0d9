# SPDX-License-Identifier: MIT
#
# test_complaints.py: wrong calls at random: which of their faults is reported, and whether NumPy raises the same class. The order is
# types, ranks, axis, lengths, indices, and in take_along_axis the axis before the ranks; NumPy has an order of its own, so the classes are compared where a call has one fault.
"""The order of complaints."""
from __future__ import annotations

import os

import numpy as np
import pytest

import libgather
from support.refusal import refuses
from support.sample import STEP

CALLS = 10000 // min(STEP, 4)
AxisError = np.exceptions.AxisError
OURS = {"type": libgather.GatherTypeError, "rank": libgather.GatherValueError, "axis": libgather.GatherAxisError,
        "lengths": libgather.GatherValueError, "index": libgather.GatherIndexError}
NUMPY = {"take": {"type": TypeError, "axis": AxisError, "index": IndexError},
         "take_along_axis": {"type": IndexError, "rank": ValueError, "axis": AxisError, "lengths": IndexError, "index": IndexError}}


def faults_of(name: str, x: np.ndarray, indices: np.ndarray, axis: int) -> list[str]:
    """What is wrong with a call, in the order of complaints."""
    along = name != "take"
    ranks = not along or x.ndim == indices.ndim
    on = axis + x.ndim if axis < 0 else axis
    fits = -x.ndim <= axis < x.ndim
    pairs = [(n, m) for d, (n, m) in enumerate(zip(x.shape, indices.shape)) if d != on]
    if name == "gather_elements":
        lengths = all(m <= n for n, m in pairs)
    else:
        lengths = all(n == m or 1 in (n, m) for n, m in pairs)
    integers = indices.dtype.kind in "iu"
    n = x.shape[on] if fits else 0
    inside = not (integers and fits) or bool(((indices >= -n) & (indices < n)).all())
    wrong = {"type": not integers, "rank": not ranks, "axis": not fits, "lengths": along and ranks and not lengths, "index": not inside}
    if name == "take_along_axis":  # as in NumPy, the axis comes before the ranks
        wrong = {fault: wrong[fault] for fault in ("type", "axis", "rank", "lengths", "index")}
    return [fault for fault, is_wrong in wrong.items() if is_wrong]


def raised_by(call) -> type[Exception] | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001: which one it is, is the question
        return type(error)
    return None


def family(kind: type[Exception] | None) -> type[Exception] | None:
    """NumPy's class, without subclasses of its own."""
    return next((base for base in (AxisError, IndexError, TypeError, ValueError) if kind and issubclass(kind, base)), kind)


def random_call(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Mostly tensors of one rank and lengths that broadcast, so that many calls have a single fault."""
    shape = random.choice([1, 2, 3], random.integers(1, 4))
    x = np.zeros(shape, random.choice(["f4", "i8", "?", "S3", "M8[D]"]))
    other = random.choice([0, 1, 2, 3], random.integers(1, 4)) if random.random() < 0.2 else np.where(random.random(x.ndim) < 0.3, 1, shape)
    other[:1] = np.where(random.random(other[:1].size) < 0.1, 5, other[:1])
    indices = random.integers(-1, 1, other) if random.random() < 0.8 else random.integers(-4, 4, other)
    kind = random.choice(["i8", "i4", "i2"]) if random.random() < 0.9 else random.choice(["f8", "U1", "M8[s]"])
    axis = random.integers(-x.ndim, x.ndim) if random.random() < 0.8 else random.integers(-4, 4)
    return x, indices.astype(kind), int(axis)


@pytest.mark.parametrize("name", ["take", "take_along_axis", "gather_elements"])
def test_random_calls(name):
    random = np.random.default_rng(int(os.environ.get("GATHER_TEST_SEED", "14")))
    seen = dict.fromkeys(OURS, 0)
    for _ in range(CALLS):
        x, indices, axis = random_call(random)
        faults = faults_of(name, x, indices, axis)
        ours = raised_by(lambda: getattr(libgather, name)(x, indices, axis=axis))
        planned = raised_by(lambda: getattr(libgather.Plan, name)(x, indices, axis=axis)(x, indices))
        said = f"{name}: {x.dtype} {x.shape}, {indices.dtype} {indices.shape}, axis={axis}: {faults}"
        assert ours is planned is (OURS[faults[0]] if faults else None), said
        if len(faults) == 1:
            seen[faults[0]] += 1
        if name == "gather_elements" or (faults == ["index"] and (indices.size == 0 or x.size == 0)):
            continue  # without elements in the result NumPy looks at no index
        theirs = family(raised_by(lambda: getattr(np, name)(x, indices, axis=axis)))
        possible = [NUMPY[name][fault] for fault in faults]
        assert theirs in possible if faults else theirs is None, f"{said}: NumPy has {theirs}"
    assert all(count > CALLS // 200 for fault, count in seen.items() if fault in NUMPY.get(name, OURS)), seen


X1, IDS = np.arange(4), np.arange(3)


@pytest.mark.parametrize("call, kind", [
    (lambda: libgather.take_along_axis(X1, IDS, axis=1), libgather.GatherAxisError),
    (lambda: libgather.take_along_axis(X1, IDS, axis=-2), libgather.GatherAxisError),
    (lambda: libgather.Plan.take_along_axis(X1, IDS, axis=1), libgather.GatherAxisError),
    (lambda: libgather.take_along_axis(np.array(["a"] * 4, object), IDS, axis=1), libgather.GatherAxisError),
    (lambda: libgather.take_along_axis(np.ma.masked_array(X1), IDS, axis=1), libgather.GatherAxisError),
    (lambda: libgather.take_along_axis(X1, IDS / 2, axis=1), libgather.GatherTypeError),
    (lambda: libgather.take_along_axis(np.zeros((4, 2)), np.zeros((3, 1)), axis=1), libgather.GatherTypeError),
    (lambda: libgather.take_along_axis(X1, IDS, axis=1, mode="fill", fill_value="x"), libgather.GatherTypeError),
    (lambda: libgather.take_along_axis(np.zeros((4, 2)), np.zeros((3, 1), int), axis=1, mode="fill", fill_value="x"),
     libgather.GatherTypeError),
    (lambda: libgather.take_along_axis(np.zeros((4, 2)), np.zeros((3, 1), int), axis=1), libgather.GatherValueError),
])
def test_order(call, kind):
    error = refuses(libgather.GatherError, call)
    assert type(error) is kind
