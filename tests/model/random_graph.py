# SPDX-License-Identifier: MIT
"""Graphs of ONNX that are written at random, with what each value is for the inputs at hand: what random_nodes.py and random_flow.py add to.

A value knows an array that it has in one run, its guide, so that the next node can be one that mostly runs. Each node keeps the function
that computed its guide, so that a body can be computed again for the next round of a loop or another call. Nobody relies on a guide for
what is right: that is what the host does.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

SINCE = {"Where": 9, "NonZero": 9, "ConstantOfShape": 9, "Scan": 9, "Less": 9, "Greater": 9, "Flatten": 9, "OneHot": 11}  # opsets, of our types
LARGEST = 2000  # elements of a guide; a model stays small
DEEPEST = 5  # rank
UNIQUE = "nxfoa"  # first letters of names that a model has once: nodes, inputs, functions, overloads, attributes
FAR = 10**6  # integers stay below it, so that no two runtimes differ by an overflow
STRING = np.dtype(object)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INDEX = (np.dtype(np.int64), np.dtype(np.int32))
FED = [np.dtype(name) for name in
       ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")]  # fmt: skip
TYPES = [*FED, STRING, BFLOAT16]
IR_OF = {8: 4, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13}


class Impossible(Exception):
    """Such a node cannot be added here; another is tried."""


@dataclass
class Value:
    name: str
    array: object  # the guide: an array, or a list of them (a sequence)
    optional: bool = False

    @property
    def is_tensor(self) -> bool:
        return not self.optional and not isinstance(self.array, list)


@dataclass
class Node:
    proto: object
    compute: object  # of the guides of the inputs, the list of those of the outputs
    inputs: list[str]
    outputs: list[str]


@dataclass
class Settings:
    """What one model is like."""

    opset: int
    how: str  # its declarations: right, named, missing, wrong or mixed
    bad: float  # how often an index is out of range
    depth: int  # of graphs in graphs


def onnx_type(array: np.ndarray) -> int:
    return TensorProto.STRING if array.dtype == STRING else helper.np_dtype_to_tensor_dtype(array.dtype)


def tensor(name: str, array: np.ndarray):
    if array.dtype == STRING:
        return helper.make_tensor(name, TensorProto.STRING, array.shape, [text.encode() for text in array.ravel()])
    return helper.make_tensor(name, onnx_type(array), array.shape, np.ascontiguousarray(array).tobytes(), raw=True)


def content(rng: random.Random, dtype: np.dtype, shape, low=-3, high=9) -> np.ndarray:
    """Small numbers, so that they are indices now and then."""
    count = int(np.prod(shape, dtype=np.int64))
    numbers = [rng.randint(low, high) for _ in range(count)]
    if dtype == STRING:
        return np.array([f"word{n}" * rng.choice((1, 9)) for n in numbers] or [], object).reshape(shape)
    if dtype.kind == "u":
        numbers = [abs(n) for n in numbers]
    return np.array(numbers, np.int64).astype(dtype).reshape(shape)


@dataclass
class Root:
    """What the graphs of a model share."""

    rng: random.Random
    settings: Settings
    counts: dict[str, int] = field(default_factory=dict)  # of names, by their first letter
    inputs: dict[str, Value] = field(default_factory=dict)
    names: dict[str, list] = field(default_factory=dict)  # of an input: the shape that is declared
    functions: list = field(default_factory=list)

    overridable: set[str] = field(default_factory=set)  # initializers of the main graph that are inputs too

    def name(self, letter: str) -> str:
        self.counts[letter] = self.counts.get(letter, 0) + 1
        return f"{letter}{self.counts[letter]}"

    # Functions, and the branches of one node, may have values of the same names; nodes and inputs never have.

    def state(self) -> dict[str, int]:
        return {letter: n for letter, n in self.counts.items() if letter not in UNIQUE}

    def begin(self, state: dict[str, int]) -> None:
        self.counts = {letter: n for letter, n in self.counts.items() if letter in UNIQUE} | state

    def go_on_after(self, state: dict[str, int]) -> None:
        for letter, n in state.items():
            self.counts[letter] = max(self.counts.get(letter, 0), n)


class Graph:
    """A graph while it is written: the main one, a body, or the body of a function (which sees nothing around it)."""

    def __init__(self, root: Root, outer: Graph | None = None, depth: int = 0, function: bool = False) -> None:
        self.root, self.outer, self.depth, self.function = root, outer, depth, function
        self.rng, self.opset = root.rng, root.settings.opset
        self.nodes: list[Node] = []
        self.initializers: dict[str, np.ndarray] = {}
        self.own: list[Value] = []
        self.seen: list[Value] = [] if function or outer is None else outer.visible()
        self.attributes: dict[str, int] = {}  # of a function
        self.results: set[str] = set()  # ONNX Runtime reads memory that nobody wrote where a body gives a value twice

    # ---- values

    def visible(self) -> list[Value]:
        return self.seen + self.own

    def new(self, array, letter="v", optional=False) -> Value:
        value = Value(self.root.name(letter), as_array(array), optional)
        self.own.append(value)
        return value

    @property
    def in_function(self) -> bool:
        return self.function or (self.outer is not None and self.outer.in_function)

    def pick(self, wanted=lambda a: True) -> Value:
        """A tensor whose guide is wanted; rather one that was added lately."""
        fitting = [v for v in self.visible() if v.is_tensor and wanted(v.array)]
        if not fitting:
            raise Impossible
        return fitting[min(int(len(fitting) * self.rng.random() ** 0.5), len(fitting) - 1)]

    def constant(self, array) -> Value:
        """A Constant node or an initializer."""
        array = np.asarray(array)
        if self.function or self.rng.random() < 0.4:
            return self.add("Constant", [], lambda: [array], value=tensor("", array))
        value = self.new(array, "c")
        self.initializers[value.name] = array
        if self.depth == 0 and array.dtype != STRING and self.rng.random() < 0.03:
            self.root.overridable.add(value.name)
        return value

    def feed(self, array) -> Value:
        """An input of the model; a constant where the graph is that of a function, or NumPy has no such type."""
        array = np.asarray(array)
        if self.in_function or array.dtype == BFLOAT16 or len(self.root.inputs) > 8:
            return self.constant(array)
        value = Value(self.root.name("x"), array)
        self.root.inputs[value.name] = value
        self.own.append(value)  # of the graph that wanted it, and of those in it
        return value

    def leaf(self, array) -> Value:
        return self.feed(array) if self.rng.random() < 0.4 else self.constant(array)

    # ---- nodes

    def add(self, op: str, inputs: list[Value | None], compute, count: int = 1, domain="", instead=None, optional=False, **attributes):
        """A node, and its output or list of outputs. `instead`: their guides where it fails with those of its inputs."""
        if self.opset < SINCE.get(op, 1):
            raise Impossible
        arrays = [v.array if v else None for v in inputs]
        outputs = evaluate(compute, arrays, instead)
        for array in outputs:
            check_size(array)
        names = [v.name if v else "" for v in inputs]
        made = [self.new(array, optional=optional) for array in outputs]
        proto = helper.make_node(op, names, [v.name for v in made], name=self.root.name("n"), domain=domain, **attributes)
        self.nodes.append(Node(proto, compute, names, [v.name for v in made]))
        return made[0] if count == 1 else made

    def run(self, known: dict) -> dict:
        """The guides of all values of this graph, for others than those that it was written with."""
        known = known | self.initializers
        for node in self.nodes:
            arrays = [known[name] if name else None for name in node.inputs]
            outputs = evaluate(node.compute, arrays, None)
            for name, array in zip(node.outputs, outputs, strict=True):
                check_size(array)
                known[name] = array
        return known

    # ---- what is written

    def written(self) -> list:
        """The nodes; those of the main graph in any order now and then, which ONNX Runtime accepts there."""
        protos = [node.proto for node in self.nodes]
        if self.depth == 0 and not self.function and self.rng.random() < 0.1:
            self.rng.shuffle(protos)
        return protos

    def shape_of(self, value: Value) -> list | None:
        """What the model declares: right, or not."""
        how = self.root.settings.how
        if how == "mixed":
            how = self.rng.choice(("right", "named", "missing", "wrong", "right"))
        shape = list(value.array.shape)
        if value.name[0] == "i":  # ONNX Runtime needs those of a loop's number and condition
            return shape
        if how == "missing":
            return None
        if how == "named":
            return [self.rng.choice((n, f"d{n}", f"u{self.rng.randint(0, 3)}", None)) for n in shape]
        if how == "wrong" and self.rng.random() < 0.15:
            return self.wrong(shape)
        return shape

    def wrong(self, shape: list) -> list:
        if not shape or self.rng.random() < 0.2:
            return self.rng.choice(([*shape, 2], shape[1:]))
        at = self.rng.randrange(len(shape))
        return [self.rng.choice((n + 1, max(n - 1, 1), n + 7, 1)) if d == at else n for d, n in enumerate(shape)]

    def declared(self, value: Value, typed: bool = True):
        """Its ValueInfoProto."""
        if not typed:
            return helper.make_empty_tensor_value_info(value.name)
        if isinstance(value.array, list):
            kind = helper.make_tensor_type_proto(onnx_type(value.array[0]), None)
            return helper.make_value_info(value.name, helper.make_sequence_type_proto(kind))
        if value.optional:
            kind = helper.make_tensor_type_proto(onnx_type(value.array), None)
            return helper.make_value_info(value.name, helper.make_optional_type_proto(kind))
        return helper.make_tensor_value_info(value.name, onnx_type(value.array), self.shape_of(value))

    def infos(self, besides: set[str]) -> list:
        """value_info of some values."""
        made = [v for v in self.own if v.is_tensor and v.name not in besides and v.name not in self.initializers]
        return [self.declared(v) for v in made if v.name not in self.root.inputs and self.rng.random() < 0.25]

    def proto(self, name: str, inputs: list[Value], outputs: list[Value], typed=True):
        infos = self.infos({v.name for v in (*inputs, *outputs)})
        initializers, sparse = [], []
        for key, array in self.initializers.items():
            some = array.dtype == np.float32 and array.ndim in (1, 2) and array.size and self.opset >= 11 and self.rng.random() < 0.05
            (sparse if some else initializers).append(sparse_tensor(key, array) if some else tensor(key, array))
        return helper.make_graph(self.written(), name, [self.declared(v) for v in inputs],
                                 [self.declared(v, typed) for v in outputs], initializers, value_info=infos, sparse_initializer=sparse)  # fmt: skip


def sparse_tensor(name: str, array: np.ndarray):
    flat = array.ravel()
    at = np.flatnonzero(flat)
    return helper.make_sparse_tensor(tensor(name, flat[at]), tensor("", at.astype(np.int64)), array.shape)


def as_array(made):
    """NumPy's scalars as arrays, and those of strings, which it gives as text."""
    if isinstance(made, list):
        return made
    if not isinstance(made, str):
        return np.asarray(made)
    array = np.empty((), object)
    array[()] = made
    return array


def evaluate(compute, arrays: list, instead) -> list:
    try:
        with np.errstate(all="ignore"):
            return [as_array(made) for made in compute(*arrays)]
    except Impossible:
        raise
    except Exception as error:  # noqa: BLE001  NumPy refuses in many ways
        if instead is None:
            raise Impossible from error
        return instead


def check_size(array) -> None:
    if isinstance(array, list):
        if not array or len(array) > 6:
            raise Impossible
        return
    if array.size > LARGEST or array.ndim > DEEPEST:
        raise Impossible
    if array.dtype.kind in "iuf" and array.size and array.dtype != BFLOAT16:
        if not np.isfinite(array).all() or abs(array.astype(np.float64)).max() > FAR:
            raise Impossible
