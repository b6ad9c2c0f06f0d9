# SPDX-License-Identifier: MIT
"""Nodes for graphs at random: those that compute shapes and indices, and the gathers that use them.

Each function adds one node, or a few that belong together, to a Graph, or raises Impossible.
"""

from __future__ import annotations

import numpy as np

from random_graph import BFLOAT16, FED, INDEX, STRING, TYPES, Graph, Impossible, Value, content, onnx_type, tensor

INT64 = np.dtype(np.int64)
NUMBERS = ("float32", "float64", "int32", "int64")


def whole(a: np.ndarray) -> bool:
    return a.dtype in INDEX


def number(a: np.ndarray) -> bool:
    return a.dtype.name in NUMBERS


def ints(g: Graph, *values) -> Value:
    return g.constant(np.array(values, np.int64))


def lengths(rng, rank: int) -> list[int]:
    return [rng.choice((1, 2, 2, 3, 3, 4, 5, 7)) if rng.random() > 0.03 else 0 for _ in range(rank)]


def data(g: Graph) -> Value:
    dtype = g.rng.choice((*TYPES, *FED[:2], INT64, INT64, STRING, STRING))
    if dtype == BFLOAT16 and g.opset < 13:
        dtype = np.dtype(np.float32)
    array = content(g.rng, dtype, lengths(g.rng, g.rng.choice((1, 1, 2, 2, 2, 3, 3, 4))))
    return g.leaf(array)


def with_axes(g: Graph, op: str, x: Value, axes: list[int], compute, since: int, **attributes) -> Value:
    """A node whose axes are an attribute before an opset, and an input since then."""
    if g.opset < since:
        return g.add(op, [x], lambda a: [compute(a, axes)], axes=axes, **attributes)
    return g.add(op, [x, ints(g, *axes)], lambda a, b: [compute(a, b.tolist())], **attributes)


# ---- shapes and lists of lengths


def shape(g: Graph) -> Value:
    x = g.pick()
    if g.opset >= 15 and g.rng.random() < 0.4:
        start, end = g.rng.randint(-3, 2), g.rng.randint(-2, 4)
        return g.add("Shape", [x], lambda a: [np.array(a.shape, np.int64)[start:end]], start=start, end=end)
    return g.add("Shape", [x], lambda a: [np.array(a.shape, np.int64)])


def size(g: Graph) -> Value:
    return g.add("Size", [g.pick()], lambda a: [np.array(a.size, np.int64)])


def length_of(g: Graph, x: Value, axis: int) -> Value:
    """A length, as exporters compute it."""
    found = g.add("Shape", [x], lambda a: [np.array(a.shape, np.int64)])
    at = g.constant(np.array(g.rng.choice((axis, axis - x.array.ndim)) if g.opset >= 11 else axis, np.int64))
    return g.add("Gather", [found, at], lambda a, i: [a[i]])


def unsqueeze(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim < 4)
    return unsqueezed(g, x, g.rng.randint(0, x.array.ndim))


def unsqueezed(g: Graph, x: Value, axis: int) -> Value:
    return with_axes(g, "Unsqueeze", x, [axis], lambda a, axes: np.expand_dims(a, tuple(axes)), 13)


def squeeze(g: Graph) -> Value:
    x = g.pick(lambda a: 1 in a.shape)
    axis = x.array.shape.index(1)
    if g.rng.random() < 0.3:
        return g.add("Squeeze", [x], lambda a: [np.squeeze(a)])
    return with_axes(g, "Squeeze", x, [axis], lambda a, axes: np.squeeze(a, tuple(axes)), 13)


def concat(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1)
    axis = g.rng.randrange(x.array.ndim)

    def fits(a):
        return a.dtype == x.array.dtype and a.ndim == x.array.ndim and _without(a.shape, axis) == _without(x.array.shape, axis)

    parts = [x, *(g.pick(fits) for _ in range(g.rng.randint(0, 2)))]
    if whole(x.array) and x.array.ndim == 1 and g.rng.random() < 0.5:
        parts.append(g.constant(content(g.rng, x.array.dtype, [g.rng.randint(1, 2)], 0, 4)))
    g.rng.shuffle(parts)
    return g.add("Concat", parts, lambda *a: [np.concatenate(a, axis)], axis=axis)


