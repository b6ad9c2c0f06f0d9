# SPDX-License-Identifier: MIT
"""The custom operators: unmodified models give the same bytes as without, and errors with position, value and range."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import provider_models as models
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.skip import skip_test

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

FLOATS, INTS, STRINGS = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
FOLDER = Path(__file__).resolve().parent
# Operators of com.microsoft are taken over only where the options name one of them: see docs/embed/onnxruntime.md.
ALL = {"operators": "Gather,GatherElements,GatherND,GatherBlockQuantized"}


@pytest.fixture(scope="module", autouse=True)
def door():
    if onnxruntime is None:
        skip_test("onnxruntime", "ONNX Runtime is not installed")
    import libgather.onnxruntime as door

    return door


def through(door, model, **options):
    return onnxruntime.InferenceSession(model, door.session_options(**options), providers=["CPUExecutionProvider"])


def without(model):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert got.tobytes() == wanted.tobytes()


def kind(name):
    return helper.np_dtype_to_tensor_dtype(np.dtype(name))


def bits(random, name, shape):
    """Random elements of a type, NaNs of all kinds included."""
    raw = random.integers(0, 256, size=(*shape, np.dtype(name).itemsize), dtype=np.uint8)
    return raw[..., 0] % 2 == 1 if name == "bool" else raw.view(name)[..., 0]


def case_of(random, operator):
    """A random shape of data, indices and attributes of an operator."""
    rank = int(random.integers(1, 5))
    shape = [int(n) for n in random.integers(1, 7, rank)]
    if operator == "Gather":
        axis = int(random.integers(-rank, rank))
        wanted = [int(n) for n in random.integers(0, 4, int(random.integers(0, 3)))]
        return shape, random.integers(-shape[axis], shape[axis], wanted), {"axis": axis}
    if operator == "GatherElements":
        axis = int(random.integers(-rank, rank))
        wanted = [int(random.integers(0, n + 1)) for n in shape]
        wanted[axis] = int(random.integers(0, 9))
        return shape, random.integers(-shape[axis], shape[axis], wanted), {"axis": axis}
    batch = int(random.integers(0, rank)) if operator == "GatherND" else 0
    numbers = int(random.integers(1, rank - batch + 1))
    tuples = [int(n) for n in random.integers(0, 4, int(random.integers(0, 3)))]
    lengths = np.array(shape[batch : batch + numbers])
    indices = random.integers(-lengths, lengths, [*shape[:batch], *tuples, numbers])
    return shape, indices, {"batch_dims": batch} if operator == "GatherND" else {}


@pytest.mark.parametrize(
    ("operator", "index"),
    [(name, index) for name in ("Gather", "GatherElements", "GatherND", "com.microsoft GatherND") for index in ("int64", "int32") if (name, index) != ("GatherND", "int32")],
)
def test_random_shapes(door, operator, index):
    random = np.random.default_rng(len(operator) * 10 + len(index))
    domain, _, name = operator.rpartition(" ")
    for number in range(36):
        dtype = NUMBERS[number % len(NUMBERS)]
        shape, indices, attributes = case_of(random, operator)
        model = models.one_node(name, kind(dtype), kind(index), domain=domain, **attributes)
        feeds = {"data": bits(random, dtype, shape), "indices": indices.astype(index)}
        wanted = without(model).run(None, feeds)[0]
        session = through(door, model, **(ALL if domain else {}))
        for _ in range(3):  # without a plan, making one, with it
            same(session.run(None, feeds)[0], wanted)


def test_int32_tuples(door):
    """More than ONNX allows, on request: GatherND with int32 indices."""
    model = models.one_node("GatherND", FLOATS, TensorProto.INT32)
    with pytest.raises(Exception, match="Type 'tensor\\(int32\\)' of input parameter"):
        through(door, model)
    got = through(door, model, types="all").run(None, {"data": models.rows(4, 3), "indices": np.array([[3, 0], [-1, -1]], np.int32)})[0]
    same(got, np.array([9, 11], np.float32))


@pytest.mark.parametrize("opset", [1, 9, 11, 12, 13, 21, 23])
def test_opsets(door, opset):
    """Negative indices at every opset, as ONNX Runtime has them."""
    model = models.one_node("Gather", FLOATS, INTS, opset=opset, axis=1)
    feeds = {"data": models.rows(4, 3), "indices": np.array([[-1, 0], [2, -3]])}
    same(through(door, model).run(None, feeds)[0], without(model).run(None, feeds)[0])


@pytest.mark.parametrize("name", ["FLOAT8E4M3FN", "FLOAT8E5M2", "BFLOAT16", "INT4", "UINT4"])
def test_types_without_numpy(door, name):
    """Types that ONNX Runtime refuses for Gather (except bfloat16), on request, seen through a Cast."""
    number = TensorProto.DataType.Value(name)
    values = (np.arange(16) - (0 if name == "UINT4" else 8)).reshape(4, 4)
    table = helper.make_tensor("table", number, [4, 4], values.flatten().tolist())
    nodes = [helper.make_node("Gather", ["table", "i"], ["rows"], axis=1), helper.make_node("Cast", ["rows"], ["y"], to=FLOATS)]
    model = models.model_of(nodes, {"i": INTS}, {"y": FLOATS}, [table], opset=21)
    model.ir_version = 10
    ids = np.array([3, -3, 0])
    same(through(door, model.SerializeToString(), types="all").run(None, {"i": ids})[0], values.astype(np.float32)[:, ids])
    if name != "BFLOAT16":
        with pytest.raises(Exception, match="of input parameter"):
            through(door, model.SerializeToString())


# ---- strings


def texts(shape):
    parts = ("", "a", "ä€😀", "long " * 20)
    flat = [f"{parts[i % 4]}{i if i % 4 else ''}" for i in range(int(np.prod(shape)))]
    return np.array(flat, dtype=object).reshape(shape)


@pytest.mark.parametrize("index", ["int64", "int32"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_strings(door, axis, index):
    """ONNX Runtime's own Gather loses strings where a slice has several; the model is right with the library."""
    data, ids = texts((3, 2, 4)), np.array([[1, -1], [0, -2]], dtype=index)
    got = through(door, models.one_node("Gather", STRINGS, kind(index), axis=axis)).run(None, {"data": data, "indices": ids})[0]
    assert np.array_equal(got, np.take(data, ids, axis))
    ids = np.zeros((2, 2, 3), dtype=index)
    ids[1] = -1
    got = through(door, models.one_node("GatherElements", STRINGS, kind(index), axis=axis)).run(None, {"data": data, "indices": ids})[0]
    assert np.array_equal(got, np.take_along_axis(data[tuple(slice(n) if d != axis % 3 else slice(None) for d, n in enumerate(ids.shape))], ids, axis))


