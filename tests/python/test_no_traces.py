# SPDX-License-Identifier: MIT
"""explain, check and run start no process and write no file: what Python does is audited, what C does meets limits of the system."""

import json
import subprocess
import sys

import pytest
from model_files import BAD, EMBED, NAMED, needs_onnx, one_node, parsed, saved  # noqa: F401

PROGRAM = """
import json, os, resource, sys

import numpy as np

import libgather

folder, call = sys.argv[1:]
os.chdir(folder)
X, seen = np.arange(12.0).reshape(4, 3), []
STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system", "os.spawn", "pty.spawn")
WRITES = ("tempfile.mkstemp", "tempfile.mkdtemp", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.truncate")
FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def hook(event, args):
    if event in STARTS or event in WRITES:
        seen.append(f"{event} {args}")
    if event == "open" and (args[2] & FLAGS or (args[1] and set(args[1]) & set("wax+"))):
        seen.append(f"{event} {args}")


CALLS = {
    "explain": lambda: str(libgather.explain(X, [1, -1])),
    "explain of strings": lambda: libgather.explain(np.array([["a"], ["b"]], object), [1]).svg,
    "explain by shape": lambda: libgather.explain(X, [1, 9], made_up=True).cells,
    "explain with fill": lambda: libgather.explain(X, [1, 9], mode="fill", fill_value=2.5).formula,
    "explain a bad call": lambda: libgather.explain(X, [0], axis=7),
    "explain a node": lambda: str(libgather.Model("bad.onnx").explain("far")),
    "explain a node in memory": lambda: libgather.Model(open("bad.onnx", "rb").read()).explain("far").svg,
    "explain a node that is not known": lambda: libgather.Model("embed.onnx").explain(),
    "check": lambda: (repr(libgather.check("named.onnx")), libgather.check("bad.onnx")._repr_html_()),
    "check with inputs": lambda: libgather.check("embed.onnx", {"ids": [[0, 3]]}).as_dict(),
    "run": lambda: libgather.run("plain.onnx", {"data": X.astype(np.float32), "ids": [0, 3]}),
    "run a node": lambda: libgather.run("bad.onnx", {"x": np.zeros((5, 2), np.float32)}, node="near"),
}
sys.addaudithook(hook)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # a write to a file kills
failed = ""
try:
    CALLS[call]()
except libgather.GatherError as error:
    failed = str(error)
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
for task in os.listdir("/proc/self/task"):
    with open(f"/proc/self/task/{task}/children") as file:
        children += len(file.read().split())
print(json.dumps({"seen": seen, "children": children, "failed": failed}))
"""
CALLS = [
    *("explain", "explain of strings", "explain by shape", "explain with fill", "explain a bad call", "explain a node"),
    *("explain a node in memory", "explain a node that is not known", "check", "check with inputs", "run", "run a node"),
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limits and /proc are Linux's")
@pytest.mark.parametrize("call", CALLS)
def test_no_process_and_no_file(tmp_path, monkeypatch, call):
    models, temporary = tmp_path / "models", tmp_path / "temporary"
    for folder in (models, temporary):
        folder.mkdir()
    saved(one_node(), models / "plain.onnx")
    for name, text in {"bad": BAD, "embed": EMBED, "named": NAMED}.items():
        saved(parsed(text), models / f"{name}.onnx")
    before = {path: path.stat().st_mtime_ns for path in models.iterdir()}
    monkeypatch.setenv("TMPDIR", str(temporary))
    done = subprocess.run([sys.executable, "-B", "-c", PROGRAM, models, call], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    assert answer["seen"] == []
    assert answer["children"] == 0
    assert bool(answer["failed"]) == (call in ("explain a bad call", "explain a node that is not known")), answer
    assert list(temporary.iterdir()) == []
    assert {path: path.stat().st_mtime_ns for path in models.iterdir()} == before
