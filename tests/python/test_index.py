# SPDX-License-Identifier: MIT
#
# test_index.py: libgather.index beside NumPy's x[key]: results, types, errors; policies, outputs, other libraries. GATHER_TEST_EXAMPLES=N
# draws N random keys, at least 20,000.
"""index(x, key) against NumPy."""
from __future__ import annotations

import os
import pickle
import random
import threading

import ml_dtypes
import numpy as np
import pytest

import libgather
from arrays import EXAMPLES
from keys import some_array, some_key
from libgather import index
from support.refusal import refuses
from support.sample import STEP
from support.skip import skip_test

X = np.arange(24).reshape(2, 3, 4)
KEYS = [
    0, (0,), (0, 1, 2), ..., (0, ...), (), None, slice(1), (slice(None, None, -1),), [0, 1], (0, [0, 1]), (slice(None), [2, 0]),
    ([0, 1], slice(None), 0), (0, slice(None), [0, 1]), ([0, 1], ..., [0, 1]), True, False, (True, 0), (..., True), (0, slice(None), True),
    np.array(1), np.ones((2, 3), bool), X > 7, [[True] * 3] * 2, [[0, 1], [1, 0]], (..., np.array(1)), (np.array(1), 2, 3), (1, 2, 3, ...),
    (None,) * 61, [], [[]], np.array(1, ">i2"), np.array([1, 0], ">u8"), (np.uint8(1), 2), [True, False], memoryview(np.array([1])), range(2),
    np.ix_([1, 0], [2, 0, 1], [3]), (slice(1, 0), [0, 1]), (np.zeros(2, bool), [0]), np.zeros((2, 0), bool), (..., np.zeros(0, bool)),
    ([0], None, [1, 2]), (np.bool_(1), ..., np.array(0)), ([], [5]), (np.zeros((0, 1), int), [7, 8]), bytearray(b"\1\0"), [np.array(1), 0],
    (slice(None), np.array([[True, False, True, False]] * 3))]  # fmt: skip
BAD_KEYS = [5, -3, [5, 0, -9], (slice(None), [0, 3, 1]), ([], 5), (5, []), 10**30, "x", 1.5, [1.5], (0, 0, 0, 0), (None,) * 70, np.ones((2, 4), bool),
            slice("a"), slice(None, None, 0), [[0, 1], [0]], np.array([]), (..., ...), b"ab", {}, object(), ([0, 1], [0, 1, 2]), np.array([0, 1], object),
            [[True, False, True]], (0, 1.0), [None], np.array(1.0), np.datetime64("2000"), (0,) * 70, [slice(0, 1)]]  # fmt: skip


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return error


def same(want, got) -> bool:
    """Type, shape, dtype and bytes; or an error of NumPy's class."""
    if isinstance(want, Exception):
        return isinstance(got, type(want))
    if type(want) is not type(got) or np.shape(want) != np.shape(got) or np.asarray(want).dtype != np.asarray(got).dtype:
        return False
    if np.asarray(want).dtype.kind == "O":
        return np.asarray(want).tolist() == np.asarray(got).tolist()
    return np.ascontiguousarray(want).tobytes() == np.ascontiguousarray(got).tobytes()


@pytest.mark.parametrize("key", KEYS + BAD_KEYS, ids=lambda key: repr(key)[:40])
def test_keys(key):
    want, got = outcome(X.__getitem__, key), outcome(index, X, key)
    assert same(want, got), (want, got)
    assert isinstance(want, Exception) == (any(key is bad for bad in BAD_KEYS))


@pytest.mark.parametrize("key", [(), ..., None, True, False, (..., None), 0, [0], np.array(True)], ids=repr)
def test_rank_0(key):
    x = np.array(3)
    assert same(outcome(x.__getitem__, key), outcome(index, x, key))


def test_rank_64():
    x = np.ones((1,) * 64)
    for key in (..., (slice(None),) * 64, (0, None), None, (slice(None), [0]), ([0],) * 64, (0,) * 64, [[0]], ([0, 0],) * 3):
        assert same(outcome(x.__getitem__, key), outcome(index, x, key)), key


