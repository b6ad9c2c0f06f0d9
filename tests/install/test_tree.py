# SPDX-License-Identifier: MIT
"""What the installed tree holds, and that nothing of it names the place it was built or installed at."""

import re
from pathlib import Path

from stranger import Tree, run

COMPLETIONS = {
    "share/bash-completion/completions/gather", "share/zsh/site-functions/_gather", "share/fish/vendor_completions.d/gather.fish"
}
ALWAYS = {
    "include/gather/gather.h",
    "include/gather/codec.h",
    "include/gather/tree.h",
    "include/gather/scatter.h",
    "include/gather/codec.def",
    "include/gather/file.h",
    "include/gather/dlpack.h",
    "include/gather/explain.h",
    "include/gather/model.h",
    "include/gather/remote.h",
    "include/gather/shuffle.h",
    "include/gather/table.h",
    "include/gather/type.def",
    "include/gather/status.def",
    "include/gather/family.def",
    "lib/libgather.a",
    "lib/libgather.so",
    "lib/libgather.so.0",
    "lib/libgather.so.0.2.0",
    "lib/libgather-core.a",
    "lib/libgather-core.so",
    "lib/libgather-core.so.0",
    "lib/libgather-core.so.0.2.0",
    "lib/pkgconfig/gather.pc",
    "lib/pkgconfig/gather-core.pc",
    "lib/cmake/gather/gatherConfig.cmake",
    "lib/cmake/gather/gatherConfigVersion.cmake",
    "lib/cmake/gather/gatherTargets.cmake",
    "lib/cmake/gather/gatherCoreTargets.cmake",
    "bin/gather",
    "share/doc/gather/LICENSE",
    *COMPLETIONS,
}


def names(tree: Tree) -> set[str]:
    return {str(path.relative_to(tree.prefix)) for path in tree.prefix.rglob("*") if not path.is_dir()}


def test_the_files_stand_where_they_should(tree: Tree):
    assert ALWAYS - names(tree) == set()


def test_there_is_nothing_that_nobody_expects(tree: Tree):
    known = re.compile(r"lib/cmake/gather/gather(Core)?Targets-\w+\.cmake|share/man/man1/gather(-[a-z]+)?\.1"
                       r"|lib/gather/(libgather_[a-z]+\.so|gather\.duckdb_extension)"
                       # libgather_mpi, where an MPI was found
                       r"|include/gather/mpi\.h|lib/libgather_mpi\.(a|so|so\.[0-9.]+)|lib/pkgconfig/gather_mpi\.pc"
                       r"|lib/cmake/gather/gatherMpiTargets(-\w+)?\.cmake")
    assert {name for name in names(tree) - ALWAYS if not known.fullmatch(name)} == set()


def test_the_completions_stand_where_shells_look(tree: Tree):
    for path in COMPLETIONS:
        shell = path.split("/")[1].removesuffix("-completion")
        assert (tree.prefix / path).read_text() == run(tree.prefix / "bin/gather", "completion", shell)


def test_every_command_has_a_manual_page(tree: Tree, gather_source: Path):
    rows = re.findall(r'^GATHER_CLI_COMMAND\(\w+, +"(\w+)"', (gather_source / "cli/commands.def").read_text(), re.M)
    assert {"take", "nd", "tree", "help"} < set(rows)
    pages = {path.name for path in (tree.prefix / "share/man/man1").iterdir()}
    assert pages == {"gather.1", *(f"gather-{name}.1" for name in rows if name != "help")}


def test_every_public_header_is_installed(tree: Tree, gather_source: Path):
    public = {path.name: path.read_bytes() for path in (gather_source / "include/gather").iterdir()}
    if (tree.lib / "libgather_mpi.so").exists():
        public["mpi.h"] = (gather_source / "mpi/include/gather/mpi.h").read_bytes()
    installed = {path.name: path.read_bytes() for path in (tree.prefix / "include/gather").iterdir()}
    assert installed == public


def test_no_file_names_the_machine_it_came_from(tree: Tree, gather_source: Path, gather_build: Path):
    first = str(tree.prefix.parent / "first").encode()
    for path in tree.prefix.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for place in (str(gather_source).encode() + b"/", str(gather_build).encode() + b"/", first):
                assert place not in content, f"{path} holds {place!r}"


def test_the_shared_library_has_its_soname(tree: Tree):
    assert "Library soname: [libgather.so.0]" in run("readelf", "-d", tree.lib / "libgather.so.0.2.0")


def test_the_moved_command_runs(tree: Tree):
    assert "0.2.0" in run(tree.prefix / "bin/gather", "--version")
