# SPDX-License-Identifier: MIT
#
# explain_picture.py: pictures of a gather, drawn by the library.
"""explain: a picture of which cell comes from where."""

from __future__ import annotations

import operator
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from libgather import _core
from libgather._fill import fill_array
from libgather._integers import integers_of, refuse_masked
from libgather._modes import command_mode, unknown_mode
from libgather.errors import GatherError, GatherFileError, GatherTypeError, refuse
from libgather.model_types import Item, dtype_of, is_of_numpy, to_item

if TYPE_CHECKING:
    from libgather.model import Model


class _Inputs:
    """The files that a picture is drawn from: those of mapped arrays and tables by device and inode, and a model."""

    def __init__(self, values: list[Any], model: Any = None) -> None:
        self._files = {identity for value in values for path in _files_of(value) if (identity := _identity(path))}
        self._model = model

    def reads(self, path: str | os.PathLike) -> bool:
        return _identity(path) in self._files or (self._model is not None and self._model.reads(path))


def _identity(path: Any) -> tuple[int, int] | None:
    """The device and the inode of a file; None if there is none."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return about.st_dev, about.st_ino


def _files_of(value: Any) -> list[Any]:
    """The names under which a value may be mapped or read."""
    if isinstance(value, _core.Table):
        paths = [value.path] if isinstance(value.path, str) else value.path  # FILE or FILE:TENSOR
        return [path[:end] for path in paths for end, c in enumerate(path + ":") if c == ":"]
    found = []
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap) and value.filename is not None:
            found.append(value.filename)
        value = value.base
    return found


class Picture:
    """A drawing of one gather.

    str() is the drawing for a terminal. A notebook shows the SVG.

    svg : str
        The drawing as an SVG picture.
    error : GatherError or None
        The error that the gather raises; an index out of range is drawn too.
    cells : list of dict
        For each output cell that is shown: its coordinates ('out'), the index as given ('index'), whether it is out of
        range ('bad'), and its row and its cell of the data ('row', 'data'; None if there is none).
    complete : bool
        Whether every cell of the output is shown.
    formula : str
        "out[i, j] = data[idx[i], j]"
    """

    def __init__(
        self,
        text: str,
        svg: str,
        cells: list[dict[str, Any]],
        complete: bool,
        formula: str,
        error: GatherError | None,
        inputs: _Inputs | None = None,
    ) -> None:
        self._text, self.svg, self._inputs = text, svg, inputs
        self.cells, self.complete, self.formula, self.error = cells, complete, formula, error

    def __reduce__(self) -> tuple:
        return Picture, (self._text, self.svg, self.cells, self.complete, self.formula, self.error)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike, *, replace: bool = False, sync: bool = True) -> None:
        """Writes the picture atomically: .svg, or .txt for the drawing as text.

        An existing file is an error unless replace=True. A file that the picture was drawn from is never replaced.
        sync=False does not wait until the file is on the disk.
        """
        kind = os.path.splitext(os.fsdecode(path))[1]
        if kind not in (".svg", ".txt"):
            refuse("usage", "a picture is saved under a name that ends in .svg or .txt")
        if self._inputs is not None and self._inputs.reads(path):
            message = f"{os.fsdecode(path)}: is a file of the picture's inputs, which is kept; write to another file"
            raise GatherFileError(message, status="file_exists", code=13, file=os.fsdecode(path))
        content = self.svg if kind == ".svg" else self._text
        try:
            _core._write(path, content.encode(), replace, sync)
        except GatherFileError as error:
            if error.status != "file_exists":
                raise
            message = f"{error}; replace=True replaces it"
            raise GatherFileError(message, status="file_exists", code=13, file=os.fsdecode(path)) from None


# ---- arguments of the extension ---------------------------------------------------------------------------------------


def _columns() -> int:
    """The width of the screen: COLUMNS, that of the terminal, or 80."""
    import shutil

    return max(shutil.get_terminal_size().columns, 1)


def _picture(made: tuple, inputs: _Inputs) -> Picture:
    text, svg, cells, complete, formula, error, node = made
    if error is not None and node:
        error.node = node
    return Picture(text.rstrip("\n"), svg, cells, complete, formula, error, inputs)


def _fill_text(value: Any) -> str:
    """fill_value as the drawing shows it."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value).strip("()") if isinstance(value, complex) else str(value)


def _check_policy(mode: str | None, fill_value: Any) -> None:
    if (mode == "fill") != (fill_value is not None):
        refuse("usage", "fill_value= needs mode='fill', and mode='fill' needs it")
    if mode is not None and command_mode(mode) is None:
        refuse("usage", unknown_mode(mode))


