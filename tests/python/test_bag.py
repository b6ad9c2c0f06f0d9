# SPDX-License-Identifier: MIT
"""embedding_bag beside a loop: every form of bags, of tables in memory and in files."""
from __future__ import annotations

import os

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather import GatherIndexError, GatherTypeError, GatherValueError, bags
from scatter_cases import BFLOAT16, same, strided
from support import scatter_loops
from support.refusal import refuses
from support.sample import STEP

ROUNDS = int(os.environ.get("GATHER_TEST_EXAMPLES", "60" if STEP == 1 else "20"))
TYPES = [np.dtype(t) for t in ("f2", BFLOAT16, "f4", "f8", "i4", "u1")]
FORMS = ("offsets", "packed", "segments")


def draw(rng, dtype, form):
    """(table, indices, keywords of the form, where each bag begins and ends)"""
    rows, count = int(rng.integers(1, 8)), int(rng.integers(0, 6))
    shape = (rows, *(int(n) for n in rng.integers(0 if rng.integers(9) == 0 else 1, 5, int(rng.integers(0, 3)))))
    table = (rng.integers(0, 200, shape) if dtype.kind in "iu" else rng.standard_normal(shape)).astype(dtype)
    if form == "packed":
        width = int(rng.integers(1, 5))
        return table, rng.integers(0, rows, (count, width)), {}, [i * width for i in range(count + 1)]
    n = int(rng.integers(0, 12)) if count else 0
    bounds = [0, *sorted(int(b) for b in rng.integers(0, n + 1, max(count - 1, 0))), n][: count + 1] if count else [0]
    ids = rng.integers(0, rows, n)
    if form == "offsets":
        last = bool(rng.integers(2)) or not count
        return table, ids, {"offsets": np.array(bounds if last else bounds[:-1], rng.choice(["i8", "i4"])), "include_last_offset": last}, bounds
    owners = np.repeat(np.arange(count), np.diff(bounds))
    return table, ids, {"segment_ids": owners, "num_segments": count}, bounds


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_random(form, dtype):
    rng = np.random.default_rng(51 + 10 * TYPES.index(dtype) + FORMS.index(form))
    for number in range(ROUNDS):
        table, ids, keywords, bounds = draw(rng, dtype, form)
        reduction, accumulate = str(rng.choice(["sum", "mean", "max"])), [None, "steps", "halves", "wide"][number % 4]
        weights = None
        if reduction == "sum" and number % 2:
            weights = (rng.integers(0, 5, ids.shape) if dtype.kind in "iu" else rng.standard_normal(ids.shape)).astype(dtype)
        default = int(rng.integers(-1, table.shape[0])) if form != "packed" else -1
        flat = None if weights is None else weights.reshape(-1)
        want = scatter_loops.bag(table, ids.reshape(-1), bounds, weights=flat, reduction=reduction, default_index=default, accumulate=accumulate)
        out = np.full_like(want, 3) if number % 3 == 0 else None
        given = ids.astype("i4") if number % 5 == 0 else strided(rng, ids)
        options = {"reduction": reduction, "default_index": default, "per_sample_weights": weights, "accumulate": accumulate}
        got = libgather.embedding_bag(strided(rng, table), given, out=out, **keywords, **options)
        assert (out is None or got is out) and same(got, want), (table, ids, keywords, options, got, want)


TABLE = np.arange(12, dtype=np.float32).reshape(6, 2)
BAD = {
    "index": (([0, 6, 7], [0]), {}, ("indices", (1,), 6, 0, 5, 2)),
    "negative index": (([0, -1], [0]), {}, ("indices", (1,), -1, 0, 5, 1)),
    "packed": (([[0, 1], [9, 2]],), {}, ("indices", (1, 0), 9, 0, 5, 1)),
    "offset beyond": (([0, 1], [0, 3]), {}, ("offsets", (1,), 3, 0, 2, 1)),
    "offset below": (([0, 1], [0, -1]), {}, ("offsets", (1,), -1, 0, 2, 1)),
    "offset falls": (([0, 1], [1, 2, 0]), {}, ("offsets", (2,), 0, 2, 2, 1)),
    "segment beyond": (([0, 1],), {"segment_ids": [0, 2], "num_segments": 2}, ("segment_ids", (1,), 2, 0, 1, 1)),
    "segment below": (([0, 1],), {"segment_ids": [-1, 1], "num_segments": 2}, ("segment_ids", (0,), -1, 0, 1, 1)),
    "segment falls": (([0, 1, 2],), {"segment_ids": [0, 1, 0], "num_segments": 2}, ("segment_ids", (2,), 0, 1, 1, 1)),
}


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "table.npy", TABLE)
    with libgather.open(tmp_path / "table.npy") as table:
        yield table


@pytest.mark.parametrize("kind", ["memory", "file"])
@pytest.mark.parametrize("name", BAD)
def test_bad(name, kind, files):
    """Exact, and nothing is written."""
    arguments, options, (wrong, position, value, low, high, _) = BAD[name]
    out = np.full((len(arguments[1]) if len(arguments) > 1 else 2, 2), 5, np.float32)
    table = TABLE if kind == "memory" else files
    error = refuses(GatherIndexError, libgather.embedding_bag, table, *arguments, out=out, **options)
    assert (error.input, error.position, error.value, error.low, error.high) == (wrong, position, value, low, high)
    assert (out == 5).all()


