# SPDX-License-Identifier: MIT
"""The command on Windows, run by Wine: what a new user does first, and what only the whole program shows: arguments, standard streams,
exit codes. script/test-windows runs it."""

import json
import os
import subprocess

import numpy as np
import pytest
from support.skip import skip_test

EXE = os.environ.get("GATHER_EXE", "")
WINE = os.environ.get("GATHER_WINE", "")


@pytest.fixture(autouse=True)
def windows():
    if not EXE.endswith(".exe") or not WINE:
        skip_test("windows", "GATHER_EXE is no program for Windows, or GATHER_WINE is not set")


@pytest.fixture
def gather(tmp_path):
    def run(*arguments, code=0, given=b""):
        done = subprocess.run([WINE, EXE, *arguments], cwd=tmp_path, input=given, capture_output=True, timeout=120)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done

    return run


@pytest.fixture
def table(tmp_path):
    rows = np.arange(1000 * 8, dtype=np.float32).reshape(1000, 8)
    np.save(tmp_path / "table.npy", rows)
    return rows


def test_two_commands_and_rows(gather, table, tmp_path):
    info = json.loads(gather("info", "table.npy", "--json").stdout)
    assert "float32" in json.dumps(info) and "1000" in json.dumps(info)
    answer = json.loads(gather("take", "table.npy", "[3, -1, 5]", "-o", "rows.npy", "--json").stdout)
    assert answer["shape"] == [3, 8] and answer["indices"]["count"] == 3
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), table[[3, -1, 5]])


def test_every_engine(gather, table, tmp_path):
    ids = np.random.default_rng(1).integers(-1000, 1000, 300)
    np.save(tmp_path / "ids.npy", ids)
    for engine in ("auto", "overlapped", "pread", "mmap"):
        answer = json.loads(gather("take", "table.npy", "ids.npy", "-o", f"{engine}.npy", "--engine", engine, "--json").stdout)
        if engine != "auto":
            assert answer["table"]["engine"] == engine
        np.testing.assert_array_equal(np.load(tmp_path / f"{engine}.npy"), table[ids])
    refused = gather("take", "table.npy", "ids.npy", "-o", "x.npy", "--engine", "http", code=2)
    assert b"http" in refused.stderr


def test_an_index_out_of_range(gather, table, tmp_path):
    error = json.loads(gather("take", "table.npy", "[0, 1000]", "-o", "x.npy", "--json", code=1).stdout)["error"]
    assert (error["status"], error["value"], error["position"]) == ("index_out_of_range", 1000, [1])
    assert sorted(os.listdir(tmp_path)) == ["table.npy"]


def test_exit_codes(gather, table):
    assert b"gather: error:" in gather("take", "absent.npy", "[0]", "-o", "x.npy", code=3).stderr
    assert b"gather: error:" in gather("take", "table.npy", code=2).stderr
    assert b"gather: error:" in gather("no-such-command", code=2).stderr


def test_names_in_every_script(gather, table, tmp_path):
    name = "größe 日本 😀.npy"
    os.rename(tmp_path / "table.npy", tmp_path / name)
    assert gather("take", name, "[1]", "-o", "naïve.npy").stdout.decode().startswith("naïve.npy: float32 [1, 8]")
    np.testing.assert_array_equal(np.load(tmp_path / "naïve.npy"), table[[1]])
    assert "größe" in gather("info", "größe.npy", code=3).stderr.decode()


def test_folders_by_both_slashes(gather, table, tmp_path):
    (tmp_path / "sub").mkdir()
    gather("take", ".\\table.npy", "[2]", "-o", "sub\\a.npy")
    gather("take", "./table.npy", "[2]", "-o", "sub/b.npy")
    assert sorted(os.listdir(tmp_path / "sub")) == ["a.npy", "b.npy"]


def test_a_file_is_kept_unless_asked(gather, table, tmp_path):
    gather("take", "table.npy", "[1]", "-o", "out.npy")
    assert b"exists already" in gather("take", "table.npy", "[2]", "-o", "out.npy", code=3).stderr
    gather("take", "table.npy", "[2]", "-o", "out.npy", "--force")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), table[[2]])
    assert sorted(os.listdir(tmp_path)) == ["out.npy", "table.npy"]


def test_standard_streams_pass_bytes(gather, tmp_path):
    odd = np.array([[10, 13, 26], [0, 10, 13]], dtype=np.uint8)  # the ends of lines and of text files of Windows
    np.save(tmp_path / "odd.npy", odd)
    piped = gather("take", "-", "[1, 0]", "-o", "-", given=(tmp_path / "odd.npy").read_bytes()).stdout
    (tmp_path / "back.npy").write_bytes(piped)
    np.testing.assert_array_equal(np.load(tmp_path / "back.npy"), odd[[1, 0]])
    assert b"\r" not in gather("--help").stdout


def test_models(gather, tmp_path):
    import onnx
    from onnx import TensorProto, helper

    node = helper.make_node("Gather", ["data", "ids"], ["rows"], name="pick")
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor("data", TensorProto.FLOAT, [3, 2], np.arange(6, dtype=np.float32))],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), tmp_path / "model.onnx")
    checked = json.loads(gather("check", "model.onnx", "--json").stdout)
    assert checked["command"] == "check" and "pick" in json.dumps(checked)
    gather("run", "model.onnx", "--input", "ids=[2, 0]", "--output", "rows=rows.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), [[4, 5], [0, 1]])


def test_shuffle(gather, table, tmp_path):
    gather("shuffle", "table.npy", "-o", "mixed.npy", "--seed", "1")
    mixed = np.load(tmp_path / "mixed.npy")
    assert not np.array_equal(mixed, table)
    np.testing.assert_array_equal(mixed[np.argsort(mixed[:, 0])], table)
    assert sorted(os.listdir(tmp_path)) == ["mixed.npy", "table.npy"] or sorted(os.listdir(tmp_path))[0].endswith(".done")


def test_help_and_info(gather):
    assert json.loads(gather("help", "take", "--json").stdout)["text"].startswith("gather take")
    info = json.loads(gather("info", "--json").stdout)
    engines = {engine["name"]: engine["works"] for engine in info["engines"]}
    assert engines["overlapped"] and engines["pread"] and not engines["uring"] and not engines["http"]
    assert b"URL" in gather("take", "https://host/t.npy", "[0]", "-o", "x.npy", code=4).stderr
