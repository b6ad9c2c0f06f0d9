# SPDX-License-Identifier: MIT
"""The command line: where options may stand, and what cannot be understood (exit code 2)."""

import numpy as np
import pytest


def test_options_stand_anywhere(gather, table):
    lines = [
        ["--json", "take", table, "[2]", "-o", "a.npy", "--axis", "1"],
        ["take", "--axis=1", "-o", "b.npy", table, "[2]", "--json"],
        ["take", table, "--axis", "1", "[2]", "--output=c.npy", "--json"],
        ["take", "-od.npy", "--json", "--axis", "1", "--", table, "[2]"],
        ["-qo", "e.npy", "take", table, "--json", "[2]", "--axis", "+1"],
    ]
    for line in lines:
        answer = gather(*line)
        assert answer.code == 0, answer
        assert b'"shape":[3,1]' in answer.out
    for name in "abcde":
        assert np.array_equal(gather.load(f"{name}.npy"), gather.load(table)[:, [2]])


def test_numbers_below_zero_are_values_and_arguments(gather, table):
    assert gather.json("take", table, "-1", "--axis", "-1", "-o", "o.npy")["shape"] == [3]
    assert gather.load("o.npy").tolist() == [3, 7, 11]


def test_two_dashes_end_the_options(gather, table):
    gather.save("-q", np.arange(3))
    (gather.folder / "-q.npy").rename(gather.folder / "-q")
    assert gather("take", "-o", "o.npy", "--", "-q", "1").code == 0
    assert gather.load("o.npy") == 1
    gather.fails("usage", "take", "-o", "p.npy", "--", "-q", "1", "--axis=0")


@pytest.mark.parametrize("text", ["1x", "x", "", " 1", "1 ", "1.0", "0x1", "1e0", "--", "+", "-", "1_0", "٣"])
@pytest.mark.parametrize("option", ["--axis", "--batch-dims", "--threads", "--offset"])
def test_numbers_are_whole_decimal_numbers(gather, table, option, text):
    error = gather.fails("usage", "take", table, "1", "-o", "o.npy", f"{option}={text}", "--rules", "openvino-8")
    assert option in error["message"]


def test_batch_dims_where_the_rules_have_none(gather, table):
    for rules in (op["rules"] for op in gather.json("ops")["ops"] if op["op"] == "Gather" and not op["batch_dims"]):
        for value in ("1", "-1"):
            gather.fails("usage", "take", table, "1", "-o", "o.npy", "--rules", rules, "--batch-dims", value)
        assert gather("take", table, "1", "--dry-run", "--rules", rules, "--batch-dims", "0").code == 0
    for rules in ("onnx-11", "onnx-13", "openvino-6"):
        line = ("elements", table, "[[0,0,0,0]]", "--rules", rules)
        gather.fails("usage", *line, "-o", "o.npy", "--batch-dims", "1")
        if rules != "openvino-6":
            assert gather(*line, "--dry-run", "--batch-dims", "0").code == 0


def test_lists_of_what_is_known(gather, table):
    message = gather.fails("usage", "take", table, "1", "-o", "o.npy", "--rules", "onnx-2")["message"]
    for rules in (op["rules"] for op in gather.json("ops")["ops"] if op["op"] == "Gather"):
        assert rules in message
    message = gather.fails("usage", "elements", table, "1", "-o", "o.npy", "--rules", "openvino-7")["message"]
    for rules in (op["rules"] for op in gather.json("ops")["ops"] if op["op"] == "GatherElements"):
        assert rules in message
    assert "mean" not in gather.fails("usage", "zzzzzzzz")["message"]


def test_quiet_says_nothing(gather, table):
    answer = gather("take", table, "1", "-o", "o.npy", "-q")
    assert (answer.code, answer.out, answer.err) == (0, b"", b"")
    answer = gather("take", table, "9", "-o", "p.npy", "--quiet")
    assert (answer.code, answer.out) == (1, b"") and answer.err
    assert gather("take", table, "1", "--dry-run", "--plan", "-q").out == b""


def test_plan_is_one_line(gather, table):
    without = gather("take", table, "1", "-o", "o.npy").text
    lines = gather("take", table, "1", "-o", "p.npy", "--plan").text.splitlines()
    assert len(without.splitlines()) == 1 and len(lines) == 2
    assert lines[1].startswith("plan: ") and "onnx-13" in lines[1]
    assert gather.json("take", table, "1", "--dry-run")["plan"] == lines[1].removeprefix("plan: ")
