# SPDX-License-Identifier: MIT
"""The ways that move no rows between nodes, as formulas: what docs/measured/nodes.md compares the exchange with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Storage:
    """Where every node reads its own rows.

    latency: of one read; flight: reads in flight of one node; client: bytes per second of one node; server, reads: bytes and reads per
    second of all nodes together (0: each node has its own, as with a disk in each); block: bytes of a read of one small row.
    """

    name: str
    latency: float
    flight: int
    client: float
    server: float
    reads: float
    block: int


# From the providers' documentation, or as remembered of such systems; none was measured. docs/measured/nodes.md says so.
OBJECTS = Storage("object store by URL, one prefix", 0.1, 64, 1.2e9, 0, 5500, 512)
SHARED = Storage("the same file on a shared file system", 0.5e-3, 256, 2e9, 50e9, 1e6, 4096)
LOCAL = Storage("a copy on a disk of each node", 0.1e-3, 128, 3e9, 0, 0, 4096)
WAYS = (OBJECTS, SHARED, LOCAL)


def seconds(storage: Storage, nodes: int, unique: float, row_bytes: int) -> float:
    """A take of every node at once, of so many different rows each."""
    read = max(storage.block, row_bytes)
    found = max(unique * storage.latency / storage.flight, unique * read / storage.client)
    if storage.server:
        found = max(found, nodes * unique * read / storage.server)
    if storage.reads:
        found = max(found, nodes * unique / storage.reads)
    return found


def limit(storage: Storage, nodes: int, unique: float, row_bytes: int) -> str:
    """What decides that time."""
    read = max(storage.block, row_bytes)
    parts = {"latency": unique * storage.latency / storage.flight, "the node's bandwidth": unique * read / storage.client}
    if storage.server:
        parts["the server's bandwidth"] = nodes * unique * read / storage.server
    if storage.reads:
        parts["the server's reads"] = nodes * unique / storage.reads
    return max(parts, key=parts.__getitem__)
