# SPDX-License-Identifier: MIT
"""Answers of HTTP servers, good and bad: inputs of fuzz_response.c. Two answers of an input are separated by a byte 0xff."""

LATER = b"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:49:30 GMT\r\n"


def answer(status: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body


def chunks(body: bytes, sizes: list[int], end: bytes = b"0\r\n\r\n") -> bytes:
    """A body in chunks of these sizes; the last one has the rest."""
    text = b""
    for size in [*sizes, len(body)]:
        part, body = body[:size], body[size:]
        if part:
            text += b"%x\r\n" % len(part) + part + b"\r\n"
    return text + end


def partial(first: int, last: int, size: int | str, *headers: str, body: bytes | None = None) -> bytes:
    content = bytes(i & 127 for i in range(first, last + 1)) if body is None else body
    return answer("206 Partial Content", f"Content-Range: bytes {first}-{last}/{size}", *headers, body=content)


def responses() -> list[bytes]:
    small = partial(0, 9, 10, "Content-Length: 10", 'ETag: "v1"')
    head = partial(0, 65535, 70000, 'ETag: "v1"', "Content-Length: 65536")
    second = [partial(65536, 65635, 70000, 'ETag: "v1"'), partial(65536, 65635, 70000, 'ETag: "v2"'), partial(65535, 65634, 70000),
              partial(65536, 65635, 70001), answer("412 Precondition Failed"), answer("200 OK", "Content-Length: 70000", body=b"x" * 70),
              answer("429 Slow"), b"", partial(65536, 65635, 70000, 'ETag: "v1"', body=b"short"), answer("403 Forbidden"),
              partial(65536, 65540, 70000, 'ETag: "v1"'), partial(65536, 65536, "*"), partial(65536, 65636, 70000), answer("416 x"),
              answer("416 x", "Content-Range: bytes */70000"), answer("200 OK", 'ETag: "v1"', body=b"x"),
              answer("200 OK", "Content-Length: 69999", body=b"x"), answer("200 OK", "Content-Range: bytes a", body=b"x")]
    # The open is answered with less, with 416, without a length, or with all: and then again.
    opens = [partial(0, 49, 100, 'ETag: "v1"'), partial(0, 99, "*"), answer("416 x"), answer("416 x", "Content-Range: bytes */10"),
             answer("416 x", "Content-Range: bytes */0"), answer("416 x", "Content-Range: bytes */99999")]
    again = [small, partial(50, 99, 100, 'ETag: "v1"'), partial(50, 50, 100), answer("200 OK", "Content-Length: 10", body=bytes(10)),
             answer("200 OK", "Transfer-Encoding: chunked", body=chunks(bytes(70), [5, 60])), answer("200 OK", body=bytes(3)),
             answer("200 OK", "Content-Length: 99999999999"), answer("200 OK", "Content-Length: 100", body=bytes(10)), answer("416 x")]
    chunked = "Transfer-Encoding: chunked"
    ten = bytes(range(10))
    bodies = [chunks(ten, [3, 4]), chunks(ten, [3], b"0\r\nTrailer: x\r\n\r\n"), chunks(ten, [3], b""), chunks(ten + b"more", []),
              b"ffffffffffffffff\r\n", b"-1\r\nx\r\n0\r\n\r\n", b"3;ext=\"a\"\r\nabc\r\n0\r\n\r\n", b"zz\r\n", b"3\nabc\n0\n\n"]
    multipart = (b"--b\r\nContent-Type: x/y\r\nContent-Range: bytes 0-4/10\r\n\r\n01234\r\n"
                 b"--b\r\nContent-Range: bytes 5-9/10\r\n\r\n56789\r\n--b--\r\n")
    files = [*(one + b"\xff" + two for one in opens for two in again), *again]
    files += [small, *(head + b"\xff" + more for more in second)]
    files += [partial(0, 9, 10, chunked, body=body) for body in bodies]
    files += [answer("206 x", "Content-Type: multipart/byteranges; boundary=b", f"Content-Length: {len(multipart)}", body=multipart),
              answer("206 x", "Content-Type: Multipart/ByteRanges", "Content-Range: bytes 0-9/10", body=ten)]
    ranges = ["bytes 0-9/*", "bytes */10", "bytes 9-0/10", "bytes 0-9/9", "bytes 0-9/18446744073709551616", "bytes=0-9/10", "BYTES 0-9/10",
              "bytes 0-9/10,20-29/30", "bytes 0-", "", "bytes 9223372036854775807-9223372036854775807/9223372036854775807"]
    files += [answer("206 x", f"Content-Range: {text}", body=ten) for text in ranges]
    headers = ["Content-Encoding: gzip", "Content-Length: 9", "Content-Length: -1", "Content-Length: 10\r\nContent-Length: 11", "ETag: W/\"1\"",
               "ETag: \"" + "x" * 300 + "\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Connection: close", " folded: line", ":", "a" * 3000,
               "Keep-Alive: timeout=5", "Set-Cookie: a=b", "Alt-Svc: h2=\"other:443\"", "Strict-Transport-Security: max-age=1"]
    files += [partial(0, 9, 10, header) for header in headers]
    files += [answer(status) for status in ("100 Continue", "204 x", "304 x", "401 x", "404 x", "410 x", "416 x", "500 x", "503 x", "999 x", "0")]
    files += [answer("100 Continue") + answer("103 Early", "Link: <x>") + small, answer("200 OK", "Content-Length: 0"),
              answer("200 OK", "Content-Length: 10", body=ten), b"HTTP/1.1 503 x\r\n" + LATER + b"\r\n", b"HTTP/1.1 503 x\r\nRetry-After: 9\r\n\r\n",
              answer("302 x", "Location: https://other/x"), b"HTTP/1.0 206 x\nContent-Range: bytes 0-1/2\n\nab", b"HTTP/2 206\r\n\r\n", b"\0\0\0",
              b"HTTP/1.1 206 x\r\nA: \0\r\n\r\n", b"SSH-2.0-x\r\n", small + small, b"\r\n\r\n" + small, b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n"]
    addresses = ["https://u:p@h/a?b#c", "//h:1/x", "../../x", "?q", "https://[::1]:9/x", "https://a\\b", "https://h:99999/", "http:/x", "%2e%2e/%zz",
                 "https://h/" + "a/" * 200 + "../" * 300, "javascript:x", "https://h%00/",
                 "?://", "a/b?sig=s&next=https://u:p@h/c", "#x://y?z"]
    return files + [address.encode() for address in addresses]
