# SPDX-License-Identifier: MIT
"""gather run --node in subgraphs and functions, and gather run beside ONNX Runtime."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper

import run_models as models
from support.skip import skip_test
from test_run_onnx import EXE, run


@pytest.fixture
def branches(tmp_path):
    """Both branches of an If have a gather of the same name; the table belongs to the graph round them."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    i = helper.make_tensor_value_info("i", TensorProto.INT64, [2])
    c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    then = helper.make_graph([helper.make_node("Gather", ["x", "i"], ["y"], "g")], "t", [], [y])
    other = helper.make_graph([helper.make_node("Gather", ["x", "i"], ["y"], "g", axis=1)], "e", [], [y])
    node = helper.make_node("If", ["c"], ["y"], "if_3", then_branch=then, else_branch=other)
    table = models.tensor_of("x", "FLOAT", np.arange(12, dtype=np.float32).reshape(4, 3))
    return models.save(tmp_path, [node], [i, c], [y], [table], 13)


def test_subgraphs(branches, tmp_path):
    code, answer = run(branches, "--node", "g", "--input", "i=[0, 1]")
    assert (code, answer["error"]["status"]) == (2, "usage")
    for path, wanted in (("then", [[0, 1, 2], [6, 7, 8]]), ("else", [[0, 2], [3, 5], [6, 8], [9, 11]])):
        words = ["--node", f"main/if_3/{path}_branch/g", "--input", "i=[0, 2]", "--output", f"y={tmp_path}/y.npy", "-f"]
        code, answer = run(branches, *words)
        assert code == 0 and np.load(tmp_path / "y.npy").tolist() == wanted, answer
    assert run(branches)[1]["error"]["status"] == "unsupported"


def test_inputs_that_are_missing(branches):
    code, answer = run(branches, "--node", "main/if_3/then_branch/g")
    assert (code, answer["error"]["status"]) == (2, "usage")
    assert "'i'" in answer["error"]["message"] and "'x'" not in answer["error"]["message"]


def test_node_without_a_name(tmp_path):
    """It goes by what it gives, and a cast before it is computed too."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    i = helper.make_tensor_value_info("i", TensorProto.INT32, [2])
    nodes = [helper.make_node("Cast", ["i"], ["wide"], to=TensorProto.INT64), helper.make_node("Gather", ["x", "wide"], ["m"])]
    nodes += [helper.make_node("Relu", ["m"], ["y"])]
    table = models.tensor_of("x", "FLOAT", np.arange(6, dtype=np.float32))
    path = models.save(tmp_path, nodes, [i], [y], [table], 13)
    np.save(tmp_path / "i.npy", np.array([5, -6], np.int32))
    code, answer = run(path, "--node", "m", "--input", f"i={tmp_path}/i.npy", "--output", f"m={tmp_path}/m.npy")
    assert code == 0 and np.load(tmp_path / "m.npy").tolist() == [5, 0], answer
    code, answer = run(path, "--node", "m", "--input", "wide=[6, 0]")
    assert (code, answer["error"]["node"], answer["error"]["value"]) == (1, "m", 6)


def test_strided_and_swapped_inputs(tmp_path):
    """Fortran order and the other byte order, through Reshape and to the output itself."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    i = helper.make_tensor_value_info("i", TensorProto.INT64, [2])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "z")]
    nodes = [
        helper.make_node("Reshape", ["x", "to"], ["flat"]),
        helper.make_node("Gather", ["flat", "i"], ["y"]),
        helper.make_node("Identity", ["x"], ["z"]),
    ]
    path = models.save(tmp_path, nodes, [x, i], ends, [models.tensor_of("to", "INT64", np.array([0, -1, 1]))], 13)
    data = np.asfortranarray(np.arange(6).reshape(2, 3).astype(">f4"))
    np.save(tmp_path / "x.npy", data)
    np.save(tmp_path / "i.npy", np.array([1, -2], ">i8"))
    words = ["--output", f"y={tmp_path}/y.npy", "--output", f"z={tmp_path}/z.npy"]
    code, answer = run(path, "--input", f"x={tmp_path}/x.npy", "--input", f"i={tmp_path}/i.npy", *words)
    assert code == 0, answer
    assert np.array_equal(np.load(tmp_path / "y.npy"), data.reshape(2, 3, 1)[[1, -2]])
    assert np.array_equal(np.load(tmp_path / "z.npy"), data)


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE", "INT64", "INT8", "BOOL", "FLOAT16"])
def test_like_onnxruntime(op, kind, tmp_path):
    """Random models give what ONNX Runtime gives (it has no right strings and no complex numbers)."""
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    import onnxruntime

    rng = np.random.default_rng(len(kind) * 2 + len(op))
    number = TensorProto.DataType.Value(kind)
    for axis in (0, 1, -1):
        data = rng.integers(0, 2, (4, 5, 6)).astype(models.BYTE_TYPES[kind])
        shape = (2, 3) if op == "Gather" else (3, 3, 3)
        indices = rng.integers(-4, 4, shape)
        values = [helper.make_tensor_value_info(n, t, a.shape) for n, t, a in (("x", number, data), ("i", 7, indices))]
        y = helper.make_tensor_value_info("y", number, None)
        path = models.save(tmp_path, [helper.make_node(op, ["x", "i"], ["y"], axis=axis)], values, [y], [], 13)
        wanted = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(
            None, {"x": data, "i": indices}
        )[0]
        np.save(tmp_path / "x.npy", data)
        np.save(tmp_path / "i.npy", indices)
        words = ["--input", f"x={tmp_path}/x.npy", "--input", f"i={tmp_path}/i.npy", "--output", f"y={tmp_path}/y.npy", "-f"]
        assert run(path, *words)[0] == 0
        assert np.array_equal(np.load(tmp_path / "y.npy"), wanted)


