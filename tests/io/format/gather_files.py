# SPDX-License-Identifier: MIT
"""file.h for ctypes: its structures, and opening and writing as Python functions that raise GatherError."""
from __future__ import annotations

import ctypes as c
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import numpy as np
from support.structs import BYTE_SWAPPED, Error, Tensor

OPAQUE = 31


class FileTensor(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("tensor", Tensor),
        ("descr", c.c_char_p),
        ("type_name", c.c_char_p),
        ("offset", c.c_int64),
        ("bytes", c.c_int64),
        ("unreadable", c.c_void_p),
    ]

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


class Raw(c.Structure):
    _fields_ = [("type", c.c_char_p), ("rank", c.c_int32), ("shape", c.POINTER(c.c_int64)), ("offset", c.c_int64), ("as_is", c.c_bool)]


class FormatInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("abilities", c.c_char_p), ("extensions", c.c_char_p)]


class Source(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("path", c.c_char_p),
        ("memory", c.c_char_p),
        ("bytes", c.c_size_t),
        ("name", c.c_char_p),
        ("raw", c.POINTER(Raw)),
        ("text", c.c_bool),
        ("text_column", c.c_char_p),
        ("no_links", c.c_bool),
        ("remote", c.c_void_p),
        ("download_bytes", c.c_int64),
    ]


class Writing(c.Structure):
    _fields_ = [
        ("type", c.c_int),
        ("item_bytes", c.c_int64),
        ("byte_swapped", c.c_bool),
        ("descr", c.c_char_p),
        ("name", c.c_char_p),
        ("rank", c.c_int32),
        ("shape", c.POINTER(c.c_int64)),
    ]


class Target(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("path", c.c_char_p),
        ("fd", c.c_int),
        ("format", c.c_char_p),
        ("replace", c.c_bool),
        ("no_sync", c.c_bool),
        ("tensors", c.POINTER(Writing)),
        ("count", c.c_int64),
        ("bytes", c.c_int64),
        ("parts", c.c_bool),
        ("window_bytes", c.c_int64),
        ("align_bytes", c.c_int64),
    ]


class String(c.Structure):
    _fields_ = [("text", c.c_char_p), ("bytes", c.c_size_t)]


P, E = c.c_void_p, c.POINTER(Error)
FUNCTIONS = {
    "gather_status_name": (c.c_char_p, [c.c_int]),
    "gather_type_parse": (c.c_int, [c.c_char_p]),
    "gather_file_open": (c.c_int, [c.POINTER(Source), c.POINTER(P), E]),
    "gather_file_is_text": (c.c_bool, [c.c_char_p, c.c_size_t]),
    "gather_file_find_whole": (c.c_int, [P, c.c_char_p, c.POINTER(c.POINTER(FileTensor)), E]),
    "gather_file_format": (c.c_char_p, [P]),
    "gather_format_at": (c.POINTER(FormatInfo), [c.c_size_t]),
    "gather_file_at": (c.POINTER(FileTensor), [P, c.c_int64]),
    "gather_file_tensor_check": (c.c_int, [c.POINTER(FileTensor), E]),
    "gather_file_close": (None, [P]),
    "gather_writer_create": (c.c_int, [c.POINTER(Target), c.POINTER(P), E]),
    "gather_writer_append": (c.c_int, [P, c.c_char_p, c.c_int64, E]),
    "gather_writer_check": (c.c_int, [c.POINTER(Target), E]),
    "gather_writer_data_at": (P, [P, c.c_int64]),
    "gather_writer_temporary": (c.c_char_p, [P]),
    "gather_text_visible": (c.c_size_t, [c.c_char_p, c.c_char_p, c.c_size_t]),
    "gather_writer_commit": (c.c_int, [P, E]),
    "gather_writer_abort": (None, [P]),
}


def load() -> c.CDLL:
    if "GATHER_LIB" not in os.environ:
        raise RuntimeError("GATHER_LIB must name the shared library under test")
    library = c.CDLL(os.environ["GATHER_LIB"])
    for name, (result, arguments) in FUNCTIONS.items():
        getattr(library, name).restype = result
        getattr(library, name).argtypes = arguments
    return library


LIB = load()


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
        return Source(c.sizeof(Source), memory=source, bytes=len(source), **more)
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
