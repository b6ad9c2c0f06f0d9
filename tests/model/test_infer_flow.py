# SPDX-License-Identifier: MIT
"""What `gather check` infers through values (shape arithmetic), If, Loop, Scan and calls of functions; against onnxruntime."""

from __future__ import annotations

import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.parser import parse_model

from test_infer_random import fits, inferred, real_shapes, shape_of

HEADER = '<ir_version: 9, opset_import: ["" : 18, "local" : 1]>'

# Lines that make `s`, a list of lengths, from x: float[A,B,3]; static lengths are 4, 5, 3.
VALUES = [
    "shape = Shape(x) one = Constant<value_ints=[1]>() s = Add(shape, one)",
    "shape = Shape(x) two = Constant<value_ints=[2]>() s = Sub(shape, two)",
    "shape = Shape(x) two = Constant<value_int=2>() s = Mul(two, shape)",
    "shape = Shape(x) two = Constant<value_ints=[2, 1, 3]>() s = Div(shape, two)",
    "shape = Shape(x) two = Constant<value_ints=[3]>() s = Mod(shape, two)",
    "shape = Shape(x) four = Constant<value_ints=[4]>() s = Min(shape, four)",
    "shape = Shape(x) four = Constant<value_ints=[4]>() s = Max(shape, four)",
    "shape = Shape(x) minus = Neg(shape) s = Abs(minus)",
    "shape = Shape(x) one = Constant<value_ints=[1]>() s = Concat<axis=0>(shape, one)",
    "shape = Shape(x) at = Constant<value_ints=[2, 0]>() s = Gather(shape, at)",
    "shape = Shape(x) at = Constant<value_int=-1>() one = Gather(shape, at) zero = Constant<value_ints=[0]>() s = Unsqueeze(one, zero)",
    "shape = Shape(x) a = Constant<value_ints=[1]>() b = Constant<value_ints=[9]>() s = Slice(shape, a, b)",
    "shape = Shape(x) a = Constant<value_ints=[-1]>() b = Constant<value_ints=[-9]>() z = Constant<value_ints=[0]>() s = Slice(shape, a, b, z, a)",
    "shape = Shape(x) s, t = Split<num_outputs=2>(shape)",
    "shape = Shape(x) t, s = Split<num_outputs=2>(shape)",
    "shape = Shape(x) small = Cast<to=6>(shape) s = Cast<to=7>(small)",
    "shape = Shape(x) s = ReduceProd<keepdims=1>(shape)",
    "shape = Shape(x) s = ReduceMax<keepdims=1>(shape)",
    "shape = Shape(x) s = ReduceMin<keepdims=1>(shape)",
    "shape = Shape(x) s = ReduceSum<keepdims=1>(shape)",
    "n = Size(x) z = Constant<value_ints=[0]>() s = Unsqueeze(n, z)",
    "shape = Shape(x) m = Constant<value_ints=[4, -1, 3]>() e = Equal(m, shape) k = Constant<value_ints=[2]>() s = Where(e, k, shape)",
    "shape = Shape(x) m = Constant<value_ints=[-1]>() e = Equal(m, shape) k = Constant<value_ints=[2]>() s = Where(e, k, shape)",
    "shape = Shape(x) m = Constant<value_ints=[4]>() e = Less(shape, m) n = Not(e) s = Where(n, m, shape)",
    "shape = Shape(x) m = Constant<value_ints=[4]>() e = GreaterOrEqual(shape, m) f = LessOrEqual(shape, m) n = And(e, f) s = Where(n, m, shape)",
    "shape = Shape(x) m = Constant<value_ints=[4]>() e = Greater(shape, m) f = Less(shape, m) n = Or(e, f) s = Where(n, m, shape)",
    "a = Constant<value_int=1>() b = Constant<value_int=4>() r = Range(a, b, a) s = Identity(r)",
    "l = Constant<value_ints=[2]>() v = Constant<value_int=7>() s = Expand(v, l)",
    "l = Constant<value_ints=[3]>() s = ConstantOfShape<value=int64[1]{2}>(l)",
    "shape = Shape(x) l = Constant<value_ints=[-1]>() s = Reshape(shape, l)",
    "shape = Shape(x) z = Constant<value_ints=[0]>() w = Unsqueeze(shape, z) s = Squeeze(w, z)",
]


