# SPDX-License-Identifier: MIT
"""Models of ONNX at random, and what to feed them: graphs in graphs (If, Loop, Scan), functions with overloads, and declarations of shapes
that are right, missing or wrong. model_of(seed) is the same each time.

    python random_models.py SEED        prints the model's text and its inputs
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

import numpy as np
from onnx import helper

from random_graph import BFLOAT16, FAR, IR_OF, STRING, Graph, Impossible, Root, Settings, Value, content
from random_nodes import INT64, NODES, data, stretches, whole

LOCAL = "local"
ROUNDS = 4  # most rounds of a loop
BOOL = np.dtype(bool)


@dataclass
class Model:
    proto: object
    feeds: dict[str, np.ndarray]
    more: dict[str, np.ndarray]  # what else it may be fed: other numbers, and lengths where the declaration leaves them open
    guides: dict[str, np.ndarray] = field(default_factory=dict)  # of the values of the main graph


def scalar(g: Graph, value, dtype=INT64) -> Value:
    return g.leaf(np.array(value, dtype))


# ---- conditions


def condition(g: Graph) -> Value:
    """A scalar condition: given, constant, or computed in ways of which some are hard to follow."""
    how = g.rng.randint(0, 5)
    if how == 0:
        return g.constant(np.array(g.rng.random() < 0.5))
    if how == 1:
        return g.feed(np.array(g.rng.random() < 0.5))
    if how == 2:
        return g.pick(lambda a: a.dtype == BOOL and a.ndim == 0)
    if how == 3:
        x = g.pick(lambda a: a.dtype == INT64 and a.ndim == 0)
        return _compared(g, x)
    if how == 4:
        x = g.pick(lambda a: a.dtype.name in ("int64", "int32", "float32") and a.ndim == 0)
        real = g.add("Cast", [x], lambda a: [a.astype(np.float64)], to=11)
        return g.add("Cast", [real], lambda a: [a.astype(bool)], to=9)
    x = g.pick(lambda a: a.dtype == np.float32 and a.ndim == 1 and a.size)
    best = g.add("ArgMax", [x], lambda a: [np.asarray(np.argmax(a, 0), np.int64)], axis=0, keepdims=0)
    return _compared(g, best)


def _compared(g: Graph, x: Value) -> Value:
    op, compute = g.rng.choice((("Less", np.less), ("Greater", np.greater), ("Equal", np.equal)))
    return g.add(op, [x, scalar(g, g.rng.randint(0, 4))], lambda a, b: [compute(a, b)])


# ---- graphs in graphs


def child(g: Graph) -> Graph:
    if g.depth >= g.root.settings.depth:
        raise Impossible
    return Graph(g.root, g, g.depth + 1)


def result(body: Graph, dtype=None) -> Value:
    """An output of a body: a value that it makes, of the type that is wanted."""
    written = {name for node in body.nodes for name in node.outputs} - body.results
    made = [v for v in body.own if v.is_tensor and v.name in written and (dtype is None or v.array.dtype == dtype)]
    if made and body.rng.random() < 0.8:
        chosen = made[-1 - int(len(made) * body.rng.random() ** 3)]
    else:
        chosen = body.add("Identity", [body.pick(lambda a: dtype is None or a.dtype == dtype)], lambda a: [a])
    body.results.add(chosen.name)
    return chosen


def if_(g: Graph):
    c = condition(g)
    taken, other = child(g), child(g)
    kept = g.root.settings.bad
    names = g.root.state()
    grow(taken, g.rng.randint(1, 4))
    names_after = g.root.state()
    g.root.begin(names)
    g.root.settings.bad = min(kept * 4, 0.5)  # an index in a branch that is not taken may be any
    grow(other, g.rng.randint(1, 4))
    g.root.settings.bad = kept
    g.root.go_on_after(names_after)
    count = g.rng.choice((1, 1, 2))
    first = [result(taken) for _ in range(count)]
    second = [result(other, v.array.dtype) for v in first]
    then, else_ = (taken, first), (other, second)
    if not bool(c.array):
        then, else_ = else_, then
    names = [v.name for v in g.visible()]

    def compute(c, *around):
        graph, outs = then if bool(c) else else_
        found = graph.run(dict(zip(names, around)))
        return [found[v.name] for v in outs]

    graphs = {"then_branch": then[0].proto("t", [], then[1]), "else_branch": else_[0].proto("e", [], else_[1])}
    return flow(g, "If", [c], compute, count, **graphs)


def flow(g: Graph, op: str, inputs: list, compute, count: int, **attributes):
    """A node whose graphs read the values around it: `compute` has their guides after those of the inputs."""
    around = g.visible()
    arrays, now = [v.array for v in around], True

    def with_those_around(*given):
        return compute(*given, *(arrays if now else ()))

    made = g.add(op, inputs, with_those_around, count, **attributes)
    g.nodes[-1].inputs = [*g.nodes[-1].inputs, *(v.name for v in around)]  # of run(); in the file are only the node's own
    now = False
    return made


def carried(g: Graph, body: Graph, value: Value) -> Value:
    after = next_round(g, body, value)
    body.results.add(after.name)
    return after


def next_round(g: Graph, body: Graph, value: Value) -> Value:
    """A loop's value after a round: the same, one of the same shape, or one that grows or shrinks."""
    if isinstance(value.array, list):
        item = body.pick(lambda a: a.dtype == value.array[0].dtype)
        return body.add("SequenceInsert", [value, item], lambda s, a: [[*s, a]])
    how = body.rng.randint(0, 4)
    if how == 1 and value.array.ndim >= 1:
        return body.add("Concat", [value, value], lambda a, b: [np.concatenate([a, b])], axis=0)
    if how == 2 and value.array.dtype.name in ("int64", "float32"):
        one = body.constant(np.array(1, value.array.dtype))
        return body.add("Add", [value, one], lambda a, b: [a + b])
    if how >= 3:
        return result(body, value.array.dtype)
    return body.add("Identity", [value], lambda a: [a])


