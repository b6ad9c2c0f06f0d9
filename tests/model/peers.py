# SPDX-License-Identifier: MIT
"""Runs models in ONNX Runtime or OpenVINO, in a process of its own: what dies there is an observation, not the end of the test.

As a program it reads one job per line from stdin and writes one answer per line; ask() is its caller.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

FILL = 0xA5  # what outputs hold before they are written
BESIDE = 4096


def stamp(path: str) -> tuple[int, int]:
    """Tells a model from the one that was under its name before: pytest gives the name of a folder that is gone again."""
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns


@functools.lru_cache(maxsize=4)
def onnxruntime_session(path: str, threads: int, _stamp: tuple[int, int]):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run_onnxruntime(path: str, threads: int, inputs: dict, out: np.ndarray) -> None:
    import onnxruntime

    session = onnxruntime_session(path, threads, stamp(path))
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_cpu_input(name, array)
    binding.bind_ortvalue_output(session.get_outputs()[0].name, onnxruntime.OrtValue.ortvalue_from_numpy(out))
    session.run_with_iobinding(binding)


@functools.cache
def openvino_core():
    import openvino

    return openvino.Core()


@functools.lru_cache(maxsize=4)
def openvino_compiled(path: str, threads: int, _stamp: tuple[int, int]):
    settings = {"INFERENCE_NUM_THREADS": threads, "EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_PRECISION_HINT": "f32"}
    return openvino_core().compile_model(path, "CPU", settings)


def run_openvino(path: str, threads: int, inputs: dict, out: np.ndarray) -> None:
    import openvino

    request = openvino_compiled(path, threads, stamp(path)).create_infer_request()
    for name, array in inputs.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
    request.set_output_tensor(openvino.Tensor(out, shared_memory=True))
    request.infer()


RUN = {"onnxruntime": run_onnxruntime, "openvino": run_openvino}


def surrounded(array: np.ndarray) -> np.ndarray:
    """The array between bytes that are no zeros, so that reading beside it is seen."""
    room = np.full(array.nbytes + 2 * BESIDE, FILL ^ 0xFF, np.uint8)
    inner = room[BESIDE : BESIDE + array.nbytes].view(array.dtype).reshape(array.shape)
    inner[...] = array
    return inner


def typed_tensor(given: dict):
    """An OpenVINO tensor of a file's bytes."""
    import openvino

    raw = np.fromfile(given["file"], np.uint8)
    kind = getattr(openvino.Type, given["type"])
    tensor = openvino.Tensor(kind, openvino.Shape(given["shape"]))
    tensor.data.reshape(-1).view(np.uint8)[...] = raw
    return tensor


def all_outputs(job: dict) -> dict:
    """Every output of an IR model: its type, its shape, and its bytes in hexadecimal (strings: a list of them)."""
    request = openvino_compiled(job["path"], 2, stamp(job["path"])).create_infer_request()
    for i, given in enumerate(job["inputs"]):
        request.set_input_tensor(i, typed_tensor(given))
    request.infer()
    outputs = []
    for i in range(len(request.model_outputs)):
        tensor = request.get_output_tensor(i)
        kind = tensor.element_type.to_string()
        content = [b.hex() for b in tensor.bytes_data.reshape(-1)] if kind == "string" else tensor.data.tobytes().hex()
        outputs.append({"type": kind, "shape": list(tensor.shape), "content": content})
    return {"error": "", "outputs": outputs}


def answer(job: dict) -> dict:
    """Answers one job, badly where the peer raises."""
    if "out" in job:
        return filled(job)
    try:
        return all_outputs(job)
    except Exception as failed:
        return {"error": str(failed) or type(failed).__name__}


