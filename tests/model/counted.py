# SPDX-License-Identifier: MIT
"""How many generated models gave the right outputs, bit for bit, by dialect; and what was said of the gathers of random ones."""

from collections import Counter

# Test files whose test_models takes one generated model each.
DIALECTS = {"test_run_onnx.py": "ONNX", "test_run_ir.py": "OpenVINO IR", "test_run_ir_openvino.py": "OpenVINO IR"}
PASSED: Counter = Counter()
RUN: Counter = Counter()
RANDOM: Counter = Counter()  # of test_random_models.py


def note(file: str, test: str, passed: bool) -> None:
    if file in DIALECTS and test == "test_models":
        RUN[file] += 1
        PASSED[DIALECTS[file]] += passed


def sentence() -> str:
    parts = [f"{PASSED[name]} {name}" for name in sorted(set(DIALECTS.values()))]
    return f"generated models that passed bit for bit: {' and '.join(parts)}, {sum(PASSED.values())} together"


def random_lines() -> list[str]:
    """The verdicts of random models, without inputs and with all of them, and the most frequent reasons of unknown ones."""
    lines = []
    for given in ("nothing", "all") if RANDOM else ():
        numbers = {verdict: RANDOM[f"{given}: {verdict}"] for verdict in ("ok", "bad", "unknown", "not executed")}
        total = sum(numbers.values()) or 1
        parts = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items())
        lines.append(f"gathers of random models, given {given}: {parts}; unknown {100 * numbers['unknown'] / total:.1f} %")
    reasons = Counter({key: number for key, number in RANDOM.items() if key.startswith("all, why: ")})
    return lines + [f"    {number} {key}" for key, number in reasons.most_common(8)]
