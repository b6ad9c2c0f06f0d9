# SPDX-License-Identifier: MIT
"""Arrow files made by hand: every kind of column and batch. test_arrow_pyarrow.py has those that pyarrow writes."""
from __future__ import annotations

import struct

import numpy as np
import pytest
from gather_files import OPAQUE, content, type_number
from many import array, complaint, complaints, failure
from support import arrow_files as a
from support.arrow_files import Batch, arrow_file, chunk, column, fixed_list, integer, tensors
from tensor_files import opened

NUMBERS = np.arange(1, 7, dtype="<i4")
DATA = NUMBERS.tobytes()


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


TYPES = [
    *((integer("a", bits, signed), f"{'u' * (1 - signed)}int{bits}") for bits in (8, 16, 32, 64) for signed in (0, 1)),
    *((column("a", a.FLOAT, {0: (2, i)}), name) for i, name in enumerate(("float16", "float32", "float64"))),
    (column("a", a.DATE, {0: (2, 0)}), "int32"), (column("a", a.DATE, {0: (2, 1)}), "int64"),
    (column("a", a.DATE), "int64"),
    *((column("a", a.TIME, {0: (2, unit), 1: (4, 32)}), "int32") for unit in (0, 1)),
    *((column("a", a.TIME, {0: (2, unit), 1: (4, 64)}), "int64") for unit in (2, 3)),
    (column("a", a.TIME), "int32"), (column("a", a.TIMESTAMP, {0: (2, 3), 1: "UTC"}), "int64"),
    (column("a", a.DURATION), "int64"),
    (column("a", a.INTERVAL, {0: (2, 0)}), "int32"), (column("a", a.INTERVAL, {0: (2, 1)}), "|V8"),
    (column("a", a.INTERVAL, {0: (2, 2)}), "|V16"), (column("a", a.DECIMAL, {0: (4, 5), 1: (4, 2)}), "|V16"),
    *((column("a", a.DECIMAL, {2: (4, bits)}), f"|V{bits // 8}") for bits in (32, 64, 128, 256)),
    *((column("a", a.FIXED_BINARY, {0: (4, size)}), f"|V{size}") for size in (0, 1, 5, 16)),
]


