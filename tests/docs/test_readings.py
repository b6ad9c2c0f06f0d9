# SPDX-License-Identifier: MIT
"""What docs/extend/readings.md says of ONNX's reference implementation and of OpenVINO is what the installed packages do."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from support.refusal import refuses
from support.skip import skip_test


def reference(data: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    """ONNX's reference implementation of GatherElements-13."""
    node = helper.make_node("GatherElements", ["data", "indices"], ["out"], axis=axis)
    values = [helper.make_tensor_value_info("data", TensorProto.FLOAT, None),
              helper.make_tensor_value_info("indices", TensorProto.INT64, None)]
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", values, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return ReferenceEvaluator(model).run(None, {"data": data, "indices": indices})[0]


def floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("axis", range(-3, 3))
def test_equal_shapes_agree_with_the_reference(axis):
    data = floats(2, 3, 4)
    indices = np.random.default_rng(1).integers(0, data.shape[axis], data.shape)
    assert np.array_equal(reference(data, indices, axis), np.take_along_axis(data, indices, axis))


def test_the_reference_compares_whole_shapes_with_axis_minus_1():
    data, indices = floats(3, 4), np.array([[3, 2], [1, 0], [0, 1]])
    assert np.array_equal(reference(data, indices, 1), np.take_along_axis(data, indices, 1))
    refuses(ValueError, reference, data, indices, -1, says="Except for dimension -1")


def test_the_reference_wants_equal_lengths_off_the_axis():
    refuses(ValueError, reference, floats(3, 4), np.array([[2, 1], [0, 0]]), 1, says="Except for dimension 1")


def test_the_reference_refuses_long_axes_and_wraps():
    indices = np.array([[1, 2], [1, 0], [0, 1]])
    assert np.array_equal(reference(floats(3, 63), indices, 1), np.take_along_axis(floats(3, 63), indices, 1))
    refuses(ValueError, reference, floats(3, 64), indices, 1, says="cannot reshape")
    assert reference(floats(1, 4), np.array([[5]]), 1).tolist() == [[1]]


@pytest.mark.parametrize(
    ("data", "indices", "axis", "batch_dims", "shape"),
    [
        ((2, 3, 4), (2,), 1, -1, [2, 2, 4]),
        ((2, 3, 4), (2,), 1, -2, [2, 2, 2, 4]),
        ((3,), (2, 2), 0, -1, None),
        ((3,), (2, 2), 0, -2, [2, 2]),
        ((3, 2), (3, 4, 5), 1, -3, [3, 3, 4, 5]),
    ],
)
def test_openvino_and_negative_batch_dims(data, indices, axis, batch_dims, shape):
    """The table of the entry, as OpenVINO answers it: None is a refusal."""
    try:
        from openvino import opset7
    except ImportError:
        skip_test("openvino", "the package is not installed")
    inputs = opset7.parameter(list(data), np.float32), opset7.parameter(list(indices), np.int32)
    if shape is None:
        refuses(RuntimeError, opset7.gather, *inputs, axis, batch_dims=batch_dims, says="batch_dims must be <= axis")
    else:
        assert list(opset7.gather(*inputs, axis, batch_dims=batch_dims).get_output_shape(0)) == shape


def test_openvino_counts_negative_indices_of_gather_elements_6_from_the_end():
    try:
        import openvino
        from openvino import opset6
    except ImportError:
        skip_test("openvino", "the package is not installed")
    data, indices = opset6.parameter([3, 4], np.float32), opset6.parameter([1, 4], np.int32)
    model = openvino.Model([opset6.gather_elements(data, indices, 0)], [data, indices], "m")
    run = openvino.Core().compile_model(model, "CPU")
    assert run([floats(3, 4), np.array([[-1, -2, -3, 0]], np.int32)])[0].tolist() == [[8, 5, 2, 3]]
