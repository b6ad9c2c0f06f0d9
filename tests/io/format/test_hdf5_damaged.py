# SPDX-License-Identifier: MIT
"""HDF5 files that lie: cut, changed, and with each number of their structures wrong. Each is an error that says where, of the file or of
the one dataset that it is about."""
import numpy as np
import pytest
from gather_files import GatherError, content
from many import complaints, failure
from support import hdf5_files as h5
from support.hdf5_files import UNDEFINED, Hdf5
from tensor_files import opened

ROWS = np.arange(12, dtype="<i4").reshape(3, 4)
BYTES = ROWS.tobytes()
INT = h5.integer(4)


def old() -> Hdf5:
    """Everything as before HDF5 1.8."""
    file = Hdf5(0, leaf=2, inner=2)
    rows = file.dataset("rows", (3, 4), INT, BYTES)
    more = {b"m%02d" % i: rows for i in range(40)}
    inner = file.old_group("inner", more)
    file.finished(file.old_group("root", {b"rows": rows, b"g": inner, b"soft": b"/rows"}))
    return file


def new(dense: bool = False) -> Hdf5:
    """Headers of version 2, continued; links in the header, or in a heap."""
    file = Hdf5(2)
    rows = file.dataset("rows", (3, 4), INT, BYTES, 2, flags=1, split=2, spaces=2)
    links = {name: h5.link(name, rows) for name in (b"rows", b"twin")} | {b"soft": h5.link(b"soft", 0, soft=b"/rows")}
    file.finished(file.dense_group("root", links) if dense else file.compact_group("root", list(links.values()), flags=1))
    return file


def compact() -> Hdf5:
    file = Hdf5(3)
    rows = file.dataset("rows", (3, 4), INT, BYTES, 2, file.layout(0, BYTES, kind=0), flags=2)
    file.finished(file.compact_group("root", [h5.link(b"rows", rows)], flags=1))
    return file


FILES = {"old": old, "new": new, "dense": lambda: new(True), "compact": compact}


def failed(source: bytes, name: str = "rows") -> GatherError:
    """Why the file, or its dataset, cannot be read."""
    try:
        with opened(source) as file:
            found = file[name].complaint
    except GatherError as error:
        found = error
    assert found is not None, "it can be read"
    assert 0 <= found.offset <= len(source), (found, found.offset)
    return found


def test_the_files_made_here_are_good() -> None:
    for name, make in FILES.items():
        with opened(bytes(make().bytes)) as file:
            assert not complaints(file) and content(file["rows"]) == BYTES, name


@pytest.mark.parametrize("name", FILES)
def test_cut_at_every_byte(name) -> None:
    """The last byte of what is needed is the last one of the file, but for tables with room in them."""
    file = FILES[name]()
    source = bytes(file.bytes)
    needed = max(end for label, (_, end) in file.spans.items() if label != "data")
    for size in range(8, needed - 1):
        error = failed(source[:size])
        assert error.status == "file_malformed" and error.offset <= size, (size, error)


