# SPDX-License-Identifier: MIT
"""The program of script/measure-threads: it measures each size, and says from which one on two threads gain. Times are not judged."""

from __future__ import annotations

import re
import subprocess

import pytest

from benchmark import BUILD


def threads(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(BUILD / "bench/threads"), *arguments], text=True, capture_output=True, timeout=300)


def test_measures_waking_and_gains():
    ran = threads("--quick")
    assert ran.returncode == 0, ran.stderr
    assert len(re.findall(r"^idle +\d+ us: .* in \d+ of 11 calls; an empty call [\d.]+ us$", ran.stdout, flags=re.M)) == 4
    assert re.findall(r"^rows of (\d+) bytes", ran.stdout, flags=re.M) == ["4", "64", "1024"]
    sizes = re.findall(r"^ *(\d+) KiB(?: +[\d.]+ +[\d.]+ \( *[\d.]+ - +[\d.]+\)){2} +[\d.]+ us$", ran.stdout, flags=re.M)
    assert sizes == [str(16 << i) for i in range(11)] * 3
    assert len(re.findall(r"^two threads (?:gain from \d+ KiB on|do not gain at the largest size)$", ran.stdout, flags=re.M)) == 3


@pytest.mark.parametrize("arguments", [("--slow",), ("--quick", "--quick")])
def test_usage(arguments):
    ran = threads(*arguments)
    assert ran.returncode == 2 and "usage" in ran.stderr
