# SPDX-License-Identifier: MIT
"""What of src belongs to the two files, and when: sources that public functions reach, on each machine and with each choice."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from amalgamation_syntax import DIRECTIVE, GUARD, INCLUDE, code_of, declarations, names_in, without_bodies, without_declaration

ROOT = Path(__file__).resolve().parent.parent
SRC, PUBLIC = ROOT / "src", ROOT / "include"
CORE, TABLE = SRC / "core", SRC / "table"
ONLY, NO_CODECS = "GATHER_ONLY_GATHER", "GATHER_NO_CODECS"
# What a user may leave out of the functions: nothing, quantised rows, or all but Gather. Each leaves out what those before it do, too.
CHOICES = ("", NO_CODECS, ONLY)
CODECS = "codec.h"  # declares the functions of quantised rows
# Of the second pair, from the rooms of src/table: what formats and other machines need; NAME_alone.c in `alone` takes the place of NAME.c.
# And what it has of src/io: the type of raw bytes.
TABLE_ROOMS = (TABLE, TABLE / "system")
NOT_ALONE = {TABLE / f"{name}.c" for name in ("open_file", "reader_http", "layout_file", "table_remote")}
ALONE = (TABLE / "alone/open_file_alone.c", TABLE / "alone/reader_http_alone.c")
OF_IO = (SRC / "io/format/npy/descr.c",)
# What gather_table.h has of a public header that it does not include.
OF_FILE_H = ("gather_raw",)
# The folders of a room for other systems (src/CMakeLists.txt), and when a compiler builds for them.
SYSTEMS = {
    "windows": "defined(_WIN32)",
    "macos": "defined(__APPLE__)",
    "freebsd": "defined(__FreeBSD__)",
    "bsd": "defined(__APPLE__) || defined(__FreeBSD__)",
}
# The machines whose conditions matter: the compilers' macros, and the folders of their systems.
MACHINES = {
    "linux-x86": ("__GNUC__=12 __x86_64__=1 __linux__=1 __unix__=1 GATHER_HAVE_LIBURING=1", ()),
    "linux-arm": ("__GNUC__=12 __aarch64__=1 __linux__=1 __unix__=1", ()),
    "windows": ("__GNUC__=12 __x86_64__=1 _WIN32=1 __MINGW32__=1", ("windows",)),
    "macos": ("__GNUC__=12 __clang__=1 __clang_major__=16 __aarch64__=1 __APPLE__=1", ("bsd", "macos")),
    "freebsd": ("__GNUC__=12 __clang__=1 __clang_major__=16 __x86_64__=1 __FreeBSD__=1 __unix__=1", ("bsd", "freebsd")),
    "other": ("__BYTE_ORDER__=4321 __ORDER_BIG_ENDIAN__=4321", ()),
}


# ---- what there is


@lru_cache(maxsize=None)
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def core_rooms() -> list[Path]:
    """In the order of the layers."""
    line = re.search(r"^gather_add_door\(core ([a-z_ ]+)\)", read(CORE / "CMakeLists.txt"), re.MULTILINE)
    assert line
    return [CORE / room for room in line[1].split()]


def sources_in(rooms: Iterable[Path]) -> list[Path]:
    found = []
    for room in rooms:
        found += sorted(room.glob("*.c"))
        for system in SYSTEMS:
            found += sorted((room / system).glob("*.c"))
    return found


def sources_for_table() -> list[Path]:
    own = [p for p in sources_in(TABLE_ROOMS) if p not in NOT_ALONE]
    return [*sources_in(core_rooms()), *OF_IO, *own, *ALONE]


SOURCES: list[Path] = []  # of the pair that is written: choose_sources
SHARED: set[Path] = set()
MACROS: dict[str, str] = {}  # of shared headers
SHIMS = CORE / "system/windows/posix"


@lru_cache(maxsize=None)
def system_of(path: Path) -> str | None:
    return path.parent.name if path.parent.name in SYSTEMS else None


def replaced_by(path: Path) -> list[str]:
    """The systems with a variant of their own of this source."""
    return [s for s in SYSTEMS if (path.parent / s / f"{path.stem}_{s}.c").exists()]


def sources_of(systems: tuple[str, ...]) -> list[Path]:
    return [
        p
        for p in SOURCES
        if ((s := system_of(p)) is None and not set(replaced_by(p)) & set(systems)) or s in systems
    ]


def resolve(name: str) -> Path:
    """The file that #include "name" means."""
    for folder in (SRC, PUBLIC):
        if (folder / name).exists():
            return folder / name
    sys.exit(f"amalgamate: no file {name}")


