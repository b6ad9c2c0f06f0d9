# SPDX-License-Identifier: MIT
#
# jax.py [--versions[=V,...]] [--bench] [--keep]: libgather.jax with many versions of JAX, each in an environment of its own below
# .venv-plugins, and its benchmark. script/plugins jax runs it.
"""The tests of libgather.jax in every supported version of JAX, and one that is too old."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VENVS = ROOT / ".venv-plugins"
NEWEST = "0.10.2"
VERSIONS = ["0.4.31", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "0.9.0", NEWEST]
FIRST = (0, 5)  # older ones are refused


def release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def environment() -> dict[str, str]:
    """Without the folder of this file, which would hide the package jax."""
    build = os.environ.get("GATHER_BUILD", str(ROOT / "build/release"))
    return {**os.environ, "PYTHONPATH": f"{build}/python", "PYTHONDONTWRITEBYTECODE": "1", "GATHER_BUILD": build, "GATHER_SOURCE": str(ROOT)}


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], cwd=ROOT, text=True, env=environment(), **options)


def make(version: str) -> Path:
    """The Python of an environment with that version, made once."""
    folder = VENVS / f"jax-{version}"
    python = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder, check=True)
        packages = [f"jax=={version}", f"jaxlib=={version}", "pytest>=8", "flatbuffers", "absl-py", *(["numpy<2.1"] if release(version) < FIRST else [])]
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages, check=True)
        (folder / "complete").touch()
    return python


def refused(python: Path) -> str:
    """The ImportError of a version that is too old, or a failure if there is none."""
    program = "try:\n import libgather.jax\nexcept ImportError as error: print('refused:', error)\nelse: raise SystemExit('not refused')"
    result = run(python, "-c", program, capture_output=True)
    return result.stdout.strip() if result.returncode == 0 else f"FAILED: exit {result.returncode}: {result.stderr[-300:]}"


def tested(python: Path) -> str:
    """The last line of its tests, which run in a separate process."""
    files = sorted((ROOT / "tests/plugin").glob("test_jax_*.py"))
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT / 'tests'}", *files)
    result = run(*command, capture_output=True)
    last = (result.stdout.strip().splitlines() or ["nothing"])[-1]
    if result.returncode == 0:
        return last
    failures = [line for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
    return f"FAILED: exit {result.returncode}: {last}\n  " + "\n  ".join(failures[:20]) + result.stderr[-500:]


def versions(wanted: list[str], keep: bool) -> int:
    ask = "import jax, numpy, jaxlib, re, pathlib; t = pathlib.Path(jaxlib.__file__).with_name('include') / 'xla/ffi/api/c_api.h'; print(re.findall(r'API_M...R (\\d+)', t.read_text()), numpy.__version__)"
    failed = 0
    for version in wanted:
        python = make(version)
        facts = run(python, "-c", ask, capture_output=True).stdout.strip()
        said = refused(python) if release(version) < FIRST else tested(python)
        failed += said.startswith("FAILED")
        print(f"jax {version}, FFI and NumPy {facts}: {said}", flush=True)
        if not keep:
            shutil.rmtree(VENVS / f"jax-{version}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", nargs="?", const=",".join(VERSIONS), help="run the tests in these versions of JAX (default: all)")
    parser.add_argument("--bench", action="store_true", help="run bench/plugin_jax.py in the newest one")
    parser.add_argument("--keep", action="store_true", help="keep the environments")
    given = parser.parse_args()
    failed = versions(given.versions.split(","), given.keep) if given.versions else 0
    if given.bench:
        failed += run(make(NEWEST), ROOT / "bench/plugin_jax.py").returncode != 0
    if not given.versions and not given.bench:
        parser.print_help()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
