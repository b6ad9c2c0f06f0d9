# SPDX-License-Identifier: MIT
"""gather run --node in subgraphs and functions, and gather run beside ONNX Runtime."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import run_models as models
from support.command import EXE, inputs
from support.onnx_models import declared, session
from test_run_onnx import run


@pytest.fixture
def branches(tmp_path):
    """Both branches of an If have a gather of the same name; the table belongs to the graph round them."""
    y = declared({"y": "FLOAT"})
    then = helper.make_graph([helper.make_node("Gather", ["x", "i"], ["y"], "g")], "t", [], y)
    other = helper.make_graph([helper.make_node("Gather", ["x", "i"], ["y"], "g", axis=1)], "e", [], y)
    node = helper.make_node("If", ["c"], ["y"], "if_3", then_branch=then, else_branch=other)
    table = models.tensor_of("x", "FLOAT", np.arange(12, dtype=np.float32).reshape(4, 3))
    return models.save(tmp_path, [node], {"i": ("INT64", [2]), "c": ("BOOL", [])}, {"y": "FLOAT"}, [table], 13)


def test_subgraphs(branches, tmp_path):
    code, answer = run(branches, "--node", "g", "--input", "i=[0, 1]")
    assert (code, answer["error"]["status"]) == (2, "usage")
    for path, wanted in (("then", [[0, 1, 2], [6, 7, 8]]), ("else", [[0, 2], [3, 5], [6, 8], [9, 11]])):
        words = ["--node", f"main/if_3/{path}_branch/g", "--input", "i=[0, 2]", "--output", f"y={tmp_path}/y.npy", "-f"]
        code, answer = run(branches, *words)
        assert code == 0 and np.load(tmp_path / "y.npy").tolist() == wanted, answer
    assert run(branches)[1]["error"]["status"] == "unsupported"


def test_inputs_that_are_missing(branches):
    code, answer = run(branches, "--node", "main/if_3/then_branch/g")
    assert (code, answer["error"]["status"]) == (2, "usage")
    assert "'i'" in answer["error"]["message"] and "'x'" not in answer["error"]["message"]


def test_node_without_a_name(tmp_path):
    """It goes by what it gives, and a cast before it is computed too."""
    nodes = [helper.make_node("Cast", ["i"], ["wide"], to=TensorProto.INT64), helper.make_node("Gather", ["x", "wide"], ["m"])]
    nodes += [helper.make_node("Relu", ["m"], ["y"])]
    table = models.tensor_of("x", "FLOAT", np.arange(6, dtype=np.float32))
    path = models.save(tmp_path, nodes, {"i": ("INT32", [2])}, {"y": "FLOAT"}, [table], 13)
    code, answer = run(path, "--node", "m", *inputs(tmp_path, i=np.array([5, -6], np.int32)), "--output", f"m={tmp_path}/m.npy")
    assert code == 0 and np.load(tmp_path / "m.npy").tolist() == [5, 0], answer
    code, answer = run(path, "--node", "m", "--input", "wide=[6, 0]")
    assert (code, answer["error"]["node"], answer["error"]["value"]) == (1, "m", 6)


def test_strided_and_swapped_inputs(tmp_path):
    """Fortran order and the other byte order, through Reshape and to the output itself."""
    nodes = [helper.make_node(*said) for said in (("Reshape", ["x", "to"], ["flat"]), ("Gather", ["flat", "i"], ["y"]), ("Identity", ["x"], ["z"]))]
    to, given = models.tensor_of("to", "INT64", np.array([0, -1, 1])), {"x": ("FLOAT", [2, 3]), "i": ("INT64", [2])}
    path = models.save(tmp_path, nodes, given, {"y": "FLOAT", "z": "FLOAT"}, [to], 13)
    data = np.asfortranarray(np.arange(6).reshape(2, 3).astype(">f4"))
    words = ["--output", f"y={tmp_path}/y.npy", "--output", f"z={tmp_path}/z.npy"]
    code, answer = run(path, *inputs(tmp_path, x=data, i=np.array([1, -2], ">i8")), *words)
    assert code == 0, answer
    assert np.array_equal(np.load(tmp_path / "y.npy"), data.reshape(2, 3, 1)[[1, -2]])
    assert np.array_equal(np.load(tmp_path / "z.npy"), data)


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE", "INT64", "INT8", "BOOL", "FLOAT16"])
def test_like_onnxruntime(op, kind, tmp_path):
    """Random models give what ONNX Runtime gives (it has no right strings and no complex numbers)."""
    rng = np.random.default_rng(len(kind) * 2 + len(op))
    for axis in (0, 1, -1):
        data = rng.integers(0, 2, (4, 5, 6)).astype(models.BYTE_TYPES[kind])
        shape = (2, 3) if op == "Gather" else (3, 3, 3)
        indices = rng.integers(-4, 4, shape)
        given = {"x": (kind, data.shape), "i": ("INT64", indices.shape)}
        path = models.save(tmp_path, [helper.make_node(op, ["x", "i"], ["y"], axis=axis)], given, {"y": kind}, [], 13)
        wanted = session(path).run(None, {"x": data, "i": indices})[0]
        assert run(path, *inputs(tmp_path, x=data, i=indices), "--output", f"y={tmp_path}/y.npy", "-f")[0] == 0
        assert np.array_equal(np.load(tmp_path / "y.npy"), wanted)


def test_node_without_outputs(tmp_path):
    """Nothing is asked of a node that gives nothing."""
    i, table = {"i": ("INT64", [1])}, models.tensor_of("x", "INT64", np.arange(3))
    path = models.save(tmp_path, [helper.make_node("Gather", ["x", "i"], [], "g")], i, i, [table], 13)
    code, answer = run(path, "--node", "g", "--input", "i=[0]", "--output", f"y={tmp_path}/y.npy")
    assert (code, answer["error"]["status"]) == (3, "name_not_found"), answer
    assert run(path, "--node", "g", "--input", "i=[9]")[1]["error"]["status"] == "index_out_of_range"


def doubling(path, rounds, *, of="indices", wanted=("y",)):
    """A model of some 1.3 KB: one number, concatenated with itself `rounds` times; a gather needs it."""
    nodes = [helper.make_node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], axis=0) for i in range(rounds)]
    names = ["x", f"c{rounds}"] if of == "indices" else [f"c{rounds}", "i"]
    nodes.append(helper.make_node("Gather", names, ["y"], "g"))
    given, constant = {"x": ("INT64", [4]), "i": ("INT64", [2])}, models.tensor_of("c0", "INT64", np.zeros(1, np.int64))
    return models.save(path, nodes, given, dict.fromkeys(wanted, "INT64"), [constant], 13)


# A small process starts the command: the largest size of a process counts that of the one it was forked from, which is large here.
STARTER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(json.dumps([done.returncode, done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]))
"""


