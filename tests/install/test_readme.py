# SPDX-License-Identifier: MIT
"""What README.md and docs/use/install.md say: the scripts and links exist, the C program runs, installing and linking work."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from stranger import CMAKE, Tree, run


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


@pytest.fixture(scope="module")
def readme(gather_source: Path) -> str:
    return (gather_source / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(gather_source: Path) -> str:
    return (gather_source / "docs/use/install.md").read_text(encoding="utf-8")


def test_the_c_program_does_what_the_page_says(page: str, tree: Tree, tmp_path: Path):
    (program,) = blocks(page, "c")
    (output,) = blocks(page, "text")
    (tmp_path / "rows.c").write_text(program)
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-std=c11"]
    run(os.environ.get("GATHER_CC", "cc"), *flags, "rows.c", f"-I{tree.prefix}/include", f"-L{tree.lib}", "-lgather",
        "-o", "rows", cwd=tmp_path)
    assert run(tmp_path / "rows", LD_LIBRARY_PATH=str(tree.lib)) == output


def shell_lines(page: str) -> list[str]:
    """The lines of a page's shell blocks, without their comments."""
    return [line.split("#")[0].strip() for block in blocks(page, "sh") for line in block.splitlines()]


def rows(folder: Path, page: str) -> str:
    """A program of one's own in a folder, and what it prints."""
    (folder / "prog.c").write_text(blocks(page, "c")[0])
    return blocks(page, "text")[0]


def test_installing_for_oneself_as_the_page_says(page: str, gather_build: Path, tmp_path: Path):
    """The lines of docs/use/install.md in a shell with a new home: after them pkg-config and the loader find the library. The library is
    not built again: what is installed is the build of these tests."""
    (install,) = [line for line in shell_lines(page) if "--install" in line]
    exports = [line for line in shell_lines(page) if line.startswith("export ")]
    install = install.split("&&")[-1].strip().replace("build/mine", shlex.quote(str(gather_build))).replace("cmake", CMAKE, 1)
    (link,) = re.findall(r"\| pkg-config[^|]* \| `(.*?)`", page)
    assert len(exports) == 2 and "-O2" in link
    output = rows(tmp_path, page)
    program = "\n".join(["set -e", f"{install} >/dev/null", *exports, link, "./prog", "$HOME/.local/bin/gather --version"])
    done = run("bash", "-c", program, cwd=tmp_path, HOME=str(tmp_path))
    assert done.startswith(output) and "0.2.0" in done.removeprefix(output)
    # Instead of the variable for the loader: the path in the program.
    (rpath,) = re.findall(r"-Wl,-rpath,\S+", page)
    program = "\n".join(["set -e", exports[0], f"{link} {rpath}", "./prog"])
    assert run("bash", "-c", program, cwd=tmp_path, HOME=str(tmp_path)) == output


def test_cmake_finds_it_as_the_page_says(page: str, tree: Tree, examples: Path, tmp_path: Path):
    (option,) = re.findall(r"-DCMAKE_PREFIX_PATH=\S+(?=`)", page)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.local").symlink_to(tree.prefix)
    shutil.copytree(examples / "cmake", tmp_path / "own")
    program = f"{CMAKE} -S own -B b -G Ninja {option} >/dev/null && {CMAKE} --build b >/dev/null && b/plan"
    answer = run("bash", "-c", program, cwd=tmp_path, HOME=str(tmp_path / "home"))
    assert answer == (examples / "cmake/expected.txt").read_text(encoding="utf-8")


def test_the_line_without_a_build_system_optimises(page: str):
    """script/check-one-line runs it; here only that both say the same."""
    (line,) = re.findall(r"`(cc [^`]* src/core/\*/\*\.c -o prog)`", page)
    assert line == "cc -O2 -std=c11 -Iinclude -Isrc prog.c src/core/*/*.c -o prog"


def test_the_commands_of_the_first_screen_exist(readme: str, gather_source: Path):
    """Every script of this project that README.md has people run."""
    scripts = [line.split()[0] for line in shell_lines(readme) if line.startswith("script/")]
    assert scripts and [name for name in scripts if not os.access(gather_source / name, os.X_OK)] == []


@pytest.mark.parametrize("page", ["README.md", "docs/use/install.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md"])
def test_links_lead_somewhere(gather_source: Path, page: str):
    text = (gather_source / page).read_text(encoding="utf-8")
    folder = (gather_source / page).parent
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (folder / target).exists()] == []


# What people ask, the page that README.md names for it, and what its first screen must show: one click, and no search.
QUESTIONS = {
    "rows of a 200 GB safetensors file in a DataLoader": ("docs/use/tables.md#from-a-safetensors-file-to-a-dataloader", ["DataLoader", "safetensors"]),
    "GatherElements in my C runtime": ("docs/embed/guide.md", ["GatherElements", "gather_elements(", "cc -O2"]),
    "ONNX Runtime says idx out of bounds": ("docs/use/failing-model.md", ["out of data bounds", "gather check model.onnx"]),
    "is it faster than memmap": ("docs/measured/benchmarks.md", ["np.memmap"]),
    "can it read S3 with my keys": ("docs/use/buckets.md", ["s3://", "AWS_ACCESS_KEY_ID"]),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_are_answered_one_click_from_here(readme: str, gather_source: Path, question: str):
    link, words = QUESTIONS[question]
    assert f"]({link})" in readme
    path, _, heading = link.partition("#")
    lines = (gather_source / path).read_text(encoding="utf-8").splitlines()
    first = next((i for i, line in enumerate(lines) if heading and line.startswith("#") and re.sub(r"[^a-z0-9]+", "-", line.lower()).strip("-") == heading), 0)
    screen = "\n".join(lines[first:first + 45])
    assert [word for word in words if word not in screen] == []


def test_the_readme_is_short(readme: str):
    assert len(readme.splitlines()) <= 40
