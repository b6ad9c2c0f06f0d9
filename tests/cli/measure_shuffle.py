#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `gather shuffle` on this disk: one pass and two beside what the disk needs to read and write as much front to back.

    tests/cli/measure_shuffle.py GATHER FOLDER [GIB] [ROW_BYTES ...]

The table is cold before each run; --memory is an eighth of it. Prints the lines of the table in docs/use/shuffle.md.
"""

import json
import mmap
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

BLOCK, LIMIT_S = 8 << 20, 300


def make_cold(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def sequential(path: Path, size: int, write: bool) -> float:
    """Seconds for the whole file in large blocks, past the page cache; written bytes are on the disk."""
    block = mmap.mmap(-1, BLOCK)
    block[:] = os.urandom(BLOCK)
    file = os.open(path, (os.O_RDWR | os.O_CREAT if write else os.O_RDONLY) | os.O_DIRECT)
    begin = time.monotonic()
    for at in range(0, size, BLOCK):
        assert (os.pwritev if write else os.preadv)(file, [block], at) == BLOCK
    if write:
        os.fsync(file)
    seconds = time.monotonic() - begin
    os.close(file)
    return seconds


def shuffle(gather: str, table: Path, size: int, row_bytes: int, passes: int) -> float:
    """Seconds; no number where it takes too long."""
    make_cold(table)
    out = table.with_name("out.bin")
    words = ["--type", "uint8", "--shape", f"{size // row_bytes}x{row_bytes}", "--memory", str(size // 8)]
    words += ["-o", str(out), "-f", "--seed", "1", "--passes", str(passes), "--json"]
    try:
        done = subprocess.run([gather, "shuffle", str(table), *words], stdout=subprocess.PIPE, timeout=LIMIT_S, check=True)
    except subprocess.TimeoutExpired:
        return float("nan")
    finally:
        out.unlink(missing_ok=True)
    return json.loads(done.stdout)["seconds"]


def main() -> None:
    gather, folder = sys.argv[1], Path(sys.argv[2])
    size = int(sys.argv[3] if len(sys.argv) > 3 else 4) << 30
    lengths = [int(word) for word in sys.argv[4:]] or [256, 4096, 16384, 65536]
    table = folder / "table.bin"
    wrote, read = sequential(table, size, True), sequential(table, size, False)
    limit = 2 * (wrote + read)
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.0f}, {time.strftime('%Y-%m-%d')}")
    print(f"{size >> 30} GiB: read in {read:.1f} s, written in {wrote:.1f} s, both twice in {limit:.1f} s")
    for row_bytes in lengths:
        one, two = (shuffle(gather, table, size, row_bytes, passes) for passes in (1, 2))
        print(f"| {row_bytes} | {one:.1f} s | {two:.1f} s | {limit / two * 100:.0f} % |", flush=True)
    table.unlink()


main()
