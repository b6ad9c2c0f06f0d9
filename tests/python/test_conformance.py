# SPDX-License-Identifier: MIT
"""The suites of conformance/ that need the tests' own packages alone: ONNX's tests, NumPy's, and random models in ONNX Runtime and OpenVINO.
script/conformance runs all of them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.skip import skip_test

ROOT = Path(__file__).parents[2]
QUICK = ("onnx", "numpy", "onnxruntime", "openvino")
sys.path.insert(0, str(ROOT / "conformance"))


def run(*words: str, **changed: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "conformance/run.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=800, env={**os.environ, **changed}, check=False)


@pytest.mark.parametrize("suite", QUICK)
def test_suite(suite, tmp_path):
    """Nothing fails, and every listed difference is still one."""
    if importlib.util.find_spec(suite) is None:
        skip_test(suite, "the package is not installed")
    done = run("--suites", suite, "--json", str(tmp_path / "found.json"))
    print(done.stdout)
    found = json.loads((tmp_path / "found.json").read_text())
    if "not_run" in found["answers"][0]:
        skip_test(suite, found["answers"][0]["not_run"])
    assert done.returncode == 0 and not found["problems"], done.stdout + done.stderr


def test_a_suite_that_cannot_run_is_said(tmp_path):
    """Without the package: printed, and a failure only where it is required."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['expecttest'] = None\n")
    hidden = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    if importlib.util.find_spec("torch") is not None:
        skip_test("no torch", "PyTorch is installed")
    done = run("--suites", "torch", **hidden, GATHER_TEST_REQUIRE="")
    assert done.returncode == 0 and "not run: the package torch is not installed" in done.stdout
    for words, changed in ((("--require", "torch"), {"GATHER_TEST_REQUIRE": ""}), ((), {"GATHER_TEST_REQUIRE": "torch"})):
        done = run("--suites", "torch", *words, **hidden, **changed)
        assert done.returncode == 1 and "FAILED torch: required, but not run" in done.stdout


def test_the_page_has_every_difference():
    """docs/conformance.md is what differences.toml says."""
    import docs

    page = ROOT / "docs/conformance.md"
    text = page.read_text(encoding="utf-8")
    assert docs.exchanged(text, docs.LIST, docs.differences()) == text, "script/conformance --write-docs writes it anew"


def test_the_page_has_no_failure():
    """The table of the last run: no number in the column of failures."""
    rows = re.findall(r"^\| .* \|$", (ROOT / "docs/conformance.md").read_text(encoding="utf-8"), re.M)
    results = [row.split(" | ") for row in rows if row.count(" | ") == 6]
    assert len(results) > 20
    assert all(not cells[3].strip() or cells[0].startswith(("| suite", "| ---")) for cells in results)
