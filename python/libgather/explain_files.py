# SPDX-License-Identifier: MIT
#
# explain_files.py: tensors as files for the command that draws, .npy or ONNX's TensorProto for types that .npy has not.
"""Tensors as files in a temporary folder."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from libgather.errors import refuse
from libgather.model_types import dtype_of

MOST_BYTES = 256 << 20
# TensorProto.DataType of what .npy has not.
_ONNX = {
    **{"string": 8, "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19},
    **{"float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24},
    **{"uint2": 25, "int2": 26, "float6_e2m3fn": 27, "float6_e3m2fn": 28},
}


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _tensor_proto(kind: str, shape: tuple[int, ...], elements: Any) -> bytes:
    """An ONNX TensorProto: its fields 1 (dims), 2 (data_type), and 6 (string_data) or 9 (raw_data)."""
    made = [b"\x08" + _varint(length) for length in shape] + [b"\x10" + _varint(_ONNX[kind])]
    if kind == "string":
        made += [b"\x32" + _varint(len(text)) + text for text in elements]
    else:
        made += [b"\x4a" + _varint(elements.nbytes), elements.tobytes()]
    return b"".join(made)


def numpy_of(value: Any) -> np.ndarray:
    """Any tensor as a NumPy array; torch's tensors of types that NumPy has not by way of their bytes."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        if kind in _ONNX:
            flat = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
            return flat.view(dtype_of(kind)).reshape(tuple(value.shape))
        return value.detach().numpy()
    return np.asarray(value)


def _check_size(role: str, elements: Any, advice: str) -> None:
    size = elements.nbytes if isinstance(elements, np.ndarray) else sum(map(len, elements))
    if size > MOST_BYTES:
        most = f"at most {MOST_BYTES >> 20} MiB are handed over to be drawn"
        message = f"'{role}' has {size / 2**30:.1f} GiB, and {most}: {advice}"
        refuse("usage", message, role if role in ("data", "indices") else None)


def write_tensor(folder: str, role: str, item: tuple, advice: str) -> str:
    """Writes one tensor and gives the name of its file."""
    _, value, kind, shape = item
    if kind is None:
        value = numpy_of(value)
        kind, shape = value.dtype.name, value.shape
    _check_size(role, value, advice)
    if kind in _ONNX:
        with open(os.path.join(folder, f"{role}.pb"), "wb") as file:
            file.write(_tensor_proto(kind, shape, value))
        return f"{role}.pb"
    if item[2] is not None or value.dtype.hasobject:
        refuse("type_unsupported", f"'{role}' is {kind}, which cannot be drawn")
    np.save(os.path.join(folder, f"{role}.npy"), value, allow_pickle=False)
    return f"{role}.npy"
