# SPDX-License-Identifier: MIT
"""What the results of `script/bench --python` say: the tables of docs/measured/python.md."""

from __future__ import annotations

from calls import NEW, OUT
from summary import number, percent, table, times


def code(text: str) -> str:
    return f"`{text}`"


def ratio(found: dict | None) -> str:
    if not found:
        return "-"
    return times(found["ratio"]) + (f" {found['verdict']}" if found["verdict"] != "faster" else "")


def short(results: dict, *kinds: str) -> str:
    """A line for each call and kind of result: ours, the function of the same name, the fastest statement, and with a plan."""
    lines = []
    for kind in kinds:
        for row in results["calls"]:
            found = row["kinds"].get(kind, {})
            if "best" not in found:
                continue
            lines.append([row["name"], kind, number(found["ours"]["median"]), f"{ratio(found['namesake'])} {code(found['namesake']['form'])}",
                          f"{ratio(found['best'])} {code(found['best']['form'])}"])  # fmt: skip
    return table(["call", "result", "ours, ns", "its namesake / ours", "fastest statement / ours"], lines, 2)


def large(results: dict, kind: str) -> str:
    lines = [[code(row["form"]) if row["who"] != "C" else row["form"], f"{row['threads']}", number(row["median"]), ratio(row.get("to_ours"))]
             for row in results["large"] if row["kind"] == kind]
    return table(["call", "threads", "ms", "its time / libgather.take's"], lines)


def gil(results: dict) -> str:
    """A sentence: how much another thread does beside ours."""
    row = results["gil"][0]
    return f"While {code(row['form'])} runs, another thread of Python counts {percent(row['share'])} of what it counts alone.\n"
