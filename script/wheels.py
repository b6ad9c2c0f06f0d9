# SPDX-License-Identifier: MIT
"""wheels.py [--limited|--free-threaded] [--foreign]: asks the installed package for what a wheel must bring along; for script/wheels.
--foreign: only what a Python of another processor can be asked, which cannot start programs; for script/wheels-cross.

Nothing of the package may come from the project's folder or from anywhere but the environment that the wheel was installed into.
"""

import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

import libgather
import libgather.command

sys.path.append(str(Path(__file__).resolve().parent))  # -P leaves it out
import wheel_chunks

WANTED = [wheel_chunks.TABLE[row] for row in wheel_chunks.ROWS]
DECOMPRESSORS = re.compile(r"lib(?:deflate|zstd|lz4)\.so\S*")


def answers_from_here() -> None:
    folder = Path(libgather.__file__).resolve()
    assert folder.is_relative_to(Path(sys.prefix).resolve()), f"imported from {folder}"
    typed = folder.parent / "py.typed"
    assert typed.is_file(), f"{typed} is missing"


def brings_licences() -> None:
    """Its own, and those of the libraries inside."""
    names = {file.name for file in metadata.files("libgather") if "licenses" in file.parts}
    assert names == {"LICENSE", "libnanopb-dev", "libdeflate-dev", "libzstd-dev", "liblz4-dev"}, names


def takes() -> None:
    table = np.arange(24, dtype=np.float32).reshape(6, 4)
    ids = np.array([[5, -6], [2, 2]], dtype=np.int32)
    got = libgather.take(table, ids, axis=0)
    assert got.dtype == table.dtype and got.tobytes() == table[ids].tobytes(), got
    order = np.array([[3, 2, 1, 0]] * 6)
    got = libgather.gather_elements(table, order, axis=1)
    assert got.tobytes() == np.ascontiguousarray(table[:, ::-1]).tobytes(), got
    # Large enough for several threads.
    large = np.arange(4_000_000, dtype=np.int64).reshape(-1, 16)
    rows = np.random.default_rng(1).integers(0, len(large), 400_000)
    assert np.array_equal(libgather.take(large, rows, axis=0, threads=4), large[rows])


def decodes_chunks() -> None:
    """The module has its decompressors inside: it loads none of the system's."""
    with tempfile.TemporaryDirectory() as folder:
        for path in wheel_chunks.write(Path(folder)):
            with libgather.open(path) as table:
                assert table.take(wheel_chunks.ROWS).reshape(-1, 4).tolist() == WANTED, path.name
    maps = Path("/proc/self/maps")
    mapped = set(DECOMPRESSORS.findall(maps.read_text())) if maps.exists() else set()
    assert not mapped, f"loaded from the system: {mapped}"


def the_command_decodes_chunks() -> None:
    """The command, too, where no library can be loaded: whatever has such a name is found before the system's, and is none."""
    with tempfile.TemporaryDirectory() as folder:
        libraries, rows = Path(folder) / "libraries", Path(folder) / "rows.npy"
        libraries.mkdir()
        for name in ("libdeflate.so.0", "libz.so.1", "libzstd.so.1", "liblz4.so.1"):
            (libraries / name).write_bytes(b"")
        for path in wheel_chunks.write(Path(folder)):
            line = [libgather.command.path(), "take", path, json.dumps(wheel_chunks.ROWS), "-o", rows, "--force"]
            done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)}, check=False)
            assert done.returncode == 0, f"{path.name}: {done.stderr}"
            assert np.load(rows).reshape(-1, 4).tolist() == WANTED, path.name


