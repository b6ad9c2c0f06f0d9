# SPDX-License-Identifier: MIT
#
# test_torch.py: PyTorch's tensors in and out. Skipped, with a line that says so, where PyTorch is not installed;
# GATHER_TEST_REQUIRE=torch makes that a failure.
"""PyTorch."""
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import libgather
from libgather import Plan, gather_elements, take, take_along_axis
from support.refusal import refuses
from support.skip import skip_test

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support", "ignore:torch.quantize_per_tensor")

try:
    import torch
except ImportError:
    torch = None


@pytest.fixture(autouse=True)
def needs_torch():
    if torch is None:
        skip_test("torch", "the package is not installed")


DTYPES = ("bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex32 complex64 complex128 "
          "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu").split()
INDEX_DTYPES = "uint8 int8 int16 uint16 int32 uint32 int64 uint64".split()


def table(shape: tuple = (5, 4), dtype: str = "float32"):
    kind = getattr(torch, dtype, None)
    if kind is None:
        pytest.skip(f"dtype: this PyTorch has no {dtype}")
    count = int(np.prod(shape))
    if dtype in ("bool", "complex32"):
        return (torch.arange(count) % 2).to(kind).reshape(shape)
    return torch.arange(count, dtype=torch.float32).to(kind).reshape(shape)


def same(result, wanted) -> None:
    """A tensor of its own, row-major, on the CPU, with the same bytes."""
    assert type(result) is torch.Tensor and result.dtype == wanted.dtype and result.shape == wanted.shape
    assert result.device.type == "cpu" and result.is_contiguous() and not result.requires_grad and not result.is_conj()
    assert bytes_of(result) == bytes_of(wanted)


def bytes_of(tensor) -> bytes:
    return tensor.detach().resolve_conj().contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    x = table((5, 4), dtype)
    ids = torch.tensor([3, 0, -1])
    rows = torch.stack([x[i].view(torch.uint8) if x.element_size() == 1 else x[i] for i in (3, 0, 4)]).view(x.dtype)
    same(take(x, ids, axis=0), rows)
    same(Plan.take(x, ids, axis=0)(x, ids), rows)
    out = torch.zeros((3, 4), dtype=torch.uint8 if x.element_size() == 1 else x.dtype).view(x.dtype)
    assert take(x, ids, axis=0, out=out) is out and bytes_of(out) == bytes_of(rows)


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_index_dtypes(dtype):
    ids = torch.tensor([3, 0, 2]).to(getattr(torch, dtype))
    same(take(table(), ids, axis=0), table()[[3, 0, 2]])


@pytest.mark.parametrize("ids", [1, [1, -2], [[0], [4]], (), np.array([2, 1], "u1"), np.int64(3), range(3)], ids=repr)
def test_indices_of_others(ids):
    wanted = table()[torch.as_tensor(np.asarray(ids, np.int64))]
    same(take(table(), ids, axis=0), wanted)


def test_one_element_is_a_tensor():
    """A tensor of rank 0, as torch has it; no NumPy scalar."""
    same(take(torch.arange(5), 3), torch.tensor(3))
    same(take(torch.arange(5), torch.tensor(-1)), torch.tensor(4))


@pytest.mark.parametrize("view", ["t", "step", "flip", "part", "expand", "empty", "offset"])
def test_views(view):
    base = table((6, 8))
    x = {"t": lambda: base.t(), "step": lambda: base[::2, 1::3], "flip": lambda: base.flip(0), "part": lambda: base[2:5, 3:7],
         "expand": lambda: base[:1].expand(6, 8), "empty": lambda: base[:, :0], "offset": lambda: base[3:]}[view]()
    ids = torch.tensor([2, 0, 1, 9])[:3] % x.shape[0]
    same(take(x, ids, axis=0), x[ids])
    wide = torch.arange(12)[::4] % x.shape[0]
    same(take(x, wide, axis=0), x[wide])


def test_along_and_elements():
    x, ids = table(), torch.tensor([[0, 1], [4, 2]])
    same(gather_elements(x, ids, axis=0), torch.gather(x, 0, ids))
    same(gather_elements(x, ids - 5, axis=0), torch.gather(x, 0, ids))
    cols = torch.tensor([[3], [0], [1], [2], [-1]])
    same(take_along_axis(x, cols, axis=1), torch.gather(x, 1, cols % 4))
    same(take_along_axis(x, torch.tensor([[1, 2]]), axis=1), x[:, 1:3])
    same(take_along_axis(x, torch.tensor([7, -1]), axis=None), x.flatten()[[7, -1]])


