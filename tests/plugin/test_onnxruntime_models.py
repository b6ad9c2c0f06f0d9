# SPDX-License-Identifier: MIT
"""Unmodified models, of other people's packages and PyTorch's exports, with and without each door of the plug-in: the same bytes, and
the profile, the list of providers and the plug-in's report say who ran. script/plugins onnxruntime --models runs more of them."""

from __future__ import annotations


import pytest

import ort_network_runs as compare
import ort_networks as networks
from ort_package import library  # noqa: F401  the fixture
from support.skip import skip_test

LEVELS = ("DISABLE_ALL", "ENABLE_ALL")


@pytest.fixture(scope="module")
def exported(library) -> list[dict]:
    return compare.run_networks(networks.exports(networks.DATA), library, LEVELS)


def names(nodes: list[dict]) -> set[str]:
    return {node["op"] for node in nodes}


def test_packages(library):
    """silero-vad's six files, magika and rapidocr."""
    found = networks.packages()
    missing = [package for package, count in networks.PACKAGE_FILES.items() if sum(n.name.startswith(package) for n in found) != count]
    if missing:
        skip_test("real_models", f"{', '.join(missing)}: the files are not in {networks.PACKAGES}")
    rows = compare.run_networks(found, library, LEVELS)
    assert [fault for row in rows for fault in compare.faults_of(row)] == []
    assert sum(len(compare.taken(row["provider"], ours=True)) for row in rows) >= 30


def test_exports(exported):
    """Networks like BERT, a language model's decoder and a graph network, by both exporters of PyTorch."""
    assert len(exported) == 22
    assert [fault for row in exported for fault in compare.faults_of(row)] == []


def test_who_ran(exported):
    """Gather, GatherElements and GatherND ran in the provider, which the session lists before the CPU's; without it, nowhere."""
    for row in exported:
        assert row["built-in"]["providers"] == row["operators"]["providers"] == ["CPUExecutionProvider"]
        assert row["provider"]["providers"] == ["GatherExecutionProvider", "CPUExecutionProvider"]
        assert {node["provider"] for node in compare.taken(row["provider"], ours=True)} == {"GatherExecutionProvider"}
        assert compare.taken(row["built-in"], ours=True) == []
    took = [names(compare.taken(row["provider"], ours=True)) for row in exported]
    assert set().union(*took) == {"Gather", "GatherElements", "GatherND"}


def test_all_nodes_of_a_model(exported):
    """With no optimisation, the provider runs each gather node that the file has at its top level."""
    for row in exported:
        if row["level"] == "DISABLE_ALL":
            assert len(compare.taken(row["provider"], ours=True)) == compare.reported(row["operators"]) == row["network"].nodes


def test_a_difference_is_seen(exported):
    """The comparison can fail: other bytes, nodes left to the CPU, no report."""
    row = next(row for row in exported if row["network"].name.startswith("bert") and row["level"] == "ENABLE_ALL")
    assert compare.faults_of(row) == []
    other = dict(row["operators"], outputs=[("float32", (1,), b"\0\0\0\0")])
    assert len(compare.faults_of(row | {"operators": other})) == 1
    assert len(compare.faults_of(row | {"provider": row["built-in"]})) == 2
    assert len(compare.faults_of(row | {"operators": dict(row["operators"], log="")})) == 1