FAR = 1 << 40
# File, field, value, words of the message, and the structure that the byte is in. Without one: that with the field, or the place that the
# field leads to.
WRONG = [
    ("old", "superblock.version", 4, "version 4"),
    ("old", "superblock.offsets", 3, "3"),
    ("old", "superblock.offsets", 0, "0"),
    ("old", "superblock.lengths", 16, "16"),
    ("old", "superblock.root", FAR, ""),
    ("old", "superblock.root", UNDEFINED, ""),
    ("old", "root.version", 3, "begins with 1 or 'OHDR'"),
    ("old", "root.length", 1 << 31, ""),
    ("old", "root.0.bytes", 65528, ""),
    ("old", "root.0.bytes", 8, ""),
    ("old", "root.0.tree", FAR, ""),
    ("old", "root.0.tree", 0, ""),
    ("old", "root.0.heap", FAR, ""),
    ("old", "root.0.heap", 8, ""),
    ("old", "root.heap.version", 1, "version"),
    ("old", "root.heap.length", FAR, ""),
    ("old", "root.heap.length", 3, "past the end of its local heap", "root.table0"),
    ("old", "root.heap.address", FAR, ""),
    ("old", "root.tree0.0.kind", 1, ""),
    ("old", "root.tree0.0.level", 1, "'TREE'", "root.table0"),
    ("old", "root.tree0.0.used", 65535, ""),
    ("old", "root.tree0.0.child0", FAR, ""),
    ("old", "root.tree0.0.child0", UNDEFINED, ""),
    ("old", "root.table0.version", 2, "version"),
    ("old", "root.table0.used", 65535, ""),
    ("old", "root.table0.1.name", FAR, ""),
    ("old", "root.table0.1.address", FAR, ""),
    ("old", "inner.tree1.0.level", 2, "level", "inner.tree0.0"),
    ("old", "inner.tree1.0.level", 255, ""),
    ("old", "inner.tree1.0.child0", FAR, ""),
    ("old", "inner.tree0.0.level", 1, ""),
    ("old", "rows.version", 0, "begins with 1 or 'OHDR'"),
    ("old", "rows.length", 1 << 31, ""),
    ("old", "rows.0.bytes", 8, ""),
    ("old", "rows.0.version", 9, "version"),
    ("old", "rows.0.rank", 33, ""),
    ("old", "rows.0.rank", 3, ""),
    ("old", "rows.0.side0", 1 << 62, ""),
    ("old", "rows.0.side0", UNDEFINED, ""),
    ("old", "rows.0.side0", 4, "64"),
    ("old", "rows.1.class", 0xb0, ""),
    ("old", "rows.1.class", 0x1f, ""),
    ("old", "rows.1.class", 0x1b, ""),
    ("old", "rows.1.size", 0, ""),
    ("old", "rows.1.size", 0xffffffff, ""),
    ("old", "rows.1.precision", 0, ""),
    ("old", "rows.3.version", 9, "version"),
    ("old", "rows.3.version", 0, "version"),
    ("old", "rows.3.class", 9, ""),
    ("old", "rows.3.address", FAR, ""),
    ("old", "rows.3.length", 47, "48"),
    ("new", "superblock.version", 9, "version"),
    ("new", "superblock.offsets", 5, "5"),
    ("new", "superblock.root", FAR, ""),
    ("new", "root.version", 1, "version"),
    ("new", "root.length", 0xffff, ""),
    ("new", "root.2.bytes", 0xffff, ""),
    ("new", "root.2.version", 2, "version"),
    ("new", "root.2.name_bytes", 255, ""),
    ("new", "root.2.address", FAR, ""),
    ("new", "rows.length", 0xffff, ""),
    ("new", "rows.4.address", FAR, ""),
    ("new", "rows.4.length", 4, ""),
    ("new", "rows.4.length", FAR, ""),
    ("new", "rows+.3.address", FAR, ""),
    ("new", "rows+.3.length", 47, "48"),
    ("new", "rows.4.address", 0, ""),
    ("new", "rows.0.kind", 7, ""),
    ("new", "rows.0.kind", 0, ""),
    ("dense", "root.0.heap", FAR, ""),
    ("dense", "root.0.names", FAR, ""),
    ("dense", "root.0.heap", 8, ""),
    ("dense", "root.frame.version", 1, "version"),
    ("dense", "root.frame.id_bytes", 3, "lengths", "root.index"),
    ("dense", "root.frame.filters", 1, ""),
    ("dense", "root.frame.width", 0, ""),
    ("dense", "root.frame.start", 0, ""),
    ("dense", "root.frame.start", 3, ""),
    ("dense", "root.frame.heap_bits", 255, ""),
    ("dense", "root.frame.root", FAR, ""),
    ("dense", "root.frame.rows", 65535, "rows", "root.block"),
    ("dense", "root.block.version", 1, "version"),
    ("dense", "root.block.heap", 0, ""),
    ("dense", "root.index.version", 1, "version"),
    ("dense", "root.index.kind", 4, ""),
    ("dense", "root.index.node", 3, ""),
    ("dense", "root.index.record", 12, ""),
    ("dense", "root.index.record", 0, ""),
    ("dense", "root.index.depth", 65535, ""),
    ("dense", "root.index.depth", 1, "'BTIN'", "root.leaf"),
    ("dense", "root.index.root", FAR, ""),
    ("dense", "root.index.used", 65535, ""),
    ("dense", "root.leaf.version", 1, "version"),
    ("dense", "root.leaf.kind", 6, ""),
    ("dense", "root.leaf.0.at", 0xffffff, ""),
    ("dense", "root.leaf.0.size", 0xffff, ""),
    ("dense", "root.leaf.0.size", 2, "", "root.block"),
    ("dense", "root.leaf.0.id", 0xff, ""),
    ("compact", "rows.3.length", 0xffff, ""),
    ("compact", "rows.3.length", 47, "48"),
]


