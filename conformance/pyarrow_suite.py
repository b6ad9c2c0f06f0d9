# SPDX-License-Identifier: MIT
"""Arrow's own tests of the method take, answered by libgather (method_plugin.py, pyarrow_adapter.py); and
pyarrow.compute.take beside libgather: random Arrow arrays of every type that DLPack carries, by every index type, good
and bad, as they are.
"""

from __future__ import annotations

import itertools

import numpy as np
from own_tests import run_own_tests
from report import Report, main, require_cases, version_of

OWN = "its own tests"
SELECTED = {
    "tests/test_compute.py": (OWN, r"test_take|test_drop_null"),
    "tests/test_extension_type.py": (OWN, r"take"),
    "tests/test_table.py": (OWN, r"take"),
}

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
INDEX_TYPES = TYPES[:8]


def attempt(call):
    try:
        return call(), None
    except Exception as error:
        return None, error


def ours(x, indices, n: int):
    """Arrow makes no array of a DLPack capsule, so that the caller brings the output. Negative indices are errors in
    Arrow.
    """
    import libgather

    out = np.empty(n, x.type.to_pandas_dtype())
    return libgather.take(x, indices, out=out, negative=False)


def compare(report: Report, group: str, text: str, x, indices) -> None:
    import pyarrow.compute as pc

    wanted, refused = attempt(lambda: pc.take(x, indices).to_numpy())
    got, error = attempt(lambda: ours(x, indices, len(indices)))
    if refused is None and error is None and wanted.dtype == got.dtype and wanted.tobytes() == got.tobytes():
        report.passed(group)
    elif refused is not None and isinstance(error, IndexError):
        report.passed(group)
    else:
        report.failed(group, f"{text}: Arrow {refused or wanted[:8]}; libgather {error or got[:8]}")


def nulls(report: Report, pa, pc) -> None:
    """A null is not in DLPack's language: an error, never a number."""
    import libgather

    for x, indices in ((pa.array([1, None, 3]), pa.array([0, 1])), (pa.array([1, 2, 3]), pa.array([0, None]))):
        _, error = attempt(lambda x=x, i=indices: ours(x, i, 2))
        if isinstance(error, libgather.GatherError) and len(pc.take(x, indices)) == 2:
            report.different("nulls", "pyarrow-nulls")
        else:
            report.failed("nulls", f"{x.to_pylist()} by {indices.to_pylist()}: {error}")


def run() -> Report:
    report = Report("pyarrow", "pyarrow")
    import pyarrow as pa
    import pyarrow.compute as pc

    version_of("pytest")
    version_of("hypothesis")
    run_own_tests(report, "pyarrow", "pyarrow_adapter", SELECTED)
    rng = np.random.default_rng(5)
    for (name, index_name), seed in itertools.product(itertools.product(TYPES, INDEX_TYPES), range(4)):
        n, count = int(rng.integers(1, 100)), int(rng.integers(0, 100))
        x = pa.array(rng.integers(0, 100, n).astype(name))
        rows = rng.integers(0, n, count).astype(index_name)
        text = f"{name}[{n}] by {index_name}[{count}], case {seed}"
        compare(report, "valid indices", text, x, pa.array(rows))
        if count:
            bad = rows.copy()
            bad[int(rng.integers(count))] = n if seed % 2 or index_name.startswith("u") else -1
            compare(report, "one index out of range", text, x, pa.array(bad))
        compare(report, "slices", text, x[n // 3 :], pa.array(np.zeros(count, index_name)) if n > n // 3 else pa.array(rows[:0]))
    nulls(report, pa, pc)
    require_cases(report, 500)
    return report


if __name__ == "__main__":
    main("pyarrow", run)
