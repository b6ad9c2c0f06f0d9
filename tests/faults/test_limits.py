# SPDX-License-Identifier: MIT
"""No run hangs: programs that the tests start have a limit, and so has each test."""

import json
import subprocess
import time

import pytest


def test_a_program_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(subprocess.Popen, "LIMIT", 0.2)
    begin = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(["sleep", "60"])
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.Popen(["sleep", "60"]).wait()
    assert time.monotonic() - begin < 30


def test_each_test_has_a_limit(gather_build, tmp_path):
    # From a folder of its own: ctest begins the log of the folder that it is run in anew, and one is being written there.
    (tmp_path / "CTestTestfile.cmake").write_text(f'subdirs("{gather_build}")\n')
    listed = json.loads(subprocess.run(["ctest", "--test-dir", tmp_path, "--show-only=json-v1"], capture_output=True, check=True).stdout)
    without = [test["name"] for test in listed["tests"]
               if not any(item["name"] == "TIMEOUT" and item["value"] > 0 for item in test.get("properties", []))]
    assert listed["tests"] and not without