def places(file: Hdf5, field: str, value: int) -> list[tuple[int, int]]:
    """Where a complaint of a field may be: its structure, what it leads to, the end of a file that is too short."""
    at, end = file.at[field][0], len(file.bytes)
    return [(end, end)] + [span for span in file.spans.values() if span[0] <= at < span[1]] + [(file.user + value, file.user + value)]


@pytest.mark.parametrize("which,field,value,words,where", [(*row, None)[:5] for row in WRONG], ids=str)
def test_each_number_wrong(which, field, value, words, where) -> None:
    file = FILES[which]()
    error = failed(file.changed(field, value), "g/m00" if field.startswith("inner") else "rows")
    assert error.status in ("file_malformed", "unsupported", "overflow") and words in error.message, error
    found = [file.spans[where]] if where else places(file, field, value)
    assert any(begin <= error.offset <= end for begin, end in found), (error, error.offset)


@pytest.mark.parametrize("which", ["new", "dense", "compact"])
def test_checksums(which) -> None:
    """Each structure that has one: a wrong sum, and any bit of what it is about."""
    file = FILES[which]()
    for begin, end, place in file.sums:
        spared = range(place, place + 4)
        first = begin + 8 if begin == file.user else begin  # without its signature it is no HDF5 file
        for at in [*range(first, min(end, begin + 200), 3), end - 1, *spared]:
            source = bytearray(file.bytes)
            source[at] ^= 0x10
            error = failed(bytes(source))
            assert error.status in ("file_malformed", "unsupported") and begin <= error.offset <= len(source), (at, error)
    source = bytearray(file.bytes)
    source[file.sums[-1][2]] ^= 1
    assert "checksum" in failed(bytes(source)).message


SIGNATURES = [b"HEAP", b"TREE", b"SNOD", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"BTHD", b"BTLF"]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_signatures(signature) -> None:
    """The one before the last: the last may be of a structure that is not looked into."""
    for which in FILES:
        file = FILES[which]()
        for label, (begin, _) in file.spans.items():
            if label.startswith("inner") or file.bytes[begin:begin + 4] != signature:
                continue
            source = bytearray(file.bytes)
            source[begin + 3] ^= 0x20
            error = failed(bytes(source))
            assert error.status in ("file_malformed", "unsupported") and error.offset == begin, (which, label, error, error.offset)


VALUES = [0, 1, 2, 7, 8, 9, 127, 128, 255, 256, 0x7fff, 0xffff, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, (1 << 63) - 1, 1 << 63,
          UNDEFINED - 1, UNDEFINED]


@pytest.mark.parametrize("which", FILES)
def test_any_value_of_any_number(which) -> None:
    """An error, or datasets of which each has the bytes that the file has at its place."""
    file = FILES[which]()
    answers, errors = 0, 0
    for field, (_, size) in file.at.items():
        for value in [*VALUES, *[begin for begin, _ in file.spans.values()]]:
            if value >> 8 * size and value != UNDEFINED:
                continue
            source = file.changed(field, value)
            try:
                with opened(source) as many:
                    assert len(many.names) < 10_000
                    for tensor in many.all:
                        if tensor.complaint is None and tensor.bytes:
                            assert source[tensor.offset:tensor.offset + tensor.bytes] == content(tensor)
                    answers += 1
            except GatherError as error:
                assert error.status in ("file_malformed", "unsupported", "overflow") and error.message, (field, value, error)
                assert -1 <= error.offset <= len(source), (field, value, error, error.offset)
                errors += 1
    assert answers > 100 and errors > 100


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_with_sums_mended(seed) -> None:
    file = FILES[list(FILES)[seed % 4]]()
    rng = np.random.default_rng(seed)
    for _ in range(100):
        source = bytearray(file.bytes)
        for at in rng.integers(8, len(source), 3):
            source[at] = rng.integers(0, 256)
        file.mend(source)
        try:
            with opened(bytes(source)) as many:
                for tensor in many.all:
                    if tensor.complaint is None and tensor.bytes:
                        assert source[tensor.offset:tensor.offset + tensor.bytes] == content(tensor)
        except GatherError as error:
            assert error.message and -1 <= error.offset <= len(source)


# ---- graphs without an end


def test_groups_that_double_do_not_take_for_ever() -> None:
    """Sixty levels, each with two links to the next one: 2^60 paths."""
    file = Hdf5(2)
    below = file.dataset("rows", (3, 4), INT, BYTES, 2)
    for level in range(60):
        below = file.compact_group(f"level{level}", [h5.link(b"a", below), h5.link(b"b", below)])
    try:
        with opened(file.finished(below)) as many:
            assert len(many.names) <= 1 << 20
    except GatherError as error:
        assert error.message and error.offset <= len(file.bytes)


