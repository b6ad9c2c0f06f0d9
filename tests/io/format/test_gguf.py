# SPDX-License-Identifier: MIT
"""GGUF files that their own package wrote: every type of tensors and metadata, either byte order, alignments; models in several files;
damaged ones."""
import ctypes as c
import json
import struct
from pathlib import Path

import gguf as theirs
import numpy as np
import pytest
import remote_files
from gather_files import LIB, OPAQUE, P, Error, GatherError, content, type_number
from gguf_files import ARRAY, FLOAT32, FLOAT64, INT32, INT8, STRING, UINT16, UINT32, UINT64, UINT8, Gguf
from support.command import answer, call
from support.http_server import HttpServer
from support.skip import skip_test
from tensor_files import complaint, opened, outcome

ORDERS = {"little": theirs.GGUFEndian.LITTLE, "big": theirs.GGUFEndian.BIG}
NAMED = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64", "I8": "int8", "I16": "int16", "I32": "int32",
         "I64": "int64"}


def save(path, tensors: dict, order: str = "little", fill=None) -> None:
    """tensors: an array, or an array of bytes with the type that they are of."""
    writer = theirs.GGUFWriter(path, "test", endianess=ORDERS[order])
    if fill:
        fill(writer)
    for name, tensor in tensors.items():
        array, kind = tensor if isinstance(tensor, tuple) else (tensor, None)
        writer.add_tensor(name, array.copy(), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", [kind for kind in NAMED if kind != "BF16"])
def test_types_with_a_name(kind: str, order: str, tmp_path) -> None:
    array = np.arange(60).reshape(5, 4, 3).astype(NAMED[kind])
    save(tmp_path / "a.gguf", {"first": np.ones(3, np.float32), "t": array}, order)
    with opened(tmp_path / "a.gguf") as file:
        tensor = file["t"]
        assert file.format == "gguf" and file.names == ["first", "t"]
        assert tensor.tensor.type == type_number(NAMED[kind]) and tensor.type_name.decode() == NAMED[kind] and tensor.descr is None
        assert tensor.shape == array.shape and tensor.swapped == (order == "big" and kind != "I8")
        assert content(tensor) == array.astype(array.dtype.newbyteorder(">" if order == "big" else "<")).tobytes()
        reader = {t.name: t for t in theirs.GGUFReader(tmp_path / "a.gguf").tensors}
        assert tensor.offset == reader["t"].data_offset and tensor.bytes == reader["t"].n_bytes


# Later versions of the package may know more types than this library was written with. Its size of Q8_1 is out of date (gguf.def).
BLOCKS = [
    kind for kind in theirs.GGMLQuantizationType if (kind.name not in NAMED or kind.name == "BF16") and kind <= 41 and kind.name != "Q8_1"
]


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.name)
def test_types_of_blocks(kind: theirs.GGMLQuantizationType, tmp_path) -> None:
    block_len, block_bytes = theirs.GGML_QUANT_SIZES[kind]
    raw = (np.arange(2 * 3 * 4 * block_bytes) * 7 % 251).astype(np.uint8).reshape(2, 3, 4 * block_bytes)
    save(tmp_path / "a", {"q": (raw, kind), "last": np.ones(3, np.float32)})
    reader = theirs.GGUFReader(tmp_path / "a").tensors[0]
    assert list(reader.shape) == [4 * block_len, 3, 2] and bytes(reader.data) == raw.tobytes()
    with opened(tmp_path / "a") as file:
        tensor = file["q"]
        assert content(tensor) == raw.tobytes() and tensor.shape == (2, 3, 4) and tensor.bytes == raw.nbytes
        if kind.name == "BF16":
            assert tensor.type_name == b"bfloat16" and tensor.tensor.type == type_number("bfloat16")
        else:
            assert (tensor.tensor.type, tensor.tensor.item_bytes) == (OPAQUE, block_bytes)
            assert tensor.type_name.decode() == kind.name and tensor.descr.decode() == f"'|V{block_bytes}'"
        assert content(file["last"]) == np.ones(3, np.float32).tobytes()


