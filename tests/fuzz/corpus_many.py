# SPDX-License-Identifier: MIT
"""The corpus of .npz and Arrow files, for make_corpus.py: good ones, and some with a number that is wrong."""
import json
import pathlib
import struct
import sys

from corpus_zarr import BASE_2, BASE_3, CHANGES_3

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import arrow_files as arrow  # noqa: E402
from support.zip_files import FULL, Member, zip_file  # noqa: E402


def npy(columns: str, descr: str = "<i2") -> bytes:
    """An array [2, 3]."""
    text = f"{{'descr': '{descr}', 'fortran_order': {columns}, 'shape': (2, 3), }}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(range(12))


def zarr_members() -> list[list[Member]]:
    """Stores of Zarr: an array in a shard, one in a chunk, consolidated metadata."""
    shard = bytes(24) + struct.pack("<QQQQ", 0, 24, FULL, FULL)
    texts = [json.dumps({**BASE_3, **changes}).encode() for changes in CHANGES_3]
    two = [Member(b".zarray", json.dumps(BASE_2).encode()), Member(b"0.0", bytes(48))]
    group = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline", "metadata": {"a": BASE_3,
        "b/c": {**BASE_3, "codecs": []}}}}
    old = {"zarr_consolidated_format": 1, "metadata": {"a/.zarray": BASE_2, "a/.zattrs": {}}}
    return [[Member(b"zarr.json", texts[-1]), Member(b"c/0/0", shard)], [Member(b"zarr.json", texts[0]), Member(b"c/0/0", bytes(48)),
        Member(b"c/1/0", b"")],
            two, [*two, Member(b"x/.zarray", b"{")], [Member(b"zarr.json", json.dumps(group).encode()), Member(b"a/c/0/0", bytes(48))],
            [Member(b".zmetadata", json.dumps(old).encode()), Member(b"a/0.0", bytes(48))], [Member(b".zarray",
                json.dumps(BASE_2).encode(), method=8)]]


def npz_files() -> list[bytes]:
    """Zip files with members that can be read, cannot, and lie."""
    good, columns = npy("False"), npy("True")
    a = Member(b"a.npy", good)
    wide = struct.pack("<HHQQQ", 1, 24, len(good), len(good), len(a.local() + good))
    members = [
        [a], [a, Member(b"b.npy", columns)], [a, a], [a, Member(b"folder/", b"")], [Member(b"a.txt", b"text")], [],
        [Member(b"a", good)],
        [Member(b"archive/data.pkl", b"\x80\x02")], [Member(b"\x81\xff.npy", good)],
        [Member("größe.npy".encode(), good, flags=1 << 11)],
        [Member(b"\xff.npy", good, flags=1 << 11)], [Member(b"a.npy", good, method=8)],
        [Member(b"a.npy", good, flags=1)],
        [a, Member(b"b.npy", good, packed=FULL, unpacked=FULL, offset=FULL, extra=wide)],
        [a, Member(b"b.npy", good, offset=0)],
        [Member(b"a.npy", good, packed=1 << 30, unpacked=1 << 30)], [Member(b"a.npy", good[:-1])],
        [Member(b"a.npy", b"")],
        [Member(b"a.npy", npy("False", "|O"))], [Member(b"a.npy", good, local_name=b"b.npy")],
        [Member(b"a.npy", good, extra=b"\1\0\xff\0")], [Member(b"a.npy", good, comment=b"a comment")],
    ]
    members += zarr_members()
    files = [zip_file(*made) for made in members] + [zip_file(a, wide=True), zip_file(a, wide=True, locator=0), zip_file(a, comment=b"ABC")]
    return files + [zip_file(a, count=7), zip_file(a, size=1), zip_file(a, offset=1 << 31), zip_file(a, disk=1), b"before" + zip_file(a)]


