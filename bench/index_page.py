# SPDX-License-Identifier: MIT
"""The pages of runs of script/bench in build/results/pages, and README.md there: the list of all pages."""

from __future__ import annotations

from pathlib import Path

import machines
import page_parts
import report
import results as folder
import siblings_page
import summary
from summary import as_kept, by, percent, ratio_mean, share_mean, times

HEAD = """# Results

Made by `script/bench --report` from what is in build/results. docs/benchmarks.md of the sources says how it was measured, and
how to read it.

Geometric means over all rows of a run, in two forms: the fastest one and, after the slash, the transactional one, which is the
default. *best peer*: how many times as long the fastest library takes. *of limit*: the share of the hardware's limit.
*kernels*: the strongest instruction set in use; a run in which libgather was held to a weaker one than the CPU has says so.
"""

SIBLINGS = """GatherND, GatherTree and quantised rows:
"""

OTHERS = """Other pages:
"""


def both(rows: list[dict], value, shown) -> str:
    return f"{shown(value(rows))} / {shown(value(as_kept(rows)))}"


def line(name: str, results: dict, linked: bool) -> list[str]:
    about, rows = results["machine"], summary.in_means(results["rows"])
    words = machines.words(about)
    found = [f"[{words}]({name}.md)" if linked else words, machines.isa(about)]
    for count in (1, 2):
        here = by(rows, count)
        found += [both(here, ratio_mean, times), both(here, share_mean, percent)] if here else ["-", "-"]
    kind = "quick" if results["settings"]["quick"] else "full"
    return [*found, str(len(rows)), kind, about["commit"], about.get("date", "unknown")]


def table(runs: dict[str, dict], linked: bool = True) -> str:
    """A line for each run; linked: with links to the pages beside this one."""
    head = ["CPU", "kernels", *(f"{count}T {what}" for count in (1, 2) for what in ("best peer", "of limit")), "rows", "run", "commit", "date"]
    return page_parts.table(head, [line(name, results, linked) for name, results in runs.items()])


def parted(runs: dict[str, dict]) -> tuple[dict[str, dict], dict[str, dict]]:
    """The runs of Gather and GatherElements, and those of their siblings."""
    plain, siblings = ({name: results for name, results in runs.items() if name.endswith(machines.SIBLINGS) == chosen} for chosen in (False, True))
    return plain, siblings


def page(runs: dict[str, dict], others: list[str] = ()) -> str:
    """runs: the results by name; others: the names of other pages."""
    plain, siblings = parted(runs)
    parts = [HEAD, *([table(plain)] if plain else []), *([SIBLINGS, table(siblings)] if siblings else [])]
    return "\n".join([*parts, *([OTHERS, "\n".join(f"- [{name}]({name}.md)" for name in others) + "\n"] if others else [])])


def write_list(root: Path) -> None:
    """README.md, of the pages that are there."""
    runs = machines.stored(root)
    others = sorted(path.stem for path in folder.pages(root).glob("*.md") if path.stem not in {"README", *runs})
    folder.write_page("README", page(runs, others), root)


def write(root: Path, drawn: list[str] = ()) -> None:
    """Every page anew from the results beside it, and the list of them; drawn: of which the pictures as well."""
    for name, results in machines.stored(root).items():
        if name.endswith(machines.SIBLINGS):
            siblings_page.write(results, name, root)
        else:
            report.write(results, name, root, name in drawn)
    write_list(root)
