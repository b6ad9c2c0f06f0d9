# SPDX-License-Identifier: MIT
"""scale_simulator.py [--nodes 8,64,512] [--measure] [--markdown] [--picture FILE] [--validate FILE]: predicts exchanges of libgather_mpi on
nodes that nobody has here: the real planner, on a modelled network. See scale_model.py for the model and docs/measured/nodes.md for its constants."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import scale_ways  # noqa: E402
from scale_ids import Ids  # noqa: E402
from scale_model import ID, Machine, Times, Work, plans, simulate  # noqa: E402
from scale_planner import Planner, even_splits  # noqa: E402

# The network of each is the nominal one; the constants of a rank are those that --measure prints.
MACHINES = {
    "25 GbE, TCP": Machine("25 GbE, TCP", latency=30e-6, message=5e-6, card=3.1e9),
    "200 Gb/s InfiniBand": Machine("200 Gb/s InfiniBand", latency=2e-6, message=0.5e-6, card=25e9),
}
ROWS, ROW_BYTES, COUNT = 1_000_000_000, 512, 100_000
WORKS = {  # blocks, stripes, hot rows: Zipf(1) ids, popular rows first
    "uniform": Work(Ids("uniform"), ROWS, ROW_BYTES, COUNT),
    "repeated": Work(Ids("uniform"), ROWS, ROW_BYTES, COUNT, kept=True),
    "blocks": Work(Ids("zipf", scattered=False), ROWS, ROW_BYTES, COUNT),
    "stripes": Work(Ids("zipf", scattered=False), ROWS, ROW_BYTES, COUNT, stripes=True),
    "hot rows": Work(Ids("zipf", scattered=False), ROWS, ROW_BYTES, COUNT, stripes=True, hot=100_000),
    "90 % local": Work(Ids("partitioned"), ROWS, ROW_BYTES, COUNT),
}


def measure(rounds: int = 40) -> dict[str, float]:
    """The constants of a rank on this machine, of one thread: the best of many short runs, since others use it too."""
    import libgather

    count = COUNT
    planner, ids = Planner(), Ids().draw(0, 64, ROWS, count)
    planned = best_of(lambda: planner.plan(ids, 64, ROWS, even_splits(64, ROWS), 8), rounds)
    times = {}
    for width in (64, 4096):
        table = np.zeros((256 * 2**20 // width, width), np.uint8) + np.uint8(1)
        rows = np.random.default_rng(1).integers(0, len(table), 10_000)
        out = np.zeros((len(rows), width), np.uint8)
        times[width] = best_of(lambda t=table, r=rows, o=out: libgather.take(t, r, axis=0, out=o, threads=1), rounds) / len(rows)
    copy = (4096 - 64) / (times[4096] - times[64])
    return {"plan_id": planned / count, "copy": copy, "row": max(times[64] - 64 / copy, 1e-9)}


def best_of(call, rounds: int) -> float:
    call()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def predict(nodes: list[int], machines: dict[str, Machine], works: dict[str, Work]) -> list[dict]:
    """Every work on every machine. The plans are the same on every machine, and are made once."""
    planner, found = Planner(), []
    for name, work in works.items():
        for count in nodes:
            planned = plans(planner, work, count)
            for machine in machines.values():
                times: Times = simulate(machine, work, count, planned=planned)
                found.append({"work": name, "machine": machine.name, "nodes": count, "count": work.count, "row_bytes": work.row_bytes,
                              "seconds": times.total, **asdict(times)})  # fmt: skip
    return found


def ways(nodes: list[int], unique: float = COUNT, row_bytes: int = ROW_BYTES) -> list[dict]:
    return [{"way": way.name, "nodes": count, "seconds": scale_ways.seconds(way, count, unique, row_bytes),
             "limit": scale_ways.limit(way, count, unique, row_bytes)} for way in scale_ways.WAYS for count in nodes]  # fmt: skip


# ---- what is printed ----


def shown(seconds: float) -> str:
    if seconds >= 100:
        return f"{seconds:,.0f} s"
    return f"{seconds:.2g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


# Names of ways in a drawing; of ways and networks in a table.
SHORT = {"object store by URL, one prefix": "object store, one prefix", "the same file on a shared file system": "shared file system",
         "a copy on a disk of each node": "a copy on each node"}
CELLS = {"object store by URL, one prefix": "object store", "the same file on a shared file system": "shared files",
         "a copy on a disk of each node": "local copies", "25 GbE, TCP": "25 GbE", "200 Gb/s InfiniBand": "InfiniBand"}


def table_of(predictions: list[dict], others: list[dict], nodes: list[int]) -> str:
    """The times of a take; skew and the network's share (or what limits the way) are those of the most nodes."""
    lines = ["| way | ids | network | " + " | ".join(f"{n} nodes" for n in nodes) + " | skew | wire |",
             "| --- | --- | --- | " + " | ".join("---:" for _ in nodes) + " | ---: | ---: |"]  # fmt: skip
    for work in dict.fromkeys(p["work"] for p in predictions):
        for machine in dict.fromkeys(p["machine"] for p in predictions):
            rows = {p["nodes"]: p for p in predictions if (p["work"], p["machine"]) == (work, machine)}
            last = rows[nodes[-1]]
            cells = " | ".join(shown(rows[n]["seconds"]) for n in nodes)
            lines.append(f"| MPI | {work} | {CELLS[machine]} | {cells} | {last['skew']:.2f} | {last['wire'] / last['seconds']:.0%} |")
    for way in dict.fromkeys(o["way"] for o in others):
        rows = {o["nodes"]: o for o in others if o["way"] == way}
        cells, limit = " | ".join(shown(rows[n]["seconds"]) for n in nodes), rows[nodes[-1]]["limit"].split()[-1]
        lines.append(f"| {CELLS[way]} | uniform | - | {cells} | - | {limit} |")
    return "\n".join(lines)


