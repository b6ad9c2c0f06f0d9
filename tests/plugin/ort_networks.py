# SPDX-License-Identifier: MIT
"""Unmodified models of other people, and PyTorch's exports, with inputs that fit: what is run with and without the plug-in."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from ort_child import FAMILY

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
