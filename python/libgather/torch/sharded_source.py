# SPDX-License-Identifier: MIT
#
# sharded_source.py: one process's part of a ShardedTable: rows in a tensor or in files, and how they travel.
"""The rows that a process gives."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from libgather import _core
from libgather.errors import refuse
from libgather.quantised import Quantized
from libgather.table import Path, Table
from libgather.torch.dataset import dtype_of, open_table, tensor_of

__all__ = ["Nothing", "Row", "Source", "source_of"]

_PLAIN = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}


@dataclass(frozen=True)
class Row:
    """The type of a row.

    stored, stored_shape: the elements that are sent. dtype, shape: those that take() returns. With `codec` rows are sent as stored,
    and the process that asked for them decodes them to another type.
    """

    dtype: torch.dtype
    shape: tuple[int, ...]
    codec: str | None = None
    stored_bytes: int = 0

    @property
    def bytes(self) -> int:
        """The size of a row as it is sent."""
        return self.stored_bytes if self.codec else math.prod(self.shape) * self.dtype.itemsize

    def typed(self, memory: Tensor) -> Tensor:
        """Rows in a tensor of bytes, of rank 2, as their elements."""
        return memory if self.codec else memory.view(-1).view(self.dtype).reshape(memory.shape[0], *self.shape)

    def place(self, rows: Tensor, inverse: Tensor, out: Tensor) -> Tensor:
        """The rows that were sent, one for each id that asked for them."""
        if inverse.numel() == 0 or self.bytes == 0:
            return out
        if self.codec:
            values = Quantized(self.codec, rows).take(inverse.numpy(), dtype=str(self.dtype).removeprefix("torch."))
            out.copy_(_tensor(values, self.dtype).reshape(out.shape))
        else:
            _core.take(_plain(self.typed(rows)), inverse, axis=0, out=_plain(out))
        return out

    def __str__(self) -> str:
        coded = f" of {self.codec}" if self.codec else ""
        return f"{str(self.dtype).removeprefix('torch.')} {list(self.shape)}{coded}"


def _plain(tensor: Tensor) -> Tensor:
    """The elements as integers of their size (complex numbers for 16 bytes): PyTorch does not export every type. Strides are kept."""
    return tensor.detach().view(_PLAIN[tensor.dtype.itemsize])


def _tensor(values: Any, dtype: torch.dtype) -> Tensor:
    array = np.ascontiguousarray(np.asarray(values))
    return torch.from_numpy(array.reshape(-1).view(np.uint8)).view(dtype)


class Source:
    """A part: `rows` of them, each a `row`."""

    rows: int = 0
    row: Row | None = None
    gradients = False
    files = False
    identity: tuple | None = None  # of files: equal where the files are the same

    def gather(self, ids: Tensor, memory: Tensor) -> None:
        """Rows for int64 or int32 ids of this part, as bytes into memory of rank 2. An id out of range is an error."""
        raise NotImplementedError

    def take(self, ids: Tensor, out: Tensor) -> Tensor:
        """Rows as take() gives them, into a tensor with any strides."""
        raise NotImplementedError


class Nothing(Source):
    """No rows."""

    def like(self, row: Row) -> Nothing:
        self.row = row
        return self

    def gather(self, ids: Tensor, memory: Tensor) -> None:
        if ids.numel():
            refuse("index_out_of_range", "this process has no rows", "indices")


class Memory(Source):
    """A tensor."""

    def __init__(self, data: Tensor) -> None:
        if data.device.type != "cpu" or data.layout is not torch.strided or data.is_quantized or data.is_conj() or data.is_neg():
            refuse("unsupported", f"the rows must be a plain CPU tensor, not {_kind(data)}", "data")
        if data.dim() == 0:
            refuse("rank_mismatch", "the rows must be a tensor of rank 1 or more", "data")
        self.data, self.rows, self.gradients = data, data.shape[0], data.requires_grad
        self.row = Row(data.dtype, tuple(data.shape[1:]))

    def gather(self, ids: Tensor, memory: Tensor) -> None:
        _core.take(_plain(self.data), ids, axis=0, negative=False, out=_plain(self.row.typed(memory)))

    def take(self, ids: Tensor, out: Tensor) -> Tensor:
        _core.take(_plain(self.data), ids, axis=0, out=_plain(out))
        return out


def _kind(data: Tensor) -> str:
    if data.device.type != "cpu":
        return f"one on {data.device}"
    if data.layout is not torch.strided:
        return f"a sparse one ({data.layout})"
    return "PyTorch's own quantised one" if data.is_quantized else "a conjugated or negated view: call resolve_conj().resolve_neg()"


class File(Source):
    """A table in files."""

    files = True

    def __init__(self, table: Table) -> None:
        self.table, self.rows = table, table.rows
        dtype, blocks = dtype_of(table)
        shape = (*table.shape[1:], table.dtype.itemsize) if blocks else tuple(table.shape[1:])
        self.row = Row(dtype, shape)
        self.identity = _identity(table)
        self._blocks = blocks

    def gather(self, ids: Tensor, memory: Tensor) -> None:
        if self._blocks or not self.table.dtype.isnative:
            rows = tensor_of(self.table.take(ids.numpy(), negative=False), self.table)
            self.row.typed(memory).copy_(rows)
        else:
            self.table.take(ids.numpy(), negative=False, out=self.row.typed(memory))

    def take(self, ids: Tensor, out: Tensor) -> Tensor:
        return out.copy_(tensor_of(self.table.take(ids.numpy()), self.table).reshape(out.shape))


class Blocks(File):
    """A table of quantised blocks that is opened decoded. Its rows are sent as blocks, which are smaller."""

    def __init__(self, decoded: Table, stored: Table) -> None:
        super().__init__(decoded)
        self._decoded, self.table, self._blocks = decoded, stored, True
        bytes_of_row = stored.row_bytes
        self.row = Row(self.row.dtype, self.row.shape, decoded.codec, bytes_of_row)

    def gather(self, ids: Tensor, memory: Tensor) -> None:
        rows = np.ascontiguousarray(self.table.take(ids.numpy(), negative=False))
        memory.copy_(torch.from_numpy(rows.reshape(-1).view(np.uint8)).reshape(memory.shape))

    def take(self, ids: Tensor, out: Tensor) -> Tensor:
        return out.copy_(tensor_of(self._decoded.take(ids.numpy()), self._decoded).reshape(out.shape))


def _stored(table: Table) -> Table | None:
    """The blocks of a decoded table, if a row of them holds everything and is smaller than its numbers."""
    kinds = {codec["name"]: codec["kind"] for codec in _core.codecs()}
    if table.codec is None or kinds.get(table.codec) != "blocks":
        return None
    stored = Table(**{**table._arguments, "decode_as": None, "codec": None})
    whole = stored.ndim == 2 and stored.rows == table.rows and table.ndim == 2
    return stored if whole and stored.row_bytes < table.row_bytes else None


def _identity(table: Table) -> tuple | None:
    """A value that is equal in two processes if they read the same files; None if that cannot be found out."""
    files = []
    for part in table.parts:
        if "://" in part.path:
            files.append(part.path)
            continue
        try:
            facts = os.stat(part.path)
        except OSError:
            return None
        files.append((facts.st_ino, facts.st_size, facts.st_mtime_ns))
    options = tuple(str(table._arguments[name]) for name in ("dtype", "offset", "decode_as", "codec"))
    return (tuple(files), table.name, table.type, tuple(table.shape), options)


def source_of(mine: Tensor | Table | Path | Sequence[Path] | None, options: dict[str, Any]) -> Source:
    """The part that a caller gave."""
    if mine is None or isinstance(mine, Tensor):
        if options:
            raise TypeError(f"{', '.join(options)} need a path")
        return Nothing() if mine is None else Memory(mine)
    table = open_table(mine, options)
    stored = _stored(table)
    return File(table) if stored is None else Blocks(table, stored)
