# SPDX-License-Identifier: MIT
"""The runs of bench/run.py in the folder of results: one file for each kind of rows."""

from __future__ import annotations

import re
from pathlib import Path

import grid
import results as folder
import scatter_grid
import siblings_grid
from results import HEADS, LISTS, isa, written
from results import machine_name as name

KIND = "memory"
GRIDS = (grid, siblings_grid, scatter_grid)
SIBLINGS, WRITES = siblings_grid.END, scatter_grid.END


def words(about: dict) -> str:
    """The CPU, with the instruction set that libgather was held to, if it was."""
    held = f", libgather held to {isa(about)}" if about.get("held") else ""
    return re.sub(r", *stepping \d+", "", about["cpu"]) + held


def stored(root: Path) -> dict[str, dict]:
    return folder.stored(KIND, root)


def split(results: dict) -> dict[str, dict]:
    """The rows of each kind by the names of their files."""
    found = {}
    for one in GRIDS:
        if rows := [row for row in results["rows"] if row["op"] in one.OPS]:
            found[folder.name_of(KIND, results) + one.END] = {**results, "rows": rows}
    return found


def store(results: dict, root: Path) -> list[Path]:
    """Puts the results of a run into the folder, and returns their files."""
    return [folder.store(key, written(part, HEADS, LISTS), root) for key, part in split(results).items()]
