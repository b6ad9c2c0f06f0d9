# SPDX-License-Identifier: MIT
"""The structures of include/gather/gather.h that every ctypes test needs, field by field."""
from __future__ import annotations

import ctypes as c

MAX_RANK = 64
READ_ONLY, BYTE_SWAPPED = 1, 2


class Error(c.Structure):
    _fields_ = [
        ("status", c.c_int),
        ("message", c.c_char * 512),
        ("op", c.c_char_p),
        ("rules", c.c_char_p),
        ("input", c.c_char_p),
        ("file", c.c_char * 256),
        ("file_offset", c.c_int64),
        ("row", c.c_int64),
        ("axis", c.c_int32),
        ("position_rank", c.c_int32),
        ("position", c.c_int64 * MAX_RANK),
        ("value_is_unsigned", c.c_bool),
        ("system_error", c.c_int16),
        ("value", c.c_int64),
        ("low", c.c_int64),
        ("high", c.c_int64),
        ("bad_count", c.c_int64),
    ]


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("type", c.c_int),
        ("rank", c.c_int32),
        ("item_bytes", c.c_int64),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("packed_offset", c.c_int64),
        ("flags", c.c_uint32),
    ]


TASK = c.CFUNCTYPE(None, c.c_void_p, c.c_int64)
PARALLEL_FOR = c.CFUNCTYPE(None, c.c_void_p, c.c_int64, TASK, c.c_void_p)


class Executor(c.Structure):
    _fields_ = [("context", c.c_void_p), ("parallel_for", PARALLEL_FOR), ("threads", c.c_int32)]


class Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("axis", c.c_int64),
        ("batch_dims", c.c_int64),
        ("on_bad", c.c_int),
        ("negative", c.c_int),
        ("fill", c.c_void_p),
        ("executor", c.POINTER(Executor)),
        ("bad_count", c.POINTER(c.c_int64)),
        ("fresh_output", c.c_bool),
    ]
