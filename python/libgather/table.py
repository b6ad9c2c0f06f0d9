# SPDX-License-Identifier: MIT
#
# table.py: tables in files: opening, NumPy's indexing, statistics. The extension reads
# the rows.
"""Reads rows of tables in files, which need not fit into memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather.check_text import visible
from libgather.errors import refuse
from libgather.remote import RemoteStatistics, is_url, remote_options, shown
from libgather.table_array import TableArray
from libgather.table_index import TableIndexing

Path = str | bytes | os.PathLike


class TableDevice(NamedTuple):
    """A device that a table reads from: its files with one device number (`st_dev`), which share a queue of reads.

    most_in_flight: the most reads that one take had in flight here. seconds_reading: the sum of the latencies of all reads; divided
    by reads, the mean latency. All counts are since the table was opened, or since reset_stats().
    """

    number: int
    path: str  # of its first file
    files: int
    direct: bool
    depth: int
    most_in_flight: int
    reads: int
    bytes_read: int
    seconds_reading: float


class TablePart(NamedTuple):
    """A part of a table: its rows `first` to `first + rows`, from the byte `offset` of the file; -1 in Fortran order."""

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
    """Statistics of a table since it was opened, or since reset_stats().

    Attributes
    ----------
    engine : str
        How rows that are not resident are read: 'mmap', 'pread', 'uring' or 'http'.
    direct : bool
        Whether it uses direct I/O, which bypasses the page cache.
    depth : int
        Queue depth: maximum number of reads in flight on each device.
    why : str
        Why this engine, or why not the requested one.
    takes : int
        Successful calls and jobs.
    rows : int
        Rows that they returned: the three below, and filled rows.
    rows_resident, rows_cached, rows_read : int
        Copied from the page cache; copied from the table's own cache; read from the file.
    reads : int
        Read requests to the system.
    bytes_useful, bytes_read : int
        rows * row_bytes; bytes read.
    memory_bytes, memory_peak, memory_ceiling : int
        Memory that the table uses now, the maximum so far, and the limit (0: none).
    seconds, seconds_waiting : float
        Time in takes, summed over threads; the part of it that was spent waiting for reads.
    chunks_read, chunks_cached : int
        For rows stored in chunks: chunks read from the file; chunks found in the table's own cache.
    bytes_decoded, seconds_decoding : int, float
        Bytes of chunks that were decompressed; the time for it, summed over threads.
    remote : RemoteStatistics or None
        What a table of URLs did on the network.
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
    chunks_read: int = 0
    chunks_cached: int = 0
    bytes_decoded: int = 0
    seconds_decoding: float = 0.0
    remote: RemoteStatistics | None = None

    def __str__(self) -> str:
        rows = f"{self.rows_resident} resident, {self.rows_cached} cached, {self.rows_read} read"
        ceiling = f" of {bytes_text(self.memory_ceiling)}" if self.memory_ceiling else ""
        return (
            f"{self.engine}{', direct' if self.direct else ''}, depth {self.depth}: {self.why}\n"
            f"rows: {self.rows} in {self.takes} takes ({rows})\n"
            f"time: {self.seconds:.3f} s, {self.seconds_waiting:.3f} s of it waiting for reads\n"
            f"reads: {self.reads}, {bytes_text(self.bytes_read)} for {bytes_text(self.bytes_useful)} of rows\n"
            f"{self._chunks()}"
            f"memory: {bytes_text(self.memory_bytes)}, {bytes_text(self.memory_peak)} at most{ceiling}"
            f"{self._network()}"
        )

    def _chunks(self) -> str:
        if self.chunks_read + self.chunks_cached == 0:
            return ""
        decoded = f"{bytes_text(self.bytes_decoded)} decoded in {self.seconds_decoding:.3f} s"
        return f"chunks: {self.chunks_read} read, {self.chunks_cached} cached, {decoded}\n"

    def _network(self) -> str:
        if self.remote is None:
            return ""
        r = self.remote
        return (
            f"\nnetwork: {r.requests} requests ({r.retries} retries, {r.hedges} hedges), {bytes_text(r.bytes_read)} for "
            f"{bytes_text(r.bytes_useful)} of rows, {r.connections} connections\n"
            f"requests: {r.p50 * 1e3:.1f} ms (p50), {r.p99 * 1e3:.1f} ms (p99), {r.in_flight_peak} in flight, "
            f"gap {bytes_text(r.gap_bytes)}"
        )


