# SPDX-License-Identifier: MIT
#
# test_table.py: opening tables in files, what they say of themselves, and what stands in brackets, against NumPy's memmap.
"""Tables in files."""
from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather.table import bytes_of
from support.refusal import refuses
from support.skip import skip_test
from table_files import ENGINES, NPY_DTYPES, RAW_DTYPES, ROWS, rows_of, same, save, save_gguf, save_raw, save_safetensors, table_of

X = np.arange(60, dtype=np.float32).reshape(10, 3, 2)


@pytest.fixture
def path(tmp_path):
    return save(tmp_path, X)


@pytest.fixture
def table(path):
    with libgather.open(path) as table:
        yield table


def test_attributes_of_arrays(table):
    """Those that a table shares with an array mean the same."""
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "dtype"):
        assert getattr(table, name) == getattr(X, name), name
    assert len(table) == len(X) and all(np.array_equal(a, b) for a, b in zip(table, X)) and np.array_equal(np.asarray(table), X)


def test_attributes_of_packed_elements(tmp_path):
    """Two to a byte in the file, one to a byte once taken."""
    (tmp_path / "r").write_bytes(bytes(12))
    with libgather.open(tmp_path / "r", dtype="int4", shape=(-1, 6)) as table:
        assert (table.size, table.itemsize, table.nbytes, table[...].nbytes) == (24, 1, 12, 24)


# ---- types and files ----


@pytest.mark.parametrize("dtype", NPY_DTYPES, ids=repr)
def test_npy(tmp_path, dtype):
    """Every dtype of a fixed size, structured ones and either byte order included; all ranks."""
    for shape in ((ROWS, 3, 2), (ROWS,), (ROWS, 0), (0, 4), (1, 1)):
        x = table_of(dtype, shape)
        with libgather.open(save(tmp_path, x)) as table:
            x = np.load(table.path)  # which forgets that a dtype was aligned
            assert (table.dtype, table.shape, table.format) == (x.dtype, x.shape, "npy")
            ids = np.random.default_rng(2).integers(-len(x), len(x), (4, 5)) if len(x) else np.zeros((2, 0), int)
            assert same(table[ids], rows_of(x, ids)) and same(table.submit(ids).wait(), rows_of(x, ids)) and same(table[...], x)


@pytest.mark.parametrize("dtype", RAW_DTYPES, ids=repr)
def test_raw(tmp_path, dtype):
    """The same behind some other bytes, with ml_dtypes' whole bytes too."""
    x = table_of(dtype)
    path = save_raw(tmp_path, x, b"12345")
    ids = np.array([[-1, 0, 5], [36, 36, 1]])
    with libgather.open(path, dtype=dtype, shape=(-1, 3, 2), offset=5) as table:
        assert (table.dtype, table.shape, table.row_bytes) == (dtype, x.shape, 6 * dtype.itemsize)
        assert same(table[ids], rows_of(x, ids)) and same(table[...], x)


@pytest.mark.parametrize("name, dtype, shape, bytes_", [
    ("bfloat16", ml_dtypes.bfloat16, (-1, 2), 4), ("FLOAT8E5M2", ml_dtypes.float8_e5m2, None, 1), (">f4", ">f4", (-1,), 4),
    ("f", "<f4", 7, 4), (np.float64, "<f8", None, 8), ("M8[s]", "<M8[s]", (2, -1 + 2), 8), ("U3", "<U3", (-1, 1), 12)])
