# SPDX-License-Identifier: MIT
#
# scatters.py: the functions that write by index: their arguments, as the extension takes them.
"""Scatters: rows, elements and tuples written by index."""
from __future__ import annotations

from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather._fallback import scatter_objects, write_out
from libgather._results import AddOptions, Array, ElementsOptions, NdOptions, Out, PutOptions, ScatterOptions
from libgather.errors import refuse

_PLAIN = (bool, int, float, complex, str, bytes, list, tuple)


def _fits(made: np.ndarray, exact: np.ndarray) -> bool:
    """Whether a conversion kept all values; floats may be rounded."""
    if made.dtype.kind in "fcV" and exact.dtype.kind in "biuf":  # V: of ml_dtypes
        wide = made.astype(np.complex128 if made.dtype.kind == "c" else np.float64)
        return not np.any(np.isinf(wide) & np.isfinite(exact.astype(np.float64)))
    with np.errstate(all="ignore"):
        same = made.astype(exact.dtype) == exact
    return bool(np.all(same))


def _as_dtype(dtype: np.dtype, values: Any) -> np.ndarray:
    """Numbers, texts or nested lists as elements of a type, which must be able to represent them."""
    if dtype.kind == "O" or dtype.kind in "MmT":
        return np.asarray(values, dtype)
    exact = np.asarray(values)
    if exact.size == 0:
        return exact.astype(dtype)
    try:
        with np.errstate(all="ignore"):
            made = exact.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        refuse("type_mismatch", f"updates do not fit {dtype}: {error}", "updates")
    if (exact.dtype.kind == "c" and dtype.kind != "c") or not _fits(made, exact):
        refuse("type_mismatch", f"updates {values!r} do not fit {dtype}", "updates")
    return made


def as_updates(data: Any, updates: Any) -> Any:
    """Numbers and lists get the type of data; arrays stay as they are."""
    if not isinstance(updates, _PLAIN) or isinstance(data, _core.Table):
        return updates
    if isinstance(data, np.ndarray | np.generic):
        return _as_dtype(data.dtype, updates)
    if hasattr(data, "new_tensor"):
        made = data.new_tensor(updates)
        exact = np.asarray(updates)
        if not made.dtype.is_complex and not made.dtype.is_floating_point and not np.array_equal(made.numpy(), exact):
            refuse("type_mismatch", f"updates {updates!r} do not fit {made.dtype}", "updates")
        return made
    return _as_dtype(np.asarray(data[:0]).dtype, updates) if hasattr(data, "__array__") else updates


def as_data(data: Any) -> Any:
    """Lists as arrays."""
    return np.asarray(data) if isinstance(data, (list, tuple)) else data


def _scatter(name: str, data: Any, indices: Any, updates: Any, *options: Any) -> Any:
    """options: from axis to use_init_val, as _core._scatter has them."""
    data = as_data(data)
    updates = as_updates(data, updates)
    result = _core._scatter(name, data, indices, updates, *options)
    if result is not NotImplemented:
        return result
    names = ("axis", "reduction", "rules", "mode", "negative", "out", "threads", "accumulate", "unique", "use_init_val")
    return scatter_objects(name, data, indices, updates, dict(zip(names, options)))


