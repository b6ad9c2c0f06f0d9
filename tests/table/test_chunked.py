# SPDX-License-Identifier: MIT
"""Tables of chunked datasets of HDF5 files: whatever the shape of the chunks, the filters, the engine and the memory, rows are those that
h5py reads; a damaged chunk is named, and leaves the others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from files import needs, rows_of
from tables import Setting, Table, TableError, engines, evict

SHAPE = (700, 12)
# Of the shape, the chunks, and where the dataset can grow.
LAYOUTS = {
    "rows": (SHAPE, (32, 12), None),
    "one chunk": (SHAPE, SHAPE, None),
    "one row": (SHAPE, (1, 12), None),
    "columns": (SHAPE, (64, 5), None),
    "elements": ((60, 7), (1, 1), None),
    "growing": (SHAPE, (50, 12), (None, 12)),
    "growing columns": (SHAPE, (33, 5), (4000, None)),
    "growing both": (SHAPE, (33, 5), (None, None)),
    "vector": ((5000,), (311,), None),
    "boxes": ((60, 5, 6, 3), (7, 2, 6, 2), None),
}
FILTERS = {
    "none": {},
    "gzip": {"compression": "gzip"},
    "shuffle gzip": {"compression": "gzip", "shuffle": True},
    "lzf": {"compression": "lzf"},
    "sum": {"fletcher32": True, "shuffle": True},
}
SETTINGS = [Setting(engine) for engine in engines()] + [
    Setting(memory=1 << 20), Setting(cache=0), Setting(cache=1 << 14), Setting(depth=1), Setting(buffered=True), Setting(keep_signals=True)]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def made(folder, name: str, array: np.ndarray, **how) -> str:
    h5py = needs("h5py", "hdf5")
    path = folder / f"{name}.h5"
    with h5py.File(path, "w", libver=how.pop("libver", "earliest")) as file:
        file.create_dataset("group/x", data=array, **how)
    return f"{path}:group/x"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_filter_and_setting(layout, tmp_path):
    shape, chunks, most = LAYOUTS[layout]
    chance = np.random.default_rng(len(layout))
    for (name, filters), libver, dtype in itertools.product(FILTERS.items(), ("earliest", "latest"), ("<f4", ">i2")):
        array = numbers(shape, dtype)
        path = made(tmp_path, "t", array, chunks=chunks, maxshape=most, libver=libver, **filters)
        rows = rows_of(array)
        for how in SETTINGS:
            evict(path.split(":")[0])
            with Table(path, how) as table:
                assert table.shape == shape
                for count in (1, 5, 300, 3000):
                    ids = chance.integers(-shape[0], shape[0], count)
                    assert np.array_equal(table.take(ids)[0], rows[ids]), f"{name} {libver} {dtype} {how} {count}"
                s = table.statistics
                assert s.rows == s.rows_read + s.rows_cached + s.rows_resident == 3306, str(how)
                assert s.memory_ceiling == 0 or s.memory_peak <= s.memory_ceiling


def test_tuples_and_repair(tmp_path):
    array = numbers((40, 6, 5), "<i4")
    for chunks in ((7, 6, 5), (7, 4, 2), (40, 1, 5)):
        path = made(tmp_path, "t", array, chunks=chunks, compression="gzip", shuffle=True)
        chance = np.random.default_rng(2)
        with Table(path) as table:
            for selected, background in itertools.product((1, 2, 3), (False, True)):
                ids = np.stack([chance.integers(0, n, 200) for n in array.shape[:selected]], axis=-1)
                wanted = array[tuple(ids.T)].reshape(200, -1)
                assert np.array_equal(table.take_tuples(ids, background), wanted.view(np.uint8).reshape(200, -1))
            ids = np.array([3, 99, -41, 39])
            with pytest.raises(TableError, match="99"):
                table.take(ids)
            rows, bad = table.take(ids, on_bad="zero")
            assert bad == 2 and not rows[1:3].any() and np.array_equal(rows[[0, 3]], rows_of(array)[[3, 39]])
            assert np.array_equal(table.submit(ids[::3])()[0], rows_of(array)[ids[::3]])


def test_missing_chunks_have_the_fill_value(tmp_path):
    h5py = needs("h5py", "hdf5")
    path = tmp_path / "sparse.h5"
    for libver, most in itertools.product(("earliest", "latest"), (None, (None, 9), (None, None))):
        with h5py.File(path, "w", libver=libver) as file:
            x = file.create_dataset("x", (500, 9), ">f8", chunks=(20, 4), fillvalue=-1.5, compression="gzip", maxshape=most)
            file.create_dataset("never", (30, 2), "i2", chunks=(4, 2), fillvalue=7)
            x[100:130, 2:7] = 3
            x[491] = 4
            wanted = {"x": x[...], "never": file["never"][...]}
        for name, array in wanted.items():
            with Table(f"{path}:{name}") as table:
                ids = np.arange(len(array))[::-1]
                assert np.array_equal(table.take(ids)[0], rows_of(array)[ids]), name


def test_parts(tmp_path):
    arrays = [numbers((n, 6), "<f4", n) for n in (50, 1, 0, 90)]
    paths = [made(tmp_path, str(i), array, chunks=(7, 2 + i), maxshape=(None, 6), **FILTERS[f])
             for i, (array, f) in enumerate(zip(arrays, ("gzip", "none", "lzf", "shuffle gzip"), strict=True))]
    rows = rows_of(np.concatenate(arrays))
    with Table(paths) as table:
        ids = np.random.default_rng(3).integers(0, len(rows), 500)
        assert np.array_equal(table.take(ids)[0], rows[ids])
    np.save(tmp_path / "plain.npy", arrays[0])
    with pytest.raises(TableError, match="in chunks") as caught:
        Table([paths[0], str(tmp_path / "plain.npy")])
    assert caught.value.status == "unsupported"


def test_caches(tmp_path):
    """Chunks that are wanted again are not decoded again: all of them where there is room, a few in any case."""
    array = numbers((4000, 16), "<f4")
    path = made(tmp_path, "t", array, chunks=(100, 16), compression="gzip", shuffle=True)
    ids = np.arange(0, 4000, 50)
    with Table(path) as table:
        for _ in range(4):
            assert np.array_equal(table.take(ids)[0], rows_of(array)[ids])
        assert table.statistics.chunks_read + table.statistics.chunks_cached == 4 * 40
        assert table.statistics.bytes_decoded == 2 * array.nbytes
    with Table(path, Setting(memory=1 << 20, cache=1 << 16)) as table:
        for i in range(300):
            assert np.array_equal(table.take(np.array([i]))[0], rows_of(array)[[i]])
        assert table.statistics.bytes_decoded <= 4 * 100 * 64


def test_damage_is_named_and_leaves_the_rest(tmp_path):
    h5py = needs("h5py", "hdf5")
    array = numbers((640, 16), "<f4")
    for name in ("gzip", "shuffle gzip", "lzf", "sum"):
        path = made(tmp_path, "t", array, chunks=(64, 16), **FILTERS[name])
        file = path.split(":")[0]
        with h5py.File(file) as opened:
            info = opened["group/x"].id.get_chunk_info(3)
        with open(file, "r+b") as bytes_of:
            bytes_of.seek(info.byte_offset + info.size // 2)
            bytes_of.write(b"\xff\x00\xff\x00\xff\x00\xff\x00")
        with Table(path) as table:
            assert np.array_equal(table.take(np.array([0, 191, 256, 639]))[0], rows_of(array)[[0, 191, 256, 639]])
            with pytest.raises(TableError) as caught:
                table.take(np.array([7, 255, 200]))
            assert caught.value.status == "file_malformed" and caught.value.row == 200 and caught.value.offset == info.byte_offset, name
            assert "rows 192 to 255" in str(caught.value) and caught.value.file == file
            assert np.array_equal(table.take(np.array([5]))[0], rows_of(array)[[5]])


def test_a_file_that_is_cut_short(tmp_path):
    array = numbers((640, 64), "<f4")
    path = made(tmp_path, "t", array, chunks=(64, 64), compression="gzip")
    file = path.split(":")[0]
    for how in SETTINGS:
        whole = open(file, "rb").read()
        with Table(path, how) as table:
            with open(file, "r+b") as cut:
                cut.truncate(len(whole) // 2)
            with pytest.raises(TableError) as caught:
                table.take(np.arange(640))
            assert caught.value.status == "io_error" and caught.value.row >= 0, str(how)
        with open(file, "wb") as restored:
            restored.write(whole)


def test_memory_that_is_too_little(tmp_path):
    path = made(tmp_path, "t", numbers((4096, 512), "<f4"), chunks=(2048, 512), compression="gzip")
    with pytest.raises(TableError, match="chunks of 4194304 bytes need at least") as caught:
        Table(path, Setting(memory=2 << 20))
    assert caught.value.status == "usage"
    with Table(path, Setting(memory=int(str(caught.value).rsplit(" ", 1)[1]))) as table:
        assert np.array_equal(table.take(np.array([4000]))[0], rows_of(numbers((4096, 512), "<f4"))[[4000]])
        assert table.statistics.memory_peak <= table.statistics.memory_ceiling
