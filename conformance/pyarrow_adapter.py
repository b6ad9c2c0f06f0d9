# SPDX-License-Identifier: MIT
"""Arrow's method `take` of arrays, answered by libgather, for Arrow's own tests. Arrow's nulls and types are Arrow's: values go in as Python
objects, or as they are where DLPack carries them, and what comes back is made an array of the same type again.

`calls` counts what reached libgather.
"""

from __future__ import annotations

import libgather
import numpy as np
import pyarrow as pa

calls = 0


def install() -> None:
    """Nothing but the method."""


def objects(values: list) -> np.ndarray:
    """A list as an array of as many objects, also of lists and dictionaries."""
    found = np.empty(len(values), object)
    for i, value in enumerate(values):
        found[i] = value
    return found


def gathered(array: pa.Array, rows: pa.Array) -> list:
    """The values at these rows, none of which is null."""
    global calls
    calls += 1
    if array.null_count == 0 and (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        out = np.empty(len(rows), array.type.to_pandas_dtype())
        return libgather.take(array, rows, out=out, negative=False).tolist()
    return libgather.take(objects(array.to_pylist()), rows, axis=0, negative=False).tolist()


def take(array: pa.Array, indices) -> pa.Array:
    """pyarrow.Array.take: a null among the indices gives a null."""
    indices = indices if isinstance(indices, pa.Array) else pa.array(indices, pa.int64())
    if isinstance(array, pa.DictionaryArray):
        codes = take(array.indices, indices)
        return pa.DictionaryArray.from_arrays(codes, array.dictionary, ordered=array.type.ordered)
    values = iter(gathered(array, indices.drop_null()))
    return pa.array([next(values) if row.is_valid else None for row in indices], array.type)


def method(owner):
    """`owner.take` as a test means it: ours for arrays; tables, batches and chunked arrays keep Arrow's."""
    if not isinstance(owner, pa.Array) or isinstance(owner, pa.ExtensionArray):
        return owner.take
    return lambda indices: take(owner, indices)
