# SPDX-License-Identifier: MIT
"""Network namespaces and nginx: that they work, and that nothing of them is left."""

import os
import subprocess
import time
import urllib.request

import pytest
from support.http_server import HttpServer
from support.netns import FOLDER, PREFIX, Namespace
from support.nginx import Nginx

DATA = bytes(range(256)) * 4000


def get(url: str, asked: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Range": asked}), timeout=60) as answer:
        return answer.read()


def test_server_in_a_namespace():
    with Namespace() as there, HttpServer({"/a": DATA}, host=there.address, listening=there.listen()) as server:
        assert get(server.url("/a"), "bytes=7-1006") == DATA[7:1007]
        name, device = there.name, there.device
    assert not (FOLDER / name).exists() and device not in os.listdir("/sys/class/net")


def test_rate_of_a_namespace():
    with Namespace(rate=4_000_000) as there, HttpServer({"/a": DATA}, host=there.address, listening=there.listen()) as server:
        start = time.monotonic()
        assert get(server.url("/a"), "bytes=0-999999") == DATA[:1_000_000]
        assert time.monotonic() - start >= 0.2


def test_nothing_is_left_after_a_failure():
    with pytest.raises(RuntimeError), Namespace() as there:
        name = there.name
        raise RuntimeError
    assert not (FOLDER / name).exists()


def test_what_a_killed_process_left_is_removed():
    with Namespace():  # or the test is skipped
        process = subprocess.Popen(["true"])
        process.wait()
        stale = f"{PREFIX}{process.pid}-0"
        subprocess.run(["ip", "netns", "add", stale], check=True)
        with Namespace():
            assert not (FOLDER / stale).exists()


def test_nginx(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    with Nginx(tmp_path) as server:
        assert get(server.url("a"), "bytes=7-1006") == DATA[7:1007]
        deadline = time.monotonic() + 20
        while not server.log() and time.monotonic() < deadline:
            time.sleep(0.01)
        line = server.log()[0]
        assert (line.method, line.status, line.bytes, line.range, line.path) == ("GET", 206, 1000, "bytes=7-1006", "/a")


def test_nginx_in_a_namespace_with_tls(tmp_path, authority):
    import ssl

    (tmp_path / "a").write_bytes(DATA)
    with Namespace() as there, Nginx(tmp_path, address=there.address, prefix=there.prefix, tls=authority) as server:
        context = ssl.create_default_context(cafile=str(authority.certificate))
        with urllib.request.urlopen(server.url("a"), timeout=60, context=context) as answer:
            assert answer.read() == DATA and answer.headers["ETag"]
