# SPDX-License-Identifier: MIT
"""What `gather check` infers in OpenVINO IR, beside the shapes that OpenVINO itself works out.

OpenVINO writes every output's shape into the file. Here those of the layers under test are made unknown, so that what is left
is inferred. Each operator of src/model/infer.def stands before a gather node.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from support.openvino_package import needs_openvino, op, ov  # noqa: F401  the fixture holds for the whole file

from test_infer_random import ROWS, inferred, shape_of


def c(*values, kind=np.int64):
    return op.constant(np.array(values, kind))


def scalar(value, kind=np.int64):
    return op.constant(np.array(value, kind))


def newest(name):
    """An operator that came after the operator set of the others."""
    import openvino

    return getattr(openvino.opset15, name)


def f(*shape):
    return op.constant(np.zeros(shape, np.float32))


class Inputs:
    """Makes the model's inputs: with their lengths, or with only some of them."""

    def __init__(self, dynamic):
        self.dynamic, self.made = dynamic, []

    def __call__(self, *shape, kind=np.float32):
        dims = [-1 if self.dynamic and i % 2 == 0 else n for i, n in enumerate(shape)]
        self.made.append(op.parameter(ov.PartialShape(dims), kind))
        return self.made[-1]


ALONE = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh",
    "ceiling": "Ceiling", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "log": "Log",
    "negative": "Negative", "relu": "Relu", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh",
    "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh", "mish": "Mish", "hswish": "HSwish", "hsigmoid": "HSigmoid",
    "softplus": "SoftPlus", "softsign": "SoftSign", "is_inf": "IsInf", "is_nan": "IsNaN", "is_finite": "IsFinite",
}  # fmt: skip
PAIRS = {
    "add": "Add", "divide": "Divide", "floor_mod": "FloorMod", "mod": "Mod", "maximum": "Maximum", "minimum": "Minimum",
    "multiply": "Multiply", "power": "Power", "squared_difference": "SquaredDifference", "subtract": "Subtract",
    "equal": "Equal", "not_equal": "NotEqual", "greater": "Greater", "greater_equal": "GreaterEqual", "less": "Less",
    "less_equal": "LessEqual",
}  # fmt: skip
LOGICAL = {"logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_xor": "LogicalXor"}
BITWISE = {"bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor"}
REDUCE = {
    "reduce_l1": "ReduceL1", "reduce_l2": "ReduceL2", "reduce_max": "ReduceMax", "reduce_mean": "ReduceMean",
    "reduce_min": "ReduceMin", "reduce_prod": "ReduceProd", "reduce_sum": "ReduceSum",
}  # fmt: skip


def cases():
    made = [(kind, lambda x, n=name: getattr(op, n)(x(2, 3, 4))) for name, kind in ALONE.items()]
    for names, kind in [(PAIRS, np.float32), (LOGICAL, np.bool_), (BITWISE, np.int64)]:
        made += [(k, lambda x, n=n, t=kind: getattr(op, n)(x(2, 3, 4, kind=t), x(3, 1, kind=t))) for n, k in names.items()]
    made.append(("Add", lambda x: op.add(x(2, 3), x(2, 3), auto_broadcast="none")))
    for name, kind in REDUCE.items():
        made.append((kind, lambda x, n=name: getattr(op, n)(x(2, 3, 4), c(-1, 0), False)))
        made.append((kind, lambda x, n=name: getattr(op, n)(x(2, 3, 4), c(1), True)))
    for name, kind in [("reduce_logical_and", "ReduceLogicalAnd"), ("reduce_logical_or", "ReduceLogicalOr")]:
        made.append((kind, lambda x, n=name: getattr(op, n)(x(2, 3, kind=np.bool_), c(1), False)))
    return made + [(k, f) for k, f in OTHERS]


