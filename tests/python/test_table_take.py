# SPDX-License-Identifier: MIT
#
# test_table_take.py: take and submit of tables in files: every integer type and engine against np.take on a memmap, outputs of every
# kind, errors that leave them as they were, jobs in any order.
"""Rows of tables in files."""
from __future__ import annotations

import array
import gc
import os
import time
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import libgather
from arrays import INDEX_DTYPES, index_values, shapes, sometimes
from capsules import Producer
from table_files import ENGINES, NPY_DTYPES, rows_of, same, save, save_raw, table_of
from support.refusal import refuses

X = np.random.default_rng(3).standard_normal((500, 12)).astype(np.float32)
IDS = np.random.default_rng(4).integers(-500, 500, (7, 30))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return save(tmp_path_factory.mktemp("tables"), X)


@pytest.fixture
def table(path):
    with libgather.open(path) as table:
        yield table


class Tables(list):
    def __repr__(self) -> str:
        return "the tables"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A file of each dtype, opened with one engine after the other, and its memmap."""
    folder, found = tmp_path_factory.mktemp("tables"), Tables()
    for i, dtype in enumerate(NPY_DTYPES):
        path = save(folder, table_of(dtype, [(37, 3, 2), (300, 5), (60,)][i % 3]), f"{i}.npy")
        keywords = [{}, {"memory": "1MiB"}, {"cache": 0}, {"buffered": True, "keep_signals": True}][i % 4]
        found.append((libgather.open(path, engine=ENGINES[i % len(ENGINES)], **keywords), np.load(path, mmap_mode="r")))
    yield found
    for table, _ in found:
        table.close()


@sometimes
@given(st.data())
def test_against_a_memmap(tables, data):
    """Any integers, however they lie; what is out of range is the error that libgather.take has for the memmap."""
    table, memmap = tables[data.draw(st.integers(0, len(tables) - 1))]
    ids = data.draw(index_values(data.draw(shapes(0, 3)), len(memmap), True))
    mode = data.draw(st.sampled_from([None, None, "raise", "clip", "wrap", "zero"]))
    keywords = {"mode": mode, "negative": data.draw(st.sampled_from([None, True, False]))}
    try:
        wanted = libgather.take(np.asarray(memmap), ids, axis=0, **keywords)
    except libgather.GatherIndexError as error:
        with pytest.raises(libgather.GatherIndexError) as caught:
            table.take(ids, **keywords)
        with pytest.raises(libgather.GatherIndexError) as submitted:
            table.submit(ids, **keywords)
        assert caught.value.message == submitted.value.message == error.message
        assert all(getattr(caught.value, field) == getattr(error, field) for field in ("position", "value", "low", "high", "bad_count"))
        return
    for result in (table.take(ids, **keywords), table.submit(ids, **keywords).wait()):
        if isinstance(wanted, np.ndarray):
            assert same(result, wanted)
        else:  # a scalar of long double has gaps of its own
            assert type(result) is type(wanted) and repr(result) == repr(wanted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=repr)
def test_every_integer_type(path, engine, dtype):
    ids = np.random.default_rng(5).integers(0, min(500, np.iinfo(dtype).max), (9, 11)).astype(dtype)
    with libgather.open(path, engine=engine) as table:
        assert same(table[ids], X[ids]) and same(table[ids.T[::-2]], X[ids.T[::-2]]) and same(table.submit(ids.T).wait(), X[ids.T])


def test_indices_of_other_kinds(table):
    for ids in ([3, -1], (3, -1), range(3), array.array("i", [3, 499]), memoryview(array.array("H", [1, 2])), b"\x01\xff",
                Producer(np.array([4, 5])), [[1], [2]], []):
        plain = list(ids.array) if isinstance(ids, Producer) else list(ids)
        wanted = np.array(plain, int)
        assert same(table.take(ids), X[wanted]) and same(table.submit(ids).wait(), X[wanted])


def test_policies(table):
    for mode, wanted in (("clip", X[[0, 499]]), ("wrap", X[[-501 % 500, 1]]), ("zero", np.zeros((2, 12), "f4"))):
        assert same(table.take([-501, 501], mode=mode), wanted) and same(table.submit([-501, 501], mode=mode).wait(), wanted)
    assert same(table.take([1, 777], mode="fill", fill_value=2.5), np.stack([X[1], np.full(12, 2.5, "f4")]))
    job = table.submit([1, 777], mode="fill", fill_value=np.float32(7) + np.float32(0.5))
    gc.collect()
    assert same(job.wait(), np.stack([X[1], np.full(12, 7.5, "f4")]))
    refuses(libgather.GatherIndexError, table.take, [1, -1], negative=False, says=r"indices\[1\] = -1 is outside \[0, 499\]")


def test_fill_of_every_type(tmp_path):
    people = np.array([("Ada", 36), ("Alan", 41)], dtype=[("name", "U8"), ("age", ">i4")])
    with libgather.open(save(tmp_path, people)) as table:
        assert table.take([1, 5], mode="fill", fill_value=("?", -1)).tolist() == [("Alan", 41), ("?", -1)]
    with libgather.open(save(tmp_path, np.arange(5, dtype=">i2"), "b.npy")) as table:
        assert table.take([1, 9], mode="fill", fill_value=-300).tolist() == [1, -300]
        refuses(libgather.GatherTypeError, table.take, [1], mode="fill", fill_value=70000, says="70000")
    with libgather.open(save_raw(tmp_path, np.arange(8, dtype=np.uint8)), dtype="int4", shape=(-1, 2)) as table:
        assert table.take([99, 1], mode="fill", fill_value=-3).astype(int).tolist() == [[-3, -3], [1, 0]]


@pytest.mark.parametrize("call, error", [
    (lambda t: t.take(), TypeError), (lambda t: t.take([0], [1]), TypeError), (lambda t: t.submit(), TypeError),
    (lambda t: t.take([0], batch_dims=0), TypeError), (lambda t: t.take([0], rules="onnx-13"), TypeError),
    (lambda t: t.submit([0], threads=1), TypeError), (lambda t: t.take([0], mode="modus"), ValueError),
    (lambda t: t.take([0], fill_value=1), ValueError), (lambda t: t.take([0], mode="fill"), ValueError),
    (lambda t: t.take([0], threads=0), ValueError), (lambda t: t.take([0], axis=1), NotImplementedError),
    (lambda t: t.take([0], axis=-3), libgather.GatherAxisError), (lambda t: t.take([0], axis=None), ValueError),
    (lambda t: t.take([True]), libgather.GatherTypeError), (lambda t: t.submit([True]), libgather.GatherTypeError),
    (lambda t: t.submit([0.5]), libgather.GatherTypeError), (lambda t: t.take(np.ma.array([1], mask=[1])), libgather.GatherTypeError),
    (lambda t: t.take(np.zeros((1,) * 63, int)), libgather.GatherValueError), (lambda t: t.submit(X), libgather.GatherTypeError),
    (lambda t: t.take([0], **{f"k{i}": 1 for i in range(30)}), TypeError)])
def test_calls_that_are_refused(table, call, error):
    refuses(error, call, table)
    assert same(table.take([0], axis=0, out=None, mode=None, fill_value=None, negative=None, threads=None), X[[0]])
    assert same(table.take([0], axis=-2, threads=2), X[[0]])


# ---- out ----


def bytes_like(kind):
    return kind(bytes(2 * 12 * 4))


OUTS = {
    "array": lambda: np.zeros((2, 12), "f4"),
    "part of one": lambda: np.zeros((5, 2, 12), "f4")[3],
    "length 1 anywhere": lambda: np.zeros((2, 12), "f4")[:, None].transpose(0, 2, 1).reshape(2, 12),
    "subclass": lambda: np.zeros((2, 12), "f4").view(np.recarray),
    "memoryview": lambda: memoryview(bytearray(2 * 12 * 4)).cast("f", (2, 12)),
    "unaligned": lambda: np.frombuffer(bytearray(2 * 12 * 4 + 1), "f4", offset=1).reshape(2, 12),
    "dlpack": lambda: Producer(np.zeros((2, 12), "f4")),
}


@pytest.mark.parametrize("make", OUTS.values(), ids=OUTS)
def test_out(table, make):
    """Written where it lies, and returned."""
    for call in (table.take, lambda ids, out: table.submit(ids, out=out).wait()):
        out = make()
        assert call([5, -1], out=out) is out
        assert np.array_equal(out.array if isinstance(out, Producer) else np.asarray(out), X[[5, -1]])


def read_only():
    array_ = np.zeros((2, 12), "f4")
    array_.flags.writeable = False
    return array_


WRONG = {
    "dtype": (lambda: np.zeros((2, 12)), libgather.GatherTypeError, "a different dtype"),
    "byte order": (lambda: np.zeros((2, 12), ">f4"), libgather.GatherTypeError, "a different dtype"),
    "shape": (lambda: np.zeros((2, 11), "f4"), libgather.GatherValueError, r"out has the shape \(2, 11\), not \(2, 12\)"),
    "rank": (lambda: np.zeros((2, 12, 1), "f4"), libgather.GatherValueError, r"not \(2, 12\)"),
    "columns": (lambda: np.zeros((12, 2), "f4").T, libgather.GatherNotSupportedError, "C-contiguous"),
    "every other": (lambda: np.zeros((4, 12), "f4")[::2], libgather.GatherNotSupportedError, "C-contiguous"),
    "backwards": (lambda: np.zeros((2, 12), "f4")[::-1], libgather.GatherNotSupportedError, "C-contiguous"),
    "read-only": (read_only, libgather.GatherValueError, "read-only"),
    "bytes": (lambda: bytes(96), libgather.GatherValueError, "read-only"),
    "masked": (lambda: np.ma.zeros((2, 12), "f4"), libgather.GatherTypeError, "mask"),
    "list": (lambda: [[0.0] * 12] * 2, libgather.GatherTypeError, "out must be an array"),
    "number": (lambda: 3, libgather.GatherTypeError, "out must be an array"),
    "read-only dlpack": (lambda: Producer(np.zeros((2, 12), "f4"), flags=1), libgather.GatherValueError, "read-only"),
}


@pytest.mark.parametrize("make, error, text", WRONG.values(), ids=WRONG)
def test_out_that_does_not_fit(table, make, error, text):
    for call in (table.take, table.submit):
        refuses(error, call, [5, -1], out=make(), says=text)
    assert table.stats().rows == 0


def test_out_of_the_other_byte_order(tmp_path):
    """DLPack has the machine's alone."""
    swapped = np.arange(6, dtype=np.dtype("i4").newbyteorder())
    with libgather.open(save(tmp_path, swapped)) as table:
        refuses(libgather.GatherTypeError, table.take, [1], out=Producer(np.zeros(1, "i4")), says="byte order")
        assert table.take([1], out=np.zeros(1, swapped.dtype)).tolist() == [1]


