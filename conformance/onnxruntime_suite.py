# SPDX-License-Identifier: MIT
"""Random models of one node in ONNX Runtime and in libgather: every version of ONNX Gather, GatherElements and GatherND, and
com.microsoft's GatherND; every type that ONNX Runtime takes, good and bad indices. Results are compared bit by bit, errors by whether
there is one.
"""

from __future__ import annotations

import functools

import libgather
import numpy as np
from cases import ELEMENTS, ND, Case, is_bad, make
from cases_nd import RULES, make_nd
from onnx_models import ND_VERSIONS, NUMBERS, VERSIONS, one_node
from onnxruntime_scatters import run_scatters
from ours import answer, call, same
from report import Report, cases, main, require_cases, version_of

CASES = cases(60)  # of each version and type
ND_CASES = cases(400)  # the same, of GatherND
FILL = 0xA5
COMPLEX = (np.complex64, np.complex128)  # which ONNX Runtime does not have
TYPES = [name for name in NUMBERS if not name.startswith("complex")]


@functools.cache
def session(op: str, rules: str, type_: str, index_type: str, axis: int, batch_dims: int = 0):
    """A model of one node that takes tensors of any shape."""
    import onnxruntime

    model = one_node(op, rules, type_, index_type, axis, batch_dims)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def value(array: np.ndarray, type_: str):
    """An array as ONNX Runtime's, without a copy."""
    from onnxruntime import OrtValue

    if type_ == "bfloat16":
        return OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), NUMBERS["bfloat16"])
    return OrtValue.ortvalue_from_numpy(array)


def theirs(case: Case) -> tuple[np.ndarray | None, str, np.ndarray | None]:
    """Result, error, and the output's bytes as they were when the call ended."""
    run = session(case.op, case.rules, case.type, str(case.indices.dtype), case.axis, case.batch_dims)
    try:
        if case.type == "string":
            return run.run(None, {"x": case.data, "i": case.indices})[0], "", None
        out = np.full(int(np.prod(case.out_shape)) * case.data.itemsize, FILL, np.uint8)
        shaped = out.view(case.data.dtype).reshape(case.out_shape)
        binding = run.io_binding()
        binding.bind_ortvalue_input("x", value(case.data, case.type))
        binding.bind_ortvalue_input("i", value(case.indices, str(case.indices.dtype)))
        binding.bind_ortvalue_output("y", value(shaped, case.type))
        run.run_with_iobinding(binding)
        return shaped, "", out
    except Exception as error:  # whatever it raises is what we ask for
        return None, str(error), out if case.type != "string" else None


def first_strings(case: Case, right: np.ndarray) -> np.ndarray:
    """What ONNX Runtime makes of strings: the first one of each slice, and nothing."""
    block = int(np.prod(case.data.shape[case.axis % case.data.ndim + 1 :]))
    wrong = right.copy().reshape(-1)
    for i in range(wrong.size):
        wrong[i] = wrong[i] if i % block == 0 else ""
    return wrong.reshape(right.shape)


def judge(report: Report, group: str, case: Case) -> None:
    """One case."""
    mine = answer(case)
    result, error, out = theirs(case)
    if mine.wrong:
        report.failed(group, f"{case}: {mine.wrong}")
    elif mine.error is not None and error:
        partly = out is not None and (out != FILL).any()
        if partly:
            report.different(group, "onnxruntime-elements-half-written" if case.op == ELEMENTS else "a half-written Gather")
        else:
            report.passed(group)
    elif mine.result is not None and result is not None:
        if same(mine.result, result):
            report.passed(group)
        elif case.op == "Gather" and case.type == "string" and same(first_strings(case, mine.result), result):
            report.different(group, "onnxruntime-string-rows")
        else:
            report.failed(group, f"{case}: other elements")
    elif result is not None and case.op == ND and mine.error is not None and not result.size:
        report.different(group, "onnxruntime-nd-empty-output")
    elif result is not None and case.rules == "onnx-1" and not is_bad(case, negative=True):
        wanted = answer(case, rules="onnx-11").result
        wanted = first_strings(case, wanted) if case.type == "string" and wanted is not None else wanted
        if wanted is not None and same(wanted, result):
            report.different(group, "onnxruntime-gather-1-negative")
        else:
            report.failed(group, f"{case}: negative indices give other elements")
    else:
        report.failed(group, f"{case}: ONNX Runtime {error or 'gives a result'}; libgather {mine.error or 'gives a result'}")


