# SPDX-License-Identifier: MIT
"""Makes the page of a run of script/bench, and its pictures, in the folder of results. Nothing in it is written by hand."""

from __future__ import annotations

from pathlib import Path

import growth
import machines
import pictures
import results as folder
import summary
from page_parts import machine, opening, table
from summary import as_kept, by, lost, number, percent, ratio_mean, share_mean, times

MEANS = """Geometric means over the rows of a regime. *Fastest form*: usually `fresh_output`, whose output may hold anything after
an error. *Transactional*: the default, whose output is then unchanged.
"""

FASTEST, KEPT = "Fastest form", "Transactional"  # the forms of ours, as titles

def verdicts(rows: list[dict], key: str = "best") -> str:
    return " / ".join(str(count) for count in summary.counts(rows, key)) if any(key in r for r in rows) else "-"


def summaries(rows: list[dict]) -> str:
    """Of the form of ours that the rows are about: the fastest one, or the default (as_kept)."""
    head, lines = ["regime"], []
    threads = summary.threads_of(rows)
    for count in threads:
        head += [f"{count}T best peer / ours", f"{count}T C loop / ours", f"{count}T of limit", f"{count}T faster / even / slower"]
    for regime in [*summary.regimes(rows), ""]:
        line = [regime or "**all rows**"]
        for count in threads:
            here = by(rows, count, regime)
            line += [times(ratio_mean(here)), times(ratio_mean(here, "loop")), percent(share_mean(here)), verdicts(here)]
        lines.append(line)
    return table(head, lines)


def about(results: dict) -> str:
    rows = results["rows"]
    noise = (f"the slowest round of ours is {summary.noise(rows) - 1:.0%} above its median in the median row; {summary.interrupted(rows)}; "
             f"{summary.disturbed(rows)}")  # fmt: skip
    return machine(results, f"{results['settings']['rounds']} rounds, {len(rows)} rows", ["noise", noise])


def ceilings(results: dict) -> str:
    found = [[f"{c['what']}, {c['bytes'] >> 20} MiB", f"{c['threads']}", f"{c['gb_per_s']:.1f} GB/s", f"{c['low']:.1f} - {c['high']:.1f}"]
             for c in results["limits"] if "gb_per_s" in c]
    found += [[c["what"], f"{c['threads']}", f"{c['ns']:.2f} ns per element", ""] for c in results["limits"] if "ns" in c]
    return table(["what", "threads", "best", "lowest - highest"], found)


def ratio(best: dict | None, peer: bool = True) -> str:
    if not best:
        return "-"
    return f"{best['ratio']:.2f}x" + (f" {best['verdict']}" if best["verdict"] != "win" else "") + (f" ({best['peer']})" if peer else "")


def regime_table(rows: list[dict]) -> str:
    peers = list(dict.fromkeys(name for r in rows for name in r["peers"]))
    lines = []
    for r in rows:
        kept = r.get("kept")
        line = [r["name"], f"**{number(r['ours']['median'])}**", ratio(r.get("best")),
                *((number(kept["median"]), ratio(kept.get("best"), False)) if kept else ("-", "-"))]
        line += [number(r["peers"][name]["median"]) if name in r["peers"] else "-" for name in peers]
        line += [number(r["ceiling"]["ns"]) if r["ceiling"] else "-", percent(r.get("share", float("nan")))]
        lines.append(line)
    return table(["row", "ours, ns", "best peer / ours", "transactional, ns", "best peer / transactional", *peers, "limit", "of limit"], lines)


def calls(rows: list[dict]) -> str:
    """The price of a call from C, which no Python hides."""
    lines = [[r["name"], number(f["median"]), f["form"]] for r in rows for f in r["forms"] if f["peer"] == "ours" and r["unit"] == "call"]
    return table(["row", "ns per call", "how"], lines) if lines else ""


