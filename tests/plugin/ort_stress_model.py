# SPDX-License-Identifier: MIT
"""The model of ort_stress.py, and its runs in children."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import ort_runs as runs
from onnx import TensorProto, helper

PROGRAM = Path(__file__).with_name("ort_stress.py")


def write_model(path: Path) -> Path:
    """Gather, GatherElements and GatherND on one table, all lengths open."""
    shapes = {"data": (TensorProto.FLOAT, ["n", "w"]), "ids": (TensorProto.INT64, ["k"]), "cells": (TensorProto.INT64, ["c", "w"]),
              "pairs": (TensorProto.INT64, ["p", 2])}
    nodes = [helper.make_node("Gather", ["data", "ids"], ["rows"], name="rows_node", axis=0),
             helper.make_node("GatherElements", ["data", "cells"], ["elements"], name="elements_node", axis=0),
             helper.make_node("GatherND", ["data", "pairs"], ["values"], name="values_node")]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("rows", "elements", "values")]
    inputs = [helper.make_tensor_value_info(name, *said) for name, said in shapes.items()]
    model = helper.make_model(helper.make_graph(nodes, "stress", inputs, outputs), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return path


def run_scenario(scenario: str, door: str, library: str, model: Path, rounds: int, before=(), python=sys.executable, env=None, timeout: float = 600) -> str:
    """"" where all went well, else what was wrong. before: a command that runs the program, such as valgrind."""
    line = [*before, python, PROGRAM, scenario, door, library, model, str(rounds)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=timeout, env=runs.environment() | (env or {}))
    except subprocess.TimeoutExpired:
        return f"no end within {timeout} s"
    if done.returncode == 0 and done.stdout.endswith("fine\n"):
        return ""
    return f"{runs.how_it_ended(done.returncode)}: {done.stdout[-500:]}{done.stderr[-3000:]}"
