# SPDX-License-Identifier: MIT
"""ONNX tensors and models, as the onnx package writes and reads them."""
from __future__ import annotations

import ctypes as c
import os
import struct
import time
from contextlib import contextmanager
from typing import Iterator

import gather_files as g
import ml_dtypes  # noqa: F401  (dtypes by name)
import numpy as np
import onnx
import pytest
from gather_files import LIB, FileTensor, GatherError, P, String, check, content, handle
from onnx import TensorProto, helper, numpy_helper
from support.skip import skip_test

LIB.gather_format_count.restype, LIB.gather_format_count.argtypes = c.c_size_t, []
LIB.gather_format_name.restype, LIB.gather_format_name.argtypes = c.c_char_p, [c.c_size_t]
LIB.gather_file_len.restype, LIB.gather_file_len.argtypes = c.c_int64, [P]
LIB.gather_file_find.restype = c.c_int
LIB.gather_file_find.argtypes = [P, c.c_char_p, c.POINTER(c.POINTER(FileTensor)), c.POINTER(g.Error)]

KNOWN = set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED, TensorProto.STRING}
TYPES = {number: helper.tensor_dtype_to_np_dtype(number) for number in KNOWN}
PACKED = {TensorProto.UINT4: 2, TensorProto.INT4: 2, TensorProto.FLOAT4E2M1: 2, TensorProto.UINT2: 4, TensorProto.INT2: 4}
STREAMS = {TensorProto.DataType.Value(name) for name in ("FLOAT6E2M3", "FLOAT6E3M2")}  # 6 bits each


class Opened:
    """A file and its tensors by name."""

    def __init__(self, file) -> None:
        self.file = file
        self.all = [LIB.gather_file_at(file, i).contents for i in range(LIB.gather_file_len(file))]
        self.names = [tensor.name.decode() for tensor in self.all]
        self.format = LIB.gather_file_format(file).decode()

    def find(self, name: str) -> FileTensor:
        found, error = c.POINTER(FileTensor)(), g.Error()
        check(LIB.gather_file_find(self.file, name.encode(), c.byref(found), c.byref(error)), error)
        return found.contents


@pytest.fixture(autouse=True)
def onnx_is_read() -> None:
    if "onnx" not in [LIB.gather_format_name(i).decode() for i in range(LIB.gather_format_count())]:
        skip_test("nanopb", "this build reads no ONNX")


@contextmanager
def opened(source) -> Iterator[Opened]:
    """A path, or bytes in memory."""
    with handle(source) as file:
        yield Opened(file)


