# SPDX-License-Identifier: MIT
"""Where the system refuses threads, fewer do the work, at last one: no call waits for a thread that never was.

Twice: by a pthread_create that fails from the nth call on, everywhere; and by a limit on the processes of a user who has one already,
where the tests run as root.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from command import Gather
from models import onnx_model

from support.nobody import command_for_others
from support.skip import skip_test

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int made;
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*start)(void *), void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  const char *most = getenv("GATHER_TEST_THREADS");
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  if (most && atomic_fetch_add(&made, 1) >= atoi(most)) return EAGAIN;
  return real(t, a, start, argument);
}
"""
ROWS, UID, SECONDS = 60_000, 61234, 60
DATA = np.arange(ROWS * 16, dtype=np.float32).reshape(ROWS, 16)
IDS = np.random.default_rng(3).integers(0, ROWS, 40_000)
COLUMNS = np.random.default_rng(4).integers(0, 16, (ROWS, 16))

# What must work, and the answer. `--threads 8` asks for a pool on a machine with one CPU too.
JOBS = {
    "run": ("run m.onnx --input x=x.npy --input ids=ids.npy --output y=o.npy --threads 8", DATA[IDS]),
    "elements": ("elements x.npy columns.npy --axis 1 -o o.npy --threads 8", np.take_along_axis(DATA, COLUMNS, 1)),
    "take": ("take x.npy ids.npy -o o.npy --threads 8", DATA[IDS]),
    "take axis 1": ("take x.npy few.npy --axis 1 -o o.npy --threads 8", DATA[:, IDS[:300] % 16]),
    "take mmap": ("take x.npy ids.npy -o o.npy --engine mmap --threads 8", DATA[IDS]),
    "take pread": ("take x.npy ids.npy -o o.npy --engine pread --threads 8", DATA[IDS]),
    "take memory": ("take x.npy ids.npy -o o.npy --memory 4M --threads 8", DATA[IDS]),
    "shuffle": ("shuffle x.npy -o o.npy --seed 1 --threads 8", None),
    "shuffle passes": ("shuffle x.npy -o o.npy --seed 1 --memory 4400000 --passes 2 --threads 8", None),
}


def prepare(folder: Path) -> None:
    for name, array in {"x": DATA, "ids": IDS, "columns": COLUMNS, "few": IDS[:300] % 16}.items():
        np.save(folder / f"{name}.npy", array)
    onnx_model(folder / "m.onnx", f"m (float[{ROWS}, 16] x, int64[n] ids) => (float[n, 16] y) {{ y = Gather<axis = 0>(x, ids) }}")


@pytest.fixture(scope="module")
def shuffled(gather_exe, tmp_path_factory) -> np.ndarray:
    folder = tmp_path_factory.mktemp("shuffled")
    np.save(folder / "x.npy", DATA)
    assert Gather(gather_exe, folder)("shuffle", "x.npy", "-o", "o.npy", "--seed", 1).code == 0
    return np.load(folder / "o.npy")


@pytest.fixture(scope="module")
def shim(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    command = [os.environ.get("GATHER_CC") or "cc", "-shared", "-fPIC", "-O1", "-o", folder / "shim.so", folder / "shim.c", "-ldl"]
    subprocess.run(command, check=True)
    return folder / "shim.so"


def preload(shim: Path, threads: int) -> dict[str, str]:
    return {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {shim}", "GATHER_TEST_THREADS": str(threads)}


@pytest.mark.parametrize("job", JOBS)
def test_a_thread_is_refused(gather, shim, shuffled, job):
    words, expected = JOBS[job]
    prepare(gather.folder)
    for threads in (0, 2):
        answer = gather(*words.split(), "-f", env=preload(shim, threads))
        assert answer.code == 0, (threads, answer)
        np.testing.assert_array_equal(gather.load("o.npy"), shuffled if expected is None else expected)


@pytest.fixture
def nobodys_folder():
    if os.geteuid() != 0:
        skip_test("limit-on-processes", "only root becomes a user with no processes")
    folder = Path(tempfile.mkdtemp(prefix="gather-test-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def become_nobody() -> None:
    """A user who has one process, and may have no other."""
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    os.setresuid(UID, UID, UID)


@pytest.mark.parametrize("job", JOBS)
def test_a_limit_of_one_process(nobodys_folder, gather_exe, shuffled, job):
    words, expected = JOBS[job]
    prepare(nobodys_folder)
    gather = command_for_others(gather_exe, nobodys_folder)
    done = subprocess.run([gather, *words.split()], cwd=nobodys_folder, capture_output=True, preexec_fn=become_nobody, timeout=SECONDS)
    assert done.returncode == 0, done
    np.testing.assert_array_equal(np.load(nobodys_folder / "o.npy"), shuffled if expected is None else expected)


PYTHON = """
import sys, numpy as np, libgather
x, ids = np.load("x.npy"), np.load("ids.npy")
assert np.array_equal(libgather.take(x, ids, axis=0, threads=8), x[ids])
columns = np.load("columns.npy")
assert np.array_equal(libgather.gather_elements(x, columns, axis=1, threads=8), np.take_along_axis(x, columns, 1))
with libgather.open("x.npy") as table:
    assert np.array_equal(table[ids], x[ids])
    assert np.array_equal(table.submit(ids).wait(), x[ids])
print("done")
"""


@pytest.mark.parametrize("threads", [0, 2])
def test_in_python(gather, shim, threads):
    pytest.importorskip("libgather")
    prepare(gather.folder)
    environment = {**os.environ, **preload(shim, threads), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PYTHON], cwd=gather.folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done
