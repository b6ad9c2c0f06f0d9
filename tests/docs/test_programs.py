# SPDX-License-Identifier: MIT
"""Every program of the documents is compiled without a warning, linked with the static library, and prints what stands there."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from blocks import ROOT, blocks

FLAGS = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror".split()


def libraries() -> list[str]:
    """The static library and what it needs in turn."""
    build = Path(os.environ["GATHER_BUILD"])
    words = [str(build / "lib/libgather.a")]
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    names = ("NANOPB_LIBRARY:", "EXPAT_LIBRARY:", "JANSSON_LIBRARY:", "LIBURING_LIBRARY:")
    found = [line.split("=", 1)[1] for line in cache.splitlines() if line.startswith(names)]
    words += [path for path in found if path and not path.endswith("NOTFOUND")] + ["-lpthread"]
    sanitize = os.environ.get("GATHER_SANITIZE", "")
    return words + ([f"-fsanitize={sanitize}"] if sanitize else [])


# Programs over MPI are those of tests/mpi.
@pytest.mark.parametrize("block", [block for block in blocks("c") if "gather/mpi.h" not in block.text], ids=str)
def test_program(block, tmp_path):
    assert block.next_language == "text", f"{block}: the program's output must follow it as a text block"
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(block.text, encoding="utf-8")
    # A program for the two files with tables moves to the library by another include.
    (tmp_path / "gather_table.h").write_text('#include "gather/table.h"\n', encoding="utf-8")
    compiler = os.environ.get("GATHER_CC") or shutil.which("cc")
    command = [compiler, *FLAGS, f"-I{ROOT}/include", f"-I{ROOT}/include/gather", str(source), *libraries(), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, f"{block}:\n{built.stderr}"
    ran = subprocess.run([str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr, ran.returncode) == (block.next_text, "", 0), str(block)
