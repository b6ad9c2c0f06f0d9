# SPDX-License-Identifier: MIT
"""The acceptance tests of remote tables in full, for a machine that does nothing else: nginx and our own server in network namespaces, the
relay between them and the client. `script/remote --accept` and `--faults` run this file; the tests run test_accept_*.py, which is shorter.
GATHER_TEST_ROUNDS=N: rounds of each storm; GATHER_TEST_SEED=N: others."""
import os
import random
import time
from pathlib import Path

import numpy as np
import pytest
from support import http_faults as faults
from support.http_server import HttpServer
from support.netns import Namespace
from support.nginx import Nginx
from support.relay import Relay
from support.zarr_files import write_3
from taking import Asked, Command, Known, Outcome, Package, optimum
from test_accept_bounds import sparse_file

EIGHT_GB = Known(15_625_000, 512)
ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", "25"))
SEED = int(os.environ.get("GATHER_TEST_SEED", "1"))
PATH = "/table.npy"


# ---- latency, against nginx


@pytest.fixture
def nginx(tmp_path):
    """nginx in a namespace, with an 8 GB file of which 6,400 rows are written, and their numbers."""
    folder, ids = tmp_path / "served", EIGHT_GB.some(6400, seed=5)
    folder.mkdir()
    sparse_file(folder / "table.npy", EIGHT_GB, ids)
    with Namespace() as there, Nginx(folder, address=there.address, prefix=there.prefix) as server:
        yield server, ids


def test_latency_is_hidden(nginx, remote_build):
    """At 40 ms and 64 connections at least 80 % of connections / latency, over a whole take with open connections."""
    server, ids = nginx
    rtt, connections, shares = 0.04, 64, []
    for _ in range(3):
        with Relay(server.port, rtt=rtt, address=server.address) as relay:
            with Package().module.open(relay.url(PATH), remote={"connections": connections, "gap": 0}) as table:
                table.take(ids[:1280])  # opens the connections
                start = time.monotonic()
                rows = np.asarray(table.take(ids[1280:]))
                shares.append((len(ids) - 1280) / (time.monotonic() - start) / (connections / rtt))
            np.testing.assert_array_equal(rows, EIGHT_GB.expected(ids[1280:]))
            assert relay.counts().peak <= connections
    print(f"shares of connections / latency: {', '.join(f'{share:.0%}' for share in shares)}")
    assert max(shares) >= 0.8


@pytest.mark.parametrize("rtt", [0.04, 0.1], ids=["40ms", "100ms"])
@pytest.mark.parametrize("way", ["command", "python"])
def test_sparse_rows_in_60_round_trips(nginx, remote_build, tmp_path, rtt, way):
    server, ids = nginx
    take, found = Command(remote_build, tmp_path) if way == "command" else Package(), []
    for _ in range(3):
        with Relay(server.port, rtt=rtt, address=server.address) as relay:
            start = time.monotonic()
            outcome = take(relay.url(PATH), ids[:2000])
            found.append((time.monotonic() - start) / rtt)
            np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(ids[:2000]))
            assert relay.counts().peak <= 64
    print(f"round trips: {', '.join(f'{trips:.1f}' for trips in found)}")
    assert min(found) < 60


# Rows and elements of a chunk, rows of a shard, the compressor; of 32 shards, or 1000 files.
CHUNKED = {"short chunks": ((64, 64), 2048, "gzip", 32), "long chunks": ((256, 128), 4096, None, 32),
           "files": ((256, 16), None, "gzip", 1000)}  # fmt: skip


@pytest.fixture(scope="module", params=CHUNKED)
def store(request, tmp_path_factory) -> tuple[str, Path, np.ndarray]:
    (each, width), shard, compressor, files = CHUNKED[request.param]
    folder = tmp_path_factory.mktemp("store")
    array = np.random.default_rng(1).integers(0, 4096, ((shard or each) * files, width)).astype(np.float32)
    write_3(folder / "bucket" / "t.zarr", array, (each, width), (shard, width) if shard else None, compressor)
    for first in range(0, len(array), shard) if shard else ():
        array[first + each : first + 2 * each] = 0  # not stored
    return request.param, folder, array


@pytest.mark.parametrize("count", [64, 256, 1000])
def test_rows_in_chunks_in_few_round_trips(store, remote_build, count):
    """From S3, at 40 ms a request, opening included: 4 round trips, and one for each 64 rows."""
    (name, folder, array), late, found = store, 0.04, []
    ids = np.random.default_rng(count).integers(0, len(array), count)
    with HttpServer(folder=folder) as server:
        server.fault(faults.delay(late))
        for _ in range(3):
            start = time.monotonic()
            with Package().module.open("s3://bucket/t.zarr", remote={"endpoint": server.url("/").rstrip("/")}) as table:
                rows = np.asarray(table.take(ids))
            found.append((time.monotonic() - start) / late)
            np.testing.assert_array_equal(rows, array[ids])
    print(f"{name}, {count} rows: {', '.join(f'{trips:.1f}' for trips in found)} round trips")
    assert min(found) <= 4 + count / 64


