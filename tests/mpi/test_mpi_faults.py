# SPDX-License-Identifier: MIT
"""A rank that fails: every other one hears of it, or ends within the time limit."""

import re
import time

import pytest
from mpirun import NAMES, mpirun
from support.skip import skip_test

LIMIT = 3  # seconds that the ranks wait
SLACK = 60  # for a busy machine: starting and ending ranks; the library's own limit is 600


def run(name: str, ranks: int, what: str, **options):
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    start = time.monotonic()
    done = mpirun(name, ranks, "mpi_faults", what, LIMIT, **options)
    return done, time.monotonic() - start


def lines(done, rank: int) -> list[str]:
    return [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith(f"rank {rank}: ")]


both = pytest.mark.parametrize("name", ["openmpi", "mpich"])


@both
def test_rows_that_cannot_be_read(name):
    done, _ = run(name, 3, "read")
    assert done.returncode == 0, done.stdout + done.stderr
    expected = "io_error: rank 1: table.npy: cannot be read: disk is on fire (at byte 4096) [1]"
    for rank in range(3):
        assert lines(done, rank) == ["ok:  [-1]", expected, expected]


@both
def test_ranks_that_disagree(name):
    done, _ = run(name, 3, "differ")
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(3):
        assert lines(done, rank) == [
            "type_mismatch: rank 1: it has another type of elements than rank 0 [1]",
            "shape_mismatch: rank 1: it has rows of another shape than rank 0 [1]",
            "mismatch: rank 1: it has another layout than rank 0 [1]",
            "mismatch: rank 1: it has other options than rank 0 [1]",
            "usage: rank 1: rounds must be 0 to 8, not 99 [1]",
            "shape_mismatch: rank 0: it has 1000 rows; by the layout it has 999 [0]",
        ]


@both
def test_tables_that_are_not_the_same(name):
    done, _ = run(name, 2, "same")
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        assert lines(done, rank) == ["mismatch: rank 1: its table has other rows than that of rank 0 [1]"]


@both
@pytest.mark.parametrize("what", ["stopped", "missing"])
def test_a_rank_that_hangs(name, what):
    """The others wait for it as long as they were told, and then have an error each; so has every later take."""
    done, took = run(name, 3, what)
    assert done.returncode != 0
    waited = rf"io_error: rank \d: nothing from some other rank for {LIMIT} s: it may have ended, or not have made this call \[-1\]"
    survivors = [lines(done, rank) for rank in (0, 2)]
    assert any(re.fullmatch(waited, line) for found in survivors for line in found), done.stdout + done.stderr
    assert any("this plan cannot be used any more" in line for found in survivors for line in found), done.stdout
    assert LIMIT <= took < LIMIT + SLACK


@both
def test_a_killed_rank(name):
    """MPI ends all ranks: mpirun's exit status says so."""
    done, took = run(name, 3, "killed")
    assert done.returncode != 0
    assert lines(done, 0)[:2] == ["ok:  [-1]", "ok:  [-1]"]
    assert took < LIMIT + SLACK
