# SPDX-License-Identifier: MIT
#
# table_array.py: how a table behaves where NumPy, dask, xarray and PyTorch's loaders expect an array. Functions that need some of the
# rows read those; functions that need none read nothing; every other function is refused, since it would read the whole file.
"""Tables as arrays."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from libgather import _core
from libgather._fallback import EXPORTED, export
from libgather._integers import integers_of
from libgather.errors import refuse
from libgather.remote import is_url

_FUNCTIONS: dict[Any, Callable] = {}
# Functions of which a table needs only its shape and its dtype.
_OF_SHAPES = {
    *(np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.common_type),
    *(np.empty_like, np.zeros_like, np.ones_like, np.full_like),
}


def _bytes_of_memory() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _says(name: str, table: TableArray) -> TypeError:
    return TypeError(
        f"{name} is not supported for a table in a file, of which it would read all {table.nbytes} bytes: table[ids] reads rows as an "
        "array, np.asarray(table) all of them"
    )


class TableArray:
    """A table as an array: a part of libgather.Table."""

    shape: tuple[int, ...]
    dtype: np.dtype
    ndim: int
    size: int
    nbytes: int
    take: Any
    gather_nd: Any
    parts: Any
    _arguments: dict[str, Any]

    def __getitem__(self, key: Any, /) -> Any:
        raise NotImplementedError  # the extension has it

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """All rows; an error if they exceed the memory limit or, without one, the machine's memory. table[...] reads them anyway."""
        from libgather.table import memory_of

        if copy is False:
            raise ValueError("a table in a file cannot become an array without a copy")
        given = self._arguments["memory"]
        limit, what = (_bytes_of_memory(), "this machine's memory") if given is None else (memory_of(given), f"its memory={given!r}")
        if self.nbytes > limit:
            refuse("out_of_memory", f"the table has {self.nbytes} bytes, more than {what}: table[...] reads all of it")
        rows = self[...]
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def __dlpack__(self, *, copy: bool | None = None, **wanted: Any) -> Any:
        """All rows, within the limits of __array__: for torch.as_tensor(table), which would otherwise read row by row."""
        if copy is False:
            raise BufferError("a table in a file cannot become a tensor without a copy")
        return export(np.asarray(self), self.type, wanted)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    def __array_function__(self, function: Callable, types: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """NumPy's functions: np.take(table, ids) and the like, which read what they need. A TypeError for all others."""
        if function in _OF_SHAPES:
            stand_in = [_without_elements(part) for part in args]
            return function(*stand_in, **{name: _without_elements(part) for name, part in kwargs.items()})
        if function in _FUNCTIONS:
            return _FUNCTIONS[function](*args, **kwargs)
        raise _says(f"{getattr(function, '__module__', None) or 'numpy'}.{getattr(function, '__name__', function)}", self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Arithmetic and comparisons: a TypeError."""
        raise _says(f"numpy.{ufunc.__name__}", self)

    def __contains__(self, value: Any) -> bool:
        raise _says("the operator in", self)

    def __getitems__(self, ids: Sequence[int]) -> list[Any]:
        """One row per id, all read in one take, for a torch.utils.data.DataLoader with the table as its dataset.

        Rows of a type that NumPy does not have (bfloat16) are tensors, which PyTorch collates.
        """
        rows = self.take(np.asarray(ids, dtype=np.int64) if len(ids) == 0 else ids)
        if self.type in EXPORTED and "torch" in sys.modules:
            from libgather.torch.dataset import tensor_of

            return list(tensor_of(rows, self))
        return list(rows)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """For dask's name of the table: its arguments, and the size and time of its files. Two tables of one URL never compare equal."""
        if any(is_url(part.path) for part in self.parts):
            files: Any = getattr(self, "_token", None) or uuid.uuid4().hex
            self._token = files
        else:
            found = [os.stat(part.path) for part in self.parts]
            files = [(file.st_size, file.st_mtime_ns) for file in found]
        return (type(self).__qualname__, repr(sorted(self._arguments.items())), files)

    def _flat(self, ids: np.ndarray, mode: str, out: Any) -> Any:
        """Elements by their numbers in the flattened table."""
        stand_in = np.broadcast_to(np.zeros((), np.uint8), (self.size,))
        _core.take(stand_in, ids, axis=0, mode=mode, negative=mode != "clip")  # the error, if there is one
        if mode == "clip":
            ids = np.where(ids < 0, 0, np.minimum(ids, np.asarray(self.size - 1).astype(ids.dtype) if _fits(self.size - 1, ids) else ids))
        flat = (ids % self.size if mode == "wrap" and _fits(self.size, ids) else ids).astype(np.int64)
        flat = flat % self.size if self.size else flat
        return self.gather_nd(np.stack(np.unravel_index(flat, self.shape), axis=-1), out=out)


def _fits(number: int, ids: np.ndarray) -> bool:
    return number <= np.iinfo(ids.dtype).max


def _without_elements(part: Any) -> Any:
    """An array of the shape and dtype of a table, in one element of memory."""
    return np.broadcast_to(np.zeros((), part.dtype), part.shape) if isinstance(part, TableArray) else part


# ---- NumPy's functions -----------------------------------------------------------------------------------------------


def _implements(function: Callable) -> Callable:
    def keep(implementation: Callable) -> Callable:
        _FUNCTIONS[function] = implementation
        return implementation

    return keep


def _table_of(name: str, a: Any, *others: Any) -> Any:
    """The table that a function is called on. A TypeError if it is another argument."""
    for other in (*others, *(() if isinstance(a, TableArray) else (a,))):
        if isinstance(other, TableArray):
            raise _says(f"this argument of numpy.{name}", other)
    if not isinstance(a, TableArray):
        raise TypeError(f"numpy.{name} takes a table in a file only as its first argument")
    return a


def _ids_of(ids: Any) -> np.ndarray:
    found = np.asarray(ids)
    return found.astype(np.intp) if found.size == 0 and isinstance(ids, list | tuple) else found


@_implements(np.take)
def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """NumPy's meaning: axis=None flattens the table, and mode='clip' takes the first row for negative indices."""
    table, ids = _table_of("take", a, indices, out), _ids_of(indices)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"np.take's mode must be 'raise', 'wrap' or 'clip', not {mode!r}; table.take() has more")
    if ids.dtype.kind not in "iu":
        ids = integers_of(indices)
    if axis is None and table.ndim > 1:
        return table._flat(ids, mode, out)
    return table.take(ids, axis=0 if axis is None else axis, out=out, mode=mode, negative=mode != "clip")


@_implements(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Along axis 0, and axis=None, which flattens: other axes would read every row."""
    table, ids = _table_of("take_along_axis", arr, indices), _ids_of(indices)
    if ids.dtype.kind not in "iu":
        raise IndexError(f"`indices` must be an integer array, not {ids.dtype}")
    if axis is None:
        if ids.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension")
        return table._flat(ids, "raise", None)
    number = axis.__index__()
    if not -table.ndim <= number < table.ndim:
        refuse("axis_out_of_range", f"axis {number} is outside [{-table.ndim}, {table.ndim - 1}]", "axis")
    if ids.ndim != table.ndim:
        raise ValueError("`indices` and the table must have the same number of dimensions")
    if number % table.ndim != 0:
        refuse("unsupported", f"axis {number} of a table in a file: rows are along axis 0 only, and take_along_axis would read all of them", "axis")
    columns = [np.arange(n).reshape([-1 if d == e else 1 for e in range(table.ndim)]) for d, n in enumerate(table.shape) if d > 0]
    return table[(ids, *columns)]


@_implements(np.compress)
def _compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """The rows for which the condition is true; it may be shorter than the table."""
    table, wanted = _table_of("compress", a, condition, out), np.asarray(condition)
    if wanted.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return _take(table, np.flatnonzero(wanted), axis, out)


@_implements(np.may_share_memory)
@_implements(np.shares_memory)
def _shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return False


@_implements(np.array_repr)
@_implements(np.array_str)
def _repr(arr: Any, *args: Any, **kwargs: Any) -> str:
    return repr(arr)
