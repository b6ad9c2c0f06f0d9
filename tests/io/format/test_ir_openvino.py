# SPDX-License-Identifier: MIT
"""OpenVINO IR that OpenVINO itself writes, where it is installed."""
import ctypes as c

import numpy as np
import pytest
from gather_files import content
from ir_files import PACKED, SIZES, WHOLE, opened, strings
from support.skip import skip_test

try:
    import openvino as ov
except ImportError:
    ov = None

def saved(tmp_path, tensor):
    """Saves a model whose result is a constant; the constant's name, and its tensor as OpenVINO itself reads it."""
    constant = ov.op.Constant(tensor, shared_memory=False)
    ov.save_model(ov.Model([ov.opset8.result(constant)], [], "m"), tmp_path / "m.xml", compress_to_fp16=False)
    read = ov.Core().read_model(tmp_path / "m.xml")
    (node,) = [node for node in read.get_ordered_ops() if node.get_type_name() == "Constant"]
    view = node.get_tensor_view()
    if tensor.element_type == ov.Type.string:
        return node.get_friendly_name(), view.str_data.ravel().tolist()
    return node.get_friendly_name(), c.string_at(view.data.ctypes.data, view.byte_size)


@pytest.mark.parametrize("name", sorted(WHOLE | PACKED))
def test_types_as_openvino_writes_them(name, tmp_path) -> None:
    if ov is None:
        skip_test("openvino", "the package is not installed")
    length = 24
    group, size = (PACKED[name][1:] if name in PACKED else (1, SIZES.get(name, 1)))
    raw = np.arange(1, 1 + length // group * size, dtype=np.uint8) & (1 if name == "boolean" else 255)
    tensor = ov.Tensor(getattr(ov.Type, name), ov.Shape([2, 12]))
    c.memmove(tensor.data.ctypes.data, raw.ctypes.data, raw.nbytes)
    layer_name, known = saved(tmp_path, tensor)
    with opened(tmp_path / "m.xml") as model:
        assert len(model.names) == 1
        found = model.find(layer_name)
        assert (found.shape, found.bytes) == ((2, 12), raw.nbytes)
        assert found.type_name.decode() == (WHOLE | {key: row[0] for key, row in PACKED.items()})[name]
        assert content(found) == raw.tobytes() == known


def test_strings_as_openvino_writes_them(tmp_path) -> None:
    if ov is None:
        skip_test("openvino", "the package is not installed")
    texts = ["A", "B c", "", "d.Ef", "\u00e4", "x" * 1000]
    layer_name, known = saved(tmp_path, ov.Tensor(np.array(texts).reshape(2, 3)))
    assert known == texts
    with opened(tmp_path / "m.xml") as model:
        found = model.find(layer_name)
        assert [text.decode() for text in strings(found)] == texts and found.shape == (2, 3)


def test_a_model_as_openvino_writes_it(tmp_path) -> None:
    if ov is None:
        skip_test("openvino", "the package is not installed")
    ops = ov.opset8
    data = ops.parameter(ov.PartialShape([-1, ov.Dimension(2, 5)]), np.float32, name="x")
    ids, axis = ops.constant(np.array([[0, 2], [1, -1]], np.int32), name="ids"), ops.constant(np.int64(0), name="axis")
    ov.save_model(ov.Model([ops.result(ops.gather(data, ids, axis), name="y")], [data], "m"), tmp_path / "m.xml")
    with opened(tmp_path / "m.xml") as model:
        assert sorted(model.names) == ["axis", "ids"]
        assert np.frombuffer(content(model.find("ids")), "<i4").tolist() == [0, 2, 1, -1]
        assert np.frombuffer(content(model.find("axis")), "<i8").tolist() == [0]
