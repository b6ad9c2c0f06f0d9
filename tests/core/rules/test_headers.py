# SPDX-License-Identifier: MIT
"""support/headers.py reads the headers as the compiler does: sizes, offsets, and the values of constants."""
import ctypes as c
import os
import subprocess

from support import headers

STRUCTS = {name: kind for name, kind in headers.types.items() if isinstance(kind, type) and issubclass(kind, c.Structure)}
PROGRAM = """#include <stdio.h>
%s
int main(void) {
#define SHOW(value) printf("%%s %%lld\\n", #value, (long long)(value));
%s
return 0;
}
"""


def test_layouts_and_numbers_are_the_compilers(tmp_path):
    ours = {f"sizeof({name})": c.sizeof(kind) for name, kind in STRUCTS.items()}
    ours |= {f"offsetof({name}, {field})": getattr(kind, field).offset for name, kind in STRUCTS.items() for field, _ in kind._fields_}
    ours |= headers.numbers
    assert len(STRUCTS) >= 40 and len(headers.functions) >= 100 and len(ours) >= 500
    includes = "\n".join(f'#include "gather/{name}.h"' for name in headers.HEADERS.split())
    (tmp_path / "show.c").write_text(PROGRAM % (includes, "\n".join(f"SHOW({name})" for name in ours)))
    subprocess.run([os.environ["GATHER_CC"], "-I", headers.FOLDER, "-o", tmp_path / "show", tmp_path / "show.c"], check=True)
    printed = subprocess.run([tmp_path / "show"], check=True, capture_output=True, text=True).stdout.splitlines()
    theirs = {name: int(number) for name, _, number in (line.rpartition(" ") for line in printed)}
    assert {name: (ours[name], theirs.get(name)) for name in ours if ours[name] != theirs.get(name)} == {}


def test_every_export_is_read():
    """A function that this module overlooks would be called without types: addresses would be cut to 32 bits."""
    text = "".join(path.read_text(encoding="utf-8") for path in (headers.FOLDER / "gather").glob("*.h"))
    assert text.count("\nGATHER_API ") == len(headers.functions)
