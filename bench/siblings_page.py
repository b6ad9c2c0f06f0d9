# SPDX-License-Identifier: MIT
"""Makes the page of a machine on Gather's siblings from the results of `script/bench --only '^(nd|tree|quantised)'`. Nothing in the page
is written elsewhere."""

from __future__ import annotations

from pathlib import Path

import machines
import report
import results as folder
import summary
from page_parts import table
from summary import GATHER, as_kept, by, number, percent, ratio_mean, share_mean, times

HEAD = """# Benchmark of Gather's siblings: {cpu}

GatherND, GatherTree and quantised rows, compared with the libraries that have them and with the hardware's limits. This
page is made by `script/bench` from [{name}.json](../{name}.json), the results of one run. Rows in which libgather is
slower than a peer are included. [The list of pages](README.md) has the other machines; docs/benchmarks.md says how to
read the columns that this page shares with those of Gather and GatherElements.

Contents: [Summary](#summary) - [The machine](#the-machine) - [How to run it](#how-to-run-it) - [How to read
it](#how-to-read-it) - [Hardware limits](#hardware-limits) - [Rows](#rows) - [Slower than the best
peer](#slower-than-the-best-peer) - [Peers that were left out](#peers-that-were-left-out)
"""

RUN = """## How to run it

```sh
script/bench --quick --only '^(nd|tree|quantised)'     # some rows
script/bench --only '^(nd|tree|quantised)'             # all of them
script/bench --report                                  # the pages of what is in build/results
script/bench --isa 1 --only '^quantised'               # as a CPU without AVX-512 (docs/tuning.md has the numbers)
```
"""

READ = """## How to read it

Times are nanoseconds per row (per tuple for GatherND), wall time on all threads of the case, medians. *Cached*: indices and
output stay in the core's cache. *Streamed*: they come from memory and go to it, and are flushed before each call. The name
of a quantised row gives the codec, the elements of a row, where the table is (*in L2*: 256 KiB; *in memory*: 256 MiB,
other rows in each call) and the type of the output.

- **best peer / ours**: how many times as long the fastest library takes, with its fastest call; above 1 libgather is faster.
- **Gather / ours** (GatherND): how many times as long libgather's own Gather takes for the same rows by one index each. A
  tuple of two to four numbers is that many times the index bytes, so elements of a few bytes cannot be equal.
- **limit**: the slower of two things, each at the best of several implementations: reading indices and, where rows come from
  memory, as many bytes of the table in order, and writing the output; and reading one word of every line of the rows, in the
  gather's order. **of limit** is its time over ours. Reading rows at random while writing is slower than either of the two.
- **of bandwidth** (rows from memory): the time that the bytes of packed rows, ids and output take at twice the bandwidth of
  this run's fastest copy (which reads and writes), over ours.
- **times written**: our time over that of writing the output, and nothing else.

Peers: ONNX Runtime (GatherND, GatherBlockQuantized) and OpenVINO (GatherND, GatherTree) with bound buffers; NumPy and
PyTorch by `x[i, j]`, with the columns of the tuples as views; ggml's get_rows in a graph of one node, on the buffers of the
case; the gguf package's `dequantize` of rows that NumPy picked; PyTorch's quantised embeddings, which are FBGEMM's kernels
(FBGEMM's own package needs another PyTorch); for NF4 only what a program in NumPy would do. libgather's quantised gathers
have no plan: each call describes the table anew, some 0.6 us. Every result is compared with a reference before it is timed,
bit for bit, except that peers may round `q * scale + bias` once or twice.
"""


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
    parts = [HEAD.format(cpu=machines.words(results["machine"]), name=name), "## Summary\n", f"Geometric means over the rows of a regime; a run of {results['machine'].get('date', 'an unknown date')}.\n",
             *(part for found, how in ((rows, report.FASTEST), (as_kept(rows), report.KEPT)) for part in (f"### {how}, by regime\n", summaries(found))),
             "## The machine\n", report.about(results), RUN, READ, "## Hardware limits\n", report.ceilings(results), "## Rows\n"]
    for regime in summary.regimes(rows):
        parts += [f"### {regime[0].upper()}{regime[1:]}\n", regime_table([r for r in rows if r["regime"] == regime])]
    parts += ["## Slower than the best peer\n", report.losses(rows), "## Peers that were left out\n", report.left_out(results), report.not_run(results)]
    return "\n".join(part for part in parts if part)


def write(results: dict, name: str, root: Path) -> None:
    folder.write_page(name, page(results, name), root)
