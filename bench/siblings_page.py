# SPDX-License-Identifier: MIT
"""Makes the page of a machine on Gather's siblings from the results of `script/bench --only '^(nd|tree|quantised)'`. Nothing in the page
is written elsewhere."""

from __future__ import annotations

from pathlib import Path

import machines
import report
import results as folder
import summary
from page_parts import opening, table
from summary import GATHER, as_kept, by, number, percent, ratio_mean, share_mean, times

def group_of(regime: str) -> str:
    return regime.split(",")[0].split(" to ")[0]


def gather_mean(rows: list[dict]) -> float:
    return ratio_mean(rows, "gather")


def bandwidth_mean(rows: list[dict]) -> float:
    return summary.mean(r["bandwidth"]["share"] for r in rows if "bandwidth" in r)


def written(row: dict) -> float:
    return row["ours"]["median"] / row["ceiling"]["write_ns"] if "write_ns" in row["ceiling"] else float("nan")


def summaries(rows: list[dict]) -> str:
    head, lines, threads = ["regime"], [], summary.threads_of(rows)
    for count in threads:
        head += [f"{count}T best peer / ours", f"{count}T of limit", f"{count}T of bandwidth", f"{count}T Gather / ours",
                 f"{count}T faster / even / slower"]
    groups = list(dict.fromkeys(group_of(r["regime"]) for r in rows))
    for name, chosen in [*((regime, [r for r in rows if r["regime"] == regime]) for regime in summary.regimes(rows)),
                         *((f"**{group}, all**", [r for r in rows if group_of(r["regime"]) == group]) for group in groups)]:
        line = [name]
        for count in threads:
            here = by(chosen, count)
            line += [times(ratio_mean(here)), percent(share_mean(here)), percent(bandwidth_mean(here)), times(gather_mean(here)),
                     report.verdicts(here)]
        lines.append(line)
    return table(head, lines)


def regime_table(rows: list[dict]) -> str:
    peers = [name for name in dict.fromkeys(name for r in rows for name in r["peers"]) if name != GATHER]
    lines = []
    for r in rows:
        line = [r["name"], f"**{number(r['ours']['median'])}**", report.ratio(r.get("best"))]
        line += [number(r["peers"][name]["median"]) if name in r["peers"] else "-" for name in (*peers, GATHER)]
        line += [number(r["ceiling"]["ns"]) if r["ceiling"] else "-", percent(r.get("share", float("nan"))),
                 percent(r.get("bandwidth", {}).get("share", float("nan"))), times(written(r))]
        lines.append(line)
    return table(["row", "ours, ns", "best peer / ours", *peers, "own Gather", "limit", "of limit", "of bandwidth", "times written"], lines)


def page(results: dict, name: str) -> str:
    rows = results["rows"]
    parts = [opening(f"Benchmark of Gather's siblings: {machines.words(results['machine'])}", name, "script/bench"), "## Summary\n", f"Geometric means over the rows of a regime; a run of {results['machine'].get('date', 'an unknown date')}.\n",
             *(part for found, how in ((rows, report.FASTEST), (as_kept(rows), report.KEPT)) for part in (f"### {how}, by regime\n", summaries(found))),
             "## The machine\n", report.about(results), "## Hardware limits\n", report.ceilings(results), "## Rows\n"]
    for regime in summary.regimes(rows):
        parts += [f"### {regime[0].upper()}{regime[1:]}\n", regime_table([r for r in rows if r["regime"] == regime])]
    parts += ["## Slower than the best peer\n", report.losses(rows), "## Peers that were left out\n", report.left_out(results), report.not_run(results)]
    return "\n".join(part for part in parts if part)


def write(results: dict, name: str, root: Path) -> None:
    folder.write_page(name, page(results, name), root)
