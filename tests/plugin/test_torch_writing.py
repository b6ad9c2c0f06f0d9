# SPDX-License-Identifier: MIT
#
# test_torch_writing.py: scatters and embedding bags of PyTorch's tensors, beside PyTorch's own, and their gradients of first and second
# order; sums of 4,096 ones in types that stop counting at 256; the same in one graph of torch.compile.
"""libgather.torch's functions that write, and gradients that are sums."""
from __future__ import annotations

import numpy as np
import pytest

import libgather
from support.refusal import refuses
from support.torch_package import lt, needs_operators, needs_torch, torch  # noqa: F401  fixtures of the whole file

if torch:
    from torch.autograd import gradcheck, gradgradcheck


@pytest.fixture(autouse=True)
def seed(needs_torch):
    torch.manual_seed(4)


def double(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def ids(*numbers) -> torch.Tensor | None:
    return torch.tensor(numbers) if torch else None


# Each: the function, shapes of data and updates, indices, options. All have repeated indices.
CALLS = [
    ("scatter", (5, 3), (4, 3), ids(0, 4, -1, 0), {}),
    ("scatter", (3, 5), (3, 2, 2), ids([0, 4], [-1, 0]), {"axis": 1}),
    ("scatter", (5, 2), (4, 2), ids(0, 7, -9, 1), {"mode": "skip"}),
    ("scatter", (5, 2), (4, 2), ids(0, 7, -9, 1), {"mode": "wrap"}),
    ("scatter_elements", (5, 3), (2, 3), ids([0, 4, -1], [0, 1, 4]), {}),
    ("scatter_elements", (3, 5), (3, 2), ids([0, 0], [1, 2], [-1, 4]), {"axis": 1}),
    ("scatter_nd", (4, 3), (3,), ids([0, 1], [-1, -1], [0, 1]), {}),
    ("scatter_nd", (4, 3), (3, 3), ids([2], [2], [9]), {"mode": "clip"}),
]


@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_gradients_of_scatters(number, reduction):
    name, shape, updates, indices, options = CALLS[number]
    call = lambda data, new: getattr(lt, name)(data, indices, new, reduction=reduction, **options)  # noqa: E731
    assert gradcheck(call, (double(*shape), double(*updates))) and gradgradcheck(call, (double(*shape), double(*updates)))


def test_gradients_of_one_side():
    indices = ids(0, 2, 0)
    assert gradcheck(lambda new: lt.scatter_add(torch.zeros(3, 2, dtype=torch.float64), indices, new), (double(3, 2),))
    assert gradcheck(lambda data: lt.index_add(data, indices, torch.ones(3, 2, dtype=torch.float64)), (double(3, 2),))
    data = torch.randn(3, dtype=torch.complex128, requires_grad=True)
    assert gradcheck(lambda data: lt.scatter(data.conj(), ids(1), torch.ones(1, dtype=torch.complex128)), (data,))


def test_as_torch():
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.complex64):
        data, new = (torch.randint(-9, 9, shape).to(dtype) for shape in ((6, 4), (5, 4)))
        rows, each = torch.tensor([5, 0, 0, 2, 5]), torch.randint(0, 6, (5, 4))
        assert torch.equal(lt.index_add(data, rows, new), data.index_add(0, rows, new))
        assert torch.equal(lt.scatter_add(data, rows, new), data.index_add(0, rows, new))
        assert torch.equal(lt.scatter_elements(data, each, new, reduction="add"), data.scatter_add(0, each, new))
        assert torch.equal(lt.scatter_nd(data, rows[:, None], new, reduction="add"), data.index_put((rows,), new, accumulate=True))
        inside = data.clone()
        assert lt.scatter(inside, rows, new, out=inside) is inside
        assert torch.equal(inside[ids(0, 2, 5)], new[ids(2, 3, 4)]) and torch.equal(inside[1], data[1])
        found, sums = libgather.unique_rows_sum(rows, new)
        assert isinstance(found, torch.Tensor) and found.tolist() == [0, 2, 5] and sums.dtype == dtype
        assert torch.equal(sums[0], new[1] + new[2])


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_ones_onto_one_row(name):
    """Gradients of an embedding in bfloat16 stop at 256 in PyTorch; here they do not."""
    weight = torch.zeros(3, 2, dtype=getattr(torch, name), requires_grad=True)
    zeros, ones = torch.zeros(4096, dtype=torch.int64), torch.ones(4096, 2, dtype=weight.dtype)
    wide = zeros[:, None].expand(4096, 2)
    for call in (lambda: lt.take(weight, zeros), lambda: lt.gather_elements(weight, wide), lambda: lt.gather_nd(weight, zeros[:, None]),
                 lambda: lt.embedding_bag(weight, zeros, torch.arange(4096))):  # fmt: skip
        call().backward(ones)
        assert weight.grad.tolist() == [[4096.0] * 2, [0.0] * 2, [0.0] * 2]
        weight.grad = None
    assert lt.scatter_add(weight.detach(), zeros, ones)[0].tolist() == [4096.0] * 2
    assert lt.embedding_bag(ones, torch.arange(4096), ids(0)).tolist() == [[4096.0] * 2]


