# SPDX-License-Identifier: MIT
#
# documents.py: reads cases/*.def, the worked examples of the documents, which C includes and which are also valid Python calls.
"""The documents' cases for Python."""
import ast
import pathlib
import re
from dataclasses import dataclass

FOLDER = pathlib.Path(__file__).parent / "cases"
DEFINED = r"#define (\w+) ((?:.*\\\n)*.*\n)"  # a macro that stands for a text


@dataclass(frozen=True)
class Document:
    """A row of a .def file, for one of its versions. arguments: what follows batch_dims, as the macro has it."""

    kind: str
    op: str
    rules: str
    name: str
    axis: int
    batch_dims: int
    arguments: tuple

    def __str__(self) -> str:
        return f"{self.op} {self.rules}: {self.name}"


def read(kind: str) -> list[Document]:
    """Every case of the macro `kind` (GATHER_CASE ...), file by file, version by version."""
    found: list[Document] = []
    for path in sorted(FOLDER.glob("*.def")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="ascii"), flags=re.DOTALL)
        named = {name: ast.literal_eval(content.replace("\\\n", "").strip()) for name, content in re.findall(DEFINED, text)}
        for call in ast.parse(re.sub(DEFINED, "", text)).body:
            assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call), f"{path}: not a macro call"
            if call.value.func.id != kind:
                continue
            op, rules, *values = [named[a.id] if isinstance(a, ast.Name) else ast.literal_eval(a) for a in call.value.args]
            found += [Document(kind, op, version, *values[:3], tuple(values[3:])) for version in rules.split()]
    assert found, f"no {kind} in {FOLDER}"
    return found


def value(text: str):
    """A nested list, or a number."""
    return ast.literal_eval(text)
