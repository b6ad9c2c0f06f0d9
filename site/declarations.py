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
    names |= dict.fromkeys((name for name in functions if f"GATHER_API" in text and re.search(rf"GATHER_API[^;]*\b{name}\(", code)), "")
    defines = re.findall(r"^#define (GATHER_\w+)", text, re.M)
    generators = set(re.findall(r"^#define (GATHER_\w+)\(ENUM", text, re.M))
    names |= dict.fromkeys((name for name in defines if name not in HIDDEN | generators and not name.endswith("_H")), "")
    for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", code, re.S):
        names |= dict.fromkeys(re.findall(r"^\s*(GATHER_\w+)|, (GATHER_\w+) =", body, re.M) and
                               [one for pair in re.findall(r"^\s*(GATHER_\w+)|[,{] *(GATHER_\w+) =", body, re.M) for one in pair if one], "")
        for prefix, table in re.findall(r"(GATHER_(?:[A-Z]+_)?)##ENUM = number,.*?#include \"(gather/\w+\.def)\"", body, re.S):
            names |= {prefix + name: number for name, number in rows(table).items()}
    return names


def comment_of(header: str, name: str) -> str:
    """The first words of the comment above a function."""
    match = re.search(r"/\* ((?:(?!\*/).)*?)\*/\nGATHER_API[^;/]*?\b" + name + r"\(", header, re.S)
    return " ".join(re.findall(r"[A-Za-z]{4,}", match.group(1))[:3]) if match else ""


def entry(page: str, name: str) -> str | None:
    """The text of an entry: its declaration and its comment."""
    begin = page.find(f'id="c.{name}"')
    begin = begin if begin >= 0 else page.find(f'.{name}"')
    if begin < 0:
        return None
    end = page.find("</dl>", begin)
    return html.unescape(re.sub(r"<[^>]*>", "", page[begin:end]))


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
                words = comment_of(text, name).split()
                if not words or not all(word in shown for word in words):
                    found.append(f"{header.name}: {name} lacks its comment")
    return found + [f"{name} is exported and not in the reference" for name in sorted(exported() - functions)], count