def test_raw_types(tmp_path, name, dtype, shape, bytes_):
    (tmp_path / "r").write_bytes(bytes(range(96)))
    if name == "FLOAT8E5M2":  # the library's names are those of libgather.types()
        name = "float8_e5m2"
    with libgather.open(tmp_path / "r", dtype=name, shape=shape) as table:
        wanted = (-1,) if shape is None else (shape,) if isinstance(shape, int) else shape
        assert table.dtype == dtype and table.row_bytes == bytes_ and table.ndim == len(wanted)
        assert table.rows == (wanted[0] if wanted[0] > 0 else 96 // bytes_)
        assert table[-1:].tobytes() == bytes(range(96))[(table.rows - 1) * bytes_ : table.rows * bytes_]


@pytest.mark.parametrize("keywords, error", [
    ({"shape": 3}, TypeError), ({"offset": 3}, TypeError), ({"dtype": object}, libgather.GatherTypeError),
    ({"dtype": [("a", object)]}, libgather.GatherTypeError), ({"dtype": "(2,)f4"}, libgather.GatherTypeError),
    ({"dtype": "f4", "shape": 2.5}, TypeError), ({"dtype": "f4", "shape": (1,) * 65}, libgather.GatherValueError),
    ({"dtype": "f4", "offset": -1}, libgather.GatherError), ({"dtype": "f4", "shape": (3, -1)}, libgather.GatherError),
    ({"dtype": "f4", "shape": (10**6, 3), "raw": True}, libgather.GatherFileFormatError), ({"dtype": "nosuch"}, TypeError),
    ({"dtype": "f4", "shape": (2**62, 2**62)}, libgather.GatherError), ({"engine": "warp"}, libgather.GatherValueError),
    ({"engine": None}, TypeError), ({"depth": 5000}, libgather.GatherValueError), ({"depth": -1}, libgather.GatherValueError),
    ({"depth": "8"}, TypeError), ({"memory": 1000}, libgather.GatherValueError), ({"memory": "2 bananas"}, ValueError),
    ({"memory": -1}, ValueError), ({"memory": True}, TypeError), ({"memory": "1e9"}, ValueError), ({"cache": 2**63}, ValueError)],
    ids=str)
def test_open_refuses(path, keywords, error):
    refuses(error, libgather.open, path, **keywords)


@pytest.mark.parametrize("wrong, error", [(5, TypeError), (None, TypeError), ([], ValueError), ([1], TypeError), ({"a"}, TypeError),
                                          ("nosuch.npy", FileNotFoundError), ("a\0b", ValueError)], ids=repr)
def test_paths_that_are_none(wrong, error):
    refuses(error, libgather.open, wrong)


def test_files_that_hold_no_table(tmp_path):
    np.save(tmp_path / "scalar.npy", np.float32(3))
    np.save(tmp_path / "pickle.npy", np.array([None]), allow_pickle=True)
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY\1\0")
    for name, error in (("scalar", libgather.GatherValueError),
                        ("pickle", libgather.GatherNotSupportedError), ("broken", libgather.GatherFileFormatError)):
        refuses(error, libgather.open, tmp_path / f"{name}.npy", says=name)
    with pytest.raises(libgather.GatherFileFormatError) as caught:
        libgather.open(tmp_path / "broken.npy")
    assert caught.value.file.endswith("broken.npy") and caught.value.offset is not None


@pytest.mark.parametrize("text, count", [("2GiB", 2 << 30), ("500MB", 500_000_000), ("64M", 64 << 20), ("4096", 4096), ("1.5 gib", 3 << 29),
                                         ("7b", 7), ("3TB", 3 * 10**12), (np.int32(9), 9), (0, 0)], ids=str)
def test_amounts(text, count):
    assert bytes_of(text, "memory") == count


def test_parts(tmp_path):
    """Files one behind the other, each where it lies."""
    pieces = [table_of(np.dtype("<i4"), (n, 2), n) for n in (3, 1, 7)]
    paths = [save(tmp_path, piece, f"{i}.npy") for i, piece in enumerate(pieces)]
    whole = np.concatenate(pieces)
    with libgather.open([Path(paths[0]), *paths[1:]]) as table:
        assert table.path == tuple(paths) and table.shape == (11, 2) and f"{paths[0]} and 2 more" in repr(table)
        assert [(Path(p.path).name, p.first, p.rows) for p in table.parts] == [("0.npy", 0, 3), ("1.npy", 3, 1), ("2.npy", 4, 7)]
        ids = np.array([10, 3, 0, 4, -11, 2])
        assert same(table[ids], whole[ids]) and same(table[::-1], whole[::-1])
        for part, piece in zip(table.parts, pieces):
            assert np.array_equal(np.fromfile(part.path, "<i4", piece.size, offset=part.offset).reshape(-1, 2), piece)
    other = save(tmp_path, pieces[0].astype("f4"), "other.npy")
    flat = save(tmp_path, pieces[0].reshape(-1), "flat.npy")
    for wrong, error in ((other, libgather.GatherTypeError), (flat, libgather.GatherValueError)):
        refuses(error, libgather.open, [paths[0], wrong])


def test_onnx(tmp_path):
    """FILE:TENSOR, from a model."""
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        skip_test("onnx", "the package is not installed")
    graph = helper.make_graph([], "g", [], [], [numpy_helper.from_array(X, "emb"), numpy_helper.from_array(X[0], "other")])
    onnx.save(helper.make_model(graph), tmp_path / "m.onnx")
    with libgather.open(f"{tmp_path}/m.onnx:emb") as table:
        assert table.name == "emb" and table.format == "onnx" and same(table[[3, 3]], X[[3, 3]])
    refuses(libgather.GatherNameError, libgather.open, f"{tmp_path}/m.onnx:emv", says="emb")


@pytest.mark.parametrize("kind, dtype", [("F32", "<f4"), ("I64", "<i8"), ("BOOL", "?"), ("U8", "u1"), ("F16", "<f2"), ("BF16", ml_dtypes.bfloat16),
                                         ("F8_E4M3", ml_dtypes.float8_e4m3fn), ("F8_E5M2", ml_dtypes.float8_e5m2), ("C64", "<c8")])
def test_safetensors(tmp_path, kind, dtype):
    x, other = table_of(np.dtype(dtype), (9, 4)), table_of(np.dtype("u1"), (3,))
    path = save_safetensors(tmp_path / "x.safetensors", {"a/b": ("U8", other), "emb": (kind, x), "odd:name": (kind, x[:2])})
    with libgather.open(f"{path}:emb") as table:
        assert (table.format, table.name, table.dtype, table.type) == ("safetensors", "emb", x.dtype, x.dtype.name)
        assert same(table[[[8, 0], [-1, 3]]], x[[[8, 0], [-1, 3]]]) and same(table[...], x)
        assert same(pickle.loads(pickle.dumps(table))[3:], x[3:])
    assert same(libgather.open(f"{path}:odd:name")[:], x[:2]) and same(libgather.open(f"{path}:a/b")[[2]], other[[2]])
    refuses(libgather.GatherNameError, libgather.open, path)


def test_sharded_safetensors(tmp_path):
    """By its index; and two tensors of it as the parts of one table."""
    pieces = [table_of(np.dtype("<f2"), (n, 2), n) for n in (3, 5)]
    for i, piece in enumerate(pieces):
        save_safetensors(tmp_path / f"model-{i}.safetensors", {f"emb.{i}": ("F16", piece)})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": {f"emb.{i}": f"model-{i}.safetensors" for i in range(2)}}))
    assert same(libgather.open(f"{index}:emb.1")[::-1], pieces[1][::-1])
    table = libgather.open([f"{index}:emb.0", f"{index}:emb.1"])
    assert same(table[[7, 0, 3]], np.concatenate(pieces)[[7, 0, 3]])
    assert [Path(part.path).name for part in table.parts] == ["model-0.safetensors", "model-1.safetensors"]


def test_npz(tmp_path):
    np.savez(tmp_path / "two.npz", emb=X, words=np.array(["a", "bcd"]))
    with libgather.open(f"{tmp_path}/two.npz:emb") as table:
        assert table.format == "npz" and same(table[[9, 1]], X[[9, 1]])
    assert libgather.open(f"{tmp_path}/two.npz:words")[[1, 0]].tolist() == ["bcd", "a"]
    np.savez_compressed(tmp_path / "small.npz", emb=X)
    refuses(libgather.GatherNotSupportedError, libgather.open, f"{tmp_path}/small.npz:emb")


def test_gguf(tmp_path):
    """Plain rows are numbers, quantised ones blocks of bytes."""
    path = save_gguf(tmp_path / "f.gguf", "emb.weight", 0, (10, 6), X.tobytes())
    assert same(libgather.open(f"{path}:emb.weight")[[9, 0]], X.reshape(10, 6)[[9, 0]])
    blocks = np.random.default_rng(1).bytes(4 * 2 * 18)
    with libgather.open(save_gguf(tmp_path / "q.gguf", "emb", 2, (4, 64), blocks)) as table:  # Q4_0: 32 elements in 18 bytes
        assert table.type == "Q4_0" and table.dtype == np.dtype("V18") and table.shape == (4, 2) and table.row_bytes == 36
        assert table[[3, 0]].tobytes() == blocks[108:] + blocks[:36]


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "float4_e2m1fn", "uint1", "uint3"])
def test_elements_smaller_than_a_byte(tmp_path, name):
    """One to a byte for NumPy; out= takes the bytes as they are."""
    (tmp_path / "r").write_bytes(np.random.default_rng(1).bytes(60))
    with libgather.open(tmp_path / "r", dtype=name, shape=(-1, 8)) as table:
        whole = table[...]
        assert whole.shape == table.shape and whole.dtype == table.dtype and whole.dtype.itemsize == 1
        assert whole.astype(float).std() > 0
        ids = np.array([[2, -1], [0, 2]])
        assert same(table[ids], whole[ids]) and same(table.submit(ids).wait(), whole[ids]) and same(table[1, 2:4], whole[1, 2:4])
        out = np.zeros((2, 2, table.row_bytes), np.uint8)
        assert table.take(ids, out=out) is out
        file = (tmp_path / "r").read_bytes()
        rows = [file[i * table.row_bytes : (i + 1) * table.row_bytes] for i in (2, table.rows - 1, 0, 2)]
        assert out.tobytes() == b"".join(rows)
        refuses(libgather.GatherValueError, table.take, ids, out=np.zeros((2, 2, 8), np.uint8))


