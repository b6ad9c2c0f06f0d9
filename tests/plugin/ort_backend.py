# SPDX-License-Identifier: MIT
"""ONNX's own node cases (onnx.backend.test) of the operators that the plug-in takes over, as cases like those of ort_cases.py."""

from __future__ import annotations

import warnings

import numpy as np
import ort_networks
from ort_cases import Case


def as_case(name: str, model, inputs, outputs) -> Case:
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    feeds = {key: np.asarray(array) for key, array in zip(names, inputs, strict=False)}
    return Case(name, model.SerializeToString(), feeds, "", np.asarray(outputs[0]) if outputs else np.empty(0))


def usable(inputs) -> bool:
    """Whether NumPy has types for the inputs: the wheel takes no others."""
    return all(isinstance(array, np.ndarray) and array.dtype.kind in "biufO" for array in inputs)


def quick_cases() -> list[Case]:
    """Those of Gather, GatherElements and GatherND themselves: ONNX makes them when a module is imported."""
    from onnx.backend.test.case import node as listed
    from onnx.backend.test.case.node import gather, gatherelements, gathernd  # noqa: F401

    found = {}
    for case in listed._NodeTestCases:
        if case.name.startswith("test_gather"):
            found[case.name] = as_case(case.name, case.model, *case.data_sets[0])
    return list(found.values())


def node_cases() -> list[Case]:
    """All node cases whose model has one of the operators, in a subgraph or a function's body too."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = collect_testcases(None)
    found = []
    for case in listed:
        if ort_networks.count_nodes(case.model) or any(node.op_type in ort_networks.FAMILY for function in case.model.functions for node in function.node):
            found += [as_case(f"{case.name}/{n}", case.model, inputs, outputs) for n, (inputs, outputs) in enumerate(case.data_sets) if usable(inputs)]
    return found
