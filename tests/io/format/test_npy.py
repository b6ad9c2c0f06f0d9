# SPDX-License-Identifier: MIT
"""npy: every dtype, order and version that NumPy writes is read, bit for bit; what is malformed or random; what is written."""
import io
import os
import random
import re
import struct
import warnings

import numpy as np
import pytest
from gather_files import OPAQUE as OPAQUE_TYPE
from gather_files import GatherError, opened, opened_bytes, type_number, write, writing
from support.dtypes import ALL, OPAQUE, SHAPES, STRUCTURED, TYPED, bytes_of, identify, random_array
from support.refusal import refuses


def saved(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(buffer, array, version=version, allow_pickle=False)
    return buffer.getvalue()


def with_header(header: str, data: bytes = bytes(range(256)), version: int = 1) -> bytes:
    encoded = header.encode("utf8" if version == 3 else "latin1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(encoded)) + encoded + data


def assert_same(content: bytes, array: np.ndarray) -> None:
    with opened_bytes(content) as t:
        assert t.shape == array.shape
        assert t.bytes == array.nbytes
        assert t.offset + t.bytes == len(content)
        assert bytes_of(t.array(array.dtype)) == bytes_of(array)


@pytest.mark.parametrize("dtype", ALL, ids=identify)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dtype_and_shape(dtype, order) -> None:
    for shape in SHAPES:
        array = random_array(dtype, shape, order)
        assert_same(saved(array), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)], ids=str)
def test_every_version(version) -> None:
    array = np.arange(12, dtype="<i4").reshape(3, 4)
    assert_same(saved(array, version), array)


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("order", "<>")
def test_types_with_a_name(name, order) -> None:
    dtype = np.dtype(name).newbyteorder(order)
    with opened_bytes(saved(np.ones(3, dtype))) as t:
        assert t.tensor.type == type_number(name)
        assert t.type_name.decode() == name
        assert t.descr.decode() == repr(dtype.str)
        assert t.swapped == (not dtype.isnative)


@pytest.mark.parametrize("name", OPAQUE)
def test_opaque_types(name) -> None:
    dtype = np.dtype(name)
    with opened_bytes(saved(random_array(dtype, (3,)))) as t:
        assert t.tensor.type == OPAQUE_TYPE
        assert t.tensor.item_bytes == dtype.itemsize
        assert t.type_name.decode() == dtype.str
        assert t.descr.decode() == repr(dtype.str)


def test_structured_descr_is_kept_literally() -> None:
    dtype = np.dtype([("größe", "<f4"), ("b", ">f8", (2, 3))])
    with opened_bytes(saved(np.zeros(2, dtype))) as t:
        assert t.descr.decode() == t.type_name.decode() == repr(dtype.descr)
        assert t.tensor.item_bytes == 52


def test_order_of_elements_of_columns() -> None:
    array = np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4))
    with opened_bytes(saved(array)) as t:
        assert t.strides == (2, 4, 12)
        assert (t.array(array.dtype) == array).all()


GOOD_HEADERS = [
    "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }",
    '{"shape":(3,),"fortran_order":False,"descr":"<i4"}',
    "{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (3L, 1L), }",
    "{'descr': u'<i4', u'fortran_order': False, 'shape': (0x3, 1_0), }          \n",
    " { 'descr' :'<i4' ,\n 'fortran_order' : False , # a comment }\n 'shape' : ( 3 ,\t) , }\n\n",
    "{'descr': 'i4', 'fortran_order': False, 'shape': (+3,)}",
    "{'descr': '=i4', 'fortran_order': True, 'shape': (3, 2)}",
    "{'descr': 'int32', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '>h', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '|i4', 'fortran_order': False, 'shape': ()}",
    "{'descr': [('a', '<i4', 2), ('b', ('<i2', (2,)),), ], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('a', '<i4', (2L,)), (('t', 'b'), '<i2')], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('', '|V3'), ('b', '|u1')], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('\\x41\\u00b5\\U0001F600\\'\\\\', '<i4')], 'fortran_order': False, 'shape': (00, 0)}",
    "{'descr': '<i2', 'shape': (9,), 'descr': '<i4', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '<m8[generic]', 'fortran_order': False, 'shape': (3,)}",
]


