# SPDX-License-Identifier: MIT
"""ONNX's node cases and generated ones through both doors of the plug-in, beside ONNX Runtime's own kernels: a sample of what
script/plugins onnxruntime --cases runs. GATHER_TEST_SEED selects another one, GATHER_TEST_EXAMPLES how large it is."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

import ort_backend as backend
import ort_case_runs as compare
import ort_cases as cases
import ort_runs as runs
from ort_package import library  # noqa: F401  the fixture
from support.sample import STEP

SEED = int(os.environ.get("GATHER_TEST_SEED", "16"))
COUNT = int(os.environ.get("GATHER_TEST_EXAMPLES", 400 // min(STEP, 4)))
GROUPS = {"random": lambda: cases.random_cases(SEED, COUNT), "types of ours": lambda: cases.wider_cases(SEED), "faults": lambda: cases.fault_cases(SEED),
          "quantised": lambda: cases.quantised_cases(SEED, 40), "ONNX": backend.quick_cases}
LEAST = {"random": min(200, COUNT // 2), "types of ours": 24, "faults": 20, "quantised": 20, "ONNX": 10}  # cases that this ONNX Runtime must run


def compared(chosen: list, library: str) -> tuple[list, dict]:
    """The cases that this ONNX Runtime takes without the plug-in, and all answers to them."""
    answers = compare.ask(chosen, library)
    kept = [n for n, case in enumerate(chosen) if case.fault or case.wider or "error" not in answers["built-in"][n]]
    return [chosen[n] for n in kept], {door: [found[n] for n in kept] for door, found in answers.items()}


@pytest.mark.parametrize("group", GROUPS)
def test_same_bytes(group, library):
    chosen, answers = compared(GROUPS[group](), library)
    assert len(chosen) >= LEAST[group]
    assert compare.faults_among(chosen, answers) == []


def test_a_difference_is_seen(library):
    """The comparison can fail: for another expectation, for a difference that is not there, and for a crash."""
    plain = next(case for case in cases.random_cases(SEED, 400) if not case.difference and "float32" in case.name and case.expected.size)
    chosen, answers = compared([plain], library)
    assert compare.faults_among([replace(plain, difference="strings")], answers)
    other = dict(answers, operators=[{"outputs": [runs.pack(plain.expected + 1)]}])
    assert len(compare.faults_among(chosen, other)) == 1
    crashed = dict(answers, provider=[{"error": "crashed: SIGSEGV", "crash": True}])
    assert len(compare.faults_among(chosen, crashed)) == 1
    fault = cases.fault_cases(SEED)[0]
    wrong = {door: [{"error": "the_node: an index is out of range"}] for door in runs.DOORS}
    assert len(compare.faults_among([fault], wrong)) == 2


def test_a_crash_of_the_child_is_an_answer(tmp_path):
    """A library that is none, and one that ends the process, are answers; the runs after them go on."""
    case = cases.random_cases(SEED, 1)[0]
    feeds = {name: runs.pack(array) for name, array in case.feeds.items()}
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"not a library")
    answers = runs.run_all([{"model": case.model, "door": door, "feeds": feeds} for door in ("operators", "built-in")], str(broken))
    assert "error" in answers[0] and "crash" not in answers[0]
    assert "outputs" in answers[1] or "error" in answers[1]
