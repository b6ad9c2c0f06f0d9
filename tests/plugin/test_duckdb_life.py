# SPDX-License-Identifier: MIT
"""The extension over time: threads, many databases, fork, files that change, hostile files. Each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from duckdb_data import host

from support.sample import STEP

START = f"""
TURNS = {100 // min(STEP, 4)}
"""
START += """
import os, re, sys, threading
import duckdb
import numpy as np
import libgather.duckdb
folder = sys.argv[1]
x = np.load(folder + "/x.npy")
call = f"take_row('{folder}/x.npy', "
def tasks():
    return len(os.listdir("/proc/self/task"))
"""


@pytest.fixture
def child(tmp_path):
    """Runs Python code in a process of its own, where x.npy is a table of 1000 rows of 16."""
    host()
    np.save(tmp_path / "x.npy", np.random.default_rng(1).random((1000, 16), np.float32))

    def run(code: str) -> None:
        done = subprocess.run([sys.executable, "-c", START + textwrap.dedent(code) + "print('done')", str(tmp_path)], capture_output=True, text=True, timeout=400, check=False)
        said = done.stdout.splitlines()[-1:]  # DuckDB draws a progress bar if a query takes long
        assert (done.returncode, said) == (0, ["done"]), f"{done.returncode}\n{done.stdout}\n{done.stderr}"

    return run


def test_threads_share_a_table(child):
    """8 threads with cursors of their own, by each engine; all get their rows."""
    child("""
    con = libgather.duckdb.connect()
    faults = []
    def work(number):
        cursor, random = con.cursor(), np.random.default_rng(number)
        for turn in range(12):
            engine = ["auto", "pread", "mmap"][turn % 3]
            ids = random.integers(0, 1000, 3000)
            sql = f"SELECT {call} id, 'engine={engine}, memory=4MiB') FROM (SELECT unnest($1) AS id)"
            rows = [row[0] for row in cursor.execute(sql, [ids.tolist()]).fetchall()]
            if not np.array_equal(np.array(rows, np.float32), x[ids]):
                faults.append((number, turn))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not faults, faults
    """)


def test_many_databases(child):
    """100 databases, in a sample 25, opened, used and closed: no thread, file or mapping is left."""
    child("""
    def use():
        con = libgather.duckdb.connect(config={"threads": "1"})
        assert con.execute(f"SELECT {call} 3, 'engine=pread')").fetchone()[0] == x[3].tolist()
        assert con.execute(f"SELECT count(*) FROM rows('{folder}/x.npy', '', NULL)").fetchone() == (1000,)
        con.close()
    def left():
        return tasks(), len(os.listdir("/proc/self/fd")), open("/proc/self/maps").read().count("x.npy")
    use()
    before = left()
    for turn in range(TURNS):
        use()
    assert left() == before and before[2] == 0, (before, left())
    """)


def test_fork(child):
    """A child process has a database of its own, and the parent's goes on."""
    child("""
    con = libgather.duckdb.connect(config={"threads": "1"})
    sql = f"SELECT sum(({call} i))[5]::DOUBLE) FROM range(1000) t(i)"
    wanted = con.execute(sql).fetchone()
    pid = os.fork()
    if pid == 0:
        own = libgather.duckdb.connect(config={"threads": "1"})
        os._exit(0 if own.execute(sql).fetchone() == wanted else 1)
    assert os.waitpid(pid, 0)[1] == 0 and con.execute(sql).fetchone() == wanted
    """)


def test_a_changed_file_is_read_again(child):
    """Replaced, written in place, of another shape, gone; in prepared statements too."""
    child("""
    con = libgather.duckdb.connect()
    path = folder + "/x.npy"
    def take(i):
        return con.execute(f"SELECT {call} $1)", [i]).fetchone()[0]
    assert take(5) == x[5].tolist()
    np.save(folder + "/new.npy", x + 1)
    os.replace(folder + "/new.npy", path)
    assert take(5) == (x + 1)[5].tolist()
    con.execute(f"PREPARE p AS SELECT {call} $1::BIGINT); PREPARE r AS SELECT row FROM rows('{path}', '', [5])")
    np.save(path, x + 2)
    assert con.execute("EXECUTE p(5)").fetchone()[0] == (x + 2)[5].tolist()
    assert list(con.execute("EXECUTE r").fetchone()[0]) == (x + 2)[5].tolist()
    np.save(path, x[:, :3])
    assert con.execute("EXECUTE p(5)").fetchone()[0] == x[5, :3].tolist()
    try:
        row = list(con.execute("EXECUTE r").fetchone()[0])  # DuckDB may plan it again
        assert row == x[5, :3].tolist()
    except duckdb.Error as error:
        assert "has changed: prepare the statement again" in str(error), error
    os.remove(path)
    for ask in (lambda: take(5), lambda: con.execute("EXECUTE p(5)").fetchall()):
        try:
            ask()
            raise SystemExit("no error")
        except duckdb.Error as error:
            assert "cannot open it" in str(error), error
    """)


def test_a_truncated_file_is_an_error(child):
    """Cut while the table is open: no crash, whichever way it is read."""
    child("""
    con = libgather.duckdb.connect()
    for engine in ("mmap", "pread", "auto"):
        np.save(folder + "/cut.npy", np.zeros((20000, 64), np.float32))
        sql = f"SELECT sum(take_row('{folder}/cut.npy', (i * 7919) % 20000, 'engine={engine}')[1]) FROM range(20000) t(i)"
        assert con.execute(sql).fetchone() == (0.0,)
        os.truncate(folder + "/cut.npy", 4096)
        try:
            con.execute(sql).fetchall()
            raise SystemExit("no error")
        except duckdb.Error as error:
            assert "cut.npy" in str(error), error
    """)


def test_hostile_files(child):
    """Every prefix of small files, and files with bytes changed: rows or an error, never a crash."""
    child("""
    con = libgather.duckdb.connect()
    from pathlib import Path
    np.save(folder + "/s.npy", x[:3, :4])
    np.savez(folder + "/s.npz", a=x[:3, :4])
    import json, struct
    text = json.dumps({"a": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}}).encode()
    Path(folder, "s.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + x[:3, :4].tobytes())
    random, tries, errors = np.random.default_rng(3), 0, 0
    for name in ("s.npy", "s.npz", "s.safetensors"):
        good = Path(folder, name).read_bytes()
        bad = [good[:n] for n in range(0, len(good), 7)]
        for _ in range(60):
            changed = bytearray(good)
            for place in random.integers(0, min(len(good), 130), 2):
                changed[place] = random.integers(0, 256)
            bad.append(bytes(changed))
        for number, content in enumerate(bad):
            path = f"{folder}/bad{number % 2}"
            Path(path).write_bytes(content)
            for sql in (f"SELECT take_row('{path}', 2)", f"FROM tensors('{path}')", f"FROM rows('{path}', '', [0, 2])"):
                tries += 1
                try:
                    con.execute(sql).fetchall()
                except duckdb.Error:
                    errors += 1
    assert tries > 500 and errors > 200, (tries, errors)
    for text in ("", ":", "/", "x" * 5000, "/dev/null", folder, "\\x01", "a:b:c"):
        for sql in ("SELECT take_row($1, 0)", "SELECT take_row($1, $1, 0)", "SELECT take_row($1, 0, $1)"):
            try:
                con.execute(sql, [text]).fetchall()
                raise SystemExit(f"no error: {sql} {text}")
            except duckdb.Error:
                pass
    """)


def test_many_tables_and_ids(child):
    """More files than are kept open; a list of a million ids; rows too large for memory are an error."""
    child("""
    con = libgather.duckdb.connect()
    for number in range(150):
        np.save(f"{folder}/t{number}.npy", x[number : number + 2])
    sql = f"SELECT i, take_row('{folder}/t' || i || '.npy', 1) FROM range(150) t(i) ORDER BY i"
    for turn in range(2):
        assert all(row == x[i + 1].tolist() for i, row in con.execute(sql).fetchall())
    kept = set(re.findall(r"/t\\d+\\.npy", open("/proc/self/maps").read()))
    assert 32 <= len(kept) <= 66, kept
    con.execute("SET VARIABLE ids = (SELECT list(i * 7 % 1000) FROM range(1000000) t(i))")
    total = con.execute(f"SELECT sum(row[1]::DOUBLE) FROM rows('{folder}/x.npy', '', getvariable('ids'))").fetchone()[0]
    assert abs(total - x[:, 0].astype(float).sum() * 1000) < 1e-3 * total
    with open(folder + "/wide.raw", "wb") as file:
        file.truncate(1 << 36)
    try:
        con.execute(f"SELECT take_row('{folder}/wide.raw', i % 2, 'type=int8, row=34359738368') FROM range(2000) t(i)").fetchall()
        raise SystemExit("no error")
    except (duckdb.Error, MemoryError):
        pass
    assert con.execute(f"SELECT {call} 1)").fetchone()[0] == x[1].tolist()
    """)


def test_refusals_in_words(child):
    """A database that allows no unsigned extensions; a platform that the extension is not for; loading twice."""
    child("""
    plain = duckdb.connect()
    try:
        libgather.duckdb.load(plain)
        raise SystemExit("no error")
    except RuntimeError as error:
        assert "allow_unsigned_extensions" in str(error)
    try:
        libgather.duckdb.extension_path("osx_arm64")
        raise SystemExit("no error")
    except ValueError as error:
        assert "osx_arm64" in str(error)
    con = libgather.duckdb.connect()
    libgather.duckdb.load(con)
    assert con.execute(f"SELECT {call} 1)").fetchone()[0] == x[1].tolist()
    os.environ["XDG_CACHE_HOME"] = folder
    own = con.execute("PRAGMA platform").fetchone()[0].removesuffix("_gcc4")
    copy = libgather.duckdb.extension_path(own + "_gcc4")
    assert copy.startswith(folder) and copy == libgather.duckdb.extension_path(own + "_gcc4")
    first, second = open(libgather.duckdb.extension_path(), "rb").read(), open(copy, "rb").read()
    assert len(first) == len(second) and second[-512:].count(b"_gcc4") == 1 and first[:-512] == second[:-512]
    """)
