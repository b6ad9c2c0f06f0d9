# SPDX-License-Identifier: MIT
"""What all Python tests share: no test passes by not running.

skip_test("name", "why") skips a test and prints it; the environment variable GATHER_TEST_REQUIRE=name[,name] turns the skip
of that name into a failure, and GATHER_TEST_REQUIRE=all every skip, however it was made. A folder in which no test ran fails.
"""

import os
from pathlib import Path

import pytest

REQUIRED = {name for name in os.environ.get("GATHER_TEST_REQUIRE", "").split(",") if name}


def skip_test(name: str, why: str) -> None:
    """Skips the running test, or fails it where GATHER_TEST_REQUIRE names it."""
    if name in REQUIRED or "all" in REQUIRED:
        pytest.fail(f"required by GATHER_TEST_REQUIRE, but skipped: {name}: {why}")
    pytest.skip(f"{name}: {why}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Turns the skips that did not go through skip_test into failures too, where they are required."""
    outcome = yield
    report = outcome.get_result()
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if "all" in REQUIRED or any(name in reason for name in REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"required by GATHER_TEST_REQUIRE, but skipped: {reason}"


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
