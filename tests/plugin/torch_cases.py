# SPDX-License-Identifier: MIT
#
# torch_cases.py: random gathers for the tests of PyTorch's operators, and what they must give: computed by PyTorch's own indexing from places
# that Python integers give.
"""Cases for the tests of libgather's PyTorch operators."""
from __future__ import annotations

import random
from dataclasses import dataclass

import torch

DTYPES = [
    getattr(torch, name)
    for name in (
        "bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex32 complex64 complex128 "
        "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2"
    ).split()
]
INTEGERS = [getattr(torch, name) for name in "uint8 int8 uint16 int16 uint32 int32 uint64 int64".split()]
MODES = ["raise", "clip", "wrap", "zero", "fill"]
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Bad(Exception):
    """An index out of range that is an error: its position, value, and how many there are."""


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements as integers of their size; complex128 as it is (its values here are finite)."""
    tensor = tensor.resolve_conj().resolve_neg()
    return tensor if tensor.dtype.itemsize == 16 else tensor.view(_BITS[tensor.dtype.itemsize])


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(bits(a), bits(b))


def tensor_of(rng: random.Random, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """Any values, in one of several layouts."""
    layout = rng.choice(["plain", "plain", "transposed", "sliced", "expanded"])
    full = list(shape)
    if layout == "sliced":
        full = [2 * n + 1 for n in full]
    if layout == "transposed":
        full.reverse()
    if layout == "expanded" and full:
        full[0] = 1
    count = 1
    for n in full:
        count *= n
    if dtype == torch.bool:
        made = torch.tensor([rng.random() < 0.5 for _ in range(count)], dtype=torch.bool)
    elif dtype == torch.complex128:
        made = torch.complex(torch.randn(count, dtype=torch.float64), torch.randn(count, dtype=torch.float64))
    else:
        made = torch.frombuffer(bytearray(rng.randbytes(count * dtype.itemsize)) or bytearray(16), dtype=torch.uint8)
        made = made[: count * dtype.itemsize].view(dtype)
    made = made.reshape(full)
    if layout == "transposed":
        made = made.permute(*reversed(range(made.dim()))) if made.dim() else made
    if layout == "sliced":
        made = made[tuple(slice(1, None, 2) for _ in shape)]
    if layout == "expanded" and shape:
        made = made.expand(shape)
    return made


def indices_of(rng: random.Random, dtype: torch.dtype, shape: tuple[int, ...], n: int, bad: bool) -> torch.Tensor:
    """Indices of an axis of length n; if `bad`, some are out of range."""
    count = 1
    for length in shape:
        count *= length
    signed = dtype.is_signed
    top = torch.iinfo(dtype).max
    numbers = []
    for _ in range(count):
        number = rng.randint(-n if signed else 0, n - 1) if n else 0
        if bad and rng.random() < 0.3:
            number = rng.choice([n, n + 1, 2 * n + 3, -n - 1, -2 * n - 3, top, torch.iinfo(dtype).min])
        numbers.append(number)
    low = torch.iinfo(dtype).min
    made = torch.tensor([min(max(number, low), top) for number in numbers], dtype=dtype).reshape(shape)
    if rng.random() < 0.3 and made.dim() > 1:  # the same, with the strides of column-major order
        made = made.permute(*reversed(range(made.dim()))).contiguous().permute(*reversed(range(made.dim())))
    return made


def place(value: int, n: int, mode: str, negative: bool) -> int | None:
    """Where an index reads; None = nowhere. Raises Bad."""
    if negative and -n <= value < 0:
        return value + n
    if 0 <= value < n:
        return value
    if mode == "clip" and n:
        return 0 if value < 0 else n - 1
    if mode == "wrap" and n:
        return value % n
    if mode in ("zero", "fill"):
        return None
    raise Bad


def places(indices: torch.Tensor, n: int, mode: str, negative: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """For each index its place (0 where there is none), and whether there is one."""
    found = [place(value, n, mode, negative) for value in indices.reshape(-1).tolist()]
    where = torch.tensor([p or 0 for p in found], dtype=torch.int64).reshape(indices.shape)
    return where, torch.tensor([p is not None for p in found], dtype=torch.bool).reshape(indices.shape)


def first_bad(indices: torch.Tensor, n: int, negative: bool) -> tuple[tuple[int, ...], int, int]:
    """Position and value of the first index out of range, and how many there are."""
    flat = indices.reshape(-1).tolist()
    bad = [i for i, value in enumerate(flat) if not (-n if negative else 0) <= value < n]
    position = []
    rest = bad[0]
    for length in reversed(indices.shape):
        position.append(rest % length)
        rest //= length
    return tuple(reversed(position)), flat[bad[0]], len(bad)


@dataclass
class Case:
    """One call: the operator, its arguments, what it must give (None: an index is out of range)."""

    name: str
    arguments: tuple
    options: dict
    wanted: torch.Tensor | None
    axis_len: int


def _fill(wanted: torch.Tensor, data: torch.Tensor, inside: torch.Tensor, mode: str, fill: torch.Tensor | None) -> torch.Tensor:
    value = bits(fill).reshape(()) if mode == "fill" else torch.zeros((), dtype=wanted.dtype)
    return torch.where(inside, wanted, value)


def _take(rng: random.Random, data: torch.Tensor, kind: torch.dtype, mode: str, negative: bool, bad: bool) -> tuple:
    axis = rng.randrange(data.dim())
    batch = rng.randint(0, axis)
    shape = (*data.shape[:batch], *(rng.randint(0, 4) for _ in range(rng.randint(0, 2))))
    n = data.shape[axis]
    if not n and not bad and mode in ("raise", "clip", "wrap"):
        shape = (*shape, 0)
    indices = indices_of(rng, kind, shape, n, bad)
    return indices, axis, batch


def take_reference(data: torch.Tensor, indices: torch.Tensor, axis: int, batch: int, mode: str, negative: bool, fill: torch.Tensor | None) -> torch.Tensor:
    """By advanced indexing, batch by batch."""
    where, inside = places(indices, data.shape[axis], mode, negative)
    raw = bits(data)
    shape = (*raw.shape[:axis], *indices.shape[batch:], *raw.shape[axis + 1 :])
    if 0 in shape:
        return torch.empty(shape, dtype=data.dtype)
    if not data.shape[axis]:  # nothing is in range
        wanted = torch.zeros(shape, dtype=raw.dtype)
    else:
        rows = raw.reshape(-1, *raw.shape[batch:])
        keys = where.reshape(rows.shape[0], *indices.shape[batch:])
        before = (slice(None),) * (axis - batch)
        wanted = torch.stack([row[(*before, key)] for row, key in zip(rows, keys)]).reshape(shape)
    ones = (1,) * (axis - batch), (1,) * (raw.dim() - axis - 1)
    inside = inside.reshape((*indices.shape[:batch], *ones[0], *indices.shape[batch:], *ones[1]))
    return _fill(wanted, data, inside, mode, fill).view(data.dtype)


def make(seed: int) -> Case:
    """Case number `seed`."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    name = rng.choice(["take", "take", "gather_elements", "gather_nd"])
    dtype, kind = rng.choice(DTYPES), rng.choice(INTEGERS)
    data = tensor_of(rng, dtype, tuple(rng.choice([0, 1, 2, 3, 5]) if rng.random() < 0.9 else 7 for _ in range(rng.randint(1, 4))))
    mode, negative, bad = rng.choice(MODES), rng.random() < 0.7, rng.random() < 0.4
    if not negative and not bad:
        kind = rng.choice([k for k in INTEGERS if not k.is_signed])
    fill = tensor_of(rng, dtype, (1,)).reshape(()) if mode == "fill" else None
    options = {"mode": mode, "negative": negative, "fill_value": fill}
    build = {"take": _case_take, "gather_elements": _case_elements, "gather_nd": _case_nd}[name]
    return build(rng, data, kind, options, bad)


