# SPDX-License-Identifier: MIT
"""Whole numbers in text: lists with comments and headers, and columns of tables, against Python's csv module."""
import csv
import io
import os
import random
import threading

import numpy as np
import pytest
from gather_files import LIB, GatherError, content, open_source, source_of


def numbers(source, column: str | None = None) -> list[int]:
    """The numbers in a file or in bytes; both ways of opening bytes must agree."""
    name = None if column is None else column.encode()
    more = {"name": b"i.txt"} if isinstance(source, bytes) else {}
    file = open_source(source_of(source, text=True, text_column=name, **more))
    tensor = LIB.gather_file_at(file, 0).contents
    assert LIB.gather_file_format(file) == (b"csv" if column else b"text") and tensor.type_name == b"int64"
    found = np.frombuffer(content(tensor), np.int64).tolist()
    assert tensor.complaint is None and tensor.name == (name or b"")
    found = np.array(found, np.int64).reshape(tensor.shape).tolist()
    LIB.gather_file_close(file)
    return found


def complaint(source, column: str | None = None) -> GatherError:
    with pytest.raises(GatherError) as caught:
        numbers(source, column)
    return caught.value


# ---- lists


@pytest.mark.parametrize(("text", "expected"), [
    (b"", []), (b"# nothing\n", []), (b"\xef\xbb\xbf", []), (b"\xef\xbb\xbf1\n2\n", [1, 2]),
    (b"# ids\n1\n2 # the second\n#\n#!x\n3 #", [1, 2, 3]), (b"1, # one\n2,", [1, 2]), (b"1\r\n# x\r\n2\r\n", [1, 2]),
    (b"id\n1\n2\n", [1, 2]), (b"\n# comment\nuser_id \r\n1,2\n", [1, 2]), (b"\xef\xbb\xbfrow-id\n5", [5]), (b"a.b\n5", [5]),
    (b"# id\n\n ids\t\n7 8 9", [7, 8, 9]), (b"-9223372036854775808\n+9223372036854775807", [-(1 << 63), (1 << 63) - 1]),
    (b"-0 +0 007", [0, 0, 7]),
])
def test_lists(text: bytes, expected: list[int], tmp_path) -> None:
    (tmp_path / "i.txt").write_bytes(text)
    assert numbers(text) == numbers(tmp_path / "i.txt") == expected


@pytest.mark.parametrize(("text", "line", "byte", "words"), [
    (b"id", 1, 0, "nothing follows"), (b"id\n# 1\n", 1, 0, "nothing follows"), (b"id\nid\n1", 2, 3, "'id'"),
    (b"1\nid\n2", 2, 2, "'id'"), (b"x\n1", 1, 0, "'x'"), (b"q7\n1", 1, 0, "FILE:COLUMN"), (b"nan\n1", 1, 0, "'nan'"),
    (b"NaN\n1", 1, 0, "'NaN'"), (b"NULL\n1", 1, 0, "'NULL'"), (b"id name\n1", 1, 0, "header is one word"),
    (b"id,name\n1,2", 1, 0, "FILE:COLUMN"), (b"id # c\n1", 1, 0, "'id'"), (b"id1\n1", 1, 0, "'id1'"), (b'"id"\n1', 1, 0, "FILE:COLUMN"),
    (b"1#2", 1, 0, "'1#2'"), (b"1\n#37\n2", 2, 2, "comment"), (b"1,#\n2", 1, 2, "'#'"), (b"1 2 3;4", 1, 4, "'3;4'"),
    (b"1\n\n1.5\n", 3, 3, "'1.5'"), (b"1,,2", 1, 2, "',2'"), (b"1 \x00", 1, 2, "'?'"), (b"1 \xff\xfe", 1, 2, "'??'"),
    ("1 größer".encode(), 1, 2, "'größer'"), (b"1 " + b"9" * 50, 1, 2, "'" + "9" * 40 + "' does not fit"),
    (b"9223372036854775808", 1, 0, "does not fit"), (b"-9223372036854775809", 1, 0, "does not fit"),
    (b"# c\n" * 70000 + b"1 x", 70001, 280002, "'x'"),
])
def test_lists_that_are_wrong(text: bytes, line: int, byte: int, words: str, tmp_path) -> None:
    (tmp_path / "i.txt").write_bytes(text)
    for error in (complaint(text), complaint(tmp_path / "i.txt")):
        assert error.status == "file_malformed" and f"line {line}: " in error.message and words in error.message
        assert error.offset == byte


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("column", [None, "id"])
def test_other_encodings_are_named(encoding: str, column) -> None:
    text = "\ufeffid\n1\n2\n".encode(encoding)
    error = complaint(text, column)
    assert error.status == "unsupported" and f"text in {encoding[:6].upper()}; " in error.message and "iconv" in error.message
    assert LIB.gather_file_is_text(text, len(text)) == encoding.startswith("utf-16") or "32" in encoding


