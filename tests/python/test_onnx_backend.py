# SPDX-License-Identifier: MIT
"""ONNX's interface for backends, with ONNX's own suite for the operators that libgather runs."""

import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnx.backend.test
import onnx.helper
import pytest
from model_files import BAD, EMBED, needs_onnx, one_node, parsed  # noqa: F401
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from libgather import errors, onnx_backend
from libgather.model import Model
from support.refusal import refuses

X = np.arange(12, dtype=np.float32).reshape(4, 3)
OPERATORS = {"Gather", "GatherElements", "GatherND", "Constant", "Identity", "Shape", "Reshape", "Squeeze", "Unsqueeze"}


class Counting(onnx_backend.Backend):
    """Which models really ran: the suite counts what a backend refuses as passed."""

    ran: list[str]

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        prepared = super().prepare(model, device, **kwargs)
        run = prepared.run

        def counted(inputs, **options):
            outputs = run(inputs, **options)
            cls.ran.extend(node.op_type for node in model.graph.node)
            return outputs

        prepared.run = counted
        return prepared


@pytest.mark.in_full
@pytest.mark.filterwarnings("ignore")
def test_onnx_suite():
    Counting.ran = []
    suite = onnx.backend.test.BackendTest(Counting, __name__)
    suite.include(r"test_(gather|gather_elements|gatherelements|gathernd|constant|identity|shape|reshape|squeeze|unsqueeze)(_.*)?_cpu")
    result = unittest.TestResult()
    suite.test_suite.run(result)
    assert result.failures == result.errors == []
    assert set(Counting.ran) >= {"Gather", "GatherElements", "Identity", "Shape", "Reshape", "Squeeze", "Unsqueeze"}
    assert set(Counting.ran) <= OPERATORS
    assert Counting.ran.count("Gather") >= 3
    assert Counting.ran.count("GatherElements") >= 3
    assert Counting.ran.count("GatherND") >= 3
    assert len(Counting.ran) >= 30


def test_prepare():
    prepared = onnx_backend.prepare(one_node())
    assert isinstance(prepared, onnx_backend.BackendRep)
    assert isinstance(prepared, onnx.backend.base.BackendRep)
    assert issubclass(onnx_backend.Backend, onnx.backend.base.Backend)
    wanted = X[[1, -1]]
    for inputs in ([X, [1, -1]], (X, np.array([1, -1])), {"ids": [1, -1], "data": X}):
        outputs = prepared.run(inputs)
        assert isinstance(outputs, tuple)
        assert np.array_equal(outputs[0], wanted)
    assert np.array_equal(onnx_backend.run_model(one_node(), [X, [1, -1]])[0], wanted)
    assert np.array_equal(onnx_backend.prepare(Model(one_node())).run([X, [1, -1]])[0], wanted)
    refuses(errors.GatherValueError, prepared.run, [X, [1, -1], X], says="3 inputs for a model that has 2")
    refuses(errors.GatherValueError, prepared.run, X, says="ids")
    error = refuses(errors.GatherIndexError, prepared.run, [X, [1, 4]])
    assert error.value == 4


def test_initializers_as_inputs():
    """Models of old list them among the inputs: they may be given or left out."""
    model = parsed("m (float[4, 3] data, int64[2] ids) => (float[2, 3] y) { y = Gather (data, ids) }", 9)
    model.ir_version = 3
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, 2]), "ids"))
    assert np.array_equal(onnx_backend.run_model(model, [X])[0], X[[1, 2]])
    assert np.array_equal(onnx_backend.run_model(model, [X, np.array([3, 0])])[0], X[[3, 0]])


def test_is_compatible():
    assert onnx_backend.is_compatible(one_node())
    assert onnx_backend.is_compatible(parsed(BAD))
    assert not onnx_backend.is_compatible(parsed(EMBED))
    assert not onnx_backend.is_compatible(one_node(), "CUDA")
    floats = parsed("m (float[2] x) => (int64[2] y) { y = Cast <to = 7> (x) }")
    assert not onnx_backend.is_compatible(floats)
    assert onnx_backend.is_compatible(parsed("m (int32[2] x) => (int64[2] y) { y = Cast <to = 7> (x) }"))


