# SPDX-License-Identifier: MIT
"""The execution provider: rows of tables in external data, which the table engine reads."""

import numpy as np
import provider_models as models
import pytest
from onnx import TensorProto, helper
from provider_sessions import ROWS, folder, onnxruntime, opened, provider, ways  # noqa: F401

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
    outputs = [helper.make_tensor_value_info(f"of_{name}", TensorProto.FLOAT, None) for name in ("low", "high")]
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, None)]
    (tmp_path / "model.onnx").write_bytes(models.model_of(nodes, inputs, outputs, tables).SerializeToString())
    session = opened(provider, tmp_path / "model.onnx")
    low, high = session.run(None, {"ids": np.array([7, -3])})
    assert low.tobytes() == both[[7, 2997]].tobytes() and high.tobytes() == both[[3007, 5997]].tobytes()
    assert sorted(table["offset"] for table in provider.report(session)["tables"]) == [0, 3000 * 64]


def test_table_in_a_branch(provider, tmp_path):
    """The table is an initializer of the outer graph, the Gather is in a branch of an If. Before 1.29 the host does not tell a kernel
    there that its data is constant."""
    table = models.rows(2000, 32)
    models.write_table(tmp_path, table)
    branches = [
        helper.make_graph(
            [helper.make_node("Gather", ["table", ids], [out], name=f"in_{out}")],
            out,
            [],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)],
        )
        for out, ids in (("a", "ids"), ("b", "others"))
    ]
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, None) for name in ("ids", "others")]
    inputs.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    model = models.model_of(nodes, inputs, outputs, [models.external("table", table, "table.data", 0)])
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
