# SPDX-License-Identifier: MIT
"""The execution provider: rows of tables in external data, which the table engine reads, also of GatherBlockQuantized; which file a table is, who
shares it, what is read of it, and what sessions, threads and processes do to it."""

import gc
import json
import os

import numpy as np
from onnx import helper, TensorProto
import provider_models as models
from provider_sessions import ROWS, folder, in_child, onnxruntime, opened, provider, ways  # noqa: F401
from provider_sessions import onnxruntime, opened, provider, ways  # noqa: F401
from provider_sessions import ROWS, folder, onnxruntime, opened, provider, ways  # noqa: F401
import pytest
from support.skip import skip_test

RANDOM = np.random.default_rng(17)

IDS = {
    "random": RANDOM.integers(0, ROWS, 700),
    "sorted": np.sort(RANDOM.integers(0, ROWS, 700)),
    "equal": np.full(300, 4711),
    "negative": RANDOM.integers(-ROWS, 0, (3, 50)),
    "one": np.array([ROWS - 1]),
    "scalar": np.array(77),
    "none": np.zeros((0, 3), np.int64),
}


@pytest.mark.parametrize("engine", ["auto", "mmap", "pread", "uring"])
@pytest.mark.parametrize("name", IDS)
def test_rows(provider, folder, engine, name):
    session = opened(provider, folder / "model.onnx", engine=engine)
    got = session.run(None, {"ids": IDS[name]})[0]
    wanted = models.rows(ROWS, 128)[IDS[name]]
    assert got.shape == wanted.shape and got.tobytes() == wanted.tobytes()
    report = provider.report(session)
    assert [node["way"] for node in report["nodes"]] == ["table"]
    assert report["tables"][0]["rows"] == IDS[name].size and report["tables"][0]["bytes_useful"] == wanted.nbytes
    assert report["model"] == str(folder / "model.onnx")


@pytest.mark.parametrize("offset", [0, 4096, 4096 + 64, 65536 * 3])
@pytest.mark.parametrize("name", ["int8", "float16", "int64"])
def test_offsets_and_types(provider, tmp_path, offset, name):
    table = RANDOM.integers(-128, 127, (5000, 33)).astype(name)
    models.write_table(tmp_path, table, offset)
    (tmp_path / "model.onnx").write_bytes(models.table_model(table, offset))
    session = opened(provider, tmp_path / "model.onnx")
    assert ways(provider, session) == ["table"]
    ids = RANDOM.integers(-5000, 5000, (4, 25))
    assert session.run(None, {"ids": ids})[0].tobytes() == table[ids].tobytes()
    found = provider.report(session)["tables"][0]
    assert (found["file"], found["offset"], found["table_rows"]) == (str(tmp_path / "table.data"), offset, 5000)


def test_out_of_range_names_the_node_and_the_place(provider, folder):
    session = opened(provider, folder / "model.onnx")
    with pytest.raises(Exception, match=rf"lookup.*indices\[1, 0\] = {ROWS} is outside \[-{ROWS}, {ROWS - 1}\].*2 of 4 indices") as caught:
        session.run(None, {"ids": np.array([[0, 1], [ROWS, -ROWS - 1]])})
    assert type(caught.value).__name__ == "InvalidArgument"
    assert session.run(None, {"ids": np.array([3])})[0][0, 0] == 3 * 128


def test_tuples(provider, tmp_path):
    table = models.rows(2000, 60).reshape(2000, 5, 12)
    models.write_table(tmp_path, table)
    nodes = [helper.make_node("GatherND", ["table", "ids"], ["y"], name="tuples")]
    (tmp_path / "model.onnx").write_bytes(models.table_model(table, nodes=nodes))
    session = opened(provider, tmp_path / "model.onnx")
    assert ways(provider, session) == ["table"]
    ids = np.stack([RANDOM.integers(-2000, 2000, 300), RANDOM.integers(-5, 5, 300)], axis=-1)
    assert session.run(None, {"ids": ids})[0].tobytes() == table[ids[:, 0], ids[:, 1]].tobytes()
    with pytest.raises(Exception, match=r"indices\[0, 1\] = 5, component 1 of tuple \[0\], is outside \[-5, 4\]"):
        session.run(None, {"ids": np.array([[0, 5]])})


