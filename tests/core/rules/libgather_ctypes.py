# SPDX-License-Identifier: MIT
#
# libgather_ctypes.py: the public header's structures and functions for ctypes, so that the tests need no other binding.
# The environment variable GATHER_LIB names the shared library. Without it the tests fail: they must not pass by not running.
"""A literal mirror of include/gather/gather.h and dlpack.h."""
from __future__ import annotations

import ctypes as c
import itertools
import os

from support.structs import PARALLEL_FOR, TASK, Error, Executor, Options, Tensor  # noqa: F401  (users find them here)
from tables import *  # noqa: F401, F403  (likewise)
from tables import MAX_RANK, STATUS

UNBOUNDED = 2**63 - 1
AXIS_UNKNOWN = -(2**63)
STATUSES = [name for name, _ in sorted(STATUS.items(), key=lambda item: item[1])]
OK = 0


class TypeInfo(c.Structure):
    _fields_ = [
        ("type", c.c_int),
        ("name", c.c_char_p),
        ("kind", c.c_int),
        ("bits", c.c_int32),
        ("packing", c.c_int),
        ("group_len", c.c_int32),
        ("group_bytes", c.c_int32),
        ("onnx", c.c_int32),
        ("onnx_name", c.c_char_p),
        ("onnxruntime", c.c_int32),
        ("openvino_name", c.c_char_p),
        ("openvino_precision", c.c_char_p),
        ("npy", c.c_char_p),
        ("dlpack", c.c_int32),
        ("safetensors", c.c_char_p),
    ]


class Op(c.Structure):
    _fields_ = [
        ("rules", c.c_char_p),
        ("dialect", c.c_char_p),
        ("name", c.c_char_p),
        ("version", c.c_int32),
        ("family", c.c_int),
        ("negative", c.c_bool),
        ("on_bad", c.c_int),
        ("batch_dims", c.c_bool),
        ("off_axis", c.c_int),
        ("axis_source", c.c_int),
        ("types", c.c_uint64),
        ("index_types", c.c_uint64),
        ("document", c.c_char_p),
        ("tuples", c.c_int),
        ("fused_batch", c.c_bool),
    ]


class Dim(c.Structure):
    _fields_ = [("min", c.c_int64), ("max", c.c_int64), ("symbol", c.c_char_p)]


class Shape(c.Structure):
    _fields_ = [("rank", c.c_int32), ("dims", Dim * MAX_RANK)]


class Run(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("data", c.c_void_p),
        ("indices", c.c_void_p),
        ("out", c.c_void_p),
        ("executor", c.POINTER(Executor)),
        ("bad_count", c.POINTER(c.c_int64)),
        ("fresh_output", c.c_bool),
    ]


class DlTensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class DlVersioned(c.Structure):
    _fields_ = [
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("manager", c.c_void_p),
        ("deleter", c.c_void_p),
        ("flags", c.c_uint64),
        ("tensor", DlTensor),
    ]


T, O, E, S = c.POINTER(Tensor), c.POINTER(Options), c.POINTER(Error), c.POINTER(Shape)
I64P, OPP = c.POINTER(c.c_int64), c.POINTER(Op)
FUNCTIONS = {
    "gather_version": (c.c_char_p, []),
    "gather_status_name": (c.c_char_p, [c.c_int]),
    "gather_type_get": (c.POINTER(TypeInfo), [c.c_int]),
    "gather_type_bytes": (c.c_int, [c.c_int, c.c_int64, c.c_int64, I64P]),
    "gather_tensor_check": (c.c_int, [T, E]),
    "gather_op_at": (OPP, [c.c_size_t]),
    "gather_op_find": (OPP, [c.c_char_p, c.c_char_p]),
    "gather_pool_create": (c.c_int, [c.c_int32, c.POINTER(c.c_void_p), E]),
    "gather_pool_destroy": (None, [c.c_void_p]),
    "gather_pool_executor": (c.POINTER(Executor), [c.c_void_p]),
    "gather_output_shape": (c.c_int, [OPP, T, T, O, I64P, c.POINTER(c.c_int32), E]),
    "gather_infer_shape": (c.c_int, [OPP, S, S, O, S, E]),
    "gather_infer_value": (c.c_int, [OPP, T, T, T, O, E]),
    "gather_apply": (c.c_int, [OPP, T, T, T, O, E]),
    "gather_plan_create": (c.c_int, [OPP, T, T, T, O, c.POINTER(c.c_void_p), E]),
    "gather_plan_destroy": (None, [c.c_void_p]),
    "gather_plan_run": (c.c_int, [c.c_void_p, c.POINTER(Run), E]),
    "gather_plan_check": (c.c_int, [c.c_void_p, c.POINTER(Run), E]),
    "gather_plan_print": (c.c_size_t, [c.c_void_p, c.c_char_p, c.c_size_t]),
    "gather_tuning_set": (c.c_int, [c.c_char_p, c.c_int64, E]),
    "gather_plan_shape": (c.c_int32, [c.c_void_p, I64P]),
    "gather_tensor_from_dlpack": (c.c_int, [c.POINTER(DlTensor), I64P, T, E]),
    "gather_tensor_from_dlpack_versioned": (c.c_int, [c.POINTER(DlVersioned), I64P, T, E]),
}


