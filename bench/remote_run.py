# SPDX-License-Identifier: MIT
"""Measures rows taken from a file on a server, beside others who read ranges. `script/remote --bench` calls it. The server is nginx, in a network
namespace of its own where root runs this; between it and the client, a relay adds the round trip. All ways take the same rows, one after
another in each round; each connects anew, so that opening the file and its connections count."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
import remote_summary
import remote_peers
import results as folder
from remote_cases import Case, cases
from remote_peers import WAYS, Way
from results import written

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.netns import Namespace  # noqa: E402
from support.nginx import Nginx  # noqa: E402
from support.relay import Relay  # noqa: E402

KIND = "remote"  # begins the names of the results
LIMIT = 240  # seconds of one take


class Child:
    """A way in its process; begun again after an error that ended it."""

    def __init__(self, way: Way) -> None:
        self.way, self.process = way, None

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, str(ROOT / "bench/remote_child.py"), self.way.name], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip

    def ask(self, told: dict) -> dict:
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            if not ready.select(LIMIT):
                self.end()
                return {"error": f"took longer than {LIMIT} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"its process ended with {self.process.wait(20)}"}

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


class Bench:
    """A server with the files, and the children."""

    def __init__(self, asked: argparse.Namespace, folder: Path, own: Path) -> None:
        self.asked, self.folder, self.own = asked, folder, own
        wanted = set(filter(None, asked.peers.split(",")))
        self.absent = {way.name: why for way in WAYS if (why := remote_peers.absent(way))}
        self.ways = [way for way in WAYS if way.name not in self.absent and (not wanted or way.name in wanted or way.kind == "ours")]
        self.children = {way.name: Child(way) for way in self.ways}

    def take(self, way: Way, case: Case, rtt: float, server: Nginx) -> dict:
        """One take of one way, through a relay of its own, whose counts are its."""
        ids = case.ids()[: way.most]
        np.save(self.own / "ids.npy", ids)
        (self.own / "rows.npy").unlink(missing_ok=True)
        seen = len(server.log())
        with Relay(server.port, rtt=rtt, rate=self.asked.rate, address=server.address) as relay:
            told = {"url": relay.url(f"/bucket/{case.name}.npy"), "chunks": relay.url(f"/bucket/{case.name}.zarr"),
                    "head": len(case.head()) if self.asked.told else None,
                    "row_bytes": case.row_bytes, "connections": self.asked.connections, "ids": str(self.own / "ids.npy"),
                    "out": str(self.own / "rows.npy")}  # fmt: skip
            answer = self.children[way.name].ask(told)
            counts, relay_cpu = relay.counts(), relay.cpu()
        if "error" in answer:
            return answer
        if not np.array_equal(np.load(self.own / "rows.npy"), case.expected(ids)):
            return {"error": "the rows are wrong"}
        scale = case.count / len(ids)
        return {"seconds": answer["seconds"] * scale, "cpu": answer["cpu"] * scale, "relay": relay_cpu / answer["seconds"], "requests": len(server.log()) - seen,
                "bytes": counts.down, "connections": counts.connections, "peak": counts.peak}  # fmt: skip

    def case(self, case: Case, rtt: float, server: Nginx) -> list[dict]:
        found: dict[str, list[dict]] = {way.name: [] for way in self.ways}
        for number in range(-1, self.asked.rounds):  # the first round warms up, and is not counted
            for way in self.ways[number % len(self.ways) :] + self.ways[: number % len(self.ways)]:
                if any("error" in one for one in found[way.name]):
                    continue
                took = self.take(way, case, rtt, server)
                if number >= 0 or "error" in took:
                    found[way.name].append(took)
        return [self.row(case, rtt, way, found[way.name]) for way in self.ways]

    def row(self, case: Case, rtt: float, way: Way, takes: list[dict]) -> dict:
        row = {"case": case.name, "rtt": rtt, "way": way.name, "kind": way.kind, "rows": case.count}
        errors = [one["error"] for one in takes if "error" in one]
        if errors:
            return {**row, "error": errors[0]}
        middle = {name: statistics.median(one[name] for one in takes) for name in takes[0]}
        return {**row, **middle, "least": min(one["seconds"] for one in takes), "most": max(one["seconds"] for one in takes)}

    def end(self) -> None:
        for child in self.children.values():
            child.end()


def describe(asked: argparse.Namespace, bench: Bench, namespace: bool) -> dict:
    told = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    cpus = [line.partition(":")[2].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    nginx = subprocess.run([*Nginx(bench.folder).program.split(), "-v"], capture_output=True, text=True).stderr
    return {"date": date.today().isoformat(), "cpu": cpus[0] if cpus else platform.machine(), "cpus": len(os.sched_getaffinity(0)),
            "system": platform.platform(), "python": platform.python_version(), "commit": told.stdout.strip(),
            "load": " ".join(f"{load:.1f}" for load in os.getloadavg()), "server": nginx.strip().rpartition(" ")[2],
            "network": "a namespace of its own, joined by virtual Ethernet" if namespace else "the loopback device",
            "versions": remote_peers.versions(), "absent": bench.absent}  # fmt: skip


def run(asked: argparse.Namespace) -> dict:
    began, rows = time.monotonic(), []
    chosen = [case for case in cases(asked.quick) if not asked.cases or case.name in asked.cases.split(",")]
    with contextlib.ExitStack() as stack:
        folder, own = (Path(stack.enter_context(tempfile.TemporaryDirectory(dir=asked.folder))) for _ in range(2))
        (folder / "bucket").mkdir()
        for case in chosen:
            case.write(folder / "bucket")
        there = stack.enter_context(Namespace()) if os.geteuid() == 0 else None
        place = {"address": there.address, "prefix": there.prefix} if there else {}
        server = stack.enter_context(Nginx(folder, **place))
        bench = Bench(asked, folder, own)
        stack.callback(bench.end)
        about = describe(asked, bench, there is not None)
        for rtt in asked.rtts:
            for case in chosen:
                for row in bench.case(case, rtt, server):
                    rows.append(row)
                    print(f"{time.monotonic() - began:5.0f} s  {remote_summary.line(row)}", flush=True)
    told = {"quick": asked.quick, "rounds": asked.rounds, "connections": asked.connections, "rate": asked.rate, "told": asked.told,
            "seconds": time.monotonic() - began}  # fmt: skip
    whats = [{"case": case.name, "what": case.what, "rows": case.count, "row_bytes": case.row_bytes, "of": case.rows} for case in chosen]
    ways = [{"way": way.name, "kind": way.kind, "how": way.how} for way in bench.ways]
    return {"machine": about, "settings": told, "cases": whats, "ways": ways, "rows": rows}


def joined(before: dict, now: dict) -> dict:
    """The results of a run in pieces: what was measured again replaces what was."""
    again = {(row["case"], row["rtt"]) for row in now["rows"]}
    rows = [row for row in before["rows"] if (row["case"], row["rtt"]) not in again] + now["rows"]
    order = [case.name for case in cases(False)]
    rows.sort(key=lambda row: (row["rtt"], order.index(row["case"])))
    known = {case["case"]: case for case in before["cases"] + now["cases"]}
    load = before["machine"]["load"] + "; " + now["machine"]["load"]
    settings = {**now["settings"], "seconds": before["settings"]["seconds"] + now["settings"]["seconds"],
                "rounds": min(before["settings"]["rounds"], now["settings"]["rounds"])}  # fmt: skip
    return {"machine": {**now["machine"], "load": load}, "settings": settings, "ways": now["ways"], "rows": rows,
            "cases": [known[name] for name in order if name in known]}  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="remote --bench", description="Measures rows of a file on a server, beside others who read ranges.")
    parser.add_argument("--quick", action="store_true", help="two cases, 400 rows, 40 ms, one round")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="of each case (default 5; --quick: 1)")
    parser.add_argument("--connections", type=int, default=64, metavar="N", help="at most (default %(default)s)")
    parser.add_argument("--rate", type=float, default=125e6, metavar="BYTES", help="a second, of the network (default 1 Gbit/s)")
    parser.add_argument("--rtt", default="", metavar="LIST", help="round trips in ms (default 1,40,100; --quick: 40)")
    parser.add_argument("--cases", default="", metavar="NAMES", help="these only: sparse, dense, runs, long")
    parser.add_argument("--peers", default="", metavar="NAMES", help="these peers only, with commas between them")
    parser.add_argument("--folder", default="build", metavar="DIR", help="where the files are made (default %(default)s)")
    parser.add_argument("--json", default="", metavar="FILE", help="write the results to this file (default: by the name of the machine to build/results)")
    parser.add_argument("--told", action="store_true", help="tell the peers where the rows begin: only libgather reads the header then")
    parser.add_argument("--add", action="store_true", help="measure some cases (--cases, --rtt), and keep the others that this machine's results have")
    parser.add_argument("--join", nargs="+", default=[], metavar="FILE", help="join the JSON files of runs in pieces; no measuring")
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (1 if asked.quick else 5)
    asked.rtts = [float(text) / 1e3 for text in (asked.rtt or ("40" if asked.quick else "1,40,100")).split(",")]
    return asked


def main() -> int:
    asked = arguments()
    pieces = [json.loads(Path(piece).read_text(encoding="utf-8")) for piece in asked.join]
    results = pieces[0] if pieces else run(asked)
    for piece in pieces[1:]:
        results = joined(results, piece)
    name = folder.name_of(KIND, results)
    path = ROOT / asked.json if asked.json else folder.folder() / f"{name}.json"
    if asked.add and path.exists():
        results = joined(json.loads(path.read_text(encoding="utf-8")), results)
    text = written(results, ("machine", "settings"), ("cases", "ways", "rows"))
    folder.write(path, text)
    print(remote_summary.verdict(results))
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
