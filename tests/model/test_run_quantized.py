# SPDX-License-Identifier: MIT
"""gather run on com.microsoft GatherBlockQuantized: random nodes beside NumPy loops written from its schema, and beside ONNX
Runtime; what is wrong with a node; indices that a check finds.

GATHER_TEST_EXAMPLES=N: so many random nodes.
"""

from __future__ import annotations

import many
import numpy as np
import pytest
import quantized_cases as cases
import run_models as models
from onnx import TensorProto, helper

from support.onnx_models import session
from support.skip import skip_test

AT_ONCE = 50  # nodes in a model
ROUNDS = max(1, (many.EXAMPLES or 1500) // AT_ONCE)
OPSETS = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]


def renamed(graph, number: int) -> tuple[list, list, list]:
    """The parts of a graph of one node, with names of their own."""
    names = {value.name: f"{value.name}{number}" for value in graph.initializer} | {"y": f"y{number}"}
    for constant in graph.initializer:
        constant.name = names[constant.name]
    node = graph.node[0]
    inputs, outputs = [names[name] for name in node.input], [names[name] for name in node.output]
    node.ClearField("input"), node.ClearField("output")
    node.input.extend(inputs), node.output.extend(outputs)
    node.name = f"g{number}"
    graph.output[0].name = names["y"]
    return [node], list(graph.initializer), [graph.output[0]]


def together(drawn: list[cases.Case]):
    """One model of all nodes."""
    parts = [renamed(cases.model_of(case).graph, number) for number, case in enumerate(drawn)]
    nodes, constants, outputs = ([one for part in parts for one in part[i]] for i in range(3))
    return helper.make_model(helper.make_graph(nodes, "g", [], outputs, constants), opset_imports=OPSETS, ir_version=11)


def wrong(drawn: list[cases.Case], outputs: dict[str, np.ndarray]) -> list[cases.Case]:
    return [case for i, case in enumerate(drawn) if not cases.same(outputs[f"y{i}"], cases.expected(case))]


@pytest.mark.parametrize("number", range(ROUNDS))
def test_random(number, tmp_path):
    """All types, widths, axes, blocks, and indices out of range."""
    rng = np.random.default_rng([many.SEED, number])
    drawn = [cases.draw(rng, tuple(cases.SCALES)) for _ in range(AT_ONCE)]
    model = tmp_path / "model.onnx"
    model.write_bytes(together(drawn).SerializeToString())
    outputs = many.run(model, "--threads", number % 3 + 1)
    assert len(outputs) == AT_ONCE and not wrong(drawn, outputs)


def test_draws_cover_everything():
    """The random nodes have every type, width and form."""
    rng = np.random.default_rng(0)
    drawn = [cases.draw(rng, tuple(cases.SCALES)) for _ in range(2000)]
    assert {(case.kind, case.scale_kind) for case in drawn} == {(a, b) for a in cases.KINDS for b in cases.SCALES}
    assert {case.bits for case in drawn if case.kind == "UINT8"} == {2, 4, 8}
    assert {case.data.ndim for case in drawn} == {1, 2, 3, 4} and {case.indices.ndim for case in drawn} == {0, 1, 2, 3}
    assert {case.attributes.get("block_size", 128) for case in drawn} == {0, 16, 32, 64, 128, 256}
    assert any((cases.expected(case) == 0).all() and case.indices.size for case in drawn)
    integers = [case for case in drawn if case.kind in ("INT4", "UINT4", "UINT8")]
    assert 0.3 < np.mean([case.zero_points is None for case in integers]) < 0.7
    short = [case.data.shape[-1] * case.per_byte % case.attributes.get("block_size", 128) for case in drawn if case.kind == "UINT8"]
    assert any(short) and any(case.scales.shape[-1] % 2 and case.scales.shape[-1] > 1 for case in drawn)


