# SPDX-License-Identifier: MIT
"""The Markdown of docs/ as tests see it: fenced blocks, links, headings.

    ```c         a whole program; a ```text block behind it is what it prints
    ```console   "$ COMMAND" lines, each followed by what it prints, both streams
    ```python    ">>> " lines, each followed by what it prints; the blocks of one document go on from one another
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(os.environ["GATHER_SOURCE"])
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block, and the language and text of the one behind it."""

    file: Path
    line: int
    language: str
    text: str
    next_language: str
    next_text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def documents() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def linking_documents() -> list[Path]:
    """Those, and the others of the tree that a reader comes from."""
    return [*documents(), *sorted(ROOT.glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def blocks(language: str, *others: Path) -> list[Block]:
    """Every block of a language in docs/, and in other documents."""
    found = []
    for file in [*documents(), *others]:
        text = file.read_text(encoding="utf-8")
        fences = list(FENCE.finditer(text))
        for fence, behind in zip(fences, [*fences[1:], None]):
            if fence.group(1) == language:
                line = text.count("\n", 0, fence.start()) + 1
                after = (behind.group(1), behind.group(2)) if behind else ("", "")
                found.append(Block(file, line, language, fence.group(2), *after))
    assert found, f"docs/ has no block of {language}"
    return found


def prose(file: Path) -> str:
    """A document without its fenced blocks."""
    return FENCE.sub("", file.read_text(encoding="utf-8"))


def anchors(file: Path) -> set[str]:
    """What a link into a document may name: its headings, written as links to headings are."""
    headings = re.findall(r"^#+ (.+)$", prose(file), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(block: Block) -> list[tuple[str, str]]:
    """Each command of a console block, and what it prints. A line that ends with a backslash goes on."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        match = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, flags=re.S)
        assert match, part
        found.append((match.group(1).rstrip("\n"), match.group(2)))
    assert found and block.text.startswith("$ "), f"{block}: a console block begins with a command"
    return found
