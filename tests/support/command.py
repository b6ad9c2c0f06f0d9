# SPDX-License-Identifier: MIT
"""The command in a process of its own, for tests that ask it only now and then: its text, or the object that --json prints."""
import json
import os
import subprocess

EXE = os.environ.get("GATHER_EXE", "")


def call(*words, **more) -> subprocess.CompletedProcess:
    return subprocess.run([EXE, *map(str, words)], capture_output=True, text=True, timeout=120, **more)


def text(*words, codes: tuple[int, ...] = (0,)) -> str:
    """What it prints; it must exit with one of these codes."""
    done = call(*words)
    assert done.returncode in codes, done
    return done.stdout


def asked(*words, **more) -> tuple[int, dict]:
    """How it exits, and its object."""
    done = call(*words, "--json", **more)
    return done.returncode, json.loads(done.stdout)


def answer(*words, code: int = 0) -> dict:
    """The object of a command that exits with this code."""
    done = call(*words, "--json")
    assert done.returncode == code, done
    return json.loads(done.stdout)


def inputs(folder, **arrays) -> list[str]:
    """Words that give these arrays, from files in the folder."""
    import numpy as np

    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [word for name in arrays for word in ("--input", f"{name}={folder / name}.npy")]


def formats() -> set[str]:
    """The formats that this build knows."""
    return {row["name"] for row in answer("info", "--formats")["formats"]}
