# SPDX-License-Identifier: MIT
"""Counts the generated models that passed, for the last lines of the run (counted.py), and keeps the files of these tests in memory."""

import os

import counted
import pytest

ROOM = 2 << 30  # bytes; the tests need a tenth of it


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Thousands of small files that nothing is learned from: disks take longer to make them than the tests take."""
    try:
        free = os.statvfs("/dev/shm")
    except OSError:
        return
    if os.access("/dev/shm", os.W_OK) and free.f_bavail * free.f_frsize >= ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


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
