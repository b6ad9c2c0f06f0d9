# SPDX-License-Identifier: MIT
"""HDF5 files that h5py writes are read, bit for bit, through the C interface, the command and the Python package. What cannot be read
is listed, and says why."""
import itertools
import re

import numpy as np
import pytest
from gather_files import content
from hdf5_written import LIBVERS, NUMBERS, compact, h5py, needs_h5py, same, written  # noqa: F401
from many import complaint, complaints
from support.command import answer, call
from tensor_files import opened

# ---- types, byte orders, layouts, shapes

KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
TYPES = ["bool", *[f"{order}{kind}" for order in "<>" for kind in KINDS]]
TEXTS = ["S1", "S7", "V3", "V16"]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4), (1, 2, 1, 2, 1, 2, 1, 2)]


def random(dtype: str, shape) -> np.ndarray:
    made = np.ndarray(shape, dtype)
    noise = np.random.default_rng(made.nbytes + made.itemsize).integers(1, 120, made.nbytes, np.uint8)
    noise = noise & 1 if dtype == "bool" else noise
    return np.frombuffer(noise.tobytes(), dtype).reshape(shape) if made.nbytes else made


@pytest.mark.parametrize("user", [0, 512, 4096])
@pytest.mark.parametrize("libver", LIBVERS)
def test_every_type_layout_and_shape(libver, user, tmp_path) -> None:
    arrays = {f"{dtype}/{'compact' if small else 'contiguous'}/{'x'.join(map(str, shape)) or 'scalar'}": random(dtype, shape)
              for dtype, shape, small in itertools.product(TYPES + TEXTS, SHAPES, (False, True))}

    def fill(file) -> None:
        for name, array in arrays.items():
            if "/compact/" in name:
                compact(file, name, array)
            else:
                made = file.create_dataset(name, shape=array.shape, dtype=array.dtype)
                made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, array) if array.size else None

    source = written(tmp_path, fill, libver, userblock_size=user)
    filled = {name: array for name, array in arrays.items() if array.size or "/compact/" in name}
    with opened(source) as file:
        assert file.format == "hdf5" and sorted(file.names) == sorted(arrays) and not set(complaints(file)) & set(filled)
        for name, tensor in zip(file.names, file.all, strict=True):
            array = arrays[name]
            assert tensor.shape == array.shape, name
            if tensor.complaint is not None:  # an empty dataset is never allocated
                continue
            assert tensor.bytes == array.nbytes and content(tensor) == array.tobytes(), name
            if array.dtype.kind in "biufc":
                assert tensor.type_name.decode() == array.dtype.name, name
                assert tensor.swapped == (array.dtype.byteorder == ">"), name
            else:
                assert np.dtype(tensor.descr.decode().strip("'")).itemsize == array.itemsize, name
    for name in arrays:
        assert name in filled or 0 in arrays[name].shape


def test_empty_datasets_have_no_elements(tmp_path) -> None:
    source = written(tmp_path, lambda file: file.create_dataset("a", shape=(3, 0), dtype="f4"))
    with opened(source) as file:
        assert file["a"].complaint is None and (file["a"].shape, file["a"].bytes) == ((3, 0), 0)


def test_types_of_their_own(tmp_path) -> None:
    """Enumerations are their integers, arrays are further dimensions, a committed type is followed."""
    arrays = {"enum": np.array([1, 2, 1], "<i2"), "wide": np.arange(30, dtype=">f8").reshape(5, 3, 2), "named": NUMBERS,
              "bools": np.array([True, False])}

    def fill(file) -> None:
        file.create_dataset("enum", data=arrays["enum"], dtype=h5py.enum_dtype({"a": 1, "b": 2}, basetype="<i2"))
        made = file.create_dataset("wide", shape=(5,), dtype=np.dtype((">f8", (3, 2))))
        made[...] = arrays["wide"]
        file.create_dataset("bools", data=arrays["bools"])
        file["type"] = np.dtype("<i4")
        file.create_dataset("named", data=NUMBERS, dtype=file["type"])
        file.create_dataset("named as well", data=NUMBERS + 1, dtype=file["type"])

    for libver in LIBVERS:
        same(written(tmp_path, fill, libver), {**arrays, "named as well": NUMBERS + 1})


@pytest.mark.parametrize("order", ["LE", "BE"])
def test_bitfields_are_integers_without_a_sign(order, tmp_path) -> None:
    """As h5py has them. PyTables and pandas write bool as bitfields of 8 bits."""
    arrays = {f"u{size}": random(f"{'<' if order == 'LE' else '>'}u{size}", (5, 3)) for size in (1, 2, 4, 8)}

    def fill(file) -> None:
        for name, array in arrays.items():
            kind = getattr(h5py.h5t, f"STD_B{8 * array.itemsize}{order}")
            made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple(array.shape))
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, array, kind)
            assert file[name].dtype == array.dtype

    with opened(written(tmp_path, fill)) as file:
        assert not complaints(file)
        for name, array in arrays.items():
            assert content(file[name]) == array.tobytes() and file[name].type_name.decode() == array.dtype.name
            assert file[name].swapped == (order == "BE" and name != "u1")


