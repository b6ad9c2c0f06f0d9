# SPDX-License-Identifier: MIT
"""The gathers of the Spatter suite: target[16 i + j] = source[delta i + pattern[j]], traces of AMG, Nekbone, LULESH and PENNANT,
and uniform strides. Here with explicit indices; the number of repetitions is cut so that there are at most 2 Mi of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST = 2 << 20


def strided(step: int, count: int = 16) -> tuple[int, ...]:
    return tuple(range(0, step * count, step))


@dataclass(frozen=True)
class Pattern:
    name: str
    delta: int
    count: int
    pattern: tuple[int, ...]
    quick: bool = False

    def repeats(self) -> int:
        return min(self.count, MOST // len(self.pattern))

    def len(self) -> int:
        return self.repeats() * len(self.pattern)

    def table_len(self) -> int:
        return (self.repeats() - 1) * self.delta + max(self.pattern) + 1

    def indices(self, dtype) -> np.ndarray:
        starts = np.arange(self.repeats(), dtype=np.int64) * self.delta
        return (starts[:, None] + np.array(self.pattern)).ravel().astype(dtype)


PATTERNS = (
    Pattern("AMG 0", 1, 1454647, (1333, 0, 1, 2, 36, 37, 38, 72, 73, 74, 1296, 1297, 1298, 1332, 1334, 1368), True),
    Pattern("AMG 1", 1, 1454647, (1333, 0, 1, 36, 37, 72, 73, 1296, 1297, 1332, 1368, 1369, 2592, 2593, 2628, 2629)),
    Pattern("Nekbone 0", 3, 982980, strided(6)),
    Pattern("Nekbone 1", 8, 982980, strided(6)),
    Pattern("LULESH 1", 1, 231198, strided(8)),
    Pattern("LULESH 4", 4, 96360, strided(24)),
    Pattern("LULESH 5", 8, 96360, strided(24), True),
    Pattern("LULESH 8", 8, 76794, strided(1)),
    Pattern("LULESH 9", 41, 76794, strided(1)),
    Pattern("PENNANT 0", 2, 83333333, strided(4)),
    Pattern("PENNANT 1", 2, 83333333, (4, 8, 12, 0, 20, 24, 28, 16, 36, 40, 44, 32, 52, 56, 60, 48)),
    Pattern("PENNANT 3", 2, 83333333, (2, 484, 482, 0, 4, 486, 484, 2, 6, 488, 486, 4, 8, 490, 488, 6)),
    Pattern("PENNANT 13", 480, 519750, (482, 0, 2, 484, 484, 2, 4, 486, 486, 4, 6, 488, 488, 6, 8, 490), True),
    Pattern("PENNANT 15", 4, 50000000, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)),
    *(Pattern(f"UNIFORM 8:{step}", 8 * step, 31250000 // step, strided(step, 8)) for step in (1, 2, 4, 8, 16, 64)),
)
