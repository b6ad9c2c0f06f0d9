# SPDX-License-Identifier: MIT
"""A package's own tests by pytest, in a process of its own with method_plugin.py, and what their results count as."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from report import Report

# File of the package's tests -> (the line of the table, which tests).
Selection = dict[str, tuple[str, str]]


def run_pytest(package: str, adapter: str, also: str, reads: str, select: dict[str, str], site: Path, results: Path) -> str:
    """Runs them; what pytest printed."""
    environment = {
        **os.environ, "CONFORMANCE_PACKAGE": package, "CONFORMANCE_ADAPTER": adapter, "CONFORMANCE_ALSO": also, "CONFORMANCE_READ": reads,
        "CONFORMANCE_RESULTS": str(results), "CONFORMANCE_SELECT": json.dumps(select),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    words = ["-q", "-p", "method_plugin", "-p", "no:cacheprovider", "--assert=plain", "--import-mode=importlib"]
    words += [f"--rootdir={site}", "-c", os.devnull, "-W", "ignore", "--tb=no", *(str(site / name) for name in select)]
    command = [sys.executable, "-m", "pytest", *words]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def judge(report: Report, group: str, test: str, result: dict, expected: dict) -> None:
    """One test's place in the counts."""
    outcome, error = result.get("outcome", "failed"), result.get("error", "")
    if outcome in ("skipped", "xfailed") or (not result.get("calls") and outcome == "passed"):
        report.unreached(group)
    elif test in expected:
        entry = expected[test]
        if outcome == "passed":
            report.failed(group, f"{test} passes: it does not belong to {entry.id} any more")
        elif entry.raises in error:
            report.different(group, entry.id)
        else:
            report.failed(group, f"{test}: {error[:300]} (expected by {entry.id}: {entry.raises})")
    elif outcome == "passed":
        report.passed(group)
    else:
        report.failed(group, f"{test}: {error[:300]}")


def run_own_tests(report: Report, package: str, adapter: str, selected: Selection, also: str = "", reads: str = "") -> None:
    """All of them, counted in the report. also, reads: as CONFORMANCE_ALSO and CONFORMANCE_READ of the plug-in."""
    site = Path(importlib.import_module(package).__file__).parents[1]
    select = {f"{package}/{file}": pattern for file, (_, pattern) in selected.items() if (site / package / file).exists()}
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        printed = run_pytest(package, adapter, also, reads, select, site, results)
        if not results.exists():
            report.failed("its own tests", f"pytest wrote no results: {printed[-1500:]}")
            return
        found = json.loads(results.read_text())
    expected = {test: entry for entry in report.known.values() for test in entry.tests}
    for test, result in found.items():
        short = test.removeprefix(f"{package}/")
        judge(report, selected[short.partition("::")[0]][0], short, result, expected)
    for file in selected:
        if f"{package}/{file}" not in select:
            report.remark(f"not in this version: {file}")
    for test in expected.keys() - {name.removeprefix(f"{package}/") for name in found}:
        text = f"{test}, which differences/*.toml names, is not among its tests"
        report.failed("its own tests", text) if report.version in expected[test].versions else report.remark(text)
    report.remark(f"{sum(result.get('calls', 0) for result in found.values())} calls in its own tests reached libgather")
