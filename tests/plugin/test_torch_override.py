# SPDX-License-Identifier: MIT
#
# test_torch_override.py: libgather.torch.override(): PyTorch's own operators give the same with it, and PyTorch is as it was after it.
# script/plugins torch --opinfo runs PyTorch's own samples of every dtype, and of every operator that calls one of these.
"""PyTorch's operators on libgather."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from support.skip import needs, skip_test

try:
    import torch
    from torch import nn

    from libgather.torch import override
except ImportError:
    torch = None
try:
    from support import torch_opinfo
except ImportError:  # it needs expecttest
    torch_opinfo = None

ALL = ("embedding", "index_select", "gather", "take", "index")
KERNELS = ("embedding", "index_select", "index_select.out", "gather", "gather.out", "take", "take.out", "index.Tensor")
needs_torch = needs("torch", torch)


def dump() -> list[str]:
    """PyTorch's tables of kernels."""
    return [torch._C._dispatch_dump(f"aten::{name}") + torch._C._dispatch_dump_table(f"aten::{name}") for name in KERNELS]


def taken(scope) -> dict[str, int]:
    return {name: count.taken for name, count in scope.counts.items()}


def calls(w, ids):
    """Each operator once, and the error of each."""
    yield "embedding", lambda: nn.functional.embedding(ids, w)
    yield "index_select", lambda: w.index_select(0, ids.reshape(-1))
    yield "gather", lambda: w.gather(0, ids.reshape(-1, 1).expand(-1, w.shape[1]))
    yield "take", lambda: w.take(ids)
    yield "index", lambda: w[ids]


# ---- scopes ----


def test_on_and_off():
    """Within the scope libgather answers; after it, PyTorch has its kernels and no others."""
    w, ids, before = torch.randn(20, 3), torch.tensor([[1, 19], [0, 0]]), dump()
    for name, call in calls(w, ids):
        wanted = call()
        with override(name) as scope:
            assert "on" in repr(scope) and dump() != before
            start = taken(scope)
            assert torch.equal(call(), wanted)
            assert taken(scope) == {name: start[name] + 1}
        assert taken(scope) == {name: start[name] + 1} and torch.equal(call(), wanted) and taken(scope) == {name: start[name] + 1}
        assert dump() == before and "off" in repr(scope)


def test_nothing_is_on_before():
    """Neither importing nor making one changes anything."""
    before = dump()
    scope = override(*ALL)
    assert dump() == before
    scope.remove()
    assert dump() == before


def test_the_default():
    """x[ids] is not among them: its kernel costs each call microseconds."""
    assert override().operators == ("embedding", "index_select", "gather", "take")
    assert override("take", "take", "gather").operators == ("take", "gather")


def test_nested():
    before = dump()
    w, ids = torch.randn(20, 3), torch.tensor([1, 2])
    outer, inner = override("embedding", "take"), override("embedding")

    def count() -> int:
        start = taken(outer)["embedding"]
        torch.embedding(w, ids)
        return taken(outer)["embedding"] - start

    with outer:
        with inner, inner:
            assert count() == 1
        assert count() == 1
        inner.install().install()
    assert count() == 1  # installed
    with pytest.raises(KeyError), outer:
        raise KeyError
    assert count() == 1
    inner.remove()
    assert count() == 0 and dump() == before


def test_arguments():
    with pytest.raises(ValueError, match="override\\(\\) takes embedding, index_select, gather, take, index, not 'scatter'"):
        override("scatter")


def test_no_warning():
    """Nothing on stderr either: PyTorch warns in C++ of a kernel that is replaced."""
    program = """
import warnings; warnings.simplefilter("error")
import torch; from libgather.torch import override
with override("embedding", "index_select", "gather", "take", "index"):
    torch.randn(3, 3)[torch.tensor([1])]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_another_library():
    """What libgather does not handle would go past the kernel of somebody else."""
    other = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.impl("take", lambda x, index: x.new_zeros(index.shape), "CPU")
    with pytest.raises(RuntimeError, match=r"another library has replaced aten::take for the CPU \(registered at "), override("embedding", "take"):
        pass
    with override("embedding"):  # and nothing was left on
        assert torch.equal(torch.ones(3).take(torch.tensor([1])), torch.zeros(1))
    other._destroy()
    with override("take"):
        assert torch.equal(torch.ones(3).take(torch.tensor([1])), torch.ones(1))


def test_threads():
    """Threads call the operators while scopes come and go: the same results, and no crash. In a process of its own."""
    program = """
