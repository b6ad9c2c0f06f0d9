# SPDX-License-Identifier: MIT
"""gather.h and gather.c, gather_table.h and gather_table.c, as script/amalgamate writes them: without a warning, small, and with the library's
answers."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import libgather
import pytest

from support.sample import STEP
from support.skip import skip_test

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["GATHER_BUILD"])
CC = os.environ.get("GATHER_CC") or "cc"
CXX = os.environ.get("GATHER_CXX") or shutil.which("c++")
CLANG = shutil.which("clang")
WARNINGS = "-std=c11 -Wall -Wextra -Werror".split()
MOST_BYTES = 120 * 1024  # docs/embed/two-files.md
MOST_LINES = 32_500

# The objects, each compiled when a test first asks for it. `open`: what sources share is no longer static, so that tests of it can be
# linked.
OBJECTS = {
    "open": [CC, "-O1", "-DGATHER_PRIVATE="],
    "all": [CLANG or CC, "-O0"],
    "gather": [CC, "-Os", "-DGATHER_ONLY_GATHER", "-DGATHER_NO_THREADS"],
    "gather_wide": [CC, "-O0", "-DGATHER_ONLY_GATHER"],
    "no_codecs": [CC, "-O0", "-DGATHER_NO_CODECS", "-DGATHER_ISA_AVX512=0"],
    "portable": [CLANG or CC, "-Os", "-DGATHER_ONLY_GATHER", "-DGATHER_ISA_AVX2=0", "-DGATHER_ISA_NEON=0", "-DGATHER_ISA_SVE=0"],
}
CACHE = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
LIBRARIES = {n: path for n, path in re.findall(r"^(\w+_LIBRARY):\w+=(.*)$", CACHE, flags=re.MULTILINE) if path and "NOTFOUND" not in path}
URING = [LIBRARIES["LIBURING_LIBRARY"]] if "LIBURING_LIBRARY" in LIBRARIES and "GATHER_URING:BOOL=OFF" not in CACHE else []
# Of gather_table.c. `table`: with io_uring where there is one, and what sources share for tests; `threads`: without.
TABLE_OBJECTS = {
    "table": [CLANG or CC, "-O0", "-DGATHER_PRIVATE=", *["-DGATHER_HAVE_LIBURING"] * bool(URING)],
    "threads": [CC, "-O0"],
}
# To compile them takes most of the time. In a sample there are two: `gather` is gather.c by CC, and `table`, which has the core, too,
# stands for all others.
IN_A_SAMPLE = ("gather", "table")


def run(*command: object, **options) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


@dataclass(frozen=True)
class Pair:
    folder: Path

    def object(self, name: str) -> Path:
        if STEP > 1 and name not in IN_A_SAMPLE:
            name = "table"
        made = self.folder / f"{name}.o"
        if not made.exists():
            compiler, *flags = OBJECTS.get(name) or TABLE_OBJECTS[name]
            source = "gather.c" if name in OBJECTS else "gather_table.c"
            run(compiler, *WARNINGS, *flags, "-c", self.folder / source, "-o", made)
        return made


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("pair")
    run(sys.executable, ROOT / "script/amalgamate", "--out", folder, env={**os.environ, "CC": CC})
    return Pair(folder)


@pytest.mark.in_full
def test_same_files_again(pair, tmp_path):
    """The order of sets and folders does not show."""
    run(sys.executable, ROOT / "script/amalgamate", "--out", tmp_path, env={**os.environ, "CC": CC, "PYTHONHASHSEED": "1"})
    for name in ("gather.h", "gather.c", "gather_table.h", "gather_table.c"):
        assert (tmp_path / name).read_bytes() == (pair.folder / name).read_bytes()


def test_without_a_warning_of_the_other_compiler(pair):
    """gather_table.c, which has all of gather.c: also in a sample, where one compiler makes its objects."""
    run(CC, *WARNINGS, "-fsyntax-only", pair.folder / "gather_table.c")


def programs() -> list[tuple[str, str]]:
    """The programs of docs/embed/two-files.md, and what they print."""
    return re.findall(r"```c\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "docs/embed/two-files.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("number", range(2))
def test_programs_of_the_guide(pair, tmp_path, name, number):
    text, printed = programs()[number]
    (tmp_path / "program.c").write_text(text, encoding="utf-8")
    macros = [flag for flag in OBJECTS[name] if flag.startswith(("-DGATHER_ONLY", "-DGATHER_NO_CODECS"))]
    run(CC, *WARNINGS, *macros, f"-I{pair.folder}", tmp_path / "program.c", pair.object(name), *URING, "-pthread", "-o", tmp_path / "program")
    assert run(tmp_path / "program").stdout == printed


def test_smallest_program_is_small():
    lines = [line for line in programs()[0][0].splitlines() if line.strip()]
    assert len(lines) <= 17, "docs/embed/two-files.md promises a small one"


@pytest.mark.in_full
def test_quick_start(pair, tmp_path):
    """The first example of the library, as it is."""
    (tmp_path / "gather").mkdir()
    shutil.copy(pair.folder / "gather.h", tmp_path / "gather/gather.h")
    run(CC, f"-I{tmp_path}", ROOT / "examples/c/quick_start.c", pair.object("all"), "-pthread", "-o", tmp_path / "quick_start")
    assert run(tmp_path / "quick_start").stdout == (ROOT / "examples/c/expected.txt").read_text(encoding="utf-8")


def exported(path: Path) -> set[str]:
    lines = run("nm", "-g", "--defined-only", path).stdout.splitlines()
    return {line.split()[-1] for line in lines if line}


@pytest.mark.in_full
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


@pytest.mark.in_full
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


@pytest.mark.in_full
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
    names = ("CMOCKA_LIBRARY", "NANOPB_LIBRARY", "EXPAT_LIBRARY", "JANSSON_LIBRARY", "LIBURING_LIBRARY")
    libraries = [LIBRARIES[n] for n in names if n in LIBRARIES]
    run(CC, *objects, pair.object("open"), BUILD / "lib/libgather.a", *libraries, "-pthread", "-ldl", "-lm", "-o", program)


@pytest.mark.all_cases
@pytest.mark.parametrize("name, folder", [("test_kernel", "core/kernel"), ("test_rules_cases", "core/rules"), ("test_rules_replay", "core/rules")])
def test_in_the_place_of_the_library(pair, tmp_path, name, folder):
    if os.environ.get("GATHER_SANITIZE"):
        skip_test("objects without sanitizers", "the objects of this build have sanitizers")
    linked_with_pair(pair, name, folder, tmp_path / name)
    run(tmp_path / name, env={**os.environ, "GATHER_TEST_MACHINES": "32" if STEP > 1 else "8"}, timeout=300)


# ---- gather_table.h and gather_table.c


@pytest.mark.parametrize("name", TABLE_OBJECTS)
@pytest.mark.parametrize("number", range(3))
def test_programs_with_tables(pair, tmp_path, name, number):
    """Those of the core, too: gather_table.c takes the place of gather.c."""
    text, printed = programs()[number]
    (tmp_path / "program.c").write_text(text, encoding="utf-8")
    run(CC, *WARNINGS, f"-I{pair.folder}", tmp_path / "program.c", pair.object(name), *URING, "-pthread", "-o", tmp_path / "program")
    assert run(tmp_path / "program", cwd=tmp_path).stdout == printed


@pytest.mark.in_full
def test_tables_without_the_library(pair, tmp_path):
    """The functions of table.h are there, but for those of formats and other machines; nothing else is visible."""
    header = (pair.folder / "gather_table.h").read_text(encoding="utf-8") + (pair.folder / "gather.h").read_text(encoding="utf-8")
    visible = exported(pair.object("threads"))
    assert not [symbol for symbol in visible if not re.search(rf"\b{symbol}\(", header)]
    library = (ROOT / "include/gather/table.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"\b(gather_\w+)\(", re.sub(r"/\*.*?\*/", "", library, flags=re.DOTALL))) - {"gather_table_options", "gather_status"}
    assert {name for name in declared if name not in visible} == {
        "gather_file_is_quantised",
        "gather_file_codec_find",
        "gather_table_remote_statistics",
    }
    assert visible >= exported(pair.object("all"))


@pytest.mark.parametrize("macro", ["GATHER_ONLY_GATHER", "GATHER_NO_CODECS", "GATHER_NO_THREADS"])
def test_tables_need_the_whole_core(pair, macro):
    done = subprocess.run([CC, f"-D{macro}", "-E", str(pair.folder / "gather_table.c"), "-o", os.devnull], capture_output=True, text=True)
    assert done.returncode != 0 and "gather_table.c needs the whole core and threads" in done.stderr


@pytest.mark.in_full
def test_tables_from_cxx(pair, tmp_path):
    if not CXX:
        skip_test("c++", "no C++ compiler")
    (tmp_path / "program.cc").write_text(
        """#include "gather_table.h"
