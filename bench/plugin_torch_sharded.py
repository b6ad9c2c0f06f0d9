# SPDX-License-Identifier: MIT
"""plugin_torch_sharded.py [FILE.json]: ShardedTable beside a plain exchange by all_to_all_single; the same ids, in turns, in the same processes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["GLOO_SOCKET_IFNAME"] = "lo"

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

from libgather.torch import ShardedTable  # noqa: E402

PROCESSES, ROWS, ROUNDS = 2, 1_000_000, 9
CASES = {"uniform": (128, 100_000), "Zipf": (128, 100_000), "uniform, few ids": (128, 1000), "uniform, narrow rows": (8, 100_000)}


def plain(mine: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """What a user writes: sort by owner, counts, ids, rows, and back into order."""
    block = mine.shape[0]
    owner = ids // block
    order = torch.argsort(owner, stable=True)
    sent = torch.bincount(owner, minlength=PROCESSES)
    arrived = torch.empty_like(sent)
    dist.all_to_all_single(arrived, sent)
    sent, arrived = sent.tolist(), arrived.tolist()
    wanted = torch.empty(sum(arrived), dtype=torch.int64)
    dist.all_to_all_single(wanted, ids[order] % block, arrived, sent)
    rows = torch.empty(len(ids), *mine.shape[1:], dtype=mine.dtype)
    dist.all_to_all_single(rows, mine.index_select(0, wanted), sent, arrived)
    out = torch.empty_like(rows)
    out[order] = rows
    return out


def draw(name: str, count: int, seed: int) -> torch.Tensor:
    random = np.random.default_rng(seed)
    if name.startswith("Zipf"):
        popular = np.exp(random.random(count) * np.log(ROWS)).astype(np.int64) % ROWS
        return torch.from_numpy(popular * 618_033 % ROWS)
    return torch.from_numpy(random.integers(0, ROWS, count))


def measure(rank: int) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for case, (width, count) in CASES.items():
        block = ROWS // PROCESSES
        mine = torch.arange(rank * block, (rank + 1) * block, dtype=torch.float32)[:, None].expand(block, width).contiguous()
        table = ShardedTable(None, mine)
        out = torch.zeros(count, width)
        ways = {"all_to_all_single by hand": lambda ids, m=mine: plain(m, ids), "ShardedTable.take": table.take,
                "ShardedTable.take, out=": lambda ids, o=out, t=table: t.take(ids, out=o)}  # fmt: skip
        found[case] = {name: [] for name in ways}
        for turn in range(ROUNDS + 1):
            ids = draw(case, count, 100 * turn + rank)
            for name, way in ways.items():
                dist.barrier()
                start = time.perf_counter()
                rows = way(ids)
                dist.barrier()
                taken = time.perf_counter() - start
                assert torch.equal(rows[:, 0], ids.float()) and torch.equal(rows[:, -1], ids.float()), name
                if turn:
                    found[case][name].append(taken)
    return found


def run(rank: int, folder: str, target: str | None) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=PROCESSES)
    found = measure(rank)
    if rank == 0:
        print(f"{PROCESSES} processes, {ROWS:,} rows of float32, gloo over 127.0.0.1, one thread each, medians of {ROUNDS} turns; PyTorch {torch.__version__}")
        print("| ids of each process x row | by hand, ms | ShardedTable, ms | with out=, ms | by hand / out= |\n| --- | ---: | ---: | ---: | ---: |")
        for case, times in found.items():
            hand, ours, kept = (float(np.median(taken)) * 1e3 for taken in times.values())
            print(f"| {CASES[case][1]:,} {case} x {4 * CASES[case][0]} B | {hand:.2f} | {ours:.2f} | {kept:.2f} | {hand / kept:.2f} |")
        if target:
            Path(target).write_text(json.dumps({"torch": torch.__version__, "processes": PROCESSES, "seconds": found}, indent=1) + "\n")
    dist.barrier()
    dist.destroy_process_group()


def main() -> int:
    folder = tempfile.mkdtemp()
    children = []
    for rank in range(PROCESSES):
        child = os.fork()
        if child == 0:
            run(rank, folder, sys.argv[1] if len(sys.argv) > 1 else None)
            sys.stdout.flush()
            os._exit(0)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)


if __name__ == "__main__":
    sys.exit(main())
