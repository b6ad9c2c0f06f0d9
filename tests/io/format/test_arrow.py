# SPDX-License-Identifier: MIT
"""Arrow files made by hand: every kind of column and batch. test_arrow_pyarrow.py has those that pyarrow writes."""
import struct

import numpy as np
import pytest
from gather_files import OPAQUE, GatherError, content, type_number
from many import array, complaint, complaints, failure
from support import arrow_files as a
from support.arrow_files import Batch, arrow_file, arrow_stream, chunk, column, fixed_list, integer, listed, offsets, tensors
from support.command import answer
from tensor_files import opened, whole

NUMBERS = np.arange(1, 7, dtype="<i4")
DATA = NUMBERS.tobytes()


CODECS = [(0, "lz4"), (1, "zstd")]


def frame(method: int, data: bytes) -> bytes:
    """A frame of LZ4 or Zstandard whose only block is not compressed."""
    if method == 0:
        return bytes.fromhex("04224d18604082") + struct.pack("<I", 1 << 31 | len(data)) + data + bytes(4)
    return bytes.fromhex("28b52ffda0") + struct.pack("<I", len(data)) + (len(data) << 3 | 1).to_bytes(3, "little") + data


def packed(method: int, data: bytes) -> bytes:
    return struct.pack("<q", len(data)) + frame(method, data)


def stored(data: bytes) -> bytes:
    return struct.pack("<q", -1) + data


def decoded(file, name: str) -> bytes:
    """The elements of a column. Skips the test if the library of its filter is not installed."""
    try:
        return content(whole(file, name))
    except GatherError as error:
        if "cannot be loaded" in error.message:
            pytest.skip(error.message)
        raise


def one(field: dict, data: bytes, rows: int = 3, **lies) -> bytes:
    """A file of one column and one batch."""
    return arrow_file([field], [chunk(data, rows=rows)], **lies)


def test_a_column() -> None:
    source = one(integer(), DATA, rows=6)
    with opened(source) as file:
        assert (file.format, file.names) == ("arrow", ["a"])
        tensor = file["a"]
        assert (tensor.shape, tensor.type_name, tensor.descr, tensor.swapped) == ((6,), b"int32", None, False)
        assert source[tensor.offset:tensor.offset + 24] == content(tensor) == DATA
        assert (array(file[""], "<i4") == NUMBERS).all()


TYPES = [  # a column, and its type; or that and the descr, where it is none of ours
    *((integer("a", bits, signed), f"{'u' * (1 - signed)}int{bits}") for bits in (8, 16, 32, 64) for signed in (0, 1)),
    *((column("a", a.FLOAT, {0: (2, i)}), name) for i, name in enumerate(("float16", "float32", "float64"))),
    (column("a", a.DATE, {0: (2, 0)}), "date32[day]", "<i4"), (column("a", a.DATE, {0: (2, 1)}), "", "<M8[ms]"),
    (column("a", a.DATE), "", "<M8[ms]"),
    *((column("a", a.TIME, {0: (2, i), 1: (4, 32)}), f"time32[{unit}]", "<i4") for i, unit in enumerate(("s", "ms"))),
    *((column("a", a.TIME, {0: (2, 2 + i), 1: (4, 64)}), "", f"<m8[{unit}]") for i, unit in enumerate(("us", "ns"))),
    (column("a", a.TIME), "time32[ms]", "<i4"), (column("a", a.TIMESTAMP, {0: (2, 3), 1: "UTC"}), "", "<M8[ns]"),
    *((column("a", a.TIMESTAMP, {0: (2, i)}), "", f"<M8[{unit}]") for i, unit in enumerate(("s", "ms", "us"))),
    *((column("a", a.DURATION, {0: (2, i)}), "", f"<m8[{unit}]") for i, unit in enumerate(("s", "ms", "us", "ns"))),
    (column("a", a.TIMESTAMP), "", "<M8[s]"), (column("a", a.DURATION), "", "<m8[ms]"),
    (column("a", a.INTERVAL, {0: (2, 0)}), "interval[month]", "<i4"),
    (column("a", a.INTERVAL, {0: (2, 1)}), "interval[day_time]", "|V8"),
    (column("a", a.INTERVAL, {0: (2, 2)}), "interval[month_day_nano]", "|V16"),
    (column("a", a.DECIMAL, {0: (4, 5), 1: (4, 2)}), "decimal128(5, 2)", "|V16"),
    (column("a", a.DECIMAL, {0: (4, -2**31), 1: (4, -2**31)}), "decimal128(-2147483648, -2147483648)", "|V16"),
    *((column("a", a.DECIMAL, {2: (4, bits)}), f"decimal{bits}(0, 0)", f"|V{bits // 8}") for bits in (32, 64, 128, 256)),
    *((column("a", a.FIXED_BINARY, {0: (4, size)}), "", f"|V{size}") for size in (0, 1, 5, 16)),
]


