# SPDX-License-Identifier: MIT
#
# shrink.py PROGRAM NUMBER: makes a failing case of test_rules_replay (PROGRAM) smaller as long as it fails, and prints the smallest in one
# line, with what the program says of it. For programs that this machine runs itself; GATHER_TEST_SEED and GATHER_TEST_ROUNDS as they were.
"""The smallest failing variant of a case."""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import make_cases
from generate import Case, all_cases, smaller

POINTER_BYTES = np.dtype(np.intp).itemsize


def first_failing(program: str, cases: list[Case]) -> tuple[Case, str] | None:
    """The first of the cases that fails, with the program's words."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        make_cases.write(file.name, cases, POINTER_BYTES, sys.byteorder)
        environment = dict(os.environ, GATHER_TEST_CASES_FILE=file.name)
        run = subprocess.run([program, "0", str(len(cases))], capture_output=True, text=True, env=environment, timeout=300)
    number = re.search(r"^case (\d+) ", run.stdout + run.stderr, flags=re.M)
    return (cases[int(number[1])], run.stdout + run.stderr) if number else None


def main() -> None:
    program, number = sys.argv[1], int(sys.argv[2])
    found = first_failing(program, [all_cases(make_cases.SEED, make_cases.ROUNDS, POINTER_BYTES)[number]])
    if not found:
        sys.exit(f"case {number} does not fail by itself")
    while found:
        case, words = found
        found = first_failing(program, list(smaller(case)))
    print(words + case.line())


if __name__ == "__main__":
    main()
