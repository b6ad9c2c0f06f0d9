# SPDX-License-Identifier: MIT
#
# _fallback.py: what the extension leaves to NumPy: elements that are more than their bytes, masks, and results for libraries that take
# tensors only through from_dlpack; dtypes of tables in files; gradients. Fill values are in _fill.py.
"""Gathers of Python objects, strings of variable size, masked arrays and tables; DLPack results."""
from __future__ import annotations

import ast
import sys
from typing import Any

import numpy as np

from libgather import _core
from libgather._fill import fill_array, fill_tensor
from libgather._integers import integers_of, is_masked, read_integers
from libgather._modes import refuse_mode
from libgather.errors import GatherTypeError, refuse
from libgather.model_types import dtype_of, is_packed, unpack


__all__ = ["detached", "fill_array", "fill_tensor", "gather_elements", "gather_nd", "hand_over", "index", "join_ids", "read_integers", "records_gradients", "refuse_mode", "table_dtype",
           "take", "take_along_axis", "unpack_rows", "write_out"]  # what the extension uses


_SCATTER_OPTIONS = ("axis", "reduction", "rules", "mode", "negative", "out", "threads", "accumulate", "unique", "use_init_val")


def _policy(name: str, options: dict) -> str:
    """The default mode of rules=; raise without rules."""
    op = {"take": "Gather", "gather_nd": "GatherND"}.get(name, "GatherElements")
    return next((row["mode"] for row in _core.ops() if (row["name"], row["rules"]) == (op, options.get("rules"))), "raise")


def _by_position(name: str, x: np.ndarray, indices: Any, options: dict) -> Any:
    """The engine computes the source of each element. NumPy copies the elements, since it knows what they own."""
    out, mode, fill_value = options.pop("out", None), options.pop("mode", None), options.pop("fill_value", None)
    mode = mode or _policy(name, options)
    if (mode == "fill") != (fill_value is not None):
        raise ValueError("mode='fill' needs fill_value" if mode == "fill" else "fill_value needs mode='fill'")
    if mode == "zero":
        fill_value = np.zeros((), x.dtype)[()]
    if mode in ("zero", "fill"):
        options.update(mode="fill", fill_value=-1)
    else:
        options.update(mode=mode)
    positions = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    found = getattr(_core, name)(positions, indices, **options)
    where = np.asarray(found)
    flat = x.reshape(-1)[np.where(where < 0, 0, where).reshape(-1)] if x.size else np.empty(where.size, x.dtype)
    result = flat.reshape(where.shape)
    if (where < 0).any():
        result[where < 0] = fill_value
    if out is None:
        return result if isinstance(found, np.ndarray) else result[()]
    write_out(out, result, x)
    return out


def write_out(out: Any, result: np.ndarray, x: np.ndarray) -> None:
    if not isinstance(out, np.ndarray):
        refuse("type_unsupported", f"out must be an array, not {type(out).__name__}", "output")
    if not out.flags.writeable:
        refuse("usage", "out is read-only", "output")
    if out.dtype != result.dtype:
        refuse("type_mismatch", "out has a different dtype than the data: elements are never converted", "output")
    if out.shape != result.shape:
        refuse("shape_mismatch", f"out has the shape {out.shape}, not {result.shape}", "output")
    if np.may_share_memory(out, x):
        refuse("usage", "the output overlaps data in memory", "output")
    out[...] = result


