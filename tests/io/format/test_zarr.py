# SPDX-License-Identifier: MIT
"""Zarr stores of version 2 and 3 are read, bit for bit. What is not supported is listed, and says why; damage is refused."""
import base64
import ctypes as c
import itertools
import json
import os
import shutil
import struct
import zipfile

import gather_files as g
import numpy as np
import pytest
import remote_files
from gather_files import LIB, FileTensor, GatherError, check, content
from many import complaint, failure
from support.command import answer, call
from support.http_server import HttpServer
from support.skip import needs, skip_test
from support.zarr_files import codecs_of, crc32c, described_2, described_3, filled, put, write_2, write_3
from tensor_files import formats, opened, whole

needs_zarr = needs("jansson", "zarr" in formats(), "this build reads no Zarr")

NUMBERS = ["bool", *[f"{order}{kind}" for order in "<>" for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8",
    "c8", "c16")]]


def random(dtype: str, shape) -> np.ndarray:
    made = np.ndarray(shape, dtype)
    noise = np.random.default_rng(made.nbytes + made.itemsize).integers(1, 120, made.nbytes, np.uint8)
    noise = noise & 1 if dtype == "bool" else noise
    return np.frombuffer(noise.tobytes(), dtype).reshape(shape).copy() if made.nbytes else made


def same(file, name: str, array: np.ndarray) -> None:
    tensor = whole(file, name)
    assert tensor.shape == array.shape, name
    assert content(tensor) == array.tobytes(), (name, array.dtype, array.shape)
    if array.dtype.kind in "biufc":
        assert tensor.type_name.decode() == array.dtype.name and tensor.swapped == (array.dtype.byteorder == ">"), name


SHAPES = [((10, 7), (3, 4), (6, 8)), ((5,), (2,), (4,)), ((), (), None), ((5, 4, 3), (2, 2, 2), (2, 4, 4)), ((4, 4), (4, 4), (4, 4)),
          ((2, 3), (5, 9), (10, 9))]


def test_version_2(tmp_path) -> None:
    put(tmp_path, ".zgroup", {"zarr_format": 2})
    wanted = {}
    for dtype, (shape, chunks, _), compressor, order, separator in itertools.product(
            [*NUMBERS, "S5", "V3", "<U3", ">U2", "<M8[ns]", ">m8[s]"], SHAPES, (None, "zlib", "gzip"), "CF", "./"):
        name = f"a{len(wanted)}"
        array, left_out = random(dtype, shape), (1,) if len(wanted) % 2 else ()
        write_2(tmp_path / name, array, chunks, compressor, left_out, order=order, dimension_separator=separator, fill_value=None)
        wanted[name] = filled(array, chunks, left_out, np.zeros((), dtype))
    with opened(tmp_path) as file:
        assert file.format == "zarr" and file.names == sorted(wanted)
        for name, array in wanted.items():
            same(file, name, array)


def test_version_3(tmp_path) -> None:
    put(tmp_path, "zarr.json", {"zarr_format": 3, "node_type": "group", "attributes": {"x": 1}})
    wanted, ways = {}, itertools.product((False, True), (None, "gzip"), (False, True), (False, True))
    for dtype, (shape, chunks, shards), (sharded, compressor, sums, turned) in itertools.product(NUMBERS, SHAPES, list(ways)):
        if (sharded and not shards) or (turned and not shape):
            continue
        name, number = f"g{len(wanted)}", len(wanted)
        array, left_out = random(dtype, shape), (1,) if number % 2 else ()
        keys = {"name": "v2"} if number % 3 == 0 else {"name": "default", "configuration": {"separator": "./"[number % 5 == 0]}}
        write_3(tmp_path / name, array, chunks, shards if sharded else None, compressor, tuple(range(len(shape)))[::-1] if turned else None,
                sums, left_out, at_start=number % 7 == 0, index_sums=number % 4 != 0, chunk_key_encoding=keys,
                fill_value=[0, 0] if array.dtype.kind == "c" else False if dtype == "bool" else 0)
        wanted[name] = filled(array, shards if sharded else chunks, left_out, 0, chunks if sharded else None)
    with opened(tmp_path) as file:
        assert sorted(file.names) == sorted(wanted)
        for name, array in wanted.items():
            same(file, name, array)


