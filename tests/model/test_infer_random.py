# SPDX-License-Identifier: MIT
"""What `gather check` infers, beside onnx's own shape inference and what onnxruntime's outputs really look like.

Each operator of src/model/infer.def stands before a gather node, in models whose inputs have lengths, names or neither.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.reference import ReferenceEvaluator

from infer_cases import Case, Const, In, Shape, all_cases
from support.command import answer
from support.onnx_models import session

TABLE = Path(__file__).resolve().parents[2] / "src/model/infer.def"
ROWS = re.findall(r'^GATHER_INFER\((\w+), "(\w+)", \w+\.\w+, [\w.]+, [\w.]+\)$', TABLE.read_text(), re.M)
SEEDS = range(3)

# No shape says how many elements come out.
LENGTHS_DEPEND_ON_VALUES = {"NonZero"}


def declare(rng, shape, how):
    """The shape as a model may declare it: equal names are equal lengths."""
    choose = {"static": lambda: 0, "named": lambda: 1, "unknown": lambda: 2, "mixed": lambda: rng.integers(0, 3)}[how]
    return [{0: n, 1: f"d{n}", 2: None}[int(choose())] for n in shape]


def build(case, how, rng):
    """The model, the arrays to feed it, and the names of the values that the gather nodes read."""
    inputs, initializers, nodes, feeds, names = [], [], [], {}, []
    for i, entry in enumerate(case.entries):
        if entry is None:
            names.append("")
            continue
        name = f"in{i}"
        names.append(name)
        if isinstance(entry, Const):
            initializers.append(nh.from_array(entry.value, name))
            continue
        source = f"shaped{i}" if isinstance(entry, Shape) else name
        kind = h.np_dtype_to_tensor_dtype(entry.value.dtype)
        inputs.append(h.make_tensor_value_info(source, kind, declare(rng, entry.value.shape, how)))
        feeds[source] = entry.value
        if isinstance(entry, Shape):
            nodes.append(h.make_node("Shape", [source], [name]))
    results = [f"y{i}" for i in range(case.outputs)]
    nodes.append(h.make_node(case.op, names, results, domain=case.domain, **case.attributes))
    zero = nh.from_array(np.array([0], np.int64), "zero")
    outputs = [h.make_empty_tensor_value_info(y) for y in results]
    for y in results:
        more = {"axes": [0]} if case.opset < 13 else {}
        nodes.append(h.make_node("Unsqueeze", [y] if more else [y, "zero"], [f"u_{y}"], **more))
        nodes.append(h.make_node("Gather", [f"u_{y}", "zero"], [f"g_{y}"], name=y))
        outputs.append(h.make_empty_tensor_value_info(f"g_{y}"))
    graph = h.make_graph(nodes, "g", inputs, outputs, [*initializers, zero])
    opsets = [h.make_opsetid("", case.opset)] + ([h.make_opsetid(case.domain, 1)] if case.domain else [])
    return h.make_model(graph, opset_imports=opsets, ir_version=10), feeds, results


def inferred(path):
    return {node["name"]: node for node in answer("check", path)["nodes"]}


def onnx_shapes(model):
    """What onnx knows, by name; names that it made up itself are nothing."""
    try:
        known = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return None
    shapes = {}
    for value in [*known.graph.value_info, *known.graph.output]:
        if value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            given = re.compile(r"d\d+$")
            shapes[value.name] = [
                d.dim_value if d.HasField("dim_value") else d.dim_param if given.match(d.dim_param) else -1 for d in dims
            ]
    return shapes


def real_shapes(model, feeds):
    names = [o.name for o in model.graph.output]
    try:
        outputs = session(model).run(None, feeds)
    except Exception:  # noqa: BLE001  not every version of every operator is in onnxruntime
        outputs = ReferenceEvaluator(model).run(None, feeds)
    return dict(zip(names, (np.shape(o) for o in outputs)))


def length(dim):
    return int(dim[1:]) if isinstance(dim, str) else dim


def fits(ours, real, what):
    """Nothing that is said is untrue."""
    if ours is None:
        return
    assert len(ours) == len(real), (what, ours, real)
    for dim, n in zip(ours, real):
        assert dim == -1 or length(dim) == n, (what, ours, real)


def compare(ours, theirs, what):
    """Where onnx knows, so do we."""
    if theirs is None:
        return
    assert ours is not None and len(ours) == len(theirs), (what, ours, theirs)
    for mine, other in zip(ours, theirs):
        assert other == -1 or mine == other, (what, ours, theirs)


def shape_of(operand):
    return operand.get("shape")


def check_case(case, how, rng, path):
    model, feeds, results = build(case, how, rng)
    onnx.save(model, path)
    nodes, theirs, real = inferred(path), onnx_shapes(model), real_shapes(model, feeds)
    for y in results:
        node, what = nodes[y], (case.op, case.attributes, how, y)
        data, output = shape_of(node["data"]), shape_of(node["output"])
        fits(data, (1, *real[y]), what)
        fits(output, real[f"g_{y}"], what)
        assert shape_of(node["indices"]) == [1]
        if theirs is not None:
            compare(data, theirs.get(f"u_{y}"), what)
            compare(output, theirs.get(f"g_{y}"), what)
        if how == "static" and case.op not in LENGTHS_DEPEND_ON_VALUES:
            assert data is not None and -1 not in data, (what, data)


IDS = [f"{i}-{c.op}" for i, c in enumerate(all_cases(0))]


@pytest.mark.parametrize("number", range(len(IDS)), ids=IDS)
def test_as_onnx_and_as_it_runs(number, tmp_path):
    for seed in SEEDS:
        case = all_cases(seed)[number]
        rng = np.random.default_rng(seed)
        for how in ["static", "named", "unknown", "mixed"] if seed == 0 else ["mixed"]:
            check_case(case, how, rng, tmp_path / "m.onnx")


def test_every_row_has_a_case():
    cases = {("MICROSOFT" if c.domain else "ONNX", c.op) for c in all_cases(0)}
    rows = {("ONNX" if d == "BOTH" else d, op) for d, op in ROWS if d != "OPENVINO"}
    assert len(rows) > 100
    # The reader of files knows constants; the row is for those whose value comes from a function's call (test_run_graphs.py).
    assert rows == cases | {("ONNX", "Constant")}


def test_no_rule_names_an_operator():
    """The table alone says which rule an operator has: a rule that compares names is a second list."""
    names = {f'"{op}"' for op in re.findall(r'^GATHER_\w+\(\w+, "(\w+)"', TABLE.read_text(), re.M)}
    kinds = ("infer_*.c", "elements.c", "values.c", "flow.c", "step.c")
    files = [file for kind in kinds for file in TABLE.parent.glob(kind)]
    assert len(files) > 10
    for file in files:
        assert not names & set(re.findall(r'"\w+"', file.read_text())), file


def test_the_table_is_in_order():
    names = [op.lower() for _, op in ROWS]
    assert names == sorted(names) and len(set(ROWS)) == len(ROWS)


def pooling(rng):
    """A pool with ceil_mode, and whether a partial window at its end begins in the data or before them."""
    op = str(rng.choice(["MaxPool", "AveragePool", "LpPool"]))
    opset = int(rng.choice([18, 22] if op == "LpPool" else [10, 12, 18, 22]))
    length, kernel, step = (int(rng.integers(1, most)) for most in (15, 6, 7))
    begin, end = (int(rng.integers(0, kernel)) if rng.random() < 0.5 else 0 for _ in range(2))
    apart = int(rng.integers(1, 4)) if op == "MaxPool" and rng.random() < 0.4 else 1
    attributes = {"kernel_shape": [kernel], "strides": [step], "pads": [begin, end], "ceil_mode": 1}
    if apart > 1:
        attributes["dilations"] = [apart]
    room = length + begin + end - (kernel - 1) * apart - 1
    last = -(-room // step) * step
    return Case(op, [In(np.ones((1, 1, length), np.float32))], attributes, opset), room, room >= 0 and last < length + begin


def test_ceil_mode_beside_onnx_and_onnxruntime(tmp_path):
    """Where all agree on the length it is known; and no length is said that a runtime does not have."""
    rng, known, unsure = np.random.default_rng(16), 0, 0
    for _ in range(250):
        case, room, agreed = pooling(rng)
        model, feeds, _ = build(case, "static", rng)
        onnx.save(model, tmp_path / "m.onnx")
        ours = shape_of(inferred(tmp_path / "m.onnx")["y0"]["data"])
        if room < 0:  # refused, or one length of some: nothing is promised
            assert ours[3] == -1
            continue
        real = real_shapes(model, feeds)["y0"][2]
        theirs = onnx_shapes(model)["u_y0"][3]
        assert ours[3] in (-1, real) and (not agreed or ours[3] == real == theirs), (case, ours, theirs, real)
        known, unsure = known + agreed, unsure + (theirs != real)
    assert known > 100 and unsure > 10
