# SPDX-License-Identifier: MIT
"""Measures calls from Python: small ones, large ones, and beside another thread. `script/bench --python` calls it."""

from __future__ import annotations

import argparse
import gc
import re
import sys
import time
from datetime import date
from statistics import median
from timeit import Timer
from types import SimpleNamespace

import calls_large
import grid
import libgather
import machine
import measure
import numpy as np
import results as folder
import summary
from calls import NEW, NUMPY, OURS, OUT, TORCH, Case, Form, cases
from cases import CLEAR, same
from contender import Contender
from results import written

KIND = "python"  # begins the names of the results
ROUNDS, QUICK_ROUNDS = 101, 15
BLOCK_NS = 2e5  # so long are the calls of one measurement in all
MINUTES = 0.7


class Still:
    """What measure.py wants to know of the memory: small arrays stay in the cache, and nothing is flushed."""

    case = SimpleNamespace(state=grid.CACHED)

    def prepare(self, others=()) -> None:
        pass


def timed(form: Form, names: dict) -> Contender:
    """The statement as a user writes it, in a loop without anything else."""
    timer = Timer(form.text, globals=names)
    return Contender(form.who, form.text, lambda rounds: timer.timeit(rounds) * 1e9, clock=True)


def why_wrong(form: Form, names: dict, expected: np.ndarray) -> str:
    """"" where every bit is right."""
    names["out_memory"].reshape(-1).view(np.uint8)[:] = CLEAR
    try:
        result = eval(form.text, names)
    except Exception as error:  # noqa: BLE001  a peer may refuse in any way it likes
        return f"failed: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"
    found = names["out_memory"] if form.kind == OUT else np.asarray(result)
    right = found.shape == expected.shape and found.dtype == expected.dtype and same(found, expected)
    return "" if right else "wrong elements"


def compete(contenders: list[Contender], settings) -> None:
    """Everybody in turns, each time in another order."""
    shuffle, memory = np.random.default_rng(3).permutation, Still()
    rounds = {}
    for contender in contenders:
        probe = measure.block(contender, memory, 100, settings.attempts())
        rounds[id(contender)] = max(1, int(BLOCK_NS / max(probe, 1.0)))
    for _ in range(settings.rounds):
        for n in shuffle(len(contenders)):
            contender = contenders[n]
            contender.times.append(measure.block(contender, memory, rounds[id(contender)], settings.attempts()))
            contender.cpu.append(contender.spent)


