# SPDX-License-Identifier: MIT
"""Codes with side tensors against NumPy: 20,000 random tensors, every output type; and each format that docs/embed/codecs.md describes."""
import ml_dtypes
import numpy as np
import pytest

import native
from oracle import f32, grouped

OUTPUTS = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
SMALL = {
    "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
}  # fmt: skip


def stored(codes: np.ndarray, bits: int, word: int, high_first: bool) -> np.ndarray:
    """Codes in little-endian words of `word` bytes, each row padded to whole words."""
    shifts = np.arange(bits)
    stream = (codes[..., None].astype(np.uint8) >> shifts & 1).astype(np.uint8)
    if high_first:
        stream = stream[..., ::-1]
    stream = stream.reshape(*codes.shape[:-1], -1)
    padding = -stream.shape[-1] % (8 * word)
    stream = np.concatenate([stream, np.zeros((*stream.shape[:-1], padding), np.uint8)], -1)
    packed = np.packbits(stream, axis=-1, bitorder="big" if high_first else "little")
    return np.ascontiguousarray(packed).view(f"<u{word}")


def code_values(codes: np.ndarray, kind: str) -> np.ndarray:
    """Codes as numbers of a type."""
    if kind in SMALL:
        return codes.astype(np.uint8).view(getattr(ml_dtypes, kind)).astype(f32)
    return codes.astype(f32)


def numbers(rng, shape) -> np.ndarray:
    """Numbers of a random type, native or swapped."""
    kind = rng.choice(["float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint32", "float8_e4m3fn"])
    values = np.asarray(rng.standard_normal(shape) * 30)
    if kind[0] == "u":
        values = np.asarray(abs(values))
    if hasattr(ml_dtypes, kind):
        return values.astype(getattr(ml_dtypes, kind))
    array = np.asarray(values).astype(kind)
    return array.astype(array.dtype.newbyteorder()) if rng.random() < 0.3 else array


def as_float32(side: np.ndarray) -> np.ndarray:
    return side.astype(side.dtype.newbyteorder("=")).astype(f32)


def repeated(side: np.ndarray, shape, groups) -> np.ndarray:
    """A number for each element, by repetition along each dimension."""
    for d, n in enumerate(shape):
        side = np.repeat(side, groups[d], axis=d).take(range(n), axis=d) if side.shape[d] > 1 else side
    return np.broadcast_to(side, shape)


