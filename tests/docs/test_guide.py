# SPDX-License-Identifier: MIT
"""The script of docs/use/tables.md runs, on a small table; the page shows what it prints, but for numbers."""

import os
import re
import subprocess
import sys
from pathlib import Path

from blocks import DOCS, ROOT
from support.skip import skip_test

# A heading, a command, or the name of what was measured.
TELLING = re.compile(r"^(?:(# .+|\$ .+)|(\S.*?) +\d+ rows .*|(\d+ steps, .*?) +[\d.]+ s)$", re.M)
OPTIONAL = {"h5py": "HDFN|hNpy", "safetensors": "safetensors"}  # as lines_of leaves them


def lines_of(text: str) -> list[str]:
    """What stands in the script's output whatever the machine is."""
    return [re.sub(r"[\d.]+", "N", next(filter(None, found.groups()))) for found in TELLING.finditer(text)]


def test_the_script_prints_what_the_page_shows(tmp_path):
    if (not (Path(os.environ["GATHER_BUILD"]) / "python/libgather/__init__.py").exists() or "GATHER_EXE" not in os.environ):
        skip_test("python", "this build has no Python package, or no command")
    command = [
        sys.executable,
        str(ROOT / "script/guide-larger-than-memory"),
        "--rows",
        "20000",
        "--ids",
        "2000",
        "--folder",
        str(tmp_path / "files"),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not list(tmp_path.iterdir())  # nothing is left
    page = (DOCS / "use/tables.md").read_text(encoding="utf-8")
    shown = lines_of(page.split("<!-- figures -->")[1].split("<!-- end of figures -->")[0])
    missing = [words for name, words in OPTIONAL.items() if f"{name}: not installed" in ran.stdout]
    assert len(shown) > 15
    assert lines_of(ran.stdout) == [line for line in shown if not any(re.search(words, line) for words in missing)]
