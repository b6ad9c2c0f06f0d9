# SPDX-License-Identifier: MIT
#
# _results.py: what type checkers show of results: they are of data's kind, or out itself.
"""The types of results."""
from __future__ import annotations

from typing import Any, Protocol, TypedDict, TypeVar

import numpy as np


class Dlpack(Protocol):
    """A tensor of another library, such as torch.Tensor."""

    def __dlpack_device__(self) -> Any: ...


Array = TypeVar("Array", bound="np.ndarray[Any, Any] | Dlpack")
Out = TypeVar("Out")


class SumOptions(TypedDict, total=False):
    """Keywords of the functions that add."""

    mode: str
    negative: bool | None
    threads: int | None
    accumulate: str | None


class AddOptions(SumOptions, total=False):
    """Keywords of scatter_add() and index_add(), but for out."""

    axis: int
    rules: str | None
    unique: bool


class ScatterOptions(AddOptions, total=False):
    """Those of scatter()."""

    reduction: str


class ElementsOptions(ScatterOptions, total=False):
    """Those of scatter_elements()."""

    use_init_val: bool


class NdOptions(SumOptions, total=False):
    """Those of scatter_nd()."""

    reduction: str
    rules: str | None
    unique: bool


class PutOptions(SumOptions, total=False):
    """Those of put_along_axis()."""

    axis: int | None
    reduction: str
    unique: bool


class BagOptions(SumOptions, total=False):
    """Those of embedding_bag()."""

    segment_ids: Any
    num_segments: int | None
    per_sample_weights: Any
    reduction: str
    default_index: int
    include_last_offset: bool
    rules: str | None
