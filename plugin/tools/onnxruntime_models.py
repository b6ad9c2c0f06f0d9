# SPDX-License-Identifier: MIT
"""All unmodified models with and without the plug-in, at each level of graph optimisation (tests/plugin/ort_networks.py compares)."""

from __future__ import annotations

import ort_networks as networks
from ort_networks import faults_of, line_of, run_networks, taken


def main(library: str) -> list[str]:
    faults, rows = [], run_networks(networks.networks(), library)
    for row in rows:
        if row["network"].path.parent != networks.unpacked(networks.TORCH):
            print(line_of(row), flush=True)
        faults += faults_of(row)
    counts = {level: sum(len(taken(row["provider"], ours=True)) for row in rows if row["level"] == level) for level in networks.LEVELS}
    refused = sum("error" in row["built-in"] for row in rows)
    print(f"{len(rows)} pairs of a model and a level, {refused} of which this ONNX Runtime refuses; nodes that the provider ran: {counts}", flush=True)
    return faults
