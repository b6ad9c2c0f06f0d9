# SPDX-License-Identifier: MIT
"""Models whose data file is missing or too short: they are checked and shown, and only the values that are not there cannot be used."""
from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
import run_models as models
from onnx import TensorProto, helper, numpy_helper
from support.nobody import command_for_others
from support.command import EXE, answer, asked, call, formats
from support.skip import needs

reads_models = needs("models", {"onnx", "ir"} <= formats(), "this build does not read both kinds of models")
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


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
    assert answer("check", path)["nodes"][0]["verdict"] == "ok"
    answer("run", path, "--output", f"out={tmp_path / 'out.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), TABLE[[0, 3]])


@pytest.mark.parametrize("cut", [None, 4])
def test_missing_indices_are_unknown(cut, tmp_path) -> None:
    path = save(tmp_path, {"ids"})
    (tmp_path / "ids").unlink() if cut is None else os.truncate(tmp_path / "ids", cut)
    node = answer("check", path)["nodes"][0]
    assert node["verdict"] == "unknown" and "cannot be read" in node["reason"] and "'ids'" in node["reason"]
    assert "No such file" in node["reason"] if cut is None else "needs 16 bytes" in node["reason"]
    if cut is None:  # shapes are known all the same
        assert answer("info", path)["tensors"][1]["shape"] == [2] and "No such file" in answer("info", path)["tensors"][1]["unreadable"]
    error = answer("run", path, "--output", f"out={tmp_path / 'out.npy'}", code=3)["error"]
    assert "ids" in error["message"] and not (tmp_path / "out.npy").exists()


def test_missing_data_is_checked(tmp_path) -> None:
    """Only the length of the table matters to a check."""
    path = save(tmp_path, {"table"}, (0, 4))
    (tmp_path / "table").unlink()
    node = answer("check", path, code=1)["nodes"][0]
    assert node["verdict"] == "bad"
    error = answer("take", f"{path}:table", "[0]", "--output", tmp_path / "out.npy", code=3)["error"]
    assert error["status"] == "file_not_found" and error["file"] == str(tmp_path / "table") and "'table'" in error["message"]


def test_a_given_input_takes_the_place_of_what_is_missing(tmp_path) -> None:
    path = save(tmp_path, {"ids"})
    (tmp_path / "ids").unlink()
    model = onnx.load(path, load_external_data=False)
    model.graph.input.append(helper.make_tensor_value_info("ids", TensorProto.INT64, [2]))
    onnx.save(model, path)
    assert answer("check", path)["nodes"][0]["verdict"] == "unknown"
    np.save(tmp_path / "given.npy", np.array([0, 2]))
    assert answer("check", path, "--input", f"ids={tmp_path / 'given.npy'}")["nodes"][0]["verdict"] == "ok"
    answer("run", path, "--input", f"ids={tmp_path / 'given.npy'}", "--output", f"out={tmp_path / 'out.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), TABLE[[0, 2]])


# ---- every place that a missing tensor can stand in, every command

ONNX_PLACES = {
    "plain": "[g] y = Gather (table, ids)",
    "identity": "a = Identity (ids) [g] y = Gather (table, a)",
    "sum": "a = Add (ids, ids) [g] y = Gather (table, a)",
    "slice": "a = Slice (ids, zero, one) [g] y = Gather (table, a)",
    "reshape": "a = Reshape (zero, ids) [g] y = Gather (table, a)",
    "range": "a = Squeeze (ids) b = Range (a, a, a) [g] y = Gather (table, b)",
    "gathered": "a = Gather (ids, zero) [g] y = Gather (table, a)",
    "picked": "a = Gather (many, ids) [g] y = Gather (table, a)",
    "cast": "a = Cast <to = 6> (ids) [g] y = Gather (table, a)",
    "expand": "a = Expand (zero, ids) [g] y = Gather (table, a)",
    "elements": "[g] y = GatherElements (row, ids)",
    "branch": "[if] y = If (flag) <then_branch = t () => (float[n, 3] a) { [g] a = Gather (table, ids) }, "
              "else_branch = e () => (float[n, 3] b) { b = Identity (table) }>",
    "condition": "c = Cast <to = 9> (ids) [if] i = If (c) <then_branch = t () => (int64[1] a) { a = Identity (zero) }, "
                 "else_branch = e () => (int64[1] b) { b = Identity (one) }> [g] y = Gather (table, i)",
    "function": "[call] y = own.pick (table, ids)",
    "loop": "[loop] y = Loop (one, flag) <body = b (int64 k, bool c) => (bool d, float[n, 3] z) "
            "{ d = Identity (c) [g] z = Gather (table, ids) }>",
}  # fmt: skip
NODE = {"branch": "main/if/then_branch/g", "loop": "main/loop/body/g", "function": "main/call/function:pick/g"}
WAYS = ("gone", "short", "empty", "folder", "loop")


def write_onnx(folder: Path, place: str, outside: set[str], way: str) -> Path:
    """The tensors in `outside` have their values in a file `w.bin` that is missing or too short."""
    text = ('<ir_version: 8, opset_import: ["" : 13, "own" : 1]> g (bool flag) => (float[n, 3] y) '
            "<float[4, 3] table = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, float[4] row = {0, 1, 2, 3}, int64[1] ids = {1}, "
            f"int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[4] many = {{0, 1, 2, 3}}> {{ {ONNX_PLACES[place]} }}")
    if place == "function":
        text += ' <opset_import: ["" : 13], domain: "own"> pick (t, i) => (w) { [g] w = Gather (t, i) }'
    model = onnx.parser.parse_model(text)
    for tensor in model.graph.initializer:
        if tensor.name in outside:
            raw = numpy_helper.to_array(tensor).tobytes()
            for field in ("raw_data", "float_data", "int64_data"):
                tensor.ClearField(field)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "w.bin"), ("offset", "8"), ("length", str(len(raw)))):
                tensor.external_data.add(key=key, value=value)
    onnx.save(model, folder / "m.onnx")
    damage(folder / "w.bin", way)
    return folder / "m.onnx"


