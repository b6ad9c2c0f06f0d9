# SPDX-License-Identifier: MIT
"""GGUF files that their own package wrote: every type of tensors and metadata, either byte order, alignments, splits."""

import gguf as theirs
import numpy as np
import pytest
from gather_files import OPAQUE, content, type_number
from gguf_files import ARRAY, FLOAT64, INT8, STRING, UINT8, UINT32, Gguf
from support.command import answer, call
from tensor_files import opened

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
