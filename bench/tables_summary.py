# SPDX-License-Identifier: MIT
"""What the results of `script/bench tables` say: against the disk, against memmap, against memcpy, against everybody;
what is missed."""

from __future__ import annotations

from statistics import median

from summary import number

COLD, WARM, RESIDENT = "cold", "warm", "resident"
DISK, MEMCPY, MEMMAP, AUTO = "the disk", "memcpy from the mapped file", "numpy memmap", "libgather auto"
OWN_CACHE = "libgather auto, own cache only"
# What is aimed at: ours over the disk, over NumPy's memmap, over memcpy (at most 10 % more time), everywhere.
AIMS = {"disk": 0.9, "memmap": 30.0, "memcpy": 1 / 1.1}


def of_state(results: dict, state: str) -> list[dict]:
    return [row for row in results["rows"] if row["state"] == state]


def entry(row: dict, name: str) -> dict | None:
    return next((way for way in row["ways"] if way["way"] == name), None)


def rate(row: dict, name: str) -> float:
    """Rows per second, the median; nan where there is none."""
    found = entry(row, name)
    return found["rows_s"]["median"] if found and "rows_s" in found else float("nan")


def limit(row: dict) -> float:
    """Rows per second: cold, the different blocks that the ids name, as fast as the disk reads blocks at random; else
    memcpy."""
    return rate(row, DISK) * row["ids"] / row["blocks"] if row["state"] == COLD else rate(row, MEMCPY)


def ratios(row: dict, name: str = AUTO) -> dict[str, float]:
    """Ours over what is aimed at; only what there is."""
    ours = rate(row, name)
    found = {"disk": ours / limit(row), "memmap": ours / rate(row, MEMMAP)} if row["state"] == COLD else {"memcpy": ours / limit(row)}
    return {key: value for key, value in found.items() if value == value}


def best_peer(row: dict) -> dict | None:
    found = [way for way in row["ways"] if way["kind"] == "peer" and "rows_s" in way]
    return max(found, key=lambda way: way["rows_s"]["median"], default=None)


def verdict(ours: dict, other: dict) -> str:
    """Even where the slowest and the fastest measurements of the two overlap."""
    if ours["rows_s"]["low"] > other["rows_s"]["high"]:
        return "faster"
    return "slower" if ours["rows_s"]["high"] < other["rows_s"]["low"] else "even"


def standing(row: dict, name: str = AUTO) -> dict | None:
    """Ours against the fastest peer."""
    ours, peer = entry(row, name), best_peer(row)
    if not ours or not peer or "rows_s" not in ours:
        return None
    return {"peer": peer["way"], "ratio": rate(row, name) / peer["rows_s"]["median"], "verdict": verdict(ours, peer)}


def missed(results: dict) -> list[tuple[str, str, str, float]]:
    """State, row, what, how much: rows in which `auto` does not reach what is aimed at."""
    return [(row["state"], row["name"], key, value) for row in results["rows"] for key, value in ratios(row).items() if value < AIMS[key]]


def lost(results: dict) -> list[tuple[str, str, str, float]]:
    """State, row, peer, how much: rows in which a peer is faster."""
    found = [(row, standing(row)) for row in results["rows"]]
    return [(row["state"], row["name"], one["peer"], one["ratio"]) for row, one in found if one and one["verdict"] == "slower"]


def share(results: dict, state: str, key: str, order: str = "") -> dict | None:
    """Of a ratio: the lowest, the median, and how many rows reach what is aimed at; of one order of ids, or of all."""
    rows = [row for row in of_state(results, state) if order in ("", row["order"])]
    values = [ratios(row)[key] for row in rows if key in ratios(row)]
    if not values:
        return None
    return {"low": min(values), "median": median(values), "reached": sum(value >= AIMS[key] for value in values), "of": len(values)}


def line(row: dict) -> str:
    """A row for the terminal."""
    text = f"{row['state']:9}{row['name']:18}"
    for name in (AUTO, OWN_CACHE):
        if rate(row, name) == rate(row, name):
            text += f" {name.removeprefix('libgather ')} {number(rate(row, name)):>8}/s"
    text += "".join(f"  {value:.2f} of {key}" if key != "memmap" else f"  {value:.1f}x memmap" for key, value in ratios(row).items())
    if one := standing(row):
        text += f"  {one['ratio']:.2f}x {one['peer']} {one['verdict']}"
    if errors := [f"{way['way']}: {way['error']}" for way in row["ways"] if "error" in way]:
        text += f"  [{'; '.join(errors)}]"
    return text


def closing(results: dict) -> str:
    lines = [""]
    for state, key in ((COLD, "disk"), (COLD, "memmap"), (WARM, "memcpy"), (RESIDENT, "memcpy")):
        if found := share(results, state, key):
            lines.append(
                f"{state}: of {key}: median {found['median']:.2f}, lowest {found['low']:.2f}, {found['reached']} of "
                f"{found['of']} rows reach {AIMS[key]:.2f}"
            )
    lines += [f"missed: {state}: {name}: {value:.2f} of {key}" for state, name, key, value in missed(results)]
    lines += [f"lost: {state}: {name}: {value:.2f} of {peer}" for state, name, peer, value in lost(results)]
    lines += [
        f"memory: {one['way']}: {one['most_mib']:.0f} MiB at most, {one['rows']} rows"
        + (f"; ceiling {one['ceiling_mib']:.0f} MiB {'held' if one['held'] else 'NOT HELD'}" if one["ceiling_mib"] else "")
        + (f"; {one['error']}" if one["error"] else "")
        for one in results["memory"]
    ]
    about = results["limit"]
    lines.append(
        f"limit: {about['what']}, in force: {about['in_force']}; peak {about['peak'] / 2**20:.0f} MiB; "
        f"{results['settings']['seconds']:.0f} s"
    )
    return "\n".join(lines)
