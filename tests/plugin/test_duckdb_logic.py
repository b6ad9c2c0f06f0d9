# SPDX-License-Identifier: MIT
"""The SQL of duckdb_sql/*.test on the DuckDB of this Python, and on the command line where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from duckdb_data import host, write_all
from duckdb_logic import Record, records, run, run_file

import libgather.duckdb
from support.skip import skip_test

FILES = sorted(Path(__file__).with_name("duckdb_sql").glob("*.test"))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("duckdb"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file(data, path):
    duckdb = host()
    with libgather.duckdb.connect() as connection:
        assert run_file(connection, path, data, duckdb.__version__, duckdb.Error) >= 3


def test_the_runner_can_fail(data):
    """Wrong rows, wrong types, a wrong message and a missing error are found."""
    duckdb = host()
    good = Record(1, ["query", "I"], "SELECT 1", ["1"])
    with libgather.duckdb.connect() as connection:
        run(connection, good, data, duckdb.Error)
        for head, sql, wanted in ((["query", "I"], "SELECT 1", ["2"]), (["query", "R"], "SELECT 1", ["1"]),
                                  (["query", "I"], "SELECT 1", []), (["statement", "error"], "SELECT 1", ["x"]),
                                  (["statement", "error"], "SELECT x", ["other"]), (["statement", "ok"], "SELECT x", [])):
            with pytest.raises(AssertionError):
                run(connection, Record(1, head, sql, wanted), data, duckdb.Error)


def test_every_file_is_parsed():
    assert len(FILES) >= 5 and sum(len(records(path)) for path in FILES) >= 100


def test_command_line(data):
    """The command duckdb: GATHER_DUCKDB_CLI, or on the PATH."""
    program = os.environ.get("GATHER_DUCKDB_CLI") or shutil.which("duckdb")
    if not program:
        skip_test("command-line", "DuckDB's command is not installed")
    sql = (f"LOAD '{libgather.duckdb.extension_path()}'; SELECT take_row('{data}/emb.npy', i) AS row FROM range(2) t(i);"
           f"SELECT name FROM tensors('{data}/model.safetensors') WHERE len(name) < 4 ORDER BY name; SELECT take_row('{data}/emb.npy', 10);")
    done = subprocess.run([program, "-unsigned", "-csv", "-c", sql], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["row", '"[0.0, 0.25, 0.5, 0.75]"', '"[1.0, 1.25, 1.5, 1.75]"', "name", "bf", "emb", "f8"]
    assert f"take_row: id 10 is out of range [0, 9] of the rows of {data}/emb.npy" in done.stderr
