# SPDX-License-Identifier: MIT
"""INDICES as people have them: text with comments and a header, columns of CSV, TSV, Arrow and Feather, and a way out of Parquet."""

import subprocess
import sys

import numpy as np
import pytest
from models import onnx_model
from support.skip import skip_test

try:
    import pyarrow as pa
    from pyarrow import feather, parquet
except ImportError:
    pa = None

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
PARQUET = b"PAR1" + bytes(range(64)) + b"PAR1"


def rows(gather, *words) -> list[int]:
    """Which rows a take of them gives."""
    assert gather("take", "x.npy", *words, "-o", "o.npy", "-f").code == 0
    return (gather.load("o.npy")[..., 0] // 4).astype(int).tolist()


TEXTS = ["2\n0\n", "# rows\n2 # the last\n0\n", "\ufeff2\r\n0\r\n", "row\n2\n0\n", "\ufeff# c\n\nuser_id\n2,\n0,\n"]


@pytest.mark.parametrize("text", TEXTS)
def test_text(gather, table, text):
    gather.write("i.txt", text)
    assert rows(gather, "i.txt") == [2, 0]
    assert np.array_equal(gather.result("take", table, "-", stdin=text.encode()), DATA[[2, 0]])


def test_a_damaged_list_is_refused(gather, table):
    for text, line in (("2\n0#1\n", 2), ("nan\n1\n", 1), ("2\nrow\n", 2), ("row\n", 1), ("row,x\n1,2\n", 1)):
        gather.write("i.txt", text)
        error = gather.fails("file_malformed", "take", table, "i.txt", "-o", "o.npy")
        assert f"line {line}: " in error["message"] and error["input"] == "indices"


def test_utf16_is_named(gather, table):
    gather.write("i.txt", "1\n2\n".encode("utf-16"))
    for name in ("i.txt", "i.txt:id"):
        error = gather.fails("unsupported", "take", table, name, "-o", "o.npy")
        assert "UTF-16" in error["message"] and "iconv" in error["message"]


TABLES = {
    "ids.csv": "name,id\n\"a, b\",2\nc,0\n", "ids.tsv": "name\tid\na\t2\nb, c\t0\n", "semi.csv": "\ufeffname;id\r\na,b;2\r\n\r\nc;0\r\n",
    "quoted.csv": '"name","id"\n"a\n""b""","2"\n"c","0"\n',
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_tables_in_text(gather, table, name):
    gather.write(name, TABLES[name])
    assert rows(gather, f"{name}:id") == [2, 0]
    assert np.array_equal(gather.result("take", table, "-:id", stdin=TABLES[name].encode()), DATA[[2, 0]])


def test_columns_by_number(gather, table):
    gather.write("plain.csv", "2,1\n0,1\n")
    assert rows(gather, "plain.csv:0") == rows(gather, "plain.csv:#0") == [2, 0] and rows(gather, "plain.csv:#1") == [1, 1]
    gather.write("named.csv", "0,1\n2,1\n0,1\n")
    error = gather.fails("file_malformed", "take", table, "named.csv:0", "-o", "q.npy")
    assert "#0" in error["message"] and '"0"' in error["message"]
    assert rows(gather, 'named.csv:"0"') == [2, 0] and rows(gather, "named.csv:#0") == [0, 2, 0]


def test_columns_that_are_wrong(gather, table):
    gather.write("ids.csv", "name,id\na,2\nb,1.5\n")
    error = gather.fails("file_malformed", "take", table, "ids.csv:id", "-o", "o.npy")
    assert error["message"] == "ids.csv: line 3, column 'id': '1.5' is not a whole number (at byte 14)"
    assert (error["file"], error["offset"], error["input"]) == ("ids.csv", 14, "indices")
    error = gather.fails("name_not_found", "take", table, "ids.csv:ids", "-o", "o.npy")
    assert "'name', 'id'" in error["message"]
    gather.write("ids.csv", "name,id\na,2\nb\n")
    assert "line 3 has 1 field" in gather.fails("file_malformed", "take", table, "ids.csv:id", "-o", "o.npy")["message"]


def test_elsewhere_than_in_take(gather, table):
    gather.write("ids.csv", "name,id\na,2\nb,0\n")
    gather.save("y.npy", np.arange(3))
    assert gather.json("elements", "y.npy", "ids.csv:id", "-o", "e.npy")["shape"] == [2]
    assert np.array_equal(gather.result("shuffle", table, "--order", "ids.csv:id"), DATA[[2, 0]])
    assert gather("explain", "y.npy", "ids.csv:id").code == 0
    onnx_model(gather.folder / "m.onnx", "m (int32[n] ids) => (float[n] y) <float[3] t = {5, 6, 7}> { y = Gather(t, ids) }")
    assert gather.result("run", "m.onnx", "--input", "ids=ids.csv:id").tolist() == [7, 5]
    assert gather.json("check", "m.onnx", "--input", "ids=ids.csv:id")["nodes"][0]["verdict"] == "ok"


@pytest.mark.parametrize("text", ["2.000000000000000000e+00\n0.000000000000000000e+00\n", "2e0,0.0", "[2, 0]", " [\n2.0 0.]\n"])
def test_text_of_numpy_and_json(gather, table, text):
    gather.write("i.txt", text)
    assert rows(gather, "i.txt") == [2, 0]
    assert np.array_equal(gather.result("take", table, "-", stdin=text.encode()), DATA[[2, 0]])
    onnx_model(gather.folder / "m.onnx", "m (int32[n] ids) => (float[n] y) <float[3] t = {5, 6, 7}> { y = Gather(t, ids) }")
    assert gather.result("run", "m.onnx", "--input", "ids=i.txt").tolist() == [7, 5]


def test_nested_lists_in_text_have_a_shape(gather, table):
    gather.write("i.json", "[[2, 0], [1, 1]]\n")
    assert gather.json("take", table, "i.json", "-o", "o.npy")["shape"] == [2, 2, 4]
    assert np.array_equal(gather.load("o.npy"), DATA[[[2, 0], [1, 1]]])
    assert gather.json("nd", table, "i.json", "-o", "n.npy")["shape"] == [2]
    onnx_model(gather.folder / "m.onnx", "m (int32[n, 2] ids) => (float[n, 2] y) <float[3] t = {5, 6, 7}> { y = Gather(t, ids) }")
    assert gather.result("run", "m.onnx", "--input", "ids=i.json").tolist() == [[7, 5], [6, 6]]
    assert np.array_equal(gather.result("shuffle", table, "--order", "i.json"), DATA[[[2, 0], [1, 1]]])


RAGGED = {"1 2\n0\n2 0\n": "line 2 has 1 number; the first one has 2", "[[1, 2],\n[0]]": "line 2: a list has 1 items", "1.5": "'1.5' is not a whole number",
          "nan\n": "'nan' is not", "9007199254740993.0": "beyond 2^53", "1e30": "does not fit in int64"}


@pytest.mark.parametrize("text", RAGGED)
def test_text_that_is_wrong(gather, table, text):
    gather.write("i.txt", text)
    assert RAGGED[text] in gather.fails("file_malformed", "take", table, "i.txt", "-o", "o.npy")["message"]


# ---- slices

SLICES = [":", "1:", ":2", "1:2", "::2", "-2:", ":-1", "::-1", "2:0:-1", "-1:-9:-2", "5:", "2:1", ":0", "-9:9", "+1:+3", "::3", "0:3:99", "1::-5",
          "99999999999999999999:", ":99999999999999999999", "-99999999999999999999::2", f"::{-2**63}", f"::{2**63 - 1}", ":::"[:2]]


@pytest.mark.parametrize("text", SLICES)
def test_slices_are_those_of_numpy(gather, table, text):
    parts = [int(part) if part else None for part in text.split(":")]
    for axis in (0, 1, -1):
        expected = np.take(DATA, np.arange(DATA.shape[axis])[slice(*parts)], axis)
        answer = gather.json("take", table, text, "--axis", str(axis), "-o", "o.npy", "-f")
        assert answer["indices"] == {"count": expected.shape[axis], "slice": text, "bad": 0} and answer["shape"] == list(expected.shape)
        assert np.array_equal(gather.load("o.npy"), expected)
    assert gather.json("take", table, text, "--rules", "onnx-1", "--dry-run")["shape"] == list(DATA[slice(*parts)].shape)


def test_slices_of_other_data(gather, table):
    gather.save("more.npy", DATA + 100)
    assert np.array_equal(gather.result("take", table, "-4:", "--part", "more.npy"), np.concatenate([DATA, DATA + 100])[-4:])
    assert np.array_equal(gather.result("take", "-", "::2", stdin=(gather.folder / table).read_bytes()), DATA[::2])
    assert np.array_equal(gather.result("shuffle", table, "--order", "::-1"), DATA[::-1])
    gather.save("empty.npy", np.zeros((0, 4), np.float32))
    assert gather.json("take", "empty.npy", "5:", "-o", "e.npy")["shape"] == [0, 4]
    drawing = gather("explain", "--data", "4x3", "1::2").out.decode()
    assert "data[1, :]" in drawing and "data[3, :]" in drawing


def test_a_file_with_the_name_of_a_slice(gather, table):
    gather.write("1", "id\n0\n")
    gather.write("1:2", "2\n")
    assert rows(gather, "1:2") == [1]
    assert rows(gather, "./1:2") == [2] and rows(gather, "./1:id") == [0]


# ---- Arrow, Feather, Parquet


@pytest.fixture
def columns(gather):
    """ids.arrow, whose columns are in record batches of three rows."""
    if pa is None:
        skip_test("pyarrow", "the package is not installed")
    many = np.array([2, 0, 1, 1, 0, 2, 2])
    made = pa.table({"id": many, "small": pa.array(many, pa.uint8()), "null": pa.array([0, 1, 2, 0, None, 1, None]),
                     "word": pa.array(list("abacbab")).dictionary_encode(), "x": many * 1.5,
                     "list": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(14)), 2)})
    feather.write_feather(made, gather.folder / "ids.arrow", compression="uncompressed", chunksize=3)
    return many


