# SPDX-License-Identifier: MIT
"""What programs rely on: the JSON objects, their keys, and exit codes."""

import json

import numpy as np
import pytest
from command import CODE, EXIT, one_object


def test_take(gather, table):
    answer = gather.json("take", table, "[[0, 2]]", "-o", "o.npy", "--axis", "1")
    assert 0 <= answer.pop("seconds") < 60
    assert answer.pop("plan")
    assert answer.pop("dry_run") is False
    assert answer == {
        "command": "take", "rules": "onnx-13", "type": "float32", "shape": [3, 1, 2], "bytes": 24, "output": "o.npy",
        "indices": {"count": 2, "bad": 0},
    }


def test_elements(gather, table):
    answer = gather.json("elements", table, "[[0, 1, 9, -9]]", "-o", "o.npy", "--rules", "onnx-11", "--on-bad", "zero")
    assert (answer["command"], answer["rules"], answer["shape"]) == ("elements", "onnx-11", [1, 4])
    assert answer["indices"] == {"count": 4, "bad": 2}


def test_a_bad_index(gather, table):
    words = ("take", table, "[[0, 1], [7, -1], [-4, 9]]", "-o", "o.npy", "--json")
    answer = gather(*words)
    assert answer.code == 1 and answer.err == b""
    answer = one_object(answer.out)
    error = answer["error"]
    message = error.pop("message")
    assert message and error.pop("hint") and error.pop("input") == "indices"
    assert answer["command"] == "take" and error == {
        "status": "index_out_of_range", "code": 5, "op": "Gather", "rules": "onnx-13", "position": [1, 0], "value": 7, "low": -3,
        "high": 2, "axis": 0, "bad_count": 3,
    }
    for part in ("indices[1, 0]", "7", "[-3, 2]", "axis 0", "onnx-13", "3 of 6"):
        assert part in message
    assert gather.names() == {"x.npy"}


def test_the_valid_range_of_an_empty_axis(gather):
    gather.save("x.npy", np.zeros((0, 2)))
    error = gather.fails("index_out_of_range", "take", "x.npy", "0", "-o", "o.npy")
    assert error["low"] > error["high"] and error["position"] == []


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**53 + 1])
def test_integers_are_exact(gather, table, value):
    gather.save("i.npy", np.array([0, value], np.uint64))
    answer = gather("take", table, "i.npy", "-o", "o.npy", "--json")
    assert f'"value":{value},'.encode() in answer.out
    assert str(value) in gather.fails("index_out_of_range", "take", table, "i.npy", "-o", "o.npy")["message"]


@pytest.mark.parametrize("value", [-(2**63), -(2**53) - 1, 2**63 - 1])
def test_signed_integers_are_exact(gather, table, value):
    error = gather.fails("index_out_of_range", "take", table, f"[{value}]", "-o", "o.npy")
    assert error["value"] == value and isinstance(error["value"], int)


def test_json_wherever_it_stands(gather, table):
    lines = (
        ["--json", "nonsense"],
        ["nonsense", "--json"],
        ["take", "--axis", "--json"],
        ["take", "--wrong", "--json", table],
        ["--wrong", "take", "--json"],
        ["take", table, "-o", "--json"],
        ["take", table, "1", "-o", "x.y", "--json"],
        ["--json", "run"],
        ["run", "--json"],
        ["take", "--json", "--json"],
    )
    for line in lines:
        answer = gather(*line)
        assert answer.code in (2, 4) and answer.err == b"", line
        error = one_object(answer.out)["error"]
        assert EXIT[error["status"]] == answer.code and CODE[error["status"]] == error["code"]
    assert gather("take", table, "--", "--json").out == b""


def test_with_a_result_on_stdout_json_goes_to_stderr(gather, table):
    answer = gather("take", table, "[1]", "-o", "-", "--json")
    assert answer.code == 0
    assert one_object(answer.err)["output"] == "-"
    assert answer.out.startswith(b"\x93NUMPY")
    answer = gather("take", table, "[7]", "-o", "-", "--json")
    assert (answer.code, answer.out) == (1, b"")
    assert one_object(answer.err)["error"]["status"] == "index_out_of_range"
    answer = gather("take", table, "[7]", "--output=-", "--axes", "1", "--json")
    assert (answer.code, answer.out) == (2, b"") and one_object(answer.err)["error"]["status"] == "usage"


def test_errors_of_files_name_them(gather, table):
    error = gather.fails("file_malformed", "take", table, gather.write("i.txt", "1\nx"), "-o", "o.npy")
    assert (error["file"], error["offset"], error["input"]) == ("i.txt", 2, "indices")
    gather.write("there.npy", "")
    error = gather.fails("file_exists", "take", table, "0", "-o", "there.npy")
    assert error["file"] == "there.npy"
    for key in ("position", "value", "low", "high", "axis", "bad_count"):
        assert key not in error


def test_types_without_a_name_stand_as_their_descr(gather):
    fields = [("a", "<i4"), ("b", "S2")]
    for dtype in ("S5", "<U3", ">U3", "<M8[ns]", "V4", fields):
        gather.save("x.npy", np.zeros(2, dtype))
        expected = np.lib.format.dtype_to_descr(np.dtype(dtype))
        answer = gather.json("take", "x.npy", "0", "-o", "o.npy", "-f")
        listed = gather.json("info", "x.npy")["tensors"][0]["type"]
        assert listed == answer["type"] == (str(expected) if isinstance(expected, list) else expected)
    for dtype, name in ((">f4", "float32"), ("?", "bool"), (">c16", "complex128")):
        gather.save("x.npy", np.zeros(2, dtype))
        assert gather.json("take", "x.npy", "0", "-o", "o.npy", "-f")["type"] == name


def test_statuses_and_exit_codes(gather, table, gather_source):
    """The table of the library and the promises of the contract agree."""
    rows = [line for line in (gather_source / "include/gather/status.def").read_text().splitlines() if "(OK" not in line]
    rows = [line.partition("(")[2].split(",") for line in rows if line.startswith("GATHER_STATUS(")]
    assert {row[2].strip(' "'): int(row[3]) for row in rows} == EXIT
    assert {row[2].strip(' "'): int(row[1]) for row in rows} == CODE


def test_answers_are_plain_json(gather, table):
    def refuse(name):
        raise AssertionError(name)

    for line in (
        ["ops"],
        ["info"],
        ["info", table],
        ["info", "--formats"],
        ["--version"],
        ["--help"],
        ["help", "take"],
    ):
        answer = gather(*line, "--json")
        assert answer.code == 0 and answer.err == b""
        assert json.loads(one_object(answer.out) and answer.out, parse_constant=refuse)