OTHERS = [
    ("LogicalNot", lambda x: op.logical_not(x(2, 3, kind=np.bool_))),
    ("Clamp", lambda x: op.clamp(x(2, 3), 0.0, 1.0)),
    ("Elu", lambda x: op.elu(x(2, 3), 1.0)),
    ("Gelu", lambda x: op.gelu(x(2, 3), "erf")),
    ("HardSigmoid", lambda x: op.hard_sigmoid(x(2, 3), scalar(0.2, np.float32), scalar(0.5, np.float32))),
    ("Selu", lambda x: op.selu(x(2, 3), scalar(1.0, np.float32), scalar(1.0, np.float32))),
    ("PRelu", lambda x: op.prelu(x(2, 3), f(3))),
    ("Swish", lambda x: op.swish(x(2, 3))),
    ("Softmax", lambda x: op.softmax(x(2, 3), 1)),
    ("LogSoftmax", lambda x: op.log_softmax(x(2, 3), 1)),
    ("Round", lambda x: op.round(x(2, 3), "half_to_even")),
    ("CumSum", lambda x: op.cum_sum(x(2, 3), scalar(0))),
    ("LRN", lambda x: op.lrn(x(2, 3, 4, 4), c(1), 1.0, 1.0, 1.0, 3)),
    ("MVN", lambda x: op.mvn(x(2, 3, 4), c(2), True, 1e-5, "inside_sqrt")),
    ("GRN", lambda x: op.grn(x(2, 3, 4, 4), 1e-3)),
    ("NormalizeL2", lambda x: op.normalize_l2(x(2, 3, 4), c(1), 1e-3, "add")),
    ("BatchNormInference", lambda x: op.batch_norm_inference(x(2, 3, 4), f(3), f(3), f(3), f(3), 1e-3)),
    ("GroupNormalization", lambda x: op.group_normalization(x(2, 4, 3), f(4), f(4), 2, 1e-3)),
    ("FakeQuantize", lambda x: op.fake_quantize(x(2, 3), *[f(1)] * 4, 16)),
    ("ReverseSequence", lambda x: op.reverse_sequence(x(2, 3), c(1, 2), 0, 1)),
    ("Roll", lambda x: op.roll(x(2, 3), c(1), c(0))),
    ("ScatterElementsUpdate", lambda x: op.scatter_elements_update(x(2, 3), c([0]), f(1, 1), scalar(0))),
    ("ScatterNDUpdate", lambda x: op.scatter_nd_update(x(2, 3), c([0]), f(1, 3))),
    ("ScatterUpdate", lambda x: op.scatter_update(x(2, 3), c(0), f(1, 3), scalar(0))),
    ("Convert", lambda x: op.convert(x(2, 3), "i64")),
    ("ConvertLike", lambda x: op.convert_like(x(2, 3), c(1))),
    ("Concat", lambda x: op.concat([x(2, 3), x(2, 3)], -1)),
    ("Broadcast", lambda x: op.broadcast(x(2, 3), c(4, 2, 3))),
    ("Broadcast", lambda x: op.broadcast(x(2, 3, 1), c(3, 5), broadcast_spec="BIDIRECTIONAL")),
    ("Broadcast", lambda x: op.broadcast(x(3), c(3, 5), c(0), "EXPLICIT")),
    ("Gather", lambda x: op.gather(x(2, 3, 4), c([0, 1]), scalar(1))),
    ("Gather", lambda x: op.gather(x(2, 3, 4), c([0, 1], [0, 0]), scalar(1), 1)),
    ("GatherElements", lambda x: op.gather_elements(x(2, 3), c([0], [0]), 1)),
    ("GatherND", lambda x: op.gather_nd(x(2, 3, 4), c([0, 1], [1, 1]))),
    ("GatherND", lambda x: op.gather_nd(x(2, 3, 4), c([0], [1]), 1)),
    ("GatherTree", lambda x: op.gather_tree(x(4, 2, 3), x(4, 2, 3), x(2), scalar(1, np.float32))),
    ("EmbeddingBagOffsets", lambda x: newest("embedding_bag_offsets")(x(5, 2, 3), c(0, 1, 2), c(0, 2))),
    ("EmbeddingBagOffsetsSum", lambda x: op.embedding_bag_offsets_sum(x(5, 2), c(0, 1, 2), c(0, 2), scalar(1))),
    ("EmbeddingBagPacked", lambda x: newest("embedding_bag_packed")(x(5, 2), c([0, 1, 2], [1, 1, 1]))),
    ("EmbeddingBagPackedSum", lambda x: op.embedding_bag_packed_sum(x(5, 2), c([0, 1], [2, 3], [4, 4]))),
    ("EmbeddingSegmentsSum", lambda x: op.embedding_segments_sum(x(5, 2), c(0, 1, 2), c(0, 0, 2), scalar(4))),
    ("MatMul", lambda x: op.matmul(x(5, 2, 3), x(4, 3), False, True)),
    ("MatMul", lambda x: op.matmul(x(3, 2), x(3, 4), True, False)),
    ("MatMul", lambda x: op.matmul(x(3), x(3, 4), False, False)),
    ("Einsum", lambda x: op.einsum([x(2, 3), x(3, 4)], "ij,jk->ik")),
    ("ScaledDotProductAttention", lambda x: op.scaled_dot_product_attention(x(2, 4, 8), x(2, 6, 8), x(2, 6, 5))),
    ("Range", lambda x: op.range(scalar(2), scalar(11), scalar(3), "i64")),
    ("Range", lambda x: op.range(scalar(2), scalar(6), scalar(1), "f32")),
    ("Reshape", lambda x: op.reshape(x(4, 6, 5), c(0, -1, 3), True)),
    ("Reshape", lambda x: op.reshape(x(4, 6, 5), c(-1, 30), False)),
    ("ShapeOf", lambda x: op.shape_of(x(2, 3), "i32")),
    ("Slice", lambda x: op.slice(x(5, 6), c(1), c(6), c(2), c(1))),
    ("Slice", lambda x: op.slice(x(5, 6), c(-1, 0), c(-(2**40), 3), c(-1, 1))),
    ("StridedSlice", lambda x: op.strided_slice(x(5, 6), c(1, 0), c(4, 5), c(1, 2), [0, 1], [0, 0])),
    ("StridedSlice", lambda x: op.strided_slice(x(5, 6), c(0, 1, 2), c(0, 2, 3), c(1, 1, 1), [0] * 3, [0] * 3, [1, 0, 0], [0, 1, 0])),
    ("StridedSlice", lambda x: op.strided_slice(x(2, 3, 4, 5), c(0, 1), c(0, 3), c(1, 1), [0, 0], [0, 0], [], [], [1, 0])),
    ("StridedSlice", lambda x: op.strided_slice(x(5, 6), c(-1, 0), c(0, 0), c(-2, 1), [1, 1], [1, 1])),
    ("Split", lambda x: op.split(x(6, 4), scalar(0), 3)),
    ("VariadicSplit", lambda x: op.variadic_split(x(6, 4), scalar(-2), c(1, -1, 2))),
    ("Squeeze", lambda x: op.squeeze(x(2, 1, 3), c(1))),
    ("Unsqueeze", lambda x: op.unsqueeze(x(2, 3), c(0, -1))),
    ("Transpose", lambda x: op.transpose(x(2, 3, 4), c(2, 0, 1))),
    ("Tile", lambda x: op.tile(x(2, 3), c(2, 1, 3))),
    ("Tile", lambda x: op.tile(x(2, 3, 4), c(2, 3))),
    ("Select", lambda x: op.select(x(3, kind=np.bool_), x(2, 3), x(2, 1))),
    ("TopK", lambda x: op.topk(x(2, 5), scalar(3), 1, "max", "value")),
    ("NonZero", lambda x: op.non_zero(x(2, 5))),
    ("OneHot", lambda x: op.one_hot(x(2, 3, kind=np.int64), scalar(4), scalar(1.0, np.float32), scalar(0.0, np.float32), 1)),
    ("Convolution", lambda x: op.convolution(x(2, 3, 9, 8), f(4, 3, 3, 2), [2, 1], [1, 0], [2, 1], [1, 1])),
    ("Convolution", lambda x: op.convolution(x(2, 3, 9, 8), f(4, 3, 3, 2), [2, 2], [0, 0], [0, 0], [1, 1], "same_upper")),
    ("GroupConvolution", lambda x: op.group_convolution(x(2, 4, 9), f(2, 3, 2, 3), [1], [1], [0], [2])),
    ("MaxPool", lambda x: op.max_pool(x(2, 3, 9, 8), [2, 1], [1, 1], [1, 0], [0, 1], [3, 2])),
    ("AvgPool", lambda x: op.avg_pool(x(2, 3, 9, 8), [2, 1], [1, 0], [0, 1], [3, 2], True)),
    ("MaxPool", lambda x: op.max_pool(x(2, 3, 9, 8), [2, 3], [1, 1], [1, 0], [0, 0], [2, 3], "ceil")),
    ("AvgPool", lambda x: op.avg_pool(x(2, 3, 9, 8), [4, 2], [0, 0], [0, 0], [4, 3], True, "ceil")),
    ("Pad", lambda x: op.pad(x(2, 3), c(1, 0), c(0, 2), "constant", scalar(0.0, np.float32))),
    ("DepthToSpace", lambda x: op.depth_to_space(x(2, 8, 3, 4), "blocks_first", 2)),
    ("SpaceToDepth", lambda x: op.space_to_depth(x(2, 3, 4, 6), "blocks_first", 2)),
    ("LSTMSequence", lambda x: op.lstm_sequence(x(2, 6, 3), f(2, 1, 5), f(2, 1, 5), c(6, 6), f(1, 20, 3), f(1, 20, 5), f(1, 20), 5, "FORWARD")),
    ("GRUSequence", lambda x: op.gru_sequence(x(2, 6, 3), f(2, 2, 5), c(6, 6), f(2, 15, 3), f(2, 15, 5), f(2, 15), 5, "BIDIRECTIONAL")),
    ("RNNSequence", lambda x: op.rnn_sequence(x(2, 6, 3), f(2, 1, 5), c(6, 6), f(1, 5, 3), f(1, 5, 5), f(1, 5), 5, "REVERSE")),
]  # fmt: skip