def _wanted(reference, *arguments) -> torch.Tensor | None:
    try:
        return reference(*arguments)
    except Bad:
        return None


def _case_take(rng: random.Random, data: torch.Tensor, kind: torch.dtype, options: dict, bad: bool) -> Case:
    indices, axis, batch = _take(rng, data, kind, options["mode"], options["negative"], bad)
    given = axis - data.dim() if rng.random() < 0.5 else axis
    wanted = _wanted(take_reference, data, indices, axis, batch, *options.values())
    return Case("take", (data, indices, given), {"batch_dims": batch, **options}, wanted, data.shape[axis])


def _case_elements(rng: random.Random, data: torch.Tensor, kind: torch.dtype, options: dict, bad: bool) -> Case:
    axis = rng.randrange(data.dim())
    n = data.shape[axis]
    shape = [rng.randint(0, length) for length in data.shape]
    shape[axis] = rng.randint(0, 4) if n or bad or options["mode"] in ("zero", "fill") else 0
    indices = indices_of(rng, kind, tuple(shape), n, bad)

    def reference() -> torch.Tensor:
        where, inside = places(indices, n, options["mode"], options["negative"])
        raw = bits(data)
        wanted = torch.gather(raw, axis, where) if n else torch.zeros(shape, dtype=raw.dtype)
        return _fill(wanted, data, inside, options["mode"], options["fill_value"]).view(data.dtype)

    return Case("gather_elements", (data, indices, axis), options, _wanted(reference), n)


def _case_nd(rng: random.Random, data: torch.Tensor, kind: torch.dtype, options: dict, bad: bool) -> Case:
    batch = rng.randint(0, data.dim() - 1)
    count = rng.randint(0, data.dim() - batch)
    shape = (*data.shape[:batch], *(rng.randint(0, 3) for _ in range(rng.randint(0, 2))))
    axes = data.shape[batch : batch + count]
    if 0 in axes and not bad and options["mode"] not in ("zero", "fill"):
        shape = (*shape, 0)
    parts = [indices_of(rng, kind, shape, n, bad) for n in axes]
    indices = torch.stack(parts, -1) if parts else torch.empty((*shape, 0), dtype=kind)

    def reference() -> torch.Tensor:
        both = [places(indices[..., k], n, options["mode"], options["negative"]) for k, n in enumerate(axes)]
        raw = bits(data)
        inside = torch.ones(shape, dtype=torch.bool)
        for _, ok in both:
            inside = inside & ok
        full = (*shape, *data.shape[batch + count :])
        if 0 in full:
            return torch.empty(full, dtype=data.dtype)
        if 0 in axes:
            wanted = torch.zeros(full, dtype=raw.dtype)
        else:
            keys = [torch.arange(shape[d]).reshape([-1 if e == d else 1 for e in range(len(shape))]) for d in range(batch)]
            keys += [where for where, _ in both]
            wanted = (raw[tuple(keys)] if keys else raw).expand(full)
        inside = inside.reshape((*shape, *(1,) * (len(full) - len(shape))))
        return _fill(wanted, data, inside, options["mode"], options["fill_value"]).view(data.dtype)

    return Case("gather_nd", (data, indices), {"batch_dims": batch, **options}, _wanted(reference), 0)
