# SPDX-License-Identifier: MIT
#
# test_torch_disk_embedding.py: DiskEmbedding as a module: reading ahead, quantised tables, to(), state_dict, processes, torch.compile, and in
# the place of an nn.Embedding. tests/python/test_table_torch.py has its rows and the dataset.
"""DiskEmbedding."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import libgather
from support.quantised_files import nvfp4
from support.skip import needs

try:
    import torch
    from torch import nn

    from libgather.torch import DiskEmbedding, replace_embedding
    from libgather.torch.embedding_jobs import AT_ONCE
except ImportError:
    torch, nn = None, SimpleNamespace(Module=object)

X = np.random.default_rng(5).standard_normal((200, 8)).astype(np.float32)
needs_torch = needs("torch", torch)


@pytest.fixture
def path(tmp_path: Path) -> str:
    np.save(tmp_path / "table.npy", X)
    return str(tmp_path / "table.npy")


def usual(**options) -> nn.Embedding:
    return nn.Embedding.from_pretrained(torch.from_numpy(X), **options)


# ---- rows ----


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (4, 5), (2, 3, 4)], ids=str)
def test_shapes(path, shape):
    ids = torch.randint(0, 200, shape)
    disk = DiskEmbedding(path)
    disk.prefetch(ids)
    for _ in range(2):
        rows = disk(ids)
        assert rows.dtype == torch.float32 and torch.equal(rows, usual()(ids))


@pytest.mark.parametrize("options", [{}, {"engine": "pread"}, {"engine": "mmap"}, {"memory": "64MiB"}, {"cache": 0}], ids=str)
def test_options_of_the_table(path, options):
    ids = torch.tensor([[1, 199], [0, 1]])
    disk = DiskEmbedding(path, **options)
    assert torch.equal(disk(ids), usual()(ids))
    if "engine" in options:
        assert disk.statistics().table.engine == options["engine"]


def test_padding(path):
    """As nn.Embedding.from_pretrained: the row is what the table has."""
    for given, wanted in ((None, None), (3, 3), (-1, 199), (0, 0)):
        disk = DiskEmbedding(path, padding_idx=given)
        assert disk.padding_idx == usual(padding_idx=given).padding_idx == wanted
        assert torch.equal(disk(torch.tensor([3, 199, 0])), usual(padding_idx=given)(torch.tensor([3, 199, 0])))
    assert "padding_idx=199" in repr(DiskEmbedding(path, padding_idx=-1))
    for wrong in (200, -201):
        with pytest.raises(libgather.GatherValueError, match=rf"padding_idx = {wrong} is outside \[-200, 199\]"):
            DiskEmbedding(path, padding_idx=wrong)


def test_errors(path):
    disk = DiskEmbedding(path)
    for ids, position, value in (([[0, 200]], (0, 1), 200), ([5, -1], (1,), -1)):
        with pytest.raises(libgather.GatherIndexError, match=r"outside \[0, 199\]") as caught:
            disk(torch.tensor(ids))
        assert (caught.value.position, caught.value.value, caught.value.low, caught.value.high) == (position, value, 0, 199)
    with pytest.raises(libgather.GatherTypeError):
        disk(torch.tensor([0.5]))
    with pytest.raises(AttributeError, match="rows stay in the file"):
        _ = disk.weight
    assert not hasattr(disk, "weight")
    with pytest.raises(AttributeError):
        _ = disk.nothing


def test_quantised_blocks_are_decoded(tmp_path):
    """A table of GGUF's blocks, and one with scales in tensors beside it."""
    stored = nvfp4(np.random.default_rng(1))
    name = stored.write(tmp_path / "x.safetensors")
    ids = torch.tensor([[1, 5], [39, 0]])
    values = torch.from_numpy(stored.values)
    disk = DiskEmbedding(name, decode_as="float32")
    disk.prefetch(ids)
    assert torch.equal(disk(ids), values[ids]) and disk.statistics().prefetched == 1
    assert torch.equal(DiskEmbedding(name, decode_as="float16", dtype=torch.float32)(ids), values[ids].half().float())


# ---- reading ahead ----


def test_prefetch(path):
    disk = DiskEmbedding(path, memory="64MiB")
    batches = [torch.randint(0, 200, (6, 7), generator=torch.Generator().manual_seed(i)) for i in range(8)]
    disk.prefetch(batches[0])
    for i, ids in enumerate(batches):
        if i + 1 < len(batches):
            disk.prefetch(batches[i + 1])
        assert torch.equal(disk(ids), usual()(ids))
    found = disk.statistics()
    assert (found.prefetched, found.missed, found.dropped) == (8, 0, 0) and found.table.takes == 8


