# SPDX-License-Identifier: MIT
"""The Markdown of docs/ as tests see it, and the generated pages of the operators: fenced blocks, links, headings.

    ```c         a whole program; a ```text block behind it is what it prints
    ```console   "$ COMMAND" lines, each followed by what it prints, both streams
    ```python    ">>> " lines, each followed by what it prints; the blocks of one document go on from one another
"""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(os.environ["GATHER_SOURCE"])
DOCS = ROOT / "docs"
GENERATED = Path(tempfile.mkdtemp(prefix="docs-"))  # pages that are not in the tree: the site has them beside the others
atexit.register(shutil.rmtree, GENERATED, ignore_errors=True)
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
        return f"{name_of(self.file)}:{self.line}"


def make_op_pages(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(root / "script/make-op-pages"), *map(str, arguments)], capture_output=True, text=True)


def generated() -> list[Path]:
    """The pages of the operators and of the types. A copy of the scripts and tables writes them: nothing of the tree is changed."""
    if not (GENERATED / "docs").exists():
        made = make_op_pages(copy_of_tables(GENERATED / "tree"), GENERATED / "docs/embed")
        assert made.returncode == 0, made.stdout + made.stderr
    return sorted((GENERATED / "docs").rglob("*.md"))


def copy_of_tables(folder: Path) -> Path:
    """What make-op-pages reads and writes, in a folder that a test may change."""
    scripts = ("script/make-op-pages", "script/op_tables.py", "script/op_families.py", "script/op_own_pages.py", "script/op_quantized.py",
               "script/op_writing.py")
    tables = ("src/core/op/ops.def", "src/core/op/ops.c", "include/gather/type.def", "include/gather/family.def", "include/gather/status.def")
    for name in (*scripts, *tables, "docs/embed/operators.md", "docs/extend/readings.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def is_generated(file: Path) -> bool:
    return file.is_relative_to(GENERATED)


def place(file: Path) -> Path:
    """Where the site has a document: the generated ones in docs/embed."""
    return DOCS / file.relative_to(GENERATED / "docs") if is_generated(file) else file


def target(file: Path, name: str) -> Path:
    """What a link in a document leads to."""
    path = Path(os.path.normpath(place(file).parent / name))
    other = GENERATED / "docs" / os.path.relpath(path, DOCS)
    return other if is_generated(file) and other.exists() else path


def name_of(file: Path) -> str:
    return str(place(file).relative_to(ROOT))


def documents() -> list[Path]:
    """Those of the tree, and what the generated ones add."""
    return sorted(DOCS.rglob("*.md")) + [page for page in generated() if not place(page).exists()]


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
