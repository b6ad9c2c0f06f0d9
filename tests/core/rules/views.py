# SPDX-License-Identifier: MIT
#
# views.py: tensors laid out in memory in every way the header allows (gaps, permutations, negative and zero strides, packed ones that
# begin within a byte).
"""Memory and views for the random cases."""
import random
from dataclasses import dataclass

import numpy as np

import elements
import tables as g

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
        if layout != "permuted" and step < 256 * unit and rng.random() * len(shape) < 8:
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
    """A tensor's description with the bytes that it spans. offsets: of each element, in bytes or (packed) in elements."""

    info: g.Type
    item: int
    shape: tuple
    strides: list[int] | None
    packed_offset: int
    memory: np.ndarray
    base: int  # where the tensor's data pointer is in the memory; outside of it where no element is there
    offsets: np.ndarray  # one-dimensional, in logical order
    flags: int = 0

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """Where the bytes of these elements are in the memory: one row for each."""
        return self.base + self.offsets[numbers][:, None] + np.arange(self.item)

    def bytes_of(self, numbers: np.ndarray) -> np.ndarray:
        """Elements by their numbers in logical order, of a type that is not packed: one row of bytes for each."""
        return self.memory[self.places(numbers)]

    def get(self, i: int) -> int:
        """Element number i in logical order, of a packed type."""
        return elements.get(self.info, self.memory, self.base, self.packed_offset + int(self.offsets[i]))

    def put(self, memory: np.ndarray, i: int, value: int) -> None:
        """Writes element i of a packed type into a copy of the memory."""
        elements.put(self.info, memory, self.base, self.packed_offset + int(self.offsets[i]), value)


def is_row_major(view: View) -> bool:
    """Whether the elements are in row-major order without gaps; the stride of a dimension of length 1 does not count."""
    return bool((view.offsets == np.arange(view.offsets.size) * (view.item or 1)).all())


def make_view(rng: random.Random, info: g.Type, item: int, shape, layout: str) -> View:
    """A view of random memory."""
    packed = elements.is_packed(info)
    strides = make_strides(rng, shape, 1 if packed else item, layout)
    steps = row_major(shape, 1 if packed else item) if strides is None else strides
    offsets = np.zeros(shape, dtype=np.int64)
    for d, (n, s) in enumerate(zip(shape, steps)):
        offsets += (np.arange(n, dtype=np.int64) * s).reshape((n,) + (1,) * (len(shape) - d - 1))
    packed_offset = rng.choice((0, 0, 1, 3, 8, 13)) if packed else 0
    if offsets.size == 0:
        first = last = 0
    elif packed:
        length, size = elements.group(info)
        first = (int(offsets.min()) + packed_offset) // length * size
        last = ((int(offsets.max()) + packed_offset) // length + 1) * size
    else:
        first, last = int(offsets.min()), int(offsets.max()) + item
    memory = np.frombuffer(bytearray(rng.randbytes(last - first)), dtype=np.uint8)
    return View(info, item, tuple(shape), strides, packed_offset, memory, -first, offsets.ravel())


def put_indices(view: View, values: np.ndarray, byte_order: str, swapped: bool) -> np.ndarray:
    """Writes index values into a view and reads back what overlapping strides made of them."""
    order = {"little": "<", "big": ">"}[byte_order]
    kind = "i" if view.info.kind == g.KIND_INT else "u"
    dtype = np.dtype(f"{kind}{view.item}").newbyteorder({"<": ">", ">": "<"}[order] if swapped else order)
    if swapped:
        view.flags |= g.BYTE_SWAPPED
    numbers = np.arange(values.size)
    view.memory[view.places(numbers)] = values.ravel().astype(dtype).view(np.uint8).reshape(values.size, view.item)
    return view.bytes_of(numbers).view(dtype).astype(object).reshape(view.shape)
