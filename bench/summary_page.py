# SPDX-License-Identifier: MIT
"""The figures of docs/measured/benchmarks.md, and its drawings in docs/pictures, from the results in build/results. The words of the page are written
by hand; a part between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced if there are results for it, and stays otherwise."""

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

PAGE = "docs/measured/benchmarks.md"
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
    return f"{shown(value(rows))} / {shown(value(as_kept(rows)))}"


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
    """Both forms in one table: the fastest one / the transactional one."""
    rows = summary.in_means(results["rows"])
    threads, lines = summary.threads_of(rows), []
    head = ["regime", *(f"{count}T {what}" for count in threads for what in ("best peer / ours", "C loop / ours", "of limit", "faster, even, slower"))]
    for regime in [*summary.regimes(rows), ""]:
        line = [regime or "**all rows**"]
        for count in threads:
            here = by(rows, count, regime)
            line += [both(here, ratio_mean, times), times(ratio_mean(here, "loop")), both(here, share_mean, percent), verdicts(here, ", ")]
        lines.append(line)
    return "\n".join([run_of(results), table(head, lines), fastest(rows)])


def fastest(rows: list[dict]) -> str:
    """The same means from the fastest rounds: where they differ, the machine was busy."""
    found = [f"{count}T {times(ratio_mean(by(rows, count), 'best', 'fastest'))} compared with the best peer, "
             f"{times(ratio_mean(by(rows, count), 'loop', 'fastest'))} with the C loop" for count in summary.threads_of(rows)]
    return (f"From the fastest rounds instead of the medians: {'; '.join(found)}. By CPU time, which other programs do not "
            f"prolong, on one thread: {times(summary.cpu_mean(rows))} compared with the best peer, "
            f"{times(summary.cpu_mean(rows, 'loop'))} with the C loop.\n")


def losses(runs: dict[str, dict]) -> str:
    """How many rows of each run are slower than somebody, and those of the newest run by name."""
    lines = []
    for results in runs.values():
        counts = []
        for found in (results["rows"], as_kept(results["rows"])):
            counts += [f"{len(lost(found, key))} of {sum(key in row for row in found)}" if any(key in row for row in found) else "-" for key in ("best", "loop")]
        siblings = results["rows"] and results["rows"][0]["op"] in siblings_grid.OPS
        lines.append([machines.words(results["machine"]) + ", siblings" * bool(siblings), *counts])
    head = ["run", "slower than the best peer", "than the C loop", "transactional: than the best peer", "than the C loop"]
    parts = [table(head, lines)]
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
    whats = ("best peer / ours", "of limit", "of bandwidth", "Gather / ours", "faster / even / slower")
    head = ["regime", *(f"{count}T {what}" for count in threads for what in whats)]
    groups = list(dict.fromkeys(group_of(r["regime"]) for r in rows))
    for name, chosen in [*((regime, [r for r in rows if r["regime"] == regime]) for regime in summary.regimes(rows)),
                         *((f"**{group}, all**", [r for r in rows if group_of(r["regime"]) == group]) for group in groups)]:
        line = [name]
        for count in threads:
            here = by(chosen, count)
            bandwidth = summary.mean(r["bandwidth"]["share"] for r in here if "bandwidth" in r)
            line += [times(ratio_mean(here)), percent(share_mean(here)), percent(bandwidth), times(ratio_mean(here, "gather")), verdicts(here, " / ")]
        lines.append(line)
    return "\n".join([run_of(results), table(head, lines)])


# ---- operators that write


def written(results: dict) -> str:
    """A line for each row, in milliseconds, then means by regime."""
    rows = results["rows"]
    threads = summary.threads_of(rows)
    head = ["row", *(f"{count}T {what}" for count in threads for what in ("ours, ms", "best peer", "its time / ours", "C loop / ours", "of limit"))]
    named: dict[str, dict[int, dict]] = {}
    for r in rows:
        named.setdefault(r["name"].rsplit(" ", 1)[0], {})[r["threads"]] = r
    lines = [[name, *(cell for count in threads for cell in written_cells(found.get(count)))] for name, found in named.items()]
    means = [[regime or "**all rows**", *(cell for count in threads for cell in written_means(by(rows, count, regime)))]
             for regime in [*summary.regimes(rows), ""]]  # fmt: skip
    mean_head = ["regime", *(f"{count}T {what}" for count in threads for what in ("best peer / ours", "C loop / ours", "of limit", "faster, even, slower"))]
    wrong = sorted({f"{w['peer']} {w['form']}" for r in rows for w in r["wrong"] if w["why"].startswith(("wrong", "repeated"))})
    told = f"Not counted, because a result was wrong in some row: {', '.join(wrong)}.\n" if wrong else ""
    noise = f"The slowest round of ours is {percent(summary.noise(rows) - 1)} above its median in the median row.\n"
    return "\n".join([run_of(results), table(head, lines), table(mean_head, means), fastest(rows), noise, told])


def written_means(rows: list[dict]) -> list[str]:
    return [times(ratio_mean(rows)), times(ratio_mean(rows, "loop")), percent(share_mean(rows)), verdicts(rows, ", ")]