# ---- arguments of open() ---------------------------------------------------------------------------------------------

_DECODED = ("float32", "float16", "bfloat16")
_UNITS = {"": 1, "b": 1} | {
    letter + end: base**power
    for power, letter in enumerate("kmgt", 1)
    for end, base in (("", 1024), ("ib", 1024), ("b", 1000))
}


def bytes_of(amount: int | str, what: str) -> int:
    """A size in bytes: 65536, '2GiB', '500MB', '64M'."""
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", amount)
        unit = _UNITS.get(found[2].lower()) if found else None
        if found is None or unit is None:
            raise ValueError(f"{what} takes a size such as 2GiB, 500MB or 65536, not {amount!r}")
        count = int(found[1]) * unit if found[1].isdigit() else int(float(found[1]) * unit)
    else:
        count = _index(amount, what)
    if not 0 <= count < 2**63:
        raise ValueError(f"{what} must not be negative and must fit in 64 bits, not {amount!r}")
    return count


def memory_of(amount: int | str | None) -> int:
    """A memory limit in bytes; 0 for None, no limit."""
    count = 0 if amount is None else bytes_of(amount, "memory")
    if amount is not None and count == 0:
        raise ValueError("memory must be more than 0 bytes; without a limit, leave it out")
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
        raise ValueError("the list of paths is empty: a table has at least one part")
    return [os.fsdecode(part) for part in path]


def tensor_name(tensor: Any) -> str | None:
    """The argument `tensor`: a name, or None if paths may be FILE:TENSOR."""
    if tensor is not None and not isinstance(tensor, str):
        raise TypeError(f"tensor must be a str, not {type(tensor).__name__}")
    return tensor


def _raw_type(dtype: Any) -> tuple[str, np.dtype | None]:
    """The library's name of the type of raw bytes, and the dtype if it has no name."""
    if isinstance(dtype, str) and dtype in _core.types() and dtype != "opaque":
        return dtype, None
    kind = np.dtype(dtype)
    if kind.hasobject:
        refuse("type_unsupported", f"dtype {kind} contains Python objects, which cannot be read from a file", "data")
    if kind.subdtype is not None:
        refuse("type_unsupported", f"dtype {kind} is an array: give its shape as part of shape=", "data")
    if kind.num >= 256 and kind.name in _core.types():  # ml_dtypes'
        return kind.name, None
    if kind.names is not None or kind.num >= 256:
        return f"|V{kind.itemsize}", kind
    return kind.str, None


def decoded_type(dtype: Any) -> str:
    """The name of the type of decoded rows."""
    name = dtype if isinstance(dtype, str) else None
    if name is None:
        name = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else np.dtype(dtype).name
    if name not in _DECODED:
        refuse("type_unsupported", f"rows are decoded to {', '.join(_DECODED)}, not to {name}", "output")
    return name


def _raw_shape(shape: Any) -> tuple[int, ...]:
    if shape is None:
        return (-1,)
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    return tuple(_index(length, "shape") for length in lengths)


