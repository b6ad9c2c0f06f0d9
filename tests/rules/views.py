# SPDX-License-Identifier: MIT
#
# views.py: tensors laid out in memory in every way the header allows (gaps, permutations, negative and zero strides,
# misaligned, packed ones that begin within a byte), between margins of random bytes that nobody may touch.
"""Memory and views for the random tests."""
from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

import elements
import libgather_ctypes as g

MARGIN = 64
LAYOUTS_IN = ("null", "plain", "pitch", "permuted", "gaps", "negative", "broadcast")
LAYOUTS_OUT = ("null", "plain", "pitch", "permuted", "gaps", "negative")


def row_major(shape, unit: int) -> list[int]:
    """Row-major strides."""
    steps, step = [], unit
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return steps[::-1]


def make_strides(rng: random.Random, shape, unit: int, layout: str) -> list[int] | None:
    """Strides in bytes (unit = bytes of an element) or, for packed types, in elements (unit = 1)."""
    if layout == "null":
        return None
    if layout == "plain":
        return row_major(shape, unit)
    if layout == "pitch":  # row-major but for one padded dimension, as images and padded tables are
        padded = rng.randrange(len(shape) + 1)
        steps = row_major(shape[padded:], unit)
        pitch = (steps[0] * max(shape[padded], 1) if steps else unit) + rng.choice((1, 2, 3, 8, 24))
        return row_major(shape[:padded], pitch) + steps
    order = list(range(len(shape)))
    if layout != "gaps":
        rng.shuffle(order)
    strides, step = [0] * len(shape), unit
    for d in reversed(order):
        if layout != "permuted" and rng.random() * len(shape) < 8:
            step = step * rng.choice((1, 1, 2, 3)) + rng.choice((0, 0, 1, 5))
        strides[d] = step
        step *= max(shape[d], 1)
    if layout == "negative":
        strides = [rng.choice((-1, 1)) * s for s in strides]
    if layout == "broadcast":
        strides = [s * rng.choice((0, 1)) for s in strides]
    return strides


@dataclass
class View:
    """A tensor's description with the memory it lies in. offsets: of each element, in bytes or (packed) in elements."""

    info: g.TypeInfo
    item: int
    shape: tuple
    strides: list[int] | None
    packed_offset: int
    memory: np.ndarray
    base: int
    offsets: np.ndarray  # one-dimensional, in logical order
    flags: int = 0

    def describe(self, with_data: bool = True) -> g.Tensor:
        data = self.memory.ctypes.data + self.base if with_data else None
        return g.tensor(
            self.info.type, self.shape, data, self.strides, self.item, self.packed_offset, self.flags
        )

    def bytes_at(self, i: int) -> bytes:
        """Element number i in logical order, of a type that is not packed."""
        at = self.base + int(self.offsets[i])
        return self.memory[at : at + self.item].tobytes()

    def get(self, i: int) -> int:
        """Element number i in logical order, of a packed type."""
        return elements.get(self.info, self.memory, self.base, self.packed_offset + int(self.offsets[i]))

    def put(self, memory: np.ndarray, i: int, value) -> None:
        """Writes element i into a copy of the memory."""
        if elements.is_packed(self.info):
            elements.put(self.info, memory, self.base, self.packed_offset + int(self.offsets[i]), value)
        else:
            at = self.base + int(self.offsets[i])
            memory[at : at + self.item] = np.frombuffer(value, dtype=np.uint8)


def is_row_major(view: View) -> bool:
    """Whether the elements lie one behind the other; a length of 1 has no say."""
    return bool((view.offsets == np.arange(view.offsets.size)).all())


def make_view(rng: random.Random, info: g.TypeInfo, item: int, shape, layout: str) -> View:
    """A view of random memory."""
    packed = elements.is_packed(info)
    strides = make_strides(rng, shape, 1 if packed else item, layout)
    steps = row_major(shape, 1 if packed else item) if strides is None else strides
    offsets = np.zeros(shape, dtype=np.int64)
    for d, (n, s) in enumerate(zip(shape, steps)):
        offsets += (np.arange(n, dtype=np.int64) * s).reshape((n,) + (1,) * (len(shape) - d - 1))
    low, high = (int(offsets.min()), int(offsets.max())) if offsets.size else (0, 0)
    packed_offset = rng.choice((0, 0, 1, 3, 8, 13)) if packed else 0
    if packed:
        length, size = elements.group(info)
        first, last = (low + packed_offset) // length * size, ((high + packed_offset) // length + 1) * size
    else:
        first, last = low, high + item
    first, last = min(first, 0), max(last, 0)
    base = MARGIN + rng.randrange(8) - first
    memory = np.frombuffer(bytearray(rng.randbytes(base + last + MARGIN)), dtype=np.uint8)
    return View(info, item, tuple(shape), strides, packed_offset, memory, base, offsets.ravel())


def put_indices(rng: random.Random, view: View, values: np.ndarray, swapped: bool) -> np.ndarray:
    """Writes index values into a view and reads back what overlapping strides made of them."""
    kind = "i" if view.info.kind == g.KIND_INT else "u"
    dtype = np.dtype(f"{kind}{view.item}")
    if swapped:
        dtype = dtype.newbyteorder("S")
        view.flags |= g.BYTE_SWAPPED
    for i, value in enumerate(values.ravel()):
        view.put(view.memory, i, np.array(value, dtype=dtype).tobytes())
    read = np.empty(values.size, dtype=object)
    for i in range(read.size):
        read[i] = int(np.frombuffer(view.bytes_at(i), dtype=dtype)[0])
    return read.reshape(view.shape)