def load() -> c.CDLL:
    """The library under test, with every function's types set."""
    path = os.environ.get("GATHER_LIB")
    if not path:
        raise RuntimeError("GATHER_LIB must name the shared library under test")
    library = c.CDLL(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = load()


def all_types() -> list[TypeInfo]:
    """Every element type the library knows, by number."""
    found = [lib.gather_type_get(number) for number in range(1, 200)]
    return [pointer.contents for pointer in found if pointer]


def all_ops() -> list[Op]:
    """Every operator version that gather_apply runs with an axis and batch_dims: not GatherTree and StableHLO's gather."""
    rows = (row.contents for row in iter(map(lib.gather_op_at, itertools.count()).__next__, None))
    return [row for row in rows if row.family <= FAMILY_ND]


def op_label(op: Op) -> str:
    return f"{op.name.decode()}/{op.rules.decode()}"


def int64s(values) -> c.Array:
    """A C array of int64 that holds `values` (one spare element, so that it is never empty)."""
    values = [int(v) for v in values]
    return (c.c_int64 * (len(values) + 1))(*values)


def tensor(type_number: int, shape, data=None, strides=None, item_bytes=0, packed_offset=0, flags=0) -> Tensor:
    """A gather_tensor. The arrays it points to live as long as it does."""
    result = Tensor(data, type_number, len(shape), item_bytes, None, None, packed_offset, flags)
    result.keep = [int64s(shape)]
    result.shape = c.cast(result.keep[0], I64P)
    if strides is not None:
        result.keep.append(int64s(strides))
        result.strides = c.cast(result.keep[1], I64P)
    return result


def options(
    axis=0, batch_dims=0, on_bad=0, negative=0, fill=None, executor=None, bad_count=None, fresh_output=False
) -> Options:
    return Options(c.sizeof(Options), axis, batch_dims, on_bad, negative, fill, executor, bad_count, fresh_output)


def shape_of(*dims) -> Shape:
    """A gather_shape: an int is a known length, a (min, max) pair an interval, None unknown, text a symbol."""
    result = Shape(len(dims))
    for i, dim in enumerate(dims):
        if isinstance(dim, tuple):
            result.dims[i] = Dim(dim[0], UNBOUNDED if dim[1] is None else dim[1], None)
        elif isinstance(dim, str):
            result.dims[i] = Dim(0, UNBOUNDED, dim.encode())
        elif dim is None:
            result.dims[i] = Dim(0, UNBOUNDED, None)
        else:
            result.dims[i] = Dim(dim, dim, None)
    return result


def unknown_rank() -> Shape:
    return Shape(-1)


def dims_of(shape: Shape):
    """The dims as (min, max) pairs, None for an unknown rank."""
    if shape.rank < 0:
        return None
    return [(shape.dims[i].min, shape.dims[i].max) for i in range(shape.rank)]


def symbols_of(shape: Shape):
    return [shape.dims[i].symbol for i in range(shape.rank)]
