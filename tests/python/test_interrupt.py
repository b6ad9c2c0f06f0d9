# SPDX-License-Identifier: MIT
#
# test_interrupt.py: signals while rows are read. The tables are files of holes, far larger than any cache, and the takes so long that
# none ends before its signal: each row is a read of its own, one at a time.
"""Ctrl-C and other signals during takes from tables, jobs and what is made of them."""
from __future__ import annotations

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

import libgather
from table_files import ENGINES
from test_memory import few_objects  # noqa: F401  (a fixture)
from support.refusal import refuses

ROWS, WIDTH = 1 << 30, 16
LAST = np.arange(WIDTH, dtype=np.uint8)
IDS = np.random.default_rng(1).integers(0, ROWS, 2_000_000)
AFTER = 0.15  # seconds from the start of a call to its signal
SOON = 0.1  # seconds of this process, which on a busy machine are fewer than those of the clock
LATE = 30  # seconds of the clock, whatever else the machine does


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """16 GiB of zeros that take no room, and a last row that is known."""
    path = tmp_path_factory.mktemp("interrupt") / "holes.bin"
    with open(path, "wb") as file:
        file.truncate(ROWS * WIDTH)
        file.seek((ROWS - 1) * WIDTH)
        file.write(LAST.tobytes())
    return path


def opened(path, engine: str = "pread", **keywords) -> libgather.Table:
    keep = engine not in ("auto", "mmap")  # without a mapping nothing is found in memory
    return libgather.open(path, dtype="u1", shape=(-1, WIDTH), engine=engine, depth=1, cache=0, keep_signals=keep, **keywords)


def works(table: libgather.Table) -> bool:
    return table[[-1, 5]].tolist() == [LAST.tolist(), [0] * WIDTH] and table.submit([-1]).wait().tolist() == [LAST.tolist()]


def interrupted(call, kind: type[BaseException] = KeyboardInterrupt, number: int = signal.SIGINT, after: float = AFTER) -> float:
    """The seconds of CPU time, of all threads, from a signal in the middle of a call to what it raises: while rows are read, threads that
    go on reading spend them, and other programs do not count."""
    sent = []

    def send() -> None:
        sent.append((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), number)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(kind):
            call()
            pytest.fail("the call ended before its signal")
        clock, spent = time.perf_counter() - sent[0][0], time.process_time() - sent[0][1]
        assert clock < LATE
        return spent
    finally:
        timer.join()


def soon(call, tries: int = 12) -> None:
    """Once of some times; at other moments too, since two million numbers are sorted first. No take ends within the latest of them."""
    took = []
    while not took or (min(took) > SOON and len(took) < tries):
        took.append(interrupted(call, after=AFTER * (1 + len(took) % 4 / 2)))
    assert min(took) <= SOON, took


@pytest.mark.parametrize("engine", ENGINES)
def test_takes(path, engine):
    if libgather.info()["engines"][engine] is not None:
        engine = "pread"
    with opened(path, engine) as table:
        out = np.full((IDS.size, WIDTH), 7, np.uint8)
        soon(lambda: table[IDS])
        soon(lambda: table.take(IDS, out=out))
        soon(lambda: libgather.take(table, IDS, axis=0, threads=1))
        assert works(table)
        assert (out[-1] == 7).all() and np.isin(out, (0, 7)).all()  # some rows were written, and nothing else
        assert table.stats().takes == 2


def test_slices_and_iteration(path):
    with opened(path) as table:
        soon(lambda: table[:: 1 << 10])

        def iterate():
            for _ in table:
                pass

        soon(iterate)
        assert works(table)


def test_under_a_ceiling(path):
    """One take has the only worker, so that the main thread waits for its turn."""
    with opened(path, memory="1MiB") as table:
        job = table.submit(IDS)
        time.sleep(0.05)
        soon(lambda: table[IDS])
        job.cancel()
        error = refuses(libgather.GatherCancelledError, job.wait, says="cancelled")
        assert (error.status, error.code) == ("cancelled", 18)
        assert works(table)


