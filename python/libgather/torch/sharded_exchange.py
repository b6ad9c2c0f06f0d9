# SPDX-License-Identifier: MIT
#
# sharded_exchange.py: one take of a ShardedTable: ids to the processes that have the rows, and the rows back.
#
# 1. Ids are checked, made keys (the place of a row when all parts are put one after another), deduplicated and sorted: so they are in
#    the order of their owners. Keys of this process go last; they are gathered without the group.
# 2. One all-to-all of numbers: how many ids for each, and whether something is wrong. An error ends the call in all processes.
# 3. Ids to their owners: offsets within the owner's part, of 4 bytes where they fit; and whether there is memory for the rows.
# 4. Each owner gathers its rows in the order of arrival. Where parts are files, which may fail, the processes agree once more.
# 5. Rows back, and to their places.
#
# Numbers are NumPy's here, which share their memory with PyTorch's: of few ids a take is some dozens of calls, each of which costs a
# fraction of PyTorch's.
"""The exchange of ids and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from libgather.errors import GatherError, make, refuse
from libgather.torch.sharded_group import Group, raise_everywhere
from libgather.torch.sharded_parts import Layout
from libgather.torch.sharded_source import Row, Source

__all__ = ["Buffers", "Request", "Route", "move_ids", "move_rows", "settle"]

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64)
_HEADER = 4  # words for each process: ids, failed, gradients, reserved
_FEW = 8192  # ids below which NumPy is faster: each call of PyTorch costs some microseconds


class Buffers:
    """Named buffers that are kept between calls, and grow: fresh pages cost as much as the exchange."""

    def __init__(self) -> None:
        self._kept: dict[str, Tensor] = {}

    def rows(self, name: str, rows: int, width: int) -> Tensor:
        """An uninitialised tensor of bytes, of rank 2."""
        needed = rows * width
        kept = self._kept.get(name)
        if kept is None or kept.numel() < needed:
            self._kept.pop(name, None)  # before there are two
            kept = self._kept[name] = torch.empty(max(needed, 4096) * 5 // 4, dtype=torch.uint8)
        return kept[:needed].view(rows, width)

    @property
    def bytes(self) -> int:
        return sum(kept.numel() for kept in self._kept.values())


@dataclass
class Request:
    """A caller's request, or its error."""

    keys: Tensor
    shape: torch.Size
    out: Tensor | None
    failure: Exception | None = None

    @classmethod
    def of(cls, ids: Any, out: Tensor | None, negative: bool, layout: Layout) -> Request:
        try:
            ids = _as_tensor(ids)
            _check_out(out, torch.Size((*ids.shape, *layout.row.shape)), layout)
            return cls(layout.key(_in_range(ids, layout.rows, negative)), ids.shape, out)
        except Exception as error:  # noqa: BLE001  (all processes must hear of it)
            return cls(torch.empty(0, dtype=torch.int64), torch.Size((0,)), None, error)

    def result(self, row: Row) -> Tensor:
        """The tensor for the rows."""
        return torch.empty((*self.shape, *row.shape), dtype=row.dtype) if self.out is None else self.out


def _as_tensor(ids: Any) -> Tensor:
    if not isinstance(ids, Tensor):
        ids = torch.as_tensor(ids)
        if ids.numel() == 0 and ids.dtype is torch.float32:  # [] has no type of its own
            ids = ids.to(torch.int64)
    if ids.dtype not in _INTEGERS:
        refuse("type_unsupported", f"ids must be integers, not {str(ids.dtype).removeprefix('torch.')}", "indices")
    if ids.device.type != "cpu" or ids.layout is not torch.strided:
        refuse("unsupported", f"ids must be a plain CPU tensor, not one on {ids.device} ({ids.layout})", "indices")
    return ids