def test_fortran_is_c_order_in_a_file(tmp_path) -> None:
    same(written(tmp_path, lambda file: file.create_dataset("a", data=np.asfortranarray(NUMBERS))), {"a": NUMBERS})


# ---- what cannot be read


def chunked(file, **options) -> None:
    file.create_dataset("a", data=np.zeros((100, 6), "f4"), chunks=(10, 2), **options)


def in_low_level(file, kind, shape=(4,), fill=None) -> None:
    made = h5py.h5d.create(file.id, b"a", kind, h5py.h5s.create_simple(shape))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(shape, f"V{kind.get_size()}"), kind) if fill else None


def odd(kind, **settings):
    """A type that is like another, but for what is set."""
    kind = getattr(h5py.h5t, kind).copy()
    for name, value in settings.items():
        getattr(kind, f"set_{name}")(*value) if isinstance(value, tuple) else getattr(kind, f"set_{name}")(value)
    return kind


def filtered(file, number: int) -> None:
    """A dataset with a filter that this HDF5 does not have: it is optional, and its chunks are stored without."""
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_chunk((2, 4))
    create.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3))
    made = h5py.h5d.create(file.id, b"a", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((6, 4)), create)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, NUMBERS)


def virtual(file) -> None:
    layout = h5py.VirtualLayout(shape=(6, 4), dtype="i4")
    layout[:] = h5py.VirtualSource("other.h5", "a", shape=(6, 4))
    file.create_virtual_dataset("a", layout)


REFUSED = {
    "scaleoffset": (lambda file: chunked(file, scaleoffset=2), ["scaleoffset"]),
    "compound": (lambda file: file.__setitem__("a", np.zeros(3, "i4,f8")), ["compound"]),
    "compound like complex": (lambda file: file.__setitem__("a", np.zeros(3, [("i", "f4"), ("r", "f4")])), ["compound"]),
    "text": (lambda file: file.__setitem__("a", ["some", "text"]), ["variable-length"]),
    "one text": (lambda file: file.__setitem__("a", "text"), ["variable-length"]),
    "lists": (lambda file: file.create_dataset("a", (3,), h5py.vlen_dtype("i4")), ["variable-length"]),
    "references": (lambda file: file.create_dataset("a", (1,), h5py.ref_dtype), ["reference"]),
    "regions": (lambda file: file.create_dataset("a", (1,), h5py.regionref_dtype), ["reference"]),
    "external": (lambda file: file.create_dataset("a", (4,), "i4", external=[("raw.bin", 0, 16)]), ["other files"]),
    "virtual": (virtual, ["virtual"]),
    "never allocated": (lambda file: file.create_dataset("a", (4, 5), "f4"), ["never", "fill value"]),
    "fill value": (lambda file: file.create_dataset("a", (4, 5), "f4", fillvalue=7), ["never", "fill value"]),
    "null": (lambda file: file.__setitem__("a", h5py.Empty("f4")), ["null"]),
    "long double": (lambda file: file.__setitem__("a", np.zeros(3, "longdouble")), ["float"]),
    **{f"filter {name}": (lambda file, number=number: filtered(file, number), [f"the filter {name} (number {number})", advice])
       for number, name, advice in [(305, "lzo", "tables.open_file"), (307, "bzip2", "import hdf5plugin"), (32013, "zfp", "import hdf5plugin"),
                                    (32017, "sz", "import hdf5plugin"), (32020, "vbz", "h5repack"), (32024, "sz3", "import hdf5plugin"),
                                    (32026, "blosc2", "import hdf5plugin"), (400, "of another program", "h5repack")]},
    "time": (lambda file: in_low_level(file, h5py.h5t.UNIX_D32LE), ["time"]),
    "narrow integer": (lambda file: in_low_level(file, odd("STD_I32LE", precision=24)), ["24"]),
    "odd float": (lambda file: in_low_level(file, odd("IEEE_F32LE", ebias=100), fill=True), ["float"]),
    "rank 9": (lambda file: file.__setitem__("a", np.zeros((1,) * 9)), ["9"]),
    "rank 32": (lambda file: file.__setitem__("a", np.zeros((1,) * 32)), ["32"]),
    "rank 9 with an array": (lambda file: file.create_dataset("a", (1,) * 8, np.dtype(("f4", (2,)))), ["9"]),
}


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case, libver, tmp_path) -> None:
    """By name, and its neighbours are read."""
    make, words = REFUSED[case]
    if (case, libver) == ("virtual", "v108"):
        libver = "v110"  # 1.8 had none

    def fill(file) -> None:
        file["before"] = NUMBERS
        make(file)
        file["z/after"] = NUMBERS + 1

    with opened(written(tmp_path, fill, libver)) as file:
        found = complaints(file)
        assert list(found) == ["a"] and sorted(file.names) == ["a", "before", "z/after"]
        assert file["a"].complaint.status == "unsupported" and "'a'" in found["a"]
        assert all(word.lower() in found["a"].lower() for word in words), found["a"]
        assert content(file["before"]) == NUMBERS.tobytes() and content(file["z/after"]) == (NUMBERS + 1).tobytes()


