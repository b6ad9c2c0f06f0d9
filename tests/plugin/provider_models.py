# SPDX-License-Identifier: MIT
"""Models for the tests of the execution provider: one gather, or a table in external data."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.append(str(Path(__file__).parents[1]))  # for children, too
from support.onnx_models import declared  # noqa: E402


def model_of(nodes, inputs: dict, outputs: dict, initializers=(), opset=13, microsoft=False) -> onnx.ModelProto:
    """inputs, outputs: as in declared()."""
    graph = helper.make_graph(list(nodes), "g", declared(inputs), declared(outputs), list(initializers))
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("com.microsoft", 1)] if microsoft else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def one_node(operator: str, data: int, indices: int, opset: int = 13, domain: str = "", **attributes) -> bytes:
    """A model of one node, whose inputs `data` and `indices` have these types; the output is y."""
    node = helper.make_node(operator, ["data", "indices"], ["y"], name="node", domain=domain, **attributes)
    return model_of([node], {"data": data, "indices": indices}, {"y": data}, opset=opset, microsoft=bool(domain)).SerializeToString()


def external(name: str, array: np.ndarray, location: str, offset: int) -> TensorProto:
    """The initializer for an array that is in `location` at that offset."""
    tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(array.nbytes))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def write_table(folder: Path, array: np.ndarray, offset: int = 0, name: str = "table.data") -> None:
    with (folder / name).open("wb") as file:
        file.write(b"\xff" * offset)
        file.write(array.tobytes())
        file.write(b"\xff" * 100)


def table_model(array: np.ndarray, offset: int = 0, location: str = "table.data", nodes=None, outputs=("y",)) -> bytes:
    """ids -> Gather -> y, the table in external data. nodes: others than this one; all outputs have the table's type."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    nodes = nodes or [helper.make_node("Gather", ["table", "ids"], ["y"], name="lookup")]
    table = external("table", array, location, offset)
    return model_of(nodes, {"ids": TensorProto.INT64}, dict.fromkeys(outputs, kind), [table]).SerializeToString()


def rows(count: int, width: int, dtype=np.float32) -> np.ndarray:
    """A table whose elements tell their place."""
    return np.arange(count * width, dtype=np.int64).astype(dtype).reshape(count, width)


def quantised_model(codes: np.ndarray, scales: np.ndarray, location: str = "table.data") -> bytes:
    """ids -> GatherBlockQuantized along axis 0 -> y: codes of 8 bits in external data, the scales behind them."""
    tensors = [external("codes", codes, location, 0), external("scales", scales, location, codes.nbytes)]
    node = helper.make_node("GatherBlockQuantized", ["codes", "ids", "scales"], ["y"], name="lookup", domain="com.microsoft", block_size=16, bits=8, quantize_axis=1)
    model = model_of([node], {"ids": TensorProto.INT64}, {"y": TensorProto.FLOAT}, tensors, 21, True)
    model.ir_version = 10
    return model.SerializeToString()


def in_a_branch(model: bytes) -> bytes:
    """The same model with its node in both branches of an If, which reads the table from the main graph."""
    parsed = onnx.load_from_string(model)
    graph = parsed.graph
    branches = {}
    for name in ("then_branch", "else_branch"):
        node = helper.make_node("Identity", ["y"], [f"of_{name}"])
        result = helper.make_tensor_value_info(f"of_{name}", graph.output[0].type.tensor_type.elem_type, None)
        branches[name] = helper.make_graph([*graph.node, node], name, [], [result])
    outer = [helper.make_node("If", ["condition"], ["chosen"], **branches)]
    condition = helper.make_tensor("condition", TensorProto.BOOL, [], [True])
    output = helper.make_tensor_value_info("chosen", graph.output[0].type.tensor_type.elem_type, None)
    inputs = [*graph.input, helper.make_tensor_value_info("condition", TensorProto.BOOL, [])]  # may be fed: the If is not resolved
    made = helper.make_graph(outer, "g", inputs, [output], [*graph.initializer, condition])
    return helper.make_model(made, opset_imports=parsed.opset_import, ir_version=parsed.ir_version).SerializeToString()
