# SPDX-License-Identifier: MIT
#
# check_text.py: printable names, and a check of a model as HTML for notebooks. The library makes its text.
"""The result of a check, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from libgather import _core

if TYPE_CHECKING:
    from libgather.check_report import Check, NodeCheck, Operand

# Of the library: the number that means the lines about the whole model, and the indentation of lines below a node's own.
_HEAD, _INDENT = -2, " " * 9
_TITLES = ("verdict", "operator", "axis", "shapes", "node")


def visible(text: str) -> str:
    """Control characters as \\x1b, direction marks as \\u202e: a name in a model cannot change the terminal."""
    return _core._visible(text.replace("\0", "\\x00"))


def shape_text(shape: tuple | None) -> str:
    if shape is None:
        return "[?...]"
    return "[" + ", ".join("?" if length is None else str(length)[:30] for length in shape) + "]"


def operand_text(operand: Operand) -> str:
    text = f"{operand.name} {operand.type or 'of unknown type'} {shape_text(operand.shape)}"
    if operand.source is not None:
        text += f", {operand.source}"
    if operand.min is not None:
        text += f": {operand.count} from {operand.min} to {operand.max}"
        text += "" if operand.bad is None else f", {operand.bad} out of range"
    return text


def _columns(node: NodeCheck) -> tuple[str, str, str]:
    axis = "axis ?" if node.axis is None else f"axis {node.axis}"
    return (
        f"{node.op} {node.rules or 'of an unknown version'}",
        axis + (f" batch {node.batch_dims}" if node.batch_dims else ""),
        f"{shape_text(node.data.shape)} by {shape_text(node.indices.shape)}",
    )


def _more(node: NodeCheck) -> list[str]:
    """The lines below the line of a bad or unknown node."""
    return [line.removeprefix(_INDENT) for line in repr(node).split("\n")[1:]]


def _head(check: Check) -> list[str]:
    """The lines about the whole model."""
    return [line for line in check._text(_HEAD).split("\n") if line]


def _escape(text: str) -> str:
    from html import escape  # imported only for notebooks

    return escape(visible(text))


def _cells(kind: str, texts: Sequence[str]) -> str:
    return "".join(f"<{kind} style='text-align:left'>{_escape(text)}</{kind}>" for text in texts)


def _html_rows(node: NodeCheck) -> str:
    rows = f"<tr>{_cells('td', (node.verdict, *_columns(node), node.path))}</tr>"
    more = "\n".join(map(_escape, _more(node)))
    return rows + (f"<tr><td></td><td colspan='4' style='text-align:left'><pre>{more}</pre></td></tr>" if more else "")


def check_html(check: Check) -> str:
    rows = "".join(map(_html_rows, check))
    table = f"<table><thead><tr>{_cells('th', _TITLES)}</tr></thead><tbody>{rows}</tbody></table>"
    lines = "".join(f"<p>{_escape(line)}</p>" for line in _head(check))
    return f"<div>{lines}{table if len(check) else ''}</div>"