def losses(rows: list[dict]) -> str:
    """For the fastest form, and for the default one."""
    parts = []
    for found, how in ((rows, FASTEST), (as_kept(rows), KEPT)):
        parts.append(f"### {how}\n")
        for key, to in (("best", "the best peer"), ("loop", "the C loop")):
            lines = [[r["name"], r[key].get("peer", "C loop"), times(r[key]["ratio"]), f"{r[key]['low']:.2f} - {r[key]['high']:.2f}",
                      percent(r.get("share", float("nan")))] for r in lost(found, key)]
            parts.append(f"Slower than {to}: {len(lines)} of {sum(key in r for r in found)} rows.\n")
            parts += [table(["row", "slower than", "its time / ours", "quartiles", "of limit"], lines)] if lines else []
    return "\n".join(parts)


def left_out(results: dict) -> str:
    found: dict[tuple[str, str], list[str]] = {}
    for r in results["rows"]:
        for wrong in r["wrong"]:
            found.setdefault((wrong["peer"], wrong["why"]), []).append(f"{r['name']} ({wrong['form']})")
    lines = [[peer, why.replace("|", "/"), str(len(names)), names[0]] for (peer, why), names in found.items()]
    return table(["peer", "why", "times", "first in"], lines) if lines else "None: every peer gave the same bits as NumPy in every row.\n"


def picture(name: str, which: str) -> str:
    return f"![{pictures.title(which)}]({name}/{which})\n"


def fastest(rows: list[dict]) -> str:
    """The same means from the fastest rounds: where they differ, the machine was busy."""
    found = [f"{count}T {times(ratio_mean(by(rows, count), 'best', 'fastest'))} compared with the best peer, "
             f"{times(ratio_mean(by(rows, count), 'loop', 'fastest'))} with the C loop" for count in summary.threads_of(rows)]
    return (f"From the fastest rounds instead of the medians: {'; '.join(found)}. By CPU time, which other programs do not "
            f"prolong, on one thread: {times(summary.cpu_mean(rows))} compared with the best peer, "
            f"{times(summary.cpu_mean(rows, 'loop'))} with the C loop.\n")


def by_regime(rows: list[dict]) -> str:
    parts = []
    for regime in summary.regimes(rows):
        here = [r for r in rows if r["regime"] == regime]
        parts += [f"### {regime[0].upper()}{regime[1:]}\n", regime_table(here), calls(here)]
    return "\n".join(part for part in parts if part)


def not_run(results: dict) -> str:
    """Rows for which there was not enough memory."""
    found = results.get("left_out", [])
    return table(["left out", "why"], [[left["row"], left["why"]] for left in found]) if found else ""


def page(results: dict, name: str, drawn: list[str]) -> str:
    rows = summary.in_means(results["rows"])
    curves = [r for r in results["rows"] if summary.is_curve(r)]
    parts = [opening(f"Benchmark: {machines.words(results['machine'])}", name, "script/bench"), "## Summary\n", MEANS]
    for found, how in ((rows, FASTEST), (as_kept(rows), KEPT)):
        parts += [f"### {how}, by regime\n", summaries(found)]
    parts += [fastest(rows), *(picture(name, one) for one in drawn if one in pictures.WHAT)]
    parts += ["## The machine\n", about(results), "## Hardware limits\n", ceilings(results), "## Scaling\n"]
    parts += [picture(name, one) for one in drawn if one in growth.CURVES]
    parts += ["" if curves else "This run does not include these rows; a full run does.\n", not_run(results), by_regime(curves)]
    parts += ["## Rows\n", by_regime(rows)]
    parts += ["## Slower than the best peer\n", losses(results["rows"]), "## Peers that were left out\n", left_out(results)]
    return "\n".join(part for part in parts if part)


def write(results: dict, name: str, root: Path, draw: bool) -> None:
    """draw: the pictures too; without, they are as they were."""
    if draw:
        pictures.draw(results, folder.pages(root) / name)
    have = folder.pictures_of(name, root)
    drawn = [one for one in pictures.names(results) if one in have]
    folder.write_page(name, page(results, name, drawn), root, drawn)