@lru_cache(maxsize=None)
def own_includes(path: Path) -> list[tuple[str, bool]]:
    """The project's files that a file includes, and whether at its beginning: before all code, unconditionally."""
    text = read(path)
    guard = GUARD.search(text)
    start = guard.end() if guard else 0
    found, depth = [], 0
    code_at = next((t.at for t in code_of(text)), len(text))
    for m in DIRECTIVE.finditer(text):
        if m.start() < start:
            continue
        depth += (m[1] in ("if", "ifdef", "ifndef")) - (m[1] == "endif")
        include = INCLUDE.match(m.group())
        if include and include["own"]:
            found.append((include["own"], depth == 0 and m.start() < code_at))
    return found


@lru_cache(maxsize=None)
def is_guarded(path: Path) -> bool:
    return path.suffix == ".h" and bool(GUARD.search(read(path)))


def shared_headers() -> set[Path]:
    """Headers that stand once in front of everything: those that are included at the beginning of a file, and what these include."""
    found: set[Path] = set()
    waiting = list(SOURCES)
    while waiting:
        for name, begins in own_includes(waiting.pop()):
            path = resolve(name)
            if begins and path not in found and is_guarded(path):
                found.add(path)
                waiting.append(path)
    return found


def choose_sources(sources: list[Path]) -> None:
    """What all that follows is about."""
    for cached in (section_files, is_plain, headers_of):
        cached.cache_clear()
    SOURCES[:] = sources
    SHARED.clear()
    SHARED.update(shared_headers())
    MACROS.clear()
    MACROS.update(macros_of_headers())


@lru_cache(maxsize=None)
def section_files(path: Path) -> list[Path]:
    """A source, and the templates and headers that are copied into it."""
    found = [path]
    for one in found:
        for name, _ in own_includes(one):
            if (other := resolve(name)) not in SHARED and other not in found:
                found.append(other)
    return found


# ---- names, as the preprocessor sees them


@lru_cache(maxsize=None)
def empty_headers() -> tempfile.TemporaryDirectory:
    """A folder with an empty file for each of the system's headers."""
    folder = tempfile.TemporaryDirectory()
    for path in [*PUBLIC.rglob("*.[hd]*"), *SRC.rglob("*.[ch]")]:
        for name in system_names(path):
            made = Path(folder.name, name)
            made.parent.mkdir(parents=True, exist_ok=True)
            made.touch()
    return folder


def preprocess(paths: list[Path], macros: list[str]) -> dict[Path, str]:
    """Of each source the lines of its section, and of each shared header its own: by one run of the compiler for all of them."""
    found = {p: read(p) for p in paths if is_plain(p)}
    unit = []
    for path in [p for p in paths if p not in found]:
        unit.append(f'#include "{path}"')
        if path not in SHARED:
            unit += ends_of_macros(path)
    command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-w", "-undef", "-nostdinc"]
    command += [f"-I{p}" for p in ([SHIMS] if "_WIN32=1" in macros else []) + [empty_headers().name, SRC, PUBLIC]]
    command += [*[f"-D{m}" for m in macros], "-x", "c", "-"]
    run = subprocess.run(command, input="\n".join(unit), capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"amalgamate: {shlex.join(command)} failed:\n{run.stderr}")
    sections = {str(p): {str(one) for one in section_files(p)} for p in [*paths, *SHARED]}
    shared = {str(p) for p in SHARED}
    texts: dict[str, list[str]] = {str(p): [] for p in paths if p not in found}
    lines: list[str] = []
    stack = [""]
    for line in run.stdout.splitlines():
        if line.startswith("# "):
            _, file, flags = line.split('"')
            if " 1" in flags:
                stack.append(file)
            elif " 2" in flags:
                stack.pop()
            stack[-1] = file
            first = next((k for k in range(len(stack) - 1, 1, -1) if stack[k] in shared), 1)  # whose text it is
            whole = stack[first] if len(stack) > 1 else ""
            lines = texts.get(whole, []) if sections.get(whole, set()).issuperset(stack[first:]) else []
        elif not line.startswith("#"):
            lines.append(line)
    return found | {Path(name): "\n".join(lines) for name, lines in texts.items()}


def ends_of_macros(path: Path) -> list[str]:
    """What makes a source's macros unknown behind it. It may replace a macro of a shared header: that gets its value back."""
    own = {m[2] for p in section_files(path) for m in DIRECTIVE.finditer(read(p)) if m[1] in ("define", "undef")}
    return [f"#undef {n}" for n in sorted(own)] + [MACROS[n] for n in sorted(own & MACROS.keys())]


