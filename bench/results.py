# SPDX-License-Identifier: MIT
"""The folder of results, build/results: one JSON file per benchmark and machine.

memory-MACHINE.json (gathers in memory; -siblings: GatherND, GatherTree and quantised rows; -scatter: those that write), python-, tables-, chunked-, remote-MACHINE.json, and
plugin-HOST-MACHINE.json. A quick run has a name of its own, so it never replaces a full one. bench/archive.py packs the folder."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADS, LISTS = ("machine", "settings", "limits", "left_out"), ("rows",)  # of a run of bench/run.py
NOISE = re.compile(r"\((?:r|tm)\)|\b(?:processor|cpu)\b|@ *[\d.]+ *ghz|, *stepping \d+")


def folder(root: Path = ROOT) -> Path:
    return root / "build/results"


def isa(about: dict) -> str:
    """The strongest instruction set whose kernels were used."""
    return about["isa"].split(" ")[0]


def machine_name(about: dict) -> str:
    """Of a file: "AMD EPYC (family 25, model 17, stepping 1)" gives amd-epyc-family-25-model-17."""
    plain = "-".join(re.findall(r"[a-z0-9]+", NOISE.sub(" ", about["cpu"].lower())))
    return f"{plain}-{isa(about)}" if about.get("held") else plain


def this_machine() -> dict:
    """The CPU of this machine: for programs without the benchmark's own module, as those of the plug-ins."""
    path = Path("/proc/cpuinfo")
    found = re.search(r"^(?:model name|Model)\s*: *(.*)$", path.read_text(encoding="utf-8"), re.M) if path.exists() else None
    return {"cpu": found.group(1) if found else platform.machine()}


def name_of(kind: str, results: dict) -> str:
    """kind: memory, python, tables, chunked, remote. results: of a run, with `machine` and `settings`."""
    return f"{kind}-{machine_name(results['machine'])}" + "-quick" * bool(results["settings"].get("quick"))


def plugin_file(name: str, root: Path = ROOT) -> Path:
    """Where the benchmark of a plug-in writes what it measured on this machine; name: onnxruntime, torch-override, ..."""
    folder(root).mkdir(parents=True, exist_ok=True)
    return folder(root) / f"plugin-{name}-{machine_name(this_machine())}.json"


def store(name: str, text: str, root: Path = ROOT) -> Path:
    """Puts a run's JSON into the folder."""
    return write(folder(root) / f"{name}.json", text)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def keep(given: str, name: str, text: str) -> Path:
    """Puts a run's JSON into the file that was given, or without one into the folder."""
    return write(Path(given), text) if given else store(name, text)


def stored(kind: str, root: Path = ROOT) -> dict[str, dict]:
    """The results of a kind by their files' names, those of one CPU beside each other."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder(root).glob(f"{kind}-*.json"))}


def short(value):
    """Four digits to a number."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items()}
    return [short(item) for item in value] if isinstance(value, (list, tuple)) else value


def written(results: dict, heads: tuple[str, ...], lists: tuple[str, ...]) -> str:
    """JSON: each of the heads on a line, each row of the lists on a line."""
    parts = [f"{json.dumps(key)}: {json.dumps(short(results[key]))}" for key in heads if key in results]
    for key in lists:
        rows = ",\n".join(json.dumps(short(row), separators=(",", ":")) for row in results[key])
        parts.append(f'"{key}": [\n{rows}\n]')
    return "{" + ",\n".join(parts) + "}\n"
