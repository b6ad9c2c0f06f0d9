# SPDX-License-Identifier: MIT
"""Two network namespaces as two nodes: rows over TCP. script/mpi --network measures the share of the rate; here they must arrive."""

import json
import re

import pytest
from mpi_network import Namespaces, missing, run
from support.skip import skip_test


@pytest.fixture
def spaces():
    why = missing()
    if why:
        skip_test("netns", why)
    with Namespaces() as found:
        yield found


def test_rows_between_namespaces(spaces, tmp_path):
    words = "--rows 1000 --bytes 100 --ids 500 --takes 2 --remote 1 --fresh 1 --seconds 60".split()
    found = json.loads(run(spaces, tmp_path, "mpi_timed", words, timeout=120))
    assert found["ranks"] == 2 and found["received"] > 20_000  # mpi_timed compares each row


def test_cases_between_namespaces(spaces, tmp_path):
    """Random cases as those of test_mpi_cases.py; script/mpi --cases runs many."""
    said = run(spaces, tmp_path, "mpi_cases", [tmp_path, 500, 8], ranks=4, timeout=300)
    assert re.match(r"8 cases on 1 to 4 ranks equal: \d+ takes, ", said), said
