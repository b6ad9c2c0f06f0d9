# SPDX-License-Identifier: MIT
"""One way of taking rows in a process of its own: it starts with nothing, and where it wants more memory than the run
is allowed it is this process that the system ends. Its output is in memory that the parent made, and is checked
against what the file holds."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
from pathlib import Path
from time import perf_counter_ns
from typing import Callable

import gather_bench_native as native
import numpy as np

CLEAR = 0xA5
MEASURED = 64 << 20  # bytes that a measurement of warm rows moves, in calls as large as the working set
LEAD = 1024  # rows before it
FIRST = 16  # rows of the first call of a way that may be slow


class Ended(Exception):
    """The other side is no longer there."""


class Talk:
    """Lines of JSON between the two processes."""

    def __init__(self, end: socket.socket):
        self.end, self.rest = end, b""

    def send(self, message: dict) -> None:
        self.end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float | None = None) -> dict | None:
        """None = nothing came in this time."""
        while b"\n" not in self.rest:
            if seconds is not None and not select.select([self.end], [], [], seconds)[0]:
                return None
            more = self.end.recv(1 << 16)
            if not more:
                raise Ended
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)


class Child:
    """work(talk) runs in a new process. The first that the system ends where memory is short."""

    alive: list[Child] = []

    def __init__(self, work: Callable[[Talk], None]):
        gc.collect()
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            try:
                Path("/proc/self/oom_score_adj").write_text("1000")
                work(Talk(theirs))
            except Ended:
                pass
            except BaseException as error:  # noqa: BLE001  whatever it is, the parent has to know
                said = str(error).splitlines()[0][:160] if str(error) else ""
                Talk(theirs).send({"error": f"{type(error).__name__}: {said}"})
            finally:
                os._exit(0)
        theirs.close()
        self.talk, self.gone = Talk(ours), ""
        Child.alive.append(self)

    def hear(self, seconds: float) -> dict:
        """The next message; {"error": why} where none will come."""
        if self.gone:
            return {"error": self.gone}
        try:
            message = self.talk.receive(seconds)
        except (Ended, OSError):
            return {"error": self.reap()}
        if message is None:
            message = {"error": f"took longer than {seconds:g} s"}
        if "error" in message:
            self.end()
            self.gone = message["error"]
        return message

    def ask(self, message: dict, seconds: float) -> dict:
        if not self.gone:
            try:
                self.talk.send(message)
            except OSError:
                pass  # hear() says why
        return self.hear(seconds)

    def reap(self) -> str:
        """Waits for its end; how it ended by itself."""
        self.talk.end.close()
        status = os.waitpid(self.pid, 0)[1]
        Child.alive.remove(self)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status)
        self.gone = (
            "ended by the system: it wanted more memory than is allowed"
            if killed == signal.SIGKILL
            else f"ended by signal {killed}"
            if killed
            else "ended"
        )
        return self.gone

    def end(self) -> None:
        """Ends it. It may hold ends of its sisters' sockets, so that to close ours tells it nothing."""
        if not self.gone:
            os.kill(self.pid, signal.SIGKILL)
            self.reap()
            self.gone = "ended"


def end_all() -> None:
    """Whatever has happened: nobody stays."""
    for child in list(Child.alive):
        child.end()


def bytes_read() -> int:
    """What this process has had the disk read."""
    for line in Path("/proc/self/io").read_text(encoding="utf-8").splitlines():
        if line.startswith("read_bytes:"):
            return int(line.split()[1])
    return 0


def once(take, ids: np.ndarray, out: np.ndarray) -> int:
    start = perf_counter_ns()
    own = take(ids, out)
    took = perf_counter_ns() - start
    return own if own is not None else took


def within(take, ids: np.ndarray, out: np.ndarray, budget_ns: float, whole: bool) -> tuple[int, int]:
    """Rows and nanoseconds: all at once, or in calls that grow, until the time is up."""
    done = ns = 0
    step = ids.size if whole else FIRST
    while done < ids.size and (not done or ns < budget_ns):
        part = slice(done, min(done + step, ids.size))
        ns += once(take, ids[part], out[part])
        done = part.stop
        step = max(FIRST, min(4 * step, int(done / max(ns, 1) * budget_ns / 4)))
    return done, ns


def shaped(memory: np.ndarray, count: int, row_bytes: int) -> np.ndarray:
    """Rows of words in the memory of all."""
    return memory[: count * row_bytes].view(np.uint64).reshape(count, row_bytes // 8)


def wrong(out: np.ndarray, ids: np.ndarray, done: int) -> int:
    return native.words_check(out.ctypes.data, ids.ctypes.data, done, out.shape[1] * 8)


def statistics(way) -> dict:
    found = getattr(way.open, "statistics", dict)()
    return {key: value for key, value in found.items() if value != ""}


def cold(way, path: Path, row_bytes: int, ids: np.ndarray, memory: np.ndarray, budget_ns: float, checked: bool = True):
    """The work of a process: opens, takes once, tells. checked=False: the way has no output."""

    def work(talk: Talk) -> None:
        out = shaped(memory, ids.size, row_bytes) if checked else memory
        if checked:
            out.view(np.uint8)[...] = CLEAR  # also makes the memory this process's own
        take = way.open(path, row_bytes)
        before = bytes_read()
        done, ns = within(take, ids, out, budget_ns, way.whole) if checked else (ids.size, once(take, ids, out))
        read = bytes_read() - before
        talk.send(
            {"rows": done, "ns": ns, "read_bytes": read, "wrong": wrong(out, ids, done) if checked else -1, "statistics": statistics(way)}
        )

    return work


def warm(way, path: Path, row_bytes: int, ids: np.ndarray, memory: np.ndarray, budget_ns: float, order: Callable):
    """The work of a process: opens, takes the rows until it has had them all (or its time is up), then again in a new
    order whenever it is asked. order(ids, seed) is the new order."""

    def work(talk: Talk) -> None:
        out = shaped(memory, ids.size, row_bytes)
        out.view(np.uint8)[...] = CLEAR
        take = way.open(path, row_bytes)
        done, ns = within(take, ids, out, 20 * budget_ns, way.whole)
        bad, known = wrong(out, ids, done), ids[:done]
        for seed in (1, 2):  # the second time it is warm, and tells how much fits into the time
            some = order(known, seed)
            ns = once(take, some, out[:done])
            bad = max(bad, wrong(out, some, done))
        count = done if way.whole else max(1, min(done, int(done / max(ns, 1) * budget_ns)))
        # As many calls for everybody, but for those that are too slow.
        most = max(1, min(50, MEASURED // (count * row_bytes)))
        calls = max(1, min(most, int(budget_ns / max(ns * count / done, 1))))
        talk.send({"rows": count, "wrong": bad, "statistics": statistics(way)})
        while True:
            seed = talk.receive()["seed"]
            parts = [order(known, seed * 100 + i)[:count] for i in range(calls)]
            some = parts[0][: min(count, LEAD)]
            once(take, some, out[: some.size])  # others had the CPU meanwhile: not a part of the measurement
            before = statistics(way)
            ns = sum(once(take, part, out[:count]) for part in parts)
            after = statistics(way)
            talk.send(
                {
                    "rows": count * calls,
                    "ns": ns,
                    "wrong": wrong(out, parts[-1], count),
                    "sources": {key: after[key] - before[key] for key in ("rows_resident", "rows_cached", "rows_read") if key in after},
                }
            )

    return work
