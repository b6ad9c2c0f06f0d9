# SPDX-License-Identifier: MIT
"""Runs of models against ONNX's reference and NumPy: inputs of every kind, outputs, threads, wrong calls."""

import gc
import sys
import threading

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.reference
import pytest
from model_files import BAD, CHAIN, EMBED, INSIDE, T, command, filled, needs_onnx, one_node, parsed, same, saved  # noqa: F401
from support.refusal import refuses
from support.skip import skip_test
from support.threads import together

from libgather import errors
from libgather.model import Model, run

# ---- against others --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_reference(seed):
    """Any rank, axis and shape, as ONNX's reference gives it."""
    random = np.random.default_rng(seed)
    rank = int(random.integers(1, 5))
    shape = tuple(int(n) for n in random.integers(1, 6, rank))
    axis = int(random.integers(-rank, rank))
    op = "Gather" if seed % 2 else "GatherElements"
    ids_shape = tuple(int(n) for n in random.integers(0, 5, random.integers(0, 4))) if op == "Gather" else shape
    ids = random.integers(-shape[axis], shape[axis], ids_shape).astype(np.int32 if seed % 3 else np.int64)
    x = random.random(shape).astype(np.float32)
    model = one_node(T.FLOAT, shape, ids_shape, op, axis)
    model.graph.input[1].type.tensor_type.elem_type = T.INT32 if seed % 3 else T.INT64
    (wanted,) = onnx.reference.ReferenceEvaluator(model).run(None, {"data": x, "ids": ids})
    same(run(model, {"data": x, "ids": ids})["y"], np.asarray(wanted))


def test_graph():
    """Several nodes and outputs, in the model's order; what comes with gathers runs too."""
    model = parsed(
        """m (float[3, 4] x, int32[2, 1] i) => (float[1, 2, 4] z, int64[2] s, float[3, 4] same, int64[2] j)
        <int64[1] flat = {-1}, int64[1] zero = {0}> {
          r = Reshape (i, flat)  y = Gather <axis = 0> (x, r)  z = Unsqueeze (y, zero)
          s = Shape (x)  same = Identity (x)  j = Cast <to = 7> (r)
        }"""
    )
    x, ids = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([[2], [-1]], np.int32)
    outputs = run(model, {"i": ids, "x": x})
    assert list(outputs) == ["z", "s", "same", "j"]
    for output, wanted in zip(outputs.values(), onnx.reference.ReferenceEvaluator(model).run(None, {"x": x, "i": ids}), strict=True):
        same(output, np.asarray(wanted))


def test_as_the_command(tmp_path):
    path = saved(parsed(EMBED), tmp_path / "m.onnx")
    np.save(tmp_path / "ids.npy", np.array([[3, 0, 1]]))
    done = command("run", path, "--node", "embed", "--input", f"ids={tmp_path}/ids.npy", "--output", f"e={tmp_path}/e.npy")
    assert done.returncode == 0, done.stderr
    same(run(path, {"ids": [[3, 0, 1]]}, node="embed")["e"], np.load(tmp_path / "e.npy"))


def test_one_node():
    """Of a model that does not run whole; a value may be given in place of what makes it."""
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    model = Model(parsed(CHAIN))
    for node in ("g", "main/g"):
        assert model.run({"x": x, "other": [3, -1]}, node=node)["y"].tolist() == [[6, 7], [6, 7]]
    inside = Model(parsed(INSIDE))
    refuses(errors.GatherValueError, inside.run, {"x": x}, node="g", says="2 nodes are named 'g'")
    path = next(node.path for node in inside.check() if "indices[0] = 4 is outside" in node.reason)  # under a condition: unknown
    error = refuses(errors.GatherIndexError, inside.run, {"x": x}, node=path)
    assert error.value == 4


# ---- inputs ----------------------------------------------------------------------------------------------------------


