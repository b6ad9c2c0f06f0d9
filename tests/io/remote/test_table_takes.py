# SPDX-License-Identifier: MIT
"""Takes of tables by URL: memory, threads, jobs, cancelling, Ctrl-C, processes, errors with row and byte, statistics, options."""

import json
import os
import pickle
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from support import http_faults as faults
from support.http_server import HttpServer
from support.numpy_files import npy
from support.refusal import refuses
from support.skip import skip_test
from support.threads import together

try:
    import libgather
except ImportError:
    libgather = None

ROWS, WIDTH = 20_000, 64
TABLE = np.random.default_rng(1).integers(0, 256, (ROWS, WIDTH), np.uint8)
QUICK = {"connections": 4, "timeout": 6, "retries": 1}
pytestmark = pytest.mark.usefixtures("remote_build")


HEAD = len(npy(TABLE)) - TABLE.nbytes
PAST = 65536 // WIDTH + 1  # the first row that the open has not read


@pytest.fixture(autouse=True)
def _package():
    if libgather is None:
        skip_test("libgather", "the Python package is not built")


@pytest.fixture
def server():
    with HttpServer({"/t.npy": npy(TABLE)}) as one:
        yield one


def opened(server: HttpServer, **options):
    remote = {**QUICK, **options.pop("remote", {})}
    return libgather.open(server.url("/t.npy"), remote=remote, **options)


