# SPDX-License-Identifier: MIT
#
# plugin_torch.py [FILE.json]: calls of libgather's PyTorch operators beside PyTorch's own, measured in turn in one process, on one thread: the
# processor time of that thread, so that other programs disturb less. Prints tables for docs/measured/plugins.md. script/plugins torch --bench
# runs it.
"""Per-call times of libgather's PyTorch operators."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Callable

import torch

import libgather.torch as lt

ROUNDS = 101
LEAST = 0.002  # seconds that a round of one candidate takes at least

SIZES = [(1000, 64, 1), (1000, 64, 32), (1000, 1, 1000), (30522, 768, 128), (1_000_000, 16, 200_000), (1_000_000, 1, 500_000), (1_000_000, 64, 50_000)]


def rounds_of(call: Callable[[], Any]) -> int:
    """How many calls make a round."""
    start = time.thread_time()
    calls = 0
    while time.thread_time() - start < LEAST:
        call()
        calls += 1
    return max(calls, 1)


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Microseconds per call, the median of rounds in which each candidate has its turn."""
    counts = {name: rounds_of(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.thread_time()
            for _ in range(counts[name]):
                call()
            times[name].append((time.thread_time() - start) / counts[name] * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def take_calls(rows: int, width: int, count: int) -> dict[str, Callable[[], Any]]:
    table, ids = torch.randn(rows, width), torch.randint(0, rows, (count,))
    embedding = torch.nn.Embedding.from_pretrained(table)
    operator, plain = torch.ops.libgather.take.default, torch.ops.libgather.take.no_grad
    assert torch.equal(lt.take(table, ids), torch.index_select(table, 0, ids))
    return {
        "libgather.torch.take": lambda: lt.take(table, ids),
        "libgather::take": lambda: operator(table, ids),
        "libgather::take.no_grad": lambda: plain(table, ids, 0),
        "torch.index_select": lambda: torch.index_select(table, 0, ids),
        "nn.Embedding": lambda: embedding(ids),
        "table[ids]": lambda: table[ids],
    }


def elements_calls(rows: int, width: int, count: int) -> dict[str, Callable[[], Any]]:
    table, ids = torch.randn(rows, width), torch.randint(0, rows, (count, width))
    pairs = torch.stack([torch.randint(0, n, (count,)) for n in (rows, width)], 1)
    assert torch.equal(lt.gather_elements(table, ids), torch.gather(table, 0, ids))
    return {
        "libgather.torch.gather_elements": lambda: lt.gather_elements(table, ids),
        "torch.gather": lambda: torch.gather(table, 0, ids),
        "libgather.torch.gather_nd": lambda: lt.gather_nd(table, pairs),
        "table[i, j]": lambda: table[pairs[:, 0], pairs[:, 1]],
    }


def line(size: tuple[int, int, int], found: dict[str, float], pairs: list[tuple[str, str]]) -> str:
    cells = [f"[{size[0]}, {size[1]}] x {size[2]}", *(f"{value:,.1f}" for value in found.values())]
    cells += [f"{found[theirs] / found[ours]:.2f}" for ours, theirs in pairs]
    return "| " + " | ".join(cells) + " |"


def table(title: str, measured: list[tuple[tuple[int, int, int], dict[str, float]]], pairs: list[tuple[str, str]]) -> None:
    names = list(measured[0][1])
    print(f"\n{title}\n\n| data x ids | " + " | ".join(f"{name}, µs" for name in names) + " | " + " | ".join(f"{theirs} / {ours}" for ours, theirs in pairs) + " |")
    print("| --- |" + " ---: |" * (len(names) + len(pairs)))
    for size, found in measured:
        print(line(size, found, pairs))


def main() -> None:
    torch.set_num_threads(1)
    takes = [(size, medians(take_calls(*size))) for size in SIZES]
    elements = [(size, medians(elements_calls(*size))) for size in SIZES if size[0] * size[2] < 10**10]
    print(f"PyTorch {torch.__version__}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}; medians of {ROUNDS} rounds")
    table("take", takes, [("libgather.torch.take", "torch.index_select"), ("libgather.torch.take", "nn.Embedding")])
    table("gather_elements, gather_nd", elements, [("libgather.torch.gather_elements", "torch.gather"), ("libgather.torch.gather_nd", "table[i, j]")])
    if len(sys.argv) > 1:
        path = Path(sys.argv[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        found = {"torch": torch.__version__, "load": os.getloadavg(), "take": takes, "elements": elements}
        path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
