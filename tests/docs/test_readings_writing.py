# SPDX-License-Identifier: MIT
"""What docs/extend/readings.md says of ONNX's texts and reference, and of OpenVINO, about operators that write, is what the installed packages do."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from support.openvino_package import op, ov
from support.skip import skip_test


def reference(name: str, opset: int, x, i, u, **words) -> np.ndarray:
    order = "xui" if name == "TensorScatter" else "xiu"
    arrays = {"x": x, "i": np.asarray(i, np.int64), "u": u}
    values = [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for key, a in arrays.items()]
    y = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(x.dtype), None)
    graph = helper.make_graph([helper.make_node(name, list(order), ["y"], **words)], "g", values, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return ReferenceEvaluator(model).run(None, arrays)[0]


def document(name: str, version: int) -> str:
    return onnx.defs.get_schema(name, version).doc


def test_texts():
    forbids = {(name, v) for name, versions in (("Scatter", (9,)), ("ScatterElements", (11, 13, 16, 18)), ("ScatterND", (11, 13, 16, 18)))
               for v in versions if "should not have duplicate entries" in document(name, v)}  # fmt: skip
    assert forbids == {("ScatterElements", 16), ("ScatterElements", 18), *(("ScatterND", v) for v in (11, 13, 16, 18))}
    assert all("output[tuple(indices[idx])] = updates[idx]" in document("ScatterND", v) for v in (11, 13, 16, 18))
    assert "'mul':  reduction using the addition operation" in onnx.defs.get_schema("ScatterND", 18).attributes["reduction"].description
    assert onnx.defs.get_schema("Scatter", 11).deprecated and TensorProto.FLOAT == 1


def test_the_reference_leaves_the_last_update():
    assert reference("ScatterElements", 18, np.zeros(3, np.float32), [1, 1], np.array([5, 6], np.float32)).tolist() == [0, 6, 0]
    assert reference("ScatterND", 18, np.zeros(3, np.float32), [[1], [1]], np.array([5, 6], np.float32)).tolist() == [0, 6, 0]


def test_the_reference_replaces_for_any_other_word():
    assert reference("ScatterElements", 18, np.zeros(3, np.float32), [1, 1], np.array([5, 6], np.float32), reduction="foo").tolist() == [0, 6, 0]


def test_the_reference_rounds_each_step():
    ones = np.ones(4096, np.float16)
    assert reference("ScatterElements", 18, np.zeros(1, np.float16), np.zeros(4096), ones, reduction="add").tolist() == [2048]


def test_nan_in_the_reference():
    nan, one, two = np.float32("nan"), np.float32(1), np.float32(2)
    x, u = np.array([one, nan]), np.array([nan, two])
    elements = reference("ScatterElements", 18, x, [0, 1], u, reduction="max")
    tuples = reference("ScatterND", 18, x, [[0], [1]], u, reduction="max")
    assert np.isnan(tuples).all() and not np.isnan(elements).all()


def test_the_reference_counts_write_indices_from_the_end():
    x, u = np.zeros((1, 4, 1), np.float32), np.ones((1, 1, 1), np.float32)
    assert reference("TensorScatter", 24, x, [-1], u, axis=1, mode="circular").ravel().tolist() == [0, 0, 0, 1]


@pytest.fixture(scope="module")
def infer():
    if ov is None:
        skip_test("openvino", "the package is not installed")

    def run(make, *arrays):
        parameters = [op.parameter(list(a.shape), a.dtype) for a in arrays]
        model = ov.Model([make(*parameters)], parameters, "m")
        return ov.Core().compile_model(model, "CPU")(list(arrays))[0].tolist()

    return run


def elements(reduction, use_init_val=True):
    return lambda x, i, u: op.scatter_elements_update(x, i, u, op.constant(np.array(0)), reduction, use_init_val)


def test_openvinos_scatters(infer):
    ids = np.array([1, 1])
    assert infer(elements("mean", False), np.array([9, 9], np.int32), ids, np.array([-5, -4], np.int32)) == [9, -4]  # its CPU
    low = infer(elements("max", False), np.zeros(2, np.float32), ids, np.full(2, -np.inf, np.float32))
    assert low == [0, float(np.finfo(np.float32).min)]
    assert infer(elements("sum"), np.zeros(1, np.float16), np.zeros(4096, np.int64), np.ones(4096, np.float16)) == [4096]
    assert infer(elements("none"), np.array([1, 2, 3], np.float32), np.array([-1]), np.array([9], np.float32)) == [1, 2, 9]


def test_openvinos_segments(infer):
    made = infer(lambda x, i, s: op.embedding_segments_sum(x, i, s, op.constant(np.array(2))), np.array([[1], [2], [4]], np.float32),
                 np.array([0, 1, 2]), np.array([0, 1, 5]))  # fmt: skip
    assert made == [[1], [2]]