def trips(g: Graph) -> Value | None:
    how = g.rng.randint(0, 5)
    if how == 0:
        return g.pick(lambda a: a.dtype == INT64 and a.ndim == 0 and -2 <= int(a) <= ROUNDS)
    if how == 1:
        x = g.pick(lambda a: a.dtype.kind in "if" and a.dtype != BFLOAT16 and a.ndim == 0 and 0 <= float(a) <= ROUNDS)
        real = g.add("Cast", [x], lambda a: [a.astype(np.float64)], to=11)
        return g.add("Cast", [real], lambda a: [a.astype(np.int64)], to=7)
    return scalar(g, g.rng.choice((0, 1, 2, 2, 3, -1)))


def loop(g: Graph):
    count, body = trips(g), child(g)
    go = condition(g) if g.rng.random() < 0.4 or g.in_function else None
    state = [g.pick(lambda a: a.dtype != BFLOAT16) for _ in range(g.rng.randint(0, 2))]
    lists = [v for v in g.visible() if isinstance(v.array, list)]
    if lists and g.opset >= 13 and g.rng.random() < 0.7:
        state.append(g.rng.choice(lists))
    i, c = body.new(np.array(0, np.int64), "i"), body.new(np.array(True), "i")
    inner = [body.new(v.array, "s") for v in state]
    grow(body, g.rng.randint(1, 5))
    if g.rng.random() < 0.3:
        go_on = body.add("Less", [i, body.constant(np.array(g.rng.randint(0, 2), np.int64))], lambda a, b: [np.less(a, b)])
    else:
        go_on = body.add("Identity", [c], lambda a: [a])
    body.results.add(go_on.name)
    after = [carried(g, body, v) for v in inner]
    rows = [result(body) for _ in range(g.rng.randint(0 if state else 1, 2))]
    names = [v.name for v in g.visible()]

    def compute(count, go, *rest):
        values, known = list(rest[: len(state)]), dict(zip(names, rest[len(state) :]))
        live, made, n = go is None or bool(go), [[] for _ in rows], 0
        while live and n < int(count):
            found = body.run(known | {i.name: np.array(n, np.int64), c.name: np.array(live)} | dict(zip((v.name for v in inner), values)))
            values, live = [found[v.name] for v in after], bool(found[go_on.name])
            for row, v in zip(made, rows):
                row.append(found[v.name])
            n += 1
            if n > ROUNDS:
                raise Impossible
        stacked = [np.stack(row) if row else np.zeros((0, *v.array.shape), v.array.dtype) for row, v in zip(made, rows)]
        return [*values, *stacked]

    if not state and g.opset < 11:
        raise Impossible
    typed = g.rng.random() < 0.85
    graph = body.proto("b", [i, c, *inner], [go_on, *after, *rows], typed)
    return flow(g, "Loop", [count, go, *state], compute, len(state) + len(rows), body=graph)


