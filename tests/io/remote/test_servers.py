# SPDX-License-Identifier: MIT
"""What the tests of remote tables rest on: the server, by Python's own client and by hand; the relay; namespaces and nginx."""
import http.client
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

import pytest
from support import http_faults as faults
from support.http_addresses import Signed
from support.http_content import Made
from support.http_messages import date
from support.http_server import HttpServer
from support.netns import FOLDER, PREFIX, Namespace
from support.nginx import Nginx
from support.refusal import refuses
from support.relay import Relay, program
from support.skip import skip_test
from support.threads import together

DATA = bytes(range(256)) * 40


@pytest.fixture
def server():
    with HttpServer({"/a": DATA}) as running:
        yield running


def get(server: HttpServer, path: str = "/a", timeout: float = 20, method: str = "GET", **headers: str):
    """(status, headers, body); a header Range is range_=..."""
    client = http.client.HTTPConnection(server.host, server.port, timeout=timeout)
    try:
        client.request(method, path, headers={name.strip("_").replace("_", "-"): v for name, v in headers.items()})
        answer = client.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        client.close()


def by_hand(server: HttpServer, sent: bytes, wait: float = 20) -> bytes:
    """All that comes back until the server closes."""
    with socket.create_connection((server.host, server.port), wait) as client:
        client.sendall(sent)
        received = b""
        while part := client.recv(65536):
            received += part
        return received


@pytest.mark.parametrize(
    ("asked", "first", "count"),
    [("bytes=0-9", 0, 10), ("bytes=100-", 100, 10140), ("bytes=-5", 10235, 5), ("bytes=10000-99999", 10000, 240)],
)
def test_range(server, asked, first, count):
    status, headers, body = get(server, range_=asked)
    assert (status, body) == (206, DATA[first : first + count])
    assert headers["Content-Range"] == f"bytes {first}-{first + count - 1}/{len(DATA)}"


def test_range_that_is_none(server):
    assert get(server, range_="bytes=10240-10250")[:1] == (416,)
    assert get(server, range_="bytes=10240-10250")[1]["Content-Range"] == "bytes */10240"
    assert get(server, range_="lines=1-2")[::2] == (200, DATA)
    assert get(server, range_="bytes=9-2")[::2] == (200, DATA)


def test_several_ranges(server):
    status, headers, body = get(server, range_="bytes=0-1,256-259")
    assert status == 206 and headers["Content-Type"].startswith("multipart/byteranges; boundary=")
    assert body.count(b"Content-Range: bytes ") == 2 and DATA[256:260] in body
    server.put("/a", DATA, multipart=False)
    assert get(server, range_="bytes=0-1,256-259")[::2] == (200, DATA)


def test_head_and_404_and_405(server):
    assert get(server, method="HEAD")[::2] == (200, b"") and get(server, method="HEAD")[1]["Content-Length"] == "10240"
    assert get(server, "/b")[0] == 404 and get(server, method="PUT")[0] == 405


def test_conditions(server):
    assert get(server, if_match='"v1"', range_="bytes=0-1")[0] == 206
    assert get(server, if_match='"v2", "v1"')[0] == 200 and get(server, if_match="*")[0] == 200
    assert get(server, if_match='"v2"', range_="bytes=0-1")[0] == 412
    server.put("/a", DATA, etag='W/"v1"', modified=1000.0)
    assert get(server, if_match='W/"v1"')[0] == 412  # a weak one matches nothing
    assert get(server, if_unmodified_since=date(1000))[0] == 200
    assert get(server, if_unmodified_since=date(999))[0] == 412
    server.put("/a", DATA, etag=None, modified=None)
    assert "ETag" not in get(server)[1] and get(server, if_match='"v1"')[0] == 412
    assert get(server, if_range='"v1"', range_="bytes=0-1")[0] == 200


def test_counts(server):
    client = http.client.HTTPConnection(server.host, server.port)
    for at in (0, 100):
        client.request("GET", "/a", headers={"Range": f"bytes={at}-{at + 9}"})
        assert client.getresponse().read() == DATA[at : at + 10]
    client.close()
    assert (server.requests, server.connections, server.peak, server.body_bytes) == (2, 1, 1, 20)
    assert server.ranges("/a") == [(0, 9), (100, 109)] and server.statuses() == {206: 2}


def test_folder(server, tmp_path):
    (tmp_path / "x y.bin").write_bytes(b"in a file")
    server.folder = tmp_path
    assert get(server, "/x%20y.bin")[::2] == (200, b"in a file")
    assert get(server, "/../x")[0] == 404


