# SPDX-License-Identifier: MIT
"""Reads rows and elements of tensors by index: from memory, from files larger than memory, from URLs.

    >>> import numpy as np, libgather
    >>> np.save("table.npy", np.arange(12.0).reshape(4, 3))
    >>> table = libgather.open("table.npy")     # or "model.safetensors:emb", "https://host/table.npy"; reads only the header
    >>> table[[2, -1]]                          # reads only these rows
    array([[ 6.,  7.,  8.],
           [ 9., 10., 11.]])
    >>> libgather.take(np.arange(12.0).reshape(4, 3), [2, -1], axis=0)      # the same for an array in memory
    array([[ 6.,  7.,  8.],
           [ 9., 10., 11.]])

take(), gather_elements() and gather_nd() are the operators of ONNX and OpenVINO. An index out of range raises a GatherIndexError that names
it. scatter(), scatter_elements() and scatter_nd() write the places that these read. check(), run() and explain() are for models.
"""
from importlib import import_module as _import_module
from typing import Any as _Any

from libgather._core import (
    Plan,
    TableJob,
    __version__,
    codecs,
    gather_elements,
    gather_nd,
    get_threads,
    index,
    infer_shape,
    info,
    ops,
    set_threads,
    take,
    take_along_axis,
    types,
)
from libgather.backward import gather_backward, unique_rows_sum
from libgather.bags import embedding_bag
from libgather.beam_search import gather_tree
from libgather.check_report import Check, NodeCheck
from libgather.errors import (
    GatherAxisError,
    GatherCancelledError,
    GatherError,
    GatherFileError,
    GatherFileFormatError,
    GatherFileNotFoundError,
    GatherIndexError,
    GatherKeyError,
    GatherMemoryError,
    GatherNameError,
    GatherNotSupportedError,
    GatherTypeError,
    GatherValueError,
)
from libgather.explain_picture import Picture, explain
from libgather.ids import read_ids
from libgather.model import Model, check, run
from libgather.quantised import Quantized
from libgather.scatter_plan import ScatterPlan
from libgather.scatters import index_add, put_along_axis, scatter, scatter_add, scatter_elements, scatter_nd, scatter_reduce
from libgather.shuffle_file import Shuffled, shuffle
from libgather.stablehlo import stablehlo_gather, stablehlo_scatter
from libgather.table import Table, TableDevice, TablePart, TableStatistics, open


def __getattr__(name: str) -> _Any:
    """Imports libgather.torch and libgather.jax on first use, since they need PyTorch and JAX."""
    if name in ("torch", "jax"):
        return _import_module(f"libgather.{name}")
    raise AttributeError(f"module 'libgather' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    """The public names; not the modules that they come from."""
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "jax", "torch"])


__all__ = [
    "Check",
    "GatherAxisError",
    "GatherCancelledError",
    "GatherError",
    "GatherFileError",
    "GatherFileFormatError",
    "GatherFileNotFoundError",
    "GatherIndexError",
    "GatherKeyError",
    "GatherMemoryError",
    "GatherNameError",
    "GatherNotSupportedError",
    "GatherTypeError",
    "GatherValueError",
    "Model",
    "NodeCheck",
    "Picture",
    "Plan",
    "Quantized",
    "ScatterPlan",
    "Shuffled",
    "Table",
    "TableDevice",
    "TableJob",
    "TablePart",
    "TableStatistics",
    "__version__",
    "check",
    "codecs",
    "embedding_bag",
    "explain",
    "gather_backward",
    "gather_elements",
    "gather_nd",
    "gather_tree",
    "get_threads",
    "index",
    "index_add",
    "infer_shape",
    "info",
    "open",
    "ops",
    "put_along_axis",
    "read_ids",
    "run",
    "scatter",
    "scatter_add",
    "scatter_elements",
    "scatter_nd",
    "scatter_reduce",
    "set_threads",
    "shuffle",
    "stablehlo_gather",
    "stablehlo_scatter",
    "take",
    "take_along_axis",
    "types",
    "unique_rows_sum",
]
