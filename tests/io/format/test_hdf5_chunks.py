# SPDX-License-Identifier: MIT
"""Datasets of HDF5 in chunks that h5py writes are decoded, bit for bit, by each of the six indices; what is damaged is named."""
import itertools
import re

import numpy as np
import pytest
from gather_files import GatherError, content
from hdf5_written import h5py, needs_h5py, written  # noqa: F401
from remote_files import whole
from support.hdf5_files import checksum
from tensor_files import opened

LIBVERS = ["earliest", "v108", "v110", "v112", "v114", "latest"]
TYPES = ["bool", "u1", ">i2", "<i4", "f2", ">f4", "f8", "c8", "S5", "V3"]
FILTERS = [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}, {"compression": "lzf"}, {"fletcher32": True},
           {"compression": "lzf", "shuffle": True, "fletcher32": True}]
# Of the shape, the chunks, and how long each dimension may become.
GROWTH = {
    "one chunk": ((9, 5), (9, 5), None),
    "fixed": ((40, 12), (10, 3), None),
    "edges": ((41, 13), (10, 3), None),
    "larger": ((40, 12), (10, 3), (400, 12)),
    "first": ((40, 12), (10, 3), (None, 12)),
    "second": ((40, 12), (10, 3), (400, None)),
    "third": ((4, 6, 9), (3, 2, 4), (4, 60, None)),
    "middle": ((4, 6, 9), (3, 2, 4), (8, None, 9)),
    "two": ((41, 13), (10, 3), (None, None)),
    "all": ((4, 6, 9), (3, 2, 4), (None, None, None)),
    "vector": ((1000,), (7,), (None,)),
}


def filled(shape, dtype, seed: int = 1) -> np.ndarray:
    noise = np.random.default_rng(seed).integers(1, 100, (*shape, np.dtype(dtype).itemsize), np.uint8)
    return (noise & 1 if dtype == "bool" else noise).view(dtype).reshape(shape)


