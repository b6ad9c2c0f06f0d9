# SPDX-License-Identifier: MIT
#
# _jax_request.py: what one gather under JAX does, as a value that can be hashed, and which dimension comes from where. Needs no JAX.
"""One gather of libgather.jax: its attributes and its dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

GATHER, ELEMENTS, ND, WINDOWS = 1, 2, 3, 5  # numbers of families, include/gather/family.def
ERROR, CLAMP, WRAP, ZERO, FILL, PROMISE = 1, 2, 3, 4, 5, 6  # numbers of policies, gather_on_bad
POLICIES = {"error": ERROR, "clamp": CLAMP, "wrap": WRAP, "zero": ZERO, "fill": FILL, "promise": PROMISE}


class Factor(NamedTuple):
    """A dimension of the output, and the dimensions of data and indices that it follows; None: neither its length nor its
    sharding comes from there.
    """

    data: int | None
    indices: int | None
    out: int


class Windows(NamedTuple):
    """The dimension numbers of XLA's gather; the numbers of a tuple are in the last dimension of the indices."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...]
    start_indices_batching_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    slice_sizes: tuple[int, ...]

    def out_shape(self, indices: tuple[Any, ...]) -> tuple[Any, ...]:
        """The shape of the output, for indices of that shape."""
        left_out = {*self.collapsed_slice_dims, *self.operand_batching_dims}
        window = iter([size for d, size in enumerate(self.slice_sizes) if d not in left_out])
        lead = iter(indices[:-1])
        return tuple(next(window) if d in self.offset_dims else next(lead) for d in range(len(self.offset_dims) + len(indices) - 1))

    def mapped(self, of_data: int | None, of_indices: bool) -> Windows:
        """With a mapped dimension before the others: of data, of that length, of the indices, or of both. It is the first dimension of
        the output.
        """
        offset = tuple(d + 1 for d in self.offset_dims)
        starts = tuple(d + of_indices for d in self.start_indices_batching_dims)
        if of_data is None:
            return self._replace(offset_dims=offset, start_indices_batching_dims=starts)
        deeper = [tuple(d + 1 for d in dims) for dims in (self.collapsed_slice_dims, self.operand_batching_dims, self.start_index_map)]
        if of_indices:
            return Windows(offset, deeper[0], (0, *deeper[1]), (0, *starts), deeper[2], (1, *self.slice_sizes))
        return Windows((0, *offset), deeper[0], deeper[1], starts, deeper[2], (of_data, *self.slice_sizes))


@dataclass(frozen=True)
class Request:
    """The attributes of a gather. axis is not negative; broadcast: ELEMENTS repeats dimensions of length 1 off the axis; fill: the
    bytes of the element of mode='fill', with zeros up to 16; windows: of WINDOWS.
    """

    family: int
    axis: int = 0
    batch_dims: int = 0
    on_bad: int = ERROR
    negative: bool = True
    broadcast: bool = False
    fill: bytes = b""
    windows: Windows | None = None

    def attributes(self, numbers: Any, indices_rank: int, data_shape: tuple[int, ...] = ()) -> dict[str, Any]:
        """The attributes of the custom call; numbers is NumPy."""
        names = ("family", "axis", "batch_dims", "on_bad", "negative", "broadcast")
        found = {name: numbers.int64(getattr(self, name)) for name in names}
        found["fill"] = numbers.frombuffer(self.fill.ljust(16, b"\0"), numbers.uint8)
        found["data_shape"] = numbers.array(data_shape, numbers.int64)
        if self.windows is not None:
            found |= {name: numbers.array(dims, numbers.int64) for name, dims in self.windows._asdict().items()}
            found["index_vector_dim"] = numbers.int64(indices_rank - 1)
        return found

    def for_tangents(self) -> Request:
        """A row that is filled with a constant does not change with data."""
        return replace(self, on_bad=ZERO, fill=b"") if self.on_bad == FILL else self

    def factors(self, data: tuple[Any, ...], indices: tuple[Any, ...]) -> list[Factor]:
        """The dimensions of the output, for these shapes."""
        if self.family == GATHER:
            return self._gather_factors(len(data), len(indices))
        if self.family == ND:
            return self._nd_factors(len(data), indices)
        return [self._element_factor(d, data, indices) for d in range(len(data))]

    def _gather_factors(self, data_rank: int, indices_rank: int) -> list[Factor]:
        batch, axis, added = self.batch_dims, self.axis, indices_rank - self.batch_dims
        found = [Factor(d, d if d < batch else None, d) for d in range(axis)]
        found += [Factor(None, batch + j, axis + j) for j in range(added)]
        return found + [Factor(d, None, d - 1 + added) for d in range(axis + 1, data_rank)]

    def _nd_factors(self, data_rank: int, indices: tuple[Any, ...]) -> list[Factor]:
        batch, tuples = self.batch_dims, len(indices) - 1
        found = [Factor(d if d < batch else None, d, d) for d in range(tuples)]
        rest = batch + int(indices[-1])
        return found + [Factor(d, None, d - rest + tuples) for d in range(rest, data_rank)]

    def _element_factor(self, d: int, data: tuple[Any, ...], indices: tuple[Any, ...]) -> Factor:
        if d == self.axis or (self.broadcast and data[d] == 1):
            return Factor(None, d, d)
        if self.broadcast and indices[d] == 1:
            return Factor(d, None, d)
        return Factor(d, d, d)

    def out_shape(self, data: tuple[Any, ...], indices: tuple[Any, ...]) -> tuple[Any, ...]:
        """The shape of the output, for shapes that fit each other. Lengths may be symbols."""
        if self.windows is not None:
            return self.windows.out_shape(indices)
        return tuple(indices[f.indices] if f.indices is not None else data[f.data] for f in self.factors(data, indices))
