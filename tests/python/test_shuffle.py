# SPDX-License-Identifier: MIT
#
# test_shuffle.py: libgather.shuffle: its rows against NumPy's by the definition of docs/use/shuffle.md, what is left and resumed, errors, signals.
"""Shuffling files."""
from __future__ import annotations

import inspect
import os
import signal
import threading
import time

import numpy as np
import pytest

import libgather
from test_interrupt import soon
from support.refusal import refuses

RNG = np.random.default_rng(3)
WORD = (1 << 64) - 1
ROWS, WIDTH = 40_000, 120
SMALL = {"memory": 4_300_000, "engine": "pread", "depth": 4}
FOLDER = ".gather-shuffle-o.npy"


def mix(x: int) -> int:
    x = (x ^ x >> 32) * 0x9E3779B97F4A7C15 & WORD
    x = (x ^ x >> 29) * 0xB7E151628AED2A6B & WORD
    return x ^ x >> 32


def order_of(seed: int, rows: int) -> list[int]:
    """docs/use/shuffle.md, for few rows."""
    start = mix(mix(seed + 0x9E3779B97F4A7C15 & WORD) + rows & WORD)
    keys = [mix(start + (r + 1) * 0x243F6A8885A308D3 & WORD) for r in range(32)]
    bits = max(rows - 1, 0).bit_length()
    left_bits, right_bits = bits // 2, bits - bits // 2

    def once(v: int) -> int:
        left, right = v >> right_bits, v & (1 << right_bits) - 1
        for r in range(0, 32 if bits < 20 else 10, 2):
            left = left + (mix(right + keys[r] & WORD) >> 64 - left_bits) & (1 << left_bits) - 1
            right = right + (mix(left + keys[r + 1] & WORD) >> 64 - right_bits) & (1 << right_bits) - 1
        return left << right_bits | right

    def row(i: int) -> int:
        v = once(i)
        while v >= rows:
            v = once(v)
        return v

    return [row(i) for i in range(rows)]


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return RNG.integers(0, 1 << 30, (ROWS, WIDTH), np.int32)


