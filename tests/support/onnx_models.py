# SPDX-License-Identifier: MIT
"""Values of ONNX models by name, and models in ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from support.skip import skip_test


def declared(values: dict) -> list[ValueInfoProto]:
    """Of each name its type ("FLOAT", or its number), of any shape; or the type and the shape; or all that is said of it."""
    found = []
    for name, said in values.items():
        kind, shape = said if isinstance(said, tuple) else (said, None)
        if not isinstance(kind, ValueInfoProto):
            kind = helper.make_tensor_value_info(name, TensorProto.DataType.Value(kind) if isinstance(kind, str) else kind, shape)
        found.append(kind)
    return found


def session(model: ModelProto | bytes | str | Path, optimised: bool = True, threads: int = 0):
    """Of ONNX Runtime's CPU provider, which says nothing of its own; a skip where the package is missing."""
    try:
        import onnxruntime
    except ImportError:
        skip_test("onnxruntime", "the package is not installed")
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    content = model.SerializeToString() if isinstance(model, ModelProto) else model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
