# SPDX-License-Identifier: MIT
"""The pictures of the pages of `script/bench tables`. Without matplotlib there are none."""

from __future__ import annotations

from pathlib import Path

import tables_summary as summary
from pictures import COLOURS, OTHERS, save, settle
from tables_cases import size_name
from tables_summary import COLD, DISK, WARM

GREY = "#70757c"
WHAT = {
    "tables-cold.svg": "Cold: rows per second, random ids",
    "tables-warm.svg": "Warm: rows per second, random ids",
    "tables-read.svg": "Cold: bytes read for each useful byte, random ids",
    "tables-memory.svg": "Memory over time",
    "tables-depth.svg": "Rows per second against reads in flight",
}


def colour(way: dict) -> str:
    return {"ours": COLOURS[0], "peer": COLOURS[1]}.get(way["kind"], GREY)


def panels(results: dict, state: str) -> list[dict]:
    """The rows of one order: random, or the first that there is."""
    rows = summary.of_state(results, state)
    order = "random" if any(row["order"] == "random" for row in rows) else rows[0]["order"] if rows else ""
    return [row for row in rows if row["order"] == order]


def shown(row: dict, value: str) -> list[tuple[str, float, str]]:
    """Name, number and colour; the disk's rate is that for these ids."""
    found = []
    for way in row["ways"]:
        if value == "read":
            number = way.get("read", 0) if way["kind"] != "limit" else 0
        elif way["way"] == DISK:
            number = summary.limit(row)
        else:
            number = way["rows_s"]["median"] if "rows_s" in way else 0
        if number > 0:
            found.append(("limit of the disk" if way["way"] == DISK else way["way"], number, colour(way)))
    return sorted(found, key=lambda one: one[1])


def bars(plt, rows: list[dict], value: str, below: str, title: str, path: Path) -> None:
    """A part for each size of rows."""
    parts = [shown(row, value) for row in rows]
    figure, every = plt.subplots(
        1, len(rows), figsize=(3.6 * len(rows), 0.9 + 0.24 * max(len(part) for part in parts)), squeeze=False, layout="constrained"
    )
    for axes, row, part in zip(every[0], rows, parts):
        at = range(len(part))
        axes.barh(at, [one[1] for one in part], 0.7, color=[one[2] for one in part])
        axes.set_xscale("log")
        axes.set_yticks(at, [one[0] for one in part], fontsize=7)
        axes.set_xlabel(below)
        axes.set_title(f"rows of {size_name(row['row_bytes'])}", fontsize=9)
        axes.grid(axis="x", color="#e4e6e9", linewidth=0.6)
        axes.set_axisbelow(True)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    save(plt, figure, path)


def looks(names: list[str]) -> dict[str, dict]:
    """Ours are thick and blue, each in a line of its own kind."""
    own = iter(("-", "--", ":", "-."))
    others = iter(OTHERS)
    found = {}
    for name in names:
        if name == DISK:
            found[name] = {"color": GREY, "linewidth": 1.2}
        elif name.startswith("libgather"):
            found[name] = {"color": COLOURS[0], "linewidth": 1.8, "linestyle": next(own, "-")}
        else:
            found[name] = {"color": next(others), "linewidth": 1.4}
    return found


def depths(plt, results: dict, title: str, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    names = list(dict.fromkeys(one["way"] for one in results["depths"]))
    for name, look in looks(names).items():
        points = [(one["depth"], one["rows_s"]) for one in results["depths"] if one["way"] == name and "rows_s" in one]
        axes.plot([x for x, _ in points], [y for _, y in points], marker=".", markersize=4, label=name, **look)
    places = sorted({one["depth"] for one in results["depths"]})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(plt.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xticks(places, [str(place) for place in places])
    axes.minorticks_off()
    axes.grid(axis="y", color="#e4e6e9", linewidth=0.6)
    axes.set_xlabel("reads in flight, or threads")
    axes.set_ylabel("rows of 4 KiB per second, cold")
    axes.set_title(title, loc="left", fontsize=10)
    axes.legend(frameon=False)
    save(plt, figure, path)


def memory(plt, results: dict, title: str, path: Path) -> None:
    """The process on the left, the whole run with the page cache on the right."""
    in_force = results["limit"]["in_force"]
    figure, every = plt.subplots(1, 1 + in_force, figsize=(9, 4), sharey=True, squeeze=False, layout="constrained")
    ceiling = max((one["ceiling_mib"] for one in results["memory"]), default=0)
    look = looks([one["way"] for one in results["memory"]])
    for axes, what in zip(every[0], ("process: private and mapped", "run: with the page cache")):
        for one in results["memory"]:
            points = [(s[0], s[1] + s[2] if axes is every[0][0] else s[3]) for s in one["samples"]]
            axes.plot([x for x, _ in points], [max(0.1, y) for _, y in points], label=one["way"], **look[one["way"]])
        axes.axhline(ceiling, color="#d0422f", linewidth=1, linestyle="--", label=f"the limit, {ceiling:.0f} MiB")
        if in_force:
            allowed = results["limit"]["bytes"] / 2**20
            axes.axhline(allowed, color="black", linewidth=0.8, linestyle=":", label=f"what the run is allowed, {allowed:.0f} MiB")
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylim(bottom=1)
        axes.set_xlabel("seconds")
        axes.set_title(what, fontsize=9)
    every[0][0].set_ylabel("MiB")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    figure.legend(*every[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    save(plt, figure, path)


def draw(results: dict, folder: Path) -> list[str]:
    """Draws all, and returns their names."""
    try:
        import matplotlib

        matplotlib.use("svg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        print(f"bench: skipped: pictures: {error}")
        return []
    settle(plt)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names(results):
        title, path = WHAT[name], folder / name
        if name == "tables-memory.svg":
            memory(plt, results, title, path)
        elif name == "tables-depth.svg":
            depths(plt, results, title, path)
        else:
            state, value = (WARM if "warm" in name else COLD), ("read" if "read" in name else "rows_s")
            below = "bytes read / useful" if value == "read" else "rows/s"
            bars(plt, panels(results, state), value, below, title, path)
    return names(results)


def names(results: dict) -> list[str]:
    """The pictures that these results give."""
    there = {COLD: bool(panels(results, COLD)), WARM: bool(panels(results, WARM))}
    wanted = {
        "tables-cold.svg": there[COLD], "tables-warm.svg": there[WARM], "tables-read.svg": there[COLD],
        "tables-memory.svg": bool(results["memory"]), "tables-depth.svg": bool(results["depths"]),
    }
    return [name for name in WHAT if wanted[name]]