def ids_of(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(PAST, ROWS, count)


# ---- memory


@pytest.mark.parametrize("memory", ["1MiB", "3MiB", "40MiB"])
def test_memory_limit(server, memory):
    with opened(server, memory=memory) as table:
        for seed in range(3):
            ids = ids_of(500, seed)
            assert (table[ids] == TABLE[ids]).all()
        stats = table.stats()
        assert 0 < stats.memory_peak <= stats.memory_ceiling and stats.remote.in_flight_peak <= min(4, stats.depth)


def test_rows_longer_than_a_read():
    long = np.random.default_rng(2).integers(0, 256, (5, 1_500_000), np.uint8)
    with HttpServer({"/t.npy": npy(long)}) as server:
        for memory in ("2MiB", None):
            with opened(server, memory=memory) as table:
                assert (table[[4, 0, 4]] == long[[4, 0, 4]]).all()
                assert (table[2, 1_400_000:] == long[2, 1_400_000:]).all()


def test_most_of_a_file_is_read_in_parts():
    """Half of all rows, in any order: a few long requests, and each byte once."""
    wide = np.random.default_rng(3).integers(0, 256, (100_000, 64), np.uint8)
    with HttpServer({"/t.npy": npy(wide)}) as server, opened(server, cache=0) as table:
        ids = np.random.default_rng(4).permutation(100_000)[:50_000]
        table.reset_stats()
        assert (table[ids] == wide[ids]).all()
        remote = table.stats().remote
        assert remote.requests - remote.hedges <= 100 and remote.bytes_read <= wide.nbytes * 1.1 + remote.hedges * 2**20


def test_cache(server):
    with opened(server) as table:
        ids = ids_of(300)
        assert (table[ids] == TABLE[ids]).all()
        sent = table.stats().remote.requests  # a hedge may reach the server when its take is over
        assert (table[ids] == TABLE[ids]).all() and table.stats().remote.requests == sent
        assert table.stats().rows_cached >= 300


# ---- many at a time


def test_threads_share_the_connections(server):
    wrong = []
    with opened(server, cache=0) as table:

        def work(seed: int) -> None:
            for k in range(4):
                ids = ids_of(60, 10 * seed + k)
                if not (table[ids] == TABLE[ids]).all():
                    wrong.append(seed)

        together(work, range(6))
        assert not wrong and server.peak <= 4 and table.stats().remote.in_flight_peak <= 4


def test_jobs(server):
    with opened(server) as table:
        ids = [ids_of(200, seed) for seed in range(8)]
        jobs = [table.submit(one) for one in ids]
        for one, job in zip(ids, jobs, strict=True):
            assert (job.wait() == TABLE[one]).all()
        assert server.peak <= 4


def test_cancelled_jobs(server):
    """They do not wait for a server that does not answer."""
    with opened(server, remote={"timeout": 600}) as table:
        server.fault(faults.stall(30), path="/t.npy")
        job = table.submit(ids_of(100))
        time.sleep(0.2)
        begin = time.monotonic()
        job.cancel()
        refuses(libgather.GatherCancelledError, job.wait)
        assert time.monotonic() - begin < 10
        server.no_faults()
        ids = ids_of(20)
        assert (table[ids] == TABLE[ids]).all()


def test_interrupt(server):
    with opened(server, remote={"timeout": 600}) as table:
        server.fault(faults.stall(30), path="/t.npy")
        before, sent = server.requests, []

        def interrupt() -> None:
            while server.requests == before:  # else the signal might come before the take
                time.sleep(0.01)
            sent.append(time.monotonic())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        sender = threading.Thread(target=interrupt)
        with pytest.raises(KeyboardInterrupt):
            sender.start()
            table[ids_of(100)]
        assert time.monotonic() - sent[0] < 10
        sender.join()
        server.no_faults()
        assert (table[[3, 5]] == TABLE[[3, 5]]).all()


def test_fork_and_pickle(server):
    with opened(server) as table:
        ids = ids_of(50)
        assert (table[ids] == TABLE[ids]).all()
        child = os.fork()
        if child == 0:
            try:
                good = (table[ids_of(50, 9)] == TABLE[ids_of(50, 9)]).all() and (table[ids] == TABLE[ids]).all()
            except BaseException:  # noqa: BLE001
                good = False
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert (table[ids_of(50, 8)] == TABLE[ids_of(50, 8)]).all()
        with pickle.loads(pickle.dumps(table)) as again:
            assert again.path == table.path and (again[ids] == TABLE[ids]).all()


# ---- errors


def test_error_has_row_byte_status_and_url(server):
    """The URL without its query."""
    bad = 12_345
    offset = HEAD + bad * WIDTH
    server.fault(faults.status(404), when=lambda request: (request.first_last() or (0,))[0] == offset)
    url = server.url("/t.npy") + "?token=secret"
    with libgather.open(url, remote={**QUICK, "gap": 0}) as table:
        with pytest.raises(libgather.GatherFileError) as caught:
            table[[bad + 7000, bad, 2000]]
        error = caught.value
        assert error.row == bad and error.offset == offset
        assert "404" in str(error) and server.url("/t.npy") in str(error) and "secret" not in str(error)
        server.no_faults()
        assert (table[[bad]] == TABLE[[bad]]).all()


def test_indices_come_first(server):
    with opened(server) as table:
        requests = server.requests
        with pytest.raises(libgather.GatherIndexError):
            table[[2000, ROWS]]
        assert server.requests == requests
        assert (table.take([2000, ROWS], mode="clip") == TABLE[[2000, ROWS - 1]]).all()


def test_engines(server, tmp_path):
    for engine in ("mmap", "pread", "uring"):
        refuses(libgather.GatherValueError, opened, server, engine=engine, says="URLs are read by http")
    assert opened(server, engine="http").stats().engine == "http"
    np.save(tmp_path / "x.npy", TABLE[:4])
    refuses(libgather.GatherValueError, libgather.open, tmp_path / "x.npy", engine="http", says="engine http")
    assert libgather.info()["engines"]["http"] is None


def test_options(server, tmp_path):
    for wrong, kind in (({"conections": 4}, TypeError), ({"gap": "many"}, ValueError), ({"connections": 5000}, ValueError),
                        ({"timeout": -1}, ValueError), ({"cache_bytes": 4096}, ValueError), ({"region": 4}, TypeError),
                        (5, TypeError)):  # fmt: skip
        refuses(kind, libgather.open, server.url("/t.npy"), remote=wrong)
    np.save(tmp_path / "x.npy", TABLE[:4])
    refuses(ValueError, libgather.open, tmp_path / "x.npy", remote={}, says="there is none")


def test_tokens_of_the_hub_stay_there(server, monkeypatch):
    """HF_TOKEN is sent to the hub alone; HF_ENDPOINT says which server that is."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with opened(server) as table:
        assert table.rows == ROWS
    assert all("authorization" not in {name.lower() for name in record.request.headers} for record in server.log)
    monkeypatch.setenv("HF_ENDPOINT", server.url("").rstrip("/"))
    with opened(server) as table:
        assert table.rows == ROWS
    assert "hf_secret" in str(server.log[-1].request.headers)


# ---- the command


def answer_of(gather, *words, code=0) -> dict:
    done = subprocess.run([gather, *words, "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_command(server, tmp_path, remote_build):
    out, url = tmp_path / "o.npy", server.url("/t.npy")
    answer = answer_of(remote_build, "take", url, "[2000, 3, 2000]", "-o", out, "--connections", "3", "--gap", "auto")
    assert (np.load(out) == TABLE[[2000, 3, 2000]]).all()
    assert answer["table"]["engine"] == "http" and answer["remote"]["requests"] == server.requests and server.peak <= 3
    text = subprocess.run([remote_build, "take", url, "2000", "-f", "-o", out, "--plan"], capture_output=True, text=True)
    assert "network: " in text.stderr and "(p50)" in text.stderr and "misses are read by http" in text.stdout


@pytest.mark.parametrize("words", [("--connections", "0"), ("--connections", "1025"), ("--gap", "much"), ("--timeout", "0"),
                                   ("--cache-bytes", "1G"), ("--cache", ""), ("--engine", "pread")])  # fmt: skip
def test_usage(server, tmp_path, remote_build, words):
    out = tmp_path / "o.npy"
    answer = answer_of(remote_build, "take", server.url("/t.npy"), "0", "-o", out, *words, code=2)
    assert answer["error"]["status"] == "usage" and not out.exists()


def test_bench(server, remote_build):
    answer = answer_of(remote_build, "bench", server.url("/t.npy"), "--rows", "50", "--connections", "4")
    assert answer["rows"] == 50 and answer["rows_per_second"] > 0 and answer["row_bytes"] == WIDTH
    assert answer["remote"]["requests"] > 0 and answer["remote"]["p50"] <= answer["remote"]["p99"]
    text = subprocess.run([remote_build, "bench", server.url("/t.npy"), "--rows", "20"], capture_output=True, text=True)
    assert "rows/s" in text.stdout and "network: " in text.stdout
