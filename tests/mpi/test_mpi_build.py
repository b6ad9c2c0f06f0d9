# SPDX-License-Identifier: MIT
"""`python -m libgather.build mpi` from the package of the build tree, as from a wheel: for each MPI that is here."""

import os
import re
import subprocess
import sys

import pytest
from mpirun import FIRST, NAMES, OTHER, environment
from support.skip import skip_test

VERSIONS = {"openmpi": "Open MPI v4.1.4, package: Debian OpenMPI", "mpich": "MPICH Version:\t4.0.2"}
LOAD = "import sys; from libgather import _mpi_library as m; l = m.find(sys.argv[1]); print(l._name); print(l.gather_mpi_built_for().decode())"


def surroundings(name: str, folder) -> dict[str, str]:
    """mpi4py that uses this MPI: all that the build asks of it is its version, so that no mpi4py is needed here."""
    package = folder / "packages/mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class rc: pass\n")
    (package / "MPI.py").write_text(f"def Get_library_version(): return {VERSIONS[name]!r}\n")
    found = environment() | {"PYTHONPATH": f"{package.parent}:{os.environ.get('PYTHONPATH', '')}", "XDG_CACHE_HOME": str(folder / "cache")}
    return {key: value for key, value in found.items() if key not in ("MPICC", "LIBGATHER_MPI")}


def need_sources() -> None:
    if os.environ.get("GATHER_SANITIZE"):
        skip_test("plugins", "the library has sanitizers, whose runtime mpirun's environment does not load")
    from libgather import build

    if not (build._KIT / "lib/libgather.a").exists():
        skip_test("plugins", "this package has no sources")


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=env, timeout=200, check=False)


@pytest.mark.parametrize("name", [FIRST, OTHER])
def test_build(name, tmp_path):
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    need_sources()
    env = surroundings(name, tmp_path)
    done = run("-m", "libgather.build", "mpi", env=env)
    path = done.stdout.strip()
    assert done.returncode == 0 and path.startswith(str(tmp_path / "cache/libgather/")) and path.endswith(f"/mpi-{name}/libgather_mpi.so"), done.stderr
    before = os.stat(path).st_mtime_ns
    assert run("-m", "libgather.build", "mpi", env=env).stdout.strip() == path and os.stat(path).st_mtime_ns == before  # it is there
    loaded = run("-c", LOAD, VERSIONS[name], env=env)
    assert re.fullmatch(rf"{re.escape(path)}\n{'Open MPI 4' if name == 'openmpi' else 'MPICH 4'}[.\d]*\n", loaded.stdout), loaded.stdout + loaded.stderr
    other = run("-c", LOAD, VERSIONS[OTHER if name == FIRST else FIRST], env=env)  # never the library of another MPI
    assert other.returncode != 0 and "no libgather_mpi for" in other.stderr


def test_what_is_missing(tmp_path):
    need_sources()
    env = surroundings("openmpi", tmp_path)
    (tmp_path / "packages/mpi4py/MPI.py").write_text("raise RuntimeError('cannot load MPI library')\n")
    done = run("-m", "libgather.build", "mpi", env=env)
    assert done.returncode == 1 and "mpi4py cannot be used (pip install mpi4py, and an MPI): RuntimeError: cannot load MPI library" in done.stderr
    (tmp_path / "packages/mpi4py/MPI.py").write_text(f"def Get_library_version(): return {VERSIONS['openmpi']!r}\n")
    done = run("-m", "libgather.build", "mpi", env=env | {"PATH": str(tmp_path)})
    assert done.returncode == 1 and "neither $MPICC nor mpicc nor mpicc.openmpi compiles for it. On Debian: apt install libopenmpi-dev" in done.stderr
