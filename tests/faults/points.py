# SPDX-License-Identifier: MIT
"""Where a run can go wrong: every call with every error that fits it, every allocation, every moment of a signal."""

import errno as e
import os
import random
import signal
from collections import Counter

from runs import Point

# The errors that a call may give here. EINTR stands where a system may interrupt it (POSIX; network file systems).
ERRORS = {
    "open": (e.EIO, e.EMFILE, e.ENOMEM, e.EINTR, e.EACCES),
    "openat": (e.EIO, e.EMFILE, e.ENOMEM, e.EINTR, e.EACCES),
    "close": (e.EIO, e.EINTR),
    "read": (e.EIO, e.EINTR),
    "readv": (e.EIO, e.EINTR),
    "pread64": (e.EIO, e.EINTR),
    "preadv": (e.EIO, e.EINTR),
    "preadv2": (e.EIO, e.EINTR, e.EAGAIN, e.EOPNOTSUPP),
    "write": (e.EIO, e.ENOSPC, e.EINTR),
    "writev": (e.EIO, e.ENOSPC, e.EINTR),
    "pwrite64": (e.EIO, e.ENOSPC, e.EINTR),
    "stdout.write": (e.EIO, e.ENOSPC),
    "stderr.write": (e.EIO,),
    "lseek": (e.EINVAL,),
    "statx": (e.EIO, e.ENOMEM, e.ENOSYS),
    "access": (e.EIO, e.ENOMEM),
    "faccessat": (e.EIO, e.ENOMEM),
    "mmap": (e.ENOMEM, e.EAGAIN),
    "munmap": (e.ENOMEM,),
    "mremap": (e.ENOMEM,),
    "mprotect": (e.ENOMEM,),
    "madvise": (e.ENOMEM, e.EINVAL, e.EAGAIN),
    "mincore": (e.ENOMEM, e.EAGAIN),
    "cachestat": (e.ENOSYS, e.EOPNOTSUPP),
    "fsync": (e.EIO, e.ENOSPC),
    "fdatasync": (e.EIO, e.ENOSPC),
    "sync_file_range": (e.EIO, e.ENOSPC, e.ENOMEM),
    "ftruncate": (e.EIO, e.EINTR, e.EPERM),
    "fallocate": (e.EIO, e.EINTR, e.ENOSPC, e.EOPNOTSUPP),
    "fadvise64": (e.EINVAL,),
    "link": (e.EIO, e.ENOSPC, e.EPERM),
    "linkat": (e.EIO, e.ENOSPC, e.EPERM),
    "rename": (e.EIO, e.ENOSPC),
    "renameat": (e.EIO, e.ENOSPC),
    "renameat2": (e.EIO, e.ENOSPC, e.EINVAL),
    "mkdir": (e.EIO, e.ENOSPC, e.EMLINK),
    "mkdirat": (e.EIO, e.ENOSPC, e.EMLINK),
    "fcntl": (e.ENOLCK, e.EAGAIN),
    "ioctl": (e.ENOTTY, e.EIO),
    "getrandom": (e.ENOSYS,),
    "poll": (e.EINTR, e.ENOMEM),
    "ppoll": (e.EINTR, e.ENOMEM),
    "clone": (e.EAGAIN, e.ENOMEM),
    "clone3": (e.EAGAIN, e.ENOMEM),
    "socket": (e.EMFILE, e.ENOBUFS, e.ENOMEM, e.EACCES),
    "socketpair": (e.EMFILE, e.ENOMEM),
    "connect": (e.ECONNREFUSED, e.ENETUNREACH, e.ETIMEDOUT, e.EADDRNOTAVAIL, e.EINTR),
    "sendto": (e.ECONNRESET, e.EPIPE, e.ENOBUFS, e.EINTR),
    "sendmsg": (e.ECONNRESET, e.EPIPE, e.ENOBUFS, e.EINTR),
    "recvfrom": (e.ECONNRESET, e.ETIMEDOUT, e.ENOMEM, e.EINTR),
    "recvmsg": (e.ECONNRESET, e.ENOMEM, e.EINTR),
    "setsockopt": (e.ENOPROTOOPT, e.ENOMEM),
    "getsockopt": (e.ENOPROTOOPT, e.ENOMEM),
    "getsockname": (e.ENOBUFS,),
    "getpeername": (e.ENOTCONN,),
    "pipe": (e.EMFILE,),
    "pipe2": (e.EMFILE,),
    "eventfd2": (e.EMFILE, e.ENOMEM),
    "io_uring_setup": (e.ENOSYS, e.EPERM, e.ENOMEM, e.EMFILE),
    "io_uring_enter": (e.EINTR, e.EAGAIN, e.EBUSY, e.ENOMEM),
    "io_uring_register": (e.ENOMEM, e.EINVAL),
}
OTHERS = (e.EIO, e.ENOMEM)
SHORT = ("read", "pread64", "write", "pwrite64", "stdout.write", "sendto", "recvfrom")
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)

