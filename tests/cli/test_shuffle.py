# SPDX-License-Identifier: MIT
"""What `shuffle` writes, with NumPy as the oracle: one pass and two, every kind of data, and how little memory it takes."""

import json
import math
import os
import resource
import subprocess

import numpy as np
import pytest
from test_take import DTYPES, same, some

RNG = np.random.default_rng(41)
SMALL = ("--memory", "4400000")  # many buckets


def rows_at_random(gather, rows: int, seed: int) -> np.ndarray:
    """The order of a seed, as the command gives it to row numbers."""
    gather.save("numbers.npy", np.arange(rows))
    assert gather("shuffle", "numbers.npy", "-o", "order.npy", "-f", "--seed", seed).code == 0
    return gather.load("order.npy")


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES[::3] + DTYPES[-1:], ids=str)
def test_every_dtype(gather, dtype, passes):
    data = some(dtype, 1000, 3)
    gather.save("x.npy", data)
    answer = gather.json("shuffle", "x.npy", "-o", "o.npy", "--seed", 5, "--passes", passes)
    out = gather.load("o.npy")
    same(out, data[rows_at_random(gather, 1000, 5)])
    assert np.lib.format.dtype_to_descr(out.dtype) == np.lib.format.dtype_to_descr(data.dtype)
    assert (answer["rows"], answer["seed"], answer["passes"], answer["bytes"]) == (1000, 5, passes, out.nbytes)
    assert answer["resumed"] is False and answer["shape"] == [1000, 3]


@pytest.mark.parametrize(("rows", "width"), [(2_500_000, 1), (300_000, 20), (40_001, 128), (2_000, 4_001)])
def test_many_buckets_are_one_pass(gather, rows, width):
    data = RNG.integers(0, 256, (rows, width), np.uint8)
    gather.save("x.npy", data)
    two = gather.json("shuffle", "x.npy", "-o", "two.npy", "--seed", 8, "--passes", 2, *SMALL)
    assert two["buckets"] >= 2 and two["temporary_bytes"] > 0
    expected = data[rows_at_random(gather, rows, 8)]
    same(gather.load("two.npy"), expected)
    if rows < 1_000_000:
        one = gather.json("shuffle", "x.npy", "-o", "one.npy", "--seed", 8, "--passes", 1, *SMALL)
        assert (one["buckets"], one["temporary_bytes"]) == (0, 0)
        same(gather.load("one.npy"), expected)
    assert {n for n in gather.names() if n.startswith(".")} == set()


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("dtype", ["<i8", ">i4", "<u4"])
def test_a_given_order(gather, passes, dtype):
    data = RNG.integers(0, 256, (150_000, 40), np.uint8)
    low = 0 if "u" in dtype else -150_000
    order = RNG.integers(low, 150_000, 260_000).astype(dtype)
    gather.save("x.npy", data)
    gather.save("i.npy", order)
    answer = gather.json("shuffle", "x.npy", "-o", "o.npy", "--order", "i.npy", "--passes", passes, *SMALL)
    same(gather.load("o.npy"), data[order.astype(np.int64)])
    assert "seed" not in answer and (answer["buckets"] > 2) == (passes == 2)


@pytest.mark.parametrize("kind", ["one row", "few rows", "sorted", "backwards"])
def test_orders_that_are_lopsided(gather, kind):
    """A row that is wanted by everybody has more pairs than fit into memory."""
    data = RNG.integers(0, 256, (50_000, 16), np.uint8)
    order = {
        "one row": np.full(300_000, 49_999), "few rows": np.repeat([3, 4, 40_000], 100_000),
        "sorted": np.sort(RNG.integers(0, 50_000, 300_000)), "backwards": np.arange(49_999, -1, -1),
    }[kind]
    gather.save("x.npy", data)
    gather.save("i.npy", order)
    same(gather.result("shuffle", "x.npy", "--order", "i.npy", "--passes", 2, *SMALL), data[order])


@pytest.mark.parametrize("passes", [1, 2])
def test_orders_as_take_has_them(gather, passes):
    data = np.arange(40).reshape(10, 4)
    gather.save("x.npy", data)
    gather.write("i.txt", "3 1\n-1")
    gather.save("t.npy", np.arange(20, dtype=np.int16).reshape(4, 5).T % 10)
    for order, expected in [
        ("[[0, 9], [-10, 3]]", [[0, 9], [0, 3]]),
        ("7", 7),
        ("[]", np.zeros(0, int)),
        ("i.txt", [3, 1, 9]),
        ("t.npy", np.arange(20).reshape(4, 5).T % 10),
    ]:
        same(gather.result("shuffle", "x.npy", "--order", order, "--passes", passes), data[np.array(expected)])


