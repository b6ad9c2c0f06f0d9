# SPDX-License-Identifier: MIT
"""Models whose gathers are in subgraphs: every type, kind of subgraph, and place where data and indices come from.

The built-in kernels say what is right: a door must give the same bytes, or fail where they fail. A model has one or more gathers of the
same data in the innermost subgraph; declarations of shapes may be missing, symbolic, right or wrong. test_onnxruntime_subgraphs.py runs
a sample, script/plugins onnxruntime --subgraphs all of them, as often as wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
import ort_cases as cases
import ort_runs as runs
from onnx import TensorProto, helper

OPSET, IR = 21, 10  # of most models; those for older hosts have another
OLD_OPSET, OLD_IR = 17, 8  # ONNX Runtime 1.17 has them
# Those that ONNX Runtime has no Gather for are refused when a model is loaded: a few will do.
TYPES = (*cases.TYPES, "FLOAT8E4M3FN", "INT4", "complex64")
PLACES = ((), ("If",), ("Loop",), ("Scan",), ("Loop", "If"), ("If", "Loop"), ("Scan", "If"), ("If", "If"), ("Loop", "Loop"), ("If", "Scan"))
DATA = ("input", "initializer", "overridable", "constant", "computed", "inner initializer", "inner constant", "inner computed", "carried",
        "scanned", "sequence", "optional")  # fmt: skip
INDICES = ("input", "initializer", "constant", "computed", "inner initializer", "inner constant", "number", "scanned")
DECLARED = ("none", "symbolic", "right", "wrong")
LEVELS = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_ALL")
# Of data, and of the indices of each operator.
SHAPES = ([4, 3], [5], [2, 3, 4], [6, 1], [0, 3], [3, 0])
INDEX_SHAPES = ([], [2], [2, 3], [0], [1, 2])


@dataclass
class Case:
    name: str
    model: bytes
    feeds: dict[str, np.ndarray]
    level: str
    pattern: bool
    config: dict = field(default_factory=dict)
    nans: bool = False  # its NaNs may have another sign and payload than the built-in's


@dataclass
class Drawn:
    """What a model is made of."""

    kind: str
    place: tuple
    data: str
    indices: str
    declared: str
    level: str
    pattern: bool
    taken: bool  # the condition of each If
    rounds: int  # of each Loop and Scan
    index_kind: str = "int64"
    ops: tuple = ("Gather",)
    shape: list = field(default_factory=lambda: [4, 3])
    index_shape: list = field(default_factory=lambda: [2, 3])
    wrong: bool = False  # an index out of range
    old: bool = False

    def name(self) -> str:
        rounds = f" {self.rounds} rounds" if {"Loop", "Scan"} & set(self.place) else ""
        branch = f" {self.taken}" if "If" in self.place else ""
        return (f"{'+'.join(self.ops)} in {'/'.join(self.place) or 'the main graph'}{branch}{rounds}: {self.kind}{self.shape} {self.data}, {self.index_kind}{self.index_shape}"
                f" {self.indices}{' wrong' if self.wrong else ''}, declared {self.declared}, {self.level}, {'with' if self.pattern else 'without'} memory patterns")


# ---- values


def onnx_type(kind: str) -> int:
    names = {"string": "STRING", "bfloat16": "BFLOAT16", "complex64": "COMPLEX64"}
    if kind in cases.NARROW or kind in names:
        return getattr(TensorProto, names.get(kind, kind))
    return helper.np_dtype_to_tensor_dtype(np.dtype(kind))


def is_foreign(kind: str) -> bool:
    """Whether NumPy cannot hand arrays of this type to ONNX Runtime: it is made and read by a Cast."""
    return kind in cases.NARROW or kind in ("bfloat16", "complex64")


def tensor(name: str, kind: str, array: np.ndarray):
    if kind in cases.NARROW or kind in ("bfloat16", "complex64"):
        return helper.make_tensor(name, onnx_type(kind), array.shape, array.ravel().astype(np.complex64 if kind == "complex64" else np.float32).tolist())
    return cases.constant(name, array)


class Builder:
    """A model under construction. Names are fresh; `main` collects what the main graph has."""

    def __init__(self, drawn: Drawn, rng) -> None:
        self.drawn, self.rng, self.count = drawn, rng, 0
        self.feeds: dict[str, np.ndarray] = {}
        self.inputs, self.initializers, self.nodes = [], [], []

    def fresh(self, text: str) -> str:
        self.count += 1
        return f"{text}_{self.count}"

    def value_info(self, name: str, kind: str, shape, declared: str | None = None):
        how = declared or self.drawn.declared
        if how == "none" or shape is None:
            return helper.make_tensor_value_info(name, onnx_type(kind), None)
        if how == "symbolic":
            shape = [self.fresh("length") for _ in shape]
        elif how == "wrong":
            shape = [*shape, 7] if self.rng.random() < 0.3 or not shape else [shape[0] + 1, *shape[1:]]
        return helper.make_tensor_value_info(name, onnx_type(kind), shape)

    def feed(self, name: str, array: np.ndarray, kind: str) -> str:
        """A graph input, declared as the model's other values, but never wrong: no host would take it."""
        self.inputs.append(self.value_info(name, kind, array.shape, "none" if self.drawn.declared == "none" else "right"))
        self.feeds[name] = array
        return name

    def node(self, nodes: list, op: str, inputs: list, **attributes) -> str:
        name = self.fresh(op.lower())
        nodes.append(helper.make_node(op, inputs, [name], name=f"node_{name}", **attributes))
        return name

    def outer(self, how: str, text: str, kind: str, array: np.ndarray) -> str:
        """A value of the main graph."""
        if how == "initializer":
            self.initializers.append(tensor(text, kind, array))
            return text
        if how == "overridable":
            self.initializers.append(tensor(text, kind, array))
            self.inputs.append(self.value_info(text, kind, array.shape, "right"))
            return text
        if how == "constant":
            return self.node(self.nodes, "Constant", [], value=tensor("value", kind, array))
        if is_foreign(kind):
            given = self.feed(text, array.real.astype(np.float32), "float32")
            return self.node(self.nodes, "Cast", [given], to=onnx_type(kind))
        given = self.feed(text, array, kind)
        return given if how == "input" else self.node(self.nodes, "Identity", [given])


