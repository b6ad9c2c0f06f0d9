# SPDX-License-Identifier: MIT
"""Tables with decoded rows: each layout and engine gives the values of the quantised tensor, bit for bit."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import gguf
import ml_dtypes
import numpy as np
import pytest
from support.quantised_files import MAKERS, Stored, nf4_across, nvfp4, part
from support.refusal import refuses
from tables import Setting, Table, TableError, engines, evict

MIB = 1 << 20
SEED = int(os.environ.get("GATHER_TEST_SEED", 1))
ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", 1))
TYPES = gguf.GGMLQuantizationType
# Those that gguf.dequantize decodes and this library does, too.
BLOCKS = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ1_S IQ1_M TQ1_0 TQ2_0 MXFP4 NVFP4".split()
LENGTH = {"float32": 4, "float16": 2, "bfloat16": 2}


def blocks_of(rng, name: str, rows: int = 60, length: int = 512) -> tuple[np.ndarray, np.ndarray]:
    """Quantised by gguf where it can, else random bytes; and what gguf decodes."""
    kind = TYPES[name]
    block_len, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    try:
        raw = gguf.quants.quantize(rng.standard_normal((rows, length)).astype(np.float32), kind)
    except NotImplementedError:
        raw = rng.integers(0, 256, (rows, length // block_len * block_bytes), dtype=np.uint8)
    with np.errstate(all="ignore"):
        return raw, gguf.quants.dequantize(raw, kind)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A GGUF file of every type, written by gguf: its path, and the values."""
    path, values, rng = tmp_path_factory.mktemp("gguf") / "m.gguf", {}, np.random.default_rng(SEED)
    writer = gguf.GGUFWriter(path, "llama")
    for name in BLOCKS:
        raw, values[name] = blocks_of(rng, name)
        writer.add_tensor(name, raw, raw_dtype=TYPES[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, values


def converted(values: np.ndarray, name: str) -> np.ndarray:
    """float32 rounded to nearest even; as unsigned integers."""
    if name == "float32":
        return np.ascontiguousarray(values).view(np.uint32)
    if name == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).view(np.uint16)
    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def same(rows: np.ndarray, values: np.ndarray, name: str = "float32") -> bool:
    """NaN has any payload."""
    got = rows.reshape(-1).view(f"<u{LENGTH[name]}" if np.little_endian else f">u{LENGTH[name]}")
    nan = np.isnan(values).reshape(-1)
    return bool(np.all((got == converted(values, name).reshape(-1)) | nan))


def settings(count: int, seed: str) -> list[Setting]:
    chance = random.Random(f"{SEED} {seed}")
    found = [Setting(engine) for engine in engines()]
    while len(found) < count:
        engine = chance.choice(engines())
        found.append(Setting(engine, chance.choice([0, 6 * MIB, 20 * MIB]), chance.choice([0, 50_000, -1]),
                             chance.choice([0, 1, 3, 128]), chance.random() < 0.5,
                             engine != "mmap" and chance.random() < 0.3))  # fmt: skip
    return found


def ids_of(rows: int, rng) -> list[np.ndarray]:
    return [rng.integers(-rows, rows, 700), rng.integers(-rows, rows, (3, 4, 5)).transpose(2, 0, 1), np.arange(rows),
            np.array(rows - 1, np.int16), np.zeros((0, 2), np.int32), np.full(300, rows > 1, np.uint8),
            np.sort(rng.integers(0, rows, 40)).astype(">i4")]  # fmt: skip


def compare(path, values: np.ndarray, how: Setting, rng) -> None:
    with Table(path, how) as table:
        assert table.shape == values.shape
        assert table.info.row_bytes == values[0].size * LENGTH[how.decode_as]
        for ids in ids_of(len(values), rng):
            assert same(table.take(ids)[0], values[ids.astype(np.int64)], how.decode_as), (how, ids.shape)
        ids = rng.integers(-len(values), len(values), 100)
        assert same(table.submit(ids)()[0], values[ids], how.decode_as)


@pytest.mark.parametrize("name", BLOCKS)
def test_gguf(model, name):
    path, values = model
    rng = np.random.default_rng(SEED)
    for how in settings(8 * ROUNDS, name):
        evict(path)
        for kind in LENGTH:
            compare(f"{path}:{name}", values[name], replace(how, decode_as=kind), rng)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_safetensors(maker, tmp_path):
    rng = np.random.default_rng(SEED)
    stored = maker(rng)
    path = stored.write(tmp_path / "x.safetensors")
    for how in settings(8 * ROUNDS, maker.__name__):
        evict(tmp_path / "x.safetensors")
        for kind in LENGTH:
            compare(path, stored.values, replace(how, decode_as=kind, codec=stored.given), rng)


def test_random_tables(tmp_path):
    """Sizes at random: single rows, long rows, rows that a block of scratch memory does not hold many of."""
    rng, chance = np.random.default_rng(SEED), random.Random(SEED)
    makers = {maker.__name__: maker for maker in MAKERS}
    lengths = {"nvfp4": 16, "fp8_blocks": 1, "fp8_rows": 1, "nf4": 64, "nf4_nested": 64, "nf4_across": 2, "rowwise8": 1}
    for case in range(60 * ROUNDS):
        name = chance.choice(sorted(lengths))
        rows, length = chance.choice([1, 2, 7, 129, 600]), lengths[name] * chance.choice([1, 2, 3, 40])
        stored = makers[name](rng, rows, length)
        path = stored.write(tmp_path / f"{case}.safetensors")
        how = replace(chance.choice(settings(8, str(case))), decode_as=chance.choice(sorted(LENGTH)), codec=stored.given)
        compare(path, stored.values, how, rng)


def test_policies(model):
    path, values = model
    rows, name = values["Q8_0"], f"{path}:Q8_0"
    ids = np.array([1, 1000, -2, -999, 3])
    with Table(name, Setting(decode_as="float32")) as table:
        with pytest.raises(TableError) as error:
            table.take(ids)
        assert (error.value.status, error.value.position, error.value.value, error.value.bad_count) == ("index_out_of_range", (1,), 1000, 2)
        assert error.value.range == (-60, 59)
        out = table.new(ids)
        refuses(TableError, table.take, ids, out)
        assert (out == 0xEE).all()
        taken, bad = table.take(ids, on_bad="clamp")
        assert bad == 2 and same(taken, rows[[1, 59, -2, 0, 3]])
        taken, bad = table.take(ids, on_bad="fill", fill=np.float32(7.5).tobytes())
        want = rows[[1, 0, -2, 0, 3]]
        want[[1, 3]] = 7.5
        assert bad == 2 and same(taken, want)
        taken, bad = table.take(np.array([70, 80]), on_bad="zero")
        assert bad == 2 and not taken.any()


def test_statistics(model):
    path, values = model
    with Table(f"{path}:Q4_K", Setting("pread", cache=0, decode_as="float32")) as table:
        table.take(np.arange(50))
        found = table.statistics
        assert (found.takes, found.rows, found.rows_read, found.rows_resident) == (1, 50, 50, 0)
        assert found.bytes_useful == 50 * 288  # as they are in the file
        assert found.reads > 0 and found.bytes_read > 0 and found.memory_bytes > 0
        assert table.info.codec == b"Q4_K" and table.info.type_name == b"float32"
    with Table(f"{path}:Q4_K") as table:
        assert table.info.codec is None


def test_memory_limit(tmp_path):
    """The peak stays below the limit; the least limit is in the message, and is enough."""
    rng = np.random.default_rng(SEED)
    stored = nvfp4(rng, 20_000, 1024)
    path = stored.write(tmp_path / "x.safetensors")
    ids = rng.integers(0, 20_000, 10_000)
    for engine in engines():
        with pytest.raises(TableError) as error:
            Table(path, Setting(engine, MIB, decode_as="float16"))
        assert error.value.status == "usage"
        least = int(str(error.value).rsplit(" ", 1)[1])
        with Table(path, Setting(engine, least, decode_as="float16")) as table:
            assert same(table.take(ids)[0], stored.values[ids], "float16")
            assert table.statistics.memory_peak <= least == table.statistics.memory_ceiling


def test_parts(tmp_path, model):
    """Parts with scales of their own for the whole tensor, and blocks that count from their own first row."""
    rng = np.random.default_rng(SEED)
    parts = [nvfp4(rng, rows) for rows in (40, 3, 0, 200)]
    paths = [stored.write(tmp_path / f"{i}.safetensors") for i, stored in enumerate(parts)]
    values = np.concatenate([stored.values for stored in parts])
    compare(paths, values, Setting(decode_as="float32"), rng)
    across = [nf4_across(rng, rows) for rows in (5, 70)]
    paths = [stored.write(tmp_path / f"a{i}.safetensors") for i, stored in enumerate(across)]
    compare(paths, np.concatenate([stored.values for stored in across]), Setting(decode_as="float32"), rng)
    with Table(paths, Setting(decode_as="float32")) as table:
        assert [(p.first, p.rows) for p in table.parts] == [(0, 5), (5, 70)]
    path, decoded = model  # another codec, with rows of the same shape
    paths = [f"{path}:Q4_0", f"{path}:Q6_K"]
    compare(paths, np.concatenate([decoded["Q4_0"], decoded["Q6_K"]]), Setting(decode_as="float32"), rng)
    with pytest.raises(TableError, match="decoded rows have the shape") as error:
        Table([f"{path}:Q4_0", parts[0].write(tmp_path / "b.safetensors")], Setting(decode_as="float32"))
    assert error.value.status == "shape_mismatch"


def test_cut_short(tmp_path):
    """A file that is truncated while it is open: the error names the row of the whole table."""
    rng = np.random.default_rng(SEED)
    parts = [nvfp4(rng, 3, 256), nvfp4(rng, 5000, 256)]
    paths = [stored.write(tmp_path / f"{i}.safetensors") for i, stored in enumerate(parts)]
    for engine in engines():
        parts[1].write(tmp_path / "1.safetensors")
        with Table(paths, Setting(engine, cache=0, decode_as="float32")) as table:
            begin = next(p for p in table.parts if p.first == 3).offset
            evict(tmp_path / "1.safetensors")
            os.truncate(tmp_path / "1.safetensors", begin + 4000 * 128)
            with pytest.raises(TableError) as error:
                table.take(np.array([1, 4990]))
            assert (error.value.status, error.value.row) == ("io_error", 4990)
            assert error.value.file.endswith("1.safetensors")


def test_rows_with_their_codec(tmp_path, model):
    """Rows that contain their scales, in files that do not say so."""
    rng = np.random.default_rng(SEED)
    raw, values = blocks_of(rng, "Q5_1")
    np.save(tmp_path / "x.npy", raw)
    compare(tmp_path / "x.npy", values, Setting(decode_as="float32", codec="Q5_1"), rng)
    raw.tofile(tmp_path / "x.raw")
    with Table(tmp_path / "x.raw", Setting(decode_as="float32", codec="Q5_1"), ("uint8", (-1, raw.shape[1]), 0)) as t:
        assert same(t.take(np.arange(60))[0], values)
    path, decoded = model
    compare(f"{path}:Q4_0", decoded["Q4_0"], Setting(decode_as="float32", codec="Q4_0"), rng)


@pytest.mark.parametrize("codec, status, text", [
    ("Q4_1", "usage", r"'Q4_0' is quantised as GGUF \(codec Q4_0\), not with the codec 'Q4_1'"),
    ("nonsense", "usage", "not with the codec 'nonsense'"),
])
def test_wrong_codec(model, codec, status, text):
    with pytest.raises(TableError, match=text) as error:
        Table(f"{model[0]}:Q4_0", Setting(decode_as="float32", codec=codec))
    assert error.value.status == status


def test_refused_options(model, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 20), np.uint8))
    np.save(tmp_path / "f.npy", np.asfortranarray(np.zeros((4, 36), np.uint8)))
    for path, how, status, text in [
        (f"{model[0]}:Q4_0", Setting(decode_as="int8"), "type_unsupported", "float32, float16 or bfloat16"),
        (f"{model[0]}:Q4_0", Setting(codec="Q4_0"), "usage", "a codec needs decode_as"),
        (tmp_path / "x.npy", Setting(decode_as="float32"), "unsupported", "the file does not describe how the tensor"),
        (tmp_path / "x.npy", Setting(decode_as="float32", codec="none"), "usage", "no such codec: 'none'"),
        (tmp_path / "x.npy", Setting(decode_as="float32", codec="Q4_0"), "shape_mismatch", "Q4_0"),
        (tmp_path / "x.npy", Setting(decode_as="float32", codec="affine"), "unsupported", "needs side tensors"),
        (tmp_path / "x.npy", Setting(decode_as="float32", codec="gptq"), "unsupported", "not decoded"),
        (tmp_path / "f.npy", Setting(decode_as="float32", codec="Q4_0"), "unsupported", "row-major"),
    ]:
        with pytest.raises(TableError, match=text) as error:
            Table(path, how)
        assert error.value.status == status, text


