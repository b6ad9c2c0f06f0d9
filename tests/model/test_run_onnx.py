# SPDX-License-Identifier: MIT
"""gather run on ONNX models: ONNX's own tests, and every version, type and way to store a constant, against NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import run_models as models
from support.command import call


def run(*words, cwd=None) -> tuple[int, dict]:
    done = call("run", *words, "--json", cwd=cwd)
    assert done.stderr == "", done
    return done.returncode, json.loads(done.stdout)


def equal(path: Path, folder: Path, sets: int = 1) -> None:
    code, answer = run(path, "--test-data", folder)
    assert code == 0 and len(answer["compared"]) == sets, answer
    assert all(entry["equal"] and entry["mismatches"] == 0 for entry in answer["compared"]), answer


def test_onnx_own(gather_source, tmp_path):
    """ONNX's own node tests, bit for bit."""
    subprocess.run([sys.executable, gather_source / "script/make-onnx-tests", tmp_path], check=True, timeout=120)
    folders = sorted(tmp_path.iterdir())
    assert len(folders) >= 10
    for folder in folders:
        equal(folder / "model.onnx", folder)


STORAGE = ["raw", "typed", "external", "input", "constant-raw", "constant-typed", "constant-external"]
INDEX_WAYS = ["initializer", "constant", "input", "cast", "identity", "reshape", "unsqueeze", "squeeze", "value_ints"]


def index_nodes(way, indices, opset, folder):
    """The nodes, initializers and inputs that give "i"; indices have the rank 2 and rows of the length 1."""
    kind = "INT32" if indices.dtype == np.int32 else "INT64"
    if way == "initializer":
        return [], [models.tensor_of("i", kind, indices, "typed")], []
    if way == "constant":
        return [helper.make_node("Constant", [], ["i"], value=models.tensor_of("", kind, indices))], [], []
    if way == "value_ints":
        nodes = [helper.make_node("Constant", [], ["flat"], value_ints=indices.reshape(-1).tolist())]
        nodes += [helper.make_node("Constant", [], ["to"], value_ints=list(indices.shape))]
        return [*nodes, helper.make_node("Reshape", ["flat", "to"], ["i"])], [], []
    inner = {"reshape": indices.reshape(-1), "unsqueeze": indices[:, 0], "squeeze": indices[None]}.get(way, indices)
    if way == "cast":
        inner = inner.astype(np.int32 if kind == "INT64" else np.int64)
    name = "i" if way == "input" else "raw_i"
    number = TensorProto.INT32 if inner.dtype == np.int32 else TensorProto.INT64
    given = [(helper.make_tensor_value_info(name, number, inner.shape), inner)]
    constants, node = [], None
    if way == "cast":
        node = helper.make_node("Cast", [name], ["i"], to=TensorProto.DataType.Value(kind))
    elif way == "identity":
        node = helper.make_node("Identity", [name], ["i"])
    elif way == "reshape":
        constants = [models.tensor_of("to", "INT64", np.array([-1, 1]))]
        node = helper.make_node("Reshape", [name, "to"], ["i"])
    elif way in ("unsqueeze", "squeeze"):
        axis = 1 if way == "unsqueeze" else 0
        op = way.capitalize()
        if opset < 13:
            node = helper.make_node(op, [name], ["i"], axes=[axis])
        else:
            constants = [models.tensor_of("to", "INT64", np.array([axis]))]
            node = helper.make_node(op, [name, "to"], ["i"])
    return [node] if node else [], constants, given


def data_nodes(storage, type_name, data, folder):
    tensor = None
    if storage.startswith("constant"):
        tensor = models.tensor_of("", type_name, data, storage.split("-")[1], folder)
        return [helper.make_node("Constant", [], ["x"], value=tensor)], [], []
    if storage == "input":
        number = TensorProto.DataType.Value(type_name)
        return [], [], [(helper.make_tensor_value_info("x", number, data.shape), data)]
    return [], [models.tensor_of("x", type_name, data, storage, folder)], []


