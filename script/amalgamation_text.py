# SPDX-License-Identifier: MIT
"""The text of the two files."""

import re
from collections import defaultdict
from pathlib import Path

from amalgamation_parts import (
    MACROS, NO_CODECS, ONLY, OF_FILE_H, PUBLIC, SHARED, SHIMS, SRC, SYSTEMS,
    Core, headers_of, is_guarded, own_includes, pruned, read, resolve, section_files, seen, posix_headers, system_includes, system_of,
)
from amalgamation_syntax import (
    DIRECTIVE, GUARD, INCLUDE, Declaration, after_block, code_of, declarations, join_conditions, rename, strip_comments,
    tokens_of, without_declaration,
)


def licence_off(text: str) -> str:
    """Without the first comment's line about the licence: gather.c has it once."""
    text = re.sub(r"\A/\* SPDX-License-Identifier: MIT\n \*\n", "/*\n", text)
    return re.sub(r"\A/\*\n \* ", "/* ", text)


class Templates:
    """Files that several sources include, or one many times. Each is written once, at the end of gather.h, which gather.c includes for each use with a macro
    that selects it. Short ones and most parts of others are copied instead: gcc before 15 numbers all lines that it reads, also those that
    it skips, by 32 bits, and forgets columns where these run out. gather.c itself is too long for that: it would have to skip all of it."""

    SHORTEST, SHORTEST_PART, MANY = 80, 200, 5  # lines, and times

    def __init__(self, sources: list[Path]) -> None:
        uses: dict[Path, list[Path]] = defaultdict(list)
        for source in sources:
            for path in copied_into(source):
                uses[path].append(source)
        self.users = {
            p: set(u)
            for p, u in uses.items()
            if p.suffix != ".def" and (len(u) >= self.MANY or (len(set(u)) > 1 and copied_lines(p) >= self.SHORTEST))
        }
        self.runs = {p: [p] for p in self.users}
        for path in list(self.runs):
            for lines in re.findall(r'(?:^#include "[^"\n]+"\n)+', read(path), re.MULTILINE):
                run = [resolve(n) for n in re.findall(r'"([^"]+)"', lines)]  # neighbours become one
                if sum(copied_lines(p) for p in run) >= self.SHORTEST_PART:
                    self.runs[run[0]] = run
                    self.users |= {p: self.users[path] for p in run}
        self.units = [s for s in sources if any(s in u and len(u) > 1 for u in self.users.values())]
        self.bodies: dict[Path, str] = {}

    @staticmethod
    def macro(path: Path) -> str:
        return "GATHER_TEMPLATE_" + path.name.split(".")[0].upper()

    def use(self, path: Path) -> str:
        return f'#define {self.macro(path)}\n#include "gather.h"' if path in self.runs else ""

    def text(self) -> str:
        """All of them, each where its macro is defined."""
        parts = []
        for first, run in sorted(self.runs.items()):
            macro = self.macro(first)
            bodies = "\n\n".join(f"/* ---- {p.relative_to(SRC)} */\n{self.bodies[p].strip()}" for p in run)
            parts.append(f"if defined({macro})\n#undef {macro}\n{bodies}\n")
        return f"{H_TEMPLATES.strip()}\n#" + "\n#el".join(parts) + "#endif\n"


def copied_into(path: Path) -> list[Path]:
    """What a file includes that is copied, once for each time."""
    found = [resolve(name) for name, _ in own_includes(path)]
    return [p for p in found if p not in SHARED and not (PUBLIC in p.parents and p.suffix == ".h")]


def copied_lines(path: Path) -> int:
    return strip_comments(read(path)).count("\n") + sum(copied_lines(p) for p in copied_into(path))


