# SPDX-License-Identifier: MIT
"""Random gathers from OpenVINO's compressed constants, and what they must give: NumPy on the whole decoded table.

Constant -> Convert [-> Subtract] -> Multiply [-> Reshape] [-> Convert] -> Gather, as NNCF and OpenVINO's own tools write them.
Everything is computed in float32 and rounded once, at the end: docs/extend/readings.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import run_models as models

INTEGERS = {"u8": (0, 256), "i8": (-128, 128), "u4": (0, 16), "i4": (-8, 8)}
FLOATS = ["f8e4m3", "f8e5m2", "f4e2m1", "nf4"]
RESULTS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
NF4 = np.array(
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
     -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
     0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], np.float32)  # fmt: skip
FLOAT4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


@dataclass
class Compressed:
    """One model. codes: the constant's elements as stored, one number each; side tensors as they are stored."""

    kind: str
    codes: np.ndarray
    middle: str  # what the first Convert makes
    scale: np.ndarray
    scale_kind: str
    zero_point: np.ndarray | None
    zero_kind: str
    reshape: list[int] | None
    final: str  # what the gather takes
    opset: int
    axis: int
    batch_dims: int
    indices: np.ndarray


def numbers(kind: str, codes: np.ndarray) -> np.ndarray:
    """What stored elements mean, in float32."""
    if kind in ("i4",):
        return ((codes.astype(np.int32) ^ 8) - 8).astype(np.float32)
    if kind == "nf4":
        return NF4[codes]
    if kind == "f4e2m1":
        return FLOAT4[codes]
    if kind in models.IR_STORED_TYPES and kind not in models.PACKED_TYPES and kind != "u4":
        return codes.view(models.BYTE_TYPES[models.IR_STORED_TYPES[kind][0]]).astype(np.float32)
    return codes.astype(np.float32)


def table(case: Compressed) -> np.ndarray:
    """What the gather takes, whole, in float32."""
    whole = rounded(numbers(case.kind, case.codes), case.middle).astype(np.float32)  # rounds nf4 only
    if case.zero_point is not None:
        whole = whole - numbers(case.zero_kind, case.zero_point)
    whole = whole * numbers(case.scale_kind, case.scale)
    return whole if case.reshape is None else whole.reshape(case.reshape)


def rounded(numbers_: np.ndarray, kind: str) -> np.ndarray:
    return numbers_.astype(RESULTS[kind])


def expected(case: Compressed) -> np.ndarray:
    """Gather of valid indices."""
    whole = rounded(table(case), case.final)
    axis = case.axis % whole.ndim
    indices = np.where(case.indices < 0, case.indices + whole.shape[axis], case.indices)
    return models.take(whole, indices, axis, case.batch_dims)


def codes_of(rng, kind: str, shape) -> np.ndarray:
    if kind in ("u4", "i4", "nf4", "f4e2m1"):
        return rng.integers(0, 16, shape).astype(np.uint8)
    if kind.startswith("f8"):
        return rng.integers(0, 0x7C, shape).astype(np.uint8) | (rng.integers(0, 2, shape) << 7).astype(np.uint8)
    low, high = INTEGERS[kind]
    return rng.integers(low, high, shape).astype(np.uint8 if kind == "u8" else np.int8)


def floats_of(rng, kind: str, shape, size: float) -> np.ndarray:
    return (rng.standard_normal(shape) * size).astype(RESULTS[kind])


def side_shape(rng, shape, flat: bool) -> list[int]:
    """A shape that broadcasts to that one; flat: full lengths, then ones, which is what OpenVINO's fused kernel computes."""
    full = int(rng.integers(0, len(shape) + 1))
    lengths = [n if (d < full if flat else rng.integers(2)) else 1 for d, n in enumerate(shape)]
    while lengths and lengths[0] == 1 and rng.integers(4) == 0:
        del lengths[0]
    return lengths


def draw_reshape(rng, shape) -> list[int] | None:
    """Merges or splits dimensions after the first."""
    if len(shape) < 3 or rng.integers(3) == 0:
        return None
    return [shape[0], int(np.prod(shape[1:]))] if rng.integers(4) else [*shape[:-2], shape[-2] * shape[-1]]