def element(dtype: str, value) -> bytes:
    return np.array(value, dtype).tobytes()


NAN = {"f2": 0x7E00, "f4": 0x7FC00000, "f8": 0x7FF8 << 48}
FILLS_2 = [("<f4", "NaN", struct.pack("<I", NAN["f4"])), (">f8", "NaN", struct.pack(">Q", NAN["f8"])), ("<f2", "NaN", b"\0\x7e"),
           ("<f4", "Infinity", element("<f4", np.inf)), ("<f8", "-Infinity", element("<f8", -np.inf)), ("<f2", 0.1, element("<f2", 0.1)),
           ("<f2", 65519.9, element("<f2", 65504)), ("<f2", 1e9, element("<f2", np.inf)), ("<f2", 6e-8, element("<f2", 6e-8)),
           ("<f2", -3.1e-5, element("<f2", -3.1e-5)), ("<f2", 2049, element("<f2", 2048)), ("<f2", 2051, element("<f2", 2052)),
           (">f4", 0.1, element(">f4", 0.1)), ("<f8", 3, element("<f8", 3)), ("<i8", -2**63, element("<i8", -2**63)),
           ("<u8", 2**64 - 1, element("<u8", 2**64 - 1)), (">i2", -2, element(">i2", -2)), ("|i1", -128, b"\x80"), ("|u1", 255, b"\xff"),
           ("|b1", True, b"\1"), ("<M8[ns]", -2**63, element("<i8", -2**63)), ("|S4", base64.b64encode(b"ab").decode(), b"ab\0\0"),
           ("|S3", base64.b64encode(b"\xff\xfe\xfd").decode(), b"\xff\xfe\xfd"), ("|V2", base64.b64encode(b"xy").decode(), b"xy"),
           ("<U3", "é€", element("<U3", "é€")), (">U2", "\U0001f600", element(">U2", "\U0001f600")), ("<U2", "", bytes(8)),
           ("<c8", [1, "NaN"], element("<f4", 1) + struct.pack("<I", NAN["f4"])), (">c16", [0.5, -2], element(">c16", 0.5 - 2j))]
def sized(name: str, **configuration) -> dict:
    return {"name": name, "configuration": configuration}


FILLS_3 = [(sized("null_terminated_bytes", length_bytes=4), "YWI=", b"ab\0\0"), (sized("raw_bytes", length_bytes=2), "YWI=", b"ab"),
           (sized("fixed_length_utf32", length_bytes=8), "é", element("<U2", "é")),
           (sized("numpy.datetime64", unit="s", scale_factor=1), "NaT", element("<i8", -2**63)),
           (sized("numpy.timedelta64", unit="us", scale_factor=10), -3, element("<i8", -3)),
           ("float32", "0x7fc00001", struct.pack("<I", 0x7FC00001)), ("float16", "0x3c00", element("<f2", 1)),
           ("bfloat16", 1.5, struct.pack("<H", 0x3FC0)), ("bfloat16", "NaN", struct.pack("<H", 0x7FC0)), ("r24", [1, 255, 0], b"\1\xff\0"),
           ("complex64", ["0x3f800000", "-Infinity"], element("<f4", 1) + element("<f4", -np.inf)), ("uint64", 2**64 - 1, b"\xff" * 8)]


@pytest.mark.parametrize(("dtype", "value", "stored"), FILLS_2)
def test_fill_values_of_version_2(dtype, value, stored, tmp_path) -> None:
    put(tmp_path, ".zarray", described_2(np.zeros((3, 2), dtype), (2, 2), fill_value=value))
    with opened(tmp_path) as file:
        assert content(whole(file, "")) == stored * 6


