# SPDX-License-Identifier: MIT
"""gather run on PyTorch's exports beside ONNX Runtime and OpenVINO: the same bits from all three.

Models with other operators than gather run has are refused; those that are left are counted.
"""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import onnx
import pytest

import peers
import real
from support.command import call
from support.onnx_models import session
from support.sample import least
from support.skip import skip_test
from test_torch_models import CASES, save_inputs

KINDS = {"float32": "f32", "int64": "i64", "bool": "boolean"}
# Modules of which every export must run, by both exporters or by the newer one.
BOTH = ("gather", "indexselect", "words")
NEWER = ("pairs", "pairsaround", "pairswithin", "cells", "rows", "columns", "rowsandcolumns", "constantpairs", "takealonggiven")


def inputs_of(path) -> list[str]:
    return [value.name for value in onnx.load(path).graph.input]


def ours(path, case, folder) -> np.ndarray | None:
    """The output; None where an operator is not supported."""
    names = inputs_of(path)
    _, words = save_inputs({**case, "inputs": {name: case["inputs"][name] for name in names}}, folder)
    done = call("run", path, *words, "--output", f"y={folder}/y.npy", "--json")
    answer = json.loads(done.stdout)
    if done.returncode == 4:
        assert answer["error"]["status"] == "unsupported"
        return None
    assert done.returncode == 0, answer
    return np.load(folder / "y.npy")


def openvino_says(path, arrays, folder) -> bytes:
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "the package is not installed")
    given = []
    for name, array in arrays.items():
        array.tofile(folder / f"{name}.raw")
        given.append({"file": str(folder / f"{name}.raw"), "type": KINDS[str(array.dtype)], "shape": list(array.shape)})
    answer = peers.ask_one({"path": str(path), "inputs": given})
    assert answer["error"] == "", answer
    return answer["outputs"][0]["shape"], bytes.fromhex(answer["outputs"][0]["content"])


RAN: set[str] = set()


@pytest.mark.parametrize("path, case", CASES, ids=[path.stem for path, _ in CASES])
def test_beside_both(path, case, tmp_path):
    mine = ours(path, case, tmp_path)
    name = path.stem.rpartition("_")[0]
    must = name in BOTH or (name in NEWER and case["exporter"] == "dynamo")
    assert mine is not None or not must, "gather run does not support it"
    if mine is None:
        return
    RAN.add(path.stem)
    arrays = {key: real.array_of(case["inputs"][key]) for key in inputs_of(path)}
    theirs = session(path).run(None, arrays)[0]
    assert theirs.dtype == mine.dtype and theirs.shape == mine.shape and theirs.tobytes() == mine.tobytes()
    shape, content = openvino_says(path, arrays, tmp_path)
    assert shape == list(mine.shape) and content == mine.tobytes()


def test_enough_of_them(request):
    """Where all were run: the count."""
    if len(request.session.items) > len(CASES):
        assert len(RAN) >= least(30), sorted(RAN)
