# SPDX-License-Identifier: MIT
"""gather check and the model part of gather info, on models that are made here."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

import run_models as models
from support import command

RUNTIMES = {"onnxruntime", "openvino", "tensorrt", "directml"}


def call(*line, code=0):
    return command.text(*line, codes=(code,))


def check(path, *line, code=0):
    return command.answer("check", path, *line, code=code)


def tensor(values, name, dtype=np.int64):
    return nh.from_array(np.array(values, dtype), name)


def table(rows=10, columns=4, name="table"):
    return tensor(np.zeros((rows, columns)), name, np.float32)


def value(name, shape, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def gather_node(name, data="table", indices="ids", output=None, op="Gather", **attributes):
    return h.make_node(op, [data, indices], [output or f"out_{name}"], name=name, **attributes)


def save(path, nodes, inputs=(), initializers=(), opset=13, infos=(), functions=(), imports=(), outputs=None):
    outputs = outputs or [value(o, None) for n in nodes for o in n.output if o.startswith("out_")]
    graph = h.make_graph(nodes, "g", list(inputs), outputs, list(initializers), value_info=list(infos))
    opsets = [h.make_opsetid("", opset), *imports]
    model = h.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))
    onnx.save(model, path)
    return model


def only(answer):
    assert len(answer["nodes"]) == 1
    return answer["nodes"][0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.onnx"


def test_an_initializer_is_verified(path):
    save(path, [gather_node("g", indices="c")], initializers=[table(), tensor([0, -10, 9], "c")])
    answer = check(path)
    node = only(answer)
    assert (answer["command"], answer["model"], answer["format"], answer["bad"]) == ("check", str(path), "onnx", 0)
    assert (node["name"], node["op"], node["domain"], node["rules"], node["graph"]) == ("g", "Gather", "", "onnx-13", "main")
    assert (node["axis"], node["batch_dims"], node["verdict"]) == (0, 0, "ok")
    assert node["data"] == {"name": "table", "type": "float32", "shape": [10, 4], "source": "initializer"}
    assert node["indices"]["source"] == "initializer"
    assert [node["indices"][k] for k in ("min", "max", "bad")] == [-10, 9, 0]
    assert node["output"] == {"name": "out_g", "type": "float32", "shape": [3, 4]}
    assert "error" not in node and "runtimes" not in node


def test_a_bad_initializer(path):
    save(path, [gather_node("g", indices="c")], initializers=[table(), tensor([[0, 3], [12, -11]], "c")])
    answer = check(path, code=1)
    node = only(answer)
    assert (answer["bad"], node["verdict"], node["indices"]["bad"]) == (1, "bad", 2)
    wanted = {"status": "index_out_of_range", "code": 5, "op": "Gather", "rules": "onnx-13", "position": [1, 0]}
    wanted |= {"value": 12, "low": -10, "high": 9, "axis": 0, "bad_count": 2}
    assert {key: node["error"][key] for key in wanted} == wanted
    assert set(node["runtimes"]) == RUNTIMES and all(node["runtimes"].values())


@pytest.mark.parametrize("opset, rules, verdict", [(9, "onnx-1", "bad"), (11, "onnx-11", "ok"), (21, "onnx-13", "ok")])
def test_rules_follow_the_opset(path, opset, rules, verdict):
    save(path, [gather_node("g", indices="c")], initializers=[table(), tensor([-1], "c")], opset=opset)
    node = only(check(path, code=verdict == "bad"))
    assert (node["rules"], node["verdict"]) == (rules, verdict)
    if verdict == "bad":
        assert "padding" in node["cause"] and node["error"]["low"] == 0
        assert "counts from the end" in node["runtimes"]["onnxruntime"]


def test_sources_of_indices(path):
    nodes = [
        h.make_node("Constant", [], ["k"], value=tensor([1], "k")),
        h.make_node("Shape", ["x"], ["shape"]),
        h.make_node("Cast", ["x"], ["cast"], to=T.INT64),
        gather_node("constant", indices="k"),
        gather_node("input"),
        gather_node("computed", indices="cast"),
        gather_node("of_shape", "shape", "k"),
    ]
    save(path, nodes, [value("ids", ["N", 3], T.INT64), value("x", [2, 5])], [table()])
    nodes = {n["name"]: n for n in check(path)["nodes"]}
    assert [nodes[n]["indices"]["source"] for n in ("constant", "input", "computed")] == ["constant", "input", "computed"]
    assert [nodes[n]["verdict"] for n in ("constant", "input", "computed", "of_shape")] == ["ok", "unknown", "unknown", "ok"]
    assert "'ids'" in nodes["input"]["reason"] and "Cast" in nodes["computed"]["reason"]
    assert nodes["input"]["indices"]["shape"] == ["N", 3] and nodes["input"]["output"]["shape"] == ["N", 3, 4]
    assert not {"min", "max", "bad"} & set(nodes["input"]["indices"])


def test_indices_that_are_computed_from_constants(path):
    nodes = [
        h.make_node("Shape", ["x"], ["shape"]),
        gather_node("last", "shape", "one", "length"),
        h.make_node("Unsqueeze", ["length", "axes"], ["row"]),
        h.make_node("Concat", ["row", "four"], ["both"], axis=0),
        h.make_node("Sub", ["both", "one"], ["less"]),
        h.make_node("Cast", ["less"], ["narrow"], to=T.INT32),
        gather_node("g", indices="narrow"),
    ]
    initializers = [table(), tensor(1, "one"), tensor([0], "axes"), tensor([4], "four")]
    save(path, nodes, [value("x", ["B", "L"])], initializers)
    assert check(path)["nodes"][1]["verdict"] == "unknown"
    node = check(path, "--dim", "L=10")["nodes"][1]
    assert (node["verdict"], node["indices"]["min"], node["indices"]["max"], node["indices"]["type"]) == ("ok", 3, 9, "int32")
    node = check(path, "--dim", "L=11", code=1)["nodes"][1]
    assert (node["error"]["position"], node["error"]["value"]) == ([0], 10)
    np.save(path.parent / "x.npy", np.zeros((2, 11), np.float32))
    assert check(path, "--input", f"x={path.parent / 'x.npy'}", code=1)["nodes"][1]["error"]["value"] == 10


def test_given_inputs(path):
    save(path, [gather_node("g")], [value("ids", ["N", 2], T.INT64)], [table()])
    assert only(check(path, "--input", "ids=[[0, 9]]"))["verdict"] == "ok"
    node = only(check(path, "--input", "ids=[[0, 9], [10, 1]]", code=1))
    assert (node["error"]["position"], node["indices"]["shape"], node["indices"]["source"]) == ([1, 0], [2, 2], "input")
    assert "may count from 1" in node["cause"]
    for line, code, status in (
        (["--input", "idz=[[0, 9]]"], 3, "name_not_found"),
        (["--dim", "M=1"], 3, "name_not_found"),
        (["--input", "ids=[0]"], 1, "rank_mismatch"),
        (["--input", "ids=[[0]]"], 1, "shape_mismatch"),
        (["--input", "ids=[[0, 1]]", "--dim", "N=2"], 1, "shape_mismatch"),
        (["--dim", "N"], 2, "usage"),
        (["--dim", "N=x"], 2, "usage"),
        (["--input", "=3"], 2, "usage"),
        (["--input", "ids=[[0, 1]]", "--input", "ids=[[0, 1]]"], 2, "usage"),
    ):
        assert check(path, *line, code=code)["error"]["status"] == status, line


def test_a_length_that_is_not_known(path):
    save(path, [gather_node("g", "x", "c")], [value("x", ["N", 4])], [tensor([7], "c")])
    node = only(check(path))
    assert (node["verdict"], node["indices"]["min"]) == ("unknown", 7)
    assert "bad" not in node["indices"] and "'N'" in node["reason"]
    assert only(check(path, "--dim", "N=8"))["verdict"] == "ok"
    assert only(check(path, "--dim", "N=7", code=1))["indices"]["bad"] == 1
    assert "empty" in only(check(path, "--dim", "N=0", code=1))["cause"]


def test_what_cannot_be_legal(path):
    cases = [
        (gather_node("g", "table", "c", axis=2), "axis_out_of_range"),
        (gather_node("g", "scalar", "c"), "rank_mismatch"),
        (gather_node("g", "table", "table"), "type_unsupported"),
        (gather_node("g", "table", "c", op="GatherElements"), "rank_mismatch"),
        (gather_node("g", "table", "wide", op="GatherElements"), "shape_mismatch"),
    ]
    extra = [table(), tensor([0], "c"), tensor(1.0, "scalar", np.float32), tensor(np.zeros((2, 5)), "wide")]
    for node, status in cases:
        save(path, [node], [], extra)
        found = only(check(path, code=1))
        assert (found["verdict"], found["error"]["status"]) == ("bad", status)
        assert set(found["runtimes"]) == RUNTIMES


def test_types_that_are_not_listed(path):
    save(path, [gather_node("g", indices="c")], initializers=[table(), tensor([1], "c", np.int8)])
    node = only(check(path))
    assert (node["verdict"], node["type_listed"]) == ("ok", False)
    assert "does not list" in call("check", path)


def test_subgraphs(path):
    body = h.make_graph([gather_node("inner", indices="c", output="i")], "b", [], [value("i", None)], [tensor([10], "c")])
    other = h.make_graph([gather_node("", output="e")], "e", [], [value("e", None)])
    nodes = [
        h.make_node("If", ["cond"], ["out_a"], name="if_3", then_branch=body, else_branch=other),
        h.make_node("If", ["cond"], ["out_b"], then_branch=other, else_branch=body),
    ]
    save(path, nodes, [value("cond", [], T.BOOL), value("ids", [2], T.INT64)], [table()])
    answer = check(path, "--input", "ids=[0, 9]")
    reasons = [n["reason"] for n in answer["nodes"] if n["verdict"] == "unknown"]
    assert len(reasons) == 2 and all("the condition 'cond' of If" in text and "= 10 is outside" in text for text in reasons)
    answer = check(path, "--input", "ids=[0, 9]", "--input", "cond=1", code=1)
    found = sorted((n["graph"], n["name"], n["verdict"]) for n in answer["nodes"])
    assert found == [
        ("main/If_1/else_branch", "inner", "unknown"),
        ("main/If_1/then_branch", "", "ok"),
        ("main/if_3/else_branch", "", "unknown"),
        ("main/if_3/then_branch", "inner", "bad"),
    ]
    assert answer["bad"] == 1


def test_loop_and_scan(path):
    loop = h.make_graph(
        [h.make_node("Identity", ["go"], ["go_on"]), gather_node("in_loop", indices="i", output="row")],
        "l", [value("i", [], T.INT64), value("go", [], T.BOOL)], [value("go_on", [], T.BOOL), value("row", None)])
    scan = h.make_graph([gather_node("in_scan", indices="one", output="s")], "s", [value("one", [], T.INT64)], [value("s", None)])
    nodes = [
        h.make_node("Loop", ["times", ""], ["out_rows"], name="loop", body=loop),
        h.make_node("Scan", ["ids"], ["out_scan"], name="scan", body=scan, num_scan_inputs=1),
    ]
    save(path, nodes, [value("ids", [2], T.INT64)], [table(), tensor(3, "times")])
    found = {n["name"]: n for n in check(path)["nodes"]}
    assert (found["in_loop"]["graph"], found["in_scan"]["graph"]) == ("main/loop/body", "main/scan/body")
    assert (found["in_loop"]["verdict"], found["in_scan"]["verdict"]) == ("ok", "unknown")
    assert "always in [0, 2]" in found["in_loop"]["reason"]  # the number of a round
    for node in found.values():
        assert (node["indices"]["source"], node["output"]["shape"]) == ("computed", [4])


def test_a_function_stands_once_for_each_call(path):
    body = [h.make_node("Constant", [], ["k"], value=tensor([5], "k")), h.make_node("Gather", ["a", "k"], ["b"], name="in_f")]
    function = h.make_function("my", "Pick", ["a"], ["b"], body, [h.make_opsetid("", 11)])
    nodes = [h.make_node("Pick", ["table"], [f"out_{i}"], domain="my") for i in range(2)]
    save(path, nodes, [], [table()], functions=[function], imports=[h.make_opsetid("my", 1)])
    nodes = check(path)["nodes"]
    assert [node["graph"] for node in nodes] == ["main/Pick_0/function:Pick", "main/Pick_1/function:Pick"]
    for node in nodes:
        assert (node["rules"], node["verdict"], node["indices"]["max"]) == ("onnx-11", "ok", 5)


def test_external_data(path):
    model = save(path, [gather_node("g", indices="c")], initializers=[table(), tensor(np.full(2000, 10), "c")])
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert only(check(path, code=1))["indices"]["bad"] == 2000


def test_a_model_without_gather_nodes(path):
    save(path, [h.make_node("Relu", ["x"], ["out_y"])], [value("x", [2])])
    assert check(path)["nodes"] == []
    assert "no gather nodes" in call("check", path)
    assert call("check", path, "-q") == ""


def test_what_is_no_model(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    assert check(tmp_path / "x.npy", code=4)["error"]["status"] == "unsupported"
    assert check(tmp_path / "no.onnx", code=3)["error"]["status"] == "file_not_found"


def test_text(path):
    save(path, [gather_node("g"), gather_node("h", indices="c")], [value("ids", ["N"], T.INT64)], [table(), tensor([10], "c")])
    text = call("check", path, code=1)
    assert "2 gather nodes: 0 ok, 1 unknown, 1 bad" in text
    lines = text.splitlines()
    assert [line.split()[0] + line.split()[-1] for line in lines if line[:1] in ("u", "b")] == ["unknownmain/g", "badmain/h"]
    quiet = call("check", path, "-q", code=1)
    assert "main/h" in quiet and "main/g" not in quiet


def test_info(path):
    names = [f"t{i}" for i in range(30)]
    save(path, [gather_node("g")], [value("ids", ["N"], T.INT64)], [table(), *(tensor([1], n) for n in names)])
    answer = json.loads(call("info", path, "--json"))
    assert answer["gather_nodes"] == 1 and [t["name"] for t in answer["tensors"]] == ["table", *names]
    text = call("info", path)
    assert "and 11 more tensors" in text and "main/g: Gather onnx-13, table by ids, axis 0" in text and "t25" not in text


def lengths(of):
    if not of.type.tensor_type.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or -1 for d in of.type.tensor_type.shape.dim]


SHAPES = [
    ("Gather", ["x", "i"], {"axis": 1}),
    ("Gather", ["x", "i"], {"axis": -1}),
    ("Identity", ["x"], {}),
    ("Relu", ["x"], {}),
    ("Cast", ["x"], {"to": T.FLOAT16}),
    ("Shape", ["x"], {}),
    ("Shape", ["x"], {"start": 1, "end": -1}),
    ("Size", ["x"], {}),
    ("Transpose", ["x"], {}),
    ("Transpose", ["x"], {"perm": [2, 0, 1]}),
    ("Flatten", ["s"], {"axis": 2}),
    ("Concat", ["s", "s"], {"axis": -1}),
    ("Unsqueeze", ["x", "axes"], {}),
    ("Squeeze", ["t", "axes"], {}),
    ("Squeeze", ["t"], {}),
    ("Reshape", ["s", "target"], {}),
    ("Slice", ["s", "starts", "ends", "sliced"], {}),
    ("Add", ["x", "row"], {}),
    ("Mul", ["s", "t"], {}),
    ("Less", ["x", "row"], {}),
    ("MatMul", ["s", "m"], {}),
    ("Expand", ["row", "wide"], {}),
    ("Range", ["zero", "seven", "two"], {}),
]


@pytest.mark.parametrize("op, inputs, attributes", SHAPES, ids=[f"{i}-{s[0]}" for i, s in enumerate(SHAPES)])
def test_shapes_are_those_of_onnx(path, op, inputs, attributes):
    """What comes out of an operator is the data of a Gather: its shape must be the one ONNX infers."""
    declared = [value("x", ["N", 3, 5]), value("i", ["M", 2], T.INT64), value("s", [2, 3, 4]), value("t", [1, 3, 1]), value("row", [5]), value("m", [4, 7])]
    constants = [tensor([0], "axes"), tensor([0, -1], "target"), tensor([1, -3], "starts"), tensor([9, -1], "ends"), tensor([0, 2], "sliced")]
    constants += [tensor([2, 5], "wide"), tensor(0, "zero"), tensor(7, "seven"), tensor(2, "two"), tensor([0], "ids")]
    nodes = [h.make_node(op, inputs, ["y"], **attributes), h.make_node("Gather", ["y", "ids"], ["out_y"], name="probe")]
    model = save(path, nodes, declared, constants, opset=15)
    inferred = {v.name: v for v in onnx.shape_inference.infer_shapes(model, data_prop=True).graph.value_info}
    found = check(path, code=1 if lengths(inferred["y"]) == [] else 0)["nodes"][-1]["data"]
    assert found["name"] == "y" and found["shape"] == lengths(inferred["y"])
    assert found["type"] == np.dtype(h.tensor_dtype_to_np_dtype(inferred["y"].type.tensor_type.elem_type)).name


@pytest.mark.parametrize("opset, rules, verdict", [("opset1", "openvino-1", "bad"), ("opset7", "openvino-7", "bad"), ("opset8", "openvino-8", "ok")])
def test_ir(tmp_path, opset, rules, verdict):
    data, net = "" if opset == "opset1" else '<data batch_dims="0"/>', models.Net()
    sources = [net.parameter("table", "f32", (10, 4)), net.const("ids", "i32", np.array([0, 9, 10], np.int32)), net.const("axis", "i64", np.array(0))]
    net.result(net.node("g", "Gather", opset, data, sources, "f32", (3, 4)), "r")
    path = net.save(tmp_path)
    node = only(check(path, code=verdict == "bad"))
    assert (node["rules"], node["domain"], node["verdict"], node["axis"]) == (rules, opset, verdict, 0)
    assert (node["indices"]["source"], node["indices"]["bad"], node["output"]["shape"]) == ("constant", 1, [3, 4])
    if verdict == "ok":
        text, words = call("check", path), "1 of 3 indices is out of range: zeros under the rules openvino-8"
        assert node["reason"] == words and words in text and "error" not in node
        assert "zeros" in node["runtimes"]["openvino"] and all(f"{name} " in text for name in RUNTIMES)
    assert set(node["runtimes"]) == RUNTIMES


# ---- the types of given inputs, and likely causes


@pytest.mark.parametrize("declared, given", [(T.INT64, np.int32), (T.INT32, np.int64), (T.INT64, np.uint64), (T.INT64, np.float32), (T.INT64, np.bool_)])
def test_an_input_has_the_type_that_the_model_declares(declared, given, path, tmp_path):
    """As run and the runtimes want it; a literal and a text file have no type of their own."""
    save(path, [gather_node("g")], [value("ids", [2], declared)], [table()])
    np.save(tmp_path / "ids.npy", np.array([0, 1], given))
    (tmp_path / "ids.txt").write_text("0 1")
    for verb in ("check", "explain", "run"):
        error = json.loads(call(verb, path, "--json", "--input", f"ids={tmp_path / 'ids.npy'}", code=1))["error"]
        assert (error["status"], error["code"]) == ("type_mismatch", 7)
        assert h.tensor_dtype_to_np_dtype(declared).name in error["message"] and np.dtype(given).name in error["message"]
        for text in ("[0, 1]", tmp_path / "ids.txt"):
            call(verb, path, "--json", "--input", f"ids={text}")
    libgather = pytest.importorskip("libgather")
    model = libgather.Model(path)
    for act in (model.check, model.run, lambda inputs: model.explain(inputs=inputs)):
        with pytest.raises(libgather.GatherTypeError, match="int"):
            act({"ids": np.array([0, 1], given)})
        act({"ids": [0, 1]})


def test_a_value_in_between_that_declares_no_type(path, tmp_path):
    """Its type only follows from other values: literals for it are int64."""
    save(path, [h.make_node("Cast", ["x"], ["ids"], to=T.INT32), gather_node("g")], [value("x", [2])], [table()])
    call("explain", path, "--node", "g", "--input", "ids=[0, 1]")
    save(path, [h.make_node("Cast", ["x"], ["ids"], to=T.INT32), gather_node("g")], [value("x", [2])], [table()], infos=[value("ids", [2], T.INT32)])
    np.save(tmp_path / "ids.npy", np.array([0, 1]))
    assert "int32" in call("explain", path, "--node", "g", "--json", "--input", f"ids={tmp_path / 'ids.npy'}", code=1)
    call("explain", path, "--node", "g", "--input", "ids=[0, 1]")


CAUSES = {
    "one too large": ([10], 10, "the index equals the length of the axis: the indices may count from 1"),
    "one too large, 0-D": (10, 10, "the index equals the length of the axis: the indices may count from 1"),
    "all one too large": ([10, 10], 10, "the largest index equals the length of the axis: the indices may count from 1"),
    "count from 1": ([1, 10], 10, "the largest index equals the length of the axis: the indices may count from 1"),
    "much too large": ([500], 10, "the table has 10 rows and the largest id is 500: it may belong to another vocabulary"),
    "much too large, 0-D": (500, 10, "the table has 10 rows and the largest id is 500: it may belong to another vocabulary"),
    "some": ([3, 12], 10, "the table has 10 rows and the largest id is 12: it may belong to another vocabulary"),
    "all": ([30, 12], 10, "the table has 10 rows and the largest id is 30: it may belong to another vocabulary"),
    "from the end too": ([-10, 12], 10, "the table has 10 rows and the largest id is 12: it may belong to another vocabulary"),
    "one too small": ([-11, 3], 10, "the smallest index is one below the valid range: the indices may be off by one"),
    "too small": ([-13, 3], 10, None),
    "both": ([-13, 13], 10, None),
    "garbage": ([2**50], 10, "an index this large is probably uninitialised memory"),
    "no rows": ([0], 0, "the axis has no elements: an earlier node may have produced an empty tensor"),
}  # fmt: skip


@pytest.mark.parametrize("name", CAUSES)
def test_likely_causes(name, path):
    """Nothing is swapped in a model of one gather."""
    indices, rows, cause = CAUSES[name]
    save(path, [gather_node("g")], [value("ids", None, T.INT64)], [table(rows)])
    assert only(check(path, "--input", f"ids={json.dumps(indices)}", code=1)).get("cause") == cause


def test_a_longer_axis(path):
    save(path, [gather_node("g", axis=1)], [value("ids", None, T.INT64)], [table(10, 4)])
    cause = only(check(path, "--input", "ids=[7]", code=1))["cause"]
    assert cause == "the largest index is 7 and the axis has length 4: the indices may belong to a longer axis"


def test_swapped_inputs(path):
    """Two tables, and ids that fit the other one."""
    nodes = [gather_node("words", indices="ids"), gather_node("types", data="small", indices="kinds")]
    save(path, nodes, [value("ids", [3], T.INT64), value("kinds", [3], T.INT64)], [table(100), table(2, name="small")])
    swapped = "the inputs 'kinds' and 'ids' may be swapped: these indices are in range for the table 'table' of the other node, which has 100 rows"
    for more in ([], ["--input", "ids=[0, 1, 1]"]):
        assert check(path, "--input", "kinds=[7, 30, 99]", *more, code=1)["nodes"][1]["cause"] == swapped
    for kinds, more in (("[7, 30, 100]", []), ("[0, 30, 99]", []), ("[7, 7, 7]", []), ("[7, 30, 99]", ["--input", "ids=[5, 1, 1]"])):
        assert "swapped" not in check(path, "--input", f"kinds={kinds}", *more, code=1)["nodes"][1]["cause"]


# Runtimes do not compare the lengths that two inputs name alike: the one that is given says nothing of the other.
def test_a_length_that_another_input_names_alike(path):
    np.save(path.parent / "x.npy", np.zeros((3, 4), np.float32))
    given = ("--input", f"x={path.parent / 'x.npy'}")
    for index, verdict in ((2, "ok"), (7, "bad")):
        save(path, [gather_node("g", "z", "c")], [value("x", ["N", 4]), value("z", ["N", 4])], [tensor([index], "c")])
        node = only(check(path, *given))
        assert node["verdict"] == "unknown" and "length 3 of the data 'z' along axis 0 is only declared" in node["reason"]
        code = 1 if verdict == "bad" else 0
        assert only(check(path, *given, "--dim", "N=3", code=code))["verdict"] == verdict
        z = ("--input", f"z={path.parent / 'x.npy'}")
        assert only(check(path, *given, *z, code=code))["verdict"] == verdict
