# SPDX-License-Identifier: MIT
"""NumPy's functions by NumPy's names and arguments, answered by libgather. What is translated stands in
docs/measured/conformance.md; what libgather refuses is refused here too.

`calls` counts what reached libgather.
"""

from __future__ import annotations

import operator
import sys

import libgather
import numpy as np

numpy_take = np.take
numpy_take_along_axis = np.take_along_axis
numpy_put_along_axis = np.put_along_axis
calls = 0
inside = False  # libgather is at work: what it asks of NumPy itself (arrays of objects) is NumPy's answer

MODES = {"raise": {"mode": "raise"}, "wrap": {"mode": "wrap"}, "clip": {"mode": "clip", "negative": False}}


def ours(function, *arguments, **options):
    """A call of libgather, counted."""
    global calls, inside
    calls, inside = calls + 1, True
    try:
        return function(*arguments, **options)
    finally:
        inside = False


def is_plain(a) -> bool:
    """Whether `a.take` is NumPy's own method; a class that has its own (masked arrays) keeps it."""
    return isinstance(a, np.ndarray | np.generic) and type(a).take in (np.ndarray.take, np.generic.take)


def take(a, indices, axis=None, out=None, mode="raise"):
    """numpy.take: without an axis the array counts as flat, and data of rank 0 as one element."""
    if inside:
        return numpy_take(a, indices, axis, out, mode)
    if not is_plain(a):
        if hasattr(type(a), "take"):
            return a.take(indices, axis=axis, out=out, mode=mode)
        a = np.asarray(a)
    a = np.asanyarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    elif a.ndim == 0:
        a = a.reshape(1)
    if not isinstance(axis, int):
        axis = operator.index(axis)
    return ours(libgather.take, a, indices, axis=axis, out=out, **MODES.get(mode, {"mode": mode}))


def take_along_axis(arr, indices, axis=-1):
    """numpy.take_along_axis."""
    if inside:
        return numpy_take_along_axis(arr, indices, axis)
    return ours(libgather.take_along_axis, arr, indices, axis=axis)


def put_along_axis(arr, indices, values, axis):
    """numpy.put_along_axis: values are converted to the array's type."""
    if inside:
        return numpy_put_along_axis(arr, indices, values, axis)
    ours(libgather.put_along_axis, arr, indices, np.asarray(values).astype(arr.dtype), axis=axis, out=arr)
    return None


REDUCTIONS = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.minimum: "min", np.maximum: "max"}


def at(owner):
    """`owner.at`: ours for the functions of two arguments that are reductions of libgather, where both arguments are of the array's type, which
    it sums; NumPy's own for all else. Sums of float16 are rounded at each step.
    """
    if inside or not isinstance(owner, np.ufunc) or owner not in REDUCTIONS:
        return owner.at

    def bound(a, indices, *rest):
        if type(a) is not np.ndarray or len(rest) != 1 or not keeps_type(owner, a, rest[0]):
            return owner.at(a, indices, *rest)
        places = ours(libgather.index, np.arange(a.size).reshape(a.shape), indices)
        updates = np.broadcast_to(np.asarray(rest[0]).astype(a.dtype), np.shape(places))
        flat = a.reshape(-1)
        ours(libgather.scatter, flat, np.reshape(places, -1), updates.reshape(-1), reduction=REDUCTIONS[owner], accumulate="steps", out=flat)
        if not np.may_share_memory(flat, a):
            a[...] = flat.reshape(a.shape)
        return None

    return bound


def keeps_type(ufunc, a, b) -> bool:
    """Whether the function of these computes in the array's type, which libgather sums."""
    if not a.dtype.isnative or a.dtype.kind not in "biufc" or a.dtype.char in "gG" or (a.dtype.kind == "c" and ufunc in (np.minimum, np.maximum)):
        return False
    try:
        return set(ufunc.resolve_dtypes((a.dtype, np.asarray(b).dtype, None))) == {a.dtype} or np.asarray(b).dtype == a.dtype
    except TypeError:
        return False


def method(owner):
    """`owner.take` as a test module means it: ours for NumPy's arrays and scalars, its own for all else."""
    if owner is np:
        return np.take
    if not is_plain(owner):
        return owner.take

    def bound(indices, axis=None, out=None, mode="raise"):
        return take(owner, indices, axis, out, mode)

    return bound


def read(owner, key):
    """`owner[key]`: ours for NumPy's arrays, its own for all else. Where NumPy's answer is a view, ours must be the same array,
    and the view is returned, so that a test that writes through it goes on.
    """
    if inside or not isinstance(owner, np.ndarray) or type(owner).__getitem__ is not np.ndarray.__getitem__:
        return owner[key]
    got = ours(libgather.index, owner, key)
    if not isinstance(got, np.ndarray):
        return got
    try:
        theirs = owner[key]
    except Exception:  # which the test looks for
        return got
    if theirs.base is None or not np.may_share_memory(theirs, owner):
        return got
    assert type(got) is type(theirs) and got.dtype == theirs.dtype and got.shape == theirs.shape
    assert (got.tolist() if got.dtype.hasobject else got.tobytes()) == (theirs.tolist() if got.dtype.hasobject else theirs.tobytes())
    return theirs


def install() -> None:
    """Our functions wherever a module of NumPy holds NumPy's."""
    theirs = {id(numpy_take): take, id(numpy_take_along_axis): take_along_axis, id(numpy_put_along_axis): put_along_axis}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "numpy" or module is None:
            continue
        for attribute, value in list(vars(module).items()):
            if id(value) in theirs:
                setattr(module, attribute, theirs[id(value)])
