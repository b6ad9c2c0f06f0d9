# SPDX-License-Identifier: MIT
"""table.h for ctypes: its structures, and a Python class over them that raises TableError."""

from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np
from support.skip import REQUIRED
from support.structs import BYTE_SWAPPED, Error, Tensor

P, I64 = c.c_void_p, c.c_int64
STATUSES = (
    "ok shape_mismatch rank_mismatch axis_out_of_range batch_dims_out_of_range index_out_of_range type_unsupported "
    "type_mismatch overflow out_of_memory unsupported usage file_not_found file_exists file_malformed io_error "
    "name_not_found mismatch"
).split()
ENGINES = ["auto", "mmap", "pread", "uring"]
ON_BAD = ["default", "error", "clamp", "wrap", "zero", "fill"]
NEGATIVE = ["default", "on", "off"]
OPAQUE = 31


class Raw(c.Structure):
    _fields_ = [("type", c.c_char_p), ("rank", c.c_int32), ("shape", c.POINTER(I64)), ("offset", I64), ("as_is", c.c_bool)]


class Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("engine", c.c_int),
        ("memory_bytes", I64),
        ("cache_bytes", I64),
        ("depth", c.c_int32),
        ("buffered", c.c_bool),
        ("keep_signals", c.c_bool),
        ("raw", c.POINTER(Raw)),
        ("no_links", c.c_bool),
        ("decode_as", c.c_int),
        ("codec", c.c_char_p),
    ]


class Info(c.Structure):
    _fields_ = [
        ("format", c.c_char_p),
        ("name", c.c_char_p),
        ("tensor", Tensor),
        ("descr", c.c_char_p),
        ("type_name", c.c_char_p),
        ("rows", I64),
        ("row_bytes", I64),
        ("parts", c.c_int32),
        ("codec", c.c_char_p),
    ]


class Part(c.Structure):
    _fields_ = [("path", c.c_char_p), ("offset", I64), ("first", I64), ("rows", I64)]


class TakeOptions(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("op", P),
        ("on_bad", c.c_int),
        ("negative", c.c_int),
        ("fill", P),
        ("executor", P),
        ("bad_count", c.POINTER(I64)),
    ]


class Statistics(c.Structure):
    _fields_ = [
        ("engine", c.c_int),
        ("direct", c.c_bool),
        ("depth", c.c_int32),
        ("why", c.c_char * 160),
        ("takes", I64),
        ("rows", I64),
        ("rows_resident", I64),
        ("rows_cached", I64),
        ("rows_read", I64),
        ("reads", I64),
        ("bytes_useful", I64),
        ("bytes_read", I64),
        ("memory_bytes", I64),
        ("memory_peak", I64),
        ("memory_ceiling", I64),
        ("seconds", c.c_double),
        ("seconds_waiting", c.c_double),
    ]


T, E = c.POINTER(Tensor), c.POINTER(Error)
FUNCTIONS = {
    "gather_table_open": (c.c_int, [c.c_char_p, c.POINTER(Options), c.POINTER(P), E]),
    "gather_table_open_parts": (c.c_int, [c.POINTER(c.c_char_p), c.c_int32, c.POINTER(Options), c.POINTER(P), E]),
    "gather_table_close": (None, [P]),
    "gather_table_describe": (c.POINTER(Info), [P]),
    "gather_table_part_at": (c.c_bool, [P, c.c_int32, c.POINTER(Part)]),
    "gather_table_take": (c.c_int, [P, T, T, c.POINTER(TakeOptions), E]),
    "gather_table_submit": (c.c_int, [P, T, T, c.POINTER(TakeOptions), c.POINTER(P), E]),
    "gather_table_wait": (c.c_int, [P, E]),
    "gather_table_statistics_get": (None, [P, c.POINTER(Statistics)]),
    "gather_engine_check": (c.c_int, [c.c_int, E]),
    "gather_type_parse": (c.c_int, [c.c_char_p]),
    "gather_op_find": (P, [c.c_char_p, c.c_char_p]),
    "gather_format_at": (c.POINTER(c.c_char_p), [c.c_size_t]),  # its first field is the name
}