# Lines that make `u` itself, and what is known of it by name.
NAMED = [
    ("t = Constant<value_ints=[0, 0, -1]>() u = Reshape(x, t)", ["A", "B", 3]),
    ("t = Constant<value_ints=[0, -1, 3]>() u = Reshape(x, t)", ["A", "B", 3]),
    ("t = Constant<value_ints=[-1, 0, 3]>() u = Reshape(x, t)", ["A", "B", 3]),
    ("t = Constant<value_ints=[0, -1]>() u = Reshape(x, t)", ["A", -1]),
    ("shape = Shape(x) u = Reshape(x, shape)", ["A", "B", 3]),
    ("shape = Shape<end=1>(x) m = Constant<value_ints=[1, 3, -1]>() t = Concat<axis=0>(shape, m) u = Reshape(x, t)", ["A", 1, 3, "B"]),
    ("n = Shape<start=1, end=2>(x) z = Constant<value_int=0>() o = Constant<value_int=1>() e = Gather(n, z) u = Range(z, e, o)", ["B"]),
    ("n = Shape(x) m = Constant<value_ints=[-1]>() e = Equal(n, m) o = Constant<value_ints=[1]>() w = Where(e, o, n) u = Expand(x, w)", ["A", "B", 3]),
    ("u = Transpose<perm=[2, 0, 1]>(x)", [3, "A", "B"]),
    ("z = Constant<value_ints=[1]>() u = ReduceMean<keepdims=1>(x, z)", ["A", 1, 3]),
    ("v = ReduceMax<keepdims=0>(x) z = Constant<value_ints=[0]>() u = Unsqueeze(v, z)", [1]),
]


def read_text(body, x="float[A,B,3] x", functions=""):
    text = f"{HEADER} g ({x}) => (y) {{ {body} z0 = Constant<value_ints=[0]>() g = Gather(u, z0) y = Identity(u) }} {functions}"
    model = parse_model(text.replace(") ", ")\n").replace("=> (y)", "=> (float[K] y)"))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    for node in model.graph.node:
        if node.op_type == "Gather" and node.output[0] == "g":
            node.name = "u"
    return model


def look(model, path):
    onnx.save(model, path)
    return shape_of(inferred(path)["u"]["data"])


@pytest.mark.parametrize("known", ["float[4,5,3] x", "float[A,B,3] x", "float[4,B,C] x", "float[?,?,3] x"])
@pytest.mark.parametrize("lines", VALUES)
def test_shape_arithmetic(lines, known, tmp_path):
    body = lines.replace(") ", ")\n") + "\nu = ConstantOfShape(s)"
    model = read_text(body, known)
    ours = look(model, tmp_path / "m.onnx")
    real = real_shapes(model, {"x": np.zeros((4, 5, 3), np.float32)})["y"]
    lengths = {"A": 4, "B": 5, "C": 3}
    assert ours is not None
    fits([lengths.get(d, d) for d in ours], real, lines)
    if known.startswith("float[4,5,3]"):
        assert -1 not in ours


@pytest.mark.parametrize("lines, wanted", NAMED)
def test_names_are_kept(lines, wanted, tmp_path):
    model = read_text(lines.replace(") ", ")\n"))
    ours = look(model, tmp_path / "m.onnx")
    assert ours == wanted
    real = real_shapes(model, {"x": np.zeros((4, 5, 3), np.float32)})["y"]
    fits([{"A": 4, "B": 5}.get(d, d) for d in ours], real, lines)


def branch(name, shape, dims):
    out = f"{name}_out"
    node = h.make_node("ConstantOfShape", [f"{name}_shape"], [out])
    made = h.make_node("Constant", [], [f"{name}_shape"], value=nh.from_array(np.array(shape, np.int64)))
    return h.make_graph([made, node], name, [], [h.make_tensor_value_info(out, T.FLOAT, dims)])


def flow_model(nodes, inputs, initializers=()):
    last = [
        h.make_node("Constant", [], ["z0"], value=nh.from_array(np.array([0], np.int64))),
        h.make_node("Gather", ["u", "z0"], ["y"], name="u"),
    ]
    outputs = [h.make_empty_tensor_value_info("u"), h.make_empty_tensor_value_info("y")]
    graph = h.make_graph([*nodes, *last], "g", inputs, outputs, list(initializers))
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)


