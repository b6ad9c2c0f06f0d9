# SPDX-License-Identifier: MIT
#
# run_ray.py [--bench] [--keep]: the example for Ray in an environment of its own below .venv-plugins, and the benchmark beside Ray's
# RandomAccessDataset. script/plugins ray runs it; run_dask.py is the same for Dask.
"""The example for a framework of many processes, with its package, and its benchmark."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from results import plugin_file  # bench/ is in the path

ROOT = Path(__file__).parents[2]
PACKAGES = {"ray": ["ray[data]==2.60.0", "pandas", "pyarrow"], "dask": ["dask[array]==2026.8.0", "distributed==2026.8.0"]}


def environment() -> dict[str, str]:
    """Without the folder of this file."""
    build = os.environ.get("GATHER_BUILD", str(ROOT / "build/release"))
    paths = f"{build}/python{os.pathsep}{ROOT / 'tests'}"
    return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "GATHER_BUILD": build, "GATHER_SOURCE": str(ROOT)}


def run(*command: str | Path, **options: object) -> int:
    return subprocess.run([str(part) for part in command], cwd=ROOT, **{"env": environment(), **options}).returncode


def make(name: str) -> Path:
    """The Python of an environment with the package, made once."""
    folder = ROOT / ".venv-plugins" / name
    python = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        packages = [*PACKAGES[name], "numpy>=2", "pytest>=8"]
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
        (folder / "complete").touch()
    return python


def main(name: str) -> int:
    parser = argparse.ArgumentParser(prog=f"script/plugins {name}", description=__doc__)
    parser.add_argument("--bench", action="store_true", help=f"also run bench/plugin_{name}.py, if there is one")
    parser.add_argument("--python", type=Path, metavar="PATH", help="a Python that has the package, instead of a new environment")
    parser.add_argument("--keep", action="store_true", help="keep the environment")
    given = parser.parse_args()
    python = given.python or make(name)
    required = {**environment(), "GATHER_TEST_REQUIRE": name}
    failed = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT / 'tests'}", ROOT / "tests/scale/test_examples.py", "-k", name, env=required)
    bench = ROOT / f"bench/plugin_{name}.py"
    if given.bench and bench.exists():
        failed = run(python, bench, plugin_file(name)) or failed
    if not given.keep and not given.python:
        shutil.rmtree(ROOT / ".venv-plugins" / name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main("ray"))