@pytest.mark.parametrize("header", GOOD_HEADERS)
@pytest.mark.filterwarnings("ignore")
def test_spellings_that_numpy_accepts(header) -> None:
    content = with_header(header)
    array = np.load(io.BytesIO(content))
    with opened_bytes(content) as t:
        assert t.shape == array.shape
        assert t.tensor.item_bytes == array.dtype.itemsize
        assert t.array(array.dtype).tobytes() == array.tobytes()


@pytest.mark.filterwarnings("ignore")
def test_python_2_descr_is_kept_without_its_long_numbers() -> None:
    with opened_bytes(with_header("{'descr': [('aL', '<i4', (2L, 3L))], 'fortran_order': False, 'shape': (1,)}")) as t:
        assert t.descr == b"[('aL', '<i4', (2, 3))]"


def test_header_text_becomes_utf8() -> None:
    header = "{'descr': [('\u00b5', '<i4')], 'fortran_order': False, 'shape': (1,)}"
    for version in (1, 2, 3):
        with opened_bytes(with_header(header, version=version)) as t:
            assert t.descr.decode() == "[('\u00b5', '<i4')]"


def test_long_double_of_other_machines() -> None:
    for descr, item in (("<f12", 12), ("<c24", 24), (">f16", 16), ("<c32", 32)):
        content = with_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,)}}")
        with opened_bytes(content) as t:
            assert (t.tensor.type, t.tensor.item_bytes, t.bytes) == (OPAQUE_TYPE, item, 2 * item)


def test_a_file_on_disk_with_bytes_behind_the_array(tmp_path) -> None:
    array = np.arange(6, dtype="<f8")
    (tmp_path / "a.npy").write_bytes(saved(array) + b"behind")
    with opened(tmp_path / "a.npy") as t:
        assert t.array(array.dtype).tolist() == array.tolist()


@pytest.mark.parametrize("descr", [">b1", ">u1", ">i1", ">S3", ">V4", "=i4", "|f8"])
def test_byte_order_where_there_is_none(descr) -> None:
    with opened_bytes(with_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,)}}")) as t:
        assert not t.swapped


def test_pickled_objects_are_refused() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}, 1], dtype=object), allow_pickle=True)
    nested = with_header("{'descr': [('a', [('b', '|O')])], 'fortran_order': False, 'shape': (3,)}")
    for content in (buffer.getvalue(), nested):
        with pytest.raises(GatherError, match="pickle") as caught, opened_bytes(content):
            pass
        assert caught.value.status == "unsupported"


# ---- Files that lie: cut at every byte, every length changed, every kind of wrong header. Each is an error that says where.


def failure(content: bytes) -> GatherError:
    with pytest.raises(GatherError) as caught, opened_bytes(content, "the file"):
        pass
    assert caught.value.file == "the file"
    return caught.value


def test_cut_at_every_byte() -> None:
    content = saved(np.arange(10, dtype="<i4"))
    for end in range(len(content)):
        error = failure(content[:end])
        assert error.status == "file_malformed", end
        assert error.offset == end
        if end > 0:
            assert f"{end} bytes in all" in error.message or f"the file has {end}" in error.message


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_length_of_the_header(version) -> None:
    text = "{'descr': '<i4', 'fortran_order': False, 'shape': (10,), }"
    good = with_header(text, bytes(40), version)
    largest = len(good) - (10 if version == 1 else 12)
    for length in list(range(largest + 10)) + [65535]:
        field = struct.pack("<H" if version == 1 else "<I", length)
        content = good[:8] + field + good[8 + len(field):]
        if length == len(text):
            with opened_bytes(content) as t:
                assert t.shape == (10,)
        else:
            assert failure(content).status == "file_malformed", length


