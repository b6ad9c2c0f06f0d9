# SPDX-License-Identifier: MIT
"""One or more cases for each operator of ONNX that src/model/infer.def names: what goes in, and the attributes.

A case is Case(op, [entries], attributes...). An entry is In(array): an input of the model, whose lengths may be declared or not;
Const(array): an initializer; None: left out; Shape(array): the shape of such an input, computed in the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

FLOAT, INT = np.float32, np.int64


@dataclass
class In:
    value: np.ndarray


@dataclass
class Const:
    value: np.ndarray


@dataclass
class Shape:
    value: np.ndarray


@dataclass
class Case:
    op: str
    entries: list
    attributes: dict = field(default_factory=dict)
    opset: int = 21
    outputs: int = 1
    domain: str = ""


def floats(rng, *shape):
    return rng.random(shape, dtype=FLOAT)


def x(rng, *shape):
    return In(floats(rng, *shape))


def some(rng, rank=None, low=1):
    """A random shape."""
    return tuple(int(n) for n in rng.integers(low, 6, rng.integers(0, 5) if rank is None else rank))


def ints(*values):
    return Const(np.array(values, INT))


def bools(rng, *shape):
    return In(rng.random(shape) < 0.5)


def whole(rng, *shape, high=8):
    return In(rng.integers(1, high, shape).astype(INT))


def stretched(rng):
    """Two shapes that fit each other."""
    shape = some(rng, rng.integers(1, 4))
    return shape, tuple(1 if rng.random() < 0.3 else n for n in shape[rng.integers(0, len(shape)) :])


ALONE = """Abs Acos Asin Asinh Atan Ceil Celu Clip Cos Cosh Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity LeakyRelu
Log Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu Acosh Atanh
IsInf IsNaN RandomNormalLike RandomUniformLike""".split()
PAIRS = "Add Div Mul Pow Sub Max Mean Min Sum Equal Greater GreaterOrEqual Less LessOrEqual".split()
REDUCE = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()


def simple(rng):
    for op in ALONE:
        yield Case(op, [x(rng, *some(rng))])
    for op in ["Softmax", "LogSoftmax", "Hardmax"]:
        yield Case(op, [x(rng, *some(rng, 3))], {"axis": 1})
    yield Case("Bernoulli", [x(rng, *some(rng))])
    yield Case("EyeLike", [x(rng, *some(rng, 2))])
    yield Case("Trilu", [x(rng, *some(rng, 3))])
    yield Case("Not", [bools(rng, *some(rng))])
    yield Case("Swish", [x(rng, *some(rng))], {"alpha": 1.5}, 24)
    yield Case("Cast", [x(rng, *some(rng))], {"to": 7})
    yield Case("Cast", [Shape(floats(rng, *some(rng, 2)))], {"to": 6})
    yield Case("CastLike", [x(rng, *some(rng)), ints(1)])
    yield Case("CumSum", [x(rng, 3, 4), Const(np.array(1, INT))])
    yield Case("Size", [x(rng, *some(rng))])
    for attributes in [{}, {"start": 1}, {"start": -2, "end": -1}, {"end": 7}]:
        yield Case("Shape", [x(rng, *some(rng, rng.integers(1, 5)))], attributes)
    yield Case("QuantizeLinear", [x(rng, *some(rng)), Const(np.array(0.5, FLOAT))])
    yield Case("DequantizeLinear", [In(rng.integers(0, 9, some(rng)).astype(np.uint8)), Const(np.array(0.5, FLOAT))])


def element_wise(rng):
    for op in PAIRS:
        a, b = stretched(rng)
        yield Case(op, [x(rng, *a), x(rng, *b)])
        yield Case(op, [x(rng, *b), x(rng, *a)])
    a, b = stretched(rng)
    for op in ["And", "Or", "Xor"]:
        yield Case(op, [bools(rng, *a), bools(rng, *b)])
    for op in ["Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        yield Case(op, [whole(rng, *a), whole(rng, *b)])
    yield Case("BitShift", [In(np.ones(a, np.uint32)), In(np.ones(b, np.uint32))], {"direction": "LEFT"})
    yield Case("PRelu", [x(rng, *a), x(rng, *b)])
    yield Case("Where", [bools(rng, *b), x(rng, *a), x(rng, *b)])
    for op in ["Add", "Sub", "Mul", "Div", "Equal", "Min", "Max"]:
        yield Case(op, [Shape(floats(rng, *some(rng, 3))), ints(*some(rng, 3))])


def shapes(rng):
    a = some(rng, 3)
    yield Case("Concat", [x(rng, *a), x(rng, *a), x(rng, *a)], {"axis": int(rng.integers(-3, 3))})
    yield Case("Concat", [Shape(floats(rng, *a)), ints(3)], {"axis": 0})
    yield Case("Expand", [x(rng, *a), Const(np.array([2, *a], INT))])
    yield Case("Expand", [x(rng, 1, a[2]), Shape(floats(rng, *a))])
    yield Case("Flatten", [x(rng, *a)], {"axis": int(rng.integers(-3, 4))})
    yield Case("Reshape", [x(rng, 4, 6, 5), ints(0, -1, 3, 5)])
    yield Case("Reshape", [x(rng, 4, 6, 5), ints(-1, 30)])
    yield Case("Reshape", [x(rng, 4, 6, 5), ints(0, -1)])
    yield Case("Reshape", [x(rng, *a), Shape(floats(rng, *a))])
    yield Case("Squeeze", [x(rng, a[0], 1, a[1]), ints(1)])
    yield Case("Squeeze", [x(rng, a[0], 1, a[1])], {}, 11)
    yield Case("Squeeze", [x(rng, a[0], 1, a[1])], {"axes": [1]}, 11)
    yield Case("Unsqueeze", [x(rng, *a), ints(0, -1)])
    yield Case("Unsqueeze", [x(rng, *a)], {"axes": [0, 2]}, 11)
    yield Case("Transpose", [x(rng, *a)])
    yield Case("Transpose", [x(rng, *a)], {"perm": [int(n) for n in rng.permutation(3)]})
    yield Case("Tile", [x(rng, *a), ints(1, 3, 2)])
    yield Case("ConstantOfShape", [ints(*a)])
    yield Case("ConstantOfShape", [Shape(floats(rng, *a))])
    yield Case("Range", [Const(np.array(n, INT)) for n in (2, 11, 3)])
    yield Case("Pad", [x(rng, *a), ints(0, 1, 2, 0, 0, 3)])
    yield Case("Pad", [x(rng, *a), ints(1, 2), None, ints(-2)])
    yield Case("Pad", [x(rng, *a)], {"pads": [1, 0, 0, 2, 1, 0]}, 10)
    yield Case("DepthToSpace", [x(rng, 2, 8, 3, 4)], {"blocksize": 2})
    yield Case("SpaceToDepth", [x(rng, 2, 3, 4, 6)], {"blocksize": 2})
    yield Case("Resize", [x(rng, 1, 2, 3, 4), None, Const(np.array([1, 1, 2, 3], FLOAT))])
    yield Case("Resize", [x(rng, 1, 2, 3, 4), None, None, ints(1, 2, 5, 9)])
    yield Case("Resize", [x(rng, 1, 2, 3, 4), None, None, ints(5, 9)], {"axes": [2, 3]})
    yield Case("Upsample", [x(rng, 1, 2, 3, 4), Const(np.array([1, 1, 2, 2], FLOAT))], {}, 9)


def parts(rng):
    a = some(rng, 3, low=3)
    yield Case("Slice", [x(rng, *a), ints(0, 1), ints(2, 2**40), ints(0, -1)])
    yield Case("Slice", [x(rng, *a), ints(-1), ints(-(2**40)), ints(1), ints(-2)])
    yield Case("Slice", [x(rng, *a), ints(0), ints(2**62), ints(1)])
    yield Case("Slice", [x(rng, *a)], {"starts": [1], "ends": [3], "axes": [2]}, 9)
    yield Case("Slice", [Shape(floats(rng, *a)), ints(1), ints(3)])
    yield Case("Split", [x(rng, 6, 4)], {"num_outputs": 3, "axis": 0}, outputs=3)
    yield Case("Split", [x(rng, 7, 4)], {"num_outputs": 3}, outputs=3)
    yield Case("Split", [x(rng, 7, 4), ints(3, 0, 4)], {"axis": -2}, outputs=3)
    yield Case("Split", [x(rng, 7, 4)], {"split": [5, 2]}, 11, 2)
    yield Case("Split", [Shape(floats(rng, *a, 2)), ints(1, 3)], {}, outputs=2)
    yield Case("Gather", [x(rng, *a), ints(0, 1)], {"axis": 1})
    yield Case("Gather", [x(rng, *a), whole(rng, 2, 2, high=3)], {"axis": -1})
    yield Case("Gather", [Shape(floats(rng, *a)), ints(2, 0)])
    yield Case("GatherElements", [x(rng, *a), In(np.zeros((2, 2, 2), INT))], {"axis": 1})
    yield Case("GatherND", [x(rng, *a), In(np.zeros((5, 2), INT))])
    yield Case("GatherND", [x(rng, 2, 3, 4), In(np.zeros((2, 1), INT))], {"batch_dims": 1})
    yield Case("GatherND", [Shape(floats(rng, *a)), Const(np.array([[2], [-3]], INT))])
    yield Case("GatherND", [x(rng, *a), In(np.zeros((5, 2), INT))], domain="com.microsoft")
    yield Case("Scatter", [x(rng, *a), In(np.zeros((1, 1, 1), INT)), x(rng, 1, 1, 1)], {}, 10)
    yield Case("ScatterElements", [x(rng, *a), In(np.zeros((1, 1, 1), INT)), x(rng, 1, 1, 1)])
    yield Case("ScatterND", [x(rng, *a), In(np.zeros((1, 3), INT)), x(rng, 1)])
    yield Case("ScatterND", [x(rng, *a), In(np.zeros((4, 2), INT)), x(rng, 4, *a[2:])], {"reduction": "add"})
    yield Case("ScatterND", [Shape(floats(rng, *a)), Const(np.array([[2]], INT)), ints(7)])
    yield Case("ScatterElements", [Shape(floats(rng, *a)), ints(-1), ints(7)])
    yield Case("TensorScatter", [x(rng, 2, 5, 3), x(rng, 2, 2, 3), In(np.zeros(2, INT))], {"axis": 1}, 24)
    yield Case("ReverseSequence", [x(rng, 3, 2), ints(2, 3)])


def reductions(rng):
    for name in REDUCE:
        op, is_sum = "Reduce" + name, name == "Sum"
        keep = int(rng.integers(0, 2))
        yield Case(op, [x(rng, 2, 3, 4), ints(-1, 0)], {"keepdims": keep})
        yield Case(op, [x(rng, 2, 3, 4)], {"keepdims": 1 - keep})
        yield Case(op, [x(rng, 2, 3, 4), ints()], {"noop_with_empty_axes": 1})
        if not is_sum:
            yield Case(op, [x(rng, 2, 3, 4)], {"axes": [1], "keepdims": keep}, 13)
    for op in ["ReduceProd", "ReduceMin", "ReduceMax", "ReduceSum"]:
        yield Case(op, [Shape(floats(rng, 2, 3, 4))], {"keepdims": 0})
    for op in ["ArgMax", "ArgMin"]:
        yield Case(op, [x(rng, 2, 3, 4)], {"axis": int(rng.integers(-3, 3)), "keepdims": int(rng.integers(0, 2))})
    yield Case("TopK", [x(rng, 2, 5), ints(3)], outputs=2)
    yield Case("TopK", [x(rng, 2, 5)], {"k": 2, "axis": 0}, 9, 2)
    yield Case("NonZero", [x(rng, 2, 5, 1)])
    yield Case("OneHot", [In(np.zeros((2, 3), INT)), Const(np.array(4, INT)), Const(np.array([0, 1], FLOAT))])
    yield Case("OneHot", [In(np.zeros((2, 3), INT)), ints(4), Const(np.array([0, 1], FLOAT))], {"axis": 0})


def matrices(rng):
    for a, b in [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((1, 2, 3), (5, 3, 2))]:
        yield Case("MatMul", [x(rng, *a), x(rng, *b)])
    yield Case("Gemm", [x(rng, 2, 3), x(rng, 3, 4), x(rng, 4)])
    yield Case("Gemm", [x(rng, 3, 2), x(rng, 4, 3)], {"transA": 1, "transB": 1})
    yield Case("Einsum", [x(rng, 2, 3, 4), x(rng, 2, 4, 5)], {"equation": "bij, bjk -> bik"})
    yield Case("Einsum", [x(rng, 3, 3)], {"equation": "ii->i"})
    heads = [x(rng, 2, 3, 4, 8), x(rng, 2, 3, 6, 8), x(rng, 2, 3, 6, 5)]
    yield Case("Attention", heads, {}, 23)


def windows(rng):
    for attributes in [
        {},
        {"strides": [2, 1], "pads": [1, 0, 2, 1]},
        {"dilations": [2, 2]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "VALID", "strides": [2, 3]},
    ]:
        yield Case("Conv", [x(rng, 2, 3, 9, 8), x(rng, 4, 3, 3, 2)], attributes)
        yield Case("MaxPool", [x(rng, 2, 3, 9, 8)], {"kernel_shape": [3, 2], **attributes}, outputs=2)
        if "dilations" not in attributes:
            for op in ["AveragePool", "LpPool"]:
                yield Case(op, [x(rng, 2, 3, 9, 8)], {"kernel_shape": [3, 2], **attributes}, 18)
    yield Case("Conv", [x(rng, 1, 4, 7), Const(floats(rng, 6, 2, 3))], {"group": 2, "pads": [1, 1]})
    for op in ["MaxPool", "AveragePool", "LpPool"]:
        yield Case(op, [x(rng, 1, 2, 7)], {"kernel_shape": [2], "strides": [2], "ceil_mode": 1})
        yield Case(op, [x(rng, 1, 2, 8, 9)], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 0, 0], "ceil_mode": 1})
    yield Case("MaxPool", [x(rng, 1, 2, 14)], {"kernel_shape": [2], "strides": [3], "dilations": [2], "ceil_mode": 1})
    yield Case("ConvTranspose", [x(rng, 1, 4, 5), x(rng, 4, 3, 3)], {"strides": [2], "output_padding": [1], "pads": [1, 0]})
    yield Case("ConvTranspose", [x(rng, 1, 4, 5), x(rng, 4, 3, 3)], {"strides": [2], "output_shape": [12], "group": 2})
    for op in ["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"]:
        yield Case(op, [x(rng, 2, 3, 4, 5)])


def layers(rng):
    c = [Const(floats(rng, 3)) for _ in range(4)]
    yield Case("BatchNormalization", [x(rng, 2, 3, 4), *c])
    yield Case("InstanceNormalization", [x(rng, 2, 3, 4), *c[:2]])
    yield Case("GroupNormalization", [x(rng, 2, 3, 4), *c[:2]], {"num_groups": 3})
    yield Case("LayerNormalization", [x(rng, 2, 3, 3), c[0]])
    yield Case("RMSNormalization", [x(rng, 2, 3, 3), c[0]], {}, 23)
    yield Case("LpNormalization", [x(rng, 2, 3)])
    yield Case("MeanVarianceNormalization", [x(rng, 2, 3, 4, 4)])
    yield Case("LRN", [x(rng, 2, 3, 4, 4)], {"size": 3})
    yield Case("RotaryEmbedding", [x(rng, 2, 3, 4, 8), Const(floats(rng, 2, 4, 4)), Const(floats(rng, 2, 4, 4))], {}, 23)
    for op, gates in [("RNN", 1), ("GRU", 3), ("LSTM", 4)]:
        outputs = 3 if op == "LSTM" else 2
        for n, attributes in [(1, {}), (2, {"direction": "bidirectional"}), (1, {"layout": 1})]:
            weights = [Const(floats(rng, n, gates * 5, k)) for k in (3, 5)]
            yield Case(op, [x(rng, 6, 2, 3), *weights], {"hidden_size": 5, **attributes}, outputs=outputs)


def microsoft(rng):
    ms = {"domain": "com.microsoft"}
    for op in ["FastGelu", "Gelu", "QuickGelu"]:
        yield Case(op, [x(rng, *some(rng, 3))], **ms)
    yield Case("BiasGelu", [x(rng, 2, 3, 4), Const(floats(rng, 4))], **ms)
    for op in ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"]:
        yield Case(op, [x(rng, 2, 3, 4), x(rng, 2, 3, 4), Const(floats(rng, 4))], **ms)
    yield Case("DequantizeLinear", [In(rng.integers(0, 9, some(rng)).astype(np.uint8)), Const(np.array(0.5, FLOAT))], **ms)
    for bits in (4, 8):  # blocks of 16 along the last axis, two numbers per byte or one; uint8 is gathered along axis 0 alone
        stored = rng.integers(0, 255, (5, 4, 32 * bits // 8)).astype(np.uint8)
        at = {"gather_axis": 0, "quantize_axis": 2, "block_size": 16, "bits": bits}
        yield Case("GatherBlockQuantized", [In(stored), In(np.zeros((1, 2), INT)), In(floats(rng, 5, 4, 2))], at, **ms)


GROUPS = [simple, element_wise, shapes, parts, reductions, matrices, windows, layers, microsoft]


def all_cases(seed):
    rng = np.random.default_rng(seed)
    return [case for group in GROUPS for case in group(rng)]
