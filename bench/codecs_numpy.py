# SPDX-License-Identifier: MIT
"""Quantised layouts for the benchmark: how many bytes, where the scales are, and what a row decodes to by NumPy (GGUF: by the
gguf package), which every library is compared with before it is timed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LINE = 64
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], np.float32)


def aligned(size: int) -> int:
    return (size + LINE - 1) // LINE * LINE


@dataclass(frozen=True)
class Codec:
    """Rows of blocks. f16, e8m0: where the scales stand in a block."""

    name: str
    len: int
    bytes: int
    f16: tuple[int, ...] = ()
    e8m0: tuple[int, ...] = ()

    def row_bytes(self, width: int) -> int:
        return width // self.len * self.bytes

    def table_bytes(self, rows: int, width: int) -> int:
        return rows * self.row_bytes(width)

    def settle(self, table: np.ndarray, rows: int, width: int) -> None:
        """Makes random bytes a table: its scales become usual numbers."""
        blocks = table[: self.table_bytes(rows, width)].reshape(-1, self.bytes)
        for at in self.f16:
            blocks[:, at + 1] = blocks[:, at + 1] & 0x83 | 0x20
        for at in self.e8m0:
            blocks[:, at] = blocks[:, at] % 16 + 118

    def decode(self, table: np.ndarray, rows: int, width: int, ids: np.ndarray) -> np.ndarray:
        import gguf

        packed = table[: self.table_bytes(rows, width)].reshape(rows, -1)
        return gguf.dequantize(packed[ids], gguf.GGMLQuantizationType[self.name])


def fused(codes: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """codes * scale + bias, rounded once: the sum in float64, whose last bit is made odd where it is not exact."""
    product, addend = codes.astype(np.float64) * scale, bias.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = total.view(np.int64)
    odd = np.where((error > 0) == (total > 0), bits | 1, bits - 1)
    return np.where((error != 0) & (bits & 1 == 0), odd, bits).view(np.float64).astype(np.float32)


@dataclass(frozen=True)
class RowCodec(Codec):
    """Rows with a scale and a bias behind them: q * scale + bias, of 8 bits rounded once (FBGEMM, PyTorch)."""

    bits: int = 8

    def row_bytes(self, width: int) -> int:
        return width * self.bits // 8 + (8 if self.bits == 8 else 4)

    def settle(self, table, rows, width) -> None:
        packed = table[: self.table_bytes(rows, width)].reshape(rows, -1)
        for at in (-5, -1) if self.bits == 8 else (-3, -1):
            packed[:, at] = packed[:, at] & 0x83 | (0x3C if self.bits == 8 else 0x20)

    def decode(self, table, rows, width, ids) -> np.ndarray:
        packed = table[: self.table_bytes(rows, width)].reshape(rows, -1)[ids]
        codes, tail = packed[:, : width * self.bits // 8], np.ascontiguousarray(packed[:, width * self.bits // 8 :])
        pair = tail.view(np.float32 if self.bits == 8 else np.float16).astype(np.float32)
        if self.bits == 4:
            codes = np.stack([codes & 15, codes >> 4], -1).reshape(ids.size, -1)
            return codes.astype(np.float32) * pair[:, :1] + pair[:, 1:]
        return fused(codes, pair[:, :1], pair[:, 1:])


@dataclass(frozen=True)
class SideCodec(Codec):
    """Four-bit numbers with the blocks' scales (float32) in a tensor of their own, here behind them in the same memory.
    high_first: the first element is in the high half of its byte. levels: of the 16 numbers."""

    high_first: bool = False
    levels: tuple[float, ...] = ()

    def row_bytes(self, width: int) -> int:
        return width // 2

    def blocks(self, width: int) -> int:
        return (width + self.len - 1) // self.len

    def scales_at(self, rows: int, width: int) -> int:
        return aligned(rows * self.row_bytes(width))

    def table_bytes(self, rows: int, width: int) -> int:
        return self.scales_at(rows, width) + rows * self.blocks(width) * 4

    def scales(self, table: np.ndarray, rows: int, width: int) -> np.ndarray:
        at = self.scales_at(rows, width)
        return table[at : at + rows * self.blocks(width) * 4].view(np.float32).reshape(rows, -1)

    def codes(self, table: np.ndarray, rows: int, width: int) -> np.ndarray:
        return table[: rows * self.row_bytes(width)].reshape(rows, -1)

    def settle(self, table, rows, width) -> None:
        at = self.scales_at(rows, width)
        scales = table[at : at + rows * self.blocks(width) * 4].reshape(-1, 4)
        scales[:, 3] = scales[:, 3] & 0x83 | 0x3C

    def decode(self, table, rows, width, ids) -> np.ndarray:
        codes, scales = self.codes(table, rows, width)[ids], self.scales(table, rows, width)[ids]
        halves = [codes >> 4, codes & 15] if self.high_first else [codes & 15, codes >> 4]
        numbers = np.array(self.levels, np.float32)[np.stack(halves, -1).reshape(ids.size, -1)]
        return numbers * np.repeat(scales, self.len, 1)[:, :width]


CENTRED = tuple(float(q - 8) for q in range(16))
CODECS = {codec.name: codec for codec in (
    Codec("Q4_0", 32, 18, (0,)), Codec("Q8_0", 32, 34, (0,)), Codec("Q4_K", 256, 144, (0, 2)), Codec("Q6_K", 256, 210, (208,)),
    Codec("IQ4_NL", 32, 18, (0,)), Codec("MXFP4", 32, 17, (), (0,)), RowCodec("int8 rows", 1, 1), RowCodec("int4 rows", 2, 1, bits=4),
    SideCodec("ORT 4 bit /32", 32, 16, levels=CENTRED), SideCodec("ORT 4 bit /128", 128, 64, levels=CENTRED),
    SideCodec("NF4", 64, 32, high_first=True, levels=tuple(float(v) for v in NF4)))}  # fmt: skip


def round_to(values: np.ndarray, dtype: str) -> np.ndarray:
    """float32 to another type, to the nearest, ties to even. NumPy has no bfloat16: its bits, as uint16."""
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return values.astype(dtype)
