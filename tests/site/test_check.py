# SPDX-License-Identifier: MIT
"""The checks of a site fail on what they are for: a fault is planted in a copy of a small one."""

import re
from pathlib import Path

import pytest
from conftest import ROOT, run

import links
import stage

PLANTED = {
    "a dead link": ("index.html", '<a href="docs/nowhere.html">x</a>', "docs/nowhere.html: there is no such file"),
    "a dead anchor": ("index.html", '<a href="docs/page.html#nowhere">x</a>', "docs/page.html has no such anchor"),
    "a font from elsewhere": ("docs/page.html", '<link rel="stylesheet" href="https://fonts.example/x.css">', "is loaded from another machine"),
    "a script from elsewhere": ("docs/page.html", '<script src="//cdn.example/x.js"></script>', "is loaded from another machine"),
    "a link out of the site": ("docs/page.html", '<a href="../../outside.txt">x</a>', "is outside the site"),
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A site of two pages without a fault."""
    (tmp_path / "site/docs").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("x")
    (tmp_path / "site/index.html").write_text('<p id="top"><a href="docs/page.html#a">x</a><a href="https://example.org">y</a></p>')
    (tmp_path / "site/docs/page.html").write_text('<p id="a"><a href="../index.html#top">x</a><a href="#a">y</a></p>')
    return tmp_path / "site"


def test_a_site_without_a_fault(small: Path):
    assert links.faults(small) == ([], 3)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(small: Path, name: str):
    page, planted, said = PLANTED[name]
    file = small / page
    file.write_text(file.read_text() + planted)
    found, _ = links.faults(small)
    assert len(found) == 1 and found[0].startswith(page) and said in found[0], found


SPHINX = ("-m", "sphinx", "-q", "-W", "--keep-going", "-c", ROOT / "site")


@pytest.mark.in_full
@pytest.mark.parametrize("line, faults", [("[there](page.md#a-heading) and `code`", []), ("[nothing](nowhere.md)", ["nowhere"]),
                                          ("[no heading](page.md#nowhere)", ["nowhere"])])
def test_a_dead_link_in_a_document_does_not_build(site_python: Path, tmp_path: Path, line: str, faults: list, monkeypatch: pytest.MonkeyPatch):
    """Before any other check: Sphinx follows links to documents and to their headings."""
    monkeypatch.setenv("GATHER_SITE_VERSION", "9.9")
    (tmp_path / "source").mkdir()
    (tmp_path / "source/index.md").write_text(f"# First\n\n{line}\n\n```{{toctree}}\npage\n```\n")
    (tmp_path / "source/page.md").write_text("# Page\n\n## A heading\n\nText.\n")
    done = run(site_python, *SPHINX, "-d", tmp_path / "doctrees", tmp_path / "source", tmp_path / "html")
    assert (done.returncode == 0) == (not faults), done.stderr
    assert all(fault in done.stderr for fault in faults), done.stderr


def test_every_document_is_in_the_contents(tmp_path: Path):
    """Whatever document is added, the list of contents of the site has it."""
    pages = stage.Stage(ROOT, tmp_path).make()
    stage.contents(tmp_path, pages)
    trees = [tree for page in pages for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", (tmp_path / page).read_text(encoding="utf-8"), re.M | re.S)]
    listed = set(re.findall(r"^/?([\w./-]+)$", "\n".join(trees), re.M))
    for page in pages:
        assert str(page).removesuffix(".md") in listed or page.name in {"index.md", "files.md"}, page


def test_links_that_a_site_has_no_use_for(tmp_path: Path):
    staged = stage.Stage(ROOT, tmp_path)
    text = "[a](../README.md#x) [b](../include/gather/table.h) [c](../examples/python) [d](../examples) [e](https://x.y/z) [f](python.md)\n```\n[g](../README.md)\n```\n"
    assert staged.with_links(text, Path("docs/page.md")) == (
        "[a](../index.md#x) [b](../api/c/table.rst) [c](../examples/python/files.md) [d](../examples/README.md) [e](https://x.y/z) [f](python.md)\n```\n[g](../README.md)\n```\n")
