# SPDX-License-Identifier: MIT
#
# test_example.py: examples/python prints what stands beside it.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_nearest() -> None:
    folder = Path(os.environ["GATHER_SOURCE"], "examples", "python")
    done = subprocess.run([sys.executable, folder / "nearest.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (folder / "expected.txt").read_text(encoding="utf-8")