def test_jobs(path):
    with opened(path) as table:
        job = table.submit(IDS)
        soon(job.wait)
        assert not job.done
        soon(job.wait)
        job.cancel()
        job.cancel()
        for _ in range(2):
            refuses(libgather.GatherCancelledError, job.wait)
        assert job.done and works(table)


def test_jobs_that_are_dropped(path, few_objects):  # noqa: F811
    """After a wait that was interrupted nobody wants the rows."""
    with opened(path) as table:
        soon(lambda: table.submit(IDS).wait())
        start = time.perf_counter()
        gc.collect()
        assert works(table) and time.perf_counter() - start < 5

        def block():
            with table.submit(IDS):
                pass

        soon(block)

        def block_that_works():
            with table.submit(IDS):
                while True:
                    time.sleep(0.01)

        soon(block_that_works)

        def dropped():
            table.submit(IDS)
            time.sleep(0)

        soon(dropped)

        def stop():
            raise KeyboardInterrupt

        # The signal comes when the job is made, and has no name yet.
        spent = []
        while not spent or (min(spent) > SOON and len(spent) < 12):
            with pytest.raises(KeyboardInterrupt):
                table.submit(IDS), spent.append(-time.process_time()), stop()
            spent[-1] += time.process_time()
        assert min(spent) <= SOON, spent
        assert works(table)


def test_closing(path):
    """The table is closed in any case; its jobs are cancelled."""
    tables = []

    def close():
        table = opened(path)
        job = table.submit(IDS)
        tables.append((table, job))
        table.close()

    soon(close)

    def block():
        with opened(path) as table:
            job = table.submit(IDS)
            tables.append((table, job))
            while True:
                time.sleep(0.01)

    soon(block)
    for table, job in tables:
        assert table.closed and job.done
        refuses(libgather.GatherCancelledError, job.wait)


class Own(Exception):
    """What a handler raises."""


@pytest.fixture
def alarm():
    """Sets the handler of SIGALRM for a test."""
    before = signal.getsignal(signal.SIGALRM)
    yield lambda handler: signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_handlers_that_raise(path, alarm):
    def handler(*_):
        raise Own

    alarm(handler)
    with opened(path) as table:
        interrupted(lambda: table[IDS], Own, signal.SIGALRM)
        interrupted(table.submit(IDS).wait, Own, signal.SIGALRM)
        assert works(table)


def test_handlers_that_do_not(path, alarm):
    """They run while rows are read, and the rows are right."""
    ran = []
    alarm(lambda *_: ran.append(np.arange(10).sum()))
    ids = IDS[:20_000].copy()
    ids[::1000] = -1
    wanted = np.zeros((ids.size, WIDTH), np.uint8)
    wanted[::1000] = LAST
    with opened(path) as table:
        for call in (lambda: table[ids], lambda: table.submit(ids).wait()):
            ran.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.05)
            rows = call()
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert np.array_equal(rows, wanted) and ran


def test_handlers_that_use_tables(path, alarm):
    """Another one, yes; the one that waits for the handler, no."""
    with opened(path) as table, opened(path, memory="1MiB") as other:
        said = []

        def handler(*_):
            said.append(works(other) and table.stats().takes == 0 and not table.closed)
            for call in (lambda: table[[1]], lambda: table.submit([1]), table.close):
                refuses(libgather.GatherValueError, call, says="signal handler")
            raise Own

        alarm(handler)
        interrupted(lambda: table[IDS], Own, signal.SIGALRM)
        assert said == [True] and works(table)


def test_other_threads(path):
    """Python runs handlers in the main thread alone: a take in another goes on."""
    ids = IDS[:40_000]
    with opened(path) as table:
        rows = []
        thread = threading.Thread(target=lambda: rows.append(table[ids]))
        thread.start()

        def wait():
            while True:
                time.sleep(0.01)

        interrupted(wait)
        thread.join()
        assert rows[0].shape == (ids.size, WIDTH) and works(table)
