# SPDX-License-Identifier: MIT
#
# test_table_torch.py: tables in files for PyTorch: tensors of every dtype, a Dataset in a DataLoader with and without workers, an
# embedding. Skipped, with a line that says so, where PyTorch is not installed; GATHER_TEST_REQUIRE=torch makes that a failure.
"""Tables in files and PyTorch."""
from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import libgather
from support.quantised_files import nvfp4
from support.refusal import refuses
from support.skip import skip_test
from table_files import save, save_raw, save_safetensors

try:
    import torch
    from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, Subset

    import libgather.torch as tables
except ImportError:
    torch = None

X = np.random.default_rng(3).standard_normal((100, 6)).astype(np.float32)


@pytest.fixture(autouse=True)
def needs_torch():
    if torch is None:
        skip_test("torch", "the package is not installed")


@pytest.fixture
def path(tmp_path):
    return save(tmp_path, X)


def half(row):  # can be sent to a worker
    return row / 2, row.sum()


DTYPES = ("bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
          "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu").split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(tmp_path, dtype):
    """Rows as tensors of the table's dtype, new or in the caller's."""
    kind = getattr(torch, dtype, None)
    if kind is None:
        pytest.skip(f"dtype: this PyTorch has no {dtype}")
    bytes_ = np.random.default_rng(1).integers(0, 2, 40 * kind.itemsize, np.uint8)
    wanted = torch.from_numpy(bytes_).view(kind).reshape(-1, 2, 2)
    ids = torch.tensor([[0, -1, 3]])
    with libgather.open(save_raw(tmp_path, bytes_), dtype=dtype, shape=(-1, 2, 2)) as table:
        rows = tables.take(table, ids)
        assert rows.dtype == kind and rows.shape == (1, 3, 2, 2) and not rows.requires_grad
        assert rows.view(torch.uint8).tolist() == wanted[ids].view(torch.uint8).tolist()
        assert tables.take(table, 2).view(torch.uint8).tolist() == wanted[2].view(torch.uint8).tolist()
        for call in (lambda out: tables.take(table, ids, out=out), lambda out: table.submit(ids, out=out).wait()):
            out = torch.zeros(1, 3, 2, 2).to(kind)
            assert call(out) is out and out.view(torch.uint8).tolist() == rows.view(torch.uint8).tolist()
        with pytest.raises(libgather.GatherTypeError):
            table.take(ids, out=torch.zeros(1, 3, 2, 2, dtype=torch.int16 if dtype != "int16" else torch.int8))


@pytest.mark.parametrize("dtype", "uint8 int8 int16 uint16 int32 uint32 int64 uint64".split())
def test_indices(path, dtype):
    ids = torch.arange(12).to(getattr(torch, dtype)).reshape(3, 4).T
    with libgather.open(path) as table:
        assert np.array_equal(table[ids], X[ids.numpy()]) and np.array_equal(table.submit(ids).wait(), X[ids.numpy()])
        assert np.array_equal(table[torch.tensor(7)], X[7]) and np.array_equal(table[torch.arange(100) > 90], X[91:])
        assert np.array_equal(table[torch.tensor([3, 1]), 2:], X[[3, 1], 2:])


def test_out(path):
    with libgather.open(path) as table:
        for wrong, error in ((torch.zeros(6, 2).T, NotImplementedError), (torch.zeros(2, 5), ValueError), (torch.zeros(2, 6).half(), TypeError),
                             (torch.zeros(2, 6, requires_grad=True), NotImplementedError), (torch.zeros(2, 6, device="meta"), NotImplementedError)):
            refuses(error, table.take, [0, 1], out=wrong)
        out = torch.zeros(4, 2, 6)[2]
        assert table.take([0, 1], out=out) is out and np.array_equal(out, X[:2])


def test_other_tables(tmp_path):
    """The other byte order is turned round; what PyTorch has no dtype for is refused; blocks are bytes."""
    x = np.arange(12, dtype=">i4").reshape(6, 2)
    with libgather.open(save(tmp_path, x)) as table:
        assert tables.take(table, [5, 0]).tolist() == x[[5, 0]].tolist() and len(tables.TableDataset(table)) == 6
        refuses(libgather.GatherTypeError, table.take, [5], out=torch.zeros(1, 2, dtype=torch.int32), says="byte order")
    for wrong in (np.array(["a", "b"]), np.zeros(3, "M8[s]"), np.zeros(3, [("a", "i4")])):
        refuses(libgather.GatherTypeError, tables.TableDataset, save(tmp_path, wrong), says="PyTorch has no dtype")
    with libgather.open(save_raw(tmp_path, np.arange(36, dtype="u1")), dtype="V18", shape=(-1, 1)) as blocks:
        assert tables.take(blocks, [1]).tolist() == [[list(range(18, 36))]]
        refuses(libgather.GatherTypeError, tables.DiskEmbedding, blocks)
    refuses(TypeError, tables.TableDataset, libgather.open(save(tmp_path, x)), memory="2GiB", says="memory")


