# SPDX-License-Identifier: MIT
"""Arrow files that pyarrow writes are read, bit for bit, and files made here by hand are good to pyarrow."""
import datetime
import decimal
import io
import os
import shutil
import subprocess

import numpy as np
import pytest
from gather_files import GatherError, content
from many import array, complaint, complaints, failure
from support.arrow_files import Batch, arrow_file, fixed_list, integer, tensors
from support.skip import needs
from tensor_files import opened, whole

try:
    import pyarrow as pa
    import pyarrow.compute
    from pyarrow import feather, ipc
except ImportError:
    pa = None

ROWS = 1000


needs_pyarrow = needs("pyarrow", pa)


def written(table, rows: int = ROWS, **options) -> bytes:
    """An IPC file of batches with so many rows."""
    sink = io.BytesIO()
    with ipc.new_file(sink, table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def table_of(**arrays):
    return pa.table(arrays)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


NUMPY = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def numbers(dtype: str, *shape: int) -> np.ndarray:
    return np.frombuffer(rng().bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(shape)


@pytest.mark.parametrize("rows", [ROWS, 300, 1])
@pytest.mark.parametrize("version", ["V4", "V5"])
def test_numbers(rows, version) -> None:
    made = {name: numbers(name, ROWS if rows > 1 else 20) for name in NUMPY}
    source = written(table_of(**made), rows, metadata_version=ipc.MetadataVersion[version])
    with opened(source) as file:
        for name, expected in made.items():
            chunks = [tensor for known, tensor in zip(file.names, file.all) if known.split("@")[0] == name]
            assert len(chunks) == -(-len(expected) // rows) and chunks[0].type_name.decode() == name
            assert b"".join(map(content, chunks)) == expected.tobytes()
            assert all(source[t.offset:t.offset + t.bytes] == content(t) for t in chunks)
            assert (name in file.names) == (len(chunks) == 1)


def kinds() -> dict:
    """Columns of a type that is not NumPy's, and what NumPy should see in them."""
    whole = numbers("int64", 50) // 10**9
    days = pa.array(whole.astype("i4"), pa.int32())
    digits = [decimal.Decimal(int(value)).scaleb(-2) for value in whole % 10**6]
    texts = [bytes([i]) * 5 for i in range(50)]
    kinds = {}
    for unit in ("s", "ms", "us", "ns"):
        zoned = pa.timestamp(unit, "Europe/Berlin")
        kinds[f"timestamp_{unit}"] = pa.array(whole, pa.int64()).cast(zoned), whole.tobytes()
        kinds[f"duration_{unit}"] = pa.array(whole, pa.int64()).cast(pa.duration(unit)), whole.tobytes()
    kinds["date32"] = days.cast(pa.date32()), whole.astype("i4").tobytes()
    kinds["date64"] = pa.array([datetime.date(2020, 1, 1)], pa.date64()), np.int64(1577836800000).tobytes()
    kinds["time32"] = pa.array(range(50), pa.int32()).cast(pa.time32("ms")), np.arange(50, dtype="i4").tobytes()
    kinds["time64"] = pa.array(range(50), pa.int64()).cast(pa.time64("ns")), np.arange(50, dtype="i8").tobytes()
    for bits in (32, 64, 128, 256):
        if hasattr(pa, f"decimal{bits}"):
            column = pa.array(digits, getattr(pa, f"decimal{bits}")(min(9, bits // 4), 2))
            whole_numbers = [int(value.scaleb(2)).to_bytes(bits // 8, "little", signed=True) for value in digits]
            kinds[f"decimal{bits}"] = column, b"".join(whole_numbers)
    kinds["interval"] = pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()), (b"\1\0\0\0\2\0\0\0\3" + bytes(7)) * 4
    kinds["fixed"] = pa.array(texts, pa.binary(5)), b"".join(texts)
    half = numbers("float16", 60)
    kinds["half"] = pa.array(half), half.tobytes()
    return kinds


def test_other_types_of_fixed_size() -> None:
    for name, (column, expected) in kinds().items():
        for compression in (None, "lz4", "zstd"):
            with opened(written(table_of(a=column), compression=compression)) as file:
                assert content(whole(file, "a")) == expected and file["a"].shape == (len(column),), name


def test_lists_of_fixed_size() -> None:
    values = numbers("float32", 60)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(values), 3)
    nested = pa.FixedSizeListArray.from_arrays(flat, 4)
    for rows in (ROWS, 2):
        with opened(written(table_of(nested=nested), rows)) as file:
            found = np.concatenate([array(tensor, "f4") for tensor in file.all])
            assert (found.view("u4") == values.reshape(5, 4, 3).view("u4")).all()
    with opened(written(table_of(cut=flat.slice(5, 7)))) as file:  # the writer cuts what it holds
        assert content(file["cut"]) == values[15:36].tobytes()


@pytest.mark.parametrize("shape, order", [((4, 5), None), ((2, 3, 4), (0, 2, 1)), ((3, 2), (1, 0)), ((7,), None)])
def test_tensors_of_one_shape(shape, order) -> None:
    """Orders that are their own inverse: of others pyarrow 26 mixes up the steps (docs/extend/readings.md)."""
    values = numbers("int32", 6, *shape)
    kind = pa.fixed_shape_tensor(pa.int32(), shape, permutation=order)
    storage = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), int(np.prod(shape)))
    column = pa.ExtensionArray.from_storage(kind, storage)
    with opened(written(table_of(t=column))) as file:
        assert (array(file["t"], "i4") == column.to_numpy_ndarray()).all()


def test_columns_that_cannot_be_read_beside_those_that_can() -> None:
    count = 30
    column = pa.array(range(count), pa.int32())
    others = {
        "utf8": pa.array(["text"] * count),
        "view": pa.array(["long text that is not inline"] * count, pa.string_view()),
        "large": pa.array(["x"] * count, pa.large_string()), "list": pa.array([[1, 2], [3]] * (count // 2)),
        "list_view": pa.array([[1, 2]] * count, pa.list_view(pa.int8())),
        "struct": pa.array([{"p": 1, "q": "x"}] * count),
        "map": pa.array([[("k", 1)]] * count, pa.map_(pa.string(), pa.int8())), "null": pa.nulls(count),
        "dictionary": pa.array(["a", "b", "c"] * 10).dictionary_encode(), "bool": pa.array([True, False] * 15),
        "run_end": pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array([5])),
        "dense": pa.UnionArray.from_dense(pa.array([0] * count, pa.int8()), pa.array(range(count), pa.int32()), [column]),
        "sparse": pa.UnionArray.from_sparse(pa.array([0] * count, pa.int8()), [column]),
        "nulls": pa.array([None, *range(1, count)], pa.int16()),
    }
    expected, arrays = np.arange(count, dtype="i4").tobytes(), {}
    for name, other in others.items():
        arrays |= {name: other, f"behind_{name}": column}
    # pyarrow slices no run ends, so several batches are written one by one.
    sink, batch = io.BytesIO(), pa.record_batch(arrays)
    with ipc.new_file(sink, batch.schema) as writer:
        for _ in range(2):
            writer.write_batch(batch)
    for source, ends in ((written(pa.table(arrays)), [""]), (sink.getvalue(), ["@0", "@1"])):
        with opened(source) as file:
            assert list(complaints(file)) == [name + end for name in others for end in ends]
            for name in others:
                assert all(content(file[f"behind_{name}{end}"]) == expected for end in ends)


def test_nulls_in_one_batch_of_several() -> None:
    column = pa.array([1, 2, 3, None, 5, 6], pa.int32())
    source = written(table_of(a=column), 2)
    with opened(source) as file:
        assert list(complaints(file)) == ["a@1"] and "has 1 null," in complaints(file)["a@1"]
        assert content(file["a@2"]) == np.array([5, 6], "i4").tobytes()
    assert complaint(written(table_of(a=column)), "a").status == "unsupported"


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize("rows", [ROWS, 300, 1])
@pytest.mark.parametrize("cut", [slice(0, ROWS), slice(7, 8), slice(3, 900)], ids=str)
def test_compressed(compression, rows, cut) -> None:
    made = {name: numbers(name, ROWS) for name in NUMPY} | {"same": np.full(ROWS, 7, "i8"), "v": numbers("uint8", ROWS, 3)}
    table = table_of(**made | {"v": pa.FixedSizeListArray.from_arrays(pa.array(made["v"].ravel()), 3)})[cut]
    for write in (written, streamed):
        with opened(write(table, rows, compression=compression)) as file:
            for name, values in made.items():
                assert content(whole(file, name)) == values[cut].tobytes(), name


def test_feather(tmp_path) -> None:
    table = table_of(a=numbers("float64", ROWS), b=numbers("int32", ROWS))
    feather.write_feather(table, tmp_path / "a.feather", compression="uncompressed")
    with opened(tmp_path / "a.feather") as file:
        assert file.format == "arrow" and content(file["b"]) == table["b"].to_numpy().tobytes()
    feather.write_feather(table, tmp_path / "many.feather", compression="uncompressed", chunksize=64)
    with opened(tmp_path / "many.feather") as file:
        assert b"".join(content(file[f"a@{i}"]) for i in range(16)) == table["a"].to_numpy().tobytes()
        with pytest.raises(GatherError, match="16 chunks"):
            file["a"]
    feather.write_feather(table, tmp_path / "packed.feather")  # its own default
    with opened(tmp_path / "packed.feather") as file:
        assert content(whole(file, "a")) == table["a"].to_numpy().tobytes()


def streamed(table, rows: int = ROWS, **options) -> bytes:
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


@pytest.mark.parametrize("rows", [ROWS, 300])
@pytest.mark.parametrize("version", ["V4", "V5"])
def test_streams(rows, version) -> None:
    made = {name: numbers(name, ROWS) for name in NUMPY} | {"text": pa.array(["x"] * ROWS).dictionary_encode()}
    with opened(streamed(table_of(**made), rows, metadata_version=ipc.MetadataVersion[version])) as file:
        for name, expected in made.items():
            chunks = [tensor for known, tensor in zip(file.names, file.all) if known.split("@")[0] == name]
            if name != "text":
                assert b"".join(map(content, chunks)) == expected.tobytes()


# ---- lists


@pytest.mark.parametrize("kind", ["list_", "large_list"])
@pytest.mark.parametrize("rows", [ROWS, 2])
def test_lists_of_one_length(kind, rows) -> None:
    values = numbers("float32", 5, 4, 3)
    outer = getattr(pa, kind)
    column = pa.array(values.tolist(), outer(outer(pa.float32())))
    for cut in (column, column.slice(1, 3)):
        for codec in (None, "lz4", "zstd"):
            with opened(written(table_of(a=pa.array(range(len(cut))), v=cut), rows, compression=codec)) as file:
                found = array(whole(file, "v"), "f4")
        assert (found.view("u4") == np.array(cut.to_pylist(), "f4").view("u4")).all() and found.shape == (len(cut), 4, 3)


def random_type(rng, depth: int = 0):
    """A type, and whether a tensor has it."""
    leaves = [pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.timestamp("us"), pa.duration("s"), pa.date32(), pa.binary(3),
              pa.string(), pa.bool_(), pa.struct([("x", pa.int8())])]
    kind = int(rng.integers(0, 5)) if depth < 3 else 4
    if kind > 2:
        leaf = int(rng.integers(0, len(leaves)))
        return leaves[leaf], leaf < 8
    inner, good = random_type(rng, depth + 1)
    return (pa.list_(inner), pa.large_list(inner), pa.list_(inner, int(rng.integers(1, 4))))[kind], good


class Made:
    """Random values of a type: lists of one length at each level, but one if `ragged`, some null if `nulls`."""

    def __init__(self, rng, ragged: bool, nulls: bool) -> None:
        self.rng, self.ragged, self.nulls, self.lengths = rng, ragged, nulls, {}

    def value(self, kind, depth: int = 0):
        if self.nulls and self.rng.random() < 0.02:
            return None
        if pa.types.is_fixed_size_list(kind):
            return [self.value(kind.value_type, depth + 1) for _ in range(kind.list_size)]
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            length = self.lengths.setdefault(depth, int(self.rng.integers(0, 4)))
            length += self.ragged and self.rng.random() < 0.1
            return [self.value(kind.value_type, depth + 1) for _ in range(length)]
        number = int(self.rng.integers(0, 100))
        return {"string": "x", "bool": True, "fixed_size_binary[3]": b"abc"}.get(str(kind), {"x": 1} if pa.types.is_struct(kind) else number)


def shape_of(column) -> tuple | None:
    """The shape of a column of equal lists without nulls, by pyarrow; None: it has none."""
    lengths = [len(column)]
    flat = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    while True:
        if flat.null_count:
            return None
        if not (pa.types.is_list(flat.type) or pa.types.is_large_list(flat.type) or pa.types.is_fixed_size_list(flat.type)):
            return tuple(lengths)
        known = set(pa.compute.list_value_length(flat).to_pylist())
        if len(known) > 1:
            return None
        fixed = flat.type.list_size if pa.types.is_fixed_size_list(flat.type) else 0
        lengths.append(known.pop() if known else fixed)
        flat = flat.flatten()


@pytest.mark.parametrize("seed", range(60))
def test_random_tables(seed) -> None:
    """What pyarrow writes and we read is the same, or both see that it is no tensor."""
    rng = np.random.default_rng(seed)
    columns, goods = {}, {}
    rows = int(rng.integers(0, 30))
    for i in range(int(rng.integers(1, 5))):
        kind, goods[f"c{i}"] = random_type(rng)
        made = Made(rng, rng.random() < 0.2, rng.random() < 0.2)
        columns[f"c{i}"] = pa.array([made.value(kind) for _ in range(rows)], kind)
    table = pa.table(columns)
    if rows > 4 and seed % 3 == 0:
        table = table.slice(2, rows - 3)
    source = (streamed if seed % 2 else written)(table, int(rng.integers(1, 12)))
    theirs = (ipc.open_stream if seed % 2 else ipc.open_file)(pa.BufferReader(source)).read_all()
    with opened(source) as file:
        for name in columns:
            chunks = [tensor for known, tensor in zip(file.names, file.all) if known.split("@")[0] == name]
            shape = shape_of(theirs[name]) if goods[name] else None
            why = next((tensor.complaint for tensor in chunks if tensor.complaint), None)
            assert (shape is None) == (why is not None), (name, theirs[name].type, shape, str(why))
            if shape is None:
                continue
            assert (sum(tensor.shape[0] for tensor in chunks), *chunks[0].shape[1:]) == shape
            flat = pa.concat_arrays(theirs[name].chunks) if theirs[name].num_chunks else pa.array([], theirs[name].type)
            for _ in shape[1:]:
                flat = flat.flatten()
            values = flat.cast(pa.int32()) if flat.type == pa.date32() else flat
            expected = b"".join(values.to_pylist()) if flat.type == pa.binary(3) else values.to_numpy(zero_copy_only=False).tobytes()
            assert b"".join(map(content, chunks)) == expected


def test_files_of_old_and_legacy_writers() -> None:
    table = table_of(a=np.arange(9, dtype="i4"))
    source = written(table, metadata_version=ipc.MetadataVersion.V4, use_legacy_format=True)
    with opened(source) as file:
        assert content(file["a"]) == np.arange(9, dtype="i4").tobytes()


def test_empty_tables() -> None:
    schema = pa.schema([("a", pa.int32()), ("v", pa.list_(pa.float32(), 3)), ("s", pa.string())])
    for table in (schema.empty_table(), pa.table({"a": pa.array([], pa.int32()), "v": pa.array([], schema.field("v").type), "s": []})):
        with opened(written(table)) as file:
            assert [file[name].shape for name in "av"] == [(0,), (0, 3)]


def test_damage_is_an_error_or_the_same_rows() -> None:
    source = written(table_of(a=np.arange(40, dtype="i4"), s=["x"] * 40), 20)
    changes = rng()
    for _ in range(400):
        changed = bytearray(source)
        changed[changes.integers(8, len(source))] = changes.integers(0, 256)
        try:
            with opened(bytes(changed)) as file:
                for tensor in file.all:
                    assert tensor.complaint or not tensor.bytes or tensor.offset + tensor.bytes <= len(source)
        except GatherError as error:
            assert error.status in ("file_malformed", "unsupported") and error.offset <= len(source)


def test_files_made_by_hand_are_good_to_pyarrow() -> None:
    """What the other tests damage was right before."""
    data = np.arange(6, dtype="i4")
    nested = Batch(3, [(3, 0), (3, 0), (6, 0)], [b"", data[:3].tobytes(), b"", b"", data.tobytes()])
    source = arrow_file([integer("a"), fixed_list("b", 2, integer(None))], [nested, nested])
    theirs = ipc.open_file(pa.BufferReader(source)).read_all()
    theirs.validate(full=True)
    assert theirs["b"].to_pylist() == data.reshape(3, 2).tolist() * 2
    permuted = arrow_file([tensors("t", 6, '{"shape":[2,3],"permutation":[1,0]}')],
                          [Batch(1, [(1, 0), (6, 0)], [b"", b"", data.tobytes()])])
    chunk = ipc.open_file(pa.BufferReader(permuted)).read_all()["t"].chunk(0)
    with opened(permuted) as file:
        assert (array(file["t"], "i4") == chunk.to_numpy_ndarray()).all()


def resident(path) -> int:
    """The bytes of a file that the system has in memory."""
    return int(subprocess.check_output(["fincore", "--bytes", "--noheadings", "--output", "RES", path]))


@pytest.mark.skipif(not shutil.which("fincore"), reason="no fincore")
def test_opening_reads_no_data(tmp_path) -> None:
    """The metadata of a batch stand before its data: the system must not read ahead of them."""
    path = tmp_path / "batches.arrow"
    path.write_bytes(written(table_of(a=numbers("float32", 32 << 18)), 1 << 18))
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if resident(path) > 0:
        pytest.skip("this file system keeps a file's pages")
    with opened(str(path)) as file:
        assert len(file.all) == 32
        assert resident(path) < 2 << 20
