# SPDX-License-Identifier: MIT
"""--cache: blocks on disk between runs of the command. tests/io/remote_s3/test_block_cache.c tests the file itself."""
import ctypes
import json
import os
import signal
import subprocess
from pathlib import Path

import numpy
import pytest
from conftest import Gather
from support.numpy_files import npy
from support.s3_server import S3Server
from support.skip import skip_test
from support.threads import together

ROWS = 100000
TABLE = numpy.arange(ROWS * 32, dtype="f4").reshape(ROWS, 32)
DATA = npy(TABLE)
IDS = numpy.random.default_rng(5).integers(0, ROWS, 400).tolist()
MIB = 1 << 20
ROOM = ("--cache-bytes", "256MiB")  # for all blocks, whatever sets they belong to


def cache_of(gather: Gather) -> Path:
    return gather.folder / "cache"


def take(gather: Gather, *words: str, ids=IDS, key: str = "t.npy", table=TABLE) -> dict:
    size = () if "--cache-bytes" in words else ("--cache-bytes", "32MiB")  # the file is sparse, but tests read all of it
    rows, remote = gather.take(f"s3://bucket/{key}", ids, "--cache", str(cache_of(gather)), *words, *size)
    assert numpy.array_equal(rows, table[ids])
    return remote


def bytes_of(ranged: str) -> int:
    """Of "bytes=100-199"."""
    first, last = ranged.removeprefix("bytes=").split("-")
    return int(last) - int(first) + 1


def test_hits_cost_no_request(gather: Gather) -> None:
    """Except one, at the open: the server says which version it has, and whether it may be read."""
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        first = take(gather, *ROOM)
        assert first["cache_stored"] > 100 and first["cache_failures"] == 0 and "cache_why" not in first
        # Whole blocks, each at most once; a busy machine is a slow server, which is asked a second time for the same range.
        ranges = {request.headers["range"] for request in server.requests}
        assert first["requests"] - first["hedges"] <= len(ranges)
        assert sum(bytes_of(ranged) for ranged in ranges) <= len(DATA) + 2 * 65536
        second = take(gather, *ROOM)
        assert second["requests"] == 1 and second["cache_hits"] > 100
        assert second["bytes_read"] == 65536
        files = list(cache_of(gather).iterdir())
        assert [file.name for file in files] == ["gather-blocks"] and files[0].stat().st_mode & 0o777 == 0o600
        assert b"bucket" not in files[0].read_bytes()


def test_another_version(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        take(gather, *ROOM)
        server.buckets["bucket"]["t.npy"] = npy(-TABLE)
        assert take(gather, *ROOM, table=-TABLE)["requests"] > 50
        server.buckets["bucket"]["t.npy"] = DATA
        assert take(gather, *ROOM)["requests"] == 1


def test_weak_versions_are_not_kept(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}, etags={"bucket/t.npy": 'W/"1"'}) as server:
        gather.s3(server)
        assert take(gather)["cache_stored"] == 0
        assert take(gather)["requests"] > 50


def test_one_name_two_endpoints(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}, etags={"bucket/t.npy": '"1"'}) as server:
        with S3Server({"bucket": {"t.npy": npy(-TABLE)}}, etags={"bucket/t.npy": '"1"'}) as other:
            take(gather.s3(server))
            take(gather.s3(other), table=-TABLE)


def test_ceiling(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA, "u.npy": npy(-TABLE)}}) as server:
        gather.s3(server)
        for _ in range(2):
            take(gather, "--cache-bytes", "4MiB")
            take(gather, "--cache-bytes", "4MiB", key="u.npy", table=-TABLE)
        file = cache_of(gather) / "gather-blocks"
        assert file.stat().st_size <= 4 * MIB
        error = gather.fail("take", "s3://bucket/t.npy", "0", "-o", "x.npy", "--cache", str(cache_of(gather)), "--cache-bytes", "1MiB")
        assert error["status"] == "usage"


