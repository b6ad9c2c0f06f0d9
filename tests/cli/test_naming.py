# SPDX-License-Identifier: MIT
"""Naming a tensor: FILE, FILE:NAME, -, raw bytes, literals and text files."""

import os
import subprocess
import threading

import numpy as np
import pytest
from safetensors.numpy import save_file

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_the_format_is_found_by_content(gather):
    gather.save("x.npy", DATA)
    (gather.folder / "x.npy").rename(gather.folder / "x.onnx")
    assert np.array_equal(gather.result("take", "x.onnx", "1"), DATA[1])


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_npy_version(gather, version):
    with open(gather.folder / "x.npy", "wb") as file:
        np.lib.format.write_array(file, DATA, version)
    assert np.array_equal(gather.result("take", "x.npy", "[2]"), DATA[[2]])


def test_a_file_of_the_whole_name_wins(gather, table):
    os.rename(gather.folder / gather.save("y.npy", DATA + 50), gather.folder / "x.npy:w")
    assert gather.result("take", "x.npy:w", "0").tolist() == [50, 51, 52, 53]
    (gather.folder / "x.npy:w").unlink()
    gather.fails("name_not_found", "take", "x.npy:w", "0", "-o", "p.npy")
    (gather.folder / "a:b").mkdir()
    os.rename(gather.folder / gather.save("y.npy", DATA), gather.folder / "a:b" / "y.npy")
    assert gather("take", "a:b/y.npy", "0", "-o", "p.npy").code == 0
    gather.fails("name_not_found", "take", "a:b/y.npy:w:v", "0", "-o", "q.npy")


def test_a_recognised_file_read_raw(gather, table):
    header = np.frombuffer((gather.folder / table).read_bytes(), np.uint8)
    raw = ("--type", "uint8", "--shape", "-1x8", "--raw")
    assert gather.result("take", table, "0", *raw).tolist() == header[:8].tolist()
    gather.write("i.npy", np.array([1], np.int8).tobytes() + b"\x93NUMPY")
    assert gather("take", table, table, "--indices-type", "uint8", "--indices-shape", "1", "--indices-raw", "--on-bad", "clamp",
                  "-o", "p.npy").code == 0
    assert gather.load("p.npy").tolist() == [DATA[2].tolist()]  # 0x93, clamped
    assert gather("shuffle", table, *raw, "-o", "q.npy").code == 0
    npy = (gather.folder / table).read_bytes()
    assert b"npy" in gather("take", "-", "0", "--type", "float32", "--shape", "3x4", "-o", "r.npy", stdin=npy).err


def test_standard_input(gather, table):
    file = (gather.folder / table).read_bytes()
    assert np.array_equal(gather.result("take", "-", "[2, 0]", stdin=file), DATA[[2, 0]])
    gather.save("i.npy", np.array([1]))
    assert gather("take", table, "-", "-o", "p.npy", stdin=(gather.folder / "i.npy").read_bytes()).code == 0
    assert np.array_equal(gather.load("p.npy"), gather.result("take", table, "-", stdin=b"1\n"))
    assert np.array_equal(gather.result("take", "-", "1", "--type", "f32", "--shape", "3x4", stdin=DATA.tobytes()), DATA[1])
    raw = ("--indices-type", "int16", "--indices-shape", "")
    assert np.array_equal(gather.result("take", table, "-", *raw, stdin=b"\2\0"), DATA[2])
    assert gather.json("info", "-", stdin=file)["tensors"][0]["shape"] == [3, 4]
    gather.fails("usage", "take", "-", "-", "-o", "t.npy")
    gather.fails("file_malformed", "take", "-", "0", "-o", "t.npy", stdin=file[:-1])
    gather.fails("file_malformed", "take", "-", "0", "-o", "t.npy", stdin=b"")
    gather.fails("file_malformed", "take", table, "-", "-o", "t.npy", stdin=b"x\n")


def test_standard_input_that_cannot_be_read(gather, table):
    folder = os.open(gather.folder, os.O_RDONLY)
    answer = gather("take", "-", "0", "-o", "o.npy", stdin=folder)
    os.close(folder)
    assert answer.code == 3 and b"standard input" in answer.err
    answer = gather("take", "-", "0", "-o", "o.npy", preexec_fn=lambda: os.close(0))
    assert answer.code == 3 and b"standard input" in answer.err