def test_refuses():
    refuses(BackendIsNotSupposedToImplementIt, onnx_backend.prepare, parsed(EMBED), says="Relu")
    error = refuses(errors.GatherNotSupportedError, onnx_backend.run_model, parsed(EMBED), [np.zeros((1, 1), np.int64)], says="Relu")
    assert isinstance(error, unittest.SkipTest)
    assert error.status == "unsupported"
    refuses(errors.GatherValueError, onnx_backend.prepare, one_node(), "CUDA", says="CPU")
    broken = one_node()
    broken.graph.node[0].input[0] = "nothing"
    refuses(onnx.checker.ValidationError, onnx_backend.prepare, broken)


def test_devices():
    assert onnx_backend.supports_device("CPU")
    assert onnx_backend.supports_device("CPU:0")
    for device in ("CUDA", "CUDA:1", "nothing", "", "CPU:x"):
        assert not onnx_backend.supports_device(device)


def node(op, inputs, **attributes):
    return onnx.helper.make_node(op, inputs, ["y"], **attributes)


def test_run_node():
    gather = node("Gather", ["a", "b"], axis=1)
    for inputs in ([X, np.array([2, 0])], {"b": np.array([2, 0]), "a": X}):
        (output,) = onnx_backend.run_node(gather, inputs)
        assert np.array_equal(output, X[:, [2, 0]])
    assert np.array_equal(onnx_backend.run_node(node("GatherND", ["a", "b"]), [X, np.array([[3, -1], [0, 1]])])[0], [11, 1])
    assert np.array_equal(onnx_backend.run_node(node("GatherElements", ["a", "b"]), [X, [[0, 1, 3]]])[0], [[0, 4, 11]])
    text = np.array(["a", "b"], object)
    assert onnx_backend.run_node(node("Gather", ["a", "b"]), [text, [1]])[0].tolist() == ["b"]
    assert onnx_backend.run_node(node("Shape", ["a"]), [X])[0].tolist() == [4, 3]
    assert onnx_backend.run_node(node("Cast", ["a"], to=6), [np.array([1, 2])])[0].dtype == np.int32
    assert onnx_backend.run_node(node("Identity", ["a"]), X)[0].tolist() == X.tolist()
    constant = node("Constant", [], value=onnx.numpy_helper.from_array(X))
    assert onnx_backend.run_node(constant, [])[0].tolist() == X.tolist()
    assert onnx_backend.run_node(node("Constant", [], value_ints=[1, 2]), [])[0].tolist() == [1, 2]
    assert onnx_backend.run_node(node("Constant", [], value_floats=[1.5]), [])[0].tolist() == [1.5]
    assert onnx_backend.run_node(node("Constant", [], value_string="x"), [])[0].tolist() == "x"


def test_run_node_rules():
    """Whose rules hold: an older operator knows no negative index."""
    gather = node("Gather", ["a", "b"])
    assert onnx_backend.run_node(gather, [X, [-1]])[0].tolist() == [[9, 10, 11]]
    error = refuses(errors.GatherIndexError, onnx_backend.run_node, gather, [X, [-1]], opset_version=10)
    assert error.rules == "onnx-1"


def test_run_node_refuses():
    refuses(BackendIsNotSupposedToImplementIt, onnx_backend.run_node, node("Relu", ["a"]), [X])
    refuses(errors.GatherValueError, onnx_backend.run_node, node("Gather", ["a", "b"]), [X], says="1 inputs for a node that has 2")
    refuses(errors.GatherIndexError, onnx_backend.run_node, node("Gather", ["a", "b"]), [X, [4]])
    refuses(onnx.checker.ValidationError, onnx_backend.run_node, node("Gather", ["a"]), [X])


def test_without_onnx():
    program = "import sys; sys.modules['onnx'] = None; import libgather.onnx_backend"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"ImportError: libgather.onnx_backend needs the package onnx" in done.stderr
