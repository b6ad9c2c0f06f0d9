# SPDX-License-Identifier: MIT
#
# test_torch_transforms.py: gradients, torch.vmap, torch.func and PyTorch's own opcheck of libgather's operators.
"""Gradients and vmap of PyTorch's operators."""
from __future__ import annotations

import pytest

import libgather
from support.torch_package import lt, needs_operators, needs_torch, torch  # noqa: F401  fixtures of the whole file

if torch:
    from torch.autograd import gradcheck, gradgradcheck
    from torch_cases import take_reference


@pytest.fixture(autouse=True)
def seed(needs_torch):
    torch.manual_seed(3)


def double(*shape: int, grad: bool = True) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def ids(*numbers, dtype: str = "int64") -> torch.Tensor | None:
    return torch.tensor(numbers, dtype=getattr(torch, dtype)) if torch else None


# Each: data's shape, indices, options of take.
TAKES = [
    ((5, 3), ids(0, 4, -1, 0), {}),
    ((5, 3), ids([0, -3], [2, 2]), {"axis": -1}),
    ((2, 5, 3), ids([0, -1, 4], [1, 1, 2]), {"axis": 1, "batch_dims": 1}),
    ((2, 2, 4), ids([0, -1], [3, 3]), {"axis": 2, "batch_dims": 1}),
    ((2, 3, 4), ids([[0], [1], [2]], [[3], [3], [3]]), {"axis": 2, "batch_dims": 2}),
    ((2, 3, 4), ids([0, 1, 2], [3, -1, -2]), {"axis": 2, "batch_dims": -1}),
    ((4,), ids(2), {}),
    ((4, 0), ids(1, 2), {}),
    ((0, 4), ids(), {}),
    ((5, 2), ids(7, -9, 2), {"mode": "clip"}),
    ((5, 2), ids(7, -9, 2, -2), {"mode": "clip", "negative": False}),
    ((5, 2), ids(7, -9, 2, 12), {"mode": "wrap"}),
    ((5, 2), ids(7, -9, 2, -1), {"mode": "zero"}),
    ((5, 2), ids(2**64 - 1, 3, 2**63, dtype="uint64"), {"mode": "wrap"}),
    ((5, 2), ids(2**64 - 1, 3, 2**63, dtype="uint64"), {"mode": "clip"}),
    ((5, 2), ids(2**64 - 1, 3, 2**63, dtype="uint64"), {"mode": "zero"}),
    ((5, 2), ids(200, 3, 9, dtype="uint8"), {"mode": "wrap"}),
]
ELEMENTS = [
    ((5, 3), ids([0, 4, -1], [1, 1, -5]), {}),
    ((5, 3), ids([0, 2], [1, -1], [0, 0]), {"axis": 1}),
    ((4,), ids(3, 3, 0), {}),
    ((3, 2), ids([5, -9], [0, 1]), {"mode": "wrap"}),
    ((3, 2), ids([5, -9], [0, 1]), {"mode": "zero"}),
    ((3, 2), ids([5, -9], [0, 1]), {"mode": "clip"}),
]
TUPLES = [
    ((4, 3), ids([0, 1], [-1, -1], [0, 1]), {}),
    ((4, 3), ids([2], [2], [-4]), {}),
    ((2, 4, 3), ids([[1, 2], [0, 0]], [[-1, -1], [3, 2]]), {"batch_dims": 1}),
    ((2, 2, 3), ids([[2], [0]], [[1], [1]]), {"batch_dims": 2}),
    ((4, 3), ids([], []), {}),
    ((4, 3), ids([9, 1], [1, -7], [2, 2]), {"mode": "zero"}),
    ((4, 3), ids([9, 1], [1, -7], [2, 2]), {"mode": "clip"}),
    ((4, 3), ids([9, 1], [1, -7], [2, 2]), {"mode": "wrap"}),
]
CALLS = [("take", case) for case in TAKES] + [("gather_elements", case) for case in ELEMENTS] + [("gather_nd", case) for case in TUPLES]
ORDER = {
    "take": {"axis": 0, "batch_dims": 0, "mode": "raise", "negative": True},
    "gather_elements": {"axis": 0, "mode": "raise", "negative": True},
    "gather_nd": {"batch_dims": 0, "mode": "raise", "negative": True},
}


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_gradients(number):
    """First and second derivatives against differences."""
    name, (shape, indices, options) = CALLS[number]
    call = lambda data: getattr(lt, name)(data, indices, **options)  # noqa: E731
    assert gradcheck(call, (double(*shape),)) and gradgradcheck(call, (double(*shape),))


