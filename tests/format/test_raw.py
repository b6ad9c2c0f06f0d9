# SPDX-License-Identifier: MIT
"""Raw bytes: types by name and by descr, offsets, packed types, and little-endian output."""
import numpy as np
import pytest
from dtypes import TYPED
from gather_files import OPAQUE, GatherError, opened_raw, type_number, write, writing

PACKED_BYTES = {"int4": 3, "uint2": 2, "uint1": 1, "float4_e2m1fn": 3, "nf4": 3, "uint3": 3, "uint6": 6,
                "float6_e2m3fn": 6}


@pytest.mark.parametrize("name", TYPED)
def test_names_are_little_endian(name, tmp_path) -> None:
    array = np.arange(6).reshape(2, 3).astype(np.dtype(name).newbyteorder("<"))
    (tmp_path / "a.bin").write_bytes(b"12345" + array.tobytes() + b"behind")
    with opened_raw(tmp_path / "a.bin", name, (2, 3), 5) as t:
        assert t.tensor.type == type_number(name) and t.type_name.decode() == name
        assert (t.offset, t.bytes, t.swapped) == (5, array.nbytes, False)
        assert (t.array(array.dtype) == array).all()


@pytest.mark.parametrize("spelling", ["BFLOAT16", "bf16", "BF16", "bfloat16"])
def test_other_spellings(spelling, tmp_path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(6))
    with opened_raw(tmp_path / "a.bin", spelling, (3,)) as t:
        assert t.type_name == b"bfloat16"


@pytest.mark.parametrize("name", PACKED_BYTES)
def test_packed_types(name, tmp_path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(20))
    with opened_raw(tmp_path / "a.bin", name, (5,)) as t:
        assert t.bytes == PACKED_BYTES[name]
    (tmp_path / "a.bin").write_bytes(bytes(PACKED_BYTES[name] - 1))
    with pytest.raises(GatherError, match="cut short"), opened_raw(tmp_path / "a.bin", name, (5,)):
        pass


@pytest.mark.parametrize("descr, item", [("|S5", 5), ("<U3", 12), (">U3", 12), ("|V12", 12), ("<M8[s]", 8), ("<f16", 16),
                                         ("[('a', '<i4'), ('b', '|S3')]", 7)])
def test_descr_without_a_name(descr, item, tmp_path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(2 * item)))
    with opened_raw(tmp_path / "a.bin", descr, (2,)) as t:
        assert (t.tensor.type, t.tensor.item_bytes, t.bytes) == (OPAQUE, item, 2 * item)
        assert t.type_name.decode() == descr
        assert t.descr.decode() == (descr if descr[0] == "[" else f"'{descr}'")
        assert t.swapped == (descr[0] == ">")


def test_descr_with_byte_order(tmp_path) -> None:
    array = np.arange(3, dtype=">f4")
    (tmp_path / "a.bin").write_bytes(array.tobytes())
    with opened_raw(tmp_path / "a.bin", ">f4", (3,)) as t:
        assert (t.tensor.type, t.swapped, t.descr) == (type_number("float32"), True, None)
        assert t.array(array.dtype).tolist() == array.tolist()