def same(source: bytes, wanted: dict[str, np.ndarray]) -> None:
    with opened(source) as file:
        assert sorted(file.names) == sorted(wanted)
        for name, array in wanted.items():
            tensor = whole(file.file, name)
            assert tensor.shape == array.shape and content(tensor) == array.tobytes(), name


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("growth", GROWTH)
def test_every_index_and_filter(growth, libver, tmp_path) -> None:
    shape, chunks, most = GROWTH[growth]
    wanted = {}

    def fill(file) -> None:
        for number, (filters, sparse) in enumerate(itertools.product(FILTERS, (False, True))):
            dtype = TYPES[number % len(TYPES)]
            array = filled(shape, dtype, number)
            made = file.create_dataset(str(number), shape, dtype, chunks=chunks, maxshape=most, **filters)
            made[: shape[0] // 2 if sparse else None] = array[: shape[0] // 2 if sparse else None]
            wanted[str(number)] = made[...]

    same(written(tmp_path, fill, libver, userblock_size=512 if libver == "v110" else 0), wanted)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_many_chunks(libver, tmp_path) -> None:
    """Indices with levels, pages and super blocks; full, and with chunks here and there."""
    cases = {"rows": ((4000, 1), (1, 1), (None, 1)), "wide": ((3, 900), (1, 1), (3, None)), "fixed": ((1500, 2), (1, 1), None),
             "both": ((60, 40), (1, 1), (None, None))}
    wanted = {}

    def fill(file) -> None:
        for (name, (shape, chunks, most)), how in itertools.product(cases.items(), ("full", "sparse", "gzip")):
            made = file.create_dataset(f"{name}/{how}", shape, "i2", chunks=chunks, maxshape=most, fillvalue=-3,
                                       compression="gzip" if how == "gzip" else None)
            if how == "full":
                made[...] = filled(shape, "i2")
            for at in np.random.default_rng(1).integers(0, shape[0], 40) if how != "full" else []:
                made[at] = at % 99
            wanted[f"{name}/{how}"] = made[...]

    same(written(tmp_path, fill, libver), wanted)


# Of a B-tree of version 2: the shape, the chunks, how long dimensions may become, and the order in which chunks are written.
DEEP = {
    "rows in order": ((130, 50), (1, 1), (None, None), lambda _, rows: range(rows)),
    "rows from the last": ((130, 50), (1, 1), (None, None), lambda _, rows: range(rows - 1, -1, -1)),
    "rows in any order": ((130, 50), (1, 1), (None, None), lambda random, rows: random.permutation(rows)),
    "edges": ((301, 43), (2, 1), (None, None), lambda random, rows: random.permutation(rows)),
    "three": ((60, 12, 9), (1, 1, 1), (None, None, None), lambda random, rows: random.permutation(rows)),
    "two of three": ((60, 12, 9), (1, 1, 1), (None, 12, None), lambda random, rows: random.permutation(rows)),
    "every third row": ((400, 50), (1, 1), (None, None), lambda _, rows: range(0, rows, 3)),
}


@pytest.mark.parametrize("filters", [{}, {"compression": "lzf", "shuffle": True}, {"fletcher32": True}])
@pytest.mark.parametrize("case", DEEP)
def test_b_trees_with_levels(case, filters, tmp_path) -> None:
    """Thousands of chunks below internal nodes below a root; full, after growth, and after rows are gone so that nodes were merged."""
    shape, chunks, most, order = DEEP[case]
    wanted = {}

    def fill(file) -> None:
        for how in ("written", "grown", "shrunk"):
            array = filled(shape, "<i4", len(how))
            first = (shape[0] // 2, *shape[1:]) if how == "grown" else shape
            made = file.create_dataset(how, first, "<i4", chunks=chunks, maxshape=most, fillvalue=-5, **filters)
            for row in order(np.random.default_rng(2), first[0]):
                made[row] = array[row]
            if how == "grown":
                made.resize(shape)
                made[first[0]:] = array[first[0]:]
            if how == "shrunk":
                made.resize((shape[0] // 3, *shape[1:-1], shape[-1] - 2))
            wanted[how] = made[...]

    source = written(tmp_path, fill, "latest")
    kinds = {(source[at + 5], int.from_bytes(source[at + 12:at + 14], "little"))
             for at in (found.start() for found in re.finditer(b"BTHD", source))}
    assert {kind for kind, _ in kinds} == {11 if filters else 10} and max(depth for _, depth in kinds) == 2
    same(source, wanted)


@pytest.mark.parametrize("length", [-1, -2, 0])
def test_a_fill_value_of_no_length(length, tmp_path) -> None:
    """Older libraries wrote -1 for a value that is not defined, also where the message says that it is: elements are zeros."""
    wanted = filled((20, 3), "<i4")
    wanted[10:] = 0

    def fill(file) -> None:
        file.create_dataset("x", (20, 3), "<i4", chunks=(5, 3), fillvalue=0x01020304)[:10] = wanted[:10]

    source = written(tmp_path, fill)
    place = re.search(rb"\x02[\0-\3][\0-\3]\x01(\x04\0\0\0)\x04\x03\x02\x01", source)
    changed = source[:place.start(1)] + length.to_bytes(4, "little", signed=True) + source[place.end(1):]
    same(changed, {"x": wanted})


def early(file, name: str, array: np.ndarray, chunks, most=None) -> None:
    """Chunks that are allocated at once: from version 4 of layouts on, they need no index."""
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_chunk(chunks)
    create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(array.dtype), h5py.h5s.create_simple(array.shape, most), create)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, array)


@pytest.mark.parametrize("libver", LIBVERS)
def test_chunks_without_an_index_and_what_was_resized(libver, tmp_path) -> None:
    array = filled((41, 13), "f4")
    wanted = {"early": array, "early larger": array, "shrunk": array[:17, :4], "grown": np.pad(array, ((0, 9), (0, 0)))}

    def fill(file) -> None:
        early(file, "early", array, (10, 3))
        early(file, "early larger", array, (10, 3), (90, 13))
        made = file.create_dataset("shrunk", data=array, chunks=(10, 3), maxshape=(None, None), compression="gzip")
        made.resize((17, 4))
        made = file.create_dataset("grown", data=array, chunks=(10, 3), maxshape=(None, 13))
        made.resize((50, 13))

    same(written(tmp_path, fill, libver), wanted)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_filters_that_one_chunk_lacks(libver, tmp_path) -> None:
    array = filled((40, 6), "f4")

    def fill(file) -> None:
        made = file.create_dataset("x", (40, 6), "f4", chunks=(10, 6), compression="gzip", shuffle=True)
        made[...] = array
        made.id.write_direct_chunk((10, 0), array[10:20].tobytes(), filter_mask=3)

    same(written(tmp_path, fill, libver), {"x": array})


def test_elements_that_are_arrays(tmp_path) -> None:
    array = filled((20, 2, 3), "f4")

    def fill(file) -> None:
        made = file.create_dataset("x", (20,), np.dtype(("f4", (2, 3))), chunks=(6,), compression="gzip", shuffle=True)
        made[...] = array

    same(written(tmp_path, fill), {"x": array})


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("most", [None, (None, 6), (None, None)])
def test_every_byte_changed(libver, most, tmp_path) -> None:
    """Never a crash and no bytes outside; where structures have checksums, no wrong element."""
    array = filled((200, 6), "f4")
    source = written(tmp_path, lambda file: file.create_dataset("x", data=array, chunks=(7, 6), maxshape=most, fletcher32=True), libver)
    refused = 0
    for at in range(0, len(source), 5):
        changed = bytearray(source)
        changed[at] ^= 0xff
        try:
            with opened(bytes(changed)) as file:
                tensor = whole(file.file, "x") if "x" in file.names else None
                found = content(tensor) if tensor and tensor.complaint is None else b""
                assert libver == "earliest" or found in (b"", array.tobytes()), at
        except GatherError as error:
            refused += 1
            assert str(error)
    assert refused > 50


# Of an index: the shape, the chunks, how long dimensions may become; the signature of a structure, its bytes that are summed, what is
# changed where, and what is said.
WRONG = [
    ("fixed", b"FAHD", 24, 4, b"\1", "version 1 of the header of an index of chunks"),
    ("fixed", b"FAHD", 24, 5, b"\1", "invalid entries: kind 1, 8 bytes"),
    ("fixed", b"FAHD", 24, 6, b"\7", "invalid entries: kind 0, 7 bytes"),
    ("fixed", b"FAHD", 24, 7, b"\x1f", "pages of an index of chunks cannot have 2^31 entries"),
    ("fixed", b"FAHD", 24, 8, b"\xff" * 8, "an index of chunks cannot have 18446744073709551615 chunks"),
    ("fixed", b"FAHD", 24, 8, b"\0\0\0\0\0\1\0\0", "the file is truncated: a data block"),
    ("fixed", b"FAHD", 24, 16, b"\xfe" * 8, "past the end of the file"),
    ("fixed", b"FAHD", 24, 16, bytes(8), "expected a data block of an index of chunks, which begins with 'FADB'"),
    ("first", b"EAHD", 68, 7, b"\x29", "the parameters of an index of chunks are invalid"),
    ("first", b"EAHD", 68, 9, b"\0", "the parameters of an index of chunks are invalid"),
    ("first", b"EAHD", 68, 10, b"\3", "the parameters of an index of chunks are invalid"),
    ("first", b"EAHD", 68, 44, b"\xff" * 8, "an index of chunks cannot have 18446744073709551615 chunks"),
    ("first", b"EAHD", 68, 60, bytes(8), "expected the index block of an index of chunks, which begins with 'EAIB'"),
    ("two", b"BTHD", 34, 5, b"\x0b", "an index of chunks has the invalid kind 11"),
    ("two", b"BTHD", 34, 6, b"\x0f\0\0\0", "an index of chunks has the invalid kind 10, records of 24 bytes"),
    ("two", b"BTHD", 34, 12, b"\x20\0", "or depth 32"),
    ("two", b"BTHD", 34, 12, b"\x1f\0", "or it is too deep"),
    ("two", b"BTHD", 34, 12, b"\1\0", "expected a node of an index of chunks, which begins with 'BTIN'"),
    ("two", b"BTHD", 34, 24, b"\xff\xff", "a node of an index of chunks cannot have 65535 records"),
    ("tree", b"TREE", None, 4, b"\0", "a node of an index of chunks has the invalid kind 0"),
    ("tree", b"TREE", None, 5, b"\x20", "a node of an index of chunks has the level 32"),
    ("tree", b"TREE", None, 5, b"\1", "expected a node of an index of chunks, which begins with 'TREE'"),
    ("tree", b"TREE", None, 6, b"\xff\xff", "the file is truncated"),
    ("tree", b"TREE", None, 24, b"\xff" * 4, "the file is truncated: a chunk needs 4294967295 bytes"),
    ("tree", b"TREE", None, 32, b"\1", "a chunk begins at element 1, not a multiple of the chunk length 10"),
    ("tree", b"TREE", None, 40, b"\3", "the chunk number 1 is given twice in the index"),
]


@pytest.mark.parametrize(("growth", "signature", "summed", "at", "wrong", "said"), WRONG)
def test_indices_that_lie(growth, signature, summed, at, wrong, said, tmp_path) -> None:
    shape, chunks, most = GROWTH["fixed" if growth == "tree" else growth]

    def fill(file) -> None:
        file.create_dataset("x", data=filled(shape, "i2"), chunks=chunks, maxshape=most)

    source = bytearray(written(tmp_path, fill, "earliest" if growth == "tree" else "latest"))
    begin = source.rindex(signature)
    source[begin + at:begin + at + len(wrong)] = wrong
    if summed:
        source[begin + summed:begin + summed + 4] = checksum(bytes(source[begin:begin + summed])).to_bytes(4, "little")
    with opened(bytes(source)) as file, pytest.raises(GatherError) as caught:
        whole(file.file, "x")
    assert said in str(caught.value) and 0 <= caught.value.offset <= len(source)


def test_chunks_without_an_index_of_a_dataset_that_may_become_huge(tmp_path) -> None:
    """The number of a chunk does not fit in 64 bits; what is behind the file is not read."""
    sides = np.array([3, 1, 1, 4, 2, 2], "<u8").tobytes()
    source = bytearray(written(tmp_path, lambda file: early(file, "x", filled((3, 1, 1), "i2"), (1, 1, 1), (4, 2, 2)), "latest"))
    header, place = source.rindex(b"OHDR", 0, source.index(sides)), source.index(sides) + 32
    end = next(i for i in range(place, len(source)) if checksum(bytes(source[header:i])) == int.from_bytes(source[i:i + 4], "little"))
    source[place:place + 16] = np.array([1 << 40] * 2, "<u8").tobytes()
    source[end:end + 4] = checksum(bytes(source[header:end])).to_bytes(4, "little")
    with opened(bytes(source)) as file, pytest.raises(GatherError, match="the file is truncated: it ends before the last chunk"):
        whole(file.file, "x")


def test_h5py_s_own_files() -> None:
    """The files that h5py's tests read: each dataset is as h5py has it, or refused by name."""
    folder = folder_of_h5py()
    count = 0
    for path in sorted(folder.glob("*.h5")):
        source = path.read_bytes()
        with h5py.File(path) as theirs, opened(source) as ours:
            for name in ours.names:
                try:
                    found = whole(ours.file, name)
                except GatherError as error:
                    assert str(error), name
                    continue
                if found.complaint is not None:
                    continue
                wanted = theirs[name][()]
                assert content(found) == np.asarray(wanted).tobytes(), f"{path.name}:{name}"
                count += 1
    assert count > 0


def folder_of_h5py():
    from pathlib import Path

    from support.skip import skip_test

    folder = Path(h5py.__file__).parent / "tests/data_files"
    return folder if list(folder.glob("*.h5")) else skip_test("h5py_files", "this h5py brings no files")


def test_pages_of_an_extensible_array(tmp_path) -> None:
    """From some 130,000 chunks on data blocks have pages: those that are set are bits of one bitmap for all blocks of a super block."""
    def fill(file) -> None:
        made = file.create_dataset("x", (300000, 1), "i4", chunks=(1, 1), maxshape=(None, 1), fillvalue=7)
        for first in (100, 150000, 299900):
            made[first:first + 90] = wanted[first:first + 90] = np.arange(90).reshape(90, 1)

    wanted = np.full((300000, 1), 7, "i4")
    same(written(tmp_path, fill, "latest"), {"x": wanted})
