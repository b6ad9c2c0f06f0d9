# SPDX-License-Identifier: MIT
#
# test_table_array.py: a table in the place of an array: NumPy's functions and brackets against np.memmap at random, dask, xarray and
# PyTorch's DataLoader, and what is refused before anything is read.
"""Tables as arrays."""

from __future__ import annotations

import os

import numpy as np
import pytest

import libgather
from libgather import table_array, table_index
from support.skip import module

SEED = int(os.environ.get("GATHER_TEST_SEED", 16))
X = np.arange(120, dtype=np.float32).reshape(10, 4, 3)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return str(tmp_path / "x.npy")


@pytest.fixture
def table(path):
    with libgather.open(path) as table:
        yield table


def same(result, wanted) -> bool:
    return np.asarray(result).dtype == wanted.dtype and np.shape(result) == wanted.shape and np.array_equal(result, wanted)


# ---- random brackets and takes ----


def random_ids(random: np.random.Generator, n: int, shape: tuple):
    ids = random.integers(-n, n, shape) if n else np.zeros((0,) * len(shape), int)
    return ids if random.random() < 0.7 else ids.tolist() if random.random() < 0.5 else ids.astype(np.int16)


def random_item(random: np.random.Generator, n: int, shape: tuple):
    """One item of a key, for a dimension of length n; arrays are of a shape that broadcasts with `shape`."""
    kind = random.integers(0, 6)
    if kind == 0 and n:
        return int(random.integers(-n, n))
    if kind in (1, 2):
        ends = [None if random.random() < 0.3 else int(random.integers(-n - 2, n + 3)) for _ in range(2)]
        return slice(*ends, int(random.choice([1, 1, 2, 3, -1, -2])) if random.random() < 0.6 else None)
    if kind == 3 and n:
        return random_ids(random, n, tuple(int(random.choice([1, m])) for m in shape[int(random.integers(0, len(shape) + 1)) :]))
    if kind == 4 and len(shape) == 1:
        mask = np.zeros(n, bool)  # as many true elements as the arrays are long
        mask[random.permutation(n)[: shape[0]]] = True
        return mask
    return slice(None)


def random_key(random: np.random.Generator, lengths: tuple[int, ...]):
    shape = tuple(int(m) for m in random.integers(1, 4, random.integers(0, 3)))
    key = [random_item(random, n, shape) for n in lengths[: int(random.integers(0, len(lengths) + 1))]]
    if random.random() < 0.2:
        place = int(random.integers(0, len(key) + 1))
        if random.random() < 0.5:
            key = [*key[:place], ..., *(random_item(random, n, shape) for n in lengths[len(lengths) - int(random.integers(0, len(lengths) - place + 1)) :])]
    if random.random() < 0.15:
        key.insert(int(random.integers(0, len(key) + 1)), None)
    if random.random() < 0.05 and len(lengths) > 1:
        key = [random.random(lengths[:2]) < 0.5, *(random_item(random, n, ()) for n in lengths[2:])]
    return key[0] if len(key) == 1 and random.random() < 0.5 else tuple(key)


@pytest.mark.parametrize("shape", [(11,), (9, 5), (8, 4, 3), (5, 3, 2, 2)])
def test_random_brackets(tmp_path, shape, monkeypatch):
    """2,000 keys per rank against a memmap: the same elements, shape and dtype, or an IndexError on both sides. Long slices in blocks."""
    random = np.random.default_rng(SEED)
    x = random.integers(0, 1000, shape).astype(np.int16)
    np.save(tmp_path / "x.npy", x)
    mapped, read = np.load(tmp_path / "x.npy", mmap_mode="r"), 0
    monkeypatch.setattr(table_index, "_BLOCK_BYTES", 3 * x[0].nbytes)
    with libgather.open(tmp_path / "x.npy") as table:
        for _ in range(2000):
            key = random_key(random, shape)
            try:
                wanted = np.array(mapped[key])
            except (IndexError, ValueError):
                with pytest.raises((IndexError, ValueError)):
                    table[key]
                continue
            assert same(table[key], wanted), key
            read += 1
    assert read > 1500


