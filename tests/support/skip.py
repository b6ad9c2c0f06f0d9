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
