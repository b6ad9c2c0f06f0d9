# SPDX-License-Identifier: MIT
#
# test_gather_nd.py: gather_nd by each document, of each kind of data; random calls are here and in test_differential.py.
"""gather_nd: rules, types, libraries, plans, shapes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather import gather_nd
from support.refusal import refuses
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
        refuses(libgather.GatherValueError, gather_nd, X, indices, batch_dims=batch_dims, rules=rules)
    refuses(libgather.GatherIndexError, gather_nd, X, [[-1]], rules="openvino-5")
    refuses(ValueError, gather_nd, X, [[0]], rules="onnx-1", says="onnx-11, onnx-12")
    refuses(TypeError, gather_nd, X, [[0]], axis=0)


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
    refuses(TypeError, libgather.Plan.gather_nd, X, PAIRS, axis=0)
    refuses(libgather.GatherIndexError, libgather.Plan.gather_nd(X, PAIRS).check, np.full_like(PAIRS, 9))
    infer = libgather.infer_shape
    assert infer((2, "n", 4), ("k", 2), op="gather_nd") == ("k", 4)
    assert infer((2, "n", 4), (2, "k", 1), op="gather_nd", batch_dims=1) == (2, "k", 4)
    assert infer((2, 3, 4), (2, 3, 1), op="gather_nd", batch_dims=2, rules="openvino-5") == (6,)
    assert infer((2, 3, 4), ("k", None), op="gather_nd") is None
    for arguments in (((2, 3), ("k", 3)), ((2, 3), ())):
        refuses(libgather.GatherValueError, infer, *arguments, op="gather_nd")
    refuses(TypeError, infer, (2, 3), ("k", 1), op="gather_nd", axis=0, says="no axis")
    refuses(TypeError, infer, (2, 3), ("k", 1), says="needs axis")


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
            refuses(error, table.take, refused)
        refuses(libgather.GatherNotSupportedError, gather_nd, table, PAIRS, batch_dims=1)
        refuses(TypeError, table.gather_nd, PAIRS, axis=0)


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
    refuses(libgather.GatherNotSupportedError, gather_nd, torch.ones(2, 2, requires_grad=True), [[0, 0]])


RULES = {"onnx-11": (False, True), "onnx-12": (True, True), "onnx-13": (True, True), "microsoft-1": (False, True), "openvino-5": (True, False),
         "openvino-8": (True, True)}  # whether there is a batch_dims, and whether a negative number counts from the end  # fmt: skip


def by_the_document(x: np.ndarray, indices: np.ndarray, batch_dims: int, rules: str, resolve) -> np.ndarray:
    """The loop of the documents. resolve(number, length, place) is the number's place on its axis, or None for a filled row."""
    k = indices.shape[-1]
    out = np.zeros(indices.shape[:-1] + x.shape[batch_dims + k :], x.dtype)
    for at in np.ndindex(indices.shape[:-1]):
        where = [resolve(int(indices[at][c]), x.shape[batch_dims + c], (*at, c)) for c in range(k)]
        if None not in where:
            out[at] = x[(*at[:batch_dims], *where)]
    fused = batch_dims if rules == "openvino-5" else 1
    return out.reshape(int(np.prod(out.shape[:fused])), *out.shape[fused:]) if fused > 1 else out


def drawn(rng: np.random.Generator, rules: str) -> tuple[np.ndarray, np.ndarray, int]:
    has_batches, negative = RULES[rules]
    rank = int(rng.integers(1, 5))
    batch_dims = int(rng.integers(0, rank)) if has_batches else 0
    shape = tuple(int(n) for n in rng.integers(1, 5, rank))
    k = int(rng.integers(1, rank - batch_dims + 1))
    tail = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.05 else 1, 4, int(rng.integers(0, 3))))
    kinds = ("int64",) if rules.startswith("onnx") else ("int32", "int64") if rules == "microsoft-1" else ("int8", "int16", "int32", "int64", "uint8")
    indices = np.empty((*shape[:batch_dims], *tail, k), rng.choice(kinds))
    for c in range(k):
        n = shape[batch_dims + c]
        indices[..., c] = rng.integers(-n if negative and indices.dtype.kind == "i" else 0, n, indices.shape[:-1])
    x = rng.integers(0, 100, shape).astype(rng.choice(["float32", "uint8", "int16", "float64", "bool"]))
    return (np.asfortranarray(x) if rng.random() < 0.3 else x), indices, batch_dims


@pytest.mark.parametrize("block", range(10))
def test_random_cases(block):
    """22,000 cases beside the loop: every version, layouts, policies; of errors the tuple, the component, its axis and the value."""
    rng = np.random.default_rng(1800 + block)
    failed = 0
    for number in range(2200):
        rules = tuple(RULES)[number % len(RULES)]
        x, indices, batch_dims = drawn(rng, rules)
        negative = RULES[rules][1]
        mode = (None, "clip", "wrap", "zero")[int(rng.integers(4))]
        spoilt = indices.size > 0 and rng.random() < 0.4
        if spoilt:
            at = tuple(int(rng.integers(n)) for n in indices.shape)
            indices[at] = x.shape[batch_dims + at[-1]] + int(rng.integers(3))

        def resolve(i: int, n: int, at: tuple):
            place = i + n if negative and -n <= i < 0 else i
            if 0 <= place < n:
                return place
            return {"clip": 0 if i < 0 else n - 1, "wrap": i % n, "zero": None}[mode]

        keywords = {"batch_dims": batch_dims, "rules": rules, "mode": mode, "threads": 1 + number % 2}
        if spoilt and mode is None:
            with pytest.raises(libgather.GatherIndexError) as caught:
                gather_nd(x, indices, **keywords)
            error = caught.value
            assert (error.position, error.value, error.axis, error.bad_count) == (at, int(indices[at]), batch_dims + at[-1], 1)
            failed += 1
            continue
        got, wanted = gather_nd(x, indices, **keywords), by_the_document(x, indices, batch_dims, rules, resolve)
        assert np.asarray(got).dtype == x.dtype and np.shape(got) == wanted.shape and np.array_equal(got, wanted), (rules, x.shape, indices.shape, mode)
    assert failed > 100


@pytest.mark.parametrize("mode, axis", [("clip", 1), ("wrap", 1), ("raise", 0)])
def test_the_axis_that_cannot_be_repaired(mode, axis, tmp_path):
    """Clip and wrap fail only on an axis of length 0: the error names that one, not the index before it."""
    empty, ids = np.zeros((3, 0, 2), np.float32), np.array([[7, 8], [1, 9]])
    np.save(tmp_path / "empty.npy", empty)
    table = libgather.open(tmp_path / "empty.npy")
    plan = libgather.Plan.gather_nd(empty, ids, mode=mode)
    for call in (lambda: gather_nd(empty, ids, mode=mode), lambda: plan(empty, ids), lambda: plan.check(ids), lambda: table.gather_nd(ids, mode=mode)):
        with pytest.raises(libgather.GatherIndexError) as caught:
            call()
        error = caught.value
        assert (error.axis, error.position, error.value, error.bad_count) == (axis, (0, axis), 7 + axis, 3)
