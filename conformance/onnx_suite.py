# SPDX-License-Identifier: MIT
"""ONNX's backend tests through ONNX's own runner, on libgather.onnx_backend. Every test whose model has only nodes of Gather,
GatherElements and GatherND, and of the operators that write, must run and pass; the others are of operators that libgather does not have, and are counted as
such. Values are compared byte by byte, which is stricter than the runner's own tolerance.
"""

from __future__ import annotations

import importlib
import os
import unittest

from onnx_reference import run_reference
from report import NotRun, Report, main, require_cases, version_of

OURS = ("Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "TensorScatter")
BESIDES = "models of other operators"
LEAST = 30


def node_types(case) -> set[str]:
    """The operators of a test's model; of models in files nothing is known without reading them."""
    if case.model is None:
        import onnx

        path = f"{case.model_dir}/model.onnx"
        graph = onnx.load(path, load_external_data=False).graph if case.model_dir else None
        return {node.op_type for node in graph.node} if graph is not None else {"(fetched from elsewhere)"}
    return {node.op_type for node in case.model.graph.node}


def import_ours(package) -> None:
    """In place of importing all of ONNX's modules of cases, whose cases are computed as they are imported."""
    for name in OURS:
        importlib.import_module(f"{package.__name__}.{name.lower()}")


def all_cases() -> list:
    """CONFORMANCE_OURS=1: of the cases of nodes those in modules named for these operators, for tests that have no time for the others."""
    from onnx.backend.test import loader

    if os.environ.get("CONFORMANCE_OURS"):
        loader.import_recursive = import_ours
    kinds = ("node", "real", "simple", "pytorch-converted", "pytorch-operator")
    return [case for kind in kinds for case in loader.load_model_tests(kind=kind)]


def exact_runner(backend):
    """ONNX's runner with a comparison that forgives nothing."""
    import numpy as np
    from onnx.backend.test import BackendTest

    class Exact(BackendTest):
        @classmethod
        def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
            super().assert_similar_outputs(ref_outputs, outputs, rtol, atol, model_dir)
            for wanted, got in zip(ref_outputs, outputs, strict=True):
                assert wanted.dtype == got.dtype and np.asarray(wanted).tobytes() == np.asarray(got).tobytes()

    return Exact(backend, __name__)


def outcomes(suite: unittest.TestSuite) -> tuple[set[str], dict[str, str]]:
    """The names of the tests that ran, and the texts of those that failed."""
    result = unittest.TestResult()
    ran: set[str] = set()

    class Watch(unittest.TestResult):
        def addSuccess(self, test):
            ran.add(test.id().rpartition(".")[2])

    result = Watch()
    suite.run(result)
    failed = {test.id().rpartition(".")[2]: text for test, text in result.failures + result.errors}
    return ran, failed


def group_of(case) -> str:
    return " and ".join(sorted(node_types(case)))


def run() -> Report:
    report = Report("onnx", "onnx")
    version_of("onnx")
    try:
        from libgather import onnx_backend
    except ImportError as missing:
        raise NotRun(f"libgather.onnx_backend: {missing}") from None
    cases = all_cases()
    ours = {f"{case.name}_cpu": case for case in cases if node_types(case) <= set(OURS)}
    runner = exact_runner(onnx_backend.Backend)
    for name in ours:
        runner.include(f"^{name}$")
    ran, failed = outcomes(runner.test_suite)
    for name, case in ours.items():
        if name in failed:
            report.failed(group_of(case), f"{name}: {failed[name][-600:]}")
        elif name in ran:
            report.passed(group_of(case))
        else:
            report.failed(group_of(case), f"{name} was not run")
    report.foreign(BESIDES, len(cases) - len(ours))
    mixed = sum(1 for case in cases if node_types(case) & set(OURS) and case.name + "_cpu" not in ours)
    report.remark(f"{mixed} of the tests of other operators have a node of these among nodes of other operators")
    require_cases(report, LEAST)
    run_reference(report)
    return report


if __name__ == "__main__":
    main("onnx", run)