def test_scalar_and_empty(tmp_path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\7")
    with opened_raw(tmp_path / "a.bin", "int8", ()) as t:
        assert (t.shape, t.bytes) == ((), 1)
    (tmp_path / "empty").write_bytes(b"")
    with opened_raw(tmp_path / "empty", "int8", (0, 3)) as t:
        assert (t.bytes, t.tensor.data) == (0, None)


WRONG = [
    ("float32", (3,), 0, "file_malformed", "12 bytes from byte 0 on are needed, it has 11"),
    ("int8", (3,), 9, "file_malformed", "cut short"),
    ("int8", (0,), 12, "file_malformed", "cut short"),
    ("int8", (3,), 2**63 - 1, "file_malformed", "cut short"),
    ("string", (1,), 0, "unsupported", "strings cannot be raw"),
    ("|O", (1,), 0, "unsupported", "pickle"),
    ("float33", (1,), 0, "usage", "is no type"),
    ("opaque", (1,), 0, "usage", "is no type"),
    ("", (1,), 0, "usage", "is no type"),
    ("<f5", (1,), 0, "usage", "not known"),
    ("[('a', '<i4')", (1,), 0, "usage", "expected"),
    ("[('a', '<i4')] x", (1,), 0, "usage", "behind"),
    ("int8", (-1,), 0, "usage", "length -1"),
    ("int8", (1,), -1, "usage", "offset is -1"),
    ("int8", (1,) * 65, 0, "unsupported", "65"),
    ("int8", (2**62, 4), 0, "overflow", "64 bits"),
    ("int64", (2**61,), 0, "overflow", "64 bits"),
]


@pytest.mark.parametrize("name, shape, offset, status, words", WRONG)
def test_wrong_descriptions(name, shape, offset, status, words, tmp_path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(11))
    with pytest.raises(GatherError) as caught, opened_raw(tmp_path / "a.bin", name, shape, offset):
        pass
    assert caught.value.status == status
    assert words in caught.value.message


# A dtype, and the dtype that its elements have in a file of little-endian bytes.
SWAPPED = [(">i2", "<i2"), (">f8", "<f8"), (">c8", "<c8"), (">c16", "<c16"), ("<f4", "<f4"), ("|b1", "|b1")]
SWAPPED_OPAQUE = [(">U3", "<U3"), (">M8[s]", "<M8[s]"), (">m8[D]", "<m8[D]"), ("|S5", "|S5"), ("<U2", "<U2")]


@pytest.mark.parametrize("descr, little", SWAPPED)
def test_output_is_little_endian(descr, little, tmp_path) -> None:
    array = np.arange(6).reshape(2, 3).astype(descr)
    name = array.dtype.newbyteorder("=").name
    what = writing(tmp_path / "a.raw", name, (2, 3), byte_swapped=descr[0] == ">", descr=repr(descr))
    write(what, array.tobytes())
    assert (tmp_path / "a.raw").read_bytes() == array.astype(little).tobytes()


@pytest.mark.parametrize("descr, little", SWAPPED_OPAQUE)
def test_opaque_output_is_little_endian(descr, little, tmp_path) -> None:
    numbers = np.arange(1, 5)
    array = (numbers.astype("i8") if "8" in descr else numbers.astype(str)).astype(descr)
    what = writing(tmp_path / "a.bin", "opaque", (4,), item_bytes=array.itemsize, descr=repr(descr))
    write(what, array.tobytes())
    assert (tmp_path / "a.bin").read_bytes() == array.astype(little).tobytes()


@pytest.mark.parametrize("more", [{"descr": "[('a', '>i4')]"}, {"byte_swapped": True}])
def test_elements_that_cannot_be_turned_round(more, tmp_path) -> None:
    with pytest.raises(GatherError, match="big-endian in part") as caught:
        write(writing(tmp_path / "a.bin", "opaque", (3,), item_bytes=4, **more), bytes(12))
    assert caught.value.status == "unsupported"


def test_little_endian_fields_are_written_as_they_are(tmp_path) -> None:
    content = bytes(range(21))
    write(writing(tmp_path / "a.bin", "opaque", (3,), item_bytes=7, descr="[('a', '<i4'), ('b', '|S3')]"), content)
    assert (tmp_path / "a.bin").read_bytes() == content


@pytest.mark.parametrize("name", PACKED_BYTES)
def test_packed_output(name, tmp_path) -> None:
    content = bytes(range(1, PACKED_BYTES[name] + 1))
    write(writing(tmp_path / "a.bin", name, (5,), byte_swapped=True), content)
    assert (tmp_path / "a.bin").read_bytes() == content


def test_empty_output(tmp_path) -> None:
    write(writing(tmp_path / "a.bin", "int8", (0, 3)), b"")
    assert (tmp_path / "a.bin").read_bytes() == b""
