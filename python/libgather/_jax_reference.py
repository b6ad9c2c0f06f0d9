# SPDX-License-Identifier: MIT
#
# _jax_reference.py: the same gathers in jax.numpy: their transposes (a scatter that adds), and the whole of them on platforms other than
# the CPU. The tests compare them with the handler.
"""libgather's rules in jax.numpy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from libgather._jax_request import CLAMP, ELEMENTS, ERROR, FILL, GATHER, PROMISE, WRAP, Request
from libgather.errors import refuse

def positions(indices: Any, length: int, request: Request) -> tuple[Any, Any]:
    """The row of each index, in [0, length), and whether the index is in range; wrapped and clipped ones are. A row whose index is out
    of range is `length`.
    """
    number = jnp.int64 if jax.config.jax_enable_x64 else jnp.int32
    if length == 0 and indices.size != 0 and request.on_bad in (ERROR, CLAMP, WRAP):
        refuse("index_out_of_range", "no index is in range: the axis has length 0", "indices")
    if jnp.issubdtype(indices.dtype, jnp.unsignedinteger) and jnp.iinfo(indices.dtype).bits >= jnp.iinfo(number).bits:
        top = indices.dtype.type(length)  # which every length fits
        low, rows = indices < 0, indices % top if request.on_bad == WRAP else jnp.minimum(indices, top)
        rows = rows.astype(number)
    else:
        rows = indices.astype(number)
        rows = jnp.where(rows < 0, rows + length, rows) if request.negative and request.on_bad != WRAP else rows
        rows = rows % max(length, 1) if request.on_bad == WRAP else rows
        low = rows < 0
    if request.on_bad in (CLAMP, PROMISE):
        rows, low = jnp.clip(rows, 0, max(length - 1, 0)), jnp.zeros_like(low)
    valid = ~low & (rows < length)
    return jnp.where(valid, rows, length), valid


def _count(shape: tuple[int, ...], d: int) -> Any:
    """0, 1, 2 ... along one dimension, to broadcast against `shape`."""
    return jnp.arange(shape[d]).reshape([-1 if e == d else 1 for e in range(len(shape))])


def _index(data: tuple[int, ...], indices: Any, request: Request) -> tuple[tuple[Any, ...], Any, tuple[int, ...]]:
    """A key for data, which of the indices are in range, and the order of data's dimensions that the key needs.

    The result of the key has the dimensions of the indices before those of data.
    """
    batch, shape = request.batch_dims, indices.shape
    if request.family == ELEMENTS:
        rows, valid = positions(indices, data[request.axis], request)
        out = request.out_shape(data, shape)
        ones = tuple(jnp.zeros((1,) * len(out), int) if request.broadcast and data[d] == 1 else _count(out, d) for d in range(len(out)))
        return (*ones[: request.axis], rows, *ones[request.axis + 1 :]), valid, tuple(range(len(data)))
    if request.family == GATHER:
        rows, valid = positions(indices, data[request.axis], request)
        order = (*range(batch), request.axis, *range(batch, request.axis), *range(request.axis + 1, len(data)))
        return (*(_count(shape, d) for d in range(batch)), rows), valid, order
    found = [positions(indices[..., c], data[batch + c], request) for c in range(shape[-1])]
    valid = jnp.ones(shape[:-1], bool)
    for _, fits in found:
        valid &= fits
    rows = [jnp.where(valid, part, data[batch + c]) for c, (part, _) in enumerate(found)]
    return (*(_count(shape[:-1], d) for d in range(batch)), *rows), valid, tuple(range(len(data)))


def _to_output(rows: Any, rank: int, request: Request, back: bool = False) -> Any:
    """Moves the dimensions of the indices, which `_index` puts first, to the axis, or back."""
    if request.family != GATHER:
        return rows
    batch, axis = request.batch_dims, request.axis
    here, there = list(range(batch, rank)), list(range(axis, axis + rank - batch))
    return jnp.moveaxis(rows, there, here) if back else jnp.moveaxis(rows, here, there)


def _fill_of(data: Any, request: Request) -> Any:
    """The element of mode='fill', or zero."""
    if request.on_bad != FILL:
        return jnp.zeros((), data.dtype)
    dtype = np.dtype(data.dtype)
    return jnp.asarray(np.frombuffer(request.fill[: dtype.itemsize], dtype)[0])


def _lax_mode(request: Request) -> str:
    return "clip" if request.on_bad in (CLAMP, PROMISE) else "fill"


def gather(data: Any, indices: Any, *, request: Request) -> Any:
    """The gather. mode='raise' is not for this function: it cannot raise."""
    if request.windows is not None:
        numbers = jax.lax.GatherDimensionNumbers(*request.windows[:2], request.windows.start_index_map, *request.windows[2:4])
        fill = {"fill_value": _fill_of(data, request).item()} if request.on_bad not in (CLAMP, PROMISE) else {}
        return jax.lax.gather(data, indices, numbers, request.windows.slice_sizes, mode=_lax_mode(request), **fill)
    index, valid, order = _index(data.shape, indices, request)
    moved = data.transpose(order)
    rows = moved.at[index].get(mode="clip") if index else jnp.broadcast_to(moved, valid.shape + moved.shape)
    valid = valid.reshape(valid.shape + (1,) * (rows.ndim - valid.ndim))
    rows = jnp.where(valid, rows, _fill_of(data, request)) if rows.size else rows
    return _to_output(rows, indices.ndim, request)


def scatter_add(cotangent: Any, indices: Any, shape: tuple[int, ...], *, request: Request) -> Any:
    """The transpose of the gather from data of that shape: each element is added where it came from. Indices out of range add
    nothing.
    """
    if request.windows is not None:
        of = request.windows
        numbers = jax.lax.ScatterDimensionNumbers(of.offset_dims, of.collapsed_slice_dims, of.start_index_map, of.operand_batching_dims, of.start_indices_batching_dims)
        return jax.lax.scatter_add(jnp.zeros(shape, cotangent.dtype), indices, cotangent, numbers, mode=_lax_mode(request))
    index, valid, order = _index(shape, indices, request)
    rows = _to_output(cotangent, indices.ndim, request, back=True)
    total = jnp.zeros([shape[d] for d in order], cotangent.dtype)
    total = total.at[index].add(rows, mode="drop") if index else rows.sum(tuple(range(valid.ndim)))
    return total.transpose(np.argsort(order))
