# SPDX-License-Identifier: MIT
"""The generated pages are up to date, links lead somewhere, paths in the documents exist."""

import functools
import re

import pytest

from blocks import DOCS, ROOT, anchors, copy_of_tables, documents, is_generated, linking_documents, make_op_pages, name_of, prose, target

# Paths in backticks that begin with one of the tree's folders. A name in angle brackets stands for any.
PATH = re.compile(r"`((?:src|include|cli|python|conformance|tests|script|cmake|examples|docs)/[^`\s]*)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def test_the_table_is_up_to_date():
    answer = make_op_pages(ROOT, "--check")
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.fixture
def root(tmp_path):
    """A copy of the tables, with the pages in a folder."""
    root = copy_of_tables(tmp_path / "tree")
    made = make_op_pages(root, root / "made")
    assert made.returncode == 0 and make_op_pages(root, "--check", root / "made").returncode == 0, made.stdout
    return root


def test_pages_are_of_the_tables():
    """One for each operator version, each linked from the list; and the types."""
    pages = {str(name_of(page)) for page in documents() if is_generated(page)}
    versions = len(re.findall(r"^GATHER_OP\(", (ROOT / "src/core/op/ops.def").read_text(encoding="utf-8"), flags=re.M))
    assert len(pages) == versions + 1 > 15 and "docs/embed/types.md" in pages and "docs/embed/ops/onnx-Gather-13.md" in pages


def test_the_default_folder(tmp_path):
    root = copy_of_tables(tmp_path)
    before = (root / "docs/embed/operators.md").read_text(encoding="utf-8")
    assert make_op_pages(root).returncode == 0 and (root / "docs/embed/operators.md").read_text(encoding="utf-8") == before
    told = (root / "build/docs/embed/operators.md").read_text(encoding="utf-8")
    assert "| [ONNX Gather-13](ops/onnx-Gather-13.md) | `onnx-13` | 13 and later |" in told and "[types.md](types.md)" in told
    assert (root / "build/docs/embed/ops/onnx-Gather-13.md").exists() and not (root / "docs/embed/ops").exists()


def test_a_row_without_a_page_is_found(root):
    table = root / "src/core/op/ops.def"
    text = table.read_text(encoding="utf-8")
    row = re.search(r"^GATHER_OP\(ONNX_GATHER_13,.*$", text, flags=re.M).group()
    new = re.sub(r" 13,", " 99,", row).replace("ONNX_GATHER_13", "ONNX_GATHER_99").replace("onnx-13", "onnx-99")
    table.write_text(text.replace(row, f"{row}\n{new}"), encoding="utf-8")
    answer = make_op_pages(root, "--check", root / "made")
    assert answer.returncode == 1
    assert "ops/onnx-Gather-99.md is missing" in answer.stdout and "docs/embed/operators.md is out of date" in answer.stdout
    assert make_op_pages(root, "--check").returncode == 1
    assert make_op_pages(root, root / "made").returncode == 0 and (root / "made/ops/onnx-Gather-99.md").exists()
    assert "| `onnx-99` | 99 and later |" in (root / "docs/embed/operators.md").read_text(encoding="utf-8")


def test_a_changed_row_is_found(root):
    table = root / "src/core/op/ops.def"
    text = table.read_text(encoding="utf-8")
    assert "true,  ZERO" in text
    table.write_text(text.replace("true,  ZERO", "true,  ERROR"), encoding="utf-8")
    answer = make_op_pages(root, "--check", root / "made")
    assert answer.returncode == 1 and "ops/openvino-Gather-8.md is out of date" in answer.stdout


def test_a_page_that_belongs_to_nothing_is_found(root):
    (root / "made/ops/onnx-Gather-12.md").write_text("# no such version\n", encoding="utf-8")
    answer = make_op_pages(root, "--check", root / "made")
    assert answer.returncode == 1 and "belongs to no row" in answer.stdout


def test_a_reading_of_no_document_is_found(root):
    page = root / "docs/extend/readings.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("ONNX Gather-13", "ONNX Gather-14"), encoding="utf-8")
    answer = make_op_pages(root, "--check")
    assert answer.returncode == 1 and "ONNX Gather-14 is no document of ops.def" in answer.stdout


@pytest.mark.parametrize("words", [["a", "b"], ["--wrong"], ["--check", "a", "b"]], ids=" ".join)
def test_wrong_arguments(tmp_path, words):
    assert make_op_pages(copy_of_tables(tmp_path), *words).returncode == 2


@pytest.mark.parametrize("file", linking_documents(), ids=name_of)
def test_links(file):
    for link in LINK.findall(prose(file)):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        path = target(file, name) if name else file
        assert path.exists(), f"{file}: {link}"
        assert not anchor or anchor in anchors(path), f"{file}: {link}"


@pytest.mark.parametrize("file", documents(), ids=name_of)
def test_paths(file):
    for path in PATH.findall(prose(file)):
        pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
        assert list(ROOT.glob(pattern)), f"{file}: there is no {path}"


@functools.cache
def text_of_sources() -> str:
    tops = ("include", "src", "cli", "python/src", "plugin", "tests", "cmake", "CMakeLists.txt")
    return "".join(path.read_text(encoding="utf-8") for top in tops
                   for path in ([ROOT / top] if (ROOT / top).is_file() else sorted((ROOT / top).rglob("*")))
                   if path.suffix in {".h", ".c", ".def", ".txt", ".cmake", ".py"})


@pytest.mark.parametrize("file", documents(), ids=name_of)
def test_names(file):
    """Functions, macros and types that a document names are in the public headers or the sources."""
    text = text_of_sources()
    for name in set(re.findall(r"`((?:gather|GATHER)_\w+)", prose(file))):
        wanted = name.removeprefix("GATHER_TYPE_") if name.startswith("GATHER_TYPE_") else name
        assert re.search(rf"\b{wanted}\b", text) or re.search(rf"\b{name.removeprefix('GATHER_')}\b", text), f"{file}: {name}"


def test_every_document_is_on_the_map():
    map_of_documents = prose(DOCS / "README.md")
    for file in documents():
        name = str(file.relative_to(DOCS)) if not is_generated(file) else "README.md"
        assert name == "README.md" or name in map_of_documents, f"docs/README.md lacks {name}"


def test_every_tuning_number_is_explained():
    """docs/extend/tuning.md has a row for each row of the table, with its default."""
    table = (ROOT / "src/core/kernel/tuning.def").read_text(encoding="utf-8")
    rows = re.findall(r"^GATHER_TUNING\((\w+), (-?\d+),", table, flags=re.M)
    told = re.findall(r"^\| `(\w+)` \| (-?\d+) \|", (DOCS / "extend/tuning.md").read_text(encoding="utf-8"), flags=re.M)
    assert len(rows) > 10 and told == rows
