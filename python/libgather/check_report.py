# SPDX-License-Identifier: MIT
#
# check_report.py: what a check of a model found, for programs and as text.
"""Check and NodeCheck: what libgather.check found."""
from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from libgather.errors import FIELDS, GatherError

if TYPE_CHECKING:
    from libgather.explain_picture import Picture
    from libgather.model import Model

# Advice asks the model again: not for very many nodes, nor in very large models.
_MOST_ASKED, _MOST_NODES = 64, 2000


class Operand:
    """One operand of a node.

    name : str
    type : str or None
        None = not known.
    shape : tuple of int, str and None; or None
        A length, its name, or None where nothing is known of it. None = the rank is not known.
    source : str or None
        Where its value comes from: 'initializer', 'constant', 'input', 'computed', 'none'; None for the output.
    min, max, count, bad : int or None
        Of indices that are known: the smallest and the largest, how many there are, and how many are out of range.
    """

    __slots__ = ("bad", "count", "max", "min", "name", "shape", "source", "type")

    def __init__(self, fields: dict[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, fields.get(name))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type or 'of unknown type'} {shape_text(self.shape)}>"

    def as_dict(self) -> dict[str, Any]:
        """The fields that stand, as `gather check --json` has them."""
        shape = None if self.shape is None else [-1 if length is None else length for length in self.shape]
        fields: dict[str, Any] = {"name": self.name, "type": self.type, "shape": shape}
        for name in ("source", "min", "max", "count", "bad"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        return fields


class NodeCheck:
    """One gather node.

    name, op, domain, graph, number : str, str, str, str, int
        Its name ('' where it has none), operator, domain, the path of its graph, and its number among the graph's nodes.
    rules : str or None
        The operator's version ('onnx-13'); None where it is none that is known.
    axis, batch_dims : int or None, int
        The axis counted from 0 where the rank is known; None where it is known only when the model runs.
    data, indices, output : Operand
    type_listed : bool
        Whether the operator's version lists these types.
    verdict : str
        'ok', 'bad' or 'unknown'.
    reason : str
        Why, in one sentence; '' where nothing needs to be said.
    cause : str
        The likely cause of bad indices; ''.
    error : GatherError or None
        What a run would raise, of a bad node.
    runtimes : dict of str to str
        What each runtime does with a node that is bad, or has indices out of range that its rules repair; else empty.
    """

    __slots__ = (
        "_check", "_give", "_rank", "axis", "batch_dims", "cause", "data", "domain", "error", "graph", "indices", "name", "number", "op",
        "output", "reason", "rules", "runtimes", "type_listed", "verdict",
    )  # fmt: skip

    def __init__(self, check: Check, fields: dict[str, Any], rank: int | None) -> None:
        for name in ("name", "op", "domain", "graph", "number", "rules", "axis", "batch_dims", "type_listed", "verdict", "reason", "cause"):
            setattr(self, name, fields[name])
        self.data, self.indices, self.output = (Operand(fields[role]) for role in ("data", "indices", "output"))
        self.error: GatherError | None = fields.get("error")
        self.runtimes: dict[str, str] = fields.get("runtimes", {})
        self._check, self._rank = check, rank
        self._give: tuple[str, list[str]] | None = None

    @property
    def path(self) -> str:
        """The path of its graph, a slash, and its name, or operator and number where it has none: what node= takes."""
        return f"{self.graph}/{self.name or f'{self.op}_{self.number}'}"

    @property
    def bad(self) -> bool:
        """Whether it has an index out of range, also one that its rules repair, or operands that cannot be legal."""
        return self.verdict == "bad" or bool(self.indices.bad)

    def _advice(self) -> tuple[str, list[str]]:
        """What would make an unknown node known: ('inputs', 'dims', 'explain' or '', names)."""
        if self._give is None:
            wanted = self.verdict == "unknown" and self.rules is not None and self._rank is not None and self._rank < _MOST_ASKED
            self._give = self._check._advise(self) if wanted else ("", [])
        return self._give

    @property
    def missing(self) -> tuple[str, ...]:
        """The inputs, dimensions or values that, given, would make an unknown node known."""
        return tuple(self._advice()[1])

    @property
    def give(self) -> str | None:
        """The same for the command line of `gather check`; None where nothing can be given."""
        kind, names = self._advice()
        if not names:
            return None
        if kind == "dims":
            return f"--dim {names[0]}=LENGTH"
        before = f"gather explain MODEL --node {self.path} " if kind == "explain" else ""
        return before + " ".join(f"--input {name}=TENSOR" for name in names)

    def explain(self) -> Picture:
        """Draws it, with what the check was given."""
        return self._check.model.explain(self.path, self._check.inputs, self._check.dims)

    def as_dict(self) -> dict[str, Any]:
        """The fields as `gather check --json` has them."""
        names = ("name", "op", "domain", "rules", "graph", "number", "axis", "batch_dims")
        fields: dict[str, Any] = {name: getattr(self, name) for name in names}
        for role in ("data", "indices", "output"):
            fields[role] = getattr(self, role).as_dict()
        fields.update(type_listed=self.type_listed, verdict=self.verdict)
        if self.reason:
            fields["reason"] = self.reason
        if self.give:
            fields["give"] = self.give
        if self.error is not None:
            fields["error"] = error_dict(self.error)
        if self.runtimes:
            fields["runtimes"] = dict(self.runtimes)
        if self.cause:
            fields["cause"] = self.cause
        return fields

    def __repr__(self) -> str:
        return "\n".join(self._lines([0, 0, 0]))

    def _columns(self) -> tuple[str, str, str]:
        axis = "axis ?" if self.axis is None else f"axis {self.axis}"
        return (
            f"{self.op} {self.rules or 'of an unknown version'}",
            axis + (f" batch {self.batch_dims}" if self.batch_dims else ""),
            f"{shape_text(self.data.shape)} by {shape_text(self.indices.shape)}",
        )

    def _lines(self, widths: Sequence[int]) -> list[str]:
        columns = "  ".join(text.ljust(width) for text, width in zip(self._columns(), widths, strict=True))
        lines = [f"{self.verdict:<8} {columns}  {self.path}"]
        if self.bad:
            lines += [_word(role, self._operand_text(role)) for role in ("data", "indices", "output")]
        if self.reason:
            lines.append(_word("note" if self.verdict == "ok" else "why", self.reason))
        if self.missing:
            lines.append(_word("give", self._give_text()))
        if not self.type_listed:
            lines.append(_word("note", f"{self.rules} does not list these types"))
        if self.bad:
            lines += [f"         {'likely':<12} {visible(self.cause)}"] if self.cause else []
            lines += [f"         {name:<12} {visible(text)}" for name, text in self.runtimes.items()]
        return [visible(line) for line in lines]

    def _give_text(self) -> str:
        kind, names = self._advice()
        if kind == "dims":
            return f"dims={{{names[0]!r}: LENGTH}}"
        given = "inputs={" + ", ".join(f"{name!r}: TENSOR" for name in names) + "}"
        return f"Model.explain({self.path!r}, {given})" if kind == "explain" else given

    def _operand_text(self, role: str) -> str:
        operand = getattr(self, role)
        text = f"{operand.name} {operand.type or 'of unknown type'} {shape_text(operand.shape)}"
        if operand.source is not None:
            text += f", {operand.source}"
        if operand.min is not None:
            text += f": {operand.count} from {operand.min} to {operand.max}"
            text += "" if operand.bad is None else f", {operand.bad} out of range"
        return text


class Check(Sequence[NodeCheck]):
    """What a check of a model found: one NodeCheck for each gather node, in the file's order.

    ok, bad, unknown : int
        How many nodes have that verdict.
    not_checked : dict of str to int
        Other operators that take indices, which no check looks at, and how many nodes of them there are.
    model, inputs, dims :
        What was checked, and with what.
    """

    def __init__(self, model: Model, nodes: list[dict[str, Any]], inputs: dict[str, Any], dims: dict[str, int]) -> None:
        self.model, self.inputs, self.dims = model, inputs, dims
        self._dims_taken: dict[str, bool] = {}
        self.not_checked = model.not_checked
        self._nodes: list[NodeCheck] = []
        asked = 0
        for fields in nodes:
            unknown = fields["verdict"] == "unknown" and fields["rules"] is not None
            self._nodes.append(NodeCheck(self, fields, asked if unknown else None))
            asked += unknown
        self.ok, self.bad, self.unknown = (self._count(verdict) for verdict in ("ok", "bad", "unknown"))

    def _count(self, verdict: str) -> int:
        return sum(node.verdict == verdict for node in self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, at: int) -> NodeCheck: ...
    @overload
    def __getitem__(self, at: slice) -> list[NodeCheck]: ...
    def __getitem__(self, at: int | slice) -> NodeCheck | list[NodeCheck]:
        return self._nodes[at]

    def __iter__(self) -> Iterator[NodeCheck]:
        return iter(self._nodes)

    def as_dict(self) -> dict[str, Any]:
        """All of it as `gather check --json` has it."""
        fields: dict[str, Any] = {"command": "check", "model": self.model.name, "format": self.model.format}
        fields["nodes"] = [node.as_dict() for node in self._nodes]
        fields.update(ok=self.ok, unknown=self.unknown, bad=self.bad)
        fields["not_checked"] = [{"op": op, "count": count} for op, count in self.not_checked.items()]
        return fields

    def _advise(self, node: NodeCheck) -> tuple[str, list[str]]:
        if len(self._nodes) > _MOST_NODES:
            return "", []
        return self._advise_length(node) if node.indices.count is not None else self._advise_indices(node)

    def _advise_indices(self, node: NodeCheck) -> tuple[str, list[str]]:
        """The values that the indices are made of: inputs of the model, or values in between, which only explain and run take."""
        try:
            names = self.model._core.missing(node.path)
        except GatherError:
            return "", []
        kind = "inputs" if all(name in self.model.inputs for name in names) else "explain"
        return kind, [name for name in names if name not in self.inputs]

    def _advise_length(self, node: NodeCheck) -> tuple[str, list[str]]:
        data = node.data
        if node.axis is not None and data.shape is not None and 0 <= node.axis < len(data.shape):
            symbol = data.shape[node.axis]
            if isinstance(symbol, str) and self._takes(symbol):
                return "dims", [symbol]
        return ("inputs", [data.name]) if data.source == "input" and data.name in self.model.inputs else ("", [])

    def _takes(self, name: str) -> bool:
        if name not in self._dims_taken:
            self._dims_taken[name] = self.model._takes_dim(name)
        return self._dims_taken[name]

    def _head(self) -> str:
        count = len(self._nodes)
        head = f"{visible(self.model.name)}: {self.model.format}, "
        if count == 0:
            head += "no gather nodes"
        else:
            head += f"{count} gather {'node' if count == 1 else 'nodes'}: {self.ok} ok, {self.unknown} unknown, {self.bad} bad"
        others = [f"{number} {op} {'node' if number == 1 else 'nodes'}" for op, number in self.not_checked.items()]
        if others:
            words = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
            head += f"; {words} {'is' if sum(self.not_checked.values()) == 1 else 'are'} not looked at"
        return visible(head)

    def _widths(self) -> list[int]:
        columns = [node._columns() for node in self._nodes] or [("", "", "")]
        shapes = [len(row[2]) for row in columns if len(row[2]) <= 44]
        return [max(len(row[0]) for row in columns), max(len(row[1]) for row in columns), max(shapes, default=0)]

    def __repr__(self) -> str:
        widths = self._widths()
        return "\n".join([self._head(), *(line for node in self._nodes for line in node._lines(widths))])

    def _repr_html_(self) -> str:
        rows = "".join(_html_row(node) for node in self._nodes)
        titles = "".join(f"<th style='text-align:left'>{title}</th>" for title in ("verdict", "operator", "axis", "shapes", "node"))
        return f"<div><p>{html.escape(self._head())}</p><table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></div>"


def _html_row(node: NodeCheck) -> str:
    cells = [node.verdict, *node._columns(), node.path]
    row = "".join(f"<td style='text-align:left'>{html.escape(visible(cell))}</td>" for cell in cells)
    more = node._lines([0, 0, 0])[1:]
    if not more:
        return f"<tr>{row}</tr>"
    text = html.escape("\n".join(line.strip() for line in more))
    return f"<tr>{row}</tr><tr><td></td><td colspan='4' style='text-align:left'><pre>{text}</pre></td></tr>"


def visible(text: str) -> str:
    """Control characters as \\x1b, so that a name of the model's cannot move the cursor."""
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 0x20 or ord(c) == 0x7F else c for c in text)


def _word(label: str, text: str) -> str:
    return f"         {label:<8} {visible(text)}"


def shape_text(shape: tuple | None) -> str:
    if shape is None:
        return "[?...]"
    return "[" + ", ".join("?" if length is None else str(length)[:30] for length in shape) + "]"


def error_dict(error: GatherError) -> dict[str, Any]:
    """An error's fields as the command's JSON has them: those that stand."""
    fields: dict[str, Any] = {"status": error.status, "code": error.code, "message": visible(error.message)}
    for name in ("node", *FIELDS):
        value = getattr(error, name, None)
        if name not in fields and value is not None:
            fields[name] = list(value) if name == "position" else value
    return fields
