# SPDX-License-Identifier: MIT
"""Random models of one node on OpenVINO's CPU device and in libgather: every version of OpenVINO Gather,
GatherElements and GatherND, every type that can be compared, good and bad indices, with and without lengths that the model knows.
Results are compared bit by bit.
"""

from __future__ import annotations

import os

import numpy as np
from cases import ELEMENTS, ND, Case, make
from cases_nd import is_bad, make_nd
from openvino_child import FILL, NAMES, Child, Theirs
from openvino_scatters import run_scatters
from ours import Answer, answer, same
from report import NotRun, Report, cases, main, require_cases

CASES = cases(12)  # of each version and type
ND_CASES = cases(60)  # the same, of GatherND
VERSIONS = {
    ("Gather", "openvino-1"): False,
    ("Gather", "openvino-7"): False,
    ("Gather", "openvino-8"): True,
    (ELEMENTS, "openvino-6"): True,
}
INDEX_TYPES = ("int32", "int64", "int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
ND_VERSIONS = {(ND, "openvino-5"): False, (ND, "openvino-8"): True}
SHORT = 64  # elements of data and of indices, up to which a vector of 32-bit numbers has a path of its own

SHORT_TYPES = ("int16", "uint16", "int32", "uint32", "int64", "uint64")


def low_half(values: np.ndarray) -> np.ndarray:
    """64-bit integers as OpenVINO computes with them: the low 32 bits, with their sign."""
    return values.astype(np.int64).astype(np.int32).astype(np.int64).astype(values.dtype)


def narrowed(case: Case, wanted: np.ndarray) -> tuple[np.ndarray, str]:
    """The right answer in the 32 bits that OpenVINO computes in."""
    if case.type in ("int64", "uint64"):
        return low_half(wanted), "openvino-64-bit-integers"
    if case.type == "float64":
        largest = float(np.finfo(np.float32).max)
        return wanted.clip(-largest, largest).astype(np.float32).astype(np.float64), "openvino-float64"
    if case.type == "float16":
        quiet = np.where(np.isnan(wanted), wanted.view(np.uint16) | 0x200, wanted.view(np.uint16))
        return quiet.astype(np.uint16).view(np.float16), "openvino-float16-nan"
    return wanted, ""


def as_openvino_means(case: Case) -> tuple[Answer, str]:
    """A bad index by OpenVINO's own rule: zeros, after the indices were cut to 32 bits. And what that difference is
    called.
    """
    wide = case.indices.dtype.itemsize == 8 and not np.array_equal(low_half(case.indices), case.indices)
    indices = low_half(case.indices) if wide else case.indices
    cut = Case(case.op, case.rules, case.type, case.data, indices, case.axis, case.batch_dims, case.kind)
    fill = {"mode": "fill", "fill_value": ""} if case.type == "string" else {"mode": "zero"}
    if case.op == ELEMENTS:
        return answer(cut), "openvino-wide-index"
    strings = case.type == "string"
    name = "openvino-wide-index" if wide else "openvino-string-negative" if strings and case.kind == "negative" else "openvino-zeros"
    return answer(cut, negative=case.rules == "openvino-8" or strings, **fill), name


def is_short(case: Case) -> bool:
    """The path that does not look at indices: small vectors of 32-bit integers, as which it computes 16 and 64 bits
    too.
    """
    small = case.data.ndim <= 1 and case.data.size <= SHORT and case.indices.size <= SHORT
    return case.op != ELEMENTS and small and case.type in SHORT_TYPES


def judge_result(report: Report, group: str, case: Case, mine: Answer, theirs: Theirs) -> None:
    """OpenVINO gave a result."""
    if mine.result is not None:
        narrow, name = narrowed(case, mine.result)
        if same(mine.result, theirs.result):
            report.passed(group)
            return
        if name and same(narrow, theirs.result):
            report.different(group, name)
            return
    meant, name = as_openvino_means(case)
    meant_bits = [] if meant.result is None else [meant.result, narrowed(case, meant.result)[0]]
    if case.kind != "valid" and any(same(wanted, theirs.result) for wanted in meant_bits):
        report.different(group, name)
    elif is_short(case) and case.kind != "valid":
        report.different(group, "openvino-short-unchecked")
    else:
        report.failed(group, f"{case}: {theirs.result.reshape(-1)[:8]}, libgather {mine.error or mine.result.reshape(-1)[:8]}")


def judge_tuples(report: Report, group: str, case: Case, theirs: Theirs) -> None:
    """One GatherND. OpenVINO checks no number: where one is out of range, anything may come out."""
    mine = answer(case)
    cut = Case(ND, case.rules, case.type, case.data, low_half(case.indices) if case.kind == "wide" else case.indices, 0, case.batch_dims)
    if mine.wrong:
        report.failed(group, f"{case}: {mine.wrong}")
    elif case.type == "string" and "precision: string" in theirs.error:
        report.different(group, "openvino-nd-string")
    elif theirs.died is not None and not is_bad(cut, negative=True):
        report.failed(group, f"{case}: OpenVINO's process ended with {theirs.died}")
    elif is_bad(cut, negative=True):
        if mine.error is None:
            report.failed(group, f"{case}: no error from libgather")
        elif theirs.error and theirs.died is None:
            report.failed(group, f"{case}: OpenVINO {theirs.error[:300]}: it is to be compared")
        else:
            report.different(group, "openvino-nd-unchecked")
    elif theirs.result is None:
        report.failed(group, f"{case}: OpenVINO {theirs.error[:300]}; libgather {mine.error or 'gives a result'}")
    else:
        judge_numbers(report, group, cut, mine, theirs)


def judge_numbers(report: Report, group: str, cut: Case, mine: Answer, theirs: Theirs) -> None:
    """Numbers that OpenVINO finds in range: once they are cut to 32 bits, and counted from the end."""
    right = mine.result if mine.error is None else answer(cut, rules=cut.rules, negative=True).result
    narrow, name = narrowed(cut, right)
    if mine.error is not None:
        name = "openvino-nd-5-negative" if is_bad(cut, negative=False) else "openvino-wide-index"
    if same(right, theirs.result) and mine.error is None:
        report.passed(group)
    elif name and (same(right, theirs.result) or same(narrow, theirs.result)):
        report.different(group, name)
    else:
        report.failed(group, f"{cut}: {theirs.result.reshape(-1)[:8]}, libgather {right.reshape(-1)[:8]}")


def tuples(report: Report, child: Child) -> None:
    """GatherND."""
    for number, (_, rules) in enumerate(ND_VERSIONS):
        for kind, type_ in enumerate(NAMES):
            for seed in range(ND_CASES):
                case = make_nd([4, number, kind, seed], rules, type_, INDEX_TYPES)
                judge_tuples(report, f"{ND} {rules}", case, child.ask(case, seed % 2 == 0))


def deadly(case: Case) -> bool:
    """Whether OpenVINO may die of it where the model knows its lengths: openvino-empty-static, openvino-batch-of-one."""
    return case.empty or (case.batch_dims > 0 and np.prod(case.data.shape[: case.batch_dims]) == 1)


def judge(report: Report, group: str, case: Case, theirs: Theirs) -> None:
    """One case."""
    mine = answer(case)
    if mine.wrong:
        report.failed(group, f"{case}: {mine.wrong}")
    elif theirs.died is not None:
        report.failed(group, f"{case}: OpenVINO's process ended with {theirs.died}")
    elif theirs.result is not None:
        judge_result(report, group, case, mine, theirs)
    elif case.op == ELEMENTS and case.type == "string":
        report.different(group, "openvino-elements-string")
    elif case.type == "string" and case.indices.dtype.itemsize == 1 and "ngraph reference" in theirs.error:
        report.different(group, "openvino-string-index-types")
    elif mine.error is not None:
        partly = theirs.out is not None and (theirs.out != FILL).any()
        if partly:
            report.different(group, "openvino-elements-half-written")
        else:
            report.passed(group)
    else:
        report.failed(group, f"{case}: OpenVINO {theirs.error[:300]}; libgather gives a result")


def run() -> Report:
    report = Report("openvino", "openvino")
    if len(os.sched_getaffinity(0)) < 2:
        raise NotRun("OpenVINO with one CPU loses the errors of GatherElements; two are needed")
    child = Child()
    for number, ((op, rules), negative) in enumerate(VERSIONS.items()):
        for kind, type_ in enumerate(NAMES):
            for seed in range(CASES):
                index_types = ("int32", "int64") if op == ELEMENTS else INDEX_TYPES
                case = make([2, number, kind, seed], op, rules, type_, index_types, negative)
                static = seed % 2 == 0 and not deadly(case)
                judge(report, f"{op} {rules}", case, child.ask(case, static))
    tuples(report, child)
    child.close()
    run_scatters(report)
    report.remark(f"its process died {child.deaths} times")
    require_cases(report, len(NAMES) * (len(VERSIONS) * CASES + len(ND_VERSIONS) * ND_CASES))
    return report


if __name__ == "__main__":
    main("openvino", run)