def _check_out(out: Tensor | None, shape: torch.Size, layout: Layout) -> None:
    if out is None:
        return
    if not isinstance(out, Tensor):
        raise TypeError(f"out must be a tensor, not {type(out).__name__}")
    if out.dtype is not layout.row.dtype:
        refuse("type_mismatch", f"out is {out.dtype}, but the rows are {layout.row.dtype}", "output")
    if out.shape != shape:
        refuse("shape_mismatch", f"out has the shape {list(out.shape)}, but the rows have {list(shape)}", "output")
    if out.device.type != "cpu":
        refuse("unsupported", f"out must be a CPU tensor, not one on {out.device}", "output")
    if layout.gradients and torch.is_grad_enabled():
        refuse("unsupported", "rows with gradients cannot be written into out=: call it within torch.no_grad()", "output")


def _in_range(ids: Tensor, rows: int, negative: bool) -> Tensor:
    """Row numbers from 0, flat; the exact error for one that the table does not have."""
    flat = ids.reshape(-1).to(torch.int64)
    if flat.numel() == 0:
        return flat
    low, high = (int(bound) for bound in torch.aminmax(flat))
    wrap = negative and not _unsigned(ids)
    if high >= rows or low < (-rows if wrap else 0):
        _refuse(flat, ids, rows, wrap)
    return torch.where(flat < 0, flat + rows, flat) if low < 0 else flat


def _unsigned(ids: Tensor) -> bool:
    return ids.dtype is torch.uint64  # the only one whose numbers int64 does not have


def _refuse(flat: Tensor, ids: Tensor, rows: int, wrap: bool) -> None:
    least = -rows if wrap else 0
    bad = ((flat < least) | (flat >= rows)).nonzero().reshape(-1)
    first, count = int(bad[0]), bad.numel()
    position, rest = [], first
    for length in reversed(ids.shape):
        position.insert(0, rest % length)
        rest //= length
    value = int(flat[first]) % 2**64 if _unsigned(ids) else int(flat[first])
    where = f"indices[{', '.join(map(str, position))}]" if position else "indices"
    valid = f"[{least}, {rows - 1}]" if rows else "an empty range"
    message = f"{where} = {value} is outside {valid} of axis 0 (take); {count} of {flat.numel()} indices {'is' if count == 1 else 'are'} bad"
    raise make("index_out_of_range", 5, message, "take", None, "indices", (tuple(position), value, least, rows - 1, 0, count), None, -1)


@dataclass(frozen=True)
class Route:
    """The route of the rows of one call. `sent` ids go to each process, and `arrived` come from each; both are 0 for this process,
    whose ids are in `own`. `offsets`: the ids sent, in the order of processes. `inverse`: for each requested id, the place of its row
    among the received rows, which end with this process's own."""

    offsets: Tensor
    own: Tensor
    inverse: Tensor
    sent: list[int]
    arrived: list[int]
    wanted: Tensor | None = None

    @property
    def offset_bytes(self) -> int:
        return self.offsets.element_size()


def settle(group: Group, layout: Layout, request: Request, gradients: bool) -> Route:
    """Agrees on the number of ids for each process. Raises the first error of any process, in all of them."""
    starts = layout.starts.numpy()
    first, last = int(starts[group.rank]), int(starts[group.rank + 1])
    keys, inverse = _distinct(_own_last(request.keys.numpy(), first, last, layout.rows))
    others = layout.rows - (last - first)
    split = int(np.searchsorted(keys, others))
    remote = np.where(keys[:split] >= first, keys[:split] + (last - first), keys[:split])  # their keys again
    own = keys[split:] - others
    sent = np.diff(np.searchsorted(remote, starts))

    header = np.zeros((group.size, _HEADER), np.int64)
    header[:, 0], header[:, 1], header[:, 2] = sent, request.failure is not None, gradients
    answer = np.empty_like(header)
    group.all_to_all(torch.from_numpy(answer), torch.from_numpy(header))
    failure = request.failure
    if failure is None and (answer[:, 2] != gradients).any():
        failure = _mixed_gradients()
    if answer[:, 1].any() or (answer[:, 2] != answer[0, 2]).any():
        raise_everywhere(group, failure)

    offsets = remote - np.repeat(starts[:-1], sent)
    if max(layout.lengths) < 2**31:
        offsets = offsets.astype(np.int32)
    return Route(torch.from_numpy(offsets), torch.from_numpy(own), inverse, sent.tolist(), answer[:, 0].tolist())


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, Tensor]:
    """The distinct keys in order, and the place of each key among them."""
    if keys.size > _FEW:
        found, inverse = torch.unique(torch.from_numpy(keys), return_inverse=True)
        return found.numpy(), inverse
    few, places = np.unique(keys, return_inverse=True)
    return few, torch.from_numpy(places.reshape(-1))


