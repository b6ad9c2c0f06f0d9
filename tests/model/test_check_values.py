# SPDX-License-Identifier: MIT
"""`gather check` follows whole integer tensors through the nodes that compute indices: beside what onnxruntime computes."""

from __future__ import annotations

import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.parser import parse_model

from support.command import asked, inputs
from support.onnx_models import session

ROWS = 7  # of the table that is gathered from
SIZES = [(3, 5), (40, 50), (1, 1), (64, 512), (2, 0)]

# Lines that make `u` from a, b: int64[A,B]; n: int64[B]; s: int64[] (never 0); m: bool[A,B].
LINES = [
    "k = Constant<value_ints=[-1]>() v = Unsqueeze(a, k) t = Constant<value_ints=[1, 1, 4]>() u = Expand(v, t)",
    "shape = Shape(a) u = Expand(n, shape)",
    "k = Constant<value_ints=[3, 1, 1]>() u = Expand(a, k)",
    "k = Constant<value_ints=[-1]>() v = Unsqueeze(n, k) t = Constant<value_ints=[1, 6]>() w = Expand(v, t) u = Transpose(w)",
    "k = Constant<value_ints=[1]>() v = Unsqueeze(a, k) t = Constant<value_ints=[1, 3, 1]>() w = Expand(v, t) f = Constant<value_ints=[-1]>() u = Reshape(w, f)",
    "k = Constant<value_ints=[1]>() v = Unsqueeze(a, k) t = Constant<value_ints=[1, 3, 1]>() w = Expand(v, t) u = Flatten<axis=2>(w)",
    "k = Constant<value_ints=[0, 2]>() v = Unsqueeze(a, k) t = Transpose<perm=[3, 0, 1, 2]>(v) u = Squeeze(t)",
    "t = Constant<value_ints=[2, 3]>() u = Tile(a, t)",
    "k = Constant<value_ints=[0]>() v = Unsqueeze(n, k) t = Constant<value_ints=[4, 1]>() u = Tile(v, t)",
    "u = Transpose(a)",
    "t = Transpose(a) f = Constant<value_ints=[-1]>() u = Reshape(t, f)",
    "u = Flatten<axis=0>(a)",
    "x = Constant<value_ints=[1]>() y = Constant<value_ints=[100000]>() z = Constant<value_ints=[-1]>() u = Slice(a, x, y, z)",
    "x = Constant<value_ints=[-1]>() y = Constant<value_ints=[-100000]>() z = Constant<value_ints=[1]>() w = Constant<value_ints=[-2]>() u = Slice(a, x, y, z, w)",
    "x = Constant<value_ints=[0, 1]>() y = Constant<value_ints=[-1, 9]>() u = Slice(a, x, y)",
    "t = Transpose(a) x = Constant<value_ints=[-1, 0]>() y = Constant<value_ints=[-1000, 2]>() z = Constant<value_ints=[0, 1]>() w = Constant<value_ints=[-1, 1]>() v = Slice(t, x, y, z, w) u = Neg(v)",
    "u = Concat<axis=0>(a, b, a)",
    "k = Transpose(b) t = Transpose(k) u = Concat<axis=-1>(a, t)",
    "u = Where(m, a, b)",
    "u = Where(m, a, n)",
    "u = Where(m, s, b)",
    "e = Less(a, b) u = Where(e, a, b)",
    "e = Greater(a, n) f = Equal(a, b) g = Or(e, f) u = Where(g, a, s)",
    "e = LessOrEqual(a, n) f = GreaterOrEqual(a, b) g = And(e, f) i = Not(g) j = Xor(i, m) u = Where(j, b, a)",
    "u = Add(a, b)",
    "u = Add(a, n)",
    "u = Sub(s, a)",
    "u = Mul(a, s)",
    "u = Div(a, s)",
    "u = Mod(a, s)",
    "u = Mod<fmod=1>(a, s)",
    "u = Min(a, n, s)",
    "u = Max(a, b)",
    "u = Max(a)",
    "x = Constant<value_int=-2>() y = Constant<value_int=4>() u = Clip(a, x, y)",
    "y = Constant<value_int=4>() u = Clip(a, , y)",
    "x = Constant<value_int=4>() y = Constant<value_int=1>() u = Clip(a, x, y)",
    "u = Neg(a)",
    "u = Abs(a)",
    "u = Cast<to=6>(a)",
    "x = Cast<to=3>(a) u = Cast<to=7>(x)",
    "x = Cast<to=9>(a) u = Cast<to=7>(x)",
    "u = Cast<to=6>(m)",
    "x = Cast<to=6>(a) y = Cast<to=6>(s) u = Div(x, y)",
    "x = Cast<to=6>(a) y = Cast<to=6>(n) u = Mul(x, y)",
    "x, y, z = Split<num_outputs=3, axis=0>(w) w = Concat<axis=0>(a, b, a) u = Sub(y, z)",
    "k = Constant<value_ints=[0]>() v = Unsqueeze(n, k) w = Concat<axis=0>(v, a) u = Sub(w, s)",
    "shape = Shape(a) k = Constant<value_int=1>() l = Gather(shape, k) z = Constant<value_int=0>() r = Range(z, l, k) u = Add(r, a)",
    "shape = Shape<start=1>(a) q = Squeeze(shape) z = Constant<value_int=9>() k = Constant<value_int=-3>() l = Neg(q) u = Range(z, l, k)",
    "shape = Shape(a) u = ConstantOfShape<value=int64[1]{6}>(shape)",
    "shape = Shape(a) c = ConstantOfShape<value=int32[1]{-3}>(shape) i = Cast<to=7>(c) u = Add(i, b)",
    "z = Constant<value_ints=[0, 2, -1, 1]>() u = Gather<axis=1>(a, z)",
    "x = Constant<value_int=1>() y = Constant<value_int=0>() q = Abs(a) i = Clip(q, y, y) u = GatherElements<axis=0>(b, i)",
    "u = Identity(a)",
    "x = Add(a, b) y = Mul(x, s) k = Constant<value_ints=[0]>() z = Unsqueeze(y, k) t = Constant<value_ints=[2, 1, 1]>() v = Expand(z, t) u = Transpose<perm=[2, 1, 0]>(v)",
]
KINDS = {"a": "int64[A,B] a", "b": "int64[A,B] b", "n": "int64[B] n", "s": "int64 s", "m": "bool[A,B] m"}
FILES = ["a", "b", "n", "s", "m"]


