# SPDX-License-Identifier: MIT
"""What the tests of remote tables share."""
import json
import subprocess
from pathlib import Path

import pytest
from taking import Command, Package
from support.http_tls import Authority
from support.skip import skip_test


@pytest.fixture(scope="session")
def authority(tmp_path_factory) -> Authority:
    """A certificate authority that no system knows."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def remote_build(gather_exe: Path) -> Path:
    """The command, if it reads URLs; else the test is skipped and says what is missing."""
    done = subprocess.run([gather_exe, "take", "http://127.0.0.1:9/x.npy", "0", "--dry-run", "--json"],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    error = json.loads(done.stdout)["error"]
    if error["status"] == "unsupported":
        skip_test("http", error["message"])
    return gather_exe


@pytest.fixture
def command(remote_build, tmp_path) -> Command:
    return Command(remote_build, tmp_path)


@pytest.fixture(params=["command", "python"])
def take(request, remote_build, tmp_path):
    """Both ways, one after the other."""
    return Command(remote_build, tmp_path) if request.param == "command" else Package()
