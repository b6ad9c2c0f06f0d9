# SPDX-License-Identifier: MIT
"""Quantised tables and arrays: decoded rows are those of the reference decoders, and behave as other rows do."""

from __future__ import annotations

import pickle

import gguf
import libgather
import numpy as np
import pytest
from support.quantised_files import E2M1, MAKERS, e4m3, nibbles, nvfp4
from support.refusal import refuses
from support.threads import together

KIND = gguf.GGMLQuantizationType.Q8_0


@pytest.fixture
def made(tmp_path):
    """The name of a quantised table, its blocks, and its values."""
    rng = np.random.default_rng(1)
    blocks = gguf.quants.quantize(rng.standard_normal((500, 256)).astype(np.float32), KIND)
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_tensor("emb", blocks, raw_dtype=KIND)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return f"{tmp_path}/m.gguf:emb", blocks, gguf.quants.dequantize(blocks, KIND)


# ---- tables ----


def test_properties(made):
    raw = libgather.open(made[0])
    table = raw.dequantize()
    assert (raw.codec, raw.type, raw.shape) == (None, "Q8_0", (500, 8))
    assert (table.codec, table.type, table.dtype, table.shape) == ("Q8_0", "float32", np.float32, (500, 256))
    assert (table.rows, len(table), table.row_bytes, table.nbytes) == (500, 500, 1024, 512000)
    assert table.path == raw.path == made[0] and "decoded from Q8_0" in repr(table)
    assert table.parts[0].rows == 500 and table.name == "emb" and table.format == "gguf"
    raw.close()
    assert table[0].shape == (256,)  # they are closed apart
    table.close()
    with pytest.raises(ValueError, match="closed"):
        table[0]


def test_indexing(made):
    name, _, values = made
    with libgather.open(name).dequantize() as table:
        mask = np.random.default_rng(1).random(500) < 0.1
        for key in (3, -1, [4, 4, -2], np.array([[1, 2], [3, 499]]), slice(5, 400, 7), mask, ..., (slice(2, 9), 5),
                    ([1, 2], slice(None, 10)), np.uint8(7)):  # fmt: skip
            assert np.array_equal(table[key], values[key])
        assert np.array_equal(np.asarray(table), values)
        assert np.array_equal(list(table)[77], values[77])
        with pytest.raises(libgather.GatherIndexError) as error:
            table[[1, 500]]
        assert (error.value.position, error.value.value, error.value.low, error.value.high) == ((1,), 500, -500, 499)


@pytest.mark.parametrize("dtype", ["float32", "float16", np.float16, np.dtype("f4"), "bfloat16"])
def test_types(made, dtype):
    name, _, values = made
    rows = libgather.open(name, decode_as=dtype)[[7, -1]]
    if dtype == "bfloat16":
        ml_dtypes = pytest.importorskip("ml_dtypes")
        dtype = ml_dtypes.bfloat16
    assert rows.dtype == np.dtype(dtype) and np.array_equal(rows, values[[7, -1]].astype(dtype))


def test_take_and_submit(made):
    name, _, values = made
    ids = np.random.default_rng(2).integers(-500, 500, (30, 40))
    with libgather.open(name).dequantize() as table:
        out = np.zeros((30, 40, 256), np.float32)
        assert table.take(ids, out=out) is out and np.array_equal(out, values[ids])
        jobs = [table.submit(ids + i, mode="clip") for i in range(5)]
        for i, job in enumerate(jobs):
            assert np.array_equal(job.wait(), values[np.minimum(ids + i, 499)])
        filled = table.take([1, 900], mode="fill", fill_value=2.5)
        assert np.array_equal(filled, [values[1], np.full(256, 2.5, np.float32)])
        refuses(libgather.GatherTypeError, table.take, [1], out=np.zeros((1, 256), np.float64))
        stats = table.stats()
        assert (stats.takes, stats.rows) == (7, 6 * ids.size + 2)
        assert stats.bytes_useful == (stats.rows - 1) * 272  # the filled row was not read