# ---- floats, which are values already

FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
          "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn", "F6_E3M2": "float6_e3m2fn"}  # fmt: skip


def packed(array: np.ndarray) -> bytes:
    """The elements' bits, one after the other; ml_dtypes has one element in a byte."""
    bits = {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}.get(array.dtype.name, 0)
    if not bits:
        return array.tobytes()
    return np.packbits(np.unpackbits(array.view(np.uint8).reshape(-1, 1), axis=1, bitorder="little")[:, :bits], bitorder="little").tobytes()


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("shape", [(60, 8), (60, 1500), (64,), (20, 3, 8), (7, 0, 4)], ids=str)
def test_floats(name, shape, tmp_path):
    dtype = np.dtype(getattr(ml_dtypes, FLOATS[name], FLOATS[name]))
    if len(shape) == 1 and dtype.name.startswith(("float4", "float6")):
        shape = (64, 4)  # rows on whole bytes
    rng = np.random.default_rng(SEED)
    with np.errstate(all="ignore"):
        values = (rng.standard_normal(shape) * 10.0 ** rng.integers(-9, 9, shape)).astype(dtype)
        exact = values.astype(np.float32)
    stored = Stored("w", {"w": (name, shape, packed(values))}, exact, "float")
    path = stored.write(tmp_path / "x.safetensors")
    for how in settings(3 * ROUNDS, f"{name} {shape}"):
        for kind in LENGTH:
            compare(path, exact, replace(how, decode_as=kind, codec="" if values.itemsize > 1 else "float"), rng)


