# SPDX-License-Identifier: MIT
"""Who takes rows of a file on a server, each as it does it best with at most `connections` connections. All are told
the URL, the numbers of the rows and their length; where the rows begin is in the header of the file, which takes each of them a request
(not of zarr, whose layout tells it). With --told they know, and only libgather reads the header."""

from __future__ import annotations

import asyncio
import http.client
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable
from urllib.parse import urlsplit

import numpy as np

OURS, PEER = "ours", "peer"
HEAD_BYTES = 4096  # of a .npy: more than its header


@dataclass
class Job:
    """One take, as the child is told it."""

    url: str  # of the .npy
    chunks: str  # of the same rows as a zarr array
    head: int | None  # bytes before the first row; None: it is not told, and read from the file
    row_bytes: int
    ids: np.ndarray
    connections: int

    def learn(self, read: Callable[[int, int], bytes]) -> None:
        """Where the rows begin, by read(start, bytes) of the first bytes of the file, unless it was told."""
        if self.head is None:
            first = bytes(read(0, HEAD_BYTES))
            assert first.startswith(b"\x93NUMPY")
            self.head = 10 + int.from_bytes(first[8:10], "little")

    def starts(self) -> list[int]:
        return (self.head + self.ids * self.row_bytes).tolist()

    def rows(self, parts) -> np.ndarray:
        """Rows from their bytes, in the order of the ids."""
        out = np.empty((len(self.ids), self.row_bytes // 8), np.uint64)
        for i, part in enumerate(parts):
            out[i] = np.frombuffer(part, np.uint64)
        return out

    def split(self) -> tuple[str, str]:
        """The server's address, and the path."""
        scheme, _, rest = self.url.partition("://")
        host, _, path = rest.partition("/")
        return f"{scheme}://{host}", path


@dataclass
class Way:
    name: str
    take: Callable[[Job], np.ndarray]
    package: str  # whose version is told
    kind: str = PEER
    most: int | None = None  # rows it is given at most; its time is then that of so many
    how: str = ""  # for the page


# ---- libgather


def ours(job: Job) -> np.ndarray:
    import libgather

    with libgather.open(job.url, remote={"connections": job.connections}) as table:
        return np.asarray(table.take(job.ids))


def our_command(job: Job) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/ids.npy", job.ids)
        words = [os.environ["GATHER_EXE"], "take", job.url, f"{folder}/ids.npy", "-o", f"{folder}/rows.npy", "-q",
                 "--connections", str(job.connections)]  # fmt: skip
        subprocess.run(words, check=True, capture_output=True)
        return np.load(f"{folder}/rows.npy")


# ---- fsspec


def fsspec_ranges(gap: int | None):
    def take(job: Job) -> np.ndarray:
        import aiohttp
        import fsspec

        async def session(**given):
            return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=job.connections), **given)

        files = fsspec.filesystem("http", get_client=session, skip_instance_cache=True)
        job.learn(lambda start, count: files.cat_file(job.url, start=start, end=start + count))
        starts = job.starts()
        ends = [start + job.row_bytes for start in starts]
        if gap is None:
            return job.rows(files.cat_ranges([job.url] * len(starts), starts, ends, batch_size=-1, on_error="raise"))
        return joined(files, job, starts, ends, gap)

    return take


def joined(files, job: Job, starts: list[int], ends: list[int], gap: int) -> np.ndarray:
    """cat_ranges(max_gap=...) is not implemented for HTTP: fsspec's own merging, and its cut by hand."""
    from fsspec.utils import merge_offset_ranges

    paths, begins, stops = merge_offset_ranges([job.url] * len(starts), list(starts), list(ends), max_gap=gap, sort=True)
    parts = files.cat_ranges(paths, begins, stops, batch_size=-1, on_error="raise")
    found = np.searchsorted(begins, starts, "right") - 1
    places = [start - begins[i] for start, i in zip(starts, found, strict=True)]
    return job.rows(parts[i][at : at + job.row_bytes] for i, at in zip(found, places, strict=True))


# ---- obstore


def obstore_ranges(coalesce: int | None):
    def take(job: Job) -> np.ndarray:
        import obstore
        from obstore.store import HTTPStore

        base, path = job.split()
        store = HTTPStore.from_url(base, client_options={"allow_http": True})
        job.learn(lambda start, count: obstore.get_range(store, path, start=start, length=count))
        more = {} if coalesce is None else {"coalesce": coalesce}
        lengths = [job.row_bytes] * len(job.ids)
        return job.rows(obstore.get_ranges(store, path, starts=job.starts(), lengths=lengths, **more))

    return take


def obstore_async(job: Job) -> np.ndarray:
    """One range a request, as many at a time as there may be connections."""
    import obstore
    from obstore.store import HTTPStore

    base, path = job.split()
    store = HTTPStore.from_url(base, client_options={"allow_http": True})

    job.learn(lambda start, count: obstore.get_range(store, path, start=start, length=count))

    async def all_of_them():
        slots = asyncio.Semaphore(job.connections)

        async def one(start: int):
            async with slots:
                return await obstore.get_range_async(store, path, start=start, length=job.row_bytes)

        return await asyncio.gather(*(one(start) for start in job.starts()))

    return job.rows(asyncio.run(all_of_them()))


# ---- zarr


def zarr_selection(job: Job) -> np.ndarray:
    import zarr
    from obstore.store import HTTPStore
    from zarr.storage import ObjectStore

    zarr.config.set({"async.concurrency": job.connections, "threading.max_workers": 4})
    store = ObjectStore(HTTPStore.from_url(job.chunks, client_options={"allow_http": True}), read_only=True)
    return zarr.open_array(store, mode="r", zarr_format=3).oindex[job.ids]


