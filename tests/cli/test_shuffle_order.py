# SPDX-License-Identifier: MIT
"""The order that a seed stands for: another program computes the same, it never changes, and it is fair."""

import math
from itertools import permutations

import numpy as np
import pytest

A, B, C = 0x9E3779B97F4A7C15, 0xB7E151628AED2A6B, 0x243F6A8885A308D3
WORD = (1 << 64) - 1


def mix(x: int) -> int:
    x = (x ^ x >> 32) * A & WORD
    x = (x ^ x >> 29) * B & WORD
    return x ^ x >> 32


class Twin:
    """The definition of docs/use/shuffle.md, written a second time."""

    def __init__(self, seed: int, rows: int):
        bits = max(rows - 1, 0).bit_length()
        self.rows, self.left, self.right = rows, bits // 2, bits - bits // 2
        start = mix((mix((seed + A) & WORD) + rows) & WORD)
        self.keys = [mix((start + (r + 1) * C) & WORD) for r in range(32 if bits < 20 else 10)]

    def once(self, v: int) -> int:
        left, right = v >> self.right, v & ((1 << self.right) - 1)
        for r, key in enumerate(self.keys):
            if r % 2 == 0:
                left = left + (mix((right + key) & WORD) >> (64 - self.left)) & ((1 << self.left) - 1)
            else:
                right = right + (mix((left + key) & WORD) >> (64 - self.right)) & ((1 << self.right) - 1)
        return left << self.right | right

    def at(self, i: int) -> int:
        i = self.once(i)
        while i >= self.rows:
            i = self.once(i)
        return i


def order(gather, rows: int, seed: int, *more) -> np.ndarray:
    """What the command makes of 0, 1, 2, ..."""
    if not (gather.folder / f"{rows}.npy").exists():
        gather.save(f"{rows}.npy", np.arange(rows, dtype=np.int32))
    assert gather("shuffle", f"{rows}.npy", "-o", "o.npy", "-f", "--seed", seed, *more).code == 0
    return gather.load("o.npy")


PINNED = [
    (0, 1, [0]),
    (0, 2, [0, 1]),
    (1, 10, [4, 2, 8, 9, 7, 6, 5, 3, 0, 1]),
    (12345, 17, [5, 0, 11, 3, 4, 16, 13, 15, 2, 8, 7, 6, 10, 9, 1, 12, 14]),
    (2**63 - 1, 12, [6, 2, 0, 1, 11, 10, 3, 7, 4, 8, 9, 5]),
]


@pytest.mark.parametrize(("seed", "rows", "expected"), PINNED)
def test_an_order_never_changes(gather, seed, rows, expected):
    assert order(gather, rows, seed).tolist() == expected


@pytest.mark.parametrize("rows", [2, 3, 5, 100, 1024, 1025])
def test_the_definition_is_what_is_done(gather, rows):
    for seed in (7, 2**62 + 3):
        twin = Twin(seed, rows)
        assert order(gather, rows, seed).tolist() == [twin.at(i) for i in range(rows)]


@pytest.mark.parametrize("rows", [(1 << 19) + 1, 600_001])
def test_many_rows_have_fewer_rounds(gather, rows):
    out = order(gather, rows, 3)
    twin = Twin(3, rows)
    for i in [*range(50), *range(rows - 50, rows)]:
        assert out[i] == twin.at(i)
    assert (np.sort(out) == np.arange(rows)).all()


def test_memory_threads_engine_and_passes_do_not_matter(gather):
    expected = order(gather, 300_000, 11)
    cases = [("--passes", 1), ("--passes", 2), ("--threads", 1), ("--memory", "4194432"), ("--engine", "pread")]
    for more in [*cases, ("--passes", 2, "--memory", "5MiB", "--threads", 3)]:
        assert (order(gather, 300_000, 11, *more) == expected).all(), more


def chi_square(counts: np.ndarray, expected: float) -> float:
    """How far counts are from what they should be, in standard deviations of the chi-square distribution."""
    degrees = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - degrees) / math.sqrt(2 * degrees))


@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_every_order_of_few_rows_is_as_likely(rows):
    """The twin, as one process for each seed would take long; it equals the command."""
    seeds = 60 * math.factorial(rows) if rows < 5 else 2400
    number = {order: i for i, order in enumerate(permutations(range(rows)))}
    counts = np.zeros(len(number))
    for seed in range(seeds):
        twin = Twin(seed, rows)
        counts[number[tuple(twin.at(i) for i in range(rows))]] += 1
    assert abs(chi_square(counts, seeds / len(number))) < 4


@pytest.mark.parametrize("rows", [7, 16])
def test_every_row_goes_anywhere(rows):
    seeds = 1200
    counts = np.zeros((rows, rows))
    even = 0
    for seed in range(seeds):
        twin = Twin(seed, rows)
        out = [twin.at(i) for i in range(rows)]
        counts[np.arange(rows), out] += 1
        even += sum(out[i] > out[k] for i in range(rows) for k in range(i + 1, rows)) % 2 == 0
    assert abs(chi_square(counts.ravel(), seeds / rows)) < 4
    assert abs(even - seeds / 2) < 4 * math.sqrt(seeds) / 2


def test_a_large_order_has_no_structure(gather):
    rows = 600_001
    out = order(gather, rows, 99).astype(np.int64)
    place = np.arange(rows)
    # Where rows come from, by where they go: a grid of equal cells.
    grid = np.histogram2d(place, out, bins=32)[0]
    assert abs(chi_square(grid.ravel(), rows / grid.size)) < 4
    # Neighbours are no neighbours, and the steps between them are those of independent rows.
    steps = np.diff(out)
    assert np.count_nonzero(np.abs(steps) == 1) < 12
    assert np.count_nonzero(out == place) < 10
    assert abs(np.corrcoef(out[:-1], out[1:])[0, 1]) < 4 / math.sqrt(rows)
    assert abs(np.corrcoef(place, out)[0, 1]) < 4 / math.sqrt(rows)
    for bit in (1, 2, 4):  # the lowest bits of place and row have nothing in common
        assert abs(np.count_nonzero((out ^ place) & bit) - rows / 2) < 4 * math.sqrt(rows) / 2


def test_seeds_and_lengths_that_are_near_give_other_orders(gather):
    outs = [order(gather, 10_000, seed) for seed in (0, 1, 2, 2**32)] + [order(gather, 10_001, 0)[:10_000]]
    for i, one in enumerate(outs):
        for other in outs[i + 1 :]:
            assert np.count_nonzero(one == other) < 12


def test_a_seed_is_made_where_none_is_given(gather):
    gather.save("x.npy", np.arange(1000))
    first = gather.json("shuffle", "x.npy", "-o", "a.npy")
    second = gather.json("shuffle", "x.npy", "-o", "b.npy")
    assert 0 <= first["seed"] < 2**53 and first["seed"] != second["seed"]
    assert (gather.load("a.npy") == gather.result("shuffle", "x.npy", "--seed", first["seed"])).all()
    assert (gather.load("a.npy") != gather.load("b.npy")).any()
    assert f"seed {first['seed']}" in gather("shuffle", "x.npy", "-o", "d.npy", "--seed", first["seed"]).text
