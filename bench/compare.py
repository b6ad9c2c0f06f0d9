# SPDX-License-Identifier: MIT
"""Compares two runs by regime: for use before a change lands. Both are results of bench/run.py; rows are matched by name.

    compare.py OLD.json NEW.json    script/bench compare calls this
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

from summary import by, number, regimes, threads_of

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


def read(path: str) -> dict:
    return json.loads(Path(path).read_text(encoding="utf-8"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: script/bench compare OLD.json NEW.json")
    print(told(read(sys.argv[1]), read(sys.argv[2])))
