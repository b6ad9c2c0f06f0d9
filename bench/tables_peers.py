# SPDX-License-Identifier: MIT
"""Who takes rows out of the file, each as it does it best. A way is opened in a process of its own; open() returns
take(ids, out), which puts rows into `out`, and may return its nanoseconds itself."""

from __future__ import annotations

import importlib.metadata
import mmap
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import gather_bench_native as native
import numpy as np
from tables_file import HEAD, NAME

PEER, OURS, LIMIT = "peer", "ours", "limit"
AUTO = "libgather auto"
MEMMAP = "numpy memmap"
MEMCPY = "memcpy from the mapped file"
BATCH = 512  # rows that are advised, or selected, at a time


@dataclass
class Way:
    name: str
    open: Callable  # open(path, row_bytes) -> take
    kind: str = PEER
    form: str = "npy"  # of the file
    whole: bool = True  # fast enough to be given all ids at once
    how: str = ""  # for the page
    keep: list = field(default_factory=list)  # what must live as long as the process, a table of ours first


def memmap(advice: int | None = None):
    def opened(path: Path, row_bytes: int):
        table = np.load(path, mmap_mode="r")
        if advice is not None:
            table._mmap.madvise(advice)
        flat = np.asarray(table)  # the class memmap costs time at each call, and does nothing for it

        def take(ids, out):
            np.take(flat, ids, axis=0, out=out, mode="clip")

        return take

    return opened


def memmap_willneed(path: Path, row_bytes: int):
    table = np.load(path, mmap_mode="r")
    pages, flat = table._mmap, np.asarray(table)
    pages.madvise(mmap.MADV_RANDOM)
    page, begins = mmap.PAGESIZE, table.offset % mmap.ALLOCATIONGRANULARITY  # of the data within the map
    span = -(-row_bytes // page) * page

    def take(ids, out):
        for at in range(0, ids.size, BATCH):
            part = ids[at : at + BATCH]
            for start in np.unique((begins + part * row_bytes) // page * page).tolist():
                pages.madvise(mmap.MADV_WILLNEED, start, span)
            np.take(flat, part, axis=0, out=out[at : at + BATCH], mode="clip")

    return take


def h5py_sorted(path: Path, row_bytes: int):
    import h5py

    rows = h5py.File(path, "r")[NAME]

    def take(ids, out):
        for at in range(0, ids.size, BATCH):
            unique, places = np.unique(ids[at : at + BATCH], return_inverse=True)
            np.take(rows[unique], places, axis=0, out=out[at : at + BATCH], mode="clip")

    return take


def safetensors_slices(path: Path, row_bytes: int):
    from safetensors import safe_open

    rows = safe_open(path, "numpy").__enter__().get_slice(NAME)

    def take(ids, out):
        for i, row in enumerate(ids.tolist()):
            out[i] = rows[row : row + 1][0]

    return take


def arrow_take(path: Path, row_bytes: int):
    import pyarrow as pa

    column = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0).column(0)

    def take(ids, out):
        found = column.take(pa.array(ids))
        out[...] = np.frombuffer(found.buffers()[1], np.uint64, out.size, found.offset * row_bytes).reshape(out.shape)

    return take


def pread_pool(threads: int, align: int):
    def opened(path: Path, row_bytes: int):
        fd = os.open(path, os.O_RDONLY | (os.O_DIRECT if align else 0))
        if not align:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)

        def take(ids, out):
            return native.pread(fd, HEAD, row_bytes, ids.ctypes.data, ids.size, out.ctypes.data, threads, align)

        return take

    return opened


def memcpy(path: Path, row_bytes: int):
    """One row after another, in C, out of pages that were touched before."""
    with open(path, "rb") as file:
        pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    pages.madvise(mmap.MADV_RANDOM)
    view = np.frombuffer(pages, np.uint8)  # lives as long as take()

    def take(ids, out):
        job = (
            view.ctypes.data + HEAD, ids.ctypes.data, out.ctypes.data, 1, ids.size, 1, 0, row_bytes, 0, 0, row_bytes, 8, 0, 0, 0, 0, 0, 0
        )
        return native.timed("naive", 1, 1, job)

    return take


