# SPDX-License-Identifier: MIT
"""What `gather check` may conclude of graphs in graphs: shapes that a file only declares, loops that may run no round, calls of functions,
nodes in any order. Each verdict is compared with what ONNX Runtime does: never ok where a node fails, never bad where the model runs."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from onnx import helper as h
from onnx.parser import parse_model

from support import command
from support.onnx_models import session


def check(path, *words):
    return command.asked("check", path, *words)


def model(text, header='ir_version: 9, opset_import: ["" : 18, "own" : 1]'):
    return parse_model(f"<{header}> {text}")


def fails(made, feeds) -> str:
    """The error of ONNX Runtime; "" where the model runs."""
    try:
        session(made, optimised=False).run(None, feeds)
    except Exception as failed:
        return str(failed)
    return ""


def words_of(feeds):
    return [word for name, value in feeds.items() for word in ("--input", f"{name}={json.dumps(np.asarray(value).tolist())}")]


# name, model, what is given and fed, verdict of the node g, what the reason has
ROWS = "float[3,4] t = {0,1,2,3, 4,5,6,7, 8,9,10,11}"
LOOP = (
    "m (int64[] n, bool[] c) => (float[a,b] y) <int64[1] k = {%d}, " + ROWS + "> { z = Loop (n, c, t) <body = b (int64[] i, bool[] on, %s v) "
    "=> (bool[] go, float[q,w] u) { go = Identity(on) [g] s = Gather (v, k) %s }> y = Identity(z) }"
)  # fmt: skip
SAME, GROWS, SHRINKS = "u = Identity(v)", "u = Concat<axis=0>(v, s)", "u = Identity(s)"
COUNTED = (
    "m (int64[] n) => (float[a,b] y) <int64[1] k = {7}, " + ROWS + "> { y = Loop (n, , t) <body = b (int64[] i, bool[] on, float[3,4] v) "
    "=> (bool[] go, float[q,w] u) { go = Identity(on) [g] s = Gather (v, k) u = Identity(v) }> }"
)  # fmt: skip
SCAN = (
    "m (float[N,2] x) => (float[a,b] y) <int64[1] k = {%d}, " + ROWS + "> { z, y = Scan <num_scan_inputs = 1, body = b (%s v, float[2] r) "
    "=> (float[q,w] u, float[2] o) { [g] s = Gather (v, k) %s o = Identity(r) }> (t, x) }"
)  # fmt: skip
ONE, NONE = {"n": np.array(1), "c": np.array(True)}, {"n": np.array(0), "c": np.array(True)}
TWO = {"n": np.array(2), "c": np.array(True)}
STACKED = (
    "m (int64 n, bool c) => (float[a,b] y) <int64[1] k = {%d}, float[4] f = {0,1,2,3}> { z = Loop (n, c) <body = b (int64 i, bool on) => (bool go, float[4] u) "
    "{ go = Identity(on) u = Identity(f) }> [g] y = Gather (z, k) }"
)  # fmt: skip
IF = (
    "m (bool c, float[3] t) => (float[n] y) <int64[1] k = {7}, int64[1] one = {0}> { d = Cast<to=11>(c) e = Cast<to=9>(d) "
    "y = If (%s) <then_branch = a () => (float[n] p) { [g] p = Gather (t, k) }, else_branch = b () => (float[n] q) { q = Gather (t, one) }> }"
)  # fmt: skip

CASES = [
    # declared shapes that lie
    ("a body's input", LOOP % (7, "float[10,4]", SAME), ONE, "bad", "outside [-3, 2]"),
    ("a body's input, in range", LOOP % (2, "float[1,4]", SAME), TWO, "ok", ""),
    ("a carried value that shrinks", LOOP % (2, "float[3,4]", SHRINKS), TWO, "unknown", "only declared"),
    ("a carried value that grows", LOOP % (3, "float[3,4]", GROWS), TWO, "unknown", "only declared"),
    ("one round of a carried value", LOOP % (2, "float[9,4]", SHRINKS), ONE, "ok", ""),
    ("a Scan's carried input", SCAN % (7, "float[10,4]", SAME), {"x": np.zeros((2, 2), np.float32)}, "bad", "outside [-3, 2]"),
    ("value_info", "m (float[N,4] x, int64 n) => (float[a,4] y) <float[9,4] v, int64[1] k = {7}> { s = Range(n, n, n) v = Cast<to=1>(x) [g] y = Gather(v, k) }",
     {"x": np.zeros((3, 4), np.float32), "n": np.array(1)}, "bad", "outside [-3, 2]"),
    ("an output", "m (float[3,4] x) => (float[9,4] v, float[a,4] y) <int64[1] k = {7}> { v = Neg(x) [g] y = Gather(v, k) }", {"x": np.zeros((3, 4), np.float32)}, "bad", "outside"),
    ("a length that nothing infers", "m (float[N] x) => (float[a,1] y) <int64[1,9] v, int64[1] k = {7}> { u = Relu(x) v = NonZero(u) [g] z = Gather<axis=1>(v, k) y = Cast<to=1>(z) }",
     {"x": np.ones(3, np.float32)}, "unknown", "the length 9 of the data 'v' along axis 1 is only declared"),
    ("a name that the input has, too", "m (float[N] x) => (float[a,1] y) <int64[1,N] v, int64[1] k = {2}> { u = Relu(x) v = NonZero(u) [g] z = Gather<axis=1>(v, k) y = Cast<to=1>(z) }",
     {"x": np.array([1, 0, 1], np.float32)}, "unknown", "only declared"),
    # loops without a round, and those of which it is not known
    ("trip count 0", LOOP % (7, "float[3,4]", SAME), NONE, "not executed", "the trip count 'n' is 0 in Loop"),
    ("trip count -1", COUNTED, {"n": np.array(-1)}, "not executed", "the trip count 'n' is -1 in Loop"),
    ("a condition that is false", LOOP % (7, "float[3,4]", SAME), {"n": np.array(3), "c": np.array(False)}, "not executed", "the condition 'c' is false in Loop"),
    ("only a trip count", COUNTED, {"n": np.array(2)}, "bad", "outside [-3, 2]"),
    ("a Scan of length 0", SCAN % (7, "float[3,4]", SAME), {"x": np.zeros((0, 2), np.float32)}, "not executed", "the input 'x' has the length 0 in Scan"),
    ("a condition that is computed", IF % "e", {"c": np.array(False), "t": np.zeros(3, np.float32)}, "unknown", "the condition 'e' of If decides"),
    ("a condition that is given", IF % "c", {"c": np.array(True), "t": np.zeros(3, np.float32)}, "bad", "outside"),
    ("a trip count that is computed", COUNTED.replace("y = Loop (n,", "f = Cast<to=11>(n) h = Cast<to=7>(f) y = Loop (h,"), {"n": np.array(0)}, "unknown", "the trip count 'h' of Loop decides"),
    ("what a loop stacks", STACKED % 2, {"n": np.array(3), "c": np.array(True)}, "ok", ""),
    ("what a loop stacks, beyond", STACKED % 3, {"n": np.array(3), "c": np.array(True)}, "bad", "outside [-3, 2]"),
    ("what no round stacks", STACKED % 0, NONE, "unknown", "not known"),
    ("the number of the round", "m (int64 n) => (float[a,b] y) <" + ROWS + "> { y = Loop (n, ) <body = b (int64 i, bool on) => (bool go, float[q] u) { go = Identity(on) "
     "[g] u = Gather (t, i) }> }", {"n": np.array(9)}, "unknown", ""),
    ("a loop in a loop", "m (int64 n) => (float[a,b] y) <bool yes = {1}, int64[1] k = {2}, " + ROWS + "> { y = Loop (n, yes, t) <body = b (int64 i, bool on, float[3,4] v) => (bool go, float[q,w] u) "
     "{ go = Identity(on) u = Loop (n, on, v) <body = d (int64 j, bool un, float[3,4] r) => (bool ho, float[q,w] p) { ho = Identity(un) [g] p = Gather (r, k) }> }> }",
     {"n": np.array(2)}, "unknown", "only declared"),
    # nodes in any order
    ("a node before the one that it needs", "m (float[3,4] x) => (float[a,4] y) <int64[1] k = {7}> { [g] y = Gather(v, j) v = Neg(w) j = Identity(k) w = Abs(x) }",
     {"x": np.zeros((3, 4), np.float32)}, "bad", "outside [-3, 2]"),
    ("an If before what its branches read", "m (bool c, float[3] x) => (float[n] y) <int64[1] k = {1}> { y = If (c) <then_branch = a () => (float[n] p) { [g] p = Gather (w, k) }, "
     "else_branch = b () => (float[n] q) { q = Identity(w) }> w = Abs(x) }", {"c": np.array(True), "x": np.zeros(3, np.float32)}, "ok", ""),
]  # fmt: skip


def verdict_of(node):
    return "not executed" if node.get("executed") is False else node["verdict"]


@pytest.mark.parametrize("name, text, feeds, verdict, reason", CASES, ids=[case[0] for case in CASES])
def test_verdicts(name, text, feeds, verdict, reason, tmp_path):
    made = model(text)
    onnx.save(made, tmp_path / "m.onnx")
    code, answer = check(tmp_path / "m.onnx", *command.inputs(tmp_path, **feeds))
    node = next(node for node in answer["nodes"] if node["name"] == "g")
    assert verdict_of(node) == verdict and reason in node.get("reason", ""), node
    assert code == (verdict == "bad")
    error = fails(made, feeds)
    assert not (verdict == "ok" and "'g'" in error), error
    assert not (verdict in ("bad",) and not error), "the model runs"
    assert not (verdict == "not executed" and "Gather" in error), error


@pytest.mark.parametrize("fed", [3, 10])
def test_the_runtime_enforces_the_inputs_of_the_model(fed, tmp_path):
    """So their declared lengths are facts."""
    made = model("m (float[10] x) => (float[n] y) <int64[1] k = {7}> { [g] y = Gather(x, k) }")
    onnx.save(made, tmp_path / "m.onnx")
    assert check(tmp_path / "m.onnx")[1]["nodes"][0]["verdict"] == "ok"
    error = fails(made, {"x": np.zeros(fed, np.float32)})
    assert ("invalid dimensions" in error) == (fed == 3), error


def test_contradictions_are_reported(tmp_path):
    onnx.save(model(CASES[0][1]), tmp_path / "m.onnx")
    _, answer = check(tmp_path / "m.onnx", *words_of(ONE))
    assert "the value 'v' of main/Loop_0/body is declared [10, 4], but is [3, 4]" in answer["contradictions"]
    text = command.call("check", tmp_path / "m.onnx").stdout
    assert "contradiction: the value 'v'" in text
    onnx.save(model(CASES[1][1].replace("float[1,4]", "float[r,4]")), tmp_path / "m.onnx")
    assert "contradictions" not in check(tmp_path / "m.onnx", *words_of(ONE))[1]


def test_a_cycle_is_named(tmp_path):
    made = model("m (float[3] x) => (float[n] y) { [g] y = Gather(x, j) j = Identity(i) i = Identity(j) }")
    onnx.save(made, tmp_path / "m.onnx")
    node = check(tmp_path / "m.onnx")[1]["nodes"][0]
    assert node["verdict"] == "unknown" and ("cycle" in node["reason"] or "Identity" in node["reason"]), node


# ---- functions

PICK = "<domain: \"own\", opset_import: [\"\" : 18]> pick (d, i) => (r) { [g] r = Gather (d, i) }"


def with_functions(text, *functions):
    made = model(text)
    for function in functions:
        made.functions.append(onnx.parser.parse_function(function) if isinstance(function, str) else function)
    return made


def test_each_call_of_a_function_is_checked(tmp_path):
    text = "m (float[3] x, float[8] z, int64[1] ids) => (float[n] y, float[n] w, float[n] v) <int64[1] k = {7}> { [a] y = own.pick (x, k) [b] w = own.pick (z, k) [c] v = own.pick (z, ids) }"
    made = with_functions(text, PICK)
    onnx.save(made, tmp_path / "m.onnx")
    code, answer = check(tmp_path / "m.onnx")
    nodes = {node["graph"]: node for node in answer["nodes"]}
    assert {graph: node["verdict"] for graph, node in nodes.items()} == {
        "main/a/function:pick": "bad", "main/b/function:pick": "ok", "main/c/function:pick": "unknown"}  # fmt: skip
    assert nodes["main/c/function:pick"]["give"] == "--input ids=TENSOR" and code == 1
    assert check(tmp_path / "m.onnx", "--input", "ids=[8]")[1]["bad"] == 2
    error = fails(made, {"x": np.zeros(3, np.float32), "z": np.zeros(8, np.float32), "ids": np.array([0])})
    assert "out of data bounds" in error
    for path in ("main/b/function:pick/g", "main/a/function:pick/g"):
        done = command.call("explain", tmp_path / "m.onnx", "--node", path, "--json")
        assert done.returncode == (path[5] == "a"), done
    given = ["--input", "d=[1, 2]", "--input", "i=[1]"]
    done = command.call("run", tmp_path / "m.onnx", "--node", "main/b/function:pick/g", *given)
    assert done.returncode == 0, done


def test_a_function_that_nothing_calls(tmp_path):
    made = with_functions("m (float[3] x) => (float[n] y) <int64[1] k = {7}> { y = Abs (x) }", PICK.replace("(d, i) => (r) {", "(d) => (r) { i = Constant<value_ints=[9]>()"))
    onnx.save(made, tmp_path / "m.onnx")
    code, answer = check(tmp_path / "m.onnx")
    (node,) = answer["nodes"]
    assert code == 0 and node["graph"] == "function:pick" and verdict_of(node) == "not executed" and "no call" in node["reason"]


def test_functions_of_one_name(tmp_path):
    """Domain and overload are in the path where only they tell two functions apart."""
    made = with_functions("m (float[3] x) => (float[n] y) <int64[1] k = {1}> { }", PICK, PICK.replace('"own"', '"other"'))
    overload = onnx.parser.parse_function(PICK)
    overload.overload = "two"
    made.functions.append(overload)
    made.opset_import.append(h.make_opsetid("other", 1))
    for name, domain, which in (("a", "own", ""), ("b", "own", "two"), ("c", "other", "")):
        node = h.make_node("pick", ["x", "k"], [f"y{name}" if name != "c" else "y"], domain=domain, name=name)
        node.overload = which
        made.graph.node.append(node)
    onnx.save(made, tmp_path / "m.onnx")
    _, answer = check(tmp_path / "m.onnx")
    assert [node["graph"] for node in answer["nodes"]] == ["main/a/function:own.pick", "main/b/function:own.pick:two", "main/c/function:other.pick"]
    assert answer["ok"] == 3


# ---- the command

TWO_NODES = "m (float[3] x, int64[1] i) => (float[n] y, float[n] z) <int64[1] k = {7}> { [one] y = Gather(x, k) [two] z = Gather(x, i) }"


def test_node_and_strict(tmp_path):
    made = model(TWO_NODES)
    made.graph.node[1].name = "/two/g"
    onnx.save(made, tmp_path / "m.onnx")
    path = tmp_path / "m.onnx"
    code, answer = check(path, "--node", "one")
    assert code == 1 and [node["name"] for node in answer["nodes"]] == ["one"] and (answer["bad"], answer["unknown"]) == (1, 0)
    for name in ("/two/g", "main/two/g", "main//two/g"):
        code, answer = check(path, "--node", name)
        assert code == 0 and [node["name"] for node in answer["nodes"]] == ["/two/g"]
        assert check(path, "--node", name, "--strict")[0] == 1
        assert check(path, "--node", name, "--strict", "--input", "i=[0]")[0] == 0
    code, answer = check(path, "--node", "three")
    assert code == 3 and answer["error"]["status"] == "name_not_found"
    text = command.call("check", path, "--node", "main/two/g").stdout
    assert "main/two/g\n" in text and "main/one" not in text


def test_what_is_not_executed_is_not_unknown_to_strict(tmp_path):
    onnx.save(model(LOOP % (7, "float[3,4]", SAME)), tmp_path / "m.onnx")
    assert check(tmp_path / "m.onnx", "--strict", *words_of(NONE))[0] == 0
    assert check(tmp_path / "m.onnx", "--strict")[0] == 1


def test_an_if_that_decides_the_length_names_its_condition(tmp_path):
    text = ("m (bool c, float[9] t) => (float[n] y) <int64[1] k = {7}> { d = If (c) <then_branch = a () => (float[n] p) { p = Identity (t) }, "
            "else_branch = b () => (float[n] q) { s = Constant<value_ints=[5]>() o = Constant<value_ints=[0]>() q = Slice (t, o, s) }> [g] y = Gather (d, k) }")  # fmt: skip
    onnx.save(model(text), tmp_path / "m.onnx")
    (node,) = check(tmp_path / "m.onnx")[1]["nodes"]
    assert node["verdict"] == "unknown" and node["give"] == "--input c=TENSOR", node
    assert check(tmp_path / "m.onnx", "--input", "c=1")[1]["ok"] == 1 and check(tmp_path / "m.onnx", "--input", "c=0")[1]["bad"] == 1


def test_a_condition_that_would_decide_is_advised(tmp_path):
    onnx.save(model(IF % "c"), tmp_path / "m.onnx")
    node = check(tmp_path / "m.onnx")[1]["nodes"][0]
    assert node["verdict"] == "unknown" and node["give"] == "--input c=TENSOR" and "the condition 'c' of If decides" in node["reason"]
