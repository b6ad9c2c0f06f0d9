# SPDX-License-Identifier: MIT
#
# check_text.py: a check of a model as text, which reads like that of `gather check`, and as HTML for notebooks.
"""What a check found, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from libgather import _core

if TYPE_CHECKING:
    from libgather.check_report import Check, NodeCheck, Operand

_WIDEST_SHAPES = 44
_TITLES = ("verdict", "operator", "axis", "shapes", "node")


def visible(text: str) -> str:
    """Control characters as \\x1b, direction marks as \\u202e: a name of the model's cannot play with the terminal."""
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
    """What a bad or an unknown node needs to say: two words and a text each, in columns."""
    said = []
    if node.is_bad:
        said += [("data", node.data), ("indices", node.indices), ("output", node.output)]
    lines = [f"{role:<8} {operand_text(operand)}" for role, operand in said]
    if node.reason:
        lines.append(f"{'note' if node.verdict == 'ok' else 'why':<8} {node.reason}")
    if node.missing:
        lines.append(f"{'give':<8} {_give(node)}")
    if not node.type_listed:
        lines.append(f"{'note':<8} {node.rules} does not list these types")
    if node.is_bad:
        lines += [f"{'likely':<12} {node.cause}"] if node.cause else []
        lines += [f"{name:<12} {text}" for name, text in node.runtimes.items()]
    return [visible(line) for line in lines]


def _give(node: NodeCheck) -> str:
    kind, names = node.advice
    if kind == "dims":
        return f"dims={{{names[0]!r}: LENGTH}}"
    given = "inputs={" + ", ".join(f"{name!r}: TENSOR" for name in names) + "}"
    return f"Model.explain({node.path!r}, {given})" if kind == "explain" else given


def node_text(node: NodeCheck, widths: Sequence[int] = (0, 0, 0)) -> str:
    columns = "  ".join(text.ljust(width) for text, width in zip(_columns(node), widths, strict=True))
    head = visible(f"{node.verdict:<8} {columns}  {node.path}")
    return "\n".join([head, *(f"         {line}" for line in _more(node))])


def head_text(check: Check) -> str:
    count = len(check)
    head = f"{check.model.name}: {check.model.format}, "
    if count == 0:
        head += "no gather nodes"
    else:
        head += f"{count} gather {'node' if count == 1 else 'nodes'}: "
        skipped = sum(not node.executed for node in check)
        head += f"{check.ok} ok, {check.unknown} unknown{f' ({skipped} not executed)' if skipped else ''}, {check.bad} bad"
    others = [f"{number} {op} {'node' if number == 1 else 'nodes'}" for op, number in check.not_checked.items()]
    if others:
        words = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        head += f"; {words} {'is' if sum(check.not_checked.values()) == 1 else 'are'} not looked at"
    return visible(head)


def _unreadable(check: Check) -> list[str]:
    why = list(check.unreadable.values())
    count = f"{len(why)} {'tensor' if len(why) == 1 else 'tensors'}"
    return [visible(f"{count} cannot be read: {why[0]}")] if why else []


def check_text(check: Check) -> str:
    rows = [_columns(node) for node in check] or [("", "", "")]
    widths = [max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)]
    widths.append(max((len(row[2]) for row in rows if len(row[2]) <= _WIDEST_SHAPES), default=0))
    return "\n".join([head_text(check), *_unreadable(check), *(node_text(node, widths) for node in check)])


def _escape(text: str) -> str:
    from html import escape  # imported only where a notebook asks

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
    lines = "".join(f"<p>{_escape(line)}</p>" for line in (head_text(check), *_unreadable(check)))
    return f"<div>{lines}{table if len(check) else ''}</div>"