@dataclass
class Content:
    """What a graph has: its own nodes and initializers, and its results with their types and shapes."""

    nodes: list
    initializers: list
    results: list  # (name, type, shape)


class Level:
    """What a subgraph offers to the gathers in it, by way of the body's inputs."""

    def __init__(self) -> None:
        self.carried = self.scanned_data = self.scanned_indices = self.number = None


def innermost(b: Builder, level: Level, data: np.ndarray, indices: dict[str, np.ndarray]) -> Content:
    """The gathers."""
    drawn, content = b.drawn, Content([], [], [])
    source = local_data(b, level, content, data)
    for op, array in indices.items():
        ids = local_indices(b, level, content, array, op)
        attributes = {} if op == "GatherND" else {"axis": axis_of(drawn)}
        y = b.node(content.nodes, op, [source, ids], **attributes)
        kind = drawn.kind
        if is_foreign(kind) and kind != "complex64":
            y, kind = b.node(content.nodes, "Cast", [y], to=TensorProto.FLOAT), "float32"
        content.results.append((y, kind, result_shape(op, data.shape, array.shape, axis_of(drawn))))
    return content


def axis_of(drawn: Drawn) -> int:
    """The last one for strings: the built-in Gather copies one string of a slice only."""
    return len(drawn.shape) - 1 if drawn.kind == "string" else 0


def result_shape(op: str, data, ids, axis: int):
    if op == "Gather":
        return [*data[:axis], *ids, *data[axis + 1 :]]
    return [*ids] if op == "GatherElements" else [*ids[:-1], *data[ids[-1] :]]


def local_data(b: Builder, level: Level, content: Content, data: np.ndarray) -> str:
    how, kind = b.drawn.data, b.drawn.kind
    if how == "carried" and level.carried:
        return level.carried
    if how == "scanned" and level.scanned_data:
        return level.scanned_data
    if how == "inner initializer":
        name = b.fresh("table")
        content.initializers.append(tensor(name, kind, data))
        return name
    if how == "inner constant":
        return b.node(content.nodes, "Constant", [], value=tensor("value", kind, data))
    if how == "inner computed":
        return b.node(content.nodes, "Identity", [b.outer_data])
    if how == "sequence":
        return b.node(content.nodes, "SequenceAt", [b.outer_data, b.position])
    if how == "optional":
        return b.node(content.nodes, "OptionalGetElement", [b.outer_data])
    return b.outer_data


