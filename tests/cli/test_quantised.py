# SPDX-License-Identifier: MIT
"""`take --as`: rows of quantised tensors, decoded; and what `info` says about them."""

import time

import gguf
import numpy as np
import pytest
from support.numpy_files import npy
from support.quantised_files import MAKERS, fp8_blocks, mxfp4, nf4, nvfp4, part, rowwise8, safetensors
from tables import ENGINES, MIB, make_cold

RNG = np.random.default_rng(30)


@pytest.fixture
def model(gather):
    """A GGUF file with a quantised table, and its values."""
    raw = gguf.quants.quantize(RNG.standard_normal((1000, 256)).astype(np.float32), gguf.GGMLQuantizationType.Q8_0)
    writer = gguf.GGUFWriter(gather.folder / "m.gguf", "llama")
    writer.add_tensor("emb", raw, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("norm", np.zeros((4, 3), np.float32))
    writer.add_tensor("grid", np.zeros((3, 360), np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q8_1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return gguf.quants.dequantize(raw, gguf.GGMLQuantizationType.Q8_0)


def test_types(gather, model):
    answer = gather.json("take", "m.gguf:emb", "[3, -1]", "-o", "o.npy", "--as", "float32")
    assert (answer["type"], answer["codec"], answer["shape"], answer["bytes"]) == ("float32", "Q8_0", [2, 256], 2048)
    assert np.array_equal(gather.load("o.npy"), model[[3, -1]])
    assert np.array_equal(gather.result("take", "m.gguf:emb", "[3, -1]", "--as", "float16"), model[[3, -1]].astype(np.float16))
    error = gather.fails("unsupported", "take", "m.gguf:emb", "[3]", "-o", "b.npy", "--as", "bfloat16")
    assert "npy cannot carry the type bfloat16" in error["message"]
    answer = gather.json("take", "m.gguf:emb", "[3, 5]", "-o", "b.safetensors", "--as", "bfloat16")
    assert answer["type"] == "bfloat16"
    bits = np.frombuffer((gather.folder / "b.safetensors").read_bytes()[-1024:], "<u2").astype(np.uint32) << 16
    want = model[[3, 5]].reshape(-1)
    assert np.all(np.abs(bits.view(np.float32) - want) <= np.abs(want) / 256)
    assert gather.json("info", "b.safetensors")["tensors"][0]["name"] == "emb"
    raw = gather.json("take", "m.gguf:emb", "[3]", "-o", "raw.npy")  # as before
    assert raw["type"] == "Q8_0" and raw["shape"] == [1, 8] and "codec" not in raw


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
def test_parts_of_the_output(gather, engine, cold):
    """An output larger than the memory limit, written in parts."""
    stored = nvfp4(RNG, 3000, 512)
    ids = RNG.integers(-3000, 3000, 4000)
    gather.save("i.npy", ids)
    name = stored.write(gather.folder / "x.safetensors")
    if cold:
        make_cold(gather.folder / "x.safetensors")
    answer = gather.json("take", name, "i.npy", "-o", "o.npy", "--as", "float32", "--memory", "6MiB", "--engine", engine)
    assert np.array_equal(gather.load("o.npy"), stored.values[ids])
    table = answer["table"]
    assert table["rows"] == len(ids) and 0 < table["memory_peak"] <= 6 * MIB == table["memory_ceiling"]
    assert table["bytes_useful"] == len(ids) * (256 + 32)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_layouts(gather, maker):
    stored = maker(RNG)
    name = stored.write(gather.folder / "x.safetensors")
    words = ["--codec", stored.given] if stored.given else []
    answer = gather.json("take", name, "[[1, 0], [-1, 2]]", "-o", "o.npy", "--as", "float32", *words)
    assert answer["codec"] == stored.codec
    assert np.array_equal(gather.load("o.npy"), stored.values[[[1, 0], [-1, 2]]])
    info = next(t for t in gather.json("info", name)["tensors"])
    text = gather("info", name).text
    if not stored.given:
        assert (info["codec"], info["layout"]) == (stored.codec, stored.layout)
        assert info["decoded_shape"] == list(stored.values.shape)
        shape = ", ".join(map(str, stored.values.shape))
        assert f"\n  decodes to [{shape}]: {stored.layout}, codec {stored.codec}\n" in text
    elif stored.codec == "biased":
        assert "give the codec as" in info["not_decoded"] and "\n  cannot be decoded: " in text
    else:
        assert "codec" not in info and "decode" not in text


def test_info_of_gguf(gather, model):
    emb, norm, grid = gather.json("info", "m.gguf")["tensors"]
    assert (emb["codec"], emb["layout"], emb["decoded_shape"], emb["shape"]) == ("Q8_0", "GGUF", [1000, 256], [1000, 8])
    assert "codec" not in norm and "not_decoded" not in norm
    assert "quantised as Q8_1, which is not decoded: " in grid["not_decoded"]
    text = gather("info", "m.gguf").text
    assert "  decodes to [1000, 256]: GGUF, codec Q8_0\n" in text and text.count("  decodes to ") == 1


def test_parts_are_files(gather, model):
    first, second = nvfp4(RNG, 40), nvfp4(RNG, 7)
    paths = [stored.write(gather.folder / f"{i}.safetensors") for i, stored in enumerate((first, second))]
    gather.json("take", paths[0], "[0, 46, 40]", "--part", paths[1], "-o", "o.npy", "--as", "float32")
    assert np.array_equal(gather.load("o.npy"), np.concatenate([first.values, second.values])[[0, 46, 40]])


def test_shards(gather):
    """The codes in one file of a model, their scales in another."""
    stored, files = fp8_blocks(RNG), {}
    for i, (name, tensor) in enumerate(stored.tensors.items()):
        (gather.folder / f"{i}.safetensors").write_bytes(safetensors({name: tensor}))
        files[name] = f"{i}.safetensors"
    index = {"metadata": {}, "weight_map": files}
    (gather.folder / "model.safetensors.index.json").write_text(__import__("json").dumps(index))
    gather.json("take", f"model.safetensors.index.json:{stored.name}", "[299, 1]", "-o", "o.npy", "--as", "float32")
    assert np.array_equal(gather.load("o.npy"), stored.values[[299, 1]])


def test_policies_and_errors(gather, model):
    error = gather.fails("index_out_of_range", "take", "m.gguf:emb", "[[1, 2], [1000, -1001]]", "-o", "o.npy", "--as", "float32")
    assert (error["position"], error["value"], error["low"], error["high"], error["bad_count"]) == ([1, 0], 1000, -1000, 999, 2)
    assert not (gather.folder / "o.npy").exists()
    answer = gather.json("take", "m.gguf:emb", "[1, 1000]", "-o", "o.npy", "--as", "float16", "--on-bad", "fill=1.5")
    assert answer["indices"] == {"count": 2, "bad": 1}
    assert np.array_equal(gather.load("o.npy")[1], np.full(256, 1.5, np.float16))
    dry = gather("take", "m.gguf:emb", "[1, 5]", "--as", "float32", "--dry-run")
    assert "result: would be float32 [2, 256], 2048 bytes; 2 indices\n" in dry.text and "(Q8_0 as float32)" in dry.text
    assert gather("take", "m.gguf:emb", "[9]", "--as", "float32", "-o", "-", "-q").out == npy(model[[9]])


def test_refusals(gather, model):
    gather.save("x.npy", np.zeros((4, 18), np.uint8))
    take = ("-o", "o.npy", "--as", "float32")
    for status, words, text in [
        ("usage", ("m.gguf:emb", "0", "-o", "o.npy", "--as", "float64"), "--as takes float32, float16 or bfloat16, not 'float64'"),
        ("usage", ("m.gguf:emb", "0", "-o", "o.npy", "--codec", "Q8_0"), "--codec needs --as TYPE"),
        ("usage", ("x.npy", "0", *take, "--codec", "Q9_0"), "--codec: no such codec 'Q9_0'"),
        ("usage", ("m.gguf:emb", "0", *take, "--axis", "1"), "--as needs rows of a table, and this take does not read any"),
        ("usage", ("-", "0", *take), "--as needs rows of a file, but DATA is standard input"),
        ("usage", ("m.gguf:emb", "0", *take, "--codec", "Q4_0"), "not with the codec 'Q4_0'"),
        ("usage", ("m.gguf:emb", "0", *take, "--memory", "1MiB"), "--memory 1.00 MiB is too little for rows of 1024 bytes"),
        ("unsupported", ("x.npy", "0", *take), "the file does not describe how the tensor (uint8) is quantised"),
        ("unsupported", ("m.gguf:grid", "0", *take), "'grid' is quantised as Q8_1, which is not decoded"),
        ("unsupported", ("x.npy", "0", *take, "--codec", "gptq"), "x.npy: rows that are quantised as gptq are not decoded: a word holds"),
        ("name_not_found", ("m.gguf:none", "0", *take), "no such tensor 'none'"),
    ]:  # fmt: skip
        assert text in gather.fails(status, "take", *words)["message"]
    assert "gather: hint: --codec NAME says how" in gather("take", "x.npy", "0", *take).errors
    assert "gather: hint: without --as the rows" in gather("take", "m.gguf:grid", "0", *take).errors
    assert "gather: hint: without --as the rows" in gather("take", "x.npy", "0", *take, "--codec", "gptq").errors
    assert "did you mean" in gather("take", "x.npy", "0", *take, "--codec", "rowwise9").errors


def test_side_tensors(gather):
    stored = mxfp4(RNG)
    del stored.tensors["w_scales"]
    name = stored.write(gather.folder / "x.safetensors")
    error = gather.fails("name_not_found", "take", name, "0", "-o", "o.npy", "--as", "float32")
    assert "its side tensor 'w_scales' is missing" in error["message"] and error["file"].endswith("x.safetensors")
    assert "'w_scales' is missing" in gather.json("info", name)["tensors"][0]["not_decoded"]
    stored = nf4(RNG)
    stored.tensors["c.weight.absmax"] = part(np.zeros(3, np.float32))
    error = gather.fails("shape_mismatch", "take", stored.write(gather.folder / "y.safetensors"), "0", "-o", "o.npy", "--as", "float32")
    assert "'c.weight.absmax' has the shape [3], but NF4 (bitsandbytes) needs 120 elements" in error["message"]


def test_rows_with_their_codec(gather):
    stored = rowwise8(RNG)
    rows = np.frombuffer(stored.tensors["e"][2], np.uint8).reshape(stored.tensors["e"][1])
    gather.save("x.npy", rows)
    rows.tofile(gather.folder / "x.raw")
    assert np.array_equal(gather.result("take", "x.npy", "[7, 0]", "--as", "float32", "--codec", "rowwise8"), stored.values[[7, 0]])
    gather.json("take", "x.raw", "[7, 0]", "-o", "p.npy", "--as", "float32", "--codec", "rowwise8", "--type", "uint8",
                "--shape", f"-1x{rows.shape[1]}")  # fmt: skip
    assert np.array_equal(gather.load("p.npy"), stored.values[[7, 0]])


def test_completion(gather):
    assert gather("__complete", "take", "--as", "").text.split() == ["none", "0", "float32", "float16", "bfloat16"]
    words = [line.split("\t")[0] for line in gather("__complete", "take", "--codec", "r").text.splitlines()[1:]]
    assert words == ["rowwise8", "rowwise4", "rowwise2"]


@pytest.mark.in_full
def test_many_tensors_that_look_quantised(gather):
    """Side tensors are found by a table of names: a search of all names for each tensor took five minutes for these."""
    codes, scales = np.zeros((4, 4), np.uint8), np.zeros(4, np.float32)
    tensors = {}
    for i in range(40_000):
        tensors[f"layers.{i}.weight"], tensors[f"layers.{i}.scales"] = part(codes), part(scales)
    (gather.folder / "m.safetensors").write_bytes(safetensors(tensors))
    begin = time.monotonic()
    answer = gather.json("info", "m.safetensors")
    assert time.monotonic() - begin < 60
    assert [row["name"] for row in answer["tensors"]] == list(tensors)
    assert gather.json("info", "m.safetensors:layers.39999.scales")["tensors"][0]["name"] == "layers.39999.scales"
    assert "'layers.7.scales'" in gather.fails("name_not_found", "info", "m.safetensors:layers.7.scale")["message"]


def test_tensors_without_a_name(gather) -> None:
    """.npy and raw bytes have no names: a message about one has no empty quotes."""
    gather.save("f4.npy", np.zeros((4, 32), np.float32))
    gather.save("u1.npy", np.zeros((4, 33), np.uint8))
    gather.save("one.npy", np.zeros(64, np.uint8))
    gather.save("i8.npy", np.zeros((4, 32), np.int64))
    gather.save("fortran.npy", np.asfortranarray(np.zeros((4, 34), np.uint8)))
    gather.write("raw.bin", bytes(128))
    raw = ("--type", "float8_e4m3fn", "--shape", "4x32")
    for line in (("f4.npy", "--codec", "Q8_0"), ("u1.npy", "--codec", "Q8_0"), ("one.npy", "--codec", "Q8_0"), ("i8.npy",), ("u1.npy", "--codec", "affine"),
                 ("u1.npy", "--codec", "biased:4"), ("i8.npy", "--codec", "nf4"), ("fortran.npy", "--codec", "Q8_0"), ("raw.bin", *raw),
                 ("raw.bin", *raw, "--codec", "Q8_0")):  # fmt: skip
        answer = gather("take", line[0], "[0]", "--as", "float32", *line[1:], "-o", "o.npy")
        assert answer.code != 0 and "''" not in answer.errors and "tensor  " not in answer.errors, (line, answer)