@pytest.mark.parametrize(("head", "is_text"), [
    (b"1\n2\n", True), (b"", True), (b"\xef\xbb\xbf1", True), (b"id,x\n1,2\n", True), ("größe".encode(), True), (b" \n<net>", False),
    (b"\xef\xbb\xbf<net>", False), ('{"weight_map": {}}'.encode(), False), (b"\xff\xfe<\0n\0", False), (b"\xff\xfe1\0", True),
    (b"PAR1\x15\x04", False), (b"ARROW1\0\0", False), (b"\x93NUMPY\1\0", False), (b"12345678 \x01", True),
])
def test_what_is_text(head: bytes, is_text: bool) -> None:
    assert LIB.gather_file_is_text(head, len(head)) == is_text


# ---- numbers as floats are written


FLOATS = [  # the text, and the number; or why it is none
    ("1.0", 1), ("1e+05", 100000), ("1.000000000000000000e+00", 1), ("-2.500000000000000000e+01", -25), ("0.000000000000000000e+00", 0),
    ("1.", 1), ("-0.0", 0), ("+3.00E2", 300), ("1e0", 1), ("120e-1", 12), ("00012.3400e2", 1234), ("1.23456789e8", 123456789), (".5e1", 5),
    ("0e999999999999999999999", 0), ("0e-5", 0), ("1" + "0" * 30 + "e-30", 1), ("0." + "0" * 30 + "1e31", 1), ("1e15", 10**15),
    ("9007199254740992.0", 2**53), ("9.007199254740992e15", 2**53), ("-9007199254740992.", -(2**53)), ("9007199254740993", 2**53 + 1),
    ("9007199254740993.0", "is beyond 2^53"), ("9.007199254740994e15", "is beyond 2^53"), ("1e18", "is beyond 2^53"), ("-1e16", "is beyond 2^53"),
    ("1e19", "does not fit in int64"), ("1e999999999999999999999", "does not fit in int64"), ("9" * 40 + ".0", "does not fit in int64"),
    ("1.5", "is not a whole number"), ("1e-1", "is not a whole number"), ("1e-999999999999999999999", "is not a whole number"),
    ("9" * 40 + ".5", "is not a whole number"), ("1.0000000000000000001", "is not a whole number"), ("nan", "is not a whole number"),
    ("inf", "is not a whole number"), ("-inf", "is not a whole number"), (".", "is not a whole number"), ("-.", "is not a whole number"),
    ("e5", "is not a whole number"), (".e5", "is not a whole number"), ("1e", "is not a whole number"), ("1e+", "is not a whole number"),
    ("1.2.3", "is not a whole number"), ("1e5.0", "is not a whole number"), ("1e5e1", "is not a whole number"), ("--1", "is not a whole number"),
    ("1-", "is not a whole number"), ("0x10", "is not a whole number"), ("1_000", "is not a whole number"), ("1d5", "is not a whole number"),
]


@pytest.mark.parametrize(("text", "expected"), FLOATS, ids=lambda value: str(value)[:40])
def test_whole_numbers_as_floats_are_written(text: str, expected) -> None:
    lists = ([f"7\n{text}\n", None], [f"x,id\na,{text}\n", "id"], [f"{text},0\n", "#0"] if text[0] in "0123456789" else None, [f"[7, {text}]", None])
    for source, column in filter(None, lists):
        if isinstance(expected, str):
            error = complaint(source.encode(), column)
            assert error.status == "file_malformed" and (expected in error.message or column == "#0"), error.message
        else:
            assert numbers(source.encode(), column)[-1] == expected, source


