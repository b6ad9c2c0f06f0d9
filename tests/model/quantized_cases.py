# SPDX-License-Identifier: MIT
"""Random nodes of com.microsoft GatherBlockQuantized, and what they must give: NumPy loops written from the operator's schema.

Elements of less than a byte are one number each here; raw() packs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import run_models as models
from onnx import TensorProto, helper

FLOAT8 = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]
SCALES = {"FLOAT": np.float32, "FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16}
KINDS = ["INT4", "UINT4", "UINT8", *FLOAT8, "FLOAT4E2M1"]


@dataclass
class Case:
    """One node. The shapes of data and zero_points are those that the file stores: packed along the last dimension for uint8."""

    kind: str
    scale_kind: str
    data: np.ndarray  # numbers; raw bytes for uint8 and float8
    scales: np.ndarray
    zero_points: np.ndarray | None
    indices: np.ndarray
    attributes: dict = field(default_factory=dict)

    @property
    def bits(self) -> int:
        return self.attributes.get("bits", 4)

    @property
    def per_byte(self) -> int:
        return 8 // self.bits if self.kind == "UINT8" else 1


def unpack(data: np.ndarray, bits: int) -> np.ndarray:
    """Bytes as the numbers in them along the last dimension, low bits first."""
    parts = [(data >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*data.shape[:-1], -1)


def float4(numbers: np.ndarray) -> np.ndarray:
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    return table[numbers]


def values(case: Case) -> np.ndarray:
    """The numbers of data, before any scale: int32, or float32."""
    if case.kind in FLOAT8:
        return case.data.view(models.BYTE_TYPES[case.kind]).astype(np.float32)
    if case.kind == "FLOAT4E2M1":
        return float4(case.data)
    if case.kind == "INT4":
        return (case.data.astype(np.int32) ^ 8) - 8
    if case.kind == "UINT8":
        return unpack(case.data, case.bits).astype(np.int32)
    return case.data.astype(np.int32)


def zero_points(case: Case) -> np.ndarray | int:
    """For each scale, or for all."""
    if case.zero_points is None:
        return 1 << (case.bits - 1) if case.kind == "UINT8" else 0
    if case.kind == "INT4":
        return (case.zero_points.astype(np.int32) ^ 8) - 8
    if case.kind == "UINT8":
        return unpack(case.zero_points, case.bits)[..., : case.scales.shape[-1]].astype(np.int32)
    return case.zero_points.astype(np.int32)


def dequantized(case: Case) -> np.ndarray:
    """All of data: in float32, rounded once to the type of the scales."""
    whole = values(case)
    axis = case.attributes.get("quantize_axis", 1) % whole.ndim
    block = case.attributes.get("block_size", 128) or max(whole.shape[axis], 1)
    which = np.arange(whole.shape[axis]) // block
    scales = np.take(case.scales.astype(np.float32), which, axis)
    if case.kind in ("INT4", "UINT4", "UINT8"):
        points = zero_points(case)
        points = points if isinstance(points, int) else np.take(points, which, axis)
        whole = (whole - points).astype(np.float32)
    with np.errstate(all="ignore"):
        return (whole * scales).astype(SCALES[case.scale_kind])


def expected(case: Case) -> np.ndarray:
    """A slice of zeros for an index out of range; negative ones in range count from the end."""
    whole = dequantized(case)
    axis = case.attributes.get("gather_axis", 0) % whole.ndim
    count = whole.shape[axis]
    indices = case.indices.astype(np.int64)
    valid = (indices >= -count) & (indices < count)
    where = np.where(valid, np.where(indices < 0, indices + count, indices), 0)
    if count == 0:
        shape = (*whole.shape[:axis], *indices.shape, *whole.shape[axis + 1 :])
        return np.zeros(shape, whole.dtype)
    taken = np.take(whole, where, axis)
    keep = valid.reshape((1,) * axis + indices.shape + (1,) * (whole.ndim - axis - 1))
    return np.where(keep, taken, np.zeros((), whole.dtype))


def random_scales(rng, kind: str, shape) -> np.ndarray:
    wide = rng.standard_normal(shape) * np.exp2(rng.integers(-12, 9, shape))
    return wide.astype(SCALES[kind])


def attribute(rng, attributes: dict, name: str, value: int, rank: int, default: int) -> None:
    """An axis, counted from the front or from the back, and left out sometimes if it is the default."""
    if value == default and rng.integers(2):
        return
    attributes[name] = int(value if rng.integers(2) else value - rank)


def random_shape(rng, rank: int) -> list[int]:
    return [int(rng.integers(1, 6)) for _ in range(rank)]


def draw(rng, scale_kinds=("FLOAT", "FLOAT16"), bad: bool = True) -> Case:
    """A valid node. scale_kinds: those that the peer has kernels for; bad: with indices out of range."""
    kind = str(rng.choice(KINDS))
    scale_kind = str(rng.choice(scale_kinds))
    is_float = kind in FLOAT8 or kind == "FLOAT4E2M1"
    attributes: dict = {}
    bits = int(rng.choice([2, 4, 8])) if kind == "UINT8" else 4
    if bits != 4 or rng.integers(2):
        attributes["bits"] = bits
    rank = int(rng.integers(2, 5)) if kind == "UINT8" else int(rng.integers(1, 5))
    quantize = rank - 1 if kind == "UINT8" else int(rng.integers(rank))
    gather = 0 if kind == "UINT8" else int(rng.integers(rank))
    block = int(rng.choice([16, 32, 64, 128, 256]))
    if is_float and rng.integers(4) == 0:
        block = 0
    if block != 128 or rng.integers(2):
        attributes["block_size"] = block
    attribute(rng, attributes, "quantize_axis", quantize, rank, 1)
    attribute(rng, attributes, "gather_axis", gather, rank, 0)
    shape = random_shape(rng, rank)
    per_byte = 8 // bits if kind == "UINT8" else 1
    longest = {0: 40, 16: 70, 32: 100, 64: 150, 128: 300, 256: 530}[block]
    shape[quantize] = max(1, int(rng.integers(1, longest + 1)) // per_byte)
    logical = [*shape[:-1], shape[-1] * per_byte]
    blocks = -(-logical[quantize] // (block or max(logical[quantize], 1)))
    scale_shape = [blocks if d == quantize else n for d, n in enumerate(logical)]
    if is_float:
        scale_shape = [1 if d != quantize and rng.integers(4) == 0 else n for d, n in enumerate(scale_shape)]
    packed = kind not in FLOAT8 and kind != "UINT8"
    data = rng.integers(0, 16 if packed else 256, shape).astype(np.uint8)
    points = None
    if not is_float and rng.integers(2):
        point_shape = [*scale_shape[:-1], -(-scale_shape[-1] // per_byte)]
        points = rng.integers(0, 16 if packed else 256, point_shape).astype(np.uint8)
    index_shape = [int(rng.integers(1, 5)) for _ in range(int(rng.integers(0, 4)))]
    reach = 1.4 if bad and rng.integers(3) == 0 else 1
    low, high = int(-shape[gather] * reach) if reach == 1 else int(-shape[gather] * reach) - 1, int(shape[gather] * reach)
    indices = rng.integers(low, max(high, low + 1), index_shape).astype(rng.choice([np.int32, np.int64]))
    return Case(kind, scale_kind, data, random_scales(rng, scale_kind, scale_shape), points, indices, attributes)


def raw(name: str, kind: str, array: np.ndarray, storage: str = "raw", folder=None) -> TensorProto:
    return models.tensor_of(name, kind, array, storage, folder)


def index_kind(case: Case) -> str:
    return "INT32" if case.indices.dtype == np.int32 else "INT64"


def node_of(case: Case):
    inputs = ["data", "indices", "scales"] + (["zero_points"] if case.zero_points is not None else [])
    return helper.make_node("GatherBlockQuantized", inputs, ["y"], "g", domain="com.microsoft", **case.attributes)


def model_of(case: Case, indices_given: bool = False, storage: str = "raw", folder=None, opset: int = 23):
    """The model; the indices are an initializer, or its input."""
    constants = [
        raw("data", case.kind, case.data, storage, folder),
        raw("scales", case.scale_kind, case.scales, storage, folder),
    ]
    if case.zero_points is not None:
        constants.append(raw("zero_points", case.kind, case.zero_points, storage, folder))
    inputs = []
    if indices_given:
        number = TensorProto.DataType.Value(index_kind(case))
        inputs.append(helper.make_tensor_value_info("indices", number, case.indices.shape))
    else:
        constants.append(raw("indices", index_kind(case), case.indices))
    out = helper.make_tensor_value_info("y", TensorProto.DataType.Value(case.scale_kind), None)
    graph = helper.make_graph([node_of(case)], "g", inputs, [out], constants)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=models.IR_OF[opset])


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit, except that every NaN equals every other."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    bits = np.uint32 if a.dtype.itemsize == 4 else np.uint16
    nan = np.isnan(a.astype(np.float32)) & np.isnan(b.astype(np.float32))
    return bool(np.all((np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)) | nan))
