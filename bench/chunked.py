# SPDX-License-Identifier: MIT
"""Measures rows taken at random from files in chunks: HDF5, zarr, Arrow, and a .npy of the same rows beside them. `script/bench chunked`
calls this. Each take is a process of its own, which opens the file anew; its imports are not counted."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, Callable, Iterator

import numpy as np

KIND = "chunked"
HEADS, LISTS = ("machine", "settings", "files"), ("rows",)
PART = 65536  # rows that are made and written at once: of a batch, of a shard
CHUNK = 256
MODES = ("cold", "warm")

# ---- files


@dataclass(frozen=True)
class Rows:
    """The rows of all files, which the .npy has."""

    path: Path

    def parts(self) -> Iterator[tuple[int, np.ndarray]]:
        rows = np.load(self.path, mmap_mode="r")
        for first in range(0, len(rows), PART):
            yield first, np.ascontiguousarray(rows[first : first + PART])

    @property
    def shape(self) -> tuple[int, int]:
        return np.load(self.path, mmap_mode="r").shape


def make_npy(path: Path, shape: tuple[int, int]) -> None:
    """Normal deviates with the digits of float16: about half of their bytes are noise."""
    random = np.random.default_rng(1)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for first in range(0, shape[0], PART):
        count = min(PART, shape[0] - first)
        rows[first : first + count] = random.standard_normal((count, shape[1]), np.float32).astype(np.float16)
    rows.flush()


def make_hdf5(path: Path, rows: Rows, *, codec: str = "", **options: Any) -> None:
    import h5py

    if codec:
        import hdf5plugin

        known = {"blosc": lambda: hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=1), "zstd": lambda: hdf5plugin.Zstd(clevel=3)}
        options |= known[codec]()
    if "chunks" in options:
        options["chunks"] = (min(CHUNK, rows.shape[0]), rows.shape[1])
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", rows.shape, np.float32, **options)
        for first, part in rows.parts():
            data[first : first + len(part)] = part


def make_zarr(path: Path, rows: Rows, **options: Any) -> None:
    import zarr

    columns = rows.shape[1]
    for name in ("chunks", "shards"):
        if name in options:
            options[name] = (options[name], columns)
    array = zarr.create_array(str(path), shape=rows.shape, dtype="f4", **options)
    for first, part in rows.parts():
        array[first : first + len(part)] = part


def make_blosc_zarr(path: Path, rows: Rows) -> None:
    from numcodecs import Blosc

    make_zarr(path, rows, chunks=2048, zarr_format=2, compressors=Blosc("lz4", 5, 1))


def make_shards(path: Path, rows: Rows) -> None:
    import zarr.codecs

    codec = zarr.codecs.BloscCodec(cname="zstd", clevel=3, shuffle="shuffle")
    make_zarr(path, rows, chunks=CHUNK, shards=PART, zarr_format=3, compressors=codec)


def make_arrow(path: Path, rows: Rows, codec: str | None = None) -> None:
    """What pyarrow.feather writes, batch by batch."""
    import pyarrow as pa

    columns = rows.shape[1]
    schema = pa.schema([("x", pa.list_(pa.float32(), columns))])
    with pa.ipc.new_file(str(path), schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        for _, part in rows.parts():
            column = pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), columns)
            writer.write_batch(pa.record_batch([column], names=["x"]))


FILES: dict[str, tuple[str, Callable[[Path, Rows], None] | None]] = {  # what it is; how it is made
    "rows.npy": (".npy", None),
    "contiguous.h5": ("HDF5, contiguous", make_hdf5),
    "plain.h5": ("HDF5, chunks of 256 rows, no filter", lambda p, r: make_hdf5(p, r, chunks=True)),
    "gzip.h5": ("HDF5, shuffle and gzip 4", lambda p, r: make_hdf5(p, r, chunks=True, shuffle=True, compression="gzip")),
    "lzf.h5": ("HDF5, shuffle and lzf", lambda p, r: make_hdf5(p, r, chunks=True, shuffle=True, compression="lzf")),
    "blosc.h5": ("HDF5, blosc lz4", lambda p, r: make_hdf5(p, r, chunks=True, codec="blosc")),
    "zstd.h5": ("HDF5, shuffle and zstd 3", lambda p, r: make_hdf5(p, r, chunks=True, shuffle=True, codec="zstd")),
    "own.h5": ("HDF5, gzip, h5py's own chunks", lambda p, r: make_hdf5(p, r, compression="gzip")),
    "shards.zarr": ("zarr 3, shards of 65,536 rows, blosc zstd", make_shards),
    "blosc.zarr": ("zarr 2, chunks of 2,048 rows, blosc lz4", make_blosc_zarr),
    "own.zarr": ("zarr 3, zarr-python's own chunks, zstd", lambda p, r: make_zarr(p, r, zarr_format=3)),
    "lz4.feather": ("Feather, LZ4", lambda p, r: make_arrow(p, r, "lz4")),
    "zstd.feather": ("Feather, zstd", lambda p, r: make_arrow(p, r, "zstd")),
    "plain.feather": ("Feather, not compressed", make_arrow),
}


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())


def bytes_of(path: Path) -> int:
    return sum(one.stat().st_size for one in files_of(path))


def remove_all(folder: Path) -> None:
    """Removes what make_all makes, nothing else."""
    for name in FILES:
        for path in (folder / name, folder / f"new-{name}"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def make_all(folder: Path, wanted: list[str], shape: tuple[int, int]) -> dict[str, str]:
    """Makes the files that are not there. Returns those that cannot be made, and why."""
    absent = {}
    folder.mkdir(parents=True, exist_ok=True)
    rows = Rows(folder / "rows.npy")
    if not rows.path.exists() or rows.shape != shape:
        remove_all(folder)
        make_npy(rows.path, shape)
    for name in wanted:
        path, make = folder / name, FILES[name][1]
        unfinished = folder / f"new-{name}"
        if make is None or path.exists():
            continue
        try:
            make(unfinished, rows)
            unfinished.rename(path)
        except Exception as error:  # noqa: BLE001  a package that is missing, or does not know an option
            absent[name] = reason(error)
    return absent


def reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"


# ---- contenders: what is called with a path and ids

Take = Callable[[Path, np.ndarray], np.ndarray]


def sorted_once(ids: np.ndarray, take: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """For libraries that want ascending ids, each once."""
    once, back = np.unique(ids, return_inverse=True)
    return take(once)[back]


def libgather_take(path: Path, ids: np.ndarray) -> np.ndarray:
    import libgather

    name = "" if path.suffix in (".npy", ".zarr") else ":x"
    with libgather.open(f"{path}{name}") as table:
        return table[ids]


def numpy_take(path: Path, ids: np.ndarray) -> np.ndarray:
    return np.load(path, mmap_mode="r")[ids]


def h5py_take(path: Path, ids: np.ndarray) -> np.ndarray:
    import h5py

    with h5py.File(path) as file:
        return sorted_once(ids, lambda once: file["x"][once])


def zarr_take(path: Path, ids: np.ndarray) -> np.ndarray:
    import zarr

    return zarr.open_array(str(path), mode="r").oindex[ids]


def tensorstore_take(path: Path, ids: np.ndarray) -> np.ndarray:
    import tensorstore

    driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path)}}
    return tensorstore.open(spec, read=True, open=True).result()[ids].read().result()


def pyarrow_take(path: Path, ids: np.ndarray) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import feather

    column = feather.read_table(path, memory_map=True).take(pa.array(ids))["x"]
    return pa.concat_arrays(column.chunks).flatten().to_numpy().reshape(len(ids), -1)


CONTENDERS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Take]] = {  # files, packages, take
    "libgather": ((".npy", ".h5", ".zarr", ".feather"), ("libgather",), libgather_take),
    "numpy memmap": ((".npy",), (), numpy_take),
    "h5py": ((".h5",), ("h5py",), h5py_take),
    "zarr-python": ((".zarr",), ("zarr",), zarr_take),
    "tensorstore": ((".zarr",), ("tensorstore",), tensorstore_take),
    "pyarrow": ((".feather",), ("pyarrow.feather",), pyarrow_take),
}


def versions() -> tuple[dict[str, str], dict[str, str]]:
    """Of the contenders that are here; and why the others are not."""
    from importlib.metadata import PackageNotFoundError, version

    found, absent = {"numpy": np.__version__}, {}
    for name, (_, packages, _) in CONTENDERS.items():
        for package in packages:
            try:
                module = importlib.import_module(package)
                top = package.split(".")[0]
                found[top] = getattr(module, "__version__", None) or version(top)
            except PackageNotFoundError:
                found[top] = "unknown"
            except Exception as error:  # noqa: BLE001  whatever an import raises
                absent[name] = reason(error)
    return found, absent


# ---- one take, in a process of its own


def drop(path: Path) -> None:
    """Out of the page cache. What is not written yet stays in it: it is written first."""
    for one in files_of(path):
        with one.open("rb") as file:
            os.fdatasync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def load(path: Path) -> None:
    room = bytearray(1 << 22)
    for one in files_of(path):
        with one.open("rb", buffering=0) as file:
            while file.readinto(room):
                pass


def counted(file: str, name: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+)", Path(f"/proc/self/{file}").read_text(encoding="utf-8"), re.M)
    return int(found[1]) if found else 0


def child(contender: str, path: Path, count: int, mode: str) -> None:
    """Prints what one take costs. Every row is compared."""
    _, packages, take = CONTENDERS[contender]
    for package in packages:
        importlib.import_module(package)
    if contender == "h5py":
        with suppress(ImportError):  # which files with its filters were made without
            importlib.import_module("hdf5plugin")
    truth = np.load(path.parent / "rows.npy", mmap_mode="r")
    ids = np.random.default_rng(7).integers(0, len(truth), count)
    (drop if mode == "cold" else load)(path)
    read, cpu, start = counted("io", "read_bytes"), time.process_time_ns(), time.perf_counter_ns()
    rows = take(path, ids)
    ns, cpu = time.perf_counter_ns() - start, time.process_time_ns() - cpu
    told = {"ns": ns, "cpu_ns": cpu, "read": counted("io", "read_bytes") - read, "peak": counted("status", "VmHWM") * 1024}
    right = rows.dtype == truth.dtype and rows.shape == (count, truth.shape[1])
    for first in range(0, count if right else 0, PART):
        right = right and bool((rows[first : first + PART] == truth[ids[first : first + PART]]).all())
    print(json.dumps(told | {"right": right}))


def ask(contender: str, path: Path, count: int, mode: str, seconds: float) -> dict:
    words = [sys.executable, __file__, "--child", contender, str(path), str(count), mode]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"error": f"took longer than {seconds:g} s"}
    if done.returncode != 0 or not done.stdout:
        return {"error": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1][:200]}
    told = json.loads(done.stdout.splitlines()[-1])
    return told if told["right"] else {"error": "wrong rows"}


# ---- all of them


def measure(asked: argparse.Namespace, folder: Path, ways: list[tuple[str, str]]) -> list[dict]:
    """Round by round, so that what else the machine does meets all contenders alike. After an error a way is not asked again."""
    told: dict[tuple, list[dict]] = {}
    for number in range(asked.rounds):
        for count in asked.ids:
            for file, contender in ways:
                for mode in MODES:
                    key = (file, contender, count, mode)
                    before = told.setdefault(key, [])
                    if not before or "error" not in before[-1]:
                        before.append(ask(contender, folder / file, count, mode, asked.seconds))
        print(f"bench: round {number + 1} of {asked.rounds}", file=sys.stderr, flush=True)
    return [row_of(key, found) for key, found in told.items()]


def row_of(key: tuple, found: list[dict]) -> dict:
    row = dict(zip(("file", "contender", "ids", "mode"), key))
    if "error" in found[-1]:
        return row | {"error": found[-1]["error"]}
    return row | {name: int(median(one[name] for one in found)) for name in ("ns", "cpu_ns", "read", "peak")} | {
        "least_ns": min(one["ns"] for one in found), "most_ns": max(one["ns"] for one in found), "rounds": len(found)}  # fmt: skip


def lines(found: dict) -> list[str]:
    """The results as a table."""
    rows = {(row["file"], row["contender"], row["ids"], row["mode"]): row for row in found["rows"]}
    settings = found["settings"]
    out = [f"float32 {settings['shape']}, ids at random; medians of {settings['rounds']}; cold / warm", ""]
    out += [f"{'file':<44} {'who':<13} {'ids':>7} {'ms':>19} {'CPU ms':>17} {'MB read':>9} {'peak MB':>11}"]
    for file, contender, count, mode in rows:
        if mode != "cold":
            continue
        both = [rows[file, contender, count, one] for one in MODES]
        start = f"{FILES[file][0]:<44} {contender:<13} {count:>7} "
        why = next((one["error"] for one in both if "error" in one), None)
        if why:
            out.append(start + why)
            continue
        wall, cpu = (" / ".join(f"{one[name] / 1e6:.1f}" for one in both) for name in ("ns", "cpu_ns"))
        peak = " / ".join(f"{one['peak'] / 1e6:.0f}" for one in both)
        out.append(f"{start}{wall:>19} {cpu:>17} {both[0]['read'] / 1e6:>9.1f} {peak:>11}")
    return out + [f"{name}: left out: {why}" for name, why in found["machine"]["absent"].items()]


def numbers(text: str) -> list[int]:
    found = [int(part) for part in text.split(",")]
    if min(found) < 1:
        raise argparse.ArgumentTypeError("at least 1 is wanted")
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench chunked", description="Measures rows out of files in chunks: HDF5, zarr, Arrow.")
    parser.add_argument("--quick", action="store_true", help="131072 rows, 1000 ids, one round")
    parser.add_argument("--rows", type=int, default=0, metavar="N", help="of the files (default: 2097152)")
    parser.add_argument("--columns", type=int, default=128, metavar="N", help="float32 numbers of a row (default: %(default)s)")
    parser.add_argument("--ids", type=numbers, default=None, metavar="LIST", help="of a take (default: 1000,10000)")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="of which the medians are shown (default: 5)")
    parser.add_argument("--only", default="", metavar="REGEX", help="files and contenders, 'gzip.h5 libgather'")
    parser.add_argument("--seconds", type=float, default=240, metavar="N", help="that a take may last (default: %(default)g)")
    parser.add_argument("--folder", default="build/bench-chunked", metavar="DIR", help="where the files are made (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the files, and use those that are there already")
    parser.add_argument("--json", default="", metavar="FILE", help="write the results to this file (default: to build/results)")
    asked = parser.parse_args()
    asked.rows = asked.rows or ((1 << 17) if asked.quick else 1 << 21)
    asked.ids = asked.ids or ([1000] if asked.quick else [1000, 10000])
    asked.rounds = asked.rounds or (1 if asked.quick else 5)
    if min(asked.rows, asked.columns, asked.rounds) < 1:
        parser.error("rows, columns and rounds are at least 1")
    return asked


def run(asked: argparse.Namespace) -> dict:
    import machine
    import tables_machine

    folder = Path(asked.folder).resolve()
    known, absent = versions()
    ways = [(file, name) for file in FILES for name, (kinds, _, _) in CONTENDERS.items()
            if Path(file).suffix in kinds and re.search(asked.only, f"{file} {name}")]  # fmt: skip
    wanted = list(dict.fromkeys(file for file, _ in ways))
    if not wanted:
        raise SystemExit("bench: no file and contender is named so")
    try:
        absent |= make_all(folder, wanted, (asked.rows, asked.columns))
        for name, why in absent.items():
            print(f"bench: absent: {name}: {why}", file=sys.stderr, flush=True)
        ways = [way for way in ways if not absent.keys() & set(way)]
        about = {"date": date.today().isoformat(), **machine.describe(0.0, [], absent, False), **tables_machine.disk(folder)}
        about |= {"versions": known, "absent": absent, "command": "script/bench chunked" + " --quick" * asked.quick}
        for name in ("huge_pages", "flush"):
            about.pop(name, None)
        sizes = {file: bytes_of(folder / file) for file in wanted if file not in absent}
        rows = measure(asked, folder, ways)
    finally:
        if not asked.keep:
            remove_all(folder)
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
    told = {"quick": asked.quick, "shape": [asked.rows, asked.columns], "ids": asked.ids, "rounds": asked.rounds}
    return {"machine": about, "settings": told, "files": sizes, "rows": rows}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        contender, path, count, mode = sys.argv[2:]
        child(contender, Path(path), int(count), mode)
        return 0
    import results

    asked = arguments()
    found = run(asked)
    text = "\n".join(lines(found)) + "\n"
    path = results.keep(asked.json, results.name_of(KIND, found), results.written(found, HEADS, LISTS))
    print(text, end="")
    print(f"written: {path} and {results.write(path.with_suffix('.txt'), text).name}")
    return 0 if not any("error" in row for row in found["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
