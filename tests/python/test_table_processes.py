# SPDX-License-Identifier: MIT
#
# test_table_processes.py: one table used by many threads and by processes that fork or spawn, also while jobs are in flight; the GIL;
# and that nothing is kept or lost, whatever way a call goes. No test measures time.
"""Tables in files: threads, processes, leaks."""
from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import libgather
import test_memory
from support.refusal import refuses
from support.skip import skip_test
from table_files import ENGINES, same, save
from test_memory import few_objects  # noqa: F401  (a fixture)
from test_threads import in_a_child, long_switch_interval, runs_meanwhile  # noqa: F401

X = np.random.default_rng(3).integers(0, 255, (20_000, 64), np.uint8)
IDS = np.random.default_rng(5).integers(-20_000, 20_000, 30_000)
ROWS = X[IDS]
FEW = IDS[:100]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return save(tmp_path_factory.mktemp("tables"), X)


# ---- threads ----


@pytest.mark.parametrize("engine", ENGINES)
def test_many_threads_on_one_table(path, engine):
    """Takes, jobs, errors, statistics and memory that is short, all at once."""
    def work(i: int) -> bool:
        part = slice(i * 400, i * 400 + 700)
        job = table.submit(IDS[part])
        out = np.empty((700, 64), np.uint8)
        right = table.take(IDS[part], out=out, threads=1 + i % 2) is out and same(out, ROWS[part])
        error = refuses(libgather.GatherIndexError, table.take, [[0, 1], [2, 20_000 + i]])
        right &= error.position == (1, 1) and error.value == 20_000 + i and table.stats().takes > 0
        return right and same(job.wait(), ROWS[part]) and same(table[i - 20], X[i - 20])

    with libgather.open(path, engine=engine, memory="1MiB") as table, ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(48)))
        stats = table.stats()
        assert stats.takes == 48 * 3 and stats.rows == 48 * 1401 and stats.memory_peak <= 1 << 20


