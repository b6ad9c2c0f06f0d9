# SPDX-License-Identifier: MIT
"""What servers and networks do wrong, one thing at a time: every row is right, or the error is exact; requests, connections and bytes stay
within their bounds. The command and the Python package go the same way."""
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
import pytest
from support import http_faults as faults
from support.http_addresses import Signed
from support.http_messages import Request
from support.http_server import HttpServer
from support.refusal import refuses
from support.relay import Relay
from taking import Asked, Command, Known, Outcome, Package

KNOWN = Known(200_000, 512)  # 98 MiB, in no memory
COUNT = 40
ROWS, ERROR, EITHER = "rows", "error", "either"
CONNECTIONS = 6


def asked(timeout: int = 6) -> Asked:
    """A try ends after a third of that without progress."""
    return Asked(connections=CONNECTIONS, timeout=timeout, gap=0)


ASKED = asked()
PATH = "/table.npy"


def of_rows(request: Request) -> bool:
    """Not the requests for the header."""
    found = request.first_last()
    return found is not None and found[0] >= 1 << 20


@dataclass
class Fault:
    name: str
    what: list[Callable]
    outcome: str
    times: int | None = None  # None: always
    every: int = 1
    says: str = ""  # a pattern of the error's message
    status: str = "io_error"
    told: dict[str, Any] = field(default_factory=dict)  # about the file
    timeout: int = 6  # seconds; of what ends with one, less
    of_header: bool = False  # from the first request on: the file cannot even be opened
    most_requests: int = 400
    most_bytes: int = 8 << 20


