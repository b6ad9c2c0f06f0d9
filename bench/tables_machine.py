# SPDX-License-Identifier: MIT
"""The disk and the file system under a file, for the head of the page."""

from __future__ import annotations

import os
from pathlib import Path

from machine import read


def mount_of(path: Path) -> tuple[str, str, str]:
    """Type, device and options of the file system that a file is on."""
    number = os.stat(path).st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    for line in read("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        if before.split()[2] == wanted:
            kind, device, options = after.split()[:3]
            return kind, device, options
    return "unknown", "unknown", ""


def queue_of(path: Path) -> Path:
    number = os.stat(path).st_dev
    folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    return folder / "queue" if (folder / "queue").exists() else folder.parent / "queue"  # a partition has its disk's


def disk(path: Path) -> dict:
    kind, device, options = mount_of(path)
    queue = queue_of(path)
    scheduler = read(f"{queue}/scheduler")
    known = {
        "file_system": f"{kind} ({options})" if options else kind,
        "disk": device,
        "model": read(f"{queue.parent}/device/model"),
        "read_ahead_kib": read(f"{queue}/read_ahead_kb"),
        "scheduler": scheduler[scheduler.find("[") + 1 : scheduler.find("]")] if "[" in scheduler else scheduler,
        "rotational": {"0": "no", "1": "yes"}.get(read(f"{queue}/rotational"), ""),
    }
    return {key: value for key, value in known.items() if value}