@pytest.mark.parametrize(("name", "value", "stored"), FILLS_3)
def test_fill_values_of_version_3(name, value, stored, tmp_path) -> None:
    put(tmp_path, "zarr.json", described_3(np.zeros((3, 2), "f4"), (2, 2), codecs_of(np.zeros(1)), data_type=name, fill_value=value))
    with opened(tmp_path) as file:
        assert content(whole(file, "")) == stored * 6


WRONG_FILLS = [("|u1", 256), ("|u1", -1), ("|i1", -129), ("<i4", 1.5), ("<i4", "1"), ("<f4", "nan"), ("<f4", "0x7fc0"), ("<f4", True),
               ("|b1", 1), ("|S2", "YWJj"), ("|S2", "YW"), ("|S2", "Y*=="), ("<U1", "ab"), ("<c8", [1]), ("<c8", [1, 2, 3]),
               ("<c8", [1, None]),
               ("<u8", 2**64), ("<i8", 2**63), ("<M8[s]", "nat")]


@pytest.mark.parametrize(("dtype", "value"), WRONG_FILLS)
def test_fill_values_that_are_none(dtype, value, tmp_path) -> None:
    put(tmp_path, ".zarray", described_2(np.zeros(3, dtype), (2,), fill_value=value))
    with opened(tmp_path) as file:
        file.all[0].complaint.must_be("file_malformed", "fill value")


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(("kind", "descr"), [
    (sized("null_terminated_bytes", length_bytes=4), "|S4"), (sized("fixed_length_utf32", length_bytes=8), "U2"),
    (sized("numpy.datetime64", unit="ns", scale_factor=1), "M8[ns]"), (sized("numpy.timedelta64", unit="generic", scale_factor=1), "m8")])
def test_types_of_numpy(kind, descr, big, tmp_path) -> None:
    dtype = np.dtype(descr if descr[0] == "|" else "<>"[big] + descr)
    array = random(dtype, (5, 3))
    write_3(tmp_path, array, (2, 3), data_type=kind, fill_value=0 if descr[0] in "Mm" else "",
            codecs=[{"name": "bytes", "configuration": {"endian": "big" if big else "little"}}])
    with opened(tmp_path) as file:
        same(file, "", array)
        assert (file.all[0].descr.decode(), file.all[0].swapped) == (repr(dtype.str), False)


# ---- hierarchies

A, B = random("<f4", (6, 3)), random(">i2", (4,))


def hierarchy(folder, version: int) -> dict:
    """Two groups with an array each, one in the store itself, and a directory that is no part of it."""
    group = (".zgroup", {"zarr_format": 2}) if version == 2 else ("zarr.json", {"zarr_format": 3, "node_type": "group"})
    write = write_2 if version == 2 else write_3
    for path in ("", "g", "g/h"):
        put(folder / path, *group)
    put(folder, "other/file", b"x")
    return {path: write(folder / path, array, chunks) for path, array, chunks in
            (("a", A, (4, 3)), ("g/b", B, (3,)), ("g/h/c", A, (2, 2)))}


def consolidate(folder, version: int, described: dict) -> None:
    if version == 2:
        entries = {".zgroup": {"zarr_format": 2}, "g/.zattrs": {"y": 1}, **{f"{path}/.zarray": what for path, what in described.items()}}
        put(folder, ".zmetadata", {"zarr_consolidated_format": 1, "metadata": entries})
    else:
        entries = {"g": {"zarr_format": 3, "node_type": "group"}, **described}
        put(folder, "zarr.json", {"zarr_format": 3, "node_type": "group", "consolidated_metadata": {
            "kind": "inline", "must_understand": False, "metadata": entries}})


