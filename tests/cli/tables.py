# SPDX-License-Identifier: MIT
"""Tables for the tests of the command: cold files, watched commands, and a system without io_uring."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import subprocess
import time
from pathlib import Path

from support.outputs import being_written

MIB = 1 << 20
ENGINES = ["auto", "mmap", "pread", "uring"]
TABLE_KEYS = {
    "engine", "direct", "depth", "why", "rows", "rows_resident", "rows_cached", "rows_read", "reads",
    "bytes_useful", "bytes_read", "memory_peak", "memory_ceiling", "devices",
}  # fmt: skip


def make_cold(path: Path) -> None:
    """Puts a file out of the page cache, as far as the system does that."""
    fd = os.open(path, os.O_RDONLY)
    os.fdatasync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def has_uring(gather) -> bool:
    return next(row["works"] for row in gather.json("info")["engines"] if row["name"] == "uring")


def peak_bytes(process: subprocess.Popen) -> int:
    """The most memory that a process had resident, looked at until it ends."""
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            peak = max(peak, int(found[1]) * 1024)
        time.sleep(0.002)
    return peak


def start_writing(words: list[str], folder: Path, **more) -> subprocess.Popen:
    """Starts a command and waits until it writes."""
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    while process.poll() is None and not being_written(folder, process.pid):
        time.sleep(0.0005)
    return process


def forbid_uring() -> None:
    """For preexec_fn: the system calls of io_uring fail from here on, as containers do it (seccomp)."""
    load, jump_if, give = 0x20, 0x15, 0x06
    deny, allow = 0x00050000 | 1, 0x7FFF0000  # EPERM
    first, last = 425, 427  # io_uring_setup, _enter, _register: the same numbers on every architecture
    program = [(load, 0, 0, 0)]
    numbers = range(first, last + 1)
    program += [(jump_if, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    program += [(give, 0, 0, allow), (give, 0, 0, deny)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or libc.prctl(set_seccomp, filter_mode, filters, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no filter for system calls can be set")
