# SPDX-License-Identifier: MIT
"""An HTTP/1.1 server for tests, on 127.0.0.1 and in a thread of its own: ranges, conditions, connections kept alive, TLS, counts,
and faults on request (http_faults.py).

    with HttpServer({"/table.npy": data}, folder=some_path) as server:
        server.fault(faults.cut(100), path="/table.npy", times=2)   # the first two requests of that path from now on
        take(server.url("/table.npy"))
        assert server.requests <= 10 and server.peak <= 4 and server.ranges("/table.npy") == [(0, 65536), ...]

A fault is a function (request, answer) that changes the answer before it is sent; it may be a list of them. `server.put(path,
content, etag=...)` replaces a file while the server runs. `answer=` is a function of the test's own (request) -> Answer | None that is asked
before the files are."""
from __future__ import annotations

import asyncio
import fnmatch
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable
from urllib.parse import quote, unquote

from support import http_messages as messages
from support.http_content import File, content
from support.http_messages import Answer, BadRequest, Request, Resource
from support.http_tls import Authority

MOST_HEADER = 1 << 20
Fault = Callable[[Request, Answer], Any]


@dataclass
class Rule:
    """A fault, and for which requests it is."""

    faults: list[Fault]
    path: str | None
    skip: int  # requests that match and are left alone
    left: int | None  # how often; None: for ever
    every: int  # each n-th of those that match
    when: Callable[[Request], bool] | None
    seen: int = 0
    fired: int = 0  # how often it was applied: a test asks, so that it cannot pass without its fault

    def fires(self, request: Request) -> bool:
        if self.path is not None and not fnmatch.fnmatchcase(request.path, self.path):
            return False
        if self.when is not None and not self.when(request):
            return False
        self.seen += 1
        if self.seen <= self.skip or (self.seen - self.skip - 1) % self.every or self.left == 0:
            return False
        self.left = None if self.left is None else self.left - 1
        self.fired += 1
        return True


@dataclass
class Record:
    """A request that was answered, for the log."""

    request: Request
    status: int
    sent: int = 0  # bytes of the body
    at: float = field(default_factory=time.monotonic)  # when the request was there


