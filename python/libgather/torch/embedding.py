# SPDX-License-Identifier: MIT
#
# embedding.py: an embedding whose table is on the disk. embedding_jobs.py reads ahead for it, embedding_operator.py is for torch.compile.
"""A table in a file as an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.compiler import is_compiling

from libgather.errors import GatherError, refuse
from libgather.remote import shown
from libgather.table import Path, Table, TableStatistics
from libgather.torch.dataset import dtype_of, open_table, take, tensor_of
from libgather.torch.embedding_jobs import Ahead
from libgather.torch.embedding_operator import handle_of, rows_of

__all__ = ["DiskEmbedding", "DiskEmbeddingStatistics"]


@dataclass(frozen=True)
class DiskEmbeddingStatistics:
    """Statistics of a DiskEmbedding.

    Attributes
    ----------
    table : TableStatistics
        Rows and reads, since the table was opened or since its reset_stats().
    prefetched, missed, dropped : int
        Calls whose rows were prefetched; calls whose rows were not, although other rows were; prefetched batches that no call used.
    """

    table: TableStatistics
    prefetched: int
    missed: int
    dropped: int


def _numbers(table: Table, dtype: torch.dtype | None) -> tuple[Table, torch.dtype]:
    """The table whose rows are numbers, and their dtype: a table of quantised blocks is decoded."""
    own, whole = dtype_of(table)
    if not whole:
        return table, own
    wanted = str(dtype).removeprefix("torch.")
    try:
        decoded = table.dequantize(wanted if wanted in ("float16", "bfloat16") else "float32")
    except GatherError as error:
        refuse("type_unsupported", f"the table has the type {table.type}, whose rows are not numbers: {error}", "data")
    return decoded, dtype_of(decoded)[0]


def _padding(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        refuse("usage", f"padding_idx = {padding_idx} is outside [{-rows}, {rows - 1}]", "data")
    return padding_idx % rows


class DiskEmbedding(torch.nn.Module):
    """An nn.Embedding whose table stays in its file: rows are read on demand.

    It has no parameters and no gradients.

    Parameters
    ----------
    table : Table, path or list of paths
        What libgather.open() takes, with its keywords: a table of rank 2. One of quantised blocks is decoded. For other quantised
        tables give decode_as=, or table.dequantize().
    padding_idx : int, optional
        As in nn.Embedding, where it only affects gradients. The row is the file's.
    dtype : torch.dtype, optional
        Of the result; default: the table's.
    device : optional
        Of the result; default: that of the indices, if they are a tensor.

    Like nn.Embedding it refuses negative indices. to(), half() and the like change the dtype and the device of results. state_dict()
    does not contain it. load_state_dict() accepts the weights of the nn.Embedding that it replaces if their shape is right, and
    ignores them: its rows are the file's. Any number of threads may call it. After a fork the child may use it too, and unpickling
    opens the file again. Prefetched rows stay with the parent.
    """

    max_norm, norm_type, scale_grad_by_freq, sparse = None, 2.0, False, False  # nn.Embedding's defaults, for those who ask

    def __init__(
        self,
        table: Table | Path | Sequence[Path],
        *,
        padding_idx: int | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.table, own = _numbers(open_table(table, options), dtype)
        if self.table.ndim != 2:
            refuse("rank_mismatch", f"an embedding must be a table of rank 2, not {self.table.ndim}", "data")
        self.num_embeddings, self.embedding_dim = self.table.shape
        self.padding_idx = _padding(padding_idx, self.num_embeddings)
        self.dtype = dtype or own
        self._own_dtype = own
        self.device = None if device is None else torch.device(device)
        self._begin()

    def _begin(self) -> None:
        """The state that belongs to this process and this object only."""
        self._ahead = Ahead(self.table)
        self._handle = handle_of(self.table)

    def forward(self, ids: Any) -> torch.Tensor:
        """Rows of the table, of the shape ids.shape + (embedding_dim,).

        ids: a tensor on any device, or what table.take() takes: an int, a list, an array.
        """
        device = self.device
        if isinstance(ids, torch.Tensor):
            device = ids.device if device is None else device
            if is_compiling():
                return rows_of(ids, self._handle, self.embedding_dim, self._own_dtype).to(device=device, dtype=self.dtype)
            ids = ids.detach().cpu().numpy()
        rows = self._ahead.take(ids)
        rows = take(self.table, ids, negative=False) if rows is None else tensor_of(rows, self.table)
        return rows.to(device=device, dtype=self.dtype)

    def prefetch(self, ids: Any) -> None:
        """Starts reading the rows of a batch, and returns at once. The next call with equal ids takes them.

        A few batches may be in flight (libgather.torch.embedding_jobs.AT_ONCE); one more replaces the oldest. Each has separate memory
        for its rows. The call with these ids raises the error of an index out of range.
        """
        self._ahead.begin(ids.detach().cpu().numpy() if isinstance(ids, torch.Tensor) else ids)

    def statistics(self) -> DiskEmbeddingStatistics:
        """Statistics of this process."""
        return DiskEmbeddingStatistics(self.table.stats(), self._ahead.prefetched, self._ahead.missed, self._ahead.dropped)

    def _apply(self, fn: Any, recurse: bool = True) -> DiskEmbedding:
        """to(), half(), cuda() ...: results get the dtype and the device that the weights would get."""
        before = torch.empty(0, dtype=self.dtype, device=self.device or "cpu")
        after = fn(before)
        if after.device != before.device:
            self.device = after.device
        self.dtype = after.dtype
        return super()._apply(fn, recurse)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, metadata: Any, strict: bool, missing: Any, unexpected: Any,
                              errors: list[str]) -> None:
        """Accepts the weights of the nn.Embedding that it replaces, without loading them."""
        weight = state_dict.get(prefix + "weight")
        if weight is not None and tuple(weight.shape) != tuple(self.table.shape):
            errors.append(f"{prefix}weight has the shape {tuple(weight.shape)}, but the table in the file has {tuple(self.table.shape)}")
        rest = {key: value for key, value in state_dict.items() if key != prefix + "weight"}
        super()._load_from_state_dict(rest, prefix, metadata, strict, missing, unexpected, errors)

    def __getattr__(self, name: str) -> Any:
        if name == "weight":
            raise AttributeError("a DiskEmbedding has no weight: its rows stay in the file; read them from table", name=name, obj=self)
        return super().__getattr__(name)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_ahead", "_handle")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._begin()

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        path = self.table.path
        named = shown(path) if isinstance(path, str) else tuple(map(shown, path))
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}, dtype={self.dtype}, path={named!r}"
