# SPDX-License-Identifier: MIT
"""Builds a plug-in for the host that is installed here: ``python -m libgather.build openvino``, ``python -m libgather.build mpi``.

Some hosts need a binary for each release, more than a wheel can contain. The package contains the sources, the headers and the static
library instead. This module compiles them into the user's cache (``$XDG_CACHE_HOME/libgather``, else ``~/.cache/libgather``), and
libgather finds the result there. OpenVINO needs a C++17 compiler: ``$CXX``, else c++, g++ or clang++. MPI needs the compiler command
of the MPI that mpi4py uses: ``$MPICC``, else mpicc, mpicc.openmpi or mpicc.mpich.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from libgather import _mpi_library, _openvino_wheel

__all__ = ["HOSTS", "BuildError", "build", "cached"]

HOSTS = ("openvino", "mpi")
_PACKAGE = Path(__file__).parent
_KIT = _PACKAGE / "plugins"


class BuildError(RuntimeError):
    """A plug-in could not be built. The message says why, and what to do."""


def cached(host: str) -> Path:
    """The path of the plug-in for the installed release of a host, built or not. Does not import the host into this process.

    Raises
    ------
    ImportError
        The host is not installed.
    ValueError
        Unknown host. The message lists the hosts.
    """
    _check(host)
    if host == "mpi":
        return _mpi_library.cached(_mpi_vendor())
    from libgather import __version__  # not at import: build.py runs with -m, after the package

    wheel = _openvino_wheel.find()
    root = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(root) if os.path.isabs(root) else Path.home() / ".cache"
    return cache / "libgather" / __version__ / f"openvino-{wheel.release}" / "libgather_openvino.so"


def build(host: str, *, force: bool = False, verbose: bool = False) -> Path:
    """Builds the plug-in for the installed release of a host, unless it exists, and returns its path.

    The file is written atomically, so several processes may build at a time.

    Parameters
    ----------
    host
        "openvino" or "mpi".
    force
        Build even if the plug-in exists.
    verbose
        Print each command of the compiler.

    Raises
    ------
    BuildError
        No compiler, no sources (libgather was built without plug-ins), or an error of the compiler, with its last lines.
    ImportError
        The host is not installed.
    """
    path = cached(host)
    if path.is_file() and not force:
        return path
    sources = sorted((_KIT / "src" / host).glob("*.c" if host == "mpi" else "*.cpp"))
    if not sources or not (_KIT / "lib" / "libgather.a").is_file():
        raise BuildError(f"this libgather has no sources for {host}: {_KIT / 'src' / host} is missing (GATHER_PLUGINS=OFF)")
    compiler = _mpi_compiler() if host == "mpi" else _compiler()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        if host == "mpi":
            _compile_mpi(compiler, sources, made, verbose)
        else:
            _compile(compiler, sources, _openvino_wheel.find(), made, verbose)
        os.replace(made, path)
    return path


def _check(host: str) -> None:
    if host not in HOSTS:
        raise ValueError(f"libgather.build builds for {', '.join(HOSTS)}, not for {host!r}; other plug-ins come with the package")


def _compiler() -> list[str]:
    chosen = os.environ.get("CXX")
    if chosen:
        words = shlex.split(chosen)
        if not words or shutil.which(words[0]) is None:
            raise BuildError(f"CXX is {chosen!r}, which cannot be run")
        return words
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return [name]
    raise BuildError("no C++17 compiler: none of c++, g++, clang++ is in PATH; set CXX, or on Debian: apt install g++")


def _compile(compiler: list[str], sources: Sequence[Path], wheel: _openvino_wheel.Wheel, made: Path, verbose: bool) -> None:
    flags = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-DIMPLEMENT_OPENVINO_EXTENSION_API", "-DNDEBUG"]
    flags += [f"-D_GLIBCXX_USE_CXX11_ABI={wheel.abi}", "-isystem", wheel.include, "-I", str(_KIT / "include")]
    flags += ["-DGATHER_OPENVINO_TBB"] if wheel.tbb else []
    objects = [str(made.parent / f"{source.stem}.o") for source in sources]
    commands = [[*compiler, *flags, "-c", str(source), "-o", target] for source, target in zip(sources, objects, strict=True)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.map(lambda command: _run(command, verbose), commands):
            pass
    link = [*compiler, "-shared", "-o", str(made), *objects, *_libraries(), wheel.library, *([wheel.tbb] if wheel.tbb else [])]
    _run([*link, "-lpthread", "-lm", "-Wl,--exclude-libs,ALL", "-Wl,-z,defs", "-Wl,-z,nodelete"], verbose)


def _mpi_vendor() -> str:
    """The MPI that mpi4py uses here, asked in another process, since importing mpi4py.MPI may start MPI."""
    ask = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ImportError(f"mpi4py cannot be used (pip install mpi4py, and an MPI): {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return _mpi_library.vendor(done.stdout)


def _mpi_compiler() -> list[str]:
    wanted = _mpi_vendor()
    words = _mpi_library.compiler(wanted)
    if words is None:
        raise BuildError(
            f"mpi4py uses {wanted} here, but neither $MPICC nor mpicc nor mpicc.{wanted} compiles for it. "
            f"On Debian: apt install {'libopenmpi-dev' if wanted == 'openmpi' else 'libmpich-dev'}"
        )
    return words


def _compile_mpi(compiler: list[str], sources: Sequence[Path], made: Path, verbose: bool) -> None:
    flags = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-D_FILE_OFFSET_BITS=64"]
    flags += ["-I", str(_KIT / "include"), "-I", str(_KIT / "src/mpi/include"), "-shared"]
    link = [*map(str, sources), "-o", str(made), *_libraries(), "-lpthread", "-lm", "-Wl,--exclude-libs,ALL", "-Wl,-z,defs"]
    _run([*compiler, *flags, *link], verbose)


def _libraries() -> list[str]:
    """The static library and its dependencies, in link order: names in lib/, or absolute paths."""
    words = (_KIT / "lib" / "link.txt").read_text(encoding="utf-8").split("\n")
    return [word if os.path.isabs(word) else str(_KIT / "lib" / word) for word in words if word]


def _run(command: list[str], verbose: bool) -> None:
    if verbose:
        print(shlex.join(command), flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-20:])
        raise BuildError(f"the compiler failed ({done.returncode}):\n{shlex.join(command)}\n{last}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: prints the path of the plug-in."""
    parser = argparse.ArgumentParser(prog="python -m libgather.build", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host", choices=HOSTS, help="the installed package to build for")
    parser.add_argument("--force", action="store_true", help="build even if it exists")
    parser.add_argument("--verbose", action="store_true", help="print the commands")
    given = parser.parse_args(arguments)
    try:
        print(build(given.host, force=given.force, verbose=given.verbose))
    except (BuildError, ImportError, OSError) as error:
        print(f"libgather.build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
