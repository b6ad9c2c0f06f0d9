# SPDX-License-Identifier: MIT
#
# explain_picture.py: pictures of a gather, drawn by the bundled command from files in a temporary folder.
"""explain: a picture of which cell comes from where."""

from __future__ import annotations

import operator
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from libgather import _core
from libgather._modes import command_mode, unknown_mode
from libgather.check_text import visible
from libgather.errors import GatherError, GatherFileError, make, refuse
from libgather.explain_files import numpy_of, write_tensor
from libgather.model_types import to_item

if TYPE_CHECKING:
    from libgather.model import Model


class Picture:
    """A drawing of one gather.

    str() is the drawing for a terminal; a notebook shows the SVG.

    svg : str
        The drawing as an SVG picture.
    error : GatherError or None
        What the gather raises: a bad index is drawn all the same.
    cells : list of dict
        Every cell of the output that is shown: its coordinates ('out'), the index as it is written ('index'), whether
        that is out of range ('bad'), and the row and the cell of the data that it comes from ('row', 'data'; None
        where it comes from none).
    complete : bool
        Whether every cell of the output is shown.
    formula : str
        "out[i, j] = data[idx[i], j]"
    """

    def __init__(self, text: str, svg: str, answer: dict[str, Any]) -> None:
        self._text, self.svg = text, svg
        self.cells: list[dict[str, Any]] = answer["cells"]
        self.complete: bool = answer["complete"]
        self.formula: str = answer["formula"]
        self.error = _exception(answer["error"]) if "error" in answer else None

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike, *, replace: bool = False, sync: bool = True) -> None:
        """Writes the picture atomically: .svg, or .txt for the drawing as text. A file that exists is kept unless
        replace says otherwise. sync=False does not wait until the disk has it.
        """
        kind = os.path.splitext(os.fsdecode(path))[1]
        if kind not in (".svg", ".txt"):
            refuse("usage", f"a picture is saved as .svg or .txt, not as {os.fsdecode(path)!r}")
        content = self.svg if kind == ".svg" else self._text
        try:
            _core._write(path, content.encode(), replace, sync)
        except GatherFileError as error:
            if error.status != "file_exists":
                raise
            message = f"{error}; replace=True replaces it"
            raise GatherFileError(message, status="file_exists", code=13, file=os.fsdecode(path)) from None


# ---- the command -----------------------------------------------------------------------------------------------------


def _for_python(message: str) -> str:
    """The command's advice names its options; here they are arguments."""
    message = re.sub(r"--input (\S+)=TENSOR", r"inputs={'\1': TENSOR}", message)
    message = re.sub(r"--dim (\S+)=LENGTH", r"dims={'\1': LENGTH}", message)
    return re.sub(r"(?<!\S)--batch-dims\b", "batch_dims", message)


def _exception(fields: dict[str, Any]) -> GatherError:
    """The exception for the error in the command's JSON."""
    index = None
    if "position" in fields:
        names = ("value", "low", "high", "axis", "bad_count")
        index = (tuple(fields["position"]), *(fields[name] for name in names))
    op, rules, wrong, file = (fields.get(name) for name in ("op", "rules", "input", "file"))
    message, offset = _for_python(fields["message"]), fields.get("offset", -1)
    error = make(fields["status"], fields["code"], message, op, rules, wrong, index, file, offset)
    if "node" in fields:
        error.node = fields["node"]
    return error