def scan(g: Graph):
    body = child(g)
    first = g.pick(lambda a: a.ndim >= 1 and a.shape[0] <= ROUNDS and a.dtype != BFLOAT16)
    n = first.array.shape[0]
    fed = [first, *(g.pick(lambda a: a.ndim >= 1 and a.shape[0] == n and a.dtype != BFLOAT16) for _ in range(g.rng.randint(0, 1)))]
    state = [g.pick(lambda a: a.dtype.name in ("int64", "float32")) for _ in range(g.rng.randint(0, 1))]
    inner = [body.new(v.array, "s") for v in state]
    each = [body.new(v.array[0] if n else np.zeros(v.array.shape[1:], v.array.dtype), "e") for v in fed]
    grow(body, g.rng.randint(1, 4))
    after = [body.add("Identity", [v], lambda a: [a]) for v in inner]
    if inner and g.rng.random() < 0.5:
        after = [body.add("Add", [v, body.constant(np.array(1, v.array.dtype))], lambda a, b: [a + b]) for v in inner]
    body.results.update(v.name for v in after)
    rows = [result(body) for _ in range(g.rng.randint(0 if state else 1, 2))]
    backwards = [g.rng.choice((0, 0, 1)) for _ in fed]
    names = [v.name for v in g.visible()]

    def compute(*given):
        values, parts = list(given[: len(state)]), given[len(state) : len(state) + len(fed)]
        known, made = dict(zip(names, given[len(state) + len(fed) :])), [[] for _ in rows]
        parts = [p[::-1] if b else p for p, b in zip(parts, backwards)]
        for round_ in range(len(parts[0])):
            now = dict(zip((v.name for v in inner), values)) | {v.name: np.asarray(p[round_]) for v, p in zip(each, parts)}
            found = body.run(known | now)
            values = [found[v.name] for v in after]
            for row, v in zip(made, rows):
                row.append(found[v.name])
        stacked = [np.stack(row) if row else np.zeros((0, *v.array.shape), v.array.dtype) for row, v in zip(made, rows)]
        return [*values, *stacked]

    more = {"scan_input_directions": backwards} if any(backwards) else {}
    graph = body.proto("b", [*inner, *each], [*after, *rows], g.rng.random() < 0.85)
    return flow(g, "Scan", [*state, *fed], compute, len(state) + len(rows), body=graph, num_scan_inputs=len(fed), **more)


# ---- functions


@dataclass
class Function:
    name: str
    overload: str
    body: Graph
    formal: list[Value]
    results: list[Value]


def define(g: Graph) -> Function:
    if g.root.settings.opset < 15 or len(g.root.functions) > 3 or g.function and g.depth > 1:
        raise Impossible
    names = g.root.state()
    g.root.begin({})
    try:
        return defined(g)
    finally:
        g.root.begin(names)


def defined(g: Graph) -> Function:
    body = Graph(g.root, None, g.depth, function=True)
    actual = [g.pick(lambda a: a.dtype != BFLOAT16) for _ in range(g.rng.randint(1, 3))]
    formal = [body.new(v.array, "p") for v in actual]
    grow(body, g.rng.randint(2, 5))
    if body.initializers:
        raise Impossible
    results = [result(body)]
    if g.rng.random() < 0.3:
        results.append(body.add("Identity", [result(body)], lambda a: [a]))
    name, overload = g.root.name("f"), ""
    earlier = [f for f in g.root.functions if len(f.formal) == len(formal)]
    # ONNX Runtime 1.32 loses the overload of a call in a function's body: it calls the function of that name that has none.
    if earlier and g.root.settings.opset >= 21 and g.rng.random() < 0.5 and not g.in_function:
        name, overload = g.rng.choice(earlier).name, g.root.name("o")
    made = Function(name, overload, body, formal, results)
    g.root.functions.append(made)
    return made


def call(g: Graph):
    """A call of a function: a new one, or one there is, with what fits its inputs."""
    functions = g.root.functions
    chosen = g.rng.choice(functions) if functions and g.rng.random() < 0.5 and not g.in_function else define(g)
    actual = []
    for formal in chosen.formal:
        def fits(a, like=formal.array):
            return a.dtype == like.dtype and (a.shape == like.shape or (a.ndim == like.ndim and g.rng.random() < 0.5))
        actual.append(g.pick(fits))

    def compute(*arrays):
        found = chosen.body.run(dict(zip((v.name for v in chosen.formal), arrays)))
        return [found[v.name] for v in chosen.results]

    more = {"overload": chosen.overload} if chosen.overload else {}
    return g.add(chosen.name, actual, compute, len(chosen.results), domain=LOCAL, **more, **chosen.body.attributes)


