# SPDX-License-Identifier: MIT
"""script/bench tunings and --isa LIST: one process, several values of a tuning parameter. Times are not judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmark import BUILD, SOURCE, run

ROW = ("--quick", "--every", "--threads", "1", "--only")


def tunings(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "bench"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, str(SOURCE / "bench/tunings.py"), *arguments], env=environment, text=True,
                          capture_output=True, timeout=300)


def test_values_are_compared():
    ran = tunings("deferred_bytes=262144,0,1", *ROW, "(4|8) B L1 int64 cached|^nd rows of 16 B, pairs cached")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    rows = [line for line in lines if line.startswith(("take 4 B L1 int64 cached 1T", "take 8 B L1 int64 cached 1T", "nd rows of 16 B"))]
    assert len(rows) == 3 and all(line.count("(") == 4 for line in rows)  # two forms, two values beside the base
    head, = (line for line in lines if line.startswith("regime"))
    assert head.split()[2:] == ["fastest", "0", "fastest", "1", "transactional", "0", "transactional", "1"]
    assert [line.split("1T")[1].split()[0] for line in lines if line.startswith(("elements, table in L1", "all rows"))] == ["2", "3"]


@pytest.mark.parametrize("wrong", ["isa", "isa=1", "isa=1,x", "isa=1,1"])
def test_what_is_no_comparison(wrong):
    ran = tunings(wrong)
    assert ran.returncode == 2 and "NAME" in ran.stderr


def test_no_such_parameter():
    ran = tunings("nothing=1,2", *ROW, "4 B L1 int64 cached")
    assert ran.returncode != 0 and "no such tuning parameter 'nothing'" in ran.stderr


@pytest.fixture
def native(modules):
    import gather_bench_native as found

    yield found
    found.tune("isa", 99)


def test_plans_have_the_value_of_their_contender(native):
    """The kernels' name in the plan's line is that of the instruction set."""
    import cases
    import grid
    import peers
    from tuned import Tuned

    case = grid.cases((1,), True, "take 4 B L1 int64 cached")[0]
    memory = cases.Memory(case, cases.Arenas([case]))
    for isa in (99, 0, 99):
        held = Tuned(peers.Ours(), "isa", isa)
        contenders = list(held.contenders(memory))
        assert contenders and {c.value for c in contenders} == {isa}
        native.tune("isa", 0 if isa else 99)
        contenders[0].setup()
        now = native.library()["isa"]
        assert (now == "portable") == (isa == 0 or len(native.library()["features"].split()) == 0)
        assert isa or "portable" in str(held.plan(memory))


def test_instruction_sets_side_by_side(tmp_path, native):
    """The first in the file that was named, the others beside it; peers and limits are the same ones."""
    strongest = native.library()["isa"]
    path = tmp_path / "rows.json"
    ran = run(*ROW, "4 B L1 int64 cached|^nd rows of 16 B, pairs cached", "--peers", "NumPy", "--isa", "99,0", "--json", str(path))
    if strongest == "portable":
        assert ran.returncode != 0 and "may be given once" in ran.stderr
        return
    assert ran.returncode == 0, ran.stdout + ran.stderr
    best, held = (json.loads(file.read_text(encoding="utf-8")) for file in (path, tmp_path / "rows-portable.json"))
    assert not best["machine"]["held"] and held["machine"]["held"] and held["machine"]["isa"].startswith("portable (")
    assert [row["name"] for row in best["rows"]] == [row["name"] for row in held["rows"]] and len(best["rows"]) == 2
    for one, other in zip(best["rows"], held["rows"]):
        assert one["peers"]["NumPy"] == other["peers"]["NumPy"] and one["ceiling"] == other["ceiling"]
        assert one["ours"] != other["ours"] and len([f for f in one["forms"] if f["peer"] == "ours"]) == 2
    assert "libgather with portable:" in ran.stdout and f"libgather with {strongest}:" in ran.stdout
