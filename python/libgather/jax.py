# SPDX-License-Identifier: MIT
#
# jax.py: take, take_along_axis, gather_elements and gather_nd for JAX: arguments, and everything that is known when a function is traced.
# Only this module and _jax_*.py need JAX.
"""libgather's gathers for JAX: an index out of range is an error under jit too."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("libgather.jax needs JAX: pip install 'libgather[jax]'") from error

from libgather import _core
from libgather._fill import fill_array
from libgather._integers import integers_of
from libgather._jax_request import ELEMENTS, GATHER, ND, POLICIES, WINDOWS, Request, Windows
from libgather._modes import command_mode, refuse_mode
from libgather._plugins import library
from libgather.errors import refuse

if not (hasattr(jax, "ffi") and hasattr(jax.ffi, "ffi_call")):
    raise ImportError(f"libgather.jax needs JAX 0.5 or newer, whose FFI it uses; this is JAX {jax.__version__}")

__all__ = ["RUN_ERRORS", "gather", "gather_elements", "gather_nd", "library_path", "take", "take_along_axis"]

# What JAX raises when a program fails as it runs: a ValueError instead of its JaxRuntimeError from functions that jit has run before.
RUN_ERRORS = (jax.errors.JaxRuntimeError, ValueError)
_JAX_MODES = {"promise_in_bounds": "promise"}  # jax.numpy's name


def library_path() -> str:
    """The path of the library with the FFI handlers.

    This module registers the handlers `libgather_jax_gather` and `libgather_jax_check` on first use.
    """
    return library("jax")


# ---- arguments -------------------------------------------------------------------------------------------------------


def _data(x: Any) -> Any:
    data = x if isinstance(x, jax.Array) else jnp.asarray(x)
    if not isinstance(data.dtype, np.dtype):
        refuse("type_unsupported", f"x has the dtype {data.dtype}, whose elements are not numbers", "data")
    return data


def _indices(indices: Any) -> Any:
    """The indices as an array of integers that JAX has: without x64 there is no int64."""
    array = indices if isinstance(indices, jax.Array) else _known(indices)
    if isinstance(array.dtype, np.dtype) and array.dtype.kind in "iu" and isinstance(array, jax.Array):
        return array
    if not jnp.issubdtype(array.dtype, jnp.integer):
        refuse("type_unsupported", f"indices must be integers, not {array.dtype}", "indices")
    array = jnp.asarray(array)
    if jnp.iinfo(array.dtype).bits < 8:
        return array.astype(jnp.int8 if jnp.issubdtype(array.dtype, jnp.signedinteger) else jnp.uint8)
    return array


def _known(indices: Any) -> np.ndarray:
    known = np.asarray(indices)
    if known.size == 0 and known.dtype == float and isinstance(indices, list | tuple):
        return known.astype(np.int32)
    if known.dtype.kind in "fcmMOSU":
        known = integers_of(indices)
    kept = jax.dtypes.canonicalize_dtype(known.dtype) if known.dtype.kind in "iu" else known.dtype
    if kept != known.dtype and known.size:
        _refuse_misfits(known, kept)
    return known


def _refuse_misfits(known: np.ndarray, kept: np.dtype) -> None:
    limits = np.iinfo(kept)
    misfits = (known < limits.min) | (known > limits.max)
    if misfits.any():
        where = tuple(int(i) for i in np.argwhere(misfits)[0])
        value = int(known[where])
        raise OverflowError(f"indices{list(where)} = {value} does not fit {kept}, JAX's type for {known.dtype}: enable jax_enable_x64")


def _default_fill(dtype: Any) -> Any:
    """jax.numpy's: NaN, the lowest integer, the largest one of unsigned types, True."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return float("nan")
    if dtype == bool:
        return True
    return int(jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.signedinteger) else jnp.iinfo(dtype).max)