def test_random_keys():
    """A failure names the seed: some_array and some_key make the case again."""
    count, errors = max(20000 // min(STEP, 4), EXAMPLES), 0
    for seed in range(count):
        r = random.Random(f"{os.environ.get('GATHER_TEST_SEED', '')}{seed}")
        x = some_array(r)
        key = some_key(r, x.shape)
        want, got = outcome(x.__getitem__, key), outcome(index, x, key)
        assert same(want, got), (seed, x.shape, x.dtype, x.strides, key, want, got)
        assert isinstance(want, Exception) or not isinstance(got, np.ndarray) or not np.shares_memory(got, x), (seed, key)
        errors += isinstance(want, Exception)
    assert count // 20 < errors < count // 5


# ---- errors ----------------------------------------------------------------------------------------------------------

FIELDS = ("item", "position", "value", "low", "high", "axis", "bad_count")


@pytest.mark.parametrize("key, fields", [
    (5, (0, (), 5, -2, 1, 0, 1)),
    ((0, -4), (1, (), -4, -3, 2, 1, 1)),
    ((..., 4), (1, (), 4, -4, 3, 2, 1)),
    ([0, 2, -3], (0, (1,), 2, -2, 1, 0, 2)),
    ((None, slice(None), [[0], [3]]), (2, (1, 0), 3, -3, 2, 1, 1)),
    ((slice(None), [[0], [3]], [0, 9]), (2, (0, 1), 9, -4, 3, 2, 4)),  # broadcast: each tuple counts
    (([0, 1], [0, 7], [9, 0]), (2, (0,), 9, -4, 3, 2, 2)),
    (([0, 1], 5, [9, 0]), (1, (), 5, -3, 2, 1, 1)),  # integers first
    ((np.array([1, 2**64 - 1], "u8"), [0, 1]), (0, (1,), 2**64 - 1, -2, 1, 0, 1)),
    ((np.array([1, 2**64 - 1], ">u8"), [0, 1], [0, 0]), (0, (1,), 2**64 - 1, -2, 1, 0, 1)),
    ((np.array([True, True]), [0, -4], slice(None)), (1, (1,), -4, -3, 2, 1, 1)),
], ids=repr)  # fmt: skip
def test_index_errors(key, fields):
    for out in (None, 0):
        with pytest.raises(libgather.GatherIndexError) as caught:
            index(X, key, out=out if out is None else np.empty(np.broadcast_shapes(*shapes_of(key)), X.dtype))
        error = caught.value
        assert tuple(getattr(error, name) for name in FIELDS) == fields
        assert error.op == "index" and error.input == "indices" and error.status == "index_out_of_range"
        assert str(error.value) in str(error) and f"axis {error.axis}" in str(error) and f"key[{error.item}]" in str(error)
        again = pickle.loads(pickle.dumps(error))
        assert tuple(getattr(again, name) for name in FIELDS) == fields


def shapes_of(key) -> list:
    """Of the result, found with the good numbers of the same key."""
    parts = key if isinstance(key, tuple) else (key,)
    good = tuple(np.zeros(np.shape(part), int) if isinstance(part, list | np.ndarray) and np.asarray(part).dtype != bool
                 else 0 if isinstance(part, int) else part for part in parts)
    return [X[good].shape]


def test_key_errors():
    for key in ((0, 0, 0, 0), np.ones((2, 4), bool), ([0, 1], [0, 1, 2]), "x", 10**30, (..., ...)):
        error = refuses(libgather.GatherKeyError, index, X, key)
        assert isinstance(error, IndexError) and error.op == "index" and error.message
        assert type(pickle.loads(pickle.dumps(error))) is libgather.GatherKeyError


def test_other_errors():
    class Broken:
        def __index__(self):
            raise RuntimeError("mine")

    for key in (Broken(), (0, Broken()), slice(Broken())):
        refuses(RuntimeError, index, X, key, says="mine")
    for arguments, keywords in (((X,), {}), ((X, 0, 1), {}), ((X, 0), {"axis": 0}), ((X, 0), {"rules": "onnx-13"})):
        refuses(TypeError, index, *arguments, **keywords)
    with pytest.raises(libgather.GatherKeyError, match="none of"):
        index(X, np.ma.array([0, 1], mask=[0, 1]))  # which NumPy takes without its mask


# ---- policies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wrap", "clip", "zero", "fill"])
@pytest.mark.parametrize("negative", [None, True, False])
def test_modes(mode, negative):
    """Against the numbers that the policy makes of them; integers of the key as arrays."""
    r = random.Random(5)
    for _ in range(300):
        x = np.arange(60).reshape(3, 4, 5) + 1
        key, good, hit = [], [], np.zeros((), bool)
        for axis, length in enumerate(x.shape):
            kind = r.choice(["slice", "integer", "array", "array"])
            if kind == "slice":
                key.append(slice(r.randrange(2), None))
                good.append(key[-1])
                continue
            shape = () if kind == "integer" else r.choice([(2,), (3, 1), (3, 2), (1,)])
            numbers = np.array([r.randrange(-2 * length - 1, 2 * length + 2) for _ in range(int(np.prod(shape)))], int).reshape(shape)
            key.append(int(numbers) if kind == "integer" else numbers.astype(r.choice(["i1", "i4", "i8"])))
            within = (numbers >= (0 if negative is False else -length)) & (numbers < length)
            plain = np.where(within, numbers % length, np.clip(numbers, 0, length - 1) if mode == "clip" else numbers % length)
            good.append(int(plain) if kind == "integer" else plain)
            hit = hit | ~within
        want = x[tuple(good)]
        if mode in ("zero", "fill"):
            parts = [part for part in key if not isinstance(part, slice)]
            marked = np.zeros_like(x[tuple(good)])
            for where in np.ndindex(np.broadcast_shapes(*(np.shape(part) for part in parts))):
                if np.broadcast_to(hit, np.broadcast_shapes(*(np.shape(part) for part in parts)))[where]:
                    marked[place_of(good, where)] = 1
            want = np.where(marked, 0 if mode == "zero" else 7, want)
        got = index(x, tuple(key), mode=mode, negative=negative, **({"fill_value": 7} if mode == "fill" else {}))
        assert np.array_equal(got, want), (key, got, want)


def place_of(key: list, where: tuple) -> tuple:
    """Where the result has the broadcast coordinates `where`."""
    arrays = [number for number, part in enumerate(key) if not isinstance(part, slice)]
    if not any(np.ndim(key[number]) for number in arrays):
        return (...,)
    apart = arrays[-1] - arrays[0] != len(arrays) - 1
    return where if apart else (slice(None),) * arrays[0] + where


def test_promise():
    assert np.array_equal(index(X, ([0, 1], [2, -1]), mode="promise"), X[[0, 1], [2, -1]])
    with pytest.raises(libgather.GatherIndexError):  # integers are looked at in any case
        index(X, 5, mode="promise")


# ---- outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [(slice(None), [0, 2]), ([0, 1], [2, 0]), (slice(None), [1, 0], [3, 2]), 0, (..., 1), (X > 9), ([0], slice(None), [1]), (None, 1)], ids=repr)
def test_out(key):
    want = X[key]
    for make in (lambda s: np.full(s, -1), lambda s: np.full(s[::-1], -1).T, lambda s: np.full((*s, 2), -1)[..., 0], lambda s: np.full(s, -1)[..., ::-1]):
        out = make(want.shape)
        assert index(X, key, out=out) is out and np.array_equal(out, want)
    refuses(libgather.GatherValueError, index, X, key, out=np.empty((*want.shape, 1), int), says="shape")
    refuses(libgather.GatherTypeError, index, X, key, out=np.empty(want.shape, np.float64))
    same_memory = np.arange(24).reshape(2, 3, 4)
    refuses(libgather.GatherValueError, index, same_memory, (slice(None), [0, 1, 2]), out=same_memory, says="overlaps")


def test_out_is_unchanged_after_an_error():
    for key in (([0, 1], [0, 3]), (slice(None), [[0, 3]]), (slice(None), [0, 1], [0, 4])):
        out = np.full(X[tuple(np.array(k) * 0 if isinstance(k, list) else k for k in key)].shape, 77)
        refuses(libgather.GatherIndexError, index, X, key, out=out)
        assert (out == 77).all()


def test_key_and_output_may_be_neighbours():
    """The output lies between two arrays of the key."""
    memory = np.zeros(30, np.int64)
    memory[:4], memory[20:24] = [0, 1, 1, 0], [2, 1, 0, 2]
    out = memory[8:12]
    want = X[:, :, 0][memory[:4].copy(), memory[20:24].copy()]
    assert np.array_equal(index(np.ascontiguousarray(X[:, :, 0]), (memory[:4], memory[20:24]), out=out), want)


# ---- large, threads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large(threads):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 1000, (300, 200, 9), np.int32)
    i, j = rng.integers(-300, 300, (400, 90)), rng.integers(-200, 200, 90, np.int32)
    mask = rng.random((300, 200)) < 0.3
    for key in ((i, j), (i, slice(None), 3), (slice(None), j), mask, (slice(None), rng.random(200) < 0.5), (slice(None, None, 2), slice(1, None)), np.ix_(i[0], j),
                (slice(None), j, rng.integers(0, 9, 90)), x > 500, (mask, slice(None, None, -1)), x.transpose(2, 0, 1)[0] > 500):
        assert np.array_equal(index(x, key, threads=threads), x[key])
        turned = np.asfortranarray(x)
        assert np.array_equal(index(turned, key, threads=threads), x[key])


def test_masks_that_change():
    """Another thread writes the mask meanwhile: anything but memory of others."""
    mask, x, end = np.zeros(1 << 20, bool), np.arange(1 << 20), threading.Event()

    def write():
        while not end.is_set():
            mask[:] = True
            mask[::3] = False

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(30):
            found = index(x, mask)
            assert found.size <= x.size and (found < x.size).all()
    finally:
        end.set()
        writer.join()


# ---- types and libraries -----------------------------------------------------------------------------------------------

SMALL = [(0, [1, 2]), ([0, 1], slice(None), [0, 1]), (..., [[0], [3]]), (1, 2, 3), (slice(None, None, -1), None), (X > 5), (0, 0, 0, ...)]


@pytest.mark.parametrize("key", SMALL, ids=repr)
def test_types(key):
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4, "M8[s]", "U3", np.dtypes.StringDType(), object, [("a", "i1"), ("b", "f8")]):
        x = np.arange(24).reshape(2, 3, 4).astype(dtype) if not isinstance(dtype, list) else np.zeros((2, 3, 4), dtype)
        want, got = x[key], index(x, key)
        assert type(want) is type(got) and np.asarray(want).tolist() == np.asarray(got).tolist() and np.shape(want) == np.shape(got)
    masked = np.ma.array(X, mask=X % 5 == 0)
    want, got = masked[key], index(masked, key)
    assert type(got) is type(want) and np.array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want)) and np.ma.allequal(got, want)