def test_out_of_other_libraries():
    """The memory is what counts: a NumPy array may take a tensor's rows, and the other way round."""
    x, out = table(), np.zeros((2, 4), np.float32)
    assert take(x, [1, 2], axis=0, out=out) is out and out.tolist() == x[1:3].tolist()
    tensor = torch.zeros(2, 4)
    assert take(x.numpy(), torch.tensor([1, 2]), axis=0, out=tensor) is tensor and torch.equal(tensor, x[1:3])
    assert type(take(x.numpy(), torch.tensor([1]), axis=0)) is np.ndarray


def test_out_that_does_not_fit():
    x = table()
    for out, error in ((torch.zeros(2, 4, dtype=torch.float64), libgather.GatherTypeError), (torch.zeros(2, 3), libgather.GatherValueError),
                       (torch.zeros(2, 4, dtype=torch.int32), libgather.GatherTypeError), (x[:2], libgather.GatherValueError),
                       (torch.zeros(1, 4).expand(2, 4), libgather.GatherValueError)):
        before = out.clone()
        refuses(error, take, x, [1, 2], axis=0, out=out)
        assert torch.equal(out, before)
    wide = torch.zeros(2, 8)
    assert take(x, [1, 2], axis=0, out=wide[:, ::2]).data_ptr() == wide.data_ptr()
    assert torch.equal(wide[:, ::2], x[1:3]) and not wide[:, 1::2].any()


def test_untouched_on_error():
    out = torch.full((2, 4), 7.0)
    error = refuses(libgather.GatherIndexError, take, table(), torch.tensor([1, 5]), axis=0, out=out)
    assert (error.position, error.value, error.high) == ((1,), 5, 4) and (out == 7).all()


def test_gradients_are_refused():
    """The result would silently have none."""
    x = table().requires_grad_()
    for call in (lambda: take(x, [0], axis=0), lambda: take(x * 2, [0], axis=0), lambda: take(torch.nn.Parameter(table()), [0], axis=0),
                 lambda: take(table(), [0], axis=0, out=torch.zeros(1, 4, requires_grad=True)), lambda: Plan.take(x, [0], axis=0)):
        refuses(libgather.GatherNotSupportedError, call, says="gradient")
    same(take(x.detach(), [0], axis=0), x.detach()[:1])
    plan = Plan.take(x.detach(), [0], axis=0)
    refuses(libgather.GatherNotSupportedError, plan, x, [0], says="gradient")


class ByPython(torch.Tensor if torch else object):
    """As PyTorch was before it had DLPack's C interface."""

    __dlpack_c_exchange_api__ = None
    __module__ = "torch"  # whose from_dlpack makes the results


@pytest.mark.parametrize("off", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("kind", ["tensor", "parameter", "by Python"])
def test_without_gradients(kind, off):
    """Within no_grad() no result has a gradient, so that nothing is lost."""
    x = torch.nn.Parameter(table()) if kind == "parameter" else table().requires_grad_()
    x = x.as_subclass(ByPython) if kind == "by Python" else x
    ids = torch.tensor([1, -1])
    with getattr(torch, off)():
        for rows in (take(x, ids, axis=0), Plan.take(x, ids, axis=0)(x, ids), take(x, [1, 9], axis=0, mode="fill", fill_value=0)[:1]):
            assert not rows.requires_grad and torch.equal(rows[0], x[1])
        assert torch.equal(libgather.take_along_axis(x, torch.tensor([2]), axis=None), x.reshape(-1)[2:3])
        out = torch.zeros(2, 4, requires_grad=True)
        out = out.as_subclass(ByPython) if kind == "by Python" else out
        assert take(table(), ids, axis=0, out=out) is out and torch.equal(out, table()[ids])
    refuses(libgather.GatherNotSupportedError, take, x, ids, axis=0, says="gradient")


def test_lazy_conjugates_and_negatives_are_refused():
    """Their memory holds other values than they show."""
    z = torch.tensor([1 + 2j, 3 - 1j])
    refuses(libgather.GatherNotSupportedError, take, z.conj(), [0], says="resolve_conj")
    assert take(z.conj().resolve_conj(), [0]).item() == 1 - 2j
    minus = z.conj().imag
    assert minus.is_neg()
    refuses(libgather.GatherNotSupportedError, take, minus, [0], says="resolve_neg")
    same(take(z.imag, [1]), torch.tensor([-1.0]))


def test_tensors_without_memory():
    for x in (torch.zeros(3, device="meta"), torch.eye(3).to_sparse(), torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.qint8)):
        for call in (lambda: take(x, [0], axis=0), lambda: take(np.zeros(3), x), lambda: take(np.zeros(3), [0, 1, 2], out=x)):  # noqa: B023
            refuses(libgather.GatherError, call)