def make(folder, op, opset, type_name, storage, way, index_type, seed):
    """One model with its test set; the file's order of nodes is that of their needs, or (odd seeds) turned round."""
    rng = np.random.default_rng(seed)
    axis = int(rng.integers(-2, 2))
    data = models.random_data(rng, type_name, (4, 5))
    low = 0 if opset < 11 else -data.shape[axis]
    shape = (3, 1) if op == "Gather" or axis % 2 == 0 else (4, 1)
    indices = rng.integers(low, data.shape[axis], shape).astype(index_type)
    wanted = models.take(data, indices, axis) if op == "Gather" else models.take_along(data, indices, axis)
    parts = [data_nodes(storage, type_name, data, folder), index_nodes(way, indices, opset, folder)]
    nodes = [*parts[0][0], *parts[1][0], helper.make_node(op, ["x", "i"], ["y"], "g", axis=axis)]
    inputs = [*parts[0][2], *parts[1][2]]
    number = TensorProto.DataType.Value(type_name)
    outputs = [helper.make_tensor_value_info("y", number, wanted.shape)]
    path = models.save(folder, nodes, [value for value, _ in inputs], outputs, parts[0][1] + parts[1][1], opset)
    tensors = []
    for value, array in inputs:
        kind = TensorProto.DataType.Name(value.type.tensor_type.elem_type)
        tensors.append(models.tensor_of(value.name, kind, array))
    models.test_set(folder / "set", tensors, models.tensor_of("y", type_name, wanted))
    return path


CASES = []
for number, kind in enumerate(models.ALL_TYPES):
    for place, how in enumerate(STORAGE):
        if kind == "STRING" and how.split("-")[-1] in ("typed", "external"):
            continue
        CASES.append(("Gather" if place % 2 else "GatherElements", 23, kind, how, INDEX_WAYS[(number + place) % 9]))
for opset in (1, 9, 10, 11, 12, 13, 18, 21, 25):
    for way in INDEX_WAYS:
        if way == "value_ints" and opset < 12 or opset < 9 and way in ("reshape", "cast"):
            continue
        CASES.append(("Gather", opset, "FLOAT", "raw", way))
        if opset >= 11:
            CASES.append(("GatherElements", opset, "INT64", "typed", way))


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: "-".join(map(str, CASES[i])))
def test_models(case, tmp_path):
    op, opset, kind, storage, way = CASES[case]
    index_type = np.int64 if way == "value_ints" or case % 2 else np.int32
    path = make(tmp_path, op, opset, kind, storage, way, index_type, case)
    equal(path, tmp_path / "set")


def test_enough_models():
    assert len(CASES) >= 250


@pytest.fixture
def small(tmp_path):
    """A model whose data is a constant and whose indices are given."""
    table = models.tensor_of("x", "FLOAT", np.arange(12, dtype=np.float32).reshape(4, 3))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["N"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])
    return models.save(tmp_path, [helper.make_node("Gather", ["x", "ids"], ["y"], "g")], [ids], [y], [table], 13)


def test_outputs(small, tmp_path):
    code, answer = run(small, "--input", "ids=[3, -1]", "--output", f"y={tmp_path}/y.npy")
    assert code == 0
    assert answer["outputs"] == [{"name": "y", "type": "float32", "shape": [2, 3], "output": f"{tmp_path}/y.npy"}]
    assert np.array_equal(np.load(tmp_path / "y.npy"), [[9, 10, 11]] * 2)
    code, answer = run(small, "--input", "ids=[0]", "--output", f"y={tmp_path}/y.npy")
    assert (code, answer["error"]["status"]) == (3, "file_exists")
    assert np.load(tmp_path / "y.npy").shape == (2, 3)
    assert run(small, "--input", "ids=[0]", "--output", f"y={tmp_path}/y.npy", "-f")[0] == 0
    assert np.load(tmp_path / "y.npy").shape == (1, 3)


def test_bad_index_names_the_node(small, tmp_path):
    code, answer = run(small, "--input", "ids=[0, 4, 9]", "--output", f"y={tmp_path}/y.npy")
    error = answer["error"]
    assert (code, error["status"], error["node"], error["op"], error["rules"]) == (
        1, "index_out_of_range", "g", "Gather", "onnx-13"
    )  # fmt: skip
    assert (error["position"], error["value"], error["low"], error["high"], error["bad_count"]) == ([1], 4, -4, 3, 2)
    assert "'g'" in error["message"] and not (tmp_path / "y.npy").exists()