def test_node_without_outputs(tmp_path):
    """Nothing is asked of a node that gives nothing."""
    i = helper.make_tensor_value_info("i", TensorProto.INT64, [1])
    table = models.tensor_of("x", "INT64", np.arange(3))
    path = models.save(tmp_path, [helper.make_node("Gather", ["x", "i"], [], "g")], [i], [i], [table], 13)
    code, answer = run(path, "--node", "g", "--input", "i=[0]", "--output", f"y={tmp_path}/y.npy")
    assert (code, answer["error"]["status"]) == (3, "name_not_found"), answer
    assert run(path, "--node", "g", "--input", "i=[9]")[1]["error"]["status"] == "index_out_of_range"


def doubling(path, rounds, *, of="indices", wanted=("y",)):
    """A model of some 1.3 KB: one number, concatenated with itself `rounds` times; a gather needs it."""
    nodes = [helper.make_node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], axis=0) for i in range(rounds)]
    names = ["x", f"c{rounds}"] if of == "indices" else [f"c{rounds}", "i"]
    nodes.append(helper.make_node("Gather", names, ["y"], "g"))
    inputs = [helper.make_tensor_value_info("x", 7, [4]), helper.make_tensor_value_info("i", 7, [2])]
    outputs = [helper.make_tensor_value_info(name, 7, None) for name in wanted]
    return models.save(path, nodes, inputs, outputs, [models.tensor_of("c0", "INT64", np.zeros(1, np.int64))], 13)