class Writer:
    def __init__(self, core: Core, unit_names: dict[str, str] | None = None) -> None:
        self.core = core
        self.conditions = core.conditions()
        self.copied: set[Path] = set()
        self.templates = Templates(core.sources)
        self.unit_names = unit_names

    # -- copies in place

    def copy(self, path: Path, seen_here: set[Path], whole: bool = False) -> str:
        """A file with what it includes in place; shared headers and the system's are elsewhere, and so are templates unless `whole`."""
        text = pruned(path, self.core.kept[path]) if path in self.core.kept else read(path)
        if path.suffix in (".h", ".def") and path in self.copied:
            text = strip_comments(text)
        if not whole:
            self.copied.add(path)

        def include(m: re.Match[str]) -> str:
            if m["system"]:
                return m.group()
            other = resolve(m["own"])
            if other in SHARED or other in self.core.headers:
                return ""
            if is_guarded(other):
                if other in seen_here:
                    return ""
                seen_here.add(other)
            if not whole and other in self.templates.users:
                return self.templates.use(other)
            return licence_off(self.copy(other, seen_here, whole)).rstrip()

        return INCLUDE.sub(include, text)

    # -- the system's headers and switches

    def without_system(self, text: str) -> str:
        """Unconditional includes of the system stand at the beginning of gather.c; so do the switches of its headers."""
        text = re.sub(r"^#define _\w+(?:_SOURCE|_BITS)\b[^\n]*\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^#define WIN_PTHREADS\w*\n", "", text, flags=re.MULTILINE)
        empty = re.compile(r"^[ \t]*#if[^\n]*\n(?:[ \t]*\n)*[ \t]*#endif[^\n]*\n", re.MULTILINE)
        out, depth = [], 0
        for line in text.split("\n"):
            m = DIRECTIVE.match(line)
            if m:
                depth += (m[1] in ("if", "ifdef", "ifndef")) - (m[1] == "endif")
            include = INCLUDE.match(line)
            if include and include["system"]:
                if depth == 0:
                    continue
                if include["system"] in posix_headers():
                    line = f"#if !defined(_WIN32)\n{line}\n#endif"
            out.append(line)
        text = "\n".join(out)
        while (less := empty.sub("", text)) != text:
            text = less
        return text

    # -- one source

    def section(self, path: Path) -> str:
        whole = self.without_system(self.copy(path, set(), whole=True))
        text = licence_off(self.without_system(self.copy(path, set())))
        bodies = {p: self.body(p) for p, users in self.templates.users.items() if users == {path}}
        prefix = path.stem + "__"
        declared = [d for part in (text, *bodies.values()) for d in declarations(code_of(part)) if d.own]
        lexical = {n for d in declared for n in d.names if not n.startswith(("gather_", "GATHER_"))}
        macros = [m[2] for m in DIRECTIVE.finditer(whole) if m[1] == "define"]
        lexical = (lexical & self.owned(path)) - set(macros)
        if self.owned(path) - lexical - set(macros):  # macros put names together: those that others have too are renamed by macros
            lexical &= self.members
        lexical -= {n for n in lexical if n in self.members and len(self.owners[n]) < 2}
        names = {n: prefix + n for n in lexical}
        pasted = self.pasted(self.owned(path) - lexical - set(macros) - self.members)
        if path in self.templates.units:
            names, pasted = self.unit_names_of({path}), []
        text = self.private(rename(text, names))
        self.templates.bodies |= {p: self.private(rename(body, names)) for p, body in bodies.items()}
        first, last = [], []
        for name in pasted:
            first.append(f"#define {name} {prefix}{name}")
            last.append(f"#undef {name}")
        if path in self.templates.units:
            first.append(f"#define {UNIT} {prefix}")
            last.append(f"#undef {UNIT}")
        left: dict[str, bool] = {}
        for m in DIRECTIVE.finditer(whole):
            if m[1] in ("define", "undef"):
                left[m[2]] = m[1] == "define"
        last += [f"#undef {n}" for n, defined in left.items() if defined]
        last += [MACROS[n] for n in left if n in MACROS]  # a source may replace a macro of a header
        if "#pragma GCC diagnostic" in whole:
            first.insert(0, "#if defined(__GNUC__)\n#pragma GCC diagnostic push\n#endif")
            last.append("#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif")
        condition = self.core.condition(path)
        parts = [f"/* ---- {path.relative_to(SRC)} */"]
        if condition:
            parts.append(f"#if {condition}")
        parts += ["\n".join(first), text.strip(), "\n".join(last)]
        if condition:
            parts.append(f"#endif /* {condition} */")
        return "\n".join(p for p in parts if p)

    def body(self, template: Path) -> str:
        return licence_off(self.without_system(self.copy(template, set())))

    def pasted(self, names: set[str]) -> list[str]:
        """Of names that macros put together those that several sources have, and those that are put together from these."""
        several = sorted(n for n in names if len(self.owners[n]) > 1)
        return several + sorted(n for n in names - set(several) if any(n.startswith(p + "_") for p in several))

    def unit_names_of(self, sources: set[Path]) -> dict[str, str]:
        return {n: to for n, to in self.unit_names.items() if self.owners[n] & sources}

    def units(self) -> str:
        """The sources with templates in common: the names that these put together have that of the source in front."""
        owned = {n for p in self.templates.units for n in self.owned(p)}
        macros = {m[2] for p in self.templates.units for f in section_files(p) for m in DIRECTIVE.finditer(read(f)) if m[1] == "define"}
        if self.unit_names is None:  # names that members of structs have, too: a macro would rename these
            self.unit_names = {n: f"{n}__" for n in owned & self.members if len(self.owners[n]) > 1}
        names = self.pasted(owned - macros - self.members - self.unit_names.keys()) + sorted(self.unit_names.values())
        sections = [self.section(p) for p in self.templates.units]
        for path, users in self.templates.users.items():
            if len(users) > 1:
                self.templates.bodies[path] = self.private(rename(self.body(path), self.unit_names_of(users)))
        renames = [f"#define {n} {OF_UNIT}({n})" for n in names]
        return "\n\n".join([C_UNITS.strip() + "\n" + "\n".join(renames), *sections, "\n".join(f"#undef {n}" for n in names)])

    def owned(self, path: Path) -> set[str]:
        return {
            n for part in self.core.seen.values() if path in part for n in part[path].own if not n.startswith(("gather_", "GATHER_"))
        }

    def learn(self) -> None:
        """Which sources own a name, and the members of structs that sources share."""
        self.owners: dict[str, set[Path]] = defaultdict(set)
        for path in self.core.sources:
            for name in self.owned(path) | seen(read(path)).own:
                self.owners[name].add(path)
        self.members = set()
        for path in [*SHARED, *self.core.headers]:
            for d in declarations(code_of(read(path))):
                if d.kind == "type":
                    part = [t for t in code_of(read(path)) if d.first <= t.at < d.end]
                    self.members |= {
                        t.text for t, after in zip(part, part[1:]) if t.kind == "name" and after.text in ";,[:)" and "enum" != part[0].text
                    }

    def private(self, text: str) -> str:
        """What sources share is static: with GATHER_PRIVATE in front."""
        text = re.sub(r"\bextern(?= )(?! \"C\")", "GATHER_PRIVATE", text)
        places = []
        for d in declarations(code_of(text)):
            if d.own or d.kind not in ("function", "object") or not d.names or any(n in self.core.public for n in d.names):
                continue
            at = text.index(d.names[0], d.first) if d.kind == "object" else self.place_of(text, d)
            start = text.rfind("\n", 0, at) + 1
            while not re.match(r"[A-Za-z_]", text[start : start + 1]):
                start = text.rfind("\n", 0, start - 1) + 1
            if "GATHER_PRIVATE" not in text[start:at]:
                places.append(start)
        for start in sorted(set(places), reverse=True):
            text = text[:start] + "GATHER_PRIVATE " + text[start:]
        return text

    @staticmethod
    def place_of(text: str, d: Declaration) -> int:
        m = None
        for m in re.finditer(rf"\b{d.names[0]}\b\s*\(", text[d.first : d.end]):
            break
        assert m, d.names
        return d.first + m.start()

    # -- headers

    def prototypes(self, text: str, public: bool = False) -> str:
        """Prototypes of what is left out go, those of what only some builds have stand under its condition, the others are static."""
        for d in reversed(declarations(code_of(text))):
            if d.kind != "prototype" or d.own:
                continue
            name = d.names[0]
            start = text.rfind("\n", 0, d.first) + 1
            end = text.find("\n", d.end) + 1 or len(text)
            if name not in self.conditions:
                text = without_declaration(text, d)
                continue
            line = text[start:end] if public else "GATHER_PRIVATE " + text[start:end]
            line = re.sub(r"\s*\bGATHER_POSIX\(\w+\)", "", line)
            if condition := self.conditions[name]:
                line = f"#if {condition}\n{line}#endif\n"
            text = text[:start] + line + text[end:]
        text = join_conditions(text, set(self.conditions.values()))
        return re.sub(r"\n{3,}", "\n\n", text)

    def shared_header(self, path: Path) -> str:
        text = self.without_system(self.in_guard(self.copy(path, set())))
        text = re.sub(r"\bextern(?= )(?! \"C\")", "GATHER_PRIVATE", self.prototypes(text))
        return text

    def header_condition(self, path: Path) -> str:
        """What all sources that include it have in common."""
        conditions = [self.core.condition(s).split(" && ") for s in self.core.sources if path in headers_of(s)]
        return " && ".join(c for c in conditions[0] if all(c in others for others in conditions))

    @staticmethod
    def in_guard(text: str) -> str:
        """A shared header stands once: its guard goes."""
        text = GUARD.sub("", text, count=1)
        return licence_off(re.sub(r"\n#endif\s*\Z", "\n", text)).strip() + "\n"

    def ordered_headers(self) -> list[Path]:
        found: list[Path] = []

        def visit(path: Path) -> None:
            for name, _ in own_includes(path):
                other = resolve(name)
                if other in SHARED and other not in found:
                    visit(other)
            if path in SHARED and path not in found and SRC in path.parents:
                found.append(path)

        for path in self.core.sources:
            visit(path)
        return found

    # -- Windows: POSIX's names

    def shim_headers(self, sources: list[Path]) -> list[str]:
        wanted = system_includes([h for p in sources for h in headers_of(p)])
        found: list[str] = []

        def visit(name: str) -> None:
            for m in INCLUDE.finditer(read(SHIMS / name)):
                if m["system"] and m["system"] != name and m["system"] in posix_headers():
                    visit(m["system"])
            if name not in found:
                found.append(name)

        for name in sorted(wanted):
            if name in posix_headers():
                visit(name)
        return found

    def real_on_windows(self, name: str) -> bool:
        return name not in posix_headers() or "include_next" in read(SHIMS / name)

    def shim(self, name: str) -> tuple[list[str], str]:
        """The names that get other ones, and the text."""
        text = self.in_guard(read(SHIMS / name))
        text = re.sub(r"^#pragma GCC system_header[^\n]*\n", "", text, flags=re.MULTILINE)
        text = INCLUDE.sub("", self.without_system(text))
        text = re.sub(r"^#define GATHER_POSIX\b[^\n]*\n", "", text, flags=re.MULTILINE)
        renamed = []
        for d in declarations(code_of(text)):
            for one in d.names:
                if d.kind == "type" or (d.kind == "prototype" and not one.startswith("gather_") and one in self.conditions):
                    renamed.append(one)
                elif d.kind == "function":
                    renamed.append(one)
        text = self.prototypes(text)
        text = re.sub(r"^static inline", "GATHER_INLINE", text, flags=re.MULTILINE)

        def define(m: re.Match[str]) -> str:
            target = re.match(r"#define \w+ (gather_posix_\w+)\n", m.group())
            if target and target[1] not in self.conditions:
                return ""
            return f"#undef {m[1]}\n{m.group()}"

        text = re.sub(r"^#undef \w+\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^#define (\w+)(?:\\\n|[^\n])*\n", define, text, flags=re.MULTILINE)
        return renamed, text.strip()

    # -- the two files

    def gather_table_h(self) -> str:
        path = self.core.headers[-1]
        text = self.prototypes(re.sub(r"\A/\* SPDX-License-Identifier: MIT\n \*\n \* ", "/* ", read(path)), public=True)
        from_file = [self.declared(PUBLIC / "gather/file.h", name) for name in OF_FILE_H]
        known = "\n".join([read(h) for h in self.core.headers] + from_file)
        pointed = sorted(set(re.findall(r"\b(gather_\w+) \*", "".join(t.text for t in tokens_of(text) if t.kind != "comment"))))
        from_file += [f"typedef struct {n} {n};" for n in pointed if not re.search(rf"\b{n};|\}} {n};|\b{n}\)\(", known)]
        text = re.sub(r'#include "gather/file\.h"\n#include "gather/remote\.h"\n', '#include "gather.h"\n', text)
        text = text.replace("typedef struct gather_table gather_table;\n", "\n\n".join([*from_file, "typedef struct gather_table gather_table;\n"]), 1)
        assert "gather/" not in re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), "gather_table.h includes another header"
        return f"{H_TABLE_BEGIN.strip()}\n\n{text.strip()}\n"

    @staticmethod
    def declared(path: Path, name: str) -> str:
        """The declaration of a type, and the comment in front of it."""
        text = read(path)
        one = next(d for d in declarations(code_of(text)) if d.kind == "type" and name in d.names)
        before = re.search(r"/\*(?:(?!\*/).)*\*/\n\Z", text[: one.first], re.DOTALL)
        return (before[0] if before else "") + text[one.first : one.end]

    def gather_h(self) -> str:
        parts = [H_BEGIN.strip()]
        for number, path in enumerate(self.core.headers):
            text = self.copy(path, set())
            text = self.prototypes(re.sub(r"\A/\* SPDX-License-Identifier: MIT\n \*\n \* ", "/* ", text), public=True)
            if number == 0:
                text = after_block(text, "#define GATHER_API", H_STATIC.strip())
                parts.append(text.strip())
            else:
                choice = self.core.header_choice(path)
                parts.append(f"#if !defined({choice}) || defined(GATHER_BUILDING)\n{text.strip()}\n#endif /* {choice} */")
        parts.append(self.templates.text())
        return "\n\n".join(parts) + "\n"

    def gather_c(self) -> str:
        self.learn()
        headers = self.ordered_headers()
        sources = self.core.sources
        elsewhere = [p for p in sources if system_of(p)]
        common = [p for p in [*sources, *headers] if system_of(p) is None]
        windows = [p for p in elsewhere if system_of(p) == "windows"]
        parts = [C_BEGIN.strip()]
        units = self.templates.units
        everywhere = self.hoisted(common)
        shims = self.shim_headers([p for p in sources if system_of(p) in (None, "windows")])
        real = sorted({n for n in everywhere if self.real_on_windows(n)} | {n for n in shims if self.real_on_windows(n)})
        on_windows = sorted(n for n in self.hoisted(windows) if self.real_on_windows(n) and n not in real)
        switches = sorted({m for n in shims for m in re.findall(r"^#define (WIN_PTHREADS\w+)", read(SHIMS / n), re.MULTILINE)})
        standard = sorted(n for n in real if n in everywhere and n not in posix_headers())
        posix_real = sorted(n for n in real if n not in standard)
        lines = ["#if defined(_WIN32)", *[f"#define {m}" for m in switches], "#endif"]
        lines += [f"#include <{n}>" for n in sorted(set(standard) | {n for n in posix_real if n in C11})]
        lines += ["#if defined(_WIN32)", *[f"#include <{n}>" for n in posix_real if n not in C11]]
        lines += ["#else", *[f"#include <{n}>" for n in sorted(everywhere) if n not in standard and n not in C11], "#endif"]
        for system, condition in SYSTEMS.items():
            its = self.hoisted([p for p in elsewhere if system_of(p) == system]) - everywhere
            if system != "windows" and its:
                lines += [f"#if {condition}", *[f"#include <{n}>" for n in system_order(its)], "#endif"]
        lines.append(C_GLIBC.strip())
        parts.append("\n".join(lines))
        shim_parts, other_names = [], []
        for name in shims:
            renamed, text = self.shim(name)
            other_names += renamed
            if text:
                shim_parts.append(
                    "\n".join([f"/* -- {name} */", *[f"#undef {n}\n#define {n} gather_posix_{n}" for n in renamed], text])
                )
        compiler = [h for h in headers if "define GATHER_INLINE" in read(h)]
        for path in [*compiler, None, *[h for h in headers if h not in compiler]]:
            if path is None:
                parts.append("/* ---- the calls of POSIX that sources make, by those of Windows */\n#if defined(_WIN32)\n"
                             + "\n\n".join(shim_parts) + "\n#endif /* defined(_WIN32) */")
            else:
                text = self.shared_header(path).strip()
                if condition := self.header_condition(path):
                    text = f"#if {condition}\n{text}\n#endif /* {condition} */"
                parts.append(f"/* ---- {path.relative_to(SRC)} */\n{text}")
        for path in [p for p in sources if p not in windows]:
            if path not in units:
                parts.append(self.section(path))
            elif path == units[0]:
                parts.append(self.units())
        # At the end: <windows.h> has macros of common names, such as near, IN and OUT.
        lines = ["#if defined(_WIN32)", *[f"#undef {n}" for n in other_names]]
        lines += [f"#include <{n}>" for n in sorted(on_windows, key=lambda n: (n != "winsock2.h", n != "windows.h", n))]
        lines += [*[f"#define {n} gather_posix_{n}" for n in other_names], "#endif"]
        parts.append("\n".join(lines))
        parts += [self.section(path) for path in windows]
        parts.append(C_END.strip())
        text = "\n\n".join(parts)
        for old, new in FOR_TABLE if self.core.has_table else ():
            assert old in text, old
            text = text.replace(old, new, 1)
        return re.sub(r"\n{3,}", "\n\n", text) + "\n"

    def hoisted(self, paths: list[Path]) -> set[str]:
        """The system's headers that these files include unconditionally."""
        found = set()
        for path in paths:
            for one in section_files(path):
                text = read(one)
                guard = GUARD.search(text)
                depth = -1 if guard else 0
                for m in DIRECTIVE.finditer(text):
                    depth += (m[1] in ("if", "ifdef", "ifndef")) - (m[1] == "endif")
                    include = INCLUDE.match(m.group())
                    if include and include["system"] and depth == 0:
                        found.add(include["system"])
        return found


