# SPDX-License-Identifier: MIT
"""The folder of inputs, and the programs that let calls fail."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import inputs
import pytest
from runs import Point, Runner
from scenarios import Scenario
from support.http_server import HttpServer
from support.skip import skip_test


@pytest.fixture(scope="session")
def input_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    inputs.make(folder)
    return folder


@pytest.fixture
def server_url(gather_exe):
    """The address of a server of the inputs, for a scenario that needs one."""
    with contextlib.ExitStack() as stack:

        def url(scenario: Scenario, folder: Path) -> str:
            if not scenario.remote:
                return ""
            line = [gather_exe, "take", "http://127.0.0.1:9/x.npy", "0", "--dry-run", "--json"]
            error = json.loads(subprocess.run(line, capture_output=True, timeout=60).stdout)["error"]
            if error["status"] == "unsupported":
                skip_test("http", error["message"])
            return stack.enter_context(HttpServer(folder=folder)).url("/")

        yield url


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
