# SPDX-License-Identifier: MIT
#
# override_index.py: libgather's kernel in place of aten::index.Tensor, x[ids]. It is in Python: PyTorch's C interface for kernels takes the
# tensors out of the list of indices that its caller still has, and forward-mode gradients need it afterwards (seen in PyTorch 2.15).
"""x[ids] on libgather."""

from __future__ import annotations

import warnings
from typing import Any

import torch

_ROWS = (torch.int64, torch.int32)
_TYPES = frozenset(
    getattr(torch, name)
    for name in (
        *("bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"),
        *("complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    )
)


class IndexKernel:
    """aten::index.Tensor with one tensor of ids, for a tensor in row-major order. PyTorch's own kernel handles the rest: masks, several
    tensors, other layouts (whose results have another layout, too), and errors."""

    operator, kernel = "index", "index.Tensor"

    def __init__(self) -> None:
        self._library: torch.library.Library | None = None
        self._on = False
        self._taken = self._passed = 0
        self._own: Any = None

    def is_registered(self) -> bool:
        return self._library is not None

    def register(self) -> None:
        self._own = torch.library.get_kernel("aten::index.Tensor", "CPU")
        library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():  # of a kernel that is replaced, which is what was asked for
            warnings.simplefilter("ignore")
            library.impl("index.Tensor", self._call, "CPU", with_keyset=True)
        self._library = library

    def unregister(self) -> None:
        if self._library is not None:
            self._library._destroy()
            self._library = None

    def switch(self, on: bool) -> None:
        self._on = on

    def counts(self) -> tuple[int, int]:
        return self._taken, self._passed

    def _call(self, keys: Any, data: torch.Tensor, indices: list[torch.Tensor | None]) -> torch.Tensor:
        if not self._on:
            return self._own.call_boxed(keys, data, indices)
        what = ""
        given = [i for i, ids in enumerate(indices) if ids is not None]
        if len(given) == 1 and _fits(data, indices[given[0]]):
            try:
                rows = torch.ops.libgather.take.no_grad(data, indices[given[0]], given[0])
            except RuntimeError as error:
                what = str(error).split("\n")[0]
            else:
                self._taken += 1
                return rows
        self._passed += 1
        try:
            return self._own.call_boxed(keys, data, indices)
        except IndexError as error:
            if what:
                raise IndexError(f"{error} ({what})") from None
            raise


def _fits(data: torch.Tensor, ids: torch.Tensor) -> bool:
    return (
        ids.dtype in _ROWS
        and data.dtype in _TYPES
        and data.numel() > 0
        and ids.numel() > 0
        and data.is_contiguous()
        and ids.is_contiguous()
    )