class Table(_core.Table, TableIndexing, TableArray):
    """A table in one or several files: a tensor of rank 1 or more whose rows are taken by index.

    libgather.open() is another name for it, and documents the arguments. `table[ids]` indexes rows as NumPy does: ids are
    an int, integers of any rank, a slice, `...`, or a mask of one bool per row. After a comma, anything that NumPy takes
    may select parts of the rows. `table[i, j]` with arrays for several dimensions reads only the selected elements.
    take() and submit() have more options.

    np.take, np.take_along_axis, dask.array.from_array and xarray accept it as an array, PyTorch's DataLoader as a dataset.
    A NumPy function that would read the whole file raises a TypeError.

    Any number of threads may use one table. After a fork the child may use it too. Unpickling opens its files again.
    A with statement closes it at the end.
    """

    def __new__(
        cls,
        path: Path | Sequence[Path],
        *,
        tensor: str | None = None,
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
        decode_as: npt.DTypeLike | None = None,
        codec: str | None = None,
        remote: Mapping[str, Any] | None = None,
    ) -> Table:
        if dtype is None and (shape is not None or offset != 0 or raw):
            raise TypeError("shape, offset and raw need dtype: they describe raw bytes")
        if not isinstance(engine, str):
            raise TypeError(f"engine must be a str, not {type(engine).__name__}")
        decoded = None if decode_as is None else decoded_type(decode_as)
        if codec is not None and decoded is None:
            raise TypeError("codec needs decode_as, the type to decode to")
        paths = _paths_of(path)
        name, kind = (None, None) if dtype is None else _raw_type(dtype)
        self = super().__new__(
            cls,
            tuple(os.fsencode(part) for part in paths),
            engine,
            memory_of(memory),
            -1 if cache is None else bytes_of(cache, "cache"),
            0 if depth is None else _index(depth, "depth"),
            bool(buffered),
            bool(keep_signals),
            name,
            _raw_shape(shape),
            _index(offset, "offset"),
            kind if decoded is None else None,
            bool(raw),
            bool(links),
            decoded,
            codec,
            remote_options(paths, remote, bytes_of),
            tensor_name(tensor),
        )
        self._paths = paths
        self._arguments = {
            "path": [part if os.path.isabs(part) or is_url(part) else os.path.join(os.getcwd(), part) for part in paths],
            "tensor": tensor,
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
            "decode_as": decoded,
            "codec": codec,
            "remote": None if remote is None else dict(remote),
        }
        return self

    @property
    def path(self) -> str | tuple[str, ...]:
        """The path, or the paths of the parts."""
        return self._paths[0] if len(self._paths) == 1 else tuple(self._paths)

    @property
    def parts(self) -> tuple[TablePart, ...]:
        """The files with its rows."""
        return tuple(TablePart(*part) for part in self._parts())

    def dequantize(self, dtype: npt.DTypeLike = "float32", *, codec: str | None = None) -> Table:
        """The decoded rows of a quantised table: another table over the same files, opened like this one.

        dtype is 'float32', 'float16' or 'bfloat16'. codec is needed only if the file does not name the codec of its rows
        (see codecs()). Only rows that are taken are read and decoded. If the table cannot be decoded, a
        GatherNotSupportedError gives the reason.
        """
        decoded = type(self)(**{**self._arguments, "decode_as": dtype, "codec": codec})
        decoded._paths = self._paths
        return decoded

    def stats(self) -> TableStatistics:
        """Statistics since the table was opened, or since reset_stats()."""
        network = self._remote_stats()
        return TableStatistics(**self._stats(), remote=None if network is None else RemoteStatistics(**network))

    def devices(self) -> tuple[TableDevice, ...]:
        """The devices of its files, and what was read from each."""
        return tuple(TableDevice(*device) for device in self._devices())

    def __repr__(self) -> str:
        path = shown(self._paths[0]) + (f" and {len(self._paths) - 1} more" if len(self._paths) > 1 else "")
        what = "closed" if self.closed else f"{self.row_bytes} bytes a row"
        what = what if self.codec is None else f"{what}, decoded from {self.codec}"
        return f"<libgather.Table {visible(path)}: {self.format}, {self.type} {self.shape}, {what}>"

    def __enter__(self) -> Table:
        if self.closed:
            refuse("usage", "the table is closed", "data")
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):  # KeyboardInterrupt and the like: the jobs are not needed any more
            self.cancel_jobs()
        self.close()

    def __reduce__(self) -> tuple:
        return _reopen, (type(self), self._arguments)

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        for first in range(0, self.rows, self._block()):
            yield from self.take(np.arange(first, min(first + self._block(), self.rows)))

    def __reversed__(self) -> Iterator[npt.NDArray[Any]]:
        for last in range(self.rows, 0, -self._block()):
            yield from self.take(np.arange(last - 1, max(last - self._block(), 0) - 1, -1))