# Where OpenVINO knows a length from another input than the first: the batch.
MAY_KNOW_LESS = {"ReverseSequence", "LSTMSequence", "GRUSequence", "RNNSequence"}


def forget_shapes(path):
    """Makes every length that a layer computes unknown in the file."""
    tree = ElementTree.parse(path)
    for layer in tree.getroot().find("layers"):
        if layer.get("type") not in {"Parameter", "Const"}:
            for dim in layer.findall("output/port/dim"):
                dim.text = "-1"
    tree.write(path)


def save(build, dynamic, folder):
    inputs = Inputs(dynamic)
    node = build(inputs)
    results = []
    for i in range(node.get_output_size()):
        gather = op.gather(op.unsqueeze(node.output(i), c(0)), c(0), scalar(0))
        gather.set_friendly_name(f"g{i}")
        results.append(op.result(gather))
    path = folder / "m.xml"
    ov.serialize(ov.Model(results, inputs.made, "m"), str(path), str(path.with_suffix(".bin")))
    forget_shapes(path)
    return path, node


CASES = cases()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{i}-{kind}" for i, (kind, _) in enumerate(CASES)])
def test_as_openvino(number, dynamic, tmp_path):
    kind, build = CASES[number]
    path, node = save(build, dynamic, tmp_path)
    assert f'type="{kind}"'.lower() in path.read_text().lower()
    nodes = inferred(path)
    for i in range(node.get_output_size()):
        ours = shape_of(nodes[f"g{i}"]["output"])
        theirs = node.output(i).get_partial_shape()
        assert ours is not None and len(ours) == theirs.rank.get_length() + 1
        wanted = [1, *(d.get_length() if d.is_static else -1 for d in theirs)]
        if dynamic and kind in MAY_KNOW_LESS:
            wanted = [-1 if n == -1 else w for n, w in zip(ours, wanted)]
        assert [n for n, w in zip(ours, wanted) if w != -1] == [w for w in wanted if w != -1], (ours, wanted)


def test_every_row_has_a_case():
    rows = {op for dialect, op in ROWS if dialect in {"OPENVINO", "BOTH"}}
    assert len(rows) > 100
    assert rows == {kind for kind, _ in CASES}
