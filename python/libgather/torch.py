# SPDX-License-Identifier: MIT
#
# torch.py: tables in files for PyTorch: a Dataset that takes a batch in one call, and an embedding whose table is
# on the disk.
# Only this module needs PyTorch.
"""Tables in files as a PyTorch Dataset and as an embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, default_collate

from libgather.errors import refuse
from libgather.table import Path, Table

__all__ = ["DiskEmbedding", "Rows", "TableDataset", "collate", "take"]


def _open(table: Table | Path | Sequence[Path], options: dict[str, Any]) -> Table:
    if not isinstance(table, Table):
        return Table(table, **options)
    if options:
        raise TypeError(f"{', '.join(options)} need a path: this table is already open")
    return table


def _type_of(table: Table) -> tuple[torch.dtype, bool]:
    """The dtype of tensors of its rows, and whether these are bytes of an element for which PyTorch has no dtype."""
    dtype = getattr(torch, table.type, None)
    if isinstance(dtype, torch.dtype):
        return dtype, False
    if table.dtype.kind == "V" and table.dtype.names is None and table.dtype.num < 256:  # quantised blocks
        return torch.uint8, True
    refuse("type_unsupported", f"PyTorch has no dtype for the table's {table.type}", "data")
    raise AssertionError("unreachable")


def _tensor(rows: Any, table: Table) -> torch.Tensor:
    """The rows' memory as a tensor."""
    dtype, whole = _type_of(table)
    array = np.asarray(rows)
    if not array.dtype.isnative:  # which PyTorch does not have
        array = array.astype(array.dtype.newbyteorder("="))
    shape = array.shape + ((array.dtype.itemsize,) if whole else ())
    memory = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return torch.from_numpy(memory).view(dtype).reshape(shape)


def take(table: Table, ids: Any, **options: Any) -> torch.Tensor:
    """Rows of a table as a tensor of its dtype: table.take(ids, **options), also for dtypes that NumPy does not have
    (bfloat16, float8). Quantised blocks are uint8, with the bytes of a block as one more dimension.
    """
    rows = table.take(ids, **options)
    return rows if options.get("out") is not None else _tensor(rows, table)


class Rows(list):
    """The rows of a batch, and in `batch` the tensor that they are views of."""

    batch: torch.Tensor

    def __init__(self, batch: torch.Tensor) -> None:
        super().__init__(batch.unbind(0))
        self.batch = batch


def collate(rows: Any) -> Any:
    """For DataLoader(collate_fn=...): the batch as one tensor, without copying its rows; other batches as PyTorch's default
    does.
    """
    return rows.batch if isinstance(rows, Rows) else default_collate(rows)


class TableDataset(Dataset):
    """The rows of a table in a file, as a map-style dataset.

    Parameters
    ----------
    table : Table, path or list of paths
        What libgather.open() takes, with its keywords.
    transform : callable, optional
        Converts each row, a tensor, to an item of the dataset.

    A DataLoader requests a whole batch at once, which is one take: with `collate_fn=libgather.torch.collate` the
    batch is one tensor, exactly as read. It works with forked and spawned workers.
    """

    def __init__(
        self,
        table: Table | Path | Sequence[Path],
        transform: Callable[[torch.Tensor], Any] | None = None,
        **options: Any,
    ) -> None:
        self.table = _open(table, options)
        self.transform = transform
        _type_of(self.table)

    def __len__(self) -> int:
        return self.table.rows

    def __getitem__(self, index: Any) -> Any:
        """A row; for several indices their batch."""
        rows = take(self.table, index)
        if self.transform is None:
            return rows
        return self.transform(rows) if np.ndim(index) == 0 else [self.transform(row) for row in rows]

    def __getitems__(self, indices: Sequence[int]) -> list:
        """A row for each index, read in one take."""
        rows = Rows(take(self.table, indices))
        return rows if self.transform is None else [self.transform(row) for row in rows]

    def __repr__(self) -> str:
        return f"TableDataset({self.table!r})"


class DiskEmbedding(torch.nn.Module):
    """An nn.Embedding whose table stays in its file: rows are read on demand. It has no parameters and no
    gradients.

    Parameters
    ----------
    table : Table, path or list of paths
        What libgather.open() takes, with its keywords: a table of rank 2.
    dtype : torch.dtype, optional
        Of the result; default: the table's.
    device : optional
        Of the result; default: that of the indices, if they are a tensor.

    Like nn.Embedding it refuses negative indices.
    """

    def __init__(
        self,
        table: Table | Path | Sequence[Path],
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.table = _open(table, options)
        own, whole = _type_of(self.table)
        if whole:
            refuse("type_unsupported", f"the table has the type {self.table.type}, whose rows are not numbers", "data")
        if self.table.ndim != 2:
            refuse("rank_mismatch", f"an embedding must be a table of rank 2, not {self.table.ndim}", "data")
        self.num_embeddings, self.embedding_dim = self.table.shape
        self.dtype = dtype or own
        self.device = device

    def forward(self, ids: Any) -> torch.Tensor:
        """Rows of the table: of the shape ids.shape + (embedding_dim,). ids: a tensor on any device, or what table.take() takes: an
        int, a list, an array.
        """
        device = self.device
        if isinstance(ids, torch.Tensor):
            device = ids.device if device is None else device
            ids = ids.detach().cpu()
        return take(self.table, ids, negative=False).to(device=device, dtype=self.dtype)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}, dtype={self.dtype}, path={self.table.path!r}"
