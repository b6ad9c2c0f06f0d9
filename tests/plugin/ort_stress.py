# SPDX-License-Identifier: MIT
"""Hard use of the plug-in, one scenario in one process; the program of a child, as ort_child.py is.

    ort_stress.py SCENARIO DOOR LIBRARY MODEL ROUNDS

MODEL has the inputs data [n, w], ids [k], cells [c, w], pairs [p, 2] and the outputs of Gather, GatherElements and GatherND
(ort_runs.py). Results are compared with NumPy's. Prints "fine" and ends with 0, else says what was wrong.
"""

from __future__ import annotations

import gc
import os
import sys
import threading

import numpy as np
import ort_child
import onnxruntime as ort

SHAPES = ((5, 3, 4), (40, 17, 33), (300, 1, 1000), (7, 64, 1), (1000, 8, 2000), (3, 2, 0))  # n, w, how many indices


class Failed(Exception):
    pass


def feeds_for(rng, n: int, width: int, count: int) -> dict:
    pairs = np.stack([rng.integers(-n, n, count), rng.integers(-width, width, count)], -1)
    return {"data": rng.standard_normal((n, width)).astype(np.float32), "ids": rng.integers(-n, n, count),
            "cells": rng.integers(-n, n, (count, width)), "pairs": pairs}


def expected(feeds: dict) -> list:
    data, pairs = feeds["data"], feeds["pairs"]
    return [data[feeds["ids"]], np.take_along_axis(data, feeds["cells"], 0), data[pairs[:, 0], pairs[:, 1]]]


def check(session, feeds: dict) -> None:
    for name, ours, theirs in zip(("Gather", "GatherElements", "GatherND"), session.run(None, feeds), expected(feeds), strict=True):
        if ours.tobytes() != theirs.tobytes():
            raise Failed(f"{name} of {feeds['data'].shape} gave other bytes than NumPy")


def check_fault(session, rng) -> None:
    """An index out of range is an error with its value, every time."""
    feeds = feeds_for(rng, 50, 4, 30)
    feeds["ids"][11] = 50
    try:
        session.run(None, feeds)
    except Exception as error:  # noqa: BLE001
        if "indices[11] = 50" not in str(error):
            raise Failed(f"another message: {error}") from error
        return
    raise Failed("an index out of range was accepted")


def open_one(door: str, library: str, model: str, threads: int = 1):
    return ort_child.open_session(library, {"door": door, "model": model, "threads": threads})


def in_threads(count: int, work) -> None:
    """Runs work(number) in `count` threads; the first thing that went wrong is raised."""
    wrong = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def threads(door, library, model, rounds):
    """8 threads on one session, each with shapes of its own, one of which is always in error."""
    session = open_one(door, library, model, threads=2)

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        for turn in range(rounds):
            if number == 7:
                check_fault(session, rng)
            else:
                check(session, feeds_for(rng, *SHAPES[(number + turn) % len(SHAPES)]))

    in_threads(8, work)


def registrations(door, library, model, rounds):
    """The library is loaded, used and let go of, again and again."""
    rng = np.random.default_rng(1)
    for turn in range(rounds):
        session = open_one(door, library, model)
        check(session, feeds_for(rng, *SHAPES[turn % len(SHAPES)]))
        del session
        gc.collect()
        if door == "provider":
            ort_child._devices.clear()
            ort.unregister_execution_provider_library(ort_child.NAME)


def fork(door, library, model, rounds):
    """A session from before the fork, and one made after it, in the child process; then the parent's again."""
    rng = np.random.default_rng(2)
    before = open_one(door, library, model)
    check(before, feeds_for(rng, *SHAPES[1]))
    for _ in range(min(rounds, 10)):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                check(before, feeds_for(rng, *SHAPES[2]))
                check(open_one(door, library, model), feeds_for(rng, *SHAPES[4]))
                check_fault(before, rng)
                code = 0
            except Exception as error:  # noqa: BLE001
                print(f"in the child: {error}", file=sys.stderr, flush=True)
            os._exit(code)
        _, status = os.waitpid(child, 0)
        if status:
            raise Failed(f"the child process ended with {os.waitstatus_to_exitcode(status)}")
        check(before, feeds_for(rng, *SHAPES[4]))


def outlive(door, library, model, rounds):
    """The options go before the session that was made with them is used."""
    options = ort_child.session_options({"threads": 1})
    if door == "operators":
        options.register_custom_ops_library(library)
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    else:
        options.add_provider_for_devices(ort_child.devices(library), {})
        session = ort.InferenceSession(model, sess_options=options)
    # Python's session keeps its options alive; they go as well.
    session._sess_options = session._sess_options_initial = None
    del options
    gc.collect()
    rng = np.random.default_rng(3)
    for turn in range(rounds):
        check(session, feeds_for(rng, *SHAPES[turn % len(SHAPES)]))


def shared(door, library, model, rounds):
    """Two sessions of one library at once; the first goes while the second runs."""
    first, second = open_one(door, library, model), open_one(door, library, model, threads=2)
    go = threading.Event()

    def work(number: int) -> None:
        nonlocal first
        rng = np.random.default_rng(number)
        if number == 0:
            check(first, feeds_for(rng, *SHAPES[4]))
            first = None
            gc.collect()
            go.set()
        else:
            for turn in range(rounds):
                check(second, feeds_for(rng, *SHAPES[turn % len(SHAPES)]))
            go.wait(60)
            check(second, feeds_for(rng, *SHAPES[1]))

    in_threads(2, work)


def unregister(door, library, model, rounds):
    """The library is unregistered while a session of it lives, which then goes on."""
    if door != "provider":
        return
    session = open_one(door, library, model)
    rng = np.random.default_rng(4)
    check(session, feeds_for(rng, *SHAPES[1]))
    try:
        ort.unregister_execution_provider_library(ort_child.NAME)
    except Exception as error:  # noqa: BLE001
        print(f"refused: {error}")
    for turn in range(rounds):
        check(session, feeds_for(rng, *SHAPES[turn % len(SHAPES)]))


def faults(door, library, model, rounds):
    """Errors and successes in turn: what an error allocates is freed."""
    session = open_one(door, library, model)
    rng = np.random.default_rng(5)
    for turn in range(rounds):
        check_fault(session, rng)
        check(session, feeds_for(rng, *SHAPES[turn % len(SHAPES)]))


SCENARIOS = {f.__name__: f for f in (threads, registrations, fork, outlive, shared, unregister, faults)}


def main() -> int:
    scenario, door, library, model, rounds = sys.argv[1:]
    try:
        SCENARIOS[scenario](door, library, model, int(rounds))
    except Exception as error:  # noqa: BLE001
        print(f"{type(error).__name__}: {error}", flush=True)
        return 1
    print("fine", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
