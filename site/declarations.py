# SPDX-License-Identifier: MIT
"""What the public headers declare, found without Doxygen: each must be in the reference, with its comment, and enumerators with their values."""

import html
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HIDDEN = {"GATHER_API", "GATHER_CHECKED", "GATHER_PRINTF_LIKE"}
MAPS = (ROOT / "src/libgather.map", ROOT / "mpi/libgather_mpi.map")


def rows(table: str) -> dict[str, str]:
    """The enumerators of a table with their numbers, without prefix."""
    text = (ROOT / "include" / table).read_text(encoding="utf-8")
    return dict(re.findall(r"^GATHER_\w+\((\w+),\s*(\d+),", text, re.M))


def exported() -> set[str]:
    return {name for path in MAPS if path.exists() for name in re.findall(r"^\s+(gather_\w+);", path.read_text(encoding="utf-8"), re.M)}


def declared(header: Path) -> dict[str, str]:
    """Names that must have an entry, each with what its entry must contain: the number of a generated enumerator, or ""."""
    text = header.read_text(encoding="utf-8")
    names = dict.fromkeys(re.findall(r"^typedef (?:struct|enum) (gather_\w+)", text, re.M), "")
    names |= dict.fromkeys(re.findall(r"\(\*(gather_\w+)\)\(", text), "")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    functions = re.findall(r"\b(gather_\w+)\(", re.sub(r"^\s*#.*?[^\\]$", "", code, flags=re.M))
    names |= dict.fromkeys((name for name in functions if re.search(rf"GATHER_API[^;]*\b{name}\(", code)), "")
    defines = re.findall(r"^#define (GATHER_\w+)", text, re.M)
    generators = set(re.findall(r"^#define (GATHER_\w+)\(ENUM", text, re.M))
    names |= dict.fromkeys((name for name in defines if name not in HIDDEN | generators and not name.endswith("_H")), "")
    for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", code, re.S):
        names |= dict.fromkeys(re.findall(r"(?:^|,)\s*(GATHER_\w+)(?= =|,|\s*$)", body, re.M), "")
        for prefix, table in re.findall(r"(GATHER_(?:[A-Z]+_)?)##ENUM = number,.*?#include \"(gather/\w+\.def)\"", body, re.S):
            names |= {prefix + name: number for name, number in rows(table).items()}
    return names


def comment_of(header: str, name: str) -> list[str]:
    """The first words of the comment of a function: above it, or above the functions directly before it."""
    place = re.search(rf"^GATHER_API[^;/]*?\b{name}\(", header, re.M)
    behind = re.match(r"[^;]*; /\*(.*?)\*/\n", header[place.end():], re.S) if place else None
    if behind:
        return re.findall(r"[A-Za-z]{4,}", behind.group(1))[:3]
    before = header[:place.start()] if place else ""
    block = before[before.rfind("\n\n") + 2:]
    comments = re.findall(r"/\*(.*?)\*/\n", block, re.S)
    return re.findall(r"[A-Za-z]{4,}", comments[-1])[:3] if comments else []


def entry(page: str, name: str) -> str | None:
    """The text of an entry: its declaration and its comment."""
    begin = re.search(rf'id="c\.(?:[^"]*\.)?{name}"', page)
    if begin is None:
        return None
    text = re.compile(r"<dd>(?!<span|<em|<a )").search(page, begin.end())  # not those of the lines of a long signature
    end = page.find('class="sig sig-object', text.start() if text else begin.end())
    return html.unescape(re.sub(r"<[^>]*>", "", page[begin.end():end if end >= 0 else len(page)]))


def faults(folder: Path, headers: list[Path]) -> tuple[list[str], int]:
    """folder: api/c of a built site. What is missing, and how many entries were looked for."""
    found, count, functions = [], 0, set()
    for header in headers:
        page = (folder / f"{header.stem}.html").read_text(encoding="utf-8")
        text = header.read_text(encoding="utf-8")
        for name, needed in declared(header).items():
            count += 1
            shown = entry(page, name)
            if shown is None:
                found.append(f"{header.name}: {name} is not in the reference")
            elif needed and not re.search(rf"= {needed}\b", shown):
                found.append(f"{header.name}: {name} lacks its number {needed}")
            elif name in exported():
                functions.add(name)
                if not all(word in shown for word in comment_of(text, name)):
                    found.append(f"{header.name}: {name} lacks its comment")
    return found + [f"{name} is exported and not in the reference" for name in sorted(exported() - functions)], count
