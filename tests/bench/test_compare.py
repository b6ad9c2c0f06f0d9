# SPDX-License-Identifier: MIT
"""script/bench --against: what a comparison of two runs says."""

from __future__ import annotations

import json

import pytest

from benchmark import run

MACHINE = {"commit": "0", "cpu": "a CPU", "isa": "avx2 ()"}


def timed(ns: float, spread: float = 0.01) -> dict:
    return {"median": ns, "low": ns * (1 - spread), "high": ns * (1 + spread), "min": ns * (1 - 2 * spread), "max": ns * (1 + 2 * spread)}


def row(name: str, ours: float, kept: float, peer: float = 10.0, regime: str = "rows", spread: float = 0.01) -> dict:
    return {"name": name, "regime": regime, "threads": 1, "ours": timed(ours, spread), "kept": timed(kept, spread),
            "peers": {"NumPy": {"form": "take", **timed(peer)}}}


def results(*rows: dict) -> dict:
    return {"machine": MACHINE, "rows": list(rows)}


def test_medians_by_regime(modules):
    import compare

    old = results(row("a", 4, 8), row("b", 6, 8), row("c", 8, 8), row("gone", 1, 1), row("other", 1, 1, regime="elements"))
    new = results(row("a", 2, 8), row("b", 2, 8), row("c", 2, 8), row("other", 1, 1, regime="elements"))
    lines = compare.told(old, new).splitlines()
    rows, = (line for line in lines if line.startswith("rows 1T"))
    assert rows.split()[2:] == "3 3.00 ( 2.00 - 4.00) 1.00 ( 1.00 - 1.00) 1.00 ( 1.00 - 1.00)".split()
    assert any(line.startswith("elements 1T") for line in lines) and "1 rows of the old run are not in the new one" in lines
    assert not [line for line in lines if line.startswith("slower")]


@pytest.mark.parametrize(("old", "new", "expected"), [
    (row("a", 10, 10), row("a", 12, 10), True),
    (row("a", 10, 10), row("a", 10.25, 10), False),  # apart, but by 2.5 % only
    (row("a", 10, 10, spread=0.2), row("a", 12, 10, spread=0.2), False),  # the rounds overlap
    (row("a", 10, 10), row("a", 12, 10, peer=12), False),  # the machine was slower
    ({**row("a", 10, 10), "peers": {}}, {**row("a", 12, 10), "peers": {}}, True),
])
def test_slower_rows(modules, old, new, expected):
    import compare

    assert compare.slower(old, new, "ours") == expected and not compare.slower(old, new, "kept")
    assert ("slower (fastest): a:" in compare.told(results(old), results(new))) == expected


def test_results_without_quartiles(modules):
    """Their extremes stand for them."""
    import compare

    old, new = row("a", 10, 10), row("a", 10.5, 12)
    for key in ("ours", "kept"):
        del old[key]["low"], old[key]["high"]
    old["ours"]["max"] = old["kept"]["max"] = 10.6
    assert not compare.slower(old, new, "ours") and compare.slower(old, new, "kept")


def test_two_files(tmp_path):
    for name, found in (("old", results(row("a", 10, 10))), ("new", results(row("a", 20, 10)))):
        (tmp_path / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    ran = run(str(tmp_path / "old.json"), str(tmp_path / "new.json"), program="compare")
    assert ran.returncode == 0 and "slower (fastest): a: 10 -> 20 ns, 0.50, peers 1.00" in ran.stdout, ran.stderr
    assert "(transactional)" not in ran.stdout
    assert "usage" in run(str(tmp_path / "old.json"), program="compare").stderr


@pytest.mark.in_full
def test_the_same_rows_are_measured(tmp_path):
    """Those of the old results only."""
    only = ("--quick", "--every", "--threads", "1", "--peers", "C loop")
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert run(*only, "--only", "take 4 B L1 int64 cached", "--json", str(old)).returncode == 0
    ran = run(*only, "--only", "take 4 B L1", "--json", str(new), "--against", str(old))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [found["name"] for found in json.loads(new.read_text(encoding="utf-8"))["rows"]] == ["take 4 B L1 int64 cached 1T"]
    assert "old time / new time" in ran.stdout


def test_a_picture_of_pairs(modules, tmp_path):
    """The median of each row's changes, so that one disturbed run does not count."""
    for number, before in enumerate((8, 8, 80)):
        (tmp_path / f"old{number}.json").write_text(json.dumps(results(row("a", before, before), row("b", 2, 2))))
        (tmp_path / f"new{number}.json").write_text(json.dumps(results(row("a", 4, 4), row("b", 4, 4))))
    files = [str(tmp_path / f"{which}{number}.json") for number in range(3) for which in ("old", "new")]
    assert run(*files, "--picture", str(tmp_path / "p.svg"), program="compare").returncode == 0
    drawn = (tmp_path / "p.svg").read_text()
    assert "rows" in drawn and ">1.00x<" in drawn  # twice as fast and half as fast
    assert "several pairs only for --picture" in run(*files, program="compare").stderr