@pytest.mark.parametrize("case", TYPES, ids=lambda case: "-".join(case[1:]))
@pytest.mark.parametrize("endianness", [0, 1])
def test_types(case, endianness) -> None:
    field, name, descr = (*case, None)[:3]
    descr = descr.replace("<", "<>"[endianness]) if descr else None
    item = np.dtype(descr or name).itemsize
    data = bytes(range(3 * item))
    with opened(one(field, data, endianness=endianness)) as file:
        tensor = file["a"]
        assert (tensor.shape, tensor.bytes, content(tensor), tensor.type_name.decode()) == ((3,), 3 * item, data, name or descr)
        assert tensor.swapped == (endianness == 1 and item > 1 and (descr or "<")[0] != "|")
        if descr:
            assert (tensor.tensor.type, tensor.tensor.item_bytes, tensor.descr.decode()) == (OPAQUE, item, repr(descr))
        else:
            assert (tensor.tensor.type, tensor.descr) == (type_number(name), None)


LIST_OF_TEXT = [b"", a.offsets(0, 1, 2, 3), b"\xee" * 8, b"\xee" * 8, b"\xee" * 8]
UNREADABLE = [  # a column, its buffers or how many they are, its type, and what the message calls it
    (column("b", a.NULL), 0, "null", "type null"), (column("b", a.BINARY), 3, "binary", "bytes of variable length"),
    (column("b", a.UTF8), 3, "utf8", "text or"),
    (column("b", a.BOOL), 2, "bool", "1-bit bools"), (column("b", 19), 3, "large_binary", "variable length"),
    (column("b", 20), 3, "large_utf8", "variable length"),
    (column("b", a.UTF8, dictionary=True), 2, "dictionary", "dictionary-encoded"),
    (column("b", a.STRUCT, None, [integer("x"), integer("y")], dictionary=True), 2, "dictionary", "dictionary-encoded"),
    (listed("b", column("x", a.UTF8)), LIST_OF_TEXT, "list", "text or"),
    (listed("b", column("x", a.STRUCT, None, [integer("y")])), 2 + 1 + 2, "list", "structs"),
    (listed("b", column("x", a.NULL), large=True), 2, "large_list", "type null"),
    (column("b", a.MAP, {}, [column("e", a.STRUCT, None, [integer("k"), column("v", a.UTF8)])]), 2 + 1 + 2 + 3, "map", "maps"),
    (column("b", a.STRUCT, None, [integer("x"), column("s", a.UTF8)]), 1 + 2 + 3, "struct", "structs"),
    (column("b", a.STRUCT), 1, "struct", "structs"),
    (column("b", a.UNION, {0: (2, 0)}, [integer("x"), integer("y")]), 1 + 4, "union", "unions"),
    (column("b", a.UNION, {0: (2, 1)}, [integer("x"), integer("y")]), 2 + 4, "union", "unions"),
    (column("b", a.RUN_END, None, [integer("r"), integer("v")]), 4, "run_end_encoded", "run-end encoded"),
    (column("b", a.LIST_VIEW, None, [integer("x")]), 5, "list_view", "list views"),
    (column("b", 26, None, [integer("x")]), 5, "large_list_view", "list views"),
    (fixed_list("b", 2, column(None, a.UTF8)), 1 + 3, "fixed_size_list", "text or"),
    (fixed_list("b", 2, column(None, a.BOOL)), 1 + 2, "fixed_size_list", "1-bit bools"),
    (fixed_list("b", 2, column(None, a.UTF8, dictionary=True)), 1 + 2, "fixed_size_list", "dictionary-encoded"),
]


def nodes(field: dict) -> int:
    return 1 if 4 in field else 1 + sum(map(nodes, field[5]))


