# SPDX-License-Identifier: MIT
"""Runs what takes too long for the test suite: script/mpi calls this file."""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from mpirun import BUILD, NAMES, command, environment, mpirun
from mpi_network import RATE, Namespaces, missing, network
from mpi_network import run as run_between

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 3600
TCP = f"TCP at {RATE} Mbit/s"


def fail(why: str) -> None:
    print(f"mpi: {why}", file=sys.stderr)
    raise SystemExit(1)


def run(name: str, ranks: int, program: str, *arguments: object, options: tuple[str, ...] = ()) -> str:
    done = mpirun(name, ranks, program, *arguments, options=options, timeout=TIMEOUT)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, done.args))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def cases(count: int) -> None:
    """Random cases in batches, on 1 to 8 ranks: with each MPI in turn over shared memory, and then with Open MPI over TCP between two network
    namespaces whose link has a limited rate."""
    first, batch = int(os.environ.get("GATHER_TEST_SEED", "0")) * 1_000_000, 250
    why = missing()
    if why:
        print(f"mpi: no cases between network namespaces: {why}")
    ways, did = [*NAMES, *([] if why else [TCP])], Counter()
    with tempfile.TemporaryDirectory() as folder, nullcontext() if why else Namespaces() as spaces:
        if not why:
            spaces.limit(RATE)
        for turn, begin in enumerate(range(0, count, batch)):
            ranks, way, some = (8, 5, 3, 8, 2, 1)[turn // len(ways) % 6], ways[turn % len(ways)], min(batch, count - begin)
            arguments = (folder, first + begin, some)
            if way == TCP:
                said = run_between(spaces, Path(folder), "mpi_cases", arguments, ranks=max(2, ranks), timeout=TIMEOUT)
            else:
                said = run(way, ranks, "mpi_cases", *arguments)
            did[way] += some
            print(f"{said}, {way}", flush=True)
    print(f"mpi: {count} cases equal to a serial take ({', '.join(f'{way}: {some}' for way, some in did.items())})")


def tests() -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT / 'tests'}", str(ROOT / "tests/mpi")]
    if subprocess.run(words, env=os.environ | {"GATHER_SOURCE": str(ROOT), "GATHER_TEST_MPI": "all"}, check=False).returncode != 0:
        fail("a test failed")


def killed() -> None:
    """A rank that is killed, stopped or missing, as tests/mpi/test_mpi_faults.py, with longer limits."""
    for name in NAMES:
        for what in ("killed", "rows_killed", "error", "stopped", "rows_stopped", "missing", "late"):
            done = mpirun(name, 4, "mpi_faults", what, 10, timeout=200)
            print(f"{name}: {what}: exit status {done.returncode}")
            for line in done.stdout.splitlines():
                print(f"  {line}")
            if done.returncode == 0:
                fail(f"{name}: {what}: mpirun reported success")


