# SPDX-License-Identifier: MIT
"""file.h (support/headers.py): opening and writing as Python functions that raise GatherError."""
from __future__ import annotations

import ctypes as c
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import numpy as np
from support.headers import GATHER_TENSOR_BYTE_SWAPPED as BYTE_SWAPPED
from support.headers import gather_error as Error
from support.headers import gather_file_tensor as FileTensor
from support.headers import gather_raw as Raw
from support.headers import gather_string as String  # noqa: F401
from support.headers import gather_writing as Writing
from support.headers import library, methods

OPAQUE, P, LIB = 31, c.c_void_p, library()


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


class GatherError(Exception):
    def __init__(self, error: Error) -> None:
        self.status = LIB.gather_status_name(error.status).decode()
        self.message = error.message.decode()
        self.file = error.file.decode()
        self.offset = error.file_offset
        super().__init__(f"{self.status}: {self.message}")


def check(status: int, error: Error) -> None:
    if status != 0:
        assert status == error.status
        raise GatherError(error)


def type_number(name: str) -> int:
    """The number of a type's name; `opaque` is not a name, but a number."""
    return OPAQUE if name == "opaque" else LIB.gather_type_parse(name.encode())


def lengths(shape) -> c.Array:
    return (c.c_int64 * max(len(shape), 1))(*shape)


@contextmanager
def opened(path: str | Path) -> Iterator[FileTensor]:
    file, error = P(), Error()
    check(LIB.gather_file_open(os.fsencode(path), c.byref(file), c.byref(error)), error)
    yield LIB.gather_file_at(file, 0).contents
    LIB.gather_file_close(file)


@contextmanager
def opened_bytes(content: bytes, name: str = "memory") -> Iterator[FileTensor]:
    file, error = P(), Error()
    check(LIB.gather_file_from_memory(content, len(content), name.encode(), c.byref(file), c.byref(error)), error)
    yield LIB.gather_file_at(file, 0).contents
    LIB.gather_file_close(file)


@contextmanager
def opened_raw(path: str | Path, type_name: str, shape, offset: int = 0, as_is: bool = False) -> Iterator[FileTensor]:
    file, error = P(), Error()
    raw = Raw(type_name.encode(), len(shape), lengths(shape), offset, as_is)
    check(LIB.gather_file_open_raw(os.fsencode(path), c.byref(raw), c.byref(file), c.byref(error)), error)
    assert LIB.gather_file_format(file) == b"raw"
    yield LIB.gather_file_at(file, 0).contents
    LIB.gather_file_close(file)


def writing(path, type_name: str, shape, **more) -> Writing:
    """A gather_writing; what=None for path means a descriptor. Texts may be str."""
    fields = {key: value.encode() if isinstance(value, str) else value for key, value in more.items()}
    target = os.fsencode(path) if path is not None else None
    return Writing(path=target, type=type_number(type_name), rank=len(shape), shape=lengths(shape), **fields)


def fails_to_check(what: Writing) -> GatherError | None:
    error = Error()
    status = LIB.gather_writer_check(c.byref(what), c.byref(error))
    return GatherError(error) if status else None


def write(what: Writing, content: bytes) -> None:
    """Writes a whole file of elements; the check must agree with what happens."""
    complaint = fails_to_check(what)
    writer, error = P(), Error()
    status = LIB.gather_writer_create(c.byref(what), c.byref(writer), c.byref(error))
    if status:
        assert complaint is not None and complaint.status == GatherError(error).status
        raise GatherError(error)
    assert complaint is None
    data = LIB.gather_writer_data(writer)
    assert bool(data) == bool(content)
    if content:
        assert c.string_at(data, len(content)) == bytes(len(content)), "elements begin as zeros"
        c.memmove(data, content, len(content))
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


@contextmanager
def handle(source) -> Iterator[P]:
    """The open file behind a path, or behind bytes in memory."""
    file, error = P(), Error()
    if isinstance(source, bytes):
        check(LIB.gather_file_from_memory(source, len(source), b"memory", c.byref(file), c.byref(error)), error)
    else:
        check(LIB.gather_file_open(os.fsencode(source), c.byref(file), c.byref(error)), error)
    try:
        yield file
    finally:
        LIB.gather_file_close(file)


def content(tensor: FileTensor) -> bytes:
    return c.string_at(tensor.tensor.data, tensor.bytes) if tensor.bytes else b""
