# SPDX-License-Identifier: MIT
"""threads_model.py [--measure FILE [--quick]] [--constants FILE] [--picture FILE.svg]: what 1 to 64 threads gain.
A formula predicts it from the constants of a measured machine. docs/measured/threads.md explains both, and has these tables.
Without --measure nothing is measured.

    T(p) = serial + hand-over(p) + max(work / p, lines / rate(p), bytes / bandwidth(p), links, channels) + half a task
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf
from pathlib import Path

HERE = Path(__file__).resolve().parent
KIB, MIB = 1024, 1024 * 1024
LINE = 64
CORES = (1, 2, 4, 8, 32, 64)
# As in src/core/kernel/tuning.def.
TASK_BYTES, AWAKE_TASK_BYTES, THREAD_TASKS = 256 * KIB, 64 * KIB, 32
# Assumed: what copies and random lines get of a socket's nominal bandwidth.
COPY_SHARE, LINE_SHARE = 0.8, 0.6
LONG = KIB  # the lines of rows of at least this size count as a copy
GAIN = 1.05  # less may be chance


@dataclass(frozen=True)
class Machine:
    """Microseconds, and bytes per microsecond (MB/s)."""

    name: str
    cores: int
    near: float  # a store of one core is seen by another one of its L3
    far: float  # and by one of another L3
    group: int  # cores of an L3 and a link to memory
    core_bytes: tuple[float, float]  # bandwidth of one core and of each of two, read and written
    link_bytes: float  # of a group
    socket_bytes: float
    link_lines: float  # lines of 64 bytes in random order, per microsecond
    socket_lines: float
    wake: float  # of the caller, for the first sleeping worker
    wake_more: float  # and for each further one
    begins: float  # until a woken worker begins
    call: float  # serial part of a call


@dataclass(frozen=True)
class Regime:
    name: str
    rows: int
    row_bytes: int
    core_ns: float  # of a row if everything is in L2
    line_ns: tuple[float, float] | None  # of a random line of the table, to one core and to each of two; None: in L2
    dram: bool = True  # else L3, of which each group has its own
    awake: bool = False  # calls follow each other within 50 us: workers spin
    even: bool = False  # one part for each thread, instead of the library's tasks


def tasks(regime: Regime, p: int) -> int:
    """As src/core/plan/tasks.c shares a gather."""
    unit = regime.row_bytes + (LINE if regime.line_ns else LINE // 16) + 4
    small = max(1, AWAKE_TASK_BYTES // unit)
    chunk = small if regime.awake else max(1, TASK_BYTES // unit)
    if p == 1 or regime.rows // small < 3 or regime.rows <= chunk:
        return 1
    if regime.rows // chunk > p * THREAD_TASKS:
        chunk = regime.rows // (p * THREAD_TASKS)
    return ceil(regime.rows / (ceil(chunk / 64) * 64))


def begins(machine: Machine, p: int, awake: bool) -> list[float]:
    """When each of p threads begins: the caller, then the workers, one after another."""
    if p == 1:
        return [0.0]
    step = lambda i: machine.near if i < machine.group else machine.far  # noqa: E731
    if awake:
        found = [0.0]
        for i in range(1, p):
            found.append(found[-1] + step(i))
        return found
    waking = machine.wake + machine.wake_more * (p - 2)
    return [waking, *(machine.begins + machine.wake_more * i for i in range(p - 1))]


def streaming(machine: Machine, p: int, bytes_: int, lines: int = 0) -> dict[str, float]:
    """Microseconds of streamed bytes on p cores. In what these share, random lines add to them."""
    links = ceil(p / machine.group)
    return {"links": (lines / machine.link_lines + bytes_ / machine.link_bytes) / links,
            "channels": lines / machine.socket_lines + bytes_ / machine.socket_bytes,
            "cores": bytes_ / cores(p, machine.core_bytes)}  # fmt: skip


def cores(p: int, rates: tuple[float, float]) -> float:
    """Of p cores, from the rates of one core and of each of two."""
    return rates[0] if p == 1 else p * rates[1]


def limits(machine: Machine, regime: Regime, p: int) -> dict[str, float]:
    """Microseconds that each limit alone sets for p threads that are all at work. A core reads and writes at the same time."""
    found = {"work": regime.rows * regime.core_ns / 1e3 / p}
    if not regime.line_ns:
        return found
    lines = regime.rows * ceil(regime.row_bytes / LINE)
    found["cores"] = lines / cores(p, tuple(1e3 / ns for ns in regime.line_ns))
    if regime.dram:
        shared = machine if regime.row_bytes < LONG else replace(machine, socket_lines=machine.socket_bytes / LINE)
        streamed = streaming(shared, p, regime.rows * (regime.row_bytes + 4), lines)
        found = {**found, **streamed, "cores": max(found["cores"], streamed["cores"])}
    return found


def moving(machine: Machine, regime: Regime, p: int) -> float:
    return max(limits(machine, regime, p).values())


@dataclass(frozen=True)
class Call:
    """Microseconds, and the threads that find work: one that begins when the others are done takes no task."""

    total: float
    handed: float
    threads: int


def job(machine: Machine, regime: Regime, p: int, count: int, shared: Callable[[int], float]) -> Call:
    """Of p threads at most and that many tasks. shared: microseconds of q threads that are all at work."""
    p = min(p, count, machine.cores)
    started, found = begins(machine, p, regime.awake), []
    for q in range(1, p + 1):
        wait = 0.0 if q == 1 or regime.even else shared(q) * q / count / 2
        back = 0.0 if q == 1 else machine.near if q <= machine.group else machine.far
        handed = sum(started[:q]) / q + back
        found.append(Call(handed + shared(q) + wait, handed, q))
    return min(found, key=lambda one: one.total)


def call(machine: Machine, regime: Regime, p: int) -> Call:
    """Validates the indices, by a job of its own if they are many, and moves the rows."""
    if p > machine.cores:
        regime = replace(regime, awake=False)  # the pool does not spin then
    moved = job(machine, regime, p, p if regime.even else tasks(regime, p), lambda q: moving(machine, regime, q))
    index_bytes = regime.rows * 4
    if index_bytes <= TASK_BYTES:
        return replace(moved, total=machine.call + moved.total)
    count = 1 if p == 1 else min(p * THREAD_TASKS, ceil(index_bytes / TASK_BYTES))
    checked = job(machine, regime, p, count, lambda q: max(streaming(machine, q, index_bytes).values()) if regime.dram else 0.0)
    return Call(machine.call + checked.total + moved.total, checked.handed + moved.handed, moved.threads)


def bound(machine: Machine, regime: Regime, p: int) -> str:
    """The limit of p threads."""
    best = call(machine, regime, p)
    if not regime.even and tasks(regime, p) < p:
        return f"{tasks(regime, p)} tasks"
    found = limits(machine, regime, p)
    late = best.handed > best.total / 4 or (best.threads < p and not regime.line_ns)
    return "hand-over" if late else max(found, key=found.__getitem__)


# ---- short calls


def short(pair: dict, us: float, length: int, fresh: bool) -> float:
    """Microseconds of a cached call that takes `us` on one thread. A worker that spins on its line takes half of it. fresh: the caller
    writes the indices before and reads the output after it. Then the lines of the worker's half move to the other core and back."""
    lines = length / 2 * 4 / LINE if fresh else 0
    moves = 2 * lines * (pair["line_read_ns"] + pair["line_write_ns"]) / 1e3
    return pair["call"] + us / 2 + pair["round_trip"] + moves