def test_made_content():
    made = Made(b"head", 200 << 30)
    with HttpServer({"/big": made}) as server:
        at = 150 << 30
        assert get(server, "/big", range_=f"bytes={at + 4}-{at + 103}")[2] == made.expected(at, 100)
        assert get(server, "/big", range_="bytes=0-11")[2] == b"head" + made.expected(0, 8)
        assert made.expected(5, 11) == made.expected(0, 16)[5:]


def test_pipelined_requests_in_order(server):
    server.fault(faults.delay(0.05), times=1)
    one = b"GET /a HTTP/1.1\r\nRange: bytes=%d-%d\r\n\r\n"
    last = b"GET /a HTTP/1.1\r\nConnection: close\r\nRange: bytes=2-2\r\n\r\n"
    received = by_hand(server, one % (0, 0) + one % (1, 1) + last)
    assert [received.index(b"bytes %d-%d/" % (i, i)) for i in range(3)] == sorted(
        received.index(b"bytes %d-%d/" % (i, i)) for i in range(3)
    )


def test_not_http(server):
    assert by_hand(server, b"\x16\x03\x01\x00 hello\r\n\r\n").startswith(b"HTTP/1.1 400 ") and server.bad_requests == 1


def test_rules(server):
    rule = server.fault(faults.status(503), path="/a", skip=1, times=2, every=2)
    assert [get(server)[0] for _ in range(6)] == [200, 503, 200, 503, 200, 200] and rule.fired == 2
    server.no_faults()
    server.fault(faults.status(500), when=lambda request: request.first_last() == (1, 2))
    assert [get(server, range_=f"bytes={i}-2")[0] for i in range(3)] == [206, 500, 206]


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("count", [0, 5])
def test_cut(server, count, reset):
    server.fault(faults.cut(count, reset))
    error = refuses((http.client.IncompleteRead, ConnectionResetError), get, server)
    assert reset or len(error.partial) == count


def test_reset_and_cut_header(server):
    server.fault(faults.reset(), times=1)
    refuses((ConnectionResetError, http.client.RemoteDisconnected), get, server)
    server.fault(faults.cut_header(20), times=1)
    assert by_hand(server, b"GET /a HTTP/1.1\r\n\r\n") == b"HTTP/1.1 200 OK\r\nCon"


def test_times(server):
    for fault, least in ((faults.delay(0.2), 0.2), (faults.stall(0.2), 0.2), (faults.throttle(50000), 0.15)):
        server.no_faults()
        server.fault(fault)
        start = time.monotonic()
        assert get(server)[2] == DATA
        assert time.monotonic() - start >= least
    server.no_faults()
    server.fault(faults.slow_loris(0.05))
    with pytest.raises(TimeoutError):
        client = socket.create_connection((server.host, server.port), 0.4)
        client.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            assert len(client.recv(100)) < 10
        raise TimeoutError


def test_statuses(server):
    server.fault(faults.status(429, 3), times=1)
    status, headers, _ = get(server)
    assert (status, headers["Retry-After"]) == (429, "3")
    server.fault(faults.status(503, 10, as_date=True), times=1)
    assert get(server)[1]["Retry-After"].endswith(" GMT")


def test_redirects(server):
    server.fault(faults.redirect("/a?{n}", 307))
    status, headers, body = get(server)
    assert (status, headers["Location"]) == (307, "/a?0") and body


def test_wrong_answers(server):
    def faulty(fault, **asked):
        server.no_faults()
        rule = server.fault(fault)
        found = get(server, **({"range_": "bytes=100-199"} | asked))
        assert rule.fired == 1
        return found

    assert faulty(faults.ignore_range())[::2] == (200, DATA)
    status, headers, body = faulty(faults.content_range(shift=10))
    assert (headers["Content-Range"], body) == ("bytes 110-209/10240", DATA[110:210])
    assert faulty(faults.content_range("bytes 0-1/2"))[1]["Content-Range"] == "bytes 0-1/2"
    assert faulty(faults.content_range(total=5))[1]["Content-Range"] == "bytes 100-199/5"
    assert faulty(faults.other_bytes(1))[2] == DATA[101:201]
    assert faulty(faults.length(-10))[2] == DATA[100:190] and faulty(faults.length(3))[2] == DATA[100:200] + b"\xee" * 3
    refuses(http.client.IncompleteRead, faulty, faults.length(-10, header_says=False))
    assert faulty(faults.no_length())[2] == DATA[100:200]
    assert faulty(faults.chunked(7))[2] == DATA[100:200]
    status, headers, body = faulty(faults.as_multipart())
    assert headers["Content-Type"].startswith("multipart/byteranges") and DATA[100:200] in body
    assert faulty(faults.gzipped())[1]["Content-Encoding"] == "gzip"
    assert faulty(faults.etag(None))[1].get("ETag") is None and faulty(faults.etag('"x"'))[1]["ETag"] == '"x"'
    assert faulty(faults.other_version(b"\0" * 10240))[2] == b"\0" * 100