# A header, and the part of it that is wrong.
WRONG = [
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "-1"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "9223372036854775808"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "(9223372036854775807"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "(4294967296"),
    ("{'descr': '|V0', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "(4294967296"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3)}", ")}"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': [3]}", "[3]"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3.0,)}", ".0"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3 4)}", "4)"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (,)}", ",)"),
    ("{'descr': '<i4', 'fortran_order': 0, 'shape': (3,)}", "0,"),
    ("{'descr': '<i4', 'fortran_order': Falsey, 'shape': (3,)}", "Falsey"),
    ("{'descr': '<i4' 'fortran_order': False, 'shape': (3,)}", "'fortran_order'"),
    ("{'descr': '<i4', 'fortran_order': False}", "}"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'more': 1}", "'more'"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} x", "x"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}\0", "\0"),
    ("{'descr': ('<i4', (2,)), 'fortran_order': False, 'shape': (3,)}", "('<i4'"),
    ("{'descr': 4, 'fortran_order': False, 'shape': (3,)}", "4,"),
    ("{'descr': [('a')], 'fortran_order': False, 'shape': (3,)}", ")],"),
    ("{'descr': [('a', '<i4', -1)], 'fortran_order': False, 'shape': (3,)}", "-1"),
    ("{'descr': [('a', '<i4', (-1,))], 'fortran_order': False, 'shape': (3,)}", "-1"),
    ("{'descr': [('a', '<i4', (9223372036854775807,))], 'fortran_order': False, 'shape': (3,)}", "(9223372036854775807"),
    ("{'descr': [('a', 'V9223372036854775807'), ('b', '<i4')], 'fortran_order': False, 'shape': ()}", "('b'"),
    ("{'descr': [('a\n', '<i4')], 'fortran_order': False, 'shape': (3,)}", "\n"),
    ("['descr']", "["),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (03,)}", "03"),
    ("{'descr': '<i4', 'fortran_order': False, 'shape': (-03,)}", "-03"),
    ("{'descr': '<i4', # \0\n 'fortran_order': False, 'shape': (3,)}", "\0"),
    ("{'descr': [('\\x4', '<i4')], 'fortran_order': False, 'shape': (3,)}", "\\x4"),
    ("{'descr': [('\\U00110000', '<i4')], 'fortran_order': False, 'shape': (3,)}", "\\U"),
    ("{'descr': [('\\", "\\"),
]


@pytest.mark.parametrize("header, part", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_wrong_headers_say_where(header, part) -> None:
    with pytest.raises(Exception):  # of several kinds
        np.load(io.BytesIO(with_header(header)), allow_pickle=False)
    at = 10 + header.index(part)
    failure(with_header(header)).must_be("file_malformed", f"(at byte {at})", at)


UNKNOWN = ["<i3", "<f5", "<b2", "", "<", "x", "<i4x", "<M8[", "<M8[q]", "|T16", "<U9223372036854775807", "<i99999999999999999999",
           "i4,f4", "<float32"]
GOOD = saved(np.arange(10, dtype="<i4"))
MICRO = with_header("{'descr': [('\u00b5', '<i4')], 'fortran_order': False, 'shape': (1,)}", version=3)


def of_type(descr: str) -> bytes:
    return with_header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}")


REFUSED = [  # a file, its status, words of the message, and the byte
    (b"", "file_malformed", "", 0),
    (GOOD[:-1], "file_malformed", "40 bytes are needed at byte 128, it has 167 bytes", 167),
    (b"\x93NUMPY\2\0" + b"\xff\xff\xff\xff" + b"{" * 100, "file_malformed", "4294967307", None),
    (MICRO.replace(b"\xc2\xb5", b"\xb5\xb5"), "file_malformed", "", MICRO.index(b"\xc2")),
    *((GOOD[:6] + version + GOOD[8:], "unsupported", "", None) for version in (b"\0\0", b"\4\0", b"\1\1")),
    *((of_type(f"'{descr}'"), "unsupported", "", 20) for descr in UNKNOWN),
    (of_type("[('a', " * 5000 + "'<i4'" + ")]" * 5000), "unsupported", "", None),
    (of_type("[('a', '<V', 2)]"), "unsupported", "", 10 + 23), (of_type("[('\\N{BULLET}', '<i4')]"), "unsupported", "", 10 + 13),
    *((content, "unsupported", words, None) for content, words in (
        (b"\x80\x04\x95\0\0\0\0", "pickle"), (b"PAR1\x15\4", "Parquet"),
        (b"<?xml version", "OpenVINO"), (b"FEA1" + bytes(8), "Feather"), (b"\x1f\x8b\x08\0", "gzip"), (b"1 2 3\n", "type and a shape"))),
]


@pytest.mark.parametrize("content, status, words, offset", REFUSED, ids=lambda value: str(value)[:40])
def test_refused(content, status, words, offset) -> None:
    failure(content).must_be(status, words, offset)


