# SPDX-License-Identifier: MIT
"""What the results of `script/remote --bench` say: a line for the terminal, who is faster, and the table of docs/measured/urls.md."""

from __future__ import annotations

from summary import table

OURS = "libgather"


def number(value: float, digits: int = 3) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}g}"


def line(row: dict) -> str:
    """For the terminal."""
    name = f"{row['case']:7} {row['rtt'] * 1e3:5.0f} ms  {row['way']:19}"
    if "error" in row:
        return f"{name} {row['error']}"
    return (f"{name} {row['seconds']:8.3f} s  {row['seconds'] / row['rtt']:6.1f} round trips  {row['requests']:6.0f} requests  {row['bytes'] / 1e6:9.2f} MB  "
            f"{row['peak']:4.0f} connections  {row['cpu']:6.2f} s CPU")  # fmt: skip


def groups(results: dict) -> dict[tuple[str, float], list[dict]]:
    found: dict[tuple[str, float], list[dict]] = {}
    for row in results["rows"]:
        found.setdefault((row["case"], row["rtt"]), []).append(row)
    return found


def ours_of(rows: list[dict]) -> float:
    return next((row["seconds"] for row in rows if row["way"] == OURS and "error" not in row), float("nan"))


def losses(results: dict) -> list[tuple[dict, float]]:
    """The peers that are faster than libgather, and how many times as long libgather takes."""
    return [(row, ours_of(rows) / row["seconds"]) for rows in groups(results).values() for row in rows
            if row["kind"] == "peer" and "error" not in row and row["seconds"] < ours_of(rows)]  # fmt: skip


def verdict(results: dict) -> str:
    if any("error" in row for row in results["rows"] if row["way"] == OURS):
        return "libgather failed."
    compared = sum(row["kind"] == "peer" and "error" not in row for row in results["rows"])
    lost = losses(results)
    text = f"libgather is faster in {compared - len(lost)} of {compared} comparisons with a peer."
    for row, factor in lost:
        text += f"\n- slower than {row['way']}: {row['case']}, {row['rtt'] * 1e3:.0f} ms: {factor:.2f} times its time"
    return text