def _without(shape, axis: int) -> tuple:
    return tuple(n for d, n in enumerate(shape) if d != axis)


def slice_(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1)
    axis = g.rng.randrange(x.array.ndim)
    n = x.array.shape[axis]
    start, end, step = g.rng.randint(-n - 1, n), g.rng.choice((g.rng.randint(-n, n + 2), 2**31 - 1)), g.rng.choice((1, 1, 1, 2, -1))
    if step < 0:
        start, end = -1, -(2**31)

    def cut(a, axis, start, end, step):
        index = [slice(None)] * a.ndim
        index[axis] = slice(start, None if step < 0 and end < -a.shape[axis] else end, step)
        return [a[tuple(index)]]

    if g.opset < 10:
        step = 1
        return g.add("Slice", [x], lambda a: cut(a, axis, start, end, 1), starts=[start], ends=[end], axes=[axis])
    def fits(a):
        return a.dtype == INT64 and a.shape == (1,) and -9 < a[0] < 9
    first = g.pick(fits) if step == 1 and g.rng.random() < 0.3 else ints(g, start)
    last = g.pick(fits) if step == 1 and g.rng.random() < 0.3 else ints(g, end)
    inputs = [x, first, last, ints(g, axis), ints(g, step)]
    return g.add("Slice", inputs, lambda a, s, e, d, t: cut(a, int(d[0]), int(s[0]), int(e[0]), int(t[0])))


def reshape(g: Graph) -> Value:
    x = g.pick(lambda a: a.size)
    how = g.rng.randint(0, 3)
    if how == 0:
        target = ints(g, -1)
    elif how == 1:
        target = ints(g, *[0] * max(x.array.ndim - 1, 0), -1)
    elif how == 2:
        target = g.pick(lambda a: a.dtype == INT64 and a.ndim == 1 and a.size < 5 and (a > 0).all() and a.prod() == x.array.size)
    else:
        first = length_of(g, x, 0) if x.array.ndim else ints(g, 1)
        parts = [unsqueezed(g, first, 0) if first.array.ndim == 0 else first, ints(g, -1)]
        target = g.add("Concat", parts, lambda *a: [np.concatenate(a)], axis=0)

    def compute(a, s):
        return [a.reshape([a.shape[d] if n == 0 else int(n) for d, n in enumerate(s)])]

    return g.add("Reshape", [x, target], compute)


def lengths_value(g: Graph) -> Value:
    """A 1-D list of small lengths."""
    if g.rng.random() < 0.5:
        return g.pick(lambda a: a.dtype == INT64 and a.ndim == 1 and a.size < 4 and (a >= 0).all() and a.prod() < 100)
    return g.leaf(np.array(lengths(g.rng, g.rng.randint(1, 3)), np.int64))


def expand(g: Graph) -> Value:
    x = g.pick(lambda a: a.dtype.name not in ("bfloat16", "float16", "int16", "uint16"))
    return g.add("Expand", [x, lengths_value(g)], lambda a, s: [a * np.ones(s, a.dtype) if a.dtype.kind in "iuf" else
                                                                np.broadcast_to(a, np.broadcast_shapes(a.shape, tuple(s)))])  # fmt: skip


def constant_of_shape(g: Graph) -> Value:
    fill = content(g.rng, g.rng.choice((INT64, np.dtype(np.float32), np.dtype(np.int32))), [1])
    return g.add("ConstantOfShape", [lengths_value(g)], lambda s: [np.full(s, fill[0], fill.dtype)], value=tensor("", fill))


def tile(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1 and a.dtype.name not in ("bfloat16", "float16", "int16", "uint16"))
    times = ints(g, *[g.rng.choice((1, 1, 2, 3)) for _ in range(x.array.ndim)])
    return g.add("Tile", [x, times], lambda a, t: [np.tile(a, t)])


def transpose(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1)
    order = list(range(x.array.ndim))
    g.rng.shuffle(order)
    if g.rng.random() < 0.3:
        return g.add("Transpose", [x], lambda a: [a.T])
    return g.add("Transpose", [x], lambda a: [a.transpose(order)], perm=order)


def flatten(g: Graph) -> Value:
    x = g.pick(lambda a: a.dtype != STRING)
    axis = g.rng.randint(0, x.array.ndim)
    return g.add("Flatten", [x], lambda a: [a.reshape(int(np.prod(a.shape[:axis])), int(np.prod(a.shape[axis:])))], axis=axis)


