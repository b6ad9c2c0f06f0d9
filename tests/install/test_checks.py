# SPDX-License-Identifier: MIT
"""The checks of script/ find what they are for: each is run on a copy of the project with one fault put in."""

import shutil
import subprocess
from pathlib import Path

import pytest

from checks import CC, check


@pytest.fixture
def copy(gather_source: Path, tmp_path: Path) -> Path:
    for folder in ("script", "include", "src", "cli", "python", "mpi", "plugin"):
        shutil.copytree(gather_source / folder, tmp_path / folder)
    return tmp_path


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.in_full
def test_layers_pass_as_they_are(copy: Path):
    code, said = check(copy, "check-layers", "--sources")
    assert code == 0 and "0 faults" in said, said


# One fault of each kind: the file, the line that is appended to it, and what is said of that line.
FAULTS = [
    ("src/core/base/tensor.c", '#include "core/kernel/kernel.h"\n', "may not include core/kernel/kernel.h"),
    ("src/core/kernel/indices.c", '#include "core/op/op.h"\n', "may not include core/op/op.h"),
    ("src/core/op/ops.c", '#include "io/format/format.h"\n', "may not include io/format/format.h"),
    ("src/io/format/npy/npy.c", '#include "core/plan/plan.h"\n', "may not include core/plan/plan.h"),
    ("src/table/take.c", '#include "table/shuffle/shuffle_internal.h"\n', "may not include table/shuffle/shuffle_internal.h"),
    ("src/table/shuffle/shuffle.c", '#include "model/model.h"\n', "may not include model/model.h"),
    ("src/core/base/tensor.c", '#include "error.h"\n', "named without its folder"),
    ("src/core/op/apply.c", "#include <gather/gather.h>\n", "own headers are included with quotes"),
    ("include/gather/file.h", '#include "core/base/error.h"\n', "may not include core/base/error.h"),
    ("cli/main.c", '#include "core/base/error.h"\n', "may not include core/base/error.h"),
    ("python/src/py_module.c", '#include "core/base/error.h"\n', "may not include core/base/error.h"),
    ("python/src/py_module.c", '#include "cli/args.h"\n', "may not include cli/args.h"),
    ("python/src/py_module.c", 'void f(void) { puts("x"); }\n', "must not use puts"),
    ("plugin/jax/jax_call.c", '#include "core/base/error.h"\n', "may not include core/base/error.h"),
    ("plugin/openvino/ops.cpp", "#include <gather/gather.h>\n", "own headers are included with quotes"),
    ("mpi/mpi_take.c", '#include "core/base/error.h"\n', "may not include core/base/error.h"),
    ("src/core/op/ops.c", 'void f(void) { printf("x"); }\n', "must not use printf"),
    ("src/core/op/ops.c", 'void f(void) { fprintf(stderr, "x"); }\n', "must not use stderr"),
    ("src/core/plan/run.c", "void f(void) { exit(1); }\n", "must not use exit"),
    ("src/core/plan/run.c", "void f(void) { abort(); }\n", "must not use abort"),
    ("src/io/format/npy/npy.c", 'char *f(void) { return getenv("X"); }\n', "must not use getenv"),
]


def test_layers_find(copy: Path):
    """All faults in one copy: each is said, and no line without one."""
    wanted = {}
    for file, text, complaint in FAULTS:
        append(copy / file, text)
        wanted[f"{file}:{len((copy / file).read_text(encoding='utf-8').splitlines())}"] = complaint
    code, said = check(copy, "check-layers", "--sources")
    found = [line.split(": ", maxsplit=1) for line in said.splitlines()[:-1]]
    assert code == 1 and {place for place, _ in found} == wanted.keys(), said
    for place, complaint in wanted.items():
        assert any(complaint in text for where, text in found if where == place), (place, said)


