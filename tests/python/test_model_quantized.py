# SPDX-License-Identifier: MIT
"""Models with quantised tables in Python: check and run of GatherBlockQuantized and of dequantised constants."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from libgather import errors
from libgather.model import Model
from support.refusal import refuses

CODES = np.arange(5 * 16, dtype=np.uint8).reshape(5, 16) % 16
SCALES = np.array([[0.5], [1], [2], [4], [8]], np.float32)


def packed(codes: np.ndarray) -> bytes:
    flat = codes.reshape(-1)
    return bytes(flat[0::2] | flat[1::2] << 4)


def model(nodes, *constants, opset=21) -> onnx.ModelProto:
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "g", [ids], [out], list(constants))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def scales(array=SCALES) -> TensorProto:
    return onnx.numpy_helper.from_array(array, "s")


def blocks(**attributes) -> onnx.ModelProto:
    node = helper.make_node("GatherBlockQuantized", ["x", "ids", "s"], ["y"], "g", domain="com.microsoft", **attributes)
    return model([node], helper.make_tensor("x", TensorProto.UINT4, CODES.shape, packed(CODES), raw=True), scales())


def linear() -> onnx.ModelProto:
    nodes = [helper.make_node("DequantizeLinear", ["x", "s"], ["t"], "d", axis=0), helper.make_node("Gather", ["t", "ids"], ["y"], "g")]
    return model(nodes, helper.make_tensor("x", TensorProto.UINT4, CODES.shape, packed(CODES), raw=True), scales(SCALES.reshape(-1)))


@pytest.mark.parametrize("made", [blocks(block_size=16), linear()], ids=["blocks", "linear"])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_run(made, threads):
    ids = np.array([4, -1, 0, 2])
    out = Model(made).run({"ids": ids}, threads=threads)["y"]
    assert out.dtype == np.float32 and np.array_equal(out, (CODES * SCALES)[ids])


def test_check_and_zeros():
    """Zeros under the operator's rules, counted; a run gives them too."""
    opened = Model(blocks(block_size=16))
    assert opened.node_count == 1 and opened.not_checked == {}
    ids = np.array([4, 5, -6])
    report = opened.check({"ids": ids})
    (node,) = report
    assert (node.op, node.rules, node.verdict) == ("GatherBlockQuantized", "microsoft-1", "ok") and node.indices.bad == 2
    out = opened.run({"ids": ids})["y"]
    assert np.array_equal(out[0], CODES[4] * np.float32(8)) and not out[1:].any()


def test_an_index_out_of_range():
    """Gather of a dequantised table raises, with the position."""
    opened = Model(linear())
    error = refuses(IndexError, opened.run, {"ids": np.array([0, 5])})
    assert (error.position, error.value, error.high) == ((1,), 5, 4)
    assert opened.check({"ids": np.array([0, 5])})[0].verdict == "bad"


def test_wrong_attributes():
    with pytest.raises(errors.GatherError, match="block_size is 8, not a power of two of at least 16"):
        Model(blocks(block_size=8)).run({"ids": np.array([0])})
