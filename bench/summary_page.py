# SPDX-License-Identifier: MIT
"""The figures of the pages in docs/measured, and their drawings in docs/pictures, from the results in build/results. The words of the pages are
written by hand; a part between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced if there are results for it, and stays otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import calls_summary
import drawings
import machines
import plugin_onnxruntime
import remote_summary
import results as folder
import siblings_grid
import summary
import tables_page
import tables_summary
from calls import NEW, OUT
from summary import as_kept, by, lost, percent, ratio_mean, share_mean, table, times

PAGES = "docs/measured"
PICTURES = "docs/pictures"


def newest(runs: dict[str, dict]) -> dict | None:
    """Of the full runs in which libgather was not held to an instruction set, if there are any."""
    ranked = sorted(runs.values(), key=lambda run: (not run["settings"].get("quick"), not run["machine"].get("held"), run["machine"].get("date", "")))
    return ranked[-1] if ranked else None


def run_of(results: dict) -> str:
    """A sentence: machine, date, commit, versions."""
    about = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    kind = "a quick run" if results["settings"].get("quick") else "a full run"
    return f"{machines.words(about)}, {about['cpus']} CPUs, {about['date']}, commit {about['commit']}, {kind}; {versions}.\n"


# ---- gathers in memory


def parted(runs: dict[str, dict]) -> tuple[dict[str, dict], dict[str, dict]]:
    """The runs of Gather and GatherElements, and those of their siblings; those that write have a table of their own."""
    siblings = {name: results for name, results in runs.items() if name.endswith(machines.SIBLINGS)}
    return {name: results for name, results in runs.items() if name not in siblings and not name.endswith(machines.WRITES)}, siblings


def both(rows: list[dict], value, shown) -> str:
    """The transactional form, which is the default, then the fastest one."""
    return f"{shown(value(as_kept(rows)))} / {shown(value(rows))}"


def verdicts(rows: list[dict], between: str) -> str:
    return between.join(map(str, summary.counts(rows))) if any("best" in r for r in rows) else "-"


def run_line(results: dict) -> list[str]:
    about, rows = results["machine"], summary.in_means(results["rows"])
    found = [machines.words(about), machines.isa(about)]
    for count in (1, 2):
        here = by(rows, count)
        found += [both(here, ratio_mean, times), both(here, share_mean, percent)] if here else ["-", "-"]
    return [*found, str(len(rows)), "quick" if results["settings"]["quick"] else "full", about["commit"], about.get("date", "unknown")]


def runs_table(runs: dict[str, dict]) -> str:
    head = ["CPU", "kernels", *(f"{count}T {what}" for count in (1, 2) for what in ("best peer", "of limit")), "rows", "run", "commit", "date"]
    plain, siblings = (table(head, [run_line(results) for results in part.values()]) if part else "" for part in parted(runs))
    return "\n".join([*([plain] if plain else []), *(["GatherND, GatherTree and quantised rows:\n", siblings] if siblings else [])])


def regimes(results: dict) -> str:
    rows = summary.in_means(results["rows"])
    threads, lines = summary.threads_of(rows), []
    head = ["regime", *(f"{count}T {what}" for count in threads for what in ("best peer / ours", "of limit", "faster, even, slower"))]
    for regime in [*summary.regimes(rows), ""]:
        line = [regime or "**all rows**"]
        for count in threads:
            here = by(rows, count, regime)
            line += [both(here, ratio_mean, times), both(here, share_mean, percent), verdicts(here, ", ")]
        lines.append(line)
    return "\n".join([run_of(results), table(head, lines)])


def slower(runs: dict[str, dict]) -> str:
    """How many rows of each run are slower than the best peer, and those of the newest run by name."""
    lines = []
    for results in runs.values():
        rows = results["rows"]
        counts = [f"{len(lost(found))} of {sum('best' in row for row in found)}" for found in (as_kept(rows), rows)]
        siblings = rows and rows[0]["op"] in siblings_grid.OPS
        lines.append([machines.words(results["machine"]) + ", siblings" * bool(siblings), *counts])
    parts = [table(["run", "transactional", "fastest form"], lines)]
    plain, _ = parted(runs)
    if latest := newest(plain):
        named = [[row["name"], row["best"]["peer"], times(row["best"]["ratio"]), percent(row.get("share", float("nan")))] for row in lost(latest["rows"])]
        parts += [f"{machines.words(latest['machine'])}, the fastest form:\n", table(["row", "slower than", "its time / ours", "of limit"], named)] if named else []
    return "\n".join(parts)


def group_of(regime: str) -> str:
    return regime.split(",")[0].split(" to ")[0]


def siblings(results: dict) -> str:
    rows = results["rows"]
    threads, lines = summary.threads_of(rows), []
    head = ["regime", *(f"{count}T {what}" for count in threads for what in ("best peer / ours", "of limit", "Gather / ours", "faster, even, slower"))]
    groups = list(dict.fromkeys(group_of(r["regime"]) for r in rows))
    for name, chosen in [*((regime, [r for r in rows if r["regime"] == regime]) for regime in summary.regimes(rows)),
                         *((f"**{group}, all**", [r for r in rows if group_of(r["regime"]) == group]) for group in groups)]:
        line = [name]
        for count in threads:
            here = by(chosen, count)
            line += [times(ratio_mean(here)), percent(share_mean(here)), times(ratio_mean(here, "gather")), verdicts(here, ", ")]
        lines.append(line)
    return "\n".join([run_of(results), table(head, lines)])


# ---- operators that write


def written(results: dict) -> str:
    """Means by regime, and whose results were wrong."""
    rows = results["rows"]
    head = ["regime", *(f"{count}T {what}" for count in summary.threads_of(rows) for what in ("best peer / ours", "C loop / ours", "of limit", "faster, even, slower"))]
    lines = [[regime or "**all rows**", *(cell for count in summary.threads_of(rows) for cell in written_means(by(rows, count, regime)))]
             for regime in [*summary.regimes(rows), ""]]  # fmt: skip
    wrong = sorted({f"{w['peer']} {w['form']}" for r in rows for w in r["wrong"] if w["why"].startswith(("wrong", "repeated"))})
    told = f"Not counted, because a result was wrong in some row: {', '.join(wrong)}.\n" if wrong else ""
    return "\n".join([run_of(results), table(head, lines), told])


def written_means(rows: list[dict]) -> list[str]:
    return [times(ratio_mean(rows)), times(ratio_mean(rows, "loop")), percent(share_mean(rows)), verdicts(rows, ", ")]


# ---- calls from Python


def python(results: dict) -> str:
    parts = [run_of(results), calls_summary.short(results, NEW, OUT)]
    if results["large"]:
        count = f"{results['settings']['large_rows']:,}".replace(",", " ")
        parts += [f"Large calls: {count} rows of 256 bytes from a table of 16 MiB:\n", calls_summary.large(results, OUT)]
    if results["gil"]:
        parts.append(calls_summary.gil(results))
    return "\n".join(parts)


# ---- tables larger than memory


def tables(results: dict) -> str:
    about = results["machine"]
    disk = ", ".join(str(about[key]) for key in ("disk", "file_system") if about.get(key))
    parts = [run_of(results), f"{disk}. {tables_page.limit_of(results)}", tables_page.in_short(results), "## Cold\n", "Rows per second:\n",
             tables_page.rates(tables_summary.of_state(results, tables_summary.COLD), "limit")]  # fmt: skip
    if results["memory"]:
        parts += ["## Memory over time\n", tables_page.memory_part(results)]
    return "\n".join([*parts, "## Slower than a peer\n", tables_page.slower(results)])


# ---- rows of files on a server


def remote(results: dict) -> str:
    """Ours beside the two fastest peers, for each case and round trip."""
    lines = []
    for (case, rtt), rows in remote_summary.groups(results).items():
        ours = next((row for row in rows if row["way"] == remote_summary.OURS and "error" not in row), None)
        peers = sorted((row for row in rows if row["kind"] == "peer" and "error" not in row), key=lambda row: row["seconds"])
        if not ours:
            continue
        shown = [f"{row['way']} {remote_summary.number(row['seconds'] / ours['seconds'])}x" for row in [*peers[:2], *peers[2:][-1:]]]
        lines.append([f"{case}, {rtt * 1e3:.0f} ms", remote_summary.number(ours["seconds"]), remote_summary.number(ours["requests"], 4),
                      remote_summary.number(ours["bytes"] / 1e6), *shown, *["-"] * (3 - len(shown))])  # fmt: skip
    about, settings = results["machine"], results["settings"]
    cases = "\n".join(f"- *{case['case']}*: {case['rows']:,} rows: {case['what']}." for case in results["cases"])
    server = f"Server: {about['server']} in {about['network']}, {settings['rate'] * 8 / 1e9:g} Gbit/s, {settings['connections']} connections at most, {settings['rounds']} round(s).\n"
    return "\n".join([run_of(results), server, cases + "\n",
                      table(["rows, round trip", "ours, s", "requests", "MB", "fastest peer", "second", "slowest"], lines),
                      remote_summary.verdict(results) + "\n"])  # fmt: skip


# ---- the drawings

RATIOS = {0.5: "0.5x", 1: "1x", 2: "2x", 4: "4x", 8: "8x", 16: "16x"}
FASTER = "right of 1x libgather is faster"


def draw_regimes(results: dict) -> str:
    rows = by(summary.in_means(results["rows"]), 1)
    found = [(regime, ratio_mean(as_kept(by(rows, 1, regime))), ratio_mean(by(rows, 1, regime))) for regime in summary.regimes(rows)]
    shown = [(regime, [("ours", kept), ("open", fastest)], times(kept)) for regime, kept, fastest in found if kept == kept]
    return drawings.dots("The best peer's time / ours, one thread", {"ours": "transactional (the default)", "open": "fastest form"}, {"": shown}, RATIOS, FASTER)


def draw_tables(results: dict) -> str:
    parts = {size: [(name.replace(tables_summary.AUTO, "libgather"), [(kind or "limit", value)], tables_page.rate(value)) for name, value, kind in found]
             for size, found in tables_page.drawn(results).items()}
    title = f"Cold rows a second, random ids, file of {tables_page.size_name(results['settings']['bytes'])}"
    ticks = {100: "100", 1e3: "1 k", 1e4: "10 k", 1e5: "100 k"}
    return drawings.dots(title, {"ours": "libgather", "peer": "peer", "limit": "limit of the disk"}, parts, ticks)


def draw_remote(results: dict) -> str:
    """The sparse rows, or the first case; of the middle round trip."""
    groups = remote_summary.groups(results)
    case = "sparse" if any(name == "sparse" for name, _ in groups) else next(iter(groups))[0]
    trips = sorted(rtt for name, rtt in groups if name == case)
    rtt = trips[len(trips) // 2]
    rows = sorted((row for row in groups[(case, rtt)] if "error" not in row), key=lambda row: row["seconds"])
    shown = [(row["way"], [(row["kind"], row["seconds"])], f"{remote_summary.number(row['seconds'])} s") for row in rows]
    title = f"Seconds for {rows[0]['rows']:,} {case} rows of a server {rtt * 1e3:.0f} ms away"
    return drawings.dots(title, {"ours": "libgather", "peer": "peer"}, {"": shown}, {1: "1 s", 10: "10 s", 100: "100 s"})


# ---- the page

# Of each part of the page the kind of results, which of them it wants (all, or the newest run), and what makes the text.
SECTIONS: dict[str, tuple[str, bool, Callable[[dict], str]]] = {
    "runs": ("memory", True, runs_table),
    "regimes": ("memory", False, regimes),
    "slower": ("memory", True, slower),
    "siblings": ("siblings", False, siblings),
    "scatter": ("scatter", False, written),
    "python": ("python", False, python),
    "tables": ("tables", False, tables),
    "remote": ("remote", False, remote),
    "onnxruntime": ("plugin-onnxruntime", False, plugin_onnxruntime.short),
}
DRAWINGS: dict[str, tuple[str, Callable[[dict], str]]] = {
    "bench-regimes.svg": ("memory", draw_regimes),
    "bench-tables.svg": ("tables", draw_tables),
    "bench-remote.svg": ("remote", draw_remote),
}


def found(root: Path) -> dict[str, dict[str, dict]]:
    """The results in the folder by kind."""
    every = folder.stored(machines.KIND, root)
    memory, siblings_ = parted(every)
    writes = {name: run for name, run in every.items() if name.endswith(machines.WRITES)}
    every = {**memory, **siblings_}
    plugins = {name: run for name, run in folder.stored("plugin-onnxruntime", root).items() if "rows" in run}
    return {"memory": memory, "siblings": siblings_, "scatter": writes, "every": every, "plugin-onnxruntime": plugins,
            **{kind: folder.stored(kind, root) for kind in ("python", "tables", "remote")}}  # fmt: skip


def pick(runs: dict[str, dict], kind: str) -> dict | None:
    return next(iter(runs.values()), None) if kind.startswith("plugin") else newest(runs)


def sections(root: Path) -> dict[str, str]:
    """The text of each part that there are results for."""
    have, made = found(root), {}
    for name, (kind, every, text) in SECTIONS.items():
        given = have["every"] if every else pick(have[kind], kind)
        if given:
            made[name] = text(given)
    return made


def replaced(page: str, made: dict[str, str]) -> str:
    """A page with the parts that it has and that were made."""
    for name, text in made.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->\n)", re.S)
        page = pattern.sub(lambda match: f"{match.group(1)}\n{text.strip()}\n\n{match.group(2)}", page)  # noqa: B023
    return page


def write(root: Path) -> None:
    made, pages = sections(root), {page: page.read_text(encoding="utf-8") for page in sorted((root / PAGES).glob("*.md"))}
    for name in made:
        if not any(f"<!-- begin {name} -->" in text for text in pages.values()):
            raise SystemExit(f"bench: no page of {PAGES} has the part {name}")
    for page, text in pages.items():
        if (new := replaced(text, made)) != text:
            page.write_text(new, encoding="utf-8")
            print(f"written: {page.relative_to(root)}")
    have = found(root)
    for name, (kind, draw) in DRAWINGS.items():
        if run := newest(have[kind]):
            (root / PICTURES / name).write_text(draw(run), encoding="utf-8")
            print(f"written: {PICTURES}/{name}")
