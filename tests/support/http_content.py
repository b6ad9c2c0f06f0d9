# SPDX-License-Identifier: MIT
"""What the test server serves: bytes, files, and made-up content of any size that takes neither memory nor disk."""
import os
from pathlib import Path

import numpy as np

WORD = 8


class Bytes:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = bytes(data)
        self.size = len(self.data)

    def read(self, offset: int, count: int) -> bytes:
        return self.data[offset : offset + count]


class File:
    """A file, which may be larger than memory, and sparse. It stays open, as with other servers: a name that gets another file
    while the server runs is seen with the next request only where the server asks `current()`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.stat = os.fstat(self.descriptor)
        self.size = self.stat.st_size

    def read(self, offset: int, count: int) -> bytes:
        return os.pread(self.descriptor, count, offset)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


def words(numbers: np.ndarray, seed: int = 0) -> np.ndarray:
    """The words of made-up content with these numbers: each is a function of its number only."""
    x = numbers.astype(np.uint64) + np.uint64(seed * 1_000_003)
    x = (x ^ (x >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (x ^ (x >> np.uint64(32))).astype("<u8", copy=False)


class Made:
    """`head`, then `count` bytes that follow from their position: a table of 200 GB for a test without a disk. `expected(offset,
    count)` is what a client must get."""

    def __init__(self, head: bytes, count: int, seed: int = 0) -> None:
        self.head, self.seed = head, seed
        self.size = len(head) + count

    def expected(self, offset: int, count: int) -> bytes:
        """Bytes of the part behind the head."""
        first, last = offset // WORD, -(-(offset + count) // WORD)
        return words(np.arange(first, last), self.seed).tobytes()[offset - first * WORD :][:count]

    def read(self, offset: int, count: int) -> bytes:
        count = max(0, min(count, self.size - offset))
        found = self.head[offset : offset + count]
        rest = count - len(found)
        return found + self.expected(offset + len(found) - len(self.head), rest) if rest else found


def content(what: bytes | bytearray | str | Path | Bytes | File | Made):
    """Bytes, or a path, as content."""
    if isinstance(what, (bytes, bytearray)):
        return Bytes(bytes(what))
    return File(Path(what)) if isinstance(what, (str, Path)) else what