def least(gain: float, awake: bool, pair: dict) -> float:
    """Microseconds of one thread's call from which on two threads are `gain` times as fast: us / (us / 2 + h) = gain."""
    h = pair["round_trip"] + pair["call"] if awake else (pair["wake"] + pair["begins"]) / 2 + pair["round_trip"] / 2 + pair["call"]
    return h / (1 / gain - 0.5)


# ---- machines and regimes of measured constants


def regimes(constants: dict) -> list[Regime]:
    row, line = constants["row_ns"], constants["line_ns"]
    return [Regime("elements, DRAM", 4 * MIB, 4, row["4"], line["4"]),
            Regime("rows of 256 B, DRAM", 128 * KIB, 256, row["256"], line["256"]),
            Regime("rows of 4 KiB, DRAM", 8 * KIB, 4096, row["4096"], line["4096"]),
            Regime("elements, table in L3", MIB, 4, row["4"], line["L3"], dram=False),
            Regime("16 Ki elements, cached", 16 * KIB, 4, row["4"], None, dram=False, awake=True)]  # fmt: skip


def even(constants: dict) -> Regime:
    """The last one, if each thread got one part by its own cache line."""
    return replace(regimes(constants)[-1], name="the same, an even part for each thread", even=True)


def here(constants: dict) -> Machine:
    """The measured machine. What two cores get is measured, so that no link limits them."""
    pair, cpus = pair_of(constants), constants["cpus"]
    one, two = (1e3 * gb for gb in constants["copy_gb"])
    near = pair["round_trip"] / 2
    return Machine("this one", cpus, near=near, far=near, group=cpus, core_bytes=(one, two / 2), link_bytes=inf, socket_bytes=inf,
                   link_lines=inf, socket_lines=inf, wake=pair["wake"], wake_more=max(0.0, pair["wake_three"] - pair["wake"]) / 2,
                   begins=pair["begins"], call=pair["call"])  # fmt: skip


