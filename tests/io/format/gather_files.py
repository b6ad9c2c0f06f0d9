# SPDX-License-Identifier: MIT
"""file.h (support/headers.py): opening and writing as Python functions that raise GatherError."""
import ctypes as c
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import numpy as np
from support.headers import GATHER_TENSOR_BYTE_SWAPPED as BYTE_SWAPPED
from support.headers import gather_error as Error
from support.headers import gather_file_source as Source
from support.headers import gather_file_target as Target
from support.headers import gather_file_tensor as FileTensor
from support.headers import gather_format_info as FormatInfo
from support.headers import gather_raw as Raw
from support.headers import gather_string as String  # noqa: F401
from support.headers import gather_writing as Writing
from support.headers import library, methods

OPAQUE, P, LIB = 31, c.c_void_p, library()


class GatherError(Exception):
    def __init__(self, error: Error) -> None:
        self.status = LIB.gather_status_name(error.status).decode()
        self.message = error.message.decode()
        self.file = error.file.decode()
        self.offset = error.file_offset
        super().__init__(f"{self.status}: {self.message}")

    def must_be(self, status: str, words: str = "", offset: int | None = None) -> None:
        assert (self.status, words in self.message) == (status, True), self
        assert offset is None or self.offset == offset, (self, self.offset)


@methods(FileTensor)
class _:
    @property
    def complaint(self) -> GatherError | None:
        """Why its elements cannot be had."""
        error = Error()
        status = LIB.gather_file_tensor_check(c.byref(self), c.byref(error))
        assert (status == 0) == (self.unreadable is None)
        assert status == 0 or (status == error.status and self.tensor.data is None)
        return GatherError(error) if status else None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape[: self.tensor.rank])

    @property
    def strides(self) -> tuple[int, ...] | None:
        return tuple(self.tensor.strides[: self.tensor.rank]) if self.tensor.strides else None

    @property
    def swapped(self) -> bool:
        return bool(self.tensor.flags & BYTE_SWAPPED)

    def array(self, dtype: np.dtype) -> np.ndarray:
        """The elements in C order, through the shape and strides that the library found."""
        if not self.tensor.data:
            return np.ndarray(self.shape, dtype)
        memory = (c.c_char * self.bytes).from_address(self.tensor.data)
        void = np.dtype(f"V{dtype.itemsize}")  # copied with the bytes between fields
        return np.ndarray(self.shape, void, buffer=memory, strides=self.strides).copy().view(dtype)


def check(status: int, error: Error) -> None:
    if status != 0:
        assert status == error.status
        raise GatherError(error)


def formats() -> list[FormatInfo]:
    """All formats of this build."""
    rows: list[FormatInfo] = []
    while row := LIB.gather_format_at(len(rows)):
        rows.append(row.contents)
    return rows


def type_number(name: str) -> int:
    """The number of a type's name; `opaque` is not a name, but a number."""
    return OPAQUE if name == "opaque" else LIB.gather_type_parse(name.encode())


def lengths(shape) -> c.Array:
    return (c.c_int64 * max(len(shape), 1))(*shape)


def source_of(source: str | Path | bytes, **more) -> Source:
    """A path, or bytes in memory."""
    if isinstance(source, bytes):
        made = Source(c.sizeof(Source), memory=c.cast(source, P), bytes=len(source), **more)
        made.kept = source
        return made
    return Source(c.sizeof(Source), path=os.fsencode(source), **more)


def open_source(source: Source) -> P:
    file, error = P(), Error()
    check(LIB.gather_file_open(c.byref(source), c.byref(file), c.byref(error)), error)
    return file


@contextmanager
def opened(path: str | Path) -> Iterator[FileTensor]:
    file = open_source(source_of(path))
    yield LIB.gather_file_at(file, 0).contents
    LIB.gather_file_close(file)


@contextmanager
def opened_bytes(content: bytes, name: str = "memory") -> Iterator[FileTensor]:
    file = open_source(source_of(content, name=name.encode()))
    yield LIB.gather_file_at(file, 0).contents
    LIB.gather_file_close(file)


@contextmanager
def opened_raw(path: str | Path, type_name: str, shape, offset: int = 0, as_is: bool = False) -> Iterator[FileTensor]:
    raw = Raw(type_name.encode(), len(shape), lengths(shape), offset, as_is)
    file = open_source(source_of(path, raw=c.pointer(raw)))
    assert LIB.gather_file_format(file) == b"raw"
    yield LIB.gather_file_at(file, 0).contents
    LIB.gather_file_close(file)


def writing(path, type_name: str, shape, **more) -> Target:
    """The target of one tensor; path=None means a descriptor. Texts may be str."""
    fields = {key: value.encode() if isinstance(value, str) else value for key, value in more.items()}
    of_target = {key: fields.pop(key) for key in dict(Target._fields_) if key in fields}
    what = Writing(type=type_number(type_name), rank=len(shape), shape=lengths(shape), **fields)
    return target_of(path, tensors=c.pointer(what), **of_target)


def target_of(path, **more) -> Target:
    return Target(**{"size": c.sizeof(Target), "path": None if path is None else os.fsencode(path), "fd": -1, "count": 1, "bytes": -1, **more})


def create_writer(target: Target) -> P:
    writer, error = P(), Error()
    check(LIB.gather_writer_create(c.byref(target), c.byref(writer), c.byref(error)), error)
    return writer


def fails_to_check(what: Target) -> GatherError | None:
    error = Error()
    status = LIB.gather_writer_check(c.byref(what), c.byref(error))
    return GatherError(error) if status else None


def write(what: Target, content: bytes) -> None:
    """Writes a whole file of elements; the check must agree with what happens."""
    complaint = fails_to_check(what)
    writer, error = P(), Error()
    status = LIB.gather_writer_create(c.byref(what), c.byref(writer), c.byref(error))
    if status:
        assert complaint is not None and complaint.status == GatherError(error).status
        raise GatherError(error)
    assert complaint is None
    data = LIB.gather_writer_data_at(writer, 0)
    assert bool(data) == bool(content)
    if content:
        assert c.string_at(data, len(content)) == bytes(len(content)), "elements begin as zeros"
        c.memmove(data, content, len(content))
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


@contextmanager
def handle(source) -> Iterator[P]:
    """The open file behind a path, or behind bytes in memory."""
    file = open_source(source_of(source))
    try:
        yield file
    finally:
        LIB.gather_file_close(file)


def content(tensor: FileTensor) -> bytes:
    return c.string_at(tensor.tensor.data, tensor.bytes) if tensor.bytes else b""
