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
    assert gather("take", table, "-", "-o", "p.npy", stdin=text.encode()).code == 0
    assert np.array_equal(gather.load("p.npy"), DATA[[2, 0]])


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
    assert gather("take", table, "-:id", "-o", "p.npy", stdin=TABLES[name].encode()).code == 0
    assert np.array_equal(gather.load("p.npy"), DATA[[2, 0]])


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
    assert gather("shuffle", table, "--order", "ids.csv:id", "-o", "s.npy").code == 0
    assert np.array_equal(gather.load("s.npy"), DATA[[2, 0]])
    assert gather("explain", "y.npy", "ids.csv:id").code == 0
    onnx_model(gather.folder / "m.onnx", "m (int32[n] ids) => (float[n] y) <float[3] t = {5, 6, 7}> { y = Gather(t, ids) }")
    assert gather("run", "m.onnx", "--input", "ids=ids.csv:id", "-o", "r.npy").code == 0
    assert gather.load("r.npy").tolist() == [7, 5]
    assert gather.json("check", "m.onnx", "--input", "ids=ids.csv:id")["nodes"][0]["verdict"] == "ok"


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
    assert gather("take", table, "-:id", "-o", "p.npy", stdin=(gather.folder / "ids.arrow").read_bytes()).code == 0
    assert np.array_equal(gather.load("p.npy"), DATA[columns])
    assert gather("shuffle", table, "--order", "ids.arrow:id", "-o", "s.npy").code == 0
    assert np.array_equal(gather.load("s.npy"), DATA[columns])


def test_columns_in_several_record_batches_as_data(gather, columns):
    lists = np.arange(14).reshape(7, 2)
    assert gather("take", "ids.arrow:list", "[6, 0]", "-o", "a.npy").code == 0
    assert gather("take", "ids.arrow:list", "[1, 0]", "--axis", "1", "-o", "b.npy").code == 0
    assert gather("elements", "ids.arrow:id", "ids.arrow:small", "-o", "c.npy").code == 0
    assert gather("elements", "-:id", "ids.arrow:small", "-o", "d.npy", stdin=(gather.folder / "ids.arrow").read_bytes()).code == 0
    assert gather("explain", "ids.arrow:id", "[6]").code == 0
    assert np.array_equal(gather.load("a.npy"), lists[[6, 0]]) and np.array_equal(gather.load("b.npy"), lists[:, [1, 0]])
    assert np.array_equal(gather.load("c.npy"), columns[columns]) and np.array_equal(gather.load("d.npy"), columns[columns])


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


def test_what_converts_parquet_does_so(gather, table):
    if pa is None:
        skip_test("pyarrow", "the package is not installed")
    parquet.write_table(pa.table({"id": [2, 0, 1]}), gather.folder / "ids.parquet")
    message = gather.fails("unsupported", "take", table, "ids.parquet:id", "-o", "o.npy")["message"]
    line = message.split("convert it: ")[1].replace("python3", sys.executable, 1)
    subprocess.run(line, shell=True, check=True, cwd=gather.folder, timeout=60)
    assert rows(gather, "ids.arrow:id") == [2, 0, 1]
