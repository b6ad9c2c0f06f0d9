# SPDX-License-Identifier: MIT
"""Compares values of a tuning parameter, libgather's only, in one process and in turns. script/bench tunings calls it."""

from __future__ import annotations

import argparse
import gc
import re
import sys
from statistics import median

import compare
import gather_bench_native as native
import grid
import kinds
import machine
import measure
import summary
from cases import Arenas
from tuned import Tuned

FORMS = ("fastest", "transactional")


def assignment(text: str) -> tuple[str, list[int]]:
    """NAME=V1,V2[,...]"""
    found = re.fullmatch(r"(\w+)=(-?\d+(?:,-?\d+)+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE,VALUE[,...]")
    name, values = found[1], [int(value) for value in found[2].split(",")]
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"'{text}' gives a value twice")
    return name, values


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench tunings", description="Compares values of a tuning parameter, in turns; the first one is the base.")
    parser.add_argument("tuning", type=assignment, metavar="NAME=V1,V2[,...]", help="a parameter of docs/extend/tuning.md and its values")
    parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name or regime it is found in")
    parser.add_argument("--quick", action="store_true", help="few repetitions, and the short list of rows")
    parser.add_argument("--every", action="store_true", help="with --quick: all rows")
    parser.add_argument("--threads", default="1,2", metavar="LIST", help="numbers of threads (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=0, metavar="N", help="all in about so long")
    parser.add_argument("--isa", type=int, default=-1, metavar="N", help="libgather's strongest instruction set, as of script/bench")
    return parser.parse_args(argv)


def gain(base, other) -> dict:
    """How many times as long the base takes: of the rounds, which were measured in turns, the median and the quartiles."""
    each = sorted(a / b for a, b in zip(base.times, other.times))
    return {"ratio": median(each), "low": each[len(each) // 4], "high": each[-1 - len(each) // 4]}


def run_case(case, arenas: Arenas, parameter: str, values: list[int], settings) -> dict:
    """For each form and each value but the first: how many times as long the first one takes, with the quartiles of the rounds."""
    kind = kinds.kind_of(case)
    memory = kind.memory(case, arenas)
    contenders, wrong = measure.collect(memory, [Tuned(kind.peers.Ours(), parameter, value) for value in values])
    if wrong:
        raise SystemExit(f"bench: libgather is wrong: {case.name}: {wrong}")
    measure.compete(contenders, memory, settings)
    ways = {value: summary.own_forms([c for c in contenders if c.value == value]) for value in values}
    gains = {form: {value: gain(ways[values[0]][i], ways[value][i]) for value in values[1:]} for i, form in enumerate(FORMS)}
    return {"name": case.name, "regime": case.regime, "threads": case.threads, "gains": gains}


def columns(found: list[dict], form: str, values: list[int]) -> str:
    return "  ".join(f"{compare.quartiles([row['gains'][form][value]['ratio'] for row in found]):>20}" for value in values[1:])


def line(row: dict, values: list[int]) -> str:
    """One row: medians, and the quartiles of its rounds."""
    gains = [row["gains"][form][value] for form in FORMS for value in values[1:]]
    return f"{row['name']:48} " + "  ".join(f"{gain['ratio']:5.2f} ({gain['low']:5.2f} -{gain['high']:5.2f})" for gain in gains)


def closing(rows: list[dict], parameter: str, values: list[int]) -> str:
    head = "  ".join(f"{f'{form} {value}':>20}" for form in FORMS for value in values[1:])
    lines = ["", f"time with {parameter}={values[0]} / time with the other values: median (quartiles of the rows); above 1 the other one is faster",
             f"{'regime':48} rows  {head}"]
    for regime in [*summary.regimes(rows), ""]:
        for threads in summary.threads_of(rows):
            if here := summary.by(rows, threads, regime):
                found = "  ".join(columns(here, form, values) for form in FORMS)
                title = f"{regime or 'all rows'} {threads}T"
                lines.append(f"{title:48} {len(here):4}  {found}")
    for form in FORMS:
        for value in values[1:]:
            slower = [row for row in rows if summary.verdict(row["gains"][form][value]) == "slower"]
            lines += [f"slower ({form}) with {value}: {row['name']}: {row['gains'][form][value]['ratio']:.2f}" for row in slower]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    asked = arguments(argv)
    parameter, values = asked.tuning
    if asked.isa >= 0:
        native.tune("isa", asked.isa)
    threads = tuple(int(t) for t in asked.threads.split(","))
    cases = kinds.cases(threads, asked.quick, asked.only, asked.every)
    cases, left_out = grid.affordable(cases, machine.free_bytes())
    for left in left_out:
        print(f"bench: left out: {left['row']}: {left['why']}")
    if not cases:
        print("bench: no row has such a name")
        return 2
    gc.disable()
    arenas, settings, rows = Arenas(cases), measure.Settings(asked.quick, asked.minutes), []
    print(f"{parameter}={values[0]} / " + ", ".join(str(value) for value in values[1:]) + f": {', '.join(FORMS)}; quartiles of the rounds")
    for i, case in enumerate(cases):
        settings.share(len(cases) - i)
        gc.collect()
        rows.append(run_case(case, arenas, parameter, values, settings))
        print(line(rows[-1], values), flush=True)
    print(closing(rows, parameter, values))
    return 0


if __name__ == "__main__":
    sys.exit(main())
