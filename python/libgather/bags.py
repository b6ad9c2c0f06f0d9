# SPDX-License-Identifier: MIT
#
# bags.py: embedding_bag: its arguments, as the extension takes them; and bags of the rows of a table in a file, which the table takes in
# blocks.
"""Sums, means and maxima of bags of rows."""
from __future__ import annotations

from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather._fallback import write_out
from libgather._results import Array, BagOptions, Out
from libgather.errors import refuse
from libgather.scatters import as_data, as_updates

BLOCK_BYTES = 32 << 20  # of rows of a table in a file that are held at once; one bag may have more


def _segments(segment_ids: Any) -> int:
    """One more than the last of them, which is the largest."""
    ids = np.asarray(segment_ids)
    return int(ids.reshape(-1)[-1]) + 1 if ids.size else 0


@overload
def embedding_bag(table: Any, indices: Any, offsets: Any = None, *, out: Out, **options: Unpack[BagOptions]) -> Out: ...
@overload
def embedding_bag(table: _core.Table, indices: Any, offsets: Any = None, *, out: None = None, **options: Unpack[BagOptions]) -> npt.NDArray[Any]: ...
@overload
def embedding_bag(table: Array, indices: Any, offsets: Any = None, *, out: None = None, **options: Unpack[BagOptions]) -> Array: ...
@overload
def embedding_bag(table: Any, indices: Any, offsets: Any = None, *, out: None = None, **options: Unpack[BagOptions]) -> npt.NDArray[Any]: ...
def embedding_bag(
    table: Any,
    indices: Any,
    offsets: Any = None,
    *,
    segment_ids: Any = None,
    num_segments: int | None = None,
    per_sample_weights: Any = None,
    reduction: str = "sum",
    default_index: int = -1,
    include_last_offset: bool = False,
    rules: str | None = None,
    mode: str = "raise",
    negative: bool | None = None,
    out: Any = None,
    threads: int | None = None,
    accumulate: str | None = None,
) -> Any:
    """The sum, mean or maximum of the rows of each bag, added in their order.

    >>> import numpy as np, libgather
    >>> table = np.arange(8.0).reshape(4, 2)
    >>> libgather.embedding_bag(table, [0, 3, 3, 1], [0, 1, 1])        # the bags [0], [] and [3, 3, 1]
    array([[ 0.,  1.],
           [ 0.,  0.],
           [14., 17.]])

    Parameters
    ----------
    table : array, or Table
        [rows, ...]: floats, or integers of whole bytes. A table of libgather.open() is read in blocks, each row once per block.
    indices : array of integers
        [n]; or [bags, n] without offsets and segment_ids: each row is a bag.
    offsets : array of integers, optional
        [bags]: where each bag begins in indices, ascending, in [0, n]. The last bag ends with indices.
    segment_ids : array of integers, optional
        [n]: the bag of each index, ascending.
    num_segments : int, optional
        With segment_ids: the number of bags. Default: one more than the largest segment id.
    per_sample_weights : array, optional
        The factor of each row: of the table's dtype and the shape of indices. Only with 'sum'.
    reduction : {'sum', 'mean', 'max'}
    default_index : int, default -1
        The row of the table that an empty bag gets; -1: zeros. Not for bags that are rows of indices.
    include_last_offset : bool, default False
        Whether offsets have one more number, the end of the last bag.
    rules : str, optional
        Follow one document to the letter: 'openvino-3' (EmbeddingBagOffsetsSum, EmbeddingBagPackedSum, EmbeddingSegmentsSum),
        'openvino-15' (EmbeddingBagOffsets, EmbeddingBagPacked).
    mode : {'raise', 'clip', 'wrap', 'skip'}
        Policy for an index out of range; 'skip' leaves the row out.
    negative : bool, optional
        Whether an index in [-rows, -1] counts from the end. Default: False.
    out : array, optional
        [bags, ...], of the table's dtype, not overlapping an input. After an error it is unchanged.
    threads, accumulate
        As for scatter(): the default is to add float16 and bfloat16 in float32, and to round once.

    Returns
    -------
    array
        [bags, ...], of the table's library and dtype.

    Raises
    ------
    GatherIndexError (an IndexError)
        The first index, offset or segment out of range: input ('indices', 'offsets', 'segment_ids'), position, value, low, high.
    GatherValueError, GatherTypeError
        Invalid shapes or types, or offsets together with segment_ids.
    """
    if offsets is not None and segment_ids is not None:
        refuse("usage", "offsets and segment_ids cannot be combined", "offsets")
    if num_segments is not None and segment_ids is None:
        refuse("usage", "num_segments needs segment_ids", "segment_ids")
    segments = _segments(segment_ids) if num_segments is None and segment_ids is not None else num_segments
    table = as_data(table)
    in_file = isinstance(table, _core.Table)
    weights = as_updates(np.zeros(0, table.dtype) if in_file else table, per_sample_weights)
    bags = [indices, offsets, segment_ids, segments, weights, default_index, include_last_offset, reduction, rules, mode, negative]
    return _of_table(table, bags, out, threads, accumulate) if in_file else _memory(table, bags, out, threads, accumulate)