class Connection(asyncio.Protocol):
    """One client. Requests that come before the answer is sent wait (pipelining)."""

    def __init__(self, server: HttpServer) -> None:
        self.server, self.received, self.busy, self.ended = server, bytearray(), False, False
        self.writable = asyncio.Event()
        self.writable.set()
        self.task: asyncio.Task | None = None
        self.body_left = 0  # bytes of a request's body, which are skipped

    def connection_made(self, transport) -> None:
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = self.server.connection_opened(self)

    def connection_lost(self, error) -> None:
        self.ended = True
        self.writable.set()
        if self.task is not None:
            self.task.cancel()
        self.server.connection_closed(self)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        self.received += data
        if not self.busy:
            self.next_request()

    def next_request(self) -> None:
        while not self.ended and not self.busy:
            skipped = min(self.body_left, len(self.received))
            del self.received[:skipped]
            self.body_left -= skipped
            end = self.received.find(b"\r\n\r\n")
            if self.body_left or end < 0:
                if len(self.received) > MOST_HEADER:
                    self.transport.abort()
                return
            head = bytes(self.received[:end])
            del self.received[: end + 4]
            try:
                request = messages.parse(head)
                self.body_left = int(request.headers.get("content-length", "0"))
            except (BadRequest, ValueError):
                self.server.bad_requests += 1
                self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                self.transport.close()
                return
            self.begin(request)

    def begin(self, request: Request) -> None:
        request.connection = self.number
        answer, record = self.server.answer_to(request)
        if request.headers.get("connection", "").lower() == "close":
            answer.close = True
        if answer.close:
            answer.headers["Connection"] = "close"
        if answer.plain():
            head = answer.head()
            body = b"" if request.method == "HEAD" else answer.body()
            self.sent(record, len(head), len(body))  # first: a client may ask for counts as soon as it has its answer
            self.transport.write(head + body)
            if answer.close:
                self.transport.close()
                self.ended = True
            return
        self.busy = True
        self.task = asyncio.ensure_future(self.send_slowly(request, answer, record))

    def sent(self, record: Record, header: int, body: int) -> None:
        record.sent += body
        self.server.header_bytes += header
        self.server.body_bytes += body

    async def write(self, data: bytes, rate: float | None = None, piece: int = 256 << 10) -> None:
        for at in range(0, len(data), piece):
            part = data[at : at + piece]
            self.transport.write(part)
            if rate is not None:
                await asyncio.sleep(len(part) / rate)
            await self.writable.wait()

    def end(self, reset: bool) -> None:
        self.ended = True
        if reset:  # a linger of 0 seconds makes close() send RST
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()
        else:
            self.transport.close()

    async def send_slowly(self, request: Request, answer: Answer, record: Record) -> None:
        self.server.slow += 1
        self.server.slow_most = max(self.server.slow_most, self.server.slow)
        try:
            if answer.delay:
                await asyncio.sleep(answer.delay)
            ends = await self.send(request, answer, record)
        except asyncio.CancelledError:
            return
        finally:
            self.server.slow -= 1
        self.busy = False
        if ends or answer.close:
            self.end(answer.reset)
        else:
            self.next_request()

    async def send(self, request: Request, answer: Answer, record: Record) -> bool:
        """Whether the connection ends with it."""
        if answer.raw is not None:
            await self.write(answer.raw, answer.rate, answer.piece)
            return True
        head = answer.head()
        if answer.endless is not None:
            await self.write(head.partition(b"\r\n")[0] + b"\r\n")
            while not self.ended:
                await self.write(answer.endless, answer.rate, answer.piece)
                await asyncio.sleep(0)
        if answer.cut_header is not None:
            await self.write(head[: answer.cut_header], answer.rate, answer.piece)
            return True
        self.sent(record, len(head), 0)
        await self.write(head, answer.rate, answer.piece)
        if request.method == "HEAD":
            return False
        if answer.body_delay:
            await asyncio.sleep(answer.body_delay)
        return await self.send_body(answer, record)

    async def send_body(self, answer: Answer, record: Record) -> bool:
        left = answer.cut
        for what, count in answer.spans:
            at = 0
            while at < count and not self.ended:
                some = min(count - at, answer.chunked or answer.piece, count if left is None else left)
                if some == 0:
                    return True
                data = what[at : at + some] if isinstance(what, bytes) else answer.content.read(what + at, some)
                framed = b"%x\r\n%s\r\n" % (len(data), data) if answer.chunked else data
                self.sent(record, 0, len(data))
                await self.write(framed, answer.rate, answer.piece)
                at += some
                left = None if left is None else left - some
        if answer.chunked:
            await self.write(b"0\r\n\r\n")
        return answer.cut is not None


def established(connection: Connection) -> bool:
    """Whether the client has not closed it: the system knows that before the event loop does."""
    if not hasattr(socket, "TCP_INFO"):
        return True
    own = connection.transport.get_extra_info("socket")
    return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == 1  # TCP_ESTABLISHED