def test_layers_do_not_mind(copy: Path):
    for text in ('/* printf("x"); exit(1) */\n', 'static const char *f = "exit(1)";\n', "int x(char *t) { return snprintf(t, 1, t); }\n"):
        append(copy / "src/core/op/ops.c", text)
    (copy / "src/core/op/x1.h").write_text("typedef struct opaque opaque;\n")
    (copy / "src/core/op/x2.c").write_text("/* struct opaque { of a comment } */\nstruct opaque {\n  int a;\n};\n")
    code, said = check(copy, "check-layers", "--sources")
    assert code == 0 and "0 faults" in said, said


def test_layers_refuse_an_unknown_folder(copy: Path):
    (copy / "src/misc").mkdir()
    (copy / "src/misc/x.c").write_text("int gather_x;\n")
    assert check(copy, "check-layers", "--sources")[0] == 1


TWICE = {
    "src/core/op/alloc.c": "int gather_x;\n",
    "cli/table.h": "int gather_x;\n",
    "src/core/op/x1.c": "typedef struct thing {\n  int a;\n} thing;\n",
    "cli/x2.c": "typedef int thing;\n",
    "src/core/op/x3.c": "enum other { A };\n",
    "src/core/op/x4.h": "struct other { int a; };\n",
    "src/core/op/x5.c": "typedef struct {\n  int a;\n} third;\n",
    "src/core/op/x6.h": "typedef int (*third)(int);\n",
}


def test_layers_find_names_that_occur_twice(copy: Path):
    for name, text in TWICE.items():
        (copy / name).write_text(text)
    code, said = check(copy, "check-layers", "--sources")
    assert code == 1, said
    for complaint in (
        "file name alloc.c occurs more than once: src/core/base/alloc.c src/core/op/alloc.c",
        "file name table.h occurs more than once: cli/table.h include/gather/table.h",
        "type thing occurs more than once: cli/x2.c src/core/op/x1.c",
        "type other occurs more than once: src/core/op/x3.c src/core/op/x4.h",
        "type third occurs more than once: src/core/op/x5.c src/core/op/x6.h",
    ):
        assert complaint in said, said


HEADER = """
#define GATHER_VERSION_MAJOR 0
#define GATHER_API __attribute__((visibility("default")))
/* GATHER_API void gather_in_a_comment(void); */
GATHER_API int gather_one(int x);
GATHER_API __attribute__((unused)) int
gather_two(int x);
"""
SOURCE = '#include "gather.h"\nint gather_one(int x) { return x; }\nint gather_two(int x) { return x; }\n'


VERSIONS = "LIBGATHER_0.2 {\n  global:\n    gather_one;\n    gather_two;\n  local:\n    *;\n};\n"
EVERY = "LIBGATHER_0.2 {\n  global:\n    gather_*;\n  local:\n    *;\n};\n"


def small_library(
    root: Path, gather_source: Path, source: str, soname: str = "libgather.so.0", module: str | None = None, linked: str = EVERY
) -> tuple[int, str]:
    """A library of two functions, with a module for Python where its source is given, and what check-symbols says of it."""
    shutil.copytree(gather_source / "script", root / "script")
    for folder in ("include/gather", "build/lib"):
        (root / folder).mkdir(parents=True)
    (root / "include/gather/gather.h").write_text(HEADER)
    (root / "x.c").write_text(source)
    (root / "src").mkdir()
    (root / "src/libgather.map").write_text(VERSIONS)
    (root / "linked.map").write_text(linked)
    flags = ["-fPIC", "-fvisibility=hidden", f"-I{root}/include/gather", "-Wno-implicit-function-declaration"]
    lib = root / "build/lib"
    subprocess.run([CC, *flags, "-c", "x.c", "-o", "x.o"], cwd=root, check=True)
    versions = ["-Wl,--version-script=linked.map"] if linked else []
    subprocess.run([CC, "-shared", f"-Wl,-soname,{soname}", *versions, "x.o", "-o", lib / "libgather.so"], cwd=root, check=True)
    subprocess.run(["ar", "rcs", lib / "libgather.a", "x.o"], cwd=root, check=True)
    if module is not None:
        (root / "build/python/libgather").mkdir(parents=True)
        (root / "m.c").write_text(module)
        output = root / "build/python/libgather/_core.abi3.so"
        subprocess.run([CC, *flags, "-shared", "m.c", "-o", output], cwd=root, check=True)
    return check(root, "check-symbols", root / "build")