def split(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1 and max(a.shape) >= 2 and a.dtype.name in (*NUMBERS, "object"))
    axis = int(np.argmax(x.array.shape))
    first = g.rng.randint(1, x.array.shape[axis] - 1)
    sizes = [first, x.array.shape[axis] - first]

    def compute(a, s=None):
        if sum(sizes) != a.shape[axis]:
            raise Impossible
        return np.split(a, [sizes[0]], axis)

    if g.opset < 13:
        return g.add("Split", [x], compute, 2, axis=axis, split=sizes)[0]
    return g.add("Split", [x, ints(g, *sizes)], compute, 2, axis=axis)[1]


# ---- numbers


def stretches(a, b) -> bool:
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return True


def other(g: Graph, x: Value, low=-3, high=9) -> Value:
    """A second operand."""
    if g.rng.random() < 0.6:
        return g.pick(lambda a: a.dtype == x.array.dtype and stretches(a, x.array))
    return g.leaf(content(g.rng, x.array.dtype, g.rng.choice(([], [1])), low, high))


def arithmetic(g: Graph) -> Value:
    x = g.pick(lambda a: number(a) and (whole(a) or a.size < 20))
    op = g.rng.choice(("Add", "Sub", "Mul", "Add", "Sub", *(("Min", "Max") if g.opset >= 12 else ())))
    compute = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}[op]
    pair = [x, other(g, x)]
    g.rng.shuffle(pair)
    return g.add(op, pair, lambda a, b: [compute(a, b)])


