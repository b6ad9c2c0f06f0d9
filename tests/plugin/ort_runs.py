# SPDX-License-Identifier: MIT
"""Runs of models in children (ort_child.py), a crash of which is an answer like others, and what is compared about the answers; the model of
ort_stress.py, and its scenarios in children."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from onnx import helper, TensorProto
import onnx
import ort_child
from ort_child import DOORS, FAMILY, pack, unpack  # noqa: F401  (for those who import this one)

CHILD = Path(ort_child.__file__)


def library_path() -> str:
    """The plug-in of the build that is tested."""
    from libgather import _plugins

    return _plugins.library("onnxruntime")


def environment() -> dict:
    """Without PYTHONPATH: its folders would come before the packages of the child's own environment."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONDONTWRITEBYTECODE": "1"}


def how_it_ended(code: int) -> str:
    return f"crashed: {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def read_answers(path: Path) -> list[dict]:
    answers = []
    if path.exists():
        with open(path, "rb") as file:
            while file.peek(1):
                try:
                    answers.append(pickle.load(file))
                except EOFError:
                    break  # the child ended while it wrote this one
    return answers


def run_some(runs: list[dict], library: str, python, folder: Path, timeout: float) -> list[dict]:
    """The answers of one child: as many as it gave, and one for its end where it did not give them all."""
    job, answers = folder / "job", folder / "answers"
    job.write_bytes(pickle.dumps({"library": library, "runs": runs}))
    answers.unlink(missing_ok=True)
    try:
        done = subprocess.run([python, CHILD, job, answers], capture_output=True, text=True, errors="replace", timeout=timeout,
                              env=environment())
        code, text = done.returncode, done.stderr[-800:]
    except subprocess.TimeoutExpired:
        code, text = -int(signal.SIGALRM), f"no answer within {timeout} s"
    found = read_answers(answers)
    if len(found) < len(runs):
        found.append({"error": f"{how_it_ended(code)} {text}".strip(), "crash": True})
    elif code:
        found[-1] = {"error": f"after the last run: {how_it_ended(code)} {text}", "crash": True}
    return found


def run_all(runs: list[dict], library: str, python=sys.executable, timeout: float = 300) -> list[dict]:
    """One answer for each run; after a crash another child goes on with the next run."""
    answers: list[dict] = []
    with tempfile.TemporaryDirectory() as folder:
        while len(answers) < len(runs):
            answers += run_some(runs[len(answers) :], library, python, Path(folder), timeout)
    return answers


def same(a: dict, b: dict) -> bool:
    """Whether two answers have the same bytes."""
    return "outputs" in a and "outputs" in b and a["outputs"] == b["outputs"]


def describe(answer: dict) -> str:
    if "error" in answer:
        return answer["error"]
    return ", ".join(f"{kind}{list(shape)}" for kind, shape, _ in answer["outputs"])


# ---- ort_stress.py

STRESS = Path(__file__).with_name("ort_stress.py")


def write_stress_model(path: Path) -> Path:
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
    line = [*before, python, STRESS, scenario, door, library, model, str(rounds)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=timeout, env=environment() | (env or {}))
    except subprocess.TimeoutExpired:
        return f"no end within {timeout} s"
    if done.returncode == 0 and done.stdout.endswith("fine\n"):
        return ""
    return f"{how_it_ended(done.returncode)}: {done.stdout[-500:]}{done.stderr[-3000:]}"
