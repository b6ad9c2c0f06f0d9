# SPDX-License-Identifier: MIT
"""A rank that fails: every other one hears of it, or ends within the time limit. Under one MPI each; GATHER_TEST_MPI=all: under both."""

import re
import time

import pytest
from mpirun import EACH, FIRST, NAMES, OTHER, mpirun
from support.skip import skip_test

LIMIT = 4  # seconds that the ranks wait, also for each other where nothing is wrong
SLACK = 60  # for a busy machine: starting and ending ranks; the library's own limit is 600
WAITED = rf"io_error: rank \d: no answer from another rank for {LIMIT} s: it may have ended, or not made this call \[-1\]"
BROKEN = r"io_error: rank \d: an earlier call failed while rows were in flight: this plan cannot be used any more \[-1\]"


def run(name: str, ranks: int, what: str, *more: object):
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    start = time.monotonic()
    done = mpirun(name, ranks, "mpi_faults", what, LIMIT, *more)
    return done, time.monotonic() - start


def lines(done, rank: int) -> list[str]:
    return [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith(f"rank {rank}: ")]


def under(name: str):
    """The MPI for a test: this one, or both."""
    return pytest.mark.parametrize("name", [FIRST, OTHER] if EACH else [name])


def each(first: str, other: str):
    """What to run under the first MPI and under the other one; or both under both."""
    return pytest.mark.parametrize(("name", "what"), [(FIRST, first), (OTHER, other), *([(FIRST, other), (OTHER, first)] if EACH else [])])


@each("file", "read")
def test_rows_that_cannot_be_read(name, what, tmp_path):
    """A function that fails, and a file that was cut while it was open. The plan remains usable."""
    done, _ = run(name, 3, what, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    if what == "read":
        expected = "io_error: rank 1: table.npy: cannot be read: disk is on fire (at byte 4096) [1]"
        assert [lines(done, rank) for rank in range(3)] == 3 * [["ok:  [-1]", expected, expected]]
        return
    found = [lines(done, rank) for rank in range(3)]
    assert found == 3 * [found[0]] and found[0][:2] == ["ok:  [-1]"] * 2 and len(found[0]) == 3, found
    # The row is one of those that are gone: two threads read, and either may be the first to find out.
    cut = "the file ends at byte 100: it was truncated while it was open (at byte 100)"
    named = re.fullmatch(rf"io_error: rank 1: {re.escape(str(tmp_path))}/part1: {re.escape(cut)} \(row (\d+) of the table\) \[1\]", found[0][2])
    assert named and int(named[1]) < 1000, found


@under(FIRST)
def test_no_memory(name, tmp_path):
    """Each allocation of one rank fails once: the same error on all ranks, or right rows; then the next take is right."""
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    done = mpirun(name, 2, "mpi_alloc", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"^([^:\n]+): (\d+) allocations, (\d+) errors$", done.stdout, re.M)
    assert [kind for kind, *_ in counts] == ["blocks", "splits, hot rows, fill", "stripes, hot rows", "files", "same"]
    for kind, allocations, failures in counts:
        # Without memory to count neighbours or to look for each other's files, ranks do without.
        assert int(failures) >= 10 and int(allocations) - int(failures) == (2 if kind == "files" else 1), done.stdout


@under(FIRST)
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
            "shape_mismatch: rank 0: it has 1000 rows; the layout needs 999 [0]",
            "usage: rank 1: neither the rows of this rank nor a table are given [1]",
        ]


@under(FIRST)
def test_tables_that_are_not_the_same(name):
    done, _ = run(name, 2, "same")
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        assert lines(done, rank) == ["mismatch: rank 1: the rows of its table differ from those of rank 0 [1]"]


@each("rows_stopped", "missing")
def test_a_rank_that_hangs(name, what):
    """The others wait for it as long as they were told, and then have an error each; so has every later take."""
    done, took = run(name, 3, what)
    assert done.returncode != 0
    for rank in (0, 2):
        found = lines(done, rank)
        assert found[:2] == ["ok:  [-1]"] * 2 and len(found) == 4, done.stdout + done.stderr
        assert re.fullmatch(WAITED, found[2]) and re.fullmatch(BROKEN, found[3]), found
    assert LIMIT <= took < LIMIT + SLACK


@under(FIRST)
def test_a_rank_that_is_late(name):
    """What arrives when the others have given up is written into memory that is kept for it, not where the call was."""
    done, _ = run(name, 3, "late")
    for rank in (0, 2):
        found = lines(done, rank)
        assert re.fullmatch(WAITED, found[2]) and found[3] == "0 bytes of the stack were written", done.stdout + done.stderr
        assert re.fullmatch(BROKEN, found[4])


@each("killed", "rows_killed")
def test_a_killed_rank(name, what):
    """Before a take, or between ids and rows: MPI ends all ranks, and mpirun's exit status says so."""
    done, took = run(name, 3, what)
    assert done.returncode != 0
    assert lines(done, 0)[:2] == ["ok:  [-1]", "ok:  [-1]"]
    assert took < LIMIT + SLACK
