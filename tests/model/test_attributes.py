# SPDX-License-Identifier: MIT
"""Attributes of a wrong type, given twice, or with a value that is no number: an exact error in run, check and explain, never the default."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import run_models as models
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from support.command import asked, formats
from support.skip import needs

reads_models = needs("models", {"onnx", "ir"} <= formats(), "this build does not read both kinds of models")
KINDS = {
    "STRING": helper.make_attribute("axis", "1"),
    "FLOAT": helper.make_attribute("axis", 1.0),
    "TENSOR": helper.make_attribute("axis", numpy_helper.from_array(np.array(1))),
    "INTS": helper.make_attribute("axis", [1]),
    "FLOATS": helper.make_attribute("axis", [1.0]),
    "STRINGS": helper.make_attribute("axis", ["1"]),
    "TENSORS": AttributeProto(name="axis", type=AttributeProto.TENSORS, tensors=[numpy_helper.from_array(np.array(1))]),
    "GRAPH": helper.make_attribute("axis", helper.make_graph([], "b", [], [])),
    "GRAPHS": helper.make_attribute("axis", [helper.make_graph([], "b", [], []), helper.make_graph([], "c", [], [])]),
    "SPARSE_TENSOR": AttributeProto(name="axis", type=AttributeProto.SPARSE_TENSOR),
    "TYPE_PROTO": AttributeProto(name="axis", type=AttributeProto.TYPE_PROTO),
    "INT without a value": AttributeProto(name="axis", type=AttributeProto.INT, s=b"1"),
    "UNDEFINED": AttributeProto(name="axis"),
}
IR_TEXTS = ["x", "1.5", "", "1x", "0x1", "1 2", "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1,", "--1", "true"]


def everywhere(path: Path, said: str, bad: bool = True) -> None:
    """run and explain fail with it, check has a bad node."""
    code, ran = asked("run", path)
    assert (code, ran["error"]["status"], ran["error"]["node"]) == (3, "file_malformed", "g"), ran
    assert said in ran["error"]["message"] and ran["error"]["message"].startswith("node 'g': ")
    code, check = asked("check", path)
    node = check["nodes"][0]
    assert (code, node["verdict"], check["bad"]) == (1, "bad", 1), check
    assert node["error"]["status"] == "file_malformed" and said in node["error"]["message"] and said in node["reason"]
    code, drawn = asked("explain", path)
    assert (code, drawn["error"]["status"]) == (3, "file_malformed") and said in drawn["error"]["message"], drawn


def save(folder: Path, op: str, attributes: list[AttributeProto]) -> Path:
    node = helper.make_node(op, ["t", "i"], ["y"], "g")
    node.attribute.extend(attributes)
    tensors = [numpy_helper.from_array(np.zeros((2, 2), np.float32), "t"), numpy_helper.from_array(np.zeros((2, 2), np.int64), "i")]
    graph = helper.make_graph([node], "m", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors)
    (folder / "m.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
@pytest.mark.parametrize("kind", KINDS)
def test_onnx_axis_of_another_type(kind, op, tmp_path) -> None:
    everywhere(save(tmp_path, op, [KINDS[kind]]), f"attribute 'axis' must have type INT, not {kind}")


def test_onnx_axis_twice(tmp_path) -> None:
    everywhere(save(tmp_path, "Gather", [helper.make_attribute("axis", 0), helper.make_attribute("axis", 1)]), "attribute 'axis' is given twice")


def test_onnx_axis_of_an_unknown_type(tmp_path) -> None:
    path = save(tmp_path, "Gather", [KINDS["STRING"]])
    text = KINDS["STRING"].SerializeToString()
    assert text.endswith(b"\xa0\x01\x03")
    path.write_bytes(path.read_bytes().replace(text, text[:-1] + b"\x63"))
    everywhere(path, "attribute 'axis' must have type INT, not an unknown type")


def test_onnx_axis_without_type_or_without_value(tmp_path) -> None:
    """The first versions of the format did not say the type, and writers may leave out a 0."""
    for attribute in (AttributeProto(name="axis", i=1), AttributeProto(name="axis", type=AttributeProto.INT)):
        path = save(tmp_path, "Gather", [attribute])
        assert asked("run", path)[0] == 0 and asked("check", path)[1]["nodes"][0]["axis"] == attribute.i


def test_onnx_axis_of_a_functions_caller(tmp_path) -> None:
    text = ('<ir_version: 8, opset_import: ["" : 13, "own" : 1]> m (float[2, 2] t, int64[1] i) => (float[n, k] y) { y = own.f <a = 1> (t, i) } '
            '<opset_import: ["" : 13], domain: "own"> f <a> (p, q) => (r) { [g] r = Gather <axis: int = @a> (p, q) }')
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    given = ("--input", "q=[0]", "--input", "p=[[1, 2], [3, 4]]")
    code, ran = asked("run", path, "--node", "g", *given)
    assert code == 2 and ran["error"]["message"].endswith("name a call of it: 'main/f_0/function:f/g'")
    code, ran = asked("run", path, "--node", "main/f_0/function:f/g", *given)
    assert code == 0 and ran["outputs"][0]["shape"] == [2, 1]
    uncalled = tmp_path / "uncalled.onnx"
    onnx.save(onnx.parser.parse_model(text.replace("y = own.f <a = 1> (t, i)", "")), uncalled)
    code, ran = asked("run", uncalled, "--node", "g", *given)
    assert (code, ran["error"]["status"]) == (4, "unsupported") and "'a' of the calling node" in ran["error"]["message"]
    node = asked("check", path)[1]["nodes"][0]
    assert node["verdict"] == "unknown" and node["axis"] == 1 and node["graph"] == "main/f_0/function:f"
    assert asked("check", path, "--input", "i=[2]")[1]["bad"] == 1 and asked("check", path, "--input", "i=[1]")[1]["ok"] == 1


OTHERS = {
    "Cast": ("z = Cast <to = 7> (i)", "to", helper.make_attribute("to", 7.0), "attribute 'to' must have type INT, not FLOAT"),
    "Shape": ("z = Shape <start = 0> (i)", "start", helper.make_attribute("start", "0"), "attribute 'start' must have type INT, not STRING"),
    "Shape end": ("z = Shape <end = 0> (i)", "end", helper.make_attribute("end", [0]), "attribute 'end' must have type INT, not INTS"),
    "Reshape": ("z = Reshape <allowzero = 0> (i, i)", "allowzero", helper.make_attribute("allowzero", "0"), "must have type INT, not STRING"),
    "Squeeze": ("z = Squeeze <axes = [0]> (i)", "axes", helper.make_attribute("axes", 0), "attribute 'axes' must have type INTS, not INT"),
    "Unsqueeze": ("z = Unsqueeze <axes = [0]> (i)", "axes", helper.make_attribute("axes", "0"), "attribute 'axes' must have type INTS, not STRING"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("twice", [False, True])
def test_onnx_what_else_is_run(name, twice, tmp_path) -> None:
    text, attribute, wrong, said = OTHERS[name]
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {11 if "axes" in text else 15}]> m (int64[1] i) => (int64[n] z) {{ {text} }}')
    node = model.graph.node[0]
    node.name = "other"
    (right,) = node.attribute
    if twice:
        node.attribute.append(right)
    else:
        right.CopyFrom(wrong)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    code, ran = asked("run", tmp_path / "m.onnx", "--input", "i=[1]")
    assert (code, ran["error"]["status"], ran["error"]["node"]) == (3, "file_malformed", "other"), ran
    assert (f"attribute '{attribute}' is given twice" if twice else said) in ran["error"]["message"]


def ir(folder: Path, op: str, data: str, version: str = "opset8") -> Path:
    """y = op(table, ids[, axis]); data: the whole <data> element."""
    net = models.Net()
    sources = [net.const("table", "f32", np.zeros((2, 2), np.float32)), net.const("ids", "i64", np.zeros((2, 2), np.int64)), net.const("axis", "i64", np.array(0))]
    net.result(net.node("g", op, version, data, sources[: 2 if op == "GatherElements" else 3], "f32", (-1,), "y"), "r")
    return net.save(folder)


@pytest.mark.parametrize("text", IR_TEXTS)
def test_ir_attributes_that_are_no_numbers(text, tmp_path) -> None:
    for op, name, version in (("Gather", "batch_dims", "opset8"), ("Gather", "batch_dims", "opset7"), ("GatherElements", "axis", "opset6")):
        everywhere(ir(tmp_path, op, f'<data {name}="{text}"/>', version), f"attribute '{name}' must be a 64-bit integer, not '{text}'")


def test_ir_numbers(tmp_path) -> None:
    for text in ("0", " 1 ", "+1", "-1"):
        assert asked("run", ir(tmp_path, "GatherElements", f'<data axis="{text}"/>', "opset6"))[0] == 0


def test_ir_data_twice(tmp_path) -> None:
    code, ran = asked("run", ir(tmp_path, "Gather", '<data batch_dims="0"/><data batch_dims="1"/>'))
    assert (code, ran["error"]["status"]) == (3, "file_malformed") and "two <data> elements" in ran["error"]["message"]


def test_python(tmp_path) -> None:
    libgather = pytest.importorskip("libgather")
    path = save(tmp_path, "Gather", [KINDS["STRING"]])
    with pytest.raises(libgather.GatherFileError, match="attribute 'axis' must have type INT, not STRING"):
        libgather.run(path)
    (node,) = libgather.check(path)
    assert node.verdict == "bad" and node.error.status == "file_malformed" and "must have type INT" in str(node.error)
    with pytest.raises(libgather.GatherFileError, match="must have type INT, not STRING"):
        libgather.Model(path).explain()


def test_inference_believes_no_wrong_attribute(tmp_path) -> None:
    """A Concat whose axis is a STRING has no shape that is known; so a gather from it is not judged."""
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> m (float[2, 2] t) => (float[n, k] y) <int64[1] i = {2}> '
                                    "{ c = Concat <axis = 1> (t, t) [g] y = Gather (c, i) }")
    assert answer_of(tmp_path, model)["verdict"] == "bad"
    model.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("axis", "1"))
    assert answer_of(tmp_path, model)["verdict"] == "unknown"
    model.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("axis", 1))
    model.graph.node[0].attribute.append(helper.make_attribute("axis", 0))
    assert answer_of(tmp_path, model)["verdict"] == "unknown"


def answer_of(folder: Path, model: onnx.ModelProto) -> dict:
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return asked("check", folder / "m.onnx")[1]["nodes"][0]
