# SPDX-License-Identifier: MIT
"""Results as .safetensors, which keep types that .npy has not: read back by the format's own library."""

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from models import onnx_model

TABLE = np.arange(24).reshape(6, 4)
TWO = """two (int64[n] ids) => (float[n, 2] y, int64[n] z)
<float[4,2] table = {0,1, 10,11, 20,21, 30,31}, int64[3] labels = {7, 8, 9}> { y = Gather(table, ids) z = Gather(labels, ids) }"""


@pytest.fixture
def bfloat16(gather) -> list[str]:
    """A bfloat16 table of raw bytes, as the words that name it."""
    gather.write("t.bin", TABLE.astype(ml_dtypes.bfloat16).tobytes())
    return ["t.bin", "--type", "bfloat16", "--shape", "6x4"]


def read(gather, name: str) -> dict[str, np.ndarray]:
    return safetensors.numpy.load_file(gather.folder / name)


def test_a_bfloat16_table_keeps_type_and_shape(gather, bfloat16):
    data, *raw = bfloat16
    answer = gather.json("take", data, "[[5, 0]]", *raw, "-o", "o.safetensors")
    assert (answer["type"], answer["shape"], answer["bytes"], answer["output"]) == ("bfloat16", [1, 2, 4], 16, "o.safetensors")
    rows = read(gather, "o.safetensors")
    assert list(rows) == ["data"] and rows["data"].dtype == ml_dtypes.bfloat16
    assert np.array_equal(rows["data"], TABLE[[[5, 0]]].astype(ml_dtypes.bfloat16))
    tensors = gather.json("info", "o.safetensors")["tensors"]
    assert [(t["name"], t["type"], t["shape"]) for t in tensors] == [("data", "bfloat16", [1, 2, 4])]
    assert gather("take", "o.safetensors", "[0]", "-o", "again.safetensors").code == 0
    assert np.array_equal(read(gather, "again.safetensors")["data"], rows["data"])


def test_the_advice_where_npy_has_no_such_type(gather, bfloat16):
    data, *raw = bfloat16
    for words in (["-o", "o.npy"], ["-o", "-"]):
        error = gather.fails("unsupported", "take", data, "[0]", *raw, *words)
        assert error["message"] == "npy cannot carry the type bfloat16; use safetensors, pb or raw"


def test_names_of_tensors(gather, bfloat16):
    data, *raw = bfloat16
    names = ["emb", "model.embed_tokens.weight", "encoder/emb", "a:b", "x.npy", "größe"]
    for name in names:
        assert gather.json("take", data, "[1]", *raw, "-o", f"o.safetensors:{name}", "-f")["output"] == "o.safetensors"
        assert list(read(gather, "o.safetensors")) == [name]
        assert gather("take", f"o.safetensors:{name}", "[0]", "-o", "p.safetensors", "-f").code == 0
        assert list(read(gather, "p.safetensors")) == [name], "the tensor keeps the name that it had"
    assert gather.names() == {"t.bin", "o.safetensors", "p.safetensors"}
    for wrong in ("o.safetensors:", "o.safetensors:__metadata__", "o.npy:emb", "o.safetensor"):
        gather.fails("usage", "take", data, "[1]", *raw, "-o", wrong, "-f")


@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">i8", "<c8", "|b1", ">u2", "f8"])
def test_elements_are_little_endian(gather, dtype):
    data = TABLE.astype(dtype)
    gather.save("x.npy", data)
    assert gather("elements", "x.npy", "[[0, -1, 2, 3]]", "-o", "o.safetensors").code == 0
    assert np.array_equal(read(gather, "o.safetensors")["data"], np.take_along_axis(data, np.array([[0, -1, 2, 3]]), 0))


@pytest.mark.parametrize("dtype", ["c16", "S3", "M8[s]", "i4,f4"])
def test_types_that_it_has_not(gather, dtype):
    gather.save("x.npy", np.zeros(3, dtype))
    error = gather.fails("unsupported", "take", "x.npy", "[1]", "-o", "o.safetensors")
    assert "safetensors cannot carry the type" in error["message"] and "; use npy" in error["message"]


