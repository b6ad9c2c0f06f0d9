# SPDX-License-Identifier: MIT
"""Tables for torch_sharded.py, which every process knows, and how their rows are compared."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import torch


class Me:
    """This process."""

    rank, size, folder = 0, 1, Path()


me = Me()


def part_of(full: torch.Tensor, placement: str, lengths: list[int]) -> torch.Tensor:
    if placement == "stripes":
        return full[me.rank :: me.size]
    first = sum(lengths[: me.rank])
    return full[first : first + lengths[me.rank]]


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def same(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    return found.dtype == wanted.dtype and found.shape == wanted.shape and torch.equal(bits(found), bits(wanted))


def table_of(rows: int, row: tuple, dtype: torch.dtype, seed: int) -> torch.Tensor:
    """The same random bytes in every process."""
    count = int(np.prod((rows, *row), dtype=np.int64)) * dtype.itemsize
    if count == 0:
        return torch.empty((rows, *row), dtype=dtype)
    memory = torch.from_numpy(np.random.default_rng(seed).integers(0, 2 if dtype is torch.bool else 256, count, dtype=np.uint8))
    return memory.view(dtype).reshape((rows, *row))


def rows_of(full: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """full[ids], for types that PyTorch cannot index."""
    ids = ids.to(torch.int64)
    flat = full.contiguous().reshape(full.shape[0], -1).view(torch.uint8) if full[:1].numel() else full.reshape(full.shape[0], 0)
    found = flat[ids.reshape(-1)]
    return (found.view(full.dtype) if full[:1].numel() else found).reshape((*ids.shape, *full.shape[1:]))


def fails(kind: type, text: str, call, *arguments, **options) -> Exception:
    """The call raises that in this process."""
    try:
        call(*arguments, **options)
    except kind as error:
        assert text in str(error), f"{error} instead of {text}"
        return error
    raise AssertionError(f"no {kind.__name__}")


def gguf(blocks: np.ndarray) -> bytes:
    """A file of one tensor of Q8_0, by hand."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", 1) + b"t" + struct.pack("<IQQIQ", 2, 32 * blocks.shape[1], blocks.shape[0], 8, 0)
    return head + bytes(-len(head) % 32) + blocks.tobytes()