def test_random_decimals_are_read_as_python_reads_them() -> None:
    from decimal import Decimal
    rng = random.Random(5)
    for _ in range(3000):
        digits = "".join(rng.choice("000123456789") for _ in range(rng.randrange(1, 22)))
        point = rng.randrange(len(digits) + 1)
        text = rng.choice(["", "-", "+"]) + digits[:point] + rng.choice(["", "."]) + digits[point:] + rng.choice(["", f"e{rng.randrange(-22, 22)}"])
        exact = Decimal(text)
        whole = exact == exact.to_integral_value() and -(2**63) <= exact < 2**63
        good = whole and (text.lstrip("+-").isdigit() or abs(exact) <= 2**53)
        if good:
            assert numbers(f"7\n{text}".encode()) == [7, int(exact)], text
        else:
            assert complaint(f"7\n{text}".encode()).status == "file_malformed", text


def test_what_numpy_writes(tmp_path) -> None:
    ids = np.array([0, 3, 100000, -1, 2**40])
    np.savetxt(tmp_path / "a.txt", ids)
    np.savetxt(tmp_path / "b.txt", ids, fmt="%g")
    np.savetxt(tmp_path / "c.txt", ids, header="user ids")
    assert numbers(tmp_path / "a.txt") == numbers(tmp_path / "c.txt") == ids.tolist()
    assert numbers(tmp_path / "b.txt")[:4] == ids[:4].tolist()
    for text in (str(ids), str(ids.astype(float)[:3]), repr(ids.tolist()), np.array2string(ids.reshape(5, 1), separator=", ")):
        assert np.array(numbers(text.encode())).ravel().tolist() == ids.tolist()[:3 if "." in text else 5], text


# ---- lists in brackets, and lines


@pytest.mark.parametrize(("text", "expected"), [
    (b"[1, 2, 3]", [1, 2, 3]), (b"[]", []), (b"[[1,2],[3,4]]\n", [[1, 2], [3, 4]]), (b" [[1 2]\n [3 4]]", [[1, 2], [3, 4]]),
    (b"\xef\xbb\xbf[1,\r\n2]\r\n", [1, 2]), (b"[[], []]", [[], []]), (b"[[[5]]]", [[[5]]]), (b"[1.0, 2e0]", [1, 2]),
    (b"[" * 64 + b"7" + b"]" * 64, None), (b"1 2\n3 4\n", [1, 2, 3, 4]), (b"1,2\n\n# c\n3,4", [1, 2, 3, 4]), (b"1,\n2,\n", [1, 2]), (b"1 2 3\n4 5 6\n7\n", [1, 2, 3, 4, 5, 6, 7]),
    (b"ids\n1 2 # two\n3 4\n", [1, 2, 3, 4]), (b"1 2 3", [1, 2, 3]),
])
def test_brackets_and_lines(text: bytes, expected, tmp_path) -> None:
    (tmp_path / "i.txt").write_bytes(text)
    found = numbers(text)
    assert found == numbers(tmp_path / "i.txt") and (expected is None or found == expected)
    assert LIB.gather_file_is_text(text, len(text))


@pytest.mark.parametrize(("text", "line", "words"), [
    (b"[1, 2", 1, "not closed"), (b"[[1, 2],\n [3]]", 2, "a list has 1 items; the first one has 2"), (b"[1, [2]]", 1, "a list among numbers"),
    (b"[[1],\n 2]", 2, "a number among lists"), (b"[[], 1]", 1, "a number among lists"), (b"[1,,2]", 1, "before the comma"),
    (b"[,1]", 1, "before the comma"), (b"[1,]", 1, "after the comma"), (b"[1] 2", 1, "unexpected text"), (b"[1]]", 1, "unexpected text"),
    (b"[1, 2.5]", 1, "'2.5' is not a whole number"), (b"[1, null]", 1, "'null' is not"), (b"[1, ... 3]", 1, "'...' is not"), (b"[\n", 2, "not closed"),
    (b"[" * 65 + b"1" + b"]" * 65, 1, "more than 64 deep"), (b"[[1], []]", 1, "a list has 0 items"), (b"[[[1]], []]", 1, "an empty list among"),
    (b"[[[]], [[1]]]", 1, "a list has 1 items"), (b'["1"]', 1, "'\"1\"' is not"), (b"[1 # one\n]", 1, "'#'"),
    (b"1 2\n3\n4 5", 2, "has 1 number; the first one has 2"), (b"1\n2 3\n4\n", 2, "has 2 numbers; the first one has 1"),
    (b"# c\n1 2 3\n\n4 5 6\n7 8\n# d\n9 10 11", 5, "has 2 numbers; the first one has 3"), (b"1 2\n3 4 5", 2, "has 3 numbers; the first one has 2"),
    (b"1\n2 3", 2, "has 2 numbers; the first one has 1"),
])
def test_brackets_and_lines_that_are_ragged(text: bytes, line: int, words: str, tmp_path) -> None:
    (tmp_path / "i.txt").write_bytes(text)
    for error in (complaint(text), complaint(tmp_path / "i.txt")):
        assert error.status == "file_malformed" and f"line {line}" in error.message and words in error.message, error.message