def test_string_tuples(door):
    data, ids = texts((3, 2, 4)), np.array([[[1], [-1]], [[0], [1]], [[1], [1]]])
    got = through(door, models.one_node("GatherND", STRINGS, INTS, batch_dims=1)).run(None, {"data": data, "indices": ids})[0]
    assert np.array_equal(got, np.take_along_axis(data, ids, 1))
    assert through(door, models.one_node("GatherND", STRINGS, INTS)).run(None, {"data": data, "indices": np.array([2, -1, 0])})[0] == data[2, 1, 0]
    empty = through(door, models.one_node("Gather", STRINGS, INTS)).run(None, {"data": data, "indices": np.zeros((0, 3), np.int64)})[0]
    assert empty.shape == (0, 3, 2, 4)


# ---- errors


def fails(door, model, feeds, code, text, **options):
    session = through(door, model, **options)
    for _ in range(3):
        with pytest.raises(Exception) as caught:
            session.run(None, feeds)
        assert text in str(caught.value) and code in str(caught.value) and "Name:'node'" in str(caught.value)


@pytest.mark.parametrize(("operator", "domain", "indices", "text"), [
    ("Gather", "", [1, 4], "indices[1] = 4 is outside [-4, 3] of axis 0 (Gather onnx-13); 1 of 2 indices is bad"),
    ("Gather", "", -5, "indices = -5 is outside [-4, 3] of axis 0"),
    ("GatherElements", "", [[0, 9], [-9, 1]], "indices[0, 1] = 9 is outside [-4, 3] of axis 0 (GatherElements onnx-13); 2 of 4 indices are bad"),
    ("GatherElements", "", [0], "rank"),
    ("GatherElements", "", [[0, 1, 2, 3]], "indices"),
    ("GatherND", "", [[0, 0], [0, 3]], "indices[1, 1] = 3, component 1 of tuple [1], is outside [-3, 2] of axis 1 (GatherND onnx-13); 1 of 4 indices is bad"),
    ("GatherND", "", [[0, 0, 0]], "indices"),
    ("GatherND", "com.microsoft", [[7]], "indices[0, 0] = 7, component 0 of tuple [0], is outside [-4, 3] of axis 0 (GatherND microsoft-1)"),
])
def test_errors(door, operator, domain, indices, text):
    model = models.one_node(operator, FLOATS, INTS, domain=domain)
    fails(door, model, {"data": models.rows(4, 3), "indices": np.array(indices, np.int64)}, "INVALID_ARGUMENT", text, **(ALL if domain else {}))
    strings = models.one_node(operator, STRINGS, INTS, domain=domain)
    fails(door, strings, {"data": texts((4, 3)), "indices": np.array(indices, np.int64)}, "INVALID_ARGUMENT", text, **(ALL if domain else {}))