def local_indices(b: Builder, level: Level, content: Content, array: np.ndarray, op: str) -> str:
    how = b.drawn.indices
    if how == "number" and level.number and op == "Gather" and not array.shape:
        return level.number
    if how == "scanned" and level.scanned_indices and op == "Gather":
        return level.scanned_indices
    if how == "inner initializer":
        name = b.fresh("ids")
        content.initializers.append(tensor(name, b.drawn.index_kind, array))
        return name
    if how == "inner constant":
        return b.node(content.nodes, "Constant", [], value=tensor("value", b.drawn.index_kind, array))
    if op not in b.outer_indices:
        outer = how if how in ("input", "initializer", "constant", "computed") else "initializer"
        b.outer_indices[op] = b.outer(outer, f"ids_{op}", b.drawn.index_kind, array)
    return b.outer_indices[op]


def outer_data(b: Builder, data: np.ndarray) -> str:
    """The value of the main graph that the subgraph reads, if it reads any."""
    how, kind = b.drawn.data, b.drawn.kind
    if how == "sequence":
        b.position = b.outer("initializer", "position", "int64", np.array(0))
        return b.node(b.nodes, "SequenceConstruct", [b.outer("initializer", "data", kind, data)])
    if how == "optional":
        return b.node(b.nodes, "Optional", [b.outer("initializer", "data", kind, data)])
    return b.outer(how if how in ("initializer", "overridable", "constant", "computed") else "input", "data", kind, data)


# ---- subgraphs


def graph_of(b: Builder, content: Content, inputs=(), extra=()):
    outputs = [*extra, *(b.value_info(name, kind, shape) for name, kind, shape in content.results)]
    return helper.make_graph(content.nodes, b.fresh("graph"), list(inputs), outputs, content.initializers)


def wrap_if(b: Builder, make, level: Level) -> Content:
    branches = [make(level), make(level)]
    names = [b.fresh("chosen") for _ in branches[0].results]
    node = helper.make_node("If", [b.condition], names, name=b.fresh("if"), then_branch=graph_of(b, branches[0]), else_branch=graph_of(b, branches[1]))
    return Content([node], [], [(name, kind, shape) for name, (_, kind, shape) in zip(names, branches[0].results, strict=True)])


def renamed(b: Builder, content: Content) -> None:
    """Each output of a body is a node's: results may be values of graphs around it."""
    content.results = [(b.node(content.nodes, "Identity", [name]), kind, shape) for name, kind, shape in content.results]


def carried_pair(b: Builder, level: Level):
    """The value that a body hands on, as its input and its output."""
    drawn, name, back = b.drawn, b.fresh("state"), b.fresh("handed_on")
    shape = b.data_shape
    level.carried = name
    declared = "right" if drawn.declared == "wrong" or "Scan" in drawn.place else drawn.declared  # Scan insists on a shape
    return b.value_info(name, drawn.kind, shape, declared), b.value_info(back, drawn.kind, shape, declared), helper.make_node("Identity", [name], [back])


def wrap_loop(b: Builder, make, outer: Level) -> Content:
    level = Level()
    level.__dict__.update(outer.__dict__)
    level.number = b.fresh("round")
    goes_on, still = b.fresh("goes_on"), b.fresh("still")
    inputs = [helper.make_tensor_value_info(level.number, TensorProto.INT64, []), helper.make_tensor_value_info(goes_on, TensorProto.BOOL, [])]
    extra, nodes, given, first = [helper.make_tensor_value_info(still, TensorProto.BOOL, [])], [helper.make_node("Identity", [goes_on], [still])], [], []
    if b.drawn.data == "carried":
        state_in, state_out, node = carried_pair(b, level)
        inputs.append(state_in), extra.append(state_out), nodes.append(node), given.append(outer.carried or b.outer_data), first.append(b.fresh("last"))
    content = make(level)
    renamed(b, content)
    content.nodes = [*nodes, *content.nodes]
    names = [b.fresh("collected") for _ in content.results]
    node = helper.make_node("Loop", [b.rounds, "", *given], [*first, *names], name=b.fresh("loop"), body=graph_of(b, content, inputs, extra))
    return Content([node], [], stacked(b, names, content))


