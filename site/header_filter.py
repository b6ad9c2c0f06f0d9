#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""header_filter.py HEADER: a public header as Doxygen needs it, for its INPUT_FILTER. No line moves.

The headers have plain comments. A comment that is directly above a declaration, or behind it on its line, becomes a comment for
Doxygen. Its text is verbatim: c_reference.py knows the conventions of these texts, Doxygen does not. Enumerators that a table (.def)
generates are written out, each with what its row says.
"""

import re
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent.parent / "include"
GENERATED = re.compile(r"^#define (\w+)\(ENUM, number, .*?\) (\w+)##ENUM = number,\n(?:#define \1_\w+\(.*\n)*#include \"(gather/\w+\.def)\"\n#undef \1\n", re.M)
ROW = re.compile(r"^(\w+)\((\w+),\s*(\d+),\s*(.*)\)$", re.M)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def told(macro: str, row: str) -> str:
    """What the row of a table says of its enumerator."""
    strings = STRING.findall(row)
    if macro == "GATHER_STATUS":
        return f"{strings[1]}; in JSON \"{strings[0]}\""
    if macro == "GATHER_CODEC":
        return f"\"{strings[0]}\": {strings[1]}"
    return f"\"{strings[0]}\""


def enumerators(match: re.Match) -> str:
    """The enumerators of a table, on the line of its #include."""
    macro, prefix, name = match.groups()
    rows = ROW.findall((INCLUDE / name).read_text(encoding="utf-8"))
    made = [f"{prefix}{enum} = {number}, {doc('<', told(macro, rest))}" for kind, enum, number, rest in rows if kind.startswith(macro)]
    if not made:
        raise SystemExit(f"header_filter.py: {name} has no row of {macro}")
    return "\n" + " ".join(made) + "\n" * (match.group().count("\n") - 1)


def doc(mark: str, text: str) -> str:
    """A comment for Doxygen, of as many lines. mark: '<' for what is before it on its line."""
    kept = text.strip()
    before, after = text.split(kept, 1) if kept else (text, "")
    return f"/**{mark} \\verbatim " + "\n" * before.count("\n") + kept + "\n" * after.count("\n") + " \\endverbatim */"


COMMENT = re.compile(r"/\*.*?\*/", re.S)


def documented(text: str) -> str:
    """Comments of declarations as Doxygen marks them."""
    def mark(match: re.Match) -> str:
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        after = text[match.end():]
        content = match.group()[2:-2]
        if content.startswith(("*", " ----")) or "SPDX-License-Identifier" in content:
            return match.group()
        if before.strip() and not before.lstrip().startswith("#"):
            return doc("<", content)
        above_a_declaration = after.startswith("\n") and after[1:].lstrip(" ")[:1] not in {"\n", "", "}"}
        return doc("", content) if above_a_declaration and not before.strip() else match.group()

    return COMMENT.sub(mark, text)


def filtered(text: str) -> str:
    """The header, comments first: the generated enumerators bring their own."""
    return GENERATED.sub(enumerators, documented(text))


if __name__ == "__main__":
    sys.stdout.write(filtered(Path(sys.argv[1]).read_text(encoding="utf-8")))