def _policy(mode: Any, fill_value: Any, negative: Any, dtype: Any) -> dict[str, Any]:
    name = command_mode(_JAX_MODES.get(mode, mode)) if isinstance(mode, str) else None
    if name is None:
        refuse_mode(mode)
    if fill_value is not None and name != "fill":
        raise TypeError(f"fill_value needs mode='fill', not {mode!r}")
    fill = b""
    if name == "fill":
        dtype = np.dtype(dtype)
        fill = fill_array(dtype, _default_fill(dtype) if fill_value is None else fill_value).tobytes().ljust(16, b"\0")
    return {"on_bad": POLICIES[name], "negative": True if negative is None else bool(negative), "fill": fill}


def _axis(axis: Any, data: Any) -> int:
    if axis is None:
        if data.ndim != 1:
            raise TypeError(f"axis is required: x has {data.ndim} dimensions")
        return 0
    number = axis.__index__()
    if not -data.ndim <= number < data.ndim:
        refuse("axis_out_of_range", f"axis {number} is outside [{-data.ndim}, {data.ndim - 1}]", "axis")
    return number % data.ndim


@functools.partial(jax.jit, static_argnames=("request", "op"), inline=True)
def _run(data: Any, indices: Any, request: Request, op: str | None = None) -> Any:
    """The gather. jit keeps the traced program, so that a call outside of a program costs little. op: for the library's errors about
    shapes, which are raised before anything is compiled.
    """
    from libgather._jax_primitive import gather_p

    if op is not None:
        _check_shapes(op, data, indices, request)
    data, indices = _vary_alike(data, indices)
    return gather_p.bind(data, indices, request=request)


def _vary_alike(*arrays: Any) -> list[Any]:
    """In a shard_map: arrays that vary over the same axes of the mesh."""
    if not hasattr(jax, "typeof"):
        return list(arrays)
    varying = [_varying(jax.typeof(array)) for array in arrays]
    missing = [frozenset().union(*varying) - have for have in varying]
    return [_vary(array, tuple(sorted(names))) if names else array for array, names in zip(arrays, missing)]


def _varying(aval: Any) -> frozenset[str]:
    kind = getattr(aval, "manual_axis_type", None)  # before JAX 0.10: vma
    return frozenset(getattr(aval, "vma", ()) if kind is None else kind.varying)