# A small process starts the command: the largest size of a process counts that of the one it was forked from, which is large here.
STARTER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(json.dumps([done.returncode, done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]))
"""


def peak(*words):
    """The exit code, what the command printed, and its largest size in MiB (0 with a sanitizer, which adds its own)."""
    line = [sys.executable, "-c", STARTER, EXE, *map(str, words)]
    code, text, most = json.loads(subprocess.run(line, capture_output=True, check=True, timeout=120).stdout)
    return code, text, 0 if os.environ.get("GATHER_SANITIZE") else most


GIVEN = ["--input", "x=[5, 6, 7, 8]", "--input", "i=[0, -1]"]


@pytest.mark.parametrize("of", ["indices", "data"])
def test_values_that_only_gathers_need_are_limited(of, tmp_path):
    path = doubling(tmp_path, 32, of=of)
    for command in (["check", path], ["check", path, "--json"], ["info", path], ["info", path, "--json"]):
        code, text, most = peak(*command)
        assert code == 0 and most < 300, text
    code, text, most = peak("run", path, *GIVEN)
    assert code == 3 and "memory limit for values between nodes" in text and "--memory" in text and most < 900, text
    code, text, most = peak("run", path, *GIVEN, "--memory", "20MB")
    assert code == 3 and most < 100, text
    code, text, most = peak("explain", path, *GIVEN)
    assert (code == 0) == (of == "data") and most < 900, text


def test_the_memory_limit_of_a_run(tmp_path):
    """2^16 numbers are 512 KiB, and those before them as much; outputs do not count."""
    path = doubling(tmp_path, 16)
    for memory, enough in (("100KB", False), ("1000KB", False), ("1MiB", True), ("2MB", True)):
        assert (peak("run", path, *GIVEN, "--memory", memory)[0] == 0) == enough, memory
    path = doubling(tmp_path, 16, wanted=("y", "c16"))
    for memory, enough in (("100KB", False), ("400KB", False), ("512KiB", True)):
        assert (peak("run", path, *GIVEN, "--memory", memory)[0] == 0) == enough, memory
    for memory in ("0", "-1", "x", "1XB"):
        assert run(path, *GIVEN, "--memory", memory)[1]["error"]["status"] == "usage"


@pytest.mark.parametrize("role", ["data", "indices"])
@pytest.mark.parametrize("form", ["initializer", "constant", "outer"])
def test_sparse_tensors_like_onnxruntime(role, form, tmp_path):
    """A check, a run and ONNX Runtime read sparse data and indices, also of an outer graph."""
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    import onnxruntime
    from onnx import numpy_helper

    dense = {"data": np.array([[0, 5], [0, 0], [7, 0]], np.float32), "indices": np.array([0, 2, 0, -1])}
    chosen = dense[role]
    values = numpy_helper.from_array(chosen[np.nonzero(chosen)], role if form != "constant" else "")
    places = numpy_helper.from_array(np.argwhere(chosen) if chosen.ndim > 1 else np.flatnonzero(chosen))
    sparse = helper.make_sparse_tensor(values, places, chosen.shape)
    other = "indices" if role == "data" else "data"
    table = models.tensor_of(other, "INT64" if other == "indices" else "FLOAT", dense[other])
    gather, y = helper.make_node("Gather", ["data", "indices"], ["y"], "g"), helper.make_tensor_value_info("y", 1, None)
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    nodes = [gather]
    if form == "outer":
        body = helper.make_graph([gather], "b", [], [y])
        nodes = [helper.make_node("If", ["c"], ["z"], "if", then_branch=body, else_branch=body)]
    elif form == "constant":
        nodes = [helper.make_node("Constant", [], [role], sparse_value=sparse), gather]
    ends = [helper.make_tensor_value_info("z", 1, None)] if form == "outer" else [y]
    graph = helper.make_graph(nodes, "m", [condition] if form == "outer" else [], ends, [table], sparse_initializer=[sparse] if form != "constant" else [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"c": np.array(True)} if form == "outer" else {})[0]
    code, answer = run(tmp_path / "m.onnx", "--node", "main/if/then_branch/g" if form == "outer" else "g", "--output", tmp_path / "y.npy")
    assert code == 0 and np.array_equal(np.load(tmp_path / "y.npy"), wanted), answer
    assert np.array_equal(wanted, dense["data"][dense["indices"]])
    done = subprocess.run([EXE, "check", str(tmp_path / "m.onnx")], capture_output=True, text=True)
    assert done.returncode == 0 and " 0 unknown, 0 bad" in done.stdout, done.stdout