def pair_of(constants: dict) -> dict:
    """The two CPUs as they were while the regimes were measured."""
    return constants["pairs"][constants["measured_as"]]


def sockets(constants: dict) -> list[Machine]:
    """Memory channels x transfers a second x 8 bytes. The links of AMD's groups: 32 bytes read and 16 written per cycle of 1.8 GHz."""
    base, pairs = here(constants), constants["pairs"]
    near = pairs.get("one L3", pair_of(constants))["round_trip"] / 2
    far = pairs.get("two L3s", pair_of(constants))["round_trip"] / 2

    def made(name: str, channels: int, group: int, link: float, across: float) -> Machine:
        nominal = channels * 4800 * 8.0
        return replace(base, name=name, cores=64, near=near, far=across, group=group, link_bytes=link * 1.5, link_lines=link / LINE,
                       socket_bytes=nominal * COPY_SHARE, socket_lines=nominal * LINE_SHARE / LINE)  # fmt: skip

    return [made("12 channels, 8 cores per L3", 12, 8, 1800 * 32.0, far), made("8 channels, one L3", 8, 64, inf, near)]


# ---- what is printed


def shown(us: float) -> str:
    return f"{us / 1e3:.3g} ms" if us >= 1e3 else f"{us:.3g} us"


def measured_constants(constants: dict) -> str:
    pairs, line, row, level = (constants[key] for key in ("pairs", "line_ns", "row_ns", "levels_ns"))
    of_pairs = lambda key, digits: ", ".join(f"{name} {pair[key]:.{digits}f}" for name, pair in pairs.items())  # noqa: E731
    more = ", ".join(f"{name} {(pair['wake_three'] - pair['wake']) / 2:.1f}" for name, pair in pairs.items())
    both = lambda key: "{:.2f}, {:.2f}".format(*line[key])  # noqa: E731
    rows = [("empty job to a spinning worker and back, us", of_pairs("round_trip", 2), "one cache line for orders, one for answers"),
            ("waking a sleeping worker: the caller's time, us", of_pairs("wake", 1), "lock, `pthread_cond_broadcast`"),
            ("each further one, us", more, "three workers at once"),
            ("until a woken worker begins, us", of_pairs("begins", 1), "the caller spins meanwhile"),
            ("serial part of a call of a kept plan, us", of_pairs("call", 3), "64 elements, less their own time"),
            ("a line that the other core has written, read, ns", of_pairs("line_read_ns", 2), "4,096 lines in order"),
            ("a line that the other core has read, written, ns", of_pairs("line_write_ns", 2), "the same lines"),
            ("copy by one and two threads, GB/s", "{:.1f}, {:.1f}".format(*constants["copy_gb"]), "128 MiB read and written, non-temporal"),
            ("random line of 512 MiB, one core and each of two, ns", both("4"), "the best of several prefetch distances"),
            ("the same, in rows of 256 B", both("256"), ""),
            ("the same, in rows of 4 KiB", both("4096"), ""),
            ("random line of 8 MiB (L3)", both("L3"), ""),
            ("element of a table in L1, L2, L3, DRAM, ns", ", ".join(f"{ns:.2f}" for ns in level.values()), "64 Ki elements, one thread"),
            ("row in L2 of 4 B, 256 B, 4 KiB, ns", ", ".join(f"{ns:.3g}" for ns in row.values()), "one thread")]  # fmt: skip
    return "\n".join(["| constant | value | measured with |", "| --- | --- | --- |", *(f"| {' | '.join(one)} |" for one in rows)])


def predictions(constants: dict) -> str:
    lines = ["| regime | memory | one thread | " + " | ".join(str(p) for p in CORES[1:]) + " | bound at 64 by |",
             "| --- | --- | ---: | " + " | ".join("---:" for _ in CORES[1:]) + " | --- |"]  # fmt: skip
    for regime in [*regimes(constants), even(constants)]:
        for machine in sockets(constants):
            one = call(machine, regime, 1).total
            gains = " | ".join(f"{one / call(machine, regime, p).total:.1f}" for p in CORES[1:])
            lines.append(f"| {regime.name} | {machine.name} | {shown(one)} | {gains} | {bound(machine, regime, 64)} |")
    return "\n".join(lines)


