# SPDX-License-Identifier: MIT
"""Scatters in ONNX Runtime and in libgather: the part of onnxruntime_suite.py about them. One thread: with more its ScatterND is wrong where
indices repeat (onnxruntime-scatter-nd-lost-updates).
"""

from __future__ import annotations

import functools

import libgather
import numpy as np
from cases_scatter import ND_SHAPES, REDUCTIONS, SCATTER_ND, SHAPES, VERSIONS, Scatter, make
from onnx_models import NUMBERS
from report import Report, cases

CASES = cases(32)  # of each version, type and reduction
TYPES = [name for name in NUMBERS if not name.startswith("complex")]
FLOATS_16 = ("float16", "bfloat16")


def model(op: str, rules: str, type_: str, index_type: str, axis: int, reduction: str) -> bytes:
    """One node, of tensors of any shape."""
    from onnx import helper

    opset, ir, _ = VERSIONS[op, rules]
    attributes = ({} if op == SCATTER_ND else {"axis": axis}) | ({} if reduction == "none" else {"reduction": reduction})
    kinds = (("x", NUMBERS[type_]), ("i", NUMBERS[index_type]), ("u", NUMBERS[type_]), ("y", NUMBERS[type_]))
    values = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds]
    graph = helper.make_graph([helper.make_node(op, ["x", "i", "u"], ["y"], **attributes)], "g", values[:3], values[3:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir).SerializeToString()


@functools.cache
def session(*of):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model(*of), options, providers=["CPUExecutionProvider"])


def theirs(case: Scatter) -> np.ndarray:
    from onnxruntime_suite import value

    run = session(case.op, case.rules, case.type, str(case.indices.dtype), case.axis, case.reduction)
    if case.type == "string":
        return run.run(None, {"x": case.data, "i": case.indices, "u": case.updates})[0]
    out, binding = np.empty(case.data.shape, case.data.dtype), run.io_binding()
    for name, array, type_ in (("x", case.data, case.type), ("i", case.indices, ""), ("u", case.updates, case.type)):
        binding.bind_ortvalue_input(name, value(array, type_))
    binding.bind_ortvalue_output("y", value(out, case.type))
    run.run_with_iobinding(binding)
    return out


def lacks(case: Scatter) -> bool:
    """What ONNX Runtime does not compute, although the document has it."""
    return (case.type in FLOATS_16 and case.reduction in ("add", "mul")) or (case.reduction in ("min", "max") and (
        case.type == "bool" or case.type == "bfloat16" or (case.type == "float16" and case.op == SCATTER_ND)))  # fmt: skip


def attempt(call, case: Scatter):
    try:
        return call(case), None
    except Exception as error:  # whatever it raises is what we ask for
        return None, error


def judge(report: Report, case: Scatter) -> None:
    from ours import same

    group = f"{case.op} {case.rules}"
    mine, error = attempt(Scatter.ours, case)
    result, refused = attempt(theirs, case)
    if error is not None and not isinstance(error, libgather.GatherError):
        report.failed(group, f"{case}: libgather raised {type(error).__name__}: {error}")
    elif isinstance(error, libgather.GatherIndexError) and case.type != "string" and not untouched(case):
        report.failed(group, f"{case}: libgather wrote to out before its error")
    elif error is not None and refused is not None:
        report.passed(group)
    elif error is None and refused is None:
        if same(mine, result):
            report.passed(group)
        else:
            report.failed(group, f"{case}: other elements")
    elif refused is not None and lacks(case):
        report.different(group, "onnxruntime-scatter-lacks")
    elif error is not None and case.type == "string" and case.reduction == "add":
        report.different(group, "onnxruntime-scatter-strings")
    elif error is not None and case.op == SCATTER_ND and not case.indices.shape[-1] and same(np.asarray(case.ours(rules=None)), result):
        report.different(group, "onnxruntime-scatter-nd-empty-tuples")
    elif error is not None and case.rules == "onnx-9" and same(case.ours(rules="onnx-11"), result):
        report.different(group, "onnxruntime-scatter-9-negative")
    else:
        report.failed(group, f"{case}: ONNX Runtime {refused or 'gives a result'}; libgather {error or 'gives a result'}")


def untouched(case: Scatter) -> bool:
    """Whether an error leaves out as it was."""
    out = np.full(case.data.nbytes, 0xA5, np.uint8).view(case.data.dtype).reshape(case.data.shape)
    attempt(lambda c: c.ours(out=out), case)
    return out.tobytes() == b"\xa5" * case.data.nbytes


def run_scatters(report: Report) -> None:
    """Random cases, and the shapes of its own tests."""
    for number, ((op, rules), (_, _, negative)) in enumerate(VERSIONS.items()):
        for kind, type_ in enumerate(TYPES):
            if type_ == "bfloat16" and rules in ("onnx-9", "onnx-11"):
                continue  # not in the older lists
            for reduction in REDUCTIONS.get(rules, ("none",)):
                if type_ == "string" and reduction not in ("none", "add"):
                    continue
                for seed in range(CASES):
                    judge(report, make([5, number, kind, seed], op, rules, type_, reduction, negative))
                for seed, given in enumerate(ND_SHAPES if op == SCATTER_ND else SHAPES):
                    judge(report, make([6, number, kind, seed], op, rules, type_, reduction, True, given))
