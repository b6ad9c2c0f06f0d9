# SPDX-License-Identifier: MIT
"""The hardening check finds what it is for; the bill of materials says what is there. script/check-release has what takes longer."""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from checks import CC, check

# ---- hardening: a build with a library in it that has one fault


@pytest.fixture
def small_build(tmp_path: Path) -> Path:
    """What script/check-hardening looks at: a library and an object file, both as they should be."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "a.c").write_text("char *gather_f(int n) { static char a[99]; char b[99]; for (int i = 0; i < n; i++) a[i] = b[i] = (char)i; return a; }\n")
    subprocess.run([CC, "-O0", "-fPIC", *PROTECTED, "-c", tmp_path / "a.c", "-o", tmp_path / "src/a.c.o"], check=True)
    link(tmp_path)
    return tmp_path


PROTECTED = ["-fstack-protector-strong"] + (["-fcf-protection=full"] if os.uname().machine == "x86_64" else [])


def link(build: Path, *flags: str, source: str = "") -> None:
    extra = build / "extra.c"
    extra.write_text(source or "int gather_extra;\n")
    hard = ["-Wl,-z,relro,-z,now,-z,noexecstack", *PROTECTED]
    subprocess.run([CC, "-shared", "-fPIC", *hard, *flags, build / "src/a.c.o", extra, "-o", build / "lib/libgather.so"], check=True)


def test_hardening_passes(gather_source: Path, small_build: Path):
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 0 and "1 files, 1 objects, 0 faults" in said, said


@pytest.mark.parametrize(
    ("flags", "source", "fault"),
    [
        (["-Wl,-z,execstack"], "", "an executable stack"),
        (["-Wl,-z,norelro"], "", "relocations that stay writable"),
        (["-Wl,-z,lazy"], "", "lazy binding"),
        (["-ftls-model=initial-exec"], "__thread int x; int *gather_x(void) { return &x; }\n", "static thread-local storage"),
    ],
)
def test_hardening_finds(gather_source: Path, small_build: Path, flags: list[str], source: str, fault: str):
    link(small_build, *flags, source=source)
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 1 and fault in said, said


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="control-flow protection of x86-64")
def test_hardening_finds_an_object_without_protection(gather_source: Path, small_build: Path):
    subprocess.run([CC, "-fcf-protection=none", "-c", small_build / "a.c", "-o", small_build / "src/b.c.o"], check=True)
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 1 and "b.c.o: no control-flow protection" in said, said


# ---- versions of symbols


def test_every_function_is_in_the_map(gather_source: Path):
    """script/check-symbols compares with the built library; this one needs none."""
    listed = re.findall(r"^    (gather_\w+);$", (gather_source / "src/libgather.map").read_text(), re.M)
    assert listed == sorted(set(listed)) and "gather_apply" in listed


# ---- the bill of materials


def test_bill_of_materials(gather_source: Path, gather_build: Path, tmp_path: Path):
    code, said = check(gather_source, "make-sbom", gather_build, tmp_path / "one.json")
    assert code == 0, said
    check(gather_source, "make-sbom", gather_build, tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    bill = json.loads((tmp_path / "one.json").read_text())
    assert bill["spdxVersion"] == "SPDX-2.3"
    names = {entry["name"] for entry in bill["packages"]}
    assert {"gather", "nanopb", "expat", "jansson"} <= names
    library = next(entry for entry in bill["files"] if entry["fileName"] == "./lib/libgather.so")
    sums = {entry["algorithm"]: entry["checksumValue"] for entry in library["checksums"]}
    assert sums["SHA256"] == hashlib.sha256((gather_build / "lib/libgather.so").read_bytes()).hexdigest()
