# SPDX-License-Identifier: MIT
"""Lines that the command refuses, as tables of text.

A row is `STATUS | LINE | PART | ...`: the line stands as in a shell, and each part is in what the command says. A part `key=value` is a
member of the JSON error. `#` begins a comment, which names the rows below it.
"""

from __future__ import annotations

import json
import re
import shlex

import pytest

MEMBER = re.compile(r"(file|input|offset|position|value|low|high|axis|bad_count|op|rules)=(.*)")


def rows(table: str) -> list:
    """The parameters of a test: status, line and parts."""
    found = [[part.strip() for part in row.split(" | ")] for row in table.splitlines() if row.strip() and not row.startswith("#")]
    return [pytest.param(status, line, parts, id=line or "(nothing)") for status, line, *parts in found]


def expect(gather, status: str, line: str, parts: list[str]) -> None:
    """At most one sentence and one hint, nothing on stdout, and no file is new or other than before."""
    before = state(gather)
    error = gather.fails(status, *shlex.split(line))
    assert gather.said.count("\n") <= 2 and error["message"] in gather.said and error.get("hint", "") in gather.said, (gather.said, error)
    for part in parts:
        if member := MEMBER.fullmatch(part):
            found = error[member[1]]
            assert (found if isinstance(found, str) else json.dumps(found)) == member[2], error
        else:
            assert part in gather.said, gather.said
    assert state(gather) == before


def state(gather) -> dict[str, tuple[int, int, int]]:
    found = {path: path.lstat() for path in gather.folder.rglob("*")}
    return {str(path): (entry.st_ino, entry.st_size, entry.st_mtime_ns) for path, entry in found.items()}
