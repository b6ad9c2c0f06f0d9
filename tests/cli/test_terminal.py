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


WRAPPED = [
    ("take", "x.npy", "9", "--dry-run"),
    ("take", "x.npy", "[0, 2]", "-o", "rows.npy", "--plan"),
    ("take", "x.npy", "[0, 9]", "--on-bad", "clamp", "--dry-run"),
    ("take", "x.npy", "[0,", "2]", "-o", "rows.npy"),
    ("take", "x.npy", "[0]", "-o", "no-such-folder/with-a-name-that-is-longer-than-forty-columns/rows.npy"),
    ("take", "no-such-file-with-a-name-that-is-longer-than-forty-columns.npy", "[0]", "-o", "rows.npy"),
    ("take", "x.npy", "[0]", "-o", "rows.npz"),
    ("take", "x.npy", "[0]", "--rules", "onnx-99", "--dry-run"),
    ("take", "表の名前がとても長くて四十桁に収まらないファイル.npy", "[0]", "--dry-run"),
    ("shuffle", "x.npy", "-o", "y.npy", "--seed", "1", "--dry-run"),
    ("info", "x.npy"),
    ("info", "m.onnx"),
    ("info",),
    ("check", "m.onnx"),
    ("check", "m.onnx", "--input", "ids=[1, 9]"),
    ("run", "m.onnx", "--input", "ids=[1]"),
    ("run", "m.onnx"),
]


def save_model(gather) -> None:
    """A model with one node, whose indices are an input."""
    graph = helper.make_graph(
        [helper.make_node("Gather", ["embeddings", "ids"], ["rows"], name="transformer/embeddings/lookup")], "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["N"])],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, None)],
        [helper.make_tensor("embeddings", TensorProto.FLOAT, [3, 4], range(12))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), gather.folder / "m.onnx")


def lines_of(shown: bytes) -> list[str]:
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    return text.replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("words", WRAPPED, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 40])
def test_lines_fit_the_terminal(gather, table, words, columns):
    """Broken only between words. Too long are single words, and what a user may copy: quoted text, an option and its value."""
    save_model(gather)
    code, _, shown = on_terminal(gather, *words, columns=columns)
    (gather.folder / "rows.npy").unlink(missing_ok=True)
    plain = gather(*words)
    assert code == plain.code
    lines = lines_of(shown)
    for line in lines:
        assert columns_of(line) <= columns or len(line.split()) == 1 or re.fullmatch(r"\s*([`'].*[`'][,;.]?|--\S+ \S+)", line), line
    wide = [columns_of(line) for line in lines_of(plain.out + plain.err)]
    assert (len(lines) > len(wide)) == (max(wide) > columns)
    assert " ".join(lines).split() == (plain.out + plain.err).decode().split()


def test_a_label_has_a_hanging_indent(gather, table):
    lines = lines_of(on_terminal(gather, *BAD, columns=40)[2])
    begins = [line for line in lines if line.startswith("gather: ")]
    assert [line.split(": ")[1] for line in begins] == ["error", "hint"]
    assert all(line.startswith(" " * 8) for line in lines if line not in begins)


def test_what_a_user_copies_is_not_wrapped(gather):
    name = "a_name_of_more_than_forty_columns_that_a_user_would_have_to_type"
    graph = helper.make_graph(
        [helper.make_node("Gather", [name, "ids"], ["rows"], name="lookup")], "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]), helper.make_tensor_value_info("ids", TensorProto.INT64, ["N"])],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), gather.folder / "m.onnx")
    give = [line for line in gather("check", "m.onnx").out.decode().splitlines() if line.split()[:1] == ["give"]]
    assert give and set(give) <= set(lines_of(on_terminal(gather, "check", "m.onnx", columns=40)[2]))


def test_columns_wrap_only_a_terminal(gather, table):
    assert gather(*BAD, env={"COLUMNS": "20"}).err == gather(*BAD).err
    assert len(lines_of(on_terminal(gather, *BAD, columns=20, COLUMNS="10000")[2])) == 2
