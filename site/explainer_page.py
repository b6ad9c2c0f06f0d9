# SPDX-License-Identifier: MIT
"""The page of the explainer: its form, its code, and the program that it runs. The program is a text in a script, so that it is there for a
page from a file too, where a page may not read other files."""

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def number(file: str, name: str) -> int:
    return int(re.search(rf"\b{name}(?:: | = )(\d+)", (HERE / "static" / file).read_text(encoding="utf-8")).group(1))


def write_page(source: Path) -> None:
    text = (HERE / "explainer.md").read_text(encoding="utf-8")
    numbers = {"CHARACTERS": f"{number('explainer_line.js', 'CHARACTERS'):,}", "SECONDS": str(number("explainer.js", "SECONDS"))}
    for name, value in {"FORM": (HERE / "explainer.html").read_text(encoding="utf-8").rstrip(), **numbers}.items():
        text = text.replace(f"@{name}@", value)
    (source / "explainer.md").write_text(text, encoding="utf-8")


def write_program(program: Path, target: Path) -> None:
    """What runs beside the page: the compiled program, and behind it the code that gives it a command line."""
    text = program.read_text(encoding="utf-8") + (HERE / "static/explainer_worker.js").read_text(encoding="utf-8")
    made = (HERE / "static/explainer_line.js").read_text(encoding="utf-8") + f"window.gatherProgramText = {json.dumps(text)};\n"
    target.write_text(made.replace("</script", "<\\/script"), encoding="utf-8")
