# SPDX-License-Identifier: MIT
"""A file of indices that another process writes while the command uses it: no crash, and rows of the data only."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

ROWS, COUNT, SECONDS = 5000, 300_000, 120
DATA = np.arange(1, ROWS * 4 + 1, dtype=np.uint32).reshape(ROWS, 4)
WRITER = """
import sys, numpy as np
ids = np.load(sys.argv[1], mmap_mode="r+").reshape(-1)
good, bad = np.arange(len(ids)) % 100, np.array([5000, -5001, 2**31, 2**62, -2**62, -2**63], dtype=np.int64)
print("ready", flush=True)
k = 0
while True:
    k += 1
    ids[k % 7 :: 97] = bad[k % len(bad)]
    ids[k % 7 :: 97] = good[k % 7 :: 97]
"""
COMMANDS = {
    "take": "take x.npy ids.npy -o o.npy", "take axis 1": "take turned.npy ids.npy --axis 1 -o o.npy",
    "elements": "elements x.npy four.npy --axis 0 -o o.npy", "take memory": "take x.npy ids.npy -o o.npy --memory 4M",
}


def check(command: str, got: np.ndarray, filled: bool) -> None:
    """Each element is one of its column, or zero where that is the policy."""
    got = got.T if command == "take axis 1" else got
    wrong = (got - 1) % 4 != np.arange(4)
    wrong |= (got < 1) | (got > DATA.size)
    assert not (wrong & ~(filled & (got == 0))).any(), got[wrong.any(axis=1)][:5]


@pytest.mark.parametrize("policy", ["error", "clamp", "wrap", "zero", "promise"])
@pytest.mark.parametrize("command", COMMANDS)
def test_by_another_process(gather, command, policy):
    gather.save("x.npy", DATA)
    gather.save("turned.npy", np.ascontiguousarray(DATA.T))
    name = "four.npy" if command == "elements" else "ids.npy"
    gather.save(name, np.arange(COUNT).reshape(-1, 4) % 100 if command == "elements" else np.arange(COUNT) % 100)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, gather.folder / name], stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"ready\n"
        if command == "elements":
            gather.save("x.npy", np.tile(DATA, (COUNT // 4 // ROWS + 1, 1)))
        for _ in range(4):
            answer = gather(*COMMANDS[command].split(), "-f", "--on-bad", policy, "--threads", 2)
            allowed = {0, 1, 3} if policy == "error" else {0}
            assert answer.code in allowed, answer
            if answer.code == 0:
                check(command, gather.load("o.npy"), policy == "zero")
    finally:
        writer.kill()
        writer.wait()
