# SPDX-License-Identifier: MIT
#
# plugin_torch_override.py [FILE.json] [--rows MILLIONS]: PyTorch's own operators with libgather.torch.override() and without it, in turn in one
# process; and rows of a file that is not in the page cache: nn.Embedding on a mapped file beside DiskEmbedding, which also reads ahead.
# Prints tables for docs/measured/plugins.md. script/plugins torch --bench runs it.
"""override() and DiskEmbedding, measured."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import libgather.torch as lt

ROUNDS = 31
LEAST = 0.005  # seconds that a round takes at least
SIZES = [(1000, 64, 1), (1000, 64, 32), (1000, 1, 1000), (30522, 768, 128), (1_000_000, 16, 200_000), (1_000_000, 1, 500_000), (1_000_000, 64, 50_000)]
OPERATORS = ("embedding", "index_select", "gather", "take", "index")
COLUMNS = 128  # of the file: rows of 512 bytes
BATCH, BATCHES, COMPUTE = 1024, 8, 0.1  # ids, batches, seconds of other work for each batch


def keep_memory() -> None:
    """Results stay in the heap: else glibc gives their pages back to the system after some calls and not after others, and the faults
    take as long as the gather."""
    for parameter in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        ctypes.CDLL(None).mallopt(parameter, 1 << 30)


def calls(rows: int, columns: int, count: int) -> dict[str, Callable[[], Any]]:
    module = nn.Embedding(rows, columns).requires_grad_(False)
    w, ids = module.weight, torch.randint(0, rows, (count,))
    cells = torch.randint(0, rows, (count, columns)) if count * columns <= 4_000_000 else None
    found = {"nn.Embedding": lambda: module(ids), "index_select": lambda: w.index_select(0, ids), "w[ids]": lambda: w[ids]}
    if cells is not None:
        found["gather"] = lambda: w.gather(0, cells)
    if columns == 1:
        found["take"] = lambda: w.take(ids)
    return found


def seconds(call: Callable[[], Any], repetitions: int) -> float:
    """Per call. On one thread that thread's processor time, which other programs disturb less."""
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    for _ in range(repetitions):
        call()
    return (clock() - start) / repetitions


def pair(call: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, float]:
    """Microseconds without the override and with it: medians of rounds in turn."""
    scope = lt.override(*OPERATORS)
    repetitions = max(1, int(LEAST / max(seconds(call, 3), 1e-9)))
    before, after = [], []
    for _ in range(rounds if repetitions > 1 else rounds // 3 + 1):
        seconds(call, repetitions // 4 + 1)  # PyTorch's tables of kernels have just changed
        before.append(seconds(call, repetitions) * 1e6)
        with scope:
            seconds(call, repetitions // 4 + 1)
            after.append(seconds(call, repetitions) * 1e6)
    return statistics.median(before), statistics.median(after)


def operators(threads: int) -> list[dict[str, Any]]:
    keep_memory()
    torch.set_num_threads(threads)
    lines = []
    for rows, columns, count in SIZES:
        for name, call in calls(rows, columns, count).items():
            pair(call, 5)  # the heap grows to what the results need
            before, after = pair(call)
            lines.append({"threads": threads, "call": name, "rows": rows, "columns": columns, "ids": count, "before_us": before, "after_us": after,
                          "times": before / after})
    return lines


# ---- rows of a file ----


def write(path: Path, rows: int) -> None:
    """Rows of float32 with their number in the first column."""
    out = np.lib.format.open_memmap(path, "w+", np.float32, (rows, COLUMNS))
    for first in range(0, rows, 65536):
        part = out[first : first + 65536]
        part[:, 0] = np.arange(first, first + len(part))
    out.flush()


def drop(path: Path) -> None:
    """Out of the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def bytes_read() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("read_bytes"))


def compute() -> None:
    """Other work of a model, which needs no processor: of another device."""
    time.sleep(COMPUTE)


def epoch(take: Callable[[torch.Tensor], torch.Tensor], ahead: Callable[[torch.Tensor], None] | None, batches: list[torch.Tensor]) -> float:
    start = time.perf_counter()
    if ahead:
        ahead(batches[0])
    for i, ids in enumerate(batches):
        rows = take(ids)
        if ahead and i + 1 < len(batches):
            ahead(batches[i + 1])
        assert torch.equal(rows[:, 0], ids.float())
        compute()
    return time.perf_counter() - start


def mapped(path: Path, rows: int) -> nn.Embedding:
    """What people do: the file mapped by PyTorch."""
    header = 128
    flat = torch.from_file(str(path), shared=False, size=(rows * COLUMNS * 4 + header) // 4, dtype=torch.float32)
    return nn.Embedding.from_pretrained(flat[header // 4 :].reshape(rows, COLUMNS))


def cold(rows: int, rounds: int = 3) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        write(path, rows)
        found: dict[str, list[tuple[float, int]]] = {}
        for number in range(rounds):
            random = torch.Generator().manual_seed(number)
            batches = [torch.randint(0, rows, (BATCH,), generator=random) for _ in range(BATCHES)]
            for name in ("nn.Embedding on torch.from_file", "DiskEmbedding", "DiskEmbedding, reading ahead"):
                drop(path)
                module = mapped(path, rows) if name.startswith("nn.") else lt.DiskEmbedding(str(path))
                before = bytes_read()
                taken = epoch(module, module.prefetch if name.endswith("ahead") else None, batches)
                found.setdefault(name, []).append((taken - BATCHES * COMPUTE, bytes_read() - before))
                del module
    useful = BATCHES * BATCH * COLUMNS * 4
    return [{"reader": name, "seconds_beyond_compute": statistics.median(t for t, _ in runs), "us_per_row": statistics.median(t for t, _ in runs)
             / (BATCHES * BATCH) * 1e6, "bytes_read": statistics.median(b for _, b in runs), "useful_bytes": useful} for name, runs in found.items()]


def show(found: dict[str, Any]) -> None:
    print(f"\n{found['machine']}; PyTorch {found['torch']}; {found['date']}; load {found['load']}\n")
    print("| call | table | ids | threads | PyTorch, µs | with override(), µs | |\n| --- | --- | --- | --- | --- | --- | --- |")
    for one in found["operators"]:
        slow = " slower" if one["times"] < 0.95 else ""
        print(f"| {one['call']} | [{one['rows']}, {one['columns']}] | {one['ids']} | {one['threads']} | {one['before_us']:,.1f} | {one['after_us']:,.1f} "
              f"| {one['times']:.2f}x{slow} |")
    if found["cold"]:
        print(f"\n| {BATCHES} batches of {BATCH} rows of {COLUMNS * 4} bytes, cold, {COMPUTE * 1000:.0f} ms of other work each | s beyond the other work "
              "| µs per row | read, MiB | useful, MiB |\n| --- | --- | --- | --- | --- |")
        for one in found["cold"]:
            print(f"| {one['reader']} | {one['seconds_beyond_compute']:.2f} | {one['us_per_row']:.0f} | {one['bytes_read'] / 2**20:,.0f} "
                  f"| {one['useful_bytes'] / 2**20:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", help="JSON")
    parser.add_argument("--rows", type=float, default=2, help="of the file, in millions (2: 1 GB; 0: no file)")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    given = parser.parse_args()
    found = {"machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}", "torch": torch.__version__,
             "date": time.strftime("%Y-%m-%d"), "load": f"{os.getloadavg()[0]:.1f}", "cold": cold(int(given.rows * 1e6)) if given.rows else [],
             "operators": [line for threads in given.threads for line in operators(threads)]}
    show(found)
    if given.file:
        Path(given.file).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
