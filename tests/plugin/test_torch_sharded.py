# SPDX-License-Identifier: MIT
#
# test_torch_sharded.py: ShardedTable in groups of 1, 2, 3 and 4 processes, which torch_sharded.py forks.
"""ShardedTable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.http_faults import status
from support.http_messages import simple
from support.http_server import HttpServer
from support.skip import needs

try:
    import torch
except ImportError:
    torch = None

PROGRAM = Path(__file__).with_name("torch_sharded.py")
ALL = "random_cases,dtypes,errors,construction,files,quantised,gradients,counts,groups"
needs_torch = needs("torch", torch)
needs_gloo = needs("torch", not torch or (torch.distributed.is_available() and torch.distributed.is_gloo_available()), "this PyTorch has no gloo")


def run(scenario: str, size: int, folder: Path, **more: str) -> None:
    command = [sys.executable, str(PROGRAM), scenario, str(size), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env={**os.environ, **more})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("size", [1, 2, 4])
def test_sharded(size, tmp_path):
    run(ALL, size, tmp_path)


def test_three_with_a_small_sample(tmp_path):
    """Stripes and blocks that do not divide evenly."""
    run("random_cases,gradients", 3, tmp_path)


@pytest.mark.parametrize("size", [1, 3])
def test_urls(size, tmp_path):
    full = np.arange(39_999 * 16, dtype=np.float32).reshape(-1, 16)
    arrays = {"whole": full, **{f"part{i}": part for i, part in enumerate(np.array_split(full, size))}}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)

    def forget(request):
        if not request.path.startswith("/gone/"):
            return None
        server.fault(status(410), path=f"/part{request.path.removeprefix('/gone/')}.npy")
        return simple(200)

    with HttpServer(folder=tmp_path, answer=forget) as server:
        run("urls", size, tmp_path, GATHER_TEST_URL=server.url("").rstrip("/"))
        read = sum(last - first + 1 for first, last in filter(None, server.ranges("/whole.npy")))
        assert server.ranges("/whole.npy") and read < full.nbytes / 2, "a few rows are wanted"


def test_a_lost_process_is_an_error(tmp_path):
    run("lost", 2, tmp_path)


def test_without_a_group():
    import libgather
    from libgather.torch import ShardedTable

    with pytest.raises(libgather.GatherValueError, match="init_process_group"):
        ShardedTable(None, torch.zeros(1))


@pytest.mark.skipif("GATHER_TEST_ROUNDS" not in os.environ, reason="rounds: only where GATHER_TEST_ROUNDS asks for more cases")
def test_many_random_cases(tmp_path):
    program = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import torch_sharded as t; " \
              f"t.many = lambda: t.random_cases({int(os.environ['GATHER_TEST_ROUNDS'])}); sys.exit(t.main('many', 4, {str(tmp_path)!r}))"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
