# SPDX-License-Identifier: MIT
"""A modelled machine and network, and the time that an exchange of libgather_mpi takes on it. The plan of every rank is the real planner's.

A take is, as in mpi/mpi_exchange.c: plan; an all-to-all of numbers; ids to their owners; then for each round r: wait for round r - 2 and
place it; the owner gathers round r, starts it, and gathers its own rows. So two rounds are in flight. Time is that of the slowest rank in each step (the exchanges
are collective), so that it is an upper bound for ranks that run freely.

A message costs `latency` once and `message` each; bytes between nodes share the node's network card in each direction; bytes within a node
cost a copy. A node's ranks share its memory. The network itself is taken as not blocking: fabric=0.5 makes half of the bytes between nodes
possible at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from scale_ids import Ids
from scale_planner import Planner, even_splits

HEADER = 13 * 8  # bytes that each rank tells each other one: GATHER_MPI_TELL_LEN words
ID = 4  # bytes of an id on the wire, for parts below 2^32 rows


@dataclass(frozen=True)
class Machine:
    """Seconds and bytes per second. docs/measured/nodes.md says where each constant is from."""

    name: str
    latency: float = 2e-6  # to the first byte of a message between nodes
    message: float = 0.5e-6  # of a rank, for each further message
    card: float = 12.5e9  # of a node, in each direction
    efficiency: float = 0.8  # of the card, in each direction, if both are busy; one direction alone has all of it
    fabric: float = 1.0  # of all cards together
    copy: float = 13e9  # of a rank within its node, and when it gathers
    memory: float = 40e9  # of a node: all its ranks together
    plan_id: float = 20e-9  # of a rank, for each id
    row: float = 5e-9  # of a rank, for each row that it gathers or places


@dataclass(frozen=True)
class Work:
    """What every rank wants, and where the rows are."""

    ids: Ids
    rows: int
    row_bytes: int
    count: int  # ids of each rank
    stripes: bool = False
    hot: int = 0  # rows that every rank has
    rounds: int = 0  # 0: libgather_mpi's choice
    kept: bool = False  # the same ids as before: no plan, no ids


@dataclass(frozen=True)
class Times:
    """Seconds of each part, and in all; bytes of rows that cross the network; the busiest owner's rows over the mean."""

    plan: float
    ids: float
    rows: float
    gather: float
    wire: float
    place: float
    network_bytes: float
    skew: float
    unique: float  # of a rank, on average
    rounds: int

    @property
    def total(self) -> float:
        return self.plan + self.ids + self.rows


@dataclass(frozen=True)
class Plans:
    """counts[asker, owner, round]: rows; and how many different ids a rank has, on average."""

    counts: np.ndarray
    unique: float

    @property
    def rounds(self) -> int:
        return self.counts.shape[2]


PLANNED = 64  # ranks at most; above, these stand for the others


