# SPDX-License-Identifier: MIT
#
# embedding.py: an embedding whose table is on the disk.
"""A table in a file as an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from libgather.errors import refuse
from libgather.table import Path, Table
from libgather.torch.dataset import dtype_of, open_table, take

__all__ = ["DiskEmbedding"]


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
        self.table = open_table(table, options)
        own, whole = dtype_of(self.table)
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
