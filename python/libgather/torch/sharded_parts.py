# SPDX-License-Identifier: MIT
#
# sharded_parts.py: what the processes agree on when a ShardedTable is made: the row, how many rows each has, and who owns which.
"""Where each row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from libgather.errors import refuse
from libgather.torch.sharded_source import Row, Source

__all__ = ["Layout", "Part", "agree", "describe"]


@dataclass(frozen=True)
class Part:
    """The facts that a process sends to the others."""

    rows: int
    row: Row | None
    gradients: bool
    files: bool
    identity: tuple | None
    placement: str | tuple[int, ...]
    same_files: bool | None


@dataclass(frozen=True)
class Layout:
    """The whole table. A key is a row's place in the concatenation of the parts. `starts` has the first key of each part, and the
    number of rows."""

    row: Row
    lengths: tuple[int, ...]
    starts: Tensor
    placement: str
    shared: bool
    gradients: bool
    files: bool  # of any process: reading them may fail

    @property
    def rows(self) -> int:
        return self.lengths[0] if self.shared else int(self.starts[-1])

    def key(self, ids: Tensor) -> Tensor:
        """The keys of row numbers in range."""
        if self.placement == "blocks" or self.shared:
            return ids
        parts = len(self.lengths)
        return self.starts[ids % parts] + torch.div(ids, parts, rounding_mode="floor")

    def owner(self, keys: Tensor) -> Tensor:
        return torch.searchsorted(self.starts[1:], keys, right=True)


def describe(source: Source, placement: Any, same_files: bool | None) -> Part:
    """The facts of this process. agree() finds arguments of a wrong kind, in every process."""
    given = placement if isinstance(placement, str) else _numbers(placement)
    return Part(source.rows, source.row, source.gradients, source.files, source.identity, given, same_files)


def _numbers(placement: Any) -> Any:
    try:
        return tuple(int(point) for point in placement)
    except (TypeError, ValueError):
        return f"{placement!r}"


def agree(parts: list[Part], rank: int) -> Layout:
    """The layout. Every process has the same parts, so the result or the error is the same in all."""
    row = _row(parts)
    for name in ("placement", "same_files"):
        for i, part in enumerate(parts):
            if getattr(part, name) != getattr(parts[0], name):
                refuse("usage", f"{name} is {getattr(part, name)!r} in rank {i} and {getattr(parts[0], name)!r} in rank 0", "data")
    lengths = tuple(part.rows for part in parts)
    starts = torch.tensor([0, *accumulate(lengths)], dtype=torch.int64)
    placement = _placement(parts[0].placement, lengths, starts)
    shared = _shared(parts)
    if shared and placement == "split points":
        refuse("usage", "split points are for parts, but all ranks have the same files", "data")
    gradients = any(part.gradients for part in parts)
    for i, part in enumerate(parts):
        if gradients and part.row is not None and not part.gradients:
            refuse("usage", f"the rows of rank {i} require no gradient, but those of other ranks do", "data")
    return Layout(row, lengths, starts, "stripes" if placement == "stripes" else "blocks", shared, gradients, any(part.files for part in parts))


def _row(parts: list[Part]) -> Row:
    rows = [(i, part.row) for i, part in enumerate(parts) if part.row is not None]
    if not rows:
        refuse("usage", "no rank has rows: at least one must give a tensor or a table", "data")
    first, row = rows[0]
    for i, other in rows:
        if other != row:
            status = "shape_mismatch" if other.dtype == row.dtype and other.codec == row.codec else "type_mismatch"
            refuse(status, f"a row of rank {i} is {other}, but one of rank {first} is {row}", "data")
    return row


def _placement(placement: Any, lengths: Sequence[int], starts: Tensor) -> str:
    if placement == "blocks":
        return "blocks"
    size, rows = len(lengths), int(starts[-1])
    if placement == "stripes":
        for i, length in enumerate(lengths):
            wanted = rows // size + (i < rows % size)
            if length != wanted:
                text = f"rank {i} has {length} rows; in stripes of {rows} rows over {size} ranks it must have {wanted}"
                refuse("shape_mismatch", text, "data")
        return "stripes"
    if not isinstance(placement, tuple):
        refuse("usage", f"placement must be 'blocks', 'stripes' or {size + 1} split points, not {placement!r}", "data")
    if len(placement) != size + 1:
        refuse("usage", f"{len(placement)} split points for {size} ranks: give {size + 1}, from 0 to the number of rows", "data")
    if list(placement) != starts.tolist():
        i = next(i for i, (point, start) in enumerate(zip(placement, starts.tolist())) if point != start)
        refuse("shape_mismatch", f"split point {i} is {placement[i]}, but the ranks before it have {int(starts[i])} rows", "data")
    return "split points"


def _shared(parts: list[Part]) -> bool:
    """Whether all have the same files."""
    wanted, first = parts[0].same_files, parts[0].identity
    same = first is not None and all(part.identity == first for part in parts)
    if wanted and not same:
        i = next((i for i, part in enumerate(parts) if part.identity is None or part.identity != first), 0)
        refuse("usage", f"same_files=True, but the files of rank {i} differ from those of rank 0", "data")
    return same and wanted is not False and (len(parts) > 1 or bool(wanted))
