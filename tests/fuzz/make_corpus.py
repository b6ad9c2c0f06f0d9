# SPDX-License-Identifier: MIT
"""Makes the small corpus that the fuzz targets start from: FOLDER/npy and FOLDER/raw.

Standard library only, and the same bytes every time. Good files and files that are wrong in one place.
"""
import pathlib
import struct
import sys

DESCRS = [
    "'<f4'", "'>i8'", "'|b1'", "'|S5'", "'<U3'", "'>U2'", "'|V12'", "'<M8[ns]'", "'>m8[25s]'", "'<c16'", "'<f2'",
    "'=f8'", "'<f16'", "'>c32'", "'|S0'", "'|O'", "'f4'", "'float32'", "\"<u2\"", "u'<u4'", "'<f5'", "''", "'<M8[x]'",
    "[]", "[('a', '<i4'), ('b', '>f8', (2, 3))]", "[('', '|V3'), ('b', '|u1')]", "[(('title', 'n'), '<i2')]",
    "[('a', [('b', '<i2'), ('c', [('d', '|S3')])]), ]", "[('a', ('<f4', (2,)))]", "[('a', '<i4', 7)]",
    "[('a', '<i4', (2L, 3L))]", "[('a', '|O')]", "[('it\\'s', '<i4')]", "[('a', '<i4', (9223372036854775807,))]",
    "[" * 70 + "]" * 70,
]
SHAPES = [
    "()", "(3,)", "(2, 3)", "(0, 5)", "(3L, 2L)", "(0x2, 1_0)", "(1, 1, 1, 1, 1, 1, 1, 1)", "(-1,)", "(3)", "(2, 3",
    "(9223372036854775807, 2)", "(99999999999999999999,)", "(0, 9223372036854775807, 9223372036854775807)",
    "(" + "1, " * 64 + ")", "(" + "1, " * 65 + ")", "[2]", "(2.0,)",
]
HEADERS = [
    "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
    "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
    '{"descr":"<f4","fortran_order":False,"shape":(2,)}',
    "{ 'descr' : '<f4' , # comment\n 'fortran_order' : False , 'shape' : ( 2 , ) , } ",
    "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
    "{'descr': '<f4', 'fortran_order': False}",
    "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
    "{'other': 1}", "{", "", "[]", "{'descr': '<f4",
]


def npy(header: str, version: int = 1, data: int = 256, encoding: str = "latin1", lie: int = 0) -> bytes:
    """A .npy file of that header; `lie` is added to the length it says it has."""
    text = header.encode(encoding)
    length = struct.pack("<H" if version == 1 else "<I", len(text) + lie)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + bytes(i & 255 for i in range(data))


def raw(type_name: str, shape: list[int], offset: int = 0, data: int = 64) -> bytes:
    """An input of fuzz_raw.c."""
    numbers = struct.pack(f"<{2 + len(shape)}q", len(shape), offset, *shape)
    return type_name.encode() + b"\0" + numbers + bytes(range(data))


def npy_files() -> list[bytes]:
    dictionary = "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}\n"
    files = [npy(dictionary.format(descr, "(3,)")) for descr in DESCRS]
    files += [npy(dictionary.format("'<f4'", shape)) for shape in SHAPES]
    files += [npy(header) for header in HEADERS]
    plain = dictionary.format("'<f4'", "(3,)")
    files += [npy(plain, 2), npy(plain, 3), npy(plain, 4), npy(plain, lie=1000), npy(plain, lie=-3), npy(plain, data=11)]
    named = dictionary.format("[('gr\u00f6\u00dfe', '<f4'), ('\u00b5', '<i2')]", "(3,)")
    files += [npy(named), npy(named, 3, encoding="utf8"), npy(named, 3)]
    magics = [b"PK\x03\x04", b"\x80\x04\x95", b"\x89HDF\r\n\x1a\n", b"GGUF", b"\x08\x07\x12\x04", b"<?xml", b"\x1f\x8b"]
    return files + [b"\x93NUM"] + [magic + bytes(20) for magic in magics]


def raw_files() -> list[bytes]:
    types = ["float32", "FLOAT", "f32", "int4", "uint1", "u3", "u6", "<f4", ">f4", "|S5", "<U3", "|V12", ">M8[s]", "string",
             "bool", "nothing", "", "[('a', '<i4'), ('b', '>i2')]", "[('a', '<i4')] x", "|O", "<f16"]
    files = [raw(name, [2, 3]) for name in types]
    shapes = [[], [0], [1 << 62, 4], [0, 1 << 62, 1 << 62], [-1], [1000], [1] * 64, [1] * 65, [3, 5]]
    return files + [raw("u3", shape) for shape in shapes] + [raw("int8", [3], offset) for offset in (61, 62, -1, 1 << 62)]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for name, files in (("npy", npy_files()), ("raw", raw_files())):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i, content in enumerate(files):
            (folder / name / f"{i:03}").write_bytes(content)


if __name__ == "__main__":
    main()