def peak(*words):
    """The exit code, what the command printed, and its largest size in MiB (0 with a sanitizer, which adds its own)."""
    line = [sys.executable, "-c", STARTER, EXE, *map(str, words)]
    code, text, most = json.loads(subprocess.run(line, capture_output=True, check=True, timeout=120).stdout)
    return code, text, 0 if os.environ.get("GATHER_SANITIZE") else most


GIVEN = ["--input", "x=[5, 6, 7, 8]", "--input", "i=[0, -1]"]


@pytest.mark.parametrize("of", ["indices", "data"])
def test_values_that_only_gathers_need_are_limited(of, tmp_path):
    path = doubling(tmp_path, 32, of=of)
    for command in (["check", path], ["check", path, "--json"], ["info", path], ["info", path, "--json"]):
        code, text, most = peak(*command)
        assert code == 0 and most < 300, text
    code, text, most = peak("run", path, *GIVEN)
    assert code == 3 and "memory limit for values between nodes" in text and "--memory" in text and most < 900, text
    code, text, most = peak("run", path, *GIVEN, "--memory", "20MB")
    assert code == 3 and most < 100, text
    code, text, most = peak("explain", path, *GIVEN)
    assert (code == 0) == (of == "data") and most < 900, text


def test_the_memory_limit_of_a_run(tmp_path):
    """2^16 numbers are 512 KiB, and those before them as much; outputs do not count."""
    path = doubling(tmp_path, 16)
    for memory, enough in (("100KB", False), ("1000KB", False), ("1MiB", True), ("2MB", True)):
        assert (peak("run", path, *GIVEN, "--memory", memory)[0] == 0) == enough, memory
    path = doubling(tmp_path, 16, wanted=("y", "c16"))
    for memory, enough in (("100KB", False), ("400KB", False), ("512KiB", True)):
        assert (peak("run", path, *GIVEN, "--memory", memory)[0] == 0) == enough, memory
    for memory in ("0", "-1", "x", "1XB"):
        assert run(path, *GIVEN, "--memory", memory)[1]["error"]["status"] == "usage"