def function_proto(f: Function, opsets: list, ir: int):
    infos = f.body.infos(set()) if ir >= 10 else []
    more = {"overload": f.overload} if f.overload else {}
    return helper.make_function(LOCAL, f.name, [v.name for v in f.formal], [v.name for v in f.results], f.body.written(), opsets,
                                list(f.body.attributes), value_info=infos, **more)  # fmt: skip


# ---- models

ALL = NODES | {if_: 5, loop: 5, scan: 4, call: 5}


def grow(g: Graph, count: int) -> None:
    """Adds nodes; what was begun in vain stays, as other nodes that nothing reads."""
    makers, weights = list(ALL), list(ALL.values())
    for _ in range(count):
        for _ in range(5):
            try:
                g.rng.choices(makers, weights)[0](g)
            except Impossible:
                continue
            break


def dims_of(root: Root, value: Value) -> list:
    """What the model declares of an input, whose lengths ONNX Runtime compares: a name, the length, or nothing."""
    kind = root.rng.random()
    shape = []
    for n in value.array.shape:
        name = root.rng.choice((f"d{n}", f"N{root.rng.randint(0, 2)}", None))
        shape.append(n if kind < 0.5 else name if kind < 0.8 else root.rng.choice((n, name)))
    return shape


def fed_otherwise(root: Root, value: Value, shape: list) -> np.ndarray:
    """Other numbers of the same kind, and now and then other lengths where they are not declared."""
    other = [n if dim == n or root.rng.random() < 0.7 else max(n + root.rng.choice((-1, 1)), 0) for n, dim in zip(value.array.shape, shape)]
    array = value.array
    if array.dtype in (INT64, np.int32) and array.size and root.rng.random() < 0.8:
        return content(root.rng, array.dtype, other, int(array.min()), int(array.max()))
    return content(root.rng, array.dtype, other)


def settings_of(rng: random.Random) -> Settings:
    opset = rng.choice((8, 9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 18, 18, 19, 20, 21, 21, 22, 23, 24, 25))
    how = rng.choice(("right", "right", "named", "missing", "wrong", "mixed", "mixed"))
    return Settings(opset, how, rng.choice((0, 0, 0, 0.05, 0.15)), rng.choice((0, 1, 1, 2, 3)))


def model_of(seed: int) -> Model:
    root = Root(random.Random(seed), None)
    root.settings = settings_of(root.rng)
    g = Graph(root)
    for _ in range(root.rng.randint(1, 3)):
        data(g)
    g.feed(content(root.rng, INT64, root.rng.choice(([], [3], [2]))))
    grow(g, root.rng.randint(3, 12))
    outputs = some_outputs(g)
    opsets = [helper.make_opsetid("", root.settings.opset)]
    if root.functions:
        opsets.append(helper.make_opsetid(LOCAL, 1))
    ir = IR_OF[root.settings.opset]
    functions = [function_proto(f, opsets, ir) for f in root.functions]
    inputs = list(root.inputs.values())
    shapes = {v.name: dims_of(root, v) for v in inputs}
    graph = g.proto("g", [], outputs)
    graph.input.extend(helper.make_tensor_value_info(v.name, _kind(v), shapes[v.name]) for v in inputs)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=functions)
    graph = model.graph
    graph.input.extend(helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in graph.initializer if t.name in root.overridable)
    more = {v.name: fed_otherwise(root, v, shapes[v.name]) for v in inputs}
    return Model(model, {v.name: v.array for v in inputs}, more, {v.name: v.array for v in g.own if v.is_tensor})


def _kind(value: Value) -> int:
    return 8 if value.array.dtype == STRING else helper.np_dtype_to_tensor_dtype(value.array.dtype)


def some_outputs(g: Graph) -> list[Value]:
    """Half of what the nodes make, and the last one."""
    made = [v for v in g.own if any(v.name in node.outputs for node in g.nodes)]
    chosen = [v for v in made if v.is_tensor and v.array.dtype != BFLOAT16 and g.rng.random() < 0.5]
    if not chosen:
        last = [v for v in g.visible() if v.is_tensor and v.array.dtype != BFLOAT16]
        chosen = [g.add("Identity", [last[-1]], lambda a: [a])]
    return chosen


def text_of(model: Model) -> str:
    import onnx

    lines = [onnx.printer.to_text(model.proto)]
    return "\n".join(lines + [f"{name} = {array.dtype}{list(array.shape)} {array.tolist()}" for name, array in model.feeds.items()])


if __name__ == "__main__":
    print(text_of(model_of(int(sys.argv[1]))))

__all__ = ["FAR", "Model", "model_of", "stretches", "text_of", "whole"]