def test_random_takes(tmp_path):
    """1,000 calls each of np.take, np.take_along_axis, np.compress."""
    random = np.random.default_rng(SEED)
    for shape in ((11,), (9, 5), (6, 4, 3)):
        x = random.integers(0, 1000, shape).astype(">i4")
        np.save(tmp_path / "x.npy", x)
        with libgather.open(tmp_path / "x.npy") as table:
            for _ in range(330):
                mode, axis = str(random.choice(["raise", "wrap", "clip"])), [0, None][int(random.integers(2))]
                n = len(x) if axis == 0 else x.size
                ids = random.integers(*((-n, n) if mode == "raise" else (-3 * n, 3 * n)), random.integers(0, 4, random.integers(0, 3)))
                ids = ids.astype(np.int8) if mode == "raise" and random.random() < 0.3 else ids
                wanted = np.take(x, ids, axis=axis, mode=mode)
                assert same(np.take(table, ids, axis=axis, mode=mode), wanted), (ids, mode, axis)
                out = np.empty(wanted.shape, x.dtype)
                if wanted.shape:
                    assert np.take(table, ids, axis=axis, out=out, mode=mode) is out and same(out, wanted)
                wide = [int(random.choice([1, m])) for m in shape]
                wide[0] = int(random.integers(0, 5))
                ids = random.integers(-len(x), len(x), wide)
                assert same(np.take_along_axis(table, ids, 0), np.take_along_axis(x, ids, 0))
                flat = random.integers(-x.size, x.size, 5)
                assert same(np.take_along_axis(table, flat, None), np.take_along_axis(x, flat, None))
                condition = random.random(int(random.integers(0, len(x) + 1))) < 0.5
                assert same(np.compress(condition, table, 0), np.compress(condition, x, 0))
            for bad in (n, -n - 1):
                for axis, length in ((0, len(x)), (None, x.size)):
                    with pytest.raises(IndexError, match=rf"indices\[1\] = {[length, -length - 1][bad < 0]} is outside \[{-length}, {length - 1}\]"):
                        np.take(table, [0, [length, -length - 1][bad < 0]], axis=axis)


def test_only_what_is_selected_is_read(table):
    """The rows of a key, and nothing for one that does not fit."""
    for key, rows in (((slice(2, 4), [0, 1]), 2), (([1, 5], slice(None), [0, 2]), 2), ((3, None), 1), ((None, 3), 1), (slice(5, 5), 0)):
        table.reset_stats()
        assert same(table[key], X[key]) and table.stats().rows == rows, key
    for key in ((slice(2, 4), [0, 4]), ([1, 5], slice(None), 3), ([1, 10], slice(None), [0]), (0, 0, 0, 0), (slice(None), [0, 1], [0, 1, 2]), (slice(3), 1.5),
                ([[0, 1]], slice(None), [0, 1, 2]), (None, 10), (..., [0.5]), (slice(None), np.zeros((3, 3), bool)), (slice(0, 0), 4)):  # fmt: skip
        table.reset_stats()
        with pytest.raises((IndexError, TypeError, ValueError)):
            table[key]
        assert table.stats().bytes_read == 0 and table.stats().rows == 0, key
    for key, text in (((slice(None), [0, 7]), r"key\[1\]\[1\] = 7 is outside \[-4, 3\] of axis 1"), (([1, 10], slice(None), [0]), r"indices\[1\] = 10 is outside \[-10, 9\]"),
                      (([0, 1], [0, -5]), r"\[1, 1\] = -5")):  # fmt: skip
        with pytest.raises(IndexError, match=text):
            table[key]


# ---- functions of NumPy ----


def test_functions_that_need_no_rows(table):
    assert (np.shape(table), np.ndim(table), np.size(table), np.size(table, 1)) == ((10, 4, 3), 3, 120, 4)
    assert np.zeros_like(table).shape == X.shape and np.empty_like(table, shape=(2,)).dtype == X.dtype and np.full_like(table, 2, dtype=int).sum() == 240
    assert np.result_type(table, np.float64) == np.float64 and not np.iscomplexobj(table) and np.isrealobj(table)
    assert not np.shares_memory(table, X) and not np.may_share_memory(X, table) and "libgather.Table" in np.array_repr(table)
    assert table.stats().rows == 0


@pytest.mark.parametrize("call", [
    np.mean, np.sum, np.sort, np.unique, lambda t: np.concatenate([t, t]), lambda t: np.add(t, 1), lambda t: X + t, lambda t: t == X, np.transpose, lambda t: np.reshape(t, -1),
    lambda t: np.dot(t, t), lambda t: np.array_equal(t, X), lambda t: np.where(t, 1, 2), lambda t: 3 in t, np.linalg.norm, lambda t: np.add.reduce(t),
    lambda t: np.copyto(X.copy(), t), np.nonzero, lambda t: np.take(t, [0.5], axis=0), lambda t: np.take(t, t, axis=0)])  # fmt: skip
