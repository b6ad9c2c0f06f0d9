# SPDX-License-Identifier: MIT
"""ONNX tensors and models for the tests, as the onnx package makes them, and how this library opens them."""
import struct

import ml_dtypes  # noqa: F401  (dtypes by name)
import numpy as np
import onnx
import pytest
from gather_files import LIB, GatherError, content, formats
from onnx import TensorProto, helper, numpy_helper
from support.skip import skip_test
from tensor_files import opened, strings  # noqa: F401

KNOWN = set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED, TensorProto.STRING}
TYPES = {number: helper.tensor_dtype_to_np_dtype(number) for number in KNOWN}
PACKED = {TensorProto.UINT4: 2, TensorProto.INT4: 2, TensorProto.FLOAT4E2M1: 2, TensorProto.UINT2: 4, TensorProto.INT2: 4}
STREAMS = {TensorProto.DataType.Value(name) for name in ("FLOAT6E2M3", "FLOAT6E3M2")}  # 6 bits each


@pytest.fixture(autouse=True)
def onnx_is_read() -> None:
    if "onnx" not in [format.name.decode() for format in formats()]:
        skip_test("nanopb", "this build reads no ONNX")


def packed(array: np.ndarray, number: int) -> bytes:
    """Elements of less than a byte, the first in the lowest bits."""
    per_byte = PACKED[number]
    bits = 8 // per_byte
    flat = [int(value) & (1 << bits) - 1 for value in array.reshape(-1).view(np.uint8)]
    flat += [0] * (-len(flat) % per_byte)
    return bytes(sum(flat[i + j] << (bits * j) for j in range(per_byte)) for i in range(0, len(flat), per_byte))


def streamed(array: np.ndarray) -> bytes:
    """Elements of 6 bits, one after the other, in whole groups of four."""
    word = sum((int(value) & 63) << 6 * i for i, value in enumerate(array.reshape(-1).view(np.uint8)))
    return word.to_bytes(-(-array.size // 4) * 3, "little")


def values(number: int, shape=(3, 5)) -> np.ndarray:
    count = int(np.prod(shape))
    numbers = np.arange(count) % 2 if number in PACKED or number == TensorProto.BOOL else np.arange(count)
    return (numbers + (1 if number == TensorProto.FLOAT8E8M0 else 0)).reshape(shape).astype(TYPES[number])


def expected(array: np.ndarray, number: int) -> bytes:
    if number in STREAMS:
        return streamed(array)
    return packed(array, number) if number in PACKED else array.tobytes()


def typed(array: np.ndarray, number: int) -> TensorProto:
    """The values in the type's own list."""
    proto = TensorProto(data_type=number, dims=array.shape, name="t")
    flat = array.reshape(-1)
    if number in (TensorProto.FLOAT, TensorProto.COMPLEX64):
        proto.float_data.extend(flat.view(np.float32).tolist())
    elif number in (TensorProto.DOUBLE, TensorProto.COMPLEX128):
        proto.double_data.extend(flat.view(np.float64).tolist())
    elif number == TensorProto.INT64:
        proto.int64_data.extend(flat.tolist())
    elif number in (TensorProto.UINT32, TensorProto.UINT64):
        proto.uint64_data.extend(flat.tolist())
    elif number in STREAMS:
        proto.int32_data.extend(flat.view(np.uint8).tolist())
    elif number in PACKED:
        proto.int32_data.extend(packed(array, number))
    elif TYPES[number].kind in "iub" and array.dtype.name in np.sctypeDict:
        proto.int32_data.extend(flat.astype(np.int64).tolist())
    else:
        proto.int32_data.extend(flat.view(f"u{array.dtype.itemsize}").tolist())
    return proto


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def one_by_one(proto: TensorProto) -> bytes:
    """The lists without packing, which files of old protobuf versions have."""
    bare = TensorProto()
    bare.CopyFrom(proto)
    out = b""
    for field, name, form in ((4, "float_data", "<f"), (10, "double_data", "<d"), (5, "int32_data", ""), (7, "int64_data", ""),
                              (11, "uint64_data", "")):
        for value in getattr(proto, name):
            out += varint(field << 3 | {"<f": 5, "<d": 1, "": 0}[form]) + (struct.pack(form, value) if form else varint(value))
        bare.ClearField(name)
    return out + bare.SerializeToString()


def graph(name: str, nodes, initializers=(), outputs=()) -> onnx.GraphProto:
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(o, 1, None) for o in outputs], initializers)


def model(main: onnx.GraphProto, **more) -> onnx.ModelProto:
    return helper.make_model(main, ir_version=10, opset_imports=[helper.make_opsetid("", 21)], **more)


def table(name: str, start: int = 0) -> TensorProto:
    return numpy_helper.from_array(np.arange(start, start + 4, dtype=np.float32), name)


def outcome(source: bytes) -> list[bytes] | str:
    try:
        with opened(source) as file:
            return [content(tensor) for tensor in file.all if tensor.tensor.type != 16]
    except GatherError as error:
        assert error.message and error.offset <= len(source)
        return error.status


def block(field: int, inner: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(inner)) + inner
