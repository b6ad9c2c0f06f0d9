# SPDX-License-Identifier: MIT
"""gather run on OpenVINO IR: every version and element type, with batch_dims, against NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from onnx import numpy_helper

import run_models as models
from test_run_onnx import equal, run

VERSIONS = [("Gather", "opset1"), ("Gather", "opset7"), ("Gather", "opset8"), ("GatherElements", "opset6")]
WAYS = ["const", "parameter", "convert", "reshape", "squeeze-last", "squeeze"]
CASES = [
    (*version, kind, WAYS[(n + k) % len(WAYS)])
    for (n, version), (k, kind) in itertools.product(enumerate(VERSIONS), enumerate(models.IR_TYPES))
]


def index_layers(net, way, indices):
    """The layers that give the indices, and what the test set brings."""
    kind = "i32" if indices.dtype == np.int32 else "i64"
    if way == "const":
        return net.const("ids", kind, indices), []
    inner = {"reshape": indices.reshape(-1), "squeeze-last": indices[:, None], "squeeze": indices[None]}.get(way, indices)
    if way == "convert":
        inner = inner.astype(np.uint8)
    given = net.parameter("ids", {"uint8": "u8", "int32": "i32", "int64": "i64"}[str(inner.dtype)], inner.shape)
    if way == "parameter":
        return given, [inner]
    if way == "convert":
        data = f'<data destination_type="{kind}"/>'
        return net.node("c", "Convert", "opset1", data, [given], kind, indices.shape), [inner]
    if way == "reshape":
        to = net.const("to", "i64", np.array([0 if indices.ndim == 1 else -1, *indices.shape[1:]]))
        return net.node("r", "Reshape", "opset1", '<data special_zero="true"/>', [given, to], kind, indices.shape), [inner]
    axis = net.const("to", "i64", np.array([1 if way == "squeeze-last" else 0]))
    name = "Squeeze"
    return net.node("s", name, "opset1", "", [given, axis], kind, indices.shape), [inner]


def make(folder, op, version, kind, way, seed):
    rng = np.random.default_rng(seed)
    data = models.random_data(rng, models.IR_TYPES[kind][0], (3, 4, 5))
    batch = int(rng.integers(0, 3)) if version in ("opset7", "opset8") else 0
    axis = int(rng.integers(batch, 3))
    shape = (*data.shape[:batch], 2, 3)[: max(batch + 1, 2)] if op == "Gather" else (*data.shape[:axis], 2, *data.shape[axis + 1 :])
    low = -data.shape[axis] if version in ("opset8", "opset6") and way != "convert" else 0
    indices = rng.integers(low, data.shape[axis], shape).astype(np.int32 if seed % 2 else np.int64)
    wanted = models.take(data, indices, axis, batch) if op == "Gather" else models.take_along(data, indices, axis)
    net = models.Net()
    in_file = seed % 3 != 0
    x = net.const("x", kind, data) if in_file else net.parameter("x", kind, data.shape)
    ids, brought = index_layers(net, way, indices)
    if op == "Gather":
        sources = [x, ids, net.const("axis", "i32", np.array(axis - 3 if seed % 5 == 0 else axis, np.int32))]
        words = "" if version == "opset1" else f'<data batch_dims="{batch}"/>'
    else:
        sources, words = [x, ids], f'<data axis="{axis}"/>'
    y = net.node("g", op, version, words, sources, kind, wanted.shape)
    net.layer("r_out", "Result", "opset1", "", [y], "")
    onnx_name = models.IR_TYPES[kind][0]
    tensors = [] if in_file else [models.tensor_of("x", onnx_name, data)]
    tensors += [numpy_helper.from_array(array) for array in brought]
    models.test_set(folder / "set", tensors, models.tensor_of("y", onnx_name, wanted))
    return net.save(folder)


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: "-".join(CASES[i]))
def test_models(case, tmp_path):
    path = make(tmp_path, *CASES[case], case)
    equal(path, tmp_path / "set")


def small(folder, op="Gather", version="opset8"):
    net = models.Net()
    x = net.const("x", "f32", np.arange(1, 13, dtype=np.float32).reshape(4, 3))
    ids = net.parameter("ids", "i64", (2,))
    axis = net.const("axis", "i64", np.array(0))
    net.layer("out", "Result", "opset1", "", [net.node("g", op, version, "", [x, ids, axis], "f32", (2, 3))], "")
    return net.save(folder)


@pytest.mark.parametrize("name", ["g", "out"])
def test_output_names(name, tmp_path):
    """Outputs go by the layer's name, or by the Result's."""
    code, answer = run(small(tmp_path), "--input", "ids=[0, -1]", "--output", f"{name}={tmp_path}/y.npy")
    assert code == 0, answer
    assert np.load(tmp_path / "y.npy").tolist() == [[1, 2, 3], [10, 11, 12]]


def test_bad_indices(tmp_path):
    """Gather-8 fills with zeros; Gather-7 has an error, which names the node."""
    path = small(tmp_path)
    assert run(path, "--input", "ids=[4, 0]", "--output", f"g={tmp_path}/y.npy")[0] == 0
    assert np.load(tmp_path / "y.npy").tolist() == [[0, 0, 0], [1, 2, 3]]
    code, answer = run(small(tmp_path, version="opset7"), "--input", "ids=[0, -1]")
    assert (code, answer["error"]["status"], answer["error"]["node"]) == (1, "index_out_of_range", "g")
    assert answer["error"]["rules"] == "openvino-7"


def test_one_node(tmp_path):
    """The axis comes from the file, so only the indices are asked for."""
    path = small(tmp_path)
    code, answer = run(path, "--node", "g")
    assert (code, answer["error"]["status"]) == (2, "usage") and "'ids'" in answer["error"]["message"]
    assert "'axis'" not in answer["error"]["message"]
    assert run(path, "--node", "g", "--input", "ids=[0, 1]")[0] == 0