class Lends:
    """A library of its own, that lends its memory by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Own(np.ndarray):
    """A subclass."""


X = np.arange(24, dtype=np.float32).reshape(6, 4)


@pytest.mark.parametrize(
    "given",
    [
        X,
        X.tolist(),
        tuple(map(tuple, X.tolist())),
        np.asfortranarray(X),
        np.ascontiguousarray(X[:, ::-1])[:, ::-1],
        np.repeat(X, 3, axis=1)[:, ::3],
        X.astype(">f4"),
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(6, 4),
        memoryview(X),
        Lends(X),
        X.view(Own),
    ],
    ids=["array", "lists", "tuples", "columns", "backwards", "strided", "swapped", "unaligned", "memoryview", "dlpack", "subclass"],
)
def test_kinds_of_inputs(given):
    output = run(one_node(T.FLOAT, (6, 4), (3,)), {"data": given, "ids": (5, 0, -2)})["y"]
    assert type(output) is np.ndarray
    assert np.array_equal(output, X[[5, 0, -2]])
    assert output.dtype.kind == "f"
    assert output.dtype.itemsize == 4


def test_torch():
    try:
        import torch
    except ImportError:
        skip_test("torch", "the package is not installed")
    x = torch.arange(24, dtype=torch.bfloat16).reshape(6, 4)
    output = run(one_node(T.BFLOAT16, (6, 4), (2,)), {"data": x.t().contiguous().t(), "ids": torch.tensor([5, 0])})["y"]
    assert output.dtype == ml_dtypes.bfloat16
    assert output.astype(np.float32).tolist() == x[[5, 0]].float().tolist()


def test_numbers_take_the_declared_type():
    model = one_node(T.INT32, (3,), ())
    output = run(model, {"data": [1, 2, 3], "ids": 2})["y"]
    assert (output.dtype, output.shape, int(output)) == (np.int32, (), 3)
    for wrong in ([1, 2, 2**31], [1.0, 2, 3], [True, 2, 0.5], [1, 2, 3j]):
        refuses(errors.GatherTypeError, run, model, {"data": wrong, "ids": 2})
    assert run(one_node(T.FLOAT, (3,), ()), {"data": [1, 2, 3], "ids": 0})["y"] == np.float32(1)
    assert run(one_node(T.INT4, (3,), ()), {"data": [1, -8, 7], "ids": 1})["y"] == -8
    refuses(errors.GatherTypeError, run, one_node(T.INT4, (3,), ()), {"data": [1, 8, 7], "ids": 1}, says="int4")
    refuses(errors.GatherTypeError, run, one_node(T.BOOL, (3,), ()), {"data": [1, 2, 0], "ids": 1}, says="bool")
    assert run(one_node(T.FLOAT, (3,), (0,)), {"data": [1, 2, 3], "ids": []})["y"].shape == (0,)


# ---- outputs ---------------------------------------------------------------------------------------------------------


def test_outputs_are_no_views_of_inputs():
    model = parsed("m (float[3] x, int64[3] i) => (float[3] y, float[3] z) { y = Identity (x) z = Gather (x, i) }")
    x = np.arange(3, dtype=np.float32)
    outputs = run(model, {"x": x, "i": [0, 1, 2]})
    x[:] = 9
    assert outputs["y"].tolist() == outputs["z"].tolist() == [0, 1, 2]


def test_outputs_outlive_everything():
    def outputs():
        x = np.random.default_rng(0).random((500, 40))
        return x[[3, 4]].copy(), run(one_node(T.DOUBLE, (500, 40), (2,)), {"data": x, "ids": np.array([3, 4])})["y"]

    made = [outputs() for _ in range(50)]
    gc.collect()
    filled("uint8", (1 << 20,))
    for wanted, output in made:
        assert np.array_equal(wanted, output)


def test_outputs_cannot_be_written():
    """They may be the model's memory, which another run reads."""
    output = run(one_node(T.FLOAT, (6, 4), (2,)), {"data": X, "ids": [0, 1]})["y"]
    with pytest.raises(ValueError, match="read-only"):
        output[0] = 1


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_large():
    x = np.random.default_rng(0).integers(0, 255, (100_000, 64), dtype=np.uint8)
    ids = np.random.default_rng(1).integers(-100_000, 100_000, 300_000)
    model = Model(one_node(T.UINT8, x.shape, ids.shape))
    wanted = x[ids]
    for threads in (None, 1, 2, 5):
        assert np.array_equal(model.run({"data": x, "ids": ids}, threads=threads)["y"], wanted)
    ids[200_000] = 100_000
    for threads in (None, 1, 2):
        error = refuses(errors.GatherIndexError, model.run, {"data": x, "ids": ids}, threads=threads)
        assert (error.position, error.value, error.bad_count) == ((200_000,), 100_000, 1)


def test_many_threads_one_model():
    x = np.random.default_rng(0).random((1000, 16)).astype(np.float32)
    model = Model(one_node(T.FLOAT, x.shape, ("n",)))
    wrong = []

    def work(seed):
        ids = np.random.default_rng(seed).integers(-1000, 1000, 5000)
        for _ in range(20):
            if not np.array_equal(model.run({"data": x, "ids": ids})["y"], x[ids]) or model.check({"ids": ids}).ok != 1:
                wrong.append(seed)

    together(work, range(8))
    assert wrong == []


def test_others_go_on():
    """The interpreter is free while a model runs."""
    x = np.zeros((1 << 20, 16), np.uint8)
    ids = np.random.default_rng(0).integers(0, 1 << 20, 1 << 22)
    model = Model(one_node(T.UINT8, x.shape, ids.shape))
    running, ticks = threading.Event(), []

    def tick():
        while running.is_set():
            ticks.append(None)
            threading.Event().wait(0.001)

    running.set()
    other = threading.Thread(target=tick)
    other.start()
    while not ticks:
        pass
    interval, before = sys.getswitchinterval(), len(ticks)
    sys.setswitchinterval(100)
    try:
        model.run({"data": x, "ids": ids}, threads=1)
        after = len(ticks)
    finally:
        sys.setswitchinterval(interval)
        running.clear()
        other.join()
    assert after > before


# ---- what is wrong with the call -------------------------------------------------------------------------------------