def test_an_empty_file(tmp_path) -> None:
    for libver in LIBVERS:
        same(written(tmp_path, lambda file: None, libver), {})


# ---- the command and the Python package


@pytest.fixture(params=["earliest", "latest"])
def path(request, tmp_path):
    def fill(file) -> None:
        file["group/rows"] = NUMBERS
        file["big"] = NUMBERS.astype(">f4")
        chunked(file)

    written(tmp_path, fill, request.param)
    return tmp_path / "made.h5"


def test_the_command_takes_rows(path, tmp_path) -> None:
    for name, expected in (("group/rows", NUMBERS), ("/group/rows", NUMBERS), ("big", NUMBERS.astype(">f4"))):
        answer("take", f"{path}:{name}", "[4, 0, -1]", "-o", tmp_path / "out.npy", "-f")
        taken = np.load(tmp_path / "out.npy")
        assert taken.dtype == expected.dtype and (taken == expected[[4, 0, -1]]).all()
    answer("take", f"{path}:a", "[99, 0]", "-o", tmp_path / "out.npy", "-f")
    assert np.load(tmp_path / "out.npy").tolist() == np.zeros((2, 6)).tolist()
    assert "group/rows" in call("take", f"{path}:group/row", "[0]", "-o", tmp_path / "no.npy").stderr


def test_one_dataset_needs_no_name(tmp_path) -> None:
    written(tmp_path, lambda file: file.__setitem__("deep/in/rows", NUMBERS))
    answer("take", tmp_path / "made.h5", "[5, 5]", "-o", tmp_path / "out.npy")
    assert (np.load(tmp_path / "out.npy") == NUMBERS[[5, 5]]).all()


def test_the_command_lists(path) -> None:
    about = answer("info", path)
    assert about["format"] == "hdf5" and about["gather_nodes"] == 0
    rows = {row["name"]: row for row in about["tensors"]}
    assert sorted(rows) == ["a", "big", "group/rows"]
    assert (rows["group/rows"]["type"], rows["group/rows"]["shape"], rows["group/rows"]["bytes"]) == ("int32", [6, 4], 96)
    assert (rows["big"]["type"], rows["a"]["shape"]) == ("float32", [100, 6])
    source, at = path.read_bytes(), rows["group/rows"]["offset"]
    assert source[at:at + 96] == NUMBERS.tobytes()


def test_tables(path) -> None:
    libgather = pytest.importorskip("libgather")
    for name, expected in (("group/rows", NUMBERS), ("/group/rows", NUMBERS), ("big", NUMBERS.astype(">f4"))):
        for engine in ("auto", "pread"):
            with libgather.open(f"{path}:{name}", engine=engine) as table:
                assert table.shape == (6, 4) and (table[[5, 1, 1]] == expected[[5, 1, 1]]).all()
    with libgather.open(f"{path}:a") as table:
        assert table.shape == (100, 6) and not table[[0, 99]].any()
    with libgather.open([f"{path}:group/rows", f"{path}:group/rows"]) as both:
        assert (both[[0, 11]] == NUMBERS[[0, 5]]).all()


GROUPS = [("csr", {"data": 5, "indices": 5, "indptr": 7}, "a sparse matrix.*'data', 'indices' and 'indptr'.*numpy.save"),
          ("few", {"x": 1, "y": 2}, "a group; it has: 'x', 'y'"), ("many", dict.fromkeys("abcdefgh", 1), "it has: 'a', 'b', 'c', 'd', ..."),
          ("none", {}, "'none' is not a dataset but a group"), ("long", {"x" * 900: 1, "y" * 900: 1}, f"'{'x' * 40}', '{'y' * 40}'")]


@pytest.mark.parametrize(("name", "members", "words"), GROUPS)
def test_a_group_instead_of_a_dataset(name, members, words, tmp_path) -> None:
    def fill(file) -> None:
        file["other"], file["rows"] = NUMBERS, NUMBERS
        group = file.create_group(name)
        for member, length in members.items():
            group[member] = np.arange(length)

    written(tmp_path, fill)
    said = call("take", f"{tmp_path}/made.h5:{name}", "[0]", "-o", tmp_path / "no.npy").stderr
    assert re.search(words.replace("...", re.escape("...")), said), said


def test_a_large_dataset_costs_its_header(tmp_path) -> None:
    """5 GB without a byte on the disk: the last row is where it should be."""
    made = tmp_path / "made.h5"
    with h5py.File(made, "w") as file:
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        create.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((5_000_000, 128))
        big = h5py.Dataset(h5py.h5d.create(file.id, b"big", h5py.h5t.IEEE_F64LE, space, create))
        big[-1] = np.arange(128.0)
    answer("take", f"{made}:big", "[-1, 0]", "-o", tmp_path / "out.npy")
    assert (np.load(tmp_path / "out.npy") == [np.arange(128.0), np.zeros(128)]).all()
    with open(made, "rb") as file:
        complaint(file.read(4096), "big").must_be("file_malformed", "truncated", 4096)