def load() -> c.CDLL:
    path = os.environ.get("GATHER_LIB")
    if not path:
        raise RuntimeError("GATHER_LIB must name the shared library under test")
    library = c.CDLL(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIB = load()


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
        names.append(row[0].decode())
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
        words = [
            self.engine,
            *(["buffered"] if self.buffered else []),
            *(["keep_signals"] if self.keep_signals else []),
        ]
        return "-".join([*words, f"m{self.memory >> 20}", f"c{self.cache}", f"d{self.depth}"])


def int64s(values: Iterable[int]) -> c.Array:
    values = list(values)
    return (I64 * (len(values) + 1))(*values)


def tensor(number: int, shape, data: int, strides=None, item_bytes: int = 0, flags: int = 0) -> Tensor:
    """A described tensor, which keeps the arrays that it points to."""
    result = Tensor(data, number, len(shape), item_bytes, None, None, 0, flags)
    result.keep = [int64s(shape), int64s(strides or [])]
    result.shape = c.cast(result.keep[0], c.POINTER(I64))
    result.strides = c.cast(result.keep[1], c.POINTER(I64)) if strides is not None else None
    return result


def index_tensor(ids: np.ndarray) -> Tensor:
    number = LIB.gather_type_parse(ids.dtype.newbyteorder("=").name.encode())
    flags = 0 if ids.dtype.isnative else BYTE_SWAPPED
    return tensor(number, ids.shape, ids.ctypes.data, ids.strides, flags=flags)


class Table:
    """An open table. Rows come as bytes: ids.shape + (row_bytes,)."""

    def __init__(self, path, how: Setting = Setting(), raw: tuple[str, tuple[int, ...], int] | None = None) -> None:
        paths = [os.fsencode(part) for part in (path if isinstance(path, list) else [path])]
        options = Options(
            c.sizeof(Options),
            ENGINES.index(how.engine),
            how.memory,
            how.cache,
            how.depth,
            how.buffered,
            how.keep_signals,
            None,
            False,
            LIB.gather_type_parse(how.decode_as.encode()),
            how.codec.encode(),
        )
        if raw:
            shape = int64s(raw[1])
            options.raw = c.pointer(Raw(raw[0].encode(), len(raw[1]), c.cast(shape, c.POINTER(I64)), raw[2]))
        self.handle, error = P(), Error()
        if isinstance(path, list):
            list_of_paths = (c.c_char_p * (len(paths) + 1))(*paths)
            status = LIB.gather_table_open_parts(
                list_of_paths, len(paths), c.byref(options), c.byref(self.handle), c.byref(error)
            )
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
        target = tensor(
            kind.type, (*ids.shape, *self.shape[1:]), out.ctypes.data, None, kind.item_bytes, kind.flags & BYTE_SWAPPED
        )
        bad = I64(-1)
        options = TakeOptions(
            c.sizeof(TakeOptions), None, ON_BAD.index(on_bad), NEGATIVE.index(negative), None, None, c.pointer(bad)
        )
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
        target = tensor(kind.type, shape, out.ctypes.data, None, kind.item_bytes, kind.flags & BYTE_SWAPPED)
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
        check(
            LIB.gather_table_take(self.handle, c.byref(indices), c.byref(target), c.byref(options), c.byref(error)),
            error,
        )
        return out, bad.value

    def submit(self, ids: np.ndarray, on_bad="default", negative="default", fill=b""):
        """Begins; what it returns waits, and gives what take gives."""
        out = self.new(ids)
        kept = self._call(ids, out, on_bad, negative, fill)
        job, error = P(), Error()
        status = LIB.gather_table_submit(
            self.handle, c.byref(kept[0]), c.byref(kept[1]), c.byref(kept[2]), c.byref(job), c.byref(error)
        )
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
