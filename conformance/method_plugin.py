# SPDX-License-Identifier: MIT
"""A plug-in of pytest that runs a package's own tests on libgather: `x.take` in the test modules (and where the adapter
says so) becomes a call of the adapter while the module is loaded from the installed package, and so do `x.at`, and each x[key] that
is read, in the modules of CONFORMANCE_READ; the adapter exchanges functions. Each test is reported with the number of calls that reached libgather.

    CONFORMANCE_PACKAGE   the package whose tests these are
    CONFORMANCE_ADAPTER   the module with `method(owner)`, `read(owner, key)`, `calls` and `install()`; maybe `at(owner)`
    CONFORMANCE_ALSO      further modules of the package in which x.take is ours
    CONFORMANCE_READ      modules of tests in which x[key] is ours
    CONFORMANCE_SELECT    file of tests -> regular expression for Class::function, as JSON
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
READ = os.environ.get("CONFORMANCE_READ", "").split(",")
SELECT = {file: re.compile(pattern) for file, pattern in json.loads(os.environ["CONFORMANCE_SELECT"]).items()}
REWRITTEN = "__libgather_method__"
REWRITTEN_READ = "__libgather_read__"
REWRITTEN_AT = "__libgather_at__"


def adapter():
    """The adapter, which needs a package that is wholly there."""
    return importlib.import_module(ADAPTER)


def method(owner):
    return adapter().method(owner)


def at(owner):
    made = getattr(adapter(), "at", None)
    return made(owner) if made else owner.at


def read(owner, key):
    return adapter().read(owner, key)


def written_out(key: ast.expr) -> ast.expr:
    """A key as an expression: slices as calls of slice."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([written_out(part) for part in key.elts], ast.Load())
    if not isinstance(key, ast.Slice):
        return key
    ends = [end or ast.Constant(None) for end in (key.lower, key.upper, key.step)]
    return ast.Call(ast.Name("slice", ast.Load()), ends, [])


class Methods(ast.NodeTransformer):
    """x.take, read, becomes __libgather_method__(x), and x.at __libgather_at__(x)."""

    NAMES = {"take": REWRITTEN, "at": REWRITTEN_AT}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr not in self.NAMES or not isinstance(node.ctx, ast.Load):
            return node
        call = ast.Call(ast.Name(self.NAMES[node.attr], ast.Load()), [node.value], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


class Reads(ast.NodeTransformer):
    """x[key], read, becomes __libgather_read__(x, key), and x.__getitem__ a function of the key. The x of x[key] = value stays
    as it is.
    """

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr != "__getitem__" or not isinstance(node.ctx, ast.Load):
            return node
        key = ast.arguments([], [ast.arg("key")], None, [], [], None, [])
        call = ast.Call(ast.Name(REWRITTEN_READ, ast.Load()), [node.value, ast.Name("key", ast.Load())], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Lambda(key, call), node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not isinstance(node.ctx, ast.Load):
            node.slice = self.visit(node.slice)
            return node
        self.generic_visit(node)
        call = ast.Call(ast.Name(REWRITTEN_READ, ast.Load()), [node.value, written_out(node.slice)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


class Loader(importlib.machinery.SourceFileLoader):
    """The module's own file, with its calls of the method turned into ours. Nothing is cached on disk."""

    def get_code(self, fullname: str):
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        tree = Methods().visit(tree)
        if fullname.rpartition(".")[2] in READ:
            tree = Reads().visit(tree)
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module) -> None:
        setattr(module, REWRITTEN, method)
        setattr(module, REWRITTEN_READ, read)
        setattr(module, REWRITTEN_AT, at)
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


def pytest_pycollect_makeitem(collector, name, obj):
    """Only the tests that CONFORMANCE_SELECT names; the parameters of the others, ten thousands, are not even made."""
    if isinstance(obj, type) or not name.startswith("test"):
        return None
    file, _, test = f"{collector.nodeid}::{name}".partition("::")
    return None if file in SELECT and SELECT[file].search(test) else []


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