C11 = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef
stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split())
C11 = {f"{n}.h" for n in C11}


def system_order(names: set[str]) -> list[str]:
    """<sys/types.h> and <sys/param.h> first: BSD's headers need them."""
    return sorted(names, key=lambda n: (n not in ("sys/types.h", "sys/param.h"), n != "sys/types.h", n))


H_BEGIN = """
/* SPDX-License-Identifier: MIT
 *
 * gather.h and gather.c: libgather's core in two files, made by script/amalgamate. Copy both into a project, compile gather.c
 * as C11 with the rest of it, and link threads (-pthread) where the system has them apart. docs/embed/two-files.md is the guide.
 *
 * Macros, for gather.c and for every file that includes gather.h:
 *   GATHER_ONLY_GATHER   leaves Gather and GatherElements: no GatherND, no StableHLO, no GatherTree, no quantised rows, no DLPack
 *   GATHER_NO_CODECS     leaves out quantised rows
 *   GATHER_STATIC        all functions are static, for a source that includes gather.c itself
 * For gather.c alone:
 *   GATHER_SMALL=1       leaves out what only makes kernels faster; the default of gcc and clang at -Os
 *   GATHER_NO_THREADS    no pool of threads: gather_pool_create makes one that runs tasks on the calling thread
 *   GATHER_ISA_AVX2=0    leaves out an instruction set; likewise GATHER_ISA_AVX512, GATHER_ISA_AVX512VBMI, GATHER_ISA_NEON and
 *                        GATHER_ISA_SVE. The strongest one that the CPU has is chosen at run time
 *   GATHER_MALLOC, GATHER_CALLOC, GATHER_FREE
 *                        the names of functions that take the places of malloc, calloc and free
 */
#if defined(GATHER_ONLY_GATHER) && !defined(GATHER_NO_CODECS)
#define GATHER_NO_CODECS
#endif
"""

