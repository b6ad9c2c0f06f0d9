# SPDX-License-Identifier: MIT
#
# capsules.py: a library of our own that gives tensors out as DLPack capsules, written with ctypes. It counts what is given back.
"""DLPack tensors made by hand."""
from __future__ import annotations

import ctypes as c

import numpy as np

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
READ_ONLY, COPIED, PADDED = 1, 2, 4


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", Device), ("ndim", c.c_int32), ("dtype", DataType), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Managed(c.Structure):
    _fields_ = [("tensor", Tensor), ("manager", c.c_void_p), ("deleter", c.c_void_p)]


class Versioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("manager", c.c_void_p), ("deleter", c.c_void_p), ("flags", c.c_uint64),
                ("tensor", Tensor)]


DELETER = c.CFUNCTYPE(None, c.c_void_p)
new_capsule = c.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
name_of = c.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = c.c_char_p, [c.py_object]


class Producer:
    """A NumPy array's memory, given out by __dlpack__. What a test wants otherwise, it sets."""

    def __init__(self, array: np.ndarray, *, versioned: bool = True, flags: int = 0, version: tuple[int, int] = (1, 1), device: int = 1,
                 dtype: tuple[int, int, int] | None = None, shape: tuple | None = None, strides: bool = True, offset: int = 0,
                 name: bytes | None = None, deleter: bool = True) -> None:
        self.array, self.versioned, self.with_deleter = array, versioned, deleter
        self.deleted = self.asked = 0
        self.capsules: list = []
        self._name = name or (b"dltensor_versioned" if versioned else b"dltensor")  # PyCapsule keeps the address
        lengths = array.shape if shape is None else shape
        steps = [step // max(array.itemsize, 1) for step in array.strides]
        self._shape, self._strides = (c.c_int64 * max(len(lengths), 1))(*lengths), (c.c_int64 * max(len(steps), 1))(*steps)
        kind = dtype or (CODES[array.dtype.kind], array.itemsize * 8, 1)
        tensor = Tensor(array.ctypes.data - offset, Device(device, 0), len(lengths), DataType(*kind), self._shape,
                        self._strides if strides else None, offset)
        self._deleter = DELETER(self._delete)
        pointer = c.cast(self._deleter, c.c_void_p) if deleter else None
        self.managed = Versioned(*version, None, pointer, flags, tensor) if versioned else Managed(tensor, None, pointer)

    def _delete(self, address: int) -> None:
        assert address == c.addressof(self.managed)
        self.deleted += 1

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked += 1
        self.max_version = max_version
        capsule = new_capsule(c.addressof(self.managed), self._name, None)
        self.capsules.append(capsule)
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.managed.tensor.device.type, 0)


class Old(Producer):
    """A producer from before DLPack 1.0: its method knows no max_version."""

    def __init__(self, array: np.ndarray, **keywords) -> None:
        super().__init__(array, versioned=False, **keywords)

    def __dlpack__(self, stream=None):
        return super().__dlpack__()
