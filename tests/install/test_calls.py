# SPDX-License-Identifier: MIT
"""script/check-layers finds calls upwards and circles of files: it is run on small trees of object files, with one fault in each."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from checks import CC, check

EXPORTING = """
#define GATHER_API __attribute__((visibility("default")))
GATHER_API int gather_high(void);
"""
LOW, HIGH, MAIN = "src/core/base/low.c", "src/core/op/high.c", "cli/main.c"
GOOD = {
    LOW: "int gather_low(void) { return 1; }\nint gather_low_table[1] = {1};\n",
    HIGH: "int gather_low(void);\nint gather_high(void) { return gather_low(); }\nint gather_high_table[1] = {1};\n",
    MAIN: "int gather_high(void);\nint gather_cli_exit[1];\nint main(void) { return gather_high(); }\n",
}
TO_AND_FRO = {
    "src/core/op/to.c": "int gather_fro(int x);\nint gather_to(int x);\nint gather_to(int x) { return gather_fro(x - 1); }\n",
    "src/core/op/fro.c": "int gather_fro(int x);\nint gather_to(int x);\nint gather_fro(int x) { return x ? gather_to(x) : 0; }\n",
}
TO_AND_FRO_MPI = {name.replace("src/core/op", "mpi"): text for name, text in TO_AND_FRO.items()}
BOTH = {**GOOD, **TO_AND_FRO}
PLACES = {"src": "src/core/CMakeFiles/gather_core_objects.dir", "mpi": "mpi/CMakeFiles/gather_mpi_objects.dir", "cli": "cli/CMakeFiles/gather_cli_objects.dir"}


def small_build(root: Path, gather_source: Path, files: dict[str, str], listed: str = "") -> tuple[int, str]:
    """A tree of few files, compiled to where CMake puts objects, and what check-layers says of it."""
    shutil.copytree(gather_source / "script", root / "script")
    documents = {"include/gather/gather.h": EXPORTING, "docs/extend/design.md": f"### Circles of files\n\n{listed}\n"}
    for name, text in {**documents, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in files:
        top, rest = name.split("/", maxsplit=1)
        target = root / "build" / PLACES[top] / f"{rest.removeprefix('core/')}.o"
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([CC, "-c", root / name, "-o", target], check=True)
    return check(root, "check-layers", root / "build")


def test_calls_downwards_pass(gather_source: Path, tmp_path: Path):
    assert small_build(tmp_path, gather_source, GOOD) == (0, "layers: 4 files, 3 objects, 0 faults\n")


CALL = "int {0}(void);\nint {1}(void) {{ return {0}(); }}\n"
USE = "extern int {0}[1];\nint {1}(void) {{ return {0}[0]; }}\n"


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        (LOW, CALL.format("gather_high", "gather_low"), f"{LOW} (core/base) calls gather_high of {HIGH} (core/op)"),
        (LOW, USE.format("gather_high_table", "gather_low"), f"{LOW} (core/base) calls gather_high_table of {HIGH} (core/op)"),
        (LOW, USE.format("gather_cli_exit", "gather_low"), f"{LOW} (core/base) calls gather_cli_exit of {MAIN} (cli)"),
        (MAIN, CALL.format("gather_low", "main"), f"{MAIN} (cli) calls gather_low of {LOW} (core/base), which the library does not export"),
        (MAIN, "int gather_low(void) { return 1; }\n", f"{MAIN} and {LOW} both define gather_low"),
    ],
)
def test_calls_upwards_are_found(gather_source: Path, tmp_path: Path, file: str, text: str, complaint: str):
    code, said = small_build(tmp_path, gather_source, {**GOOD, file: text})
    assert code == 1 and complaint in said, said


ROW = "| `src/core/op/to.c`, `src/core/op/fro.c` | {} |"


@pytest.mark.parametrize(
    ("files", "listed", "complaint"),
    [
        (BOTH, "", "  src/core/op/fro.c calls gather_to of src/core/op/to.c"),
        ({**GOOD, **TO_AND_FRO_MPI}, "", "  mpi/fro.c calls gather_to of mpi/to.c"),
        (BOTH, ROW.format(""), "circle of files that docs/extend/design.md does not list"),
        (BOTH, "# Other\n" + ROW.format("recursion"), "circle of files that docs/extend/design.md does not list"),
        (GOOD, "| `src/core/op/high.c`, `src/core/base/low.c` | none |", "lists a circle that is none: src/core/base/low.c src/core/op/high.c"),
        (GOOD, ROW.format("both files are gone"), "lists a circle that is none: src/core/op/fro.c src/core/op/to.c"),
    ],
)
def test_circles_are_found(gather_source: Path, tmp_path: Path, files: dict[str, str], listed: str, complaint: str):
    code, said = small_build(tmp_path, gather_source, files, listed)
    assert code == 1 and complaint in said, said


def test_a_listed_circle_passes(gather_source: Path, tmp_path: Path):
    code, said = small_build(tmp_path, gather_source, BOTH, ROW.format("recursion"))
    assert code == 0, said


def test_layers_that_may_call_each_other_are_a_fault(gather_source: Path, tmp_path: Path):
    small_build(tmp_path, gather_source, GOOD)
    script = tmp_path / "script/check-layers"
    script.write_text(script.read_text().replace('"core/base": ["core/system"],', '"core/base": ["core/op"],'))
    code, said = check(tmp_path, "check-layers", tmp_path / "build")
    assert code == 1 and "layers that may call each other: core/base core/kernel core/op core/plan core/thread" in said, said


@pytest.mark.parametrize("top", ["src", "cli"])
def test_no_objects_is_a_fault(gather_source: Path, tmp_path: Path, top: str):
    small_build(tmp_path, gather_source, GOOD)
    for file in (tmp_path / "build" / PLACES[top]).rglob("*.o"):
        file.unlink()
    code, said = check(tmp_path, "check-layers", tmp_path / "build")
    assert code == 1 and f"no object files of {top}" in said, said


def test_an_object_of_a_file_that_is_gone_does_not_count(gather_source: Path, tmp_path: Path):
    bad = "int gather_high(void);\nint gather_old(void) { return gather_high(); }\n"
    assert small_build(tmp_path, gather_source, {**GOOD, "src/core/base/old.c": bad})[0] == 1
    (tmp_path / "src/core/base/old.c").unlink()
    assert check(tmp_path, "check-layers", tmp_path / "build")[0] == 0


def test_a_source_that_changed_since_the_build_is_a_fault(gather_source: Path, tmp_path: Path):
    small_build(tmp_path, gather_source, GOOD)
    object_file = tmp_path / "build" / PLACES["src"] / "base/low.c.o"
    os.utime(object_file, (0, 0))
    code, said = check(tmp_path, "check-layers", tmp_path / "build")
    assert code == 1 and f"{LOW} is newer than its object file" in said, said
