# SPDX-License-Identifier: MIT
#
# numpy_call.py: one call of the library on NumPy arrays, whatever their strides.
"""gather_apply on NumPy arrays."""
import ctypes as c

import numpy as np

import libgather_ctypes as g

BY_NAME = {info.name.decode(): info for info in g.all_types()}


class GatherError(Exception):
    """A status that is not ok; `error` has the fields."""

    def __init__(self, error: g.Error):
        super().__init__(f"{g.STATUSES[error.status]}: {error.message.decode()}")
        self.error = error
        self.status = g.STATUSES[error.status]


def describe(array: np.ndarray) -> g.Tensor:
    """A tensor over the array's memory, with its strides."""
    name = str(array.dtype.newbyteorder("="))
    number = BY_NAME[name].type if name in BY_NAME else BY_NAME["opaque"].type
    swapped = g.BYTE_SWAPPED if not array.dtype.isnative else 0
    return g.tensor(number, array.shape, array.ctypes.data, array.strides, array.dtype.itemsize, 0, swapped)


def find(op: str, rules: str):
    row = g.lib.gather_op_find(op.encode(), rules.encode())
    assert row, f"no row {op} {rules}"
    return row


def output_shape(op, data: np.ndarray, indices: np.ndarray, options: g.Options) -> tuple:
    shape, rank, error = (c.c_int64 * g.MAX_RANK)(), c.c_int32(), g.Error()
    if g.lib.gather_output_shape(op, describe(data), describe(indices), options, shape, rank, error) != g.OK:
        raise GatherError(error)
    return tuple(shape[: rank.value])


def apply(op: str, rules: str, data: np.ndarray, indices: np.ndarray, **settings) -> np.ndarray:
    """The output, in a new array; raises GatherError."""
    row, options, error = find(op, rules), g.options(**settings), g.Error()
    out = np.zeros(output_shape(row, data, indices, options), dtype=data.dtype)
    if g.lib.gather_apply(row, describe(data), describe(indices), describe(out), options, error) != g.OK:
        raise GatherError(error)
    return out
