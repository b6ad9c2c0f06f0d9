# SPDX-License-Identifier: MIT
#
# test_fill.py: which fill_value fits which dtype, and as what: nothing is cut, wrapped, reinterpreted or made infinite; floats alone are
# rounded, as NumPy rounds them.
"""Fill values."""
from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import libgather
from arrays import REGISTERED
from support.refusal import refuses

DATE, LONG, INF, NAN = np.datetime64, np.longdouble, float("inf"), float("nan")
PAIR = np.dtype([("a", "i2"), ("b", "S3")])
NESTED = np.dtype([("p", ">f4", (2, 2)), ("q", [("r", "?"), ("s", "M8[Y]")])])


def fill(dtype, value) -> np.ndarray:
    return libgather.take(np.zeros(2, dtype), [7], mode="fill", fill_value=value)


FITS = [
    # integers and bool: the value itself
    ("i1", -128, -128), ("u8", 2**64 - 1, 2**64 - 1), ("i4", 3.0, 3), ("i4", Decimal(3), 3), ("i4", Fraction(6, 2), 3), ("i4", 3 + 0j, 3),
    ("?", True, True), ("?", 1, True), ("?", np.float32(0), False), ("i8", True, 1), ("i8", np.array(4), 4), ("i8", LONG(2**62), 2**62),
    ("u1", ml_dtypes.bfloat16(7), 7), (ml_dtypes.int4, -8, -8), (ml_dtypes.uint4, 15, 15),
    # floats: the nearest
    ("f4", 0.1, np.float32(0.1)), ("f8", 2**53 + 1, float(2**53)), ("f2", 65519.9, np.float16(65504)), ("f4", 1e-60, np.float32(0)),
    ("f8", Decimal("0.1"), 0.1), ("f8", Fraction(1, 3), 1 / 3), ("f8", LONG(1) / 3, float(LONG(1) / 3)), ("f8", 1 + 0j, 1.0), ("f4", INF, INF),
    ("f4", -INF, -INF), (ml_dtypes.bfloat16, 0.1, ml_dtypes.bfloat16(0.1)), (ml_dtypes.float8_e4m3fn, 448, ml_dtypes.float8_e4m3fn(448)),
    (ml_dtypes.float8_e5m2, 3.1, ml_dtypes.float8_e5m2(3)), (ml_dtypes.float4_e2m1fn, 5.9, ml_dtypes.float4_e2m1fn(6)),
    # long double, beyond float64's range and precision
    ("g", LONG("1e4000"), LONG("1e4000")), ("g", -LONG("1.8e308"), -LONG("1.8e308")), ("g", LONG(1) / 3, LONG(1) / 3), ("g", 10**400, LONG(10**400)),
    ("G", LONG("1e4000") * np.clongdouble(1j), LONG("1e4000") * np.clongdouble(1j)), (">f8", 7, 7.0),
    # complex
    ("c8", 1j, 1j), ("c16", 2, 2), ("c8", complex(INF, 1), complex(INF, 1)), ("c8", 0.1j, np.complex64(0.1j)),
    # text and bytes
    ("S3", b"ab", b"ab"), ("S2", "ab", b"ab"), ("S3", b"", b""), ("S2", b"ab\0\0", b"ab"), ("U2", "zß", "zß"), ("U2", b"ab", "ab"),
    ("U1", np.str_("x"), "x"), ("V3", b"\0\1\2", np.void(b"\0\1\2")), ("V2", bytearray(b"ab"), np.void(b"ab")),
    # dates and time spans: the same moment
    ("M8[Y]", DATE("2020-01-01"), DATE("2020")), ("M8[Y]", "2020-01-01", DATE("2020")), ("M8[D]", "2020-02-02", DATE("2020-02-02")),
    ("M8[s]", DATE("2020"), DATE("2020-01-01T00:00:00")), (">M8[D]", datetime.date(2020, 5, 5), DATE("2020-05-05")),
    ("M8[s]", datetime.datetime(2020, 5, 5, 1, 2, 3), DATE("2020-05-05T01:02:03")), ("M8[Y]", 50, DATE("2020")), ("M8[M]", -1, DATE("1969-12")),
    ("m8[h]", np.timedelta64(120, "m"), np.timedelta64(2, "h")), ("m8[s]", datetime.timedelta(hours=1), np.timedelta64(3600, "s")),
    ("m8[s]", 5, np.timedelta64(5, "s")), ("m8[ms]", np.timedelta64(5), np.timedelta64(5, "ms")), ("m8[Y]", np.timedelta64(24, "M"), np.timedelta64(2, "Y")),
    # structures
    (PAIR, (3, b"abc"), (3, b"abc")), (PAIR, np.array((3, b"x"), PAIR)[()], (3, b"x")), (PAIR, np.array((3, "x"), "i8, U1")[()], (3, b"x")),
    (NESTED, ([[1, 2], [3, 4]], (True, "2020")), np.array(([[1, 2], [3, 4]], (True, "2020")), NESTED)[()]),
    (NESTED, (5, (0, 50)), np.array((5, (False, "2020")), NESTED)[()]), ([("x", "f4"), ("y", "i2")], 7, (7.0, 7)),
]