@pytest.mark.parametrize("role", ["data", "indices"])
@pytest.mark.parametrize("form", ["initializer", "constant", "outer"])
def test_sparse_tensors_like_onnxruntime(role, form, tmp_path):
    """A check, a run and ONNX Runtime read sparse data and indices, also of an outer graph."""
    dense = {"data": np.array([[0, 5], [0, 0], [7, 0]], np.float32), "indices": np.array([0, 2, 0, -1])}
    chosen = dense[role]
    values = numpy_helper.from_array(chosen[np.nonzero(chosen)], role if form != "constant" else "")
    places = numpy_helper.from_array(np.argwhere(chosen) if chosen.ndim > 1 else np.flatnonzero(chosen))
    sparse = helper.make_sparse_tensor(values, places, chosen.shape)
    other = "indices" if role == "data" else "data"
    table = models.tensor_of(other, "INT64" if other == "indices" else "FLOAT", dense[other])
    gather, y = helper.make_node("Gather", ["data", "indices"], ["y"], "g"), declared({"y": "FLOAT"})
    nodes = [gather]
    if form == "outer":
        body = helper.make_graph([gather], "b", [], y)
        nodes = [helper.make_node("If", ["c"], ["z"], "if", then_branch=body, else_branch=body)]
    elif form == "constant":
        nodes = [helper.make_node("Constant", [], [role], sparse_value=sparse), gather]
    starts, ends = (declared({"c": ("BOOL", [])}), declared({"z": "FLOAT"})) if form == "outer" else ([], y)
    graph = helper.make_graph(nodes, "m", starts, ends, [table], sparse_initializer=[sparse] if form != "constant" else [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    wanted = session(model).run(None, {"c": np.array(True)} if form == "outer" else {})[0]
    code, answer = run(tmp_path / "m.onnx", "--node", "main/if/then_branch/g" if form == "outer" else "g", "--output", tmp_path / "y.npy")
    assert code == 0 and np.array_equal(np.load(tmp_path / "y.npy"), wanted), answer
    assert np.array_equal(wanted, dense["data"][dense["indices"]])
    done = subprocess.run([EXE, "check", str(tmp_path / "m.onnx")], capture_output=True, text=True)
    assert done.returncode == 0 and " 0 unknown, 0 bad" in done.stdout, done.stdout


# ---- the gather of a function, with the values of one call


def own(head, body):
    return f'<domain: "own", opset_import: ["" : 18, "own" : 1]> {head} {{ {body} }}'


PICK = own("pick (d, i) => (r)", "[g] r = Gather (d, i)")
TURN = own("turn <axis> (d, i) => (r)", "[g] r = Gather <axis: int = @axis> (d, i)")
X = np.arange(24, dtype=np.float32).reshape(4, 6)
IDS = np.array([3, 0, -1])
# Body of the main graph, functions, path of the gather; its inputs are x, ids and c, its output y is that of the gather.
CALLS = {
    "inputs": ("[a] y = own.pick (x, ids)", [PICK], "main/a/function:pick/g"),
    "constants": ("k = Constant <value_ints = [1, 2]> () [a] y = own.pick (x, k)", [PICK], "main/a/function:pick/g"),
    "initializer": ("[a] y = own.pick (table, ids)", [PICK], "main/a/function:pick/g"),
    "one of two calls": ("z = own.pick (ids, x2) [a] y = own.pick (x, ids)", [PICK], "main/a/function:pick/g"),
    "nodes of the caller": ("n = Cast <to = 6> (ids) t = Transpose (x) [a] y = own.pick (t, n)", [PICK], "main/a/function:pick/g"),
    "names that are crossed": ("[a] y = own.pick (ids, x2)", [own("pick (x2, ids) => (r)", "[g] r = Gather (x2, ids)")], "main/a/function:pick/g"),
    "call in a call": ("[a] y = own.outer (x, ids)", [PICK, own("outer (t, i) => (r)", "j = Identity (i) [b] r = own.pick (t, j)")], "main/a/function:outer/b/function:pick/g"),
    "call in a branch": ("[if] y = If (c) <then_branch = t () => (o) { j = Identity (ids) [a] o = own.pick (x, j) }, else_branch = e () => (o) { o = Identity (x) }>", [PICK], "main/if/then_branch/a/function:pick/g"),
    "branch in a call": ("[a] y = own.maybe (x, ids, c)", [own("maybe (t, i, q) => (r)", "j = Identity (i) [if] r = If (q) <then_branch = t () => (o) { [g] o = Gather (t, j) }, else_branch = e () => (o) { o = Identity (t) }>")], "main/a/function:maybe/if/then_branch/g"),
    "branch": ("j = Identity (ids) [if] y = If (c) <then_branch = t () => (o) { [g] o = Gather (x, j) }, else_branch = e () => (o) { o = Identity (x) }>", [], "main/if/then_branch/g"),
    "attribute": ("[a] y = own.turn <axis = 1> (x, ids)", [TURN], "main/a/function:turn/g"),
    "attribute left out": ("[a] y = own.turn (x, ids)", [TURN], "main/a/function:turn/g"),
    "attribute with a default": ("[a] y = own.turn (x, ids)", [TURN.replace("<axis>", "<axis: int = 1>")], "main/a/function:turn/g"),
    "default not used": ("[a] y = own.turn <axis = 0> (x, ids)", [TURN.replace("<axis>", "<axis: int = 1>")], "main/a/function:turn/g"),
    "attribute of a call in a call": ("[a] y = own.outer <way = 1> (x, ids)", [TURN, own("outer <way> (t, i) => (r)", "[b] r = own.turn <axis: int = @way> (t, i)")], "main/a/function:outer/b/function:turn/g"),
    "attribute in a branch": ("[a] y = own.maybe <axis = 1> (x, ids, c)", [own("maybe <axis> (t, i, q) => (r)", "[if] r = If (q) <then_branch = t () => (o) { [g] o = Gather <axis: int = @axis> (t, i) }, else_branch = e () => (o) { o = Identity (t) }>")], "main/a/function:maybe/if/then_branch/g"),
    "attribute of another node": ("[a] y = own.flat <shape = [24]> (x, ids)", [own("flat <shape> (d, i) => (r)", "s = Constant <value_ints: ints = @shape> () f = Reshape (d, s) [g] r = Gather (f, i)")], "main/a/function:flat/g"),
    "attribute that is a float": ("[a] y = own.same <f = 2.5> (ids)", [own("same <f> (i) => (r)", "s = Constant <value_ints = [-1]> () k = Constant <value_float: float = @f> () e = Reshape (k, s) d = Concat <axis = 0> (e, e, e, e) [g] r = Gather (d, i)")], "main/a/function:same/g"),
    "default that is a float": ("[a] y = own.same (ids)", [own("same <f: float = 0.5> (i) => (r)", "s = Constant <value_ints = [-1]> () k = Constant <value_float: float = @f> () e = Reshape (k, s) d = Concat <axis = 0> (e, e, e, e) [g] r = Gather (d, i)")], "main/a/function:same/g"),
    "attribute of floats": ("[a] y = own.same <f = [2.5, 1.5, 0.5, 4.0]> (ids)", [own("same <f> (i) => (r)", "d = Constant <value_floats: floats = @f> () [g] r = Gather (d, i)")], "main/a/function:same/g"),
}  # fmt: skip


def call_model(name, folder):
    body, functions, path = CALLS[name]
    text = '<ir_version: 9, opset_import: ["" : 18, "own" : 1]> m (float[4,6] x, int64[n] ids, int64[2] x2, bool c) => '
    kind = "int64" if "crossed" in name else "float"
    text += f"({kind}[] y) <float[3] table = {{5, 6, 7}}> {{ {body} }}"
    model = onnx.parser.parse_model(text)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.functions.extend(onnx.parser.parse_function(function) for function in functions)
    onnx.save(model, folder / "m.onnx")
    return model, path


@pytest.mark.parametrize("name", CALLS)
def test_the_gather_of_a_call_takes_the_values_of_the_call(name, tmp_path):
    """`run --node` and `explain` of it, with inputs of the model only, give what ONNX Runtime gives."""
    model, path = call_model(name, tmp_path)
    ids = np.array([2, 0, -3]) if "table" in CALLS[name][0] else IDS
    feeds = {"x": X, "ids": ids, "x2": np.array([2, 1]), "c": np.array(True)}
    wanted = session(model).run(None, feeds)[0]
    given = inputs(tmp_path, **{key: feeds[key] for key in ("x", "ids", "x2")})
    code, answer = run(tmp_path / "m.onnx", "--node", path, *given, "--output", tmp_path / "out.npy")
    assert code == 0, answer
    saved = np.load(tmp_path / "out.npy")
    assert np.array_equal(saved, wanted) and saved.dtype == wanted.dtype
    code, text, _ = peak("explain", tmp_path / "m.onnx", "--node", path, *given, "--json")
    assert code == 0, text
    assert json.loads(text)["output_shape"] == list(wanted.shape) and json.loads(text)["data_known"], text


def test_a_run_in_a_call_asks_for_the_model_s_inputs(tmp_path):
    """Missing are inputs of the model, also behind nodes of the caller; values of the function and of its caller may be given instead."""
    call_model("call in a call", tmp_path)
    node = ["--node", "main/a/function:outer/b/function:pick/g"]
    code, answer = run(tmp_path / "m.onnx", *node)
    assert code == 2 and "'x', 'ids'" in answer["error"]["message"], answer
    code, answer = run(tmp_path / "m.onnx", *node, "--input", "q=[1]")
    assert (code, answer["error"]["status"]) == (3, "name_not_found") and "'ids'" in answer["error"]["message"], answer
    data = [*inputs(tmp_path, x=X), "--output", tmp_path / "y.npy", "--force"]
    for name in ("ids", "i", "j"):
        assert run(tmp_path / "m.onnx", *node, *data, "--input", f"{name}=[1, 0]")[0] == 0, name
        assert np.array_equal(np.load(tmp_path / "y.npy"), X[[1, 0]])
    code, answer = run(tmp_path / "m.onnx", *node, *data, "--input", "i=[1]", "--input", "i=[0]")
    assert code == 2 and "given twice" in answer["error"]["message"], answer
    code, answer = run(tmp_path / "m.onnx", *node, *data, "--input", "ids=[4]")
    assert code == 1 and (answer["error"]["node"], answer["error"]["value"]) == ("g", 4), answer


def test_a_node_of_a_function_is_named_by_a_call(tmp_path):
    """Without one it would have no values; a function that nothing calls has none either, and takes what is given."""
    given = ["--input", "i=[1]", "--input", "d=[5, 6]"]
    call_model("call in a call", tmp_path)
    for name in ("function:pick/g", "g"):
        code, answer = run(tmp_path / "m.onnx", "--node", name, *given)
        message = answer["error"]["message"]
        assert code == 2 and message.endswith("'pick': name a call of it: 'main/a/function:outer/b/function:pick/g'"), message
    call_model("branch in a call", tmp_path)
    code, answer = run(tmp_path / "m.onnx", "--node", "function:maybe/if/then_branch/g", *given)
    assert code == 2 and "'main/a/function:maybe/if/then_branch/g'" in answer["error"]["message"], answer
    head = '<ir_version: 9, opset_import: ["" : 18, "own" : 1, "other" : 1]> m (float[4,6] x, int64[n] ids) => (float[k] y) '
    model = onnx.parser.parse_model(head + "{ [a] y = own.pick (x, ids) z = own.pick (x, ids) [c] u = own.pick (x, ids) v = own.pick (x, ids) }")
    model.functions.append(onnx.parser.parse_function(PICK))
    model.functions.append(onnx.parser.parse_function(PICK.replace('domain: "own"', 'domain: "other"')))
    onnx.save(model, tmp_path / "m.onnx")
    code, answer = run(tmp_path / "m.onnx", "--node", "main/a/function:own.pick/g")
    assert code == 2 and "missing inputs: 'ids', 'x'" in answer["error"]["message"] or "'x', 'ids'" in answer["error"]["message"], answer
    del model.functions[1]
    onnx.save(model, tmp_path / "m.onnx")
    code, answer = run(tmp_path / "m.onnx", "--node", "function:pick/g", *given)
    wanted = "'main/a/function:pick/g', 'main/pick_1/function:pick/g', 'main/c/function:pick/g', ..."
    assert code == 2 and answer["error"]["message"].endswith(wanted), answer
    del model.graph.node[:]
    onnx.save(model, tmp_path / "m.onnx")
    for name in ("function:pick/g", "g"):
        code, answer = run(tmp_path / "m.onnx", "--node", name, *given)
        assert code == 0, answer


@pytest.mark.parametrize("name", ["f", "function", "own", "n", "own.f"])
def test_names_of_functions_that_are_parts_of_a_path(tmp_path, name):
    model = onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 18, "own" : 1, "f" : 1]> m (float[4,6] x, int64[n] ids) => (float[k] y) '
                                    "{ [a] y = own.pick (x, ids) [b] z = f.pick (x, ids) }")
    model.functions.extend(onnx.parser.parse_function(text) for text in (PICK, PICK.replace('domain: "own"', 'domain: "f"')))
    for node in (*model.graph.node, *model.functions):
        setattr(node, "op_type" if hasattr(node, "op_type") else "name", name)
    onnx.save(model, tmp_path / "m.onnx")
    given = ["--input", "d=[5, 6]", "--input", "i=[1]"]
    for path in (f"main/a/function:own.{name}/g", f"main/b/function:f.{name}/g"):
        assert run(tmp_path / "m.onnx", "--node", path, *given)[0] == 0, path
    code, answer = run(tmp_path / "m.onnx", "--node", f"main/a/function:{name}x/g", *given)
    assert code == 3, answer


