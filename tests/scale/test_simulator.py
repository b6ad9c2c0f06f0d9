# SPDX-License-Identifier: MIT
"""The simulator of docs/measured/nodes.md: its planner is the real one, and its times are those of closed forms where there are any."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from math import ceil, log2
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(os.environ["GATHER_SOURCE"])
sys.path.insert(0, str(SOURCE / "bench"))

import scale_simulator  # noqa: E402
import scale_ways  # noqa: E402
from scale_ids import Ids  # noqa: E402
from scale_model import HEADER, Machine, Work, exchange, gathering, plans, simulate, tell  # noqa: E402
from scale_planner import Planner, even_splits  # noqa: E402

NET = Machine("test", latency=1e-4, message=1e-5, card=1e9, efficiency=0.5, copy=2e9, memory=1e12, plan_id=1e-8, row=1e-8)


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner()


# ---- the planner ----


@pytest.mark.parametrize("stripes", [False, True])
@pytest.mark.parametrize("rounds", [1, 3])
def test_plans_are_numpys(planner, stripes, rounds):
    """Each distinct id once, asked of its owner, in the round of its first occurrence."""
    ranks, rows = 7, 1000
    ids = np.random.default_rng(1).integers(0, rows, 2500)
    splits = None if stripes else even_splits(ranks, rows)
    asked = planner.plan(ids, ranks, rows, splits, rounds)
    first = np.sort(np.unique(ids, return_index=True)[1])
    owners = ids[first] % ranks if stripes else np.searchsorted(splits, ids[first], side="right") - 1
    begins = [len(ids) // rounds * r + len(ids) % rounds * r // rounds for r in range(rounds + 1)]
    wanted = np.zeros((ranks, rounds), int)
    np.add.at(wanted, (owners, np.searchsorted(begins, first, side="right") - 1), 1)
    assert np.array_equal(asked.counts, wanted) and asked.unique == len(first) and asked.hot == 0


def test_hot_rows_are_not_asked_for():
    planner = Planner(np.arange(100))
    ids = np.arange(1000).repeat(3)
    asked = planner.plan(ids, 4, 1000, even_splits(4, 1000), 2)
    assert asked.hot == 100 and asked.unique == 900 and asked.counts[0].sum() == 150


def test_the_numbers_of_rounds_are_the_librarys(planner):
    assert [planner.rounds(n << 20) for n in (0, 1, 8, 20, 1000)] == [1, 1, 2, 5, 8]


@pytest.mark.parametrize("ids", [Ids("uniform"), Ids("zipf"), Ids("zipf", 1.2), Ids("zipf", 0.8, scattered=False)], ids=Ids.name)
def test_distinct_ids(planner, ids):
    """As many as the distribution's closed form says: the sum of 1 - (1 - p)^n."""
    rows, count = 20_000, 10_000
    wanted = (1 - (1 - ids.probabilities(rows)) ** count).sum()
    found = np.mean([planner.plan(ids.draw(rank, 4, rows, count), 4, rows, None, 1).unique for rank in range(4)])
    assert found == pytest.approx(wanted, rel=0.02)


# ---- the network ----


def test_even_exchange():
    """Latency, messages, and the bytes of a node through its card."""
    for nodes in (2, 5, 64):
        found = exchange(NET, np.full((nodes, nodes), 1000.0), 1)
        assert found == pytest.approx(1e-4 + (nodes - 1) * (1e-5 + 1000 / 0.5e9))
    assert exchange(NET, np.eye(4) * 1e9, 1) == 0 and exchange(NET, np.zeros((4, 4)), 1) == 0


def test_one_receiver():
    """Its card decides."""
    sent = np.zeros((9, 9))
    sent[:, 0] = 1e6
    assert exchange(NET, sent, 1) == pytest.approx(1e-4 + 1e-5 + 8e6 / 1e9)  # one direction: all of the card
    assert exchange(NET, sent.T, 1) == pytest.approx(1e-4 + 8e-5 + 8e6 / 1e9)
    assert exchange(NET, sent + sent.T / 2, 1) == pytest.approx(1e-4 + 8e-5 + (8e6 + 4e6) / 1e9)  # half of it is taken twice


