# SPDX-License-Identifier: MIT
"""Builds that lack schemes of URLs, and machines that lack libcurl: the command and the package say what is missing, and work otherwise.
GATHER_SCHEMES is what CMake was asked for. Nothing here needs a server."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from support.skip import skip_test

BUILT = [scheme for scheme in os.environ.get("GATHER_SCHEMES", "https,http,s3,hf").split(",") if scheme]
URLS = {"https": "https://127.0.0.1:9/x.npy", "http": "http://127.0.0.1:9/x.npy", "s3": "s3://bucket/x.npy", "hf": "hf://owner/repo/x.npy"}
# Ports that nobody listens on: what a build does read is refused by the system, not by a server of anybody.
NOWHERE = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "HF_ENDPOINT": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "k",
           "AWS_SECRET_ACCESS_KEY": "s", "HOME": "/nonexistent"}  # fmt: skip
OPEN = """
import json, sys
import libgather
try:
    libgather.open(sys.argv[1], remote={"retries": 0, "timeout": 5})
except Exception as error:
    print(json.dumps({"status": getattr(error, "status", repr(error)), "message": str(error), "type": type(error).__name__}))
"""


def missing(scheme: str) -> str | None:
    """What must be said of a URL that this build cannot read."""
    if not BUILT:
        return "URLs are not supported in this build: it was made without libcurl's headers, or with -DGATHER_HTTP=OFF"
    return None if scheme in BUILT else f"this build of libgather reads no {scheme}:// URLs, but those of {','.join(BUILT)}"


@pytest.fixture(params=["info", "take", "bench", "python"])
def error_of(request, gather_exe, tmp_path):
    """The error of opening a URL: its status and message, from the commands and from the package."""

    def run(url: str, **environment: str) -> dict:
        if request.param == "python":
            pytest.importorskip("libgather", reason="libgather: the Python package is not built")
            line = [sys.executable, "-c", OPEN, url]
        else:
            more = {"info": [], "take": ["[0]", "-o", str(tmp_path / "rows.npy")], "bench": []}[request.param]
            line = [gather_exe, request.param, url, *more, "--timeout", "5", "--json"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, env={**os.environ, **NOWHERE, **environment})
        assert not (tmp_path / "rows.npy").exists()
        found = json.loads(done.stdout)
        return found if request.param == "python" else {**found["error"], "code": done.returncode}

    return run


@pytest.mark.parametrize("scheme", URLS)
def test_schemes(error_of, scheme) -> None:
    error = error_of(URLS[scheme])
    why = missing(scheme)
    if why is None:
        assert error["status"] == "io_error", error
        return
    assert error["status"] == "unsupported" and why in error["message"], error
    assert error.get("code", 4) == 4 and error.get("type", "GatherNotSupportedError") == "GatherNotSupportedError"


def test_without_libcurl(error_of, tmp_path) -> None:
    """Whatever is in their place, it is no library."""
    if not BUILT:
        skip_test("http", missing("http") or "")
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (folder / name).write_bytes(b"")
    error = error_of(URLS[BUILT[0]], LD_LIBRARY_PATH=str(folder))
    assert error["status"] == "unsupported", error
    assert "URLs need libcurl, which cannot be loaded here: install it (Debian's package libcurl4): " in error["message"]
    assert "libcurl.so.4" in error["message"]


def test_files_need_no_libcurl(gather_exe, tmp_path) -> None:
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (folder / name).write_bytes(b"")
    np.save(tmp_path / "table.npy", np.arange(12.0).reshape(4, 3))
    out = tmp_path / "rows.npy"
    subprocess.run([gather_exe, "take", tmp_path / "table.npy", "[3, 1]", "-o", out], check=True, timeout=60,
                   env={**os.environ, "LD_LIBRARY_PATH": str(folder)})  # fmt: skip
    assert np.load(out).tolist() == [[9, 10, 11], [3, 4, 5]]
