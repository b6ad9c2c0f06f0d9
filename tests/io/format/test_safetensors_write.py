# SPDX-License-Identifier: MIT
"""safetensors files that are written: their own library reads them, and for one tensor writes the same bytes."""
import ctypes as c
import json
import os
import struct

import ml_dtypes  # noqa: F401  (dtypes by name)
import numpy as np
import pytest
import safetensors as theirs
import safetensors.numpy as written
from gather_files import LIB, P, Error, GatherError, Target, Writing, check, content, create_writer, fails_to_check, write, writing
from tensor_files import formats, opened

# The dtypes of safetensors 0.8, and the bits of an element.
DTYPES = {
    "bool": ("BOOL", 8), "float4_e2m1fn": ("F4", 4), "float6_e2m3fn": ("F6_E2M3", 6), "float6_e3m2fn": ("F6_E3M2", 6),
    "uint8": ("U8", 8), "int8": ("I8", 8), "float8_e5m2": ("F8_E5M2", 8), "float8_e4m3fn": ("F8_E4M3", 8),
    "float8_e8m0fnu": ("F8_E8M0", 8), "float8_e4m3fnuz": ("F8_E4M3FNUZ", 8), "float8_e5m2fnuz": ("F8_E5M2FNUZ", 8),
    "int16": ("I16", 16), "uint16": ("U16", 16), "float16": ("F16", 16), "bfloat16": ("BF16", 16), "int32": ("I32", 32),
    "uint32": ("U32", 32), "float32": ("F32", 32), "complex64": ("C64", 64), "float64": ("F64", 64), "int64": ("I64", 64),
    "uint64": ("U64", 64),
}
OTHERS = ["complex128", "string", "int4", "uint4", "int2", "uint2", "uint1", "uint3", "uint6", "nf4"]


def header_of(path) -> bytes:
    source = path.read_bytes()
    return source[8:8 + struct.unpack("<Q", source[:8])[0]]


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_is_read_by_their_library(name: str, tmp_path) -> None:
    dtype, bits = DTYPES[name]
    data = bytes(i % 2 if name == "bool" else i for i in range(8 * bits // 8))
    write(writing(tmp_path / "a.safetensors", name, (2, 4), name="t"), data)
    assert dict(theirs.deserialize((tmp_path / "a.safetensors").read_bytes())) == {"t": {"dtype": dtype, "shape": [2, 4], "data": data}}
    assert len(header_of(tmp_path / "a.safetensors")) % 8 == 0
    if "safetensors" in formats():
        with opened(tmp_path / "a.safetensors") as file:
            assert file["t"].type_name.decode() == name and file["t"].shape == (2, 4) and content(file["t"]) == data


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (1,) * 64])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_the_same_bytes_as_theirs(dtype: str, shape, tmp_path) -> None:
    array = np.ones(shape, np.dtype(dtype))
    for name in ("data", "a \"quoted\"\\\b\f\n\r\t\x01\x1f\u00fc\U0001f600"):
        write(writing(tmp_path / f"{len(name)}.safetensors", dtype, shape, name=name), array.tobytes())
        assert (tmp_path / f"{len(name)}.safetensors").read_bytes() == written.save({name: array})


@pytest.mark.parametrize("name", [None, ""])
def test_a_tensor_without_a_name_is_called_data(name, tmp_path) -> None:
    write(writing(tmp_path / "a.safetensors", "int8", (3,), **({} if name is None else {"name": name})), b"abc")
    assert list(written.load_file(tmp_path / "a.safetensors")) == ["data"]


@pytest.mark.parametrize("name", ["__metadata__", b"\xff"])
def test_names_that_are_refused(name, tmp_path) -> None:
    assert fails_to_check(writing(tmp_path / "a.safetensors", "int8", (3,), name=name)).status == "usage"


@pytest.mark.parametrize("name", OTHERS)
def test_types_that_the_format_has_not(name: str, tmp_path) -> None:
    complaint = fails_to_check(writing(tmp_path / "a.safetensors", name, (8,)))
    assert complaint.status == "unsupported" and f"safetensors cannot carry the type {name}; use " in complaint.message
    assert complaint.message.endswith("raw") or name == "string"


@pytest.mark.parametrize(("name", "shape"), [("float4_e2m1fn", (3,)), ("float6_e2m3fn", (2,)), ("float4_e2m1fn", ())])
def test_a_tensor_ends_on_a_whole_byte(name: str, shape, tmp_path) -> None:
    fails_to_check(writing(tmp_path / "a.safetensors", name, shape)).must_be("unsupported", "whole byte")
    assert fails_to_check(writing(tmp_path / "a.safetensors", name, (*shape, 4))) is None


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float6_e3m2fn"])
def test_it_is_the_advice_where_npy_has_no_such_type(dtype: str, tmp_path) -> None:
    complaint = fails_to_check(writing(tmp_path / "a.npy", dtype, (4,)))
    assert complaint.message == f"npy cannot carry the type {dtype}; use safetensors, pb or raw"


def test_elements_become_little_endian(tmp_path) -> None:
    for dtype, unit in (("float32", ">f4"), ("complex64", ">c8"), ("uint16", ">u2")):
        array = np.arange(1, 7).astype(unit)
        write(writing(tmp_path / f"{dtype}.safetensors", dtype, (6,), byte_swapped=True), array.tobytes())
        assert np.array_equal(written.load_file(tmp_path / f"{dtype}.safetensors")["data"], array)


