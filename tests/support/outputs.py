# SPDX-License-Identifier: MIT
"""Files that are being written: they have no name where the system can do that, and a temporary one elsewhere."""
import os
from pathlib import Path


def has_unnamed_files(folder: Path) -> bool:
    """Whether the file system of a folder can make files without a name, and /proc is there to name them later."""
    try:
        fd = os.open(folder, os.O_TMPFILE | os.O_RDWR)
    except (AttributeError, OSError):
        return False
    found = os.path.exists(f"/proc/self/fd/{fd}")
    os.close(fd)
    return found


def being_written(folder: Path, pid: int | str = "self") -> list[str]:
    """The files without a name, or with a temporary one, that a process has open in a folder: paths that can be opened."""
    found = []
    start = os.path.realpath(folder) + "/"
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(entry.path)
            except OSError:
                continue
            rest = target.removeprefix(start)
            unnamed = rest.startswith("#") and rest.endswith(" (deleted)")
            if rest != target and (unnamed or rest.startswith(".gather-")):
                found.append(entry.path)
    except OSError:  # it has ended
        pass
    return found


def temporary_names(folder: Path) -> list[str]:
    """The names in a folder that no output should have left."""
    return [path.name for path in Path(folder).iterdir() if path.name.startswith(".gather-")]
