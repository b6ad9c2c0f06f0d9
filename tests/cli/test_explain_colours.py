# SPDX-License-Identifier: MIT
"""Pictures of gathers: their colours can be told apart with a colour deficiency and are readable, an index out of range says so in words, and
pictures fit a phone."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from support.colours import SEEN, linear, nearest

NAMES = {f"c{i}" for i in range(8)}
SVG = "{http://www.w3.org/2000/svg}"
CELLS = {"light": 12, "dark": 10}  # the CIE's distance of 1976: 2.3 can just be seen
LINES = {"light": 15, "dark": 15}


def styles(text: str) -> dict[str, dict[str, dict[str, str]]]:
    """The rules of a picture, by theme."""
    style = text.partition("<style>")[2].partition("</style>")[0]
    light, _, dark = style.partition("@media (prefers-color-scheme:dark){")
    rules = {name: dict(re.findall(r"([\w.]+)\{([^}]*)\}", part)) for name, part in (("light", light), ("dark", dark))}
    return {theme: {rule.split(".")[-1] if rule.startswith(".") else rule: dict(re.findall(r"([\w-]+):([^;]+)", body)) for rule, body in found.items()}
            for theme, found in rules.items()}


def contrast(one: str, other: str) -> float:
    low, high = sorted(sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(colour))) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def rules(gather):
    return styles(gather("explain", "--data", "4x3", "[1]", "-o", "-").text)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("theme", CELLS)
def test_colours_are_told_apart(rules, theme, eyes):
    rule = rules[theme]
    assert rule.keys() >= NAMES
    cells = {name: rule[name]["fill"] for name in NAMES | {"c"}}  # c: a cell that is not gathered
    assert nearest(cells, eyes)[0] >= CELLS[theme], nearest(cells, eyes)
    lines = {name: rule[name]["stroke"] for name in NAMES}
    assert nearest(lines, eyes)[0] >= LINES[theme], nearest(lines, eyes)


@pytest.mark.parametrize("theme", CELLS)
def test_text_is_readable(rules, theme):
    rule = rules[theme]
    for name in NAMES | {"c"}:
        assert contrast(rule["text"]["fill"], rule[name]["fill"]) >= 4.5, name
    assert contrast(rule["s" if theme == "light" else "text"]["fill"], rule["bg"]["fill"]) >= 4.5


def test_near_colours_would_be_found():
    """The blue and violet, and the red and green, of other pictures."""
    assert nearest({"blue": "#b6dbff", "violet": "#e6ccff"}, "deuteranopia")[0] < 12
    assert nearest({"red": "#cc5f4d", "green": "#7a8c3c"}, "deuteranopia")[0] < 15


@pytest.mark.parametrize("words, count", [(["[1, 7, -4]"], 1), (["[1, 2]"], 0), (["[8, 9]", "--on-bad", "clamp"], 2), (["--nd", "[[0, 9]]"], 1)])
def test_out_of_range_is_said(gather, words, count):
    picture = ET.fromstring(gather("explain", "--data", "4x3", *words, "-o", "-").text)
    assert [text.text for text in picture.iter(f"{SVG}text")].count("out of range") == count


@pytest.mark.parametrize("words", [["[2, 0, -1]"], ["[1, 7, -4]"], ["--axis", "1", "[0, 2, 2]"], ["--nd", "[[0, 1], [3, 2]]"], ["--elements", "[[0, 2, 1]]"]])
def test_pictures_fit_a_phone(gather, words):
    """No text is cut, and none becomes smaller than two thirds on 390 pixels."""
    picture = ET.fromstring(gather("explain", "--data", "4x3", *words, "-o", "-").text)
    width = int(picture.get("width"))
    assert width <= 450
    for text in picture.iter(f"{SVG}text"):
        if "s" in text.get("class").split():
            assert float(text.get("x")) + 7 * len(text.text) <= width


@pytest.mark.parametrize("words, lines", [(["[2, 0, -1]"], 3), (["--axis", "1", "[0, 2, 2]"], 3), (["--nd", "[[0, 1], [3, 2], [0, 9]]"], 2), (["--nd", "[[1], [3]]"], 2),
                                          (["--elements", "[[0, 2, 1]]"], 0)])
def test_lines_lead_from_data_to_the_output(gather, words, lines):
    picture = ET.fromstring(gather("explain", "--data", "4x3", *words, "-o", "-").text)
    assert len([path for path in picture.iter(f"{SVG}path") if path.get("class").startswith("r ")]) == lines


def test_pictures_of_the_documents_are_in_these_colours():
    folder = Path(__file__).parents[2] / "docs/pictures"
    for name in ("gather", "gather-elements", "gather-bad-index"):
        assert "#4d9cc9" in (folder / f"{name}.svg").read_text(encoding="utf-8")
