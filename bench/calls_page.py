# SPDX-License-Identifier: MIT
"""The page of a run of `script/bench --python`, on calls from Python."""

from __future__ import annotations

from calls import NEW, OURS, OUT
from page_parts import machine, opening, table
from summary import number, percent, times

def code(text: str) -> str:
    return f"`{text}`"


def ratio(found: dict | None) -> str:
    if not found:
        return "-"
    return times(found["ratio"]) + (f" {found['verdict']}" if found["verdict"] != "win" else "")


def machine_of(results: dict) -> str:
    forms = [form for row in results["calls"] for form in row["forms"]]
    disturbed, rounds = sum(form["disturbed"] for form in forms), sum(form["rounds"] for form in forms)
    return machine(results, f"{results['settings']['rounds']} rounds, {len(forms)} statements",
                   ["noise", f"other programs took the CPU in {disturbed} of {rounds} rounds of the small calls"])  # fmt: skip


def overview(results: dict, kind: str) -> str:
    lines = []
    for row in results["calls"]:
        found = row["kinds"].get(kind, {})
        if "best" not in found:
            continue
        namesake, best, plan = found["namesake"], found["best"], found.get("plan")
        lines.append([row["name"], code(namesake["form"]), f"**{number(found['ours']['median'])}**", number(namesake["ns"]),
                      ratio(namesake), code(best["form"]), number(best["ns"]), ratio(best),
                      number(plan["median"]) if plan else "-", ratio(found.get("best_to_plan"))])
    head = ["row", "namesake", "ours, ns", "namesake, ns", "namesake / ours", "fastest", "fastest, ns", "fastest / ours",
            "plan, ns", "fastest / plan"]
    return table(head, lines, 2)


def all_forms(results: dict) -> str:
    lines = []
    for row in results["calls"]:
        for form in sorted(row["forms"], key=lambda form: (form["kind"] == OUT, form["median"])):
            ours = row["kinds"].get(form["kind"], {}).get("ours")
            shown = code(form["form"])
            lines.append([row["name"], f"**{shown}**" if form["who"] == OURS else shown, number(form["median"]),
                          f"{number(form['low'])} - {number(form['high'])}",
                          times(form["median"] / ours["median"]) if ours and form["form"] != ours["form"] else "-"])
    return table(["row", "statement", "ns", "quartiles", "its time / ours"], lines, 2)


def wrong(results: dict) -> str:
    lines = [[row["name"], code(found["form"]), found["why"].replace("|", "/")] for row in results["calls"] for found in row["wrong"]]
    return "Left out:\n\n" + table(["row", "statement", "why"], lines, 3) if lines else ""


def lost(results: dict) -> str:
    """Every statement that is faster than ours of its kind, also if only the plan is slower."""
    lines = [[row["name"], code(found["best"]["form"]), f"{key}", ratio(found[to])]
             for row in results["calls"] for found in row["kinds"].values()
             for to, key in (("best", "the call"), ("best_to_plan", "the plan"))
             if found.get(to, {}).get("verdict") == "loss"]
    if not lines:
        return "None is slower.\n"
    return "Slower than the fastest statement:\n\n" + table(["row", "slower than", "what is slower", "its time / ours"], lines, 3)


def large(results: dict) -> str:
    lines = [[code(row["form"]) if row["who"] != "C" else row["form"], f"{row['threads']}", number(row["median"]),
              f"{number(row['low'])} - {number(row['high'])}", ratio(row.get("to_ours")),
              times(row["to_ours"]["cpu"]) if "to_ours" in row else "-"]
             for kind in (OUT, NEW) for row in results["large"] if row["kind"] == kind]
    head = ["call", "threads", "ms", "quartiles", "its time / libgather.take's", "its CPU time / libgather.take's"]
    return table(head, lines)


def gil(results: dict) -> str:
    lines = []
    for row in results["gil"]:
        free = ["-", "-"]
        if row["ready"] is not None:
            ready, low, high = (percent(min(1, row[key])) for key in ("ready", "low", "high"))  # the count is in ticks
            free = [ready, f"{low} - {high}"]
        lines.append([code(row["form"]), *free, percent(row["share"]), number(row["ms"])])
    return table(["call", "free", "quartiles", "counted", "ms"], lines)


def page(results: dict, name: str) -> str:
    """results: of a run of script/bench --python, which are in NAME.json."""
    parts = [opening("Calls from Python", name, "script/bench --python"), machine_of(results), "## Small calls\n"]
    parts.append(f"An empty loop, included in all times, takes {number(results['settings']['loop']['median'])} ns.\n")
    parts += ["New results:\n", overview(results, NEW), "Into `out=`:\n", overview(results, OUT)]
    parts += [lost(results), wrong(results)]
    parts += ["All statements:\n", all_forms(results)]
    if results["large"]:
        parts += [f"## Large calls\n\n{results['settings']['large_rows']:,} rows of 256 bytes.\n", large(results)]
        parts += ["## Running beside another thread\n", gil(results)]
    return "\n".join(part for part in parts if part)