def large() -> None:
    """More than 2^31 bytes from one rank to another in one exchange of one round. Rows are made when they are read: no table is in memory."""
    free = next(int(line.split()[1]) * 1024 for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    if free < 14 << 30:
        fail(f"--large needs 14 GiB of free memory, and {free >> 30} GiB are free")
    for name in NAMES:
        for rounds in (1, 4):
            found = json.loads(run(name, 2, "mpi_timed", *words(rows=3_000_000, bytes=1024, ids=3_000_000, takes=1, rounds=rounds, buffer=4 << 30,
                                                               made=1, only=1, remote=1, order=1, seconds=900)))  # fmt: skip
            if found["received"] < 3_000_000_000 or found["exchanges"] != 1:
                fail(f"{name}: {found}")
            print(f"{name}: {found['received'] / 1e9:.2f} GB in one exchange of {rounds} rounds: every row right, {found['seconds'][0]:.1f} s", flush=True)


def words(**options: int) -> list[str]:
    return [word for key, value in options.items() for word in (f"--{key}", str(value))]


def report(times: dict) -> None:
    """Medians of a busy machine hold time slices of other programs; the best of many takes does not."""
    mine, other = [name for name in times if "kept" in name]
    for kind in ("kept", "fresh"):
        ours, theirs = (times[name.replace("kept", kind)] for name in (mine, other))
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        words = [f"{statistics.median(found) * 1e3:9.3f} ms (best {min(found) * 1e3:8.3f})" for found in (ours, theirs)]
        print(f"  {kind:6} libgather {words[0]}   {other.split()[0]} {words[1]}   ratio {ratio:.2f} (of the best {min(theirs) / min(ours):.2f})", flush=True)


SIZES = ((100_000, 512, 2_000, 25), (100_000, 512, 20_000, 11), (1_000_000, 64, 20_000, 11), (2_000, 65_536, 300, 11))


def bench() -> None:
    """Beside PetscSF (C) and torch's all_to_all_single over gloo (Python): the same ids, in the same process, in turn."""
    print(f"machine: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; two ranks; medians; ratio = peer / libgather, in turn")
    with tempfile.TemporaryDirectory() as folder:
        petsc = build_petsc(Path(folder))
        for rows, width, length, takes in SIZES:
            for zipf in (0, 1):
                arguments = list(map(str, (rows, width, length, takes, zipf)))
                what = f"{length} {'Zipf' if zipf else 'uniform'} ids per rank of {rows} rows of {width} bytes each"
                if petsc:
                    print(f"{what}: PetscSF")
                    report_run([petsc, *arguments])
                if have("torch") and have("mpi4py"):
                    print(f"{what}: torch, gloo")
                    report_run([sys.executable, str(ROOT / "bench/mpi_torch.py"), *arguments])
    for name, found in (("PetscSF", petsc), ("torch", have("torch") and have("mpi4py"))):
        if not found:
            print(f"skipped: {name} is not here")


def report_run(program: list[str]) -> None:
    library = str(BUILD / "tests/mpi/openmpi/libgather_mpi.so")
    done = subprocess.run([*command("openmpi", 2), *program], capture_output=True, text=True, env=environment() | {"LIBGATHER_MPI": library}, timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        fail(done.stdout + done.stderr)
    times = json.loads(done.stdout.strip().splitlines()[-1])
    del times["ranks"]
    report(times)


def have(module: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def build_petsc(folder: Path) -> str | None:
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True, check=False)
    if flags.returncode != 0 or "openmpi" not in NAMES:
        return None
    program, build = str(folder / "mpi_peers"), BUILD / "tests/mpi/openmpi/libgather_mpi.so"
    include = [f"-I{ROOT / path}" for path in ("include", "mpi/include", "tests")]
    subprocess.run(["mpicc.openmpi", "-std=c11", "-O2", *include, str(ROOT / "bench/mpi_peers.c"), "-o", program, *shlex.split(flags.stdout),
                    str(build), str(BUILD / "lib/libgather.so"), "-lm", f"-Wl,-rpath,{BUILD / 'lib'}"], check=True)  # fmt: skip
    return program


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/mpi", description=__doc__)
    parser.add_argument("--cases", nargs="?", type=int, const=10_000, metavar="N", help="N random cases (10,000)")
    parser.add_argument("--killed", action="store_true", help="ranks that end")
    parser.add_argument("--large", action="store_true", help="3 GB between two ranks")
    parser.add_argument("--network", action="store_true", help="over TCP between network namespaces with a limited rate")
    parser.add_argument("--tests", action="store_true", help="tests/mpi, with each MPI where script/test has one")
    parser.add_argument("--bench", action="store_true", help="beside PetscSF and torch")
    parser.add_argument("--all", action="store_true", help="all of these")
    given = parser.parse_args()
    if not NAMES:
        fail("no MPI here: script/bootstrap mpi")
    if given.tests or given.all:
        tests()
    if given.killed or given.all:
        killed()
    if given.network or given.all:
        network()
    if given.large or given.all:
        large()
    if given.bench or given.all:
        bench()
    if given.cases is not None or given.all:
        cases(given.cases or 10_000)


if __name__ == "__main__":
    main()
