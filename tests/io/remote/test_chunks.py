# SPDX-License-Identifier: MIT
"""Tables in chunks by URL: rows of HDF5 files and zarr stores. Requests, bytes, how many are in flight at once, and what is said of servers
that fail in the middle."""
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import http_faults as faults
from support.http_server import HttpServer
from support.refusal import refuses
from support.skip import skip_test
from support.zarr_files import crc32c, described_2, described_3, put, write_2, write_3

try:
    import libgather
except ImportError:
    libgather = None

pytestmark = pytest.mark.usefixtures("remote_build")
QUICK = {"timeout": 20, "retries": 1}
SLOW = 0.25  # seconds of an answer, where requests in flight are counted: one after the other, they would be seen
RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _package():
    if libgather is None:
        skip_test("libgather", "the Python package is not built")


def opened(url: str, **options):
    return libgather.open(url, remote={**QUICK, **options.pop("remote", {})}, **options)


def numbers(rows: int, width: int) -> np.ndarray:
    return RANDOM.integers(0, 1 << 30, (rows, width)).astype(np.int32)


def suffix(request) -> bool:
    """Whether the last bytes of a file are asked for."""
    return request.headers.get("range", "").startswith("bytes=-")


def data_requests(server: HttpServer) -> list:
    return [record.request for record in list(server.log) if not record.request.path.endswith((".json", ".zarray", ".zmetadata"))]


def asked_twice(server: HttpServer) -> list[tuple[str, int]]:
    """Bytes of data that were asked for more than once: the path and the first of them."""
    found, seen = [], {}
    for request in data_requests(server):
        span = request.first_last()
        if span is not None:
            found += [(request.path, span[0]) for first, last in seen.get(request.path, []) if first <= span[1] and span[0] <= last]
            seen.setdefault(request.path, []).append(span)
    return found


# ---- stores of shards

SHARDS, CHUNKS, CHUNK, WIDTH = 32, 6, 8, 4096  # of the store, of a shard, rows of a chunk, elements of a row: chunks of 128 KiB


@pytest.fixture(scope="module")
def sharded(tmp_path_factory) -> tuple[Path, np.ndarray]:
    folder = tmp_path_factory.mktemp("sharded")
    array = numbers(SHARDS * CHUNKS * CHUNK, WIDTH)
    write_3(folder / "s.zarr", array, (CHUNK, WIDTH), (CHUNKS * CHUNK, WIDTH), "gzip")
    array.reshape(SHARDS, CHUNKS, CHUNK, WIDTH)[:, 1] = 0  # the second chunk of each shard is not stored
    return folder, array


