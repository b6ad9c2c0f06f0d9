# SPDX-License-Identifier: MIT
#
# check_report.py: the result of a check of a model, for programs. check_text.py shows it to people.
"""Check and NodeCheck: the result of libgather.check."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from libgather.check_text import check_html, operand_text, visible
from libgather.errors import FIELDS, GatherError

if TYPE_CHECKING:
    from libgather import _core
    from libgather.explain_picture import Picture
    from libgather.model import Model

_FIELDS = (
    *("name", "op", "domain", "rules", "graph", "number", "axis", "batch_dims"),
    *("type_listed", "verdict", "executed", "reason", "cause"),
)


class Operand:
    """One operand of a node.

    name : str
    type : str or None
        None = unknown.
    shape : tuple of int, str and None; or None
        A length, its name, or None if it is unknown. None = the rank is unknown.
    source : str or None
        The source of its value: 'initializer', 'constant', 'input', 'computed', 'none'; None for the output.
    min, max, count, bad : int or None
        For known indices: the minimum, the maximum, the number of indices, and the number out of range.
    components : list of dict or None
        For the indices of a GatherND: 'axis' and 'length' (None = unknown) of each number of a tuple, and 'min' and 'max' of
        known indices. None = the length of a tuple is unknown.
    unreadable : str or None
        Why its elements cannot be read: a file of the model is missing or too short.
    """

    __slots__ = ("bad", "components", "count", "max", "min", "name", "shape", "source", "type", "unreadable")
    name: str
    type: str | None
    shape: tuple[int | str | None, ...] | None
    source: str | None
    min: int | None
    max: int | None
    count: int | None
    bad: int | None
    components: list[dict[str, int | None]] | None
    unreadable: str | None

    def __init__(self, fields: dict[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, fields.get(name))

    def __repr__(self) -> str:
        return f"<{visible(operand_text(self))}>"

    def as_dict(self) -> dict[str, Any]:
        """The fields that are set, as in `gather check --json`."""
        shape = None if self.shape is None else [-1 if length is None else length for length in self.shape]
        fields: dict[str, Any] = {"name": self.name, "type": self.type, "shape": shape}
        for name in ("unreadable", "source", "min", "max", "count", "bad"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        if self.components is not None:
            fields["components"] = [one | {"length": -1} if one["length"] is None else one for one in self.components]
        return fields


class NodeCheck:
    """One gather node.

    name, op, domain, graph : str
        Its name ('' if it has none), operator, domain, and the path of its graph ('main/if_3/then_branch').
    number : int
        Its number among the nodes of its graph, in the file's order.
    rules : str or None
        The operator version ('onnx-13'); None if it is unknown.
    axis : int or None
        Non-negative if the rank is known; None if it is known only in a run.
    batch_dims : int
        Leading dimensions that data and indices share.
    data, indices, output : Operand
        Its tensors.
    type_listed : bool
        Whether the operator version lists these types.
    verdict : str
        'ok', 'bad' or 'unknown'.
    executed : bool
        False in a branch that a known condition does not take. Such a node is unknown and has no advice.
    reason : str
        The reason of the verdict in one sentence; '' if there is nothing to explain.
    cause : str
        The likely cause of indices out of range, or ''.
    error : GatherError or None
        What a run of a bad node would raise.
    runtimes : dict of str to str
        What each runtime does with the node, if it is bad or has indices out of range that its rules repair; else empty.
    """

    __slots__ = (*_FIELDS, "_check", "_index", "data", "error", "indices", "output", "runtimes")
    name: str
    op: str
    domain: str
    graph: str
    number: int
    rules: str | None
    axis: int | None
    batch_dims: int
    data: Operand
    indices: Operand
    output: Operand
    type_listed: bool
    verdict: str
    executed: bool
    reason: str
    cause: str
    error: GatherError | None
    runtimes: dict[str, str]

    def __init__(self, check: Check, index: int, fields: dict[str, Any]) -> None:
        for name in _FIELDS:
            setattr(self, name, fields[name])
        self.data, self.indices, self.output = (Operand(fields[role]) for role in ("data", "indices", "output"))
        self.error, self.runtimes = fields.get("error"), fields.get("runtimes", {})
        self._check, self._index = check, index

    @property
    def path(self) -> str:
        """Graph and name, or operator and number if it has no name: what node= takes."""
        return f"{self.graph}/{self.name or f'{self.op}_{self.number}'}"

    @property
    def is_bad(self) -> bool:
        """Whether an index is out of range, even if the rules repair it, or the operands are invalid."""
        return self.verdict == "bad" or bool(self.indices.bad)

    @property
    def advice(self) -> tuple[str, list[str]]:
        """The values that would make an unknown node known: ('inputs', 'dims', 'explain' or '', names)."""
        return self._check._advice[self._index]

    @property
    def missing(self) -> tuple[str, ...]:
        """The inputs, dimensions or intermediate values to give to make an unknown node known."""
        return tuple(self.advice[1])

    @property
    def give(self) -> str | None:
        """The same for the command line of `gather check`; None if nothing can be given."""
        kind, names = self.advice
        if not names:
            return None
        if kind == "dims":
            return " ".join(f"--dim {name}=LENGTH" for name in names)
        before = f"gather explain MODEL --node {self.path} " if kind == "explain" else ""
        return before + " ".join(f"--input {name}=TENSOR" for name in names)

    def explain(self) -> Picture:
        """Draws the node, with the inputs and dims of the check."""
        return self._check.model.explain(self.path, self._check.inputs, self._check.dims)

    def as_dict(self) -> dict[str, Any]:
        """The fields as in `gather check --json`."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS[:8]}
        for role in ("data", "indices", "output"):
            fields[role] = getattr(self, role).as_dict()
        fields.update(type_listed=self.type_listed, verdict=self.verdict)
        if not self.executed:
            fields["executed"] = False
        for name in ("reason", "give"):
            if getattr(self, name):
                fields[name] = getattr(self, name)
        if self.error is not None:
            fields["error"] = _error_dict(self.error)
        for name in ("runtimes", "cause"):
            if getattr(self, name):
                fields[name] = getattr(self, name)
        return fields

    def __repr__(self) -> str:
        return self._check._text(self._index)


