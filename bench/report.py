# SPDX-License-Identifier: MIT
"""Makes docs/benchmarks.md and its pictures from the results of a run. Nothing in the page is written by hand elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import calls_page
import growth
import pictures
import summary
from summary import as_kept, by, lost, number, percent, ratio_mean, share_mean, times

HEAD = """# Benchmarks

This page and its pictures are made by `script/bench --report` from [benchmarks.json](benchmarks.json), the results of one run of
`script/bench`; the part on [calls from Python](#calls-from-python) has a run of its own. Rows in which libgather loses are rows like
all others; a list of them stands [below](#rows-that-are-lost).

Contents: [Summary](#summary) - [The machine](#the-machine) - [How to run it](#how-to-run-it) - [How to read it](#how-to-read-it) -
[Calls from Python](#calls-from-python) - [Ceilings](#ceilings) - [Growth](#growth) - [Rows](#rows) -
[Rows that are lost](#rows-that-are-lost) - [Peers that were left out](#peers-that-were-left-out) - [Not covered](#not-covered)
"""

RUN = """## How to run it

```sh
script/bench --quick                          # some rows, under two minutes on a machine that does nothing else
script/bench                                  # all rows: half an hour to an hour
script/bench --only 'GatherElements|rows 64'  # the rows or regimes that a regular expression finds
script/bench --json docs/benchmarks.json && script/bench --json docs/benchmarks.json --report   # this page
```

It builds the release preset, as users get it (nothing is tuned to the machine), and installs the peers into `.venv-bench`, PyTorch
among them (some GB). A peer that does not install is named as absent. `BENCH_PYTHON` names another Python that has them.
`script/bench --help` tells the other options. Let the machine do nothing else: the summary says how noisy a run was.
"""

READ = """## How to read it

Times are nanoseconds per row that is moved (per call for tiny calls), wall time on all threads of the case: medians, the minimum and
the maximum stand in the JSON. The name of a row says the bytes per row or element, where the table lies (L1 16 KiB, L2 512 KiB,
L3 16 MiB, DRAM 1 GiB), the type of the indices, `cached` or `streamed`, and the threads.

- **cached**: indices and output are small and stay in the core's cache, as in a loop over small batches.
- **streamed**: indices and output come from memory and go to it. They are flushed (clflushopt) before each call, also the memory that a
  peer allocates by itself; tables beyond 64 MiB are asked for other rows in each call, smaller ones are read once before.
- **best peer / ours**: how many times as long the fastest library takes, its fastest way of calling it; above 1 we win. *even*: the
  middle half of the rounds, which were measured in turns, lies on both sides of 1.
- **kept**: by default libgather looks at all indices before it writes anything, so that after an error the output is as it was;
  **kept** is the time of that. A caller who throws the output away after an error says so (`fresh_output`), and each index is read
  once, as its row moves. **ours** is the faster of the two, as the fastest form of every library counts, and those fastest forms
  promise no more: PyTorch and ONNX Runtime's GatherElements leave the output half written, OpenVINO and JAX move something else for
  a bad index, NumPy clips it. Forms that keep the output, and are to be compared with **kept**, are NumPy's without `clip` (it
  gathers into memory of its own, then copies) and ONNX Runtime's Gather.
- **C loop**: one loop in C on one thread, with the size of the row known to the compiler and without any check of the indices. It is
  no library and not a peer in the summary's first column: libgather checks every index, in both of its forms.
- **ceiling**: the slower one of two things that every such gather has to do, each at its best of several ways and on as many threads
  (or on one, for short calls): reading the indices and writing the output in order, and reading one word of every line that the
  indices name, in their order. **of ceiling** is the ceiling's time over ours. It may be above 100 %: the waking of threads is not in
  it, and a gather may reuse what a row has brought, or go in an order of its own. Tables of up to 512 bytes stay in registers; they
  have the first of the two only. Where a table is not read by one run of indices (other axes, batches, GatherElements), the first
  of the two also reads the lines that are needed of it, in order, and the second may follow a list of lines instead of the indices,
  in which a line that follows itself stands once.

What each peer is given: one process, everybody in turns in an order that changes; the same table, indices and output on huge pages;
outputs allocated beforehand wherever the library can; as many threads as the case says where it can be told; a rest after each one
until its threads have stopped spinning; another try where the system gave the CPU to another program meanwhile; NumPy with `out=` in both modes, without, and by `a[idx]`; PyTorch by `index_select`, `gather`, `take`
with `out=`, `embedding` and `x[idx]`; ONNX Runtime and OpenVINO with bound buffers, OpenVINO with the accuracy hint, called without
their wrappers in Python; JAX compiled for the case and on all CPUs only; Arrow with its check on. Each form that gives a bit else than
NumPy is reported and not timed. Forms that take twice as long as another one of the same library are measured once.
"""

GROWTH = """## Growth

Elements of 4 bytes by indices of 8, at random. These rows stand for themselves: they have no part in the means above, nor in the
pictures there, but are listed below where they are lost. Against the size of the table: 1 Mi indices, streamed, as above. Against the
number of indices: a table of 64 KiB, and call after call with the same buffers, so that few indices show what a call costs; the
C loop, the ceiling and *ours, from C* are called from C there, and everybody else from Python, which is some 20 ns a call; the
C loop is compared with ours from C. Against threads: 4 Mi indices, streamed; NumPy, Arrow and the C loop have one thread
always, JAX all CPUs.
"""

NOT = """## Not covered

Files larger than memory have [a page of their own](benchmarks-tables.md). Not measured:
more threads than two, but for a curve, and several sockets; tables on small pages; other index types than one
byte, four and eight; strided tables and outputs; complex types and strings, which are moved as bytes.
"""


def table(head: list[str], rows: list[list[str]]) -> str:
    """The first column is text, the others are numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def verdicts(rows: list[dict], key: str = "best") -> str:
    return " / ".join(str(count) for count in summary.counts(rows, key)) if any(key in r for r in rows) else "-"


def summaries(rows: list[dict]) -> str:
    head, lines = ["regime"], []
    threads = summary.threads_of(rows)
    for count in threads:
        head += [f"{count}T best peer / ours", f"{count}T best peer / ours, output kept", f"{count}T C loop / ours",
                 f"{count}T of ceiling", f"{count}T won / even / lost"]
    for regime in [*summary.regimes(rows), ""]:
        line = [regime or "**all rows**"]
        for count in threads:
            here = by(rows, count, regime)
            line += [times(ratio_mean(here)), times(ratio_mean(as_kept(here))), times(ratio_mean(here, "loop")),
                     percent(share_mean(here)), verdicts(here)]
        lines.append(line)
    return table(head, lines)


def about(results: dict) -> str:
    machine, settings = results["machine"], results["settings"]
    wanted = (("CPU", "cpu"), ("CPUs in use", "cpus"), ("virtual machine", "hypervisor"), ("caches of a CPU", "caches"),
              ("memory, GiB", "memory_gib"), ("page, bytes", "page_bytes"), ("huge pages", "huge_pages"), ("system", "system"),
              ("compiler", "compiler"), ("build type", "build_type"), ("flags", "flags"), ("kernels used", "isa"),
              ("thread pool", "pool"), ("Python", "python"), ("commit", "commit"), ("load when it began", "load"))
    lines = [[name, str(machine.get(key, "unknown")).strip() or "none"] for name, key in wanted]
    lines.append(["versions", ", ".join(f"{name} {version}" for name, version in machine["versions"].items())])
    lines.append(["absent", ", ".join(machine["absent"]) or "none"])
    kind = "a quick run" if settings["quick"] else "a full run"
    lines.append(["run", f"{kind}: {settings['rounds']} rounds, {len(results['rows'])} rows, {settings['seconds']:.0f} s"])
    lines.append(["noise", f"the slowest round of ours is {summary.noise(results['rows']) - 1:.0%} above its median in the median row; "
                  f"{summary.interrupted(results['rows'])}; {summary.disturbed(results['rows'])}"])
    return "\n".join(["| what | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in lines)]) + "\n"


def ceilings(results: dict) -> str:
    found = [[f"{c['what']}, {c['bytes'] >> 20} MiB", f"{c['threads']}", f"{c['gb_per_s']:.1f} GB/s", f"{c['low']:.1f} - {c['high']:.1f}"]
             for c in results["limits"] if "gb_per_s" in c]
    found += [[c["what"], f"{c['threads']}", f"{c['ns']:.2f} ns per element", ""] for c in results["limits"] if "ns" in c]
    return table(["what", "threads", "best of the machine", "lowest - highest"], found)


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
    return table(["row", "ours, ns", "best peer / ours", "kept, ns", "best peer / kept", *peers, "ceiling", "of ceiling"], lines)


def calls(rows: list[dict]) -> str:
    """The price of a call from C, which no Python hides."""
    lines = [[r["name"], number(f["median"]), f["form"]] for r in rows for f in r["forms"] if f["peer"] == "ours" and r["unit"] == "call"]
    return table(["row", "ns per call", "how"], lines) if lines else ""


def losses(rows: list[dict]) -> str:
    """Of the fastest form; of the default one, marked, where that is another."""
    parts = []
    for key, to in (("best", "a library"), ("loop", "the C loop")):
        lines = [[r["name"], how, r[key].get("peer", "C loop"), times(r[key]["ratio"]), percent(r.get("share", float("nan")))]
                 for found, how in ((rows, "fastest"), (summary.only_kept(rows), "output kept")) for r in lost(found, key)]
        parts.append(table(["row", "our form", "to", "its time / ours", "of ceiling"], lines) if lines else f"To {to}: none.\n")
    return "\n".join(parts)


def left_out(results: dict) -> str:
    found: dict[tuple[str, str], list[str]] = {}
    for r in results["rows"]:
        for wrong in r["wrong"]:
            found.setdefault((wrong["peer"], wrong["why"]), []).append(f"{r['name']} ({wrong['form']})")
    lines = [[peer, why.replace("|", "/"), str(len(names)), names[0]] for (peer, why), names in found.items()]
    return table(["peer", "why", "times", "first in"], lines) if lines else "None: every peer gave NumPy's bits in every row.\n"


def picture(name: str, what: str) -> str:
    return f"![{what}](pictures/{name})\n"


def fastest(rows: list[dict]) -> str:
    """The same means from the fastest rounds: where they say something else, the machine was busy."""
    found = [f"{count}T {times(ratio_mean(by(rows, count), 'best', 'fastest'))} to the best peer, "
             f"{times(ratio_mean(by(rows, count), 'loop', 'fastest'))} to the C loop" for count in summary.threads_of(rows)]
    return (f"Of the fastest rounds instead of the medians: {'; '.join(found)}. Of the CPU time, which other programs do not "
            f"stretch, on one thread: {times(summary.cpu_mean(rows))} to the best peer, {times(summary.cpu_mean(rows, 'loop'))} "
            "to the C loop.\n")


def kept_means(rows: list[dict]) -> str:
    """The summary's last line for the default form, in words."""
    found = [f"{count}T {times(ratio_mean(here))} to the best peer, {times(ratio_mean(here, 'loop'))} to the C loop, "
             f"{percent(share_mean(here))} of the ceiling, {verdicts(here)} won / even / lost"
             for count in summary.threads_of(rows) for here in [as_kept(by(rows, count))] if here]
    return f"With the output kept on an error, the default, all rows: {'; '.join(found)}.\n" if found else ""


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


def page(results: dict, drawn: list[str], python: dict | None) -> str:
    """python: the results of script/bench --python."""
    rows = summary.in_means(results["rows"])
    curves = [r for r in results["rows"] if summary.is_curve(r)]
    parts = [HEAD, "## Summary\n", "Geometric means over the rows of a regime.\n", summaries(rows), kept_means(rows), fastest(rows)]
    parts += [picture(name, pictures.title(name)) for name in drawn if name in pictures.WHAT]
    parts += ["## The machine\n", about(results), RUN, READ, calls_page.section(python), "## Ceilings\n", ceilings(results), GROWTH]
    parts += [picture(name, pictures.title(name)) for name in drawn if name in growth.CURVES]
    parts += ["" if curves else "This run has none of these rows: a full run has them.\n", not_run(results), by_regime(curves)]
    parts += ["## Rows\n", by_regime(rows)]
    parts += ["## Rows that are lost\n", losses(results["rows"]), "## Peers that were left out\n", left_out(results), NOT]
    return "\n".join(part for part in parts if part)


def read(path: Path) -> dict | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write_page(results: dict, drawn: list[str], root: Path) -> None:
    path = root / "docs/benchmarks.md"
    path.write_text(page(results, drawn, read(root / "docs/benchmarks-python.json")), encoding="utf-8")
    print(f"written: {path.relative_to(root)}, {len(drawn)} pictures")


def write(results: dict, root: Path) -> None:
    write_page(results, pictures.draw(results, root / "docs/pictures"), root)


def rewrite(root: Path) -> None:
    """The page anew from the results beside it; its pictures are as they were."""
    results = read(root / "docs/benchmarks.json")
    write_page(results, pictures.names(results), root)
