# SPDX-License-Identifier: MIT
"""ONNX models of one node, for whatever runs ONNX."""

from __future__ import annotations

from cases import ELEMENTS, TUPLES

# (operator, rules): (opset and IR version of the model, negative indices)
VERSIONS = {
    ("Gather", "onnx-1"): (10, 5, False),
    ("Gather", "onnx-11"): (12, 7, True),
    ("Gather", "onnx-13"): (21, 10, True),
    (ELEMENTS, "onnx-11"): (12, 7, True),
    (ELEMENTS, "onnx-13"): (21, 10, True),
    (TUPLES, "onnx-11"): (11, 6, True),
    (TUPLES, "onnx-12"): (12, 7, True),
    (TUPLES, "onnx-13"): (21, 10, True),
}
# TensorProto.DataType of the types that the documents list.
NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip


def one_node(op: str, rules: str, type_: str, index_type: str, attribute: int):
    """attribute: the axis, or batch_dims of GatherND. A model that takes tensors "x" and "i" of any shape and gives "y"."""
    from onnx import helper

    opset, ir, _ = VERSIONS[op, rules]
    kinds = (("x", NUMBERS[type_]), ("i", NUMBERS[index_type]), ("y", NUMBERS[type_]))
    values = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds]
    attributes = {"axis": attribute} if op != TUPLES else {"batch_dims": attribute} if rules != "onnx-11" else {}
    graph = helper.make_graph([helper.make_node(op, ["x", "i"], ["y"], **attributes)], "g", values[:2], values[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