@pytest.mark.parametrize("count", [64, 256])
def test_rows_of_shards(sharded, count) -> None:
    """The description, the indices of all shards at once, the rows: three round trips. Nothing is asked for twice, and of the shards only
    their indices and the chunks."""
    folder, array = sharded
    ids = np.random.default_rng(count).integers(0, len(array), count)
    chunks = np.unique(ids // CHUNK)
    stored, shards = int((chunks % CHUNKS != 1).sum()), len(np.unique(chunks // CHUNKS))
    with HttpServer(folder=folder) as server:
        server.fault(faults.delay(SLOW))
        with opened(server.url("/s.zarr")) as table:
            assert server.requests == 1
            assert np.array_equal(table[ids], array[ids])
            assert server.requests <= 1 + shards + stored and not asked_twice(server)
            arrived = [record.at for record in list(server.log) if suffix(record.request)]
            assert len(arrived) == shards and max(arrived) - min(arrived) < SLOW  # the last one before the first was answered
            assert server.slow_most >= min(stored, 24)
            longest = max(path.stat().st_size for path in folder.rglob("0")) // (CHUNKS - 1)
            assert server.body_bytes <= (stored + 1) * longest + shards * 256 + 4096
            server.reset_counts()
            assert np.array_equal(table[ids[:9]], array[ids[:9]])
            assert not any(map(suffix, data_requests(server))) and server.requests <= 9  # what was found is known


def test_long_chunks_and_little_memory(tmp_path) -> None:
    """Reads are as long as chunks, and as many as the memory has room for: not one for each thread."""
    array = numbers(96, 20_000)
    write_3(tmp_path / "s.zarr", array, (4, 20_000), (24, 20_000), "gzip")
    ids = np.array([row for row in range(0, 96, 4) if row // 4 % 6 != 1])
    with HttpServer(folder=tmp_path) as server, opened(server.url("/s.zarr"), memory=32 << 20) as table:
        assert np.array_equal(table[ids[::5]], array[ids[::5]])  # all indices are known
        server.fault(faults.delay(SLOW))
        server.reset_counts()
        assert np.array_equal(table[ids], array[ids])
        assert server.slow_most >= 8 and table.stats().memory_peak <= 32 << 20


TAILS = {
    "no last bytes: 416": [faults.status(416)],
    "no last bytes: 400": [faults.status(400)],
    "no last bytes: 501": [faults.status(501)],
    "the whole file": [faults.ignore_range()],
    "fewer bytes": [faults.content_range(shift=3)],
    "no size": [faults.no_total()],
    "a part of many": [faults.as_multipart()],
}


@pytest.mark.parametrize("fault", TAILS)
def test_servers_without_last_bytes(sharded, fault) -> None:
    """Which RFC 9110 allows: the first bytes are asked for, and then the index."""
    folder, array = sharded
    ids = np.arange(0, len(array), 100)
    with HttpServer(folder=folder) as server:
        rule = server.fault(*TAILS[fault], when=suffix)
        with opened(server.url("/s.zarr")) as table:
            assert np.array_equal(table[ids], array[ids])
        assert rule.fired == len(np.unique(ids // CHUNK // CHUNKS))
        assert server.requests <= 1 + 3 * rule.fired + len(ids)


def test_an_index_at_the_beginning(tmp_path) -> None:
    array = numbers(64, 8)
    write_3(tmp_path / "s.zarr", array, (2, 8), (8, 8), at_start=True)
    array.reshape(8, 4, 2, 8)[:, 1] = 0
    with HttpServer(folder=tmp_path) as server:
        with opened(server.url("/s.zarr")) as table:
            assert np.array_equal(table[np.arange(64)], array)
        assert not any(map(suffix, data_requests(server))) and server.requests <= 1 + 2 * 8


# ---- chunks in files of their own


@pytest.mark.parametrize(("width", "each"), [(16, 1), (3000, 1), (20_000, 2)])
def test_rows_of_chunks_in_files(tmp_path, width, each) -> None:
    """One request for each chunk, many at once; of a long one a second for what the first did not bring."""
    array, rows = numbers(400, width), 4
    write_2(tmp_path / "c.zarr", array, (rows, width), "zlib", left_out=(7,))
    array[7 * rows : 8 * rows] = 0
    ids = np.arange(len(array))[::rows]
    with HttpServer(folder=tmp_path) as server:
        server.fault(faults.delay(SLOW))
        with opened(server.url("/c.zarr")) as table:
            before = server.requests
            assert np.array_equal(table[ids], array[ids])
            assert server.requests - before == 1 + each * (len(ids) - 1) and not asked_twice(server)
            assert server.slow_most >= 40
            known = server.requests
            assert np.array_equal(table[ids[20:24]], array[ids[20:24]])  # what the first request brought is not kept
            assert server.requests - known <= 4


def test_rows_of_chunks_without_filters(tmp_path) -> None:
    """Of long chunks only the rows are read."""
    array = numbers(80, 8192)
    write_3(tmp_path / "c.zarr", array, (40, 8192))
    with HttpServer(folder=tmp_path) as server, opened(server.url("/c.zarr")) as table:
        ids = np.array([3, 79, 41])
        assert np.array_equal(table[ids], array[ids])
        assert server.body_bytes <= 3 * 8192 * 4 + 8192 and server.requests == 1 + 2 + 3


def test_servers_without_ranges(tmp_path) -> None:
    """A chunk is downloaded once for the take that wants it, and again for the next one: it is not kept."""
    array = numbers(40, 500)
    write_2(tmp_path / "c.zarr", array, (4, 500))
    write_3(tmp_path / "s.zarr", array, (4, 500), (20, 500))
    sharded = array.copy()
    sharded[4:8] = sharded[24:28] = 0
    with HttpServer(folder=tmp_path) as server:
        server.fault(faults.ignore_range())
        for name, wanted in (("c", array), ("s", sharded)):
            with opened(server.url(f"/{name}.zarr")) as table:
                for _ in range(2):
                    assert np.array_equal(table[np.arange(40)], wanted)


@pytest.mark.parametrize("kind", ["files", "shards"])
def test_blocks_on_disk(tmp_path, kind) -> None:
    """The second time an open is all that is requested of a file, and few bytes."""
    array = numbers(64, 4096)
    if kind == "files":
        write_2(tmp_path / "c.zarr", array, (4, 4096), "zlib")
    else:
        write_3(tmp_path / "c.zarr", array, (4, 4096), (16, 4096), "gzip")
        array.reshape(4, 4, 4, 4096)[:, 1] = 0
    ids = np.arange(0, 64, 4)
    with HttpServer(folder=tmp_path) as server:
        for again in (False, True):
            server.reset_counts()
            with opened(server.url("/c.zarr"), remote={"cache": str(tmp_path / "cache")}) as table:
                assert np.array_equal(table[ids], array[ids])
                assert (table.stats().remote.cache_hits > 0) == again
            if again:
                assert len(data_requests(server)) == (16 if kind == "files" else 4) and server.body_bytes <= 16 * 512 + 8192


def test_memory(tmp_path) -> None:
    """What finding chunks brings counts: a low limit makes fewer requests at once, and the rows are the same."""
    array = numbers(600, 8192)
    write_2(tmp_path / "c.zarr", array, (2, 8192), "zlib")
    ids = np.arange(0, 600, 2)
    with HttpServer(folder=tmp_path) as server, opened(server.url("/c.zarr"), memory=4 << 20) as table:
        assert np.array_equal(table[ids], array[ids])
        assert table.stats().memory_peak <= 4 << 20 and table.stats().memory_peak > 1 << 18


@pytest.mark.parametrize("rest", [(), (57,)])
def test_failures_keep_nothing(tmp_path, rest) -> None:
    """What was brought for a chunk that a failed take did not read is asked for again: it was not kept beside the memory limit."""
    array = numbers(64, 16)
    write_2(tmp_path / "c.zarr", array, (4, 16), "zlib")
    with HttpServer(folder=tmp_path) as server, opened(server.url("/c.zarr")) as table:
        server.fault(faults.delay(SLOW), faults.status(403), path="/c.zarr/14.0")
        refuses(libgather.errors.GatherFileError, table.take, np.array([1, *rest, 56]), says="status 403")
        server.no_faults()
        before = server.requests
        assert np.array_equal(table[[1]], array[[1]]) and server.requests == before + 1


def test_failures_again_and_again(tmp_path) -> None:
    """A program that tries until the server is well: what it looked for is in memory once."""
    shard, tries = 1 << 16, 64  # chunks in a shard, whose index has 1 MiB
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    inside = {"chunk_shape": [1], "codecs": [little], "index_codecs": [little, {"name": "crc32c"}]}
    described = described_3(np.zeros(shard, np.int16), [shard], [{"name": "sharding_indexed", "configuration": inside}])
    put(tmp_path / "s.zarr", "zarr.json", described)
    with HttpServer(folder=tmp_path) as server, opened(server.url("/s.zarr")) as table:
        rule = server.fault(faults.status(403), path="/s.zarr/c/0")
        sizes = []
        for _ in range(tries):
            refuses(libgather.errors.GatherFileError, table.take, np.array([1]), says="status 403")
            sizes.append(int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096)
        assert rule.fired == tries and sizes[-1] - sizes[tries // 4] < 16 << 20, sizes


def test_chunks_of_no_bytes(tmp_path) -> None:
    """They are corrupt, whoever reads them: no request is made for nothing, and no rows are made of nothing."""
    array = numbers(64, 8)
    write_2(tmp_path / "c.zarr", array, (4, 8), "zlib")
    write_3(tmp_path / "s.zarr", array, (4, 8), (16, 8), "gzip")
    (tmp_path / "c.zarr" / "5.0").write_bytes(b"")
    shard = bytearray((tmp_path / "s.zarr/c/1/0").read_bytes())
    shard[-60:-52] = bytes(8)  # how long its first chunk is
    shard[-4:] = crc32c(shard[-68:-4]).to_bytes(4, "little")
    (tmp_path / "s.zarr/c/1/0").write_bytes(shard)
    with HttpServer(folder=tmp_path) as server:
        for name, (first, last) in {"c": (20, 23), "s": (16, 19)}.items():
            says = f"the chunk of rows {first} to {last} .*is corrupt"
            for where in (server.url(f"/{name}.zarr"), tmp_path / f"{name}.zarr"):
                with libgather.open(where) as table:
                    refuses(libgather.errors.GatherFileFormatError, table.take, np.arange(64), says=says)
                    assert np.array_equal(table[[60]], array[[60]])
                done = subprocess.run([os.environ["GATHER_EXE"], "take", where, "[0]", "--axis", "1", "-o", tmp_path / "o.npy"], text=True,
                                      capture_output=True, check=False)
                assert done.returncode != 0 and re.search(says, done.stderr), done


# ---- HDF5


@pytest.fixture(scope="module")
def hdf5(tmp_path_factory) -> tuple[Path, np.ndarray]:
    h5py = pytest.importorskip("h5py")
    folder = tmp_path_factory.mktemp("hdf5")
    array = numbers(4000, 2048)
    with h5py.File(folder / "f.h5", "w", libver="latest") as file:
        file.create_dataset("x", data=array, chunks=(10, 2048), maxshape=(None, 2048), compression="gzip", compression_opts=1)
    return folder, array


def test_rows_of_hdf5(hdf5) -> None:
    """The file and its index are a few requests; then a request for each chunk, all at once."""
    folder, array = hdf5
    ids = np.arange(100, 4000, 100)
    with HttpServer(folder=folder) as server:
        server.fault(faults.delay(SLOW))
        with opened(server.url("/f.h5") + ":x") as table:
            first, first_bytes = server.requests, server.body_bytes
            assert first <= 10 and first_bytes <= 1 << 20
            assert np.array_equal(table[ids], array[ids])
            assert server.requests - first <= len(ids) and server.slow_most >= 30
            assert server.body_bytes - first_bytes <= len(ids) * 10 * 2048 * 4 * 1.01


# ---- errors

CHANGED = faults.other_version(bytes(1 << 20))


def not_first(request) -> bool:
    return request.count > 0


ERRORS = {
    "hdf5: 404": ("h", faults.status(404), not_first, "io_error|file_not_found", "status 404"),
    "hdf5: cut": ("h", faults.cut(1), not_first, "io_error", "the answer ended after"),
    "hdf5: changed": ("h", faults.etag('"v2"'), not_first, "io_error", "the file changed while it was read"),
    "shards: 403": ("s", faults.status(403), suffix, "io_error", "status 403.*if the chunk was never written"),
    "shards: 500": ("s", faults.status(500), suffix, "io_error", "status 500"),
    "shards: a damaged index": ("s", faults.length(0), None, "file_malformed", "the index of the shard is corrupt"),
    "shards: rows 404": ("s", faults.status(404), not_first, "io_error|file_not_found", "status 404"),
    "shards: rows cut": ("s", faults.cut(1), not_first, "io_error", "the answer ended after"),
    "shards: changed": ("s", faults.etag('"v2"'), not_first, "io_error", "the file changed while it was read"),
    "chunks: 403": ("c", faults.status(403), None, "io_error", "status 403.*if the chunk was never written"),
    "chunks: cut": ("c", faults.cut(9), None, "io_error", "the answer ended after"),
    "chunks: rest 404": ("l", faults.status(404), not_first, "io_error|file_not_found", "status 404"),
    "chunks: rest changed": ("l", CHANGED, not_first, "io_error", "the file changed while it was read"),
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory, hdf5) -> tuple[Path, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("stores")
    rows = numbers(64, 40_000)
    arrays = {"s": rows[:, :16], "c": rows[:, :16], "l": rows, "h": hdf5[1]}
    write_3(folder / "s.zarr", arrays["s"], (4, 16), (16, 16))
    write_2(folder / "c.zarr", arrays["c"], (4, 16), "zlib", dimension_separator="/")
    write_2(folder / "l.zarr", arrays["l"], (4, 40_000), "zlib", dimension_separator="/")
    (folder / "f.h5").symlink_to(hdf5[0] / "f.h5")
    return folder, arrays


# Which file has a row, and which rows its chunk has.
FILES = {"h": (3456, "/f.h5", (3450, 3459)), "s": (57, "/s.zarr/c/3/0", (56, 59)), "c": (57, "/c.zarr/14/0", (56, 59)),
         "l": (57, "/l.zarr/14/0", (56, 59))}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_chunk(stores, name) -> None:
    """The URL, the rows of the chunk, and the row that was wanted. When the server is well again, so is the table."""
    folder, arrays = stores
    which, fault, when, status, says = ERRORS[name]
    row, path, (first, last) = FILES[which]
    url = "/f.h5" if which == "h" else f"/{which}.zarr"
    with HttpServer(folder=folder) as server:
        with opened(server.url(url) + (":x" if which == "h" else "")) as table:
            if "damaged" in name:
                data = bytearray((folder / path[1:]).read_bytes())
                data[-9] ^= 1
                server.put(path, bytes(data))
            else:
                server.fault(fault, path=path, when=when)
            error = refuses(libgather.errors.GatherFileError, table.take, np.array([row]), says=says)
            assert re.fullmatch(status, error.status) and server.url(path) in str(error), error
            assert f"chunk of rows {first} to {last}" in str(error) and f"(row {row} of the table)" in str(error), error
            server.no_faults()
            server.files.clear()
            if "changed" not in name:
                assert np.array_equal(table[[row]], arrays[which][[row]])


def test_the_row_is_one_of_the_chunk(stores) -> None:
    """Of many files that are looked for together."""
    folder, _ = stores
    with HttpServer(folder=folder) as server, opened(server.url("/c.zarr")) as table:
        server.fault(faults.status(403), path="/c.zarr/14/0")
        error = refuses(libgather.errors.GatherFileError, table.take, np.arange(63, -1, -1), says="status 403")
        assert error.row in range(56, 60) and "chunk of rows 56 to 59" in str(error), error


# ---- names that are refused where nothing may be listed


def test_a_refused_name_may_be_missing(tmp_path) -> None:
    """As S3 answers 403 for what there is not: a store of version 2 is found behind the description of version 3."""
    array = numbers(8, 4)
    write_2(tmp_path / "c.zarr", array, (4, 4))
    put(tmp_path / "c.zarr", ".zmetadata", {"zarr_consolidated_format": 1, "metadata": {".zarray": described_2(array, (4, 4))}})
    with HttpServer(folder=tmp_path) as server:
        server.fault(faults.status(403), when=lambda request: server.find(request.path) is None)
        with opened(server.url("/c.zarr")) as table:
            assert np.array_equal(table[[5, 0]], array[[5, 0]])
        (tmp_path / "c.zarr" / ".zmetadata").unlink()
        with opened(server.url("/c.zarr")) as table:
            assert np.array_equal(table[[5, 0]], array[[5, 0]])
        (tmp_path / "c.zarr" / ".zarray").unlink()
        error = refuses(libgather.errors.GatherFileError, opened, server.url("/c.zarr"), says="status 403")
        assert error.errno == 13 and "zarr.json" in str(error)
