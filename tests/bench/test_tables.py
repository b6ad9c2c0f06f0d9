# SPDX-License-Identifier: MIT
"""script/bench tables works: the file is what every library takes it for, wrong rows and lost processes are told, the
limit of memory is in force, results become a page. Times are not judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from benchmark import BUILD, SOURCE
from support.refusal import refuses
from support.skip import skip_test

MIB = 1 << 20
BYTES = 4 * MIB


def run(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "bench"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, str(SOURCE / "bench/tables_run.py"), *arguments], env=environment, text=True, capture_output=True, timeout=300
    )


@pytest.fixture(scope="module")
def disk():
    """A folder of the build, which stands on a disk more often than the folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="bench-tables-", dir=BUILD) as name:
        try:
            os.close(os.open(f"{name}/try", os.O_RDWR | os.O_CREAT | os.O_DIRECT))
        except OSError as error:
            skip_test("direct", f"{name}: {error}")
        yield Path(name)


@pytest.fixture
def table(modules, disk):
    from tables_file import DataFile

    file = DataFile(disk / "table.data", BYTES)
    file.make()
    return file


def expected(ids, row_bytes: int):
    """The rows, by another hand: word number i is a mixture of the bits of i."""
    import numpy as np

    words = row_bytes // 8
    x = (ids[:, None] * words + np.arange(words)).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def ways_of(tables_peers):
    ways, _, _ = tables_peers.load(())
    return [*ways, *tables_peers.pools((3,)), tables_peers.Way("memcpy", tables_peers.memcpy)]


