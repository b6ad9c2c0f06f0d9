# SPDX-License-Identifier: MIT
"""audit_wheel.py PLATFORM WHEEL [--python FILE] [--without SYMBOL]: imports the native files of a wheel without running them; for script/wheels-cross.

A loader of the platform would look up every symbol that a file asks for. This does the same: each must be provided by Python, by the
oldest C library or system that the platform's tag stands for, or by what a plug-in's host has loaded. --python: a Python
without the GIL, or a list of its symbols, for a module that does not keep to the limited API.
--without: as if Python did not have this one, which must be found.
"""

import argparse
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import lief

from wheel_providers import Provider, limited_api, of_file, of_platform

HOSTS = {"libgather_torch.so": "libtorch_cpu.so"}  # a plug-in, and the library that is loaded before it
INNER = re.compile(r"(XML|json|pb|io_uring|libdeflate|ZSTD|HUF|FSE|LZ4F?|XXH\d+)_|gather_(?!init_c_api|openvino_|onnxruntime_)")  # what a file must keep to itself
OF_THE_LINKER = {"_mh_dylib_header", "_mh_execute_header", "__dso_handle"}  # in each file for macOS
NATIVE = (".so", ".pyd", ".dll", ".exe", ".duckdb_extension", "/bin/gather")


def imports_of(binary: lief.Binary) -> list[tuple[str, str, str]]:
    """Rows of symbol, version ("" if none), library ("" = whatever is loaded, "python" = flat lookup on macOS)."""
    if isinstance(binary, lief.PE.Binary):
        return [(entry.name, "", library.name.lower()) for library in binary.imports for entry in library.entries]
    if isinstance(binary, lief.MachO.Binary):
        loaded = libraries_of(binary)
        return [(symbol.name.removeprefix("_"), "", library_of(symbol, loaded)) for symbol in binary.imported_symbols]
    rows = []
    for symbol in binary.dynamic_symbols:
        if symbol.name and symbol.shndx == 0 and symbol.binding != lief.ELF.Symbol.BINDING.WEAK:
            version = symbol.symbol_version
            node = version.symbol_version_auxiliary if version and version.has_auxiliary_version else None
            rows.append((symbol.name, node.name if node else "", ""))
    return rows


def library_of(symbol: lief.MachO.Symbol, loaded: list[str]) -> str:
    """By the binding, which the loader follows; by the symbol table for a symbol that nothing is bound to."""
    if symbol.has_binding_info:
        return symbol.binding_info.library.name if symbol.binding_info.has_library else "python"
    return loaded[symbol.library_ordinal - 1] if 1 <= symbol.library_ordinal <= len(loaded) else "python"


def exports_of(binary: lief.Binary) -> set[str]:
    if isinstance(binary, lief.MachO.Binary):
        return {symbol.name.removeprefix("_") for symbol in binary.exported_symbols} - OF_THE_LINKER
    if isinstance(binary, lief.PE.Binary):
        return {entry.name for entry in binary.get_export().entries} if binary.has_exports else set()
    shown = (lief.ELF.Symbol.VISIBILITY.DEFAULT, lief.ELF.Symbol.VISIBILITY.PROTECTED)
    return {symbol.name for symbol in binary.dynamic_symbols
            if symbol.shndx != 0 and symbol.binding != lief.ELF.Symbol.BINDING.LOCAL and symbol.visibility in shown}


def libraries_of(binary: lief.Binary) -> list[str]:
    if isinstance(binary, lief.MachO.Binary):  # the first one may be the file's own name
        return [library.name for library in binary.libraries if library.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    return [getattr(library, "name", library) for library in binary.libraries]


def parse(path: Path) -> lief.Binary:
    binary = lief.parse(str(path))
    if binary is None:
        raise SystemExit(f"audit_wheel: {path.name} is no ELF, Mach-O or PE file")
    return binary


def audit(name: str, binary: lief.Binary, system: Provider, python: Provider) -> list[str]:
    """What is wrong with a file; prints what is right."""
    is_module = Path(name).name.startswith("_core.")
    host = HOSTS.get(Path(name).name)
    wrong = [f"needs the library {library}" for library in libraries_of(binary)
             if not system.has_library(library) and not (is_module and python.has_library(library)) and library != host]
    count = {"Python": 0, "the system": 0, "the host": 0}
    newest = ""
    for symbol, version, library in imports_of(binary):
        if is_module and python.provides(symbol, version, library):
            count["Python"] += 1
        elif system.provides(symbol, version, library):
            count["the system"] += 1
            newest = max(newest, version, key=system.order)
        elif host and symbol.startswith(("aoti_", "torch_", "_Z")):
            count["the host"] += 1
        else:
            wrong.append(f"{symbol}{'@' if version else ''}{version} of {library or 'any library'} is provided by nothing")
    exports = exports_of(binary)
    if is_module and exports != {"PyInit__core"}:
        wrong.append(f"exports {sorted(exports)[:8]}, and should export PyInit__core alone")
    elif not is_module:
        wrong += [f"exports {export}" for export in sorted(exports) if INNER.match(export)]
    if not any(count.values()):
        wrong.append("imports nothing: it holds no code of ours")
    told = ", ".join(f"{number} of {whose}" for whose, number in count.items() if number)
    print(f"audit: {name}: {told or 'nothing imported'}{f', newest {newest}' if newest else ''}; {len(exports)} exported")
    return [f"{name}: {what}" for what in wrong]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platform")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--without")
    given = parser.parse_args()
    lief.logging.disable()  # it remarks that a file for macOS has no weak bindings
    system = of_platform(given.platform)
    python = of_file(given.python, given.platform) if given.python else limited_api(given.platform)
    python.symbols.pop(given.without, None)
    wrong, modules = [], 0
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(given.wheel) as wheel:
        for name in sorted(wheel.namelist()):
            if not name.endswith(NATIVE) or name.endswith(".a"):
                continue
            modules += Path(name).name.startswith("_core.")
            wrong += audit(name, parse(Path(wheel.extract(name, folder))), system, python)
    if modules != 1:
        wrong.append(f"{modules} extension modules, not one")
    if wrong:
        sys.exit("\n".join(f"audit: WRONG: {line}" for line in wrong))


if __name__ == "__main__":
    main()