@pytest.mark.parametrize("field, buffers, name, words", UNREADABLE, ids=lambda value: value if isinstance(value, str) else "")
def test_columns_that_are_no_tensors_are_named_and_stepped_over(field, buffers, name, words) -> None:
    buffers = buffers if isinstance(buffers, list) else [b"\xee" * 8] * buffers
    batch = Batch(3, [(3, 0)] * (2 + nodes(field)), [b"", DATA[:12], *buffers, b"", DATA[12:]])
    source = arrow_file([integer("a"), field, integer("c")], [batch])
    with opened(source) as file:
        assert file.names == ["a", "b", "c"] and list(complaints(file)) == ["b"]
        assert (file["b"].shape, file["b"].type_name.decode(), file["b"].bytes) == ((3,), name, 0)
        assert content(file["a"]) + content(file["c"]) == DATA
    error = complaint(source, "b")
    assert error.status == "unsupported" and "column 'b' " in error.message and words in error.message, error.message


def test_columns_of_views_have_as_many_buffers_as_the_batch_says() -> None:
    fields = [integer("a"), column("u", a.UTF8_VIEW), integer("b"), column("v", a.BINARY_VIEW), integer("c")]
    def batch(start: int, views: list[int]) -> Batch:
        numbers = [DATA[start + i:start + i + 4] for i in (0, 4, 8)]
        more = [[b"", bytes(16)] + [b"\xee" * 8] * count for count in views]
        return Batch(1, [(1, 0)] * 5, [b"", numbers[0], *more[0], b"", numbers[1], *more[1], b"", numbers[2]], views=views)
    with opened(arrow_file(fields, [batch(0, [0, 3]), batch(12, [2, 1])])) as file:
        found = [b"".join(content(file[f"{name}@{i}"]) for name in "abc") for i in (0, 1)]
        assert b"".join(found) == DATA
        assert list(complaints(file)) == ["u@0", "u@1", "v@0", "v@1"]


def test_unions_before_v5_say_which_are_valid() -> None:
    field = column("b", a.UNION, {0: (2, 1)}, [integer("x")])
    batch = Batch(3, [(3, 0)] * 3, [b"\xee" * 8] * 5 + [b"", DATA[:12]])
    with opened(arrow_file([field, integer("c")], [batch], version=3)) as file:
        assert content(file["c"]) == DATA[:12]


# ---- lists of fixed size, and tensors


def test_lists_of_fixed_size() -> None:
    field = fixed_list("v", 2, fixed_list(None, 3, integer(None, 16)))
    data = np.arange(24, dtype="<i2")
    with opened(arrow_file([field], [Batch(4, [(4, 0), (8, 0), (24, 0)], [b"", b"", b"", data.tobytes()])])) as file:
        assert (array(file["v"], "<i2") == data.reshape(4, 2, 3)).all()


@pytest.mark.parametrize("depth", [1, 63, 64])
def test_lists_in_lists(depth) -> None:
    field = integer(None)
    for _ in range(depth):
        field = fixed_list("v", 1, field)
    source = arrow_file([field], [Batch(6, [(6, 0)] * (depth + 1), [b""] * (depth + 1) + [DATA])])
    if depth == 64:
        assert failure(source).status == "unsupported"
        return
    with opened(source) as file:
        assert file["v"].shape == (6,) + (1,) * depth and content(file["v"]) == DATA


def test_a_list_may_have_more_than_its_rows_need() -> None:
    """A column that was cut from a longer one may keep the elements behind it."""
    with opened(arrow_file([fixed_list("v", 2, integer(None))], [Batch(2, [(2, 0), (6, 0)], [b"", b"", DATA])])) as file:
        assert content(file["v"]) == DATA[:16]


# ---- lists of variable size


def test_lists_of_one_length_are_rows() -> None:
    for large in (False, True):
        for endianness, order in enumerate("<>"):
            data = NUMBERS.astype(order + "i4").tobytes()
            batch = Batch(3, [(3, 0), (6, 0)], [b"", offsets(0, 2, 4, 6, large=large, order=order), b"", data])
            with opened(arrow_file([listed("v", integer(None), large)], [batch], endianness=endianness)) as file:
                tensor = file["v"]
                assert (tensor.shape, tensor.type_name, content(tensor)) == ((3, 2), b"int32", data)


