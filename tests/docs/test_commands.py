# SPDX-License-Identifier: MIT
"""Every command of the documents is run and prints what stands there. The blocks of one document share a folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from blocks import blocks, commands, name_of
from support.skip import skip_test

BY_FILE: dict[Path, list] = {}
for found in blocks("console"):
    BY_FILE.setdefault(found.file, []).append(found)


def environment() -> dict[str, str]:
    """The command and this Python come first; nothing of the caller's colours or locale."""
    folders = [str(Path(os.environ["GATHER_EXE"]).parent), str(Path(sys.executable).parent)]
    path = os.pathsep.join([*folders, os.environ["PATH"]])
    return {**os.environ, "PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}


def run(command: str, status: int, folder: Path) -> tuple[str, int]:
    """What a command prints and how it ends. `echo $?` tells `status`, that of the command before, as in a person's shell."""
    ran = subprocess.run(
        ["bash", "-c", f"(exit {status}); {command}"], cwd=folder, env=environment(), text=True, timeout=60,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )
    return ran.stdout, ran.returncode


@pytest.mark.parametrize("file", BY_FILE, ids=name_of)
def test_commands(file, tmp_path):
    if "GATHER_EXE" not in os.environ:
        skip_test("command", "this build has no command (GATHER_CLI=OFF)")
    status = 0
    for block in BY_FILE[file]:
        for command, wanted in commands(block):
            assert status == 0 or command == "echo $?", f"{block}: exit code {status} and no `echo $?` before: {command}"
            printed, status = run(command, status, tmp_path)
            assert printed == wanted, f"{block}: {command}"
    assert status == 0, f"{file}: exit code {status} of the last command"