@pytest.mark.parametrize("name, shape, indices", [
    ("take", (5, 2), ids(7, 1, -9)), ("gather_elements", (5, 1), ids([7], [1], [-9])), ("gather_nd", (5, 2), ids([7, 0], [1, 1])), ("gather_nd", (2, 2), None),
])
def test_gradient_of_fill_value(name, shape, indices):
    indices = torch.empty(3, 0, dtype=torch.int64) if indices is None else indices
    call = lambda data, fill: getattr(lt, name)(data, indices, mode="fill", fill_value=fill)  # noqa: E731
    data = double(*shape, grad=False)
    assert gradcheck(call, (double(*shape), double(1))) and gradcheck(lambda fill: call(data, fill), (double(1),))


def test_gradients_as_torchs():
    """Of embedding and gather, in float32 and complex64 and through a layer above."""
    for dtype in (torch.float32, torch.complex64, torch.bfloat16):
        weight, where = torch.randn(50, 4, dtype=dtype, requires_grad=True), torch.randint(0, 50, (7, 3))
        (lt.take(weight, where).abs() ** 2).sum().backward()
        mine, weight.grad = weight.grad, None
        (weight[where].abs() ** 2).sum().backward()
        assert torch.allclose(mine, weight.grad, rtol=1e-5 if dtype != torch.bfloat16 else 5e-2)


def test_no_gradient():
    weight = torch.randn(5, 2, requires_grad=True)
    with torch.no_grad():
        assert not lt.take(weight, ids(1)).requires_grad
    with torch.inference_mode():
        assert not lt.take(weight, ids(1)).requires_grad
    assert lt.take(weight, ids(1)).requires_grad and not lt.take(weight.detach(), ids(1)).requires_grad
    assert torch.ops.libgather.take(weight, ids(1)).requires_grad
    assert lt.take(torch.nn.Parameter(weight.detach()), ids(1)).requires_grad


def test_forward_mode():
    weight, tangent, where = double(5, 2, grad=False), double(5, 2, grad=False), ids(1, -1, 1)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(weight, tangent)
        primal, got = torch.autograd.forward_ad.unpack_dual(lt.take(dual, where))
        assert torch.equal(primal, weight[where]) and torch.equal(got, tangent[where])
        filled = torch.autograd.forward_ad.unpack_dual(lt.take(dual, ids(7, 1), mode="fill", fill_value=4.0)).tangent
        assert filled.tolist() == [[0, 0], tangent[1].tolist()]
    assert torch.equal(torch.func.jacfwd(lambda w: lt.take(w, where))(weight), torch.func.jacrev(lambda w: w[where])(weight))


