# SPDX-License-Identifier: MIT
#
# test_gather_nd.py: gather_nd by each document, of each kind of data; random calls are in test_differential.py.
"""gather_nd: rules, types, libraries, plans, shapes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather import gather_nd
from support.skip import skip_test

X = np.arange(24).reshape(2, 3, 4)
PAIRS = np.array([[[0, 2], [1, -1]], [[-2, 0], [1, 1]]])
WANTED = X[PAIRS[..., 0], PAIRS[..., 1]]


def test_examples_of_onnx():
    """The five of GatherND-13."""
    two, three = np.array([[0, 1], [2, 3]]), np.arange(8).reshape(2, 2, 2)
    for data, indices, batch_dims, wanted in (
        (two, [[0, 0], [1, 1]], 0, [0, 3]),
        (two, [[1], [0]], 0, [[2, 3], [0, 1]]),
        (three, [[0, 1], [1, 0]], 0, [[2, 3], [4, 5]]),
        (three, [[[0, 1]], [[1, 0]]], 0, [[[2, 3]], [[4, 5]]]),
        (three, [[1], [0]], 1, [[2, 3], [4, 5]]),
    ):
        for rules in (None, "onnx-12", "onnx-13", "openvino-8"):
            assert gather_nd(data, indices, batch_dims=batch_dims, rules=rules).tolist() == wanted


def test_rules():
    assert [row["rules"] for row in libgather.ops() if row["name"] == "GatherND"] == [
        "onnx-11", "onnx-12", "onnx-13", "microsoft-1", "openvino-5", "openvino-8"]  # fmt: skip
    batched = np.zeros((2, 3, 1), np.int64)
    assert gather_nd(X, batched, batch_dims=2).shape == (2, 3)
    assert gather_nd(X, batched, batch_dims=2, rules="openvino-5").shape == (6,)
    assert gather_nd(X, np.zeros((5, 0), int)).shape == (5, 2, 3, 4)
    assert np.array_equal(gather_nd(X, np.zeros((5, 0), int), rules="microsoft-1"), np.stack([X] * 5))
    for rules, indices, batch_dims in (("onnx-13", np.zeros((5, 0), int), 0), ("onnx-11", batched, 2), ("microsoft-1", batched, 1), (None, batched, 3),
                                       (None, [[0, 0, 0, 0]], 0), (None, 1, 0), (None, [[0]], 1)):  # fmt: skip
        with pytest.raises(libgather.GatherValueError):
            gather_nd(X, indices, batch_dims=batch_dims, rules=rules)
    with pytest.raises(libgather.GatherIndexError):
        gather_nd(X, [[-1]], rules="openvino-5")
    with pytest.raises(ValueError, match="onnx-11, onnx-12"):
        gather_nd(X, [[0]], rules="onnx-1")
    with pytest.raises(TypeError):
        gather_nd(X, [[0]], axis=0)


def test_errors():
    with pytest.raises(libgather.GatherIndexError) as caught:
        gather_nd(X, [[[0], [1]], [[2], [-4]]], batch_dims=1)
    error = caught.value
    assert (error.position, error.value, error.low, error.high, error.axis, error.bad_count) == ((1, 1, 0), -4, -3, 2, 1, 1)
    assert error.op == "gather_nd" and error.rules is None and error.input == "indices"
    out = np.full((2, 4), -1)
    with pytest.raises(libgather.GatherIndexError) as caught:
        gather_nd(X, np.array([[0, 3], [2, 7]], "u1"), out=out, rules="onnx-13")
    assert (out == -1).all() and caught.value.bad_count == 3 and caught.value.position == (0, 1) and caught.value.rules == "onnx-13"


def test_types():
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4, "M8[D]", "U2", "V3", np.dtypes.StringDType(), object, [("a", "i1"), ("b", "f8")]):
        x = np.zeros(X.shape, dtype) if isinstance(dtype, list) or dtype == "V3" else (X % 7).astype(dtype)
        got = gather_nd(x, PAIRS)
        wanted = x[PAIRS[..., 0], PAIRS[..., 1]]
        assert got.dtype == wanted.dtype and got.shape == wanted.shape and got.tolist() == wanted.tolist()
    masked = np.ma.array(X, mask=X % 5 == 0)
    got = gather_nd(masked, PAIRS)
    assert isinstance(got, np.ma.MaskedArray) and got.tolist() == masked[PAIRS[..., 0], PAIRS[..., 1]].tolist()
    words = np.array([["a", "b"], ["c", "d"]], object)
    assert gather_nd(words, [[0, 1], [5, 0]], mode="fill", fill_value="?").tolist() == ["b", "?"]
    assert gather_nd(words, [[0, 1], [5, 0]], mode="zero").tolist() == ["b", 0]
    assert gather_nd(words, [0, 1]) == "b" and gather_nd(X, [0, 0, 3]) == 3
    assert gather_nd([[1, 2], [3, 4]], [[1, 0]]).tolist() == [3] and gather_nd(memoryview(b"abc"), [[2]]).tolist() == [99]


def test_plans_and_shapes():
    plan = libgather.Plan.gather_nd(X, PAIRS, mode="clip")
    assert plan.shape == (2, 2, 4) and np.array_equal(plan(X * 2, PAIRS), WANTED * 2)
    assert np.array_equal(plan(X, np.full_like(PAIRS, 99)), np.broadcast_to(X[1, 2], (2, 2, 4)))
    with pytest.raises(TypeError):
        libgather.Plan.gather_nd(X, PAIRS, axis=0)
    with pytest.raises(libgather.GatherIndexError):
        libgather.Plan.gather_nd(X, PAIRS).check(np.full_like(PAIRS, 9))
    infer = libgather.infer_shape
    assert infer((2, "n", 4), ("k", 2), op="gather_nd") == ("k", 4)
    assert infer((2, "n", 4), (2, "k", 1), op="gather_nd", batch_dims=1) == (2, "k", 4)
    assert infer((2, 3, 4), (2, 3, 1), op="gather_nd", batch_dims=2, rules="openvino-5") == (6,)
    assert infer((2, 3, 4), ("k", None), op="gather_nd") is None
    for arguments in (((2, 3), ("k", 3)), ((2, 3), ())):
        with pytest.raises(libgather.GatherValueError):
            infer(*arguments, op="gather_nd")
    with pytest.raises(TypeError, match="no axis"):
        infer((2, 3), ("k", 1), op="gather_nd", axis=0)
    with pytest.raises(TypeError, match="needs axis"):
        infer((2, 3), ("k", 1))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large(threads):
    rng = np.random.default_rng(7)
    x = rng.integers(0, 1 << 30, (200, 300, 5), np.int32)
    indices = np.stack([rng.integers(-200, 200, 70_000), rng.integers(-300, 300, 70_000)], -1)
    for given in (indices, np.asfortranarray(indices), indices.astype(">i4"), indices[::-1]):
        assert np.array_equal(gather_nd(x, given, threads=threads), x[tuple(given.T.astype(int))])
        assert np.array_equal(gather_nd(x.transpose(1, 0, 2), given[:, ::-1], threads=threads), x[tuple(given.T.astype(int))])


def test_tables(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with libgather.open(tmp_path / "x.npy") as table:
        assert np.array_equal(gather_nd(table, PAIRS), WANTED) and np.array_equal(table.gather_nd(PAIRS), WANTED)
        out = np.empty_like(WANTED)
        assert table.gather_nd(PAIRS, out=out) is out and np.array_equal(out, WANTED)
        i, j = np.array([[0], [1]]), np.array([2, 0, -1])
        assert np.array_equal(table.take((i, j)), X[i, j]) and np.array_equal(table.submit((i, j)).wait(), X[i, j])
        assert np.array_equal(table.take((i, 1, [0, 3])), X[i, 1, [0, 3]]) and table.take((0, 1)).shape == (2, 3, 4)
        assert np.array_equal(table.take((i, np.array([5])), mode="fill", fill_value=7), np.full((2, 1, 4), 7))
        for refused, error in (((i, np.zeros(3), 0), libgather.GatherTypeError), ((i, np.zeros((3, 3), int)), libgather.GatherValueError),
                               ((i,) * 4, libgather.GatherValueError), ((i, np.array([2**64 - 1], "u8")), libgather.GatherIndexError)):  # fmt: skip
            with pytest.raises(error):
                table.take(refused)
        with pytest.raises(libgather.GatherNotSupportedError):
            gather_nd(table, PAIRS, batch_dims=1)
        with pytest.raises(TypeError):
            table.gather_nd(PAIRS, axis=0)


def test_torch():
    try:
        import torch
    except ImportError:
        skip_test("torch", "the package is not installed")
    x = torch.arange(24).reshape(2, 3, 4)
    for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.complex64, torch.bool, torch.int8):
        got = gather_nd(x.to(dtype), torch.from_numpy(PAIRS))
        assert isinstance(got, torch.Tensor) and got.dtype == dtype and got.shape == WANTED.shape
        assert torch.equal(got.view(torch.uint8), x.to(dtype)[PAIRS[..., 0], PAIRS[..., 1]].contiguous().view(torch.uint8))
    with pytest.raises(libgather.GatherNotSupportedError):
        gather_nd(torch.ones(2, 2, requires_grad=True), [[0, 0]])
