# SPDX-License-Identifier: MIT
"""Files by URL for the tests of formats: opened from a server of the test's own, and compared with the same bytes opened locally."""
import ctypes as c
import itertools
import os
import re
from contextlib import contextmanager
from typing import Iterator

import gather_files as g
from gather_files import LIB, FileTensor, GatherError, P, check
from support.headers import gather_remote_options as RemoteOptions
from support.http_server import HttpServer
from tensor_files import Opened


def why_no_urls() -> str | None:
    """Why this build cannot read the URLs of the tests' servers; None: it can."""
    error = g.Error()
    if LIB.gather_remote_check(c.byref(error)):
        return error.message.decode()
    schemes = os.environ.get("GATHER_SCHEMES", "http")
    return None if "http" in schemes.split(",") else f"this build reads URLs of {schemes} only"


def source_of(url: str, **more) -> g.Source:
    """Retries are few and quick: a test that needs them says so."""
    remote = RemoteOptions(c.sizeof(RemoteOptions), None, 16, 5, 10, 2, -1)
    return g.source_of(url, remote=c.pointer(remote), **more)


@contextmanager
def handle(url: str, raw: g.Raw | None = None, **more) -> Iterator[P]:
    file = g.open_source(source_of(url, **more, **({} if raw is None else {"raw": c.pointer(raw)})))
    try:
        yield file
    finally:
        LIB.gather_file_close(file)


@contextmanager
def opened(url: str, **more) -> Iterator[Opened]:
    with handle(url, **more) as file:
        yield Opened(file)


def whole(file, name: str) -> FileTensor:
    """A tensor with its elements: downloaded, if it is remote."""
    found, error = c.POINTER(FileTensor)(), g.Error()
    check(LIB.gather_file_find_whole(file, name.encode(), c.byref(found), c.byref(error)), error)
    return found.contents


# ---- both say the same

def is_remote(tensor: FileTensor) -> bool:
    return LIB.gather_file_is_remote(c.byref(tensor))


def without_row(message: str) -> str:
    """The row of the first null is said of local files, and of remote ones where finding it is cheap."""
    return re.sub(r" \((the first in )?row \d+\)", "", message) if "null" in message else message


def described(file: Opened, name: str) -> list:
    """Everything that a file says of its tensors, with `name` for its own name."""
    rows = [file.format]
    for key, tensor in zip(file.names, file.all, strict=True):
        why, data = None, None
        if tensor.unreadable and not is_remote(tensor):
            found = tensor.complaint
            assert found is not None
            why = (found.status, without_row(found.message.replace(name, "FILE")), found.offset)
            if "has no directory" in found.message or "; the data of tensor" in found.message:
                why = "external data that is missing"  # memory has no folder, the server has no such file
        elif tensor.type_name != b"string":
            data = g.content(whole(file.file, key)) if tensor.bytes and file.names.count(key) == 1 else b""
        rows.append((key, tensor.type_name, tensor.descr, tensor.tensor.type, tensor.tensor.item_bytes, tensor.shape,
                     tensor.strides, tensor.swapped, tensor.offset, tensor.bytes, why, data))
    return rows


def outcome(open_it, name: str) -> list | tuple:
    try:
        with open_it() as file:
            return described(file, name)
    except GatherError as error:
        return error.status, error.message.replace(name, "FILE"), error.offset


class Twins:
    """Opens bytes locally and from a server, and compares all that is said of them."""

    def __init__(self, server: HttpServer) -> None:
        self.server, self.numbers, self.count, self.errors = server, itertools.count(), 0, 0

    def compare(self, data: bytes, local) -> list | tuple:
        """local: opens the same bytes as a local file of the name "memory"."""
        path = f"/{next(self.numbers)}"
        self.server.put(path, data)
        url = self.server.url(path)
        ours, theirs = outcome(local, "memory"), outcome(lambda: opened(url), url)
        assert theirs == ours, data[:64]
        self.count += 1
        self.errors += isinstance(ours, tuple)
        self.server.remove(path)
        return ours
