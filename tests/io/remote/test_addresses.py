# SPDX-License-Identifier: MIT
"""Addresses that are never asked, and redirects that are not followed: in a namespace that is joined to nothing, whose loopback has the
addresses of clouds, of a private network and of servers elsewhere. One server is at all of them."""
import json
import os
import subprocess
import sys
from urllib.parse import quote, unquote

import numpy as np
import pytest
from support import http_messages as messages
from support.http_server import HttpServer
from support.netns import Namespace

TABLE = np.arange(400, dtype=np.int32).reshape(100, 4)
PUBLIC, PRIVATE, LOOPBACK = "203.0.113.5", "10.1.1.1", "127.0.0.1"
CLOUDS = ["169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.1.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"]
CLOUDS_6 = ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"]
HOSTS = {"table.example": PUBLIC, "home.example": PRIVATE, "here.example": LOOPBACK, "cloud.example": CLOUDS[0]}
SPELLINGS = ["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "[::ffff:169.254.169.254]", "[::ffff:a9fe:aa02]", "cloud.example"]
REFUSED, PRIVATELY, HERE = "hands out credentials", "private network is not followed", "to this one is not followed"

CODE = """
import json, sys, libgather
for words in json.load(sys.stdin):
    urls, remote = words
    try:
        with libgather.open(urls, remote={"retries": 0, "timeout": 20, **remote}) as table:
            print(json.dumps(table[7].tolist()))
    except libgather.GatherError as error:
        print(json.dumps(str(error)))
"""


@pytest.fixture(scope="module")
def there():
    with Namespace(addresses=[PUBLIC, "203.0.113.6", PRIVATE, "192.168.7.7", *CLOUDS, *CLOUDS_6], hosts=HOSTS) as made:
        yield made


def answer(request: messages.Request) -> messages.Answer | None:
    """/go?URL redirects there."""
    if request.path != "/go":
        return None
    made = messages.simple(302)
    made.headers["Location"] = unquote(request.query)
    return made


@pytest.fixture(scope="module")
def server(there, tmp_path_factory):
    file = tmp_path_factory.mktemp("addresses") / "x.npy"
    np.save(file, TABLE)
    with HttpServer({"/x.npy": file.read_bytes()}, listening=there.listen(), answer=answer) as running:
        yield running


class Urls:
    def __init__(self, port: int) -> None:
        self.port = port

    def file(self, host: str) -> str:
        return f"http://{host}:{self.port}/x.npy"

    def go(self, *hosts: str) -> str:
        """A redirect by each host to the next one; the last one has the file."""
        return self.file(hosts[0]) if len(hosts) == 1 else f"http://{hosts[0]}:{self.port}/go?{quote(self.go(*hosts[1:]), safe='')}"


def cases(urls: Urls) -> list[tuple[object, str | None]]:
    """A URL, or several, and what is in the message; None: the rows come."""
    direct = [(urls.file(host), None) for host in (PUBLIC, PRIVATE, LOOPBACK, "localhost", "0.0.0.0", "127.1", "[::1]", *list(HOSTS)[:3])]
    clouds = [*CLOUDS, *(f"[{address}]" for address in CLOUDS_6), *SPELLINGS]
    refused = [(urls.file(host), REFUSED) for host in clouds]
    refused += [(urls.go(source, host), REFUSED) for source in (PUBLIC, LOOPBACK) for host in clouds]
    followed = [(PUBLIC, "203.0.113.6"), (PUBLIC, "table.example"), (PRIVATE, PUBLIC), (PRIVATE, "192.168.7.7"), (PRIVATE, "home.example"),
                (LOOPBACK, PRIVATE), (LOOPBACK, PUBLIC), (LOOPBACK, "localhost"), ("localhost", "here.example"), ("home.example", PRIVATE, PUBLIC)]  # fmt: skip
    not_followed = [((PUBLIC, PRIVATE), PRIVATELY), (("table.example", "home.example"), PRIVATELY), ((PUBLIC, "192.168.1799"), PRIVATELY),
                    ((PUBLIC, "[::ffff:10.1.1.1]"), PRIVATELY), ((PUBLIC, LOOPBACK), HERE), ((PUBLIC, "localhost"), HERE),
                    ((PUBLIC, "here.example"), HERE), ((PUBLIC, "0.0.0.0"), HERE), ((PUBLIC, "[::1]"), HERE), ((PUBLIC, "2130706433"), HERE),
                    ((PRIVATE, LOOPBACK), HERE), ((LOOPBACK, PUBLIC, LOOPBACK), HERE), ((LOOPBACK, PUBLIC, PRIVATE), PRIVATELY),
                    (("localhost", PRIVATE, "here.example"), HERE)]  # fmt: skip
    return [*direct, *refused, *((urls.go(*hosts), None) for hosts in followed), *((urls.go(*hosts), why) for hosts, why in not_followed)]


def by_python(there, jobs: list, **more) -> list:
    done = subprocess.run([*there.prefix, sys.executable, "-c", CODE], input=json.dumps(jobs), capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_addresses(server, there, remote_build):
    known = cases(Urls(server.port))
    results = by_python(there, [(url, {}) for url, _ in known])
    wrong = [(url, result) for (url, why), result in zip(known, results, strict=True) if not (result == TABLE[7].tolist() if why is None else why in result)]
    assert not wrong
    # A refused address gets no request.
    refused = [url for url, why in known if why and url.endswith("/x.npy")]
    server.reset_counts()
    by_python(there, [(url, {}) for url in refused])
    assert server.requests == 0


@pytest.mark.parametrize("how", ["option", "environment"])
def test_any_address(server, there, remote_build, how):
    urls = [url for url, _ in cases(Urls(server.port))]
    remote = {"any_address": True} if how == "option" else {}
    more = {"env": {**os.environ, "GATHER_ANY_ADDRESS": "1"}} if how == "environment" else {}
    results = by_python(there, [(url, remote) for url in urls], **more)
    assert [(url, result) for url, result in zip(urls, results, strict=True) if result != TABLE[7].tolist()] == []


def test_connections_that_are_open(server, there, remote_build):
    """A redirect to a server to which there is a connection already: its address counts, too, and no request is sent."""
    urls, server.log = Urls(server.port), []
    (result,) = by_python(there, [([urls.file("here.example"), urls.go(PUBLIC, "here.example")], {"connections": 2})])
    assert HERE in result
    assert [record.request.path for record in server.log].count("/x.npy") == 1


@pytest.mark.parametrize("more, code", [([], 3), (["--any-address"], 0)])
def test_the_command(server, there, remote_build, tmp_path, more, code):
    urls = Urls(server.port)
    for hosts in ((PUBLIC, LOOPBACK), (PUBLIC, "home.example"), (CLOUDS[1],)):
        line = [*there.prefix, remote_build, "take", urls.go(*hosts), "[7]", "-o", tmp_path / "o.npy", "-f", *more]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        assert code == 0 or "any_address" in done.stderr
    assert code or np.array_equal(np.load(tmp_path / "o.npy"), TABLE[[7]])
