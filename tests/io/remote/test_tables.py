# SPDX-License-Identifier: MIT
"""Tables by URL. Takes: memory, threads, jobs, cancelling, Ctrl-C, processes, errors with row and byte, statistics, options."""
import json
import os
import pickle
import signal
import struct
import subprocess
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support import http_faults as faults
from support.http_server import HttpServer
from support.numpy_files import npy
from support.quantised_files import MAKERS, part, safetensors
from support.refusal import refuses
from support.skip import skip_test
from support.threads import together

try:
    import libgather
except ImportError:
    libgather = None

ROWS, WIDTH = 20_000, 64
TABLE = np.random.default_rng(1).integers(0, 256, (ROWS, WIDTH), np.uint8)
QUICK = {"connections": 4, "timeout": 6, "retries": 1}
pytestmark = pytest.mark.usefixtures("remote_build")


HEAD = len(npy(TABLE)) - TABLE.nbytes
PAST = 65536 // WIDTH + 1  # the first row that the open has not read


@pytest.fixture(autouse=True)
def _package():
    if libgather is None:
        skip_test("libgather", "the Python package is not built")


@pytest.fixture
def server():
    with HttpServer({"/t.npy": npy(TABLE)}) as one:
        yield one


def opened(server: HttpServer, **options):
    remote = {**QUICK, **options.pop("remote", {})}
    return libgather.open(server.url("/t.npy"), remote=remote, **options)