def test_gradients_of_complex32():
    """Elements that only PyTorch has."""
    weight = torch.zeros(3, 2, dtype=torch.complex32, requires_grad=True)
    where, grad = ids(1, 1, 2), torch.tensor([[1 + 2j, 3], [4, 5j], [6, 7]]).to(torch.complex32)
    for call in (lambda: lt.take(weight, where), lambda: lt.gather_nd(weight, where[:, None]), lambda: lt.gather_elements(weight, where[:, None].expand(3, 2))):
        call().backward(grad)
        assert weight.grad.tolist() == [[0, 0], [5 + 2j, 3 + 5j], [6, 7]]
        weight.grad = None


BAGS = [
    {"offsets": ids(0, 2, 2)},
    {"offsets": ids(0, 2, 2, 5), "include_last_offset": True},
    {"segment_ids": ids(0, 0, 2, 2, 2), "num_segments": 4},
    {},
]


@pytest.mark.parametrize("number", range(len(BAGS)))
def test_bags(number):
    form = BAGS[number]
    indices = ids(4, 1, 0, 0, 3) if form else ids([4, 1], [0, 0], [3, 2])
    each = lambda table, weights: lt.embedding_bag(table, indices, per_sample_weights=weights, **form)  # noqa: E731
    table, weights = double(5, 3), double(*indices.shape)
    assert gradcheck(each, (table, weights)) and gradgradcheck(each, (table, weights))
    for reduction in ("sum", "mean"):
        call = lambda table: lt.embedding_bag(table, indices, reduction=reduction, **form)  # noqa: E731
        assert gradcheck(call, (table,)) and gradgradcheck(call, (table,))
    refuses(NotImplementedError, lt.embedding_bag, table, indices, reduction="max", **form)
    if "segment_ids" not in form:
        for reduction in ("sum", "mean", "max"):
            mine = lt.embedding_bag(table.detach(), indices, reduction=reduction, **form)
            wanted = torch.nn.functional.embedding_bag(indices, table.detach(), mode=reduction, **form)
            assert torch.allclose(mine, wanted)


def test_bags_of_a_file(tmp_path):
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    np.save(tmp_path / "table.npy", table)
    with libgather.open(tmp_path / "table.npy") as rows:
        got = lt.embedding_bag(rows, ids(5, 0, 5), ids(0, 1))
    assert isinstance(got, torch.Tensor) and got.tolist() == [[10, 11], [10, 12]]


def test_gradients_of_gradients_by_func():
    """torch.func through the gradient: the operator has derivatives of any order."""
    weight, where = torch.randn(4, 2, dtype=torch.float64), ids(1, -1, 1)
    for read in (lambda w: lt.take(w, where), lambda w: lt.gather_nd(w, where[:, None]), lambda w: lt.gather_elements(w, where[:, None].expand(3, 2))):
        mine = torch.func.hessian(lambda w: (read(w) ** 3).sum())(weight)
        wanted = torch.func.hessian(lambda w: (w[where] ** 3).sum())(weight)
        assert torch.allclose(mine, wanted)
        assert torch.allclose(torch.func.jacrev(torch.func.jacrev(lambda w: (read(w) ** 3).sum()))(weight), wanted)


def test_opcheck():
    """PyTorch's own checks of the operator that is the gradient."""
    for op, indices, shape, numbers in (("take", ids(1, -1), (4, 2), (0, 0)), ("gather_elements", ids([1, -1]), (4, 2), (0, 0)),
                                        ("gather_nd", ids([1], [-1]), (4, 2), (0, 0))):  # fmt: skip
        grad = torch.randn((2, 2) if op != "gather_elements" else (1, 2), requires_grad=True)
        torch.library.opcheck(torch.ops.libgather.gather_backward.default, (grad, indices, shape, op, *numbers, "raise", True))
    data, new, where = torch.randn(4, 2, requires_grad=True), torch.randn(2, 2, requires_grad=True), ids(1, -1)
    for op, indices in (("scatter", where), ("scatter_elements", ids([1, -1], [0, 0])), ("scatter_nd", where[:, None])):
        for reduction in ("none", "add"):
            torch.library.opcheck(torch.ops.libgather.scatter.default, (data, indices, new, op, 0, "raise", True, reduction))
    for form in ((where, ids(0, 1, 2), None), (where[:, None], None, None), (where, None, ids(0, 2), 3)):
        torch.library.opcheck(torch.ops.libgather.embedding_bag.default, (data, None, abs(form[0]), *form[1:]))