class HttpServer:
    """See the top of the file. Counts may be read at any time."""

    def __init__(self, files: dict[str, Any] | None = None, folder: Path | None = None, *, tls: Authority | None = None,
                 host: str = "127.0.0.1", port: int = 0, names: Iterable[str] = (), listening: socket.socket | None = None,
                 answer: Callable[[Request], Answer | None] | None = None) -> None:  # fmt: skip
        self.files: dict[str, Resource] = {}
        self.folder, self.tls, self.host, self.port, self.names = folder, tls, host, port, tuple(names)
        self.own_answer, self.rules, self.listening = answer, [], listening
        self.opened: set[Connection] = set()
        self.slow = 0
        self.lock = threading.Lock()
        self.reset_counts()
        for path, what in (files or {}).items():
            self.put(path, what)

    # ---- what is served

    def put(self, path: str, what: Any, **told: Any) -> Resource:
        """Bytes, a path, content, or a Resource at a path, from the next request on. told: etag, modified, ranges, multipart, type."""
        resource = what if isinstance(what, Resource) else Resource(content(what), **told)
        self.files[path] = resource
        return resource

    def remove(self, path: str) -> None:
        del self.files[path]

    def find(self, path: str) -> Resource | None:
        found = self.files.get(path) or self.files.get(unquote(path))
        if found is not None or self.folder is None:
            return found
        file = self.folder / unquote(path).lstrip("/")
        if ".." in file.parts or not file.is_file():
            return None
        opened = File(file)
        return Resource(opened, f'"{opened.stat.st_mtime_ns:x}-{opened.size:x}"', opened.stat.st_mtime)

    def fault(self, *faults: Fault, path: str | None = None, skip: int = 0, times: int | None = None, every: int = 1,
              when: Callable[[Request], bool] | None = None) -> Rule:  # fmt: skip
        """From now on: these faults for requests of `path` (* and ? as in a shell; None: all) of which `when` is true, but not the
        first `skip`, then each `every`-th, `times` times (None: for ever)."""
        rule = Rule(list(faults), path, skip, times, every, when)
        self.rules.append(rule)
        return rule

    def no_faults(self) -> None:
        self.rules.clear()

    def answer_to(self, request: Request) -> tuple[Answer, Record]:
        with self.lock:
            request.number, request.count = self.requests, self.counts[request.path]
            self.requests += 1
            self.counts[request.path] += 1
        answer = self.own_answer(request) if self.own_answer else None
        if answer is None:
            resource = self.find(request.path)
            answer = messages.answer(request, resource) if resource else messages.simple(404)
        for rule in list(self.rules):
            if rule.fires(request):
                for fault in rule.faults:
                    fault(request, answer)
        record = Record(request, answer.status)
        self.log.append(record)
        return answer, record

    # ---- counts

    def reset_counts(self) -> None:
        """Counts start anew; connections that are open count as opened."""
        self.requests, self.bad_requests, self.counts = 0, 0, Counter()
        self.body_bytes = self.header_bytes = 0
        self.connections = self.peak = len(self.opened)
        self.slow_most = self.slow  # answers at a time, of those that take time, such as with a delay
        self.log: list[Record] = []

    def connection_opened(self, connection: Connection) -> int:
        self.opened.add(connection)
        self.connections += 1
        self.peak = max(self.peak, sum(established(one) for one in self.opened))
        return self.connections - 1

    def connection_closed(self, connection: Connection) -> None:
        self.opened.discard(connection)

    def ranges(self, path: str) -> list[tuple[int, int] | None]:
        """(first, last) of each request of the path, as asked; None: another Range, or none."""
        return [record.request.first_last() for record in list(self.log) if record.request.path == path]

    def statuses(self, path: str | None = None) -> Counter:
        return Counter(r.status for r in list(self.log) if path in (None, r.request.path))

    # ---- its thread

    def url(self, path: str = "/") -> str:
        name = self.names[0] if self.names else self.host
        name = f"[{name}]" if ":" in name else name
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}{quote(path, safe='/?=&%')}"

    def context(self) -> ssl.SSLContext | None:
        return self.tls.server_context(self.host, *self.names) if self.tls else None

    def __enter__(self) -> HttpServer:
        context, started = self.context(), threading.Event()
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listening = self.listening or socket.create_server((self.host, self.port), family=family, backlog=1024)
        self.port = listening.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(lambda loop, about: None)  # clients that leave in a TLS handshake

        async def serve() -> None:
            self.listener = await self.loop.create_server(lambda: Connection(self), sock=listening, ssl=context)
            started.set()

        def run() -> None:
            asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(serve())
            self.loop.run_forever()
            self.loop.close()

        self.thread = threading.Thread(target=run, name="http server", daemon=True)
        self.thread.start()
        assert started.wait(30)
        return self

    def drop_connections(self) -> None:
        """Ends every connection that is open now, by RST, whatever it does."""
        self.call(lambda: [one.end(True) for one in list(self.opened)])

    def call(self, function: Callable[[], Any]) -> None:
        """Runs a function in the server's thread, and waits for it."""
        done = threading.Event()
        self.loop.call_soon_threadsafe(lambda: (function(), done.set()))
        assert done.wait(30)

    def __exit__(self, *_: object) -> None:
        def close() -> None:
            self.listener.close()
            for one in list(self.opened):
                one.transport.abort()
            self.loop.call_later(0.01, self.loop.stop)

        self.loop.call_soon_threadsafe(close)
        self.thread.join(30)
        assert not self.thread.is_alive(), "the server's thread does not end"
