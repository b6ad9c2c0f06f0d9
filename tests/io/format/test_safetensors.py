# SPDX-License-Identifier: MIT
"""safetensors files that their own library wrote: every dtype, names, shapes, and what the command makes of them; damaged ones."""
import struct

import ml_dtypes  # noqa: F401  (dtypes by name)
import numpy as np
import pytest
import safetensors as theirs
import safetensors.numpy as written
from gather_files import OPAQUE, GatherError, content, type_number
from support.command import answer, call
from support.skip import needs
from tensor_files import complaint, described, formats, opened, outcome, safetensors

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


# ---- safetensors files that are cut, changed or say what cannot be, each with its byte; their own reader as the judge.

GOOD = described("U8", [1], 0, 1)

# A header, the text in it whose byte is named (or a number), and words of the complaint. The data are one byte.
BAD = [
    (f'{{"a":{GOOD}', -1, "the JSON ends; expected '}'|the JSON ends; expected ','"),
    (f'{{"a":{GOOD},}}', "}", "expected '\"'"),
    (f'{{"a" {GOOD}}}', '{"dtype', "expected ':'"),
    (f'{{"a":{GOOD} "b":{GOOD}}}', '"b"', "expected ','"),
    (f'{{a:{GOOD}}}', "a:", "expected '\"'"),
    ('{"a":}', "}", "expected a value"),
    ('{"a":"b', -1, "ends within a value"),
    ('{"a":{"b":[1}', -1, "ends within a value"),
    (f'{{"a":{GOOD}}}x', "x", "after the JSON"),
    (f'{{"a":{GOOD}}}\0', "\0", "after the JSON"),
    (f'{{"a":{GOOD}}}{{}}', "{}", "after the JSON"),
    ('{\x01:1}', "\x01", "found byte 1"),
    ('{"a":1}', "1}", "is not an object"),
    ('{"a":NaN}', "NaN", "is not an object"),
    (f'{{"a":{GOOD},"a":{GOOD}}}', ',"a"', "after the header|given twice"),
    (f'{{"a":{described("U8", [1], 0, 1)},"a":{described("U8", [0], 1, 1)}}}', ',"a"', "given twice"),
    (f'{{"a":{described("U8", [1], 0, 1)},"\\u0061":{described("U8", [0], 1, 1)}}}', ',"\\u', "given twice"),
    (f'{{"a\\u0000":{GOOD}}}', '"a', "zero byte"),
    (f'{{"a\nb":{GOOD}}}', "\n", "unexpected newline"),
    (f'{{"a\x1fb":{GOOD}}}', "\x1f", "control character"),
    (f'{{"\\x":{GOOD}}}', None, "invalid escape"),
    (f'{{"\\ud800":{GOOD}}}', None, "invalid Unicode"),
    ('{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', None, "duplicate"),
    ('{"a":{"dtype":NaN,"shape":[1],"data_offsets":[0,1]}}', None, "invalid token"),
    ('{"a":{"dtype":"U8","shape":[1e999],"data_offsets":[0,1]}}', None, "real number overflow"),
    ('{"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]}}', None, "too big integer"),
    ('{"a":{"x":' + "[" * 3000 + "]" * 3000 + "}}", None, "maximum parsing depth"),
    ('{"a":{"shape":[1],"data_offsets":[0,1]}}', '"a"', "no dtype"),
    ('{"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}}', '"a"', "no dtype"),
    ('{"a":{"dtype":"","shape":[1],"data_offsets":[0,1]}}', '"a"', "no dtype"),
    ('{"a":{"dtype":"U8","data_offsets":[0,1]}}', '"a"', "no shape"),
    ('{"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}}', '"a"', "no shape"),
    ('{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}', '"a"', "non-negative integer"),
    ('{"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}}', '"a"', "non-negative integer"),
    ('{"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}}', '"a"', "non-negative integer"),
    ('{"a":{"dtype":"U8","shape":[1]}}', '"a"', "data_offsets"),
    ('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}}', '"a"', "data_offsets"),
    ('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}}', '"a"', "data_offsets"),
    ('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1.0]}}', '"a"', "data_offsets"),
    ('{"a":{"dtype":"U8","shape":[1],"data_offsets":{"0":1}}}', '"a"', "data_offsets"),
    (f'{{"a":{described("U8", [1], -1, 0)}}}', '"a"', "not a range"),
    (f'{{"a":{described("U8", [1], 1, 0)}}}', '"a"', "not a range"),
    (f'{{"a":{described("U8", [2], 0, 1)}}}', '"a"', "needs 2 bytes, its data_offsets give it 1"),
    (f'{{"a":{described("F4", [1], 0, 0)}}}', '"a"', "needs 1 bytes"),
    (f'{{"a":{described("F64", [1 << 62, 1 << 62], 0, 1)}}}', '"a"', "64 bits"),
    (f'{{"a":{described("F64", [1 << 61], 0, 1)}}}', '"a"', "64 bits"),
    (f'{{"a":{described("U8", [0], 0, 0)},"b":{described("U8", [0], 1, 1)}}}', '"b"', "leaves a gap"),
    (f'{{"a":{described("U8", [1], 0, 1)},"b":{described("U8", [1], 0, 1)}}}', '"b"', "inside another"),
    (f'{{"a":{described("U8", [2], 0, 2)}}}', -2, "truncated"),
    (f'{{"a":{described("U8", [1 << 62], 0, 1 << 62)}}}', -2, "truncated"),
    ("{}", -3, "1 bytes after the last tensor belong to no tensor"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_headers_that_are_wrong(number: int) -> None:
    """Byte: of a text's last occurrence (behind its comma); -1 the header's end; -2 the file's end; -3 the first byte of the data;
    None: Jansson's, which is held to lie within the header."""
    header, where, words = BAD[number]
    source = safetensors(header.encode(), b"x")
    error = complaint(source)
    assert error.status == "file_malformed" and any(word in error.message for word in words.split("|")), error.message
    end = 8 + len(header.encode())
    if isinstance(where, str):
        assert error.offset == 8 + header.encode().rindex(where.encode()) + where.startswith(",")
    elif where is None:
        assert 8 < error.offset < end
    else:
        assert error.offset == {-1: end, -2: end + 1, -3: end}[where]


def test_the_byte_that_jansson_stumbled_over() -> None:
    """In the middle of a header, so that a byte counted from the value's own beginning would be another."""
    before = f'{{"first":{described("U8", [0], 0, 0)},"a":'
    cases = {'{"dtype":tru,"b":1}': "tru", '{"dtype":"U8" "b":1}': '"b"', '{"dtype":"\t"}': "\t", '{"b":01}': "01"}
    for value, wrong in cases.items():
        error = complaint(safetensors(f"{before}{value}}}".encode(), b""))
        begin = 8 + len(before) + value.index(wrong)
        assert begin <= error.offset < begin + len(wrong), (value, error.offset, begin)


def test_bytes_that_are_no_utf8() -> None:
    header = f'{{"a":{GOOD},"b'.encode()
    for wrong in (b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"):
        error = complaint(safetensors(header + wrong + b'":1}', b"x"))
        assert error.status == "file_malformed" and error.offset == 8 + len(header) and "UTF-8" in error.message


def test_more_dimensions_than_there_may_be() -> None:
    for rank, status in ((64, None), (65, "unsupported")):
        source = safetensors(f'{{"a":{described("U8", [1] * rank, 0, 1)}}}'.encode(), b"x")
        if status is None:
            assert outcome(source) == {"a": ((1,) * 64, b"x")}
        else:
            assert complaint(source).status == status and complaint(source).offset == 9


def test_a_description_that_never_ends() -> None:
    source = safetensors(f'{{"a":{{"x":[{"1," * (1 << 19)}1]}}}}'.encode(), b"")
    assert complaint(source).status == "unsupported" and complaint(source).offset == 13


@pytest.mark.parametrize("length, size", [(100_000_001, 20), ((1 << 32) - 1, 20), (1 << 20, 20), (13, 20)])
def test_headers_longer_than_the_file_or_the_format_allows(length: int, size: int) -> None:
    error = complaint(struct.pack("<Q", length) + b"{" + b" " * (size - 9))
    assert error.status == "file_malformed"
    if length > 100_000_000:
        assert error.offset == 0 and "100000000" in error.message
    else:
        assert error.offset == size and "truncated" in error.message


def test_lengths_that_no_file_has() -> None:
    """These bytes are not taken for a safetensors file at all."""
    for length in (1 << 32, 1 << 63, (1 << 64) - 1):
        assert complaint(struct.pack("<Q", length) + b"{}").status == "unsupported"


def test_cut_at_every_byte() -> None:
    source = written.save({"emb": np.arange(12, dtype=np.float32).reshape(4, 3), "b": np.ones(3, np.int8)})
    assert isinstance(outcome(source), dict)
    for size in range(len(source)):
        assert outcome(source[:size]) == ("file_malformed" if size > 8 or size == 0 else "unsupported")


def as_theirs(source: bytes) -> dict | None:
    try:
        return {name: (tuple(t["shape"]), bytes(t["data"])) for name, t in theirs.deserialize(source)}
    except (theirs.SafetensorError, UnicodeDecodeError):
        return None


def test_every_byte_changed() -> None:
    """What is opened is what their library reads, and what is refused it refuses too. It refuses more: dtypes that it does not know,
    and metadata that say nothing of tensors."""
    source = written.save({"emb": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(3, np.int8)}, {"k": "v"})
    metadata = range(source.index(b'{"k"'), source.index(b',"emb"'))
    dtypes = [at + i for name in (b'"F32"', b'"I8"') for at in [source.index(name)] for i in range(1, len(name) - 1)]
    answers = refusals = 0
    for at in range(len(source)):
        for value in {0, 34, 44, 48, 49, 57, 91, 93, 123, 125, 127, 255, source[at] ^ 1, source[at] ^ 4, (source[at] + 1) & 255}:
            changed = source[:at] + bytes([value]) + source[at + 1:]
            ours, expected = outcome(changed), as_theirs(changed)
            if isinstance(ours, dict):
                answers += 1
                assert ours == expected or (expected is None and (at in metadata or at in dtypes)), changed
            else:
                refusals += 1
                assert expected is None, changed
    assert answers > len(source) and refusals > len(source)


def test_headers_of_hundred_megabytes_are_bounded_in_memory_and_time() -> None:
    """Half a million lists in the metadata, which a tree of JSON would turn into hundreds of megabytes; names that share all but
    their ends."""
    value = "[" + "[]," * 500_000 + "[]]"
    source = safetensors(f'{{"__metadata__":{value},"t":{GOOD}}}'.encode(), b"x")
    with opened(source) as file:
        assert content(file["t"]) == b"x"
    prefix = "n" * 20000
    members = ",".join(f'"{prefix}{i}":{described("U8", [0], 0, 0)}' for i in range(200))
    with opened(safetensors(f"{{{members}}}".encode())) as file:
        assert len(file.all) == 200


def test_errors_name_the_file(tmp_path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(safetensors(b'{"a":1}'))
    with pytest.raises(GatherError) as caught:
        with opened(path):
            pass
    assert caught.value.file == str(path) and caught.value.offset == 13 and "at byte 13" in caught.value.message
