# SPDX-License-Identifier: MIT
"""The hardening check finds what it is for; the bill of materials says what is there. script/check-release has what takes longer."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checks import CC, check

# ---- hardening: a build with a library in it that has one fault


@pytest.fixture
def small_build(tmp_path: Path) -> Path:
    """What script/check-hardening looks at: a library and an object file, both as they should be."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Release\n")
    (tmp_path / "a.c").write_text("char *gather_f(int n) { static char a[99]; char b[99]; for (int i = 0; i < n; i++) a[i] = b[i] = (char)i; return a; }\n")
    subprocess.run([CC, "-O0", "-fPIC", *PROTECTED, "-c", tmp_path / "a.c", "-o", tmp_path / "src/a.c.o"], check=True)
    link(tmp_path)
    return tmp_path


# What glibc's headers make of strcpy() into an array of known size.
CHECKED = "char *__strcpy_chk(char *, const char *, unsigned long); char gather_to[9];\nchar *gather_extra(const char *s) { return __strcpy_chk(gather_to, s, 9); }\n"
PROTECTED = ["-fstack-protector-strong"] + (["-fcf-protection=full"] if os.uname().machine == "x86_64" else [])


def link(build: Path, *flags: str, source: str = "") -> None:
    extra = build / "extra.c"
    extra.write_text(source or CHECKED)
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
        (["-Wl,-z,notext"], CHECKED + '__asm__(".quad gather_extra");\n', "relocations in code"),
        ([], "int gather_extra;\n", "no checked library calls"),
        (["-ftls-model=initial-exec"], "__thread int x; int *gather_x(void) { return &x; }\n", "static thread-local storage"),
    ],
)
def test_hardening_finds(gather_source: Path, small_build: Path, flags: list[str], source: str, fault: str):
    link(small_build, *flags, source=source)
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 1 and fault in said, said


def test_hardening_finds_a_command_at_a_fixed_address(gather_source: Path, small_build: Path):
    (small_build / "main.c").write_text("int main(void) { return 0; }\n")
    hard = ["-Wl,-z,relro,-z,now,-z,noexecstack", small_build / "main.c", "-o", small_build / "bin/gather"]
    subprocess.run([CC, "-fPIE", "-pie", *hard], check=True)
    assert check(gather_source, "check-hardening", small_build)[0] == 0
    subprocess.run([CC, "-fno-pie", "-no-pie", *hard], check=True)
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 1 and "bin/gather: a fixed address" in said, said


def test_hardening_finds_that_no_function_is_protected(gather_source: Path, small_build: Path):
    subprocess.run([CC, *PROTECTED, "-fno-stack-protector", "-fPIC", "-c", small_build / "a.c", "-o", small_build / "src/a.c.o"], check=True)
    link(small_build)
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 1 and "no stack protectors" in said, said


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="control-flow protection of x86-64")
def test_hardening_finds_an_object_without_protection(gather_source: Path, small_build: Path):
    subprocess.run([CC, "-fcf-protection=none", "-c", small_build / "a.c", "-o", small_build / "src/b.c.o"], check=True)
    code, said = check(gather_source, "check-hardening", small_build)
    assert code == 1 and "b.c.o: no control-flow protection" in said, said


# ---- versions of symbols


def test_every_function_is_in_the_map(gather_source: Path):
    """script/check-symbols compares with the built library; this one needs none."""
    versions = re.split(r"^LIBGATHER_", (gather_source / "src/libgather.map").read_text(), flags=re.M)[1:]
    listed = [re.findall(r"^    (gather_\w+);$", version, re.M) for version in versions]
    names = [name for version in listed for name in version]
    assert all(version == sorted(version) for version in listed) and len(names) == len(set(names)) and "gather_apply" in listed[0]


# ---- Debian's packages; script/debian-package builds them


def test_symbols_file_has_every_function(gather_source: Path):
    """Each with the version of the library that introduced it: the number of its version in the map."""
    done = subprocess.run([gather_source / "packaging/debian/write-symbols", gather_source / "src/libgather.map"], capture_output=True, text=True, check=True)
    told = set(re.findall(r"^ (gather_\w+)@LIBGATHER_([0-9.]+) \2\.0$", done.stdout, re.M))
    assert {name for name, _ in told} == set(re.findall(r"^    (gather_\w+);$", (gather_source / "src/libgather.map").read_text(), re.M))
    assert done.stdout.startswith("libgather.so.0 libgather0 #MINVER#\n") and " LIBGATHER_0.2@LIBGATHER_0.2 0.2.0\n" in done.stdout


