# SPDX-License-Identifier: MIT
"""What libgather does with a random case, under the rules of a document or others."""

from __future__ import annotations

from dataclasses import dataclass

import libgather
import numpy as np
from cases import ELEMENTS, ND, Case


@dataclass
class Answer:
    """The result, or the error; `wrong` says what no call of libgather may do."""

    result: np.ndarray | None = None
    error: Exception | None = None
    wrong: str = ""


def call(case: Case, **options):
    if case.op == ELEMENTS:
        return libgather.gather_elements(case.data, case.indices, axis=case.axis, **options)
    if case.op == ND:
        return libgather.gather_nd(case.data, case.indices, batch_dims=case.batch_dims, **options)
    return libgather.take(case.data, case.indices, axis=case.axis, batch_dims=case.batch_dims, **options)


def answer(case: Case, **options) -> Answer:
    """The case by its rules. Where that is an error, again with out=, which must stay as it was."""
    options = options or {"rules": case.rules}
    if (
        case.op == "Gather" and case.type == "string" and case.rules == "openvino-8"
    ):  # Python strings have no "all bits zero": the rule, spelled out
        options = {"mode": "fill", "fill_value": ""}
    try:
        return Answer(np.asarray(call(case, **options), case.data.dtype))
    except libgather.GatherError as error:
        if case.type == "string":
            return Answer(error=error)
        out = np.full(case.out_shape, 0xA5, np.uint8).astype(np.int8).astype(case.data.dtype)
        before = out.tobytes()
        try:
            call(case, out=out, **options)
        except libgather.GatherError:
            pass
        return Answer(error=error, wrong="" if out.tobytes() == before else "libgather wrote to out before its error")
    except Exception as error:
        return Answer(error=error, wrong=f"libgather raised {type(error).__name__}: {error}")


def same(wanted: np.ndarray, got: np.ndarray) -> bool:
    """Shape, type and bits."""
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return False
    return wanted.tolist() == got.tolist() if wanted.dtype == object else wanted.tobytes() == got.tobytes()
