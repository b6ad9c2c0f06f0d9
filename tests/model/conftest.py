# SPDX-License-Identifier: MIT
"""Counts the generated models that passed, for the last lines of the run: see counted.py."""

import counted
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        counted.note(item.path.name, item.originalname, report.passed)


def pytest_collection_modifyitems(items):
    """The count stands last."""
    items.sort(key=lambda item: item.path.name == "test_run_total.py")


def pytest_terminal_summary(terminalreporter):
    for line in (counted.sentence(), *counted.random_lines()):
        terminalreporter.write_line(line)
