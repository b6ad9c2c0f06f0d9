# SPDX-License-Identifier: MIT
"""Runs of models against ONNX's reference and NumPy: every type, every kind of input, threads, and what is wrong with a call."""

import gc
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import pytest
from model_files import BAD, CHAIN, EMBED, INSIDE, command, needs_onnx, one_node, parsed, saved  # noqa: F401
from support.skip import skip_test

from libgather import errors
from libgather.model import Model, run

T = onnx.TensorProto
PLAIN = {
    "bool": T.BOOL, "int8": T.INT8, "int16": T.INT16, "int32": T.INT32, "int64": T.INT64, "uint8": T.UINT8, "uint16": T.UINT16,
    "uint32": T.UINT32, "uint64": T.UINT64, "float16": T.FLOAT16, "float32": T.FLOAT, "float64": T.DOUBLE, "complex64": T.COMPLEX64,
    "complex128": T.COMPLEX128,
}  # fmt: skip
SMALL = {
    "bfloat16": T.BFLOAT16, "float8_e4m3fn": T.FLOAT8E4M3FN, "float8_e4m3fnuz": T.FLOAT8E4M3FNUZ, "float8_e5m2": T.FLOAT8E5M2,
    "float8_e5m2fnuz": T.FLOAT8E5M2FNUZ, "float8_e8m0fnu": T.FLOAT8E8M0, "float4_e2m1fn": T.FLOAT4E2M1, "int4": T.INT4,
    "uint4": T.UINT4, "int2": 26, "uint2": 25, "float6_e2m3fn": 27, "float6_e3m2fn": 28,
}  # fmt: skip
BITS = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


def filled(name, shape, seed=0):
    """Elements of that type: every bit pattern may stand there."""
    random = np.random.default_rng(seed)
    if name in PLAIN:
        size = int(np.prod(shape))
        dtype = np.dtype(name)
        if name == "bool":
            return random.integers(0, 2, shape).astype(bool)
        return np.frombuffer(random.bytes(size * dtype.itemsize), dtype).reshape(shape)
    dtype = np.dtype(getattr(ml_dtypes, name))
    codes = random.integers(0, 1 << BITS.get(name, 8 * dtype.itemsize), shape).astype(f"u{dtype.itemsize}")
    if name.startswith("int"):
        sign = 1 << (BITS[name] - 1)
        codes = ((codes ^ sign) - sign).astype(np.uint8)
    return codes.view(dtype)


def same(a, b):
    """The same dtype, shape and bits."""
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert a.tobytes() == b.tobytes()


# ---- types -------------------------------------------------------------------------------------------------------------


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


def test_opset_names():
    """What OpenVINO has and ml_dtypes has not comes as its bits."""
    from libgather.model_types import _PACKED, pack, unpack

    for name, packing in _PACKED.items():
        for count in (0, 1, 2, 3, 7, 8, 9, 100):
            codes = np.random.default_rng(count).integers(0, 1 << packing.bits, count).astype(np.uint8)
            packed = pack(codes, name) if packing.codes else pack(codes.view(np.uint8), name)
            assert packed.size * 8 >= count * packing.bits
            again = unpack(packed, name, (count,)).view(np.uint8)
            assert np.array_equal(again & ((1 << packing.bits) - 1), codes), (name, count)
    with pytest.raises(errors.GatherTypeError, match="8 does not fit uint3"):
        pack(np.array([1, 8], np.uint8), "uint3")


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
        with pytest.raises(errors.GatherTypeError, match="must be str or bytes"):
            run(model, {"data": wrong, "ids": [1, 0]})
    with pytest.raises(errors.GatherTypeError, match="string"):
        run(one_node(T.FLOAT, (2,), (2,)), {"data": ["a", "b"], "ids": [1, 0]})


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
    assert "input 'data' is bfloat16, which NumPy has no dtype of: install ml_dtypes" in lines[1]


# ---- against others ----------------------------------------------------------------------------------------------------


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
    for output, wanted in zip(
        outputs.values(), onnx.reference.ReferenceEvaluator(model).run(None, {"x": x, "i": ids}), strict=True
    ):
        same(output, np.asarray(wanted))


def test_as_the_command(tmp_path):
    path = saved(parsed(EMBED), tmp_path / "m.onnx")
    np.save(tmp_path / "ids.npy", np.array([[3, 0, 1]]))
    done = command("run", path, "--node", "embed", "--input", f"ids={tmp_path}/ids.npy", "--output", f"e={tmp_path}/e.npy")
    assert done.returncode == 0, done.stderr
    same(run(path, {"ids": [[3, 0, 1]]}, node="embed")["e"], np.load(tmp_path / "e.npy"))