def scatter_objects(name: str, x: Any, indices: Any, updates: Any, options: dict[str, Any]) -> Any:
    """The engine computes the place of each element. NumPy copies the elements. name: a function of _core._scatter."""
    out = options["out"]
    options = {**options, "out": None}
    if isinstance(x, _core.Table):
        refuse("unsupported", "tables in files are not written", "data")
    if options["reduction"] not in (None, "none"):
        refuse("type_unsupported", "objects, strings and masked arrays can only be replaced: reduction must be 'none'", "data")
    x = np.asanyarray(x)
    updates = np.asanyarray(updates)
    masked = is_masked(x)
    if updates.dtype != x.dtype or (is_masked(updates) and not masked):
        refuse("type_mismatch", "updates have a different dtype than the data, or a mask: elements are never converted", "updates")
    positions = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    numbers = np.arange(x.size, x.size + updates.size, dtype=np.int64).reshape(updates.shape)
    found = _core._scatter(name, positions, indices, numbers, *(options[key] for key in _SCATTER_OPTIONS))
    join = np.ma.concatenate if masked else np.concatenate
    result = join([x.reshape(-1), updates.reshape(-1)])[found.reshape(-1)].reshape(x.shape)
    if out is None:
        return result
    if masked:
        refuse("type_unsupported", "out= is not supported with a masked array", "output")
    if out is x and x.flags.writeable:
        x[...] = result
    else:
        write_out(out, result, x)
    return out


def _masked(name: str, x: Any, indices: Any, options: dict) -> Any:
    """Data and mask, each gathered. A filled element is not masked."""
    if options.get("out") is not None:
        refuse("type_unsupported", "out= is not supported with a masked array", "output")
    function = getattr(_core, name)
    found = function(x.data, indices, **options)
    data = np.asarray(found)
    mask = np.ma.nomask
    if x.mask is not np.ma.nomask:
        if options.get("mode") == "fill":
            options = {**options, "fill_value": False if x.dtype.names is None else np.zeros((), x.mask.dtype)[()]}
        mask = function(np.ma.getmaskarray(x), indices, **options)
    result = np.ma.MaskedArray(data, mask=mask)
    if getattr(x, "_fill_value", None) is not None:  # reading the default would compute it, with warnings
        result.fill_value = x.fill_value
    return result if isinstance(found, np.ndarray) else result[()]


def _refuse_rules(options: dict) -> None:
    if options.pop("batch_dims", 0) or options.pop("rules", None) is not None:
        refuse("unsupported", "batch_dims and rules are not supported with a table in a file", "data")


def _take_rows(table: _core.Table, indices: Any, options: dict) -> Any:
    """Rows of a table in a file: only take(), without rules=."""
    _refuse_rules(options)
    if table.ndim > 1 and options.get("axis") is None:
        raise TypeError("take() needs axis= if x has more than one dimension")
    return table.take(indices, **options)