def stacked(b: Builder, names: list, content: Content) -> list:
    return [(name, kind, None if shape is None else [b.drawn.rounds, *shape]) for name, (_, kind, shape) in zip(names, content.results, strict=True)]


def wrap_scan(b: Builder, make, outer: Level) -> Content:
    level = Level()
    level.__dict__.update(outer.__dict__)
    drawn, inputs, extra, nodes, given, first = b.drawn, [], [], [], [], []
    if drawn.data == "carried":
        state_in, state_out, node = carried_pair(b, level)
        inputs.append(state_in), extra.append(state_out), nodes.append(node), given.append(outer.carried or b.outer_data), first.append(b.fresh("last"))
    scanned = []
    step = b.fresh("step")
    inputs.append(helper.make_tensor_value_info(step, TensorProto.INT64, []))
    scanned.append(b.steps)
    declared = "none" if drawn.declared in ("none", "wrong") else drawn.declared
    if drawn.data == "scanned":
        level.scanned_data = b.fresh("slice")
        inputs.append(b.value_info(level.scanned_data, drawn.kind, b.data_shape, declared))
        scanned.append(b.slices)
    if drawn.indices == "scanned" and "Gather" in drawn.ops:
        level.scanned_indices = b.fresh("ids")
        inputs.append(b.value_info(level.scanned_indices, drawn.index_kind, drawn.index_shape, declared))
        scanned.append(b.index_slices)
    if drawn.indices == "number":
        level.number = step
    content = make(level)
    renamed(b, content)
    content.nodes = [*nodes, *content.nodes]
    names = [b.fresh("collected") for _ in content.results]
    node = helper.make_node("Scan", [*given, *scanned], [*first, *names], name=b.fresh("scan"), num_scan_inputs=len(scanned), body=graph_of(b, content, inputs, extra))
    return Content([node], [], stacked(b, names, content))


WRAPPERS = {"If": wrap_if, "Loop": wrap_loop, "Scan": wrap_scan}


def wrapped(b: Builder, place: tuple, level: Level, data, indices) -> Content:
    if not place:
        return innermost(b, level, data, indices)
    return WRAPPERS[place[0]](b, lambda inner: wrapped(b, place[1:], inner, data, indices), level)


# ---- models


def values(rng, kind: str, shape) -> np.ndarray:
    if kind in cases.NARROW:
        return rng.integers(0, 8, shape).astype(np.float32)
    if kind == "complex64":
        return rng.integers(0, 8, shape).astype(np.complex64)
    return cases.values(rng, kind, shape)


def indices_for(rng, drawn: Drawn, op: str) -> np.ndarray:
    shape, index_shape, axis = drawn.shape, list(drawn.index_shape), axis_of(drawn)
    if op == "GatherElements":
        index_shape = [min(2, n) if d != axis else 2 for d, n in enumerate(shape)]
        if shape[axis] == 0:
            index_shape[axis] = 0
        return cases.indices_for(rng, op, shape, index_shape, axis, "int64").astype(drawn.index_kind)
    if op == "GatherND":
        index_shape = [0, 1] if 0 in shape else [*index_shape[:1], 1]
        return cases.indices_for(rng, op, shape, index_shape, 0, "int64")
    if shape[axis] == 0:
        index_shape = [0]
    return cases.indices_for(rng, op, shape, index_shape, axis, "int64").astype(drawn.index_kind)