@pytest.mark.parametrize("dtype, value, wanted", FITS, ids=repr)
def test_fits(dtype, value, wanted):
    got = fill(dtype, value)
    assert got.dtype == np.dtype(dtype) and got.shape == (1,)
    assert repr(got.tolist()) == repr(np.array([wanted], dtype).tolist())
    assert got.dtype.names or got[0] == wanted


MISFITS = [
    ("i1", 128), ("u1", -1), ("u1", np.int64(300)), ("i8", 2**63), ("u8", 2**64), ("i8", 10**400), ("i4", 1.5), ("i4", NAN), ("i4", INF),
    ("i4", np.float64(1e300)), ("i4", Decimal("1.5")), ("i4", Fraction(1, 2)), ("i4", 1j), ("i4", "5"), ("i4", b"5"), ("?", 2), ("?", 0.5),
    ("?", "x"), (ml_dtypes.int4, 8), (ml_dtypes.uint4, -1), (ml_dtypes.int4, 1.5), ("i8", np.timedelta64(5, "s")), ("i8", DATE("2020")),
    ("f4", 1e39), ("f4", 10**39), ("f2", 65520), ("f8", 10**400), ("f8", LONG("1e4000")), ("f8", Decimal("1e400")), ("f8", 1j), ("f8", complex(1, NAN)),
    ("f8", "1.5"), ("f8", b"1"), ("f8", np.timedelta64(5)), ("f8", object()), ("f8", (1.0,)), ("f8", [1.0]), ("f8", np.zeros(1)), ("f8", np.void(b"12345678")),
    (ml_dtypes.bfloat16, 1e39), (ml_dtypes.float8_e4m3fn, 1000), (ml_dtypes.float8_e4m3fn, INF), (ml_dtypes.float8_e5m2, 1e6),
    (ml_dtypes.float8_e8m0fnu, 0), (ml_dtypes.float8_e8m0fnu, -1), (ml_dtypes.float4_e2m1fn, 100), (ml_dtypes.float4_e2m1fn, NAN),
    (ml_dtypes.float4_e2m1fn, INF), (ml_dtypes.float8_e4m3b11fnuz, 100.0), ("c8", 1e39j), ("c8", 1e39), ("c16", "1j"), ("g", Decimal("1e5000")),
    ("S2", b"abc"), ("S1", "ß"), ("S9", 5), ("U1", "ab"), ("U9", b"\xff"), ("U2", 12345), ("U9", 1.5), ("U9", DATE("2020")),
    ("V3", b"abcd"), ("V3", b"ab"), ("V3", "abc"), ("V3", 5), ("V3", np.array((1, 2), "i1, i2")[()]),
    ("M8[Y]", DATE("2020-05-05")), ("M8[Y]", "2020-05-05"), ("M8[D]", datetime.datetime(2020, 5, 5, 1)), ("M8[s]", DATE("2020-01-01T00:00:00.5")),
    ("M8[ns]", DATE("3000")), ("M8[s]", 1.5), ("M8[s]", np.float64(2)), ("M8[s]", 2**63), ("M8[s]", True), ("M8[s]", np.timedelta64(5, "s")),
    ("M8[D]", "soon"), ("M8[D]", b"2020-01-01"), ("M8[W]", DATE("2020-01-01")), ("m8[h]", np.timedelta64(90, "m")), ("m8[Y]", np.timedelta64(5, "D")),
    ("m8[s]", datetime.timedelta(milliseconds=1)), ("m8[s]", DATE("2020")), ("m8[as]", np.timedelta64(1, "h")), ("m8[s]", "5"),
    (PAIR, (70000, b"a")), (PAIR, (1, b"abcd")), (PAIR, (1,)), (PAIR, (1, b"a", 2)), (PAIR, [1, b"a"]), (PAIR, 5), (PAIR, np.array((70000, "x"), "i8, U1")[()]),
    (NESTED, (1, (True, "2020-05-05"))), (NESTED, ([[1, 2]], (True, "2020"))), (NESTED, (1, (2, "2020"))), (NESTED, ([1e39, 1], (True, "2020"))),
]


