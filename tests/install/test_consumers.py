# SPDX-License-Identifier: MIT
"""Programs of strangers: each example is built from a copy outside the project, against the moved tree, and run."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from stranger import CMAKE, Tree, run
from support.sample import STEP

CC = os.environ.get("GATHER_CC", "cc")


def copy_of(examples: Path, name: str, folder: Path) -> Path:
    shutil.copytree(examples / name, folder / name)
    return folder / name


def expected(examples: Path, name: str) -> str:
    return (examples / name / "expected.txt").read_text(encoding="utf-8")


# Without optimisation the library is built in a third of the time, and of that the kernels of wider instruction sets take three quarters.
QUICK = ["-DCMAKE_BUILD_TYPE=Debug", *["-DGATHER_ISA=portable"] * (STEP > 1)]


def build_with_cmake(source: Path, build: Path, *options: str) -> str:
    said = run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", *options)
    run(CMAKE, "--build", build)
    return said


def needs(program: Path) -> set[str]:
    """The shared libraries that a program loads."""
    return set(re.findall(r"Shared library: \[(.*?)\]", run("readelf", "-d", program)))


@pytest.mark.parametrize(
    ("target", "library"),
    [("gather::gather", "libgather.so.0"), ("gather::shared", "libgather.so.0"), ("gather::static", None),
     ("gather::core", "libgather-core.so.0"), ("gather::core_shared", "libgather-core.so.0"), ("gather::core_static", None)],
)
def test_find_package(tree: Tree, examples: Path, tmp_path: Path, target: str, library: str | None):
    source = copy_of(examples, "cmake", tmp_path)
    build_with_cmake(source, tmp_path / "b", f"-DCMAKE_PREFIX_PATH={tree.prefix}", f"-DGATHER_TARGET={target}")
    assert run(tmp_path / "b/plan") == expected(examples, "cmake")
    assert {name for name in needs(tmp_path / "b/plan") if "gather" in name} == ({library} if library else set())


@pytest.mark.parametrize(("version", "code"), [("0.2", 0), ("0.2.0", 0), ("0.3", 1), ("1.0", 1), ("0.1", 1)])
def test_find_package_knows_its_version(tree: Tree, tmp_path: Path, version: str, code: int):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(version LANGUAGES C)\n"
        f"find_package(gather {version} REQUIRED)\n"
    )
    run(CMAKE, "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={tree.prefix}", code=code)


def npy_table(folder: Path) -> Path:
    np.save(folder / "table.npy", np.arange(40, dtype=np.float32).reshape(8, 5) / 2)
    return folder / "table.npy"


@pytest.fixture(scope="module")
def core(gather_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core, built alone and installed."""
    folder = tmp_path_factory.mktemp("core")
    said = build_with_cmake(gather_source, folder / "b", "-DGATHER_COMPONENTS=core", "-DGATHER_TESTS=OFF", *QUICK)
    assert said.count("Found") == said.count("Found Threads") == 1, said  # nothing else is looked for
    cache = (folder / "b/CMakeCache.txt").read_text(encoding="utf-8")
    assert not re.search(r"EXPAT|JANSSON|NANOPB|LIBURING|CURL_|^MPI|GATHER_MPI|^Python|_Python|CMOCKA", cache, re.M)
    assert 30 < len(list((folder / "b").rglob("*.o"))) <= 130
    run(CMAKE, "--install", folder / "b", "--prefix", folder / "p")
    return folder / "p"


def test_the_core_alone(core: Path, examples: Path, tmp_path: Path):
    """Its tree has its own headers, and each way of finding it finds it."""
    headers = {path.name for path in (core / "include/gather").iterdir()}
    assert headers == {"gather.h", "codec.h", "dlpack.h", "scatter.h", "tree.h", "codec.def", "family.def", "status.def", "type.def"}
    source = copy_of(examples, "cmake", tmp_path)
    build_with_cmake(source, tmp_path / "b", f"-DCMAKE_PREFIX_PATH={core}")
    assert run(tmp_path / "b/plan") == expected(examples, "cmake")
    path = next(core.rglob("gather-core.pc")).parent
    flags = run("pkg-config", "--cflags", "--libs", "gather-core", PKG_CONFIG_PATH=str(path)).split()
    run(CC, "-std=c11", source / "plan.c", *flags, f"-Wl,-rpath,{path.parent}", "-o", tmp_path / "plan")
    assert run(tmp_path / "plan") == expected(examples, "cmake")
    said = subprocess.run([CMAKE, "-S", source, "-B", tmp_path / "whole", f"-DCMAKE_PREFIX_PATH={core}", "-DGATHER_TARGET=gather::gather"],
                          capture_output=True, text=True, check=False)
    assert said.returncode == 1 and "only the core of gather is installed here" in said.stderr, said.stderr


ROWS = "17.5 18\n0 0.5\n17.5 18\n"