def damage(path: Path, way: str) -> None:
    path.unlink(missing_ok=True)
    if way == "short":
        path.write_bytes(b"12345678abc")
    elif way == "empty":
        path.write_bytes(b"")
    elif way == "folder":
        path.mkdir()
    elif way == "loop":
        path.symlink_to(path.name)


def given(*words) -> tuple[int, dict]:
    code, found = asked(*words)
    assert code in (0, 1, 3), (words, code, found)
    return code, found


def every_answer(path: Path, place: str, indices_missing: bool, missing: str) -> None:
    node = NODE.get(place, "g")
    code, info = given("info", path)
    assert code == 0 and any(missing in tensor.get("unreadable", "") for tensor in info["tensors"])
    code, check = given("check", path)
    (found,) = [n for n in check["nodes"] if n["name"] == "g"]
    assert any(missing in entry["message"] for entry in check["unreadable"]), check
    text = call("check", path)
    assert text.returncode == code and "cannot be read: " in text.stdout and missing in text.stdout
    if indices_missing:
        assert found["verdict"] == "unknown" and "cannot be read" in found["reason"] and missing in found["reason"], found
    else:
        assert found["verdict"] in ("ok", "unknown")
    code, drawn = given("explain", path, "--node", node)
    if indices_missing:
        assert code == 3 and missing in drawn["error"]["message"] and drawn["error"]["status"] != "usage", drawn
        assert missing in drawn["error"]["file"] or drawn["error"]["file"] == str(path)
    else:
        assert code == 0 and missing in drawn["data_unreadable"], drawn
    ran = call("run", path, "--node", node, "--json")
    assert ran.returncode in (2, 3) and (ran.returncode == 2 or missing in ran.stdout), (ran.stdout, ran.stderr)
    whole = call("run", path, "--input", "flag=1", "--json")
    assert whole.returncode in (3, 4), whole


@pytest.mark.parametrize("outside", ["ids", "table row", "table row ids"])
@pytest.mark.parametrize("place", ONNX_PLACES)
def test_onnx_every_command(place, outside, tmp_path) -> None:
    names = set(outside.split())
    for way in WAYS if place in ("plain", "branch") else ("gone",):
        every_answer(write_onnx(tmp_path, place, names, way), place, "ids" in names, "w.bin")
        if (tmp_path / "w.bin").is_dir():
            (tmp_path / "w.bin").rmdir()


