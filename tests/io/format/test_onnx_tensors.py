# SPDX-License-Identifier: MIT
"""ONNX tensors (TensorProto) of every type in every form, as the onnx package writes and reads them."""
import numpy as np
import pytest
from gather_files import LIB, GatherError, content
from onnx import TensorProto, numpy_helper
from onnx_files import KNOWN, STREAMS, TYPES, expected, one_by_one, onnx_is_read, opened, streamed, strings, typed, values  # noqa: F401

@pytest.mark.parametrize("form", ["raw", "typed", "one by one"])
@pytest.mark.parametrize("number", TYPES)
def test_every_type_in_every_form(number: int, form: str) -> None:
    array = values(number)
    if form == "raw":
        proto = TensorProto(data_type=number, dims=array.shape, name="t", raw_data=expected(array, number))
    else:
        proto = typed(array, number)
    assert np.array_equal(numpy_helper.to_array(proto).astype(np.complex128), array.astype(np.complex128))
    source = one_by_one(proto) if form == "one by one" else proto.SerializeToString()
    with opened(source) as file:
        assert (file.format, file.names, file.all[0].shape) == ("pb", ["t"], (3, 5))
        assert file.all[0].tensor.type == LIB.gather_type_parse(array.dtype.name.encode())
        assert content(file.all[0]) == expected(array, number)
        assert file.find("t").bytes == len(expected(array, number))


def test_negative_numbers_and_bit_patterns() -> None:
    for number, numbers in ((TensorProto.INT8, [-1, -128]), (TensorProto.INT64, [-1, -2**63]), (TensorProto.INT32, [-1, 2**31 - 1])):
        array = np.array(numbers, TYPES[number])
        with opened(typed(array, number).SerializeToString()) as file:
            assert content(file.all[0]) == array.tobytes()


@pytest.mark.parametrize("number", STREAMS)
@pytest.mark.parametrize("count", range(1, 10))
def test_six_bits(number: int, count: int, tmp_path) -> None:
    """Raw data ends with the last byte that is used, or holds the whole last group; a list has a number for each element."""
    array = np.random.default_rng(count).integers(0, 64, count).astype(np.uint8).view(TYPES[number])
    proto = numpy_helper.from_array(array, "t")
    assert len(proto.raw_data) == -(-6 * count // 8)
    whole = TensorProto(data_type=number, dims=[count], name="t", raw_data=streamed(array))
    listed = TensorProto(data_type=number, dims=[count], name="t", int32_data=array.view(np.uint8).tolist())
    for form in (proto, whole, listed):
        with opened(form.SerializeToString()) as file:
            assert content(file.all[0]) == streamed(array)
    assert wrong(TensorProto(data_type=number, dims=[count], name="t", raw_data=proto.raw_data[:-1])).status == "file_malformed"
    outside = TensorProto(data_type=number, dims=[count], name="t", data_location=1)
    outside.external_data.add(key="location", value="w")
    (tmp_path / "w").write_bytes(proto.raw_data)
    (tmp_path / "m.pb").write_bytes(outside.SerializeToString())
    with opened(tmp_path / "m.pb") as file:
        assert content(file.all[0]) == streamed(array)
    (tmp_path / "w").write_bytes(proto.raw_data[:-1])
    with opened(tmp_path / "m.pb") as file:
        assert file.all[0].complaint.status == "file_malformed"


@pytest.mark.parametrize("texts", [[], [b""], [b"a", b"", b"\xff\0b", b"x" * 300]])
def test_strings(texts: list[bytes]) -> None:
    proto = TensorProto(data_type=TensorProto.STRING, dims=[len(texts)], name="t", string_data=texts)
    with opened(proto.SerializeToString()) as file:
        assert strings(file.all[0]) == texts


def wrong(proto: TensorProto) -> GatherError:
    source = proto.SerializeToString()
    with pytest.raises(GatherError) as caught, opened(source):
        pass
    assert 0 <= caught.value.offset <= len(source)
    return caught.value


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"data_type": 1, "dims": [3]}, "no values"),
        ({"data_type": 1, "dims": [0], "raw_data": b"1234"}, "no elements"),
        ({"data_type": 1, "dims": [3], "raw_data": b"1234"}, "needs 12 bytes; raw_data has 4"),
        ({"data_type": 1, "dims": [2], "float_data": [1, 2], "int32_data": [1, 2]}, "in two fields"),
        ({"data_type": 1, "dims": [2], "int32_data": [1, 2]}, "in field 5"),
        ({"data_type": 1, "dims": [2], "float_data": [1, 2, 3]}, "needs 2 values; it has 3"),
        ({"data_type": 8, "dims": [1], "raw_data": b"a"}, "strings in raw_data"),
        ({"data_type": 1, "dims": [-1], "raw_data": b"1234"}, "negative"),
        ({"data_type": 1, "dims": [2**40, 2**40], "raw_data": b"1234"}, "too large"),
        ({"data_type": 1, "dims": [2], "data_location": 1}, "have no location"),
        ({"data_type": 0, "dims": [2], "raw_data": b"1234"}, "no type"),
    ],
)
def test_wrong_tensors(fields: dict, match: str) -> None:
    wrong(TensorProto(name="t", **fields)).must_be("file_malformed", match)


def test_what_is_refused() -> None:
    for number in set(TensorProto.DataType.values()) - KNOWN - {0, TensorProto.STRING}:  # newer than the library
        assert str(number) in wrong(TensorProto(data_type=number, dims=[1], raw_data=b"1")).message
    assert wrong(TensorProto(data_type=99, dims=[1], raw_data=b"1")).status == "unsupported"
    assert wrong(TensorProto(data_type=1, dims=[1], segment=TensorProto.Segment(begin=0))).status == "unsupported"
    assert wrong(TensorProto(data_type=1, dims=[1] * 65, raw_data=b"1234")).status == "unsupported"