def test_close_after_answer(server):
    server.fault(faults.close())
    assert get(server)[1]["Connection"] == "close"
    server.no_faults()
    server.fault(faults.close_silently())
    received = by_hand(server, b"GET /a HTTP/1.1\r\nRange: bytes=0-3\r\n\r\n")
    assert received.endswith(DATA[:4]) and b"Connection" not in received


def test_garbage_and_endless_headers(server):
    server.fault(faults.garbage(), times=1)
    refuses(http.client.BadStatusLine, get, server)
    server.fault(faults.endless_headers())
    refuses((http.client.LineTooLong, http.client.HTTPException), get, server)


def test_signed_addresses():
    signed = Signed("/model", "/store/x", uses=2)
    with HttpServer({"/store/x": DATA}, answer=signed) as server:
        where = get(server, "/model")[1]["Location"]
        assert where == "/store/x?signature=secret1" and get(server, "/store/x")[0] == 403
        assert [get(server, where)[0] for _ in range(3)] == [200, 200, 403]
        assert get(server, get(server, "/model")[1]["Location"])[::2] == (200, DATA) and signed.given == 2


def test_peak_and_dropped_connections(server):
    clients = [socket.create_connection((server.host, server.port), 20) for _ in range(5)]
    for client in clients:
        client.sendall(b"GET /a HTTP/1.1\r\nRange: bytes=0-0\r\n\r\n")
        assert client.recv(1000)
    assert (server.connections, server.peak) == (5, 5)
    server.drop_connections()
    for client in clients:
        refuses(ConnectionResetError, client.recv, 1)
        client.close()
    deadline = time.monotonic() + 20
    while server.opened and time.monotonic() < deadline:
        time.sleep(0.01)
    server.reset_counts()
    assert server.peak == 0


def test_many_threads(server):
    wrong = []

    def some(thread: int) -> None:
        for i in range(20):
            first = thread * 100 + i
            if get(server, range_=f"bytes={first}-{first + 9}")[2] != DATA[first : first + 10]:
                wrong.append(first)

    together(some, range(8))
    assert not wrong and server.requests == 160


def test_tls(authority):
    with HttpServer({"/a": DATA}, tls=authority, names=["localhost"]) as server:
        context = ssl.create_default_context(cafile=str(authority.certificate))
        client = http.client.HTTPSConnection("localhost", server.port, context=context, timeout=20)
        client.request("GET", "/a", headers={"Range": "bytes=5-7"})
        assert client.getresponse().read() == DATA[5:8]
        client.close()
        assert server.url("/a") == f"https://localhost:{server.port}/a"
        refuses(ssl.SSLCertVerificationError, http.client.HTTPSConnection("localhost", server.port, timeout=20).request, "GET", "/a")


def test_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        skip_test("ipv6", "no address ::1 here")
    with HttpServer({"/a": DATA}, host="::1") as server:
        assert get(server)[0] == 200 and server.url("/a") == f"http://[::1]:{server.port}/a"


# ---- The relay itself: bytes unchanged, late, cut, silent, in another order.

LARGE = bytes(range(256)) * 4000


@pytest.fixture
def large():
    with HttpServer({"/a": LARGE}) as running:
        yield running


class Client:
    """One connection, kept alive."""

    def __init__(self, port: int, wait: float = 20) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), wait)
        self.received = b""

    def send(self, first: int, last: int) -> None:
        self.socket.sendall(b"GET /a HTTP/1.1\r\nRange: bytes=%d-%d\r\n\r\n" % (first, last))

    def receive(self) -> bytes:
        """The next answer's body; what there is of it where the connection ends."""
        while b"\r\n\r\n" not in self.received:
            if not self.more():
                return b""
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(self.received) < length and self.more():
            pass
        body, self.received = self.received[:length], self.received[length:]
        return body

    def more(self) -> bool:
        part = self.socket.recv(1 << 16)
        self.received += part
        return bool(part)

    def get(self, first: int, last: int) -> bytes:
        self.send(first, last)
        return self.receive()


def test_bytes_and_counts(large):
    with Relay(large.port) as relay:
        clients = [Client(relay.port) for _ in range(3)]
        for i, client in enumerate(clients):
            assert client.get(i, 900_000 + i) == LARGE[i : 900_001 + i]
        counts = relay.counts()
        assert (counts.connections, counts.peak, counts.refused) == (3, 3, 0) and counts.down > 2_700_000
        relay.drop_connections()
        for client in clients:
            refuses(ConnectionResetError, client.more)


