# SPDX-License-Identifier: MIT
#
# test_random.py: thousands of random gathers against the NumPy oracle. Every operator version meets every element type and
# every index type. GATHER_TEST_SEED sets the seed; a failure prints the smallest case found, in one line.
"""The library against the oracle, at random."""
from __future__ import annotations

import collections
import ctypes as c
import os
import tempfile

import pytest

import check
import generate
import libgather_ctypes as g

SEED = int(os.environ.get("GATHER_TEST_SEED", "20240611"))
ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", "6"))
COUNTS: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
LAST_CASE = os.path.join(tempfile.gettempdir(), f"gather-last-case-{os.getpid()}")


@pytest.fixture(scope="module")
def pool():
    handle = c.c_void_p()
    assert g.lib.gather_pool_create(3, handle, None) == g.OK
    yield g.lib.gather_pool_executor(handle)
    g.lib.gather_pool_destroy(handle)


@pytest.fixture(scope="module")
def notes():
    """A file that names the running case, so that a crash can be traced; it goes when nothing crashed."""
    print(f"seed {SEED}, the running case stands in {LAST_CASE}")
    with open(LAST_CASE, "w", encoding="ascii") as file:
        yield file
    os.remove(LAST_CASE)


def shrunk(case: generate.Case, pool) -> generate.Case:
    """The smallest variant found that still fails."""
    for _ in range(200):
        for candidate in generate.smaller(case):
            try:
                failed = check.complaint(candidate, pool)
            except (AssertionError, IndexError, ValueError):
                continue
            if failed:
                case = candidate
                break
        else:
            break
    return case


def run_case(case: generate.Case, pool, notes) -> str | None:
    notes.seek(0)
    notes.write(case.line() + "\n")
    notes.flush()
    wrong = check.complaint(case, pool)
    COUNTS["operator"][g.op_label(generate.OPS[case.op])] += 1
    COUNTS["type"][generate.TYPES[case.type].name] += 1
    COUNTS["index type"][generate.INDEX_TYPES[case.index_type].name] += 1
    COUNTS["policy"][case.on_bad] += 1
    COUNTS["runner"][case.runner] += 1
    COUNTS["instruction set"][g.lib.gather_isa_name().decode()] += 1
    if not wrong:
        return None
    small = shrunk(case, pool)
    return f"{check.complaint(small, pool)}\n  {small.line()}\n  seed {SEED}"


@pytest.mark.parametrize("op", range(len(generate.OPS)), ids=[g.op_label(op) for op in generate.OPS])
def test_against_the_oracle(op, pool, notes):
    failures, seed = [], SEED + 1_000_003 * op
    for _ in range(ROUNDS):
        for type_ in range(len(generate.TYPES)):
            for index_type in range(len(generate.INDEX_TYPES)):
                seed += 1
                wrong = run_case(generate.make_case(seed, op, type_, index_type), pool, notes)
                if wrong:
                    failures.append(wrong)
                if len(failures) >= 5:
                    pytest.fail("\n".join(failures))
    if failures:
        pytest.fail("\n".join(failures))


def test_nothing_was_left_out():
    """Runs last: every row, type, index type, policy and runner had cases."""
    wanted = {
        "operator": {g.op_label(op) for op in generate.OPS},
        "type": {info.name for info in generate.TYPES},
        "index type": {info.name for info in generate.INDEX_TYPES},
        "policy": set(generate.POLICIES),
        "runner": set(generate.RUNNERS),
    }
    assert len(generate.INDEX_TYPES) == 8
    assert g.lib.gather_tuning_set(b"isa", 99, None) == g.OK
    wanted["instruction set"] = {"portable", g.lib.gather_isa_name().decode()}
    for what, names in wanted.items():
        missing = names - set(COUNTS[what])
        assert not missing, f"no case for {what} {missing}"
        print(what, dict(COUNTS[what]))
