# SPDX-License-Identifier: MIT
"""The known differences: differences.toml as objects, and their examples run to see whether they are still true."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).parent / "differences.toml"
KINDS = {"defect": "a defect of theirs", "lack": "something they do not have", "choice": "a choice of ours"}


@dataclass
class Difference:
    """One entry. `tests` are tests of the peer that end with `raises`; `example` is a program that prints `prints`."""

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
    shows: str = "always"  # in each run of the suite; "chance": where memory decides; "example": the suite keeps clear of it

    def seen_here(self) -> bool:
        """Whether this version of the peer is one that the entry was made with."""
        try:
            return importlib.metadata.version(self.package) in self.versions
        except importlib.metadata.PackageNotFoundError:
            return False


def load() -> list[Difference]:
    entries = [Difference(**entry) for entry in tomllib.loads(FILE.read_text())["difference"]]
    names = [entry.id for entry in entries]
    assert len(set(names)) == len(names), "an id stands twice in differences.toml"
    assert all(entry.kind in KINDS and entry.reason and entry.example and entry.prints for entry in entries)
    return entries


def of_suite(suite: str) -> dict[str, Difference]:
    return {entry.id: entry for entry in load() if entry.suite == suite}


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