LISTS = [  # columns; rows, nodes and buffers of the batches; the shapes of their chunks, and the numbers in them
    ("lists in lists", listed("v", listed(None, integer(None), True)),
     [(2, [2, 2, 6], [b"", offsets(0, 1, 2), b"", offsets(0, 3, 6, large=True), b"", DATA])], [(2, 1, 3)], NUMBERS),
    ("in lists of fixed size", fixed_list("v", 2, listed(None, integer(None))),
     [(1, [1, 2, 6], [b"", b"", offsets(0, 3, 6), b"", DATA])], [(1, 2, 3)], NUMBERS),
    ("of lists of fixed size", listed("v", fixed_list(None, 3, integer(None))),
     [(2, [2, 2, 6], [b"", offsets(0, 1, 2), b"", b"", DATA])], [(2, 1, 3)], NUMBERS),
    ("cut at both ends", listed("v", integer(None)), [(2, [2, 6], [b"", offsets(1, 3, 5), b"", DATA])], [(2, 2)], NUMBERS[1:5]),
    ("cut, lists in lists", listed("v", listed(None, integer(None))),
     [(1, [1, 3, 6], [b"", offsets(1, 2), b"", offsets(0, 1, 3, 6), b"", DATA])], [(1, 1, 2)], NUMBERS[1:3]),
    ("of no values", listed("v", integer(None)), [(3, [3, 0], [b"", offsets(0, 0, 0, 0), b"", b""])], [(3, 0)], NUMBERS[:0]),
    ("no rows, no offsets", listed("v", integer(None)), [(0, [0, 0], [b"", b"", b"", b""])], [(0, 0)], NUMBERS[:0]),
    ("a batch without rows", listed("v", integer(None)),
     [(0, [0, 0], [b""] * 4), (2, [2, 4], [b"", offsets(0, 2, 4), b"", DATA[:16]]), (1, [1, 2], [b"", offsets(0, 2), b"", DATA[16:]])],
     [(0, 2), (2, 2), (1, 2)], NUMBERS),
    ("of opaque values", listed("v", column(None, a.TIMESTAMP, {0: (2, 3)})),
     [(1, [1, 3], [b"", offsets(0, 3), b"", DATA])], [(1, 3)], NUMBERS),
    ("in a batch of views", listed("v", integer(None)), [(1, [1, 2], [b"", offsets(0, 2), b"", DATA[:8]])], [(1, 2)], NUMBERS[:2]),
]


@pytest.mark.parametrize("name, field, batches, shapes, numbers", LISTS, ids=[case[0] for case in LISTS])
@pytest.mark.parametrize("make", [arrow_file, arrow_stream])
def test_lists(name, field, batches, shapes, numbers, make) -> None:
    views = [column("u", a.UTF8_VIEW)] if "views" in name else []
    made = [Batch(rows, [(rows, 0)] * len(views) + [(length, 0) for length in nodes],
                  [b"", bytes(16), b"long"][:3 * len(views)] + buffers, views=[1] if views else None) for rows, nodes, buffers in batches]
    with opened(make([*views, field], made)) as file:
        chunks = file.all[len(views):]
        assert [tensor.shape for tensor in chunks] == shapes
        assert b"".join(map(content, chunks)) == numbers.tobytes()


def lists_of(*lengths: int, valid: bytes = b"", nulls: int = 0, first: int = 0) -> Batch:
    ends = [first + sum(lengths[:i]) for i in range(len(lengths) + 1)]
    return Batch(len(lengths), [(len(lengths), nulls), (ends[-1], 0)], [valid, offsets(*ends), b"", bytes(4 * ends[-1])])


RAGGED = [
    ([lists_of(2, 2, 3, 2)], "the first one has 2, one in row 2 has 3"), ([lists_of(0, 1)], "the first one has 0, one in row 1 has 1"),
    ([lists_of(2, 2), lists_of(2, 2, 1)], "the first one has 2, one in row 4 has 1"),
    ([lists_of(2, 2), lists_of(1, 1)], "the first one has 2, one in row 2 has 1"),
    ([lists_of(), lists_of(3), lists_of(), lists_of(3, 0)], "the first one has 3, one in row 2 has 0"),
]


@pytest.mark.parametrize("batches, words", RAGGED, ids=lambda value: value if isinstance(value, str) else "")
def test_lists_of_other_lengths_are_named_by_their_row(batches, words) -> None:
    with opened(arrow_file([listed("v", integer(None)), *[integer("c")][:0]], batches)) as file:
        found = complaints(file)
        assert len(found) == len(batches) and all(words in why for why in found.values()), found
        assert all(tensor.type_name == b"list" and len(tensor.shape) == 1 for tensor in file.all)