def macros_of_headers() -> dict[str, str]:
    """Those that shared headers leave defined, and their lines."""
    found = {}
    for path in sorted(SHARED):
        for m in DIRECTIVE.finditer(read(path)):
            if m[1] == "define" and not m[2].endswith("_H"):
                found[m[2]] = m.group()
            elif m[1] == "undef":
                found.pop(m[2], None)
    return found


@lru_cache(maxsize=None)
def is_plain(path: Path) -> bool:
    """Whether its names are the same without the preprocessor."""
    return not any(re.search(r"##|^#if|^#include .*\.def|^#define \w+\(", read(p), re.MULTILINE) for p in section_files(path))


@dataclass
class Seen:
    """What one machine sees of a source."""

    outside: set[str]  # what others may use
    own: set[str]
    names: set[str]


@lru_cache(maxsize=None)
def seen(text: str) -> Seen:
    outside, own = set(), set()
    for d in declarations(code_of(without_bodies(text))):
        if d.own:
            own.update(d.names)
        elif d.kind in ("function", "object"):
            outside.update(d.names)
    return Seen(outside, own, names_in(text))


@lru_cache(maxsize=None)
def functions_of(path: Path) -> dict[str, set[str]]:
    """Of each function and object of a source the names in it."""
    code = code_of(read(path))
    starts = [t.at for t in code]
    found = {}
    for d in declarations(code):
        if d.kind in ("function", "object"):
            part = code[bisect_left(starts, d.first) : bisect_left(starts, d.end)]
            for name in d.names:
                found[name] = {t.text for t in part if t.kind == "name"}
    return found


def pruned(path: Path, kept: set[str]) -> str:
    """A source without the other functions and objects."""
    text = read(path)
    for d in reversed(declarations(code_of(text))):
        if d.kind in ("function", "object") and d.names and not kept & set(d.names):
            text = without_declaration(text, d)
    return text


def inline_names(texts: Iterable[str]) -> dict[str, set[str]]:
    """Of each function in the texts of shared headers the names in it."""
    found: dict[str, set[str]] = defaultdict(set)
    for text in set(texts):
        for d in declarations(code_of(text)):
            if d.kind == "function":
                for name in d.names:
                    found[name] |= {t.text for t in d.body if t.kind == "name"}
    return found


@lru_cache(maxsize=None)
def system_names(path: Path) -> set[str]:
    """The system's headers that a file names."""
    return {m["system"] for m in INCLUDE.finditer(read(path)) if m["system"]}


def system_includes(paths: list[Path]) -> set[str]:
    """The system's headers of files, and those that the shims among them include."""
    found: set[str] = set()
    waiting = list(paths)
    while waiting:
        for name in system_names(waiting.pop()) - found:
            found.add(name)
            if name in posix_headers():
                waiting.append(SHIMS / name)
    return found


@lru_cache(maxsize=None)
def posix_headers() -> set[str]:
    return {str(p.relative_to(SHIMS)) for p in SHIMS.rglob("*.h")}


@lru_cache(maxsize=None)
def headers_of(path: Path) -> list[Path]:
    """A source's section and all headers that it includes."""
    found = list(section_files(path))
    for one in found:
        for name, _ in own_includes(one):
            if (other := resolve(name)) not in found:
                found.append(other)
    return found


def shim_names() -> dict[str, str]:
    """Functions and types that Windows' own headers under POSIX's names declare: the header."""
    found = {}
    for path in sorted(SHIMS.rglob("*.h")):
        for d in declarations(code_of(read(path))):
            for name in d.names:
                if d.kind in ("prototype", "type", "function"):
                    found[name] = str(path.relative_to(SHIMS))
    return found


def public_headers() -> list[Path]:
    """Those whose functions the sources define, each behind those that it includes."""
    defined = {n for p in SOURCES for n in seen(read(p)).outside}
    chosen = []
    for path in sorted((PUBLIC / "gather").glob("*.h")):
        names = {n for d in declarations(code_of(read(path))) if d.kind == "prototype" for n in d.names}
        if names and names <= defined:
            chosen.append(path)
    return sorted(chosen, key=lambda p: (len([n for n, _ in own_includes(p) if resolve(n) in chosen]), p.name))


def public_names(path: Path) -> set[str]:
    return {n for d in declarations(code_of(read(path))) if d.kind == "prototype" for n in d.names}


# ---- what is part of it, and when


