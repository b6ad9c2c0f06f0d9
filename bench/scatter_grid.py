# SPDX-License-Identifier: MIT
"""The rows of the operators that write: scatters, gradients of gathers, and embedding bags. Indices are int64, as exporters write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

from grid import CACHED, KIB, MIB, STREAMED, Case

SCATTER, ELEMENTS, ND, BACKWARD, BACKWARD_ELEMENTS, BAG = "scatter", "scatter elements", "scatter nd", "backward", "backward elements", "bag"
END, OPS = "-scatter", (SCATTER, ELEMENTS, ND, BACKWARD, BACKWARD_ELEMENTS, BAG)


@dataclass(frozen=True)
class Written(Case):
    """shape: of what is written; of a bag: of the table. order: "expanded" has the same index all along a row."""

    reduction: str = "add"
    bags: int = 0
    weighted: bool = False

    @property
    def tuple_len(self) -> int:
        return self.index_shape[-1] if self.op == ND else 1

    @property
    def updates_shape(self) -> tuple[int, ...]:
        if self.op == ND:
            return self.index_shape[:-1] + self.shape[self.tuple_len :]
        if self.op in (ELEMENTS, BACKWARD_ELEMENTS):
            return self.index_shape
        return self.shape[: self.axis] + self.index_shape + self.shape[self.axis + 1 :]

    @property
    def out_shape(self) -> tuple[int, ...]:
        return (self.bags, *self.shape[1:]) if self.op == BAG else self.shape

    @property
    def row_len(self) -> int:
        if self.op in (ELEMENTS, BACKWARD_ELEMENTS):
            return 1
        return prod(self.shape[self.tuple_len if self.op == ND else self.axis + 1 :])

    @property
    def rows(self) -> int:
        """Updates; of bags the rows that are summed."""
        return prod(self.updates_shape) // self.row_len

    @property
    def table_bytes(self) -> int:
        """Of what is read beside the indices: updates, or a table."""
        return self.bytes_of(self.shape if self.op == BAG else self.updates_shape, self.dtype)

    @property
    def moved_bytes(self) -> int:
        return self.bytes_of(self.updates_shape, self.dtype)


def written(regime, op, what, shape, index_shape, reduction="add", dtype="float32", state=STREAMED, **more) -> Written:
    return Written(regime, f"{op} {what}", op, dtype, tuple(shape), tuple(index_shape), "int64", state, reduction=reduction, **more)


def elements():
    regime = "scatter, elements"
    yield written(regime, SCATTER, "add f32, 16Ki into 16 KiB cached", (4 * KIB,), (16 * KIB,), state=CACHED, quick=True)
    yield written(regime, SCATTER, "add f32, 1Mi into 16 KiB", (4 * KIB,), (MIB,), quick=True)
    yield written(regime, SCATTER, "add f32, 1Mi into 16 MiB", (4 * MIB,), (MIB,), quick=True)
    yield written(regime, SCATTER, "add f32, 4Mi into 64 MiB", (16 * MIB,), (4 * MIB,), quick=True)
    yield written(regime, SCATTER, "none f32, 1Mi into 16 MiB", (4 * MIB,), (MIB,), "none")
    yield written(regime, SCATTER, "max f32, 1Mi into 16 KiB", (4 * KIB,), (MIB,), "max")
    yield written(regime, SCATTER, "min f32, 1Mi into 16 MiB", (4 * MIB,), (MIB,), "min")
    yield written(regime, SCATTER, "add i32, 1Mi into 16 MiB", (4 * MIB,), (MIB,), dtype="int32")
    yield written(regime, SCATTER, "add f16, 1Mi into 8 MiB", (4 * MIB,), (MIB,), dtype="float16")
    yield written(regime, SCATTER, "add bf16, 1Mi into 8 MiB", (4 * MIB,), (MIB,), dtype="bfloat16")


def rows():
    regime = "scatter, rows"
    yield written(regime, SCATTER, "add f32 rows, 64Ki x 64 into 1024", (1024, 64), (64 * KIB,), quick=True)
    yield written(regime, SCATTER, "add f32 rows, 64Ki x 64 into 64Ki", (64 * KIB, 64), (64 * KIB,), quick=True)
    yield written(regime, SCATTER, "add f32 rows, 16Ki x 768 into 50257", (50257, 768), (16 * KIB,), quick=True)
    yield written(regime, SCATTER, "none f32 rows, 64Ki x 64 into 64Ki", (64 * KIB, 64), (64 * KIB,), "none")
    yield written(regime, SCATTER, "max f32 rows, 64Ki x 64 into 64Ki", (64 * KIB, 64), (64 * KIB,), "max")
    yield written(regime, SCATTER, "add bf16 rows, 64Ki x 64 into 64Ki", (64 * KIB, 64), (64 * KIB,), dtype="bfloat16")


def matrices():
    """ScatterElements: ONNX's form of rows, with an index for each element, and indices that differ."""
    regime = "scatter, expanded indices"
    for count in (1024, 64 * KIB):
        name = f"{count // KIB}Ki" if count > 1024 else str(count)
        yield written(regime, ELEMENTS, f"add f32, 64Ki x 64 into {name}, expanded", (count, 64), (64 * KIB, 64), order="expanded", quick=count == 1024)
    regime = "scatter, matrices"
    yield written(regime, ELEMENTS, "add f32 axis 0, (1024,1024) into (4096,1024)", (4096, 1024), (1024, 1024))
    yield written(regime, ELEMENTS, "add f32 axis 1, (1024,1024) into (1024,4096)", (1024, 4096), (1024, 1024), axis=1, quick=True)
    yield written(regime, ELEMENTS, "none f32 axis 1, (1024,1024) into (1024,4096)", (1024, 4096), (1024, 1024), "none", axis=1)


