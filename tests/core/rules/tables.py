# SPDX-License-Identifier: MIT
#
# tables.py: the library's tables of types, operators and statuses, read from their .def files. So the oracle and the generator need no
# library, and make cases for machines that this Python does not run on.
"""Types, operators, statuses and the public constants."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "script"))
import op_tables  # noqa: E402

MAX_RANK = 64
READ_ONLY, BYTE_SWAPPED, SHARED = 1, 2, 4
PACKING_BYTES, PACKING_LOW_FIRST, PACKING_HIGH_FIRST, PACKING_SPLIT_3, PACKING_SPLIT_6, PACKING_STREAM = 1, 2, 3, 4, 5, 6
KIND_BOOL, KIND_INT, KIND_UINT, KIND_FLOAT, KIND_COMPLEX, KIND_STRING, KIND_OPAQUE = 1, 2, 3, 4, 5, 6, 7
FAMILY_GATHER, FAMILY_ELEMENTS, FAMILY_ND = 1, 2, 3
BAD_DEFAULT, BAD_ERROR, BAD_CLAMP, BAD_WRAP, BAD_ZERO, BAD_FILL, BAD_PROMISE = 0, 1, 2, 3, 4, 5, 6
NEGATIVE_DEFAULT, NEGATIVE_ON, NEGATIVE_OFF = 0, 1, 2
OFF_AXIS_NONE, OFF_AXIS_EQUAL, OFF_AXIS_AT_MOST = 1, 2, 3
TUPLES_NONE, TUPLES_NONEMPTY, TUPLES_ANY = 0, 1, 2


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
        if f"FAMILY_{op.family}" in globals()  # the others have oracles and cases of their own: tests/support, tests/core/unit
    ]


TYPES, OPS = read_types(), read_ops()
INDEX_TYPES = [t for t in TYPES if t.kind in (KIND_INT, KIND_UINT) and t.packing == PACKING_BYTES]
STATUS = {name: int(number) for _, number, name, *_ in op_tables.rows("include/gather/status.def", "GATHER_STATUS")}