@pytest.mark.parametrize(
    "words, status",
    [
        ([], "usage"),
        (["--input", "ids=[1]", "--input", "ids=[2]"], "usage"),
        (["--input", "none=[1]"], "name_not_found"),
        (["--input", "ids=[[1]]"], "rank_mismatch"),
        (["--input", "ids=[1]", "--output", "z=z.npy"], "name_not_found"),
        (["--input", "ids=[1]", "--output", "y=y.zip"], "usage"),
        (["--input", "ids=[1]", "--output", "y"], "usage"),
        (["--input", "ids=[1]", "--test-data", "."], "usage"),
        (["--test-data", "nowhere"], "file_not_found"),
        (["--test-data", "."], "file_not_found"),
        (["--node", "nobody"], "name_not_found"),
        (["--node", "g"], "usage"),
    ],
)
def test_complaints(small, tmp_path, words, status):
    code, answer = run(small, *words, cwd=tmp_path)
    assert answer["error"]["status"] == status, answer
    assert code == {"usage": 2, "rank_mismatch": 1}.get(status, 3)


def test_types_are_checked(small, tmp_path):
    np.save(tmp_path / "i.npy", np.array([1], np.int32))
    assert run(small, "--input", f"ids={tmp_path}/i.npy")[1]["error"]["status"] == "type_mismatch"


def test_dimensions_of_one_name(tmp_path):
    x = helper.make_tensor_value_info("x", TensorProto.INT64, ["N", 2])
    i = helper.make_tensor_value_info("i", TensorProto.INT64, ["N"])
    y = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    path = models.save(tmp_path, [helper.make_node("Gather", ["x", "i"], ["y"])], [x, i], [y], [], 13)
    assert run(path, "--input", "x=[[1, 2]]", "--input", "i=[0]")[0] == 0
    code, answer = run(path, "--input", "x=[[1, 2]]", "--input", "i=[0, 0]")
    assert (code, answer["error"]["status"]) == (1, "shape_mismatch")


def test_other_operators(tmp_path):
    """A model of more than gathers is refused before any work; its gather runs alone."""
    i = helper.make_tensor_value_info("i", TensorProto.INT64, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    table = models.tensor_of("x", "FLOAT", np.arange(12, dtype=np.float32).reshape(4, 3))
    nodes = [helper.make_node("Gather", ["x", "i"], ["m"], "g"), helper.make_node("Relu", ["m"], ["y"], "r")]
    path = models.save(tmp_path, nodes, [i], [y], [table], 13)
    code, answer = run(path, "--input", "i=[0, 9]")
    assert (code, answer["error"]["status"], answer["error"]["node"]) == (4, "unsupported", "r")
    assert "Relu" in answer["error"]["message"]
    code, answer = run(path, "--node", "g", "--input", "i=[0, 1]", "--output", f"m={tmp_path}/m.npy")
    assert code == 0 and np.load(tmp_path / "m.npy").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert run(path, "--node", "main/g", "--input", "i=[0, 1]")[0] == 0
    assert run(path, "--node", "r", "--input", "m=[0, 1]")[1]["error"]["status"] == "unsupported"


def test_mismatches_are_told(small, tmp_path):
    for number, wanted in enumerate(([[9, 10, 11]], [[9, 10, 12]], [9])):
        folder = tmp_path / f"test_data_set_{number}"
        ids = models.tensor_of("ids", "INT64", np.array([3]))
        models.test_set(folder, [ids], models.tensor_of("y", "FLOAT", np.array(wanted, np.float32)))
    code, answer = run(small, "--test-data", tmp_path)
    assert code == 1 and answer["error"]["status"] == "mismatch"
    assert [(c["set"], c["equal"], c["mismatches"]) for c in answer["compared"]] == [
        ("test_data_set_0", True, 0), ("test_data_set_1", False, 1), ("test_data_set_2", False, 1)
    ]  # fmt: skip
    assert answer["compared"][1]["position"] == [0, 2]


def test_broken_models(tmp_path):
    """A value that nothing gives, and nodes that need each other."""
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [1])
    table = models.tensor_of("x", "INT64", np.arange(3))
    for i, nodes in enumerate(
        (
            [helper.make_node("Gather", ["x", "none"], ["y"])],
            [helper.make_node("Gather", ["x", "a"], ["y"]), helper.make_node("Identity", ["y"], ["a"])],
        )
    ):
        folder = tmp_path / str(i)
        folder.mkdir()
        code, answer = run(models.save(folder, nodes, [], [y], [table], 13))
        assert (code, answer["error"]["status"]) == (3, "file_malformed"), answer


