# SPDX-License-Identifier: MIT
"""gather run where other nodes dequantise a table of constants: OpenVINO's Convert, Subtract, Multiply, Reshape before a Gather,
and ONNX's DequantizeLinear. Random models beside NumPy on the whole table, beside ONNX Runtime; beside OpenVINO in test_quantized_openvino.py.

GATHER_TEST_EXAMPLES=N: so many random gathers.
"""

from __future__ import annotations

from pathlib import Path

import compressed_cases as compressed
import linear_cases as linear
import many
import ml_dtypes
import numpy as np
import pytest
import quantized_cases as quantized
import run_models as models
from onnx import helper

from support.onnx_models import session

AT_ONCE = 40  # gathers in a model
ROUNDS = max(1, (many.EXAMPLES or 1200) // AT_ONCE)
NARROW = [kind for kind in linear.KINDS if kind not in ("INT16", "UINT16", "INT32")]


def different(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_random(number, tmp_path):
    """Every type, broadcasts of scales and zero points, reshapes, axes, batch dimensions, all versions of Gather."""
    rng = np.random.default_rng([many.SEED, number])
    drawn = [compressed.draw(rng) for _ in range(AT_ONCE)]
    outputs = many.run(compressed.write(drawn, tmp_path), "--threads", number % 3 + 1)
    assert len(outputs) == AT_ONCE
    assert not [case for i, case in enumerate(drawn) if different(outputs[f"g{i}"], compressed.expected(case))]


def test_draws_cover_everything():
    rng = np.random.default_rng(0)
    drawn = [compressed.draw(rng) for _ in range(1500)]
    assert {case.kind for case in drawn} == {*compressed.INTEGERS, *compressed.FLOATS}
    assert {(case.middle, case.final) for case in drawn} == {("f32", "f32"), ("f16", "f32"), ("f16", "f16")}
    assert {case.opset for case in drawn} == {1, 7, 8} and {case.codes.ndim for case in drawn} == {1, 2, 3, 4}
    assert {case.zero_kind for case in drawn} >= {"", "u8", "i4", "f32", "f16"}
    assert any(case.reshape for case in drawn) and any(case.batch_dims for case in drawn)
    assert any(case.scale.ndim < case.codes.ndim and case.scale.size > 1 for case in drawn)


# ---- ONNX's DequantizeLinear


def draw_linear(rng, scale_kinds=("FLOAT", "FLOAT16")) -> linear.Linear:
    while True:
        case = linear.draw(rng, scale_kinds)
        if case.kind in NARROW:
            return case


@pytest.mark.parametrize("number", range(max(1, ROUNDS // 4)))
def test_random_linear(number, tmp_path):
    """Per tensor, per axis and in blocks; every type of at most 8 bits, every output."""
    rng = np.random.default_rng([many.SEED, 3, number])
    path = tmp_path / "model.onnx"
    for _ in range(AT_ONCE):
        case = draw_linear(rng, tuple(quantized.SCALES))
        domain = "com.microsoft" if rng.integers(5) == 0 else ""
        path.write_bytes(linear.model_of(case, domain).SerializeToString())
        assert quantized.same(many.run(path)["y"], linear.expected(case)), case


def test_linear_beside_onnxruntime(tmp_path):
    rng = np.random.default_rng([many.SEED, 4])
    path, compared, count = tmp_path / "model.onnx", 0, max(1, (many.EXAMPLES or 200) // 4)
    for _ in range(count):
        case = draw_linear(rng)
        content = linear.model_of(case).SerializeToString()
        path.write_bytes(content)
        try:
            (theirs,) = session(content, optimised=False, threads=1).run(None, {})
        except Exception as failed:  # kernels that it does not have for some types and outputs
            assert "NOT_IMPLEMENTED" in str(failed) or "FAIL" in str(failed)
            continue
        compared += 1
        assert quantized.same(many.run(path)["y"], theirs), case
    assert compared > count * 0.8


# ---- what is not a gather of rows, and what is wrong


def plain(**changes) -> compressed.Compressed:
    rng = np.random.default_rng(0)
    case = compressed.Compressed("u8", compressed.codes_of(rng, "u8", (5, 8)), "f32", np.full((5, 1), 0.25, np.float32), "f32", None,
                                 "", None, "f32", 8, 0, 0, np.array([1, 4, -1], np.int32))  # fmt: skip
    return compressed.Compressed(**{**case.__dict__, **changes})


def test_only_the_rows_are_decoded(tmp_path):
    """A table that would not fit in memory as float32: 2^20 rows of 2^16 codes in a file without blocks on the disk."""
    net, rows, width = models.Net(), 1 << 20, 1 << 16
    begin = 8
    data = f'<data element_type="u8" shape="{rows},{width}" offset="{begin}" size="{rows * width}"/>'
    table = net.layer("table", "Const", "opset1", data, [], net.ports((rows, width), "U8", 0)), 0
    at = compressed.converted(net, "convert", table, "f32", (rows, width))
    net.bin += b"\0" * begin
    scale_at = begin + rows * width
    data = f'<data element_type="f32" shape="1" offset="{scale_at}" size="4"/>'
    scale = net.layer("scale", "Const", "opset1", data, [], net.ports((1,), "FP32", 0)), 0
    at = net.node("multiply", "Multiply", "opset1", '<data auto_broadcast="numpy"/>', [at, scale], "f32", (rows, width))
    ids = net.parameter("i", "i64", (2,))
    axis_at = scale_at + 4
    data = f'<data element_type="i64" shape="" offset="{axis_at}" size="8"/>'
    axis = net.layer("axis", "Const", "opset1", data, [], net.ports((), "I64", 0)), 0
    net.result(net.node("g", "Gather", "opset8", "", [at, ids, axis], "f32", (2, width)), "y")
    path = net.save(tmp_path)
    with (tmp_path / "model.bin").open("r+b") as file:
        file.seek(begin + (rows - 1) * width)
        file.write(bytes(range(256)))
        file.seek(scale_at)
        file.write(np.float32(0.5).tobytes() + b"\0" * 8)
    out = many.run(path, "--input", f"i=[{rows - 1}, 0]")["g"]
    assert np.array_equal(out[0, :256], np.arange(256, dtype=np.float32) / 2) and not out[1].any()


def test_bad_indices(tmp_path):
    """Zeros under Gather-8, an error with its position under Gather-7; nothing is written. What OpenVINO does instead."""
    case = plain()
    (tmp_path / "8").mkdir(), (tmp_path / "7").mkdir()
    eight = compressed.write([case], tmp_path / "8", given=True)
    rows = many.run(eight, "--input", "i0=[4, 5, -6]")["g0"]
    assert np.array_equal(rows[0], compressed.table(case)[4]) and not rows[1:].any()
    node = many.gather("check", eight, "--input", "i0=[4, 5, -6]")["nodes"][0]
    assert node["verdict"] == "ok" and node["indices"]["bad"] == 2
    assert node["runtimes"]["openvino"].endswith("one zero and then stale bytes")
    seven = compressed.write([plain(opset=7, indices=np.array([0, 1, 2], np.int32))], tmp_path / "7", given=True)
    out = tmp_path / "y.npy"
    answer = many.gather("run", seven, "--input", "i0=[4, 5, -6]", "--output", out, check=False)
    error = answer["error"]
    assert (error["status"], error["position"], error["value"], error["low"], error["high"]) == ("index_out_of_range", [1], 5, 0, 4)
    assert error["bad_count"] == 2 and error["node"] == "g0" and not out.exists()


@pytest.mark.parametrize("op", ["Multiply", "Subtract"])
def test_arithmetic_of_inputs_is_refused(op, tmp_path):
    """Only constants are dequantised: other arithmetic is refused before any work."""
    net = models.Net()
    x, scale = net.parameter("x", "f32", (4, 3)), net.const("s", "f32", np.ones((4, 1), np.float32))
    at = net.node("m", op, "opset1", '<data auto_broadcast="numpy"/>', [x, scale], "f32", (4, 3))
    ids, axis = net.const("i", "i32", np.array([1], np.int32)), net.const("a", "i32", np.array(0, np.int32))
    net.result(net.node("g", "Gather", "opset8", "", [at, ids, axis], "f32", (1, 3)), "y")
    path, table = net.save(tmp_path), tmp_path / "x.npy"
    np.save(table, np.ones((4, 3), np.float32))
    answer = many.gather("run", path, "--input", f"x={table}", check=False)
    assert answer["error"]["status"] == "unsupported" and f"node 'm' is {op} of opset1" in answer["error"]["message"]


@pytest.mark.parametrize("scale, message", [
    ((3, 1), "its constants have the lengths 5 and 3 in dimension 0: only the second may be broadcast"),
    ((2, 5, 8), "its constants have the ranks 2 and 3: only the second may be broadcast"),
])
def test_scales_of_the_wrong_shape(scale, message, tmp_path):
    case = plain(scale=np.ones(scale, np.float32))
    net = models.Net()
    at = compressed.converted(net, "convert", net.const("codes", "u8", case.codes), "f32", (5, 8))
    factors = net.const("scale", "f32", case.scale)
    at = net.node("multiply", "Multiply", "opset1", '<data auto_broadcast="numpy"/>', [at, factors], "f32", (5, 8))
    ids, axis = net.const("i", "i32", np.array([1], np.int32)), net.const("a", "i32", np.array(0, np.int32))
    net.result(net.node("g", "Gather", "opset8", "", [at, ids, axis], "f32", (1, 8)), "y")
    out = tmp_path / "y.npy"
    answer = many.gather("run", net.save(tmp_path), "--output", out, check=False)
    assert answer["error"]["message"] == f"node 'multiply': {message}" and not out.exists()


@pytest.mark.parametrize("axis, indices", [(0, [1]), (1, [7, 0])])
def test_whole_tables(axis, indices, tmp_path):
    """A table that is an output, or whose reshape mixes rows, is decoded whole."""
    case = plain(codes=np.arange(40, dtype=np.uint8).reshape(5, 8))
    net = models.Net()
    at = compressed.weights(net, case, "")
    net.result(at, "table")
    to = net.const("to", "i64", np.array([4, 10], np.int64))
    mixed = net.node("mixed", "Reshape", "opset1", '<data special_zero="false"/>', [at, to], "f32", (4, 10))
    ids, which = net.const("i", "i32", np.array(indices, np.int32)), net.const("a", "i32", np.array(axis, np.int32))
    wanted = np.take(compressed.table(case).reshape(4, 10), indices, axis)
    net.result(net.node("g", "Gather", "opset8", "", [mixed, ids, which], "f32", wanted.shape), "y")
    outputs = many.run(net.save(tmp_path))
    assert np.array_equal(outputs["g"], wanted) and np.array_equal(outputs["multiply"], compressed.table(case))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f64", "i64", "i32", "u16"])
def test_constants_that_only_become_float32(kind, tmp_path):
    """Weights of 16 bits, as OpenVINO saves them."""
    types = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64, "i64": np.int64, "i32": np.int32, "u16": np.uint16}
    table = (np.random.default_rng(0).standard_normal((6, 5)) * 1000).astype(types[kind])
    net = models.Net()
    at = compressed.converted(net, "convert", net.const("x", kind, table), "f32", table.shape)
    ids, axis = net.const("i", "i32", np.array([5, -6, 2], np.int32)), net.const("a", "i32", np.array(0, np.int32))
    net.result(net.node("g", "Gather", "opset8", "", [at, ids, axis], "f32", (3, 5)), "y")
    assert np.array_equal(many.run(net.save(tmp_path))["g"], table.astype(np.float32)[[5, 0, 2]])


LINEAR_WRONG = [
    ({"scale": np.ones(3, np.float32)}, "shape_mismatch", "x_scale of rank 1 for an axis of length 8"),
    ({"attributes": {"axis": 2}, "scale": np.ones(5, np.float32)}, "axis_out_of_range", "axis 2 is outside [-2, 1]"),
    ({"attributes": {"axis": 1, "block_size": 4}, "scale": np.ones((5, 3), np.float32)}, "shape_mismatch", ""),
    ({"attributes": {"axis": 1, "block_size": -1}, "scale": np.ones(8, np.float32)}, "file_malformed", "block_size is -1"),
    ({"kind": "INT32", "data": np.ones((5, 8), np.int32)}, "unsupported",
     "it dequantises int32; only types of at most 8 bits are supported"),
    ({"kind": "FLOAT8E5M2", "zero_point": np.full((), 5, np.uint8)}, "unsupported", "its float zero point is not 0"),
]  # fmt: skip


@pytest.mark.parametrize("changes, status, message", LINEAR_WRONG, ids=lambda v: v if isinstance(v, str) else "")
def test_what_is_wrong_with_linear(changes, status, message, tmp_path):
    base = {"kind": "UINT8", "opset": 21, "data": np.ones((5, 8), np.uint8), "scale_kind": "FLOAT",
            "scale": np.float32(0.5) * np.ones((), np.float32), "zero_point": None, "indices": np.array([1]), "gather_axis": 0}  # fmt: skip
    path, out = tmp_path / "model.onnx", tmp_path / "y.npy"
    path.write_bytes(linear.model_of(linear.Linear(**{**base, **changes})).SerializeToString())
    answer = many.gather("run", path, "--output", out, check=False)
    assert answer["error"]["status"] == status and answer["error"]["node"] == "d" and not out.exists(), answer
    assert not message or answer["error"]["message"] == f"node 'd': {message}"


def test_check_knows_the_table(tmp_path):
    """Shape and type of a dequantised table, and its indices."""
    rng = np.random.default_rng(0)
    case = linear.Linear("INT8", 21, linear.random_numbers(rng, "INT8", (5, 8)), "FLOAT16", np.ones((), np.float16), None,
                         np.array([4, 5, -6]), 0)  # fmt: skip
    path = Path(tmp_path / "model.onnx")
    path.write_bytes(linear.model_of(case).SerializeToString())
    node = many.gather("check", path, check=False)["nodes"][0]
    assert node["data"]["type"] == "float16" and node["data"]["shape"] == [5, 8] and node["verdict"] == "bad"
    assert node["error"]["position"] == [1] and node["error"]["bad_count"] == 2
    assert node["runtimes"]["openvino"].endswith("one zero and then stale bytes")


def test_a_node_after_others(tmp_path):
    """One node of a model that cannot be run: the table before it is dequantised all the same."""
    rng = np.random.default_rng(0)
    case = draw_linear(rng)
    model = linear.model_of(case)
    model.graph.node.append(helper.make_node("Softmax", ["y"], ["z"], "after"))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert many.gather("run", path, check=False)["error"]["status"] == "unsupported"
    assert quantized.same(many.run(path, "--node", "g")["y"], linear.expected(case))
