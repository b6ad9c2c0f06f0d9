# SPDX-License-Identifier: MIT
"""The programs of docs/embed/mpi.md print what stands there."""

import os
import re
import subprocess
import sys

import pytest
from mpirun import BUILD, EACH, FIRST, NAMES, OTHER, command, environment, printed, separately
from support.skip import skip_test
from test_mpi_python import mpi4py_for


def fences(source, language: str) -> list[str]:
    text = (source / "docs/embed/mpi.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@pytest.mark.parametrize("name", [FIRST, OTHER] if EACH else [FIRST])
def test_the_program_in_c(name, gather_source, tmp_path):
    if name not in NAMES:
        skip_test(name, "no such MPI here, or the tests were built without it")
    (tmp_path / "program.c").write_text(fences(gather_source, "c")[0], encoding="utf-8")
    library = BUILD / "tests/mpi" / name / "libgather_mpi.so"
    include = [f"-I{gather_source}/include", f"-I{gather_source}/mpi/include"]
    link = [str(library), str(BUILD / "lib/libgather.so"), f"-Wl,-rpath,{BUILD / 'lib'}"]
    flags = "-std=c11 -Wall -Wextra -Wconversion -Wshadow -Werror".split()
    if sanitizers := os.environ.get("GATHER_SANITIZE"):
        flags.append(f"-fsanitize={sanitizers}")  # the program brings the runtime that the libraries need
    done = subprocess.run([f"mpicc.{name}", *flags, *include, "program.c", "-o", "program", *link], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([*command(name, 2), "./program"], cwd=tmp_path, capture_output=True, text=True, env=environment(), timeout=120, check=False)
    assert (ran.returncode, ran.stdout) == (0, fences(gather_source, "text")[0]), ran.stderr


CONSUMER = """cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(gather REQUIRED COMPONENTS mpi)
foreach(kind shared static)
  add_executable(${kind} program.c)
  target_link_libraries(${kind} PRIVATE gather::mpi_${kind})
endforeach()
"""


def test_the_installed_library(gather_source, tmp_path):
    """Found by CMake and by pkg-config, with the MPI that the library was built for."""
    from libgather._mpi_library import vendor_of_compiler

    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(r"^MPI_C_COMPILER:\w+=(.*mpicc.*)$", cache, re.M)
    if not found or not (BUILD / "lib/libgather_mpi.so").exists() or os.environ.get("GATHER_SANITIZE"):
        skip_test("mpi", "libgather_mpi is not in this build, or it is one with sanitizers")
    name = vendor_of_compiler([found[1]])
    prefix = tmp_path / "installed"
    (tmp_path / "program.c").write_text(fences(gather_source, "c")[0], encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER, encoding="utf-8")
    pkg_config = f"PKG_CONFIG_PATH={prefix}/lib/pkgconfig"
    for words in (
        ["cmake", "--install", str(BUILD), "--prefix", str(prefix)],
        ["cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI_C_COMPILER={found[1]}"],
        ["cmake", "--build", "b"],
        ["sh", "-c", f"{found[1]} program.c $({pkg_config} pkg-config --cflags --libs gather_mpi) -Wl,-rpath,{prefix}/lib -o b/by_pkg_config"],
    ):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    for program in ("shared", "static", "by_pkg_config"):
        ran = subprocess.run([*command(name, 2), f"b/{program}"], cwd=tmp_path, capture_output=True, text=True, env=environment(), timeout=120, check=False)
        assert (ran.returncode, ran.stdout) == (0, fences(gather_source, "text")[0]), ran.stderr


def test_the_program_in_python(gather_source, tmp_path):
    surroundings = mpi4py_for("openmpi", tmp_path)
    if "openmpi" not in NAMES or subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, env=surroundings, check=False).returncode != 0:
        skip_test("mpi4py", "it is not installed, or there is no Open MPI")
    (tmp_path / "program.py").write_text(fences(gather_source, "py")[0], encoding="utf-8")
    words = [*command("openmpi", 2), *separately(tmp_path), sys.executable, "program.py"]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=surroundings, timeout=120, check=False)
    assert (ran.returncode, printed(tmp_path)) == (0, 2 * "[[1. 1.]\n [0. 0.]]\n"), ran.stdout + ran.stderr