def test_without_ml_dtypes(tmp_path, monkeypatch):
    """Their elements are bytes then; those smaller than a byte are refused with the reason."""
    import sys

    (tmp_path / "r").write_bytes(bytes(range(24)))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with libgather.open(tmp_path / "r", dtype="bfloat16", shape=(-1, 3)) as table:
        assert table.dtype == np.dtype("V2") and table.type == "bfloat16" and table[1].tobytes() == bytes(range(6, 12))
        assert table.take([1], out=np.zeros((1, 3), "V2")).tobytes() == bytes(range(6, 12))
    refuses(libgather.GatherTypeError, libgather.open, tmp_path / "r", dtype="int4", shape=(-1, 2), says="install ml_dtypes")


# ---- what it is ----


def test_attributes(path, table):
    assert table.path == path and table.shape == X.shape and table.ndim == 3 and table.dtype == X.dtype and table.type == "float32"
    assert table.rows == len(table) == 10 and type(table.rows) is int and table.row_bytes == 24 and table.nbytes == X.nbytes
    assert table.format == "npy" and table.name == "" and not table.closed
    assert table.parts == (libgather.TablePart(path, 128, 0, 10),)
    assert repr(table) == f"<libgather.Table {path}: npy, float32 (10, 3, 2), 24 bytes a row>"
    assert isinstance(table, libgather.Table) and hash(table) != hash(libgather.open(path)) and table != 3


