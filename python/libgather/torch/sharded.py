# SPDX-License-Identifier: MIT
#
# sharded.py: a table whose rows are spread over the processes of a torch.distributed group. sharded_parts.py agrees on whose rows are
# where, sharded_source.py is one process's part, sharded_exchange.py moves ids and rows, sharded_gradients.py is the way back.
"""A table over the processes of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from libgather.errors import refuse
from libgather.table import Path, Table
from libgather.torch.sharded_exchange import Buffers, Request, Route, move_ids, move_rows, settle
from libgather.torch.sharded_gradients import recorded
from libgather.torch.sharded_group import Group, first_failure
from libgather.torch.sharded_parts import Layout, agree, describe
from libgather.torch.sharded_source import Nothing, Source, source_of

__all__ = ["ShardedTable", "ShardedTableStatistics"]


@dataclass(frozen=True)
class ShardedTableStatistics:
    """Statistics of a ShardedTable in this process.

    Attributes
    ----------
    takes, ids : int
        Successful calls of take(), and their ids.
    unique, remote : int
        Distinct ids, counted per call, and those of other processes among them.
    sent_bytes, received_bytes : int
        Ids and rows sent to other processes, and received, without the headers of each call (a few words per process).
    buffer_bytes : int
        Size of the buffers that are kept for the next call.
    """

    takes: int = 0
    ids: int = 0
    unique: int = 0
    remote: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    buffer_bytes: int = 0


class ShardedTable:
    """A table whose rows are spread over the processes of a torch.distributed group.

    Each process gives its own rows, and takes rows of all processes.

    Parameters
    ----------
    process_group : torch.distributed.ProcessGroup, optional
        Default: all processes. The group's backend must support CPU tensors: gloo or mpi.
    mine : Tensor, Table, path, list of paths, optional
        This process's rows: a tensor of rank 1 or more, which is not copied, or what libgather.open() takes, with its keywords.
        None: no rows. Types and shapes of rows must be equal in all processes; tensors and tables may be mixed.
    placement : {'blocks', 'stripes'} or sequence of int
        'blocks': the rows of process 0, then those of process 1, and so on; parts may have any lengths. 'stripes': process i mod P
        has row i, which spreads neighbouring hot rows. A sequence: the P + 1 split points of blocks, which are checked.
    same_files : bool, optional
        Whether all processes gave the same files, and so have all rows. Default: detected (see below).

    If all processes gave the same files, the table has the rows of these files, and each process reads the rows that it takes:
    `shared` is True, and take() is a call of this process only. Files are the same if their inode numbers, sizes and modification
    times in nanoseconds are equal, or their URLs. same_files=False treats them as parts anyway. same_files=True raises an error if
    they differ.

    All processes of the group must make the table, in the same order. Unless it is shared, the same holds for every take() and
    backward(). A process that wants no rows takes []. One thread at a time may use the table. An error of one process, such as an
    index out of range, is raised in all, with `rank`, before any row moves. The table is unchanged afterwards. If a process is
    lost, the group raises an error after its timeout.

    Rows of a tensor are read when they are taken: changing it in place changes the table.
    """

    def __init__(
        self,
        process_group: dist.ProcessGroup | None = None,
        mine: Tensor | Table | Path | Sequence[Path] | None = None,
        *,
        placement: str | Sequence[int] = "blocks",
        same_files: bool | None = None,
        **options: Any,
    ) -> None:
        self._group = Group(process_group)
        source, failure = Nothing(), None
        try:
            source = source_of(mine, options)
        except Exception as error:  # noqa: BLE001  (the others must hear of it)
            failure = error
        parts = first_failure(self._group, failure, describe(source, placement, same_files))
        self._layout: Layout = agree(parts, self._group.rank)
        self._source: Source = source.like(self._layout.row) if isinstance(source, Nothing) else source
        self._buffers = Buffers()
        self._done = ShardedTableStatistics()

    # ---- what it is ----

    @property
    def shape(self) -> torch.Size:
        """The shape of the whole table."""
        return torch.Size((self._layout.rows, *self._layout.row.shape))

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the rows that take() returns."""
        return self._layout.row.dtype

    @property
    def shared(self) -> bool:
        """Whether each process has all rows, so that take() moves none between processes."""
        return self._layout.shared

    @property
    def lengths(self) -> tuple[int, ...]:
        """The number of rows of each process."""
        return self._layout.lengths

    @property
    def process_group(self) -> dist.ProcessGroup:
        """The group."""
        return self._group.handle

    def owner(self, ids: Tensor) -> Tensor:
        """The process that has each row. ids: integers from 0 to len(self) - 1. For a shared table: this process."""
        if self.shared:
            return torch.full_like(ids, self._group.rank, dtype=torch.int64)
        return self._layout.owner(self._layout.key(ids.to(torch.int64)))

    def __len__(self) -> int:
        return self._layout.rows

    def __repr__(self) -> str:
        what = f"{str(self.dtype).removeprefix('torch.')} {tuple(self.shape)}"
        if self.shared:
            where = f"the same rows in each of {self._group.size} processes: each reads its own, nothing is exchanged"
        else:
            where = f"{self._layout.placement} over {self._group.size} processes, {self.lengths[self._group.rank]} rows in this one"
        return f"<libgather.torch.ShardedTable {what}, {where}>"

    # ---- rows ----

    def take(self, ids: Any, *, out: Tensor | None = None, negative: bool = True) -> Tensor:
        """Rows by number: a tensor of the shape ids.shape + self.shape[1:]. A call of all processes of the group.

        Parameters
        ----------
        ids : Tensor, or what torch.as_tensor() takes
            Integers of any type and shape. Each process gives its own ids, any number of them, 0 included.
        out : Tensor, optional
            For the rows: of their shape and dtype, with any strides. After an error it is unchanged.
        negative : bool
            Whether ids from -len(self) to -1 count from the end.

        Rows have gradients if the rows of all processes are tensors that require them. backward() is then a call of all
        processes, too, and adds to the gradient of each process's own rows.

        Raises
        ------
        GatherIndexError
            An id out of range, in all processes: `rank`, `position`, `value`, `low`, `high`, `bad_count` (in that process).
        GatherTypeError, GatherValueError, GatherFileError, ...
            Another error of a process, raised in all of them; `rank` is the process.
        """
        if self.shared:
            return self._take_shared(ids, out, negative)
        request = Request.of(ids, out, negative, self._layout)
        return recorded(self, request) if self._wants_gradient() else self.exchange(request, False)[0]

    __getitem__ = take

    def _wants_gradient(self) -> bool:
        return self._layout.gradients and torch.is_grad_enabled()

    def exchange(self, request: Request, gradients: bool) -> tuple[Tensor, Route]:
        """The rows, and their route, for backward(). For this package. gradients: whether backward() may follow."""
        route = settle(self._group, self._layout, request, gradients)
        wanted = move_ids(self._group, self._buffers, self._layout.row, route)
        rows = move_rows(self._group, self._buffers, self._source, self._layout, route, wanted)
        out = self._layout.row.place(rows, route.inverse.reshape(request.shape), request.result(self._layout.row))
        self._count(request, route)
        return out, replace(route, wanted=wanted)

    def _take_shared(self, ids: Any, out: Tensor | None, negative: bool) -> Tensor:
        request = Request.of(ids, out, negative, self._layout)
        if request.failure is not None:
            raise request.failure
        rows = self._source.take(request.keys.reshape(request.shape), request.result(self._layout.row))
        self._done = replace(self._done, takes=self._done.takes + 1, ids=self._done.ids + request.keys.numel())
        return rows

    def _count(self, request: Request, route: Route) -> None:
        width, one, done = self._layout.row.bytes, route.offset_bytes, self._done
        asked, asked_of_me = sum(route.sent), sum(route.arrived)
        self._done = ShardedTableStatistics(
            takes=done.takes + 1,
            ids=done.ids + request.keys.numel(),
            unique=done.unique + asked + route.own.numel(),
            remote=done.remote + asked,
            sent_bytes=done.sent_bytes + asked * one + asked_of_me * width,
            received_bytes=done.received_bytes + asked_of_me * one + asked * width,
        )

    def stats(self) -> ShardedTableStatistics:
        """Statistics of this process since the table was made."""
        return replace(self._done, buffer_bytes=self._buffers.bytes)

    def release(self) -> None:
        """Frees the buffers. The next take() allocates new ones."""
        self._buffers = Buffers()

    def __reduce__(self) -> Any:
        refuse("unsupported", "a ShardedTable belongs to the processes of its group: make another one there", "data")
