# SPDX-License-Identifier: MIT
"""The execution provider: which file a table is, who shares it, what is read of it, and what sessions, threads and processes do to it."""

import gc
import json
import os

import numpy as np
import provider_models as models
import pytest
from provider_sessions import ROWS, folder, in_child, onnxruntime, opened, provider, ways  # noqa: F401
from support.skip import skip_test



def test_size_decides(provider, folder):
    model = folder / "model.onnx"
    assert ways(provider, opened(provider, model, table="auto")) == ["plain"]  # 5 MB are less than the default
    assert provider.report(opened(provider, model, table="auto"))["nodes"][0]["why"] == "smaller than table_min"
    assert ways(provider, opened(provider, model, table="auto", table_min="5MB")) == ["table"]
    assert ways(provider, opened(provider, model, table="auto", table_min="5120001")) == ["plain"]
    assert ways(provider, opened(provider, model, table="never")) == ["plain"]


def test_take_tables_leaves_other_nodes(provider, folder):
    session = opened(provider, folder / "model.onnx", take="tables", table="auto")
    assert provider.report(session)["nodes"] == []
    assert session.run(None, {"ids": np.array([2])})[0][0, 0] == 2 * 128
    assert ways(provider, opened(provider, folder / "model.onnx", take="tables")) == ["table"]


def test_model_from_bytes(provider, folder):
    settings = onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
    session = opened(provider, (folder / "model.onnx").read_bytes(), settings)
    assert ways(provider, session) == ["table"]
    assert session.run(None, {"ids": np.array([-1])})[0].tobytes() == models.rows(ROWS, 128)[-1:].tobytes()


def test_replaced_initializer(provider, folder):
    """The application gives the table itself: its rows count, not those of the file."""
    other = np.full((ROWS, 128), 5, np.float32)
    value = onnxruntime.OrtValue.ortvalue_from_numpy(other)
    settings = onnxruntime.SessionOptions()
    settings.add_external_initializers(["table"], [value])
    session = opened(provider, folder / "model.onnx", settings)
    assert session.run(None, {"ids": np.array([8])})[0].tolist() == other[8:9].tolist()
    assert ways(provider, session) == ["plain"]


@pytest.mark.parametrize("how", ["add_external_initializers", "add_initializer"])
def test_initializer_replaced_by_another_file(provider, folder, how):
    """The same, and the application's table is mapped from a file, too: of the same size, with other rows."""
    models.write_table(folder, models.rows(ROWS, 128) + 1, name="other.data")
    other = np.memmap(folder / "other.data", np.float32, "r", shape=(ROWS, 128))
    value = onnxruntime.OrtValue.ortvalue_from_numpy(other)
    settings = onnxruntime.SessionOptions()
    if how == "add_initializer":
        settings.add_initializer("table", value)
    else:
        settings.add_external_initializers(["table"], [value])
    session = opened(provider, folder / "model.onnx", settings)
    assert session.run(None, {"ids": np.array([8])})[0].tolist() == other[8:9].tolist()
    assert ways(provider, session) == ["plain"]


def test_moved_files(provider, folder):
    session = opened(provider, folder / "model.onnx")
    (folder / "away").mkdir()
    (folder / "model.onnx").rename(folder / "away" / "model.onnx")
    (folder / "table.data").rename(folder / "away" / "table.data")
    assert session.run(None, {"ids": np.array([6])})[0][0, 0] == 6 * 128
    assert ways(provider, opened(provider, folder / "away" / "model.onnx")) == ["table"]


def test_links(provider, folder):
    """Model hubs store files behind links."""
    (folder / "blobs").mkdir()
    (folder / "table.data").rename(folder / "blobs" / "0123")
    (folder / "table.data").symlink_to("blobs/0123")
    try:
        session = opened(provider, folder / "model.onnx")
    except Exception as error:
        assert "link" in str(error) or "outside" in str(error)  # this version of the host refuses it
        return
    assert ways(provider, session) == ["table"]
    assert session.run(None, {"ids": np.array([6])})[0][0, 0] == 6 * 128