def test_close(path):
    """What it is stays known; rows are gone."""
    with libgather.open(path) as table:
        job = table.submit([1])
    assert table.closed and table.shape == X.shape and len(table) == 10 and "closed" in repr(table)
    assert same(job.wait(), X[[1]])
    table.close()
    for call in (lambda: table[0], lambda: table[[]], lambda: table.take([0]), lambda: table.submit([0]), table.stats, table.reset_stats,
                 lambda: table.parts, table.devices, lambda: np.asarray(table)):
        refuses(libgather.GatherValueError, call, says="the table is closed")


def test_files_are_given_back(path):
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    for _ in range(5):
        libgather.open(path)[[1, 2]]  # dropped, not closed
        with libgather.open(path) as table:
            table.submit([1])
    assert count() == before


def test_pickle(tmp_path, monkeypatch):
    """By its arguments, from any folder."""
    save(tmp_path, X)
    (tmp_path / "r").write_bytes(X.tobytes())
    monkeypatch.chdir(tmp_path)
    tables = [libgather.open("table.npy", memory="64MiB", engine="pread", depth=4, cache=0, buffered=True, keep_signals=True),
              libgather.open("r", dtype="<f4", shape=(-1, 3, 2)), libgather.open(["table.npy", Path("table.npy")])]
    pickled = [pickle.dumps(table) for table in tables]
    monkeypatch.chdir("/")
    for table, text in zip(tables, pickled):
        assert set(table._arguments) == set(inspect.signature(libgather.open).parameters)
        again = pickle.loads(text)
        assert same(again[[1, -1]], table[[1, -1]]) and again.shape == table.shape
        assert [part[1:] for part in again.parts] == [part[1:] for part in table.parts]
    again = pickle.loads(pickled[0])
    assert again.stats().engine == "pread" and again.stats().memory_ceiling == 64 << 20 and again.stats().depth <= 4
    assert copy.copy(tables[0]) is not tables[0] and same(copy.deepcopy(tables[1])[:], X)


def test_stats(path):
    for engine in ENGINES[1:]:
        with libgather.open(path, engine=engine, memory="32MiB") as table:
            empty = table.stats()
            assert (empty.takes, empty.rows, empty.reads, empty.memory_ceiling) == (0, 0, 0, 32 << 20)
            table[[1, 2, 2]]
            table.take([11, 0], mode="zero")
            table.submit([5]).wait()
            stats = table.stats()
            assert (stats.takes, stats.rows, stats.bytes_useful) == (3, 6, 6 * 24)
            assert stats.rows_resident + stats.rows_cached + stats.rows_read == 5  # one was filled
            assert stats.seconds > 0 and stats.memory_peak >= stats.memory_bytes and stats.engine in ENGINES[1:] and stats.why
            assert f"{stats.engine}" in str(stats) and "rows: 6 in 3 takes" in str(stats) and "of 32.00 MiB" in str(stats)
            assert repr(stats).startswith(f"TableStatistics(engine='{stats.engine}', ") and pickle.loads(pickle.dumps(stats)) == stats
            table.reset_stats()
            assert table.stats().takes == table.stats().rows == 0


def test_devices(tmp_path, path):
    with libgather.open([path, path], engine="pread", cache=0) as table:
        (device,) = table.devices()
        assert (device.path, device.files, device.reads, device.depth) == (str(path), 1, 0, table.stats().depth)
        assert device.number == os.stat(path).st_dev
        table[[1, 12]]
        (device,), stats = table.devices(), table.stats()
        assert isinstance(device, libgather.TableDevice) and isinstance(device.direct, bool)
        assert (device.reads, device.bytes_read) == (stats.reads, stats.bytes_read) and device.reads > 0
        assert 0 < device.most_in_flight <= device.depth and device.seconds_reading > 0
        table.reset_stats()
        assert table.devices()[0].reads == table.devices()[0].most_in_flight == 0