def test_pickle_and_threads(made):
    name, _, values = made
    table = libgather.open(name, memory="8MiB").dequantize("float16")
    again = pickle.loads(pickle.dumps(table))
    assert (again.codec, again.dtype, again.stats().memory_ceiling) == ("Q8_0", np.float16, 8 << 20)
    wrong = []

    def work(seed: int) -> None:
        ids = np.random.default_rng(seed).integers(0, 500, 300)
        for _ in range(10):
            if not np.array_equal(again[ids], values[ids].astype(np.float16)):
                wrong.append(seed)

    together(work, range(6))
    assert not wrong and again.stats().memory_peak <= 8 << 20


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_layouts(maker, tmp_path):
    stored = maker(np.random.default_rng(3))
    table = libgather.open(stored.write(tmp_path / "x.safetensors")).dequantize(codec=stored.given or None)
    assert np.array_equal(table[...], stored.values) and table.codec == stored.codec
    assert np.array_equal(table[[-1, 0, 1]], stored.values[[-1, 0, 1]])


def test_parts(tmp_path):
    rng = np.random.default_rng(4)
    parts = [nvfp4(rng, 40), nvfp4(rng, 3)]
    table = libgather.open([part.write(tmp_path / f"{i}.safetensors") for i, part in enumerate(parts)]).dequantize()
    assert np.array_equal(table[:], np.concatenate([part.values for part in parts]))
    assert [part.first for part in table.parts] == [0, 40]


def test_refused_tables(made, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 4), np.int32))
    with pytest.raises(libgather.GatherNotSupportedError, match="the file does not describe how the tensor"):
        libgather.open(tmp_path / "x.npy").dequantize()
    with pytest.raises(libgather.GatherTypeError, match="rows are decoded to float32, float16, bfloat16, not to int8"):
        libgather.open(made[0]).dequantize("int8")
    refuses(TypeError, libgather.open, made[0], codec="Q8_0", says="codec needs decode_as")
    refuses(libgather.GatherValueError, libgather.open(made[0]).dequantize, codec="Q4_0", says="not with the codec 'Q4_0'")


# ---- arrays ----


def test_array_of_blocks(made):
    _, blocks, values = made
    array = libgather.Quantized("Q8_0", blocks)
    assert (array.shape, array.ndim, len(array), array.codec) == ((500, 256), 2, 500, "Q8_0")
    ids = np.array([[3, -1], [499, 3]])
    assert np.array_equal(array.take(ids), values[ids]) and np.array_equal(array[ids], values[ids])
    assert np.array_equal(array.take([5, -1], axis=1), values[:, [5, -1]])
    assert np.array_equal(array.dequantize(), values)
    assert np.array_equal(array.take(ids, dtype="float16", threads=1), values[ids].astype(np.float16))
    out = np.zeros((2, 2, 256), np.float32)
    assert array.take(ids, out=out) is out and np.array_equal(out, values[ids])
    whole = np.zeros((500, 256), np.float16)
    assert array.dequantize("float16", out=whole) is whole and np.array_equal(whole, values.astype(np.float16))
    assert np.array_equal(array.take([1, 700], mode="clip"), values[[1, 499]])
    with pytest.raises(libgather.GatherIndexError) as error:
        array.take([[1, 500]], out=out[:1])
    assert error.value.position == (0, 1) and np.array_equal(out, values[ids])  # unchanged


def test_array_layouts():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 16, (30, 64))
    packed, scale = nibbles(codes), rng.integers(0, 120, (30, 4), dtype=np.uint8)
    factor = np.float32(1.5)
    each = np.repeat(e4m3(scale) * factor, 16, 1)
    array = libgather.Quantized("float", packed, code_type="float4_e2m1fn", scale=scale, scale_type="float8_e4m3fn",
                                scale2=factor, group_len=16)  # fmt: skip
    assert array.shape == (30, 64) and np.array_equal(array.dequantize(), E2M1[codes] * each)
    zero = rng.integers(0, 16, (30, 4)).astype(np.uint8)
    scales = rng.uniform(0.1, 2, (30, 4)).astype(np.float32)
    array = libgather.Quantized("affine", nibbles(codes, True), code_type="uint4", order="high", scale=scales,
                                zero_point=zero, group_len=16, code_offset=3)  # fmt: skip
    want = (codes - 3 - np.repeat(zero, 16, 1)).astype(np.float32) * np.repeat(scales, 16, 1)
    assert np.array_equal(array.take([7, 0]), want[[7, 0]])
    fp8 = rng.integers(0, 120, (200, 130), dtype=np.uint8)
    blocks = rng.uniform(0.1, 2, (2, 2)).astype(np.float32)
    array = libgather.Quantized("float", fp8, code_type="float8_e4m3fn", scale=blocks, groups=(128, 128))
    assert np.array_equal(array.dequantize(), e4m3(fp8) * np.repeat(np.repeat(blocks, 128, 0)[:200], 128, 1)[:, :130])


