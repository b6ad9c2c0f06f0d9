# SPDX-License-Identifier: MIT
#
# test_threads.py: threads in a call, calls in threads, the GIL, and processes that fork. No test measures time.
"""Threads and processes."""
from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import libgather
from libgather import gather_elements, take, take_along_axis
from support.refusal import refuses

TABLE = np.arange(3_000_000, dtype=np.float32).reshape(-1, 6)
IDS = np.random.default_rng(5).integers(-len(TABLE), len(TABLE), 600_000)
ROWS = TABLE[IDS]
SCATTER = libgather.ScatterPlan("scatter", TABLE, IDS, ROWS, reduction="add", threads=1)


@pytest.fixture(autouse=True)
def default_threads():
    """Every test begins and ends with the default."""
    libgather.set_threads(None)
    yield
    libgather.set_threads(None)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 32])
def test_the_number_changes_nothing(threads):
    assert np.array_equal(take(TABLE, IDS, axis=0, threads=threads), ROWS)
    elements = np.random.default_rng(1).integers(0, len(TABLE), (200_000, 6))
    assert np.array_equal(gather_elements(TABLE, elements, threads=threads), np.take_along_axis(TABLE, elements, 0))
    columns = np.random.default_rng(1).integers(0, 6, (len(TABLE), 3))
    assert np.array_equal(take_along_axis(TABLE, columns, threads=threads), np.take_along_axis(TABLE, columns, 1))
    assert np.array_equal(libgather.Plan.take(TABLE, IDS, axis=0, threads=threads)(TABLE, IDS), ROWS)


def test_default():
    assert libgather.get_threads() == libgather.info()["cpus"] == len(os.sched_getaffinity(0))
    for n in (1, 3, np.int32(2)):
        assert libgather.set_threads(n) is None and libgather.get_threads() == n and type(libgather.get_threads()) is int
        assert np.array_equal(take(TABLE, IDS, axis=0), ROWS)
    libgather.set_threads(2)
    for wrong, error in ((0, ValueError), (-1, ValueError), ("1", TypeError), (1.0, TypeError)):
        refuses(error, libgather.set_threads, wrong)
        assert libgather.get_threads() == 2
    libgather.set_threads(10**6)
    assert 2 < libgather.get_threads() <= 10**6
    libgather.set_threads(None)
    assert libgather.get_threads() == libgather.info()["cpus"]


def test_many_threads_on_one_table():
    """One table, one plan, one set of indices; every thread has its own answer."""
    plan = libgather.Plan.take(TABLE, IDS[:50_000], axis=0)
    wrong = IDS[:50_000].copy()
    wrong[777] = len(TABLE)

    def work(i: int) -> bool:
        out = np.empty((50_000, 6), np.float32)
        right = np.array_equal(plan(TABLE, IDS[:50_000], out=out), ROWS[:50_000])
        right &= np.array_equal(take(TABLE, IDS[i:i + 3000], axis=0, threads=1 + i % 3), ROWS[i:i + 3000])
        error = refuses(libgather.GatherIndexError, plan, TABLE, wrong)
        return right and error.position == (777,)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


def test_small_calls_of_many_kinds_at_once():
    """What one call leaves behind for the next never serves another."""
    small = np.arange(60).reshape(5, 4, 3)
    days = small.astype("M8[D]")
    cases = []
    for axis in (0, 1, 2):
        for ids in (np.array([1, 0]), np.array([[-1], [2]]), np.array([2, 1], "u1")):
            for x in (small, small[::-1], small.astype("f4"), days):
                cases.append((lambda x=x, ids=ids, axis=axis: take(x, ids, axis=axis), np.take(x, ids, axis=axis)))
        ids = np.argsort(-small, axis=axis)
        cases.append((lambda ids=ids, axis=axis: take_along_axis(small, ids, axis=axis), np.take_along_axis(small, ids, axis)))

    def work(seed: int) -> bool:
        order = np.random.default_rng(seed).integers(0, len(cases), 300)
        for i in order.repeat(3):
            call, wanted = cases[i]
            result = call()
            if result.dtype != wanted.dtype or not np.array_equal(result, wanted):
                return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


def test_set_threads_meanwhile():
    """A call goes on with the number that it began with."""
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for n in (1, 2, 4, None):
                libgather.set_threads(n)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        assert all(np.array_equal(take(TABLE, IDS, axis=0), ROWS) for _ in range(10))
    finally:
        stop.set()
        changer.join()


# With a switch interval of minutes a thread runs only where another gives the GIL up by itself.
@pytest.fixture
def long_switch_interval():
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("gil: this Python has none")
    before = sys.getswitchinterval()
    sys.setswitchinterval(600)
    yield
    sys.setswitchinterval(before)


def runs_meanwhile(call) -> bool:
    """Whether another thread, which waits for nothing but the GIL, ran while `call` did."""
    go, ran = threading.Lock(), []
    go.acquire()

    def other() -> None:
        with go:
            ran.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    go.release()  # it may run now, and needs the GIL for it
    call()
    result = bool(ran)
    thread.join()
    return result


