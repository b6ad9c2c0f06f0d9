# SPDX-License-Identifier: MIT
"""The runs of bench/run.py in the folder of results: one file for Gather and GatherElements, one for their siblings."""

from __future__ import annotations

import re
from pathlib import Path

import results as folder
import siblings_grid
from results import HEADS, LISTS, isa, written
from results import machine_name as name

KIND = "memory"
SIBLINGS = "-siblings"  # ends the name of the results of GatherND, GatherTree and quantised rows


def words(about: dict) -> str:
    """The CPU, with the instruction set that libgather was held to, if it was."""
    held = f", libgather held to {isa(about)}" if about.get("held") else ""
    return re.sub(r", *stepping \d+", "", about["cpu"]) + held


def stored(root: Path) -> dict[str, dict]:
    return folder.stored(KIND, root)


def split(results: dict) -> dict[str, dict]:
    """Gather and GatherElements, and their siblings, by the names of their files."""
    found = {}
    for end, sibling in (("", False), (SIBLINGS, True)):
        rows = [row for row in results["rows"] if (row["op"] in siblings_grid.OPS) == sibling]
        if rows:
            found[folder.name_of(KIND, results) + end] = {**results, "rows": rows}
    return found


def store(results: dict, root: Path) -> list[Path]:
    """Puts the results of a run into the folder, and returns their files."""
    return [folder.store(key, written(part, HEADS, LISTS), root) for key, part in split(results).items()]
