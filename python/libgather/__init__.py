# SPDX-License-Identifier: MIT
"""Rows and elements of tensors by index: ONNX and OpenVINO Gather to the letter, with an exact answer when an index is wrong.

    >>> import numpy as np, libgather
    >>> table = np.arange(12.0).reshape(4, 3)
    >>> libgather.take(table, [2, -1], axis=0)
    array([[ 6.,  7.,  8.],
           [ 9., 10., 11.]])
"""
from libgather._core import (
    Plan,
    TableJob,
    __version__,
    gather_elements,
    get_threads,
    infer_shape,
    info,
    ops,
    set_threads,
    take,
    take_along_axis,
    types,
)
from libgather.check_report import Check, NodeCheck
from libgather.errors import (
    GatherAxisError,
    GatherError,
    GatherFileError,
    GatherFileFormatError,
    GatherFileNotFoundError,
    GatherIndexError,
    GatherMemoryError,
    GatherNameError,
    GatherNotSupportedError,
    GatherTypeError,
    GatherValueError,
)
from libgather.explain_picture import Picture, explain
from libgather.model import Model, check, run
from libgather.table import Table, TablePart, TableStatistics, open

__all__ = [
    "Check",
    "GatherAxisError",
    "GatherError",
    "GatherFileError",
    "GatherFileFormatError",
    "GatherFileNotFoundError",
    "GatherIndexError",
    "GatherMemoryError",
    "GatherNameError",
    "GatherNotSupportedError",
    "GatherTypeError",
    "GatherValueError",
    "Model",
    "NodeCheck",
    "Picture",
    "Plan",
    "Table",
    "TableJob",
    "TablePart",
    "TableStatistics",
    "__version__",
    "check",
    "explain",
    "gather_elements",
    "get_threads",
    "infer_shape",
    "info",
    "open",
    "ops",
    "run",
    "set_threads",
    "take",
    "take_along_axis",
    "types",
]
