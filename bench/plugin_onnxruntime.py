# SPDX-License-Identifier: MIT
"""What a node costs in ONNX Runtime: the built-in kernels beside both doors of the plug-in, in turns, in one process.

    plugin_onnxruntime.py LIBRARY JSON [--quick] [--only REGEX]     a child of script/plugins onnxruntime --bench

Small gathers: (a model with 101 nodes - a model with 1) / 100, so that what a whole run costs is not in it. Large ones: a whole run
through IoBinding, with output memory that was there before. Nothing is optimised away: graph optimisations are off. With one thread,
the time is that of the thread's CPU clock, which stands while other programs have the CPU; with more, the wall clock's.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import results as folder

ROOT = Path(__file__).resolve().parent.parent
NODES = 101
BLOCK = 0.004  # seconds that one timed block of small runs takes, about
FEWEST, LONGEST = 3, 7.0  # rounds of a row in any case, and seconds after which there are no more
PAUSE = 0.002  # seconds between contenders: workers of the one before stop spinning
OPSET, IR = 13, 8


@dataclass(frozen=True)
class Row:
    """A gather: data and indices shapes; the axis, or batch_dims of GatherND."""

    op: str
    data: tuple
    indices: tuple
    axis: int = 0
    small: bool = False

    @property
    def name(self) -> str:
        at = f" axis {self.axis}" if self.axis else ""
        return f"{self.op} {list(self.data)} x {list(self.indices)}{at}"


ROWS = (
    Row("Gather", (1000, 64), (1,), small=True),
    Row("Gather", (1000, 64), (32,), small=True),
    Row("Gather", (1000, 1), (1000,), small=True),
    Row("Gather", (30522, 768), (128,), small=True),
    Row("Gather", (4,), (), small=True),  # Shape -> Gather, the most frequent gather of exported models
    Row("Gather", (2, 7, 16), (), 1, small=True),  # the first token
    Row("GatherElements", (8, 16), (8, 1), 1, small=True),
    Row("GatherElements", (32, 64), (32, 64), 1, small=True),
    Row("GatherND", (8, 16), (1, 2), small=True),
    Row("GatherND", (64, 64), (100, 2), small=True),
    Row("Gather", (1000000, 16), (200000,)),
    Row("Gather", (1000000, 1), (1000000,)),
    Row("Gather", (1000000, 64), (50000,)),
    Row("Gather", (50257, 768), (512,)),
    Row("Gather", (1000,), (10000000,)),
    Row("Gather", (10000000,), (10000000,)),
    Row("Gather", (4096, 1024), (256,), 1),
    Row("Gather", (1000000, 4), (1000000,)),
    Row("GatherElements", (1024, 1024), (1024, 1024), 1),
    Row("GatherElements", (1024, 1024), (1024, 1024), 0),
    Row("GatherElements", (10000000,), (10000000,)),
    Row("GatherElements", (1000000, 16), (1000000, 1), 1),
    Row("GatherND", (1024, 1024), (1000000, 2)),
)
# (row, how many times as fast the plug-in must be): what the plug-in is for.
TARGETS = {"Gather [1000, 64] x [1]": 1 / 1.2, "Gather [1000000, 1] x [1000000]": 3.0, "Gather [1000000, 16] x [200000]": 3.0}


# ---- models and sessions


def model_of(row: Row, nodes: int) -> bytes:
    """`nodes` equal nodes; only the last one's output leaves the model."""
    from onnx import TensorProto, helper

    attribute = {"batch_dims": row.axis} if row.op == "GatherND" else {"axis": row.axis}
    made = [helper.make_node(row.op, ["data", "indices"], [f"y{n}"], name=f"node{n}", **attribute) for n in range(nodes)]
    inputs = [helper.make_tensor_value_info("data", TensorProto.FLOAT, row.data), helper.make_tensor_value_info("indices", TensorProto.INT64, row.indices)]
    graph = helper.make_graph(made, "g", inputs, [helper.make_tensor_value_info(f"y{nodes - 1}", TensorProto.FLOAT, None)])
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR).SerializeToString()


def arrays_of(row: Row) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(16)
    data = rng.random(row.data, np.float32)
    if row.op == "GatherND":
        limit = np.array(row.data[row.axis : row.axis + row.indices[-1]])
        return data, rng.integers(0, limit, row.indices)
    return data, np.asarray(rng.integers(0, row.data[row.axis], row.indices), np.int64)


class Contender:
    """A session behind a door, with its inputs and its output bound."""

    def __init__(self, library: str, door: str, row: Row, nodes: int, threads: int, arrays):
        import ort_child
        import onnxruntime as ort

        self.door, self.clock = door, time.thread_time if threads == 1 else time.perf_counter
        self.session = ort_child.open_session(library, {"model": model_of(row, nodes), "door": door, "level": "DISABLE_ALL", "threads": threads})
        feeds = dict(zip(("data", "indices"), arrays, strict=True))
        self.output = self.session.run(None, feeds)[0]
        self.binding = self.session.io_binding()
        self.values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
        for name, value in self.values.items():
            self.binding.bind_ortvalue_input(name, value)
        # The memory of the output is NumPy's: the same kind for all doors.
        self.memory = np.zeros_like(self.output)
        self.bound = ort.OrtValue.ortvalue_from_numpy(self.memory)
        self.binding.bind_ortvalue_output(self.session.get_outputs()[0].name, self.bound)

    def time(self, runs: int) -> float:
        run, binding, clock = self.session.run_with_iobinding, self.binding, self.clock
        start = clock()
        for _ in range(runs):
            run(binding)
        return (clock() - start) / runs


