# SPDX-License-Identifier: MIT
"""gather run on ONNX models: ONNX's own tests, and every version, type and way to store a constant, against NumPy. --test-data with folders as
ONNX's own tests have them, whole ones and broken ones. --input NAME=LITERAL: a literal, or whole numbers in a text file, has the type that the
model declares for the value."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper, TensorProto
import pytest
import run_models as models
from support.onnx_models import declared
from support.command import asked, call
from support.command import inputs as command_inputs


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
    given = [(*declared({name: (number, inner.shape)}), inner)]
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
        return [], [], [(*declared({"x": (number, data.shape)}), data)]
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
    path = models.save(folder, nodes, {value.name: value for value, _ in inputs}, {"y": (number, wanted.shape)}, parts[0][1] + parts[1][1], opset)
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
    node = helper.make_node("Gather", ["x", "ids"], ["y"], "g")
    return models.save(tmp_path, [node], {"ids": ("INT64", ["N"])}, {"y": ("FLOAT", ["N", 3])}, [table], 13)


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
    assert (code, error["status"], error["node"], error["op"], error["rules"]) == (1, "index_out_of_range", "g", "Gather", "onnx-13")
    assert (error["position"], error["value"], error["low"], error["high"], error["bad_count"]) == ([1], 4, -4, 3, 2)
    assert "'g'" in error["message"] and not (tmp_path / "y.npy").exists()


@pytest.mark.parametrize("words, status", [
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
])
def test_complaints(small, tmp_path, words, status):
    code, answer = run(small, *words, cwd=tmp_path)
    assert answer["error"]["status"] == status, answer
    assert code == {"usage": 2, "rank_mismatch": 1}.get(status, 3)


def test_types_are_checked(small, tmp_path):
    assert run(small, *command_inputs(tmp_path, ids=np.array([1], np.int32)))[1]["error"]["status"] == "type_mismatch"


def test_dimensions_of_one_name(tmp_path):
    given = {"x": ("INT64", ["N", 2]), "i": ("INT64", ["N"])}
    path = models.save(tmp_path, [helper.make_node("Gather", ["x", "i"], ["y"])], given, {"y": "INT64"}, [], 13)
    assert run(path, "--input", "x=[[1, 2]]", "--input", "i=[0]")[0] == 0
    code, answer = run(path, "--input", "x=[[1, 2]]", "--input", "i=[0, 0]")
    assert (code, answer["error"]["status"]) == (1, "shape_mismatch")


def test_other_operators(tmp_path):
    """A model of more than gathers is refused before any work; its gather runs alone."""
    table = models.tensor_of("x", "FLOAT", np.arange(12, dtype=np.float32).reshape(4, 3))
    nodes = [helper.make_node("Gather", ["x", "i"], ["m"], "g"), helper.make_node("Relu", ["m"], ["y"], "r")]
    path = models.save(tmp_path, nodes, {"i": ("INT64", [2])}, {"y": ("FLOAT", [2, 3])}, [table], 13)
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
    table = models.tensor_of("x", "INT64", np.arange(3))
    circle = [helper.make_node("Gather", ["x", "a"], ["y"]), helper.make_node("Identity", ["y"], ["a"])]
    for nodes in ([helper.make_node("Gather", ["x", "none"], ["y"])], circle):
        code, answer = run(models.save(tmp_path, nodes, {}, {"y": ("INT64", [1])}, [table], 13))
        assert (code, answer["error"]["status"]) == (3, "file_malformed"), answer


def test_order_does_not_matter(tmp_path):
    """Nodes may stand before those they need."""
    table = models.tensor_of("x", "INT64", np.arange(5, 8))
    nodes = [
        helper.make_node("Gather", ["x", "b"], ["y"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Constant", [], ["a"], value=models.tensor_of("", "INT64", np.array([2]))),
    ]
    code, answer = run(models.save(tmp_path, nodes, {}, {"y": ("INT64", [1])}, [table], 13), "--output", f"y={tmp_path}/y.npy")
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
    path = models.save(tmp_path, nodes, {}, {"y": kind, "z": kind}, [*constants, models.tensor_of("ids", "INT64", ids)], 25)
    models.test_set(tmp_path / "set", [], models.tensor_of("y", kind, wanted), models.tensor_of("z", kind, whole))
    code, answer = run(path, "--test-data", tmp_path / "set")
    assert code == 0 and [entry["mismatches"] for entry in answer["compared"]] == [0, 0], answer


@pytest.mark.parametrize("op, inputs, attributes, status", [
    ("Transpose", ["a"], {"perm": [0, 0]}, "shape_mismatch"),
    ("Transpose", ["a"], {"perm": [0]}, "shape_mismatch"),
    ("Transpose", ["a"], {"perm": [0, 2]}, "shape_mismatch"),
    ("Concat", ["a", "b"], {"axis": 1}, "shape_mismatch"),
    ("Concat", ["a", "c"], {"axis": 0}, "type_mismatch"),
    ("Concat", ["a", "a"], {"axis": 2}, "axis_out_of_range"),
    ("Concat", ["a", "a"], {}, "file_malformed"),
    ("Concat", ["a", ""], {"axis": 0}, "file_malformed"),
])
def test_whole_tensors_that_do_not_fit(op, inputs, attributes, status, tmp_path):
    constants = [models.tensor_of("a", "INT64", np.zeros((2, 3), np.int64)), models.tensor_of("b", "INT64", np.zeros((3, 3), np.int64))]
    constants += [models.tensor_of("c", "INT32", np.zeros((2, 3), np.int32))]
    node = helper.make_node(op, inputs, ["y"], "n", **attributes)
    code, answer = run(models.save(tmp_path, [node], {}, {"y": "INT64"}, constants, 13))
    assert answer["error"]["status"] == status and answer["error"]["node"] == "n", answer


# ---- --test-data

SET_IDS = np.array([2, 0])
SET_TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)
WORDS = np.array([b"a", b"", b"\xff\x00"], object)


@pytest.fixture
def two(tmp_path):
    """Two inputs, three outputs: numbers, strings, a shape."""
    outputs = {"y": "FLOAT", "words": "STRING", "shape": "INT64"}
    nodes = [
        helper.make_node("Gather", ["x", "ids"], ["y"], "g"),
        helper.make_node("Gather", ["dictionary", "ids"], ["words"], "w"),
        helper.make_node("Shape", ["y"], ["shape"], "s"),
    ]
    path = models.save(tmp_path, nodes, {"x": "FLOAT", "ids": "INT64"}, outputs, [models.tensor_of("dictionary", "STRING", WORDS)], 13)
    brought = [models.tensor_of("", "FLOAT", SET_TABLE), numpy_helper.from_array(SET_IDS)]
    wanted = [
        models.tensor_of("", "FLOAT", SET_TABLE[SET_IDS]), models.tensor_of("", "STRING", WORDS[SET_IDS]), numpy_helper.from_array(np.array([2, 2]))
    ]  # fmt: skip
    models.test_set(tmp_path / "set", brought, *wanted)
    return path, tmp_path / "set"


def put(folder, name: str, tensor) -> None:
    (folder / f"{name}.pb").write_bytes(tensor.SerializeToString())


def failure(code_and_answer):
    code, answer = code_and_answer
    return code, answer["error"]["status"]


def test_several_outputs(two):
    path, folder = two
    code, answer = run(path, "--test-data", folder)
    assert code == 0 and [(c["name"], c["equal"]) for c in answer["compared"]] == [("y", True), ("words", True), ("shape", True)]


def test_names_in_the_files_do_not_matter(two):
    path, folder = two
    put(folder, "input_0", models.tensor_of("ids", "FLOAT", SET_TABLE))
    assert run(path, "--test-data", folder)[0] == 0


def test_strings_that_differ(two):
    path, folder = two
    put(folder, "output_1", models.tensor_of("", "STRING", np.array([b"\xff\x00", b"b"], object)))
    code, answer = run(path, "--test-data", folder)
    assert code == 1 and answer["error"]["status"] == "mismatch"
    assert [c["mismatches"] for c in answer["compared"]] == [0, 1, 0]
    assert answer["compared"][1]["position"] == [1]


@pytest.mark.parametrize("tensor, mismatches", [
    (models.tensor_of("", "DOUBLE", SET_TABLE[SET_IDS].astype(np.float64)), 4),
    (models.tensor_of("", "FLOAT", SET_TABLE[[2, 0, 0]]), 6),
    (models.tensor_of("", "FLOAT", SET_TABLE[SET_IDS].reshape(4)), 4),
    (models.tensor_of("", "FLOAT", -0.0 * SET_TABLE[SET_IDS]), 4),
    (models.tensor_of("", "FLOAT", SET_TABLE[[2, 1]]), 2),
])
def test_outputs_that_differ(two, tensor, mismatches):
    """In type, in shape, in bits."""
    path, folder = two
    put(folder, "output_0", tensor)
    code, answer = run(path, "--test-data", folder)
    assert code == 1 and answer["error"]["status"] == "mismatch" and "'y'" in answer["error"]["message"]
    assert answer["compared"][0]["mismatches"] == mismatches and answer["compared"][0]["reason"]
    assert all(entry["equal"] for entry in answer["compared"][1:])


def test_signs_and_payloads(two):
    """Equal numbers of other bits differ, and NaNs of the same bits do not."""
    path, folder = two
    nan = np.array([0x7FC01234, 0xFFC00001], np.uint32).view(np.float32)
    table = np.array([nan, [0.0, -0.0], nan[::-1]], np.float32)
    put(folder, "input_0", models.tensor_of("", "FLOAT", table))
    put(folder, "output_0", models.tensor_of("", "FLOAT", table[SET_IDS]))
    assert run(path, "--test-data", folder)[0] == 0
    put(folder, "input_0", models.tensor_of("", "FLOAT", np.zeros((3, 2), np.float32)))
    put(folder, "output_0", models.tensor_of("", "FLOAT", -np.zeros((2, 2), np.float32)))
    assert failure(run(path, "--test-data", folder)) == (1, "mismatch")


@pytest.mark.parametrize("name", ["input_0", "input_1", "output_0", "output_2"])
def test_missing_files(two, name):
    path, folder = two
    (folder / f"{name}.pb").unlink()
    code, answer = run(path, "--test-data", folder)
    assert (code, answer["error"]["status"]) == (3, "file_not_found") and f"{name}.pb" in answer["error"]["file"]


@pytest.mark.parametrize("name", ["input_2", "output_3"])
def test_files_too_many(two, name):
    path, folder = two
    put(folder, name, numpy_helper.from_array(SET_IDS))
    code, answer = run(path, "--test-data", folder)
    assert (code, answer["error"]["status"]) == (3, "file_malformed") and f"{name}.pb" in answer["error"]["file"]


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x08", b"no tensor", b"\x08\x02\x10\x07\x4a\x08" + bytes(8)])
@pytest.mark.parametrize("name", ["input_1", "output_0"])
def test_broken_files(two, name, content):
    path, folder = two
    (folder / f"{name}.pb").write_bytes(content)
    code, answer = run(path, "--test-data", folder)
    assert code in (3, 4) and f"{name}.pb" in answer["error"]["file"], answer


def test_inputs_of_another_type(two):
    path, folder = two
    put(folder, "input_1", numpy_helper.from_array(SET_IDS.astype(np.int32)))
    assert failure(run(path, "--test-data", folder)) == (1, "type_mismatch")
    put(folder, "input_1", numpy_helper.from_array(np.array([2, 4])))
    code, answer = run(path, "--test-data", folder)
    assert failure((code, answer)) == (1, "index_out_of_range") and answer["error"]["node"] == "g"


def test_sets_go_by_number(two, tmp_path):
    path, folder = two
    for number in (10, 9, 0):
        shutil.copytree(folder, tmp_path / f"test_data_set_{number}")
    code, answer = run(path, "--test-data", tmp_path)
    assert code == 0
    assert [c["set"] for c in answer["compared"]] == [f"test_data_set_{n}" for n in (0, 0, 0, 9, 9, 9, 10, 10, 10)]


def held(name, kind):
    """A sequence of tensors, or an optional one."""
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    return helper.make_value_info(name, (helper.make_sequence_type_proto if kind == "sequence" else helper.make_optional_type_proto)(inner))


def container(folder, kind):
    """A model with such an input."""
    node = helper.make_node("SequenceAt", ["x", "i"], ["y"], "at") if kind == "sequence" else helper.make_node("OptionalGetElement", ["x"], ["y"], "at")
    return models.save(folder, [node], {"x": held("x", kind), "i": ("INT64", [])}, {"y": "FLOAT"}, [], 18)


@pytest.mark.parametrize("kind", ["sequence", "optional"])
def test_no_tensors(kind, tmp_path):
    """Said plainly, whatever the folder holds."""
    path, folder = container(tmp_path, kind), tmp_path / "set"
    folder.mkdir()
    values = [SET_TABLE, SET_TABLE[:1]]
    proto = numpy_helper.from_list(values) if kind == "sequence" else numpy_helper.from_optional(SET_TABLE)
    put(folder, "input_0", proto)
    put(folder, "input_1", numpy_helper.from_array(np.array(0)))
    put(folder, "output_0", models.tensor_of("", "FLOAT", SET_TABLE))
    assert failure(run(path, "--test-data", folder)) == (4, "unsupported")


@pytest.mark.parametrize("kind", ["sequence", "optional"])
def test_no_tensors_that_pass_through(kind, tmp_path):
    """Operators that are run could hand them on: the file is no tensor."""
    ends, folder = [{name: held(name, kind)} for name in "xy"], tmp_path / "set"
    path = models.save(tmp_path, [helper.make_node("Identity", ["x"], ["y"])], *ends, [], 18)
    folder.mkdir()
    given = numpy_helper.from_list([SET_TABLE]) if kind == "sequence" else numpy_helper.from_optional(SET_TABLE)
    put(folder, "input_0", given)
    put(folder, "output_0", given)
    assert failure(run(path, "--test-data", folder)) == (4, "unsupported")
    assert failure(run(path, *command_inputs(tmp_path, x=SET_TABLE))) == (4, "unsupported")


# ---- --input

NUMPY = {
    "INT32": np.int32, "INT64": np.int64, "INT8": np.int8, "UINT8": np.uint8, "UINT16": np.uint16, "UINT64": np.uint64,
    "BOOL": np.bool_, "FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16,
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip


def passing(folder, kind: str):
    """A model that gives back what it is given."""
    return models.save(folder, [helper.make_node("Identity", ["x"], ["y"])], {"x": kind}, {"y": kind}, [], 25)


@pytest.mark.parametrize("kind, text, wanted", [
    ("INT32", "[[1, -2], [3, 2147483647]]", [[1, -2], [3, 2147483647]]),
    ("INT32", "7", 7),
    ("INT32", "[]", []),
    ("INT8", "[-128, 127]", [-128, 127]),
    ("UINT8", "[255,0]", [255, 0]),
    ("UINT16", " [ 65535 ] ", [65535]),
    ("UINT64", "[18446744073709551615]", [2**64 - 1]),
    ("INT64", "[-9223372036854775808]", [-(2**63)]),
    ("BOOL", "[true, false, 1, 0]", [True, False, True, False]),
    ("FLOAT", "[0.5, -2, 16777216, inf, 1e30]", None),
    ("FLOAT", "[0.5, -2, 16777216, inf, -0.0]", [0.5, -2, 16777216, np.inf, -0.0]),
    ("DOUBLE", "[0.1, 1e300, 9007199254740992]", [0.1, 1e300, 2.0**53]),
    ("FLOAT16", "[2048, 0.00006103515625, 65504]", [2048, 2**-14, 65504]),
    ("BFLOAT16", "[256, 1.5]", [256, 1.5]),
    ("FLOAT8E4M3FN", "[448, -0.015625]", [448, -0.015625]),
    ("FLOAT8E8M0", "[0.5, 4]", [0.5, 4]),
    ("INT8", "[128]", None),
    ("INT32", "[2147483648]", None),
    ("UINT8", "[-1]", None),
    ("UINT8", "[1.5]", None),
    ("BOOL", "[2]", None),
    ("FLOAT", "[0.1]", None),
    ("FLOAT", "[16777217]", None),
    ("DOUBLE", "[9007199254740993]", None),
    ("FLOAT16", "[2049]", None),
    ("FLOAT16", "[65520]", None),
    ("FLOAT8E4M3FN", "[449]", None),
    ("FLOAT8E8M0", "[3]", None),
    ("INT32", "[1, [2]]", None),
    ("INT32", "[1,, 2]", None),
    ("INT32", "[x]", None),
])
def test_literals(kind, text, wanted, tmp_path):
    path, out = passing(tmp_path, kind), tmp_path / "y.bin"
    code, answer = run(path, "--input", f"x={text}", "--output", f"y={out}")
    if wanted is None:
        assert (code, answer["error"]["status"]) == (2, "usage") and not out.exists(), answer
        return
    assert code == 0, answer
    expected = np.array(wanted, NUMPY[kind])
    assert answer["outputs"][0]["shape"] == list(expected.shape)
    assert out.read_bytes() == expected.tobytes()


def test_a_type_without_literals(tmp_path):
    for kind in ("STRING", "COMPLEX64", "INT4"):
        (tmp_path / kind).mkdir()
        code, answer = run(passing(tmp_path / kind, kind), "--input", "x=[1]")
        assert (code, answer["error"]["status"]) == (4, "unsupported"), answer


def test_text_files(tmp_path):
    """They become what the model wants too."""
    (tmp_path / "x.txt").write_text("3, 250\n")
    path, out = passing(tmp_path, "UINT8"), tmp_path / "y.bin"
    assert run(path, "--input", f"x={tmp_path}/x.txt", "--output", f"y={out}")[0] == 0
    assert out.read_bytes() == bytes([3, 250])
    (tmp_path / "x.txt").write_text("3 256")
    code, answer = run(path, "--input", f"x={tmp_path}/x.txt")
    assert (code, answer["error"]["status"]) == (2, "usage") and "256" in answer["error"]["message"]


def gathering(folder):
    """int32 indices into the output of another node; both names may be given."""
    nodes, bytes_ = [helper.make_node("Relu", ["x"], ["m"]), helper.make_node("Gather", ["m", "i"], ["y"], "g")], ("UINT8", [4])
    ends = declared({"x": bytes_, "i": ("INT32", [2])}), declared({"y": "UINT8"})
    graph = helper.make_graph(nodes, "g", *ends, [], value_info=declared({"m": bytes_}))
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString())
    return path


def test_values_in_between(tmp_path):
    path, out = gathering(tmp_path), tmp_path / "y.npy"
    code, answer = run(path, "--node", "g", "--input", "m=[9, 8, 7, 6]", "--input", "i=[1, -1]", "--output", f"y={out}")
    assert code == 0, answer
    made = np.load(out)
    assert made.dtype == np.uint8 and made.tolist() == [8, 6]


def test_check_too(tmp_path):
    """The same literals in gather check."""
    path = gathering(tmp_path)
    for text, wanted in (("[1, -1]", 0), ("[1, 4]", 1), ("[1, 2147483648]", 2)):
        code, answer = asked("check", path, "--input", f"i={text}")
        assert code == wanted, answer
        if wanted < 2:
            assert answer["nodes"][0]["indices"]["type"] == "int32"


def test_ir_parameters(tmp_path):
    """The type of an IR's Parameter, by its tensor's name or its layer's."""
    net = models.Net()
    x = net.const("x", "f32", np.arange(4, dtype=np.float32))
    ids = net.parameter("ids", "u8", (2,))
    y = net.node("g", "Gather", "opset8", "", [x, ids, net.const("axis", "i64", np.array(0))], "f32", (2,))
    net.layer("out", "Result", "opset1", "", [y], "")
    path = net.save(tmp_path)
    assert run(path, "--input", "ids=[3, 0]", "--output", f"g={tmp_path}/y.npy")[0] == 0
    assert np.load(tmp_path / "y.npy").tolist() == [3, 0]
    assert run(path, "--input", "ids=[256, 0]")[0] == 2