ROUNDS = os.environ.get("GATHER_TEST_ROUNDS", "")  # points of a scenario; "all"
SAMPLE = int(os.environ.get("GATHER_TEST_SAMPLE", "0"))  # what the build has for it
# The runtime of a sanitizer makes these calls too, and cannot do without them.
UNTOUCHED = {"mmap", "munmap", "mremap", "mprotect", "madvise", "sched_getaffinity", "sysinfo", "prlimit64", "clone", "clone3",
             "readlink", "readlinkat"} if os.environ.get("GATHER_SANITIZE") else set()
SEED = int(os.environ.get("GATHER_TEST_SEED", "1"))


def errors_of(name: str) -> tuple[int, ...]:
    if name in ERRORS:
        return ERRORS[name]
    found = ERRORS.get(name.split(".")[-1], OTHERS)
    return tuple(number for number in found if number != e.EINTR)  # the streams are the C library's


def places(count: int, loops: int) -> list[int]:
    """1, 2, 3, ..., and one more than there are. loops: only so many, and the last."""
    if loops == 0 or count <= loops:
        return list(range(1, count + 2))
    return [*range(1, loops + 1), count - 1, count, count + 1]


def call_points(calls: list[str], loops: int) -> list[Point]:
    points = []
    for name, count in sorted(Counter(call for call in calls if call not in UNTOUCHED).items()):
        for nth in places(count, loops):
            points += [Point("fail", name, nth, number) for number in errors_of(name)]
            points += [Point("short", name, nth)] if name in SHORT else []
    return points


def signal_points(calls: list[str], loops: int) -> list[Point]:
    seen: Counter[str] = Counter()
    points = []
    for nth, name in enumerate([*calls, "end"], 1):
        seen[name] += 1
        if loops == 0 or seen[name] <= loops:
            points += [Point("signal", "-", nth, number) for number in SIGNALS]
    return points


def all_points(calls: list[str], allocations: int, loops: int) -> list[Point]:
    """Those of a run as it went once. A run with threads may make some calls more or less: a point that is not come to is one.
    loops: a command that repeats the same calls in rounds; the first so many of each name are tried. 0 = all."""
    points = call_points(calls, loops) + signal_points(calls, loops)
    for nth in places(allocations, 30 * loops):
        points += [Point("alloc", "-", nth), Point("alloc+", "-", nth)]
    return points


def choose(points: list[Point], name: str, least: int) -> list[Point]:
    """Some of them, of each kind in turn; GATHER_TEST_ROUNDS=N is so many, =all each."""
    if ROUNDS == "all":
        return points
    rng = random.Random(f"{SEED} {name}")
    kinds: dict[tuple, list[Point]] = {}
    for point in points:
        kinds.setdefault((point.how, point.name, point.number if point.how == "signal" else 0), []).append(point)
    for kind in kinds.values():
        rng.shuffle(kind)
    order = list(kinds.values())
    rng.shuffle(order)
    wanted, chosen = int(ROUNDS or SAMPLE or least), []
    while order and len(chosen) < wanted:
        for kind in order:
            chosen.append(kind.pop())
        order = [kind for kind in order if kind]
    return chosen[:wanted]