# ---- pyarrow


def pyarrow_s3(job: Job) -> np.ndarray:
    """One file, read_at from many threads: Arrow's own pool as large as there may be connections."""
    import pyarrow as pa
    from pyarrow import fs

    base, path = job.split()
    pa.set_io_thread_count(job.connections)
    bucket = fs.S3FileSystem(anonymous=True, endpoint_override=base.partition("://")[2], scheme="http", region="us-east-1",
                             force_virtual_addressing=False)  # fmt: skip
    with bucket.open_input_file(path) as file, ThreadPoolExecutor(job.connections) as pool:
        job.learn(lambda start, count: file.read_at(count, start))
        return job.rows(pool.map(lambda start: file.read_at(job.row_bytes, start), job.starts()))


# ---- curl and requests


def curl_parallel(job: Job) -> np.ndarray:
    """The command with a file of options; the rows are read back from the files that it writes."""
    job.learn(lambda start, count: subprocess.run(["curl", "--silent", "--fail", "--range", f"{start}-{start + count - 1}", job.url],
                                                  check=True, capture_output=True).stdout)  # fmt: skip
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        lines = []
        for i, start in enumerate(job.starts()):
            lines.append(f'url = "{job.url}"\nrange = {start}-{start + job.row_bytes - 1}\noutput = "{folder}/{i}"\nnext\n')
        Path(folder, "options").write_text("".join(lines).removesuffix("next\n"))
        subprocess.run(["curl", "--silent", "--fail-early", "--parallel", "--parallel-immediate", "--parallel-max",
                        str(job.connections), "--config", f"{folder}/options"], check=True, capture_output=True)  # fmt: skip
        return job.rows(Path(folder, str(i)).read_bytes() for i in range(len(job.ids)))


def requests_loop(job: Job) -> np.ndarray:
    import requests

    with requests.Session() as session:
        job.learn(lambda start, count: requests_get(session, job, start, count))
        return job.rows(requests_get(session, job, start, job.row_bytes) for start in job.starts())


def requests_get(session, job: Job, start: int, count: int) -> bytes:
    answer = session.get(job.url, headers={"Range": f"bytes={start}-{start + count - 1}"}, timeout=60)
    answer.raise_for_status()
    return answer.content


def requests_threads(job: Job) -> np.ndarray:
    import requests
    from requests.adapters import HTTPAdapter

    with requests.Session() as session, ThreadPoolExecutor(job.connections) as pool:
        session.mount("http://", HTTPAdapter(pool_maxsize=job.connections, pool_block=True))
        job.learn(lambda start, count: requests_get(session, job, start, count))
        return job.rows(pool.map(lambda start: requests_get(session, job, start, job.row_bytes), job.starts()))


def http_threads(job: Job) -> np.ndarray:
    """Python's own client: a connection for each thread."""
    own, host = threading.local(), urlsplit(job.url)

    def get(start: int, count: int) -> bytes:
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection(host.hostname, host.port, timeout=60)
        own.connection.request("GET", host.path, headers={"Range": f"bytes={start}-{start + count - 1}"})
        answer = own.connection.getresponse()
        assert answer.status == 206
        return answer.read()

    with ThreadPoolExecutor(job.connections) as pool:
        job.learn(lambda start, count: pool.submit(get, start, count).result())
        return job.rows(pool.map(lambda start: get(start, job.row_bytes), job.starts()))


WAYS = [
    Way("libgather", ours, "", OURS, how="`libgather.open(url).take(ids)`"),
    Way("gather", our_command, "", OURS, how="`gather take URL ids.npy -o rows.npy`, with the start of the process and its files"),
    Way("fsspec", fsspec_ranges(None), "fsspec", how="`cat_ranges`, all ranges in one batch; by default nothing is joined"),
    Way("fsspec 64 KiB", fsspec_ranges(65536), "fsspec", how="the same, after `merge_offset_ranges(max_gap=65536)`"),
    Way("obstore", obstore_ranges(None), "obstore", how="`get_ranges` with its defaults: 1 MiB gaps, 10 requests at a time"),
    Way("obstore no gap", obstore_ranges(0), "obstore", how="`get_ranges(coalesce=0)`"),
    Way("obstore async", obstore_async, "obstore", how="`get_range_async`, one per row, as many at a time as connections"),
    Way("zarr", zarr_selection, "zarr", how="the same rows as an array of uncompressed chunks of 64 rows on the same server; `oindex`, "
        "store by obstore"),
    Way("pyarrow S3", pyarrow_s3, "pyarrow", how="`S3FileSystem` without signatures, path style; `read_at` from as many threads as connections"),
    Way("curl", curl_parallel, "", how="`curl --parallel --config`, an option `range` per row; the rows are read back from its files"),
    Way("requests threads", requests_threads, "requests", how="`Session.get` with Range, from as many threads as connections"),
    Way("http.client threads", http_threads, "", how="Python's `http.client`, one request a row, from as many threads as connections"),
    Way("requests loop", requests_loop, "requests", most=50, how="`Session.get` with Range, one row after another; 50 rows, scaled"),
]  # fmt: skip


def versions() -> dict[str, str]:
    found = {}
    for package in ("numpy", "fsspec", "aiohttp", "obstore", "zarr", "pyarrow", "requests"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    if shutil.which("curl"):
        found["curl"] = subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout.split()[1]
    return found


def absent(way: Way) -> str:
    """Why a way cannot be measured here; "" if it can."""
    if way.name == "curl":
        return "" if shutil.which("curl") else "the command curl is not installed"
    if not way.package:
        return ""
    try:
        importlib.metadata.version(way.package)
        return ""
    except importlib.metadata.PackageNotFoundError:
        return f"the package {way.package} is not installed"
