# SPDX-License-Identifier: MIT
#
# shuffle_file.py: the arguments and the result of shuffle(). The extension does the work.
"""Writes the rows of a table in another order to a new file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather.errors import refuse
from libgather.remote import is_url
from libgather.table import Path, _index, _paths_of, _raw_shape, _raw_type, bytes_of, memory_of, tensor_name

_MOST_THREADS = 1024


@dataclass(frozen=True)
class Shuffled:
    """The result of shuffle(), or with dry_run=True what it would do.

    Attributes
    ----------
    path : str or None
        The output; None if none was given.
    rows, row_bytes : int
        Of the output.
    type : str
        The element type.
    shape : tuple of int
        Of the output.
    seed : int or None
        Of the random order; None if the order was given.
    passes : int
        1 or 2.
    buckets : int
        Of two passes; 0 with one pass.
    memory : int
        The memory limit, in bytes.
    temporary_bytes : int
        Disk space used in addition to the output.
    resumed : bool
        Whether an earlier run was resumed.
    """

    path: str | None
    rows: int
    row_bytes: int
    type: str
    shape: tuple[int, ...]
    seed: int | None
    passes: int
    buckets: int
    memory: int
    temporary_bytes: int
    resumed: bool


def _from(least: int, value: Any, what: str, most: int = 2**63 - 1) -> int:
    number = _index(value, what)
    if not least <= number <= most:
        raise ValueError(f"{what} must be from {least} to {most}, not {number}")
    return number


def _output_of(output: Path | None, dry_run: bool) -> bytes | None:
    if output is not None and not isinstance(output, str | bytes | os.PathLike):
        raise TypeError(f"output must be a path, not {type(output).__name__}")
    if output is None and not dry_run:
        raise TypeError("output is None: only dry_run=True needs no output")
    return None if output is None else os.fsencode(output)


def _refuse_urls(parts: Sequence[str], output: bytes | None) -> None:
    if any(is_url(part) for part in parts):
        refuse("unsupported", "shuffle() reads every row, from local files only: download the file of the URL first", "data")
    if output is not None and is_url(os.fsdecode(output)):
        refuse("unsupported", "output names a URL, but only local files are written", "output")


def shuffle(
    source: Path | Sequence[Path],
    output: Path | None,
    *,
    tensor: str | None = None,
    seed: int | None = None,
    order: Any = None,
    memory: int | str | None = None,
    passes: int | None = None,
    name: str | None = None,
    align: int | str | None = None,
    replace: bool = False,
    in_place: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    threads: int | None = None,
    engine: str = "auto",
    depth: int | None = None,
    dtype: npt.DTypeLike | None = None,
    shape: int | Sequence[int] | None = None,
    offset: int = 0,
    raw: bool = False,
    links: bool = True,
    progress: Callable[[str, int, int], object] | None = None,
) -> Shuffled:
    """Writes the rows of a table to a new file, in a random or a given order.

    The table may be larger than memory. The output is written atomically. The order of a seed never changes: it is the order
    of the command `gather shuffle --seed`.

    Parameters
    ----------
    source : str or PathLike, or list of them
        The table: a local file of any format that open() reads, FILE:TENSOR, or a list of its parts in order. No URLs: every row is read.
    output : str or PathLike
        The new file; its extension selects the format: .npy, .safetensors, .pb, .bin or .raw. None only with dry_run=True.
    tensor : str, optional
        The tensor in each file of `source`, as in open().
    seed : int, optional
        Seed of the random order, at least 0. Default: a new one, which is in the result.
    order : array of integers, optional
        Row numbers of the table in the order of the output, instead of a seed; any rank and integer dtype. Negative numbers count
        from the end. It must not change before the call returns. It may be larger than memory: np.load(path, mmap_mode='r').
    memory : int or str, optional
        Memory limit: 2**31, '2GiB', '500MB'. Default: a quarter of what this process may use.
    passes : {1, 2}, optional
        1: take each block of the output from the table. 2: read the table once and sort it in buckets. Default: the faster one.
    name : str, optional
        Name of the tensor in the output, if the format has names. Default: the table's.
    align : int or str, optional
        Alignment of the output's first element in the file, in bytes: a power of two such as 4096. A row whose length divides it,
        or is a multiple of it, then spans as few disk blocks as possible. Supported for .npy (up to 8192), .safetensors and raw
        files. Give it again when resuming.
    replace : bool, default False
        Replace an existing output, and what an unfinished run left.
    in_place : bool, default False
        The output may be a file of the table itself, which is replaced when all rows are written. Otherwise that is an error, also with
        replace=True.
    resume : bool, default False
        Resume an unfinished run, or start a new one if there is none. Seed, memory and passes need not be given again.
    dry_run : bool, default False
        Check everything and return what would be done, without writing.
    threads : int, optional
        Number of threads. Default: get_threads().
    engine, depth, dtype, shape, offset, raw, links
        As in open().
    progress : callable, optional
        progress(step, done, total) is called in this thread at the beginning of each step, and then up to 30 times a second. step is
        'prepare', 'sort order', 'first pass', 'second pass', 'only pass' or 'publish'; done and total count rows. An exception stops
        the shuffle.

    Returns
    -------
    Shuffled

    Raises
    ------
    GatherIndexError (an IndexError)
        The first row number in order that is out of range: position, value, low, high, bad_count. Nothing was written.
    GatherFileError (an OSError)
        The table or the disk fails, another process writes the same output, or the output exists. Finished work is kept for resume=True.
    GatherValueError, GatherTypeError
        An argument is invalid, or an unfinished run belongs to a different shuffle.
    KeyboardInterrupt, or what another signal handler or progress raises
        Within a tenth of a second, or when a disk sync in progress ends. Finished work is kept for resume=True.

    Notes
    -----
    Temporary files are in a folder `.gather-shuffle-NAME` beside the output NAME. docs/use/shuffle.md describes the costs of one pass and
    two passes, and defines the order of a seed.
    """
    if dtype is None and (shape is not None or offset != 0 or raw):
        raise TypeError("shape, offset and raw need dtype: they describe raw bytes")
    if seed is not None and order is not None:
        raise TypeError("seed and order cannot be combined")
    if not isinstance(engine, str):
        raise TypeError(f"engine must be a str, not {type(engine).__name__}")
    raw_type = None if dtype is None else _raw_type(dtype)[0]
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be callable, not {type(progress).__name__}")
    target = _output_of(output, dry_run)
    if isinstance(order, np.memmap) and order.filename and target and os.path.exists(target) and os.path.samefile(order.filename, target):
        refuse("file_exists", f"{os.fsdecode(target)}: is the file of the order, which is kept; write to another file", "output")
    parts = _paths_of(source)
    _refuse_urls(parts, target)
    facts = _core._shuffle(
        tuple(os.fsencode(part) for part in parts),
        target,
        name,
        order,
        -1 if seed is None else _from(0, seed, "seed"),
        memory_of(memory),
        0 if passes is None else _from(1, passes, "passes", 2),
        engine,
        0 if depth is None else _from(1, depth, "depth", 4096),
        bool(replace),
        bool(resume),
        0 if threads is None else min(_from(1, threads, "threads"), _MOST_THREADS),
        bool(dry_run),
        raw_type,
        _raw_shape(shape),
        _index(offset, "offset"),
        bool(raw),
        bool(links),
        progress,
        0 if align is None else bytes_of(align, "align"),
        bool(in_place),
        tensor_name(tensor),
    )
    return Shuffled(None if target is None else os.fsdecode(target), *facts)
