# SPDX-License-Identifier: MIT
"""script/plugins onnxruntime --memory --warm: what a table costs when all of its rows are in memory: runs of a session with one Gather,
interleaved, medians."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import onnxruntime_memory as memory

BYTES = 256 << 20
IDS = (1, 32, 128, 1024)
WAYS = {
    "built-in": None,
    "plain": {"table": "never"},
    "table": {"table": "always"},
    "table, memory=64MiB": {"table": "always", "memory": "64MiB"},
}


def sessions_of(model: str) -> dict:
    import onnxruntime

    import libgather.onnxruntime as plugin

    found = {}
    for name, options in WAYS.items():
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1  # a second one waits for a busy CPU longer than it helps
        settings.log_severity_level = 3
        if options is None:
            found[name] = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        else:
            found[name] = onnxruntime.InferenceSession(model, plugin.add_to(settings, **options))
    return found


def medians(sessions: dict, rows: int, count: int) -> dict[str, float]:
    """Microseconds of a run."""
    import numpy as np

    times: dict[str, list[float]] = {name: [] for name in sessions}
    random = np.random.default_rng(count)
    for _ in range(60 if count < 1000 else 20):
        ids = random.integers(0, rows, count)
        for name, session in sessions.items():
            binding = session.io_binding()
            binding.bind_cpu_input("ids", ids)
            binding.bind_output("rows")
            start = time.perf_counter()
            session.run_with_iobinding(binding)
            times[name].append((time.perf_counter() - start) * 1e6)
    return {name: float(np.median(values)) for name, values in times.items()}


def main(row_lengths: list[int]) -> list[dict]:
    """Prints a table; returns its rows."""
    found = []
    with tempfile.TemporaryDirectory(prefix="gather-onnxruntime-warm-") as folder:
        table = Path(folder) / memory.FILE
        memory.write_table(table, BYTES)
        for row_bytes in row_lengths:
            model = Path(folder) / f"rows_{row_bytes}.onnx"
            memory.write_model(model, BYTES, row_bytes)
            sessions = sessions_of(str(model))
            table.read_bytes()  # into the page cache
            for count in IDS:
                found.append({"row_bytes": row_bytes, "ids": count} | medians(sessions, BYTES // row_bytes, count))
    print("| row | ids a run | " + " | ".join(f"{name}, µs" for name in WAYS) + " |", "| --- " * (2 + len(WAYS)) + "|", sep="\n")
    for line in found:
        print(f"| {line['row_bytes']} B | {line['ids']} | " + " | ".join(f"{line[name]:,.0f}" for name in WAYS) + " |")
    return found
