# SPDX-License-Identifier: MIT
"""The bits behind the last element of a packed output are 0, also where the file that the elements come from has others there."""
from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper
from support.command import answer, formats
from support.skip import skip_test

# type, how many elements, the bytes in the file, the bytes that come out
PACKED = [("INT4", [3], "21f3", "2103"), ("UINT4", [], "ff", "0f"), ("FLOAT4E2M1", [1, 1], "ab", "0b"), ("UINT2", [5], "e4ff", "e403"),
          ("INT2", [3, 3], "ffffff", "ffff03"), ("UINT4", [2], "ff", "ff"), ("FLOAT6E2M3", [5], "ffffffffffff", "ffffff3f0000"),
          ("FLOAT6E3M2", [2], "ffffff", "ff0f00")]
PACKED_IR = [("u1", "5", "ff", "f8"), ("u1", "9", "ffff", "ff80"), ("u3", "2", "ffffff", "f000c0"), ("u6", "3", "ffffff", "fff0fc"),
             ("nf4", "1", "ff", "0f"), ("i4", "3", "ffff", "ff0f"), ("u1", "16", "ffff", "ffff")]


def needs(format_name: str) -> None:
    if format_name not in formats():
        skip_test("models", f"this build does not read {format_name}")


@pytest.mark.parametrize(("kind", "dims", "stored", "clean"), PACKED)
@pytest.mark.parametrize("way", ["initializer", "Identity", "Reshape", "input"])
def test_onnx(kind, dims, stored, clean, way, tmp_path) -> None:
    needs("onnx")
    number = TensorProto.DataType.Value(kind)
    held = TensorProto(name="x", data_type=number, dims=dims, raw_data=bytes.fromhex(stored))
    to = helper.make_tensor("to", TensorProto.INT64, [1], [-1])
    nodes = [helper.make_node(way if way == "Reshape" else "Identity", ["x", "to"] if way == "Reshape" else ["x"], ["y"])]
    outputs = [helper.make_tensor_value_info(name, number, None) for name in ("y", "x")[: 1 + (way == "initializer")]]
    inputs = [helper.make_tensor_value_info("x", number, dims)] if way == "input" else []
    graph = helper.make_graph(nodes, "m", inputs, outputs, [to] if way == "input" else [held, to])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)]), tmp_path / "m.onnx")
    (tmp_path / "x.pb").write_bytes(held.SerializeToString())
    name = "x" if way == "initializer" else "y"
    given = ["--input", f"x={tmp_path / 'x.pb'}"] if way == "input" else []
    answer("run", tmp_path / "m.onnx", *given, "--output", f"{name}={tmp_path / 'y.bin'}")
    assert (tmp_path / "y.bin").read_bytes().hex() == clean


@pytest.mark.parametrize(("kind", "shape", "stored", "clean"), PACKED_IR)
def test_ir(kind, shape, stored, clean, tmp_path) -> None:
    needs("ir")
    size = len(stored) // 2
    (tmp_path / "m.bin").write_bytes(bytes.fromhex(stored))
    (tmp_path / "m.xml").write_text(
        f'''<net name="n" version="11"><layers><layer id="0" name="c" type="Const" version="opset1">
        <data element_type="{kind}" shape="{shape}" offset="0" size="{size}"/><output><port id="0"><dim>{shape}</dim></port></output></layer>
        <layer id="1" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>
        <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>''')
    answer("run", tmp_path / "m.xml", "--output", f"c={tmp_path / 'y.bin'}")
    assert (tmp_path / "y.bin").read_bytes().hex() == clean