def test_rows_that_were_quantised(tmp_path) -> None:
    """Of a table of 256 columns, each row that is taken is a row that can be made numbers again."""
    table = np.random.default_rng(1).standard_normal((6, 256)).astype(np.float32)
    kind = theirs.GGMLQuantizationType.Q8_0
    save(tmp_path / "a", {"emb": (theirs.quantize(table, kind), kind)})
    with opened(tmp_path / "a") as file:
        rows = np.frombuffer(content(file["emb"]), np.uint8).reshape(6, -1)
        assert np.abs(theirs.dequantize(rows[[4, 1]], kind) - table[[4, 1]]).max() < 0.05


def metadata(writer: theirs.GGUFWriter) -> None:
    for kind, value in (("uint8", 200), ("int8", -2), ("uint16", 60000), ("int16", -3), ("uint32", 4_000_000_000),
                        ("int32", -4), ("float32", 0.5), ("uint64", 1 << 63), ("int64", -5), ("float64", 1e300), ("bool", True),
                        ("string", "GGUF \u00e9 \0 " * 50)):
        getattr(writer, f"add_{kind}")(f"test.{kind}", value)
    for name, values in (("ints", [1, 2, 3]), ("floats", [0.5, 1.5]), ("texts", ["a", "", "\u00e9" * 100]),
                         ("bools", [True, False]), ("bytes", b"abc")):
        writer.add_array(f"test.{name}", values)


@pytest.mark.parametrize("order", ORDERS)
def test_metadata_of_every_type(order: str, tmp_path) -> None:
    array = np.arange(12, dtype=np.int16).reshape(4, 3)
    save(tmp_path / "a", {"t": array}, order, metadata)
    with opened(tmp_path / "a") as file:
        assert content(file["t"]) == array.astype(">i2" if order == "big" else "<i2").tobytes()


@pytest.mark.parametrize("alignment", [1, 8, 16, 64, 4096])
def test_alignments(alignment: int, tmp_path) -> None:
    def align(writer: theirs.GGUFWriter) -> None:
        writer.add_custom_alignment(alignment)

    arrays = {f"t{i}": np.arange(5 + i, dtype=np.int8) for i in range(4)}
    save(tmp_path / "a", arrays, fill=align)
    with opened(tmp_path / "a") as file:
        for name, array in arrays.items():
            assert content(file[name]) == array.tobytes() and file[name].offset % alignment == 0


def test_one_file_of_a_split_model(tmp_path) -> None:
    writer = theirs.GGUFWriter(tmp_path / "m.gguf", "test", split_max_tensors=2)
    arrays = {f"t{i}": np.arange(8, dtype=np.float32) + i for i in range(5)}
    for name, array in arrays.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = {}
    files = sorted(tmp_path.glob("*.gguf"))
    assert len(files) == 3
    for path in files:
        with opened(path) as file:
            found |= {name: content(file[name]) for name in file.names}
    assert found == {name: array.tobytes() for name, array in arrays.items()}


def test_a_file_without_tensors(tmp_path) -> None:
    save(tmp_path / "vocabulary", {}, fill=metadata)
    for source in (tmp_path / "vocabulary", Gguf().head(), Gguf(">").add("a.b", UINT8, 1).head()):
        with opened(source) as file:
            assert file.format == "gguf" and file.all == []


def test_shapes_of_all_kinds() -> None:
    """Also those that the package does not write: no dimensions, more than four, none of a length."""
    source = (Gguf(version=2).tensor("scalar", [], 0, 0).tensor("deep", [2, 1, 1, 1, 1, 3], 24, 32).tensor("none", [0, 5], 1, 64)
              .tensor("no blocks", [0, 5], 2, 64).tensor("\u00e9", [1], 24, 64)).file(bytes(range(65)))
    with opened(source) as file:
        assert [t.shape for t in file.all] == [(), (3, 1, 1, 1, 1, 2), (5, 0), (5, 0), (1,)]
        assert [content(t) for t in file.all] == [bytes(range(4)), bytes(range(32, 38)), b"", b"", b"\x40"]
        assert file.names[-1] == "\u00e9"