H_STATIC = """
#if defined(GATHER_STATIC)
#undef GATHER_API
#if defined(__GNUC__)
#define GATHER_API static __attribute__((unused))
#else
#define GATHER_API static
#endif
#endif
"""

H_TEMPLATES = """
/* ---- What follows is for gather.c and gather_table.c alone: kernels that are compiled for several types and instruction sets, written
 * once. They include this header for each, with a macro that selects it. */
"""

C_UNITS = """
/* Names that several of the next sources have, and that their macros put together: each source's name stands in front. */
#define GATHER_OF_UNIT__(unit, name) unit##name
#define GATHER_OF_UNIT_(unit, name) GATHER_OF_UNIT__(unit, name)
#define GATHER_OF_UNIT(name) GATHER_OF_UNIT_(GATHER_UNIT, name)
"""
UNIT, OF_UNIT = "GATHER_UNIT", "GATHER_OF_UNIT"

C_BEGIN = """
/* SPDX-License-Identifier: MIT
 *
 * gather.c: libgather's core, made by script/amalgamate from the files that its headings name. gather.h says which macros choose its parts.
 */
/* Before the first header of the system, so that it declares all that it has. */
#if !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif
#if !defined(_WIN32) && !defined(__FreeBSD__)
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#if !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#endif
#if defined(_WIN32)
#if !defined(_WIN32_WINNT)
#define _WIN32_WINNT 0x0A00
#endif
#if !defined(__USE_MINGW_ANSI_STDIO)
#define __USE_MINGW_ANSI_STDIO 1
#endif
#endif

#if !defined(GATHER_SMALL) && defined(__OPTIMIZE_SIZE__)
#define GATHER_SMALL 1
#endif
/* gcc's stack on 64-bit Windows is not aligned for vectors of 32 bytes: with -Wa,-muse-unaligned-vector-move these may be set to 1. */
#if defined(_WIN64) && defined(__GNUC__) && !defined(__clang__)
#if !defined(GATHER_ISA_AVX2)
#define GATHER_ISA_AVX2 0
#endif
#if !defined(GATHER_ISA_AVX512)
#define GATHER_ISA_AVX512 0
#endif
#if !defined(GATHER_ISA_AVX512VBMI)
#define GATHER_ISA_AVX512VBMI 0
#endif
#endif

#define GATHER_BUILDING
#include "gather.h"

#if defined(__GNUC__) && !defined(__clang__) /* in one file gcc inlines more, and does not see that loops have set what it then warns of */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* What the sources below share. Nothing outside sees it. */
#if !defined(GATHER_PRIVATE)
#if defined(__GNUC__)
#define GATHER_PRIVATE static __attribute__((unused))
#else
#define GATHER_PRIVATE static
#endif
#endif
"""


