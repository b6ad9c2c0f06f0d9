#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""c_reference.py XML FOLDER: the reference of the C library from what Doxygen read of the headers: one page per header, in the order of
the header, with its sections and all of its comments."""

import re
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

from c_comments import Writer, lines_of

ROOT = Path(__file__).resolve().parent.parent
HEADERS = [*sorted((ROOT / "include/gather").glob("*.h")), ROOT / "mpi/include/gather/mpi.h"]
SECTION = re.compile(r"^/\* ---- (.*?) -+ \*/$")
HIDDEN = {"GATHER_API", "GATHER_CHECKED", "GATHER_PRINTF_LIKE"}


@dataclass
class Entity:
    """A declaration: a function, struct, enum, macro or type, or a member of one."""

    kind: str
    name: str
    line: int
    declaration: str
    comment: str
    arguments: tuple[str, ...] = ()
    members: list["Entity"] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)  # declarations that share its comment


def text(node: xml.Element | None) -> str:
    return re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""


def comment_of(node: xml.Element) -> str:
    return "\n\n".join(part.text.strip() for part in node.findall("detaileddescription//verbatim"))


def line_of(node: xml.Element) -> int:
    return int(node.find("location").get("line"))


def declared(type_text: str, name: str, arguments: str) -> str:
    """A variable of a type: the name of a pointer to a function is inside of it."""
    if "(*" in type_text:
        return f"{type_text}{name}{arguments}"
    return f"{type_text}{'' if type_text.endswith('*') else ' '}{name}{arguments}"


def member(node: xml.Element) -> Entity:
    """A field. One of a struct without a name is shown as it is written."""
    name, type_text = node.findtext("name"), text(node.find("type"))
    return Entity("member", name, line_of(node), declared(type_text, name, node.findtext("argsstring") or ""), comment_of(node))


def struct(folder: Path, reference: str) -> Entity:
    node = xml.parse(folder / f"{reference}.xml").find("compounddef")
    fields = [member(found) for found in node.iter("memberdef")]
    for one, next_one in zip(fields, fields[1:]):  # several names in one declaration have one comment
        if one.line == next_one.line and not one.comment:
            one.comment = next_one.comment
    inner = [one for one in fields if "@" in one.declaration]
    for one in inner:
        within = [two for two in fields if two.line < one.line and two.line >= one.line - 1]
        one.kind, one.declaration, one.members = "struct", one.name, within
        fields = [two for two in fields if two not in within]
    name = node.findtext("compoundname")
    return Entity("struct", name, line_of(node), name, comment_of(node), members=fields)


def enum(node: xml.Element) -> Entity:
    values, number = [], -1
    for value in node.findall("enumvalue"):
        given = text(value.find("initializer")).removeprefix("=").strip()
        number = int(eval(given, {})) if given else number + 1  # noqa: S307: numbers of our own headers
        values.append(Entity("enumerator", value.findtext("name"), 0, f"{value.findtext('name')} = {number}", comment_of(value)))
    name = node.findtext("name")
    return Entity("enum", "" if name.startswith("@") else name, line_of(node), name, comment_of(node), members=values)


def other(node: xml.Element) -> Entity | None:
    kind, name = node.get("kind"), node.findtext("name")
    arguments = tuple(text(found) for found in node.findall("param/declname"))
    if kind == "function":
        return Entity("function", name, line_of(node), f"{text(node.find('type'))} {name}{node.findtext('argsstring')}", comment_of(node), arguments)
    if kind == "define":
        names = [text(found) for found in node.findall("param/defname")]
        return Entity("macro", name, line_of(node), f"{name}({', '.join(names)})" if names else name, comment_of(node), tuple(names),
                      [Entity("value", "", 0, re.sub(r"\\ ?", "", text(node.find("initializer"))), "")])
    if kind == "typedef" and "(*" in text(node.find("type")):
        return Entity("type", name, line_of(node), declared(text(node.find("type")), name, node.findtext("argsstring") or ""), comment_of(node))
    if kind == "typedef":
        return Entity("opaque", name, line_of(node), name, comment_of(node))
    return None


def read(folder: Path, header: Path) -> list[Entity]:
    """Everything that a header declares, in its order."""
    node = xml.parse(folder / f"{header.stem}_8h.xml").find("compounddef")
    found = [struct(folder, inner.get("refid")) for inner in node.findall("innerclass") if "@" not in inner.text]
    known = {one.name for one in found}
    for each in node.iter("memberdef"):
        one = enum(each) if each.get("kind") == "enum" else other(each)
        if one and one.name not in known and one.name not in HIDDEN and not one.name.endswith("_H"):
            found.append(one)
            known |= {one.name} if one.kind == "enum" and one.name else set()
    return sorted(found, key=lambda one: one.line)


def gathered(entities: list[Entity], lines: list[str]) -> list[Entity]:
    """Functions without a comment directly below one share its comment."""
    made: list[Entity] = []
    for one in entities:
        last = made[-1] if made else one
        between = lines[last.line:one.line - 1]
        if one.kind == last.kind == "function" and not one.comment and all(line.strip() and not line.startswith("/*") for line in between):
            last.beside.append(one.declaration)
            last.line = one.line
        else:
            made.append(one)
    return made


def kinds_of(entities: list[Entity]) -> dict[str, str]:
    """The role that links to each name."""
    roles = {"function": "func", "opaque": "struct", "struct": "struct", "enum": "enum", "macro": "macro", "type": "type"}
    kinds = {one.name: roles[one.kind] for one in entities if one.name}
    for one in entities:
        for inner in one.members:
            if inner.kind == "enumerator":
                kinds[inner.name] = "enumerator"
            elif inner.kind == "member":
                kinds[f"{one.name}.{inner.name}"] = "member"
    return kinds


DIRECTIVES = {"function": "function", "opaque": "struct", "struct": "struct", "enum": "enum", "macro": "macro", "type": "type",
              "member": "member", "enumerator": "enumerator"}


def shown(one: Entity, writer: Writer, indent: str = "") -> list[str]:
    """A declaration with its comment and its members."""
    directive = "enum" if one.kind == "enum" and not one.name else DIRECTIVES[one.kind]
    made = [f"{indent}.. c:{directive}:: {one.declaration}", *(f"{indent}      {more}" for more in one.beside), ""]
    inside = indent + "   "
    made += [inside + line if line else "" for line in writer.block(one.comment, one.arguments)] if one.comment else []
    if one.kind == "macro" and one.members[0].declaration:
        value = one.members[0].declaration
        return made + ([f"{inside}= ``{value}``", ""] if len(value) < 30 else [f"{inside}.. code-block:: c", "", f"{inside}   {value}", ""])
    for inner in one.members:
        made += shown(inner, writer, inside)
    return made


def free_texts(lines: list[str]) -> list[tuple[int, str]]:
    """Comments that belong to a section and to no declaration: they end before an empty line."""
    found, begin = [], None
    for number, line in enumerate(lines, 1):
        if begin is None and line.startswith("/*") and not SECTION.match(line) and "SPDX" not in line:
            begin = number
        if begin is not None and line.endswith("*/"):
            if number < len(lines) and not lines[number].strip():
                content = "\n".join(lines[begin - 1:number]).removeprefix("/*").removesuffix("*/")
                found.append((begin, content))
            begin = None
    return found


DIALECTS = {"ONNX": "onnx", "OpenVINO": "openvino", "StableHLO": "stablehlo", "com.microsoft": "microsoft"}


def operators(top: str, known: set[str]) -> list[str]:
    """Links to the pages of the operator versions that the first lines of a header name. known: their names, as "onnx-Gather-13"."""
    links, dialect, name = [], "", ""
    for word in re.findall(r"com\.microsoft|[A-Za-z]+|\d+", top):
        if word in DIALECTS:
            dialect, name = word, ""
        elif not word.isdigit():
            name = word
        page_name = f"{DIALECTS.get(dialect)}-{name}-{word if word.isdigit() else 1}"
        if (word.isdigit() or dialect == "StableHLO") and page_name in known:
            links.append(f":doc:`{dialect} {name}{f' {word}' if word.isdigit() else ''} </docs/embed/ops/{page_name}>`")
    return ["Operators: " + ", ".join(dict.fromkeys(links)) + ".", ""] if links else []


def page(header: Path, entities: list[Entity], writer: Writer, known: set[str]) -> str:
    """The page of a header. known: the pages of operators."""
    lines = header.read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if line.strip() == "*/")
    top = "\n".join(lines_of("\n".join(lines[:end]))[1:]).strip()
    top = re.sub(rf"^{header.name}: ", "", top)
    first, _, rest = top.partition("\n\n")
    rest = re.sub(r"^Contents:.*?(\n\n|\Z)", "", rest, flags=re.S | re.M)
    made = [header.name, "=" * len(header.name), "", *writer.block("\n" + first), *operators(rest, known), *writer.block("\n" + rest)]
    pieces: list[tuple[int, list[str]]] = [(one.line, shown(one, writer)) for one in gathered(entities, lines)]
    pieces += [(end + number, writer.block(content)) for number, content in free_texts(lines[end:])]
    for number, line in enumerate(lines, 1):
        if match := SECTION.match(line):
            title = re.sub(r"^(\d+ )?(.)", lambda found: (found.group(1) or "") + found.group(2).upper(), match.group(1))
            pieces.append((number, [title, "-" * len(title), ""]))
    for _, piece in sorted(pieces, key=lambda piece: piece[0]):
        made += piece
    return "\n".join(made) + "\n"


def by_task(by_header: dict[Path, list[Entity]]) -> list[str]:
    """A table of all functions by the headers' sections, which are tasks."""
    made = [".. list-table::", "   :header-rows: 1", "   :widths: 30 70", "", "   * - task", "     - functions"]
    for header, entities in sorted(by_header.items(), key=lambda item: (item[0].stem != "gather", item[0].stem)):
        sections: dict[str, list[str]] = {}
        lines = header.read_text(encoding="utf-8").splitlines()
        for one in entities:
            if one.kind == "function":
                title = next((found.group(1) for line in reversed(lines[:one.line]) if (found := SECTION.match(line))), "")
                sections.setdefault(re.sub(r"^\d+ ", "", title), []).append(one.name)
        for title, names in sections.items():
            task = f":doc:`{header.name} <{header.stem}>`" + (f": {title}" if title else "")
            made += [f"   * - {task}", "     - " + ", ".join(f":c:func:`{name}`" for name in names)]
    return [*made, ""]


def write(folder: Path, target: Path, known: set[str] = frozenset()) -> list[Entity]:
    """Writes all pages and their list; returns what is on them."""
    by_header = {header: read(folder, header) for header in HEADERS}
    everything = [one for entities in by_header.values() for one in entities]
    writer = Writer(kinds_of(everything), {header.name for header in HEADERS})
    target.mkdir(parents=True, exist_ok=True)
    for header, entities in by_header.items():
        (target / f"{header.stem}.rst").write_text(page(header, entities, writer, known), encoding="utf-8")
    (target / "tasks.txt").write_text("\n".join(by_task(by_header)), encoding="utf-8")
    return everything


if __name__ == "__main__":
    print(len(write(Path(sys.argv[1]), Path(sys.argv[2]))), "declarations")
