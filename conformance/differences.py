# SPDX-License-Identifier: MIT
"""The known differences: differences/SUITE.toml as objects, and their examples run to see whether they are still true.

An entry says where a peer and libgather differ, and why. Its small program and what that prints are compared at each
run, so that an entry that is no longer true is noticed. docs/measured/conformance.md is made from them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "differences"
KINDS = {"defect": "a defect of the peer", "lack": "the peer lacks it", "choice": "our choice"}
# always: each run of the suite meets it; chance: memory decides; example: the suite keeps clear of it.
SHOWS = ("always", "chance", "example")


@dataclass
class Difference:
    """One entry: `tests` are tests of the peer that end with `raises`; `versions` are the package's, with which it was
    made.
    """

    id: str
    suite: str
    package: str
    kind: str
    title: str
    reason: str
    versions: list[str]
    example: str
    prints: str
    tests: list[str] = field(default_factory=list)
    raises: str = ""
    shows: str = "always"
    report: bool = False  # whether it stands in docs/measured/peers-defects.md
    processor: bool = False  # whether it hangs on the processor: then one that behaves is no failure


def of_suite(suite: str) -> dict[str, Difference]:
    """The entries of a suite, by their ids."""
    file = FOLDER / f"{suite}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {"package": "", "difference": []}
    entries = [Difference(suite=suite, package=table["package"], **entry) for entry in table["difference"]]
    assert all(entry.kind in KINDS and entry.shows in SHOWS and entry.reason and entry.prints for entry in entries)
    found = {entry.id: entry for entry in entries}
    assert len(found) == len(entries), f"an id stands twice in {file}"
    return found


def load() -> list[Difference]:
    return [entry for file in sorted(FOLDER.glob("*.toml")) for entry in of_suite(file.stem).values()]


def printed(entry: Difference, python: str, seconds: int = 120) -> str:
    """What the example prints here; a process that dies says so in its last line."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            [python, "-c", entry.example], capture_output=True, text=True, timeout=seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end after {seconds} s"
    text = done.stdout.strip()
    if done.returncode < 0:
        return f"{text}\nthe process died of signal {-done.returncode}".strip()
    return f"{text}\n{done.stderr.strip()}".strip() if done.returncode else text


def check_examples(entries: list[Difference], python: str = sys.executable) -> dict[str, str]:
    """Runs the examples; the ones that print something else than the entry says, with what they printed."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda entry: printed(entry, python), entries))
    return {entry.id: text for entry, text in zip(entries, answers, strict=True) if text != entry.prints.strip()}
