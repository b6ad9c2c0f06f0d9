# SPDX-License-Identifier: MIT
"""Files of HDF5 and zarr that other programs write: each dataset is read by libgather and by h5py or zarr-python, and rows drawn at random
are compared bit for bit. What is refused has to be refused by name, with what to do. By hand:
`PYTHONPATH=build/release/python PYTHON conformance/file_writers.py [--writers NAME,...] [--keep FOLDER]`, with a Python that has h5py, zarr,
tables, netCDF4, anndata, pynwb, xarray, dask, h5netcdf, pandas and hdf5plugin; a writer whose package is missing is reported.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np

import libgather

KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
TYPES = [order + kind for order in "<>" for kind in KINDS]
SHAPES = [(37,), (203, 6), (19, 3, 5)]


def filled(shape, dtype, seed: int = 0) -> np.ndarray:
    """Numbers of few digits, so that filters have something to do."""
    return np.random.default_rng(seed).integers(0, 90, shape).astype(dtype)


# ---- the writers: each writes files into a folder


def pytables(folder: Path) -> None:
    import tables

    codecs = [None, "zlib", "lzo", "bzip2", "blosc", *(f"blosc:{name}" for name in tables.blosc_compressor_list()), "blosc2"]
    with tables.open_file(folder / "filters.h5", "w") as file:
        for number, (codec, level, shuffle, sums) in enumerate(itertools.product(codecs, (1, 5, 9), (0, 1, 2), (False, True))):
            if codec and not tables.which_lib_version(codec.split(":")[0]):
                continue
            if shuffle == 2 and (not codec or not codec.startswith("blosc")):
                continue
            options = {"complevel": level, "complib": codec} if codec else {"complevel": 0}
            filters = tables.Filters(shuffle=shuffle == 1, bitshuffle=shuffle == 2, fletcher32=sums, **options)
            dtype = KINDS[number % len(KINDS)]
            array = filled((301, 4), dtype, number)
            name = f"{(codec or 'none').replace(':', '_')}_{level}_{shuffle}_{int(sums)}"
            file.create_carray("/", f"c_{name}", obj=array, filters=filters, chunkshape=(50, 3))
            grown = file.create_earray("/", f"e_{name}", tables.Atom.from_dtype(np.dtype(dtype)), (0, 4), filters=filters)
            for first in range(0, 301, 43):
                grown.append(array[first : first + 43])
    with tables.open_file(folder / "types.h5", "w") as file:
        for number, (dtype, shape) in enumerate(itertools.product([*TYPES, "S7", "c8", "c16", "?"], SHAPES)):
            array = filled(shape, dtype, number)
            name = f"t{np.dtype(dtype).str[1:]}_{'big' if dtype[0] == '>' else 'little'}_{len(shape)}"
            file.create_array("/arrays", name, array, createparents=True, byteorder="big" if dtype[0] == ">" else "little")
            file.create_carray("/carrays", name, obj=array, createparents=True, filters=tables.Filters(1, "zlib"),
                               byteorder="big" if dtype[0] == ">" else "little")
            grown = file.create_earray("/along", name, tables.Atom.from_dtype(np.dtype(dtype)), (*shape[:-1], 0), createparents=True)
            for part in np.array_split(array, 3, axis=-1):
                grown.append(part)
        file.create_table("/", "table", np.zeros(9, "i4,f8"))
        file.create_vlarray("/", "ragged", tables.Int32Atom()).append([1, 2])
        file.create_earray("/", "empty", tables.Float32Atom(), (0, 3))


def netcdf4(folder: Path) -> None:
    import netCDF4

    filters: dict[str, dict[str, Any]] = {
        "plain": {}, "zlib": {"compression": "zlib"}, "no_shuffle": {"compression": "zlib", "shuffle": False, "complevel": 9},
        "fletcher": {"fletcher32": True}, "zstd": {"compression": "zstd"}, "bzip2": {"compression": "bzip2"},
        "szip": {"compression": "szip"}, "blosc": {"compression": "blosc_lz4"}, "blosc_zstd": {"compression": "blosc_zstd"},
        "quantized": {"compression": "zlib", "least_significant_digit": 2},
        "bitgroom": {"compression": "zlib", "significant_digits": 3},
        "bitround": {"compression": "zlib", "significant_digits": 7, "quantize_mode": "BitRound"},
    }
    for number, (name, options) in enumerate(filters.items()):  # a file each: writing fails where the filter is not installed
        try:
            with netCDF4.Dataset(folder / f"filter_{name}.nc", "w") as file:
                for dimension, length in (("time", None), ("row", 41), ("column", 7)):
                    file.createDimension(dimension, length)
                for dims in (("time", "column"), ("row", "column")):
                    made = file.createVariable(f"from_{dims[0]}", "f4", dims, chunksizes=(40, 7), **options)
                    made[:] = filled((53 if dims[0] == "time" else 41, 7), "f4", number) / 7
        except RuntimeError as error:
            print(f"netcdf4: {name} cannot be written: {error}")
            (folder / f"filter_{name}.nc").unlink(missing_ok=True)
    for form in ("NETCDF4", "NETCDF4_CLASSIC"):
        with netCDF4.Dataset(folder / f"{form}.nc", "w", format=form) as file:
            for name, length in (("time", None), ("row", 41), ("column", 7)):
                file.createDimension(name, length)
            file.createVariable("time", "f8", ("time",))[:] = np.arange(53)
            for kind, order in itertools.product(KINDS if form == "NETCDF4" else ["i1", "i2", "i4", "f4", "f8"], ("little", "big")):
                made = file.createVariable(f"{kind}_{order}", kind, ("time", "row"), endian=order, zlib=True, fill_value=9)
                made[5:50] = filled((45, 41), kind)
                file.createVariable(f"{kind}_{order}_unset", kind, ("time", "row"), endian=order, fill_value=3)
            file.createVariable("letters", "S1", ("row", "column"))[:] = filled((41, 7), "u1").view("S1")
            if form == "NETCDF4":
                group = file.createGroup("deep/group")
                group.createDimension("more", None)
                group.createVariable("x", "i2", ("more", "time", "column"), chunksizes=(1, 10, 7))[:] = filled((3, 53, 7), "i2")
                made = file.createVariable("texts", str, ("row",))
                made[0] = "text"
    for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        with netCDF4.Dataset(folder / f"{form}.nc", "w", format=form) as file:
            file.createDimension("row", 9)
            file.createVariable("x", "f4", ("row",))[:] = np.arange(9)


def anndata(folder: Path) -> None:
    import anndata
    import pandas
    import scipy.sparse

    def made(x) -> anndata.AnnData:
        whole = anndata.AnnData(x, obs=pandas.DataFrame({"kind": pandas.Categorical(["a", "b"] * (x.shape[0] // 2)),
                                                         "score": np.arange(x.shape[0]) / 3}, index=[f"c{i}" for i in range(x.shape[0])]))
        whole.layers["counts"] = filled(x.shape, "u2")
        whole.obsm["X_pca"] = filled((x.shape[0], 5), "f8")
        whole.obsp["near"] = scipy.sparse.random(x.shape[0], x.shape[0], 0.1, "csr", random_state=1)
        return whole

    dense = filled((120, 30), "f4")
    for name, x in (("dense", dense), ("sparse", scipy.sparse.csr_matrix(dense * (dense > 70))), ("csc", scipy.sparse.csc_matrix(dense))):
        made(x).write_h5ad(folder / f"{name}.h5ad")
        made(x).write_h5ad(folder / f"{name}_gzip.h5ad", compression="gzip")
        made(x).write_h5ad(folder / f"{name}_lzf.h5ad", compression="lzf")
        made(x).write_zarr(folder / f"{name}.zarr")


def pynwb(folder: Path) -> None:
    from datetime import datetime, timezone

    import pynwb
    from hdmf.backends.hdf5.h5_utils import H5DataIO
    from hdmf.data_utils import DataChunkIterator

    file = pynwb.NWBFile("a test", "one", datetime(2026, 1, 1, tzinfo=timezone.utc))
    device = file.create_device("probe")
    group = file.create_electrode_group("shank", "a shank", "brain", device)
    for _ in range(8):
        file.add_electrode(group=group, location="brain")
    region = file.create_electrode_table_region(list(range(8)), "all")
    data = {"plain": filled((600, 8), "i2"), "gzip": H5DataIO(filled((600, 8), "i2"), compression="gzip", chunks=(100, 8)),
            "shuffled": H5DataIO(filled((600, 8), "f4"), compression="gzip", shuffle=True, fletcher32=True, maxshape=(None, 8)),
            "lzf": H5DataIO(filled((600, 8), "f8"), compression="lzf", chunks=True),
            "iterated": H5DataIO(DataChunkIterator(iter(filled((600, 8), "i4")), buffer_size=100), compression="gzip")}
    for name, array in data.items():
        file.add_acquisition(pynwb.ecephys.ElectricalSeries(name=name, data=array, electrodes=region, rate=30000.0))
    file.add_acquisition(pynwb.TimeSeries(name="times", data=filled((50,), "f8"), unit="V", timestamps=np.arange(50.0)))
    with pynwb.NWBHDF5IO(folder / "made.nwb", "w") as io:
        io.write(file)


def xarray(folder: Path) -> None:
    import xarray

    whole = xarray.Dataset({name: (("row", "column"), filled((90, 12), name)) for name in ("f4", "f8", "i2", "u1")},
                           {"row": np.arange(90), "column": np.arange(12.0)})
    for engine in ("netcdf4", "h5netcdf"):
        encoding = {"f4": {"zlib": True}, "f8": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1}, "i2": {"chunksizes": (20, 5)}}
        whole.to_netcdf(folder / f"{engine}.nc", engine=engine, encoding=encoding, unlimited_dims=["row"])
    for version in (2, 3):
        whole.to_zarr(folder / f"v{version}.zarr", zarr_format=version)
        whole.chunk({"row": 20}).to_zarr(folder / f"dask{version}.zarr", zarr_format=version)


def dask(folder: Path) -> None:
    import dask.array

    array = filled((100, 8), "f4")
    dask.array.to_zarr(dask.array.from_array(array, chunks=(30, 8)), str(folder / "made.zarr"))
    dask.array.to_hdf5(folder / "made.h5", {"/a": dask.array.from_array(array, chunks=(30, 8)), "/b/c": dask.array.from_array(array[::2])})


def pandas(folder: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": np.arange(60), "b": np.arange(60) / 7, "c": np.arange(60, dtype="f4"), "d": np.arange(60) % 2 == 0})
    for lib, level in ((None, 0), ("zlib", 5), ("blosc", 5)):
        with pd.HDFStore(folder / f"{lib}.h5", "w", complib=lib, complevel=level) as store:
            store.put("fixed", frame, format="fixed")
            store.put("series", frame["b"], format="fixed")
            store.put("table", frame, format="table")


def h5py_written(folder: Path) -> None:
    import h5py

    for user in (512, 1024, 65536):  # as MATLAB's 7.3
        with h5py.File(folder / f"user{user}.mat", "w", userblock_size=user) as file:
            file.create_dataset("x", data=filled((40, 9), "f8"), compression="gzip")
            file.create_dataset("group/y", data=filled((40, 9), "u2"))
        with open(folder / f"user{user}.mat", "r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file".ljust(user, b" "))
    for driver in ("family", "split"):
        options = {"memb_size": 1 << 20} if driver == "family" else {}
        path = folder / ("family%d.h5" if driver == "family" else "split")
        with h5py.File(path, "w", driver=driver, **options) as file:
            file["x"] = np.arange(10)
    with h5py.File(folder / "keras.weights.h5", "w") as file:  # the groups that Keras 3 writes
        for layer, number in itertools.product(("dense", "dense_1"), (0, 1)):
            file.create_dataset(f"layers/{layer}/vars/{number}", data=filled((16, 8)[: 2 - number], "f4"))
        file.create_dataset("optimizer/vars/0", data=np.int64(7))
    for strategy, version in itertools.product(("page", "fsm", "none", "aggregate"), ("earliest", "latest")):
        persist = strategy in ("page", "fsm")
        with h5py.File(folder / f"{strategy}_{version}.h5", "w", libver=version, fs_strategy=strategy, fs_persist=persist) as file:
            for number in range(30):
                file.create_dataset(f"d{number}", data=filled((50, 6), TYPES[number % 20]), chunks=(7, 6), compression="lzf")
            for number in range(0, 30, 3):
                del file[f"d{number}"]
            file.create_dataset("after", data=filled((500, 6), "f4"), chunks=(7, 6), maxshape=(None, None))


def filters(folder: Path) -> None:
    import h5py
    import hdf5plugin as p

    blosc = itertools.product(("blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"), (0, 1, 2))
    known = {**{f"blosc_{name}_{shuffle}": p.Blosc(cname=name, shuffle=shuffle) for name, shuffle in blosc},
             **{f"blosc2_{c}": p.Blosc2(cname=c) for c in ("lz4", "zstd")}, "bitshuffle": p.Bitshuffle(cname="none"),
             "bitshuffle_lz4": p.Bitshuffle(cname="lz4"), "bitshuffle_zstd": p.Bitshuffle(cname="zstd"),
             "bitshuffle_blocks": p.Bitshuffle(nelems=16), "lz4": p.LZ4(), "lz4_blocks": p.LZ4(nbytes=64), "zstd": p.Zstd(),
             "zstd_19": p.Zstd(19), "bzip2": p.BZip2(), "zfp": p.Zfp(reversible=True), "sz": p.SZ(absolute=0.1),
             "sz3": p.SZ3(absolute=0.1), "fcidecomp": p.FciDecomp()}
    with h5py.File(folder / "made.h5", "w") as file:
        for name, codec in known.items():
            for number, dtype in enumerate(TYPES):
                try:
                    place = f"{name}/{dtype[1:]}_{'big' if dtype[0] == '>' else 'little'}"
                    file.create_dataset(place, data=filled((101, 6), dtype, number), chunks=(13, 6),
                                        shuffle=number % 7 == 3 and "shuffle" not in name, **codec)
                except (ValueError, RuntimeError, OSError):  # not for this type
                    continue


def zarr_written(folder: Path) -> None:
    import zarr

    if zarr.__version__.startswith("2"):
        return zarr_2(folder)
    for version in (2, 3):
        store = zarr.create_group(str(folder / f"types{version}.zarr"), zarr_format=version)
        for number, dtype in enumerate([*TYPES, "f2", "c8", "c16", "bool", "S5", "U3", "M8[s]"]):
            made = store.create_array(f"n{number}", shape=(57, 6), dtype=dtype, chunks=(10, 4))
            made[...] = filled((57, 6), "i4", number).astype(dtype)
            store.create_array(f"empty{number}", shape=(57, 6), dtype=dtype, chunks=(10, 4))
    store = zarr.create_group(str(folder / "shards.zarr"))
    for number, (dtype, order) in enumerate(itertools.product(TYPES[:10], "CF")):
        made = store.create_array(f"n{number}", shape=(57, 6), dtype=dtype, chunks=(5, 3), shards=(20, 6), order=order)
        made[:40] = filled((40, 6), dtype, number)


def zarr_2(folder: Path) -> None:
    import numcodecs
    import zarr

    blosc = [(name, shuffle) for name in numcodecs.blosc.list_compressors() for shuffle in (0, 1, 2)]
    codecs = {"none": None, **{f"blosc_{name}_{shuffle}": numcodecs.Blosc(name, 5, shuffle) for name, shuffle in blosc},
              "zlib": numcodecs.Zlib(5), "gzip": numcodecs.GZip(5), "zstd": numcodecs.Zstd(5), "lz4": numcodecs.LZ4(),
              "bz2": numcodecs.BZ2(), "lzma": numcodecs.LZMA()}
    filters = {"none": None, "delta": [numcodecs.Delta("<i4")], "shuffle": [numcodecs.Shuffle(4)], "crc32": [numcodecs.CRC32()],
               "adler32": [numcodecs.Adler32()], "fletcher32": [numcodecs.Fletcher32()], "quantize": [numcodecs.Quantize(2, "<f4")],
               "scaled": [numcodecs.FixedScaleOffset(0, 10, "<f4", "<i2")], "packed": [numcodecs.PackBits()]}
    for name, separator in (("dots.zarr", "."), ("slashes.zarr", "/")):
        store = zarr.open_group(str(folder / name), "w")
        options = {"chunks": (10, 4), "dimension_separator": separator}
        for number, (codec, dtype) in enumerate(itertools.product(codecs, ("<i4", ">f8", "u1"))):
            array = filled((57, 6), dtype, number)
            store.array(f"codec_{codec}_{number}", array, compressor=codecs[codec], order="CF"[number % 2], **options)
        for filter_name, how in filters.items():
            dtype = {"delta": "<i4", "packed": "bool"}.get(filter_name, "<f4")
            store.array(f"filter_{filter_name}", filled((57, 6), dtype), filters=how, **options)
        for number, dtype in enumerate([*TYPES, "S5", "U3", "M8[s]", "c16"]):
            store.full(f"full_{number}", shape=(57, 6), dtype=dtype, fill_value=0, **options)[:20] = filled((20, 6), "i4").astype(dtype)
        if separator == ".":
            zarr.consolidate_metadata(str(folder / name))


def packaged(folder: Path) -> None:
    """The files that the packages ship for their own tests."""
    import shutil
    from importlib import import_module

    for package in ("h5py", "tables", "zarr", "netCDF4", "anndata", "xarray", "pandas", "pynwb", "h5netcdf", "hdmf"):
        try:
            root = Path(import_module(package).__file__).parent
        except ImportError:
            continue
        for path in root.rglob("*"):
            if path.suffix in (".h5", ".hdf5", ".nc", ".h5ad", ".nwb", ".hdf", ".mat", ".nc4") and path.is_file():
                shutil.copy(path, folder / f"{package}_{path.parent.name}_{path.name}")


WRITERS: dict[str, Callable[[Path], None]] = {
    "pytables": pytables, "netcdf4": netcdf4, "anndata": anndata, "pynwb": pynwb, "xarray": xarray, "dask": dask, "pandas": pandas,
    "h5py": h5py_written, "hdf5plugin": filters, "zarr": zarr_written, "packaged": packaged,
}

# ---- the comparison


def nodes(root: Any) -> list[tuple[str, Any]]:
    if hasattr(root, "members"):
        return list(root.members(max_depth=None))
    found: list[tuple[str, Any]] = []  # zarr-python 2
    root.visititems(lambda name, node: found.append((name, node)))
    return found


def datasets(path: Path) -> Iterator[tuple[str, Any, Callable[[], np.ndarray]]]:
    """The name, the dataset and its elements, of each dataset of a file or a store, as its own reader has them."""
    if path.is_dir():
        import zarr

        root = zarr.open(str(path), mode="r")
        arrays = [("", root)] if isinstance(root, zarr.Array) else [
            (name, node) for name, node in nodes(root) if isinstance(node, zarr.Array)]
        for name, array in arrays:
            yield name, array, lambda array=array: np.asarray(array[...])
        return
    import h5py

    try:
        import hdf5plugin  # noqa: F401
    except ImportError:
        pass
    with h5py.File(path, "r") as file:
        found: list[str] = []
        file.visititems(lambda name, node: found.append(name) if isinstance(node, h5py.Dataset) else None)
        for name in found:
            yield name, file[name], lambda name=name: file[name][()]


def difference(path: Path, name: str, wanted: np.ndarray, rng: np.random.Generator) -> str:
    """What differs, if anything: rows at random, the same again, from the end, and all."""
    with libgather.open(f"{path}:{name}" if name else str(path)) as table:
        rows = len(wanted)
        if table.shape != wanted.shape:
            return f"shape {table.shape}, wanted {wanted.shape}"
        ids = rng.integers(-rows, rows, 40) if rows else np.zeros(0, "i8")
        for which in (ids, ids.astype("i4"), np.arange(rows), np.sort(ids)[::-1], rng.random(rows) < 0.5):
            got, right = np.asarray(table[which]), wanted[which]
            if got.dtype.newbyteorder("=") != right.dtype.newbyteorder("="):
                return f"type {got.dtype}, wanted {right.dtype}"
            if got.astype(right.dtype).tobytes() != np.ascontiguousarray(right).tobytes():
                return f"rows differ with ids of {which.dtype}"
    return ""


def compare(path: Path, shown: str, report: list[str]) -> Counter[str]:
    rng, count, refused = np.random.default_rng(1), Counter(), {}
    try:
        listed = list(datasets(path))
    except Exception as error:
        try:
            libgather.open(str(path))
            report.append(f"WRONG  {shown}: read, and its own reader says {error}")
            return Counter({"WRONG": 1})
        except Exception as ours:
            report.append(f"refused {shown}: {ours}")
        return Counter({"files that no peer reads": 1})
    for name, data, elements in datasets(path) if listed else ():
        try:
            wanted = elements()
        except Exception as error:
            count["not read by the peer"] += 1
            wanted = None
            report.append(f"peer    {shown}:{name}: {error}"[:200])
        try:
            if not getattr(data, "shape", None):
                count["scalars"] += 1
                continue
            if wanted is None:
                libgather.open(f"{path}:{name}").close()
                continue
            wrong = difference(path, name, np.asarray(wanted), rng)
        except libgather.GatherError as error:
            text = str(error).replace(str(path), path.name)
            kind = re.sub(r"'[^']*'|byte \d+|\d+", "*", text)
            refused.setdefault(kind, []).append((name, text))
            count["refused"] += 1
            continue
        count["WRONG" if wrong else "the same"] += 1
        if wrong:
            report.append(f"WRONG  {shown}:{name}: {wrong}")
    for cases in refused.values():
        report.append(f"refused {len(cases)}x {shown}:{cases[0][0]}: {cases[0][1]}")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description="Files of other programs, read by libgather and by h5py or zarr-python.")
    parser.add_argument("--writers", default=",".join(WRITERS))
    parser.add_argument("--keep", type=Path, help="writes the files here, and leaves them")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        for writer in options.writers.split(","):
            folder = (options.keep or Path(temporary)) / writer
            folder.mkdir(parents=True, exist_ok=True)
            try:
                WRITERS[writer](folder)
            except ImportError as error:
                print(f"{writer}: not run: {error}")
                continue
            except Exception:
                print(f"{writer}: cannot write all its files: {traceback.format_exc(limit=-2)}")
            report: list[str] = []
            count: Counter[str] = Counter()
            for path in sorted(folder.iterdir()):
                if path.is_file() or path.suffix == ".zarr":
                    count += compare(path, f"{writer}/{path.name}", report)
            print(f"{writer}: {dict(count)}")
            for line in report:
                print(f"  {line}")
            total += count
    print(dict(total))
    return 1 if total["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
