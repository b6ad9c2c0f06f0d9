# SPDX-License-Identifier: MIT
"""gather check on models that PyTorch exported (script/make-torch-models): beside onnx, and with inputs beside ONNX Runtime.

Where PyTorch is there, the modules are exported again, and the fresh files are compared in the same way.
"""

from __future__ import annotations

import importlib.util
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

import real
from support.command import inputs
from support.onnx_models import session
from support.packed import pack, unpacked
from support.skip import skip_test

ARCHIVE = Path(__file__).parent / "data" / "torch.tar.xz"
FOLDER = unpacked(ARCHIVE)


def cases(folder: Path) -> list[tuple[Path, dict]]:
    """Each file, with its module's inputs and whether one of them is itself the indices of a gather node."""
    entries = json.loads((folder / "manifest.json").read_text())["models"]
    return [(folder / name, {**entry, **entry["files"][name]}) for entry in entries for name in entry["files"]]


CASES = cases(FOLDER)
each_case = pytest.mark.parametrize("path, case", CASES, ids=[path.stem for path, _ in CASES])
# Some exports hand the input to a gather node as its indices; others count them up first, or use GatherND.
DIRECT = [(path, case) for path, case in CASES if case["direct"]]
# Files that are wrong as PyTorch exports them, so that ONNX Runtime does not load them.
NOT_LOADED = {"relativepositions_script11": "Min of int64, which opset 11 does not have"}


def save_inputs(case: dict, folder: Path, **other) -> tuple[dict, list[str]]:
    """The inputs as arrays, and as words of the command line."""
    arrays = {name: real.array_of(said) for name, said in case["inputs"].items()} | other
    return arrays, inputs(folder, **arrays)


def onnxruntime_fails(path, arrays) -> str:
    """What ONNX Runtime says; "" where it runs."""
    opened = session(path, threads=1)
    wanted = {value.name for value in opened.get_inputs()}
    try:
        opened.run(None, {name: array for name, array in arrays.items() if name in wanted})
    except Exception as error:  # its own classes have no common base
        return str(error)
    return ""


def test_the_files_are_those_of_the_manifest():
    assert {path.name for path in FOLDER.glob("*.onnx")} == {path.name for path, _ in CASES}
    assert len(CASES) >= 75 and len(DIRECT) >= 25
    assert {(case["exporter"], case["opset"]) for _, case in CASES} >= {("script", 11), ("script", 13), ("dynamo", 18)}
    assert sum(path.stat().st_size for path, _ in CASES) < 300_000


def test_the_archive_has_nothing_of_the_machine_that_packed_it(tmp_path):
    """Packed again, the files give the same archive, whatever their dates and modes are."""
    for path in FOLDER.iterdir():
        path.chmod(0o640)
    pack(FOLDER, tmp_path / ARCHIVE.name)
    assert lzma.open(tmp_path / ARCHIVE.name).read() == lzma.open(ARCHIVE).read()


@pytest.mark.parametrize("declarations", [True, False], ids=["declared", "bare"])
@each_case
def test_beside_onnx(path, case, declarations, tmp_path):
    faults = real.beside_onnx(path, tmp_path, declarations)
    assert not faults, "\n".join(faults)


@each_case
def test_with_good_inputs(path, case, tmp_path):
    """Nothing is called bad; the indices that are inputs themselves are called ok; ONNX Runtime takes the same inputs."""
    arrays, words = save_inputs(case, tmp_path)
    nodes = real.check(path, *words)["nodes"]
    assert not [node for node in nodes if node["verdict"] == "bad"]
    given = [node for node in nodes if node["indices"]["source"] == "input"]
    assert all(node["verdict"] == "ok" and node["indices"]["bad"] == 0 for node in given), given
    for node in given:
        values = arrays[node["indices"]["name"]]
        assert (node["indices"]["min"], node["indices"]["max"]) == (values.min(), values.max())
    if path.stem not in NOT_LOADED:
        assert onnxruntime_fails(path, arrays) == ""


@pytest.mark.parametrize("path, case", DIRECT, ids=[path.stem for path, _ in DIRECT])
def test_with_a_bad_index(path, case, tmp_path):
    """The node, the place and the value; and ONNX Runtime fails too."""
    name, value = case["bad"]["input"], case["bad"]["value"]
    array = real.array_of(case["inputs"][name])
    place = tuple(n - 1 for n in array.shape)
    array[place] = value
    arrays, words = save_inputs(case, tmp_path, **{name: array})
    nodes = real.check(path, *words, code=1)["nodes"]
    bad = [node for node in nodes if node["verdict"] == "bad"]
    assert bad and [node["number"] for node in bad] == [n["number"] for n in nodes if n["indices"]["name"] == name]
    for node in bad:
        error, length = node["error"], node["data"]["shape"][node["axis"]]
        assert (error["status"], error["position"], error["value"]) == ("index_out_of_range", list(place), value)
        assert (error["low"], error["high"], error["axis"], error["bad_count"]) == (-length, length - 1, node["axis"], 1)
        assert (node["indices"]["bad"], node["indices"]["source"]) == (1, "input")
    said = onnxruntime_fails(path, arrays)
    assert said, "ONNX Runtime takes the bad index"
    if bad[0]["op"] == "Gather":
        assert f"idx={value}" in said and f"[{bad[0]['error']['low']},{bad[0]['error']['high']}]" in said, said


def test_fresh_exports(tmp_path):
    """What the PyTorch of this machine exports."""
    if not importlib.util.find_spec("torch") or not importlib.util.find_spec("onnxscript"):
        skip_test("torch", "the package is not installed; the files of the repository were checked")
    script = Path(os.environ["GATHER_SOURCE"]) / "script" / "make-torch-models"
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    fresh = cases(tmp_path)
    assert len(fresh) > len(CASES) * 0.8
    faults = [fault for path, _ in fresh for fault in real.beside_onnx(path, tmp_path, declarations=True)]
    assert not faults, "\n".join(faults)
