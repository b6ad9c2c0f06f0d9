# SPDX-License-Identifier: MIT
"""Decoders of every codec, written from the layouts as they are documented, one element after the other in loops over coordinates.

Independent of the library and, except for code books, of the packages that write these formats. All arithmetic is NumPy's float32, one operation at a time.
"""
import functools
import itertools
import math

import gguf
import gguf.quants
import numpy as np

f32 = np.float32


def half(block: np.ndarray, at: int) -> np.ndarray:
    """float16 at a byte of every block."""
    return (block[:, at].astype(np.uint16) | block[:, at + 1].astype(np.uint16) << 8).view(np.float16).astype(f32)


def bits(block: np.ndarray, at: int, bit: int, count: int) -> np.ndarray:
    """`count` bits from bit number `bit`, counted from the lowest of byte `at`, of every block."""
    value = np.zeros(len(block), np.int64)
    for k in range(count):
        where = bit + k
        value |= (block[:, at + where // 8].astype(np.int64) >> where % 8 & 1) << k
    return value


def halves(block: np.ndarray, at: int, j: int) -> np.ndarray:
    """Code j of 32 in 16 bytes: low halves first."""
    return bits(block, at + j % 16, 4 * (j // 16), 4)


IQ4 = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])
E2M1_TWICE = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])


