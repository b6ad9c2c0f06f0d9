# SPDX-License-Identifier: MIT
"""The memory that a run is allowed: a memory cgroup, version 1 or 2, that this process makes, enters and leaves; else
a scope of systemd that it starts itself again in; else a limit on private memory, which does for files larger than
the machine's memory alone."""

from __future__ import annotations

import mmap
import os
import resource
import shutil
import signal
import sys
from pathlib import Path

MIB = 1 << 20
MARK = "GATHER_BENCH_SCOPE"  # set in a process that systemd has put into a scope


class Refused(Exception):
    """No limit can be made here; says what is missing."""


def mounts(kind: str) -> list[tuple[Path, str]]:
    """Where file systems of a kind are mounted, with their options."""
    try:
        lines = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return []
    return [(Path(line[1]), line[3]) for line in lines if line[2] == kind]


def own_group(controller: str) -> str:
    """The group of this process as the system names it; "" for the controller of version 2."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") if controller else not names:
            return path.lstrip("/")
    return ""


class Group:
    """A memory cgroup. Files: what is read and written in it, by version."""

    FILES = {
        1: {"limit": "memory.limit_in_bytes", "now": "memory.usage_in_bytes", "peak": "memory.max_usage_in_bytes"},
        2: {"limit": "memory.max", "now": "memory.current", "peak": "memory.peak"},
    }

    def __init__(self, folder: Path, version: int, before: Path | None):
        """before: the group to go back to; None = the group is not ours to leave."""
        self.folder, self.version, self.before = folder, version, before
        self.what = f"memory cgroup, version {version}" + ("" if before else ", of a scope of systemd")

    def number(self, what: str) -> int:
        try:
            text = (self.folder / self.FILES[self.version][what]).read_text(encoding="utf-8").strip()
        except OSError:
            return 0
        return int(text) if text.isdigit() else 0

    def leave(self) -> None:
        if self.before:
            (self.before / "cgroup.procs").write_text(str(os.getpid()))
            self.folder.rmdir()


def made(parent: Path, version: int, before: Path, bytes_: int) -> Group:
    folder = parent / f"gather-bench-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / Group.FILES[version]["limit"]).write_text(str(bytes_))
        for swap in (("memory.memsw.limit_in_bytes", str(bytes_)) if version == 1 else ("memory.swap.max", "0"),):
            if (folder / swap[0]).exists():
                (folder / swap[0]).write_text(swap[1])
        (folder / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        folder.rmdir()
        raise
    return Group(folder, version, before)


def by_version_1(bytes_: int) -> Group:
    for mount, options in mounts("cgroup"):
        if "memory" in options.split(","):
            return made(mount, 1, mount / own_group("memory"), bytes_)
    raise OSError("no memory cgroup of version 1 is mounted")


def by_version_2(bytes_: int) -> Group:
    for mount, _ in mounts("cgroup2"):
        if "memory" not in (mount / "cgroup.controllers").read_text(encoding="utf-8").split():
            continue
        switch = mount / "cgroup.subtree_control"
        if "memory" not in switch.read_text(encoding="utf-8").split():
            switch.write_text("+memory")
        return made(mount, 2, mount / own_group(""), bytes_)
    raise OSError("no cgroup of version 2 with a memory controller is mounted")


def of_scope(bytes_: int) -> Group:
    """The group in which systemd has put this process."""
    for mount, _ in mounts("cgroup2"):
        group = Group(mount / own_group(""), 2, None)
        if 0 < group.number("limit") <= bytes_:
            return group
    raise Refused("the scope of systemd that this process was started in has no limit of memory")


def again_in_a_scope(bytes_: int) -> None:
    """Starts this program again within a limit by systemd, and does not return. Returns where that cannot be."""
    program = shutil.which("systemd-run")
    if not program or not os.environ.get("XDG_RUNTIME_DIR"):
        return
    command = [program, "--user", "--scope", "--quiet", "-p", f"MemoryMax={bytes_}", "-p", "MemorySwapMax=0"]
    if os.spawnv(os.P_WAIT, program, [*command, "true"]) == 0:
        os.environ[MARK] = "1"
        os.execv(program, [*command, "--", sys.executable, *sys.argv])


class Private:
    """A limit on private memory alone. The page cache may grow, so that the file has to be larger than all memory."""

    what, version, folder = "RLIMIT_DATA: private memory; the file is larger than the machine's memory", 0, None

    def __init__(self, bytes_: int):
        resource.setrlimit(resource.RLIMIT_DATA, (bytes_, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        self.bytes = bytes_

    def number(self, what: str) -> int:
        return self.bytes if what == "limit" else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def leave(self) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_DATA)[1]))


class Nothing:
    """--no-limit: for a try where no limit can be made. The page says so."""

    what, version, folder = "none", 0, None

    def number(self, what: str) -> int:
        return 0

    def leave(self) -> None:
        pass


def enter(bytes_: int, file_bytes: int):
    """The best limit that there is; the process is within it after that."""
    if os.environ.get(MARK):
        return of_scope(bytes_)
    why = []
    for way in (by_version_1, by_version_2):
        try:
            return way(bytes_)
        except OSError as error:
            why.append(str(error))
    again_in_a_scope(bytes_)
    why.append("systemd-run --user cannot make a scope with MemoryMax")
    if file_bytes > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        return Private(bytes_)
    raise Refused(
        "no limit of memory can be set here: " + "; ".join(why) + ". Run it as root, or with a file larger than this "
        "machine's memory (--bytes), or with --no-limit for a try"
    )


def want(bytes_: int) -> int:
    """A child process that wants so much memory: 0 where it got it, else the signal or the error that it ended with."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            Path("/proc/self/oom_score_adj").write_text("1000")
            memory = mmap.mmap(-1, bytes_, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for at in range(0, bytes_, 4096):
                memory[at] = 1
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def proof(limit, bytes_: int) -> dict:
    """That the limit is in force: less than it can be had, more than it cannot."""
    if isinstance(limit, Nothing):
        return {"what": limit.what, "bytes": 0, "in_force": False}
    less, more = bytes_ // 2, bytes_ + bytes_ // 4
    had, killed = want(less), want(more)
    ended = f"signal {killed} ({signal.Signals(killed).name})" if killed > 1 else "an error" if killed else "nothing"
    return {
        "what": limit.what, "bytes": limit.number("limit"), "in_force": had == 0 and killed != 0, "less": less, "less_was_had": had == 0,
        "more": more, "more_ended": ended,
    }
