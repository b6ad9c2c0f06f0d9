# SPDX-License-Identifier: MIT
"""How many requests, bytes and connections a take costs, and that latency is hidden. Where time is asked for, it is round trips of a relay, with
room for a busy machine, and the best of three attempts counts."""
import os
import time
from collections import Counter

import numpy as np
import pytest
from support.http_content import File
from support.http_server import HttpServer
from support.relay import Relay
from taking import Asked, Known, Package, optimum

PATH = "/table.npy"
EIGHT_GB = Known(15_625_000, 512)


def read_ranges(server: HttpServer) -> list[tuple[int, int]]:
    return sorted(found for found in server.ranges(PATH) if found and found[0] >= EIGHT_GB.head)


def test_each_row_is_read_once(take):
    """Rows that are given many times, in any order, are one request each; the header costs one or two."""
    ids = EIGHT_GB.some(100)
    twice = np.random.default_rng(2).permutation(np.concatenate([ids, ids, ids[:7]]))
    with HttpServer({PATH: EIGHT_GB.content}) as server:
        outcome = take(server.url(PATH), twice, Asked(gap=0))
        np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(twice))
        begins, _ = EIGHT_GB.ranges(ids)
        found = [one for one in server.ranges(PATH) if one is not None and one[1] - one[0] == 511]
        hedges = outcome.remote["hedges"]
        assert sorted(set(found)) == [(begin, begin + 511) for begin in begins.tolist()]
        assert len(found) <= 100 + hedges and server.requests <= 102 + hedges
        assert server.body_bytes <= (100 + hedges) * 512 + 2 * (64 << 10)


def test_statistics_are_the_servers(take):
    ids = EIGHT_GB.some(200)
    with HttpServer({PATH: EIGHT_GB.content}) as server:
        remote = take(server.url(PATH), ids, Asked(connections=8, gap=0)).remote
        assert remote["requests"] == server.requests and remote["connections"] == server.connections
        assert remote["bytes_useful"] == 200 * 512 and remote["in_flight_peak"] <= 8 and server.peak <= 8
        assert abs(remote["bytes_read"] - server.body_bytes) <= remote["hedges"] * 512
        assert remote["retries"] == 0 and 0 < remote["p50"] <= remote["p99"]


@pytest.mark.parametrize("connections", [1, 5, 64])
def test_connections(take, connections):
    """Never more than configured; they are kept alive; many requests are in flight."""
    ids = EIGHT_GB.some(30 if connections == 1 else 300)
    with HttpServer({PATH: EIGHT_GB.content}) as server, Relay(server.port, rtt=0.02) as relay:
        outcome = take(relay.url(PATH), ids, Asked(connections=connections, gap=0))
        np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(ids))
        counts = relay.counts()
        assert counts.peak <= connections and counts.connections <= connections + outcome.remote["hedges"]  # a loser of two is cut
        assert outcome.remote["in_flight_peak"] <= connections


@pytest.mark.parametrize(("connections", "opened"), [(8, 8), (1, 1), (0, 1)])
def test_connections_are_opened_while_the_header_is_awaited(remote_build, connections, opened):
    """Those that are given, not those of the default; none brings a request, and rows use them."""
    ids = EIGHT_GB.some(40)
    with HttpServer({PATH: EIGHT_GB.content}) as server, Relay(server.port, rtt=0.1) as relay:
        with Package().module.open(relay.url(PATH), remote={"connections": connections, "gap": 0}) as table:
            assert (server.requests, relay.counts().connections) == (1, opened)
            np.testing.assert_array_equal(np.asarray(table.take(ids)), EIGHT_GB.expected(ids))
            assert connections == 0 or relay.counts().connections <= connections + table.stats().remote.hedges


def test_neighbours_are_joined(take):
    """Rows without gaps are a few requests, in whatever order they are asked for."""
    ids = np.random.default_rng(3).permutation(np.arange(50_000, 50_512))
    with HttpServer({PATH: EIGHT_GB.content}) as server:
        outcome = take(server.url(PATH), ids, Asked(gap=0))
        np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(ids))
        assert server.body_bytes <= 512 * 512 + 2 * (64 << 10) and server.requests <= 66 + outcome.remote["hedges"]


def test_gap_that_is_given(take):
    """--gap: rows at most so far apart are one request."""
    ids = np.arange(0, 2000, 20) + 100_000  # gaps of 19 rows, 9728 bytes
    for gap, requests in ((9727, 100), (9728, 1)):
        with HttpServer({PATH: EIGHT_GB.content}) as server:
            outcome = take(server.url(PATH), ids, Asked(gap=gap, connections=1))
            np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(ids))
            of_rows = len(read_ranges(server)) - outcome.remote["hedges"]
            assert of_rows >= 100 if requests == 100 else of_rows <= 3


