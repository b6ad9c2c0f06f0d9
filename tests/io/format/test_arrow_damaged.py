# SPDX-License-Identifier: MIT
"""Arrow files that are damaged, cut, or speak of more than they hold, each with its byte; what only looks like one."""
import struct

import numpy as np
import pytest
from gather_files import content
from many import complaints, failure, outcome
from support import arrow_files as a
from support.arrow_files import (Batch, Items, arrow_file, arrow_stream, chunk, column, fixed_list, integer, listed, offsets, tensors)
from tensor_files import opened

NUMBERS = np.arange(1, 7, dtype="<i4")
DATA = NUMBERS.tobytes()


def one(field: dict, data: bytes, rows: int = 3, **lies) -> bytes:
    """A file of one column and one batch."""
    return arrow_file([field], [chunk(data, rows=rows)], **lies)


def test_other_formats_are_named() -> None:
    assert "version 2" in failure(b"FEA1" + bytes(40)).message
    message = b"".join(Batch(1, [(1, 0)], [b"", DATA[:4]]).message())
    for other in (b"\xff" * 64, b"\xff" * 12, b"\xff\xff\xff\xff\x10\0\0\0\xff\xff\xff\xff" + bytes(8), message):
        assert "unknown format" in failure(other).message  # no stream: it does not begin with a schema


# ---- streams

STREAM = [integer("a")], [chunk(DATA[:12], rows=3), chunk(DATA[12:], rows=3)]


def test_streams_cut_at_every_byte() -> None:
    """Cut between two messages, a stream is a shorter one: its end may be unmarked."""
    source, schema = arrow_stream(*STREAM), len(arrow_stream(STREAM[0], [], end=b""))
    whole = {len(arrow_stream(STREAM[0], STREAM[1][:i], end=b"")): i for i in range(3)}
    for size in range(16, len(source)):
        if size in whole:
            with opened(source[:size]) as file:
                assert sum(tensor.shape[0] for tensor in file.all) == 3 * whole[size]
            continue
        error = failure(source[:size])
        if size >= schema:
            assert error.status == "file_malformed" and ("truncated" in error.message or "outside the file" in error.message)


WRONG_STREAMS = [
    (arrow_stream(*STREAM, version=2), "unsupported", "version V3"),
    (arrow_stream(STREAM[0], [chunk(DATA, rows=6), Batch(6, [(6, 0)], [b"", DATA], more={"header": 4})]), "file_malformed", "kind 4"),
    (arrow_stream(STREAM[0], [Batch(6, [(6, 0)], [b"", DATA], more={"header": 1})]), "file_malformed", "kind 1"),
    (arrow_stream(STREAM[0], [Batch(6, [(6, 0)], [b"", DATA], more={"body_bytes": -1})]), "file_malformed", "outside the file"),
    (arrow_stream(STREAM[0], [Batch(6, [(6, 0)], [b"", DATA], more={"body_bytes": 2**62})]), "file_malformed", "outside the file"),
    (arrow_stream(STREAM[0], [Batch(6, [(6, 0)], [b"", DATA], more={"length": -8})]), "file_malformed", "-8 bytes of metadata"),
    (arrow_stream(STREAM[0], [Batch(6, [(6, 0)], [b"", DATA], more={"length": 2**31 - 1})]), "file_malformed", "2147483647 bytes of metadata"),
    (arrow_stream(STREAM[0], [Batch(6, [(6, 0)], [b"", DATA], more={"old": True})]), "file_malformed", "marker"),
    (arrow_stream(*STREAM, end=b"\xff" * 4), "file_malformed", "truncated"), (arrow_stream(*STREAM, end=b"\0" * 8), "file_malformed", "marker"),
]