@overload
def scatter(data: Any, indices: Any, updates: Any, *, out: Out, **options: Unpack[ScatterOptions]) -> Out: ...
@overload
def scatter(data: Array, indices: Any, updates: Any, *, out: None = None, **options: Unpack[ScatterOptions]) -> Array: ...
@overload
def scatter(data: Any, indices: Any, updates: Any, *, out: None = None, **options: Unpack[ScatterOptions]) -> npt.NDArray[Any]: ...
def scatter(
    data: Any,
    indices: Any,
    updates: Any,
    *,
    axis: int = 0,
    reduction: str = "none",
    rules: str | None = None,
    mode: str = "raise",
    negative: bool | None = None,
    out: Any = None,
    threads: int | None = None,
    accumulate: str | None = None,
    unique: bool = False,
) -> Any:
    """Writes rows of data along an axis: result[o, indices[i], ...] = updates[o, i, ...], where take() reads.

    >>> import numpy as np, libgather
    >>> libgather.scatter(np.zeros((3, 2)), [2, 0], [[1, 2], [3, 4]])
    array([[3., 4.],
           [0., 0.],
           [1., 2.]])
    >>> libgather.scatter([0, 0, 0], [1, 1, -1], [5, 6, 7], reduction="add")
    array([ 0, 11,  7])

    The result is that of a loop over the updates in row-major order, bit for bit, for any number of threads. If several updates
    write one element, the last one remains, and sums are added in this order.

    Parameters
    ----------
    data : array
        Any rank from 1, any strides: a NumPy array, a torch tensor, anything with __dlpack__, the buffer protocol or
        __array_interface__. CPU memory. Not written unless it is out.
    indices : array of integers, int, or nested list
        Any shape, any integer dtype; never converted.
    updates : array, number, or nested list
        Of data's dtype and the shape of take(data, indices, axis=axis). A number is repeated. Numbers and lists get data's dtype,
        which must be able to represent them.
    axis : int, default 0
        In [-data.ndim, data.ndim - 1].
    reduction : {'none', 'add', 'sub', 'mul', 'min', 'max', 'mean'}
        How an update changes the element: 'none' replaces it, 'add' adds to it and so on. 'sum', 'prod', 'amin' and 'amax' are
        accepted too. 'none' works for any dtype. 'min' and 'max' propagate NaN. Integers wrap around, and their means are rounded
        down. For bool, 'add' and 'max' are "or", 'mul' and 'min' are "and".
    rules : str, optional
        Follow one document to the letter: 'openvino-3'. Only its reductions are allowed then.
    mode : {'raise', 'clip', 'wrap', 'skip'}
        Policy for an index out of range. 'raise': an error; 'clip': the first or last row; 'wrap': modulo the length of the axis;
        'skip': nothing is written.
    negative : bool, optional
        Whether an index in [-n, -1] counts from the end of an axis of length n. Default: True, or what rules says.
    out : array, optional
        Where the result goes: writable, of data's dtype and shape. It may be data itself, which is then changed in place without
        a copy. It must not overlap indices or updates. After an error it is unchanged.
    threads : int, optional
        Maximum number of threads, at least 1; small calls use one. Default: get_threads(). The result is the same for any number.
    accumulate : {'steps', 'halves', 'wide'}, optional
        How sums, products and means are computed. 'steps': in data's dtype, rounded at each step; 'halves': float16 and bfloat16
        in float32, rounded once; 'wide': also float32 in float64. Default: 'halves', or what rules says.
    unique : bool, default False
        Whether two indices of the same place are an error.

    Returns
    -------
    array
        Of data's library, dtype and shape.

    Raises
    ------
    GatherIndexError (an IndexError)
        The first index out of range: position, value, low, high, axis, bad_count. With unique=True the first one that is
        repeated: position, first_position, value, axis.
    GatherAxisError, GatherValueError, GatherTypeError
        Invalid axis, shapes or types.
    GatherNotSupportedError (a NotImplementedError)
        Memory of another device; a tensor that requires a gradient (libgather.torch has gradients); a reduction that rules lacks.
    """
    return _scatter("scatter", data, indices, updates, axis, reduction, rules, mode, negative, out, threads, accumulate, unique, True)


@overload
def scatter_elements(data: Any, indices: Any, updates: Any, *, out: Out, **options: Unpack[ElementsOptions]) -> Out: ...
@overload
def scatter_elements(data: Array, indices: Any, updates: Any, *, out: None = None, **options: Unpack[ElementsOptions]) -> Array: ...
@overload
def scatter_elements(data: Any, indices: Any, updates: Any, *, out: None = None, **options: Unpack[ElementsOptions]) -> npt.NDArray[Any]: ...
def scatter_elements(
    data: Any,
    indices: Any,
    updates: Any,
    *,
    axis: int = 0,
    reduction: str = "none",
    rules: str | None = None,
    mode: str = "raise",
    negative: bool | None = None,
    out: Any = None,
    threads: int | None = None,
    accumulate: str | None = None,
    unique: bool = False,
    use_init_val: bool = True,
) -> Any:
    """Writes elements of data along an axis: result[indices[i, j], j] = updates[i, j] for axis 0 of 2, where gather_elements() reads.

    >>> import libgather
    >>> libgather.scatter_elements([[1, 2], [3, 4]], [[1, 0]], [[8, 9]])
    array([[1, 9],
           [8, 4]])

    Parameters
    ----------
    indices : array of integers
        Of data's rank; off the axis not longer than data (no broadcasting).
    updates : array, number, or nested list
        Of data's dtype and the shape of indices.
    rules : str, optional
        'onnx-9' (Scatter), 'onnx-11', 'onnx-13', 'onnx-16', 'onnx-18', 'openvino-3', 'openvino-12'.
    use_init_val : bool, default True
        With a reduction: whether written elements start at their value in data. If not, they start at its neutral element.

    The other parameters, the result and the errors are those of scatter(). As ONNX ScatterElements-18 and OpenVINO
    ScatterElementsUpdate-12, and as torch.scatter and torch.scatter_reduce, but also with negative indices.
    """
    return _scatter("scatter_elements", data, indices, updates, axis, reduction, rules, mode, negative, out, threads, accumulate, unique, use_init_val)


