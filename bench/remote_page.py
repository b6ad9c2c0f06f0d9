# SPDX-License-Identifier: MIT
"""Makes the page of a run of `script/remote --bench`. Nothing in the page is written elsewhere."""

from __future__ import annotations

from page_parts import machine, opening, table

OURS = "libgather"

def number(value: float, digits: int = 3) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}g}"


def line(row: dict) -> str:
    """For the terminal."""
    name = f"{row['case']:7} {row['rtt'] * 1e3:5.0f} ms  {row['way']:18}"
    if "error" in row:
        return f"{name} {row['error']}"
    return (f"{name} {row['seconds']:8.3f} s  {row['requests']:6.0f} requests  {row['bytes'] / 1e6:9.2f} MB  "
            f"{row['peak']:4.0f} connections  {row['cpu']:6.2f} s CPU")  # fmt: skip


def groups(results: dict) -> dict[tuple[str, float], list[dict]]:
    found: dict[tuple[str, float], list[dict]] = {}
    for row in results["rows"]:
        found.setdefault((row["case"], row["rtt"]), []).append(row)
    return found


def ours_of(rows: list[dict]) -> float:
    return next((row["seconds"] for row in rows if row["way"] == OURS and "error" not in row), float("nan"))


def one_table(rows: list[dict]) -> str:
    ours, lines = ours_of(rows), []
    for row in sorted(rows, key=lambda row: row.get("seconds", float("inf"))):
        name = f"**{row['way']}**" if row["kind"] == "ours" else row["way"]
        if "error" in row:
            lines.append([name, "failed", "", "", "", "", ""])
            continue
        lines.append([name, number(row["seconds"]), number(row["seconds"] / ours), number(row["requests"], 4),
                      number(row["bytes"] / 1e6), f"{row['peak']:.0f}", number(row["cpu"], 2)])  # fmt: skip
    return table(["way", "time", "times ours", "requests", "MB", "open", "CPU"], lines)


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


def relay(results: dict) -> str:
    """Whether the relay is the limit."""
    shares = [row["relay"] for row in results["rows"] if row["way"] == OURS and "relay" in row]
    if not shares:
        return ""
    return f"The relay, one thread in C, computed for {min(shares):.0%} to {max(shares):.0%} of the time of libgather's takes.\n"


def page(results: dict, name: str) -> str:
    settings = results["settings"]
    told = ("The peers are told where the rows begin; only libgather reads that from the file." if settings.get("told") else
            "Where the rows begin is in the header of the file, which takes each of them a request or two.")  # fmt: skip
    text = opening("Rows of files on a server", name, "script/remote --bench")
    text += f"\n{settings['connections']} connections at most, medians of {settings['rounds']} rounds. {told}"
    text += f"\n\n{verdict(results)}\n\n{relay(results)}\n"
    whats = {case["case"]: case for case in results["cases"]}
    for (case_name, rtt), rows in groups(results).items():
        case = whats[case_name]
        text += f"## {case_name}, {rtt * 1e3:.0f} ms\n\n{case['rows']:,} rows: {case['what']}.\n\n{one_table(rows)}"
        failed = [f"- {row['way']}: {row['error']}" for row in rows if "error" in row]
        text += "\n".join(["", "Failed:", "", *failed, "", ""]) if failed else "\n"
    text += "## Ways\n\n" + "\n".join(f"- {way['way']}: {way['how']}" for way in results["ways"]) + "\n\n"
    return text + "## Machine\n\n" + machine(results, f"{settings['rounds']} rounds", ["rate", f"{settings['rate'] * 8 / 1e9:g} Gbit/s"])
