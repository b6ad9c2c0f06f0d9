# SPDX-License-Identifier: MIT
"""A site is built once for all tests of this folder, from a few documents: Sphinx takes most of the time, and each document some of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "site")]

from skip import skip_test  # noqa: E402


@pytest.fixture(scope="session")
def site_python() -> Path:
    python = ROOT / ".venv-site/bin/python"
    missing = [name for name in ("doxygen", "emcc", "chromium") if shutil.which(name) is None] + ([] if python.exists() else [".venv-site"])
    if missing:
        skip_test("site", f"not installed: {', '.join(missing)} (script/bootstrap site)")
    return python


@pytest.fixture(scope="session")
def command() -> Path:
    return Path(os.environ["GATHER_EXE"])


def run(*arguments: object) -> subprocess.CompletedProcess:
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