@overload
def scatter_nd(data: Any, indices: Any, updates: Any, *, out: Out, **options: Unpack[NdOptions]) -> Out: ...
@overload
def scatter_nd(data: Array, indices: Any, updates: Any, *, out: None = None, **options: Unpack[NdOptions]) -> Array: ...
@overload
def scatter_nd(data: Any, indices: Any, updates: Any, *, out: None = None, **options: Unpack[NdOptions]) -> npt.NDArray[Any]: ...
def scatter_nd(
    data: Any,
    indices: Any,
    updates: Any,
    *,
    reduction: str = "none",
    rules: str | None = None,
    mode: str = "raise",
    negative: bool | None = None,
    out: Any = None,
    threads: int | None = None,
    accumulate: str | None = None,
    unique: bool = False,
) -> Any:
    """Writes rows by tuples of numbers: result[indices[i, 0], indices[i, 1], ...] = updates[i, ...], where gather_nd() reads.

    >>> import libgather
    >>> libgather.scatter_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]], [8, 9])
    array([[1, 8],
           [9, 4]])

    Parameters
    ----------
    indices : array of integers, or nested list
        Any rank from 1. Its last dimension has the numbers of a tuple, at most data.ndim; number j selects on axis j.
    updates : array, number, or nested list
        Of data's dtype and the shape indices.shape[:-1] + data.shape[indices.shape[-1]:].
    rules : str, optional
        'onnx-11', 'onnx-13', 'onnx-16', 'onnx-18', 'openvino-3', 'openvino-15'.

    The other parameters, the result and the errors are those of scatter(). The last number of an error's position is the component of
    the tuple. As ONNX ScatterND-18 and OpenVINO ScatterNDUpdate-15.
    """
    return _scatter("scatter_nd", data, indices, updates, 0, reduction, rules, mode, negative, out, threads, accumulate, unique, True)


@overload
def scatter_add(data: Any, indices: Any, updates: Any, *, out: Out, **options: Unpack[AddOptions]) -> Out: ...
@overload
def scatter_add(data: Array, indices: Any, updates: Any, *, out: None = None, **options: Unpack[AddOptions]) -> Array: ...
@overload
def scatter_add(data: Any, indices: Any, updates: Any, *, out: None = None, **options: Unpack[AddOptions]) -> npt.NDArray[Any]: ...
def scatter_add(data: Any, indices: Any, updates: Any, *, out: Any = None, **options: Unpack[AddOptions]) -> Any:
    """Adds rows: scatter() with reduction='add'. options: its other keywords.

    >>> import libgather
    >>> libgather.scatter_add([10, 20, 30], [2, 0, 2], [1, 2, 3])
    array([12, 20, 34])

    torch.scatter_add adds elements: use scatter_elements() with reduction='add'.
    """
    return scatter(data, indices, updates, reduction="add", out=out, **options)


@overload
def scatter_reduce(data: Any, indices: Any, updates: Any, reduction: str, *, out: Out, **options: Unpack[AddOptions]) -> Out: ...
@overload
def scatter_reduce(data: Array, indices: Any, updates: Any, reduction: str, *, out: None = None, **options: Unpack[AddOptions]) -> Array: ...
@overload
def scatter_reduce(data: Any, indices: Any, updates: Any, reduction: str, *, out: None = None, **options: Unpack[AddOptions]) -> npt.NDArray[Any]: ...
def scatter_reduce(data: Any, indices: Any, updates: Any, reduction: str, *, out: Any = None, **options: Unpack[AddOptions]) -> Any:
    """scatter() with the reduction as an argument. options: its other keywords.

    torch.scatter_reduce reduces elements: use scatter_elements(), with use_init_val for include_self.
    """
    return scatter(data, indices, updates, reduction=reduction, out=out, **options)


