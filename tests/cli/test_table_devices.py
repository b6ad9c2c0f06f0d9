# SPDX-License-Identifier: MIT
"""A table on two file systems: what each did is in the answers of `take` and `bench`."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from support.skip import skip_test
from tables import has_uring, make_cold

RNG = np.random.default_rng(23)
ROWS, WIDTH = 4000, 1024


@pytest.fixture
def other(gather):
    """A folder on another file system."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == os.stat(gather.folder).st_dev or not os.access(shared, os.W_OK):
        skip_test("two file systems", "/dev/shm is not another file system that can be written")
    with tempfile.TemporaryDirectory(dir=shared, prefix="gather-test-") as folder:
        yield Path(folder)


@pytest.fixture
def parts(gather, other):
    """Two parts here, and one there between them."""
    data = RNG.integers(0, 256, (3, ROWS, WIDTH), np.uint8)
    for part, folder in enumerate((gather.folder, other, gather.folder)):
        np.save(folder / f"p{part}.npy", data[part])
        make_cold(folder / f"p{part}.npy")
    return data.reshape(-1, WIDTH), ("p0.npy", "--part", str(other / "p1.npy"), "--part", "p2.npy")


@pytest.mark.parametrize("memory", [(), ("--memory", "8MiB")])
@pytest.mark.parametrize("engine", ["pread", "uring", "mmap"])
def test_devices_of_a_take(gather, parts, engine, memory):
    if engine == "uring" and not has_uring(gather):
        skip_test("io_uring", "not to be had here")
    data, (first, *more) = parts
    ids = RNG.permutation(3 * ROWS)[:900]
    gather.save("i.npy", ids)
    line = ("take", first, "i.npy", *more, "-o", "o.npy", "-f", "--engine", engine, "--depth", 16, *memory)
    table = gather.json(*line)["table"]
    assert np.array_equal(gather.load("o.npy"), data[ids])
    here, there = table["devices"]
    assert (here["file"], here["files"], there["files"]) == ("p0.npy", 2, 1) and there["file"].endswith("/p1.npy")
    for key in ("reads", "bytes_read"):
        assert here[key] + there[key] == table[key]
    if engine == "mmap":
        return
    assert here["reads"] > there["reads"] > 0 and table["rows_read"] == 900
    for device in (here, there):
        assert 0 < device["most_in_flight"] <= device["depth"] <= 16 and device["seconds_per_read"] > 0
    text = gather(*line, "--plan").errors
    assert "device 0 (p0.npy and 1 more): " in text and "p1.npy): " in text and " in flight at most" in text


def test_one_device(gather):
    gather.save("x.npy", RNG.integers(0, 256, (100, 64), np.uint8))
    table = gather.json("take", "x.npy", "[1,99]", "-o", "o.npy", "--engine", "pread")["table"]
    assert [d["file"] for d in table["devices"]] == ["x.npy"]
    assert "device" not in gather("take", "x.npy", "[1,99]", "-o", "o.npy", "-f", "--plan").errors


def test_one_fails(gather, parts, other):
    """A part that became shorter names its file and row; the rows of the other device can be taken."""
    data, (first, *more) = parts
    os.truncate(other / "p1.npy", 128 + 100 * WIDTH)
    error = gather.fails("file_malformed", "take", first, f"[{ROWS + 5}]", *more, "-o", "o.npy")
    assert "p1.npy" in error["message"]
    assert gather("take", "p0.npy", "[1,2,3]", "--part", "p2.npy", "-o", "o.npy").code == 0


@pytest.mark.in_full
def test_bench_of_parts(gather, parts):
    _, (first, *more) = parts
    answer = gather.json("bench", first, *more, "--rows", 200, "--engine", "pread")
    assert answer["shape"] == [3 * ROWS, WIDTH] and answer["file_bytes"] > 3 * ROWS * WIDTH
    assert [len(way["devices"]) for way in answer["engines"]] == [2]
    assert sum(device["reads"] for device in answer["engines"][0]["devices"]) > 0
    assert "pread by device:" in gather("bench", first, *more, "--rows", 200, "--engine", "pread").text
