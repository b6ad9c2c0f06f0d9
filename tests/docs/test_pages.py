# SPDX-License-Identifier: MIT
"""The generated pages are up to date, links lead somewhere, paths in the documents exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from blocks import DOCS, ROOT, anchors, documents, linking_documents, prose

# Paths in backticks that begin with one of the tree's folders. A name in angle brackets stands for any.
PATH = re.compile(r"`((?:src|include|cli|python|conformance|tests|script|cmake|examples|docs)/[^`\s]*)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def make_op_pages(root, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(root / "script/make-op-pages"), *arguments], capture_output=True, text=True)


def copy_of_tables(folder):
    """What make-op-pages reads and writes, in a folder that a test may change."""
    scripts = ("script/make-op-pages", "script/op_tables.py", "script/op_families.py", "script/op_own_pages.py", "script/op_quantized.py")
    for name in (*scripts, "src/core/op/ops.def", "src/core/op/ops.c", "include/gather/type.def", "include/gather/family.def"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copy(ROOT / "include/gather/status.def", folder / "include/gather/status.def")
    shutil.copytree(DOCS, folder / "docs")
    return folder


def test_pages_are_up_to_date():
    answer = make_op_pages(ROOT, "--check")
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_a_row_without_a_page_is_found(tmp_path):
    root = copy_of_tables(tmp_path)
    table = root / "src/core/op/ops.def"
    text = table.read_text(encoding="utf-8")
    row = re.search(r"^GATHER_OP\(ONNX_GATHER_13,.*$", text, flags=re.M).group()
    new = re.sub(r" 13,", " 99,", row).replace("ONNX_GATHER_13", "ONNX_GATHER_99").replace("onnx-13", "onnx-99")
    table.write_text(text.replace(row, f"{row}\n{new}"), encoding="utf-8")
    answer = make_op_pages(root, "--check")
    assert answer.returncode == 1
    assert "docs/ops/onnx-Gather-99.md is missing" in answer.stdout
    assert make_op_pages(root).returncode == 0 and (root / "docs/ops/onnx-Gather-99.md").exists()


def test_a_changed_row_is_found(tmp_path):
    root = copy_of_tables(tmp_path)
    assert make_op_pages(root, "--check").returncode == 0
    table = root / "src/core/op/ops.def"
    text = table.read_text(encoding="utf-8")
    assert "true,  ZERO" in text
    table.write_text(text.replace("true,  ZERO", "true,  ERROR"), encoding="utf-8")
    answer = make_op_pages(root, "--check")
    assert answer.returncode == 1 and "docs/ops/openvino-Gather-8.md is out of date" in answer.stdout


def test_a_page_that_belongs_to_nothing_is_found(tmp_path):
    root = copy_of_tables(tmp_path)
    (root / "docs/ops/onnx-Gather-12.md").write_text("# no such version\n", encoding="utf-8")
    answer = make_op_pages(root, "--check")
    assert answer.returncode == 1 and "belongs to no row" in answer.stdout


@pytest.mark.parametrize("file", linking_documents(), ids=lambda file: str(file.relative_to(ROOT)))
def test_links(file):
    for target in LINK.findall(prose(file)):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        path = (file.parent / name).resolve() if name else file
        assert path.exists(), f"{file}: {target}"
        assert not anchor or anchor in anchors(path), f"{file}: {target}"


@pytest.mark.parametrize("file", documents(), ids=lambda file: str(file.relative_to(DOCS)))
def test_paths(file):
    for path in PATH.findall(prose(file)):
        pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
        assert list(ROOT.glob(pattern)), f"{file}: there is no {path}"


@pytest.mark.parametrize("file", documents(), ids=lambda file: str(file.relative_to(DOCS)))
def test_names(file):
    """Functions, macros and types that a document names are in the public headers or the sources."""
    text = "".join(path.read_text(encoding="utf-8") for top in ("include", "src", "plugin", "tests", "cmake", "CMakeLists.txt")
                   for path in ([ROOT / top] if (ROOT / top).is_file() else sorted((ROOT / top).rglob("*")))
                   if path.suffix in {".h", ".c", ".def", ".txt", ".cmake", ".py"})
    for name in set(re.findall(r"`((?:gather|GATHER)_\w+)", prose(file))):
        wanted = name.removeprefix("GATHER_TYPE_") if name.startswith("GATHER_TYPE_") else name
        assert re.search(rf"\b{wanted}\b", text) or re.search(rf"\b{name.removeprefix('GATHER_')}\b", text), f"{file}: {name}"


def test_every_document_is_on_the_map():
    map_of_documents = prose(DOCS / "README.md")
    for file in documents():
        name = str(file.relative_to(DOCS))
        assert name == "README.md" or name in map_of_documents or name.startswith(("ops/", "benchmarks/")), f"docs/README.md lacks {name}"


def test_every_machine_is_on_the_page_of_benchmarks():
    page = prose(DOCS / "benchmarks.md")
    found = sorted((DOCS / "benchmarks").glob("*.md"))
    assert found
    for file in found:
        assert f"(benchmarks/{file.name})" in page and file.with_suffix(".json").exists(), file


def test_every_tuning_number_is_explained():
    """docs/tuning.md has a row for each row of the table, with its default."""
    table = (ROOT / "src/core/kernel/tuning.def").read_text(encoding="utf-8")
    rows = re.findall(r"^GATHER_TUNING\((\w+), (-?\d+),", table, flags=re.M)
    told = re.findall(r"^\| `(\w+)` \| (-?\d+) \|", (DOCS / "tuning.md").read_text(encoding="utf-8"), flags=re.M)
    assert len(rows) > 10 and told == rows
