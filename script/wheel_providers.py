# SPDX-License-Identifier: MIT
"""wheel_providers.py [--def PLATFORM [--python FILE]]: which symbols a platform provides; for script/audit_wheel.py and script/wheels-cross.

The sources are independent of the compiler where there are any: the C libraries of Debian's packages for Linux, whose symbols have the
version in which they appeared; what the cross compiler says of the systems whose libraries are not here: the text stub of macOS'
libSystem, and the export lists of Windows' DLLs. --def prints the exports of Python's DLL, of which an import library is made.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import lief

ROOT = Path(__file__).resolve().parent.parent
OLDEST_GLIBC = (2, 28)
OLDEST_MUSL = (1, 2, 0)
# Functions of musl 1.2.x that its first release lacks: the tag musllinux_1_2 stands for that one.
NEW_IN_MUSL = {"_Fork", "gettid", "reallocarray", "qsort_r", "preadv2", "pwritev2", "statx"}
GLIBC_FILES = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"]
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}


@dataclass
class Provider:
    symbols: dict[str, set[str]]  # with their versions; an empty set: any
    libraries: set[str]
    of_library: dict[str, set[str]] = field(default_factory=dict)  # symbols of each library, where a file names the library

    def has_library(self, name: str) -> bool:
        return name in self.libraries or name.lower() in self.libraries

    def provides(self, symbol: str, version: str, library: str) -> bool:
        if library and not self.has_library(library):
            return False
        if library in self.of_library:
            return symbol in self.of_library[library]
        return symbol in self.symbols and (not version or version in self.symbols[symbol])

    @staticmethod
    def order(version: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", version)]


def exported(path: Path) -> list[tuple[str, str]]:
    """Rows of symbol and version. The file stays open while its symbols are read."""
    binary = lief.parse(str(path))
    rows = []
    for symbol in binary.exported_symbols:
        version = symbol.symbol_version
        rows.append((symbol.name, version.symbol_version_auxiliary.name if version and version.has_auxiliary_version else ""))
    return rows


def of_platform(platform: str) -> Provider:
    system, _, processor = platform.partition("_")
    return {"manylinux": glibc, "musllinux": musl, "macosx": macos, "win": windows}[system](processor)


# ---- Linux


def glibc(processor: str) -> Provider:
    folders = [Path(f"/lib/{processor}-linux-gnu"), Path(f"/usr/{processor}-linux-gnu/lib")]
    names = [*GLIBC_FILES, LOADERS[processor]]
    symbols: dict[str, set[str]] = {}
    for name in names:
        path = next((folder / name for folder in folders if (folder / name).exists()), None)
        if path is None:
            sys.exit(f"wheel_providers: {name} for {processor} is missing: script/bootstrap wheels-cross")
        for symbol, version in exported(path):
            if re.fullmatch(r"GLIBC_[\d.]+", version) and old(version):
                symbols.setdefault(symbol, set()).add(version)
    return Provider(symbols, set(names))


def old(version: str) -> bool:
    return tuple(Provider.order(version)[:2]) <= OLDEST_GLIBC


def musl(processor: str) -> Provider:
    path = next(iter(ROOT.glob(f"build/wheels/musl-{processor}/lib/ld-musl-{processor}.so.1")), None)
    path = path or next(iter(ROOT.glob(f"build/wheels/musl-{processor}/**/libc.so")), None)
    if path is None:
        sys.exit(f"wheel_providers: build/wheels/musl-{processor} is missing: script/wheels-cross fetches it")
    names = {symbol for symbol, _ in exported(path)} - NEW_IN_MUSL
    return Provider({name: set() for name in names}, {"libc.so", f"libc.musl-{processor}.so.1", f"ld-musl-{processor}.so.1"})


# ---- what the cross compiler says


def zig_library() -> Path:
    found = next(iter(ROOT.glob(".venv-zig/lib/python3*/site-packages/ziglang/lib")), None)
    return found or sys.exit("wheel_providers: the cross compiler is missing: script/bootstrap platforms")


def macos(processor: str) -> Provider:
    text = (zig_library() / "libc/darwin/libSystem.tbd").read_text()
    names = {name.removeprefix("_") for name in re.findall(r"[_A-Za-z$][\w$.]*", text)}
    library = "/usr/lib/libSystem.B.dylib"
    return Provider({name: set() for name in names}, {library})


def windows(processor: str) -> Provider:
    of_library = {}
    for path in (zig_library() / "libc/mingw").glob("lib*/*.def*"):
        if path.parent.name not in ("lib-common", "lib64"):
            continue
        names = set(re.findall(r"^\s*(?:F_\w+\()?([A-Za-z_?@][\w@?$]*)", path.read_text(errors="replace"), re.M))
        of_library.setdefault(path.name.split(".def")[0].lower() + ".dll", set()).update(names)
    of_library["msvcrt.dll"] = mingw_imports("msvcrt")
    return Provider({}, set(of_library), of_library)


def mingw_imports(library: str) -> set[str]:
    """The old C library of Windows: the cross compiler above lists only the new one, so these are the names of mingw-w64's import library."""
    path = f"/usr/x86_64-w64-mingw32/lib/lib{library}.a"
    lines = subprocess.run(["x86_64-w64-mingw32-nm", "-g", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1].removeprefix("__imp_") for line in lines if "__imp_" in line}


# ---- Python


def limited_api(platform: str) -> Provider:
    """Of Python 3.11, and not what only some systems have."""
    from abi3info import DATAS, FUNCTIONS

    on_windows = platform.startswith("win")
    names = {symbol.name for table in (FUNCTIONS, DATAS) for symbol, entry in table.items()
             if tuple((entry.added.major, entry.added.minor)) <= (3, 11) and (not entry.ifdef or on_windows and "WINDOWS" in str(entry.ifdef))}
    return Provider({name: set() for name in names}, {"python3.dll"} if on_windows else {"python"})


def of_file(path: Path, platform: str) -> Provider:
    """A program or library of Python, whose symbols are the same on every system."""
    names = {symbol for symbol, _ in exported(path)}
    names = {name for name in names if name.startswith(("Py", "_Py"))}
    return Provider({name: set() for name in names}, {"python313t.dll"} if platform.startswith("win") else {"python"})


def print_def(platform: str, python: Path | None) -> None:
    from abi3info import DATAS

    provider = of_file(python, platform) if python else limited_api(platform)
    data = {symbol.name for symbol in DATAS}
    data |= {name for name in provider.symbols if re.match(r"_?Py(Exc_\w+|\w+_Type)$|_Py_(None|True|False|NotImplemented|Ellipsis)Struct$", name)}
    print(f"LIBRARY {next(iter(provider.libraries))}\nEXPORTS")
    for name in sorted(provider.symbols):
        print(f"  {name}{' DATA' if name in data else ''}")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--def":
        sys.exit(__doc__.splitlines()[0])
    print_def(sys.argv[2], Path(sys.argv[4]) if sys.argv[3:4] == ["--python"] else None)
