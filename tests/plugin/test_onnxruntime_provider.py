# SPDX-License-Identifier: MIT
"""The execution provider: what it takes over gives the same bytes as the CPU provider, and it is what ran."""

import gc
import json
import re

import numpy as np
import provider_models as models
import pytest
from provider_sessions import onnxruntime, provider  # noqa: F401  the fixture
from onnx import TensorProto, helper

NAME = "GatherExecutionProvider"
RANDOM = np.random.default_rng(16)
NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")


@pytest.fixture(scope="module", autouse=True)
def registered(provider):
    """Also for the tests that do not ask for it."""


def opened(provider, model, **options):
    return onnxruntime.InferenceSession(model, provider.add_to(onnxruntime.SessionOptions(), **options))


def on_cpu(model):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def both(provider, model, feeds):
    """The first output from libgather and from the CPU provider; libgather ran one node once."""
    session = opened(provider, model)
    got = session.run(None, feeds)[0]
    assert [node["runs"] for node in provider.report(session)["nodes"]] == [1]
    return got, on_cpu(model).run(None, feeds)[0]


def equal(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert got.tobytes() == wanted.tobytes()


def data_of(name, shape):
    raw = RANDOM.integers(0, 256, size=(*shape, np.dtype(name).itemsize), dtype=np.uint8)
    return (raw[..., 0] % 2).astype(bool) if name == "bool" else raw.view(name)[..., 0]


def kind(name):
    return helper.np_dtype_to_tensor_dtype(np.dtype(name))


def test_provider_list_and_devices(provider):
    assert provider.ep_name() == NAME
    assert [device.ep_name for device in provider.devices()] == [NAME]
    session = opened(provider, models.one_node("Gather", TensorProto.FLOAT, TensorProto.INT64))
    assert session.get_providers() == [NAME, "CPUExecutionProvider"]


def test_register_again_changes_nothing(provider):
    provider.register()
    assert len(provider.devices()) == 1


def test_older_host_is_refused_in_words(provider, monkeypatch):
    monkeypatch.setattr(onnxruntime, "__version__", "1.23.2")
    for call in (lambda: provider.add_to(object()), provider.register, provider.devices):
        with pytest.raises(RuntimeError, match=r"needs onnxruntime 1\.24 or later, and this is 1\.23\.2: use .*register_custom_ops_library"):
            call()


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(provider, name, index, axis):
    data = data_of(name, (5, 4, 3))
    length = data.shape[axis]
    feeds = {"data": data, "indices": RANDOM.integers(-length, length, (2, 6)).astype(index)}
    equal(*both(provider, models.one_node("Gather", kind(name), kind(index), axis=axis), feeds))


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("name", NUMBERS)
def test_gather_elements(provider, name, index):
    data = data_of(name, (5, 4, 3))
    feeds = {"data": data, "indices": RANDOM.integers(-4, 4, (5, 7, 2)).astype(index)}
    equal(*both(provider, models.one_node("GatherElements", kind(name), kind(index), axis=1), feeds))


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("batch_dims", [0, 1])
def test_gather_nd(provider, name, batch_dims):
    data = data_of(name, (3, 4, 5))
    shape = (6, 2) if batch_dims == 0 else (3, 2, 1)
    feeds = {"data": data, "indices": RANDOM.integers(-3, 3, shape)}
    model = models.one_node("GatherND", kind(name), TensorProto.INT64, batch_dims=batch_dims)
    equal(*both(provider, model, feeds))


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_microsoft_gather_nd(provider, index):
    feeds = {"data": data_of("float32", (3, 4, 5)), "indices": RANDOM.integers(0, 3, (6, 2)).astype(index)}
    model = models.one_node("GatherND", TensorProto.FLOAT, kind(index), domain="com.microsoft")
    equal(*both(provider, model, feeds))


@pytest.mark.parametrize(
    ("operator", "opsets"), [("Gather", (9, 11, 12, 13, 24)), ("GatherElements", (11, 12, 13, 24)), ("GatherND", (11, 12, 13, 24))]
)
def test_opsets(provider, operator, opsets):
    data = data_of("float32", (4, 4))
    indices = RANDOM.integers(0, 4, (4, 2))
    for opset in opsets:
        got, wanted = both(provider, models.one_node(operator, TensorProto.FLOAT, TensorProto.INT64, opset), {"data": data, "indices": indices})
        equal(got, wanted)


def test_bfloat16(provider):
    nodes = [
        helper.make_node("Cast", ["x"], ["data"], to=TensorProto.BFLOAT16),
        helper.make_node("Gather", ["data", "indices"], ["rows"], name="node"),
        helper.make_node("Cast", ["rows"], ["y"], to=TensorProto.FLOAT),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("indices", TensorProto.INT64, None),
    ]
    model = models.model_of(nodes, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    feeds = {"x": data_of("int8", (9, 3)).astype(np.float32), "indices": np.array([8, -1, 0])}
    equal(*both(provider, model.SerializeToString(), feeds))


def test_strings(provider):
    """Against NumPy: the CPU provider drops all but the first string of a row."""
    data = np.array([["a", "", "längere Zeichenfolge als 16 Bytes"], ["b", "c", "d"]], dtype=object)
    session = opened(provider, models.one_node("Gather", TensorProto.STRING, TensorProto.INT64))
    got = session.run(None, {"data": data, "indices": np.array([1, 0, -2])})[0]
    assert got.tolist() == data[[1, 0, 0]].tolist()


def test_block_quantised(provider):
    nodes = [
        helper.make_node(
            "GatherBlockQuantized", ["data", "indices", "scales"], ["y"], name="node", domain="com.microsoft", block_size=16, quantize_axis=1
        )
    ]
    data = helper.make_tensor("data", TensorProto.UINT4, (6, 32), RANDOM.integers(0, 256, 96, dtype=np.uint8).tobytes(), raw=True)
    scales = helper.make_tensor("scales", TensorProto.FLOAT, (6, 2), RANDOM.random((6, 2), np.float32))
    inputs = [helper.make_tensor_value_info("indices", TensorProto.INT64, None)]
    model = models.model_of(
        nodes, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [data, scales], opset=21, microsoft=True
    )
    equal(*both(provider, model.SerializeToString(), {"indices": np.array([[5, 0], [3, 3]])}))


def test_out_of_range_is_an_exact_error(provider):
    session = opened(provider, models.one_node("Gather", TensorProto.FLOAT, TensorProto.INT64))
    with pytest.raises(Exception, match=r"node.*indices\[0, 1\] = 10 is outside \[-10, 9\].*1 of 2 indices is bad") as caught:
        session.run(None, {"data": np.zeros((10, 2), np.float32), "indices": np.array([[1, 10]])})
    assert type(caught.value).__name__ == "InvalidArgument"


def branches() -> bytes:
    """An If, in whose branches a table of the outer graph is gathered."""

    def branch(name, ids):
        values = [helper.make_tensor("i", TensorProto.INT64, [len(ids)], ids)]
        return helper.make_graph(
            [helper.make_node("Gather", ["outer", "i"], [name], name=f"in_{name}")],
            name,
            [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)],
            values,
        )

    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch("a", [1]), else_branch=branch("b", [0, 2]))]
    inputs = [helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info("outer", TensorProto.FLOAT, [3, 2])]
    return models.model_of(nodes, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]).SerializeToString()