# ---- measuring


def spread(times: list[float]) -> float:
    """The middle half of the times, as a share of the median."""
    quartiles = statistics.quantiles(times, n=4)
    return (quartiles[2] - quartiles[0]) / max(statistics.median(times), 1e-12)


def in_turns(measure: dict, rounds: int) -> dict:
    """Each contender once a round, in an order that rotates."""
    names, found, start = list(measure), {name: [] for name in measure}, time.monotonic()
    for turn in range(rounds):
        if turn >= FEWEST and time.monotonic() - start > LONGEST:
            break
        for n in range(len(names)):
            name = names[(turn + n) % len(names)]
            time.sleep(PAUSE)
            found[name].append(measure[name]())
    return found


def figures(times: list[float]) -> dict:
    return {"median": statistics.median(times), "fastest": min(times), "spread": spread(times)}


def small_costs(library: str, doors, row: Row, threads: int, rounds: int) -> dict[str, dict]:
    """Per node. The two models take turns like the doors do."""
    arrays = arrays_of(row)
    made = {(door, nodes): Contender(library, door, row, nodes, threads, arrays) for door in doors for nodes in (NODES, 1)}
    check_same([contender for (_, nodes), contender in made.items() if nodes == 1])
    runs = max(1, round(BLOCK / max(made["built-in", NODES].time(3), 1e-9)))
    times = in_turns({key: lambda key=key: made[key].time(runs) for key in made}, rounds)
    found = {}
    for door in doors:
        many, one = figures(times[door, NODES]), figures(times[door, 1])
        found[door] = {key: (many[key] - one[key]) / (NODES - 1) for key in ("median", "fastest")} | {"spread": many["spread"]}
    return found


def whole_runs(library: str, doors, row: Row, threads: int, rounds: int) -> dict[str, dict]:
    arrays = arrays_of(row)
    made = {door: Contender(library, door, row, 1, threads, arrays) for door in doors}
    check_same(made.values())
    runs = max(1, round(BLOCK / made["built-in"].time(1)))
    times = in_turns({door: lambda door=door: made[door].time(runs) for door in doors}, rounds)
    return {door: figures(found) for door, found in times.items()}


def check_same(contenders) -> None:
    first, *others = contenders
    for other in others:
        if other.output.tobytes() != first.output.tobytes():
            raise RuntimeError(f"{other.door} gives other bytes than {first.door}")


def measure(library: str, row: Row, threads: int, rounds: int) -> dict:
    import ort_child

    times = (small_costs if row.small else whole_runs)(library, ort_child.DOORS, row, threads, rounds)
    said = {key: {door: found[name] for door, found in times.items()} for key, name in (("seconds", "median"), ("fastest", "fastest"), ("spread", "spread"))}
    return {**asdict(row), "name": row.name, "threads": threads, **said}