def test_an_input_that_a_call_omits(tmp_path):
    head = '<ir_version: 9, opset_import: ["" : 18, "own" : 1]> m (float[4,6] x) => (float[k] y) '
    for call, functions, path, omitted in (
        ("[a] y = own.pick (x)", [PICK], "main/a/function:pick/g", "; 'i' is an input of the function 'pick' that the call 'a' omits"),
        ('[a] y = own.pick (x, "")', [PICK], "main/a/function:pick/g", "; 'i' is an input of the function 'pick' that the call 'a' omits"),
        ("[a] y = own.outer (x)", [PICK, own("outer (t, k) => (r)", "j = Identity (k) [b] r = own.pick (t, j)")],
         "main/a/function:outer/b/function:pick/g", "; 'k' is an input of the function 'outer' that the call 'a' omits"),
    ):  # fmt: skip
        model = onnx.parser.parse_model(head + f"{{ {call} }}")
        model.functions.extend(onnx.parser.parse_function(function) for function in functions)
        onnx.save(model, tmp_path / "m.onnx")
        code, answer = run(tmp_path / "m.onnx", "--node", path)
        assert code == 2 and answer["error"]["message"].endswith(omitted) and "'x'" in answer["error"]["message"], answer
        assert run(tmp_path / "m.onnx", "--node", path, *inputs(tmp_path, x=X), "--input", f"{omitted[3]}=[1]")[0] == 0


