# SPDX-License-Identifier: MIT
"""Unmodified models of other people, and PyTorch's exports, with inputs that fit; and their runs with and without the plug-in, at each level of
ONNX Runtime's graph optimisations: the same bytes, and who ran."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from ort_child import FAMILY
import ort_runs as runs
from support.packed import unpacked

DATA = Path(__file__).parent / "data" / "networks.tar.xz"
TORCH = Path(__file__).parents[1] / "model" / "data" / "torch.tar.xz"
PACKAGES = Path(sys.prefix) / "models"  # script/bootstrap puts the models of other people's packages there
LEVELS = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL")
TYPES = {1: "float32", 6: "int32", 7: "int64"}
# Lengths of dimensions that a model leaves open, by the file and the input; a model not named here has none.
OPEN = {
    "silero_vad.onnx": {"input": [1, 576], "state": [2, 1, 128]},
    "silero_vad_16k_op15.onnx": {"input": [3, 576], "state": [2, 3, 128]},
    "silero_vad_16k_sequence.onnx": {"input": [4, 576]},
    "silero_vad_half.onnx": {"input": [2, 576], "state": [2, 2, 128]},
    "silero_vad_op18_ifless.onnx": {"input": [2, 576], "state": [2, 2, 128]},
    "model.onnx": {"bytes": [2, 2048]},
    "ch_PP-OCRv4_det_infer.onnx": {"x": [1, 3, 64, 96]},
    "ch_PP-OCRv4_rec_infer.onnx": {"x": [1, 3, 48, 128]},
    "ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x": [1, 3, 48, 192]},
}
PACKAGE_FILES = {"silero-vad": 6, "magika": 1, "rapidocr-onnxruntime": 3}  # how many files each package has


@dataclass
class Network:
    name: str
    path: Path
    feeds: dict[str, np.ndarray]
    nodes: int  # of the family, in all its graphs


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs_of(attribute.g)


def count_nodes(model) -> int:
    return sum(node.op_type in FAMILY for graph in graphs_of(model.graph) for node in graph.node)


def feeds_of(path: Path, model) -> dict[str, np.ndarray]:
    rng, feeds, constants = np.random.default_rng(0), {}, {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        shape = OPEN.get(path.name, {}).get(value.name) or [d.dim_value for d in tensor.shape.dim]
        if value.name == "sr":
            feeds[value.name] = np.array(16000, np.int64)
        elif tensor.elem_type == 1:
            feeds[value.name] = (rng.standard_normal(shape) * 0.1).astype(np.float32)
        else:
            feeds[value.name] = rng.integers(0, 256, shape).astype(TYPES[tensor.elem_type])
    return feeds


def packages() -> list[Network]:
    """The models of other people's packages that are installed."""
    found = []
    for package in PACKAGE_FILES:
        for path in sorted((PACKAGES / package).glob("**/*.onnx")):
            model = onnx.load(path)
            found.append(Network(f"{package}/{path.name}", path, feeds_of(path, model), count_nodes(model)))
    return found


def array_of(said: dict) -> np.ndarray:
    return np.array(said["values"], said["type"]).reshape(said["shape"])


def exports(archive: Path) -> list[Network]:
    """PyTorch's exports of an archive, with the inputs of its manifest."""
    folder, found = unpacked(archive), []
    for entry in json.loads((folder / "manifest.json").read_text())["models"]:
        for name in entry["files"]:
            model = onnx.load(folder / name)
            feeds = {value.name: array_of(entry["inputs"][value.name]) for value in model.graph.input}
            found.append(Network(name, folder / name, feeds, count_nodes(model)))
    return found


def networks() -> list[Network]:
    """All of them, larger ones first."""
    return packages() + exports(DATA) + exports(TORCH)


# ---- runs

WARNING = 2  # severity of the report's lines


def run_of(network, door: str, level: str, folder: str) -> dict:
    feeds = {name: runs.pack(array) for name, array in network.feeds.items()}
    return {"model": str(network.path), "feeds": feeds, "door": door, "level": level, "profile": folder, "severity": WARNING,
            "config": {"gather.report": 1} if door == "operators" else {}}


def taken(answer: dict, ours: bool) -> list[dict]:
    """The nodes of the family that ran, by the plug-in's provider or by another."""
    nodes = [node for node in answer.get("nodes", []) if node["op"] in FAMILY]
    return [node for node in nodes if ("gather" in node["provider"].lower()) == ours]


def reported(answer: dict) -> int:
    """How many nodes the plug-in said that it takes over: those of the custom operators are nobody else's in a profile."""
    return answer.get("log", "").count("takes over the kernel of")


def run_networks(chosen, library: str, levels=LEVELS, python=sys.executable) -> list[dict]:
    """One row per network and level: the answers of all doors."""
    wanted = [(network, level, door) for network in chosen for level in levels for door in runs.DOORS]
    with tempfile.TemporaryDirectory() as folder:
        answers = runs.run_all([run_of(network, door, level, folder) for network, level, door in wanted], library, python)
    rows: dict = {}
    for (network, level, door), answer in zip(wanted, answers, strict=True):
        rows.setdefault((network.name, level), {"network": network, "level": level})[door] = answer
    return list(rows.values())


def faults_of(row: dict) -> list[str]:
    """What is wrong with a row; the empty list where the doors change nothing but who runs."""
    place, plain = f"{row['network'].name} at {row['level']}", row["built-in"]
    if "error" in plain:  # not a model of this version's; nor is it with us
        return [f"{place}: {door} does not fail as the built-in kernels do" for door in runs.DOORS[1:] if "error" not in row[door]]
    faults = []
    for door in runs.DOORS[1:]:
        answer = row[door]
        if "error" in answer:
            faults.append(f"{place}, {door}: {answer['error']}")
        elif not runs.same(plain, answer):
            faults.append(f"{place}, {door}: the outputs are not those of the built-in kernels")
    provider = row["provider"]
    if "error" not in provider:
        left = [node["name"] for node in taken(provider, ours=False)]
        if left:
            faults.append(f"{place}, provider: nodes were left to another provider: {', '.join(left)}")
        if len(taken(provider, ours=True)) < 1 <= len(taken(plain, ours=False)):
            faults.append(f"{place}, provider: no node was taken over")
    if reported(row["operators"]) < len(taken(plain, ours=False)):
        faults.append(f"{place}, operators: {reported(row['operators'])} nodes were taken over, {len(taken(plain, ours=False))} ran without the plug-in")
    if reported(plain):
        faults.append(f"{place}: nodes are taken over without the plug-in")
    return faults


def line_of(row: dict) -> str:
    """Who ran how many nodes of the family, at one level."""
    counts = [f"{len(taken(row['built-in'], ours=False))} nodes ran"]
    counts.append(f"custom operators: {reported(row['operators'])} kernels, {len(taken(row['operators'], ours=False))} ran")
    counts.append(f"provider: {len(taken(row['provider'], ours=True))} ran")
    same = [door for door in runs.DOORS[1:] if runs.same(row["built-in"], row[door])]
    return f"{row['network'].name} at {row['level']}: {', '.join(counts)}; the same bytes: {', '.join(same) or 'none'}"
