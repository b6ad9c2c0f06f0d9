# SPDX-License-Identifier: MIT
"""Unmodified models with and without the plug-in, at each level of ONNX Runtime's graph optimisations: the same bytes, and who ran."""

from __future__ import annotations

import sys
import tempfile

import ort_networks as networks
import ort_runs as runs


WARNING = 2  # severity of the report's lines


def run_of(network, door: str, level: str, folder: str) -> dict:
    feeds = {name: runs.pack(array) for name, array in network.feeds.items()}
    return {"model": str(network.path), "feeds": feeds, "door": door, "level": level, "profile": folder, "severity": WARNING,
            "config": {"gather.report": 1} if door == "operators" else {}}


def taken(answer: dict, ours: bool) -> list[dict]:
    """The nodes of the family that ran, by the plug-in's provider or by another."""
    nodes = [node for node in answer.get("nodes", []) if node["op"] in runs.FAMILY]
    return [node for node in nodes if ("gather" in node["provider"].lower()) == ours]


def reported(answer: dict) -> int:
    """How many nodes the plug-in said that it takes over: those of the custom operators are nobody else's in a profile."""
    return answer.get("log", "").count("takes over the kernel of")


def run_networks(chosen, library: str, levels=networks.LEVELS, python=sys.executable) -> list[dict]:
    """One row per network and level: the answers of all doors."""
    wanted = [(network, level, door) for network in chosen for level in levels for door in runs.DOORS]
    with tempfile.TemporaryDirectory() as folder:
        answers = runs.run_all([run_of(network, door, level, folder) for network, level, door in wanted], library, python)
    rows: dict = {}
    for (network, level, door), answer in zip(wanted, answers, strict=True):
        rows.setdefault((network.name, level), {"network": network, "level": level})[door] = answer
    return list(rows.values())


def faults_of(row: dict) -> list[str]:
    """What is wrong with a row; the empty list where the doors change nothing but who runs."""
    place, plain = f"{row['network'].name} at {row['level']}", row["built-in"]
    if "error" in plain:  # not a model of this version's; nor is it with us
        return [f"{place}: {door} does not fail as the built-in kernels do" for door in runs.DOORS[1:] if "error" not in row[door]]
    faults = []
    for door in runs.DOORS[1:]:
        answer = row[door]
        if "error" in answer:
            faults.append(f"{place}, {door}: {answer['error']}")
        elif not runs.same(plain, answer):
            faults.append(f"{place}, {door}: the outputs are not those of the built-in kernels")
    provider = row["provider"]
    if "error" not in provider:
        left = [node["name"] for node in taken(provider, ours=False)]
        if left:
            faults.append(f"{place}, provider: nodes were left to another provider: {', '.join(left)}")
        if len(taken(provider, ours=True)) < 1 <= len(taken(plain, ours=False)):
            faults.append(f"{place}, provider: no node was taken over")
    if reported(row["operators"]) < len(taken(plain, ours=False)):
        faults.append(f"{place}, operators: {reported(row['operators'])} nodes were taken over, {len(taken(plain, ours=False))} ran without the plug-in")
    if reported(plain):
        faults.append(f"{place}: nodes are taken over without the plug-in")
    return faults


def line_of(row: dict) -> str:
    """Who ran how many nodes of the family, at one level."""
    counts = [f"{len(taken(row['built-in'], ours=False))} nodes ran"]
    counts.append(f"custom operators: {reported(row['operators'])} kernels, {len(taken(row['operators'], ours=False))} ran")
    counts.append(f"provider: {len(taken(row['provider'], ours=True))} ran")
    same = [door for door in runs.DOORS[1:] if runs.same(row["built-in"], row[door])]
    return f"{row['network'].name} at {row['level']}: {', '.join(counts)}; the same bytes: {', '.join(same) or 'none'}"
