# SPDX-License-Identifier: MIT
"""The two files on other systems, word sizes and byte orders, and their sizes."""

import platform
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from shutil import which

from amalgamation_parts import NO_CODECS, ONLY, ROOT, read

WARNINGS = "-std=c11 -Wall -Wextra -Werror".split()


@dataclass(frozen=True)
class Target:
    """compiler and flags; runner: what runs its programs, or None: nothing here does; source: the pair's; libraries: that it needs."""

    name: str
    compiler: str
    flags: str = "-O1"
    runner: str | None = ""
    suffix: str = ""
    source: str = "gather.c"
    libraries: str = ""


def targets() -> list[Target]:
    zig = next(iter(sorted(ROOT.glob(".venv-zig/lib/python3*/site-packages/ziglang/zig"))), None)
    found = []
    for compiler in ("gcc", "clang"):
        for options in ("", f" -D{NO_CODECS}", f" -D{ONLY}", f" -D{ONLY} -DGATHER_SMALL=1 -DGATHER_NO_THREADS"):
            for level in ("-O0", "-O1", "-O2", "-O3", "-Os") if not options else ("-Os",):
                found.append(Target(f"{compiler} {level}{options}", compiler, f"{level}{options} -pthread"))
    windows_avx = "-DGATHER_ISA_AVX2=1 -Wa,-muse-unaligned-vector-move"
    found += [
        Target("32 bits", "gcc", "-m32 -O1 -pthread"),
        Target("Windows", "x86_64-w64-mingw32-gcc", "-O1", str(ROOT / "script/wine"), ".exe"),
        Target("Windows, with AVX", "x86_64-w64-mingw32-gcc", f"-O1 {windows_avx}", str(ROOT / "script/wine"), ".exe"),
        Target("s390x, big-endian", "s390x-linux-gnu-gcc", "-O1 -static -pthread", "qemu-s390x"),
        Target("64-bit ARM", "aarch64-linux-gnu-gcc", "-O1 -static -pthread", "qemu-aarch64"),
        Target("32-bit ARM", "arm-linux-gnueabihf-gcc", "-O1 -static -pthread", "qemu-arm"),
        Target("WebAssembly", "emcc", "-O1", "node --no-experimental-fetch", ".js"),
    ]
    cross = {"x86-linux-musl": "", "x86_64-linux-musl": "", "aarch64-macos": None, "x86_64-freebsd": None, "aarch64-windows-gnu": None}
    for name, runner in cross.items():
        flags = "-O1 -mevex512" if name.startswith("x86_64") else "-O1"  # ziglang's clang has AVX-512 of 512 bits only then
        found.append(Target(f"zig {name}", f"{zig} cc -target {name}" if zig else "zig", flags, runner))
    return found + with_tables(found)


def with_tables(found: list[Target]) -> list[Target]:
    """The same with gather_table.c, which needs threads and a file system. gcc and clang on this system: with io_uring, too."""
    tables = [replace(t, name=f"tables, {t.name}", source="gather_table.c") for t in found if "-D" not in t.flags and t.compiler != "emcc"]
    tables = [replace(t, libraries="-lntdll") if "indows" in t.name else t for t in tables]
    for compiler in ("gcc", "clang"):
        flags = "-O1 -pthread -DGATHER_HAVE_LIBURING"
        tables.append(Target(f"tables, {compiler}, io_uring", compiler, flags, source="gather_table.c", libraries="-luring"))
    return tables


def example(source: str) -> tuple[str, str]:
    """The smallest program of docs/embed/two-files.md, or that with tables, and what it prints."""
    found = re.findall(r"```c\n(.*?)```\n\n```text\n(.*?)```", read(ROOT / "docs/embed/two-files.md"), re.DOTALL)
    return next(one for one in found if f'#include "{source[:-1]}h"' in one[0])


def try_target(target: Target, pair: Path, folder: Path) -> str | None:
    """What went wrong or was not tried; None: all is well. What begins with "skipped" is no fault."""
    words = shlex.split(target.compiler)
    program = folder / f"program{target.suffix}"
    if not which(words[0]):
        return f"skipped: no {words[0]}"
    if "-m32" in target.flags:
        command = [*words, *shlex.split(target.flags), "-x", "c", "-", "-o", str(program)]
        probe = subprocess.run(command, input="#include <stdio.h>\nint main(void) { return 0; }", capture_output=True, text=True)
        if probe.returncode != 0:
            return "skipped: the compiler has no libraries of 32 bits"
    command = [*words, *WARNINGS, *shlex.split(target.flags), f"-I{pair}", str(folder / "program.c"), str(pair / target.source)]
    command += [*shlex.split(target.libraries), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        return f"{shlex.join(command)}\n{built.stderr}"
    if target.runner is None:
        return "skipped: compiled, not run"
    runner = shlex.split(target.runner)
    if runner and not which(runner[0]):
        return f"skipped: compiled, not run: no {runner[0]}"
    ran = subprocess.run([*runner, str(program)], capture_output=True, text=True, timeout=300, cwd=folder)
    expected = example(target.source)[1]
    if (ran.returncode, ran.stdout.replace("\r", "")) != (0, expected):
        return f"it prints {ran.stdout!r} instead of {expected!r}\n{ran.stderr}"
    return None


def check(pair: Path, word: str) -> int:
    """The targets with a word in their names; "" = all."""
    faults = 0
    for target in [t for t in targets() if word in t.name]:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "program.c").write_text(example(target.source)[0])
            said = try_target(target, pair, Path(name))
        faults += said is not None and not said.startswith("skipped")
        print(f"amalgamate: {target.name}: {said or 'compiled without a warning, and runs'}", flush=True)
    return 1 if faults else 0


SIZES = {
    "all": "",
    "`GATHER_NO_CODECS`": f"-D{NO_CODECS}",
    "`GATHER_ONLY_GATHER`": f"-D{ONLY}",
    "`GATHER_ONLY_GATHER`, `GATHER_NO_THREADS`": f"-D{ONLY} -DGATHER_NO_THREADS",
    "the same, `GATHER_ISA_AVX2=0`": f"-D{ONLY} -DGATHER_NO_THREADS -DGATHER_ISA_AVX2=0",
    "`gather_table.c`": "",
}


def text_bytes(compiler: str, flags: str, source: Path) -> int:
    with tempfile.TemporaryDirectory() as name:
        made = f"{name}/gather.o"
        subprocess.run([compiler, "-std=c11", *shlex.split(flags), "-c", str(source), "-o", made], check=True)
        return int(subprocess.run(["size", made], check=True, capture_output=True, text=True).stdout.splitlines()[1].split()[0])


def sizes(pair: Path) -> None:
    version = subprocess.run(["gcc", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    machine = f"{platform.machine()}, gcc {version}, {date.today()}"
    print(f"Bytes of code and constants (`size`, text) on {machine}, by `script/amalgamate --sizes`:\n")
    print("| options | `-O2` | `-Os` |\n| --- | --- | --- |")
    for name, flags in SIZES.items():
        source = pair / ("gather_table.c" if "table" in name else "gather.c")
        row = [text_bytes("gcc", f"{level} {flags}", source) for level in ("-O2", "-Os")]
        print(f"| {name} | " + " | ".join(f"{n:,}" for n in row) + " |", flush=True)
