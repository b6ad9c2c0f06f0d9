# SPDX-License-Identifier: MIT
"""Random GatherND from fixed seeds, for the runtimes: tuples of every length, batch dimensions, all numbers good or all but one."""

from __future__ import annotations

import numpy as np
from cases import KINDS, LENGTHS, ND, Case, elements, spoil

# Rules: (batch_dims, tuples may be empty, negative numbers count from the end)
RULES = {
    "onnx-11": (False, False, True),
    "onnx-12": (True, False, True),
    "onnx-13": (True, False, True),
    "microsoft-1": (False, True, True),
    "openvino-5": (True, False, False),
    "openvino-8": (True, False, True),
}


def shapes(rng: np.random.Generator, rules: str) -> tuple[tuple, tuple, int]:
    """Shapes of data and indices, and batch_dims."""
    batches, empty_tuples, _ = RULES[rules]
    rank = int(rng.integers(1, 6))
    data = [int(n) for n in rng.choice(LENGTHS, rank)]
    if rng.random() < 0.1:
        data[int(rng.integers(rank))] = int(rng.choice((17, 33, 70)))
    b = int(rng.integers(0, rank)) if batches and rng.random() < 0.5 else 0
    k = int(rng.integers(0 if empty_tuples and rng.random() < 0.1 else 1, rank - b + 1))
    lead = [int(n) for n in rng.choice(LENGTHS, int(rng.integers(0, 3)))]
    if rng.random() < 0.05:
        lead = [int(rng.choice((40, 300)))]
    return tuple(data), (*data[:b], *lead, k), b


def without_elements(rng, data: tuple, indices: tuple, b: int) -> tuple[tuple, tuple]:
    """A length of 0: of a dimension of data that no tuple selects on, or of the tuples."""
    rest = range(b + indices[-1], len(data))
    if len(rest) and rng.random() < 0.5:
        return tuple(0 if d == rest[0] else n for d, n in enumerate(data)), indices
    return data, (*indices[:b], 0, indices[-1])


def lengths_of(case: Case) -> tuple[int, ...]:
    """Of the axes that a tuple selects on."""
    return case.data.shape[case.batch_dims : case.batch_dims + case.indices.shape[-1]]


def make_nd(seed: list[int], rules: str, type_: str, index_types: tuple[str, ...]) -> Case:
    """The case of that seed."""
    rng = np.random.default_rng(seed)
    negative = RULES[rules][2]
    data_shape, index_shape, b = shapes(rng, rules)
    if rng.random() < 0.06:
        data_shape, index_shape = without_elements(rng, data_shape, index_shape, b)
    kind = str(rng.choice(KINDS))
    dtype = np.dtype(str(rng.choice(index_types)))
    data = elements(rng, type_, data_shape, kind != "valid" or rng.random() < 0.5)
    indices = np.zeros(index_shape, dtype)
    worst = int(rng.integers(index_shape[-1])) if index_shape[-1] else -1
    for c in range(index_shape[-1]):
        n = data_shape[b + c]
        good = np.asarray(rng.integers(0, max(min(n, np.iinfo(dtype).max), 1), index_shape[:-1])).astype(dtype)
        if good.size and n:
            good = spoil(rng, kind if c == worst else "valid", good, n, negative)
        indices[..., c] = good
    return Case(ND, rules, type_, data, indices, 0, b, kind)


def is_bad(case: Case, negative: bool) -> bool:
    """Whether a number is out of range."""
    for c, n in enumerate(lengths_of(case)):
        values = case.indices[..., c].astype(object)
        if ((values < (-n if negative else 0)) | (values >= n)).any():
            return True
    return False
