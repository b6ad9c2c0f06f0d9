# SPDX-License-Identifier: MIT
"""ONNX's own node cases and generated ones, all of them, through both doors (tests/plugin/ort_cases.py compares)."""

from __future__ import annotations

import ort_cases as cases
from ort_cases import ask, faults_among, summary

SEED = 16


def try_group(name: str, chosen: list, library: str, level: str) -> list[str]:
    answers = ask(chosen, library, level=level)
    refused = {n for n, answer in enumerate(answers["built-in"]) if "error" in answer and not (chosen[n].fault or chosen[n].wider)}
    kept = [n for n in range(len(chosen)) if n not in refused]
    cases_kept = [chosen[n] for n in kept]
    print(f"{name} at {level}: {len(kept)} cases ({summary(cases_kept)}), {len(refused)} that this ONNX Runtime refuses itself", flush=True)
    return faults_among(cases_kept, {door: [found[n] for n in kept] for door, found in answers.items()})


def main(library: str) -> list[str]:
    generated = cases.random_cases(SEED) + cases.wider_cases(SEED) + cases.fault_cases(SEED) + cases.quantised_cases(SEED, 400)
    faults = try_group("generated cases", generated, library, "ENABLE_ALL")
    listed = cases.node_cases()
    for level in ("DISABLE_ALL", "ENABLE_ALL"):
        faults += try_group("ONNX's node cases", listed, library, level)
    return faults