def test_columns_in_several_record_batches(gather, table, columns):
    for name in ("id", "small"):
        assert rows(gather, f"ids.arrow:{name}") == columns.tolist()
    assert rows(gather, "ids.arrow:id@1") == columns[3:6].tolist()
    assert np.array_equal(gather.result("take", table, "-:id", stdin=(gather.folder / "ids.arrow").read_bytes()), DATA[columns])
    assert np.array_equal(gather.result("shuffle", table, "--order", "ids.arrow:id"), DATA[columns])


def test_columns_in_several_record_batches_as_data(gather, columns):
    lists = np.arange(14).reshape(7, 2)
    assert gather("take", "ids.arrow:list", "[6, 0]", "-o", "a.npy").code == 0
    assert gather("take", "ids.arrow:list", "[1, 0]", "--axis", "1", "-o", "b.npy").code == 0
    assert gather("elements", "ids.arrow:id", "ids.arrow:small", "-o", "c.npy").code == 0
    assert gather("elements", "-:id", "ids.arrow:small", "-o", "d.npy", stdin=(gather.folder / "ids.arrow").read_bytes()).code == 0
    assert gather("explain", "ids.arrow:id", "[6]").code == 0
    assert np.array_equal(gather.load("a.npy"), lists[[6, 0]]) and np.array_equal(gather.load("b.npy"), lists[:, [1, 0]])
    assert np.array_equal(gather.load("c.npy"), columns[columns]) and np.array_equal(gather.load("d.npy"), columns[columns])


