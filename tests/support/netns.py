# SPDX-License-Identifier: MIT
"""A network namespace of the tests' own, joined to this one by a pair of virtual Ethernet devices: a server is then behind a real network
stack, and tbf limits the rate. Needs root and iproute2; else the test is skipped.

    with Namespace(rate=50_000_000) as there, HttpServer(files, host=there.address, listening=there.listen()) as server:
        ...                                             # or: subprocess.Popen([*there.prefix, "nginx", ...])

    with Namespace(addresses=["203.0.113.5"], hosts={"a.example": "203.0.113.5"}) as there: # alone, with these addresses on its loopback
        listening = there.listen()                          # at all of them, IPv4 and IPv6; nothing sent there leaves the namespace

The addresses are of 198.18.0.0/15, which RFC 2544 keeps for measurements. What a process that was killed has left is removed by the next one."""
from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from support.absent import absent

PREFIX = "gather-test-"
CLONE_NEWNET = 0x40000000
FOLDER = Path("/run/netns")
ETC = Path("/etc/netns")


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def alive(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def remove_stale() -> None:
    """Namespaces of this prefix whose process is gone; their devices go with them."""
    for left in FOLDER.glob(PREFIX + "*"):
        pid = left.name.removeprefix(PREFIX).split("-")[0]
        if pid.isdigit() and not alive(int(pid)):
            with contextlib.suppress(OSError):
                run("ip", "netns", "delete", left.name)
            shutil.rmtree(ETC / left.name, ignore_errors=True)


class Namespace:
    """rate: bytes a second that its side sends (tbf), 0: unlimited. `address` is in it, `here` is this side's. addresses: it is joined to
    nothing, and has these, which may be anybody's outside; hosts: names that resolve in it, and nowhere else."""

    made = 0

    def __init__(self, rate: float = 0, burst: int = 64 << 10, addresses: Sequence[str] = (), hosts: dict[str, str] | None = None) -> None:
        self.rate, self.burst, self.addresses, self.hosts = rate, burst, tuple(addresses), hosts or {}
        number = Namespace.made
        Namespace.made += 1
        self.name = f"{PREFIX}{os.getpid()}-{number}"
        self.device = f"gt{os.getpid() % 10**7}-{number}"  # at most 15 characters
        block = ((os.getpid() * 16 + number) % (1 << 15)) * 4  # of four addresses, in a range of 2^17
        self.here, self.address = (f"198.{18 + (block + i) // 65536}.{(block + i) // 256 % 256}.{(block + i) % 256}"
                                   for i in (1, 2))  # fmt: skip
        self.prefix = ("ip", "netns", "exec", self.name)

    def __enter__(self) -> Namespace:
        if os.geteuid() != 0 or shutil.which("ip") is None:
            absent("netns", "network namespaces need root and the command ip of iproute2")
        remove_stale()
        try:
            self.make()
        except OSError as error:
            self.__exit__()
            if any(word in str(error) for word in ("not permitted", "not supported", "Unknown device type", "denied")):
                absent("netns", f"this system makes no network namespaces: {error}")
            raise
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self) -> None:
        inside = ("ip", "-n", self.name)
        run("ip", "netns", "add", self.name)
        if self.addresses:
            self.make_alone(inside)
            return
        run("ip", "link", "add", self.device, "type", "veth", "peer", "name", "there", "netns", self.name)
        run("ip", "addr", "add", f"{self.here}/30", "dev", self.device)
        run("ip", "link", "set", self.device, "up")
        run(*inside, "addr", "add", f"{self.address}/30", "dev", "there")
        run(*inside, "link", "set", "there", "up")
        run(*inside, "link", "set", "lo", "up")
        if self.rate:
            run("tc", "-n", self.name, "qdisc", "add", "dev", "there", "root", "tbf", "rate", f"{int(self.rate * 8)}bit",
                "burst", str(self.burst), "latency", "100ms")  # fmt: skip

    def make_alone(self, inside: tuple[str, ...]) -> None:
        run(*inside, "link", "set", "lo", "up")
        for address in self.addresses:
            run(*inside, "addr", "add", f"{address}/{128 if ':' in address else 32}", "dev", "lo", *(["nodad"] if ":" in address else []))
        (ETC / self.name).mkdir(parents=True)  # ip netns exec shows its files in the place of /etc's
        lines = [f"{address} {name}" for name, address in {"localhost": "127.0.0.1", **self.hosts}.items()]
        (ETC / self.name / "hosts").write_text("\n".join(lines) + "\n")
        (ETC / self.name / "resolv.conf").write_text("")

    def listen(self, port: int = 0) -> socket.socket:
        """A listening socket in the namespace: sockets stay where they were made, so only a thread goes there, for a moment."""
        found: list[socket.socket | BaseException] = []

        def there() -> None:
            try:
                with open(FOLDER / self.name) as file:
                    if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                alone = {"family": socket.AF_INET6, "dualstack_ipv6": True} if self.addresses else {}
                found.append(socket.create_server(("::" if self.addresses else self.address, port), backlog=1024, **alone))
            except BaseException as error:  # noqa: BLE001  (told by the thread that asked)
                found.append(error)

        thread = threading.Thread(target=there)
        thread.start()
        thread.join()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    def __exit__(self, *_: object) -> None:
        for words in (("ip", "link", "delete", self.device), ("ip", "netns", "delete", self.name)):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                run(*words)
        shutil.rmtree(ETC / self.name, ignore_errors=True)
