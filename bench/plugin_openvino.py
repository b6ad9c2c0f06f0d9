# SPDX-License-Identifier: MIT
"""What a gather costs in OpenVINO: its own node beside libgather's, for the same model, inputs and threads.

    PYTHONPATH=build/release/python .venv/bin/python bench/plugin_openvino.py [--quick] [--json FILE]

Both models run in one process by turns, and the figure is the median of many turns. With one thread it is the CPU's time, which a busy
machine lengthens least; with two, the wall's. The cost of a
node is that of a model with 21 gathers less that of a model with one, divided by 20: what a request costs anyway is not in it. The
table ends with the sizes at which libgather's rule takes a node over. The output is Markdown, for docs/measured/plugins.md.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import openvino
from openvino import opset8

import libgather.openvino

NODES = 21
CASES = [  # operator, shape of data, number of indices, dynamic
    ("Gather", (1000, 64), 1, False),
    ("Gather", (1000, 64), 1, True),
    ("Gather", (1000, 64), 32, False),
    ("Gather", (1000, 64), 32, True),
    ("Gather", (1000, 64), 256, False),
    ("Gather", (1000, 1), 100, False),
    ("Gather", (1000, 1), 1000, False),
    ("Gather", (1000, 1), 1000, True),
    ("Gather", (1000, 16), 1000, False),
    ("Gather", (30522, 768), 1, False),
    ("Gather", (30522, 768), 1, True),
    ("Gather", (30522, 768), 16, False),
    ("Gather", (30522, 768), 128, False),
    ("Gather", (30522, 768), 128, True),
    ("GatherElements", (100, 8), 100, False),
    ("GatherElements", (1000, 64), 1000, False),
    ("GatherND", (100, 8), 100, False),
    ("GatherND", (1000, 64), 1000, False),
]
LARGE = [
    ("Gather", (1_000_000, 16), 200_000, False),
    ("Gather", (1_000_000, 1), 500_000, False),
    ("Gather", (1_000_000, 64), 50_000, False),
    ("GatherElements", (1_000_000, 16), 200_000, False),
    ("GatherND", (1_000_000, 16), 200_000, False),
]


def indices_of(case: tuple, rng: np.random.Generator) -> np.ndarray:
    """Valid indices: a vector, one row per index for GatherElements, tuples of one number for GatherND."""
    operator, (rows, width), count, _ = case
    shape = {"Gather": (count,), "GatherElements": (count, width), "GatherND": (count, 1)}[operator]
    return rng.integers(0, rows, shape).astype(np.int32)


def model_of(case: tuple, table: np.ndarray, nodes: int) -> openvino.Model:
    """`nodes` gathers of one table, each with indices and an output of its own."""
    operator, _, _, dynamic = case
    shape = list(indices_of(case, np.random.default_rng(0)).shape)
    if dynamic:
        shape[0] = -1
    inputs = [opset8.parameter(shape, np.int32) for _ in range(nodes)]
    data = opset8.constant(table)
    make = {
        "Gather": lambda ids: opset8.gather(data, ids, opset8.constant(0, dtype=np.int32)),
        "GatherElements": lambda ids: opset8.gather_elements(data, ids, 0),
        "GatherND": lambda ids: opset8.gather_nd(data, ids, 0),
    }[operator]
    return openvino.Model([make(ids) for ids in inputs], inputs, "bench")


def request_of(model: openvino.Model, threads: int, ids: np.ndarray) -> openvino.InferRequest:
    config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", config).create_infer_request()
    for i in range(len(model.inputs)):
        request.set_input_tensor(i, openvino.Tensor(ids))
    return request


def pace(request: openvino.InferRequest, repeat: int, threads: int = 1) -> float:
    clock = time.process_time if threads == 1 else time.perf_counter
    begin = clock()
    for _ in range(repeat):
        request.infer()
    return (clock() - begin) / repeat


def measure(case: tuple, threads: int, turns: int) -> dict:
    """Microseconds of a node in both, and what the rule says about it."""
    rng = np.random.default_rng(1)
    table = rng.random(case[1], dtype=np.float32)
    ids = indices_of(case, rng)
    requests, taken = [], 0
    for ours in (False, True):
        for nodes in (1, NODES):
            model = model_of(case, table, nodes)
            if ours:
                assert libgather.openvino.replace(model, force=True, take_out=None) == nodes
            requests.append(request_of(model, threads, ids))
    taken = libgather.openvino.replace(model_of(case, table, 1), take_out=None)
    for request in requests:
        request.infer()
    for own, other in zip(requests[1].results.values(), requests[3].results.values(), strict=True):
        assert own.tobytes() == other.tobytes(), case
    repeat = max(1, int(0.004 / max(1e-6, pace(requests[1], 3))))
    times = [[pace(request, repeat, threads) for request in requests] for _ in range(turns)]
    middle = [1e6 * statistics.median(column) for column in zip(*times, strict=True)]
    per_node = [(middle[1] - middle[0]) / (NODES - 1), (middle[3] - middle[2]) / (NODES - 1)]
    return {
        "operator": case[0], "data": case[1], "indices": case[2], "dynamic": case[3], "threads": threads, "taken": bool(taken),
        "request_openvino": middle[0], "request_libgather": middle[2], "node_openvino": per_node[0], "node_libgather": per_node[1],
        "ratio": per_node[0] / per_node[1],
    }  # fmt: skip


def line_of(row: dict) -> str:
    data = "x".join(map(str, row["data"]))
    shape = "unknown" if row["dynamic"] else "known"
    return (
        f"| {row['operator']} | [{data}] x {row['indices']} | {shape} | {row['threads']} | {row['node_openvino']:.1f} | {row['node_libgather']:.1f} "
        f"| **{row['ratio']:.2f}** | {'libgather' if row['taken'] else 'OpenVINO'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer turns, no large tables")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    given = parser.parse_args()
    print(f"OpenVINO {openvino.__version__}, {platform.machine()}, {os.cpu_count()} CPUs, {time.strftime('%Y-%m-%d')}; microseconds per node, medians\n")
    print("| operator | data x indices | number of indices | threads | OpenVINO | libgather | OpenVINO / libgather | who runs it by default |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for case in CASES + ([] if given.quick else LARGE):
        for threads in (1, 2) if case in LARGE else (1,):
            rows.append(measure(case, threads, 9 if given.quick or case in LARGE else 31))
            print(line_of(rows[-1]), flush=True)
    if given.json:
        facts = {"openvino": openvino.__version__, "machine": platform.machine(), "cpus": os.cpu_count(), "date": time.strftime("%Y-%m-%d"), "rows": rows}
        given.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