@pytest.mark.parametrize("node", [("Gather", {"axis": 1}), ("GatherElements", {}), ("GatherND", {"batch_dims": 1})])
def test_what_tables_do_not_serve_runs_plainly(provider, tmp_path, node):
    table = models.rows(400, 64)
    models.write_table(tmp_path, table)
    operator, attributes = node
    nodes = [helper.make_node(operator, ["table", "ids"], ["y"], name="n", **attributes)]
    (tmp_path / "model.onnx").write_bytes(models.table_model(table, nodes=nodes))
    session = opened(provider, tmp_path / "model.onnx")
    ids = RANDOM.integers(0, 64, (400, 1))
    wanted = onnxruntime.InferenceSession(str(tmp_path / "model.onnx")).run(None, {"ids": ids})[0]
    assert session.run(None, {"ids": ids})[0].tobytes() == wanted.tobytes()
    found = provider.report(session)["nodes"][0]
    assert (found["way"], found["runs"]) == ("plain", 1) and "axis 0" in found["why"]


def test_two_nodes_share_a_table(provider, tmp_path):
    table = models.rows(3000, 16)
    models.write_table(tmp_path, table)
    nodes = [helper.make_node("Gather", ["table", "ids"], [out], name=f"to_{out}") for out in ("y", "z")]
    nodes[1].attribute.append(helper.make_attribute("axis", -2))
    (tmp_path / "model.onnx").write_bytes(models.table_model(table, nodes=nodes, outputs=("y", "z")))
    session = opened(provider, tmp_path / "model.onnx")
    for got in session.run(None, {"ids": np.array([5, 2999])}):
        assert got.tobytes() == table[[5, 2999]].tobytes()
    report = provider.report(session)
    assert [node["way"] for node in report["nodes"]] == ["table", "table"] and len(report["tables"]) == 1
    assert report["tables"][0]["rows"] == 4


def test_two_tables_in_a_file(provider, tmp_path):
    """Of one type and shape: only their offsets tell them apart."""
    both = models.rows(6000, 16)
    (tmp_path / "table.data").write_bytes(both.tobytes())
    nodes = [helper.make_node("Gather", [name, "ids"], [f"of_{name}"], name=name) for name in ("low", "high")]
    tables = [models.external("low", both[:3000], "table.data", 0), models.external("high", both[3000:], "table.data", 3000 * 64)]
    outputs = dict.fromkeys(("of_low", "of_high"), TensorProto.FLOAT)
    (tmp_path / "model.onnx").write_bytes(models.model_of(nodes, {"ids": TensorProto.INT64}, outputs, tables).SerializeToString())
    session = opened(provider, tmp_path / "model.onnx")
    low, high = session.run(None, {"ids": np.array([7, -3])})
    assert low.tobytes() == both[[7, 2997]].tobytes() and high.tobytes() == both[[3007, 5997]].tobytes()
    assert sorted(table["offset"] for table in provider.report(session)["tables"]) == [0, 3000 * 64]


def test_table_in_a_branch(provider, tmp_path):
    """The table is an initializer of the outer graph, the Gather is in a branch of an If. Before 1.29 the host does not tell a kernel
    there that its data is constant."""
    table = models.rows(2000, 32)
    models.write_table(tmp_path, table)
    gathers = {out: helper.make_node("Gather", ["table", ids], [out], name=f"in_{out}") for out, ids in (("a", "ids"), ("b", "others"))}
    branches = [helper.make_graph([node], out, [], models.declared({out: TensorProto.FLOAT})) for out, node in gathers.items()]
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])]
    inputs = {"ids": TensorProto.INT64, "others": TensorProto.INT64, "c": (TensorProto.BOOL, [])}
    model = models.model_of(nodes, inputs, {"y": TensorProto.FLOAT}, [models.external("table", table, "table.data", 0)])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    session = opened(provider, tmp_path / "model.onnx")
    for condition, row in ((True, 5), (False, 1999)):
        feeds = {"c": np.array(condition), "ids": np.array([5]), "others": np.array([1999])}
        assert session.run(None, feeds)[0].tobytes() == table[row : row + 1].tobytes()
    version = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    assert ways(provider, session) == (["table"] * 2 if version >= (1, 29) else ["plain"] * 2)


def test_rows_longer_than_the_memory_limit(provider, tmp_path):
    table = models.rows(4, 1 << 19)
    models.write_table(tmp_path, table)
    (tmp_path / "model.onnx").write_bytes(models.table_model(table))
    session = opened(provider, tmp_path / "model.onnx", memory="1MiB")
    assert session.run(None, {"ids": np.array([3, 1])})[0].tobytes() == table[[3, 1]].tobytes()


# ---- files, sessions, processes


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


# ---- quantised: codes, scales and zero points are in external data


