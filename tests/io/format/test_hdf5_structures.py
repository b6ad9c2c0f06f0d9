# SPDX-License-Identifier: MIT
"""HDF5 files put together by hand: what today's libraries do not write, and h5py, where it is installed, reads the same in each."""
import io
import itertools

import numpy as np
import pytest
from gather_files import GatherError, content
from many import assert_within, complaints, outcome
from support import hdf5_files as h5
from support.hdf5_files import Hdf5
from support.refusal import refuses
from remote_files import whole
from tensor_files import opened

try:
    import h5py
except ImportError:
    h5py = None

ROWS = np.arange(12, dtype="<i4").reshape(3, 4)
BYTES = ROWS.tobytes()
INT = h5.integer(4)


def same(source: bytes, arrays: dict[str, np.ndarray], theirs: bool = True, aliases: int = 0) -> None:
    """Reading by all names; aliases: so many of them are other names of a dataset, which is listed once."""
    with opened(source) as file:
        assert (file.format, len(file.names), complaints(file)) == ("hdf5", len(arrays) - aliases, {})
        assert set(file.names) <= set(arrays)
        assert_within(file, len(source))
        for name, array in arrays.items():
            assert (file[name].shape, content(file[name])) == (array.shape, array.tobytes()), name
    if h5py and theirs:
        with h5py.File(io.BytesIO(source), "r") as file:
            for name, array in arrays.items():
                assert (file[name][()] == array).all(), name


def single(kind, content: bytes, shape=(3,), **made) -> bytes:
    """A file of one dataset, "a"."""
    file = Hdf5()
    return file.finished(file.old_group("root", {b"a": file.dataset("a", shape, kind, content, **made)}))


SIZES = [(2, 2), (2, 8), (4, 2), (4, 4), (4, 8), (8, 2), (8, 4), (8, 8)]
GROUPS = ["old", "compact", "dense"]


def group(file: Hdf5, how: str, label: str, links: dict[bytes, int], **more) -> int:
    if how == "old":
        return file.old_group(label, links)
    made = {name: h5.link(name, address, file.offsets) for name, address in links.items()}
    return file.dense_group(label, made, **more) if how == "dense" else file.compact_group(label, list(made.values()), **more)


@pytest.mark.parametrize("user", [0, 512, 2048])
@pytest.mark.parametrize("superblock", [0, 1, 2, 3])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_sizes(sizes, superblock, user) -> None:
    for how, header in itertools.product(GROUPS, (1, 2)):
        file = Hdf5(superblock, *sizes, user)
        links = {f"m{i}".encode(): file.dataset(f"m{i}", (3, 4), INT, (ROWS + i).tobytes(), header) for i in range(4)}
        inner = group(file, how, "inner", links)
        source = file.finished(group(file, how, "root", {b"g": inner, b"rows": links[b"m0"]}))
        same(source, {"rows": ROWS, **{f"g/m{i}": ROWS + i for i in range(4)}}, aliases=1)


LAYOUTS = [(version, kind) for version in (1, 2, 3, 4) for kind in (0, 1)] + [(5, 0), (5, 1)]


@pytest.mark.parametrize("version,kind", LAYOUTS)
def test_layouts(version, kind) -> None:
    for header, sizes in itertools.product((1, 2), [(4, 4), (8, 8)]):
        file = Hdf5(0, *sizes)
        layout = file.layout(file.data(BYTES), BYTES, (3, 4), version, kind)
        rows = file.dataset("rows", (3, 4), INT, BYTES, header, layout)
        same(file.finished(file.old_group("root", {b"rows": rows})), {"rows": ROWS}, theirs=version < 5)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_old_chunks_without_an_index(version) -> None:
    """No chunk was written: all elements are the fill value."""
    file = Hdf5()
    layout = file.layout(h5.UNDEFINED, b"", (7, 5), version, 2, 4)
    rows = file.dataset("rows", (30, 40), INT, BYTES, layout=layout)
    with opened(file.finished(file.old_group("root", {b"rows": rows}))) as made:
        assert made["rows"].shape == (30, 40) and "chunk" in complaints(made)["rows"]
        assert content(whole(made.file, "rows")) == bytes(30 * 40 * 4)


