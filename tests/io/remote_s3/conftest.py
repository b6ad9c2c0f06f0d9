# SPDX-License-Identifier: MIT
"""What the tests of S3, of the hub and of the cache on disk share."""
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest
from support.s3_server import KEY_ID, SECRET
from support.skip import skip_test

VARIABLES = ("AWS_", "HF_", "XDG_CACHE_HOME", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "HUGGING")


class Gather:
    """The command, with an environment of the test's own."""

    def __init__(self, exe: Path, folder: Path) -> None:
        self.exe, self.folder = exe, folder
        self.home = folder / "home"
        self.home.mkdir()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(VARIABLES)}
        self.env["HOME"] = str(self.home)
        self.outputs: list[str] = []  # all that was ever printed

    def s3(self, server: Any, **more: str) -> "Gather":
        self.env |= {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": server.url, **more}
        return self

    def run(self, *words: str | Path, **env: str) -> subprocess.CompletedProcess:
        done = subprocess.run([self.exe, *words], capture_output=True, text=True, timeout=60, env={**self.env, **env})
        self.outputs += [done.stdout, done.stderr]
        return done

    def take(self, url: str, ids: Any, *words: str, **env: str) -> tuple[numpy.ndarray, dict]:
        """The rows, and the object "remote" of the answer."""
        output = self.folder / "rows.npy"
        ids = json.dumps(numpy.asarray(ids).tolist())
        done = self.run("take", url, ids, "-o", output, "-f", "--json", *words, **env)
        assert done.returncode == 0, done.stdout + done.stderr
        return numpy.load(output), json.loads(done.stdout)["remote"]

    def fail(self, *words: str, **env: str) -> dict:
        """The error of a command that must fail."""
        done = self.run(*words, "--json", **env)
        assert done.returncode not in (0, -6, -11), done.stdout
        return json.loads(done.stdout)["error"]

    def fail_take(self, url: str, **env: str) -> dict:
        return self.fail("take", url, "[0, 1]", "-o", str(self.folder / "no.npy"), **env)


@pytest.fixture(scope="session")
def build_of_all(gather_exe: Path, tmp_path_factory) -> Path:
    """The command, if it reads the URLs of the tests' servers; else the test is skipped and says what is missing."""
    command, nowhere = Gather(gather_exe, tmp_path_factory.mktemp("build")), "http://127.0.0.1:9"
    for url in (f"{nowhere}/x.npy", "s3://bucket/x.npy", "hf://owner/repo/x.npy"):
        error = command.fail("info", url, AWS_ENDPOINT_URL=nowhere, HF_ENDPOINT=nowhere)
        if error["status"] == "unsupported":
            skip_test("http", error["message"])
    return gather_exe


@pytest.fixture
def gather(build_of_all: Path, tmp_path: Path) -> Gather:
    return Gather(build_of_all, tmp_path)
