# SPDX-License-Identifier: MIT
"""Gradients of gathers, dense, sparse and into a given tensor, and sums of rows with equal ids, beside loops."""
from __future__ import annotations

import os

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather import GatherIndexError, GatherTypeError, GatherValueError
from scatter_cases import BFLOAT16, draw, same, strided, values
from support import scatter_loops
from support.refusal import refuses
from support.sample import STEP

ROUNDS = int(os.environ.get("GATHER_TEST_EXAMPLES", "60" if STEP == 1 else "20"))
TYPES = [np.dtype(t) for t in ("f2", BFLOAT16, "f4", "f8", "c8", "i4")]
OPS = {"take": "scatter", "elements": "scatter_elements", "nd": "scatter_nd"}
MODES = ("raise", "clip", "wrap", "zero", "fill", "skip")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_random(op, dtype):
    """Dense: into a new tensor, a given one, and on top of what is there."""
    rng = np.random.default_rng(41 + 10 * TYPES.index(dtype) + list(OPS).index(op))
    errors = 0
    for number in range(ROUNDS):
        case = draw(rng, dtype, OPS[op], number % 6 == 5)
        mode, negative = MODES[int(rng.integers(len(MODES))) if number % 6 != 5 else 0], case.options["negative"]
        shape, on = case.data.shape, case.axis % case.data.ndim
        start = values(rng, dtype, shape)
        add, out = number % 3 == 2, start.copy() if number % 3 else None
        want = scatter_loops.backward(op, case.updates, case.indices, shape, on, mode, negative, start if add else None)
        call = (strided(rng, case.updates), strided(rng, case.indices), shape)
        options = {"op": op, "mode": mode, "negative": negative, "axis": case.axis}
        if isinstance(want, scatter_loops.Bad):
            error = refuses(GatherIndexError, libgather.gather_backward, *call, out=out, add=add, **options)
            assert (error.position, error.value, error.low, error.high, error.axis, error.bad_count) == (
                want.position, want.value, want.low, want.high, want.axis, want.bad_count)  # fmt: skip
            assert out is None or same(out, start)
            errors += 1
            continue
        got = libgather.gather_backward(*call, out=out, add=add, **options)
        assert (out is None or got is out) and same(got, want), (case, options, got, want)
        dense = want if not add else scatter_loops.backward(op, case.updates, case.indices, shape, on, mode, negative)
        check_sparse(call, options, dense)
    assert errors > ROUNDS // 30


def check_sparse(call: tuple, options: dict, dense: np.ndarray) -> None:
    """The sparse form is the dense one: ids ascending, each once, and zeros elsewhere."""
    ids, rows = libgather.gather_backward(*call, sparse=True, **options)
    assert ids.dtype == np.int64 and (np.diff(ids) > 0).all() and len(rows) == len(ids) and rows.dtype == dense.dtype
    made = np.zeros((dense.size // max(int(np.prod(rows.shape[1:])), 1), *rows.shape[1:]), dense.dtype)
    if dense.size:
        made[ids] = rows
        assert np.array_equal(made.reshape(dense.shape).astype(complex), dense.astype(complex), equal_nan=True)


@pytest.mark.parametrize("name", ["take", "gather_elements", "gather_nd"])
def test_it_is_the_transpose(name):
    """sum(gather(x) * y) == sum(x * backward(y)), batch dimensions included: whole numbers, so that sums are exact."""
    rng = np.random.default_rng(42)
    for _ in range(ROUNDS):
        batch = int(rng.integers(0, 3))
        shape = tuple(int(n) for n in rng.integers(1, 5, batch + int(rng.integers(1, 4))))
        options = {"batch_dims": batch} if name != "gather_elements" else {}
        if name == "gather_elements":
            options["axis"] = int(rng.integers(len(shape)))
            size = tuple(int(rng.integers(1, 6)) if d == options["axis"] else n for d, n in enumerate(shape))
            ids = rng.integers(-shape[options["axis"]], shape[options["axis"]], size)
        elif name == "take":
            options["axis"] = int(rng.integers(batch, len(shape)))
            n = shape[options["axis"]]
            ids = rng.integers(-n, n, shape[:batch] + tuple(rng.integers(1, 4, int(rng.integers(0, 3)))))
        else:
            k = int(rng.integers(0, len(shape) - batch + 1))
            lengths = np.array(shape[batch : batch + k], int)
            ids = np.floor(rng.random((*shape[:batch], int(rng.integers(1, 5)), k)) * lengths).astype(int)
        x = rng.integers(-9, 9, shape).astype(float)
        read = getattr(libgather, name)(x, ids, **options)
        y = rng.integers(-9, 9, read.shape).astype(float)
        back = libgather.gather_backward(y, ids, shape, op=name, **options)
        assert back.shape == shape and (read * y).sum() == (x * back).sum()


def test_take_along_axis():
    grad = np.arange(6.0).reshape(3, 2)
    got = libgather.gather_backward(grad, [[1], [0], [1]], (3, 2), op="take_along_axis", axis=-1)
    assert got.tolist() == [[0, 1], [5, 0], [0, 9]]


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float32])
def test_ones_onto_one_row(dtype):
    """4,096 ones: bfloat16 added at each step stops at 256."""
    grad, ids = np.ones((4096, 3), dtype), np.zeros(4096, int)
    for threads in (1, 2, 8):
        assert (libgather.gather_backward(grad, ids, (5, 3), threads=threads)[0] == 4096).all()
        found, rows = libgather.gather_backward(grad, ids, (5, 3), sparse=True, threads=threads)
        assert found.tolist() == [0] and (rows == 4096).all()
    found, rows = libgather.unique_rows_sum(ids, grad)
    assert found.tolist() == [0] and (rows == 4096).all() and rows.dtype == dtype
    if dtype is ml_dtypes.bfloat16:
        assert (libgather.gather_backward(grad, ids, (5, 3), accumulate="steps")[0] == 256).all()


