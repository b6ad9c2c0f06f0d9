# SPDX-License-Identifier: MIT
"""Folders of test data that the repository has as one archive each: script/make-*-models pack them, tests unpack them."""
import functools
import lzma
import sys
import tarfile
import tempfile
from pathlib import Path


def name_of(archive: Path) -> str:
    return archive.name.removesuffix(".tar.xz")


def pack(folder: Path, archive: Path) -> None:
    """Files in the order of their names, without dates, owners and modes of this machine: the same files give the same bytes."""
    with lzma.open(archive, "wb", preset=9) as stream, tarfile.open(fileobj=stream, mode="w") as packed:
        for path in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(f"{name_of(archive)}/{path.name}")
            entry.size = path.stat().st_size
            with path.open("rb") as data:
                packed.addfile(entry, data)


@functools.cache
def home() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="gather-test-data-")  # removed when the process ends


@functools.cache
def unpacked(archive: Path) -> Path:
    """A folder with the archive's files, unpacked once by each process that asks."""
    folder = Path(home().name) / name_of(archive)
    folder.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed:
            (folder / Path(member.name).name).write_bytes(packed.extractfile(member).read())
    return folder


def make(archive: Path, write) -> None:
    """What the scripts do: write(folder) fills the folder that their argument names; without one, a new folder, which is packed."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        write(folder)
        return
    with tempfile.TemporaryDirectory() as made:
        write(Path(made))
        pack(Path(made), archive)
