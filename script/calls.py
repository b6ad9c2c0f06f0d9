# SPDX-License-Identifier: MIT
"""Who calls whom, from the symbols of the object files of a build: calls that a layer may not make, and circles of files.

A circle is a set of files each of which reaches each other one by calls. docs/extend/design.md lists the few that are right, with reasons.
"""

import re
from pathlib import Path

import nm

ROOT = nm.ROOT
LIST = Path("docs/extend/design.md")
HEADING = "### Circles of files"

DOORS = ("core", "io", "table", "model")
HOSTS = ("onnxruntime", "torch", "jax", "duckdb", "openvino")

# What else a part uses than what the library exports: the extension for DuckDB has the command's reading of the environment compiled in.
SHARED = {"plugin/duckdb": ("cli",)}

# Where CMake puts the objects of which folder.
OBJECTS = {
    **{f"src/{door}/CMakeFiles/gather_{door}_objects.dir": Path("src") / door for door in DOORS},
    "cli/CMakeFiles/gather_cli_objects.dir": Path("cli"),
    "cli/CMakeFiles/gather_cli.dir": Path("cli"),
    "python/CMakeFiles/gather_python.dir/src": Path("python/src"),
    "mpi/CMakeFiles/gather_mpi_objects.dir": Path("mpi"),
    **{f"plugin/{host}/CMakeFiles/gather_plugin_{host}.dir": Path("plugin") / host for host in HOSTS},
}

Objects = dict[Path, nm.Symbols]  # by source, relative to the project's root


def read_objects(build: Path) -> tuple[Objects, list[str]]:
    """The objects of a build, and faults: a folder without objects, a source that changed since. Objects of sources that are gone are left
    out."""
    sources: dict[Path, Path] = {}
    faults = []
    for place, folder in OBJECTS.items():
        found = {}
        for file in sorted((build / place).rglob("*.o")):
            source = folder / file.relative_to(build / place).with_suffix("")
            if not (ROOT / source).is_file():
                continue
            found[file] = source
            if (ROOT / source).stat().st_mtime > file.stat().st_mtime:
                faults.append(f"{source} is newer than its object file; run script/build first")
        if not found and ((ROOT / folder).is_dir() if folder.parts[0] == "src" else (build / place).is_dir()):
            faults.append(f"{build / place}: no object files of {folder}; run script/build first")
        sources |= found
    return {sources[file]: symbols for file, symbols in nm.object_symbols(list(sources)).items()}, faults


def layer_of(source: Path, layers: dict[str, list[str]]) -> str:
    """The layer of a file: of the folders below src/ that it is in, the innermost that is one (io/format/npy belongs to io/format). Elsewhere
    the first folder, and each plug-in."""
    if source.parts[0] != "src":
        return "/".join(source.parts[:2]) if source.parts[0] == "plugin" else source.parts[0]
    folders = ["/".join(source.parts[1:end]) for end in range(len(source.parts) - 1, 1, -1)]
    return next((folder for folder in folders if folder in layers), "/".join(source.parts[1:-1]))


def definitions(objects: Objects) -> tuple[dict[str, Path], list[str]]:
    """The file that defines each symbol, and faults: symbols that two files define."""
    where: dict[str, Path] = {}
    faults = []
    for source, symbols in objects.items():
        for name in sorted(symbols.defined):
            if name in where:
                faults.append(f"{source} and {where[name]} both define {name}")
            where[name] = source
    return where, faults


def call_faults(objects: Objects, may_call: dict[str, list[str]], exported: set[str]) -> list[str]:
    """Calls (and uses of data) that cross a border. may_call: the layers of the library; others use only what it exports."""
    where, faults = definitions(objects)
    for source, symbols in objects.items():
        layer = layer_of(source, may_call)
        for name in sorted(symbols.needed & where.keys()):
            target = where[name]
            below = layer_of(target, may_call)
            if below == layer:
                continue
            inside = layer in may_call
            if inside and below not in may_call[layer]:
                faults.append(f"{source} ({layer}) calls {name} of {target} ({below})")
            if not inside and below not in SHARED.get(layer, ()) and (below not in may_call or name not in exported):
                faults.append(f"{source} ({layer}) calls {name} of {target} ({below}), which the library does not export")
    return faults


def circles(graph: dict) -> list[list]:
    """The sets of two or more nodes that all reach one another (Tarjan's algorithm)."""
    number: dict = {}
    lowest: dict = {}
    stack: list = []
    found: list[list] = []

    def visit(node) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in number:
                visit(target)
            if target in stack:
                lowest[node] = min(lowest[node], lowest[target])
        if lowest[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def listed_circles() -> list[list[Path]]:
    """The rows of the table in docs/extend/design.md: the files in its first column."""
    text = (ROOT / LIST).read_text(encoding="utf-8") if (ROOT / LIST).is_file() else ""
    _, _, section = text.partition(HEADING + "\n")
    rows = [line.split("|")[1:3] for line in re.split(r"^#", section, maxsplit=1, flags=re.M)[0].splitlines() if line.startswith("| `")]
    return [sorted(Path(name) for name in re.findall(r"`([^`]+)`", files)) for files, reason in rows if reason.strip()]


def circle_faults(objects: Objects, listed: list[list[Path]]) -> list[str]:
    """Circles that are not listed, and rows of the list that are no circle."""
    where, _ = definitions(objects)
    graph = {source: {where[name] for name in symbols.needed & where.keys()} - {source} for source, symbols in objects.items()}
    found = circles(graph)
    faults = []
    for circle in found:
        if circle in listed:
            continue
        lines = [f"circle of files that {LIST} does not list:"]
        for source in circle:
            for target in sorted(graph[source] & set(circle)):
                names = sorted(name for name in objects[source].needed if where.get(name) == target)
                lines.append(f"  {source} calls {' '.join(names)} of {target}")
        faults.append("\n".join(lines))
    for row in listed:
        # A file may be missing from a build that leaves its format out, but not from the source.
        if row not in found and all(source in objects or not (ROOT / source).is_file() for source in row):
            faults.append(f"{LIST} lists a circle that is none: {' '.join(map(str, row))}")
    return faults
