# SPDX-License-Identifier: MIT
"""Tables by URL in every format, row by row equal to the same file opened locally: every type of row, parts, tuples, decoded rows."""

import struct
import subprocess
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.http_server import HttpServer
from support.quantised_files import MAKERS, part, safetensors
from support.refusal import refuses
from support.skip import skip_test

try:
    import libgather
except ImportError:
    libgather = None

ROWS = 301
pytestmark = pytest.mark.usefixtures("remote_build")


@pytest.fixture(autouse=True)
def _package():
    if libgather is None:
        skip_test("libgather", "the Python package is not built")


@pytest.fixture
def server(tmp_path):
    with HttpServer(folder=tmp_path) as one:
        yield one


def some(shape, dtype="<f4", seed=1) -> np.ndarray:
    bits = np.random.default_rng(seed).integers(0, 256, (int(np.prod(shape)) * np.dtype(dtype).itemsize,), np.uint8)
    return bits.view(dtype).reshape(shape)


def bits(array) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.view(np.uint8) if array.dtype.itemsize else array


def compare(server: HttpServer, folder: Path, name: str, tensor: str = "", **options) -> None:
    """Both tables: properties, and rows by every way to take them."""
    suffix = f":{tensor}" if tensor else ""
    server.reset_counts()
    remote = {"connections": 8, "timeout": 30}
    with (libgather.open(f"{folder / name}{suffix}", **options) as here,
          libgather.open(f"{server.url('/' + name)}{suffix}", remote=remote, **options) as there):  # fmt: skip
        assert (there.shape, there.dtype, there.type, there.format, there.codec) == (
            here.shape, here.dtype, here.type, here.format, here.codec)  # fmt: skip
        assert there.stats().engine == "http" and here.stats().remote is None
        ids = np.random.default_rng(3).integers(-here.rows, here.rows, 200)
        ids[:4] = 0, here.rows - 1, -1, 0
        for wanted in (ids, ids[:1], ids[:0], ids.reshape(10, 20).astype(np.int32), np.arange(here.rows), np.arange(here.rows)[::-1]):
            ours, theirs = np.asarray(here.take(wanted)), np.asarray(there.take(wanted))
            assert ours.shape == theirs.shape and (bits(ours) == bits(theirs)).all()
        out = np.empty_like(np.asarray(here.take(ids)))
        there.submit(ids, out=out).wait()
        assert (bits(out) == bits(np.asarray(here.take(ids)))).all()
        error = refuses(libgather.GatherIndexError, there.take, [0, here.rows])
        assert error.status == "index_out_of_range"
        stats = there.stats()
        assert stats.rows_resident == 0 and stats.rows == stats.rows_cached + stats.rows_read
        assert stats.remote.requests == server.requests and stats.remote.bytes_useful == stats.bytes_useful


@pytest.mark.parametrize("dtype", ["u1", "<f2", ">f4", "<f8", "<c16", "S5", "V7", "?", "<M8[s]"])
def test_npy(server, tmp_path, dtype):
    np.save(tmp_path / "x.npy", some((ROWS, 3, 2), dtype) if dtype != "?" else some((ROWS, 3, 2), "u1") > 99)
    compare(server, tmp_path, "x.npy")


def test_npy_of_rank_one_and_without_rows(server, tmp_path):
    np.save(tmp_path / "x.npy", some((ROWS,), "<i8"))
    compare(server, tmp_path, "x.npy")
    np.save(tmp_path / "none.npy", some((0, 4)))
    with libgather.open(server.url("/none.npy")) as table:
        assert table.shape == (0, 4) and table[[]].shape == (0, 4)
    np.save(tmp_path / "narrow.npy", some((5, 0)))
    with libgather.open(server.url("/narrow.npy")) as table:
        assert table.shape == (5, 0) and table[[1, 1]].shape == (2, 0)


def test_raw(server, tmp_path):
    (tmp_path / "x.raw").write_bytes(b"header!" + some((ROWS, 9), "<i2").tobytes() + b"rest")
    compare(server, tmp_path, "x.raw", dtype="<i2", shape=(-1, 9), offset=7)
    compare(server, tmp_path, "x.raw", dtype="<i2", shape=(100, 3, 3), offset=7)


def test_safetensors(server, tmp_path):
    tensors = {"a/b:0": part(some((ROWS, 7))), "second": part(some((40, 11), "u1"))}
    (tmp_path / "model.safetensors").write_bytes(safetensors(tensors))
    compare(server, tmp_path, "model.safetensors", "a/b:0")
    compare(server, tmp_path, "model.safetensors", "second")
    refuses(libgather.GatherNameError, libgather.open, server.url("/model.safetensors") + ":third")


def test_sharded_safetensors(server, tmp_path):
    for shard, name in (("one", "a"), ("two", "b")):
        (tmp_path / f"{shard}.safetensors").write_bytes(safetensors({name: part(some((ROWS, 5), seed=ord(name)))}))
    (tmp_path / "model.safetensors.index.json").write_text(
        '{"metadata": {"total_size": 12040}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}')  # fmt: skip
    for name in "ab":
        compare(server, tmp_path, "model.safetensors.index.json", name)