def arrow_files() -> list[bytes]:
    """Arrow's files: of every type, in several batches, and damaged."""
    numbers = struct.pack("<6i", *range(6))
    types = [arrow.integer("a", bits, sign) for bits in (8, 16, 32, 64, 7) for sign in (0, 1)]
    types += [arrow.column("a", arrow.FLOAT, {0: (2, unit)}) for unit in (0, 1, 2, 3)]
    types += [arrow.column("a", kind) for kind in range(28)]
    types += [arrow.column("a", arrow.FIXED_BINARY, {0: (4, size)}) for size in (0, 3, -1)]
    types += [arrow.column("a", arrow.UTF8, dictionary=True), arrow.integer(None), arrow.integer(b"\xff"), arrow.integer("größe")]
    batch = arrow.Batch(3, [(3, 0)] * 2, [b"", numbers, b"", numbers], views=[1])
    files = [arrow.arrow_file([field], [batch]) for field in types]
    lists = arrow.fixed_list("l", 2, arrow.fixed_list(None, 1, arrow.integer(None)))
    nested = arrow.Batch(3, [(3, 0), (3, 0), (6, 0)], [b"", b"", b"", numbers])
    files += [arrow.arrow_file([lists], [nested]), arrow.arrow_file([lists], [nested, nested]), arrow.arrow_file([lists], [])]
    shapes = ['{"shape":[2,3]}', '{"permutation":[1,0],"shape":[2,3],"dim_names":["a","b"]}', '{"shape":[7]}', "",
              '{"x":[{"y":null}],"shape":[6]}']
    whole = arrow.Batch(1, [(1, 0), (6, 0)], [b"", b"", numbers])
    files += [arrow.arrow_file([arrow.tensors("t", 6, shape)], [whole]) for shape in shapes]
    two = [arrow.integer("a"), arrow.column("u", arrow.UTF8_VIEW), arrow.integer("b")]
    views = arrow.Batch(3, [(3, 0)] * 3, [b"", numbers, b"", b"", b"", b"", b"", b"", numbers], views=[2])
    files += [arrow.arrow_file(two, [views, views])]
    files += [arrow.arrow_file([arrow.integer("a")] * 2, [arrow.chunk(numbers, numbers, rows=6)])]
    batches = [arrow.Batch(3, [(3, 1)], [b"\5", numbers]), arrow.Batch(3, [(3, 0)], [b"", b"\xff" * 8 + numbers], compression=0),
               arrow.Batch(3, [(3, 0)], [b"", numbers], compression=1), arrow.Batch(7, [(7, 0)], [b"", numbers]),
               arrow.Batch(3, [(3, 0)], [b"", (0, 1 << 40)]), arrow.Batch(3, [], []),
               arrow.Batch(3, [(3, 0)], [b"", numbers], more={"old": True}),
               arrow.Batch(3, [(3, 0)], [b"", numbers], more={"header": 1}),
               arrow.Batch(3, [(3, 0)], [b"", numbers], more={"length": 999})]
    files += [arrow.arrow_file([arrow.integer()], [batch]) for batch in batches]
    lz4 = (24).to_bytes(8, "little") + bytes.fromhex("04224d1860408218000080") + numbers + bytes(4)
    zstd = (24).to_bytes(8, "little") + bytes.fromhex("28b52ffd2018c10000") + numbers
    packed = [arrow.Batch(6, [(6, 0)], [b"", data], compression=codec) for codec, data in ((0, lz4), (1, zstd), (0, b"\xff" * 8 + numbers))]
    files += [arrow.arrow_file([arrow.integer()], made)
              for made in (packed[:1], packed[1:2], packed[:1] * 2, packed[:2], [packed[2], packed[0], arrow.chunk(numbers, rows=6)])]
    lies = [{"endianness": 1}, {"version": 3}, {"version": 2}, {"footer_bytes": 9}, {"schema": False}, {"blocks": lambda true: true * 3}]
    files += [arrow.arrow_file([arrow.integer()], [arrow.chunk(numbers, rows=6)], **lie) for lie in lies]
    ends, wide = arrow.offsets(0, 2, 4, 6), arrow.offsets(0, 2, 4, 6, large=True)
    listed = [(ends, 0, False, (3, 0)), (wide, 0, True, (3, 0)), (arrow.offsets(0, 2, 4, 5), 0, False, (3, 0)),
        (ends[:8], 0, False, (3, 0)),
              (arrow.offsets(-2, 0, 2, 4), 0, False, (3, 0)), (ends, 1, False, (3, 1)), (b"\xff" * 8 + ends, None, False, (3, 0))]
    for data, valid, large, node in listed:
        rows = arrow.Batch(3, [node, (6, 0)], [b"\5" * (valid or 0), data, b"", numbers], compression=0 if valid is None else None)
        files += [make([arrow.listed("l", arrow.integer(None), large)], [rows] * 2) for make in (arrow.arrow_file, arrow.arrow_stream)]
    deep = arrow.Batch(1, [(1, 0), (2, 0), (2, 0), (6, 0)], [b"", arrow.offsets(1, 2), b"", b"", arrow.offsets(0, 3, 6), b"", numbers])
    files += [arrow.arrow_file([arrow.listed("l", arrow.fixed_list(None, 1, arrow.listed(None, arrow.integer(None))))], [deep])]
    files += [arrow.arrow_stream([arrow.integer()], [arrow.chunk(numbers, rows=6)], **lie)
              for lie in ({"version": 2}, {"endianness": 1}, {"end": b""}, {"end": b"\xff" * 4}, {"schema": False})]
    return files + [b"ARROW1\0\0" + bytes(20) + b"ARROW1", b"FEA1" + bytes(20), b"".join(arrow.chunk(numbers, rows=6).message())]
