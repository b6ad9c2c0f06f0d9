# SPDX-License-Identifier: MIT
"""array-api-strict: its own tests of take, and its argument checks beside ours. Its arrays go into libgather by DLPack
and come back.
"""

from __future__ import annotations

import itertools

from report import Report, main, require_cases

PAIRS = "random gathers"
CHECKS = "argument checks"
OWN = "its own tests"


def attempt(call):
    """(result, None), or (None, the error). pytest's own failures are no Exception."""
    try:
        return call(), None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return None, error


def random_pairs(report: Report, xp) -> None:
    """Both functions on random arrays of every dtype."""
    import libgather
    import numpy as np

    rng = np.random.default_rng(3)
    for name, number in itertools.product(NAMES, range(8)):
        shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 4)))
        axis = int(rng.integers(-len(shape), len(shape)))
        n = shape[axis]
        plain = rng.integers(0, 100, shape).astype(name)
        x = xp.asarray(plain)
        rows = xp.asarray(rng.integers(-n, n, 5))
        others = tuple(3 if d == axis % len(shape) else k for d, k in enumerate(shape))
        along = xp.asarray(rng.integers(-n, n, others))
        for function, indices in (("take", rows), ("take_along_axis", along)):
            wanted = getattr(xp, function)(x, indices, axis=axis)
            got, error = attempt(lambda f=function, i=indices, a=axis, x=x: getattr(libgather, f)(x, i, axis=a))
            right = error is None and type(got) is type(wanted) and got.dtype == wanted.dtype
            if right and np.asarray(got._array).tobytes() == np.asarray(wanted._array).tobytes():
                report.passed(PAIRS)
            else:
                report.failed(PAIRS, f"{function} {name}{list(shape)} axis {axis}, case {number}: {error or type(got).__name__}")


NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


def checks(report: Report, xp) -> None:
    """Calls that array-api-strict refuses, and what libgather does with them."""
    import libgather

    matrix, vector, rows = xp.ones((2, 3)), xp.asarray([1, 2, 3]), xp.asarray([0, 1])
    calls = [
        ("no axis for a matrix", (matrix, rows), {}, None),
        ("float indices", (vector, xp.asarray([0.0])), {"axis": 0}, None),
        ("bool indices", (vector, xp.asarray([True, False, True])), {"axis": 0}, None),
        ("axis out of range", (matrix, rows), {"axis": 2}, None),
        ("an index out of range", (vector, xp.asarray([3])), {"axis": 0}, None),
        ("indices of rank 2", (vector, xp.asarray([[0], [1]])), {"axis": 0}, "array-api-index-rank"),
        ("indices of rank 0", (vector, xp.asarray(1)), {"axis": 0}, "array-api-index-rank"),
        ("arrays of two devices", (vector, xp.asarray([0], device=xp.Device("device1"))), {"axis": 0}, "array-api-devices"),
    ]
    for what, arguments, options, difference in calls:
        _, refused = attempt(lambda a=arguments, o=options: xp.take(*a, **o))
        _, error = attempt(lambda a=arguments, o=options: libgather.take(*a, **o))
        if refused is not None and isinstance(error, libgather.GatherError | TypeError):
            report.passed(CHECKS)
        elif refused is not None and error is None and difference is not None:
            report.different(CHECKS, difference)
        else:
            report.failed(CHECKS, f"{what}: array-api-strict {refused}; libgather {error}")


def own_tests(report: Report, xp) -> None:
    """Its file of tests, with its functions exchanged for ours."""
    import libgather
    from array_api_strict.tests import test_indexing_functions as tests

    calls = 0

    def counted(*arguments, **options):
        nonlocal calls
        calls += 1
        return libgather.take(*arguments, **options)

    theirs, xp.take = xp.take, counted
    try:
        for name, function in sorted(vars(tests).items()):
            if not name.startswith("test_"):
                continue
            rows = [mark.args[1] for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
            for arguments in rows[0] if rows else [()]:
                before = calls
                _, error = attempt(lambda f=function, a=arguments: f(*a))
                if error is None:
                    report.passed(OWN) if calls > before else report.unreached(OWN)
                elif "device" in name:
                    report.different(OWN, "array-api-devices")
                else:
                    report.failed(OWN, f"{name}{arguments}: {type(error).__name__}: {error}")
    finally:
        xp.take = theirs


def run() -> Report:
    report = Report("array_api", "array-api-strict")
    import array_api_strict as xp

    own_tests(report, xp)
    random_pairs(report, xp)
    checks(report, xp)
    require_cases(report, 100)
    return report


if __name__ == "__main__":
    main("array_api", run)