class Native:
    """A table of ours from C, and what it says of itself."""

    def __init__(self, engine: str, memory: int = 0, depth: int = 0, cache: int = -1):
        self.options = (engine, memory, depth, cache)
        self.table = None

    def __call__(self, path: Path, row_bytes: int):
        self.table = native.Table(str(path), *self.options)
        return lambda ids, out: self.table.take(ids.ctypes.data, ids.size, out.ctypes.data)

    def statistics(self) -> dict:
        return self.table.statistics() if self.table else {}


def from_python(path: Path, row_bytes: int):
    import libgather

    table = libgather.open(str(path))

    def take(ids, out):
        table.take(ids, out=out)

    return take


def version(package: str) -> str:
    return importlib.metadata.version(package)


def load(wanted: tuple[str, ...]) -> tuple[list[Way], dict[str, str], dict[str, str]]:
    """The ways that can be measured here, the versions, and who is absent, why."""
    ways = [
        Way(MEMMAP, memmap(), whole=False, how="`np.take(np.load(path, mmap_mode='r'), ids, axis=0, out=out, mode='clip')`"),
        Way("memmap, MADV_RANDOM", memmap(mmap.MADV_RANDOM), whole=False, how="the same after `madvise(MADV_RANDOM)` on the map"),
        Way("memmap, WILLNEED", memmap_willneed, whole=False,
            how=f"the same, and each batch of {BATCH} ids: `madvise(MADV_WILLNEED)` for the pages of every row, " "then `np.take`"),
    ]
    versions, absent = {"NumPy": np.__version__, "libgather": native.library()["version"]}, {}
    others = [
        (
            "h5py",
            Way(
                "h5py",
                h5py_sorted,
                form="hdf5",
                whole=False,
                how=f"contiguous data set; batches of {BATCH} ids, sorted and without duplicates as h5py requires: "
                "`dataset[unique]`, then scattered",
            ),
        ),
        (
            "safetensors",
            Way("safetensors", safetensors_slices, form="safetensors", whole=False,
                how="`safe_open(path).get_slice(name)[i:i+1]` for each id"),
        ),
        (
            "pyarrow",
            Way("pyarrow", arrow_take, form="arrow", whole=False,
                how="`memory_map`, one batch, one column of fixed-size binary; `column.take(ids)`"),
        ),
    ]
    for package, way in others:
        try:
            __import__(package)
            versions[package] = version(package)
            ways.append(way)
        except Exception as error:  # noqa: BLE001  a peer may be broken in any way it likes
            absent[way.name] = f"{type(error).__name__}: {error}".splitlines()[0]
    ways += ours(absent)
    return [way for way in ways if not wanted or way.kind != PEER or way.name in wanted], versions, absent


def ours(absent: dict[str, str]) -> list[Way]:
    found = [Way(AUTO, Native("auto"), OURS, how="`gather_table_take` from C, default options")]
    found += [
        Way(f"libgather {engine}", Native(engine), OURS, how=f"the same with the engine `{engine}`")
        for engine in ("mmap", "pread", "uring")
    ]
    try:
        import libgather

        if not hasattr(libgather, "open"):
            raise ImportError("this libgather has no open()")
        found.append(Way("libgather from Python", from_python, OURS, how="`libgather.open(path).take(ids, out=out)`"))
    except ImportError as error:
        absent["libgather from Python"] = str(error)
    return found


def pools(names: tuple[int, ...] = (16, 32, 64), block: int = 4096) -> list[Way]:
    return [
        Way(f"pread pool, {threads} threads, {'O_DIRECT' if align else 'buffered'}", pread_pool(threads, align),
            how=f"C, {threads} threads, one pread a row, {'past' if align else 'through'} the page cache")
        for align in (0, block)
        for threads in names
    ]