def test_subgraphs(provider):
    session = opened(provider, branches())
    for condition in (True, False):
        feeds = {"c": np.array(condition), "outer": data_of("float32", (3, 2))}
        equal(session.run(None, feeds)[0], on_cpu(branches()).run(None, feeds)[0])
    assert {node["name"]: node["runs"] for node in provider.report(session)["nodes"]} == {"in_a": 1, "in_b": 1}


def test_the_rest_stays_on_the_cpu_provider(provider, tmp_path):
    nodes = [
        helper.make_node("Gather", ["data", "indices"], ["rows"], name="lookup"),
        helper.make_node("Relu", ["rows"], ["y"], name="relu"),
    ]
    inputs = [
        helper.make_tensor_value_info("data", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("indices", TensorProto.INT64, None),
    ]
    model = models.model_of(nodes, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    options = provider.add_to(onnxruntime.SessionOptions())
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    session.run(None, {"data": data_of("float32", (4, 4)), "indices": np.array([1, 2])})
    with open(session.end_profiling(), encoding="utf-8") as file:
        events = json.load(file)
    ran = {e["args"]["op_name"]: e["args"]["provider"] for e in events if "provider" in e.get("args", {})}
    assert ran == {"Gather": NAME, "Relu": "CPUExecutionProvider"}


def test_operators_option_leaves_nodes(provider):
    model = models.one_node("GatherElements", TensorProto.FLOAT, TensorProto.INT64)
    session = opened(provider, model, operators="Gather,GatherND")
    assert provider.report(session)["nodes"] == []
    assert len(provider.report(opened(provider, model, operators="GatherElements"))["nodes"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memroy": "1GiB"}, r"GatherExecutionProvider: unknown option 'memroy'; the options are: take, table,.*memory.*threads"),
        ({"memory": "12x"}, "memory: invalid value '12x'; it must be bytes .*at least 1MiB"),
        ({"memory": 4096}, "memory: invalid value '4096'"),
        ({"memory": "99999999999G"}, "memory: invalid value"),
        ({"table": "sometimes"}, "table: invalid value 'sometimes'; it must be auto, always or never"),
        ({"take": "none"}, "take: invalid value 'none'; it must be all or tables"),
        ({"table_min": "101%"}, "table_min: invalid value '101%'"),
        ({"engine": "magic"}, "engine: invalid value 'magic'; it must be auto, mmap, pread or uring"),
        ({"depth": 0}, "depth: invalid value '0'; it must be 1 to 4096, or auto"),
        ({"buffered": "yes"}, "buffered: invalid value 'yes'; it must be 0 or 1"),
        ({"label": "x" * 128}, "label: invalid value .*shorter than 128 bytes"),
    ],
)
def test_option_errors(provider, capfd, options, message):
    with pytest.raises(ValueError, match=message.replace("GatherExecutionProvider: ", "")):
        provider.add_to(onnxruntime.SessionOptions(), **options)
    natively = onnxruntime.SessionOptions()
    natively.add_provider_for_devices(provider.devices(), {name: str(value) for name, value in options.items()})
    refused(natively, capfd, message)


def refused(options, capfd, message):
    """The provider does not come to be. Older versions of the host print why, and go on without it."""
    try:
        session = onnxruntime.InferenceSession(models.one_node("Gather", TensorProto.FLOAT, TensorProto.INT64), options)
    except Exception as error:
        assert re.search(message, str(error))
    else:
        assert NAME not in session.get_providers() and re.search(message, capfd.readouterr().out)


def test_option_of_the_environment(provider, capfd, monkeypatch):
    options = provider.add_to(onnxruntime.SessionOptions())
    monkeypatch.setenv("GATHER_ORT_DEPTH", "5000")
    refused(options, capfd, "GATHER_ORT_DEPTH: invalid value '5000'")
    with pytest.raises(ValueError, match="GATHER_ORT_DEPTH: invalid value '5000'"):
        provider.add_to(onnxruntime.SessionOptions(), verbose=False)


def test_report_needs_a_session_of_the_provider(provider):
    with pytest.raises(ValueError, match="does not use GatherExecutionProvider"):
        provider.report(on_cpu(models.one_node("Gather", TensorProto.FLOAT, TensorProto.INT64)))


def test_report_of_a_model(provider):
    report = provider.report(models.one_node("Gather", TensorProto.FLOAT, TensorProto.INT64))
    assert report["provider"] == NAME and report["model"] == "" and report["tables"] == []
    assert [(n["name"], n["operator"], n["version"], n["way"], n["why"], n["runs"]) for n in report["nodes"]] == [
        ("node", "Gather", 13, "plain", "the data is not external", 0)
    ]
    gc.collect()  # the traceback of an earlier test may hold its session, in a circle
    assert provider.statistics() == {"sessions": [], "tables": []}