def test_pipes_are_read(gather, table):
    os.mkfifo(gather.folder / "pipe")
    content = (gather.folder / table).read_bytes()
    writer = threading.Thread(target=lambda: (gather.folder / "pipe").write_bytes(content))
    writer.start()
    assert gather("take", "pipe", "1", "-o", "o.npy").code == 0
    writer.join()
    assert np.array_equal(gather.load("o.npy"), DATA[1])


def test_raw_data(gather):
    gather.write("x.bin", b"###" + DATA.tobytes() + b"more")
    words = ("take", "x.bin", "[2]", "--type", "float32", "--shape", "3x4")
    answer = gather.json(*words, "--offset", "3", "-o", "o.npy")
    assert answer["type"] == "float32" and np.array_equal(gather.load("o.npy"), DATA[[2]])


def test_raw_indices(gather, table):
    gather.write("i.bin", b"#" + np.array([2, -1, 0], "<i2").tobytes())
    words = ("take", table, "i.bin", "--indices-type", "i16", "--indices-shape", "3", "--indices-offset", "1")
    assert np.array_equal(gather.result(*words), DATA[[2, -1, 0]])
    gather.write("t.txt", "  ")  # with a type even text is bytes
    words = ("take", table, "t.txt", "--indices-type", "uint8", "--indices-shape", "2", "--on-bad", "clamp")
    assert np.array_equal(gather.result(*words), DATA[[2, 2]])


@pytest.mark.parametrize("name", ["float32", "FLOAT", "f32", "FP32", "<f4"])
def test_type_names(gather, name):
    gather.write("x.bin", DATA.tobytes())
    assert gather.json("info", "x.bin", "--type", name, "--shape", "3x4")["tensors"][0]["type"] == "float32"


@pytest.mark.parametrize("descr", [">f4", "|S3", ">U2", "|V7", "<M8[ns]"])
def test_raw_bytes_of_an_npy_dtype(gather, descr):
    data = np.frombuffer(bytes(range(1, 1 + 3 * np.dtype(descr).itemsize)), descr)
    gather.write("x.bin", data.tobytes())
    assert gather("take", "x.bin", "[2, 0]", "-o", "o.npy", "--type", descr, "--shape", "3").code == 0
    assert gather.load("o.npy").dtype.str == descr
    assert gather.load("o.npy").tobytes() == data[[2, 0]].tobytes()


def test_raw_bytes_of_a_structured_dtype(gather):
    dtype = np.dtype([("a", "<i4"), ("b", "u1")])
    gather.write("x.bin", bytes(range(15)))
    words = ("take", "x.bin", "[2, 0]", "-o", "o.npy", "--type", str(dtype.descr), "--shape", "3")
    assert gather(*words).code == 0
    assert gather.load("o.npy").dtype == dtype
    assert gather.load("o.npy").tobytes() == bytes([*range(10, 15), *range(5)])


def test_shapes(gather):
    gather.write("x.bin", bytes(64))
    for text, shape in (("", []), ("0", [0]), ("2x0x3", [2, 0, 3]), ("64", [64]), ("x".join("1" * 64), [1] * 64), ("-1", [64]), ("-1x16", [4, 16])):
        answer = gather.json("info", "x.bin", "--type", "uint8", f"--shape={text}")
        assert answer["tensors"][0]["shape"] == shape and answer["format"] == "raw"
    for text in ("x", "3x", "x3", "3,4", "-2", "3x-1", "3 x 4", " ", "3X4", "1.0", "9" * 30, "x".join("1" * 65)):
        gather.fails("usage", "info", "x.bin", "--type", "uint8", f"--shape={text}")
    for words in (("--type", "int8"), ("--shape", "3"), ("--offset", "3"), ("--type", "nothing", "--shape", "3")):
        gather.fails("usage", "info", "x.bin", *words)
    gather.fails("unsupported", "info", "x.bin", "--type", "string", "--shape", "1")
    assert gather("info", "").code in (2, 3)


LITERALS = [
    ("3", 3),
    ("-0", 0),
    ("+2", 2),
    (" 7 ", 7),
    ("[]", []),
    ("[1]", [1]),
    ("[[0, 2], [1, -1]]", [[0, 2], [1, -1]]),
    (" [ 1 , 2 ] ", [1, 2]),
    ("[[],[]]", [[], []]),
    ("[[[]],[[]],[[]]]", [[[]], [[]], [[]]]),
    ("[[1],[2]]\n", [[1], [2]]),
    ("[-9223372036854775808,9223372036854775807]", [-(1 << 63), (1 << 63) - 1]),
    ("[007]", [7]),
]