def test_pkg_config_shared(tree: Tree, examples: Path, tmp_path: Path):
    source = copy_of(examples, "pkg-config", tmp_path)
    run("make", f"CC={CC}", cwd=source, PKG_CONFIG_PATH=tree.pkg_config_path)
    lib = str(tree.lib)
    assert "libgather.so.0" in needs(source / "rows")
    assert run(source / "rows", npy_table(tmp_path), "7", "0", "-1", LD_LIBRARY_PATH=lib) == ROWS
    run(source / "rows", npy_table(tmp_path), "8", LD_LIBRARY_PATH=lib, code=1)
    run(source / "rows", tmp_path / "no.npy", "0", LD_LIBRARY_PATH=lib, code=1)


def test_pkg_config_static(tree: Tree, examples: Path, tmp_path: Path):
    """A tree without the shared library: --static names everything that libgather.a needs."""
    shutil.copytree(tree.prefix, tmp_path / "static", symlinks=True)
    only_static = Tree(tmp_path / "static")
    for path in list(only_static.lib.glob("libgather.so*")):
        path.unlink()
    source = copy_of(examples, "pkg-config", tmp_path)
    run("make", f"CC={CC}", "STATIC=--static", cwd=source, PKG_CONFIG_PATH=only_static.pkg_config_path)
    assert not any(name.startswith("libgather") for name in needs(source / "rows"))
    assert run(source / "rows", npy_table(tmp_path), "7", "0", "-1") == ROWS


def test_pkg_config_version_and_place(tree: Tree):
    assert run("pkg-config", "--modversion", "gather", PKG_CONFIG_PATH=tree.pkg_config_path) == "0.2.0\n"
    place = run("pkg-config", "--variable=libdir", "gather", PKG_CONFIG_PATH=tree.pkg_config_path).strip()
    assert Path(place.replace("\\ ", " ")).resolve() == tree.lib.resolve()


def test_vendored(examples: Path, gather_source: Path, tmp_path: Path):
    source = copy_of(examples, "vendored", tmp_path)
    build_with_cmake(source, tmp_path / "b", f"-DGATHER_FOLDER={gather_source}", *QUICK)
    assert run(tmp_path / "b/sort") == expected(examples, "vendored")
    assert {path.name for path in (tmp_path / "b/gather/src").iterdir() if path.is_dir()} - {"CMakeFiles"} == {"core"}


LEVEL = re.compile(r"(?<= )-O\S*")


@pytest.mark.parametrize(
    ("options", "ours", "theirs"),
    [
        ((), ["-O2"], []),
        (("-DCMAKE_BUILD_TYPE=Release",), ["-O3"], ["-O3"]),
        (("-DCMAKE_BUILD_TYPE=Debug",), [], []),
        (("-DCMAKE_C_FLAGS=-Wall -Og",), ["-Og"], ["-Og"]),
        (("-DWITH_OPTION=-O1",), ["-O1"], ["-O1"]),
    ],
    ids=["none", "Release", "Debug", "flags", "option"],
)
def test_vendored_is_optimised_unless_the_parent_says_otherwise(
    gather_source: Path, tmp_path: Path, options: tuple[str, ...], ours: list[str], theirs: list[str]
):
    """A parent without a build type gets an optimised library, and its own choice is neither changed nor overridden."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(parent LANGUAGES C)\nadd_compile_options(${WITH_OPTION})\n"
        f"add_subdirectory({gather_source} gather EXCLUDE_FROM_ALL)\nadd_executable(own own.c)\n"
        "target_link_libraries(own PRIVATE gather::gather)\n"
    )
    (tmp_path / "own.c").write_text("int main(void) { return 0; }\n")
    run(CMAKE, "-S", tmp_path, "-B", tmp_path / "b", "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        *options)
    commands = json.loads((tmp_path / "b/compile_commands.json").read_text(encoding="utf-8"))
    levels = {Path(entry["file"]).name: LEVEL.findall(entry["command"]) for entry in commands}
    assert levels["move.c"] == ours and levels["own.c"] == theirs


def test_static_package(examples: Path, gather_source: Path, gather_build: Path, tmp_path: Path):
    """What links the static library loads no shared one of ours; the pool of threads needs libc only. BUILD_SHARED_LIBS changes what
    is linked by default and no library: those of this build are taken."""
    run(CMAKE, "-S", gather_source, "-B", tmp_path / "g", "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", "-DCMAKE_BUILD_TYPE=Release",
        *(f"-D{name}=OFF" for name in ("GATHER_TESTS", "GATHER_CLI", "GATHER_PLUGINS", "GATHER_MPI", "BUILD_SHARED_LIBS")))
    shutil.copytree(gather_build / "lib", tmp_path / "g/lib", symlinks=True, dirs_exist_ok=True)
    run(CMAKE, "--install", tmp_path / "g", "--prefix", tmp_path / "p")
    source = copy_of(examples, "cmake", tmp_path)
    build_with_cmake(source, tmp_path / "b", f"-DCMAKE_PREFIX_PATH={tmp_path / 'p'}")
    assert run(tmp_path / "b/plan") == expected(examples, "cmake")
    assert not any("gather" in name or "pool" in name for name in needs(tmp_path / "b/plan"))
