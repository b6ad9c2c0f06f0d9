# SPDX-License-Identifier: MIT
"""The parts of docs/measured/conformance.md and docs/measured/peers-defects.md that are made: the table of a run, the list of differences from
differences/*.toml, and the programs of the defects that have a report.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from pathlib import Path

from differences import KINDS, Difference, load

TABLES = "<!-- tables: made by script/conformance --write-docs -->"
REPORTS = "<!-- reports: made by script/conformance --write-docs -->"
LIST = "<!-- differences: made by script/conformance --write-docs -->"
END = "<!-- end of what is made -->"
TITLES = {
    "onnx": "ONNX", "numpy": "NumPy", "torch": "PyTorch", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO",
    "array_api": "array-api-strict", "pyarrow": "Arrow", "jax": "JAX",
}  # fmt: skip


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def row(cells) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


COLUMNS = ("passed", "failed", "different", "unreached", "foreign")
HEAD = ("passed", "failed", "different", "not reached", "of other things")


def head(*words: str) -> str:
    return row([*words, *HEAD]) + row(["---"] * len(words) + ["---:"] * len(HEAD))


def summary(answers: list[dict]) -> str:
    """A line for each suite."""
    text = head("suite")
    for answer in answers:
        title = TITLES[answer["suite"]]
        if "groups" not in answer:
            text += row([f"{title}: not run, {answer.get('not_run', answer.get('broken', ''))}", *[""] * len(HEAD)])
            continue
        totals = [sum(group[column] for group in answer["groups"].values()) for column in COLUMNS]
        text += row([f"{title} {answer['version']}", *totals])
    return text


def tables(answers: list[dict]) -> str:
    """The run: what it was on, and a line for each suite. run.py prints the lines of each group."""
    today = datetime.date.today().isoformat()
    return f"\n{today}, {processor()}, {os.cpu_count()} CPUs, Python {platform.python_version()}.\n\n{summary(answers)}"


def entry_row(entry: Difference) -> str:
    """The reasons and programs are in differences/*.toml."""
    return row([entry.title.replace("|", "\\|"), KINDS[entry.kind], f"`{entry.id.removeprefix(entry.suite + '-')}`"])


def differences() -> str:
    """A line for each entry, peer by peer."""
    text, entries = "", load()
    for suite, title in TITLES.items():
        rows = "".join(entry_row(entry) for entry in entries if entry.suite == suite)
        table = row(["difference", "kind", "entry"]) + row(["---"] * 3)
        text += f"\n### {title}\n\n" + (f"{table}{rows}" if rows else "None.\n")
    return text


def report(entry: Difference) -> str:
    """A defect with its program, and what that prints."""
    program, prints = entry.example.strip(), entry.prints.strip()
    return f"""
### {entry.title}

{' '.join(entry.reason.split())} Seen with {entry.package} {', '.join(entry.versions)} (`{entry.id}`).

```py
{program}
```

```text
{prints}
```
"""


def reports() -> str:
    """The defects that have a report, peer by peer."""
    found = [entry for entry in load() if entry.report]
    return "".join(f"\n## {title}\n" + "".join(report(entry) for entry in found if entry.suite == suite)
                   for suite, title in TITLES.items() if any(entry.suite == suite for entry in found))


def exchanged(page: str, marker: str, made: str) -> str:
    """The page with what stands between the marker and END exchanged."""
    before, found, rest = page.partition(marker)
    _, end, after = rest.partition(END)
    if not found or not end:
        sys.exit(f"the page lacks the marks {marker!r} and {END!r}")
    return f"{before}{marker}\n{made}\n{END}{after}"


def write(path: Path, answers: list[dict] | None) -> None:
    """Without answers only the list of differences is made anew."""
    page = path.read_text(encoding="utf-8")
    page = exchanged(page, LIST, differences())
    if answers is not None:
        page = exchanged(page, TABLES, tables(answers))
    path.write_text(page, encoding="utf-8")
    defects = path.with_name("peers-defects.md")
    defects.write_text(exchanged(defects.read_text(encoding="utf-8"), REPORTS, reports()), encoding="utf-8")
