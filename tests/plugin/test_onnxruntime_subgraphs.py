# SPDX-License-Identifier: MIT
"""Gathers in If, Loop and Scan through both doors, beside ONNX Runtime's own kernels: a sample of what script/plugins onnxruntime
--subgraphs runs. GATHER_TEST_SEED selects another one, GATHER_TEST_EXAMPLES how many models it has."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import ort_runs as runs
import ort_subgraphs as subgraphs
from ort_package import library  # noqa: F401  the fixture
from ort_subgraphs import Drawn
from support.sample import STEP

SEED = int(os.environ.get("GATHER_TEST_SEED", "28"))
ONE_IN = min(STEP, 4)  # of a sample
SHARE = min(1.0, int(os.environ.get("GATHER_TEST_EXAMPLES", 400 // ONE_IN)) / 1900)
# One model for each fault that there was. The rest of a row is what it was seen with.
COMMON = {"level": "ENABLE_ALL", "pattern": True, "taken": True, "rounds": 2}
NAMED = [
    # Values of the main graph, which the host moves after it made the kernels of subgraphs.
    Drawn("string", ("If",), "initializer", "input", "none", **COMMON),
    Drawn("string", ("If",), "initializer", "input", "none", **COMMON | {"level": "DISABLE_ALL"}, ops=("GatherElements",)),
    Drawn("string", ("Loop",), "constant", "number", "none", **COMMON, ops=("Gather", "GatherND")),
    Drawn("string", ("Scan",), "initializer", "initializer", "right", **COMMON, ops=("GatherND", "GatherElements")),
    Drawn("string", ("If", "If"), "initializer", "constant", "none", **COMMON, ops=("Gather", "GatherElements", "GatherND")),
    # Shapes that the host infers: Scan needs them, a Loop of nothing and a wrong declaration show them.
    Drawn("float32", ("Scan",), "initializer", "number", "none", **COMMON),
    Drawn("float32", ("Scan", "If"), "constant", "initializer", "none", **COMMON, index_shape=[]),
    Drawn("float32", ("Loop",), "initializer", "number", "none", **COMMON | {"rounds": 0}),
    Drawn("int64", ("Loop",), "input", "inner constant", "none", **COMMON | {"rounds": 0}, index_shape=[], shape=[6, 1]),
    Drawn("float32", ("If",), "initializer", "input", "wrong", **COMMON, index_shape=[]),
    Drawn("int32", ("If", "Scan"), "constant", "inner initializer", "wrong", **COMMON, index_shape=[]),
]


def faults(chosen: list, library: str, least: float) -> list[str]:
    """What is wrong with the doors' answers; at least this share of the models must run without them."""
    plain = subgraphs.ask(chosen, "built-in", library)
    assert sum("outputs" in answer for answer in plain) >= least * len(chosen)
    return [fault for door in runs.DOORS[1:] for fault in subgraphs.faults_among(chosen, plain, subgraphs.ask(chosen, door, library), door)]


def test_named(library):
    assert faults([subgraphs.case_of(np.random.default_rng(SEED), replace(drawn)) for drawn in NAMED], library, 1.0) == []


def test_sample(library):
    assert faults(subgraphs.all_cases(SEED, SHARE), library, 0.5) == []


def test_strings(library):
    """All of them, but in a sample: strings are objects of the host, and the only elements that are not moved as bytes."""
    assert faults(subgraphs.all_cases(SEED, 1 / ONE_IN, types=("string",)), library, 0.8) == []


def test_quantised(library):
    assert faults(subgraphs.quantised_cases(SEED, 60 // ONE_IN), library, 0.5) == []


def test_all_types(library):
    """With schemas of the plug-in's own, shapes are not always known; but nothing crashes, and what runs has the right elements."""
    chosen = subgraphs.all_cases(SEED + 1, SHARE / 4)
    plain, answers = subgraphs.ask(chosen, "built-in", library), subgraphs.ask(chosen, "operators", library, config={"gather.types": "all"})
    assert not [answer for answer in answers if answer.get("crash")]
    for case, before, after in zip(chosen, plain, answers, strict=True):
        if "outputs" in before and "outputs" in after:
            assert [content for _, _, content in before["outputs"]] == [content for _, _, content in after["outputs"]], case.name


def test_a_fault_is_seen(library):
    """The comparison can fail."""
    case = subgraphs.case_of(np.random.default_rng(SEED), NAMED[0])
    good, other = {"outputs": [runs.pack(np.arange(3))]}, {"outputs": [runs.pack(np.arange(4))]}
    crash, error = {"error": "crashed: SIGSEGV", "crash": True}, {"error": "no"}
    wrong = [(good, other), (good, crash), (good, error), (error, good), (error, crash)]
    assert [subgraphs.is_right(case, before, after) for before, after in wrong] == [False] * len(wrong)
    assert subgraphs.is_right(case, good, good) and subgraphs.is_right(case, error, {"error": "other words"}) and subgraphs.is_right(case, crash, good)