def test_a_file_without_permission() -> None:
    """As another user where this one may read everything."""
    with tempfile.TemporaryDirectory(prefix="gather-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        path = write_onnx(folder, "plain", {"ids", "table"}, "empty")
        (folder / "w.bin").write_bytes(bytes(256))
        (folder / "w.bin").chmod(0)
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        gather = command_for_others(EXE, folder)
        for command, code in (("check", 0), ("info", 0), ("explain", 3), ("run", 3)):
            done = subprocess.run([gather, command, path], capture_output=True, text=True, timeout=60, **other)
            assert done.returncode == code and "w.bin: cannot open it: Permission denied" in done.stdout + done.stderr, done


def test_a_fill_value_that_is_missing(tmp_path) -> None:
    """ConstantOfShape, whose value is an attribute."""
    value = helper.make_tensor("v", TensorProto.INT64, [1], [2])
    value.ClearField("int64_data")
    value.data_location = TensorProto.EXTERNAL
    value.external_data.add(key="location", value="v.bin")
    nodes = [helper.make_node("ConstantOfShape", ["n"], ["ids"], value=value), helper.make_node("Gather", ["t", "ids"], ["y"], "g")]
    tensors = [numpy_helper.from_array(TABLE, "t"), numpy_helper.from_array(np.array([2]), "n")]
    graph = helper.make_graph(nodes, "m", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), tmp_path / "m.onnx")
    code, check = given("check", tmp_path / "m.onnx")
    assert code == 0 and "v.bin" in check["nodes"][0]["reason"]
    code, drawn = given("explain", tmp_path / "m.onnx")
    assert code == 3 and "v.bin" in drawn["error"]["message"]


@pytest.mark.parametrize("place", ["plain", "identity", "sum", "gathered"])
def test_explain_takes_a_tensor_in_its_place(place, tmp_path) -> None:
    path = write_onnx(tmp_path, place, {"ids", "table"}, "gone")
    code, check = given("check", path)
    name = "a" if place == "sum" else "ids"  # explain computes no sums
    assert f"--node main/g --input {name}=TENSOR" in check["nodes"][-1]["give"]
    code, drawn = given("explain", path, "--node", "g", "--input", f"{name}=[2]")
    assert code == 0 and drawn["cells"][0]["row"] == 2 and "w.bin" in drawn["data_unreadable"]
    np.save(tmp_path / "t.npy", TABLE)
    code, ran = given("run", path, "--node", "g", "--input", f"{name}=[2]", "--input", f"table={tmp_path / 't.npy'}")
    assert code == 0 and ran["outputs"][0]["shape"] == [1, 3]


def write_ir(folder: Path, way: str, parameter: bool = False) -> Path:
    """y = Gather(table, ids, axis), all constants in the .bin, or ids an input."""
    net = models.Net()
    table = net.const("table", "f32", TABLE, "table")
    ids = net.parameter("ids", "i64", (2,)) if parameter else net.const("ids", "i64", np.array([0, 3]), "ids")
    sources = [table, ids, net.const("axis", "i64", np.array(0), "axis")]
    net.result(net.node("g", "Gather", "opset8", '<data batch_dims="0"/>', sources, "f32", (), "g"), "r")
    path = net.save(folder)
    damage(folder / "model.bin", way)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_ir_every_command(way, tmp_path) -> None:
    path = write_ir(tmp_path, way)
    code, check = given("check", path)
    node = check["nodes"][0]
    assert code == 0 and node["verdict"] == "unknown" and "'ids' cannot be read" in node["reason"] and "model.bin" in node["reason"]
    assert node["axis"] is None and check["unreadable"][0]["name"] == "table"
    code, drawn = given("explain", path)
    assert code == 3 and "model.bin" in drawn["error"]["message"]
    assert given("info", path)[0] == 0 and given("run", path)[0] == 3
    code, drawn = given("explain", path, "--input", "ids=[1, 3]", "--input", "axis=0")
    assert code == 0 and "model.bin" in drawn["data_unreadable"] and [cell["row"] for cell in drawn["cells"]][::3] == [1, 3]


def test_ir_axis_that_is_missing(tmp_path) -> None:
    path = write_ir(tmp_path, "gone", parameter=True)
    node = given("check", path, "--input", "ids=[0, 3]")[1]["nodes"][0]
    assert node["verdict"] == "unknown" and "axis 'axis' cannot be read" in node["reason"] and "model.bin" in node["reason"]
    code, drawn = given("explain", path, "--input", "ids=[0, 3]")
    assert code == 3 and drawn["error"]["status"] == "file_not_found" and "--input axis=TENSOR" in drawn["error"]["message"]
    assert given("explain", path, "--input", "ids=[0, 4]", "--input", "axis=0", "--on-bad", "error")[0] == 1
    code, drawn = given("explain", path)  # both are told at once
    assert code == 3 and "--input ids=TENSOR" in drawn["error"]["message"] and "model.bin" in drawn["error"]["message"]
    code, ran = given("run", path)  # the file before the inputs: nothing that could be given helps
    assert code == 3 and "model.bin" in ran["error"]["message"]
