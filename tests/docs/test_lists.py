# SPDX-License-Identifier: MIT
"""What documents, sentences and sources list by hand is what the tables hold: a new row that one of them lacks fails here, by name."""

import ast
import os
import re
import subprocess
import sys

import pytest

from blocks import DOCS, ROOT
from support.skip import skip_test

sys.path.insert(0, str(ROOT / "script"))
from op_tables import read_ops, rows  # noqa: E402


def option_words(name: str) -> str:
    """What cli/options.def says of an option."""
    return next(row[-1] for row in options() if row[2] == name)


def options() -> list[list[str]]:
    table = (ROOT / "cli/options.def").read_text(encoding="utf-8")
    found = re.findall(r'^GATHER_CLI_OPTION\((\w+), *([^,]+), *"([a-z-]+)", *([^,]+), *([^,]+), *"(.*)"\)$', table, flags=re.M)
    assert len(found) == len(re.findall(r"^GATHER_CLI_OPTION", table, flags=re.M)) > 20
    return [list(row) for row in found]


def formats() -> dict[str, tuple[str, str, bool]]:
    """Abilities, extensions and whether bytes are read, of each row of format.def."""
    table = re.sub(r"/\*.*?\*/", "", (ROOT / "src/io/format/format.def").read_text(encoding="utf-8"), flags=re.S)
    found = re.findall(r'GATHER_FORMAT\("([^"]+)", "([^"]+)", "([^"]+)",\s*(&?\w+),\s*(&?\w+)\)', table)
    assert len(found) == table.count("GATHER_FORMAT(") and len(found) > 8
    read = {name: reader != "NULL" for name, _, _, reader, _ in sorted(found, key=lambda row: row[3] != "NULL")}
    return {name: (abilities, extensions, read[name]) for name, abilities, extensions, _, _ in found}


