# SPDX-License-Identifier: MIT
"""ONNX's own node cases and generated ones, through both doors, compared with the built-in kernels byte by byte."""

from __future__ import annotations

import re
import sys
from collections import Counter

import ort_backend as backend
import ort_cases as cases
import ort_runs as runs

SEED = 16


def run_of(case, door: str) -> dict:
    return {"model": case.model, "door": door, "feeds": {name: runs.pack(array) for name, array in case.feeds.items()}, "config": case.config}


def ask(chosen: list, library: str, python=sys.executable) -> dict[str, list[dict]]:
    return {door: runs.run_all([run_of(case, door) for case in chosen], library, python) for door in runs.DOORS}


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
    return "" if runs.same(plain, answer) else f"{case.name}, {door}: {runs.describe(answer)}; built-in: {runs.describe(plain)}"


def difference_fault(case, door: str, plain: dict, answer: dict) -> str:
    """A case in which the built-in is wrong: it must still be, and ours right."""
    if equal_to(plain, case.expected):
        return f"{case.name}: the built-in kernel is right; the difference is gone: {cases.DIFFERENCES[case.difference]}"
    if case.folded and door == "provider":
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


def summary(chosen: list, answers: dict[str, list[dict]]) -> str:
    kinds = Counter("faults" if case.fault else "wider types" if case.wider else case.difference or "same bytes" for case in chosen)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def main(library: str) -> list[str]:
    faults = []
    groups = {"generated": cases.random_cases(SEED) + cases.wider_cases(SEED) + cases.fault_cases(SEED), "ONNX's node cases": backend.node_cases()}
    for name, chosen in groups.items():
        answers = ask(chosen, library)
        refused = [n for n, answer in enumerate(answers["built-in"]) if "error" in answer and not (chosen[n].fault or chosen[n].wider)]
        kept = [n for n in range(len(chosen)) if n not in set(refused)]
        print(f"{name}: {len(kept)} cases ({summary([chosen[n] for n in kept], answers)}), {len(refused)} that this ONNX Runtime refuses itself", flush=True)
        faults += faults_among([chosen[n] for n in kept], {door: [found[n] for n in kept] for door, found in answers.items()})
    return faults