# ---- bytes, beside the optimum of the cost model

DENSITIES = [(16_000, "sparse"), (400, "middle"), (30, "dense"), (4, "nearly all")]


@pytest.mark.parametrize(("spread", "name"), DENSITIES, ids=[name.replace(" ", "-") for _, name in DENSITIES])
@pytest.mark.parametrize(("rtt", "rate"), [(0.001, 30e6), (0.02, 10e6), (0.1, 10e6)], ids=["1ms", "20ms", "100ms"])
def test_bytes_beside_the_optimum(command, rtt, rate, spread, name):
    """At most 1.3 times what the best gap reads: a gap of 1 MiB reads hundreds of times that. The model is given the latency that
    was measured, which on a busy machine is longer than the relay's; script/remote --accept gives it the relay's."""
    count = 300
    known = Known(count * spread, 512)
    ids = known.some(count)
    seen = []

    def share_of_allowed() -> float:
        with HttpServer({PATH: known.content}) as server, Relay(server.port, rtt=rtt, rate=rate) as relay:
            outcome = command(relay.url(PATH), ids)
            best = optimum(known, ids, max(rtt, outcome.remote["latency"], outcome.remote["p50"]), rate, 64)
            np.testing.assert_array_equal(outcome.rows, known.expected(ids))
            overhead = 2 * (64 << 10)  # of the header
            seen.append((server.body_bytes, best, outcome.remote))
            return server.body_bytes / (1.3 * best["bytes"] + overhead)

    # The gap is chosen at the beginning of the take, by a latency that may be another one than that of the rest.
    assert best_of(share_of_allowed, lambda share: share <= 1) <= 1, seen


# ---- latency

ATTEMPTS = 3


def best_of(attempt, enough) -> float:
    """The best of some attempts, on a machine that others use too."""
    found = []
    for _ in range(ATTEMPTS):
        found.append(attempt())
        if enough(found[-1]):
            break
    return found[-1]


def test_latency_is_hidden(take):
    """No connection waits long for its next request, and all of them work alike. The relay measures how long the client takes between an
    answer and the next request, so that the load of the machine, which delays server and relay too, counts little. Half of connections /
    latency is asked for here; script/remote --accept asks for 80 % of it, by the clock."""
    rtt, connections, count = 0.1, 16, 480

    def attempt() -> float:
        ids = EIGHT_GB.some(count)
        with HttpServer({PATH: EIGHT_GB.content}) as server, Relay(server.port, rtt=rtt) as relay:
            outcome = take(relay.url(PATH), ids, Asked(connections=connections, gap=0))
            np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(ids))
            each = Counter(record.request.connection for record in server.log)
            counts = relay.counts()
        hedges = outcome.remote["hedges"]  # the loser of two loses its connection, so that two others have its share
        full = sorted(each.values())[2 * hedges :]
        assert len(each) <= connections + hedges and full and full[0] >= 0.6 * full[-1], each
        return rtt / (rtt + counts.turning / counts.turns / 1e9)

    share = best_of(attempt, lambda share: share >= 0.5)
    assert share >= 0.5, f"{share:.0%} of connections / latency"


def sparse_file(path, known: Known, ids: np.ndarray) -> None:
    """A file of 8 GB on disk that takes up a few MB: only the rows in question are written."""
    with open(path, "wb") as file:
        file.truncate(known.content.size)
        file.write(known.content.head)
        for row, values in zip(ids.tolist(), known.expected(ids), strict=True):
            file.seek(known.head + row * known.row_bytes)
            file.write(values.tobytes())


def test_sparse_rows_of_8_gb_in_60_round_trips(command, tmp_path):
    """2,000 rows of a sparse file of 8 GB, with all that the command does: start, header, connections, rows, output. The round trip is
    long, so that a busy machine matters less; script/remote --accept has 40 ms."""
    rtt, ids = 0.2, EIGHT_GB.some(2000)
    sparse_file(tmp_path / "table.npy", EIGHT_GB, ids)
    assert os.stat(tmp_path / "table.npy").st_blocks * 512 < 64 << 20

    def attempt() -> float:
        with HttpServer({PATH: File(tmp_path / "table.npy")}) as server, Relay(server.port, rtt=rtt) as relay:
            start = time.monotonic()
            outcome = command(relay.url(PATH), ids)
            seconds = time.monotonic() - start
            np.testing.assert_array_equal(outcome.rows, EIGHT_GB.expected(ids))
            assert relay.counts().peak <= 64
            return seconds

    seconds = best_of(attempt, lambda seconds: seconds < 60 * rtt)
    assert seconds < 60 * rtt, f"{seconds / rtt:.0f} round trips"
