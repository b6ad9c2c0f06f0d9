# SPDX-License-Identifier: MIT
#
# test_ids.py: read_ids() on every kind of file that ids come in.
"""Ids out of files."""
from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import libgather
from support.refusal import refuses
from support.skip import skip_test
from table_files import save, save_safetensors

try:
    import pyarrow as pa
    import pyarrow.ipc
    from pyarrow import feather, parquet
except ImportError:
    pa = None

IDS = np.array([7, -1, 0, 5, 5, 2, 9])


@pytest.fixture
def arrow():
    if pa is None:
        skip_test("pyarrow", "the package is not installed")


def columns(ids: np.ndarray = IDS):
    return pa.table({"id": ids, "small": pa.array(abs(ids), pa.uint8()), "null": pa.array([1, 2, 3, 4, None, 6, None]),
                     "word": pa.array(list("abcabca")).dictionary_encode(), "real": ids * 0.5})


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape and np.array_equal(found, expected)
    assert found.flags.c_contiguous and found.flags.writeable


@pytest.mark.parametrize("text", ["7 -1 0\n5,5 2\n9", "# ids\n7\n-1\n0 # zero\n5\n5\n2\n9\n", "\ufeffuser_id\r\n7\r\n-1\r\n0\r\n5\r\n5\r\n2\r\n9"])
def test_text(tmp_path, text):
    (tmp_path / "i.txt").write_text(text, newline="")
    for path in (tmp_path / "i.txt", str(tmp_path / "i.txt"), os.fsencode(tmp_path / "i.txt")):
        same(libgather.read_ids(path), IDS)


def test_columns_of_text(tmp_path):
    (tmp_path / "i.csv").write_text("name,id\n" + "".join(f'"x, {i}",{i}\n' for i in IDS))
    (tmp_path / "n.tsv").write_text("".join(f"{i}\ta\n" for i in IDS))
    same(libgather.read_ids(tmp_path / "i.csv:id"), IDS)
    same(libgather.read_ids(f"{tmp_path}/n.tsv:#0"), IDS)
    refuses(libgather.GatherNameError, libgather.read_ids, f"{tmp_path}/i.csv:ids", says="'name', 'id'")
    (tmp_path / "i.csv").write_text("name,id\na,1\nb,x\n")
    with pytest.raises(libgather.GatherFileFormatError, match="line 3, column 'id': 'x' is not a whole number") as caught:
        libgather.read_ids(f"{tmp_path}/i.csv:id")
    assert caught.value.file == f"{tmp_path}/i.csv" and caught.value.offset == 14 and caught.value.input == "indices"


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i2", "<u4", ">i8", "u8"])
@pytest.mark.parametrize("order", "CF")
def test_npy(tmp_path, dtype, order):
    array = np.asarray(abs(IDS[:6].reshape(2, 3)).astype(dtype), order=order)
    found = libgather.read_ids(save(tmp_path, array))
    assert np.array_equal(found, array) and found.dtype == array.dtype and found.shape == (2, 3)
    assert libgather.read_ids(save(tmp_path, np.array(3, dtype))).shape == ()


def test_text_of_numpy_and_json(tmp_path):
    np.savetxt(tmp_path / "s.txt", IDS)
    same(libgather.read_ids(tmp_path / "s.txt"), IDS)
    (tmp_path / "l.json").write_text(str(IDS.tolist()))
    same(libgather.read_ids(tmp_path / "l.json"), IDS)
    (tmp_path / "n.json").write_text("[[0, 1], [2, 3]]")
    assert libgather.read_ids(tmp_path / "n.json").tolist() == [[0, 1], [2, 3]]
    for text, words in (("1.5", "'1.5' is not a whole number"), ("1 2\n3\n4 5", "line 2 has 1 number"), ("[[1], [2, 3]]", "line 1: a list has 2 items")):
        (tmp_path / "w.txt").write_text(text)
        refuses(libgather.GatherFileFormatError, libgather.read_ids, tmp_path / "w.txt", says=re.escape(words))


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("rows", [2, 100])
def test_arrow_streams(tmp_path, arrow, compression, rows):
    table = pa.table({"id": IDS, "null": pa.array([None] + [0] * (len(IDS) - 1)), "text": ["x"] * len(IDS)})
    with pa.ipc.new_stream(tmp_path / "i.arrows", table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=rows)
    same(libgather.read_ids(tmp_path / "i.arrows:id"), IDS)
    refuses(libgather.GatherError, libgather.read_ids, tmp_path / "i.arrows:null", says="null")
    refuses(libgather.GatherError, libgather.read_ids, tmp_path / "i.arrows:text")


