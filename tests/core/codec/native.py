# SPDX-License-Identifier: MIT
"""gather_quantized by ctypes: arrays in, arrays out."""
import ctypes as c
import os
import re
from pathlib import Path

import ml_dtypes
import numpy as np

from support.headers import GATHER_TENSOR_BYTE_SWAPPED as BYTE_SWAPPED
from support.headers import gather_error as Error
from support.headers import gather_options as Options
from support.headers import gather_quantized as Quantized
from support.headers import gather_tensor as Tensor
from support.headers import library

lib = library()
SOURCE = Path(os.environ["GATHER_SOURCE"])
TENSORS = ("scale", "zero_point", "bias", "table", "scale2", "scale_table", "scale_scale")


class GatherFailed(Exception):
    """A call that failed: its error."""

    def __init__(self, error: Error):
        super().__init__(error.message.decode())
        self.error = error


def type_number(name: str) -> int:
    number = lib.gather_type_parse(name.encode())
    assert number, name
    return number


def lengths(values) -> c.Array:
    return (c.c_int64 * max(1, len(values)))(*values)


class Packed:
    """Elements of less than a byte in bytes, the first in the lowest bits: a typed tensor."""

    def __init__(self, name: str, bits: int, codes: np.ndarray, offset: int = 0):
        self.name, self.shape, self.offset = name, codes.shape, offset
        flat = np.concatenate([np.zeros(offset, np.uint8), codes.ravel().astype(np.uint8) & ((1 << bits) - 1)])
        stream = np.unpackbits(flat[:, None], axis=1, bitorder="little")[:, :bits].ravel()
        self.bytes = np.packbits(stream, bitorder="little")


def tensor(array) -> Tensor:
    """A tensor of an array of any strides and byte order; it keeps the array."""
    if isinstance(array, Tensor):
        return array
    if isinstance(array, Packed):
        made = Tensor(array.bytes.ctypes.data, type_number(array.name), len(array.shape), 0, lengths(array.shape), None, array.offset, 0)
        made.keep = array
        return made
    name = array.dtype.newbyteorder("=").name
    swapped = BYTE_SWAPPED if not array.dtype.isnative else 0
    made = Tensor(array.ctypes.data, type_number(name), array.ndim, 0, lengths(array.shape), lengths(array.strides), 0, swapped)
    made.keep = array
    return made


def describe(codec: str, data, **fields) -> Quantized:
    """Arrays become tensors, names of types their numbers."""
    made = Quantized(size=c.sizeof(Quantized), codec=lib.gather_codec_parse(codec.encode()), group_axis=-1)
    made.keep = {"data": tensor(data)}
    made.data = c.pointer(made.keep["data"])
    for name, value in fields.items():
        if value is None:
            continue
        if name in TENSORS:
            value = made.keep[name] = tensor(value)
            setattr(made, name, c.pointer(value))
        elif name.endswith("_type"):
            setattr(made, name, type_number(value))
        elif name in ("groups", "shape"):
            made.keep[name] = lengths(value)
            setattr(made, name, c.cast(made.keep[name], c.POINTER(c.c_int64)))
            if name == "shape":
                made.rank = len(value)
        else:
            setattr(made, name, value)
    return made


def check(status: int, error: Error) -> None:
    if status:
        assert error.status == status
        raise GatherFailed(error)


def shape_of(quantized: Quantized) -> tuple[int, ...]:
    shape, rank, error = (c.c_int64 * 64)(), c.c_int32(), Error()
    check(lib.gather_quantized_shape(c.byref(quantized), shape, c.byref(rank), c.byref(error)), error)
    return tuple(shape[: rank.value])


def new(shape, name: str) -> np.ndarray:
    """An output whose bytes are not those of any result."""
    kind = np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)
    return np.full(int(np.prod(shape)) * kind.itemsize, 0xA5, np.uint8).view(kind).reshape(shape)


def dequantize(quantized: Quantized, name: str = "float32", out: np.ndarray | None = None) -> np.ndarray:
    out, error = new(shape_of(quantized), name) if out is None else out, Error()
    made = tensor(out)
    check(lib.gather_dequantize(c.byref(quantized), c.byref(made), None, c.byref(error)), error)
    return out


def take(quantized: Quantized, indices: np.ndarray, axis: int = 0, name: str = "float32", out: np.ndarray | None = None, **options):
    """gather_take_quantized with ONNX's rules."""
    full = Options(size=c.sizeof(Options), axis=axis, **options)
    if out is None:
        shape, batch = shape_of(quantized), options.get("batch_dims", 0)
        at = axis % len(shape)
        out = new((*shape[:at], *indices.shape[batch:], *shape[at + 1 :]), name)
    made, ids, error = tensor(out), tensor(indices), Error()
    check(lib.gather_take_quantized(None, c.byref(quantized), c.byref(ids), c.byref(made), c.byref(full), c.byref(error)), error)
    return out


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit; what is not a number may have any payload."""
    assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    equal = a.view(bits) == b.view(bits)
    with np.errstate(invalid="ignore"):
        return bool((equal | (np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64)))).all())


def codecs() -> list[list[str]]:
    """The rows of codec.def."""
    text = (SOURCE / "include/gather/codec.def").read_text(encoding="utf-8")
    found = re.findall(r'^GATHER_CODEC\((\w+), *(\d+), *"([^"]+)", *(\w+), *(\d+), *(\d+), *(\d+), *([^"]+), *"([^"]*)", *"([^"]*)"\)$', text, flags=re.M)
    assert len(found) == text.count("\nGATHER_CODEC(") > 30
    return [list(row) for row in found]
