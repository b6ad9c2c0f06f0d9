# SPDX-License-Identifier: MIT
"""Faults of the test server: each makes a function (request, answer) for HttpServer.fault."""
import gzip
import time
from typing import Callable

from support.http_content import Bytes
from support.http_messages import Answer, Request, date, simple, whole

Fault = Callable[[Request, Answer], None]


def replace(answer: Answer, other: Answer) -> None:
    for name in ("status", "headers", "content", "spans"):
        setattr(answer, name, getattr(other, name))


def setting(**values: object) -> Fault:
    """Fields of Answer."""

    def apply(request: Request, answer: Answer) -> None:
        for name, value in values.items():
            setattr(answer, name, value)

    return apply


def header(name: str, value: str | None) -> Fault:
    """Sets a header; None takes it away."""

    def apply(request: Request, answer: Answer) -> None:
        answer.headers.pop(name, None) if value is None else answer.headers.update({name: value})

    return apply


# ---- time


def delay(seconds: float) -> Fault:
    """Before the first byte."""
    return setting(delay=seconds)


def stall(seconds: float) -> Fault:
    """Between header and body."""
    return setting(body_delay=seconds)


def throttle(bytes_a_second: float, piece: int = 1024) -> Fault:
    return setting(rate=bytes_a_second, piece=piece)


def slow_loris(seconds_a_byte: float) -> Fault:
    """Header and body byte by byte."""
    return setting(rate=1 / seconds_a_byte, piece=1)


# ---- connections


def cut(count: int, reset: bool = False) -> Fault:
    """The connection ends after `count` bytes of the body."""
    return setting(cut=count, reset=reset)


def cut_header(count: int = 0, reset: bool = False) -> Fault:
    return setting(cut_header=count, reset=reset)


def reset() -> Fault:
    """By RST, before any byte."""
    return cut_header(0, reset=True)


def close() -> Fault:
    """Connection: close after the answer."""
    return setting(close=True)


def close_silently() -> Fault:
    """The connection ends after the answer, and nothing said so."""

    def apply(request: Request, answer: Answer) -> None:
        answer.cut = answer.length()

    return apply


def garbage(data: bytes = b"\x16\x03\x01 no HTTP \x00\xff\n" * 40) -> Fault:
    return setting(raw=data)


def endless_headers(line: bytes = b"X-More: " + b"x" * 1000 + b"\r\n") -> Fault:
    return setting(endless=line)


# ---- statuses


def status(code: int, retry_after: float | str | None = None, as_date: bool = False) -> Fault:
    """429, 503, 403 ...; Retry-After in seconds, as an HTTP date, or as the text given."""

    def apply(request: Request, answer: Answer) -> None:
        replace(answer, simple(code))
        if retry_after is not None:
            late = date(time.time() + float(retry_after)) if as_date else str(retry_after)
            answer.headers["Retry-After"] = late

    return apply


def redirect(target: str, code: int = 302) -> Fault:
    """To a path or a URL; "{n}" in it is the request's number."""

    def apply(request: Request, answer: Answer) -> None:
        replace(answer, simple(code))
        answer.headers["Location"] = target.replace("{n}", str(request.number))

    return apply


def ignore_range() -> Fault:
    """200 and the whole file, whatever was asked."""

    def apply(request: Request, answer: Answer) -> None:
        if answer.content is not None:
            kept = {k: v for k, v in answer.headers.items() if k not in ("Content-Range", "Content-Length")}
            replace(answer, whole(kept, answer.content))

    return apply


# ---- what RFC 9110 allows


def at_most(most: int) -> Fault:
    """A range that is longer is answered with its first `most` bytes."""

    def apply(request: Request, answer: Answer) -> None:
        if answer.status == 206 and answer.spans[0][1] > most:
            first = answer.spans[0][0]
            answer.spans = [(first, most)]
            answer.headers["Content-Range"] = f"bytes {first}-{first + most - 1}/{answer.content.size}"
            answer.headers["Content-Length"] = str(most)

    return apply


