# SPDX-License-Identifier: MIT
"""ONNX models of one node, for whatever runs ONNX."""

from __future__ import annotations

from cases import ELEMENTS, ND

# (operator, rules): (opset and IR version of the model, negative indices)
VERSIONS = {
    ("Gather", "onnx-1"): (10, 5, False),
    ("Gather", "onnx-11"): (12, 7, True),
    ("Gather", "onnx-13"): (21, 10, True),
    (ELEMENTS, "onnx-11"): (12, 7, True),
    (ELEMENTS, "onnx-13"): (21, 10, True),
}
ND_VERSIONS = {
    (ND, "onnx-11"): (11, 6, True),
    (ND, "onnx-12"): (12, 7, True),
    (ND, "onnx-13"): (21, 10, True),
    (ND, "microsoft-1"): (21, 10, True),
}
# TensorProto.DataType of the types that the documents list.
NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip


def one_node(op: str, rules: str, type_: str, index_type: str, axis: int, batch_dims: int = 0):
    """A model that takes tensors "x" and "i" of any shape and gives "y"."""
    from onnx import helper

    opset, ir, _ = (VERSIONS | ND_VERSIONS)[op, rules]
    domain = "com.microsoft" if rules.startswith("microsoft") else ""
    attributes = ({"batch_dims": batch_dims} if batch_dims else {}) if op == ND else {"axis": axis}
    kinds = (("x", NUMBERS[type_]), ("i", NUMBERS[index_type]), ("y", NUMBERS[type_]))
    values = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds]
    node = helper.make_node(op, ["x", "i"], ["y"], domain=domain, **attributes)
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(helper.make_graph([node], "g", values[:2], values[2:]), opset_imports=imports, ir_version=ir)