@pytest.mark.parametrize(("text", "value"), LITERALS)
def test_literals(gather, table, text, value):
    value = np.array(value, np.int64)
    answer = gather.json("take", table, text, "-o", "o.npy", "--on-bad", "wrap")
    assert answer["shape"] == [*value.shape, 4] and answer["indices"]["count"] == value.size
    assert np.array_equal(gather.load("o.npy"), DATA[value % 3])


BROKEN = [
    "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[[1]", "[[1],[2,3]]", "[[1],2]", "[1,[2]]", "[[],[1]]", "[[],[[]]]", "[[[]],[]]",
    "[1.5]", "[a]", "[0x1]", "[1]x", "[1e3]", "[--1]", "[- 1]", "[1][2]", "[9223372036854775808]", "9223372036854775808",
    "-9223372036854775809", "[18446744073709551615]", "[" * 65 + "]" * 65, "[true]", "['1']", "[1,,2]", "[" * 100000,
]


@pytest.mark.parametrize("text", BROKEN, ids=lambda t: t[:40])
def test_broken_literals(gather, table, text):
    gather.fails("usage", "take", table, text, "-o", "o.npy")
    assert gather.names() == {"x.npy"}


def test_a_long_literal(gather, table):
    many = np.random.default_rng(1).integers(-3, 3, 20000)
    assert np.array_equal(gather.result("take", table, str(many.tolist())), DATA[many])


def test_a_literal_wins_over_a_file(gather, table):
    gather.write("2", "0\n")
    gather.write("[2]", "0\n")
    assert gather.json("take", table, "2", "-o", "a.npy")["shape"] == [4]
    assert gather.json("take", table, "[2]", "-o", "b.npy")["shape"] == [1, 4]
    assert gather.load("a.npy").tolist() == DATA[2].tolist()
    assert gather.result("take", table, "./2").tolist() == DATA[[0]].tolist()


TEXTS = [
    (b"", []),
    (b"\n \n", []),
    (b"1", [1]),
    (b"0\n2\n-1\n", [0, 2, -1]),
    (b"0,1,2", [0, 1, 2]),
    (b"0, 1\r\n2,\r\n", [0, 1, 2]),
    (b"\t0 1\f2\v+1 , 1", [0, 1, 2, 1, 1]),
    (b"-9223372036854775808 9223372036854775807", [-(1 << 63), (1 << 63) - 1]),
    (b"0\n" * 5000, [0] * 5000),
]


@pytest.mark.parametrize(("text", "value"), TEXTS, ids=range(len(TEXTS)))
def test_text_files(gather, table, text, value):
    gather.write("i.txt", text)
    value = np.array(value, np.int64)
    assert gather.json("take", table, "i.txt", "-o", "o.npy", "--on-bad", "wrap")["shape"] == [value.size, 4]
    assert np.array_equal(gather.load("o.npy"), DATA[value % 3])


MALFORMED = [
    (b"1\n2\nthree\n", 3, 4),
    (b"1.5", 1, 0),
    (b"1\n\n2x\n", 3, 3),
    (b"hello", 1, 0),
    (b"1,,2", 1, 2),
    (b",1", 1, 0),
    (b"1\n2# note\n", 2, 2),
    (b"[1\n", 2, 3),
    (b"1\n9223372036854775808\n", 2, 2),
    (b"1\n-", 2, 2),
    (b"1\n- 2", 2, 2),
    (b"1e", 1, 0),
    ("1\n\u0663".encode(), 2, 2),
    (b"1\n2\n0x3", 3, 4),
    (b"1 2 3 4\n1\0", 2, 8),
    (b"1\n1 2 3 4\x01", 2, 8),
    (b"\xff", 1, 0),
    (b"1;2", 1, 0),
    (b"0\n" * 5000 + b"x", 5001, 10000),
]


