# SPDX-License-Identifier: MIT
"""A Python class over table.h (support/headers.py) that raises TableError."""

from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.headers import GATHER_TENSOR_BYTE_SWAPPED as BYTE_SWAPPED
from support.headers import STATUSES, int64s, library, tensor
from support.headers import gather_error as Error
from support.headers import gather_raw as Raw
from support.headers import gather_table_options as Options
from support.headers import gather_table_part as Part
from support.headers import gather_table_statistics as Statistics
from support.headers import gather_table_take_options as TakeOptions
from support.headers import gather_tensor as Tensor
from support.skip import REQUIRED

P, I64, LIB = c.c_void_p, c.c_int64, library()
ENGINES = ["auto", "mmap", "pread", "uring"]
ON_BAD = ["default", "error", "clamp", "wrap", "zero", "fill"]
NEGATIVE = ["default", "on", "off"]
OPAQUE = 31


class TableError(Exception):
    """A failure with the library's fields."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message.decode())
        self.status = STATUSES[error.status]
        self.position = tuple(error.position[: max(error.position_rank, 0)])
        self.value = error.value + 2**64 * (error.value < 0 and error.value_is_unsigned)
        self.range, self.bad_count = (error.low, error.high), error.bad_count
        self.file, self.offset, self.row = error.file.decode(), error.file_offset, error.row


def check(status: int, error: Error) -> None:
    assert status == 0 or status == error.status
    if status:
        raise TableError(error)


def formats() -> list[str]:
    names: list[str] = []
    while row := LIB.gather_format_at(len(names)):
        names.append(row.contents.name.decode())
    return names


def engines() -> list[str]:
    """Those that work here; others are printed as skipped, or fail where they are required."""
    found = []
    for number, name in enumerate(ENGINES):
        error = Error()
        if LIB.gather_engine_check(number, c.byref(error)) == 0:
            found.append(name)
        elif name in REQUIRED or "all" in REQUIRED:
            raise RuntimeError(f"required by GATHER_TEST_REQUIRE, but skipped: {name}: {error.message.decode()}")
        else:
            print(f"SKIPPED {name}: {error.message.decode()}")
    return found


@dataclass(frozen=True)
class Setting:
    """How a table is opened."""

    engine: str = "auto"
    memory: int = 0
    cache: int = -1
    depth: int = 0
    buffered: bool = False
    keep_signals: bool = False
    decode_as: str = ""
    codec: str = ""

    def __str__(self) -> str:
        words = [self.engine, *(["buffered"] if self.buffered else []), *(["keep_signals"] if self.keep_signals else [])]
        return "-".join([*words, f"m{self.memory >> 20}", f"c{self.cache}", f"d{self.depth}"])


def index_tensor(ids: np.ndarray) -> Tensor:
    number = LIB.gather_type_parse(ids.dtype.newbyteorder("=").name.encode())
    flags = 0 if ids.dtype.isnative else BYTE_SWAPPED
    return tensor(number, ids.shape, ids.ctypes.data, ids.strides, flags=flags)


class Table:
    """An open table. Rows come as bytes: ids.shape + (row_bytes,)."""

    def __init__(self, path, how: Setting = Setting(), raw: tuple[str, tuple[int, ...], int] | None = None) -> None:
        paths = [os.fsencode(part) for part in (path if isinstance(path, list) else [path])]
        options = Options(c.sizeof(Options), ENGINES.index(how.engine), how.memory, how.cache, how.depth, how.buffered, how.keep_signals,
                          None, False, LIB.gather_type_parse(how.decode_as.encode()), how.codec.encode())
        if raw:
            shape = int64s(raw[1])
            options.raw = c.pointer(Raw(raw[0].encode(), len(raw[1]), c.cast(shape, c.POINTER(I64)), raw[2]))
        self.handle, error = P(), Error()
        if isinstance(path, list):
            list_of_paths = (c.c_char_p * (len(paths) + 1))(*paths)
            status = LIB.gather_table_open_parts(list_of_paths, len(paths), c.byref(options), c.byref(self.handle), c.byref(error))
        else:
            status = LIB.gather_table_open(paths[0], c.byref(options), c.byref(self.handle), c.byref(error))
        check(status, error)
        self.info = LIB.gather_table_describe(self.handle).contents

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: Any) -> None:
        LIB.gather_table_close(self.handle)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.info.tensor.shape[: self.info.tensor.rank])

    @property
    def parts(self) -> list[Part]:
        found = []
        for i in range(self.info.parts):
            found.append(Part())
            assert LIB.gather_table_part_at(self.handle, i, c.byref(found[-1]))
        assert not LIB.gather_table_part_at(self.handle, self.info.parts, c.byref(Part()))
        return found

    @property
    def statistics(self) -> Statistics:
        found = Statistics()
        LIB.gather_table_statistics_get(self.handle, c.byref(found))
        return found

    def _call(self, ids: np.ndarray, out: np.ndarray, on_bad: str, negative: str, fill: bytes) -> tuple:
        kind = self.info.tensor
        target = tensor(kind.type, (*ids.shape, *self.shape[1:]), out.ctypes.data, None, kind.item_bytes, flags=kind.flags & BYTE_SWAPPED)
        bad = I64(-1)
        options = TakeOptions(c.sizeof(TakeOptions), None, ON_BAD.index(on_bad), NEGATIVE.index(negative), None, None, c.pointer(bad))
        text = c.create_string_buffer(fill, len(fill) + 1)
        options.fill = c.cast(text, P)
        return index_tensor(ids), target, options, bad, text

    def new(self, ids: np.ndarray) -> np.ndarray:
        return np.full((*ids.shape, self.info.row_bytes), 0xEE, np.uint8)

    def take_tuples(self, ids: np.ndarray, background: bool, on_bad="default") -> np.ndarray:
        """What the tuples select, as bytes: ids.shape[:-1] + (the bytes of one)."""
        kind, selected = self.info.tensor, ids.shape[-1]
        out = np.full((*ids.shape[:-1], self.info.row_bytes // int(np.prod(self.shape[1:selected]))), 0xEE, np.uint8)
        shape = (*ids.shape[:-1], *self.shape[selected:])
        target = tensor(kind.type, shape, out.ctypes.data, None, kind.item_bytes, flags=kind.flags & BYTE_SWAPPED)
        options = TakeOptions(c.sizeof(TakeOptions), LIB.gather_op_find(b"GatherND", b"onnx-13"), ON_BAD.index(on_bad), 0, None, None, None)
        indices, job, error = index_tensor(ids), P(), Error()
        if background:
            arguments = (self.handle, c.byref(indices), c.byref(target), c.byref(options), c.byref(job), c.byref(error))
            check(LIB.gather_table_submit(*arguments), error)
            check(LIB.gather_table_wait(job, c.byref(error)), error)
        else:
            check(LIB.gather_table_take(self.handle, c.byref(indices), c.byref(target), c.byref(options), c.byref(error)), error)
        return out

    def take(self, ids: np.ndarray, out=None, on_bad="default", negative="default", fill=b"") -> tuple[np.ndarray, int]:
        """The rows, and how many indices were repaired."""
        out = self.new(ids) if out is None else out
        indices, target, options, bad, _text = self._call(ids, out, on_bad, negative, fill)
        error = Error()
        check(LIB.gather_table_take(self.handle, c.byref(indices), c.byref(target), c.byref(options), c.byref(error)), error)
        return out, bad.value

    def submit(self, ids: np.ndarray, on_bad="default", negative="default", fill=b""):
        """Begins; what it returns waits, and gives what take gives."""
        out = self.new(ids)
        kept = self._call(ids, out, on_bad, negative, fill)
        job, error = P(), Error()
        status = LIB.gather_table_submit(self.handle, c.byref(kept[0]), c.byref(kept[1]), c.byref(kept[2]), c.byref(job), c.byref(error))
        check(status, error)

        def wait() -> tuple[np.ndarray, int]:
            check(LIB.gather_table_wait(job, c.byref(error)), error)
            return out, kept[3].value

        return wait


def evict(path) -> None:
    """What of a file lies in the page cache goes, as far as the system wants."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
