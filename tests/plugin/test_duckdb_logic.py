# SPDX-License-Identifier: MIT
"""The SQL of duckdb_sql/*.test on the DuckDB of this Python, and on the command line where there is one. The files have the form of sqllogictest:
records are separated by empty lines; '#' begins a comment line.

    statement ok                  statement error
    SQL                           SQL
                                  ----
                                  a part of the message
    query COLUMNS [nosort|rowsort]
    SQL
    ----
    one line per row, values separated by tabs, as DuckDB writes them (NULL; (empty) for empty text)

COLUMNS has one letter per column: I integer, R real, T text, B bool, L list or array. A line `since VERSION` or `before VERSION`
before a record limits it to hosts from that version on, or older ones. ${DATA} is the folder with the data.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from duckdb_data import host, write_all
import libgather.duckdb
import pytest
from support.skip import skip_test

LETTERS = {
    "I": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    "R": ("FLOAT", "DOUBLE"),
    "T": ("VARCHAR", "BLOB"),
    "B": ("BOOLEAN",),
}


def letter_of(kind: str) -> str:
    """The letter of a DuckDB type."""
    return "L" if kind.endswith("]") else next((letter for letter, kinds in LETTERS.items() if kind in kinds), "?")


@dataclass
class Record:
    """One statement or query."""

    line: int
    head: list[str]
    sql: str
    wanted: list[str]
    since: tuple[int, ...] = (0,)
    before: tuple[int, ...] = (99,)


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.lstrip("v").split(".")[:3])


def record_of(number: int, lines: list[str]) -> Record:
    """One record; ValueError if it has no known head."""
    limits = {"since": (0,), "before": (99,)}
    while lines[0].split()[0] in limits:
        word, value = lines.pop(0).split()
        limits[word] = version(value)
        number += 1
    head = lines.pop(0).split()
    if head[0] not in ("statement", "query") or (head[0] == "statement" and head[1:] not in (["ok"], ["error"])):
        raise ValueError(f"line {number}: unknown record {head}")
    cut = lines.index("----") if "----" in lines else len(lines)
    return Record(number, head, "\n".join(lines[:cut]), lines[cut + 1 :], **limits)


def records(path: Path) -> list[Record]:
    """The records of a file."""
    found, block, first = [], [], 0
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            first = first if block else number
            block.append(line)
        elif block:
            found.append(record_of(first, block))
            block = []
    return found


def text_of(value: str | None) -> str:
    return "NULL" if value is None else value or "(empty)"


def ask(connection, sql: str) -> tuple[str, list[str]]:
    """The letters of the columns, and the rows as text by DuckDB itself."""
    kinds = [row[1] for row in connection.execute(f"DESCRIBE ({sql})").fetchall()]
    rows = connection.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({sql})").fetchall()
    return "".join(map(letter_of, kinds)), ["\t".join(map(text_of, row)) for row in rows]


def run(connection, record: Record, data: str, error_type: type[Exception]) -> None:
    """Runs one record; AssertionError with its line if it does something else."""
    sql = record.sql.replace("${DATA}", data)
    wanted = [line.replace("${DATA}", data) for line in record.wanted]
    where = f"line {record.line}: {sql}"
    if record.head[0] == "query":
        letters, rows = ask(connection, sql)
        order = sorted if "rowsort" in record.head else list
        assert (letters, order(rows)) == (record.head[1], order(wanted)), where
        return
    try:
        connection.execute(sql).fetchall()
    except error_type as error:
        message = "\n".join(wanted)
        assert record.head[1] == "error" and message and message in str(error), f"{where}\n{error}"
    else:
        assert record.head[1] == "ok", f"{where}: no error"


def run_file(connection, path: Path, data: str, host: str, error_type: type[Exception]) -> int:
    """Runs a file on a connection; returns how many records ran."""
    chosen = [record for record in records(path) if record.since <= version(host) < record.before]
    for record in chosen:
        run(connection, record, data, error_type)
    return len(chosen)


# ---- the tests

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
