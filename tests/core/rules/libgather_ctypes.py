# SPDX-License-Identifier: MIT
#
# libgather_ctypes.py: the library by ctypes (support/headers.py), with the tables of tables.py.
"""Calls of the library with tensors, options and shapes made from Python values."""
import ctypes as c
import itertools

from tables import *  # noqa: F401, F403  (users find them here)
from tables import DIM_UNBOUNDED as UNBOUNDED
from tables import ELSEWHERE

from support.headers import STATUSES, library, tensor  # noqa: F401
from support.headers import gather_dim as Dim
from support.headers import gather_dl_managed as DlManaged  # noqa: F401
from support.headers import gather_dl_versioned as DlVersioned  # noqa: F401
from support.headers import gather_error as Error  # noqa: F401
from support.headers import gather_op as Op
from support.headers import gather_options as Options
from support.headers import gather_shape as Shape
from support.headers import gather_tensor as Tensor  # noqa: F401
from support.headers import gather_type_info as TypeInfo

OK = 0
lib = library()


def all_types() -> list[TypeInfo]:
    """Every element type the library knows, by number."""
    found = [lib.gather_type_get(number) for number in range(1, 200)]
    return [pointer.contents for pointer in found if pointer]


def all_ops() -> list[Op]:
    """Every operator version that gather_apply runs with an axis and batch_dims: not those with a function of their own, and not StableHLO's gather."""
    rows = (row.contents for row in itertools.takewhile(bool, map(lib.gather_op_at, itertools.count())))
    return [row for row in rows if row.family not in ELSEWHERE]


def op_label(op: Op) -> str:
    return f"{op.name.decode()}/{op.rules.decode()}"


def options(axis=0, batch_dims=0, on_bad=0, negative=0, fill=None, executor=None, bad_count=None, fresh_output=False) -> Options:
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
