# SPDX-License-Identifier: MIT
"""How many generated models gave the right outputs, bit for bit, by dialect."""

from collections import Counter

# Test files whose test_models takes one generated model each.
DIALECTS = {"test_run_onnx.py": "ONNX", "test_run_ir.py": "OpenVINO IR", "test_run_ir_openvino.py": "OpenVINO IR"}
PASSED: Counter = Counter()
RUN: Counter = Counter()


def note(file: str, test: str, passed: bool) -> None:
    if file in DIALECTS and test == "test_models":
        RUN[file] += 1
        PASSED[DIALECTS[file]] += passed


def sentence() -> str:
    parts = [f"{PASSED[name]} {name}" for name in sorted(set(DIALECTS.values()))]
    return f"generated models that passed bit for bit: {' and '.join(parts)}, {sum(PASSED.values())} together"