# ---- bytes


@pytest.mark.parametrize("spread", [30_000, 3_000, 300, 30, 3])
@pytest.mark.parametrize("rate", [5e6, 50e6])
@pytest.mark.parametrize("rtt", [0.001, 0.02, 0.1], ids=["1ms", "20ms", "100ms"])
@pytest.mark.parametrize("connections", [8, 64])
def test_bytes_beside_the_optimum(remote_build, tmp_path, connections, rtt, rate, spread):
    """At most 1.3 times what the best gap reads, with the limit of the rate in the namespace (tbf); the header is not counted.
    The bucket of tbf is small: the model knows no network that is faster at first."""
    known = Known(500 * spread, 512)
    ids = known.some(500)
    best = optimum(known, ids, rtt, rate, connections)
    with Namespace(rate=rate, burst=16 << 10) as there, HttpServer(host=there.address, listening=there.listen()) as server:
        server.put(PATH, known.content)
        with Relay(server.port, rtt=rtt, address=there.address) as relay:
            outcome = Command(remote_build, tmp_path)(relay.url(PATH), ids, Asked(connections=connections))
            np.testing.assert_array_equal(outcome.rows, known.expected(ids))
            read = server.body_bytes - 2 * (64 << 10)
            print(f"{read / best['bytes']:.2f} times the optimum's {best['bytes']:,} bytes; gap {outcome.remote['gap_bytes']:,}, best {best['gap']:,}")
            assert read <= 1.3 * best["bytes"], (best, outcome.remote)
            assert relay.counts().peak <= connections  # the server sees an end later than a begin: the relay delays only the former


# ---- everything at once

TRANSIENT = [
    lambda: faults.delay(0.3), lambda: faults.cut(100), lambda: faults.cut(0, reset=True), lambda: faults.reset(), lambda: faults.close(),
    lambda: faults.close_silently(), lambda: faults.status(503), lambda: faults.status(503, 0), lambda: faults.status(429, 1),
    lambda: faults.status(500), lambda: faults.content_range(shift=512), lambda: faults.length(-1), lambda: faults.length(1),
    lambda: faults.no_length(), lambda: faults.chunked(50), lambda: faults.garbage(), lambda: faults.cut_header(20),
    lambda: faults.throttle(5000, 128), lambda: faults.stall(30), lambda: faults.endless_headers(), lambda: faults.redirect("/other.npy"),
    lambda: faults.etag('"old"'), lambda: faults.ignore_range(), lambda: faults.gzipped(), lambda: faults.status(403)]  # fmt: skip


def storm(server: HttpServer, rng: random.Random) -> None:
    """Each request has a fault with a probability of this storm's."""
    share, chosen = rng.choice([0.02, 0.1, 0.3]), rng.sample(TRANSIENT, rng.randint(1, 5))

    def apply(request, answer) -> None:
        if request.number > 0 and rng.random() < share:
            rng.choice(chosen)()(request, answer)

    server.fault(apply)


def judge(outcome: Outcome, known: Known, ids: np.ndarray, url: str) -> bool:
    if outcome.rows is not None:
        np.testing.assert_array_equal(outcome.rows, known.expected(ids))
        return True
    assert outcome.error["status"] == "io_error" and url.partition("?")[0] in outcome.message, outcome.message
    assert "secret" not in outcome.text
    return False


@pytest.mark.parametrize("rtt", [0.001, 0.02, 0.1], ids=["1ms", "20ms", "100ms"])
@pytest.mark.parametrize("way", ["command", "python"])
def test_storms(remote_build, tmp_path: Path, rtt: float, way: str):
    """Faults at random: each row is right, or the error is exact."""
    take, right = Command(remote_build, tmp_path) if way == "command" else Package(), 0
    with Namespace() as there:
        for number in range(ROUNDS):
            rng = random.Random(f"{SEED} {rtt} {number}")
            known = Known(rng.choice([2000, 200_000, 15_625_000]), rng.choice([8, 512, 65536]), seed=number)
            ids, connections = known.some(rng.choice([1, 30, 200]), number), rng.choice([1, 4, 64])
            with HttpServer(host=there.address, listening=there.listen()) as server:
                server.put(PATH, known.content)
                server.put("/other.npy", known.content)
                storm(server, rng)
                network = {"rtt": rtt, "jitter": rng.choice([0, rtt]), "cut": rng.choice([-1, -1, 20_000]), "every": 4, "seed": number + 1}
                with Relay(server.port, address=there.address, **network) as relay:
                    url = relay.url(PATH) + "?token=secret"
                    outcome = take(url, ids, Asked(connections=connections, timeout=6), seconds=300)
                    right += judge(outcome, known, ids, url)
                    assert relay.counts().peak <= connections, number
                    assert server.requests <= 60 + 9 * len(ids), (number, server.requests)
    print(f"{right} of {ROUNDS} takes gave rows, the others an exact error")
    assert right > 0
