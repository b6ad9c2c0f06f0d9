# SPDX-License-Identifier: MIT
"""The runs whose results are in docs/benchmarks/: their names, which are made from the CPU, and where their pages and pictures are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import siblings_grid
from results import HEADS, LISTS, written

SIBLINGS = "-siblings"  # ends the name of a page of GatherND, GatherTree and quantised rows
NOISE = re.compile(r"\((?:r|tm)\)|\b(?:processor|cpu)\b|@ *[\d.]+ *ghz|, *stepping \d+")


def words(about: dict) -> str:
    """The CPU, with the instruction set that libgather was held to, if it was."""
    held = f", libgather held to {isa(about)}" if about.get("held") else ""
    return re.sub(r", *stepping \d+", "", about["cpu"]) + held


def isa(about: dict) -> str:
    """The strongest instruction set whose kernels were used."""
    return about["isa"].split(" ")[0]


def name(about: dict) -> str:
    """Of a file: "AMD EPYC (family 25, model 17, stepping 1)" gives amd-epyc-family-25-model-17."""
    plain = "-".join(re.findall(r"[a-z0-9]+", NOISE.sub(" ", about["cpu"].lower())))
    return f"{plain}-{isa(about)}" if about.get("held") else plain


def folder(root: Path) -> Path:
    return root / "docs/benchmarks"


def stored(root: Path) -> dict[str, dict]:
    """The results in docs/benchmarks by name, those of one CPU beside each other."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder(root).glob("*.json"))}


def split(results: dict) -> dict[str, dict]:
    """Gather and GatherElements, and their siblings, by the names of their pages."""
    found = {}
    for end, sibling in (("", False), (SIBLINGS, True)):
        rows = [row for row in results["rows"] if (row["op"] in siblings_grid.OPS) == sibling]
        if rows:
            found[name(results["machine"]) + end] = {**results, "rows": rows}
    return found


def store(results: dict, root: Path) -> list[str]:
    """Puts the results of a run there, and returns the names."""
    folder(root).mkdir(parents=True, exist_ok=True)
    parts = split(results)
    for key, part in parts.items():
        (folder(root) / f"{key}.json").write_text(written(part, HEADS, LISTS), encoding="utf-8")
    return list(parts)
