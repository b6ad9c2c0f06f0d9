# SPDX-License-Identifier: MIT
"""The relay itself: bytes unchanged, late, cut, silent, in another order."""

import socket
import subprocess
import threading
import time

import pytest
from support.http_server import HttpServer
from support.refusal import refuses
from support.relay import Relay, program

DATA = bytes(range(256)) * 4000


@pytest.fixture
def server():
    with HttpServer({"/a": DATA}) as running:
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


def test_bytes_and_counts(server):
    with Relay(server.port) as relay:
        clients = [Client(relay.port) for _ in range(3)]
        for i, client in enumerate(clients):
            assert client.get(i, 900_000 + i) == DATA[i : 900_001 + i]
        counts = relay.counts()
        assert (counts.connections, counts.peak, counts.refused) == (3, 3, 0) and counts.down > 2_700_000
        relay.drop_connections()
        for client in clients:
            refuses(ConnectionResetError, client.more)


def test_delay_and_handshake(server):
    with Relay(server.port, rtt=0.2) as relay:
        client, times = Client(relay.port), []
        while len(times) < 3 or (min(times[1:]) >= 0.38 and len(times) < 20):  # a busy machine may be late many times
            i, start = len(times), time.monotonic()
            assert client.get(i, i) == DATA[i : i + 1]
            times.append(time.monotonic() - start)
        assert times[0] >= 0.4 and 0.2 <= min(times[1:]) < 0.38
        before = relay.counts()
        assert before.turns == len(times) - 1
        time.sleep(0.3)
        assert client.get(5, 5) == DATA[5:6]
        assert relay.counts().turning - before.turning >= 3e8


def test_rate(server):
    with Relay(server.port, rate=4_000_000) as relay:
        start = time.monotonic()
        assert Client(relay.port).get(0, 999_999) == DATA[:1_000_000]
        assert time.monotonic() - start >= 0.24


@pytest.mark.parametrize("reset", [False, True])
def test_cut(server, reset):
    with Relay(server.port, cut=5000, reset=reset, every=2) as relay:
        assert Client(relay.port).get(0, 9999) == DATA[:10000]
        client = Client(relay.port)
        client.send(0, 9999)
        try:
            assert 4000 < len(client.receive()) < 5000 and not reset
        except ConnectionResetError:
            assert reset


def test_mute(server):
    with Relay(server.port, mute=5000) as relay:
        client = Client(relay.port)
        client.send(0, 9999)
        while len(client.received) <= 4000:
            assert client.more()
        client.socket.settimeout(0.3)
        refuses(TimeoutError, client.receive)
        assert 4000 < len(client.received) < 5000
        client.socket.close()
        assert relay.process.poll() is None


def test_jitter_reorders_between_connections(server):
    with Relay(server.port, rtt=0.01, jitter=0.2, seed=7) as relay:
        found = []
        while len(found) < 5 and (not found or found[-1] == sorted(found[-1])):  # where the machine stands still, all arrive at once
            clients, arrived, second = [Client(relay.port) for _ in range(8)], [], []

            def wait(i: int) -> None:
                assert clients[i].receive() == DATA[i : i + 1]  # noqa: B023  (its threads end within the round)
                arrived.append(i)  # noqa: B023
                assert clients[i].receive() == DATA[i + 100 : i + 101]  # noqa: B023  (in order within a connection)
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