@pytest.mark.parametrize("flags", [0, 1, 2, 3, 4, 0x10, 0x20, 0x34, 0x37])
def test_new_headers(flags) -> None:
    """With times, limits, orders of creation, and lengths of 1 to 8 bytes; the second half in another block."""
    for split in (None, 0, 1, 3):
        file = Hdf5(2)
        rows = file.dataset("rows", (3, 4), INT, BYTES, 2, flags=flags, split=split)
        same(file.finished(file.compact_group("root", [h5.link(b"rows", rows)], flags=flags & 0x34 | 1)), {"rows": ROWS})


@pytest.mark.parametrize("split", [0, 1, 2, 3])
def test_old_headers_that_continue(split) -> None:
    file = Hdf5()
    rows = file.dataset("rows", (3, 4), INT, BYTES, split=split)
    same(file.finished(file.old_group("root", {b"rows": rows})), {"rows": ROWS})


def test_spaces_of_both_versions_and_limits() -> None:
    for version, largest in itertools.product((1, 2), (None, (3, 4), (h5.UNDEFINED, 9))):
        file = Hdf5()
        messages = [(h5.SPACE, h5.space((3, 4), version, largest=largest)), (h5.TYPE, INT), (h5.FILL, h5.FILLED),
                    (h5.LAYOUT, file.layout(file.data(BYTES), BYTES))]
        same(file.finished(file.old_group("root", {b"rows": file.header("rows", messages)})), {"rows": ROWS}, theirs=largest is None)


def test_messages_that_nobody_needs() -> None:
    """Nothing, comments, times, and those of numbers that do not exist."""
    for version in (1, 2):
        file = Hdf5()
        more = [(0, [bytes(24)]), (13, [b"comment\0"]), (18, [b"\1\0\0\0" + bytes(4)]), (99, [bytes(16)]), (0, [])]
        rows = file.dataset("rows", (3, 4), INT, BYTES, version, more=more)
        same(file.finished(file.old_group("root", {b"rows": rows})), {"rows": ROWS}, theirs=False)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_shared_types(version) -> None:
    """A type in a header of its own, as committed ones are."""
    for header in (1, 2):
        file = Hdf5()
        kind = file.header("kind", [(h5.TYPE, INT)], header)
        where = [("version", version, 1), ("kind", 2 if version == 3 else 0, 1), *[bytes(14)] * (version == 1), ("address", kind, 8)]
        where += [bytes(24)] * (version == 1)  # the rest of an entry of a symbol table
        messages = [(h5.SPACE, h5.space((3, 4))), (h5.TYPE, where, 2), (h5.FILL, h5.FILLED),
                    (h5.LAYOUT, file.layout(file.data(BYTES), BYTES))]
        source = file.finished(file.old_group("root", {b"rows": file.header("rows", messages, header), b"kind": kind}))
        same(source, {"rows": ROWS})


# ---- types

C8 = [(b"r", 0, h5.floating(4)), (b"i", 4, h5.floating(4))]
C16 = [(b"r", 0, h5.floating(8, True)), (b"i", 8, h5.floating(8, True))]
VERSIONS = (1, 2, 3)
TYPES = {
    "int8": (h5.integer(1), "<i1"), "uint8": (h5.integer(1, False), "<u1"), "int64": (h5.integer(8), "<i8"),
    "uint16 big": (h5.integer(2, False, True), ">u2"), "int32 big": (h5.integer(4, True, True), ">i4"),
    "float16": (h5.floating(2), "<f2"), "float32": (h5.floating(4), "<f4"), "float64 big": (h5.floating(8, True), ">f8"),
    **{f"complex64 v{v}": (h5.compound(8, C8, v), "<c8") for v in VERSIONS},
    **{f"complex128 big v{v}": (h5.compound(16, C16, v), ">c16") for v in VERSIONS},
    **{f"enum v{v}": (h5.enumeration(h5.integer(2), {b"a": b"\1\0", b"longer name": b"\2\0"}, v), "<i2") for v in VERSIONS},
    **{f"bool v{v}": (h5.enumeration(h5.integer(1), {b"FALSE": b"\0", b"TRUE": b"\1"}, v), "bool") for v in VERSIONS},
}


