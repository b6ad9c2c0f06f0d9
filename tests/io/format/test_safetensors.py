# SPDX-License-Identifier: MIT
"""safetensors files that their own library wrote: every dtype, names, shapes, and what the command makes of them."""

import ml_dtypes  # noqa: F401  (dtypes by name)
import numpy as np
import pytest
import safetensors as theirs
import safetensors.numpy as written
from gather_files import OPAQUE, content, type_number
from support.command import answer, call
from support.skip import needs
from tensor_files import described, formats, opened, safetensors

# What their library writes of NumPy's arrays, and what they are called here.
DTYPES = ["bool", "uint8", "int8", "int16", "uint16", "float16", "bfloat16", "int32", "uint32", "float32", "float64",
          "int64", "uint64", "complex64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"]
# What only their reader knows, with the bits of an element.
PACKED = {"F4": ("float4_e2m1fn", 4), "F6_E2M3": ("float6_e2m3fn", 6), "F6_E3M2": ("float6_e3m2fn", 6)}


needs_safetensors = needs("jansson", "safetensors" in formats(), "this build reads no safetensors")


def table(dtype: str, shape=(5, 3)) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 7 + 1).reshape(shape).astype(np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_of_arrays(dtype: str, tmp_path) -> None:
    array = table(dtype)
    written.save_file({"t": array, "other": table("int8")}, tmp_path / "a.safetensors", metadata={"format": "np", "a": "\u00fc\n"})
    with opened(tmp_path / "a.safetensors") as file:
        tensor = file["t"]
        assert file.format == "safetensors" and sorted(file.names) == ["other", "t"]
        assert tensor.tensor.type == type_number(dtype) and tensor.type_name.decode() == dtype and tensor.descr is None
        assert tensor.shape == array.shape and not tensor.swapped and tensor.complaint is None
        assert content(tensor) == array.tobytes()
        source = (tmp_path / "a.safetensors").read_bytes()
        assert source[tensor.offset:tensor.offset + tensor.bytes] == array.tobytes()


@pytest.mark.parametrize("dtype", PACKED)
def test_dtypes_of_less_than_a_byte(dtype: str) -> None:
    name, bits = PACKED[dtype]
    data = bytes(range(100, 100 + 8 * bits // 8))
    source = safetensors(f'{{"t":{described(dtype, [2, 4], 0, len(data))}}}'.encode(), data)
    assert dict(theirs.deserialize(source))["t"]["data"] == data
    with opened(source) as file:
        assert file["t"].type_name.decode() == name and file["t"].shape == (2, 4) and content(file["t"]) == data


def test_shapes_of_all_kinds(tmp_path) -> None:
    arrays = {"scalar": np.array(3.5), "none": np.zeros((0, 3), np.int16), "one": np.ones(1, np.uint8),
              "deep": np.arange(64, dtype=np.int32).reshape((1, 2) * 6), "empty too": np.zeros((2, 0, 1), np.float32)}
    written.save_file(arrays, tmp_path / "a")
    with opened(tmp_path / "a") as file:
        assert len(file.all) == len(arrays)
        for name, array in arrays.items():
            assert file[name].shape == array.shape and file[name].array(array.dtype).tobytes() == array.tobytes()


def test_a_file_without_tensors() -> None:
    for source in (written.save({}), written.save({}, {"only": "metadata"})):
        with opened(source) as file:
            assert file.all == []


NAMES = ["a.b.0.weight", "\u00e9t\u00e9 \U0001f600", "with \"quotes\" \\ and /", "line\nend\t\x01", "", "__metadata_", "a" * 5000]


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str, tmp_path) -> None:
    array = table("float32")
    written.save_file({name: array, "z": array + 1}, tmp_path / "a")
    with opened(tmp_path / "a") as file:
        assert sorted(file.names) == sorted([name, "z"])
        assert content(file.all[file.names.index(name)]) == array.tobytes()
        assert name == "" or content(file[name]) == array.tobytes()


def test_escapes_and_white_space_in_headers_of_other_writers() -> None:
    text = (' \t\r\n"\\u00e9\\ud83d\\ude00\\/"\n:\r{ "shape" : [ 2 ] , "extra":[{"x":null}, -1.5e3],"data_offsets":[0 ,2 ],'
            '"dtype":"U8" }')
    source = safetensors(f'{{"__metadata__" :{{"a":"}}]\\"{{"}},{text}\n}}   \n'.encode(), b"\x07\x08")
    with opened(source) as file:
        assert file.names == ["\u00e9\U0001f600/"] and content(file.all[0]) == b"\x07\x08"


def test_metadata_are_passed_over() -> None:
    """Also those that their own library refuses, since they say nothing of tensors."""
    deep = '{"a":' * 3000 + "1" + "}" * 3000
    for value in ("null", "{}", "[" * 100000 + "]" * 100000, deep, '"' + "x" * 3_000_000 + '"', "1e999"):
        source = safetensors(f'{{"__metadata__":{value},"t":{described("U8", [1], 0, 1)}}}'.encode(), b"x")
        with opened(source) as file:
            assert file.names == ["t"] and content(file["t"]) == b"x"


def test_a_dtype_that_is_not_known() -> None:
    """Its elements are bytes, where they are of whole bytes; else only this tensor cannot be read."""
    header = (f'{{"a":{described("I128", [2, 3], 0, 96)},"b":{described("I4", [3], 96, 98)},"c":{described("X", [0], 98, 98)},'
              f'"d":{described("U8", [1], 98, 99)}}}')
    source = safetensors(header.encode(), bytes(range(99)))
    with opened(source) as file:
        a, b, c, d = file.all
        assert (a.tensor.type, a.tensor.item_bytes, a.type_name, a.descr, a.shape) == (OPAQUE, 16, b"I128", b"'|V16'", (2, 3))
        assert content(a) == bytes(range(96)) and c.bytes == 0 and c.complaint is None and content(d) == b"\x62"
        assert b.complaint.status == "unsupported" and "'I4'" in b.complaint.message
        assert b.complaint.offset == source.index(b'"b"') and not b.tensor.data


def test_rows_at_odd_places() -> None:
    """Headers that are not padded, as some writers make them: elements begin at any byte."""
    array = table("float64")
    for spaces in range(8):
        header = f'{{"t":{described("F64", [5, 3], 0, 120)}}}{" " * spaces}'
        with opened(safetensors(header.encode(), array.tobytes())) as file:
            assert file["t"].array(array.dtype).tobytes() == array.tobytes()


def test_a_file_of_many_tensors(tmp_path) -> None:
    """Names that stand twice are looked for, but not by comparing each with each."""
    count = 20000
    members = ",".join(f'"layers.{i * 7919 % count}.weight":{described("U8", [1], i, i + 1)}' for i in range(count))
    source = safetensors(f"{{{members}}}".encode(), bytes(i & 255 for i in range(count)))
    with opened(source) as file:
        assert len(file.all) == count and content(file["layers.7919.weight"]) == b"\x01"


# ---- the command


def test_the_command(tmp_path) -> None:
    array = table("float16", (50, 8))
    path = tmp_path / "model.safetensors"
    written.save_file({"emb": array, "bias": table("int32", (4,))}, path)
    info = answer("info", path)
    assert info["format"] == "safetensors"
    rows = {row["name"]: row for row in info["tensors"]}
    assert rows["emb"]["type"] == "float16" and rows["emb"]["shape"] == [50, 8] and rows["emb"]["bytes"] == 800
    done = call("take", f"{path}:emb", "[3, 0, 49]", "-o", tmp_path / "o.npy")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "o.npy"), array[[3, 0, 49]])
    done = call("take", f"{path}:embb", "[3]", "-o", tmp_path / "p.npy")
    assert done.returncode != 0 and "'emb'" in done.stderr
