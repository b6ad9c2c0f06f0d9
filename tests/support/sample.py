# SPDX-License-Identifier: MIT
"""GATHER_TEST_CASES=n: one in n cases of each test function is run."""
import os

STEP = int(os.environ.get("GATHER_TEST_CASES", "1"))


def least(count: int) -> int:
    """Of `count` things that all cases bring, how many the sample must have brought."""
    return count // STEP