def test_a_damaged_byte_never_hides_a_number() -> None:
    """Each bit of a list is turned: what is read then is an error, or as many numbers, or one was split by white space."""
    text = b"1337\n20\n-455\n6081\n"
    for bit in range(8 * len(text)):
        damaged = bytearray(text)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            found = numbers(bytes(damaged))
        except GatherError:
            continue
        digits = sum(byte in b"0123456789" for byte in damaged)
        assert digits >= sum(byte in b"0123456789" for byte in text) - 1
        assert sum(len(str(abs(number))) for number in found) >= digits - 2 or b" " in damaged, bytes(damaged)


# ---- columns of tables


@pytest.mark.parametrize(("text", "column", "expected"), [
    (b"id\n1\n2\n", "id", [1, 2]), (b"id,x\n1,a\n-2,b", "id", [1, -2]), (b"x,id\r\na,1\r\nb,2\r\n", "id", [1, 2]),
    (b"x\tid\na\t1\nb, c;\t2\n", "id", [1, 2]), (b"x;id\na,b;1\n", "id", [1]), (b"\xef\xbb\xbfid,x\n1,2\n", "id", [1]),
    (b'"id","x, y"\n"1","a ""quoted"" b"\n2,"two\nlines"\n3,\n', "id", [1, 2, 3]), (b" x , id \n 1 , 2 \n", "id", [2]),
    (b"\n\nid,x\n\n1,2\n\r\n3,4\n\n", "id", [1, 3]), (b"id\r1\r2", "id", [1, 2]), (b"id,x\n", "id", []), (b"id", "id", []),
    ("größe,x\n1,2\n".encode(), "größe", [1]), (b'"a ""b""",x\n1,2\n', 'a "b"', [1]), (b"x,x\n1,2\n", "#1", None),
    (b",0\n0,17\n1,3\n", '"0"', [17, 3]), (b",0\n0,17\n1,3\n", '""', [0, 1]), (b"0\n17\n3\n", '"0"', [17, 3]),
    (b"17,3\n5,6\n", "0", [17, 5]), (b"17,3\n5,6\n", "1", [3, 6]), (b"17,3\n5,6\n", "#1", [3, 6]), (b"0,1\n5,6\n", "#0", [0, 5]),
    (b"0,1\n5,6\n", '"1"', [6]), (b"a,5\nb,6\n", "1", [5, 6]), (b"a,5\nb,6\n", "#01", [5, 6]),
    (b'"a\nb",id\n1,2\n', "id", [2]), (b"it's 5\" long,id\nx,1\n", "id", [1]), (b"5\" x,id\na\"b,1\n", "id", [1]),
])
def test_columns(text: bytes, column: str, expected, tmp_path) -> None:
    if expected is None:
        assert complaint(text, column).status == "file_malformed"
        return
    (tmp_path / "i.csv").write_bytes(text)
    assert numbers(text, column) == numbers(tmp_path / "i.csv", column) == expected


