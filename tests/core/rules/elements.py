# SPDX-License-Identifier: MIT
#
# elements.py: reading and writing single elements in memory, also packed ones, by the layouts that the documents give
# (facts: type.def's comment, OpenVINO's u1, u3, u6; ONNX's 4- and 2-bit types). Slow and plain on purpose: it is the oracle.
"""Elements in a bytearray-like NumPy uint8 array."""
import numpy as np

from tables import (
    KIND_OPAQUE,
    KIND_STRING,
    PACKING_BYTES,
    PACKING_HIGH_FIRST,
    PACKING_LOW_FIRST,
    PACKING_SPLIT_3,
    PACKING_SPLIT_6,
    PACKING_STREAM,
    Type,
)


def is_packed(info: Type) -> bool:
    return info.packing != PACKING_BYTES


def item_bytes(info: Type, opaque_bytes: int, pointer_bytes: int = np.dtype(np.intp).itemsize) -> int:
    """Bytes of one element of a type that is not packed. A string is a pointer and a length."""
    if info.kind == KIND_OPAQUE:
        return opaque_bytes
    if info.kind == KIND_STRING:
        return 2 * pointer_bytes
    return info.bits // 8


def group(info: Type) -> tuple[int, int]:
    """Elements and bytes of the smallest unit of whole bytes."""
    if info.packing == PACKING_SPLIT_3:
        return 8, 3
    if info.packing in (PACKING_SPLIT_6, PACKING_STREAM):
        return 4, 3
    return 8 // info.bits, 1


def pieces(info: Type, i: int) -> list[tuple[int, int, int, int]]:
    """Where element i stands: (byte, shift in that byte, bits, shift in the value)."""
    if info.packing == PACKING_LOW_FIRST:
        per_byte = 8 // info.bits
        return [(i // per_byte, (i % per_byte) * info.bits, info.bits, 0)]
    if info.packing == PACKING_HIGH_FIRST:
        per_byte = 8 // info.bits
        return [(i // per_byte, 8 - info.bits - (i % per_byte) * info.bits, info.bits, 0)]
    if info.packing == PACKING_SPLIT_3:
        base, j = 3 * (i // 8), i % 8
        return [(base + j // 4, 6 - 2 * (j % 4), 2, 0), (base + 2, 7 - j, 1, 2)]
    if info.packing == PACKING_SPLIT_6:
        base, j = 3 * (i // 4), i % 4
        return [(base + j // 2, 4 - 4 * (j % 2), 4, 0), (base + 2, 6 - 2 * j, 2, 4)]
    if info.packing == PACKING_STREAM:
        places = [(bit // 8, bit % 8, 1, up) for up, bit in enumerate(range(6 * i, 6 * i + 6))]
        return places
    raise AssertionError(f"packing {info.packing}")


def get(info: Type, memory: np.ndarray, base: int, i: int) -> int:
    """The bits of packed element i, counted (also backwards) from byte `base` of the memory."""
    value = 0
    for byte, shift, bits, up in pieces(info, i):
        value |= ((int(memory[base + byte]) >> shift) & ((1 << bits) - 1)) << up
    return value


def put(info: Type, memory: np.ndarray, base: int, i: int, value: int) -> None:
    """Writes packed element i and leaves its neighbours alone."""
    for byte, shift, bits, up in pieces(info, i):
        mask = (1 << bits) - 1
        old = int(memory[base + byte])
        memory[base + byte] = (old & ~(mask << shift) & 255) | (((value >> up) & mask) << shift)


def bytes_for(info: Type, opaque_bytes: int, elements: int) -> int:
    """Bytes that `elements` elements take without gaps."""
    if not is_packed(info):
        return elements * item_bytes(info, opaque_bytes)
    length, size = group(info)
    return -(-elements // length) * size
