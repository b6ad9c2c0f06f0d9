# SPDX-License-Identifier: MIT
#
# _jax_primitive.py: the primitives of libgather.jax and their rules: shapes, vmap, derivatives, lowering. On the CPU both are custom
# calls of plugin/jax.
"""The primitives of libgather.jax."""

from __future__ import annotations

import ctypes
import functools
import inspect
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from libgather import _jax_reference as reference
from libgather import _plugins
from libgather._jax_request import ELEMENTS, ERROR, GATHER, WINDOWS, Request
from libgather._jax_sharding import partitioned
from libgather.errors import refuse

_GATHER, _CHECK = "libgather_jax_gather", "libgather_jax_check"

gather_p = Primitive("libgather_gather")
check_p = Primitive("libgather_check")


@functools.cache
def register() -> None:
    """Registers the custom calls, once per process. jaxlib refuses them here if it does not know the version of the interface."""
    library = ctypes.CDLL(_plugins.library("jax"))
    for name in (_GATHER, _CHECK):
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform="cpu")


# ---- shapes ----------------------------------------------------------------------------------------------------------

_AVAL = inspect.signature(jax.core.ShapedArray).parameters


def _aval(shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
    """An abstract array in the mesh of `like`, replicated there but for the axes of a shard_map over which `like` varies."""
    more = {name: getattr(like, name) for name in ("manual_axis_type", "vma") if name in _AVAL and hasattr(like, name)}
    mesh = getattr(getattr(like, "sharding", None), "mesh", None)
    if mesh is not None and not mesh.empty and "sharding" in _AVAL:
        more["sharding"] = NamedSharding(mesh, PartitionSpec(*[None] * len(shape)))
    return jax.core.ShapedArray(shape, dtype, **more)


@gather_p.def_abstract_eval
def _gather_aval(data: Any, indices: Any, *, request: Request) -> Any:
    return _aval(request.out_shape(data.shape, indices.shape), data.dtype, data)


@check_p.def_abstract_eval
def _check_aval(indices: Any, *, shape: tuple[int, ...], request: Request) -> Any:
    return _aval(indices.shape, indices.dtype, indices)


# ---- outside of jit --------------------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def _compiled(primitive: Any, **parameters: Any) -> Any:
    return jax.jit(functools.partial(primitive.bind, **parameters))


for _primitive in (gather_p, check_p):
    _primitive.def_impl(functools.partial(lambda primitive, *args, **kw: _compiled(primitive, **kw)(*args), _primitive))


# ---- lowering --------------------------------------------------------------------------------------------------------


def _call_gather(data: Any, indices: Any, shard: Any, request: Request) -> Any:
    shape = request.out_shape(data.shape, indices.shape)
    call = jax.ffi.ffi_call(_GATHER, jax.ShapeDtypeStruct(shape, data.dtype))
    operands = (data, indices) if shard is None else (data, indices, shard)
    return call(*operands, **request.attributes(np, indices.ndim))


def _needs_devices() -> bool:
    """Declares that JAX lowers this primitive for known devices, as custom_partitioning. There is no public name for that. If the
    private one is missing, programs for several devices gather whole arrays on each.
    """
    try:
        from jax._src.dispatch import prim_requires_devices_during_lowering as needs_devices

        needs_devices.add(gather_p)
    except (ImportError, AttributeError):
        return False
    return True


_partitioned = partitioned(_call_gather) if _needs_devices() else lambda data, indices, request: _call_gather(data, indices, None, request)


def _gather_cpu(data: Any, indices: Any, *, request: Request) -> Any:
    register()
    if request.family == WINDOWS:  # on several devices XLA collects the arrays
        return _call_gather(data, indices, None, request)
    return _partitioned(data, indices, request)


def _gather_elsewhere(data: Any, indices: Any, *, request: Request) -> Any:
    if request.on_bad == ERROR:
        refuse(
            "unsupported",
            "libgather.jax can report an index out of range only on the CPU: place the call there, or pass mode='clip', 'wrap', 'zero', "
            "'fill' or 'promise'",
            "indices",
        )
    return reference.gather(data, indices, request=request)


def _check_cpu(indices: Any, *, shape: tuple[int, ...], request: Request) -> Any:
    register()
    call = jax.ffi.ffi_call(_CHECK, jax.ShapeDtypeStruct(indices.shape, indices.dtype))
    return call(indices, **request.attributes(np, indices.ndim, shape))


mlir.register_lowering(gather_p, mlir.lower_fun(_gather_cpu, multiple_results=False), platform="cpu")
mlir.register_lowering(gather_p, mlir.lower_fun(_gather_elsewhere, multiple_results=False))
mlir.register_lowering(check_p, mlir.lower_fun(_check_cpu, multiple_results=False), platform="cpu")
mlir.register_lowering(check_p, mlir.lower_fun(lambda indices, *, shape, request: indices, multiple_results=False))


# ---- vmap ------------------------------------------------------------------------------------------------------------


def _batch_indices(indices: Any, dim: int, request: Request) -> tuple[Any, int | None]:
    """Indices with the mapped dimension after the batch dimensions, and None. For GatherElements: with the mapped dimension merged into
    the axis, which may have any length, and the axis.
    """
    if request.family != ELEMENTS:
        return jnp.moveaxis(indices, dim, request.batch_dims), None
    moved = jnp.moveaxis(indices, dim, request.axis)
    shape = moved.shape
    merged = (*shape[: request.axis], shape[request.axis] * shape[request.axis + 1], *shape[request.axis + 2 :])
    return moved.reshape(merged), request.axis


def _split(rows: Any, dim: int, size: int, each: int) -> Any:
    """A dimension of the length size * each as two."""
    return rows.reshape((*rows.shape[:dim], size, each, *rows.shape[dim + 1 :]))


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return (*shape[:dim], *shape[dim + 1 :])


def _deeper(request: Request) -> Request:
    """The request with one more leading dimension, which data and indices share."""
    if request.family == ELEMENTS:
        return replace(request, axis=request.axis + 1)
    return replace(request, axis=request.axis + (request.family == GATHER), batch_dims=request.batch_dims + 1)


def _map_gather(arguments: Any, dims: Any, *, request: Request) -> tuple[Any, int]:
    (data, indices), (of_data, of_indices) = arguments, dims
    if request.windows is not None:
        data = data if of_data is None else jnp.moveaxis(data, of_data, 0)
        indices = indices if of_indices is None else jnp.moveaxis(indices, of_indices, 0)
        windows = request.windows.mapped(None if of_data is None else data.shape[0], of_indices is not None)
        return gather_p.bind(data, indices, request=replace(request, windows=windows)), 0
    if of_data is None:
        size, each = indices.shape[of_indices], _without(indices.shape, of_indices)
        indices, merged = _batch_indices(indices, of_indices, request)
        rows = gather_p.bind(data, indices, request=request)
        if merged is not None:
            return _split(rows, merged, size, each[merged]), merged
        return rows, request.axis if request.family == GATHER else request.batch_dims
    if of_indices is None and request.family == GATHER:
        batch = request.batch_dims
        rows = gather_p.bind(jnp.moveaxis(data, of_data, batch), indices, request=replace(request, axis=request.axis + 1))
        return rows, batch
    data = jnp.moveaxis(data, of_data, 0)
    if of_indices is None:
        length = 1 if request.broadcast else data.shape[0]
        indices = jnp.broadcast_to(indices, (length, *indices.shape))
    else:
        indices = jnp.moveaxis(indices, of_indices, 0)
    return gather_p.bind(data, indices, request=_deeper(request)), 0


def _map_check(arguments: Any, dims: Any, *, shape: tuple[int, ...], request: Request) -> tuple[Any, int]:
    (indices,), (dim,) = arguments, dims
    if request.windows is not None:
        mapped = replace(request, windows=request.windows.mapped(None, True))
        return check_p.bind(jnp.moveaxis(indices, dim, 0), shape=shape, request=mapped), 0
    size, each = indices.shape[dim], _without(indices.shape, dim)
    indices, merged = _batch_indices(indices, dim, request)
    checked = check_p.bind(indices, shape=shape, request=request)
    return (checked, request.batch_dims) if merged is None else (_split(checked, merged, size, each[merged]), merged)


batching.primitive_batchers[gather_p] = _map_gather
batching.primitive_batchers[check_p] = _map_check


# ---- derivatives -----------------------------------------------------------------------------------------------------


def _transpose(cotangent: Any, data: Any, indices: Any, *, request: Request) -> list[Any]:
    """A scatter that adds. Its indices come through a check, since the gather itself may not be needed any more."""
    if type(cotangent) is ad.Zero:
        return [ad.Zero(data.aval), None]
    if request.on_bad == ERROR:
        indices = check_p.bind(indices, shape=data.aval.shape, request=request)
    return [reference.scatter_add(cotangent, indices, data.aval.shape, request=request), None]


ad.defjvp(gather_p, lambda tangent, data, indices, *, request: gather_p.bind(tangent, indices, request=request.for_tangents()), None)
ad.primitive_transposes[gather_p] = _transpose
