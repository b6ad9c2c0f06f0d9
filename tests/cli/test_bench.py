# SPDX-License-Identifier: MIT
"""`bench` measures a file and leaves it as it is. Its figures are the disk's; here they are there and fit together."""

import os
import re
import subprocess

import numpy as np
import pytest
from tables import MIB, TABLE_KEYS, forbid_uring, has_uring

WAYS = ["auto", "mmap", "pread", "uring"]


@pytest.fixture
def file(gather) -> str:
    """A table of 4 MiB in rows of 512 bytes."""
    return gather.save("x.npy", np.arange(MIB, dtype=np.uint32).reshape(-1, 128))


def rates_are_sane(rate: dict) -> None:
    assert 0 < rate["least"] <= rate["rows_per_second"] <= rate["most"]
    assert 0 <= rate["spread"] <= (rate["most"] - rate["least"]) / rate["rows_per_second"] / 2 * 1.001


def test_json(gather, file):
    before = os.stat(gather.folder / file)
    answer = gather.json("bench", file, "--rows", "64")
    assert answer["command"] == "bench" and answer["file"] == file and answer["format"] == "npy"
    assert (answer["type"], answer["shape"], answer["row_bytes"]) == ("uint32", [8192, 128], 512)
    assert answer["file_bytes"] == before.st_size and answer["block_bytes"] == 4096
    assert answer["rows"] == 64 and answer["rounds"] == 5 and answer["seed"] == 1 and answer["seconds"] > 0
    here = [way for way in WAYS if way != "uring" or has_uring(gather)]
    assert [way["way"] for way in answer["engines"]] == here
    assert [way["engine"] for way in answer["limits"]] == [way for way in ("uring", "pread") if way in here]
    assert [way["way"] for way in answer["plain"]] == ["plain mmap", "plain pread"]
    assert [way["depth"] for way in answer["depths"]] == [1, 8, 32, 128]
    for way in (*answer["engines"], *answer["plain"]):
        rates_are_sane(way["cold"])
        rates_are_sane(way["warm"])
    for way in (*answer["limits"], *answer["depths"]):
        rates_are_sane(way["cold"])
        assert "warm" not in way
    limit = max(way["cold"]["rows_per_second"] for way in answer["limits"])
    for way in answer["engines"]:
        assert {"engine", "direct", "depth", "why", "memory_peak", "bytes_read_per_useful"} <= set(way)
        blocks = way["cold"]["rows_per_second"] * way["blocks_per_row"]
        assert way["share_of_limit"] == pytest.approx(blocks / limit, rel=1e-4)
        assert 0.9 < way["blocks_per_row"] <= 1, "64 rows at random hardly share a block of eight"
    for way in answer["limits"]:
        rates_are_sane(way["before"])
        rates_are_sane(way["after"])
    assert answer["verdict"] in ("unknown", "noisy", "auto", "engine") and answer["why"]
    assert answer["noisy"] == (answer["verdict"] == "noisy") and (answer["verdict"] == "unknown") != answer["cold"]
    assert answer["best"] in answer["engines"]
    assert answer["best"]["share_of_limit"] == max(way["share_of_limit"] for way in answer["engines"])
    after = os.stat(gather.folder / file)
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert gather.names() == {file}


def test_cold_reads_come_from_the_disk(gather, file):
    """Rows of 512 bytes in blocks of 4096: those were read, unless the file system keeps the file in memory."""
    answer = gather.json("bench", file, "--rows", "64")
    if answer["cold"]:
        for way in answer["engines"]:
            assert way["bytes_read_per_useful"] >= 4
    else:
        assert answer["resident"] > 0.01 or answer["file_system"] in ("tmpfs", "ramfs")


