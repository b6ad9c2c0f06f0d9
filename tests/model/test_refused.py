# SPDX-License-Identifier: MIT
"""Models that runtimes refuse whole: names of two values, attributes and operands that an operator lacks, versions that do not exist.

Each case says what ONNX Runtime does ("loads" or "refuses") and what `check` does: "refused" (the whole model), "bad", "unknown" or "".
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from onnx import helper as h
from onnx import numpy_helper as nh

import run_models as models
from support.command import asked
from support.onnx_models import session

N = h.make_node


def value(name, shape=None, kind=7):
    return h.make_tensor_value_info(name, kind, shape)


def gather(data, indices, output, name="g", op="Gather", **attributes):
    return N(op, [data, indices], [output], name, **attributes)


IDS = nh.from_array(np.array([1, 2]), "ids")
TABLE = nh.from_array(np.zeros((4, 3), np.float32), "w")
X, I, C, Y = value("x", [4, 3], 1), value("i", [2]), value("c", [], 9), value("y", None, 1)
TUPLES, CELLS = value("j", [4, 1]), value("e", [4, 3])


def model(nodes, inputs, constants=(), outputs=(Y,), opsets=(("", 17),), functions=()):
    graph = h.make_graph(list(nodes), "m", list(inputs), list(outputs), list(constants))
    made = h.make_model(graph, opset_imports=[h.make_opsetid(*row) for row in opsets], ir_version=8, functions=list(functions))
    if not opsets:
        del made.opset_import[:]
    return made


def loop(nodes, inputs=None, constants=()):
    """A Loop of two rounds."""
    given = inputs or [value("it", []), value("cc", [], 9), value("v", [4, 3], 1)]
    body = h.make_graph([*nodes, gather("v", "ids", "vo")], "b", given, [value("co", [], 9), value("vo", None, 1)], list(constants))
    return model([N("Loop", ["n", "c", "x"], ["y"], "l", body=body)], [X, C], [nh.from_array(np.array(2), "n"), IDS])


def branch(nodes, constants=(), outer=()):
    """An If, whose first branch has these nodes."""
    then = h.make_graph(list(nodes), "t", [], [value("t", None, 1)], list(constants))
    other = h.make_graph([gather("x", "ids", "t")], "e", [], [value("t", None, 1)])
    return model([*outer, N("If", ["c"], ["y"], "f", then_branch=then, else_branch=other)], [X, C], [IDS, nh.from_array(np.array(3), "k")])


def same(a, b):
    return N("Identity", [a], [b])


NAMES = {
    "two nodes": ("refuses", "refused", model([gather("x", "i", "y"), gather("x", "i", "y", "h")], [X, I])),
    "two outputs of a node": ("refuses", "refused", model([N("Split", ["x"], ["a", "a"], axis=0), gather("a", "i", "y")], [X, I])),
    "a node and an initializer": ("refuses", "refused", model([gather("w", "i", "w")], [I], [TABLE], [value("w", None, 1)])),
    "a node and an input": ("refuses", "refused", model([gather("x", "i", "x")], [X, I], (), [X])),
    "two inputs": ("refuses", "refused", model([gather("x", "i", "y")], [X, X, I])),
    "two initializers": ("refuses", "refused", model([gather("w", "i", "y")], [I], [TABLE, nh.from_array(np.zeros((3, 3), np.float32), "w")])),
    "two initializers of a branch": ("refuses", "refused", branch([gather("x", "j", "t")], [nh.from_array(np.array([k]), "j") for k in (1, 2)])),
    "an input with a default": ("loads", "", model([gather("w", "i", "y")], [value("w", [4, 3], 1), I], [TABLE])),
    "a body": ("loads", "", loop([same("cc", "co")])),
    "a body's input that is an initializer too": ("refuses", "refused", loop([same("cc", "co")], None, [nh.from_array(np.ones((4, 3), np.float32), "v")])),
    "two nodes of a body": ("refuses", "refused", loop([same("cc", "co"), same("v", "vo")])),
    "two inputs of a body": ("refuses", "refused", loop([same("v", "co")], [value("it", []), value("v", [], 9), value("v", [4, 3], 1)])),
    "a body's output and an outer initializer": ("refuses", "refused", loop([same("cc", "co"), same("ids", "n")])),
    "a body's output and an outer input": ("refuses", "refused", loop([same("cc", "co"), same("ids", "c")])),
    "a body's input and an outer input": ("loads", "", loop([same("c", "co")], [value("it", []), value("c", [], 9), value("v", [4, 3], 1)])),
    "a branch": ("loads", "", branch([gather("x", "ids", "t")])),
    "a branch's output and an outer initializer": ("refuses", "refused", branch([same("ids", "k"), gather("x", "k", "t")])),
    "a branch's output and the node's own": ("loads", "", branch([gather("x", "ids", "y"), same("y", "t")])),
    "a branch's initializer and an outer one": ("loads", "", branch([gather("x", "ids", "t")], [IDS])),
}  # fmt: skip

PARTS = {
    "GatherND-11 with batch_dims": ("refuses", "bad", model([gather("x", "j", "y", op="GatherND", batch_dims=1)], [X, TUPLES], opsets=[("", 11)])),
    "GatherND-11 with batch_dims 0": ("refuses", "bad", model([gather("x", "j", "y", op="GatherND", batch_dims=0)], [X, TUPLES], opsets=[("", 11)])),
    "GatherND-12 with batch_dims": ("loads", "", model([gather("x", "j", "y", op="GatherND", batch_dims=1)], [X, TUPLES], opsets=[("", 12)])),
    "GatherND of microsoft": ("refuses", "bad", model([gather("x", "j", "y", op="GatherND", batch_dims=0, domain="com.microsoft")], [X, TUPLES], opsets=[("", 17), ("com.microsoft", 1)])),
    "GatherND with an axis": ("refuses", "bad", model([gather("x", "j", "y", op="GatherND", axis=0)], [X, TUPLES])),
    "Gather with batch_dims": ("refuses", "bad", model([gather("x", "i", "y", batch_dims=0)], [X, I])),
    "GatherElements with batch_dims": ("refuses", "bad", model([gather("x", "e", "y", op="GatherElements", batch_dims=0)], [X, CELLS])),
    "another attribute": ("refuses", "bad", model([gather("x", "i", "y", mode="clip")], [X, I])),
    "three inputs": ("refuses", "bad", model([N("Gather", ["x", "i", "i"], ["y"], "g")], [X, I])),
    "two outputs": ("refuses", "bad", model([N("Gather", ["x", "i"], ["y", "z"], "g")], [X, I])),
}  # fmt: skip

VERSIONS = {
    "GatherElements of opset 9": ("refuses", "unknown", model([gather("x", "e", "y", op="GatherElements")], [X, CELLS], opsets=[("", 9)])),
    "GatherND of opset 10": ("refuses", "unknown", model([gather("x", "j", "y", op="GatherND")], [X, TUPLES], opsets=[("", 10)])),
    "no import": ("refuses", "unknown", model([gather("x", "i", "y")], [X, I], opsets=())),
    "opset 99": ("refuses", "unknown", model([gather("x", "i", "y")], [X, I], opsets=[("", 99)])),
    "opset -3": ("refuses", "unknown", model([gather("x", "i", "y")], [X, I], opsets=[("", -3)])),
}
WHY = {
    "GatherElements of opset 9": "version 9 of the operator set ai.onnx is imported; GatherElements exists since version 11",
    "GatherND of opset 10": "version 10 of the operator set ai.onnx is imported; GatherND exists since version 11",
    "no import": "no version of the operator set ai.onnx is imported; Gather exists since version 1",
    "opset 99": "version 99 of the operator set ai.onnx is imported; Gather is known from version 1 to 28",
    "opset -3": "version -3 of the operator set ai.onnx is imported; Gather exists since version 1",
}
CASES = {**NAMES, **PARTS, **VERSIONS}


def loads(made):
    try:
        session(made)
    except Exception:  # noqa: BLE001  its own kinds of failure
        return "refuses"
    return "loads"


@pytest.mark.parametrize("name", CASES)
def test_as_onnxruntime(name, tmp_path):
    theirs, ours, made = CASES[name]
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    assert loads(made) == theirs
    code, answer = asked("check", path)
    if ours == "refused":
        assert (code, answer["error"]["status"]) == (3, "file_malformed")
        assert re.search(r"two (nodes|inputs|initializers)|both an input and|which is an input or", answer["error"]["message"])
    else:
        verdicts = {node["verdict"] for node in answer["nodes"]}
        assert code == (ours == "bad") and (ours in verdicts if ours else "bad" not in verdicts), answer
    node = "main/l/body/g" if "l/body" in str(made) or name.startswith(("a body", "two inputs of a body", "two nodes of a body")) else None
    code, answer = asked("run", path, *(["--node", node] if node else []))
    wanted = {"refused": {"file_malformed"}, "bad": {"file_malformed", "usage"}, "unknown": {"unsupported"}, "": {"usage", "unsupported"}}[ours]
    assert answer.get("error", {"status": "usage"})["status"] in wanted, answer
    assert asked("info", path)[0] == 0


@pytest.mark.parametrize("name", VERSIONS)
def test_which_version(name, tmp_path):
    """What the model asks for, and since when there is the operator."""
    path = tmp_path / "m.onnx"
    path.write_bytes(CASES[name][2].SerializeToString())
    assert asked("check", path)[1]["nodes"][0]["reason"] == WHY[name]
    for words in ([], ["--node", "g"]):
        code, answer = asked("run", path, *words)
        assert code == 4 and answer["error"]["message"].endswith(f"cannot be run: {WHY[name]}"), answer


def test_a_function_imports_its_own_version(tmp_path):
    function = h.make_function("d", "f", ["a", "b"], ["r"], [gather("a", "b", "r", op="GatherND")], [h.make_opsetid("", 9)])
    made = model([N("f", ["x", "j"], ["y"], domain="d")], [X, TUPLES], opsets=[("", 17), ("d", 1)], functions=[function])
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    nodes = asked("check", tmp_path / "m.onnx")[1]["nodes"]
    assert {node["reason"] for node in nodes if node["verdict"] == "unknown"} >= {
        "version 9 of the operator set ai.onnx is imported; GatherND exists since version 11"
    }


@pytest.mark.parametrize("version, known", [("opset20", False), ("opset18", False), ("opset17", True), ("opset16", True), ("opset8x", False), ("opset0", False)])
def test_versions_of_layers(version, known, tmp_path):
    """OpenVINO has operator sets up to 17: a layer of a later one has no rules that are known."""
    net = models.Net()
    sources = [net.parameter("x", "f32", (4,)), net.const("i", "i64", np.array([1, 3])), net.const("a", "i64", np.array(0))]
    net.result(net.node("g", "Gather", version, '<data batch_dims="0"/>', sources, "f32", (2,)), "r")
    node = asked("check", net.save(tmp_path))[1]["nodes"][0]
    if known:
        assert node["verdict"] == "ok"
    else:
        assert node["verdict"] == "unknown"
        assert node["reason"] == f"the layer has the version '{version}'; Gather is known from opset1 to opset17"
