# SPDX-License-Identifier: MIT
"""Random models of one node in ONNX's reference implementation and in libgather: every version, every type."""

from __future__ import annotations

import numpy as np
from cases import ELEMENTS, Case, is_bad, make
from cases_nd import make_nd
from onnx_models import ND_VERSIONS, NUMBERS, VERSIONS, one_node
from ours import Answer, answer, same
from report import Report, cases

CASES = cases(10)  # of each version and type
LONGEST = 64  # axis that the reference can take: it is made of numpy.choose


def theirs(case: Case) -> tuple[np.ndarray | None, str]:
    """The reference's result, or its error."""
    from onnx.reference import ReferenceEvaluator

    model = one_node(case.op, case.rules, case.type, str(case.indices.dtype), case.axis, case.batch_dims)
    try:
        result = ReferenceEvaluator(model).run(None, {"x": case.data, "i": case.indices})[0]
        return np.asarray(result, case.data.dtype), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def refusal(case: Case) -> str:
    """Why the reference refuses a good case, as far as that is known."""
    a = case.axis % case.data.ndim
    if case.op != ELEMENTS:
        return ""
    if any(n != m for d, (n, m) in enumerate(zip(case.data.shape, case.indices.shape, strict=True)) if d != a):
        return "onnx-reference-shorter"
    if case.axis < 0 and case.data.shape != case.indices.shape:
        return "onnx-reference-negative-axis"
    return "onnx-reference-long-axis" if case.length > LONGEST else ""


def acceptance(case: Case, result: np.ndarray) -> str:
    """Why the reference gives a result where the document wants an error, as far as that is known."""
    if case.op == ELEMENTS:
        meant, name = answer(case, mode="wrap"), "onnx-reference-modulo"
    elif case.rules == "onnx-1" and not is_bad(case, negative=True):
        meant, name = answer(case, rules="onnx-11"), "onnx-reference-gather-1-negative"
    else:
        return ""
    return name if meant.result is not None and same(meant.result, result) else ""


def judge(report: Report, group: str, case: Case, mine: Answer) -> None:
    """One case."""
    result, error = theirs(case)
    known = ""
    if mine.wrong:
        report.failed(group, f"{case}: {mine.wrong}")
        return
    if mine.result is not None and result is not None:
        agree = same(mine.result, result)
    else:
        agree = mine.error is not None and bool(error)
        known = "" if agree else refusal(case) if error else acceptance(case, result)
    if agree:
        report.passed(group)
    elif known:
        report.different(group, known)
    else:
        report.failed(group, f"{case}: the reference {error or result.reshape(-1)[:8]}; libgather {mine.error}")


def run_reference(report: Report) -> None:
    """All versions and types."""
    for number, ((op, rules), (_, _, negative)) in enumerate(VERSIONS.items()):
        for kind, type_ in enumerate(NUMBERS):
            if type_ == "bfloat16" and rules != "onnx-13":
                continue  # not in the older lists
            for seed in range(CASES):
                case = make([6, number, kind, seed], op, rules, type_, ("int32", "int64"), negative)
                judge(report, f"reference: {op} {rules}", case, answer(case))
    run_tuples(report)


def run_tuples(report: Report) -> None:
    """The same of GatherND."""
    for number, (op, rules) in enumerate(ND_VERSIONS):
        for kind, type_ in enumerate(NUMBERS):
            if rules == "microsoft-1" or (type_ == "bfloat16" and rules != "onnx-13"):
                continue  # not ONNX's own; not in the older lists
            for seed in range(CASES):
                case = make_nd([7, number, kind, seed], rules, type_, ("int64",))
                judge(report, f"reference: {op} {rules}", case, answer(case))