def _mixed_gradients() -> Exception:
    try:
        refuse("usage", "some ranks take rows with gradients, others without: use torch.no_grad() in all ranks or in none", "data")
    except GatherError as error:
        return error


def _own_last(keys: np.ndarray, first: int, last: int, rows: int) -> np.ndarray:
    """Keys in another order: those from first to last after all others."""
    if last == rows or first == last:
        return keys
    return np.where(keys < first, keys, np.where(keys < last, keys + (rows - last), keys - (last - first)))


def move_ids(group: Group, buffers: Buffers, row: Row, route: Route) -> Tensor:
    """The ids that the other processes want of this one. A word before the ids for a process reports whether this one has the memory
    for the rows, which saves a separate message."""
    failure = None
    try:
        buffers.rows("sent", sum(route.arrived), row.bytes)
        buffers.rows("received", sum(route.sent) + route.own.numel(), row.bytes)
    except (RuntimeError, MemoryError) as error:
        failure = MemoryError(f"out of memory for the rows of {sum(route.arrived)} and {sum(route.sent) + route.own.numel()} ids: {error}")
    one = route.offset_bytes
    sent, words, places = _with_words(route.sent, group.rank)
    message = np.empty(sum(sent), route.offsets.numpy().dtype)
    message[words], message[places] = failure is not None, route.offsets.numpy()
    arrived, words, places = _with_words(route.arrived, group.rank)
    answer = np.empty(sum(arrived), message.dtype)
    group.all_to_all(_bytes(answer, one), _bytes(message, one), arrived, sent)
    if failure is not None or answer[words].any():
        raise_everywhere(group, failure)
    return torch.from_numpy(answer[places])


def _bytes(numbers: np.ndarray, one: int) -> Tensor:
    return torch.from_numpy(numbers.view(np.uint8).reshape(-1, one))


def _with_words(counts: list[int], rank: int) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Counts with one more word for each other process; the places of these words, and of the rest."""
    others = np.array(counts[:rank] + counts[rank + 1 :], np.int64)
    longer = [count + (p != rank) for p, count in enumerate(counts)]
    words = np.cumsum(others + 1) - others - 1
    return longer, words, np.arange(sum(counts)) + np.repeat(np.arange(1, len(others) + 1), others)


def move_rows(group: Group, buffers: Buffers, source: Source, layout: Layout, route: Route, wanted: Tensor) -> Tensor:
    """The rows of all distinct ids, as bytes: those of other processes, then this one's own."""
    width, remote, failure = layout.row.bytes, sum(route.sent), None
    sent = buffers.rows("sent", wanted.numel(), width)
    received = buffers.rows("received", remote + route.own.numel(), width)
    try:
        if wanted.numel() and width:
            source.gather(wanted, sent)
        if route.own.numel() and width:
            source.gather(route.own, received[remote:])
    except Exception as error:  # noqa: BLE001  (all processes must hear of it)
        if not layout.files:
            raise
        failure = error
    if layout.files and group.any(failure is not None):
        raise_everywhere(group, failure)
    if width:
        group.all_to_all(received[:remote], sent, route.sent, route.arrived)
    return received
