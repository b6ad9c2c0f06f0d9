# SPDX-License-Identifier: MIT
"""Random GatherND nodes, with what NumPy makes of them: tuples one by one, as the documents' loops say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Case:
    """One gather. `fused`: its batch dimensions are one dimension of the output (OpenVINO's GatherND-5)."""

    data: np.ndarray
    indices: np.ndarray
    batch_dims: int = 0
    fused: bool = False

    @property
    def tuple_len(self) -> int:
        return self.indices.shape[-1]

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the axes that a tuple selects on."""
        return self.data.shape[self.batch_dims : self.batch_dims + self.tuple_len]

    @property
    def loose_shape(self) -> tuple[int, ...]:
        return self.indices.shape[:-1] + self.data.shape[self.batch_dims + self.tuple_len :]

    @property
    def shape(self) -> tuple[int, ...]:
        b = self.batch_dims
        if not self.fused or b < 2:
            return self.loose_shape
        return (int(np.prod(self.data.shape[:b])), *self.loose_shape[b:])

    def source(self, at: tuple) -> tuple:
        """The coordinates in data of the tuple at those coordinates."""
        numbers = [int(n) + (size if n < 0 else 0) for n, size in zip(self.indices[at], self.lengths, strict=True)]
        return at[: self.batch_dims] + tuple(numbers)

    def wanted(self) -> np.ndarray:
        """The output, for indices that are all in range."""
        out = np.empty(self.loose_shape, self.data.dtype)
        for at in np.ndindex(self.indices.shape[:-1]):
            out[at] = self.data[self.source(at)]
        return out.reshape(self.shape)

    def bad(self, negative: bool = True) -> list[tuple]:
        """Where numbers are out of range, in row-major order: coordinates in indices, value, length of the axis."""
        found = []
        for at in np.ndindex(self.indices.shape):
            value, size = int(self.indices[at]), self.lengths[at[-1]]
            if value >= size or value < (-size if negative else 0):
                found.append((at, value, size))
        return found


def shapes(rng, most_batch: int, empty_tuples: bool = False) -> tuple[tuple, tuple, int]:
    """Shapes of data and of indices, and batch_dims."""
    rank = int(rng.integers(1, 5))
    data = [int(n) for n in rng.integers(1, 6, rank)]
    b = int(rng.integers(0, min(rank - 1, most_batch) + 1))
    k = int(rng.integers(0 if empty_tuples else 1, rank - b + 1))
    lead = [int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3)))]
    return tuple(data), (*data[:b], *lead, k), b


def random_case(rng, most_batch: int, index_type, negative: bool = True, fused: bool = False, data=None) -> Case:
    """data: makes elements of a shape; without it 0, 1, 2, ..."""
    shape, index_shape, b = shapes(rng, most_batch)
    table = data(shape) if data else np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    indices = np.empty(index_shape, index_type)
    back = negative and np.issubdtype(index_type, np.signedinteger)
    for c in range(index_shape[-1]):
        size = shape[b + c]
        indices[..., c] = rng.integers(-size if back else 0, size, index_shape[:-1])
    return Case(table, indices, b, fused)


def spoil(rng, case: Case, count: int) -> None:
    """Puts so many numbers out of range, on either side."""
    for at in rng.permutation(case.indices.size)[:count]:
        place = np.unravel_index(int(at), case.indices.shape)
        size, by = case.lengths[place[-1]], int(rng.integers(0, 3))
        case.indices[place] = size + by if rng.random() < 0.5 else -size - 1 - by