def test_packed_elements_end_on_a_whole_byte(gather):
    gather.write("t.bin", bytes(range(64)))
    raw = ["t.bin", "--type", "float4_e2m1fn", "--shape"]
    assert gather("take", *raw, "4x4", "[3, 1]", "-o", "o.safetensors").code == 0
    assert gather.json("info", "o.safetensors")["tensors"][0]["type"] == "float4_e2m1fn"
    for shape, indices in (("4x3", "[3]"), ("9", "3")):
        error = gather.fails("unsupported", "take", *raw, shape, indices, "-o", "p.safetensors")
        assert "whole byte" in error["message"]
    assert gather("take", *raw, "4x3", "[3, 1]", "-o", "q.safetensors").code == 0


def test_outputs_larger_than_the_memory(gather):
    data = np.arange(40000 * 32, dtype=np.float32).reshape(40000, 32)
    gather.save("x.npy", data)
    gather.save("i.npy", np.arange(40000)[::-1].copy())
    answer = gather.json("take", "x.npy", "i.npy", "--memory", "4M", "-o", "o.safetensors:rows")
    assert answer["bytes"] == data.nbytes and answer["table"]["memory_peak"] <= 4 << 20
    assert np.array_equal(read(gather, "o.safetensors")["rows"], data[::-1])


@pytest.mark.parametrize("passes", [1, 2])
def test_a_shuffle(gather, passes):
    gather.save("x.npy", TABLE.astype(">f4"))
    answer = gather.json("shuffle", "x.npy", "--order", "[5, 4, 3, 2, 1, 0]", "--passes", passes, "-o", "o.safetensors:rows")
    assert answer["output"] == "o.safetensors"
    assert np.array_equal(read(gather, "o.safetensors")["rows"], TABLE[::-1])
    assert gather.names() == {"x.npy", "o.safetensors"}


# ---- run: one output, several, all


@pytest.fixture
def two(gather) -> str:
    onnx_model(gather.folder / "m.onnx", TWO)
    return "m.onnx"


Y, Z = [[20, 21], [0, 1]], [9, 7]


def test_all_outputs_of_a_model_in_one_file(gather, two):
    answer = gather.json("run", two, "--input", "ids=[2, 0]", "-o", "o.safetensors")
    assert [(o["name"], o["output"]) for o in answer["outputs"]] == [("y", "o.safetensors"), ("z", "o.safetensors")]
    found = read(gather, "o.safetensors")
    assert found["y"].tolist() == Y and found["z"].tolist() == Z and len(found) == 2


def test_outputs_by_name(gather, two):
    run = ["run", two, "--input", "ids=[2, 0]"]
    assert gather(*run, "--output", "y=o.safetensors:a/b", "--output", "z=o.safetensors").code == 0
    found = read(gather, "o.safetensors")
    assert found["a/b"].tolist() == Y and found["z"].tolist() == Z and len(found) == 2
    assert gather(*run, "--output", "z=p.safetensors:only", "--output", "y=y.npy").code == 0
    assert read(gather, "p.safetensors")["only"].tolist() == Z and gather.load("y.npy").tolist() == Y
    assert gather.names() == {"m.onnx", "o.safetensors", "p.safetensors", "y.npy"}


def test_one_node(gather, two):
    assert gather("run", two, "--node", "y", "--input", "ids=[2, 0]", "-o", "o.safetensors").code == 0
    assert read(gather, "o.safetensors")["y"].tolist() == Y
    assert gather.result("run", two, "--node", "y", "--input", "ids=[2, 0]").tolist() == Y


def test_an_existing_file_is_kept(gather, two):
    gather.write("o.safetensors", "old")
    gather.fails("file_exists", "run", two, "--input", "ids=[2, 0]", "-o", "o.safetensors")
    assert (gather.folder / "o.safetensors").read_bytes() == b"old"
    assert gather("run", two, "--input", "ids=[2, 0]", "-o", "o.safetensors", "-f").code == 0
    assert len(read(gather, "o.safetensors")) == 2
