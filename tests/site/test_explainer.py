# SPDX-License-Identifier: MIT
"""The explainer in Node.js: pictures and messages are the command's, byte for byte. script/site --check does the same in a browser."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, run
from skip import skip_test

import page_checks

RUN = """
const fs = require("fs");
const text = fs.readFileSync(process.argv[1], "utf8") + fs.readFileSync(process.argv[2], "utf8");
const module_ = { exports: {} };
const gatherRun = new Function("module", "require", "__filename", "__dirname", text + "; return gatherRun;")(module_, require, process.argv[1], ".");
(async () => {
  const answers = [];
  for (const line of JSON.parse(process.argv[3])) answers.push(await gatherRun(line));
  process.stdout.write(JSON.stringify(answers));
})();
"""
LINE = 'const line = require(process.argv[1]); process.stdout.write(JSON.stringify(JSON.parse(process.argv[2]).map((fields) => line[process.argv[3]](fields))))'
FIELDS = {"op": "Gather", "rules": "onnx-13", "data": "4x3", "axis": "", "indices": "[1, 7, -4]", "batch": "", "bad": "", "fill": "", "negative": ""}


def node(program: str, *arguments: str) -> object:
    if shutil.which("node") is None:
        skip_test("site", "not installed: node (script/bootstrap site)")
    done = subprocess.run(["node", "-e", program, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def program(site_python: Path) -> Path:
    """Compiled here unless script/site did."""
    folder = ROOT / "build/explainer"
    done = run(site_python, ROOT / "site/build_explainer.py", folder)
    assert done.returncode == 0, done.stderr
    return folder / "program.js"


def with_output(arguments: list[str]) -> list[str]:
    end = arguments.index("--") if "--" in arguments else len(arguments) - 1
    return ["explain", *arguments[:end], "-o", "-", *arguments[end:]]


def test_the_fields_make_the_commands_line():
    made = node(LINE, str(ROOT / "site/static/explainer_line.js"), json.dumps([{**FIELDS, **fields} for fields, _ in page_checks.LINES]), "args")
    for line, (fields, arguments) in zip(made, page_checks.LINES):
        words = [word for word in line if word != "explain"]
        assert sorted(words) == sorted(arguments), fields


def test_the_line_for_a_shell():
    shown = node(LINE, str(ROOT / "site/static/explainer_line.js"), json.dumps([FIELDS, {**FIELDS, "indices": "-4"}, {**FIELDS, "data": "it's"}]), "shell")
    assert shown == ["gather explain --data 4x3 '[1, 7, -4]' -o picture.svg", "gather explain --data 4x3 -o picture.svg -- -4",
                     "gather explain --data 'it'\\''s' '[1, 7, -4]' -o picture.svg"]


def test_what_people_type_is_a_shape_and_indices():
    line = str(ROOT / "site/static/explainer_line.js")
    shapes = {"4x3": "4x3", "(4, 3)": "4x3", "4, 3": "4x3", "[4,3]": "4x3", "4 3": "4x3", "(4,)": "4", "5": "5", "4x-3": "4x-3", "": "", "x": "x", "(4": "(4"}
    assert node(LINE, line, json.dumps(list(shapes)), "shape") == list(shapes.values())
    indices = {"1, 2": "[1, 2]", "1, -2,": "[1, -2]", "[1, 2]": "[1, 2]", "-4": "-4", "7": "7", "1, x": "1, x", "[[1], [2]]": "[[1], [2]]"}
    assert node(LINE, line, json.dumps(list(indices)), "indices") == list(indices.values())


def test_hints_name_the_fields():
    said = node(LINE, str(ROOT / "site/static/explainer_line.js"),
                json.dumps(["hint: --on-bad clamp, wrap, zero or fill=V repairs indices out of range", "error: --axis 7 is wrong; see --negative", "hint: see 'gather help explain'", "hint: gather explain --help shows the usage"]), "said")
    assert "field “Index out of range”" in said[0] and "--" not in said[0]
    assert said[1] == "error: “Axis” 7 is wrong; see “Index below 0”" and said[2:] == ["", ""]


def test_limits_are_said():
    long = {**FIELDS, "indices": "[" + "1," * 20000 + "1]"}
    told = node(LINE, str(ROOT / "site/static/explainer_line.js"), json.dumps([FIELDS, long, {**FIELDS, "indices": "file.npy"}]), "fault")
    assert told[0] == "" and "takes up to 20000" in told[1] and "numbers in brackets" in told[2]


@pytest.mark.in_full
def test_pictures_and_errors_are_the_commands(program: Path, command: Path):
    lines = [with_output(arguments) for _, arguments in page_checks.LINES]
    answers = node(RUN, str(program), str(ROOT / "site/static/explainer_worker.js"), json.dumps(lines))
    pictures = 0
    for line, answer in zip(lines, answers):
        expected = subprocess.run([command, *line], capture_output=True, check=False)
        assert answer["out"].encode() == expected.stdout, line
        assert answer["err"].encode() == expected.stderr, line
        assert answer["code"] == expected.returncode, line
        pictures += bool(expected.stdout)
    assert pictures >= 9 and len(lines) - pictures >= 4


@pytest.mark.in_full
def test_the_operators_are_the_commands(program: Path, command: Path):
    answer = node(RUN, str(program), str(ROOT / "site/static/explainer_worker.js"), json.dumps([["ops", "--json"], ["info"]]))
    assert answer[0]["out"] == subprocess.run([command, "ops", "--json"], capture_output=True, text=True, check=True).stdout
    assert answer[1]["code"] == 2 and "only explain and ops" in answer[1]["err"]


@pytest.mark.in_full
def test_the_program_is_small(program: Path):
    assert program.stat().st_size < 1.5e6