def _check_rules(op: str, rules: str, batch_dims: int) -> None:
    known = {row["rules"]: row for row in _core.ops() if row["name"] == op}
    if rules not in known:
        refuse("usage", f"{op} has no rules {rules!r}; it has {', '.join(known)}")
    if batch_dims and not known[rules]["batch_dims"]:
        operator_name, function = ("GatherND", "gather_nd") if op == "GatherND" else ("Gather", "take")
        having = [row["rules"] for row in _core.ops() if row["name"] == operator_name and row["batch_dims"]]
        refuse("usage", f"{known[rules]['document']} has no batch_dims; {', '.join(having[:-1])} and {having[-1]} have it for {function}")


def _numpy_of(value: Any) -> np.ndarray:
    """Any tensor as a NumPy array; torch's tensors of types that NumPy does not have through their bytes."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return np.asarray(value)
    kind = str(value.dtype).removeprefix("torch.")
    if is_of_numpy(kind):
        return value.detach().numpy()
    flat = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
    return flat.view(dtype_of(kind)).reshape(tuple(value.shape))


def _data_item(x: Any, array: np.ndarray) -> Item:
    item = to_item("data", array, "string" if array.dtype.kind == "O" else None)
    if item[2] is None and array.dtype.hasobject:
        refuse("type_unsupported", f"'data' is {array.dtype}, which cannot be drawn")
    return item


def _index_item(indices: Any) -> Item:
    refuse_masked(indices)
    array = integers_of(indices) if isinstance(indices, list | tuple) else _numpy_of(indices)
    if array.dtype.kind == "V" and "int" in array.dtype.name:
        array = array.astype(np.int64)  # int4, one to a byte
    if array.dtype.kind not in "iu":
        array = integers_of(indices)
    return "indices", array, None, None


def _fill_item(data: Item, dtype: np.dtype, value: Any) -> Item:
    """fill_value as one element of the data."""
    if data[2] == "string":
        return to_item("fill", np.array([str(value) if not isinstance(value, bytes) else value], object), "string")
    try:
        return to_item("fill", fill_array(dtype, value).reshape(1), None)
    except GatherTypeError as error:
        refuse("usage", error.message, "data")


def _type_name(data: Item, dtype: np.dtype) -> str | None:
    """The type as .npy files name it, if the library has no name for it."""
    if data[2] is not None or dtype.kind not in "SUMmV" or dtype.num >= 256:
        return None
    return str(np.lib.format.dtype_to_descr(dtype))


def explain(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    batch_dims: int = 0,
    elements: bool = False,
    nd: bool = False,
    mode: str | None = None,
    negative: bool | None = None,
    fill_value: Any = None,
    rules: str | None = None,
    made_up: bool = False,
) -> Picture:
    """Draws one gather: which cell of the result comes from which cell of x.

    Parameters
    ----------
    x, indices, axis, batch_dims, mode, negative, fill_value, rules :
        As for take(), gather_elements() and gather_nd(). The default rules are ONNX's. For take() with batch_dims they are those of
        OpenVINO's Gather-8, but an index out of range is an error.
    elements : bool
        Draw gather_elements() instead of take().
    nd : bool
        Draw gather_nd() instead of take(); it has no axis.
    made_up : bool
        Only the shape of x is used, and each cell shows its row-major number, as an int64.

    Returns
    -------
    Picture
        str() is the drawing; .svg, .save(path). An index out of range is drawn too; .error is then what the gather raises.
    """
    axis, batch_dims = operator.index(axis), operator.index(batch_dims)
    if elements and nd:
        refuse("usage", "elements and nd are two operators: give one of them")
    if axis and nd:
        refuse("usage", "gather_nd has no axis: a tuple indexes the first axes after batch_dims")
    op = "GatherElements" if elements else "GatherND" if nd else "Gather"
    if batch_dims and rules is None and op == "Gather":
        rules, mode = "openvino-8", mode or "raise"
    rules = rules or "onnx-13"
    _check_policy(mode, fill_value)
    _check_rules(op, rules, batch_dims)
    if made_up:
        dtype = np.dtype(np.int64)
        data: Item = ("data", None, "int64", tuple(np.shape(x)))
    else:
        array = _numpy_of(x)
        dtype, data = array.dtype, _data_item(x, array)
    items = [data, _index_item(indices)]
    fill_text = None
    if mode == "fill":
        items.append(_fill_item(data, dtype, fill_value))
        fill_text = _fill_text(fill_value)
    name = _type_name(data, dtype)
    return _picture(
        _core._explain(items, op, rules, axis, batch_dims, mode, negative, name, fill_text, _columns()),
        _Inputs([x, indices]),
    )


def explain_node(model: Model, node: str | None, inputs: list[tuple[str, Any]], dims: list[tuple[str, int]]) -> Picture:
    """Draws a gather node of a model; Model.explain."""
    items = [to_item(name, value, model.value_type(name, node)) for name, value in inputs]
    name = model.source if isinstance(model.source, str) else "model"
    drawn = model._core.explain(node, items, dims, os.fsencode(name), _columns())
    return _picture(drawn, _Inputs([value for _, value in inputs], model._core))
