# SPDX-License-Identifier: MIT
"""Skipping a Python test: the skip is printed, and GATHER_TEST_REQUIRE=name[,name] (or all) turns it into a failure."""
import os

import pytest

REQUIRED = {name for name in os.environ.get("GATHER_TEST_REQUIRE", "").split(",") if name}


def skip_test(name: str, why: str) -> None:
    """Skips the running test, or fails it where GATHER_TEST_REQUIRE names it."""
    if name in REQUIRED or "all" in REQUIRED:
        pytest.fail(f"required by GATHER_TEST_REQUIRE, but skipped: {name}: {why}")
    pytest.skip(f"{name}: {why}")


def needs(name: str, found, why: str = "the package is not installed"):
    """A fixture for every test of the file that imports it: it skips where `found`, usually a module, is false."""

    @pytest.fixture(autouse=True)
    def needed():
        if not found:
            skip_test(name, why)

    return needed


def module(name: str):
    """A module; without it the running test is skipped."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        skip_test(name.partition(".")[0], "the package is not installed")
