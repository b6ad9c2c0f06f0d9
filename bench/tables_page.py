# SPDX-License-Identifier: MIT
"""The tables of docs/measured/benchmarks.md on a run of `script/bench tables`, and what its drawing shows."""

from __future__ import annotations

import tables_summary as summary
from summary import number, percent, table
from tables_cases import ORDERS, size_name
from tables_summary import AUTO, COLD, DISK, MEMCPY, MEMMAP, RESIDENT, WARM

MEMORY = """Rows of {row} by Zipf's law from the cold file, {batch} at a time, for {seconds} s. Every 50 ms, a sample of what the
system counts for the process: private memory and mapped pages of files, minus what it was before the table was opened.
The output is not included. *With the page cache* is how much more the whole run uses than before, as its limit counts
it: pages of a file that the system keeps after reading belong to no process, and are dropped when somebody needs the
memory.

"""


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


def names_of(rows: list[dict]) -> list[str]:
    """Ours first, then the peers, without the limits."""
    found = list(dict.fromkeys((way["kind"] != "ours", way["way"]) for row in rows for way in row["ways"] if way["kind"] != "limit"))
    return [name for _, name in sorted(found, key=lambda pair: pair[0])]


def rates(rows: list[dict], limit: str) -> str:
    names = names_of(rows)
    lines = [
        [row["name"], rate(summary.limit(row)), *(f"**{cell(row, name)}**" if name == AUTO else cell(row, name) for name in names)]
        for row in rows
    ]
    return table(["rows of, ids", limit, *names], lines)


def ratio_table(rows: list[dict], names: dict[str, str]) -> str:
    """names: of a ratio, what its column says."""
    lines = []
    for row in rows:
        found, one = summary.ratios(row), summary.standing(row)
        line = [row["name"]]
        for key in names:
            value = found.get(key, float("nan"))
            shown = times(value) if key == "memmap" else percent(value)
            line.append(f"**{shown}**" if value < summary.AIMS[key] else shown)
        spread = summary.entry(row, AUTO).get("rows_s") if summary.entry(row, AUTO) else None
        line.append(f"{rate(spread['low'])} - {rate(spread['high'])}" if spread else "-")
        line += [f"{times(one['ratio'])}{'' if one['verdict'] == 'win' else ' ' + one['verdict']} ({one['peer']})" if one else "-"]
        lines.append(line)
    return table(["rows of, ids", *names.values(), "auto, lowest - highest", "auto / fastest peer"], lines)


def memory_part(results: dict) -> str:
    head = ["who", "limit, MiB", "peak, MiB", "peak by its own statistics, MiB", "held", "with the page cache, MiB", "rows/s", "killed"]
    lines = []
    for one in results["memory"]:
        limit, held = (f"{one['ceiling_mib']:.0f}", "yes" if one["held"] else "**no**") if one["ceiling_mib"] else ("none", "-")
        lines.append([one["way"], limit, f"{one['most_mib']:.1f}", f"{one['says_mib']:.1f}" if one["says_mib"] else "-", held,
                      f"{one['group_mib']:.0f}" if results["limit"]["in_force"] else "-", rate(one["rows"] / one["seconds"]), one["error"] or "-"])
    one = results["memory"][0]
    return MEMORY.format(row=size_name(one["row_bytes"]), batch=one["batch"], seconds=number(one["seconds"])) + table(head, lines)


def depth_part(results: dict) -> str:
    cells = {(one["depth"], one["way"]): rate(one["rows_s"]) if "rows_s" in one else f"*{one['error']}*" for one in reversed(results["depths"])}
    names = list(dict.fromkeys(one["way"] for one in results["depths"]))
    lines = [[str(depth), *(cells.get((depth, name), "-") for name in names)] for depth in sorted({depth for depth, _ in cells})]
    return ("Random rows of 4 KiB, cold, one measurement each; the depth of a pool is its number of threads.\n\n" +
            table(["depth", *names], lines))  # fmt: skip


def not_reached(results: dict) -> str:
    of = {"disk": "the disk", "memmap": MEMMAP, "memcpy": MEMCPY}
    missed = [[state, name, of[key], times(summary.AIMS[key]), times(value)] for state, name, key, value in summary.missed(results)]
    lost = [[state, name, peer, times(value)] for state, name, peer, value in summary.lost(results)]
    return "\n".join([
        table(["state", "row", "of", "goal", "reached"], missed, 3) if missed else "Every goal is reached in every row.\n",
        "Slower than a peer:\n" if lost else "No row is slower than a peer.\n",
        *([table(["state", "row", "peer", "ours / its"], lost, 3)] if lost else []),
    ])  # fmt: skip


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
                found.append(("limit of the disk" if way["way"] == DISK else way["way"], value, "" if way["way"] == DISK else way["kind"]))
        parts[f"rows of {size_name(row['row_bytes'])}"] = sorted(found, key=lambda one: -one[1])
    return parts