def comparison(constants: dict) -> str:
    """Gains over one thread, measured and by the model. On more threads than CPUs the model has no more CPUs."""
    lines = ["| regime | one thread | model | two | model | gain of 2 | model | of 4 | model | of 8 | model |", "| --- |" + " ---: |" * 10]
    for regime in regimes(constants):
        machine, measured = here(constants), constants["regimes"][regime.name]
        model = {p: call(machine, regime, p).total for p in (1, 2, 4, 8)}
        cells = [f"{shown(measured[str(p)])} | {model[p] / measured[str(p)]:.2f}" for p in (1, 2)]
        cells += [f"{measured['1'] / measured[str(p)]:.2f} | {model[1] / model[p]:.2f}" for p in (2, 4, 8)]
        lines.append(f"| {regime.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


WAYS = (("same", "line", "one line"), ("same", "model", "one line, model"), ("same", "pool", "pool, awake"),
        ("same", "asleep", "pool, asleep"), ("same", "chosen", "as libgather chooses"), ("fresh", "line", "fresh: one line"),
        ("fresh", "model", "fresh: one line, model"), ("fresh", "chosen", "fresh: as libgather chooses"))  # fmt: skip


def short_calls(constants: dict) -> str:
    """One thread's time / two threads'."""
    lengths = [one["us"] for one in next(iter(constants["pairs"].values()))["short"]]
    lines = ["| cores | second thread | " + " | ".join(f"{us} us" for us in lengths) + " |", "| --- | --- |" + " ---: |" * len(lengths)]
    for name, pair in constants["pairs"].items():
        for state, way, words in WAYS:
            gains = (one[state]["one"] / (modelled(pair, one, state) if way == "model" else one[state][way]) for one in pair["short"])
            lines.append(f"| {name} | {words} | " + " | ".join(f"{gain:.2f}" for gain in gains) + " |")
    return "\n".join(lines)


def modelled(pair: dict, measured: dict, state: str) -> float:
    """The caller's own work outside the call takes as long as with one thread."""
    inside = measured["same"]["one"]
    return measured[state]["one"] - inside + short(pair, inside, measured["len"], state == "fresh")


def crossing(pair: dict, state: str, way: str) -> str:
    """Between which measured lengths, the first column of the table, two threads become faster and stay so."""
    gains = [(one["us"], one[state]["one"] / one[state][way]) for one in pair["short"]]
    slower = [i for i, (_, gain) in enumerate(gains) if gain < GAIN]
    if not slower:
        return f"below {gains[0][0]} us"
    last = slower[-1]
    return f"above {gains[-1][0]} us" if last == len(gains) - 1 else f"{gains[last][0]} to {gains[last + 1][0]} us"


def bounds(constants: dict) -> str:
    lines = ["| cores | second thread | measured | model | 1.2 times as fast, model |", "| --- | --- | ---: | ---: | ---: |"]
    ways = (("same", "line", "one line", True), ("same", "pool", "pool, awake", None), ("same", "asleep", "pool, asleep", False),
            ("fresh", "line", "fresh: one line", None))  # fmt: skip
    for name, pair in constants["pairs"].items():
        for state, way, words, awake in ways:
            model = ["-", "-"] if awake is None else [f"{least(gain, awake, pair):.2g} us" for gain in (1, 1.2)]
            lines.append(f"| {name} | {words} | {crossing(pair, state, way)} | {' | '.join(model)} |")
    return "\n".join(lines)


def draw(constants: dict, path: Path) -> None:
    import drawings

    curves = {}
    for name, pair in constants["pairs"].items():
        curves[name] = [(one["us"], one["same"]["one"] / one["same"]["line"]) for one in pair["short"]]
        curves[f"{name} (model)"] = [(one["us"], one["same"]["one"] / modelled(pair, one, "same")) for one in pair["short"]]
        curves[f"{name}, fresh"] = [(one["us"], one["fresh"]["one"] / one["fresh"]["line"]) for one in pair["short"]]
    ticks = {value: f"{value:g}x" for value in (0.25, 0.5, 1, 1.5, 2)}
    drawn = drawings.curves("Cached calls: what a second thread gains", curves, "microseconds on one thread",
                            "a worker that spins on its own cache line", ticks=ticks)  # fmt: skip
    path.write_text(drawn, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constants", type=Path, default=HERE / "threads_measured.json", metavar="FILE", help="default: those of the page")
    parser.add_argument("--measure", type=Path, metavar="FILE", help="measure into FILE, which keeps times of other pairs of cores")
    parser.add_argument("--quick", action="store_true", help="measure in some seconds, less exactly")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw the short calls")
    given = parser.parse_args()
    if given.measure:
        import threads_measure

        threads_measure.into(given.measure, given.quick)
    constants = json.loads((given.measure or given.constants).read_text(encoding="utf-8"))
    for words, table in (("Predicted gains over one thread, by cores", predictions), ("Measured constants", measured_constants),
                         ("Beside measured runs", comparison),
                         ("Short calls, cached: gains", short_calls), ("From which length on a second thread helps", bounds)):
        print(f"{words}\n\n{table(constants)}\n")
    if given.picture:
        draw(constants, given.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
