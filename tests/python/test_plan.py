# SPDX-License-Identifier: MIT
#
# test_plan.py: plans: what they take, what they refuse, that they keep nothing alive and change nothing.
"""Plans."""
from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest

import libgather
from libgather import Plan
from support.refusal import refuses

TABLE = np.arange(12.0).reshape(4, 3)
IDS = np.array([[3, 0], [-1, 1]])


def test_one_plan_many_calls():
    plan = Plan.take(TABLE, IDS, axis=0)
    for x in (TABLE, TABLE + 100, np.zeros((4, 3))):
        for ids in (IDS, IDS * 0, np.array([[-4, 3], [2, 2]])):
            assert (plan(x, ids) == np.take(x, ids, axis=0)).all()


def test_what_it_says_of_itself():
    plan = Plan.take(TABLE, IDS, axis=-1)
    assert plan.shape == (4, 2, 2) and type(plan.shape) is tuple
    assert "axis 1" in plan.text and "\n" not in plan.text and plan.text in repr(plan) and repr(plan).startswith("<libgather.Plan: ")
    assert Plan.take(TABLE, IDS, axis=0, rules="onnx-13").text.startswith("Gather onnx-13")
    assert Plan.take(TABLE, 1, axis=0).shape == (3,) and Plan.take(TABLE[0], 1).shape == ()
    assert type(Plan.take(TABLE[0], 1)(TABLE[0], 1)) is np.float64
    with pytest.raises(AttributeError):
        plan.shape = ()


def test_every_function():
    ids = np.array([[2], [0], [1], [-1]])
    assert (Plan.take_along_axis(TABLE, ids, axis=1)(TABLE, ids) == np.take_along_axis(TABLE, ids, 1)).all()
    assert (Plan.take_along_axis(TABLE[:1], ids, axis=1)(TABLE[:1], ids) == np.take_along_axis(TABLE[[0] * 4], ids, 1)).all()
    assert (Plan.gather_elements(TABLE, ids[:2], axis=0)(TABLE, ids[:2]) == np.take_along_axis(TABLE[:, :1], ids[:2], 0)).all()
    assert Plan.take(TABLE, [7], axis=0, mode="fill", fill_value=-1)(TABLE, [7]).tolist() == [[-1, -1, -1]]
    assert Plan.take(TABLE, [7], axis=0, rules="openvino-8")(TABLE, [7]).tolist() == [[0, 0, 0]]
    assert Plan.take(TABLE, ids, axis=1, batch_dims=1)(TABLE, ids).tolist() == [[2], [3], [7], [11]]


@pytest.mark.parametrize("name, keywords", [("take", {"axis": 0}), ("take_along_axis", {}), ("gather_elements", {})])
def test_keywords_are_those_of_the_function(name, keywords):
    make = getattr(Plan, name)
    refuses(TypeError, make, TABLE, [[0, 0, 0]], out=None, says="unexpected keyword argument 'out'", **keywords)
    refuses(TypeError, make, TABLE)
    refuses(ValueError, make, TABLE, [[0]], mode="no", says="mode must be", **keywords)
    refuses(libgather.GatherAxisError, make, TABLE, [[0]], axis=5)


def test_not_made_by_calling_the_class():
    refuses(TypeError, Plan)
    refuses(TypeError, Plan, TABLE, IDS)


def test_arguments_of_a_call():
    plan = Plan.take(TABLE, IDS, axis=0)
    for call in (lambda: plan(TABLE), lambda: plan(TABLE, IDS, None), lambda: plan(), lambda: plan(TABLE, IDS, axis=0),
                 lambda: plan(TABLE, IDS, out=None, axis=0)):
        refuses(TypeError, call)
    assert (plan(TABLE, IDS, out=None) == TABLE[IDS]).all()


@pytest.mark.parametrize("x", [TABLE.astype("f4"), TABLE.astype(">f8"), TABLE.astype("i8"), TABLE.astype("M8[s]"), TABLE[:3], TABLE[:, :2],
                               TABLE[None], TABLE[0], np.asfortranarray(TABLE), TABLE[::-1], TABLE.repeat(2, 0)[::2], TABLE.astype(object),
                               np.ma.array(TABLE)], ids=lambda x: f"{type(x).__name__}-{x.dtype.str}-{x.shape}-{x.strides}")
def test_another_x(x):
    error = refuses(libgather.GatherError, Plan.take(TABLE, IDS, axis=0), x, IDS)
    assert error.input == "data"