def test_wrong_axis(door):
    fails(door, models.one_node("Gather", FLOATS, INTS, axis=2), {"data": models.rows(4, 3), "indices": np.array([0])}, "INVALID_ARGUMENT", "axis 2")


def test_nothing_is_written(door):
    """An output that the caller gave keeps its bytes, however many indices come before the one out of range."""
    session = through(door, models.one_node("Gather", FLOATS, INTS))
    for count in (2, 8, 100_000):
        data, ids, out = models.rows(4, 2), np.zeros(count, np.int64), np.full((count, 2), 7, np.float32)
        ids[-1] = 4
        for _ in range(3):
            binding = session.io_binding()
            binding.bind_cpu_input("data", data)
            binding.bind_cpu_input("indices", ids)
            binding.bind_output("y", "cpu", 0, np.float32, out.shape, out.ctypes.data)
            with pytest.raises(Exception, match=rf"indices\[{count - 1}\] = 4"):
                session.run_with_iobinding(binding)
            assert (out == 7).all()


def test_attribute_of_wrong_type(door):
    model = models.one_node("Gather", FLOATS, INTS, axis=1.0)
    with pytest.raises(Exception, match="attribute axis of Gather is a float"):
        through(door, model, types="all")
    with pytest.raises(Exception, match="Mismatched attribute type"):  # ONNX Runtime's own words
        through(door, model)


# ---- shapes


def test_empty(door):
    for operator, shape, ids in (("Gather", (0, 3), (0,)), ("Gather", (4, 0), (2,)), ("GatherElements", (4, 3), (0, 3)), ("GatherND", (4, 3), (0, 2))):
        model = models.one_node(operator, FLOATS, INTS)
        feeds = {"data": np.ones(shape, np.float32), "indices": np.zeros(ids, np.int64)}
        same(through(door, model).run(None, feeds)[0], without(model).run(None, feeds)[0])
    bad = {"data": np.ones((4, 0), np.float32), "indices": np.array([4])}
    fails(door, models.one_node("Gather", FLOATS, INTS), bad, "INVALID_ARGUMENT", "indices[0] = 4")


@pytest.mark.parametrize("plans", [0, 1, 3, 16])
def test_many_shapes(door, plans):
    """More shapes than a node keeps plans, each more than once, in turn and in a row."""
    session = through(door, models.one_node("Gather", FLOATS, INTS, axis=-1), plans=plans)
    random = np.random.default_rng(plans)
    for number in range(200):
        shape = (int(random.integers(1, 4)),) * int(random.integers(1, 4)) + (5,)
        data, ids = np.ascontiguousarray(np.broadcast_to(np.arange(5, dtype=np.float32) + number, shape)), random.integers(-5, 5, int(random.integers(0, 12)))
        same(session.run(None, {"data": data, "indices": ids})[0], data[..., ids])