def test_engines(path):
    """info() says which can be used; one that cannot is replaced, and the statistics say so."""
    engines = libgather.info()["engines"]
    assert list(engines) == [*ENGINES, "http", "overlapped"] and engines["auto"] is engines["mmap"] is engines["pread"] is None
    for engine in ENGINES[1:]:
        stats = libgather.open(path, engine=engine).stats()
        assert stats.engine == engine if engines[engine] is None else stats.engine != engine and stats.why


# ---- what stands in brackets ----

KEYS = [0, -1, 9, np.int8(3), np.uint64(9), slice(None), slice(2, 7), slice(8, 1, -3), slice(-3, None), slice(5, 5), slice(20, 30), ...,
        [1, 2], [], [[1], [-10]], (), (3,), ([1, 2],), np.array([3, 1]), np.array(4), np.zeros((0, 2), "u1"), np.arange(10) % 3 == 0,
        [True] + [False] * 9, np.zeros(10, bool), range(3), (4, 1), (4, 1, 1), (-1, slice(None), 0), (slice(2, 5), 1), (slice(2, 5), ..., 1),
        (..., 0), (..., 1, [0, 1]), ([3, 1, 1], 2), ([3, 1], slice(None, None, -1)), (np.array([[1, 2], [3, 4]]), 1, slice(1)),
        ([[1], [2]], ..., 0), (np.arange(10) > 6, 0), (2, ...), (0, [1, 2]), ([0], [1]), ([[3], [-1]], [0, 2, 1]), ([3, 4], 1, ...),
        ([3, 4], [0, -1], slice(1)), (np.zeros((10, 3), bool)), (np.arange(30).reshape(10, 3) % 4 == 0), (np.array([3], 'u8'), [-1]), None, (None, 1), (0, None), (0, slice(None), [1]), (slice(2, 5), [0, 1]),
        (np.arange(10) % 5 == 0, [2, 0]), ([], [], 0), (1, [True, False, True]), (np.int64(2), np.int64(1)), (np.array(3), 1)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_brackets(table, key):
    result, wanted = table[key], X[key]
    assert type(result) is type(wanted) and result.dtype == wanted.dtype
    assert np.array_equal(result, wanted) and result.shape == wanted.shape


def test_scalars(tmp_path):
    x = np.arange(5, dtype=">i2")
    with libgather.open(save(tmp_path, x)) as table:
        assert table[3] == 3 and type(table[3]) is type(x[3]) and table.take(3) == 3 and table.submit(np.array(4)).wait() == 4
        assert list(table) == list(x) and table[np.array(2)] == 2


@pytest.mark.parametrize("key, error", [
    (10, IndexError), (-11, IndexError), ([0, 10], IndexError), (2**70, libgather.GatherTypeError), (True, libgather.GatherValueError),
    (np.zeros(9, bool), libgather.GatherValueError), (np.zeros((10, 2), bool), libgather.GatherValueError), (1.0, libgather.GatherTypeError),
    ([0.5], libgather.GatherTypeError), ("a", libgather.GatherTypeError), (slice("a", 3), TypeError),
    ((0, [1, 3]), libgather.GatherIndexError), (([0, 1], [0, 1, 2]), libgather.GatherValueError), ((0, [0.5]), libgather.GatherTypeError),
    ((0, slice(None), [2]), libgather.GatherIndexError), (([0], [0], [0], [0]), libgather.GatherKeyError),
    ((0, 3), IndexError), ((0, 0, 0, 0), IndexError), ((0, ..., ...), IndexError), ((0, True), libgather.GatherNotSupportedError),
    (([10], 5), IndexError), ((None, 10), IndexError)], ids=repr)
def test_brackets_refuse(table, key, error):
    with pytest.raises(error):
        table[key]
    assert table.stats().takes == 0  # nothing was read for it


def test_iteration_and_arrays(path, table):
    assert all(np.array_equal(a, b) for a, b in zip(table, X)) and len(list(table)) == 10
    assert same(np.asarray(table), X) and np.asarray(table, np.float64).dtype == np.float64 and np.array_equal(np.array(table), X)
    refuses(ValueError, np.asarray, table, copy=False, says="without a copy")


def test_an_array_above_the_ceiling(tmp_path):
    """Who means it says table[...]."""
    big = np.arange(3 << 18, dtype=np.float32).reshape(-1, 64)
    with libgather.open(save(tmp_path, big), memory="1MiB") as table:
        refuses(libgather.GatherMemoryError, np.asarray, table, says="3145728 bytes")
        assert same(table[...], big) and same(table[::-7], big[::-7])
        assert table.stats().memory_peak <= 1 << 20


def test_slices_in_blocks(path, monkeypatch):
    """Long slices are read in pieces."""
    with libgather.open(path) as table:
        monkeypatch.setattr(type(table), "_block", lambda self: 3)
        for key in (slice(None), slice(None, None, -1), slice(8, 1, -2), slice(1, 7, 1), slice(0, 0), slice(2, 5)):
            assert same(table[key], X[key])
        assert [row.tolist() for row in table] == X.tolist()
    raw = Path(path).with_name("r")
    raw.write_bytes(bytes(range(40)))
    with libgather.open(raw, dtype="uint4", shape=(-1, 4)) as table:
        assert same(table[1::2], np.concatenate([table[i : i + 1] for i in range(1, 20, 2)]))


def test_numpy_and_libgather_take(table):
    """They do not read the whole table for a few rows."""
    ids = np.array([[1, -1], [3, 3]])
    assert same(np.take(table, ids, axis=0), X[ids]) and same(libgather.take(table, ids, axis=0), X[ids])
    out = np.zeros((2, 2, 3, 2), np.float32)
    assert libgather.take(table, ids, axis=-3, out=out, threads=1) is out and same(out, X[ids])
    assert same(libgather.take(table, [99], axis=0, mode="clip"), X[[9]])
    assert table.stats().rows == 13
    for call, error in ((lambda: libgather.take(table, ids), TypeError), (lambda: libgather.take(table, ids, axis=1), NotImplementedError),
                        (lambda: libgather.take(table, ids, axis=3), libgather.GatherAxisError), (lambda: np.take(table, ids, axis=1), NotImplementedError),
                        (lambda: libgather.take(table, ids, axis=0, rules="onnx-13"), NotImplementedError),
                        (lambda: libgather.take(table, ids, axis=0, batch_dims=1), NotImplementedError),
                        (lambda: libgather.take_along_axis(table, ids, axis=0), NotImplementedError),
                        (lambda: libgather.gather_elements(table, ids), NotImplementedError),
                        (lambda: libgather.Plan.take(table, ids, axis=0), TypeError)):
        refuses(error, call)
    assert table.stats().rows == 13


def test_a_recognised_file_is_not_raw_bytes(path):
    error = refuses(libgather.errors.GatherError, libgather.open, path, dtype="float32", shape=(-1, 6), says="format npy")
    assert error.status == "usage"
    with libgather.open(path, dtype="uint8", shape=(-1, 8), raw=True) as table:
        assert table[0].tobytes() == b"\x93NUMPY\x01\x00"
        assert (pickle.loads(pickle.dumps(table))[0] == table[0]).all()
    refuses(TypeError, libgather.open, path, raw=True, says="dtype")


FORTRAN_SHAPES = [(7, 5), (6, 3, 4), (4, 2, 3, 5), (5, 1), (1, 5), (0, 3), (3, 0), (3, 2, 0), (9,)]


@pytest.mark.parametrize("shape", FORTRAN_SHAPES, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_fortran_order(shape, engine, tmp_path):
    """As the command reads it: the rows of np.load."""
    for dtype in (np.dtype("u1"), np.dtype("<f4"), np.dtype(">i8"), np.dtype("c16"), np.dtype("S3"), np.dtype([("a", "<i2"), ("b", "S1")])):
        array = np.asfortranarray(table_of(dtype, shape))
        path = save(tmp_path, array)
        with libgather.open(path, engine=engine, memory="8MiB") as table:
            assert table.shape == shape and table.dtype == dtype and len(table) == shape[0]
            assert table.row_bytes == int(np.prod(shape[1:])) * dtype.itemsize
            if len(shape) > 1 and array.size and min(shape[0], array[0].size) > 1:
                assert table.parts[0].offset == -1  # the rows are not contiguous
            if shape[0] == 0:
                continue
            ids = np.random.default_rng(3).integers(-shape[0], shape[0], (3, 4))
            assert same(table[ids], rows_of(np.ascontiguousarray(array), ids))
            assert same(table[1:], rows_of(np.ascontiguousarray(array), np.arange(shape[0])[1:]))
            job = table.submit(ids)
            assert same(job.wait(), rows_of(np.ascontiguousarray(array), ids))
            with pytest.raises(IndexError):
                table[shape[0]]


def test_fortran_order_by_tuples_and_policies(tmp_path):
    array = np.asfortranarray(np.arange(6 * 4 * 3 * 2, dtype=np.float32).reshape(6, 4, 3, 2))
    with libgather.open(save(tmp_path, array)) as table:
        i, j, k = (np.random.default_rng(n).integers(0, size, 20) for n, size in enumerate((6, 4, 3)))
        assert (table[i, j] == array[i, j]).all() and (table[i, j, k] == array[i, j, k]).all()
        assert (table[i, :, 1] == array[i, :, 1]).all() and (table[i, j, k, 1] == array[i, j, k, 1]).all()
        for mode in ("clip", "wrap"):  # as a table in C order
            with libgather.open(save(tmp_path, np.ascontiguousarray(array), "c.npy")) as plain:
                assert (table.take([5, 9, -1, -9], mode=mode) == plain.take([5, 9, -1, -9], mode=mode)).all()
        assert (table.take([2, 99], mode="fill", fill_value=-1) == np.stack([array[2], np.full((4, 3, 2), -1)])).all()
        out = np.empty((2, 4, 3, 2), np.float32)
        assert table.take([3, 3], out=out) is out and (out == array[3]).all()
        stats = table.stats()
        assert stats.takes >= 6 and stats.rows_resident + stats.rows_cached + stats.rows_read <= stats.rows and str(stats)
        copy_of = pickle.loads(pickle.dumps(table))
        assert (copy_of[[5]] == array[[5]]).all()


def test_fortran_order_in_parts(tmp_path):
    x, c = np.asfortranarray(np.arange(20.0).reshape(5, 4)), np.arange(12.0).reshape(3, 4) + 50
    first, second, plain = (save(tmp_path, array, name) for array, name in ((x, "a.npy"), (x + 100, "b.npy"), (c, "c.npy")))
    with libgather.open([first, second, plain]) as table:
        whole, ids = np.concatenate([x, x + 100, c]), np.random.default_rng(1).integers(0, 13, 50)
        assert (table[ids] == whole[ids]).all() and (table[ids, ids % 4] == whole[ids, ids % 4]).all()
        assert [(part.first, part.rows, part.offset < 0) for part in table.parts] == [(0, 5, True), (5, 5, True), (10, 3, False)]
    for other, error in ((x.astype(np.float32), libgather.GatherTypeError), (np.asfortranarray(np.ones((2, 3))), libgather.GatherValueError)):
        refuses(error, libgather.open, [first, save(tmp_path, other, "d.npy")], says="d.npy")
    with libgather.open([plain, plain, first], engine="pread") as table:  # the first ones were taken for rows
        whole, ids = np.concatenate([c, c, x]), np.random.default_rng(2).integers(0, 11, 50)
        assert (table[ids] == whole[ids]).all() and [part.rows for part in table.parts] == [3, 3, 5]
        assert len(table.devices()) == 1 and table.devices()[0].files == 3


def test_fortran_order_within_a_memory_limit(tmp_path):
    """A table of 64 MiB through 8 MiB; a file that ends early names the row."""
    array = np.asfortranarray(np.arange(1 << 23, dtype=np.int64).reshape(1 << 16, 128))
    path = save(tmp_path, array)
    for engine in ("pread", "mmap"):
        with libgather.open(path, memory="8MiB", engine=engine) as table:
            ids = np.random.default_rng(5).integers(0, 1 << 16, 3000)
            assert (table[ids] == array[ids]).all()
            assert table.stats().memory_peak <= 8 << 20
    with libgather.open(path, engine="pread", cache=0) as table:
        os.truncate(path, os.path.getsize(path) - 8 * 1000)
        with pytest.raises(libgather.errors.GatherError, match=r"row 65535 of the table"):
            table[[65535]]
        assert (table[[3]] == array[[3]]).all()


def test_fortran_order_in_an_archive(tmp_path):
    array = np.asfortranarray(np.arange(12).reshape(3, 4))
    np.savez(tmp_path / "m.npz", x=array, y=array + 1)
    with libgather.open(tmp_path / "m.npz:y") as table:
        assert (table[[2, 0]] == array[[2, 0]] + 1).all()


def test_a_split_gguf_model(tmp_path):
    """Any of its files has the rows of all, decoded or not."""
    theirs = pytest.importorskip("gguf")
    writer = theirs.GGUFWriter(tmp_path / "m.gguf", "test", split_max_tensors=1)
    codes = np.arange(8 * 34, dtype=np.uint8).reshape(8, 34) % 7
    writer.add_tensor("x", X)
    writer.add_tensor("q", codes, raw_dtype=theirs.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    values = theirs.dequantize(codes, theirs.GGMLQuantizationType.Q8_0)
    for part in ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf"):
        with libgather.open(tmp_path / f"{part}:x", memory="16MiB") as table:
            assert (table[[9, 0]] == X[[9, 0]]).all()
        with libgather.open(tmp_path / f"{part}:q", decode_as="float32") as table:
            assert (table[[7, 1]] == values[[7, 1]]).all()
    (tmp_path / "m-00001-of-00002.gguf").unlink()
    with pytest.raises(FileNotFoundError, match="m-00001-of-00002.gguf: cannot open it.*'x' may be in it"):
        libgather.open(tmp_path / "m-00002-of-00002.gguf:x")


SUBSTITUTES = {
    "Git LFS pointer.*'git lfs pull'": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n",
    "web page": b"<!DOCTYPE html>\n<html><head><title>emb.npy</title></head></html>",
    "error answer.*AccessDenied": b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
    "AppleDouble": b"\0\5\x16\7\0\2\0\0Mac OS X        " + bytes(40),
}


@pytest.mark.parametrize("words", SUBSTITUTES)
def test_what_is_saved_in_place_of_a_table(words, tmp_path):
    """Its text was given as rows: exit 0. raw=True still does so."""
    path, content = tmp_path / "tokens.bin", SUBSTITUTES[words]
    path.write_bytes(content)
    good = save_raw(tmp_path, np.zeros((3, 8), np.uint8))
    for call in (lambda: libgather.open(path, dtype="uint8"), lambda: libgather.open([good, path], dtype="uint8", shape=(-1, 8)),
                 lambda: libgather.shuffle(path, output=tmp_path / "o.bin", dtype="uint8", shape=(-1, 8))):
        refuses(libgather.errors.GatherValueError, call, says=f"not raw bytes: .*{words}")
    for call in (libgather.open, libgather.read_ids, libgather.Model):
        refuses(libgather.errors.GatherNotSupportedError, call, path, says=words)
    with libgather.open(path, dtype="uint8", raw=True) as table:
        assert table[:8].tobytes() == content[:8]


@pytest.mark.parametrize("name, words", [("file:///emb.npy", "without file://"), ("gs://b/emb.npy", "storage.googleapis.com"),
                                         ("s3a://b/emb.npy", "write s3://"), ("s3n://b/emb.npy", "write s3://"),
                                         ("ftp://h/emb.npy", "URLs that are read"), (Path("https://h/emb.npy"), "pathlib.Path")])
def test_names_like_urls(name, words):
    """The command said what is read; Python said 'No such file'."""
    for call in (libgather.open, libgather.read_ids, libgather.Model):
        refuses(FileNotFoundError, call, name, says=words)
        if isinstance(name, str):  # such names have secrets where URLs have them
            scheme = name[: name.index("://") + 3]
            with pytest.raises(FileNotFoundError, match=words) as caught:
                call(f"{scheme}SECRET:SECRET@{name[len(scheme):].lstrip('/')}?se=05:07:10Z&sig=SECRET:SECRET#SECRET")
            assert "SECRET" not in repr(vars(caught.value)) + str(caught.value) and "05:" not in str(caught.value)


def test_links_beside_an_index(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    (tmp_path / "away").mkdir()
    safetensors.save_file({"x": X}, tmp_path / "away" / "s")
    (tmp_path / "s").symlink_to(tmp_path / "away" / "s")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"x": "s"}}))
    with libgather.open(f"{index}:x") as table:
        assert (table[...] == X).all()
    refuses(libgather.errors.GatherError, libgather.open, f"{index}:x", links=False, says="symbolic link")


