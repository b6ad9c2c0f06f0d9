# SPDX-License-Identifier: MIT
"""The archive of results that is published with a release, and what is made of it. script/bench calls this.

    archive.py pack [FILE]    build/results as libgather-results-VERSION.tar.xz (default: in build/)
    archive.py unpack FILE    puts the files of an archive into build/results, then as `summary`
    archive.py summary        makes the figures and drawings of docs/measured
"""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path, PurePosixPath

import calls_run
import results as folder
import summary_page

ROOT = folder.ROOT


def version() -> str:
    header = (ROOT / "include/gather/gather.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define GATHER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header, re.M))


def faults(root: Path = ROOT) -> list[str]:
    """Why these results are not those of a release."""
    found = [f"{name}.json is of a quick run" for kind in ("memory", "python", "tables", "remote") for name, run in folder.stored(kind, root).items()
             if run["settings"].get("quick")]  # fmt: skip
    found += [f"there are no results of {kind}" for kind in ("memory", "python", "tables", "remote") if not folder.stored(kind, root)]
    return found + [f"{name}.json: {fault}" for name, run in folder.stored("python", root).items() for fault in calls_run.faults(run)]


def pack(target: Path, root: Path = ROOT) -> int:
    """Packs the folder; two archives of the same files are the same bytes. Returns the number of files."""
    results, target = folder.folder(root), target.resolve()
    files = sorted(path for path in results.rglob("*.json") if path.is_file())
    if not files:
        raise SystemExit("bench: build/results has nothing to pack")
    top = target.name.removesuffix(".tar.xz")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for file in files:
            entry = tarfile.TarInfo(f"{top}/{file.relative_to(results).as_posix()}")
            entry.size, entry.mode = file.stat().st_size, 0o644
            with file.open("rb") as data:
                archive.addfile(entry, data)
    return len(files)


def unpack(source: Path, root: Path = ROOT) -> list[str]:
    """The files of an archive, into the folder of results; what else is there stays. Only names that `pack` makes are taken."""
    names = []
    with tarfile.open(source, "r:xz") as archive:
        for entry in archive:
            path = PurePosixPath(*PurePosixPath(entry.name).parts[1:])
            if not entry.isfile() or path.suffix != ".json" or ".." in path.parts or path.is_absolute():
                raise SystemExit(f"bench: {source} is no archive of results: it has {entry.name}")
            place = folder.folder(root) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(archive.extractfile(entry).read())
            names.append(str(path))
    return names


def main(words: list[str]) -> int:
    if words[:1] == ["pack"] and len(words) < 3:
        target = Path(words[1]) if words[1:] else ROOT / f"build/libgather-results-{version()}.tar.xz"
        for fault in faults():
            print(f"bench: {fault}", file=sys.stderr)
        count = pack(target)
        print(f"written: {target}, {count} files, {target.stat().st_size} bytes")
    elif words[:1] == ["unpack"] and len(words) == 2:
        print(f"unpacked: {len(unpack(Path(words[1])))} files to build/results")
        summary_page.write(ROOT)
    elif words == ["summary"]:
        summary_page.write(ROOT)
    else:
        print("usage: script/bench archive [FILE] | --from FILE | summary", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
