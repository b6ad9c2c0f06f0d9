# SPDX-License-Identifier: MIT
"""Takes over ranks, compared with a serial take; script/mpi --cases runs 10,000 cases. The first cases of another seed with
GATHER_TEST_SEED=N, more of them with GATHER_TEST_ROUNDS=N."""

import os
import re

import pytest
from mpirun import FIRST, NAMES, OTHER, mpirun
from support.skip import skip_test

SEED = int(os.environ.get("GATHER_TEST_SEED", "0")) * 1_000_000
CASES = int(os.environ.get("GATHER_TEST_ROUNDS", "12"))


@pytest.mark.parametrize(("name", "runs"), [(FIRST, ((1, 0), (2, 100), (4, 200))), (OTHER, ((3, 300),))], ids=[FIRST, OTHER])
def test_equal_to_a_serial_take(name, runs, tmp_path):
    """runs: ranks, and the first case."""
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    for ranks, first in runs:
        done = mpirun(name, ranks, "mpi_cases", tmp_path, SEED + first, CASES, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(rf"^{CASES} cases on 1 to {ranks} ranks equal: \d+ takes", done.stdout), done.stdout + done.stderr
        assert not list(tmp_path.iterdir())


def test_a_difference_is_seen(tmp_path):
    """The program's own check: the folder for tables is missing, so a case with a file fails, and mpirun with it."""
    if not NAMES:
        skip_test("mpi", "no MPI here")
    done = mpirun(NAMES[0], 1, "mpi_cases", tmp_path / "missing", SEED, 60, timeout=300)
    assert done.returncode != 0 and "cannot write" in done.stderr
