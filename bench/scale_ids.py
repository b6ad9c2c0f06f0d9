# SPDX-License-Identifier: MIT
"""Ids for the simulator: what each rank wants."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, log

import numpy as np


@dataclass(frozen=True)
class Ids:
    """How ids are drawn.

    kind: 'uniform'; 'zipf': row k of the order of popularity as often as 1 / (k + 1) ** exponent, nearly; 'partitioned': a share `local` of
    the ids is among the rank's own block of rows, the rest anywhere.
    scattered: the popular rows are anywhere in the table, else they are its first ones.
    """

    kind: str = "uniform"
    exponent: float = 1.0
    local: float = 0.9
    scattered: bool = True

    def draw(self, rank: int, ranks: int, rows: int, count: int, seed: int = 1) -> np.ndarray:
        random = np.random.default_rng([seed, rank])
        if self.kind == "uniform":
            return random.integers(0, rows, count)
        if self.kind == "partitioned":
            first, last = rows * rank // ranks, rows * (rank + 1) // ranks
            own = random.integers(first, max(last, first + 1), count)
            return np.where(random.random(count) < self.local, own, random.integers(0, rows, count))
        if self.kind == "zipf":
            return self._place(self._popular(random.random(count), rows), rows)
        raise ValueError(f"unknown ids: {self.kind}")

    def _popular(self, u: np.ndarray, rows: int) -> np.ndarray:
        """Places in the order of popularity: the inverse of the distribution of a real number from 1 to rows + 1, rounded down."""
        if self.exponent == 1:
            x = np.exp(u * log(rows + 1))
        else:
            top = (rows + 1.0) ** (1 - self.exponent)
            x = (1 + u * (top - 1)) ** (1 / (1 - self.exponent))
        return np.minimum(x.astype(np.int64) - 1, rows - 1)

    def _place(self, popular: np.ndarray, rows: int) -> np.ndarray:
        if not self.scattered:
            return popular
        step = int(rows * 0.6180339887) | 1
        while gcd(step, rows) != 1:
            step += 2
        return np.array([int(p) * step % rows for p in popular], np.int64) if rows > 2**31 else popular * step % rows

    def hottest(self, count: int, rows: int) -> np.ndarray:
        """The most popular rows; of a distribution without any, none."""
        return self._place(np.arange(min(count, rows), dtype=np.int64), rows) if self.kind == "zipf" else np.empty(0, np.int64)

    def probabilities(self, rows: int) -> np.ndarray:
        """How probable each place in the order of popularity is."""
        if self.kind != "zipf":
            return np.full(rows, 1 / rows)
        edges = np.arange(1, rows + 2, dtype=np.float64)
        whole = np.log(edges) / log(rows + 1) if self.exponent == 1 else (edges ** (1 - self.exponent) - 1) / ((rows + 1.0) ** (1 - self.exponent) - 1)
        return np.diff(whole)

    def name(self) -> str:
        if self.kind == "zipf":
            return f"Zipf({self.exponent:g})"
        return f"{self.local:.0%} local" if self.kind == "partitioned" else "uniform"