def test_a_group_below_itself() -> None:
    for how in ("old", "compact"):
        file = Hdf5(0 if how == "old" else 2)
        rows = file.dataset("rows", (3, 4), INT, BYTES)
        label = "root"
        if how == "old":
            file.finished(file.old_group(label, {b"rows": rows, b"z": rows}))
            source = file.changed("root.table0.1.address", file.spans["root"][0])
        else:
            file.finished(file.compact_group(label, [h5.link(b"rows", rows), h5.link(b"z", rows)]))
            source = file.changed("root.3.address", file.spans["root"][0])
        with opened(source) as many:
            assert "rows" in many.names and content(many["rows"]) == BYTES


def test_a_header_that_continues_in_itself() -> None:
    for version in (1, 2):
        file = Hdf5()
        rows = file.dataset("rows", (3, 4), INT, BYTES, version, split=2)
        file.finished(file.old_group("root", {b"rows": rows}))
        begin = file.spans["rows+"][0]
        last = file.header("last", [(0, [bytes(8)])], version)
        source = file.changed("rows.4.address" if "rows.4.address" in file.at else "rows.2.address", last)
        failed(source)
        file.header("loop", [(16, [("address", begin, 8), ("length", 48, 8)])], version)
    failure(b"\x89HDF\r\n\x1a\n").must_be("file_malformed")


def test_a_shared_type_that_is_shared() -> None:
    """Followed once: a type that leads to its own header does not end otherwise."""
    file = Hdf5()
    place = len(file.bytes)
    shared = [("version", 1, 1), ("kind", 0, 1), bytes(6), ("address", place - file.user, 8)]
    kind = file.header("kind", [(h5.TYPE, shared, 2)])
    assert kind == place
    messages = [(h5.SPACE, h5.space((3, 4))), (h5.TYPE, shared, 2), (h5.LAYOUT, file.layout(file.data(BYTES), BYTES))]
    failed(file.finished(file.old_group("root", {b"rows": file.header("rows", messages)})))


def packed(fields: list) -> bytes:
    return b"".join(field if isinstance(field, bytes) else field[1].to_bytes(8, "little")[:field[2]] for field in fields)


@pytest.mark.parametrize("levels", [9, 100, 3000])
def test_types_within_types(levels) -> None:
    """An array of one element of an array of ...: not by calls within calls for ever."""
    for step in (lambda kind: h5.array_type(kind, (1,), 3), lambda kind: h5.compound(4, [(b"a", 0, kind)], 3),
                 lambda kind: h5.typed(9, 4, 0, kind)):
        kind = INT
        for _ in range(levels):
            kind = step(kind)
            kind = [*kind[:3], packed(kind[3:])]
        file = Hdf5()
        message = packed(kind)
        if len(message) > 65_000:
            continue
        rows = file.dataset("rows", (3, 4), [message, bytes(-len(message) % 8)], BYTES)
        assert failed(file.finished(file.old_group("root", {b"rows": rows}))).status in ("unsupported", "file_malformed")


def test_names_that_are_no_utf8_or_have_slashes() -> None:
    for name in (b"\xff", b"a/b", b"", b".", b"..", b"a\0b"):
        file = Hdf5(2)
        rows = file.dataset("rows", (3, 4), INT, BYTES, 2)
        source = file.finished(file.compact_group("root", [h5.link(name, rows), h5.link(b"rows", rows)], flags=1))
        try:
            with opened(source) as many:
                assert all(many.names)
        except GatherError as error:
            assert error.status == "file_malformed" and error.offset <= len(source)


def test_messages_that_are_missing_or_twice() -> None:
    for version in (1, 2):
        for left_out in (h5.SPACE, h5.TYPE, h5.LAYOUT):
            file = Hdf5()
            layout = (h5.LAYOUT, file.layout(file.data(BYTES), BYTES))
            messages = [message for message in [(h5.SPACE, h5.space((3, 4))), (h5.TYPE, INT), layout] if message[0] != left_out]
            rows = file.header("rows", messages, version)
            whole = file.dataset("whole", (3, 4), INT, BYTES, version)
            source = file.finished(file.old_group("root", {b"rows": rows, b"whole": whole}))
            try:
                with opened(source) as many:
                    assert content(many["whole"]) == BYTES
                    assert "rows" not in many.names or many["rows"].complaint is not None
            except GatherError as error:
                error.must_be("file_malformed")
