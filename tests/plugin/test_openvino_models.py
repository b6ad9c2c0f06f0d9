# SPDX-License-Identifier: MIT
"""The extension for OpenVINO, each scenario in a process of its own (openvino_child.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.openvino_package import needs_openvino  # noqa: F401  the fixture holds for the whole file
from support.skip import skip_test

HERE = Path(__file__).parent
SMALL = ["ir", "onnx", "errors", "constant_indices", "shapes", "packed", "packed_constants", "tree", "saving", "rule", "bodies", "options", "threads", "loading", "lifetime", "page"]


def scenario(*arguments: str) -> str:
    plugins = Path(os.environ["GATHER_BUILD"]) / "python/libgather/plugins"
    if not list(plugins.glob("libgather_openvino.so")):
        skip_test("openvino", "the extension was not built (GATHER_PLUGIN_OPENVINO)")
    command = [sys.executable, str(HERE / "openvino_child.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and done.stdout.endswith("good\n"), f"exit {done.returncode}\n{done.stdout}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.mark.parametrize("name", SMALL)
def test_scenario(name):
    scenario(name)


@pytest.mark.parametrize("name", ["tables", "compressed", "table_life", "truncated"])
def test_tables(name, tmp_path):
    scenario(name, str(tmp_path))


def test_real_models():
    if not list((HERE.parents[1] / ".venv/models").rglob("*.onnx")):
        skip_test("models", "script/bootstrap installs them")
    print(scenario("real"))