def strings(tensor: FileTensor) -> list[bytes]:
    rows = c.cast(tensor.tensor.data, c.POINTER(String))
    raw = c.cast(tensor.tensor.data, c.POINTER(c.c_uint64))
    return [c.string_at(raw[2 * i], rows[i].bytes) if rows[i].bytes else b"" for i in range(tensor.bytes // 16)]


def packed(array: np.ndarray, number: int) -> bytes:
    """Elements of less than a byte, the first in the lowest bits."""
    per_byte = PACKED[number]
    bits = 8 // per_byte
    flat = [int(value) & (1 << bits) - 1 for value in array.reshape(-1).view(np.uint8)]
    flat += [0] * (-len(flat) % per_byte)
    return bytes(sum(flat[i + j] << (bits * j) for j in range(per_byte)) for i in range(0, len(flat), per_byte))


def streamed(array: np.ndarray) -> bytes:
    """Elements of 6 bits, one after the other, in whole groups of four."""
    word = sum((int(value) & 63) << 6 * i for i, value in enumerate(array.reshape(-1).view(np.uint8)))
    return word.to_bytes(-(-array.size // 4) * 3, "little")


def values(number: int, shape=(3, 5)) -> np.ndarray:
    count = int(np.prod(shape))
    numbers = np.arange(count) % 2 if number in PACKED or number == TensorProto.BOOL else np.arange(count)
    return (numbers + (1 if number == TensorProto.FLOAT8E8M0 else 0)).reshape(shape).astype(TYPES[number])


def expected(array: np.ndarray, number: int) -> bytes:
    if number in STREAMS:
        return streamed(array)
    return packed(array, number) if number in PACKED else array.tobytes()


def typed(array: np.ndarray, number: int) -> TensorProto:
    """The values in the type's own list."""
    proto = TensorProto(data_type=number, dims=array.shape, name="t")
    flat = array.reshape(-1)
    if number in (TensorProto.FLOAT, TensorProto.COMPLEX64):
        proto.float_data.extend(flat.view(np.float32).tolist())
    elif number in (TensorProto.DOUBLE, TensorProto.COMPLEX128):
        proto.double_data.extend(flat.view(np.float64).tolist())
    elif number == TensorProto.INT64:
        proto.int64_data.extend(flat.tolist())
    elif number in (TensorProto.UINT32, TensorProto.UINT64):
        proto.uint64_data.extend(flat.tolist())
    elif number in STREAMS:
        proto.int32_data.extend(flat.view(np.uint8).tolist())
    elif number in PACKED:
        proto.int32_data.extend(packed(array, number))
    elif TYPES[number].kind in "iub" and array.dtype.name in np.sctypeDict:
        proto.int32_data.extend(flat.astype(np.int64).tolist())
    else:
        proto.int32_data.extend(flat.view(f"u{array.dtype.itemsize}").tolist())
    return proto


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def one_by_one(proto: TensorProto) -> bytes:
    """The lists without packing, which files of old protobuf versions have."""
    bare = TensorProto()
    bare.CopyFrom(proto)
    out = b""
    for field, name, form in ((4, "float_data", "<f"), (10, "double_data", "<d"), (5, "int32_data", ""), (7, "int64_data", ""),
                              (11, "uint64_data", "")):
        for value in getattr(proto, name):
            out += varint(field << 3 | {"<f": 5, "<d": 1, "": 0}[form]) + (struct.pack(form, value) if form else varint(value))
        bare.ClearField(name)
    return out + bare.SerializeToString()


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
        ({"data_type": 1, "dims": [3], "raw_data": b"1234"}, "needs 12 bytes and has 4"),
        ({"data_type": 1, "dims": [2], "float_data": [1, 2], "int32_data": [1, 2]}, "twice"),
        ({"data_type": 1, "dims": [2], "int32_data": [1, 2]}, "in field 5"),
        ({"data_type": 1, "dims": [2], "float_data": [1, 2, 3]}, "needs 2 values and has 3"),
        ({"data_type": 8, "dims": [1], "raw_data": b"a"}, "strings as raw"),
        ({"data_type": 1, "dims": [-1], "raw_data": b"1234"}, "negative"),
        ({"data_type": 1, "dims": [2**40, 2**40], "raw_data": b"1234"}, "too large"),
        ({"data_type": 1, "dims": [2], "data_location": 1}, "does not say in which file"),
        ({"data_type": 0, "dims": [2], "raw_data": b"1234"}, "no type"),
    ],
)
def test_wrong_tensors(fields: dict, match: str) -> None:
    error = wrong(TensorProto(name="t", **fields))
    assert error.status == "file_malformed" and match in error.message


def test_what_is_refused() -> None:
    for number in set(TensorProto.DataType.values()) - KNOWN - {0, TensorProto.STRING}:  # newer than the library
        assert str(number) in wrong(TensorProto(data_type=number, dims=[1], raw_data=b"1")).message
    assert wrong(TensorProto(data_type=99, dims=[1], raw_data=b"1")).status == "unsupported"
    assert wrong(TensorProto(data_type=1, dims=[1], segment=TensorProto.Segment(begin=0))).status == "unsupported"
    assert wrong(TensorProto(data_type=1, dims=[1] * 65, raw_data=b"1234")).status == "unsupported"


# ---- models


def graph(name: str, nodes, initializers=(), outputs=()) -> onnx.GraphProto:
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(o, 1, None) for o in outputs], initializers)


def model(main: onnx.GraphProto, **more) -> onnx.ModelProto:
    return helper.make_model(main, ir_version=10, opset_imports=[helper.make_opsetid("", 21)], **more)


def table(name: str, start: int = 0) -> TensorProto:
    return numpy_helper.from_array(np.arange(start, start + 4, dtype=np.float32), name)