def test_subclasses_and_lists():
    class Mine(np.ndarray):
        pass

    assert type(index(X.view(Mine), [0])) is Mine and type(index(X.view(Mine), (0, 0, 0))) is np.int64
    assert np.array_equal(index([[1, 2], [3, 4]], ([0, 1], [1, 0])), [2, 3])


def test_torch():
    try:
        import torch
    except ImportError:
        skip_test("torch", "the package is not installed")
    x = torch.arange(24).reshape(2, 3, 4).to(torch.bfloat16)
    i, j = torch.tensor([0, 1, 1]), torch.tensor([[2], [0]])
    for key in ((i, j), (slice(None), j), x > 9, (..., i), 0, (i > 0).logical_not(), None, (i, slice(None), j), torch.tensor(1), torch.tensor([1])):
        if isinstance(key, torch.Tensor) and key.dtype == torch.bool and key.shape != x.shape:
            continue
        got, want = index(x, key), x[key]
        assert isinstance(got, torch.Tensor) and got.dtype == want.dtype and torch.equal(got, want) and got.data_ptr() != x.data_ptr()
    assert np.array_equal(index(X, (i, j)), X[i.numpy(), j.numpy()])
    refuses(libgather.GatherNotSupportedError, index, torch.ones(3, requires_grad=True), [0])


def test_a_table(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with libgather.open(tmp_path / "x.npy") as table:
        assert np.array_equal(index(table, ([0, 1], [1, 2])), X[[0, 1], [1, 2]])
        refuses(libgather.GatherNotSupportedError, index, table, [0], mode="clip")
