# SPDX-License-Identifier: MIT
"""The suites of conformance/ that need the tests' own packages alone: ONNX's tests, NumPy's, and random models in ONNX
Runtime and OpenVINO. script/conformance runs all of them.
"""

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.sample import STEP
from support.skip import skip_test

ROOT = Path(__file__).parents[2]
QUICK = ("onnx", "numpy", "onnxruntime", "openvino")
FEW = ("--quick", "100")  # what finds a fault is tried with a few cases of each kind
# In a sample ONNX computes no cases of operators that libgather does not have.
SAMPLED = {"CONFORMANCE_OURS": "1"} if STEP > 1 else {}
sys.path.insert(0, str(ROOT / "conformance"))


def needs(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        skip_test(package, "the package is not installed")


def run(*words: str, program: Path = ROOT / "conformance/run.py", **changed: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(program), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=800, env={**os.environ, **changed}, check=False)


# Operators that other tests compare with their runtimes.
ELSEWHERE = {"GatherBlockQuantized": "tests/model/test_run_quantized.py", "GatherTree": "tests/model/test_gather_tree.py"}
WRITING = """Scatter ScatterElements ScatterND TensorScatter ScatterUpdate ScatterElementsUpdate ScatterNDUpdate EmbeddingBagOffsetsSum
EmbeddingBagOffsets EmbeddingBagPackedSum EmbeddingBagPacked EmbeddingSegmentsSum"""
ELSEWHERE |= dict.fromkeys(WRITING.split(), "tests/model/test_run_writing.py")


@pytest.mark.parametrize(("dialect", "module"), [("onnx", "onnx_models"), ("openvino", "openvino_suite")])
def test_every_version_is_compared(dialect, module):
    needs({"onnx_models": "onnx", "openvino_suite": "openvino"}[module])
    import libgather

    dialects = (dialect, "microsoft") if dialect == "onnx" else (dialect,)
    ops = [op for op in libgather.ops() if op["dialect"] in dialects]
    for name in {op["name"] for op in ops} & set(ELSEWHERE):
        assert name in (ROOT / ELSEWHERE[name]).read_text(encoding="utf-8")
    rows = {(op["name"], op["rules"]): op["negative"] for op in ops if op["name"] not in ELSEWHERE}
    versions = __import__(module).VERSIONS | __import__(module).ND_VERSIONS
    assert {key: value[-1] if isinstance(value, tuple) else value for key, value in versions.items()} == rows


@pytest.mark.parametrize("suite", QUICK)
def test_suite(suite, tmp_path):
    """Nothing fails, and every listed difference is still one."""
    needs(suite)
    done = run("--quick", "--suites", suite, "--json", str(tmp_path / "found.json"), **SAMPLED)
    print(done.stdout)
    found = json.loads((tmp_path / "found.json").read_text())
    if "not_run" in found["answers"][0]:
        skip_test(suite, found["answers"][0]["not_run"])
    assert done.returncode == 0 and not found["problems"], done.stdout + done.stderr


def customized(folder: Path, code: str) -> dict[str, str]:
    """An environment in which every Python runs this code first."""
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", "GATHER_TEST_REQUIRE": ""}


HIDDEN = """
import importlib.metadata as metadata
real = metadata.version
def version(name):
    if name == "onnxruntime":
        raise metadata.PackageNotFoundError(name)
    return real(name)
metadata.version = version
"""

WRONG = """
import libgather
real = libgather.gather_elements
libgather.gather_elements = lambda *arguments, **options: real(*arguments, **options)[::-1].copy()
"""


def test_a_suite_that_cannot_run_is_said(tmp_path):
    """Without the package: printed, and a failure only where it is required."""
    hidden = customized(tmp_path, HIDDEN)
    done = run("--quick", "--suites", "onnxruntime", **hidden)
    assert done.returncode == 0 and "not run: the package onnxruntime is not installed" in done.stdout, done.stderr
    for words, changed in ((("--require", "onnxruntime"), {}), ((), {"GATHER_TEST_REQUIRE": "all"})):
        done = run("--quick", "--suites", "onnxruntime", *words, **{**hidden, **changed})
        assert done.returncode == 1 and "FAILED onnxruntime: required, but not run" in done.stdout


@pytest.mark.in_full
def test_a_wrong_answer_is_found(tmp_path):
    """A libgather that turns its results around fails."""
    needs("onnxruntime")
    done = run(*FEW, "--suites", "onnxruntime", **customized(tmp_path, WRONG))
    assert done.returncode == 1 and "other elements" in done.stdout, done.stdout


def others_are_brief(text: str, kept: str) -> str:
    """The other entries with an example that imports nothing, and prints what it should."""
    whole = re.compile(r'^example = """.*?""".^prints = """.*?"""', re.S | re.M)
    head, *entries = text.split("[[difference]]")
    brief = [entry if f'id = "{kept}"' in entry else whole.sub('example = "print(1)"\nprints = "1"', entry) for entry in entries]
    return "[[difference]]".join([head, *brief])


def test_a_difference_that_is_gone_is_found(tmp_path):
    """An entry whose program prints something else is a failure; with another version of the peer it is one where it is
    required.
    """
    needs("onnxruntime")
    folder = tmp_path / "conformance"
    shutil.copytree(ROOT / "conformance", folder, ignore=shutil.ignore_patterns("__pycache__"))
    table = folder / "differences/onnxruntime.toml"
    text = table.read_text()
    version = importlib.metadata.version("onnxruntime")
    text = others_are_brief(text, "onnxruntime-string-rows")
    for versions, required, fails in ((version, "", True), ("0.1", "", False), ("0.1", "onnxruntime", True)):
        changed = text.replace("ONNX Runtime: [['b0', ''], ['a0', '']]", "ONNX Runtime: all of them")
        changed = re.sub(r'(id = "onnxruntime-string-rows"(?:\n.*?)*?versions = \[)[^]]*', rf'\1"{versions}"', changed, count=1)
        assert changed != text
        table.write_text(changed)
        done = run(*FEW, "--suites", "onnxruntime", program=folder / "run.py", GATHER_TEST_REQUIRE=required)
        assert "difference gone: onnxruntime: onnxruntime-string-rows" in done.stdout, done.stdout + done.stderr
        assert (done.returncode == 1) == fails, done.stdout


def test_the_page_has_every_difference():
    """docs/measured/conformance.md is what differences/*.toml says."""
    import docs

    page = ROOT / "docs/measured/conformance.md"
    text = page.read_text(encoding="utf-8")
    assert docs.exchanged(text, docs.LIST, docs.differences()) == text, "script/conformance --write-docs writes it anew"
    text = (ROOT / "docs/measured/peers-defects.md").read_text(encoding="utf-8")
    assert docs.exchanged(text, docs.REPORTS, docs.reports()) == text, "script/conformance --write-docs writes it anew"


def test_the_page_has_no_failure():
    """The table of the last run: no number but 0 in the column of failures, and every suite ran."""
    page = (ROOT / "docs/measured/conformance.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", page, re.M)]
    summary = [row for row in rows if len(row) == 6 and row[1].isdigit()]
    assert len(summary) == 8 and all(row[2] == "0" for row in summary)
    assert all(re.match(r".+ [0-9.]+$", row[0]) for row in summary)
