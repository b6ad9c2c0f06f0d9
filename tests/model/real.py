# SPDX-License-Identifier: MIT
"""Real models, and gather check beside what the onnx package says of the same file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import defs, helper, shape_inference

from support.command import answer
from support.skip import skip_test

# script/bootstrap puts the models of other people's packages beside the tests' Python.
PACKAGES = Path(sys.prefix) / "models"
OPS = ("Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND")
# Names that PyTorch's older exporter gives to an output's lengths which it does not follow; they say nothing of the length.
MADE_UP = re.compile(r"\w+_dim_[0-9]+")


def files_of(package: str) -> list[Path]:
    """The package's ONNX files, or a skip."""
    files = sorted((PACKAGES / package).glob("**/*.onnx"))
    if not files:
        skip_test("real_models", f"the package {package} is not in {PACKAGES}")
    return files


def check(path, *line, code=0) -> dict:
    return answer("check", path, *line, code=code)


# ---- what the onnx package says


def type_of(proto) -> tuple[str, list | None] | None:
    """Type and shape of a TypeProto; a dimension is a number, a name or None."""
    if not proto.HasField("tensor_type") or not proto.tensor_type.elem_type:
        return None
    dims = None
    if proto.tensor_type.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in proto.tensor_type.shape.dim]
    return helper.tensor_dtype_to_np_dtype(proto.tensor_type.elem_type).name, dims


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs_of(attribute.g)


def declared(graph) -> list:
    return [*graph.value_info, *graph.output, *graph.input]


def forget_invented_names(model, names: set[str]) -> None:
    """onnx calls the lengths that it does not know unk__0, unk__1: that is no knowledge. Names of the file itself stay."""
    for graph in graphs_of(model.graph):
        for value in declared(graph):
            for dim in value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ():
                if dim.HasField("dim_param") and dim.dim_param not in names:
                    dim.ClearField("dim_param")


def values_of(graph) -> dict:
    """What is known of a graph's own values."""
    known = {}
    for value in declared(graph):
        known[value.name] = type_of(value.type)
    for tensor in graph.initializer:
        known[tensor.name] = (helper.tensor_dtype_to_np_dtype(tensor.data_type).name, list(tensor.dims))
    return known


def describe(node, number, path, opset, known) -> dict:
    data, indices, output = (known.get(name) for name in (node.input[0], node.input[1], node.output[0]))
    found = {"name": node.name, "op": node.op_type, "graph": path, "number": number}
    found["rules"] = f"onnx-{defs.get_schema(node.op_type, opset, '').since_version}"
    axis = "batch_dims" if node.op_type == "GatherND" else "axis"
    found["axis"] = next((a.i for a in node.attribute if a.name == axis), 0)
    if data and data[1] is not None and found["axis"] < 0:
        found["axis"] += len(data[1])
    names = (node.input[0], node.input[1], node.output[0])
    for key, name, what in zip(("data", "indices", "output"), names, (data, indices, output), strict=True):
        found[key] = {"name": name, "type": what[0] if what else None, "shape": what[1] if what else None}
    return found


def walk(nodes, path, opset, known) -> list[dict]:
    found = []
    for number, node in enumerate(nodes):
        if node.domain in ("", "ai.onnx") and node.op_type in OPS:
            found.append(describe(node, number, path, opset, known))
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                inner = f"{path}/{node.name.lstrip('/') or f'{node.op_type}_{number}'}/{attribute.name}"
                found += walk(attribute.g.node, inner, opset, known | values_of(attribute.g))
    return found


def opset_of(imports) -> int:
    return next(entry.version for entry in imports if entry.domain in ("", "ai.onnx"))


def onnx_says(model: onnx.ModelProto) -> list[dict]:
    """Every gather node of the model, its subgraphs and functions, with the shapes that onnx infers."""
    names = {d.dim_param for g in graphs_of(model.graph) for v in declared(g) for d in v.type.tensor_type.shape.dim}
    model = shape_inference.infer_shapes(model, data_prop=True)
    forget_invented_names(model, names)
    found = walk(model.graph.node, "main", opset_of(model.opset_import), values_of(model.graph))
    for function in model.functions:
        if any(entry.domain in ("", "ai.onnx") for entry in function.opset_import):
            known = {value.name: type_of(value.type) for value in getattr(function, "value_info", [])}
            found += walk(function.node, f"function:{function.name}", opset_of(function.opset_import), known)
    return found


# ---- side by side


def shape_faults(ours, theirs) -> list[str]:
    """What they know and we do not, or know otherwise."""
    if theirs is None:
        return []
    if ours is None:
        return [f"shape {theirs} is not known to us"]
    if len(ours) != len(theirs):
        return [f"rank {len(ours)}, not {len(theirs)}"]
    faults = []
    for d, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(other, int) and mine != other:
            faults.append(f"dimension {d} is {mine}, not {other}")
        elif isinstance(other, str) and mine == -1:
            faults.append(f"dimension {d} is {other}, not known to us")
        elif isinstance(other, str) and isinstance(mine, str) and mine != other and not MADE_UP.fullmatch(other):
            faults.append(f"dimension {d} is called {mine}, not {other}")
    return faults


def faults_of(ours: dict, theirs: dict) -> list[str]:
    """How our node differs from theirs."""
    keys = [key for key in ("name", "op", "graph", "number", "rules", "axis") if key in theirs]
    faults = [f"{key} is {ours[key]!r}, not {theirs[key]!r}" for key in keys if ours[key] != theirs[key]]
    for role in ("data", "indices", "output"):
        mine, other = ours[role], theirs[role]
        if "name" in other and mine["name"] != other["name"]:
            faults.append(f"{role} is called {mine['name']}, not {other['name']}")
        if other["type"] is not None and mine["type"] != other["type"]:
            faults.append(f"type of {role} is {mine['type']}, not {other['type']}")
        faults += [f"{role} {mine['name']}: {fault}" for fault in shape_faults(mine["shape"], other["shape"])]
    return faults


def compare(ours: list[dict], theirs: list[dict]) -> list[str]:
    """All differences of two lists of nodes, each with the node."""
    if len(ours) != len(theirs):
        return [f"{len(ours)} gather nodes, not {len(theirs)}"]
    pairs = zip(ours, theirs, strict=True)
    return [f"{a['graph']}/{a['name'] or a['number']}: {fault}" for a, b in pairs for fault in faults_of(a, b)]


def beside_onnx(path: Path, folder: Path, declarations: bool) -> list[str]:
    """The differences for a file, or for a copy of it that declares nothing of the values in between."""
    model = onnx.load(path)
    if not declarations:
        for graph in graphs_of(model.graph):
            del graph.value_info[:]
        path = folder / path.name
        onnx.save(model, path)
    return [f"{path.name}: {fault}" for fault in compare(check(path)["nodes"], onnx_says(model))]


def array_of(said: dict) -> np.ndarray:
    """An input of a manifest."""
    return np.array(said["values"], said["type"]).reshape(said["shape"])
