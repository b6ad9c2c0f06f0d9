# SPDX-License-Identifier: MIT
"""libgather.mpi with mpi4py, under each MPI that mpi4py can use here."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mpirun import BUILD, EACH, FIRST, NAMES, OTHER, command, environment
from support.skip import skip_test

PROGRAM = Path(__file__).with_name("mpi_python.py")


def mpi4py_for(name: str, folder: Path) -> dict[str, str]:
    """The environment in which mpi4py uses this MPI. Its wheel looks for MPICH by the name that other systems than Debian give it."""
    libraries = os.environ.get("LD_LIBRARY_PATH", "")
    found = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    debian = next((line.split("=> ")[1] for line in found.splitlines() if line.strip().startswith("libmpich.so.12 ")), None)
    if name == "mpich" and debian:
        (folder / "libmpi.so.12").symlink_to(debian)
        libraries = f"{folder}:{libraries}"
    return environment() | {
        "MPI4PY_MPIABI": name,
        "LD_LIBRARY_PATH": libraries,
        "LIBGATHER_MPI": str(BUILD / "tests/mpi" / name / "libgather_mpi.so"),
        "LD_PRELOAD": os.environ.get("LD_PRELOAD", ""),
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
    }


def need_mpi4py(name: str, surroundings: dict[str, str]) -> None:
    ask = [sys.executable, "-c", "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"]
    asked = subprocess.run(ask, capture_output=True, text=True, env=surroundings, check=False)
    if asked.returncode != 0 or ("Open MPI" in asked.stdout) != (name == "openmpi"):
        skip_test("mpi4py", f"it is not installed, or cannot use {name} here")


@pytest.mark.parametrize(("name", "ranks"), [(FIRST, 3), (OTHER, 1), *([(FIRST, 1), (OTHER, 3)] if EACH else [])])
def test_plans_and_takes(name, ranks, tmp_path):
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    surroundings = mpi4py_for(name, tmp_path)
    need_mpi4py(name, surroundings)
    done = subprocess.run(
        [*command(name, ranks), sys.executable, str(PROGRAM), str(tmp_path)], capture_output=True, text=True, env=surroundings, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # mpirun may put the lines of two ranks into one.
    assert sorted(re.findall(r"equal on rank (\d+)", done.stdout)) == [str(rank) for rank in range(ranks)], done.stdout


def test_no_library(tmp_path, monkeypatch):
    """The message says what to run."""
    from libgather import _mpi_library

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LIBGATHER_MPI", str(tmp_path / "missing.so"))
    with pytest.raises(FileNotFoundError, match=r"no libgather_mpi for MPICH Version: 9.9: looked for .*missing.so, .*python -m libgather.build mpi"):
        _mpi_library.find("MPICH Version: 9.9\nmore")


def test_a_failure_fits_into_what_a_rank_tells():
    """Else this rank would have another error than the others, which would wait for it until the time limit."""
    from libgather import _mpi_agree

    error = OSError("\N{SNOWMAN WITHOUT SNOW}\N{GRINNING FACE}" * 5000)
    error.status, error.file = "io_error", "\N{GRINNING FACE}" * 5000
    assert 8000 < len(json.dumps({"failure": _mpi_agree.failure_of(error)})) <= _mpi_agree._BYTES - 1000


def test_structures_are_those_of_the_headers():
    from libgather import _mpi_library, errors
    from support import headers

    for mine, checked in ((_mpi_library.Error, headers.gather_error), (_mpi_library.Tensor, headers.gather_tensor)):
        assert [(name, getattr(mine, name).offset, getattr(mine, name).size) for name, *_ in mine._fields_] == [
            (name, getattr(checked, name).offset, getattr(checked, name).size) for name, *_ in checked._fields_
        ]
    assert headers.STATUSES == ["ok", *errors._CLASSES]