def filled(job: dict) -> dict:
    """Runs one job; the output goes to a file, as its bytes were when the call ended, well or badly."""
    inputs = {name: surrounded(np.load(path)) for name, path in job["inputs"].items()}
    out = np.full(job["bytes"], FILL, np.uint8).view(job["dtype"]).reshape(job["shape"])
    error = ""
    try:
        RUN[job["peer"]](job["path"], job["threads"], inputs, out)
    except Exception as failed:  # whatever the peer raises is what we ask for
        error = str(failed) or type(failed).__name__
    np.save(job["out"], out.reshape(-1).view(np.uint8))
    return {"error": error}


def ask(jobs: list[dict], timeout: int = 600) -> list[dict]:
    """The answers of jobs; {"died": code} for a job that ended its process. The jobs after it go to a new one. Jobs of different
    chains (job["chain"]) are answered at the same time, by processes of their own."""
    given = "".join(json.dumps(job) + "\n" for job in jobs)
    done = subprocess.run([sys.executable, __file__, "--all"], input=given, capture_output=True, text=True, timeout=timeout, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Standing:
    """A process that answers one job after the other, this program or another: a runtime takes half a second to be imported."""

    def __init__(self, program: str = __file__) -> None:
        words = [sys.executable, program]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        atexit.register(self.end)

    def ask(self, job: dict, timeout: float) -> dict:
        limit = threading.Timer(timeout, self.process.kill)
        limit.start()
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            limit.cancel()
        return json.loads(line) if line else {"died": self.process.wait(), "error": ""}

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


standing = functools.cache(Standing)


def ask_one(job: dict, timeout: float = 300) -> dict:
    """The answer of a job in the process that the last one was answered in, or a new one where that one died."""
    said = standing().ask(job, timeout)
    if "died" in said:
        standing.cache_clear()
    return said


def main() -> None:
    """Answers go to the stdout that the caller gave; what a peer prints there goes to stderr."""
    mine = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if sys.argv[1:] == ["--all"]:
        answer_chains([json.loads(line) for line in sys.stdin], mine)
        return
    for line in sys.stdin:
        mine.write(json.dumps(answer(json.loads(line))) + "\n")
        mine.flush()


def answer_chains(jobs: list[dict], mine) -> None:
    """All answers, in the order of the jobs."""
    for peer in {job.get("peer", "openvino") for job in jobs}:
        importlib.import_module(peer)
    chains: dict = {}
    for number, job in enumerate(jobs):
        chains.setdefault(job.get("chain"), []).append(number)
    lines = [""] * len(jobs)
    for numbers, answers in zip(chains.values(), answered_at_once([[jobs[n] for n in numbers] for numbers in chains.values()]), strict=True):
        for number, line in zip(numbers, answers, strict=True):
            lines[number] = line
    mine.writelines(lines)
    mine.flush()


def answered_at_once(chains: list[list[dict]]) -> list[list[str]]:
    files = [tempfile.TemporaryFile("w+") for _ in chains]  # noqa: SIM115  (no answer waits for its reader)
    children = []
    for jobs, file in zip(chains, files, strict=True):
        children.append(os.fork())
        if children[-1] == 0:
            try:
                answer_all(jobs, file)
            finally:
                os._exit(0)  # without all answers, which the caller sees
    for child in children:
        os.waitpid(child, 0)
    for file in files:
        file.seek(0)
    return [list(file) for file in files]


def answer_all(jobs: list[dict], mine) -> None:
    """Children answer, the next one from the job on behind which the one before died: they have what this process imported, and it has
    started no thread of a peer."""
    answered = 0
    while answered < len(jobs):
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            with open(writes, "w") as pipe:
                for job in jobs[answered:]:
                    print(json.dumps(answer(job)), file=pipe, flush=True)
            os._exit(0)  # nothing of a peer is unloaded
        os.close(writes)
        with open(reads) as pipe:
            lines = [line for line in pipe if line.endswith("\n")]
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answered += len(lines)
        if answered < len(jobs):
            lines.append(json.dumps({"died": code, "error": ""}) + "\n")
            answered += 1
        mine.writelines(lines)
    mine.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