def test_delay_and_handshake(large):
    with Relay(large.port, rtt=0.2) as relay:
        client, times = Client(relay.port), []
        while len(times) < 3 or (min(times[1:]) >= 0.38 and len(times) < 20):  # a busy machine may be late many times
            i, start = len(times), time.monotonic()
            assert client.get(i, i) == LARGE[i : i + 1]
            times.append(time.monotonic() - start)
        assert times[0] >= 0.4 and 0.2 <= min(times[1:]) < 0.38
        before = relay.counts()
        assert before.turns == len(times) - 1
        time.sleep(0.3)
        assert client.get(5, 5) == LARGE[5:6]
        assert relay.counts().turning - before.turning >= 3e8


def test_rate(large):
    with Relay(large.port, rate=4_000_000) as relay:
        start = time.monotonic()
        assert Client(relay.port).get(0, 999_999) == LARGE[:1_000_000]
        assert time.monotonic() - start >= 0.24


@pytest.mark.parametrize("reset", [False, True])
def test_relay_cuts(large, reset):
    with Relay(large.port, cut=5000, reset=reset, every=2) as relay:
        assert Client(relay.port).get(0, 9999) == LARGE[:10000]
        client = Client(relay.port)
        client.send(0, 9999)
        try:
            assert 4000 < len(client.receive()) < 5000 and not reset
        except ConnectionResetError:
            assert reset


def test_mute(large):
    with Relay(large.port, mute=5000) as relay:
        client = Client(relay.port)
        client.send(0, 9999)
        while len(client.received) <= 4000:
            assert client.more()
        client.socket.settimeout(0.3)
        refuses(TimeoutError, client.receive)
        assert 4000 < len(client.received) < 5000
        client.socket.close()
        assert relay.process.poll() is None


def test_jitter_reorders_between_connections(large):
    with Relay(large.port, rtt=0.01, jitter=0.2, seed=7) as relay:
        found = []
        while len(found) < 5 and (not found or found[-1] == sorted(found[-1])):  # where the machine stands still, all arrive at once
            clients, arrived, second = [Client(relay.port) for _ in range(8)], [], []

            def wait(i: int) -> None:
                assert clients[i].receive() == LARGE[i : i + 1]  # noqa: B023  (its threads end within the round)
                arrived.append(i)  # noqa: B023
                assert clients[i].receive() == LARGE[i + 100 : i + 101]  # noqa: B023  (in order within a connection)
                second.append(i)  # noqa: B023

            threads = [threading.Thread(target=wait, args=(i,)) for i in range(8)]
            for one in threads:
                one.start()
            for i, client in enumerate(clients):
                client.send(i, i)
                client.send(i + 100, i + 100)
            for one in threads:
                one.join()
            assert sorted(arrived) == list(range(8)) == sorted(second)
            found.append(arrived)
        assert found[-1] != sorted(found[-1])


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Relay(port) as relay:
        with pytest.raises(ConnectionResetError):
            assert Client(relay.port).get(0, 0) == b"?"
        assert relay.counts().refused == 1


def test_usage():
    assert subprocess.run([program()], capture_output=True).returncode == 2
    assert subprocess.run([program(), "127.0.0.1", "1", "delai=3"], capture_output=True).returncode == 2


# ---- Network namespaces and nginx: that they work, and that nothing of them is left.


def fetch(url: str, asked: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Range": asked}), timeout=60) as answer:
        return answer.read()


def test_server_in_a_namespace():
    with Namespace() as there, HttpServer({"/a": LARGE}, host=there.address, listening=there.listen()) as server:
        assert fetch(server.url("/a"), "bytes=7-1006") == LARGE[7:1007]
        name, device = there.name, there.device
    assert not (FOLDER / name).exists() and device not in os.listdir("/sys/class/net")


def test_rate_of_a_namespace():
    with Namespace(rate=4_000_000) as there, HttpServer({"/a": LARGE}, host=there.address, listening=there.listen()) as server:
        start = time.monotonic()
        assert fetch(server.url("/a"), "bytes=0-999999") == LARGE[:1_000_000]
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
    (tmp_path / "a").write_bytes(LARGE)
    with Nginx(tmp_path) as server:
        assert fetch(server.url("a"), "bytes=7-1006") == LARGE[7:1007]
        deadline = time.monotonic() + 20
        while not server.log() and time.monotonic() < deadline:
            time.sleep(0.01)
        line = server.log()[0]
        assert (line.method, line.status, line.bytes, line.range, line.path) == ("GET", 206, 1000, "bytes=7-1006", "/a")


def test_nginx_in_a_namespace_with_tls(tmp_path, authority):
    import ssl
    (tmp_path / "a").write_bytes(LARGE)
    with Namespace() as there, Nginx(tmp_path, address=there.address, prefix=there.prefix, tls=authority) as server:
        context = ssl.create_default_context(cafile=str(authority.certificate))
        with urllib.request.urlopen(server.url("a"), timeout=60, context=context) as answer:
            assert answer.read() == LARGE and answer.headers["ETag"]