class Check(Sequence[NodeCheck]):
    """The result of a check of a model: one NodeCheck for each gather node, in the order in which they run.

    A node of a function has one NodeCheck for each call of the function.

    ok, bad, unknown : int
        The number of nodes with that verdict.
    unreadable : dict of str to str
        The tensors that cannot be read because a file is missing or too short, and why.
    not_checked : dict of str to int
        The number of nodes of each other operator that takes indices. These are not checked.
    contradictions : tuple of str
        A sentence for each value whose declared shape differs from its real one. No verdict depends on a declared shape.
    model, inputs, dims :
        The checked model, and the given values.
    """

    def __init__(self, model: Model, found: _core.Check, inputs: dict[str, Any], dims: dict[str, int]) -> None:
        self.model, self.inputs, self.dims = model, inputs, dims
        self.not_checked, self.unreadable = model.not_checked, model.unreadable
        self.contradictions = tuple(found.contradictions())
        self._core: _core.Check | None = found
        self._nodes = [NodeCheck(self, index, fields) for index, fields in enumerate(found.nodes())]
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
        """All fields as in `gather check --json`."""
        fields: dict[str, Any] = {"command": "check", "model": self.model.name, "format": self.model.format}
        fields["nodes"] = [node.as_dict() for node in self._nodes]
        fields.update(ok=self.ok, unknown=self.unknown, bad=self.bad)
        fields["not_checked"] = [{"op": op, "count": count} for op, count in self.not_checked.items()]
        if self.unreadable:
            fields["unreadable"] = [{"name": name, "message": why} for name, why in self.unreadable.items()]
        if self.contradictions:
            fields["contradictions"] = [visible(text) for text in self.contradictions]
        return fields

    def __repr__(self) -> str:
        return self._text(-1)

    def _repr_html_(self) -> str:
        return check_html(self)

    # The library's check. A copy in another process has none, and is checked again if that is needed.

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_core": None}

    @property
    def _found(self) -> _core.Check:
        if self._core is None:
            self._core = self.model.check(self.inputs, self.dims)._found
        return self._core

    @functools.cached_property
    def _advice(self) -> list[tuple[str, list[str]]]:
        return self._found.advice()

    def _text(self, index: int) -> str:
        return self._found.text(os.fsencode(self.model.name), index).rstrip("\n")


def _error_dict(error: GatherError) -> dict[str, Any]:
    """An error's fields as in the command's JSON: those that are set."""
    fields: dict[str, Any] = {"status": error.status, "code": error.code, "message": visible(error.message)}
    for name in FIELDS:
        value = getattr(error, name)
        if name not in fields and value is not None:
            fields[name] = list(value) if name == "position" else value
    return fields
