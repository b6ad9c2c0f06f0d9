# SPDX-License-Identifier: MIT
"""The examples for Ray and Dask print what stands beside them, and leave no process behind. They use 127.0.0.1 only."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support.skip import skip_test

EXAMPLES = Path(os.environ["GATHER_SOURCE"]) / "examples"


def needs(*modules: str) -> None:
    for name in modules:
        if importlib.util.find_spec(name) is None:
            skip_test(name, "the package is not installed")


def printed(folder: str, program: str, **environment: str) -> None:
    """Runs it in a session of its own, which is ended with everything in it."""
    command = [sys.executable, str(EXAMPLES / folder / program)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **environment}, start_new_session=True)
        try:
            code = child.wait(timeout=300)
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out.seek(0), err.seek(0)
        said = out.read()
        assert (code, said) == (0, (EXAMPLES / folder / "expected.txt").read_text(encoding="utf-8")), said + err.read()[-3000:]


def test_dask():
    needs("dask", "distributed")
    printed("dask", "rows.py")


def test_ray():
    needs("ray", "pandas", "pyarrow")
    # Unix sockets have short names; no token in the user's home; 127.0.0.1 only, as Ray does on the systems of that variable's name.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        printed("ray", "shards.py", RAY_TMPDIR=folder, RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")


@pytest.mark.parametrize("folder", ["ray", "dask"])
def test_they_are_on_the_list(folder):
    assert f"[{folder}]({folder})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
