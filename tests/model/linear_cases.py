# SPDX-License-Identifier: MIT
"""Random ONNX models DequantizeLinear -> Gather of constants, and what they must give."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import quantized_cases as quantized
import run_models as models
from onnx import TensorProto, helper

# From which opset on; the numbers of each type.
KINDS = {"INT8": 10, "UINT8": 10, "INT32": 10, "INT16": 21, "UINT16": 21, "INT4": 21, "UINT4": 21, "INT2": 25, "UINT2": 25,
         "FLOAT8E4M3FN": 19, "FLOAT8E5M2": 19, "FLOAT4E2M1": 23}  # fmt: skip
FLOATS = [kind for kind in KINDS if kind.startswith("FLOAT")]


@dataclass
class Linear:
    kind: str
    opset: int
    data: np.ndarray  # as stored; less than a byte: one number each
    scale_kind: str
    scale: np.ndarray
    zero_point: np.ndarray | None
    indices: np.ndarray
    gather_axis: int
    output: str = ""  # output_dtype
    attributes: dict = field(default_factory=dict)


def numbers(kind: str, array: np.ndarray) -> np.ndarray:
    if kind in models.PACKED_TYPES and kind.startswith("INT"):
        half = 1 << (models.PACKED_TYPES[kind] - 1)
        return (array.astype(np.int64) ^ half) - half
    if kind == "FLOAT4E2M1":
        return quantized.float4(array)
    if kind in FLOATS:
        return array.view(models.BYTE_TYPES[kind]).astype(np.float32)
    return array.astype(np.int64)


def along(case: Linear, side: np.ndarray) -> np.ndarray:
    """Numbers of a side tensor, one for each element of data."""
    if side.size == 1 and side.ndim < 2:
        return np.broadcast_to(side.reshape(()), case.data.shape)
    axis, block = case.attributes.get("axis", 1) % case.data.ndim, case.attributes.get("block_size", 0)
    if block:
        return np.take(side, np.arange(case.data.shape[axis]) // block, axis)
    shape = [1] * case.data.ndim
    shape[axis] = -1
    return np.broadcast_to(side.reshape(shape), case.data.shape)


def expected(case: Linear) -> np.ndarray:
    whole = numbers(case.kind, case.data)
    if case.zero_point is not None and case.kind not in FLOATS:
        whole = whole - along(case, numbers(case.kind, case.zero_point))
    with np.errstate(all="ignore"):
        table = whole.astype(np.float32) * along(case, case.scale).astype(np.float32)
        table = table.astype(quantized.SCALES[case.output or case.scale_kind])
    axis = case.gather_axis % table.ndim
    return np.take(table, np.where(case.indices < 0, case.indices + table.shape[axis], case.indices), axis)


def random_numbers(rng, kind: str, shape) -> np.ndarray:
    if kind in models.PACKED_TYPES:
        return rng.integers(0, 1 << models.PACKED_TYPES[kind], shape).astype(np.uint8)
    if kind in FLOATS:
        return rng.integers(0, 0x7C, shape).astype(np.uint8)
    info = np.iinfo(models.BYTE_TYPES[kind])
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(models.BYTE_TYPES[kind])


def draw(rng, scale_kinds=("FLOAT", "FLOAT16")) -> Linear:
    opset = int(rng.choice([13, 19, 21, 23, 25]))
    kind = str(rng.choice([kind for kind, since in KINDS.items() if since <= opset]))
    scale_kind = str(rng.choice(scale_kinds)) if opset >= 19 else "FLOAT"
    shape = [int(rng.integers(1, 7)) for _ in range(int(rng.integers(1, 4)))]
    shape[-1] = int(rng.integers(1, 50))
    axis = int(rng.integers(len(shape)))
    form = str(rng.choice(["tensor", "axis", "block"] if opset >= 21 else ["tensor", "axis"]))
    attributes: dict = {}
    side: list[int] = []
    if form != "tensor":
        attributes["axis"] = int(axis - len(shape) if rng.integers(2) else axis)
        side = [shape[axis]]
    if form == "block":
        attributes["block_size"] = block = int(rng.integers(1, shape[axis] + 1))
        side = [-(-n // block) if d == axis else n for d, n in enumerate(shape)]
    point = None
    if kind in FLOATS:
        point = np.zeros(side, np.uint8) if rng.integers(3) == 0 else None
    elif rng.integers(2):
        point = np.zeros(side, np.int32) if kind == "INT32" else random_numbers(rng, kind, side)
    output = str(rng.choice(["", *scale_kinds])) if opset >= 23 else ""
    if output:
        attributes["output_dtype"] = TensorProto.DataType.Value(output)
    gather_axis = int(rng.integers(-len(shape), len(shape)))
    indices = rng.integers(-shape[gather_axis], shape[gather_axis], [int(rng.integers(1, 5)) for _ in range(int(rng.integers(3)))])
    scale = (rng.standard_normal(side) * 0.05).astype(quantized.SCALES[scale_kind])
    return Linear(kind, opset, random_numbers(rng, kind, shape), scale_kind, scale, point, indices.astype(np.int64), gather_axis,
                  output, attributes)  # fmt: skip


def model_of(case: Linear, domain: str = ""):
    constants = [
        models.tensor_of("x", case.kind, case.data),
        models.tensor_of("scale", case.scale_kind, case.scale),
        models.tensor_of("indices", "INT64", case.indices),
    ]
    inputs = ["x", "scale"]
    if case.zero_point is not None:
        constants.append(models.tensor_of("point", case.kind, case.zero_point))
        inputs.append("point")
    nodes = [
        helper.make_node("DequantizeLinear", inputs, ["table"], "d", domain=domain, **case.attributes),
        helper.make_node("Gather", ["table", "indices"], ["y"], "g", axis=case.gather_axis),
    ]
    out = helper.make_tensor_value_info("y", TensorProto.DataType.Value(case.output or case.scale_kind), None)
    opsets = [helper.make_opsetid("", case.opset), helper.make_opsetid("com.microsoft", 1)]
    version = {13: 7, 19: 9, 21: 10, 23: 11, 25: 13}[case.opset]
    return helper.make_model(helper.make_graph(nodes, "g", [], [out], constants), opset_imports=opsets, ir_version=version)
