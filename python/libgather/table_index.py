# SPDX-License-Identifier: MIT
#
# table_index.py: what table[key] means beyond one array of ids, which the extension reads itself. Only the rows that a key selects are
# read, and nothing before the whole key is known to fit.
"""NumPy's indexing of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from libgather import _core
from libgather._core import index
from libgather._fallback import join_ids
from libgather._integers import integers_of, refuse_masked
from libgather.errors import GatherNotSupportedError, make_key, refuse
from libgather.model_types import is_packed

_BLOCK_BYTES = 16 << 20  # of rows read at a time for a slice


def _numbers(rows: range) -> np.ndarray:
    return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)


def _is_int(key: Any) -> bool:
    return isinstance(key, int | np.integer) and not isinstance(key, bool)


def _is_basic(part: Any) -> bool:
    return part is Ellipsis or part is None or isinstance(part, slice) or _is_int(part)


def _ids_of(key: Any) -> np.ndarray:
    """The row index as an array: integers, or a mask."""
    _core._probe(key)
    refuse_masked(key)
    try:
        ids = np.asarray(key)
    except ValueError:
        ids = None  # ragged
    return ids if ids is not None and ids.dtype.kind in "iub" else integers_of(key)


def _check_columns(columns: tuple, rows: int, shape: tuple[int, ...]) -> None:
    """The errors of rows[columns] for `rows` rows of that shape, before anything is read."""
    index(np.broadcast_to(np.zeros((), np.uint8), (rows, *shape)), columns)


class TableIndexing:
    """The cases of table[key] that the extension does not handle: a part of libgather.Table."""

    shape: tuple[int, ...]
    dtype: np.dtype
    ndim: int
    rows: int
    row_bytes: int
    type: str
    take: Any
    gather_nd: Any
    _take_part: Any

    def __getitem__(self, key: Any, /) -> Any:
        raise NotImplementedError  # the extension has it

    def _block(self) -> int:
        """How many rows of a slice are read at a time."""
        return max(1, _BLOCK_BYTES // max(self.row_bytes, 8))

    def _range(self, wanted: range, columns: tuple = ()) -> np.ndarray:
        """Rows of a slice, one block at a time, so that the indices need little memory and only `columns` of the rows is kept.

        columns: integers, slices, None and `...`, for the dimensions after the first.
        """
        block = self._block()
        pieces = [wanted[first : first + block] for first in range(0, len(wanted), block)] or [wanted]
        cut = (slice(None), *columns)
        if len(pieces) == 1 or is_packed(self.type):
            rows = [self.take(_numbers(piece))[cut] for piece in pieces]
            return rows[0] if len(rows) == 1 else np.concatenate(rows)
        if columns:
            shape = np.broadcast_to(np.zeros((), np.uint8), (1, *self.shape[1:]))[cut].shape
            out = np.empty((len(wanted), *shape[1:]), self.dtype)
            for i, piece in enumerate(pieces):
                out[i * block : (i + 1) * block] = self.take(_numbers(piece))[cut]
            return out
        out = np.empty((len(wanted), *self.shape[1:]), self.dtype)
        for i, piece in enumerate(pieces):
            self.take(_numbers(piece), out=out[i * block : (i + 1) * block])
        return out

    def _select(self, key: Any) -> Any:
        """The cases of table[key] that the extension does not handle."""
        if key is Ellipsis:
            key = slice(None)
        if isinstance(key, slice):
            return self._range(range(self.rows)[key])
        if isinstance(key, tuple):
            return self._select_tuple(key)
        if key is None:
            return self[...][None]
        ids = _ids_of(key)
        if ids.dtype != bool:
            return self.take(ids)
        positions = self._mask(ids, 0)
        return self.take(positions[0]) if len(positions) == 1 else self._take_tuples(list(positions))

    def _mask(self, mask: np.ndarray, first: int) -> tuple[np.ndarray, ...]:
        """The positions of a mask's true elements: an array for each of its dimensions, which are the table's from `first` on."""
        if mask.ndim == 0:
            refuse("unsupported" if first else "shape_mismatch", "a table index takes no bool of rank 0", "indices")
        wanted = self.shape[first : first + mask.ndim]
        if mask.shape != wanted:
            have = "one bool per row, the shape" if first == 0 else f"from dimension {first} on the shape"
            refuse("shape_mismatch", f"a mask must have {have} {wanted}, not {mask.shape}", "indices")
        return (np.flatnonzero(mask),) if mask.ndim == 1 else np.nonzero(mask)

    def _ids_first(self, key: tuple) -> tuple[list[Any], int]:
        """The ids at the beginning of a key, one for each dimension, and the number of items that they take."""
        ids: list[Any] = []
        for number, part in enumerate(key):
            if part is Ellipsis or part is None or isinstance(part, slice):
                return ids, number
            array = part if _is_int(part) else _ids_of(part)
            ids += self._mask(array, len(ids)) if getattr(array, "dtype", None) == bool else [array]
        return ids, len(key)

    def _select_tuple(self, key: tuple) -> Any:
        if not key:
            return self[...]
        if len(key) == 1:
            return self[key[0]]
        ids, items = self._ids_first(key)
        if not ids or not all(_is_basic(part) for part in key[items:]):
            return self._select_mixed(key)
        if len(ids) > self.ndim:
            raise make_key("rank_mismatch", 2, f"too many indices: {len(ids)} for a table of rank {self.ndim}")
        dimensions = max((np.ndim(part) for part in ids), default=0)
        rest = key[items:]
        if rest:
            _check_columns((slice(None), *rest), 1, self.shape[len(ids) :])
        rows = self._take_columns(ids[0], rest) if len(ids) == 1 else self._take_tuples(ids)
        return rows[(slice(None),) * dimensions + rest] if rest else rows

    def _take_columns(self, ids: Any, rest: tuple) -> Any:
        """Whole rows, in which only the bytes are valid that a slice at the beginning of `rest` selects.

        Of a file in chunks, only the chunks with these bytes are read.
        """
        if not rest or not isinstance(rest[0], slice) or is_packed(self.type):
            return self[ids]
        columns = range(self.shape[1])[rest[0]]
        each = self.row_bytes // max(self.shape[1], 1)
        if len(columns) in (0, self.shape[1]) or each == 0:
            return self[ids]
        first = min(columns[0], columns[-1])
        return self._take_part(ids, first * each, (max(columns[0], columns[-1]) + 1 - first) * each)

    def _take_tuples(self, ids: list[Any]) -> Any:
        """The elements that tuples of ids select."""
        tuples = join_ids(tuple(ids))
        try:
            return self.gather_nd(tuples)
        except GatherNotSupportedError:  # elements smaller than a byte: whole rows
            rows = self.take(tuples[..., 0])
            return index(rows, (*np.indices(tuples.shape[:-1], sparse=True), *np.moveaxis(tuples[..., 1:], -1, 0)))

    # ---- any other key -----------------------------------------------------------------------------------------------

    def _select_mixed(self, key: tuple) -> Any:
        """Keys that begin with a slice, `...` or None, or have arrays after one.

        Takes the rows that the key selects, and then indexes them with the rest of the key.
        """
        before, item, after = self._split(key)
        if item is Ellipsis or isinstance(item, slice):
            wanted = range(self.rows) if item is Ellipsis else range(self.rows)[item]
            rest = (item, *after) if item is Ellipsis else (slice(None), *after)
            _check_columns((*before, *rest), min(len(wanted), 1), self.shape[1:])
            if not before and item is not Ellipsis and all(_is_basic(part) for part in after):
                return self._range(wanted, tuple(after))
            return self._range(wanted)[(*before, *rest)]
        ids = np.asarray(item)
        if ids.dtype.kind not in "iu":
            refuse("type_unsupported", f"ids must be integers, not {ids.dtype}", "indices")
        local: Any = 0 if _is_int(item) else np.arange(ids.size).reshape(ids.shape)
        _check_columns((*before, local, *after), ids.size, self.shape[1:])
        return self.take(ids.reshape(-1))[(*before, local, *after)]

    def _split(self, key: tuple) -> tuple[list[Any], Any, list[Any]]:
        """A key in three parts: items before the one that selects rows, which are for no dimension; that item; the items after it."""
        parts = [part if _is_basic(part) else _ids_of(part) for part in key]
        used = sum(part.ndim if getattr(part, "dtype", None) == bool else part is not None and part is not Ellipsis for part in parts)
        skipped = (None, Ellipsis) if used >= self.ndim else (None,)  # `...` may be for no dimension, but it still divides the arrays
        number = next((i for i, part in enumerate(parts) if not any(part is other for other in skipped)), None)
        if number is None:
            return [part for part in parts if part is None], Ellipsis, []
        item, after = parts[number], parts[number + 1 :]
        if getattr(item, "dtype", None) == bool:
            item, *others = self._mask(item, 0)
            after = [*others, *after]
        return parts[:number], item, after