def division(g: Graph) -> Value:
    x = g.pick(whole)
    by = g.leaf(np.array(g.rng.choice((1, 2, 3, 5)), x.array.dtype)) if g.rng.random() < 0.7 else \
        g.pick(lambda a: a.dtype == x.array.dtype and stretches(a, x.array) and (a > 0).all())  # fmt: skip
    if g.rng.random() < 0.5 and g.opset >= 10:
        if g.rng.random() < 0.2:
            return g.add("Mod", [x, by], lambda a, b: [np.fmod(a, b)], fmod=1)
        return g.add("Mod", [x, by], lambda a, b: [np.mod(a, b)])
    return g.add("Div", [x, by], lambda a, b: [(np.sign(a) * (abs(a) // b)).astype(a.dtype)])


def unary(g: Graph) -> Value:
    x = g.pick(number)
    if g.rng.random() < 0.5:
        return g.add("Neg", [x], lambda a: [-a])
    return g.add("Abs", [x], lambda a: [abs(a)])


def cast(g: Graph) -> Value:
    x = g.pick(lambda a: a.dtype.kind in "iufb" and a.dtype != BFLOAT16)
    to = np.dtype(g.rng.choice((*NUMBERS, "int64", "int64", "bool", "int32", "uint8", "float16")))
    if to.kind == "u" and (x.array < 0).any():
        raise Impossible
    return g.add("Cast", [x], lambda a: [a.astype(to)], to=onnx_type(np.zeros(0, to)))


def clip(g: Graph) -> Value:
    x = g.pick(lambda a: a.dtype.name in ("int64", "float32") and (g.opset >= 12 or a.dtype.kind == "f"))
    low, high = g.rng.randint(-3, 0), g.rng.randint(1, 5)
    if g.opset < 11:
        return g.add("Clip", [x], lambda a: [np.clip(a, low, high)], min=float(low), max=float(high))
    ends = [g.constant(np.array(n, x.array.dtype)) for n in (low, high)]
    if g.rng.random() < 0.2 and not g.in_function:
        return g.add("Clip", [x, None, ends[1]], lambda a, _, h: [np.minimum(a, h)])
    return g.add("Clip", [x, *ends], lambda a, lo, hi: [np.clip(a, lo, hi)])


def compare(g: Graph) -> Value:
    x = g.pick(lambda a: whole(a) or a.dtype == np.float32)
    op = g.rng.choice(("Less", "Greater", "Equal", *(("LessOrEqual", "GreaterOrEqual") if g.opset >= 12 else ())))
    if op == "Equal" and g.opset < 11 and not whole(x.array):
        raise Impossible
    compute = {"Less": np.less, "Greater": np.greater, "Equal": np.equal, "LessOrEqual": np.less_equal,
               "GreaterOrEqual": np.greater_equal}[op]  # fmt: skip
    return g.add(op, [x, other(g, x)], lambda a, b: [compute(a, b)])


def logic(g: Graph) -> Value:
    x = g.pick(lambda a: a.dtype == bool)
    if g.rng.random() < 0.4:
        return g.add("Not", [x], lambda a: [~a])
    op, compute = g.rng.choice((("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)))
    return g.add(op, [x, other(g, x)], lambda a, b: [compute(a, b)])


def where(g: Graph) -> Value:
    c = g.pick(lambda a: a.dtype == bool)
    x = g.pick(lambda a: (a.dtype.name in NUMBERS or a.dtype == STRING) and stretches(a, c.array))
    return g.add("Where", [c, x, other(g, x)], lambda c, a, b: [np.where(c, a, b)])


def reduce_(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1 and a.size and a.dtype.name in ("float32", "int32", "int64"))
    op, compute, since = g.rng.choice((("ReduceMax", np.max, 18), ("ReduceMin", np.min, 18), ("ReduceSum", np.sum, 13), ("ReduceProd", np.prod, 18)))
    keep, dtype = g.rng.randint(0, 1), x.array.dtype
    if g.rng.random() < 0.3:
        return g.add(op, [x], lambda a: [np.asarray(compute(a, keepdims=bool(keep))).astype(dtype)], keepdims=keep)
    axis = g.rng.randrange(x.array.ndim)
    return with_axes(g, op, x, [axis], lambda a, d: np.asarray(compute(a, tuple(d), keepdims=bool(keep))).astype(dtype), since, keepdims=keep)


def arg(g: Graph, wanted=lambda a: True) -> Value:
    x = g.pick(lambda a: a.ndim >= 1 and a.size and a.dtype.name in ("float32", "int32") and wanted(a))
    axis, keep = g.rng.randrange(x.array.ndim), g.rng.randint(0, 1)
    op, compute = g.rng.choice((("ArgMax", np.argmax), ("ArgMin", np.argmin)))
    return g.add(op, [x], lambda a: [np.asarray(compute(a, axis, keepdims=bool(keep)), np.int64)], axis=axis, keepdims=keep)


def top(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1 and a.shape[-1] and a.dtype.name in ("float32", "int64") and (g.opset >= 11 or a.dtype.kind == "f"))
    k = g.rng.randint(1, x.array.shape[-1])

    def compute(a, n=None):
        order = np.argsort(-a, -1, kind="stable")[..., :k]
        if order.shape[-1] < k:
            raise Impossible
        return [np.take_along_axis(a, order, -1), order.astype(np.int64)]

    if g.opset < 10:
        return g.add("TopK", [x], compute, 2, k=k)[1]
    return g.add("TopK", [x, ints(g, k)], compute, 2)[1]


def non_zero(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim >= 1 and a.dtype.name in ("float32", "int64", "int32", "bool"))
    found = g.add("NonZero", [x], lambda a: [np.array(np.nonzero(a), np.int64)])
    if g.rng.random() < 0.5:
        return g.add("Transpose", [found], lambda a: [a.T], perm=[1, 0])
    return found


def range_(g: Graph, start=None, limit=None) -> Value:
    if g.opset < 11:
        raise Impossible
    dtype = g.rng.choice(INDEX)
    begin = start or g.leaf(np.array(g.rng.randint(-1, 2), dtype))
    dtype = begin.array.dtype
    end = limit or (g.pick(lambda a: a.dtype == dtype and a.ndim == 0 and abs(int(a)) < 30) if g.rng.random() < 0.5 else
                    g.leaf(np.array(g.rng.randint(0, 6), dtype)))  # fmt: skip
    step = g.constant(np.array(g.rng.choice((1, 1, 2)), dtype))
    return g.add("Range", [begin, end, step], lambda a, b, c: [np.arange(int(a), int(b), int(c), dtype=dtype)])


def running_sum(g: Graph) -> Value:
    if g.opset < 11:
        raise Impossible
    x = g.pick(lambda a: a.ndim >= 1 and number(a))
    axis = g.rng.randrange(x.array.ndim)
    return g.add("CumSum", [x, g.constant(np.array(axis, np.int64))], lambda a, d: [np.cumsum(a, int(d), a.dtype)])


def pad(g: Graph) -> Value:
    x = g.pick(lambda a: a.ndim in (1, 2) and a.dtype.name in ("float32", "int64") and (g.opset >= 11 or a.dtype.kind == "f"))
    pads = [g.rng.choice((0, 0, 1, 2)) for _ in range(2 * x.array.ndim)]
    rank = x.array.ndim
    pairs = [(pads[d], pads[d + rank]) for d in range(rank)]
    if g.opset < 11:
        return g.add("Pad", [x], lambda a: [np.pad(a, pairs)], pads=pads)
    return g.add("Pad", [x, ints(g, *pads)], lambda a, p: [np.pad(a, pairs)])


def pool(g: Graph) -> Value:
    dims = [1, 2, *lengths(g.rng, g.rng.randint(1, 2))]
    x = g.pick(lambda a: a.dtype == np.float32 and a.ndim in (3, 4) and a.size) if g.rng.random() < 0.5 else \
        g.leaf(content(g.rng, np.dtype(np.float32), dims))  # fmt: skip
    n, ceil = x.array.ndim - 2, g.rng.randint(0, 1) if g.opset >= 10 else 0
    kernel, stride = [g.rng.randint(1, 3) for _ in range(n)], [g.rng.randint(1, 3) for _ in range(n)]

    def compute(a):
        lost = 0 if not ceil else 1
        if any(a.shape[2 + d] < kernel[d] for d in range(n)):
            raise Impossible
        out = [(a.shape[2 + d] - kernel[d] + lost * (stride[d] - 1)) // stride[d] + 1 for d in range(n)]
        out = [min(o, (a.shape[2 + d] - 1) // stride[d] + 1) for d, o in enumerate(out)]
        return [np.zeros((*a.shape[:2], *out), np.float32)]

    more = {"ceil_mode": ceil} if ceil else {}
    return g.add("MaxPool", [x], compute, kernel_shape=kernel, strides=stride, **more)


def one_hot(g: Graph) -> Value:
    x = g.pick(lambda a: a.dtype == INT64 and a.ndim >= 1 and a.size < 30)
    depth, ends = g.rng.randint(1, 5), g.constant(np.array([0, 1], np.int64))

    def compute(a, n, e):
        return [(np.mod(a, depth)[..., None] == np.arange(depth)).astype(np.int64)]

    return g.add("OneHot", [x, ints(g, depth), ends], compute)


def scatter(g: Graph) -> Value:
    if g.opset < 11:
        raise Impossible
    x = g.pick(lambda a: a.ndim >= 1 and a.size and a.dtype.name in NUMBERS)
    at = np.array([[g.rng.randrange(n) for n in x.array.shape]], np.int64)
    new = g.pick(lambda a: a.dtype == x.array.dtype and a.shape == (1,)) if g.rng.random() < 0.5 else g.leaf(content(g.rng, x.array.dtype, [1]))

    def compute(a, i, u):
        out = a.copy()
        out[tuple(i.T)] = u
        return [out]

    return g.add("ScatterND", [x, g.constant(at), new], compute)


def identity(g: Graph) -> Value:
    return g.add("Identity", [g.pick()], lambda a: [a])


# ---- sequences and optionals


def sequence(g: Graph) -> Value:
    if g.opset < 11:
        raise Impossible
    if g.rng.random() < 0.2:
        x = g.pick(lambda a: a.ndim >= 1 and 0 < a.shape[0] < 5 and a.dtype.name in (*NUMBERS, "object"))
        return g.add("SplitToSequence", [x], lambda a: [list(np.split(a, len(a)))], axis=0)
    x = g.pick(lambda a: a.dtype != BFLOAT16)
    return g.add("SequenceConstruct", [x, *(g.pick(lambda a: a.dtype == x.array.dtype) for _ in range(g.rng.randint(0, 2)))], lambda *a: [list(a)])


def of_sequence(g: Graph) -> Value:
    lists = [v for v in g.visible() if isinstance(v.array, list)]
    made = g.rng.choice(lists) if lists and g.rng.random() < 0.7 else sequence(g)
    how = g.rng.randint(0, 3)
    if how == 0:
        return g.add("SequenceLength", [made], lambda s: [np.array(len(s), np.int64)])
    if how == 1 and made.array[0].ndim:
        return g.add("ConcatFromSequence", [made], lambda s: [np.concatenate(s)], axis=0)
    n = len(made.array)
    return g.add("SequenceAt", [made, g.leaf(np.array(g.rng.randint(-n, n - 1), np.int64))], lambda s, i: [s[int(i)]])


def optional(g: Graph) -> Value:
    if g.opset < 18:
        raise Impossible
    x = g.pick(lambda a: a.dtype != BFLOAT16)
    made = g.add("Optional", [x], lambda a: [a], optional=True)
    if g.rng.random() < 0.3:
        return g.add("OptionalHasElement", [made], lambda a: [np.array(True)])
    return g.add("OptionalGetElement", [made], lambda a: [a])


# ---- indices, and the gathers


def low_end(g: Graph, n: int) -> int:
    return -n if g.opset >= 11 and g.rng.random() < 0.5 else 0


def in_range(n: int, low: int):
    return lambda a: whole(a) and a.size < 40 and (not a.size or (low <= a.min() and a.max() < n))


def literal(g: Graph, n: int, shape, dtype, bad: bool) -> np.ndarray:
    array = content(g.rng, dtype, shape, low_end(g, n), n - 1) if n or not np.prod(shape) else np.zeros(shape, dtype)
    if bad and array.size:
        array.reshape(-1)[g.rng.randrange(array.size)] = g.rng.choice((n, -n - 1, n + 3, n))
    return array


def index(g: Graph, x: Value, axis: int) -> Value:
    """Indices for one axis of x, of any shape."""
    n = x.array.shape[axis]
    bad = g.rng.random() < g.root.settings.bad
    how = g.rng.choice(("leaf", "leaf", "pool", "pool", "pool", "mod", "range", "arg", "clip", "where"))
    dtype = g.rng.choice((INT64, INT64, np.dtype(np.int32)))
    shape = g.rng.choice(([], [], [1], [2], [3], [2, 2], [0])) if n else [0]
    if how == "pool":
        return g.pick(whole if bad else in_range(n, low_end(g, n)))
    if how == "leaf" or bad or not n:
        return g.leaf(literal(g, n, shape, dtype, bad))
    if how == "arg":
        return arg(g, lambda a: max(a.shape) <= n)
    if how == "range":
        if g.opset >= 11 and g.rng.random() < 0.5:
            return range_(g, g.constant(np.array(0, np.int64)), length_of(g, x, axis))
        return range_(g, g.constant(np.array(0, dtype)), g.leaf(np.array(n, dtype)))
    if how == "where":
        first, second = g.leaf(literal(g, n, shape, INT64, False)), g.constant(literal(g, n, shape, INT64, False))
        return g.add("Where", [g.pick(lambda a: a.dtype == bool and stretches(a, first.array)), first, second], lambda c, a, b: [np.where(c, a, b)])
    source = g.pick(lambda a: a.dtype == INT64 and a.size < 40)
    length = length_of(g, x, axis) if g.rng.random() < 0.6 else g.constant(np.array(n, np.int64))
    if how == "mod" and g.opset >= 10:
        return g.add("Mod", [source, length], lambda a, b: [np.mod(a, b)])
    if g.opset < 12:
        raise Impossible
    last = g.add("Sub", [length, g.constant(np.array(1, np.int64))], lambda a, b: [a - b])
    low = g.add("Max", [source, g.constant(np.array(0, np.int64))], lambda a, b: [np.maximum(a, b)])
    return g.add("Min", [low, last], lambda a, b: [np.minimum(a, b)])


def table(g: Graph, wanted=lambda a: True) -> Value:
    if g.rng.random() < 0.25:
        data(g)
    if g.rng.random() < 0.15:
        return g.pick(lambda a: a.dtype == STRING and a.ndim >= 1 and wanted(a))
    return g.pick(lambda a: a.ndim >= 1 and wanted(a))


def gather(g: Graph) -> Value:
    x = table(g)
    axis = g.rng.randrange(x.array.ndim)
    if x.array.dtype == STRING and g.rng.random() < 0.9:
        axis = x.array.ndim - 1  # ONNX Runtime's own copies only the first string of a slice
    ids = index(g, x, axis)
    instead = [np.zeros(x.array.shape[:axis] + ids.array.shape + x.array.shape[axis + 1 :], x.array.dtype)]
    if x.array.dtype == STRING:
        instead[0][...] = ""
    more = {"axis": g.rng.choice((axis, axis - x.array.ndim))} if axis or g.rng.random() < 0.5 else {}

    def compute(a, i):
        return [np.take(a, i, axis)]

    made = g.add("Gather", [x, ids], compute, instead=instead, **more)
    if g.function and more and g.rng.random() < 0.4:
        by_attribute(g, "axis", more["axis"])
    return made


def by_attribute(g: Graph, name: str, value: int) -> None:
    """The last node's attribute becomes one of the function, which each call gives."""
    attribute = next(a for a in g.nodes[-1].proto.attribute if a.name == name)
    attribute.ClearField("i")
    attribute.ref_attr_name = g.root.name("a")
    g.attributes[attribute.ref_attr_name] = value


def gather_elements(g: Graph) -> Value:
    if g.opset < 11:
        raise Impossible
    x = table(g)
    axis = g.rng.randrange(x.array.ndim)
    n, bad = x.array.shape[axis], g.rng.random() < g.root.settings.bad

    def fits(a):
        return whole(a) and a.ndim == x.array.ndim and all(i <= k for d, (i, k) in enumerate(zip(a.shape, x.array.shape)) if d != axis)

    if g.rng.random() < 0.4:
        ids = g.pick(lambda a: fits(a) and (bad or in_range(n, low_end(g, n))(a)))
    else:
        shape = [g.rng.randint(1, k) if k else 0 for k in x.array.shape]
        shape[axis] = g.rng.randint(0, 4) if n else 0
        ids = g.leaf(literal(g, n, shape, g.rng.choice(INDEX), bad))
    instead = [np.zeros(ids.array.shape, x.array.dtype)]
    if x.array.dtype == STRING:
        instead[0][...] = ""

    def compute(a, i):
        cut = tuple(slice(None) if d == axis else slice(k) for d, k in enumerate(i.shape))
        return [np.take_along_axis(a[cut], i, axis)]

    return g.add("GatherElements", [x, ids], compute, instead=instead, axis=g.rng.choice((axis, axis - x.array.ndim)))


def gather_nd(g: Graph) -> Value:
    if g.opset < 11:
        raise Impossible
    x = table(g)
    rank, bad = x.array.ndim, g.rng.random() < g.root.settings.bad
    if g.rng.random() < 0.4:
        ids = g.pick(lambda a: a.dtype == INT64 and a.ndim >= 1 and 0 < a.shape[-1] <= rank and a.size < 60 and
                     (bad or all((-n <= a[..., d]).all() and (a[..., d] < n).all() for d, n in enumerate(x.array.shape[: a.shape[-1]]))))  # fmt: skip
    else:
        k = g.rng.randint(1, rank)
        lead = g.rng.choice(([], [1], [2], [3], [2, 2], [0]))
        if 0 in x.array.shape[:k]:
            lead = [0]
        columns = [literal(g, n, lead, INT64, False) for n in x.array.shape[:k]]
        array = np.stack(columns, -1) if columns else np.zeros([*lead, k], np.int64)
        if bad and array.size:
            at = g.rng.randrange(array.size)
            array.reshape(-1)[at] = g.rng.choice((1, -1)) * (max(x.array.shape[:k]) + 1)
        ids = g.leaf(array)
    k = ids.array.shape[-1]
    instead = [np.zeros(ids.array.shape[:-1] + x.array.shape[k:], x.array.dtype)]
    if x.array.dtype == STRING:
        instead[0][...] = ""
    return g.add("GatherND", [x, ids], lambda a, i: [a[tuple(np.moveaxis(i, -1, 0))]], instead=instead)


# How often each is chosen.
NODES = {shape: 10, size: 2, unsqueeze: 4, squeeze: 3, concat: 6, slice_: 6, reshape: 5, expand: 3, constant_of_shape: 2, tile: 1,
         transpose: 2, flatten: 1, split: 2, arithmetic: 8, division: 4, unary: 2, cast: 6, clip: 2, compare: 4, logic: 2, where: 3,
         reduce_: 4, arg: 3, top: 2, non_zero: 2, range_: 3, running_sum: 1, pad: 1, pool: 1, one_hot: 1, scatter: 1, identity: 2,
         sequence: 1, of_sequence: 2, optional: 1, data: 4, gather: 22, gather_elements: 5, gather_nd: 6}  # fmt: skip