@pytest.mark.parametrize(("kind", "value", "shown"), [("value_string: string", '"ab"', '"ab"'), ("value_strings: strings", '["ab", "c"]', '"ab"'),
                                                      ("value: tensor", "float[2] {7, 1}", "7")])
def test_constants_of_every_form_from_a_call(tmp_path, kind, value, shown):
    model = onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 18, "own" : 1]> m (int64[1] ids) => (float[k] y) '
                                    f"{{ [a] y = own.pick <f = {value}> (ids) }}")
    body = f"k = Constant <{kind} = @f> () s = Constant <value_ints = [-1]> () d = Reshape (k, s) [g] r = Gather (d, i)"
    model.functions.append(onnx.parser.parse_function(own("pick <f> (i) => (r)", body)))
    onnx.save(model, tmp_path / "m.onnx")
    given = ["--node", "main/a/function:pick/g", "--input", "ids=[0]"]
    assert run(tmp_path / "m.onnx", *given)[0] == 0
    code, text, _ = peak("explain", tmp_path / "m.onnx", *given)
    picture = text.split("\n\n", 1)[1]  # behind the lines that name the file
    assert code == 0 and picture.count(shown) == 2, text


def test_explain_computes_what_a_call_passes(tmp_path):
    """More indices than a check follows, through nodes of the caller; values of the function may be given."""
    call_model("call in a call", tmp_path)
    node = ["--node", "main/a/function:outer/b/function:pick/g", "--json"]
    for name in ("ids", "i"):
        code, text, _ = peak("explain", tmp_path / "m.onnx", *node, *inputs(tmp_path, x=X, **{name: np.arange(3000) % 4}))
        assert code == 0 and json.loads(text)["output_shape"] == [3000, 6], text
    call_model("nodes of the caller", tmp_path)
    code, text, _ = peak("explain", tmp_path / "m.onnx", "--node", "main/a/function:pick/g", "--json")
    assert code == 2 and "ids" in text, text