@pytest.fixture
def folder(tmp_path, monkeypatch, data):
    """A folder with x.npy in which the test works."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", data)
    return tmp_path


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def orders(seed: int, rows: int) -> np.ndarray:
    """The order of a seed for many rows: a shuffled file of row numbers."""
    np.save("numbers.npy", np.arange(rows))
    libgather.shuffle("numbers.npy", "order.npy", seed=seed, replace=True)
    order = np.load("order.npy")
    os.unlink("numbers.npy")
    os.unlink("order.npy")
    return order


# ---- results


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 100, 1000])
def test_the_order_is_the_definition(tmp_path, rows):
    for seed in (0, 7, 2**63 - 1):
        x = np.arange(rows * 3).reshape(rows, 3)
        np.save(tmp_path / "x.npy", x)
        done = libgather.shuffle(tmp_path / "x.npy", tmp_path / "o.npy", seed=seed, replace=True)
        assert np.array_equal(np.load(tmp_path / "o.npy"), x[order_of(seed, rows)])
        assert (done.seed, done.rows, done.shape, done.path) == (seed, rows, (rows, 3), str(tmp_path / "o.npy"))
    assert names(tmp_path) == {"x.npy", "o.npy"}


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("threads", [1, 3])
def test_many_rows(folder, data, passes, threads):
    done = libgather.shuffle("x.npy", "o.npy", seed=9, passes=passes, threads=threads, **SMALL)
    assert np.array_equal(np.load("o.npy"), data[orders(9, ROWS)])
    assert (done.passes, done.buckets > 2, done.temporary_bytes > 0) == (passes, passes == 2, passes == 2)
    assert (done.type, done.row_bytes, done.memory, done.resumed) == ("int32", WIDTH * 4, 4_300_000, False)
    assert names(folder) == {"x.npy", "o.npy"}


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("dtype", ["int64", ">i4", "uint32", "int64 strided"])
def test_a_given_order(folder, data, passes, dtype):
    low = 0 if dtype[0] == "u" else -ROWS
    order = RNG.integers(low, ROWS, 60_000).astype(dtype.split()[0])
    if "strided" in dtype:
        order = np.repeat(order, 2)[::2]
    before = order.copy()
    done = libgather.shuffle("x.npy", "o.npy", order=order, passes=passes, **SMALL)
    assert np.array_equal(np.load("o.npy"), data[order])
    assert np.array_equal(order, before) and done.seed is None and done.rows == 60_000


def test_an_order_in_a_mapped_file(folder, data):
    np.save("order.npy", RNG.permutation(ROWS))
    libgather.shuffle("x.npy", "o.npy", order=np.load("order.npy", mmap_mode="r"), **SMALL)
    assert np.array_equal(np.load("o.npy"), data[np.load("order.npy")])


def test_orders_of_any_kind(folder, data):
    for order in ([[0, -1], [5, 5]], 7, [], (3, 1), np.int8(-2), range(4), memoryview(np.array([2, 1]))):
        done = libgather.shuffle("x.npy", "o.npy", order=order, replace=True)
        wanted = data[np.asarray(order, dtype=np.int64)]
        assert done.shape == wanted.shape and np.array_equal(np.load("o.npy"), wanted)


def test_a_new_seed_is_told(folder, data):
    done = libgather.shuffle("x.npy", "o.npy")
    assert np.array_equal(np.load("o.npy"), data[orders(done.seed, ROWS)])
    assert libgather.shuffle("x.npy", "p.npy").seed != done.seed


def test_parts_raw_bytes_and_names(folder, data):
    np.save("y.npy", data[:1000])
    libgather.shuffle(["x.npy", folder / "y.npy"], "o.npy", seed=1)
    assert np.array_equal(np.load("o.npy"), np.concatenate([data, data[:1000]])[orders(1, ROWS + 1000)])
    (folder / "x.bin").write_bytes(b"12345" + data.tobytes())
    libgather.shuffle(b"x.bin", b"o.raw", seed=1, dtype="i4", shape=(-1, WIDTH), offset=5)
    assert (folder / "o.raw").read_bytes() == data[orders(1, ROWS)].tobytes()
    libgather.shuffle("x.npy", "o.safetensors", seed=1, name="emb")
    with libgather.open("o.safetensors:emb") as table:
        assert np.array_equal(table[:100], data[orders(1, ROWS)][:100])


def test_a_dry_run_writes_nothing(folder):
    done = libgather.shuffle("x.npy", None, seed=3, dry_run=True, **SMALL)
    assert done.path is None and done.passes == 2 and done.buckets > 2 and done.rows == ROWS
    assert names(folder) == {"x.npy"}


# ---- errors


def test_what_is_refused(folder, data):
    (folder / "o.npy").write_text("precious")
    before = names(folder)
    error = refuses(libgather.GatherFileError, libgather.shuffle, "x.npy", "o.npy", says="exists")
    assert error.status == "file_exists" and error.file == "o.npy"
    error = refuses(libgather.GatherIndexError, libgather.shuffle, "x.npy", "p.npy", order=[0, ROWS, -ROWS - 1])
    assert (error.position, error.value, error.bad_count) == ((1,), ROWS, 2)
    refuses(libgather.GatherTypeError, libgather.shuffle, "x.npy", "p.npy", order=[0.5])
    refuses(libgather.GatherFileNotFoundError, libgather.shuffle, "missing.npy", "p.npy")
    refuses(libgather.GatherValueError, libgather.shuffle, "x.npy", "p.npy", memory="1MiB", says="^memory 1.00 MiB is too little")
    refuses(libgather.GatherValueError, libgather.shuffle, "x.npy", "p.xyz", says="extension")
    for keywords, kind in [({"seed": -1}, ValueError), ({"seed": 2**63}, ValueError), ({"seed": 1.5}, TypeError),
                           ({"seed": True}, TypeError), ({"passes": 3}, ValueError), ({"passes": 0}, ValueError),
                           ({"threads": 0}, ValueError), ({"depth": 0}, ValueError), ({"memory": "much"}, ValueError),
                           ({"engine": "other"}, ValueError), ({"engine": 1}, TypeError), ({"offset": 1}, TypeError),
                           ({"seed": 1, "order": [0]}, TypeError), ({"progress": 3}, TypeError)]:
        refuses(kind, libgather.shuffle, "x.npy", "p.npy", **keywords)
    for paths, kind in [(("x.npy", None), TypeError), (([], "p.npy"), ValueError), ((3, "p.npy"), TypeError),
                        (("x.npy", 3), TypeError), (("x\0.npy", "p.npy"), ValueError), (("x.npy", "p\0.npy"), ValueError)]:
        refuses(kind, libgather.shuffle, *paths)
    assert names(folder) == before and (folder / "o.npy").read_text() == "precious"
    libgather.shuffle("x.npy", "o.npy", replace=True, seed=2)
    assert np.array_equal(np.load("o.npy"), data[orders(2, ROWS)])


def test_docstring_names_every_parameter():
    text = inspect.getdoc(libgather.shuffle)
    for parameter in inspect.signature(libgather.shuffle).parameters:
        assert f"\n{parameter} : " in text or f"{parameter}, " in text or f", {parameter}\n" in text, parameter


# ---- ending early


def leave(seed: int | None = 3) -> None:
    """A run that Ctrl-C ended as the second pass began, when the first one was durable."""

    def progress(step: str, done: int, total: int) -> None:
        if step == "second pass":
            signal.raise_signal(signal.SIGINT)

    refuses(KeyboardInterrupt, libgather.shuffle, "x.npy", "o.npy", seed=seed, passes=2, threads=1, progress=progress, **SMALL)
    assert not os.path.exists("o.npy") and os.path.exists(f"{FOLDER}/journal")


def test_an_interrupted_run_is_resumed(folder, data):
    leave(None)
    refuses(libgather.GatherFileError, libgather.shuffle, "x.npy", "o.npy", says="resume=True resumes it")
    done = libgather.shuffle("x.npy", "o.npy", resume=True)
    assert done.resumed and (done.memory, done.passes) == (4_300_000, 2)
    assert np.array_equal(np.load("o.npy"), data[orders(done.seed, ROWS)])
    assert names(folder) == {"x.npy", "o.npy"}


def test_what_is_left_is_of_one_shuffle(folder, data):
    leave(3)
    with pytest.raises(libgather.GatherValueError, match="'seed 3' there, 'seed 4' here; replace=True without resume"):
        libgather.shuffle("x.npy", "o.npy", seed=4, resume=True)
    libgather.shuffle("x.npy", "o.npy", seed=4, replace=True)
    assert np.array_equal(np.load("o.npy"), data[orders(4, ROWS)])
    assert names(folder) == {"x.npy", "o.npy"}
    assert not libgather.shuffle("x.npy", "p.npy", seed=4, resume=True).resumed


@pytest.mark.parametrize("more, steps", [
    ({"passes": 1}, ["prepare", "only pass", "publish"]),
    ({"passes": 2}, ["prepare", "first pass", "second pass", "publish"]),
    ({"passes": 2, "order": range(ROWS)}, ["prepare", "sort order", "first pass", "second pass", "publish"]),
])
def test_progress(folder, more, steps):
    told = []
    libgather.shuffle("x.npy", "o.npy", progress=lambda *facts: told.append(facts), **more, **SMALL)
    assert list(dict.fromkeys(step for step, _, _ in told)) == steps
    assert all(0 <= done <= total and total in (0, ROWS) for _, done, total in told)


class Own(Exception):
    """What progress raises."""


@pytest.mark.parametrize("main", [True, False])
@pytest.mark.parametrize("at", ["prepare", "first pass", "second pass"])
def test_what_progress_raises_ends_the_work(folder, data, at, main):
    def progress(step: str, done: int, total: int) -> None:
        if step == at:
            raise Own(step)

    def call() -> None:
        refuses(Own, libgather.shuffle, "x.npy", "o.npy", seed=5, passes=2, progress=progress, says=at, **SMALL)
        said.append(True)

    said: list[bool] = []
    if main:
        call()
    else:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    assert said and "o.npy" not in names(folder)
    done = libgather.shuffle("x.npy", "o.npy", seed=5, resume=True, **SMALL)
    assert done.resumed == (at == "second pass")
    assert np.array_equal(np.load("o.npy"), data[orders(5, ROWS)])


def test_two_at_once(folder, data):
    """In one process: a second one that begins in the middle of the first."""
    said = []

    def progress(step: str, done: int, total: int) -> None:
        if step == "publish" or said:
            return
        error = refuses(libgather.GatherFileError, libgather.shuffle, "x.npy", "o.npy", seed=3, resume=True)
        said.append(str(error))

    libgather.shuffle("x.npy", "o.npy", seed=3, passes=2, progress=progress, **SMALL)
    assert len(said) == 1 and "is using it" in said[0]
    assert np.array_equal(np.load("o.npy"), data[orders(3, ROWS)])


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c(tmp_path, passes, threads):
    """A quarter of a GiB of holes."""
    with open(tmp_path / "x.bin", "wb") as file:
        file.truncate(1 << 28)

    def call() -> None:
        libgather.shuffle(tmp_path / "x.bin", tmp_path / "o.raw", dtype="u1", shape=(-1, 16), passes=passes, threads=threads,
                          memory="5MiB", engine="pread", depth=1, replace=True)

    soon(call)
    assert "o.raw" not in names(tmp_path)
    (tmp_path / "x.bin").unlink()


def test_other_threads_run(folder, data):
    """The GIL is released."""
    counted = [0]
    ended = threading.Event()

    def count() -> None:
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    libgather.shuffle("x.npy", "o.npy", seed=3, passes=2, **SMALL)
    ended.set()
    thread.join()
    assert counted[0] > 5


@pytest.mark.in_full
def test_an_order_that_changes_is_no_crash(folder):
    """The numbers are checked again as they are used."""
    order = RNG.integers(0, ROWS, 1_000_000)
    ended = threading.Event()

    def disturb() -> None:
        while not ended.is_set():
            order[::1000] = 1 << 60
            order[::1000] = -5

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(3):
            try:
                libgather.shuffle("x.npy", "o.npy", order=order, passes=2, replace=True, **SMALL)
            except (libgather.GatherFileError, libgather.GatherIndexError) as error:
                assert "changed" in str(error) or "outside" in str(error)
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", ["out.npy", "out.safetensors", "out.raw"])
def test_aligned(folder, data, name):
    """The elements begin at a block; the bytes are those of an output that is not aligned."""
    libgather.shuffle(folder / "x.npy", folder / name, seed=4, align="4KiB")
    libgather.shuffle(folder / "x.npy", folder / "plain.npy", seed=4)
    content, plain = (folder / name).read_bytes(), np.load(folder / "plain.npy")
    assert content.endswith(plain.tobytes()) and (len(content) - plain.nbytes) % 4096 == 0
    for align, words in ((-1, "align"), ("much", "align"), (3000, "power of two")):
        refuses(ValueError, libgather.shuffle, folder / "x.npy", folder / ("other" + name), seed=4, align=align, says=words)


def test_a_file_onto_itself(tmp_path):
    """Refused also with replace=True, unless asked for; so is the file of the order."""
    data = np.arange(3000).reshape(1000, 3)
    np.save(tmp_path / "x.npy", data)
    np.save(tmp_path / "order.npy", np.arange(999, -1, -1))
    (tmp_path / "link.npy").symlink_to("x.npy")
    for output in ("x.npy", "link.npy"):
        with pytest.raises(libgather.GatherFileError, match="a file of the table that is shuffled, which is kept; in_place=True replaces it"):
            libgather.shuffle(tmp_path / "x.npy", tmp_path / output, seed=1, replace=True)
    with pytest.raises(libgather.GatherFileError, match="is the file of the order, which is kept"):
        libgather.shuffle(tmp_path / "x.npy", tmp_path / "order.npy", order=np.load(tmp_path / "order.npy", mmap_mode="r"), replace=True)
    assert np.array_equal(np.load(tmp_path / "x.npy"), data)
    libgather.shuffle(tmp_path / "x.npy", tmp_path / "link.npy", order=np.load(tmp_path / "order.npy", mmap_mode="r"), in_place=True)
    assert np.array_equal(np.load(tmp_path / "x.npy"), data[::-1]) and (tmp_path / "link.npy").is_symlink()