@pytest.mark.parametrize("engine", ["auto", "pread"])
def test_threads_that_share_a_pool(tmp_path, engine):
    """Large takes of many threads, all on one pool, with memory to read for one of them at a time: none waits for ever."""
    path = save(tmp_path, np.arange(1 << 20).reshape(-1, 32))
    program = f"""
import libgather, numpy as np, os
from concurrent.futures import ThreadPoolExecutor
file = os.open({path!r}, os.O_RDONLY)
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
ids = np.random.default_rng(1).integers(0, 1 << 15, 20_000)
wanted = np.arange(1 << 20).reshape(-1, 32)[ids]
with libgather.open({path!r}, engine={engine!r}, memory="1MiB") as table, ThreadPoolExecutor(6) as pool:
    print(all(pool.map(lambda _: (table.take(ids, threads=2) == wanted).all(), range(6))))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_one_job_many_waiters(path):
    """Whoever waits gets the same rows; whoever asks meanwhile gets an answer."""
    with libgather.open(path, engine="pread") as table, ThreadPoolExecutor(6) as pool:
        for _ in range(20):
            job = table.submit(IDS[:3000])
            answers = list(pool.map(lambda i: job.wait() if i % 2 else job.done, range(12)))  # noqa: B023
            rows = [answer for answer in answers if not isinstance(answer, bool)]
            assert all(row is rows[0] for row in rows) and same(rows[0], ROWS[:3000]) and job.done


def test_close_while_others_take(path):
    """Every call either has its rows or learns that the table is closed."""
    for engine in ENGINES:
        for _ in range(3):
            table, start = libgather.open(path, engine=engine), threading.Barrier(5)

            def work(i: int) -> int:
                start.wait()  # noqa: B023
                count = 0
                try:
                    while True:
                        rows = table.submit(FEW).wait() if i % 2 else table[IDS]  # noqa: B023
                        assert same(rows, ROWS[:100] if i % 2 else ROWS)
                        count += 1
                except libgather.GatherValueError as error:
                    assert "closed" in str(error)
                return count

            def close() -> None:
                start.wait()  # noqa: B023
                time.sleep(0.002)
                table.close()  # noqa: B023

            with ThreadPoolExecutor(5) as pool:
                found = [pool.submit(work, i) for i in range(4)]
                pool.submit(close).result()
                assert all(done.result() >= 0 for done in found)


LARGE = {
    "take": lambda table: table.take(IDS, threads=1),
    "brackets": lambda table: table[IDS],
    "submit": lambda table: table.submit(IDS),
    "slice": lambda table: table[:],
    "error": lambda table: pytest.raises(libgather.GatherIndexError, table.take, IDS * 2),
    "open": lambda table: libgather.open(table.path),
    "close": lambda table: libgather.open(table.path).close(),
}


@pytest.mark.parametrize("call", LARGE.values(), ids=LARGE)
def test_the_gil_is_released(path, call, long_switch_interval):  # noqa: F811
    with libgather.open(path) as table:
        assert any(runs_meanwhile(lambda: call(table)) for _ in range(3000))


WAITING = {"wait": lambda jobs: jobs[0].wait(), "end of a block": lambda jobs: jobs[0].__exit__(None, None, None), "dropped": list.clear}


@pytest.mark.parametrize("call", WAITING.values(), ids=WAITING)
def test_waiting_releases_the_gil(path, call, long_switch_interval):  # noqa: F811
    def runs(table: libgather.Table) -> bool:
        jobs = [table.submit(IDS)]
        return runs_meanwhile(lambda: call(jobs))

    with libgather.open(path) as table:
        assert any(runs(table) for _ in range(3000))


# ---- processes ----


@pytest.mark.parametrize("engine", ENGINES)
def test_fork(path, engine):
    """The child has the parent's table; jobs in flight stay the parent's, and are right there."""
    with libgather.open(path, engine=engine, memory="2MiB") as table:
        assert same(table[FEW], ROWS[:100])
        for _ in range(2):
            jobs = [table.submit(IDS[i::7]) for i in range(7)]

            def child() -> bool:
                for job in jobs:  # noqa: B023
                    if job.done:
                        return False
                    refuses(libgather.GatherValueError, job.wait, says="the process that this one was forked from")
                right = same(table[IDS], ROWS) and same(table.submit(FEW).wait(), ROWS[:100])
                right &= in_a_child(lambda: same(table[FEW], ROWS[:100])) == 0
                jobs.clear()  # noqa: B023
                gc.collect()
                table.close()
                return right and table.closed and same(libgather.open(path)[FEW], ROWS[:100])

            assert in_a_child(child) == 0
            assert all(same(job.wait(), ROWS[i::7]) for i, job in enumerate(jobs))
        assert same(table[IDS], ROWS)


def test_fork_while_others_take(path):
    """No lock is left held in the child, whatever the parent's threads are at."""
    stop = threading.Event()
    table = libgather.open(path)

    def keep_on(i: int) -> None:
        while not stop.is_set():
            job = table.submit(FEW)
            assert job.done in (True, False) and same(table[FEW], ROWS[:100]) and same(job.wait(), ROWS[:100])
            libgather.open(path).close()

    threads = [threading.Thread(target=keep_on, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    try:
        def child() -> bool:
            right = same(table[FEW], ROWS[:100]) and same(table.submit(FEW).wait(), ROWS[:100])
            table.close()
            return right

        codes = [in_a_child(child) for _ in range(5)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 5 and same(table[FEW], ROWS[:100])


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_multiprocessing(tmp_path, path, way):
    """A table from before the workers, one that is sent to them, and errors on their way back."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import multiprocessing, sys, warnings
import numpy as np
import libgather
warnings.simplefilter("ignore")
TABLE = libgather.open({path!r}, memory="1MiB")

def here(ids):
    return TABLE[ids].tobytes()

def sent(table):
    job = table.submit([1, 2])
    return table[[5, -1]].tobytes() + job.wait().tobytes() if table.shape == TABLE.shape else b""

def bad(ids):
    return TABLE[ids]

if __name__ == "__main__":
    x = np.load({path!r}, mmap_mode="r")
    jobs = [TABLE.submit(np.arange(i, 20000, 7)) for i in range(7)]
    with multiprocessing.get_context({way!r}).Pool(2) as pool:
        parts = [np.arange(i, i + 500) for i in range(0, 4000, 500)]
        assert pool.map(here, parts) == [x[part].tobytes() for part in parts]
        assert pool.apply(sent, (TABLE,)) == x[[5, -1, 1, 2]].tobytes()
        try:
            pool.apply(bad, ([3, 20007],))
        except libgather.GatherIndexError as error:
            print(error.position, error.value, error.bad_count, error.status)
    assert all((job.wait() == x[i::7]).all() for i, job in enumerate(jobs))
""", encoding="utf-8")
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert (ran.stdout, ran.stderr) == ("(1,) 20007 1 index_out_of_range\n", "")


def test_a_program_that_just_ends(path):
    """With tables open and jobs in flight, as scripts do."""
    program = f"import libgather; t = libgather.open({path!r}); jobs = [t.submit(range(i, 20000)) for i in range(50)]; u = t"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


# ---- leaks ----

SMALL = np.array([[1, 2, 0]])
BAD = np.array([[1, 2, 99_999]])
OUT = np.zeros((1, 3, 64), np.uint8)
WRONG = np.zeros((1, 3))

CALLS = {
    "take": lambda t: t.take(SMALL),
    "into": lambda t: t.take(SMALL, out=OUT),
    "brackets": lambda t: (t[5], t[SMALL], t[[1, 2]], t[1:5], t[SMALL, 1], t[...][0]),
    "fill": lambda t: t.take(BAD, mode="fill", fill_value=7),
    "fill wrong": lambda t: t.take(BAD, mode="fill", fill_value="nine"),
    "bad index": lambda t: t.take(BAD, out=OUT),
    "bad type of indices": lambda t: t.take(WRONG),
    "bad out": lambda t: t.take(SMALL, out=WRONG),
    "bad shape": lambda t: t.take(SMALL, out=OUT[:, 0]),
    "bad keyword": lambda t: t.take(SMALL, foo=SMALL),
    "bad brackets": lambda t: t[SMALL, SMALL],
    "job": lambda t: t.submit(SMALL[:, ::2]).wait(),
    "job into": lambda t: t.submit(SMALL, out=OUT).wait(),
    "job, dropped": lambda t: t.submit(SMALL, out=OUT, mode="fill", fill_value=3),
    "job in a block": lambda t: t.submit(SMALL).__enter__().__exit__(None, None, None),
    "job, bad": lambda t: t.submit(BAD, out=OUT),
    "job, bad out": lambda t: t.submit(SMALL, out=WRONG),
    "what it is": lambda t: (t.shape, t.dtype, t.parts, t.stats(), t.name, t.type, t.format, repr(t), t.closed, t.nbytes, len(t)),
    "libgather.take": lambda t: libgather.take(t, SMALL, axis=0),
}
FILES = {
    "open": lambda path: libgather.open(path),
    "open and take": lambda path: libgather.open(path)[SMALL],
    "open and submit": lambda path: libgather.open(path).submit(SMALL),
    "open, close, take": lambda path: libgather.open(path).__exit__()[0],
    "open parts": lambda path: libgather.open([path, path]),
    "open nothing": lambda path: libgather.open(path + "x"),
    "open as raw": lambda path: libgather.open(path, dtype=[("a", "u1"), ("b", "<u2")], shape=(-1, 2)),
    "open wrongly": lambda path: libgather.open([path, path], engine="warp"),
}


@pytest.fixture(scope="module")
def table(path):
    with libgather.open(path, engine="pread") as table:
        yield table


def watched(table) -> tuple:
    return table, SMALL, BAD, OUT, WRONG, table.dtype, libgather.Table, libgather.TableJob, libgather.GatherIndexError


def check(call, table, times: int) -> None:
    """No more owners of anything, nor fewer; no memory that stays. A Python without the GIL may be late, so there are some tries."""
    test_memory.repeat(call, 5)
    gc.collect()
    before = [sys.getrefcount(value) for value in watched(table)]
    test_memory.repeat(call, times)
    gc.collect()
    after = [sys.getrefcount(value) for value in watched(table)]
    assert not [(value, new - old) for value, old, new in zip(watched(table), before, after) if abs(new - old) > times // 2]
    test_memory.tracemalloc.start()
    try:
        grown = [growth(call, times)]
        while grown[-1] >= times * 16 and len(grown) < 10:
            grown.append(growth(call, times))
    finally:
        test_memory.tracemalloc.stop()
    assert grown[-1] < times * 16, f"{grown} bytes in {times} calls each"


def growth(call, times: int) -> int:
    gc.collect()
    before = test_memory.tracemalloc.get_traced_memory()[0]
    test_memory.repeat(call, times)
    gc.collect()
    return test_memory.tracemalloc.get_traced_memory()[0] - before


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_keep_nothing(table, call):
    check(lambda: call(table), table, 60)


@pytest.mark.parametrize("call", FILES.values(), ids=FILES)
def test_open_tables_keep_nothing(table, path, call):
    check(lambda: call(path), table, 30)


def test_a_leak_would_be_seen(table):
    kept = []
    refuses(AssertionError, check, lambda: kept.append(OUT), table, 100)
    refuses(AssertionError, check, lambda: kept.append(bytes(50)), table, 100)


def test_memory_that_python_does_not_count(path):
    """Threads, buffers and files of tables that come and go."""
    if "address" in os.environ.get("GATHER_SANITIZE", ""):
        skip_test("resident", "AddressSanitizer keeps freed memory")

    def work() -> None:
        for engine in ENGINES:
            for _ in range(15):
                libgather.open(path, engine=engine, memory="2MiB").submit(FEW).wait()

    def count() -> list[int]:
        return [len(os.listdir(f"/proc/self/{what}")) for what in ("fd", "task")]

    work()
    before, counts = test_memory.resident(), count()
    work()
    assert test_memory.resident() - before < 8 << 20 and count() == counts