def _vary(array: Any, names: tuple[str, ...]) -> Any:
    return jax.lax.pcast(array, names, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary(array, names)


def _check_shapes(op: str, data: Any, indices: Any, request: Request) -> None:
    """Symbolic lengths are not checked."""
    known = [tuple(d if isinstance(d, int) else None for d in array.shape) for array in (data, indices)]
    attributes = {"axis": None} if op == "gather_nd" else {"axis": request.axis}
    _core.infer_shape(*known, op=op, **attributes, **({} if op == "gather_elements" else {"batch_dims": request.batch_dims}))


# ---- functions -------------------------------------------------------------------------------------------------------


def take(
    x: Any,
    indices: Any,
    /,
    axis: int | None = None,
    *,
    batch_dims: int = 0,
    mode: str = "raise",
    fill_value: Any = None,
    negative: bool | None = None,
) -> Any:
    """Slices of x along an axis: libgather.take for JAX. It works under jit, grad, jvp, vmap and with sharded arrays.

    Parameters
    ----------
    x : array
        Any dtype of JAX. Other arrays are converted to JAX arrays.
    indices : array of integers
        Any shape.
    axis : int, optional
        Required if x has more than one dimension.
    batch_dims : int
        How many leading dimensions x and indices share.
    mode : {'raise', 'clip', 'wrap', 'zero', 'fill', 'promise'}
        Policy for an index out of range, as in libgather.take. 'raise': when the result is computed, one of RUN_ERRORS, with position,
        value and range. Static under jit.
    fill_value : scalar, optional
        Only with mode='fill'; a known number. Default: jax.numpy's (NaN; the lowest integer; the largest one of unsigned types; True).
    negative : bool, optional
        Whether negative indices count from the end. Default: True.

    Returns
    -------
    jax.Array
        Of x's dtype. Gradients of x are scattered and added. Filled rows have none.

    Raises
    ------
    jax.errors.JaxRuntimeError, ValueError
        An index out of range with mode='raise': OUT_OF_RANGE and the library's message. JAX decides which of the two; RUN_ERRORS has
        both. A result without elements is not computed.
    GatherAxisError, GatherValueError, GatherTypeError
        When the function is traced: invalid shapes, types or arguments.
    OverflowError
        Without x64: a known index that JAX's int32 cannot represent.
    GatherNotSupportedError
        mode='raise' on a platform other than the CPU. The other modes run there as jax.numpy.
    """
    data, ids = _data(x), _indices(indices)
    batch = batch_dims.__index__()
    batch = batch + ids.ndim if -ids.ndim <= batch < 0 else batch
    return _run(data, ids, Request(GATHER, _axis(axis, data), batch, **_policy(mode, fill_value, negative, data.dtype)), "take")


def take_along_axis(
    x: Any,
    indices: Any,
    /,
    axis: int | None = -1,
    *,
    mode: str = "raise",
    fill_value: Any = None,
    negative: bool | None = None,
) -> Any:
    """One element per index along an axis, as numpy.take_along_axis and jax.numpy.take_along_axis.

    The other dimensions broadcast. axis=None flattens x. Everything else is as for take().
    """
    data, ids = _data(x), _indices(indices)
    if axis is None:
        data, axis = data.reshape(-1), 0
    number = _axis(axis, data)
    if ids.ndim != data.ndim:
        refuse("rank_mismatch", f"indices have {ids.ndim} dimensions, x has {data.ndim}: they must be equal", "indices")
    for d, (have, wanted) in enumerate(zip(data.shape, ids.shape)):
        if d != number and have != wanted and have != 1 and wanted != 1:
            refuse("shape_mismatch", f"dimension {d} of x has length {have} and of indices {wanted}: they do not broadcast", "indices")
    return _run(data, ids, Request(ELEMENTS, number, broadcast=True, **_policy(mode, fill_value, negative, data.dtype)))


def gather_elements(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    mode: str = "raise",
    fill_value: Any = None,
    negative: bool | None = None,
) -> Any:
    """One element per index along an axis, as ONNX GatherElements and torch.gather.

    Off the axis indices may be shorter than x. Everything else is as for take().
    """
    data, ids = _data(x), _indices(indices)
    return _run(data, ids, Request(ELEMENTS, _axis(axis, data), **_policy(mode, fill_value, negative, data.dtype)), "gather_elements")


def gather_nd(
    x: Any,
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    mode: str = "raise",
    fill_value: Any = None,
    negative: bool | None = None,
) -> Any:
    """Rows of x by tuples, as ONNX GatherND.

    The last dimension of indices has the numbers of a tuple, one for each of the first axes of x after the batch dimensions.
    Everything else is as for take().
    """
    data, ids = _data(x), _indices(indices)
    return _run(data, ids, Request(ND, 0, batch_dims.__index__(), **_policy(mode, fill_value, negative, data.dtype)), "gather_nd")


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: Any,
    slice_sizes: Any,
    *,
    mode: str = "raise",
    fill_value: Any = None,
) -> Any:
    """Windows of operand, as jax.lax.gather, which documents the arguments.

    mode='raise': a window that is not within operand is an error; 'clip' moves it to the nearest place; 'zero' and 'fill' fill all of
    it; 'promise' is unchecked. Negative numbers do not count from the end. On several devices the arrays are collected. Everything
    else is as for take().
    """
    data, ids = _data(operand), _indices(start_indices)
    policy = _policy(mode, fill_value, False, data.dtype)
    if policy["on_bad"] == POLICIES["wrap"]:
        raise ValueError("gather has no mode='wrap': jax.lax.gather, whose gradient it uses, has none")
    of = dimension_numbers
    sizes = tuple(size.__index__() for size in slice_sizes)
    wanted = jax.eval_shape(lambda x, i: jax.lax.gather(x, i, of, sizes, mode="clip"), data, ids)  # JAX's own errors
    batching = tuple(getattr(of, "operand_batching_dims", ())), tuple(getattr(of, "start_indices_batching_dims", ()))
    windows = Windows(tuple(of.offset_dims), tuple(of.collapsed_slice_dims), *batching, tuple(of.start_index_map), sizes)
    assert windows.out_shape(ids.shape) == wanted.shape
    return _run(data, ids, Request(WINDOWS, windows=windows, **policy))