def six_bits(block: np.ndarray, at: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Scale and minimum j of Q4_K and Q5_K (siblings: "6-bit scales")."""
    s = block[:, at : at + 12].astype(np.int64)
    if j < 4:
        return s[:, j] & 63, s[:, j + 4] & 63
    return (s[:, j + 4] & 15) | (s[:, j - 4] >> 6) << 4, (s[:, j + 4] >> 4) | (s[:, j] >> 6) << 4


def e8m0_half(e: np.ndarray) -> np.ndarray:
    return np.array([math.ldexp(1.0, int(x) - 128) for x in e], np.float64).astype(f32)


def ue4m3_half(e: np.ndarray) -> np.ndarray:
    def one(x: int) -> float:
        if x in (0, 127):
            return 0.0
        exponent, fraction = x >> 3 & 15, x & 7
        return math.ldexp(fraction, -9) / 2 if exponent == 0 else math.ldexp(1 + fraction / 8, exponent - 7) / 2

    return np.array([one(int(x)) for x in e], np.float64).astype(f32)


@functools.cache
def vectors(name: str) -> np.ndarray:
    """The code book of a type. It is what defines the type, so it is the package's."""
    kind = getattr(gguf.quants, name)
    kind.init_grid()
    return kind.grid.reshape(kind.grid_shape).astype(f32)


def quarters(d: np.ndarray, s: np.ndarray, factor: float) -> np.ndarray:
    return d * (f32(0.5) + s.astype(f32)) * f32(factor)


def even(seven: np.ndarray) -> np.ndarray:
    """Eight signs from seven: an even number of them is set."""
    return seven | np.array([int(x).bit_count() & 1 for x in seven]) << 7


def signed(values: np.ndarray, signs: np.ndarray, k: int) -> np.ndarray:
    return np.where(signs.astype(np.int64) >> k & 1, -values, values)


def element(name: str, b: np.ndarray, i: int) -> np.ndarray:
    """Element i of every block of b."""
    i256, part = i % 256, i // 32
    match name:
        case "Q4_0":
            return half(b, 0) * (halves(b, 2, i) - 8).astype(f32)
        case "Q4_1":
            return half(b, 0) * halves(b, 4, i).astype(f32) + half(b, 2)
        case "Q5_0":
            return half(b, 0) * ((halves(b, 6, i) | bits(b, 2, i, 1) << 4) - 16).astype(f32)
        case "Q5_1":
            return half(b, 0) * (halves(b, 8, i) | bits(b, 4, i, 1) << 4).astype(f32) + half(b, 2)
        case "Q8_0":
            return b[:, 2 + i].astype(np.int8).astype(f32) * half(b, 0)
        case "Q2_K":
            scale = bits(b, i // 16, 0, 4).astype(f32) * half(b, 80)
            least = bits(b, i // 16, 4, 4).astype(f32) * half(b, 82)
            return scale * bits(b, 16 + 32 * (i // 128) + i % 32, 2 * (part % 4), 2).astype(f32) - least
        case "Q3_K":
            g = i // 16
            scale = bits(b, 96 + g % 8, 4 * (g // 8), 4) | bits(b, 104 + g % 4, 2 * (g // 4), 2) << 4
            q = bits(b, 32 + 32 * (i // 128) + i % 32, 2 * (part % 4), 2) - 4 * (1 - bits(b, i % 32, part, 1))
            return half(b, 108) * (scale - 32).astype(f32) * q.astype(f32)
        case "Q4_K":
            scale, least = six_bits(b, 4, part)
            q = bits(b, 16 + 32 * (i // 64) + i % 32, 4 * (part % 2), 4)
            return half(b, 0) * scale.astype(f32) * q.astype(f32) - half(b, 2) * least.astype(f32)
        case "Q5_K":
            scale, least = six_bits(b, 4, part)
            q = bits(b, 48 + 32 * (i // 64) + i % 32, 4 * (part % 2), 4) | bits(b, 16 + i % 32, part, 1) << 4
            return half(b, 0) * scale.astype(f32) * q.astype(f32) - half(b, 2) * least.astype(f32)
        case "Q6_K":
            n, quarter, l = i // 128, i % 128 // 32, i % 32
            q = bits(b, 64 * n + l + 32 * (quarter % 2), 4 * (quarter // 2), 4) | bits(b, 128 + 32 * n + l, 2 * quarter, 2) << 4
            scale = b[:, 192 + 8 * n + l // 16 + 2 * quarter].astype(np.int8).astype(f32)
            return half(b, 208) * scale * (q - 32).astype(f32)
        case "Q8_K":
            return b[:, :4].copy().view("<f4")[:, 0].astype(f32) * b[:, 4 + i256].astype(np.int8).astype(f32)
        case "IQ4_NL":
            return half(b, 0) * IQ4[halves(b, 2, i)].astype(f32)
        case "IQ4_XS":
            scale = bits(b, 4, 4 * part, 4) | bits(b, 2, 2 * part, 2) << 4
            return half(b, 0) * (scale - 32).astype(f32) * IQ4[halves(b, 8 + 16 * part, i % 32)].astype(f32)
        case "IQ2_XXS":
            at, v = 2 + 8 * part, i % 32 // 8
            scale = quarters(half(b, 0), bits(b, at + 4, 28, 4), 0.25)
            return signed(scale * vectors(name)[b[:, at + v], i % 8], even(bits(b, at + 4, 7 * v, 7)), i % 8)
        case "IQ2_XS":
            v = i // 8
            scale = quarters(half(b, 0), bits(b, 66, 4 * (i // 16), 4), 0.25)
            return signed(scale * vectors(name)[bits(b, 2 + 2 * v, 0, 9), i % 8], even(bits(b, 2 + 2 * v, 9, 7)), i % 8)
        case "IQ2_S":
            v = i // 8
            scale = quarters(half(b, 0), bits(b, 74, 4 * (i // 16), 4), 0.25)
            q = b[:, 2 + v].astype(np.int64) | bits(b, 66, 2 * v, 2) << 8
            return signed(scale * vectors(name)[q, i % 8], b[:, 34 + v], i % 8)
        case "IQ3_XXS":
            at = 66 + 4 * part
            scale = quarters(half(b, 0), bits(b, at, 28, 4), 0.5)
            return signed(scale * vectors(name)[b[:, 2 + i // 4], i % 4], even(bits(b, at, 7 * (i % 32 // 8), 7)), i % 8)
        case "IQ3_S":
            scale = half(b, 0) * (1 + 2 * bits(b, 106, 4 * part, 4)).astype(f32)
            q = b[:, 2 + i // 4].astype(np.int64) | bits(b, 66, i // 4, 1) << 8
            return signed(scale * vectors(name)[q, i % 4], b[:, 74 + i // 8], i % 8)
        case "IQ1_S":
            at, v = 34 + 2 * part, i // 8
            scale = half(b, 0) * (2 * bits(b, at, 12, 3) + 1).astype(f32)
            q = b[:, 2 + v].astype(np.int64) | bits(b, at, 3 * (v % 4), 3) << 8
            return scale * (vectors(name)[q, i % 8] + np.where(bits(b, at, 15, 1), f32(-0.125), f32(0.125)))
        case "IQ1_M":
            v, d = i // 8, np.zeros(len(b), np.int64)
            for k in range(4):
                d |= bits(b, 49 + 2 * k, 4, 4) << 4 * k
            scale = d.astype(np.uint16).view(np.float16).astype(f32) * (2 * bits(b, 48 + i // 64 * 2, i // 16 % 4 * 3, 3) + 1).astype(f32)
            q = b[:, v].astype(np.int64) | bits(b, 32, 4 * v, 3) << 8
            return scale * (vectors("IQ1_S")[q, i % 8] + np.where(bits(b, 32, 4 * v + 3, 1), f32(-0.125), f32(0.125)))
        case "TQ1_0":
            at, digit = (i % 32, i // 32) if i < 160 else (32 + i % 16, (i - 160) // 16) if i < 240 else (48 + i % 4, (i - 240) // 4)
            rest = b[:, at].astype(np.int64) * 3**digit % 256
            return half(b, 52) * (rest * 3 // 256 - 1).astype(f32)
        case "TQ2_0":
            return half(b, 64) * (bits(b, 32 * (i // 128) + i % 32, 2 * (part % 4), 2) - 1).astype(f32)
        case "MXFP4":
            return e8m0_half(b[:, 0]) * E2M1_TWICE[halves(b, 1, i)].astype(f32)
        case "NVFP4":
            q = bits(b, 4 + 8 * (i // 16) + i % 8, 4 * (i % 16 // 8), 4)
            return ue4m3_half(b[:, i // 16]) * E2M1_TWICE[q].astype(f32)
        case "Q1_0":
            return np.where(bits(b, 2, i, 1) == 1, half(b, 0), -half(b, 0))
        case "Q2_0":
            return half(b, 0) * (bits(b, 2, 2 * i, 2) - 1).astype(f32)
    raise KeyError(name)


def blocks(name: str, block_len: int, block_bytes: int, data: np.ndarray) -> np.ndarray:
    """Every value of rows of blocks."""
    flat = data.reshape(-1, block_bytes)
    with np.errstate(all="ignore"):
        values = np.stack([element(name, flat, i) for i in range(block_len)], -1)
    return values.reshape(*data.shape[:-1], -1)


def grouped(shape, groups, side: np.ndarray) -> np.ndarray:
    """A number for each element: that of its group, found coordinate by coordinate."""
    side = np.asarray(side)
    if side.size == 1:
        return np.full(shape, side.reshape(()), side.dtype)
    side = side.reshape(side.shape + (1,) * (len(shape) - side.ndim))
    out = np.empty(shape, side.dtype)
    for at in itertools.product(*(range(n) for n in shape)):
        out[at] = side[tuple(0 if side.shape[d] == 1 else at[d] // groups[d] for d in range(len(shape)))]
    return out