def test_array_errors(made):
    blocks = made[1]
    for call, error, text in [
        (lambda: libgather.Quantized("Q9_0", blocks), libgather.GatherValueError, "no such codec: 'Q9_0'"),
        (lambda: libgather.Quantized(8, blocks), TypeError, "codec must be a str"),
        (lambda: libgather.Quantized("gptq", blocks), libgather.GatherNotSupportedError, "gptq is not decoded"),
        (lambda: libgather.Quantized("Q8_0", blocks[:, :-1]), libgather.GatherValueError, None),
        (lambda: libgather.Quantized("Q8_0", blocks, scale=np.ones(3)), libgather.GatherValueError, "scale"),
        (lambda: libgather.Quantized("Q8_0", blocks, order="up"), ValueError, "'low' or 'high'"),
        (lambda: libgather.Quantized("affine", blocks, code_type="int5"), libgather.GatherTypeError, "unknown type 'int5'"),
        (lambda: libgather.Quantized("affine", blocks, groups=(1, 2, 3)), libgather.GatherValueError, "dimensions"),
        (lambda: libgather.Quantized("affine", np.array([["a"]], object)), libgather.GatherTypeError, "numbers"),
        (lambda: libgather.Quantized("Q8_0", blocks).take(0, dtype="int8"), libgather.GatherTypeError, "not to int8"),
        (lambda: libgather.Quantized("Q8_0", blocks).take(0, axis=2), libgather.GatherAxisError, None),
        (lambda: libgather.Quantized("Q8_0", blocks).take([1.5]), libgather.GatherTypeError, None),
        (lambda: libgather.Quantized("Q8_0", blocks).take(0, mode="up"), ValueError, "mode must be"),
        (lambda: libgather.Quantized("Q8_0", blocks).take(0, out=np.zeros(3, np.float32)), libgather.GatherValueError, "shape"),
        (lambda: libgather.Quantized("Q8_0", blocks).dequantize(out=np.zeros(3, np.float32)), libgather.GatherValueError, None),
    ]:  # fmt: skip
        refuses(error, call, says=text)


def test_codecs():
    rows = libgather.codecs()
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names) >= 38 and {"Q4_K", "affine", "nf4", "rowwise8"} <= set(names)
    assert {row["kind"] for row in rows} == {"blocks", "packed", "codes", "refused"}
    assert all(row["value"] and row["source"] for row in rows)


def test_references(made):
    """The array keeps its tensors, and no call leaks them."""
    import gc
    import sys

    blocks = made[1].copy()
    before = sys.getrefcount(blocks)
    array = libgather.Quantized("Q8_0", blocks)
    for _ in range(50):
        array.take([1, 2])
        array.dequantize()
        refuses(libgather.GatherIndexError, array.take, [1000])
    assert sys.getrefcount(blocks) == before + 1
    del array
    gc.collect()
    assert sys.getrefcount(blocks) == before


def test_fork(made):
    """The child uses the table that the parent opened and used."""
    import os

    name, _, values = made
    table = libgather.open(name).dequantize()
    assert np.array_equal(table[[1]], values[[1]])
    child = os.fork()
    if child == 0:
        good = np.array_equal(table[[3, -1]], values[[3, -1]]) and table.submit([5]).wait().shape == (1, 256)
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(table[[2]], values[[2]])


def test_cancel(tmp_path):
    """A cancelled job ends early, and the table remains usable."""
    stored = nvfp4(np.random.default_rng(6), 2000, 512)
    table = libgather.open(stored.write(tmp_path / "x.safetensors"), engine="pread", cache=0).dequantize()
    ids = np.random.default_rng(6).integers(0, 2000, 100_000)
    jobs = [table.submit(ids) for _ in range(4)]
    table.cancel_jobs()
    cancelled = 0
    for job in jobs:
        try:
            assert np.array_equal(job.wait(), stored.values[ids])
        except libgather.GatherCancelledError:
            cancelled += 1
    assert cancelled > 0
    assert np.array_equal(table[[7]], stored.values[[7]])
    table.close()