def tuples():
    regime = "scatter, tuples"
    yield written(regime, ND, "add f32, 1Mi pairs into (2048,2048)", (2048, 2048), (MIB, 2), quick=True)
    yield written(regime, ND, "none f32, 1Mi pairs into (2048,2048)", (2048, 2048), (MIB, 2), "none")
    yield written(regime, ND, "add f32 rows, 64Ki pairs into (256,256,64)", (256, 256, 64), (64 * KIB, 2))


def gradients():
    regime = "backward"
    yield written(regime, BACKWARD, "f32, 16Ki x 768 of 50257", (50257, 768), (16 * KIB,), quick=True)
    yield written(regime, BACKWARD, "f32, 64Ki x 64 of 1024", (1024, 64), (64 * KIB,), quick=True)
    yield written(regime, BACKWARD, "bf16, 64Ki x 64 of 64Ki", (64 * KIB, 64), (64 * KIB,), dtype="bfloat16")
    yield written(regime, BACKWARD_ELEMENTS, "f32 axis 1, (1024,1024) of (1024,4096)", (1024, 4096), (1024, 1024), axis=1)


def bags():
    """Recommenders: many bags of some rows of a large table; and a table that stays in the cache."""
    for where, table in (("in memory", 1000000), ("in L3", 16 * KIB)):
        regime = f"bag, table {where}"
        for count in (10, 100):
            yield written(regime, BAG, f"sum f32, {160 * KIB // count // 10 * 10} of {count} x 64, table {where}", (table, 64),
                          (160 * KIB // count // 10 * 10 * count,), bags=160 * KIB // count // 10 * 10, quick=count == 10)  # fmt: skip
        yield written(regime, BAG, f"mean f32, 4096 of 32 x 64, table {where}", (table, 64), (128 * KIB,), "mean", bags=4096)
        yield written(regime, BAG, f"weighted f32, 4096 of 32 x 64, table {where}", (table, 64), (128 * KIB,), bags=4096, weighted=True)


GROUPS = (elements, rows, matrices, tuples, gradients, bags)


def cases(threads: tuple[int, ...], quick: bool = False, only: str = "", every: bool = False) -> list[Written]:
    """The rows of a run, in order; as grid.cases."""
    found = [replace(case, threads=count) for group in GROUPS for case in group() if case.quick or every or not quick for count in threads]
    return [case for case in found if re.search(only, case.name) or re.search(only, case.regime)]