LARGE = {
    "scatter": lambda: libgather.scatter(TABLE, IDS, ROWS, threads=1),
    "scatter, adding": lambda: libgather.scatter_add(TABLE, IDS, ROWS, threads=2),
    "scatter plan": lambda: SCATTER(TABLE, IDS, ROWS),
    "scatter plan, keep": lambda: SCATTER.keep(IDS),
    "backward": lambda: libgather.gather_backward(ROWS, IDS, TABLE.shape),
    "backward, sparse": lambda: libgather.gather_backward(ROWS, IDS, TABLE.shape, sparse=True),
    "unique rows": lambda: libgather.unique_rows_sum(IDS, ROWS),
    "bag": lambda: libgather.embedding_bag(TABLE, IDS.reshape(-1, 6), negative=True),
    "take": lambda: take(TABLE, IDS, axis=0, threads=1),
    "take, threads": lambda: take(TABLE, IDS, axis=0, threads=2),
    "take, repairing": lambda: take(TABLE, IDS, axis=0, mode="clip", threads=1),
    "along": lambda: take_along_axis(TABLE[:, 0], IDS, threads=1),
    "elements": lambda: gather_elements(TABLE[:, 0], IDS, threads=1),
    "error": lambda: pytest.raises(libgather.GatherIndexError, take, TABLE, IDS * 2, axis=0, threads=1),
}
PLAN = libgather.Plan.take(TABLE, IDS, axis=0, threads=1)
LARGE["plan"] = lambda: PLAN(TABLE, IDS)
LARGE["plan, check"] = lambda: PLAN.check(IDS)


@pytest.mark.parametrize("call", LARGE.values(), ids=LARGE)
def test_large_calls_release_the_gil(call, long_switch_interval):
    """The other thread may be slow to wake up, so there are many tries; holding the GIL would make all of them fail."""
    assert any(runs_meanwhile(call) for _ in range(3000))


def test_small_calls_keep_it(long_switch_interval):
    """Handing the GIL over costs more than such a call. And what holds it is seen to: the test above can fail."""
    x, ids = np.arange(100.0), np.arange(50)
    assert not any(runs_meanwhile(lambda: take(x, ids)) for _ in range(50))
    assert not any(runs_meanwhile(lambda: sorted(range(1000))) for _ in range(50))


# ---- processes ----


def in_a_child(work) -> int:
    """What a forked child's exit code is; a child that hangs is ended and reported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads, which this is about
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        try:
            os._exit(0 if work() else 1)
        except BaseException:  # noqa: BLE001
            os._exit(2)
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status)


def threaded() -> bool:
    return np.array_equal(take(TABLE, IDS, axis=0, threads=2), ROWS)


def test_fork_after_a_threaded_call():
    """The child has none of its parent's threads, and makes its own."""
    assert threaded()
    for _ in range(5):
        assert in_a_child(threaded) == 0
        assert threaded()


def test_fork_in_a_fork():
    assert threaded()
    assert in_a_child(lambda: threaded() and in_a_child(threaded) == 0 and threaded()) == 0


def test_fork_before_any_call():
    """In a fresh process, so that no pool was there."""
    assert in_a_child(lambda: np.array_equal(take(TABLE, IDS, axis=0, threads=5), ROWS)) == 0


def test_fork_while_others_work():
    """No lock is left held in the child."""
    stop = threading.Event()

    def keep_on() -> None:
        while not stop.is_set():
            take(TABLE, IDS[:100_000], axis=0, threads=2)

    threads = [threading.Thread(target=keep_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        codes = [in_a_child(threaded) for _ in range(10)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 10


def test_multiprocessing(tmp_path):
    """The usual way of a training script: a call, then workers by fork; and by spawn, which pickles errors on the way back."""
    import subprocess

    program = tmp_path / "program.py"
    program.write_text("""
import multiprocessing, sys, warnings
import numpy as np
import libgather
warnings.simplefilter("ignore")
TABLE = np.arange(1_200_000.0).reshape(-1, 4)
IDS = np.arange(400_000) % len(TABLE)

def rows(i):
    return bool((libgather.take(TABLE, IDS, axis=0, threads=2) == TABLE[IDS]).all())

def bad(i):
    libgather.take(TABLE, [[0], [300_000 + i]], axis=0)

if __name__ == "__main__":
    assert rows(0)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(rows, range(4)) == [True] * 4
        try:
            pool.apply(bad, (7,))
        except libgather.GatherIndexError as error:
            print(error.position, error.value, error.bad_count, error.status)
""", encoding="utf-8")
    for way in ("fork", "spawn"):
        ran = subprocess.run([sys.executable, str(program), way], capture_output=True, text=True, timeout=120)
        assert (ran.stdout, ran.stderr) == ("(1, 0) 300007 1 index_out_of_range\n", ""), way
