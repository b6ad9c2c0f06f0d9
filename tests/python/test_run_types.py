# SPDX-License-Identifier: MIT
"""Runs of models, bit by bit: every element type of ONNX and OpenVINO, and strings."""

import gc
import subprocess
import sys

import numpy as np
import onnx
import pytest
from model_files import BITS, PLAIN, SMALL, T, filled, needs_onnx, one_node, parsed, same  # noqa: F401
from support.refusal import refuses
from support.skip import skip_test

import libgather
from libgather import errors
from libgather.model import run


@pytest.mark.parametrize("shape", [(7, 3), (1, 1), (5, 13), (3, 0), (257, 31), (6,)], ids=str)
@pytest.mark.parametrize("name", [*PLAIN, *SMALL])
def test_types(name, shape):
    """Through an input and out again, bit by bit; odd lengths leave half bytes."""
    x = filled(name, shape)
    ids = np.random.default_rng(1).integers(-shape[0], shape[0], (4, 3))
    model = one_node({**PLAIN, **SMALL}[name], shape, (4, 3))
    (output,) = run(model, {"data": x, "ids": ids}).values()
    same(output, np.take(x, ids, axis=0))


@pytest.mark.parametrize("name", [*PLAIN, *SMALL])
def test_types_of_initializers(name):
    """From the file's memory, by the elements' own node and by the whole model."""
    x = filled(name, (9, 5))
    model = one_node({**PLAIN, **SMALL}[name], (9, 5), (2, 5), op="GatherElements", axis=0)
    model.graph.initializer.append(onnx.numpy_helper.from_array(x, "data"))
    del model.graph.input[0]
    ids = np.random.default_rng(1).integers(-9, 9, (2, 5))
    wanted = np.take_along_axis(x, ids, axis=0)
    same(run(model, {"ids": ids})["y"], wanted)
    same(run(model, {"ids": ids}, node="g")["y"], wanted)


def test_whole_constant():
    """An output that is the model's own memory."""
    x = filled("int4", (3, 3))
    model = parsed("m (int64[1] i) => (int64[3, 3] y, int64[1] j) <int64[3, 3] t> { y = Identity (t) j = Identity (i) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(x, "t"))
    model.graph.output[0].type.tensor_type.elem_type = T.INT4
    model.opset_import[0].version = 21
    outputs = run(model, {"i": [5]})
    gc.collect()
    same(outputs["y"], x)
    assert outputs["j"].tolist() == [5]


def test_packing():
    """Every count of elements, of every type under a byte."""
    from libgather.model_types import _PACKED, pack, unpack

    for name, packing in _PACKED.items():
        for count in (0, 1, 2, 3, 7, 8, 9, 100):
            codes = np.random.default_rng(count).integers(0, 1 << packing.bits, count).astype(np.uint8)
            packed = pack(codes, name)
            assert packed.size * 8 >= count * packing.bits
            again = unpack(packed, name, (count,)).view(np.uint8)
            assert np.array_equal(again & ((1 << packing.bits) - 1), codes), (name, count)
    refuses(errors.GatherTypeError, pack, np.array([1, 8], np.uint8), "uint3", says="8 does not fit uint3")


def ir(kind: str, precision: str, count: int) -> bytes:
    """An OpenVINO model: a Gather of a 1-D table of `count` elements, by 3 indices, on axis 0."""

    def port(number, precision, *dims):
        return f'<port id="{number}" precision="{precision}">' + "".join(f"<dim>{dim}</dim>" for dim in dims) + "</port>"

    layers = [
        f'<layer id="0" name="data" type="Parameter" version="opset1"><data shape="{count}" element_type="{kind}"/>'
        f"<output>{port(0, precision, count)}</output></layer>",
        '<layer id="1" name="ids" type="Parameter" version="opset1"><data shape="3" element_type="i64"/>'
        f"<output>{port(0, 'I64', 3)}</output></layer>",
        '<layer id="2" name="axis" type="Parameter" version="opset1"><data shape="" element_type="i64"/>'
        f"<output>{port(0, 'I64')}</output></layer>",
        '<layer id="3" name="g" type="Gather" version="opset8"><data batch_dims="0"/>'
        f"<input>{port(0, precision, count)}{port(1, 'I64', 3)}{port(2, 'I64')}</input>"
        f"<output>{port(3, precision, 3)}</output></layer>",
        f'<layer id="4" name="y" type="Result" version="opset1"><input>{port(0, precision, 3)}</input></layer>',
    ]
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)]
    words = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    net = f'<net name="m" version="11"><layers>{"".join(layers)}</layers><edges>{words}</edges></net>'
    return f'<?xml version="1.0"?>{net}'.encode()


