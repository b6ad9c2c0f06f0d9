# SPDX-License-Identifier: MIT
"""Files of many tensors, opened for the tests of their formats."""
import ctypes as c
import struct
from contextlib import contextmanager
from typing import Iterator

import gather_files as g
from gather_files import LIB, FileTensor, GatherError, P, check, content, handle


class Opened:
    """A file and its tensors by name."""

    def __init__(self, file) -> None:
        self.file = file
        self.all = [LIB.gather_file_at(file, i).contents for i in range(LIB.gather_file_len(file))]
        self.names = [tensor.name.decode() for tensor in self.all]
        self.format = LIB.gather_file_format(file).decode()

    def find(self, name: str) -> FileTensor:
        found, error = c.POINTER(FileTensor)(), g.Error()
        check(LIB.gather_file_find(self.file, name.encode(), c.byref(found), c.byref(error)), error)
        return found.contents

    __getitem__ = find


@contextmanager
def opened(source) -> Iterator[Opened]:
    """A path, or bytes in memory."""
    with handle(source) as file:
        yield Opened(file)


def whole(file, name: str) -> FileTensor:
    """The tensor, decoded or joined."""
    found, error = c.POINTER(FileTensor)(), g.Error()
    check(LIB.gather_file_find_whole(file.file, name.encode(), c.byref(found), c.byref(error)), error)
    return found.contents


def strings(tensor: FileTensor) -> list[bytes]:
    """The elements of a tensor of texts."""
    words = (P * (tensor.bytes // c.sizeof(P))).from_address(tensor.tensor.data) if tensor.bytes else []  # of each gather_string two
    return [c.string_at(text, bytes) if bytes else b"" for text, bytes in zip(words[::2], words[1::2], strict=True)]


def formats() -> list[str]:
    """The formats that this build reads."""
    return [format.name.decode() for format in g.formats() if b"read" in format.abilities]


def complaint(source) -> GatherError:
    """What the library says of a file that it refuses; the byte is one of the file's, or the one behind its last."""
    try:
        with opened(source):
            pass
    except GatherError as error:
        assert error.message and (not isinstance(source, bytes) or -1 <= error.offset <= len(source))
        return error
    raise AssertionError("the file was opened")


def outcome(source) -> dict[str, tuple[tuple[int, ...], bytes | None]] | str:
    """Each tensor's shape and bytes (None where they cannot be had), or the status of the refusal."""
    try:
        with opened(source) as file:
            return {name: (t.shape, None if t.unreadable else content(t)) for name, t in zip(file.names, file.all, strict=True)}
    except GatherError as error:
        assert error.message and error.offset <= len(source)
        return error.status


def safetensors(header: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    """A safetensors file of that header, whose length may be a lie."""
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def described(dtype: str, shape: list[int], begin: int, end: int) -> str:
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}'