def _reopen(kind: type[Table], arguments: dict[str, Any]) -> Table:
    return kind(**arguments)


def open(
    path: Path | Sequence[Path],
    *,
    tensor: str | None = None,
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
    decode_as: npt.DTypeLike | None = None,
    codec: str | None = None,
    remote: Mapping[str, Any] | None = None,
) -> Table:
    """Opens a table. Reads only headers; the file is never changed or converted.

    Parameters
    ----------
    path : str, os.PathLike, or list of them
        'FILE' or 'FILE:TENSOR', in any format of `gather info --formats`. A list: parts, concatenated along
        axis 0, of equal types and row shapes. A URL ('https://host/FILE:TENSOR', also http, s3 and hf) is read
        in byte ranges: only headers and the rows that are taken.
    tensor : str, optional
        The name of the tensor in each file, of any characters. `path` is then not split at a colon. '': the only tensor.
        Default: a path may be 'FILE:TENSOR'.
    memory : int or str, optional
        Memory limit of the table ('2GiB', '500MB', 65536): resident mapped pages, buffers and cache together,
        without the indices and the result. Default: no limit. Buffers and cache then stay below 2 GiB and below an eighth of
        the memory that this process may use, and the system manages the mapped pages.
    engine : {'auto', 'mmap', 'pread', 'uring', 'http', 'overlapped'}
        How rows that are not resident are read. 'auto' uses the fastest available; stats() names it. URLs are read by
        'http'.
    depth : int, optional
        Queue depth: reads in flight, 1 to 4096. Default: automatic.
    cache : int or str, optional
        Maximum memory of the row cache; 0 for no cache. Default: automatic.
    buffered : bool
        Read through the page cache: never use direct I/O.
    keep_signals : bool
        Do not map the file, which would install a handler for SIGBUS.
    dtype : dtype, optional
        The files contain raw bytes of this dtype: anything np.dtype() takes, or a name of libgather.types().
    shape : int or tuple, optional
        Shape of raw bytes; the first length may be -1: all rows of the file. Default: (-1,).
    offset : int
        Offset of the first raw element in the file, in bytes.
    raw : bool
        With dtype: read the bytes even if the file is recognised as another format, or as something in place of the
        table (a Git LFS pointer, a web page). Without it such a file is an error, since its header or text would be
        read as data.
    links : bool
        Whether files that a model or an index of safetensors files refers to may be symbolic links.
    decode_as : {'float32', 'float16', 'bfloat16'}, optional
        The tensor is quantised: its rows are decoded to this type. See Table.dequantize().
    codec : str, optional
        With decode_as: a name of codecs(), if the file does not name the codec of its rows.
    remote : dict, optional
        Options of URLs: connections (64), timeout (60: seconds without progress), retries (8), gap ('auto', or the bytes
        between rows that one request may skip), cache (a folder for blocks on disk) and cache_bytes ('1GiB'), whole ('16MiB':
        the largest file that is downloaded whole from a server without ranges; 0: none), any_address (False: link-local
        addresses, and redirects from elsewhere to this machine or a private network, are refused), bearer, endpoint, region, key_id, secret, session_token, virtual_host, hub, authorities (a file of certificates), schemes.
        Missing options come from the environment (AWS_*, ~/.aws, HF_TOKEN, HF_ENDPOINT, CURL_CA_BUNDLE).

    Returns
    -------
    Table

    Raises
    ------
    GatherFileError, GatherNameError
        The file cannot be read, or has no such tensor.
    GatherNotSupportedError
        Elements not in row-major order; strings of variable size; packed rows that end within a byte.
    GatherValueError
        A memory limit that is too low (the message has the minimum); parts of different types or row shapes.
    """
    return Table(
        path,
        tensor=tensor,
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
        decode_as=decode_as,
        codec=codec,
        remote=remote,
    )