def test_floats_of_the_other_byte_order(tmp_path):
    rng = np.random.default_rng(SEED)
    for kind in (">f2", "<f2", ">f4", "<f4", ">f8", "<f8"):
        values = rng.standard_normal((50, 9)).astype(kind)
        np.save(tmp_path / "x.npy", values)
        compare(tmp_path / "x.npy", values.astype(np.float32), Setting(decode_as="float32", codec="float"), rng)


def test_small_floats_may_have_scales_elsewhere(tmp_path):
    """Their values would be wrong without the scales, so only the caller can say that there are none."""
    for name, dtype, need in (("F8_E4M3", (4, 4), True), ("F8_E5M2", (4, 4), True), ("F4", (4, 8), True), ("BF16", (4, 2), False)):
        path = Stored("w", {"w": (name, dtype, bytes(range(16)))}, np.zeros(0), "float").write(tmp_path / "x.safetensors")
        if need:
            with pytest.raises(TableError, match="is quantised; if it has no scales, the codec float") as error:
                Table(path, Setting(decode_as="float32"))
            assert error.value.status == "unsupported"
        with Table(path, Setting(decode_as="float32", codec="float")) as table:
            assert table.shape[0] == 4


def test_empty(tmp_path):
    for rows, length in ((0, 96), (5, 0)):
        stored = nvfp4(np.random.default_rng(SEED), rows, length)
        with Table(stored.write(tmp_path / "x.safetensors"), Setting(decode_as="float32")) as table:
            assert table.shape == (rows, length)
            assert table.take(np.zeros(0, np.int64))[0].size == 0
    assert part(np.zeros(3, np.uint8))[1] == (3,)
