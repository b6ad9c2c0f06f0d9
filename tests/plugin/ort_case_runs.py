# SPDX-License-Identifier: MIT
"""Cases through both doors, compared with the built-in kernels byte by byte, and the differences that are known."""

from __future__ import annotations

import re
import sys
from collections import Counter

import numpy as np
import ort_cases as cases
import ort_runs as runs


def run_of(case, door: str, level: str) -> dict:
    feeds = {name: runs.pack(array) for name, array in case.feeds.items()}
    return {"model": case.model, "door": door, "feeds": feeds, "config": case.config, "level": level}


def ask(chosen: list, library: str, python=sys.executable, level="ENABLE_ALL") -> dict[str, list[dict]]:
    return {door: runs.run_all([run_of(case, door, level) for case in chosen], library, python) for door in runs.DOORS}


def equal_to(answer: dict, expected) -> bool:
    return "outputs" in answer and answer["outputs"][0] == runs.pack(expected)


def fault_of(case, door: str, plain: dict, answer: dict) -> str:
    """What is wrong with one answer of a door, or ""."""
    if answer.get("crash"):
        return f"{case.name}, {door}: {answer['error']}"
    if case.fault:
        return "" if re.search(case.fault, answer.get("error", "")) else f"{case.name}, {door}: {runs.describe(answer)}"
    if case.wider:
        if door == "provider":  # the schema refuses the type before any provider is asked
            return "" if "error" in answer else f"{case.name}, {door}: the type is accepted"
        return "" if equal_to(answer, case.expected) else f"{case.name}, {door}: {runs.describe(answer)}"
    if case.difference:
        return difference_fault(case, door, plain, answer)
    equal = runs.same(plain, answer) or (case.nans and same_but_nans(plain, answer))
    return "" if equal else f"{case.name}, {door}: {runs.describe(answer)}; built-in: {runs.describe(plain)}"


def same_but_nans(a: dict, b: dict) -> bool:
    """Whether the bytes are the same but for those of NaNs, which are at the same places."""
    if "error" in a or "error" in b or a["outputs"][0][:2] != b["outputs"][0][:2]:
        return False
    x, y = runs.unpack(a["outputs"][0]), runs.unpack(b["outputs"][0])
    here = np.isnan(x)
    return (here == np.isnan(y)).all() and x[~here].tobytes() == y[~here].tobytes()


def difference_fault(case, door: str, plain: dict, answer: dict) -> str:
    """A case in which the built-in is wrong: it must still be, and ours right."""
    if equal_to(plain, case.expected):
        return f"{case.name}: the built-in kernel is right; the difference is gone: {cases.DIFFERENCES[case.difference]}"
    if case.folded:
        return "" if runs.same(plain, answer) else f"{case.name}, {door}: {runs.describe(answer)}; the node was expected to be folded"
    return "" if equal_to(answer, case.expected) else f"{case.name}, {door}: {runs.describe(answer)} is not what NumPy gives"


def faults_among(chosen: list, answers: dict[str, list[dict]]) -> list[str]:
    found = []
    for door in runs.DOORS[1:]:
        for case, plain, answer in zip(chosen, answers["built-in"], answers[door], strict=True):
            fault = fault_of(case, door, plain, answer)
            if fault:
                found.append(fault)
    return found


def summary(chosen: list) -> str:
    kinds = Counter("faults" if case.fault else "wider types" if case.wider else case.difference or "same bytes" for case in chosen)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
