# SPDX-License-Identifier: MIT
"""Raw bytes: types by name and by descr, offsets, packed types, and little-endian output."""
import io
import zlib

import numpy as np
import pytest
from support.dtypes import TYPED
from gather_files import OPAQUE, GatherError, opened_raw, type_number, write, writing

PACKED_BYTES = {"int4": 3, "uint2": 2, "uint1": 1, "float4_e2m1fn": 3, "nf4": 3, "uint3": 3, "uint6": 6, "float6_e2m3fn": 6}


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
    with pytest.raises(GatherError, match="truncated"), opened_raw(tmp_path / "a.bin", name, (5,)):
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
    ("float32", (3,), 0, "file_malformed", "12 bytes are needed at byte 0, it has 11"),
    ("int8", (3,), 9, "file_malformed", "truncated"),
    ("int8", (0,), 12, "file_malformed", "truncated"),
    ("int8", (3,), 2**63 - 1, "file_malformed", "truncated"),
    ("string", (1,), 0, "unsupported", "strings cannot be raw"),
    ("|O", (1,), 0, "unsupported", "pickle"),
    ("float33", (1,), 0, "usage", "unknown type"),
    ("opaque", (1,), 0, "usage", "unknown type"),
    ("", (1,), 0, "usage", "unknown type"),
    ("<f5", (1,), 0, "usage", "unknown type"),
    ("[('a', '<i4')", (1,), 0, "usage", "expected"),
    ("[('a', '<i4')] x", (1,), 0, "usage", "after the list"),
    ("int8", (-1,), 0, "usage", "length -1"),
    ("int8", (1,), -1, "usage", "offset -1"),
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
    with pytest.raises(GatherError, match="some of these elements are big-endian") as caught:
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


# ---- files that are not raw bytes


def npy_bytes() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(12, dtype=np.float32))
    return file.getvalue()


SAFETENSORS = b'{"w":{"dtype":"U8","shape":[32],"data_offsets":[0,32]}}'
OTHERS = {
    "npy": npy_bytes(),
    "npz": b"PK\x03\x04" + bytes(60),
    "arrow": b"ARROW1\0\0" + bytes(60) + b"ARROW1",
    "gguf": b"GGUF" + bytes(60),
    "safetensors": len(SAFETENSORS).to_bytes(8, "little") + SAFETENSORS + bytes(32),
    "ir": b'<?xml version="1.0"?><net name="m" version="11"></net>' + bytes(30),
    "pb": b"\x08\x20\x10\x02" + b"\x4a\x20" + bytes(32),
    "Parquet": b"PAR1" + bytes(60),
    "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(60),
    "zstd": b"\x28\xb5\x2f\xfd" + bytes(60),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_recognised_file_is_not_raw_bytes(name, tmp_path) -> None:
    """Its header would be data. That must be asked for."""
    path = tmp_path / "a.bin"
    path.write_bytes(OTHERS[name])
    for offset in (0, 8):
        with pytest.raises(GatherError, match=name) as caught, opened_raw(path, "uint8", (16,), offset):
            pass
        assert (caught.value.status, caught.value.file) == ("usage", str(path)) and "not raw bytes" in caught.value.message
    with opened_raw(path, "uint8", (16,), 8, as_is=True) as t:
        assert (t.array(np.dtype("u1")) == np.frombuffer(OTHERS[name], "u1")[8:24]).all()


BY_CHANCE = [
    b"\x93", b"\x93NU", b"\x80\x04", b"\x1f\x8b\x08", b"BZh9", b"\x08\x07\x12", b"\x08\x08\x3a", b"\x08\x01\x10\x01\x4a", b"\x0a\x02\x10\x01",
    b"<", b"{", b"PK", zlib.compress(b"x"),
]


@pytest.mark.parametrize("start", BY_CHANCE)
@pytest.mark.parametrize("rest", [b"", bytes(range(255, 200, -1)), b"\xff" * 55])
def test_a_few_bytes_by_chance(start, rest, tmp_path) -> None:
    (tmp_path / "a.bin").write_bytes(start + rest)
    with opened_raw(tmp_path / "a.bin", "uint8", (len(start + rest),)) as t:
        assert t.bytes == len(start + rest)


def test_numbers_are_not_taken_for_another_format(tmp_path) -> None:
    """Small integers and random ones, of every type."""
    random = np.random.default_rng(8)
    for dtype in ("|u1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8"):
        for most in (4, 30, 200):
            for _ in range(40):
                array = random.integers(0, most, 64).astype(dtype)
                (tmp_path / "a.bin").write_bytes(array.tobytes())
                with opened_raw(tmp_path / "a.bin", dtype, (64,)) as t:
                    assert (t.array(array.dtype) == array).all()
