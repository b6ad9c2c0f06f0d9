# SPDX-License-Identifier: MIT
"""Indices that are computed when the model runs, and in range whatever its inputs are; and those that follow from the order of known
elements (ArgMax, ArgMin, TopK, NonZero), beside what ONNX Runtime computes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.parser import parse_model

from support.command import asked
from support.onnx_models import session

ROWS = 6
INPUTS = "int64[N] i, int32[N] small, uint8[N] byte, float[A,6] f, float[A,B] g, bool[N] b, int64 n"

# Lines that make `ids`, and whether each of them is in [0, 5] or [-6, -1] whatever the inputs are.
BOUNDS = [
    ("m = Constant<value_int=6>() ids = Mod(i, m)", True),
    ("m = Constant<value_int=7>() ids = Mod(i, m)", False),
    ("m = Constant<value_int=-6>() ids = Mod(i, m)", False),
    ("m = Constant<value_int=6>() ids = Mod<fmod=1>(i, m)", True),
    ("m = Constant<value_int=7>() ids = Mod<fmod=1>(i, m)", False),
    ("ids = Mod(i, n)", False),
    ("l = Constant<value_int=0>() h = Constant<value_int=5>() a = Max(i, l) ids = Min(a, h)", True),
    ("l = Constant<value_int=0>() a = Max(i, l) ids = Identity(a)", False),
    ("h = Constant<value_int=5>() a = Min(i, h) ids = Identity(a)", False),
    ("l = Constant<value_int=-6>() h = Constant<value_int=5>() ids = Clip(i, l, h)", True),
    ("l = Constant<value_int=-7>() h = Constant<value_int=5>() ids = Clip(i, l, h)", False),
    ("l = Constant<value_int=0>() ids = Clip(i, l)", False),
    ("ids = ArgMax<axis=1>(f)", True),
    ("ids = ArgMin<axis=-1, keepdims=0>(f)", True),
    ("ids = ArgMax<axis=0>(f)", False),
    ("ids = ArgMax<axis=1>(g)", False),
    ("k = Constant<value_ints=[2]>() v, ids = TopK(f, k)", True),
    ("k = Constant<value_ints=[2]>() v, ids = TopK<axis=0>(f, k)", False),
    ("c = Constant<value_int=2>() a = Cast<to=7>(byte) ids = Mod(a, c)", True),
    ("c = Constant<value_int=64>() a = Cast<to=7>(byte) ids = Div(a, c)", True),
    ("c = Constant<value_int=32>() a = Cast<to=7>(byte) ids = Div(a, c)", False),
    ("a = Cast<to=7>(byte) ids = Identity(a)", False),
    ("ids = Cast<to=6>(b)", True),
    ("c = Constant<value_int=5>() a = Cast<to=7>(b) ids = Mul(a, c)", True),
    ("c = Constant<value_int=6>() a = Cast<to=7>(b) ids = Mul(a, c)", False),
    ("c = Constant<value_int=6>() a = Cast<to=7>(b) ids = Sub(a, c)", True),
    ("c = Constant<value_int=7>() a = Cast<to=7>(b) ids = Sub(a, c)", False),
    ("a = Cast<to=7>(b) d = Add(a, a) e = Add(d, d) z = Add(e, a) ids = Neg(z)", True),
    ("c = Constant<value_int=1>() a = Add(i, c) m = Constant<value_int=0>() ids = Min(a, m)", False),
    ("c = Constant<value_int=9223372036854775807>() l = Constant<value_int=0>() a = Max(i, l) d = Add(a, c) ids = Min(d, l)", False),
    ("x = Constant<value_ints=[0, 3]>() a = Cast<to=7>(b) ids = Concat<axis=0>(x, a)", True),
    ("x = Constant<value_ints=[0, 6]>() a = Cast<to=7>(b) ids = Concat<axis=0>(x, a)", False),
    ("v = Constant<value_int=-6>() w = Constant<value_int=5>() ids = Where(b, v, w)", True),
    ("v = Constant<value_int=-6>() w = Constant<value_int=6>() ids = Where(b, v, w)", False),
    ("m = Constant<value_int=6>() a = Mod(i, m) s = Shape(g) t = Tile(a, n1) n1 = Constant<value_ints=[2]>() ids = Identity(t)", True),
    ("m = Constant<value_int=6>() a = Mod(i, m) z = Constant<value_ints=[0]>() ids = Unsqueeze(a, z)", True),
    ("m = Constant<value_int=6>() a = Mod(i, m) t = Constant<value_ints=[-1, 1]>() r = Reshape(a, t) p = Transpose(r) ids = Flatten(p)", True),
    ("m = Constant<value_int=6>() a = Mod(i, m) v = Constant<value_ints=[0]>() w = Constant<value_ints=[2]>() ids = Slice(a, v, w)", True),
    ("m = Constant<value_int=6>() a = Mod(i, m) ids = Gather(a, z) z = Constant<value_ints=[0]>()", True),
    ("m = Constant<value_int=6>() z = Constant<value_int=0>() o = Constant<value_int=1>() e = Min(n, m) ids = Range(z, e, o)", True),
    ("m = Constant<value_int=7>() z = Constant<value_int=0>() o = Constant<value_int=1>() e = Min(n, m) ids = Range(z, e, o)", False),
    ("z = Constant<value_int=0>() o = Constant<value_int=1>() e = Cast<to=7>(n) ids = Range(z, e, o)", False),
    ("m = Constant<value_int=6>() t = Constant<value_int=-7>() z = Constant<value_int=5>() o = Constant<value_int=-1>() e = Max(n, o) ids = Range(z, e, o)", True),
    ("m = Constant<value_ints=[3]>() s = Mod(i, m) a = Cast<to=6>(s) ids = Cast<to=7>(a)", True),
]


def model_of(lines: str, inputs: str = INPUTS):
    body = lines.replace(") ", ")\n") + "\n y = Gather(table, ids)"
    model = parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs}) => (float[K] y) {{ {body} }}')
    order = sorted(range(len(model.graph.node)), key=lambda n: model.graph.node[n].op_type != "Constant")
    nodes = [model.graph.node[n] for n in order]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.append(nh.from_array(np.arange(ROWS, dtype=np.float32), "table"))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.node[-1].name = "g"
    return model


def checked(model, path, *words) -> dict:
    onnx.save(model, path)
    code, answer = asked("check", path, *words)
    assert code in (0, 1), answer
    return {node["name"]: node for node in answer["nodes"]}["g"]


def drawn(rng, kind: int, shape):
    dtype = h.tensor_dtype_to_np_dtype(kind)
    if dtype == bool:
        return rng.random(shape) < 0.5
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    ends = np.iinfo(dtype)
    array = np.asarray(rng.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True))
    if array.size and rng.random() < 0.5:
        array.reshape(-1)[0] = rng.choice([ends.min, ends.max])
    return array


def feeds_of(model, rng) -> dict:
    lengths = {"N": 3, "A": int(rng.integers(1, 9)), "B": int(rng.integers(1, 9))}
    feeds = {}
    for value in model.graph.input:
        shape = [d.dim_value or lengths[d.dim_param] for d in value.type.tensor_type.shape.dim]
        feeds[value.name] = drawn(rng, value.type.tensor_type.elem_type, shape)
    feeds["n"] = np.array(rng.integers(-3, 12))  # a length, which a Range makes
    return feeds


@pytest.mark.parametrize("lines, safe", BOUNDS)
def test_in_range_whatever_the_inputs_are(lines, safe, tmp_path):
    model = model_of(lines)
    node = checked(model, tmp_path / "m.onnx")
    assert node["verdict"] == ("ok" if safe else "unknown"), node
    assert "min" not in node["indices"] and ("always in [" in node["reason"]) == safe
    opened, rng = session(model, optimised=False), np.random.default_rng(0)
    for _ in range(20 if safe else 0):
        opened.run(None, feeds_of(model, rng))


def test_the_length_must_be_known(tmp_path):
    model = model_of("m = Constant<value_int=6>() ids = Mod(i, m)")
    del model.graph.initializer[:]
    model.graph.input.append(h.make_tensor_value_info("table", T.FLOAT, ["R"]))
    assert checked(model, tmp_path / "m.onnx")["verdict"] == "unknown"
    assert checked(model, tmp_path / "m.onnx", "--dim", "R=6")["verdict"] == "ok"
    assert checked(model, tmp_path / "m.onnx", "--dim", "R=5")["verdict"] == "unknown"


@pytest.mark.parametrize("opset, verdict", [(10, "unknown"), (11, "ok")])
def test_negative_indices_need_rules_that_have_them(opset, verdict, tmp_path):
    model = model_of("m = Constant<value_int=6>() ids = Mod<fmod=1>(i, m)")
    model.opset_import[0].version = opset
    assert checked(model, tmp_path / "m.onnx")["verdict"] == verdict


@pytest.mark.parametrize("op, indices, data, verdict", [
    ("GatherElements", [2, 2], [6, 2], "ok"), ("GatherElements", ["N", 2], [6, 2], "ok"), ("GatherElements", [2, "N"], [6, 2], "unknown"),
    ("GatherElements", [2, 3], [6, "N"], "unknown"), ("GatherElements", [2, 1], [6, 4], "ok"),
    ("GatherND", ["N", 2], [6, 6], "ok"), ("GatherND", ["N", 2], [6, 5], "unknown"), ("GatherND", ["N", "M"], [6, 6], "unknown"),
])  # fmt: skip
def test_lengths_that_data_and_indices_share(op, indices, data, verdict, tmp_path):
    """A length that is not known may not fit."""
    nodes = [h.make_node("Mod", ["i", "m"], ["ids"]), h.make_node(op, ["x", "ids"], ["y"], name="g")]
    inputs = [h.make_tensor_value_info("i", T.INT64, indices), h.make_tensor_value_info("x", T.FLOAT, data)]
    graph = h.make_graph(nodes, "g", inputs, [h.make_empty_tensor_value_info("y")], [nh.from_array(np.array(6), "m")])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)
    assert checked(model, tmp_path / "m.onnx")["verdict"] == verdict


def test_constants_off_the_axis_of_data_that_is_not_known(tmp_path):
    """Constant indices of GatherElements that are longer than the data may be: ONNX Runtime refuses them when it is."""
    nodes = [h.make_node("GatherElements", ["x", "ids"], ["y"], name="g", axis=1)]
    inputs = [h.make_tensor_value_info("x", T.FLOAT, ["R", 2])]
    graph = h.make_graph(nodes, "g", inputs, [h.make_empty_tensor_value_info("y")], [nh.from_array(np.array([[0], [1]]), "ids")])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)
    assert checked(model, tmp_path / "m.onnx")["verdict"] == "unknown"
    assert checked(model, tmp_path / "m.onnx", "--dim", "R=2")["verdict"] == "ok"
    assert checked(model, tmp_path / "m.onnx", "--dim", "R=1")["verdict"] == "bad"
    with pytest.raises(Exception, match="shape should have values within bounds"):
        session(model, optimised=False).run(None, {"x": np.zeros((1, 2), np.float32)})


# ---- the order of known elements

FLOATS = [-np.inf, -3.5, -0.0, 0.0, 1e-45, 2.0, 2.0, np.inf]
ORDER = [("ArgMax", {"axis": axis, "keepdims": keep}) for axis in (0, 1, -1) for keep in (0, 1)]
ORDER += [("ArgMin", {"axis": 1}), ("ArgMin", {"axis": -2, "keepdims": 0}), ("NonZero", {})]
ORDER += [("TopK", {"axis": axis, "largest": largest}) for axis in (0, -1) for largest in (0, 1)]
DTYPES = {"ArgMax": ("float32", "float64", "float16", "int32", "int8", "uint8"), "ArgMin": ("float32", "float64", "int32"),
          "NonZero": ("float32", "int32", "int64", "bool", "uint8"), "TopK": ("float32", "float64", "int64", "int32")}  # fmt: skip


def elements(rng, dtype: str, shape) -> np.ndarray:
    if dtype.startswith("float"):
        return rng.choice(FLOATS, shape).astype(dtype)
    return rng.integers(0, 3, shape).astype(dtype) if dtype in ("bool", "uint8") else rng.choice([-128, -1, 0, 1, 127], shape).astype(dtype)


def found_by(op: str, attributes: dict, x: np.ndarray):
    """The model that gathers by what `op` finds in x, whose values are in the model."""
    constants = [nh.from_array(x, "x"), nh.from_array(np.zeros(200, np.float32), "table")]
    names, outputs = ["x"], ["ids"]
    if op == "TopK":
        constants.append(nh.from_array(np.array([2]), "k"))
        names, outputs = ["x", "k"], ["values", "ids"]
    nodes = [h.make_node(op, names, outputs, **attributes), h.make_node("Gather", ["table", "ids"], ["y"], name="g")]
    graph = h.make_graph(nodes, "g", [], [h.make_tensor_value_info("ids", T.INT64, None), h.make_empty_tensor_value_info("y")], constants)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("op, attributes", ORDER)
def test_where_known_elements_are(op, attributes, tmp_path):
    rng = np.random.default_rng(1)
    for dtype in DTYPES[op]:
        for shape in ([4, 5], [3, 2, 4], [2, 2, 1, 3]):
            model = found_by(op, attributes, elements(rng, dtype, shape))
            real = session(model, optimised=False).run(["ids"], {})[0]
            node = checked(model, tmp_path / "m.onnx")
            said = node["indices"]
            assert node["verdict"] == "ok" and said["shape"] == list(real.shape), (dtype, shape, node)
            assert not real.size or (said["min"], said["max"]) == (real.min(), real.max()), (dtype, shape, real)
            assert_some(model, real, tmp_path, dtype)


def assert_some(model, real: np.ndarray, tmp_path, dtype: str) -> None:
    """Some elements, one by one."""
    nodes = model.graph.node
    for at in {0, real.size // 2, real.size - 1} if real.size else ():
        small = onnx.ModelProto()
        small.CopyFrom(model)
        del small.graph.node[len(nodes) - 1 :]
        small.graph.initializer.extend([nh.from_array(np.array([-1]), "flat"), nh.from_array(np.array([at]), "at")])
        small.graph.node.append(h.make_node("Reshape", ["ids", "flat"], ["list"]))
        small.graph.node.append(h.make_node("Gather", ["list", "at"], ["one"], name="pick"))
        small.graph.node.append(h.make_node("Gather", ["table", "one"], ["y"], name="g"))
        said = checked(small, tmp_path / "m.onnx")["indices"]
        assert said["min"] == said["max"] == real.ravel()[at], (dtype, at, real)


@pytest.mark.parametrize("op, attributes, x", [
    ("ArgMax", {"axis": 0}, [1.0, np.nan]), ("ArgMin", {"axis": 0}, [np.nan, 1.0]), ("NonZero", {}, [0.0, np.nan]),
    ("TopK", {"axis": 0}, [1.0, np.nan, 3.0]), ("TopK", {"axis": 0, "sorted": 0}, [1.0, 2.0, 3.0]), ("ArgMax", {"axis": 0, "select_last_index": 1}, [1.0, 1.0]),
])  # fmt: skip
def test_what_runtimes_may_order_otherwise(op, attributes, x, tmp_path):
    node = checked(found_by(op, attributes, np.array(x, np.float32)), tmp_path / "m.onnx")
    assert "min" not in node["indices"]  # the places are in range all the same
    assert node["verdict"] == "ok"
