# SPDX-License-Identifier: MIT
#
# backward.py: gradients of the gathers, and sums of rows with equal ids: their arguments, as the extension takes them.
"""Gradients of gathers."""
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, Unpack, overload

import numpy as np

from libgather import _core
from libgather._results import Array, Out, SumOptions
from libgather.errors import refuse
from libgather.scatters import as_data


def _shape(data_shape: Any) -> tuple[int, ...]:
    try:
        return (operator.index(data_shape),)
    except TypeError:
        return tuple(data_shape)


def _row(op: str, shape: tuple[int, ...], indices: Any, axis: int, batch_dims: int) -> tuple[int, ...]:
    """The shape of what one index selects, as the sparse form numbers it."""
    if op == "take":
        return shape[axis % len(shape) + 1 :]
    if op in ("nd", "gather_nd"):
        return shape[batch_dims + (np.shape(indices) if isinstance(indices, (list, tuple)) else indices.shape)[-1] :]
    return ()


class Options(SumOptions, total=False):
    """Keywords of gather_backward()."""

    axis: int
    op: str
    batch_dims: int
    add: bool


@overload
def gather_backward(grad: Any, indices: Any, data_shape: int | Sequence[int], *, out: Out, sparse: Literal[False] = False, **options: Unpack[Options]) -> Out: ...
@overload
def gather_backward(
    grad: Array, indices: Any, data_shape: int | Sequence[int], *, out: None = None, sparse: Literal[False] = False, **options: Unpack[Options]
) -> Array: ...
@overload
def gather_backward(
    grad: Array, indices: Any, data_shape: int | Sequence[int], *, out: None = None, sparse: Literal[True], **options: Unpack[Options]
) -> tuple[Array, Array]: ...
@overload
def gather_backward(grad: Any, indices: Any, data_shape: int | Sequence[int], *, out: None = None, sparse: bool = False, **options: Unpack[Options]) -> Any: ...
def gather_backward(
    grad: Any,
    indices: Any,
    data_shape: int | Sequence[int],
    *,
    axis: int = 0,
    op: str = "take",
    batch_dims: int = 0,
    sparse: bool = False,
    out: Any = None,
    add: bool = False,
    mode: str = "raise",
    negative: bool | None = None,
    threads: int | None = None,
    accumulate: str | None = None,
) -> Any:
    """The gradient of a gather with respect to its data: each element of grad is added to the element that the gather read.

    >>> import numpy as np, libgather
    >>> libgather.gather_backward(np.ones((3, 2)), [2, 0, 2], (4, 2))
    array([[1., 1.],
           [0., 0.],
           [2., 2.],
           [0., 0.]])
    >>> libgather.gather_backward(np.ones((3, 2)), [2, 0, 2], (4, 2), sparse=True)
    (array([0, 2]), array([[1., 1.],
           [2., 2.]]))

    Parameters
    ----------
    grad : array
        The gradient of the gather's result: its shape, any strides; floats, complex numbers or integers.
    indices : array of integers, int, or nested list
        Those of the gather.
    data_shape : int or sequence of int
        The shape of the gather's data.
    axis, batch_dims, mode, negative
        As in the gather. Values that 'zero', 'fill' or 'skip' filled in have no gradient.
    op : {'take', 'elements', 'take_along_axis', 'nd'}
        Which gather; 'gather_elements' and 'gather_nd' are accepted too. In 'take_along_axis' only the indices broadcast.
    sparse : bool, default False
        Whether only the rows that were read are returned: (ids, rows), the ids ascending, without duplicates. One index selects
        one row. For data of shape [a, n, r] and axis 1, rows are numbered 0 to a * n - 1. For 'elements' each element is a row.
        For 'nd' rows are numbered over the dimensions that tuples select on and those before them.
    out : array, optional
        Where the gradient goes: of grad's dtype and the shape data_shape. After an error it is unchanged.
    add : bool, default False
        Whether the gradient is added to the values of out. Otherwise out is set to 0 first.
    threads, accumulate
        As for scatter(): the default is to add float16 and bfloat16 in float32, and to round once.

    Returns
    -------
    array, or with sparse=True a pair of arrays
        Of grad's library and dtype; ids are int64.

    Raises
    ------
    GatherIndexError (an IndexError)
        The first index out of range: position, value, low, high, axis, bad_count.
    GatherAxisError, GatherValueError, GatherTypeError
        Invalid axis, shapes or types.
    """
    grad, shape = as_data(grad), _shape(data_shape)
    if not sparse:
        if add and out is None:
            raise TypeError("add=True needs out=")
        return _core._backward(op, grad, indices, shape, axis, batch_dims, mode, negative, out, add, threads, accumulate)
    if out is not None or add:
        refuse("unsupported", "a sparse gradient has no out=", "output")
    ids, rows = _core._sparse_backward(op, grad, indices, shape, axis, batch_dims, mode, negative, threads, accumulate)
    return ids, rows.reshape(len(ids), *_row(op, shape, indices, axis, batch_dims))


def unique_rows_sum(ids: Any, rows: Any, *, threads: int | None = None, accumulate: str | None = None) -> tuple[Any, Any]:
    """Sums the rows of equal ids; returns the ids, ascending and without duplicates, and the sum of each.

    >>> import numpy as np, libgather
    >>> libgather.unique_rows_sum([7, -1, 7], np.array([[1, 2], [3, 4], [5, 6]]))
    (array([-1,  7]), array([[3, 4],
           [6, 8]]))

    Parameters
    ----------
    ids : array of integers, or nested list
        Any shape and values.
    rows : array
        Its shape begins with that of ids.
    threads, accumulate
        As for scatter().

    Returns
    -------
    pair of arrays
        ids (int64) and sums, of the library of rows.
    """
    rows = as_data(rows)
    rank = np.ndim(ids) if isinstance(ids, (list, tuple, int)) else ids.ndim
    found, sums = _core._unique_rows(ids, rows, threads, accumulate)
    return found, sums.reshape(len(found), *rows.shape[rank:])
