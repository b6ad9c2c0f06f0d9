# SPDX-License-Identifier: MIT
"""What a suite found: counts by group, failures in words, and which known differences showed themselves. Every suite is
a program of its own that writes one report as JSON; run.py reads them all.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from differences import Difference, of_suite

COUNTS = ("passed", "failed", "different", "unreached", "foreign")
KEPT_FAILURES = 40  # in words; all are counted


def cases(number: int) -> int:
    """How many random cases of a kind: fewer in a quick run, CONFORMANCE_QUICK=N of run.py."""
    return max(3, number // int(os.environ.get("CONFORMANCE_QUICK") or 1))


class NotRun(Exception):
    """The suite cannot run here; its text says why."""


def version_of(package: str) -> str:
    """The installed version, or NotRun."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise NotRun(f"the package {package} is not installed") from None


class Report:
    """Counts of one suite. A group is a line of the table."""

    def __init__(self, suite: str, package: str) -> None:
        self.suite, self.package, self.version = suite, package, version_of(package)
        self.groups: dict[str, dict[str, int]] = {}
        self.failures: list[str] = []
        self.failed_count = 0
        self.seen: dict[str, int] = {}
        self.remarks: list[str] = []
        self.known: dict[str, Difference] = of_suite(suite)

    def _count(self, group: str, what: str, number: int = 1) -> None:
        counts = self.groups.setdefault(group, dict.fromkeys(COUNTS, 0))
        counts[what] += number

    def passed(self, group: str, number: int = 1) -> None:
        self._count(group, "passed", number)

    def failed(self, group: str, text: str) -> None:
        self._count(group, "failed")
        self.failed_count += 1
        if len(self.failures) < KEPT_FAILURES:
            self.failures.append(f"{group}: {text}")

    def different(self, group: str, name: str) -> None:
        """A difference that differences/*.toml explains."""
        if name not in self.known:
            self.failed(group, f"a difference without an entry in differences/*.toml: {name}")
            return
        self._count(group, "different")
        self.seen[name] = self.seen.get(name, 0) + 1

    def unreached(self, group: str, number: int = 1) -> None:
        """Tests that ran and called nothing of ours: they say nothing."""
        self._count(group, "unreached", number)

    def foreign(self, group: str, number: int = 1) -> None:
        """Tests of what libgather does not have."""
        self._count(group, "foreign", number)

    def remark(self, text: str) -> None:
        self.remarks.append(text)

    def answer(self) -> dict:
        return {
            "suite": self.suite, "package": self.package, "version": self.version, "groups": self.groups,
            "failures": self.failures, "failed": self.failed_count, "seen": self.seen, "remarks": self.remarks,
        }  # fmt: skip


def require_cases(report: Report, least: int) -> None:
    """A suite that ran nothing has shown nothing."""
    ran = sum(counts["passed"] + counts["different"] + counts["failed"] for counts in report.groups.values())
    if ran < least:
        report.failed("number of tests", f"only {ran} tests reached libgather, {least} or more were expected")


def main(suite: str, run: Callable[[], Report]) -> None:
    """Runs a suite as a program: SUITE.py ANSWER.json"""
    try:
        answer = run().answer()
    except NotRun as why:
        answer = {"suite": suite, "not_run": str(why)}
    path = Path(sys.argv[1])
    path.write_text(json.dumps(answer, indent=1))
    sys.stdout.flush()
    os._exit(0)  # peers that crash while they are unloaded shall not spoil the answer