@overload
def index_add(data: Any, indices: Any, updates: Any, *, out: Out, **options: Unpack[AddOptions]) -> Out: ...
@overload
def index_add(data: Array, indices: Any, updates: Any, *, out: None = None, **options: Unpack[AddOptions]) -> Array: ...
@overload
def index_add(data: Any, indices: Any, updates: Any, *, out: None = None, **options: Unpack[AddOptions]) -> npt.NDArray[Any]: ...
def index_add(data: Any, indices: Any, updates: Any, *, out: Any = None, **options: Unpack[AddOptions]) -> Any:
    """Adds row i of updates to row indices[i] of data: torch.index_add. options: the other keywords of scatter().

    indices have one dimension or none. Without one, updates lack the axis.
    """
    rank = getattr(indices, "ndim", None)
    if (np.ndim(indices) if rank is None else rank) > 1:
        refuse("rank_mismatch", "indices of index_add have at most one dimension; scatter_add() has no limit", "indices")
    return scatter(data, indices, updates, reduction="add", out=out, **options)


def _is_stretched(data: np.ndarray, indices: Any, axis: int) -> bool:
    """Whether data of length 1 broadcast to indices, off the axis: then several indices write the same element."""
    shape = indices.shape
    if len(shape) != data.ndim or not -data.ndim <= axis < data.ndim:
        return False
    return any(n == 1 < m for d, (n, m) in enumerate(zip(data.shape, shape)) if d != axis % data.ndim)


def _put_stretched(data: np.ndarray, indices: Any, updates: Any, axis: int, options: tuple, out: Any, rest: tuple) -> Any:
    """Scatters by element numbers, which take_along_axis() finds."""
    reduction, _, mode, negative = options
    gaps = mode in ("skip", "zero")
    numbers = np.arange(data.size).reshape(data.shape)
    places = _core.take_along_axis(numbers, indices, axis=axis, mode="fill" if gaps else mode, fill_value=-1 if gaps else None, negative=negative)
    new = np.broadcast_to(as_updates(data, updates), places.shape).reshape(-1)
    flat = np.array(data).reshape(-1)
    made = _scatter("scatter", flat, places.reshape(-1), new, 0, reduction, None, "skip", False, flat, *rest).reshape(data.shape)
    if out is None:
        return made
    if out is data:
        data[...] = made
    else:
        write_out(out, made, data)
    return out


@overload
def put_along_axis(data: Any, indices: Any, updates: Any, *, out: Out, **options: Unpack[PutOptions]) -> Out: ...
@overload
def put_along_axis(data: Array, indices: Any, updates: Any, *, out: None = None, **options: Unpack[PutOptions]) -> Array: ...
@overload
def put_along_axis(data: Any, indices: Any, updates: Any, *, out: None = None, **options: Unpack[PutOptions]) -> npt.NDArray[Any]: ...
def put_along_axis(
    data: Any,
    indices: Any,
    updates: Any,
    *,
    axis: int | None = -1,
    reduction: str = "none",
    mode: str = "raise",
    negative: bool | None = None,
    out: Any = None,
    threads: int | None = None,
    accumulate: str | None = None,
    unique: bool = False,
) -> Any:
    """Writes elements along an axis, where take_along_axis() reads: NumPy's put_along_axis, but data changes only with out=data.

    >>> import numpy as np, libgather
    >>> x = np.array([[3, 1, 2], [6, 5, 4]])
    >>> libgather.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 0)
    array([[0, 1, 2],
           [0, 5, 4]])

    Parameters
    ----------
    indices : array of integers
        Of data's rank. Off the axis it broadcasts with data.
    updates : array, number, or nested list
        Of data's dtype; it broadcasts to the shape of the broadcast indices.
    axis : int, or None
        None: data is treated as one row, and out= must be contiguous.

    The other parameters, the result and the errors are those of scatter().
    """
    options = (reduction, None, mode, negative)
    rest = (threads, accumulate, unique, True)
    if axis is not None and isinstance(data, np.ndarray) and hasattr(indices, "shape") and _is_stretched(data, indices, axis):
        return _put_stretched(data, indices, updates, axis, options, out, rest)
    if axis is not None:
        return _scatter("put_along_axis", data, indices, updates, axis, *options, out, *rest)
    data = as_data(data)
    if out is not None and (out.shape != data.shape or (isinstance(out, np.ndarray) and not out.flags.c_contiguous)):
        refuse("unsupported", "with axis=None out must be contiguous, and have the shape of the data", "output")
    into = None if out is None else out.reshape(-1)
    flat = into if out is data else data.reshape(-1)
    made = _scatter("put_along_axis", flat, indices, updates, 0, *options, into, *rest)
    return made.reshape(data.shape) if out is None else out
