# SPDX-License-Identifier: MIT
"""Files with quantised tensors in every layout that tables decode, and their values, computed here from the layouts' descriptions."""
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

F32 = np.float32
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], F32)
# bitsandbytes 0.50, functional.py and csrc: the values of NF4, and FP4 (bit 3 is the sign).
NF4 = np.array(
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
     -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
     0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], F32)  # fmt: skip
FP4 = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3], F32) / F32(12)
FP4 = np.concatenate([FP4, F32(0) - FP4])  # no negative zero: docs/extend/readings.md


def e4m3(codes: np.ndarray) -> np.ndarray:
    """float8_e4m3fn of bytes, without ml_dtypes."""
    codes = codes.astype(np.int64)
    exponent, fraction = codes >> 3 & 15, codes & 7
    value = np.where(exponent > 0, (8 + fraction) * 2.0 ** (exponent - 10.0), fraction * 2.0**-9)
    value = np.where((codes & 127) == 127, np.nan, value)
    return np.where(codes & 128, -value, value).astype(F32)


def bf16(numbers: np.ndarray) -> np.ndarray:
    """The upper halves, as uint16: only of numbers that bfloat16 has."""
    return (np.ascontiguousarray(numbers, F32).view(np.uint32) >> 16).astype(np.uint16)


# ---- safetensors, written by hand: their package does not write every type ----


def safetensors(tensors: dict[str, tuple[str, tuple[int, ...], bytes]]) -> bytes:
    """name: (dtype, shape, bytes)."""
    header, at = {}, 0
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(content)]}
        at += len(content)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(content for _, _, content in tensors.values())


DTYPES = {"u1": "U8", "u4": "U32", "i4": "I32", "f4": "F32", "f2": "F16", "u2": "BF16"}


def part(array: np.ndarray, dtype: str | None = None) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(array)
    little = array.astype(array.dtype.newbyteorder("<"))
    return dtype or DTYPES[array.dtype.str[1:]], array.shape, little.tobytes()


@dataclass
class Stored:
    """One quantised tensor: the tensors of its file, the name of the one with the codes, its codec, and its values."""

    name: str
    tensors: dict[str, tuple[str, tuple[int, ...], bytes]]
    values: np.ndarray
    codec: str
    given: str = ""  # the codec that the caller must name
    layout: str = ""
    sides: list[str] = field(default_factory=list)  # the names of the side tensors that are needed

    def write(self, path: Path) -> str:
        """The name of the tensor in a file of this path."""
        path.write_bytes(safetensors(self.tensors))
        return f"{path}:{self.name}"


def nibbles(codes: np.ndarray, high_first: bool = False) -> np.ndarray:
    """Two codes to a byte, along the last axis."""
    first, second = codes[..., 0::2].astype(np.uint8), codes[..., 1::2].astype(np.uint8)
    return (first << 4 | second) if high_first else (first | second << 4)


def mxfp4(rng, rows: int = 40, inner: int = 3, groups: int = 2) -> Stored:
    """gpt-oss: three dimensions, and scales that are powers of two."""
    codes = rng.integers(0, 16, (rows, inner, groups, 32))
    scale = rng.integers(100, 150, (rows, inner, groups), dtype=np.uint8)
    values = E2M1[codes] * np.ldexp(F32(1), scale.astype(np.int32) - 127)[..., None].astype(F32)
    tensors = {"w_blocks": part(nibbles(codes)), "w_scales": part(scale)}
    return Stored("w_blocks", tensors, values.reshape(rows, inner, groups * 32), "float", layout="MXFP4 (gpt-oss)",
                  sides=["w_scales"])  # fmt: skip


