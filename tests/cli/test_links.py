# SPDX-License-Identifier: MIT
"""Links beside a model, or beside an index of safetensors files: followed, unless --no-links."""

import json

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
import safetensors.numpy
from models import IR

TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)


def onnx_beside(folder, location: str = "w.bin") -> str:
    """A model whose table is in another file."""
    tensor = onnx.numpy_helper.from_array(TABLE, "table")
    onnx.external_data_helper.set_external_data(tensor, location)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    node = onnx.helper.make_node("Gather", ["table", "ids"], ["y"], name="g")
    ids = onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, [2])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 2])
    graph = onnx.helper.make_graph([node], "m", [ids], [y], [tensor])
    (folder / "m.onnx").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    (folder / location).parent.mkdir(exist_ok=True)
    (folder / location).write_bytes(TABLE.tobytes())
    return "m.onnx"


def make_link(path) -> None:
    """Puts the file elsewhere, and a link in its place."""
    away = path.parent / "away"
    away.mkdir(exist_ok=True)
    path.rename(away / path.name)
    path.symlink_to(away / path.name)


def shards(folder) -> str:
    safetensors.numpy.save_file({"table": TABLE}, folder / "s1.safetensors")
    safetensors.numpy.save_file({"other": TABLE}, folder / "s2.safetensors")
    index = {"weight_map": {"table": "s1.safetensors", "other": "s2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return "model.safetensors.index.json"


def readers(model: str):
    yield "take", f"{model}:table", "[1]", "-o", "o.npy", "-f"
    yield "take", f"{model}:table", "[1]", "-o", "o.npy", "-f", "--memory", "4MiB"
    yield "elements", f"{model}:table", "[[1, 1]]", "-o", "o.npy", "-f"
    yield "shuffle", f"{model}:table", "-o", "o.npy", "-f"
    yield "explain", f"{model}:table", "1"


@pytest.mark.parametrize("deep", [False, True])
def test_external_data(gather, deep):
    model = onnx_beside(gather.folder, "deep/w.bin" if deep else "w.bin")
    for words in readers(model):
        assert gather(*words, "--no-links").code == 0
    make_link(gather.folder / ("deep" if deep else "w.bin"))
    for words in readers(model):
        assert gather(*words).code == 0
        error = gather.fails("io_error", *words, "--no-links")
        assert "symbolic link" in error["message"] and error["file"].endswith("w.bin")
    run = ("run", model, "--input", "ids=[1, 2]", "--output", "y=y.npy")
    assert gather(*run).code == 0
    assert gather(*run, "-f", "--no-links").code == 3
    assert "symbolic link" in gather("info", model, "--no-links").text
    assert gather("check", model, "--input", "ids=[1, 2]", "--no-links").code == 0


def test_the_bin_of_an_xml(gather):
    ir = IR()
    table = ir.const("table", TABLE)
    axis, ids = ir.const("axis", np.array(0)), ir.parameter("ids", "int64", [2])
    gathered = ir.layer("g", "Gather", "opset8", "", [table, ids, axis], ("float32", [2, 2]))
    ir.layer("y", "Result", "opset1", "", [gathered])
    ir.save(gather.folder / "m.xml")
    make_link(gather.folder / "m.bin")
    for words in readers("m.xml"):
        assert gather(*words).code == 0
        assert "symbolic link" in gather.fails("io_error", *words, "--no-links")["message"]


def test_shards(gather):
    model = shards(gather.folder)
    make_link(gather.folder / "s2.safetensors")
    for words in readers(model):
        assert gather(*words, "--no-links").code == 0  # the other file is the link
    make_link(gather.folder / "s1.safetensors")
    for words in readers(model):
        assert gather(*words).code == 0
        assert "symbolic link" in gather.fails("io_error", *words, "--no-links")["message"]


def test_the_model_itself_may_be_a_link(gather):
    model = onnx_beside(gather.folder)
    make_link(gather.folder / model)
    for words in readers(model):
        assert gather(*words, "--no-links").code == 0