def _call(folder: str, arguments: list[str]) -> tuple[int, bytes, bytes]:
    import shutil
    import subprocess

    from libgather.command import path

    environment = {**os.environ, "COLUMNS": str(shutil.get_terminal_size().columns)}
    done = subprocess.run(
        [path(), "explain", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _draw(folder: str, arguments: list[str]) -> Picture:
    import json

    code, stdout, stderr = _call(folder, [*arguments, "--json", "--output", "picture.svg"])
    try:
        answer = json.loads(stdout)
    except ValueError:
        said = visible(stderr.decode(errors="replace").strip())
        raise GatherError(f"the command gather ended with {code} and said no JSON: {said}") from None
    if "cells" not in answer:
        raise _exception(answer["error"])
    _, text, _ = _call(folder, arguments)
    with open(os.path.join(folder, "picture.svg"), encoding="utf-8") as file:
        return Picture(text.decode(errors="replace").rstrip("\n"), file.read(), answer)


def _folder() -> Any:
    import tempfile

    return tempfile.TemporaryDirectory(prefix="libgather-")


def _fill_text(value: Any) -> str:
    """fill_value as --on-bad fill= takes it."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value).strip("()") if isinstance(value, complex) else str(value)


def _policy(mode: str | None, negative: bool | None, fill_value: Any, rules: str | None) -> list[str]:
    if (mode == "fill") != (fill_value is not None):
        refuse("usage", "fill_value= goes with mode='fill', and only with it")
    on_bad = None if mode is None else command_mode(mode)
    if mode is not None and on_bad is None:
        refuse("usage", unknown_mode(mode))
    arguments = [] if mode is None else [f"--on-bad={on_bad}"]
    if mode == "fill":
        arguments = [f"--on-bad=fill={_fill_text(fill_value)}"]
    if negative is not None:
        arguments.append(f"--negative={'on' if negative else 'off'}")
    return arguments + ([] if rules is None else [f"--rules={rules}"])


def explain(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    batch_dims: int = 0,
    elements: bool = False,
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
        As for take() and gather_elements(). Without rules those of ONNX hold, and with batch_dims those of OpenVINO's
        Gather-8 with bad indices as an error.
    elements : bool
        Draw gather_elements() in place of take().
    made_up : bool
        Only the shape of x is used, and each cell shows its number, counted row by row, as an int64: for an x of more
        than 256 MiB, which is not handed over to be drawn.

    Returns
    -------
    Picture
        str() is the drawing; .svg, .save(path). A bad index is drawn too, and .error is then what the gather raises.
    """
    if batch_dims and rules is None and not elements:
        rules, mode = "openvino-8", mode or "raise"
    arguments = _policy(mode, negative, fill_value, rules)
    arguments += [f"--axis={operator.index(axis)}", f"--batch-dims={operator.index(batch_dims)}"] + [
        "--elements"
    ] * bool(elements)
    with _folder() as folder:
        if made_up:
            shape = np.shape(x)
            arguments.append("--data=" + "x".join(map(str, shape)))
        else:
            arguments.append(write_tensor(folder, "data", _data_item(x), "made_up=True draws it by its shape alone"))
        arguments.append(write_tensor(folder, "indices", _index_item(indices), "draw a part of them"))
        return _draw(folder, arguments)


def _data_item(x: Any) -> tuple:
    array = numpy_of(x)
    return to_item("data", array, "string" if array.dtype.kind == "O" else None)


def _index_item(indices: Any) -> tuple:
    array = numpy_of(indices)
    if array.dtype == np.float64 and array.size == 0:
        array = array.astype(np.int64)  # an empty list has no type of its own
    if array.dtype.kind == "V" and "int" in array.dtype.name:
        array = array.astype(np.int64)  # int4, one to a byte
    if array.dtype.kind not in "iu":
        refuse("type_unsupported", f"indices must be integers, not {array.dtype}", "indices")
    return "indices", array, None, None


def explain_node(model: Model, node: str | None, inputs: list[tuple[str, Any]], dims: list[tuple[str, int]]) -> Picture:
    """Draws a gather node of a model; Model.explain."""
    with _folder() as folder:
        source = model.source
        if isinstance(source, bytes):
            with open(os.path.join(folder, "model"), "wb") as file:
                file.write(source)
            source = "model"
        arguments = [source] if node is None else [source, f"--node={node}"]
        if not model._links:
            arguments.append("--no-links")
        for number, (name, value) in enumerate(inputs):
            if not name or "=" in name:
                refuse("usage", f"the name {name!r} cannot be handed to the command, which takes NAME=FILE")
            item = to_item(name, value, model.value_type(name, node))
            file_name = write_tensor(folder, f"input_{number}", item, f"pass a part of '{name}'")
            arguments.append(f"--input={name}={file_name}")
        if any(not name or "=" in name for name, _ in dims):
            refuse("usage", "the name of a dimension cannot be handed to the command, which takes NAME=LENGTH")
        arguments += [f"--dim={name}={operator.index(length)}" for name, length in dims]
        return _draw(folder, arguments)
