# SPDX-License-Identifier: MIT
#
# test_example.py: examples/python prints what stands beside it.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("program, expected", [("nearest.py", "expected.txt"), ("batches.py", "expected_batches.txt")])
def test_example(program: str, expected: str, tmp_path: Path) -> None:
    folder = Path(os.environ["GATHER_SOURCE"], "examples", "python")
    done = subprocess.run([sys.executable, folder / program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (folder / expected).read_text(encoding="utf-8")
