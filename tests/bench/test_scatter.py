# SPDX-License-Identifier: MIT
"""script/bench with the rows of the operators that write: rows come out and are right, a peer that is wrong is told, everybody begins with the
same data. Times are not judged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmark import run

ONLY = r"^(scatter (add f32, 16Ki|none f32 rows, 64Ki|elements none f32 axis 1|nd add f32 rows)|backward bf16|bag (mean|weighted) .*in L3)"


@pytest.fixture(scope="module")
def some(tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("scatter") / "rows.json"
    ran = run("--quick", "--every", "--threads", "1", "--only", ONLY, "--peers", "NumPy,C loop", "--json", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(path.read_text(encoding="utf-8"))


def test_rows(some):
    ops = ["scatter", "scatter", "scatter elements", "scatter nd", "backward", "bag", "bag"]
    assert [row["op"] for row in some["rows"]] == ops
    for row in some["rows"]:
        assert row["ours"]["median"] > 0 and row["ceiling"]["ns"] > 0, row["name"]
        assert not row["wrong"] and "C loop" in row["peers"], row["name"]
        assert ("kept plan" in row["peers"]) == row["op"].startswith("scatter"), row["name"]
        assert ("best" in row) == ("bf16" not in row["name"] and row["op"] != "bag"), row["name"]


def test_results_are_stored(tmp_path, modules, some):
    import machines
    import summary_page

    path, = machines.store(some, tmp_path)
    assert path.stem.endswith(machines.WRITES)
    page = summary_page.written(some)
    for regime in {row["regime"] for row in some["rows"]}:
        assert f"| {regime} |" in page


def small(op: str, shape, index_shape, **more):
    import scatter_grid

    return scatter_grid.written("", op, "", shape, index_shape, **more)


class Losing:
    """A peer that leaves out updates of one element on several threads, every second time."""

    name, version = "NumPy", ""

    def contenders(self, memory):
        from contender import Contender
        from scatter_memory import UFUNCS

        calls = iter(range(1 << 30))

        def call():
            kept = memory.data.size - (memory.case.threads > 1 and next(calls) % 2)
            if memory.case.reduction == "none":
                memory.out[memory.index] = memory.data
            else:
                UFUNCS["add"].at(memory.out, tuple(place.reshape(-1)[:kept] for place in memory.places()), memory.data.reshape(-1)[:kept])

        if memory.case.op == "scatter" and len(memory.case.shape) == 1:
            yield Contender(self.name, "add", call)


def test_who_loses_updates_is_wrong(modules):
    """Where its result happens to be right, too."""
    import measure
    import scatter_peers
    from cases import Arenas
    from scatter_memory import Writes

    watched, = scatter_peers.watched([Losing()], (1, 2))
    assert watched.loses == {("add", False)}
    for threads, why in ((1, None), (2, "wrong")):
        case = replace(small("scatter", (8,), (64,)), threads=threads)
        right, wrong = measure.collect(Writes(case, Arenas([case])), [watched])
        assert len(right) == (why is None) and len(wrong) == (why is not None)
    watched.peer.contenders = lambda memory: iter([scatter_peers.Contender("NumPy", "add", lambda: np.add.at(memory.out, memory.index, memory.data))])
    _, wrong = measure.collect(Writes(case, Arenas([case])), [watched])
    assert wrong[0]["why"] == "repeated indices: it loses updates"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_both_roundings_of_a_peer_are_right(modules, dtype):
    """4,096 ones: 4,096 if they are rounded once, which ours must be; a peer may round at each step."""
    from cases import Arenas
    from scatter_memory import Writes, narrowed, widened

    case = small("scatter", (2,), (4096,), dtype=dtype)
    memory = Writes(case, Arenas([case]))
    memory.index[...], memory.base[...] = 1, 0
    memory.data[...] = narrowed(np.ones(4096, np.float32), dtype)
    once, steps = memory.expected()
    assert widened(once, dtype).tolist() == [0, 4096]
    assert widened(steps, dtype).tolist() == [0, 2048 if dtype == "float16" else 256]
    assert memory.accepts(once, (once, steps), "ours") and not memory.accepts(steps, (once, steps), "ours")
    assert memory.accepts(steps, (once, steps), "PyTorch")


def test_everybody_begins_with_the_same(modules):
    """What is written is as it was before each measurement."""
    from cases import Arenas
    from scatter_memory import Writes

    case = small("scatter", (64, 4), (32,))
    memory = Writes(case, Arenas([case]))
    memory.out[...] = 7
    memory.prepare()
    assert np.array_equal(memory.out, memory.base)
