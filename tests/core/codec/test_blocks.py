# SPDX-License-Identifier: MIT
"""GGUF's blocks: random bytes, extreme scales among them, against two decoders that are not ours: the gguf package, and loops."""
import gguf
import ml_dtypes
import numpy as np
import pytest
from gguf.quants import dequantize as theirs

import native
import oracle

BLOCKS = {row[2]: (int(row[4]), int(row[5])) for row in native.codecs() if row[3] == "BLOCKS"}
NOT_IN_PACKAGE = {"Q8_K", "Q1_0", "Q2_0"}  # it has no decoder for these: the loops decide
OUTPUTS = ("float32", "float16", "bfloat16")

# float16 scales: zeros, subnormal, the largest, infinite, not a number.
EXTREMES = (0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01)


def random_blocks(name: str, rows: int, across: int, seed: int) -> np.ndarray:
    """Random bytes; two of every block are an extreme float16 in a quarter of the blocks."""
    rng, size = np.random.default_rng(seed), BLOCKS[name][1]
    data = rng.integers(0, 256, (rows * across, size), dtype=np.uint8)
    for block in data[rng.random(len(data)) < 0.25]:
        at = rng.choice([0, 2, size - 2, size - 4]) if size > 4 else 0
        block[at : at + 2] = np.array([rng.choice(EXTREMES)], "<u2").view(np.uint8)
    return data.reshape(rows, across * size)


def narrowed(values: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return values.astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", BLOCKS)
def test_every_value(name: str, output: str) -> None:
    data = random_blocks(name, 260, 3, 1)
    expected = oracle.blocks(name, *BLOCKS[name], data)
    if name not in NOT_IN_PACKAGE:
        with np.errstate(all="ignore"):
            assert native.same(theirs(data, gguf.GGMLQuantizationType[name]), expected)
    got = native.dequantize(native.describe(name, data), output)
    assert native.same(got, narrowed(expected, output))


@pytest.mark.parametrize("name", BLOCKS)
def test_the_package_agrees_on_sizes(name: str) -> None:
    if name != "Q2_0":  # newer than the package
        assert gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]] == BLOCKS[name]


def test_every_type_of_the_package_is_a_codec() -> None:
    """No type that GGUF knows is forgotten: it is decoded or refused."""
    plain = {"F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64"}
    names = {row[2] for row in native.codecs()}
    assert {kind.name for kind in gguf.GGMLQuantizationType} - plain - names == set()


def test_tables_that_the_package_quantised() -> None:
    rng = np.random.default_rng(2)
    table = rng.standard_normal((50, 512)).astype(np.float32)
    for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4"):
        kind = gguf.GGMLQuantizationType[name]
        data = gguf.quants.quantize(table, kind)
        indices = rng.integers(-50, 50, (7, 5))
        assert native.same(native.take(native.describe(name, data), indices), theirs(data, kind)[indices])


@pytest.mark.parametrize("name", BLOCKS)
def test_random_gathers(name: str) -> None:
    """1200 gathers of each codec: any axis, shape, index type, output, alignment and gap between rows."""
    rng = np.random.default_rng(3)
    block_len, block_bytes = BLOCKS[name]
    pool = random_blocks(name, 64, 2, 4)
    values = oracle.blocks(name, block_len, block_bytes, pool)
    for case in range(1200):
        shape = tuple(int(rng.integers(1, 5)) for _ in range(int(rng.integers(1, 3))))
        across = int(rng.integers(1, 3))
        rows = rng.integers(0, 64, shape)
        raw, expected = pool[rows][..., : across * block_bytes], values[rows][..., : across * block_len]
        memory = np.zeros(raw.size * 3 + 64, np.uint8)
        gap, at = int(rng.integers(0, 5)), int(rng.integers(0, 9))
        wide = np.lib.stride_tricks.as_strided(
            memory[at:], raw.shape, (*(np.array([*np.cumprod((1, *shape[:0:-1]))])[::-1] * (raw.shape[-1] + gap)), 1)
        )
        wide[...] = raw
        axis = int(rng.integers(-expected.ndim, expected.ndim))
        n = expected.shape[axis]
        kind = rng.choice(["int8", "int16", "int32", "int64", "uint8", "uint64"])
        picked = int(rng.integers(0, 4)) if case % 3 else int(rng.integers(1, 9))
        indices = rng.integers(0 if kind[0] == "u" else max(-n, -128), min(n, 128), (picked, 2)).astype(kind)
        output = OUTPUTS[case % 3]
        got = native.take(native.describe(name, wide), indices, axis, output)
        assert native.same(got, narrowed(np.take(expected, indices.astype(np.int64), axis), output)), (case, shape, axis)