def test_prefetch_of_other_ids(path):
    """Ids that nobody asked for are read as ever; what is read ahead waits, and the oldest goes."""
    disk = DiskEmbedding(path)
    ids = [torch.tensor([i, i + 1]) for i in range(AT_ONCE + 2)]
    for one in ids:
        disk.prefetch(one)
    assert disk.statistics().dropped == 2
    for one in reversed(ids):
        assert torch.equal(disk(one), usual()(one))
    found = disk.statistics()
    assert (found.prefetched, found.missed, found.dropped) == (AT_ONCE, 0, 2)  # no batch was left when the last two were asked for
    disk.prefetch(ids[0])
    assert torch.equal(disk(ids[1]), usual()(ids[1])) and disk.statistics().missed == 1
    disk.prefetch(ids[2].reshape(1, 2))
    assert disk(ids[2]).shape == (2, 8) and disk.statistics().prefetched == AT_ONCE


def test_prefetched_ids_may_change(path):
    disk = DiskEmbedding(path)
    ids = torch.tensor([1, 2, 3])
    disk.prefetch(ids)
    ids += 5
    assert torch.equal(disk(ids), usual()(ids)) and disk.statistics().missed == 1
    assert torch.equal(disk(ids - 5), usual()(ids - 5)) and disk.statistics().prefetched == 1


@pytest.mark.parametrize("ids", [[1, 2], 4, [[1], [2]], [], np.array([5, 6])], ids=repr)
def test_prefetch_of_lists(path, ids):
    disk = DiskEmbedding(path)
    disk.prefetch(ids)
    assert np.array_equal(disk(ids), X[np.asarray(ids, int)]) and disk.statistics().prefetched == 1


def test_prefetch_of_bad_ids(path):
    """An error of the call; the next one is as ever."""
    disk = DiskEmbedding(path)
    bad = torch.tensor([1, 200])
    with pytest.raises(libgather.GatherIndexError, match=r"indices\[1\] = 200 is outside \[0, 199\]"):
        disk.prefetch(bad)
        disk(bad)
    assert torch.equal(disk(torch.tensor([3])), usual()(torch.tensor([3])))


def test_threads(path):
    """Each thread has its batches; none gets another's."""
    disk, wrong = DiskEmbedding(path), []

    def work(seed):
        random = torch.Generator().manual_seed(seed)
        for _ in range(50):
            ids = torch.randint(0, 200, (20,), generator=random)
            disk.prefetch(ids)
            if not torch.equal(disk(ids), usual()(ids)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = disk.statistics()
    assert not wrong and found.prefetched > 0 and found.prefetched + found.dropped <= 400


# ---- a module among others ----


def test_to(path):
    """What to() would make of the weights, the results become."""
    ids = torch.tensor([1, 2])
    disk = DiskEmbedding(path)
    assert disk.half() is disk and disk(ids).dtype == torch.float16 and torch.equal(disk(ids), usual().half()(ids))
    assert disk.to(torch.bfloat16)(ids).dtype == torch.bfloat16 and disk.double()(ids).dtype == torch.float64
    assert disk.device is None and disk.to("cpu")(ids).device.type == "cpu"
    model = nn.Sequential(DiskEmbedding(path), nn.Linear(8, 2)).to(torch.bfloat16)
    assert model(ids).dtype == torch.bfloat16
    assert nn.Sequential(DiskEmbedding(path)).to("meta")(ids).device.type == "meta"


def test_state_dict(path):
    model = nn.Sequential(DiskEmbedding(path), nn.Linear(8, 2))
    whole = nn.Sequential(usual(), nn.Linear(8, 2))
    assert list(model.state_dict()) == ["1.weight", "1.bias"] and not list(DiskEmbedding(path).parameters())
    model.load_state_dict(whole.state_dict())  # strict: the embedding's weights are expected
    ids = torch.tensor([3, 4])
    assert torch.equal(model(ids), whole(ids))
    model.load_state_dict(model.state_dict())
    wrong = nn.Sequential(nn.Embedding(200, 9), nn.Linear(8, 2)).state_dict()
    with pytest.raises(RuntimeError, match=r"0.weight has the shape \(200, 9\), but the table in the file has \(200, 8\)"):
        model.load_state_dict(wrong)
    with pytest.raises(RuntimeError, match="0.other"):
        model.load_state_dict({**whole.state_dict(), "0.other": torch.zeros(1)})


def test_copies(path):
    """By pickle, by deepcopy and by torch.save: each opens the file, and has nothing of what the other reads ahead."""
    model = nn.Sequential(DiskEmbedding(path, padding_idx=2, dtype=torch.bfloat16, memory="64MiB"), nn.Linear(8, 2).bfloat16())
    ids = torch.tensor([3])
    model[0].prefetch(ids)
    saved = io.BytesIO()
    torch.save(model, saved)
    saved.seek(0)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), torch.load(saved, weights_only=False)):
        assert torch.equal(other(ids), model(ids)) and other[0].padding_idx == 2 and other[0].dtype == torch.bfloat16
        assert other[0].statistics().prefetched == 0 and other[0].table is not model[0].table


