# SPDX-License-Identifier: MIT
#
# test_torch_random.py: random calls of libgather's PyTorch operators against PyTorch's own indexing. GATHER_TEST_EXAMPLES=N: N times as many.
"""Random gathers in PyTorch."""
from __future__ import annotations

import os

import pytest

import libgather
from support.torch_package import lt, needs_operators, needs_torch, torch  # noqa: F401  fixtures of the whole file

if torch:
    from torch_cases import DTYPES, equal, first_bad, make

CASES = 10_000
SHARES = 10


def run(case) -> torch.Tensor:
    return getattr(lt, case.name)(*case.arguments, **case.options)


def check(seed: int) -> bool:
    """Whether the case was one of an index out of range."""
    case = make(seed)
    if case.wanted is None:
        with pytest.raises(libgather.GatherIndexError) as caught:
            run(case)
        if case.name == "take" and case.axis_len:
            position, value, count = first_bad(case.arguments[1], case.axis_len, case.options["negative"])
            assert (caught.value.position, caught.value.value, caught.value.bad_count) == (position, value, count), seed
        return True
    got = run(case)
    assert equal(got, case.wanted), f"case {seed}: {case}, not {got}"
    assert got.is_contiguous(), seed
    return False


@pytest.mark.parametrize("share", range(SHARES))
def test_random(share):
    """The same bytes, or the exact error."""
    count = CASES * int(os.environ.get("GATHER_TEST_EXAMPLES", "1")) // SHARES
    first = int(os.environ.get("GATHER_TEST_SEED", "1")) * 1_000_000 + share * count
    refused = sum(check(seed) for seed in range(first, first + count))
    assert count // 50 < refused < count // 2  # both kinds occur


def blank(shape: tuple[int, ...], dtype) -> torch.Tensor:
    """Zeros in column-major order."""
    count = 1
    for length in shape:
        count *= length
    zeros = torch.zeros(max(count, 1) * dtype.itemsize, dtype=torch.uint8).view(dtype)[:count]
    return zeros.reshape(tuple(reversed(shape))).permute(tuple(reversed(range(len(shape)))))


def shape_of(case) -> tuple[int, ...]:
    """The shape of the result, as the fake kernels give it."""
    arguments = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in case.arguments]
    return tuple(getattr(lt, case.name)(*arguments, **{**case.options, "mode": "zero", "fill_value": None}).shape)


def test_out():
    """The out variants: the same result in the caller's tensor, of any strides; unchanged after an error."""
    refused = 0
    for seed in range(5_000_000, 5_000_600):
        case = make(seed)
        shape, dtype = shape_of(case), case.arguments[0].dtype
        out = blank(shape, dtype)
        call = getattr(lt, case.name)
        if case.wanted is None:
            with pytest.raises(libgather.GatherIndexError):
                call(*case.arguments, **case.options, out=out)
            assert equal(out, blank(shape, dtype)), seed
            refused += 1
        else:
            assert shape == case.wanted.shape
            assert call(*case.arguments, **case.options, out=out) is out
            assert equal(out, case.wanted), seed
    assert refused > 20


@pytest.mark.parametrize("dtype", [] if torch is None else DTYPES, ids=str)
def test_every_dtype(dtype):
    """Every dtype occurs; a wide gather of each, on PyTorch's threads too."""
    raw = torch.randint(0, 2 if dtype == torch.bool else 200, (5000, 3 * dtype.itemsize), dtype=torch.uint8)
    data = raw.view(dtype) if dtype != torch.complex128 else torch.randn(5000, 3, dtype=dtype)
    ids = torch.randint(-5000, 5000, (20000,))
    rows = lt.take(data, ids)
    assert rows.dtype == dtype and rows.shape == (20000, 3)
    assert torch.equal(rows.view(torch.uint8), data.view(torch.uint8)[ids])