H_TABLE_BEGIN = """
/* SPDX-License-Identifier: MIT
 *
 * gather_table.h and gather_table.c: tables of libgather that are raw bytes of files, for engines with a file format of their own; made by
 * script/amalgamate. Copy both and gather.h into a project, compile gather_table.c as C11 with the rest of it, and link threads. It has the
 * core: leave gather.c out. docs/embed/two-files.md is the guide.
 *
 * Everything is as in table.h of the library, but for formats and other machines: `raw` in the options says what bytes a file has, and
 * `remote` must be NULL; paths are not split. A program moves to the library by another include.
 *
 * Macros: those of gather.h but for GATHER_ONLY_GATHER, GATHER_NO_CODECS and GATHER_NO_THREADS, which tables cannot do with. For
 * gather_table.c alone:
 *   GATHER_HAVE_LIBURING  reads by io_uring on Linux; link liburing. Without it threads read
 */
"""

C_GLIBC = """
#if defined(__GLIBC__) && defined(_GNU_SOURCE) /* where strerror_r is not that of POSIX, which has this name there */
extern int __xpg_strerror_r(int number, char *text, size_t bytes);
#define strerror_r __xpg_strerror_r
#endif
"""

C_END = """
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
"""


# What is different in gather_table.c.
FOR_TABLE = (
    ("gather.c: libgather's core, made", "gather_table.c: libgather's core and tables of raw bytes, made"),
    ("gather.h says which", "gather_table.h says which"),
    (
        '#include "gather.h"\n',
        f"""#if defined({ONLY}) || defined({NO_CODECS}) || defined(GATHER_NO_THREADS)
#error "gather_table.c needs the whole core and threads: without {ONLY}, {NO_CODECS} and GATHER_NO_THREADS"
#endif
#include "gather_table.h"
""",
    ),
)