def draw(predictions: list[dict], others: list[dict], path: Path) -> None:
    """Rows per second of all nodes together over the number of nodes."""
    import drawings

    parts = {}
    for machine in dict.fromkeys(p["machine"] for p in predictions):
        for work, name in (("uniform", "MPI, {}"), ("stripes", "MPI, {} (Zipf)")):
            parts[name.format(machine)] = [(p["nodes"], p["nodes"] * p["count"] / p["seconds"]) for p in predictions if (p["work"], p["machine"]) == (work, machine)]
    for way in dict.fromkeys(o["way"] for o in others):
        parts[SHORT.get(way, way)] = [(o["nodes"], o["nodes"] * COUNT / o["seconds"]) for o in others if o["way"] == way]
    title = "Predicted, not measured: rows of 512 bytes"
    path.write_text(drawings.curves(title, parts, "nodes", "rows a second, all nodes together"), encoding="utf-8")


def validate(path: Path) -> tuple[str, float]:
    """Measured runs beside the model with their network's constants: a table, and the largest factor between the two. The bytes of runs
    that have the same ids must be those of the plans, exactly."""
    measured = json.loads(path.read_text(encoding="utf-8"))
    planner, worst = Planner(), 1.0
    lines = ["| run | measured | model | model / measured |", "| --- | ---: | ---: | ---: |"]
    for run in measured["runs"]:
        network = measured["networks"][run["network"]]
        machine = Machine(run["network"], **network)
        work = Work(Ids(**run["ids"]), run["rows"], run["row_bytes"], run["count"], stripes=run.get("stripes", False), kept=run.get("kept", False),
                    rounds=run.get("rounds", 0))  # fmt: skip
        times = simulate(machine, work, run["nodes"], planner=planner)
        moved = times.network_bytes / run["row_bytes"] * (run["row_bytes"] + ID)  # rows, and the ids that asked for them
        if "received_bytes" in run and moved != sum(run["received_bytes"]):
            raise ValueError(f"{run['name']}: {sum(run['received_bytes']):,.0f} bytes were received, and the plans say {moved:,.0f}")
        found = times.total
        ratio = found / run["seconds"]
        worst = max(worst, ratio, 1 / ratio)
        lines.append(f"| {run['name']} | {shown(run['seconds'])} | {shown(found)} | {ratio:.2f} |")
    return "\n".join(lines), worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="8,64,512")
    parser.add_argument("--measure", action="store_true", help="print the constants of a rank on this machine")
    parser.add_argument("--count", type=int, default=COUNT, help="ids of each node")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    parser.add_argument("--validate", type=Path, metavar="FILE", help="compare with measured runs")
    given = parser.parse_args()
    if given.measure:
        print({name: float(f"{value:.3g}") for name, value in measure().items()})
        return 0
    if given.validate:
        table, worst = validate(given.validate)
        print(table)
        print(f"largest factor: {worst:.2f}")
        return 0
    nodes = [int(n) for n in given.nodes.split(",")]
    works = {name: replace(work, count=given.count) for name, work in WORKS.items()}
    predictions, others = predict(nodes, MACHINES, works), ways(nodes, given.count)
    print(table_of(predictions, others, nodes))
    if given.json:
        given.json.write_text(json.dumps({"predictions": predictions, "ways": others}, indent=1) + "\n", encoding="utf-8")
    if given.picture:
        draw(predictions, others, given.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