def test_inferred_shapes(door):
    """Lengths, names and unknown ones, where ONNX Runtime loads the model: as it infers them itself, and by the plug-in for `types`."""

    def shape(operator, data, indices, **attributes):
        node = helper.make_node(operator, ["data", "indices"], ["y"], **attributes)
        model = models.model_of([node], {"data": (FLOATS, data), "indices": (INTS, indices)}, {"y": FLOATS})
        model = model.SerializeToString()
        assert through(door, model).get_outputs()[0].shape == without(model).get_outputs()[0].shape
        got = through(door, model, types="all").get_outputs()[0].shape
        return ["?" if str(n).startswith("libgather_unknown") else n for n in got]

    assert shape("Gather", ["N", 4, "K"], [2, "M"], axis=1) == ["N", 2, "M", "K"]
    assert shape("Gather", [3, None], [2]) == [2, "?"]
    assert not shape("Gather", [3, 4], None)  # nothing, rather than what a scalar would give
    assert not shape("Gather", [3, 4], [])  # the host does not tell these two apart
    assert shape("GatherElements", ["N", 4], [2, "M"], axis=1) == [2, "M"]
    assert shape("GatherND", ["B", 4, 5], ["B", "T", 1], batch_dims=1) == ["B", "T", 5]
    assert shape("GatherND", ["B", 4, 5], ["T", "K"]) in ([], None)  # its rank depends on K


# ---- GatherBlockQuantized


