# SPDX-License-Identifier: MIT
"""script/bench --python works: calls are checked before they are timed, losses are told, results become a page's part."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.refusal import refuses
from support.skip import skip_test

SOURCE, BUILD = Path(os.environ["GATHER_SOURCE"]), Path(os.environ["GATHER_BUILD"])
PACKAGE = BUILD / "python"


@pytest.fixture
def modules(monkeypatch):
    """The benchmark's own modules and the package, in this process."""
    if not list(PACKAGE.glob("libgather/_core.*")):
        skip_test("python", "this build has no Python package (-DGATHER_PYTHON_PACKAGE=ON)")
    for folder in (SOURCE / "bench", BUILD / "bench", PACKAGE):
        monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def more(modules):
    import libgather
    import numpy as np

    return {"libgather": libgather, "np": np}


def run(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": f"{BUILD / 'bench'}:{PACKAGE}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, str(SOURCE / "bench/calls_run.py"), *arguments], env=environment, text=True,
                          capture_output=True, timeout=300)


def settings(rounds: int = 3):
    return SimpleNamespace(rounds=rounds, attempts=lambda: 1)


def with_forms(case, *forms):
    """The case with other statements."""
    from dataclasses import replace

    return replace(case, forms=forms)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict:
    """The results of a quick run."""
    if not list(PACKAGE.glob("libgather/_core.*")):
        skip_test("python", "this build has no Python package (-DGATHER_PYTHON_PACKAGE=ON)")
    path = tmp_path_factory.mktemp("calls") / "calls.json"
    ran = run("--quick", "--json", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(path.read_text(encoding="utf-8"))


def test_run(whole):
    found = whole
    assert found["machine"]["date"] and found["machine"]["commit"] and found["settings"]["quick"]
    names = [row["name"] for row in found["calls"]]
    assert len(names) == len(set(names)) >= 6
    for row in found["calls"]:
        assert not row["wrong"], row
        for form in row["forms"]:
            assert 0 < form["min"] <= form["low"] <= form["median"] <= form["high"] and form["rounds"] >= 15, form
        for kind in row["kinds"].values():
            assert kind["ours"]["form"].startswith("libgather.")
            if "best" in kind:
                assert kind["best"]["ns"] <= kind["namesake"]["ns"]
                assert kind["best"]["verdict"] in ("faster", "even", "slower")
    assert {row["who"] for row in found["large"]} >= {"C", "libgather", "NumPy"}
    assert 1 in {row["threads"] for row in found["large"]}
    assert {row["who"] for row in found["gil"]} >= {"libgather", "NumPy", "Python"}


def test_only(tmp_path, modules):
    path = tmp_path / "calls.json"
    assert run("--quick", "--only", "no call is named so", "--json", str(path)).returncode == 2 and not path.exists()
    assert run("--quick", "--only", "by a list, NumPy", "--json", str(path)).returncode == 0
    found = json.loads(path.read_text(encoding="utf-8"))
    assert [row["name"] for row in found["calls"]] == ["take 4 rows by a list, NumPy"]
    assert not found["large"] and not found["gil"]


def test_every_form_gives_the_same_elements(more):
    """What the table of calls says is what NumPy gives, in each of its statements."""
    import calls
    import calls_run

    try:
        import torch

        more["torch"] = torch
    except ImportError:
        pass
    seen = 0
    for case in calls.cases():
        if case.library == calls.TORCH and "torch" not in more:
            continue
        names = case.globals(more)
        for form in case.forms:
            assert calls_run.why_wrong(form, names, case.expected) == "", (case.title(), form.text)
            seen += 1
    assert seen > 40


def test_wrong_elements_have_no_time(more):
    """A statement that is fast because it does something else: another type, a wrong place, nothing, or an error."""
    import calls
    import calls_run

    case = calls.cases()[0]
    bad = [calls.Form(calls.NUMPY, text) for text in ("x", "x[i].astype('int32')", "x[i][:, None]", "1 / 0")]
    bad += [calls.Form(calls.NUMPY, "None", calls.OUT)]
    good = calls.Form(calls.OURS, "libgather.take(x, i, axis=0)")
    row = calls_run.run_case(with_forms(case, good, *bad), more, settings())
    assert [found["form"] for found in row["wrong"]] == [form.text for form in bad]
    assert "ZeroDivisionError" in row["wrong"][3]["why"] and [form["form"] for form in row["forms"]] == [good.text]
    refuses(SystemExit, calls_run.run_case, with_forms(case, calls.Form(calls.OURS, "x")), more, settings(), says="libgather is wrong")


def timed(form, *times: float):
    from contender import Contender

    made = Contender(form.who, form.text, lambda: None)
    made.times, made.cpu = list(times), list(times)
    return form, made


def standing(ours: float, plan: float, first: float, other: float) -> dict:
    import calls
    import calls_run

    forms = [timed(calls.Form(calls.OURS, "ours"), *[ours] * 5),
             timed(calls.Form(calls.OURS, "plan", plan=True), *[plan] * 5),
             timed(calls.Form(calls.NUMPY, "first"), *[first] * 5),
             timed(calls.Form(calls.NUMPY, "other"), *[other] * 5)]
    return calls_run.standing(forms, calls.NEW)


def test_standing(modules):
    """The first statement of a peer is the namesake, its fastest one decides; a plan is neither ours nor a peer."""
    found = standing(100, 50, 200, 80)
    namesake = found["namesake"]
    assert namesake["form"] == "first" and namesake["ratio"] == 2 and namesake["verdict"] == "faster"
    assert found["best"]["form"] == "other" and found["best"]["ratio"] == 0.8 and found["best"]["verdict"] == "slower"
    assert found["best_to_plan"]["ratio"] == 1.6 and found["best_to_plan"]["verdict"] == "faster"
    assert standing(100, 50, 70, 80)["best"]["form"] == "first"


@pytest.mark.parametrize(("ours", "plan", "told"), [(100, 50, "| 100 | 2.00x `first` | 0.80x slower `other` |"), (10, 5, "| 10 | 20.00x `first` | 8.00x `other` |")])
def test_slower_calls_are_told(modules, ours, plan, told):
    import calls_summary

    row = {"name": "a row", "kinds": {"new": standing(ours, plan, 200, 80)}}
    assert calls_summary.short({"calls": [row]}, "new").splitlines()[-1].endswith(told)


def test_the_count_tells_who_keeps_the_lock(modules):
    """The thread counts while a call sleeps, and next to nothing during a call that keeps the interpreter's lock."""
    import calls_large

    def measured(call) -> list[dict]:
        return [calls_large.beside(counter, call, 0.1) for _ in range(5)]

    counter = calls_large.Counter()
    counter.start()
    try:
        free, held = measured(lambda: time.sleep(0.1)), measured(lambda: sum(repeat(1, 20_000_000)))
    finally:
        counter.going = False
        counter.join()
    assert min(r["rate"] for r in held) < max(r["rate"] for r in free) / 3
    assert all(r["each"] >= 0.1 for r in free)
    if sys.platform == "linux":
        assert max(r["ready"] for r in free) > 0.8 and min(r["ready"] for r in held) < 0.7


def test_wrong_elements_of_a_large_call_end_the_run(more):
    import calls_large

    names = calls_large.names_of(more, True)
    calls_large.set_threads(names, 1)
    expected = names["x"][names["i"]]
    pairs = calls_large.contenders(names, 1, expected)
    assert len(pairs) >= 7
    refuses(SystemExit, calls_large.contenders, names, 1, expected + 1, says="wrong elements")


def test_parts_of_the_page(modules, whole):
    """Every row of small calls stands in them, every large call into `out`, and what a thread beside it counts."""
    import summary_page

    text = summary_page.python(whole)
    for row in whole["calls"]:
        for found in row["kinds"].values():
            if "best" in found:
                assert any(line.startswith(f"| {row['name']} |") and f"`{found['namesake']['form']}` |" in line for line in text.splitlines()), row["name"]
    for row in (*(row for row in whole["large"] if row["kind"] == "out"), whole["gil"][0]):
        assert row["form"] in text
    shown = (SOURCE / "docs/measured/python.md").read_text(encoding="utf-8")
    for head in re.findall(r"^(\|.*\|)\n\| ---", text, re.M):
        assert head in shown


def full(found: dict) -> dict:
    """As if it were a full run with PyTorch, which wins against every namesake: the forms are those of the table."""
    import calls
    import calls_large

    rows = [{"name": case.title(), "library": case.library, "forms": [{"form": form.text} for form in case.forms], "wrong": [],
             "kinds": {"new": {"namesake": {"form": "np.take(x, i, 0)", "verdict": "faster"}}}} for case in calls.cases()]
    return {"machine": {**found["machine"], "absent": {}}, "settings": {**found["settings"], "quick": False}, "calls": rows,
            "large": [{"form": form.text} for form in calls_large.FORMS], "gil": [{"form": form.text} for form in calls_large.BESIDE]}


def test_results_that_are_not_a_releases(modules, whole):
    """A full run of the calls as they are now, in which no call costs more than the function of the same name in NumPy."""
    import calls
    import calls_run

    good = full(whole)
    assert calls_run.faults(good) == []
    assert "a quick run" in calls_run.faults(whole)
    name = good["calls"][0]["name"]
    for change, said in ((lambda f: f["calls"][0]["forms"].pop(), f"{name} has other statements than calls.py"),
                         (lambda f: f["calls"].pop(0), f"{name} has other statements than calls.py"),
                         (lambda f: f["large"].pop(), "the calls of large are others than in calls_large.py"),
                         (lambda f: f["gil"].pop(), "the calls of gil are others than in calls_large.py"),
                         (lambda f: f["machine"]["absent"].update(PyTorch="not installed"), "PyTorch is absent"),
                         (lambda f: f["calls"][0]["kinds"]["new"]["namesake"].update(verdict="even"), f"{name} is slower than np.take(x, i, 0)")):
        bad = json.loads(json.dumps(good))
        change(bad)
        assert calls_run.faults(bad) == [said]
    namesakes = [next(form.text for form in case.forms if form.who == calls.NUMPY) for case in calls.cases() if case.library == calls.NUMPY]
    assert len(namesakes) >= 5 and all(text.startswith("np.take") for text in namesakes)
