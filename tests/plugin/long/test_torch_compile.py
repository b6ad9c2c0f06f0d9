# SPDX-License-Identifier: MIT
#
# test_torch_compile.py: libgather's operators in torch.compile, torch.export and AOTInductor: one node, equal results, exact errors. Each in a
# process of its own, since compiling starts others and fills caches; needs a C++ compiler.
"""Compiled and exported programs with PyTorch's operators."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from support.skip import skip_test
from support.torch_package import lt, needs_operators, needs_torch  # noqa: F401  fixtures of the whole file

START = """
import torch, libgather, libgather.torch as lt
torch.manual_seed(1)
weight, where = torch.randn(50, 4), torch.randint(-50, 50, (7, 3))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(weight.clone())

    def forward(self, ids):
        rows = lt.take(self.weight, ids) * 2
        picked = lt.gather_elements(rows.flatten(0, -2), ids.reshape(-1, 1).remainder(4), 1, mode="clip")
        return rows.sum(-1) + lt.gather_nd(rows, torch.stack([ids % 2, ids % 3, ids % 4], -1)) + picked.sum()

def plain(model, ids):
    rows = model.weight[ids] * 2
    return rows.sum(-1) + rows[ids % 2, ids % 3, ids % 4] + rows.flatten(0, -2).gather(1, ids.reshape(-1, 1).remainder(4)).sum()

model = Model()
"""


@pytest.fixture(autouse=True)
def needs_compiler(needs_operators):
    if not (shutil.which("g++") or shutil.which("clang++")):
        skip_test("c++", "torch.compile needs a C++ compiler")


def child(program: str, folder) -> list[str]:
    """What a program prints, line by line."""
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, timeout=1500, cwd=folder,
                          env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


def test_compile(tmp_path):
    """The same values and gradients, no graph break, other lengths without recompilation errors, the exact error."""
    program = """
compiled = torch.compile(model, fullgraph=True, dynamic=True)
out = compiled(where)
print(torch.allclose(out, plain(model, where)), torch.allclose(out, model(where)))
out.sum().backward()
mine, model.weight.grad = model.weight.grad, None
plain(model, where).sum().backward()
print(torch.allclose(mine, model.weight.grad, atol=1e-5))
print(torch.allclose(compiled(where[:2]), plain(model, where[:2])))
try:
    compiled(torch.full((7, 3), 50))
except RuntimeError as error:
    print("indices[0, 0] = 50 is outside [-50, 49] of axis 0 (take); 21 of 21 indices are bad" in str(error))
into = torch.compile(lambda out, ids: lt.take(weight, ids, out=out), fullgraph=True)
out = torch.zeros(7, 3, 4)
print(into(out, where) is out or torch.equal(out, weight[where]), torch.equal(out, weight[where]))
"""
    assert child(program, tmp_path) == ["True True", "True", "True", "True", "True True"]


def test_export(tmp_path):
    """One node per call; saved, loaded in another process, run with another length."""
    program = """
length = torch.export.Dim("length", min=2, max=100)
program = torch.export.export(model, (where,), dynamic_shapes={"ids": {0: length}})
print(sorted(str(node.target) for node in program.graph.nodes if "libgather" in str(node.target)))
torch.export.save(program, "model.pt2")
torch.save((model.weight, where), "weights.pt")
print(torch.equal(program.module()(where[:5]), model(where[:5])))
"""
    assert child(program, tmp_path) == ["['libgather.gather_elements.default', 'libgather.gather_nd.default', 'libgather.take.default']", "True"]
    program = """
loaded = torch.export.load("model.pt2").module()
weight, where = torch.load("weights.pt")
model.weight = torch.nn.Parameter(weight)
print(torch.allclose(loaded(where[:3]), plain(model, where[:3])))
try:
    loaded(where + 1000)
except RuntimeError as error:
    print("is outside [-50, 49] of axis 0 (take)" in str(error))
"""
    assert child(program, tmp_path) == ["True", "True"]


def test_aot_inductor(tmp_path):
    """A package that C++ runs: the operators are found by name in the library."""
    program = """
program = torch.export.export(model, (where,), dynamic_shapes={"ids": {0: torch.export.Dim("length", min=2, max=100)}})
torch._inductor.aoti_compile_and_package(program, package_path="model.pt2")
torch.save((model.weight, where), "weights.pt")
"""
    assert child(program, tmp_path) == []
    program = f"""
import torch
torch.ops.load_library({lt.library_path()!r})
weight, where = torch.load("weights.pt")
run = torch._inductor.aoti_load_package("model.pt2")
for ids in (where, where[:2]):
    rows = weight[ids] * 2
    wanted = rows.sum(-1) + rows[ids % 2, ids % 3, ids % 4] + rows.flatten(0, -2).gather(1, ids.reshape(-1, 1).remainder(4)).sum()
    print(torch.allclose(run(ids), wanted))
try:
    run(where + 1000)
except RuntimeError as error:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0 and done.stdout.splitlines() == ["True", "True", "refused"], done.stderr[-3000:]


def test_compile_quantised_rows(tmp_path):
    """The shape of the values is known without them."""
    program = """
data, scale = torch.randint(-128, 127, (50, 8), dtype=torch.int8), torch.randn(50, 1)
call = lambda ids: lt.take_quantized(data, ids, "affine", scale=scale, dtype=torch.bfloat16) + 1
print(torch.equal(torch.compile(call, fullgraph=True)(where), call(where)))
steps = torch.randint(0, 3, (5, 2, 3))
tree = lambda s: lt.gather_tree(s, s, torch.tensor([5, 2]), torch.tensor(1)) + 1
print(torch.equal(torch.compile(tree, fullgraph=True)(steps), tree(steps)))
from torch.fx.experimental.proxy_tensor import make_fx
print([str(n.target) for n in make_fx(lambda d, i: lt.take(d, i))(weight, where).graph.nodes if n.op == "call_function"])
"""
    assert child(program, tmp_path) == ["True", "True", "['libgather.take.default']"]


def test_compile_and_export_writes(tmp_path):
    """A step of training, by inductor; an exported scatter, saved and loaded."""
    program = """
ids, owners = torch.randint(0, 50, (12,)), torch.arange(0, 12, 3)
step = lambda w, u: (lt.embedding_bag(lt.scatter_add(w, ids, u), ids, owners, reduction="mean") ** 2).sum()
params = [torch.randn(50, 4, requires_grad=True), torch.randn(12, 4, requires_grad=True)]
plain = step(*params)
plain.backward()
wanted = [p.grad.clone() for p in params]
for p in params:
    p.grad = None
mine = torch.compile(step, fullgraph=True)(*params)
mine.backward()
print(torch.allclose(mine, plain), all(torch.allclose(p.grad, w, atol=1e-5) for p, w in zip(params, wanted)))

class Writes(torch.nn.Module):
    def forward(self, data, where, new):
        return lt.scatter(data, where, new, reduction="max") + 1

length = torch.export.Dim("length", min=2, max=100)
program = torch.export.export(Writes(), (weight, ids, torch.randn(12, 4)), dynamic_shapes=({}, {0: length}, {0: length}))
torch.export.save(program, "writes.pt2")
new = torch.randn(5, 4)
print(torch.equal(torch.export.load("writes.pt2").module()(weight, ids[:5], new), Writes()(weight, ids[:5], new)))
"""
    assert child(program, tmp_path) == ["True True", "True"]
