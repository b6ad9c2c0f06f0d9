# SPDX-License-Identifier: MIT
#
# _jax_sharding.py: how a gather is divided among devices. Each dimension of the output that comes from one dimension of data or of
# indices may be sharded as that is; the axis is not. Every device then gathers its shard, and an error still has the position in the
# whole of the indices.
"""Sharding rules of libgather.jax."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from libgather._jax_request import Factor, Request

_Spec = list  # of tuples of names of the mesh's axes, one per dimension


def _rule(request: Request, _mesh: Any, values: Any, _results: Any) -> str:
    """Shardy's rule, in the notation of einsum: dimensions of one name are sharded alike."""
    data, indices = (tuple(value.shape) for value in values)
    factors = request.factors(data, indices)
    by_data = {f.data: f.out for f in factors if f.data is not None}
    by_indices = {f.indices: f.out for f in factors if f.indices is not None}
    operands = [[f"o{by[d]}" if d in by else f"{name}{d}" for d in range(rank)] for name, by, rank in (("d", by_data, len(data)), ("i", by_indices, len(indices)))]
    for f in factors:  # shorter than data: not sharded alike
        if f.data is not None and f.indices is not None and data[f.data] != indices[f.indices]:
            operands[0][f.data] = f"d{f.data}"
    return f"{' '.join(operands[0])}, {' '.join(operands[1])} -> {' '.join(f'o{f.out}' for f in factors)}"


def _names(sharding: Any, rank: int) -> _Spec:
    """The mesh's axes of each dimension."""
    if not isinstance(sharding, NamedSharding):
        return [()] * rank
    spec = [() if part is None or not isinstance(part, str | tuple) else (part,) if isinstance(part, str) else part for part in sharding.spec]
    return (spec + [()] * rank)[:rank]


def _choose(request: Request, mesh: Any, data: Any, indices: Any, out: Any) -> tuple[_Spec, _Spec, _Spec]:
    """The axes of each dimension of data, indices and the output: as the output has them, else as an operand has them, if the
    lengths can be divided among them and no axis is used twice.
    """
    of_data, of_indices = _names(data.sharding, len(data.shape)), _names(indices.sharding, len(indices.shape))
    of_out = _names(getattr(out, "sharding", None), len(out.shape))
    specs: tuple[_Spec, _Spec, _Spec] = ([()] * len(data.shape), [()] * len(indices.shape), [()] * len(out.shape))
    used: set[str] = set()

    def fits(factor: Factor, names: tuple) -> bool:
        lengths = {out.shape[factor.out]}
        lengths |= {data.shape[factor.data]} if factor.data is not None else set()
        lengths |= {indices.shape[factor.indices]} if factor.indices is not None else set()
        return bool(names) and not used & set(names) and len(lengths) == 1 and lengths.pop() % prod(mesh.shape[n] for n in names) == 0

    for factor in request.factors(data.shape, indices.shape):
        wanted = [of_out[factor.out]]
        wanted += [of_indices[factor.indices]] if factor.indices is not None else []
        wanted += [of_data[factor.data]] if factor.data is not None else []
        names = next((tuple(names) for names in wanted if fits(factor, tuple(names))), ())
        used |= set(names)
        for spec, d in zip(specs, factor):
            if d is not None:
                spec[d] = names
    return specs


def _shardings(mesh: Any, *specs: _Spec) -> tuple[Any, ...]:
    return tuple(NamedSharding(mesh, PartitionSpec(*(names or None for names in spec))) for spec in specs)


def _infer(request: Request, mesh: Any, arguments: Any, result: Any) -> Any:
    """The sharding of the output, where Shardy is not in use."""
    return _shardings(mesh, _choose(request, mesh, *arguments, result)[2])[0]


def partitioned(call: Callable) -> Callable:
    """call(data, indices, shard, request) as a function of data, indices and request that the partitioner can divide.

    shard: None, or the number of the shard for each dimension of indices.
    """

    def whole(data: Any, indices: Any, request: Request) -> Any:
        return call(data, indices, None, request)

    def partition(request: Request, mesh: Any, arguments: Any, result: Any) -> Any:
        of_data, of_indices, of_out = _choose(request, mesh, *arguments, result)

        def one(data: Any, indices: Any) -> Any:
            if not any(of_indices):
                return call(data, indices, None, request)
            shard = [jax.lax.axis_index(names) if names else 0 for names in of_indices]
            return call(data, indices, jnp.stack([jnp.asarray(number, jnp.int32) for number in shard]), request)

        data, indices, out = _shardings(mesh, of_data, of_indices, of_out)
        return mesh, one, out, (data, indices)

    function = custom_partitioning(whole, static_argnums=(2,))
    function.def_partition(partition, infer_sharding_from_operands=_infer, sharding_rule=_rule)
    return function
