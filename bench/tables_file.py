# SPDX-License-Identifier: MIT
"""The file that rows are taken from. Its data is written once; what stands before and behind it is then that of an
npy file, of a safetensors file, of HDF5 (contiguous) or of Arrow IPC (one batch, one column of fixed-size binary),
each with rows as long as wanted. So everybody reads the same bytes of the same disk, and the data begins at the same
place, on a block, for all."""

from __future__ import annotations

import io
import json
import mmap
import os
from pathlib import Path

import gather_bench_native as native
import numpy as np

HEAD = 8192  # where the data begins
WORD = 8
NAME = "rows"  # of the tensor, the data set or the column
BLOCK = 4096


def npy(bytes_: int, row_bytes: int, scratch: Path) -> tuple[bytes, bytes]:
    about = {"descr": "<u8", "fortran_order": False, "shape": (bytes_ // row_bytes, row_bytes // WORD)}
    text = repr(about).encode().ljust(HEAD - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text, b""


def safetensors(bytes_: int, row_bytes: int, scratch: Path) -> tuple[bytes, bytes]:
    about = {NAME: {"dtype": "U64", "shape": [bytes_ // row_bytes, row_bytes // WORD], "data_offsets": [0, bytes_]}}
    text = json.dumps(about).encode().ljust(HEAD - 8)
    return len(text).to_bytes(8, "little") + text, b""


def hdf5(bytes_: int, row_bytes: int, scratch: Path) -> tuple[bytes, bytes]:
    """What h5py writes around a contiguous data set whose elements nobody writes: a file with a hole."""
    import h5py

    with h5py.File(scratch, "w", libver="latest", alignment_threshold=1 << 16, alignment_interval=HEAD) as file:
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_layout(h5py.h5d.CONTIGUOUS)
        how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((bytes_ // row_bytes, row_bytes // WORD))
        made = h5py.h5d.create(file.id, NAME.encode(), h5py.h5t.STD_U64LE, space, how)
        begins = made.get_offset()
    return around(scratch, begins, bytes_)


def around(scratch: Path, begins: int, bytes_: int) -> tuple[bytes, bytes]:
    with open(scratch, "rb") as file:
        front = file.read(begins)
        file.seek(begins + bytes_)
        back = file.read()
    scratch.unlink()
    if begins != HEAD:
        raise ValueError(f"the data begins at {begins}, not at {HEAD}")
    return front, back


class Holes(io.RawIOBase):
    """A file that keeps only what is short: the column itself is in the file already."""

    def __init__(self):
        super().__init__()
        self.at, self.parts, self.column = 0, [], None

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        size = memoryview(data).nbytes
        if size >= HEAD * 8:
            self.column = (self.at, size)
        else:
            self.parts.append((self.at, bytes(data)))
        self.at += size
        return size

    def tell(self) -> int:
        return self.at

    def between(self, start: int, end: int) -> bytes:
        found = bytearray(end - start)
        for at, part in self.parts:
            if start <= at < end:
                found[at - start : at - start + len(part)] = part
        return bytes(found)


def arrow(bytes_: int, row_bytes: int, scratch: Path) -> tuple[bytes, bytes]:
    """What pyarrow writes around a column; a note in the schema is as long as it takes for the column to begin where
    the data does."""
    import pyarrow as pa

    with open(scratch, "w+b") as hole:
        hole.truncate(bytes_)
        memory = mmap.mmap(hole.fileno(), bytes_, access=mmap.ACCESS_READ)  # of the size of the column; nobody looks
    scratch.unlink()
    column = pa.Array.from_buffers(pa.binary(row_bytes), bytes_ // row_bytes, [None, pa.py_buffer(memory)])
    note = 0
    for _ in range(3):
        schema = pa.schema([pa.field(NAME, column.type, nullable=False)], metadata={"note": " " * note})
        file = Holes()
        with pa.ipc.new_file(file, schema) as writer:
            writer.write_batch(pa.record_batch([column], schema=schema))
        begins, size = file.column
        if begins == HEAD and size == bytes_:
            return file.between(0, HEAD), file.between(HEAD + bytes_, file.at)
        note += HEAD - begins
    raise ValueError("the column does not begin where the data does")


FORMATS = {"npy": npy, "safetensors": safetensors, "hdf5": hdf5, "arrow": arrow}


class DataFile:
    def __init__(self, path: Path, bytes_: int):
        self.path, self.bytes = path, bytes_
        self.frames: dict[tuple[str, int], tuple[bytes, bytes]] = {}
        self.now: tuple[str, int] | None = None

    def make(self) -> float:
        """Writes the data; bytes per second."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_DIRECT", 0), 0o644)
        try:
            os.posix_fallocate(fd, 0, HEAD + self.bytes)
            ns = native.words_write(fd, HEAD, self.bytes)
            os.fsync(fd)
        finally:
            os.close(fd)
        return self.bytes / ns * 1e9

    def is_made(self) -> bool:
        """Whether it is there already, whatever stands around its data."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                word = np.empty(1, np.uint64)
                file.seek(HEAD + self.bytes - WORD)
                return (
                    file.readinto(word) == WORD
                    and native.words_check(word.ctypes.data, np.array([self.bytes // WORD - 1]).ctypes.data, 1, WORD)
                    == -1
                )
        except OSError:
            return False

    def become(self, form: str, row_bytes: int) -> None:
        """A file of that format, with such rows."""
        if self.now == (form, row_bytes):
            return
        if (form, row_bytes) not in self.frames:
            self.frames[form, row_bytes] = FORMATS[form](self.bytes, row_bytes, self.path.with_suffix(".scratch"))
        front, back = self.frames[form, row_bytes]
        with open(self.path, "r+b", buffering=0) as file:
            file.write(front)
            file.seek(HEAD + self.bytes)
            file.write(back)
            file.truncate()
            os.fdatasync(file.fileno())
        self.now = (form, row_bytes)

    def resident(self) -> int:
        with open(self.path, "rb", buffering=0) as file:
            return native.resident(file.fileno(), HEAD + self.bytes)

    def drop(self) -> int:
        """Out of the page cache; how many bytes of it are still there. Pages that a process has mapped stay."""
        for attempt in range(3):
            with open(self.path, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            left = self.resident()
            if left <= BLOCK * 16:
                break
            try:
                Path("/proc/sys/vm/drop_caches").write_text("1")
            except OSError:
                pass
        return left

    def read_all(self) -> None:
        """All of it into the page cache, where it is not there already."""
        if self.resident() < self.bytes:
            with open(self.path, "rb", buffering=0) as file:
                while file.read(4 << 20):
                    pass

    def fill_cache(self, row_bytes: int, ids: np.ndarray) -> None:
        """These rows into the page cache, and no others."""
        scratch = np.empty(min(ids.size, 1 << 14) * row_bytes, np.uint8)
        with open(self.path, "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            for at in range(0, ids.size, 1 << 14):
                part = ids[at : at + (1 << 14)]
                native.pread(file.fileno(), HEAD, row_bytes, part.ctypes.data, part.size, scratch.ctypes.data, 32, 0)
