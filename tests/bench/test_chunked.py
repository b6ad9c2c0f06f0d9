# SPDX-License-Identifier: MIT
"""script/bench chunked works: each take is compared, wrong rows are told, what cannot be measured is named. Times are not judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from benchmark import BUILD, SOURCE

SCRIPT = SOURCE / "bench/chunked.py"


def call(*arguments: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join([str(BUILD / "bench"), str(BUILD / "python")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], env=environment, text=True, capture_output=True, timeout=300)


def test_a_run(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "mine").write_text("stays")
    done = call("--rows", "3000", "--columns", "6", "--ids", "5,4000", "--rounds", "1", "--only", r"(rows.npy|gzip.h5|lz4.feather)", "--folder",
                str(folder), "--json", str(tmp_path / "found.json"))  # fmt: skip
    found = json.loads((tmp_path / "found.json").read_text())
    assert done.returncode == 0, done.stdout + done.stderr
    assert [one.name for one in folder.iterdir()] == ["mine"]
    absent = found["machine"]["absent"]
    for name in ("libgather", "numpy memmap", *({"h5py", "pyarrow"} - absent.keys())):
        rows = [row for row in found["rows"] if row["contender"] == name]
        assert rows and all(row["rounds"] == 1 and row["ns"] > 0 and row["peak"] > 0 for row in rows), name
    assert {(row["ids"], row["mode"]) for row in found["rows"]} == {(count, mode) for count in (5, 4000) for mode in ("cold", "warm")}
    told = (tmp_path / "found.txt").read_text()
    assert told in done.stdout and all(f"{name}: left out: {why}" in told for name, why in absent.items())


def test_wrong_rows_are_told(tmp_path):
    words = ["--rows", "300", "--columns", "2", "--ids", "50", "--rounds", "1", "--folder", str(tmp_path / "files"), "--json",
             str(tmp_path / "found.json"), "--only", "rows.npy numpy", "--keep"]  # fmt: skip
    assert call(*words).returncode == 0
    script = f"""
import sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import chunked
chunked.CONTENDERS["numpy memmap"] = ((".npy",), (), lambda path, ids: chunked.numpy_take(path, ids) + 1)
chunked.child("numpy memmap", chunked.Path({str(tmp_path / "files/rows.npy")!r}), 50, "cold")
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=60)
    assert json.loads(done.stdout)["right"] is False, done.stderr


def test_wrong_options():
    assert "no file and contender" in call("--only", "nobody").stderr
    assert call("--rows", "-1").returncode == 2 and call("--ids", "0").returncode == 2