def sorted_lines(body):
    """One line each, in an order in which each is made before it is used (the cases may say it otherwise)."""
    lines, known, done = body.replace(") ", ")\n").split("\n"), set(KINDS) | {""}, []
    while lines:
        for line in lines:
            made = {n.strip() for n in line.split("=", 1)[0].split(",")}
            used = {n.strip() for n in line[line.rindex("(") + 1 : line.rindex(")")].split(",")}
            if used <= known:
                break
        lines.remove(line)
        known |= made
        done.append(line)
    return "\n".join(done)


def build(body, kind="int64"):
    inputs = ", ".join(KINDS[f] for f in FILES)
    text = f'<ir_version: 9, opset_import: ["" : 18]> g ({inputs}) => (float[K] u) {{ {sorted_lines(body)} }}'
    model = parse_model(text)
    model.graph.output[0].CopyFrom(h.make_empty_tensor_value_info("u"))
    return model


def with_gather(model):
    """The same with a gather node behind it, whose bad indices would stop the runtime."""
    model.graph.initializer.append(nh.from_array(np.zeros((ROWS, 2), np.float32), "table"))
    model.graph.node.append(h.make_node("Gather", ["table", "u"], ["looked"], name="look"))
    model.graph.output[0].CopyFrom(h.make_empty_tensor_value_info("looked"))
    return model


def values_of(model, feeds):
    opened = session(model)
    return opened.run(["u"], {i.name: feeds[i.name] for i in opened.get_inputs()})[0]