@pytest.mark.parametrize("kind", ["list_", "large_list"])
def test_lists_of_one_length_are_rows(gather, table, columns, kind):
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    made = pa.table({"v": pa.array(values.tolist(), getattr(pa, kind)(pa.float32())), "ids": pa.array([[0], [2], [1], [0]])})
    for new, name in ((pa.ipc.new_file, "v.arrow"), (pa.ipc.new_stream, "v.arrows")):
        with new(gather.folder / name, made.schema) as writer:
            writer.write_table(made, max_chunksize=3)
        assert rows(gather, f"{name}:ids") == [[0], [2], [1], [0]]
        assert np.array_equal(gather.result("take", f"{name}:v", "[3, 0]"), values[[3, 0]])


def test_types_that_are_no_indices_are_called_what_they_are(gather, table, columns):
    days = pa.array([0, 1], pa.int32())
    made = pa.table({"date": days.cast(pa.date32()), "time": days.cast(pa.time32("s")), "when": pa.array([0, 1]).cast(pa.timestamp("us")),
                     "struct": pa.array([{"x": 1}] * 2), "null": pa.nulls(2), "list": pa.array([[1], [1, 2]])})
    with pa.ipc.new_file(gather.folder / "types.arrow", made.schema) as writer:
        writer.write_table(made)
    for name, words in (("date", "date32[day]"), ("time", "time32[s]"), ("when", "<M8[us]")):
        error = gather.fails("type_unsupported", "take", table, f"types.arrow:{name}", "-o", "o.npy")
        assert error["message"] == f"indices must be integers, not {words}" and error["input"] == "indices"
        assert gather("take", f"types.arrow:{name}", "[1, 0]", "-f", "-o", f"{name}.npy").code == 0
    assert (gather.load("when.npy").dtype, gather.load("date.npy").dtype) == (np.dtype("M8[us]"), np.dtype(np.int32))
    assert gather.load("when.npy").astype(int).tolist() == gather.load("date.npy").tolist() == [1, 0]
    for name, words in (("struct", "structs"), ("null", "type null"), ("list", "one in row 1 has 2")):
        assert words in gather.fails("unsupported", "take", table, f"types.arrow:{name}", "-o", "o.npy")["message"]


