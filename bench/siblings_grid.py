# SPDX-License-Identifier: MIT
"""The rows of Gather's siblings: tuples of indices (GatherND), beam search (GatherTree), and quantised rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

import codecs_numpy
from grid import CACHED, KIB, MIB, STREAMED, TYPE_BYTES, Case

END, OPS = "-siblings", ("nd", "tree", "quantised")
TABLE_IN_MEMORY = 256 * MIB  # bytes of a quantised table that no cache holds


@dataclass(frozen=True)
class Sibling(Case):
    codec: str = ""  # of quantised rows; shape is then that of the elements, dtype the output's type

    @property
    def tuple_len(self) -> int:
        return self.index_shape[-1] if self.op == "nd" else 1

    @property
    def selected(self) -> int:
        """How many dimensions of the data come before the row."""
        return self.batch_dims + self.tuple_len

    @property
    def out_shape(self) -> tuple[int, ...]:
        if self.op == "nd":
            return self.index_shape[:-1] + self.shape[self.selected :]
        return self.index_shape + self.shape[1:] if self.op == "quantised" else self.index_shape

    @property
    def row_len(self) -> int:
        if self.op == "tree":
            return 1
        return prod(self.shape[self.selected :]) if self.op == "nd" else self.shape[1]

    @property
    def table_bytes(self) -> int:
        if self.op == "quantised":
            return codecs_numpy.CODECS[self.codec].table_bytes(*self.shape)
        return self.bytes_of(self.shape, self.dtype)

    @property
    def packed_row_bytes(self) -> int:
        """Bytes that are read for a quantised row, side tensors included."""
        return self.table_bytes // self.shape[0]


def nd(regime, what, shape, index_shape, index, state, **more) -> Sibling:
    return Sibling(regime, what, "nd", more.pop("dtype", "float32"), tuple(shape), tuple(index_shape), index, state, **more)


def tuples():
    """GatherND: single elements and rows by tuples of two to four numbers."""
    for state, regime in ((CACHED, "nd, cached"), (STREAMED, "nd, streamed")):
        n = 16 * KIB if state == CACHED else 2 * MIB
        few = state == CACHED
        yield nd(regime, f"nd (64,64) f32, pairs {state}", (64, 64), (n, 2), "int64", state, quick=few)
        yield nd(regime, f"nd (512,512) f32, pairs {state}", (512, 512), (n, 2), "int64", state, quick=not few)
        yield nd(regime, f"nd (64,64,64) f32, triples {state}", (64, 64, 64), (n, 3), "int64", state, quick=not few)
        yield nd(regime, f"nd (16,32,16,32) f32, quadruples {state}", (16, 32, 16, 32), (n, 4), "int64", state)
        yield nd(regime, f"nd (64,64) f32, pairs of int32 {state}", (64, 64), (n, 2), "int32", state)
        yield nd(regime, f"nd (512,512) u8, pairs {state}", (512, 512), (n, 2), "int64", state, dtype="uint8")
        for width in (4, 16, 64):  # elements of a row
            rows = min(n, (128 * KIB if few else 64 * MIB) // (width * 4))
            yield nd(regime, f"nd rows of {width * 4} B, pairs {state}", (32, 32, width), (rows, 2), "int64", state, quick=width == 16)
        yield nd(regime, f"nd batch (16,4096) f32, numbers {state}", (16, 4096), (16, n // 16, 1), "int64", state, batch_dims=1)
        yield nd(regime, f"nd batch (16,64,64) f32, pairs {state}", (16, 64, 64), (16, n // 16, 2), "int64", state, batch_dims=1, quick=few)
    memory = "nd, table in memory"
    yield nd(memory, "nd (16384,16384) f32, pairs", (16384, 16384), (2 * MIB, 2), "int64", STREAMED, quick=True)
    yield nd(memory, "nd (512,512,512) f32, triples", (512, 512, 512), (2 * MIB, 3), "int64", STREAMED)
    yield nd(memory, "nd rows of 64 B in memory, pairs", (4096, 4096, 16), (512 * KIB, 2), "int64", STREAMED)
    yield nd(memory, "nd rows of 1000 B in memory, pairs", (1024, 1024, 250), (64 * KIB, 2), "int64", STREAMED)
    yield nd(memory, "nd rows of 4096 B in memory, pairs", (512, 512, 1024), (16 * KIB, 2), "int64", STREAMED, quick=True)


def trees():
    """GatherTree: steps, batch, beams."""
    for shape, state in (((32, 4, 4), CACHED), ((128, 16, 8), CACHED), ((512, 64, 64), STREAMED)):
        name = ",".join(map(str, shape))
        yield Sibling("tree", f"tree ({name}) int32 {state}", "tree", "int32", shape, shape, "int32", state, quick=state == CACHED)


def quantised(regime, codec, width, out, state, in_memory, quick=False) -> Sibling:
    row = codecs_numpy.CODECS[codec].table_bytes(1, width)
    out_row = width * TYPE_BYTES[out]
    count = max(8, int((128 * KIB if state == CACHED else 64 * MIB) // out_row))
    rows = max(64, (TABLE_IN_MEMORY if in_memory else 256 * KIB) // row)
    where = "in memory" if in_memory else "in L2"
    return Sibling(regime, f"quantised {codec} x {width} {where} to {out} {state}", "quantised", out, (rows, width), (count,), "int64",
                   state, codec=codec, quick=quick)


MAIN = ("Q4_0", "Q8_0", "Q4_K", "Q6_K", "IQ4_NL", "MXFP4", "int8 rows", "int4 rows", "ORT 4 bit /32", "ORT 4 bit /128", "NF4")


def codecs():
    for codec in MAIN:
        widths = (256, 4096) if codec.endswith("_K") else (256, 768, 4096)
        for width in widths:
            usual = codec in ("Q4_0", "Q8_0", "Q4_K", "int8 rows", "ORT 4 bit /32") and width == 4096
            yield quantised("quantised, cached", codec, width, "float32", CACHED, False, usual)
            if width != 256:
                yield quantised("quantised, table in cache, streamed", codec, width, "float32", STREAMED, False)
            yield quantised("quantised, table in memory", codec, width, "float32", STREAMED, True, usual)
    for codec in ("Q4_0", "Q8_0", "Q4_K", "Q6_K"):
        for out in ("float16", "bfloat16"):
            for state, in_memory in ((CACHED, False), (STREAMED, True)):
                yield quantised(f"quantised to {out}", codec, 4096, out, state, in_memory)


GROUPS = (tuples, trees, codecs)


def shorter(case: Sibling) -> Sibling:
    """The same with a quarter of the indices, for a quick run."""
    if case.state == CACHED or case.op == "tree":
        return case
    at = len(case.index_shape) - (2 if case.op == "nd" else 1)
    return replace(case, index_shape=tuple(n // 4 if i == at else n for i, n in enumerate(case.index_shape)))


def cases(threads: tuple[int, ...], quick: bool = False, only: str = "", every: bool = False) -> list[Sibling]:
    """The rows of a run, in order; as grid.cases."""
    found = []
    for group in GROUPS:
        for case in group():
            if quick and not (case.quick or every):
                continue
            case = shorter(case) if quick else case
            found += [replace(case, threads=count) for count in threads]
    return [case for case in found if re.search(only, case.name) or re.search(only, case.regime)]
