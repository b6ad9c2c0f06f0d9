# SPDX-License-Identifier: MIT
"""The kinds of rows: gathers, their siblings that read, and those that write. Each has a grid, memory, limits and peers of its own."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Callable

import grid
import limits
import peers
import scatter_grid
import scatter_limits
import scatter_memory
import scatter_peers
import siblings_grid
import siblings_limits
import siblings_memory
import siblings_peers
from cases import Memory


@dataclass(frozen=True)
class Kind:
    case: type
    grid: ModuleType
    memory: Callable  # of a case in the arenas
    limits: Callable  # of a memory
    peers: ModuleType
    watched: Callable = lambda found, threads: found  # the peers, without what is known to be wrong by luck only


KINDS = (
    Kind(grid.Case, grid, Memory, limits.limits, peers),
    Kind(siblings_grid.Sibling, siblings_grid, siblings_memory.memory_of, siblings_limits.limits, siblings_peers),
    Kind(scatter_grid.Written, scatter_grid, scatter_memory.Writes, scatter_limits.limits, scatter_peers, scatter_peers.watched),
)


def kind_of(case) -> Kind:
    return next(kind for kind in KINDS if type(case) is kind.case)


def cases(threads: tuple[int, ...], quick: bool, only: str, every: bool, curve: tuple[int, ...] = ()) -> list:
    """The rows of a run, of all kinds in order. curve: as grid.cases."""
    found = grid.cases(threads, quick, only, every, curve)
    return found + [case for kind in KINDS[1:] for case in kind.grid.cases(threads, quick, only, every)]


class Crowd:
    """Who takes part in the rows of each kind: the peers that are there. Only those of kinds that have rows are loaded."""

    def __init__(self, rows: list, names: tuple[str, ...], threads: tuple[int, ...]):
        self.absent: dict[str, str] = {}
        self.peers: dict[str, list] = {}
        for kind in KINDS:
            if any(kind_of(case) is kind for case in rows):
                found, absent = kind.peers.load(names)
                self.peers[kind.grid.END] = kind.watched(found, threads)
                self.absent |= absent

    def everybody(self) -> list:
        return [peers.Ours(), *(peer for found in self.peers.values() for peer in found)]

    def of(self, case, made: Callable) -> list:
        """made: of libgather's own class, a list."""
        kind = kind_of(case)
        return [*made(kind.peers.Ours()), *self.peers[kind.grid.END]]
