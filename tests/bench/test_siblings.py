# SPDX-License-Identifier: MIT
"""script/bench with the rows of Gather's siblings: rows come out and are right, a wrong row is told, results become a part of a page. Times are
not judged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmark import run

ONLY = r"^(nd rows of 16 B, pairs cached|nd batch \(16,64,64\) f32, pairs cached|tree \(32|quantised (Q4_K|int8 rows|NF4|ORT 4 bit /32) x 256 in L2)"


@pytest.fixture(scope="module")
def some(tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("siblings") / "rows.json"
    ran = run("--quick", "--every", "--threads", "1", "--only", ONLY, "--peers", "NumPy,gguf", "--json", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(path.read_text(encoding="utf-8"))


def test_rows(some):
    assert [row["op"] for row in some["rows"]] == ["nd", "nd", "tree", *["quantised"] * 4]
    for row in some["rows"]:
        assert row["ours"]["median"] > 0 and row["ceiling"]["ns"] > 0 and row["ceiling"]["write_ns"] > 0, row["name"]
        assert not row["wrong"], row["name"]
        assert ("gather" in row) == (row["op"] == "nd"), row["name"]
    peers = {row["name"]: set(row["peers"]) for row in some["rows"]}
    assert {"gguf"} in peers.values() and {"NumPy"} in peers.values() and {"NumPy", "Gather"} in peers.values()


def test_results_are_stored(tmp_path, modules, some):
    import machines
    import summary_page

    path, = machines.store(some, tmp_path)
    assert path.stem.endswith(machines.SIBLINGS) and summary_page.parted(machines.stored(tmp_path)) == ({}, {path.stem: some})
    page = summary_page.siblings(some)
    for group in ("nd, all", "tree, all", "quantised, all", *{row["regime"] for row in some["rows"]}):
        assert f"{group}** |" in page or f"| {group} |" in page, group


def test_only_peers_may_round_twice(modules):
    """A result that differs in the last bit is wrong if it is ours, and for codecs without a bias."""
    import siblings_grid
    import siblings_memory
    from cases import Arenas

    for codec, peer_may in (("int8 rows", True), ("NF4", False)):
        case = siblings_grid.cases((1,), True, f"quantised {codec} x 256 in L2 to float32 cached", True)[0]
        memory = siblings_memory.memory_of(case, Arenas([case]))
        expected = memory.expected()
        near = np.nextafter(expected, np.float32(np.inf))
        assert memory.accepts(expected, expected, "ours") and not memory.accepts(near, expected, "ours")
        assert memory.accepts(near, expected, "PyTorch") == peer_may
        assert not memory.accepts(expected + 1, expected, "PyTorch")


def test_fused_is_rounded_once(modules):
    """177 * 3033169 is 2^29 + 1: 1 + 2^-24 + 2^-53 is 1 + 2^-24 in float64, halfway between two float32, of which the even one is 1."""
    import codecs_numpy

    q, scale, one = np.array([[177]], np.uint8), np.array([[3033169 * 2.0**-53]], np.float32), np.ones((1, 1), np.float32)
    assert np.float32(177.0 * float(scale[0, 0]) + 1.0) == 1
    assert codecs_numpy.fused(q, scale, one)[0, 0] == np.float32(1 + 2.0**-23)
    assert codecs_numpy.fused(q, -scale, -one)[0, 0] == np.float32(-1 - 2.0**-23)
