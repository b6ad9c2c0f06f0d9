# SPDX-License-Identifier: MIT
"""Both doors in many versions of ONNX Runtime: each works, or refuses with a message, and none crashes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import onnxruntime_venvs as venvs
import ort_cases as cases
import ort_networks as networks
import ort_runs as runs
import ort_subgraphs as subgraphs

# The first version in which each door works. Below it a refusal must name this version.
FLOOR = {"operators": (1, 17), "provider": (1, 24)}
FACTORIES = Path(runs.__file__).with_name("ort_factories.py")
SAMPLE = 60  # random cases per version and door
SUBGRAPHS = 0.2  # of all kinds of models with gathers in subgraphs
OLD_ENOUGH = 18  # the newest opset of the networks that are run: 1.17 has 20


def version_of(python) -> str:
    code = "import onnxruntime; print(onnxruntime.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=120, env=runs.environment())
    return done.stdout.strip() or f"does not start: {done.stderr[-200:]}"


def case_run(case, door: str) -> dict:
    return {"model": case.model, "door": door, "feeds": {name: runs.pack(array) for name, array in case.feeds.items()}}


def network_run(network, door: str) -> dict:
    return {"model": str(network.path), "door": door, "feeds": {name: runs.pack(array) for name, array in network.feeds.items()}}


def old_networks() -> list:
    found = [network for network in networks.packages() if network.nodes and "op18" not in network.name]
    return found + [n for n in networks.exports(networks.DATA) if int(re.findall(r"\d+", n.name)[-1]) <= OLD_ENOUGH]


def samples(seed: int = 16) -> list:
    """Cases that every version from 1.17 on can load."""
    return [case for case in cases.random_cases(seed, 4 * SAMPLE) if not re.search(r"-2\d ", case.name)][:SAMPLE]


def verdict(door: str, chosen: list, plain: list[dict], answers: list[dict]) -> tuple[str, str]:
    """The outcome of a door: "works", "refuses" or "fails", and the text."""
    crashes = [answer["error"] for answer in answers if answer.get("crash")]
    if crashes:
        return "crashes", f"{len(crashes)} times: {crashes[0]}"
    errors = [answer["error"] for answer in answers if "error" in answer]
    if len(errors) == len(answers):
        return "refuses", errors[0]
    for item, before, after in zip(chosen, plain, answers, strict=True):
        if "error" in before and "error" in after and not getattr(item, "fault", ""):
            continue  # this version refuses the model, with or without us
        if getattr(item, "fault", ""):
            if not re.search(item.fault, after.get("error", "")):
                return "fails", f"{item.name}: {runs.describe(after)}"
        elif getattr(item, "difference", "") and not item.folded:
            if "error" in after or runs.unpack(after["outputs"][0]).tolist() != item.expected.tolist():
                return "fails", f"{item.name}: {runs.describe(after)}"
        elif not runs.same(before, after):
            return "fails", f"{item.name}: {runs.describe(after)}, the built-in: {runs.describe(before)}"
    return "works", f"{len(answers)} runs"


def ask_through_c(python, library: str) -> str:
    """The plug-in's message to a version whose Python package registers no execution providers; "" if the package has no C library."""
    libraries = sorted(python.parents[1].glob("lib/python*/site-packages/onnxruntime/capi/libonnxruntime.so.*"))
    if not libraries:
        return ""
    done = subprocess.run([python, FACTORIES, libraries[0], library], capture_output=True, text=True, timeout=120, env=runs.environment())
    return done.stdout.strip() if done.returncode == 0 else f"{runs.how_it_ended(done.returncode)} {done.stderr[-300:]}"


def try_version(version: str, library: str) -> list[dict]:
    python = venvs.environment(version)
    real = version_of(python)
    sample, nets = samples() + cases.fault_cases(1), old_networks()
    chosen = sample + nets

    def ask(door: str) -> list[dict]:
        return runs.run_all([case_run(case, door) for case in sample] + [network_run(network, door) for network in nets], library, python)

    plain, rows = ask("built-in"), []
    inner = subgraphs.all_cases(28, SUBGRAPHS, old=True)
    inner_plain = subgraphs.ask(inner, "built-in", library, python)
    for door in runs.DOORS[1:]:
        outcome, text = verdict(door, chosen, plain, ask(door))
        if outcome == "works":
            faults = subgraphs.faults_among(inner, inner_plain, subgraphs.ask(inner, door, library, python), door)
            outcome, text = ("fails", faults[0]) if faults else (outcome, f"{text}, {len(inner)} models with subgraphs")
        through_c = ask_through_c(python, library) if "registers no execution providers" in text else ""
        if through_c:
            refused = "needs ONNX Runtime" in through_c
            outcome, text = "refuses" if refused else "fails", f"{text}; through C: {through_c}"
        rows.append({"version": real, "door": door, "outcome": outcome, "text": " ".join(text.split())})
    return rows


def faults_of(rows: list[dict]) -> list[str]:
    faults = []
    for row in rows:
        floor = FLOOR[row["door"]]
        wanted = "works" if venvs.numbers(row["version"]) >= floor else "refuses"
        if row["outcome"] != wanted:
            faults.append(f"ONNX Runtime {row['version']}, {row['door']}: {row['outcome']}, expected: {wanted}: {row['text']}")
    return faults


def words(text: str) -> str:
    """A message without what ONNX Runtime and Python put in front."""
    return re.sub(r"^\w+: (\[ONNXRuntimeError\] : \d+ : \w+ : )?", "", text)[:240]


def table(rows: list[dict]) -> str:
    lines = ["| ONNX Runtime | custom operators | execution provider |", "| --- | --- | --- |"]
    for version in dict.fromkeys(row["version"] for row in rows):
        cells = {row["door"]: row["outcome"] if row["outcome"] == "works" else f"{row['outcome']}: {words(row['text'])}" for row in rows if row["version"] == version}
        lines.append(f"| {version} | {cells['operators']} | {cells['provider']} |")
    return "\n".join(lines)


def main(library: str, versions) -> list[str]:
    rows = []
    for version in versions:
        found = try_version(version, library)
        rows += found
        for row in found:
            print(f"{row['version']:8} {row['door']:10} {row['outcome']}: {row['text'][:200]}", flush=True)
    print("\n" + table(rows) + "\n")
    return faults_of(rows)
