# SPDX-License-Identifier: MIT
"""Every command of the documents is run and prints what stands there. The blocks of one document share a folder."""

import os
import shlex
import subprocess
import sys
import traceback
from pathlib import Path

import numpy  # noqa: F401  (the lines of Python that are run here find it loaded)
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


def python_line(command: str) -> str | None:
    """The code of a command that is `python3 -c CODE` and nothing more."""
    if not command.startswith("python3 -c '") or command.count("'") != 2 or not command.endswith("'"):
        return None
    return shlex.split(command)[2]


def run_python(code: str, folder: Path) -> tuple[str, int]:
    """What Python prints and how it ends, in a child of this process: a new one would load NumPy each time, which takes ten times as long."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            for stream in (1, 2):
                os.dup2(writes, stream)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
            exec(code, {"__name__": "__main__"})
            end = 0
        except BaseException:
            traceback.print_exc()
            end = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end)
    os.close(writes)
    with open(reads, encoding="utf-8") as pipe:
        printed = pipe.read()
    return printed, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(command: str, status: int, folder: Path) -> tuple[str, int]:
    """What a command prints and how it ends. `echo $?` tells `status`, that of the command before, as in a person's shell."""
    code = python_line(command)
    if code is not None:
        return run_python(code, folder)
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
