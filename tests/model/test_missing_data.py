# SPDX-License-Identifier: MIT
"""Models whose data file is missing or too short: they are checked and shown, and only the values that are not there cannot be used."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.skip import skip_test

GATHER = os.environ["GATHER_EXE"]
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def run(*arguments, status: int = 0) -> dict:
    done = subprocess.run([GATHER, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (done.stdout, done.stderr)
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def reads_models() -> None:
    done = subprocess.run([GATHER, "info", "--formats", "--json"], capture_output=True, text=True, check=True)
    if not {"onnx", "ir"} <= {row["name"] for row in json.loads(done.stdout)["formats"]}:
        skip_test("models", "this build does not read both kinds of models")


def save(folder: Path, outside: set[str], indices=(0, 3)) -> Path:
    """out = table[indices], shape = the table's shape; the tensors in `outside` have their values in files of their own."""
    nodes = [helper.make_node("Identity", ["ids"], ["same"]), helper.make_node("Gather", ["table", "same"], ["out"], "g"),
             helper.make_node("Shape", ["table"], ["shape"])]
    tensors = [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array(indices), "ids")]
    for tensor in tensors:
        if tensor.name in outside:
            (folder / tensor.name).write_bytes(tensor.raw_data)
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=tensor.name)
    outputs = [helper.make_tensor_value_info("out", TensorProto.FLOAT, None), helper.make_tensor_value_info("shape", TensorProto.INT64, [2])]
    graph = helper.make_graph(nodes, "m", [], outputs, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), folder / "m.onnx")
    return folder / "m.onnx"


def test_all_is_there(tmp_path) -> None:
    path = save(tmp_path, {"table", "ids"})
    assert run("check", path)["nodes"][0]["verdict"] == "ok"
    run("run", path, "--output", f"out={tmp_path / 'out.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), TABLE[[0, 3]])


@pytest.mark.parametrize("cut", [None, 4])
def test_missing_indices_are_unknown(cut, tmp_path) -> None:
    path = save(tmp_path, {"ids"})
    (tmp_path / "ids").unlink() if cut is None else os.truncate(tmp_path / "ids", cut)
    node = run("check", path)["nodes"][0]
    assert node["verdict"] == "unknown" and "cannot be read" in node["reason"] and "'ids'" in node["reason"]
    assert "No such file" in node["reason"] if cut is None else "needs 16 bytes" in node["reason"]
    if cut is None:  # shapes are known all the same
        assert run("info", path)["tensors"][1]["shape"] == [2] and "No such file" in run("info", path)["tensors"][1]["unreadable"]
    answer = run("run", path, "--output", f"out={tmp_path / 'out.npy'}", status=3)["error"]
    assert "ids" in answer["message"] and not (tmp_path / "out.npy").exists()


def test_missing_data_is_checked(tmp_path) -> None:
    """Only the length of the table matters to a check."""
    path = save(tmp_path, {"table"}, (0, 4))
    (tmp_path / "table").unlink()
    node = run("check", path, status=1)["nodes"][0]
    assert node["verdict"] == "bad"
    answer = run("take", f"{path}:table", "[0]", "--output", tmp_path / "out.npy", status=3)["error"]
    assert answer["status"] == "file_not_found" and answer["file"] == str(tmp_path / "table") and "'table'" in answer["message"]


def test_a_given_input_takes_the_place_of_what_is_missing(tmp_path) -> None:
    path = save(tmp_path, {"ids"})
    (tmp_path / "ids").unlink()
    model = onnx.load(path, load_external_data=False)
    model.graph.input.append(helper.make_tensor_value_info("ids", TensorProto.INT64, [2]))
    onnx.save(model, path)
    assert run("check", path)["nodes"][0]["verdict"] == "unknown"
    np.save(tmp_path / "given.npy", np.array([0, 2]))
    assert run("check", path, "--input", f"ids={tmp_path / 'given.npy'}")["nodes"][0]["verdict"] == "ok"
    run("run", path, "--input", f"ids={tmp_path / 'given.npy'}", "--output", f"out={tmp_path / 'out.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), TABLE[[0, 2]])