def test_columns_that_are_no_indices(gather, table, columns):
    error = gather.fails("unsupported", "take", table, "ids.arrow:null", "-o", "o.npy")
    assert "'null' has 1 null, which a tensor cannot (row 4)" in error["message"] and error["input"] == "indices"
    assert "dictionary_decode" in gather.fails("unsupported", "take", table, "ids.arrow:word", "-o", "o.npy")["message"]
    gather.fails("type_unsupported", "take", table, "ids.arrow:x", "-o", "o.npy")
    gather.fails("name_not_found", "take", table, "ids.arrow:none", "-o", "o.npy")


def test_parquet_is_answered_with_what_converts_it(gather, table):
    gather.write("ids.parquet", PARQUET)
    for words in (("take", table, "ids.parquet:id"), ("take", "ids.parquet:id", "0")):
        message = gather.fails("unsupported", *words, "-o", "o.npy")["message"]
        assert "Parquet is not supported; convert it: python3 -c " in message and "'ids.arrow'" in message
    gather.write("it's.parquet", PARQUET)
    assert "'FILE.arrow'" in gather.fails("unsupported", "take", table, "it's.parquet", "-o", "o.npy")["message"]


def test_parquet_ids_are_answered_with_the_line_that_takes_the_rows(gather, table):
    if pa is None:
        skip_test("pyarrow", "the package is not installed")
    parquet.write_table(pa.table({"id": [2, 0], "x": [1, 1]}), gather.folder / "ids.parquet")
    hint = gather.fails("unsupported", "take", table, "ids.parquet:id", "-o", "o.npy")["hint"]
    line = hint.split("in Python: ")[1].replace("python3", sys.executable, 1)
    subprocess.run(line, shell=True, check=True, cwd=gather.folder, timeout=60)
    assert np.array_equal(gather.load("o.npy"), DATA[[2, 0]])
    gather.write("it's.parquet", PARQUET)
    for words in (("take", table, "it's.parquet"), ("elements", table, "ids.parquet:id")):
        assert "read_ids" in gather.fails("unsupported", *words, "-o", "p.npy")["hint"]


def test_what_converts_parquet_does_so(gather, table):
    if pa is None:
        skip_test("pyarrow", "the package is not installed")
    parquet.write_table(pa.table({"id": [2, 0, 1]}), gather.folder / "ids.parquet")
    message = gather.fails("unsupported", "take", table, "ids.parquet:id", "-o", "o.npy")["message"]
    line = message.split("convert it: ")[1].replace("python3", sys.executable, 1)
    subprocess.run(line, shell=True, check=True, cwd=gather.folder, timeout=60)
    assert rows(gather, "ids.arrow:id") == [2, 0, 1]