def shape_mistakes(report: Report) -> None:
    """Shapes of GatherND that its document does not allow. ONNX Runtime takes some of them."""
    known = {((2, 3), (2, 0), 0): "onnxruntime-nd-empty-tuples", ((2, 3), (4, 1), 1): "onnxruntime-nd-batch-multiple"}
    wrong = [*known, ((2, 3), (1, 1), 1), ((2, 3), (3, 1), 1), ((2, 3), (2, 3), 0), ((2, 3), (2, 2), 1), ((2, 3), (2, 1), 2)]
    wrong += [((2, 3), (), 0), ((), (1,), 0), ((2, 3), (2, 1), -1)]
    for op, rules in ND_VERSIONS:
        group = f"{op} {rules}, shapes"
        for data, indices, b in wrong:
            if (b and not RULES[rules][0]) or (indices and indices[-1] == 0 and RULES[rules][1]):
                continue
            case = Case(op, rules, "float32", np.zeros(data, np.float32), np.zeros(indices, np.int64), 0, b)
            try:
                call(case, rules=rules)
                report.failed(group, f"{case}: no error from libgather")
            except libgather.GatherError:
                try:
                    feed = {"x": case.data, "i": case.indices}
                    session(op, rules, "float32", "int64", 0, b).run(None, feed)
                    name = known.get((data, indices, b))
                    if name:
                        report.different(group, name)
                    else:
                        report.failed(group, f"{case}: no error from ONNX Runtime")
                except Exception:
                    report.passed(group)


def tuples(report: Report) -> None:
    """GatherND."""
    for number, (op, rules) in enumerate(ND_VERSIONS):
        index_types = ("int32", "int64") if rules == "microsoft-1" else ("int64",)
        for kind, type_ in enumerate(TYPES):
            if type_ == "bfloat16" and rules != "onnx-13":
                continue
            for seed in range(ND_CASES):
                judge(report, f"{op} {rules}", make_nd([3, number, kind, seed], rules, type_, index_types))
    shape_mistakes(report)


def complex_types(report: Report) -> None:
    """The two types of the documents that ONNX Runtime does not have."""
    for op, rules in VERSIONS:
        for type_ in COMPLEX:
            case = Case(op, rules, type_.__name__, np.arange(3).astype(type_), np.array([2, 0]), 0)
            mine = answer(case)
            try:
                session(op, rules, case.type, "int64", 0)
                report.failed(f"{op} {rules}", f"ONNX Runtime takes {case.type}: it is to be compared")
            except Exception:
                right = mine.result is not None and same(case.data[case.indices], mine.result)
                if right:
                    report.different(f"{op} {rules}", "onnxruntime-no-complex")
                else:
                    report.failed(f"{op} {rules}", f"{case}: libgather {mine.error}")


def illegal_shapes(report: Report) -> None:
    """Axis and shapes that no version allows: an error from both."""
    for op, rules in VERSIONS:
        group = f"{op} {rules}, shapes"
        wrong = [((2, 3), (2, 2), 2), ((2, 3), (2, 2), -3), ((), (1,), 0)]
        wrong += ([((2, 3), (2,), 0), ((2, 3), (2, 4), 0), ((2, 3), (3, 1), 1), ((3, 4), (9, 0), 1)] if op == ELEMENTS else [])
        for data, indices, axis in wrong:
            case = Case(op, rules, "float32", np.zeros(data, np.float32), np.zeros(indices, np.int64), axis)
            try:
                call(case, rules=rules)
                report.failed(group, f"{case}: no error from libgather")
            except libgather.GatherError:
                try:
                    feed = {"x": case.data, "i": case.indices}
                    session(op, rules, "float32", "int64", axis).run(None, feed)
                    report.failed(group, f"{case}: no error from ONNX Runtime")
                except Exception:
                    report.passed(group)


def run() -> Report:
    report = Report("onnxruntime", "onnxruntime")
    version_of("onnx")
    for number, ((op, rules), (_, _, negative)) in enumerate(VERSIONS.items()):
        for kind, type_ in enumerate(TYPES):
            if type_ == "bfloat16" and rules != "onnx-13":
                continue  # not in the older lists
            for seed in range(CASES):
                case = make([1, number, kind, seed], op, rules, type_, ("int32", "int64"), negative)
                judge(report, f"{op} {rules}", case)
    complex_types(report)
    illegal_shapes(report)
    tuples(report)
    run_scatters(report)
    require_cases(report, len(VERSIONS) * 13 * CASES + len(ND_VERSIONS) * 13 * ND_CASES)
    return report


if __name__ == "__main__":
    main("onnxruntime", run)