import sys, threading, torch
from libgather.torch import override
w, ids = torch.randn(1000, 5), torch.randint(0, 1000, (300,))
wanted = [w[ids], w.take(ids), w.gather(0, ids.reshape(-1, 1))]
stop, wrong = threading.Event(), []
def work():
    while not stop.is_set():
        for want, got in zip(wanted, [torch.embedding(w, ids), w.take(ids), w.gather(0, ids.reshape(-1, 1))]):
            if not torch.equal(want, got):
                wrong.append(1)
def scopes():
    for _ in range(300):
        with override(), override("take"):
            pass
override().install().remove()  # registered before the threads begin
first = override().install()
threads = [threading.Thread(target=work) for _ in range(6)]
for t in threads: t.start()
others = [threading.Thread(target=scopes) for _ in range(2)]
for t in others: t.start()
first.remove()
for t in others: t.join()
stop.set()
for t in threads: t.join()
with override():
    pass
table = torch._C._dispatch_dump_table("aten::take")
print(len(wrong), "Register" in next(line for line in table.splitlines() if line.startswith("CPU: ")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=200)
    assert done.stdout == "0 True\n", done.stderr


def test_fork():
    """A child has what its parent has on, and gathers without the parent's threads."""
    program = """
import os, torch
from libgather.torch import override
w, ids = torch.randn(100000, 4), torch.randint(0, 100000, (50000,))
wanted = w[ids].numpy()
scope = override().install()
assert (torch.embedding(w, ids).numpy() == wanted).all()
child = os.fork()
if child == 0:  # without PyTorch's own kernels for so many elements: they wait for threads that are not there
    before = scope.counts["embedding"].taken
    fine = (torch.embedding(w, ids).numpy() == wanted).all() and scope.counts["embedding"].taken == before + 1
    scope.remove()
    os._exit(0 if fine and (torch.embedding(w, ids[:3]).numpy() == wanted[:3]).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (torch.embedding(w, ids).numpy() == wanted).all())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "0 True\n", done.stderr


# ---- results ----


def test_opinfo():
    """PyTorch's own samples: results, out=, errors, gradients, vmap, jacobians, meta and fake tensors."""
    if torch_opinfo is None:
        skip_test("expecttest", "the package, which torch.testing needs, is not installed")
    checked = torch_opinfo.Checked()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in torch_opinfo.infos():
            torch_opinfo.check_all(checked, op, few=True)
    assert not checked.failures, "\n".join(checked.failures[:20])
    assert sum(checked.passed.values()) > 700


def dtypes():
    return sorted({value for value in vars(torch).values() if isinstance(value, torch.dtype)}, key=str) if torch else []


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of dtypes that are experimental or deprecated
@pytest.mark.parametrize("operator", ALL)
def test_dtypes(operator):
    """The dtypes of data and of indices that PyTorch takes are those that it takes with the override."""
    def attempt(call):
        try:
            rows = call()
            return rows.dtype, rows.shape, bytes(rows.clone().untyped_storage())
        except Exception as error:
            return type(error), str(error).split("\n")[0][:60]

    memory, ids = torch.randint(0, 2, (6, 16), dtype=torch.uint8), torch.tensor([[1, 2]])
    for kind in dtypes():
        try:
            w, other = memory.view(kind), torch.zeros(2, 16, dtype=torch.uint8).view(kind)[:, :1]
        except (RuntimeError, TypeError):  # quantised
            continue
        for name, call in [*calls(w, ids), *calls(w.reshape(-1), ids), *calls(torch.randn(6, 16), other)]:
            if name == operator:
                wanted = attempt(call)
                with override(operator):
                    assert attempt(call) == wanted, (kind, wanted)


def shapes(rng: random.Random, limit: int = 4) -> tuple[int, ...]:
    return tuple(rng.choice([0, 1, 1, 2, 3, 5, 9]) for _ in range(rng.randint(0, limit)))


def laid_out(rng: random.Random, x: torch.Tensor) -> torch.Tensor:
    """The same tensor in another layout."""
    how = rng.randrange(5)
    if how == 1 and x.dim():
        return torch.stack([x, x], -1)[..., 1]
    if how == 2 and x.dim():
        order = rng.sample(range(x.dim()), x.dim())
        return x.permute(order).contiguous().permute([order.index(d) for d in range(x.dim())])
    if how == 3 and x.dim() and x.shape[0]:
        return x[:1].expand(x.shape)
    return x


def random_call(rng: random.Random):
    """A call of one of the operators, often a wrong one."""
    x = laid_out(rng, torch.randint(-99, 99, shapes(rng)).to(rng.choice([torch.float32, torch.int8, torch.float64, torch.complex64, torch.bool])))
    dim = rng.randint(-x.dim() - (rng.random() < 0.05), max(x.dim() - 1 + (rng.random() < 0.05), 0))
    name = rng.choice(["embedding", "index_select", "gather", "take", "index", "take_along_dim"])
    length = x.numel() if name == "take" else x.shape[dim] if -x.dim() <= dim < x.dim() else 3
    low = -length if name in ("take", "index") and rng.random() < 0.5 else 0
    high = max(length + (rng.random() < 0.1), low + 1)
    if name in ("gather", "take_along_dim"):
        shape = tuple(rng.randint(0, n) if rng.random() < 0.4 else n for n in x.shape) if rng.random() < 0.9 else shapes(rng)
    else:
        shape = shapes(rng, 3) if name != "index_select" or rng.random() < 0.1 else (rng.randint(0, 7),)
    ids = laid_out(rng, torch.randint(low, high, shape, dtype=rng.choice([torch.int64, torch.int64, torch.int32])))
    if name == "embedding":
        return lambda: torch.embedding(x, ids)
    if name == "index_select":
        return lambda: x.index_select(dim, ids)
    if name == "gather":
        return lambda: x.gather(dim, ids)
    if name == "take":
        return lambda: x.take(ids)
    if name == "take_along_dim":
        return lambda: torch.take_along_dim(x, ids, dim)
    place = rng.randint(0, 3)
    return lambda: x[(slice(None),) * place + (ids,)]


@pytest.mark.parametrize("seed", range(4))
def test_random(seed):
    """Shapes, layouts and indices at random: the same bits and strides, or the same error."""
    if torch_opinfo is None:
        skip_test("expecttest", "the package, which torch.testing needs, is not installed")
    rng, checked = random.Random(seed), torch_opinfo.Checked()
    torch.manual_seed(seed)
    for number in range(500):
        torch_opinfo.compare(checked, "random", f"seed {seed}, call {number}", random_call(rng))
    assert not checked.failures, "\n".join(checked.failures[:20])
    assert checked.passed["random"] == 500


@pytest.mark.parametrize("threads", [1, 2])
def test_large(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for w, ids in ((torch.randn(50_000, 16), torch.randint(0, 50_000, (200, 1000))), (torch.randn(300_000, 1), torch.randint(0, 300_000, (500_000,)))):
            for name, call in calls(w, ids):
                wanted = call()
                with override(name) as scope:
                    start = taken(scope)[name]
                    assert torch.equal(call(), wanted) and taken(scope)[name] == start + 1
    finally:
        torch.set_num_threads(before)


# ---- errors ----


def test_errors():
    """PyTorch's type and text, then position, value and range."""
    w = torch.randn(20, 3)
    for call, kind, theirs, ours in (
            (lambda: nn.functional.embedding(torch.tensor([[1, 2], [20, -1]]), w), IndexError, "index out of range in self",
             "indices[1, 0] = 20 is outside [0, 19] of axis 0 (torch.embedding); 2 of 4 indices are bad"),
            (lambda: w.index_select(0, torch.tensor([5, 20])), IndexError, "index out of range in self", "indices[1] = 20 is outside [0, 19] of axis 0"),
            (lambda: w.gather(1, torch.tensor([[0, 3]])), RuntimeError, "index 3 is out of bounds for dimension 1 with size 3",
             "indices[0, 1] = 3 is outside [0, 2] of axis 1"),
            (lambda: w.take(torch.tensor([60])), IndexError, "out of range: tried to access index 60", "indices[0] = 60 is outside [-60, 59] of axis 0"),
            (lambda: w[torch.tensor([0, -21])], IndexError, "index -21 is out of bounds for dimension 0 with size 20",
             "indices[1] = -21 is outside [-20, 19] of axis 0")):
        with override(*ALL), pytest.raises(kind) as caught:
            call()
        assert theirs in str(caught.value) and ours in str(caught.value)


def test_out_is_not_half_written():
    """After an index out of range, unlike PyTorch's own."""
    w, ids = torch.randn(20, 3), torch.tensor([1, 2, 20])
    for call, shape in ((lambda out: torch.index_select(w, 0, ids, out=out), (3, 3)), (lambda out: torch.take(w, ids + 40, out=out), (3,)),
                        (lambda out: torch.gather(w, 0, ids.reshape(-1, 1).expand(3, 3), out=out), (3, 3))):
        out = torch.full(shape, 7.0)
        with override(), pytest.raises((IndexError, RuntimeError), match="outside"):
            call(out)
        assert (out == 7).all()


# ---- models ----


@pytest.mark.parametrize("options", [{}, {"padding_idx": 3}, {"scale_grad_by_freq": True}, {"sparse": True}, {"max_norm": 1.0},
                                     {"padding_idx": -1, "scale_grad_by_freq": True}], ids=str)
def test_training(options):
    """nn.Embedding's options are about gradients: one step of training is the same."""
    def train() -> list[torch.Tensor]:
        torch.manual_seed(1)
        model = nn.Sequential(nn.Embedding(20, 8, **options), nn.Flatten(), nn.Linear(24, 2))
        optimiser = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            optimiser.zero_grad()
            model(torch.tensor([[1, 3, 19], [3, 3, 0]])).square().sum().backward()
            optimiser.step()
        return [value.detach() for value in model.parameters()]

    wanted = train()
    with override(*ALL) as scope:
        start = taken(scope)["embedding"]
        found = train()
        assert taken(scope)["embedding"] == start + 3
    assert all(torch.equal(a, b) for a, b in zip(wanted, found, strict=True))


def test_compile():
    """What is compiled does not change, and runs."""
    torch._dynamo.reset()
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 2))
    ids = torch.tensor([[1, 3, 19]])
    with override(*ALL):
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        assert torch.equal(compiled(ids), model(ids))
        compiled(ids).sum().backward()
    assert torch.equal(compiled(ids), model(ids))