def plans(planner: Planner, work: Work, ranks: int, seed: int = 1, most: int = PLANNED) -> Plans:
    """What every rank asks for. The others' plans are those of the ranks that were planned, with the part of the one in place of the other's."""
    splits = None if work.stripes else even_splits(ranks, work.rows)
    rounds = work.rounds or planner.rounds(work.count * work.row_bytes)
    planner.set_hot(work.ids.hottest(work.hot, work.rows))
    chosen = [i * ranks // min(ranks, most) for i in range(min(ranks, most))]
    asked = [planner.plan(work.ids.draw(p, ranks, work.rows, work.count, seed), ranks, work.rows, splits, rounds) for p in chosen]
    counts = np.empty((ranks, ranks, rounds), np.int64)
    for p in range(ranks):
        i = p * len(chosen) // ranks
        counts[p] = asked[i].counts
        if work.ids.kind == "partitioned":
            counts[p, [p, chosen[i]]] = counts[p, [chosen[i], p]]
    return Plans(counts, float(np.mean([one.unique for one in asked])))


def exchange(machine: Machine, sent: np.ndarray, per_node: int) -> float:
    """Seconds of an all-to-all. sent[q, p]: bytes from rank q to rank p."""
    ranks = len(sent)
    sent = sent * (1 - np.eye(ranks))
    if not sent.any():
        return 0.0
    nodes = ceil(ranks / per_node)
    node = np.arange(ranks) // per_node
    inside = np.where(node[:, None] == node[None, :], sent, 0)
    between = sent - inside
    out, into = np.zeros(nodes), np.zeros(nodes)
    np.add.at(out, node, between.sum(1))
    np.add.at(into, node, between.sum(0))
    busier, other = np.maximum(out, into), np.minimum(out, into)
    wire = (busier + (1 / machine.efficiency - 1) * other).max() / machine.card
    if machine.fabric < 1:
        wire = max(wire, between.sum() / (nodes * machine.card * machine.efficiency * machine.fabric))
    copies = np.zeros(nodes)
    np.add.at(copies, node, inside.sum(0))
    local = max(inside.sum(0).max() / machine.copy, 2 * copies.max() / machine.memory)
    messages = (sent > 0).sum(1).max()
    return machine.latency + messages * machine.message + max(wire, local)


def tell(machine: Machine, ranks: int) -> float:
    """Seconds of the all-to-all of numbers: directly, or in log2 steps of half of everything."""
    if ranks == 1:
        return 0.0
    direct = machine.latency + (ranks - 1) * (machine.message + HEADER / machine.card)
    steps = ceil(log2(ranks))
    return min(direct, steps * (machine.latency + ranks / 2 * HEADER / machine.card))


def gathering(machine: Machine, rows: np.ndarray, row_bytes: int, per_node: int) -> np.ndarray:
    """Seconds of each rank that moves so many rows in memory, one by one. A row is read and written."""
    nodes = ceil(len(rows) / per_node)
    together = np.zeros(nodes)
    node = np.arange(len(rows)) // per_node
    np.add.at(together, node, rows * 2.0 * row_bytes / machine.memory)
    return rows * machine.row + np.maximum(rows * row_bytes / machine.copy, together[node])


def simulate(machine: Machine, work: Work, nodes: int, per_node: int = 1, planner: Planner | None = None, planned: Plans | None = None) -> Times:
    """A take of every rank at once. planned: plans() of it, if the caller has them."""
    ranks = nodes * per_node
    planned = planned or plans(planner or Planner(), work, ranks)
    counts, rounds = planned.counts, planned.rounds
    remote = counts * (1 - np.eye(ranks, dtype=np.int64))[:, :, None]
    own = counts[np.arange(ranks), np.arange(ranks)]
    plan = ids = 0.0
    if not work.kept:
        plan = work.count * machine.plan_id
        ids = exchange(machine, remote.sum(2) * float(ID), per_node)
    ids += tell(machine, ranks)
    placed = np.diff([work.count // rounds * r + work.count % rounds * r // rounds for r in range(rounds + 1)])
    rows, gather, wire, place = _rounds(machine, work, per_node, remote, own, placed)
    owners = remote.sum((0, 2))
    node = np.arange(ranks) // per_node
    crossing = remote.sum(2)[node[:, None] != node[None, :]].sum() * float(work.row_bytes)
    skew = float(owners.max() / owners.mean()) if owners.any() else 1.0
    return Times(plan, ids, rows, gather, wire, place, crossing, skew, planned.unique, rounds)


def _rounds(machine: Machine, work: Work, per_node: int, remote: np.ndarray, own: np.ndarray, placed: np.ndarray) -> tuple[float, ...]:
    """Seconds of the rounds, overlapped; and of each part of them if nothing were."""
    ranks, rounds = remote.shape[0], remote.shape[2]
    move = lambda rows: float(gathering(machine, rows, work.row_bytes, per_node).max())  # noqa: E731
    gathers = [move(remote[:, :, r].sum(0)) + move(own[:, r]) for r in range(rounds)]
    owns = [move(own[:, r]) for r in range(rounds)]
    wires = [exchange(machine, remote[:, :, r].T * float(work.row_bytes), per_node) for r in range(rounds)]
    places = [move(np.full(ranks, placed[r])) for r in range(rounds)]
    now, arrived = 0.0, []
    for r in range(rounds + 2):
        if r >= 2:
            now = max(now, arrived[r - 2]) + places[r - 2]
        if r < rounds:
            sent = now + gathers[r] - owns[r]
            arrived.append(max(sent, arrived[-1] if arrived else 0.0) + wires[r])
            now = sent + owns[r]
    return now, sum(gathers), sum(wires), sum(places)