WORKERS = """
import sys, torch
from torch.utils.data import DataLoader, Dataset
from libgather.torch import DiskEmbedding

class Rows(Dataset):
    def __init__(self, path):
        self.embedding = DiskEmbedding(path)
    def __len__(self):
        return 200
    def __getitems__(self, ids):
        self.embedding.prefetch(ids)
        return list(self.embedding(torch.tensor(ids)))

if __name__ == "__main__":
    data = Rows(sys.argv[1])
    data.embedding.prefetch(list(range(16)))  # stays with the parent
    found = torch.cat(list(DataLoader(data, batch_size=16, num_workers=2, multiprocessing_context=sys.argv[2])))
    assert torch.equal(found, data.embedding(torch.arange(200))), "other rows"
    assert torch.equal(data.embedding(list(range(16))), found[:16]) and data.embedding.statistics().prefetched == 1
    print("the same")
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(path, tmp_path, method):
    (tmp_path / "workers.py").write_text(WORKERS)
    done = subprocess.run([sys.executable, tmp_path / "workers.py", path, method], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "the same\n", done.stderr


# ---- torch.compile ----


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile(path, backend):
    """In one graph, also with another number of ids."""
    torch._dynamo.reset()
    model = nn.Sequential(DiskEmbedding(path), nn.Linear(8, 2))
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    for ids in (torch.tensor([[1, 2], [199, 0]]), torch.tensor([[1, 2, 3]]), torch.zeros(0, 2, dtype=torch.int64)):
        assert torch.allclose(compiled(ids), model(ids))
    compiled(torch.tensor([[5]])).sum().backward()
    with pytest.raises(Exception, match=r"indices\[0, 1\] = 200 is outside \[0, 199\]"):
        compiled(torch.tensor([[0, 200]]))


# ---- in the place of an nn.Embedding ----


class Model(nn.Module):
    def __init__(self, tied: bool = False, **options):
        super().__init__()
        self.encoder = nn.ModuleDict({"tokens": nn.Embedding(200, 8, **options)})
        self.out = nn.Linear(8, 200, bias=False)
        if tied:
            self.out.weight = self.encoder["tokens"].weight

    def forward(self, ids):
        return self.out(self.encoder["tokens"](ids))


def test_replace(path):
    model = Model(padding_idx=7).eval()
    with torch.no_grad():
        model.encoder["tokens"].weight.copy_(torch.from_numpy(X))
    ids = torch.tensor([[7, 1], [199, 0]])
    wanted = model(ids)
    new = replace_embedding(model, "encoder.tokens", path, verify=True, memory="64MiB")
    assert model.encoder["tokens"] is new and new.padding_idx == 7 and not new.training and torch.equal(model(ids), wanted)
    assert [name for name, _ in model.named_parameters()] == ["out.weight"]


def test_replace_on_meta(path):
    """The weights never exist."""
    with torch.device("meta"):
        model = Model().to(torch.bfloat16)
    new = replace_embedding(model, "encoder.tokens", path)
    assert new.dtype == torch.bfloat16 and torch.equal(new(torch.tensor([5])), torch.from_numpy(X[5:6]).bfloat16())
    model.to_empty(device="cpu")
    assert model(torch.tensor([5])).shape == (1, 200)


def test_replace_is_refused(path, tmp_path):
    np.save(tmp_path / "narrow.npy", X[:, :4])
    cases = [("nothing", path, {}, libgather.GatherNameError, "no module 'nothing'"),
             ("encoder.nothing", path, {}, libgather.GatherNameError, "no module"),
             ("out", path, {}, libgather.GatherTypeError, "'out' is a Linear"),
             ("encoder.tokens", str(tmp_path / "narrow.npy"), {}, libgather.GatherValueError, r"\(200, 8\), but the table has \(200, 4\)"),
             ("encoder.tokens", path, {"verify": True}, libgather.GatherValueError, "row 0 of 'encoder.tokens' has .* in column 0, but the table has")]
    for name, table, options, error, text in cases:
        model = Model()
        with pytest.raises(error, match=text):
            replace_embedding(model, name, table, **options)
        assert isinstance(model.encoder["tokens"], nn.Embedding)
    with pytest.raises(libgather.GatherNotSupportedError, match="max_norm=1.0"):
        replace_embedding(Model(max_norm=1.0), "encoder.tokens", path)
    with torch.device("meta"), pytest.raises(libgather.GatherValueError, match="on meta"):
        replace_embedding(Model(), "encoder.tokens", path, verify=True)


def test_replace_of_tied_weights(path):
    with pytest.warns(UserWarning, match=r"stay in memory: the model has them as out.weight too"):
        replace_embedding(Model(tied=True), "encoder.tokens", path)