def test_names_that_collide_are_found(gather_source: Path, tmp_path: Path):
    others = ["usr/bin/gather", "usr/games/gather", "usr/share/man/man1/gather-take.1.gz", "usr/lib/x86_64-linux-gnu/libgather.so.0",
              "usr/include/gather/file.h", "usr/lib/python3/dist-packages/libgather/__init__.py", "usr/share/pkgconfig/gather.pc"]  # fmt: skip
    near = ["usr/bin/gather_stx_titles", "usr/include/thrust/gather.h", "usr/share/man/man1/gatherstats.pl.1.gz", "usr/lib/libgathering.so"]
    files = tmp_path / "files"
    files.write_text("".join(f"{name:60} utils/other\n" for name in near) + "usr/bin/gather  science/gather-tools\n")
    assert check(gather_source, "check-names", "--list", files) == (0, "")
    files.write_text("".join(f"{name:60} utils/other\n" for name in [*others, *near]))
    code, said = check(gather_source, "check-names", "--list", files)
    assert (code, [line.split()[0] for line in said.splitlines()]) == (1, others)


# ---- the date of the sources, and the bill of materials


def test_the_date_of_the_sources_without_git(gather_source: Path, tmp_path: Path):
    """In an unpacked archive there is no git to ask, or one that knows another project: the changelog has the date."""
    copy = tmp_path / "libgather"
    (copy / "packaging/debian").mkdir(parents=True)
    (copy / "script").mkdir()
    shutil.copy(gather_source / "script/source-date", copy / "script")
    shutil.copy(gather_source / "packaging/debian/changelog", copy / "packaging/debian")
    shown = re.search(r"^ -- .*>  (.*)$", (copy / "packaging/debian/changelog").read_text(), re.M).group(1)
    expected = subprocess.run(["date", "-d", shown, "+%s"], capture_output=True, text=True, check=True).stdout
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    without_git = environment | {"PATH": str(tmp_path / "bin")}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    for given, date in ((environment, expected), (without_git, expected), (environment | {"SOURCE_DATE_EPOCH": "12"}, "12\n")):
        done = subprocess.run([sys.executable, copy / "script/source-date"], env=given, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, date), done.stderr
    (copy / ".git").mkdir()  # a repository that git cannot read
    done = subprocess.run([sys.executable, copy / "script/source-date"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_bill_of_materials(gather_source: Path, gather_build: Path, tmp_path: Path):
    code, said = check(gather_source, "make-sbom", gather_build, tmp_path / "one.json")
    assert code == 0, said
    check(gather_source, "make-sbom", gather_build, tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    bill = json.loads((tmp_path / "one.json").read_text())
    assert bill["spdxVersion"] == "SPDX-2.3"
    names = {entry["name"] for entry in bill["packages"]}
    assert {"gather", "nanopb", "expat", "jansson"} <= names
    loads = {"SPDXRef-package-libdeflate", "SPDXRef-package-libzstd", "SPDXRef-package-liblz4", "SPDXRef-package-zlib"}
    assert loads <= {row["spdxElementId"] for row in bill["relationships"] if row["relationshipType"] == "OPTIONAL_DEPENDENCY_OF"}
    library = next(entry for entry in bill["files"] if entry["fileName"] == "./lib/libgather.so")
    sums = {entry["algorithm"]: entry["checksumValue"] for entry in library["checksums"]}
    assert sums["SHA256"] == hashlib.sha256((gather_build / "lib/libgather.so").read_bytes()).hexdigest()


def test_bill_of_materials_of_a_build_that_links_the_decompressors(gather_source: Path, gather_build: Path, tmp_path: Path):
    """As wheels do. zlib is not in it."""
    cache = (gather_build / "CMakeCache.txt").read_text()
    (tmp_path / "lib").mkdir()
    shutil.copy(gather_build / "lib/libgather.so", tmp_path / "lib")
    (tmp_path / "CMakeCache.txt").write_text(re.sub(r"(GATHER_FILTER_LIBRARIES:STRING)=\w+", r"\1=link", cache))
    code, said = check(gather_source, "make-sbom", tmp_path, tmp_path / "bill.json")
    assert code == 0, said
    bill = json.loads((tmp_path / "bill.json").read_text())
    licences = {entry["name"]: entry["licenseConcluded"] for entry in bill["packages"]}
    wanted = {"libdeflate": "MIT", "libzstd": "BSD-3-Clause", "liblz4": "BSD-2-Clause"}
    assert {name: licences.get(name) for name in wanted} == wanted and "zlib" not in licences
    linked = {row["relatedSpdxElement"] for row in bill["relationships"] if row["relationshipType"] == "STATIC_LINK"}
    assert {f"SPDXRef-package-{name}" for name in wanted} <= linked