def test_npz(server, tmp_path):
    np.savez(tmp_path / "x.npz", a=some((ROWS, 6)), b=some((20, 3), "<i8"))
    compare(server, tmp_path, "x.npz", "a")
    compare(server, tmp_path, "x.npz", "b")


def test_gguf(server, tmp_path):
    name = b"tok.weight"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, len(name)) + name + struct.pack("<IQQIQ", 2, 8, ROWS, 0, 0)
    (tmp_path / "x.gguf").write_bytes(head + bytes(-len(head) % 32) + some((ROWS, 8)).tobytes())
    compare(server, tmp_path, "x.gguf", "tok.weight")


def test_arrow(server, tmp_path):
    try:
        import pyarrow as pa
    except ImportError:
        skip_test("pyarrow", "the package is not installed")
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(some((count * 4,), "<i4")), 4) for count in (100, 1, 200)]
    batches = [pa.record_batch([column], names=["emb"]) for column in lists]
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file, pa.ipc.new_file(file, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    compare(server, tmp_path, "x.arrow", "emb")


def test_onnx_external_data(server, tmp_path):
    onnx = pytest.importorskip("onnx")
    tensor = onnx.numpy_helper.from_array(some((ROWS, 6)), "table")
    model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [tensor]))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    compare(server, tmp_path, "m.onnx", "table")


def test_parts(server, tmp_path):
    """Several URLs are one table, whose connections are counted together."""
    arrays = [some((count, 5), seed=count) for count in (7, 300, 1)]
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
    with libgather.open([server.url(f"/{i}.npy") for i in range(3)], remote={"connections": 4}) as table:
        ids = np.random.default_rng(1).integers(0, 308, 250)
        assert (bits(table[ids]) == bits(np.concatenate(arrays)[ids])).all()
        assert [part.rows for part in table.parts] == [7, 300, 1] and server.peak <= 4
    refuses(libgather.GatherNotSupportedError, libgather.open, [server.url("/0.npy"), tmp_path / "1.npy"], says="all URLs or all local")


def test_tuples(server, tmp_path):
    array = some((50, 20, 30), "<i4")
    np.save(tmp_path / "x.npy", array)
    with libgather.open(server.url("/x.npy"), remote={"gap": 0}) as table:
        random = np.random.default_rng(2)
        i, j = random.integers(0, 50, 40), random.integers(0, 20, 40)
        table.reset_stats()
        assert (table[i, j] == array[i, j]).all()
        assert table.stats().remote.bytes_read <= 40 * 30 * 4  # only what they select
        assert (table.gather_nd(np.stack([i, j], -1)) == array[i, j]).all()


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_decoded(server, tmp_path, maker):
    """Quantised rows and the scales beside them; constants are downloaded."""
    stored = maker(np.random.default_rng(5))
    (tmp_path / "q.safetensors").write_bytes(safetensors(stored.tensors))
    options = {"decode_as": "float32", "codec": stored.given or None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(server, tmp_path, "q.safetensors", stored.name, **options)
        with libgather.open(f"{server.url('/q.safetensors')}:{stored.name}") as table:
            values = table.dequantize(codec=stored.given or None)
            assert (bits(values.take([1, 0])) == bits(stored.values[[1, 0]].astype(np.float32))).all()


def run(gather: Path, folder: Path, *words) -> np.ndarray:
    subprocess.run([gather, *words, "-f", "-o", folder / "o.npy"], check=True, capture_output=True, timeout=60)
    return np.load(folder / "o.npy")


def test_fortran_order(server, tmp_path, remote_build):
    """Rows are assembled from their elements."""
    array = np.asfortranarray(some((20, 30)))
    np.save(tmp_path / "f.npy", array)
    with libgather.open(server.url("/f.npy")) as table:
        assert (bits(table[[3, 1, 19]]) == bits(array[[3, 1, 19]])).all()
    assert (bits(run(remote_build, tmp_path, "take", server.url("/f.npy"), "[3, 1]")) == bits(array[[3, 1]])).all()


def test_command_by_axis_and_nd(server, tmp_path, remote_build):
    """What is not rows along axis 0 is downloaded; nd reads what the tuples select."""
    array = some((30, 4, 5), "<i4")
    np.save(tmp_path / "x.npy", array)
    take = partial(run, remote_build, tmp_path)
    url = server.url("/x.npy")
    assert (take("take", url, "[2, 0]", "--axis", "1") == array[:, [2, 0]]).all()
    assert (take("take", url, "[[2, 29]]") == array[[[2, 29]]]).all()
    assert (take("take", url, "[31, 2]", "--part", url) == np.concatenate([array, array])[[31, 2]]).all()
    assert (take("take", url, "[2]", "--memory", "4M") == array[[2]]).all()
    assert (take("nd", url, "[[2, 1], [29, 3]]") == array[[2, 29], [1, 3]]).all()
    with HttpServer(folder=tmp_path) as fresh:
        take("take", fresh.url("/x.npy"), "7")
        assert fresh.requests == 2 and fresh.connections == 1  # the header, and the row
