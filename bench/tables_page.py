# SPDX-License-Identifier: MIT
"""Makes the page of a run of `script/bench tables`, and its pictures, in the folder of results. Nothing in the page is
written elsewhere."""

from __future__ import annotations

from pathlib import Path

import results as folder
import tables_pictures
import tables_summary as summary
from calls_page import table
from summary import number
from tables_cases import ORDERS, size_name
from tables_summary import AUTO, COLD, MEMCPY, MEMMAP, OWN_CACHE, RESIDENT, WARM
from tables_text import HEAD, MEMORY, READ, RUN


def percent(value: float) -> str:
    return f"{value:.0%}" if value == value else "-"


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


def machine_of(results: dict) -> str:
    about, settings = results["machine"], results["settings"]
    wanted = (
        ("date", "date"),
        ("CPU", "cpu"),
        ("CPUs in use", "cpus"),
        ("virtual machine", "hypervisor"),
        ("memory, GiB", "memory_gib"),
        ("page, bytes", "page_bytes"),
        ("disk", "disk"),
        ("model", "model"),
        ("file system", "file_system"),
        ("readahead, KiB", "read_ahead_kib"),
        ("scheduler", "scheduler"),
        ("rotational, as reported", "rotational"),
        ("system", "system"),
        ("compiler", "compiler"),
        ("build type", "build_type"),
        ("flags", "flags"),
        ("kernels used", "isa"),
        ("Python", "python"),
        ("commit", "commit"),
        ("load when it began", "load"),
        ("command", "command"),
    )
    lines = [[name, str(about[key]).strip()] for name, key in wanted if str(about.get(key, "")).strip()]
    lines.append(["versions", ", ".join(f"{name} {version}" for name, version in about["versions"].items())])
    lines.append(["absent", "; ".join(f"{name} ({why})" for name, why in about["absent"].items()).replace("|", "/") or "none"])
    lines.append(
        [
            "run",
            f"a {'quick' if settings['quick'] else 'full'} run: {len(results['rows'])} rows, "
            f"{settings['seconds']:.0f} s",
        ]
    )
    return table(["what", ""], lines, 2)


def limit_of(results: dict) -> str:
    about, settings = results["limit"], results["settings"]
    if not about["in_force"]:
        return (
            "**No limit was in force**: this run was made with `--no-limit`. "
            f"The file has {size_name(settings['bytes'])}; "
            "nothing here says what happens if memory is short.\n"
        )
    return (
        f"In force: {about['what']}, {size_name(about['bytes'])}, for a file of {size_name(settings['bytes'])}. "
        "Page cache, mappings and private memory all count. It was tested before the run: a process that requested "
        f"{size_name(about['less'])} received it, one that requested {size_name(about['more'])} was killed "
        f"({about['more_ended']}). At the end the largest observed use was "
        f"{mib(about['peak'])}.\n"
    )


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
                lines.append(
                    [
                        f"{what}, {order} ids",
                        shown(summary.AIMS[key]),
                        shown(found["low"]),
                        shown(found["median"]),
                        f"{found['reached']} of {found['of']}",
                    ]
                )
    held = [one for one in results["memory"] if one["ceiling_mib"]]
    lines.append(
        [
            "memory: at most the limit",
            f"{results['settings']['ceiling'] >> 20} MiB",
            "-",
            "-",
            f"{sum(one['held'] for one in held)} of {len(held)}",
        ]
    )
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


def read_table(rows: list[dict]) -> str:
    names = names_of(rows)
    lines = [
        [row["name"], *(number(way["read"]) if (way := summary.entry(row, name)) and "read" in way else "-" for name in names)]
        for row in rows
    ]
    return table(["rows of, ids", *names], lines)


def engines(rows: list[dict]) -> str:
    """What the statistics of ours say, each different sentence once."""
    found: dict[tuple, list[str]] = {}
    for row in rows:
        for way in row["ways"]:
            if "engine" in way:
                key = way["way"], way["engine"], "yes" if way["direct"] else "no", str(way["depth"]), way.get("why", "")
                found.setdefault(key, []).append(row["name"])
    lines = [[*key[:4], key[4].replace("|", "/"), str(len(names))] for key, names in found.items()]
    return table(["opened as", "reads by", "direct I/O", "depth", "why", "rows"], lines, 5) if lines else ""


def disk_part(results: dict) -> str:
    lines = [
        [
            f"blocks of {size_name(one['block'])} at random, depth {one['depth']}",
            rate(one["blocks_s"]),
            f"{one['blocks_s'] * one['block'] / 1e6:.0f}",
        ]
        if "block" in one
        else [one["what"], "-", f"{one['bytes_s'] / 1e6:.0f}"]
        for one in results["limits"]
    ]
    pools = [[size_name(one["row_bytes"]), one["pool"], rate(one["rows_s"])] for one in results["pools"]]
    return "\n".join(
        [
            "The better of two rounds, before everything else; the tables below measure the best depth again.\n",
            table(["what", "blocks/s", "MB/s"], lines),
            "Thread pools, cold, random ids; the best one for each row size is included below as *pread pool*.\n",
            table(["rows of", "pool", "rows/s"], pools, 2),
        ]
    )


