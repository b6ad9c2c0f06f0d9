# SPDX-License-Identifier: MIT
"""The facts that ranks exchange before libgather_mpi is called: the type of each rank's rows, or its error. So an error of one rank is
raised on all ranks, and a missing rank is an error after the time limit."""

import builtins
import hashlib
import json
import os
import time
from typing import Any

import numpy as np

from libgather import errors
from libgather.table import Table

__all__ = ["STATUSES", "compare", "failure_of", "files_of", "gather_facts", "rebuilt", "short"]

STATUSES = ("ok", *errors._CLASSES)  # in the order of their numbers
_BYTES = 16384  # of what a rank tells: 1000 characters of a failure are at most 12 bytes each in JSON
_LIMIT = 600.0  # seconds, as in gather/mpi.h
_BUILTIN = ("TypeError", "ValueError", "MemoryError", "OSError", "FileNotFoundError", "PermissionError", "ImportError", "NotImplementedError")
_late: list[Any] = []  # buffers of operations that did not end in time, which MPI may still write


def short(text: str, most: int = 200) -> str:
    """The text, or its beginning and a hash of it: short, and equal for equal texts."""
    return text if len(text) <= most else f"{text[: most - 20]}... {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def failure_of(error: Exception) -> dict[str, Any]:
    """An exception in words that another process understands."""
    message = getattr(error, "message", None) or str(error)
    return {"kind": type(error).__name__, "message": message[:700], "status": getattr(error, "status", None), "file": str(getattr(error, "file", None) or "")[-300:]}


def rebuilt(rank: int, failure: dict[str, Any]) -> Exception:
    """The exception of another rank."""
    text = f"rank {rank}: {failure['message']}"
    if failure["status"] in errors._CLASSES:
        made = errors.make(failure["status"], STATUSES.index(failure["status"]), text, None, None, None, None, failure["file"] or None, -1)
        made.rank = rank
        return made
    if failure["kind"] in _BUILTIN:
        return getattr(builtins, failure["kind"])(text)
    return RuntimeError(f"rank {rank}: {failure['kind']}: {failure['message']}")


def gather_facts(comm: Any, fact: dict[str, Any], seconds: float) -> list[dict[str, Any]]:
    """A small value of every rank, for every rank. seconds: the time limit; 0 = 600, below 0 = none."""
    words = json.dumps(fact).encode()
    mine, every = np.zeros(_BYTES, np.uint8), np.zeros((comm.Get_size(), _BYTES), np.uint8)
    mine[: len(words)] = np.frombuffer(words, np.uint8)  # ASCII, without zeros
    request, limit, start = comm.Iallgather(mine, every), seconds or _LIMIT, time.monotonic()
    while not request.Test():
        if 0 <= limit < time.monotonic() - start:
            _late.append((request, mine, every))
            raise errors.make(
                "io_error", STATUSES.index("io_error"),
                f"rank {comm.Get_rank()}: no answer from another rank for {limit:g} s: it may have ended, or not made this call",
                None, None, None, None, None, -1,
            )  # fmt: skip
        time.sleep(0.0001)
    return [json.loads(row.tobytes().rstrip(b"\0")) for row in every]


def compare(facts: list[dict[str, Any]]) -> None:
    """Raises if the rows or layouts of two ranks differ: the same exception on every rank, since all have all facts."""
    first = facts[0]
    for rank, found in enumerate(facts):
        for name, status in (("dtype", "type_mismatch"), ("shape", "shape_mismatch"), ("layout", "mismatch")):
            if found[name] == first[name]:
                continue
            message = f"its rows are {found['dtype']} of shape {found['shape']}, those of rank 0 {first['dtype']} of shape {first['shape']}"
            if name == "layout":
                message = f"its layout is {found['layout']!r}, that of rank 0 {first['layout']!r}"
            raise rebuilt(rank, {"message": message, "status": status, "kind": "", "file": ""})


def files_of(mine: Any) -> str | None:
    """A value that is equal on two ranks whose tables have the same parts: URLs by name, files by size, time and inode number."""
    if not isinstance(mine, Table):
        return None
    facts = str([_identity(part.path) + (part.offset, part.first, part.rows) for part in mine.parts])
    return hashlib.sha256(facts.encode(errors="surrogateescape")).hexdigest()


def _identity(path: str) -> tuple:
    try:
        found = os.stat(path)
    except OSError:
        return (path,)
    return (found.st_size, found.st_mtime_ns, found.st_ino)