def names_what_is_wrong() -> None:
    wanted = dict(status="index_out_of_range", input="indices", position=(0, 1), value=6, low=-6, high=5, axis=0, bad_count=2)
    out = np.full((1, 3), 7, dtype=np.int16)
    try:
        libgather.take(np.arange(6, dtype=np.int16), [[1, 6, -7]], axis=0, out=out)
    except IndexError as error:
        assert isinstance(error, libgather.GatherIndexError), type(error)
        said = {name: getattr(error, name) for name in wanted}
        assert said == wanted, said
    else:
        raise AssertionError("a bad index was taken")
    assert (out == 7).all(), "the output was touched"


def runs_the_command() -> None:
    """The console script, which stands beside the interpreter."""
    command = Path(sys.executable).parent / "gather"
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"gather {libgather.__version__}\n"), said
    with tempfile.TemporaryDirectory() as folder:
        table, rows = Path(folder) / "table.npy", Path(folder) / "rows.npy"
        np.save(table, np.array([10, 20, 30]))
        subprocess.run([command, "take", table, "[2, 0]", "-o", rows], capture_output=True, check=True)
        assert np.load(rows).tolist() == [30, 10]


def reads_urls_where_libcurl_is() -> None:
    """It is built to read URLs, and brings no libcurl along: where there is none, everything else works and a URL says what is missing."""
    command = Path(sys.executable).parent / "gather"
    url = [command, "info", "http://127.0.0.1:9/x.npy", "--json"]
    said = json.loads(subprocess.run(url, capture_output=True, timeout=60).stdout)["error"]
    assert "this build" not in said["message"], said
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            (Path(folder) / name).write_bytes(b"")  # found before the system's, and no library
        without = {**os.environ, "LD_LIBRARY_PATH": folder}
        said = json.loads(subprocess.run(url, capture_output=True, timeout=60, env=without).stdout)["error"]
        assert said["status"] == "unsupported" and "URLs need libcurl" in said["message"], said
        code = "import libgather, numpy; print(libgather.take(numpy.arange(5), [3], axis=0))"
        said = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, env=without).stdout
        assert said == "[3]\n", said


def brings_plugins() -> None:
    """All but OpenVINO's, of which it brings what builds it."""
    command = Path(sys.executable).parent / "gather"
    said = json.loads(subprocess.run([command, "info", "--plugins", "--json"], capture_output=True, check=True).stdout)
    paths = {row["name"]: Path(row["path"]) for row in said["plugins"] if row["found"]}
    assert {"onnxruntime", "torch", "jax", "duckdb"} <= set(paths), paths
    for name in ("onnxruntime", "jax"):
        ctypes.CDLL(str(paths[name]))
    assert b"C_STRUCT" in paths["duckdb"].read_bytes()[-512:], "DuckDB's trailer is missing"
    kit = paths["onnxruntime"].parent
    for file in ("lib/libgather.a", "lib/link.txt", "include/gather/gather.h", "src/openvino/ops.cpp"):
        assert (kit / file).is_file(), f"{kit / file} is missing"


def is_of_the_kind(kind: str) -> None:
    info = libgather.info()
    limited = kind == "--limited"
    assert info["limited_api"] is limited and info["free_threaded"] is not limited, info
    if not limited:
        assert not sys._is_gil_enabled(), "importing libgather brought the GIL back"


def main() -> None:
    decodes_chunks()  # first: libgather.info() loads libcurl, and the system's may load libzstd
    is_of_the_kind(sys.argv[1])
    if sys.argv[2:] == ["--foreign"]:
        takes()
        names_what_is_wrong()
        print(f"wheels: {platform.machine()}, Python {sys.version.split()[0]}, NumPy {np.__version__}: takes rows, decodes chunks, and names an index out of range")
        return
    for check in (answers_from_here, brings_licences, takes, names_what_is_wrong, runs_the_command,
                  the_command_decodes_chunks, reads_urls_where_libcurl_is, brings_plugins):
        check()
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "check"], check=True, stdout=subprocess.DEVNULL)
    print(f"wheels: Python {sys.version.split()[0]}, NumPy {np.__version__}: as it should be")


if __name__ == "__main__":
    main()
