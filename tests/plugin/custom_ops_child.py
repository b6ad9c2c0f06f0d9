# SPDX-License-Identifier: MIT
"""What test_onnxruntime_custom_ops.py does in processes of their own: custom_ops_child.py SCENARIO. Prints "good" at the end."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import onnxruntime
import provider_models as models
from onnx import TensorProto

import libgather.onnxruntime as door

MODEL = models.one_node("Gather", TensorProto.FLOAT, TensorProto.INT64)
DATA = np.arange(3000, dtype=np.float32).reshape(1000, 3)


def is_loaded() -> bool:
    return "libgather_onnxruntime" in Path("/proc/self/maps").read_text(encoding="utf-8")


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))


def ends_with(count: int) -> bool:
    """Whether there are no more threads than these. The system lists one that has ended a little longer."""
    for _ in range(200):
        if thread_count() <= count:
            return True
        time.sleep(0.01)
    return False


def session(**options) -> onnxruntime.InferenceSession:
    settings = door.session_options(**options)
    settings.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(MODEL, settings, providers=["CPUExecutionProvider"])


def run(one, ids) -> None:
    indices = np.asarray(ids, dtype=np.int64)
    got = one.run(None, {"data": DATA, "indices": indices})[0]
    assert np.array_equal(got, DATA[indices]), (indices, got)


def unloading() -> None:
    """The library is loaded and closed 100 times; nothing of it stays."""
    before = thread_count()
    for _ in range(100):
        one = session()
        run(one, [1, -1])
        assert is_loaded()
        del one
        gc.collect()
        assert not is_loaded()
        assert ends_with(before), (before, thread_count())


def many_registrations() -> None:
    """100 registrations while one session keeps the library loaded; different options up to the limit, which is an error in words."""
    keep = session()
    for _ in range(100):
        run(session(), [2])
    for threads in range(1, 32):
        run(session(threads=threads), [3])
    try:
        session(threads=99)
    except Exception as error:
        assert "too many different options" in str(error), error
    else:
        raise AssertionError("one more set of options was accepted")
    run(session(threads=31), [4])
    run(keep, [5])


def options_first() -> None:
    """A session lives longer than the options that it was made with."""
    settings = door.session_options()
    one = onnxruntime.InferenceSession(MODEL, settings, providers=["CPUExecutionProvider"])
    del settings
    gc.collect()
    for length in range(50):
        run(one, np.arange(length) % 7)


def threads() -> None:
    """8 threads on each of two sessions, with more shapes than a node keeps plans."""
    sessions = [session(plans=3), session()]
    faults = []

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        try:
            for _ in range(300):
                run(sessions[number % 2], random.integers(-1000, 1000, int(random.integers(0, 9))))
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            faults.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not faults, faults


def fork() -> None:
    """A child made after the session runs it, without threads of its own, and ends."""
    settings = door.session_options()
    settings.intra_op_num_threads = 1
    one = onnxruntime.InferenceSession(MODEL, settings, providers=["CPUExecutionProvider"])
    run(one, [1, 2])
    child = os.fork()
    if child == 0:
        try:
            run(one, [3, -4])
            run(one, [3, -4])
            os._exit(7)
        finally:
            os._exit(8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    run(one, [5])


def table() -> None:
    """A table that ONNX Runtime has mapped from a file is read by the library's tables; the log names the file."""
    rows = models.rows(5000, 64)
    with tempfile.TemporaryDirectory() as folder:
        models.write_table(Path(folder), rows, 4096)
        path = Path(folder) / "model.onnx"
        path.write_bytes(models.table_model(rows, 4096))
        settings = door.session_options(table="always", report=True)
        one = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        for ids in ([0, 4999, -1, 17], [], [[3], [2]]):
            indices = np.asarray(ids, dtype=np.int64)
            assert np.array_equal(one.run(None, {"ids": indices})[0], rows[indices])
        try:
            one.run(None, {"ids": np.array([1, 5000])})
        except Exception as error:
            assert "indices[1] = 5000 is outside [-5000, 4999] of axis 0" in str(error), error
        else:
            raise AssertionError("an index out of range was accepted")
        del one, settings
        gc.collect()
    assert is_loaded()  # its handler for SIGBUS is still installed


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("good")