def test_bad_index():
    with pytest.raises(errors.GatherIndexError) as caught:
        run(parsed(BAD), {"x": np.zeros((5, 2), np.float32), "free": [0, 0]})
    error = caught.value
    assert isinstance(error, IndexError)
    wanted = {
        **{"status": "index_out_of_range", "code": 5, "op": "Gather", "rules": "onnx-13", "input": "indices"},
        **{"position": (1,), "value": 9, "low": -5, "high": 4, "axis": 0, "bad_count": 1, "node": "far"},
    }
    assert {name: getattr(error, name) for name in wanted} == wanted
    assert "far" in error.message


@pytest.mark.parametrize(
    ("inputs", "kind", "said"),
    [
        ({}, errors.GatherValueError, "data.*ids"),
        ({"data": X}, errors.GatherValueError, "ids"),
        ({"data": X, "ids": [0, 1], "more": [1]}, errors.GatherNameError, "more"),
        ({"data": X.astype(np.float64), "ids": [0, 1]}, errors.GatherTypeError, "float64"),
        ({"data": X, "ids": np.zeros(2, np.int32)}, errors.GatherTypeError, "int32"),
        ({"data": X, "ids": [0, 1, 2]}, errors.GatherValueError, "ids"),
        ({"data": X[:5], "ids": [0, 1]}, errors.GatherValueError, "data"),
        ({"data": X.reshape(-1), "ids": [0, 1]}, errors.GatherValueError, "rank|dimension"),
        ({"data": np.ma.masked_array(X, X > 3), "ids": [0, 1]}, errors.GatherTypeError, "mask"),
        ({"data": X.astype(object), "ids": [0, 1]}, None, ""),
        ({"data": np.zeros((6, 4), "M8[s]"), "ids": [0, 1]}, errors.GatherTypeError, "input 'data'"),
        ({"data": np.zeros((6, 4), "f4,i4"), "ids": [0, 1]}, errors.GatherTypeError, "input 'data'"),
        ({"data": np.zeros((6, 4), np.longdouble), "ids": [0, 1]}, errors.GatherTypeError, "input 'data'"),
        ({"data": {}, "ids": [0, 1]}, errors.GatherTypeError, "input 'data'"),
        ({"data": None, "ids": [0, 1]}, errors.GatherTypeError, "input 'data'"),
    ],
)
def test_wrong(inputs, kind, said):
    model = one_node(T.FLOAT, (6, 4), (2,))
    if kind is None:  # objects that are the declared type's numbers
        assert np.array_equal(run(model, inputs)["y"], X[[0, 1]])
        return
    refuses(kind, run, model, inputs, says=said)


@pytest.mark.parametrize("given", [[X, [0, 1]], X, "data", 5])
def test_inputs_that_are_no_dict(given):
    model = Model(one_node(T.FLOAT, (6, 4), (2,)))
    for call in (model.run, model.check, lambda inputs: model.explain(None, inputs)):
        refuses(TypeError, call, given, says="inputs must be a dict of name and array")
    refuses(TypeError, model.check, None, given, says="dims must be a dict")


def test_wrong_node():
    model = Model(one_node(T.FLOAT, (6, 4), (2,)))
    refuses(errors.GatherNameError, model.run, {"data": X, "ids": [0, 1]}, node="nothing", says="'g'")
    refuses(ValueError, model.run, {}, node=5, says="name")
    refuses(ValueError, model.run, {}, threads=0, says="at least 1")


def test_other_operators():
    """Refused before any work, also where inputs are missing."""
    error = refuses(errors.GatherNotSupportedError, run, parsed(EMBED), says="Relu")
    assert isinstance(error, NotImplementedError)
    assert error.node == "act"


def test_inputs_are_let_go():
    """Once the outputs are made, what was given can be changed in place."""
    x = np.zeros((6, 4), np.float32)
    model = Model(one_node(T.FLOAT, (6, 4), (2,)))
    model.run({"data": x, "ids": [0, 1]})
    x.resize((2, 2), refcheck=True)  # nothing holds it any more


@pytest.mark.parametrize("memory, enough", [(None, True), ("1MiB", True), (2**20, True), ("1000KB", False), (1, False)])
def test_the_memory_limit(memory, enough):
    """2^16 numbers are 512 KiB, and those before them as much; the output does not count."""
    nodes = [onnx.helper.make_node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], axis=0) for i in range(16)]
    nodes.append(onnx.helper.make_node("Gather", ["x", "c16"], ["y"], "g"))
    x, y = (onnx.helper.make_tensor_value_info(name, 7, None) for name in "xy")
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], [onnx.numpy_helper.from_array(np.array([1]), "c0")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    if enough:
        assert np.array_equal(run(model, {"x": [3, 4]}, memory=memory)["y"], np.full(2**16, 4))
        return
    error = refuses(errors.GatherError, run, model, {"x": [3, 4]}, memory=memory, says="memory limit for values between nodes")
    assert isinstance(error, MemoryError) and error.node.startswith("c")


@pytest.mark.parametrize("memory", [0, -1, "0", "1XB", 2**63, 1.5])
def test_a_memory_limit_that_is_none(memory):
    with pytest.raises((ValueError, TypeError), match="memory"):
        Model(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], []))).run({}, memory=memory)