@pytest.mark.parametrize("dtype, value", MISFITS, ids=repr)
def test_misfits(dtype, value):
    error = refuses(libgather.GatherTypeError, fill, dtype, value, says="^fill_value .* does not fit ")
    assert error.status == "type_mismatch" and error.input == "data"


@pytest.mark.parametrize("dtype", [NAN, "M", "m"], ids=repr)
def test_what_is_nothing(dtype):
    """NaN and NaT are values."""
    if dtype is NAN:
        for kind in ("f2", "f8", "g", "c8", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
            assert np.isnan(fill(kind, NAN).astype(complex))[0]
    else:
        for nat in (np.datetime64("NaT") if dtype == "M" else np.timedelta64("NaT"),):
            assert np.isnat(fill(f"{dtype}8[Y]", nat))[0] and np.isnat(fill(f">{dtype}8[ns]", nat))[0]
        assert dtype == "m" or np.isnat(fill("M8[s]", "NaT"))[0]


@pytest.mark.parametrize("dtype", [np.dtype(name) for name in ("i1", "u1", "<i2", ">u2", "<i4", "u4", "i8", ">u8", "?")]
                         + [kind for kind in REGISTERED if "int" in kind.name], ids=str)
def test_every_integer_about_the_limits(dtype):
    """A value fits if it is one of those that the type has."""
    limits = (0, 1) if dtype.kind == "b" else (ml_dtypes.iinfo if dtype.num >= 256 else np.iinfo)(dtype)
    low, high = limits if isinstance(limits, tuple) else (int(limits.min), int(limits.max))
    for value in {0, 1, -1, low - 1, low, low + 1, high - 1, high, high + 1, 2**64, -(2**63) - 1, 10**30}:
        for form in (value, Decimal(value), Fraction(value), *([float(value)] if int(float(value)) == value else [])):
            if low <= value <= high:
                assert int(fill(dtype, form)[0]) == value
            else:
                refuses(libgather.GatherTypeError, fill, dtype, form)
            refuses(libgather.GatherTypeError, fill, dtype, Fraction(form) + Fraction(1, 3))


@pytest.mark.parametrize("name", ["f2", "<f4", ">f4", "f8"])
def test_floats_at_random(name):
    """Rounded as NumPy does it, and refused where that leaves the range."""
    dtype, random = np.dtype(name), np.random.default_rng(3)
    values = [float(v) for v in random.standard_normal(300) * 10.0 ** random.integers(-60, 60, 300)] + [int(v) for v in random.integers(0, 2**63, 100)]
    for value in values:
        with np.errstate(all="ignore"):
            wanted = np.array(value, "f8").astype(dtype)
        if np.isinf(wanted):
            refuses(libgather.GatherTypeError, fill, dtype, value)
        else:
            assert fill(dtype, value)[0] == wanted


@pytest.mark.parametrize("function", [libgather.take, libgather.take_along_axis, libgather.gather_elements])
def test_everywhere(function, tmp_path):
    """Plans, masks and tables have the same rule."""
    x = np.zeros(3, "M8[Y]")
    np.save(tmp_path / "t.npy", x)
    with libgather.open(tmp_path / "t.npy") as table:
        calls = [lambda v: function(x, [7], mode="fill", fill_value=v), lambda v: function(np.ma.array(x), [7], mode="fill", fill_value=v),
                 lambda v: getattr(libgather.Plan, function.__name__)(x, [7], axis=0, mode="fill", fill_value=v)(x, [7]),
                 lambda v: table.take([7], mode="fill", fill_value=v), lambda v: table.submit([7], mode="fill", fill_value=v).wait()]
        for call in calls:
            assert call(DATE("2020-01-01"))[0] == DATE("2020")
            refuses(libgather.GatherTypeError, call, DATE("2020-01-02"), says="does not fit")
