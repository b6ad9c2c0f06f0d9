# SPDX-License-Identifier: MIT
"""scale_measure.py [FILE.json]: takes of ShardedTable between network namespaces whose cards are limited, for the simulator to be compared with.
Needs root, ip and tc. Each process is a node: a namespace with a veth pair to a bridge, limited in both directions by tbf; no other network."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np  # noqa: E402

from scale_ids import Ids  # noqa: E402
from scale_planner import even_splits  # noqa: E402

RATE, ROWS, ROW_BYTES, TURNS = 4e6, 200_000, 512, 5  # bytes per second of a card
RANK = {"plan_id": 4e-7, "row": 4e-7}  # of Machine, for processes that share few cores
LARGE, PAYLOAD = 4_000_000, 0.95  # bytes that each node sends to see what the network gives; of a frame, what is not headers
CASES = [("uniform", Ids(), 10_000, False), ("uniform, few ids", Ids(), 1000, False), ("Zipf, blocks", Ids("zipf", scattered=False), 10_000, False),
         ("Zipf, stripes", Ids("zipf", scattered=False), 10_000, True), ("90 % local", Ids("partitioned"), 10_000, False)]  # fmt: skip


def sh(command: str) -> None:
    subprocess.run(command.split(), check=True)


@contextmanager
def network(nodes: int):
    """The namespaces of so many nodes, and the one with the bridge."""
    made = [f"gathersim{os.getpid()}-{i}" for i in range(nodes)]
    hub = f"gathersim{os.getpid()}-hub"
    try:
        sh(f"ip netns add {hub}")
        sh(f"ip -n {hub} link add bridge type bridge")
        sh(f"ip -n {hub} link set bridge up")
        for i, name in enumerate(made):
            sh(f"ip netns add {name}")
            sh(f"ip -n {hub} link add port{i} type veth peer name card netns {name}")
            sh(f"ip -n {hub} link set port{i} master bridge up")
            sh(f"ip -n {name} addr add 10.201.0.{i + 1}/24 dev card")
            sh(f"ip -n {name} link set card up")
            sh(f"ip -n {name} link set lo up")
            limit = f"root tbf rate {int(RATE * 8)} burst 32kb latency 100ms"
            sh(f"tc -n {name} qdisc add dev card {limit}")
            sh(f"tc -n {hub} qdisc add dev port{i} {limit}")
        yield made
    finally:
        for name in (*made, hub):
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


def rank_program(rank: int, size: int, target: str) -> None:
    import torch
    import torch.distributed as dist

    from libgather.torch import ShardedTable

    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "card"
    dist.init_process_group("gloo", init_method="tcp://10.201.0.1:29777", rank=rank, world_size=size)
    found = []
    words, answer = torch.zeros(size, 4, dtype=torch.int64), torch.zeros(size, 4, dtype=torch.int64)
    small = timed(dist, lambda: dist.all_to_all_single(answer, words), 20)
    bulk = torch.zeros(size, LARGE // size, dtype=torch.uint8)
    large = timed(dist, lambda b=torch.zeros_like(bulk): dist.all_to_all_single(b, bulk), TURNS)
    efficiency = min(1.0, LARGE * (size - 1) / size / PAYLOAD / RATE / (large - small))
    for name, ids, count, stripes in CASES:
        splits = even_splits(size, ROWS)
        numbers = torch.arange(rank, ROWS, size) if stripes else torch.arange(int(splits[rank]), int(splits[rank + 1]))
        mine = numbers.float()[:, None].expand(-1, ROW_BYTES // 4).contiguous()
        table = ShardedTable(None, mine, placement="stripes" if stripes else "blocks")
        wanted = torch.from_numpy(ids.draw(rank, size, ROWS, count))
        rows = table.take(wanted)
        assert torch.equal(rows[:, 0], wanted.float())
        before = table.stats()
        seconds = timed(dist, lambda t=table, w=wanted, r=rows: t.take(w, out=r), TURNS)
        received = (table.stats().received_bytes - before.received_bytes) / TURNS
        every: list = [None] * size
        dist.all_gather_object(every, received)
        found.append({"name": f"{size} nodes, {name}", "nodes": size, "seconds": seconds, "received_bytes": every, "ids": asdict(ids), "rows": ROWS,
                      "row_bytes": ROW_BYTES, "count": count, "stripes": stripes, "rounds": 1})  # fmt: skip
    if rank == 0:
        Path(target).write_text(json.dumps({"small": small, "efficiency": efficiency, "runs": found}))
    dist.barrier()
    dist.destroy_process_group()


def timed(dist, call, turns: int) -> float:
    """The median of the slowest process's times."""
    taken = []
    for _ in range(turns):
        dist.barrier()
        start = time.perf_counter()
        call()
        dist.barrier()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=Path)
    parser.add_argument("--nodes", default="2,4,8")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--size", type=int)
    given = parser.parse_args()
    if given.rank is not None:
        rank_program(given.rank, given.size, str(given.target))
        return 0
    runs, networks = [], {}
    for size in map(int, given.nodes.split(",")):
        with network(size) as names, tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, f"{folder}/x.json", "--size", str(size), "--rank"]
            children = [subprocess.Popen(["ip", "netns", "exec", name, *command, str(rank)]) for rank, name in enumerate(names)]
            try:
                if any(child.wait(timeout=500) for child in children):
                    return 1
            finally:
                for child in children:
                    child.kill()
            said = json.loads(Path(folder, "x.json").read_text())
        name = f"gloo, {size} namespaces"
        runs += [{**run, "network": name} for run in said["runs"]]
        networks[name] = {"latency": said["small"], "message": 0.0, "card": RATE * PAYLOAD, "efficiency": said["efficiency"], **RANK}
        print(json.dumps(said), flush=True)
    if given.target:
        given.target.write_text(json.dumps({"networks": networks, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