def loop(name: str, data, indices, in_dims, options):
    """vmap as a loop."""
    size = next(t.shape[d] for t, d in zip((data, indices), in_dims) if d is not None)
    return torch.stack([
        getattr(lt, name)(*(t if d is None else t.select(d, i) for t, d in zip((data, indices), in_dims)), **options) for i in range(size)
    ])


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_vmap(number):
    """Over data, over indices, over both; the mapped dimension anywhere; and twice."""
    name, (shape, indices, options) = CALLS[number]
    for in_dims in ((0, None), (None, 0), (0, 0), (-1, None), (None, -1), (len(shape) // 2, indices.dim())):
        data, where = double(*shape, grad=False), indices
        if in_dims[0] is not None:
            data = double(3, *shape, grad=False).movedim(0, in_dims[0])
        if in_dims[1] is not None:
            other = indices.flip(0) if indices.dim() and indices.dtype.is_signed else indices  # PyTorch 2.11 flips no uint64
            where = torch.stack([indices, other, indices]).movedim(0, in_dims[1])
        dims = tuple(None if d is None else d % t.dim() for d, t in zip(in_dims, (data, where)))
        call = torch.vmap(lambda a, b: getattr(lt, name)(a, b, **options), in_dims)
        wanted = loop(name, data, where, dims, options)
        assert torch.equal(call(data, where), wanted), in_dims
        raw = torch.vmap(lambda a, b: getattr(torch.ops.libgather, name)(a, b, *{**ORDER[name], **options}.values()), in_dims)
        assert torch.equal(raw(data, where), wanted), in_dims
    data = double(2, 3, *shape, grad=False)
    twice = torch.vmap(torch.vmap(lambda a: getattr(lt, name)(a, indices, **options)))(data)
    assert all(torch.equal(twice[i, j], getattr(lt, name)(data[i, j], indices, **options)) for i in range(2) for j in range(3))


def test_vmap_of_tree_and_quantised_rows():
    steps, parents = torch.randint(0, 9, (2, 5, 3, 4)), torch.randint(0, 4, (2, 5, 3, 4))
    lengths, end = torch.tensor([[5, 3, 0], [4, 4, 1]]), torch.tensor(2)
    wanted = torch.stack([lt.gather_tree(steps[i], parents[i], lengths[i], end) for i in range(2)])
    assert torch.equal(torch.vmap(lambda s, p, n: lt.gather_tree(s, p, n, end))(steps, parents, lengths), wanted)
    wanted = torch.stack([lt.gather_tree(steps[i], parents[0], lengths[0], end) for i in range(2)])
    assert torch.equal(torch.vmap(lambda s: lt.gather_tree(s, parents[0], lengths[0], end))(steps), wanted)
    data, scale = torch.randint(-128, 127, (6, 8), dtype=torch.int8), torch.randn(6, 1)
    where = torch.randint(-6, 6, (3, 2))
    for axis in (0, -1):
        call = lambda i: lt.take_quantized(data, i, "affine", scale=scale, axis=axis)  # noqa: E731
        assert torch.equal(torch.vmap(call)(where), torch.stack([call(i) for i in where]))
    with pytest.raises(libgather.GatherNotSupportedError, match="over the indices only"):
        torch.vmap(lambda d: lt.take_quantized(d, where, "affine", scale=scale))(data.expand(2, 6, 8))


def test_func():
    """torch.func: gradients per sample, jacobians, and errors from within."""
    weight, where = double(5, 3, grad=False), torch.randint(-5, 5, (4, 2))
    each = torch.vmap(torch.func.grad(lambda w, i: (lt.take(w, i) ** 2).sum()), (None, 0))(weight, where)
    for i in range(4):
        tensor = weight.clone().requires_grad_()
        (tensor[where[i]] ** 2).sum().backward()
        assert torch.allclose(each[i], tensor.grad)
    jacobian = torch.func.jacrev(lambda w: lt.take(w, ids(1, -1)))(weight)
    assert jacobian.sum() == 6 and jacobian[1, 2, 4, 2] == 1
    with pytest.raises(libgather.GatherIndexError, match="= 5 is outside"):
        torch.vmap(lambda i: lt.take(weight, i))(ids([1], [5]))


@pytest.mark.parametrize("number", range(0, len(CALLS), 2))
def test_opcheck(number):
    """PyTorch's own checks: schema, registration of the gradient, fake tensors, AOT dispatch with dynamic shapes."""
    name, (shape, indices, options) = CALLS[number]
    arguments = tuple({**ORDER[name], **options}.values())
    for dtype, grad in ((torch.float32, True), (torch.int16, False)):
        data = (torch.randn(shape) * 100).to(dtype).requires_grad_(grad)
        torch.library.opcheck(getattr(torch.ops.libgather, name).default, (data, indices, *arguments))


def test_opcheck_of_the_rest():
    ops, steps = torch.ops.libgather, torch.randint(0, 3, (4, 2, 3))
    torch.library.opcheck(ops.gather_tree.default, (steps, steps, torch.tensor([4, 2]), torch.tensor(1)))
    torch.library.opcheck(ops.take.no_grad, (torch.randn(4, 2), ids(1, -1), 0))
    torch.library.opcheck(ops.gather_elements.no_grad, (torch.randn(4, 2), ids([1, -1]), 0))
    torch.library.opcheck(ops.gather_nd.no_grad, (torch.randn(4, 2), ids([1, -1])))
    data, options = torch.randint(-128, 127, (6, 8), dtype=torch.int8), {"scale": torch.randn(6, 1)}
    torch.library.opcheck(ops.take_quantized.default, (data, ids(1, -1), "affine"), options)
    torch.library.opcheck(ops.dequantize.default, (torch.zeros(2, 68, dtype=torch.uint8), "Q8_0"), {"shape": []})
    torch.library.opcheck(ops.take.default, (torch.randn(4, 2), ids(9), 0, 0, "fill", True, torch.tensor(3.0)))


def test_opcheck_of_random_calls():
    """Schema and fake tensors, which are quick, for many more."""
    from torch_cases import make

    checked = 0
    for seed in range(7_000_000, 7_000_300):
        case = make(seed)
        if case.wanted is None or not all(a.numel() for a in case.arguments[:2]):
            continue  # PyTorch's check does not copy tensors without elements
        if case.arguments[0].dtype.itemsize == 1 and case.arguments[0].dtype.is_floating_point:
            continue  # it compares by allclose, which float8 lacks
        if case.arguments[0].dtype in (torch.complex32, torch.uint16, torch.uint32, torch.uint64):
            continue
        operator = getattr(torch.ops.libgather, case.name).default
        given = {**ORDER[case.name], **case.options}
        axis = {"axis": case.arguments[2]} if len(case.arguments) > 2 else {}
        arguments = (*case.arguments[:2], *{**given, **axis}.values())
        torch.library.opcheck(operator, arguments, test_utils=("test_schema", "test_faketensor"))
        checked += 1
    assert checked > 50


def test_reference_disagrees_with_a_fault():
    """The reference of the random tests is no copy of what it checks: a planted fault shows."""
    data, where = torch.arange(6.0).reshape(3, 2), ids(2, 0)
    wanted = take_reference(data, where, 0, 0, "raise", True, None)
    assert torch.equal(wanted, data[where]) and not torch.equal(wanted, lt.take(data, where.flip(0)))
