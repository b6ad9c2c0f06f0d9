# SPDX-License-Identifier: MIT
"""The corpus of the targets that choose something besides a file: text and a column, literals and a type, options and a format; and of
scatters, which are choices and nothing else."""
import random

from corpus_quantised import quantised_files

CHOICES = 32  # bytes, as choices.h has them


def text_files() -> list[bytes]:
    """The name of a column, a zero byte, and a text."""
    lists = [b"1 2,3\n", b"# c\n1 # d\r\n-2\n", b"\xef\xbb\xbfuser_id\n7\n8\n", b"nan\n1", b"1#2", b"1\n#3\n", b"1,,2", b"9" * 20, b"",
             b"-9223372036854775808 9223372036854775807", b"id", b"1 \0", b"\xff\xfe1\0\n\0", b"\xfe\xff\0001", b"1\n" * 300, b"1,#", b"+ 1",
             b"1.000000000000000000e+00\n-2.5e1\n0.\n", b"1e+05 1.5", b"9007199254740993.0", b"1e99999999999", b".5e1\n1e-1", b"[1, 2, 3]", b"[[1 2]\n [3 4]]",
             b"[[1],[2,3]]", b"[[], []]", b"[" * 64 + b"1" + b"]" * 64, b"[" * 65, b"[1", b"[1] 2", b"[1,]", b"1 2\n3\n4 5", b"1 2\n3 4\n5"]
    tables = [(b"id", b"id,x\n1,a\n-2,b\n"), (b"id", b"x\tid\r\na b\t1\r\n"), (b"id", b'"x ""y""\n","id"\n"a, b","5"\n'), (b"id", b"x;id\n,;1"),
              (b"#0", b"1,2\n3,4"), (b"1", b"7,8\n"), (b"1", b"0,1\n2,3\n"), (b'"1"', b"0,1\n2,3\n"), (b"id", b"id,id\n1,2"),
              (b"id", b'id\n"1'), (b"id", b'x\tid\n"a\t1\nb"\t2\n'), (b"id", b"x,y;id\n"), (b"#99999999999999999999", b"1"), (b"", b"1,2"),
              (b"id", b"id,x\n1\n"), (b'""', b",a\n1,2\n"), (b"id", b"\n\n id , x\n 1 , 2\n\n"), (b"a\xff", b"a\xff\n1"), (b"id", b"id\r1\r2")]
    return [b"\0" + text for text in lists] + [column + b"\0" + text for column, text in tables] + [text for text in lists[:2]]


def literal_files() -> list[bytes]:
    """The number of a type, and a literal."""
    texts = ["3", "-1", "[]", "[[0, 2], [1, -1]]", "[[1], [2, 3]]", "[[], []]", " [ 1 , 2 ] ", "[1.5, nan, -inf]", "[true, false]", "[1", "1]",
             "[" * 65 + "]" * 65, "[" * 64 + "1" + "]" * 64, "9223372036854775807", "-9223372036854775808", "9223372036854775808", "[1e999]",
             "[0x1]", "[1,,2]", "[+1]", "0.1", "[65504, 65520]", "[" + "1," * 200 + "1]", "[" + "9" * 70 + "]", ""]
    return [bytes([kind]) + text.encode() for text in texts for kind in (1, 5, 10, 11, 12, 17, 23, 16)]


def _choices(files: list[bytes], seed: int, each: int, none: bool = True) -> list[bytes]:
    """Each file behind random choices, and, with none, behind those that are 0."""
    rng = random.Random(seed)
    made = [rng.randbytes(CHOICES) + content for content in files for _ in range(each)]
    return made + [bytes(CHOICES) + content for content in files if none]


def _some(formats: list[list[bytes]], count: int) -> list[bytes]:
    """Some of each format: the first ones, which are good, and one of the others; short ones, since each beginning is run."""
    chosen = []
    for files in formats:
        short = [content for content in files if len(content) < 1500]
        chosen += short[:count] + short[count :: max(1, len(short) // 2)]
    return chosen


def take_files(formats: list[list[bytes]]) -> list[bytes]:
    return _choices(_some(formats, 4), 1, 4)


def table_files(formats: list[list[bytes]]) -> list[bytes]:
    # Quantised tensors, whose first tensor has the codes: choose_options of fuzz_table.c up to the type that rows are decoded to.
    quantised = [bytes([0, memory, 1, 0, 0, 0, 1, kind, codec]) + bytes([0]) + bytes(range(CHOICES - 10)) + content
                 for content in quantised_files() for memory, kind, codec in ((0, 2, 0), (2, 3, 5))]  # fmt: skip
    return _choices(_some(formats, 1), 2, 1, none=False) + quantised


def scatter_files() -> list[bytes]:
    """Random choices; each beginning is run, and what is missing is 0."""
    rng = random.Random(3)
    return [rng.randbytes(90) for _ in range(60)]
