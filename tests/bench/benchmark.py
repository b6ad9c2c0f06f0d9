# SPDX-License-Identifier: MIT
"""Runs script/bench's program of the build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE, BUILD = Path(os.environ["GATHER_SOURCE"]), Path(os.environ["GATHER_BUILD"])


def run(*arguments: str, program: str = "run") -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "bench"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, str(SOURCE / f"bench/{program}.py"), *arguments], env=environment, text=True,
                          capture_output=True, timeout=300)