@pytest.mark.parametrize("row_bytes", [64, 4096, 65536])
def test_everybody_reads_the_same_rows(table, row_bytes):
    """Each library takes the file for its own, with rows as long as they should be."""
    import numpy as np
    import tables_peers

    ids = np.random.default_rng(1).integers(0, BYTES // row_bytes, 40)
    ids[:3] = BYTES // row_bytes - 1, 0, ids[5]
    wanted = expected(ids, row_bytes)
    for way in ways_of(tables_peers):
        table.become(way.form, row_bytes)
        out = np.zeros((ids.size, row_bytes // 8), np.uint64)
        try:
            took = way.open(table.path, row_bytes)(ids, out)
        except OSError as error:
            if "O_DIRECT" not in way.name and "uring" not in way.name:
                raise
            skip_test("direct", f"{way.name}: {error}")
        assert np.array_equal(out, wanted), way.name
        assert took is None or took > 0, way.name


def test_all_the_libraries_were_there(modules):
    import tables_peers

    _, _, absent = tables_peers.load(())
    for name in ("h5py", "safetensors", "pyarrow"):
        if name in absent:
            skip_test(name, absent[name])


def test_words_are_checked(table):
    import gather_bench_native as native
    import numpy as np

    ids = np.array([7, 0, 100])
    rows = expected(ids, 64)
    assert native.words_check(rows.ctypes.data, ids.ctypes.data, 3, 64) == -1
    rows[1, 7] ^= np.uint64(1)
    assert native.words_check(rows.ctypes.data, ids.ctypes.data, 3, 64) == 1
    assert np.array_equal(np.fromfile(table.path, np.uint64, offset=8192), expected(np.arange(BYTES // 64), 64).reshape(-1))


def test_the_page_cache_is_seen_and_dropped(table):
    table.become("npy", 4096)
    table.path.read_bytes()
    if table.resident() < BYTES // 2:
        skip_test("page-cache", "this file system does not keep pages, or does not tell of them")
    assert table.drop() == 0
    import numpy as np

    table.fill_cache(4096, np.arange(0, 1024, 64))
    assert 16 * 4096 <= table.resident() < BYTES // 2


def test_orders(modules):
    import numpy as np
    import tables_cases

    for case in tables_cases.cases((64, 65536), tables_cases.ORDERS, 64 * MIB):
        ids = tables_cases.ids_for(case, 512, 1 << 14, 1)
        assert ids.dtype == np.int64 and ids.min() >= 0 and ids.max() < case.rows and ids.size <= 1 << 14, case
        assert np.array_equal(np.sort(ids), np.sort(tables_cases.again(case, ids, 5))), case
        assert tables_cases.blocks(case, ids) == len({int(i) * case.row_bytes // case.block for i in ids}), case
    random, rising, zipf, clustered = (
        tables_cases.draw(case, 4096, 2) for case in tables_cases.cases((64,), tables_cases.ORDERS, 64 * MIB)
    )
    assert (np.diff(rising) >= 0).all() and not (np.diff(random) >= 0).all()
    assert np.unique(zipf, return_counts=True)[1].max() > 100 > np.unique(random, return_counts=True)[1].max()
    assert (np.diff(clustered) == 1).sum() == 4096 // 32 * 31


def bench_of(table, ways):
    """Whoever measures, with little of everything."""
    import tables_measure

    settings = tables_measure.Settings(1, True, 64 * MIB)
    settings.blocks, settings.rounds, settings.warm_rounds, settings.cold_ns, settings.working_set = 64, 2, 3, 2e7, 256 << 10
    bench = tables_measure.Bench(table, table, ways, settings, 16 * MIB)
    for block in (4096,):
        bench.disk[block] = tables_measure.disk(8)
    bench.pool[4096] = tables_measure.replace(tables_measure.pools((4,))[0], name="pread pool")
    return bench


def kill_itself(path, row_bytes):
    os.kill(os.getpid(), 9)


def test_whoever_is_wrong_or_lost_has_no_time(table):
    import tables_cases
    import tables_peers
    from tables_peers import Way

    ways = [
        Way("idle", lambda path, row_bytes: lambda ids, out: None),
        Way("first row only", lambda path, row_bytes: lambda ids, out: out.__setitem__(slice(None), expected(ids[:1], row_bytes))),
        Way("failing", lambda path, row_bytes: 1 / 0),
        Way("killed", kill_itself),
        Way("of no format", tables_peers.memmap(), form="none"),
        Way(tables_peers.MEMMAP, tables_peers.memmap()),
    ]
    bench = bench_of(table, ways)
    case = tables_cases.Case(4096, "random", BYTES // 4096, 4096)
    for row in (bench.cold(case, time.monotonic() + 60), bench.warm(case, table, "resident", 0)):
        found = {way["way"]: way for way in row["ways"]}
        if row["state"] == "cold":
            assert found["of no format"]["error"] == "KeyError: 'none'"
            assert (
                found["idle"]["error"] == "wrong rows, the first at 0"
                and found["first row only"]["error"] == "wrong rows, the first at 1"
            )
            assert found["failing"]["error"].startswith("ZeroDivisionError") and "more memory" in found["killed"]["error"]
            assert "rows_s" not in found["idle"] and found["the disk"]["rows_s"]["rounds"] == 4
        good = found[tables_peers.MEMMAP]
        assert good["rows_s"]["low"] <= good["rows_s"]["median"] <= good["rows_s"]["high"] and good["rows_s"]["low"] > 0


def test_wrong_rows_of_ours_end_the_run(table):
    import tables_cases
    from tables_peers import OURS, Way

    bench = bench_of(table, [Way("libgather auto", lambda path, row_bytes: lambda ids, out: None, OURS)])
    with pytest.raises(SystemExit, match="libgather is wrong"):
        bench.cold(tables_cases.Case(4096, "random", BYTES // 4096, 4096), time.monotonic() + 60)


def test_a_process_that_does_not_answer_is_ended(modules):
    from tables_child import Child

    child = Child(lambda talk: time.sleep(60))
    assert child.hear(0.1) == {"error": "took longer than 0.1 s"} and child.hear(1) == child.ask({}, 1)
    refuses(ChildProcessError, os.waitpid, child.pid, os.WNOHANG)


def test_slow_ways_stop_in_time(modules):
    import numpy as np
    from tables_child import within

    asked = []

    def take(ids, out):
        asked.append(ids.size)
        return ids.size * 1000

    done, ns = within(take, np.arange(100000), np.zeros(100000), 1e6, False)
    assert done == sum(asked) and ns == done * 1000 and 1000 <= done < 2000
    assert within(take, np.arange(100000), np.zeros(100000), 1e6, True) == (100000, 10**8)


def in_a_process(code: str) -> subprocess.CompletedProcess:
    paths = f"import sys; sys.path[:0] = [{str(SOURCE / 'bench')!r}, {str(BUILD / 'bench')!r}]\n"
    return subprocess.run([sys.executable, "-c", paths + code], text=True, capture_output=True, timeout=120)


def test_the_limit_is_in_force():
    """A process that wants more than it is ended, one that wants less is not; afterwards nothing of it is left."""
    ran = in_a_process(f"""
import json, tables_limit
try:
    limit = tables_limit.enter({128 * MIB}, 1)
except tables_limit.Refused as why:
    print(json.dumps(str(why)))
    raise SystemExit
proof = tables_limit.proof(limit, {128 * MIB})
limit.leave()
print(json.dumps([proof, str(limit.folder), limit.folder.exists()]))
""")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    if isinstance(found, str):
        assert "no limit of memory can be set here" in found
        skip_test("cgroup", found)
    proof, _, still_there = found
    assert proof["in_force"] and proof["bytes"] == 128 * MIB and "SIGKILL" in proof["more_ended"] and proof["less_was_had"]
    assert not still_there


def test_without_a_limit_nothing_is_measured(modules, monkeypatch):
    import tables_limit

    def none(bytes_):
        raise OSError("nothing here")

    for name in ("by_version_1", "by_version_2"):
        monkeypatch.setattr(tables_limit, name, none)
    monkeypatch.setattr(tables_limit, "again_in_a_scope", lambda bytes_: None)
    refuses(tables_limit.Refused, tables_limit.enter, 64 * MIB, 1 << 20, says="nothing here.*--bytes.*--no-limit")


def test_version_2_of_cgroups(modules, monkeypatch, tmp_path):
    """What is written where, in a folder that looks like one."""
    import tables_limit

    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("cpu\n")
    monkeypatch.setattr(tables_limit, "mounts", lambda kind: [(tmp_path, "rw")] if kind == "cgroup2" else [])
    limit = tables_limit.enter(64 * MIB, 1)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory"
    assert limit.version == 2 and limit.number("limit") == 64 * MIB
    assert (limit.folder / "cgroup.procs").read_text() == str(os.getpid())
    (limit.folder / "memory.peak").write_text("4096\n")
    assert limit.number("peak") == 4096 and limit.number("now") == 0


@pytest.fixture(scope="module")
def some(disk, tmp_path_factory) -> dict:
    """The results of a run on a tiny file."""
    folder = tmp_path_factory.mktemp("some")
    ran = run("--quick", "--no-limit", "--memory", "32MiB", "--bytes", "16MiB", "--rows", "4KiB", "--orders", "random", "--depths", "1,16",
              "--minutes", "0.02", "--seconds", "0.1", "--folder", str(disk / "files"), "--json", str(folder / "tables.json"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (disk / "files").exists()
    return json.loads((folder / "tables.json").read_text(encoding="utf-8"))


def test_results(some):
    assert {(row["state"], row["name"]) for row in some["rows"]} == {(state, "4 KiB random") for state in ("cold", "warm", "resident")}
    names = {way["way"] for row in some["rows"] for way in row["ways"]}
    assert {
        "the disk", "pread pool", "numpy memmap", "memmap, MADV_RANDOM", "memmap, WILLNEED", "libgather auto", "libgather mmap",
        "libgather pread", "libgather uring", "memcpy from the mapped file",
    } <= names
    assert not some["limit"]["in_force"] and some["machine"]["commit"] and some["machine"]["file_system"]
    assert {one["way"] for one in some["memory"]} and all(one["samples"] and one["rows"] > 0 for one in some["memory"])
    assert {one["depth"] for one in some["depths"]} == {1, 16}
    for row in some["rows"]:
        for way in row["ways"]:
            assert "wrong rows" not in way.get("error", ""), (row["name"], way)


def test_parts_of_the_page(modules, some):
    import summary_page
    import tables_page

    page = summary_page.tables(some)
    assert "No limit was in force" in page
    for row in some["rows"]:
        assert page.count(f"| {row['name']} |") >= (row["state"] == "cold"), row["name"]
    for name in {way["way"] for row in some["rows"] for way in row["ways"]} & set(tables_page.SHOWN):
        assert f"| {name} |" in page, name
    shown = (SOURCE / "docs/measured/tables.md").read_text(encoding="utf-8")
    for head in ("| `libgather auto` | goal | lowest | median | rows that reach it |", "| who | limit, MiB | peak, MiB | with the page cache, MiB | rows/s |"):
        assert head in page and head in shown
    (size, drawn), = tables_page.drawn(some).items()
    assert size == "rows of 4 KiB" and [value for _, value, _ in drawn] == sorted((value for _, value, _ in drawn), reverse=True)
    assert {"limit of the disk", "libgather auto", "numpy memmap"} <= {name for name, _, _ in drawn} and "libgather mmap" not in str(drawn)
    assert summary_page.draw_tables(some).count("<circle") + summary_page.draw_tables(some).count('class="limit"') == len(drawn) + 3  # the legend


def made_row(state: str = "cold", **rates: float) -> dict:
    """A row whose ways have these medians."""
    names = {
        "ours": ("libgather auto", "ours"),
        "disk": ("the disk", "limit"),
        "memcpy": ("memcpy from the mapped file", "limit"),
        "memmap": ("numpy memmap", "peer"),
        "other": ("h5py", "peer"),
    }
    ways = [
        {"way": names[key][0], "kind": names[key][1], "rows_s": {"median": rate, "low": rate * 0.9, "high": rate * 1.1, "rounds": 3}}
        for key, rate in rates.items()
    ]
    return {"name": "a row", "state": state, "row_bytes": 64, "order": "random", "ids": 400, "blocks": 200, "block": 4096, "ways": ways}


def test_what_is_missed_and_lost_is_told(modules):
    """The limit of the disk is that of the blocks that the ids name; the fastest peer decides."""
    import tables_page
    import tables_summary

    row = made_row(ours=95, disk=50, memmap=10, other=200)
    assert tables_summary.limit(row) == 100 and tables_summary.ratios(row) == {"disk": 0.95, "memmap": 9.5}
    assert tables_summary.standing(row) == {"peer": "h5py", "ratio": 0.475, "verdict": "slower"}
    warm = made_row("warm", ours=89, memcpy=100, memmap=80)
    assert tables_summary.ratios(warm) == {"memcpy": 0.89} and tables_summary.standing(warm)["verdict"] == "even"
    results = {"rows": [row, warm, made_row("warm", ours=91, memcpy=100, memmap=20)]}
    assert tables_summary.missed(results) == [("cold", "a row", "memmap", 9.5), ("warm", "a row", "memcpy", 0.89)]
    assert tables_summary.share(results, "warm", "memcpy") == {"low": 0.89, "median": 0.9, "reached": 1, "of": 2}
    assert "| cold | a row | h5py | 0.475x |" in tables_page.slower(results)
    assert "No row is slower" in tables_page.slower({"rows": [made_row(ours=95, disk=50, memmap=1)]})