@pytest.mark.parametrize(("text", "line", "offset"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_text_files(gather, table, text, line, offset):
    gather.write("i.txt", text)
    error = gather.fails("file_malformed", "take", table, "i.txt", "-o", "o.npy")
    assert f"line {line}:" in error["message"]
    assert (error["file"], error["offset"], error["input"]) == ("i.txt", offset, "indices")


def test_malformed_npy(gather, table):
    content = (gather.folder / table).read_bytes()
    for cut in (7, 9, 60, 127, 128, len(content) - 1):
        gather.write("cut.npy", content[:cut])
        error = gather.fails("file_malformed", "take", "cut.npy", "0", "-o", "o.npy")
        assert error["file"] == "cut.npy" and "offset" in error and error["input"] == "data"
    gather.write("long.npy", content + b"more")
    assert gather("take", "long.npy", "0", "-o", "o.npy").code == 0


def test_odd_names_are_written_safely(gather):
    """Nothing in a file's name can play with the terminal or break the JSON."""
    name = 'a\x1b[31m\n"\\\u00e9\udcff.npy'
    error = gather.fails("file_not_found", "take", name, "0", "-o", "o.npy")
    assert error["file"] == 'a\x1b[31m\n"\\\u00e9\ufffd.npy'
    answer = gather("take", name, "0", "-o", "o.npy")
    assert b"\x1b" not in answer.err and answer.err.count(b"\n") == 2
    os.rename(gather.folder / gather.save("y.npy", DATA), gather.folder / name)
    assert gather.json("info", name)["file"] == 'a\x1b[31m\n"\\\u00e9\ufffd.npy'
    assert b"\x1b" not in gather("info", name).out
    assert subprocess.run([gather.exe, "take", name, "0", "-o", "o" + name, "-f"], cwd=gather.folder).returncode == 0


# ---- --tensor and --indices-tensor: names of any characters

ODD = ("x:1", "a/b:c", "?q#f", "é $(x) '\"", "[0]", "-", "10:20")


@pytest.fixture
def odd(gather):
    """A file whose name and whose tensors have colons, beside files that a split would find."""
    rows = {name: DATA.astype(np.int64) + 100 * i for i, name in enumerate(ODD)}
    np.savez(gather.folder / "m.npz:x:1", **{name: array for name, array in rows.items() if "/" not in name})
    os.rename(gather.folder / "m.npz:x:1.npz", gather.folder / "m.npz:x:1")
    save_file(rows, gather.folder / "s:a.safetensors")
    np.savez(gather.folder / "m.npz", **{"x:1": DATA[:1]})  # FILE:NAME would find it, were the longer name not there
    return rows


@pytest.mark.parametrize("name", ODD)
def test_a_tensor_of_any_name_in_a_file_of_any_name(gather, odd, name):
    for file in ("m.npz:x:1", "s:a.safetensors"):
        if file.startswith("m") and "/" in name:
            continue
        data = odd[name]
        (tensor,) = gather.json("info", file, f"--tensor={name}")["tensors"]
        assert (tensor["name"], tensor["shape"]) == (name, [3, 4])
        for words, expected in (
            (("take", "[2, 0]"), data[[2, 0]]),
            (("take", "[2, 0]", "--memory", "64MiB"), data[[2, 0]]),
            (("take", "[1]", "--axis", "1"), data[:, [1]]),
            (("take", "[5, 0]", "--part", file), np.concatenate([data, data])[[5, 0]]),
            (("elements", "[[0, 1, 2, 0]]"), np.take_along_axis(data, np.array([[0, 1, 2, 0]]), 0)),
            (("nd", "[[1, 2]]"), data[[1], [2]]),
        ):
            assert np.array_equal(gather.result(words[0], file, *words[1:], f"--tensor={name}"), expected), (file, words)
        assert np.array_equal(gather.result("shuffle", file, f"--tensor={name}", "--order", "[1, 1]"), data[[1, 1]])
        assert gather.json("explain", file, "[0]", f"--tensor={name}")["data_shape"] == [3, 4]
        assert gather.json("bench", file, f"--tensor={name}", "--rows", "2")["shape"] == [3, 4]


def test_indices_of_any_name(gather, table):
    np.savez(gather.folder / "i:d.npz", **{"x:1": np.array([2, 0])})
    gather.write("c:d.csv", "a:b,c\n2,1\n0,1\n")
    for file, name in (("i:d.npz", "x:1"), ("c:d.csv", "a:b")):
        for words in (("take", table), ("take", table, "--memory", "64MiB")):
            assert np.array_equal(gather.result(words[0], table, file, *words[2:], "--indices-tensor", name), DATA[[2, 0]])
        assert np.array_equal(gather.result("shuffle", table, "--order", file, "--indices-tensor", name), DATA[[2, 0]])
    assert "no such tensor 'x'" in gather.fails("name_not_found", "take", table, "i:d.npz", "--indices-tensor", "x", "-o", "p.npy")["message"]
    (gather.folder / "i.npz").write_bytes((gather.folder / "i:d.npz").read_bytes())
    gather.fails("file_not_found", "take", table, "i.npz:x:1", "--indices-tensor", "x:1", "-o", "p.npy")  # nothing is split
