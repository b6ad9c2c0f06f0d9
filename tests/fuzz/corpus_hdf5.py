# SPDX-License-Identifier: MIT
"""The corpus of HDF5 files, for make_corpus.py: one of each structure, and some with a number that is wrong."""
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import hdf5_files as h5  # noqa: E402
from support.hdf5_files import UNDEFINED, Hdf5  # noqa: E402

BYTES = bytes(range(24))
PAIR = [(b"r", 0, h5.floating(4)), (b"i", 4, h5.floating(4))]
TYPES = [
    h5.integer(1), h5.integer(2, False, True), h5.integer(8), h5.integer(3), h5.floating(2), h5.floating(4, True), h5.floating(8),
    h5.floating(2, mantissa=7, exponent=8, bias=127), h5.floating(4, bias=3),
    h5.compound(8, PAIR), h5.compound(8, PAIR, 3), h5.compound(4, PAIR[:1]),
    h5.enumeration(h5.integer(1), {b"FALSE": b"\0", b"TRUE": b"\1"}), h5.enumeration(h5.integer(2), {b"a": b"\1\0"}, 3),
    h5.array_type(h5.integer(2), (2, 2)), h5.array_type(h5.integer(2), (2,), 3), h5.typed(3, 4, 0, []), h5.typed(5, 4, 4, [b"tag\0"]),
    h5.typed(2, 4, 0, [b"\x20\0"]), h5.typed(4, 2, 0, [b"\0\0\x10\0"]), h5.typed(7, 8, 0, []), h5.typed(9, 16, 1, h5.integer(1)),
    h5.typed(12, 4, 0, []),
]
SHAPES = [(), (0,), (6,), (2, 3), (1,) * 8, (1,) * 9, (UNDEFINED,), (1 << 62, 4)]


def one(kind=None, shape=(2, 3), file: Hdf5 | None = None, **made) -> Hdf5:
    """A file of one dataset in an old group."""
    file = file or Hdf5(leaf=1, inner=1)
    rows = file.dataset("rows", shape, kind or h5.integer(4), BYTES, **made)
    file.finished(file.old_group("root", {b"rows": rows}))
    return file


def groups(how: str, file: Hdf5, version: int, count: int = 2, **made) -> Hdf5:
    rows = file.dataset("rows", (2, 3), h5.integer(4), BYTES, version, **made)
    names = [b"%d" % i for i in range(count)]
    for label in ("inner", "root"):
        if how == "old":
            rows = file.old_group(label, dict.fromkeys(names, rows) | {b"soft": b"/0"})
            names = [b"g", b"0"][:count]
            continue
        fields = {name: h5.link(name, rows, file.offsets) for name in names} | {b"soft": h5.link(b"soft", 0, soft=b"/0")}
        rows = file.dense_group(label, fields) if how == "dense" else file.compact_group(label, list(fields.values()), flags=1)
        names = [b"g", b"0"][:count]
    file.finished(rows)
    return file


