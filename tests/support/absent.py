# SPDX-License-Identifier: MIT
"""What a program of the tests needs and this machine lacks: a skip in a test, an error elsewhere (the benchmarks run without pytest)."""
import os
from typing import NoReturn


def absent(name: str, why: str) -> NoReturn:
    if "PYTEST_CURRENT_TEST" in os.environ:
        from support.skip import skip_test

        skip_test(name, why)
    raise SystemExit(f"{name}: {why}")
