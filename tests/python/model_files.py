# SPDX-License-Identifier: MIT
"""Models for the Python package's tests, and the bundled command's answers about them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest

import libgather
from libgather.command import path as command_path
from support.skip import skip_test


@pytest.fixture(autouse=True)
def needs_onnx():
    if "onnx" not in libgather.info()["formats"]:
        skip_test("nanopb", "this build reads no ONNX models")


def parsed(graph: str, opset: int = 13) -> onnx.ModelProto:
    """A model in ONNX's text form: the graph alone, and functions behind it."""
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}, "own" : 1]>\n{graph}')


def value(name: str, kind: int, shape) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def one_node(
    kind: int = 1, data=(4, 3), ids=(2,), op: str = "Gather", axis: int = 0, opset: int = 25, **given
) -> onnx.ModelProto:
    """A model of one node 'g': inputs data and ids, output y. given: arrays for what is no input but an initializer."""
    node = onnx.helper.make_node(op, ["data", "ids"], ["y"], name="g", axis=axis)
    inputs = [value("data", kind, data), value("ids", 7, ids)]
    initializers = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in given.items()]
    rank = len(data) if op == "GatherElements" else len(data) + len(ids) - 1
    inputs = [each for each in inputs if each.name not in given]
    graph = onnx.helper.make_graph([node], "m", inputs, [value("y", kind, [None] * rank)], initializers)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=11)


def saved(model: onnx.ModelProto, path: Path) -> Path:
    onnx.save(model, path)
    return path


def command(*arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run([command_path(), *map(str, arguments)], capture_output=True, check=False, **options)


def command_json(*arguments) -> dict:
    return json.loads(command(*arguments, "--json").stdout)


EMBED = """embedder (int64[batch, words] ids) => (float[batch, words, 2] y)
<float[4,2] table = {0,1, 10,11, 20,21, 30,31}> { [embed] e = Gather <axis = 0> (table, ids) [act] y = Relu(e) }"""

BAD = """two (float[5, 2] x, int64[2] free) => (float[2, 2] y, float[1, 2] z, float[2, 2] w)
<int64[2] far = {1, 9}, int64[1, 2] near = {0, -1}>
{ [far] y = Gather <axis = 0> (x, far)  [near] z = GatherElements <axis = 0> (x, near)  [free] w = Gather (x, free) }"""

NAMED = """named (float[N, 2] table) => (float[2, 2] y) <int64[2] ids = {0, 7}> { [g] y = Gather <axis = 0> (table, ids) }"""

INSIDE = """inside (float[4, 2] x, int64[2] ids, bool c, int64[1, 1] at) => (float[2, 2] y, float[1] w)
<int64[2] far = {4, 0}>
{
  [choose] y = If (c) <then_branch = yes () => (float[2, 2] a) { [g] a = Gather <axis = 0> (x, far) },
                       else_branch = no () => (float[2, 2] b) { two = Neg (ids) [g] b = Gather <axis = 0> (x, two) }>
  [nd] w = GatherND (x, at)
}"""

CHAIN = """chain (int64[n] ids, float[4, 2] x) => (float[n, 2] y)
{ [a] other = own.Hash (ids) [g] y = Gather <axis = 0> (x, other) }"""
