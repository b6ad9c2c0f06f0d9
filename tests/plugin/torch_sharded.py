# SPDX-License-Identifier: MIT
#
# torch_sharded.py SCENARIO PROCESSES FOLDER: what test_torch_sharded.py runs: a scenario in a gloo group of forked processes. Every process
# knows the whole table, and compares.
"""Scenarios of ShardedTable."""

from __future__ import annotations

import datetime
import os
import sys
import traceback
import warnings
from pathlib import Path

os.environ["GLOO_SOCKET_IFNAME"] = "lo"

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import torch_sharded_errors  # noqa: E402
import torch_sharded_files  # noqa: E402
import torch_sharded_rows  # noqa: E402
from torch_sharded_data import me  # noqa: E402

SCENARIOS = {**vars(torch_sharded_rows), **vars(torch_sharded_errors), **vars(torch_sharded_files)}


def run(scenario: str, rank: int, size: int, folder: str) -> None:
    me.rank, me.size, me.folder = rank, size, Path(folder)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of complex32
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous-{scenario}", rank=rank, world_size=size, timeout=datetime.timedelta(seconds=60))
    for name in scenario.split(","):
        SCENARIOS[name]()
        dist.barrier()
    dist.destroy_process_group()


def main(scenario: str, size: int, folder: str) -> int:
    """Forks: PyTorch is imported once."""
    children = {}
    for rank in range(size):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                run(scenario, rank, size, folder)
                code = 0
            except BaseException:  # noqa: BLE001
                sys.stderr.write(f"rank {rank} of {size}: {traceback.format_exc()}")
            finally:
                sys.stderr.flush()
                os._exit(code)
        children[child] = rank
    failed = 0
    while children:
        pid, status = os.wait()
        children.pop(pid)
        if status and not failed:
            failed = 1
            for other in children:  # which would wait for it
                os.kill(other, 9)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
