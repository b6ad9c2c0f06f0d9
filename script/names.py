# SPDX-License-Identifier: MIT
"""Names that must occur once: those of files, and those of types."""

import functools
import re
from pathlib import Path

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DIRECTIVE = re.compile(r"^\s*#(?:[^\n\\]|\\.|\\\n)*", re.M)
TAGGED = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
OPAQUE = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s+\1$")  # typedef struct x x: what x has is defined elsewhere
FUNCTION = re.compile(r"\(\s*\*?\s*(\w+)\s*\)\s*\(")


def blank(match: re.Match) -> str:
    return " " + "\n" * match.group().count("\n")


@functools.cache
def code_of(text: str) -> str:
    """Comments and strings away, line breaks kept, so that line numbers stay right."""
    return COMMENT_OR_STRING.sub(blank, text)


def statements(text: str):
    """What stands between each "typedef" and its semicolon, without what is in braces."""
    for match in re.finditer(r"\btypedef\b", text):
        depth, kept = 0, []
        for char in text[match.end() :]:
            depth += (char == "{") - (char == "}")
            if char == ";" and depth == 0:
                break
            kept.append(char if depth == 0 else " ")
        yield " ".join("".join(kept).replace("}", " ").split())


def types(text: str) -> set[str]:
    """The types that a file defines."""
    code = DIRECTIVE.sub(" ", code_of(text))
    found = set(TAGGED.findall(code))
    for statement in statements(code):
        if OPAQUE.search(statement):
            continue
        function = FUNCTION.search(statement)
        name = function or re.search(r"(\w+)\s*(?:\[[^\]]*\])?$", statement)
        if name:
            found.add(name.group(1))
    return found


def twice(places: dict[str, list[Path]], what: str) -> list[str]:
    return [f"{what} {name} occurs more than once: {' '.join(map(str, at))}" for name, at in sorted(places.items()) if len(at) > 1]


def name_faults(files: dict[Path, str]) -> list[str]:
    """files: the text of each."""
    by_name: dict[str, list[Path]] = {}
    by_type: dict[str, list[Path]] = {}
    for path, text in files.items():
        if "posix" not in path.parts:  # headers of Windows under the names that POSIX gives them
            by_name.setdefault(path.name, []).append(path)
        for name in types(text):
            by_type.setdefault(name, []).append(path)
    return twice(by_name, "file name") + twice(by_type, "type")