# Transient ones end with rows; those that last, with an error; what may be either is said so.
FAULTS = [
    Fault("delay", [faults.delay(0.1)], ROWS, every=5),
    Fault("throttled", [faults.throttle(20_000, 256)], ROWS),
    Fault("cut once", [faults.cut(100)], ROWS, times=1),
    Fault("cut often", [faults.cut(100)], ROWS, every=4),
    Fault("cut before the body", [faults.cut(0)], ROWS, every=4),
    Fault("cut by reset", [faults.cut(300, reset=True)], ROWS, every=4),
    Fault("cut always", [faults.cut(400)], ROWS),  # what has arrived is not asked for again
    Fault("cut at once always", [faults.cut(0)], ERROR, says="byte", timeout=2),
    Fault("reset", [faults.reset()], ROWS, every=4),
    Fault("reset always", [faults.reset()], ERROR, timeout=2),
    Fault("header cut", [faults.cut_header(30)], ROWS, every=4),
    Fault("close after each", [faults.close()], ROWS),
    Fault("close silently after each", [faults.close_silently()], ROWS),
    Fault("503", [faults.status(503)], ROWS, times=5),
    Fault("503 with seconds", [faults.status(503, 1)], ROWS, times=3),
    Fault("503 with a date", [faults.status(503, 1, as_date=True)], ROWS, times=3),
    Fault("429", [faults.status(429, 0)], ROWS, every=6),
    Fault("503 always", [faults.status(503)], ERROR, says="503", timeout=2),
    Fault("503 for an hour", [faults.status(503, 3600)], ERROR, says="503", timeout=2),
    Fault("429 that says nonsense", [faults.status(429, "soon")], ROWS, times=3),
    Fault("500", [faults.status(500)], ROWS, times=3),
    Fault("502", [faults.status(502)], ROWS, times=3),
    Fault("500 always", [faults.status(500)], ERROR, says="500", timeout=2),
    Fault("403 always", [faults.status(403)], ERROR, says="403", most_requests=60),
    Fault("401 always", [faults.status(401)], ERROR, says="401", most_requests=60),
    Fault("404 always", [faults.status(404)], ERROR, says="404", status="file_not_found", most_requests=60),
    Fault("416 always", [faults.status(416)], ERROR, says="416", most_requests=60),
    Fault("418 always", [faults.status(418)], ERROR, says="418", most_requests=60),
    Fault("wrong range once", [faults.content_range(shift=512)], ROWS, times=2),
    Fault("wrong range always", [faults.content_range(shift=512)], ERROR, says=r"status 206: the server sent bytes \d+-\d+, not the requested \d+-\d+", timeout=2),
    Fault("range of another file", [faults.content_range(total=17 << 30)], ERROR, says="changed"),
    Fault("no range", [faults.header("Content-Range", None)], ERROR, says="Content-Range"),
    Fault("broken range", [faults.content_range("bytes 1-2-3/*x")], ERROR, says="Content-Range"),
    Fault("huge range", [faults.content_range("bytes 0-99999999999999999999999/*")], ERROR, says="Content-Range"),
    Fault("short body once", [faults.length(-10)], ROWS, times=2),
    Fault("short body always", [faults.length(-10)], ERROR, timeout=2),
    Fault("short and ended", [faults.length(-10, header_says=False)], ERROR, timeout=2),
    Fault("long body once", [faults.length(10)], ROWS, times=2),
    Fault("long body always", [faults.length(10)], ERROR, timeout=2),
    Fault("no length", [faults.no_length()], ROWS),
    Fault("chunked", [faults.chunked(100)], ROWS),
    Fault("gzip", [faults.gzipped()], ERROR),
    Fault("multipart", [faults.as_multipart()], EITHER),
    Fault("200 and the whole file", [faults.ignore_range()], ERROR, says="200", most_requests=60, most_bytes=64 << 20),
    Fault("200 once", [faults.ignore_range()], EITHER, times=1, most_bytes=64 << 20),
    Fault("garbage once", [faults.garbage()], ROWS, times=1),
    Fault("garbage always", [faults.garbage()], ERROR, says="the answer is not one of HTTP/1", timeout=2),
    Fault("endless headers", [faults.endless_headers()], ERROR, timeout=2),
    Fault("slow loris", [faults.slow_loris(0.5)], ERROR, timeout=2),
    Fault("silence once", [faults.stall(3600)], ROWS, times=2),
    Fault("silence always", [faults.stall(3600)], ERROR, timeout=2),
    Fault("no answer always", [faults.delay(3600)], ERROR, timeout=2),
    Fault("redirect", [faults.redirect("/other.npy")], ROWS),
    Fault("redirects in a circle", [faults.redirect(PATH + "?{n}")], ERROR, says="redirect", timeout=2),
    Fault("redirect to a file", [faults.redirect("file:///etc/passwd")], ERROR),
    Fault("redirect to nowhere", [faults.redirect("http://127.0.0.1:1/x")], ERROR, timeout=2),
    Fault("redirect without a place", [faults.redirect(""), faults.header("Location", None)], ERROR),
    Fault("another ETag", [faults.etag('"other"')], ERROR, says="changed|version|ETag"),
    Fault("ETag gone", [faults.etag(None)], EITHER),
    Fault("another version", [faults.other_version(bytes(KNOWN.content.size // 100))], ERROR),
    Fault("weak ETag", [], ROWS, told={"etag": 'W/"v1"'}),
    Fault("no ETag", [], ROWS, told={"etag": None}),
    Fault("no version at all", [], ROWS, told={"etag": None, "modified": None}),
]  # fmt: skip

OF_HEADER = [
    Fault(f"{name} at once", [what], ERROR, says=says, status=status, timeout=6 if says in ("404", "410", "403", "200") else 2, of_header=True, most_requests=60, most_bytes=16 << 20)
    for name, what, says, status in [
        ("404", faults.status(404), "404", "file_not_found"), ("410", faults.status(410), "410", "file_not_found"),
        ("403", faults.status(403), "403", "io_error"), ("500", faults.status(500), "500", "io_error"),
        ("200", faults.ignore_range(), "200", "io_error"), ("garbage", faults.garbage(), "not one of HTTP/1", "io_error"),
        ("reset", faults.reset(), "", "io_error"), ("silence", faults.delay(3600), "", "io_error"),
        ("circle", faults.redirect(PATH), "redirect", "io_error"), ("endless", faults.endless_headers(), "", "io_error")]
]  # fmt: skip


def judge(outcome: Outcome, ids: np.ndarray, wanted: str, url: str, says: str = "", status: str = "io_error") -> None:
    """Rows that are right, or an error that names the URL without its query."""
    if outcome.rows is not None:
        assert wanted != ERROR, "rows in spite of the fault"
        np.testing.assert_array_equal(outcome.rows, KNOWN.expected(ids))
        return
    assert wanted != ROWS, outcome.message
    assert outcome.error["status"] == status, outcome.message
    assert url.partition("?")[0] in outcome.message, outcome.message
    assert "secret" not in outcome.text, outcome.text
    assert re.search(says, outcome.message, re.IGNORECASE), outcome.message


def both_or_one(cases: list) -> list:
    """(case, way): the two ways in turn, or both with GATHER_TEST_ROUNDS=all, as in script/remote."""
    ways = ("command", "python")
    if os.environ.get("GATHER_TEST_ROUNDS") == "all":
        return [(case, way) for case in cases for way in ways]
    return [(case, ways[i % 2]) for i, case in enumerate(cases)]


@dataclass
class Run:
    """What came of a fault."""

    ids: np.ndarray
    url: str
    outcome: Outcome
    fired: int
    requests: int
    peak: int
    body_bytes: int


def run_fault(take: Callable, fault: Fault) -> Run:
    ids = KNOWN.some(COUNT, first=4096)
    with HttpServer() as server:
        server.put(PATH, KNOWN.content, **fault.told)
        server.put("/other.npy", KNOWN.content)
        rule = server.fault(*fault.what, path=PATH, times=fault.times, every=fault.every, when=None if fault.of_header else of_rows)
        url = server.url(PATH) + "?key=secret"
        outcome = take(url, ids, asked(fault.timeout))
        return Run(ids, url, outcome, rule.fired, server.requests, server.peak, server.body_bytes)


@pytest.fixture(scope="module")
def runs(request, remote_build, tmp_path_factory):
    """All cases at once, each with a server of its own: most of the time they wait."""
    chosen = [item.callspec.params["case"] for item in request.session.items if item.originalname == "test_fault"]
    with ThreadPoolExecutor(8) as pool:
        found = {}
        for fault, way in chosen:
            take = Command(remote_build, tmp_path_factory.mktemp("fault")) if way == "command" else Package()
            found[fault.name, way] = pool.submit(run_fault, take, fault)
        yield found


@pytest.mark.parametrize("case", both_or_one(FAULTS + OF_HEADER), ids=lambda case: f"{case[1]}-{case[0].name.replace(' ', '-')}")
def test_fault(runs, case: tuple[Fault, str]):
    fault, way = case
    run = runs[fault.name, way].result(300)
    judge(run.outcome, run.ids, fault.outcome, run.url, fault.says, fault.status)
    assert run.fired > 0 and run.requests <= fault.most_requests
    assert run.peak <= CONNECTIONS and run.body_bytes <= fault.most_bytes


def test_a_file_that_changes(take):
    """Between the open and the rows: an error, never rows of two versions, never a silent restart."""
    other = Known(KNOWN.rows, KNOWN.row_bytes, seed=9)
    ids = KNOWN.some(COUNT, first=4096)
    with HttpServer({PATH: KNOWN.content}) as server:

        def change(request: Request) -> bool:
            if of_rows(request) and request.number > 15:
                server.put(PATH, other.content, etag='"v2"')
            return False

        server.fault(path=PATH, when=change)
        outcome = take(server.url(PATH), ids, ASKED)
        judge(outcome, ids, ERROR, server.url(PATH), "changed|version|412")
        assert server.statuses(PATH)[412] > 0 and server.requests <= 60


def test_signed_addresses_that_expire(take):
    """A hub's address leads to a signed one that is good for some requests: it is renewed, and shown to nobody."""
    ids = KNOWN.some(COUNT, first=4096)
    signed = Signed("/model.npy", "/store/x", uses=30)
    with HttpServer({"/store/x": KNOWN.content}, answer=signed) as server:
        outcome = take(server.url("/model.npy"), ids, ASKED)
        judge(outcome, ids, ROWS, server.url("/model.npy"))
        assert 2 <= signed.given <= 8 and server.requests <= COUNT + 40
    signed = Signed("/model.npy", "/store/x", uses=0)
    with HttpServer({"/store/x": KNOWN.content}, answer=signed) as server:
        outcome = take(server.url("/model.npy"), ids, ASKED)
        judge(outcome, ids, ERROR, server.url("/model.npy"), "403")
        assert server.requests <= 60


def test_redirect_to_another_host_drops_credentials(command):
    """The token is for the host that was named, and nothing is printed of it."""
    ids = KNOWN.some(COUNT, first=4096)
    with HttpServer({"/store/x": KNOWN.content}, host="127.0.0.2") as other, HttpServer() as hub:
        hub.fault(faults.redirect(other.url("/store/x") + "?signature=secret"))
        outcome = command(hub.url("/o/r/resolve/main/table.npy"), ids, ASKED, environment={"HF_TOKEN": "hf_secret", "HF_ENDPOINT": hub.url("")})
        judge(outcome, ids, ROWS, hub.url(""))
        assert all(r.request.headers.get("authorization") == "Bearer hf_secret" for r in hub.log) and hub.log
        assert not any("authorization" in r.request.headers for r in other.log) and other.log


@pytest.mark.parametrize(
    "network",
    [{"cut": 3000, "every": 3}, {"cut": 3000, "every": 3, "reset": True}, {"jitter": 0.1, "rtt": 0.02}, {"mute": 5000, "every": 5},
     {"rate": 100_000}, {"rtt": 0.2}],
    ids=["cuts", "resets", "reordered", "mute", "slow", "far"],
)  # fmt: skip
def test_networks(take, network):
    ids = KNOWN.some(COUNT, first=4096)
    with HttpServer({PATH: KNOWN.content}) as server, Relay(server.port, **network) as relay:
        judge(take(relay.url(PATH), ids, ASKED), ids, ROWS, relay.url(PATH))
        assert relay.counts().peak <= CONNECTIONS and server.requests <= 4 * COUNT


def test_connections_dropped_in_the_middle(take):
    ids = KNOWN.some(400, first=4096)
    with HttpServer({PATH: KNOWN.content}) as server:
        dropped = []

        def drop(request: Request) -> bool:
            if request.number in (60, 200):
                dropped.append(request.number)
                server.loop.call_soon(lambda: [one.end(True) for one in list(server.opened)])
            return False

        server.fault(when=drop)
        judge(take(server.url(PATH), ids, ASKED), ids, ROWS, server.url(PATH))
        assert dropped == [60, 200] and server.requests <= 500


def test_tls(take, authority):
    ids = KNOWN.some(COUNT, first=4096)
    with HttpServer({PATH: KNOWN.content}, tls=authority, names=["localhost"]) as server:
        known = {"CURL_CA_BUNDLE": str(authority.certificate)}
        judge(take(server.url(PATH), ids, ASKED, environment=known), ids, ROWS, server.url(PATH))
        judge(take(server.url(PATH), ids, ASKED), ids, ERROR, server.url(PATH), "certificate")
        server.fault(faults.cut(100), every=4, when=of_rows)
        judge(take(server.url(PATH), ids, ASKED, environment=known), ids, ROWS, server.url(PATH))


def test_nobody_listens(take):
    with HttpServer() as gone:
        url = gone.url(PATH)
    judge(take(url, np.arange(3), asked(2)), np.arange(3), ERROR, url)


def test_the_judge_sees_wrong_bytes(take):
    """A server that sends other bytes than it says: no client can know, but these tests do."""
    ids = KNOWN.some(COUNT, first=4096)
    with HttpServer({PATH: KNOWN.content}) as server:
        server.fault(faults.other_bytes(8), times=1, when=of_rows)
        outcome = take(server.url(PATH), ids, ASKED)
        refuses(AssertionError, judge, outcome, ids, ROWS, server.url(PATH))