@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("version", [2, 3])
def test_hierarchies(version, consolidated, tmp_path) -> None:
    store = tmp_path / "store.zarr"
    described = hierarchy(store, version)
    if consolidated:
        consolidate(store, version, described)
    for path, names in ((store, ["a", "g/b", "g/h/c"]), (f"{store}/", ["a", "g/b", "g/h/c"]), (store / "g", ["b", "h/c"]),
                        (store / "g" / "b", [""])):
        with opened(path) as file:
            assert file.names == names
    with opened(store) as file:
        for name, array in (("a", A), ("/a/", A), ("g/b", B), ("g/h/c", A)):
            same(file, name, array)
        with pytest.raises(GatherError) as caught:
            file.find("g/x")
        caught.value.must_be("name_not_found", "g/b")
    split, name, error = c.create_string_buffer(len(str(store)) + 10), c.c_char_p(), g.Error()
    check(LIB.gather_file_split(f"{store}:g/b".encode(), False, split, c.byref(name), c.byref(error)), error)
    assert (split.value, name.value) == (os.fsencode(store), b"g/b")
    assert {row["name"]: row["shape"] for row in answer("info", store)["tensors"]} == {"a": [6, 3], "g/b": [4], "g/h/c": [6, 3]}


def test_damage_is_that_of_one_array(tmp_path) -> None:
    hierarchy(tmp_path, 3)
    put(tmp_path, "g/bad/zarr.json", b"{")
    put(tmp_path, "g/worse/zarr.json", {"zarr_format": 4, "node_type": "array"})
    with opened(tmp_path) as file:
        assert file.names == ["a", "g/b", "g/bad", "g/h/c", "g/worse"]
        complaint(tmp_path, "g/bad").must_be("file_malformed", "JSON ends", 1)
        complaint(tmp_path, "g/worse").must_be("unsupported", "zarr_format")
        same(file, "a", A)


@pytest.mark.parametrize("path", ["../a", "a//b", "/a", "a/", ".", "a/./b", "a\0b"])
def test_paths_that_leave_the_store(path, tmp_path) -> None:
    consolidate(tmp_path, 3, {path: described_3(A, (2, 2), codecs_of(A))})
    failure(tmp_path).must_be("file_malformed")
    shutil.rmtree(tmp_path)
    consolidate(tmp_path, 2, {path: described_2(A, (2, 2))})
    failure(tmp_path).must_be("file_malformed")


def test_groups_are_bounded(tmp_path) -> None:
    at = tmp_path
    for _ in range(40):
        put(at, ".zgroup", {"zarr_format": 2})
        at /= "g"
    failure(tmp_path).must_be("unsupported", "deeper than 32")


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_links(tmp_path) -> None:
    store = tmp_path / "store"
    put(store, ".zgroup", {"zarr_format": 2})
    write_2(store / "a", A, (4, 3))
    write_2(tmp_path / "elsewhere", A, (4, 3))
    (store / "b").symlink_to(tmp_path / "elsewhere")
    (store / "a" / "0.0").rename(tmp_path / "chunk")
    (store / "a" / "0.0").symlink_to(tmp_path / "chunk")
    with opened(store) as file:
        same(file, "a", A)
        same(file, "b", A)
    file = g.open_source(g.source_of(store, no_links=True))
    assert [LIB.gather_file_at(file, i).contents.name for i in range(LIB.gather_file_len(file))] == [b"a"]
    found, error = c.POINTER(FileTensor)(), g.Error()
    assert LIB.gather_file_find_whole(file, b"a", c.byref(found), c.byref(error)) and "symbolic link" in error.message.decode()
    LIB.gather_file_close(file)


# ---- what is refused

