# SPDX-License-Identifier: MIT
#
# test_table_remote.py: a table of a URL in dask, xarray, PyTorch and JAX, as any other table.
"""Tables of URLs where tables are used."""

from __future__ import annotations

import numpy as np
import pytest

import libgather
from support.http_server import HttpServer
from support.skip import module

X = np.arange(4000, dtype=np.float32).reshape(1000, 4)
IDS = np.array([[7, 900], [7, 0]])


@pytest.fixture
def server(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with HttpServer({"/x.npy": (tmp_path / "x.npy").read_bytes()}) as running:
        yield running


@pytest.fixture
def url(server):
    return server.url("/x.npy")


def test_numpy(url, server):
    with libgather.open(url) as table:
        assert np.array_equal(np.take(table, IDS, axis=0), X[IDS])
        assert server.requests <= 1 + 3


def test_dask(url, server):
    dask = module("dask.array")
    with libgather.open(url, remote={"connections": 4}) as table:
        array = dask.from_array(table, chunks=(100, 4))
        assert np.array_equal(array[250:450:2].compute(scheduler="threads"), X[250:450:2])
        assert server.peak <= 4


def test_xarray(url):
    xarray = module("xarray")
    with libgather.open(url) as table:
        values = xarray.DataArray(xarray.Variable(("row", "column"), table[5:9]))
        assert np.array_equal(values.sel(row=2), X[7])


def test_disk_embedding(url, tmp_path):
    torch = module("torch")
    from libgather.torch import DiskEmbedding

    embedding = DiskEmbedding(url, remote={"connections": 2, "cache": str(tmp_path / "cache")})
    assert torch.equal(embedding(torch.from_numpy(IDS)), torch.from_numpy(X[IDS]))
    assert embedding.table.stats().remote.cache_stored > 0
    with pytest.raises(IndexError, match="1000"):
        module(torch.tensor([1000]))


def test_data_loader_with_processes(url):
    """Each process has connections of its own."""
    torch = module("torch")
    with libgather.open(url) as table:
        batches = list(torch.utils.data.DataLoader(table, batch_size=300, num_workers=2))
        assert np.array_equal(torch.cat(batches).numpy(), X)


def test_jax(url):
    jnp = module("jax.numpy")
    with libgather.open(url) as table:
        assert np.array_equal(np.asarray(jnp.asarray(table[IDS]).sum(axis=-1)), X[IDS].sum(axis=-1))
