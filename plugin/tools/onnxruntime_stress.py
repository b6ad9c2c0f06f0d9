# SPDX-License-Identifier: MIT
"""The scenarios of tests/plugin/ort_stress.py: as they are, under valgrind, and with a plug-in built with AddressSanitizer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import ort_runs as runs

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ("threads", "registrations", "fork", "outlive", "shared", "unregister", "faults")
ROUNDS = {"threads": 100, "registrations": 100, "fork": 10, "outlive": 50, "shared": 100, "unregister": 20, "faults": 200}
FEWER = 10  # times fewer rounds under valgrind, but not of the registrations
OURS = "libgather_onnxruntime"


def pairs() -> list[tuple[str, str]]:
    return [(scenario, door) for scenario in SCENARIOS for door in ("operators", "provider") if (scenario, door) != ("unregister", "operators")]


def plainly(library: str, model: Path, env=None, name="plain") -> list[str]:
    faults = []
    for scenario, door in pairs():
        said = runs.run_scenario(scenario, door, library, model, ROUNDS[scenario], env=env)
        print(f"{name}: {scenario}, {door}: {said or 'fine'}", flush=True)
        if said:
            faults.append(f"{name}: {scenario}, {door}: {said}")
    return faults


# ---- valgrind


def errors_of(path: Path) -> list[str]:
    """The errors of valgrind's report with a frame in the plug-in: Python and ONNX Runtime have errors of their own."""
    try:
        tree = ElementTree.parse(path)
    except ElementTree.ParseError:
        return []  # the report of a process that was forked and left early; the parent's is whole
    found = []
    for error in tree.getroot().iter("error"):
        frames = [(frame.findtext("obj", ""), frame.findtext("fn", "?")) for frame in error.iter("frame")]
        if any(OURS in name for name, _ in frames):
            what = error.findtext("what") or error.findtext("xwhat/text") or error.findtext("kind", "?")
            found.append(f"{what}: {' < '.join(function for _, function in frames[:10])}")
    return found


def under_valgrind(library: str, model: Path) -> list[str]:
    if shutil.which("valgrind") is None:
        return ["valgrind is not installed: script/bootstrap plugins"]
    faults = []
    env = {"PYTHONMALLOC": "malloc"}
    for scenario, door in pairs():
        rounds = ROUNDS[scenario] if scenario == "registrations" else max(2, ROUNDS[scenario] // FEWER)
        with tempfile.TemporaryDirectory() as folder:
            before = ["valgrind", "--quiet", "--xml=yes", f"--xml-file={folder}/%p.xml", "--leak-check=full", "--show-leak-kinds=definite,indirect",
                      "--errors-for-leak-kinds=definite", "--keep-debuginfo=yes", "--num-callers=25", "--fair-sched=try"]
            said = runs.run_scenario(scenario, door, library, model, rounds, before=before, env=env, timeout=3000)
            reports = sorted(Path(folder).glob("*.xml"))
            errors = sorted({error for report in reports for error in errors_of(report)})
        if not reports:
            errors.append("valgrind wrote no report")
        said = "; ".join(filter(None, [said, *errors]))
        print(f"valgrind: {scenario}, {door}, {rounds} rounds: {said or 'fine'}", flush=True)
        if said:
            faults.append(f"valgrind: {scenario}, {door}: {said}")
    return faults


# ---- AddressSanitizer


def sanitized_library() -> str:
    """The plug-in built with ASan and UBSan, in a separate build."""
    folder = ROOT / "build/plugin-asan"
    options = ["-DGATHER_SANITIZE=address,undefined", "-DGATHER_PYTHON_PACKAGE=ON", "-DGATHER_TESTS=OFF", "-DGATHER_PLUGIN_ONNXRUNTIME=ON",
               "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g"]
    options += [f"-DGATHER_PLUGIN_{name}=OFF" for name in ("TORCH", "JAX", "DUCKDB", "OPENVINO")]
    for line in (["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *options],
                 ["cmake", "--build", folder, "-j", "2", "--target", "gather_plugin_onnxruntime"]):
        done = subprocess.run(line, capture_output=True, text=True, timeout=1800)
        if done.returncode:
            raise RuntimeError(f"the build with sanitizers failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return str(next(folder.rglob(f"{OURS}.so")))


def runtime_of(name: str) -> str:
    return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()


def under_asan(model: Path) -> list[str]:
    library = sanitized_library()
    # Python was not linked with the sanitizer; what it loads first is, and knows C++'s exceptions.
    env = {"LD_PRELOAD": f"{runtime_of('libasan.so')} {runtime_of('libstdc++.so')}", "PYTHONMALLOC": "malloc",
           "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=0:exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
    probe = subprocess.run([sys.executable, "-c", "import onnxruntime"], capture_output=True, text=True, env=os.environ | env, timeout=300)
    if probe.returncode:
        return [f"AddressSanitizer: this host does not allow it: {probe.stderr[-500:]}"]
    return plainly(library, model, env, name="ASan")


def main(library: str, only: str = "") -> list[str]:
    ways = {"plain": lambda model: plainly(library, model), "asan": under_asan, "valgrind": lambda model: under_valgrind(library, model)}
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        model = runs.write_stress_model(Path(folder) / "stress.onnx")
        for name, way in ways.items():
            if only in ("", "all", name):
                faults += way(model)
    return faults
