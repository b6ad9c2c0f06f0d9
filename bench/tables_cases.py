# SPDX-License-Identifier: MIT
"""Which rows are asked for: sizes of rows, orders of ids, and how many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCK = 4096  # what a disk is read by, at least
RUN = 32  # clustered: so many neighbours at a time
ORDERS = ("random", "sorted", "zipf", "clustered")
SIZES = (64, 4096, 65536)


@dataclass(frozen=True)
class Case:
    row_bytes: int
    order: str
    rows: int  # of the table
    block: int  # what the limit of the disk is measured by

    def name(self) -> str:
        return f"{size_name(self.row_bytes)} {self.order}"


def size_name(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count} B"


def cases(sizes, orders, table_bytes: int) -> list[Case]:
    return [Case(size, order, table_bytes // size, max(size, BLOCK)) for size in sizes for order in orders]


def draw(case: Case, count: int, seed: int) -> np.ndarray:
    """int64 ids."""
    random = np.random.default_rng([seed, case.row_bytes, ORDERS.index(case.order)])
    if case.order == "zipf":
        # The i-th most frequent row is drawn in proportion to 1 / i; which row that is, is random.
        ranks = np.exp(random.random(count) * np.log(case.rows)).astype(np.int64) - 1
        return (ranks * 2654435761 + 12345) % case.rows
    if case.order == "clustered":
        run = min(RUN, case.rows)
        starts = random.integers(0, case.rows - run + 1, -(-count // run))
        return (starts[:, None] + np.arange(run)).reshape(-1)[:count]
    ids = random.integers(0, case.rows, count)
    return np.sort(ids) if case.order == "sorted" else ids


def blocks(case: Case, ids: np.ndarray) -> int:
    """How many different blocks of the disk these rows lie in. Rows begin on a block, or several share one."""
    return np.unique(ids * case.row_bytes // case.block).size


def ids_for(case: Case, wanted: int, most: int, seed: int) -> np.ndarray:
    """Ids that name about so many different blocks, and at most so many."""
    count = min(wanted, most)
    ids = draw(case, count, seed)
    while blocks(case, ids) < wanted / 2 and count < most:
        count = min(2 * count, most)
        ids = draw(case, count, seed)
    return ids


def again(case: Case, ids: np.ndarray, seed: int) -> np.ndarray:
    """The same rows in a new order of that kind; sorted ones have one order."""
    random = np.random.default_rng(seed)
    if case.order == "sorted":
        return ids.copy()
    if case.order == "clustered" and ids.size % RUN == 0:
        return random.permutation(ids.reshape(-1, RUN)).reshape(-1)
    return random.permutation(ids)