def test_names_of_all_graphs() -> None:
    then_branch = graph("then", [helper.make_node("Identity", ["w"], ["a"])], [table("w", 1), table("both", 2)], ["a"])
    else_branch = graph("else", [helper.make_node("Constant", [], ["b"], value=table("", 3))], [table("both", 4)], ["b"])
    branch = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    named = helper.make_node("If", ["c"], ["z"], name="my if", then_branch=then_branch, else_branch=else_branch)
    main = graph("main", [helper.make_node("Constant", [], ["k"], value_int=7), branch, named], [table("emb", 5)], ["y"])
    function = helper.make_function("d", "f", [], ["o"], [helper.make_node("Constant", [], ["o"], value_floats=[1.5, 2])],
                                    [helper.make_opsetid("", 21)])
    with opened(model(main, functions=[function]).SerializeToString()) as file:
        assert file.format == "onnx"
        assert file.names[:2] == ["emb", "k"]
        assert set(file.names[2:]) == {
            f"{node}/{rest}" for node in ("if_1", "my if")
            for rest in ("then_branch/w", "then_branch/both", "else_branch/both", "else_branch/b")} | {"d.f/o"}
        assert content(file.find("my if/else_branch/both")) == np.arange(4, 8, dtype=np.float32).tobytes()
        assert content(file.find("o")) == np.array([1.5, 2], np.float32).tobytes()  # it stands once in the file
        assert content(file.find("k")) == np.int64(7).tobytes() and file.find("k").shape == ()
        with pytest.raises(GatherError, match="no tensor 'w'"):
            file.find("w")


@pytest.mark.parametrize(
    ("form", "array"),
    [
        ({"value": numpy_helper.from_array(np.array([[1, 2]], np.int16))}, np.array([[1, 2]], np.int16)),
        ({"value_int": -5}, np.array(-5, np.int64)),
        ({"value_ints": [1, -2, 3]}, np.array([1, -2, 3], np.int64)),
        ({"value_float": 0.5}, np.array(0.5, np.float32)),
        ({"value_floats": [0.5, -1]}, np.array([0.5, -1], np.float32)),
        ({"value_string": "text"}, [b"text"]),
        ({"value_strings": ["a", "bc"]}, [b"a", b"bc"]),
    ],
)
def test_every_form_of_constant(form: dict, array) -> None:
    with opened(model(graph("m", [helper.make_node("Constant", [], ["k"], **form)], [], ["k"])).SerializeToString()) as file:
        assert file.names == ["k"]
        if isinstance(array, list):
            assert strings(file.all[0]) == array
        else:
            assert content(file.all[0]) == array.tobytes() and file.all[0].shape == array.shape


def test_sparse_values_are_no_constants() -> None:
    sparse = onnx.SparseTensorProto(values=table("s"), indices=numpy_helper.from_array(np.arange(4)), dims=[9])
    main = graph("m", [helper.make_node("Constant", [], ["k"], sparse_value=sparse)], [table("w")], ["k"])
    main.sparse_initializer.append(sparse)
    with opened(model(main).SerializeToString()) as file:
        assert file.names == ["w"]


def test_unknown_fields_groups_and_order() -> None:
    main = model(graph("m", [], [table("w")]))
    extra = varint(99 << 3 | 3) + varint(5 << 3) + b"\1" + varint(99 << 3 | 4) + varint(1000 << 3 | 2) + b"\3abc"
    with opened(main.SerializeToString() + extra) as file:
        assert file.names == ["w"]
    head = main.graph.SerializeToString()
    turned = varint(7 << 3 | 2) + varint(len(head)) + head + b"\x08\x03" + b"\x08\x0a"
    with opened(turned) as file:
        assert file.format == "onnx" and file.names == ["w"]


# ---- external data


def external(tmp_path, bytes_needed: int, **keys: str) -> os.PathLike:
    proto = TensorProto(data_type=TensorProto.UINT8, dims=[bytes_needed], name="w", data_location=1)
    for key, value in keys.items():
        proto.external_data.add(key=key, value=value)
    path = tmp_path / "m.onnx"
    path.write_bytes(model(graph("m", [], [proto])).SerializeToString())
    return path


