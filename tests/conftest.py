# SPDX-License-Identifier: MIT
"""What all Python tests share: no test passes by not running.

support/skip.py skips a test by name; this file turns the skips that did not go through it into failures too, where the
environment variable GATHER_TEST_REQUIRE asks for that. pytest fails by itself where a folder holds no test.
"""

import os
from pathlib import Path

import pytest

from support.skip import REQUIRED, skip_test  # noqa: F401  (tests may import skip_test from here too)


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