def test_the_two_ways_to_find_groups_agree() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        shape, groups = rng.integers(1, 7, 3), rng.integers(1, 8, 3)
        side = rng.standard_normal([-(-n // g) for n, g in zip(shape, groups)])
        assert np.array_equal(repeated(side, shape, groups), grouped(tuple(shape), groups, side))


@pytest.mark.parametrize("part", range(4))
def test_random_tensors(part: int) -> None:
    rng = np.random.default_rng(100 + part)
    for case in range(5000):
        shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(0, 3))) + (int(rng.integers(1, 50)),)
        groups = tuple(int(rng.integers(1, n + 3)) for n in shape)
        sides = tuple(-(-n // g) if rng.random() < 0.8 else 1 for n, g in zip(shape, groups))
        fields: dict = {"groups": groups}
        is_float = rng.random() < 0.4
        kind = str(rng.choice(list(SMALL))) if is_float else "uint8"
        bits = SMALL[kind] if is_float else int(rng.integers(1, 9))
        codes = rng.integers(0, 1 << bits, shape)
        word = int(rng.choice([1, 1, 2, 4, 8]))
        high = bool(word == 1 and bits in (1, 2, 4) and rng.random() < 0.5)
        data = stored(codes, bits, word, high)
        if not high and rng.random() < 0.3:
            data = data.astype(data.dtype.newbyteorder(">"))
        fields |= {"code_type": kind, "code_bits": bits, "order": int(high), "shape": shape}
        values, scale = code_values(codes, kind), numbers(rng, sides)
        with np.errstate(all="ignore"):
            factor, fields["scale"] = as_float32(scale), scale
            codec = "float" if is_float else str(rng.choice(["affine", "biased"]))
            if codec == "affine":
                fields["code_offset"] = int(rng.integers(-5, 130))
                values = values - f32(fields["code_offset"])
                if rng.random() < 0.7:
                    fields["zero_point"] = numbers(rng, sides)
                    values = values - repeated(as_float32(fields["zero_point"]), shape, groups)
            if codec != "biased" and rng.random() < 0.3:
                fields["scale2"], fields["scale2_divides"] = numbers(rng, ()), bool(rng.random() < 0.5)
                second = as_float32(fields["scale2"])
                factor = factor / second if fields["scale2_divides"] else factor * second
            values = values * repeated(factor, shape, groups)
            if codec == "biased":
                fields["bias"] = numbers(rng, sides)
                values = values + repeated(as_float32(fields["bias"]), shape, groups)
            name = list(OUTPUTS)[case % 3]
            expected = values.astype(f32).astype(OUTPUTS[name])
        got = native.dequantize(native.describe(codec, data, **fields), name)
        assert native.same(got, expected), (case, codec, kind, bits, word, high, shape, groups)


def test_wide_floats() -> None:
    """Floats of more than 8 bits: any strides and byte order, with scales and without, in their own shape and in another."""
    rng = np.random.default_rng(11)
    for case in range(300):
        shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(0, 3))) + (int(rng.choice([1, 7, 40, 1500])),)
        kind = np.dtype([np.float16, ml_dtypes.bfloat16, np.float32, np.float64][case % 4])
        with np.errstate(all="ignore"):
            data = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 6, shape)).astype(kind)
            values = as_float32(data)
        way = int(rng.integers(0, 4))
        fields: dict = {}
        if way == 1:
            data = data.astype(data.dtype.newbyteorder(">")) if kind.num < 256 else data
        elif way == 2:
            wider = np.zeros((*shape[:-1], 3 * shape[-1]), kind)
            wider[..., ::3] = data
            data = wider[..., ::3]
        elif way == 3:
            fields["shape"] = shape
            data = data.reshape(-1, shape[-1])
        factor = np.float32(1)
        if rng.random() < 0.5:
            groups = tuple(int(rng.integers(1, n + 3)) for n in shape)
            fields |= {"groups": groups, "scale": numbers(rng, tuple(-(-n // g) for n, g in zip(shape, groups)))}
            with np.errstate(all="ignore"):
                factor = repeated(as_float32(fields["scale"]), shape, groups)
        name = list(OUTPUTS)[case % 3]
        described = native.describe("float", data, **fields)
        with np.errstate(all="ignore"):
            expected = (values * factor).astype(f32).astype(OUTPUTS[name])
        assert native.same(native.dequantize(described, name), expected), (case, kind, way, shape, fields.keys())
        if len(shape) > 1:
            wanted = ids(rng, shape[0])
            assert native.same(native.take(described, wanted, name=name), expected[wanted]), (case, kind, way, shape)


# ---- the formats of docs/embed/codecs.md


def ids(rng, n: int) -> np.ndarray:
    return rng.integers(-n, n, (4, 2))


def test_fp8_in_square_blocks() -> None:
    """DeepSeek's weights: a scale for each 128 x 128 elements, the last ones smaller."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (300, 200)).astype(np.uint8).view(ml_dtypes.float8_e4m3fn)
    scale = rng.standard_normal((3, 2)).astype(f32)
    expected = codes.astype(f32) * repeated(scale, (300, 200), (128, 128))
    table = native.describe("float", codes, scale=scale, groups=(128, 128))
    at = ids(rng, 300)
    assert native.same(native.take(table, at), expected[at])
    assert native.same(native.take(table, at % 200, 1), np.take(expected, at % 200, 1))


@pytest.mark.parametrize("divides", [False, True])
def test_nvfp4(divides: bool) -> None:
    """ModelOpt multiplies the scales, compressed-tensors divides them."""
    rng = np.random.default_rng(2)
    data = rng.integers(0, 256, (20, 32), dtype=np.uint8)
    scale = np.abs(rng.standard_normal((20, 4))).astype(ml_dtypes.float8_e4m3fn)
    second = np.array([3.7], f32)
    codes = np.stack([data & 15, data >> 4], -1).reshape(20, 64).view(ml_dtypes.float4_e2m1fn).astype(f32)
    factor = scale.astype(f32) / second if divides else scale.astype(f32) * second
    table = native.describe("float", data, code_type="float4_e2m1fn", scale=scale, scale2=second, scale2_divides=divides, group_len=16)
    at = ids(rng, 20)
    assert native.same(native.take(table, at), (codes * np.repeat(factor, 16, 1))[at])


def test_mxfp4_in_safetensors() -> None:
    """gpt-oss: blocks of 16 bytes, the low half is the even element; scales are E8M0 in uint8."""
    rng = np.random.default_rng(3)
    data = rng.integers(0, 256, (6, 5, 16), dtype=np.uint8)
    scale = rng.integers(0, 256, (6, 5), dtype=np.uint8)
    codes = np.stack([data & 15, data >> 4], -1).reshape(6, 5, 32).view(ml_dtypes.float4_e2m1fn).astype(f32)
    with np.errstate(over="ignore"):
        expected = codes * scale.view(ml_dtypes.float8_e8m0fnu).astype(f32)[..., None]
    table = native.describe("float", data, code_type="float4_e2m1fn", scale=scale, scale_type="float8_e8m0fnu", groups=(1, 1, 0))
    at = ids(rng, 6)
    assert native.same(native.take(table, at), expected[at])


@pytest.mark.parametrize(("bits", "with_zeros"), [(4, False), (4, True), (2, False), (2, True)])
def test_executorch(bits: int, with_zeros: bool) -> None:
    """4 bits: the first code in the high half; 2 bits: the first in the lowest. (q - 8 - zero point) * scale."""
    rng = np.random.default_rng(bits)
    codes = rng.integers(0, 1 << bits, (12, 64))
    data = stored(codes, bits, 1, bits == 4)
    if bits == 4:
        assert data[0, 0] == codes[0, 0] << 4 | codes[0, 1]
    scale = rng.standard_normal((12, 2)).astype(f32)
    zeros = rng.integers(-3, 4, (12, 2)).astype(f32) if with_zeros else None
    offset = 1 << (bits - 1)
    values = codes.astype(f32) - f32(offset) - (0 if zeros is None else np.repeat(zeros, 32, 1))
    table = native.describe(
        "affine", data, code_type=f"uint{bits}", order=int(bits == 4), code_offset=offset, scale=scale, zero_point=zeros, group_len=32
    )
    at = ids(rng, 12)
    assert native.same(native.take(table, at), (values * np.repeat(scale, 32, 1)).astype(f32)[at])


def test_transposed_and_reversed_codes() -> None:
    """Codes of any strides, those of less than a byte too: along any axis of the view."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 256, (7, 9), dtype=np.uint8)
    scale = rng.standard_normal((9, 7)).astype(f32)
    for view in (codes.T, codes.T[::-1], codes.T[:, ::-1], codes.T[::2, ::3]):
        part = scale[: view.shape[0], : view.shape[1]]
        table = native.describe("affine", view, scale=part, groups=(1, 1))
        assert native.same(native.dequantize(table), view.astype(f32) * part)
    packed = native.tensor(native.Packed("uint4", 4, codes & 15, offset=3))
    packed.shape, packed.strides = native.lengths((9, 7)), native.lengths((-1, 9))  # columns, from the last one
    packed.packed_offset += 8
    table = native.describe("affine", packed, scale=scale, groups=(1, 1))
    assert native.same(native.dequantize(table), (codes & 15).T[::-1].astype(f32) * scale)
    at = rng.integers(-7, 7, 5)
    assert native.same(native.take(table, at, 1), ((codes & 15).T[::-1].astype(f32) * scale)[:, at])


def test_numbers_of_packed_types() -> None:
    """Side tensors of int4 and uint4 by themselves, from an odd element on."""
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 256, (5, 12), dtype=np.uint8)
    zeros = rng.integers(-8, 8, (5, 3)).astype(np.int8)
    table = native.describe("affine", codes, zero_point=native.Packed("int4", 4, zeros, offset=1), group_len=4)
    assert native.same(native.dequantize(table), codes.astype(f32) - np.repeat(zeros, 4, 1).astype(f32))


def test_every_half_and_every_small_float() -> None:
    """All codes of each small float, and the rounding of every float16 midway to the next."""
    for kind, bits in SMALL.items():
        codes = np.arange(1 << bits, dtype=np.uint8)
        data = codes if bits == 8 else native.Packed(kind, bits, codes)
        if bits == 8:
            data = codes.view(getattr(ml_dtypes, kind))
        assert native.same(native.dequantize(native.describe("float", data)), code_values(codes, kind))
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)
    with np.errstate(invalid="ignore"):
        midway = ((halves + np.roll(halves, -1)) / 2).astype(f32)
        rounded = halves.astype(f32)
    scales = np.concatenate([rounded, midway, np.nextafter(midway, f32(0)), np.nextafter(midway, f32(np.inf))])[:, None]
    scales = np.concatenate([scales, np.random.default_rng(7).integers(0, 1 << 32, (1 << 17, 1), dtype=np.uint32).view(f32)])
    ones = np.ones((len(scales), 1), np.uint8)
    for name, kind in OUTPUTS.items():
        with np.errstate(all="ignore"):
            assert native.same(native.dequantize(native.describe("affine", ones, scale=scales), name), scales.astype(kind))


NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)  # fmt: skip
FP4 = tuple(sign * x / 12 for sign in (1, -1) for x in (0, 0.0625, 8, 12, 4, 6, 2, 3))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(("kind", "values"), [("nf4", NF4), ("fp4", FP4)])
def test_bitsandbytes_by_its_definition(kind: str, values: tuple, nested: bool) -> None:
    """Flat bytes, the first code in the high half; blocks of 64 across rows; scales that are codes of a table, in blocks of 256."""
    rng = np.random.default_rng(8)
    rows, columns = 401, 100  # 627 scales, the last for a part of a block
    data = rng.integers(0, 256, (rows * columns // 2, 1), dtype=np.uint8)
    codes = np.stack([data >> 4, data & 15], -1).ravel()
    blocks = -(-rows * columns // 64)
    fields: dict = {"scale": np.abs(rng.standard_normal(blocks)).astype(f32)}
    absmax = fields["scale"]
    if nested:
        fields = {
            "scale": rng.integers(0, 256, blocks, dtype=np.uint8),
            "scale_table": np.sort(rng.standard_normal(256)).astype(f32),
            "scale_scale": rng.standard_normal(-(-blocks // 256)).astype(f32),
            "scale_group_len": 256,
            "scale_offset": 0.75,
        }
        absmax = fields["scale_table"][fields["scale"]] * np.repeat(fields["scale_scale"], 256)[:blocks] + f32(0.75)
    expected = (np.array(values).astype(f32) + 0)[codes] * np.repeat(absmax, 64)[: codes.size]
    table = native.describe(kind, data, order=1, shape=(rows, columns), flat_groups=True, group_len=64, **fields)
    at = ids(rng, rows)
    assert native.same(native.dequantize(table), expected.reshape(rows, columns))
    assert native.same(native.take(table, at), expected.reshape(rows, columns)[at])
