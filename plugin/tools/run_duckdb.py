# SPDX-License-Identifier: MIT
"""script/plugins duckdb [--versions [V,V]] [--bench]: the extension in several versions of DuckDB, and what it costs.

--versions   runs tests/plugin/test_duckdb_*.py in each version (default: the oldest and newest of each minor version that has the C
             extension API), and the command line of DuckDB. Each version is a folder of .venv-plugins; nothing else is changed.
--bench      runs bench/plugin_duckdb.py with the newest version.
"""

# This file has the name of the package, so it must not import it: every host is a child process, without this folder in its path.
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from results import plugin_file  # bench/ is in the path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GATHER_BUILD", ROOT / "build" / "release"))
FOLDER = ROOT / ".venv-plugins"
VERSIONS = ["1.2.0", "1.2.2", "1.3.0", "1.3.2", "1.4.0", "1.4.5", "1.5.0", "1.5.6", "2.0.0"]
CLI = "1.5.6"  # of duckdb-cli, which packs the command


def installed(package: str, version: str) -> Path:
    """The folder with one version of a package, downloaded if it is missing."""
    folder = FOLDER / f"{package}-{version}"
    if not any(folder.glob("*.dist-info")):
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, f"{package}=={version}"]
        subprocess.run(command, check=True)
    return folder


def environment(host: Path) -> dict[str, str]:
    """The environment of a child: the package from the build, DuckDB from its folder. Only what is named may be skipped."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(BUILD / "python"), str(host)]), "PYTHONDONTWRITEBYTECODE": "1",
                         "GATHER_TEST_REQUIRE": "duckdb", "XDG_CACHE_HOME": str(FOLDER / "cache")}


def test(version: str) -> bool:
    """The tests in one version; prints one line, and what failed."""
    settings = environment(installed("duckdb", version))
    if version == CLI:
        command = next(installed("duckdb-cli", CLI).rglob("duckdb_cli/duckdb"))
        command.chmod(0o755)
        settings |= {"GATHER_DUCKDB_CLI": str(command), "GATHER_TEST_REQUIRE": "duckdb,command-line"}
    tests = sorted(map(str, (ROOT / "tests" / "plugin").glob("test_duckdb_*.py")))
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}/tests", *tests],
                          env=settings, capture_output=True, text=True, check=False)  # fmt: skip
    summary = re.findall(r"^\d+ (?:passed|failed).*$|^.*\d+ passed.*$", done.stdout, re.M)
    print(f"DuckDB {version}: {summary[-1] if summary else f'ended with {done.returncode}'}", flush=True)
    if done.returncode != 0:
        print(done.stdout[-6000:], done.stderr[-2000:], sep="\n", flush=True)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", nargs="?", const=",".join(VERSIONS), help="DuckDB's versions, e.g. 1.2.0,2.0.0")
    parser.add_argument("--bench", action="store_true")
    given = parser.parse_args()
    if not given.versions and not given.bench:
        parser.error("give --versions or --bench")
    passed = [test(version) for version in (given.versions or "").split(",") if version]
    if given.bench:
        host = installed("duckdb", VERSIONS[-1])
        program = ROOT / "bench" / "plugin_duckdb.py"
        passed.append(subprocess.run([sys.executable, program, "--json", plugin_file("duckdb")], env=environment(host), check=False).returncode == 0)
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