def _memory(table: Any, bags: list, out: Any, threads: int | None, accumulate: str | None) -> Any:
    """bags: the arguments of _core._bag from indices to negative."""
    arguments: tuple[Any, ...] = (*bags, out, threads, accumulate)
    return _core._bag(table, *arguments)


def _bounds(indices: np.ndarray, offsets: Any, segment_ids: Any, segments: int | None, last_offset: bool) -> np.ndarray:
    """Where each bag begins in the indices, and where the last one ends."""
    if segment_ids is not None:
        return np.searchsorted(np.asarray(segment_ids), np.arange((segments or 0) + 1)).astype(np.int64)
    if offsets is None:
        return np.arange(indices.shape[0] + 1, dtype=np.int64) * indices.shape[1]
    begins = np.asarray(offsets).astype(np.int64)
    return begins if last_offset else np.append(begins, indices.size)


def _of_table(table: _core.Table, bags: list, out: Any, threads: int | None, accumulate: str | None) -> Any:
    """Bags of rows of a file. A stand-in with one element per row first checks everything but the rows."""
    indices, offsets, segment_ids, segments, weights, default_index, last_offset, reduction, _, mode, negative = bags
    stand_in = np.broadcast_to(np.zeros(1, table.dtype), (table.shape[0], 1))
    count = len(_memory(stand_in, bags, None, threads, accumulate))
    places: Any = "fill" if mode in ("skip", "zero") else mode
    fill = -1 if places == "fill" else None
    ids = np.asarray(_core.take(np.arange(table.shape[0]), indices, mode=places, fill_value=fill, negative=bool(negative)))
    bounds = _bounds(ids, offsets, segment_ids, segments, last_offset)
    default = -1 if offsets is None and segment_ids is None else default_index
    given = None if weights is None else np.asarray(weights).reshape(-1)
    result = np.empty((count, *table.shape[1:]), table.dtype)
    limit = max(BLOCK_BYTES // max(table.row_bytes, 1), 1)
    first = 0
    while first < count:
        last = max(int(np.searchsorted(bounds, bounds[first] + limit, side="right")) - 1, first + 1)
        last = min(last, count)
        _block(table, ids.reshape(-1), bounds[first : last + 1], given, default, reduction, result[first:last], threads, accumulate)
        first = last
    if out is None:
        return result
    write_out(out, result, result)
    return out


def _block(
    table: _core.Table, ids: np.ndarray, bounds: np.ndarray, weights: Any, default: int, reduction: str, out: np.ndarray, threads: Any, accumulate: Any
) -> None:
    """Some bags: the rows that they need are taken once."""
    part = slice(bounds[0], bounds[-1])
    mine = ids[part]
    extra = [default] if default >= 0 and np.any(bounds[1:] == bounds[:-1]) else []
    wanted, where = np.unique(np.concatenate([mine[mine >= 0], np.array(extra, mine.dtype)]), return_inverse=True)
    local = np.full(mine.shape, -1, np.int64)
    local[mine >= 0] = where[: len(where) - len(extra)]
    place = int(where[-1]) if extra else -1
    given = None if weights is None else weights[part]
    _core._bag(table.take(wanted), local, bounds - bounds[0], None, None, given, place, True, reduction, None, "skip", False, out, threads, accumulate)
