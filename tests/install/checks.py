# SPDX-License-Identifier: MIT
"""Runs one of the checks of script/ on a copy of the project, or on a small tree that looks like it."""

import os
import subprocess
import sys
from pathlib import Path

CC = os.environ.get("GATHER_CC", "cc")


def check(root: Path, name: str, *arguments: object) -> tuple[int, str]:
    script = root / "script" / name
    runner = [sys.executable] if "python" in script.read_text().split("\n", maxsplit=1)[0] else ["bash"]
    command = [*runner, str(script), *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
