# SPDX-License-Identifier: MIT
"""One environment per version of ONNX Runtime, in .venv-plugins/ort-VERSION: the wheel and NumPy, nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".venv-plugins"
# The floor of each door and the versions around it: 1.17 the custom operators', 1.24 the kernel registry's; 1.16 is too old for
# both. "newest" is what the registry offers.
VERSIONS = ("1.16.3", "1.17.0", "1.20.1", "1.22.1", "1.23.2", "1.24.1", "1.27.0", "1.31.1", "newest")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def requirements(version: str) -> list[str]:
    """What pip installs. Wheels before 1.19 were built for NumPy 1."""
    if version == "newest":
        return ["onnxruntime", "numpy"]
    return [f"onnxruntime=={version}", "numpy" if numbers(version) >= (1, 19) else "numpy==1.26.4"]


def run_pip(python: Path, *words: str) -> None:
    done = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", *words], capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise RuntimeError(f"pip {' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def environment(version: str) -> Path:
    """The Python of the environment for this version, which is made if it is missing. A half-made one is completed."""
    folder = FOLDER / f"ort-{version}"
    python, done = folder / "bin/python", folder / "complete"
    if not done.exists() or version == "newest":
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
        run_pip(python, "install", "--upgrade", "--no-deps", *requirements(version))
        done.touch()
    return python
