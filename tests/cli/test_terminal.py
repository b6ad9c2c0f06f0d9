# SPDX-License-Identifier: MIT
"""Terminals: their width, colour, encoding, and what must not be written to one."""

import re
import signal
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from terminals import columns_of, on_terminal, rewritten, shown_at_work, stop_for_a_while


@pytest.fixture
def large(gather) -> tuple[str, str]:
    """Rows of a file for the table, and elements that go past it."""
    gather.save("x.npy", np.ones((2, 1 << 20), np.uint8))
    gather.save("i.npy", np.zeros(512, np.int32))
    return "x.npy", "i.npy"


@pytest.mark.parametrize("columns", [80, 40, 12])
@pytest.mark.parametrize("axis", ["0", "1"])
def test_progress_fits_the_terminal(gather, columns, axis):
    gather.save("x.npy", np.ones((2, 1 << 20) if axis == "0" else (1 << 20, 2), np.uint8))
    words = ("take", "x.npy", "i.npy", "--axis", axis, "-o", "big.npy", "--threads", "1", "--no-sync")
    code, shown = shown_at_work(gather, *words, columns=columns)
    assert code == 0 and not re.search(rb"\b0\.\d+ GB", shown), "below 1 GB amounts are MB"
    lines = [line for line in rewritten(shown) if line.startswith("gather")]
    assert lines and all(columns_of(line) < columns for line in lines), lines
    if columns >= 40:
        assert all("%" in line and "left" in line for line in lines), lines


def test_columns_of_the_environment_count(gather, large):
    words = ("take", *large, "-o", "big.npy", "--threads", "1", "--no-sync")
    _, shown = shown_at_work(gather, *words, columns=200, COLUMNS="30")
    lines = [line for line in rewritten(shown) if line.startswith("gather")]
    assert lines and all(columns_of(line) < 30 for line in lines), lines


def interrupt_after_progress(gather, process) -> None:
    """Stops a command for more than a second as soon as it writes, and interrupts it soon after it goes on."""
    stop_for_a_while(gather, process)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)


def test_an_interrupt_ends_a_line_of_progress(gather):
    """Else the shell's prompt would follow the progress in one line."""
    gather.save("x.npy", np.ones((2, 1 << 20), np.uint8))
    gather.save("i.npy", np.zeros(2048, np.int32))
    words = ("take", "x.npy", "i.npy", "-o", "big.npy", "-f", "--threads", "1", "--no-sync")
    for _ in range(5):  # until the signal comes while progress is shown
        code, _, shown = on_terminal(gather, *words, stdout=False, pause=interrupt_after_progress)
        if code == 130 and b"%" in shown:
            break
    assert code == 130 and shown.endswith(b"\n"), shown
    assert "big.npy" not in gather.names()


@pytest.mark.in_full
def test_no_progress_where_a_line_cannot_be_rewritten(gather, large):
    words = ("take", *large, "-o", "big.npy", "--threads", "1", "--no-sync")
    assert on_terminal(gather, *words, stdout=False, pause=stop_for_a_while, TERM="dumb")[2] == b""


BAD = ("take", "x.npy", "9", "--dry-run")


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "0"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": None}, False),
    ],
)
def test_when_messages_are_coloured(gather, table, environment, coloured):
    assert (b"\x1b[" in on_terminal(gather, *BAD, **environment)[2]) == coloured
    assert (b"\x1b[" in on_terminal(gather, "explain", "--data", "3x2", "[0]", **environment)[2]) == coloured


def test_verdicts_are_coloured(gather):
    """The word alone, at the beginning of its line; without colours the text is what a pipe gets."""
    graph = helper.make_graph(
        [helper.make_node("Gather", [data, "ids" if name == "unknown" else name], [name + "_out"], name=name) for data, name in
         (("x", "good"), ("x", "wrong"), ("x", "unknown"))],
        "g", [helper.make_tensor_value_info("ids", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None) for name in ("good", "wrong", "unknown")],
        [helper.make_tensor("x", TensorProto.FLOAT, [2], [1, 2]), helper.make_tensor("good", TensorProto.INT64, [1], [1]),
         helper.make_tensor("wrong", TensorProto.INT64, [1], [7])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), gather.folder / "m.onnx")
    shown = on_terminal(gather, "check", "m.onnx", columns=200)[2].replace(b"\r\n", b"\n")
    for colour, word in ((b"32", b"ok"), (b"1;31", b"bad"), (b"33", b"unknown")):
        assert shown.count(b"\n\x1b[" + colour + b"m" + word + b"\x1b[0m ") == 1, shown
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", shown) == gather("check", "m.onnx").out
    assert b"\x1b" not in on_terminal(gather, "check", "m.onnx", NO_COLOR="1")[2]


def test_color_decides(gather, table):
    assert b"\x1b[" in gather(*BAD, "--color", "always", env={"NO_COLOR": "1"}).err
    assert b"\x1b[" in gather("explain", "--data", "3x2", "[0]", "--color=always").out
    assert b"\x1b[" not in gather(*BAD, "--color", "auto").err
    assert b"\x1b[" not in on_terminal(gather, *BAD, "--color", "never")[2]
    assert b"\x1b[" in on_terminal(gather, *BAD, "--color", "always", NO_COLOR="1")[2]
    assert b"\x1b" not in gather(*BAD, "--color", "always", "--json").out
    for value in ("sometimes", "", "ALWAYS"):
        assert "auto, always or never" in gather.fails("usage", *BAD, "--color", value)["message"]
    assert "did you mean 'always'?" in gather.fails("usage", *BAD, "--color", "allways")["message"]


@pytest.mark.parametrize(
    ("environment", "boxes"),
    [
        ({"LC_ALL": "C.UTF-8"}, True),
        ({"LC_ALL": "C"}, False),
        ({"LC_ALL": "POSIX", "LANG": "C.UTF-8"}, False),
        ({"LC_ALL": "", "LC_CTYPE": "", "LANG": "C.UTF-8"}, True),
        ({"LC_ALL": "", "LC_CTYPE": "C", "LANG": "C.UTF-8"}, False),
        ({"LC_ALL": "xx_YY.UTF-8"}, True),
        ({"LC_ALL": "xx_YY.utf8"}, True),
        ({"LC_ALL": "xx_YY.ISO-8859-1"}, False),
    ],
)
def test_boxes_are_ascii_outside_utf8(gather, environment, boxes):
    """A locale that is not installed here says its encoding by its name."""
    answer = gather("explain", "--data", "9x2x2", "[1, 7, 5, 3, 2]", "--on-bad", "clamp", env=environment)
    assert answer.code == 0 and ("┌".encode() in answer.out) == boxes
    if not boxes:
        assert answer.out.isascii()
        assert answer.out == gather("explain", "--data", "9x2x2", "[1, 7, 5, 3, 2]", "--on-bad", "clamp", "--ascii").out


def test_no_binary_data_to_a_terminal(gather, table):
    """As zstd -c and gzip -c: -f writes it all the same."""
    for words in (("take", table, "[0]", "-o", "-"), ("take", table, "[0]", "-o", "-", "--dry-run")):
        code, _, shown = on_terminal(gather, *words)
        assert code == 2 and b"NUMPY" not in shown and b"terminal" in shown and b"-f" in shown, shown
    code, _, shown = on_terminal(gather, "take", table, "[0]", "-o", "-", "-f")
    assert code == 0 and b"NUMPY" in shown
    assert gather("take", table, "[0]", "-o", "-").out.startswith(b"\x93NUMPY")
    assert b"<svg" in on_terminal(gather, "explain", "--data", "3x2", "[0]", "-o", "-")[2]
