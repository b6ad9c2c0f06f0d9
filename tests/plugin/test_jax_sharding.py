# SPDX-License-Identifier: MIT
#
# test_jax_sharding.py: eight devices of the CPU, in a process of their own: sharded gathers give the bytes of unsharded ones, keep their
# sharding without collecting anything, and report positions in the whole of the indices.
"""libgather.jax with sharded arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from jax_support import jax, needs_jax  # noqa: F401

PROGRAM = Path(__file__).with_name("jax_sharded.py")


def run(*arguments: str, **environment: str) -> str:
    flags = "--xla_force_host_platform_device_count=8"
    result = subprocess.run([sys.executable, str(PROGRAM), *arguments], env={**os.environ, "XLA_FLAGS": flags, **environment},
                            capture_output=True, text=True)  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_sharded():
    said = run()
    assert "all good" in said and said.count("ok ") >= 12, said


def test_without_shardy():
    """The older partitioner, where this JAX still has it."""
    assert "all good" in run("gspmd") or "no gspmd" in run("gspmd")