def test_a_list_within_a_list_is_named_by_its_row_too() -> None:
    batch = Batch(3, [(3, 0), (6, 0), (11, 0)], [b"", offsets(0, 2, 4, 6), b"", offsets(0, 2, 4, 6, 7, 9, 11), b"", bytes(44)])
    error = complaint(arrow_file([listed("v", listed(None, integer(None)))], [batch]), "v")
    assert "the first one has 2, one in row 1 has 1" in error.message


NULL_LISTS = [  # the first null is named by its row of the file, whatever its list is long
    ([lists_of(2, 0, 2, valid=b"\5", nulls=1)], "v", "1 null, which a tensor cannot (row 1)"),
    ([lists_of(0, 0, 2, valid=b"\4", nulls=2)], "v", "2 nulls, which a tensor cannot (the first in row 0)"),
    ([lists_of(2, 2), lists_of(2, 0, valid=b"\1", nulls=1)], "v@1", "(row 3)"),
    ([Batch(2, [(2, 0), (4, 1)], [b"", offsets(0, 2, 4), b"\x0b", bytes(16)])], "v", "(row 1)"),
    ([Batch(1, [(1, 0), (4, 1)], [b"", offsets(2, 4), b"\x07", bytes(16)])], "v", "(row 0)"),
]


@pytest.mark.parametrize("batches, name, words", NULL_LISTS, ids=lambda value: value if isinstance(value, str) else "")
def test_null_lists(batches, name, words) -> None:
    with opened(arrow_file([listed("v", integer(None))], batches)) as file:
        assert list(complaints(file)) == [name] and words in complaints(file)[name], complaints(file)


def test_values_that_no_list_has_may_be_null() -> None:
    batch = Batch(1, [(1, 0), (4, 2)], [b"", offsets(1, 3), b"\x06", DATA[:16]])
    with opened(arrow_file([listed("v", integer(None))], [batch])) as file:
        assert content(file["v"]) == DATA[4:12]


# compressed offsets of lists of int32; the shape, or words of the refusal
PACKED_LISTS = [
    (offsets(0, 2, 4, 6), (3, 2)), (offsets(0, 2, 4, 6) + bytes(8), (3, 2)), (offsets(0, 2, 3, 6), "different lengths"),
    (offsets(0, 2, 4), "bytes of offsets of its lists; expected more"), (offsets(0, 2, 1, 6), "invalid offset"),
    (offsets(1, 2, 3, 4), "do not begin with their first value"), (struct.pack("<q", 16) + b"packed", "are corrupt"),
    (struct.pack("<q", 2**40) + b"packed", "they are too long"),
]


@pytest.mark.parametrize("ends, expected", PACKED_LISTS, ids=str)
@pytest.mark.parametrize("method, name", CODECS)
def test_lists_whose_offsets_are_compressed(method, name, ends, expected) -> None:
    data = ends if b"packed" in ends else packed(method, ends)
    for values in (packed(method, DATA), stored(DATA)):
        batch = Batch(3, [(3, 0), (6, 0)], [b"", data, b"", values], compression=method)
        try:
            with opened(arrow_file([listed("v", integer(None))], [batch] * 2)) as file:
                why = "".join(complaints(file).values())
                if "cannot be loaded" in why and "too long" not in str(expected):
                    pytest.skip(why)
                if expected == (3, 2):
                    assert decoded(file, "v") == DATA * 2 and whole(file, "v").shape == (6, 2)
                elif isinstance(expected, str) and "first value" in expected and values == stored(DATA):
                    assert content(file["v@0"]) == DATA[4:16]
                else:
                    assert expected in why, why
        except GatherError as error:
            assert expected in error.message, error.message


# ---- streams


def test_a_stream() -> None:
    fields, batches = [integer("a"), column("d", a.UTF8, dictionary=True)], [Batch(3, [(3, 0)] * 2, [b"", DATA[:12], b"", b"\0" * 3])] * 2
    dictionary = Batch(1, [(1, 0)], [b"", offsets(0, 1), b"x"], more={"header": 2})
    for end in (b"\xff" * 4 + bytes(4), b"", b"\xff" * 4 + bytes(4) + b"what follows"):
        with opened(arrow_stream(fields, [batches[0], dictionary, batches[1]], end=end)) as file:
            assert (file.format, file.names) == ("arrow", ["a@0", "a@1", "d@0", "d@1"])
            assert content(file["a@0"]) == content(file["a@1"]) == DATA[:12]
            assert list(complaints(file)) == ["d@0", "d@1"]
    with opened(arrow_stream([integer("a")], [])) as file:
        assert file["a"].shape == (0,)


