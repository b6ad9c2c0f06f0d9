# SPDX-License-Identifier: MIT
"""What docs/extend/readings.md says of GatherND in ONNX's reference implementation, ONNX Runtime and OpenVINO is what the installed packages do."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from support.refusal import refuses
from support.skip import skip_test


def model(domain: str = "", batch_dims: int | None = None, index_type: int = TensorProto.INT64) -> onnx.ModelProto:
    attributes = {} if batch_dims is None else {"batch_dims": batch_dims}
    node = helper.make_node("GatherND", ["data", "indices"], ["out"], domain=domain, **attributes)
    values = [helper.make_tensor_value_info("data", TensorProto.FLOAT, None), helper.make_tensor_value_info("indices", index_type, None)]
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(helper.make_graph([node], "g", values, [out]), opset_imports=opsets, ir_version=8)


def onnxruntime(made: onnx.ModelProto, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    try:
        import onnxruntime as ort
    except ImportError:
        skip_test("onnxruntime", "the package is not installed")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"data": data, "indices": indices})[0]


def opsets() -> tuple:
    try:
        from openvino import opset5, opset8
    except ImportError:
        skip_test("openvino", "the package is not installed")
    return opset5, opset8


def floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


NOTHING = np.zeros((4, 0), np.int64)


def test_tuples_without_a_number():
    for made in (model(), model("com.microsoft")):
        assert np.array_equal(onnxruntime(made, floats(2, 3), NOTHING), np.stack([floats(2, 3)] * 4))
    refuses(Exception, ReferenceEvaluator(model()).run, None, {"data": floats(2, 3), "indices": NOTHING}, says="reshape")
    for opset in opsets():
        data, indices = opset.parameter([2, 3], np.float32), opset.parameter([4, 0], np.int32)
        assert list(opset.gather_nd(data, indices, 0).get_output_shape(0)) == [4, 2, 3]


def test_the_operator_of_com_microsoft():
    """Negative numbers count from the end, others out of range are an error, and tuples are at most as long as the rank."""
    made = model("com.microsoft", index_type=TensorProto.INT32)
    assert onnxruntime(made, floats(2, 3), np.array([[-2, -1], [1, 0]], np.int32)).tolist() == [2, 3]
    for bad in ([[2, 0]], [[0, -4]]):
        refuses(Exception, onnxruntime, made, floats(2, 3), np.array(bad, np.int32), says="invalid index found, index = ")
    with pytest.raises(Exception, match="last dimension of indices must not be larger than rank of input tensor"):
        onnxruntime(made, floats(2, 3), np.zeros((1, 3), np.int32))


def test_a_negative_batch_dims():
    refuses(Exception, onnxruntime, model(batch_dims=-1), floats(3, 2), np.zeros((3, 1), np.int64), says="(?i)overflow")
    for opset in opsets():
        data, indices = opset.parameter([3, 2], np.float32), opset.parameter([3, 1], np.int32)
        refuses(Exception, opset.gather_nd, data, indices, -1, says="(?i)batch")


def test_batch_dimensions_that_differ():
    """ONNX Runtime uses data's batches again; OpenVINO refuses, where its text says that a length of 1 is repeated."""
    got = onnxruntime(model(batch_dims=1), floats(2, 3), np.array([[0], [1], [2], [0]]))
    assert got.shape == (4,)
    refuses(Exception, onnxruntime, model(batch_dims=1), floats(3, 2), np.array([[0], [1]]), says="not divisible")
    for opset in opsets():
        for length in (1, 5):
            data, indices = opset.parameter([3, 2], np.float32), opset.parameter([length, 1], np.int32)
            refuses(RuntimeError, opset.gather_nd, data, indices, 1, says="Batch dimensions of data and indices must be the same")


def test_openvino_fuses_batch_dimensions_in_version_5_alone():
    five, eight = opsets()
    for opset, shape in ((five, [60, 3, 35]), (eight, [30, 2, 3, 35])):
        data, indices = opset.parameter([30, 2, 100, 35], np.float32), opset.parameter([30, 2, 3, 1], np.int32)
        assert list(opset.gather_nd(data, indices, 2).get_output_shape(0)) == shape
        with pytest.raises(RuntimeError):
            opset.gather_nd(opset.parameter([3, 2], np.float32), opset.parameter([3, 2], np.int32), 1)  # longer than r - b


def test_openvino_counts_negative_indices_from_the_end_in_both_versions():
    import openvino

    for opset in opsets():
        data, indices = opset.parameter([2, 3], np.float32), opset.parameter([2, 2], np.int32)
        made = openvino.Model([opset.gather_nd(data, indices, 0)], [data, indices], "m")
        run = openvino.Core().compile_model(made, "CPU")
        assert run([floats(2, 3), np.array([[-1, -3], [0, -1]], np.int32)])[0].tolist() == [3, 2]