def test_text(gather, file):
    answer = gather("bench", file, "--rows", "64")
    assert answer.code == 0 and answer.err == b""
    lines = answer.text.splitlines()
    assert lines[0].startswith("x.npy: npy uint32 [8192, 128], rows of 512 bytes, a file of 4.00")
    assert lines[1].startswith("direct I/O ") and "; read-ahead " in lines[1]
    assert lines[2] == "each figure: the median of 5 rounds of 64 random rows"
    for name in ("disk limit", "auto", "mmap", "pread", "plain mmap", "plain pread"):
        assert re.search(rf"^{name}", answer.text, re.MULTILINE), name
    depths = r"^\w+, cold rows/s by depth: 1: \d+, 8: \d+, 32: \d+, 128: \d+$"
    assert re.search(depths, answer.text, re.MULTILINE)
    assert re.search(r"^disk limit: \d+ blocks of 4.00 KiB/s before each round, \d+ after it$", answer.text, re.MULTILINE)
    noisy, fastest = "too noisy to compare the engines:\n" in answer.text, "is the fastest cold: " in answer.text
    assert noisy + fastest + ("The disk could not be measured" in answer.text) == 1
    assert "--engine" not in answer.text or fastest, "a noisy run recommends nothing"
    assert all(len(line) <= 80 for line in lines[1:]), "the first line has the file's name"


@pytest.mark.parametrize("engine", WAYS)
def test_one_engine(gather, file, engine):
    answer = gather.json("bench", file, "--rows", "40", "--engine", engine, "--depth", "4", "--memory", "8MiB")
    assert [way["way"] for way in answer["engines"]] == [engine] and answer["depths"] == []
    way = answer["engines"][0]
    assert way["depth"] <= 4 and way["memory_peak"] <= 8 * MIB


def test_raw_bytes_names_and_seeds(gather):
    gather.write("x.bin", bytes(3 + 400 * 24))
    words = ("x.bin", "--type", "int64", "--shape", "400x3", "--offset", "3", "--rows", "8", "--engine", "pread")
    answer = gather.json("bench", *words, "--seed", "5")
    assert (answer["format"], answer["row_bytes"], answer["seed"]) == ("raw", 24, 5)
    np.savez(gather.folder / "z.npz", a=np.zeros((9, 2)), b=np.zeros((100, 1500)))
    answer = gather.json("bench", "z.npz:b", "--rows", "8", "--engine", "mmap")
    assert (answer["row_bytes"], answer["block_bytes"]) == (12000, 12288)


def test_rows_that_share_blocks(gather):
    """200 rows of one block count as one block: the share of the disk's limit is not that of 200."""
    gather.write("x.bin", bytes(8192))
    answer = gather.json("bench", "x.bin", "--type", "uint8", "--shape", "200x20", "--rows", "200", "--engine", "pread")
    assert answer["engines"][0]["blocks_per_row"] == 1 / 200
    assert answer["verdict"] in ("nothing", "noisy", "unknown")


def test_rows_are_chosen(gather):
    """Without --rows: enough for a while, and no more than there are, be they short or long."""
    for shape in ((100, 512), (2, 1 << 20)):
        gather.save("x.npy", np.zeros(shape, np.uint8))
        answer = gather.json("bench", "x.npy", "--engine", "mmap", "--depth", "64")
        assert 4 <= answer["rows"] <= max(shape[0], 4)


def test_a_file_without_a_whole_block(gather):
    gather.write("x.bin", bytes(9))
    answer = gather.json("bench", "x.bin", "--type", "uint8", "--shape", "3x3", "--rows", "4")
    assert answer["limits"] == [] and all(way["share_of_limit"] == 0 for way in answer["engines"])
    assert gather("bench", "x.bin", "--type", "uint8", "--shape", "3x3", "--rows", "4").code == 0


def test_where_io_uring_is_forbidden(gather, file):
    probe = subprocess.run([gather.exe, "info", "--json"], capture_output=True, preexec_fn=forbid_uring)
    assert probe.returncode == 0 and b'"name":"uring","works":false' in probe.stdout
    answer = gather.json("bench", file, "--rows", "16", preexec_fn=forbid_uring)
    assert [way["way"] for way in answer["engines"]] == ["auto", "mmap", "pread"]
    assert [way["engine"] for way in answer["limits"]] == ["pread"]
    text = gather("bench", file, "--rows", "16", "--engine", "uring", preexec_fn=forbid_uring).text
    assert "uring is not available: " in text


def test_take_says_the_same_of_a_table(gather, file):
    """The keys of "table" are those that take promises."""
    assert set(gather.json("take", file, "0", "-o", "o.npy")["table"]) == TABLE_KEYS