@pytest.mark.parametrize("ids", [[True, False], [1.0]], ids=repr)
def test_indices_are_integers(ids):
    refuses(libgather.GatherTypeError, take, table(), torch.tensor(ids), axis=0, says="indices must be integers")


@pytest.mark.parametrize("dtype, value, fits", [("float32", -1.5, True), ("int8", 127, True), ("int8", 128, False), ("uint8", -1, False),
                                                ("int32", 1.5, False), ("bool", True, True), ("bool", 2, False), ("complex64", 1j, True),
                                                ("float32", 1j, False), ("bfloat16", 2.0, True), ("float32", "x", False), ("bfloat16", 1e39, False),
                                                ("float16", 1e6, False), ("float32", 1e39, False), ("float64", 10**400, False), ("int64", 2**63, False),
                                                ("float64", np.longdouble("1e4000"), False), ("int64", np.float64(3), True), ("float32", "1", False),
                                                ("int32", float("nan"), False), ("float32", float("inf"), True), ("complex64", complex(1, 1e39), False),
                                                ("float32", np.float64(0.5), True), ("int16", np.datetime64(5, "s"), False)], ids=repr)
def test_fill_value(dtype, value, fits):
    x = table((3,), dtype)
    call = lambda: take(x, [9, 1], mode="fill", fill_value=value)  # noqa: E731
    if fits:
        assert call()[0].item() == value and call()[1] == x[1]
    else:
        refuses(libgather.GatherTypeError, call, says="fill_value")


@pytest.mark.parametrize("dtype, value, fits", [("float8_e4m3fn", 448.0, True), ("float8_e4m3fn", 1000.0, False), ("float8_e4m3fn", float("inf"), False),
                                                ("float8_e5m2", 1e6, False), ("float8_e5m2", 3.1, True), ("bfloat16", 0.1, True),
                                                ("float8_e8m0fnu", 0, False), ("float8_e8m0fnu", -1, False)], ids=repr)
def test_fill_value_of_small_floats(dtype, value, fits):
    """Some of them have no infinity, and PyTorch takes the largest for it."""
    if not hasattr(torch, dtype):
        pytest.skip(f"dtype: this PyTorch has no {dtype}")
    x = torch.zeros(3, dtype=torch.uint8).view(torch.float8_e5m2).to(getattr(torch, dtype))
    if fits:
        rows = take(x, [9, 1], mode="fill", fill_value=value)
        assert rows[0].float() == torch.tensor(value).to(x.dtype).float() and rows.dtype == x.dtype
    else:
        refuses(libgather.GatherTypeError, take, x, [9, 1], mode="fill", fill_value=value, says="does not fit")


@pytest.mark.parametrize("mode", ["clip", "wrap", "zero"])
def test_modes_are_numpys(mode):
    x, ids = table(), torch.tensor([-9, 5, 2, -1])
    same(take(x, ids, axis=0, mode=mode), torch.from_numpy(take(x.numpy(), ids.numpy(), axis=0, mode=mode)))


def test_plan():
    x, ids = table(), torch.tensor([4, 0])
    plan = Plan.take(x, ids, axis=0)
    same(plan(x + 1, ids), (x + 1)[ids])
    same(plan(x, torch.tensor([1, 1])), x[[1, 1]])
    out = torch.zeros(2, 4)
    assert plan(x, ids, out=out) is out and torch.equal(out, x[ids])
    for wrong in (x.double(), x.t(), x[:3], x.to(torch.int32)):
        refuses(libgather.GatherError, plan, wrong, ids)
    refuses(libgather.GatherIndexError, plan.check, torch.tensor([1, 9]))


def test_large():
    x, ids = torch.randn(50_000, 16), torch.randint(0, 50_000, (200_000,))
    for threads in (1, 2):
        same(take(x, ids, axis=0, threads=threads), x[ids])


def test_memory_has_one_owner():
    """Results go when they are dropped, and keep nothing else alive."""
    x = table()
    watched = weakref.ref(x)
    result = take(x, [0], axis=0)
    del x
    gc.collect()
    assert watched() is None and result.tolist() == [[0, 1, 2, 3]]
    watched = weakref.ref(result)
    del result
    gc.collect()
    assert watched() is None


def test_the_result_is_like_any_other():
    result = take(table(), [1], axis=0)
    result += 1
    result.requires_grad_().sum().backward()
    assert result.grad.tolist() == [[1, 1, 1, 1]]


def test_subclasses_of_tensor():
    """A Parameter that needs no gradient is a tensor like others."""
    x = torch.nn.Parameter(table(), requires_grad=False)
    assert torch.equal(take(x, [1], axis=0), table()[1:2])
