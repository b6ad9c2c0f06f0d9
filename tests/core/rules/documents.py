# SPDX-License-Identifier: MIT
#
# documents.py: reads cases/*.def, the worked examples of the documents, which C includes and which are also valid Python calls.
"""The documents' cases for Python."""
import ast
import pathlib
import re
from dataclasses import dataclass

FOLDER = pathlib.Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Document:
    """A row of a .def file. arguments: what follows batch_dims, as the macro has it."""

    kind: str
    file: str
    op: str
    rules: str
    name: str
    axis: int
    batch_dims: int
    arguments: tuple

    def __str__(self) -> str:
        return f"{self.op} {self.rules}: {self.name}"


def read(kind: str) -> list[Document]:
    """Every case of the macro `kind` (GATHER_CASE ...), file by file."""
    found: list[Document] = []
    for path in sorted(FOLDER.glob("*.def")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="ascii"), flags=re.DOTALL)
        for call in ast.parse(text).body:
            assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call), f"{path}: not a macro call"
            if call.value.func.id != kind:
                continue
            values = [ast.literal_eval(argument) for argument in call.value.args]
            found.append(Document(kind, path.name, *values[:5], tuple(values[5:])))
    assert found, f"no {kind} in {FOLDER}"
    return found


def value(text: str):
    """A nested list, or a number."""
    return ast.literal_eval(text)
