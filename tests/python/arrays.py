# SPDX-License-Identifier: MIT
#
# arrays.py: arrays at random for the differential tests: every dtype, in every way it can lie in memory.
"""Hypothesis strategies for data, indices and outputs."""
from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from support.sample import STEP

# The same examples at every run, so that a change is judged by what it does. GATHER_TEST_EXAMPLES=N: so many for each test, of which
# a sample has the first third; GATHER_TEST_SEED=N looks elsewhere.
EXAMPLES = int(os.environ.get("GATHER_TEST_EXAMPLES", "300" if STEP == 1 else "100"))
SEED = os.environ.get("GATHER_TEST_SEED")

NUMPY = ["?", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "g",
         "<c8", ">c8", "<c16", "G", "S1", "S3", "S17", "<U1", ">U2", "V5", "V33", "<M8[s]", ">M8[D]", "<m8[ns]"]
PLAIN = [np.dtype(name) for name in NUMPY]
STRUCTURED = [
    np.dtype([("a", "<i2"), ("b", "S3")]),
    np.dtype([("a", "i1"), ("b", "<f8")], align=True),
    np.dtype([("p", ">f4", (2, 3)), ("q", [("r", "?"), ("s", "<u4")])]),
]
REGISTERED = [np.dtype(kind) for name in ml_dtypes.__all__ if isinstance(kind := getattr(ml_dtypes, name), type)
              and issubclass(kind, np.generic)]
DTYPES = PLAIN + STRUCTURED + REGISTERED
INDEX_DTYPES = [np.dtype(name) for name in ("<i8", "<i4", "i1", "u1", "<i2", "<u2", "<u4", "<u8", ">i2", ">u2", ">i4", ">u4", ">i8", ">u8")]


def often(test: Callable, examples: int = EXAMPLES) -> Callable:
    """The settings of every differential test."""
    chosen = settings(max_examples=examples, deadline=None, database=None, derandomize=SEED is None, print_blob=True, report_multiple_bugs=False,
                      phases=[Phase.generate, Phase.shrink], suppress_health_check=[HealthCheck.too_slow])
    return chosen(seed(int(SEED))(test) if SEED else test)


def sometimes(test: Callable) -> Callable:
    """Those of a test whose examples are slower."""
    return often(test, max(1, EXAMPLES // 3))


def raw(array: np.ndarray) -> np.ndarray:
    """The elements as bytes, padding and NaN's payload included."""
    return np.asarray(array).view(np.ndarray).view(np.dtype(("V", array.itemsize)))


@dataclass
class Lying:
    """An array, and the memory that it is part of."""

    memory: np.ndarray
    array: np.ndarray
    again: Callable[[np.ndarray], np.ndarray]  # the same view of other memory


def view_of(memory: np.ndarray, dtype: np.dtype, shape: tuple, order: list, steps: list, offset: int) -> np.ndarray:
    """An array over `memory`: axes in the order of `order`, outermost first, each with its step (0 repeats one element)."""
    strides, step = [0] * len(shape), dtype.itemsize
    for d in reversed(order):
        strides[d] = steps[d] * step
        if strides[d] < 0:
            offset -= strides[d] * max(shape[d] - 1, 0)
        step *= shape[d] * abs(steps[d]) if steps[d] else 1
    return np.ndarray(shape, dtype, buffer=memory, offset=offset if 0 not in shape else 0, strides=strides)


@st.composite
def lying(draw, shape: tuple, dtype: np.dtype, steps: tuple = (1, 1, 1, 2, -1, -2, 0)) -> Lying:
    """An array of random bytes: its axes in any order, with gaps, backwards, repeated, at any address."""
    order = draw(st.permutations(range(len(shape))))
    chosen = [draw(st.sampled_from(steps)) for _ in shape]
    offset = draw(st.sampled_from([0, 0, dtype.itemsize, 1, 3]))
    count = int(np.prod([1 if step == 0 else n * abs(step) for n, step in zip(shape, chosen)], dtype=np.int64))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    memory = np.frombuffer(bytearray(random.bytes(count * dtype.itemsize + offset + 1)), np.uint8)
    if dtype.kind == "b":
        memory &= 1

    def again(other: np.ndarray) -> np.ndarray:
        return view_of(other, dtype, shape, order, chosen, offset)

    array = again(memory)
    if dtype.kind == "U":  # code points, so that NumPy can make str of them
        memory[...] = 0
        array[...] = random.choice(["", "a", "zß", "\U0001f600x"], shape)
    return Lying(memory, array, again)


def shapes(low: int = 1, high: int = 4) -> st.SearchStrategy[tuple]:
    length = st.sampled_from([0, 1, 1, 2, 2, 3, 3, 4, 5, 9])
    return st.lists(length, min_size=low, max_size=high).map(tuple)


@st.composite
def index_values(draw, shape: tuple, length: int, negative: bool, bad: bool = True) -> np.ndarray:
    """Indices of an axis, a few of them out of range."""
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    limits = np.iinfo(dtype)
    low, high = max(-length if negative else 0, limits.min), min(length - 1, limits.max)
    values = draw(lying(shape, dtype, steps=(1, 1, 2, -1, 0)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    array = values.array
    array[...] = random.integers(low, high, shape, dtype.newbyteorder("="), endpoint=True) if high >= low else 0
    wrong = [v for v in (length, -length - 1, length + 1, -1, limits.max, limits.min, 2**40, -(2**40)) if limits.min <= v <= limits.max]
    if bad and array.size and draw(st.booleans()):
        for value in draw(st.lists(st.sampled_from(wrong), min_size=1, max_size=3)):
            array[tuple(random.integers(0, n) for n in shape)] = value
    if draw(st.booleans()):
        array.flags.writeable = False
    return array