def test_damage(gather: Gather) -> None:
    """Whatever is wrong with the file, the rows are right."""
    random = numpy.random.default_rng(6)
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        take(gather)
        file = cache_of(gather) / "gather-blocks"
        good = file.read_bytes()
        for _ in range(6):
            bad = bytearray(good)
            for at in random.integers(0, len(bad), 10000):
                bad[at] ^= 1 << int(random.integers(0, 8))
            file.write_bytes(bad)
            take(gather)
        for size in (0, 1, 4096, 5000, len(good) // 2, len(good) - 1):
            file.write_bytes(good[:size])
            take(gather)
        file.write_bytes(b"\0" * len(good))
        take(gather)


def test_two_processes(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA, "u.npy": npy(-TABLE)}}) as server:
        gather.s3(server)
        failures = []

        def work(number: int) -> None:
            url = f"s3://bucket/{'tu'[number % 2]}.npy"
            for turn in range(4):
                output = gather.folder / f"{number}.npy"
                done = gather.run("take", url, str(IDS), "-o", output, "-f", "--cache", cache_of(gather), "--cache-bytes", "6MiB")
                if done.returncode or not numpy.array_equal(numpy.load(output), (TABLE if number % 2 == 0 else -TABLE)[IDS]):
                    failures.append((number, turn, done.stderr))

        together(work, range(3))
        assert failures == []
        assert (cache_of(gather) / "gather-blocks").stat().st_size <= 6 * MIB


def test_killed_while_writing(gather: Gather) -> None:
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        for turn in range(8):
            (gather.folder / "cache/gather-blocks").unlink(missing_ok=True)
            command = [gather.exe, "take", "s3://bucket/t.npy", str(IDS), "-o", gather.folder / "k.npy", "-f", "--cache", cache_of(gather)]
            process = subprocess.Popen(command, env=gather.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(0.03 * (turn + 1))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait(30)
            take(gather)


def test_full_disk(gather: Gather) -> None:
    """A file system of 3 MiB, in a name space of the test's own."""
    if os.geteuid() != 0:
        skip_test("root", "mounting a small file system needs the superuser")
    cache = cache_of(gather)
    cache.mkdir()
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        output = gather.folder / "full.npy"
        libc = ctypes.CDLL(None, use_errno=True)

        def own_disk() -> None:
            if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, 0x44000, None):
                os._exit(77)
            if libc.mount(b"tmpfs", os.fsencode(cache), b"tmpfs", 0, b"size=3m,mode=0700"):
                os._exit(77)

        command = [gather.exe, "take", "s3://bucket/t.npy", str(IDS), "-o", output, "-f", "--json", "--cache", cache]
        done = subprocess.run(command, env=gather.env, capture_output=True, text=True, preexec_fn=own_disk, timeout=60)
        if done.returncode == 77:
            skip_test("mount", "this machine permits no name space of mounts")
        assert done.returncode == 0, done.stdout + done.stderr
        assert numpy.array_equal(numpy.load(output), TABLE[IDS])
        remote = json.loads(done.stdout)["remote"]
        assert remote["cache_why"] == "cannot write to the cache: No space left on device"
        assert remote["cache_stored"] > 10 and remote["cache_failures"] > 10


@pytest.mark.parametrize("how", ["a file", "no parent", "a link", "others write"])
def test_folders_that_cannot_be_used(gather: Gather, how: str) -> None:
    cache = cache_of(gather)
    precious = gather.folder / "precious"
    precious.write_bytes(b"precious")
    if how == "a file":
        cache.write_bytes(b"")
    elif how == "a link":
        cache.mkdir(mode=0o700)
        (cache / "gather-blocks").symlink_to(precious)
    elif how == "others write":
        cache.mkdir()
        cache.chmod(0o777)
    with S3Server({"bucket": {"t.npy": DATA}}) as server:
        gather.s3(server)
        path = cache / "deep" if how == "no parent" else cache
        rows, remote = gather.take("s3://bucket/t.npy", IDS, "--cache", str(path))
        assert numpy.array_equal(rows, TABLE[IDS])
        assert remote["cache_why"] and remote["cache_stored"] == 0
    assert precious.read_bytes() == b"precious"