def test_ranks() -> None:
    header = "{{'descr': '|u1', 'fortran_order': False, 'shape': ({})}}"
    with opened_bytes(with_header(header.format("1, " * 64))) as t:
        assert t.shape == (1,) * 64
    assert failure(with_header(header.format("1, " * 65))).status == "unsupported"


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bytes_never_read_beyond_the_file(seed) -> None:
    content = bytearray(saved(np.arange(10, dtype="<i4")))
    rng = np.random.default_rng(seed)
    for _ in range(300):
        changed = bytearray(content)
        for at in rng.integers(0, 128, 3):
            changed[at] = rng.integers(0, 256)
        try:
            with opened_bytes(bytes(changed)) as t:
                assert 0 <= t.offset and t.offset + t.bytes <= len(changed)
        except GatherError as error:
            assert error.status in ("file_malformed", "unsupported")
            assert re.search("the file|memory", error.message)


# ---- Headers changed at random: what NumPy reads is read, with the same shape and size, and what it refuses is refused.

HEADERS = GOOD_HEADERS + [header for header, _ in WRONG]
PIECES = list("{}[]()'\",:#\\ \n0123456789LxabdefiOSUVMm<>|=-+_.") + ["True", "False", "'a'", "'<i4'", "('b', '<i2')", "(2,)", "[s]"]
# NumPy refuses lengths beyond memory where there are no elements, the long double of other machines, and fields of one name;
# nothing speaks against moving their bytes.
ONLY_NUMPY_REFUSES = ("too big", "maximum supported dimension", "valid dtype descriptor: '", "more than once", "already used")


def change(header: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 1, 2])):
        at = chance.randrange(len(header) + 1)
        kept = at + chance.choice([0, 0, 1, 1, 2])
        header = header[:at] + chance.choice(PIECES + [""]) + header[kept:]
    return header


def by_numpy(content: bytes) -> tuple | str:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
        return array.shape, array.dtype.itemsize
    except Exception as error:  # noqa: BLE001 - NumPy raises many kinds
        return str(error)


def by_gather(content: bytes) -> tuple | str:
    try:
        with opened_bytes(content) as t:
            return t.shape, t.tensor.item_bytes
    except GatherError as error:
        return error.message


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(10))
def test_what_is_read_is_what_numpy_reads(seed) -> None:
    chance = random.Random(seed)
    both = 0
    for _ in range(1500):
        header = change(chance.choice(HEADERS), chance)
        content = with_header(header, bytes(4096))
        answer = by_gather(content)
        if isinstance(answer, tuple):
            numpy_says = by_numpy(content)
            if isinstance(numpy_says, tuple):
                assert numpy_says == answer, header
                both += 1
            else:
                assert any(words in numpy_says for words in ONLY_NUMPY_REFUSES), (header, numpy_says)
    assert both >= 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("header", [header for header in GOOD_HEADERS if "#" not in header])
def test_blanks_anywhere(header) -> None:
    chance = random.Random(header)
    tokens = re.findall(r"""u?'(?:[^'\\]|\\.)*'|"[^"]*"|[A-Za-z]+|[+-]?[0-9][0-9_xL]*|[^ \n\t]""", header)
    for _ in range(20):
        spread = "{" + "".join(chance.choice(["", " ", "\n", "\t ", " # } '\n"]) + token for token in tokens[1:])
        content = with_header(spread, bytes(4096))
        assert by_gather(content) == by_numpy(content), spread


# ---- What is written as .npy is what numpy.save writes, and NumPy loads it.


def describe(array: np.ndarray, keep_descr: bool = True) -> dict:
    """The arguments of `writing` for an array."""
    named = array.dtype.newbyteorder("=").name
    is_typed = named in TYPED and not array.dtype.names
    descr = repr(np.lib.format.dtype_to_descr(array.dtype))
    return {"type_name": named if is_typed else "opaque", "shape": array.shape, "item_bytes": array.itemsize,
            "byte_swapped": is_typed and not array.dtype.isnative, "descr": descr if keep_descr else None}


def load(path) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.load(path, allow_pickle=False, max_header_size=1 << 20)