def written_cells(row: dict | None) -> list[str]:
    if not row:
        return ["-"] * 5
    best = row.get("best")
    return [summary.number(row["ours"]["median"] * row["rows"] / 1e6), best["peer"] if best else "-", times(best["ratio"]) if best else "-",
            times(row["loop"]["ratio"]) if "loop" in row else "-", percent(row.get("share", float("nan")))]  # fmt: skip


# ---- calls from Python


def python(results: dict) -> str:
    parts = [run_of(results), "New results:\n", calls_summary.overview(results, NEW), "Into `out=`:\n", calls_summary.overview(results, OUT)]
    if results["large"]:
        count = f"{results['settings']['large_rows']:,}".replace(",", " ")
        parts += [f"Large calls: {count} rows of 256 bytes from a table of 16 MiB, in milliseconds:\n", calls_summary.large(results)]
    if results["gil"]:
        parts += ["Beside another thread, which counts meanwhile:\n", calls_summary.gil(results)]
    return "\n".join(parts)


# ---- tables larger than memory


def tables(results: dict) -> str:
    cold, warm, resident = (tables_summary.of_state(results, state) for state in (tables_summary.COLD, tables_summary.WARM, tables_summary.RESIDENT))
    about = results["machine"]
    disk = ", ".join(str(about[key]) for key in ("disk", "file_system") if about.get(key))
    parts = [run_of(results), f"{disk}. {tables_page.limit_of(results)}", tables_page.in_short(results),
             "### Cold\n", "Rows per second:\n", tables_page.rates(cold, "limit"), "`auto` compared with the goals:\n",
             tables_page.ratio_table(cold, {"disk": "of the disk's limit", "memmap": f"over {tables_summary.MEMMAP}"}),
             "### Warm\n", "Rows per second:\n", tables_page.rates(warm, "memcpy"), tables_page.ratio_table(warm, {"memcpy": "of memcpy"}),
             "### A file that fits\n", tables_page.ratio_table(resident, {"memcpy": "of memcpy"})]
    if results["memory"]:
        parts += ["### Memory over time\n", tables_page.memory_part(results)]
    if results["depths"]:
        parts += ["### Queue depth\n", tables_page.depth_part(results)]
    return "\n".join([*parts, "### Goals not reached\n", tables_page.not_reached(results)])


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


def draw_regimes(results: dict) -> str:
    rows = by(summary.in_means(results["rows"]), 1)
    found = [(regime, ratio_mean(by(rows, 1, regime))) for regime in summary.regimes(rows)]
    shown = [(regime, mean, times(mean), drawings.BLUE if mean >= 1 else drawings.RED) for regime, mean in found if mean == mean]
    return drawings.bars(f"Best peer's time / ours, 1 thread, {machines.words(results['machine'])}", {"": shown}, base=1)


def draw_tables(results: dict) -> str:
    colours = {"ours": drawings.BLUE, "peer": drawings.YELLOW}
    parts = {size: [(name, value, tables_page.rate(value), colours.get(kind, drawings.GREY)) for name, value, kind in found]
             for size, found in tables_page.drawn(results).items()}
    return drawings.bars("Cold rows per second of a file larger than memory, random ids", parts)


def draw_remote(results: dict) -> str:
    """The sparse rows, or the first case; of the middle round trip."""
    groups = remote_summary.groups(results)
    case = "sparse" if any(name == "sparse" for name, _ in groups) else next(iter(groups))[0]
    trips = sorted(rtt for name, rtt in groups if name == case)
    rtt = trips[len(trips) // 2]
    rows = sorted((row for row in groups[(case, rtt)] if "error" not in row), key=lambda row: row["seconds"])
    shown = [(row["way"], row["seconds"], f"{remote_summary.number(row['seconds'])} s", drawings.BLUE if row["kind"] == "ours" else drawings.YELLOW) for row in rows]
    return drawings.bars(f"Seconds for {rows[0]['rows']:,} {case} rows of a file on a server, round trip {rtt * 1e3:.0f} ms", {"": shown})


# ---- the page

# Of each part of the page the kind of results, which of them it wants (all, or the newest run), and what makes the text.
SECTIONS: dict[str, tuple[str, bool, Callable[[dict], str]]] = {
    "runs": ("memory", True, runs_table),
    "regimes": ("memory", False, regimes),
    "losses": ("memory", True, losses),
    "siblings": ("siblings", False, siblings),
    "scatter": ("scatter", False, written),
    "python": ("python", False, python),
    "tables": ("tables", False, tables),
    "remote": ("remote", False, remote),
    "onnxruntime": ("plugin-onnxruntime", False, plugin_onnxruntime.section),
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
    for name, text in made.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->\n)", re.S)
        if not pattern.search(page):
            raise SystemExit(f"bench: {PAGE} has no part {name}")
        page = pattern.sub(lambda match: f"{match.group(1)}\n{text.strip()}\n\n{match.group(2)}", page)
    return page


def write(root: Path) -> None:
    page = root / PAGE
    page.write_text(replaced(page.read_text(encoding="utf-8"), sections(root)), encoding="utf-8")
    print(f"written: {PAGE}")
    have = found(root)
    for name, (kind, draw) in DRAWINGS.items():
        if run := newest(have[kind]):
            (root / PICTURES / name).write_text(draw(run), encoding="utf-8")
            print(f"written: {PICTURES}/{name}")
