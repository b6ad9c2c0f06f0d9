# SPDX-License-Identifier: MIT
"""The curves in the results: time per element against the size of the table, the number of indices, and the threads."""

from __future__ import annotations

from math import prod

import grid
import summary

KEPT, FRESH, CEILING = "ours, transactional", "ours", "limit"
FROM_C = "ours, from C"
# picture: (regime, what it shows, what stands below)
CURVES = {
    "bench-growth-table.svg": (grid.BY_TABLE, "Time per element against the size of the table", "table"),
    "bench-growth-indices.svg": (grid.BY_COUNT, "Time per element against the number of indices", "indices"),
    "bench-growth-threads.svg": (grid.BY_THREADS, "Time per element against threads", "threads"),
}


def position(row: dict) -> int:
    """Where a row stands on its picture's lower axis."""
    return {grid.BY_TABLE: row["table_bytes"], grid.BY_COUNT: prod(row["index_shape"]), grid.BY_THREADS: row["threads"]}[row["regime"]]


def panel(row: dict) -> str:
    """The title of the part of the picture that a row belongs to."""
    if row["regime"] == grid.BY_THREADS:
        return f"table of {grid.size_name(row['table_bytes'])}"
    return f"{row['threads']} thread{'s' * (row['threads'] > 1)}"


def values(row: dict) -> dict[str, float]:
    """Nanoseconds of everybody in a row: both forms of ours, each peer's fastest form, the C loop, the ceiling."""
    own = {form["form"]: form["median"] for form in row["forms"] if form["peer"] == "ours"}
    found = {FRESH: own.get("plan, fresh output", row["ours"]["median"]), KEPT: row["kept"]["median"]}
    if from_c := [ns for form, ns in own.items() if form.endswith(summary.FROM_C)]:
        found[FROM_C] = min(from_c)
    found |= {peer: timed["median"] for peer, timed in row["peers"].items()}
    return found | ({CEILING: row["ceiling"]["ns"]} if row["ceiling"] else {})


def panels(rows: list[dict], regime: str) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """For each part of a picture its curves: a list of points for each name."""
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in sorted((r for r in rows if r["regime"] == regime), key=position):
        curves = found.setdefault(panel(row), {})
        for name, ns in values(row).items():
            curves.setdefault(name, []).append((position(row), ns))
    return found
