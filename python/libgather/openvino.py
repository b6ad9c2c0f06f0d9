# SPDX-License-Identifier: MIT
"""libgather inside OpenVINO: gathers of ONNX models and of OpenVINO's own run on the library.

    import openvino, libgather.openvino
    core = openvino.Core()
    libgather.openvino.add_to(core)              # or core.add_extension(libgather.openvino.extension_path())
    compiled = core.compile_model("model.xml", "CPU")

libgather takes over the nodes that it runs faster, and leaves the others to OpenVINO. A table of 1 GiB or more stays in its file:
compiling the model does not load it. docs/embed/openvino.md has the rules, docs/measured/plugins.md the figures.
"""

import ctypes
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libgather import _openvino_wheel
from libgather.build import cached

__all__ = ["Report", "TableReport", "add_to", "extension_path", "replace", "report"]

_PLUGINS = Path(__file__).with_name("plugins")


def extension_path() -> str:
    """The path of the extension for the installed OpenVINO, for ``core.add_extension``.

    Raises
    ------
    ImportError
        OpenVINO is not installed.
    FileNotFoundError
        No extension has been built for this release. The message has the command that builds it.
    """
    wheel = _openvino_wheel.find()
    built = cached("openvino")
    for path in (_PLUGINS / "libgather_openvino.so", built):
        if path.is_file() and f"libopenvino.so.{wheel.number}\0".encode() in path.read_bytes():
            return str(path)
    raise FileNotFoundError(
        f"no extension has been built for OpenVINO {wheel.release}, and each release needs a separate one. "
        f"Build it with: python -m libgather.build openvino (it needs a C++ compiler, and writes {built})"
    )


def add_to(
    core: Any,
    *,
    force: bool = False,
    take_out: int | str | None = "1G",
    memory: int | str = 0,
    engine: str = "auto",
    on_bad: str = "rules",
) -> None:
    """Adds the extension to an ``openvino.Core``. It acts on models that this core reads from now on.

    Parameters
    ----------
    core
        The core. Each core has separate options.
    force
        Take over every supported node, even if OpenVINO's own is faster.
    take_out
        Constants of at least this many bytes (or "64M") stay in their file, and their rows are read on demand. None: no constant.
    memory
        The memory limit of each such table, at least 1 MiB; 0 = as the system manages it.
    engine
        How rows are read: "auto", "mmap", "pread" or "uring".
    on_bad
        Policy for an index out of range: "rules" (the operator's document: an error for ONNX, zeros for Gather-8), "error", "zero",
        "clamp" or "wrap".

    Raises
    ------
    ValueError
        An option is invalid. The message names it.
    ImportError, FileNotFoundError
        As extension_path.
    """
    path = extension_path()
    library = _library(path)
    _choose(library, force=force, take_out=take_out, memory=memory, engine=engine, on_bad=on_bad)
    try:
        core.add_extension(path)
    finally:
        library.gather_openvino_options(None, None, 0)


@dataclass(frozen=True)
class TableReport:
    """A constant that stays in its file, and its reads. Counts are those of libgather.Table.stats()."""

    path: str
    engine: str
    offset: int
    rows: int
    row_bytes: int
    takes: int
    rows_taken: int
    rows_resident: int
    rows_cached: int
    rows_read: int
    bytes_useful: int
    bytes_read: int
    memory_bytes: int
    memory_peak: int
    memory_limit: int


@dataclass(frozen=True)
class Report:
    """Statistics of the extension in this process."""

    taken: int  # nodes of read models that libgather runs
    tables_out: int  # of them, those whose table stays in its file
    left: int  # nodes left to OpenVINO
    tables: tuple[TableReport, ...]  # those that are open now


def report() -> Report:
    """The nodes that the extension has taken over in this process, and its reads."""
    library = _library(extension_path())
    size = 1 << 12
    while True:
        text = ctypes.create_string_buffer(size)
        needed = library.gather_openvino_report(text, size)
        if needed < size:
            break
        size = needed + 1
    said = json.loads(text.value.decode("utf-8", "surrogateescape"))
    tables = tuple(TableReport(**table) for table in said.pop("tables"))
    return Report(tables=tables, **said)


def replace(model: Any, **options: Any) -> int:
    """Replaces the gathers of a model in memory: one converted from PyTorch or TensorFlow, or built in Python.

    model: an ``openvino.Model``, changed in place, bodies of loops included. options: those of add_to. Returns the number of replaced
    nodes. A model that a core with the extension has read needs no call. A replaced model compiles without the extension.

    Raises
    ------
    ValueError
        As add_to.
    RuntimeError
        A gather of the model is invalid (an axis that its data does not have). Nodes before it may have been replaced.
    """
    library = _library(extension_path())
    complaint = ctypes.create_string_buffer(1024)
    _choose(library, **options)
    try:
        count = library.gather_openvino_replace(model._get_raw_address(), complaint, len(complaint))
    finally:
        library.gather_openvino_options(None, None, 0)
    if count < 0:
        raise RuntimeError(complaint.value.decode("utf-8", "replace"))
    return int(count)


def _choose(
    library: ctypes.CDLL,
    *,
    force: bool = False,
    take_out: int | str | None = "1G",
    memory: int | str = 0,
    engine: str = "auto",
    on_bad: str = "rules",
) -> None:
    """Sets the options for the next calls in this thread."""
    words = {"force": int(force), "take_out": "off" if take_out is None else take_out, "memory": memory, "engine": engine, "on_bad": on_bad}
    for word in words.values():
        if "," in str(word):
            raise ValueError(f"invalid option value {word!r}")
    complaint = ctypes.create_string_buffer(512)
    text = ",".join(f"{name}={value}" for name, value in words.items())
    if library.gather_openvino_options(text.encode(), complaint, len(complaint)) != 0:
        raise ValueError(complaint.value.decode())


_loaded: dict[str, ctypes.CDLL] = {}


def _library(path: str) -> ctypes.CDLL:
    """The extension, whose own functions take options and give reports. OpenVINO's library must be in the process first."""
    if path not in _loaded:
        import openvino

        if not hasattr(openvino, "Core"):
            raise ImportError("this is not the openvino package of OpenVINO")
        library = ctypes.CDLL(path)
        library.gather_openvino_options.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        library.gather_openvino_options.restype = ctypes.c_int
        library.gather_openvino_replace.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        library.gather_openvino_replace.restype = ctypes.c_int64
        library.gather_openvino_report.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.gather_openvino_report.restype = ctypes.c_size_t
        _loaded[path] = library
    return _loaded[path]
