# SPDX-License-Identifier: MIT
"""--input NAME=LITERAL: a literal, or whole numbers in a text file, has the type that the model declares for the value."""

from __future__ import annotations


import ml_dtypes
import numpy as np
import pytest
import run_models as models
from onnx import TensorProto, helper
from test_run_onnx import run

from support.command import asked

NUMPY = {
    "INT32": np.int32, "INT64": np.int64, "INT8": np.int8, "UINT8": np.uint8, "UINT16": np.uint16, "UINT64": np.uint64,
    "BOOL": np.bool_, "FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16,
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip


def passing(folder, kind: str):
    """A model that gives back what it is given."""
    number = TensorProto.DataType.Value(kind)
    x = helper.make_tensor_value_info("x", number, None)
    y = helper.make_tensor_value_info("y", number, None)
    return models.save(folder, [helper.make_node("Identity", ["x"], ["y"])], [x], [y], [], 25)


@pytest.mark.parametrize(
    "kind, text, wanted",
    [
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
    ],
)
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
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [4])
    i = helper.make_tensor_value_info("i", TensorProto.INT32, [2])
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, None)
    nodes = [helper.make_node("Relu", ["x"], ["m"]), helper.make_node("Gather", ["m", "i"], ["y"], "g")]
    graph = helper.make_graph(nodes, "g", [x, i], [y], [], value_info=[helper.make_tensor_value_info("m", TensorProto.UINT8, [4])])
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
