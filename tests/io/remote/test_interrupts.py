# SPDX-License-Identifier: MIT
"""Ctrl-C and SIGTERM while a server is silent: the program ends at once, not when the time limit does, and leaves nothing."""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support.http_faults import stall
from support.http_server import HttpServer

TABLE = np.arange(400000, dtype=np.float32).reshape(100000, 4)
SOON = 20  # seconds, on a busy machine; the time limit is 60
CODE = """
import libgather, sys
try:
    {}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def server(tmp_path):
    np.save(tmp_path / "x.npy", TABLE)
    with HttpServer({"/x.npy": (tmp_path / "x.npy").read_bytes()}) as running:
        yield running


def end(server: HttpServer, line: list, number: int, after: int = 1, **more) -> tuple[int, str, str]:
    """The exit code and what was printed of a program that gets a signal when the server has that many requests."""
    server.reset_counts()
    with subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more) as child:
        try:
            while server.requests < after:
                assert child.poll() is None, child.communicate()
                time.sleep(0.01)
            begin = time.monotonic()
            child.send_signal(number)
            out, err = child.communicate(timeout=SOON * 2)
        finally:
            child.kill()
    assert time.monotonic() - begin < SOON
    return child.returncode, out, err


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("line", ["take URL [1] -o out.npy", "elements URL [[1,2]] -o out.npy", "take x.npy URL -o out.npy", "info URL", "bench URL"])
def test_the_command_while_it_opens(server, remote_build, tmp_path, line, number, code):
    server.fault(stall(600))
    words = [server.url("/x.npy") if word == "URL" else word for word in line.split()]
    before = sorted(tmp_path.rglob("*"))
    assert end(server, [remote_build, *words], number, cwd=tmp_path) == (code, "", "")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("cache", [False, True])
def test_the_command_while_it_takes(server, remote_build, tmp_path, cache):
    """The old output stays, and nothing is beside it; the blocks that were cached are whole."""
    server.fault(stall(600), skip=5)
    output, ids = tmp_path / "out.npy", ",".join(map(str, range(0, 100000, 9001)))
    output.write_bytes(b"old")
    line = [remote_build, "take", server.url("/x.npy"), f"[{ids}]", "-o", output, "-f", "--gap", "0", "--connections", "1"]
    line += ["--cache", tmp_path / "cache"] if cache else []
    assert end(server, line, signal.SIGINT, after=6)[0] == 130
    assert output.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"x.npy", "out.npy"} | ({"cache"} if cache else set())
    server.no_faults()
    subprocess.run(line, check=True)
    assert np.array_equal(np.load(output), TABLE[::9001])


@pytest.mark.parametrize("call", ["libgather.open({!r})", "libgather.Model({!r})", "libgather.read_ids({!r})", "libgather.open([{0!r}, {0!r}])"])
def test_python_while_it_opens(server, remote_build, call):
    server.fault(stall(600))
    code = CODE.format(call.format(server.url("/x.npy")))
    assert end(server, [sys.executable, "-c", code], signal.SIGINT) == (0, "interrupted\n", "")


def test_python_goes_on_after_it(server, remote_build):
    """The open that was left ends by itself, and another one works; a handler that does not raise ends nothing."""
    server.fault(stall(600), times=1)
    url = server.url("/x.npy")
    code = f"""
import libgather, signal, os, threading, time
def no(*_):
    raise ValueError("stop")
signal.signal(signal.SIGALRM, no)
signal.setitimer(signal.ITIMER_REAL, 1)
try:
    libgather.open({url!r}, remote={{"timeout": 6, "retries": 0}})
except ValueError:
    assert libgather.open({url!r})[7].tolist() == {TABLE[7].tolist()}
    end = time.monotonic() + 60
    while len(os.listdir("/proc/self/task")) > before and time.monotonic() < end:
        time.sleep(0.05)
    print("threads", len(os.listdir("/proc/self/task")) - before)
""".replace("def no", "before = len(os.listdir('/proc/self/task'))\ndef no")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert (done.stdout, done.stderr, done.returncode) == ("threads 0\n", "", 0)
