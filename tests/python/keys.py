# SPDX-License-Identifier: MIT
#
# keys.py: random arrays and keys of indexing, good ones and bad ones.
"""Random keys for libgather.index."""
from __future__ import annotations

import random

import numpy as np

DTYPES = [np.dtype(name) for name in ("<i4", ">i8", "u1", "f8", "c16", "O", "S3", "?", "i2,f4")]
INDEX_TYPES = ("i8", "i4", "i2", ">i4", ">i8", "i1")


def some_array(r: random.Random) -> np.ndarray:
    """Rank 0 to 4, any strides, lengths of 0 and 1 among them."""
    rank = r.randrange(5)
    shape = [r.choice([0, 1, 1, 2, 3, 3, 4, 5]) if r.random() < 0.9 else r.choice([7, 9]) for _ in range(rank)]
    dtype, size = r.choice(DTYPES), int(np.prod(shape))
    if dtype.kind == "O":
        x = np.array([str(i) for i in range(size)], object).reshape(shape)
    elif dtype.kind == "b":
        x = (np.arange(size) % 2 == 0).reshape(shape)
    else:
        x = np.frombuffer(r.randbytes(size * dtype.itemsize), dtype).reshape(shape)
    if rank and r.random() < 0.4:
        x = x.transpose(r.sample(range(rank), rank))
    if rank and r.random() < 0.3:
        x = x[tuple(slice(None, None, r.choice([1, -1, 2])) for _ in range(rank))]
    return x


class Maker:
    """One key for an array of this shape."""

    def __init__(self, r: random.Random, shape: tuple[int, ...]) -> None:
        self.r, self.shape, self.axis, self.key = r, shape, 0, []
        self.arrays = [r.choice([1, 2, 3, 2, 3, 0]) if r.random() < 0.12 else r.choice([1, 2, 3]) for _ in range(r.randrange(4))]
        self.bad = r.random() < 0.1

    def number(self) -> int:
        length = self.shape[self.axis] if self.axis < len(self.shape) else 3
        high = max(length - 1, 0) + (self.bad and self.r.random() < 0.4)
        return self.r.randint(min(-length, high), high)

    def integer(self) -> None:
        self.key.append(self.r.choice([int, np.int64, np.int8, np.array])(self.number()))
        self.axis += 1

    def slice(self) -> None:
        length = self.shape[self.axis] if self.axis < len(self.shape) else 3
        ends = [self.r.choice([None, self.r.randint(-length - 2, length + 2)]) for _ in range(2)]
        self.key.append(slice(*ends, self.r.choice([None, 1, 2, -1, -2, -3, 3])))
        self.axis += 1

    def array(self) -> None:
        shape = [1 if self.r.random() < 0.25 else n for n in self.arrays[self.r.randrange(len(self.arrays) + 1) :]]
        if self.r.random() < 0.02:
            shape.append(4)
        numbers = [self.number() for _ in range(int(np.prod(shape)))]
        made = np.array(numbers, self.r.choice(INDEX_TYPES)).reshape(shape)
        if made.ndim and self.axis < len(self.shape) and self.shape[self.axis] == 0 and self.r.random() < 0.7:
            made = made[..., :0]
        if made.ndim > 1 and self.r.random() < 0.3:
            made = np.asfortranarray(made)
        if made.ndim and self.r.random() < 0.2:
            made = np.repeat(made, 2, axis=-1)[..., ::2]
        self.key.append(made.tolist() if made.ndim and self.r.random() < 0.3 else made)
        self.axis += 1

    def mask(self) -> None:
        rank = self.r.randrange(1, 4)
        if self.axis + rank > len(self.shape):
            return
        shape = list(self.shape[self.axis : self.axis + rank])
        if self.r.random() < 0.02:
            shape[-1] += 1
        made = np.zeros(shape, bool)
        wanted = 1 if self.r.random() < 0.3 else self.arrays[-1] if self.arrays else 2  # so that they broadcast at times
        made.reshape(-1)[self.r.sample(range(made.size), min(wanted, made.size))] = True
        self.key.append(np.asfortranarray(made) if self.r.random() < 0.3 else made)
        self.axis += rank

    def make(self) -> object:
        ellipsis, rank = False, len(self.shape)
        for _ in range(self.r.randrange(7)):
            kind = self.r.choice(["integer", "slice", "slice", "new", "ellipsis", "array", "array", "array", "mask", "bool"])
            if kind in ("integer", "slice", "array") and self.axis >= rank and self.r.random() < 0.97:
                continue
            if kind == "new":
                self.key.append(None)
            elif kind == "bool":
                self.key.append(self.r.choice([True, True, True, False, np.True_, np.array(True)]))
            elif kind != "ellipsis":
                getattr(self, kind)()
            elif not ellipsis:
                ellipsis = True
                self.key.append(...)
                self.axis = rank - self.r.randrange(rank - self.axis + 1) if self.axis < rank else self.axis
        return self.key[0] if len(self.key) == 1 and self.r.random() < 0.5 else tuple(self.key)


def some_key(r: random.Random, shape: tuple[int, ...]) -> object:
    return Maker(r, shape).make()