def test_symbols_pass(gather_source: Path, tmp_path: Path):
    assert small_library(tmp_path, gather_source, SOURCE + "#include <stdlib.h>\nvoid gather_in(void) { free(0); }\n") == (
        0, "symbols: 2 promised, 2 exported, 3 global, 0 faults\n")


MODULE = """
#include <stdlib.h>
void *PyModule_Create2(void *definition, int version);
__attribute__((visibility("default"))) void *PyInit__core(void) { return PyModule_Create2(malloc(1), 3); }
"""


def test_symbols_pass_with_a_module(gather_source: Path, tmp_path: Path):
    code, said = small_library(tmp_path, gather_source, SOURCE, module=MODULE)
    assert code == 0 and said.endswith("2 global, 1 Python module, 0 faults\n"), said


@pytest.mark.parametrize(
    ("module", "complaint"),
    [
        (MODULE + SOURCE, "the Python module exports more than its beginning: gather_one gather_two"),
        (MODULE.replace("PyInit__core", "PyInit_core"), "the Python module lacks its beginning: PyInit__core"),
        (MODULE.replace("malloc", "png_init"), "the Python module needs what is not known: png_init"),
    ],
)
def test_symbols_find_in_a_module(gather_source: Path, tmp_path: Path, module: str, complaint: str):
    code, said = small_library(tmp_path, gather_source, SOURCE, module=module)
    assert code == 1 and complaint in said, said


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (SOURCE.replace("gather_two", "gather_three"), "declared, but not exported: gather_two"),
        (SOURCE + "GATHER_API int gather_more(void) { return 1; }\n", "not declared in a public header: gather_more"),
        (SOURCE + "int helper(void) { return 1; }\n", "global, but without gather_: helper"),
        (SOURCE + "int gather_in(void) { return png_init(); }\n", "neither libc nor a library that is known: png_init"),
    ],
)
def test_symbols_find(gather_source: Path, tmp_path: Path, source: str, complaint: str):
    code, said = small_library(tmp_path, gather_source, source)
    assert code == 1 and complaint in said, said


@pytest.mark.parametrize(
    ("linked", "complaint"),
    [
        ("", "exported without a version: gather_one gather_two"),
        (EVERY.replace("0.2", "0.3"), "but not as libgather.map says: gather_one@@LIBGATHER_0.3 gather_two@@LIBGATHER_0.3"),
        (EVERY.replace("0.2", "0.3"), "listed in libgather.map, but not exported: gather_one@@LIBGATHER_0.2 gather_two@@LIBGATHER_0.2"),
    ],
)
def test_symbols_find_a_wrong_version(gather_source: Path, tmp_path: Path, linked: str, complaint: str):
    code, said = small_library(tmp_path, gather_source, SOURCE, linked=linked)
    assert code == 1 and complaint in said, said


def test_symbols_find_a_wrong_soname(gather_source: Path, tmp_path: Path):
    code, said = small_library(tmp_path, gather_source, SOURCE, soname="libgather.so")
    assert code == 1 and "SONAME" in said, said


@pytest.mark.parametrize(
    "text", ["static inline void *gather_f(void *p) { return (char *)p + sizeof(size_tt); }\n", "int class;\n", "enum { A = 1, };;\n"]
)
def test_headers_find(copy: Path, text: str):
    append(copy / "include/gather/dlpack.h", text)
    code, said = check(copy, "check-headers")
    assert code == 1 and "0 failed" not in said, said


def test_headers_pass(copy: Path):
    assert check(copy, "check-headers")[0] == 0
