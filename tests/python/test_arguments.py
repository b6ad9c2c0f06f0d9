# SPDX-License-Identifier: MIT
#
# test_arguments.py: how calls are written: keywords, defaults, what counts as an integer, and the words for what does not fit.
"""Arguments."""
from __future__ import annotations

import numpy as np
import pytest

import libgather
from libgather import gather_elements, take, take_along_axis
from support.refusal import refuses

ROW = np.array([10, 20, 30, 40])
TABLE = np.arange(12).reshape(3, 4)
FUNCTIONS = [take, take_along_axis, gather_elements]
ALL = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


class Index:
    """Counts as an integer, as operator.index says."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@ALL
def test_positional_only(function):
    refuses(TypeError, function, ROW, [0], 0, says=r"takes 2 positional arguments \(x, indices\), not 3")
    refuses(TypeError, function, ROW, says="not 1")
    refuses(TypeError, function, x=ROW, indices=[0])


@pytest.mark.parametrize("function, keyword", [(take_along_axis, "batch_dims"), (gather_elements, "batch_dims"),
                                               (take_along_axis, "rules"), (take, "op")], ids=str)
def test_keywords_of_others(function, keyword):
    refuses(TypeError, function, ROW, [0], says=f"unexpected keyword argument '{keyword}'", **{keyword: None})


WRONG = [
    ({"axes": 0}, TypeError, "unexpected keyword argument 'axes'"),
    *(({"axis": axis}, TypeError, "axis must be an integer") for axis in (1.0, "0", [0], np.float32(0), np.array([0, 1]))),
    *(({"axis": axis}, libgather.GatherAxisError, rf"axis {axis} is outside \[-1, 0\]")
      for axis in (1, 2, -2, -3, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63))),
    ({"axis": 2**70}, OverflowError, ""),
    *(({"mode": mode}, ValueError, "mode must be 'raise', 'clip', 'wrap', 'zero', 'fill' or 'promise'")
      for mode in ("", "Raise", "RAISE", "Clamp", "errors", 1, b"clip", True, ("clip",))),
    ({"mode": "quietly"}, ValueError, "not 'quietly'$"),
    ({"mode": "fill=0"}, ValueError, "pass the value as fill_value="),
    ({"mode": "fill"}, ValueError, "mode='fill' needs fill_value"),
    *(({"mode": mode, "fill_value": 0}, ValueError, "fill_value needs mode='fill'") for mode in (None, "raise", "zero", "clip")),
    *(({"threads": threads}, ValueError, "threads must be at least 1") for threads in (0, -1, -(2**40))),
    *(({"threads": threads}, TypeError, "threads must be an integer") for threads in ("2", 1.5, [1])),
]  # fmt: skip


@ALL
@pytest.mark.parametrize("keywords, kind, says", WRONG, ids=repr)
def test_keywords_that_are_wrong(function, keywords, kind, says):
    refuses(kind, function, ROW, [0], says=says, **keywords)


@pytest.mark.parametrize("threads", [0, -1, -(2**40)])
def test_threads_of_all_calls(threads):
    refuses(ValueError, libgather.set_threads, threads, says="threads must be at least 1")


@ALL
def test_none_is_the_default(function):
    names = {"out", "mode", "fill_value", "negative", "threads"} | ({"rules"} if function is not take_along_axis else set())
    assert function(ROW, [-1, 0], **dict.fromkeys(names)).tolist() == [40, 10]


@ALL
@pytest.mark.parametrize("key", ["mo" + "de", "".join(["m", "o", "d", "e"])])
def test_names_need_not_be_interned(function, key):
    assert function(ROW, [9], **{key: "".join(["cl", "ip"])}).tolist() == [40]


@pytest.mark.parametrize("axis", [1, -1, np.int8(1), np.uint64(1), np.array(1), Index(1)], ids=repr)
def test_axis_is_an_integer(axis):
    assert take(TABLE, [2, 0], axis=axis).tolist() == TABLE[:, [2, 0]].tolist()


def test_axis_may_be_left_out_for_one_dimension():
    """As the array API says."""
    assert take(ROW, [3]).tolist() == [40] and take(ROW, [3], axis=None).tolist() == [40]
    for x in (TABLE, TABLE[None], TABLE[:, :1], TABLE[:0]):
        refuses(TypeError, take, x, [0], says="needs axis=")


def test_default_axes():
    assert take_along_axis(TABLE, [[3], [0], [1]]).tolist() == [[3], [4], [9]]
    assert gather_elements(TABLE, [[2, 1, 0, -1]]).tolist() == [[8, 5, 2, 11]]


def test_axis_none_is_flat():
    assert take_along_axis(TABLE, [11, 0, -1], axis=None).tolist() == [11, 0, 11]
    assert take_along_axis(TABLE.T, [1], axis=None).tolist() == [4]
    refuses(libgather.GatherValueError, take_along_axis, TABLE, [[0]], axis=None)


def rules_of(function) -> list[str]:
    name = "Gather" if function is take else "GatherElements"
    return [row["rules"] for row in libgather.ops() if row["name"] == name]


@pytest.mark.parametrize("function", [take, gather_elements], ids=["take", "gather_elements"])
@pytest.mark.parametrize("value", ["onnx", "onnx-12", "ONNX-13", "python", "", 13, b"onnx-13"], ids=repr)
def test_rules_are_of_the_table(function, value):
    refuses(ValueError, function, ROW, [0], rules=value, says=", ".join(rules_of(function)))


@ALL
def test_modes_have_the_commands_names_too(function):
    """clamp is clip, error is raise."""
    assert function(ROW, [9, -9], mode="clamp").tolist() == function(ROW, [9, -9], mode="clip").tolist()
    plan = getattr(libgather.Plan, function.__name__)(ROW, [9, -9], axis=0, mode="clamp")
    assert plan(ROW, [9, -9]).tolist() == function(ROW, [9, -9], mode="clip").tolist()
    refuses(libgather.GatherIndexError, function, ROW, [9], mode="error")
    strings = np.array(["a", "b"], object)
    assert function(strings, [9], mode="clamp").tolist() == ["b"]
    assert function(np.ma.array(ROW), [9], mode="clamp").tolist() == [ROW[-1]]


@ALL
@pytest.mark.parametrize("typed, meant", [("clam", "clamp"), ("Clip", "clip"), ("eror", "error"), ("rase", "raise"), ("warp", "wrap"), ("zeros", "zero"),
                                          ("promised", "promise"), ("fil", "fill"), (" clip", "clip")])
def test_modes_that_are_misspelt(function, typed, meant):
    for x in (ROW, np.array(["a"], object)):
        refuses(ValueError, function, x, [0], mode=typed, says=f"did you mean '{meant}'[?]$")


FILLS = [("i1", 128), ("u1", -1), ("i4", 1.5), ("i8", 2**63), ("i8", float("nan")), ("?", 2), ("f8", 1j), ("f8", "one"), ("f4", None),
         ("i8", [1, 2]), ("S2", b"abc"), ("U1", "ab"), ("u1", np.int64(300)), ("f8", np.complex128(1j)), ("f4", 1e300),
         ("<M8[s]", 1.5)]


@pytest.mark.parametrize("dtype, value", [fill for fill in FILLS if fill[1] is not None], ids=repr)
def test_fill_value_must_fit(dtype, value):
    """Nothing is cut off, wrapped or made infinite."""
    refuses(libgather.GatherTypeError, take, np.zeros(3, dtype), [7], mode="fill", fill_value=value, says="fill_value")


@pytest.mark.parametrize("dtype, value, wanted", [
    ("i1", -128, -128), ("u8", 2**64 - 1, 2**64 - 1), ("f4", 0.1, np.float32(0.1)), ("f2", float("inf"), np.inf), (">i4", 7, 7),
    ("?", True, True), ("c8", 1j, 1j), ("S3", b"ab", b"ab"), ("U2", "ab", "ab"), ("M8[D]", np.datetime64("2020-02-02"), None),
    ("f8", np.float32(0.5), 0.5), ("i8", np.uint8(3), 3), ("i8", np.array(4), 4), ("f8", 3, 3.0)], ids=repr)
def test_fill_value_fits(dtype, value, wanted):
    result = take(np.zeros(3, dtype), [7, 0], mode="fill", fill_value=value)
    assert result[0] == (value if wanted is None else wanted) and result[1] == np.zeros(1, dtype)[0] and result.dtype == dtype


def test_fill_value_nan():
    assert np.isnan(take(np.zeros(3), [7], mode="fill", fill_value=float("nan")))[0]


INTEGERS = [1, np.int8(1), np.uint64(1), np.array(1), np.array(1, ">i2"), Index(1)]


@pytest.mark.parametrize("index", INTEGERS[:-1], ids=repr)
def test_an_integer_removes_the_axis(index):
    result = take(ROW, index)
    assert result == 20 and type(result) is type(np.take(ROW, 1))
    assert take(TABLE, index, axis=0).shape == (4,)


@pytest.mark.parametrize("indices", [[1], (1,), [[1]], ((1, 2),), [np.int64(1)], range(2), [], [[]], (), [[], []]], ids=repr)
def test_lists(indices):
    wanted = np.take(ROW, np.asarray(indices, np.int64))
    result = take(ROW, indices)
    assert result.shape == wanted.shape and result.tolist() == wanted.tolist() and result.dtype == ROW.dtype


REFUSED = [[True, False], True, np.True_, np.array([True]), [1.0], 1.0, np.float32(1), np.array([1.0]), np.empty(0), 1j, "1", ["1"],
           None, [None], {}, {"a": 1}, [2**64], [-1, 2**63], np.array([1], "M8[D]"), np.array([1], "m8[s]"), np.array([1], object),
           np.zeros(1, [("a", "i8")]), np.array([b"1"])]


@ALL
@pytest.mark.parametrize("indices", REFUSED, ids=repr)
def test_indices_are_integers(function, indices):
    """Truth values and floats are not rounded or counted: np.take would take True as 1."""
    error = refuses(libgather.GatherTypeError, function, ROW, indices, says="indices must be integers")
    assert error.input == "indices" and error.status == "type_unsupported"


def test_ragged_lists_are_numpys_error():
    refuses(ValueError, take, ROW, [[1], [1, 2]])


@pytest.mark.parametrize("x", [5, 2.5, None, np.float64(1), np.array(3), "text", {}, object()], ids=repr)
@ALL
def test_x_has_a_dimension(function, x):
    refuses((libgather.GatherValueError, libgather.GatherTypeError), function, x, [0])


@pytest.mark.parametrize("batch_dims", [2, -3, 2**62])
def test_batch_dims_out_of_range(batch_dims):
    error = refuses(libgather.GatherValueError, take, TABLE, [[0], [0], [0]], axis=1, batch_dims=batch_dims)
    assert error.status == "batch_dims_out_of_range"


def test_batch_dims():
    assert take(TABLE, [[0], [1], [-1]], axis=1, batch_dims=1).tolist() == [[0], [5], [11]]
    assert take(TABLE, [[0], [1], [-1]], axis=1, batch_dims=-1).tolist() == [[0], [5], [11]]
    assert take(TABLE, [2, 1, 0], axis=1, batch_dims=1).tolist() == [2, 5, 8]
    refuses(libgather.GatherValueError, take, TABLE, [[0], [1]], axis=1, batch_dims=1)
    refuses(TypeError, take, TABLE, [0], axis=0, batch_dims=1.0, says="batch_dims must be an integer")


@pytest.mark.parametrize("threads", [1, 2, 3, 1000, 2**40, np.int16(2)])
def test_any_number_of_threads(threads):
    assert take(ROW, [1, -1], threads=threads).tolist() == [20, 40]


RULES = [
    # function, rules, indices that are good, one that is an error, one that is repaired
    (take, "onnx-1", [0, 3], [-1], None), (take, "onnx-11", [-4, 3], [4], None), (take, "onnx-13", [-4, 3], [-5], None),
    (take, "openvino-1", [0, 3], [-1], [-1, 4]), (take, "openvino-7", [0, 3], None, None), (take, "openvino-8", [-4, 3], None, [4, -5]),
    (gather_elements, "onnx-11", [-4, 3], [4], None), (gather_elements, "onnx-13", [-4, 3], [-5], None),
    (gather_elements, "openvino-6", [0, 3], None, None),
]


@pytest.mark.parametrize("function", [take, gather_elements], ids=["take", "gather_elements"])
def test_every_version_is_tried(function):
    assert [rules for tried, rules, *_ in RULES if tried is function] == rules_of(function)


@pytest.mark.parametrize("function, rules, good, bad, repaired", RULES, ids=lambda v: v if isinstance(v, str) else None)
def test_rules(function, rules, good, bad, repaired):
    """What a document says of negative and bad indices, which `ops` lists; mode= and negative= come before it."""
    name = "Gather" if function is take else "GatherElements"
    row = next(row for row in libgather.ops() if (row["name"], row["rules"]) == (name, rules))
    assert function(ROW, good, rules=rules).tolist() == ROW[good].tolist()
    for index in (4, -5, *([] if row["negative"] else [-1])):
        if row["mode"] == "zero":
            assert function(ROW, [index], rules=rules).tolist() == [0]
        else:
            error = refuses(libgather.GatherIndexError, function, ROW, [index], rules=rules)
            assert (error.rules, error.op) == (rules, name)
        assert function(ROW, [index], rules=rules, mode="clip").tolist() == [40 if index > 0 else 10]
        refuses(libgather.GatherIndexError, function, ROW, [index], rules=rules, mode="raise")
    assert function(ROW, [-1], rules=rules, negative=True).tolist() == [40]
    error = refuses(libgather.GatherIndexError, function, ROW, [-1], rules=rules, negative=False, mode="raise")
    assert error.low == 0
    assert bad is None or row["mode"] == "raise" or repaired


def test_rules_of_shapes():
    """OpenVINO wants equal lengths off the axis where ONNX lets the indices be shorter."""
    assert gather_elements(TABLE, [[0, 1]], rules="onnx-13").tolist() == [[0, 5]]
    refuses(libgather.GatherValueError, gather_elements, TABLE, [[0, 1]], rules="openvino-6")
    refuses(libgather.GatherValueError, take, TABLE, [[0], [0], [0]], axis=1, batch_dims=1, rules="onnx-13")


@pytest.mark.parametrize("mode, wanted", [("clip", [10, 40, 10, 40]), ("wrap", [30, 10, 20, 20]), ("zero", [0, 0, 0, 0]),
                                          ("fill", [-7, -7, -7, -7])])
def test_modes(mode, wanted):
    """Modulo as in Python, of the index as it is written. What lies within [-n, n - 1] is not bad."""
    keywords = {"mode": mode, "fill_value": -7 if mode == "fill" else None}
    for function in FUNCTIONS:
        assert function(ROW, [-6, 4, -7, 9], **keywords).tolist() == wanted
        assert function(ROW, [-1, 3], **keywords).tolist() == [40, 40]
    low = {"clip": [10], "wrap": [40], "zero": [0], "fill": [-7]}[mode]
    assert take(ROW, [-1], negative=False, **keywords).tolist() == low


@pytest.mark.parametrize("mode", ["clip", "wrap", "raise"])
def test_nothing_to_clip_to(mode):
    error = refuses(libgather.GatherIndexError, take, np.empty((0, 2)), [0], axis=0, mode=mode)
    assert (error.low, error.high) == (0, -1)
    assert take(np.empty((0, 2)), [], axis=0, mode=mode).shape == (0, 2)
    assert take(np.empty((0, 2)), [5], axis=0, mode="zero").tolist() == [[0, 0]]


def test_negative_off():
    for off in (False, 0, np.False_):
        error = refuses(libgather.GatherIndexError, take, ROW, [1, -1], negative=off)
        assert (error.low, error.value, error.position) == (0, -1, (1,))


def test_tables():
    """ops, types and info say what there is."""
    assert {(row["name"], row["rules"]) for row in libgather.ops()} >= {("Gather", "onnx-13"), ("GatherElements", "openvino-6")}
    assert set(libgather.ops()[0]) == {
        "rules", "name", "dialect", "version", "negative", "mode", "batch_dims", "off_axis", "axis_is_input", "types", "index_types",
        "document"}
    assert {"bool", "float32", "bfloat16", "int4", "complex128", "string"} <= set(libgather.types())
    info = libgather.info()
    assert info["version"] == libgather.__version__ and info["cpus"] >= 1 and "npy" in info["formats"]
    assert isinstance(info["limited_api"], bool) and isinstance(info["free_threaded"], bool)


# ---- which of two mistakes is reported

TWO_MISTAKES = [  # take_along_axis is NumPy's: the axis comes before the ranks; elsewhere as in the C library: types, ranks, axis, shapes
    (take_along_axis, [0, 1], {"axis": 5}, "axis_out_of_range"), (take_along_axis, [[[0]]], {"axis": -4}, "axis_out_of_range"),
    (take_along_axis, 0, {"axis": 2}, "axis_out_of_range"), (take_along_axis, [0, 1], {"axis": 1}, "rank_mismatch"),
    (take_along_axis, np.zeros((7, 7), int), {"axis": 5}, "axis_out_of_range"), (take_along_axis, [0.5], {"axis": 5}, "type_unsupported"),
    (take_along_axis, [[99]], {"axis": 5}, "axis_out_of_range"), (gather_elements, [0, 1], {"axis": 5}, "rank_mismatch"),
    (gather_elements, [[99]], {"axis": 5}, "axis_out_of_range"), (gather_elements, [0.5], {"axis": 5}, "type_unsupported"),
    (take, [99], {"axis": 5}, "axis_out_of_range"), (take, [0.5], {"axis": 5}, "type_unsupported"),
]


@pytest.mark.parametrize("function, indices, keywords, status", TWO_MISTAKES, ids=repr)
def test_the_first_of_two_mistakes(function, indices, keywords, status):
    x = np.arange(12).reshape(4, 3)
    calls = [lambda: function(x, indices, **keywords), lambda: function(x.astype(object), indices, **keywords),
             lambda: getattr(libgather.Plan, function.__name__)(x, indices, **keywords)]
    for call in calls:
        error = refuses(libgather.GatherError, call)
        assert error.status == status
    if function is take_along_axis and status == "axis_out_of_range":
        refuses(np.exceptions.AxisError, np.take_along_axis, x, np.asarray(indices), **keywords)