def tensor_proto(numbers: np.ndarray) -> bytes:
    """int64 numbers one by one (int64_data), which a reader keeps in memory of its own."""

    def varint(value: int) -> bytes:
        out = b""
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])

    data = b"".join(varint(int(number)) for number in numbers)
    return b"\x08" + varint(numbers.size) + b"\x10\x07" + b"\x3a" + varint(len(data)) + data


@pytest.mark.parametrize("passes", [1, 2])
def test_an_order_that_is_not_mapped(gather, passes):
    data = RNG.integers(0, 256, (20_000, 300), np.uint8)
    order = RNG.permutation(20_000)
    gather.save("x.npy", data)
    gather.write("i.pb", tensor_proto(order))
    same(gather.result("shuffle", "x.npy", "--order", "i.pb", "--passes", passes, *SMALL), data[order])


@pytest.mark.parametrize("order", ["[0, 10, 3, -11]", "[[1], [2], [10]]", "b.npy", "[1.5]"])
def test_a_bad_order_is_the_error_of_take(gather, order):
    gather.save("x.npy", np.arange(40).reshape(10, 4))
    gather.save("b.npy", np.array([1.0, 2.0]))
    take = gather("take", "x.npy", order, "-o", "t.npy", "--json")
    shuffle = gather("shuffle", "x.npy", "-o", "o.npy", "--order", order, "--json")
    assert take.code == shuffle.code != 0
    assert json.loads(take.out)["error"] == {**json.loads(shuffle.out)["error"], **hint(take)}
    assert gather.names() == {"x.npy", "b.npy"}


def hint(answer) -> dict:
    """take has hints about options that shuffle has not."""
    return {key: value for key, value in json.loads(answer.out)["error"].items() if key == "hint"}


@pytest.mark.parametrize("passes", [(), ("--passes", 1), ("--passes", 2)])
@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (1,), (1, 7), (2,)])
def test_hardly_any_rows(gather, shape, passes):
    data = np.arange(math.prod(shape)).reshape(shape)
    gather.save("x.npy", data)
    gather.json("shuffle", "x.npy", "-o", "o.npy", *passes)
    out = gather.load("o.npy")
    assert out.shape == shape and (np.sort(out, axis=0) == data).all()


@pytest.mark.parametrize("passes", [1, 2])
def test_rows_of_a_mebibyte(gather, passes):
    data = np.frombuffer(RNG.bytes(40 << 20), np.uint8).reshape(40, 1 << 20)
    gather.save("x.npy", data)
    gather.json("shuffle", "x.npy", "-o", "o.npy", "--seed", 1, "--memory", "38MiB", "--passes", passes)
    assert (gather.load("o.npy") == data[rows_at_random(gather, 40, 1)]).all()


def test_raw_bytes_and_byte_order(gather):
    data = RNG.integers(0, 1 << 15, (9000, 6)).astype(">i2")
    gather.save("x.npy", data)
    order = rows_at_random(gather, 9000, 2)
    for passes in (1, 2):
        assert gather("shuffle", "x.npy", "-o", "o.raw", "-f", "--seed", 2, "--passes", passes).code == 0
        raw = np.frombuffer((gather.folder / "o.raw").read_bytes(), "<i2").reshape(9000, 6)
        assert (raw == data[order]).all()
        gather.write("y.bin", b"12345" + data.astype("<i2").tobytes())
        words = ("--type", "int16", "--shape", "9000x6", "-o", "p.npy", "-f", "--seed", 2, "--passes", passes)
        assert gather("shuffle", "y.bin", "--offset", 5, *words).code == 0
        same(gather.load("p.npy"), data[order].astype("<i2"))


@pytest.mark.parametrize("passes", [1, 2])
def test_a_tensor_of_safetensors(gather, passes):
    data = RNG.integers(0, 99, (5000, 6)).astype("<f4")
    head = json.dumps(
        {
            "first": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
            "emb": {"dtype": "F32", "shape": [5000, 6], "data_offsets": [3, 3 + data.nbytes]},
        }
    ).encode()
    gather.write("m.safetensors", len(head).to_bytes(8, "little") + head + b"abc" + data.tobytes())
    same(gather.result("shuffle", "m.safetensors:emb", "--seed", 6, "--passes", passes), data[rows_at_random(gather, 5000, 6)])


def test_parts_are_one_table(gather):
    data = RNG.integers(0, 99, (5000, 9)).astype(np.float32)
    for i, (first, last) in enumerate([(0, 1), (1, 3000), (3000, 3000), (3000, 5000)]):
        gather.save(f"{i}.npy", data[first:last])
    parts = [word for i in range(1, 4) for word in ("--part", f"{i}.npy")]
    for passes in (1, 2):
        words = ("--seed", 4, "--passes", passes, "-f", "-o", "o.npy")
        gather.json("shuffle", "0.npy", *parts, *words)
        same(gather.load("o.npy"), data[rows_at_random(gather, 5000, 4)])