@pytest.mark.parametrize("ids", [IDS.astype("i4"), IDS.astype(">i8"), IDS.astype("u8"), IDS[0], IDS.T, IDS[:, ::-1], IDS[None], 1, [1, 2], []],
                         ids=repr)
def test_other_indices(ids):
    plan = Plan.take(TABLE, IDS, axis=0)
    for call in (lambda: plan(TABLE, ids), lambda: plan.check(ids)):
        error = refuses(libgather.GatherError, call)
        assert error.input == "indices"


@pytest.mark.parametrize("made, given", [("M8[D]", "M8[h]"), ("M8[D]", "m8[D]"), ("S4", "U1"), ("S4", "V4"), ("V8", "M8[s]"),
                                         ([("a", "i4"), ("b", "f4")], [("a", "f4"), ("b", "i4")])], ids=str)
def test_dtypes_of_one_size(made, given):
    """The result would have the dtype of the plan and the bytes of x."""
    x = np.zeros(3, made)
    plan = Plan.take(x, [1])
    refuses(libgather.GatherError, plan, np.zeros(3, given), [1])
    assert plan(x, [1]).dtype == x.dtype


def test_a_length_of_one_has_any_stride():
    """NumPy gives such axes any stride; nothing is ever read by it."""
    one = np.arange(12.0).reshape(4, 3)[:1]
    plan = Plan.take(np.zeros((1, 3)), [0], axis=0)
    odd = np.ndarray((1, 3), np.float64, one, strides=(12345, 8))
    assert plan(odd, [0]).tolist() == [[0, 1, 2]]


def test_check_moves_nothing():
    plan = Plan.take(TABLE, IDS, axis=0)
    assert plan.check(IDS) is None
    error = refuses(libgather.GatherIndexError, plan.check, np.array([[0, 1], [4, 9]]))
    assert (error.position, error.value, error.bad_count, error.high) == ((1, 0), 4, 2, 3)
    refuses(TypeError, plan.check)
    Plan.take(TABLE, IDS, axis=0, mode="clip").check(np.array([[0, 1], [4, 9]]))


def test_errors_do_not_spoil_it():
    plan = Plan.take(TABLE, IDS, axis=0)
    for _ in range(3):
        refuses(libgather.GatherIndexError, plan, TABLE, IDS + 9)
        assert (plan(TABLE, IDS) == TABLE[IDS]).all()


@pytest.mark.parametrize("x, indices, keywords", [
    (np.array(["a"], object), [0], {}), (np.ma.array([1]), [0], {}), (TABLE, [0.5], {"axis": 0}), (TABLE, None, {"axis": 0}), (5, [0], {}),
    (TABLE, [0], {}), (TABLE, [[1], [2]], {"axis": 0, "batch_dims": 1}), (TABLE, "x", {"axis": 0})], ids=repr)
def test_no_plan_of_what_cannot_be(x, indices, keywords):
    for _ in range(20):  # what is left behind by a failure shows later
        refuses((libgather.GatherError, TypeError), Plan.take, x, indices, **keywords)


def test_the_flat_form_has_no_plan():
    refuses(TypeError, Plan.take_along_axis, TABLE, [0], axis=None, says="axis")


def test_it_keeps_no_array_alive():
    x, ids = TABLE.copy(), IDS.copy()
    watched = [weakref.ref(x), weakref.ref(ids)]
    plan = Plan.take(x, ids, axis=0, mode="fill", fill_value=3)
    del x, ids
    gc.collect()
    assert [watch() for watch in watched] == [None, None] and plan(TABLE, IDS).shape == (2, 2, 3)


def test_it_outlives_what_made_it():
    dtype = np.dtype([("a", "i4"), ("b", "S7")])
    plan = Plan.take(np.zeros(4, dtype), [1, 2])
    del dtype
    gc.collect()
    x = np.ones(4, [("a", "i4"), ("b", "S7")])
    assert plan(x, [3, 0]).tolist() == x[[3, 0]].tolist()


def test_it_is_no_value():
    refuses(TypeError, pickle.dumps, Plan.take(TABLE, IDS, axis=0))


def test_views_that_lie_alike():
    """Another part of the same table: only the address differs."""
    big = np.arange(60.0).reshape(10, 6)
    plan = Plan.take(big[:4, :3], IDS, axis=0)
    assert (plan(big[5:9, 2:5], IDS) == big[5:9, 2:5][IDS]).all()
    aligned = np.zeros(4 * 3 * 8 + 1, np.uint8)
    odd = np.ndarray((4, 3), np.float64, aligned, 1)
    odd[...] = TABLE
    assert (Plan.take(TABLE, IDS, axis=0)(odd, IDS) == TABLE[IDS]).all()
