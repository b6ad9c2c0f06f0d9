# SPDX-License-Identifier: MIT
"""The checks of the whole site, which script/site --check has built and runs this for: each fails on what is planted in a copy. GATHER_SITE is
the folder of the version."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run

import page_checks
from browser import Browser

SITE = Path(os.environ["GATHER_SITE"])
PLANTED = {
    "a dead link": ("docs/use/install.html", "</body>", '<a href="../nowhere.html">x</a></body>', "docs/use/install.html: ../nowhere.html: there is no such file"),
    "a function that is missing": ("api/c/gather.html", 'id="c.gather_plan_create"', 'id="c.gather_plan_made"', "gather.h: gather_plan_create is not in the reference"),
    "a number that is wrong": ("api/c/gather.html", "= 18", "= 81", "gather.h: GATHER_CANCELLED lacks its number 18"),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SITE, tmp_path / SITE.name))


def plant(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    plain = text.replace(old, new)
    assert plain != text, f"{file}: {old}"
    file.write_text(plain, encoding="utf-8")


def test_faults_of_files(copy: Path):
    for page, old, new, _ in PLANTED.values():
        if old == "= 18":  # the markup of the number is Sphinx's
            text = (copy / page).read_text(encoding="utf-8")
            at = text.index("18", text.index("GATHER_CANCELLED"))
            (copy / page).write_text(text[:at] + "81" + text[at + 2:], encoding="utf-8")
        else:
            plant(copy / page, old, new)
    done = run(sys.executable, ROOT / "site/check.py", "--no-browser", copy)
    assert done.returncode == 1
    for *_, said in PLANTED.values():
        assert said in done.stdout, done.stdout


def test_faults_of_pages(copy: Path, tmp_path: Path):
    """What only a browser sees: a wide page, an error, a request to another machine, grey on grey, a search that finds nothing."""
    pages = tmp_path / "pages"
    (pages / "docs").mkdir(parents=True)
    (pages / "good.html").write_text('<meta name="viewport" content="width=device-width"><p>x</p>')
    (pages / "wide.html").write_text('<meta name="viewport" content="width=device-width"><div style="width:900px">x</div>')
    (pages / "error.html").write_text("<script>missing();</script>")
    (pages / "asks.html").write_text('<img src="https://elsewhere.example/x.png">')
    with Browser() as browser:
        found = page_checks.every_page(browser, pages, 360)
        assert not any(fault.startswith("good.html") for fault in found)
        assert any(fault.startswith("wide.html: is 9") for fault in found)
        assert any(fault.startswith("error.html") and "missing is not defined" in fault for fault in found)
        assert any("asks another machine: https://elsewhere.example/x.png" in fault for fault in found)
        style = copy / "_static/site.css"
        style.write_text(style.read_text(encoding="utf-8") + "article p { color: #999 !important }", encoding="utf-8")
        assert any("light" in fault for fault in page_checks.contrast(browser, copy))
        plant(copy / "searchindex.js", "api/c/gather", "api/c/other")
        assert any("gather_plan_create does not lead" in fault for fault in page_checks.search(browser, copy))


def test_faults_of_the_search_and_the_first_page(copy: Path):
    """A search that does not know the folders, and a first page with a door less and a long line."""
    plant(copy / "_static/language_data.js", "(topic ? 100 : 0)", "0")
    plant(copy / "index.html", "<p><strong>My model fails</strong></p>", "<p><strong>My model fails</strong></p><pre>" + "x" * 300 + "</pre>")
    with Browser() as browser:
        found = page_checks.questions(browser, copy)
        assert any("'DataLoader' does not find docs/use/python first" in fault for fault in found), found
        assert any("code is cut" in fault for fault in page_checks.start_page(browser, copy))


def test_faults_of_the_explainer(copy: Path):
    """One that drops the last picture, and one that is cut on a phone."""
    style = copy / "_static/site.css"
    style.write_text(style.read_text(encoding="utf-8") + ".explainer-last { opacity: 1 } .explainer-picture img { min-width: 900px }", encoding="utf-8")
    with Browser(15) as browser:
        browser.open((copy / "explainer.html").as_uri())
        browser.until("!!document.querySelector('#ex-picture img')")
        found = page_checks.last_picture(browser)
    assert [fault.split(":")[1][:17] for fault in found] == [" the last picture", " on a phone the p"], found


def test_another_picture_is_found(copy: Path, tmp_path: Path):
    """A command that draws something else than the page does."""
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho '<svg/>'\n")
    other.chmod(0o755)
    with Browser() as browser:
        found = page_checks.explainer(browser, copy, other)
    assert len([fault for fault in found if "another picture than the command's" in fault]) == len(page_checks.LINES)


def test_versions_are_listed():
    """The list beside the version's folder, for the switch in the pages."""
    assert f'"{SITE.name}"' in (SITE.parent / "versions.js").read_text(encoding="utf-8")
    assert f"{SITE.name}/index.html" in (SITE.parent / "index.html").read_text(encoding="utf-8")


def test_the_switch_between_versions(copy: Path):
    """A page offers the versions beside its own, also of one that is newer than the page, and goes there."""
    (copy.parent / "versions.js").write_text(f'window.gatherVersions = ["9.9", "{SITE.name}"];')
    (copy.parent / "9.9").mkdir()
    (copy.parent / "9.9/index.html").write_text("<title>the newest</title>")
    with Browser() as browser:
        browser.open((copy / "docs/use/install.html").as_uri())
        names = browser.until("(([...options]) => options.length > 1 && options.map((option) => option.value))(document.getElementById('gather-version').options)")
        assert names == [SITE.name, "9.9"]
        browser.ask("(() => { const list = document.getElementById('gather-version'); list.value = '9.9'; list.dispatchEvent(new Event('change')); })()")
        assert browser.until("document.title === 'the newest'")
