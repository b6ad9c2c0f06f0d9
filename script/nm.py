# SPDX-License-Identifier: MIT
"""The symbols of object files and libraries, as nm prints them, and the functions that the public headers promise."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DECLARED = re.compile(r"GATHER_API\b[^;{]*?\b(gather_\w+)\s*\(", re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


@dataclass
class Symbols:
    """The global symbols of one object file."""

    defined: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library: Path, *flags: str) -> set[str]:
    """The names in nm's POSIX format, without their versions, which are absolute symbols (A) themselves."""
    words = [line.split() for line in run("nm", "-P", *flags, str(library)).splitlines() if not line.endswith(":")]
    return {word[0].split("@")[0] for word in words if len(word) >= 2 and word[1] != "A"}


def object_symbols(files: list[Path]) -> dict[Path, Symbols]:
    """The symbols of each file, by one call of nm: its lines are "FILE: NAME TYPE VALUE SIZE"."""
    found = {file: Symbols() for file in files}
    for line in run("nm", "-A", "-P", "-g", *map(str, files)).splitlines() if files else []:
        file, _, rest = line.rpartition(": ")
        name, kind = rest.split()[:2]
        if kind not in "WVu":  # what C++ defines in every file that uses it
            (found[Path(file)].needed if kind in "Uvw" else found[Path(file)].defined).add(name)
    return found


def declared(*headers: str, folder: str = "include/gather") -> set[str]:
    """The functions that the public headers promise, or those of these names."""
    names = set()
    for header in (ROOT / folder).glob("*.h"):
        if headers and header.stem not in headers:
            continue
        text = COMMENT.sub(" ", header.read_text(encoding="utf-8"))
        text = re.sub(r"^\s*#.*$", " ", text, flags=re.M)
        names.update(DECLARED.findall(text))
    return names
