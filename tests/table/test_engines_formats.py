# SPDX-License-Identifier: MIT
"""Every engine gives, from files of every format, the bytes that the library has which wrote them."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from files import MAKERS
from tables import Setting, Table, TableError, engines, evict

INDEX_TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", 1))
SEED = int(os.environ.get("GATHER_TEST_SEED", 1))
MIB = 1 << 20


def settings(count: int, seed: int) -> list[Setting]:
    """Each engine as it is, and others at random."""
    chance, found = random.Random(f"{SEED} {seed}"), [Setting(engine) for engine in engines()]
    while len(found) < count:
        engine = chance.choice(engines())
        found.append(
            Setting(engine, chance.choice([0, MIB, 3 * MIB]), chance.choice([0, 50_000, -1]), chance.choice([0, 1, 3, 128]),
                    chance.random() < 0.5, engine != "mmap" and chance.random() < 0.3)
        )
    return found


def id_arrays(rows: int, chance: np.random.Generator) -> list[np.ndarray]:
    """Ids of every type, rank, order and stride."""
    random_ids = chance.integers(-rows, rows, 1000)
    found = [
        np.sort(random_ids),
        -np.sort(-random_ids),
        np.arange(rows),
        np.arange(0),
        chance.permutation(rows),
        random_ids[::-3],
        np.full(500, rows - 1),
        chance.integers(0, 3, 400) + rows // 2,
        random_ids.reshape(4, 25, 10).transpose(2, 0, 1),
        chance.integers(-rows, rows, (7, 600)).T,
        chance.integers(-rows, rows, (70, 60))[::-1, ::2],  # in more than one block
        np.array(rows // 3),
        np.broadcast_to(random_ids[:7, None], (7, 5)),
        random_ids.astype(">i8"),
        np.zeros((3, 0, 2), np.int64),
    ]
    for kind in INDEX_TYPES:
        info = np.iinfo(kind)
        low, high = max(info.min, -rows), min(int(info.max) + 1, rows)
        found.append(chance.integers(low, high, 300).astype(kind))
    return found


def evict_all(made) -> None:
    for file in made.files:
        evict(file)


@pytest.fixture(scope="module", params=MAKERS, ids=lambda maker: maker.__name__)
def made(request, tmp_path_factory):
    """A file of one format."""
    return request.param(tmp_path_factory.mktemp("files"))


def test_same_bytes(made):
    rows = len(made.rows)
    chance = np.random.default_rng(SEED)
    for how in settings(12 * ROUNDS, 1):
        with Table(made.path, how, made.raw) as table:
            assert (table.info.rows, table.info.row_bytes) == made.rows.shape
            waits = []
            for number, ids in enumerate(id_arrays(rows, chance)):
                if number % 4 == 1:
                    evict_all(made)
                wanted = made.rows[ids.astype(np.int64)]
                got, bad = table.take(ids)
                assert np.array_equal(got, wanted), f"{how}: {ids.dtype} {ids.shape}"
                assert bad in (0, -1)
                waits.append((table.submit(ids), wanted, ids))
            for wait, wanted, ids in waits:
                assert np.array_equal(wait()[0], wanted), f"{how}: job of {ids.dtype} {ids.shape}"
            told = table.statistics
            assert told.rows == told.rows_resident + told.rows_cached + told.rows_read
            assert told.bytes_useful == told.rows * table.info.row_bytes
            assert not how.memory or told.memory_peak <= told.memory_ceiling == how.memory


def tuples_of(shape: tuple[int, ...], selected: int, chance: np.random.Generator) -> list[np.ndarray]:
    """Tuples of several types and strides."""
    numbers = [chance.integers(-n, n, (60, 20)) for n in shape[:selected]]
    whole = np.stack(numbers, -1)
    return [whole, np.stack(numbers).transpose(1, 2, 0), whole[::-2, 3].astype(">i4"), whole[0, 0], whole[:0], whole[:, ::3].astype("i2")]


def test_tuples(made):
    """Tuples of all lengths that select whole bytes."""
    chance, taken = np.random.default_rng(SEED), 0
    for how in settings(8 * ROUNDS, 2):
        with Table(made.path, how, made.raw) as table:
            for selected in range(1, len(table.shape) + 1):
                inner = int(np.prod(table.shape[1:selected]))
                if inner == 0 or made.rows.shape[1] % inner:
                    continue
                parts = made.rows.reshape(len(made.rows) * inner, -1)
                for number, ids in enumerate(tuples_of(table.shape, selected, chance)):
                    if number % 3 == 0:
                        evict_all(made)
                    where = np.ravel_multi_index(np.moveaxis(ids.astype(np.int64), -1, 0), table.shape[:selected], mode="wrap")
                    for background in (False, True):
                        got = table.take_tuples(ids, background)
                        assert np.array_equal(got, parts[where]), f"{how}: {selected} of {table.shape}, {ids.dtype} {ids.shape}"
                        taken += 1
                bad = np.zeros((3, selected), np.int64)
                bad[1, -1] = table.shape[selected - 1]
                with pytest.raises(TableError) as caught:
                    table.take_tuples(bad, how.depth == 1)
                error = caught.value
                assert (error.status, error.position, error.bad_count) == ("index_out_of_range", (1, selected - 1), 1)
            told = table.statistics
            assert told.rows == told.rows_resident + told.rows_cached + told.rows_read
    assert taken


def test_parts_are_where_the_file_has_them(made):
    with Table(made.path, Setting(), made.raw) as table:
        found, first = [], 0
        for part in table.parts:
            assert part.first == first
            content = np.fromfile(part.path.decode(), np.uint8)[part.offset :][: part.rows * table.info.row_bytes]
            found.append(content.reshape(part.rows, table.info.row_bytes))
            first += part.rows
        assert np.array_equal(np.concatenate(found), made.rows)


def test_bad_indices(made):
    rows = len(made.rows)
    ids = np.array([[3, -rows], [rows, 1], [-rows - 1, 0]])
    for engine in engines():
        with Table(made.path, Setting(engine), made.raw) as table:
            out = table.new(ids)
            with pytest.raises(TableError) as caught:
                table.take(ids, out)
            error = caught.value
            assert (error.status, error.position, error.value) == ("index_out_of_range", (1, 0), rows)
            assert (error.range, error.bad_count) == ((-rows, rows - 1), 2)
            assert (out == 0xEE).all() and table.statistics.reads == 0


def repaired(rows: np.ndarray, ids: np.ndarray, on_bad: str, negative: str, fill: bytes) -> tuple[np.ndarray, int]:
    """Index by index, as docs say."""
    length, wanted, bad = len(rows), [], 0
    for index in ids.ravel().tolist():
        at = index + length if negative != "off" and -length <= index < 0 else index
        good = 0 <= at < length
        bad += not good
        if good or on_bad in ("clamp", "wrap"):
            wanted.append(rows[at if good else index % length if on_bad == "wrap" else 0 if index < 0 else length - 1])
        else:
            wanted.append(np.frombuffer(fill * (rows.shape[1] // max(len(fill), 1)) or bytes(rows.shape[1]), np.uint8))
    return np.array(wanted, np.uint8).reshape(*ids.shape, rows.shape[1]), bad


@pytest.mark.parametrize("negative", ["on", "off"])
@pytest.mark.parametrize("on_bad", ["clamp", "wrap", "zero", "fill"])
def test_policies(made, on_bad, negative):
    rows = len(made.rows)
    ids = np.random.default_rng(SEED).integers(-2 * rows, 2 * rows, (40, 5))
    for engine in engines():
        with Table(made.path, Setting(engine), made.raw) as table:
            kind = table.info.tensor
            elements = int(np.prod(table.shape[1:]))
            item = table.info.row_bytes // elements if elements else 0
            fill = bytes(range(1, 1 + item)) if on_bad == "fill" else b""
            if on_bad == "fill" and kind.item_bytes == 0 and item * elements != table.info.row_bytes:
                continue
            wanted, bad = repaired(made.rows, ids, on_bad, negative, fill)
            got, told = table.take(ids, on_bad=on_bad, negative=negative, fill=fill)
            assert told == bad and np.array_equal(got, wanted)
            got, told = table.submit(ids, on_bad=on_bad, negative=negative, fill=fill)()
            assert told == bad and np.array_equal(got, wanted)