@pytest.mark.parametrize("fd", [False, True])
def test_part_by_part(fd: bool, tmp_path) -> None:
    """More than fits: the header comes first, and then whatever is appended."""
    array, path, error = np.arange(1000, dtype=">u8"), tmp_path / "a.safetensors", Error()
    with open(tmp_path / "to.safetensors", "wb", buffering=0) as file:
        what = writing(None if fd else path, "uint64", (1000,), byte_swapped=True, format="safetensors", fd=file.fileno())
        what.parts, what.window_bytes = True, 1 << 16
        writer = create_writer(what)
        for first in range(0, 1000, 96):
            part = array[first:first + 96].tobytes()
            check(LIB.gather_writer_append(writer, part, len(part), c.byref(error)), error)
        check(LIB.gather_writer_commit(writer, c.byref(error)), error)
    assert np.array_equal(written.load_file(tmp_path / "to.safetensors" if fd else path)["data"], array)


# ---- several tensors


def create_many(whats: list[Target]) -> P:
    target = Target.from_buffer_copy(whats[0] if whats else writing("a.safetensors", "int8", (1,)))
    array, writer, error = (Writing * max(len(whats), 1))(*(what.tensors[0] for what in whats)), P(), Error()
    target.tensors, target.count = array, len(whats)
    status = LIB.gather_writer_check(c.byref(target), c.byref(error))
    checked = GatherError(error).status if status else None
    status = LIB.gather_writer_create(c.byref(target), c.byref(writer), c.byref(error))
    assert checked == (GatherError(error).status if status else None)
    check(status, error)
    return writer


def write_many(path, arrays: dict[str, np.ndarray]) -> None:
    whats = [writing(path, array.dtype.newbyteorder("=").name, array.shape, name=name,
                     byte_swapped=array.dtype.byteorder == ">") for name, array in arrays.items()]
    writer, error = create_many(whats), Error()
    for i, array in enumerate(arrays.values()):
        at = LIB.gather_writer_data_at(writer, i)
        assert (at is None) == (array.nbytes == 0)
        if at:
            assert at % array.dtype.itemsize == 0
            c.memmove(at, array.tobytes(), array.nbytes)
    for i in (-1, len(arrays)):
        assert LIB.gather_writer_data_at(writer, i) is None
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


def test_several_tensors(tmp_path) -> None:
    arrays = {"b": np.arange(3, dtype=np.int8), "a": np.arange(6, dtype=">f4").reshape(2, 3), "none": np.zeros((0, 2), "u2"),
              "c": np.arange(5, dtype="c8"), "scalar": np.array(True), "z": np.arange(2, dtype=ml_dtypes.bfloat16),
              "y": np.arange(7, dtype=">i8")}
    write_many(tmp_path / "a.safetensors", arrays)
    found = written.load_file(tmp_path / "a.safetensors")
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].shape == array.shape and found[name].tobytes() == array.astype(found[name].dtype).tobytes()
    places = [value["data_offsets"] for value in json.loads(header_of(tmp_path / "a.safetensors")).values()]
    assert [begin for begin, _ in places] == [0, *(end for _, end in places[:-1])]
    if "safetensors" in formats():
        with opened(tmp_path / "a.safetensors") as file:
            assert sorted(file.names) == sorted(arrays)
    assert os.listdir(tmp_path) == ["a.safetensors"]


def test_one_of_several(tmp_path) -> None:
    for extension in ("safetensors", "npy"):
        write_many(tmp_path / f"a.{extension}", {"a": np.arange(3, dtype="f4")})
    assert written.load_file(tmp_path / "a.safetensors")["a"].tolist() == np.load(tmp_path / "a.npy").tolist() == [0, 1, 2]


@pytest.mark.parametrize(("whats", "status", "words"), [
    ([], "usage", "at least one"),
    ([("a.safetensors", "int8", "a"), ("b.safetensors", "int8", "a")], "usage", "have the name 'a'"),
    ([("a.safetensors", "int8", ""), ("b.safetensors", "int8", "data")], "usage", "have the name 'data'"),
    ([("a.npy", "int8", "a"), ("a.npy", "int8", "b")], "unsupported", "use safetensors for several"),
    ([("a.pb", "string", "a"), ("a.pb", "string", "b")], "unsupported", "strings"),
    ([("a.safetensors", "int8", "a"), ("a.safetensors", "int4", "b")], "unsupported", "cannot carry"),
    ([("a.safetensors", "int8", "a"), ("a.safetensors", "int8", "__metadata__")], "usage", "__metadata__"),
    ([("none/a.safetensors", "int8", "a"), ("a.safetensors", "int8", "b")], "file_not_found", ""),
])
def test_several_tensors_that_are_refused(whats, status: str, words: str, tmp_path) -> None:
    with pytest.raises(GatherError) as caught:
        create_many([writing(tmp_path / path, kind, (2,), name=name) for path, kind, name in whats])
    assert caught.value.status == status and words in caught.value.message
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("lengths", "more", "status", "words"), [
    ((1 << 62, 1), {}, "overflow", "does not fit in memory"), ((1 << 60,) * 8, {}, "overflow", "the file does not fit in 64 bits"),
    ((1 << 60,) * 7 + ((1 << 60) - 1,), {}, "overflow", "the file does not fit in 64 bits"),
    ((1, 1), {"align_bytes": 64}, "unsupported", "cannot be aligned"), ((1, 1), {"align_bytes": 48}, "unsupported", "cannot be aligned"),
])
def test_several_sizes_and_alignments(lengths, more, status: str, words: str, tmp_path) -> None:
    with pytest.raises(GatherError) as caught:
        create_many([writing(tmp_path / "a.safetensors", "int8", (length,), name=name, **more) for name, length in zip("abcdefgh", lengths)])
    assert caught.value.status == status and words in caught.value.message
    assert os.listdir(tmp_path) == []


def test_builds_that_do_not_read_it_write_it() -> None:
    assert fails_to_check(writing(None, "int8", (3,), format="safetensors", fd=1)) is None