def test_functions_that_are_refused(table, call):
    """A TypeError in words, and nothing is read."""
    with pytest.raises(TypeError, match="a table in a file|indices must be integers"):
        call(table)
    assert table.stats().rows == 0


def test_axes_that_would_read_everything(table):
    for call in (lambda: np.take(table, [0], axis=1), lambda: np.take_along_axis(table, np.zeros((10, 1, 1), int), 1)):
        with pytest.raises(NotImplementedError, match="rows are along axis 0 only"):
            call()
    for call, error in ((lambda: np.take(table, [0], axis=3), IndexError), (lambda: np.take_along_axis(table, np.zeros((1, 1, 1), int), 3), IndexError),
                        (lambda: np.take_along_axis(table, [0], 3), IndexError),
                        (lambda: np.take_along_axis(table, [0], 0), ValueError), (lambda: np.take(table, [0], axis=0, mode="fill"), ValueError),
                        (lambda: np.take(table, [0], axis=0, out=np.empty((2, 4, 3), np.float32)), ValueError)):  # fmt: skip
        with pytest.raises(error):
            call()
    assert table.stats().rows == 0


def test_conversion(table, monkeypatch):
    """np.asarray reads it if the machine could hold it."""
    assert same(np.asarray(table), X) and np.asarray(table, np.float64).dtype == np.float64
    monkeypatch.setattr(table_array, "_bytes_of_memory", lambda: X.nbytes - 1)
    with pytest.raises(libgather.GatherMemoryError, match="the table has 480 bytes, more than this machine's memory"):
        np.asarray(table)
    assert same(table[...], X)


# ---- other libraries ----


def test_dask(table, path, tmp_path):
    da = module("dask.array")
    lazy = da.from_array(table, chunks=(3, 2, 3))
    assert table.stats().rows == 0 and (lazy.shape, lazy.dtype) == (X.shape, X.dtype)
    assert same(lazy.compute(scheduler="threads"), X) and same((lazy[2:9:2, 1] + 1).compute(), X[2:9:2, 1] + 1)
    assert same(lazy[[7, 1, 1]].compute(), X[[7, 1, 1]]) and same(da.take(lazy, [3, 9], axis=0).compute(), X[[3, 9]])
    assert np.isclose(lazy.mean().compute(), X.mean())
    with libgather.open(path) as again:
        assert da.from_array(again, chunks=(3, 2, 3)).name == lazy.name  # the same file has the same name
    np.save(path, X + 1)
    with libgather.open(path) as changed:
        assert da.from_array(changed, chunks=(3, 2, 3)).name != lazy.name


def test_xarray(table):
    """Lazily: only what is loaded is read."""
    xr = module("xarray")
    array = xr.DataArray(table, dims=("row", "y", "x"))
    assert array.shape == X.shape and "libgather.Table" in repr(array) and table.stats().rows == 0
    assert same(array[2:5].values, X[2:5]) and table.stats().rows == 3
    assert same(array.isel(row=[7, 1], x=0).values, X[[7, 1], :, 0]) and same(array.isel(row=[7, 1], x=[0, 2]).values, X[[7, 1]][:, :, [0, 2]])
    where = xr.DataArray([3, 9, -1], dims="point")
    assert same(array.isel(row=where, y=where % 4).transpose("point", "x").values, X[[3, 9, -1], [3, 1, 3]])
    rows = table.stats().rows
    for refused in (lambda: array + 1, lambda: 1 / array, lambda: array.mean()):
        with pytest.raises(TypeError):
            refused()
    assert table.stats().rows == rows


def test_data_loader(table):
    """A table is a map-style dataset, and a batch is one take."""
    torch = module("torch")
    batches = list(torch.utils.data.DataLoader(table, batch_size=4))
    assert [tuple(batch.shape) for batch in batches] == [(4, 4, 3), (4, 4, 3), (2, 4, 3)] and table.stats().takes == 3
    assert np.array_equal(torch.cat(batches).numpy(), X)


def test_batches_without_torch(table):
    rows = table.__getitems__([3, 3, -1])
    assert len(rows) == 3 and same(np.stack(rows), X[[3, 3, -1]]) and table.__getitems__([]) == [] and table.stats().takes == 2