def test_one_node():
    """Of a model that does not run whole: with its graph's path or without it, and values given in place of what makes them."""
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    model = Model(parsed(CHAIN))
    for node in ("g", "main/g"):
        assert model.run({"x": x, "other": [3, -1]}, node=node)["y"].tolist() == [[6, 7], [6, 7]]
    inside = Model(parsed(INSIDE))
    with pytest.raises(errors.GatherValueError, match="2 nodes are called 'g'"):
        inside.run({"x": x}, node="g")
    path = next(node.path for node in inside.check() if node.verdict == "bad")
    with pytest.raises(errors.GatherIndexError) as caught:
        inside.run({"x": x}, node=path)
    assert caught.value.value == 4


# ---- inputs ------------------------------------------------------------------------------------------------------------


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
    ids=[
        "array",
        "lists",
        "tuples",
        "columns",
        "backwards",
        "strided",
        "swapped",
        "unaligned",
        "memoryview",
        "dlpack",
        "subclass",
    ],
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
        with pytest.raises(errors.GatherTypeError):
            run(model, {"data": wrong, "ids": 2})
    assert run(one_node(T.FLOAT, (3,), ()), {"data": [1, 2, 3], "ids": 0})["y"] == np.float32(1)
    assert run(one_node(T.INT4, (3,), ()), {"data": [1, -8, 7], "ids": 1})["y"] == -8
    with pytest.raises(errors.GatherTypeError, match="int4"):
        run(one_node(T.INT4, (3,), ()), {"data": [1, 8, 7], "ids": 1})
    with pytest.raises(errors.GatherTypeError, match="bool"):
        run(one_node(T.BOOL, (3,), ()), {"data": [1, 2, 0], "ids": 1})
    assert run(one_node(T.FLOAT, (3,), (0,)), {"data": [1, 2, 3], "ids": []})["y"].shape == (0,)


# ---- outputs -----------------------------------------------------------------------------------------------------------


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


# ---- threads -----------------------------------------------------------------------------------------------------------


def test_large():
    x = np.random.default_rng(0).integers(0, 255, (100_000, 64), dtype=np.uint8)
    ids = np.random.default_rng(1).integers(-100_000, 100_000, 300_000)
    model = Model(one_node(T.UINT8, x.shape, ids.shape))
    wanted = x[ids]
    for threads in (None, 1, 2, 5):
        assert np.array_equal(model.run({"data": x, "ids": ids}, threads=threads)["y"], wanted)
    ids[200_000] = 100_000
    for threads in (None, 1, 2):
        with pytest.raises(errors.GatherIndexError) as caught:
            model.run({"data": x, "ids": ids}, threads=threads)
        assert (caught.value.position, caught.value.value, caught.value.bad_count) == ((200_000,), 100_000, 1)


def test_many_threads_one_model():
    x = np.random.default_rng(0).random((1000, 16)).astype(np.float32)
    model = Model(one_node(T.FLOAT, x.shape, ("n",)))
    wrong = []

    def work(seed):
        ids = np.random.default_rng(seed).integers(-1000, 1000, 5000)
        for _ in range(20):
            if not np.array_equal(model.run({"data": x, "ids": ids})["y"], x[ids]) or model.check({"ids": ids}).ok != 1:
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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


# ---- what is wrong with the call ---------------------------------------------------------------------------------------


def test_bad_index():
    with pytest.raises(errors.GatherIndexError) as caught:
        run(parsed(BAD), {"x": np.zeros((5, 2), np.float32), "free": [0, 0]})
    error = caught.value
    assert isinstance(error, IndexError)
    wanted = {
        "status": "index_out_of_range", "code": 5, "op": "Gather", "rules": "onnx-13", "input": "indices", "position": (1,), "value": 9,
        "low": -5, "high": 4, "axis": 0, "bad_count": 1, "node": "far",
    }  # fmt: skip
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
    with pytest.raises(kind, match=said):
        run(model, inputs)


def test_wrong_node():
    model = Model(one_node(T.FLOAT, (6, 4), (2,)))
    with pytest.raises(errors.GatherNameError, match="'g'"):
        model.run({"data": X, "ids": [0, 1]}, node="nothing")
    with pytest.raises(ValueError, match="name"):
        model.run({}, node=5)
    with pytest.raises(ValueError, match="at least 1"):
        model.run({}, threads=0)


def test_other_operators():
    """Refused before any work, also where inputs are missing."""
    with pytest.raises(errors.GatherNotSupportedError, match="Relu") as caught:
        run(parsed(EMBED))
    assert isinstance(caught.value, NotImplementedError)
    assert caught.value.node == "act"


def test_inputs_are_let_go():
    """Once the outputs are made, what was given can be changed in place."""
    x = np.zeros((6, 4), np.float32)
    model = Model(one_node(T.FLOAT, (6, 4), (2,)))
    model.run({"data": x, "ids": [0, 1]})
    x.resize((2, 2), refcheck=True)  # nothing holds it any more