def quantised(folder, kind, rank=2, zero_points=True, **attributes):
    """A model of one GatherBlockQuantized, whose codes, scales and zero points are in one file; and the same without external data."""
    values = (3000, 64) if rank == 2 else (3000, 5, 64)
    codes = RANDOM.integers(0, 256, int(np.prod(values)) // 2, dtype=np.uint8)
    scales = RANDOM.random((*values[:-1], values[-1] // 16), np.float32)
    points = RANDOM.integers(0, 256, scales.size // 2, dtype=np.uint8)
    stored = (*values[:-1], values[-1] // 2) if kind == TensorProto.UINT8 else values
    stored_points = (*scales.shape[:-1], scales.shape[-1] // 2) if kind == TensorProto.UINT8 else scales.shape
    parts = [("codes", kind, stored, codes), ("scales", TensorProto.FLOAT, scales.shape, scales), ("points", kind, stored_points, points)]
    parts, offset, outside, inside = parts[: 3 if zero_points else 2], 0, [], []
    with (folder / "table.data").open("wb") as file:
        for name, type_, shape, array in parts:
            tensor = TensorProto(name=name, data_type=type_, dims=shape, data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "table.data"), ("offset", str(offset)), ("length", str(array.nbytes))):
                tensor.external_data.add(key=key, value=value)
            outside.append(tensor)
            inside.append(helper.make_tensor(name, type_, shape, array.tobytes(), raw=True))
            offset += file.write(array.tobytes())
    attributes = {"block_size": 16, "quantize_axis": len(values) - 1, "bits": 4} | attributes
    names = ["codes", "ids", *(part[0] for part in parts[1:])]
    node = helper.make_node("GatherBlockQuantized", names, ["y"], name="q", domain="com.microsoft", **attributes)
    ids, y = {"ids": TensorProto.INT64}, {"y": TensorProto.FLOAT}
    made = [models.model_of([node], ids, y, tensors, 21, True).SerializeToString() for tensors in (outside, inside)]
    (folder / "model.onnx").write_bytes(made[0])
    return made[1]


@pytest.mark.parametrize("zero_points", [True, False])
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("kind", [TensorProto.UINT4, TensorProto.INT4, TensorProto.UINT8])
def test_quantised_rows(provider, tmp_path, kind, rank, zero_points):
    inside = quantised(tmp_path, kind, rank, zero_points)
    session = opened(provider, tmp_path / "model.onnx")
    assert ways(provider, session) == ["table"]
    plain = onnxruntime.InferenceSession(inside, providers=["CPUExecutionProvider"])
    for ids in (RANDOM.integers(-3000, 3000, (4, 50)), np.array(2999), np.zeros((0,), np.int64), RANDOM.integers(0, 3000, 20000)):
        got, wanted = session.run(None, {"ids": ids})[0], plain.run(None, {"ids": ids})[0]
        assert got.shape == wanted.shape and got.tobytes() == wanted.tobytes()
    tables = provider.report(session)["tables"]
    assert [table["data"] for table in tables] == ["codes", "scales", "points"][: 3 if zero_points else 2]
    assert {table["rows"] for table in tables} == {200 + 1 + 20000}


def test_quantised_rows_out_of_range(provider, tmp_path):
    """Zeros, or an error before ONNX Runtime 1.31: as the host has it."""
    inside = quantised(tmp_path, TensorProto.UINT8)
    session, plain = opened(provider, tmp_path / "model.onnx"), onnxruntime.InferenceSession(inside)
    for ids in ([5, 3000, 6, -3001], [3000]):
        try:
            wanted = plain.run(None, {"ids": np.array(ids)})[0]
        except Exception:
            with pytest.raises(Exception, match=r"= 3000 is outside \[-3000, 2999\]"):
                session.run(None, {"ids": np.array(ids)})
            continue
        assert session.run(None, {"ids": np.array(ids)})[0].tobytes() == wanted.tobytes()
        assert ways(provider, session) == ["table"]


def test_quantised_along_another_axis_runs_plainly(provider, tmp_path):
    inside = quantised(tmp_path, TensorProto.UINT4, gather_axis=1, quantize_axis=0)
    with pytest.raises(Exception, match="scales"):  # the model is wrong for these axes, and both say so
        onnxruntime.InferenceSession(inside).run(None, {"ids": np.array([1])})
    inside = quantised(tmp_path, TensorProto.UINT4, gather_axis=1)
    session = opened(provider, tmp_path / "model.onnx")
    assert ways(provider, session) == ["plain"]
    wanted = onnxruntime.InferenceSession(inside).run(None, {"ids": np.array([1, 63])})[0]
    assert session.run(None, {"ids": np.array([1, 63])})[0].tobytes() == wanted.tobytes()
