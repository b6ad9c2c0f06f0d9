# SPDX-License-Identifier: MIT
"""What the results of `script/bench --python` say: the tables of docs/measured/benchmarks.md on calls from Python."""

from __future__ import annotations

from calls import NEW, OUT
from summary import number, percent, table, times


def code(text: str) -> str:
    return f"`{text}`"


def ratio(found: dict | None) -> str:
    if not found:
        return "-"
    return times(found["ratio"]) + (f" {found['verdict']}" if found["verdict"] != "win" else "")


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
