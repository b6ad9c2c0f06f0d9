#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""build.py [--root DIR] [--output DIR] [--version NAME] [--program FILE]: builds the site into OUTPUT/NAME, beside other versions that
are there. script/site calls it with the Python of .venv-site. --root: the folder of the documents, where that is not the project."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import c_reference
import explainer_page
import python_reference
import stage

ROOT = Path(__file__).resolve().parent.parent


def version_of(root: Path) -> str:
    header = (root / "include/gather/gather.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"GATHER_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def c_pages(work: Path, source: Path) -> None:
    """Doxygen reads the headers, c_reference.py writes the pages."""
    folder = work / "doxygen"
    folder.mkdir(parents=True, exist_ok=True)
    settings = (ROOT / "site/Doxyfile").read_text(encoding="utf-8") + f"OUTPUT_DIRECTORY = {folder}\n"
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)
    everything = c_reference.write(folder / "xml", source / "api/c", {path.stem for path in (source / "docs/embed/ops").glob("*.md")})
    names = sorted(header.stem for header in c_reference.HEADERS)
    index = [*python_reference.heading("C: the headers", "="), f"Every declaration of the public headers: {len(everything)} in all. "
             "The guide is :doc:`/docs/embed/guide`.", "", ".. include:: tasks.txt", "", ".. toctree::", "   :maxdepth: 1", ""]
    index += [f"   {name}" for name in sorted(names, key=lambda name: (name != "gather", name))]
    (source / "api/c/index.rst").write_text("\n".join(index) + "\n", encoding="utf-8")


def sphinx(work: Path, source: Path, target: Path, version: str) -> None:
    """Warnings are errors: a link that leads nowhere is one."""
    environment = dict(os.environ, GATHER_SITE_VERSION=version, PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, "-m", "sphinx", "-q", "-j", "auto", "-W", "--keep-going", "-c", ROOT / "site", "-d", work / "doctrees", source, target]
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit("site: Sphinx found the faults above")


def publish(target: Path, output: Path) -> None:
    """Replaces the folder of the version, and lists the folders that are there."""
    place = output / target.name
    output.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    shutil.move(target, place)
    shutil.rmtree(place / ".doctrees", ignore_errors=True)
    (place / ".buildinfo").unlink(missing_ok=True)
    versions = sorted((path.name for path in output.iterdir() if (path / "index.html").exists()), key=natural, reverse=True)
    (output / "versions.js").write_text(f"window.gatherVersions = {json.dumps(versions)};\n", encoding="utf-8")
    links = "".join(f'<li><a href="{name}/index.html">{name}</a></li>' for name in versions)
    page = (ROOT / "site/versions.html").read_text(encoding="utf-8")
    (output / "index.html").write_text(page.replace("@NEWEST@", versions[0]).replace("@LINKS@", links), encoding="utf-8")


def natural(name: str) -> list:
    """Versions in the order of their numbers; names without one come last."""
    return [int(part) for part in re.findall(r"\d+", name)] or [-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--output", type=Path, default=ROOT / "build/site")
    parser.add_argument("--version", default=version_of(ROOT))
    parser.add_argument("--program", type=Path, default=ROOT / "build/explainer/program.js")
    arguments = parser.parse_args()
    begin = time.monotonic()
    work = Path(f"{arguments.output}-work").absolute()
    source, target = work / "source", work / "html" / arguments.version
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    pages = stage.Stage(arguments.root, source).make()
    c_pages(work, source)
    python_reference.write(source / "api/python.rst")
    explainer_page.write_page(source)
    stage.contents(source, pages)
    sphinx(work, source, target, arguments.version)
    explainer_page.write_program(arguments.program, target / "_static/explainer-program.js")
    publish(target, arguments.output)
    size = sum(path.stat().st_size for path in (arguments.output / arguments.version).rglob("*") if path.is_file())
    print(f"site: {len(pages)} documents, {size / 1e6:.1f} MB in {arguments.output}/{arguments.version}, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
