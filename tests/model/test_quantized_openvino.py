# SPDX-License-Identifier: MIT
"""Gathers of dequantised constants beside OpenVINO, and what OpenVINO and ONNX Runtime do with a bad index of quantised rows: the rows
of src/model/runtimes.def of the kind DEQUANTIZED and of GatherBlockQuantized.

Tried: ONNX Runtime 1.32.0 and OpenVINO 2026.4.1, on their CPU devices.
"""

from __future__ import annotations

import importlib.util

import compressed_cases as compressed
import linear_cases as linear
import many
import numpy as np
import peers
import pytest
import quantized_cases as quantized
from onnx import helper

from support.skip import skip_test

ROWS, WIDTH = 5, 32


def need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        skip_test(package, "the package is not installed")


def test_beside_openvino(tmp_path):
    """The same bits where OpenVINO's CPU is right: groups that follow each other in memory, no batch dimensions, no float32 chain
    that ends in float16."""
    need("openvino")
    count = max(1, (many.EXAMPLES or 300) // 4)
    rng = np.random.default_rng([many.SEED, 2])
    drawn = []
    while len(drawn) < count:
        case = compressed.draw(rng, flat=True)
        if case.batch_dims == 0:
            drawn.append(case)
    jobs, ours = [], []
    for number, case in enumerate(drawn):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = compressed.write([case], folder, given=True)
        case.indices.tofile(folder / "i.bin")
        np.save(folder / "i.npy", case.indices)
        kind = "i32" if case.indices.dtype == np.int32 else "i64"
        jobs.append({"path": str(path), "inputs": [{"file": str(folder / "i.bin"), "type": kind, "shape": case.indices.shape}]})
        ours.append(many.run(path, "--input", f"i0={folder / 'i.npy'}")["g0"])
    answers = peers.ask(jobs)
    assert all("outputs" in answer for answer in answers), answers
    theirs = [bytes.fromhex(answer["outputs"][0]["content"]) for answer in answers]
    assert not [case for case, a, b in zip(drawn, ours, theirs, strict=True) if a.tobytes() != b]


# ---- bad indices


def block_quantized(kind: str, bits: int):
    rng = np.random.default_rng(0)
    width = WIDTH if kind != "UINT8" else WIDTH * bits // 8
    data = rng.integers(1, 16 if kind != "UINT8" else 256, (ROWS, width)).astype(np.uint8)
    attributes = {"block_size": 16, **({"bits": bits} if kind == "UINT8" else {})}
    scales = np.full((ROWS, WIDTH // 16), 0.5, np.float32)
    return quantized.Case(kind, "FLOAT", data, scales, None, np.zeros(4, np.int64), attributes)


def ask(folder, peer: str, model, name: str, indices: np.ndarray) -> np.ndarray:
    """What the runtime leaves in an output that held peers.FILL."""
    np.save(folder / "i.npy", indices)
    job = {"peer": peer, "path": str(model), "threads": 2, "out": str(folder / "y.npy"), "inputs": {name: str(folder / "i.npy")},
           "shape": (len(indices), WIDTH), "dtype": "float32", "bytes": len(indices) * WIDTH * 4}  # fmt: skip
    answer = peers.ask_one(job)
    assert answer == {"error": ""}, answer
    return np.load(folder / "y.npy").view(np.float32).reshape(-1, WIDTH)


def row_is(row: np.ndarray, table: np.ndarray) -> str:
    """What a row of the output is."""
    stale = np.full(4, peers.FILL, np.uint8).view(np.float32)[0]
    if not row.any():
        return "zeros"
    if row[0] == 0 and np.all(row[1:] == stale):
        return "one zero, then stale"
    found = [i for i in range(len(table)) if np.array_equal(row, table[i])]
    return f"row {found[0]}" if found else "something else"


BAD = np.array([ROWS, -ROWS - 1, 1, 1000])
WIDE = np.array([2**32 + 2, -(2**32) + 3, 1, 0])


def said(model, indices, name: str, runtime: str) -> str:
    node = many.gather("check", model, "--input", f"{name}={indices.tolist()}", check=False)["nodes"][0]
    assert node["indices"]["bad"] == sum(int(not -ROWS <= i < ROWS) for i in indices)
    return node["runtimes"][runtime]


@pytest.mark.parametrize("kind, bits", [("INT4", 4), ("UINT4", 4), ("UINT8", 8), ("UINT8", 4), ("UINT8", 2)])
def test_block_quantized(kind, bits, tmp_path):
    case = block_quantized(kind, bits)
    table, model = quantized.dequantized(case), tmp_path / "model.onnx"
    model.write_bytes(quantized.model_of(case, indices_given=True, opset=21).SerializeToString())
    need("onnxruntime")
    seen = [row_is(row, table) for row in ask(tmp_path, "onnxruntime", model, "indices", BAD)]
    assert seen == ["zeros", "zeros", "row 1", "zeros"] and said(model, BAD, "indices", "onnxruntime") == "silently returns zeros"
    seen = [row_is(row, table) for row in ask(tmp_path, "onnxruntime", model, "indices", WIDE)]
    assert seen == ["zeros", "zeros", "row 1", "row 0"]
    need("openvino")
    seen = [row_is(row, table) for row in ask(tmp_path, "openvino", model, "indices", BAD)]
    assert seen[2] == "row 1" and {*seen[:2], seen[3]} == {"zeros" if bits == 2 else "one zero, then stale"}
    assert said(model, BAD, "indices", "openvino").endswith("one zero and then stale bytes")
    seen = [row_is(row, table) for row in ask(tmp_path, "openvino", model, "indices", WIDE)]
    assert seen == ["row 2", "row 3", "row 1", "row 0"]
    assert said(model, WIDE, "indices", "openvino") == "silently uses only the low 32 bits of the index"


@pytest.mark.parametrize("kind", list(compressed.INTEGERS))
@pytest.mark.parametrize("opset, wanted", [(1, "zeros"), (7, "zeros"), (8, "one zero, then stale")])
def test_compressed(kind, opset, wanted, tmp_path):
    need("openvino")
    rng = np.random.default_rng(1)
    codes = compressed.codes_of(rng, kind, (ROWS, WIDTH))
    case = compressed.Compressed(kind, codes, "f32", np.full((ROWS, 1), 0.5, np.float32), "f32", None, "", None, "f32", opset, 0, 0,
                                 np.zeros(4, np.int64))  # fmt: skip
    model = compressed.write([case], tmp_path, given=True)
    seen = [row_is(row, compressed.table(case)) for row in ask(tmp_path, "openvino", model, "i0", BAD)]
    assert seen == [wanted, wanted, "row 1", wanted]
    sentence = said(model, BAD, "i0", "openvino")
    assert sentence.endswith("one zero and then stale bytes") if opset == 8 else sentence == "silently returns zeros"


@pytest.mark.parametrize("opset, kind, axis, block, wanted", [
    (10, "INT8", None, 0, "one zero, then stale"), (11, "UINT8", None, 0, "one zero, then stale"),
    (13, "INT8", 0, 0, "one zero, then stale"), (21, "UINT4", 0, 0, "one zero, then stale"), (21, "INT8", 1, 16, "zeros"),
])  # fmt: skip
def test_linear(opset, kind, axis, block, wanted, tmp_path):
    need("openvino")
    rng = np.random.default_rng(2)
    side = [] if axis is None else [ROWS, WIDTH // block] if block else [ROWS]
    attributes = {} if axis is None else {"axis": axis, **({"block_size": block} if block else {})}
    case = linear.Linear(kind, 21, linear.random_numbers(rng, kind, (ROWS, WIDTH)), "FLOAT", np.full(side, 0.5, np.float32), None,
                         np.zeros(4, np.int64), 0, "", attributes)  # fmt: skip
    model = linear.model_of(case)
    model.opset_import[0].version, model.ir_version = opset, 7
    constant = next(one for one in model.graph.initializer if one.name == "indices")
    model.graph.initializer.remove(constant)
    model.graph.input.append(helper.make_tensor_value_info("indices", constant.data_type, [4]))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    case.indices = np.arange(ROWS)
    seen = [row_is(row, linear.expected(case)) for row in ask(tmp_path, "openvino", path, "indices", BAD)]
    assert seen == [wanted, wanted, "row 1", wanted]
    assert said(path, BAD, "indices", "openvino").endswith("one zero and then stale bytes")


# ---- where OpenVINO is wrong


def openvino_gives(tmp_path, case: compressed.Compressed) -> np.ndarray:
    path = compressed.write([case], tmp_path, given=True)
    case.indices.tofile(tmp_path / "i.bin")
    answer = peers.ask_one({"path": str(path), "inputs": [{"file": str(tmp_path / "i.bin"), "type": "i64", "shape": case.indices.shape}]})
    (output,) = answer["outputs"]
    return np.frombuffer(bytes.fromhex(output["content"]), compressed.RESULTS[output["type"]]).reshape(output["shape"])


def case_of(scale, zero_point=None, final="f32", reshape=None, shape=(4, 48)) -> compressed.Compressed:
    rng = np.random.default_rng(3)
    codes = compressed.codes_of(rng, "u8", shape)
    factors = (rng.standard_normal(scale) * 0.03).astype(np.float32)
    point = None if zero_point is None else compressed.codes_of(rng, "u8", zero_point)
    return compressed.Compressed("u8", codes, "f32", factors, "f32", point, "u8" if zero_point else "", reshape, final, 8, 0, 0,
                                 np.array([1, 3, 0]))  # fmt: skip


DIFFERENT = {
    "a scale for each column": case_of((1, 48)),
    "a scale for each column, of rank 1": case_of((48,)),
    "a zero point for each column": case_of((4, 1), (1, 48)),
    "float16 from float32 scales": case_of((4, 1), final="f16"),
    "a reshape of the first length": case_of((2, 2, 1), reshape=[4, 48], shape=(2, 2, 48)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_differences(name, tmp_path):
    """docs/extend/readings.md says what OpenVINO gets wrong: it still does, and our result is that of the nodes."""
    need("openvino")
    case = DIFFERENT[name]
    ours = many.run(compressed.write([case], tmp_path))["g0"]
    assert ours.tobytes() == compressed.expected(case).tobytes()
    theirs = openvino_gives(tmp_path, case)
    assert theirs.shape != ours.shape or theirs.tobytes() != ours.tobytes()
