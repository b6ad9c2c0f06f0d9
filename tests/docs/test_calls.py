# SPDX-License-Identifier: MIT
"""Every function of the public headers is called by a program of the documents, an example, or code in a header's comment."""

import re
import sys

from blocks import ROOT, blocks

sys.path.insert(0, str(ROOT / "script"))
from nm import declared  # noqa: E402

COMMENT = re.compile(r"/\*.*?\*/", re.S)
CALL = re.compile(r"\b(gather_\w+)\(")
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h")


def code_of_comments(text: str) -> str:
    """The lines of code in the comments of a header, which are indented by five spaces."""
    return "\n".join(line for comment in COMMENT.findall(text) for line in comment.splitlines() if line.startswith(" *     "))


def called() -> set[str]:
    texts = [COMMENT.sub("", block.text) for block in blocks("c")]
    texts += [COMMENT.sub("", path.read_text(encoding="utf-8")) for path in (ROOT / "examples").rglob("*") if path.suffix in SOURCES]
    texts += [code_of_comments(path.read_text(encoding="utf-8")) for path in (ROOT / "include/gather").glob("*.h")]
    return set(CALL.findall("\n".join(texts)))


def test_every_function_has_an_example():
    functions = declared()
    assert len(functions) > 100
    without = sorted(set(functions) - called())
    assert not without, "no program of docs/, no example and no comment of a header calls " + ", ".join(without)