def check(path, feeds, folder, code=None):
    found, answer = asked("check", path, *inputs(folder, **feeds))
    assert found in ((0, 1) if code is None else (code,)), answer
    return {node["name"]: node for node in answer["nodes"]}


def agree(node, values, what):
    """The node says of its indices what is true of those values."""
    indices, bad = node["indices"], (values < -ROWS) | (values >= ROWS)
    assert node["verdict"] == ("bad" if bad.any() else "ok"), (what, node)
    assert indices["shape"] == list(values.shape) and indices["count"] == values.size, (what, node)
    assert indices["bad"] == bad.sum(), (what, node)
    if values.size:
        assert (indices["min"], indices["max"]) == (values.min(), values.max()), (what, node)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        assert tuple(node["error"]["position"]) == first and node["error"]["value"] == values[first], (what, node)


def random_feeds(rng, rows, columns, reach):
    def integers(*shape):
        return rng.integers(-reach, reach, shape)

    s = np.array(rng.choice([-5, -3, -2, -1, 1, 2, 3, 7]))
    return {"a": integers(rows, columns), "b": integers(rows, columns), "n": integers(columns), "s": s, "m": rng.random((rows, columns)) < 0.5}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("number", range(len(LINES)))
def test_as_onnxruntime_computes_it(number, size, tmp_path):
    rng = np.random.default_rng([number, *size])
    seen = 0
    for reach in (3, 30):
        model, feeds = build(LINES[number]), random_feeds(rng, *size, reach)
        try:
            values = values_of(model, feeds)
        except Exception:  # noqa: BLE001  this case needs longer axes
            continue
        onnx.save(with_gather(model), tmp_path / "m.onnx")
        agree(check(tmp_path / "m.onnx", feeds, tmp_path)["look"], values, LINES[number])
        seen += 1
    assert seen or size != SIZES[0]


def test_shapes_that_are_not_stretched_as_numpy_does(tmp_path):
    """Add-1 may lay the second input along an axis of its choice."""
    model = build("u = Add(a, n)")
    model.opset_import[0].version = 6
    model.graph.node[0].attribute.extend([h.make_attribute("broadcast", 1), h.make_attribute("axis", 0)])
    onnx.save(with_gather(model), tmp_path / "m.onnx")
    feeds = random_feeds(np.random.default_rng(0), 4, 4, 3)
    assert check(tmp_path / "m.onnx", feeds, tmp_path)["look"]["verdict"] == "unknown"


LARGE, SMALL = 2**63 - 1, -(2**63)

# What the documents leave open, or what goes round: a, s, and the lines.
NOT_SURE = [
    ([1, LARGE], 1, "u = Add(a, s)"),
    ([1, SMALL], 1, "u = Sub(a, s)"),
    ([1, 2**40], 2**40, "u = Mul(a, s)"),
    ([1, SMALL], -1, "u = Div(a, s)"),
    ([1, 2], 0, "u = Div(a, s)"),
    ([1, 2], 0, "u = Mod(a, s)"),
    ([1, SMALL], 1, "u = Neg(a)"),
    ([1, SMALL], 1, "u = Abs(a)"),
    ([1, 2**31], 1, "u = Cast<to=6>(a)"),
    ([1, -1], 1, "x = Cast<to=12>(a) u = Cast<to=7>(x)"),
    ([1, 2**30], 2, "x = Cast<to=6>(a) y = Cast<to=6>(s) u = Mul(x, y)"),
    ([1, 2], 1, "x = Cast<to=1>(a) u = Cast<to=7>(x)"),
]


@pytest.mark.parametrize("copies", [1, 1000])
@pytest.mark.parametrize("row, s, lines", NOT_SURE)
def test_what_is_not_sure_is_unknown(row, s, lines, copies, tmp_path):
    a = np.array([row] * copies)
    feeds = {"a": a, "b": a, "n": a[0], "s": np.array(s), "m": a > 0}
    onnx.save(with_gather(build(lines)), tmp_path / "m.onnx")
    assert check(tmp_path / "m.onnx", feeds, tmp_path, code=0)["look"]["verdict"] == "unknown"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
