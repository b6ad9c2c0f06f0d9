# SPDX-License-Identifier: MIT
"""Models for the Python package's tests, elements of every type, and the bundled command's answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import ml_dtypes
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


def one_node(kind: int = 1, data=(4, 3), ids=(2,), op: str = "Gather", axis: int = 0, opset: int = 25, **given) -> onnx.ModelProto:
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


T = onnx.TensorProto
PLAIN = {
    **{"bool": T.BOOL, "int8": T.INT8, "int16": T.INT16, "int32": T.INT32, "int64": T.INT64},
    **{"uint8": T.UINT8, "uint16": T.UINT16, "uint32": T.UINT32, "uint64": T.UINT64},
    **{"float16": T.FLOAT16, "float32": T.FLOAT, "float64": T.DOUBLE},
    **{"complex64": T.COMPLEX64, "complex128": T.COMPLEX128},
}
SMALL = {
    **{"bfloat16": T.BFLOAT16, "float8_e4m3fn": T.FLOAT8E4M3FN, "float8_e4m3fnuz": T.FLOAT8E4M3FNUZ},
    **{"float8_e5m2": T.FLOAT8E5M2, "float8_e5m2fnuz": T.FLOAT8E5M2FNUZ, "float8_e8m0fnu": 24},
    **{"float4_e2m1fn": 23, "int4": T.INT4, "uint4": T.UINT4, "int2": 26, "uint2": 25},
    **{"float6_e2m3fn": 27, "float6_e3m2fn": 28},
}
BITS = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


def filled(name, shape, seed=0):
    """Elements of that type: every bit pattern may stand there."""
    random = np.random.default_rng(seed)
    if name in PLAIN:
        size = int(np.prod(shape))
        dtype = np.dtype(name)
        if name == "bool":
            return random.integers(0, 2, shape).astype(bool)
        return np.frombuffer(random.bytes(size * dtype.itemsize), dtype).reshape(shape)
    dtype = np.dtype(getattr(ml_dtypes, name))
    codes = random.integers(0, 1 << BITS.get(name, 8 * dtype.itemsize), shape).astype(f"u{dtype.itemsize}")
    if name.startswith("int"):
        sign = 1 << (BITS[name] - 1)
        codes = ((codes ^ sign) - sign).astype(np.uint8)
    return codes.view(dtype)


def same(a, b):
    """The same dtype, shape and bits."""
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert a.tobytes() == b.tobytes()


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
