# SPDX-License-Identifier: MIT
"""Makes a model smaller while it is still wrong in the same way: outputs, declarations, nodes, inputs and functions go, and nodes become
the constants that they gave."""

from __future__ import annotations

import copy
import time

import numpy as np

from random_graph import tensor
from random_models import Model


def graphs_of(holder):
    """Every graph below a model, a graph or a function, the largest first."""
    if hasattr(holder, "graph"):
        yield holder.graph
    for node in holder.graph.node if hasattr(holder, "graph") else holder.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
                yield from graphs_of(attribute.g)
    for function in getattr(holder, "functions", ()):
        yield from graphs_of(function)


def read_names(holder) -> set[str]:
    """The names that nodes and outputs read, in the graphs below too."""
    body = holder.graph if hasattr(holder, "graph") else holder
    found = {name for node in body.node for name in node.input} | {getattr(o, "name", o) for o in body.output}
    for graph in graphs_of(holder):
        found |= {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    for function in getattr(holder, "functions", ()):
        found |= read_names(function)
    return found


def changed(model: Model, change) -> Model | None:
    """A copy with a change, or None where there is nothing to change."""
    other = copy.deepcopy(model)
    if change(other) is False:
        return None
    used = read_names(other.proto)
    graph = other.proto.graph
    for entries in (graph.input, graph.initializer):
        for n in reversed(range(len(entries))):
            if entries[n].name not in used:
                other.feeds.pop(entries[n].name, None)
                other.more.pop(entries[n].name, None)
                del entries[n]
    return other


def without_output(n: int):
    def change(model: Model):
        outputs = model.proto.graph.output
        if not 1 < len(outputs) > n:
            return False
        del outputs[n]

    return change


def without_declarations(number: int, n: int | None):
    """Those of one graph, or one of them."""

    def change(model: Model):
        graph = dict(enumerate([*graphs_of(model.proto), *model.proto.functions])).get(number)
        if graph is None or not len(graph.value_info) > (n or 0):
            return False
        del graph.value_info[slice(None) if n is None else slice(n, n + 1)]

    return change


def without_node(number: int, n: int):
    """A node whose outputs nobody reads."""

    def change(model: Model):
        graph = dict(enumerate([*graphs_of(model.proto), *model.proto.functions])).get(number)
        if graph is None or not 1 < len(graph.node) > n or set(graph.node[n].output) & read_names(model.proto):
            return False
        del graph.node[n]

    return change


def constant_node(n: int):
    """A node of the main graph becomes the constants that it gave."""

    def change(model: Model):
        graph = model.proto.graph
        if not 1 < len(graph.node) > n or not all(isinstance(model.guides.get(name), np.ndarray) for name in graph.node[n].output):
            return False
        graph.initializer.extend(tensor(name, model.guides[name]) for name in graph.node[n].output)
        del graph.node[n]

    return change


def without_function(n: int):
    def change(model: Model):
        functions = model.proto.functions
        if not len(functions) > n:
            return False
        called = {(node.op_type, node.overload) for graph in [*graphs_of(model.proto), *functions] for node in graph.node}
        if (functions[n].name, functions[n].overload) in called:
            return False
        del functions[n]

    return change


def changes(model: Model):
    graphs = [*graphs_of(model.proto), *model.proto.functions]
    yield from (without_output(n) for n in reversed(range(len(model.proto.graph.output))))
    yield from (without_function(n) for n in range(len(model.proto.functions)))
    yield from (without_declarations(g, None) for g in range(len(graphs)))
    yield from (without_declarations(g, n) for g in range(len(graphs)) for n in range(len(graphs[g].value_info)))
    yield from (without_node(g, n) for g in range(len(graphs)) for n in reversed(range(len(graphs[g].node))))
    yield from (constant_node(n) for n in reversed(range(len(model.proto.graph.node))))


def shrunk(model: Model, is_wrong, seconds: float = 20) -> Model:
    """The smallest that was found; is_wrong(model) says whether it still is."""
    end, progress = time.monotonic() + seconds, True
    while progress:
        progress = False
        for change in list(changes(model)):
            if time.monotonic() > end:
                return model
            smaller = changed(model, change)
            if smaller is not None and is_wrong(smaller):
                model, progress = smaller, True
    return model
