# SPDX-License-Identifier: MIT
"""Copies the documents to where Sphinx reads them, and those that script/make-op-pages writes. They stay as they are, but for links that a
site has no use for: README.md becomes the first page (with the words of start.md), a link to a folder of examples one to a page with its files, a link to a header one
to its page of the reference."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START = ROOT / "site/start.md"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
LANGUAGES = {".c": "c", ".py": "python", ".txt": "text", "Makefile": "makefile", "CMakeLists.txt": "cmake"}


def documents(root: Path) -> list[Path]:
    """The documents of the project, as names in it."""
    found = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md", "plugin/README.md")]
    return [path.relative_to(root) for path in [*found, *sorted(root.glob("src/*/README.md")), *sorted((root / "docs").rglob("*.md"))] if path.exists()]


def generated(root: Path) -> dict[Path, str]:
    """The pages of the operators and of the types, and the list of them, which replaces the one without links; by their names on the site."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, root / "script/make-op-pages", folder], check=True, stdout=subprocess.DEVNULL)
        return {"docs/embed" / path.relative_to(folder): path.read_text(encoding="utf-8") for path in sorted(Path(folder).rglob("*.md"))}


class Stage:
    """A copy of the documents of `root` in `target`."""

    def __init__(self, root: Path, target: Path):
        self.root, self.target = root, target
        self.folders: set[Path] = set()

    def make(self) -> list[Path]:
        made = []
        texts = {name: (self.root / name).read_text(encoding="utf-8") for name in documents(self.root)}
        for name, text in {**texts, Path("README.md"): START.read_text(encoding="utf-8"), **generated(self.root)}.items():
            place = self.target / ("index.md" if name == Path("README.md") else name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self.with_links(text, name), encoding="utf-8")
            made.append(place.relative_to(self.target))
        return made + [self.folder_page(folder) for folder in sorted(self.folders)]

    def with_links(self, text: str, name: Path) -> str:
        """The text with links for the site; programs are left alone."""
        fences = [match.span() for match in FENCE.finditer(text)]

        def replaced(match: re.Match) -> str:
            if any(begin <= match.start() < end for begin, end in fences):
                return match.group()
            return match.group(1) + self.link(match.group(2), name) + match.group(3)

        return LINK.sub(replaced, text)

    def link(self, target: str, name: Path) -> str:
        path, hash_mark, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return target
        place = Path(os.path.normpath(name.parent / path))
        return os.path.relpath(self.place(place), name.parent) + hash_mark + anchor

    def place(self, place: Path) -> Path:
        """Where the site has what the repository has at `place`."""
        source = self.root / place
        if place == Path("explainer.md"):
            return place
        if place == Path("README.md"):
            return Path("index.md")
        if source.is_dir() and (source / "README.md").exists():
            return place / "README.md"
        if source.is_dir() and source.parent.name == "examples":
            self.folders.add(place)
            return place / "files.md"
        if place.suffix == ".h" and place.parent.name == "gather":
            return Path("api/c") / f"{place.stem}.rst"
        if source.is_file() and place.suffix not in {".md"}:
            (self.target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, self.target / place)
        return place

    def folder_page(self, folder: Path) -> Path:
        """The files of an example on one page."""
        lines = ["---", "orphan: true", "---", f"# {folder}", ""]
        for file in sorted((self.root / folder).rglob("*")):
            if file.is_file() and "build" not in file.relative_to(self.root / folder).parts:
                language = LANGUAGES.get(file.name) or LANGUAGES.get(file.suffix, "text")
                lines += [f"## {file.relative_to(self.root / folder)}", "", f"~~~~{language}", file.read_text(encoding="utf-8").rstrip(), "~~~~", ""]
        page = folder / "files.md"
        (self.target / page).parent.mkdir(parents=True, exist_ok=True)
        (self.target / page).write_text("\n".join(lines), encoding="utf-8")
        return page


# The parts of the list of contents, by the folders of the documents.
PARTS = {"Use": "docs/use/", "Embed": "docs/embed/", "Measured": "docs/measured/", "Extend": "docs/extend/"}
FIRST = {"Use": ["explainer", "examples/README.md"], "Embed": ["api/c/index", "api/python"], "Extend": ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]}

# Documents that are listed below another one, by how their names begin.
BELOW = {"docs/embed/ops/": "docs/embed/operators.md", "docs/embed/types": "docs/embed/operators.md", "plugin/": "docs/embed/plugins.md",
         **{f"docs/embed/{name}": "docs/embed/plugins.md" for name in ("onnxruntime", "torch", "jax", "duckdb", "openvino")},
         "docs/use/buckets": "docs/use/urls.md", "docs/extend/add-": "docs/extend/design.md"}


def contents(target: Path, pages: list[Path]) -> None:
    """Adds the list of contents to the first page. The order is that of docs/README.md, so a new document is in it by its row there."""
    known = {str(page) for page in pages if page.name not in {"index.md", "files.md"}} - {"docs/README.md"}
    listed = [os.path.normpath(f"docs/{name}") for name in re.findall(r"\]\(([\w./-]+\.md)\)", (target / "docs/README.md").read_text(encoding="utf-8"))]
    ordered = list(dict.fromkeys([*(page for page in listed if page in known), *sorted(known)]))
    below: dict[str, list[str]] = {}
    parts = {part: [] if part == "Use" else list(FIRST.get(part, [])) for part in PARTS}
    for page in ordered:
        parent = next((parent for begin, parent in BELOW.items() if page.startswith(begin) and page != parent and parent in known), "")
        if parent:
            below.setdefault(parent, []).append(page)
        elif not any(page in part for part in [*parts.values(), *FIRST.values()]):
            parts[next((part for part, folder in PARTS.items() if page.startswith(folder)), "Extend")].append(page)
    parts["Use"] = ["docs/README.md", *parts["Use"], *FIRST["Use"]]
    append(target / "index.md", "\n".join(tree(caption, names) for caption, names in parts.items()))
    for parent, names in below.items():
        append(target / parent, tree("", [f"/{name}" for name in sorted(names, key=lambda name: ordered.index(name))]))


def tree(caption: str, names: list[str]) -> str:
    head = ["```{toctree}", ":hidden:"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join([*head, "", *(name.removesuffix(".md") for name in names), "```", ""])


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").rstrip() + "\n\n" + text, encoding="utf-8")
