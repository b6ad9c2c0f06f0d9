# SPDX-License-Identifier: MIT
"""gather.h and gather.c, as script/amalgamate writes them: without a warning, small, and with the library's answers."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.skip import skip_test

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["GATHER_BUILD"])
CC = os.environ.get("GATHER_CC") or "cc"
CXX = os.environ.get("GATHER_CXX") or shutil.which("c++")
CLANG = shutil.which("clang")
WARNINGS = "-std=c11 -Wall -Wextra -Werror".split()
MOST_BYTES = 120 * 1024  # docs/embed.md

# The objects: what others have of them waits until they are made. `open`: what sources share is no longer static, so that tests of it
# can be linked. It is the largest, and first.
OBJECTS = {
    "open": [CC, "-O1", "-DGATHER_PRIVATE="],
    "all": [CLANG or CC, "-O0"],
    "gather": [CC, "-Os", "-DGATHER_ONLY_GATHER", "-DGATHER_NO_THREADS"],
    "gather_wide": [CC, "-O0", "-DGATHER_ONLY_GATHER"],
    "no_codecs": [CC, "-O0", "-DGATHER_NO_CODECS", "-DGATHER_ISA_AVX2=0", "-DGATHER_ISA_AVX512=0", "-DGATHER_ISA_NEON=0"],
    "portable": [CLANG or CC, "-Os", "-DGATHER_ONLY_GATHER", "-DGATHER_ISA_AVX2=0", "-DGATHER_ISA_NEON=0", "-DGATHER_ISA_SVE=0"],
}


def run(*command: object, **options) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


@dataclass(frozen=True)
class Pair:
    folder: Path

    def object(self, name: str) -> Path:
        return self.folder / f"{name}.o"


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("pair")
    run(sys.executable, ROOT / "script/amalgamate", "--out", folder, env={**os.environ, "CC": CC})
    made = Pair(folder)

    def compile_one(name: str) -> None:
        compiler, *flags = OBJECTS[name]
        run(compiler, *WARNINGS, *flags, "-c", folder / "gather.c", "-o", made.object(name))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_one, OBJECTS))
    return made


def test_same_files_again(pair, tmp_path):
    """The order of sets and folders does not show."""
    run(sys.executable, ROOT / "script/amalgamate", "--out", tmp_path, env={**os.environ, "CC": CC, "PYTHONHASHSEED": "1"})
    for name in ("gather.h", "gather.c"):
        assert (tmp_path / name).read_bytes() == (pair.folder / name).read_bytes()


def programs() -> list[tuple[str, str]]:
    """The programs of docs/embed.md, and what they print."""
    return re.findall(r"```c\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "docs/embed.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("number", range(2))
def test_programs_of_the_guide(pair, tmp_path, name, number):
    text, printed = programs()[number]
    (tmp_path / "program.c").write_text(text, encoding="utf-8")
    macros = [flag for flag in OBJECTS[name] if flag.startswith(("-DGATHER_ONLY", "-DGATHER_NO_CODECS"))]
    run(CC, *WARNINGS, *macros, f"-I{pair.folder}", tmp_path / "program.c", pair.object(name), "-pthread", "-o", tmp_path / "program")
    assert run(tmp_path / "program").stdout == printed


def test_smallest_program_is_small():
    lines = [line for line in programs()[0][0].splitlines() if line.strip()]
    assert len(lines) <= 17, "docs/embed.md promises a small one"


def test_quick_start(pair, tmp_path):
    """The first example of the library, as it is."""
    (tmp_path / "gather").mkdir()
    shutil.copy(pair.folder / "gather.h", tmp_path / "gather/gather.h")
    run(CC, f"-I{tmp_path}", ROOT / "examples/c/quick_start.c", pair.object("all"), "-pthread", "-o", tmp_path / "quick_start")
    assert run(tmp_path / "quick_start").stdout == (ROOT / "examples/c/expected.txt").read_text(encoding="utf-8")


def exported(path: Path) -> set[str]:
    lines = run("nm", "-g", "--defined-only", path).stdout.splitlines()
    return {line.split()[-1] for line in lines if line}


def test_only_public_functions_are_visible(pair):
    header = (pair.folder / "gather.h").read_text(encoding="utf-8")
    for name in ("all", "gather", "no_codecs"):
        for symbol in exported(pair.object(name)):
            assert re.search(rf"\b{symbol}\(", header), f"{name}: {symbol} is visible"
    left_out = exported(pair.object("all")) - exported(pair.object("gather"))
    assert {"gather_nd", "gather_tree", "gather_take_quantized", "gather_tensor_from_dlpack"} <= left_out
    without = exported(pair.object("all")) - exported(pair.object("no_codecs"))
    declared = set(re.findall(r"\b(gather_\w+)\(", re.sub(r"/\*.*?\*/", "", (ROOT / "include/gather/codec.h").read_text(), flags=re.DOTALL)))
    assert without and without == declared & exported(pair.object("all")), "GATHER_NO_CODECS leaves out the functions of codec.h"


def test_own_allocator(pair, tmp_path):
    """Each plan and pool comes from the functions that the program names."""
    (tmp_path / "program.c").write_text(
        """#define GATHER_STATIC
