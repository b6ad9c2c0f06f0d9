# SPDX-License-Identifier: MIT
#
# torch.py [--versions [V ...]] [--opinfo] [--bench [FILE]] [--python PATH ...] [--keep]: libgather.torch with several versions of PyTorch, each in an
# environment of its own below .venv-plugins, or with the Pythons given, and its benchmarks. script/plugins torch runs it.
"""The tests and benchmarks of libgather.torch, in several versions of PyTorch."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from results import plugin_file  # bench/ is in the path

ROOT = Path(__file__).parents[2]
VENVS = ROOT / ".venv-plugins"
VERSIONS = ["2.11.0", "2.15.0"]  # the oldest that is supported, and the newest that was tried
NEEDED = ["numpy>=2", "pytest>=8", "ml_dtypes", "safetensors", "setuptools<82", "expecttest>=0.2", "hypothesis"]


def environment() -> dict[str, str]:
    """Without the folder of this file, which would hide the package torch."""
    build = os.environ.get("GATHER_BUILD", str(ROOT / "build/release"))
    paths = f"{build}/python{os.pathsep}{ROOT / 'tests'}"
    return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "GATHER_BUILD": build, "GATHER_SOURCE": str(ROOT)}


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], cwd=ROOT, text=True, env=environment(), **options)


def folder_of(version: str) -> Path:
    return VENVS / f"torch-{version}"


def make(version: str) -> Path:
    """The Python of an environment with that version, made once. PyTorch's wheel contains CUDA's libraries: several GB."""
    folder = folder_of(version)
    python = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder, check=True)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"torch=={version}", *NEEDED, check=True)
        (folder / "complete").touch()
    return python


def tested(python: Path, long: bool) -> str:
    """The last line of the tests, which run in a process per file."""
    files = sorted((ROOT / "tests/plugin").glob("test_torch_*.py"))
    files += sorted((ROOT / "tests/plugin/long").glob("test_torch_*.py")) if long else []
    lines, failures = [], []
    for path in files:
        command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT / 'tests'}", path)
        result = run(*command, capture_output=True)
        lines.append(f"{path.name}: {(result.stdout.strip().splitlines() or ['nothing'])[-1]}")
        if result.returncode:
            failures += [line for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))][:20]
            failures += [f"FAILED: exit {result.returncode}", result.stderr[-500:]]
    return "\n  ".join([*lines, *failures])


def versions(pythons: dict[str, Path], long: bool) -> int:
    failed = 0
    for name, python in pythons.items():
        found = run(python, "-c", "import torch; print(torch.__version__)", capture_output=True)
        said = tested(python, long) if found.returncode == 0 else f"FAILED: {found.stderr[-300:]}"
        failed += "FAILED" in said
        print(f"torch {found.stdout.strip()} ({name}):\n  {said}", flush=True)
    return failed


def opinfo(pythons: dict[str, Path]) -> int:
    """PyTorch's own samples of its operators, with the override and without it."""
    return sum(run(python, ROOT / "tests/support/torch_opinfo.py").returncode != 0 for python in pythons.values())


def bench(python: Path, path: str) -> int:
    """Every benchmark of PyTorch's plug-in: its table, and what it measured as JSON."""
    failed = 0
    for program in sorted((ROOT / "bench").glob("plugin_torch*.py")):
        target = path if path and program.stem == "plugin_torch" else plugin_file(program.stem.removeprefix("plugin_").replace("_", "-"))
        failed += run(python, program, target).returncode != 0
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/plugins torch", description=__doc__)
    parser.add_argument("--versions", nargs="*", metavar="VERSION", help=f"run the tests in these versions of PyTorch (default: {' '.join(VERSIONS)})")
    parser.add_argument("--python", nargs="*", default=[], metavar="PATH", help="Pythons that have PyTorch, instead of new environments")
    parser.add_argument("--quick", action="store_true", help="leave out what compiles: torch.compile, torch.export, AOTInductor")
    parser.add_argument("--opinfo", action="store_true", help="run PyTorch's own samples of its operators with override() and without it")
    parser.add_argument("--bench", nargs="?", const="", metavar="JSON", help="measure, with the last of the versions (results: build/results)")
    parser.add_argument("--keep", action="store_true", help="keep the new environments")
    given = parser.parse_args()
    if given.versions is None and given.bench is None and not given.opinfo:
        parser.error("--versions, --opinfo or --bench is needed")
    wanted = given.versions or VERSIONS
    pythons = {path: Path(path) for path in given.python} or {version: make(version) for version in wanted}
    failed = versions(pythons, not given.quick) if given.versions is not None else 0
    if given.opinfo:
        failed += opinfo(pythons)
    if given.bench is not None:
        failed += bench(list(pythons.values())[-1], given.bench)
    if not given.keep and not given.python:
        for version in wanted:
            shutil.rmtree(folder_of(version), ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
