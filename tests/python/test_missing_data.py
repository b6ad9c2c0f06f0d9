# SPDX-License-Identifier: MIT
"""Models whose data file is missing: what can be said of them, and that nothing ends the process."""

import model_files
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import libgather
from support.refusal import refuses


@pytest.fixture
def path(tmp_path):
    """y = Gather(table, Identity(ids)); both tensors have their values in w.bin, which is missing."""
    tensors = []
    for name, array in (("table", np.zeros((4, 3), np.float32)), ("ids", np.array([0, 3]))):
        tensor = numpy_helper.from_array(array, name)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        tensors.append(tensor)
    nodes = [helper.make_node("Identity", ["ids"], ["same"]), helper.make_node("Gather", ["table", "same"], ["y"], "g")]
    graph = helper.make_graph(nodes, "m", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_check(path):
    check = libgather.check(path)
    (node,) = check
    assert (check.unknown, node.verdict) == (1, "unknown") and "w.bin: cannot open it" in node.reason
    assert set(check.unreadable) == {"table", "ids"} and "w.bin" in node.data.unreadable
    assert node.missing == ("ids",) and "--input ids=TENSOR" in node.give
    assert "2 tensors cannot be read: " in str(check) and "2 tensors cannot be read: " in check._repr_html_()
    assert model_files.command_json("check", path) == check.as_dict()


def test_explain(path):
    model = libgather.Model(path)
    error = refuses(libgather.GatherFileError, model.explain, says="w.bin: cannot open it")
    assert error.status == "file_not_found" and "inputs={'ids': TENSOR}" in str(error)
    picture = model.explain(inputs={"ids": [0, 2]})
    assert "The data cannot be read: " in str(picture) and [cell["row"] for cell in picture.cells] == [0] * 3 + [2] * 3


def test_run(path):
    error = refuses(libgather.GatherFileError, libgather.run, path, says="w.bin: cannot open it")
    assert error.node == "same"


@pytest.mark.parametrize("given", [{}, {"ids": [3]}])
def test_in_memory(path, given):
    """Bytes have no folder beside them."""
    model = libgather.Model(path.read_bytes())
    assert libgather.check(model).unknown == 1
    if given:
        assert model.explain(inputs=given).cells[0]["row"] == 3
    else:
        refuses(libgather.GatherError, model.explain)
