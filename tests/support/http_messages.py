# SPDX-License-Identifier: MIT
"""Requests and answers of the test server: RFC 9110's ranges and conditions, for GET and HEAD."""
import re
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from support.http_content import Bytes

BOUNDARY = "libgather-tests-3d6b6a416f9b5"
MODIFIED = 1_700_000_000  # seconds, where a resource says nothing else
MOST_RANGES = 1024


class BadRequest(Exception):
    """No HTTP."""


@dataclass
class Request:
    method: str
    path: str  # without the query
    query: str
    headers: dict[str, str]  # names in lower case
    number: int = 0  # of this server, from 0
    count: int = 0  # of this path, from 0
    connection: int = 0  # from 0

    def first_last(self) -> tuple[int, int] | None:
        """The range asked for, where it is one "bytes=a-b"."""
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        return (int(found[1]), int(found[2])) if found else None


@dataclass
class Resource:
    """A path's content, and what the server tells about it."""

    content: Any
    etag: str | None = '"v1"'  # as it is sent: W/"v1" is a weak one
    modified: float | None = MODIFIED
    ranges: bool = True  # False: Range is ignored, as simple servers do
    multipart: bool = True  # False: a request for several ranges gets the whole file
    type: str = "application/octet-stream"


@dataclass
class Answer:
    """What is sent. The fields from `delay` on are faults; http_faults.py sets them."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    content: Any = None
    spans: list[tuple[int | bytes, int]] = field(default_factory=list)  # (offset, count) of content, or (bytes, their number)
    delay: float = 0.0  # before the first byte
    body_delay: float = 0.0  # between header and body
    cut: int | None = None  # the connection ends after so many bytes of the body
    cut_header: int | None = None  # or of the header
    reset: bool = False  # by RST; else by FIN
    rate: float | None = None  # bytes a second
    piece: int = 256 << 10  # so many at a time
    chunked: int | None = None  # bytes of a chunk
    close: bool = False  # after the answer
    raw: bytes | None = None  # sent instead of everything else, then the connection ends
    endless: bytes | None = None  # sent again and again after the status line

    def length(self) -> int:
        return sum(count for _, count in self.spans)

    def body(self) -> bytes:
        return b"".join(self.read(what, count) for what, count in self.spans)

    def read(self, what: int | bytes, count: int) -> bytes:
        return what if isinstance(what, bytes) else self.content.read(what, count)

    def plain(self) -> bool:
        """Whether nothing but a small body is to be sent, at once."""
        nothing = self.cut is None and self.cut_header is None and self.raw is None and self.endless is None
        return nothing and not self.delay and not self.body_delay and self.rate is None and self.chunked is None \
            and self.length() <= self.piece  # fmt: skip

    def set_body(self, data: bytes) -> None:
        self.spans = [(data, len(data))]
        self.headers["Content-Length"] = str(len(data))

    def head(self) -> bytes:
        reason = HTTPStatus(self.status).phrase if self.status in HTTPStatus._value2member_map_ else "Unknown"
        lines = [f"HTTP/1.1 {self.status} {reason}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def parse(head: bytes) -> Request:
    """The head of a request, without the empty line."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(first)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise BadRequest(line)
        name = name.lower()
        headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    path, _, query = words[1].partition("?")
    return Request(words[0], path, query, headers)


def spans(text: str, size: int) -> list[tuple[int, int]] | None:
    """(offset, count) of each range of a header Range that the content has; None: the header is to be ignored."""
    if not text.startswith("bytes="):
        return None
    found = []
    for part in text.removeprefix("bytes=").split(","):
        match = re.fullmatch(r"\s*(\d*)-(\d*)\s*", part)
        if not match or not (match[1] or match[2]) or (match[1] and match[2] and int(match[1]) > int(match[2])):
            return None
        first = int(match[1]) if match[1] else max(0, size - int(match[2]))
        last = min(int(match[2]), size - 1) if match[1] and match[2] else size - 1
        if first <= last:
            found.append((first, last - first + 1))
    return found


def simple(status: int, text: str = "") -> Answer:
    """An answer with a line of text."""
    answer = Answer(status, {"Content-Type": "text/plain"})
    answer.set_body((text or HTTPStatus(status).phrase).encode() + b"\n")
    return answer


def date(seconds: float) -> str:
    return formatdate(seconds, usegmt=True)


def fails_condition(request: Request, resource: Resource) -> bool:
    """If-Match, which compares strongly, else If-Unmodified-Since: whether the answer is 412."""
    wanted = request.headers.get("if-match")
    if wanted is not None:
        tags = [tag.strip() for tag in wanted.split(",")]
        strong = resource.etag is not None and not resource.etag.startswith("W/")
        return tags != ["*"] and not (strong and resource.etag in tags)
    since = request.headers.get("if-unmodified-since")
    if since is None or resource.modified is None:
        return False
    try:
        return resource.modified > parsedate_to_datetime(since).timestamp()
    except (TypeError, ValueError):
        return False


def range_holds(request: Request, resource: Resource) -> bool:
    """If-Range: whether Range is to be considered."""
    wanted = request.headers.get("if-range")
    if wanted is None:
        return True
    return wanted == resource.etag and not wanted.startswith("W/") or (resource.modified is not None and wanted == date(resource.modified))


def answer(request: Request, resource: Resource) -> Answer:
    """What a correct server answers."""
    if request.method not in ("GET", "HEAD"):
        return simple(405)
    if fails_condition(request, resource):
        return simple(412)
    size = resource.content.size
    headers = {"Content-Type": resource.type}
    if resource.etag is not None:
        headers["ETag"] = resource.etag
    if resource.modified is not None:
        headers["Last-Modified"] = date(resource.modified)
    if resource.ranges:
        headers["Accept-Ranges"] = "bytes"
    found = spans(request.headers["range"], size) if resource.ranges and "range" in request.headers else None
    if found is None or not range_holds(request, resource) or (len(found) > 1 and not resource.multipart):
        return whole(headers, resource.content)
    if not found or len(found) > MOST_RANGES:
        refused = simple(416)
        refused.headers["Content-Range"] = f"bytes */{size}"
        return refused
    return partial(headers, resource.content, found)


def whole(headers: dict[str, str], content: Any) -> Answer:
    return Answer(200, {**headers, "Content-Length": str(content.size)}, content, [(0, content.size)])


def partial(headers: dict[str, str], content: Any, found: list[tuple[int, int]]) -> Answer:
    """206: one range, or several as multipart/byteranges."""
    if len(found) == 1:
        first, count = found[0]
        headers["Content-Range"] = f"bytes {first}-{first + count - 1}/{content.size}"
        return Answer(206, {**headers, "Content-Length": str(count)}, content, [(first, count)])
    parts: list[tuple[int | bytes, int]] = []
    for first, count in found:
        lines = f"\r\n--{BOUNDARY}\r\nContent-Type: {headers['Content-Type']}\r\n"
        lines += f"Content-Range: bytes {first}-{first + count - 1}/{content.size}\r\n\r\n"
        parts += [(lines.encode(), len(lines)), (first, count)]
    end = f"\r\n--{BOUNDARY}--\r\n".encode()
    parts.append((end, len(end)))
    headers["Content-Type"] = f"multipart/byteranges; boundary={BOUNDARY}"
    made = Answer(206, headers, content, parts)
    made.headers["Content-Length"] = str(made.length())
    return made


def empty() -> Any:
    return Bytes(b"")