def test_beside_onnxruntime(tmp_path):
    """ONNX Runtime's CPU kernel gives the same bits. It refuses rank 1 and has no bfloat16."""
    try:
        import onnxruntime
    except ImportError:
        skip_test("onnxruntime", "the package is not installed")
    if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 31):
        skip_test("onnxruntime 1.31", "older versions have no floats, and fail on indices out of range")
    model = tmp_path / "model.onnx"
    for number in range(ROUNDS):
        rng = np.random.default_rng([many.SEED, 1, number])
        drawn = [case for case in (cases.draw(rng) for _ in range(AT_ONCE)) if case.data.ndim > 1]
        content = together(drawn).SerializeToString()
        model.write_bytes(content)
        opened = session(content, threads=1)
        theirs = dict(zip([value.name for value in opened.get_outputs()], opened.run(None, {}), strict=True))
        ours = many.run(model)
        assert ours.keys() == theirs.keys()
        assert not [drawn[int(name[1:])] for name in ours if not cases.same(ours[name], theirs[name])]


def one(tmp_path, case: cases.Case, **changes):
    model = cases.model_of(case, **changes)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def plain(kind="INT4", shape=(5, 32), scales=(5, 2), points=None, indices=(0,), **attributes) -> cases.Case:
    data = (np.arange(np.prod(shape)).reshape(shape) % (16 if kind in models.PACKED_TYPES else 256)).astype(np.uint8)
    attributes.setdefault("block_size", 16)
    zero = None if points is None else np.ones(points, np.uint8)
    return cases.Case(kind, "FLOAT", data, np.full(scales, 0.5, np.float32), zero, np.array(indices, np.int64), attributes)


WRONG = [
    (plain(scales=(5, 3)), "shape_mismatch", "scales [5, 3] for data [5, 32]: the length of dimension 1 must be 2"),
    (plain(scales=(2, 5)), "shape_mismatch", "scales [2, 5] for data [5, 32]: the length of dimension 0 must be 5"),
    (plain(scales=(10,)), "rank_mismatch", "scales of rank 1 for data of rank 2"),
    (plain(points=(5, 1)), "shape_mismatch", "zero_points [5, 1] for data [5, 32]: the length of dimension 1 must be 2"),
    (plain(block_size=0), "file_malformed", "block_size is 0, not a power of two of at least 16"),
    (plain(block_size=-16), "file_malformed", "block_size is -16, not a power of two of at least 16"),
    (plain(block_size=40), "file_malformed", "block_size is 40, not a power of two of at least 16"),
    (plain(bits=8), "file_malformed", "bits is 8; for data of type int4 it is 4"),
    (plain("UINT8", bits=5), "file_malformed", "bits is 5, not 2, 4 or 8"),
    (plain("UINT8", scales=(5, 4), gather_axis=1), "axis_out_of_range", "gather_axis is 1; for data of type uint8 it is 0"),
    (plain(quantize_axis=2), "axis_out_of_range", "quantize_axis 2 is outside [-2, 1]"),
    (plain("FLOAT8E5M2", points=(5, 2)), "file_malformed", "data of type float8_e5m2 has no zero points"),
    (plain("UINT16"), "type_unsupported", "data of type uint16; GatherBlockQuantized takes int4, uint4, uint8, the float8 types "
     "and float4_e2m1fn"),
]  # fmt: skip
each_wrong = pytest.mark.parametrize("case, status, message", WRONG, ids=lambda v: v if isinstance(v, str) else "")


@each_wrong
def test_what_is_wrong(case, status, message, tmp_path):
    """A run and a check say the same of a node; nothing is written."""
    if case.kind == "UINT16":
        case.data = case.data.astype(np.uint16)
    path, out = one(tmp_path, case), tmp_path / "y.npy"
    answer = many.gather("run", path, "--output", out, check=False)
    assert answer["error"]["status"] == status and answer["error"]["message"] == f"node 'g': {message}"
    assert answer["error"]["node"] == "g" and not out.exists()
    node = many.gather("check", path, check=False)["nodes"][0]
    assert node["verdict"] == "bad" and node["error"]["status"] == status and node["reason"] == message


