# SPDX-License-Identifier: MIT
"""Models of both dialects, written by hand, with what they must give."""

from __future__ import annotations

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.onnx_models import declared

# Pinned: opset -> IR version that runtimes of its time write.
IR_OF = {1: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 18: 8, 21: 10, 23: 11, 25: 13}

BYTE_TYPES = {
    "FLOAT": np.float32, "UINT8": np.uint8, "INT8": np.int8, "UINT16": np.uint16, "INT16": np.int16,
    "INT32": np.int32, "INT64": np.int64, "BOOL": np.bool_, "FLOAT16": np.float16, "DOUBLE": np.float64,
    "UINT32": np.uint32, "UINT64": np.uint64, "COMPLEX64": np.complex64, "COMPLEX128": np.complex128,
    "BFLOAT16": ml_dtypes.bfloat16, "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
PACKED_TYPES = {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2}
ALL_TYPES = [*BYTE_TYPES, *PACKED_TYPES, "STRING"]


def random_data(rng, name: str, shape) -> np.ndarray:
    """Elements as bit patterns: whole elements of byte types (NaN payloads too), numbers of packed ones, bytes of strings."""
    if name == "STRING":
        words = [b"", b"a", b"\xff\x00z", "ä".encode(), b"gather" * 9]
        return np.array([words[i] for i in rng.integers(0, len(words), int(np.prod(shape)))], object).reshape(shape)
    if name in PACKED_TYPES:
        return rng.integers(0, 1 << PACKED_TYPES[name], shape).astype(np.uint8)
    if name == "BOOL":
        return rng.integers(0, 2, shape).astype(np.uint8)
    size = np.dtype(BYTE_TYPES[name]).itemsize
    raw = rng.integers(0, 256, (*shape, size)).astype(np.uint8)
    return np.ascontiguousarray(raw).view(f"V{size}").reshape(shape)


def packed_bytes(numbers: np.ndarray, bits: int) -> bytes:
    """The first element in the lowest bits."""
    out = bytearray((numbers.size * bits + 7) // 8)
    for i, number in enumerate(numbers.reshape(-1)):
        out[i * bits // 8] |= int(number) << (i * bits % 8)
    return bytes(out)


def raw_bytes(name: str, data: np.ndarray) -> bytes:
    return packed_bytes(data, PACKED_TYPES[name]) if name in PACKED_TYPES else np.ascontiguousarray(data).tobytes()


def typed_field(tensor: TensorProto, name: str, data: np.ndarray) -> None:
    """The elements in the field of their type."""
    raw = raw_bytes(name, data)
    if name in ("FLOAT", "COMPLEX64"):
        tensor.float_data.extend(np.frombuffer(raw, np.float32))
    elif name in ("DOUBLE", "COMPLEX128"):
        tensor.double_data.extend(np.frombuffer(raw, np.float64))
    elif name == "INT64":
        tensor.int64_data.extend(np.frombuffer(raw, np.int64).tolist())
    elif name in ("UINT32", "UINT64"):
        tensor.uint64_data.extend(np.frombuffer(raw, np.uint32 if name == "UINT32" else np.uint64).tolist())
    else:
        kinds = {"INT32": np.int32, "INT16": np.int16, "UINT16": np.uint16, "INT8": np.int8}
        two = np.uint16 if name in ("FLOAT16", "BFLOAT16") else np.uint8
        tensor.int32_data.extend(np.frombuffer(raw, kinds.get(name, two)).astype(np.int32).tolist())


def tensor_of(name: str, type_name: str, data: np.ndarray, storage: str = "raw", folder: Path | None = None):
    """A TensorProto; storage: raw, typed, external."""
    tensor = TensorProto(name=name, data_type=TensorProto.DataType.Value(type_name), dims=data.shape)
    if type_name == "STRING":
        tensor.string_data.extend(data.reshape(-1).tolist())
    elif storage == "raw":
        tensor.raw_data = raw_bytes(type_name, data)
    elif storage == "typed":
        typed_field(tensor, type_name, data)
    else:
        at = folder / "weights.bin"
        begin = at.stat().st_size if at.exists() else 0
        with at.open("ab") as file:
            file.write(b"\x55" * 3 + raw_bytes(type_name, data))
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", begin + 3), ("length", len(raw_bytes(type_name, data)))):
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def take(data: np.ndarray, indices: np.ndarray, axis: int, batch_dims: int = 0) -> np.ndarray:
    """Gather by NumPy, batch by batch."""
    if batch_dims == 0:
        return np.take(data, indices, axis)
    parts = [take(d, i, axis - 1, batch_dims - 1) for d, i in zip(data, indices, strict=True)]
    return np.stack(parts)


def take_along(data: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    """GatherElements by NumPy; off the axis, indices may be shorter."""
    axis %= data.ndim
    crop = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))
    where = np.where(indices < 0, indices + data.shape[axis], indices)
    return np.take_along_axis(data[crop], where, axis)


def save(folder: Path, nodes, inputs: dict, outputs: dict, constants, opset: int) -> Path:
    graph = helper.make_graph(nodes, "g", declared(inputs), declared(outputs), constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_OF[opset])
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def test_set(folder: Path, inputs: list, *outputs) -> None:
    folder.mkdir()
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, tensor in enumerate(tensors):
            (folder / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


# ---- IR

IR_TYPES = {
    "boolean": ("BOOL", "BOOL"), "i8": ("INT8", "I8"), "i16": ("INT16", "I16"), "i32": ("INT32", "I32"),
    "i64": ("INT64", "I64"), "u8": ("UINT8", "U8"), "u16": ("UINT16", "U16"), "u32": ("UINT32", "U32"),
    "u64": ("UINT64", "U64"), "f16": ("FLOAT16", "FP16"), "bf16": ("BFLOAT16", "BF16"), "f32": ("FLOAT", "FP32"),
    "f64": ("DOUBLE", "FP64"), "f8e4m3": ("FLOAT8E4M3FN", "F8E4M3"), "f8e5m2": ("FLOAT8E5M2", "F8E5M2"),
    "f8e8m0": ("FLOAT8E8M0", "F8E8M0"), "u4": ("UINT4", "U4"), "i4": ("INT4", "I4"), "u2": ("UINT2", "U2"),
    "f4e2m1": ("FLOAT4E2M1", "F4E2M1"), "string": ("STRING", "STRING"),
}  # fmt: skip
# What a constant may be stored as besides; ONNX has no such type.
IR_STORED_TYPES = {**IR_TYPES, "nf4": ("UINT4", "NF4")}


def string_bytes(data: np.ndarray) -> bytes:
    """OpenVINO's form: how many, where each begins and the last ends, the text."""
    words = data.reshape(-1).tolist()
    ends = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int32)
    return struct.pack("<i", len(words)) + ends.tobytes() + b"".join(words)


class Net:
    """An IR file being written: layers, edges and the .bin."""

    def __init__(self):
        self.layers, self.edges, self.bin = [], [], bytearray()

    def ports(self, shape, precision: str, port: int, names: str = "") -> str:
        dims = "".join(f"<dim>{n}</dim>" for n in shape)
        named = f' names="{names}"' if names else ""
        return f'<output><port id="{port}" precision="{precision}"{named}>{dims}</port></output>'

    def layer(self, name, kind, version, data, inputs, output) -> int:
        number = len(self.layers)
        places = "".join(f'<port id="{i}"/>' for i in range(len(inputs)))
        taken = f"<input>{places}</input>" if inputs else ""
        self.layers.append(f'<layer id="{number}" name="{name}" type="{kind}" version="{version}">{data}{taken}{output}</layer>')
        for i, (source, port) in enumerate(inputs):
            self.edges.append(f'<edge from-layer="{source}" from-port="{port}" to-layer="{number}" to-port="{i}"/>')
        return number

    def const(self, name, type_name, array, names: str = "") -> tuple[int, int]:
        onnx_name, precision = IR_STORED_TYPES[type_name]
        content = string_bytes(array) if type_name == "string" else raw_bytes(onnx_name, array)
        begin = len(self.bin) + 1
        self.bin += b"\x55" + content
        shape = ",".join(map(str, array.shape))
        data = f'<data element_type="{type_name}" shape="{shape}" offset="{begin}" size="{len(content)}"/>'
        return self.layer(name, "Const", "opset1", data, [], self.ports(array.shape, precision, 0, names)), 0

    def parameter(self, name, type_name, shape, names: str = "") -> tuple[int, int]:
        data = f'<data shape="{",".join(map(str, shape))}" element_type="{type_name}"/>'
        return self.layer(name, "Parameter", "opset1", data, [], self.ports(shape, IR_STORED_TYPES[type_name][1], 0, names or name)), 0

    def node(self, name, kind, version, data, inputs, type_name, shape, names: str = "") -> tuple[int, int]:
        port = len(inputs)
        return self.layer(name, kind, version, data, inputs, self.ports(shape, IR_STORED_TYPES[type_name][1], port, names)), port

    def result(self, source: tuple[int, int], name: str) -> None:
        self.layer(name, "Result", "opset1", "", [source], "")

    def save(self, folder: Path, version: int = 11) -> Path:
        text = f'<?xml version="1.0"?>\n<net name="m" version="{version}"><layers>{"".join(self.layers)}</layers>'
        (folder / "model.bin").write_bytes(bytes(self.bin))
        path = folder / "model.xml"
        path.write_text(f"{text}<edges>{''.join(self.edges)}</edges></net>\n")
        return path


__all__ = ["numpy_helper", "onnx", "helper"]
