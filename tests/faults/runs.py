# SPDX-License-Identifier: MIT
"""Running the command with one call that fails, one allocation that does, or a signal at one of its calls."""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

LIMIT = float(os.environ.get("GATHER_TEST_LIMIT", "30"))  # seconds; a run takes some hundredths


@dataclass(frozen=True)
class Point:
    """What goes wrong. how: "fail" (name, nth, number = errno), "short" (name, nth), "signal" (nth, number), "alloc" or "alloc+" (nth);
    "none" for an undisturbed run and "count" for one whose calls are listed."""

    how: str = "none"
    name: str = "-"
    nth: int = 0
    number: int = 0

    def __str__(self) -> str:
        return f"{self.how} {self.name} {self.nth} {self.number}"


@dataclass
class Result:
    code: int | None  # negative: the signal that ended it; None: it ran beyond its limit
    out: bytes
    err: bytes
    files: dict[str, bytes] = field(default_factory=dict)
    fired: str = ""  # the call where it went wrong
    calls: list[str] = field(default_factory=list)
    allocations: int = 0


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()} | {
        f"{path.relative_to(folder)}/": b"" for path in folder.rglob("*") if path.is_dir()
    }


class Runner:
    """One folder in which runs follow one another, each beginning with the same files."""

    def __init__(self, exe: Path, trace: Path, alloc: Path, folder: Path):
        self.exe, self.trace, self.alloc, self.folder = exe, trace, alloc, folder
        self.work, self.report = folder / "work", folder / "report"

    def clean(self, files: dict[str, bytes]) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        for name, content in files.items():
            (self.work / name).write_bytes(content)

    def run(self, words: list[str], point: Point) -> Result:
        line, environment = self.prepare(words, point)
        self.report.unlink(missing_ok=True)
        process = subprocess.Popen(line, cwd=self.work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=LIMIT)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            code = None
        result = Result(code, out, err, read_files(self.work))
        self.read_report(point, result)
        return result

    def prepare(self, words: list[str], point: Point) -> tuple[list[str], dict[str, str]]:
        environment = {**os.environ, "LC_ALL": "C", "COLUMNS": "80", "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:"
                       "verify_asan_link_order=0", "LD_PRELOAD": ""}
        line = [str(self.exe), *words]
        if point.how.startswith("alloc"):
            environment["LD_PRELOAD"] = str(self.alloc)
            environment["GATHER_FAULTS_ALLOC"] = f"{point.nth}{point.how[5:]}"
            environment["GATHER_FAULTS_REPORT"] = str(self.report)
        elif point.how != "none":
            line = [str(self.trace), str(self.report), point.how, point.name, str(point.nth), str(point.number), *line]
        return line, environment

    def read_report(self, point: Point, result: Result) -> None:
        if point.how == "none" or not self.report.exists():
            return
        content = self.report.read_bytes()
        if point.how.startswith("alloc"):
            result.allocations = int.from_bytes(content, "little")
            result.fired = "malloc" if point.nth and result.allocations >= point.nth else ""
            return
        lines = content.decode().splitlines()
        if lines and lines[-1].startswith("killed "):
            result.code = -int(lines[-1].split()[1])
        for text in lines:
            if text.startswith("fired "):
                result.fired = text[6:]
        if point.how == "count":
            result.calls = lines[:-1]
