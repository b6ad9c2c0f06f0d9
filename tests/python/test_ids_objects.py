# SPDX-License-Identifier: MIT
#
# test_ids_objects.py: ids that are no tensor of integers: what they are is said, and where, in every function that takes ids.
"""Ids as lists, sets, columns with nulls, dates: integers are taken, others are named."""
from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions

import libgather
import numpy as np
import pytest
from libgather import GatherError, GatherIndexError, GatherTypeError, GatherValueError
from support.refusal import refuses
from support.skip import skip_test

try:
    import pandas as pd
except ImportError:
    pd = None
try:
    import pyarrow as pa
except ImportError:
    pa = None

X = np.arange(12).reshape(4, 3)


class Index:
    """An integer by __index__ only."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Column:
    """A column as polars has them: null_count() and is_null() are methods, and an array has NaN for nulls."""

    def __init__(self, *values: int | None) -> None:
        self.values = values

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array([np.nan if value is None else value for value in self.values], None if None not in self.values else float)

    def __len__(self) -> int:
        return len(self.values)

    def null_count(self) -> int:
        return self.values.count(None)

    def is_null(self) -> Column:
        return Column(*(int(value is None) for value in self.values))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("ids") / "x.npy"
    np.save(path, X)
    with libgather.open(path) as opened:
        yield opened


def functions(table) -> dict:
    """Everything that takes ids; each gets a function without arguments that makes them, since an iterator ends."""
    return {
        "take": lambda ids: libgather.take(X, ids, axis=0),
        "take with objects": lambda ids: libgather.take(X.astype(object), ids, axis=0),
        "take with a fill": lambda ids: libgather.take(X, ids, axis=0, mode="fill", fill_value=-1),
        "take_along_axis": lambda ids: libgather.take_along_axis(X[:, 0], ids, axis=0),
        "gather_elements": lambda ids: libgather.gather_elements(X[:, 0], ids),
        "gather_nd": lambda ids: libgather.gather_nd(X, ids),
        "plan": lambda ids: libgather.Plan.take(X, ids, axis=0),
        "explain": lambda ids: libgather.explain(X, ids),
        "index": lambda ids: libgather.index(X, ids),
        "index with more": lambda ids: libgather.index(X, (ids, 0)),
        "table": lambda ids: table.take(ids),
        "table[]": lambda ids: table[ids],
        "table[, ]": lambda ids: table[ids, 0],
        "np.take": lambda ids: np.take(table, ids, axis=0),
    }


NAMES = list(functions(None))

WRONG = {  # what makes the ids, and what the error calls them
    "2**70": (lambda: [2**70], "indices[0] is 1180591620717411303424"), "-2**63-1": (lambda: [0, -(2**63) - 1], "indices[1] is -9223372036854775809"),
    "mixed": (lambda: [-1, 2**63], "indices[1] is 9223372036854775808, and others are negative"),
    "2**64": (lambda: [[1], [2**64]], "indices[1, 0] is 18446744073709551616"),
    "set": (lambda: {1, 2}, "not a set, whose order"), "frozenset": (lambda: frozenset([1]), "not a frozenset"),
    "keys": (lambda: {1: 2}.keys(), "not a dict_keys"), "values": (lambda: {1: 2}.values(), "not a dict_values"),
    "dict": (lambda: {0: 1}, "not a dict: "), "generator": (lambda: (i for i in [1, 2]), "not a generator"),
    "map": (lambda: map(int, "12"), "not a map"), "iterator": (lambda: iter([1]), "not a list_iterator"),
    "date": (lambda: [datetime.date(2020, 1, 1)], "indices[0] is a datetime.date"), "dates": (lambda: np.array(["2020-01-01"], "M8[D]"), "dates (datetime64[D])"),
    "datetime": (lambda: [1, datetime.datetime(2020, 1, 1)], "indices[1] is a datetime.datetime"),
    "time spans": (lambda: np.array([3], "m8[s]"), "time spans (timedelta64[s])"), "decimal": (lambda: [1, decimal.Decimal(2)], "indices[1] is a decimal.Decimal"),
    "fraction": (lambda: [fractions.Fraction(1)], "indices[0] is a fractions.Fraction"), "strings": (lambda: ["1", "2"], "strings (<U1)"),
    "bytes": (lambda: [b"1"], "bytes (|S1)"), "nan": (lambda: [1, float("nan")], "indices[1] is nan"), "float": (lambda: [[0, 1], [1, 1.5]], "indices[1, 1] is 1.5"),
    "float array": (lambda: np.array([1.0]), "float64"), "complex": (lambda: [1j], "complex128"), "object": (lambda: [object()], "indices[0] is an object"),
    "None": (lambda: [0, None, None], "2 are null, the first at position 1"), "one None": (lambda: [[0, None]], "one is null at position 0, 1"),
    "objects": (lambda: np.array([1, 2], object), "not Python objects: .astype"), "object None": (lambda: np.array([1, None], object), "one is null at position 1"),
    "ragged": (lambda: [[1], [2, 0]], "indices[1] has 2 items, and indices[0] has 1 item"), "nested": (lambda: [1, [2, 0]], "indices[1] has 2 items, and indices[0] is a number"),
    "deeply ragged": (lambda: [[[1], [2]], [[1], [2, 0]]], "indices[1, 1] has 2 items"),
    "masked": (lambda: np.ma.array([1, 2], mask=[0, 1]), "have a mask"), "polars": (lambda: Column(1, None, 2), "one is null at position 1"),
    "NaT": (lambda: [np.datetime64("NaT"), 1], "one is null at position 0"),
}
PANDAS = {
    "Int64": (lambda: pd.Series([1, None, 2], dtype="Int64"), "one is null at position 1"), "array": (lambda: pd.array([1, None, None], dtype="Int32"), "2 are null, the first at position 1"),
    "NaN": (lambda: pd.Series([1, 2, None]), "one is null at position 2"), "NA": (lambda: [1, pd.NA], "one is null at position 1"), "NaT": (lambda: [pd.NaT], "one is null at position 0"),
    "index": (lambda: pd.Index([0, None], dtype="Int64"), "one is null at position 1"), "dates": (lambda: pd.Series(pd.to_datetime(["2020-01-01"])), "dates (datetime64["),
    "strings": (lambda: pd.Series(["a", "b"]), "indices[0] is a str"), "floats": (lambda: pd.Series([0.5]), "float64"),
    "timestamp": (lambda: [pd.Timestamp("2020-01-01")], "Timestamp"),
}
ARROW = {
    "array": (lambda: pa.array([1, None]), "one is null at position 1"), "chunks": (lambda: pa.chunked_array([[1], [2, None, None]]), "2 are null, the first at position 2"),
    "timestamps": (lambda: pa.array([1], pa.timestamp("s")), "dates (datetime64[s])"), "strings": (lambda: pa.array(["a"]), "indices[0] is a str"),
    "decimals": (lambda: pa.array([decimal.Decimal(1)]), "indices[0] is a decimal.Decimal"), "nulls": (lambda: pa.nulls(2), "2 are null, the first at position 0"),
    "scalars": (lambda: [pa.scalar(1), pa.scalar(None)], "one is null at position 1"), "dictionary": (lambda: pa.array(["a"]).dictionary_encode(), "indices[0] is a str"),
}


def refused(function, ids, words: str) -> None:
    error = refuses((GatherError, IndexError, TypeError), function, ids)
    assert words in str(error), str(error)
    assert isinstance(error, GatherError) and error.status in ("type_unsupported", "shape_mismatch")
    assert "object" not in str(error) or "object" in words or "Python objects" in words


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", WRONG)
def test_ids_that_are_no_integers_are_named(table, name, case) -> None:
    make, words = WRONG[case]
    if name == "np.take" and "ragged" in words or name == "np.take" and case in ("ragged", "nested", "deeply ragged", "masked"):
        return  # NumPy's own
    refused(functions(table)[name], make(), words)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", PANDAS)
def test_columns_of_pandas(table, name, case) -> None:
    if pd is None:
        skip_test("pandas", "the package is not installed")
    refused(functions(table)[name], PANDAS[case][0](), PANDAS[case][1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ARROW)
def test_columns_of_arrow(table, name, case) -> None:
    if pa is None:
        skip_test("pyarrow", "the package is not installed")
    refused(functions(table)[name], ARROW[case][0](), ARROW[case][1])


RIGHT = {
    "list": lambda: [2, 0], "tuple of one": lambda: ([2, 0],)[0], "range": lambda: range(2, -1, -2), "deque": lambda: collections.deque([2, 0]),
    "array": lambda: array.array("i", [2, 0]), "uint64": lambda: np.array([2, 0], np.uint64), "index": lambda: [Index(2), Index(0)],
    "polars": lambda: Column(2, 0), "memory": lambda: memoryview(b"\2\0"), "swapped": lambda: np.array([2, 0], ">i4"), "empty": lambda: [],
}


@pytest.mark.parametrize("case", RIGHT)
def test_ids_of_all_kinds(table, case) -> None:
    expected = X[[2, 0]] if case != "empty" else X[:0]
    for name in ("take", "table", "table[]", "index", "take with objects"):
        if case == "index" and name == "index" or case == "memory" and name in ("index", "table[]"):
            continue
        assert np.array_equal(functions(table)[name](RIGHT[case]()), expected), name


def test_columns_without_nulls(table) -> None:
    if pd is None or pa is None:
        skip_test("pandas", "pandas or pyarrow is not installed")
    columns = [pd.Series([2, 0], dtype="Int64"), pd.array([2, 0], dtype="UInt8"), pd.Series([2, 0], dtype="int64[pyarrow]"), pd.Index([2, 0]),
               pd.Series([2, 0], index=[7, 5]), pa.array([2, 0]), pa.chunked_array([[2], [0]]), pa.array([2, 0], pa.uint8())]
    for column in columns:
        for name in ("take", "table", "table[]", "index", "np.take"):
            assert np.array_equal(functions(table)[name](column), X[[2, 0]]), (name, type(column))


def test_integers_beyond_int64_are_out_of_range_where_they_are(table) -> None:
    for ids in ([1, 2**63], [2**64 - 1, 0], (2**63, 1)):
        for name in ("take", "table", "table[]", "index", "np.take", "take with objects"):
            if isinstance(ids, tuple) and name in ("table[]", "index"):
                continue
            error = refuses(GatherIndexError, functions(table)[name], ids)
            assert error.value == max(ids) and error.position == (ids.index(max(ids)),)
    assert libgather.take(X, [1, 2**63], axis=0, mode="clip").tolist() == X[[1, 3]].tolist()


def test_the_errors_have_the_position() -> None:
    error = refuses(GatherTypeError, libgather.take, X, [[0, 1], [2, None]], axis=0)
    assert (error.position, error.input) == ((1, 1), "indices")
    error = refuses(GatherTypeError, libgather.take, X, 2**70, axis=0)
    assert error.position == ()
    refuses(GatherValueError, libgather.take, X, [[1], [2, 3]], axis=0)


def test_errors_of_the_objects_themselves_stay() -> None:
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("mine")

    class Ragged:
        def __array__(self, dtype=None, copy=None):
            raise ValueError("mine, too")

    for broken, kind in ((Broken(), RuntimeError), (Ragged(), ValueError)):
        refuses(kind, libgather.take, X, broken, axis=0, says="mine")


def test_arrays_of_ids_for_each_dimension(table) -> None:
    refuses(GatherTypeError, table.take, (np.array([0, 1]), [0, None]), says=r"one is null at position 1.* \(item 1 of the tuple\)")