def memory_part(results: dict) -> str:
    lines = [
        [
            one["way"],
            f"{one['ceiling_mib']:.0f}" if one["ceiling_mib"] else "none",
            f"{one['most_mib']:.1f}",
            f"{one['says_mib']:.1f}" if one["says_mib"] else "-",
            ("yes" if one["held"] else "**no**") if one["ceiling_mib"] else "-",
            f"{one['group_mib']:.0f}" if results["limit"]["in_force"] else "-",
            rate(one["rows"] / one["seconds"]),
            one["error"] or "-",
        ]
        for one in results["memory"]
    ]
    one = results["memory"][0]
    return MEMORY.format(row=size_name(one["row_bytes"]), batch=one["batch"], seconds=number(one["seconds"])) + table(
        ["who", "limit, MiB", "peak, MiB", "peak by its own statistics, MiB", "held", "with the page cache, MiB", "rows/s", "killed"],
        lines,
    )


def depth_part(results: dict) -> str:
    names = list(dict.fromkeys(one["way"] for one in results["depths"]))
    lines = [
        [
            str(depth),
            *(
                next(
                    (
                        rate(one["rows_s"]) if "rows_s" in one else f"*{one['error']}*"
                        for one in results["depths"]
                        if one["depth"] == depth and one["way"] == name
                    ),
                    "-",
                )
                for name in names
            ),
        ]
        for depth in sorted({one["depth"] for one in results["depths"]})
    ]
    return "Random rows of 4 KiB, cold, one measurement each; the depth of a pool is its number of threads.\n\n" + table(
        ["depth", *names], lines
    )


def not_reached(results: dict) -> str:
    missed = [
        [state, name, {"disk": "the disk", "memmap": MEMMAP, "memcpy": MEMCPY}[key], times(summary.AIMS[key]), times(value)]
        for state, name, key, value in summary.missed(results)
    ]
    lost = [[state, name, peer, times(value)] for state, name, peer, value in summary.lost(results)]
    return "\n".join(
        [
            table(["state", "row", "of", "goal", "reached"], missed, 3)
            if missed
            else "Every goal is reached in every row.\n",
            "Slower than a peer:\n" if lost else "No row is slower than a peer.\n",
            *([table(["state", "row", "peer", "ours / its"], lost, 3)] if lost else []),
        ]
    )


def page(results: dict, name: str, drawn: list[str]) -> str:
    from tables_cases import RUN as CLUSTER
    from tables_file import HEAD as BEGINS

    settings = results["settings"]
    cold, warm, resident = (summary.of_state(results, state) for state in (COLD, WARM, RESIDENT))

    def pictures(*names: str) -> list[str]:
        return [f"![{tables_pictures.WHAT[one]}]({name}/{one})\n" for one in names if one in drawn]

    given = [[one["way"], one["how"]] for one in results["peers"]]
    given.append(
        ["pread pool", "C: that many threads, one pread per row, through the page cache or with direct I/O; the best of [six](#the-disk)"]
    )
    parts = [
        HEAD.format(name=name, file=size_name(settings["bytes"]), memory=size_name(settings["memory"])),
        "## Summary\n",
        in_short(results),
        *pictures("tables-cold.svg", "tables-warm.svg"),
        "## The machine\n",
        machine_of(results),
        "## The memory limit\n",
        limit_of(results),
        RUN,
        READ.format(
            head=BEGINS, run=CLUSTER, slow=number(settings["slow_seconds"]), working=mib(settings["working_set"]),
            rounds=settings["rounds"], warm_rounds=settings["warm_rounds"],
        )
        + table(["who", "how"], given, 2),
        "## The disk\n",
        disk_part(results),
        "## Cold\n",
        "Rows per second:\n",
        rates(cold, "limit"),
        "`auto` compared with the goals:\n",
        ratio_table(cold, {"disk": "of the disk's limit", "memmap": f"over {MEMMAP}"}),
        "Bytes read / useful:\n",
        read_table(cold),
        *pictures("tables-read.svg"),
        "Engines, by the table's own statistics:\n",
        engines(cold),
        "## Warm\n",
        "Rows per second:\n",
        rates(warm, "memcpy"),
        ratio_table(warm, {"memcpy": "of memcpy"}),
        own_cache(warm),
        "## A file that fits\n",
        f"A file of {size_name(settings['small_bytes'])} is completely in the page cache. Rows per second:\n",
        rates(resident, "memcpy"),
        ratio_table(resident, {"memcpy": "of memcpy"}),
        "## Memory over time\n",
        memory_part(results),
        *pictures("tables-memory.svg"),
        "## Queue depth\n",
        depth_part(results),
        *pictures("tables-depth.svg"),
        "## Goals not reached\n",
        not_reached(results),
    ]
    return "\n".join(part for part in parts if part)


def own_cache(rows: list[dict]) -> str:
    """With only the table's own cache warm."""
    lines = [[row["name"], percent(value)] for row in rows for value in summary.ratios(row, OWN_CACHE).values()]
    return (
        "From the table's own cache, compared with memcpy from the mapped file:\n\n" + table(["rows of, ids", OWN_CACHE], lines)
        if lines
        else ""
    )


def write(results: dict, name: str, root: Path) -> None:
    tables_pictures.draw(results, folder.pages(root) / name)
    have = folder.pictures_of(name, root)
    drawn = [one for one in tables_pictures.names(results) if one in have]
    folder.write_page(name, page(results, name, drawn), root, drawn)