def test_narrow_types(dtype, tmp_path):
    """They stay in their type: what leaves it is unknown."""
    kind = h.np_dtype_to_tensor_dtype(np.dtype(dtype))
    lines = f"x = Cast<to={kind}>(a) y = Cast<to={kind}>(b) v = Add(x, y) t = Transpose(v) u = Cast<to=7>(t)"
    rng = np.random.default_rng(0)
    top = int(min(np.iinfo(dtype).max, 2**62))
    for reach in (4, top):
        feeds = random_feeds(rng, 30, 50, 3)
        feeds["a"], feeds["b"] = (rng.integers(0, reach, (30, 50), endpoint=True) for _ in "ab")
        onnx.save(with_gather(build(lines)), tmp_path / "m.onnx")
        node = check(tmp_path / "m.onnx", feeds, tmp_path)["look"]
        if dtype != "uint64" and (feeds["a"] + feeds["b"]).max() > np.iinfo(dtype).max:
            assert node["verdict"] == "unknown"
        else:
            agree(node, (feeds["a"] + feeds["b"]).T, dtype)


def test_inside_a_branch(tmp_path):
    """A graph in the graph reads what was followed outside."""
    nodes = [h.make_node("Add", ["u", "b"], ["sum"]), h.make_node("Gather", ["table", "sum"], ["t"], name="look")]
    empty = h.make_node("Constant", [], ["e"], value=nh.from_array(np.zeros((1, 2), np.float32)))
    branches = {
        "then_branch": h.make_graph(nodes, "then", [], [h.make_empty_tensor_value_info("t")]),
        "else_branch": h.make_graph([empty], "else", [], [h.make_empty_tensor_value_info("e")]),
    }
    model = build("u = Neg(a)")
    model.graph.node.append(h.make_node("If", ["c"], ["y"], **branches))
    model.graph.input.append(h.make_tensor_value_info("c", T.BOOL, []))
    model.graph.initializer.append(nh.from_array(np.zeros((ROWS, 2), np.float32), "table"))
    model.graph.output[0].name = "y"
    onnx.save(model, tmp_path / "m.onnx")
    feeds = random_feeds(np.random.default_rng(0), 50, 40, 30) | {"c": np.array(True)}
    agree(check(tmp_path / "m.onnx", feeds, tmp_path)["look"], feeds["b"] - feeds["a"], "If")


def test_a_repeated_element_costs_nothing_to_speak_of(tmp_path):
    """Small files may say any length: 2 to the 40 elements, and many nodes that look at 2 to the 23."""
    lines = "k = Constant<value_ints=[1048576, 1048576, 1, 1]>() u = Expand(a, k)"
    model = with_gather(build(lines))
    onnx.save(model, tmp_path / "m.onnx")
    feeds = {"a": np.array([[3]])}
    start = time.monotonic()
    node = check(tmp_path / "m.onnx", feeds, tmp_path, code=0)["look"]
    assert node["verdict"] == "unknown" and "too many" in node["reason"]
    model = with_gather(build(lines.replace("1048576, 1048576", "2048, 4096")))
    for i in range(300):
        model.graph.node.append(h.make_node("Gather", ["table", "u"], [f"y{i}"], name=f"look{i}"))
    onnx.save(model, tmp_path / "m.onnx")
    verdicts = [node["verdict"] for node in check(tmp_path / "m.onnx", feeds, tmp_path, code=0).values()]
    assert verdicts[:2] == ["ok", "ok"] and verdicts[-1] == "unknown"
    assert time.monotonic() - start < 60