@pytest.mark.parametrize("dtype", ALL, ids=identify)
def test_same_bytes_as_numpy(dtype, tmp_path) -> None:
    for i, shape in enumerate(SHAPES):
        array = random_array(dtype, shape)
        path = tmp_path / f"{i}.npy"
        write(writing(path, **describe(array)), bytes_of(array))
        assert path.read_bytes() == saved(array)
        loaded = load(path)
        assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
        assert bytes_of(loaded) == bytes_of(array)


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("order", "<>")
def test_own_descr(name, order, tmp_path) -> None:
    array = random_array(np.dtype(name).newbyteorder(order), (3, 2))
    write(writing(tmp_path / "a.npy", **describe(array, keep_descr=False)), array.tobytes())
    assert (tmp_path / "a.npy").read_bytes() == saved(array)


def test_opaque_without_descr_is_void(tmp_path) -> None:
    write(writing(tmp_path / "a.npy", "opaque", (2,), item_bytes=7), bytes(range(14)))
    assert load(tmp_path / "a.npy").dtype == np.dtype("V7")


@pytest.mark.parametrize("dtype", STRUCTURED + [np.dtype(name) for name in OPAQUE], ids=identify)
def test_from_file_to_file(dtype, tmp_path) -> None:
    """What one file has is enough to write the next, in C order."""
    array = random_array(dtype, (3, 4), "F")
    (tmp_path / "in.npy").write_bytes(saved(array))
    with opened(tmp_path / "in.npy") as t:
        content = bytes_of(t.array(dtype))
        what = writing(tmp_path / "out.npy", "opaque", t.shape, item_bytes=t.tensor.item_bytes, descr=t.descr, byte_swapped=t.swapped)
        write(what, content)
    loaded = load(tmp_path / "out.npy")
    assert loaded.dtype == dtype and bytes_of(loaded) == bytes_of(array)


@pytest.mark.parametrize("fields", [1200, 1250, 1300, 1500])
def test_header_around_64_kib(fields, tmp_path) -> None:
    """Version 1.0 as long as it fits, 2.0 then: where exactly is for NumPy to say."""
    dtype = np.dtype([("f" * 36 + f"{i:04}", "<i4") for i in range(fields)])
    array = random_array(dtype, (2,))
    write(writing(tmp_path / "a.npy", **describe(array)), array.tobytes())
    assert (tmp_path / "a.npy").read_bytes() == saved(array)


def test_header_at_the_exact_border(tmp_path) -> None:
    for extra in range(0, 200):
        dtype = np.dtype([("f" * (65350 + extra), "<i4")])
        array = random_array(dtype, (2,))
        write(writing(tmp_path / "a.npy", replace=True, **describe(array)), array.tobytes())
        assert (tmp_path / "a.npy").read_bytes() == saved(array), extra


@pytest.mark.parametrize("descr", ["'<i8'", "'>f4'", "'<f4", "'<f4' x", "4", "", "[('a', '<f4')]"])
def test_descr_that_does_not_fit_the_type(descr, tmp_path) -> None:
    refuses(GatherError, write, writing(tmp_path / "a.npy", "float32", (3,), descr=descr), bytes(12)).must_be("usage")
    assert os.listdir(tmp_path) == []


def test_descr_of_another_size(tmp_path) -> None:
    refuses(GatherError, write, writing(tmp_path / "a.npy", "opaque", (3,), item_bytes=4, descr="'|S5'"), bytes(12)).must_be("usage")


@pytest.mark.parametrize("name", ["bfloat16", "int4", "float8_e4m3fn", "uint1", "string"])
def test_types_that_npy_cannot_carry(name, tmp_path) -> None:
    with pytest.raises(GatherError, match="npy cannot carry") as caught:
        write(writing(tmp_path / "a.npy", name, (3,)), b"")
    assert caught.value.status == "unsupported"
    assert ("raw" in caught.value.message) == (name != "string")
    assert ("pb" in caught.value.message) == (name != "uint1")


@pytest.mark.filterwarnings("ignore")
def test_python_2_file_is_written_for_python_3(tmp_path) -> None:
    header = "{'descr': [('a', '<i4', (2L,))], 'fortran_order': False, 'shape': (1L,), }"
    (tmp_path / "in.npy").write_bytes(with_header(header))
    with opened(tmp_path / "in.npy") as t:
        write(writing(tmp_path / "out.npy", "opaque", t.shape, item_bytes=8, descr=t.descr), bytes(8))
    assert load(tmp_path / "out.npy").dtype == np.load(io.BytesIO(with_header(header))).dtype