@pytest.mark.parametrize("name", TYPES)
def test_types(name) -> None:
    kind, dtype = TYPES[name]
    made = (np.arange(3) % 2).astype(dtype)
    source = single(kind, made.tobytes())
    same(source, {"a": made})
    with opened(source) as file:
        assert file["a"].type_name.decode() == made.dtype.name and file["a"].swapped == (made.dtype.byteorder == ">")


def test_bfloat16() -> None:
    for big in (False, True):
        with opened(single(h5.floating(2, big, 7, 8, 127), b"\x80\x3f" * 3)) as file:
            assert (file["a"].type_name, file["a"].swapped, file["a"].complaint) == (b"bfloat16", big, None)


@pytest.mark.parametrize("version", [2, 3])
def test_arrays(version) -> None:
    made = np.arange(3 * 2 * 5, dtype="<i2").reshape(3, 2, 5)
    same(single(h5.array_type(h5.integer(2), (2, 5), version), made.tobytes()), {"a": made})
    nested = h5.array_type(h5.array_type(h5.integer(2), (5,), version), (2,), version)
    same(single(nested, made.tobytes()), {"a": made}, theirs=False)


REFUSED_TYPES = {
    "integer of 3 bytes": (h5.integer(3), "3 bytes"),
    "integer of 16 bytes": (h5.integer(16), "16 bytes"),
    "integer of 24 of 32 bits": (h5.integer(4, precision=24), "24"),
    "integer from bit 4 on": (h5.integer(4, at=4, precision=28), "28"),
    "float with its exponent elsewhere": (h5.floating(4, exponent_at=20), "float"),
    "float with a shorter exponent": (h5.floating(4, exponent=7), "float"),
    "float with a shorter mantissa": (h5.floating(4, mantissa_at=3), "float"),
    "float with another bias": (h5.floating(8, bias=1000), "float"),
    "float with its sign elsewhere": (h5.floating(4, sign=30), "float"),
    "float of 31 bits": (h5.floating(4, precision=31), "float"),
    "VAX": (h5.typed(1, 4, 0x1f61, [field for field in h5.floating(4)[3:]], 3), "float"),
    "half like bfloat16": (h5.floating(2, mantissa=7, exponent=8, bias=100), "float"),
    "time": (h5.typed(2, 4, 0, [b"\x20\0"]), "time"),
    "bitfield of 9 of 16 bits": (h5.typed(4, 2, 0, [b"\0\0\x09\0"]), "bitfield of 9 bits"),
    "reference": (h5.typed(7, 8, 0, []), "reference"),
    "list": (h5.typed(9, 16, 0, h5.integer(4)), "variable-length"),
    "text": (h5.typed(9, 16, 1, h5.integer(1)), "variable-length"),
    "compound of one": (h5.compound(8, C8[:1]), "compound"),
    "compound of others": (h5.compound(8, [(b"x", 0, h5.floating(4)), (b"i", 4, h5.floating(4))]), "compound"),
    "complex the other way round": (h5.compound(8, [(b"r", 4, h5.floating(4)), (b"i", 0, h5.floating(4))]), "compound"),
    "complex of integers": (h5.compound(8, [(b"r", 0, INT), (b"i", 4, INT)]), "compound"),
    "complex with a gap": (h5.compound(16, [(b"r", 0, h5.floating(4)), (b"i", 8, h5.floating(4))]), "compound"),
    "complex of two orders": (h5.compound(8, [(b"r", 0, h5.floating(4)), (b"i", 4, h5.floating(4, True))]), "compound"),
    "complex halves": (h5.compound(4, [(b"r", 0, h5.floating(2)), (b"i", 2, h5.floating(2))]), "complex"),
    "array of texts": (h5.array_type(h5.typed(9, 16, 1, h5.integer(1)), (2,)), "variable-length"),
}


@pytest.mark.parametrize("name", REFUSED_TYPES)
def test_types_that_are_refused(name) -> None:
    kind, word = REFUSED_TYPES[name]
    file = Hdf5()
    size = next(field[1] for field in kind if field[0] == "size")
    links = {b"a": file.dataset("a", (2,), kind, bytes(2 * size)), b"rows": file.dataset("rows", (3, 4), INT, BYTES)}
    with opened(file.finished(file.old_group("root", links))) as made:
        found = complaints(made)
        assert list(found) == ["a"] and made["a"].complaint.status == "unsupported"
        assert word in found["a"] and "'a'" in found["a"]
        assert content(made["rows"]) == BYTES