@pytest.mark.parametrize("then, other, condition, wanted", [
    ([2, 3], [2, 3], None, [2, 3]),
    ([2, 3], [2, 4], None, [2, -1]),
    ([2, 3], [2], None, None),
    ([2, 3], [2], True, [2, 3]),
    ([2, 3], [4], False, [4]),
])
def test_if_is_one_of_its_branches(then, other, condition, wanted, tmp_path):
    node = h.make_node("If", ["c"], ["u"], then_branch=branch("t", then, None), else_branch=branch("e", other, None))
    given = [nh.from_array(np.array(condition), "c")] if condition is not None else []
    model = flow_model([node], [] if given else [h.make_tensor_value_info("c", T.BOOL, [])], given)
    ours = look(model, tmp_path / "m.onnx")
    assert ours == wanted
    for c in [True, False] if condition is None else [condition]:
        fits(ours, real_shapes(model, {} if given else {"c": np.array(c)})["u"], "If")


@pytest.mark.parametrize("output, wanted, rounds", [("u", [-1], 0), ("u", [-1], 3), ("s", [-1, -1], 3)])
def test_loop(output, wanted, rounds, tmp_path):
    """A value that grows has no length; those of each round are stacked. Without a round runtimes may put 0 for any length."""
    body = h.make_graph(
        [
            h.make_node("Identity", ["c"], ["c2"]),
            h.make_node("Concat", ["v", "v"], ["w"], axis=0),
            h.make_node("Constant", [], ["k"], value=nh.from_array(np.zeros(2, np.float32))),
        ],
        "b",
        [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("c", T.BOOL, []), h.make_tensor_value_info("v", T.FLOAT, [None])],
        [h.make_tensor_value_info("c2", T.BOOL, []), h.make_tensor_value_info("w", T.FLOAT, [None]), h.make_tensor_value_info("k", T.FLOAT, [2])],
    )
    outputs = ["u", "s"] if output == "u" else ["w_last", "u"]
    node = h.make_node("Loop", ["m", "", "x"], outputs, body=body)
    model = flow_model([node], [h.make_tensor_value_info("m", T.INT64, []), h.make_tensor_value_info("x", T.FLOAT, [1])])
    ours = look(model, tmp_path / "m.onnx")
    assert ours == wanted
    fits(ours, real_shapes(model, {"m": np.array(rounds), "x": np.zeros(1, np.float32)})["u"], "Loop")


@pytest.mark.parametrize("output, wanted", [(0, [2]), (1, ["N", 2]), (2, [2, "N"])])
def test_scan(output, wanted, tmp_path):
    body = h.make_graph(
        [h.make_node("Add", ["a", "e"], ["b"]), h.make_node("Identity", ["b"], ["p"]), h.make_node("Identity", ["b"], ["q"])],
        "b",
        [h.make_tensor_value_info(n, T.FLOAT, [2]) for n in "ae"],
        [h.make_tensor_value_info(n, T.FLOAT, [2]) for n in "bpq"],
    )
    outputs = ["u" if i == output else f"r{i}" for i in range(3)]
    node = h.make_node("Scan", ["x", "seq"], outputs, body=body, num_scan_inputs=1, scan_output_axes=[0, 1])
    inputs = [h.make_tensor_value_info("x", T.FLOAT, [2]), h.make_tensor_value_info("seq", T.FLOAT, ["N", 2])]
    model = flow_model([node], inputs)
    ours = look(model, tmp_path / "m.onnx")
    assert ours == wanted
    feeds = {"x": np.zeros(2, np.float32), "seq": np.zeros((7, 2), np.float32)}
    fits([7 if d == "N" else d for d in ours], real_shapes(model, feeds)["u"], "Scan")


def local(name, inputs, outputs, nodes, attributes=()):
    opsets = [h.make_opsetid("", 18), h.make_opsetid("local", 1)]
    return h.make_function("local", name, inputs, outputs, nodes, opsets, list(attributes))


def call_model(nodes, functions, shape):
    model = flow_model(nodes, [h.make_tensor_value_info("x", T.FLOAT, shape)])
    model.opset_import.append(h.make_opsetid("local", 1))
    model.functions.extend(functions)
    return model


def reference_to(name, kind):
    attribute = onnx.AttributeProto(name=name, ref_attr_name=name, type=kind)
    return attribute


