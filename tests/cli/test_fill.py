# SPDX-License-Identifier: MIT
"""fill=V for every type: exact for integers, rounded as NumPy and ml_dtypes do for floats, else refused."""

import ml_dtypes
import numpy as np
import pytest

FLOATS = {
    "float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu, "float4_e2m1fn": ml_dtypes.float4_e2m1fn,
    "float6_e2m3fn": ml_dtypes.float6_e2m3fn, "float6_e3m2fn": ml_dtypes.float6_e3m2fn,
}
NO_NAN = {"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "nf4"}
NO_INF = {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", *NO_NAN}
PACKED = {
    "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6, "nf4": 4, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "uint1": 1,
    "uint3": 3, "uint6": 6,
}


GROUPS = {"float6_e2m3fn": 3, "float6_e3m2fn": 3}  # bytes of a whole group of elements, which is written


def fill(gather, name: str, text: str, size: int = 16) -> bytes:
    """One element of that type, as the command fills it: the row that a bad index gets."""
    gather.write("x.bin", bytes(2 * size))
    answer = gather("take", "x.bin", "[9]", "-o", "o.bin", "-f", f"--on-bad=fill={text}", "--type", name, "--shape", "2x1")
    assert answer.code == 0, answer
    return (gather.folder / "o.bin").read_bytes()


def refused(gather, name: str, text: str) -> None:
    gather.write("x.bin", bytes(64))
    error = gather.fails("usage", "take", "x.bin", "[9]", "-o", "no.bin", f"--on-bad=fill={text}", "--type", name, "--shape", "2x1")
    assert name in error["message"]


def numbers(name: str) -> list[float]:
    """Every value of a small type, what lies in the middle of two, and a little beside that; and some of everything."""
    dtype = np.dtype(FLOATS[name])
    rng = np.random.default_rng(3)
    if dtype.itemsize > 1:
        some = rng.standard_normal(12) * 10.0 ** rng.integers(-9, 5, 12)
        some = [*some, 1.00390625, np.nextafter(1.00390625, 2), 1.01171875, np.nextafter(1.01171875, 1)]
        return [*some, 0.0, -0.0, 1e-45, 3e-46, 5.9e-8, 2.9e-8, 65519.0, 65520.0, 3.4028235677973366e38, 1e300, -1e300]
    codes = 1 << PACKED.get(name, 8)
    values = np.arange(codes, dtype=np.uint8).view(dtype).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    middles = (values[1:] + values[:-1]) / 2
    every = np.concatenate([values, middles, np.nextafter(middles, -np.inf), np.nextafter(middles, np.inf)])
    return rng.choice(every, min(60, every.size), replace=False).tolist() + [values[-1] * 1.2, values[-1] * 3]


@pytest.mark.parametrize("name", FLOATS)
def test_floats_round_as_numpy_does(gather, name):
    dtype = np.dtype(FLOATS[name])
    for number in numbers(name):
        if name == "float8_e8m0fnu" and not 2.0**-126 <= number < 2.0**128:
            continue  # nothing from 0 down; ml_dtypes is wrong beyond both ends (2**-127 * 1.1 goes up, 2**129 to 0)
        with np.errstate(all="ignore"):
            expected = np.array([float(number)], dtype).tobytes()  # a Python float: NumPy's own go by way of float32
        assert fill(gather, name, repr(float(number))) == expected.ljust(GROUPS.get(name, 0), b"\0"), number


@pytest.mark.parametrize("name", FLOATS)
def test_nan_and_infinity(gather, name):
    dtype = np.dtype(FLOATS[name])
    for text in ("nan", "NaN", "inf", "-inf", "Infinity", "-0.0"):
        if text.lower() == "nan" and name in NO_NAN or "inf" in text.lower() and name in NO_INF:
            refused(gather, name, text)
        elif not (name == "float8_e8m0fnu" and text == "-0.0"):
            got = fill(gather, name, text)
            expected = np.array([float(text)]).astype(dtype)
            if text.lower() == "nan":
                assert np.isnan(np.frombuffer(got, dtype))
            else:
                assert got == expected.tobytes().ljust(GROUPS.get(name, 0), b"\0"), text


def test_e8m0_has_neither_sign_nor_zero(gather):
    for text in ("0", "-0.0", "-1", "-2.5"):
        refused(gather, "float8_e8m0fnu", text)


def test_nf4_goes_to_the_nearest(gather):
    for text, code in (
        ("-1", 0),
        ("-0.7", 1),
        ("0", 7),
        ("0.07", 8),
        ("0.7", 14),
        ("1", 15),
        ("0.9", 15),
        ("-0.02", 7),
    ):
        assert fill(gather, "nf4", text)[0] == code
    assert fill(gather, "nf4", "50")[0] == 15


@pytest.mark.parametrize("name", [*FLOATS, "nf4"])
@pytest.mark.parametrize("text", ["", "x", "1x", "1 ", " 1", "0x10", "1,5", "nanx", "true", ".", "e5", "1e", "--1", "1+2j"])
def test_what_is_no_number(gather, name, text):
    refused(gather, name, text)


def limits(name: str) -> tuple[int, int]:
    bits = PACKED.get(name) or 8 * np.dtype(name).itemsize
    return (0, (1 << bits) - 1) if name.startswith("uint") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int4", "uint4", "int2", "uint2"]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_exact(gather, name):
    low, high = limits(name)
    for value in (low, high, 0, 1, high // 2):
        got = fill(gather, name, str(value))
        if name in PACKED:
            assert got == bytes([value % (1 << PACKED[name])])  # one element: padding bits are 0
        else:
            assert got == np.array([value], name).tobytes()
    assert fill(gather, name, hex(high)) == fill(gather, name, str(high))
    assert fill(gather, name, "1.0") == fill(gather, name, "10e-1") == fill(gather, name, "1")
    assert fill(gather, name, "-0") == fill(gather, name, "0")
    for text in (str(low - 1), str(high + 1), hex(high + 1), "nan", "inf", "0.5", "1e99", "-0.0", "x", "1x", "0x", "", "true"):
        refused(gather, name, text)


@pytest.mark.parametrize(("name", "value", "code"), [("uint1", 1, 0x80), ("uint3", 5, None), ("uint6", 41, None)])
def test_split_and_high_first_types(gather, name, value, code):
    got = fill(gather, name, str(value))
    assert got[0] == code if code else got != bytes(len(got))
    gather.write("full.bin", got)
    again = gather("take", "full.bin", "[0]", "-o", "p.bin", "--type", name, "--shape", "1")
    assert again.code == 0 and (gather.folder / "p.bin").read_bytes() == got
    refused(gather, name, str(limits(name)[1] + 1))
    refused(gather, name, "-1")


def test_the_examples_of_the_contract(gather):
    refused(gather, "uint8", "300")
    refused(gather, "int32", "nan")
    assert fill(gather, "uint64", str(2**64 - 1)) == b"\xff" * 8
    assert fill(gather, "int64", "9007199254740993") == np.array([9007199254740993]).tobytes()
    assert fill(gather, "float16", "1e6") == np.array([np.inf], np.float16).tobytes()


def test_bool(gather):
    assert fill(gather, "bool", "true") == b"\1" and fill(gather, "bool", "false") == b"\0"
    for text in ("True", "yes", "2", "", "nan", "truex"):
        refused(gather, "bool", text)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex(gather, name):
    texts = ["1+2j", "1-2j", "-1.5e3+.5j", "2j", "-j", "1+j", "3", "nan+infj", "-0.0-0.0j", "1e400", "0.1+0.1j", "2J", "-inf-nanj"]
    for text in texts:
        got, expected = np.frombuffer(fill(gather, name, text), name), np.array([complex(text)], name)
        assert np.array_equal(
            got.view(name.replace("complex64", "f4").replace("complex128", "f8")),
            expected.view(name.replace("complex64", "f4").replace("complex128", "f8")),
            equal_nan=True,
        )
        if "nan" not in text:
            assert got.tobytes() == expected.tobytes(), text
    for text in ("1+2", "1+2i", "j1", "1+2jj", "1+2j3", "(1+2j)", "1 + 2j", "+", "", "2j+1", "1++2j"):
        refused(gather, name, text)


NPY = [
    ("S5", "abc", b"abc"),
    ("S5", "abcde", b"abcde"),
    ("S5", "", b""),
    ("S5", "\u00e9\u00e9", "\u00e9\u00e9".encode()),
    ("S5", "0x41", b"0x41"),
    ("<U3", "a\u00e9\U0001f600", "a\u00e9\U0001f600"),
    (">U3", "ab", "ab"),
    ("<U3", "", ""),
    ("<M8[D]", "19000", np.datetime64(19000, "D")),
    (">M8[ns]", "-5", np.datetime64(-5, "ns")),
    (">m8[s]", "NaT", np.timedelta64("NaT")),
    ("<m8[s]", "0x0100000000000000", np.timedelta64(1, "s")),
    ("V3", "0x01fFa0", b"\x01\xff\xa0"),
    ([("a", "<i2"), ("b", "u1")], "0x010203", (513, 3)),
    (">i4", "-3", -3),
    (">f2", "0.1", 0.1),
    (">c8", "1+2j", 1 + 2j),
    (">u8", "18446744073709551615", 2**64 - 1),
]


@pytest.mark.parametrize(("dtype", "text", "value"), NPY, ids=str)
def test_npy_dtypes(gather, dtype, text, value):
    gather.save("x.npy", np.zeros(2, dtype))
    answer = gather("take", "x.npy", "[9, 0]", "-o", "o.npy", "--on-bad", f"fill={text}")
    assert answer.code == 0, answer
    assert gather.load("o.npy").dtype == np.dtype(dtype)
    assert gather.load("o.npy").tobytes() == np.array([value, np.zeros((), dtype)[()]], dtype).tobytes()


WRONG = [
    ("S5", "abcdef"),
    ("<U3", "abcd"),
    ("<M8[D]", "soon"),
    ("<M8[D]", "1.5"),
    ("<M8[D]", "9223372036854775808"),
    ("<M8[D]", "0x01"),
    ("V3", "0x0102"),
    ("V3", "0x01020304"),
    ("V3", "abc"),
    ("V3", "0x01020g"),
    ("V3", "010203"),
    ("V3", ""),
    ("<U3", b"\xff"),
    ("V3", "0x0102 3"),
]


@pytest.mark.parametrize(("dtype", "text"), WRONG, ids=str)
def test_npy_dtypes_that_cannot_hold_it(gather, dtype, text):
    gather.save("x.npy", np.zeros(2, dtype))
    option = b"--on-bad=fill=" + (text if isinstance(text, bytes) else text.encode())
    gather.fails("usage", "take", "x.npy", "[9]", "-o", "o.npy", option.decode(errors="surrogateescape"))