def case_of(rng, drawn: Drawn) -> Case:
    b = Builder(drawn, rng)
    drawn.ops = tuple(op for op in drawn.ops if op != "GatherND" or drawn.index_kind == "int64") or ("Gather",)
    if drawn.indices == "number":
        drawn.index_shape = []
    data = values(rng, drawn.kind, drawn.shape)
    b.data_shape, b.outer_indices = list(data.shape), {}
    indices = {op: indices_for(rng, drawn, op) for op in drawn.ops}
    if drawn.indices == "number":
        drawn.index_kind = "int64"
        indices = {op: array.astype("int64") for op, array in indices.items()}
    if "Gather" in indices:
        drawn.index_shape = list(indices["Gather"].shape)
    if drawn.wrong and (first := indices[drawn.ops[0]]).size:
        first.flat[-1] = 99
    prepare(b, data, indices)
    content = wrapped(b, drawn.place, Level(), data, indices)
    b.nodes += content.nodes
    b.initializers += content.initializers
    outputs = [b.value_info(name, kind, shape, "none") for name, kind, shape in content.results]
    graph = helper.make_graph(b.nodes, "main", b.inputs, outputs, b.initializers)
    opset, version = (OLD_OPSET, OLD_IR) if drawn.old else (OPSET, IR)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)
    return Case(drawn.name(), model.SerializeToString(), b.feeds, drawn.level, drawn.pattern)


def prepare(b: Builder, data: np.ndarray, indices: dict) -> None:
    """The values of the main graph that subgraphs and their nodes read."""
    drawn = b.drawn
    used_inside = drawn.data.startswith("inner") and drawn.data != "inner computed"
    b.outer_data = "" if used_inside else outer_data(b, data)
    if "If" in drawn.place:
        b.condition = b.feed("condition", np.array(drawn.taken), "bool")
    if "Loop" in drawn.place:
        b.rounds = b.outer(str(b.rng.choice(["initializer", "input"])), "rounds", "int64", np.array(drawn.rounds))
    if "Scan" in drawn.place:
        b.steps = b.outer(str(b.rng.choice(["initializer", "input"])), "steps", "int64", np.arange(drawn.rounds) % max(1, drawn.shape[axis_of(drawn)]))
        if drawn.data == "scanned":
            many = np.stack([data] * drawn.rounds) if drawn.rounds else np.empty((0, *data.shape), data.dtype)
            b.slices = b.outer(str(b.rng.choice(["initializer", "input"])), "slices", drawn.kind, many)
        if drawn.indices == "scanned" and "Gather" in indices:
            ids = indices["Gather"]
            b.index_slices = b.outer("input", "index_slices", drawn.index_kind, np.broadcast_to(ids, (drawn.rounds, *ids.shape)).copy())


def draw(rng, kind: str, place: tuple, data: str, old: bool = False) -> Drawn:
    """The rest at random. Faults and wrong declarations are rare: what follows one is not reached."""

    def one(choices, weights=None):
        return choices[int(rng.choice(len(choices), p=weights))]

    ops = [op for op in ("Gather", "GatherElements", "GatherND") if rng.random() < 0.5] or [one(("Gather", "GatherElements", "GatherND"))]
    rounds = one((0, 1, 3), [0.2, 0.3, 0.5])
    rounds = max(1, rounds) if "Scan" in place else rounds  # a Scan of nothing is an error
    return Drawn(kind, place, data, one(INDICES), one(DECLARED, [0.5, 0.2, 0.2, 0.1]), one(LEVELS), bool(rng.random() < 0.5), bool(rng.random() < 0.5),
                 rounds, one(("int64", "int32")), tuple(ops), list(one(SHAPES)), list(one(INDEX_SHAPES)), bool(rng.random() < 0.03), old)  # fmt: skip


def has_source(place: tuple, data: str) -> bool:
    return {"carried": bool({"Loop", "Scan"} & set(place)), "scanned": "Scan" in place}.get(data, True)


def all_cases(seed: int, share: float = 1.0, old: bool = False, types=()) -> list[Case]:
    """One model of each type in each kind of subgraph, with data from each source; of these a share, at random."""
    rng = np.random.default_rng(seed)
    types = types or (cases.TYPES if old else TYPES)
    wanted = [(kind, place, data) for kind in types for place in PLACES for data in DATA if has_source(place, data)]
    chosen = sorted(rng.choice(len(wanted), max(1, int(share * len(wanted))), replace=False))
    return [case_of(rng, draw(rng, *wanted[n], old)) for n in chosen]


# ---- quantised tables