def test_threads():
    rng = np.random.default_rng(43)
    grad, ids = rng.standard_normal((60_000, 16)).astype(np.float32), rng.integers(0, 9000, 60_000)
    dense = [libgather.gather_backward(grad, ids, (9000, 16), threads=threads).tobytes() for threads in (1, 2, 3, 8)]
    sparse = [b"".join(a.tobytes() for a in libgather.unique_rows_sum(ids, grad, threads=threads)) for threads in (1, 2, 3, 8)]
    assert len(set(dense)) == len(set(sparse)) == 1
    want = np.zeros((9000, 16), np.float32)
    np.add.at(want, ids, grad)
    assert dense[0] == want.tobytes()


@pytest.mark.parametrize("index_type", ["i8", "i1", "u4", "u8", ">i2"])
def test_unique_rows(index_type):
    rng = np.random.default_rng(44)
    for shape in ((), (0,), (9,), (4, 5)):
        info = np.iinfo(np.dtype(index_type).newbyteorder("="))
        ids = rng.choice(np.array([0, 3, info.max >> 1, info.min], "O"), shape)
        ids = np.array(ids, index_type)
        rows = rng.integers(-50, 50, (*shape, 2, 3)).astype(np.float32)
        found, sums = libgather.unique_rows_sum(ids, strided(rng, rows))
        want, where = np.unique(ids.astype(np.int64), return_inverse=True)
        total = np.zeros((len(want), 2, 3), np.float32)
        np.add.at(total, where.reshape(-1), rows.reshape(-1, 2, 3))
        assert found.tolist() == want.tolist() and same(sums, total)


def test_refused():
    grad = np.ones((2, 3), np.float32)
    refuses(ValueError, libgather.gather_backward, grad, [0, 1], (4, 3), op="scatter")
    refuses(GatherValueError, libgather.gather_backward, grad, [0, 1], (4, 2))
    refuses(GatherValueError, libgather.gather_backward, grad, [0, 1], (4, -3))
    refuses(GatherValueError, libgather.gather_backward, grad, [0, 1], (4, 3), out=np.zeros((3, 4), np.float32))
    refuses(GatherTypeError, libgather.gather_backward, grad, [0, 1], (4, 3), out=np.zeros((4, 3)))
    refuses(GatherTypeError, libgather.gather_backward, np.array([["a"] * 3] * 2, object), [0, 1], (4, 3))
    refuses(TypeError, libgather.gather_backward, grad, [0, 1], (4, 3), add=True)
    refuses(NotImplementedError, libgather.gather_backward, grad, [0, 1], (4, 3), sparse=True, out=np.zeros((4, 3), np.float32))
    refuses(GatherValueError, libgather.unique_rows_sum, [0, 1, 2], grad)
    refuses(GatherTypeError, libgather.unique_rows_sum, [0.5, 1], grad)
    assert libgather.gather_backward([1, 2], [0, 0], 3).tolist() == [3, 0, 0]
