# SPDX-License-Identifier: MIT
"""The public headers for ctypes, read when this module is imported: no test has a copy of a structure that may grow old.

Each struct with a body is a class under its own name (`from support.headers import gather_error as Error`), each number of an enum or of
a #define a constant (`GATHER_MAX_RANK`), those of the .def files included. library() is the shared library that the environment variable
GATHER_LIB names, with the types of all functions set; without it the tests fail: they must not pass by not running.

In C and here: enums are int; text that is const is bytes, and so is room for text; what must be freed, and structs without a body, are
addresses (c_void_p). What this module does not understand, it refuses.
"""
import ctypes as c
import os
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "include"
HEADERS = "gather dlpack tree scatter codec file remote table shuffle model explain"  # each after those that it needs
PLAIN = {"void": None, "bool": c.c_bool, "char": c.c_char, "size_t": c.c_size_t, "int": c.c_int, "float": c.c_float, "double": c.c_double}
PLAIN |= {f"{sign}int{bits}_t": getattr(c, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
POINTER_TO = {c.c_char: c.c_char_p, None: c.c_void_p}
OPAQUE = object()  # a struct without a body

types: dict[str, object] = dict(PLAIN)
numbers: dict[str, int] = {"INT64_MAX": 2**63 - 1, "INT64_MIN": -(2**63)}
functions: dict[str, tuple] = {}


def split(text: str, at: str) -> list[str]:
    """The parts between the characters `at` that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "({") - (letter in ")}")
        if letter == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [" ".join(part.split()) for part in parts if part.strip()]


def pointer(kind: object, freed: bool = False) -> object:
    if kind is OPAQUE or (freed and kind is c.c_char):
        return c.c_void_p
    return POINTER_TO[kind] if kind in POINTER_TO else c.POINTER(kind)


def function(result: str, arguments: str) -> tuple:
    result = f"{result} result" if not result.endswith("*") else f"{result}result"
    given = [declared(one)[0][1] for one in split(arguments, ",") if one not in ("void", "...")]
    kinds = [c.POINTER(kind._type_) if isinstance(kind, type) and issubclass(kind, c.Array) else kind for kind in given]
    return declared(result, freed="const" not in result)[0][1], kinds


def declared(text: str, freed: bool = False) -> list[tuple[str, object]]:
    """The names that one declaration declares, with their types."""
    if inner := re.fullmatch(r"struct \{(.*)\} (\w+)", text):
        return [(inner[2], type(inner[2], (c.Structure,), {"_fields_": fields(inner[1])}))]
    if called := re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", text):
        result, kinds = function(called[1].strip(), called[3])
        return [(called[2], c.CFUNCTYPE(result, *kinds))]
    word, names = re.fullmatch(r"(?:const )?(?:struct )?(\w+)\b(.*)", text).groups()
    found = []
    for name in split(names, ","):
        stars, name, length = re.fullmatch(r"((?:\*| |const\b)*)(\w+)(?:\[(\w+)\])?", name).groups()
        kind = types[word]
        for _ in range(stars.count("*")):
            kind = pointer(kind, freed)
        found.append((name, kind * int(numbers.get(length, length)) if length else kind))
    return found


def fields(body: str) -> list[tuple[str, object]]:
    return [pair for declaration in split(body, ";") for pair in declared(declaration)]


def rows(macros: re.Match) -> str:
    """What #include of a .def file is within an enum."""
    text = (FOLDER / macros[2]).read_text(encoding="utf-8")
    found = ""
    beginnings = dict(re.findall(r"#define (\w+)\(ENUM, number.*\) (\w+)##ENUM = number,", macros[1]))
    for macro, other in re.findall(r"^#define (\w+)\(ENUM, number.*?\) (\w+)\(ENUM, number,", text, re.M):  # one that is another by default
        beginnings.setdefault(macro, beginnings.get(other))
    for macro, beginning in beginnings.items():
        found += "".join(f"{beginning}{name} = {number}," for name, number in re.findall(rf"^{macro}\((\w+), *(\d+)", text, re.M))
    return found


def declare(text: str) -> None:
    """Constants, and structs without their fields: a header may point to what a later one defines."""
    for name, value in re.findall(r"^#define (GATHER_\w+) (\d+|INT64_\w+)$", text, re.M):
        numbers[name] = int(numbers.get(value, value))
    for name, body in re.findall(r"\benum (\w*) ?\{(.*?)\}", text, re.S):
        types[name] = c.c_int
        value = -1
        for item in split(body, ","):
            key, _, given = item.partition(" = ")
            numbers[key] = value = eval(given, dict(numbers)) if given else value + 1  # noqa: S307  (numbers of our own headers)
    types.update({name: type(name, (c.Structure,), {}) for name in re.findall(r"^typedef struct (\w+) \{", text, re.M)})


def define(text: str) -> None:
    """The fields of structs, and the functions."""
    for name in re.findall(r"\bstruct (\w+)", text):
        types.setdefault(name, OPAQUE)
    for result, name, arguments in re.findall(r"^typedef ([\w ]+) \(\*(\w+)\)\((.*?)\);", text, re.M | re.S):
        result, kinds = function(result, arguments)
        types[name] = c.CFUNCTYPE(result, *kinds)
    for name, body in re.findall(r"^typedef struct (\w+) \{(.*?)^\} \1;", text, re.M | re.S):
        types[name]._fields_ = fields(body)
    for prototype in re.findall(r"^GATHER_API (.*?);", text, re.M | re.S):
        prototype = re.sub(r"GATHER_(CHECKED|PRINTF_LIKE\(.*?\))", "", prototype)
        result, name, arguments = re.fullmatch(r"(.*?)(\w+)\((.*)\)", " ".join(prototype.split())).groups()
        functions[name] = function(result.strip(), arguments)


def read(path: Path) -> str:
    """A header without comments; the rows of .def files in their places."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S).replace("\\\n", " ")
    return re.sub(r'((?:^#define .*\n)+)#include "([\w/]+\.def)"\n(?:#undef.*\n)+', rows, text, flags=re.M)


_texts = [read(FOLDER / "gather" / f"{_name}.h") for _name in HEADERS.split()]
for _text in _texts:
    declare(_text)
for _text in _texts:
    define(re.sub(r"^#.*", "", _text, flags=re.M))
globals().update({name: kind for name, kind in types.items() if name.startswith("gather_") and kind is not OPAQUE}, **numbers)
STATUSES = re.findall(r'^GATHER_STATUS\(\w+, \d+, "(\w+)"', (FOLDER / "gather/status.def").read_text(encoding="utf-8"), re.M)


@cache
def library() -> c.CDLL:
    """The library under test."""
    if not os.environ.get("GATHER_LIB"):
        raise RuntimeError("GATHER_LIB must name the shared library under test")
    found = c.CDLL(os.environ["GATHER_LIB"])
    for name, (result, arguments) in functions.items():
        if hasattr(found, name):  # a build without a part lacks its functions
            getattr(found, name).restype, getattr(found, name).argtypes = result, arguments
    return found


def methods(struct: type):
    """A decorator: what the class below it defines, `struct` has."""
    def give(source: type) -> None:
        for name, member in vars(source).items():
            if not name.startswith("__"):
                setattr(struct, name, member)

    return give


def int64s(values) -> c.Array:
    """A C array of int64 that holds `values` (one spare element, so that it is never empty)."""
    values = [int(v) for v in values]
    return (c.c_int64 * (len(values) + 1))(*values)


def tensor(type_number: int, shape, data=None, strides=None, item_bytes=0, packed_offset=0, flags=0):
    """A gather_tensor. The arrays it points to live as long as it does."""
    return types["gather_tensor"](data, type_number, len(shape), item_bytes, int64s(shape), None if strides is None else int64s(strides),
                                  packed_offset, flags)
