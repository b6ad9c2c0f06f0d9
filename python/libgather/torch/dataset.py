# SPDX-License-Identifier: MIT
#
# dataset.py: rows of tables in files as tensors, and a Dataset that takes a batch in one call.
"""Tables in files as a PyTorch Dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, default_collate

from libgather.errors import refuse
from libgather.table import Path, Table

__all__ = ["Rows", "TableDataset", "collate", "take"]


def open_table(table: Table | Path | Sequence[Path], options: dict[str, Any]) -> Table:
    """A table, or the one that libgather.open() makes of a path and its keywords."""
    if not isinstance(table, Table):
        return Table(table, **options)
    if options:
        raise TypeError(f"{', '.join(options)} need a path: this table is already open")
    return table


def dtype_of(table: Table) -> tuple[torch.dtype, bool]:
    """The dtype of tensors of its rows, and whether these are bytes of an element for which PyTorch has no dtype."""
    dtype = getattr(torch, table.type, None)
    if isinstance(dtype, torch.dtype):
        return dtype, False
    if table.dtype.kind == "V" and table.dtype.names is None and table.dtype.num < 256:  # quantised blocks
        return torch.uint8, True
    refuse("type_unsupported", f"PyTorch has no dtype for the table's {table.type}", "data")
    raise AssertionError("unreachable")


def tensor_of(rows: Any, table: Table) -> torch.Tensor:
    """The rows' memory as a tensor."""
    dtype, whole = dtype_of(table)
    array = np.asarray(rows)
    if not array.dtype.isnative:  # which PyTorch does not have
        array = array.astype(array.dtype.newbyteorder("="))
    shape = array.shape + ((array.dtype.itemsize,) if whole else ())
    memory = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return torch.from_numpy(memory).view(dtype).reshape(shape)


def take(table: Table, ids: Any, **options: Any) -> torch.Tensor:
    """Rows of a table as a tensor of its dtype: table.take(ids, **options).

    Also for dtypes that NumPy does not have (bfloat16, float8). Quantised blocks are uint8, with the bytes of a block as one
    more dimension.
    """
    rows = table.take(ids, **options)
    return rows if options.get("out") is not None else tensor_of(rows, table)


class Rows(list):
    """The rows of a batch, and in `batch` the tensor that they are views of."""

    batch: torch.Tensor

    def __init__(self, batch: torch.Tensor) -> None:
        super().__init__(batch.unbind(0))
        self.batch = batch


def collate(rows: Any) -> Any:
    """For DataLoader(collate_fn=...): the batch as one tensor, without copying its rows.

    Other batches are collated as by PyTorch's default.
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
        self.table = open_table(table, options)
        self.transform = transform
        dtype_of(self.table)

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