def without_lines(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(("call", "op"), [("take", "Gather"), ("gather_elements", "GatherElements")])
def test_python_page_lists_every_version(call, op):
    page = (DOCS / "use/python.md").read_text(encoding="utf-8")
    section = without_lines(re.search(r"^## Rules\n(.*?)^```", page, flags=re.M | re.S).group(1))
    told = re.search(rf"((?:`'[a-z]+-\d+'`,? ?)+)for `{call}`", section)
    assert told and re.findall(r"'([a-z]+-\d+)'", told.group(1)) == [row.rules for row in read_ops() if row.name == op]


def test_python_page_lists_every_argument_of_open():
    page = (DOCS / "use/python.md").read_text(encoding="utf-8")
    table = re.search(r"^\| argument of `open` \|.*\n((?:\|.*\n)+)", page, flags=re.M).group(1)
    package = ast.parse((ROOT / "python/libgather/table.py").read_text(encoding="utf-8"))
    opening = next(node for node in package.body if isinstance(node, ast.FunctionDef) and node.name == "open")
    told = set(re.findall(r"[`(](\w+)=", table))
    assert told == {argument.arg for argument in opening.args.kwonlyargs}


def test_help_of_batch_dims_names_its_versions():
    told = set(re.findall(r"\b[a-z]+-\d+\b", option_words("batch-dims")))
    assert told == {op.rules for op in read_ops() if op.batch_dims}


def test_help_of_output_names_every_extension():
    for name, (abilities, extensions, _) in formats().items():
        for extension in extensions.split() if "write" in abilities else []:
            assert re.search(rf"{re.escape(extension)}\b", option_words("output")), f"--output: {name} is written as {extension}"


def test_every_format_that_is_read_has_a_fuzz_target():
    shared = {"safetensors-index": "safetensors", "pb": "onnx"}  # the corpus of another target has its files
    assert "fuzz_delivered(" in (ROOT / "tests/fuzz/delivered.c").read_text(encoding="utf-8").partition("int fuzz_file(")[2]
    targets = (ROOT / "tests/fuzz/CMakeLists.txt").read_text(encoding="utf-8")
    for name, (_, _, reads) in formats().items():
        target = shared.get(name, name)
        if not reads:
            continue
        assert (ROOT / f"tests/fuzz/fuzz_{target}.c").exists(), f"tests/fuzz has no fuzz_{target}.c for the format {name}"
        assert re.search(rf"gather_fuzz_targets\b[^)]*\b{target}\b", targets), f"tests/fuzz/CMakeLists.txt does not name {target}"
        text = (ROOT / f"tests/fuzz/fuzz_{target}.c").read_text(encoding="utf-8")
        assert "fuzz_delivered(" in text or "fuzz_file(" in text, f"fuzz_{target}.c does not ask which bytes were read without gather_map_need"


def test_tuning_names_every_instruction_set():
    sets = [row[0] for row in rows("src/core/kernel/isa.def", "GATHER_ISA")]
    words = re.search(r"^GATHER_TUNING\(isa, .*$", (ROOT / "src/core/kernel/tuning.def").read_text(encoding="utf-8"), flags=re.M).group()
    assert re.findall(r"(\d+) (\w+)", words) == [(str(number), name) for number, name in enumerate(sets)]


# ---- types: what gather_type_info does not say stands in a few lists

TYPES = [dict(zip(("enum", "number", "name", "kind", "bits", "packing", "onnx", "onnx_name", "ort", "openvino", "precision", "npy",
                   "dlpack", "safetensors"), row)) for row in rows("include/gather/type.def", "GATHER_TYPE")]  # fmt: skip
FLOATS = [row for row in TYPES if row["kind"] == "FLOAT"]
HELD = [row["name"] for row in TYPES if row["kind"] != "OPAQUE"]


def block(path: str, begin: str) -> str:
    """A list in a source: from the line that begins so to the line that closes it."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert f"\n{begin}" in text, f"{path} has no {begin}"
    return text.split(f"\n{begin}", 1)[1].split("\n}", 1)[0]


def test_every_extra_that_is_named_exists():
    """pip warns of an extra that does not exist, and installs nothing for it."""
    extras = re.search(r"\[project\.optional-dependencies\]\n(.*?)\n\[", (ROOT / "pyproject.toml").read_text(), re.S)[1]
    there = set(re.findall(r"^(\w+) = ", extras, re.M))
    texts = [path for folder in ("python", "plugin", "docs", "cli") for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".c")]
    named = {name for path in texts for name in re.findall(r"libgather\[(\w+)\]", path.read_text())}
    assert {"torch", "onnxruntime"} <= named <= there


def test_packed_types_of_the_python_package():
    told = re.findall(r'"(\w+)": _Packing\((\d+), ', block("python/libgather/model_types.py", "_PACKED"))
    assert set(told) == {(row["name"], row["bits"]) for row in TYPES if row["packing"] != "BYTES"}


@pytest.mark.parametrize(
    ("path", "most", "what"),
    [("cli/value_number.c", 32, "a value of --on-bad fill=V is written"), ("src/core/base/float_value.c", 8, "explain shows an element")],
)
def test_floats_as_text(path, most, what):
    text = (ROOT / path).read_text(encoding="utf-8")
    for row in FLOATS:
        known = re.search(rf"\bGATHER_TYPE_{row['enum']}\b", text)
        assert known or int(row["bits"]) > most, f"{path} does not say how {what} in {row['name']}"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("tests/cli/test_fill.py", [row["name"] for row in FLOATS]),
        ("tests/cli/test_explain.py", [row["name"] for row in FLOATS if int(row["bits"]) <= 8]),
        ("tests/io/format/test_safetensors_write.py", HELD),
    ],
)
def test_types_that_tests_try(path, names):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert [name for name in names if f'"{name}"' not in text] == [], path


# ---- codecs


def test_codecs_are_listed():
    """docs/embed/codecs.md has each row of codec.def: name, sizes, formula or reason, source."""
    page = (DOCS / "embed/codecs.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| (`.*) \|$", page, flags=re.M))
    for enum, _, name, kind, block_len, block_bytes, bits, _, value, source in rows("include/gather/codec.def", "GATHER_CODEC"):
        first = {"BLOCKS": [block_len, block_bytes], "PACKED": [bits, block_bytes]}.get(kind, [])
        line = " | ".join([f"`{name}`", *first, value if kind == "REFUSED" else f"`{value}`", source])
        assert line in told, f"docs/embed/codecs.md lacks the line of {enum}: | {line} |"


def test_gguf_types_have_codecs():
    """Each block of gguf.def is a codec of the same name and size."""
    codecs = {row[2]: (row[4], row[5]) for row in rows("include/gather/codec.def", "GATHER_CODEC")}
    for _, name, kind, block_len, block_bytes in rows("src/io/format/gguf/gguf.def", "GATHER_GGUF_TYPE"):
        assert kind != "OPAQUE" or codecs.get(name) == (block_len, block_bytes), f"codec.def and gguf.def differ in {name}"


# ---- the command


def help_options(command: str) -> list[str]:
    if "GATHER_EXE" not in os.environ:
        skip_test("command", "this build has no command (GATHER_CLI=OFF)")
    text = subprocess.run([os.environ["GATHER_EXE"], command, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    return re.findall(r"^ +(?:-., )?(--[a-z-]+)", text.split("\nOptions:\n")[1], flags=re.M)


def told_options() -> dict[str, set[str]]:
    """The table of docs/use/command.md: the options of each command, and those of every command."""
    section = (DOCS / "use/command.md").read_text(encoding="utf-8").split("\n## All options\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| `?([\w ]+?)`? \| (.*) \|$", section, flags=re.M)
    return {name: set(re.findall(r"`(--[a-z-]+)`", words)) for name, words in lines if name not in ("command", "---")}


COMMANDS = [row[1] for row in rows("cli/commands.def", "GATHER_CLI_COMMAND")]


def test_command_page_lists_every_command():
    assert list(told_options()) == [*COMMANDS, "every command"]


@pytest.mark.parametrize("command", COMMANDS)
def test_command_page_lists_every_option(command):
    told, listed = told_options(), set(help_options(command))
    shared = told["every command"]
    assert shared <= listed | {"--man"}  # the help of the whole leaves it to the others
    assert told[command] == listed - shared


def test_quantised_page_names_every_layout():
    """The side tensors of each layout that is decoded, and the refused ones by name."""
    table = (ROOT / "src/table/layout.def").read_text(encoding="utf-8")
    page = (DOCS / "use/quantised.md").read_text(encoding="utf-8")
    found = re.findall(r'^GATHER_LAYOUT\((\w+), "([^"]+)", "([^"]*)", \w+, \w+, (.*)\)$', table, flags=re.M)
    assert len(found) == table.count("\nGATHER_LAYOUT(") > 8
    for function, name, _, sides in found:
        if function in ("gptq", "awq"):
            assert name in page.split("## What is refused")[1]
            continue
        for ending in re.findall(r'SIDE\(\w+, "([^"]+)"', sides):
            assert ending.lstrip(".").removesuffix("nf4").removesuffix("fp4") in page, (name, ending)