def test_a_call_is_followed_through_the_body(tmp_path):
    turn = h.make_node("Transpose", ["a"], ["t"])
    turn.attribute.append(reference_to("perm", onnx.AttributeProto.INTS))
    inner = local("Turn", ["a"], ["t"], [turn], ["perm"])
    take = h.make_node("Gather", ["b", "k"], ["c"], name="in_body", axis=0)
    three = h.make_node("Constant", [], ["k"], value_ints=[0, 1, 0])
    flat = h.make_node("Flatten", ["t"], ["f"])
    flat.attribute.append(reference_to("axis", onnx.AttributeProto.INT))
    outer = local("Outer", ["b"], ["f"], [three, take, h.make_node("Turn", ["c"], ["t"], domain="local", perm=[2, 0, 1]), flat], ["axis"])
    model = call_model([h.make_node("Outer", ["x"], ["u"], domain="local", axis=2)], [inner, outer], [2, 5, 4])
    onnx.save(model, tmp_path / "m.onnx")
    nodes = inferred(tmp_path / "m.onnx")
    assert set(nodes) == {"u", "in_body"} and nodes["in_body"]["graph"] == "main/Outer_0/function:Outer"
    assert shape_of(nodes["u"]["data"]) == [12, 5]
    fits([12, 5], real_shapes(model, {"x": np.zeros((2, 5, 4), np.float32)})["u"], "call")


def test_an_attribute_that_the_call_leaves_out_is_not_the_operator_s_default(tmp_path):
    flat = h.make_node("Flatten", ["a"], ["f"])
    flat.attribute.append(reference_to("axis", onnx.AttributeProto.INT))
    function = local("F", ["a"], ["f"], [flat])
    function.attribute_proto.append(h.make_attribute("axis", 2))
    model = call_model([h.make_node("F", ["x"], ["u"], domain="local")], [function], [2, 5, 4])
    fits(look(model, tmp_path / "m.onnx"), (10, 4), "default")


def test_calls_in_calls_do_not_grow_without_end(tmp_path):
    """Each function calls the one before twice: 2 to the 60 calls, were they all followed."""
    functions = [local("F0", ["a"], ["b"], [h.make_node("Relu", ["a"], ["b"])])]
    for i in range(1, 61):
        twice = [h.make_node(f"F{i - 1}", [a], [b], domain="local") for a, b in (("a", "m"), ("m", "b"))]
        functions.append(local(f"F{i}", ["a"], ["b"], twice))
    model = call_model([h.make_node("F60", ["x"], ["u"], domain="local")], functions, [2])
    start = time.monotonic()
    fits(look(model, tmp_path / "m.onnx"), (2,), "many calls")
    assert time.monotonic() - start < 10
    model = call_model([h.make_node("F6", ["x"], ["u"], domain="local")], functions, [2])
    assert look(model, tmp_path / "m.onnx") == [2]


def test_a_function_that_calls_itself(tmp_path):
    function = local("F", ["a"], ["b"], [h.make_node("F", ["a"], ["b"], domain="local")])
    model = call_model([h.make_node("F", ["x"], ["u"], domain="local")], [function], [2])
    assert look(model, tmp_path / "m.onnx") is None


def test_the_inferred_counts_where_the_file_says_something_else(tmp_path):
    """Relu leaves 4 elements, whatever the file declares; a length that nobody infers is the declared one."""
    nodes = [h.make_node("Relu", ["x"], ["u"])]
    model = flow_model(nodes, [h.make_tensor_value_info("x", T.FLOAT, [4])])
    model.graph.value_info.append(h.make_tensor_value_info("u", T.FLOAT, [9]))
    del model.graph.output[0]
    assert look(model, tmp_path / "m.onnx") == [4]
    model.graph.node[0].domain, model.graph.node[0].op_type = "else", "Unheard"
    assert look(model, tmp_path / "m.onnx") == [9]


@pytest.mark.parametrize("count", [100_000])
def test_time_is_in_proportion(count, tmp_path):
    def seconds(n):
        nodes = [h.make_node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < n - 1 else "u"]) for i in range(n)]
        model = flow_model(nodes, [h.make_tensor_value_info("x", T.FLOAT, [2, 3, 4])])
        onnx.save(model, tmp_path / "m.onnx")
        start = time.monotonic()
        assert shape_of(inferred(tmp_path / "m.onnx")["u"]["data"]) == [2, 3, 4]
        return time.monotonic() - start

    small, large = seconds(count // 10), seconds(count)
    assert large < 10 and large < 30 * small + 1
