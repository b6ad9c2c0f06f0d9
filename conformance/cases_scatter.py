# SPDX-License-Identifier: MIT
"""Scatters for the runtimes: random ones from fixed seeds, of every reduction; and shapes that ONNX Runtime's own tests of Scatter,
ScatterElements and ScatterND have, whose values are random there too.
"""

from __future__ import annotations

from dataclasses import dataclass

import libgather
import numpy as np
from cases import LENGTHS, elements, spoil

SCATTER_ELEMENTS, SCATTER_ND = "ScatterElements", "ScatterND"
KINDS = ("valid", "valid", "valid", "valid", "valid", "high", "low", "wide")
# (operator, rules): (opset and IR version of the model, negative indices)
VERSIONS = {
    ("Scatter", "onnx-9"): (10, 5, False),
    (SCATTER_ELEMENTS, "onnx-11"): (12, 7, True),
    (SCATTER_ELEMENTS, "onnx-13"): (13, 7, True),
    (SCATTER_ELEMENTS, "onnx-16"): (16, 8, True),
    (SCATTER_ELEMENTS, "onnx-18"): (18, 8, True),
    (SCATTER_ND, "onnx-11"): (12, 7, True),
    (SCATTER_ND, "onnx-13"): (13, 7, True),
    (SCATTER_ND, "onnx-16"): (16, 8, True),
    (SCATTER_ND, "onnx-18"): (18, 8, True),
}
REDUCTIONS = {"onnx-16": ("none", "add", "mul"), "onnx-18": ("none", "add", "mul", "min", "max")}
# Shapes of data and of indices, and the axis.
SHAPES = (
    ((2, 3), (1, 2), 0), ((2, 2), (2, 2), 1), ((2, 2), (2, 2), -1), ((2, 2, 2), (1, 2, 1), 1), ((2, 2, 2), (1, 2, 1), 2), ((3, 3), (3, 2), 1),
    ((3, 3), (3, 2), 0), ((3,), (2,), 0), ((2, 2, 2), (2, 2, 2), 0), ((2, 2, 2), (3, 2, 2), 0), ((2, 2, 2, 3), (3, 2, 2, 2), 0),
    ((2, 2, 3, 3, 2), (2, 2, 3, 2, 2), 0), ((2, 2, 1, 3, 1), (2, 2, 1, 2, 1), 0), ((2, 3, 2), (2, 3, 2), -2), ((2, 2, 2), (2, 2, 3), 2),
    ((2, 2, 3, 2), (2, 2, 2, 3), -1), ((2, 1, 2, 3, 1, 2), (2, 1, 2, 2, 1, 2), 5), ((2, 1, 2, 2, 3, 2, 2), (2, 1, 2, 3, 2, 2, 2), 3),
    ((2, 1, 1, 2, 3, 2, 3), (2, 1, 1, 2, 3, 2, 2), -5),
)  # fmt: skip
ND_SHAPES = (
    ((2, 2), (2,), 0), ((6,), (1,), 0), ((3, 2), (2,), 0), ((2, 2), (2, 2), 0), ((2, 2, 2), (2, 1, 2), 0), ((3, 3), (3, 2), 0), ((2, 2), (2, 1), 0),
    ((2, 2, 2), (2, 2), 0), ((2, 2, 2), (2, 3), 0), ((2, 2, 2), (1, 1), 0), ((2, 2), (2, 1, 2), 0), ((2, 2), (2, 1, 1), 0),
    ((2, 2, 2), (2, 2, 2), 0), ((2, 2, 2), (2, 2, 3), 0), ((2, 2, 2), (2, 1, 1), 0), ((2,), (3, 1), 0), ((2, 2, 3), (3, 1), 0),
    ((2, 2, 3, 1, 1, 1, 1), (3, 1), 0), ((2, 3), (0, 1), 0), ((2, 3), (1, 0), 0), ((2,), (2, 0), 0), ((0, 3), (1, 0), 0),
)  # fmt: skip


@dataclass
class Scatter:
    op: str
    rules: str
    type: str
    reduction: str
    data: np.ndarray
    indices: np.ndarray
    updates: np.ndarray
    axis: int
    kind: str = "valid"

    def __str__(self) -> str:
        return (f"{self.op} {self.rules} {self.reduction} {self.type}{list(self.data.shape)} by {self.indices.dtype}{list(self.indices.shape)}, "
                f"axis {self.axis}, {self.kind}: {self.indices.reshape(-1)[:12].tolist()}")  # fmt: skip

    def ours(self, **options) -> np.ndarray:
        options = {"reduction": self.reduction, "rules": self.rules, **options}
        if self.op == SCATTER_ND:
            return libgather.scatter_nd(self.data, self.indices, self.updates, **options)
        return libgather.scatter_elements(self.data, self.indices, self.updates, axis=self.axis, **options)


def numbers(rng: np.random.Generator, type_: str, shape: tuple, reduction: str) -> np.ndarray:
    """What is replaced may have any bits; what is computed has no NaN, whose bits nobody promises."""
    made = elements(rng, type_, shape, False)
    if reduction == "none" or made.dtype.kind not in "fV":
        return made
    return rng.standard_normal(shape).astype(made.dtype)


def shapes(rng: np.random.Generator, op: str) -> tuple[tuple, tuple, int]:
    rank = int(rng.integers(1, 5))
    data = [int(n) for n in rng.choice(LENGTHS, rank)]
    if op == SCATTER_ND:
        lead = [int(n) for n in rng.choice((0, 1, 2, 5, 12), int(rng.integers(0, 3)))]
        return tuple(data), (*lead, int(rng.integers(1, rank + 1))), 0
    axis = int(rng.integers(rank))
    indices = [int(rng.integers(1, n + 1)) for n in data]
    indices[axis] = int(rng.choice((0, 1, 2, 3, 9)))
    return tuple(data), tuple(indices), axis - rank if rng.random() < 0.5 else axis


def make(seed: list[int], op: str, rules: str, type_: str, reduction: str, negative: bool, given: tuple | None = None) -> Scatter:
    """The case of that seed. given: its shapes and the axis."""
    rng = np.random.default_rng(seed)
    data_shape, index_shape, axis = given or shapes(rng, op)
    dtype = np.dtype("int64" if op == SCATTER_ND else str(rng.choice(("int32", "int64"))))
    kind = "valid" if given else str(rng.choice(KINDS))
    indices = np.zeros(index_shape, dtype)
    if op == SCATTER_ND:
        worst = int(rng.integers(index_shape[-1])) if index_shape[-1] else -1
        for c in range(index_shape[-1]):
            good = np.asarray(rng.integers(0, data_shape[c], index_shape[:-1])).astype(dtype)
            indices[..., c] = spoil(rng, kind if c == worst else "valid", good, data_shape[c], negative) if good.size else good
        updates_shape = index_shape[:-1] + data_shape[index_shape[-1] :]
    else:
        n, updates_shape = data_shape[axis], index_shape
        good = rng.integers(0, n, index_shape).astype(dtype)
        indices[...] = spoil(rng, kind, good, n, negative) if good.size else good
    data, updates = (np.asarray(numbers(rng, type_, shape, reduction)) for shape in (data_shape, updates_shape))
    return Scatter(op, rules, type_, reduction, data, indices, updates, axis, kind)