def test_lists_in_lists() -> None:
    for order in "<>":
        nested = (ARRAY, [(ARRAY, [(STRING, ["a", ""]), (UINT32, [1])]), (FLOAT64, []), (INT8, [1, 2, 3]), (ARRAY, [])])
        source = Gguf(order).add("a", ARRAY, nested).add("b", STRING, "x").tensor("t", [2], 24, 0).file(b"\x01\x02")
        with opened(source) as file:
            assert content(file["t"]) == b"\x01\x02"


def test_holes_between_tensors() -> None:
    source = Gguf().tensor("b", [1], 24, 96).tensor("a", [1], 24, 32).file(bytes(range(200)))
    with opened(source) as file:
        assert content(file["a"]) == b"\x20" and content(file["b"]) == b"\x60"


@pytest.mark.parametrize("kind", [4, 5, 31, 36, 200, (1 << 32) - 1])
def test_a_type_that_is_not_known(kind: int) -> None:
    source = Gguf().tensor("t", [7, 3], kind, 0).tensor("u", [2], 24, 32).file(bytes(34))
    with opened(source) as file:
        tensor = file["t"]
        assert tensor.shape == (3, 7) and tensor.bytes == 0 and tensor.type_name.decode() == f"type {kind}"
        assert tensor.complaint.status == "unsupported" and f"type {kind}" in tensor.complaint.message
        assert source[tensor.complaint.offset:][:4] == kind.to_bytes(4, "little")
        assert content(file["u"]) == bytes(2)


# ---- the command


def test_the_command(tmp_path) -> None:
    table = np.arange(200, dtype=np.float16).reshape(50, 4)
    raw = np.arange(5 * 68, dtype=np.uint16).astype(np.uint8).reshape(5, 68)
    for order in ORDERS:
        path = tmp_path / f"{order}.gguf"
        save(path, {"emb": table, "q": (raw, theirs.GGMLQuantizationType.Q8_0)}, order)
        rows = {row["name"]: row for row in answer("info", path)["tensors"]}
        assert rows["emb"]["type"] == "float16" and rows["emb"]["shape"] == [50, 4]
        assert rows["q"]["type"] == "Q8_0" and rows["q"]["shape"] == [5, 2] and rows["q"]["bytes"] == 340
        out = tmp_path / f"{order}.npy"
        done = call("take", f"{path}:emb", "[3, -1]", "-o", out)
        assert done.returncode == 0, done.stderr
        assert np.array_equal(np.load(out), table[[3, -1]])
        done = call("take", f"{path}:q", "[4, 0]", "-o", tmp_path / f"{order}_q.npy")
        assert done.returncode == 0, done.stderr
        blocks = np.load(tmp_path / f"{order}_q.npy")
        assert blocks.dtype == np.dtype("V34") and blocks.shape == (2, 2)
        if order == "little":
            assert blocks.tobytes() == raw[[4, 0]].tobytes()


# ---- Models in several GGUF files (NAME-00001-of-00003.gguf): one namespace, from any part, with and without a server; parts that are
# missing, renamed, or of another model.

ARRAYS = {f"t{i}": np.arange(12, dtype=np.float32).reshape(4, 3) + 100 * i for i in range(5)}
NAMES = [f"m-{i + 1:05}-of-00003.gguf" for i in range(3)]


def save_split(folder: Path) -> list[Path]:
    """As llama.cpp's package splits a model."""
    writer = theirs.GGUFWriter(folder / "m.gguf", "test", split_max_tensors=2)
    for name, array in ARRAYS.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert sorted(path.name for path in folder.glob("*.gguf")) == NAMES
    return [folder / name for name in NAMES]