def test_whole_names_win(tmp_path):
    (tmp_path / "a:b").write_text("1 2")
    (tmp_path / "a").write_text("b\n3")
    assert libgather.read_ids(f"{tmp_path}/a:b").tolist() == [1, 2]
    (tmp_path / "a:b").unlink()
    assert libgather.read_ids(f"{tmp_path}/a:b").tolist() == [3]


def test_what_is_refused(tmp_path):
    np.save(tmp_path / "f.npy", np.zeros(3))
    refuses(libgather.GatherTypeError, libgather.read_ids, tmp_path / "f.npy", says="ids must be integers, not float64")
    refuses(libgather.GatherFileNotFoundError, libgather.read_ids, tmp_path / "none.txt")
    refuses(libgather.GatherFileError, libgather.read_ids, tmp_path)
    (tmp_path / "u.txt").write_text("1\n2", encoding="utf-16")
    refuses(libgather.GatherNotSupportedError, libgather.read_ids, tmp_path / "u.txt", says="UTF-16")
    for wrong in (None, 3, ["a"]):
        refuses(TypeError, libgather.read_ids, wrong)
    refuses(ValueError, libgather.read_ids, "a\0b", says="null")


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("rows", [2, 100])
def test_feather(tmp_path, arrow, compression, rows):
    feather.write_feather(columns(), str(tmp_path / "i.arrow"), compression=compression, chunksize=rows)
    same(libgather.read_ids(tmp_path / "i.arrow:id"), IDS)
    same(libgather.read_ids(tmp_path / "i.arrow:small"), abs(IDS).astype(np.uint8))
    refuses(libgather.GatherNotSupportedError, libgather.read_ids, tmp_path / "i.arrow:null", says="null")
    with pytest.raises((libgather.GatherNotSupportedError, libgather.GatherTypeError), match="dictionary"):
        libgather.read_ids(tmp_path / "i.arrow:word")
    refuses(libgather.GatherTypeError, libgather.read_ids, tmp_path / "i.arrow:real")
    refuses(libgather.GatherNameError, libgather.read_ids, tmp_path / "i.arrow:none")


def test_parquet(tmp_path, arrow):
    parquet.write_table(columns(), tmp_path / "i.parquet", row_group_size=3)
    parquet.write_table(columns().select(["id"]), tmp_path / "one.parquet")
    same(libgather.read_ids(tmp_path / "i.parquet:id"), IDS)
    same(libgather.read_ids(tmp_path / "i.parquet:small"), abs(IDS).astype(np.uint8))
    same(libgather.read_ids(tmp_path / "one.parquet"), IDS)
    same(libgather.take(np.arange(30).reshape(10, 3), libgather.read_ids(tmp_path / "i.parquet:id"), axis=0),
         np.arange(30).reshape(10, 3)[IDS])
    for name, error, words in (("null", libgather.GatherNotSupportedError, "null in row 4"), ("none", libgather.GatherNameError, "id, small"),
                               ("word", libgather.GatherTypeError, "dictionary"), ("real", libgather.GatherTypeError, "double")):
        refuses(error, libgather.read_ids, f"{tmp_path}/i.parquet:{name}", says=words)
    refuses(libgather.GatherNameError, libgather.read_ids, tmp_path / "i.parquet", says="5 columns")
    content = (tmp_path / "i.parquet").read_bytes()
    for damaged in (content[:100], b"PAR1" + b"\xff" * 40 + b"PAR1", content[:8] + b"\xff" * 20 + content[28:]):
        (tmp_path / "d.parquet").write_bytes(damaged)
        refuses(libgather.GatherFileFormatError, libgather.read_ids, tmp_path / "d.parquet:id")


def test_without_pyarrow(tmp_path):
    """Parquet needs it, and says so; a compressed Feather file is refused by the library's own words."""
    (tmp_path / "i.parquet").write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    program = ("import sys; sys.modules['pyarrow'] = None\n"
               "import libgather\n"
               f"try: libgather.read_ids({str(tmp_path / 'i.parquet:id')!r})\n"
               "except ImportError as error: print(error)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "Parquet needs pyarrow, which is not installed: pip install pyarrow\n"


def test_a_table_by_ids_of_a_file(tmp_path):
    table = np.arange(40, dtype=np.float32).reshape(10, 4)
    (tmp_path / "i.csv").write_text("id\n" + "\n".join(map(str, IDS)))
    with libgather.open(save_safetensors(tmp_path / "t.safetensors", {"emb": ("F32", table)})) as opened:
        assert np.array_equal(opened[libgather.read_ids(tmp_path / "i.csv:id")], table[IDS])