# ---- the dataset ----


def test_dataset(path):
    dataset = tables.TableDataset(path, memory="64MiB")
    assert isinstance(dataset, Dataset) and len(dataset) == 100 and "TableDataset(<libgather.Table" in repr(dataset)
    assert np.array_equal(dataset[3], X[3]) and np.array_equal(dataset[[3, 1]], X[[3, 1]]) and dataset[3].dtype == torch.float32
    rows = dataset.__getitems__([5, -1, 5])
    assert isinstance(rows, list) and len(rows) == 3 and np.array_equal(torch.stack(rows), X[[5, -1, 5]])
    assert np.array_equal(tables.collate(rows), X[[5, -1, 5]]) and tables.collate(rows).data_ptr() == rows[0].data_ptr()
    assert dataset.table.stats().takes == 4
    with pytest.raises(IndexError):
        dataset[100]
    again = pickle.loads(pickle.dumps(tables.TableDataset(path, half)))
    assert np.array_equal(again[4][0], X[4] / 2) and np.array_equal(again[[4]][0][0], X[4] / 2)


def batches(dataset, **keywords):
    return list(DataLoader(dataset, batch_size=16, **keywords))


@pytest.mark.parametrize("keywords", [{}, {"num_workers": 2, "multiprocessing_context": "fork"},
                                      {"num_workers": 2, "multiprocessing_context": "spawn", "persistent_workers": True}], ids=str)
def test_loaders(path, keywords):
    """A batch is one take; it is right with PyTorch's own collating, with ours, with a transform and within a Subset."""
    table = libgather.open(path, memory="64MiB")
    dataset = tables.TableDataset(table)
    jobs = [table.submit(np.arange(100)) for _ in range(3)]
    found = batches(dataset, collate_fn=tables.collate, **keywords)
    assert len(found) == 7 and np.array_equal(torch.cat(found), X) and all(isinstance(batch, torch.Tensor) for batch in found)
    if not keywords:
        assert table.stats().takes <= 7 + 3 and table.stats().rows <= 400
    assert all(np.array_equal(job.wait(), X) for job in jobs)
    if "persistent_workers" in keywords:  # starting processes takes seconds
        return
    assert np.array_equal(torch.cat(batches(dataset, **keywords)), X)
    assert np.array_equal(torch.cat(batches(Subset(dataset, range(50, 90)), collate_fn=tables.collate, **keywords)), X[50:90])
    halves = batches(tables.TableDataset(table, half), collate_fn=tables.collate, **keywords)
    assert np.allclose(torch.cat([a for a, _ in halves]), X / 2) and np.allclose(torch.cat([b for _, b in halves]), X.sum(1), atol=1e-5)
    sampler = BatchSampler(RandomSampler(dataset, generator=torch.Generator().manual_seed(1)), 16, False)
    order = [i for batch in BatchSampler(RandomSampler(dataset, generator=torch.Generator().manual_seed(1)), 16, False) for i in batch]
    assert np.array_equal(torch.cat(list(DataLoader(dataset, sampler=sampler, batch_size=None, **keywords))), X[order])


def test_errors_of_workers(path):
    """They come back whole enough to be read."""
    with pytest.raises(IndexError, match=r"indices\[1\] = 100 is outside"):
        list(DataLoader(tables.TableDataset(path), sampler=[3, 100], batch_size=2, num_workers=1, multiprocessing_context="fork"))


# ---- the embedding ----


def test_embedding(path):
    """As nn.Embedding, but for gradients."""
    disk = tables.DiskEmbedding(path, memory="64MiB")
    usual = torch.nn.Embedding.from_pretrained(torch.from_numpy(X))
    for ids in (torch.tensor([[1, 99], [0, 1]]), torch.tensor(5), torch.zeros(0, 3, dtype=torch.int32), torch.tensor([7], dtype=torch.uint8)):
        assert torch.equal(disk(ids), usual(ids.long())) and not disk(ids).requires_grad
    assert (disk.num_embeddings, disk.embedding_dim, disk.dtype) == (100, 6, torch.float32) and not list(disk.parameters())
    assert repr(disk) == f"DiskEmbedding(100, 6, dtype=torch.float32, path={path!r})"
    for wrong in ([100], [-1]):
        refuses(libgather.GatherIndexError, disk, torch.tensor(wrong), says=r"outside \[0, 99\]")
    assert tables.DiskEmbedding(path, dtype=torch.bfloat16)(torch.tensor([1])).dtype == torch.bfloat16
    assert tables.DiskEmbedding(path, device="meta")(torch.tensor([1])).device.type == "meta"
    model = torch.nn.Sequential(disk, torch.nn.Linear(6, 2))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other(torch.tensor([3])), model(torch.tensor([3])))
    model(torch.tensor([3])).sum().backward()
    assert list(model.state_dict()) == ["1.weight", "1.bias"]


