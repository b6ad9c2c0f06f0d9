# SPDX-License-Identifier: MIT
"""URLs in the Python package: a table, ids, a model."""
import io
import os

import numpy as np
import pytest
from support.http_server import HttpServer
from support.numpy_files import npy
from support.refusal import refuses

DATA = np.arange(400_000 * 4, dtype=np.float32).reshape(400_000, 4)


@pytest.fixture
def server(remote_build):
    out = io.BytesIO()
    np.savez(out, emb=DATA, other=np.arange(3))
    files = {"/a.npy": npy(DATA), "/m.npz": out.getvalue(), "/ids.npy": npy(np.array([[3, 1]], np.int32)),
             "/ids.txt": b"3\n4\n", "/ids.csv": b"a,b\n1,2\n3,4\n"}  # fmt: skip
    with HttpServer(files) as server:
        yield server


def test_the_cache_of_python(server, tmp_path) -> None:
    """With a name that is no UTF-8; the second table finds its blocks there."""
    import libgather
    cache = os.fsencode(tmp_path) + b"/c\xff"
    for hits in (False, True):
        with libgather.open(server.url("/a.npy"), remote={"cache": cache, "cache_bytes": "8MiB"}) as table:
            assert np.array_equal(table[[7, 300_000]], DATA[[7, 300_000]])
            network = table.stats().remote
            assert (network.requests == 1, network.cache_why) == (hits, "")
    assert os.listdir(cache) == [b"gather-blocks"]


def test_nothing_shows_a_query(server) -> None:
    """Nor a user: in what is printed of a table and of a model, and in errors."""
    import libgather
    url = server.url("/a.npy").replace("//", "//user:secret1@") + "?X-Amz-Signature=secret2"
    with libgather.open(url) as table:
        assert table.path == url and "secret" not in repr(table) and server.url("/a.npy") in repr(table)
        with pytest.raises(IndexError) as caught:
            table[[400_000]]
        assert "secret" not in str(caught.value)
    assert "secret" not in repr(table)
    for call in (libgather.open, libgather.Model, libgather.read_ids):
        with pytest.raises(libgather.GatherError) as caught:
            call(url.replace("a.npy", "none.npy"))
        assert "secret" not in repr(caught.value) and "404" in str(caught.value)


def test_shuffle_reads_local_files(server, tmp_path) -> None:
    import libgather
    np.save(tmp_path / "t.npy", DATA[:3])
    url, local, output = server.url("/a.npy"), tmp_path / "t.npy", tmp_path / "s.npy"
    for source, to in ((url, output), ([local, url], output), (local, "s3://bucket/s.npy")):
        refuses(libgather.GatherNotSupportedError, libgather.shuffle, source, to, says="local files")
    assert server.requests == 0 and not output.exists()


def test_ids(server) -> None:
    import libgather
    base = server.url("/")[:-1]
    ids = libgather.read_ids(f"{base}/ids.npy")
    assert ids.dtype == np.int32 and ids.tolist() == [[3, 1]]
    assert libgather.read_ids(f"{base}/ids.txt").tolist() == [3, 4]
    assert libgather.read_ids(f"{base}/ids.csv:b").tolist() == [2, 4]
    assert libgather.read_ids(f"{base}/m.npz:other").tolist() == [0, 1, 2]
    assert server.requests == 5  # the directory of the .npz is at its end
    refuses(libgather.GatherNameError, libgather.read_ids, f"{base}/ids.csv:c", says="no such column 'c'")
    refuses(libgather.GatherFileError, libgather.read_ids, f"{base}/gone.npy?secret=1", says="404")


def test_tables(server) -> None:
    import libgather
    base = server.url("/")[:-1]
    for name in (f"{base}/a.npy", f"{base}/m.npz:emb"):
        with libgather.open(name) as table:
            assert np.array_equal(table.take([5, 7, 399_999]), DATA[[5, 7, 399_999]])
    assert server.body_bytes < DATA.nbytes


def test_models(server) -> None:
    onnx = pytest.importorskip("onnx")
    import libgather
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    table = numpy_helper.from_array(DATA, "emb")
    ids = numpy_helper.from_array(np.array([0, 2], np.int64), "ids")
    graph = helper.make_graph([helper.make_node("Gather", ["emb", "ids"], ["y"], "g")], "m", [],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 4])], [table, ids])  # fmt: skip
    server.put("/m.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString())
    server.reset_counts()
    model = libgather.Model(server.url("/m.onnx"))
    assert model.source == server.url("/m.onnx") and server.body_bytes < DATA.nbytes
    assert [node.verdict for node in model.check()] == ["ok"]
    refuses(libgather.GatherNotSupportedError, model.run, {}, says="are remote and were not downloaded")