def test_a_long_chain_of_large_tensors_leaves_room_for_shapes(tmp_path):
    """What may be followed is bounded; shapes are inferred behind that still."""
    nodes = "v0 = Add(a, b) " + " ".join(f"v{i} = Sub(v{i - 1}, s)" for i in range(1, 600)) + " shape = Shape(v599) u = Reshape(v599, shape)"
    onnx.save(with_gather(build(nodes)), tmp_path / "m.onnx")
    node = check(tmp_path / "m.onnx", random_feeds(np.random.default_rng(0), 100, 100, 3), tmp_path, code=0)["look"]
    assert node["verdict"] == "unknown" and node["indices"]["shape"] == [100, 100]


def advice(path, *line):
    return asked("check", path, *line)[1]["nodes"][-1].get("give")


ADVICE = [
    ("k = Constant<value_ints=[-1]>() v = Unsqueeze(a, k) t = Constant<value_ints=[1, 1, 4]>() u = Expand(v, t)", "--input a=TENSOR"),
    ("shape = Shape(a) k = Constant<value_int=1>() l = Gather(shape, k) z = Constant<value_int=0>() u = Range(z, l, k)", "--input a=TENSOR"),
    ("e = Less(a, b) f = Shape(n) g = ConstantOfShape<value=int64[1]{2}>(f) u = Where(e, a, g)", "--input a=TENSOR --input b=TENSOR --input n=TENSOR"),
    ("u = Where(m, a, b)", "--input m=TENSOR --input a=TENSOR --input b=TENSOR"),
    ("x = Cast<to=1>(a) w = Exp(x) u = Cast<to=7>(w)", "gather explain MODEL --node main/look --input w=TENSOR"),
]


@pytest.mark.parametrize("lines, wanted", ADVICE)
def test_advice_names_the_inputs_that_lead_there(lines, wanted, tmp_path):
    """And what is advised makes the node known."""
    onnx.save(with_gather(build(lines)), tmp_path / "m.onnx")
    given = advice(tmp_path / "m.onnx")
    assert sorted(given.split()) == sorted(wanted.split())
    if not wanted.startswith("--input"):
        return
    feeds = random_feeds(np.random.default_rng(0), 3, 4, 3)
    node = check(tmp_path / "m.onnx", {k: v for k, v in feeds.items() if f"--input {k}=" in given}, tmp_path)["look"]
    assert node["verdict"] != "unknown" or "dimension" in node["reason"]


def test_nothing_is_advised_that_was_given(tmp_path):
    onnx.save(with_gather(build("u = Add(a, b)")), tmp_path / "m.onnx")
    assert advice(tmp_path / "m.onnx", "--input", "a=[[1, 2]]") == "--input b=TENSOR"
    assert advice(tmp_path / "m.onnx", "--input", "a=[[9223372036854775807]]", "--input", "b=[[1]]") is None


DECLARED = [
    # what the file declares of s, what is given, and what is advised
    ("rows", ["--dim", "A=3"], "--input m=TENSOR"),  # the name of an input's length, which no fact ties to that of s
    ("rows", [], "--input m=TENSOR"),
    ("A", [], "--input m=TENSOR"),
    ("free", [], "--dim free=LENGTH"),  # no input has that name: it speaks of s
    (None, [], "--input m=TENSOR"),
]


@pytest.mark.parametrize("declared, given, wanted", DECLARED)
def test_a_length_is_advised_where_it_helps(declared, given, wanted, tmp_path):
    """A name that is only declared of a value, where an input has that name, is none of that value."""
    nodes = [h.make_node("NonZero", ["m"], ["s"]), h.make_node("Gather", ["s", "i"], ["y"], name="look", axis=1)]
    shape = None if declared is None else [2, declared]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("m", T.BOOL, ["A", "rows"])], [h.make_tensor_value_info("y", T.INT64, None)],
                         [nh.from_array(np.array(2, np.int64), "i")], value_info=[h.make_tensor_value_info("s", T.INT64, shape)] if shape else [])  # fmt: skip
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8), tmp_path / "m.onnx")
    assert advice(tmp_path / "m.onnx", *given) == wanted
    assert advice(tmp_path / "m.onnx", "--input", "m=[[true, true, true]]") is None