def no_total() -> Fault:
    """The server does not know the size of the file."""

    def apply(request: Request, answer: Answer) -> None:
        if answer.status == 206:
            answer.headers["Content-Range"] = answer.headers["Content-Range"].rpartition("/")[0] + "/*"

    return apply


def unsatisfied(says_size: bool = True) -> Fault:
    """416 to a range that goes beyond the end, or without the size to any."""

    def apply(request: Request, answer: Answer) -> None:
        asked = request.first_last()
        if answer.status == 206 and asked and (not says_size or asked[1] >= answer.content.size):
            size = answer.content.size
            replace(answer, simple(416))
            if says_size:
                answer.headers["Content-Range"] = f"bytes */{size}"

    return apply


# ---- a wrong 206


def content_range(text: str | None = None, shift: int = 0, total: int | None = None) -> Fault:
    """Another Content-Range than was asked for: a text, or moved by `shift` bytes (header and body), or with another total."""

    def apply(request: Request, answer: Answer) -> None:
        if answer.status != 206:
            return
        (first, count), size = answer.spans[0], answer.content.size
        if shift:
            first = max(0, min(first + shift, size - count))
            answer.spans = [(first, count)]
        answer.headers["Content-Range"] = text or f"bytes {first}-{first + count - 1}/{total or size}"

    return apply


def other_bytes(shift: int) -> Fault:
    """The header says what was asked, the body is from elsewhere: no client can see it; for tests of tests."""

    def apply(request: Request, answer: Answer) -> None:
        answer.spans = [(max(0, first + shift), count) for first, count in answer.spans if isinstance(first, int)]

    return apply


def length(difference: int, header_says: bool = True) -> Fault:
    """A body shorter or longer than asked; Content-Length says so too, unless header_says is False."""

    def apply(request: Request, answer: Answer) -> None:
        data = answer.body()
        changed = data[:difference] if difference < 0 else data + b"\xee" * difference
        answer.spans = [(changed, len(changed))]
        if header_says:
            answer.headers["Content-Length"] = str(len(changed))
        elif difference < 0:
            answer.close = True

    return apply


def no_length() -> Fault:
    """Neither Content-Length nor chunks: the body ends with the connection."""

    def apply(request: Request, answer: Answer) -> None:
        answer.headers.pop("Content-Length", None)
        answer.close, answer.cut = True, answer.length()

    return apply


def chunked(size: int = 100) -> Fault:
    """Transfer-Encoding: chunked."""

    def apply(request: Request, answer: Answer) -> None:
        answer.headers.pop("Content-Length", None)
        answer.headers["Transfer-Encoding"] = "chunked"
        answer.chunked = size

    return apply


def as_multipart() -> Fault:
    """multipart/byteranges for one range."""
    from support.http_messages import partial

    def apply(request: Request, answer: Answer) -> None:
        if answer.status == 206 and len(answer.spans) == 1:
            kept = {k: v for k, v in answer.headers.items() if k not in ("Content-Range", "Content-Length")}
            made = partial(kept, answer.content, [answer.spans[0], (0, 0)])
            made.spans = [*made.spans[:2], made.spans[-1]]
            made.headers["Content-Length"] = str(made.length())
            replace(answer, made)

    return apply


def gzipped(truthful: bool = True) -> Fault:
    """A body that is encoded although nobody asked for it."""

    def apply(request: Request, answer: Answer) -> None:
        data = gzip.compress(answer.body())
        answer.spans = [(data, len(data))]
        answer.headers["Content-Length"] = str(len(data))
        if truthful:
            answer.headers["Content-Encoding"] = "gzip"

    return apply


# ---- versions


def etag(value: str | None) -> Fault:
    """Another ETag than the file's; None: none at all."""
    return header("ETag", value)


def other_version(data: bytes, tag: str = '"v2"') -> Fault:
    """Another version of the file, served although If-Match asks for the first one, as careless servers do."""

    def apply(request: Request, answer: Answer) -> None:
        if answer.content is not None:
            answer.content = Bytes(data)
            answer.headers["ETag"] = tag

    return apply
