# SPDX-License-Identifier: MIT
"""The tables of docs/measured/tables.md on a run of `script/bench tables`, and what its drawing shows."""

from __future__ import annotations

import tables_summary as summary
from summary import number, percent, table
from tables_cases import ORDERS, size_name
from tables_summary import AUTO, COLD, DISK, MEMMAP, RESIDENT, WARM

def times(value: float) -> str:
    return f"{number(value)}x" if value == value else "-"


def rate(value: float) -> str:
    """Rows per second."""
    for factor, unit in ((1e6, " M"), (1e3, " k")):
        if value >= factor:
            return number(value / factor) + unit
    return number(value) if value == value else "-"


def mib(bytes_: float) -> str:
    return f"{bytes_ / 2**20:.0f} MiB"


def limit_of(results: dict) -> str:
    about, size = results["limit"], size_name(results["settings"]["bytes"])
    if not about["in_force"]:
        return (f"**No limit was in force**: this run was made with `--no-limit`. The file has {size}; nothing here says what "
                "happens if memory is short.\n")  # fmt: skip
    return (f"In force: {about['what']}, {size_name(about['bytes'])}, for a file of {size}. Page cache, mappings and private memory "
            f"all count. It was tested before the run: a process that requested {size_name(about['less'])} received it, one that requested "
            f"{size_name(about['more'])} was killed ({about['more_ended']}). At the end the largest observed use was {mib(about['peak'])}.\n")


def in_short(results: dict) -> str:
    lines = []
    for state, key, what in (
        (COLD, "disk", "cold: of the disk's limit"),
        (COLD, "memmap", "cold: over NumPy's memmap"),
        (WARM, "memcpy", "warm: of memcpy from the mapped file"),
        (RESIDENT, "memcpy", "a file that fits: of memcpy from the mapped file"),
    ):
        shown = times if key == "memmap" else percent
        for order in ORDERS:
            if found := summary.share(results, state, key, order):
                figures = [shown(value) for value in (summary.AIMS[key], found["low"], found["median"])]
                lines.append([f"{what}, {order} ids", *figures, f"{found['reached']} of {found['of']}"])
    held = [one["held"] for one in results["memory"] if one["ceiling_mib"]]
    lines.append(["memory: at most the limit", mib(results["settings"]["ceiling"]), "-", "-", f"{sum(held)} of {len(held)}"])
    return table([f"`{AUTO}`", "goal", "lowest", "median", "rows that reach it"], lines)


def cell(row: dict, name: str) -> str:
    found = summary.entry(row, name)
    if not found:
        return "-"
    return f"*{found['error']}*".replace("|", "/") if "error" in found else rate(found["rows_s"]["median"])


# Whose rates the page shows: ours as everybody calls it, and those that a person would choose among.
SHOWN = (AUTO, "pread pool", MEMMAP, "memmap, WILLNEED", "h5py", "safetensors", "pyarrow")


def rates(rows: list[dict], limit: str) -> str:
    there = {way["way"] for row in rows for way in row["ways"]}
    names = [name for name in SHOWN if name in there]
    lines = [[row["name"], rate(summary.limit(row)), *(f"**{cell(row, name)}**" if name == AUTO else cell(row, name) for name in names)] for row in rows]
    return table(["rows of, ids", limit, *names], lines)


def memory_part(results: dict) -> str:
    head = ["who", "limit, MiB", "peak, MiB", "with the page cache, MiB", "rows/s"]
    lines = []
    for one in results["memory"]:
        limit, peak = (f"{one['ceiling_mib']:.0f}", "" if one["held"] else " (over)") if one["ceiling_mib"] else ("none", "")
        lines.append([one["way"], limit, f"{one['most_mib']:.1f}{peak}", f"{one['group_mib']:.0f}" if results["limit"]["in_force"] else "-",
                      one["error"] or rate(one["rows"] / one["seconds"])])  # fmt: skip
    return table(head, lines)


def slower(results: dict) -> str:
    lost = [[state, name, peer, times(value)] for state, name, peer, value in summary.lost(results)]
    return table(["state", "row", "peer", "ours / its"], lost, 3) if lost else "No row is slower than a peer.\n"


NAMES = {DISK: "limit of the disk", "memmap, MADV_RANDOM": "memmap, RANDOM"}


def drawn(results: dict) -> dict[str, list[tuple[str, float, str]]]:
    """Cold rows per second for each size of rows: name, rate and kind of `auto` and everybody else, the fastest first; of random ids, or of the
    first order that there is. The disk's rate is that for these ids."""
    rows = summary.of_state(results, COLD)
    order = "random" if any(row["order"] == "random" for row in rows) else rows[0]["order"] if rows else ""
    parts = {}
    for row in (row for row in rows if row["order"] == order):
        found = []
        for way in row["ways"]:
            value = summary.limit(row) if way["way"] == DISK else way["rows_s"]["median"] if "rows_s" in way else 0
            if value > 0 and (way["kind"] != "ours" or way["way"] == AUTO):
                found.append((NAMES.get(way["way"], way["way"]), value, "" if way["way"] == DISK else way["kind"]))
        parts[f"rows of {size_name(row['row_bytes'])}"] = sorted(found, key=lambda one: -one[1])
    return parts
