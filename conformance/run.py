# SPDX-License-Identifier: MIT
"""Runs the suites, each in a process of its own with a time limit, checks that every known difference is still one,
prints the table and writes it as JSON. script/conformance builds what this needs and calls it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from differences import check_examples, load

HERE = Path(__file__).parent
# Name of the suite -> (its time limit in seconds, what it is).
SUITES = {
    "onnx": (120, "ONNX's backend tests by its own runner, and random models in its reference"),
    "numpy": (240, "NumPy's own tests"),
    "torch": (240, "PyTorch's OpInfo samples and error inputs"),
    "onnxruntime": (240, "random models in ONNX Runtime"),
    "openvino": (360, "random models in OpenVINO"),
    "array_api": (60, "array-api-strict"),
    "pyarrow": (120, "Arrow's own tests of take, and random gathers"),
    "jax": (240, "random gathers in JAX, by mode"),
}
COLUMNS = ("passed", "failed", "different", "unreached", "foreign")


def required(asked: list[str]) -> set[str]:
    """The names whose absence is a failure."""
    return {name for name in [*asked, *os.environ.get("GATHER_TEST_REQUIRE", "").split(",")] if name}


def run_suite(name: str, python: str, quick: int) -> dict:
    """The suite's answer, or what became of its process."""
    seconds, _ = SUITES[name]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["CONFORMANCE_QUICK"] = str(quick)
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answer.json"
        words = [python, str(HERE / f"{name}_suite.py"), str(path)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, env=environment, check=False)
            ended = f"ended with {done.returncode}: {done.stderr.strip()[-1500:]}"
        except subprocess.TimeoutExpired:
            ended = f"took more than {seconds} s"
        answer = json.loads(path.read_text()) if path.exists() else {"suite": name, "broken": ended}
    answer["seconds"] = round(time.monotonic() - start, 1)
    return answer


def stale(answers: list[dict], python: str, quick: int) -> dict[str, list[str]]:
    """The differences that are none any more: with a version that an entry names, with others, or by the processor."""
    ran = {answer["suite"]: answer for answer in answers if "groups" in answer}
    entries = [entry for entry in load() if entry.suite in ran]
    other = check_examples(entries, python)
    gone: dict[str, list[str]] = {"here": [], "elsewhere": [], "processor": []}
    for entry in entries:
        what = []
        if entry.shows == "always" and quick == 1 and not ran[entry.suite]["seen"].get(entry.id):
            what.append("no case of the suite showed it")
        if entry.id in other:
            what.append(f"its example printed {other[entry.id][-400:]!r} instead of {entry.prints.strip()!r}")
        version = ran[entry.suite]["version"]
        if what:
            made = f"{entry.package} {version}, entry made with {', '.join(entry.versions)}"
            line = f"difference gone: {entry.suite}: {entry.id} ({made}): {'; '.join(what)}"
            kind = "processor" if entry.processor else "here" if version in entry.versions else "elsewhere"
            gone[kind].append(line)
    return gone


def print_table(answers: list[dict]) -> None:
    print(f"{'suite':12} {'package':28} " + " ".join(f"{name:>9}" for name in COLUMNS) + "  seconds")
    for answer in answers:
        if "not_run" in answer:
            print(f"{answer['suite']:12} not run: {answer['not_run']}")
            continue
        if "broken" in answer:
            print(f"{answer['suite']:12} FAILED: {answer['broken']}")
            continue
        totals = [sum(group[name] for group in answer["groups"].values()) for name in COLUMNS]
        package = f"{answer['package']} {answer['version']}"
        print(f"{answer['suite']:12} {package:28} " + " ".join(f"{n:9}" for n in totals) + f"  {answer['seconds']:7}")
        for name, group in answer["groups"].items():
            print(f"    {name:37} " + " ".join(f"{group[column]:9}" for column in COLUMNS))
        for remark in answer["remarks"]:
            print(f"    {remark}")


def problems(answers: list[dict], wanted: set[str], gone: dict[str, list[str]]) -> list[str]:
    """All that makes the run a failure."""
    found = []
    for answer in answers:
        name = answer["suite"]
        if "not_run" in answer and wanted & {name, "all"}:
            found.append(f"{name}: required, but not run: {answer['not_run']}")
        if "broken" in answer:
            found.append(f"{name}: {answer['broken']}")
        found += [f"{name}: {text}" for text in answer.get("failures", [])]
    strict = [line for line in gone["elsewhere"] if "all" in wanted or any(f"gone: {name}:" in line for name in wanted)]
    return found + gone["here"] + strict


def main() -> int:
    parser = argparse.ArgumentParser(description="Peers' own test suites on libgather.")
    parser.add_argument("--suites", default=",".join(SUITES), help=f"comma-separated; default {','.join(SUITES)}")
    parser.add_argument("--require", default="", help="suites (or all) that must run; GATHER_TEST_REQUIRE does the same")
    parser.add_argument("--quick", nargs="?", type=int, const=4, default=1, metavar="N", help="one in N of the random cases (default: 4)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter with the peers")
    parser.add_argument("--json", type=Path, help="writes what was found here")
    parser.add_argument("--write-docs", type=Path, help="writes the tables into this page")
    options = parser.parse_args()
    names = [name for name in options.suites.split(",") if name]
    for name in names:
        if name not in SUITES:
            parser.error(f"unknown suite: {name}")
    answers = []
    for name in names:
        print(f"running {name}: {SUITES[name][1]}", file=sys.stderr, flush=True)
        answers.append(run_suite(name, options.python, options.quick))
    gone = stale(answers, options.python, options.quick)
    print_table(answers)
    found = problems(answers, required(options.require.split(",")), gone)
    for line in gone["elsewhere"] + gone["processor"]:
        print(f"note: {line}")
    for line in found:
        print(f"FAILED {line}")
    if options.json:
        options.json.write_text(json.dumps({"answers": answers, "problems": found}, indent=1) + "\n")
    if options.write_docs:
        from docs import write

        write(options.write_docs, answers)
    print(f"{len(found)} failures" if found else "every suite that ran is as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