@pytest.mark.parametrize("field, name", TYPES, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("endianness", [0, 1])
def test_types(field, name, endianness) -> None:
    item = int(name[2:]) if name[0] == "|" else np.dtype(name).itemsize
    data = bytes(range(3 * item))
    with opened(one(field, data, endianness=endianness)) as file:
        tensor = file["a"]
        assert (tensor.shape, tensor.bytes, content(tensor), tensor.type_name.decode()) == ((3,), 3 * item, data, name)
        assert tensor.swapped == (endianness == 1 and item > 1 and name[0] != "|")
        if name[0] == "|":
            assert (tensor.tensor.type, tensor.tensor.item_bytes, tensor.descr.decode()) == (OPAQUE, item, repr(name))
        else:
            assert (tensor.tensor.type, tensor.descr) == (type_number(name), None)


UNREADABLE = [
    (column("b", a.NULL), 0, "null"), (column("b", a.BINARY), 3, "binary"), (column("b", a.UTF8), 3, "utf8"),
    (column("b", a.BOOL), 2, "bool"), (column("b", 19), 3, "large_binary"), (column("b", 20), 3, "large_utf8"),
    (column("b", a.UTF8, dictionary=True), 2, "dictionary"),
    (column("b", a.STRUCT, None, [integer("x"), integer("y")], dictionary=True), 2, "dictionary"),
    (column("b", a.LIST, None, [integer("x")]), 4, "list"), (column("b", 21, None, [integer("x")]), 4, "large_list"),
    (column("b", a.MAP, {}, [column("e", a.STRUCT, None, [integer("k"), column("v", a.UTF8)])]), 2 + 1 + 2 + 3, "map"),
    (column("b", a.STRUCT, None, [integer("x"), column("s", a.UTF8)]), 1 + 2 + 3, "struct"),
    (column("b", a.STRUCT), 1, "struct"),
    (column("b", a.UNION, {0: (2, 0)}, [integer("x"), integer("y")]), 1 + 4, "union"),
    (column("b", a.UNION, {0: (2, 1)}, [integer("x"), integer("y")]), 2 + 4, "union"),
    (column("b", a.RUN_END, None, [integer("r"), integer("v")]), 4, "run_end_encoded"),
    (column("b", a.LIST_VIEW, None, [integer("x")]), 5, "list_view"),
    (column("b", 26, None, [integer("x")]), 5, "large_list_view"),
    (fixed_list("b", 2, column(None, a.UTF8)), 1 + 3, "fixed_size_list"),
    (fixed_list("b", 2, column(None, a.BOOL)), 1 + 2, "fixed_size_list"),
    (fixed_list("b", 2, column(None, a.UTF8, dictionary=True)), 1 + 2, "fixed_size_list"),
]


def nodes(field: dict) -> int:
    return 1 if 4 in field else 1 + sum(map(nodes, field[5]))


@pytest.mark.parametrize("field, buffers, name", UNREADABLE, ids=lambda value: value if isinstance(value, str) else "")
def test_columns_that_are_no_tensors_are_named_and_stepped_over(field, buffers, name) -> None:
    batch = Batch(3, [(3, 0)] * (2 + nodes(field)), [b"", DATA[:12]] + [b"\xee" * 8] * buffers + [b"", DATA[12:]])
    source = arrow_file([integer("a"), field, integer("c")], [batch])
    with opened(source) as file:
        assert file.names == ["a", "b", "c"] and list(complaints(file)) == ["b"]
        assert (file["b"].shape, file["b"].type_name.decode(), file["b"].bytes) == ((3,), name, 0)
        assert content(file["a"]) + content(file["c"]) == DATA
    assert complaint(source, "b").status == "unsupported" and "column 'b'" in complaint(source, "b").message


def test_columns_of_views_have_as_many_buffers_as_the_batch_says() -> None:
    fields = [integer("a"), column("u", a.UTF8_VIEW), integer("b"), column("v", a.BINARY_VIEW), integer("c")]
    def batch(start: int, views: list[int]) -> Batch:
        numbers = [DATA[start + i:start + i + 4] for i in (0, 4, 8)]
        more = [[b"", bytes(16)] + [b"\xee" * 8] * count for count in views]
        return Batch(1, [(1, 0)] * 5, [b"", numbers[0], *more[0], b"", numbers[1], *more[1], b"", numbers[2]],
                     views=views)
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
    with opened(arrow_file([fixed_list("v", 2, integer(None))],
                           [Batch(2, [(2, 0), (6, 0)], [b"", b"", DATA])])) as file:
        assert content(file["v"]) == DATA[:16]


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
    batches = [Batch(rows, [(rows, 0), (rows, 0), (2 * rows, 0)],
                     [b"", DATA[:4 * rows], b"", b"", DATA[:8 * rows]]) for rows in (1, 0, 3)]
    with opened(arrow_file(fields, batches)) as file:
        assert file.names == ["a@0", "a@1", "a@2", "b@0", "b@1", "b@2"]
        assert [tensor.shape for tensor in file.all] == [(1,), (0,), (3,), (1, 2), (0, 2), (3, 2)]
        assert content(file["a@2"]) == DATA[:12] and content(file["b@2"]) == DATA
        with pytest.raises(Exception,
                           match="'a' is not a single tensor: it has 3 chunks, 'a@0' to 'a@2'.*a table takes all of 'a'"):
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


def test_compressed_batches() -> None:
    for number, name in ((0, "lz4"), (1, "zstd")):
        buffers = [b"", struct.pack("<q", 12) + b"packed"]
        source = arrow_file([integer("a")], [Batch(3, [(3, 0)], buffers, compression=number)])
        assert name in complaint(source, "a").message and "compression='uncompressed'" in complaint(source, "a").message
        buffers[1] = struct.pack("<q", -1) + DATA[:12]
        left = arrow_file([integer("a")], [Batch(3, [(3, 0)], buffers, compression=number)])
        with opened(left) as file:  # a buffer that did not become smaller
            assert content(file["a"]) == DATA[:12] and left[file["a"].offset:].startswith(DATA[:12])
        empty = arrow_file([integer("a")], [Batch(0, [(0, 0)], [b"", b""], compression=number)])
        with opened(empty) as file:
            assert file["a"].shape == (0,) and not complaints(file)


def test_columns_of_one_name() -> None:
    source = arrow_file([integer("a"), integer("b"), integer("a")], [chunk(DATA[:4], DATA[4:8], DATA[8:12], rows=1)])
    with opened(source) as file:
        assert file.names == ["a", "b", "a"] and list(complaints(file)) == ["a"]
        assert "the same name as another column" in complaints(file)["a"] and content(file["b"]) == DATA[4:8]


def test_names() -> None:
    with opened(arrow_file([integer("größe"), integer(None), integer("a/b:c@0")],
                           [chunk(*[DATA[:4]] * 3, rows=1)])) as file:
        assert file.names == ["größe", "", "a/b:c@0"]
    for bad in (b"a\xff", b"a\0b"):
        source = arrow_file([integer(bad)], [chunk(DATA[:4], rows=1)])
        error = failure(source)
        assert (error.status, error.offset) == ("file_malformed", source.index(bad) + 1)


def test_batches_in_any_order_and_of_old_writers() -> None:
    batches = [chunk(DATA[:8], rows=2), chunk(DATA[8:], rows=4)]
    with opened(arrow_file([integer("a")], batches, blocks=lambda true: true[::-1])) as file:
        assert content(file["a@0"]) + content(file["a@1"]) == DATA[8:] + DATA[:8]
    batches[0].more["old"] = True
    with opened(arrow_file([integer("a")], batches)) as file:
        assert content(file["a@0"]) + content(file["a@1"]) == DATA