def _one_type(ids: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays of one integer type: int64 if NumPy would choose float64. Values that do not fit it are out of range, too."""
    if np.result_type(*ids).kind in "iu" or any(array.dtype.kind not in "iu" for array in ids):
        return ids
    most = np.iinfo(np.int64).max
    return [np.minimum(array, most).astype(np.int64) if array.dtype.kind == "u" else array for array in ids]


def join_ids(ids: tuple) -> np.ndarray:
    """Arrays of ids, one for each dimension, as one array of tuples: its last dimension has the numbers of a tuple."""
    arrays = []
    for number, part in enumerate(ids):
        try:
            arrays.append(integers_of(part))
        except GatherTypeError as error:
            refuse("type_unsupported", f"{error.message} (item {number} of the tuple)", "indices")
    try:
        return np.stack(np.broadcast_arrays(*_one_type(arrays)), axis=-1)
    except ValueError as error:
        refuse("shape_mismatch", f"the arrays of ids do not broadcast: {error}", "indices")


def _call(name: str, x: Any, indices: Any, options: dict) -> Any:
    if isinstance(x, _core.Table):
        text = "index() without keywords is table[key]" if name == "index" else "only take() and gather_nd() are supported"
        refuse("unsupported", f"{name} of a table in a file: {text}", "data")
    if is_masked(x):
        return _masked(name, x, indices, options)
    array = np.asarray(x)
    if name == "take_along_axis" and options.get("axis", -1) is None:
        array, options["axis"] = array.reshape(-1), 0
    return _by_position(name, array, indices, options)


def take(x: Any, indices: Any, /, **options: Any) -> Any:
    if isinstance(x, _core.Table):
        return _take_rows(x, indices, options)
    return _call("take", x, indices, options)


def take_along_axis(x: Any, indices: Any, /, **options: Any) -> Any:
    return _call("take_along_axis", x, indices, options)


def gather_elements(x: Any, indices: Any, /, **options: Any) -> Any:
    return _call("gather_elements", x, indices, options)


def gather_nd(x: Any, indices: Any, /, **options: Any) -> Any:
    if isinstance(x, _core.Table):
        _refuse_rules(options)
        return x.gather_nd(indices, **options)
    return _call("gather_nd", x, indices, options)


def index(x: Any, key: Any, /, **options: Any) -> Any:
    if isinstance(x, _core.Table) and not options:
        return x[key]
    return _call("index", x, key, options)


# ---- tables in files ---------------------------------------------------------------------------------------------------


def table_dtype(name: str, descr: str | None, item_bytes: int, swapped: bool) -> np.dtype:
    """The dtype of a table's elements. Types without a NumPy dtype are bytes: quantised blocks, and ml_dtypes' types without it."""
    if descr is not None:
        return np.lib.format.descr_to_dtype(ast.literal_eval(descr))
    dtype = np.dtype((np.void, item_bytes))
    if name in _core.types() and name != "opaque":
        try:
            dtype = dtype_of(name, "the table")
        except GatherTypeError:
            if is_packed(name):
                raise
    return dtype.newbyteorder() if swapped else dtype


def unpack_rows(packed: np.ndarray, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Rows of elements smaller than a byte, one to a byte."""
    return unpack(packed.reshape(-1), name, shape, "the table")[()]


# ---- gradients -------------------------------------------------------------------------------------------------------


def records_gradients(x: Any) -> bool:
    """Whether a result of x, which requires a gradient, would have one."""
    torch = sys.modules.get("torch")
    return torch is None or not isinstance(x, torch.Tensor) or torch.is_grad_enabled()


def detached(x: Any) -> Any:
    """x without its gradient, if none is recorded; else None."""
    wanted = getattr(x, "requires_grad", False) is True and not records_gradients(x)
    return x.detach() if wanted else None


# ---- results for other libraries ---------------------------------------------------------------------------------------


class _Exported:
    """Our memory, for another library to take over through from_dlpack."""

    def __init__(self, array: np.ndarray, shape: tuple[int, ...], code: int, bits: int, lanes: int) -> None:
        self._arguments = (array, shape, code, bits, lanes)

    def __dlpack__(self, **_: Any) -> Any:
        return _core._capsule(*self._arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


# Types that NumPy's own __dlpack__ refuses, with DLPack's code: kDLBfloat and kDLFloat8_... of dlpack.h 1.1.
EXPORTED = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14}


def export(array: np.ndarray, name: str, wanted: dict[str, Any]) -> Any:
    """A capsule with elements of the type `name`, which nothing else refers to."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if name not in EXPORTED:
        return array.__dlpack__(**wanted)
    array = np.ascontiguousarray(array).reshape(array.shape)
    return _Exported(array, array.shape, EXPORTED[name], 8 * array.itemsize, 1).__dlpack__()


def _importer(x: Any) -> Any:
    """The from_dlpack of x's library; None if none is found."""
    namespace = getattr(x, "__array_namespace__", None)
    if namespace is not None:
        return getattr(namespace(), "from_dlpack", None)
    module = sys.modules.get(type(x).__module__.partition(".")[0])
    return getattr(module, "from_dlpack", None)


def hand_over(x: Any, array: np.ndarray, shape: tuple[int, ...], code: int, bits: int, lanes: int) -> Any:
    """The result as a tensor of x's library, or as a NumPy array if the library cannot take it."""
    importer = _importer(x)
    exported = _Exported(array, shape, code, bits, lanes)
    if importer is not None:
        return importer(exported)
    try:
        return np.from_dlpack(exported)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        message = f"{type(x).__name__} has no from_dlpack for a result, and NumPy has no such dtype ({error}): pass out="
        refuse("type_unsupported", message, "data")
