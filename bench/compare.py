# SPDX-License-Identifier: MIT
"""Compares two runs by regime: for use before a change lands. Both are results of bench/run.py; rows are matched by name.

    compare.py OLD.json NEW.json [OLD2.json NEW2.json ...] [--picture FILE]    script/bench compare calls this

Of several pairs, which were measured in turns, each row has its median change; then only the picture is made: the means of each regime.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import geometric_mean, median

import drawings
from summary import by, in_means, number, regimes, threads_of, times

LEAST = 0.97  # of the old speed: less is slower, where the rounds agree
FORMS = {"fastest": "ours", "transactional": "kept"}  # what is compared of a row


def pairs(old: list[dict], new: list[dict]) -> list[tuple[dict, dict]]:
    """The rows that both runs have, in the order of the new one."""
    known = {row["name"]: row for row in old}
    return [(known[row["name"]], row) for row in new if row["name"] in known]


def gain(old: dict, new: dict) -> float:
    """How many times as long it took before."""
    return old["median"] / new["median"]


def drift(old: dict, new: dict) -> float:
    """The same of those who did not change between the runs: what the machine did, and nan where a row has nobody else."""
    found = [gain(old["peers"][name], timed) for name, timed in new["peers"].items()
             if name in old["peers"] and old["peers"][name]["form"] == timed["form"]]
    return median(found) if found else float("nan")


def slower(old: dict, new: dict, key: str) -> bool:
    """Beyond noise: the middle halves of the rounds do not meet, and the peers did not slow down as much. Older results lack the
    quartiles; the extremes stand for them."""
    before, after, others = old[key], new[key], drift(old, new)
    apart = after.get("low", after["min"]) > before.get("high", before["max"])
    change = gain(before, after)
    return apart and change < LEAST and not change / others >= LEAST  # nan counts as no excuse


def quartiles(values: list[float]) -> str:
    """Median, and the quartiles of the rows."""
    found = sorted(value for value in values if value == value)
    if not found:
        return f"{'-':>20}"
    return f"{median(found):5.2f} ({found[len(found) // 4]:5.2f} -{found[-1 - len(found) // 4]:5.2f})"


def line(name: str, found: list[tuple[dict, dict]]) -> str:
    columns = [[gain(old[key], new[key]) for old, new in found] for key in FORMS.values()]
    columns.append([drift(old, new) for old, new in found])
    return f"{name:48} {len(found):4}  " + "  ".join(f"{quartiles(column):>20}" for column in columns)


def told(old: dict, new: dict) -> str:
    """A line for each regime and number of threads, then the rows that became slower."""
    found = pairs(old["rows"], new["rows"])
    lines = [f"old: {old['machine']['commit']}, {old['machine']['cpu']}, {old['machine']['isa']}",
             f"new: {new['machine']['commit']}, {new['machine']['cpu']}, {new['machine']['isa']}",
             "old time / new time: median (quartiles of the rows); above 1 the new run is faster",
             f"{'regime':48} rows  " + "  ".join(f"{name:>20}" for name in (*FORMS, "peers"))]
    rows = [after for _, after in found]
    for regime in [*regimes(rows), ""]:
        for threads in threads_of(rows):
            if here := [pair for pair in found if pair[1] in by([pair[1]], threads, regime)]:
                lines.append(line(f"{regime or 'all rows'} {threads}T", here))
    for name, key in FORMS.items():
        lines += [f"slower ({name}): {after['name']}: {number(before[key]['median'])} -> {number(after[key]['median'])} ns, "
                  f"{gain(before[key], after[key]):.2f}, peers {drift(before, after):.2f}"
                  for before, after in found if slower(before, after, key)]
    missing = len(old["rows"]) - len(found)
    lines += [f"{missing} rows of the old run are not in the new one"] if missing else []
    return "\n".join(lines)


def picture(runs: list[tuple[dict, dict]]) -> str:
    """Before and after, by regime, one thread: the geometric mean of its rows' median changes. runs: pairs of an old and a new run."""
    changes: dict[str, dict[str, list[float]]] = {}  # by row, then form
    rows = {row["name"]: row for _, new in runs for row in by(in_means(new["rows"]), 1)}
    for old, new in runs:
        for before, after in pairs(old["rows"], by(in_means(new["rows"]), 1)):
            for form, key in FORMS.items():
                changes.setdefault(after["name"], {}).setdefault(form, []).append(gain(before[key], after[key]))
    shown = []
    for regime in regimes(list(rows.values())):
        found = [changes[name] for name, row in rows.items() if row["regime"] == regime and name in changes]
        if found:
            fastest, kept = (geometric_mean(median(change[form]) for change in found) for form in FORMS)
            shown.append((regime, [("ours", kept), ("open", fastest)], times(kept)))
    ticks = {0.8: "0.8x", 0.9: "0.9x", 1: "1x", 1.1: "1.1x", 1.25: "1.25x"}
    return drawings.dots("Time before / time now, one thread", {"ours": "transactional (the default)", "open": "fastest form"}, {"": shown}, ticks,
                         "right of 1x it has become faster")


def read(path: str) -> dict:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench compare", usage="script/bench compare OLD.json NEW.json [OLD.json NEW.json ...] [--picture FILE]")
    parser.add_argument("runs", nargs="+", help="results of an old and a new library, in turns")
    parser.add_argument("--picture", default="", metavar="FILE", help="draw the change of each regime, an SVG")
    asked = parser.parse_args()
    if len(asked.runs) % 2 or (len(asked.runs) > 2 and not asked.picture):
        parser.error("an old and a new run; several pairs only for --picture")
    runs = [(read(old), read(new)) for old, new in zip(asked.runs[::2], asked.runs[1::2])]
    if asked.picture:
        Path(asked.picture).write_text(picture(runs), encoding="utf-8")
    else:
        print(told(*runs[0]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