# ---- tensors of one shape


SHAPES = [
    ('{"shape": [2, 3]}', (2, 3), None), ('{"shape":[3,2],"dim_names":["shape","C\\"]"]}', (3, 2), None),
    ('{"shape":[6]}', (6,), None),
    ('{"shape":[2,3],"permutation":null}', (2, 3), None), ('{"shape":[2,3],"permutation":[0,1]}', (2, 3), None),
    ('{"permutation":[1,0],"shape":[2,3]}', (2, 3), (1, 0)),
    ('{"shape":[1,2,3],"permutation":[2,0,1]}', (1, 2, 3), (2, 0, 1)),
    ('{"x":{"a":[1,-2,{}],"b":true},"shape":[1,1,6]}', (1, 1, 6), None),
]


@pytest.mark.parametrize("metadata, shape, order", SHAPES, ids=str)
def test_tensors_of_one_shape(metadata, shape, order) -> None:
    data = np.arange(12, dtype="<i4")
    expected = data.reshape(2, *shape)
    if order:
        expected = expected.transpose(0, *(axis + 1 for axis in order))
    batch = Batch(2, [(2, 0), (12, 0)], [b"", b"", data.tobytes()])
    with opened(arrow_file([tensors("t", 6, metadata)], [batch])) as file:
        tensor = file["t"]
        assert tensor.shape == expected.shape and tensor.strides == (expected.strides if order else None)
        assert (array(tensor, "<i4") == expected).all()


WRONG_SHAPES = ['{"shape":[2,2]}', '{"shape":[-2,-3]}', '{"shape":[]}', '{}', "", "[2,3]", '{"shape":[2,3]',
                '{"shape":[2,3],}x',
                '{"shape":[2,3.0]}', '{"shape":[2,3],"permutation":[0]}', '{"shape":[2,3],"permutation":[0,0]}',
                '{"shape":{"a":6}}',
                '{"shape":[2,3],"permutation":[0,2]}', '{"shape":[2,3],"permutation":[-1,0]}',
                '{"shape":[6,' + "1," * 62 + "1]}",
                '{"shape":[4294967296,4294967296]}', '{"x":' + "[" * 100000 + '"', '{"shape":"6"}', '{"shape" [6]}',
                '{"shape":[2 3]}',
                '{shape:[6]}', '{"shape":[6] "x":1}']


@pytest.mark.parametrize("metadata", WRONG_SHAPES, ids=lambda text: text[:40])
def test_shapes_that_do_not_fit(metadata) -> None:
    source = arrow_file([tensors("t", 6, metadata)], [Batch(1, [(1, 0), (6, 0)], [b"", b"", DATA])])
    assert "ARROW:extension:metadata" in complaint(source, "t").message


def test_other_extensions_are_what_they_are_stored_as() -> None:
    field = tensors("t", 6, '{"shape":[2,3]}', extension="somebody.else")
    for made in (field, tensors("t", 6, '{"shape":[2,3]}') | {6: [{0: "ARROW:extension:name"}]}):
        with opened(arrow_file([made], [Batch(1, [(1, 0), (6, 0)], [b"", b"", DATA])])) as file:
            assert file["t"].shape == (1, 6)
    nested = fixed_list("t", 2, tensors("x", 3, '{"shape":[3,1]}'))
    with opened(arrow_file([nested], [Batch(1, [(1, 0), (2, 0), (6, 0)], [b"", b"", b"", DATA])])) as file:
        assert file["t"].shape == (1, 2, 3)


def test_a_tensor_that_is_no_list_is_not_read_as_one() -> None:
    field = integer("t") | {6: tensors("t", 6, '{"shape":[1]}')[6]}
    with opened(one(field, DATA, rows=6)) as file:
        assert file["t"].shape == (6,)


# ---- batches


def test_columns_in_several_batches() -> None:
    fields = [integer("a"), fixed_list("b", 2, integer(None))]
    batches = [Batch(rows, [(rows, 0), (rows, 0), (2 * rows, 0)], [b"", DATA[:4 * rows], b"", b"", DATA[:8 * rows]]) for rows in (1, 0, 3)]
    with opened(arrow_file(fields, batches)) as file:
        assert file.names == ["a@0", "a@1", "a@2", "b@0", "b@1", "b@2"]
        assert [tensor.shape for tensor in file.all] == [(1,), (0,), (3,), (1, 2), (0, 2), (3, 2)]
        assert content(file["a@2"]) == DATA[:12] and content(file["b@2"]) == DATA
        with pytest.raises(Exception, match="'a' is not a single tensor: it has 3 chunks, 'a@0' to 'a@2'.*a table takes all of 'a'"):
            file["a"]
        with pytest.raises(Exception, match="no such tensor 'a@3'"):
            file["a@3"]


