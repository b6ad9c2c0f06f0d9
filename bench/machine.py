# SPDX-License-Identifier: MIT
"""What was measured on what: CPU, caches, pages, compiler, flags, versions, commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import gather_bench_native as native

ROOT = Path(__file__).resolve().parent.parent


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def cpu() -> str:
    for line in read("/proc/cpuinfo").splitlines():
        if line.startswith(("model name", "Model")):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def model() -> str:
    """Family and model: a name such as "Intel(R) Xeon(R) Processor" says little."""
    wanted = {"cpu family": "family", "model": "model", "stepping": "stepping"}
    found = {}
    for line in read("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in wanted:
            found.setdefault(wanted[key.strip()], value.strip())
    return ", ".join(f"{key} {value}" for key, value in found.items())


def caches() -> str:
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = read(f"{folder}/type")
        if kind != "Instruction":
            found.append(f"L{read(f'{folder}/level')} {read(f'{folder}/size')}B")
    return ", ".join(found) or "unknown"


def free_bytes() -> int:
    """Memory that a program can have without disturbing others: what the system says, and the control group's limit."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for line in read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024)
    most, used = read("/sys/fs/cgroup/memory.max"), read("/sys/fs/cgroup/memory.current")
    if most.isdigit() and used.isdigit():
        found.append(int(most) - int(used))
    return min(found)


def commit() -> str:
    """Of the sources, with a + where they were changed since."""
    try:
        git = ["git", "-C", str(ROOT)]
        found = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run([*git, "status", "--porcelain", "--", "src", "include", "python", "bench", "cmake", "CMakeLists.txt"],
                                 capture_output=True, text=True, check=True).stdout.strip()
        return found + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def build() -> dict:
    """What the build says of itself, beside the module."""
    path = Path(native.__file__).with_name("build.json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def describe(huge_share: float, peers, absent: dict[str, str], flushes: bool) -> dict:
    library = native.library()
    kernel = platform.release().split("-")[0]
    pages = read("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": f"{cpu()} ({model()})" if model() else cpu(),
        "cpus": library["cpus"],
        "caches": caches(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "huge_pages": f"{pages or 'none'}; {huge_share:.0%} of the table uses them",
        "hypervisor": "yes" if " hypervisor" in read("/proc/cpuinfo") else "not seen",
        "flush": flushes,
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {kernel}, libc {' '.join(platform.libc_ver())}",
        "python": sys.version.split()[0],
        "isa": f"{library['isa']} ({library['features']})",
        "pool": library["pool"],
        **build(),
        "commit": commit(),
        "versions": {peer.name: peer.version for peer in peers if peer.version},
        "absent": absent,
    }
