# SPDX-License-Identifier: MIT
#
# test_jax_process.py: what needs a process of its own: no JAX, many threads, exit while takes run, programs by others, and hosts of other
# versions, which jax_host.c plays.
"""libgather.jax and processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from libgather import _plugins
from jax_support import jax, needs_jax  # noqa: F401

HERE = Path(__file__).parent


def run(program: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})


def test_without_jax():
    result = run("import sys; sys.modules['jax'] = None\ntry:\n import libgather.jax\nexcept ImportError as error: print(error)")
    assert result.stdout.strip() == "libgather.jax needs JAX: pip install 'libgather[jax]'", result.stderr


def test_importing_libgather_does_not_import_jax():
    assert run("import sys, libgather; print('jax' in sys.modules)").stdout.strip() == "False"


def test_threads_and_errors():
    """Eight Python threads run one program, half of them with an index out of range; each gets its own answer. Then the process ends
    while takes are in flight.
    """
    result = run("""
import threading, jax, numpy as np, libgather.jax as lj
x = np.random.default_rng(1).standard_normal((1 << 14, 32)).astype(np.float32)
f = jax.jit(lambda x, i: lj.take(x, i, 0))
good, bad = [], []
def work(number):
    random = np.random.default_rng(number)
    for turn in range(20):
        ids = random.integers(0, len(x), 1 << 15).astype(np.int32)
        if number % 2: ids[1000 + number] = 1 << 14
        try:
            good.append(np.array_equal(np.asarray(f(x, ids)), x[ids]) and number % 2 == 0)
        except lj.RUN_ERRORS as error:
            bad.append(f"indices[{1000 + number}] = 16384 is outside" in str(error) and number % 2 == 1)
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
print(len(good), all(good), len(bad), all(bad))
ids = np.zeros(1 << 18, np.int32)
pending = [f(x, ids) for _ in range(4)]
""")
    assert result.stdout.split() == ["80", "True", "80", "True"] and result.returncode == 0, result.stdout + result.stderr


def test_programs_by_others():
    """A custom call without our attributes, with wrong ones, with wrong buffers: an error in words, no crash."""
    result = run("""
import jax, numpy as np, libgather.jax as lj
from libgather import _jax_primitive, _jax_request
_jax_primitive.register()
x, i = np.zeros((4, 3), np.float32), np.zeros(2, np.int32)
good = _jax_request.Request(1).attributes(np, 1)
def call(arguments, shape=(2, 3), dtype=np.float32, name="libgather_jax_gather", **attributes):
    try:
        jax.block_until_ready(jax.jit(lambda *a: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(shape, dtype))(*a, **attributes))(*arguments))
        print("no error")
    except lj.RUN_ERRORS as error:
        print(str(error).splitlines()[0])
call((x, i))
for name in good:
    call((x, i), **{**good, name: np.float32(1)})
call((x, i), **{**good, "family": np.int64(9)})
call((x, i), **{**good, "family": np.int64(5)})
call((x, i), **{**good, "on_bad": np.int64(77)})
call((x, i), **{**good, "axis": np.int64(5)})
call((x,), **good)
call((x, i), shape=(3, 3), **good)
call((x, i), dtype=np.int32, **good)
call((x, x[0]), **good)
call((x, i, i), **good)
call((x, i, np.zeros(1, np.int8)), **good)
call((x,), name="libgather_jax_check", **good)
call((), name="libgather_jax_check", **good)
call((i,), (3,), np.int32, "libgather_jax_check", **{**good, "data_shape": np.array([4])})
call((i,), (2,), np.int32, "libgather_jax_check", **{**good, "data_shape": np.array([-4])})
print("end")
""")
    said = result.stdout.splitlines()
    assert result.returncode == 0 and said[-1] == "end", result.stdout + result.stderr
    errors = [line for line in said[:-1] if line != "no error"]
    assert len(errors) >= len(said) - 3 and all(line.split(":")[0] in ("INVALID_ARGUMENT", "UNIMPLEMENTED") for line in errors), said
    assert "export the program again" in errors[0]


@pytest.mark.parametrize("sanitize", ["", "-fsanitize=address,undefined"])
def test_hosts_of_other_versions(tmp_path, sanitize):
    """A program that is the host: versions 0.0 to 9.9, tables that end early, no pool, pools of several threads that run tasks late."""
    library = _plugins.library("jax")
    compiler = [os.environ.get("GATHER_CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-g", *sanitize.split()]
    build = subprocess.run([*compiler, f"-I{HERE.parents[1] / 'plugin/jax'}", str(HERE / "jax_host.c"), "-o", tmp_path / "host", "-ldl", "-lpthread"],
                           capture_output=True, text=True)  # fmt: skip
    assert build.returncode == 0, build.stderr
    result = subprocess.run([tmp_path / "host", library], capture_output=True, text=True, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1"})
    assert result.returncode == 0 and result.stdout.endswith("good\n"), result.stdout + result.stderr
