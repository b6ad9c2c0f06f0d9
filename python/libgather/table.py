# SPDX-License-Identifier: MIT
#
# table.py: tables in files: opening, indexing as NumPy has it, statistics. The rows themselves are the
# extension's matter.
"""Rows of tables that need not fit into memory, out of the files they are in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather.check_text import visible
from libgather.errors import refuse
from libgather.model_types import is_packed

Path = str | bytes | os.PathLike
_BLOCK_BYTES = 16 << 20  # of rows that are read at a time where all of a slice is


class TablePart(NamedTuple):
    """Where a part of a table lies: rows `first` to `first + rows` of the table, from the byte `offset` of the file."""

    path: str
    offset: int
    first: int
    rows: int


def bytes_text(count: int) -> str:
    """A count of bytes for people."""
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.2f} {units[0]}" if size < 100 and units[0] != "bytes" else f"{size:.0f} {units[0]}"


@dataclass(frozen=True)
class TableStatistics:
    """What a table has done since it was opened, or since reset_stats().

    Attributes
    ----------
    engine : str
        What reads rows that are not resident: 'mmap', 'pread' or 'uring'.
    direct : bool
        Whether it reads past the page cache.
    depth : int
        Reads in flight at most.
    why : str
        Why it is this engine, or why it is not the one that was asked for.
    takes : int
        Calls and jobs that ended well.
    rows : int
        Rows that they delivered: the three below, and those that were filled.
    rows_resident, rows_cached, rows_read : int
        Copied from the mapped file without waiting; copied from the table's own cache; delivered from reads.
    reads : int
        Requests to the system.
    bytes_useful, bytes_read : int
        rows * row_bytes; what the reads read.
    memory_bytes, memory_peak, memory_ceiling : int
        What the table keeps resident now, at most so far, and what it may (0: no ceiling).
    seconds, seconds_waiting : float
        In takes, all threads together; of it waiting for reads.
    """

    engine: str
    direct: bool
    depth: int
    why: str
    takes: int
    rows: int
    rows_resident: int
    rows_cached: int
    rows_read: int
    reads: int
    bytes_useful: int
    bytes_read: int
    memory_bytes: int
    memory_peak: int
    memory_ceiling: int
    seconds: float
    seconds_waiting: float

    def __str__(self) -> str:
        rows = f"{self.rows_resident} resident, {self.rows_cached} cached, {self.rows_read} read"
        ceiling = f" of {bytes_text(self.memory_ceiling)}" if self.memory_ceiling else ""
        return (
            f"{self.engine}{', direct' if self.direct else ''}, depth {self.depth}: {self.why}\n"
            f"rows: {self.rows} in {self.takes} takes ({rows})\n"
            f"time: {self.seconds:.3f} s, {self.seconds_waiting:.3f} s of it waiting for reads\n"
            f"reads: {self.reads}, {bytes_text(self.bytes_read)} for {bytes_text(self.bytes_useful)} of rows\n"
            f"memory: {bytes_text(self.memory_bytes)}, {bytes_text(self.memory_peak)} at most{ceiling}"
        )


# ---- what open() is given --------------------------------------------------------------------------------------------

_UNITS = {"": 1, "b": 1} | {
    letter + end: base**power
    for power, letter in enumerate("kmgt", 1)
    for end, base in (("", 1024), ("ib", 1024), ("b", 1000))
}


def bytes_of(amount: int | str, what: str) -> int:
    """An amount of memory: 65536, '2GiB', '500MB', '64M'."""
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", amount)
        unit = _UNITS.get(found[2].lower()) if found else None
        if found is None or unit is None:
            raise ValueError(f"{what} takes an amount such as 2GiB, 500MB or 65536, not {amount!r}")
        count = int(found[1]) * unit if found[1].isdigit() else int(float(found[1]) * unit)
    else:
        count = _index(amount, what)
    if not 0 <= count < 2**63:
        raise ValueError(f"{what} must be an amount from 0 on that fits in 64 bits, not {amount!r}")
    return count


def _index(value: Any, what: str) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    return value.__index__()


def _paths_of(path: Path | Sequence[Path]) -> list[str]:
    if isinstance(path, str | bytes | os.PathLike):
        return [os.fsdecode(path)]
    if not isinstance(path, Sequence) or not all(isinstance(part, str | bytes | os.PathLike) for part in path):
        raise TypeError(f"a table is a path or a list of paths, not {type(path).__name__}")
    if not path:
        raise ValueError("a table has at least one part: the list of paths is empty")
    return [os.fsdecode(part) for part in path]


def _raw_type(dtype: Any) -> tuple[str, np.dtype | None]:
    """The type of raw bytes as the library names it, and the dtype where it has no name for it."""
    if isinstance(dtype, str) and dtype in _core.types() and dtype != "opaque":
        return dtype, None
    kind = np.dtype(dtype)
    if kind.hasobject:
        refuse("type_unsupported", f"dtype {kind} holds Python objects, which are no bytes of a file", "data")
    if kind.subdtype is not None:
        refuse("type_unsupported", f"dtype {kind} is an array: give its shape as part of shape=", "data")
    if kind.num >= 256 and kind.name in _core.types():  # ml_dtypes'
        return kind.name, None
    if kind.names is not None or kind.num >= 256:
        return f"|V{kind.itemsize}", kind
    return kind.str, None


def _raw_shape(shape: Any) -> tuple[int, ...]:
    if shape is None:
        return (-1,)
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    return tuple(_index(length, "shape") for length in lengths)


# ---- what stands in brackets -----------------------------------------------------------------------------------------


def _columns(key: tuple, table: Table, dimensions: int) -> tuple:
    """The rest of table[ids, ...] as it applies to the rows, of which ids had `dimensions`."""
    rest = key[1:]
    if not all(part is Ellipsis or isinstance(part, slice) or _is_int(part) for part in rest):
        refuse(
            "unsupported",
            "behind the rows a table takes integers, slices and ... alone: index the rows first, table[ids][:, ...]",
            "indices",
        )
    row = np.broadcast_to(np.zeros((), np.uint8), (1, *table.shape[1:]))
    row[(slice(None), *rest)]  # NumPy's own errors, before anything is read
    return (slice(None),) * dimensions + rest


def _numbers(rows: range) -> np.ndarray:
    return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)


def _is_int(key: Any) -> bool:
    return isinstance(key, int | np.integer) and not isinstance(key, bool)


def _ids_of(key: Any) -> np.ndarray:
    """What stands for rows as an array: integers, or a mask."""
    _core._probe(key)
    ids = np.asarray(key)
    return ids.astype(np.int64) if ids.size == 0 and ids.dtype == float and isinstance(key, list | tuple) else ids


class Table(_core.Table):
    """A table in a file, or in several that follow one another: a tensor of rank 1 or more whose rows are taken by
    index.

    libgather.open() is another name of it, and says what the arguments are. `table[ids]` reads rows as NumPy's indexing
    would: ids are an int, integers of any rank, a slice, `...`, or a mask of one bool per row; behind a comma integers
    and slices may cut the rows. take() and submit() have more to choose from.

    Any number of threads may use one table. After a fork the child may use it too; pickled it is opened anew from its
    files. It is a context manager that closes it.
    """

    def __new__(
        cls,
        path: Path | Sequence[Path],
        *,
        memory: int | str | None = None,
        engine: str = "auto",
        depth: int | None = None,
        cache: int | str | None = None,
        buffered: bool = False,
        keep_signals: bool = False,
        dtype: npt.DTypeLike | None = None,
        shape: int | Sequence[int] | None = None,
        offset: int = 0,
        raw: bool = False,
        links: bool = True,
    ) -> Table:
        if dtype is None and (shape is not None or offset != 0 or raw):
            raise TypeError("shape, offset and raw are for raw bytes, which need dtype")
        if not isinstance(engine, str):
            raise TypeError(f"engine must be a str, not {type(engine).__name__}")
        paths = _paths_of(path)
        name, kind = (None, None) if dtype is None else _raw_type(dtype)
        self = super().__new__(
            cls,
            tuple(os.fsencode(part) for part in paths),
            engine,
            0 if memory is None else bytes_of(memory, "memory"),
            -1 if cache is None else bytes_of(cache, "cache"),
            0 if depth is None else _index(depth, "depth"),
            bool(buffered),
            bool(keep_signals),
            name,
            _raw_shape(shape),
            _index(offset, "offset"),
            kind,
            bool(raw),
            bool(links),
        )
        self._paths = paths
        self._arguments = {
            "path": [part if os.path.isabs(part) else os.path.join(os.getcwd(), part) for part in paths],
            "memory": memory,
            "engine": engine,
            "depth": depth,
            "cache": cache,
            "buffered": buffered,
            "keep_signals": keep_signals,
            "dtype": dtype,
            "shape": shape,
            "offset": offset,
            "raw": raw,
            "links": links,
        }
        return self

    @property
    def path(self) -> str | tuple[str, ...]:
        """What was opened: a path, or those of its parts."""
        return self._paths[0] if len(self._paths) == 1 else tuple(self._paths)

    @property
    def parts(self) -> tuple[TablePart, ...]:
        """Where its rows lie."""
        return tuple(TablePart(*part) for part in self._parts())

    def stats(self) -> TableStatistics:
        """What has been done since it was opened, or since reset_stats()."""
        return TableStatistics(**self._stats())

    def __repr__(self) -> str:
        path = self._paths[0] + (f" and {len(self._paths) - 1} more" if len(self._paths) > 1 else "")
        what = "closed" if self.closed else f"{self.row_bytes} bytes a row"
        return f"<libgather.Table {visible(path)}: {self.format}, {self.type} {self.shape}, {what}>"

    def __enter__(self) -> Table:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):  # KeyboardInterrupt and the like: nobody waits for jobs any more
            self.cancel_jobs()
        self.close()

    def __reduce__(self) -> tuple:
        return _reopen, (type(self), self._arguments)

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, self.rows, self._block()):
            yield from self.take(np.arange(first, min(first + self._block(), self.rows)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """All of it. Above the ceiling on memory this is an error: whoever means it says table[...]."""
        ceiling = self._arguments["memory"]
        if copy is False:
            raise ValueError("a table in a file cannot become an array without a copy")
        if ceiling is not None and self.nbytes > bytes_of(ceiling, "memory"):
            text = f"the table has {self.nbytes} bytes, above its memory={ceiling!r}: table[...] reads it all"
            refuse("out_of_memory", text)
        rows = self[...]
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def _block(self) -> int:
        """How many rows are read at a time where many follow one another."""
        return max(1, _BLOCK_BYTES // max(self.row_bytes, 8))

    def _range(self, wanted: range) -> np.ndarray:
        """Rows of a slice, a block at a time, so that their numbers take no room to speak of."""
        block = self._block()
        pieces = [wanted[first : first + block] for first in range(0, len(wanted), block)] or [wanted]
        if len(pieces) == 1 or is_packed(self.type):
            rows = [self.take(_numbers(piece)) for piece in pieces]
            return rows[0] if len(rows) == 1 else np.concatenate(rows)
        out = np.empty((len(wanted), *self.shape[1:]), self.dtype)
        for i, piece in enumerate(pieces):
            self.take(_numbers(piece), out=out[i * block : (i + 1) * block])
        return out

    def _select(self, key: Any) -> Any:
        """What the extension leaves over of table[key]."""
        if key is Ellipsis:
            key = slice(None)
        if isinstance(key, slice):
            return self._range(range(self.rows)[key])
        if isinstance(key, tuple):
            return self._select_tuple(key)
        ids = _ids_of(key)
        return self.take(self._mask(ids) if ids.dtype == bool else ids)

    def _mask(self, mask: np.ndarray) -> np.ndarray:
        if mask.shape != (self.rows,):
            text = f"a mask has one bool per row, so the shape {(self.rows,)}, not {mask.shape}"
            refuse("shape_mismatch", text, "indices")
        return np.flatnonzero(mask)

    def _select_tuple(self, key: tuple) -> Any:
        if not key:
            return self[...]
        if len(key) == 1:
            return self[key[0]]
        first = key[0]
        if first is Ellipsis or isinstance(first, slice):
            columns = _columns(key, self, 1) if first is not Ellipsis else key
            return self[first][columns]
        ids = first if _is_int(first) else _ids_of(first)
        if not _is_int(first) and ids.dtype == bool:
            ids = self._mask(ids)
        columns = _columns(key, self, 0 if _is_int(first) else ids.ndim)
        return self[ids][columns]


def _reopen(kind: type[Table], arguments: dict[str, Any]) -> Table:
    return kind(**arguments)


def open(
    path: Path | Sequence[Path],
    *,
    memory: int | str | None = None,
    engine: str = "auto",
    depth: int | None = None,
    cache: int | str | None = None,
    buffered: bool = False,
    keep_signals: bool = False,
    dtype: npt.DTypeLike | None = None,
    shape: int | Sequence[int] | None = None,
    offset: int = 0,
    raw: bool = False,
    links: bool = True,
) -> Table:
    """Opens a table: nothing is read but headers, and the file is never changed or converted.

    Parameters
    ----------
    path : str, os.PathLike, or list of them
        'FILE' or 'FILE:TENSOR', in any format of `gather info --formats`. A list: parts, one behind the other along
        axis 0, of equal types and row shapes.
    memory : int or str, optional
        A ceiling on what the table keeps resident ('2GiB', '500MB', 65536): what is mapped, buffers and cache together,
        not the indices and the result. Default: none.
    engine : {'auto', 'mmap', 'pread', 'uring'}
        How rows that are not resident are read. 'auto' takes the fastest there is; stats() names it.
    depth : int, optional
        Reads in flight, 1 to 4096. Default: chosen.
    cache : int or str, optional
        Of the memory at most for rows that were read and may be wanted again; 0 for none. Default: chosen.
    buffered : bool
        Read through the page cache, never past it.
    keep_signals : bool
        Do not read through a mapping, for which a handler for SIGBUS is installed.
    dtype : dtype, optional
        The files hold raw bytes of this dtype: anything np.dtype() takes, or a name of libgather.types().
    shape : int or tuple, optional
        Of raw bytes; the first length may be -1: as many rows as the file has. Default: (-1,).
    offset : int
        Of the first raw element in the file, in bytes.
    raw : bool
        With dtype: read the bytes as they are, also where the file is recognised as one of another format. Without it
        such a file is refused, since its header would be read as data.
    links : bool
        Whether files beside a model, or beside an index of safetensors files, may be symbolic links.

    Returns
    -------
    Table

    Raises
    ------
    GatherFileError, GatherNameError
        The file cannot be read, or has no such tensor.
    GatherNotSupportedError
        Elements that are not in row-major order; strings of variable size; packed rows that end within a byte.
    GatherValueError
        A ceiling that is too low, with the lowest that would do; parts that do not fit each other.
    """
    return Table(
        path,
        memory=memory,
        engine=engine,
        depth=depth,
        cache=cache,
        buffered=buffered,
        keep_signals=keep_signals,
        dtype=dtype,
        shape=shape,
        offset=offset,
        raw=raw,
        links=links,
    )
