# SPDX-License-Identifier: MIT
"""libgather_mpi for Python: its file, and its structures. A library works only with the MPI that it was compiled for: communicators of
Open MPI are pointers, those of MPICH integers."""

import ctypes as c
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_RANK = 64
INT64, UINT64, OPAQUE = 5, 9, 31  # rows of gather/type.def, whose numbers never change
LAYOUTS = ("auto", "blocks", "stripes", "splits", "same")
ON_BAD = {"raise": 1, "error": 1, "clip": 2, "clamp": 2, "wrap": 3, "zero": 4, "fill": 5}
VENDORS = {"Open MPI": "openmpi", "MPICH": "mpich"}


class Error(c.Structure):
    """gather_error."""

    _fields_ = [
        *(("status", c.c_int), ("message", c.c_char * 512), ("op", c.c_char_p), ("rules", c.c_char_p), ("input", c.c_char_p)),
        *(("file", c.c_char * 256), ("file_offset", c.c_int64), ("row", c.c_int64), ("axis", c.c_int32), ("position_rank", c.c_int32)),
        *(("position", c.c_int64 * MAX_RANK), ("value_is_unsigned", c.c_bool), ("system_error", c.c_int16)),
        *(("value", c.c_int64), ("low", c.c_int64), ("high", c.c_int64), ("bad_count", c.c_int64)),
        ("first_position", c.c_int64 * MAX_RANK),
    ]


class Tensor(c.Structure):
    """gather_tensor."""

    _fields_ = [
        *(("data", c.c_void_p), ("type", c.c_int), ("rank", c.c_int32), ("item_bytes", c.c_int64)),
        *(("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("packed_offset", c.c_int64), ("flags", c.c_uint32)),
    ]


READ = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Tensor), c.POINTER(Tensor), c.POINTER(Error))


class Options(c.Structure):
    """gather_mpi_options."""

    _fields_ = [
        *(("size", c.c_size_t), ("layout", c.c_int), ("splits", c.POINTER(c.c_int64)), ("table", c.c_void_p), ("read", READ)),
        *(("read_context", c.c_void_p), ("op", c.c_void_p), ("on_bad", c.c_int), ("negative", c.c_int), ("fill", c.c_void_p)),
        *(("executor", c.c_void_p), ("rounds", c.c_int32), ("buffer_bytes", c.c_int64), ("hot_rows", c.c_int64)),
        *(("seconds", c.c_double), ("failed_rank", c.POINTER(c.c_int32))),
    ]


class Info(c.Structure):
    """gather_mpi_info."""

    _fields_ = [
        *(("tensor", Tensor), ("rows", c.c_int64), ("row_bytes", c.c_int64), ("rows_mine", c.c_int64)),
        *(("rank", c.c_int32), ("ranks", c.c_int32), ("layout", c.c_int), ("why", c.c_char_p)),
    ]


COUNTS = (
    *("takes", "takes_kept", "exchanges", "ids", "unique", "repaired", "rows_own", "rows_hot", "rows_received", "rows_sent"),
    *("hot_rows", "memory_bytes"),
)
SECONDS = ("seconds_plan", "seconds_ids", "seconds_gather", "seconds_wait", "seconds_place")


class Statistics(c.Structure):
    """gather_mpi_statistics."""

    _fields_ = [*((name, c.c_int64) for name in COUNTS), *((name, c.c_double) for name in SECONDS)]


# ---- which library -------------------------------------------------------------------------------------------------------


def vendor(text: str) -> str:
    """ "openmpi" or "mpich" of MPI's version text, or of an MPI that is compatible with MPICH."""
    return VENDORS["Open MPI"] if "Open MPI" in text else VENDORS["MPICH"]


def vendor_of_compiler(words: list[str]) -> str | None:
    """The MPI of an mpicc, by the macros of its <mpi.h>; None if it cannot be run."""
    try:
        done = subprocess.run([*words, "-E", "-dM", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True, text=True, check=False)
    except OSError:
        return None
    if done.returncode != 0:
        return None
    return "openmpi" if re.search(r"#define OMPI_MAJOR_VERSION\b", done.stdout) else "mpich"


def compiler(wanted: str) -> list[str] | None:
    """An mpicc of this vendor: $MPICC, mpicc, mpicc.VENDOR; None if there is none."""
    for words in (shlex.split(os.environ.get("MPICC", "")), ["mpicc"], [f"mpicc.{wanted}"]):
        if words and shutil.which(words[0]) and vendor_of_compiler(words) == wanted:
            return words
    return None


def cached(wanted: str) -> Path:
    """Where `python -m libgather.build mpi` puts the library for a vendor."""
    from libgather import __version__

    root = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(root) if os.path.isabs(root) else Path.home() / ".cache"
    return cache / "libgather" / __version__ / f"mpi-{wanted}" / "libgather_mpi.so"


def find(version: str) -> c.CDLL:
    """The library for the MPI that describes itself so: $LIBGATHER_MPI, the one that was built for this package, or the system's.

    Raises
    ------
    FileNotFoundError
        There is no library for this MPI. The message says how to get one.
    """
    wanted = vendor(version)
    looked = []
    for path in filter(None, (os.environ.get("LIBGATHER_MPI"), str(cached(wanted)), "libgather_mpi.so.0")):
        if os.path.isabs(path) and not os.path.isfile(path):
            looked.append(path)
            continue
        try:
            library = declare(c.CDLL(path))
        except OSError as error:
            looked.append(f"{path} ({error})")
            continue
        built_for = library.gather_mpi_built_for().decode()
        if vendor(built_for) == wanted:
            return library
        looked.append(f"{path} (built for {built_for})")
    raise FileNotFoundError(
        f"no libgather_mpi for {version.splitlines()[0]}: looked for {', '.join(looked)}. Build it with: python -m libgather.build mpi "
        "(it needs the mpicc of that MPI)"
    )


def declare(library: c.CDLL) -> c.CDLL:
    """Sets the types of the functions, except of those with a communicator, which get them at the call."""
    library.gather_mpi_built_for.restype = c.c_char_p
    library.gather_mpi_take.argtypes = [c.c_void_p, c.POINTER(Tensor), c.POINTER(Tensor), c.POINTER(Error)]
    library.gather_mpi_plan_destroy.argtypes = [c.c_void_p]
    library.gather_mpi_plan_destroy.restype = None
    library.gather_mpi_plan_describe.argtypes = [c.c_void_p]
    library.gather_mpi_plan_describe.restype = c.POINTER(Info)
    library.gather_mpi_plan_statistics.argtypes = [c.c_void_p, c.POINTER(Statistics)]
    library.gather_mpi_plan_statistics.restype = None
    return library


def create_function(library: c.CDLL, comm_bytes: int) -> Callable[..., int]:
    """gather_mpi_plan_create for communicators of this size: pointers or integers."""
    comm: Any = c.c_int if comm_bytes == c.sizeof(c.c_int) else c.c_void_p
    prototype = c.CFUNCTYPE(c.c_int, comm, c.POINTER(Tensor), c.POINTER(Options), c.POINTER(c.c_void_p), c.POINTER(Error))
    return prototype(("gather_mpi_plan_create", library))