def enclosed(model: onnx.ModelProto, place: tuple) -> onnx.ModelProto:
    """The model with its nodes in subgraphs, which read its inputs and initializers from the main graph."""
    graph, (y,) = model.graph, model.graph.output
    content = Content(list(graph.node), [], [(y.name, y.type.tensor_type.elem_type, None)])
    for depth, kind in enumerate(reversed(place)):
        name, number, _ = content.results[0]
        out = helper.make_tensor_value_info(name, number, None)
        new = f"{name}_{depth}"
        if kind == "If":
            branch = helper.make_graph(content.nodes, f"branch_{depth}", [], [out])
            node = helper.make_node("If", ["condition"], [new], then_branch=branch, else_branch=branch)
        else:
            numbers = [helper.make_tensor_value_info(f"round_{depth}", TensorProto.INT64, []), helper.make_tensor_value_info(f"on_{depth}", TensorProto.BOOL, [])]
            still = helper.make_tensor_value_info(f"still_{depth}", TensorProto.BOOL, [])
            first = helper.make_node("Identity", [f"on_{depth}"], [f"still_{depth}"])
            loop = kind == "Loop"
            body = helper.make_graph([first, *content.nodes] if loop else content.nodes, f"body_{depth}", numbers if loop else numbers[:1], [still, out] if loop else [out])
            node = helper.make_node("Loop", ["rounds", ""], [new], body=body) if loop else helper.make_node("Scan", ["steps"], [new], num_scan_inputs=1, body=body)
        content = Content([node], [], [(new, number, None)])
    constants = [cases.constant("condition", np.array(True)), cases.constant("rounds", np.array(2)), cases.constant("steps", np.arange(2))]
    name, number, _ = content.results[0]
    output = helper.make_tensor_value_info(name, number, None)
    outer = helper.make_graph(content.nodes, "main", graph.input, [output], [*graph.initializer, *constants])
    return helper.make_model(outer, opset_imports=model.opset_import, ir_version=model.ir_version)


def quantised_cases(seed: int, count: int) -> list[Case]:
    """Random GatherBlockQuantized in subgraphs."""
    rng, found = np.random.default_rng(seed), []
    for n, case in enumerate(cases.quantised_cases(seed, count)):
        place = PLACES[1 + n % (len(PLACES) - 1)]
        level = LEVELS[int(rng.integers(len(LEVELS)))]
        model = enclosed(onnx.load_from_string(case.model), place)
        found.append(Case(f"{case.name} in {'/'.join(place)}, {level}", model.SerializeToString(), case.feeds, level, bool(n % 2), case.config, case.nans))
    return found


# ---- comparing


def run_of(case: Case, door: str, config=None) -> dict:
    """One run of a session does not show what the second reuses."""
    return {"model": case.model, "door": door, "feeds": {name: runs.pack(array) for name, array in case.feeds.items()}, "level": case.level,
            "pattern": case.pattern, "repeat": 2, "config": case.config | (config or {})}  # fmt: skip


def is_right(case: Case, plain: dict, answer: dict) -> bool:
    """The host's bytes, or a failure where it fails: where it crashes without us (Loops of strings did, up to 1.24) anything will do."""
    if plain.get("crash"):
        return True
    if answer.get("crash") or ("error" in plain) != ("error" in answer):
        return False
    if "error" in plain or runs.same(plain, answer):
        return True
    return case.nans and all(a[:2] == b[:2] and equal_but_nans(runs.unpack(a), runs.unpack(b)) for a, b in zip(plain["outputs"], answer["outputs"], strict=True))


def equal_but_nans(a: np.ndarray, b: np.ndarray) -> bool:
    here = np.isnan(a)
    return bool((here == np.isnan(b)).all()) and a[~here].tobytes() == b[~here].tobytes()


def faults_among(chosen: list[Case], plain: list[dict], answers: list[dict], door: str) -> list[str]:
    return [f"{case.name}, {door}: {runs.describe(answer)}; built-in: {runs.describe(before)}"
            for case, before, answer in zip(chosen, plain, answers, strict=True) if not is_right(case, before, answer)]  # fmt: skip


def ask(chosen: list[Case], door: str, library: str, python=None, config=None) -> list[dict]:
    return runs.run_all([run_of(case, door, config) for case in chosen], library, *([python] if python else []))
