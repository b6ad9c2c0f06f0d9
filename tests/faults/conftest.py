# SPDX-License-Identifier: MIT
"""The folder of inputs, and the programs that let calls fail."""

from __future__ import annotations

import os
from pathlib import Path

import inputs
import pytest
from runs import Point, Runner
from support.skip import skip_test


@pytest.fixture(scope="session")
def input_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    inputs.make(folder)
    return folder


def has_unnamed_files(folder: Path) -> bool:
    """O_TMPFILE: not every file system has it."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


@pytest.fixture
def runner(gather_exe, gather_build, tmp_path):
    """Makes one with a folder of its own."""

    def make(name: str) -> Runner:
        return Runner(gather_exe, Path(os.environ["GATHER_TRACE"]), Path(os.environ["GATHER_ALLOC"]), tmp_path / name)

    first = make("first")
    first.clean({})
    if first.run(["--version"], Point("count")).code != 0:
        skip_test("ptrace", "system calls of a child cannot be watched here")
    return make


@pytest.fixture
def unnamed(tmp_path) -> bool:
    return has_unnamed_files(tmp_path)
