# SPDX-License-Identifier: MIT
"""How results are written."""

from __future__ import annotations

import json

HEADS, LISTS = ("machine", "settings", "limits", "left_out"), ("rows",)  # of a run of bench/run.py


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