def test_other_tensors():
    """Sparse, quantised, nested and lazy tensors are none of its business."""
    ids = torch.tensor([1, 0])
    sparse = torch.eye(3).to_sparse()
    z = torch.tensor([1 + 2j, 3 - 1j])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = torch.nested.nested_tensor([torch.tensor([1, 2]), torch.tensor([0])])
        quantised = torch.quantize_per_tensor(torch.randn(4, 2), 0.1, 0, torch.qint8)
        cases = [lambda: sparse.index_select(0, ids).to_dense(), lambda: quantised.index_select(0, ids).int_repr(),
                 lambda: z.conj()[ids], lambda: z.conj().index_select(0, ids).resolve_conj(), lambda: z.conj().imag.take(ids).resolve_neg(),
                 lambda: torch.cat(list(nn.functional.embedding(nested, torch.randn(3, 2).fill_(1)).unbind())),
                 lambda: torch.zeros(3, device="meta").index_select(0, ids.to("meta")).shape]
        for call in cases:
            wanted = call()
            with override(*ALL):
                found = call()
            assert torch.equal(wanted, found) if isinstance(wanted, torch.Tensor) else wanted == found


def test_the_plugin_is_quiet_about_itself(tmp_path: Path):
    """Without PyTorch's library in the process the native part says so, and does not crash."""
    from libgather.torch import library_path

    program = f"import ctypes; ctypes.CDLL({library_path()!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "libtorch_cpu.so" in done.stderr


def test_memory_stays():
    """Calls, calls that are passed on and errors leave nothing behind."""
    program = """
import resource, torch
from libgather.torch import override
def errors(w, bad):
    for call in (lambda: torch.embedding(w, bad), lambda: w.index_select(0, bad), lambda: w.gather(0, bad.reshape(-1, 2)), lambda: w.take(bad * 99),
                 lambda: torch.index_select(w, 0, bad, out=out), lambda: w[bad]):
        try:
            call()
            raise SystemExit("no error")
        except (IndexError, RuntimeError):
            pass
def calls(count):
    for _ in range(count):
        w, ids, bad = torch.randn(500, 40), torch.arange(3000) % 300, torch.tensor([1, 500]).repeat(2000)  # new ones: what is kept grows
        torch.embedding(w, ids), w.index_select(0, ids), w.gather(0, ids.reshape(-1, 1)), w.take(ids), w[ids]
        torch.index_select(w, 0, ids, out=out), w.t().take(ids), w[ids, ids[:1]]
        errors(w, bad)
out = torch.empty(3000, 40)
with override("embedding", "index_select", "gather", "take", "index"):
    calls(20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(100)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0 and int(done.stdout) < 3, done.stdout + done.stderr  # MiB; a handle or a result of each call is more