@pytest.mark.parametrize(("kind", "precision", "bits"), [("u1", "BIN", 1), ("u3", "U3", 3), ("u6", "U6", 6), ("nf4", "NF4", 4)])
def test_types_of_openvino_alone(kind, precision, bits):
    """Neither NumPy nor ml_dtypes has them: their bits come and go as uint8."""
    if "ir" not in libgather.info()["formats"]:
        skip_test("expat", "this build reads no OpenVINO IR")
    for count in (3, 8, 29):
        codes = np.random.default_rng(count).integers(0, 1 << bits, count).astype(np.uint8)
        outputs = run(ir(kind, precision, count), {"data": codes, "ids": [count - 1, -2, 0], "axis": 0})
        (output,) = outputs.values()
        same(output, codes[[count - 1, -2, 0]])
    with pytest.raises(errors.GatherTypeError, match=f"{1 << bits} does not fit"):
        run(ir(kind, precision, 1), {"data": np.array([1 << bits], np.uint8), "ids": [0, 0, 0], "axis": 0})


TEXT = np.array([["a", "zero \0", "ü"], ["", "日本", "x" * 1000]], object)


@pytest.mark.parametrize(
    "given",
    [TEXT, TEXT.tolist(), np.vectorize(str.encode, otypes=[object])(TEXT), TEXT[::-1][::-1]],
    ids=["objects", "list", "bytes", "strided"],
)
def test_strings(given):
    output = run(one_node(T.STRING, (2, 3), (3,)), {"data": given, "ids": [1, 0, -1]})["y"]
    assert output.dtype == object
    assert output.tolist() == TEXT[[1, 0, -1]].tolist()


@pytest.mark.parametrize("dtype", ["U", "S", "T"])
def test_strings_of_fixed_size(dtype):
    if dtype == "T" and not hasattr(np.dtypes, "StringDType"):
        skip_test("StringDType", "this NumPy has none")
    x = np.array([["a", "bc", ""], ["d", "ef", "g"]]).astype(np.dtypes.StringDType() if dtype == "T" else dtype)
    output = run(one_node(T.STRING, (2, 3), (1,)), {"data": x, "ids": [1]})["y"]
    assert output.tolist() == [["d", "ef", "g"]]
    assert all(type(text) is str for text in output.flat)


def test_strings_that_are_no_text():
    model = one_node(T.STRING, (2,), (2,))
    assert run(model, {"data": [b"\xff\xfe", "a"], "ids": [1, 0]})["y"].tolist() == ["a", b"\xff\xfe"]
    for wrong in ([1, "a"], np.array([None, "a"], object), np.array(["a", 1.5], object)):
        refuses(errors.GatherTypeError, run, model, {"data": wrong, "ids": [1, 0]}, says="must be str or bytes")
    refuses(errors.GatherTypeError, run, one_node(T.FLOAT, (2,), (2,)), {"data": ["a", "b"], "ids": [1, 0]}, says="string")


def test_strings_of_initializers():
    model = parsed('m (int64[2] i) => (string[2] y) <string[3] t = {"a", "b", "c"}> { y = Gather (t, i) }')
    output = run(model, {"i": [2, 0]})["y"]
    del model
    gc.collect()
    assert output.tolist() == ["c", "a"]


def test_without_ml_dtypes():
    """A clear error that says what to install, and only where it is needed."""
    program = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np
from libgather.model import Model, run
content = sys.stdin.buffer.read()
try:
    run(content, {"data": np.zeros((2, 1), np.uint16), "ids": [0]})
except TypeError as error:
    print(error)
try:
    run(content, {"data": [[1], [2]], "ids": [0]})
except TypeError as error:
    print(error)
"""
    model = one_node(T.BFLOAT16, (2, 1), (1,))
    done = subprocess.run([sys.executable, "-c", program], input=model.SerializeToString(), capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    assert "uint16" in lines[0]
    assert "input 'data' is bfloat16, for which NumPy has no dtype: install ml_dtypes" in lines[1]