def test_texts_and_opaque_bytes() -> None:
    """Fixed strings of every padding; an opaque type has a tag."""
    for bits in (0, 1, 2, 0x10, 0x11, 0x12):
        with opened(single(h5.typed(3, 5, bits, []), b"ab\0\0\0hello     ")) as file:
            assert content(file["a"]) == b"ab\0\0\0hello     " and "S5" in file["a"].descr.decode()
    with opened(single(h5.typed(5, 4, 8, [b"a tag\0\0\0"]), bytes(range(12)))) as file:
        assert content(file["a"]) == bytes(range(12)) and "V4" in file["a"].descr.decode()


# ---- groups


def test_two_names_for_one_place_and_datasets_that_overlap() -> None:
    file = Hdf5()
    place = file.data(BYTES)
    rows = file.dataset("rows", (3, 4), INT, BYTES, layout=file.layout(place, BYTES))
    other = file.dataset("other", (2, 4), INT, BYTES[16:], layout=file.layout(place + 16, BYTES[16:]))
    same(file.finished(file.old_group("root", {b"a": rows, b"b": rows, b"c": other})), {"a": ROWS, "b": ROWS, "c": ROWS[1:]}, aliases=1)


@pytest.mark.parametrize("how", GROUPS)
def test_soft_links(how) -> None:
    file = Hdf5()
    rows = file.dataset("rows", (3, 4), INT, BYTES)
    texts = {b"absolute": b"/rows", b"relative": b"rows", b"dots": b"./rows", b"slashes": b"//rows", b"nowhere": b"/none", b"empty": b"",
             b"self": b"/self", **{b"chain%02d" % i: b"/chain%02d" % (i - 1) for i in range(1, 30)}, b"chain00": b"/rows"}
    if how == "old":
        root = file.old_group("root", {b"rows": rows, **texts})
    else:
        links = {b"rows": h5.link(b"rows", rows), **{name: h5.link(name, 0, soft=text) for name, text in texts.items()}}
        root = file.dense_group("root", links) if how == "dense" else file.compact_group("root", list(links.values()), flags=1)
    with opened(file.finished(root)) as made:
        assert made.names == ["rows"] and not complaints(made)
        for name in ("absolute", "relative", "dots", "slashes", "chain00", "chain15"):
            assert content(made[name]) == BYTES, name
        for name in ("nowhere", "empty"):
            refuses(GatherError, made.find, name).must_be("name_not_found", f"'{name}'")
        for name in ("self", "chain16", "chain29"):
            refuses(GatherError, made.find, name).must_be("unsupported", "more than 16 soft links")


def test_other_links_are_left_out() -> None:
    file = Hdf5()
    rows = file.dataset("rows", (3, 4), INT, BYTES)
    links = [h5.link(b"rows", rows, order=5), h5.link(b"external", 0, soft=b"\0other.h5\0/a\0", kind=64),
             h5.link(b"mine", 0, soft=b"\1\2", kind=70)]
    same(file.finished(file.compact_group("root", links)), {"rows": ROWS}, theirs=False)


@pytest.mark.parametrize("leaf,inner", [(1, 1), (2, 3), (100, 32)])
@pytest.mark.parametrize("superblock", [0, 1])
def test_trees_of_many_levels(superblock, leaf, inner) -> None:
    file = Hdf5(superblock, leaf=leaf, inner=inner)
    places = {b"%d" % i: file.dataset(f"{i}", (1,), INT, np.int32(i).tobytes()) for i in range(300)}
    source = file.finished(file.old_group("root", places))
    same(source, {f"{i}": np.array([i], "i4") for i in range(300)})
    with opened(source) as made:
        assert made.names == [name.decode() for name in sorted(places)]


def test_a_file_within_bytes_of_others() -> None:
    """The signature is looked for at 0, 512, 1024 and so on, nowhere else."""
    file = Hdf5(user=0)
    source = file.finished(file.old_group("root", {b"a": file.dataset("a", (3, 4), INT, BYTES)}))
    assert outcome(bytes(256) + source) == outcome(bytes(1536) + source) == "unsupported"
    same(source + b"behind", {"a": ROWS})
