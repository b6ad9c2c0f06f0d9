# SPDX-License-Identifier: MIT
"""Models that ONNX Runtime's quantisers and NNCF wrote (script/make-quantised-models): a check verifies their token tables, a run gives
the bits that the runtime gave when they were made, and gives now."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import many
import ml_dtypes
import numpy as np
import peers
import pytest

from support.packed import unpacked
from support.skip import skip_test

FOLDER = unpacked(Path(__file__).parent / "data" / "quantised.tar.xz")
MANIFEST = json.loads((FOLDER / "manifest.json").read_text())
MODELS, IDS = MANIFEST["models"], np.array(MANIFEST["ids"])
ROWS = 24
each_model = pytest.mark.parametrize("entry", MODELS, ids=[entry["file"] for entry in MODELS])


def wanted(entry: dict) -> np.ndarray:
    kind = ml_dtypes.bfloat16 if entry["type"] == "bfloat16" else entry["type"]
    return np.frombuffer(bytes.fromhex(entry["output"]), kind).reshape(entry["shape"])


def copy(entry: dict, folder: Path) -> Path:
    for path in FOLDER.glob(Path(entry["file"]).stem + ".*"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder / entry["file"]


def run(path: Path, entry: dict) -> np.ndarray:
    np.save(path.with_name("ids.npy"), IDS)
    (out,) = many.run(path, "--node", entry["node"], "--input", f"ids={path.with_name('ids.npy')}").values()
    return out


def test_the_files_are_those_of_the_manifest():
    assert {path.name for path in FOLDER.glob("*.*") if path.suffix in (".onnx", ".xml")} == {entry["file"] for entry in MODELS}
    assert len(MODELS) >= 12 and sum(path.stat().st_size for path in FOLDER.iterdir()) < 200_000
    assert {entry["made_by"].split()[0] for entry in MODELS} == {"onnxruntime", "NNCF"}


@each_model
def test_run(entry, tmp_path):
    """Bit for bit what the runtime gave."""
    out = run(copy(entry, tmp_path), entry)
    assert str(out.dtype) == entry["type"] and out.shape == tuple(entry["shape"])
    assert out.tobytes() == wanted(entry).tobytes()


@each_model
def test_check(entry, tmp_path):
    """Without indices the check says what to give; with them it verifies, and finds one that is out of range."""
    path = copy(entry, tmp_path)
    assert [node["verdict"] for node in many.gather("check", path)["nodes"]] == ["unknown"]
    np.save(tmp_path / "ids.npy", IDS)
    (node,) = many.gather("check", path, "--input", f"ids={tmp_path / 'ids.npy'}")["nodes"]
    assert node["verdict"] == "ok" and node["indices"]["bad"] == 0
    assert node["output"]["shape"] == entry["shape"] and node["output"]["type"] == entry["type"]
    np.save(tmp_path / "ids.npy", np.where(IDS == 7, ROWS, IDS))
    (node,) = many.gather("check", path, "--input", f"ids={tmp_path / 'ids.npy'}", check=False)["nodes"]
    assert node["indices"]["bad"] == 1 and node["indices"]["max"] == ROWS
    zeros = node["rules"] in ("microsoft-1", "openvino-8")
    assert node["verdict"] == ("ok" if zeros else "bad")
    assert zeros or (node["error"]["position"], node["error"]["value"]) == ([1, 1], ROWS)


@each_model
def test_runtime(entry, tmp_path):
    """The runtime that is installed still gives those bits."""
    path = copy(entry, tmp_path)
    package = "openvino" if path.suffix == ".xml" else "onnxruntime"
    if importlib.util.find_spec(package) is None:
        skip_test(package, "the package is not installed")
    np.save(tmp_path / "ids.npy", IDS)
    out = {"shape": entry["shape"], "dtype": entry["type"], "bytes": wanted(entry).nbytes, "out": str(tmp_path / "y.npy")}
    job = {"peer": package, "threads": 2, "inputs": {"ids": str(tmp_path / "ids.npy")}, **out, "path": str(alone(path, entry))}
    answer = peers.ask_one(job)
    assert answer == {"error": ""}
    assert np.load(tmp_path / "y.npy").tobytes() == wanted(entry).tobytes()


def alone(path: Path, entry: dict) -> Path:
    """The model with the gather's output as its only one."""
    made = path.with_name("alone" + path.suffix)
    if path.suffix == ".xml":
        import openvino

        model = openvino.Core().read_model(path)
        (gather,) = [one for one in model.get_ops() if one.get_friendly_name() == entry["node"]]
        cut = openvino.Model([gather.output(0)], model.get_parameters(), "alone")
        openvino.save_model(cut, made, compress_to_fp16=False)
        return made
    import onnx

    model = onnx.load(path)
    (node,) = [one for one in model.graph.node if one.name == entry["node"]]
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(node.output[0]))
    made.write_bytes(model.SerializeToString())
    return made