def test_sessions_share_a_table(provider, folder):
    sessions = [opened(provider, folder / "model.onnx") for _ in range(3)]
    other = opened(provider, folder / "model.onnx", depth=7)
    for session in sessions:
        session.run(None, {"ids": np.arange(10)})
    assert [provider.report(session)["tables"][0]["rows"] for session in sessions] == [30, 30, 30]
    assert provider.report(other)["tables"][0]["rows"] == 0
    for i in (1, 0, 1):  # in no order
        del sessions[i % len(sessions)]
        gc.collect()
        for session in sessions:
            assert session.run(None, {"ids": np.array([1])})[0][0, 0] == 128
    del session, other
    gc.collect()
    assert provider.statistics() == {"sessions": [], "tables": []}
    held = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{fd}")}
    assert str(folder / "table.data") not in held


def test_optimised_model_is_saved(provider, folder):
    settings = onnxruntime.SessionOptions()
    settings.optimized_model_filepath = str(folder / "optimised.onnx")
    opened(provider, folder / "model.onnx", settings)
    session = opened(provider, folder / "optimised.onnx")
    assert session.run(None, {"ids": np.array([4])})[0][0, 0] == 4 * 128


def test_small_memory_lowers_the_default(provider, folder):
    """The default of table_min is at most an eighth of the memory of the process's control group."""
    found = in_child("limited", folder)
    if found is None:
        skip_test("cgroup", "no memory cgroup can be made here")
    assert found == ["plain", "table"]


def test_report_file(provider, folder, capfd):
    path = folder / "report.jsonl"
    for runs in (1, 2):
        session = opened(provider, folder / "model.onnx", report_file=path, verbose=True, label='a "b"')
        for _ in range(runs):
            session.run(None, {"ids": np.arange(10)})
        del session
        gc.collect()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["nodes"][0]["runs"] for line in lines] == [1, 2]
    assert [line["tables"][0]["rows"] for line in lines] == [10, 20] and lines[0]["label"] == 'a "b"'
    said = capfd.readouterr().err
    assert "1 nodes taken over, run 2 times" in said and f"table 'table' ({folder}/table.data at byte 0)" in said


def test_cold_rows_read_little(folder):
    table = models.rows(40000, 128)
    models.write_table(folder, table)
    (folder / "model.onnx").write_bytes(models.table_model(table))
    (folder / "table.data").write_bytes(table.tobytes())
    found = in_child("cold", folder)
    assert found["equal"] and found["table"]["rows_read"] > 0
    if found["read"] == 0:
        skip_test("disk", "the files of this system are in memory")
    assert found["read"] <= 16 * found["useful"], found
    assert found["table"]["memory_peak"] <= 64 << 20


def test_truncated_file_is_an_error(folder):
    found = in_child("truncated", folder)
    assert "lookup" in found["error"] and "row 5000" in found["error"], found


def test_truncated_small_files_are_errors(folder):
    """Where no table reads, the node reads the host's mapping: of both doors, of every operator."""
    found = in_child("truncated_small", folder)
    assert len(found) >= 18
    for name, said in found.items():
        assert len(said) == 1, (name, said)
        assert "lookup" in said[0] and "table.data" in said[0] and "truncated" in said[0] and "at byte" in said[0], (name, said)


def whole_table(folder):
    (folder / "table.data").write_bytes(models.rows(ROWS, 128).tobytes())


def test_register_and_unregister_many_times(folder):
    assert in_child("again_and_again", folder) == {"outputs": 1, "threads": True, "handles": True}


def test_eight_threads_on_one_session(folder):
    whole_table(folder)
    assert in_child("threads", folder) == {"wrong": [], "errors": 32, "exact": 32, "runs": 320}


def test_many_sessions_at_once(folder):
    whole_table(folder)
    assert in_child("crowded", folder) == {"wrong": [], "left": []}


def test_fork(folder):
    whole_table(folder)
    assert in_child("forked", folder) == {"child": 0, "parent": True}
