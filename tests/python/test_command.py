# SPDX-License-Identifier: MIT
"""The command in the package."""

import os
import subprocess
import sys

import numpy as np
import pytest

import libgather
from libgather import command, errors
from support.refusal import refuses

PROGRAM = [sys.executable, "-m", "libgather.command"]


def test_path():
    assert os.path.isabs(command.path())
    assert os.access(command.path(), os.X_OK)
    assert libgather.__version__ in subprocess.run([command.path(), "--version"], capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize("arguments", [["--version"], ["ops", "--json"], ["nothing"], ["take", "none.npy", "1", "-o", "x.npy"], []])
def test_main_is_the_command(arguments, tmp_path):
    ours = subprocess.run([*PROGRAM, *arguments], capture_output=True, check=False, cwd=tmp_path)
    theirs = subprocess.run([command.path(), *arguments], capture_output=True, check=False, cwd=tmp_path)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize(
    "arguments", [["--version"], ["nothing"], ["take", "none.npy", "1", "-o", "x.npy"], ["take", "a.npy", "[9]", "-o", "x.npy"], []]
)
def test_the_package_is_the_command(arguments, tmp_path):
    """python -m libgather, with the command's exit code."""
    np.save(tmp_path / "a.npy", np.arange(5))
    ours = subprocess.run([sys.executable, "-m", "libgather", *arguments], capture_output=True, check=False, cwd=tmp_path)
    theirs = subprocess.run([command.path(), *arguments], capture_output=True, check=False, cwd=tmp_path)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_main_gets_arguments_and_input(tmp_path):
    np.save(tmp_path / "x y.npy", np.arange(5))
    arguments = [str(tmp_path / "x y.npy"), "[4, 0]", "-o", "-", "--quiet"]
    done = subprocess.run([*PROGRAM, "take", *arguments], capture_output=True, check=True)
    np.save(tmp_path / "wanted.npy", np.array([4, 0]))
    assert done.stdout == (tmp_path / "wanted.npy").read_bytes()
    given = subprocess.run([*PROGRAM, "info", "-"], input=done.stdout, capture_output=True, check=True)
    assert b"int64" in given.stdout


def test_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(libgather, "__path__", [str(tmp_path)])
    error = refuses(errors.GatherFileNotFoundError, command.path, says="install libgather again")
    assert isinstance(error, FileNotFoundError)
    assert (error.status, error.code) == ("file_not_found", 12)
    assert error.file == str(tmp_path / "bin" / "gather")
    refuses(SystemExit, command.main, says="gather: error: the bundled command")


def test_an_editable_install_has_two_folders(monkeypatch, tmp_path):
    found = command.path()
    monkeypatch.setattr(libgather, "__path__", [str(tmp_path), *libgather.__path__])
    assert command.path() == found


def test_cannot_run(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gather").write_text("no program")
    monkeypatch.setattr(libgather, "__path__", [str(tmp_path)])
    refuses(SystemExit, command.main, says="gather: error: .*Permission")
