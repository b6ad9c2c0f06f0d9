# SPDX-License-Identifier: MIT
#
# test_recall.py: a call like the one before goes by what that decided. It must do what it would do anew: each case is called
# several times in a row, among others, with other values, and from many threads.
from __future__ import annotations

import itertools

import numpy as np
import pytest

import libgather
from support.refusal import refuses
from support.threads import together

AGAIN = 4  # the second call leaves a plan behind, the third is the first that uses it


def layouts() -> list[np.ndarray]:
    base = np.arange(240.0)
    return [
        base.reshape(20, 12),
        base.reshape(12, 20).T,
        base.reshape(20, 12)[::-1],
        base.reshape(20, 12).astype(">f8"),
        base.reshape(20, 12).astype(np.float32),
        base.astype(np.int64).reshape(20, 12),
        np.broadcast_to(base[:12], (20, 12)),
        np.lib.stride_tricks.as_strided(base, (20, 6), (96, 16)),
    ]


def indices() -> list[np.ndarray]:
    return [np.array([3, 0, -1]), np.array([3, 0, 5], np.uint8), np.array([[1], [-5]], np.int16), np.array(5), np.arange(6)[::2]]


@pytest.mark.parametrize("x", layouts(), ids=range(len(layouts())))
@pytest.mark.parametrize("ids", indices(), ids=range(len(indices())))
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_again_with_other_values(x: np.ndarray, ids: np.ndarray, axis: int) -> None:
    for turn in range(AGAIN):
        other = ids.copy()
        other.flat[0] = turn
        data = x + np.asarray(turn, x.dtype) if x.flags.c_contiguous else x
        result = libgather.take(data, other, axis=axis)
        assert result.dtype == data.dtype
        np.testing.assert_array_equal(result, np.take(data, other, axis=axis))


def test_all_in_turn() -> None:
    """Each call is unlike the one before, and like the one before that."""
    x = layouts()[0]
    calls = [
        (lambda: libgather.take(x, [1, 2], axis=0), np.take(x, [1, 2], axis=0)),
        (lambda: libgather.take(x, [1, 2], axis=1), np.take(x, [1, 2], axis=1)),
        (lambda: libgather.take(x, [1, -2], axis=0), np.take(x, [1, -2], axis=0)),
        (lambda: libgather.take(x, [1, -2], axis=0, mode="clip", negative=False), np.take(x, [1, 0], axis=0)),
        (lambda: libgather.take(x, [1, 99], axis=0, mode="wrap"), np.take(x, [1, 19], axis=0)),
        (lambda: libgather.take(x, [1, 99], axis=0, mode="zero"), np.stack([x[1], np.zeros(12)])),
        (lambda: libgather.take(x, [1, 99], axis=0, mode="fill", fill_value=7), np.stack([x[1], np.full(12, 7.0)])),
        (lambda: libgather.take(x, [1, 99], axis=0, mode="fill", fill_value=8), np.stack([x[1], np.full(12, 8.0)])),
        (lambda: libgather.take(x, [1, -2], axis=0, mode="zero"), x[[1, -2]]),
        (lambda: libgather.take(x, [1, -2], axis=0, mode="zero", negative=False), np.stack([x[1], np.zeros(12)])),
        (lambda: libgather.take(x, [1, 99], axis=0, rules="openvino-8"), np.stack([x[1], np.zeros(12)])),
        (lambda: libgather.take_along_axis(x, np.array([[1]]), axis=0), x[1:2]),
        (lambda: libgather.gather_elements(x, np.array([[1]]), axis=0), x[1:2, :1]),
        (lambda: libgather.take_along_axis(x, np.array([1]), axis=None), x.reshape(-1)[1:2]),
    ]
    for one, other in itertools.product(calls, repeat=2):
        for call, want in (one, one, one, other, one, other, other, other):
            np.testing.assert_array_equal(call(), want)


@pytest.mark.parametrize("call", [libgather.take_along_axis, libgather.gather_elements])
def test_elements(call: object) -> None:
    x = np.arange(24.0).reshape(4, 6)
    for turn in range(AGAIN):
        ids = np.full((2, 6), turn)
        np.testing.assert_array_equal(call(x, ids, axis=0), x[[turn, turn]])
        row = np.array([[turn]])
        want = x[turn : turn + 1] if call is libgather.take_along_axis else x[turn : turn + 1, :1]
        np.testing.assert_array_equal(call(x, row, axis=0), want)


