# SPDX-License-Identifier: MIT
"""Each rank's part is a file at a URL: rows, and an error of one rank's server on every rank, with that rank."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpirun import FIRST, NAMES, command, printed, separately
from support import http_faults as faults
from support.http_server import HttpServer
from support.skip import skip_test
from test_mpi_python import mpi4py_for, need_mpi4py

PROGRAM = Path(__file__).with_name("mpi_urls.py")
RANKS, ROWS, WIDTH, BAD = 3, 20_000, 16, 12_345


def part(rank: int) -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(rank * ROWS * WIDTH, (rank + 1) * ROWS * WIDTH, dtype=np.int64).reshape(ROWS, WIDTH))
    return file.getvalue()


def need_urls() -> None:
    import libgather

    if why := libgather.info()["engines"]["http"]:
        skip_test("http", why)


@pytest.mark.parametrize("what", ["changed", "refused", "cut"])
def test_a_servers_fault_is_told_with_its_rank(what, tmp_path):
    """A row of rank 1 is answered from another version of the file, with a refusal, or never to its end; afterwards as before."""
    need_urls()
    if not NAMES:
        skip_test("mpi", "no MPI here")
    surroundings = mpi4py_for(FIRST, tmp_path)
    need_mpi4py(FIRST, surroundings)
    files = {f"/part{rank}.npy": part(rank) for rank in range(RANKS)}
    offset = len(files["/part1.npy"]) - ROWS * WIDTH * 8 + BAD * WIDTH * 8
    fault = {"changed": faults.etag('"v2"'), "refused": faults.status(403), "cut": faults.cut(0)}[what]
    says = {"changed": "changed|version", "refused": "403", "cut": "byte"}[what]
    with HttpServer(files) as server:
        server.fault(fault, path="/part1.npy", when=lambda request: (request.first_last() or (0,))[0] == offset)
        url = server.url("/partRANK.npy") + "?signature=secret"
        words = [*command(FIRST, RANKS), *separately(tmp_path), sys.executable, str(PROGRAM), url, str(ROWS), str(WIDTH), str(BAD), says]
        done = subprocess.run(words, capture_output=True, text=True, env=surroundings, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed(tmp_path) == "".join(f"as expected on rank {rank}\n" for rank in range(RANKS)), done.stdout + done.stderr
    assert "secret" not in done.stdout + done.stderr
