# SPDX-License-Identifier: MIT
"""The choices of the core: GATHER_ISA, GATHER_CODECS, GATHER_THREADS: what is compiled, exported, installed and looked for."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stranger import CMAKE, run
from support.skip import skip_test

CC = os.environ.get("GATHER_CC", "cc")
X86 = platform.machine() in ("x86_64", "AMD64")
CORE = "-DGATHER_COMPONENTS=core"


def configure(source: Path, build: Path, *options: str, code: int = 0) -> str:
    words = [CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", "-DCMAKE_BUILD_TYPE=Debug", *options]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


def sources(build: Path) -> set[str]:
    """The files of src/core that this build compiles."""
    targets = run("ninja", "-C", build, "-t", "targets", "all")
    return set(re.findall(r"gather_core_objects\.dir/(\S+\.c)\.o:", targets))


def names(files: set[str], room: str) -> set[str]:
    return {Path(f).stem for f in files if f.startswith(f"{room}/")}


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ([CORE, "-DGATHER_ISA=portable;avx3"], "there is no instruction set avx3; known are: portable;avx2;avx512;avx512vbmi;neon;sve"),
        ([CORE, f"-DGATHER_ISA={'neon' if X86 else 'avx2'}"], f"this target cannot have {'neon' if X86 else 'avx2'}, but these: portable"),
        (["-DGATHER_CODECS=OFF"], "GATHER_CODECS=OFF needs GATHER_COMPONENTS=core"),
        (["-DGATHER_THREADS=OFF"], "GATHER_THREADS=OFF needs GATHER_COMPONENTS=core"),
    ],
)
def test_what_cannot_be(gather_source: Path, tmp_path: Path, option: list[str], says: str):
    said = configure(gather_source, tmp_path / "b", "-DGATHER_TESTS=OFF", *option, code=1)
    assert says in said, said


def test_instruction_sets(gather_source: Path, tmp_path: Path):
    """In the whole library too: the files of the others are not compiled."""
    if not X86:
        skip_test("x86", "the sets that are asked for are those of x86-64")
    configure(gather_source, tmp_path / "b", "-DGATHER_TESTS=OFF", "-DGATHER_PLUGINS=OFF", "-DGATHER_MPI=OFF", "-DGATHER_ISA=avx2")
    kernels = names(sources(tmp_path / "b"), "kernel")
    assert {k for k in kernels if re.match("isa_|decode_", k)} == {"isa_portable", "isa_avx2", "decode_avx2"}


@pytest.fixture(scope="module")
def least(gather_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core with nothing that can be left out, tested, and installed."""
    folder = tmp_path_factory.mktemp("least")
    off = ["-DGATHER_ISA=portable", "-DGATHER_CODECS=OFF", "-DGATHER_THREADS=OFF"]
    said = configure(gather_source, folder / "b", CORE, "-DGATHER_TESTS=ON", "-DGATHER_WERROR=ON", *off, "--trace-expand",
                     "--trace-format=json-v1", f"--trace-redirect={folder / 'trace'}")
    assert "not in this build: test_unit_pool, which needs threads (GATHER_THREADS=OFF)" in said
    assert "not in this build: test_codec_decode, which needs quantised rows (GATHER_CODECS=OFF)" in said
    tests = ["test_rules_cases", "test_safety_alloc", "test_unit_machine", "test_unit_plan"]
    run(CMAKE, "--build", folder / "b", "--target", "gather_core_shared", "gather_core_static", *tests)
    ran = run("ctest", "--test-dir", folder / "b", "--no-tests=error", "-R", f"^({'|'.join(tests)})$")
    assert f"100% tests passed, 0 tests failed out of {len(tests)}" in ran
    run(CMAKE, "--install", folder / "b", "--prefix", folder / "p")
    return folder


def test_nothing_is_looked_for(least: Path, gather_source: Path):
    trace = (least / "trace").read_text(encoding="utf-8")
    looked = re.findall(rf'"cmd":"(?:find_\w+|pkg_\w+)"[^}}]*"file":"{re.escape(str(gather_source))}[^}}]*', trace)
    looked += re.findall(rf'"file":"{re.escape(str(gather_source))}/[^}}]*"cmd":"(?:find_\w+|pkg_\w+)"', trace)
    assert '"cmd":"project"' in trace and not looked
    assert "CMAKE_HAVE_LIBC_PTHREAD" not in (least / "b/CMakeCache.txt").read_text(encoding="utf-8")


def test_what_is_compiled(least: Path):
    files = sources(least / "b")
    assert 20 < len(files) < 60 and not names(files, "codec")
    assert {n for n in names(files, "kernel") if re.match("isa_|decode_", n)} == {"isa_portable"}
    assert "condition" not in names(files, "system")


def symbols(*words: object) -> set[str]:
    return {line.split()[-1].split("@")[0] for line in run("nm", *words).splitlines() if line.split()}


def test_what_is_in_it(least: Path, gather_source: Path):
    library = next((least / "p").rglob("libgather-core.so"))
    exported, called = symbols("-D", "--defined-only", library), symbols("-D", "--undefined-only", library)
    header = (gather_source / "include/gather/codec.h").read_text(encoding="utf-8")
    of_codecs = set(re.findall(r"GATHER_API[^;{]*?\b(gather_\w+)\(", header))
    assert len(of_codecs) > 5 and not exported & of_codecs
    assert {"gather_take", "gather_tree", "gather_tensor_to_dlpack", "gather_pool_create"} <= exported
    assert not {name for name in called if re.match("pthread|sem_|thrd_", name)}
    inside = symbols(library) | symbols(next((least / "p").rglob("libgather-core.a")))
    assert not {name for name in inside if re.search("gather_decod|decode_|codec|avx|neon|pthread", name)}


def test_what_is_installed(least: Path, examples: Path, tmp_path: Path):
    """No header of quantised rows, nothing about threads; a program finds the library, and no threads are looked for."""
    tree = least / "p"
    assert {path.name for path in (tree / "include/gather").iterdir()} == {
        "gather.h", "dlpack.h", "scatter.h", "tree.h", "family.def", "status.def", "type.def"}
    assert "pthread" not in next(tree.rglob("gather-core.pc")).read_text(encoding="utf-8")
    shutil.copytree(examples / "cmake", tmp_path / "cmake")
    said = configure(tmp_path / "cmake", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={tree}", "-DGATHER_TARGET=gather::core_static")
    assert "Threads" not in said
    run(CMAKE, "--build", tmp_path / "b")
    assert run(tmp_path / "b/plan") == (examples / "cmake/expected.txt").read_text(encoding="utf-8")


def test_what_the_machine_is_said_to_be(least: Path, tmp_path: Path):
    (tmp_path / "say.c").write_text(
        "#include <gather/gather.h>\n#include <stdio.h>\nint main(void) {\n  gather_pool *pool;\n"
        "  gather_machine machine = GATHER_MACHINE_INIT;\n  gather_machine_describe(&machine);\n"
        "  if (gather_pool_create(4, &pool, NULL) != GATHER_OK) return 1;\n"
        '  printf("%s %s %d\\n", machine.isa, machine.pool, (int)gather_pool_executor(pool)->threads);\n'
        "  gather_pool_destroy(pool);\n  return 0;\n}\n"
    )
    archive = next((least / "p").rglob("libgather-core.a"))
    run(CC, f"-I{least / 'p/include'}", tmp_path / "say.c", archive, "-o", tmp_path / "say")
    assert run(tmp_path / "say") == "portable none 1\n"
