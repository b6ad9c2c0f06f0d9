# SPDX-License-Identifier: MIT
#
# plugin_jax.py [--quick]: libgather.jax.take beside jax.numpy.take: jitted, the result waited for. The calls of both alternate, and
# what is reported is the median of the ratios, since machines are busy in different minutes in different ways. Writes
# build/results/plugin-jax-MACHINE.json and the table in docs/measured/plugins.md. script/plugins jax --bench runs it.
"""The cost of a take under JAX."""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

import libgather
import libgather.jax as lj
import results as folder

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/measured/plugins.md"
MARKS = ("<!-- the table of bench/plugin_jax.py -->", "<!-- end of the table -->")
# Shape of the table, number of indices.
SIZES = [((1000, 64), 1), ((1000, 64), 32), ((1000, 1), 1000), ((30522, 768), 128), ((1_000_000, 16), 200_000), ((1_000_000, 1), 500_000), ((1_000_000, 64), 50_000)]


def seconds(function, x, ids, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        function(x, ids).block_until_ready()
    return (time.perf_counter() - start) / repeats


def measure(shape: tuple[int, int], count: int, rounds: int) -> dict:
    random = np.random.default_rng(1)
    x = jnp.asarray(random.standard_normal(shape, np.float32))
    ids = jnp.asarray(random.integers(0, shape[0], count).astype(np.int32))
    ours = jax.jit(lambda x, i: lj.take(x, i, 0))
    theirs = {"fill": jax.jit(lambda x, i: jnp.take(x, i, 0)), "clip": jax.jit(lambda x, i: jnp.take(x, i, 0, mode="clip"))}
    for function in theirs.values():
        assert np.array_equal(ours(x, ids), function(x, ids))
    repeats = max(1, int(0.01 / max(seconds(ours, x, ids, 3), 1e-6)))
    times: dict[str, list[float]] = {"ours": [], "fill": [], "clip": []}
    for _ in range(rounds):
        for name, function in (("fill", theirs["fill"]), ("ours", ours), ("clip", theirs["clip"])):
            times[name].append(seconds(function, x, ids, repeats))
    ratios = {name: statistics.median(a / b for a, b in zip(times[name], times["ours"])) for name in theirs}
    return {"shape": shape, "ids": count, "rounds": rounds, "microseconds": {name: 1e6 * statistics.median(all_) for name, all_ in times.items()}, "ratios": ratios}


def machine() -> dict:
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.machine())
    versions = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": np.__version__, "python": platform.python_version(), "libgather": libgather.__version__}
    return {"date": datetime.date.today().isoformat(), "processor": model, "cpus": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0], "versions": versions}


def table(rows: list[dict], facts: dict) -> str:
    lines = ["| table x ids | libgather | `jnp.take` | ratio | `mode=\"clip\"` | ratio |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        times, ratios = row["microseconds"], row["ratios"]
        cells = [f"{times[name]:,.0f} µs" if times[name] >= 100 else f"{times[name]:.1f} µs" for name in ("ours", "fill", "clip")]
        lines.append(f"| [{row['shape'][0]:,}, {row['shape'][1]}] x {row['ids']:,} | {cells[0]} | {cells[1]} | {ratios['fill']:.2f} | {cells[2]} | {ratios['clip']:.2f} |")
    versions = facts["versions"]
    about = f"{facts['date']}, {facts['processor']}, {facts['cpus']} CPUs, load {facts['load']:.1f} at the end, jax {versions['jax']}, NumPy {versions['numpy']}."
    return "\n".join(lines) + f"\n\n{about}\n"


def main() -> None:
    rounds = 5 if "--quick" in sys.argv[1:] else 41
    rows = [measure(shape, count, rounds) for shape, count in SIZES]
    facts = machine()
    text = table(rows, facts)
    print(text)
    if rounds == 41:
        folder.plugin_file("jax").write_text(json.dumps({"machine": facts, "rows": rows}, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(MARKS[0])
        PAGE.write_text(before + MARKS[0] + "\n\n" + text + "\n" + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8")


if __name__ == "__main__":
    main()
