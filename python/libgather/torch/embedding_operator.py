# SPDX-License-Identifier: MIT
#
# embedding_operator.py: a DiskEmbedding within torch.compile: one operator, whose fake kernel knows the shape.
"""The operator of a DiskEmbedding that is compiled."""

from __future__ import annotations

import itertools
import threading
import weakref

import torch

from libgather.table import Table
from libgather.torch.dataset import take

_numbers = itertools.count(1)
_lock = threading.Lock()
_tables: weakref.WeakValueDictionary[int, Table] = weakref.WeakValueDictionary()


def handle_of(table: Table) -> int:
    """The table's number in this process. A graph contains it instead of the table, so it runs only in this process."""
    with _lock:
        number = getattr(table, "_torch_handle", None)
        if number is None or _tables.get(number) is not table:
            number = next(_numbers)
            table._torch_handle = number
            _tables[number] = table
        return number


@torch.library.custom_op("libgather::table_rows", mutates_args=())
def rows_of(ids: torch.Tensor, table: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """Rows of the table of that number: ids.shape + (columns,), on the device of the ids."""
    opened = _tables.get(table)
    if opened is None:
        raise RuntimeError(f"the table number {table} is not open in this process: compile the DiskEmbedding here")
    return take(opened, ids.cpu(), negative=False).to(ids.device)


@rows_of.register_fake
def _shape(ids: torch.Tensor, table: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    return ids.new_empty((*ids.shape, columns), dtype=dtype)