def test_external_data(tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    for keys, start in (({}, 0), ({"offset": "10"}, 10), ({"offset": "10", "length": "20"}, 10), ({"checksum": "x"}, 0)):
        with opened(external(tmp_path, 20, location="w.bin", **keys)) as file:
            assert content(file.find("w")) == bytes(range(start, start + 20))


OUTSIDE = ["../w.bin", "../../etc/passwd", "/w.bin", "/etc/passwd", "a/../../w.bin", "a/..", "..", "..\\w.bin", ""]


@pytest.mark.parametrize("keys", [{"length": "19"}, {"offset": "-1"}, {"length": "1x"}, {"length": ""}, {"offset": "9" * 30},
                                  *({"location": name} for name in OUTSIDE)])
def test_wrong_external_data(keys: dict, tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    with pytest.raises(GatherError) as caught, opened(external(tmp_path, 20, **{"location": "w.bin", **keys})):
        pass
    assert caught.value.status == "file_malformed" and caught.value.offset > 0


def unreadable(source) -> GatherError:
    """What keeps the values of the tensor `w` away; the model opens all the same."""
    with opened(source) as file:
        assert file.all[0].shape == (20,) and file.all[0].bytes == 20 and file.find("w").type_name == b"uint8"
        complaint = file.all[0].complaint
        assert complaint and "'w'" in complaint.message
        return complaint


@pytest.mark.parametrize("keys", [{"offset": "90"}, {"offset": "101"}, {"length": "101"}, {"offset": str(2**63 - 1), "length": "20"}])
def test_external_data_that_is_too_short(keys: dict, tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    complaint = unreadable(external(tmp_path, 20, location="w.bin", **keys))
    assert complaint.status == "file_malformed" and complaint.offset > 0 and "100" in complaint.message
    assert complaint.file.endswith("m.onnx") and "w.bin" in complaint.message


def test_external_data_that_is_missing_or_has_no_place(tmp_path) -> None:
    path = external(tmp_path, 20, location="w.bin")
    complaint = unreadable(path)
    assert complaint.status == "file_not_found" and complaint.file == str(tmp_path / "w.bin")
    assert unreadable(path.read_bytes()).status == "unsupported"
    (tmp_path / "w.bin").mkdir()
    assert unreadable(path).status == "io_error"
    # A zero byte in the name is none of the name's end.
    (tmp_path / "w").write_bytes(bytes(20))
    assert unreadable(external(tmp_path, 20, location="w\0.bin")).status == "file_not_found"


def test_one_file_may_be_missing_of_two(tmp_path) -> None:
    (tmp_path / "there").write_bytes(b"abc")
    tensors = [TensorProto(data_type=TensorProto.UINT8, dims=[3], name=name, data_location=1) for name in ("gone", "there")]
    for tensor in tensors:
        tensor.external_data.add(key="location", value=tensor.name)
    (tmp_path / "m.onnx").write_bytes(model(graph("m", [], tensors)).SerializeToString())
    with opened(tmp_path / "m.onnx") as file:
        assert file.find("gone").complaint and not file.find("there").complaint
        assert content(file.find("there")) == b"abc"


def test_links_that_lead_out_of_the_folder(tmp_path) -> None:
    """As download caches lay files out: snapshots of links into a folder of blobs. The name stays inside; where the link under it
    leads is the choice of who made the folder."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshots" / "1").mkdir(parents=True)
    external(tmp_path, 20, location="m.onnx.data").rename(tmp_path / "blobs" / "abc")
    (tmp_path / "blobs" / "def").write_bytes(bytes(range(20)))
    for name, blob in (("m.onnx", "abc"), ("m.onnx.data", "def")):
        (tmp_path / "snapshots" / "1" / name).symlink_to(f"../../blobs/{blob}")
    with opened(tmp_path / "snapshots" / "1" / "m.onnx") as file:
        assert content(file.find("w")) == bytes(range(20))
    # The link of the model itself is not followed to find its neighbours.
    assert unreadable(tmp_path / "blobs" / "abc").status == "file_not_found"


# ---- size


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def assert_cheap(path, bytes_needed: int) -> None:
    before, start = resident(), time.monotonic()
    with opened(path) as file:
        assert file.find("w").bytes == bytes_needed
        assert resident() - before < 16 << 20
    assert time.monotonic() - start < 1


def test_ten_gigabytes_beside_the_model(tmp_path) -> None:
    with open(tmp_path / "w.bin", "wb") as file:
        file.truncate(10 << 30)
    assert_cheap(external(tmp_path, 10 << 30, location="w.bin"), 10 << 30)


def test_two_gigabytes_in_the_model(tmp_path) -> None:
    size = 2**31 - 4096
    tensor = TensorProto(data_type=TensorProto.UINT8, dims=[size], name="w").SerializeToString() + varint(9 << 3 | 2) + varint(size)
    body = varint(5 << 3 | 2) + varint(len(tensor) + size) + tensor
    head = b"\x08\x0a" + varint(7 << 3 | 2) + varint(len(body) + size) + body
    with open(tmp_path / "m.onnx", "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    assert_cheap(tmp_path / "m.onnx", size)


# ---- cut and changed


def small_model() -> bytes:
    body = graph("b", [helper.make_node("Gather", ["w", "i"], ["x"], axis=0)], [], ["x"])
    nodes = [helper.make_node("Constant", [], ["i"], value_ints=[0, 1]), helper.make_node("If", ["c"], ["y"], then_branch=body)]
    return model(graph("m", nodes, [table("w")], ["y"])).SerializeToString()


def outcome(source: bytes) -> list[bytes] | str:
    try:
        with opened(source) as file:
            return [content(tensor) for tensor in file.all if tensor.tensor.type != 16]
    except GatherError as error:
        assert error.message and error.offset <= len(source)
        return error.status


def test_cut_at_every_byte() -> None:
    source = small_model()
    assert isinstance(outcome(source), list)
    opening = [size for size in range(len(source)) if isinstance(outcome(source[:size]), list)]
    # Fields behind the graph may be missing; the graph is whole there.
    for size in opening:
        onnx.load_model_from_string(source[:size])
        assert outcome(source[:size]) == outcome(source)


def test_larger_model_cut_at_every_kilobyte() -> None:
    tables = [numpy_helper.from_array(np.arange(2000, dtype=np.float32), f"w{i}") for i in range(12)]
    source = model(graph("m", [], tables)).SerializeToString()
    whole = outcome(source)
    assert isinstance(whole, list) and len(whole) == 12
    for size in range(1024, len(source), 1024):
        assert outcome(source[:size]) == "file_malformed"


def as_onnx_reads(source: bytes) -> list[bytes] | None:
    """The numbers of the main graph's initializers; None where onnx cannot read them."""
    try:
        tables = onnx.load_model_from_string(source).graph.initializer
        return [numpy_helper.to_array(tensor).tobytes() for tensor in tables]
    except Exception:  # whatever onnx, protobuf and NumPy complain with
        return None


def test_every_byte_changed() -> None:
    """An error, or the answer that onnx gives: lengths, types, names, numbers."""
    source = model(graph("m", [], [table("w")])).SerializeToString()
    answers = 0
    for at in range(len(source)):
        for value in {0, 1, 8, 127, 128, 255, source[at] ^ 1, source[at] ^ 4, (source[at] + 1) & 255, (source[at] - 1) & 255}:
            changed = source[:at] + bytes([value]) + source[at + 1:]
            result = outcome(changed)
            if isinstance(result, list):
                theirs = as_onnx_reads(changed)
                assert theirs is None or result == theirs
                answers += 1
            else:
                assert result in ("file_malformed", "unsupported")
    assert answers > len(source)


def block(field: int, inner: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(inner)) + inner


@pytest.mark.parametrize("depth", [1, 63, 64, 70])
def test_depth_of_graphs(depth: int) -> None:
    inner = block(5, table("w").SerializeToString())
    for _ in range(depth):
        inner = block(1, block(4, b"If") + block(5, block(1, b"body") + block(6, inner) + varint(20 << 3) + varint(5)))
    result = outcome(b"\x08\x08" + block(7, inner))
    assert result == ("file_malformed" if depth >= 64 else [np.arange(4, dtype=np.float32).tobytes()])


def test_recognition() -> None:
    assert outcome(b"\x08\x08\x12\x04test") == "file_malformed"  # a model without a graph
    for other in (b"hello world", b"\x08", b"\x10\x01\x10", b"\x0a\x05abcde", bytes(64), b"\xff" * 64, b"1 2 3\n"):
        assert outcome(other) in ("unsupported", "file_malformed")
