# SPDX-License-Identifier: MIT
"""Runs models in ONNX Runtime, with or without the plug-in, and says after each what came of it: the program of a child process.

A wrong declaration of a foreign interface is a crash, so nobody runs the plug-in in his own process. It needs the package
onnxruntime and NumPy alone, so that it also runs in environments with other versions of them. ort_runs.py starts it.

    ort_child.py RUNS ANSWERS       RUNS: a pickled dictionary {"library": path, "runs": [run, ...]}

A run has "model" (bytes or a path), "door", "feeds" (name to packed array) and, where wanted, "level", "threads", "options" (of the
provider), "config" (entries of the session), "pattern" (memory patterns; on), "profile" (a folder), "severity" (of the log, which the answer then has), "repeat". An
answer has "outputs" or "error", the providers, and of a profile the nodes that ran.
Every answer is written before the next run begins; the line "begin N" tells which run a crash belongs to.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnxruntime as ort

NAME = "libgather"  # under which the library is registered
FAMILY = ("Gather", "GatherElements", "GatherND", "GatherBlockQuantized")
DOORS = ("built-in", "operators", "provider")
_devices: list = []


def pack(array):
    """An array in a form that every version of NumPy unpickles."""
    if array.dtype.kind in "OU":
        return ("string", array.shape, [str(text) for text in array.ravel()])
    return (str(array.dtype), array.shape, array.tobytes())


def unpack(packed):
    kind, shape, content = packed
    if kind == "string":
        return np.array(content, dtype=object).reshape(shape)
    return np.frombuffer(content, np.dtype(kind)).reshape(shape)


def devices(library: str) -> list:
    """The plug-in's devices; it is registered once in a process."""
    if not _devices:
        if not hasattr(ort, "register_execution_provider_library"):
            raise RuntimeError(f"the package onnxruntime {ort.__version__} registers no execution providers")
        ort.register_execution_provider_library(NAME, library)
        _devices.extend(device for device in ort.get_ep_devices() if "gather" in device.ep_name.lower())
        if not _devices:
            raise RuntimeError("the library was registered, and offers no device")
    return _devices


def session_options(run: dict):
    options = ort.SessionOptions()
    options.intra_op_num_threads = run.get("threads", 1)
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, "ORT_" + run.get("level", "ENABLE_ALL"))
    options.log_severity_level = run.get("severity", 4)
    options.enable_mem_pattern = run.get("pattern", True)
    for name, value in run.get("config", {}).items():
        options.add_session_config_entry(name, str(value))
    if run.get("profile"):
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(run["profile"], "profile")
    return options


def open_session(library: str, run: dict):
    found = devices(library) if run["door"] == "provider" else []
    options = session_options(run)
    if run["door"] == "provider":
        options.add_provider_for_devices(found, {key: str(value) for key, value in run.get("options", {}).items()})
        return ort.InferenceSession(run["model"], sess_options=options)
    if run["door"] == "operators":
        options.register_custom_ops_library(library)
    return ort.InferenceSession(run["model"], options, providers=["CPUExecutionProvider"])


def nodes_of_profile(path: str) -> list[dict]:
    """Each node once: its name, operator and provider."""
    found = {}
    for event in json.loads(Path(path).read_text(encoding="utf-8")):
        said = event.get("args", {})
        if event.get("cat") == "Node" and "op_name" in said and event["name"].endswith("_kernel_time"):
            name = event["name"][: -len("_kernel_time")]
            found[name] = {"name": name, "op": said["op_name"], "provider": said.get("provider", "")}
    os.unlink(path)
    return list(found.values())


@contextmanager
def written_to_stderr(said: list):
    """What the process writes to its standard error meanwhile, C++ code included, is appended to `said`."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            said.append(file.read().decode(errors="replace"))


def answer_to(library: str, run: dict) -> dict:
    if "severity" not in run:
        return outcome_of(library, run)
    log: list[str] = []
    with written_to_stderr(log):
        answer = outcome_of(library, run)
    return answer | {"log": log[0]}


def outcome_of(library: str, run: dict) -> dict:
    try:
        session = open_session(library, run)
        feeds = {name: unpack(packed) for name, packed in run.get("feeds", {}).items()}
        for _ in range(run.get("repeat", 1)):
            outputs = session.run(None, feeds)
        answer = {"outputs": [pack(np.asarray(output)) for output in outputs], "providers": session.get_providers()}
        if run.get("profile"):
            answer["nodes"] = nodes_of_profile(session.end_profiling())
        return answer
    except Exception as error:  # noqa: BLE001  ONNX Runtime's exceptions have no common class
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    job = pickle.loads(Path(sys.argv[1]).read_bytes())
    with open(sys.argv[2], "wb", buffering=0) as answers:
        for number, run in enumerate(job["runs"]):
            print("begin", number, flush=True)
            answers.write(pickle.dumps(answer_to(job["library"], run)))
    print("end", ort.__version__, flush=True)


if __name__ == "__main__":
    main()
