# SPDX-License-Identifier: MIT
"""plugin_duckdb.py [--rows N] [--rounds N] [--folder F] [--json FILE]: rows of vectors in SQL: the extension, and what else one can do.

The task: of a table of metadata take some rows at random, and of each its vector of 128 float32; the result is the sum of two elements
of each vector, so that what is measured is finding the rows.

    take_row   the extension on the .npy file
    rows       the same by rows(), with the ids as a list in a variable
    table      a join with a table of DuckDB's own that holds the vectors (FLOAT[128])
    parquet    a join with a Parquet file of them
    python     the ids fetched with fetchnumpy(), then rows of numpy.memmap

The five take turns; the numbers are medians of the rounds. Warm: all files are in the page cache and the database has been open.
Cold: the database is opened anew and the files are dropped from the page cache.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

import libgather.duckdb

DIM = 128
COUNTS = [1, 100, 10_000, 100_000]
SUM = f"SELECT sum(v[1]::DOUBLE + v[{DIM}])"


def make(folder: Path, rows: int) -> None:
    """The files: x.npy, x.parquet, x.duckdb with the tables vectors and meta."""
    random = np.random.default_rng(1)
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (rows, DIM))
    for first in range(0, rows, 50_000):
        x[first : first + 50_000] = random.random((min(50_000, rows - first), DIM), np.float32)
    x.flush()
    with libgather.duckdb.connect(str(folder / "x.duckdb")) as con:
        con.execute(f"CREATE TABLE vectors AS SELECT id, row AS v FROM rows('{folder}/x.npy', '', NULL)")
        con.execute(f"COPY vectors TO '{folder}/x.parquet' (FORMAT parquet)")
        con.execute(f"CREATE TABLE meta AS SELECT i AS row, 'title ' || i AS title, hash(i) AS h FROM range({rows}) t(i)")


def chosen(count: int) -> str:
    return f"(SELECT row FROM meta ORDER BY h LIMIT {count})"


def ask(con, folder: Path, way: str, count: int) -> float:
    """The sum, one way."""
    if way == "take_row":
        return con.execute(f"{SUM} FROM (SELECT take_row('{folder}/x.npy', row) AS v FROM picked)").fetchone()[0]
    if way == "rows":
        con.execute("SET VARIABLE ids = (SELECT list(row) FROM picked)")
        return con.execute(f"{SUM} FROM (SELECT row AS v FROM rows('{folder}/x.npy', '', getvariable('ids')))").fetchone()[0]
    if way == "table":
        return con.execute(f"{SUM} FROM picked JOIN vectors ON id = row").fetchone()[0]
    if way == "parquet":
        return con.execute(f"{SUM} FROM picked JOIN '{folder}/x.parquet' ON id = row").fetchone()[0]
    ids = con.execute("SELECT row FROM picked").fetchnumpy()["row"]
    taken = np.load(folder / "x.npy", mmap_mode="r")[ids]
    return float(taken[:, 0].astype(float).sum() + taken[:, DIM - 1].astype(float).sum())


WAYS = ["take_row", "rows", "table", "parquet", "python"]


def opened(folder: Path, count: int):
    con = libgather.duckdb.connect(str(folder / "x.duckdb"))
    con.execute(f"CREATE TEMP TABLE picked AS {chosen(count)}")
    return con


def drop(folder: Path) -> None:
    """Drops the files from the page cache."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(con, folder: Path, way: str, count: int, wanted: float) -> float:
    start = time.perf_counter()
    found = ask(con, folder, way, count)
    seconds = time.perf_counter() - start
    assert abs(found - wanted) < 1e-6 * abs(wanted), (way, found, wanted)
    return seconds


def warm(folder: Path, count: int, rounds: int) -> dict[str, float]:
    """Medians in milliseconds."""
    with opened(folder, count) as con:
        wanted = ask(con, folder, "python", count)
        for way in WAYS:
            timed(con, folder, way, count, wanted)
        times = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way in WAYS:
                times[way].append(timed(con, folder, way, count, wanted))
    return {way: round(1000 * statistics.median(times[way]), 3) for way in WAYS}


def cold(folder: Path, count: int, rounds: int) -> dict[str, float]:
    times = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            with opened(folder, count) as con:
                wanted = ask(con, folder, "python", count)
            with opened(folder, count) as con:
                drop(folder)
                times[way].append(timed(con, folder, way, count, wanted))
    return {way: round(1000 * statistics.median(times[way]), 3) for way in WAYS}


def table(results: list[dict]) -> str:
    """Markdown."""
    lines = ["| rows | state | " + " | ".join(f"`{way}`" for way in WAYS) + " |", "| ---: | --- |" + " ---: |" * len(WAYS)]
    for each in results:
        lines.append(f"| {each['count']:,} | {each['state']} | " + " | ".join(f"{each['ms'][way]:,.1f}" for way in WAYS) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the files go for a while; default: a temporary folder")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        make(folder, given.rows)
        for count in COUNTS:
            results.append({"count": count, "state": "warm", "ms": warm(folder, count, given.rounds)})
            results.append({"count": count, "state": "cold", "ms": cold(folder, count, max(3, given.rounds // 2))})
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    print(table(results))
    about = {"rows": given.rows, "dim": DIM, "rounds": given.rounds, "duckdb": duckdb.__version__, "numpy": np.__version__,
             "machine": f"{os.cpu_count()} CPUs, {platform.machine()}", "load": os.getloadavg(), "date": time.strftime("%Y-%m-%d"), "sizes": sizes}
    print(json.dumps(about))
    if given.json:
        given.json.write_text(json.dumps({"about": about, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
