# SPDX-License-Identifier: MIT
"""Scatters and bags in OpenVINO and in libgather: the part of openvino_suite.py about them. Indices that are known to end its process, or to write
outside of its buffers, are left out: those below the range, and those beyond 32 bits (openvino-scatter-below-range).
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import libgather
import numpy as np
from cases_scatter import SCATTER_ELEMENTS, SCATTER_ND, Scatter, make
from openvino_child import NAMES, SETTINGS, core
from report import Report, cases

CASES = cases(12)  # of each version, type and reduction
TYPES = ("int8", "uint8", "int32", "float16", "float32", "bfloat16")
# (operator, rules): its reductions, the first of which it has without saying so
VERSIONS = {
    ("ScatterUpdate", "openvino-3"): ("none",),
    ("ScatterElementsUpdate", "openvino-3"): ("none",),
    ("ScatterElementsUpdate", "openvino-12"): ("none", "sum", "prod", "min", "max", "mean"),
    ("ScatterNDUpdate", "openvino-3"): ("none",),
    ("ScatterNDUpdate", "openvino-15"): ("none", "sum", "sub", "prod", "min", "max"),
}
SHAPES = {"ScatterElementsUpdate": SCATTER_ELEMENTS, "ScatterNDUpdate": SCATTER_ND}


def small(case: Scatter, rng: np.random.Generator) -> Scatter:
    """With numbers whose sums and products every type has exactly, and without NaN, whose bits may change (openvino-float16-nan)."""
    for array in (case.data, case.updates):
        if array.dtype.kind in "fV":
            array[np.isnan(array)] = 1
        if case.reduction != "none":
            array[...] = rng.integers(0 if case.type.startswith("u") else -3, 4, array.shape).astype(array.dtype)
    return case


def random_case(seed: list[int], op: str, rules: str, type_: str, reduction: str) -> Scatter | None:
    """None where OpenVINO is not asked."""
    rng = np.random.default_rng(seed)
    if op == "ScatterUpdate":
        shape, axis = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4)))), 0
        axis = int(rng.integers(len(shape)))
        lead = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
        indices = rng.integers(0, shape[axis], lead).astype(np.int64)
        data, updates = (rng.integers(0, 100, s).astype(made(type_)) for s in (shape, shape[:axis] + lead + shape[axis + 1 :]))
        return Scatter(op, rules, type_, reduction, data, np.asarray(indices), np.asarray(updates), axis)
    case = make(seed, SHAPES[op], rules, type_, reduction, True)
    case.op = op
    if case.kind in ("low", "wide") or not case.updates.size:
        return None
    return small(case, rng)


def made(type_: str):
    from cases import BYTES

    return BYTES[type_]


def theirs(case: Scatter, init: bool) -> np.ndarray | str:
    """In a process of its own: the result, or the error's text."""
    import openvino as ov
    from openvino import opset3, opset4, opset12, opset15

    inputs = []
    for array, name in ((case.data, case.type), (case.indices, str(case.indices.dtype)), (case.updates, case.type)):
        inputs.append(opset15.parameter(list(array.shape), getattr(ov.Type, NAMES[name])))
    axis = np.int64(case.axis)
    try:
        if case.op == "ScatterUpdate":
            node = opset3.scatter_update(*inputs, axis)
        elif case.op == "ScatterElementsUpdate":
            node = opset3.scatter_elements_update(*inputs, axis) if case.rules == "openvino-3" else opset12.scatter_elements_update(*inputs, axis, case.reduction, init)
        else:
            node = opset4.scatter_nd_update(*inputs) if case.rules == "openvino-3" else opset15.scatter_nd_update(*inputs, case.reduction)
        request = core().compile_model(ov.Model([node], inputs, "one_node"), "CPU", SETTINGS).create_infer_request()
        for i, (array, name) in enumerate(((case.data, case.type), (case.indices, str(case.indices.dtype)), (case.updates, case.type))):
            request.set_input_tensor(i, tensor(array, name))
        out = np.zeros(case.data.shape, case.data.dtype)
        request.set_output_tensor(0, tensor(out, case.type))
        request.infer()
        return out
    except Exception as error:  # whatever it raises is what we ask for
        return str(error)


def tensor(array: np.ndarray, type_: str):
    import openvino as ov

    plain = np.array(array, order="C")
    shared = array if array.flags.c_contiguous and array.flags.writeable else plain
    return ov.Tensor(shared.view(np.uint16) if type_ == "bfloat16" else shared, ov.Shape(list(array.shape)), getattr(ov.Type, NAMES[type_]))


def ours(case: Scatter, init: bool):
    options = {"reduction": case.reduction, "rules": case.rules}
    try:
        if case.op == "ScatterUpdate":
            return libgather.scatter(case.data, case.indices, case.updates, axis=case.axis, **options)
        if case.op == "ScatterNDUpdate":
            return libgather.scatter_nd(case.data, case.indices, case.updates, **options)
        return libgather.scatter_elements(case.data, case.indices, case.updates, axis=case.axis, use_init_val=init, **options)
    except libgather.GatherError as error:
        return error


def truncated_mean(case: Scatter, init: bool) -> np.ndarray:
    """In float32, and then without its lower half."""
    wide = Scatter(case.op, case.rules, "float32", case.reduction, case.data.astype(np.float32), case.indices, case.updates.astype(np.float32), case.axis)
    return (ours(wide, init).view(np.uint32) >> 16).astype(np.uint16).view(case.data.dtype)


def judge(report: Report, case: Scatter, init: bool, result) -> None:
    from ours import same

    group, mine = f"{case.op} {case.rules}", ours(case, init)
    text = f"{case}, use_init_val {init}"
    if isinstance(mine, libgather.GatherError) and isinstance(result, str):
        report.passed(group)
    elif isinstance(result, str) and not case.indices.ndim and not isinstance(mine, Exception):
        report.different(group, "openvino-scatter-update-number")
    elif isinstance(mine, libgather.GatherError) or isinstance(result, str):
        report.failed(group, f"{text}: OpenVINO {result[:200] if isinstance(result, str) else 'gives a result'}; libgather {mine if isinstance(mine, Exception) else 'gives a result'}")
    elif same(mine, result):
        report.passed(group)
    elif case.reduction == "mean" and case.data.dtype.kind in "iu" and same(mine, np.where(result > mine, result - 1, result).astype(result.dtype)):
        report.different(group, "openvino-scatter-integer-mean")
    elif case.type == "bfloat16" and case.reduction == "mean" and same(truncated_mean(case, init), result):
        report.different(group, "openvino-scatter-bfloat16-mean")
    else:
        report.failed(group, f"{text}: other elements: {result.reshape(-1)[:8]}, libgather {mine.reshape(-1)[:8]}")


def run_scatters(report: Report) -> None:
    """In a process that may die."""
    asked = []
    for number, ((op, rules), reductions) in enumerate(VERSIONS.items()):
        for kind, type_ in enumerate(TYPES):
            for reduction in reductions:
                for seed in range(CASES):
                    case = random_case([7, number, kind, seed], op, rules, type_, reduction)
                    init = seed % 2 == 0 or reduction == "none" or op != "ScatterElementsUpdate"
                    asked += [(case, init)] if case else []
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            for (case, init), result in zip(asked, pool.map(theirs, *zip(*asked, strict=True)), strict=True):
                judge(report, case, init, result)
        except BrokenProcessPool:
            report.failed("scatters", f"OpenVINO's process ended; the case is among {len(asked)} that it was asked")
