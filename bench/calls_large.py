# SPDX-License-Identifier: MIT
"""Large calls from Python: what the package adds to the call from C, and what another Python thread gets done meanwhile."""

from __future__ import annotations

import threading
import time
from itertools import repeat
from pathlib import Path
from statistics import median

import gather_bench_native as native
import measure
import numpy as np
import summary
from calls import C, NEW, NUMPY, OURS, OUT, TORCH, Form
from cases import CLEAR, same
from contender import Contender

ROWS, COLUMNS = 64 << 10, 64  # a table of 16 MiB, rows of 256 bytes
COUNT, QUICK_COUNT = 1 << 20, 1 << 16
ROUNDS, QUICK_ROUNDS = 9, 3
BESIDE_ROUNDS = 5
ATTEMPTS = 3  # at one measurement
SECONDS = 20  # after so long for a number of threads there is one attempt only
SEGMENT, QUICK_SEGMENT = 0.4, 0.1  # seconds of each measurement beside a thread

FORMS = (
    Form(C, "gather_plan_run, from C", OUT),
    Form(OURS, "libgather.take(x, i, axis=0, out=o)", OUT), Form(OURS, "plan(x, i, out=o)", OUT, True),
    Form(NUMPY, "np.take(x, i, 0, o)", OUT), Form(NUMPY, "np.take(x, i, 0, o, 'clip')", OUT),
    Form(TORCH, "torch.index_select(tx, 0, ti, out=to)", OUT),
    Form(OURS, "libgather.take(x, i, axis=0)"), Form(NUMPY, "np.take(x, i, 0)"), Form(NUMPY, "x[i]"),
    Form(TORCH, "torch.index_select(tx, 0, ti)"),
)  # fmt: skip
ONE_THREAD = (NUMPY,)  # whoever has no threads is not measured again with two
# Beside a thread: ours, the others, and a call that is known to keep the GIL, as a scale.
HOLDS = "sum(repeat(1, many))"
MANY, QUICK_MANY = 20_000_000, 2_000_000
BESIDE = (FORMS[1], FORMS[3], FORMS[4], Form(NUMPY, "x[i]"), FORMS[5], Form("Python", HOLDS))


def address_of(array: np.ndarray) -> int:
    return array.ctypes.data


def names_of(more: dict, quick: bool) -> dict:
    count = QUICK_COUNT if quick else COUNT
    random = np.random.default_rng(11)
    x, i = random.random((ROWS, COLUMNS), np.float32), random.integers(0, ROWS, count)
    o = np.zeros((count, COLUMNS), np.float32)  # zeros that are written are pages that are there
    o.fill(0)
    names = {**more, "x": x, "i": i, "o": o, "repeat": repeat, "many": QUICK_MANY if quick else MANY}
    if "torch" in more:
        names.update({f"t{name}": more["torch"].from_numpy(names[name]) for name in "xio"})
    return names


def from_c(names: dict, threads: int):
    """The same gather with the same memory, called from C."""
    x, i, o = names["x"], names["i"], names["o"]
    return native.Plan("Gather", "onnx-13", (address_of(x), "float32", x.shape), (address_of(i), "int64", i.shape),
                       (address_of(o), "float32", o.shape), 0, 0, threads, False)


def call_of(form: Form, names: dict, threads: int):
    return from_c(names, threads).run if form.who == C else eval(f"lambda: {form.text}", names)


def set_threads(names: dict, threads: int) -> None:
    """A plan keeps the number of threads that it was made with."""
    names["libgather"].set_threads(threads)
    names["plan"] = names["libgather"].Plan.take(names["x"], names["i"], axis=0)
    if "torch" in names:
        names["torch"].set_num_threads(threads)


def check(form: Form, contender: Contender, names: dict, expected: np.ndarray) -> None:
    names["o"].reshape(-1).view(np.uint8)[:] = CLEAR
    contender.time_once()
    found = names["o"] if form.kind == OUT else np.asarray(contender.kept)
    contender.kept = None
    if not same(found, expected):
        raise SystemExit(f"bench: wrong elements: {form.text}")


def contenders(names: dict, threads: int, expected: np.ndarray) -> list[tuple[Form, Contender]]:
    found = []
    for form in FORMS:
        if (form.who == TORCH and "torch" not in names) or (threads > 1 and form.who in ONE_THREAD):
            continue
        call = call_of(form, names, threads)
        contender = Contender(form.who, form.text, call, own=form.kind == NEW, pool=threads > 1)
        check(form, contender, names, expected)
        found.append((form, contender))
    return found