def child(library: str, path: str, quick: bool, only: str = "") -> None:
    import onnxruntime as ort
    rounds, rows = (7 if quick else 151), []
    for row in [row for row in ROWS if re.search(only, row.name)]:
        for threads in (1,) if row.small else (1, 2):
            rows.append(measure(library, row, threads, rounds if row.small else max(5, rounds // 5)))
            print(line_of(rows[-1]), flush=True)
    said = {"machine": machine(), "onnxruntime": ort.__version__, "numpy": np.__version__, "quick": quick, "rounds": rounds, "rows": rows}
    Path(path).write_text(json.dumps(said, indent=1) + "\n")


# ---- the report


def machine() -> str:
    """A sentence: the CPU, how many, the system, the date, and how busy it was."""
    cpus, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    busy = " Other programs used the machine: times of several threads say little." if load > 1.5 * cpus else ""
    return (f"{folder.this_machine()['cpu']}, {cpus} CPUs, {platform.system()} {platform.release().split('-')[0]}, "
            f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}, load {load:.1f}.{busy}")


def human(seconds: float) -> str:
    for unit, size in (("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def ratio(row: dict, door: str) -> float:
    """How many times as fast as the built-in kernel."""
    return row["seconds"]["built-in"] / max(row["seconds"][door], 1e-12)


def fastest_ratio(row: dict, door: str) -> float:
    """The same of the fastest rounds, which other programs disturb least."""
    return row["fastest"]["built-in"] / max(row["fastest"][door], 1e-12)


def best_ratio(row: dict, door: str) -> float:
    """The one to believe: the wall clock of two threads is that of everybody on the machine."""
    return ratio(row, door) if row["threads"] == 1 else fastest_ratio(row, door)


def line_of(row: dict) -> str:
    doors = [door for door in row["seconds"] if door != "built-in"]
    return f"{row['name']}, {row['threads']} thread(s): built-in {human(row['seconds']['built-in'])}; " + "; ".join(
        f"{door} {human(row['seconds'][door])} ({ratio(row, door):.2f}x, fastest rounds {fastest_ratio(row, door):.2f}x)" for door in doors)


def table(rows: list[dict]) -> str:
    lines = ["| gather | threads | built-in | custom operators | | fastest | execution provider | | fastest |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for row in rows:
        cells = [row["name"], str(row["threads"]), timed(row, "built-in")]
        for door in ("operators", "provider"):
            cells += [timed(row, door), f"{ratio(row, door):.2f}x", f"{fastest_ratio(row, door):.2f}x"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def timed(row: dict, door: str) -> str:
    return f"{human(row['seconds'][door])} ±{row['spread'][door] / 2:.0%}"


def targets(rows: list[dict]) -> list[str]:
    """The targets that were missed, one sentence each."""
    missed = []
    for row in rows:
        wanted = TARGETS.get(row["name"])
        for door in ("operators", "provider") if wanted else ():
            if best_ratio(row, door) < wanted:
                missed.append(f"{row['name']}, {row['threads']} thread(s), {door}: {best_ratio(row, door):.2f}x, wanted {wanted:.2f}x")
    return missed


def section(said: dict) -> str:
    small, large = ([row for row in said["rows"] if row["small"] == kind] for kind in (True, False))
    lost = [line_of(row) for row in said["rows"] if min(best_ratio(row, "operators"), best_ratio(row, "provider")) < 0.95]
    missed = targets(said["rows"])
    return f"""ONNX Runtime {said['onnxruntime']}, float32 data, int64 indices, random and in range; graph optimisations off. The doors take turns in
one process, {said['rounds']} rounds for small gathers and up to a fifth of that for large ones; the median of the rounds, and half of the middle half
of them as a share of it. Ratios: how many times as fast as the built-in kernel; "fastest": of the fastest rounds, which other programs disturb
least. With one thread, times are those of the thread's CPU clock, with two of the wall clock. {said['machine']}

One node: (a model with {NODES} nodes - a model with 1) / {NODES - 1}, one thread.

{table(small)}

A whole run of a model with one node, through IoBinding.

{table(large)}

Slower than the built-in kernel by 5 % or more, in the medians of one thread or in the fastest rounds of two: {len(lost)} of {len(said['rows'])} rows.

{chr(10).join(f'- {line}' for line in lost)}

Targets (at most 20 % slower at one id; 3x at [1000000, 1] and [1000000, 16]): {'all met' if not missed else 'missed:'}
{chr(10).join(f'- {line}' for line in missed)}
"""


# Rows of the page, on one thread: the small ones cost a call, the large ones move bytes; two of them are slower.
TELLING = ("Gather [1000, 64] x [32]", "Gather [1000, 1] x [1000]", "GatherND [64, 64] x [100, 2]", "Gather [50257, 768] x [512]",
           "Gather [1000000, 16] x [200000]", "Gather [1000000, 4] x [1000000]", "GatherElements [1024, 1024] x [1024, 1024] axis 1",
           "GatherND [1024, 1024] x [1000000, 2]")


def short(said: dict) -> str:
    """For the page: some rows, and how many are slower."""
    shown = [row for row in said["rows"] if row["threads"] == 1 and row["name"] in TELLING] or said["rows"][:len(TELLING)]
    lost = [row for row in said["rows"] if min(best_ratio(row, "operators"), best_ratio(row, "provider")) < 0.95]
    lines = ["| gather, one thread | built-in | operators | provider |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| {row['name']} | {timed(row, 'built-in')} | {ratio(row, 'operators'):.2f}x | {ratio(row, 'provider'):.2f}x |" for row in shown]
    return (f"ONNX Runtime {said['onnxruntime']}, {said['machine']} The custom operators and the execution provider: how many times as fast as the "
            f"built-in kernel. Slower by 5 % or more, with one thread or two: {len(lost)} of {len(said['rows'])} rows.\n\n" + "\n".join(lines) + "\n")


def main(library: str, path: str = "", quick: bool = False) -> list[str]:
    """Measures in a child, and writes the JSON file; gives what went wrong."""
    import ort_runs

    path = path or str(folder.plugin_file("onnxruntime"))
    environment = ort_runs.environment() | {"PYTHONPATH": f"{ROOT / 'bench'}:{ROOT / 'tests/plugin'}"}
    done = subprocess.run([sys.executable, __file__, library, path, *(["--quick"] if quick else [])], env=environment, timeout=3600)
    if done.returncode:
        return [f"the benchmark {ort_runs.how_it_ended(done.returncode)}"]
    said = json.loads(Path(path).read_text())
    print(section(said))
    print(*[f"target missed: {line}" for line in targets(said["rows"])], sep="\n")
    return []


if __name__ == "__main__":
    words = sys.argv[3:]
    child(sys.argv[1], sys.argv[2], "--quick" in words, words[words.index("--only") + 1] if "--only" in words else "")
