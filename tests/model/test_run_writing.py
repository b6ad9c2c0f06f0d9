# SPDX-License-Identifier: MIT
"""`gather run` of operators that write, and of embedding bags, beside ONNX Runtime and OpenVINO: Scatter, ScatterElements, ScatterND,
TensorScatter, ScatterUpdate, ScatterElementsUpdate, ScatterNDUpdate, EmbeddingBagOffsetsSum, EmbeddingBagOffsets, EmbeddingBagPackedSum,
EmbeddingBagPacked, EmbeddingSegmentsSum. Numbers are small integers, so that no order of sums shows."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest
from onnx import TensorProto as T
from onnx import helper as h

import libgather
from support.command import call
from support.command import inputs as given
from support.openvino_package import op, ov
from support.refusal import refuses
from support.skip import skip_test

KINDS = {"float32": T.FLOAT, "int32": T.INT32, "int64": T.INT64, "bool": T.BOOL}


def small(rng, *shape, dtype=np.float32):
    return rng.integers(-4, 5, shape).astype(dtype)


def places(rng, shape, length, unique):
    """Indices along the first axis of `shape`, of either sign; unique: each once in its column."""
    if not unique:
        return rng.integers(-length, length, shape)
    columns = [rng.permutation(length)[: shape[0]] for _ in range(int(np.prod(shape[1:])))]
    picked = np.stack(columns, -1).reshape(shape)
    return np.where(rng.integers(0, 2, shape) == 0, picked, picked - length)


def ours(path, arrays, folder) -> np.ndarray:
    done = call("run", path, *given(folder, **arrays), "--output", f"{folder}/y.npy", "-f")
    assert done.returncode == 0, done.stderr
    return np.load(folder / "y.npy")


# ---- ONNX


def onnx_cases():
    for opset, op_type in ((9, "Scatter"), (11, "ScatterElements"), (13, "ScatterElements"), (16, "ScatterElements"), (18, "ScatterElements")):
        for reduction in {16: ("none", "add", "mul"), 18: ("none", "add", "mul", "max", "min")}.get(opset, (None,)):
            yield op_type, opset, reduction
    for opset in (11, 13, 16, 18):
        for reduction in {16: ("none", "add", "mul"), 18: ("none", "add", "mul", "max", "min")}.get(opset, (None,)):
            yield "ScatterND", opset, reduction
    yield from (("TensorScatter", 24, mode) for mode in ("linear", "circular"))


def onnx_inputs(rng, op_type, opset, word, dtype):
    unique = word in (None, "none")
    if op_type == "TensorScatter":
        return {"x": small(rng, 2, 3, 6, 2, dtype=dtype), "u": small(rng, 2, 3, 2, 2, dtype=dtype), "i": rng.integers(0, 5, 2)}, {"axis": 2}
    x = small(rng, 6, 4, dtype=dtype)
    if op_type == "ScatterND":
        indices = places(rng, (5, 1), 6, unique)
        return {"x": x, "i": indices, "u": small(rng, 5, 4, dtype=dtype)}, {}
    indices = places(rng, (3, 4), 6, unique)
    return {"x": x, "i": indices % 6 if opset == 9 else indices, "u": small(rng, 3, 4, dtype=dtype)}, {"axis": 0}


@pytest.mark.parametrize(("op_type", "opset", "word"), onnx_cases(), ids=str)
def test_onnx(tmp_path, op_type, opset, word):
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    import onnxruntime

    rng = np.random.default_rng(opset)
    for dtype in (np.float32, np.int32):
        arrays, words = onnx_inputs(rng, op_type, opset, word, dtype)
        words |= {} if word is None else {"mode" if op_type == "TensorScatter" else "reduction": word}
        order = "xui" if op_type == "TensorScatter" else "xiu"
        values = [h.make_tensor_value_info(name, KINDS[str(a.dtype)], a.shape) for name, a in arrays.items()]
        y = h.make_tensor_value_info("y", KINDS[np.dtype(dtype).name], arrays["x"].shape)
        graph = h.make_graph([h.make_node(op_type, list(order), ["y"], "g", **words)], "g", values, [y])
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=11 if opset > 18 else 4)
        (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), options, providers=["CPUExecutionProvider"])
        theirs, mine = session.run(None, arrays)[0], ours(tmp_path / "m.onnx", arrays, tmp_path)
        assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()


def test_no_such_reduction(tmp_path):
    """The command and the package name the node, the word, and the words that there are, and advise nothing else."""
    shapes = {"x": [4], "i": [2], "u": [2]}
    values = [h.make_tensor_value_info(name, T.INT64 if name == "i" else T.FLOAT, shape) for name, shape in shapes.items()]
    graph = h.make_graph([h.make_node("ScatterElements", list("xiu"), ["y"], "put", reduction="foo")], "g", values,
                         [h.make_tensor_value_info("y", T.FLOAT, [4])])  # fmt: skip
    path = tmp_path / "m.onnx"
    path.write_bytes(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8).SerializeToString())
    why = "ScatterElements onnx-18 has no reduction 'foo'; it has 'none', 'add', 'mul', 'min', 'max'"
    arrays = {"x": np.zeros(4, np.float32), "i": np.array([1, 1]), "u": np.ones(2, np.float32)}
    checked = call("check", path)
    assert checked.returncode == 0 and f"why      {why}" in checked.stdout and "main/put" in checked.stdout and "give" not in checked.stdout
    (node,) = json.loads(call("check", path, "--json").stdout)["nodes"]
    assert (node["name"], node["verdict"], node["reason"]) == ("put", "unknown", why) and "give" not in node
    ran = call("run", path, *given(tmp_path, **arrays), "--output", f"{tmp_path}/y.npy")
    assert (ran.returncode, ran.stderr) == (4, f"gather: error: node 'put': {why}\n")
    for words in ([], ["--input", "i=[1, 1]"]):
        drawn = call("explain", path, "--node", "put", *words)
        assert (drawn.returncode, drawn.stderr) == (4, f"gather: error: main/put: {why}\n")
    model = libgather.Model(path)
    assert why in str(model.check()) and "give" not in str(model.check())
    refuses(libgather.GatherNotSupportedError, model.run, arrays, says=why)
    refuses(libgather.GatherNotSupportedError, model.explain, "put", says=why)


# ---- OpenVINO


def scatters(rng, dtype):
    """(make the node from parameters, arrays by name)."""
    x, u = small(rng, 6, 4, dtype=dtype), small(rng, 3, 4, dtype=dtype)
    zero = np.array(0)
    yield lambda p: op.scatter_update(p["x"], p["i"], p["u"], op.constant(zero)), {"x": x, "i": rng.permutation(6)[:3], "u": u}
    yield lambda p: op.scatter_nd_update(p["x"], p["i"], p["u"]), {"x": x, "i": places(rng, (3, 1), 6, True), "u": u}
    newest = ov.opset15
    for reduction in ("none", "sum", "sub", "prod", "min", "max"):
        arrays = {"x": x, "i": places(rng, (3, 1), 6, reduction == "none"), "u": u}
        yield lambda p, reduction=reduction: newest.scatter_nd_update(p["x"], p["i"], p["u"], reduction), arrays
    for reduction in ("none", "sum", "prod", "min", "max"):
        for use in (True, False):
            arrays = {"x": x, "i": places(rng, (3, 4), 6, reduction == "none"), "u": u}
            yield (lambda p, reduction=reduction, use=use: op.scatter_elements_update(p["x"], p["i"], p["u"], op.constant(zero), reduction, use)), arrays


def embeddings(rng, dtype):
    x, ids = small(rng, 6, 4, dtype=dtype), rng.integers(0, 6, 7)
    weights, offsets, segments = small(rng, 7, dtype=dtype), np.array([0, 3, 3, 5]), np.array([0, 0, 1, 1, 1, 3, 3])
    packed, one, five = rng.integers(0, 6, (3, 2)), op.constant(np.array(1)), op.constant(np.array(5))
    newest = ov.opset15
    yield lambda p: op.embedding_bag_offsets_sum(p["x"], p["i"], p["o"]), {"x": x, "i": ids, "o": offsets}
    yield lambda p: op.embedding_bag_offsets_sum(p["x"], p["i"], p["o"], one, p["w"]), {"x": x, "i": ids, "o": offsets, "w": weights}
    yield lambda p: op.embedding_bag_packed_sum(p["x"], p["i"]), {"x": x, "i": packed}
    yield lambda p: op.embedding_bag_packed_sum(p["x"], p["i"], p["w"]), {"x": x, "i": packed, "w": small(rng, 3, 2, dtype=dtype)}
    yield lambda p: op.embedding_segments_sum(p["x"], p["i"], p["s"], five), {"x": x, "i": ids, "s": segments}
    yield lambda p: op.embedding_segments_sum(p["x"], p["i"], p["s"], five, one, p["w"]), {"x": x, "i": ids, "s": segments, "w": weights}
    for reduction in ("sum", "mean") if dtype == np.float32 else ("sum",):
        yield lambda p, r=reduction: newest.embedding_bag_offsets(p["x"], p["i"], p["o"], reduction=r), {"x": x, "i": ids[:6], "o": np.array([0, 2, 4])}
        yield lambda p, r=reduction: newest.embedding_bag_packed(p["x"], p["i"], reduction=r), {"x": x, "i": packed}


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("cases", [scatters, embeddings])
def test_openvino(tmp_path, cases, dtype):
    if ov is None:
        skip_test("openvino", "the package is not installed")
    core, count = ov.Core(), 0
    for make, arrays in cases(np.random.default_rng(3), dtype):
        parameters = {}
        for name, array in arrays.items():
            parameters[name] = op.parameter(list(array.shape), array.dtype, name=name)
            parameters[name].output(0).set_names({name})
        node = make(parameters)
        node.output(0).set_names({"y"})
        model = ov.Model([node], list(parameters.values()), "m")
        ov.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        theirs, mine = compiled(dict(arrays))[0], ours(tmp_path / "m.xml", arrays, tmp_path)
        assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes(), (node, mine, theirs)
        count += 1
    assert count >= 8
