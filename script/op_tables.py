# SPDX-License-Identifier: MIT
"""The library's tables as Python sees them: ops.def, type.def, status.def, and the entries of docs/extend/readings.md."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAMILY_MACROS = ("GATHER_FAMILY", "GATHER_FAMILY_OWN", "GATHER_FAMILY_WRITES")  # of the rows of family.def


@dataclass(frozen=True)
class Op:
    """A row of ops.def."""

    rules: str
    dialect: str
    name: str
    since: int
    family: str
    negative: bool
    on_bad: str
    batch_dims: bool
    off_axis: str
    axis: str
    tuples: str
    fused: bool
    types: str
    index_types: str
    document: str

    @property
    def page(self) -> str:
        return f"{self.dialect}-{self.name}-{self.since}.md"


def without_comments(path: str) -> str:
    return re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.S)


def rows(path: str, macro: str) -> list[list[str]]:
    """The arguments of each call of a macro that stands on a line of its own; strings lose their quotes."""
    found = []
    for arguments in re.findall(rf"^{macro}\((.*)\)$", without_comments(path), flags=re.M):
        found.append([word.strip().strip('"') for word in re.findall(r'"[^"]*"|[^,"]+', arguments) if word.strip()])
    if not found:
        sys.exit(f"op_tables: no {macro} in {path}")
    return found


def read_ops() -> list[Op]:
    ops = []
    for row in rows("src/core/op/ops.def", "GATHER_OP"):
        _enum, rules, dialect, name, since, family, negative, on_bad, batch_dims, off_axis, axis, tuples, fused, *rest = row
        of_rules = negative == "true", on_bad, batch_dims != "0", off_axis, axis, tuples, fused != "0"
        ops.append(Op(rules, dialect, name, int(since), family, *of_rules, *rest))
    return ops


def read_types() -> dict[str, list[str]]:
    """Type names by type list (GATHER_TYPES_...), in the order of type.def."""
    names = {row[0]: row[2] for row in rows("include/gather/type.def", "GATHER_TYPE")}
    text = without_comments("src/core/op/ops.c").replace("\\\n", " ")
    lists: dict[str, list[str]] = {}
    for macro, body in re.findall(r"^#define (GATHER_TYPES_\w+)\s+(.*)$", text, flags=re.M):
        members = set(re.findall(r"BIT\((\w+)\)", body))
        chosen = [name for enum, name in names.items() if enum in members]
        for other in re.findall(r"GATHER_TYPES_\w+", body):
            chosen += lists[other]
        lists[macro] = sorted(chosen, key=list(names.values()).index)
    return lists


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def read_readings() -> list[tuple[str, list[str]]]:
    """Each entry of readings.md: its heading and the documents it names."""
    text = (ROOT / "docs/extend/readings.md").read_text(encoding="utf-8")
    found = re.findall(r"^### (.+)\n\nApplies to: (.+)$", text, flags=re.M)
    return [(heading, documents.split(", ")) for heading, documents in found]
