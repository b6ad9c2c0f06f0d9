# SPDX-License-Identifier: MIT
"""The installed tree: installed once, then moved, so that no test can lean on the place it was installed to."""

import shutil
from pathlib import Path

import pytest

from stranger import CMAKE, Tree, run


def install_and_move(build: Path, folder: Path) -> Tree:
    run(CMAKE, "--install", build, "--prefix", folder / "first")
    shutil.move(folder / "first", folder / "moved here")
    return Tree(folder / "moved here")


@pytest.fixture(scope="session")
def tree(gather_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return install_and_move(gather_build, tmp_path_factory.mktemp("install"))


@pytest.fixture(scope="session")
def examples(gather_source: Path) -> Path:
    return gather_source / "examples"