def test_out_is_not_the_indices(table, tmp_path):
    """It may not overlap the indices of a take; a job has a copy of its own."""
    with libgather.open(save(tmp_path, np.arange(40))) as numbers:
        ids = np.array([3, 4, 5])
        refuses(libgather.GatherValueError, numbers.take, ids, out=ids, says="overlaps")
        assert numbers.submit(ids, out=ids).wait() is ids and ids.tolist() == [3, 4, 5]


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_leave_out_untouched(path, engine):
    """Also where the bad index is the last of many."""
    ids = np.arange(40_000) % 500
    ids[-1] = 500
    out = np.full((40_000, 12), 7, np.float32)
    with libgather.open(path, engine=engine) as table:
        for call in (table.take, table.submit):
            with pytest.raises(libgather.GatherIndexError) as caught:
                call(ids, out=out)
            error = caught.value
            assert (error.position, error.value, error.low, error.high, error.axis, error.bad_count) == ((39_999,), 500, -500, 499, 0, 1)
            assert (error.status, error.input) == ("index_out_of_range", "indices") and (out == 7).all()
        assert table.stats().rows == 0
        assert same(table.take(ids, mode="clip", out=out), X[ids.clip(0, 499)])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_was_cut(tmp_path, engine):
    """A clear error that names file, byte and row, and no crash; what is still there can be read."""
    big = np.random.default_rng(1).standard_normal((4096, 256)).astype(np.float32)
    path = save(tmp_path, big)
    with libgather.open(path, engine=engine) as table:
        os.truncate(path, 128 + 100 * 1024)
        for call in (lambda: table[[5, 4000]], lambda: table.submit([4000, 5]).wait()):
            error = refuses(libgather.GatherFileError, call)
            assert error.file.endswith("table.npy") and error.offset is not None and error.row == 4000
            assert isinstance(error, OSError)
        assert same(table[[5, 99]], big[[5, 99]])