SHARDS = {"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1], "codecs": codecs_of(A), "index_codecs": [
    {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}


def shards(**changes) -> list:
    return [{"name": "sharding_indexed", "configuration": {**SHARDS["configuration"], **changes}}]


REFUSED_2 = [
    ({"compressor": {"id": "lzma"}}, "unsupported", "'lzma'"), ({"filters": [{"id": "vlen-utf8"}]}, "unsupported", "'vlen-utf8'"),
    ({"filters": [{"id": "delta", "dtype": "<i4"}]}, "unsupported", "'delta'"), ({"compressor": {}}, "file_malformed", "no id"),
    ({"filters": 1}, "file_malformed", "list"), ({"dtype": [["a", "<i4"]]}, "unsupported", "fields"), ({"dtype": "|O"}, "unsupported", "'|O'"),
    ({"dtype": "<f3"}, None, "<f3"), ({"dtype": 3}, "file_malformed", "dtype"), ({"order": "K"}, "file_malformed", "order"),
    ({"chunks": [4]}, "file_malformed", "2 lengths"), ({"chunks": [0, 3]}, "file_malformed", "chunks"),
    ({"chunks": ...}, "file_malformed", "chunks"),
    ({"shape": [-1, 3]}, "file_malformed", "shape"), ({"shape": [2**62, 2**62]}, "file_malformed", "too large"),
    ({"shape": [1] * 99, "chunks": [1] * 99}, "unsupported", "dimensions"), ({"dimension_separator": "-"}, "file_malformed", "separator"),
    ({"chunks": [2**40, 3], "shape": [2**40, 3]}, "unsupported", "1 GiB"),
    ({"shape": [2**40, 3], "chunks": [1, 1]}, "unsupported", "2147483648"),
    ({"filters": [{"id": "shuffle"}] * 9}, "unsupported", "8 codecs"),
    ({"filters": [{"id": "shuffle", "elementsize": 0}]}, "file_malformed", "shuffle")]
REFUSED_3 = [
    ({"data_type": "string"}, "unsupported", "'string'"), ({"data_type": {"name": "struct"}}, "unsupported", "'struct'"),
    ({"data_type": sized("raw_bytes", length_bytes=0)}, "unsupported", "raw_bytes"),
    ({"data_type": sized("fixed_length_utf32", length_bytes=6)}, "unsupported", "utf32"),
    ({"data_type": sized("numpy.datetime64", unit="eon", scale_factor=1)}, "unsupported", "datetime64"),
    ({"data_type": "r12"}, "file_malformed", "12 bits"),
    ({"chunk_grid": {"name": "rectangular"}}, "unsupported", "'rectangular'"),
    ({"chunk_key_encoding": {"name": "x"}}, "unsupported", "'x'"),
    ({"storage_transformers": [{"name": "x"}]}, "unsupported", "storage_transformers"),
    ({"new": {"must_understand": True}}, "unsupported", "'new'"), ({"new": 1}, "unsupported", "'new'"),
    ({"codecs": []}, "file_malformed", "codec"), ({"codecs": [{"name": "vlen-utf8"}]}, "unsupported", "'vlen-utf8'"),
    ({"codecs": [*codecs_of(A), {"name": "x"}]}, "unsupported", "'x'"),
    ({"codecs": codecs_of(A) * 2}, "file_malformed", "'bytes'"), ({"codecs": [{"name": "bytes"}]}, "file_malformed", "neither little nor big"),
    ({"codecs": codecs_of(A, order=(0, 0))}, "file_malformed", "transpose"),
    ({"codecs": codecs_of(A, order=(0, 2))}, "file_malformed", "transpose"),
    ({"codecs": shards(codecs=[SHARDS])}, "unsupported", "shards in shards"),
    ({"codecs": [codecs_of(A, order=(1, 0))[0], SHARDS]}, "unsupported", "transposed"),
    ({"codecs": [SHARDS, {"name": "gzip"}]}, "unsupported", "whole shards"),
    ({"codecs": shards(chunk_shape=[3, 3])}, "file_malformed", "chunk length 3"),
    ({"codecs": shards(index_codecs=[{"name": "gzip"}])}, "unsupported", "'gzip'"),
    ({"codecs": shards(index_codecs=[])}, "file_malformed", "index"),
    ({"codecs": shards(index_location="middle")}, "file_malformed", "index_location"),
    ({"fill_value": ...}, "file_malformed", "fill_value"),
    ({"codecs": shards(chunk_shape=[1, 1]), "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4096, 4096]}}},
    "unsupported", "shards of more")]


@pytest.mark.parametrize(("changes", "status", "words"), REFUSED_2)
def test_refused_of_version_2(changes, status, words, tmp_path) -> None:
    put(tmp_path, ".zarray", described_2(A, (4, 3), **changes))
    with opened(tmp_path) as file:
        error = file.all[0].complaint
        error.must_be(status or error.status, words)
        assert error.file.endswith(".zarray") or "GiB" in words or words == "2147483648"


@pytest.mark.parametrize(("changes", "status", "words"), REFUSED_3)
def test_refused_of_version_3(changes, status, words, tmp_path) -> None:
    put(tmp_path, "zarr.json", described_3(A, (4, 3), codecs_of(A), **changes))
    with opened(tmp_path) as file:
        file.all[0].complaint.must_be(status, words)
        assert status != "unsupported" or words == "'new'" or "; save it as .npy: numpy.save('out.npy', zarr.open('FOLDER')[...])" in file.all[0].complaint.message


def test_a_refused_array_is_named(tmp_path) -> None:
    put(tmp_path, "zarr.json", {"zarr_format": 3, "node_type": "group"})
    put(tmp_path / "obs", "zarr.json", {"zarr_format": 3, "node_type": "group"})
    put(tmp_path / "obs/names", "zarr.json", described_3(A, (4, 3), codecs_of(A), data_type="string"))
    with opened(tmp_path) as file:
        file.all[0].complaint.must_be("unsupported", "the array 'obs/names': ")
        assert "zarr.open('FOLDER')['NAME'][...]" in file.all[0].complaint.message


def test_what_may_be_overlooked(tmp_path) -> None:
    write_3(tmp_path, A, (4, 3), new={"must_understand": False, "x": [1]}, dimension_names=["a", None], storage_transformers=[])
    with opened(tmp_path) as file:
        same(file, "", A)


@pytest.mark.parametrize(("text", "status", "words"), [
    (b"", "file_malformed", "ends"), (b"[]", "file_malformed", "expected"),
    (b'{"zarr_format": 3, "zarr_format": 3}', "file_malformed", "twice"),
    (b'{"zarr_format": 3, "node_type": "array", "x": ' + b"[" * 33 + b"]" * 33 + b"}", "unsupported", "deeper"),
    (b'{"zarr_format": 3}', "file_malformed", "node_type"), (b'{"zarr_format": "3"}', "unsupported", "zarr_format"),
    (b'{"\xff": 1}', "file_malformed", "UTF-8"),
    (b'{"zarr_format": 3, "node_type": "group"} x', "file_malformed", "after"), (b" " * (16 << 20) + b"{}", "unsupported", "16777216")])
def test_metadata_that_are_none(text, status, words, tmp_path) -> None:
    put(tmp_path, "zarr.json", text)
    failure(tmp_path).must_be(status, words)


# ---- damaged chunks

def refusal(folder) -> GatherError:
    with opened(folder) as file, pytest.raises(GatherError) as caught:
        whole(file, "")
    return caught.value


def test_chunks_of_another_length(tmp_path) -> None:
    write_2(tmp_path, A, (4, 3))
    for content_ in (b"", bytes(47), bytes(49)):
        put(tmp_path, "1.0", content_)
        refusal(tmp_path).must_be("file_malformed", f"{len(content_)} bytes")
        assert refusal(tmp_path).file.endswith("1.0")
    (tmp_path / "1.0").unlink()
    (tmp_path / "1.0").mkdir()
    refusal(tmp_path).must_be("io_error", "regular file")


@pytest.mark.parametrize("at_start", [False, True])
def test_shards_that_are_damaged(at_start, tmp_path) -> None:
    write_3(tmp_path, A, (2, 3), (4, 3), at_start=at_start)
    shard = tmp_path / "c" / "0" / "0"
    good = shard.read_bytes()
    index = 0 if at_start else len(good) - 36

    def changed(entry: bytes, sums: bool = True) -> GatherError:
        made = entry + good[index + 16 : index + 32]
        tail = struct.pack("<I", crc32c(made)) if sums else good[index + 32 : index + 36]
        shard.write_bytes(good[:index] + made + tail + good[index + 36 :])
        return refusal(tmp_path)

    error = changed(struct.pack("<QQ", 0, 1), False)
    error.must_be("file_malformed", "CRC-32C is", index + 32)
    assert error.file == str(shard)
    for entry in ((len(good) + 1, 0), (len(good), 1), (0, 2**64 - 1), (2**64 - 1, 0), (2**63, 2**63), (2**64 - 2, 24)):
        changed(struct.pack("<QQ", *entry)).must_be("file_malformed", "the file ends at", index)
    changed(struct.pack("<QQ", 0, 23)).must_be("file_malformed", "23 bytes")
    for length in (0, 1, 35):
        shard.write_bytes(good[:length])
        refusal(tmp_path).must_be("file_malformed", "truncated", length)
    shard.unlink()
    with opened(tmp_path) as file:
        same(file, "", filled(A, (4, 3), (0,), 0, (2, 3)))


def test_empty_arrays(tmp_path) -> None:
    put(tmp_path, ".zgroup", {"zarr_format": 2})
    put(tmp_path, "a/.zarray", described_2(np.zeros((0, 3)), (1, 1)))
    put(tmp_path, "b/zarr.json", described_3(np.zeros((3, 0)), (1, 1), codecs_of(np.zeros(1))))
    put(tmp_path, "c/zarr.json", described_3(np.zeros((3, 0)), (2, 2), shards()))
    with opened(tmp_path) as file:
        assert [(tensor.shape, tensor.bytes, tensor.complaint) for tensor in file.all] == [((0, 3), 0, None), ((3, 0), 0, None),
            ((3, 0), 0, None)]


# ---- zip files

def packed(folder, target, compression: int = zipfile.ZIP_STORED):
    with zipfile.ZipFile(target, "w", compression) as made:
        for path in sorted(folder.rglob("*")):
            made.write(path, path.relative_to(folder))
    return target


@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("version", [2, 3])
def test_zip_files(version, consolidated, tmp_path) -> None:
    folder = tmp_path / "store"
    described = hierarchy(folder, version)
    write_3(folder / "s", A, (2, 3), (4, 3), left_out=(1,)) if version == 3 else write_2(folder / "s", A, (4, 3), left_out=(1,))
    described["s"] = json.loads((folder / "s" / ("zarr.json" if version == 3 else ".zarray")).read_text())
    if consolidated:
        consolidate(folder, version, described)
    path = packed(folder, tmp_path / "store.zip")
    for source in (path, path.read_bytes()):
        with opened(source) as file:
            assert file.format == "zarr" and file.names == ["a", "g/b", "g/h/c", "s"]
            for name, array in (("a", A), ("g/b", B), ("/g/h/c", A), ("s", filled(A, (4, 3), (1,), 0, (2, 3) if version == 3 else None))):
                same(file, name, array)
    call("take", f"{path}:g/b", "[3, 0]", "-o", tmp_path / "rows.npy")
    assert np.array_equal(np.load(tmp_path / "rows.npy"), B[[3, 0]])


def test_zip_files_that_are_none(tmp_path) -> None:
    write_2(tmp_path / "root", A, (4, 3))
    write_2(tmp_path / "deep" / "g", A, (4, 3))
    put(tmp_path / "bad", ".zgroup", {"zarr_format": 2})
    put(tmp_path / "bad", "a/.zarray", b"{")
    failure(packed(tmp_path / "deep", tmp_path / "deep.zip")).must_be("unsupported", "not in a folder")
    failure(packed(tmp_path / "root", tmp_path / "root.zip", zipfile.ZIP_DEFLATED)).must_be("unsupported", "is compressed")
    complaint(packed(tmp_path / "bad", tmp_path / "bad.zip"), "a").must_be("file_malformed", "bad.zip/a/.zarray")
    put(tmp_path / "root", "0.0", bytes(47))
    refusal(packed(tmp_path / "root", tmp_path / "root.zip")).must_be("file_malformed", "47 bytes")
    put(tmp_path / "root", "0.npy", b"")
    with opened(packed(tmp_path / "root", tmp_path / "root.zip")) as file:
        assert file.format == "npz"


# ---- on other machines

@pytest.fixture
def urls() -> None:
    if remote_files.why_no_urls():
        skip_test("http", remote_files.why_no_urls())


@pytest.mark.usefixtures("urls")
@pytest.mark.parametrize("version", [2, 3])
def test_servers(version, tmp_path) -> None:
    """Consolidated metadata are one request more in version 2; a missing chunk is the fill value; each shard's index is read once."""
    folder = tmp_path / "s.zarr"
    described = hierarchy(folder, version)
    write_3(folder / "a b", A, (2, 3), (4, 3), left_out=(1,)) if version == 3 else write_2(folder / "a b", A, (4, 3), left_out=(1,))
    described["a b"] = json.loads((folder / "a b" / ("zarr.json" if version == 3 else ".zarray")).read_text())
    consolidate(folder, version, described)
    with HttpServer(folder=tmp_path) as server:
        with remote_files.opened(server.url("/s.zarr")) as file:
            assert server.requests == (1 if version == 3 else 2) and file.format == "zarr" and file.names == ["a", "a b", "g/b", "g/h/c"]
            for name, array in (("a", A), ("g/b", B), ("a b", filled(A, (4, 3), (1,), 0, (2, 3) if version == 3 else None))):
                same(file, name, array)
        for url in ("/s.zarr/g/b", "/s.zarr/g/b/"):
            with remote_files.opened(server.url(url)) as file:
                same(file, "", B)
        for ids in ([3, 0], [2]):
            call("take", server.url("/s.zarr") + ":g/b", json.dumps(ids), "-f", "-o", tmp_path / "rows.npy")
            assert np.array_equal(np.load(tmp_path / "rows.npy"), B[ids])


@pytest.mark.usefixtures("urls")
def test_servers_that_have_no_store(tmp_path) -> None:
    hierarchy(tmp_path / "s.zarr", 3)
    with HttpServer(folder=tmp_path) as server:
        for url, status, words in (("/s.zarr", "unsupported", "no consolidated metadata"), ("/t.zarr", "file_not_found", ".zarray"),
                                   ("/s.zarr/other/x.npy", "file_not_found", "x.npy")):
            with pytest.raises(GatherError) as caught, remote_files.opened(server.url(url)):
                pass
            caught.value.must_be(status, words)
        put(tmp_path / "s.zarr" / "a", "zarr.json", described_3(A, (1, 1), codecs_of(A), shape=[1 << 16, 2]))
        with remote_files.opened(server.url("/s.zarr/a")) as file:
            file.all[0].complaint.must_be("unsupported", "131072 files")


# ---- rows

IDS = [4, 0, 4, 9, 3, 2, 7, 9]
ROWS = [(write_2, {"compressor": "zlib", "order": "F"}), (write_2, {"order": "F", "dimension_separator": "/"}), (write_2, {}),
        (write_3, {"compressor": "gzip", "sums": True}), (write_3, {"order": (1, 0)}), (write_3, {"shards": (6, 8)}),
        (write_3, {"shards": (6, 8), "compressor": "gzip", "at_start": True}),
        (write_3, {"shards": (6, 4), "order": (1, 0), "index_sums": False})]


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "u1"])
@pytest.mark.parametrize(("write", "how"), ROWS)
def test_rows_of_tables(write, how, dtype, tmp_path) -> None:
    array, chunks, left_out = random(dtype, (10, 7)), (3, 4), (1, 2)
    write(tmp_path / "store" / "g", array, chunks, left_out=left_out, fill_value=9, **how)
    put(tmp_path / "store", ".zgroup", {"zarr_format": 2})
    shards = how.get("shards")
    wanted = filled(array, shards or chunks, left_out, 9, chunks if shards else None)
    for name in ("store:g", "store/g"):
        np.save(tmp_path / "ids.npy", np.array(IDS))
        call("take", f"{tmp_path}/{name}", tmp_path / "ids.npy", "-o", tmp_path / "rows.npy", "-f")
        rows = np.load(tmp_path / "rows.npy")
        assert rows.dtype == wanted.dtype.newbyteorder("=") or rows.dtype == wanted.dtype
        assert np.array_equal(rows, wanted[IDS])
