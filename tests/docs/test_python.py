# SPDX-License-Identifier: MIT
"""Every Python example of the documents is run and prints what stands there. The blocks of one document share names and a folder."""

import doctest
import os
from pathlib import Path

import pytest

from blocks import ROOT, Block, blocks, name_of
from support.skip import skip_test

PYTHON = blocks("python", ROOT / "README.md")
FLAGS = doctest.ELLIPSIS


def documents() -> list[Path]:
    return sorted({block.file for block in PYTHON})


def library(block: Block) -> str:
    """The library beyond the tests' own that a block needs: what it imports on a line of its own."""
    for name in ("torch", "jax", "duckdb", "dask"):
        if f"import {name}\n" in block.text:
            return name
    return ""


CASES = sorted({(block.file, library(block)) for block in PYTHON}, key=str)


def needs(*modules: str) -> None:
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            skip_test(name, "the package is not installed")


@pytest.mark.parametrize("file, name", CASES, ids=[f"{name_of(file)}{'-' * bool(name)}{name}" for file, name in CASES])
def test_examples(file, name, tmp_path, monkeypatch, capsys):
    if not (Path(os.environ["GATHER_BUILD"]) / "python/libgather/__init__.py").exists():
        skip_test("python", "this build has no Python package (-DGATHER_PYTHON_PACKAGE=OFF)")
    needs(*filter(None, [name]))
    if file.name.startswith("plugin-") and not (Path(os.environ["GATHER_BUILD"]) / "python/libgather/plugins").exists():
        skip_test("plug-ins", "this build has none (-DGATHER_PLUGINS=OFF)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict = {"__name__": "__main__"}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    said: list[str] = []
    for block in PYTHON:
        if block.file == file and library(block) in ("", name) and (not name or library(block) == name):
            assert block.text.startswith(">>> "), f"{block}: an example begins with >>>"
            test = parser.get_doctest(block.text, names, str(block), str(file), block.line)
            assert test.examples
            runner.run(test, out=said.append, clear_globs=False)
            names.update(test.globs)
    assert not said, "".join(said)


def test_a_wrong_example_is_found(tmp_path):
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "block", "file", 1)
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=said.append)
    assert "Expected:\n    3\n" in "".join(said)
