# SPDX-License-Identifier: MIT
"""Takes over TCP between two network namespaces, whose link has a limited rate: at least 80 % of it must arrive as rows.

Two namespaces are two nodes to Open MPI: mpirun runs in the first and starts its daemon in the second through a command that stands in
for ssh. All addresses are of the namespaces, which end with the run.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mpirun import BUILD, NAMES, environment

RATE = 50  # Mbit/s: slow enough for a busy machine
NET = "10.213.77"


def missing() -> str | None:
    """Why this cannot run here; None if it can."""
    if "openmpi" not in NAMES:
        return "Open MPI is not here"
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
        return "network namespaces need root, ip and tc"
    probe = f"gather-probe-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False).returncode != 0:
        return "this system makes no network namespaces"
    subprocess.run(["ip", "netns", "delete", probe], check=True)
    return None


class Namespaces:
    """Two namespaces with a veth pair between them."""

    def __init__(self) -> None:
        self.names = [f"gather-{os.getpid()}-{side}" for side in "ab"]

    def __enter__(self) -> "Namespaces":
        a, b = self.names
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True)
                subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
            subprocess.run(["ip", "-n", a, "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", b], check=True)
            for number, name in enumerate(self.names, 1):
                subprocess.run(["ip", "-n", name, "address", "add", f"{NET}.{number}/24", "dev", "veth0"], check=True)
                subprocess.run(["ip", "-n", name, "link", "set", "veth0", "up"], check=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def limit(self, rate: int) -> None:
        for name in self.names:
            words = f"tc -n {name} qdisc replace dev veth0 root tbf rate {rate}mbit burst 64kb latency 100ms"
            subprocess.run(words.split(), check=True)

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def run(spaces: Namespaces, folder: Path, program: str, arguments: list, ranks: int = 2, timeout: float = 600) -> str:
    """A program of this folder on so many ranks, in turn one in each namespace: the last line that it printed."""
    a, b = spaces.names
    agent = folder / "agent"
    # Called as ssh is: HOST COMMAND...; the daemon's machine has a name of its own.
    agent.write_text(f'#!/bin/sh\nshift\nexec ip netns exec {b} unshare --uts sh -c "hostname gather-b; $*"\n')
    agent.chmod(0o755)
    settings = {"btl": "self,tcp", "btl_tcp_if_include": "veth0", "oob_tcp_if_include": "veth0", "plm_rsh_agent": str(agent), "plm": "rsh"}
    mca = [word for key, value in settings.items() for word in ("--mca", key, value)]
    hosts = f"{NET}.1:{(ranks + 1) // 2},{NET}.2:{max(1, ranks // 2)}"
    words = ["mpirun.openmpi", "--host", hosts, "--map-by", "node", "--bind-to", "none", *mca, "-np", str(ranks)]
    words += [str(BUILD / "tests/mpi/openmpi" / program), *map(str, arguments)]
    inside = ["ip", "netns", "exec", a, "unshare", "--uts", "sh", "-c", f"hostname gather-a; exec {shlex.join(words)}"]
    done = subprocess.run(inside, capture_output=True, text=True, env=environment(), timeout=timeout, check=False)
    if done.returncode != 0:
        print(f"mpi: {done.stdout}{done.stderr}", file=sys.stderr)
        raise SystemExit(1)
    return done.stdout.strip().splitlines()[-1]


def measure(spaces: Namespaces, folder: Path, rounds: int, takes: int = 3) -> tuple[float, dict]:
    """The share of the link's rate at which rows arrived, in the best take, and what mpi_timed said. Each rank asks for rows of the other."""
    words = f"--rows 20000 --bytes 4096 --ids 8000 --takes {takes} --remote 1 --fresh 1 --rounds {rounds} --seconds 200".split()
    found = json.loads(run(spaces, folder, "mpi_timed", words))
    return found["received"] * 8 / min(found["seconds"]) / (RATE * 1e6), found


def network() -> None:
    why = missing()
    if why:
        print(f"mpi: --network is skipped: {why}")
        return
    with tempfile.TemporaryDirectory() as name, Namespaces() as spaces:
        spaces.limit(RATE)
        for rounds in (1, 0):
            share, found = measure(spaces, Path(name), rounds)
            print(f"{found['received'] / 1e6:.1f} MB each way at {RATE} Mbit/s, {rounds or 'automatic'} rounds: {min(found['seconds']):.3f} s, {share:.0%} of the rate; "
                  f"gather {found['gather']:.3f} s, wait {found['wait']:.3f} s, place {found['place']:.3f} s", flush=True)  # fmt: skip
            if rounds == 0 and share < 0.8:
                raise SystemExit(f"mpi: {share:.0%} of the limited rate is less than 80 %")
