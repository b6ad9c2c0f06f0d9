# SPDX-License-Identifier: MIT
#
# stablehlo.py: stablehlo_gather and stablehlo_scatter: their arguments, as the extension takes them.
"""StableHLO's gather and scatter."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from libgather import _core
from libgather.scatters import as_data, as_updates


def stablehlo_gather(
    operand: Any,
    start_indices: Any,
    /,
    *,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    start_index_map: Sequence[int],
    index_vector_dim: int,
    slice_sizes: Sequence[int],
    operand_batching_dims: Sequence[int] = (),
    start_indices_batching_dims: Sequence[int] = (),
    indices_are_sorted: bool = False,
    out: Any = None,
    mode: str | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> Any:
    """A window of operand per tuple of start_indices: StableHLO's gather, which is XLA's and JAX's.

    >>> import numpy as np, libgather
    >>> operand = np.arange(12).reshape(3, 4)
    >>> libgather.stablehlo_gather(operand, [[0, 1], [2, 9]], offset_dims=[1], collapsed_slice_dims=[0],
    ...                            start_index_map=[0, 1], index_vector_dim=1, slice_sizes=[1, 2])
    array([[ 1,  2],
           [10, 11]])

    Parameters
    ----------
    operand : array
        Any rank, any dtype, any strides: a NumPy array, a torch tensor, anything with __dlpack__, the buffer protocol or
        __array_interface__. CPU memory. It is read in place, never copied or written.
    start_indices : array of integers, int, or nested list
        Any integer dtype; never converted.
    offset_dims : sequence of int
        Dimensions of the result along the window, ascending; the others follow start_indices.
    collapsed_slice_dims : sequence of int
        Dimensions of operand that the result lacks, ascending; the window has one element there.
    start_index_map : sequence of int
        The dimension of operand that each number of a tuple selects on.
    index_vector_dim : int
        The dimension of start_indices with the numbers of the tuples. The rank of start_indices: each number is a tuple.
    slice_sizes : sequence of int
        The lengths of the window, one per dimension of operand.
    operand_batching_dims, start_indices_batching_dims : sequences of int
        Dimensions of operand, ascending, and those of start_indices that they are paired with.
    indices_are_sorted : bool
        A promise of StableHLO's; the result is the same without it.
    out : array, optional
        Where the result goes: writable, of operand's dtype and the result's shape, not overlapping an input.
    mode : {'clip', 'raise', 'wrap', 'zero', 'fill', 'promise'}, optional
        Policy for a number outside [0, n - w], with n the length of the dimension and w that of the window. 'clip' (the default, and
        StableHLO's rule): the nearest place; 'raise': an error; 'wrap': modulo n - w + 1; 'zero', 'fill': a window of zeros or of
        fill_value; 'promise': unchecked, you guarantee that there is none.
    fill_value : scalar, optional
        Only with mode='fill'.
    negative : bool, optional
        Whether a number in [-(n - w + 1), -1] counts from the last place. Default: False.
    threads : int, optional
        Maximum number of threads; small calls use one. Default: get_threads(). The result is the same for any number.

    Returns
    -------
    array
        Of operand's library and dtype, row-major.

    Raises
    ------
    GatherIndexError (an IndexError)
        Only with mode='raise': the first number out of range, in the order of tuples: position in start_indices, value, low, high,
        axis, bad_count.
    GatherAxisError, GatherValueError, GatherTypeError
        A constraint of StableHLO does not hold, or a type is invalid.
    """
    lists = (offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, slice_sizes)
    del indices_are_sorted
    return _core._stablehlo(operand, start_indices, *map(tuple, lists), index_vector_dim, out, mode, fill_value, negative, threads)


def stablehlo_scatter(
    inputs: Any,
    scatter_indices: Any,
    updates: Any,
    /,
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    index_vector_dim: int,
    input_batching_dims: Sequence[int] = (),
    scatter_indices_batching_dims: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    reduction: str = "none",
    whole_windows: bool = False,
    out: Any = None,
    mode: str | None = None,
    negative: bool | None = None,
    threads: int | None = None,
    accumulate: str | None = None,
) -> Any:
    """A window of updates per tuple of scatter_indices, written into inputs: StableHLO's scatter, for update functions that are one operation.

    >>> import numpy as np, libgather
    >>> libgather.stablehlo_scatter(np.zeros((3, 4), int), [[0, 1], [2, 3]], [[1, 2], [3, 4]], update_window_dims=[1],
    ...                             inserted_window_dims=[0], scatter_dims_to_operand_dims=[0, 1], index_vector_dim=1)
    array([[0, 1, 2, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 3]])

    Parameters
    ----------
    inputs : array
        Any rank, any dtype, any strides. Not written unless it is out.
    scatter_indices : array of integers, int, or nested list
    updates : array, or nested list
        Of the dtype of inputs; along update_window_dims as long as the window.
    update_window_dims : sequence of int
        Dimensions of updates along the window, ascending; the others follow scatter_indices.
    inserted_window_dims : sequence of int
        Dimensions of inputs that updates lack, ascending; the window has one element there.
    scatter_dims_to_operand_dims : sequence of int
        The dimension of inputs that each number of a tuple selects on.
    index_vector_dim : int
        The dimension of scatter_indices with the numbers of the tuples. The rank of scatter_indices: each number is a tuple.
    input_batching_dims, scatter_indices_batching_dims : sequences of int
        Dimensions of inputs, ascending, and those of scatter_indices that they are paired with.
    indices_are_sorted, unique_indices : bool
        Promises of StableHLO's; the result is the same without them.
    reduction
        The update function, as for scatter(): 'none' returns the update.
    whole_windows : bool, default False
        Whether a window that does not fit is skipped as a whole, as in XLA. If not, each of its elements is checked, as in the document.
    mode : {'skip', 'raise', 'clip', 'wrap'}
        Policy for windows or elements that do not fit. Default: 'skip', StableHLO's rule.
    out, negative, threads, accumulate
        As for scatter(); negative is False by default.

    The result and the errors are those of scatter().
    """
    lists = (update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims, scatter_dims_to_operand_dims)
    del indices_are_sorted, unique_indices
    inputs = as_data(inputs)
    rest = (reduction, mode, negative, out, threads, accumulate, False, whole_windows)
    arguments: tuple[Any, ...] = (*map(tuple, lists), index_vector_dim, *rest)
    return _core._stablehlo_scatter(inputs, scatter_indices, as_updates(inputs, updates), *arguments)
