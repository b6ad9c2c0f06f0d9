# SPDX-License-Identifier: MIT
"""`info`, `ops`, the help and the man pages."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.skip import skip_test
from test_take import DEFAULTS


def test_info_of_a_file(gather, table):
    assert gather.json("info", table) == {
        "command": "info",
        "file": "x.npy",
        "format": "npy",
        "tensors": [{"name": "", "type": "float32", "shape": [3, 4], "bytes": 48, "offset": 128, "row_bytes": 16}],
        "gather_nodes": 0,
    }
    text = gather("info", table).text
    for part in ("npy", "float32", "[3, 4]", "48", "128"):
        assert part in text
    assert "rows of 16 bytes" in text


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,) * 32])
def test_info_shapes(gather, shape):
    gather.save("x.npy", np.zeros(shape, ">f8"))
    assert gather.json("info", "x.npy")["tensors"][0]["shape"] == list(shape)
    assert str(list(shape)) in gather("info", "x.npy").text


def test_info_of_raw_bytes(gather):
    gather.write("x.bin", bytes(16))
    answer = gather.json("info", "x.bin", "--type", "int4", "--shape", "3x3", "--offset", "2")
    assert answer["format"] == "raw"
    assert answer["tensors"] == [{"name": "", "type": "int4", "shape": [3, 3], "bytes": 5, "offset": 2}]
    gather.fails("unsupported", "info", "x.bin")


def test_info_without_a_file(gather):
    answer = gather.json("info")
    assert answer["command"] == "info" and re.fullmatch(r"\d+\.\d+\.\d+", answer["version"])
    assert answer["threads"] >= 1 and answer["kernels"] and isinstance(answer["cpu_features"], list)
    text = gather("info").text
    for part in (answer["version"], answer["kernels"], *answer["cpu_features"], f"threads: {answer['threads']}"):
        assert part in text


def test_info_says_which_engines_work(gather):
    engines = gather.json("info")["engines"]
    assert [row["name"] for row in engines] == ["mmap", "pread", "uring", "http", "overlapped"]
    assert all(row["works"] == ("why" not in row) for row in engines) and engines[1]["works"]
    text = gather("info").text
    assert "engines: " + " ".join(row["name"] for row in engines if row["works"]) + "\n" in text
    for row in engines:
        shown = f"engine {row['name']} is not available: " in text
        assert shown == (not row["works"] and row["name"] != "overlapped"), "no engine of another system"
        assert not shown or f"engine {row['name']} is not available: {row['why']}\n" in text


@pytest.mark.parametrize(
    ("shape", "order", "row_bytes"),
    [((5, 2, 3), "C", 48), ((5, 2), "F", None), ((5,), "C", 8), ((0, 4), "C", None), ((3, 0), "C", 0), ((), "C", None)],
)
def test_info_shows_the_bytes_of_a_row(gather, shape, order, row_bytes):
    gather.save("x.npy", np.zeros(shape, "f8", order))
    assert gather.json("info", "x.npy")["tensors"][0].get("row_bytes") == row_bytes
    assert ("rows of" in gather("info", "x.npy").text) == (row_bytes is not None and len(shape) > 1)


def test_threads_are_the_cpus_this_process_may_use(gather):
    if not shutil.which("taskset"):
        skip_test("taskset", "there is no program taskset")
    words = ["taskset", "1", str(gather.exe), "info"]
    assert "threads: 1\n" in subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_info_formats(gather):
    formats = {row["name"]: row for row in gather.json("info", "--formats")["formats"]}
    assert formats["npy"]["extensions"] == [".npy"] and formats["npy"]["abilities"] == ["read", "write"]
    assert formats["raw"]["extensions"] == [".bin", ".raw"] and "write" in formats["pb"]["abilities"]
    text = gather("info", "--formats").text
    for name, row in formats.items():
        assert re.search(rf"^{name} .*{re.escape(' '.join(row['extensions']))}", text, re.MULTILINE)


def test_info_plugins(gather, gather_source):
    rows = {row["name"]: row for row in gather.json("info", "--plugins")["plugins"]}
    assert set(rows) == {path.name for path in (gather_source / "plugin").iterdir() if (path / "CMakeLists.txt").is_file()}
    text = gather("info", "--plugins").text
    for name, row in rows.items():
        assert Path(row["path"]).is_file() if row["found"] else "path" not in row
        where = re.escape(row["path"]) if row["found"] else "not in this build"
        assert re.search(rf"^{name} +for {row['host']} from {row['oldest_host']} on: {where}$", text, re.MULTILINE)


# Operators that write, and embedding bags: of `scatter`, `bag` and models.
WRITING = {
    "Scatter": "onnx-9", "ScatterElements": "onnx-11 onnx-13 onnx-16 onnx-18", "ScatterND": "onnx-11 onnx-13 onnx-16 onnx-18",
    "TensorScatter": "onnx-24", "ScatterUpdate": "openvino-3", "ScatterElementsUpdate": "openvino-3 openvino-12",
    "ScatterNDUpdate": "openvino-3 openvino-15", "EmbeddingBagOffsetsSum": "openvino-3", "EmbeddingBagOffsets": "openvino-15",
    "EmbeddingBagPackedSum": "openvino-3", "EmbeddingBagPacked": "openvino-15", "EmbeddingSegmentsSum": "openvino-3", "scatter": "stablehlo-1",
}  # fmt: skip


def test_ops(gather):
    answer = gather.json("ops")
    assert answer["command"] == "ops"
    seen, writing = {}, []
    for op in answer["ops"]:
        if op["op"] == "GatherBlockQuantized":  # of models
            assert (op["rules"], op["negative"], op["on_bad"], op["dialect"]) == ("microsoft-1", True, "zero", "microsoft")
            continue
        assert {"rules", "dialect", "op", "version", "negative", "on_bad", "types", "index_types"} <= set(op)
        assert op["rules"] == f"{op['dialect']}-{op['version']}"
        if op["op"] in WRITING:
            writing.append((op["op"], op["rules"]))
            assert op["on_bad"] == ("skip" if op["op"] == "scatter" else "error")
            continue
        command = {"Gather": "take", "GatherElements": "elements", "GatherND": "nd", "GatherTree": "tree", "gather": None}[op["op"]]
        seen[command, op["rules"]] = (op["negative"], op["on_bad"])
        assert "float32" in op["types"] and "int64" in op["index_types"]
        assert ("int32" in op["index_types"]) == (command != "nd" or op["dialect"] != "onnx")
        assert ("bfloat16" in op["types"]) == (op["rules"] not in ("onnx-1", "onnx-11", "onnx-12", "microsoft-1"))
        assert (op["axis"] == "none") == (command not in ("take", "elements"))
        assert (op["tuples"] != "none") == (command in ("nd", None))
        assert op["fused_batch"] == ((command, op["rules"]) == ("nd", "openvino-5"))
    assert seen == {**DEFAULTS, ("tree", "openvino-1"): (False, "error"), (None, "stablehlo-1"): (False, "clamp")}
    assert sorted(writing) == sorted((name, rules) for name, versions in WRITING.items() for rules in versions.split())


def test_ops_as_text(gather):
    text = gather("ops").text
    for command, rules in DEFAULTS:
        name = {"take": "Gather", "elements": "GatherElements", "nd": "GatherND"}[command]
        line = next(line for line in text.splitlines() if line.split()[:2] == [rules, name])
        negative, on_bad = DEFAULTS[command, rules]
        assert f"negative {'on' if negative else 'off'}" in line and f"out of range: {on_bad}" in line
    assert all(len(line) <= 80 and line == line.rstrip() for line in text.splitlines())


COMMANDS = ["take", "elements", "nd", "scatter", "bag", "tree", "info", "bench", "ops", "completion", "help"]


def test_the_ways_to_the_help(gather):
    main = gather("--help")
    assert main.code == 0 and main.err == b""
    assert gather().out == main.out == gather("help").out == gather("-h").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", main.text, re.MULTILINE)
    for command in COMMANDS[:-1]:
        one = gather("help", command)
        assert one.code == 0 and f"Usage: gather {command}" in one.text
        assert gather(command, "--help").out == one.out == gather("-h", command).out
    assert gather.json("help", "take") == {"command": "help", "topic": "take", "text": gather("help", "take").text}


@pytest.mark.parametrize("command", ["take", "elements", "nd"])
def test_the_help_says_what_the_contract_says(gather, command):
    text = gather(command, "--help").text
    options = [
        "-o", "-f", "--axis", "--rules", "--on-bad", "--negative", "--dry-run", "--plan", "--threads", "--json", "-q", "--type",
        "--shape", "--offset", "--indices-type", "--indices-shape", "--indices-offset", "--version",
    ]
    words = ["error", "clamp", "wrap", "zero", "fill=V", "promise", ".npy", ".pb", ".bin", ".raw", "FILE:NAME", "130"]
    for part in options + words:
        assert (part in text) == (command != "nd" or part != "--axis"), part
    for known, rules in DEFAULTS:
        if known == command:
            assert rules in text
    assert all(len(line) <= 82 for line in text.splitlines())


def test_every_option_of_the_help_is_understood(gather, table):
    for command in COMMANDS[:-1]:
        for name, value in re.findall(r"^ +(?:-., )?--([a-z-]+) ?(\S*)", gather(command, "--help").text, re.MULTILINE):
            words = [f"--{name}=?"] if value.isupper() or value in ("3x4", "on|off") else [f"--{name}"]
            answer = gather(command, *words)
            assert b"no such option" not in answer.err and b"has no option" not in answer.err, name
            assert b"takes no value" not in answer.err and b"needs a value" not in answer.err, name


@pytest.mark.parametrize("command", [*COMMANDS[:-1], "shuffle", "run", "check", "explain"])
def test_usage_lines_and_the_order_of_options(gather, command):
    lines = gather(command, "--help").text.splitlines()
    usage = lines[lines.index("") + 1 :]
    usage = usage[: usage.index("")]
    assert usage[0].startswith(f"Usage: gather {command}") and usage[-1].endswith("[options]")
    assert max(map(len, usage)) <= 80 and all("[" not in line or line.count("[") == line.count("]") for line in usage), usage
    options = lines[lines.index("Options:") + 1 :]
    text = re.split(r"\n(?=  +(?:-., )?--)", "\n".join(options).split("\n      --json")[0])
    urls = [bool(re.search(r"^ +--\S+ \S*\s*URLs: ", option)) for option in text]
    assert urls == sorted(urls), "options of URLs follow those of the command"


def test_the_help_fits_a_screen(gather):
    lines = gather("--help").text.splitlines()
    assert len(lines) <= 32 and max(map(len, lines)) <= 79, "32 lines of 80 columns"


TOPICS = {"examples": "--on-bad clamp", "exit-codes": "130", "environment": "NO_COLOR", "tuning": "isa=99"}


def test_topics(gather):
    """What the help of the whole leaves out is a topic, and stands in the manual page."""
    assert f"gather help {'|'.join(TOPICS)}" in gather("--help").text
    page = gather("--man").text.replace("\\-", "-")
    for topic, word in TOPICS.items():
        answer = gather("help", topic)
        assert answer.code == 0 and word in answer.text and word in page
        assert max(map(len, answer.text.splitlines())) <= 80
        assert gather.json("help", topic) == {"command": "help", "topic": topic, "text": answer.text}
        assert gather("help", topic, "--man").out == gather("--man").out
    assert "mean" not in gather.fails("usage", "tunnig")["message"]


def test_version(gather, gather_source):
    header = (gather_source / "include/gather/gather.h").read_text()
    version = ".".join(re.findall(r"#define GATHER_VERSION_\w+ (\d+)", header))
    answer = gather("--version")
    assert answer.code == 0 and answer.text.startswith(f"gather {version}\n")
    assert "cpu features:" in answer.text and "kernels:" in answer.text
    assert gather("take", "--version").out == gather("-V").out == answer.out
    assert gather.json("--version")["version"] == version


@pytest.mark.parametrize("topic", ["", *COMMANDS[:-1]])
def test_man_pages(gather, topic):
    page = gather(*([topic] if topic else []), "--man")
    assert page.code == 0 and page.text.startswith(".TH GATHER")
    if not shutil.which("groff"):
        skip_test("groff", "there is no program groff")
    # A sanitizer that is loaded into our programs is no business of groff's.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = ["groff", "-man", "-Tutf8", "-ww", "-P-c"]
    shown = subprocess.run(command, input=page.out, capture_output=True, check=True, env=environment)
    assert shown.stderr == b""
    words = re.sub(r".\x08|\x1b\[[\d;]*m", "", shown.stdout.decode())
    for part in ("NAME", "SYNOPSIS", "OPTIONS", "--json"):
        assert part in words
    if topic == "take":
        assert "'[[0, 2], [1, -1]]'" in words and "--batch-dims" in words