def missing(file) -> list[GatherError]:
    found, error = [], Error()
    while LIB.gather_file_missing_at(file, len(found), c.byref(error)):
        found.append(GatherError(error))
    assert LIB.gather_file_missing_at(file, -1, None) is False
    assert LIB.gather_file_missing_at(file, 0, None) == bool(found)
    return found


@pytest.mark.parametrize("part", range(3))
def test_any_part_is_the_model(part, tmp_path) -> None:
    path = save_split(tmp_path)[part]
    with opened(path) as file:
        assert file.format == "gguf" and file.names == list(ARRAYS) and missing(file.file) == []
        for number, (name, array) in enumerate(ARRAYS.items()):
            source = (tmp_path / NAMES[number // 2]).read_bytes()
            tensor = file[name]
            assert tensor.shape == array.shape and content(tensor) == array.tobytes() and tensor.complaint is None
            assert source[tensor.offset:tensor.offset + tensor.bytes] == array.tobytes()


@pytest.mark.parametrize("part", range(3))
def test_rows_of_any_part(part, tmp_path) -> None:
    save_split(tmp_path)
    for name, array in ARRAYS.items():
        for more in ([], ["--memory", "64MiB"], ["--engine", "pread"]):
            done = call("take", f"{NAMES[part]}:{name}", "[3, 0]", "-o", "o.npy", "-f", *more, cwd=tmp_path)
            assert done.returncode == 0, done
            assert (np.load(tmp_path / "o.npy") == array[[3, 0]]).all()
    listed = json.loads(call("info", NAMES[part], "--json", cwd=tmp_path).stdout)
    assert [tensor["name"] for tensor in listed["tensors"]] == list(ARRAYS) and "missing" not in listed


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("gone", [[0], [1], [2], [0, 1], [1, 2]])
def test_a_missing_part_is_named(part, gone, tmp_path) -> None:
    """The others are read all the same."""
    path = save_split(tmp_path)[part]
    if part in gone:
        return
    for number in gone:
        (tmp_path / NAMES[number]).unlink()
    there = [name for i, name in enumerate(ARRAYS) if i // 2 not in gone]
    first = str(tmp_path / NAMES[gone[0]])
    with opened(path) as file:
        assert file.names == there and [content(file[name]) for name in there] == [ARRAYS[name].tobytes() for name in there]
        assert [(error.status, error.file) for error in missing(file.file)] == [
            ("file_not_found", str(tmp_path / NAMES[number])) for number in gone]
        for name in ("none", f"t{2 * gone[0]}"):
            with pytest.raises(GatherError, match=f"'{name}' may be in it") as caught:
                file[name]
            assert (caught.value.status, caught.value.file) == ("file_not_found", first)
            assert ("1 more parts" in caught.value.message) == (len(gone) > 1)
    done = call("info", path, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("missing: ") == len(gone) and f"missing: {first}: cannot open it" in done.stdout
    listed = json.loads(call("info", path, "--json", cwd=tmp_path).stdout)["missing"]
    assert [(part["status"], part["file"]) for part in listed] == [("file_not_found", str(tmp_path / NAMES[number])) for number in gone]
    done = call("take", f"{path}:t{2 * gone[0]}", "[0]", "-o", "o.npy", cwd=tmp_path)
    assert done.returncode == 3 and NAMES[gone[0]] in done.stderr


def part(number: int | None, count: int | None, name: str = "t", order: str = "<", kind: int = UINT16) -> bytes:
    made = Gguf(order)
    if number is not None:
        made.add("split.no", kind, number)
    if count is not None:
        made.add("split.count", kind, count)
    return made.tensor(name, [3], 0, 0).file(np.arange(3, dtype=order + "f4").tobytes())


WRONG = {
    "another number": (part(0, 2, "b"), "file_malformed", "its name says that it is part 2, its metadata that it is part 1"),
    "another count": (part(1, 3, "b"), "file_malformed", "a model of 3 files, not of 2"),
    "another byte order": (part(1, 2, "b", ">"), "unsupported", "byte order"),
    "another format": (b"no GGUF at all", "unsupported", "not a GGUF file"),
    "truncated": (part(1, 2, "b")[:60], "file_malformed", "truncated|cannot fit"),
    "empty": (b"", "unsupported", "not a GGUF file"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 9\n", "unsupported", "Git LFS pointer"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_other_files_under_the_name_of_a_part(name, tmp_path) -> None:
    other, status, words = WRONG[name]
    (tmp_path / "m-00001-of-00002.gguf").write_bytes(part(0, 2, "a"))
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(other)
    with opened(tmp_path / "m-00001-of-00002.gguf") as file:
        assert file.names == ["a"]
        (error,) = missing(file.file)
        import re
        assert (error.status, error.file) == (status, str(tmp_path / "m-00002-of-00002.gguf")) and re.search(words, error.message)
        with pytest.raises(GatherError, match=words):
            file["b"]


def test_a_name_in_two_parts(tmp_path) -> None:
    for number in range(2):
        (tmp_path / f"m-{number + 1:05}-of-00002.gguf").write_bytes(part(number, 2, "same"))
    complaint(tmp_path / "m-00001-of-00002.gguf").must_be("file_malformed", "'same'")


@pytest.mark.parametrize("kind", [UINT16, INT32, UINT32])
def test_keys_of_other_widths(kind, tmp_path) -> None:
    for number in range(2):
        (tmp_path / f"m-{number + 1:05}-of-00002.gguf").write_bytes(part(number, 2, f"t{number}", kind=kind))
    with opened(tmp_path / "m-00002-of-00002.gguf") as file:
        assert file.names == ["t0", "t1"] and missing(file.file) == []


@pytest.mark.parametrize("name", ["model.gguf", "m-00001-of-00003.gguf", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf", "-00001-of-00002.gguf",
                                  "m-0001-of-00002.gguf", "m-00001-of-00002.bin"])  # fmt: skip
def test_a_name_that_is_no_parts(name, tmp_path) -> None:
    (tmp_path / name).write_bytes(part(0, 2, "a"))
    with opened(tmp_path / name) as file:
        assert file.names == ["a"]
        (error,) = missing(file.file)
        assert error.status == "file_not_found" and "its name does not end in" in error.message


def test_a_part_that_was_renamed(tmp_path) -> None:
    """Its own metadata says another number than its name."""
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(part(0, 2, "a"))
    assert "its name says that it is part 2" in complaint(tmp_path / "m-00002-of-00002.gguf").message


@pytest.mark.parametrize("content, words", [
    (part(0, 2000), "2000 parts; at most 1024"),
    (Gguf().add("split.count", STRING, "2").file(), "not an integer"),
    (Gguf().add("split.count", FLOAT32, 2.0).file(), "not an integer"),
    (Gguf().add("split.no", INT32, -1).file(), "parts"),
    (Gguf().add("split.count", UINT16, 2).add("split.count", UINT16, 2).file(), "twice"),
])  # fmt: skip
def test_malformed_keys(content, words) -> None:
    complaint(content).must_be("file_malformed", words)


@pytest.mark.parametrize("content", [part(None, None), part(0, None), part(0, 1), part(0, 0), part(None, 1)])
def test_files_by_themselves(content, tmp_path) -> None:
    for name in ("m.gguf", "m-00001-of-00002.gguf"):
        (tmp_path / name).write_bytes(content)
        with opened(tmp_path / name) as file:
            assert file.names == ["t"] and missing(file.file) == []


def test_in_memory() -> None:
    with opened(part(0, 2, "a")) as file:
        assert file.names == ["a"] and len(missing(file.file)) == 1


def test_links_out_of_the_folder(tmp_path) -> None:
    """As model hubs keep files."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshot").mkdir()
    for number, path in enumerate(save_split(tmp_path)):
        path.rename(tmp_path / "blobs" / f"{number}abc")
        (tmp_path / "snapshot" / path.name).symlink_to(f"../blobs/{number}abc")
    with opened(tmp_path / "snapshot" / NAMES[1]) as file:
        assert file.names == list(ARRAYS) and missing(file.file) == []
    done = call("info", f"snapshot/{NAMES[1]}", "--no-links", cwd=tmp_path)
    assert done.stdout.count("missing: ") == 2 and "symbolic link" in done.stdout


@pytest.mark.parametrize("given", [NAMES[2], NAMES[2].replace("m-", "%6d%2D"), NAMES[2].replace("m-", "%6D%2d")])
@pytest.mark.parametrize("gone", [None, 0])
def test_by_url(gone, given: str, tmp_path) -> None:
    if why := remote_files.why_no_urls():
        skip_test("http", why)
    paths = save_split(tmp_path)
    with HttpServer() as server:
        for number, path in enumerate(paths):
            if number != gone:
                server.put(f"/a b/{path.name}", path.read_bytes())
        server.reset_counts()
        with remote_files.opened(server.url(f"/a%20b/{given}")) as file:
            assert file.names == [name for i, name in enumerate(ARRAYS) if i // 2 != gone]
            assert server.requests == 3
            errors = missing(file.file)
            assert [(e.status, e.file) for e in errors] == ([] if gone is None else [("file_not_found", server.url(f"/a%20b/{NAMES[0]}"))])
            for name in file.names:
                assert content(remote_files.whole(file.file, name)) == ARRAYS[name].tobytes()
        done = call("take", f"{server.url('/a%20b/' + given)}:t2", "[1]", "-o", "o.npy", cwd=tmp_path)
        assert done.returncode == 0 and (np.load(tmp_path / "o.npy") == ARRAYS["t2"][[1]]).all()


# ---- GGUF files that are cut, changed or say what cannot be, each with its byte.

HEAD = 24  # magic bytes, version, two counts


def good(order: str = "<") -> Gguf:
    return (Gguf(order).add("general.architecture", STRING, "t").add("list", ARRAY, (STRING, ["a", "bc"]))
            .add("general.alignment", UINT32, 8).tensor("emb", [3, 4], 0, 0).tensor("q", [32, 2], 2, 48))


@pytest.mark.parametrize("order", "<>")
def test_cut_at_every_byte(order: str) -> None:
    source = good(order).file(bytes(range(84)), 8)
    assert outcome(source) == {"emb": ((4, 3), bytes(range(48))), "q": ((2, 1), bytes(range(48, 84)))}
    for size in range(1, len(source)):
        error = complaint(source[:size])
        assert error.status == ("unsupported" if size < 4 else "file_malformed")
        assert size < 4 or "truncated" in error.message or "cannot fit" in error.message


def as_theirs(path) -> dict | None:
    """What their reader finds: shapes and bytes of tensors with types of whole numbers. None where it fails."""
    try:
        return {t.name: (tuple(reversed([int(n) for n in t.shape])), bytes(t.data)) for t in theirs.GGUFReader(path).tensors}
    except Exception:  # whatever the package and NumPy complain with
        return None


@pytest.mark.filterwarnings("ignore")
def test_every_byte_changed(tmp_path) -> None:
    """An error, or what their reader gives, wherever that finds anything."""
    source = Gguf().add("a.b", ARRAY, (UINT8, [1, 2])).add("general.alignment", UINT32, 8).tensor("emb", [3, 4], 0, 0).tensor(
        "b", [2, 2], 24, 48).file(bytes(range(52)), 8)
    data_at = len(source) - 52
    assert as_theirs_bytes(source, tmp_path) == outcome(source)
    answers = same = 0
    for at in range(data_at):
        for value in {0, 1, 2, 9, 127, 255, source[at] ^ 1, source[at] ^ 4, (source[at] + 1) & 255, (source[at] - 1) & 255}:
            changed = source[:at] + bytes([value]) + source[at + 1:]
            ours = outcome(changed)
            if isinstance(ours, str):
                assert ours in ("file_malformed", "unsupported")
                continue
            answers += 1
            expected = as_theirs_bytes(changed, tmp_path)
            if expected is None or any(data is None for _, data in ours.values()):
                continue
            same += 1
            assert {name: data for name, (_, data) in ours.items()} == {name: data for name, (_, data) in expected.items()}, at
    assert answers > data_at and same > answers / 2


def as_theirs_bytes(source: bytes, folder) -> dict | None:
    path = folder / "changed.gguf"
    path.write_bytes(source)
    return as_theirs(path)


@pytest.mark.parametrize("version", [0, 1, 4, 77, 1 << 16, 2 << 24 | 1])
def test_versions(version: int) -> None:
    for order in "<>":
        error = complaint(b"GGUF" + struct.pack(order + "IQQ", version, 0, 0))
        assert error.status == "unsupported" and error.offset == 4 and "version" in error.message


def test_counts_that_no_file_can_hold() -> None:
    for order in "<>":
        for tensors, pairs, offset in ((1 << 63, 0, 8), ((1 << 64) - 1, 0, 8), (3, 0, 8), (0, 1 << 62, 16), (0, 4, 16)):
            error = complaint(b"GGUF" + struct.pack(order + "IQQ", 3, tensors, pairs) + bytes(50))
            assert error.status == "file_malformed" and error.offset == offset and "cannot fit in" in error.message


def test_metadata_that_are_wrong() -> None:
    cases = [
        (Gguf().pack("Q", 1 << 60) + bytes(20), HEAD, "cannot fit in"),
        (Gguf().text("k") + Gguf().pack("I", 13) + bytes(9), HEAD + 9, "type 13"),
        (Gguf().text("k") + Gguf().pack("I", 1 << 31) + bytes(9), HEAD + 9, "type 2147483648"),
        (Gguf().text("k") + Gguf().pack("IQ", STRING, 100), HEAD + 13, "100 bytes of a string"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, 99, 0), HEAD + 13, "type 99"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, UINT64, 1 << 61) + bytes(40), HEAD + 17, "cannot fit in"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, STRING, 6) + bytes(40), HEAD + 17, "cannot fit in"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, ARRAY, 4) + bytes(47), HEAD + 17, "cannot fit in"),
        (Gguf().text("k" * 20) + Gguf().pack("I", UINT64) + bytes(3), HEAD + 35, "truncated"),
    ]
    for pair, offset, words in cases:
        complaint(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + pair).must_be("file_malformed", words, offset)


def test_lists_too_deep() -> None:
    def nested(depth: int) -> tuple:
        value = (UINT8, [1])
        for _ in range(depth - 1):
            value = (ARRAY, [value])
        return value

    assert outcome(Gguf().add("k", ARRAY, nested(16)).file()) == {}
    error = complaint(Gguf().add("k", ARRAY, nested(17)).file())
    assert error.status == "unsupported" and error.offset == HEAD + 13 + 15 * 12 + 12 and "deep" in error.message
    assert complaint(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + Gguf().text("k") + struct.pack("<I", ARRAY)
                     + struct.pack("<IQ", ARRAY, 1) * 100000).status == "unsupported"


def test_the_alignment() -> None:
    key = "general.alignment"
    for value in (0, 3, 12, (1 << 32) - 1):
        error = complaint(Gguf().add(key, UINT32, value).file())
        assert error.status == "file_malformed" and str(value) in error.message and error.offset == HEAD + 8 + len(key) + 4
    error = complaint(Gguf().add(key, UINT64, 32).file())
    assert error.status == "file_malformed" and error.offset == HEAD and "uint32" in error.message
    error = complaint(Gguf().add(key, UINT32, 32).add(key, UINT32, 32).file())
    assert error.status == "file_malformed" and error.offset == HEAD + 8 + len(key) + 8 and "twice" in error.message
    assert outcome(Gguf().add(key, UINT32, 1 << 31).tensor("t", [0], 0, 0).file()) == {"t": ((0,), b"")}
    assert complaint(Gguf().add(key, UINT32, 1 << 31).tensor("t", [1], 24, 0).file(b"x")).status == "file_malformed"


@pytest.mark.parametrize("order", "<>")
def test_tensors_that_are_wrong(order: str) -> None:
    cases = [
        (("a\0b", [1], 24, 0), 9, "zero byte"),
        ((b"ab\xff", [1], 24, 0), 10, "UTF-8"),
        (("t", [1 << 63], 24, 0), 13, "too large"),
        (("t", [2, (1 << 64) - 1], 24, 0), 21, "too large"),
        (("t", [1 << 62, 1 << 62], 24, 0), 0, "too large"),
        (("t", [1 << 61], 28, 0), 0, "too large"),
        (("t", [31], 2, 0), 21, "a multiple of the block length 32 (Q4_0)"),
        (("t", [], 8, 0), 13, "a multiple of the block length 32 (Q8_0)"),
        (("t", [128, 2], 12, 0), 29, "a multiple of the block length 256 (Q4_K)"),
        (("t", [1], 24, 1), 25, "not a multiple of the alignment 32"),
        (("t", [1], 24, 1 << 63), 25, "past the end"),
        (("t", [1], 24, 64), None, "truncated"),
        (("t", [33], 24, 0), None, "truncated"),
        (("t", [1 << 60], 24, 0), None, "truncated"),
    ]
    for tensor, offset, words in cases:
        source = Gguf(order).tensor(*tensor).file(bytes(32))
        complaint(source).must_be("file_malformed", words, len(source) if offset is None else HEAD + offset)


def test_ranks() -> None:
    assert outcome(Gguf().tensor("t", [1] * 64, 24, 0).file(b"x")) == {"t": ((1,) * 64, b"x")}
    error = complaint(Gguf().tensor("t", [1] * 65, 24, 0).file(b"x"))
    assert error.status == "unsupported" and error.offset == HEAD + 9 and "65" in error.message
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + Gguf().text("t") + struct.pack("<I", (1 << 32) - 1) + bytes(20)
    assert complaint(head).status == "unsupported"


def test_names_that_stand_twice() -> None:
    source = Gguf().tensor("a", [1], 24, 0).tensor("b", [1], 24, 32).tensor("a", [1], 24, 64).file(bytes(65))
    error = complaint(source)
    assert error.status == "file_malformed" and "'a' is given twice" in error.message and error.offset == HEAD + 2 * 33


def test_tensors_that_overlap() -> None:
    for lengths in ([33], [64], [65]):
        source = Gguf().tensor("b", [1], 24, 32).tensor("a", lengths, 24, 0).file(bytes(65))
        error = complaint(source)
        assert error.status == "file_malformed" and "inside another" in error.message and error.offset == HEAD
    apart = Gguf().tensor("b", [1], 24, 32).tensor("a", [32], 24, 0).tensor("e", [0], 24, 0)
    assert isinstance(outcome(apart.file(bytes(65))), dict)


def test_many_tensors() -> None:
    """Names that stand twice are looked for, but not by comparing each with each."""
    file = Gguf().add("general.alignment", UINT32, 1)
    for i in range(20000):
        file.tensor(f"blk.{i * 7919 % 20000}", [1], 24, i)
    found = outcome(file.file(bytes(i & 255 for i in range(20000)), 1))
    assert len(found) == 20000 and found["blk.7919"] == ((1,), b"\x01")


def test_errors_name_the_file(tmp_path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(Gguf().tensor("t", [33], 2, 0).file())
    assert complaint(path).file == str(path)
    assert np.frombuffer(path.read_bytes()[:4], np.uint8).tobytes() == b"GGUF"