def draw(rng, flat: bool = False) -> Compressed:
    kind = str(rng.choice([*INTEGERS, *INTEGERS, *FLOATS]))
    shape = [int(rng.integers(1, 6)) for _ in range(int(rng.choice([1, 2, 2, 2, 3, 3, 3, 4])))]
    shape[-1] = int(rng.integers(1, 40))
    middle = str(rng.choice(["f32", "f16"]))
    scale_kind = "f16" if middle == "f16" else str(rng.choice(["f32", "f16"]))
    point, zero_kind = None, ""
    if kind in INTEGERS and rng.integers(2):
        zero_kind = str(rng.choice([kind, middle]))
        zero_shape = side_shape(rng, shape, flat)
        point = codes_of(rng, kind, zero_shape) if zero_kind == kind else floats_of(rng, middle, zero_shape, 8)
    reshape = draw_reshape(rng, shape)
    final = "f32" if middle == "f32" or rng.integers(2) else "f16"
    outer = reshape or shape
    axis = 0 if rng.integers(3) else int(rng.integers(len(outer)))
    opset = int(rng.choice([1, 7, 8, 8]))
    batch_dims = int(rng.integers(0, axis + 1)) if opset > 1 and len(outer) > 1 else 0
    index_shape = [*outer[:batch_dims], *(int(rng.integers(1, 5)) for _ in range(int(rng.integers(0, 3))))]
    low = -outer[axis] if opset == 8 else 0
    indices = rng.integers(low, outer[axis], index_shape).astype(rng.choice([np.int32, np.int64]))
    if rng.integers(2):
        axis -= len(outer)
    scale = floats_of(rng, scale_kind, side_shape(rng, shape, flat), 0.05)
    return Compressed(kind, codes_of(rng, kind, shape), middle, scale, scale_kind, point, zero_kind, reshape, final,
                      opset, axis, batch_dims, indices)  # fmt: skip


def converted(net: models.Net, name: str, source, to: str, shape):
    data = f'<data destination_type="{to}"/>'
    return net.node(name, "Convert", "opset1", data, [source], to, shape)


def side(net: models.Net, name: str, kind: str, array: np.ndarray, to: str):
    source = net.const(name, kind, array)
    return source if kind == to else converted(net, f"{name}_convert", source, to, array.shape)


def weights(net: models.Net, case: Compressed, prefix: str):
    """The nodes before the gather."""
    shape, words = case.codes.shape, '<data auto_broadcast="numpy"/>'
    at = converted(net, prefix + "convert", net.const(prefix + "codes", case.kind, case.codes), case.middle, shape)
    if case.zero_point is not None:
        point = side(net, prefix + "zero_point", case.zero_kind, case.zero_point, case.middle)
        at = net.node(prefix + "subtract", "Subtract", "opset1", words, [at, point], case.middle, shape)
    scale = side(net, prefix + "scale", case.scale_kind, case.scale, case.middle)
    at = net.node(prefix + "multiply", "Multiply", "opset1", words, [at, scale], case.middle, shape)
    if case.reshape is not None:
        to = net.const(prefix + "to", "i64", np.array(case.reshape, np.int64))
        shape = case.reshape
        at = net.node(prefix + "reshape", "Reshape", "opset1", '<data special_zero="false"/>', [at, to], case.middle, shape)
    return at if case.final == case.middle else converted(net, prefix + "last", at, case.final, shape)


def write(drawn: list[Compressed], folder: Path, given: bool = False) -> Path:
    """A model of all of them: the gathers g0, g1 .. with the outputs y0, y1 .. Their indices are constants, or the inputs i0, i1 .."""
    net = models.Net()
    for number, case in enumerate(drawn):
        at = weights(net, case, f"{number}/")
        kind = "i32" if case.indices.dtype == np.int32 else "i64"
        source = net.parameter if given else net.const
        indices = source(f"i{number}", kind, case.indices.shape if given else case.indices)
        axis = net.const(f"{number}/axis", "i64", np.array(case.axis, np.int64))
        words = f'<data batch_dims="{case.batch_dims}"/>' if case.opset > 1 else ""
        out = net.node(f"g{number}", "Gather", f"opset{case.opset}", words, [at, indices, axis], case.final, expected(case).shape)
        net.result(out, f"y{number}")
    return net.save(folder)
