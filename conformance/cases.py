# SPDX-License-Identifier: MIT
"""Random gathers from fixed seeds, for the runtimes: shapes, axis, batch_dims, elements of any bits, and indices that
are all good, or good but for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

ELEMENTS = "GatherElements"
ND = "GatherND"  # drawn by cases_nd.py
# How the one bad index is bad. "negative" is in [-n, -1]: bad under the rules that do not count from the end.
KINDS = ("valid", "valid", "valid", "valid", "negative", "high", "low", "wide")
LENGTHS = (1, 1, 2, 2, 3, 3, 4, 5, 7)
BYTES = {
    "bool": np.bool_, "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
    "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64, "float16": np.float16, "float32": np.float32,
    "float64": np.float64, "complex64": np.complex64, "complex128": np.complex128,
    "bfloat16": ml_dtypes.bfloat16, "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu, "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4,
}  # fmt: skip
WORDS = ("", "a", "gather", "ä", "a longer text that does not fit into the string itself")


@dataclass
class Case:
    """One gather, with its arrays."""

    op: str
    rules: str
    type: str
    data: np.ndarray
    indices: np.ndarray
    axis: int
    batch_dims: int = 0
    kind: str = "valid"
    empty: bool = field(init=False)

    def __post_init__(self) -> None:
        self.empty = self.data.size == 0 or self.indices.size == 0

    @property
    def length(self) -> int:
        """Of the axis."""
        return self.data.shape[self.axis]

    @property
    def out_shape(self) -> tuple[int, ...]:
        if self.op == ELEMENTS:
            return self.indices.shape
        if self.op == ND:
            b, lead = self.batch_dims, self.indices.shape[:-1]
            rest = lead[b:] + self.data.shape[b + self.indices.shape[-1] :]
            fused = self.rules == "openvino-5" and b > 1
            return (int(np.prod(lead[:b])), *rest) if fused else lead[:b] + rest
        a, shape = self.axis % self.data.ndim, self.data.shape
        return shape[:a] + self.indices.shape[self.batch_dims :] + shape[a + 1 :]

    def __str__(self) -> str:
        where = f"axis {self.axis}, batch_dims {self.batch_dims}"
        return (
            f"{self.op} {self.rules} {self.type}{list(self.data.shape)} by "
            f"{self.indices.dtype}{list(self.indices.shape)}, {where}, "
            f"{self.kind}: {self.indices.reshape(-1)[:12].tolist()}"
        )


def elements(rng: np.random.Generator, name: str, shape: tuple, small: bool) -> np.ndarray:
    """Any bits that the type can have; `small` keeps wide numbers within 32 bits."""
    if name == "string":
        return np.array([WORDS[i] for i in rng.integers(0, len(WORDS), int(np.prod(shape)))], object).reshape(shape)
    dtype = np.dtype(BYTES[name])
    if name == "bool":
        return rng.integers(0, 2, shape).astype(dtype)
    if name in ("int4", "uint4"):
        return rng.integers(-8 if name == "int4" else 0, 8 if name == "int4" else 16, shape).astype(dtype)
    if small and name in ("int64", "uint64", "float64"):
        return rng.integers(0, 2**20, shape).astype(dtype)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize)).astype(np.uint8)
    found = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    return np.where(np.isnan(found), dtype.type(1.5), found) if name == "float64" else found


def shapes(rng: np.random.Generator, op: str, batches: bool, shorter: bool) -> tuple[tuple, tuple, int, int]:
    """Shapes of data and indices, axis and batch_dims."""
    rank = int(rng.integers(1, 5))
    data = [int(n) for n in rng.choice(LENGTHS, rank)]
    if rng.random() < 0.1:
        data[int(rng.integers(rank))] = int(rng.choice((17, 33, 70)))
    axis = int(rng.integers(rank))
    if op == ELEMENTS:
        indices = [int(rng.integers(1, n + 1)) if shorter and rng.random() < 0.3 else n for n in data]
        indices[axis] = int(rng.integers(1, 9))
        b = 0
    else:
        b = int(rng.integers(0, axis + 1)) if batches else 0
        indices = data[:b] + [int(n) for n in rng.choice(LENGTHS, int(rng.integers(0, 3)))]
    if rng.random() < 0.5:
        axis -= rank
    return tuple(data), tuple(indices), axis, b


def spoil(rng: np.random.Generator, kind: str, indices: np.ndarray, n: int, negative: bool) -> np.ndarray:
    """Good indices, counted from either end where the rules say so, but for one of that kind. Index types too narrow
    for it keep it good.
    """
    signed = indices.dtype.kind == "i"
    if kind == "valid":
        turned = indices.astype(np.int64) - n * rng.integers(0, 2, indices.shape) if negative and signed else indices
        return np.asarray(turned).astype(indices.dtype).reshape(indices.shape)
    value = {"negative": -1 - int(rng.integers(n)), "high": n + int(rng.integers(3)), "low": -n - 1, "wide": 2**32 + n // 2}[kind]
    info = np.iinfo(indices.dtype)
    if info.min <= value <= info.max:
        indices.reshape(-1)[int(rng.integers(indices.size))] = value
    return indices


def is_bad(case: Case, negative: bool) -> bool:
    """Whether an index is out of range."""
    values = case.indices.astype(object)
    return bool(((values < (-case.length if negative else 0)) | (values >= case.length)).any())


def make(seed: list[int], op: str, rules: str, type_: str, index_types: tuple[str, ...], negative: bool) -> Case:
    """The case of that seed."""
    rng = np.random.default_rng(seed)
    batches = rules in ("openvino-7", "openvino-8")
    data_shape, index_shape, axis, b = shapes(rng, op, batches, rules.startswith("onnx"))
    if rng.random() < 0.06:
        data_shape, index_shape = without_elements(rng, op, data_shape, index_shape, axis)
    kind = str(rng.choice(KINDS))
    n = data_shape[axis]
    index_type = np.dtype(str(rng.choice(index_types)))
    small = kind != "valid" or rng.random() < 0.5
    data = elements(rng, type_, data_shape, small)
    good = np.asarray(rng.integers(0, max(min(n, np.iinfo(index_type).max), 1), index_shape)).astype(index_type)
    indices = spoil(rng, kind, good, n, negative) if good.size and n else good
    return Case(op, rules, type_, data, indices, axis, b, kind)


def without_elements(rng, op: str, data: tuple, indices: tuple, axis: int) -> tuple[tuple, tuple]:
    """A length of 0: of the axis' indices, or of another dimension of data (then of the indices too, where they go
    along it).
    """
    a = axis % len(data)
    if op == ELEMENTS:
        return data, tuple(0 if d == a else n for d, n in enumerate(indices))
    others = [d for d in range(len(data)) if d > a]
    if others and rng.random() < 0.5:
        return tuple(0 if d == others[0] else n for d, n in enumerate(data)), indices
    return data, (*indices, 0)