@pytest.mark.parametrize("source, status, words", WRONG_STREAMS, ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_streams(source, status, words) -> None:
    failure(source).must_be(status, words)


# ---- lists of variable size


def list_file(ends: bytes, nodes=((3, 0), (6, 0)), large: bool = False, field: dict | None = None, count: int = 1) -> bytes:
    batch = Batch(3, list(nodes) * count, [b"", ends, b"", DATA] * count)
    return arrow_file([field or listed(f"v{i}", integer(None), large) for i in range(count)], [batch])


WRONG_LISTS = [
    (list_file(offsets(0, 2, 4)), "12 bytes of offsets"), (list_file(b""), "0 bytes of offsets"),
    (list_file(offsets(-2, 0, 2, 4)), "invalid offset"), (list_file(offsets(4, 2, 4, 6)), "invalid offset"),
    (list_file(offsets(0, 2, 1, 6)), "invalid offset"), (list_file(offsets(0, 2, -4, 6)), "invalid offset"),
    (list_file(offsets(2, 4, 6, 8)), "has 6 values; its rows need 8"), (list_file(offsets(0, 2, 4, 6), [(3, 0), (5, 0)]), "need 6"),
    (list_file(offsets(0, 2**31 - 1, -2, 2**31 - 3)), "its rows need 6442450941"),
    (list_file(offsets(0, 2**62, -2**63, -2**62, large=True), large=True), "does not fit in 64 bits"),
    (list_file(offsets(2**62, 2**62, 2**62, 2**62, large=True), large=True), "its rows need 4611686018427387904"),
    (list_file(offsets(2**63 - 8, 2**63 - 6, 2**63 - 4, 2**63 - 2, large=True), large=True), "need 9223372036854775806"),
    (list_file(offsets(0, 2**62, large=True) + bytes(16), large=True), "invalid offset"),
    (list_file(offsets(0, 2, 4, 6), [(4, 0), (6, 0)]), "has 4 values; its rows need 3"),
    (list_file(offsets(0, 2, 4, 6), [(3, 4), (6, 0)]), "4 nulls among 3"),
    (list_file(offsets(0, 2, 4, 6), [(3, 0)]), "1 of 2 fields"),
    (list_file(b"", field=column("v", a.LIST)), "0 child fields"),
    (list_file(b"", field=column("v", a.LARGE_LIST, None, [integer(), integer()])), "2 child fields"),
]


@pytest.mark.parametrize("source, words", WRONG_LISTS, ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_lists(source, words) -> None:
    failure(source).must_be("file_malformed", words)


def test_lists_share_no_offsets() -> None:
    """A small file cannot make its reader read the same offsets again and again."""
    rows, columns = 4000, 400
    ends = offsets(*range(rows + 1))
    batch = Batch(rows, [(rows, 0)] * 2 * columns, [b"", ends, b"", ends] + [(0, 0), (0, len(ends)), (0, 0), (0, 4 * rows)] * (columns - 1))
    failure(arrow_file([listed(f"v{i}", integer(None)) for i in range(columns)], [batch])).must_be("file_malformed", "more bytes than the file")


# ---- damage


def test_cut_at_every_byte() -> None:
    source = one(integer(), DATA, rows=6)
    for size in range(6, len(source)):
        failure(source[:size]).must_be("file_malformed", "truncated", size)


def batch_of(**more) -> bytes:
    fields = more.pop("fields", [integer("a"), fixed_list("b", 2, integer(None))])
    made = {"rows": 3, "nodes": [(3, 0), (3, 0), (6, 0)], "buffers": [b"", DATA[:12], b"", b"", DATA]} | more
    return arrow_file(fields, [Batch(made.pop("rows"), made.pop("nodes"), made.pop("buffers"), **made)])


def test_what_the_next_tests_damage_is_good() -> None:
    with opened(batch_of()) as file:
        assert not complaints(file) and content(file["b"]) == DATA


# What is wrong with a batch, and numbers that stand at the byte that is named; None: no single byte.
WRONG_BATCHES = [
    ({"rows": -1}, None, "-1 rows"), ({"rows": 4}, (3, 0), "its rows need 4"),
    ({"nodes": [(4, 0), (3, 0), (6, 0)]}, (4, 0), "has 4 values"),
    ({"nodes": [(3, 0), (3, 0), (5, 0)]}, (5, 0), "has 5 values; its rows need 6"),
    ({"nodes": [(3, 0), (3, 0)]}, None, "2 of 3 fields"),
    ({"nodes": [(3, -1), (3, 0), (6, 0)]}, (-1,), "-1 nulls"),
    ({"nodes": [(3, 4), (3, 0), (6, 0)]}, (4,), "4 nulls among 3"),
    ({"nodes": [(3, 0), (3, 0), (6, 7)]}, (7,), "7 nulls among 6"),
    ({"buffers": [b"", DATA[:12], b"", b""]}, None, "has 4 buffers"),
    ({"buffers": [b"", DATA[:11], b"", b"", DATA]}, (0, 11), "needs 12 bytes; its buffer has 11"),
    ({"buffers": [b"", DATA[:12], b"", b"", (16, 25)]}, (16, 25), "outside its record batch"),
    ({"buffers": [b"", (-8, 12), b"", b"", DATA]}, (-8, 12), "outside its record batch"),
    ({"buffers": [b"", (0, -1), b"", b"", DATA]}, (0, -1), "outside its record batch"),
    ({"buffers": [b"", (2**63 - 1, 12), b"", b"", DATA]}, (2**63 - 1, 12), "outside its record batch"),
    ({"buffers": [b"", (8, 2**63 - 1), b"", b"", DATA]}, (8, 2**63 - 1), "outside its record batch"),
    ({"buffers": [b"", (4000, 12), b"", b"", DATA]}, (4000, 12), "outside its record batch"),
    ({"more": {"body_bytes": -1}}, None, "outside the file"),
    ({"more": {"body_bytes": 100000}}, None, "outside the file"),
    ({"more": {"body_bytes": 2**63 - 1}}, None, "outside the file"),
    ({"more": {"body_bytes": 16}}, None, "outside its record batch"),
    ({"more": {"header": 2}}, None, "no record batch"), ({"more": {"length": 100000}}, None, "metadata of a record batch has 100000"),
    ({"more": {"length": 0}}, None, "metadata of a record batch has 0"), ({"more": {"length": -1}}, None, "metadata of a record batch has -1"),
    ({"more": {"length": 4}}, None, "malformed metadata"), ({"compression": -1}, None, "unknown compression"),
    ({"compression": 2}, None, "unknown compression"),
    ({"compression": 0, "more": {"method": 1}}, None, "unknown compression"),
    ({"compression": 0, "buffers": [b"", DATA[:7], b"", b"", DATA]}, None, "compressed buffer is too short: 7 bytes"),
    ({"compression": 0, "buffers": [b"", b"\xff" * 8 + DATA[:11], b"", b"", DATA]}, (0, 19), "buffer has 11"),
    ({"fields": [integer("a"), column("b", a.UTF8_VIEW), integer("c")], "buffers": [b""] * 6}, None, "0 of 1 view columns"),
    ({"fields": [integer("a"), column("b", a.UTF8_VIEW), integer("c")], "buffers": [b""] * 6, "views": [-1]}, (-1,),
     "of a view column: -1"),
    ({"fields": [integer("a"), column("b", a.UTF8_VIEW), integer("c")], "buffers": [b""] * 6, "views": [1]}, None, "need more"),
    ({"fields": [integer("a"), column("b", a.UTF8_VIEW), integer("c")], "buffers": [b""] * 6, "views": [2**63 - 1]}, None, "need more"),
    ({"more": {"fields": {1: Items(2**32 - 1, bytes(16))}}}, None, "a vector extends past"),
    ({"fields": [integer("a"), fixed_list("b", 2**31 - 1, integer(None))], "rows": 2**62, "nodes": [(2**62, 0)] * 3}, None, "does not fit"),
]


@pytest.mark.parametrize("wrong, numbers, words", WRONG_BATCHES, ids=lambda value: str(value)[:60])
def test_wrong_batches(wrong, numbers, words) -> None:
    source = batch_of(**wrong)
    error = failure(source)
    assert error.status == "file_malformed" and words in error.message, error.message
    assert 8 <= error.offset < len(source)
    if numbers:
        assert struct.unpack_from(f"<{len(numbers)}q", source, error.offset) == numbers


WRONG_BLOCKS = [(-8, 0, 0), (2**63 - 1, 0, 0), (-2**63, 0, 0), (0, -1000, 0), (0, 100000, 0), (100000, 0, 0), (0, 0, 0)]


@pytest.mark.parametrize("offset, metadata, body", WRONG_BLOCKS, ids=str)
def test_wrong_places_of_batches(offset, metadata, body) -> None:
    def moved(true):
        at, size, bytes_ = true[0]
        return [(at + offset if abs(offset) < 2**62 else offset, size + metadata, bytes_ + body)]
    source = arrow_file([integer()], [chunk(DATA, rows=6)], blocks=moved)
    if (offset, metadata, body) == (0, 0, 0):
        assert outcome(source) == [f"a (6,) {DATA.hex()}"]
    else:
        assert failure(source).status == "file_malformed"


def test_batches_that_share_bytes_are_few() -> None:
    """A small file cannot speak of more chunks than its bytes could tell of."""
    fields = [integer(f"c{i}") for i in range(50)]
    batch = chunk(*[DATA] * 50, rows=6)
    size = len(arrow_file(fields, [batch]))
    with opened(arrow_file(fields, [batch], blocks=lambda true: true * 2)) as file:
        assert len(file.all) == 100
    error = failure(arrow_file(fields, [batch], blocks=lambda true: true * (size // true[0][1] + 40)))
    assert error.status == "file_malformed" and "more bytes than the file" in error.message
    # Names that are long, for many small batches:
    long = integer("n" * (1 << 20))
    failure(arrow_file([long], [chunk(DATA, rows=6)] * 80)).must_be("unsupported", "column names are too long")


WRONG_FOOTERS = [({"footer_bytes": 0}, "footer length is 0"), ({"footer_bytes": -1}, "footer length is -1"),
                 ({"footer_bytes": 100000}, "footer length is 100000"),
                 ({"footer_bytes": 2**31 - 1}, "footer length is 2147483647"), ({"footer_bytes": 1}, "malformed metadata"),
                 ({"schema": False}, "no schema"),
                 ({"endianness": 2}, "unknown byte order number 2"), ({"magic": b"ARROW2"}, "truncated")]


@pytest.mark.parametrize("lies, words", WRONG_FOOTERS, ids=str)
def test_wrong_footers(lies, words) -> None:
    error = failure(one(integer(), DATA, **lies))
    assert error.status == "file_malformed" and words in error.message and error.offset > 8


@pytest.mark.parametrize("version, name", [(0, "V1"), (2, "V3"), (5, "V6"), (-1, "V0")])
def test_versions(version, name) -> None:
    failure(one(integer(), DATA, version=version)).must_be("unsupported", f"version {name} ")


WRONG_TYPES = [
    integer("a", 7), integer("a", 128), integer("a", -8), column("a", a.FLOAT, {0: (2, 3)}),
    column("a", a.FLOAT, {0: (2, -1)}),
    column("a", a.DECIMAL, {2: (4, 100)}), column("a", a.DATE, {0: (2, 2)}), column("a", a.TIME, {0: (2, 4)}),
    column("a", a.TIME, {0: (2, 0), 1: (4, 64)}), column("a", a.TIME, {0: (2, 2), 1: (4, 32)}),
    column("a", a.INTERVAL, {0: (2, 3)}),
    column("a", a.FIXED_BINARY, {0: (4, -1)}), fixed_list("a", -1, integer()), column("a", a.FIXED_LIST, {0: (4, 1)}),
    column("a", a.FIXED_LIST, {0: (4, 1)}, [integer(), integer()]), {**integer(), 3: Items(0, b"")},
    fixed_list("a", 2**31 - 1, fixed_list("a", 2**31 - 1, fixed_list("a", 2**31 - 1, integer()))),
    {number: value for number, value in integer().items() if number != 3},
]


@pytest.mark.parametrize("field", WRONG_TYPES, ids=lambda field: str(field)[:60])
def test_wrong_types(field) -> None:
    source = arrow_file([field], [Batch(1, [(1, 0)] * 4, [b"", b"", b"", b"", DATA, DATA])])
    error = failure(source)
    assert error.status == "file_malformed" and error.offset > 8


@pytest.mark.parametrize("number", [0, 27, 127, -1])
def test_types_that_are_not_known(number) -> None:
    assert failure(one(column("a", number), DATA)).status == "unsupported"


def test_fields_within_each_other_without_end() -> None:
    """Two children that are one and the same, and so on: two to the power of sixty fields in a few bytes."""
    field = integer("x")
    for _ in range(60):
        field = column("x", a.STRUCT, None, [field])
    source = bytearray(arrow_file([field], []))
    start = len(source) - 10 - struct.unpack_from("<i", source, len(source) - 10)[0]
    changed = 0
    for at in range(start, len(source) - 10, 4):
        length, pointer = struct.unpack_from("<II", source, at)
        target = at + 4 + pointer
        # A list of one table, which a name of one letter follows in these buffers.
        if length == 1 and 8 < pointer < 64 and target + 4 < len(source) and target % 8 == 0:
            source[at:at + 4] = struct.pack("<I", 2)
            source[at + 8:at + 12] = struct.pack("<I", pointer - 4)
            changed += 1
    assert changed >= 60
    assert "its columns contain each other" in failure(bytes(source)).message


def test_every_byte_changed() -> None:
    """An error, or columns whose bytes are in the file."""
    source = batch_of()
    good = outcome(source)
    answers = 0
    for at in range(len(source)):
        for value in {0, 1, 127, 255, source[at] ^ 1, source[at] ^ 128, (source[at] + 1) & 255}:
            result = outcome(source[:at] + bytes([value]) + source[at + 1:])
            answers += isinstance(result, list)
    assert good == [f"a (3,) {DATA[:12].hex()}", f"b (3, 2) {DATA.hex()}"] and answers > len(source)


@pytest.mark.parametrize("seed", range(10))
def test_flipped_bytes_never_read_beyond_the_file(seed) -> None:
    lists = Batch(3, [(3, 0), (3, 0), (6, 0)], [b"", offsets(0, 1, 2, 3), b"", offsets(0, 2, 4, 6, large=True), b"", DATA])
    nested = [listed("v", listed(None, integer(None), True))]
    source = bytearray(arrow_file(nested, [lists] * 2) if seed % 4 == 1 else arrow_stream(nested, [lists] * 2) if seed % 4 == 2 else
                       batch_of() if seed % 2 else arrow_file([tensors("t", 6, '{"shape":[2,3]}'), column("u", a.UTF8_VIEW)],
                                                              [Batch(1, [(1, 0), (6, 0), (1, 0)],
                                                                     [b"", b"", DATA, b"", DATA], views=[0])] * 2))
    rng = np.random.default_rng(seed)
    for _ in range(300):
        changed = bytearray(source)
        for at in rng.integers(8, len(source) - 6, 3):
            changed[at] = rng.integers(0, 256)
        outcome(bytes(changed))
