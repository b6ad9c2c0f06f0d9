# SPDX-License-Identifier: MIT
"""The scenarios of ort_stress.py with few rounds, each in a child process; script/plugins onnxruntime --stress runs more of them, also
under valgrind and with AddressSanitizer."""

from __future__ import annotations

import importlib.util

import ort_runs as runs
import ort_stress_model as stress
import pytest
from support.skip import skip_test

ROUNDS = {"threads": 8, "registrations": 10, "fork": 2, "outlive": 6, "shared": 12, "unregister": 6, "faults": 10}
PAIRS = [(scenario, door) for scenario in ROUNDS for door in runs.DOORS[1:] if (scenario, door) != ("unregister", "operators")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    return stress.write_model(tmp_path_factory.mktemp("stress") / "stress.onnx")


@pytest.mark.parametrize("scenario, door", PAIRS)
def test_scenario(scenario, door, model):
    assert stress.run_scenario(scenario, door, runs.library_path(), model, ROUNDS[scenario], timeout=120) == ""


def test_without_the_plug_in_a_scenario_fails(model):
    """The scenarios can fail: ONNX Runtime's own kernels word an index out of range in another way."""
    assert "another message" in stress.run_scenario("faults", "built-in", runs.library_path(), model, 1, timeout=120)