def timed(contender: Contender, attempts: int) -> None:
    """One call, again where another program had the CPU meanwhile. Its result is given back at once."""
    for _ in range(attempts):
        before = measure.switches()
        elapsed = contender.time_once()
        during = measure.switches() - before
        contender.kept = None
        if contender.pool:
            measure.rest()
        if not during:
            break
    else:
        contender.disturbed += 1
    contender.times.append(elapsed)
    contender.cpu.append(contender.spent)


def quartiles(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]


def rows_of(pairs: list[tuple[Form, Contender]], threads: int) -> list[dict]:
    """ratio: how many times as long as libgather.take of that kind it takes."""
    found = []
    for form, contender in pairs:
        ours = next(c for f, c in pairs if f.who == OURS and f.kind == form.kind and not f.plan)
        times = [ns / 1e6 for ns in contender.times]
        low, high = quartiles(times)
        row = {"who": form.who, "form": form.text, "kind": form.kind, "threads": threads, "median": median(times),
               "low": low, "high": high, "disturbed": contender.disturbed}
        if contender is not ours:
            ratio = summary.ratios(contender, ours)
            row["to_ours"] = {**ratio, "verdict": summary.verdict(ratio)}
        found.append(row)
    return found


class Counter(threading.Thread):
    """A thread of Python that counts, and nothing else."""

    def __init__(self):
        super().__init__(daemon=True)
        self.count, self.going = 0, True

    def run(self) -> None:
        while self.going:
            self.count += 1


def ready_ns(thread: threading.Thread) -> float:
    """How long the thread ran or waited for nothing but a CPU, by Linux's count; NaN elsewhere. Other programs do not
    change it."""
    try:
        text = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text(encoding="ascii")
        return float(sum(int(word) for word in text.split()[:2]))
    except (OSError, ValueError):
        return float("nan")


def beside(counter: Counter, call, seconds: float) -> dict:
    """Calls one after another for so long: what the thread counts a second meanwhile, its share of ready time, seconds
    per call."""
    calls, ready, count, start = 0, ready_ns(counter), counter.count, time.perf_counter()
    while time.perf_counter() - start < seconds:
        kept = call()
        del kept
        calls += 1
    spent = time.perf_counter() - start
    free = (ready_ns(counter) - ready) / 1e9 / spent
    return {"rate": (counter.count - count) / spent, "ready": free, "each": spent / calls}


def beside_all(names: dict, quick: bool) -> list[dict]:
    """Everybody in turns. share: of what the thread counts while the other one sleeps."""
    calls = {form: call_of(form, names, 1) for form in BESIDE if form.who != TORCH or "torch" in names}
    found, alone = {form: [] for form in calls}, []
    seconds = QUICK_SEGMENT if quick else SEGMENT
    counter = Counter()
    counter.start()
    try:
        for _ in range(QUICK_ROUNDS if quick else BESIDE_ROUNDS):
            alone.append(beside(counter, lambda: time.sleep(seconds), seconds)["rate"])
            for form, call in calls.items():
                found[form].append(beside(counter, call, seconds))
    finally:
        counter.going = False
        counter.join()
    rows = []
    for form, rounds in found.items():
        ready, shares = [r["ready"] for r in rounds], [r["rate"] / median(alone) for r in rounds]
        low, high = quartiles(ready)
        known = ready[0] == ready[0]
        rows.append({"who": form.who, "form": form.text, "share": median(shares),
                     "ready": median(ready) if known else None, "low": low if known else None,
                     "high": high if known else None, "ms": median(r["each"] for r in rounds) * 1e3})
    return rows


def measure_all(results: dict, more: dict, quick: bool) -> None:
    """Fills in results["large"] and results["gil"]."""
    names = names_of(more, quick)
    expected = names["x"][names["i"]]
    shuffle = np.random.default_rng(3).permutation
    for threads in (1, 2)[: max(1, min(2, native.library()["cpus"]))]:
        set_threads(names, threads)
        pairs = contenders(names, threads, expected)
        until = time.monotonic() + SECONDS
        for _ in range(QUICK_ROUNDS if quick else ROUNDS):
            for n in shuffle(len(pairs)):
                timed(pairs[n][1], ATTEMPTS if time.monotonic() < until else 1)
        results["large"] += rows_of(pairs, threads)
    set_threads(names, 1)
    results["gil"] = beside_all(names, quick)