@pytest.mark.parametrize("ids", [[1, 2], (3,), 4, [[1], [2]], [], np.array([5, 6]), range(3)], ids=repr)
def test_embedding_of_lists(path, ids):
    """What a table takes, the embedding takes."""
    rows = tables.DiskEmbedding(path)(ids)
    assert isinstance(rows, torch.Tensor) and np.array_equal(rows, X[np.asarray(ids, int)])
    assert tables.DiskEmbedding(path, device="meta")([1]).device.type == "meta"


def test_without_gradients(path):
    with libgather.open(path) as table, torch.no_grad():
        out = torch.zeros(2, 6, requires_grad=True)
        assert table.take([0, 1], out=out) is out and np.array_equal(out.detach(), X[:2])
        assert torch.equal(tables.DiskEmbedding(table)(torch.tensor([3])), torch.from_numpy(X[3:4]))


def test_the_module_comes_when_it_is_asked_for(path):
    """Without an import of its own."""
    program = f"import libgather; t = libgather.open({path!r}); print(libgather.torch.take(t, [3])[0, 0].item() == t[3][0])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"True\n"


@pytest.mark.parametrize("without", ["", "ml_dtypes"])
@pytest.mark.parametrize("workers", [0, 2])
def test_bfloat16_of_safetensors(tmp_path, workers, without):
    """The whole way: rows of a checkpoint, which NumPy has no dtype of, as batches; ml_dtypes is not needed for it."""
    wanted = torch.from_numpy(X).to(torch.bfloat16)
    path = save_safetensors(tmp_path / "m.safetensors", {"emb": ("BF16", wanted.view(torch.int16).numpy()), "b": ("F32", X)})
    (tmp_path / "job.py").write_text(f"""
import sys
sys.modules[{without!r}] = None
import libgather, torch
from torch.utils.data import DataLoader
if __name__ == "__main__":
    dataset = libgather.torch.TableDataset({path + ":emb"!r})
    loader = DataLoader(dataset, batch_size=32, num_workers={workers}, collate_fn=libgather.torch.collate)
    torch.save(torch.cat(list(loader)), {str(tmp_path / "rows.pt")!r})
""")
    done = subprocess.run([sys.executable, tmp_path / "job.py"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    rows = torch.load(tmp_path / "rows.pt")
    assert rows.dtype == torch.bfloat16 and torch.equal(rows, wanted)


def test_embedding_of_another_rank(tmp_path):
    for shape in ((4,), (4, 2, 2)):
        refuses(libgather.GatherValueError, tables.DiskEmbedding, save(tmp_path, np.zeros(shape, np.float32)), says="rank 2")


def test_quantised_tables(tmp_path):
    """An embedding and a dataset over decoded rows."""
    stored = nvfp4(np.random.default_rng(1))
    name = stored.write(tmp_path / "x.safetensors")
    ids = torch.tensor([[1, 5], [39, 0]])
    values = torch.from_numpy(stored.values)
    for table in (libgather.open(name).dequantize(), libgather.open(name, decode_as="float32")):
        assert torch.equal(tables.DiskEmbedding(table)(ids), values[ids])
    halves = tables.DiskEmbedding(name, decode_as="bfloat16")(ids)
    assert halves.dtype == torch.bfloat16 and torch.equal(halves, values.bfloat16()[ids])
    assert torch.equal(tables.TableDataset(name, decode_as=torch.float16)[3], values.half()[3])
    refuses(libgather.GatherTypeError, tables.DiskEmbedding, name, decode_as=torch.float64, says="rows are decoded to")


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float8_e5m2", "int64"])
def test_a_table_as_a_tensor_and_in_loaders(tmp_path, name):
    """In one take each, also of types that NumPy does not have."""
    tensor = torch.arange(48).reshape(12, 4).to(getattr(torch, name))
    with libgather.open(save_raw(tmp_path, tensor.view(torch.uint8).numpy()), dtype=name, shape=(-1, 4)) as table:
        for got in (torch.as_tensor(table), torch.from_dlpack(table)):
            assert got.dtype == tensor.dtype and torch.equal(got.view(torch.uint8), tensor.view(torch.uint8))
        assert table.stats().takes == 2
        for workers in (0, 2):
            batches = list(DataLoader(table, batch_size=5, num_workers=workers))
            assert torch.equal(torch.cat([batch.view(torch.uint8) for batch in batches]), tensor.view(torch.uint8))
            assert {batch.dtype for batch in batches} == {tensor.dtype}