def _nvfp4(rng, rows: int, length: int, names: list[str], divides: bool) -> Stored:
    codes = rng.integers(0, 16, (rows, length))
    scale = rng.integers(0, 127, (rows, length // 16), dtype=np.uint8)
    factor = np.array([rng.uniform(0.01, 3)], F32)
    each = e4m3(scale) / factor[0] if divides else e4m3(scale) * factor[0]
    values = E2M1[codes] * np.repeat(each, 16, axis=1)
    tensors = {names[0]: part(nibbles(codes)), names[1]: part(scale, "F8_E4M3"), names[2]: part(factor)}
    return Stored(names[0], tensors, values.astype(F32), "float", sides=names[1:])


def nvfp4(rng, rows: int = 40, length: int = 96) -> Stored:
    stored = _nvfp4(rng, rows, length, ["a.weight", "a.weight_scale", "a.weight_scale_2"], False)
    stored.layout = "NVFP4 (ModelOpt)"
    return stored


def nvfp4_compressed(rng, rows: int = 40, length: int = 96) -> Stored:
    stored = _nvfp4(rng, rows, length, ["a.weight_packed", "a.weight_scale", "a.weight_global_scale"], True)
    stored.layout = "NVFP4 (compressed-tensors)"
    return stored


def _fp8(rng, rows: int, length: int, scale: np.ndarray, each: np.ndarray, name: str) -> Stored:
    codes = rng.integers(0, 255, (rows, length), dtype=np.uint8)
    codes[(codes & 127) == 127] = 5
    values = e4m3(codes) * each
    tensors = {"b.weight": part(codes, "F8_E4M3"), f"b.{name}": part(scale)}
    return Stored("b.weight", tensors, values.astype(F32), "float", layout="FP8", sides=[f"b.{name}"])


def fp8_blocks(rng, rows: int = 300, length: int = 200) -> Stored:
    scale = rng.uniform(0.01, 3, (-(-rows // 128), -(-length // 128))).astype(F32)
    each = np.repeat(np.repeat(scale, 128, 0)[:rows], 128, 1)[:, :length]
    return _fp8(rng, rows, length, scale, each, "weight_scale_inv")


def fp8_rows(rng, rows: int = 40, length: int = 50) -> Stored:
    scale = rng.uniform(0.01, 3, (rows, 1)).astype(F32)
    return _fp8(rng, rows, length, scale, scale, "weight_scale")


def fp8_rows_bf16(rng, rows: int = 40, length: int = 50) -> Stored:
    scale = rng.integers(1, 100, rows).astype(F32)
    return _fp8(rng, rows, length, bf16(scale), scale[:, None], "weight_scale")


def fp8_tensor(rng, rows: int = 40, length: int = 50) -> Stored:
    scale = np.array(rng.uniform(0.01, 3), F32)
    return _fp8(rng, rows, length, scale, scale, "weight_scale")


def _four_bits(rng, kind: str, rows: int, length: int, block: int, nested: bool) -> Stored:
    """bitsandbytes: flat, the first code of a byte in its high bits; blocks count through the whole tensor."""
    table = NF4 if kind == "nf4" else FP4
    codes = rng.integers(0, 16, rows * length)
    blocks = -(-codes.size // block)
    state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": [rows, length]}
    tensors = {"c.weight": part(nibbles(codes, True)[:, None])}
    if nested:
        code = np.sort(rng.uniform(-1, 1, 256)).astype(F32)
        outer = rng.uniform(0.1, 2, -(-blocks // 256)).astype(F32)
        quantised = rng.integers(0, 256, blocks, dtype=np.uint8)
        offset = F32(0.25)
        absmax = code[quantised] * np.repeat(outer, 256)[:blocks] + offset
        state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": float(offset)}
        tensors |= {"c.weight.absmax": part(quantised), "c.weight.nested_absmax": part(outer),
                    "c.weight.nested_quant_map": part(code)}  # fmt: skip
    else:
        absmax = rng.uniform(0.1, 2, blocks).astype(F32)
        tensors["c.weight.absmax"] = part(absmax)
    tensors["c.weight.quant_map"] = part(table)
    text = json.dumps(state).encode()
    tensors[f"c.weight.quant_state.bitsandbytes__{kind}"] = part(np.frombuffer(text, np.uint8))
    values = table[codes] * np.repeat(absmax, block)[: codes.size]
    return Stored("c.weight", tensors, values.astype(F32).reshape(rows, length), kind,
                  layout=f"{kind.upper()} (bitsandbytes)", sides=[name for name in tensors if name != "c.weight"])  # fmt: skip


def nf4(rng, rows: int = 40, length: int = 192) -> Stored:
    return _four_bits(rng, "nf4", rows, length, 64, False)


def nf4_nested(rng, rows: int = 400, length: int = 192) -> Stored:
    return _four_bits(rng, "nf4", rows, length, 64, True)


def nf4_across(rng, rows: int = 40, length: int = 90) -> Stored:
    return _four_bits(rng, "nf4", rows, length, 64, False)


def nf4_nested_across(rng, rows: int = 400, length: int = 90) -> Stored:
    return _four_bits(rng, "nf4", rows, length, 64, True)


def fp4(rng, rows: int = 40, length: int = 128) -> Stored:
    return _four_bits(rng, "fp4", rows, length, 128, False)


def _mlx(rng, bits: int, group: int, given: str, rows: int = 40, length: int = 256) -> Stored:
    codes = rng.integers(0, 1 << bits, (rows, length), dtype=np.uint32)
    each = 32 // bits
    words = np.zeros((rows, length // each), np.uint32)
    for i in range(each):
        words |= codes[:, i::each] << np.uint32(bits * i)
    scale = rng.uniform(0.1, 2, (rows, length // group)).astype(np.float16)
    bias = rng.uniform(-3, 3, (rows, length // group)).astype(np.float16)
    values = codes.astype(F32) * np.repeat(scale.astype(F32), group, 1) + np.repeat(bias.astype(F32), group, 1)
    tensors = {"d.weight": part(words), "d.scales": part(scale), "d.biases": part(bias)}
    return Stored("d.weight", tensors, values, "biased", given, "affine (MLX)", ["d.scales", "d.biases"])


def mlx4(rng) -> Stored:
    return _mlx(rng, 4, 64, "biased:4")


def mlx8(rng) -> Stored:
    return _mlx(rng, 8, 32, "biased:8")


def mlx2(rng) -> Stored:
    return _mlx(rng, 2, 32, "")


def rowwise8(rng, rows: int = 40, length: int = 50) -> Stored:
    """FBGEMM: a row is its codes, then a scale and a bias."""
    codes = rng.integers(0, 256, (rows, length), dtype=np.uint8)
    about = rng.uniform(-2, 2, (rows, 2)).astype("<f4")
    values = codes.astype(np.float64) * about[:, :1] + about[:, 1:]  # rounded once, as by fma
    tensors = {"e": part(np.concatenate([codes, about.view(np.uint8)], axis=1))}
    return Stored("e", tensors, values.astype(F32), "rowwise8", "rowwise8", "rows of a codec that the caller gave")


def rowwise4(rng, rows: int = 40, length: int = 50) -> Stored:
    codes = rng.integers(0, 16, (rows, length), dtype=np.uint8)
    about = rng.uniform(-2, 2, (rows, 2)).astype("<f2")
    values = codes.astype(F32) * about[:, :1].astype(F32) + about[:, 1:].astype(F32)
    tensors = {"e": part(np.concatenate([nibbles(codes), about.view(np.uint8)], axis=1))}
    return Stored("e", tensors, values.astype(F32), "rowwise4", "rowwise4", "rows of a codec that the caller gave")


MAKERS = [mxfp4, nvfp4, nvfp4_compressed, fp8_blocks, fp8_rows, fp8_rows_bf16, fp8_tensor, nf4, nf4_nested, nf4_across,
          nf4_nested_across, fp4, mlx4, mlx8, mlx2, rowwise8, rowwise4]  # fmt: skip