def alike(call, *tensors) -> None:
    """A call in one graph: the same values, and the same gradients."""
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    mine, wanted = compiled(*tensors), call(*tensors)
    assert torch.equal(mine, wanted) and mine.requires_grad == wanted.requires_grad
    if wanted.requires_grad:
        asked = [t for t in tensors if t.requires_grad]
        grads = [torch.autograd.grad((out * torch.arange(1, out.numel() + 1).reshape(out.shape)).sum(), asked) for out in (mine, wanted)]
        assert all(torch.allclose(*pair, rtol=1e-12) for pair in zip(*grads))


@pytest.fixture
def fresh():
    """Without what other tests have compiled."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_compiled_scatters(number, fresh):
    name, shape, updates, indices, options = CALLS[number]
    for reduction in ("none", "sum"):
        alike(lambda data, new: getattr(lt, name)(data * 2, indices, new, reduction=reduction, **options), double(*shape), double(*updates))  # noqa: B023
    alike(lambda data, new: getattr(lt, name)(data, indices, new, reduction="max", **options), torch.zeros(shape), torch.randn(updates))


@pytest.mark.parametrize("number", range(len(BAGS)))
def test_compiled_bags(number, fresh):
    form = BAGS[number]
    indices = ids(4, 1, 0, 0, 3) if form else ids([4, 1], [0, 0], [3, 2])
    alike(lambda table, weights: lt.embedding_bag(table, indices, per_sample_weights=weights, **form) * 2, double(5, 3), double(*indices.shape))
    alike(lambda table: lt.embedding_bag(table, indices, reduction="mean", **form), double(5, 3))
    alike(lambda table: lt.embedding_bag(table, indices, reduction="max", mode="clip", **form), torch.randn(5, 3))


def test_compiled_otherwise(fresh):
    """Other lengths without compiling again for each, out=, options, exact errors."""
    seen = []

    def backend(graph, inputs):
        seen.append([str(node.target) for node in graph.graph.nodes if "libgather" in str(node.target)])
        return graph.forward

    add = torch.compile(lambda data, where, new: lt.index_add(data, where, new, accumulate="steps", threads=1), fullgraph=True, backend=backend, dynamic=True)
    for n in (3, 5, 9):
        data, where, new = torch.randn(n, 2), torch.arange(n) // 2, torch.randn(n, 2)
        assert torch.equal(add(data, where, new), data.index_add(0, where, new))
    assert seen == [["libgather.scatter.default"]]
    into = torch.compile(lambda out, new: lt.scatter_elements(out, ids([2, 0]), new, out=out, use_init_val=True), fullgraph=True, backend="aot_eager")
    out, new = torch.zeros(4, 2), torch.ones(1, 2)
    assert into(out, new) is out and out.tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]
    bad = torch.compile(lambda data, where: lt.scatter(data, where, data[:1], unique=True), fullgraph=True, backend="aot_eager")
    error = refuses(libgather.GatherIndexError, bad, torch.zeros(3, 2), ids(3))
    assert (error.position, error.value, error.low, error.high) == ((0,), 3, -3, 2)
    weight = torch.zeros(3, 2, requires_grad=True)
    for call in (lambda w: lt.scatter(w, ids(0), w[:1], reduction="max"), lambda w: lt.embedding_bag(w, ids([0]), mode="clip")):
        with pytest.raises(Exception, match="is not supported"):
            torch.compile(call, fullgraph=True, backend="aot_eager")(weight)
    with pytest.raises(Exception, match="updates must have length|updates"):
        torch.compile(lambda data: lt.scatter(data, ids(0), data), fullgraph=True, backend="aot_eager")(torch.zeros(3, 2))


def test_errors():
    data, new = torch.zeros(3, 2), torch.ones(2, 2)
    error = refuses(libgather.GatherIndexError, lt.scatter, data, ids(0, 3), new, out=data)
    assert (error.position, error.value, error.low, error.high) == ((1,), 3, -3, 2) and not data.any()
    error = refuses(libgather.GatherIndexError, lt.scatter, data, ids(0, -3), new, unique=True)
    assert (error.position, error.first_position) == ((1,), (0,))
    weight = data.clone().requires_grad_()
    refuses(NotImplementedError, lt.scatter, weight, ids(0, 1), new, reduction="max")
    refuses(NotImplementedError, lt.scatter, weight, ids(0, 1), new, out=data)
    refuses(libgather.GatherValueError, lt.index_add, data, ids([0], [1]), new)
    with torch.no_grad():
        assert lt.scatter(weight, ids(0, 1), new, reduction="max").tolist() == [[1, 1], [1, 1], [0, 0]]
