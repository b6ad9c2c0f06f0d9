# SPDX-License-Identifier: MIT
"""A network between a client and a server of the tests: relay.c, started and ended.

    with HttpServer(...) as server, Relay(server.port, rtt=0.04) as relay:
        take(relay.url("/table.npy"))
        assert relay.counts().peak <= 64
"""
from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from support.absent import absent


class Counts(NamedTuple):
    connections: int
    peak: int  # open at once
    refused: int  # by the server
    up: int  # bytes from clients
    down: int  # bytes from the server
    turns: int  # how often a client had its answer and asked again on the same connection
    turning: int  # and how long it took, in nanoseconds, in all


def program() -> Path:
    """relay.c as built by tests/io/remote/CMakeLists.txt, which needs epoll."""
    build = os.environ.get("GATHER_BUILD")
    found = Path(os.environ.get("GATHER_RELAY") or f"{build}/tests/io/remote/gather_relay")
    if not found.exists():
        absent("relay", "tests/support/relay.c is built on Linux only")
    return found


class Relay:
    """Listens on 127.0.0.1. rtt: seconds, half of it each way; jitter: seconds more at random, so that answers of different
    connections overtake each other; rate: bytes a second of all that servers send; cut, mute: each `every`-th connection ends
    (reset: by RST), or falls silent, after so many bytes of the server's. prefix: a command to run it with (ip netns exec ...)."""

    def __init__(self, port: int, *, rtt: float = 0.0, jitter: float = 0.0, rate: float = 0, cut: int = -1, mute: int = -1,
                 every: int = 1, reset: bool = False, handshake: bool = True, seed: int = 1, address: str = "127.0.0.1",
                 listen: str = "127.0.0.1", tls: bool = False, name: str = "", prefix: tuple[str, ...] = ()) -> None:  # fmt: skip
        values = {"delay": round(rtt * 5e5), "jitter": round(jitter * 1e6), "rate": round(rate), "cut": cut, "mute": mute,
                  "every": every, "reset": int(reset), "handshake": int(handshake), "seed": seed, "listen": listen}  # fmt: skip
        words = [f"{name}={value}" for name, value in values.items()]
        self.command = [*prefix, str(program()), address, str(port), *words]
        self.scheme, self.host = "https" if tls else "http", name or listen

    def __enter__(self) -> Relay:
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        line = self.process.stdout.readline()
        assert line, f"the relay does not start: {' '.join(self.command)}"
        self.port = int(line)
        return self

    def url(self, path: str = "/") -> str:
        return f"{self.scheme}://{self.host}:{self.port}{path}"

    def counts(self) -> Counts:
        self.process.stdin.write("counts\n")
        return Counts(*map(int, self.process.stdout.readline().split()))

    def cpu(self) -> float:
        """Seconds that it has computed: whether it is what limits a measurement."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def drop_connections(self) -> None:
        """Ends all connections by RST."""
        self.process.stdin.write("cut\n")

    def __exit__(self, *_: object) -> None:
        try:
            self.process.stdin.close()
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait(20)
            self.process.stdout.close()
