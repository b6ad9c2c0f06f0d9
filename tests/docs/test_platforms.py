# SPDX-License-Identifier: MIT
"""docs/extend/platforms.md lists the presets for other systems, all of them, and each script that it names builds them."""

import json
import re

import pytest

from blocks import DOCS, ROOT

OTHER_SYSTEMS = ("cross-", "musl-", "macos-", "freebsd-", "windows-")


def table() -> list[dict[str, str]]:
    """The rows of the first table, by the heads of their columns."""
    lines = [line for line in (DOCS / "extend/platforms.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = cells[0]
    rows = [dict(zip(heads, row)) for row in cells[2:] if len(row) == len(heads) and row[1].startswith("`")]
    assert heads == ["platform", "preset", "compiled", "run", "by what", "what differs", "since"] and len(rows) > 7
    return rows


def presets() -> set[str]:
    listed = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    return {preset["name"] for preset in listed if not preset.get("hidden")}


def test_each_row_is_a_preset():
    told = [row["preset"].strip("`") for row in table()]
    assert len(told) == len(set(told)) and set(told) <= presets()


def test_each_preset_for_another_system_has_a_row():
    others = {name for name in presets() if name.startswith(OTHER_SYSTEMS)}
    assert others and others <= {row["preset"].strip("`") for row in table()}


@pytest.mark.parametrize("row", table(), ids=lambda row: row["preset"].strip("`"))
def test_its_script_builds_it(row):
    name = row["preset"].strip("`")
    script = ROOT / row["by what"].strip("`")
    text = script.read_text(encoding="utf-8")
    assert name in text or re.search(rf"\b{name.split('-')[-1]}\b", text), f"{script} does not know {name}"


def test_what_is_not_run_is_said_to_be_unproven():
    page = (DOCS / "extend/platforms.md").read_text(encoding="utf-8")
    for row in table():
        if row["run"] == "no":
            section = re.search(r"\(#([a-z-]+)\)", row["what differs"]).group(1)
            text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", page, flags=re.M | re.S | re.I).group(1)
            assert "Not run by anybody yet" in text, row["platform"]