def test_ranks_share_a_card():
    sent = np.full((8, 8), 1e6)
    assert exchange(NET, sent, 4) == pytest.approx(1e-4 + 7e-5 + 4 * 4e6 / 0.5e9)  # two nodes of 4: 16 MB each way
    assert exchange(NET, sent, 8) == pytest.approx(1e-4 + 7e-5 + 7e6 / 2e9)  # one node: copies
    half = replace(NET, fabric=0.5)
    assert exchange(half, sent, 4) == pytest.approx(1e-4 + 7e-5 + 32e6 / (2 * 0.5e9 * 0.5))


def test_numbers_are_told_in_logarithmic_steps():
    assert tell(NET, 1) == 0
    assert tell(NET, 4) == pytest.approx(1e-4 + 3 * (1e-5 + HEADER / 1e9))
    assert tell(NET, 512) == pytest.approx(9 * (1e-4 + 256 * HEADER / 1e9))
    assert ceil(log2(512)) == 9


def test_a_nodes_ranks_share_its_memory():
    rows = np.full(4, 1000)
    assert gathering(NET, rows, 2000, 4)[0] == pytest.approx(1000 * 1e-8 + 1e-3)
    assert gathering(replace(NET, memory=1e9), rows, 2000, 4)[0] == pytest.approx(1000 * 1e-8 + 4 * 1000 * 2 * 2000 / 1e9)


# ---- a take ----


def test_one_round_is_a_sum(planner):
    """Nothing overlaps: plan, numbers, ids, the owner's gather, rows, own rows, places."""
    rows, nodes, count, width = 4000, 4, 8000, 256
    work = Work(Ids(), rows, width, count, rounds=1)
    found = simulate(NET, work, nodes, planner=planner)
    counts = np.stack([planner.plan(work.ids.draw(p, nodes, rows, count), nodes, rows, even_splits(nodes, rows), 1).counts[:, 0] for p in range(nodes)])
    away = counts * (1 - np.eye(nodes, dtype=int))
    both = [(max(into, out) + min(into, out)) for into, out in zip(away.sum(0), away.sum(1))]  # the efficiency is a half
    wire = lambda size: 1e-4 + 3e-5 + max(both) * size / 1e9  # noqa: E731
    gather = lambda n: n * (1e-8 + width / 2e9)  # noqa: E731
    assert found.plan == pytest.approx(count * 1e-8) and found.ids == pytest.approx(wire(4) + tell(NET, nodes))
    # own rows are gathered while rows travel
    assert found.rows == pytest.approx(gather(away.sum(0).max()) + max(wire(width), gather(np.diag(counts).max())) + gather(count))
    assert found.network_bytes == away.sum() * width and found.unique == pytest.approx(counts.sum() / nodes)
    again = simulate(NET, replace(work, kept=True), nodes, planner=planner)
    assert again.plan == 0 and again.ids == pytest.approx(tell(NET, nodes)) and again.rows == found.rows


@pytest.mark.parametrize("network", [1e8, 1e9, 1e11], ids=["slow", "even", "fast"])
def test_rounds_overlap(planner, network):
    """Not less than the longer half, and not more than the sum of both."""
    machine = replace(NET, card=network, message=0.0, latency=0.0)
    found = simulate(machine, Work(Ids(), 10**6, 512, 20_000, rounds=8), 4, planner=planner)
    work = found.gather + found.place
    assert max(found.wire, work) <= found.rows < found.wire + work
    one = simulate(machine, Work(Ids(), 10**6, 512, 20_000, rounds=1), 4, planner=planner)
    assert found.rows < 1.05 * one.rows  # the slowest rank of each round is another one


