# SPDX-License-Identifier: MIT
"""duck_slots.def against the host: an extension made here asks the dynamic linker which function each place of the host's struct is."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from duckdb_data import host

SOURCE = Path(__file__).parents[2] / "plugin" / "duckdb"
SLOTS = re.findall(r"^DUCK_(SLOT|LATER)\((\d+), .*?,\s+(\w+),\s+\(.*\)\)$", (SOURCE / "duck_slots.def").read_text(), re.M)

PROBE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
struct access { void (*set_error)(void *, const char *); void *(*get_database)(void *); const void *(*get_api)(void *, const char *); };
__attribute__((visibility("default"))) bool probe_init_c_api(void *info, struct access *access);
bool probe_init_c_api(void *info, struct access *access) {
  static const int numbers[] = { NUMBERS };
  void *const *slots = access->get_api(info, "v1.2.0");
  FILE *file = slots ? fopen(OUT, "w") : NULL;
  if (!file) return false;
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    Dl_info found;
    bool known = dladdr(slots[numbers[i]], &found) && found.dli_sname && found.dli_saddr == slots[numbers[i]];
    fprintf(file, "%d %s\\n", numbers[i], known ? found.dli_sname : "?");
  }
  return fclose(file) == 0;
}
"""
LOAD = "import duckdb, sys; duckdb.connect(config={'allow_unsigned_extensions': 'true'}).execute(f\"LOAD '{sys.argv[1]}'\")"


def build(folder: Path, numbers: list[str], platform: str) -> Path:
    """The probe as an extension for this host."""
    (folder / "probe.c").write_text(PROBE.replace("NUMBERS", ", ".join(numbers)).replace("OUT", f'"{folder}/slots"'))
    command = [os.environ.get("GATHER_CC", "cc"), "-shared", "-fPIC", "-o", folder / "probe.so", folder / "probe.c", "-ldl"]
    subprocess.run(command, check=True)
    trailer = runpy.run_path(str(SOURCE / "trailer.py"))["trailer"]
    made = folder / "probe.duckdb_extension"
    made.write_bytes((folder / "probe.so").read_bytes() + trailer(platform, "v0"))
    return made


def names_of(duckdb, folder: Path, slots: list) -> dict[str, str]:
    """number: the name of the host's function there."""
    platform = duckdb.connect().execute("PRAGMA platform").fetchone()[0]
    extension = build(folder, [number for _, number, _ in slots], platform)
    subprocess.run([sys.executable, "-c", LOAD, str(extension)], check=True)
    return dict(line.split() for line in (folder / "slots").read_text().splitlines())


def test_every_slot_is_the_named_function(tmp_path):
    duckdb = host()
    later = tuple(map(int, duckdb.__version__.split(".")[:3])) >= (1, 5, 6)
    slots = [slot for slot in SLOTS if later or slot[0] == "SLOT"]
    found = names_of(duckdb, tmp_path, slots)
    if set(found.values()) == {"?"}:
        pytest.fail("this host does not export its functions, so their names are unknown")
    # A small function may share its code with another one: then the linker has no name for it here, but the others have theirs.
    wrong = {number: (name, found[number]) for _, number, name in slots if found[number] not in (f"duckdb_{name}", "?")}
    unknown = [name for _, number, name in slots if found[number] == "?"]
    assert not wrong and len(unknown) <= 3, (wrong, unknown)


def test_the_probe_can_fail(tmp_path):
    """One place further, every name is another."""
    duckdb = host()
    moved = [(kind, str(int(number) + 1), name) for kind, number, name in SLOTS if kind == "SLOT"]
    found = names_of(duckdb, tmp_path, moved)
    assert sum(found[number] == f"duckdb_{name}" for _, number, name in moved) == 0


def test_the_list():
    """Each number and name once, each one called, v1.2.0's within its 408."""
    numbers, names = [int(slot[1]) for slot in SLOTS], [slot[2] for slot in SLOTS]
    assert len(SLOTS) >= 60 and len(set(numbers)) == len(numbers) and len(set(names)) == len(names)
    assert all(int(number) < 408 for kind, number, _ in SLOTS if kind == "SLOT")
    code = "".join(path.read_text() for path in SOURCE.glob("*.c"))
    assert [name for name in names if f"gather_duck.{name}" not in code and f"api.{name}" not in code] == []