# ---- jobs ----


@pytest.mark.parametrize("engine", ENGINES)
def test_jobs_in_any_order(path, engine):
    random = np.random.default_rng(8)
    with libgather.open(path, engine=engine) as table:
        ids = [random.integers(-500, 500, random.integers(0, 400)) for _ in range(40)]
        jobs = [table.submit(i, out=np.empty((len(i), 12), "f4") if k % 2 else None) for k, i in enumerate(ids)]
        for k in random.permutation(40):
            assert same(jobs[k].wait(), X[ids[k]]) and jobs[k].done
            assert jobs[k].wait() is jobs[k].wait()
        assert table.stats().takes == 40


def test_done(table):
    job = table.submit(IDS)
    end = time.monotonic() + 60
    while not job.done and time.monotonic() < end:
        time.sleep(0.001)
    assert job.done and repr(job) == "<libgather.TableJob: done>" and same(job.wait(), X[IDS])
    refuses(TypeError, libgather.TableJob)


def test_job_in_a_block(table, path):
    out = np.zeros((2, 12), np.float32)
    with table.submit([1, 2], out=out) as job:
        pass
    assert job.done and same(out, X[[1, 2]])
    with pytest.raises(KeyError):
        with table.submit([1]):
            raise KeyError


def test_what_a_job_keeps(path):
    """Its output and its table live as long as it; a copy of the indices is its own."""
    table, out = libgather.open(path), np.zeros((7, 30, 12), "f4").view(type("Sub", (np.ndarray,), {}))
    gone, ids = weakref.ref(out), IDS.copy()
    job = table.submit(ids, out=out)
    ids[...] = 10**9
    del table, out, ids
    gc.collect()
    assert gone() is not None and np.array_equal(job.wait(), X[IDS])
    del job
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("make", OUTS.values(), ids=OUTS)
def test_a_job_alone_keeps_its_output(table, make):
    jobs = [table.submit([5, -1], out=make()) for _ in range(20)]
    gc.collect()
    others = [make() for _ in range(100)]  # in the place of what is gone too early
    for job in jobs:
        out = job.wait()
        assert type(out) is type(others[0]) and np.array_equal(out.array if isinstance(out, Producer) else np.asarray(out), X[[5, -1]])