@pytest.mark.parametrize(("text", "column", "status", "byte", "words"), [
    (b"", "id", "name_not_found", -1, "empty"), (b"a,b\n1,2", "id", "name_not_found", -1, "has: 'a', 'b'; "),
    (b"id,id\n1,2", "id", "name_not_found", -1, "2 columns"),
    (b"a,b,c,d,e,f,g,h\n" + b"1," * 7 + b"1", "z", "name_not_found", -1, "'g', 'h'; "),
    (b"a,b,c,d,e,f,g,h,i,j\n" + b"1," * 9 + b"1", "z", "name_not_found", -1, "'g', 'h', ...; "), (b"1,2\n", "2", "file_malformed", 0, '"2"'),
    (b"1,3\n", "2", "name_not_found", -1, "0 to 1"), (b"1,2\n", "#2", "name_not_found", -1, "0 to 1"),
    (b"1,2\n", "#9999999999999999999999", "name_not_found", -1, ""), (b"1,2", "#x", "name_not_found", -1, "'#x'"),
    (b"id,x\n1,2\n", "0", "file_malformed", 0, "the name of the column: 'id', 'x'"), (b"id,x\n1,2\n", "#0", "file_malformed", 0, "header"),
    (b"id,x\n1\n", "id", "file_malformed", 5, "line 2 has 1 field;"), (b"id,x\n1,2\n1,2,3\n", "id", "file_malformed", 9, "line 3 has 3 fields"),
    (b"id,x\n1,2\n,3\n", "id", "file_malformed", 9, "line 3, column 'id': '' is empty"),
    (b'id,x\n"",3\n', "id", "file_malformed", 5, "line 2, column 'id': '' is empty"),
    (b"x,id\na,1.5\n", "id", "file_malformed", 7, "line 2, column 'id': '1.5' is not a whole number"),
    (b"x,id\na,1 2\n", "id", "file_malformed", 7, "'1 2'"), (b"x,id\na,-\n", "id", "file_malformed", 7, "'-'"),
    (b"x,id\na,1e\n", "id", "file_malformed", 7, "'1e'"), (b"x,id\na,1-2\n", "id", "file_malformed", 7, "'1-2'"),
    (b"x,id\na,9223372036854775808\n", "id", "file_malformed", 7, "does not fit"),
    (b'x,id\n"a\n\nb",1\nc,x\n', "id", "file_malformed", 16, "line 5, column 'id': 'x'"),
    (b'x,id\n"a,1\nb,2\n', "id", "file_malformed", 5, "line 2: this quote"), (b'x,id\n"a"b,1\n', "id", "file_malformed", 8, "closing quote"),
    (b'x\tid\n"a\t1\nb"\t2\n', "id", "file_malformed", 5, "not closed on its line"),
    (b"x,y;id\n1,2;3\n", "id", "file_malformed", 0, "commas and semicolons"), (b"1,5;2\n", "0", "file_malformed", 0, "commas and semicolons"),
    (b"7,a\nx,b\n", "0", "file_malformed", 4, "line 2, column 0: 'x'"), (b'x,"y\tid\n1,2"\t3\n', "id", "file_malformed", 0, "quotes"),
    (b"id," + b"x" * (1 << 20) + b"\n1,2\n", "id", "file_malformed", -1, "first record"),
])
def test_columns_that_are_wrong(text: bytes, column: str, status: str, byte: int, words: str, tmp_path) -> None:
    (tmp_path / "i.csv").write_bytes(text)
    for error in (complaint(text, column), complaint(tmp_path / "i.csv", column)):
        assert (error.status, error.offset) == (status, byte), error
        assert words in error.message


@pytest.mark.parametrize("seed", range(40))
def test_tables_that_pythons_csv_writes(seed: int, tmp_path) -> None:
    rng = random.Random(seed)
    separator, quoting = rng.choice(",\t;"), rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    end = rng.choice(["\n", "\r\n"])  # Python does not quote a CR where lines end with LF
    letters = "ab \"'é" + {",": ",\n" + end[:-1], "\t": "|", ";": ";\n"}[separator]
    columns, rows, wanted = rng.randint(1, 6), rng.randint(0, 3000), []
    at, text = rng.randrange(columns), io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerow([f"c{i}" for i in range(columns)])
    for _ in range(rows):
        row = ["".join(rng.choice(letters) for _ in range(rng.randint(0, 6))) or "x" for _ in range(columns)]
        row[at] = rng.choice([0, 1, -1, (1 << 63) - 1, -(1 << 63), rng.randint(-(10**9), 10**9)])
        wanted.append(row[at])
        writer.writerow(row)
    source = text.getvalue().encode()
    (tmp_path / "i.csv").write_bytes(source)
    assert numbers(source, f"c{at}") == numbers(tmp_path / "i.csv", f"c{at}") == wanted


def test_files_and_pipes_that_cannot_be_read(tmp_path) -> None:
    assert complaint(tmp_path / "none").status == "file_not_found"
    assert complaint(tmp_path).status == "io_error"
    os.mkfifo(tmp_path / "pipe")

    def feed() -> None:
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            for byte in b"\xef\xbb\xbfid,x\n1,2\n":
                pipe.write(bytes([byte]))

    thread = threading.Thread(target=feed)
    thread.start()
    assert numbers(tmp_path / "pipe", "id") == [1]
    thread.join()