def test_no_batches() -> None:
    with opened(arrow_file([integer("a"), fixed_list("b", 2, integer(None)), column("c", a.UTF8)], [])) as file:
        assert file.names == ["a", "b", "c"] and list(complaints(file)) == ["c"]
        assert [tensor.shape for tensor in file.all] == [(0,), (0, 2), (0,)]


def test_no_columns() -> None:
    with opened(arrow_file([], [Batch(3, [], [])])) as file:
        assert file.names == []


def test_nulls() -> None:
    field = fixed_list("b", 2, integer(None))
    def made(outer: int, inner: int) -> bytes:
        batch = Batch(3, [(3, 0), (3, outer), (6, inner)], [b"", DATA[:12], b"\5", b"\5", DATA])
        return arrow_file([integer("a"), field], [batch])
    for outer, inner in ((1, 0), (0, 2), (3, 1)):
        source = made(outer, inner)
        with opened(source) as file:
            assert list(complaints(file)) == ["b"] and content(file["a"]) == DATA[:12]
            assert f"'b' has {outer or inner} null" in complaints(file)["b"] and file["b"].shape == (3, 2)
        at = complaint(source, "b").offset
        assert struct.unpack_from("<q", source, at)[0] == (outer or inner)
    with opened(made(0, 0)) as file:
        assert content(file["b"]) == DATA


# of each batch: compression, rows, buffer of int32 values; what the column holds, or words of the refusal
def compressed_batches(method: int) -> dict:
    part = DATA[:12]
    plain, small = (method, 3, stored(part)), (method, 3, packed(method, part))
    return {
        "one": ([small], part), "padded": ([(method, 3, packed(method, part + b"pad"))], part),
        "several": ([small, (method, 6, packed(method, DATA)), small], part + DATA + part),
        "stored among others": ([small, plain, small], part * 3), "stored first": ([plain, small], part * 2),
        "stored": ([plain, plain], part * 2), "not compressed": ([(None, 3, part), small, (None, 3, part)], part * 3),
        "no rows": ([small, (method, 0, b""), (None, 0, b""), small], part * 2), "nothing": ([(method, 0, b"")], b""),
        "two codecs": ([small, (1 - method, 3, packed(1 - method, part))], "compressed in two ways"),
        "1 GiB": ([(method, 3, struct.pack("<q", 2**30 + 1) + frame(method, part))], "more than 1 GiB"),
        "too many rows": ([(method, 2**28 + 1, struct.pack("<q", 2**31) + frame(method, part))], "more than 1 GiB"),
    }


