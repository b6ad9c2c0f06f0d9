# SPDX-License-Identifier: MIT
"""Both doors of the plug-in beside ONNX Runtime's own kernels, in processes of their own: ONNX's node cases and generated ones; gathers in If, Loop
and Scan; unmodified models of other people's packages and PyTorch's exports, where the profile, the list of providers and the plug-in's report say
who ran; and the scenarios of ort_stress.py. Each is a sample of what script/plugins onnxruntime --cases, --subgraphs, --models and --stress run.
GATHER_TEST_SEED selects another one, GATHER_TEST_EXAMPLES how large it is."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace

import numpy as np
import ort_cases as cases
import ort_networks as networks
import ort_runs as runs
import ort_subgraphs as subgraphs
from ort_subgraphs import Drawn
import pytest
from support.sample import STEP
from support.skip import skip_test


@pytest.fixture(scope="module")
def library() -> str:
    """The plug-in's, whose path is given to processes with ONNX Runtime; without the package the tests are skipped."""
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    return runs.library_path()


# ---- cases of one node

SEED = int(os.environ.get("GATHER_TEST_SEED", "16"))
ONE_IN = min(STEP, 4)  # of a sample
COUNT = int(os.environ.get("GATHER_TEST_EXAMPLES", 400 // ONE_IN))
GROUPS = {"random": lambda: cases.random_cases(SEED, COUNT), "types of ours": lambda: cases.wider_cases(SEED), "faults": lambda: cases.fault_cases(SEED),
          "quantised": lambda: cases.quantised_cases(SEED, 40), "ONNX": cases.quick_cases}
LEAST = {"random": min(200, COUNT // 2), "types of ours": 24, "faults": 20, "quantised": 20, "ONNX": 10}  # cases that this ONNX Runtime must run


def compared(chosen: list, library: str) -> tuple[list, dict]:
    """The cases that this ONNX Runtime takes without the plug-in, and all answers to them."""
    answers = cases.ask(chosen, library)
    kept = [n for n, case in enumerate(chosen) if case.fault or case.wider or "error" not in answers["built-in"][n]]
    return [chosen[n] for n in kept], {door: [found[n] for n in kept] for door, found in answers.items()}


@pytest.mark.parametrize("group", GROUPS)
def test_same_bytes(group, library):
    chosen, answers = compared(GROUPS[group](), library)
    assert len(chosen) >= LEAST[group]
    assert cases.faults_among(chosen, answers) == []


def test_a_difference_of_a_case_is_seen(library):
    """The comparison can fail: for another expectation, for a difference that is not there, and for a crash."""
    plain = next(case for case in cases.random_cases(SEED, 400) if not case.difference and "float32" in case.name and case.expected.size)
    chosen, answers = compared([plain], library)
    assert cases.faults_among([replace(plain, difference="strings")], answers)
    other = dict(answers, operators=[{"outputs": [runs.pack(plain.expected + 1)]}])
    assert len(cases.faults_among(chosen, other)) == 1
    crashed = dict(answers, provider=[{"error": "crashed: SIGSEGV", "crash": True}])
    assert len(cases.faults_among(chosen, crashed)) == 1
    fault = cases.fault_cases(SEED)[0]
    wrong = {door: [{"error": "the_node: an index is out of range"}] for door in runs.DOORS}
    assert len(cases.faults_among([fault], wrong)) == 2


def test_a_crash_of_the_child_is_an_answer(tmp_path):
    """A library that is none, and one that ends the process, are answers; the runs after them go on."""
    case = cases.random_cases(SEED, 1)[0]
    feeds = {name: runs.pack(array) for name, array in case.feeds.items()}
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"not a library")
    answers = runs.run_all([{"model": case.model, "door": door, "feeds": feeds} for door in ("operators", "built-in")], str(broken))
    assert "error" in answers[0] and "crash" not in answers[0]
    assert "outputs" in answers[1] or "error" in answers[1]


# ---- subgraphs

SUBGRAPH_SEED = int(os.environ.get("GATHER_TEST_SEED", "28"))
SHARE = min(1.0, COUNT / 1900)
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


def faults_of_subgraphs(chosen: list, library: str, least: float) -> list[str]:
    """What is wrong with the doors' answers; at least this share of the models must run without them."""
    plain = subgraphs.ask(chosen, "built-in", library)
    assert sum("outputs" in answer for answer in plain) >= least * len(chosen)
    return [fault for door in runs.DOORS[1:] for fault in subgraphs.faults_among(chosen, plain, subgraphs.ask(chosen, door, library), door)]


def test_named_subgraphs(library):
    assert faults_of_subgraphs([subgraphs.case_of(np.random.default_rng(SUBGRAPH_SEED), replace(drawn)) for drawn in NAMED], library, 1.0) == []


def test_sample_of_subgraphs(library):
    assert faults_of_subgraphs(subgraphs.all_cases(SUBGRAPH_SEED, SHARE), library, 0.5) == []


def test_strings_in_subgraphs(library):
    """All of them, but in a sample: strings are objects of the host, and the only elements that are not moved as bytes."""
    assert faults_of_subgraphs(subgraphs.all_cases(SUBGRAPH_SEED, 1 / ONE_IN, types=("string",)), library, 0.8) == []


def test_quantised_in_subgraphs(library):
    assert faults_of_subgraphs(subgraphs.quantised_cases(SUBGRAPH_SEED, 60 // ONE_IN), library, 0.5) == []


def test_all_types_in_subgraphs(library):
    """With schemas of the plug-in's own, shapes are not always known; but nothing crashes, and what runs has the right elements."""
    chosen = subgraphs.all_cases(SUBGRAPH_SEED + 1, SHARE / 4)
    plain, answers = subgraphs.ask(chosen, "built-in", library), subgraphs.ask(chosen, "operators", library, config={"gather.types": "all"})
    assert not [answer for answer in answers if answer.get("crash")]
    for case, before, after in zip(chosen, plain, answers, strict=True):
        if "outputs" in before and "outputs" in after:
            assert [content for _, _, content in before["outputs"]] == [content for _, _, content in after["outputs"]], case.name


def test_a_fault_of_a_subgraph_is_seen(library):
    """The comparison can fail."""
    case = subgraphs.case_of(np.random.default_rng(SUBGRAPH_SEED), NAMED[0])
    good, other = {"outputs": [runs.pack(np.arange(3))]}, {"outputs": [runs.pack(np.arange(4))]}
    crash, error = {"error": "crashed: SIGSEGV", "crash": True}, {"error": "no"}
    wrong = [(good, other), (good, crash), (good, error), (error, good), (error, crash)]
    assert [subgraphs.is_right(case, before, after) for before, after in wrong] == [False] * len(wrong)
    assert subgraphs.is_right(case, good, good) and subgraphs.is_right(case, error, {"error": "other words"}) and subgraphs.is_right(case, crash, good)


# ---- unmodified models

LEVELS = ("DISABLE_ALL", "ENABLE_ALL")


@pytest.fixture(scope="module")
def exported(library) -> list[dict]:
    return networks.run_networks(networks.exports(networks.DATA), library, LEVELS)


def operators_of(nodes: list[dict]) -> set[str]:
    return {node["op"] for node in nodes}


def test_packages(library):
    """silero-vad's six files, magika and rapidocr."""
    found = networks.packages()
    missing = [package for package, count in networks.PACKAGE_FILES.items() if sum(n.name.startswith(package) for n in found) != count]
    if missing:
        skip_test("real_models", f"{', '.join(missing)}: the files are not in {networks.PACKAGES}")
    rows = networks.run_networks(found, library, LEVELS)
    assert [fault for row in rows for fault in networks.faults_of(row)] == []
    assert sum(len(networks.taken(row["provider"], ours=True)) for row in rows) >= 30


def test_exports(exported):
    """Networks like BERT, a language model's decoder and a graph network, by both exporters of PyTorch."""
    assert len(exported) == 22
    assert [fault for row in exported for fault in networks.faults_of(row)] == []


def test_who_ran(exported):
    """Gather, GatherElements and GatherND ran in the provider, which the session lists before the CPU's; without it, nowhere."""
    for row in exported:
        assert row["built-in"]["providers"] == row["operators"]["providers"] == ["CPUExecutionProvider"]
        assert row["provider"]["providers"] == ["GatherExecutionProvider", "CPUExecutionProvider"]
        assert {node["provider"] for node in networks.taken(row["provider"], ours=True)} == {"GatherExecutionProvider"}
        assert networks.taken(row["built-in"], ours=True) == []
    took = [operators_of(networks.taken(row["provider"], ours=True)) for row in exported]
    assert set().union(*took) == {"Gather", "GatherElements", "GatherND"}


def test_all_nodes_of_a_model(exported):
    """With no optimisation, the provider runs each gather node that the file has at its top level."""
    for row in exported:
        if row["level"] == "DISABLE_ALL":
            assert len(networks.taken(row["provider"], ours=True)) == networks.reported(row["operators"]) == row["network"].nodes


def test_a_difference_of_a_model_is_seen(exported):
    """The comparison can fail: other bytes, nodes left to the CPU, no report."""
    row = next(row for row in exported if row["network"].name.startswith("bert") and row["level"] == "ENABLE_ALL")
    assert networks.faults_of(row) == []
    other = dict(row["operators"], outputs=[("float32", (1,), b"\0\0\0\0")])
    assert len(networks.faults_of(row | {"operators": other})) == 1
    assert len(networks.faults_of(row | {"provider": row["built-in"]})) == 2
    assert len(networks.faults_of(row | {"operators": dict(row["operators"], log="")})) == 1


# ---- hard use

ROUNDS = {"threads": 8, "registrations": 10, "fork": 2, "outlive": 6, "shared": 12, "unregister": 6, "faults": 10}
PAIRS = [(scenario, door) for scenario in ROUNDS for door in runs.DOORS[1:] if (scenario, door) != ("unregister", "operators")]


@pytest.fixture(scope="module")
def stress_model(library, tmp_path_factory):
    return runs.write_stress_model(tmp_path_factory.mktemp("stress") / "stress.onnx")


@pytest.mark.parametrize("scenario, door", PAIRS)
def test_scenario(scenario, door, library, stress_model):
    assert runs.run_scenario(scenario, door, library, stress_model, ROUNDS[scenario], timeout=120) == ""


def test_without_the_plug_in_a_scenario_fails(library, stress_model):
    """The scenarios can fail: ONNX Runtime's own kernels word an index out of range in another way."""
    assert "another message" in runs.run_scenario("faults", "built-in", library, stress_model, 1, timeout=120)
