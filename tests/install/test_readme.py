# SPDX-License-Identifier: MIT
"""README.md's promises: its C program compiles as it stands, its commands work, and its links lead somewhere."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from stranger import Tree, run


def blocks(readme: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.M | re.S)


@pytest.fixture(scope="module")
def readme(gather_source: Path) -> str:
    return (gather_source / "README.md").read_text(encoding="utf-8")


def test_the_c_program_does_what_the_readme_says(readme: str, tree: Tree, tmp_path: Path):
    (program,) = blocks(readme, "c")
    (output,) = blocks(readme, "text")
    (tmp_path / "rows.c").write_text(program)
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-std=c11"]
    run(os.environ.get("GATHER_CC", "cc"), *flags, "rows.c", f"-I{tree.prefix}/include", f"-L{tree.lib}", "-lgather",
        "-o", "rows", cwd=tmp_path)
    assert run(tmp_path / "rows", LD_LIBRARY_PATH=str(tree.lib)) == output


def test_the_commands_do_what_the_readme_says(readme: str, gather_exe: Path, tmp_path: Path):
    """The console block: `$ command`, then what is shown, then the next; `echo $?` shows an exit code."""
    (console,) = blocks(readme, "console")
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.M)
    assert len(steps) >= 2
    np.save(tmp_path / "table.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    path = f"{gather_exe.parent}:{os.environ['PATH']}"
    code = 0
    for command, shown in steps:
        if command == "echo $?":
            assert shown == f"{code}\n"
            continue
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=dict(os.environ, PATH=path), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        code = done.returncode
        assert done.stdout == shown, shlex.quote(command)
    assert np.load(tmp_path / "rows.npy").tolist() == [[6, 7, 8], [9, 10, 11]]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md"])
def test_links_lead_somewhere(gather_source: Path, page: str):
    text = (gather_source / page).read_text(encoding="utf-8")
    folder = (gather_source / page).parent
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (folder / target).exists()] == []
