# SPDX-License-Identifier: MIT
#
# test_libraries.py: arrays of other libraries, through DLPack or the buffer protocol. Each test is skipped, with a line that says so,
# where its library is not installed; GATHER_TEST_REQUIRE=NAME makes that a failure.
"""JAX, Arrow, pandas, Array API."""
from __future__ import annotations

import importlib

import numpy as np
import pytest

import libgather
from libgather import Plan, gather_elements, take, take_along_axis
from support.refusal import refuses
from support.skip import skip_test


def library(name: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        return skip_test(name.partition(".")[0], "the package is not installed")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float16", "float32", "complex64", "bfloat16", "float8_e4m3fn"])
def test_jax(dtype):
    jnp = library("jax.numpy")
    x = jnp.arange(12).reshape(4, 3).astype(getattr(jnp, dtype))
    if dtype.startswith("float8"):  # of which JAX's own from_dlpack may know nothing: into memory of ours
        ml_dtypes = library("ml_dtypes")
        out = np.zeros((2, 3), getattr(ml_dtypes, dtype))
        assert take(x, [3, 0], axis=0, out=out) is out and out.astype("f4").tolist() == x.astype("f4")[jnp.array([3, 0])].tolist()
        return
    ids = jnp.array([3, -4])
    for result in (take(x, ids, axis=0), Plan.take(x, ids, axis=0)(x, ids), gather_elements(x, [[3, 3, 3], [0, 0, 0]]),
                   take_along_axis(x, jnp.array([[3], [0]]), axis=0)):
        assert isinstance(result, type(x)) and result.dtype == x.dtype and result.tolist() == x[jnp.array([3, 0])].tolist()
    refuses(libgather.GatherIndexError, take, x, jnp.array([4]), axis=0)


def test_a_jax_array_is_no_output():
    """Its arrays never change: the memory is read-only."""
    jnp = library("jax.numpy")
    out = jnp.zeros(1)
    refuses(libgather.GatherError, take, np.arange(3, dtype=np.float32), [1], out=out)
    assert out.tolist() == [0]


@pytest.mark.filterwarnings("ignore:Exporting an unversioned")
def test_arrow():
    pa = library("pyarrow")
    x = pa.array([10, 20, 30])
    result = take(x, pa.array([2, 0]))
    assert np.asarray(result).tolist() == [30, 10]
    assert take(np.arange(9), pa.array([2, -1], pa.int16())).tolist() == [2, 8]
    with pytest.raises(libgather.GatherError):  # a missing index has no number
        take(np.arange(9), pa.array([2, None]))


def test_pandas():
    pd = library("pandas")
    assert np.asarray(take(pd.Series([10, 20, 30]), pd.Series([2, 0]))).tolist() == [30, 10]


def test_array_api():
    """A strict implementation of the standard: names and meaning are its own."""
    xp = library("array_api_strict")
    x, ids = xp.reshape(xp.arange(12), (4, 3)), xp.asarray([3, 0])
    result, wanted = take(x, ids, axis=0), xp.take(x, ids, axis=0)
    assert isinstance(result, type(x)) and bool(xp.all(result == wanted))
    along = xp.asarray([[2], [0], [1], [1]])
    assert bool(xp.all(take_along_axis(x, along) == xp.take_along_axis(x, along)))
