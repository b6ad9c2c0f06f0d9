# SPDX-License-Identifier: MIT
"""The dtypes that the tests of .npy go through, and random elements of each."""
import numpy as np

TYPED = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
         "complex64", "complex128"]
PLAIN = TYPED + [">i2", ">u4", ">i8", ">f2", ">f4", ">f8", ">c8", ">c16"]
OPAQUE = ["S5", "S1", "U3", ">U3", "U1", "V12", "V1", "M8[ns]", ">M8[D]", "m8[25s]", "M8", "m8", "longdouble", ">g", "clongdouble",
          "S0", "V0", "U0"]
STRUCTURED = [
    np.dtype([("a", "<i4"), ("b", ">f8", (2, 3))]),
    np.dtype({"names": ["x", "y"], "formats": ["i1", "f8"]}, align=True),
    np.dtype([(("a title", "name"), "<i2"), ("other", "S3")]),
    np.dtype([("outer", [("inner", "<u2"), ("deep", [("er", "|V3")])]), ("n", "<M8[us]", (4,))]),
    np.dtype([("größe", "<f4"), ("µ", "<i2")]),
    np.dtype([("温度", "<f4"), ("it's", "<i2"), ('say "a"', "<i2"), ("back\\slash", "|b1")]),
    np.dtype({"names": ["late"], "formats": ["<i4"], "offsets": [5], "itemsize": 16}),
    np.dtype([]),
    np.dtype([("empty", "<i4", (0,)), ("e2", "S0")]),
    np.dtype([(f"field_{i}", "<i4") for i in range(3000)]),
]
ALL = [np.dtype(name) for name in PLAIN + OPAQUE] + STRUCTURED
SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4), (1,) * 32]


def identify(value: object) -> str:
    return str(value)[:40].replace("\n", "")


def random_array(dtype: np.dtype, shape: tuple[int, ...], order: str = "C") -> np.ndarray:
    """Random bytes as elements: gather must keep every bit."""
    array = np.ndarray(shape, dtype, order=order)  # np.zeros would make S0 to S1
    if array.nbytes:
        rng = np.random.default_rng(abs(hash((dtype.itemsize, shape))) % 1000)
        noise = rng.integers(0, 256, array.nbytes, dtype=np.uint8)
        noise = noise & 1 if dtype == np.bool_ else noise
        array = np.ndarray(shape, dtype, buffer=noise.tobytes(), order=order)
    return array


def bytes_of(array: np.ndarray) -> bytes:
    """All bytes in C order, those between fields too, which NumPy does not copy."""
    same_size = array.view(f"V{array.itemsize}") if array.dtype.names and array.itemsize else array
    return same_size.tobytes()
