# SPDX-License-Identifier: MIT
"""What all Python tests share: no test passes by not running.

support/skip.py skips a test by name; this file turns the skips that did not go through it into failures too, where the
environment variable GATHER_TEST_REQUIRE asks for that. pytest fails by itself where a folder holds no test. A test that opens a
pseudo-terminal is skipped by name where the system has none.
"""

import gc
import os
import pty
import subprocess
from pathlib import Path

import pytest

from support.sample import STEP
from support.skip import REQUIRED, skip_test  # noqa: F401  (tests may import skip_test from here too)


class LimitedPopen(subprocess.Popen):
    """No program hangs a test: who waits for one without a limit has this one. subprocess.run then ends the program."""

    LIMIT = 600  # seconds; nothing that the tests start takes as long

    def communicate(self, input=None, timeout=None):  # noqa: A002  (subprocess calls it so)
        return super().communicate(input, self.LIMIT if timeout is None else timeout)

    def wait(self, timeout=None):
        try:
            return super().wait(self.LIMIT if timeout is None else timeout)
        except subprocess.TimeoutExpired:
            if timeout is None:
                self.kill()
            raise


subprocess.Popen = LimitedPopen


def refuse_required_skips(report) -> None:
    """Makes a skip that is required a failure."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if "all" in REQUIRED or any(name in reason for name in REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"required by GATHER_TEST_REQUIRE, but skipped: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Skipped tests."""
    outcome = yield
    refuse_required_skips(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """Whole modules that skip themselves while they are imported."""
    outcome = yield
    refuse_required_skips(outcome.get_result())


def pytest_configure(config):
    config.addinivalue_line("markers", "all_cases: a test whose cases are all run, whatever GATHER_TEST_CASES says")
    config.addinivalue_line("markers", "in_full: a test of what was learned once, which is run where all cases are (script/test --all)")


def pytest_collection_modifyitems(config, items):
    """GATHER_TEST_CASES=n: of the cases of each test function every n-th, the first included, and none of those marked in_full."""
    kept, left, seen = [], [], {}
    for item in items:
        function = item.nodeid.partition("[")[0]
        seen[function] = seen.get(function, -1) + 1
        all_cases = item.get_closest_marker("all_cases") is not None  # another test counts them
        left_out = item.get_closest_marker("in_full") is not None if seen[function] % STEP == 0 else not all_cases
        (left if STEP > 1 and left_out else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_collection_finish():
    """The modules stay: a test that collects garbage does not look through them each time."""
    gc.collect()
    gc.freeze()


system_openpty = pty.openpty


def openpty_or_skip() -> tuple[int, int]:
    """pty.openpty; a chroot or container without /dev/pts has no terminals to open."""
    try:
        return system_openpty()
    except OSError as error:
        skip_test("terminal", f"this system has no pseudo-terminals ({error})")


pty.openpty = openpty_or_skip


def needed(name: str) -> Path:
    """A path that ctest hands over in the environment."""
    value = os.environ.get(name)
    if not value:
        pytest.fail(f"{name} is not set: run the tests with script/test, or set it")
    return Path(value)


@pytest.fixture(scope="session")
def gather_lib() -> Path:
    """The shared library."""
    return needed("GATHER_LIB")


@pytest.fixture(scope="session")
def gather_exe() -> Path:
    """The command."""
    return needed("GATHER_EXE")


@pytest.fixture(scope="session")
def gather_build() -> Path:
    """The build folder."""
    return needed("GATHER_BUILD")


@pytest.fixture(scope="session")
def gather_source() -> Path:
    """The project's root."""
    return needed("GATHER_SOURCE")
