# SPDX-License-Identifier: MIT
"""Two network namespaces as two nodes: rows over TCP. script/mpi --network measures the share of the rate; here they must arrive."""

from pathlib import Path

from mpi_network import Namespaces, missing, run
from support.skip import skip_test


def test_rows_between_namespaces(tmp_path):
    why = missing()
    if why:
        skip_test("netns", why)
    with Namespaces() as spaces:
        found = run(spaces, Path(tmp_path), "--rows 1000 --bytes 100 --ids 500 --takes 2 --remote 1 --fresh 1 --seconds 60".split(), timeout=120)
    assert found["ranks"] == 2 and found["received"] > 20_000  # mpi_timed compares each row