int main() {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = nullptr;
  gather_error error;
  return gather_table_open("model.gguf:x", &options, &table, &error) == GATHER_UNSUPPORTED ? 0 : 1;
}
""",
        encoding="utf-8",
    )
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{pair.folder}", "-pthread"]
    run(CXX, *flags, tmp_path / "program.cc", pair.object("threads"), "-o", tmp_path / "program")
    run(tmp_path / "program")


def test_what_tables_refuse(pair, tmp_path):
    """What needs formats or other machines says so."""
    (tmp_path / "program.c").write_text(
        r"""#include <stdio.h>
#include "gather_table.h"
static void try(const char *path, const gather_table_options *options) {
  gather_table *table;
  gather_error error;
  gather_status status = gather_table_open(path, options, &table, &error);
  printf("%s: %s\n", gather_status_name(status), error.message);
}
int main(void) {
  const int64_t shape[] = {-1, 2};
  const gather_raw raw = {.type = "uint8", .rank = 2, .shape = shape};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_error error;
  try("x.npy", NULL);
  options.raw = &raw;
  try("none.bin", &options);
  options.tensor = "w";
  try("none.bin", &options);
  options.tensor = NULL, options.remote = (const void *)&raw;
  try("https://host/x", &options);
  options.remote = NULL, options.engine = GATHER_ENGINE_HTTP;
  try("none.bin", &options);
  gather_status status = gather_engine_check(GATHER_ENGINE_HTTP, &error);
  printf("%s: %s\n", gather_status_name(status), error.message);
  return 0;
}
""",
        encoding="utf-8",
    )
    run(CC, *WARNINGS, f"-I{pair.folder}", tmp_path / "program.c", pair.object("threads"), *URING, "-pthread", "-o", tmp_path / "program")
    assert run(tmp_path / "program").stdout.splitlines() == [
        "unsupported: x.npy: gather_table.c knows no file formats: options.raw must say what bytes the file has",
        "file_not_found: none.bin: cannot open it: No such file or directory",
        "name_not_found: none.bin: raw bytes have no tensor of the name 'w'",
        "unsupported: gather_table.c reads local files only: options.remote must be NULL",
        "usage: the engine http reads URLs, and this is a local file",
        "unsupported: the engine http is not in gather_table.c, which reads local files only",
    ]


# They need no file format.
TABLE_TESTS = ["engines", "engines_cancel", "engines_rules", "engines_statistics", "engines_tuples", "stress_files"]


@pytest.mark.parametrize("name", [f"test_table_{subject}" for subject in TABLE_TESTS])
def test_tables_in_the_place_of_the_library(pair, tmp_path, name):
    if os.environ.get("GATHER_SANITIZE"):
        skip_test("objects without sanitizers", "the objects of this build have sanitizers")
    objects = sorted((BUILD / f"tests/table/CMakeFiles/{name}.dir").rglob("*.o"))
    assert objects, f"{name} is not built"
    run(CC, *objects, pair.object("table"), LIBRARIES["CMOCKA_LIBRARY"], *URING, "-pthread", "-lm", "-o", tmp_path / name)
    run(tmp_path / name, cwd=tmp_path, timeout=300)


# A tensor of each kind that examples/embed reads: GGUF's type, and the bytes of a block of so many values.
GGUF_TENSORS = {"plain": (0, 4, 1), "q8": (8, 34, 32), "q4": (12, 144, 256)}
GGUF_ROWS, GGUF_COLUMNS = 40, 512


def write_gguf(path: Path) -> None:
    """Metadata of all kinds, an alignment of its own, and tensors whose bytes are any, but for scales that are no NaNs."""
    text = lambda words: struct.pack("<Q", len(words)) + words.encode()
    pairs = [
        text("general.alignment") + struct.pack("<II", 4, 64),
        text("words") + struct.pack("<IIQ", 9, 8, 2) + text("a" * 100) + text(""),
        text("numbers") + struct.pack("<IIQ3H", 9, 2, 3, 1, 2, 3),
        text("long" * 40) + struct.pack("<Id", 12, 1.5),
        text("name") + struct.pack("<I", 8) + text("x"),
    ]
    head, data, seed = b"", b"", random.Random(5)
    for name, (kind, block, values) in GGUF_TENSORS.items():
        head += text(name) + struct.pack("<IQQIQ", 2, GGUF_COLUMNS, GGUF_ROWS, kind, len(data))
        blocks = GGUF_ROWS * GGUF_COLUMNS // values
        for _ in range(blocks):
            scale = struct.pack("<f", seed.uniform(-1, 1)) if kind == 0 else struct.pack("<e", seed.uniform(-1, 1)) * (1 if kind == 8 else 2)
            data += (scale + seed.randbytes(block))[:block]
        data += bytes(-len(data) % 64)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(GGUF_TENSORS), len(pairs)) + b"".join(pairs) + head
    path.write_bytes(head + bytes(-len(head) % 64) + data)


def test_rows_of_a_gguf_file(pair, tmp_path):
    """examples/embed finds a tensor by itself, and its rows are those that the library decodes."""
    write_gguf(tmp_path / "model.gguf")
    program, rows = tmp_path / "gguf_rows", [39, 0, 7, 7, -1]
    run(CC, *WARNINGS, f"-I{pair.folder}", ROOT / "examples/embed/gguf_rows.c", pair.object("threads"), *URING, "-pthread", "-o", program)
    for name in GGUF_TENSORS:
        printed = run(program, tmp_path / "model.gguf", name, *rows).stdout
        with libgather.open(tmp_path / "model.gguf", tensor=name, decode_as="float32") as table:
            wanted = table.take(rows)
        assert printed == "".join(f"{float(a):.9g} {float(b):.9g}\n" for a, b in wanted[:, :2]), name
    failed = subprocess.run([program, tmp_path / "model.gguf", "plain", "40"], capture_output=True, text=True)
    assert failed.returncode == 1 and "indices[0] = 40" in failed.stderr
    failed = subprocess.run([program, tmp_path / "model.gguf", "none", "1"], capture_output=True, text=True)
    assert (failed.returncode, failed.stderr) == (1, "no such tensor\n")


def test_kernels_are_written_once(pair):
    """gather_table.c stays short. Each part at the end of gather.h is selected somewhere, and none is left selected."""
    text = {name: (pair.folder / name).read_text(encoding="utf-8") for name in ("gather.h", "gather.c", "gather_table.c")}
    assert text["gather_table.c"].count("\n") <= MOST_LINES
    parts = set(re.findall(r"if defined\((GATHER_TEMPLATE_\w+)\)\n#undef \1\n", text["gather.h"]))
    assert parts
    for name in ("gather.c", "gather_table.c"):
        assert set(re.findall(r"#define (GATHER_TEMPLATE_\w+)\n#include \"gather.h\"\n", text[name] + text["gather.h"])) == parts


@pytest.mark.in_full
def test_from_another_folder(pair, tmp_path):
    """A source that includes gather.c by a relative path, in a folder that no -I names."""
    (tmp_path / "third_party").mkdir()
    for name in ("gather.h", "gather.c"):
        shutil.copy(pair.folder / name, tmp_path / "third_party" / name)
    (tmp_path / "program").mkdir()
    text = '#define GATHER_STATIC\n#include "../third_party/gather.c"\nint main(void) { return gather_version()[0] == 0; }\n'
    (tmp_path / "program/program.c").write_text(text, encoding="utf-8")
    run(CC, *WARNINGS, "-O0", "-g", "program/program.c", "-pthread", "-o", "program/program", cwd=tmp_path)
    run(tmp_path / "program/program")


def test_the_example_is_short():
    lines = (ROOT / "examples/embed/gguf_rows.c").read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line.strip() not in ("", "}") and not line.startswith(("/*", " *", "#include"))]
    assert len(code) <= 60

