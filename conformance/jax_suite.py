# SPDX-License-Identifier: MIT
"""jax.numpy.take and take_along_axis beside libgather, mode by mode: fill, clip and wrap, on random arrays of every
dtype. JAX arrays go into libgather and come back.
"""

from __future__ import annotations

import itertools

import numpy as np
from report import Report, main, require_cases

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
INDEX_TYPES = ("int8", "int32", "int64", "uint8", "uint64")
# shape of data, shape of indices, axis; JAX compiles each of them, so they are few.
SHAPES = (((7,), (5,), 0), ((4, 3), (), 0), ((2, 5, 3), (2, 2), -2))
ALONG = (((3, 4), (3, 6), 1), ((2, 5, 3), (2, 4, 3), -2))
# What libgather calls JAX's modes. jnp.take clips negative indices to 0, jnp.take_along_axis counts them from the end
# first.
MODES = {
    "fill": ({"mode": "fill"}, {"mode": "fill"}),
    "clip": ({"mode": "clip", "negative": False}, {"mode": "clip"}),
    "wrap": ({"mode": "wrap"}, None),  # take_along_axis has no mode wrap
}


def same(wanted, got) -> bool:
    import jax

    alike = isinstance(got, jax.Array) and got.dtype == wanted.dtype and got.shape == wanted.shape
    return alike and np.asarray(got).tobytes() == np.asarray(wanted).tobytes()


def indices_of(rng, shape: tuple, n: int, dtype: str):
    """Good and bad ones, from either end."""
    low, high = (0, 3 * n) if dtype.startswith("u") else (-3 * n, 3 * n)
    return np.asarray(rng.integers(low, high, shape)).astype(dtype)


def compare(report: Report, group: str, theirs, mine) -> None:
    wanted = theirs()
    try:
        got = mine()
    except Exception as error:
        report.failed(group, f"{type(error).__name__}: {error}")
        return
    report.passed(group) if same(wanted, got) else report.failed(group, f"{got} instead of {wanted}")


def by_mode(report: Report, jnp) -> None:
    """Each function, mode, shape and type."""
    import libgather

    rng = np.random.default_rng(4)
    for number, (mode, (take_options, along_options)) in enumerate(MODES.items()):
        for function, shapes, options in (("take", SHAPES, take_options), ("take_along_axis", ALONG, along_options)):
            if options is None:
                continue
            for (data, index, axis), (position, dtype) in itertools.product(shapes, enumerate(DTYPES)):
                x = jnp.asarray(rng.integers(0, 2 if dtype == "bool" else 100, data)).astype(dtype)
                i = jnp.asarray(indices_of(rng, index, data[axis], INDEX_TYPES[(position + number) % len(INDEX_TYPES)]))
                fill = {"fill_value": x.reshape(-1)[0].item()} if mode == "fill" else {}
                compare(
                    report,
                    f"{function}, mode {mode}",
                    lambda f=function, x=x, i=i, a=axis, m=mode, v=fill: getattr(jnp, f)(x, i, axis=a, mode=m, **v),
                    lambda f=function, x=x, i=i, a=axis, o=options, v=fill: getattr(libgather, f)(x, i, axis=a, **o, **v),
                )


def defaults(report: Report, jnp) -> None:
    """Without a mode: the same for good indices; a bad one is NaN there and an error here."""
    import libgather

    group = "take, no mode"
    for dtype in DTYPES:
        x = jnp.arange(5).astype(dtype)
        good, bad = jnp.asarray([-5, 4, 0]), jnp.asarray([0, 5])
        compare(report, group, lambda x=x, i=good: jnp.take(x, i), lambda x=x, i=good: libgather.take(x, i))
        jnp.take(x, bad)  # never an error
        try:
            libgather.take(x, bad)
            report.failed(group, f"{dtype}: no error from libgather")
        except libgather.GatherIndexError:
            report.different(group, "jax-never-errors")


def run() -> Report:
    report = Report("jax", "jax")
    import jax

    jax.config.update("jax_enable_x64", True)
    by_mode(report, jax.numpy)
    defaults(report, jax.numpy)
    require_cases(report, 200)
    return report


if __name__ == "__main__":
    main("jax", run)