#define GATHER_MALLOC my_malloc
#define GATHER_CALLOC my_calloc
#define GATHER_FREE my_free
#define GATHER_ONLY_GATHER
#include "gather.c"
#include <stdlib.h>
static int allocated, freed;
void *my_malloc(size_t bytes) { return allocated++, malloc(bytes); }
void *my_calloc(size_t count, size_t bytes) { return allocated++, calloc(count, bytes); }
void my_free(void *memory) { freed++, free(memory); }
int main(void) {
  gather_pool *pool;
  if (gather_pool_create(1, &pool, NULL) != GATHER_OK) return 1;
  gather_pool_destroy(pool);
  return allocated == 1 && freed == 1 ? 0 : 2;
}
""",
        encoding="utf-8",
    )
    run(CC, *WARNINGS, "-O0", f"-I{pair.folder}", tmp_path / "program.c", "-pthread", "-o", tmp_path / "program")
    run(tmp_path / "program")
    assert not exported_of_gather(tmp_path / "program"), "GATHER_STATIC leaves a function visible"


def exported_of_gather(program: Path) -> set[str]:
    return {name for name in exported(program) if name.startswith("gather_")}


def test_from_cxx(pair, tmp_path):
    if not CXX:
        skip_test("c++", "no C++ compiler")
    (tmp_path / "program.cc").write_text('#include "gather.h"\nint main() { return gather_version()[0] != \'0\'; }\n', encoding="utf-8")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{pair.folder}", "-pthread"]
    run(CXX, *flags, tmp_path / "program.cc", pair.object("all"), "-o", tmp_path / "program")
    run(tmp_path / "program")


def test_gather_alone_is_small(pair):
    """One instruction set beside the portable one, at -Os."""
    about = run(CC, "--version").stdout
    machine = run(CC, "-dumpmachine").stdout
    if "Free Software Foundation" not in about or not machine.startswith("x86_64-linux"):
        skip_test("gcc on x86-64", "the bound is for that compiler")
    text = int(run("size", pair.object("gather")).stdout.splitlines()[1].split()[0])
    assert text <= MOST_BYTES


def linked_with_pair(pair: Pair, name: str, folder: str, program: Path) -> None:
    """A program of the tests from its object files, with the two files in the place of the core: the library gives what they lack."""
    objects = sorted((BUILD / "tests" / folder / f"CMakeFiles/{name}.dir").rglob("*.o"))
    assert objects, f"{name} is not built"
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    found = dict(re.findall(r"^(\w+_LIBRARY):\w+=(.*)$", cache, flags=re.MULTILINE))
    names = ("CMOCKA_LIBRARY", "NANOPB_LIBRARY", "EXPAT_LIBRARY", "JANSSON_LIBRARY", "LIBURING_LIBRARY")
    libraries = [found[n] for n in names if found.get(n) and "NOTFOUND" not in found[n]]
    run(CC, *objects, pair.object("open"), BUILD / "lib/libgather.a", *libraries, "-pthread", "-ldl", "-lm", "-o", program)


@pytest.mark.parametrize("name, folder", [("test_kernel", "kernel"), ("test_rules_cases", "rules"), ("test_rules_replay", "rules")])
def test_in_the_place_of_the_library(pair, tmp_path, name, folder):
    if os.environ.get("GATHER_SANITIZE"):
        skip_test("objects without sanitizers", "the objects of this build have sanitizers")
    linked_with_pair(pair, name, folder, tmp_path / name)
    quick = {"GATHER_TEST_MACHINES": "8", "GATHER_TEST_CASES": "4"}
    run(tmp_path / name, env={**quick, **os.environ}, timeout=300)