@pytest.mark.parametrize("case", compressed_batches(0))
@pytest.mark.parametrize("method, name", CODECS)
def test_compressed_batches(case, method, name) -> None:
    made, expected = compressed_batches(method)[case]
    source = arrow_file([integer("a")], [Batch(rows, [(rows, 0)], [b"", data], compression=codec) for codec, rows, data in made])
    with opened(source) as file:
        if isinstance(expected, str):
            assert expected in "".join(complaints(file).values()) and len(file.names) == len(made)
            return
        assert decoded(file, "a") == expected and whole(file, "a").shape == (len(expected) // 4,)
        if case == "stored":  # they are not decoded
            assert not complaints(file) and source[file["a@1"].offset:].startswith(DATA[:12])


@pytest.mark.parametrize("endianness", [0, 1])
@pytest.mark.parametrize("method, name", CODECS)
def test_compressed_tensors(method, name, endianness) -> None:
    """Lists, tensors of one shape, axes stored in another order, the byte order of another machine."""
    fields = [fixed_list("b", 3, integer(None)), tensors("t", 6, '{"permutation":[1,0],"shape":[2,3]}')]
    more = packed(method, DATA)
    for first in (more, stored(DATA)):
        batches = [Batch(1, [(1, 0), (3, 0), (1, 0), (6, 0)], [b"", b"", packed(method, DATA[:12]), b"", b"", data], compression=method)
                   for data in (first, more)]
        with opened(arrow_file(fields, batches, endianness=endianness)) as file:
            assert decoded(file, "b") == DATA[:12] * 2 and whole(file, "b").shape == (2, 3)
            rows = np.frombuffer(decoded(file, "t"), "<i4").reshape(whole(file, "t").shape)
            assert whole(file, "t").swapped == (endianness == 1)
        assert rows.shape == (2, 3, 2) and (rows == NUMBERS.reshape(2, 3).T).all()


def test_nulls_of_compressed_columns() -> None:
    for nulls in (0, 2):
        batch = Batch(3, [(3, nulls)], [packed(0, b"\5"), packed(0, DATA[:12])], compression=0)
        with opened(arrow_file([integer("a")], [batch])) as file:
            if nulls:
                assert "has 2 nulls" in complaints(file)["a"]
            else:
                assert decoded(file, "a") == DATA[:12]


WRONG_FRAMES = [  # the buffer of three int32; words of the error
    (struct.pack("<q", 12) + b"packed", "is corrupt"), (struct.pack("<q", 12), "is corrupt"),
    (struct.pack("<q", 13) + frame(0, DATA[:12]), "is corrupt"), (struct.pack("<q", 12) + frame(0, DATA[:16]), "is corrupt"),
    (packed(0, DATA[:12])[:-6], "is corrupt"), (packed(0, DATA[:8]), "needs 12 bytes; its buffer has 8"),
    (struct.pack("<q", -2) + frame(0, DATA[:12]), "the length of a compressed buffer is -2"),
]


@pytest.mark.parametrize("data, words", WRONG_FRAMES, ids=lambda value: str(value)[:40])
def test_wrong_frames(data, words) -> None:
    source = arrow_file([integer("a")], [Batch(3, [(3, 0)], [b"", data], compression=0)])
    with pytest.raises(GatherError) as caught, opened(source) as file:
        decoded(file, "a")
    assert caught.value.status == "file_malformed" and words in caught.value.message, caught.value.message
    assert source[caught.value.offset:].startswith(data)


@pytest.mark.parametrize("method, name", CODECS)
def test_rows_and_ids_of_compressed_columns(method, name, tmp_path) -> None:
    ids = np.array([3, 1, 0, 1], "<i4")
    batches = [Batch(2, [(2, 0)] * 2 + [(6, 0)], [b"", packed(method, ids[at:at + 2].tobytes()), b"", b"", packed(method, NUMBERS.tobytes())],
                     compression=method) for at in (0, 2)]  # fmt: skip
    (tmp_path / "a.arrow").write_bytes(arrow_file([integer("id"), fixed_list("v", 3, integer(None))], batches))
    with opened(tmp_path / "a.arrow") as file:
        assert decoded(file, "id") == ids.tobytes()
    source = str(tmp_path / "a.arrow")
    answer("take", f"{source}:v", f"{source}:id", "-o", str(tmp_path / "o.npy"))
    assert (np.load(tmp_path / "o.npy") == np.concatenate([NUMBERS.reshape(2, 3)] * 2)[ids]).all()


def test_columns_of_one_name() -> None:
    source = arrow_file([integer("a"), integer("b"), integer("a")], [chunk(DATA[:4], DATA[4:8], DATA[8:12], rows=1)])
    with opened(source) as file:
        assert file.names == ["a", "b", "a"] and list(complaints(file)) == ["a"]
        assert "the same name as another column" in complaints(file)["a"] and content(file["b"]) == DATA[4:8]


def test_names() -> None:
    with opened(arrow_file([integer("größe"), integer(None), integer("a/b:c@0")], [chunk(*[DATA[:4]] * 3, rows=1)])) as file:
        assert file.names == ["größe", "", "a/b:c@0"]
    for bad in (b"a\xff", b"a\0b"):
        source = arrow_file([integer(bad)], [chunk(DATA[:4], rows=1)])
        failure(source).must_be("file_malformed", offset=source.index(bad) + 1)


def test_batches_in_any_order_and_of_old_writers() -> None:
    batches = [chunk(DATA[:8], rows=2), chunk(DATA[8:], rows=4)]
    with opened(arrow_file([integer("a")], batches, blocks=lambda true: true[::-1])) as file:
        assert content(file["a@0"]) + content(file["a@1"]) == DATA[8:] + DATA[:8]
    batches[0].more["old"] = True
    with opened(arrow_file([integer("a")], batches)) as file:
        assert content(file["a@0"]) + content(file["a@1"]) == DATA
