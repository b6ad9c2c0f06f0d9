# SPDX-License-Identifier: MIT
#
# tables.py: the library's tables of types, operators and statuses, read from their .def files. So the oracle and the generator need no
# library, and make cases for machines that this Python does not run on.
"""Types, operators, statuses and the public constants."""
import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up] / name) for up, name in ((3, "script"), (3, "tests"))]
import op_tables  # noqa: E402
from support import headers  # noqa: E402

# MAX_RANK, KIND_INT, BAD_ERROR ...: the names of the header without GATHER_, GATHER_ON_ and GATHER_TENSOR_.
NAMED = re.compile("GATHER_(?:ON_|TENSOR_)?((?:MAX_RANK|READ_|BYTE_|SHARED|PACKING_|KIND_|FAMILY_|BAD_|NEGATIVE_|OFF_AXIS_|TUPLES_|DIM_|AXIS_UNK).*)")
globals().update({found[1]: number for name, number in headers.numbers.items() if (found := NAMED.fullmatch(name))})
# Families with a function of their own, and StableHLO's gather: their oracles and cases are in tests/support and other folders of tests/core.
OWN = [row[0] for macro in op_tables.FAMILY_MACROS[1:] for row in op_tables.rows("include/gather/family.def", macro)]
ELSEWHERE = [globals()[f"FAMILY_{name}"] for name in (*OWN, "STABLEHLO")]


@dataclass(frozen=True)
class Type:
    """A row of type.def. bits: of an element; of strings and opaque elements 0."""

    type: int
    name: str
    kind: int
    bits: int
    packing: int


@dataclass(frozen=True)
class Op:
    """A row of ops.def, as far as the rules go."""

    name: str
    rules: str
    family: int
    negative: bool
    on_bad: int
    batch_dims: bool
    off_axis: int
    tuples: int
    fused_batch: bool


def read_types() -> list[Type]:
    rows = op_tables.rows("include/gather/type.def", "GATHER_TYPE")
    return [
        Type(int(number), name, globals()[f"KIND_{kind}"], int(bits), globals()[f"PACKING_{packing}"])
        for _, number, name, kind, bits, packing, *_ in rows
    ]


def read_ops() -> list[Op]:
    return [
        Op(
            op.name,
            op.rules,
            globals()[f"FAMILY_{op.family}"],
            op.negative,
            globals()[f"BAD_{op.on_bad}"],
            op.batch_dims,
            globals()[f"OFF_AXIS_{op.off_axis}"],
            globals()[f"TUPLES_{op.tuples}"],
            op.fused,
        )
        for op in op_tables.read_ops()
        if globals()[f"FAMILY_{op.family}"] not in ELSEWHERE
    ]


TYPES, OPS = read_types(), read_ops()
INDEX_TYPES = [t for t in TYPES if t.kind in (KIND_INT, KIND_UINT) and t.packing == PACKING_BYTES]
STATUS = {name: number for number, name in enumerate(headers.STATUSES)}
