# SPDX-License-Identifier: MIT
"""TensorProto files, read back by ONNX's own package."""
import ctypes as c
import os

import numpy as np
import onnx
import pytest
from gather_files import LIB, Error, GatherError, String, check, create_writer, fails_to_check, opened, write, writing
from onnx import numpy_helper
from support.skip import skip_test
from tensor_files import formats

NUMBERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
           "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
           "float8_e8m0fnu"]
PACKED = {"int4": 3, "uint4": 3, "float4_e2m1fn": 3, "int2": 2, "uint2": 2, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


def parsed(path) -> onnx.TensorProto:
    proto = onnx.TensorProto()
    assert proto.ParseFromString(path.read_bytes()) == path.stat().st_size
    return proto


@pytest.mark.parametrize("name", NUMBERS)
def test_whole_byte_types(name, tmp_path) -> None:
    number = {info: n for n, info in ((n, onnx.helper.tensor_dtype_to_np_dtype(n).name) for n in onnx.TensorProto.DataType.values()
                                      if n not in (0, 8))}[name]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
    array = np.arange(6).reshape(2, 3).astype(dtype)
    write(writing(tmp_path / "a.pb", name, (2, 3), name="the tensor"), array.tobytes())
    proto = parsed(tmp_path / "a.pb")
    assert (proto.name, proto.data_type, list(proto.dims)) == ("the tensor", number, [2, 3])
    assert numpy_helper.to_array(proto).tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(3,), (300, 2), (2**40, 0)])
def test_reading_one_gives_it_back(shape, tmp_path) -> None:
    write(writing(tmp_path / "a.pb", "int8", shape, name="x"), bytes(int(np.prod(shape))))
    if "pb" not in formats():
        skip_test("nanopb", "this build reads no ONNX")
    with opened(tmp_path / "a.pb") as tensor:
        assert (tensor.name, tensor.shape, tensor.bytes) == (b"x", shape, int(np.prod(shape)))


@pytest.mark.parametrize("name", PACKED)
def test_packed_types(name, tmp_path) -> None:
    content = bytes(range(1, PACKED[name] + 1))
    write(writing(tmp_path / "a.pb", name, (5,)), content)
    proto = parsed(tmp_path / "a.pb")
    assert proto.raw_data == content
    assert onnx.helper.tensor_dtype_to_np_dtype(proto.data_type).name == name
    assert numpy_helper.to_array(proto).shape == (5,)


@pytest.mark.parametrize("shape", [(), (0,), (1, 0, 3), (300,), (1,) * 64])
def test_shapes(shape, tmp_path) -> None:
    array = np.ones(shape, ">f4")
    write(writing(tmp_path / "a.pb", "float32", shape, byte_swapped=True), array.tobytes())
    loaded = numpy_helper.to_array(parsed(tmp_path / "a.pb"))
    assert loaded.shape == shape and loaded.tobytes() == array.astype("<f4").tobytes()


@pytest.mark.parametrize("name", ["uint1", "uint3", "uint6", "nf4", "opaque"])
def test_types_that_onnx_does_not_have(name, tmp_path) -> None:
    complaint = fails_to_check(writing(tmp_path / "a.pb", name, (5,), item_bytes=4))
    assert complaint.status == "unsupported" and "raw" in complaint.message
    assert ("npy" in complaint.message) == (name == "opaque")


def test_more_than_2_gib(tmp_path) -> None:
    assert fails_to_check(writing(tmp_path / "a.pb", "int8", (2**31 - 100,))) is None
    fails_to_check(writing(tmp_path / "a.pb", "int8", (2**31 - 1,))).must_be("unsupported", "2 GiB")


def write_strings(what, texts: list[bytes]) -> None:
    writer, error = create_writer(what), Error()
    data = LIB.gather_writer_data_at(writer, 0)
    if texts:
        elements = (String * len(texts)).from_address(data)
        for i, text in enumerate(texts):
            elements[i] = String(text or None, len(text))
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


@pytest.mark.parametrize("texts", [[], [b""], [b"a", b"", b"z\xc3\xbcrich", b"x" * 1000, b"nul\0byte", b"\xff"]])
@pytest.mark.parametrize("to_file", [True, False])
def test_strings(texts, to_file, tmp_path) -> None:
    path = tmp_path / "a.pb"
    fd = os.open(path, os.O_CREAT | os.O_WRONLY) if not to_file else -1
    what = writing(path if to_file else None, "string", (len(texts),), name="words", fd=fd, format="pb")
    write_strings(what, texts)
    if not to_file:
        os.close(fd)
    proto = parsed(path)
    assert list(proto.string_data) == texts
    assert (proto.name, proto.data_type, list(proto.dims)) == ("words", onnx.TensorProto.STRING, [len(texts)])
    assert os.listdir(tmp_path) == ["a.pb"]


def test_strings_of_more_than_2_gib(tmp_path) -> None:
    text = (c.c_char * (1 << 20))()
    with pytest.raises(GatherError, match="2 GiB") as caught:
        what = writing(tmp_path / "a.pb", "string", (2048,))
        writer, error = create_writer(what), Error()
        elements = (String * 2048).from_address(LIB.gather_writer_data_at(writer, 0))
        for i in range(2048):
            elements[i] = String(c.cast(text, c.c_char_p), len(text))
        check(LIB.gather_writer_commit(writer, c.byref(error)), error)
    assert caught.value.status == "unsupported"
    assert os.listdir(tmp_path) == []