def test_partitioned_ids_need_no_network(planner):
    found = simulate(NET, Work(Ids("partitioned", local=1.0), 8000, 64, 1000), 8, planner=planner)
    assert found.network_bytes == 0 and found.wire == 0 and found.skew == 1
    some = simulate(NET, Work(Ids("partitioned", local=0.5), 8000, 64, 1000), 8, planner=planner)
    every = simulate(NET, Work(Ids(), 8000, 64, 1000), 8, planner=planner)
    assert 0.4 < some.network_bytes / every.network_bytes < 0.6


def test_some_ranks_stand_for_the_others(planner):
    """A quarter of the ranks planned: nearly the same counts as all."""
    for work in (Work(Ids(), 10**6, 64, 5000), Work(Ids("partitioned"), 10**6, 64, 5000), Work(Ids("zipf", scattered=False), 10**6, 64, 5000)):
        every, some = (simulate(NET, work, 32, planned=plans(planner, work, 32, most=most)) for most in (32, 8))
        assert some.network_bytes == pytest.approx(every.network_bytes, rel=0.05) and some.rows == pytest.approx(every.rows, rel=0.05)


def test_stripes_spread_popular_rows(planner):
    """Popular rows that are neighbours are one owner's in blocks; hot rows everywhere leave little to send."""
    work = Work(Ids("zipf", scattered=False), 10**6, 128, 5000)
    blocks, stripes = (simulate(NET, replace(work, stripes=s), 16, planner=planner) for s in (False, True))
    hot = simulate(NET, replace(work, stripes=True, hot=10_000), 16, planner=planner)
    assert blocks.skew > 8 and stripes.skew < 1.2 and stripes.rows < blocks.rows / 3
    assert hot.network_bytes < 0.7 * stripes.network_bytes
    planner.set_hot(np.empty(0, np.int64))


# ---- the other ways, and the program ----


def test_storage():
    way = scale_ways.Storage("x", latency=0.1, flight=64, client=1e9, server=4e9, reads=1e5, block=4096)
    assert scale_ways.seconds(way, 1, 640, 512) == pytest.approx(1.0) and scale_ways.limit(way, 1, 640, 512) == "latency"
    assert scale_ways.seconds(way, 1000, 1000, 8192) == pytest.approx(10.0) and scale_ways.limit(way, 1000, 1000, 512) == "the server's reads"
    assert scale_ways.seconds(way, 2, 1000, 10**7) == pytest.approx(10.0)


def program(*arguments: str) -> str:
    command = [sys.executable, str(SOURCE / "bench/scale_simulator.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_program(tmp_path):
    said = program("--nodes", "2,4", "--count", "2000", "--json", str(tmp_path / "x.json"))
    works = len(scale_simulator.WORKS) * len(scale_simulator.MACHINES)
    assert said.count("| MPI |") == works and said.count(" ms |") + said.count(" s |") >= 2 * works and (tmp_path / "x.json").stat().st_size > 1000
    assert re.search(r"^\| object store \| uniform \|", said, flags=re.M)


def test_measured_runs_are_near_the_model():
    """The runs of bench/scale_measured.json; the file says where they were measured."""
    table, worst = scale_simulator.validate(SOURCE / "bench/scale_measured.json")
    assert table.count("\n") >= 4 and worst < 2, table


def seconds(cell: str) -> float:
    number, unit = cell.replace(",", "").split()
    return float(number) * {"ms": 1e-3, "s": 1}[unit]


def cells(text: str) -> dict[tuple[str, ...], float]:
    """(way, ids, network): what the first column of times says."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return {tuple(row[:3]): seconds(row[3]) for row in rows if len(row) == 8 and re.fullmatch(r"[\d.,]+ m?s", row[3])}


def test_the_documents_predictions():
    """docs/measured/nodes.md has what the program prints; of 8 nodes, which is quick."""
    told = cells((SOURCE / "docs/measured/nodes.md").read_text(encoding="utf-8"))
    found = cells(program("--nodes", "8,8,8"))
    assert told.keys() == found.keys() and len(told) == 15
    for name, value in told.items():
        assert found[name] == pytest.approx(value, rel=0.02), name
