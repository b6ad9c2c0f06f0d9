# SPDX-License-Identifier: MIT
"""A plug-in of pytest that runs a package's own tests on libgather: `x.take` in the test modules (and where the adapter says so) becomes a
call of the adapter while the module is loaded from the installed package, and the adapter exchanges functions. Each test is reported
with the number of calls that reached libgather.

    CONFORMANCE_PACKAGE   the package whose tests these are
    CONFORMANCE_ADAPTER   the module with `method(owner)`, `calls` and `install()`
    CONFORMANCE_ALSO      further modules of the package in which x.take is ours
    CONFORMANCE_SELECT    file of tests -> regular expression, as JSON
    CONFORMANCE_RESULTS   where the results go
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import re
import sys
from pathlib import Path

import pytest

PACKAGE = os.environ["CONFORMANCE_PACKAGE"]
ADAPTER = os.environ["CONFORMANCE_ADAPTER"]
ALSO = os.environ.get("CONFORMANCE_ALSO", "").split(",")
REWRITTEN = "__libgather_method__"


def adapter():
    """The adapter, which needs a package that is wholly there."""
    return importlib.import_module(ADAPTER)


def method(owner):
    return adapter().method(owner)


class Methods(ast.NodeTransformer):
    """x.take, read, becomes __libgather_method__(x)."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr != "take" or not isinstance(node.ctx, ast.Load):
            return node
        call = ast.Call(ast.Name(REWRITTEN, ast.Load()), [node.value], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


class Loader(importlib.machinery.SourceFileLoader):
    """The module's own file, with its calls of the method turned into ours. Nothing is cached on disk."""

    def get_code(self, fullname: str):
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        return compile(Methods().visit(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module) -> None:
        setattr(module, REWRITTEN, method)
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the package's test modules, under whatever name they are loaded, and the modules of ALSO."""

    def find_spec(self, fullname, path=None, target=None):
        name = fullname.rpartition(".")[2]
        if not name.startswith("test_") and fullname not in ALSO:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        folders = Path(spec.origin).parts
        if fullname in ALSO or (PACKAGE in folders and "tests" in folders):
            spec.loader = Loader(fullname, spec.origin)
            return spec
        return None


sys.meta_path.insert(0, Finder())
importlib.import_module(PACKAGE)
adapter().install()

results: dict[str, dict] = {}


def pytest_collection_modifyitems(config, items) -> None:
    """Keeps the tests that CONFORMANCE_SELECT names."""
    wanted = {name: re.compile(pattern) for name, pattern in json.loads(os.environ["CONFORMANCE_SELECT"]).items()}
    kept, left = [], []
    for item in items:
        file, _, test = item.nodeid.partition("::")
        (kept if file in wanted and wanted[file].search(test) else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = adapter().calls
    try:
        return (yield)
    finally:
        results.setdefault(item.nodeid, {})["calls"] = adapter().calls - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    entry = results.setdefault(item.nodeid, {})
    if report.when == "call" or report.outcome != "passed":
        entry["outcome"] = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        entry["error"] = f"{call.excinfo.typename}: {call.excinfo.value}" if call.excinfo else ""
    return report


def pytest_sessionfinish() -> None:
    with open(os.environ["CONFORMANCE_RESULTS"], "w") as out:
        json.dump(results, out)