def test_a_closed_table_is_not_entered(path):
    with libgather.open(path) as table:
        assert not table.closed
    with pytest.raises(libgather.GatherValueError, match="the table is closed"):
        with table:
            pass


@pytest.mark.parametrize("memory", [0, "0", "0MB", "0.0GiB"])
def test_a_memory_limit_of_nothing(path, tmp_path, memory):
    for call in (lambda: libgather.open(path, memory=memory), lambda: libgather.shuffle(path, tmp_path / "o.npy", memory=memory)):
        refuses(ValueError, call, says="memory must be more than 0 bytes")
    assert not (tmp_path / "o.npy").exists()


def test_rows_in_reverse(path, table, monkeypatch):
    """In blocks, not one by one."""
    rows = [row.tobytes() for row in table[...]]
    monkeypatch.setattr(type(table), "_block", lambda self: 5)
    table.reset_stats()
    assert [row.tobytes() for row in reversed(table)] == rows[::-1]
    assert table.stats().takes == -(-len(rows) // 5)


def test_dlpack_reads_in_bulk(tmp_path):
    for dtype in ("<f4", ">f4", "<i8", "bfloat16"):
        kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
        x = np.arange(600).reshape(50, 12).astype(kind)
        if dtype == "bfloat16":
            save_safetensors(tmp_path / "x.safetensors", {"x": ("BF16", x)})
            table = libgather.open(tmp_path / "x.safetensors:x")
            assert "dltensor" in repr(table.__dlpack__())  # NumPy has no such dtype
        else:
            np.save(tmp_path / "x.npy", x)
            table = libgather.open(tmp_path / "x.npy")
            assert np.array_equal(np.from_dlpack(table), x)
        assert table.stats().takes == 1 and table.__dlpack_device__() == (1, 0)
    refuses(BufferError, table.__dlpack__, copy=False, says="without a copy")
    np.save(tmp_path / "large.npy", np.zeros((60000, 16), np.float32))
    with pytest.raises(libgather.GatherMemoryError, match="more than its memory="):
        np.from_dlpack(libgather.open(tmp_path / "large.npy", memory="3MiB"))
