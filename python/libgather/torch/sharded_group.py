# SPDX-License-Identifier: MIT
#
# sharded_group.py: the process group: its collectives on tensors of bytes, and errors that reach every process.
"""A process group as ShardedTable uses it."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import Tensor

from libgather.errors import GatherError, make, refuse

__all__ = ["Group", "first_failure", "raise_everywhere"]


class Group:
    """The ranks, and the collectives that a table needs. gloo has only all_to_all_single, and not for every element type, so
    everything is bytes or int64 here."""

    def __init__(self, group: dist.ProcessGroup | None) -> None:
        if not dist.is_available() or not dist.is_initialized():
            refuse("usage", "there is no process group: call torch.distributed.init_process_group() first", "data")
        self.handle = dist.group.WORLD if group is None else group
        if self.handle is dist.GroupMember.NON_GROUP_MEMBER:
            refuse("usage", "this process is not in the process group", "data")
        self.rank, self.size = dist.get_rank(self.handle), dist.get_world_size(self.handle)
        try:
            self.handle._get_backend(torch.device("cpu"))
        except RuntimeError:
            refuse("unsupported", f"the process group's backend ({dist.get_backend(self.handle)}) does not support CPU tensors: "
                   "make one with torch.distributed.new_group(backend='gloo')", "data")  # fmt: skip

    def all_to_all(self, received: Tensor, sent: Tensor, received_rows: list[int] | None = None, sent_rows: list[int] | None = None) -> None:
        """Sends rows of tensors of rank 2 to the processes, and receives theirs; without counts the same number for each."""
        dist.all_to_all_single(received, sent, received_rows, sent_rows, group=self.handle)

    def any(self, flag: bool) -> bool:
        """Whether it is True in any process."""
        word = torch.tensor([int(flag)], dtype=torch.int32)
        dist.all_reduce(word, dist.ReduceOp.MAX, group=self.handle)
        return bool(word.item())

    def gather(self, thing: Any) -> list[Any]:
        """A small value of each process."""
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, thing, group=self.handle)
        return found


def _portable(error: BaseException) -> tuple[str, str, dict[str, Any]]:
    """An error as plain values: the objects of an exception may not exist elsewhere."""
    fields = {}
    if isinstance(error, GatherError):
        fields = {name: getattr(error, name) for name in ("status", "code", "op", "rules", "input", "file", "offset", "row")}
        if error.position is not None:
            fields["index"] = tuple(getattr(error, name) for name in ("position", "value", "low", "high", "axis", "bad_count"))
    return type(error).__name__, str(error), fields


def _rebuilt(rank: int, name: str, message: str, fields: dict[str, Any]) -> Exception:
    """That error, with the rank that had it."""
    text = f"rank {rank}: {message}"
    if fields:
        offset, row = (-1 if fields[name] is None else fields[name] for name in ("offset", "row"))
        error = make(fields["status"], fields["code"], text, fields["op"], fields["rules"], fields["input"], fields.get("index"),
                     fields["file"], offset, row)  # fmt: skip
        error.rank = rank
        return error
    kind = getattr(builtins, name, None)
    if kind in (TypeError, ValueError, MemoryError, IndexError, OSError, FileNotFoundError, NotImplementedError):
        return kind(text)
    return RuntimeError(f"rank {rank}: {name}: {message}")


def raise_everywhere(group: Group, failure: BaseException | None) -> NoReturn:
    """Raises, in every process, the error of the first process that has one. A call of all processes."""
    found = group.gather(None if failure is None else _portable(failure))
    ranks = [rank for rank, one in enumerate(found) if one is not None]
    error = _rebuilt(ranks[0], *found[ranks[0]]) if ranks else RuntimeError("no process has the error")
    raise error from (failure if ranks and ranks[0] == group.rank else None)


def first_failure(group: Group, failure: BaseException | None, thing: Any) -> list[Any]:
    """A small value of each process. If one of them failed, raises the error of the first one, in every process."""
    found = group.gather((None if failure is None else _portable(failure), thing))
    for rank, (error, _) in enumerate(found):
        if error is not None:
            raise _rebuilt(rank, *error) from (failure if rank == group.rank else None)
    return [thing for _, thing in found]