def ids_of(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(PAST, ROWS, count)


# ---- memory


@pytest.mark.parametrize("memory", ["1MiB", "3MiB", "40MiB"])
def test_memory_limit(server, memory):
    with opened(server, memory=memory) as table:
        for seed in range(3):
            ids = ids_of(500, seed)
            assert (table[ids] == TABLE[ids]).all()
        stats = table.stats()
        assert 0 < stats.memory_peak <= stats.memory_ceiling and stats.remote.in_flight_peak <= min(4, stats.depth)


def test_rows_longer_than_a_read():
    long = np.random.default_rng(2).integers(0, 256, (5, 1_500_000), np.uint8)
    with HttpServer({"/t.npy": npy(long)}) as server:
        for memory in ("2MiB", None):
            with opened(server, memory=memory) as table:
                assert (table[[4, 0, 4]] == long[[4, 0, 4]]).all()
                assert (table[2, 1_400_000:] == long[2, 1_400_000:]).all()


def test_most_of_a_file_is_read_in_parts():
    """Half of all rows, in any order: a few long requests, and each byte once."""
    wide = np.random.default_rng(3).integers(0, 256, (100_000, 64), np.uint8)
    with HttpServer({"/t.npy": npy(wide)}) as server, opened(server, cache=0) as table:
        ids = np.random.default_rng(4).permutation(100_000)[:50_000]
        table.reset_stats()
        assert (table[ids] == wide[ids]).all()
        remote = table.stats().remote
        assert remote.requests - remote.hedges <= 100 and remote.bytes_read <= wide.nbytes * 1.1 + remote.hedges * 2**20


def test_cache(server):
    with opened(server) as table:
        ids = ids_of(300)
        assert (table[ids] == TABLE[ids]).all()
        sent = table.stats().remote.requests  # a hedge may reach the server when its take is over
        assert (table[ids] == TABLE[ids]).all() and table.stats().remote.requests == sent
        assert table.stats().rows_cached >= 300


# ---- many at a time


def test_threads_share_the_connections(server):
    wrong = []
    with opened(server, cache=0) as table:

        def work(seed: int) -> None:
            for k in range(4):
                ids = ids_of(60, 10 * seed + k)
                if not (table[ids] == TABLE[ids]).all():
                    wrong.append(seed)

        together(work, range(6))
        assert not wrong and server.peak <= 4 and table.stats().remote.in_flight_peak <= 4


def test_jobs(server):
    with opened(server) as table:
        ids = [ids_of(200, seed) for seed in range(8)]
        jobs = [table.submit(one) for one in ids]
        for one, job in zip(ids, jobs, strict=True):
            assert (job.wait() == TABLE[one]).all()
        assert server.peak <= 4


def test_cancelled_jobs(server):
    """They do not wait for a server that does not answer."""
    with opened(server, remote={"timeout": 600}) as table:
        server.fault(faults.stall(30), path="/t.npy")
        job = table.submit(ids_of(100))
        time.sleep(0.2)
        begin = time.monotonic()
        job.cancel()
        refuses(libgather.GatherCancelledError, job.wait)
        assert time.monotonic() - begin < 10
        server.no_faults()
        ids = ids_of(20)
        assert (table[ids] == TABLE[ids]).all()


def test_interrupt(server):
    with opened(server, remote={"timeout": 600}) as table:
        server.fault(faults.stall(30), path="/t.npy")
        before, sent = server.requests, []

        def interrupt() -> None:
            while server.requests == before:  # else the signal might come before the take
                time.sleep(0.01)
            sent.append(time.monotonic())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        sender = threading.Thread(target=interrupt)
        with pytest.raises(KeyboardInterrupt):
            sender.start()
            table[ids_of(100)]
        assert time.monotonic() - sent[0] < 10
        sender.join()
        server.no_faults()
        assert (table[[3, 5]] == TABLE[[3, 5]]).all()


def test_fork_and_pickle(server):
    with opened(server) as table:
        ids = ids_of(50)
        assert (table[ids] == TABLE[ids]).all()
        child = os.fork()
        if child == 0:
            try:
                good = (table[ids_of(50, 9)] == TABLE[ids_of(50, 9)]).all() and (table[ids] == TABLE[ids]).all()
            except BaseException:  # noqa: BLE001
                good = False
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert (table[ids_of(50, 8)] == TABLE[ids_of(50, 8)]).all()
        with pickle.loads(pickle.dumps(table)) as again:
            assert again.path == table.path and (again[ids] == TABLE[ids]).all()


# ---- errors


def test_error_has_row_byte_status_and_url(server):
    """The URL without its query."""
    bad = 12_345
    offset = HEAD + bad * WIDTH
    server.fault(faults.status(404), when=lambda request: (request.first_last() or (0,))[0] == offset)
    url = server.url("/t.npy") + "?token=secret"
    with libgather.open(url, remote={**QUICK, "gap": 0}) as table:
        with pytest.raises(libgather.GatherFileError) as caught:
            table[[bad + 7000, bad, 2000]]
        error = caught.value
        assert error.row == bad and error.offset == offset
        assert "404" in str(error) and server.url("/t.npy") in str(error) and "secret" not in str(error)
        server.no_faults()
        assert (table[[bad]] == TABLE[[bad]]).all()


def test_indices_come_first(server):
    with opened(server) as table:
        requests = server.requests
        with pytest.raises(libgather.GatherIndexError):
            table[[2000, ROWS]]
        assert server.requests == requests
        assert (table.take([2000, ROWS], mode="clip") == TABLE[[2000, ROWS - 1]]).all()


def test_engines(server, tmp_path):
    for engine in ("mmap", "pread", "uring"):
        refuses(libgather.GatherValueError, opened, server, engine=engine, says="URLs are read by http")
    assert opened(server, engine="http").stats().engine == "http"
    np.save(tmp_path / "x.npy", TABLE[:4])
    refuses(libgather.GatherValueError, libgather.open, tmp_path / "x.npy", engine="http", says="engine http")
    assert libgather.info()["engines"]["http"] is None


def test_options(server, tmp_path):
    for wrong, kind in (({"conections": 4}, TypeError), ({"gap": "many"}, ValueError), ({"connections": 5000}, ValueError),
                        ({"timeout": -1}, ValueError), ({"cache_bytes": 4096}, ValueError), ({"region": 4}, TypeError),
                        (5, TypeError)):  # fmt: skip
        refuses(kind, libgather.open, server.url("/t.npy"), remote=wrong)
    np.save(tmp_path / "x.npy", TABLE[:4])
    refuses(ValueError, libgather.open, tmp_path / "x.npy", remote={}, says="no path is a URL")


def test_tokens_of_the_hub_stay_there(server, monkeypatch):
    """HF_TOKEN is sent to the hub alone; HF_ENDPOINT says which server that is."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with opened(server) as table:
        assert table.rows == ROWS
    assert all("authorization" not in {name.lower() for name in record.request.headers} for record in server.log)
    monkeypatch.setenv("HF_ENDPOINT", server.url("").rstrip("/"))
    with opened(server) as table:
        assert table.rows == ROWS
    assert "hf_secret" in str(server.log[-1].request.headers)


# ---- the command


def answer_of(gather, *words, code=0) -> dict:
    done = subprocess.run([gather, *words, "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_command(server, tmp_path, remote_build):
    out, url = tmp_path / "o.npy", server.url("/t.npy")
    answer = answer_of(remote_build, "take", url, "[2000, 3, 2000]", "-o", out, "--connections", "3", "--gap", "auto")
    assert (np.load(out) == TABLE[[2000, 3, 2000]]).all()
    assert answer["table"]["engine"] == "http" and answer["remote"]["requests"] == server.requests and server.peak <= 3
    text = subprocess.run([remote_build, "take", url, "2000", "-f", "-o", out, "--plan"], capture_output=True, text=True)
    assert "network: " in text.stderr and "(p50)" in text.stderr and "misses are read by http" in text.stdout


@pytest.mark.parametrize("words", [("--connections", "0"), ("--connections", "1025"), ("--gap", "much"), ("--timeout", "0"),
                                   ("--cache-bytes", "1G"), ("--cache", ""), ("--engine", "pread")])  # fmt: skip
def test_usage(server, tmp_path, remote_build, words):
    out = tmp_path / "o.npy"
    answer = answer_of(remote_build, "take", server.url("/t.npy"), "0", "-o", out, *words, code=2)
    assert answer["error"]["status"] == "usage" and not out.exists()


def test_bench(server, remote_build):
    answer = answer_of(remote_build, "bench", server.url("/t.npy"), "--rows", "50", "--connections", "4")
    assert answer["rows"] == 50 and answer["rows_per_second"] > 0 and answer["row_bytes"] == WIDTH
    assert answer["remote"]["requests"] > 0 and answer["remote"]["p50"] <= answer["remote"]["p99"]
    text = subprocess.run([remote_build, "bench", server.url("/t.npy"), "--rows", "20"], capture_output=True, text=True)
    assert "rows/s" in text.stdout and "network: " in text.stdout


# ---- Tables by URL in every format, row by row equal to the same file opened locally: every type of row, parts, tuples, decoded rows.

try:
    import libgather
except ImportError:
    libgather = None

COUNT = 301
@pytest.fixture
def served(tmp_path):
    with HttpServer(folder=tmp_path) as one:
        yield one


def some(shape, dtype="<f4", seed=1) -> np.ndarray:
    bits = np.random.default_rng(seed).integers(0, 256, (int(np.prod(shape)) * np.dtype(dtype).itemsize,), np.uint8)
    return bits.view(dtype).reshape(shape)


def bits(array) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.view(np.uint8) if array.dtype.itemsize else array


def compare(served: HttpServer, folder: Path, name: str, tensor: str = "", **options) -> None:
    """Both tables: properties, and rows by every way to take them."""
    suffix = f":{tensor}" if tensor else ""
    served.reset_counts()
    remote = {"connections": 8, "timeout": 30}
    with (libgather.open(f"{folder / name}{suffix}", **options) as here,
          libgather.open(f"{served.url('/' + name)}{suffix}", remote=remote, **options) as there):  # fmt: skip
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
        assert stats.remote.requests == served.requests and stats.remote.bytes_useful == stats.bytes_useful


@pytest.mark.parametrize("dtype", ["u1", "<f2", ">f4", "<f8", "<c16", "S5", "V7", "?", "<M8[s]"])
def test_npy(served, tmp_path, dtype):
    np.save(tmp_path / "x.npy", some((COUNT, 3, 2), dtype) if dtype != "?" else some((COUNT, 3, 2), "u1") > 99)
    compare(served, tmp_path, "x.npy")


def test_npy_of_rank_one_and_without_rows(served, tmp_path):
    np.save(tmp_path / "x.npy", some((COUNT,), "<i8"))
    compare(served, tmp_path, "x.npy")
    np.save(tmp_path / "none.npy", some((0, 4)))
    with libgather.open(served.url("/none.npy")) as table:
        assert table.shape == (0, 4) and table[[]].shape == (0, 4)
    np.save(tmp_path / "narrow.npy", some((5, 0)))
    with libgather.open(served.url("/narrow.npy")) as table:
        assert table.shape == (5, 0) and table[[1, 1]].shape == (2, 0)


def test_raw(served, tmp_path):
    (tmp_path / "x.raw").write_bytes(b"header!" + some((COUNT, 9), "<i2").tobytes() + b"rest")
    compare(served, tmp_path, "x.raw", dtype="<i2", shape=(-1, 9), offset=7)
    compare(served, tmp_path, "x.raw", dtype="<i2", shape=(100, 3, 3), offset=7)


def test_safetensors(served, tmp_path):
    tensors = {"a/b:0": part(some((COUNT, 7))), "second": part(some((40, 11), "u1"))}
    (tmp_path / "model.safetensors").write_bytes(safetensors(tensors))
    compare(served, tmp_path, "model.safetensors", "a/b:0")
    compare(served, tmp_path, "model.safetensors", "second")
    refuses(libgather.GatherNameError, libgather.open, served.url("/model.safetensors") + ":third")


def test_sharded_safetensors(served, tmp_path):
    for shard, name in (("one", "a"), ("two", "b")):
        (tmp_path / f"{shard}.safetensors").write_bytes(safetensors({name: part(some((COUNT, 5), seed=ord(name)))}))
    (tmp_path / "model.safetensors.index.json").write_text(
        '{"metadata": {"total_size": 12040}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}')  # fmt: skip
    for name in "ab":
        compare(served, tmp_path, "model.safetensors.index.json", name)


def test_npz(served, tmp_path):
    np.savez(tmp_path / "x.npz", a=some((COUNT, 6)), b=some((20, 3), "<i8"))
    compare(served, tmp_path, "x.npz", "a")
    compare(served, tmp_path, "x.npz", "b")


def test_gguf(served, tmp_path):
    name = b"tok.weight"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, len(name)) + name + struct.pack("<IQQIQ", 2, 8, COUNT, 0, 0)
    (tmp_path / "x.gguf").write_bytes(head + bytes(-len(head) % 32) + some((COUNT, 8)).tobytes())
    compare(served, tmp_path, "x.gguf", "tok.weight")


def test_arrow(served, tmp_path):
    try:
        import pyarrow as pa
    except ImportError:
        skip_test("pyarrow", "the package is not installed")
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(some((count * 4,), "<i4")), 4) for count in (100, 1, 200)]
    batches = [pa.record_batch([column], names=["emb"]) for column in lists]
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file, pa.ipc.new_file(file, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    compare(served, tmp_path, "x.arrow", "emb")


def test_onnx_external_data(served, tmp_path):
    onnx = pytest.importorskip("onnx")
    tensor = onnx.numpy_helper.from_array(some((COUNT, 6)), "table")
    model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [tensor]))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    compare(served, tmp_path, "m.onnx", "table")


def test_parts(served, tmp_path):
    """Several URLs are one table, whose connections are counted together."""
    arrays = [some((count, 5), seed=count) for count in (7, 300, 1)]
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
    with libgather.open([served.url(f"/{i}.npy") for i in range(3)], remote={"connections": 4}) as table:
        ids = np.random.default_rng(1).integers(0, 308, 250)
        assert (bits(table[ids]) == bits(np.concatenate(arrays)[ids])).all()
        assert [part.rows for part in table.parts] == [7, 300, 1] and served.peak <= 4
    refuses(libgather.GatherNotSupportedError, libgather.open, [served.url("/0.npy"), tmp_path / "1.npy"], says="all URLs or all local")


def test_tuples(served, tmp_path):
    array = some((50, 20, 30), "<i4")
    np.save(tmp_path / "x.npy", array)
    with libgather.open(served.url("/x.npy"), remote={"gap": 0}) as table:
        random = np.random.default_rng(2)
        i, j = random.integers(0, 50, 40), random.integers(0, 20, 40)
        table.reset_stats()
        assert (table[i, j] == array[i, j]).all()
        assert table.stats().remote.bytes_read <= 40 * 30 * 4  # only what they select
        assert (table.gather_nd(np.stack([i, j], -1)) == array[i, j]).all()


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_decoded(served, tmp_path, maker):
    """Quantised rows and the scales beside them; constants are downloaded."""
    stored = maker(np.random.default_rng(5))
    (tmp_path / "q.safetensors").write_bytes(safetensors(stored.tensors))
    options = {"decode_as": "float32", "codec": stored.given or None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(served, tmp_path, "q.safetensors", stored.name, **options)
        with libgather.open(f"{served.url('/q.safetensors')}:{stored.name}") as table:
            values = table.dequantize(codec=stored.given or None)
            assert (bits(values.take([1, 0])) == bits(stored.values[[1, 0]].astype(np.float32))).all()


def run(gather: Path, folder: Path, *words) -> np.ndarray:
    subprocess.run([gather, *words, "-f", "-o", folder / "o.npy"], check=True, capture_output=True, timeout=60)
    return np.load(folder / "o.npy")


def test_fortran_order(served, tmp_path, remote_build):
    """Rows are assembled from their elements."""
    array = np.asfortranarray(some((20, 30)))
    np.save(tmp_path / "f.npy", array)
    with libgather.open(served.url("/f.npy")) as table:
        assert (bits(table[[3, 1, 19]]) == bits(array[[3, 1, 19]])).all()
    assert (bits(run(remote_build, tmp_path, "take", served.url("/f.npy"), "[3, 1]")) == bits(array[[3, 1]])).all()


def test_command_by_axis_and_nd(served, tmp_path, remote_build):
    """What is not rows along axis 0 is downloaded; nd reads what the tuples select."""
    array = some((30, 4, 5), "<i4")
    np.save(tmp_path / "x.npy", array)
    take = partial(run, remote_build, tmp_path)
    url = served.url("/x.npy")
    assert (take("take", url, "[2, 0]", "--axis", "1") == array[:, [2, 0]]).all()
    assert (take("take", url, "[[2, 29]]") == array[[[2, 29]]]).all()
    assert (take("take", url, "[31, 2]", "--part", url) == np.concatenate([array, array])[[31, 2]]).all()
    assert (take("take", url, "[2]", "--memory", "4M") == array[[2]]).all()
    assert (take("nd", url, "[[2, 1], [29, 3]]") == array[[2, 29], [1, 3]]).all()
    with HttpServer(folder=tmp_path) as fresh:
        take("take", fresh.url("/x.npy"), "7")
        assert fresh.requests == 2 and fresh.connections == 1  # the header, and the row