def test_modes_of_the_command(table):
    assert same(table.take([99999, -99999], mode="clamp"), np.stack([X[-1], X[0]]))
    assert same(table.submit([99999], mode="clamp").wait(), X[-1:])
    refuses(libgather.GatherIndexError, table.take, [99999], mode="error")
    refuses(ValueError, table.submit, [0], mode="clampp", says="did you mean 'clamp'")


def test_jobs_that_are_dropped(table):
    """Their end is waited for: the output is not freed under them."""
    for _ in range(50):
        table.submit(IDS)
        table.submit(IDS, out=np.empty((7, 30, 12), "f4"))
    assert table.stats().takes == 100


def test_close_with_jobs_in_flight(path):
    """They are finished, and give their rows afterwards."""
    for engine in ENGINES:
        table = libgather.open(path, engine=engine)
        jobs = [table.submit(IDS) for _ in range(20)]
        table.close()
        assert all(job.done for job in jobs) and all(same(job.wait(), X[IDS]) for job in jobs[::-1])


def test_every_way_the_indices_of_a_job_lie(table):
    """Its copy of them is right for any strides."""
    whole = np.arange(-500, 220, dtype=np.int64).reshape(6, 10, 12)
    for ids in (whole, whole[::-1, ::3], whole.transpose(2, 0, 1), np.broadcast_to(whole[:, :1], whole.shape), whole[:, :, 4], whole[2:2],
                whole.astype(">i2")[::-2], np.array(7), whole.astype("i2").T[:, ::-1]):
        assert same(table.submit(ids).wait(), rows_of(X, ids.astype(int)))