def test_order_does_not_matter(tmp_path):
    """Nodes may stand before those they need."""
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [1])
    table = models.tensor_of("x", "INT64", np.arange(5, 8))
    nodes = [
        helper.make_node("Gather", ["x", "b"], ["y"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Constant", [], ["a"], value=models.tensor_of("", "INT64", np.array([2]))),
    ]
    code, answer = run(models.save(tmp_path, nodes, [], [y], [table], 13), "--output", f"y={tmp_path}/y.npy")
    assert code == 0 and np.load(tmp_path / "y.npy").tolist() == [7], answer


@pytest.mark.parametrize("kind", models.ALL_TYPES)
def test_whole_tensors_are_moved(kind, tmp_path):
    """Transpose and Concat of every element type, packed ones with parts that begin within a byte; then a gather."""
    rng = np.random.default_rng(7)
    parts = [models.random_data(rng, kind, (2, n, 3)) for n in (3, 1, 0, 4)]
    whole = np.concatenate([part.transpose(2, 1, 0) for part in parts], 1)
    constants = [models.tensor_of(f"p{n}", kind, part) for n, part in enumerate(parts)]
    nodes = [helper.make_node("Transpose", [f"p{n}"], [f"t{n}"], perm=[2, 1, 0]) for n in range(2)]
    nodes += [helper.make_node("Transpose", [f"p{n}"], [f"t{n}"]) for n in range(2, 4)]
    nodes += [helper.make_node("Concat", [f"t{n}" for n in range(4)], ["all"], axis=-2)]
    ids = np.array([[2, 7], [0, 3], [-1, -8]])
    nodes += [helper.make_node("GatherND", ["all", "ids"], ["y"]), helper.make_node("Identity", ["all"], ["z"])]
    wanted = np.stack([whole[i, j] for i, j in ids])
    outputs = [helper.make_tensor_value_info(name, TensorProto.DataType.Value(kind), None) for name in "yz"]
    path = models.save(tmp_path, nodes, [], outputs, [*constants, models.tensor_of("ids", "INT64", ids)], 25)
    models.test_set(tmp_path / "set", [], models.tensor_of("y", kind, wanted), models.tensor_of("z", kind, whole))
    code, answer = run(path, "--test-data", tmp_path / "set")
    assert code == 0 and [entry["mismatches"] for entry in answer["compared"]] == [0, 0], answer


@pytest.mark.parametrize(
    "op, inputs, attributes, status",
    [
        ("Transpose", ["a"], {"perm": [0, 0]}, "shape_mismatch"),
        ("Transpose", ["a"], {"perm": [0]}, "shape_mismatch"),
        ("Transpose", ["a"], {"perm": [0, 2]}, "shape_mismatch"),
        ("Concat", ["a", "b"], {"axis": 1}, "shape_mismatch"),
        ("Concat", ["a", "c"], {"axis": 0}, "type_mismatch"),
        ("Concat", ["a", "a"], {"axis": 2}, "axis_out_of_range"),
        ("Concat", ["a", "a"], {}, "file_malformed"),
        ("Concat", ["a", ""], {"axis": 0}, "file_malformed"),
    ],
)
def test_whole_tensors_that_do_not_fit(op, inputs, attributes, status, tmp_path):
    constants = [models.tensor_of("a", "INT64", np.zeros((2, 3), np.int64)), models.tensor_of("b", "INT64", np.zeros((3, 3), np.int64))]
    constants += [models.tensor_of("c", "INT32", np.zeros((2, 3), np.int32))]
    y = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    path = models.save(tmp_path, [helper.make_node(op, inputs, ["y"], "n", **attributes)], [], [y], constants, 13)
    code, answer = run(path)
    assert answer["error"]["status"] == status and answer["error"]["node"] == "n", answer