def test_a_file_may_be_shuffled_into_itself(gather):
    data = RNG.integers(0, 99, (50_000, 9))
    for passes in (1, 2):
        gather.save("x.npy", data)
        error = gather.fails("file_exists", "shuffle", "x.npy", "-o", "x.npy", "-f", "--seed", 4, "--passes", passes)
        assert error["message"].endswith("is a file of the table that is shuffled, which is kept; --in-place replaces it")
        same(gather.load("x.npy"), data)
        gather.json("shuffle", "x.npy", "-o", "x.npy", "--in-place", "--seed", 4, "--passes", passes)
        same(gather.load("x.npy"), data[rows_at_random(gather, 50_000, 4)])


def test_a_link_and_permissions_stay(gather):
    gather.save("x.npy", np.arange(10))
    gather.write("real.npy", "old")
    os.chmod(gather.folder / "real.npy", 0o640)
    (gather.folder / "o.npy").symlink_to("real.npy")
    gather.json("shuffle", "x.npy", "-o", "o.npy", "-f")
    assert (gather.folder / "o.npy").is_symlink() and len(gather.load("real.npy")) == 10
    assert (gather.folder / "real.npy").stat().st_mode & 0o777 == 0o640


def test_a_dry_run_writes_nothing(gather):
    gather.save("x.npy", np.zeros((100_000, 100), np.uint8))
    before = gather.names()
    answer = gather.json("shuffle", "x.npy", "-o", "o.npy", "--dry-run", "--seed", 3, *SMALL)
    assert answer["dry_run"] and answer["passes"] == 2 and answer["buckets"] > 2 and "two passes" in answer["plan"]
    assert "seed 3" in gather("shuffle", "x.npy", "--dry-run", "--seed", 3).text
    assert gather.names() == before


def test_what_is_faster_is_chosen(gather):
    """One pass where OUT fits into memory or rows are long."""
    gather.save("x.npy", np.zeros((1 << 16, 256), np.uint8))
    gather.save("long.npy", np.zeros((40, 1 << 20), np.uint8))
    plan = lambda name, memory: gather.json("shuffle", name, "--dry-run", "--memory", memory)["passes"]  # noqa: E731
    assert plan("x.npy", "64MiB") == 1 and plan("x.npy", "6MiB") == 2
    assert plan("long.npy", "37MiB") == 1


@pytest.mark.parametrize("order", [(), ("--order", "i.npy")], ids=["random", "given"])
@pytest.mark.parametrize("passes", [1, 2])
def test_memory_stays_below_the_ceiling(gather, passes, order):
    """The peak of what is resident, beyond what the same command takes for a row."""
    rows = 64 << 12
    gather.save("x.npy", np.zeros((rows, 256), np.uint8))
    gather.save("one.npy", np.zeros((1, 256), np.uint8))
    gather.save("i.npy", RNG.permutation(rows))

    def peak(*words) -> int:
        process = subprocess.Popen([str(gather.exe), "shuffle", *map(str, words), "-f", "-q", "-o", "o.npy"], cwd=gather.folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss << 10

    least = peak("one.npy", "--memory", "8MiB", "--threads", 1)
    used = peak("x.npy", "--memory", "8MiB", "--passes", passes, *order) - least
    assert used < (8 << 20) + (2 << 20), used


def test_a_disk_without_room(gather):
    """Said before any work, with what is missing."""
    with open(gather.folder / "x.bin", "wb") as file:
        file.truncate(8 << 40)
    for length, passes in [(1 << 20, 1), (4096, 2)]:
        words = ("--type", "uint8", "--shape", f"{(8 << 40) // length}x{length}", "--memory", "1GiB", "-o", "o.npy")
        error = gather.fails("io_error", "shuffle", "x.bin", *words, "--passes", passes)
        assert "TiB are needed" in error["message"] and "are missing" in error["message"]
        assert gather.names() == {"x.bin"}


def test_a_limit_on_the_size_of_files(gather):
    """As on a full disk: found before any work, and nothing stays."""
    gather.save("x.npy", np.zeros((100_000, 100), np.uint8))
    before = gather.names()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # noqa: E731
    for passes in (1, 2):
        words = ("shuffle", "x.npy", "-o", "o.npy", "--passes", passes, *SMALL)
        error = gather.fails("io_error", *words, preexec_fn=limit)
        assert ".gather-shuffle-o.npy" in error["message"]
        assert gather.names() == before