def test_the_axis_is_asked_for() -> None:
    x = np.arange(12.0).reshape(3, 4)
    for _ in range(AGAIN):
        libgather.take(x, [1], axis=0)
    refuses(TypeError, libgather.take, x, [1])


def test_batches() -> None:
    x, ids = np.arange(18.0).reshape(3, 3, 2), np.array([[0, 1, 2], [2, 2, 2], [1, 0, 1]])
    for _ in range(AGAIN):
        for batch_dims in (0, 0, 0, 1, 1, 1):
            want = np.take(x, ids, axis=1) if batch_dims == 0 else np.stack([row[i] for row, i in zip(x, ids)])
            np.testing.assert_array_equal(libgather.take(x, ids, axis=1, batch_dims=batch_dims), want)


def test_flattened_data_is_another() -> None:
    x, ids = np.arange(12.0).reshape(3, 4), np.array([11, 5])
    for _ in range(AGAIN):
        np.testing.assert_array_equal(libgather.take_along_axis(x, ids, axis=None), [11, 5])
        for axis in (0, -1):
            refuses(libgather.GatherValueError, libgather.take_along_axis, x, ids, axis=axis)
    for _ in range(AGAIN):
        libgather.take_along_axis(x, ids, axis=None)
    refuses(libgather.GatherValueError, libgather.take_along_axis, x, ids, axis=0)


def test_errors_come_again() -> None:
    x = np.arange(5.0)
    out = np.full(3, -1.0)
    for turn in range(AGAIN):
        libgather.take(x, np.array([0, 1, 2]), out=np.empty(3))
        error = refuses(libgather.GatherIndexError, libgather.take, x, np.array([0, 5 + turn, -6]), out=out)
        assert (error.position, error.value, error.bad_count) == ((1,), 5 + turn, 2)
        assert error.op == "take"
        assert (out == -1).all()
        np.testing.assert_array_equal(libgather.take(x, np.array([0, 1, 2])), [0, 1, 2])


def test_outputs_of_any_layout() -> None:
    x, ids = np.arange(20.0).reshape(5, 4), np.array([4, 0])
    want = x[ids]
    for _ in range(AGAIN):
        for out in (np.empty((2, 4)), np.empty((4, 2)).T, np.empty((2, 8))[:, ::2], np.empty((2, 4))[::-1]):
            assert libgather.take(x, ids, axis=0, out=out) is out
            np.testing.assert_array_equal(out, want)
        for wrong in (np.empty((2, 4), np.float32), np.empty((4, 2)), x[:2]):
            refuses((libgather.GatherTypeError, libgather.GatherValueError), libgather.take, x, ids, axis=0, out=wrong)
    np.testing.assert_array_equal(x, np.arange(20.0).reshape(5, 4))


def test_dtypes_of_one_size_are_kept_apart() -> None:
    for dtype in ["f4", "i4", "u4", "f4", "M8[D]", "M8[s]", "S4", "U1", "i8", "f8", ">f8", "<f8"]:
        x = np.arange(6, dtype="i8").astype(dtype)
        for _ in range(AGAIN):
            result = libgather.take(x, [5, 0])
            assert result.dtype == x.dtype
            np.testing.assert_array_equal(result, x[[5, 0]])


def test_many_threads() -> None:
    """Each thread calls with a layout of its own half of the time, and with one that all share."""
    shared = np.arange(64.0).reshape(8, 8)
    wrong: list[str] = []

    def work(number: int) -> None:
        own = np.arange(64.0 * number).reshape(-1, 8) * number
        for turn in range(2000):
            ids = np.array([turn % 8, number % 8])
            for x in (shared, own) if turn % 2 else (own, shared):
                if not np.array_equal(libgather.take(x, ids % len(x), axis=0), x[ids % len(x)]):
                    wrong.append(f"{number}, {turn}")

    together(work, range(1, 7))
    assert not wrong