class Core:
    """The sources that public functions reach, for each machine and each of some CHOICES."""

    def __init__(self, headers: list[Path], choices: tuple[str, ...]) -> None:
        self.headers = headers
        self.has_table = any(h.name == "table.h" for h in headers)
        self.choices = choices
        self.public = {n for h in self.headers for n in public_names(h)}
        self.shims = shim_names()
        self.seen: dict[tuple[str, str], dict[Path, Seen]] = {}
        self.reached: dict[tuple[str, str], set[Path]] = {}
        self.kept: dict[Path, set[str]] = {}  # of files for Windows
        headers_text = {read(p) for p in SHARED}
        for machine, (macros, systems) in MACHINES.items():
            for choice in choices:
                texts = preprocess(sorted(SHARED) + sources_of(systems), macros.split() + [f"{choice}=1"] * bool(choice))
                headers_text |= {t for p, t in texts.items() if p in SHARED and not choice}
                self.seen[machine, choice] = {p: seen(t) for p, t in texts.items() if p not in SHARED}
        self.inline = inline_names(headers_text)
        for (machine, choice), part in self.seen.items():
            self.reached[machine, choice] = self.reach(part, choice)
        for machine, choice in self.seen:
            if machine == "windows":
                for path, names in self.kept.items():
                    self.seen[machine, choice][path] = seen(pruned(path, names))
        self.sources = [p for p in SOURCES if any(p in r for r in self.reached.values())]

    def header_choice(self, path: Path) -> str:
        """The weakest choice that leaves out a public header's functions."""
        return "" if path == self.headers[0] else NO_CODECS if path.name == CODECS else ONLY

    def reach(self, part: dict[Path, Seen], choice: str) -> set[Path]:

        def node(path: Path, name: str) -> tuple[Path, str]:
            return (path, name if system_of(path) == "windows" else "")

        definer = {n: p for p, s in part.items() for n in s.outside}
        gone = CHOICES[1 : CHOICES.index(choice) + 1]
        roots = {n for h in self.headers if self.header_choice(h) not in gone for n in public_names(h)}
        waiting = [node(definer[n], n) for n in sorted(roots) if n in definer]
        found = set(waiting)
        while waiting:
            path, function = waiting.pop()
            systems = system_includes(headers_of(path))
            names = part[path].names
            if function:  # of a file for Windows only the functions that are needed
                inside = functions_of(path)
                names = inside.get(function, set())
                own = {(path, n) for n in names if n in inside} - found
                found |= own
                waiting += own
                self.kept.setdefault(path, set()).add(function)
            for name in self.closure(names):
                other = definer.get(name)
                if not other or (name in self.shims and self.shims[name] not in systems):
                    continue
                if (more := node(other, name)) not in found:
                    found.add(more)
                    waiting.append(more)
        return {p for p, _ in found}

    def closure(self, names: set[str]) -> set[str]:
        found, waiting = set(names), list(names)
        while waiting:
            for name in self.inline.get(waiting.pop(), ()):
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        return found

    def condition(self, path: Path) -> str:
        """When a source is compiled; "" = always."""
        parts = []
        system = system_of(path)
        if system:
            parts.append(SYSTEMS[system])
        elif others := replaced_by(path):
            parts.append("!(" + " || ".join(SYSTEMS[s] for s in others) + ")")
        else:
            needed = {m for m in MACHINES if path in self.reached[m, ""]}
            if needed == {"windows"}:
                parts.append(SYSTEMS["windows"])
        if guard := self.guard(lambda choice: any(path in self.reached[m, choice] for m in MACHINES)):
            parts.append(guard)
        return " && ".join(f"({p})" if "||" in p and len(parts) > 1 else p for p in parts)

    def guard(self, is_there: Callable[[str], bool]) -> str:
        """The condition of what the weakest choice leaves out that does so; "" = none does."""
        return next((f"!defined({choice})" for choice in self.choices[1:] if not is_there(choice)), "")

    def conditions(self) -> dict[str, str]:
        """Of each name that a source defines for others."""
        found: dict[str, set[str]] = defaultdict(set)
        for path in self.sources:
            whole = self.condition(path)
            for (machine, choice), part in self.seen.items():
                if choice or path not in part:
                    continue
                for name in part[path].outside:
                    guard = self.guard(lambda other: name in self.seen[machine, other][path].outside)
                    found[name].add(whole if guard in whole else " && ".join(c for c in (whole, guard) if c))
        result = {}
        for name, several in found.items():
            guards = [f"!defined({choice})" for choice in CHOICES[1:]]
            parts = [c.split(" && ") for c in sorted(several)]
            kept = {" && ".join(p for p in one if p not in guards) for one in parts}
            guard = next((g for g in reversed(guards) if any(g in one for one in parts)), "")
            whole = "" if "" in kept or len(kept) > 1 else kept.pop()
            result[name] = " && ".join(c for c in (whole, guard) if c)
        return result