def chunked(index: int) -> Hdf5:
    """Two rows in two chunks (in one, of a single chunk), with this index; 0 is the B-tree of version 1."""
    file, count = Hdf5(2), 1 if index == 1 else 2
    sides, unlimited = (2 // count, 3), {4: 1, 5: 2}.get(index, 0)
    first = file.data(BYTES)
    chunks = [first, first + 12][:count]
    entries = [(f"chunk{i}", address, 8) for i, address in enumerate(chunks)]
    records = [part for i, entry in enumerate(entries) for part in (entry, (f"row{i}", i, 8), (f"column{i}", 0, 8))]
    keys = [part for i, entry in enumerate(entries)
            for part in ((f"bytes{i}", 12, 4), (f"skipped{i}", 0, 4), (f"row{i}", i, 8), (f"column{i}", 0, 8), bytes(8), entry)]
    tree = [b"TREE", ("kind", 1, 1), ("level", 0, 1), ("used", count, 2), ("left", UNDEFINED, 8), ("right", UNDEFINED, 8), *keys, bytes(32)]
    at, parameters = first, b""
    if index == 0:
        at = file.write("index", tree)
    if index == 3:
        block = file.write("block", [b"FADB\0\0", bytes(8), *entries], summed=True)
        numbers = [("entry", 8, 1), ("page_bits", 10, 1), ("entries", 2, 8), ("block", block, 8)]
        at, parameters = file.write("index", [b"FAHD\0", ("client", 0, 1), *numbers], summed=True), b"\x0a"
    if index == 4:
        data = file.write("data", [b"EADB\0\0", bytes(8 + 4), *entries[1:], *[("unused", UNDEFINED, 8)] * 15], summed=True)
        block = file.write("block", [b"EAIB\0\0", bytes(8), entries[0], ("data0", data, 8), *[("unused", UNDEFINED, 8)] * 30], summed=True)
        numbers = [("max_bits", 32, 1), ("direct", 1, 1), ("least_entries", 16, 1), ("least_pointers", 4, 1), ("page_bits", 10, 1)]
        numbers += [bytes(32), ("entries", 2, 8), bytes(8), ("block", block, 8)]
        at = file.write("index", [b"EAHD\0", ("client", 0, 1), ("entry", 8, 1), *numbers], summed=True)
        parameters = b"\x20\1\4\x10\x0a"
    if index == 5:
        root = file.write("leaf", [b"BTLF\0\x0a", *records], summed=True)
        numbers = [("node", 512, 4), ("record", 24, 2), ("depth", 0, 2), b"\x64\x28", ("root", root, 8), ("used", 2, 2), ("total", 2, 8)]
        at, parameters = file.write("index", [b"BTHD\0", ("kind", 10, 1), *numbers], summed=True), b"\0\2\0\0\x64\x28"
    largest = [UNDEFINED if i < unlimited else side for i, side in enumerate((2, 3))]
    layout = [("version", 4, 1), ("class", 2, 1), ("flags", 0, 1), b"\3\1", ("side0", sides[0], 1), ("side1", 3, 1), b"\4", ("index", index, 1),
              parameters, ("address", at, 8)]
    rows = file.header("rows", [(h5.SPACE, h5.space((2, 3), 2, largest=largest)), (h5.TYPE, h5.integer(4)), (h5.FILL, h5.FILLED),
                                (h5.LAYOUT, layout if index else file.layout(at, b"", sides, 3, 2, 4))], 2, 1)
    file.finished(file.compact_group("root", [h5.link(b"rows", rows)], flags=1))
    return file


def grown() -> Hdf5:
    """Eight rows in as many chunks: an extensible array with a super block of data blocks, and one of data blocks in pages."""
    file = Hdf5(2)
    first = file.data(BYTES)
    head, unused = bytes(8 + 2), [("unused", UNDEFINED, 8)]

    def entries(begin: int, count: int) -> list:
        return [(f"chunk{begin + i}", first, 8) for i in range(count)]

    def data(name: str, begin: int, count: int) -> int:
        return file.write(name, [b"EADB\0\0", head, *entries(begin, count)], summed=True)

    direct = [("data0", data("data0", 0, 1), 8), ("data1", data("data1", 1, 2), 8)]
    blocks = [("data2", data("data2", 3, 2), 8), ("data3", data("data3", 5, 2), 8)]
    super0 = file.write("super0", [b"EASB\0\0", head, *blocks], summed=True)
    paged = file.write("data4", [b"EADB\0\0", head], summed=True)
    file.write("page0", entries(7, 1) + unused, len(file.bytes), summed=True)
    super1 = file.write("super1", [b"EASB\0\0", head, ("pages0", 0x80, 1), ("pages1", 0, 1), ("data4", paged, 8), *unused], summed=True)
    supers = [("super0", super0, 8), ("super1", super1, 8), *unused * 7]
    block = file.write("block", [b"EAIB\0\0", bytes(8), *direct, *supers], summed=True)
    numbers = [("max_bits", 10, 1), ("direct", 0, 1), ("least_entries", 1, 1), ("least_pointers", 2, 1), ("page_bits", 1, 1)]
    numbers += [bytes(32), ("entries", 8, 8), bytes(8), ("block", block, 8)]
    at = file.write("index", [b"EAHD\0", ("client", 0, 1), ("entry", 8, 1), *numbers], summed=True)
    layout = [("version", 4, 1), ("class", 2, 1), ("flags", 0, 1), b"\3\1", ("side0", 1, 1), ("side1", 3, 1), b"\4", ("index", 4, 1),
              b"\x0a\0\2\1\1", ("address", at, 8)]
    rows = file.header("rows", [(h5.SPACE, h5.space((8, 3), 2, largest=(UNDEFINED, 3))), (h5.TYPE, h5.integer(4)), (h5.FILL, h5.FILLED),
                                (h5.LAYOUT, layout)], 2, 1)
    file.finished(file.compact_group("root", [h5.link(b"rows", rows)], flags=1))
    return file


WRONG = [("root.0.tree", 8), ("root.heap.length", 1), ("root.tree0.0.used", 9), ("root.tree0.0.level", 1), ("root.table0.used", 99),
         ("rows.0.rank", 9), ("rows.3.address", 1 << 40), ("rows.3.length", 1), ("rows.3.class", 3),
         ("rows.messages", 9), ("superblock.offsets", 3)]
WRONG_NEW = [("root.frame.root", 8), ("root.frame.rows", 1), ("root.frame.id_bytes", 9), ("root.block.offset", 1), ("root.index.depth", 1),
             ("root.index.used", 9), ("root.leaf.0.at", 999), ("root.leaf.0.size", 999), ("root.leaf.0.id", 0x20), ("root.leaf.0.id", 0x10)]
WRONG_CHUNKS = [(0, "index.level", 1), (0, "index.row1", 0), (1, "rows.3.address", 999), (2, "rows.0.largest1", 1 << 62),
                (3, "index.page_bits", 0), (3, "index.entries", 1 << 40), (3, "block.chunk0", 999), (4, "index.max_bits", 40),
                (4, "index.page_bits", 3), (4, "index.entries", 1 << 30), (4, "index.direct", 255), (5, "index.depth", 1),
                (5, "index.used", 99), (5, "leaf.row1", 1 << 63)]


def hdf5_files() -> list[bytes]:
    made = [one(kind) for kind in TYPES] + [one(shape=shape) for shape in SHAPES]
    made += [one(layout=Hdf5().layout(UNDEFINED, b"")), one(more=[(h5.EXTERNAL, [b"\1\0\0\0", bytes(12)])])]
    pipeline = [b"\1\2" + bytes(6), b"\2\0\0\0\1\0\1\0\4\0\0\0" + bytes(4), b"\0\x7d\5\0\0\0\0\0lzf" + bytes(5)]
    made += [one(layout=Hdf5().layout(UNDEFINED, b"", (2, 2), version, 2, 4), more=[(h5.PIPELINE, pipeline)]) for version in (1, 2, 3)]
    made += [one(layout=Hdf5().layout(0, BYTES, (2, 3), version, 0)) for version in (1, 2, 3, 4, 5)]
    made += [one(layout=Hdf5().layout(0, BYTES, (2, 3), version, 1)) for version in (1, 2, 4)]
    made += [one(layout=Hdf5().layout(0, b"", kind=3, version=4))]
    made += [one(version=2, flags=flags, split=split) for flags, split in itertools.product((0, 3, 0x34), (None, 2))] + [one(split=1)]
    sizes = ((0, 8, 8), (1, 4, 4), (2, 8, 4), (3, 2, 2))
    for how, size, version in itertools.product(("old", "compact", "dense"), sizes, (1, 2)):
        made.append(groups(how, Hdf5(*size, 0, 1, 1), version))
    made += [groups("old", Hdf5(leaf=1, inner=1), 1, 5), groups("compact", Hdf5(2, user=512), 2, split=1)]
    made += [*(chunked(index) for index in range(6)), grown()]
    files = [bytes(file.bytes) for file in made]
    files += [chunked(index).changed(*wrong) for index, *wrong in WRONG_CHUNKS]
    return files + [one().changed(*wrong) for wrong in WRONG] + [groups("dense", Hdf5(2), 2).changed(*wrong) for wrong in WRONG_NEW]
