# SPDX-License-Identifier: MIT
"""Servers that answer ranges as RFC 9110 lets them: shorter, not at all, 416 for small files. Tables, ids, models and texts, by the command
and by Python."""
import json
import subprocess
from typing import Any

import numpy as np
import pytest
from support import http_faults as faults
from support.http_server import HttpServer
from support.numpy_files import npy
from support.refusal import refuses

TABLE = np.arange(25_000 * 4, dtype=np.int32).reshape(25_000, 4)  # 400 KB
LARGE = np.arange(5 << 20, dtype=np.int32).reshape(-1, 4)  # 20 MiB, above the default
IDS = np.array([24_999, 0, 7, 12_345, 7])


@pytest.fixture
def server(remote_build):
    files = {"/t.npy": npy(TABLE), "/small.npy": npy(TABLE[:3]), "/large.npy": npy(LARGE), "/ids.npy": npy(IDS), "/ids.txt": b"3\n4\n",
             "/many.npy": npy(np.arange(3_000_000) % 5)}  # fmt: skip
    with HttpServer(files) as server:
        yield server


# What a server does: the faults, and the requests of an open and a take.
KINDS: dict[str, tuple[list[Any], int, int]] = {
    "no ranges": ([faults.ignore_range()], 1, 1),
    "no ranges, no length": ([faults.ignore_range(), faults.chunked(5000)], 1, 1),
    "no ranges, no tag": ([faults.ignore_range(), faults.etag(None), faults.header("Accept-Ranges", "none")], 1, 1),
    "no total": ([faults.no_total()], 2, 2),
    "at most 20000 bytes": ([faults.at_most(20_000)], 5, 20),
    "at most 1024 bytes": ([faults.at_most(1024)], 65, 90),
    "at most 512 bytes": ([faults.at_most(512)], 129, 180),
    "at most 100 bytes": ([faults.at_most(100)], 656, 900),
    "416 without a size": ([faults.unsatisfied(says_size=False)], 2, 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows(server, take, kind):
    what, least, most = KINDS[kind]
    server.fault(*what)
    outcome = take(server.url("/t.npy"), IDS)
    assert not outcome.error, outcome.error
    assert np.array_equal(outcome.rows, TABLE[IDS])
    assert least <= server.requests <= most


def test_small_file(server, take):
    server.fault(faults.unsatisfied())
    outcome = take(server.url("/small.npy"), np.array([2, 0]))
    assert np.array_equal(outcome.rows, TABLE[[2, 0]])
    assert server.ranges("/small.npy")[:2] == [(0, 65535), (0, 128 + 3 * 16 - 1)]


def test_large_file(server, take):
    """Beyond the limit the message has the size and the option, and next to nothing was read."""
    server.fault(faults.ignore_range())
    outcome = take(server.url("/large.npy"), IDS)
    size = 128 + LARGE.nbytes
    assert outcome.error["status"] == "io_error" and f"{size} bytes" in outcome.message and "option whole" in outcome.message
    assert server.requests == 1


def run(gather: Any, *words: Any) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in (gather, *words)], capture_output=True, text=True, timeout=120)


def test_the_option_of_the_command(server, remote_build, tmp_path):
    server.fault(faults.ignore_range())
    out, url = tmp_path / "o.npy", server.url("/large.npy")
    for whole, code in (("25MiB", 0), ("1MiB", 3), ("0", 3)):
        done = run(remote_build, "take", url, "[1310719, 3]", "-o", out, "-f", "--whole", whole)
        assert done.returncode == code, done.stderr
    assert np.array_equal(np.load(out), LARGE[[-1, 3]])
    assert run(remote_build, "info", server.url("/t.npy"), "--whole", "0").returncode == 3
    assert run(remote_build, "info", server.url("/t.npy"), "--whole", "x").returncode == 2


def test_the_option_of_python(server):
    import libgather
    server.fault(faults.ignore_range())
    with libgather.open(server.url("/large.npy"), remote={"whole": "25MiB"}) as table:
        assert np.array_equal(table[[-1, 3]], LARGE[[-1, 3]])
    for whole in (0, "1KiB"):
        refuses(libgather.GatherError, libgather.open, server.url("/t.npy"), remote={"whole": whole}, says="option whole")
    refuses(ValueError, libgather.open, server.url("/t.npy"), remote={"whole": "many"}, says="whole")


def test_ids(server, remote_build, tmp_path):
    """Up to the memory limit, whatever the limit of tables is."""
    import libgather
    server.fault(faults.ignore_range())
    assert libgather.read_ids(server.url("/many.npy")).sum() == 2 * 3_000_000
    assert libgather.read_ids(server.url("/ids.txt")).tolist() == [3, 4]
    np.save(tmp_path / "t.npy", TABLE)
    out = tmp_path / "o.npy"
    for ids, more, code in (("/many.npy", (), 0), ("/many.npy", ("--whole", "0"), 0), ("/ids.txt", (), 0), ("/many.npy", ("--memory", "8MiB"), 3)):
        done = run(remote_build, "take", tmp_path / "t.npy", server.url(ids), "-o", out, "-f", "--json", *more)
        assert done.returncode == code, (ids, more, done.stdout)
        assert code == 0 or "24000128 bytes" in json.loads(done.stdout)["error"]["message"]


def test_statistics_count_what_was_read(server):
    import libgather
    server.fault(faults.ignore_range())
    with libgather.open(server.url("/t.npy")) as table:
        assert np.array_equal(table[IDS], TABLE[IDS])
        network = table.stats().remote
        assert network.requests == 1 and network.bytes_read == 128 + TABLE.nbytes
