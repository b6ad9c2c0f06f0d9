# SPDX-License-Identifier: MIT
"""What check and info say of nodes that take indices and are not checked; and that every name that check prints can be given."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from test_check import call, check, gather_node, save, table, tensor, value

import run_models as models
from support import command
from support.packed import unpacked

TORCH = unpacked(Path(__file__).parent / "data" / "torch.tar.xz")
FILES = sorted(TORCH.glob("*.onnx"))
# What may read or write at an index in PyTorch's exports; kept apart from the library's own table.
TAKE_INDICES = {"MaxUnpool", "RoiAlign", "ReverseSequence"}
WRITE = {"ScatterND", "ScatterElements", "Scatter"}  # are checked


def counted(graph, names=frozenset(TAKE_INDICES)) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in graph.node:
        if node.domain == "" and node.op_type in names:
            found[node.op_type] = found.get(node.op_type, 0) + 1
        for attribute in node.attribute:
            for op, count in counted(attribute.g, names).items() if attribute.HasField("g") else ():
                found[op] = found.get(op, 0) + count
    return found


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_exported_models(path):
    model = onnx.load(path, load_external_data=False)
    wanted = counted(model.graph)
    answer = check(path)
    assert {row["op"]: row["count"] for row in answer["not_checked"]} == wanted
    listed = [node["op"] for node in answer["nodes"] if node["op"] in WRITE]
    assert {op: listed.count(op) for op in listed} == counted(model.graph, frozenset(WRITE))
    first = call("check", path).splitlines()[0]
    for op, count in wanted.items():
        assert f"{count} {op} {'node' if count == 1 else 'nodes'}" in first
    assert ("not checked" in first) == bool(wanted)


def test_there_are_such_exports():
    assert sum(bool(counted(onnx.load(path, load_external_data=False).graph, frozenset(WRITE))) for path in FILES) > 1


def test_a_bad_index_that_no_check_sees(tmp_path):
    """The exit code stays 0: nothing bad was found. But the answer says what was not checked."""
    path = tmp_path / "m.onnx"
    node = h.make_node("MaxUnpool", ["x", "i"], ["out_y"], kernel_shape=[2])
    save(path, [node], [value("x", [1, 1, 1])], [tensor([[[6]]], "i")])
    assert call("check", path) == f"{path}: onnx, no gather nodes; 1 MaxUnpool node is not checked\n"
    assert check(path)["not_checked"] == [{"op": "MaxUnpool", "count": 1}]
    assert call("check", path, "-q") == ""


def siblings(*ops):
    return [h.make_node(op, ["x", "i"], [f"out_{k}"], domain=domain) for k, (domain, op) in enumerate(ops)]


def test_several_operators(tmp_path):
    path = tmp_path / "m.onnx"
    ops = [("", "SequenceAt"), ("", "MaxUnpool"), ("com.microsoft", "EmbedLayerNormalization"), ("", "MaxUnpool")]
    nodes = [gather_node("g", indices="c"), *siblings(*ops)]
    imports = [h.make_opsetid("com.microsoft", 1)]
    save(path, nodes, [value("x", [2]), value("i", [1], T.INT64)], [table(), tensor([1], "c")], imports=imports)
    counts = [{"op": "EmbedLayerNormalization", "count": 1}, {"op": "MaxUnpool", "count": 2}, {"op": "SequenceAt", "count": 1}]
    assert check(path)["not_checked"] == counts
    words = "1 EmbedLayerNormalization node, 2 MaxUnpool nodes and 1 SequenceAt node"
    assert call("check", path).splitlines()[0].endswith(f": 1 ok, 0 unknown, 0 bad; {words} are not checked")
    assert call("info", path).endswith(f"\n{words}, not covered by gather check\n")


def test_none(tmp_path):
    path = tmp_path / "m.onnx"
    save(path, [h.make_node("Relu", ["x"], ["out_y"])], [value("x", [2])])
    assert check(path)["not_checked"] == []
    assert call("check", path) == f"{path}: onnx, no gather nodes\n"
    assert "look" not in call("info", path)


def test_a_bad_node_beside_them(tmp_path):
    path = tmp_path / "m.onnx"
    save(path, [gather_node("g", indices="c"), *siblings(("", "MaxUnpool"))], [value("x", [2]), value("i", [1], T.INT64)],
         [table(), tensor([10], "c")])
    answer = check(path, code=1)
    assert (answer["bad"], answer["not_checked"]) == (1, [{"op": "MaxUnpool", "count": 1}])
    assert "1 bad; 1 MaxUnpool node is not checked\n\nbad " in call("check", path, "-q", code=1)


@pytest.mark.parametrize("op, opset", [("ReverseSequence", "opset1"), ("RoiAlign", "opset9")])
def test_ir(op, opset, tmp_path):
    net = models.Net()
    net.result(net.node("n", op, opset, "", [net.parameter("x", "f32", (4, 2)), net.parameter("i", "i64", (3, 1))], "f32", ()), "r")
    path = net.save(tmp_path)
    assert check(path)["not_checked"] == [{"op": op, "count": 1}]
    assert f"no gather nodes; 1 {op} node is not checked\n" in call("check", path)


def printed_names(text: str) -> list[str]:
    """Where each node stands: the last word of its line."""
    return [line.split()[-1] for line in text.splitlines() if re.match(r"(ok|unknown|bad) ", line)]


def runs(*line) -> str:
    done = command.call(*line)
    assert done.returncode in (0, 1, 2, 4), done.stderr
    return done.stdout + done.stderr


SLASHES = [path for path in FILES if path.stem.endswith("_script18") and "Gather" in path.read_bytes().decode("latin1")]


@pytest.mark.parametrize("path", SLASHES, ids=[path.stem for path in SLASHES])
def test_names_that_begin_with_a_slash(path):
    names, nodes = printed_names(call("check", path)), check(path)["nodes"]
    assert names == [f"{node['graph']}/{node['name'].lstrip('/')}" for node in nodes] and names
    assert all(name.startswith("main/") and "//" not in name for name in names)
    older = [f"{node['graph']}/{node['name']}" for node in nodes]  # with two slashes, as before
    for node in [*names, *older, *(node["name"] for node in nodes)]:
        for verb in ("explain", "run"):
            text = runs(verb, path, "--node", node)
            assert "the model has no" not in text and " gather nodes: '" not in text, (verb, node, text)
            assert "are called" not in text, (verb, node, text)


def test_a_node_without_a_name_goes_by_what_check_prints(tmp_path):
    path = tmp_path / "m.onnx"
    nodes = [h.make_node("Gather", ["table", "ids"], [f"out_{k}"], axis=k) for k in range(2)]
    save(path, nodes, [value("ids", ["N"], T.INT64)], [table()])
    assert printed_names(call("check", path)) == ["main/Gather_0", "main/Gather_1"]
    for k, shape in enumerate(["[1, 4]", "[10, 1]"]):
        line = ["--node", f"main/Gather_{k}", "--input", "ids=[3]"]
        assert f"float32 {shape}" in call("run", path, *line, "--output", f"out_{k}={tmp_path / 'out.npy'}", "-f")
        assert f"main/Gather_{k} of " in call("explain", path, *line) or f"out is out_{k}\n" in call("explain", path, *line)


def test_a_name_goes_before_a_number(tmp_path):
    path = tmp_path / "m.onnx"
    nodes = [h.make_node("Gather", ["table", "ids"], ["out_0"]), gather_node("Gather_0", output="out_1", axis=1)]
    save(path, nodes, [value("ids", ["N"], T.INT64)], [table()])
    line = ["--node", "main/Gather_0", "--input", "ids=[3]"]
    assert "float32 [10, 1]" in call("run", path, *line, "--output", f"out_1={tmp_path / 'out.npy'}")