def test_modes():
    for mode, want in (("clip", TABLE[0] + TABLE[5] + TABLE[0]), ("wrap", TABLE[0] + TABLE[1] + TABLE[5]), ("skip", TABLE[0])):
        assert libgather.embedding_bag(TABLE, [0, 7, -1], [0], mode=mode).tolist() == [want.tolist()]
    assert libgather.embedding_bag(TABLE, [0, -1], [0], negative=True).tolist() == [(TABLE[0] + TABLE[5]).tolist()]


@pytest.mark.parametrize("form", FORMS)
def test_table_in_a_file(form, tmp_path, monkeypatch):
    """The rows are taken in blocks, here of a few rows each; the numbers are those of the table in memory."""
    rng = np.random.default_rng(52)
    monkeypatch.setattr(bags, "BLOCK_BYTES", 100)
    for number in range(20):
        array, ids, keywords, _ = draw(rng, np.dtype("f4"), form)
        if array.size == 0:
            continue
        np.save(tmp_path / f"{number}.npy", array)
        with libgather.open(tmp_path / f"{number}.npy") as table:
            for reduction in ("sum", "mean", "max"):
                options = {"reduction": reduction, "default_index": -1 if form == "packed" else int(rng.integers(-1, array.shape[0]))}
                if reduction == "sum" and number % 2:
                    options["per_sample_weights"] = rng.standard_normal(ids.shape).astype("f4")
                want = libgather.embedding_bag(array, ids, **keywords, **options)
                out = np.zeros_like(want) if number % 3 == 0 else None
                got = libgather.embedding_bag(table, ids, out=out, **keywords, **options)
                assert same(got, want) and (out is None or got is out)


def test_table_modes(files):
    for options in ({"mode": "clip"}, {"mode": "wrap"}, {"mode": "skip"}, {"mode": "skip", "negative": True}):
        call = ([0, 7, -1, 3], [0, 0, 2])
        assert same(libgather.embedding_bag(files, *call, **options), libgather.embedding_bag(TABLE, *call, **options))


def test_threads():
    rng = np.random.default_rng(53)
    table, ids = rng.standard_normal((9000, 32)).astype(np.float32), rng.integers(0, 9000, 50_000)
    offsets = np.sort(rng.integers(0, 50_001, 3000))
    offsets[0] = 0
    for reduction in ("sum", "mean", "max"):
        got = [libgather.embedding_bag(table, ids, offsets, reduction=reduction, threads=threads).tobytes() for threads in (1, 2, 3, 8)]
        assert len(set(got)) == 1


def test_halves():
    """4,096 ones are 4,096, unless each step is rounded."""
    table, ids = np.ones((1, 2), ml_dtypes.bfloat16), np.zeros((1, 4096), int)
    assert (libgather.embedding_bag(table, ids) == 4096).all()
    assert (libgather.embedding_bag(table, ids, accumulate="steps") == 256).all()


def test_rules():
    for rules, options in (("openvino-3", {}), ("openvino-15", {"reduction": "mean"})):
        want = libgather.embedding_bag(TABLE, [0, 3, 1], [0, 1], **options)
        assert same(libgather.embedding_bag(TABLE, [0, 3, 1], [0, 1], rules=rules, **options), want)
        want = libgather.embedding_bag(TABLE, [[0, 3], [1, 1]], **options)
        assert same(libgather.embedding_bag(TABLE, [[0, 3], [1, 1]], rules=rules, **options), want)
    segments = {"segment_ids": [0, 2], "num_segments": 4}
    assert same(libgather.embedding_bag(TABLE, [0, 3], rules="openvino-3", **segments), libgather.embedding_bag(TABLE, [0, 3], **segments))
    assert libgather.embedding_bag(TABLE, [0, 3], segment_ids=[0, 2]).shape == (3, 2)
    refuses(NotImplementedError, libgather.embedding_bag, TABLE, [0], [0], rules="openvino-3", reduction="max")
    refuses(ValueError, libgather.embedding_bag, TABLE, [0], segment_ids=[0], rules="openvino-15")


def test_refused():
    refuses(GatherValueError, libgather.embedding_bag, TABLE, [0], [0], segment_ids=[0])
    refuses(GatherValueError, libgather.embedding_bag, TABLE, [0], [0], num_segments=1)
    refuses(GatherValueError, libgather.embedding_bag, TABLE, [0])
    refuses(GatherValueError, libgather.embedding_bag, TABLE, [0, 1], segment_ids=[0], num_segments=1)
    refuses(GatherTypeError, libgather.embedding_bag, TABLE, [0], [0], per_sample_weights=np.ones(1))
    refuses(GatherValueError, libgather.embedding_bag, TABLE, [0], [0], per_sample_weights=[1.0, 2.0])
    refuses(NotImplementedError, libgather.embedding_bag, TABLE, [0], [0], per_sample_weights=[1.0], reduction="max")
    refuses(GatherTypeError, libgather.embedding_bag, np.array([["a"]], object), [0], [0])
    refuses(ValueError, libgather.embedding_bag, TABLE, [0], [0], reduction="median")
    refuses(GatherValueError, libgather.embedding_bag, TABLE, [0], [0], out=np.zeros((2, 2), np.float32))