def spread(contender: Contender) -> dict:
    """The median and the quartiles of the rounds."""
    ns = sorted(contender.times)
    return {"median": median(ns), "low": ns[len(ns) // 4], "high": ns[-1 - len(ns) // 4], "min": ns[0],
            "rounds": len(ns), "disturbed": contender.disturbed}


def against(other: Contender, ours: Contender) -> dict:
    found = summary.ratios(other, ours)
    return {"form": other.form, "ns": median(other.times), **found, "verdict": summary.verdict(found)}


def standing(pairs: list[tuple[Form, Contender]], kind: str) -> dict:
    """How our call of that kind stands against the function of the same name, the fastest peer, and our plan."""
    here = [(form, contender) for form, contender in pairs if form.kind == kind]
    first = next((c for form, c in here if form.who == OURS and not form.plan), None)
    plan = next((c for form, c in here if form.plan), None)
    others = [c for form, c in here if form.who != OURS]
    found = {"ours": {"form": first.form, **spread(first)}} if first else {}
    if plan:
        found["plan"] = {"form": plan.form, **spread(plan)}
    if first and others:
        best = min(others, key=lambda c: median(c.times))
        found["namesake"], found["best"] = against(others[0], first), against(best, first)
        if plan:
            found["best_to_plan"] = against(best, plan)
    return found


def run_case(case: Case, more: dict, settings) -> dict:
    names = case.globals(more)
    pairs, wrong = [], []
    for form in case.forms:
        why = why_wrong(form, names, case.expected)
        if why and form.who == OURS:
            raise SystemExit(f"bench: libgather is wrong: {case.title()}: {form.text}: {why}")
        if why:
            wrong.append({"form": form.text, "why": why})
        else:
            pairs.append((form, timed(form, names)))
    compete([contender for _, contender in pairs], settings)
    forms = [{"who": form.who, "form": form.text, "kind": form.kind, "plan": form.plan, **spread(contender)} for form, contender in pairs]
    kinds = {kind: found for kind in (NEW, OUT) if (found := standing(pairs, kind))}
    return {"name": case.title(), "library": case.library, "kinds": kinds, "forms": forms, "wrong": wrong}


def libraries() -> tuple[dict, dict, dict]:
    """The modules, their versions, and who is absent."""
    more, absent = {"libgather": libgather, "np": np}, {}
    versions = {OURS: libgather.__version__, "NumPy": np.__version__}
    try:
        import torch

        torch.set_grad_enabled(False)
        torch.set_num_threads(1)
        more["torch"], versions[TORCH] = torch, torch.__version__
    except ImportError as error:
        absent[TORCH] = str(error)
    return more, versions, absent


def about(versions: dict, absent: dict) -> dict:
    found = {**machine.describe(0.0, [], absent, True), "versions": versions, "date": date.today().isoformat()}
    return {key: value for key, value in found.items() if key not in ("huge_pages", "flush")}


def line(row: dict) -> str:
    parts = []
    for kind, found in row["kinds"].items():
        text = f"{kind}: ours {summary.number(found['ours']['median'])} ns"
        text += f", plan {summary.number(found['plan']['median'])}" if "plan" in found else ""
        for key in ("namesake", "best") if "best" in found else ():
            text += f", {found[key]['form']} {found[key]['ratio']:.2f}x {found[key]['verdict']}"
        parts.append(text)
    return f"{row['name']:42} " + "; ".join(parts)


def run(asked) -> dict:
    start = time.monotonic()
    gc.disable()
    more, versions, absent = libraries()
    found = [case for case in cases() if case.library not in absent and re.search(asked.only, case.title())]
    settings = measure.Settings(asked.quick, MINUTES)
    settings.rounds = QUICK_ROUNDS if asked.quick else ROUNDS
    results = {"machine": about(versions, absent), "calls": [], "large": [], "gil": []}
    empty = timed(Form(OURS, "pass"), {})
    compete([empty], settings)
    for left, case in zip(range(len(found), 0, -1), found):
        settings.share(left)
        gc.collect()
        results["calls"].append(run_case(case, more, settings))
        print(line(results["calls"][-1]), flush=True)
    if not asked.only:
        calls_large.measure_all(results, more, asked.quick)
    results["settings"] = {"quick": asked.quick, "rounds": settings.rounds, "seconds": round(time.monotonic() - start, 1),
                           "loop": spread(empty), "large_rows": calls_large.QUICK_COUNT if asked.quick else calls_large.COUNT}
    return results


def faults(results: dict) -> list[str]:
    """Why these results are not those of a full run of the calls as they are now; and where a call costs more than the function of the
    same name in NumPy, which libgather promises not to."""
    found = [f"{name} is absent" for name in results["machine"]["absent"]] + ["a quick run"] * bool(results["settings"]["quick"])
    have = {row["name"]: [form["form"] for form in (*row["forms"], *row["wrong"])] for row in results["calls"]}
    wanted = {case.title(): [form.text for form in case.forms] for case in cases()}
    found += [f"{name} has other statements than calls.py" for name in sorted(have.keys() | wanted.keys()) if have.get(name) != wanted.get(name)]
    for what, forms in (("large", calls_large.FORMS), ("gil", calls_large.BESIDE)):
        if {row["form"] for row in results[what]} != {form.text for form in forms}:
            found.append(f"the calls of {what} are others than in calls_large.py")
    return found + [f"{row['name']} is slower than {kind['namesake']['form']}" for row in results["calls"] if row["library"] == NUMPY
                    for kind in row["kinds"].values() if kind.get("namesake", {"verdict": "faster"})["verdict"] != "faster"]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench --python", description="Measures calls from Python.")
    parser.add_argument("--quick", action="store_true", help="few repetitions and smaller arrays")
    parser.add_argument("--only", default="", metavar="REGEX", help="the small calls with such a name, and nothing else")
    parser.add_argument("--json", default="", metavar="FILE",
                        help="write the results to this file (default: by the name of the machine to build/results)")
    asked = parser.parse_args()
    results = run(asked)
    if not results["calls"]:
        print("bench: no call has such a name")
        return 2
    text = written(results, ("machine", "settings"), ("calls", "large", "gil"))
    path = folder.keep(asked.json, folder.name_of(KIND, results), text)
    about, seconds = results["machine"], results["settings"]["seconds"]
    print(f"{seconds:.0f} s; load when it began {about['load']} on {about['cpus']} CPUs")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