@pytest.mark.parametrize("inputs", [["data", "indices"], ["data", "indices", ""]], ids=str)
def test_no_scales(inputs, tmp_path):
    model = cases.model_of(plain())
    del model.graph.node[0].input[:]
    model.graph.node[0].input.extend(inputs)
    path, out = tmp_path / "model.onnx", tmp_path / "y.npy"
    path.write_bytes(model.SerializeToString())
    answer = many.gather("run", path, "--output", out, check=False)
    assert answer["error"]["status"] == "file_malformed" and not out.exists()
    node = many.gather("check", path, check=False)["nodes"][0]
    assert node["verdict"] == "bad" and node["reason"] == "the node has no scales"


@pytest.mark.parametrize("cut", ["data", "scales", "zero_points"])
def test_external_data_cut_short(cut, tmp_path):
    """The file beside the model ends before one of its tensors does."""
    case = plain(points=(5, 2))
    model = cases.model_of(case, storage="external", folder=tmp_path)
    wanted = next(constant for constant in model.graph.initializer if constant.name == cut)
    entry = {pair.key: pair.value for pair in wanted.external_data}
    weights = tmp_path / "weights.bin"
    weights.write_bytes(weights.read_bytes()[: int(entry["offset"]) + int(entry["length"]) - 1])
    path, out = tmp_path / "model.onnx", tmp_path / "y.npy"
    path.write_bytes(model.SerializeToString())
    answer = many.gather("run", path, "--output", out, check=False)
    assert answer["error"]["status"] == "file_malformed" and answer["error"]["node"] == "g" and not out.exists()
    assert "weights.bin" in answer["error"]["message"] and cut in answer["error"]["message"]
    node = many.gather("check", path, check=False)["nodes"][0]
    assert node["verdict"] == "ok"  # the indices and the shapes are in the model itself


@pytest.mark.parametrize("storage", ["raw", "external"])
def test_storage_and_given_indices(storage, tmp_path):
    case = plain(points=(5, 2), indices=[[4, -5], [0, 2]])
    path = one(tmp_path, case, indices_given=True, storage=storage, folder=tmp_path)
    ours = many.run(path, "--input", f"indices={case.indices.tolist()}")["y"]
    assert cases.same(ours, cases.expected(case))


def test_check_finds_indices(tmp_path):
    """Out of range: counted, zeros under the rules; what each runtime does."""
    case = plain(indices=[4, 5, -5, -6, 2**40])
    node = many.gather("check", one(tmp_path, case))["nodes"][0]
    assert node["op"] == "GatherBlockQuantized" and node["rules"] == "microsoft-1" and node["verdict"] == "ok"
    assert node["indices"]["bad"] == 3 and node["indices"]["min"] == -6 and node["indices"]["max"] == 2**40
    assert node["reason"] == "3 of 5 indices are out of range: zeros under the rules microsoft-1"
    assert node["runtimes"]["onnxruntime"] == "silently returns zeros"
    assert node["runtimes"]["openvino"] == "silently uses only the low 32 bits of the index"
    assert node["output"]["type"] == "float32" and node["output"]["shape"] == [5, 32]


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_inferred_shapes(bits, tmp_path):
    """The last length of uint8 data counts bytes; a check follows the output to the next gather."""
    case = plain("UINT8", (5, 32), (5, 2 * 8 // bits), bits=bits)
    model = cases.model_of(case)
    model.graph.initializer.append(models.tensor_of("ids", "INT64", np.array([32 * 8 // bits], np.int64)))
    model.graph.node.append(helper.make_node("Gather", ["y", "ids"], ["z"], "after", axis=1))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    nodes = many.gather("check", path, check=False)["nodes"]
    assert nodes[0]["output"]["shape"] == [1, 32 * 8 // bits]
    assert nodes[1]["verdict"] == "bad" and nodes[1]["error"]["high"] == 32 * 8 // bits - 1


def test_picture(tmp_path):
    """The cells are those that are stored; a line says so."""
    path = one(tmp_path, plain(indices=[4, 9]))
    text = many.gather("explain", path, "--node", "g")
    assert text["op"] == "GatherBlockQuantized" and text["rules"] == "microsoft-1"


def test_one_node(tmp_path):
    case = plain(indices=[3, -1])
    path = one(tmp_path, case, indices_given=True)
    ours = many.run(path, "--node", "g", "--input", "indices=[3, -1]")["y"]
    assert cases.same(ours, cases.expected(case))