@pytest.mark.parametrize(("name", "width"), [("UINT8", 4), ("UINT8", 8), ("INT4", 4), ("UINT4", 4)])
@pytest.mark.parametrize("scale", ["float32", "float16"])
@pytest.mark.parametrize("zeros", [False, True])
def test_block_quantized(door, name, width, scale, zeros):
    if tuple(int(part) for part in onnxruntime.__version__.split(".")[:2]) < (1, 28):
        pytest.skip("older versions read zero points differently")
    random = np.random.default_rng(5)
    packed = name == "UINT8" and width == 4
    number, rows, length = TensorProto.DataType.Value(name), 9, 64

    def codes(last):
        raw = random.integers(0, 256, rows * last * width // 8, dtype=np.uint8).tobytes()
        return helper.make_tensor("t", number, [rows, last // 2 if packed else last], raw, raw=True)

    def named(tensor, text):
        tensor.name = text
        return tensor

    scales = numpy_helper.from_array((random.random((rows, length // 16)) + 0.1).astype(scale), "scales")
    initializers = [named(codes(length), "data"), scales] + ([named(codes(length // 16), "zeros")] if zeros else [])
    attributes = {"block_size": 16, "bits": width, "quantize_axis": 1, "gather_axis": 0}
    node = helper.make_node("GatherBlockQuantized", ["data", "i", "scales"] + ["zeros"] * zeros, ["y"], name="node", domain="com.microsoft", **attributes)
    model = models.model_of([node], {"i": INTS}, {"y": kind(scale)}, initializers, opset=21, microsoft=True)
    model.ir_version = 10
    model = model.SerializeToString()
    for ids in (np.array([[3, -1], [0, 8]]), np.array(5), np.zeros((0, 2), np.int64), np.array([2, 9, -10])):
        same(through(door, model, **ALL).run(None, {"i": ids})[0], without(model).run(None, {"i": ids})[0])


def test_microsoft_only_on_request(door):
    """ONNX Runtime's own kernel runs, as its words show, unless the options name an operator of that domain."""
    model = models.one_node("GatherND", FLOATS, INTS, domain="com.microsoft")
    feeds = {"data": models.rows(4, 3), "indices": np.array([[7]])}
    with pytest.raises(Exception, match="invalid index found, index = 7"):
        through(door, model).run(None, feeds)
    with pytest.raises(Exception, match="component 0 of tuple"):
        through(door, model, **ALL).run(None, feeds)


def test_other_microsoft_operators(door):
    """The rest of com.microsoft stays ONNX Runtime's."""
    node = helper.make_node("BiasGelu", ["data", "bias"], ["y"], domain="com.microsoft")
    model = models.model_of([node], {"data": (FLOATS, [2, 3]), "bias": (FLOATS, [3])}, {"y": FLOATS}, microsoft=True).SerializeToString()
    feeds = {"data": models.rows(2, 3), "bias": np.ones(3, np.float32)}
    for options in ({}, ALL):
        same(through(door, model, **options).run(None, feeds)[0], without(model).run(None, feeds)[0])


@pytest.mark.parametrize("operator", ["Gather", "GatherElements", "GatherND"])
def test_constants_only(door, operator):
    """ONNX Runtime's constant folding looks for a kernel, and goes on without one."""
    ids = np.array([[1, 0]])
    tensors = [numpy_helper.from_array(models.rows(2, 2), "data"), numpy_helper.from_array(ids, "indices")]
    model = models.model_of([helper.make_node(operator, ["data", "indices"], ["y"])], {}, {"y": FLOATS}, tensors)
    session = through(door, model.SerializeToString())
    for _ in range(3):
        same(session.run(None, {})[0], without(model.SerializeToString()).run(None, {})[0])


# ---- options


def test_options(door, monkeypatch):
    model = models.one_node("GatherElements", FLOATS, INTS)
    feeds = {"data": models.rows(4, 3), "indices": np.array([[9, 0, 0]])}
    with pytest.raises(Exception, match="GatherElements op: Out of range"):  # ONNX Runtime's own words
        through(door, model, operators=["Gather", "GatherND"]).run(None, feeds)
    monkeypatch.setenv("GATHER_ORT_OPERATORS", "Gather")
    with pytest.raises(Exception, match="GatherElements op: Out of range"):
        through(door, model).run(None, feeds)
    with pytest.raises(Exception, match=r"indices\[0, 0\] = 9"):  # the session's entry wins
        through(door, model, operators="GatherElements").run(None, feeds)
    monkeypatch.delenv("GATHER_ORT_OPERATORS")
    for options, text in (({"operators": "Gathr"}, "no operator 'Gathr'"), ({"threads": -1}, "threads"), ({"plans": 17}, "0 to 16"), ({"types": "some"}, "onnx or all"), ({"engine": "x"}, "auto, mmap, pread or uring")):
        with pytest.raises(Exception, match=text):
            through(door, model, **options)
    monkeypatch.setenv("GATHER_ORT_THREADS", "two")
    with pytest.raises(Exception, match="'two'"):
        through(door, model)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_on_the_sessions_threads(door, threads):
    settings = door.session_options(threads=4)
    settings.intra_op_num_threads = threads
    random = np.random.default_rng(1)
    data, ids = random.random((5000, 33), dtype=np.float32), random.integers(-5000, 5000, 60_000)
    session = onnxruntime.InferenceSession(models.one_node("Gather", FLOATS, INTS), settings, providers=["CPUExecutionProvider"])
    for _ in range(3):
        same(session.run(None, {"data": data, "indices": ids})[0], data[ids])


# ---- lifetimes


@pytest.mark.parametrize("scenario", ["unloading", "many_registrations", "options_first", "threads", "fork", "table"])
def test_in_a_process_of_its_own(door, scenario):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, str(FOLDER / "custom_ops_child.py"), scenario]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout.strip().endswith("good"), (done.returncode, done.stdout, done.stderr)
    if scenario == "table":
        assert "takes the rows of Gather node 'lookup'" in done.stderr and "table.data" in done.stderr


@pytest.mark.parametrize("options, said", [({"reprot": True}, "unknown option 'reprot'; the options are: "), ({"threads": "many"}, "threads"),
                                           ({"report": 2}, "report"), ({"operators": "Gather,Nothing"}, "no operator 'Nothing'")])  # fmt: skip
def test_options_are_checked_when_they_are_given(door, options, said):
    with pytest.raises(ValueError, match=said):
        door.session_options(**options)
    with pytest.raises(ValueError, match=said):
        door.register_operators(onnxruntime.SessionOptions(), **options)
